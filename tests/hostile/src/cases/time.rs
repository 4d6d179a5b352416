//! Time: what has no end, in the guest, in the host, and on the way between them.

use brain_tests::components::{RESULT, core, module, role};
use brain_tests::probe::open;
use brain_tests::probe::script::{FREE, Op, WORKSPACE};

use crate::case::{Case, DEADLINE_MS, Guest};
use crate::wat::wasi;

const TIMER: &str =
    r#"(import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $timer (param i64) (result i32)))"#;
const AT: &str =
    r#"(import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-instant" (func $at (param i64) (result i32)))"#;
const BLOCK: &str = r#"(import "wasi:io/poll@0.2.12" "[method]pollable.block" (func $block (param i32)))"#;
const READY: &str = r#"(import "wasi:io/poll@0.2.12" "[method]pollable.ready" (func $ready (param i32) (result i32)))"#;
const POLL: &str = r#"(import "wasi:io/poll@0.2.12" "poll" (func $poll (param i32 i32 i32)))"#;
const NOW: &str = r#"(import "wasi:clocks/monotonic-clock@0.2.12" "now" (func $now (result i64)))"#;
const STDOUT: &str = r#"
    (import "wasi:cli/stdout@0.2.12" "get-stdout" (func $stdout (result i32)))
    (import "wasi:io/streams@0.2.12" "[method]output-stream.write" (func $write (param i32 i32 i32 i32)))
    (import "wasi:io/streams@0.2.12" "[method]output-stream.blocking-write-zeroes-and-flush"
        (func $zeroes (param i32 i64 i32)))"#;
const RANDOM: &str = r#"(import "wasi:random/random@0.2.12" "get-random-bytes" (func $random (param i64 i32)))"#;

/// A role whose body does `what` over and over.
fn for_ever(items: &str, what: &str) -> String {
    core(items, &format!("(local $n i32) (local $h i32) (loop $l {what} (br $l)) unreachable"))
}

/// The same with a memory of 2,048 pages, 128 MiB, and a second one.
fn bulk(items: &str, what: &str) -> Vec<u8> {
    let memories = r#"(memory $a (export "memory") 2000) (memory $b 2000)"#;
    role(&module(items, memories, &format!("(loop $l {what} (br $l)) unreachable")))
}

fn repeat(ops: Vec<Op>) -> Vec<Op> {
    vec![Op::Repeat { times: u64::MAX, until_error: false, ops }]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = in_the_guest();
    cases.extend(in_bulk());
    cases.extend(in_the_host());
    cases.extend(in_files());
    cases.extend(cpu());
    cases.push(
        Case::new("no-time", "is called with a deadline that has passed", Guest::Says("env"), "sandbox.limit.deadline")
            .limits(|limits| limits.deadline_ms = 0),
    );
    cases
}

fn cpu() -> Vec<Case> {
    const CPU: &str = "sandbox.limit.cpu";
    vec![
        Case::new("cpu-spin", "computes more than it may, with time left", Guest::Says("spin"), CPU)
            .limits(|limits| limits.cpu_ms = DEADLINE_MS),
        Case::new(
            "cpu-of-the-host",
            "has the host compute more than the role may",
            Guest::Probes(|| repeat(vec![Op::StatAt { fd: WORKSPACE, path: "file".into(), follow: true }])),
            CPU,
        )
        .limits(|limits| limits.cpu_ms = DEADLINE_MS),
        Case::new("cpu-none", "may not compute at all", Guest::Says("spin"), CPU).limits(|limits| limits.cpu_ms = 0),
        Case::new("cpu-asleep", "sleeps longer than it may compute", Guest::Says("sleep 100"), "returned")
            .limits(|limits| limits.cpu_ms = DEADLINE_MS),
    ]
}

