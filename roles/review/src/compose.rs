//! The findings of the support roles, as far as they stand in the way of the change.

use crate::diff::shown;
use crate::limits::MAX_SUPPORT_CHARS;
use crate::model::Severity;

/// What another role found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// The role.
    pub role: String,
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

/// Findings of high severity in one of the changed files, as blocking issues.
pub fn blocking(support: &[Support], changed: impl Fn(&str) -> bool) -> Vec<String> {
    let each = support.iter().flat_map(|one| one.findings.iter().map(move |finding| (one, finding)));
    each.filter(|(_, finding)| finding.severity == Severity::High)
        .filter_map(|(one, finding)| {
            let file = finding.file.as_deref().filter(|file| changed(file))?;
            let shown = shown(file);
            let place = finding.line.map_or_else(|| shown.clone(), |line| format!("{shown}:{line}"));
            Some(format!("{place}: {} (found by {})", quoted(&finding.issue), one.role))
        })
        .collect()
}
