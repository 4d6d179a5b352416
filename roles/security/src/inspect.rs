//! One file: from its path and text to findings. No I/O.

use brain_role::Severity;
use file_findings::paths::{is_foreign, is_generated};
use file_findings::{Evidence, FileReport, Issue, line_of, line_starts, settle};
use secret_scan::Scan;

use crate::calls;
use crate::language::Language;
use crate::source::Source;

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
        match settings_scan::find(path, text) {
            Ok(found) => issues.extend(found),
            Err(settings_scan::Fault::Invalid) => report.partly.push("settings that are not plain YAML (a template?)"),
            Err(settings_scan::Fault::TooLarge) => {
                report.partly.push("settings in YAML that are too large or too deep")
            }
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
            fix: "Revoke it where it was issued, since history keeps it; then read it from the environment or a secret store."
                .into(),
        })
        .collect()
}
