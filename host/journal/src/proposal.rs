//! What became of a proposed change: every attempt to apply and to undo it, as the journal tells them.

use brain_packet::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::{ApplyDirection, ApplyOutcome, Record};

/// Most attempts of one proposal that a story keeps: the latest.
pub const MAX_ATTEMPTS: usize = 1_024;

/// A change that a worker proposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalStory {
    /// Digest of the change set.
    pub digest: Digest,
    /// Files that it changes.
    pub files: u64,
    /// Lines that it adds to text files.
    pub added_lines: u64,
    /// Lines that it takes away from text files.
    pub removed_lines: u64,
    /// Folders that it makes or removes.
    pub folders: u64,
    /// What became of it, wherever that was.
    pub state: ProposalState,
    /// The attempts to apply and to undo it, oldest first.
    pub attempts: Vec<AttemptStory>,
}

/// What became of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProposalState {
    /// Nothing yet.
    Proposed,
    /// It was applied.
    Applied,
    /// It was applied, and taken back.
    Undone,
    /// An attempt is under way, or was interrupted and not yet made good.
    Unfinished,
}

impl std::fmt::Display for ProposalState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Proposed => "proposed",
            Self::Applied => "applied",
            Self::Undone => "undone",
            Self::Unfinished => "unfinished",
        })
    }
}

/// One attempt to apply or to undo a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptStory {
    /// Which attempt.
    pub intent_id: String,
    /// Which way.
    pub direction: ApplyDirection,
    /// The root of the tree.
    pub root: String,
    /// Which folder that was, as device and inode; absent where a version did not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_file: Option<(u64, u64)>,
    /// Digest of the set that is applied.
    pub set: Digest,
    /// Digest of the plan.
    pub plan: Digest,
    /// Files that change.
    pub files: u64,
    /// Whether all that it needed was staged.
    pub committed: bool,
    /// What came of it; absent while nothing has.
    pub outcome: Option<ApplyOutcome>,
    /// Digest of the set that takes back exactly what was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<Digest>,
    /// Whether a later start brought it to its end.
    pub recovered: bool,
    /// When it began, in milliseconds since the epoch.
    pub started: u64,
}

/// The root of a tree, as somebody finds it now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root<'a> {
    /// Its path.
    pub path: &'a str,
    /// Which folder that is, as device and inode, where that can be told.
    pub file: Option<(u64, u64)>,
}

impl<'a> From<&'a str> for Root<'a> {
    fn from(path: &'a str) -> Self {
        Self { path, file: None }
    }
}

impl AttemptStory {
    /// Whether it was in the tree at `root`: in that folder, wherever it was then. Where that was not written down, the path
    /// has to tell. A device may get another number when the machine starts anew; path and inode are enough then.
    #[must_use]
    pub fn is_at(&self, root: Root<'_>) -> bool {
        match (self.root_file, root.file) {
            (Some(was), Some(is)) => was == is || (was.1 == is.1 && self.root == root.path),
            _ => self.root == root.path,
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.outcome, Some(ApplyOutcome::Done | ApplyOutcome::DoneExcept))
    }
}

impl ProposalStory {
    /// The story that a `change_set` record begins.
    pub(crate) fn begun_by(record: Record) -> Option<Self> {
        let Record::ChangeSet { digest, files, added_lines, removed_lines, folders, .. } = record else { return None };
        Some(Self {
            digest,
            files,
            added_lines,
            removed_lines,
            folders,
            state: ProposalState::Proposed,
            attempts: Vec::new(),
        })
    }

    /// Adds what a record of an attempt tells. False when that attempt is not known.
    pub(crate) fn tell(&mut self, timestamp: u64, record: Record) -> bool {
        match record {
            Record::ApplyIntent { direction, intent_id, set, plan, files, root, root_file, .. } => {
                if self.attempts.len() == MAX_ATTEMPTS {
                    self.attempts.remove(0);
                }
                self.attempts.push(AttemptStory {
                    intent_id,
                    direction,
                    root,
                    root_file,
                    set,
                    plan,
                    files,
                    committed: false,
                    outcome: None,
                    undo: None,
                    recovered: false,
                    started: timestamp,
                });
            }
            Record::ApplyCommit { intent_id, .. } => match self.attempt(&intent_id) {
                Some(attempt) => attempt.committed = true,
                None => return false,
            },
            Record::ApplyEnd { intent_id, outcome, undo, recovered, .. } => match self.attempt(&intent_id) {
                Some(attempt) => {
                    (attempt.outcome, attempt.undo, attempt.recovered) = (Some(outcome), undo, recovered);
                }
                None => return false,
            },
            _ => {}
        }
        self.state = state(self.attempts.iter());
        true
    }

    /// Whether one of its attempts has this name.
    pub(crate) fn knows(&self, intent_id: &str) -> bool {
        self.attempts.iter().any(|attempt| attempt.intent_id == intent_id)
    }

    fn attempt(&mut self, intent_id: &str) -> Option<&mut AttemptStory> {
        self.attempts.iter_mut().rev().find(|attempt| attempt.intent_id == intent_id)
    }

    /// What became of the proposal in the tree at `root`.
    #[must_use]
    pub fn state_at<'a>(&self, root: impl Into<Root<'a>>) -> ProposalState {
        let root = root.into();
        state(self.attempts.iter().filter(|attempt| attempt.is_at(root)))
    }

    /// The latest apply that was done in the tree at `root`.
    #[must_use]
    pub fn applied_at<'a>(&self, root: impl Into<Root<'a>>) -> Option<&AttemptStory> {
        let root = root.into();
        self.attempts
            .iter()
            .rfind(|attempt| attempt.is_at(root) && attempt.direction == ApplyDirection::Apply && attempt.is_done())
    }

    /// The latest attempt in the tree at `root`, if it has not come to an end.
    #[must_use]
    pub fn unfinished_at<'a>(&self, root: impl Into<Root<'a>>) -> Option<&AttemptStory> {
        let root = root.into();
        self.attempts.iter().rfind(|attempt| attempt.is_at(root)).filter(|attempt| attempt.outcome.is_none())
    }

    /// Where it is applied, as far as the journal knows: the apply of each such tree, the latest first.
    #[must_use]
    pub fn applied(&self) -> Vec<&AttemptStory> {
        let mut seen: Vec<Root<'_>> = Vec::new();
        let mut applied = Vec::new();
        for attempt in self.attempts.iter().rev().filter(|attempt| attempt.is_done()) {
            if seen.iter().any(|root| attempt.is_at(*root)) {
                continue;
            }
            seen.push(Root { path: &attempt.root, file: attempt.root_file });
            if attempt.direction == ApplyDirection::Apply {
                applied.push(attempt);
            }
        }
        applied
    }
}

fn state<'a>(attempts: impl Iterator<Item = &'a AttemptStory>) -> ProposalState {
    let mut settled = ProposalState::Proposed;
    let mut unfinished = false;
    for attempt in attempts {
        unfinished = attempt.outcome.is_none();
        match (attempt.outcome, attempt.direction) {
            (Some(ApplyOutcome::Done | ApplyOutcome::DoneExcept), ApplyDirection::Apply) => {
                settled = ProposalState::Applied
            }
            (Some(ApplyOutcome::Done | ApplyOutcome::DoneExcept), ApplyDirection::Undo) => {
                settled = ProposalState::Undone
            }
            // What was taken back is where it was before.
            (Some(ApplyOutcome::RolledBack) | None, _) => {}
        }
    }
    if unfinished { ProposalState::Unfinished } else { settled }
}
