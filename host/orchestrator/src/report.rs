//! The report of a run: one type for people, for `--json`, and for the journal.

use brain_checks::CheckSummary;
use brain_packet::{
    ContextRef, Finding, HandoffId, Note, ReviewDecision, RoleName, SessionId, Severity, TaskId, TaskStatus, Verdict,
};
use brain_plan::{Clarification, PlanPhase};
use brain_sandbox::Receipt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::proposals::ProposedChanges;

/// Version of the report's form. It changes when a reader of an older one would misread it.
pub const REPORT_VERSION: u32 = 2;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// Version of this form: 2.
    pub version: u32,
    /// How the run came out.
    pub status: RunStatus,
    /// What was asked.
    pub task: String,
    /// The session, by which the journal tells the same story.
    pub session_id: SessionId,
    /// How the roles were chosen.
    pub routing: Routing,
    /// The workers, in the order of planning: those that prepared, the primary, those that judged.
    pub workers: Vec<WorkerReport>,
    /// The findings of all workers, the gravest first; what several report at one place is one.
    pub findings: Vec<ReportFinding>,
    /// The decision of the role that reviewed, if one did. An approval counts as changes requested where another role, or
    /// the same, has a finding of high severity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewDecision>,
    /// What the project's own checks came to with what was proposed, when something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<CheckSummary>,
    /// What is asked back, when the request says too little. Then no worker ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarification: Option<Clarification>,
    /// What the handed-over diff compares, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// What the run had to do without.
    pub missing: Vec<String>,
    /// What a reader should not overlook.
    pub warnings: Vec<String>,
    /// The answer: the primary's summary.
    pub summary: String,
}

/// How a run came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The primary completed; nothing was reviewed.
    Answered,
    /// The review approved the change.
    Approved,
    /// The review wants changes, or approved beside a finding of high severity.
    ChangesRequested,
    /// The review, or the primary, could not do its work.
    Blocked,
    /// The request says too little; no worker ran.
    NeedsClarification,
    /// The primary failed.
    Failed,
}

impl RunStatus {
    /// The status as the JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Approved => "approved",
            Self::ChangesRequested => "changes_requested",
            Self::Blocked => "blocked",
            Self::NeedsClarification => "needs_clarification",
            Self::Failed => "failed",
        }
    }
}

/// How the roles of a run were chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Routing {
    /// `heuristic`: by rule; `router-brain`: by a model; `operator`: the role was called by name.
    pub source: String,
    /// The role that answers; absent when none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_role: Option<RoleName>,
    /// Why that role.
    pub reason: String,
}

/// One worker's part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerReport {
    /// Its role.
    pub role: RoleName,
    /// Its part in the run.
    pub phase: PlanPhase,
    /// How it ended.
    pub status: TaskStatus,
    /// The handoff that it was called with.
    pub handoff_id: HandoffId,
    /// Its task.
    pub task_id: TaskId,
    /// Its answer.
    pub summary: String,
    /// What it points at or has produced; `artifact:<sha256>` for what is kept with the session.
    pub artifacts: Vec<ContextRef>,
    /// Risks that it sees.
    pub risks: Vec<String>,
    /// What it would ask next.
    pub next_questions: Vec<String>,
    /// How many findings it reported; they are in the report's own list.
    pub findings: usize,
    /// What Brain repaired in its answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Why it did not return by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// What it proposes to change in the project, when it proposes something. `brain diff` shows it, `brain apply` applies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ProposedChanges>,
    /// What it was granted, did and used; absent when it was never called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
}

/// Why a worker did not return by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// Stable code, such as `sandbox.limit.deadline`.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// A finding, with the roles that report it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportFinding {
    /// The roles that report it.
    pub roles: Vec<RoleName>,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The findings of all workers: one for each rule and place, the gravest first, then by file and line.
