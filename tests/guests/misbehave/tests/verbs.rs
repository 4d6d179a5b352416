//! The verbs that end by themselves and touch nothing of this machine, run natively.

use brain_role::testing::Bench;
use brain_role::{TaskStatus, WorkerResult};

fn told(goal: &str) -> WorkerResult {
    Bench::new().goal(goal).run(misbehave::run)
}

#[test]
fn every_verb_of_the_table_is_known_and_every_known_verb_is_in_the_table() {
    let source = include_str!("../src/lib.rs");
    let table: String = source
        .lines()
        .filter(|line| line.starts_with("//! | `"))
        .map(|line| line.split(" | ").nth(1).unwrap_or(""))
        .collect();
    let mut named: Vec<_> =
        table.split('`').skip(1).step_by(2).map(|call| call.split(' ').next().unwrap_or("")).collect();
    let mut known: Vec<_> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" => "))
        .map(|(verb, _)| verb)
        .collect();
    named.sort_unstable();
    known.sort_unstable();
    assert!(known.len() > 40, "{known:?}");
    assert_eq!(named, known);
}

#[test]
fn an_unknown_verb_fails_and_names_itself() {
    let result = told("dance the night away");
    assert_eq!((result.progress.status, result.summary.as_str()), (TaskStatus::Failed, "no verb \"dance\""));
    assert_eq!(told("").progress.status, TaskStatus::Failed);
}

#[test]
fn errors_are_reported_by_kind_and_number() {
    assert_eq!(told("open /no such/file").summary, "open /no such/file: error NotFound os=2");
    assert_eq!(told("list /no such/dir").summary, "list /no such/dir: error NotFound os=2");
}

#[test]
fn an_empty_answer_of_the_imports_is_told() {
    assert!(told("model").summary.contains("Denied"), "{}", told("model").summary);
    assert!(
        told("tools").summary.starts_with("tools: offered=[] call=Err(ToolError::Denied"),
        "{}",
        told("tools").summary
    );
}

#[test]
fn wrong_replies_are_wrong() {
    let echo = told("echo");
    assert_eq!(echo.handoff_id, "not-the-handoff");
    assert!(echo.progress.percent.is_some_and(f64::is_nan));
    assert_eq!(told("pending").progress.status, TaskStatus::Pending);
    assert_eq!(told("running").progress.status, TaskStatus::Running);
    assert_eq!(told("return-many 7").risks.len(), 7);
    assert_eq!(told("return-findings 7").findings.len(), 7);
    let blocked = told("block by me");
    assert_eq!((blocked.progress.status, blocked.summary.as_str()), (TaskStatus::Blocked, "by me"));
}

#[test]
#[should_panic(expected = "at the disco")]
fn a_panic_panics() {
    told("panic at the disco");
}
