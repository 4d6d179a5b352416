//! Words of findings.

use brain_role::Severity;
use file_findings::{Evidence, Issue};
use settings_scan::yaml::Node;

use crate::limits::{MAX_NAME_CHARS, MAX_NAMES};

/// A name as a sentence shows it: short, without control characters, and no secret.
pub(crate) fn name(text: &str) -> String {
    let short: String = text.escape_debug().take(MAX_NAME_CHARS).collect();
    secret_scan::mask_runs(&format!("`{short}`"))
}

/// `job a`, `jobs a, b and 3 more`.
pub(crate) fn names(noun: &str, nodes: &[&Node]) -> String {
    let shown: Vec<String> = nodes.iter().take(MAX_NAMES).map(|node| name(node.text().unwrap_or("?"))).collect();
    let more = nodes.len().saturating_sub(shown.len());
    let plural = if nodes.len() == 1 { "" } else { "s" };
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{noun}{plural} {}{rest}", shown.join(", "))
}

/// Whether a value is written out: no reference, no path, not empty.
pub(crate) fn is_literal(value: &str) -> bool {
    let value = value.trim();
    !value.is_empty()
        && !value.contains('$')
        && !value.starts_with(['/', '.', '<', '{'])
        && !matches!(value.to_ascii_lowercase().as_str(), "true" | "false" | "null" | "none" | "inherit")
}

/// Whether a value is one that everybody uses on their own machine.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    value.len() < 6
        || [
            "postgres",
            "mysql",
            "password",
            "secret",
            "example",
            "changeme",
            "change-me",
            "admin",
            "test",
            "dummy",
            "placeholder",
            "rootpass",
            "xxxx",
            "dev",
        ]
        .iter()
        .any(|word| value.contains(word))
}

/// An issue whose line holds a secret: evidence shows how it begins.
pub(crate) fn secret(
    node: &Node,
    rule: &'static str,
    severity: Severity,
    text: String,
    key: &str,
    value: &str,
    fix: &'static str,
) -> Issue {
    let evidence = Evidence::Said(format!("{} = {}", name(key), secret_scan::mask(value)));
    Issue { rule, severity, line: node.line, text, evidence, fix: fix.into() }
}
