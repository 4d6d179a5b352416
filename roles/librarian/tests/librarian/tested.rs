//! A goal that asks about tests is told which tests there are.

use crate::support::{ask, files, label};
use brain_role::testing::Bench;

fn line(summary: &str) -> &str {
    summary.lines().find(|line| line.starts_with("Tests:")).unwrap_or("")
}

#[test]
fn tests_that_refer_to_the_definition_are_named() {
    let result = ask("where is the session journal written and is it tested?");
    assert!(
        line(&result.summary).contains("crates/journal/tests/append.rs:5 (appends_one_line_per_record, on `Journal`)"),
        "{}",
        result.summary
    );
    assert!(files(&result).contains(&"crates/journal/tests/append.rs"));
    assert!(label(&result, "crates/journal/tests/append.rs").contains("tests `Journal` (:5), `Journal::append` (:6)"));
}

#[test]
fn tests_in_the_file_itself_and_in_other_languages_count() {
    let result = ask("is a torn last line of the journal left out, and is that tested?");
    assert!(
        line(&result.summary).contains("crates/journal/src/read.rs:12 (tests::a_torn_line_is_left_out, on `records`)"),
        "{}",
        result.summary
    );
    let result = ask("is the backoff of the gateway tested?");
    assert!(
        line(&result.summary).contains("gateway/retry_test.go:6 (TestDelayDoubles, on `Backoff`)"),
        "{}",
        result.summary
    );
    let result = ask("is the monthly report tested?");
    assert!(
        line(&result.summary).contains("tools/test_report.py:5 (test_an_empty_month_has_no_rows, on `MonthlyReport`)"),
        "{}",
        result.summary
    );
    let result = ask("are there tests for the session cookie?");
    assert!(
        line(&result.summary)
            .contains("web/src/session.test.ts:5 (session::is empty before anybody signs in, on `SessionStore`)"),
        "{}",
        result.summary
    );
}

#[test]
fn what_has_no_test_is_said_to_have_none() {
    let result = ask("is parse_config tested?");
    assert_eq!(
        line(&result.summary),
        "Tests: no test calls it by name (`parse_config`); 5 files with tests were searched."
    );
    let result =
        Bench::new().file("src/a.rs", "pub fn frobnicate() {}\n").goal("is frobnicate tested?").run(librarian::run);
    assert_eq!(
        line(&result.summary),
        "Tests: no test calls it by name (`frobnicate`); there are no tests in what was read."
    );
}

#[test]
fn a_goal_that_does_not_ask_gets_no_line_on_tests() {
    assert_eq!(line(&ask("where is the session journal written?").summary), "");
}

#[test]
fn a_common_name_counts_only_beside_its_type() {
    let bench = Bench::new()
        .file("src/store.rs", "/// Keeps parcels.\npub struct ParcelStore;\nimpl ParcelStore {\n    /// Opens the parcel store.\n    pub fn open() {}\n}\n")
        .file("tests/other.rs", "#[test]\nfn opens_a_door() { Door::open(); }\n");
    let result = bench.goal("how is the parcel store opened, and is it tested?").run(librarian::run);
    assert!(line(&result.summary).starts_with("Tests: no test calls"), "{}", result.summary);
}
