//! What an apply will do, decided before it does anything, and kept so that a recovery knows it too.

use std::collections::{BTreeMap, BTreeSet};

use brain_packet::Digest;
use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeKind, Folder, MODE_BITS};
use crate::contents::Contents;
use crate::error::ContentsError;
use crate::intent::{Intent, IntentId};
use crate::path::{TEMP_PREFIX, check_path, join, split};
use crate::set::{ChangeSet, MAX_SET_BYTES};
use crate::state::{Conflict, State};

/// Most bytes of the JSON of a plan that are read: folders with long paths, each of them named three times.
const MAX_PLAN_BYTES: u64 = MAX_SET_BYTES;

/// The content and mode of a file on one side.
pub(crate) type Side<'s> = (&'s Digest, u32);

/// What a path was and becomes, whatever the changes that say so.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target<'s> {
    pub(crate) base: Option<Side<'s>>,
    pub(crate) new: Option<Side<'s>>,
    /// The number of its temporary name.
    pub(crate) number: usize,
}

/// Each path that a set touches.
pub(crate) fn targets(set: &ChangeSet) -> BTreeMap<&str, Target<'_>> {
    let mut targets: BTreeMap<&str, Target<'_>> = BTreeMap::new();
    for (number, change) in set.changes.iter().enumerate() {
        if let Some((path, digest, mode)) = change.base_side() {
            targets.entry(path).or_default().base = Some((digest, mode));
        }
        if let Some((path, digest, mode)) = change.new_side() {
            let target = targets.entry(path).or_default();
            target.new = Some((digest, mode));
            target.number = number;
        }
    }
    targets
}

/// How the state of a side is told.
pub(crate) fn state_of(side: Option<Side<'_>>) -> State {
    side.map_or(State::Missing, |(digest, mode)| State::File { digest: digest.clone(), mode })
}

/// What an apply makes besides files, and where its temporary files are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Plan {
    pub(crate) id: IntentId,
    pub(crate) set: Digest,
    /// Folders that are made before the commit, outermost first.
    pub(crate) early: Vec<Folder>,
    /// Folders that are made after it, because a file has to go first.
    pub(crate) late: Vec<Folder>,
    /// Folders that are removed, sorted, with the modes that they had.
    pub(crate) removed: Vec<Folder>,
    /// Temporary paths, one for each new content, in the order of the targets.
    pub(crate) temps: Vec<String>,
}

impl Plan {
    /// The temporary path for a target: in its folder, or in the next one above that is there before the commit.
    pub(crate) fn temp(id: &IntentId, late: &BTreeSet<&str>, path: &str, number: usize) -> String {
        let mut folder = split(path).0;
        while late.contains(folder) {
            folder = split(folder).0;
        }
        join(folder, &format!("{TEMP_PREFIX}{id}-{number}"))
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        // Strings, numbers and lists of them always have a JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The set and the plan of an intent, believed only as far as they fit it and each other.
    pub(crate) fn read(intent: &Intent, contents: &Contents) -> Result<(ChangeSet, Self), Unusable> {
        let json = contents.bytes(&intent.set, MAX_SET_BYTES)?;
        let set = ChangeSet::from_json(&json).map_err(|e| Unusable::Says(chain("the change set", &e)))?;
        let json = contents.bytes(&intent.plan, MAX_PLAN_BYTES)?;
        let plan: Self = serde_json::from_slice(&json).map_err(|e| Unusable::Says(chain("the plan", &e)))?;
        if plan.fits(intent, &set) { Ok((set, plan)) } else { Err(Unusable::Says("its plan does not fit it".into())) }
    }

    fn fits(&self, intent: &Intent, set: &ChangeSet) -> bool {
        let within = |folders: &[Folder], all: &[Folder]| {
            let all: BTreeSet<&str> = all.iter().map(|folder| folder.path.as_str()).collect();
            folders.iter().all(|folder| {
                check_path(&folder.path).is_ok() && folder.mode & !MODE_BITS == 0 && all.contains(folder.path.as_str())
            })
        };
        self.id == intent.id
            && self.set == intent.set
            && within(&self.early, &set.folders_added)
            && within(&self.late, &set.folders_added)
            && within(&self.removed, &set.folders_removed)
            && self.temps == self.temp_paths(set)
    }

    /// What [`temps`](Self::temps) must be.
    pub(crate) fn temp_paths(&self, set: &ChangeSet) -> Vec<String> {
        let late: BTreeSet<&str> = self.late.iter().map(|folder| folder.path.as_str()).collect();
        targets(set)
            .iter()
            .filter(|(_, target)| target.new.is_some())
            .map(|(path, target)| Self::temp(&self.id, &late, path, target.number))
            .collect()
    }

    /// The set that takes back what was done: all of `set` but what was `kept` as somebody else made it, folders that
    /// were there already, and folders that were `left` because something is in them.
    pub(crate) fn undo(&self, set: &ChangeSet, kept: &[Conflict], left: &[String]) -> ChangeSet {
        let kept: BTreeSet<&str> = kept.iter().map(|conflict| conflict.path.as_str()).collect();
        let changes = set.changes.iter().filter_map(|change| made_part(change, &kept)).collect();
        let made = self.early.iter().chain(&self.late).cloned().collect();
        let removed = self.removed.iter().filter(|folder| !left.contains(&folder.path)).cloned().collect();
        let mut done = ChangeSet { changes, folders_added: made, folders_removed: removed };
        done.changes.sort_by(|a, b| a.path.cmp(&b.path));
        done.folders_added.sort();
        done.inverse()
    }
}

/// The part of a change that was made, given the paths at which somebody else's files were kept.
fn made_part(change: &Change, kept: &BTreeSet<&str>) -> Option<Change> {
    let is_kept = |side: Option<(&str, &Digest, u32)>| side.is_some_and(|(path, ..)| kept.contains(path));
    let (base_kept, new_kept) = (is_kept(change.base_side()), is_kept(change.new_side()));
    if !base_kept && !new_kept {
        return Some(change.clone());
    }
    if change.kind != ChangeKind::Renamed || (base_kept && new_kept) {
        return None;
    }
    // Half of a rename.
    let mut half = Change { from: None, diff: None, diff_cut: change.text, ..change.clone() };
    if base_kept {
        half.kind = ChangeKind::Added;
        (half.base, half.base_mode, half.base_bytes) = (None, None, 0);
    } else {
        half.kind = ChangeKind::Deleted;
        half.path = change.from.clone()?;
        (half.new, half.mode, half.new_bytes) = (None, None, 0);
    }
    Some(half)
}

/// Why an intent cannot be used.
#[derive(Debug)]
pub(crate) enum Unusable {
    Contents(ContentsError),
    Says(String),
}

impl From<ContentsError> for Unusable {
    fn from(error: ContentsError) -> Self {
        Self::Contents(error)
    }
}

fn chain(what: &str, error: &dyn std::error::Error) -> String {
    let mut text = format!("{what}: {error}");
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}
