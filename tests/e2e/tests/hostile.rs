//! Roles that do everything wrong: each ends in one typed outcome, within its limits, and the next call works.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::time::Duration;

use brain_packet::TaskStatus;
use brain_sandbox::{CancelToken, Ended, LimitName, Limits, Role, Run, STACK_BYTES};
use brain_tests::Bench;
use brain_tests::components::{RESULT, component, core, module, role};

const PAGE: u64 = 64 << 10;

/// What must be true of every call that was stopped at a limit.
#[track_caller]
fn assert_killed(run: &Run, limit: LimitName, value: u64) {
    let Ended::Killed { limit: hit, value: bound, .. } = &run.ended else {
        panic!("{}: {}", run.ended.code(), run.ended.message());
    };
    assert_eq!((*hit, *bound), (limit, value));
    assert_eq!(run.ended.code(), limit.code());
    assert_failed(run);
    let message = run.ended.message();
    assert!(message.contains(&limit.to_string()) && message.contains(&limit.show(value)), "{message}");
    let remedy = run.ended.remedy().unwrap();
    assert!(limit.key().is_none_or(|key| remedy.contains(key)), "{remedy}");
}

/// What must be true of every call that did not return.
#[track_caller]
fn assert_failed(run: &Run) {
    assert_eq!(run.result.progress.status, TaskStatus::Failed);
    assert_eq!(run.receipt.ended, run.ended.code());
    assert_eq!(run.receipt.ended_message.as_deref(), Some(run.ended.message().as_str()));
    assert!(run.result.summary.contains(&run.ended.message()), "{}", run.result.summary);
    assert!(run.receipt.peak_memory_bytes <= run.receipt.limits.memory_bytes);
    for backtrace in ["wasm backtrace", "stack backtrace", "<unknown>!", "note: run with"] {
        assert!(!run.result.summary.contains(backtrace), "{}", run.result.summary);
    }
}

/// The role is as good as new in its next call.
#[track_caller]
fn assert_usable(bench: &Bench, role: &Role) {
    let run = bench.run(role, "say still here");
    assert_eq!(run.ended, Ended::Returned);
    assert!(run.result.summary.contains("still here"), "{}", run.result.summary);
}

#[test]
fn spinning_ends_at_the_deadline() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.deadline_ms = 100;
    let run = bench.run(&role, "spin");
    assert_killed(&run, LimitName::Deadline, 100);
    assert!(run.receipt.wall_ms >= 100.0 && run.receipt.cpu_ms > 0.0, "{:?}", run.receipt);
    bench.limits = Limits::default();
    assert_usable(&bench, &role);
}

#[test]
fn sleeping_in_a_host_call_ends_at_the_deadline() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.deadline_ms = 100;
    for goal in ["sleep 3600000", "sleep 18446744073709551615"] {
        let run = bench.run(&role, goal);
        assert_killed(&run, LimitName::Deadline, 100);
    }
    bench.limits = Limits::default();
    let run = bench.run(&role, "sleep 5");
    assert!(run.result.summary.contains("ok 5 ms"), "{}", run.result.summary);
    assert_usable(&bench, &role);
}

#[test]
fn a_deadline_of_nothing_is_an_outcome_too() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.deadline_ms = 0;
    assert_killed(&bench.run(&role, "env"), LimitName::Deadline, 0);
}

#[test]
fn cancelling_ends_a_spinning_and_a_sleeping_role() {
    let (bench, role) = Bench::misbehaving();
    // Whenever it comes: before the call, while it is set up, in the middle of it.
    for (goal, after_ms) in [("spin", 0), ("spin", 1), ("spin", 30), ("sleep 3600000", 0), ("sleep 3600000", 30)] {
        let cancel = CancelToken::default();
        let run = std::thread::scope(|threads| {
            let call = threads.spawn(|| bench.run_until(&role, goal, cancel.clone()));
            std::thread::sleep(Duration::from_millis(after_ms));
            cancel.cancel();
            call.join().unwrap()
        });
        assert_eq!((run.ended.clone(), run.ended.code()), (Ended::Cancelled, "sandbox.cancelled"));
        assert_failed(&run);
    }
    let late = CancelToken::default();
    late.cancel();
    assert_eq!(bench.run_until(&role, "env", late).ended, Ended::Cancelled);
    assert_usable(&bench, &role);
}

