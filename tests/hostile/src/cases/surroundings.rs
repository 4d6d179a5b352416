//! What is around a role: no environment, no network, no time, no terminal, and no way out but its result.

use brain_tests::components::core;

use crate::case::{Case, Guest, Seen};
use crate::wat::wasi;

const TRAP: &str = "sandbox.trap";
const RANDOM: &str = "sandbox.limit.random";
/// What a guest asks for has to go into its memory: that limit may be the first that it meets.
const MEMORY: &str = "sandbox.limit.memory";

fn says(seen: &Seen<'_>, words: &str) -> Result<(), String> {
    let summary = &seen.run().result.summary;
    if summary.contains(words) { Ok(()) } else { Err(format!("no `{words}` in: {summary}")) }
}

/// A role that traps unless `body` leaves a result's address.
fn cli(imports: &[&str], items: &str, body: &str) -> Vec<u8> {
    wasi(imports, &core(items, body))
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = nothing();
    cases.extend(clocks_and_random());
    cases.extend(ends());
    cases
}

fn nothing() -> Vec<Case> {
    vec![
        Case::new("environment", "reads its environment, arguments and current folder", Guest::Says("env"), "returned")
            .also(|seen| says(seen, "vars=[] args=[] cwd=ok /")),
        Case::new(
            "environment-raw",
            "counts the variables and arguments that it was given, and dies of any",
            Guest::Made(|| {
                cli(
                    &["cli/environment"],
                    r#"(import "wasi:cli/environment@0.2.12" "get-environment" (func $env (param i32)))
                    (import "wasi:cli/environment@0.2.12" "get-arguments" (func $args (param i32)))"#,
                    "(call $env (i32.const 600)) (call $args (i32.const 700))
                    (if (i32.or (i32.load (i32.const 604)) (i32.load (i32.const 704))) (then unreachable)) (i32.const 1024)",
                )
            }),
            "returned",
        ),
        Case::new("standard-input", "reads standard input to its end", Guest::Says("stdin"), "returned").also(|seen| says(seen, "ok 0 bytes")),
        Case::new(
            "terminal",
            "asks for a terminal, and dies of one",
            Guest::Made(|| {
                cli(
                    &["cli/terminal-stdout"],
                    r#"(import "wasi:cli/terminal-stdout@0.2.12" "get-terminal-stdout" (func $terminal (param i32)))"#,
                    "(call $terminal (i32.const 600)) (if (i32.load8_u (i32.const 600)) (then unreachable)) (i32.const 1024)",
                )
            }),
            "returned",
        ),
        Case::new("connect", "opens a TCP connection to this machine", Guest::Says("connect 127.0.0.1:80"), "returned")
            .also(|seen| says(seen, "error PermissionDenied")),
        Case::new("connect-metadata", "opens a TCP connection to a cloud's metadata address", Guest::Says("connect 169.254.169.254:80"), "returned")
            .also(|seen| says(seen, "error PermissionDenied")),
        Case::new("resolve", "looks a host name up", Guest::Says("resolve localhost"), "returned").also(|seen| says(seen, "error PermissionDenied")),
        Case::new("threads", "spawns a thread", Guest::Says("threads"), "returned").also(|seen| says(seen, "error Unsupported")),
        Case::new("model", "asks a model that it was not granted", Guest::Says("model"), "returned").also(|seen| says(seen, "Denied")),
        Case::new("tools", "calls a tool that it was not granted", Guest::Says("tools"), "returned").also(|seen| says(seen, "Denied")),
        Case::new(
            "http",
            "makes header fields and asks a URL, by interfaces that are stubs",
            Guest::Made(|| {
                cli(
                    &["http/types", "http/ask"],
                    r#"(import "wasi:http/types@0.2.12" "[constructor]fields" (func $new (result i32)))
                    (import "wasi:http/types@0.2.12" "[method]fields.append" (func $append (param i32 i32 i32 i32 i32) (result i32)))
                    (import "wasi:http/ask@0.2.12" "ask" (func $ask (param i32 i32 i32)))"#,
                    "(drop (call $append (call $new) (i32.const 0) (i32.const 8) (i32.const 0) (i32.const 8)))
                    (call $ask (i32.const 0) (i32.const 8) (i32.const 600))
                    (if (i32.eqz (i32.load8_u (i32.const 600))) (then unreachable)) (i32.const 1024)",
                )
            }),
            "returned",
        )
        .also(|seen| match seen.run().receipt.stubbed_calls.values().sum::<u64>() {
            3 => Ok(()),
            n => Err(format!("{n} calls are counted")),
        }),
        Case::new(
            "http-handles",
            "makes resources of a stub without end",
            Guest::Made(|| {
                cli(
                    &["http/types"],
                    r#"(import "wasi:http/types@0.2.12" "[constructor]fields" (func $new (result i32)))"#,
                    "(loop $l (drop (call $new)) (br $l)) unreachable",
                )
            }),
            "sandbox.limit.deadline",
        )
        .or(TRAP)
        .or("sandbox.limit.open-handles")
        .limits(|limits| limits.deadline_ms = 500),
        Case::new("output-on-both", "prints 16 MiB to standard output, in Rust", Guest::Says("flood-stdout 16777216"), "returned").also(|seen| {
            let output = &seen.run().receipt.output;
            if output.stdout_bytes == 16 << 20 && output.dropped_bytes >= (16 << 20) - (256 << 10) { Ok(()) } else { Err(format!("{output:?}")) }
        }),
        Case::new("output-on-error", "prints 16 MiB to standard error, in Rust", Guest::Says("flood-stderr 16777216"), "returned").also(|seen| {
            match seen.run().receipt.output.stderr_bytes {
                16_777_216 => Ok(()),
                n => Err(format!("{n} bytes are counted")),
            }
        }),
        Case::new(
            "output-in-turn",
            "prints 1,000 times 16 KiB to both streams in turn",
            Guest::Made(|| {
                cli(
                    &["io/streams", "cli/stdout", "cli/stderr"],
                    r#"(import "wasi:cli/stdout@0.2.12" "get-stdout" (func $stdout (result i32)))
                    (import "wasi:cli/stderr@0.2.12" "get-stderr" (func $stderr (result i32)))
                    (import "wasi:io/streams@0.2.12" "[method]output-stream.write" (func $write (param i32 i32 i32 i32)))"#,
                    "(local $o i32) (local $e i32) (local $n i32) (local.set $o (call $stdout)) (local.set $e (call $stderr))
                    (loop $l
                        (call $write (local.get $o) (i32.const 0) (i32.const 16384) (i32.const 600))
                        (call $write (local.get $e) (i32.const 0) (i32.const 16384) (i32.const 600))
                        (local.set $n (i32.add (local.get $n) (i32.const 1)))
                        (br_if $l (i32.lt_u (local.get $n) (i32.const 1000))))
                    (i32.const 1024)",
                )
            }),
            "returned",
        )
        .also(|seen| {
            let output = &seen.run().receipt.output;
            if (output.stdout_bytes, output.stderr_bytes) == (16_384_000, 16_384_000) { Ok(()) } else { Err(format!("{output:?}")) }
        }),
    ]
}

