//! The contract check: whatever is given as a role, the report says which row fails and what to do, and nothing panics.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use brain_sandbox::{CONTRACT_WIT, CheckReport, CheckRow, RowState, Sandbox, SandboxConfig};
use brain_tests::components::{component, core, role};
use brain_tests::guest;
use proptest::prelude::*;

fn sandbox() -> Sandbox {
    Sandbox::new(SandboxConfig::default()).unwrap()
}

fn check(bytes: &[u8]) -> CheckReport {
    let report = sandbox().check(bytes);
    assert_readable(&report);
    report
}

/// What must be true of every report.
#[track_caller]
fn assert_readable(report: &CheckReport) {
    assert_eq!(report.contract, "brain:role@1.0.0");
    assert_eq!(report.passed(), report.first_fault().is_none());
    let text = report.to_string();
    for row in &report.rows {
        assert!(!row.state.fails() || row.remedy.as_ref().is_some_and(|r| !r.is_empty()), "no remedy: {row:?}");
        assert!(text.contains(&row.item), "{text}");
    }
    for row in &report.rows {
        let cells = [&row.item, &row.required, &row.offered].into_iter().chain(&row.remedy);
        assert!(cells.into_iter().all(|cell| !cell.contains(char::is_control)), "more than a line: {row:?}");
    }
    for noise in ["backtrace", "panicked", "wasm function", "Caused by"] {
        assert!(!text.contains(noise), "{text}");
    }
    assert!(text.len() < 1 << 20);
}

/// The row that fails, and that the same is the error of a load.
#[track_caller]
fn fault(bytes: &[u8]) -> CheckRow {
    let sandbox = sandbox();
    let report = sandbox.check(bytes);
    assert_readable(&report);
    let row = report.first_fault().expect("it passed").clone();
    let error = sandbox.load(&"guest".parse().unwrap(), bytes).err().expect("it was loaded");
    assert_eq!(error.report, report);
    assert_eq!(error.to_string(), format!("the role `guest` cannot be loaded: {}: {}", row.item, row.offered));
    assert_eq!(Some(&error.remedy), row.remedy.as_ref());
    assert_eq!(sandbox.compilations(), 0, "nothing that fails the check is compiled");
    row
}

/// A component whose contract differs from ours by one edit.
fn with_contract(from: &str, to: &str) -> Vec<u8> {
    assert!(CONTRACT_WIT.contains(from), "{from}");
    component(&core("", "(i32.const 1024)"), &[&CONTRACT_WIT.replacen(from, to, 1)], "brain:role/role")
}

/// A component of the contract's next version.
fn of_version_2() -> Vec<u8> {
    let text = CONTRACT_WIT.replacen("@1.0.0", "@2.0.0", 1);
    let module = core("", "(i32.const 1024)").replace("worker@1.0.0", "worker@2.0.0");
    component(&module, &[&text], "brain:role/role")
}

/// A component of world `role` with one import more.
fn with_import(packages: &[&str], import: &str) -> Vec<u8> {
    let world = format!("package test:test; world w {{ include brain:role/role@1.0.0; import {import}; }}");
    let packages: Vec<&str> =
        [CONTRACT_WIT].into_iter().chain(packages.iter().copied()).chain([world.as_str()]).collect();
    let name = format!("(import \"{import}\" \"f\" (func))");
    component(&core(&name, "(i32.const 1024)"), &packages, "test:test/w")
}

#[test]
fn built_guests_and_the_smallest_role_pass() {
    for bytes in [guest("noop"), guest("misbehave"), role(&core("", "(i32.const 1024)"))] {
        let report = check(&bytes);
        assert!(report.passed(), "{report}");
        assert!(report.rows.iter().any(|row| row.item == "brain:role/worker@1.0.0" && row.state == RowState::Real));
    }
}

