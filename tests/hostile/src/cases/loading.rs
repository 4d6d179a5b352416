//! Components that are refused before anything of them runs, and those that are only large.

use brain_sandbox::{CONTRACT_WIT, MAX_COMPONENT_BYTES};
use brain_tests::components::{component, core, role};

use crate::case::{Case, Guest, REFUSED, Seen};
use crate::wat::{wasi, with_custom, with_section};

fn smallest() -> Vec<u8> {
    role(&core("", "(i32.const 1024)"))
}

fn refused(name: &'static str, attack: &'static str, made: fn() -> Vec<u8>) -> Case {
    Case::new(name, attack, Guest::Made(made), REFUSED).also(readable)
}

/// A refusal is one line that says what and not how.
fn readable(seen: &Seen<'_>) -> Result<(), String> {
    match seen.refusal {
        Some(why) if why.chars().any(char::is_control) || why.len() > 2_000 || why.contains("backtrace") => {
            Err(format!("not for a reader: {why}"))
        }
        _ => Ok(()),
    }
}

/// A role that imports `import` of a package in WIT.
fn importing(package: &str, import: &str, function: &str) -> Vec<u8> {
    let world = format!("package test:test; world w {{ include brain:role/role@1.0.0; import {import}; }}");
    let items = format!("(import \"{import}\" {function})");
    component(&core(&items, "(i32.const 1024)"), &[CONTRACT_WIT, package, &world], "test:test/w")
}

/// A package with a function that takes a list of a list of a list.
fn nested(name: &str, depth: usize) -> String {
    let types: String = (1..depth).map(|n| format!("type t{n} = list<t{}>;\n", n - 1)).collect();
    format!("package {name}; interface deep {{ type t0 = u8; {types} take: func(what: t{}); }}", depth - 1)
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = no_role();
    cases.extend(nesting());
    cases.extend(features());
    cases.extend(large());
    cases
}

fn no_role() -> Vec<Case> {
    vec![
        refused("empty-file", "an empty file", Vec::new),
        refused("noise", "bytes that are nothing", || (0..=255).cycle().take(10_000).collect()),
        refused("only-a-header", "a component that ends after its header", || b"\0asm\x0d\0\x01\0".to_vec()),
        refused("core-module", "a module that is no component", || {
            wat::parse_str("(module (func (export \"run\")))").unwrap()
        }),
        refused("native-code", "the code of this very process", || {
            std::fs::read("/proc/self/exe").unwrap().into_iter().take(1 << 20).collect()
        }),
        refused("exports-nothing", "a component that exports nothing", || wat::parse_str("(component)").unwrap()),
        refused("exports-another-type", "exports the function with another type", || {
            let contract = CONTRACT_WIT.replacen(
                "run: func(handoff: handoff-packet) -> worker-result",
                "run: func(handoff: handoff-packet) -> string",
                1,
            );
            component(&core("", "(i32.const 1024)"), &[&contract], "brain:role/role")
        }),
        refused("exports-another-version", "exports the next version of the contract", || {
            let contract = CONTRACT_WIT.replacen("@1.0.0", "@2.0.0", 1);
            let module = core("", "(i32.const 1024)").replace("worker@1.0.0", "worker@2.0.0");
            component(&module, &[&contract], "brain:role/role")
        }),
        refused("cut-in-half", "a component of which half is missing", || {
            let whole = smallest();
            whole[..whole.len() / 2].to_vec()
        }),
        refused("imports-what-there-is-not", "imports an interface that nobody offers", || {
            importing("package evil:host; interface shell { run: func(); }", "evil:host/shell", "\"run\" (func)")
        }),
        refused("imports-secrets-of-the-contract", "imports an interface that the contract does not have", || {
            importing(
                "package brain:secrets@1.0.0; interface keys { all: func(); }",
                "brain:secrets/keys@1.0.0",
                "\"all\" (func)",
            )
        }),
        refused("imports-another-wasi", "imports the next major version of WASI", || {
            importing("package wasi:io@0.3.0; interface poll { f: func(); }", "wasi:io/poll@0.3.0", "\"f\" (func)")
        }),
        refused("imports-wasi-with-other-types", "imports WASI with types of its own", || {
            importing(
                "package wasi:clocks@0.2.0; interface wall-clock { now: func() -> string; }",
                "wasi:clocks/wall-clock@0.2.0",
                "\"now\" (func (param i32))",
            )
        }),
    ]
}

