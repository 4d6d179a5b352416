//! The results of the roles before this one, as the role that answers shows them.

use crate::handoff::PriorResult;
use crate::types::{Finding, Severity, TaskStatus};

/// Most results that [`compose`] names; the rest is counted.
pub const MAX_COMPOSED: usize = 20;
/// Most characters of a result's first line, and of a role's name, that [`compose`] quotes.
pub const MAX_COMPOSED_CHARS: usize = 200;

/// A heading and one line for each result: the role, its status, the first line of its summary, its findings by severity.
///
/// Empty when there is no result. At most [`MAX_COMPOSED`] results are named, the others are counted. What is quoted has
/// no control characters and at most [`MAX_COMPOSED_CHARS`] characters, so that no role can forge a line of another.
///
/// ```
/// use brain_role::testing::Bench;
/// use brain_role::{Handoff, Outcome};
///
/// fn run(handoff: Handoff) -> Outcome {
///     Outcome::completed(format!("Done.\n{}", brain_role::compose(&handoff.prior_results())))
/// }
///
/// let other = Bench::new().run(|_: Handoff| Outcome::completed("Two files matter."));
/// let result = Bench::new().prior_result("librarian", &other).run(run);
/// assert_eq!(result.summary, "Done.\nOther roles:\n- librarian (completed): Two files matter. [no findings]");
/// ```
pub fn compose(results: &[PriorResult]) -> String {
    if results.is_empty() {
        return String::new();
    }
    let mut lines = vec!["Other roles:".to_owned()];
    lines.extend(results.iter().take(MAX_COMPOSED).map(line));
    if results.len() > MAX_COMPOSED {
        lines.push(format!("- {} more are not shown", results.len() - MAX_COMPOSED));
    }
    lines.join("\n")
}

fn line(prior: &PriorResult) -> String {
    let role = if prior.role.is_empty() { "(some roles)".to_owned() } else { quoted(&prior.role) };
    match &prior.result {
        Ok(result) => {
            let status = match result.progress.status {
                TaskStatus::Completed => "completed",
                TaskStatus::Blocked => "blocked",
                TaskStatus::Failed => "failed",
                TaskStatus::Pending | TaskStatus::Running => "not finished",
            };
            let first = result.summary.lines().find(|line| !line.trim().is_empty()).unwrap_or("no summary");
            format!("- {role} ({status}): {} [{}]", quoted(first), counts(&result.findings))
        }
        Err(error) => format!("- {role}: its result cannot be read: {}", quoted(&error.to_string())),
    }
}

/// `3 findings: 1 high, 2 low`; the severities that occur.
fn counts(findings: &[Finding]) -> String {
    let by_severity: Vec<String> = [(Severity::High, "high"), (Severity::Medium, "medium"), (Severity::Low, "low")]
        .into_iter()
        .map(|(severity, name)| (findings.iter().filter(|finding| finding.severity == severity).count(), name))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    match findings.len() {
        0 => "no findings".to_owned(),
        1 => format!("1 finding: {}", by_severity.join(", ")),
        count => format!("{count} findings: {}", by_severity.join(", ")),
    }
}

/// Text of another role: one line, without control characters, cut.
fn quoted(text: &str) -> String {
    let turns = |c: &char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = text.trim().chars().filter(|c| !c.is_control() && !turns(c));
    let mut quoted: String = shown.by_ref().take(MAX_COMPOSED_CHARS).collect();
    if shown.next().is_some() {
        quoted.push('…');
    }
    quoted
}
