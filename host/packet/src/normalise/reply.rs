//! A typed reply, and how it is settled into a result.

use super::{fields, notes::Repairs, paths, review};
use crate::{
    context::{ARTIFACTS_ROOT, ContextRef, ContextRefKind, TaskProgress, TaskStatus, WORKSPACE_ROOT},
    direction::{FromAgent, ToBrain},
    handoff::HandoffPacket,
    limits::{
        MAX_ARTIFACTS, MAX_COMPLETED_STEPS, MAX_EVIDENCE_CHARS, MAX_FINDINGS, MAX_ISSUE_CHARS, MAX_ITEM_CHARS,
        MAX_LABEL_CHARS, MAX_NEXT_QUESTIONS, MAX_RISKS, MAX_RULE_CHARS, MAX_STEP_CHARS, MAX_SUGGESTION_CHARS,
        MAX_SUMMARY_CHARS,
    },
    result::{Finding, Note, ReviewDecision, WorkerResult},
    terminal::quoted,
};

/// What a worker answered, before anything in it is believed: a [`WorkerResult`] whose ids are mere strings.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The handoff that it says it answers, if it says so.
    pub handoff_id: Option<String>,
    /// The task that it says it had.
    pub task_id: Option<String>,
    /// The parent that it says it has.
    pub parent_id: Option<String>,
    /// How it says it ended.
    pub progress: TaskProgress,
    /// Short, and meant for the user.
    pub summary: String,
    /// What it points at or has produced.
    pub artifacts: Vec<ContextRef>,
    /// What may go wrong.
    pub risks: Vec<String>,
    /// What it would ask next.
    pub next_questions: Vec<String>,
    /// What it found.
    pub findings: Vec<Finding>,
    /// Its verdict.
    pub review: Option<ReviewDecision>,
    /// What Brain has repaired so far. Empty for everything that comes from a worker.
    pub notes: Vec<Note>,
}

impl Reply {
    /// A reply with a status and a summary, and nothing else.
    #[must_use]
    pub fn new(status: TaskStatus, summary: impl Into<String>) -> Self {
        Self {
            handoff_id: None,
            task_id: None,
            parent_id: None,
            progress: TaskProgress::new(status),
            summary: summary.into(),
            artifacts: Vec::new(),
            risks: Vec::new(),
            next_questions: Vec::new(),
            findings: Vec::new(),
            review: None,
            notes: Vec::new(),
        }
    }

    /// The result that Brain goes on with. `repairs` holds what was repaired to get as far as a typed reply.
    pub(super) fn settle(self, handoff: &HandoffPacket, mut repairs: Repairs) -> WorkerResult {
        let repairs = &mut repairs;
        compare_id(repairs, "handoffId", self.handoff_id.as_deref(), handoff.id.as_str());
        compare_id(repairs, "taskId", self.task_id.as_deref(), handoff.task.id.as_str());
        compare_id(repairs, "parentId", self.parent_id.as_deref(), handoff.task.parent_id.as_str());

        let (progress, summary) = self::progress(repairs, handoff, self.progress, &self.summary);
        let risks = fields::strings(repairs, "risks", self.risks, MAX_RISKS, MAX_ITEM_CHARS);
        let review = self.review.map(|review| review::settle(repairs, review, progress.status, &summary, &risks));
        let artifacts = self.artifacts.into_iter().filter_map(|artifact| self::artifact(repairs, artifact)).collect();
        let findings = self.findings.into_iter().filter_map(|finding| self::finding(repairs, finding)).collect();
        WorkerResult {
            from_layer: FromAgent,
            to_layer: ToBrain,
            handoff_id: handoff.id.clone(),
            task_id: handoff.task.id.clone(),
            parent_id: handoff.task.parent_id.clone(),
            progress,
            summary,
            artifacts: fields::at_most(repairs, "artifacts", artifacts, MAX_ARTIFACTS),
            risks,
            next_questions: fields::strings(
                repairs,
                "nextQuestions",
                self.next_questions,
                MAX_NEXT_QUESTIONS,
                MAX_ITEM_CHARS,
            ),
            findings: fields::at_most(repairs, "findings", findings, MAX_FINDINGS),
            review,
            notes: std::mem::take(repairs).into_notes(self.notes),
        }
    }
}

impl From<WorkerResult> for Reply {
    fn from(result: WorkerResult) -> Self {
        Self {
            handoff_id: Some(result.handoff_id.into()),
            task_id: Some(result.task_id.into()),
            parent_id: Some(result.parent_id.into()),
            progress: result.progress,
            summary: result.summary,
            artifacts: result.artifacts,
            risks: result.risks,
            next_questions: result.next_questions,
            findings: result.findings,
            review: result.review,
            notes: result.notes,
        }
    }
}

/// The status that a task has once its worker has returned.
pub(super) fn ended(status: TaskStatus) -> TaskStatus {
    if status.has_ended() { status } else { TaskStatus::Failed }
}

