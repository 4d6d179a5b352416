//! The memory of Brain's sessions: one file of JSON lines per session, `<home>/sessions/<id>.jsonl`.
//!
//! **For:** appending typed [`Record`]s so that a crash costs at most the line being written and no two processes ever
//! write into each other's lines ([`Journal`]); reading them back whatever stands in the file ([`read()`], [`scan`]); finding
//! sessions ([`list()`], [`find`]); telling what happened from the records alone ([`SessionStory`], in short [`SessionContext`]);
//! following a session ([`Tail`]); and adding up what model calls cost ([`usage()`]).
//!
//! **Must not know:** how a run is orchestrated, what a receipt or a report contains, how anything is shown, or what a
//! worker wrote for itself: transcripts and output stay in the session's `private` folder, which nothing here reads.
//!
//! ```
//! use brain_journal::{Journal, Record, RunEnd, RunStart, SessionStatus, SessionStory};
//!
//! let home = tempfile::tempdir()?;
//! let journal = Journal::start(home.path())?;
//! let appended = journal.append(&Record::RunStart(RunStart::new("Is it safe?")))?;
//! assert!(appended.truncated.is_none());
//! journal.append(&Record::RunEnd(RunEnd::new("It is.")))?;
//!
//! let story = SessionStory::read(home.path(), journal.id())?;
//! assert_eq!(story.status, SessionStatus::Completed);
//! assert_eq!(story.runs[0].summary.as_deref(), Some("It is."));
//! assert!(story.skipped.is_nothing());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The file
//!
//! One JSON object a line, `{"timestamp":<ms since the epoch>,"type":"<type>",…}`, in UTF-8, only ever appended to: each record is
//! one write under an exclusive advisory lock of the file ([`LOCK_WAIT`]), and those that a run depends on are flushed
//! ([`Record::is_durable`]). A line has at most [`MAX_RECORD_BYTES`]; a larger record is cut and says so in `truncated`. Readers
//! pass over what they do not know and count it ([`Skipped`]). What the system before Brain wrote is read as well, in
//! its own shapes: whole plans and handoffs, roles in camel case, words for a status that mean something by being unknown.
//!
//! # The records
//!
//! The [published schema](../../../schemas/journal-record.schema.json) has their shapes. What is free-form stays JSON: `receipt`, `finalReport`
//! and `report` nest [`MAX_VALUE_DEPTH`] deep at most; arguments, results and what other crates shape are an [`AuditSummary`].
//!
//! | type | tells | fields |
//! |---|---|---|
//! | `journal` | what the file is: its first record | `brain`, `version` |
//! | `run_start` | a run, or another attempt of it, begins | `attempt`, `plan`, `projectSupport`, `prompt`, `role` |
//! | `context_plan` | Brain's own task | `context` |
//! | `todo_plan` | the tasks, and which waits for which | `dependencies`, `reason`, `todos` |
//! | `todo_update` | tasks that changed their status | `error`, `phase`, `role`, `status`, `summary`, `todoIds`, `todos` |
//! | `agent_message` | an envelope between Brain and a worker | `attempt`, `message`, `phase`, `worker` |
//! | `worker_start` | a worker is about to be called | `agentSessionId`, `attempt`, `goal`, `handoffId`, `model`, `phase`, `taskId`, `worker` |
//! | `worker_end` | a worker's result | `attempt`, `phase`, `receipt`, `result`, `worker` |
//! | `role_receipt` | what a call was granted, did and used | `handoffId`, `phase`, `receipt`, `worker` |
//! | `change_set` | a role proposes to change the project | `addedLines`, `digest`, `files`, `folders`, `handoffId`, `phase`, `removedLines`, `worker` |
//! | `apply_intent` | a change is about to go into a tree or out of it | `direction`, `files`, `intentId`, `plan`, `proposal`, `root`, `rootFile`, `set`, `worker` |
//! | `apply_commit` | all that it needs is staged | `direction`, `intentId`, `worker` |
//! | `apply_end` | the tree is whole again | `direction`, `intentId`, `outcome`, `recovered`, `undo`, `worker` |
//! | `worker_error` | a worker could not be run, or was stopped | `attempt`, `code`, `error`, `handoffId`, `phase`, `willFallback`, `worker` |
//! | `final_report` | what the operator was shown | `attempt`, `finalReport` |
//! | `run_end` | the run came to its end | `attempt`, `checks`, `finalReport`, `fixIterations`, `patch`, `reviewDecision`, `summary`, `workerResults` |
//! | `run_error` | the run stopped, or another model is tried | `attempt`, `code`, `error`, `willFallback` |
//! | `clarification_request` | what Brain asks back before it works | `attempt`, `clarification` |
//! | `dynamic_dispatch` | a specialist is sent for, or has answered | `contextId`, `goal`, `phase`, `primaryRole`, `reason`, `role`, `status`, `summary` |
//! | `execution_plan_review` | how the plan was let through | `approver`, `brain`, `brainTaskId`, `dependencies`, `mode`, `planId`, `primaryRole`, `promptReferences`, `proposedSideEffects`, `rationale`, `requiredReview`, `residualPreExecutionRisks`, `riskTriggers`, `routing`, `sessionId`, `status`, `todos`, `validationPlan`, `workers` |
//! | `tool_approval_decision` | a tool call was let through or stopped | `agentSessionId`, `approver`, `argsSummary`, `attempt`, `brainId`, `decision`, `parentId`, `permissionPolicy`, `phase`, `reason`, `role`, `taskId`, `toolCallId`, `toolName` |
//! | `tool_execution_summary` | a tool call begins or ended | `agentSessionId`, `argsSummary`, `attempt`, `brainId`, `event`, `isError`, `parentId`, `phase`, `resultSummary`, `role`, `taskId`, `toolCallId`, `toolName` |
//! | `check_summary` | what the project's checks came to | `attempt`, `fixIteration`, `patchKind`, `reason`, `results`, `reviewRequired`, `selectedScripts`, `status` |
//! | `review_artifacts_summary` | what the reviewer was shown | `attempt`, `changedFiles`, `checksStatus`, `diffTruncated`, `fixIteration`, `independence`, `reviewMode`, `riskTier` |
//! | `review_decision` | what the review decided | `attempt`, `blockingIssues`, `confidence`, `coverage`, `decision`, `findings`, `fixIteration`, `independence`, `mode`, `rationale`, `requiredChanges`, `residualRisks`, `riskTier` |
//! | `fix_iteration` | the primary is asked again | `attempt`, `iteration`, `trigger` |
//! | `patch_summary` | what was changed | `attempt`, `changedFiles`, `diffStats`, `preExistingChangedFiles` |
//! | `tool_call_count` | how many tool calls there were | `attempt`, `byPhase`, `failed`, `total` |
//! | `token_usage` | what a model call cost | `agentSessionId`, `attempt`, `brainId`, `modelId`, `parentId`, `phase`, `provider`, `role`, `taskId`, `turnId`, `usage` |
//! | `mcp_connect` | which MCP servers answered | `report` |
//! | `handoff` | the session condensed for another one | `estimatedBytes`, `focus`, `limitBytes`, `summary`, `trigger` |
//! | `hook_session_start` | hooks: a session begins or goes on | `additionalContext`, `blockedReason`, `eventName`, `matcher`, `records` |
//! | `hook_user_prompt_submit` | hooks: a request came in | `additionalContext`, `blockedReason`, `eventName`, `matcher`, `records` |
//! | `hook_subagent_start` | hooks: a worker begins | `additionalContext`, `blockedReason`, `eventName`, `matcher`, `records` |
//! | `hook_subagent_stop` | hooks: a worker ended | `additionalContext`, `blockedReason`, `eventName`, `matcher`, `records` |
//! | `hook_stop` | hooks: a run is about to end | `additionalContext`, `blockedReason`, `eventName`, `matcher`, `records` |
//! | `hook_pre_tool_use` | hooks: a tool is about to be called | `additionalContext`, `blockedReason`, `eventName`, `matcher`, `records` |
//! | `hook_permission_request` | hooks: the operator is about to be asked | `additionalContext`, `blockedReason`, `eventName`, `matcher`, `records` |
//! | `hook_post_tool_use` | hooks: a tool was called | `additionalContext`, `blockedReason`, `eventName`, `matcher`, `records` |
//! | `hook_pre_compact` | hooks: context is about to be condensed | `additionalContext`, `blockedReason`, `eventName`, `matcher`, `records` |
//! | `hook_post_compact` | hooks: context was condensed | `additionalContext`, `blockedReason`, `eventName`, `matcher`, `records` |

