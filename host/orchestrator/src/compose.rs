//! From the results of all workers to the report of the run.

use brain_journal::Journal;
use brain_packet::{Note, ReviewDecision, TaskStatus, Verdict};
use brain_plan::Plan;
use brain_sandbox::LimitName;

use crate::gate::{REVIEW_DECISION, gate_findings};
use crate::report::{REPORT_VERSION, Routing, RunReport, WorkerReport, merge, status};
use crate::worker::Worked;

/// Puts the report together: findings of all, the primary's summary as the answer, and what was missing or went wrong.
pub(crate) fn compose(
    journal: &Journal,
    plan: &Plan,
    changes: Option<String>,
    mut missing: Vec<String>,
    mut support: Vec<Worked>,
    mut primary: Worked,
    mut judges: Vec<Worked>,
) -> RunReport {
    let primary_role = primary.report.role.clone();
    let everyone: Vec<&Worked> = support.iter().chain([&primary]).chain(&judges).collect();
    let findings =
        merge(everyone.iter().flat_map(|w| w.result.findings.iter().map(|finding| (&w.report.role, finding))));
    // The last to review is the one that saw most.
    let reviewer = everyone.iter().rev().find(|w| w.result.review.is_some());
    let mut review = reviewer.and_then(|w| w.result.review.clone());
    let reviewer = reviewer.map(|w| w.report.role.clone());
    // A review that is a part of the plan decides; one among the support only advises.
    let primary_reviews = reviewer
        .as_ref()
        .is_some_and(|reviewer| *reviewer == primary_role || judges.iter().any(|judge| judge.report.role == *reviewer));
    let mut warnings = warnings(&everyone, review.as_ref(), primary_reviews);
    let mut summary = primary.result.summary.clone();
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
        let worked = support.iter_mut().chain([&mut primary]).chain(&mut judges).find(|w| w.report.role == reviewer);
        worked.into_iter().for_each(|w| w.report.notes.push(note.clone()));
    }
    let status = status(primary.result.progress.status, primary_reviews, review.as_ref());
    let everyone = support.iter().chain([&primary]).chain(&judges);
    missing.extend(everyone.flat_map(|w| w.not_shown.iter().map(|part| format!("{}: {part}", w.report.role))));
    let workers: Vec<WorkerReport> = support.into_iter().chain([primary]).chain(judges).map(|w| w.report).collect();
    RunReport {
        version: REPORT_VERSION,
        status,
        task: plan.request.clone(),
        session_id: journal.id().clone(),
        routing: Routing { source: plan.source.clone(), primary_role: Some(primary_role), reason: plan.reason.clone() },
        workers,
        findings,
        review,
        clarification: None,
        changes,
        missing,
        warnings,
        summary,
    }
}

fn warnings(everyone: &[&Worked], review: Option<&ReviewDecision>, primary_reviews: bool) -> Vec<String> {
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