fn in_the_guest() -> Vec<Case> {
    vec![
        Case::endless("spin", "computes without end, in Rust", Guest::Says("spin")),
        Case::endless("loop", "a loop of one branch", Guest::Made(|| role(&core("", "(loop $l (br $l)) unreachable")))),
        Case::endless(
            "loop-by-calls",
            "functions that call one another in tail position",
            Guest::Made(|| {
                role(&core("(func $a (return_call $b)) (func $b (return_call $a))", "(call $a) (i32.const 1024)"))
            }),
        ),
        Case::endless(
            "loop-in-start",
            "a start function that never ends",
            Guest::Made(|| {
                let module = core("(func $start (loop $l (br $l)))", "(i32.const 1024)");
                role(&module.replacen("(memory", "(start $start) (memory", 1))
            }),
        ),
        Case::endless(
            "loop-in-realloc",
            "an allocator that never returns, while the handoff is handed over",
            Guest::Made(|| role(&with_realloc("(loop $l (br $l)) unreachable"))),
        ),
        Case::endless(
            "loop-in-post-return",
            "tidies up without end after its result",
            Guest::Made(|| role(&with_post_return("", "(loop $l (br $l))"))),
        ),
        Case::endless(
            "loop-at-depth",
            "calls itself a thousand times, and computes without end there",
            Guest::Made(|| {
                let items = "(func $f (param i32) (if (local.get 0)
                    (then (call $f (i32.sub (local.get 0) (i32.const 1)))) (else (loop $l (br $l)))))";
                role(&core(items, "(call $f (i32.const 1000)) (i32.const 1024)"))
            }),
        ),
        Case::endless(
            "loop-of-refused-growth",
            "asks for memory that it does not get, over and over",
            Guest::Made(|| role(&for_ever("", "(drop (memory.grow (i32.const 65535)))"))),
        )
        .also(|seen| match seen.run().receipt.peak_memory_bytes {
            0..=65536 => Ok(()),
            peak => Err(format!("{peak} bytes were granted")),
        }),
        Case::endless(
            "loop-of-division",
            "divides without end",
            Guest::Made(|| role(&for_ever("", "(local.set $n (i32.div_u (i32.const 7) (i32.const 3)))"))),
        ),
    ]
}

fn in_bulk() -> Vec<Case> {
    vec![
        Case::endless(
            "bulk-fill",
            "fills 125 MiB over and over by one instruction",
            Guest::Made(|| bulk("", "(memory.fill $a (i32.const 0) (i32.const 1) (i32.const 131072000))")),
        ),
        Case::endless(
            "bulk-copy",
            "copies 125 MiB onto itself over and over by one instruction",
            Guest::Made(|| bulk("", "(memory.copy $a $a (i32.const 1) (i32.const 0) (i32.const 131071999))")),
        ),
        Case::endless(
            "bulk-ping-pong",
            "copies 125 MiB between two memories, there and back",
            Guest::Made(|| {
                bulk(
                    "",
                    "(memory.copy $a $b (i32.const 0) (i32.const 0) (i32.const 131072000))
                     (memory.copy $b $a (i32.const 0) (i32.const 0) (i32.const 131072000))",
                )
            }),
        ),
        Case::endless(
            "bulk-table",
            "fills and copies a table of 100,000 elements over and over",
            Guest::Made(|| {
                role(&for_ever(
                    "(table $t 90000 funcref)",
                    "(table.fill $t (i32.const 0) (ref.null func) (i32.const 90000))
                     (table.copy $t $t (i32.const 1) (i32.const 0) (i32.const 89999))",
                ))
            }),
        ),
        Case::endless(
            "bulk-init",
            "initialises memory from a segment of 1 MiB over and over",
            Guest::Made(|| {
                let data = format!("(data $d \"{}\")", "x".repeat(1 << 20));
                let memory = r#"(memory (export "memory") 32)"#;
                let body =
                    "(loop $l (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1048576)) (br $l)) unreachable";
                role(&module(&data, memory, body))
            }),
        ),
        Case::new(
            "bulk-fill-4-gib",
            "one memory.fill of 4 GiB",
            Guest::Made(|| bulk("", "(memory.fill $a (i32.const 0) (i32.const 1) (i32.const -1))")),
            "sandbox.trap",
        ),
        Case::new(
            "bulk-copy-4-gib",
            "one memory.copy of 4 GiB from one memory to another",
            Guest::Made(|| bulk("", "(memory.copy $a $b (i32.const 0) (i32.const 0) (i32.const -1))")),
            "sandbox.trap",
        ),
        Case::new(
            "bulk-table-4-gib",
            "one table.fill of 4,294,967,295 elements",
            Guest::Made(|| {
                role(&for_ever("(table $t 10 funcref)", "(table.fill $t (i32.const 0) (ref.null func) (i32.const -1))"))
            }),
            "sandbox.trap",
        ),
    ]
}

