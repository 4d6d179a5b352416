//! From the results of all workers to the report of the run.

use brain_checks::{CheckStatus, CheckSummary};
use brain_journal::Journal;
use brain_packet::{Note, ReviewDecision, RoleName, TaskStatus, Verdict};
use brain_plan::Plan;
use brain_sandbox::LimitName;

use crate::checking;
use crate::gate::{REVIEW_DECISION, gate_findings};
use crate::report::{REPORT_VERSION, Routing, RunReport, RunStatus, WorkerReport, merge, status};
use crate::worker::Worked;

/// Puts the report together: findings of all, the primary's summary as the answer, and what was missing or went wrong.
pub(crate) fn compose(journal: &Journal, plan: &Plan, done: Done) -> RunReport {
    let Done { support, primary, judges, checks, changes, mut missing } = done;
    let (primary_role, primary_status) = (primary.report.role.clone(), primary.result.progress.status);
    let mut summary = primary.result.summary.clone();
    // A review that is a part of the plan decides; one among the support only advises.
    let decides = |role: &RoleName| *role == primary_role || judges.iter().any(|judge| judge.report.role == *role);
    let deciding: Vec<RoleName> =
        support.iter().chain([&primary]).chain(&judges).map(|w| w.report.role.clone()).filter(decides).collect();
    let mut everyone: Vec<Worked> = support.into_iter().chain([primary]).chain(judges).collect();
    let findings =
        merge(everyone.iter().flat_map(|w| w.result.findings.iter().map(|finding| (&w.report.role, finding))));
    // The last to review is the one that saw most.
    let reviewer = everyone.iter().rev().find(|w| w.result.review.is_some());
    let mut review = reviewer.and_then(|w| w.result.review.clone());
    let reviewer = reviewer.map(|w| w.report.role.clone());
    let review_decides = reviewer.as_ref().is_some_and(|reviewer| deciding.contains(reviewer));
    let mut warnings = warnings(&everyone, review.as_ref(), review_decides);
    let overruled = review.as_mut().and_then(|review| gate_findings(review, &findings));
    if let (Some(beside), Some(reviewer)) = (overruled, reviewer) {
        // The primary may quote the review, whichever role it is.
        summary = format!("Not approved, although {reviewer} approved by itself: {beside}.\n{summary}");
        warnings.push(format!("{reviewer} approved, and {beside}: counted as changes requested"));
        let note = Note {
            field: REVIEW_DECISION.into(),
            problem: format!("approved, although {beside}"),
            action: "counted as changes requested".into(),
        };
        // The role's own words stay as they are: that they do not count stands beside them.
        let worked = everyone.iter_mut().find(|w| w.report.role == reviewer);
        worked.into_iter().for_each(|w| w.report.notes.push(note.clone()));
    }
    warnings.extend(checks.as_ref().and_then(checking::warning));
    let failed = checks.as_ref().is_some_and(|checks| checks.status == CheckStatus::Failed);
    let status = match status(primary_status, review_decides, review.as_ref()) {
        // What the project's own checks refuse is not approved, whoever approved it.
        RunStatus::Approved | RunStatus::Answered if failed => RunStatus::ChangesRequested,
        status => status,
    };
    missing.extend(everyone.iter().flat_map(|w| w.not_shown.iter().map(|part| format!("{}: {part}", w.report.role))));
    RunReport {
        version: REPORT_VERSION,
        status,
        task: plan.request.clone(),
        session_id: journal.id().clone(),
        routing: Routing { source: plan.source.clone(), primary_role: Some(primary_role), reason: plan.reason.clone() },
        workers: everyone.into_iter().map(|w| w.report).collect::<Vec<WorkerReport>>(),
        findings,
        review,
        checks,
        clarification: None,
        changes,
        missing,
        warnings,
        summary,
    }
}

/// What came of the workers of a run.
pub(crate) struct Done {
    pub support: Vec<Worked>,
    pub primary: Worked,
    /// Those that reviewed what was proposed.
    pub judges: Vec<Worked>,
    /// The project's own checks on what was proposed.
    pub checks: Option<CheckSummary>,
    /// What the pending change compares, where it was handed over.
    pub changes: Option<String>,
    /// What the run had to do without.
    pub missing: Vec<String>,
}

fn warnings(everyone: &[Worked], review: Option<&ReviewDecision>, primary_reviews: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    for worked in everyone {
        let report = &worked.report;
        if let Some(fault) = &report.fault {
            warnings.push(format!("{}: {}", report.role, fault.message));
        } else if matches!(report.status, TaskStatus::Failed | TaskStatus::Blocked) {
            warnings.push(format!("{}: {}", report.role, report.summary));
        }
        if !report.notes.is_empty() {
            warnings.push(format!(
                "{}: {} in its answer repaired; see its notes",
                report.role,
                if report.notes.len() == 1 { "1 thing".to_owned() } else { format!("{} things", report.notes.len()) }
            ));
        }
        let Some(receipt) = &report.receipt else { continue };
        let denied = receipt.files.denied.len() as u64 + receipt.files.denied_unlisted;
        if denied > 0 {
            let paths = if denied == 1 { "1 path".to_owned() } else { format!("{denied} paths") };
            warnings.push(format!("{}: asked for {paths} that it was not granted", report.role));
        }
        if !receipt.files.unusable_gitignores.is_empty() {
            warnings.push(format!(
                "{}: nothing but tracked files was shown to it where a .gitignore is too large or unreadable: {}",
                report.role,
                receipt.files.unusable_gitignores.join(", ")
            ));
        }
        if receipt.files.names_skipped > 0 {
            warnings.push(format!(
                "{}: {} names are not UTF-8 and could not be shown to it",
                report.role, receipt.files.names_skipped
            ));
        }
        // Output that was dropped is told below, in bytes.
        for reached in receipt.reached.iter().filter(|reached| reached.limit != LimitName::Output) {
            let (limit, times) = (reached.limit, reached.times);
            warnings.push(format!(
                "{}: its limit on {limit} ({}) refused something {times} times",
                report.role,
                limit.show(reached.value)
            ));
        }
        if receipt.output.dropped_bytes > 0 {
            warnings
                .push(format!("{}: {} bytes of its output were not kept", report.role, receipt.output.dropped_bytes));
        }
        if let Some(error) = &receipt.output.log_error {
            warnings.push(format!("{}: its private log could not be written: {error}", report.role));
        }
    }
    if let Some(review) = review.filter(|r| r.decision == Verdict::Blocked && !primary_reviews) {
        warnings.push(format!("nothing was reviewed: {}", review.rationale));
    }
    warnings
}
