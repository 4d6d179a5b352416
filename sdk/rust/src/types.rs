//! The contract's records as plain Rust types.
//!
//! Same fields, order and cases as `wit/role.wit`; the JSON forms (camelCase) are those that Brain writes below
//! `/context/results`. Builders on these types fill what the contract leaves optional.

use serde::{Deserialize, Serialize};

/// Prefix of every guest path in the project tree.
pub const WORKSPACE: &str = "/workspace";
/// Prefix of every guest path of the context that Brain materialised for this handoff.
pub const CONTEXT: &str = "/context";
/// Prefix of every guest path of the folder whose files become artifacts.
pub const ARTIFACTS: &str = "/artifacts";

/// What a [`ContextRef`] points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ContextRefKind {
    /// A file of the project, below `/workspace`.
    File,
    /// An earlier session, as Brain wrote it out below `/context/threads`.
    Thread,
    /// A condensed text, such as the request or another role's result.
    Summary,
    /// Something that a role or Brain produced, such as a diff.
    Artifact,
}

/// A pointer to context that the handoff grants, or to something the role produced.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextRef {
    /// What it points at.
    pub kind: ContextRefKind,
    /// Guest path below [`WORKSPACE`], [`CONTEXT`] or [`ARTIFACTS`].
    pub uri: String,
    /// A few words for the reader, such as why the file matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl ContextRef {
    /// A reference without a label. `uri` is a guest path.
    pub fn new(kind: ContextRefKind, uri: impl Into<String>) -> Self {
        Self { kind, uri: uri.into(), label: None }
    }

    /// A file of the project; `path` is relative to `/workspace` (a full guest path is taken as it is).
    pub fn file(path: impl AsRef<str>) -> Self {
        Self::new(ContextRefKind::File, guest_path(WORKSPACE, path.as_ref()))
    }

    /// A file that the role wrote; `path` is relative to `/artifacts` (a full guest path is taken as it is).
    pub fn artifact(path: impl AsRef<str>) -> Self {
        Self::new(ContextRefKind::Artifact, guest_path(ARTIFACTS, path.as_ref()))
    }

    /// The same reference with a label.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

/// `path` below `root`, unless it already is a guest path.
pub(crate) fn guest_path(root: &str, path: &str) -> String {
    if [WORKSPACE, CONTEXT, ARTIFACTS].iter().any(|known| strip_root(path, known).is_some()) {
        path.to_owned()
    } else {
        format!("{root}/{}", path.trim_start_matches("./").trim_start_matches('/'))
    }
}

/// What is left of a guest path below `root`; `None` when it lies elsewhere. The root itself leaves an empty string.
pub(crate) fn strip_root<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(root)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// State of a task. Brain counts a result that is still `Pending` or `Running` as failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskStatus {
    /// Not begun.
    Pending,
    /// Under way.
    Running,
    /// The task is done.
    Completed,
    /// The role cannot go on without an answer or a permission.
    Blocked,
    /// The role tried and could not.
    Failed,
}

/// How far a task is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskProgress {
    /// State of the task.
    pub status: TaskStatus,
    /// One or two sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What is being done, while something is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_step: Option<String>,
    /// What was done, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completed_steps: Vec<String>,
    /// 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
}

impl TaskProgress {
    /// Progress with a status and nothing else.
    pub fn new(status: TaskStatus) -> Self {
        Self { status, summary: None, current_step: None, completed_steps: Vec::new(), percent: None }
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Worth fixing.
    Medium,
    /// Fix before anything else.
    High,
}

/// One thing found, at a place where it has one.
///
/// ```
/// use brain_role::{Finding, Severity};
///
/// let finding = Finding::new(Severity::High, "AWS access key committed")
///     .rule("secret/aws-access-key")
///     .at("src/config.rs", 12)
///     .evidence("AKIA****************")
///     .suggest("Revoke the key, then load it from the environment.");
/// assert_eq!(finding.line, Some(12));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// Stable name of the rule that found it, `<area>/<kind>`; absent for a judgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What is wrong, in one sentence.
    pub issue: String,
    /// Path relative to `/workspace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in the file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What shows it, such as the line itself. Never a secret's value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Finding {
    /// A finding with no place, rule, evidence or suggestion yet.
    pub fn new(severity: Severity, issue: impl Into<String>) -> Self {
        Self { severity, rule: None, issue: issue.into(), file: None, line: None, evidence: None, suggestion: None }
    }

    /// Names the rule that found it, `<area>/<kind>`.
    #[must_use]
    pub fn rule(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// Places it. `file` is relative to `/workspace` (the prefix is taken off a full guest path); `line` counts from 1,
    /// and 0 means the file as a whole.
    #[must_use]
    pub fn at(self, file: impl Into<String>, line: u32) -> Self {
        let mut placed = self.in_file(file);
        placed.line = (line > 0).then_some(line);
        placed
    }

    /// Places it in a file as a whole.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        let file = file.into();
        self.file = Some(match strip_root(&file, WORKSPACE) {
            Some(rest) => rest.to_owned(),
            None => file,
        });
        self
    }

