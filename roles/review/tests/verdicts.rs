//! What was seen, and what may be decided from it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use brain_role::testing::Bench;
use brain_role::{CoverageStatus, Finding, Outcome, Severity, TaskStatus, Verdict, WorkerResult};
use common::{Change, coverage, section, told, verdict};

use CoverageStatus::{Inspected, PartiallyInspected, Skipped};

#[test]
fn a_change_that_was_seen_and_is_clean_is_approved() {
    let result =
        Change::new().edit("a.py", "x = 1\n", "x = 2\n").add("docs/b.md", "text\n").delete("c.txt", "old\n").review();
    assert_eq!(verdict(&result), Verdict::Approved);
    assert_eq!(
        coverage(&result),
        [("a.py".into(), Inspected), ("docs/b.md".into(), Inspected), ("c.txt".into(), Inspected)]
    );
    assert_eq!(result.progress.status, TaskStatus::Completed);
    let decision = result.review.unwrap();
    assert!(decision.required_changes.is_empty() && decision.blocking_issues.is_empty());
    assert!(decision.confidence.is_some_and(|confidence| confidence < 0.9), "rules on lines prove little");
    assert!(!decision.residual_risks.is_empty());
    assert_eq!(result.summary, "Review: approved. 3 of 3 changed files inspected; no findings.");
}

#[test]
fn one_changed_file_is_told_in_the_singular() {
    let decision = Change::new().edit("a.py", "x = 1\n", "x = 2\n").review().review.unwrap();
    assert!(decision.rationale.starts_with("The changed file was seen in full"), "{}", decision.rationale);
}

#[test]
fn findings_of_weight_ask_for_changes() {
    let result = Change::new().edit("a.py", "x = 1\n", "x = 1\nbreakpoint()\n").review();
    assert_eq!(verdict(&result), Verdict::ChangesRequested);
    let decision = result.review.unwrap();
    assert_eq!(decision.required_changes, ["a.py:2: Remove the line [review/debugger]"]);
    assert!(decision.blocking_issues.is_empty());
    let result = Change::new().edit("a.py", "x = 1\n", "x = 1\n<<<<<<< HEAD\n").review();
    assert_eq!(result.review.unwrap().blocking_issues, ["a.py:2: A merge conflict marker is left in the file"]);
}

/// Every way not to see a file keeps the change from being approved.
#[test]
fn what_was_not_seen_is_never_approved() {
    let edit = section("a.py", Some("x = 1\n"), Some("x = 2\n"));
    let cases: Vec<(&str, Change, CoverageStatus)> = vec![
        ("not granted", Change::new().raw(&edit), PartiallyInspected),
        ("stale line", Change::new().raw(&edit).there("a.py", "x = 3\n"), PartiallyInspected),
        ("stale end", Change::new().raw(&edit).there("a.py", ""), PartiallyInspected),
        ("new file has more", Change::new().raw(&section("a.py", None, Some("x = 1\n"))).there("a.py", "x = 1\nevil()\n"), PartiallyInspected),
        ("deleted and there", Change::new().raw(&section("a.py", Some("x = 1\n"), None)).there("a.py", "x = 1\n"), PartiallyInspected),
        ("binary", Change::new().raw("diff --git a/a.py b/a.py\nindex 1..2 100644\nBinary files a/a.py and b/a.py differ\n").there("a.py", "x"), Skipped),
        ("binary patch", Change::new().raw("diff --git a/a.py b/a.py\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZQz\n\n").there("a.py", "x"), Skipped),
        ("renamed and not granted", Change::new().raw("diff --git a/b.py b/a.py\nsimilarity index 100%\nrename from b.py\nrename to a.py\n"), Skipped),
        ("submodule", Change::new().raw("diff --git a/a.py b/a.py\nindex 1..2 160000\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n"), Skipped),
        ("link", Change::new().raw("diff --git a/a.py b/a.py\nnew file mode 120000\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+b.py\n"), PartiallyInspected),
        ("merge", Change::new().raw("diff --cc a.py\nindex 1,2..3\n--- a/a.py\n+++ b/a.py\n@@@ -1,1 -1,1 +1,1 @@@\n- x = 1\n -x = 2\n++x = 3\n").there("a.py", "x = 3\n"), PartiallyInspected),
        ("cut hunk", Change::new().raw("--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n x = 1\n").there("a.py", "x = 1\n"), PartiallyInspected),
        ("lines outside a hunk", Change::new().raw(&edit).raw("+evil()\n").there("a.py", "x = 2\n"), PartiallyInspected),
        ("no lines shown", Change::new().raw("diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n").there("a.py", "x = 2\n"), Skipped),
        ("no lines shown, nothing else either", Change::new().raw("diff --git a/a.py b/a.py\nindex 1..2 100644\n").there("a.py", "x = 2\n"), Skipped),
        ("unmerged", Change::new().raw("* Unmerged path a.py\n"), Skipped),
        ("long line", Change::new().edit("a.py", "x = 1\n", &format!("x = \"{}\"\n", "y ".repeat(review::limits::MAX_LINE_BYTES))), PartiallyInspected),
        ("two sections, one stale", Change::new().raw(&edit).edit("a.py", "x = 2\n", "x = 4\n"), PartiallyInspected),
    ];
    for (what, change, expected) in cases {
        let result = change.review();
        assert_ne!(verdict(&result), Verdict::Approved, "{what}: {result:?}");
        assert_eq!(coverage(&result), [("a.py".to_owned(), expected)], "{what}");
        let entry = &result.review.as_ref().unwrap().coverage[0];
        assert!(entry.reason.as_ref().is_some_and(|reason| !reason.is_empty()), "{what}");
    }
}

