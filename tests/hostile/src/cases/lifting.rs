//! The way between guest and host: results that are too large or are none, strings that are no text, allocators that lie.

use brain_tests::components::{RESULT, RISKS, StringEncoding, core, module, role};

use super::time::{with_post_return, with_realloc};
use crate::case::{Case, Guest};
use crate::wat::{wasi, wide};

const LIMIT: &str = "sandbox.limit.result";
const TRAP: &str = "sandbox.trap";
/// Where the address of the result's summary lies.
const SUMMARY: u32 = RESULT + 88;

/// A role whose summary is at `at` and has `units` code units.
fn summary(prepare: &str, at: i64, units: i64) -> String {
    core(
        "",
        &format!(
            "{prepare} (i32.store (i32.const {SUMMARY}) (i32.const {at}))
            (i32.store offset=4 (i32.const {SUMMARY}) (i32.const {units})) (i32.const {RESULT})"
        ),
    )
}

/// A role whose summary is these bytes.
fn says(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
    let units = bytes.len();
    summary("", 512, units as i64).replacen("(global", &format!("(data (i32.const 512) \"{text}\") (global"), 1)
}

/// A role whose list of risks is at `at` and has `items` items of two words.
fn risks(prepare: &str, at: i64, items: i64) -> Vec<u8> {
    let body = format!(
        "{prepare} (i32.store (i32.const {RISKS}) (i32.const {at}))
        (i32.store offset=4 (i32.const {RISKS}) (i32.const {items})) (i32.const {RESULT})"
    );
    role(&module("", r#"(memory (export "memory") 100)"#, &body))
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = too_large();
    cases.extend(no_result());
    cases.extend(no_text());
    cases.extend(allocators());
    cases
}

fn too_large() -> Vec<Case> {
    vec![
        Case::new("summary-of-100-mb", "returns a text of 100 MiB", Guest::Says("return-100mb"), LIMIT),
        Case::new("five-million-risks", "returns a list of 5,000,000 items", Guest::Says("return-many 5000000"), LIMIT),
        Case::new("findings", "returns 100,000 findings", Guest::Says("return-findings 100000"), LIMIT),
        Case::new(
            "overlapping-strings",
            "returns 60,000 strings of 60,000 bytes, all of them the same bytes",
            Guest::Made(|| {
                risks(
                    "(local $n i32) (local $at i32) (local.set $at (i32.const 131072))
                    (loop $l
                        (i32.store (local.get $at) (i32.const 1048576))
                        (i32.store offset=4 (local.get $at) (i32.const 60000))
                        (local.set $at (i32.add (local.get $at) (i32.const 8)))
                        (local.set $n (i32.add (local.get $n) (i32.const 1)))
                        (br_if $l (i32.lt_u (local.get $n) (i32.const 60000))))",
                    131_072,
                    60_000,
                )
            }),
            LIMIT,
        ),
        Case::new(
            "a-million-empty-strings",
            "returns 800,000 strings of no bytes, which cost the host more than the guest",
            Guest::Made(|| risks("", 65_536, 800_000)),
            LIMIT,
        ),
    ]
}

fn no_result() -> Vec<Case> {
    vec![
        Case::new("result-outside", "returns an address beyond its memory", Guest::Body("(i32.const -8)"), TRAP),
        Case::new(
            "result-at-the-edge",
            "returns an address whose result ends beyond its memory",
            Guest::Body("(i32.const 65528)"),
            TRAP,
        ),
        Case::new("result-unaligned", "returns an odd address", Guest::Body("(i32.const 1025)"), TRAP),
        Case::new(
            "unknown-status",
            "returns a status that there is none of",
            Guest::Made(|| {
                role(&core(
                    "",
                    &format!("(i32.store8 (i32.const {}) (i32.const 77)) (i32.const {RESULT})", RESULT + 32),
                ))
            }),
            TRAP,
        ),
        Case::new(
            "string-past-the-end",
            "a text that ends beyond its memory",
            Guest::Made(|| role(&summary("", 65_000, 5_000))),
            TRAP,
        ),
        Case::new(
            "string-of-all-there-is",
            "a text of 4,294,967,295 bytes",
            Guest::Made(|| role(&summary("", 512, -1))),
            TRAP,
        )
        .or(LIMIT),
        Case::new(
            "string-that-wraps",
            "a text whose address and length add up to 2^32",
            Guest::Made(|| role(&summary("", -16, 32))),
            TRAP,
        ),
        Case::new(
            "list-past-the-end",
            "a list that ends beyond its memory",
            Guest::Made(|| risks("", 65_536, 900_000)),
            TRAP,
        )
        .or(LIMIT),
        Case::new(
            "list-whose-size-overflows",
            "a list of 2^29 items of 8 bytes: their size is 2^32",
            Guest::Made(|| risks("", 0, 1 << 29)),
            TRAP,
        )
        .or(LIMIT),
        Case::new("list-of-all-there-is", "a list of 4,294,967,295 items", Guest::Made(|| risks("", 0, -1)), TRAP)
            .or(LIMIT),
        Case::new("list-unaligned", "a list at an odd address", Guest::Made(|| risks("", 65_537, 1)), TRAP),
        Case::new(
            "list-of-nonsense",
            "a list whose items are whatever lies there",
            Guest::Made(|| risks("(memory.fill (i32.const 65536) (i32.const 255) (i32.const 65536))", 65_536, 1_000)),
            TRAP,
        )
        .or(LIMIT),
        Case::new(
            "echo",
            "wrong ids, infinite numbers, blank items, escapes, repeated coverage",
            Guest::Says("echo"),
            "returned",
        )
        .also(|seen| match seen.run().result.notes.len() {
            6.. => Ok(()),
            n => Err(format!("only {n} repairs are noted")),
        }),
        Case::new("pending", "returns as if it were not done", Guest::Says("pending"), "returned").also(|seen| {
            if seen.run().result.progress.status == brain_packet::TaskStatus::Failed {
                Ok(())
            } else {
                Err("it counts as done".into())
            }
        }),
    ]
}

fn no_text() -> Vec<Case> {
    let utf8 = |name, attack, guest| Case::new(name, attack, guest, TRAP);
    vec![
        utf8("utf8-lone-byte", "a text with a byte that starts nothing", Guest::Made(|| role(&says(b"a\xff")))),
        utf8("utf8-cut", "a text that ends within a character", Guest::Made(|| role(&says(b"a\xe2\x82")))),
        utf8("utf8-overlong", "a text with a slash written in two bytes", Guest::Made(|| role(&says(b"..\xc0\xaf..")))),
        utf8(
            "utf8-surrogate",
            "a text with half of a surrogate pair, written in three bytes",
            Guest::Made(|| role(&says(b"\xed\xa0\x80"))),
        ),
        utf8(
            "utf8-too-high",
            "a text with a character beyond U+10FFFF",
            Guest::Made(|| role(&says(b"\xf4\x90\x80\x80"))),
        ),
        Case::new("utf8-nul", "a text of NUL bytes", Guest::Made(|| role(&says(&[0; 64]))), "returned"),
        utf8(
            "utf16-surrogate",
            "a UTF-16 text that ends with half of a pair",
            Guest::Made(|| {
                wide(StringEncoding::UTF16, &summary("(i32.store (i32.const 512) (i32.const 0xd800))", 512, 1))
            }),
        ),
        utf8(
            "utf16-swapped-pair",
            "a UTF-16 text with the halves of a pair swapped",
            Guest::Made(|| {
                wide(StringEncoding::UTF16, &summary("(i32.store (i32.const 512) (i32.const 0xd800dc00))", 512, 2))
            }),
        ),
        utf8(
            "utf16-unaligned",
            "a UTF-16 text at an odd address",
            Guest::Made(|| wide(StringEncoding::UTF16, &summary("", 513, 2))),
        ),
        utf8(
            "utf16-of-half-there-is",
            "a UTF-16 text of 2^31 units: its size is 2^32",
            Guest::Made(|| wide(StringEncoding::UTF16, &summary("", 512, 1 << 31))),
        )
        .or(LIMIT),
        utf8(
            "compact-tagged",
            "a text of either encoding, tagged as wide and beyond its memory",
            Guest::Made(|| wide(StringEncoding::CompactUTF16, &summary("", 512, -1))),
        )
        .or(LIMIT),
        utf8(
            "compact-surrogate",
            "a text of either encoding, tagged as wide, half of a pair",
            Guest::Made(|| {
                let prepare = "(i32.store (i32.const 512) (i32.const 0xdfff))";
                wide(StringEncoding::CompactUTF16, &summary(prepare, 512, (1 << 31) + 1))
            }),
        ),
        Case::new(
            "utf16-that-grows",
            "a UTF-16 text of 1 MiB that is 1.5 MiB in UTF-8",
            Guest::Made(|| {
                let core =
                    summary("(memory.fill (i32.const 65536) (i32.const 0x30) (i32.const 1048576))", 65_536, 524_288);
                wide(
                    StringEncoding::UTF16,
                    &core.replace("(memory (export \"memory\") 1)", "(memory (export \"memory\") 20)"),
                )
            }),
            LIMIT,
        ),
    ]
}

fn allocators() -> Vec<Case> {
    vec![
        Case::new(
            "allocator-outside",
            "an allocator that gives an address beyond memory",
            Guest::Made(|| role(&with_realloc("(i32.const -8)"))),
            TRAP,
        ),
        Case::new(
            "allocator-odd",
            "an allocator that gives an odd address",
            Guest::Made(|| role(&with_realloc("(i32.const 4097)"))),
            TRAP,
        )
        .or("returned"),
        Case::new(
            "allocator-null",
            "an allocator that always gives address 0",
            Guest::Made(|| role(&with_realloc("(i32.const 0)"))),
            "returned",
        ),
        Case::new(
            "allocator-traps",
            "an allocator that traps",
            Guest::Made(|| role(&with_realloc("unreachable"))),
            TRAP,
        ),
        Case::new(
            "post-return-traps",
            "traps when its result was read",
            Guest::Made(|| role(&with_post_return("", "unreachable"))),
            TRAP,
        ),
        Case::new(
            "allocator-calls-out",
            "an allocator that calls the host while the host hands something over",
            Guest::Made(|| {
                let items = r#"(import "wasi:clocks/monotonic-clock@0.2.12" "now" (func $now (result i64)))"#;
                let text = with_realloc("(drop (call $now)) (i32.const 4096)");
                wasi(&["clocks/monotonic-clock"], &text.replacen("(module", &format!("(module {items}"), 1))
            }),
            TRAP,
        ),
        Case::new(
            "post-return-calls-out",
            "calls the host when its result was read",
            Guest::Made(|| {
                let items = r#"(import "wasi:clocks/monotonic-clock@0.2.12" "now" (func $now (result i64)))"#;
                wasi(&["clocks/monotonic-clock"], &with_post_return(items, "(drop (call $now))"))
            }),
            TRAP,
        ),
        Case::new(
            "allocator-calls-run",
            "an allocator that calls the role's own function",
            Guest::Made(|| {
                role(&with_realloc("(drop (call $run (i32.const 0))) (i32.const 4096)").replacen(
                    "(func (export \"brain:role",
                    "(func $run (export \"brain:role",
                    1,
                ))
            }),
            "returned",
        ),
    ]
}
