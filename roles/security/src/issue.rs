//! A thing found in one file, before it becomes a finding.

use std::ops::Range;

use brain_role::Severity;

/// What a rule says about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Issue {
    pub(crate) rule: &'static str,
    pub(crate) severity: Severity,
    /// 1-based.
    pub(crate) line: u32,
    pub(crate) text: String,
    pub(crate) evidence: Evidence,
    pub(crate) fix: &'static str,
}

/// What shows an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Bytes of the file; secrets in them are masked when the finding is made.
    Bytes(Range<usize>),
    /// The line itself.
    Line,
    /// Words that hold no text of the file, or text that is masked already.
    Said(String),
}

/// One step less severe.
pub(crate) fn lower(severity: Severity) -> Severity {
    match severity {
        Severity::High => Severity::Medium,
        Severity::Medium | Severity::Low => Severity::Low,
    }
}
