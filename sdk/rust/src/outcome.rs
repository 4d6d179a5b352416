//! What a role says about its task.

use std::fmt;

use crate::handoff::Handoff;
use crate::types::{ContextRef, Finding, ReviewDecision, TaskProgress, TaskStatus, WorkerResult, within};

/// What a role answers: a status, a summary, and what it found. The ids of the result come from the handoff.
///
/// ```
/// use brain_role::Outcome;
///
/// let outcome = Outcome::completed("3 files matter for this goal")
///     .step("read 120 files")
///     .file_ref("src/journal.rs", "writes the session journal")
///     .risk("target/ was not read");
/// assert_eq!(outcome.summary(), "3 files matter for this goal");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an outcome that is not returned says nothing"]
pub struct Outcome {
    progress: TaskProgress,
    summary: String,
    artifacts: Vec<ContextRef>,
    risks: Vec<String>,
    next_questions: Vec<String>,
    findings: Vec<Finding>,
    review: Option<ReviewDecision>,
}

impl Outcome {
    /// The task is done. `summary` is short and meant for the user. Progress is 100 percent until
    /// [`percent`](Self::percent) says otherwise.
    pub fn completed(summary: impl Into<String>) -> Self {
        let mut outcome = Self::new(TaskStatus::Completed, summary.into());
        outcome.progress.percent = Some(100.0);
        outcome
    }

    /// The role tried and could not. `message` says what failed, on what, and why.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(TaskStatus::Failed, message.into())
    }

    /// The role cannot go on without an answer or a permission, which `message` names. Add the question itself with
    /// [`question`](Self::question).
    pub fn blocked(message: impl Into<String>) -> Self {
        Self::new(TaskStatus::Blocked, message.into())
    }

    fn new(status: TaskStatus, summary: String) -> Self {
        let mut progress = TaskProgress::new(status);
        progress.summary = Some(summary.clone());
        Self {
            progress,
            summary,
            artifacts: Vec::new(),
            risks: Vec::new(),
            next_questions: Vec::new(),
            findings: Vec::new(),
            review: None,
        }
    }

    /// Adds a finding.
    pub fn finding(mut self, finding: Finding) -> Self {
        self.findings.push(finding);
        self
    }

    /// Adds findings, in order.
    pub fn findings(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        self
    }

    /// Adds something that the role produced or points at.
    pub fn artifact(mut self, artifact: ContextRef) -> Self {
        self.artifacts.push(artifact);
        self
    }

    /// Points at a file of the project and says why. `path` is relative to `/workspace`.
    pub fn file_ref(self, path: impl AsRef<str>, label: impl Into<String>) -> Self {
        self.artifact(ContextRef::file(path).label(label))
    }

    /// Adds something that may still go wrong, or that was not looked at.
    pub fn risk(mut self, risk: impl Into<String>) -> Self {
        self.risks.push(risk.into());
        self
    }

    /// Adds risks, in order.
    pub fn risks(mut self, risks: impl IntoIterator<Item = String>) -> Self {
        self.risks.extend(risks);
        self
    }

    /// Adds a question for the user.
    pub fn question(mut self, question: impl Into<String>) -> Self {
        self.next_questions.push(question.into());
        self
    }

    /// Adds a step that was done.
    pub fn step(mut self, step: impl Into<String>) -> Self {
        self.progress.completed_steps.push(step.into());
        self
    }

    /// Names the step at which the role stopped; for outcomes that are blocked or failed.
    pub fn stopped_at(mut self, step: impl Into<String>) -> Self {
        self.progress.current_step = Some(step.into());
        self
    }

    /// How much of the task is done, 0 to 100. Values outside are clamped; a value that is no number leaves it out.
    pub fn percent(mut self, percent: f64) -> Self {
        self.progress.percent = within(percent, 100.0);
        self
    }

    /// Sets the decision of a review.
    pub fn review(mut self, review: ReviewDecision) -> Self {
        self.review = Some(review);
        self
    }

    /// The status that Brain will see.
    pub fn status(&self) -> TaskStatus {
        self.progress.status
    }

    /// The summary that the user will see.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The whole result, with the ids of `handoff`.
    pub fn into_result(self, handoff: &Handoff) -> WorkerResult {
        WorkerResult {
            handoff_id: handoff.id().to_owned(),
            task_id: handoff.task_id().to_owned(),
            parent_id: handoff.parent_id().to_owned(),
            progress: self.progress,
            summary: self.summary,
            artifacts: self.artifacts,
            risks: self.risks,
            next_questions: self.next_questions,
            findings: self.findings,
            review: self.review,
        }
    }
}

/// What a role's function may return.
///
/// - [`Outcome`]: the usual answer.
/// - `Result<Outcome, E>` with any `E` that can be displayed: an `Err` becomes a `failed` outcome with its message.
/// - [`WorkerResult`]: every field as it is, ids included. For tests of a host.
pub trait Answer {
    /// The result that is sent to Brain for `handoff`.
    fn answer(self, handoff: &Handoff) -> WorkerResult;
}

impl Answer for Outcome {
    fn answer(self, handoff: &Handoff) -> WorkerResult {
        self.into_result(handoff)
    }
}

impl<E: fmt::Display> Answer for Result<Outcome, E> {
    fn answer(self, handoff: &Handoff) -> WorkerResult {
        self.unwrap_or_else(|error| Outcome::failed(error.to_string())).into_result(handoff)
    }
}

impl Answer for WorkerResult {
    fn answer(self, _handoff: &Handoff) -> WorkerResult {
        self
    }
}