fn nesting() -> Vec<Case> {
    vec![
        refused("nested-types", "imports a function whose type is nested 10,000 deep", || raw_nested(10_000)),
        refused("nested-types-of-a-stub", "imports a stub whose type is nested 90 deep", || {
            importing(&nested("wasi:http@0.2.12", 90), "wasi:http/deep@0.2.12", "\"take\" (func (param i32 i32))")
        })
        .or("returned"),
        refused("nested-components", "a component in a component, 1,000 deep", || {
            const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";
            (0..1_000).fold(HEADER.to_vec(), |inner, _| with_section(HEADER, 4, &inner))
        }),
        refused("many-types", "a component of 200,000 types", || {
            let types = "(type (list u8))".repeat(200_000);
            wat::parse_str(format!("(component {types})")).unwrap()
        }),
        refused("many-exports", "a component of 20,000 exports", || {
            let exports: String = (0..20_000).map(|n| format!("(export \"e{n}\" (instance $i))")).collect();
            wat::parse_str(format!("(component (instance $i) {exports})")).unwrap()
        }),
        refused("wide-record", "a type of 100,000 fields", || {
            let fields: String = (0..100_000).map(|n| format!("(field \"f{n}\" u8)")).collect();
            wat::parse_str(format!("(component (type (record {fields})))")).unwrap()
        }),
        refused("doubling-types", "types of which each has the last one twice: 2^60 leaves", || {
            let types: String = (1..60).map(|n| format!("(type $t{n} (tuple $t{} $t{}))", n - 1, n - 1)).collect();
            wat::parse_str(format!("(component (type $t0 (tuple u8 u8)) {types})")).unwrap()
        }),
    ]
}

/// A component with a type that is nested so deep, in text, since no encoder makes it.
fn raw_nested(depth: usize) -> Vec<u8> {
    let types: String = (1..depth).map(|n| format!("(type $t{n} (list $t{}))", n - 1)).collect();
    wat::parse_str(format!(
        "(component (type $t0 (list u8)) {types} (import \"f\" (func (param \"what\" $t{}))))",
        depth - 1
    ))
    .unwrap()
}

fn features() -> Vec<Case> {
    vec![
        refused("shared-memory", "a memory that threads share", || {
            role(&core("(memory 1 1 shared)", "(i32.const 1024)"))
        }),
        refused("garbage-collection", "types of the garbage collector", || {
            role(&core("(type (struct (field i32)))", "(i32.const 1024)"))
        })
        .or("returned"),
        refused("exceptions", "exceptions that it throws at the host", || role(&core("(tag $t)", "(throw $t)")))
            .or("sandbox.trap"),
        refused("stack-switching", "continuations", || {
            role(&core("(type $f (func)) (type $c (cont $f))", "(i32.const 1024)"))
        }),
    ]
}

fn large() -> Vec<Case> {
    vec![
        Case::new(
            "custom-section",
            "a custom section of 16 MiB",
            Guest::Made(|| with_custom(&smallest(), 16 << 20)),
            "returned",
        ),
        refused("custom-section-over", "a custom section that makes it larger than a component may be", || {
            with_custom(&smallest(), MAX_COMPONENT_BYTES as usize)
        }),
        refused("section-of-nonsense", "a section of a kind that there is none of", || {
            with_section(&smallest(), 99, &[1, 2, 3])
        }),
        Case::new(
            "ten-thousand-functions",
            "a module of 10,000 functions",
            Guest::Made(|| {
                role(&core(
                    &"(func (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))".repeat(10_000),
                    "(i32.const 1024)",
                ))
            }),
            "returned",
        ),
        refused("fifty-thousand-locals", "a function with more locals than there may be", || {
            role(&core(&format!("(func {})", "(local i32)".repeat(50_001)), "(i32.const 1024)"))
        }),
        Case::new(
            "deep-blocks",
            "a function of 10,000 blocks, one in another",
            Guest::Made(|| {
                role(&core(&format!("(func {}{})", "(block ".repeat(10_000), ")".repeat(10_000)), "(i32.const 1024)"))
            }),
            "returned",
        )
        .or(REFUSED),
        Case::new(
            "large-branch-table",
            "a branch with 60,000 targets",
            Guest::Made(|| {
                let targets = "0 ".repeat(60_000);
                role(&core(
                    &format!("(func (param i32) (block (br_table {targets} (local.get 0))))"),
                    "(i32.const 1024)",
                ))
            }),
            "returned",
        )
        .or(REFUSED),
        Case::new(
            "imports-all-there-is",
            "imports every interface of which it uses nothing",
            Guest::Made(|| {
                wasi(
                    &[
                        "io/poll",
                        "io/streams",
                        "clocks/monotonic-clock",
                        "filesystem/types",
                        "filesystem/preopens",
                        "random/random",
                        "cli/stdin",
                        "cli/exit",
                        "http/ask",
                    ],
                    &core("", "(i32.const 1024)"),
                )
            }),
            "returned",
        ),
    ]
}
