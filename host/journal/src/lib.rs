//! The memory of Brain's sessions: one file of JSON lines per session, `<home>/sessions/<id>.jsonl`.
//!
//! **For:** appending typed [`Record`]s so that a crash costs at most the line being written and no two processes ever
//! write into each other's lines ([`Journal`]); reading them back whatever stands in the file ([`read()`], [`scan`]); finding
//! sessions ([`list()`], [`find`]); and telling what happened from the records alone ([`SessionStory`]).
//!
//! **Must not know:** how a run is orchestrated, what a receipt or a report contains, how anything is shown, or what a
//! worker wrote for itself: transcripts and output stay in the session's `private` folder, which nothing here reads.
//!
//! ```
//! use brain_journal::{Journal, Record, SessionStatus, SessionStory};
//!
//! let home = tempfile::tempdir()?;
//! let journal = Journal::start(home.path())?;
//! let appended = journal.append(&Record::RunStart { prompt: "Is it safe?".into(), plan: None, project_support: None })?;
//! assert!(appended.truncated.is_none());
//! journal.append(&Record::RunEnd { summary: "It is.".into() })?;
//!
//! let story = SessionStory::read(home.path(), journal.id())?;
//! assert_eq!(story.status, SessionStatus::Completed);
//! assert_eq!(story.runs[0].summary.as_deref(), Some("It is."));
//! assert!(story.skipped.is_nothing());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cut;
mod error;
mod id;
mod journal;
mod layout;
mod lines;
mod list;
mod proposal;
mod read;
mod record;
mod refs;
mod story;

pub use cut::{MAX_RECORD_BYTES, MAX_VALUE_DEPTH, Truncation};
pub use error::{JournalError, MAX_CANDIDATES};
pub use id::{SESSION_ID_CHARS, new_session_id, parse_session_id};
pub use journal::{Appended, Journal, LOCK_WAIT};
pub use layout::{FILE_MODE, FOLDER_MODE, SessionPaths, sessions_folder};
pub use list::{
    DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT, MAX_LISTED_FILES, MAX_SESSION_FIELD_CHARS, SessionList, SessionStatus,
    SessionSummary, find, list,
};
pub use proposal::{AttemptStory, MAX_ATTEMPTS, ProposalState, ProposalStory};
pub use read::{Entry, MAX_FILE_BYTES, MAX_LINE_BYTES, ReadLimits, SessionLog, Skipped, read, read_with, scan};
pub use record::{
    ApplyDirection, ApplyOutcome, Phase, PlannedWorker, ProjectSupport, Record, RunPlan, TodoDependency, TodoItem,
};
pub use refs::{
    ArtifactDigest, ArtifactDigests, is_journal_uri, journal_context, journal_handoff, journal_message, journal_ref,
    journal_result, journal_uri, journal_value,
};
pub use story::{ErrorStory, FindingCounts, MAX_STORY_ITEMS, RunStory, SessionStory, WorkerStory};
