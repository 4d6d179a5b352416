//! Makes changes and reviews them through the role's own door.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use brain_role::testing::Bench;
use brain_role::{CoverageStatus, Finding, Severity, Verdict, WorkerResult};

/// A change that is being put together: the workspace after it, and its diff.
#[derive(Default)]
pub struct Change {
    files: Vec<(String, String)>,
    diff: String,
}

impl Change {
    pub fn new() -> Self {
        Self::default()
    }

    /// A file that the change does not touch.
    pub fn there(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// A file that the change edits.
    pub fn edit(mut self, path: &str, old: &str, new: &str) -> Self {
        self.diff.push_str(&section(path, Some(old), Some(new)));
        self.there(path, new)
    }

    /// A new file.
    pub fn add(mut self, path: &str, new: &str) -> Self {
        self.diff.push_str(&section(path, None, Some(new)));
        self.there(path, new)
    }

    /// A deleted file.
    pub fn delete(mut self, path: &str, old: &str) -> Self {
        self.diff.push_str(&section(path, Some(old), None));
        self
    }

    /// Text of the diff as it stands.
    pub fn raw(mut self, text: &str) -> Self {
        self.diff.push_str(text);
        self
    }

    pub fn bench(&self) -> Bench {
        let bench = Bench::new().context("changes.diff", self.diff.as_bytes());
        self.files.iter().fold(bench, |bench, (path, text)| bench.file(path, text))
    }

    pub fn review(&self) -> WorkerResult {
        self.bench().run(review::run)
    }
}

/// A section as git prints it, its hunks made by another implementation of diff.
pub fn section(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let patch = diffy::create_patch(old.unwrap_or(""), new.unwrap_or("")).to_string();
    let hunks = patch.find("@@").map_or("", |at| &patch[at..]);
    let (mode, from, to) = match (old, new) {
        (None, _) => ("new file mode 100644\n", "/dev/null".to_owned(), format!("b/{path}")),
        (_, None) => ("deleted file mode 100644\n", format!("a/{path}"), "/dev/null".to_owned()),
        _ => ("", format!("a/{path}"), format!("b/{path}")),
    };
    format!("diff --git a/{path} b/{path}\n{mode}index 1111111..2222222\n--- {from}\n+++ {to}\n{hunks}")
}

/// `rule file:line severity` of each finding.
pub fn told(result: &WorkerResult) -> Vec<String> {
    result.findings.iter().map(tell).collect()
}

fn tell(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
    };
    let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
    format!("{} {}{line} {severity}", finding.rule.as_deref().unwrap_or("-"), finding.file.as_deref().unwrap_or("-"))
}

pub fn verdict(result: &WorkerResult) -> Verdict {
    result.review.as_ref().unwrap_or_else(|| panic!("no decision: {result:?}")).decision
}

/// `file status` of each entry of the coverage.
pub fn coverage(result: &WorkerResult) -> Vec<(String, CoverageStatus)> {
    result
        .review
        .as_ref()
        .map(|review| review.coverage.iter().map(|entry| (entry.file.clone(), entry.status)).collect())
        .unwrap_or_default()
}

/// Everything that the result says, for looking for what it must not say.
pub fn all_text(result: &WorkerResult) -> String {
    format!("{result:?}")
}