pub(crate) fn merge<'a>(reported: impl IntoIterator<Item = (&'a RoleName, &'a Finding)>) -> Vec<ReportFinding> {
    let mut merged: Vec<ReportFinding> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (role, finding) in reported {
        let place = match (&finding.file, &finding.rule) {
            (Some(file), Some(rule)) => Some((file.clone(), finding.line, rule.clone())),
            // Judgements are not compared: two in the same place may be about different things.
            _ => None,
        };
        let known = place.as_ref().and_then(|place| places.get(place)).and_then(|at: &usize| merged.get_mut(*at));
        if let Some(known) = known {
            if !known.roles.contains(role) {
                known.roles.push(role.clone());
            }
            known.finding.severity = known.finding.severity.max(finding.severity);
            continue;
        }
        if let Some(place) = place {
            places.insert(place, merged.len());
        }
        merged.push(ReportFinding { roles: vec![role.clone()], finding: finding.clone() });
    }
    merged.sort_by(|a, b| {
        let key = |f: &ReportFinding| (f.finding.file.clone(), f.finding.line);
        b.finding.severity.cmp(&a.finding.severity).then_with(|| key(a).cmp(&key(b)))
    });
    merged
}

/// The status of a run, from its primary and its review.
pub(crate) fn status(primary: TaskStatus, primary_reviews: bool, review: Option<&ReviewDecision>) -> RunStatus {
    match primary {
        TaskStatus::Blocked => return RunStatus::Blocked,
        TaskStatus::Failed | TaskStatus::Pending | TaskStatus::Running => return RunStatus::Failed,
        TaskStatus::Completed => {}
    }
    match review.map(|review| review.decision) {
        Some(Verdict::Approved) => RunStatus::Approved,
        Some(Verdict::ChangesRequested) => RunStatus::ChangesRequested,
        Some(Verdict::Blocked) if primary_reviews => RunStatus::Blocked,
        // A review that had nothing to review does not take the answer away; the report warns of it.
        Some(Verdict::Blocked) | None => RunStatus::Answered,
    }
}

impl RunReport {
    /// How many findings have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|f| f.finding.severity == severity).count()
    }

    /// Whether there is a finding at least as grave.
    pub fn has_at_least(&self, severity: Severity) -> bool {
        self.findings.iter().any(|f| f.finding.severity >= severity)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn finding(severity: Severity, rule: Option<&str>, file: &str, line: u32) -> Finding {
        Finding {
            severity,
            rule: rule.map(Into::into),
            issue: "i".into(),
            file: Some(file.into()),
            line: Some(line),
            evidence: None,
            suggestion: None,
        }
    }

    #[test]
    fn one_fault_that_two_roles_see_is_one_finding() {
        let (security, review): (RoleName, RoleName) = ("security".parse().unwrap(), "review".parse().unwrap());
        let a = finding(Severity::Low, Some("secret/x"), "a", 3);
        let b = finding(Severity::High, Some("secret/x"), "a", 3);
        let c = finding(Severity::Medium, None, "a", 3);
        let merged = merge([(&security, &a), (&review, &b), (&review, &c), (&security, &c)]);
        assert_eq!(merged.len(), 3);
        let first = merged.first().unwrap();
        assert_eq!((first.roles.len(), first.finding.severity), (2, Severity::High));
    }

    #[test]
    fn the_gravest_come_first_then_file_and_line() {
        let role: RoleName = "security".parse().unwrap();
        let list =
            [(Severity::Low, "a", 1), (Severity::High, "b", 9), (Severity::High, "b", 2), (Severity::Medium, "a", 1)]
                .map(|(s, f, l)| finding(s, Some("r"), f, l));
        let merged = merge(list.iter().map(|f| (&role, f)));
        let order: Vec<_> = merged.iter().map(|m| (m.finding.severity, m.finding.line.unwrap())).collect();
        assert_eq!(
            order,
            [(Severity::High, 2), (Severity::High, 9), (Severity::Medium, 1)],
            "one rule at one place is one"
        );
    }

    #[test]
    fn a_support_review_without_anything_to_review_leaves_the_answer() {
        let mut review = ReviewDecision {
            decision: Verdict::Blocked,
            confidence: None,
            rationale: String::new(),
            required_changes: vec![],
            blocking_issues: vec![],
            residual_risks: vec![],
            coverage: vec![],
        };
        assert_eq!(status(TaskStatus::Completed, false, Some(&review)), RunStatus::Answered);
        assert_eq!(status(TaskStatus::Completed, true, Some(&review)), RunStatus::Blocked);
        review.decision = Verdict::ChangesRequested;
        assert_eq!(status(TaskStatus::Completed, false, Some(&review)), RunStatus::ChangesRequested);
        assert_eq!(status(TaskStatus::Failed, false, Some(&review)), RunStatus::Failed);
    }
}
