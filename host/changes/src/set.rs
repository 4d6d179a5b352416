//! A set of changes: its order, its rules, its opposite.

use std::collections::{BTreeMap, BTreeSet};

use brain_packet::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeKind, Folder, MODE_BITS};
use crate::diff;
use crate::error::SetError;
use crate::path::{ancestors, check_path};

/// Most files that one set changes.
pub const MAX_CHANGES: usize = 20_000;
/// Most folders that one set adds, and most that it removes.
pub const MAX_FOLDERS: usize = 20_000;
/// Most bytes of diffs in one set; those of further files are cut.
pub const MAX_SET_DIFF_BYTES: usize = 32 * 1024 * 1024;
/// Most bytes of JSON that are read as a change set.
pub const MAX_SET_BYTES: u64 = 256 * 1024 * 1024;

/// What a role proposes to change in a tree.
///
/// **Order and rules.** Changes are sorted by path, folders too, so that equal sets have equal JSON and equal
/// [digests](Self::digest). Each path is changed by one change only. A file that is renamed may take the path that another
/// renamed file leaves; any other way to take the place of a file is a modification of it. A folder is listed where it is new,
/// also when files in it are.
///
/// **Trust.** Reading one from JSON checks all of that, so that a set from a disk can be applied as one from
/// memory can: with the confidence that it stays in its tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", try_from = "Unchecked")]
pub struct ChangeSet {
    /// The changed files, sorted by path.
    pub changes: Vec<Change>,
    /// Folders that are new, sorted by path, so that a folder comes before what is in it.
    pub folders_added: Vec<Folder>,
    /// Folders that go when nothing is left in them, sorted by path.
    pub folders_removed: Vec<Folder>,
}

/// A change set as it is read, before anything about it is known.
#[derive(Deserialize, JsonSchema)]
#[serde(rename = "ChangeSet", rename_all = "camelCase", deny_unknown_fields)]
struct Unchecked {
    changes: Vec<Change>,
    folders_added: Vec<Folder>,
    folders_removed: Vec<Folder>,
}

impl TryFrom<Unchecked> for ChangeSet {
    type Error = SetError;

    fn try_from(read: Unchecked) -> Result<Self, SetError> {
        let set =
            Self { changes: read.changes, folders_added: read.folders_added, folders_removed: read.folders_removed };
        set.check()?;
        Ok(set)
    }
}

/// How much a set changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Changed files.
    pub files: u64,
    /// Lines that the diffs add.
    pub added_lines: u64,
    /// Lines that the diffs remove.
    pub removed_lines: u64,
    /// Files without a diff, whose lines were not counted: binary or too large.
    pub uncounted: u64,
    /// Folders added and removed.
    pub folders: u64,
}

impl ChangeSet {
    /// A set of `changes`, sorted. Those that [change nothing](Change::is_nothing) are left out.
    ///
    /// # Errors
    /// If the changes contradict each other or break a rule of [`check`](Self::check).
    pub fn new(
        mut changes: Vec<Change>,
        mut folders_added: Vec<Folder>,
        mut folders_removed: Vec<Folder>,
    ) -> Result<Self, SetError> {
        changes.retain(|change| !change.is_nothing());
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        folders_added.sort();
        folders_removed.sort();
        let mut set = Self { changes, folders_added, folders_removed };
        set.cut_diffs();
        set.check()?;
        Ok(set)
    }

    /// Reads a set from its JSON.
    ///
    /// # Errors
    /// If there is too much of it, it is no JSON of a change set, or breaks a rule.
    pub fn from_json(json: &[u8]) -> Result<Self, SetError> {
        if json.len() as u64 > MAX_SET_BYTES {
            return Err(SetError::TooMany { what: "bytes of JSON", limit: MAX_SET_BYTES });
        }
        // Checked apart from parsing, so that the error is one of ours and not serde's text of it.
        let unchecked: Unchecked = serde_json::from_slice(json).map_err(|e| SetError::Json { source: e })?;
        unchecked.try_into()
    }

    /// The canonical JSON: compact, keys in the order of the fields.
    pub fn to_json(&self) -> Vec<u8> {
        // Strings, numbers and lists of them always have a JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The digest of the canonical JSON.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.to_json())
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.folders_added.is_empty() && self.folders_removed.is_empty()
    }