fn in_the_host() -> Vec<Case> {
    vec![
        Case::endless("sleep", "sleeps for an hour", Guest::Says("sleep 3600000")),
        Case::endless(
            "sleep-for-ever",
            "sleeps as long as a number can say",
            Guest::Says("sleep 18446744073709551615"),
        ),
        Case::endless(
            "block-on-a-timer",
            "blocks on a timer of 2^64 - 1 nanoseconds",
            Guest::Made(|| {
                let body = "(call $block (call $timer (i64.const -1))) (i32.const 1024)";
                wasi(&["io/poll", "clocks/monotonic-clock"], &core(&format!("{TIMER}{BLOCK}"), body))
            }),
        ),
        Case::endless(
            "block-on-an-instant",
            "blocks on the last instant there is",
            Guest::Made(|| {
                let body = "(call $block (call $at (i64.const -1))) (i32.const 1024)";
                wasi(&["io/poll", "clocks/monotonic-clock"], &core(&format!("{AT}{BLOCK}"), body))
            }),
        ),
        Case::endless(
            "poll-many",
            "polls 400 timers that never fire, in one call",
            Guest::Made(|| {
                let body = "(local $n i32)
                    (loop $l
                        (i32.store (i32.add (i32.const 4096) (i32.mul (local.get $n) (i32.const 4))) (call $timer (i64.const -1)))
                        (local.set $n (i32.add (local.get $n) (i32.const 1)))
                        (br_if $l (i32.lt_u (local.get $n) (i32.const 400))))
                    (call $poll (i32.const 4096) (i32.const 400) (i32.const 600))
                    (i32.const 1024)";
                wasi(&["io/poll", "clocks/monotonic-clock"], &core(&format!("{TIMER}{POLL}"), body))
            }),
        ),
        Case::new(
            "poll-one-handle-often",
            "polls a list that names one timer 100,000 times, over and over",
            Guest::Made(|| {
                let body = "(local $n i32) (local $t i32)
                    (drop (memory.grow (i32.const 16)))
                    (local.set $t (call $timer (i64.const -1)))
                    (loop $l
                        (i32.store (i32.add (i32.const 65536) (i32.mul (local.get $n) (i32.const 4))) (local.get $t))
                        (local.set $n (i32.add (local.get $n) (i32.const 1)))
                        (br_if $l (i32.lt_u (local.get $n) (i32.const 100000))))
                    (loop $l (call $poll (i32.const 65536) (i32.const 100000) (i32.const 600)) (br $l))
                    (i32.const 1024)";
                wasi(&["io/poll", "clocks/monotonic-clock"], &core(&format!("{TIMER}{POLL}"), body))
            }),
            "sandbox.limit.open-handles",
        ),
        Case::endless(
            "poll-and-drop",
            "makes a timer that has fired, waits for it, drops it, over and over",
            Guest::Made(|| {
                let items = format!(
                    r#"{TIMER}{BLOCK}(import "wasi:io/poll@0.2.12" "[resource-drop]pollable" (func $drop (param i32)))"#
                );
                let what = "(local.set $h (call $timer (i64.const 0))) (call $block (local.get $h)) (call $drop (local.get $h))";
                wasi(&["io/poll", "clocks/monotonic-clock"], &for_ever(&items, what))
            }),
        ),
        Case::endless(
            "ask-whether-ready",
            "asks over and over whether a timer has fired that never does",
            Guest::Made(|| {
                let body = "(local $t i32) (local.set $t (call $timer (i64.const -1)))
                    (loop $l (drop (call $ready (local.get $t))) (br $l)) unreachable";
                wasi(&["io/poll", "clocks/monotonic-clock"], &core(&format!("{TIMER}{READY}"), body))
            }),
        ),
        Case::endless(
            "ask-the-time",
            "asks for the time over and over",
            Guest::Made(|| wasi(&["clocks/monotonic-clock"], &for_ever(NOW, "(drop (call $now))"))),
        ),
        Case::endless(
            "print",
            "prints without end, 64 KiB at a time",
            Guest::Made(|| {
                let what = "(if (i32.eqz (local.get $h)) (then (local.set $h (call $stdout))))
                    (call $write (local.get $h) (i32.const 0) (i32.const 65536) (i32.const 600))";
                wasi(&["io/streams", "cli/stdout"], &for_ever(STDOUT, what))
            }),
        )
        .also(|seen| match seen.run().receipt.output.stdout_bytes {
            0 => Err("nothing was printed".into()),
            _ => Ok(()),
        }),
        Case::endless(
            "print-zeroes",
            "has the host print zeroes without end",
            Guest::Made(|| {
                let what = "(if (i32.eqz (local.get $h)) (then (local.set $h (call $stdout))))
                    (call $zeroes (local.get $h) (i64.const 4096) (i32.const 600))";
                wasi(&["io/streams", "cli/stdout"], &for_ever(STDOUT, what))
            }),
        ),
        Case::endless(
            "call-what-is-denied",
            "calls an interface that no role is granted, over and over",
            Guest::Made(|| {
                let items = r#"(import "wasi:http/ask@0.2.12" "ask" (func $ask (param i32 i32 i32)))"#;
                wasi(&["http/ask"], &for_ever(items, "(call $ask (i32.const 0) (i32.const 10) (i32.const 600))"))
            }),
        )
        .also(|seen| match seen.run().receipt.stubbed_calls.get("wasi:http/ask@0.2.12#ask") {
            Some(1..) => Ok(()),
            _ => Err(format!("its calls were not counted: {:?}", seen.run().receipt.stubbed_calls)),
        }),
        Case::endless(
            "hand-over-much-to-what-is-denied",
            "hands 1 MiB to a denied interface, over and over",
            Guest::Made(|| {
                let items = r#"(import "wasi:http/ask@0.2.12" "ask" (func $ask (param i32 i32 i32)))"#;
                let what = "(drop (memory.grow (i32.const 1)))
                    (call $ask (i32.const 65536) (i32.const 1048576) (i32.const 600))";
                wasi(
                    &["http/ask"],
                    &for_ever(items, what).replace("(memory (export \"memory\") 1)", "(memory (export \"memory\") 32)"),
                )
            }),
        ),
        Case::endless(
            "random-without-end",
            "asks for 64 KiB of randomness over and over",
            Guest::Made(|| {
                let what = "(global.set $heap (i32.const 65536)) (call $random (i64.const 65536) (i32.const 600))";
                let text = for_ever(RANDOM, what);
                wasi(
                    &["random/random"],
                    &text.replace("(memory (export \"memory\") 1)", "(memory (export \"memory\") 4)"),
                )
            }),
        )
        .or("sandbox.limit.random"),
    ]
}

