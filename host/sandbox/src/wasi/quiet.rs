//! Clocks and randomness of a call that is granted neither: constant, so that a role cannot tell one run from another by
//! them, and good enough for the language runtimes that ask for them at start.

use std::time::Duration;

use wasmtime_wasi::{HostWallClock, WasiCtxBuilder};

use crate::limits::RANDOM_BYTES;

/// A wall clock that stands still at the Unix epoch.
struct StoppedClock;

impl HostWallClock for StoppedClock {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// Sets a context up without environment, arguments, time of day or entropy. `seed` makes the pseudo-random bytes: the
/// same call gets the same ones. The monotonic clock runs, from zero.
pub(crate) fn quieten(builder: &mut WasiCtxBuilder, seed: [u8; 32]) {
    use rand::SeedableRng;
    use rand::rngs::StdRng;
    builder
        .wall_clock(StoppedClock)
        .secure_random(StdRng::from_seed(seed))
        .insecure_random(StdRng::from_seed(seed))
        .insecure_random_seed(u128::from_le_bytes(*seed.first_chunk().unwrap_or(&[0; 16])))
        .max_random_size(RANDOM_BYTES);
}
