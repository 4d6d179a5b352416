//! Tools: who let a call through, what it was about, how many there were. And hooks, which may stop one.

use brain_packet::RoleName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::usage::UsagePhase;
use super::{Approver, AuditSummary, lenient};

/// Whose call it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolScope {
    /// In which part of the run.
    pub phase: UsagePhase,
    /// The role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// The worker's own session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
    /// The worker's task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Brain's task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// Which attempt of the primary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The Brain Model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brain_id: Option<String>,
}

/// A tool call was let through or stopped: the record `tool_approval_decision`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolApprovalDecision {
    /// The call.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// What was decided.
    pub decision: ToolDecision,
    /// By whom.
    pub approver: Approver,
    /// Whose call it is.
    #[serde(flatten)]
    pub scope: ToolScope,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the call was to be made with.
    #[serde(default, skip_serializing_if = "AuditSummary::is_null")]
    pub args_summary: AuditSummary,
    /// The rules that were looked at.
    #[serde(default, skip_serializing_if = "AuditSummary::is_null")]
    pub permission_policy: AuditSummary,
}

/// What was decided about a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolDecision {
    /// Nobody had to be asked.
    Allowed,
    /// Somebody was asked and agreed.
    Approved,
    /// Somebody would have been asked, and a rule agreed for them.
    AutoApproved,
    /// A rule stopped it.
    Blocked,
    /// Somebody was asked and refused; also what a word that this version does not know is taken for.
    #[serde(other)]
    Denied,
}

impl ToolDecision {
    /// Whether the call was not made.
    #[must_use]
    pub fn stopped(self) -> bool {
        matches!(self, Self::Blocked | Self::Denied)
    }
}

impl std::fmt::Display for ToolDecision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Allowed => "allowed",
            Self::Approved => "approved",
            Self::AutoApproved => "approved unasked",
            Self::Blocked => "blocked",
            Self::Denied => "denied",
        })
    }
}

/// A tool call began or ended: the record `tool_execution_summary`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolExecutionSummary {
    /// Which of the two.
    pub event: ToolEvent,
    /// The call.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// Whose call it is.
    #[serde(flatten)]
    pub scope: ToolScope,
    /// What it was made with.
    #[serde(default, skip_serializing_if = "AuditSummary::is_null")]
    pub args_summary: AuditSummary,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "AuditSummary::is_null")]
    pub result_summary: AuditSummary,
}

/// The beginning or the end of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolEvent {
    /// It is made.
    Start,
    /// It is over.
    End,
}

/// How many tool calls a run made: the record `tool_call_count`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallCount {
    /// All of them.
    #[serde(default, deserialize_with = "lenient::whole")]
    pub total: u64,
    /// Those that failed.
    #[serde(default, deserialize_with = "lenient::whole")]
    pub failed: u64,
    /// By part of the run.
    #[serde(default)]
    pub by_phase: Vec<PhaseCalls>,
    /// Of which attempt of the primary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// Tool calls of one part of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PhaseCalls {
    /// Which part.
    pub phase: UsagePhase,
    /// All of them.
    #[serde(deserialize_with = "lenient::whole")]
    pub calls: u64,
    /// Those that failed.
    #[serde(deserialize_with = "lenient::whole")]
    pub failed: u64,
}

/// Which MCP servers answered: the record `mcp_connect`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpConnect {
    /// The report of the hub, whose shape is its own.
    #[serde(default)]
    pub report: Value,
}

/// The events that a hook can be for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum HookEvent {
    /// A session begins or goes on.
    SessionStart,
    /// A worker begins.
    SubagentStart,
    /// A worker ended well.
    SubagentStop,
    /// A tool is about to be called.
    PreToolUse,
    /// Somebody is about to be asked.
    PermissionRequest,
    /// A tool was called.
    PostToolUse,
    /// Context is about to be condensed.
    PreCompact,
    /// Context was condensed.
    PostCompact,
    /// A request came in.
    UserPromptSubmit,
    /// A run is about to end.
    Stop,
}

impl HookEvent {
    /// Every event.
    pub const ALL: [Self; 10] = [
        Self::SessionStart,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PostToolUse,
        Self::PreCompact,
        Self::PostCompact,
        Self::UserPromptSubmit,
        Self::Stop,
    ];
}

impl std::fmt::Display for HookEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

/// What the hooks of one event did: the records `hook_*`. Made only when there is something to tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookRun {
    /// The event.
    pub event_name: HookEvent,
    /// What the matchers were held against: `startup`, or a role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// Each hook that was called or passed over.
    #[serde(default)]
    pub records: Vec<HookCall>,
    /// What they add to the context.
    #[serde(default)]
    pub additional_context: Vec<String>,
    /// Why the first that did so stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookCall {
    /// The event.
    pub event_name: HookEvent,
    /// Where it is written.
    #[serde(default)]
    pub source: HookSource,
    /// When it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// What it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How it ended, in a word: `completed`, `failed`, `blocked` or `skipped`.
    pub status: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// What it complained of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Its exit status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

/// Where a hook is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HookSource {
    /// `user` or `project`.
    pub kind: String,
    /// The file.
    pub path: String,
}
