//! One file: from its path and text to findings. No I/O.

use file_findings::paths::is_foreign;
use file_findings::{FileReport, Issue, line_starts, settle};
use settings_scan::{Fault, Kind};

use crate::dockerfile::Around;
use crate::{compose, dockerfile, github, gitlab, shell};

/// Whether a file is one that the role looks at, by its path. Other YAML is looked at for objects of Kubernetes.
pub(crate) fn is_looked_at(path: &str) -> bool {
    !is_foreign(path) && (settings_scan::kind(path).is_some() || shell::kind(path).is_some())
}

/// Looks for hazards in `text`. `path` is relative to the project.
pub(crate) fn inspect(path: &str, text: &str, around: Around) -> FileReport {
    let mut report = FileReport::default();
    let mut issues: Vec<Issue> = Vec::new();
    if let Some(kind) = settings_scan::kind(path) {
        match settings_scan::documents(kind, text) {
            Ok(documents) => {
                issues.extend(settings_scan::judge(kind, &documents, text));
                for root in &documents {
                    match kind {
                        Kind::GithubWorkflow => github::find(root, text, &mut issues),
                        Kind::GithubAction => github::action(root, text, &mut issues),
                        Kind::Gitlab => gitlab::find(root, text, &mut issues),
                        Kind::Compose => compose::find(root, &mut issues),
                        Kind::Yaml | Kind::Dockerfile => {}
                    }
                }
                if kind == Kind::Dockerfile {
                    issues.extend(dockerfile::find(text, around));
                }
            }
            Err(Fault::Invalid) => report.partly.push("settings that are not plain YAML (a template?): not judged"),
            Err(Fault::TooLarge) => report.partly.push("settings in YAML that are too large or too deep: not judged"),
        }
    } else if let Some(kind) = shell::kind(path) {
        issues.extend(shell::find(kind, text));
    }
    let scan = secret_scan::scan_counted(path, text);
    settle(path, text, &line_starts(text), &scan, issues, &mut report);
    report
}
