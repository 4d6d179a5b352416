//! The beginning and the end of a run, and what was planned for it.

use brain_packet::{RoleName, TaskStatus, WorkerResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checks::{CheckOutcome, PatchChanges, ReviewOutcome};

/// A run begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStart {
    /// What the operator asked.
    pub prompt: String,
    /// The role that answers, where there is no plan to say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// What Brain decided to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<RunPlan>,
    /// Where it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_support: Option<ProjectSupport>,
    /// Which attempt of the primary this is, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

impl RunStart {
    /// A run without a plan, in no project.
    #[must_use]
    pub fn new(prompt: impl Into<String>) -> Self {
        Self { prompt: prompt.into(), ..Self::default() }
    }
}

/// The run came to its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunEnd {
    /// The answer in short.
    pub summary: String,
    /// What the workers returned, where no `worker_end` records have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worker_results: Vec<WorkerResult>,
    /// What was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<PatchChanges>,
    /// What the checks came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<CheckOutcome>,
    /// What the review decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_decision: Option<ReviewOutcome>,
    /// The report that the operator was shown, where no `final_report` record has it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub final_report: Value,
    /// Rounds of fixing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_iterations: Option<u32>,
    /// Which attempt of the primary came to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

impl RunEnd {
    /// An end with an answer and nothing more.
    #[must_use]
    pub fn new(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }
}

/// In which part of a run something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// The project of a run, and what of it and of its user supports the work. What the named files say is no part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectSupport {
    /// Its root folder: the one path of the machine in a journal, by which sessions are found again.
    pub root: String,
    /// Its `AGENTS.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<SupportFile>,
    /// The MCP servers that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpSupport>,
    /// Its skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillSupport>,
    /// The same of the user, from Brain's home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserSupport>,
}

impl ProjectSupport {
    /// A project that has nothing but its root.
    #[must_use]
    pub fn at(root: impl Into<String>) -> Self {
        Self { root: root.into(), ..Self::default() }
    }
}

/// What supports every run of a user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserSupport {
    /// Brain's home.
    #[serde(default)]
    pub home: String,
    /// Its `AGENTS.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<SupportFile>,
    /// The MCP servers that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpSupport>,
    /// Its skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillSupport>,
}

/// A file of instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SupportFile {
    /// Where it lies.
    #[serde(default)]
    pub path: String,
}

/// MCP servers, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpSupport {
    /// The file that names them.
    #[serde(default)]
    pub path: String,
    /// Their names.
    #[serde(default)]
    pub server_names: Vec<String>,
}

/// A skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillSupport {
    /// Its name.
    #[serde(default)]
    pub id: String,
    /// Where it lies.
    #[serde(default)]
    pub path: String,
}

/// A task that the operator can follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
