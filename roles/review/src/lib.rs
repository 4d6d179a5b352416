//! The vetted role `review`: reads a change as a unified diff and the files it touches, and decides on it.
//!
//! It judges lines, not meaning: what it finds is what a careful reader finds without running the change. It must not approve what
//! it has not seen, so the coverage comes first: one entry per changed file, with the reason where it is not `inspected`.
//!
//! The path of a review: [`diff`] parses, `tree` compares with the workspace, `rules` look, `verdict` decides. All of it is
//! plain data and runs natively; this file alone knows the contract's types and the file system.
//!
//! ```
//! use brain_role::testing::Bench;
//!
//! let diff = "diff --git a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n@@ -1 +1,2 @@\n total = 1\n+breakpoint()\n";
//! let result = Bench::new().file("app.py", "total = 1\nbreakpoint()\n").context("changes.diff", diff).run(review::run);
//! assert_eq!(result.findings[0].rule.as_deref(), Some("review/debugger"));
//! assert_eq!(result.findings[0].line, Some(2));
//! ```

mod code;
mod compose;
mod definitions;
mod lang;
pub mod limits;
mod model;
mod reviewing;
mod rules;
mod tree;
mod verdict;

use brain_role::{CoverageStatus, Finding, Handoff, Outcome, PriorResult, ReviewCoverage, ReviewDecision, Tree};

use compose::{Support, SupportFinding};
pub use unified_diff as diff;

use limits::MAX_DIFF_BYTES;
use model::{Coverage, Ending, Found, Review, Seen, Severity, Verdict};
use reviewing::Input;
use tree::{Content, Workspace};

brain_role::role!(run);

/// The diff below `/context`.
pub const DIFF: &str = "changes.diff";

/// Reviews the change of a handoff.
pub fn run(handoff: Handoff) -> Outcome {
    let prior = handoff.prior_results();
    let composed = brain_role::compose(&prior);
    let support: Vec<Support> = prior.into_iter().filter_map(support).collect();
    let read = handoff.context().head(DIFF, MAX_DIFF_BYTES as u64);
    let input = match &read {
        Ok((bytes, more)) => Ok(Input { diff: bytes, more: *more }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(None),
        Err(error) => Err(Some(error.to_string())),
    };
    let mut review = reviewing::review(input, &Granted(handoff.workspace()), &support);
    if !composed.is_empty() {
        review.summary.push('\n');
        review.summary.push_str(&composed);
    }
    outcome(review)
}

/// The workspace as it is granted.
struct Granted(Tree);

impl Workspace for Granted {
    fn read(&self, path: &str, max: usize) -> Result<Content, String> {
        let (bytes, cut) = self.0.head(path, max as u64).map_err(|error| diff::shown(&error.to_string()))?;
        Ok(Content { bytes, cut })
    }
}

/// What a result that can be read found.
fn support(prior: PriorResult) -> Option<Support> {
    let findings = prior.result.ok()?.findings.into_iter().map(support_finding).collect();
    Some(Support { role: prior.role, findings })
}

fn support_finding(finding: Finding) -> SupportFinding {
    let severity = match finding.severity {
        brain_role::Severity::Low => Severity::Low,
        brain_role::Severity::Medium => Severity::Medium,
        brain_role::Severity::High => Severity::High,
    };
    SupportFinding { severity, issue: finding.issue, file: finding.file, line: finding.line }
}

fn outcome(review: Review) -> Outcome {
    let mut outcome = match review.ending {
        Ending::Completed => Outcome::completed(review.summary),
        Ending::Blocked => Outcome::blocked(review.summary),
    };
    for step in review.steps {
        outcome = outcome.step(step);
    }
    let mut decision = ReviewDecision::new(verdict_of(review.verdict), review.rationale).confidence(review.confidence);
    decision.required_changes = review.required_changes;
    decision.blocking_issues = review.blocking_issues;
    decision.residual_risks = review.residual_risks.clone();
    decision.coverage = review.coverage.into_iter().map(coverage_of).collect();
    outcome.findings(review.findings.into_iter().map(finding_of)).risks(review.residual_risks).review(decision)
}

fn verdict_of(verdict: Verdict) -> brain_role::Verdict {
    match verdict {
        Verdict::Blocked => brain_role::Verdict::Blocked,
        Verdict::ChangesRequested => brain_role::Verdict::ChangesRequested,
        Verdict::Approved => brain_role::Verdict::Approved,
    }
}

fn coverage_of(entry: Coverage) -> ReviewCoverage {
    let status = match entry.seen {
        Seen::Skipped => CoverageStatus::Skipped,
        Seen::Partially => CoverageStatus::PartiallyInspected,
        Seen::Inspected => CoverageStatus::Inspected,
    };
    ReviewCoverage { file: entry.file, status, reason: entry.reason }
}

fn finding_of(found: Found) -> Finding {
    let severity = match found.severity {
        Severity::Low => brain_role::Severity::Low,
        Severity::Medium => brain_role::Severity::Medium,
        Severity::High => brain_role::Severity::High,
    };
    let mut finding = Finding::new(severity, found.issue).rule(found.rule);
    finding.file = Some(found.file).filter(|file| !file.is_empty());
    finding.line = found.line;
    finding.evidence = found.evidence;
    finding.suggestion = found.suggestion;
    finding
}
