//! One file: from its path and text to findings. No I/O.

use brain_role::{Finding, Severity};
use secret_scan::Scan;

use crate::calls;
use crate::issue::{Evidence, Issue, lower};
use crate::language::Language;
use crate::limits::{MAX_CODE_LINE_BYTES, MAX_EVIDENCE_CHARS, MAX_LINES_NAMED, MAX_PER_RULE_AND_FILE};
use crate::settings;
use crate::source::Source;

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

/// Looks for secrets, dangerous calls and unsafe settings in `text`. `path` is relative to the project.
///
/// ```
/// let report = security::inspect("src/run.py", "import os\nos.system('ls ' + name)\n");
/// assert_eq!(report.findings[0].rule.as_deref(), Some("danger/python-os-system"));
/// assert_eq!(report.findings[0].line, Some(2));
/// ```
pub fn inspect(path: &str, text: &str) -> FileReport {
    let mut report = FileReport::default();
    let scan = secret_scan::scan_counted(path, text);
    let starts = line_starts(text);
    let mut issues = secrets(&scan);
    if scan.not_listed > 0 {
        report.partly.push("more secrets in one file than are listed");
    }

    if is_foreign(path) {
        report.partly.push("third-party code: looked at for secrets only");
    } else if is_generated(path, &starts, text) {
        if Language::of(path, text).is_some() {
            report.partly.push("minified or generated code: looked at for secrets only");
        }
    } else {
        if let Some(language) = Language::of(path, text) {
            let source = Source::new(language, Language::is_embedded(path), text);
            let (found, more) = calls::find(&source, &|at| line_of(&starts, at));
            issues.extend(found);
            if more {
                report.partly.push("more dangerous calls in one file than are kept");
            }
        }
        match settings::find(path, text) {
            Ok(found) => issues.extend(found),
            Err(settings::Fault::Invalid) => report.partly.push("settings that are not plain YAML (a template?)"),
            Err(settings::Fault::TooLarge) => report.partly.push("settings in YAML that are too large or too deep"),
        }
    }

    settle(path, text, &starts, &scan, issues, &mut report);
    report
}

fn secrets(scan: &Scan) -> Vec<Issue> {
    scan.hits
        .iter()
        .map(|hit| Issue {
            rule: hit.rule,
            severity: match hit.severity {
                secret_scan::Severity::Low => Severity::Low,
                secret_scan::Severity::Medium => Severity::Medium,
                secret_scan::Severity::High => Severity::High,
            },
            line: hit.line,
            text: hit.what.clone(),
            evidence: Evidence::Said(hit.masked.clone()),
            fix: "Revoke it where it was issued, since history keeps it; then read it from the environment or a secret store.",
        })
        .collect()
}

/// Sorts, drops doubles and what is allowed, joins what repeats, and makes findings.
fn settle(path: &str, text: &str, starts: &[usize], scan: &Scan, mut issues: Vec<Issue>, report: &mut FileReport) {
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
                .suggest(issue.fix),
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

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1)).collect()
}

fn line_of(starts: &[usize], at: usize) -> u32 {
    u32::try_from(starts.partition_point(|&start| start <= at)).unwrap_or(u32::MAX)
}

/// Directories whose code is somebody else's.
fn is_foreign(path: &str) -> bool {
    path.split('/').any(|part| {
        matches!(
            part,
            "node_modules"
                | "vendor"
                | "third_party"
                | "third-party"
                | "site-packages"
                | ".venv"
                | "venv"
                | "bower_components"
                | "Pods"
        )
    })
}

/// Code that no one wrote by hand: a very long line, a name, or a comment at the top that says so.
fn is_generated(path: &str, starts: &[usize], text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let long = starts.iter().zip(starts.iter().skip(1).chain([&text.len()])).any(|(a, b)| b - a > MAX_CODE_LINE_BYTES);
    let head = text.get(..crate::source::floor(text, 800)).unwrap_or_default();
    let says = ["@generated", "DO NOT EDIT", "Do not edit", "utomatically generated", "Generated by", "generated by"]
        .iter()
        .any(|mark| head.contains(mark));
    let says = says
        && head.lines().take(8).any(|line| {
            line.trim_start().starts_with(['/', '#', '*', '-', '<']) && line.to_ascii_lowercase().contains("generated")
        });
    says || long
        || name.contains(".min.")
        || name.ends_with("_pb2.py")
        || name.ends_with(".pb.go")
        || name.ends_with(".bundle.js")
}

/// Whether a path is a test, a fixture, an example or a benchmark.
fn is_test(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    let named = name.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || name.contains(".test.")
        || name.contains(".spec.")
        || name == "conftest.py"
        || stem == "tests"
        || stem.ends_with("test") && name.ends_with(".java");
    named
        || parts.any(|part| {
            matches!(
                part.to_ascii_lowercase().as_str(),
                "test"
                    | "tests"
                    | "testing"
                    | "__tests__"
                    | "spec"
                    | "specs"
                    | "fixture"
                    | "fixtures"
                    | "testdata"
                    | "test-data"
                    | "example"
                    | "examples"
                    | "sample"
                    | "samples"
                    | "demo"
                    | "demos"
                    | "mock"
                    | "mocks"
                    | "bench"
                    | "benches"
                    | "benchmarks"
                    | "e2e"
            )
        })
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

    #[test]
    fn tests_are_known_by_their_path() {
        for path in [
            "tests/a.py",
            "src/__tests__/a.ts",
            "a/test_b.py",
            "b_test.go",
            "x/c.spec.ts",
            "src/FooTest.java",
            "examples/run.sh",
            "src/parser/tests.rs",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/latest.py", "src/contest/a.py", "src/attest.rs", "testament.md", "src/a.rs"] {
            assert!(!is_test(path), "{path}");
        }
    }
}
