//! What the sandbox costs.
//!
//! The first number is a ratio: one isolated run of a role through the whole API (grants opened, fresh store, typed call,
//! reply normalised, receipt made) against the same component instantiated and called with wasmtime and its stock WASI
//! alone. Both are measured in turns in one process, so that a busy machine is busy for both.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark reports and fails loudly"
)]

#[path = "sandbox/bench.rs"]
mod bench;
#[path = "sandbox/flight.rs"]
mod flight;
#[path = "sandbox/raw.rs"]
mod raw;

#[path = "../examples/once.rs"]
#[allow(dead_code, reason = "its `main` is the example's")]
mod once;

use criterion::Criterion;

/// Runs this binary as the example `once`: a process whose whole life is measured from outside.
pub const ONCE: &str = "--as-once";

fn main() {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == ONCE) {
        once::run(arguments.into_iter().skip(1).map(Into::into).collect()).expect("once");
        return;
    }
    let bench = bench::Bench::new();
    let mut criterion = Criterion::default().configure_from_args();
    bench::warm(&mut criterion, &bench);
    bench::load(&mut criterion, &bench);
    criterion.final_summary();
    bench.report();
}