#[test]
fn allocating_without_end_ends_at_the_memory_limit() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.memory_bytes = 16 << 20;
    let run = bench.run(&role, "alloc");
    assert_killed(&run, LimitName::Memory, 16 << 20);
    assert!(run.receipt.peak_memory_bytes > 8 << 20, "it got far less than it may have: {:?}", run.receipt);
    let Ended::Killed { reached: Some(reached), .. } = run.ended else { panic!("{:?}", run.ended) };
    assert!(reached > 16 << 20);
    assert_usable(&bench, &role);
}

#[test]
fn a_memory_that_is_too_large_from_the_start_is_the_memory_limit() {
    let mut bench = Bench::new();
    bench.limits.memory_bytes = 4 << 20;
    let large = bench.load_component(&role(&module("", "(memory (export \"memory\") 65)", "(i32.const 1024)")));
    let run = bench.run(&large, "anything");
    assert_killed(&run, LimitName::Memory, 4 << 20);
    assert_eq!(run.receipt.peak_memory_bytes, 0);
    let exact = bench.load_component(&role(&module("", "(memory (export \"memory\") 64)", "(i32.const 1024)")));
    let run = bench.run(&exact, "anything");
    assert_eq!(run.ended, Ended::Returned);
    assert_eq!(run.receipt.peak_memory_bytes, 4 << 20);
}

#[test]
fn two_memories_share_one_limit() {
    let mut bench = Bench::new();
    bench.limits.memory_bytes = 64 * PAGE;
    let grows = r"(loop $more
            (br_if $more (i32.ne (memory.grow $a (i32.const 1)) (i32.const -1)))
            (br_if $more (i32.ne (memory.grow $b (i32.const 1)) (i32.const -1))))
        unreachable";
    let memories = r#"(memory $a (export "memory") 1) (memory $b 1)"#;
    let run = bench.run(&bench.load_component(&role(&module("", memories, grows))), "anything");
    assert_killed(&run, LimitName::Memory, 64 * PAGE);
    assert_eq!(run.receipt.peak_memory_bytes, 64 * PAGE, "all of it, and not a page more");
}

#[test]
fn a_table_bomb_ends_at_the_table_limit() {
    let mut bench = Bench::new();
    bench.limits.table_elements = 1_000;
    let grows = r"(loop $more (br_if $more (i32.ne (table.grow $t (ref.null func) (i32.const 100)) (i32.const -1))))
        unreachable";
    let run = bench.run(&bench.load_component(&role(&core("(table $t 0 funcref)", grows))), "anything");
    assert_killed(&run, LimitName::TableElements, 1_000);
    let run = bench.run(&bench.load_component(&role(&core("(table 1001 funcref)", "(i32.const 1024)"))), "anything");
    assert_killed(&run, LimitName::TableElements, 1_000);
}

#[test]
fn recursion_ends_at_the_stack_limit() {
    let (bench, role) = Bench::misbehaving();
    assert_killed(&bench.run(&role, "recurse"), LimitName::Stack, STACK_BYTES as u64);
    // Frames in linear memory run out of it; that is a fault like any other of a guest.
    let run = bench.run(&role, "recurse-memory");
    assert_eq!(run.ended.code(), "sandbox.trap");
    assert!(run.ended.message().contains("out of bounds memory access"), "{}", run.ended.message());
    assert_failed(&run);
    assert_usable(&bench, &role);
}

#[test]
fn a_flood_of_output_is_kept_in_part_and_is_no_fault() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.output_bytes = 4 << 10;
    for (goal, stdout, stderr) in [("flood-stdout 2000000", 2_000_000, 0), ("flood-stderr 2000000", 0, 2_000_000)] {
        let run = bench.run(&role, goal);
        assert_eq!(run.ended, Ended::Returned);
        assert_eq!(run.result.progress.status, TaskStatus::Completed);
        assert_eq!((run.receipt.output.stdout_bytes, run.receipt.output.stderr_bytes), (stdout, stderr));
        assert_eq!(run.receipt.output.dropped_bytes, 2_000_000 - (2 << 10));
    }
    assert_usable(&bench, &role);
}

#[test]
fn a_result_that_is_too_large_is_the_result_limit() {
    let (bench, role) = Bench::misbehaving();
    for goal in ["return-100mb", "return-many 5000000", "return-findings 100000"] {
        let run = bench.run(&role, goal);
        assert_killed(&run, LimitName::Result, bench.limits.result_bytes);
    }
    assert_usable(&bench, &role);
}

