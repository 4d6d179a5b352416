//! When a call must end: its deadline, and its cancellation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Cancels a call from another thread. Clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Ends every call that holds this token, within one tick.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// Why a call was stopped from outside the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Killed {
    #[error("the call reached its deadline")]
    Deadline,
    #[error("the call was cancelled")]
    Cancelled,
}

/// How long a call may live.
#[derive(Clone, Debug)]
pub(crate) struct Lifetime {
    started: Instant,
    limit: Duration,
    cancel: CancelToken,
}

impl Lifetime {
    /// Starts now.
    pub(crate) fn start(limit: Duration, cancel: CancelToken) -> Self {
        Self { started: Instant::now(), limit, cancel }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.limit.saturating_sub(self.elapsed())
    }

    /// Fails once the call must end.
    pub(crate) fn check(&self) -> Result<(), Killed> {
        if self.cancel.is_cancelled() {
            Err(Killed::Cancelled)
        } else if self.remaining().is_zero() {
            Err(Killed::Deadline)
        } else {
            Ok(())
        }
    }
}
