//! What the checks of a change came to.

use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::detect::Check;
use crate::environment::Environment;
use crate::error::Cancelled;
use crate::kind::PatchKind;
use crate::run::{RunLimits, run};
use crate::scratch::Scratch;
use crate::select::CheckPlan;

/// What the checks of a change came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckSummary {
    /// Of all of them together: failed if one is, skipped if none was run.
    pub status: CheckStatus,
    /// Why they were skipped, or these chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The kind of the change.
    pub patch_kind: PatchKind,
    /// By which names the checks were chosen.
    pub selected_scripts: Vec<String>,
    /// Whether a review of the change has to follow.
    pub review_required: bool,
    /// Each check, in the order in which they ran.
    pub results: Vec<CheckResult>,
    /// What has to be known to judge the results: what the copy has not, which dependencies it shares, which checks were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How a check, or all of them, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// Well.
    Passed,
    /// Badly.
    Failed,
    /// It was not run.
    Skipped,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult {
    /// What it is called.
    pub name: String,
    /// The program.
    pub command: String,
    /// What it was given.
    pub args: Vec<String>,
    /// How it ended.
    pub status: CheckStatus,
    /// Its exit status, when it exited.
    pub exit_code: Option<i64>,
    /// The signal that ended it, such as `SIGKILL`.
    pub signal: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The end of what it printed.
    pub stdout: String,
    /// The end of what it complained of; or why it could not be run.
    pub stderr: String,
    /// Bytes of its standard output before that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stdout_dropped: u64,
    /// Bytes of its standard error before that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stderr_dropped: u64,
    /// Whether it was ended at its time limit.
    pub timed_out: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl CheckResult {
    /// A check that failed before it ran, and why.
    pub(crate) fn failed(check: &Check, why: String) -> Self {
        Self { command: check.program.clone(), args: check.args.clone(), ..Self::missing(&check.name, why) }
    }

    fn missing(name: &str, why: String) -> Self {
        Self {
            name: name.to_owned(),
            command: String::new(),
            args: Vec::new(),
            status: CheckStatus::Failed,
            exit_code: None,
            signal: None,
            duration_ms: 0,
            stdout: String::new(),
            stderr: why,
            stdout_dropped: 0,
            stderr_dropped: 0,
            timed_out: false,
        }
    }
}

impl CheckSummary {
    /// Of checks that were not run, for `reason`: they were not allowed, or there was nothing to run them in.
    pub fn skipped(plan: &CheckPlan, reason: impl Into<String>) -> Self {
        Self {
            status: CheckStatus::Skipped,
            reason: Some(reason.into()),
            patch_kind: plan.patch_kind,
            selected_scripts: plan.selected_scripts.clone(),
            review_required: plan.review_required,
            results: Vec::new(),
            notes: plan.notes.clone(),
        }
    }

    fn of(plan: &CheckPlan, results: Vec<CheckResult>) -> Self {
        let failed = results.iter().any(|result| result.status == CheckStatus::Failed);
        let status = match (results.is_empty(), failed) {
            (true, _) => CheckStatus::Skipped,
            (false, true) => CheckStatus::Failed,
            (false, false) => CheckStatus::Passed,
        };
        Self { status, reason: plan.reason.clone(), results, ..Self::skipped(plan, "") }
    }
}

/// Runs the checks of a plan in a scratch checkout, one after the other, all of them also when one fails. Whoever may allow it has allowed
/// it. `each` is told of every check before it runs.
///
/// # Errors
/// If `stop` said to stop.
pub fn run_all(
    plan: &CheckPlan,
    scratch: &Scratch,
    environment: &Environment,
    limits: &RunLimits,
    each: &mut dyn FnMut(&Check),
    stop: &dyn Fn() -> bool,
) -> Result<CheckSummary, Cancelled> {
    let until = Instant::now() + limits.total;
    let mut results: Vec<CheckResult> = plan
        .missing
        .iter()
        .map(|script| {
            let why = format!("[checks] names `{script}`, and the project has no such script, target or check\n");
            CheckResult::missing(script, why)
        })
        .collect();
    for check in &plan.checks {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let why =
                format!("not run: the checks before it took all of the {} s that they have\n", limits.total.as_secs());
            results.push(CheckResult::failed(check, why));
            continue;
        }
        each(check);
        let limits = RunLimits { timeout: limits.timeout.min(left), ..*limits };
        let environment = environment.clone().of_check(check, scratch);
        results.push(run(check, &scratch.folder(&check.folder), &environment, &limits, stop)?);
    }
    let mut summary = CheckSummary::of(plan, results);
    summary.notes.extend(scratch.notes());
    Ok(summary)
}
