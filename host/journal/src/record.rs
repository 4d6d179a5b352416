//! The records of a session: everything that Brain may want to recall, one typed line each.
//!
//! A worker's own transcript, reasoning and output are never a record; they stay in the session's private folder.

use brain_packet::{AgentMessage, BrainTaskContext, Digest, HandoffId, RoleName, TaskId, TaskStatus, WorkerResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line of a session's journal, without its timestamp. The JSON has the variant's name in `type` and camelCase fields.
///
/// Free-form values (`receipt`, `finalReport`) belong to the crates that make them; the journal keeps them and looks into
/// neither, except to keep references relative and sizes bounded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(clippy::large_enum_variant, reason = "a run makes a few dozen records; a box would cost every reader a step")]
pub enum Record {
    /// A run begins.
    RunStart {
        /// What the operator asked.
        prompt: String,
        /// What Brain decided to do about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<RunPlan>,
        /// Where it works.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project_support: Option<ProjectSupport>,
    },
    /// Brain's own task: its goal, the tasks it hands out, the references it starts from.
    ContextPlan {
        /// The task; its id is the session's.
        context: BrainTaskContext,
    },
    /// The tasks that routing made, and which has to wait for which.
    TodoPlan {
        /// In the order of planning.
        todos: Vec<TodoItem>,
        /// Edges between them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dependencies: Vec<TodoDependency>,
        /// Why these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Tasks that changed their status.
    TodoUpdate {
        /// During which phase.
        phase: Phase,
        /// Whose work changed them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<RoleName>,
        /// The status they have now.
        status: TaskStatus,
        /// Their ids.
        todo_ids: Vec<String>,
        /// The tasks as they are now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        todos: Vec<TodoItem>,
        /// What was achieved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// What failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// An envelope that went from Brain to a worker or back.
    AgentMessage {
        /// During which phase.
        phase: Phase,
        /// The worker at the other end.
        worker: RoleName,
        /// The envelope with its packet.
        message: AgentMessage,
    },
    /// A worker is about to be called.
    WorkerStart {
        /// In which phase.
        phase: Phase,
        /// Its role.
        worker: RoleName,
        /// The goal of its handoff.
        goal: String,
        /// The handoff, whose packet is in the `agent_message` before this record.
        handoff_id: HandoffId,
        /// The worker's task.
        task_id: TaskId,
    },
    /// A worker gave its result, or the host made one for a worker that was stopped.
    WorkerEnd {
        /// In which phase.
        phase: Phase,
        /// Its role.
        worker: RoleName,
        /// What it returned, normalised.
        result: WorkerResult,
        /// What the call was granted, used and cost, in a journal from before [`Record::RoleReceipt`]; else `null`.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        receipt: Value,
    },
    /// The account of a call: what it was granted, did, used and was denied.
    RoleReceipt {
        /// In which phase.
        phase: Phase,
        /// The role that was called.
        worker: RoleName,
        /// Its handoff.
        handoff_id: HandoffId,
        /// The receipt's own JSON.
        receipt: Value,
    },
    /// A role proposes to change the project. The change set itself lies in the session's folder
    /// ([`crate::SessionPaths::change_set`]) and was written before this record.
    ChangeSet {
        /// In which phase.
        phase: Phase,
        /// Whose proposal.
        worker: RoleName,
        /// Its handoff.
        handoff_id: HandoffId,
        /// Digest of the change set: what is applied later is what was proposed now.
        digest: Digest,
        /// Files that it changes.
        files: u64,
        /// Lines that it adds to text files.
        added_lines: u64,
        /// Lines that it takes away from text files.
        removed_lines: u64,
        /// Folders that it makes or removes.
        folders: u64,
    },
    /// A change set is about to be put into a tree, or taken out of it. From here on the tree may be half way.
    ApplyIntent {
        /// Whose proposal.
        worker: RoleName,
        /// Which way.
        direction: ApplyDirection,
        /// Names this attempt in the records that follow it.
        intent_id: String,
        /// Digest of the set that is applied: the proposed one, or its inverse. It lies in the session's contents.
        set: Digest,
        /// Digest of the plan, by which an interrupted attempt is finished or taken back. It lies there too.
        plan: Digest,
        /// Files that will change.
        files: u64,
        /// The root of the tree.
        root: String,
    },
    /// All that the attempt needs is staged: when it is interrupted from here on, it is finished, before that taken back.
    ApplyCommit {
        /// Whose proposal.
        worker: RoleName,
        /// Which way.
        direction: ApplyDirection,
        /// Which attempt.
        intent_id: String,
    },
    /// The tree is whole again.
    ApplyEnd {
        /// Whose proposal.
        worker: RoleName,
        /// Which way.
        direction: ApplyDirection,
        /// Which attempt.
        intent_id: String,
        /// What came of it.
        outcome: ApplyOutcome,
        /// Digest of the set that takes back exactly what was done. It lies in the session's contents.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undo: Option<Digest>,
        /// Whether a later start did it, since the attempt itself was interrupted.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        recovered: bool,
    },
    /// A worker could not be run at all, or did not return by itself.
    WorkerError {
        /// In which phase.
        phase: Phase,
        /// Its role.
        worker: RoleName,
        /// Its handoff, when it came that far.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handoff_id: Option<HandoffId>,
        /// Stable code of the fault.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// The fault in words.
        error: String,
    },
    /// The report that the operator was shown.
    FinalReport {
        /// The report's own JSON.
        final_report: Value,
    },
    /// The run came to its end.
    RunEnd {
        /// The answer in short.
        summary: String,
    },
    /// The run stopped before its end.
    RunError {
        /// Stable code of the fault.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// The fault in words.
        error: String,
    },
}

impl Record {
    /// Every value that `type` can have.
    pub const TYPES: [&'static str; 16] = [
        "run_start",
        "context_plan",
        "todo_plan",
        "todo_update",
        "agent_message",
        "worker_start",
        "worker_end",
        "worker_error",
        "role_receipt",
        "change_set",
        "apply_intent",
        "apply_commit",
        "apply_end",
        "final_report",
        "run_end",
        "run_error",
    ];

    /// The record's `type` in the journal.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::RunStart { .. } => "run_start",
            Self::ContextPlan { .. } => "context_plan",
            Self::TodoPlan { .. } => "todo_plan",
            Self::TodoUpdate { .. } => "todo_update",
            Self::AgentMessage { .. } => "agent_message",
            Self::WorkerStart { .. } => "worker_start",
            Self::WorkerEnd { .. } => "worker_end",
            Self::WorkerError { .. } => "worker_error",
            Self::RoleReceipt { .. } => "role_receipt",
            Self::ChangeSet { .. } => "change_set",
            Self::ApplyIntent { .. } => "apply_intent",
            Self::ApplyCommit { .. } => "apply_commit",
            Self::ApplyEnd { .. } => "apply_end",
            Self::FinalReport { .. } => "final_report",
            Self::RunEnd { .. } => "run_end",
            Self::RunError { .. } => "run_error",
        }
    }

    /// Whether a run depends on this record being on the disk and not only in the system's cache: what the operator was
    /// told must be found again after a power cut, and so must everything by which a tree is made whole again.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        matches!(
            self,
            Self::FinalReport { .. }
                | Self::RunEnd { .. }
                | Self::RunError { .. }
                | Self::ChangeSet { .. }
                | Self::ApplyIntent { .. }
                | Self::ApplyCommit { .. }
                | Self::ApplyEnd { .. }
        )
    }
}

