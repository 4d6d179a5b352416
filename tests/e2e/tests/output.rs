//! What a role prints: a private log with the head and the tail, and a count of the rest.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use brain_sandbox::{Call, Ended};
use brain_tests::Bench;

fn log(bench: &Bench) -> String {
    fs::read_to_string(bench.private.path().join("log")).unwrap()
}

#[test]
fn the_log_keeps_head_and_tail_and_counts_the_rest() {
    let mut bench = Bench::new();
    let role = bench.load("misbehave");
    bench.limits.output_bytes = 4 << 10;
    // Lines of 64 bytes, numbered: 1 KiB of head and 1 KiB of tail are 16 lines each.
    let run = bench.run(&role, "flood-stdout 64000");
    assert_eq!(run.receipt.output.dropped_bytes, 64_000 - (2 << 10));
    let log = log(&bench);
    let line = |n: usize| format!("{n:063}\n");
    assert!(log.starts_with(&format!("--- stdout: 64000 bytes\n{}", line(0))), "{log}");
    assert!(log.contains(&line(15)) && !log.contains(&line(16)));
    assert!(!log.contains(&line(983)) && log.contains(&line(984)));
    assert!(log.ends_with(&format!("{}\n", line(999))), "{log}");
    assert!(log.contains("--- stdout: 61952 bytes dropped here\n"));
    assert!(log.len() < 3 << 10, "the log is bounded: {}", log.len());
}

#[test]
fn one_stream_does_not_push_out_the_other() {
    let mut bench = Bench::new();
    let role = bench.load("misbehave");
    bench.limits.output_bytes = 1 << 10;
    let run = bench.run(&role, "say hello");
    assert_eq!((run.receipt.output.stdout_bytes, run.receipt.output.stderr_bytes), (6, 6));
    assert_eq!(run.receipt.output.dropped_bytes, 0);
    assert_eq!(log(&bench), "--- stdout: 6 bytes\nhello\n\n--- stderr: 6 bytes\nhello\n\n");
}

#[test]
fn the_log_is_private_and_holds_the_backtrace_that_the_message_does_not() {
    let bench = Bench::new();
    let role = bench.load("misbehave");
    let run = bench.run(&role, "panic it hurts");
    assert!(!run.ended.message().contains("backtrace") && !run.result.summary.contains("wasm function"));
    let log = log(&bench);
    assert!(log.contains("--- trap: ") && log.contains("misbehave"), "{log}");
    assert!(log.contains("it hurts"), "{log}");
    let mode = fs::metadata(bench.private.path().join("log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_silent_role_leaves_no_log_and_one_without_a_log_runs() {
    let bench = Bench::new();
    let role = bench.load("misbehave");
    bench.run(&role, "env");
    assert!(!bench.private.path().join("log").exists());
    let handoff = bench.handoff("say hello");
    let run = role.run(Call { files: bench.files(), ..Call::new(&handoff) });
    assert_eq!((run.ended, run.receipt.output.stdout_bytes), (Ended::Returned, 6));
}

#[test]
fn a_log_that_cannot_be_written_is_said_and_stops_nothing() {
    let bench = Bench::new();
    let role = bench.load("misbehave");
    let handoff = bench.handoff("say hello");
    let log = Some(bench.private.path().join("no/such/folder/log"));
    let run = role.run(Call { files: bench.files(), log, ..Call::new(&handoff) });
    assert_eq!(run.ended, Ended::Returned);
    assert!(run.receipt.output.log_error.is_some());
}

#[test]
fn output_that_is_no_text_is_kept_as_it_is() {
    let bench = Bench::new();
    let role = bench.load("misbehave");
    bench.run(&role, "say \u{1b}[31mred\u{1b}[0m é");
    assert!(log(&bench).contains("\u{1b}[31mred"), "the log holds the bytes; who shows them makes them safe");
}
