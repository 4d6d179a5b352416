//! The records of a session: everything that Brain may want to recall, one typed line each.
//!
//! A worker's own transcript, reasoning and output are never a record; they stay in the session's private folder.

mod audit;
mod checks;
pub(crate) mod lenient;
mod plan;
mod run;
mod session;
mod tools;
mod usage;

use brain_packet::{AgentMessage, BrainTaskContext, Digest, HandoffId, RoleName, TaskId, TaskStatus, WorkerResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use audit::{AuditSummary, MAX_AUDIT_CHARS, MAX_AUDIT_DEPTH, MAX_AUDIT_ITEMS, MAX_AUDIT_KEYS};
pub use checks::{
    CheckOutcome, CheckResult, CheckStatus, CheckSummary, DiffStats, FileChange, FixIteration, FixTrigger,
    Independence, ModelName, PatchChanges, PatchSummary, ReviewArtifactsSummary, ReviewOutcome, ReviewRecord,
};
pub use plan::{
    Approver, ClarificationAsked, ClarificationOption, ClarificationRequest, DispatchPhase, DynamicDispatch,
    EffectRisk, ExecutionPlanReview, PlanStatus, PromptReference, PromptReferenceKind, ReviewedWorker, SideEffect,
    SideEffectKind, ValidationPlan,
};
pub use run::{
    McpSupport, Phase, PlannedWorker, ProjectSupport, RunEnd, RunPlan, RunStart, SkillSupport, SupportFile,
    TodoDependency, TodoItem, UserSupport,
};
pub use session::{HandoffBrief, HandoffTrigger, JOURNAL_VERSION, JournalHeader};
pub use tools::{
    HookCall, HookEvent, HookRun, HookSource, McpConnect, PhaseCalls, ToolApprovalDecision, ToolCallCount,
    ToolDecision, ToolEvent, ToolExecutionSummary, ToolScope,
};
pub use usage::{TokenCounts, TokenUsage, UsagePhase};

/// One line of a session's journal, without its timestamp. The JSON has the variant's name in `type` and camelCase fields.
///
/// Free-form values (`receipt`, `finalReport`) belong to the crates that make them; the journal keeps them and looks into
/// neither, except to keep references relative and sizes bounded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Record {
    /// What the file is: its first record.
    Journal(JournalHeader),
    /// A run begins.
    RunStart(RunStart),
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
        /// Which attempt of the primary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handoff_id: Option<HandoffId>,
        /// The worker's task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<TaskId>,
        /// The model, as whoever runs it describes it.
        #[serde(default, skip_serializing_if = "AuditSummary::is_null")]
        model: AuditSummary,
        /// The worker's own session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_session_id: Option<String>,
        /// Which attempt of the primary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
    },
    /// A worker gave its result, or the host made one for a worker that was stopped.
    WorkerEnd {
        /// In which phase.
        phase: Phase,
        /// Its role.
        worker: RoleName,
        /// What it returned, normalised.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<WorkerResult>,
        /// What the call was granted, used and cost, in a journal from before [`Record::RoleReceipt`]; else `null`.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        receipt: Value,
        /// Which attempt of the primary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
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
        /// Which folder that is, as device and inode: it may be moved, and another may be at its path later. Absent where a
        /// version did not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root_file: Option<(u64, u64)>,
        /// Digest of the proposal that it is about: a role may have made several in one session. Absent where a version did
        /// not say; then it is the role's latest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proposal: Option<Digest>,
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
        /// Which attempt of the primary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// Whether another model is tried next.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        will_fallback: bool,
    },
    /// The report that the operator was shown.
    FinalReport {
        /// The report's own JSON.
        final_report: Value,
        /// Which attempt of the primary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
    },
    /// The run came to its end.
    RunEnd(RunEnd),
    /// The run stopped before its end.
    RunError {
        /// Stable code of the fault.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// The fault in words.
        error: String,
        /// Which attempt of the primary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// Whether another model is tried next.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        will_fallback: bool,
    },
    /// Brain asks back before it works.
    ClarificationRequest(ClarificationRequest),
    /// A specialist is asked for in the middle of a run, or has answered.
    DynamicDispatch(DynamicDispatch),
    /// How a plan was let through.
    ExecutionPlanReview(ExecutionPlanReview),
    /// A tool call was let through or stopped.
    ToolApprovalDecision(ToolApprovalDecision),
    /// A tool call began or ended.
    ToolExecutionSummary(ToolExecutionSummary),
    /// What the project's checks came to.
    CheckSummary(CheckSummary),
    /// What the reviewer was shown.
    ReviewArtifactsSummary(ReviewArtifactsSummary),
    /// What the review decided.
    ReviewDecision(ReviewRecord),
    /// The primary is asked again.
    FixIteration(FixIteration),
    /// What was changed.
    PatchSummary(PatchSummary),
    /// How many tool calls there were.
    ToolCallCount(ToolCallCount),
    /// What a model call cost.
    TokenUsage(TokenUsage),
    /// Which MCP servers answered.
    McpConnect(McpConnect),
    /// What the session came to, condensed for the next one.
    Handoff(HandoffBrief),
    /// Hooks of a session that begins or goes on.
    HookSessionStart(HookRun),
    /// Hooks of a request that came in.
    HookUserPromptSubmit(HookRun),
    /// Hooks of a worker that begins.
    HookSubagentStart(HookRun),
    /// Hooks of a worker that ended.
    HookSubagentStop(HookRun),
    /// Hooks of a run that is about to end.
    HookStop(HookRun),
    /// Hooks of a tool that is about to be called.
    HookPreToolUse(HookRun),
    /// Hooks of a question to the operator.
    HookPermissionRequest(HookRun),
    /// Hooks of a tool that was called.
    HookPostToolUse(HookRun),
    /// Hooks of context that is about to be condensed.
    HookPreCompact(HookRun),
    /// Hooks of context that was condensed.
    HookPostCompact(HookRun),
}

