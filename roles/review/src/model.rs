//! What a review is made of, as plain data. `lib.rs` turns it into the contract's types.

use std::borrow::Cow;

use crate::diff::shown;

/// How bad a finding is, in rising order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look; does not stop an approval.
    Low,
    /// Should be changed first.
    Medium,
    /// Must not go in.
    High,
}

impl Severity {
    /// The word of the contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// One thing found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// How bad.
    pub severity: Severity,
    /// `<area>/<kind>`.
    pub rule: Cow<'static, str>,
    /// What is wrong, for a reader.
    pub issue: String,
    /// Path as the tree has it; empty when the finding is about the diff as a whole.
    pub file: String,
    /// 1-based line of the new file.
    pub line: Option<u32>,
    /// The line's text, cut, never with a secret in it.
    pub evidence: Option<String>,
    /// What to do.
    pub suggestion: Option<String>,
}

impl Found {
    /// A finding about a file as a whole.
    pub fn new(severity: Severity, rule: &'static str, file: &str, issue: impl Into<String>) -> Self {
        Self {
            severity,
            rule: Cow::Borrowed(rule),
            issue: issue.into(),
            file: file.to_owned(),
            line: None,
            evidence: None,
            suggestion: None,
        }
    }

    /// At a line of the new file.
    pub fn at(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    /// With the text of that line. [`crate::rules::Findings::push`] cuts it and masks secrets in it.
    pub fn evidence(mut self, text: impl Into<String>) -> Self {
        self.evidence = Some(text.into());
        self
    }

    /// With advice.
    pub fn suggest(mut self, text: impl Into<String>) -> Self {
        self.suggestion = Some(text.into());
        self
    }

    /// `file:line` for a sentence, as far as they are known.
    pub fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", shown(&self.file)),
            None if self.file.is_empty() => "the change".to_owned(),
            None => shown(&self.file),
        }
    }
}

/// How much of a changed file was seen, from nothing to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// None of its content.
    Skipped,
    /// Some of it, or without the file it belongs to.
    Partially,
    /// All of its change, in agreement with the workspace.
    Inspected,
}

/// One changed file in the coverage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Path as the tree has it.
    pub file: String,
    /// How much was seen.
    pub seen: Seen,
    /// Why it was not all.
    pub reason: Option<String>,
}

/// The reviewer's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// There was nothing that could be judged.
    Blocked,
    /// Not as it is.
    ChangesRequested,
    /// Every changed file was seen and nothing of weight was found.
    Approved,
}

impl Verdict {
    /// The words for a reader.
    pub fn words(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::ChangesRequested => "changes requested",
            Self::Approved => "approved",
        }
    }
}

/// Whether the role could do its job, which is not its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// There was a diff, perhaps an empty one.
    Completed,
    /// There was no diff, or none that can be read.
    Blocked,
}

/// The whole outcome of a review.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// Whether the role could do its job.
    pub ending: Ending,
    /// For the user: one line, then what the support roles said.
    pub summary: String,
    /// Sorted by file and line.
    pub findings: Vec<Found>,
    /// The verdict.
    pub verdict: Verdict,
    /// 0 to 1.
    pub confidence: f64,
    /// Why this verdict.
    pub rationale: String,
    /// What must change before an approval.
    pub required_changes: Vec<String>,
    /// What must not go in under any circumstances.
    pub blocking_issues: Vec<String>,
    /// What this review cannot answer for.
    pub residual_risks: Vec<String>,
    /// One entry per changed file.
    pub coverage: Vec<Coverage>,
    /// What was done, in order.
    pub steps: Vec<String>,
}
