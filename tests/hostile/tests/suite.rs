//! Every case of the suite, once: it ends as it must, and keeps its bounds. How late it ends is not looked at here.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::print_stdout, reason = "what was tried is of interest when it fails")]

use brain_hostile::case::Suite;
use brain_hostile::cases::GROUPS;

/// One test for all: the cases count the descriptors of this process.
#[test]
fn every_hostile_guest_ends_as_it_must_and_keeps_its_bounds() {
    let suite = Suite::new();
    let mut faults = Vec::new();
    let only = std::env::var("BRAIN_HOSTILE_CASE").ok();
    for (group, cases) in GROUPS {
        for case in cases().iter().filter(|case| only.as_deref().is_none_or(|only| case.name == only)) {
            let verdict = suite.run(case);
            println!("{group}/{}: {} in {:?}, peak {}", case.name, verdict.ended, verdict.wall, verdict.peak_memory);
            verdict.faults.iter().for_each(|fault| println!("  {fault}"));
            faults.extend(verdict.faults.iter().map(|fault| format!("{group}/{}: {fault}", case.name)));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
