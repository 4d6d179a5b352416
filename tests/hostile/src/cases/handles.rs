//! Handles: floods of them, and those that are not the guest's to use.

use brain_tests::components::core;
use brain_tests::probe::open;
use brain_tests::probe::script::{Answer, FREE, Op, Slot, Value, WORKSPACE};

use crate::case::{Case, Guest, Seen};
use crate::wat::wasi;

const LIMIT: &str = "sandbox.limit.open-handles";
const TRAP: &str = "sandbox.trap";

const IMPORTS: [&str; 5] =
    ["io/poll", "io/streams", "clocks/monotonic-clock", "filesystem/types", "filesystem/preopens"];
const ITEMS: &str = r#"
    (import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $timer (param i64) (result i32)))
    (import "wasi:io/poll@0.2.12" "[method]pollable.block" (func $block (param i32)))
    (import "wasi:io/poll@0.2.12" "[resource-drop]pollable" (func $drop (param i32)))
    (import "wasi:io/poll@0.2.12" "poll" (func $poll (param i32 i32 i32)))
    (import "wasi:filesystem/preopens@0.2.12" "get-directories" (func $dirs (param i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.get-type" (func $type (param i32 i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.read-directory" (func $list (param i32 i32)))
    (import "wasi:filesystem/types@0.2.12" "[resource-drop]descriptor" (func $close (param i32)))
    (import "wasi:io/streams@0.2.12" "[method]input-stream.read" (func $read (param i32 i64 i32)))
    (import "wasi:io/streams@0.2.12" "[resource-drop]input-stream" (func $end (param i32)))"#;

fn made(body: &str) -> Vec<u8> {
    wasi(&IMPORTS, &core(ITEMS, &format!("(local $h i32) {body} (i32.const 1024)")))
}

/// Opens by `op` over and over and keeps what it opens, which a script does by never naming a slot twice.
fn hoard(op: fn(Slot) -> Op) -> Vec<Op> {
    (0..1_200).map(|n| op(FREE + 10 + n)).collect()
}

fn hoarded(seen: &Seen<'_>) -> Result<(), String> {
    let limit = seen.bench.limits.open_handles as usize;
    let held = seen.answers.iter().filter(|answer| matches!(answer, Answer::Ok(_))).count();
    let refused = seen.answers.iter().any(|answer| answer.word() == "insufficient-memory");
    if refused && held <= limit { Ok(()) } else { Err(format!("{held} of {limit} are held, refused: {refused}")) }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = floods();
    cases.extend(misuse());
    cases
}

fn floods() -> Vec<Case> {
    vec![
        Case::new(
            "hoard-files",
            "opens a folder over and over and keeps every handle, in Rust",
            Guest::Says("handles 5000"),
            "returned",
        )
        .also(|seen| {
            let held: u64 =
                seen.run().result.summary.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(u64::MAX);
            if held <= 1_024 { Ok(()) } else { Err(format!("it held {held}")) }
        }),
        Case::new(
            "hoard-timers",
            "makes timers without end",
            Guest::Made(|| made("(loop $l (drop (call $timer (i64.const -1))) (br $l))")),
            LIMIT,
        ),
        Case::new(
            "hoard-listings",
            "opens listings of a folder and keeps every one",
            Guest::Made(|| {
                made(
                    "(call $dirs (i32.const 600)) (local.set $h (i32.load (i32.load (i32.const 600))))
                    (loop $l (call $list (local.get $h) (i32.const 700)) (br_if $l (i32.eqz (i32.load8_u (i32.const 700)))))",
                )
            }),
            "returned",
        ),
        Case::new(
            "hoard-preopens",
            "asks for the preopened folders without end",
            Guest::Made(|| made("(loop $l (global.set $heap (i32.const 32768)) (call $dirs (i32.const 600)) (br $l))")),
            LIMIT,
        ),
        Case::new(
            "hoard-streams",
            "opens streams of one file and keeps every one",
            Guest::Probes(|| {
                let mut ops = vec![open(WORKSPACE, "file", FREE)];
                ops.extend(hoard(|into| Op::ReadViaStream { fd: FREE, offset: 0, into }));
                ops
            }),
            "returned",
        )
        .also(hoarded),
        Case::new(
            "hoard-descriptors",
            "opens one file and keeps every handle",
            Guest::Probes(|| hoard(|into| open(WORKSPACE, "file", into))),
            "returned",
        )
        .also(hoarded),
        Case::new(
            "hoard-nameless",
            "makes files, removes their names and keeps them open: 1 MiB each",
            Guest::Says("nameless 200 1048576"),
            "returned",
        ),
        Case::new(
            "few-handles",
            "opens two files where one handle is left",
            Guest::Probes(|| {
                vec![Op::Repeat {
                    times: 100,
                    until_error: true,
                    ops: vec![Op::ReadViaStream { fd: WORKSPACE, offset: 0, into: 1 }, open(WORKSPACE, "file", FREE)],
                }]
            }),
            "returned",
        )
        .also(|seen| match seen.answers.len() {
            1 => Ok(()),
            n => Err(format!("{n} answers")),
        }),
    ]
}

fn misuse() -> Vec<Case> {
    vec![
        Case::new(
            "use-after-drop",
            "waits for a timer that it dropped",
            Guest::Made(|| {
                made(
                    "(local.set $h (call $timer (i64.const 0))) (call $drop (local.get $h)) (call $block (local.get $h))",
                )
            }),
            TRAP,
        ),
        Case::new(
            "double-drop",
            "drops a timer twice",
            Guest::Made(|| {
                made(
                    "(local.set $h (call $timer (i64.const 0))) (call $drop (local.get $h)) (call $drop (local.get $h))",
                )
            }),
            TRAP,
        ),
        Case::new(
            "close-twice",
            "closes a folder twice",
            Guest::Made(|| {
                made(
                    "(call $dirs (i32.const 600)) (local.set $h (i32.load (i32.load (i32.const 600)))) (call $close (local.get $h)) (call $close (local.get $h))",
                )
            }),
            TRAP,
        ),
        Case::new("forged-zero", "waits for handle 0", Guest::Made(|| made("(call $block (i32.const 0))")), TRAP),
        Case::new(
            "forged-small",
            "waits for handle 1, which it never got",
            Guest::Made(|| made("(call $block (i32.const 1))")),
            TRAP,
        ),
        Case::new(
            "forged-large",
            "waits for handle 4,294,967,295",
            Guest::Made(|| made("(call $block (i32.const -1))")),
            TRAP,
        ),
        Case::new(
            "forged-every",
            "asks every number from 0 up for its type: the first that is no folder ends it",
            Guest::Made(|| {
                made(
                    "(loop $l (call $type (local.get $h) (i32.const 700)) (local.set $h (i32.add (local.get $h) (i32.const 1))) (br $l))",
                )
            }),
            TRAP,
        ),
        Case::new(
            "wrong-type",
            "uses a timer as a file",
            Guest::Made(|| made("(call $type (call $timer (i64.const 0)) (i32.const 700))")),
            TRAP,
        ),
        Case::new(
            "wrong-type-reverse",
            "waits for a folder",
            Guest::Made(|| made("(call $dirs (i32.const 600)) (call $block (i32.load (i32.load (i32.const 600))))")),
            TRAP,
        ),
        Case::new(
            "wrong-type-drop",
            "drops a folder as a stream",
            Guest::Made(|| made("(call $dirs (i32.const 600)) (call $end (i32.load (i32.load (i32.const 600))))")),
            TRAP,
        ),
        Case::new(
            "wrong-type-read",
            "reads a timer as a stream",
            Guest::Made(|| made("(call $read (call $timer (i64.const 0)) (i64.const 8) (i32.const 700))")),
            TRAP,
        ),
        Case::new(
            "forged-in-list",
            "polls a list with a handle that it never got",
            Guest::Made(|| {
                made(
                    "(i32.store (i32.const 512) (i32.const 77)) (call $poll (i32.const 512) (i32.const 1) (i32.const 600))",
                )
            }),
            TRAP,
        ),
        Case::new(
            "poll-nothing",
            "polls an empty list",
            Guest::Made(|| made("(call $poll (i32.const 512) (i32.const 0) (i32.const 600))")),
            TRAP,
        ),
        Case::new(
            "poll-beyond-memory",
            "polls a list beyond its memory",
            Guest::Made(|| made("(call $poll (i32.const 65532) (i32.const 4096) (i32.const 600))")),
            TRAP,
        ),
        Case::new(
            "poll-2-gib",
            "polls a list of 536,870,911 handles",
            Guest::Made(|| made("(call $poll (i32.const 0) (i32.const 536870911) (i32.const 600))")),
            TRAP,
        )
        .or("sandbox.limit.host-call"),
        Case::new(
            "answer-beyond-memory",
            "has the host answer to an address beyond its memory",
            Guest::Made(|| made("(call $dirs (i32.const -4))")),
            TRAP,
        ),
        Case::new(
            "answer-unaligned",
            "has the host answer to an odd address",
            Guest::Made(|| made("(call $dirs (i32.const 601))")),
            TRAP,
        ),
        Case::new(
            "stream-before-pollable",
            "drops a stream of which it holds a pollable",
            Guest::Made(|| {
                let items = r#"
                (import "wasi:cli/stdin@0.2.12" "get-stdin" (func $stdin (result i32)))
                (import "wasi:io/streams@0.2.12" "[method]input-stream.subscribe" (func $subscribe (param i32) (result i32)))
                (import "wasi:io/streams@0.2.12" "[resource-drop]input-stream" (func $end (param i32)))"#;
                let body = "(local $h i32) (local.set $h (call $stdin)) (drop (call $subscribe (local.get $h))) (call $end (local.get $h)) (i32.const 1024)";
                wasi(&["io/streams", "io/poll", "cli/stdin"], &core(items, body))
            }),
            TRAP,
        ),
        Case::new(
            "drop-while-listing",
            "closes the folder that it lists, and goes on listing",
            Guest::Probes(|| {
                vec![
                    open(WORKSPACE, ".", FREE),
                    open(WORKSPACE, "file", FREE + 1),
                    Op::ReadViaStream { fd: FREE + 1, offset: 0, into: 1 },
                    Op::Drop { fd: FREE + 1 },
                    Op::StreamRead { stream: 1, length: 100, whole: true },
                ]
            }),
            "returned",
        )
        .also(|seen| match seen.answers.last() {
            Some(Answer::Ok(Value::Data { bytes, end: true })) if bytes.0 == b"seven.." => Ok(()),
            other => Err(format!("{other:?}")),
        }),
    ]
}
