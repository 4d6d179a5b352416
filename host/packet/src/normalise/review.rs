//! The rules of a review. Whatever is repaired, no verdict becomes an approval.

use std::collections::{HashMap, HashSet};

use super::{
    fields,
    notes::Repairs,
    reply::{ended, workspace_file},
};
use crate::{
    context::TaskStatus,
    limits::{MAX_COVERAGE, MAX_ITEM_CHARS, MAX_RATIONALE_CHARS, MAX_REASON_CHARS, MAX_REVIEW_ITEMS},
    result::{ReviewCoverage, ReviewDecision, Verdict},
};

/// What a review without a decision has to be told.
pub(super) const NO_DECISION: &str =
    "The review gave no explicit structured decision: decide `approved`, `changes_requested` or `blocked`.";

/// The verdict of a review that did not give one.
pub(super) fn undecided_verdict(status: TaskStatus) -> Verdict {
    match ended(status) {
        TaskStatus::Completed => Verdict::ChangesRequested,
        _ => Verdict::Blocked,
    }
}

/// The review of a settled result that holds none although one was asked for.
pub(super) fn undecided(status: TaskStatus, summary: &str, risks: &[String]) -> ReviewDecision {
    ReviewDecision {
        decision: undecided_verdict(status),
        confidence: None,
        rationale: summary.to_owned(),
        required_changes: vec![NO_DECISION.to_owned()],
        blocking_issues: Vec::new(),
        residual_risks: with_risks(&mut Repairs::default(), Vec::new(), risks),
        coverage: Vec::new(),
    }
}

/// The review of a result whose status, summary and risks are settled.
pub(super) fn settle(
    repairs: &mut Repairs,
    review: ReviewDecision,
    status: TaskStatus,
    summary: &str,
    risks: &[String],
) -> ReviewDecision {
    let mut rationale = fields::text(repairs, "review.rationale", &review.rationale, MAX_RATIONALE_CHARS);
    if rationale.is_empty() {
        repairs.once("review.rationale", "blank", "the summary was used");
        summary.clone_into(&mut rationale);
    }
    let mut items = |field, values| fields::strings(repairs, field, values, MAX_REVIEW_ITEMS, MAX_ITEM_CHARS);
    let required_changes = items("review.requiredChanges", review.required_changes);
    let blocking_issues = items("review.blockingIssues", review.blocking_issues);
    let residual_risks = items("review.residualRisks", review.residual_risks);
    let decision =
        decision(repairs, review.decision, status, !required_changes.is_empty(), !blocking_issues.is_empty());
    ReviewDecision {
        decision,
        confidence: fields::number(repairs, "review.confidence", review.confidence, 1.0),
        rationale,
        required_changes,
        blocking_issues,
        residual_risks: with_risks(repairs, residual_risks, risks),
        coverage: coverage(repairs, review.coverage),
    }
}

/// An approval that contradicts itself is none. Every other verdict stays.
fn decision(
    repairs: &mut Repairs,
    said: Verdict,
    status: TaskStatus,
    has_required_changes: bool,
    has_blocking_issues: bool,
) -> Verdict {
    if said != Verdict::Approved {
        return said;
    }
    let (problem, verdict) = if status != TaskStatus::Completed {
        ("approved by a worker that did not complete", Verdict::Blocked)
    } else if has_blocking_issues {
        ("approved, with blocking issues", Verdict::Blocked)
    } else if has_required_changes {
        ("approved, with required changes", Verdict::ChangesRequested)
    } else {
        return said;
    };
    let action = if verdict == Verdict::Blocked { "set to blocked" } else { "set to changes_requested" };
    repairs.once("review.decision", problem, action);
    verdict
}

/// The residual risks and the result's own risks, each once. The result keeps its own list, so what does not fit here is
/// not lost.
fn with_risks(repairs: &mut Repairs, own: Vec<String>, risks: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut unique = Vec::with_capacity(own.len());
    for risk in own {
        if seen.insert(risk.clone()) {
            unique.push(risk);
        } else {
            repairs.item("review.residualRisks", "said twice", "dropped");
        }
    }
    for risk in risks {
        if unique.len() < MAX_REVIEW_ITEMS && seen.insert(risk.clone()) {
            unique.push(risk.clone());
        }
    }
    unique
}

/// One entry per file. Of two that disagree, the one that claims less is believed.
fn coverage(repairs: &mut Repairs, entries: Vec<ReviewCoverage>) -> Vec<ReviewCoverage> {
    let mut by_file: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<ReviewCoverage> = Vec::new();
    for entry in entries {
        let Some(file) = workspace_file(repairs, "review.coverage", &entry.file) else {
            continue;
        };
        let reason = fields::optional(repairs, "review.coverage.reason", entry.reason, MAX_REASON_CHARS);
        let entry = ReviewCoverage { file, status: entry.status, reason };
        match by_file.get(&entry.file).and_then(|index| kept.get_mut(*index)) {
            Some(earlier) => {
                repairs.item("review.coverage", "second entry for a file", "dropped, the weaker status kept");
                if entry.status < earlier.status {
                    *earlier = entry;
                }
            }
            None => {
                by_file.insert(entry.file.clone(), kept.len());
                kept.push(entry);
            }
        }
    }
    fields::at_most(repairs, "review.coverage", kept, MAX_COVERAGE)
}