#[test]
fn what_is_imported_and_not_granted_is_a_stub_in_the_report() {
    let report = check(&guest("misbehave"));
    let state = |part: &str| report.rows.iter().find(|row| row.item.contains(part)).map(|row| row.state);
    assert_eq!(state("wasi:sockets/tcp@"), Some(RowState::Stubbed));
    assert_eq!(state("wasi:filesystem/types@"), Some(RowState::Real));
    assert_eq!(state("brain:role/model@"), Some(RowState::Real));
}

#[test]
fn the_table_has_a_row_per_item_and_the_remedy_below_it() {
    let report = check(&of_version_2());
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("item") && lines[0].ends_with("state"), "{text}");
    assert!(lines[1].starts_with("brain:role/worker@1.0.0") && lines[1].ends_with("MISSING"), "{text}");
    assert!(lines[2].starts_with("    -> it was built for another version of the contract"), "{text}");
    let column = |line: &str, word: &str| line.find(word).unwrap();
    assert_eq!(column(lines[0], "state"), column(lines[1], "MISSING"), "{text}");
}

#[test]
fn files_that_are_no_component_say_what_they_are() {
    let module = wat::parse_str("(module (func (export \"run\")))").unwrap();
    let elf = std::fs::read("/proc/self/exe").unwrap();
    for (bytes, what, remedy) in [
        (b"".as_slice(), "an empty file", "build the role again"),
        (b"name = \"librarian\"\n", "a text file", "give the built component"),
        (b"<!DOCTYPE html><h1>404</h1>", "a text file", "give the built component"),
        (b"(component)", "WebAssembly text", "wasm-tools parse"),
        (b"\x00\x01\x02\x03\xfe\xff", "not WebAssembly", "00 61 73 6d"),
        (&module, "a core WebAssembly module", "wasm32-wasip2"),
        (&elf, "native code", "precompiled code is never accepted"),
    ] {
        let row = fault(bytes);
        assert_eq!((row.item.as_str(), row.state), ("the file", RowState::Mismatch));
        assert!(row.offered.contains(what), "{row:?}");
        assert!(row.remedy.as_ref().unwrap().contains(remedy), "{row:?}");
    }
}

#[test]
fn precompiled_code_is_refused() {
    let cache = tempfile::tempdir().unwrap();
    let config = SandboxConfig { cache_dir: Some(cache.path().into()), ..SandboxConfig::default() };
    Sandbox::new(config).unwrap().load(&"noop".parse().unwrap(), &guest("noop")).unwrap();
    let entry = std::fs::read_dir(cache.path()).unwrap().next().unwrap().unwrap().path();
    let compiled = std::fs::read(entry).unwrap().split_off(32);
    assert!(fault(&compiled).offered.contains("native code"));
}

#[test]
fn a_component_over_the_size_limit_is_refused_unread() {
    let sandbox = Sandbox::new(SandboxConfig { max_component_bytes: 1000, ..SandboxConfig::default() }).unwrap();
    let report = sandbox.check(&guest("noop"));
    let row = report.first_fault().unwrap();
    assert_eq!(row.required, "at most 1000 bytes");
    assert!(row.remedy.as_ref().unwrap().contains("max_component_bytes"));
}

#[test]
fn a_component_that_exports_nothing_says_how_to_export() {
    let row = fault(&wat::parse_str("(component)").unwrap());
    assert_eq!((row.item.as_str(), row.state), ("brain:role/worker@1.0.0", RowState::Missing));
    assert_eq!(row.offered, "no export at all");
    assert!(row.remedy.unwrap().contains("brain_role::role!(run);"));
}

#[test]
fn a_component_of_another_world_says_so() {
    let command = "package other:place; world w { export go: func(); }";
    let module = r#"(module (memory (export "memory") 1) (func (export "go")))"#;
    let row = fault(&component(module, &[command], "other:place/w"));
    assert_eq!((row.item.as_str(), row.offered.as_str()), ("brain:role/worker@1.0.0", "not exported"));
    assert!(row.remedy.unwrap().contains("built for another world"));
}