fn in_files() -> Vec<Case> {
    vec![
        Case::endless(
            "stat-without-end",
            "looks at one file over and over",
            Guest::Probes(|| repeat(vec![Op::StatAt { fd: WORKSPACE, path: "file".into(), follow: true }])),
        ),
        Case::endless(
            "open-without-end",
            "opens and closes one file over and over",
            Guest::Probes(|| repeat(vec![open(WORKSPACE, "file", FREE)])),
        ),
        Case::endless(
            "walk-without-end",
            "walks a path of 2,000 steps over and over",
            Guest::Probes(|| {
                let path = format!("{}file", "./".repeat(2_000));
                repeat(vec![Op::StatAt { fd: WORKSPACE, path, follow: true }])
            }),
        ),
        Case::endless(
            "deny-without-end",
            "asks for paths that are not granted, each another one",
            Guest::Probes(|| repeat(vec![Op::StatAt { fd: WORKSPACE, path: "../{n}".into(), follow: true }])),
        )
        .also(|seen| match seen.run().receipt.files.denied.len() {
            1..=1_000 => Ok(()),
            n => Err(format!("{n} denials are listed")),
        }),
        Case::endless(
            "read-a-gigabyte-without-end",
            "reads a sparse file of 1 GiB over and over",
            Guest::Probes(|| {
                vec![
                    open(WORKSPACE, "large", FREE),
                    Op::Repeat {
                        times: u64::MAX,
                        until_error: false,
                        ops: vec![Op::Read { fd: FREE, length: u64::MAX, offset: 1 << 20 }],
                    },
                ]
            }),
        )
        .set_up(|bench, _| sparse(&bench.workspace.path().join("large"))),
        Case::endless(
            "skip-without-end",
            "skips through a sparse file of 1 GiB over and over",
            Guest::Probes(|| {
                vec![
                    open(WORKSPACE, "large", FREE),
                    Op::Repeat {
                        times: u64::MAX,
                        until_error: false,
                        ops: vec![
                            Op::ReadViaStream { fd: FREE, offset: 0, into: 0 },
                            Op::StreamSkip { stream: 0, length: u64::MAX },
                        ],
                    },
                ]
            }),
        )
        .set_up(|bench, _| sparse(&bench.workspace.path().join("large"))),
        Case::endless(
            "list-without-end",
            "lists a folder of 2,000 files over and over",
            Guest::Probes(|| {
                repeat(vec![open(WORKSPACE, "many", FREE), Op::ReadDirectory { fd: FREE, most: u64::MAX }])
            }),
        )
        .set_up(|bench, _| {
            let many = bench.workspace.path().join("many");
            std::fs::create_dir(&many).unwrap();
            (0..2_000).for_each(|n| drop(std::fs::File::create(many.join(n.to_string())).unwrap()));
        }),
    ]
}

fn sparse(path: &std::path::Path) {
    std::fs::File::create(path).unwrap().set_len(1 << 30).unwrap();
}

/// A role whose `cabi_realloc` is `body`. Its result is the one that is all zeros.
pub(super) fn with_realloc(body: &str) -> String {
    let text = core("", "(i32.const 1024)");
    let (head, tail) = text.split_once("(func (export \"cabi_realloc\")").unwrap();
    let (_, run) = tail.split_once("(func (export \"brain:role/worker@1.0.0#run\")").unwrap();
    format!(
        "{head}(func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32) {body})
        (func (export \"brain:role/worker@1.0.0#run\"){run}"
    )
}

/// A role that is called once more when its result was read.
pub(super) fn with_post_return(items: &str, body: &str) -> String {
    let items = format!("{items} (func (export \"cabi_post_brain:role/worker@1.0.0#run\") (param i32) {body})");
    core(&items, &format!("(i32.const {RESULT})"))
}
