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

/// What was found out about a proposed change.
pub(crate) struct Checked {
    pub summary: CheckSummary,
    /// The project with the change in it; none where no copy could be made.
    pub copy: Option<Scratch>,
}

/// Checks what the worker that proposes last proposes: the primary, where it does. None where nothing is proposed.
///
/// A check is a program of the project's, run with the operator's rights and on a role's change: without `allowed` none
/// runs, and the summary says which would have. What is `reviewed` is copied in any case, for the reviewer to see.
pub(crate) fn check(
    bench: &Bench<'_>,
    before: &[Worked],
    allowed: bool,
    reviewed: bool,
    missing: &mut Vec<String>,
    watch: &(dyn Fn(Event) + Sync),
) -> Result<Option<Checked>, RunError> {
    let mut proposing = before.iter().filter(|worked| !worked.proposed.is_empty()).rev();
    let Some(proposal) = proposing.next() else { return Ok(None) };
    missing.extend(proposing.map(|other| format!("what {} proposes was not checked", other.report.role)));
    let copied = if allowed || reviewed { Some(copy(bench, &proposal.proposed)?) } else { None };
    let (copy, why) = match copied {
        Some(Ok(copy)) => (Some(copy), None),
        Some(Err(why)) => (None, Some(why)),
        None => (None, None),
    };
    let summary = summary(bench, &proposal.proposed, copy.as_ref().ok_or(why), allowed, watch)?;
    let outcome: Option<CheckOutcome> =
        serde_json::to_value(&summary).ok().and_then(|json| serde_json::from_value(json).ok());
    if let Some(outcome) = outcome {
        let record = CheckRecord { outcome, attempt: None, fix_iteration: None };
        bench.journal.append(&Record::CheckSummary(record))?;
    }
    Ok(Some(Checked { summary, copy }))
}

/// The project with the change in it, or why there is none.
fn copy(bench: &Bench<'_>, set: &ChangeSet) -> Result<Result<Scratch, String>, RunError> {
    let cache = bench.home.join("cache/checks");
    sweep(&cache);
    let contents = Contents::open(bench.journal.paths().contents()).map_err(|error| RunError::State {
        what: "the contents of a proposed change",
        path: bench.journal.paths().contents(),
        source: std::io::Error::other(error),
    })?;
    let (limits, stop) = (ScratchLimits::default(), || bench.cancel.is_cancelled());
    match Scratch::new(bench.project, &cache, set, &contents, &bench.git.tracked, &limits, &stop) {
        Ok(scratch) => Ok(Ok(scratch)),
        Err(ScratchError::Cancelled) => Err(RunError::Interrupted),
        Err(error) => Ok(Err(error.to_string())),
    }
}

fn summary(
    bench: &Bench<'_>,
    set: &ChangeSet,
    copy: Result<&Scratch, Option<String>>,
    allowed: bool,
    watch: &(dyn Fn(Event) + Sync),
) -> Result<CheckSummary, RunError> {
    let config = ChecksConfig::default();
    let (kind, paths) = (PatchKind::of(changed_paths(set)), changed_paths(set));
    // What the tree has without the change is what is agreed to.
    let mut plan = select(kind, &config, &detect(bench.project, paths));
    if plan.is_empty() {
        let reason = plan.reason.clone().unwrap_or_else(|| "the project has no checks for this change".into());
        return Ok(CheckSummary::skipped(&plan, reason));
    }
    if !allowed {
        let reason = format!("running programs of the project was not allowed (--yes): {}", commands(&plan));
        return Ok(CheckSummary::skipped(&plan, reason));
    }
    if plan.always_ask {
        let reason = format!(
            "the change is about how the project is built and checked, so that --yes does not cover it: look at the change, apply it and run {}",
            commands(&plan)
        );
        return Ok(CheckSummary::skipped(&plan, reason));
    }
    let copy = match copy {
        Ok(copy) => copy,
        Err(why) => return Ok(CheckSummary::skipped(&plan, why.unwrap_or_default())),
    };
    // Checks that come with the change were agreed to by nobody.
    let with_change = select(kind, &config, &detect(copy.root(), changed_paths(set)));
    let known =
        |check: &brain_checks::Check| plan.checks.iter().any(|agreed| agreed.command_line() == check.command_line());
    let new: Vec<String> =
        with_change.checks.iter().filter(|check| !known(check)).map(brain_checks::Check::command_line).collect();
    if !new.is_empty() {
        plan.notes.push(format!("checks that come with the change were not run: {}", new.join(", ")));
    }
    let stop = || bench.cancel.is_cancelled();
    let mut begun = |check: &brain_checks::Check| watch(Event::Checking(check.command_line()));
    run_all(&plan, copy, &Environment::of_operator(), &config.limits(), &mut begun, &stop)
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