#[test]
fn another_version_of_the_contract_is_named() {
    let row = fault(&of_version_2());
    assert_eq!(row.offered, "brain:role/worker@2.0.0 instead");
    assert!(row.remedy.unwrap().contains("build it against brain:role@1.0.0"));
}

#[test]
fn a_changed_type_is_named_member_by_member() {
    for (from, to, item, ours, theirs) in [
        ("issue: string,", "issue: list<u8>,", "finding.issue", "string", "list<u8>"),
        ("next-questions: list<string>,", "", "worker-result.next-questions", "the field `next-questions", "nothing"),
        (
            "residual-risks: list<string>,",
            "residual-risks: list<string>, mood: u8,",
            "review-decision.mood",
            "nothing",
            "the field `mood`",
        ),
        ("    /// Worth fixing.\n    medium,", "", "severity.medium", "the case `medium`", "nothing"),
        ("line: option<u32>,", "line: option<u64>,", "finding.line", "u32", "u64"),
        (
            "run: func(handoff: handoff-packet)",
            "run: func(handoff: handoff-packet, again: bool)",
            "run",
            "1 parameter",
            "2 parameters",
        ),
    ] {
        let row = fault(&with_contract(from, to));
        assert_eq!((row.item.as_str(), row.state), ("brain:role/worker@1.0.0", RowState::Mismatch));
        assert_eq!(row.offered, "exported, with other types");
        let remedy = row.remedy.unwrap();
        assert!(remedy.contains(item), "{to}: {remedy}");
        assert!(remedy.contains(&format!("the contract has {ours}")), "{to}: {remedy}");
        assert!(remedy.contains(&format!("the component has {theirs}")), "{to}: {remedy}");
    }
}

#[test]
fn the_order_of_cases_counts() {
    let row =
        fault(&with_contract("    /// Worth knowing.\n    low,\n    /// Worth fixing.\n    medium,", "medium, low,"));
    assert!(row.remedy.unwrap().contains("the cases in the order low, medium, high"));
}

#[test]
fn imports_that_nobody_has_heard_of_are_refused_by_name() {
    let packages = ["package acme:secrets@1.0.0; interface store { f: func(); }"];
    let row = fault(&with_import(&packages, "acme:secrets/store@1.0.0"));
    assert_eq!((row.item.as_str(), row.state), ("acme:secrets/store@1.0.0", RowState::Missing));
    assert!(row.remedy.unwrap().contains("remove the import"));
}

#[test]
fn wasi_of_another_version_is_refused_with_the_one_that_there_is() {
    for version in ["0.3.0", "0.3.0-rc-2025-09-16", "0.1.0"] {
        let package = format!("package wasi:random@{version}; interface random {{ f: func(); }}");
        let row = fault(&with_import(&[&package], &format!("wasi:random/random@{version}")));
        assert_eq!(row.item, format!("wasi:random/random@{version}"));
        assert_eq!(row.offered, "wasi:random/random@0.2 only");
    }
}

#[test]
fn a_standard_interface_with_other_types_is_named_at_the_load() {
    let packages = ["package wasi:random@0.2.0; interface random { f: func(); }"];
    let bytes = with_import(&packages, "wasi:random/random@0.2.0");
    assert!(check(&bytes).passed(), "types of WASI are compared by the engine");
    let error = sandbox().load(&"guest".parse().unwrap(), &bytes).err().expect("it was loaded");
    assert_readable(&error.report);
    assert!(error.fault.starts_with("wasi:random/random@0.2.0: linked, with other types"), "{}", error.fault);
}

#[test]
fn asynchronous_functions_are_refused_with_a_reason() {
    let text = r#"(component (import "wasi:clocks/monotonic-clock@0.3.0" (instance (export "wait" (func async (param "n" u64))))))"#;
    let row = fault(&wat::parse_str(text).unwrap());
    assert!(row.remedy.as_ref().unwrap().contains("WASI 0.2"), "{row:?}");
}

