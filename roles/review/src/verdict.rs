//! From findings and coverage to a decision.
//!
//! - **blocked**: there is no diff, an empty one, or nothing of it could be seen. An empty change is not approved: an approval says
//!   that something was looked at. It is no fault of the change either, so it asks for nothing.
//! - **changes requested**: a finding of medium severity or more, a file that was not seen in full, or a diff that was cut.
//! - **approved**: everything else.

use crate::compose::{self, Support};
use crate::diff::shown;
use crate::limits::MAX_LIST;
use crate::model::{Coverage, Ending, Found, Review, Seen, Severity, Verdict};
use crate::rules::Findings;

/// Confidence in an approval: rules on lines know nothing of what the change is for.
const CONFIDENCE_APPROVED: f64 = 0.6;
/// Confidence when what stands against the change is a matter of judgement or of sight.
const CONFIDENCE_REQUESTED: f64 = 0.8;
/// Confidence when it is a matter of fact.
const CONFIDENCE_BLOCKING: f64 = 0.95;

const STATIC_ONLY: &str =
    "Rules on the changed lines found this: the change was not run, and its logic and design were not judged";

/// What a decision is made from.
pub struct Facts<'a> {
    /// From every rule.
    pub findings: Findings,
    /// One entry per changed file.
    pub coverage: Vec<Coverage>,
    /// What bounds or faults of the diff left out, in sentences.
    pub cuts: Vec<String>,
    /// Hunks of the diff.
    pub hunks: usize,
    /// Results of other roles.
    pub support: &'a [Support],
}

/// Decides on a change of which at least one file is known.
pub fn decide(facts: Facts<'_>) -> Review {
    let Facts { findings, coverage, cuts, hunks, support } = facts;
    let worst = findings.worst();
    let (findings, left_out) = findings.finish();
    let inspected = coverage.iter().filter(|entry| entry.seen == Seen::Inspected).count();
    let nothing_seen = coverage.iter().all(|entry| entry.seen == Seen::Skipped);

    let mut blocking: Vec<String> = findings
        .iter()
        .filter(|found| found.severity == Severity::High || is_secret(found))
        .map(|found| format!("{}: {}", found.place(), found.issue))
        .collect();
    blocking.extend(compose::blocking(support, |file| coverage.iter().any(|entry| entry.file == file)));
    let mut required: Vec<String> =
        findings.iter().filter(|found| found.severity >= Severity::Medium).map(required_change).collect();
    required.extend(coverage.iter().filter(|entry| entry.seen != Seen::Inspected).map(|entry| {
        format!(
            "Look at {} yourself: {}",
            shown(&entry.file),
            entry.reason.as_deref().unwrap_or("it was not seen in full")
        )
    }));

    let clean = worst < Some(Severity::Medium) && blocking.is_empty();
    let whole = inspected == coverage.len() && cuts.is_empty();
    let verdict = match (clean, whole) {
        // A conflict or a secret is known even where nothing else is.
        _ if nothing_seen && blocking.is_empty() => Verdict::Blocked,
        (true, true) => Verdict::Approved,
        _ => Verdict::ChangesRequested,
    };
    let confidence = match verdict {
        Verdict::Approved => CONFIDENCE_APPROVED,
        _ if !blocking.is_empty() => CONFIDENCE_BLOCKING,
        _ => CONFIDENCE_REQUESTED,
    };

    let counts = compose::counts(findings.iter().map(|found| found.severity));
    let rationale = rationale(verdict, &coverage, inspected, &counts, blocking.len(), &cuts);
    let mut risks = vec![STATIC_ONLY.to_owned()];
    risks.extend(cuts);
    if left_out > 0 {
        risks.push(format!("{left_out} more findings are not listed"));
    }
    let files = coverage.len();
    Review {
        ending: Ending::Completed,
        summary: format!(
            "Review: {}. {inspected} of {} inspected; {counts}{}.",
            verdict.words(),
            plural(files, "changed file"),
            if left_out > 0 { format!(", {left_out} more not listed") } else { String::new() },
        ),
        findings,
        verdict,
        confidence,
        rationale,
        required_changes: bounded(required),
        blocking_issues: bounded(blocking),
        residual_risks: bounded(risks),
        coverage,
        steps: vec![
            format!("parsed {} with {}", plural(files, "changed file"), plural(hunks, "hunk")),
            format!("compared them with the workspace: {inspected} in full"),
            format!("ran the rules: {counts}"),
        ],
    }
}