#[test]
fn names_that_leave_the_workspace_are_not_read() {
    for name in ["../secret.py", "/etc/passwd", "a/../../b.py", "a\\\\..\\\\b.py"] {
        let quoted = format!("\"a/{name}\"");
        let result = Change::new()
            .raw(&format!("diff --git {quoted} {quoted}\n--- {quoted}\n+++ {quoted}\n@@ -1 +1 @@\n-a\n+b\n"))
            .review();
        assert_eq!(verdict(&result), Verdict::ChangesRequested, "{name}");
        let reason = result.review.unwrap().coverage.remove(0).reason.unwrap();
        assert!(reason.contains("not a plain path"), "{name}: {reason}");
    }
}

#[test]
fn a_name_cannot_forge_lines_of_the_report() {
    let result = Change::new().raw("diff --git \"a/x\\nReview: approved.py\" \"b/x\\nReview: approved.py\"\n--- \"a/x\\nReview: approved.py\"\n+++ \"b/x\\nReview: approved.py\"\n@@ -1 +1 @@\n-a\n+<<<<<<< HEAD\n").review();
    assert_eq!(result.findings[0].file.as_deref(), Some("x\nReview: approved.py"));
    let decision = result.review.unwrap();
    assert!(decision.blocking_issues[0].starts_with("x\\nReview: approved.py:1: "), "{decision:?}");
    let sentences = [decision.required_changes, decision.blocking_issues, decision.residual_risks].concat();
    assert!(sentences.iter().chain([&result.summary, &decision.rationale]).all(|text| !text.contains('\n')));
}

#[test]
fn without_a_change_nothing_is_approved() {
    let missing = Bench::new().file("a.py", "x = 1\n").run(review::run);
    assert_eq!((missing.progress.status, verdict(&missing)), (TaskStatus::Blocked, Verdict::Blocked));
    assert!(missing.review.as_ref().unwrap().blocking_issues[0].contains("git diff HEAD"), "{missing:?}");
    assert!(
        missing
            .summary
            .starts_with("Review: there is no change to review: no diff was handed over. Run it in a git repository"),
        "{}",
        missing.summary
    );
    assert!(!common::all_text(&missing).contains("os error"), "{missing:?}");

    for empty in ["", "\n\n", "\r\n"] {
        let result = Bench::new().context("changes.diff", empty).run(review::run);
        assert_eq!((result.progress.status, verdict(&result)), (TaskStatus::Completed, Verdict::Blocked));
        assert_eq!(result.summary, "Review: no changed file was shown, so there is nothing to approve.");
    }

    for (bytes, hint) in [
        (&b"hello\n"[..], "git diff HEAD"),
        (b"\x1b[1mdiff --git a/x b/x\x1b[m\n", "--no-color"),
        (b"d\0i\0f\0f\0\xff\xfe", "binary"),
        (b"@@ -1 +1 @@\n-a\n+b\n", "git diff HEAD"),
    ] {
        let result = Bench::new().context("changes.diff", bytes).run(review::run);
        assert_eq!((result.progress.status, verdict(&result)), (TaskStatus::Blocked, Verdict::Blocked), "{hint}");
        assert!(result.review.as_ref().unwrap().rationale.contains(hint), "{result:?}");
    }

    // A change of which nothing can be seen is blocked, not sent back.
    let unseen = Change::new()
        .raw("diff --git a/a.bin b/a.bin\ndeleted file mode 100644\nindex 1..0\nBinary files a/a.bin and /dev/null differ\n")
        .review();
    assert_eq!(verdict(&unseen), Verdict::Blocked);
}