mod cut;
mod error;
mod events;
mod id;
mod journal;
mod layout;
mod limits;
mod lines;
mod list;
mod proposal;
mod read;
mod record;
mod refs;
mod run_lock;
mod seed;
mod snapshot;
mod story;
mod tail;
mod usage;

pub use cut::{JournalLine, MAX_RECORD_BYTES, MAX_VALUE_DEPTH, Truncation};
pub use error::{JournalError, MAX_CANDIDATES};
pub use events::{RunEvents, ToolStory};
pub use id::{SESSION_ID_CHARS, new_session_id, parse_session_id};
pub use journal::{Appended, Journal, LOCK_WAIT};
pub use layout::{FILE_MODE, FOLDER_MODE, SessionPaths, sessions_folder};
pub use limits::{MAX_INLINE_FILE_BYTES, MAX_INLINE_SESSION_CHARS, MAX_SESSION_FIELD_CHARS};
pub use list::{
    DEFAULT_LIST_LIMIT, ListFilter, MAX_LIST_LIMIT, MAX_LISTED_FILES, SessionList, SessionStatus, SessionSummary, find,
    list, list_with,
};
pub use proposal::{AttemptStory, MAX_ATTEMPTS, ProposalState, ProposalStory, Root};
pub use read::{Entry, MAX_FILE_BYTES, MAX_LINE_BYTES, ReadLimits, SessionLog, Skipped, read, read_with, scan};
pub use record::*;
pub use refs::{
    ArtifactDigest, ArtifactDigests, is_journal_uri, journal_context, journal_handoff, journal_message, journal_ref,
    journal_result, journal_uri, journal_value,
};
pub use run_lock::RunLock;
pub use snapshot::{ContextEntry, MAX_SNAPSHOT_ENTRIES, MAX_SNAPSHOT_FILE_BYTES, SessionContext};
pub use story::{ErrorStory, FindingCounts, HandoffStory, MAX_STORY_ITEMS, RunStory, SessionStory, WorkerStory};
pub use tail::{DEFAULT_TAIL, MAX_TAIL, Tail};
pub use usage::{
    MAX_RECENT_CALLS, MAX_USAGE_FILE_BYTES, MAX_USAGE_GROUPS, UsageCall, UsageGroup, UsageScope, UsageStats,
    UsageTotals, usage,
};
