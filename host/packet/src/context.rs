//! What a task is, how far it has come, and the references that it carries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    direction::{AgentLayer, BrainLayer},
    ids::{RoleName, SessionId, TaskId},
};

/// The one folder tree that holds the project, for a role.
pub const WORKSPACE_ROOT: &str = "/workspace";
/// The folder of everything else that a handoff grants, one file per reference.
pub const CONTEXT_ROOT: &str = "/context";
/// The empty folder that a role may leave files in.
pub const ARTIFACTS_ROOT: &str = "/artifacts";
/// Every folder that a guest path may lie in.
pub const GUEST_ROOTS: [&str; 3] = [WORKSPACE_ROOT, CONTEXT_ROOT, ARTIFACTS_ROOT];

/// What a reference points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContextRefKind {
    /// A file of the project.
    File,
    /// An earlier session.
    Thread,
    /// Text that Brain condensed from something longer.
    Summary,
    /// Something that a role produced.
    Artifact,
}

/// A pointer to context that a handoff grants, or to something that a role produced. A pointer, never the payload.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextRef {
    /// What it points at.
    pub kind: ContextRefKind,
    /// Guest path below `/workspace`, `/context` or `/artifacts`, in a packet that a role sees or returns.
    pub uri: String,
    /// What it is called, or why it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl ContextRef {
    /// A reference without a label.
    #[must_use]
    pub fn new(kind: ContextRefKind, uri: impl Into<String>) -> Self {
        Self { kind, uri: uri.into(), label: None }
    }

    /// The same reference, labelled.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    /// Not begun.
    Pending,
    /// Begun and not ended.
    Running,
    /// Ended, with a result to build on.
    Completed,
    /// Ended for want of something that somebody else has to supply.
    Blocked,
    /// Ended without a result to build on.
    Failed,
}

impl TaskStatus {
    /// Whether the task is over, well or badly.
    #[must_use]
    pub fn has_ended(self) -> bool {
        !matches!(self, Self::Pending | Self::Running)
    }
}

/// How far a task has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskProgress {
    /// Where it stands.
    pub status: TaskStatus,
    /// The state in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What is being done now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_step: Option<String>,
    /// What has been done, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completed_steps: Vec<String>,
    /// 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
}

impl TaskProgress {
    /// A status, with nothing said about it.
    #[must_use]
    pub fn new(status: TaskStatus) -> Self {
        Self { status, summary: None, current_step: None, completed_steps: Vec::new(), percent: None }
    }

    /// The same progress with a summary.
    #[must_use]
    pub fn summarised(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }
}

/// Brain's own task: the run. One per session; it never crosses to a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BrainTaskContext {
    /// The session.
    pub id: SessionId,
    /// Always `brain`.
    pub layer: BrainLayer,
    /// What the user asked for.
    pub goal: String,
    /// How far the run has come.
    pub progress: TaskProgress,
    /// The tasks that were given to workers, in the order of planning.
    pub child_context_ids: Vec<TaskId>,
    /// What Brain wants to keep at hand.
    pub context_refs: Vec<ContextRef>,
}

impl BrainTaskContext {
    /// A planned run without children.
    #[must_use]
    pub fn new(id: SessionId, goal: impl Into<String>) -> Self {
        Self {
            id,
            layer: BrainLayer,
            goal: goal.into(),
            progress: TaskProgress::new(TaskStatus::Pending).summarised("Brain orchestration context is planned."),
            child_context_ids: Vec::new(),
            context_refs: Vec::new(),
        }
    }
}

/// One worker's own task. Brain sets every field, and the worker sees no other worker's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentTaskContext {
    /// The task.
    pub id: TaskId,
    /// Brain's task, which is the session.
    pub parent_id: SessionId,
    /// Always `agent`.
    pub layer: AgentLayer,
    /// The role that does it.
    pub agent_role: RoleName,
    /// What this worker is to do.
    pub goal: String,
    /// How far it has come.
    pub progress: TaskProgress,
    /// What it is granted to see, beyond the packet.
    pub context_refs: Vec<ContextRef>,
}

impl AgentTaskContext {
    /// A queued task without references.
    #[must_use]
    pub fn new(id: TaskId, parent_id: SessionId, agent_role: RoleName, goal: impl Into<String>) -> Self {
        let progress = TaskProgress::new(TaskStatus::Pending).summarised(format!("{agent_role} task is queued."));
        Self { id, parent_id, layer: AgentLayer, agent_role, goal: goal.into(), progress, context_refs: Vec::new() }
    }
}