#[test]
fn a_result_just_over_its_limit_says_by_how_much() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.result_bytes = 1 << 10;
    let run = bench.run(&role, "return-many 100");
    assert_killed(&run, LimitName::Result, 1 << 10);
    assert!(matches!(run.ended, Ended::Killed { reached: Some(2_400..3_000), .. }), "{:?}", run.ended);
    assert_eq!(bench.run(&role, "return-many 40").ended, Ended::Returned);
}

#[test]
fn a_result_outside_of_memory_or_not_utf8_breaks_the_contract() {
    let bench = Bench::new();
    let outside = "(i32.const 65532)".to_owned();
    let unaligned = "(i32.const 1025)".to_owned();
    let no_such_status = format!("(i32.store8 (i32.const {}) (i32.const 77)) (i32.const {RESULT})", RESULT + 32);
    let summary = RESULT + 88;
    let not_utf8 = format!(
        "(i32.store8 (i32.const 512) (i32.const 255)) (i32.store (i32.const {summary}) (i32.const 512))
         (i32.store offset=4 (i32.const {summary}) (i32.const 1)) (i32.const {RESULT})"
    );
    let past_the_end = format!(
        "(i32.store (i32.const {summary}) (i32.const 65000)) (i32.store offset=4 (i32.const {summary}) (i32.const 5000))
         (i32.const {RESULT})"
    );
    for body in [outside, unaligned, no_such_status, not_utf8, past_the_end] {
        let run = bench.run(&bench.load_component(&role(&core("", &body))), "anything");
        assert_eq!(run.ended.code(), "sandbox.trap", "{body}");
        assert!(run.ended.message().contains("it broke the contract"), "{body}: {}", run.ended.message());
        assert_failed(&run);
    }
}

#[test]
fn traps_panics_and_exits_say_what_happened() {
    let (bench, role) = Bench::misbehaving();
    for (goal, words) in [
        ("trap", ["unreachable instruction", ""]),
        ("panic the disk is on fire", ["the disk is on fire", "misbehave/src/lib.rs:"]),
        ("exit 0", ["it exited instead of returning", ""]),
        ("exit 3", ["it exited with a failure status", ""]),
    ] {
        let run = bench.run(&role, goal);
        assert_eq!(run.ended.code(), "sandbox.trap", "{goal}");
        let message = run.ended.message();
        assert!(words.iter().all(|word| message.contains(word)), "{goal}: {message}");
        assert!(run.ended.remedy().unwrap().contains("author"));
        assert_failed(&run);
        assert_usable(&bench, &role);
    }
}

#[test]
fn a_start_function_that_never_ends_ends_at_the_deadline() {
    let mut bench = Bench::new();
    bench.limits.deadline_ms = 50;
    let items = "(func $for_ever (loop $l (br $l)))";
    let core = core(items, "(i32.const 1024)").replacen("(memory", "(start $for_ever) (memory", 1);
    let run = bench.run(&bench.load_component(&role(&core)), "anything");
    assert_killed(&run, LimitName::Deadline, 50);
}

#[test]
fn waiting_for_what_never_comes_ends_at_the_deadline() {
    const IO: &str = "package wasi:io@0.2.0;
        interface poll {
            resource pollable { ready: func() -> bool; block: func(); }
            poll: func(in: list<borrow<pollable>>) -> list<u32>;
        }";
    const CLOCKS: &str = "package wasi:clocks@0.2.0;
        interface monotonic-clock { use wasi:io/poll@0.2.0.{pollable}; subscribe-duration: func(when: u64) -> pollable; }";
    const WORLD: &str = "package test:test;
        world waits { include brain:role/role@1.0.0; import wasi:clocks/monotonic-clock@0.2.0; import wasi:io/poll@0.2.0; }";
    let imports = r#"
        (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $timer (param i64) (result i32)))
        (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
        (import "wasi:io/poll@0.2.0" "poll" (func $poll (param i32 i32 i32)))"#;
    let block = "(call $block (call $timer (i64.const -1))) (i32.const 1024)";
    let poll = "(i32.store (i32.const 512) (call $timer (i64.const -1)))
        (call $poll (i32.const 512) (i32.const 1) (i32.const 600)) (i32.const 1024)";
    let none = "(call $poll (i32.const 512) (i32.const 0) (i32.const 600)) (i32.const 1024)";
    let mut bench = Bench::new();
    bench.limits.deadline_ms = 50;
    let packages = [brain_sandbox::CONTRACT_WIT, IO, CLOCKS, WORLD];
    for body in [block, poll] {
        let waits = bench.load_component(&component(&core(imports, body), &packages, "test:test/waits"));
        assert_killed(&bench.run(&waits, "anything"), LimitName::Deadline, 50);
    }
    // Nothing to wait for at all is a fault of the guest, not a wait for ever.
    let waits = bench.load_component(&component(&core(imports, none), &packages, "test:test/waits"));
    assert_eq!(bench.run(&waits, "anything").ended.code(), "sandbox.trap");
}