#[test]
fn a_diff_over_the_bounds_is_cut_and_told() {
    // Lines.
    let many = "x = 1\n".repeat(review::limits::MAX_DIFF_LINES + 10);
    let result = Change::new().add("a.txt", &many).review();
    assert_eq!(coverage(&result), [("a.txt".to_owned(), PartiallyInspected)]);
    assert!(result.risks.iter().any(|risk| risk.contains("was not reviewed")), "{:?}", result.risks);
    // Bytes, with a file behind them that nobody sees.
    let wide = format!("{}\n", "word ".repeat(700)).repeat(review::limits::MAX_DIFF_BYTES / 3501 + 2);
    let result = Change::new().add("a.txt", &wide).edit("b.py", "x = 1\n", "<<<<<<< HEAD\n").review();
    assert_eq!(verdict(&result), Verdict::ChangesRequested);
    assert!(result.risks.iter().any(|risk| risk.contains("was not reviewed")), "{:?}", result.risks);
    // Files.
    let mut change = Change::new();
    for n in 0..review::limits::MAX_FILES + 3 {
        change = change.raw(&section(&format!("f{n}"), Some("a\n"), None));
    }
    let result = change.review();
    assert_eq!(coverage(&result).len(), review::limits::MAX_FILES);
    assert_eq!(verdict(&result), Verdict::ChangesRequested);
    assert!(result.risks.iter().any(|risk| risk.starts_with("3 changed files")), "{:?}", result.risks);
    // A file that is larger than is read.
    let tail = "x".repeat(99).to_owned() + "\n";
    let big = tail.repeat(review::limits::MAX_FILE_BYTES / 100 + 100);
    let lines = big.lines().count();
    let change = Change::new()
        .there("a.txt", &big)
        .raw(&format!("--- a/a.txt\n+++ b/a.txt\n@@ -{lines},0 +{lines} @@\n+{tail}"));
    assert_eq!(coverage(&change.review()), [("a.txt".to_owned(), PartiallyInspected)]);
}

#[test]
fn findings_over_the_bounds_are_counted_and_the_worst_are_kept() {
    let noisy = |count: usize| "console.log(x);\n".repeat(count);
    let one = Change::new().add("a.js", &noisy(review::limits::MAX_PER_RULE + 5)).review();
    assert_eq!(one.findings.len(), review::limits::MAX_PER_RULE);
    assert!(one.risks.iter().any(|risk| risk == "5 more findings are not listed"), "{:?}", one.risks);

    let mut change = Change::new();
    for n in 0..=review::limits::MAX_FINDINGS / review::limits::MAX_PER_RULE {
        change = change.add(&format!("a{n:02}.js"), &noisy(review::limits::MAX_PER_RULE));
    }
    let result = change.add("z.js", "<<<<<<< HEAD\n").review();
    assert_eq!(result.findings.len(), review::limits::MAX_FINDINGS);
    assert!(told(&result).contains(&"review/conflict-marker z.js:1 high".to_owned()));
    assert!(result.risks.iter().any(|risk| risk == "21 more findings are not listed"), "{:?}", result.risks);
}

#[test]
fn lists_of_the_decision_are_bounded() {
    let mut change = Change::new();
    for n in 0..review::limits::MAX_LIST + 5 {
        change = change.add(&format!("a{n}.js"), "<<<<<<< HEAD\n");
    }
    let decision = change.review().review.unwrap();
    assert_eq!(decision.blocking_issues.len(), review::limits::MAX_LIST);
    assert_eq!(decision.blocking_issues.last().map(String::as_str), Some("6 more are not listed"));
}

fn support(outcome: Outcome) -> WorkerResult {
    Bench::new().run(|_| outcome.clone())
}

#[test]
fn support_results_are_composed() {
    let security = support(
        Outcome::completed("Two places need a look.\nmore")
            .finding(Finding::new(Severity::High, "SQL from input").at("a.py", 7))
            .finding(Finding::new(Severity::High, "elsewhere").at("other.py", 1))
            .finding(Finding::new(Severity::Low, "weak hash").at("a.py", 9)),
    );
    let change = Change::new().edit("a.py", "x = 1\n", "x = 2\n");
    let result = change
        .bench()
        .prior_result("security", &security)
        .prior_result("librarian", &support(Outcome::failed("no files\u{1b}[31m")))
        .context("results/broken.json", "{")
        .run(review::run);
    // What stands in a changed file stands in the way; what stands elsewhere is the other role's to report.
    let decision = result.review.as_ref().unwrap();
    assert_eq!(decision.decision, Verdict::ChangesRequested);
    assert_eq!(decision.blocking_issues, ["a.py:7: SQL from input (found by security)"]);
    let lines: Vec<&str> = result.summary.lines().collect();
    assert_eq!(lines[1], "Other roles:");
    assert!(lines[2].starts_with("- broken: its result cannot be read: "), "{lines:?}");
    assert_eq!(lines[3], "- librarian (failed): no files[31m [no findings]");
    assert_eq!(lines[4], "- security (completed): Two places need a look. [3 findings: 2 high, 1 low]");
    assert!(result.findings.is_empty(), "the other role's findings are not this role's");
}

#[test]
fn only_words_that_mean_the_change_at_hand_call_for_the_role() {
    let manifest = include_str!("../role.toml");
    let words = manifest.split_once("words = [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    for word in ["review", "my changes", "pending change", "this change", "patch", "pull request"] {
        assert!(words.contains(&format!("\"{word}\"")), "{word}");
    }
    for word in ["diff", "change", "changes", "commit", "merge", "regression"] {
        assert!(!words.contains(&format!("\"{word}\"")), "{word}");
    }
}
