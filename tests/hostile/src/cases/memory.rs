//! Memory, tables and instances.

use brain_tests::components::{core, module, role};

use super::time::with_realloc;
use crate::case::{Case, Guest, Seen};
use crate::wat::with_instances;

const MEMORY: &str = "sandbox.limit.memory";
const TABLE: &str = "sandbox.limit.table-elements";
const INSTANCES: &str = "sandbox.limit.instances";

/// A role that grows by `what` until it gets no more, and dies of it.
fn greedy(memories: &str, what: &str) -> Vec<u8> {
    role(&module("", memories, &format!("(loop $l (br_if $l (i32.ne {what} (i32.const -1)))) unreachable")))
}

fn peak(seen: &Seen<'_>, from: u64, to: u64) -> Result<(), String> {
    let peak = seen.run().receipt.peak_memory_bytes;
    if (from..=to).contains(&peak) { Ok(()) } else { Err(format!("a peak of {peak}, not {from} to {to}")) }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new("allocate", "allocates without end, in Rust", Guest::Says("alloc"), MEMORY)
            .limits(|limits| limits.memory_bytes = 16 << 20)
            .also(|seen| peak(seen, 8 << 20, 16 << 20)),
        Case::new(
            "grow",
            "grows page by page until it gets no more",
            Guest::Made(|| greedy(r#"(memory (export "memory") 1)"#, "(memory.grow (i32.const 1))")),
            MEMORY,
        )
        .also(|seen| peak(seen, 256 << 20, 256 << 20)),
        Case::new(
            "grow-at-once",
            "asks for 4 GiB at once",
            Guest::Made(|| greedy(r#"(memory (export "memory") 1)"#, "(memory.grow (i32.const 65535))")),
            MEMORY,
        )
        .also(|seen| peak(seen, 1 << 16, 1 << 16)),
        Case::new(
            "grow-two",
            "grows two memories in turn: each alone keeps the limit",
            Guest::Made(|| {
                greedy(
                    r#"(memory $a (export "memory") 1) (memory $b 1)"#,
                    "(i32.or (memory.grow $a (i32.const 1)) (memory.grow $b (i32.const 1)))",
                )
            }),
            MEMORY,
        )
        .limits(|limits| limits.memory_bytes = 64 << 16)
        .also(|seen| peak(seen, 63 << 16, 64 << 16)),
        Case::new(
            "grow-a-hundred",
            "has a hundred memories of 4 MiB",
            Guest::Made(|| {
                let more = "(memory 64)".repeat(99);
                role(&module("", &format!(r#"(memory (export "memory") 64){more}"#), "(i32.const 1024)"))
            }),
            MEMORY,
        )
        .or(crate::case::REFUSED)
        .or("returned"),
        Case::new(
            "too-large-at-start",
            "has 4 GiB of memory from the start",
            Guest::Made(|| role(&module("", r#"(memory (export "memory") 65536)"#, "(i32.const 1024)"))),
            MEMORY,
        )
        .also(|seen| peak(seen, 0, 0)),
        Case::new(
            "wide-memory",
            "a memory of 64-bit addresses that grows by 2^40 pages",
            Guest::Made(|| {
                role(&module(
                    "",
                    r#"(memory (export "memory") 1) (memory $w i64 1)"#,
                    "(if (i64.eq (memory.grow $w (i64.const 1099511627776)) (i64.const -1)) (then unreachable)) (i32.const 1024)",
                ))
            }),
            MEMORY,
        )
        .or("sandbox.trap")
        .or(crate::case::REFUSED),
        Case::new(
            "allocator-that-grows",
            "an allocator that takes 16 MiB for each string of the handoff",
            Guest::Made(|| {
                role(&with_realloc(
                    "(local $p i32) (local.set $p (memory.grow (i32.const 256)))
                     (if (i32.eq (local.get $p) (i32.const -1)) (then unreachable))
                     (i32.mul (local.get $p) (i32.const 65536))",
                ))
            }),
            MEMORY,
        )
        .limits(|limits| limits.memory_bytes = 32 << 20),
    ];
    cases.extend(tables());
    cases.extend(instances());
    cases
}

fn tables() -> Vec<Case> {
    vec![
        Case::new(
            "table-bomb",
            "grows a table without end",
            Guest::Made(|| {
                let body = "(loop $l (br_if $l (i32.ne (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1)))) unreachable";
                role(&core("(table $t 0 funcref)", body))
            }),
            TABLE,
        ),
        Case::new(
            "table-bomb-at-once",
            "grows a table by 4,294,967,295 elements",
            Guest::Made(|| {
                let body = "(loop $l (br_if $l (i32.ne (table.grow $t (ref.null func) (i32.const -1)) (i32.const -1)))) unreachable";
                role(&core("(table $t 0 funcref)", body))
            }),
            TABLE,
        ),
        Case::new(
            "table-too-large-at-start",
            "has a table of 10,000,000 elements from the start",
            Guest::Made(|| role(&core("(table 10000000 funcref)", "(i32.const 1024)"))),
            TABLE,
        ),
        Case::new(
            "table-of-all-there-is",
            "has a table of 4,294,967,295 elements from the start",
            Guest::Made(|| role(&core("(table 4294967295 funcref)", "(i32.const 1024)"))),
            TABLE,
        )
        .or(crate::case::REFUSED),
        Case::new(
            "many-tables",
            "has 90 tables of 10,000 elements",
            Guest::Made(|| role(&core(&"(table 10000 funcref)".repeat(90), "(i32.const 1024)"))),
            TABLE,
        ),
    ]
}

fn instances() -> Vec<Case> {
    vec![
        Case::new(
            "thousands-of-instances",
            "instantiates an empty module 5,000 times",
            Guest::Made(|| with_instances(&role(&core("", "(i32.const 1024)")), "(module)", 5_000)),
            INSTANCES,
        )
        .or(crate::case::REFUSED),
        Case::new(
            "three-hundred-instances",
            "instantiates an empty module 300 times",
            Guest::Made(|| with_instances(&role(&core("", "(i32.const 1024)")), "(module)", 300)),
            INSTANCES,
        ),
        Case::new(
            "instances-with-memories",
            "instantiates a module with an empty memory 300 times",
            Guest::Made(|| with_instances(&role(&core("", "(i32.const 1024)")), "(module (memory 0))", 300)),
            INSTANCES,
        ),
        Case::new(
            "instances-with-large-memories",
            "instantiates a module with 16 MiB of memory 200 times: each alone keeps the limit",
            Guest::Made(|| with_instances(&role(&core("", "(i32.const 1024)")), "(module (memory 256))", 200)),
            MEMORY,
        ),
        Case::new(
            "instances-with-tables",
            "instantiates a module with a table of 10,000 elements 200 times",
            Guest::Made(|| with_instances(&role(&core("", "(i32.const 1024)")), "(module (table 10000 funcref))", 200)),
            TABLE,
        ),
        Case::endless(
            "instances-that-start-without-end",
            "the start function of a further instance never ends",
            Guest::Made(|| {
                let module = "(module (func $s (loop $l (br $l))) (start $s))";
                with_instances(&role(&core("", "(i32.const 1024)")), module, 1)
            }),
        ),
    ]
}