    /// How much it changes.
    pub fn stats(&self) -> Stats {
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let mut stats = Stats {
            files: count(self.changes.len()),
            folders: count(self.folders_added.len() + self.folders_removed.len()),
            ..Stats::default()
        };
        for change in &self.changes {
            match change.diff.as_deref().map(diff::check) {
                Some(Ok(lines)) => {
                    stats.added_lines += lines.added;
                    stats.removed_lines += lines.removed;
                }
                Some(Err(_)) | None => stats.uncounted += 1,
            }
        }
        stats
    }

    /// The set that takes this one back. It is the undo of an apply in which nothing was left or kept; that of any
    /// apply is [`Applied::undo`](crate::Applied::undo).
    pub fn inverse(&self) -> Self {
        let mut changes: Vec<Change> = self.changes.iter().map(inverse).collect();
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Self { changes, folders_added: self.folders_removed.clone(), folders_removed: self.folders_added.clone() }
    }

    /// Whether the set keeps its rules: bounds, paths, order, and that changes neither contradict themselves nor each other.
    ///
    /// # Errors
    /// Names the first rule that is broken, and by which path.
    pub fn check(&self) -> Result<(), SetError> {
        for (n, limit, what) in [
            (self.changes.len(), MAX_CHANGES, "changed files"),
            (self.folders_added.len(), MAX_FOLDERS, "added folders"),
            (self.folders_removed.len(), MAX_FOLDERS, "removed folders"),
            (self.diff_bytes(), MAX_SET_DIFF_BYTES, "bytes of diffs"),
        ] {
            if n > limit {
                return Err(SetError::TooMany { what, limit: limit as u64 });
            }
        }
        for change in &self.changes {
            check_change(change)?;
        }
        for folder in self.folders_added.iter().chain(&self.folders_removed) {
            path_fits(&folder.path)?;
            mode_fits(&folder.path, folder.mode)?;
        }
        in_order(self.changes.iter().map(|change| change.path.as_str()))?;
        in_order(self.folders_added.iter().map(|folder| folder.path.as_str()))?;
        in_order(self.folders_removed.iter().map(|folder| folder.path.as_str()))?;
        self.check_together()
    }

    /// What the changes say about each other: the tree before and the tree after must both be trees.
    fn check_together(&self) -> Result<(), SetError> {
        let contradicts = |path: &str, what| Err(SetError::Contradiction { path: shown(path), what });
        let mut before = BTreeMap::new();
        let mut after = BTreeMap::new();
        for change in &self.changes {
            if let Some((path, ..)) = change.base_side()
                && before.insert(path, change.kind).is_some()
            {
                return contradicts(path, "two changes start from it");
            }
            if let Some((path, ..)) = change.new_side() {
                after.insert(path, change.kind);
            }
        }
        for change in &self.changes {
            let other = match change.kind {
                ChangeKind::Added => before.get(change.path.as_str()),
                ChangeKind::Deleted => after.get(change.path.as_str()),
                _ => None,
            };
            if other.is_some() {
                return contradicts(
                    &change.path,
                    "a file is renamed from or to it, and another is added or deleted there",
                );
            }
        }
        let added: BTreeSet<&str> = self.folders_added.iter().map(|folder| folder.path.as_str()).collect();
        let removed: BTreeSet<&str> = self.folders_removed.iter().map(|folder| folder.path.as_str()).collect();
        if let Some(path) = added.intersection(&removed).next() {
            return contradicts(path, "the folder is both added and removed");
        }
        is_tree(before.keys().copied().collect(), &removed, &added)?;
        is_tree(after.keys().copied().collect(), &added, &removed)
    }

    fn diff_bytes(&self) -> usize {
        self.changes.iter().filter_map(|change| change.diff.as_ref()).map(String::len).sum()
    }

    fn cut_diffs(&mut self) {
        let mut left = MAX_SET_DIFF_BYTES;
        for change in &mut self.changes {
            let Some(diff) = &change.diff else { continue };
            match left.checked_sub(diff.len()) {
                Some(rest) => left = rest,
                None => {
                    change.diff = None;
                    change.diff_cut = true;
                }
            }
        }
    }
}

/// Whether files and folders of one side can be in one tree: nothing is below a file, and nothing below a folder that is
/// not there on this side.
fn is_tree(files: BTreeSet<&str>, folders: &BTreeSet<&str>, absent: &BTreeSet<&str>) -> Result<(), SetError> {
    let contradicts = |path: &str, what| Err(SetError::Contradiction { path: shown(path), what });
    for path in files.iter().chain(folders) {
        if ancestors(path).any(|above| files.contains(above)) {
            return contradicts(path, "it would be inside of a file");
        }
        if ancestors(path).any(|above| absent.contains(above)) {
            return contradicts(path, "it would be in a folder that is not there then");
        }
    }
    match files.intersection(folders).next() {
        Some(path) => contradicts(path, "it would be both a file and a folder"),
        None => Ok(()),
    }
}