#[test]
fn stubs_of_standard_interfaces_pass() {
    let packages = ["package wasi:keyvalue@0.2.0-draft; interface store { f: func(); }"];
    let report = check(&with_import(&packages, "wasi:keyvalue/store@0.2.0-draft"));
    assert!(report.passed(), "{report}");
    assert!(report.rows.iter().any(|row| row.state == RowState::Stubbed && row.offered == "a stub that denies"));
}

#[test]
fn exports_beyond_the_contract_are_allowed_and_shown() {
    let extra = "package test:test; world w { include brain:role/role@1.0.0; export init: func(); }";
    let bytes =
        component(&core(r#"(func (export "init"))"#, "(i32.const 1024)"), &[CONTRACT_WIT, extra], "test:test/w");
    let report = check(&bytes);
    assert!(report.passed(), "{report}");
    assert!(report.rows.iter().any(|row| row.item == "init" && row.state == RowState::Extra));
}

#[test]
fn a_report_is_bounded_however_much_there_is_to_say() {
    let mut text = String::from("(component");
    for n in 0..2_000 {
        let long = "x".repeat(1_000);
        text.push_str(&format!("(import \"i{n}-{long}\" (func))"));
    }
    text.push(')');
    let report = check(&wat::parse_str(text).unwrap());
    assert!(report.rows.len() <= 257, "{}", report.rows.len());
    assert!(report.rows.last().unwrap().item.ends_with("more rows"));
    assert!(!report.passed());
}

#[test]
fn types_that_grow_without_bound_are_checked_in_bounded_time() {
    // Each type holds the one before it twice: 2^64 leaves, if anybody walked them.
    let mut doubled = String::from("(component (type $t0 (tuple u8 u8))");
    for n in 1..64 {
        doubled.push_str(&format!("(type $t{n} (tuple $t{} $t{}))", n - 1, n - 1));
    }
    doubled.push_str("(import \"f\" (func (param \"p\" $t63))))");
    // Each type is a list of the one before it: nesting as deep as a stack.
    let mut nested = String::from("(component (type $t0 (list u8))");
    for n in 1..20_000 {
        nested.push_str(&format!("(type $t{n} (list $t{}))", n - 1));
    }
    nested.push_str("(import \"f\" (func (param \"p\" $t19999))))");
    for text in [doubled, nested] {
        assert!(!check(&wat::parse_str(text).unwrap()).passed());
    }
}

#[test]
fn a_component_cut_at_any_place_is_refused() {
    let (sandbox, whole) = (sandbox(), guest("noop"));
    for end in (0..whole.len()).step_by(64) {
        let report = sandbox.check(&whole[..end]);
        assert_readable(&report);
        let row = report.first_fault().unwrap_or_else(|| panic!("cut at {end} passed"));
        assert!(end == 0 || row.offered != "an empty file");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_that_flip_never_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = role(&core("", "(i32.const 1024)"));
        for (at, mask) in &flips {
            let at = at.index(bytes.len());
            bytes[at] ^= mask;
        }
        let sandbox = sandbox();
        assert_readable(&sandbox.check(&bytes));
        if let Err(error) = sandbox.load(&"guest".parse().unwrap(), &bytes) {
            assert_readable(&error.report);
        }
    }

    #[test]
    fn bytes_that_flip_in_the_header_of_a_built_guest_never_panic(at in 0_usize..4096, mask in 1_u8..) {
        let mut bytes = guest("noop");
        bytes[at] ^= mask;
        assert_readable(&sandbox().check(&bytes));
    }

    #[test]
    fn any_bytes_have_a_report(bytes in prop::collection::vec(any::<u8>(), 0..512), magic in any::<bool>()) {
        let bytes = if magic { [b"\0asm\x0d\0\x01\0".as_slice(), &bytes].concat() } else { bytes };
        let report = sandbox().check(&bytes);
        assert_readable(&report);
        prop_assert!(!report.passed());
    }
}
