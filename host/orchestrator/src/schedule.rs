//! Runs jobs side by side, each as soon as those it waits for are done.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// How one job came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome<T> {
    /// It ran.
    Done(T),
    /// It was never started: a job that it waits for did not complete, or they wait for each other.
    Blocked,
}

struct Board<T> {
    waiting: BTreeSet<usize>,
    running: usize,
    completed: BTreeSet<usize>,
    outcomes: Vec<Option<T>>,
}

/// Runs `n` jobs, at most `max_parallel` at a time and the first that is ready first. `waits_for(i)` names the jobs that
/// must complete before job `i`; `run` returns a job's outcome and whether it completed. A freed place is taken at once.
pub(crate) fn run_jobs<T: Send>(
    n: usize,
    max_parallel: usize,
    waits_for: impl Fn(usize) -> Vec<usize> + Sync,
    run: impl Fn(usize) -> (T, bool) + Sync,
) -> Vec<Outcome<T>> {
    let board = Mutex::new(Board {
        waiting: (0..n).collect(),
        running: 0,
        completed: BTreeSet::new(),
        outcomes: (0..n).map(|_| None).collect(),
    });
    let changed = Condvar::new();
    let worker = || {
        let mut b = board.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let ready = b.waiting.iter().copied().find(|i| waits_for(*i).iter().all(|j| b.completed.contains(j)));
            match ready {
                Some(job) => {
                    b.waiting.remove(&job);
                    b.running += 1;
                    drop(b);
                    let (outcome, completed) = run(job);
                    b = board.lock().unwrap_or_else(PoisonError::into_inner);
                    b.running -= 1;
                    if completed {
                        b.completed.insert(job);
                    }
                    if let Some(slot) = b.outcomes.get_mut(job) {
                        *slot = Some(outcome);
                    }
                    changed.notify_all();
                }
                None if b.waiting.is_empty() || b.running == 0 => {
                    changed.notify_all();
                    return;
                }
                None => b = changed.wait(b).unwrap_or_else(PoisonError::into_inner),
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..max_parallel.clamp(1, n.max(1)) {
            scope.spawn(worker);
        }
    });
    let board = board.into_inner().unwrap_or_else(PoisonError::into_inner);
    board.outcomes.into_iter().map(|o| o.map_or(Outcome::Blocked, Outcome::Done)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn independent_jobs_run_side_by_side() {
        // Each waits for the other inside its run: only two at once get past it.
        let barrier = Barrier::new(2);
        let outcomes = run_jobs(
            2,
            2,
            |_| vec![],
            |i| {
                barrier.wait();
                (i, true)
            },
        );
        assert_eq!(outcomes, [Outcome::Done(0), Outcome::Done(1)]);
    }

    #[test]
    fn a_failed_job_blocks_those_that_wait_for_it_and_no_others() {
        let outcomes = run_jobs(
            4,
            2,
            |i| {
                if i == 1 {
                    vec![0]
                } else if i == 2 {
                    vec![1]
                } else {
                    vec![]
                }
            },
            |i| (i, i != 0),
        );
        assert_eq!(outcomes, [Outcome::Done(0), Outcome::Blocked, Outcome::Blocked, Outcome::Done(3)]);
    }

    #[test]
    fn jobs_that_wait_for_each_other_are_blocked() {
        assert_eq!(run_jobs(2, 2, |i| vec![1 - i], |i| (i, true)), [Outcome::Blocked, Outcome::Blocked]);
    }

    proptest! {
        #[test]
        fn order_and_bounds_hold(n in 1_usize..12, parallel in 1_usize..5, edges in proptest::collection::vec((0_usize..12, 0_usize..12), 0..20)) {
            let edges: Vec<_> = edges.into_iter().filter(|(a, b)| a < b && *b < n).collect();
            let running = AtomicUsize::new(0);
            let most = AtomicUsize::new(0);
            let done = Mutex::new(BTreeSet::new());
            let waits = |i: usize| edges.iter().filter(|(_, b)| *b == i).map(|(a, _)| *a).collect::<Vec<_>>();
            let outcomes = run_jobs(n, parallel, waits, |i| {
                most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                let early = waits(i).iter().any(|j| !done.lock().unwrap().contains(j));
                done.lock().unwrap().insert(i);
                running.fetch_sub(1, SeqCst);
                (early, true)
            });
            prop_assert!(outcomes.iter().all(|o| *o == Outcome::Done(false)));
            prop_assert!(most.load(SeqCst) <= parallel);
        }
    }
}
