//! Many calls at once, each waiting in the host: what one of them holds.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use brain_sandbox::{Limits, Role};

use crate::bench::{Bench, handoff, mib, resident_bytes};

/// Calls that are in flight at once.
const RUNS: usize = 1_000;
/// How long each waits: long enough that all have begun to when the first is done.
const WAIT: Duration = Duration::from_secs(10);
/// How often the process is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(20);
/// Stack of a calling thread. What a guest needs of it is bounded by [`brain_sandbox::STACK_BYTES`].
const THREAD_STACK: usize = 2 << 20;

/// Prints the resident memory of one call among [`RUNS`] that wait in the host.
///
/// # Panics
/// When they did not overlap, or one did not return.
pub fn report(bench: &Bench, role: &Role) {
    let handoff = handoff(&format!("sleep {}", WAIT.as_millis()));
    let limits = Limits { deadline_ms: 10 * u64::try_from(WAIT.as_millis()).unwrap(), ..Limits::default() };
    let barrier = Barrier::new(RUNS + 1);
    let (before, idle, peak, times) = std::thread::scope(|threads| {
        let before = resident_bytes();
        let calls: Vec<_> = (0..RUNS)
            .map(|_| {
                let call = || {
                    barrier.wait();
                    let start = Instant::now();
                    let run = bench.run(role, &handoff, limits.clone());
                    assert_eq!(run.ended.code(), "returned", "{}", run.ended.message());
                    (start, Instant::now())
                };
                std::thread::Builder::new().stack_size(THREAD_STACK).spawn_scoped(threads, call).unwrap()
            })
            .collect();
        barrier.wait();
        // Threads that have not begun their call hold a stack and nothing else.
        let idle = resident_bytes();
        let mut peak = 0;
        while !calls.iter().any(std::thread::ScopedJoinHandle::is_finished) {
            peak = peak.max(resident_bytes());
            std::thread::sleep(LOOK);
        }
        let times: Vec<_> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        (before, idle, peak, times)
    });
    let (last_start, first_end) = (times.iter().map(|t| t.0).max().unwrap(), times.iter().map(|t| t.1).min().unwrap());
    assert!(last_start < first_end, "the calls did not overlap: make them wait longer");
    let begun = last_start - times.iter().map(|t| t.0).min().unwrap();
    let after = resident_bytes();
    println!(
        "{RUNS} runs in flight: {} resident for each ({} to {}, {} after them; the threads alone: {}); all had begun after {begun:.1?}",
        kib((peak - before) / RUNS as u64),
        mib(before),
        mib(peak),
        mib(after),
        kib((idle.saturating_sub(before)) / RUNS as u64),
    );
}

fn kib(bytes: u64) -> String {
    format!("{:.1} KiB", bytes as f64 / 1024.0)
}