fn clocks_and_random() -> Vec<Case> {
    vec![
        Case::new("wall-clock", "reads the time of day", Guest::Says("clock"), "returned").also(|seen| says(seen, "wall=Ok(0)")),
        Case::new("random-over", "asks for more randomness than a role gets, in Rust", Guest::Says("random 16777217"), RANDOM),
        Case::new("random-2-63", "asks for 2^63 random bytes", Guest::Made(|| random_of("-9223372036854775808")), RANDOM).or(MEMORY),
        Case::new("random-all", "asks for 2^64 - 1 random bytes", Guest::Made(|| random_of("-1")), RANDOM).or(MEMORY),
        Case::new(
            "random-insecure-all",
            "asks for 2^64 - 1 bytes of the other randomness",
            Guest::Made(|| {
                let items = r#"(import "wasi:random/insecure@0.2.12" "get-insecure-random-bytes" (func $random (param i64 i32)))"#;
                cli(&["random/insecure"], items, "(call $random (i64.const -1) (i32.const 600)) (i32.const 1024)")
            }),
            RANDOM,
        )
        .or(MEMORY),
        Case::new(
            "clock-runs-over",
            "subscribes to the last instant, which must not have come, and waits for the first, which has",
            Guest::Made(|| {
                cli(
                    &["io/poll", "clocks/monotonic-clock"],
                    r#"(import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-instant" (func $at (param i64) (result i32)))
                    (import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $in (param i64) (result i32)))
                    (import "wasi:io/poll@0.2.12" "[method]pollable.ready" (func $ready (param i32) (result i32)))
                    (import "wasi:io/poll@0.2.12" "[method]pollable.block" (func $block (param i32)))"#,
                    "(if (call $ready (call $at (i64.const -1))) (then unreachable))
                    (if (call $ready (call $in (i64.const -1))) (then (drop (i32.div_u (i32.const 1) (i32.const 0)))))
                    (call $block (call $at (i64.const 0)))
                    (i32.const 1024)",
                )
            }),
            "returned",
        ),
    ]
}