fn compare_id(repairs: &mut Repairs, field: &'static str, echoed: Option<&str>, id: &str) {
    // A worker that leaves an id out has nothing wrong: Brain knows whom it asked.
    if let Some(echoed) = echoed.filter(|echoed| !echoed.is_empty() && *echoed != id) {
        repairs.once(field, format!("{} is not the id that was handed over", quoted(echoed)), "Brain's id kept");
    }
}

fn progress(
    repairs: &mut Repairs,
    handoff: &HandoffPacket,
    said: TaskProgress,
    summary: &str,
) -> (TaskProgress, String) {
    let status = ended(said.status);
    if status != said.status {
        let problem = format!("{:?} after the worker had returned", said.status).to_lowercase();
        repairs.once("progress.status", problem, "counted as failed");
    }
    let mut summary = fields::text(repairs, "summary", summary, MAX_SUMMARY_CHARS);
    let said_summary = fields::optional(repairs, "progress.summary", said.summary, MAX_SUMMARY_CHARS);
    if summary.is_empty() {
        summary = said_summary.clone().unwrap_or_else(|| {
            let ended = format!("{status:?}").to_lowercase();
            format!("{} {ended} without a summary", handoff.task.agent_role)
        });
        repairs.once("summary", "blank", "one was made from the progress");
    }
    let progress = TaskProgress {
        status,
        summary: said_summary.or_else(|| Some(summary.clone())),
        current_step: fields::optional(repairs, "progress.currentStep", said.current_step, MAX_STEP_CHARS),
        completed_steps: fields::strings(
            repairs,
            "progress.completedSteps",
            said.completed_steps,
            MAX_COMPLETED_STEPS,
            MAX_STEP_CHARS,
        ),
        percent: fields::number(repairs, "progress.percent", said.percent, 100.0),
    };
    (progress, summary)
}

fn artifact(repairs: &mut Repairs, artifact: ContextRef) -> Option<ContextRef> {
    let uri = match paths::guest_path(&artifact.uri) {
        Ok(uri) => uri,
        Err(problem) => {
            repairs.item("artifacts", problem, "dropped");
            return None;
        }
    };
    if uri != artifact.uri {
        repairs.item("artifacts.uri", "path with empty or `.` parts", "made plain");
    }
    let kind = kind_at(&uri, artifact.kind);
    if kind != artifact.kind {
        repairs.item("artifacts.kind", "a kind that does not fit the path", "set by the path");
    }
    let label = fields::optional(repairs, "artifacts.label", artifact.label, MAX_LABEL_CHARS);
    Some(ContextRef { kind, uri, label })
}

/// The kind of a reference to `uri`, by the root that it is below: what it claims to be where that fits.
fn kind_at(uri: &str, claimed: ContextRefKind) -> ContextRefKind {
    let below = |root: &str| uri.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if below(WORKSPACE_ROOT) {
        ContextRefKind::File
    } else if below(ARTIFACTS_ROOT) {
        ContextRefKind::Artifact
    } else if claimed == ContextRefKind::File {
        ContextRefKind::Summary
    } else {
        claimed
    }
}

fn finding(repairs: &mut Repairs, finding: Finding) -> Option<Finding> {
    let Some(issue) = fields::item(repairs, "findings.issue", &finding.issue, MAX_ISSUE_CHARS) else {
        repairs.item("findings", "without an issue", "dropped");
        return None;
    };
    let line = finding.line.filter(|line| {
        if *line == 0 {
            repairs.item("findings.line", "0, lines are counted from 1", "dropped");
        }
        *line != 0
    });
    Some(Finding {
        severity: finding.severity,
        rule: finding.rule.and_then(|rule| self::rule(repairs, &rule)),
        issue,
        file: finding.file.and_then(|file| workspace_file(repairs, "findings.file", &file)),
        line,
        evidence: fields::optional(repairs, "findings.evidence", finding.evidence, MAX_EVIDENCE_CHARS),
        suggestion: fields::optional(repairs, "findings.suggestion", finding.suggestion, MAX_SUGGESTION_CHARS),
    })
}

fn rule(repairs: &mut Repairs, rule: &str) -> Option<String> {
    let rule = rule.trim();
    if rule.is_empty() {
        repairs.item("findings.rule", "blank", "dropped");
        return None;
    }
    if rule.chars().count() > MAX_RULE_CHARS {
        repairs.item("findings.rule", format!("longer than {MAX_RULE_CHARS} characters"), "dropped");
        return None;
    }
    Some(rule.to_owned())
}

/// A file's path relative to the workspace; one that cannot be is dropped.
pub(super) fn workspace_file(repairs: &mut Repairs, field: &'static str, path: &str) -> Option<String> {
    match paths::workspace_file(path) {
        Ok(file) => {
            if file != path {
                repairs.item(field, "not a plain path below /workspace", "made relative to it");
            }
            Some(file)
        }
        Err(problem) => {
            repairs.item(field, problem, "dropped");
            None
        }
    }
}