#[test]
fn an_endless_supply_of_pollables_ends_at_the_handle_limit() {
    const IO: &str = "package wasi:io@0.2.0; interface poll { resource pollable { block: func(); } }";
    const CLOCKS: &str = "package wasi:clocks@0.2.0;
        interface monotonic-clock { use wasi:io/poll@0.2.0.{pollable}; subscribe-duration: func(when: u64) -> pollable; }";
    const WORLD: &str = "package test:test;
        world hoards { include brain:role/role@1.0.0; import wasi:clocks/monotonic-clock@0.2.0; }";
    let imports =
        r#"(import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $timer (param i64) (result i32)))"#;
    let body = "(loop $more (drop (call $timer (i64.const 1))) (br $more)) unreachable";
    let mut bench = Bench::new();
    bench.limits.open_handles = 20;
    let packages = [brain_sandbox::CONTRACT_WIT, IO, CLOCKS, WORLD];
    let hoards = bench.load_component(&component(&core(imports, body), &packages, "test:test/hoards"));
    assert_killed(&bench.run(&hoards, "anything"), LimitName::OpenHandles, 20);
}

#[test]
fn there_is_nothing_around_a_role() {
    let (bench, role) = Bench::misbehaving();
    for (goal, expected) in [
        ("env", "vars=[] args=[] cwd=ok /"),
        ("stdin", "ok 0 bytes"),
        ("clock", "wall=Ok(0)"),
        ("threads", "error Unsupported"),
        ("connect 127.0.0.1:80", "error PermissionDenied"),
        ("resolve localhost", "error PermissionDenied"),
        ("model", "complete=Err(ModelError::Denied("),
        ("tools", "offered=[] call=Err(ToolError::Denied("),
    ] {
        let run = bench.run(&role, goal);
        assert_eq!(run.ended, Ended::Returned, "{goal}: {}", run.ended.message());
        assert!(run.result.summary.contains(expected), "{goal}: {}", run.result.summary);
    }
}

#[test]
fn calls_to_what_is_not_granted_are_counted() {
    let (bench, role) = Bench::misbehaving();
    let model = bench.run(&role, "model").receipt.stubbed_calls;
    assert_eq!(model.get("brain:role/model#complete"), Some(&1));
    let network = bench.run(&role, "resolve localhost").receipt.stubbed_calls;
    let called = |name: &str| network.keys().any(|function| function.contains(name));
    assert!(called("#resolve-addresses") && called("#instance-network"), "{network:?}");
    assert_eq!(bench.run(&role, "env").receipt.stubbed_calls.len(), 0);
}

#[test]
fn an_echo_of_nonsense_is_repaired_and_noted() {
    let (bench, role) = Bench::misbehaving();
    let run = bench.run(&role, "echo");
    assert_eq!(run.ended, Ended::Returned);
    assert_eq!(run.result.handoff_id, bench.handoff("echo").id, "Brain's ids are the truth");
    assert_eq!(run.result.task_id, bench.handoff("echo").task.id);
    assert!(run.result.notes.len() > 5, "{:?}", run.result.notes);
    assert_eq!(run.result.progress.percent, None);
    for goal in ["pending", "running"] {
        assert_eq!(bench.run(&role, goal).result.progress.status, TaskStatus::Failed, "{goal} is no answer");
    }
}

#[test]
fn calls_of_one_role_side_by_side_do_not_see_each_other() {
    let (bench, role) = Bench::misbehaving();
    std::thread::scope(|threads| {
        let calls: Vec<_> = (0..8)
            .map(|n| {
                let (bench, role) = (&bench, role.clone());
                let goal = ["alloc".to_owned(), format!("say {n}"), "trap".into(), "panic x".into()][n % 4].clone();
                threads.spawn(move || (goal.clone(), bench.run(&role, &goal)))
            })
            .collect();
        for call in calls {
            let (goal, run) = call.join().unwrap();
            let expected = match goal.split(' ').next() {
                Some("alloc") => "sandbox.limit.memory",
                Some("say") => "returned",
                _ => "sandbox.trap",
            };
            assert_eq!(run.ended.code(), expected, "{goal}");
            assert!(expected != "returned" || run.result.summary.starts_with(&goal), "{}", run.result.summary);
        }
    });
}
