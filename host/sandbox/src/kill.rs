//! When a call must end: its deadline, its CPU time, and its cancellation.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::Poll;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tokio::sync::Notify;

use brain_manifest::{LimitName, Limits};

/// Cancels a call from another thread. Clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Cancel>);

#[derive(Debug, Default)]
struct Cancel {
    done: AtomicBool,
    /// Wakes calls that wait in the host.
    woken: Notify,
}

impl CancelToken {
    /// Ends every call that holds this token, within one tick.
    pub fn cancel(&self) {
        self.0.done.store(true, SeqCst);
        self.0.woken.notify_waiters();
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.done.load(SeqCst)
    }

    async fn cancelled(&self) {
        let mut woken = pin!(self.0.woken.notified());
        // From here on a notification is not missed, so that looking at the flag after it misses no cancellation.
        woken.as_mut().enable();
        if !self.is_cancelled() {
            woken.await;
        }
    }
}

/// Why a call was stopped by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Killed {
    #[error("the call reached its {limit} limit")]
    Limit {
        limit: LimitName,
        /// What the guest wanted or had, in the limit's unit, where that says more than the limit does.
        reached: Option<u64>,
    },
    #[error("the call was cancelled")]
    Cancelled,
}

impl Killed {
    const CPU: Self = Self::Limit { limit: LimitName::Cpu, reached: None };
    const DEADLINE: Self = Self::Limit { limit: LimitName::Deadline, reached: None };
}

/// How long a call may live. It belongs to the thread that it was started on: CPU time is that thread's.
#[derive(Clone, Debug)]
pub(crate) struct Lifetime {
    started: Instant,
    deadline: Duration,
    cpu_started: Duration,
    cpu_limit: Duration,
    cancel: CancelToken,
}

impl Lifetime {
    /// Starts now.
    pub(crate) fn start(limits: &Limits, cancel: CancelToken) -> Self {
        Self {
            started: Instant::now(),
            deadline: Duration::from_millis(limits.deadline_ms),
            cpu_started: thread_cpu_time(),
            cpu_limit: Duration::from_millis(limits.cpu_ms),
            cancel,
        }
    }

    /// Wall time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// CPU time of this thread since the start.
    pub(crate) fn cpu(&self) -> Duration {
        thread_cpu_time().saturating_sub(self.cpu_started)
    }

    /// When it is over; none where that is beyond what a clock can tell.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.started.checked_add(self.deadline)
    }

    fn remaining(&self) -> Duration {
        self.deadline.saturating_sub(self.elapsed())
    }

    /// Why the call must end, apart from its CPU time. It costs no system call, so that the host can ask often.
    pub(crate) fn interrupted(&self) -> Option<Killed> {
        if self.cancel.is_cancelled() {
            Some(Killed::Cancelled)
        } else if self.remaining().is_zero() {
            Some(Killed::DEADLINE)
        } else {
            None
        }
    }

    /// Fails if there is no time for the call at all. The CPU time of a call that begins is 0, so it need not be asked for.
    pub(crate) fn begin(&self) -> Result<(), Killed> {
        match self.interrupted() {
            Some(killed) => Err(killed),
            None if self.cpu_limit.is_zero() => Err(Killed::CPU),
            None => Ok(()),
        }
    }

    /// Fails once the call must end.
    pub(crate) fn check(&self) -> Result<(), Killed> {
        match self.interrupted() {
            Some(killed) => Err(killed),
            None if self.cpu() >= self.cpu_limit => Err(Killed::CPU),
            None => Ok(()),
        }
    }

    /// The value of `work`, or why it was not waited for any longer. A thread that waits uses no CPU time, so only the
    /// deadline and the token are looked at.
    pub(crate) async fn during<T>(&self, work: impl Future<Output = T>) -> Result<T, Killed> {
        self.check()?;
        let (mut work, mut cancelled) = (pin!(work), pin!(self.cancel.cancelled()));
        let mut deadline = pin!(tokio::time::sleep(self.remaining()));
        poll_fn(|context| {
            if let Poll::Ready(value) = work.as_mut().poll(context) {
                Poll::Ready(Ok(value))
            } else if cancelled.as_mut().poll(context).is_ready() {
                Poll::Ready(Err(Killed::Cancelled))
            } else if deadline.as_mut().poll(context).is_ready() {
                Poll::Ready(Err(Killed::DEADLINE))
            } else {
                Poll::Pending
            }
        })
        .await
    }
}

fn thread_cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0))
}