/// Which way a change set goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApplyDirection {
    /// Into the tree.
    Apply,
    /// Out of it again.
    Undo,
}

/// What came of an attempt to apply or to undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplyOutcome {
    /// All of it was done.
    Done,
    /// It was done but for files that somebody else changed in the middle of it: theirs were kept.
    DoneExcept,
    /// Nothing of it was done: what had been done was taken back.
    RolledBack,
}

/// In which part of a run something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before any worker.
    Planning,
    /// The workers that prepare the primary's work.
    Support,
    /// The worker that answers.
    Primary,
    /// The worker that judges.
    Review,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Planning => "planning",
            Self::Support => "support",
            Self::Primary => "primary",
            Self::Review => "review",
        })
    }
}

/// What Brain decided to do about a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunPlan {
    /// The role that answers.
    pub primary_role: RoleName,
    /// Every worker, in the order of planning.
    pub workers: Vec<PlannedWorker>,
    /// Whether the result has to be reviewed.
    #[serde(default)]
    pub requires_review: bool,
    /// Why this plan.
    #[serde(default)]
    pub reason: String,
    /// What planned: `heuristic` for the rules.
    #[serde(default)]
    pub source: String,
}

/// One worker of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedWorker {
    /// Its role.
    pub role: RoleName,
    /// In which phase it works.
    pub phase: Phase,
    /// What it is to achieve.
    pub goal: String,
    /// Why it was chosen.
    #[serde(default)]
    pub reason: String,
    /// The tasks it works on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub todo_ids: Vec<String>,
}

/// The project of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectSupport {
    /// Its root folder: the one path of the machine in a journal, by which sessions are found again.
    pub root: String,
}

/// A task that the operator can follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoItem {
    /// Unique within the run.
    pub id: String,
    /// In words.
    pub title: String,
    /// Who does it.
    pub role: RoleName,
    /// How far it is.
    pub status: TaskStatus,
    /// Why it is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// A task that has to wait for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoDependency {
    /// This one has to finish first.
    pub from_todo_id: String,
    /// This one waits.
    pub to_todo_id: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
