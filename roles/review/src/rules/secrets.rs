//! Secrets in added lines, found by the `secret-scan` crate.

use std::borrow::Cow;

use super::{Findings, View};
use crate::diff::Side;
use crate::model::{Found, Severity};

/// Scans the added lines alone: a secret that was there before is not this change's.
pub fn added(view: &View<'_>, findings: &mut Findings) {
    // The scanner counts lines of a text, so the added lines become one, with a blank between lines that are not neighbours.
    let mut text = String::new();
    let mut numbers: Vec<u32> = Vec::new();
    for line in view.lines(Side::Added) {
        if numbers.last().is_some_and(|last| last.checked_add(1) != Some(line.line)) {
            text.push('\n');
            numbers.push(line.line);
        }
        // The whole line: known formats are found in the longest ones too.
        text.push_str(&crate::code::text(line.text).replace('\r', " "));
        text.push('\n');
        numbers.push(line.line);
    }
    for hit in secret_scan::scan(&view.path, &text) {
        let at = usize::try_from(hit.line).ok().and_then(|line| numbers.get(line.saturating_sub(1)));
        let mut found = Found::new(
            severity(hit.severity),
            "secret/unnamed",
            &view.path,
            format!("The change adds a secret: {}", hit.what),
        );
        found.rule = Cow::Borrowed(hit.rule);
        found.evidence = Some(hit.masked);
        found.line = at.copied();
        findings.push(
            found.suggest("Take it out of the change, revoke it, and load it from the environment or a secret store"),
        );
    }
}

/// One line as it may be shown: secrets and random-looking runs masked, cut to `max_chars`.
pub fn masked(path: &str, line: &str, max_chars: usize) -> String {
    secret_scan::scan_counted(path, line).masked_line(line, 1, max_chars)
}

fn severity(severity: secret_scan::Severity) -> Severity {
    match severity {
        secret_scan::Severity::Low => Severity::Low,
        secret_scan::Severity::Medium => Severity::Medium,
        secret_scan::Severity::High => Severity::High,
    }
}
