//! The findings of all files: the worst first, within a bound.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use brain_role::{Finding, Severity};

use crate::limits::MAX_FINDINGS;
use crate::settle::FileReport;

/// Findings are thinned out when there are this many times the bound.
const SLACK: usize = 8;

/// What was found so far.
#[derive(Default)]
pub struct Collection {
    findings: Vec<Finding>,
    /// Files whose findings come before all others.
    first: BTreeSet<String>,
    /// Everything that was found, listed or not: low, medium, high.
    counts: [u64; 3],
    /// Found and no longer in the list.
    dropped: [u64; 3],
    joined: u64,
    allowed: u64,
    partly: BTreeMap<&'static str, (u64, String)>,
}

impl Collection {
    /// A collection in which the findings of some files come before all others.
    pub fn with_first(first: BTreeSet<String>) -> Self {
        Self { first, ..Self::default() }
    }

    /// Adds what one file gave.
    pub fn add(&mut self, path: &str, report: FileReport) {
        for finding in &report.findings {
            self.counts[finding.severity as usize] += 1;
        }
        for (count, joined) in self.counts.iter_mut().zip(report.joined) {
            *count += joined;
            self.joined += joined;
        }
        self.allowed += report.allowed;
        for reason in report.partly {
            self.partly.entry(reason).or_insert_with(|| (0, path.to_owned())).0 += 1;
        }
        self.findings.extend(report.findings);
        if self.findings.len() > SLACK * MAX_FINDINGS {
            self.thin();
        }
    }

    fn sort(&mut self) {
        let later = |finding: &Finding| !finding.file.as_ref().is_some_and(|file| self.first.contains(file));
        self.findings.sort_by(|a, b| (later(a), order(a)).cmp(&(later(b), order(b))));
    }

    fn thin(&mut self) {
        self.sort();
        for finding in self.findings.drain(MAX_FINDINGS.min(self.findings.len())..) {
            self.dropped[finding.severity as usize] += 1;
        }
    }

    /// What is not in the list, in sentences.
    pub fn risks(&mut self) -> Vec<String> {
        self.thin();
        let mut risks = Vec::new();
        let dropped: u64 = self.dropped.iter().sum();
        if dropped > 0 {
            risks.push(format!(
                "{dropped} findings are not listed, since {MAX_FINDINGS} are the most: {}",
                by_severity(self.dropped)
            ));
        }
        if self.joined > 0 {
            risks.push(format!(
                "{} findings repeat a rule in the same file and are named by line in the evidence of another",
                self.joined
            ));
        }
        if self.allowed > 0 {
            risks.push(format!("{} findings are allowed by a brain:allow comment", self.allowed));
        }
        risks.extend(self.partly.iter().map(|(reason, (count, first))| {
            let noun = if *count == 1 { "file was" } else { "files were" };
            format!("{count} {noun} looked at in part: {reason} (the first is {first:?})")
        }));
        risks
    }

    /// Counts by severity, and the three worst with their places.
    pub fn summary(&mut self, files: u64, nothing: &str) -> String {
        self.sort();
        let total: u64 = self.counts.iter().sum();
        let noun = if files == 1 { "file" } else { "files" };
        if total == 0 {
            return format!("{nothing} in {files} {noun}.");
        }
        let worst: Vec<String> = self
            .findings
            .iter()
            .take(3)
            .map(|finding| {
                format!("{} {} ({})", place(finding), finding.rule.as_deref().unwrap_or("finding"), finding.issue)
            })
            .collect();
        let found = if total == 1 { "finding" } else { "findings" };
        format!("{total} {found} in {files} {noun}: {}. Worst: {}.", by_severity(self.counts), worst.join("; "))
    }

    /// The listed findings, the worst first, then by file and line.
    pub fn into_findings(mut self) -> Vec<Finding> {
        self.thin();
        self.findings
    }
}

fn order(finding: &Finding) -> (Reverse<Severity>, Option<&str>, Option<u32>, Option<&str>) {
    (Reverse(finding.severity), finding.file.as_deref(), finding.line, finding.rule.as_deref())
}

fn place(finding: &Finding) -> String {
    let file = finding.file.as_deref().unwrap_or("?");
    finding.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}

/// `2 high, 1 medium, 0 low`, from counts of low, medium and high.
pub fn by_severity([low, medium, high]: [u64; 3]) -> String {
    format!("{high} high, {medium} medium, {low} low")
}
