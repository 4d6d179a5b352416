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
            Record::ApplyIntent { direction, intent_id, set, plan, files, root, .. } => {
                if self.attempts.len() == MAX_ATTEMPTS {
                    self.attempts.remove(0);
                }
                self.attempts.push(AttemptStory {
                    intent_id,
                    direction,
                    root,
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

    fn attempt(&mut self, intent_id: &str) -> Option<&mut AttemptStory> {
        self.attempts.iter_mut().rev().find(|attempt| attempt.intent_id == intent_id)
    }

    /// What became of the proposal in the tree at `root`.
    #[must_use]
    pub fn state_at(&self, root: &str) -> ProposalState {
        state(self.attempts.iter().filter(|attempt| attempt.root == root))
    }

    /// The latest apply that was done in the tree at `root`.
    #[must_use]
    pub fn applied_at(&self, root: &str) -> Option<&AttemptStory> {
        self.attempts.iter().rfind(|attempt| {
            attempt.root == root
                && attempt.direction == ApplyDirection::Apply
                && matches!(attempt.outcome, Some(ApplyOutcome::Done | ApplyOutcome::DoneExcept))
        })
    }

    /// The latest attempt in the tree at `root`, if it has not come to an end.
    #[must_use]
    pub fn unfinished_at(&self, root: &str) -> Option<&AttemptStory> {
        self.attempts.iter().rfind(|attempt| attempt.root == root).filter(|attempt| attempt.outcome.is_none())
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