fn rationale(
    verdict: Verdict,
    coverage: &[Coverage],
    inspected: usize,
    counts: &str,
    blocking: usize,
    cuts: &[String],
) -> String {
    let files = plural(coverage.len(), "changed file");
    match verdict {
        Verdict::Approved if coverage.len() == 1 => {
            format!("The changed file was seen in full and no finding is above low severity ({counts}).")
        }
        Verdict::Approved => {
            format!("Every one of {files} was seen in full and no finding is above low severity ({counts}).")
        }
        Verdict::Blocked => format!("Nothing of {files} could be seen, so there is nothing to judge."),
        Verdict::ChangesRequested => {
            let mut parts = Vec::new();
            if blocking > 0 {
                parts.push(format!("{} must not go in", plural(blocking, "issue")));
            }
            parts.push(format!("found: {counts}"));
            if inspected < coverage.len() {
                parts.push(format!("{} of {files} could not be seen in full", coverage.len() - inspected));
            }
            if !cuts.is_empty() {
                parts.push("the diff was not read to its end".to_owned());
            }
            let mut text = parts.join("; ");
            text.push('.');
            capital(&text)
        }
    }
}

/// No diff was handed over, or it cannot be opened: `why`.
pub fn nothing_granted(why: Option<&str>) -> Review {
    let (summary, rationale) = match why {
        None => (
            "there is no change to review: no diff was handed over".to_owned(),
            "There is no /context/changes.diff, so there is nothing to judge.".to_owned(),
        ),
        Some(why) => (
            format!("the diff cannot be read: {why}"),
            format!("The review needs /context/changes.diff, which cannot be read: {why}"),
        ),
    };
    let remedy = "Run it in a git repository that has a change; the diff to hand over is that of `git diff HEAD`";
    without_change(Ending::Blocked, &format!("{summary}. {remedy}"), &rationale, vec![remedy.to_owned()])
}

/// The diff is there and shows no file. Why is not known here: nothing may have changed, or nothing of it may be granted.
pub fn nothing_shown() -> Review {
    without_change(
        Ending::Completed,
        "no changed file was shown, so there is nothing to approve",
        "The diff that was handed over has no changed file.",
        Vec::new(),
    )
}

/// The diff has text but no section that can be told.
pub fn unreadable(diff: &[u8]) -> Review {
    let hint = if diff.contains(&0x1b) {
        "it has terminal colour codes; make it with --no-color"
    } else if std::str::from_utf8(diff).is_err() && diff.contains(&0) {
        "it is binary data, or text in UTF-16"
    } else {
        "make it with `git diff HEAD`"
    };
    without_change(
        Ending::Blocked,
        "the diff cannot be read",
        &format!("/context/changes.diff holds no file section of a unified diff: {hint}"),
        vec![format!("Provide a unified diff: {hint}")],
    )
}

fn without_change(ending: Ending, summary: &str, rationale: &str, blocking: Vec<String>) -> Review {
    Review {
        ending,
        summary: format!("Review: {summary}."),
        findings: Vec::new(),
        verdict: Verdict::Blocked,
        confidence: 1.0,
        rationale: rationale.to_owned(),
        required_changes: Vec::new(),
        blocking_issues: blocking,
        residual_risks: Vec::new(),
        coverage: Vec::new(),
        steps: vec!["looked for /context/changes.diff".to_owned()],
    }
}

/// A secret in the history is out, whatever its format proves; one that is surely harmless is low.
fn is_secret(found: &Found) -> bool {
    found.rule.starts_with("secret/") && found.severity >= Severity::Medium
}

fn required_change(found: &Found) -> String {
    let what = found.suggestion.as_deref().unwrap_or(&found.issue);
    format!("{}: {what} [{}]", found.place(), found.rule)
}

/// The first entries of a list, and a last one that counts the others.
fn bounded(mut list: Vec<String>) -> Vec<String> {
    if list.len() > MAX_LIST {
        let over = list.len() - (MAX_LIST - 1);
        list.truncate(MAX_LIST - 1);
        list.push(format!("{over} more are not listed"));
    }
    list
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
