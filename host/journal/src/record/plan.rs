//! What is asked back before work begins, what is sent for in the middle of it, and how a plan was let through.

use brain_packet::RoleName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AuditSummary, TodoDependency, TodoItem};

/// The request says too little to work on: what Brain asks back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClarificationRequest {
    /// The question.
    pub clarification: ClarificationAsked,
    /// Which attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// A question to the operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClarificationAsked {
    /// Whether nothing is done before it is answered; always so today.
    pub required: bool,
    /// Why Brain asks.
    pub reason: String,
    /// What it asks.
    pub question: String,
    /// What the request lacks.
    pub missing: Vec<String>,
    /// Answers to choose from.
    pub options: Vec<ClarificationOption>,
}

impl Default for ClarificationAsked {
    fn default() -> Self {
        Self {
            required: true,
            reason: String::new(),
            question: String::new(),
            missing: Vec::new(),
            options: Vec::new(),
        }
    }
}

/// An answer to choose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClarificationOption {
    /// Unique among the options.
    pub id: String,
    /// In a word.
    pub label: String,
    /// In a sentence.
    pub description: String,
}

/// A running worker asked Brain for a specialist, and Brain answered. Brain hands over and takes in: the two never meet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DynamicDispatch {
    /// Which of the two this is.
    pub phase: DispatchPhase,
    /// The specialist.
    pub role: RoleName,
    /// What it is to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The specialist's task.
    pub context_id: String,
    /// Who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_role: Option<RoleName>,
    /// How it ended: a word of its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Asked or answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DispatchPhase {
    /// The specialist is asked for.
    Request,
    /// Its result is there.
    Result,
}

/// Who let something through, or stopped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approver {
    /// The operator.
    Human,
    /// A rule of the permissions.
    PermissionPolicy,
    /// The mode of the run.
    ModePolicy,
    /// A hook.
    Hook,
    /// A rule that is built in, or one that this version does not know.
    #[serde(other)]
    RuntimePolicy,
}

impl std::fmt::Display for Approver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Human => "the operator",
            Self::PermissionPolicy => "the permissions",
            Self::ModePolicy => "the mode",
            Self::Hook => "a hook",
            Self::RuntimePolicy => "a built-in rule",
        })
    }
}

/// How a plan was let through before it was carried out, and what it was expected to touch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionPlanReview {
    /// `<brainTaskId>:plan`.
    pub plan_id: String,
    /// The session.
    #[serde(default)]
    pub session_id: String,
    /// Brain's own task.
    #[serde(default)]
    pub brain_task_id: String,
    /// The mode of the run.
    #[serde(default)]
    pub mode: String,
    /// What was decided.
    pub status: PlanStatus,
    /// By whom.
    pub approver: Approver,
    /// Why.
    #[serde(default)]
    pub rationale: String,
    /// The Brain Model: an audit summary, since its shape is another crate's.
    #[serde(default, skip_serializing_if = "AuditSummary::is_null")]
    pub brain: AuditSummary,
    /// The role that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_role: Option<RoleName>,
    /// How the plan came about, as an audit summary.
    #[serde(default, skip_serializing_if = "AuditSummary::is_null")]
    pub routing: AuditSummary,
    /// Whether a review has to follow.
    #[serde(default)]
    pub required_review: bool,
    /// The workers.
    #[serde(default)]
    pub workers: Vec<ReviewedWorker>,
    /// The tasks.
    #[serde(default)]
    pub todos: Vec<TodoItem>,
    /// Which task waits for which.
    #[serde(default)]
    pub dependencies: Vec<TodoDependency>,
    /// What the request refers to.
    #[serde(default)]
    pub prompt_references: Vec<PromptReference>,
    /// What it may touch.
    #[serde(default)]
    pub proposed_side_effects: Vec<SideEffect>,
    /// How it will be seen whether it worked.
    #[serde(default)]
    pub validation_plan: ValidationPlan,
    /// What made it risky.
    #[serde(default)]
    pub risk_triggers: Vec<String>,
    /// What may go wrong all the same.
    #[serde(default)]
    pub residual_pre_execution_risks: Vec<String>,
}

/// What was decided about a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// It was let through.
    Approved,
    /// It was let through without anybody being asked.
    AutoApproved,
    /// A question comes first.
    NeedsClarification,
    /// It was stopped; also what a word that this version does not know is taken for.
    #[serde(other)]
    Blocked,
}

impl std::fmt::Display for PlanStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Approved => "approved",
            Self::AutoApproved => "approved unasked",
            Self::NeedsClarification => "needs clarification",
            Self::Blocked => "blocked",
        })
    }
}

/// One worker of a reviewed plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewedWorker {
    /// Its role.
    pub role: RoleName,
    /// What it is to do.
    #[serde(default)]
    pub goal: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tasks it works on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub todo_ids: Vec<String>,
}

/// Something that a request refers to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptReference {
    /// What it turned out to be.
    pub kind: PromptReferenceKind,
    /// As it was written: `@src/a.rs`, `@@20260102`.
    #[serde(default)]
    pub token: String,
    /// Its path in the project, or the session's id.
    #[serde(default)]
    pub path: String,
    /// The session that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Why it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a reference of a request turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PromptReferenceKind {
    /// A file of text.
    Text,
    /// A picture.
    Image,
    /// An earlier session.
    Session,
    /// Nothing that could be had.
    #[serde(other)]
    Missing,
}

/// Something that a plan may touch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SideEffect {
    /// What kind of thing.
    pub kind: SideEffectKind,
    /// Which one.
    #[serde(default)]
    pub target: String,
    /// How grave it would be.
    pub risk: EffectRisk,
}

/// Kinds of side effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideEffectKind {
    /// A file is edited.
    FileEdit,
    /// A patch is applied.
    Patch,
    /// A command runs.
    Command,
    /// A script of the project runs.
    Script,
    /// An MCP server is called.
    Mcp,
    /// Something is left behind; also what a kind that this version does not know is taken for.
    #[serde(other)]
    Artifact,
}

/// How grave a side effect would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EffectRisk {
    /// Easily taken back.
    Low,
    /// Worth a look.
    Medium,
    /// Worth asking; also what a word that this version does not know is taken for.
    #[serde(other)]
    High,
}

/// How it will be seen whether a plan worked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ValidationPlan {
    /// What will be run.
    pub checks: Vec<String>,
    /// What will be looked at.
    pub evidence: Vec<String>,
    /// What has to hold.
    pub success_criteria: Vec<String>,
}
