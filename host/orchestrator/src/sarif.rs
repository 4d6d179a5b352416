//! Findings as SARIF 2.1.0, for tools that take code-scanning results.

use std::collections::BTreeMap;

use brain_packet::Severity;
use serde_json::{Value, json};

use crate::report::{ReportFinding, RunReport};

/// The report's findings as one SARIF run.
///
/// The rule of a finding without one is `<role>/judgement`. Locations are relative to the project's root.
pub fn sarif(report: &RunReport) -> Value {
    let mut rules: BTreeMap<String, Value> = BTreeMap::new();
    let results: Vec<Value> = report
        .findings
        .iter()
        .map(|found| {
            let rule = rule_of(found);
            rules.entry(rule.clone()).or_insert_with(|| {
                json!({
                    "id": rule,
                    "shortDescription": { "text": found.finding.issue },
                    "defaultConfiguration": { "level": level(found.finding.severity) },
                })
            });
            result(found, &rule)
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Brain",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.into_values().collect::<Vec<_>>(),
            }},
            "automationDetails": { "id": format!("brain/{}", report.session_id) },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule_of(found: &ReportFinding) -> String {
    found
        .finding
        .rule
        .clone()
        .unwrap_or_else(|| format!("{}/judgement", found.roles.first().map(|role| role.as_str()).unwrap_or("brain")))
}

fn result(found: &ReportFinding, rule: &str) -> Value {
    let finding = &found.finding;
    let mut text = finding.issue.clone();
    if let Some(suggestion) = &finding.suggestion {
        text.push_str(". ");
        text.push_str(suggestion);
    }
    let mut result = json!({
        "ruleId": rule,
        "level": level(finding.severity),
        "message": { "text": text },
        "properties": {
            "severity": finding.severity,
            "roles": found.roles,
        },
    });
    if let Some(evidence) = &finding.evidence {
        result["properties"]["evidence"] = json!(evidence);
    }
    if let Some(file) = &finding.file {
        let mut location = json!({
            "artifactLocation": { "uri": uri(file), "uriBaseId": "%SRCROOT%" },
        });
        if let Some(line) = finding.line {
            location["region"] = json!({ "startLine": line });
        }
        result["locations"] = json!([{ "physicalLocation": location }]);
    }
    result
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    }
}

/// A relative path as a URI reference: what RFC 3986 does not allow in a path is percent-encoded.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b'@' | b'+' | b',' | b'=' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uri_references() {
        assert_eq!(uri("src/a b#1.rs"), "src/a%20b%231.rs");
        assert_eq!(uri("é/x.rs"), "%C3%A9/x.rs");
    }
}
