//! From issues of one file to findings: sorted, without doubles, what is allowed taken out, what repeats joined.

use brain_role::Finding;
use secret_scan::Scan;

use crate::issue::{Evidence, Issue, lower};
use crate::limits::{MAX_EVIDENCE_CHARS, MAX_LINES_NAMED, MAX_PER_RULE_AND_FILE};
use crate::paths::is_test;

/// What a file gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileReport {
    /// The findings, by line; at most a few of each rule.
    pub findings: Vec<Finding>,
    /// Findings that are not listed by themselves, by severity: low, medium, high. The last listed one of their rule names their lines.
    pub joined: [u64; 3],
    /// Findings that a `brain:allow` comment covers.
    pub allowed: u64,
    /// Why the file was looked at in part only.
    pub partly: Vec<&'static str>,
}

/// Sorts, drops doubles and what is allowed, joins what repeats, and makes findings.
pub fn settle(path: &str, text: &str, starts: &[usize], scan: &Scan, mut issues: Vec<Issue>, report: &mut FileReport) {
    let in_tests = is_test(path);
    issues.sort_by(|a, b| (a.line, a.rule, b.severity).cmp(&(b.line, b.rule, a.severity)));
    issues.dedup_by(|b, a| (a.line, a.rule) == (b.line, b.rule));
    let line_at = |line: u32| -> &str {
        let index = (line as usize).saturating_sub(1);
        let end = starts.get(index + 1).copied().unwrap_or(text.len());
        starts.get(index).and_then(|&start| text.get(start..end)).unwrap_or_default().trim_end_matches(['\n', '\r'])
    };
    issues.retain(|issue| {
        let allowed =
            allows(line_at(issue.line), issue.rule) || issue.line > 1 && allows(line_at(issue.line - 1), issue.rule);
        report.allowed += u64::from(allowed);
        !allowed
    });

    let mut listed: Vec<(&'static str, usize, usize, Vec<u32>)> = Vec::new();
    for issue in &issues {
        let severity = if in_tests { lower(issue.severity) } else { issue.severity };
        let slot = match listed.iter().position(|(rule, ..)| *rule == issue.rule) {
            Some(at) => at,
            None => {
                listed.push((issue.rule, 0, 0, Vec::new()));
                listed.len() - 1
            }
        };
        let Some((_, count, last, more)) = listed.get_mut(slot) else { continue };
        if *count >= MAX_PER_RULE_AND_FILE {
            more.push(issue.line);
            report.joined[severity as usize] += 1;
            continue;
        }
        *count += 1;
        *last = report.findings.len();
        let start = starts.get((issue.line as usize).saturating_sub(1)).copied().unwrap_or(0);
        let mut evidence = match &issue.evidence {
            Evidence::Bytes(range) => scan.masked_range(text, range.clone(), MAX_EVIDENCE_CHARS),
            Evidence::Line => scan.masked_range(text, start..start + line_at(issue.line).len(), MAX_EVIDENCE_CHARS),
            Evidence::Said(words) => words.clone(),
        };
        if in_tests && severity != issue.severity {
            evidence.push_str(" (in tests or examples: one step less severe)");
        }
        report.findings.push(
            Finding::new(severity, issue.text.clone())
                .rule(issue.rule)
                .at(path, issue.line)
                .evidence(evidence)
                .suggest(issue.fix.clone()),
        );
    }
    for (_, _, last, more) in listed.into_iter().filter(|(.., more)| !more.is_empty()) {
        let named: Vec<String> = more.iter().take(MAX_LINES_NAMED).map(u32::to_string).collect();
        let rest = if more.len() > named.len() { ", …" } else { "" };
        if let Some(finding) = report.findings.get_mut(last) {
            let words = format!(" (+{} more in this file: line {}{rest})", more.len(), named.join(", "));
            finding.evidence.get_or_insert_default().push_str(&words);
        }
    }
}

/// Whether a line allows a rule: `brain:allow danger/python-eval`, or several with commas.
fn allows(line: &str, rule: &str) -> bool {
    line.split("brain:allow").skip(1).any(|rest| {
        rest.split(|c: char| c.is_whitespace() || c == ',')
            .filter(|word| !word.is_empty())
            .take_while(|word| word.contains('/'))
            .any(|word| word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()) == rule)
    })
}

/// Where each line of a text begins, in bytes.
pub fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1)).collect()
}

/// The 1-based line of a byte, from [`line_starts`].
pub fn line_of(starts: &[usize], at: usize) -> u32 {
    u32::try_from(starts.partition_point(|&start| start <= at)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allow_comment_names_its_rules() {
        assert!(allows("x # brain:allow danger/python-eval", "danger/python-eval"));
        assert!(allows("x // brain:allow a/b, danger/js-eval -- since", "danger/js-eval"));
        assert!(allows("x /* brain:allow danger/js-eval */", "danger/js-eval"));
        assert!(!allows("x # brain:allow danger/python-exec", "danger/python-eval"));
        assert!(!allows("x # brain:allow", "danger/python-eval"));
        assert!(!allows("x # brain:allow because danger/python-eval", "danger/python-eval"));
    }
}
