//! Composes the results of the roles that worked before, when this role is the primary one.

use brain_role::{Handoff, TaskStatus};

use crate::collect::by_severity;
use crate::limits::{MAX_FIRST_LINE_CHARS, MAX_PRIOR};

/// A line for each prior result: role, status, findings by severity, first line. `None` when there is none.
pub(crate) fn compose(handoff: &Handoff) -> Option<String> {
    let prior = handoff.prior_results();
    if prior.is_empty() {
        return None;
    }
    let mut lines = vec!["Other roles:".to_owned()];
    lines.extend(prior.iter().take(MAX_PRIOR).map(|prior| match &prior.result {
        Ok(result) => {
            let mut counts = [0u64; 3];
            result.findings.iter().for_each(|finding| counts[finding.severity as usize] += 1);
            let found = if result.findings.is_empty() { "no findings".to_owned() } else { by_severity(counts) };
            let status = match result.progress.status {
                TaskStatus::Completed => "completed",
                TaskStatus::Blocked => "blocked",
                _ => "failed",
            };
            format!("- {}: {status}; {found}. {}", prior.role, first_line(&result.summary))
        }
        Err(error) => {
            let role = if prior.role.is_empty() { "(some roles)" } else { &prior.role };
            format!("- {role}: its result cannot be read: {}", first_line(&error.to_string()))
        }
    }));
    if prior.len() > MAX_PRIOR {
        lines.push(format!("- and {} more", prior.len() - MAX_PRIOR));
    }
    Some(lines.join("\n"))
}

/// The first line, cut; another role may have quoted something secret, so random runs are masked.
fn first_line(text: &str) -> String {
    let line = secret_scan::mask_runs(text.trim().lines().next().unwrap_or_default());
    match line.char_indices().nth(MAX_FIRST_LINE_CHARS) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line,
    }
}
