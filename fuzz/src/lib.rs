//! What is fuzzed, and what has to hold: one module for each target, each with one function `check`.
//!
//! **What it is for.** Whatever reads bytes that Brain did not write is called here with any bytes at all. `check` panics when
//! a promise of the code under test does not hold; it knows the promises, not how they are kept.
//!
//! **What it must not know.** libFuzzer. The binaries in `fuzz_targets/` hand its inputs over, and `tests/corpus.rs` calls the
//! same functions with every input that is kept, so that a found bug stays found without a fuzzer.
//!
//! wasmtime is not among the dependencies, and must not come in with one: an instrumented build of it takes half an hour.

pub mod change_set;
pub mod diff_parser;
pub mod made;
pub mod manifest;
pub mod normaliser;
pub mod packet_json;
pub mod paths;
pub mod review_role;
#[path = "../../host/packet/tests/common/settled.rs"]
mod settled;
pub mod tree;

/// A target: its name, which is that of its binary and of its folders, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 7] = [
    ("change_set", change_set::check),
    ("diff_parser", diff_parser::check),
    ("manifest", manifest::check),
    ("normaliser", normaliser::check),
    ("packet_json", packet_json::check),
    ("paths", paths::check),
    ("review_role", review_role::check),
];