fn inverse(change: &Change) -> Change {
    let (kind, path, from) = match (change.kind, &change.from) {
        (ChangeKind::Added, _) => (ChangeKind::Deleted, change.path.clone(), None),
        (ChangeKind::Deleted, _) => (ChangeKind::Added, change.path.clone(), None),
        (ChangeKind::Renamed, Some(from)) => (ChangeKind::Renamed, from.clone(), Some(change.path.clone())),
        (ChangeKind::Renamed | ChangeKind::Modified, _) => (change.kind, change.path.clone(), None),
    };
    let diff = change.diff.as_deref().and_then(|diff| diff::invert(diff).ok());
    Change {
        path,
        kind,
        from,
        mode: change.base_mode,
        base_mode: change.mode,
        base: change.new.clone(),
        new: change.base.clone(),
        base_bytes: change.new_bytes,
        new_bytes: change.base_bytes,
        text: change.text,
        diff_cut: change.diff_cut || (change.diff.is_some() && diff.is_none()),
        diff,
    }
}

fn check_change(change: &Change) -> Result<(), SetError> {
    path_fits(&change.path)?;
    let wrong = |what| Err(SetError::Inconsistent { path: shown(&change.path), what });
    let (has_base, has_new) = match change.kind {
        ChangeKind::Added => (false, true),
        ChangeKind::Deleted => (true, false),
        ChangeKind::Modified | ChangeKind::Renamed => (true, true),
    };
    if change.base.is_some() != has_base || change.base_mode.is_some() != has_base {
        return wrong("its kind does not fit what it says of the file before (base, baseMode)");
    }
    if change.new.is_some() != has_new || change.mode.is_some() != has_new {
        return wrong("its kind does not fit what it says of the file afterwards (new, mode)");
    }
    if (!has_base && change.base_bytes != 0) || (!has_new && change.new_bytes != 0) {
        return wrong("it gives the size of a file that is not there");
    }
    for mode in [change.mode, change.base_mode].into_iter().flatten() {
        mode_fits(&change.path, mode)?;
    }
    match (&change.from, change.kind) {
        (Some(from), ChangeKind::Renamed) => {
            path_fits(from)?;
            if *from == change.path {
                return wrong("it is renamed to itself");
            }
        }
        (None, ChangeKind::Renamed) => return wrong("it is renamed from nothing"),
        (Some(_), _) => return wrong("it is not renamed but says from where"),
        (None, _) if change.is_nothing() => return wrong("it changes nothing"),
        (None, _) => {}
    }
    match &change.diff {
        Some(_) if !change.text || change.diff_cut => wrong("it has a diff although it says that it has none"),
        Some(diff) if diff.len() > diff::MAX_DIFF_BYTES => wrong("its diff is too long"),
        Some(diff) => {
            diff::check(diff).map(|_| ()).map_err(|source| SetError::Diff { path: shown(&change.path), source })
        }
        None if change.text && !change.diff_cut => {
            wrong("it is text but has no diff, and does not say that it was cut")
        }
        None if change.diff_cut && !change.text => wrong("it is no text but says that its diff was cut"),
        None => Ok(()),
    }
}

fn path_fits(path: &str) -> Result<(), SetError> {
    check_path(path).map_err(|source| SetError::Path { path: shown(path), source })
}

fn mode_fits(path: &str, mode: u32) -> Result<(), SetError> {
    if mode & !MODE_BITS == 0 { Ok(()) } else { Err(SetError::Mode { path: shown(path), mode }) }
}

fn in_order<'p>(paths: impl Iterator<Item = &'p str>) -> Result<(), SetError> {
    let mut last: Option<&str> = None;
    for path in paths {
        match last {
            Some(last) if last == path => return Err(SetError::Twice { path: shown(path) }),
            Some(last) if last > path => return Err(SetError::Unsorted { path: shown(path) }),
            _ => last = Some(path),
        }
    }
    Ok(())
}

/// A path as errors repeat it: short, and harmless to a terminal.
pub(crate) fn shown(path: &str) -> String {
    const MAX_SHOWN_CHARS: usize = 200;
    brain_packet::terminal_line(&path.chars().take(MAX_SHOWN_CHARS).collect::<String>()).to_string()
}
