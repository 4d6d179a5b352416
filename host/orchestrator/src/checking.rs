//! The project's own checks on what a run proposes: in a copy of the tree, and only where the operator lets them run.

use brain_changes::{ChangeSet, Contents};
use brain_checks::{
    CheckPlan, CheckStatus, CheckSummary, ChecksConfig, Environment, PatchKind, Scratch, ScratchError, ScratchLimits,
    changed_paths, detect, run_all, select, sweep,
};
use brain_journal::{CheckOutcome, CheckSummary as CheckRecord, Record};
use brain_packet::ContextRefKind;

use crate::error::RunError;
use crate::run::Event;
use crate::worker::{Bench, ContextFile, Worked};

/// Name of the checks' results below `/context`.
const CHECKS: &str = "checks.json";
/// Checks that are named where they did not run.
const MAX_NAMED: usize = 8;

/// Checks what the worker that proposes last proposes: the primary, where it does. None where nothing is proposed.
///
/// A check is a program of the project's, run with the operator's rights and on a role's change: without `allowed` none
/// runs, and the summary says which would have.
pub(crate) fn check(
    bench: &Bench<'_>,
    before: &[Worked],
    allowed: bool,
    missing: &mut Vec<String>,
    watch: &(dyn Fn(Event) + Sync),
) -> Result<Option<CheckSummary>, RunError> {
    let mut proposing = before.iter().filter(|worked| !worked.proposed.is_empty()).rev();
    let Some(checked) = proposing.next() else { return Ok(None) };
    missing.extend(proposing.map(|other| format!("what {} proposes was not checked", other.report.role)));
    let summary = summary(bench, &checked.proposed, allowed, watch)?;
    let outcome: Option<CheckOutcome> =
        serde_json::to_value(&summary).ok().and_then(|json| serde_json::from_value(json).ok());
    if let Some(outcome) = outcome {
        let record = CheckRecord { outcome, attempt: None, fix_iteration: None };
        bench.journal.append(&Record::CheckSummary(record))?;
    }
    Ok(Some(summary))
}

fn summary(
    bench: &Bench<'_>,
    set: &ChangeSet,
    allowed: bool,
    watch: &(dyn Fn(Event) + Sync),
) -> Result<CheckSummary, RunError> {
    let config = ChecksConfig::default();
    let (kind, paths) = (PatchKind::of(changed_paths(set)), changed_paths(set));
    // What the tree has without the change is what is shown to whoever may allow it.
    let plan = select(kind, &config, &detect(bench.project, paths.clone()));
    if plan.is_empty() {
        let reason = plan.reason.clone().unwrap_or_else(|| "the project has no checks for this change".into());
        return Ok(CheckSummary::skipped(&plan, reason));
    }
    if !allowed {
        let reason = format!("running programs of the project was not allowed (--yes): {}", commands(&plan));
        return Ok(CheckSummary::skipped(&plan, reason));
    }
    let stop = || bench.cancel.is_cancelled();
    let cache = bench.home.join("cache/checks");
    sweep(&cache);
    let contents = Contents::open(bench.journal.paths().contents()).map_err(|error| RunError::State {
        what: "the contents of a proposed change",
        path: bench.journal.paths().contents(),
        source: std::io::Error::other(error),
    })?;
    let limits = ScratchLimits::default();
    let scratch = match Scratch::new(bench.project, &cache, set, &contents, &bench.git.tracked, &limits, &stop) {
        Ok(scratch) => scratch,
        Err(ScratchError::Cancelled) => return Err(RunError::Interrupted),
        Err(error) => return Ok(CheckSummary::skipped(&plan, error.to_string())),
    };
    // The change may bring checks of its own.
    let plan = select(kind, &config, &detect(scratch.root(), paths));
    let mut begun = |check: &brain_checks::Check| watch(Event::Checking(check.command_line()));
    run_all(&plan, &scratch, &Environment::of_operator(), &config.limits(), &mut begun, &stop)
        .map_err(|_| RunError::Interrupted)
}

fn commands(plan: &CheckPlan) -> String {
    let named: Vec<String> = plan.checks.iter().take(MAX_NAMED).map(brain_checks::Check::command_line).collect();
    let more = plan.checks.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// The results as a reviewer reads them.
pub(crate) fn context(summary: &CheckSummary) -> ContextFile {
    ContextFile {
        path: CHECKS.into(),
        kind: ContextRefKind::Summary,
        label: format!("the project's checks: {}", word(summary.status)),
        content: serde_json::to_vec_pretty(summary).unwrap_or_default(),
    }
}

pub(crate) fn word(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Passed => "passed",
        CheckStatus::Failed => "failed",
        CheckStatus::Skipped => "skipped",
    }
}

/// What a reader should not overlook.
pub(crate) fn warning(summary: &CheckSummary) -> Option<String> {
    match summary.status {
        CheckStatus::Passed => None,
        CheckStatus::Skipped => {
            Some(format!("nothing was checked: {}", summary.reason.as_deref().unwrap_or("no check ran")))
        }
        CheckStatus::Failed => {
            let failed = summary.results.iter().filter(|result| result.status == CheckStatus::Failed);
            let names: Vec<&str> = failed.map(|result| result.name.as_str()).collect();
            Some(format!("the project's own checks fail with the proposed change: {}", names.join(", ")))
        }
    }
}
