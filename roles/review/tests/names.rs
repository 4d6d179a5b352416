//! A path in the result is the path in the tree, whatever is in it; a sentence has it in a form that cannot be mistaken for anything else.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use brain_role::testing::Bench;
use brain_role::{CoverageStatus, WorkerResult};
use common::coverage;

/// Names that a tree can have, and how git quotes them in a diff.
const NAMES: &[(&str, &str)] = &[
    ("a\u{1b}]0;x\u{7}.py", r"a\033]0;x\a.py"),
    ("say \"a\".py", r#"say \"a\".py"#),
    ("back\\slash.py", r"back\\slash.py"),
    ("src/line\nbreak.py", r"src/line\nbreak.py"),
    ("tab\there\r.py", r"tab\there\r.py"),
    ("gr\u{fc}\u{df}e/\u{6f22}.py", r"gr\303\274\303\237e/\346\274\242.py"),
    ("\u{202e}yp.py", r"\342\200\256yp.py"),
];

fn reviewed(name: &str, quoted: &str) -> WorkerResult {
    let header = format!("diff --git \"a/{quoted}\" \"b/{quoted}\"\n--- \"a/{quoted}\"\n+++ \"b/{quoted}\"\n");
    Bench::new()
        .file(name, "x = 1\nbreakpoint()\n")
        .context("changes.diff", format!("{header}@@ -1 +1,2 @@\n x = 1\n+breakpoint()\n"))
        .run(review::run)
}

/// Everything that is meant to be read as a sentence.
fn sentences(result: &WorkerResult) -> Vec<&str> {
    let decision = result.review.as_ref().unwrap();
    let reasons = decision.coverage.iter().filter_map(|entry| entry.reason.as_deref());
    [&decision.required_changes, &decision.blocking_issues, &decision.residual_risks, &result.risks]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .chain([decision.rationale.as_str(), result.summary.as_str()])
        .chain(result.findings.iter().map(|finding| finding.issue.as_str()))
        .chain(reasons)
        .collect()
}

fn assert_plain(result: &WorkerResult) {
    for text in sentences(result) {
        let odd = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!text.contains(odd) && !text.contains("line\nbreak"), "{text:?}");
    }
}

#[test]
fn a_quoted_name_comes_back_as_the_path_in_the_tree() {
    for (name, quoted) in NAMES {
        let result = reviewed(name, quoted);
        assert_eq!(coverage(&result), [((*name).to_owned(), CoverageStatus::Inspected)], "{name:?}");
        let files: Vec<_> = result.findings.iter().map(|finding| (finding.file.as_deref(), finding.line)).collect();
        assert_eq!(files, [(Some(*name), Some(2))], "{name:?}");
        assert_plain(&result);
    }
    let named = &reviewed("src/line\nbreak.py", r"src/line\nbreak.py").review.unwrap().required_changes;
    assert_eq!(named, &[r"src/line\nbreak.py:2: Remove the line [review/debugger]"]);
}

#[test]
fn a_file_that_cannot_be_seen_keeps_its_path_too() {
    for (name, quoted) in NAMES {
        let diff = format!(
            "diff --git \"a/{quoted}\" \"b/{quoted}\"\n--- \"a/{quoted}\"\n+++ \"b/{quoted}\"\n@@ -1 +1 @@\n-x\n+y\n* Unmerged path \"{quoted}.2\"\n"
        );
        let result = Bench::new().context("changes.diff", diff).run(review::run);
        let expected =
            [((*name).to_owned(), CoverageStatus::PartiallyInspected), (format!("{name}.2"), CoverageStatus::Skipped)];
        assert_eq!(coverage(&result), expected, "{name:?}");
        assert_plain(&result);
    }
}

/// What another role found in a file of the change stops it, since both mean the same path.
#[test]
fn a_finding_of_another_role_meets_the_changed_file() {
    let diff = "diff --git \"a/a\\\"\\n.py\" \"b/a\\\"\\n.py\"\n--- \"a/a\\\"\\n.py\"\n+++ \"b/a\\\"\\n.py\"\n@@ -1 +1 @@\n-x\n+y\n";
    let other = r#"{"progress":{"status":"completed"},"findings":[{"severity":"high","issue":"eval","file":"a\"\n.py","line":1}]}"#;
    let result = Bench::new()
        .file("a\"\n.py", "y\n")
        .context("changes.diff", diff)
        .context("results/security.json", other)
        .run(review::run);
    let blocking = result.review.unwrap().blocking_issues;
    assert_eq!(blocking, ["a\"\\n.py:1: eval (found by security)"]);
}