impl Record {
    /// Every value that `type` can have.
    pub const TYPES: [&'static str; 41] = [
        "journal",
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
        "clarification_request",
        "dynamic_dispatch",
        "execution_plan_review",
        "tool_approval_decision",
        "tool_execution_summary",
        "check_summary",
        "review_artifacts_summary",
        "review_decision",
        "fix_iteration",
        "patch_summary",
        "tool_call_count",
        "token_usage",
        "mcp_connect",
        "handoff",
        "hook_session_start",
        "hook_user_prompt_submit",
        "hook_subagent_start",
        "hook_subagent_stop",
        "hook_stop",
        "hook_pre_tool_use",
        "hook_permission_request",
        "hook_post_tool_use",
        "hook_pre_compact",
        "hook_post_compact",
    ];

    /// The record's `type` in the journal.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Journal(_) => "journal",
            Self::RunStart(_) => "run_start",
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
            Self::RunEnd(_) => "run_end",
            Self::RunError { .. } => "run_error",
            Self::ClarificationRequest(_) => "clarification_request",
            Self::DynamicDispatch(_) => "dynamic_dispatch",
            Self::ExecutionPlanReview(_) => "execution_plan_review",
            Self::ToolApprovalDecision(_) => "tool_approval_decision",
            Self::ToolExecutionSummary(_) => "tool_execution_summary",
            Self::CheckSummary(_) => "check_summary",
            Self::ReviewArtifactsSummary(_) => "review_artifacts_summary",
            Self::ReviewDecision(_) => "review_decision",
            Self::FixIteration(_) => "fix_iteration",
            Self::PatchSummary(_) => "patch_summary",
            Self::ToolCallCount(_) => "tool_call_count",
            Self::TokenUsage(_) => "token_usage",
            Self::McpConnect(_) => "mcp_connect",
            Self::Handoff(_) => "handoff",
            Self::HookSessionStart(_) => "hook_session_start",
            Self::HookUserPromptSubmit(_) => "hook_user_prompt_submit",
            Self::HookSubagentStart(_) => "hook_subagent_start",
            Self::HookSubagentStop(_) => "hook_subagent_stop",
            Self::HookStop(_) => "hook_stop",
            Self::HookPreToolUse(_) => "hook_pre_tool_use",
            Self::HookPermissionRequest(_) => "hook_permission_request",
            Self::HookPostToolUse(_) => "hook_post_tool_use",
            Self::HookPreCompact(_) => "hook_pre_compact",
            Self::HookPostCompact(_) => "hook_post_compact",
        }
    }

    /// The record of what the hooks of an event did.
    #[must_use]
    pub fn hook(run: HookRun) -> Self {
        match run.event_name {
            HookEvent::SessionStart => Self::HookSessionStart(run),
            HookEvent::SubagentStart => Self::HookSubagentStart(run),
            HookEvent::SubagentStop => Self::HookSubagentStop(run),
            HookEvent::PreToolUse => Self::HookPreToolUse(run),
            HookEvent::PermissionRequest => Self::HookPermissionRequest(run),
            HookEvent::PostToolUse => Self::HookPostToolUse(run),
            HookEvent::PreCompact => Self::HookPreCompact(run),
            HookEvent::PostCompact => Self::HookPostCompact(run),
            HookEvent::UserPromptSubmit => Self::HookUserPromptSubmit(run),
            HookEvent::Stop => Self::HookStop(run),
        }
    }

    /// What the hooks of an event did, when the record is about that.
    #[must_use]
    pub fn as_hook(&self) -> Option<&HookRun> {
        match self {
            Self::HookSessionStart(run)
            | Self::HookSubagentStart(run)
            | Self::HookSubagentStop(run)
            | Self::HookPreToolUse(run)
            | Self::HookPermissionRequest(run)
            | Self::HookPostToolUse(run)
            | Self::HookPreCompact(run)
            | Self::HookPostCompact(run)
            | Self::HookUserPromptSubmit(run)
            | Self::HookStop(run) => Some(run),
            _ => None,
        }
    }

    /// Whether a run depends on this record being on the disk and not only in the system's cache: what the operator was
    /// told must be found again after a power cut, and so must everything by which a tree is made whole again.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        matches!(
            self,
            Self::FinalReport { .. }
                | Self::RunEnd(_)
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApplyOutcome {
    /// All of it was done.
    Done,
    /// It was done but for files that somebody else changed in the middle of it: theirs were kept.
    DoneExcept,
    /// Nothing of it was done: what had been done was taken back.
    RolledBack,
}