fn random_of(length: &str) -> Vec<u8> {
    let items = r#"(import "wasi:random/random@0.2.12" "get-random-bytes" (func $random (param i64 i32)))"#;
    cli(&["random/random"], items, &format!("(call $random (i64.const {length}) (i32.const 600)) (i32.const 1024)"))
}

fn ends() -> Vec<Case> {
    vec![
        Case::new("trap", "an unreachable instruction", Guest::Says("trap"), TRAP),
        Case::new("panic", "panics with a message", Guest::Says("panic it hurts"), TRAP).also(|seen| {
            let message = seen.run().ended.message();
            if message.contains("it hurts") { Ok(()) } else { Err(message) }
        }),
        Case::new(
            "panic-with-escapes",
            "panics with a message of terminal escapes",
            Guest::Says("panic \u{1b}[2J\u{1b}]0;owned\u{7}"),
            TRAP,
        ),
        Case::new("exit-0", "exits as if all were well", Guest::Says("exit 0"), TRAP),
        Case::new("exit-1", "exits with a failure", Guest::Says("exit 1"), TRAP),
        Case::new("exit-255", "exits with status 255", Guest::Says("exit 255"), TRAP),
        Case::new("divide-by-zero", "divides by zero", Guest::Body("(i32.div_u (i32.const 1) (i32.const 0))"), TRAP),
        Case::new(
            "divide-overflow",
            "divides the smallest number by -1",
            Guest::Body("(i32.div_s (i32.const 0x80000000) (i32.const -1))"),
            TRAP,
        ),
        Case::new(
            "truncate-nan",
            "makes an integer of what is no number",
            Guest::Body("(i32.trunc_f32_s (f32.const nan))"),
            TRAP,
        ),
        Case::new("load-beyond-memory", "reads beyond its memory", Guest::Body("(i32.load (i32.const -4))"), TRAP),
        Case::new(
            "load-with-large-offset",
            "reads at an offset of 2^32 - 1 from the end of its memory",
            Guest::Body("(i32.load offset=0xffffffff (i32.const 65535))"),
            TRAP,
        ),
        Case::new(
            "store-beyond-memory",
            "writes one byte beyond its memory",
            Guest::Body("(i32.store8 (i32.const 65536) (i32.const 1)) (i32.const 1024)"),
            TRAP,
        ),
        Case::new(
            "call-nothing",
            "calls an empty place of a table",
            Guest::Made(|| {
                brain_tests::components::role(&core(
                    "(type $t (func)) (table 1 funcref)",
                    "(call_indirect (type $t) (i32.const 0)) (i32.const 1024)",
                ))
            }),
            TRAP,
        ),
        Case::new(
            "call-beyond-table",
            "calls beyond the end of a table",
            Guest::Made(|| {
                brain_tests::components::role(&core(
                    "(type $t (func)) (table 1 funcref)",
                    "(call_indirect (type $t) (i32.const -1)) (i32.const 1024)",
                ))
            }),
            TRAP,
        ),
        Case::new(
            "call-wrong-type",
            "calls a function by another type than it has",
            Guest::Made(|| {
                let items = "(type $t (func (param i64))) (func $f) (table 1 funcref) (elem (i32.const 0) $f)";
                brain_tests::components::role(&core(
                    items,
                    "(call_indirect (type $t) (i64.const 0) (i32.const 0)) (i32.const 1024)",
                ))
            }),
            TRAP,
        ),
    ]
}
