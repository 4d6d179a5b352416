//! What is small for a guest must not be large for the host. Alone in its process, since it looks at the process's memory.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use brain_sandbox::{Ended, LimitName};
use brain_tests::Bench;
use brain_tests::components::{RESULT, RISKS, core, role};

/// 60,000 strings of 60,000 bytes, all the same bytes: half a megabyte for the guest, 3.6 GB for a host that copies.
#[test]
fn overlapping_strings_do_not_multiply_in_the_host() {
    let bench = Bench::new();
    let body = format!(
        "(local $i i32) (local $at i32)
        (drop (memory.grow (i32.const 32)))
        (local.set $at (i32.const 131072))
        (loop $more
            (i32.store (local.get $at) (i32.const 1048576))
            (i32.store offset=4 (local.get $at) (i32.const 60000))
            (local.set $at (i32.add (local.get $at) (i32.const 8)))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $more (i32.lt_u (local.get $i) (i32.const 60000))))
        (i32.store (i32.const {RISKS}) (i32.const 131072))
        (i32.store offset=4 (i32.const {RISKS}) (i32.const 60000))
        (i32.const {RESULT})"
    );
    let overlapping = bench.sandbox.load(&"guest".parse().unwrap(), &role(&core("", &body))).unwrap();
    let before = peak_resident_bytes();
    let run = bench.run(&overlapping, "anything");
    let Ended::Killed { limit: LimitName::Result, .. } = run.ended else { panic!("{:?}", run.ended) };
    let grown = peak_resident_bytes() - before;
    assert!(grown < 8 * bench.limits.hostcall_bytes, "the host grew by {grown} bytes");
}

fn peak_resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
