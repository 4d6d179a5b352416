//! The results of the support roles, as a primary shows them.

use crate::limits::{MAX_SUPPORT, MAX_SUPPORT_CHARS};
use crate::model::Severity;

/// What another role said, as far as a review makes use of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// The role.
    pub role: String,
    /// `completed`, `blocked`, `failed`, or why its result could not be read.
    pub status: String,
    /// Its summary.
    pub summary: String,
    /// Its findings.
    pub findings: Vec<SupportFinding>,
}

/// One finding of another role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupportFinding {
    /// How bad.
    pub severity: Severity,
    /// What is wrong.
    pub issue: String,
    /// Path below the workspace.
    pub file: Option<String>,
    /// 1-based.
    pub line: Option<u32>,
}

impl Support {
    /// One line: role, status, first line of the summary, findings by severity.
    fn line(&self) -> String {
        let first = self.summary.lines().find(|line| !line.trim().is_empty()).unwrap_or("no summary").trim();
        let mut first = quoted(first);
        if self.findings.is_empty() {
            first.push_str(" (no findings)");
        } else {
            first.push_str(&format!(" ({})", counts(self.findings.iter().map(|finding| finding.severity))));
        }
        format!("- {} ({}): {first}", self.role, self.status)
    }
}

/// Text of another role, short and without control characters.
fn quoted(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_SUPPORT_CHARS).collect()
}

/// `2 high, 1 low`; the severities that occur.
pub fn counts(severities: impl Iterator<Item = Severity>) -> String {
    let mut by = [0_usize; 3];
    for severity in severities {
        by[severity as usize] += 1;
    }
    let parts: Vec<String> = [Severity::High, Severity::Medium, Severity::Low]
        .into_iter()
        .filter(|s| by[*s as usize] > 0)
        .map(|s| format!("{} {}", by[s as usize], s.word()))
        .collect();
    if parts.is_empty() { "no findings".to_owned() } else { parts.join(", ") }
}

/// What goes below the review's own summary. Empty without support results.
pub fn text(support: &[Support]) -> String {
    if support.is_empty() {
        return String::new();
    }
    let mut lines = vec![String::new(), "Support roles:".to_owned()];
    lines.extend(support.iter().take(MAX_SUPPORT).map(Support::line));
    if support.len() > MAX_SUPPORT {
        lines.push(format!("- {} more are not shown", support.len() - MAX_SUPPORT));
    }
    lines.join("\n")
}

/// Findings of high severity in one of the changed files, as blocking issues.
pub fn blocking(support: &[Support], changed: impl Fn(&str) -> bool) -> Vec<String> {
    let each = support.iter().flat_map(|one| one.findings.iter().map(move |finding| (one, finding)));
    each.filter(|(_, finding)| finding.severity == Severity::High)
        .filter_map(|(one, finding)| {
            let file = finding.file.as_deref().filter(|file| changed(file))?;
            let place = finding.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
            Some(format!("{place}: {} (found by {})", quoted(&finding.issue), one.role))
        })
        .collect()
}
