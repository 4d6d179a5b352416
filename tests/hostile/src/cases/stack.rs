//! The stack: the guest's own, and the host's when it is called from its edge.

use brain_tests::components::{core, role};

use super::time::{with_post_return, with_realloc};
use crate::case::{Case, Guest};
use crate::wat::wasi;

const STACK: &str = "sandbox.limit.stack";

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("recurse", "recurses without end, in Rust", Guest::Says("recurse"), STACK),
        Case::new(
            "recurse-in-memory",
            "recurses until its stack in linear memory is used up",
            Guest::Says("recurse-memory"),
            "sandbox.trap",
        ),
        Case::new(
            "recurse-bare",
            "a function that calls itself and nothing else",
            Guest::Made(|| role(&core("(func $f (call $f) (call $f))", "(call $f) (i32.const 1024)"))),
            STACK,
        ),
        Case::new(
            "recurse-by-table",
            "functions that call one another through a table",
            Guest::Made(|| {
                let items = "(type $t (func)) (table 2 funcref) (elem (i32.const 0) $a $b)
                    (func $a (call_indirect (type $t) (i32.const 1)) (call $b))
                    (func $b (call_indirect (type $t) (i32.const 0)) (call $a))";
                role(&core(items, "(call $a) (i32.const 1024)"))
            }),
            STACK,
        ),
        Case::new(
            "recurse-with-large-frames",
            "recurses with 10,000 locals in every frame",
            Guest::Made(|| {
                let locals = "(local i64)".repeat(10_000);
                let uses: String =
                    (0..10_000).step_by(97).map(|n| format!("(local.set {n} (i64.load (i32.const {n})))")).collect();
                let kept: String = (0..10_000).step_by(97).map(|n| format!("(drop (local.get {n}))")).collect();
                role(&core(&format!("(func $f {locals} {uses} (call $f) {kept})"), "(call $f) (i32.const 1024)"))
            }),
            STACK,
        ),
        Case::new(
            "recurse-in-start",
            "recurses without end in its start function",
            Guest::Made(|| {
                let module = core("(func $f (call $f) (call $f))", "(i32.const 1024)");
                role(&module.replacen("(memory", "(start $f) (memory", 1))
            }),
            STACK,
        ),
        Case::new(
            "recurse-in-realloc",
            "an allocator that recurses without end, called by the host",
            Guest::Made(|| {
                let module = with_realloc("(call $f) unreachable");
                role(&module.replacen("(memory", "(func $f (call $f) (call $f)) (memory", 1))
            }),
            STACK,
        ),
        Case::new(
            "recurse-in-post-return",
            "recurses without end when its result was read",
            Guest::Made(|| role(&with_post_return("(func $f (call $f) (call $f))", "(call $f)"))),
            STACK,
        ),
        Case::new(
            "host-at-the-edge",
            "calls the host in every frame of a recursion, down to the last that fits",
            Guest::Made(|| {
                let items = r#"
                    (import "wasi:filesystem/preopens@0.2.12" "get-directories" (func $dirs (param i32)))
                    (import "wasi:clocks/monotonic-clock@0.2.12" "now" (func $now (result i64)))
                    (func $f (drop (call $now)) (call $f) (call $f))"#;
                wasi(&["filesystem/preopens", "clocks/monotonic-clock"], &core(items, "(call $f) (i32.const 1024)"))
            }),
            STACK,
        ),
        Case::new(
            "host-opens-at-the-edge",
            "has the host walk a path in every frame of a recursion, down to the last that fits",
            Guest::Made(|| {
                let items = r#"
                    (import "wasi:filesystem/preopens@0.2.12" "get-directories" (func $dirs (param i32)))
                    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.stat-at"
                        (func $stat (param i32 i32 i32 i32 i32)))
                    (data (i32.const 16) "./../x/../a/b/c")
                    (func $f (call $stat (i32.load (i32.load (i32.const 600))) (i32.const 1) (i32.const 16) (i32.const 15) (i32.const 704))
                        (call $f) (call $f))"#;
                let body = "(call $dirs (i32.const 600)) (call $f) (i32.const 1024)";
                wasi(&["filesystem/preopens", "filesystem/types"], &core(items, body))
            }),
            STACK,
        ),
    ]
}