    /// What shows it. Mask secrets before they get here.
    #[must_use]
    pub fn evidence(mut self, evidence: impl Into<String>) -> Self {
        self.evidence = Some(evidence.into());
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }
}

/// How much of a file a review looked at. The first case is the safe one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoverageStatus {
    /// Not looked at.
    Skipped,
    /// Looked at in part.
    PartiallyInspected,
    /// Looked at as a whole.
    Inspected,
}

/// One file of a review, and how much of it was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewCoverage {
    /// Path relative to `/workspace`.
    pub file: String,
    /// How much was looked at.
    pub status: CoverageStatus,
    /// Why not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a review decided. The first case is the safe one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The change must not go in, or could not be judged.
    Blocked,
    /// The change may go in once `required_changes` are made.
    ChangesRequested,
    /// The change may go in.
    Approved,
}

/// The decision of a role that was asked to review.
///
/// ```
/// use brain_role::{CoverageStatus, ReviewDecision, Verdict};
///
/// let review = ReviewDecision::new(Verdict::ChangesRequested, "A conflict marker was left in.")
///     .confidence(0.9)
///     .required_change("Resolve the conflict in src/main.rs.")
///     .covered("src/main.rs", CoverageStatus::Inspected)
///     .not_covered("logo.png", CoverageStatus::Skipped, "binary file");
/// assert_eq!(review.coverage.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewDecision {
    /// The decision.
    pub decision: Verdict,
    /// 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Why.
    #[serde(default)]
    pub rationale: String,
    /// What must change before it can be approved.
    #[serde(default)]
    pub required_changes: Vec<String>,
    /// What stands in the way of a judgement.
    #[serde(default)]
    pub blocking_issues: Vec<String>,
    /// What stays risky even so.
    #[serde(default)]
    pub residual_risks: Vec<String>,
    /// How much of each changed file was looked at.
    #[serde(default)]
    pub coverage: Vec<ReviewCoverage>,
}

impl ReviewDecision {
    /// A decision with its reason and empty lists.
    pub fn new(decision: Verdict, rationale: impl Into<String>) -> Self {
        Self {
            decision,
            confidence: None,
            rationale: rationale.into(),
            required_changes: Vec::new(),
            blocking_issues: Vec::new(),
            residual_risks: Vec::new(),
            coverage: Vec::new(),
        }
    }

    /// How sure the role is, 0 to 1. Values outside are clamped; a value that is no number leaves it out.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = within(confidence, 1.0);
        self
    }

    /// Adds a change that must be made.
    #[must_use]
    pub fn required_change(mut self, change: impl Into<String>) -> Self {
        self.required_changes.push(change.into());
        self
    }

    /// Adds something that stands in the way of a judgement.
    #[must_use]
    pub fn blocking_issue(mut self, issue: impl Into<String>) -> Self {
        self.blocking_issues.push(issue.into());
        self
    }

    /// Adds a risk that stays.
    #[must_use]
    pub fn residual_risk(mut self, risk: impl Into<String>) -> Self {
        self.residual_risks.push(risk.into());
        self
    }

    /// Adds a file and how much of it was looked at.
    #[must_use]
    pub fn covered(mut self, file: impl Into<String>, status: CoverageStatus) -> Self {
        self.coverage.push(ReviewCoverage { file: file.into(), status, reason: None });
        self
    }

    /// Adds a file that was not looked at as a whole, and why.
    #[must_use]
    pub fn not_covered(mut self, file: impl Into<String>, status: CoverageStatus, reason: impl Into<String>) -> Self {
        self.coverage.push(ReviewCoverage { file: file.into(), status, reason: Some(reason.into()) });
        self
    }
}

/// A whole result, as Brain gets it. Roles return an [`Outcome`](crate::Outcome), which fills the ids; returning this
/// type gives up that help and sends every field as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerResult {
    /// Echo of the handoff's id. Brain's own value wins.
    #[serde(default)]
    pub handoff_id: String,
    /// Echo of the task's id. Brain's own value wins.
    #[serde(default)]
    pub task_id: String,
    /// Echo of the session's id. Brain's own value wins.
    #[serde(default)]
    pub parent_id: String,
    /// How the task ended.
    pub progress: TaskProgress,
    /// Short, and meant for the user.
    #[serde(default)]
    pub summary: String,
    /// What the role produced or points at.
    #[serde(default)]
    pub artifacts: Vec<ContextRef>,
    /// What may still go wrong.
    #[serde(default)]
    pub risks: Vec<String>,
    /// What the role would ask next.
    #[serde(default)]
    pub next_questions: Vec<String>,
    /// What it found.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Its decision, when it was asked to review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewDecision>,
}

/// `value` clamped to `0..=top`; `None` for NaN.
pub(crate) fn within(value: f64, top: f64) -> Option<f64> {
    (!value.is_nan()).then(|| value.clamp(0.0, top))
}
