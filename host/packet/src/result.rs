//! What a role returns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    context::{ContextRef, TaskProgress, TaskStatus},
    direction::{FromAgent, ToBrain},
    error::{PacketError, parse},
    handoff::HandoffPacket,
    ids::{HandoffId, SessionId, TaskId},
};

/// Everything that Brain gets back from one worker. No transcript, no reasoning, no log of tool calls: those stay with
/// the worker.
///
/// JSON that Brain wrote earlier may come from a newer version, so fields that are unknown here are passed over. A role's reply
/// is never read by this type's own parser but by [`crate::normalise`], which says what it passed over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerResult {
    /// Always `agent`.
    pub from_layer: FromAgent,
    /// Always `brain`.
    pub to_layer: ToBrain,
    /// The handoff that this answers.
    pub handoff_id: HandoffId,
    /// The worker's task.
    pub task_id: TaskId,
    /// Brain's task, which is the session.
    pub parent_id: SessionId,
    /// How it ended.
    pub progress: TaskProgress,
    /// Short, and meant for the user.
    pub summary: String,
    /// What it points at or has produced.
    pub artifacts: Vec<ContextRef>,
    /// What may go wrong.
    pub risks: Vec<String>,
    /// What it would ask next.
    pub next_questions: Vec<String>,
    /// What it found, at a place where that has one.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// The verdict of a role that was asked to review; its findings are `findings` above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewDecision>,
    /// What Brain repaired in the reply. Brain alone writes these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

impl WorkerResult {
    /// An otherwise empty answer to a handoff, under Brain's ids.
    #[must_use]
    pub fn answering(handoff: &HandoffPacket, status: TaskStatus, summary: impl Into<String>) -> Self {
        let summary = summary.into();
        Self {
            from_layer: FromAgent,
            to_layer: ToBrain,
            handoff_id: handoff.id.clone(),
            task_id: handoff.task.id.clone(),
            parent_id: handoff.task.parent_id.clone(),
            progress: TaskProgress::new(status).summarised(summary.clone()),
            summary,
            artifacts: Vec::new(),
            risks: Vec::new(),
            next_questions: Vec::new(),
            findings: Vec::new(),
            review: None,
            notes: Vec::new(),
        }
    }

    /// Reads a result from JSON that Brain wrote. For the reply of a role, see [`crate::normalise::reply_text`].
    ///
    /// # Errors
    /// [`PacketError::Direction`] when the tags are those of another direction, [`PacketError::Json`] when it is not a
    /// result for another reason.
    pub fn from_json(json: &str) -> Result<Self, PacketError> {
        parse("result", ("agent", "brain"), json)
    }
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Worth fixing.
    Medium,
    /// Worth stopping for.
    High,
}

/// One thing found. Any role may report findings.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Stable name of the rule that found it, such as `secret/aws-access-key`; absent for a judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What is wrong.
    pub issue: String,
    /// Path below `/workspace`, without that prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub line: Option<u32>,
    /// What shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// What a review decides. The first case is the safe one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The change must not go on; nothing in it can be fixed by the worker alone.
    Blocked,
    /// The change may go on once the required changes are made.
    ChangesRequested,
    /// The change may go on.
    Approved,
}

/// How well a review looked at one file. The first case is the safe one, and they are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoverageStatus {
    /// Not at all.
    Skipped,
    /// In part.
    PartiallyInspected,
    /// As a whole.
    Inspected,
}

/// How well a review looked at one file, and why not better.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewCoverage {
    /// Path below `/workspace`, without that prefix.
    pub file: String,
    /// How well.
    pub status: CoverageStatus,
    /// Why not better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The verdict of a reviewer, with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewDecision {
    /// The verdict.
    pub decision: Verdict,
    /// 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Why.
    pub rationale: String,
    /// What has to change before the review can approve.
    #[serde(default)]
    pub required_changes: Vec<String>,
    /// What makes it block.
    #[serde(default)]
    pub blocking_issues: Vec<String>,
    /// What may still go wrong after an approval.
    #[serde(default)]
    pub residual_risks: Vec<String>,
    /// Which files it looked at, and how well.
    #[serde(default)]
    pub coverage: Vec<ReviewCoverage>,
}

/// One repair that Brain made to a reply, or a group of alike ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The field, by its JSON name: `findings.line`.
    pub field: String,
    /// What was wrong, with a count where there were several.
    pub problem: String,
    /// What was done about it.
    pub action: String,
}
