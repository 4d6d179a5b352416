//! What was changed, what the checks said of it, and what the review said of both.

use brain_packet::{Finding, ReviewCoverage, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::lenient;

/// What the project's checks came to. In the journal its fields stand beside those of [`CheckSummary`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckOutcome {
    /// Of all of them together.
    pub status: CheckStatus,
    /// Why they were skipped, or these chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What kind of change was checked, such as `docs-only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch_kind: Option<String>,
    /// The scripts that were chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_scripts: Option<Vec<String>>,
    /// Whether a review has to follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_required: Option<bool>,
    /// Each check.
    #[serde(default)]
    pub results: Vec<CheckResult>,
}

/// The record `check_summary`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckSummary {
    /// What they came to.
    #[serde(flatten)]
    pub outcome: CheckOutcome,
    /// Which attempt of the primary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// After which round of fixing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_iteration: Option<u32>,
}

/// How a check, or all of them, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// Well.
    Passed,
    /// Badly.
    Failed,
    /// It was not run; also what a word that this version does not know is taken for.
    #[serde(other)]
    Skipped,
}

impl std::fmt::Display for CheckStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        })
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// What it is called.
    pub name: String,
    /// The program.
    #[serde(default)]
    pub command: String,
    /// What it was given.
    #[serde(default)]
    pub args: Vec<String>,
    /// How it ended.
    pub status: CheckStatus,
    /// Its exit status, when it exited.
    #[serde(default)]
    pub exit_code: Option<i64>,
    /// The signal that ended it.
    #[serde(default)]
    pub signal: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(default, deserialize_with = "lenient::whole")]
    pub duration_ms: u64,
    /// What it printed, as far as the check runner kept it.
    #[serde(default)]
    pub stdout: String,
    /// What it complained of, likewise.
    #[serde(default)]
    pub stderr: String,
    /// Whether it was ended at its time limit.
    #[serde(default)]
    pub timed_out: bool,
}

/// What a run changed. In the journal its fields stand beside those of [`PatchSummary`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchChanges {
    /// The files that it changed.
    #[serde(default)]
    pub changed_files: Vec<FileChange>,
    /// The files that had been changed before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pre_existing_changed_files: Vec<FileChange>,
    /// Figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_stats: Option<DiffStats>,
}

/// The record `patch_summary`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchSummary {
    /// What was changed.
    #[serde(flatten)]
    pub changes: PatchChanges,
    /// By which attempt of the primary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// One changed file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// Its path in the project.
    pub path: String,
    /// How it was changed, as git says it.
    #[serde(default)]
    pub status: String,
}

/// Figures of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DiffStats {
    /// Files with changed lines.
    #[serde(deserialize_with = "lenient::whole")]
    pub files_changed: u64,
    /// Lines that were added.
    #[serde(deserialize_with = "lenient::whole")]
    pub insertions: u64,
    /// Lines that were taken away.
    #[serde(deserialize_with = "lenient::whole")]
    pub deletions: u64,
    /// Files that are new to git.
    #[serde(deserialize_with = "lenient::whole")]
    pub untracked_files: u64,
    /// The figures in git's words.
    pub raw: String,
    /// Of what is not staged.
    pub unstaged_raw: String,
    /// Of what is staged.
    pub staged_raw: String,
}

/// What a reviewer was shown: the record `review_artifacts_summary`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewArtifactsSummary {
    /// The changed files.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "files")]
    pub changed_files: Vec<FileChange>,
    /// Whether the diff was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_truncated: Option<bool>,
    /// What the checks came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks_status: Option<CheckStatus>,
    /// How grave the change is: `low`, `medium`, `high` or `critical`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_tier: Option<String>,
    /// How strict the review is: `normal`, `strict` or `hostile`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_mode: Option<String>,
    /// How far apart worker and reviewer are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub independence: Option<Independence>,
    /// Which attempt of the primary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// After which round of fixing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_iteration: Option<u32>,
}

/// Changed files as objects, or as paths alone.
fn files<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FileChange>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Change(FileChange),
        Path(String),
    }
    let files = Vec::<Either>::deserialize(deserializer)?;
    Ok(files
        .into_iter()
        .map(|file| match file {
            Either::Change(change) => change,
            Either::Path(path) => FileChange { path, status: String::new() },
        })
        .collect())
}

/// How far apart the worker and its reviewer are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Independence {
    /// Who worked.
    pub primary: ModelName,
    /// Who judges.
    pub reviewer: ModelName,
    /// Whether they are the same model.
    pub same_model: bool,
    /// Whether they are of the same provider.
    pub same_provider: bool,
    /// `strong`, `moderate`, `weak` or `none`.
    pub level: String,
}

/// A model and who provides it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelName {
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    /// Its provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

/// What a review decided. In the journal its fields stand beside those of [`ReviewRecord`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewOutcome {
    /// The verdict. A word that this version does not know is a `blocked`.
    #[serde(deserialize_with = "verdict")]
    pub decision: Verdict,
    /// 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Why.
    #[serde(default)]
    pub rationale: String,
    /// What is wrong.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What has to change first.
    #[serde(default)]
    pub required_changes: Vec<String>,
    /// What makes it block.
    #[serde(default)]
    pub blocking_issues: Vec<String>,
    /// What may still go wrong.
    #[serde(default)]
    pub residual_risks: Vec<String>,
    /// Which files were looked at, and how well.
    #[serde(default)]
    pub coverage: Vec<ReviewCoverage>,
    /// How strict it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// How far apart worker and reviewer were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub independence: Option<Independence>,
    /// How grave the change was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_tier: Option<String>,
}

/// The record `review_decision`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRecord {
    /// What was decided.
    #[serde(flatten)]
    pub outcome: ReviewOutcome,
    /// About which attempt of the primary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// After which round of fixing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_iteration: Option<u32>,
}

/// A verdict; the safe one for a word that is none.
fn verdict<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Verdict, D::Error> {
    let word = String::deserialize(deserializer)?;
    Ok(match word.as_str() {
        "approved" => Verdict::Approved,
        "changes_requested" => Verdict::ChangesRequested,
        _ => Verdict::Blocked,
    })
}

/// The primary is asked again to correct its change: the record `fix_iteration`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixIteration {
    /// Which round, from 1.
    pub iteration: u32,
    /// What made it necessary.
    pub trigger: FixTrigger,
    /// Of which attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

/// What makes a round of fixing necessary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixTrigger {
    /// A check failed.
    ChecksFailed,
    /// The review asked for changes.
    ChangesRequested,
}

impl std::fmt::Display for FixTrigger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::ChecksFailed => "checks failed",
            Self::ChangesRequested => "changes were requested",
        })
    }
}
