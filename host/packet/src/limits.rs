//! How much of each thing a packet may hold. Every one of these is a default that is on; what is over it is cut or
//! dropped by [`crate::normalise`], with a [`crate::Note`]. Lengths are counted in Unicode characters unless the name says
//! bytes.
//!
//! They bound what a role can make Brain keep, print and write to the journal. The size of a whole result is bounded
//! once more, in bytes, by the sandbox that carried it.

/// A handoff's, task's or message's id.
pub const MAX_ID_CHARS: usize = 256;
/// A session's id. It becomes a file name, so it stays well below what file systems take.
pub const MAX_SESSION_ID_CHARS: usize = 128;
/// A role's name.
pub const MAX_ROLE_NAME_CHARS: usize = 64;

/// A goal that Brain hands over: a user's request with what it refers to.
pub const MAX_GOAL_CHARS: usize = 262_144;
/// The constraints of one handoff.
pub const MAX_CONSTRAINTS: usize = 64;
/// One constraint, and the expected result in words.
pub const MAX_CONSTRAINT_CHARS: usize = 4_096;
/// The references that one task carries.
pub const MAX_CONTEXT_REFS: usize = 4_096;

/// A reference's guest path. A longer one is dropped, since half a path names another file.
pub const MAX_URI_CHARS: usize = 4_096;
/// What a reference is called.
pub const MAX_LABEL_CHARS: usize = 512;

/// A summary: of a result, or of a task's progress.
pub const MAX_SUMMARY_CHARS: usize = 16_384;
/// The steps that a worker says it has completed.
pub const MAX_COMPLETED_STEPS: usize = 256;
/// One step, completed or current.
pub const MAX_STEP_CHARS: usize = 512;

/// The files and artifacts that one result points at.
pub const MAX_ARTIFACTS: usize = 1_024;
/// The risks of one result.
pub const MAX_RISKS: usize = 256;
/// The open questions of one result.
pub const MAX_NEXT_QUESTIONS: usize = 256;
/// One risk, question, required change, blocking issue or residual risk.
pub const MAX_ITEM_CHARS: usize = 2_048;

/// The findings of one result.
pub const MAX_FINDINGS: usize = 2_048;
/// A rule's name. A longer one is dropped, since half a name is another rule.
pub const MAX_RULE_CHARS: usize = 128;
/// What a finding is about.
pub const MAX_ISSUE_CHARS: usize = 2_048;
/// The evidence of a finding.
pub const MAX_EVIDENCE_CHARS: usize = 4_096;
/// What a finding suggests to do.
pub const MAX_SUGGESTION_CHARS: usize = 4_096;
/// A file's path below the workspace. A longer one is dropped.
pub const MAX_FILE_CHARS: usize = MAX_URI_CHARS;

/// Why a review decided as it did.
pub const MAX_RATIONALE_CHARS: usize = MAX_SUMMARY_CHARS;
/// The required changes of one review, its blocking issues, and its residual risks: each list.
pub const MAX_REVIEW_ITEMS: usize = 256;
/// The files that one review accounts for.
pub const MAX_COVERAGE: usize = 4_096;
/// Why a file was inspected in part or not at all.
pub const MAX_REASON_CHARS: usize = 1_024;

/// The notes on one result: the rest is counted in the last one.
pub const MAX_NOTES: usize = 64;
/// Each text of a note.
pub const MAX_NOTE_CHARS: usize = 256;

/// A reply that arrives as text, in bytes. A longer one is not searched for JSON: its start becomes the summary.
pub const MAX_REPLY_BYTES: usize = 1_048_576;
