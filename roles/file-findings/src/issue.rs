//! A thing found in one file, before it becomes a finding.

use std::borrow::Cow;
use std::ops::Range;

use brain_role::Severity;

/// What a rule says about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Stable name, `<area>/<kind>`.
    pub rule: &'static str,
    /// How bad.
    pub severity: Severity,
    /// 1-based.
    pub line: u32,
    /// What is wrong.
    pub text: String,
    /// What shows it.
    pub evidence: Evidence,
    /// What to write instead.
    pub fix: Cow<'static, str>,
}

/// What shows an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Bytes of the file; secrets in them are masked when the finding is made.
    Bytes(Range<usize>),
    /// The line itself.
    Line,
    /// Words that hold no text of the file, or text that is masked already.
    Said(String),
}

/// One step less severe.
pub fn lower(severity: Severity) -> Severity {
    match severity {
        Severity::High => Severity::Medium,
        Severity::Medium | Severity::Low => Severity::Low,
    }
}
