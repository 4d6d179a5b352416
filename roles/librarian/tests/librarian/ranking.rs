//! The right files come first, with the place and the reason.

use crate::support::{ask, files, label, ledger};
use brain_role::testing::Bench;
use brain_role::{ContextRef, ContextRefKind, TaskStatus};

/// A question, the file that answers it, and the place in it that the first line of the summary names.
const QUESTIONS: &[(&str, &str, &str)] = &[
    (
        "where is the session journal written?",
        "crates/journal/src/lib.rs",
        "Journal::append (method, crates/journal/src/lib.rs:19)",
    ),
    (
        "How is a torn last line of the journal treated?",
        "crates/journal/src/read.rs",
        "records (function, crates/journal/src/read.rs:4)",
    ),
    ("how long does it wait before a failed request is retried", "gateway/retry.go", "gateway/retry.go:"),
    ("where are monthly reports generated?", "tools/report.py", "MonthlyReport (class, tools/report.py:6)"),
    (
        "where are account balances stored in the database?",
        "db/migrations/001_accounts.sql",
        "accounts (table, db/migrations/001_accounts.sql:2)",
    ),
    (
        "which component shows the upload progress?",
        "web/src/api/upload.tsx",
        "UploadProgress (function, web/src/api/upload.tsx:4)",
    ),
    ("where are users signed in?", "web/src/session.ts", "signIn (function, web/src/session.ts:9)"),
    (
        "what does `Journal::append` do?",
        "crates/journal/src/lib.rs",
        "Journal::append (method, crates/journal/src/lib.rs:19)",
    ),
    ("parse_config", "src/config.rs", "parse_config (function, src/config.rs:10)"),
    ("what is in tools/report.py", "tools/report.py", "tools/report.py"),
    ("what does the documentation say about the format of the journal", "docs/journal.md", "docs/journal.md"),
];

#[test]
fn each_question_is_answered_by_its_file_first() {
    for (goal, file, place) in QUESTIONS {
        let result = ask(goal);
        assert_eq!(result.progress.status, TaskStatus::Completed);
        assert_eq!(files(&result).first(), Some(file), "{goal}\n{}", result.summary);
        assert!(result.summary.lines().next().is_some_and(|line| line.contains(place)), "{goal}\n{}", result.summary);
        assert!(!label(&result, file).is_empty(), "{goal}");
        assert!((4..=11).contains(&result.summary.lines().count()), "{goal}\n{}", result.summary);
    }
}

#[test]
fn a_reason_says_where_each_word_is() {
    let result = ask("where is the session journal written?");
    let reason = label(&result, "crates/journal/src/lib.rs");
    for part in ["`Journal::append` (:19)", "\"journal\" in path", "\"written\", \"session\" in comments"] {
        assert!(reason.contains(part), "{reason}");
    }
    // A word that only means nearly the same is not passed off as the one that was asked for.
    assert!(label(&result, "web/src/session.ts").contains("related to \"written\" in names"));
}

#[test]
fn what_matches_nothing_is_said_and_nothing_is_made_up() {
    let result = ask("where is the quantum teleporter calibrated?");
    assert_eq!(result.progress.status, TaskStatus::Completed);
    assert_eq!(files(&result), Vec::<&str>::new());
    assert!(
        result
            .summary
            .starts_with("Nothing in the 22 files matches the goal, neither by path, name, comment nor text: \"quantum\", \"teleporter\", \"calibrated\""),
        "{}",
        result.summary
    );
    assert_eq!(result.next_questions.len(), 1);
}

#[test]
fn a_match_of_one_word_in_many_is_called_weak() {
    let result = ask("quantum teleporter balance");
    assert!(result.summary.starts_with("Only a weak match"), "{}", result.summary);
    assert!(
        result.summary.contains("Nowhere in the files that were read: \"quantum\", \"teleporter\"."),
        "{}",
        result.summary
    );
}

#[test]
fn a_goal_without_content_gets_an_overview() {
    for goal in ["", "what is this project?", "explain the code please"] {
        let result = ask(goal);
        assert_eq!(files(&result).first(), Some(&"README.md"), "{goal}");
        assert!(
            result.summary.contains("Rust 5 (63 lines), Go 3 (30 lines), Python 2 (29 lines)"),
            "{}",
            result.summary
        );
        assert!(result.summary.contains("- src/main.rs:5: main"), "{}", result.summary);
    }
}

#[test]
fn entry_points_and_builds_are_answered_from_manifests() {
    let result = ask("what are the entry points of the program?");
    let found = files(&result);
    for file in ["Cargo.toml", "gateway/main.go", "src/main.rs", "tools/report.py"] {
        assert!(found.contains(&file), "{file} in {found:?}");
    }
    let result = ask("how is it built and released?");
    let found = files(&result);
    for file in ["Makefile", "Dockerfile", ".github/workflows/ci.yml", "web/package.json"] {
        assert!(found.contains(&file), "{file} in {found:?}");
    }
}

#[test]
fn a_file_that_the_handoff_refers_to_is_preferred() {
    let goal = "where is the session kept?";
    let without = ask(goal);
    let asked = Bench::new()
        .workspace_dir(ledger())
        .goal(goal)
        .reference(ContextRef::new(ContextRefKind::File, "/workspace/src/config.rs"));
    let with = asked.run(librarian::run);
    let place = |found: Vec<&str>| found.iter().position(|file| *file == "src/config.rs").unwrap_or(usize::MAX);
    assert!(place(files(&with)) < place(files(&without)), "{:?} {:?}", files(&with), files(&without));
    assert!(label(&with, "src/config.rs").contains("the handoff refers to it"));
}

#[test]
fn the_same_tree_and_goal_give_the_same_answer() {
    let first = ask("where is the session journal written and is it tested?");
    for _ in 0..3 {
        assert_eq!(ask("where is the session journal written and is it tested?"), first);
    }
}

#[test]
fn an_empty_tree_is_said_to_be_empty() {
    let result = Bench::new().goal("where is the journal?").run(librarian::run);
    assert_eq!(result.progress.status, TaskStatus::Completed);
    assert!(result.summary.contains("no files"), "{}", result.summary);
}
