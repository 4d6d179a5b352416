//! The time of day and randomness: real where a call is granted them, else constant, so that a role cannot tell one run
//! from another by them, and good enough for the language runtimes that ask for them at start.
//!
//! The monotonic clock is wasmtime-wasi's: it runs for every call, from zero.

use std::time::{Duration, SystemTime};

use brain_packet::HandoffId;
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng, TryRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wasmtime::component::HasData;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::{self, Datetime};
use wasmtime_wasi::p2::bindings::random::{insecure, insecure_seed, random};

use crate::kill::Killed;
use brain_manifest::{LimitName, Limits};

/// What a call may learn of the world beside its files. By default nothing: the time of day stands still at the Unix
/// epoch, and random bytes follow from the handoff's id, so that the same handoff gets the same ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ambient {
    /// The time of day.
    pub wall_clock: bool,
    /// Random bytes that nobody can foresee, seeded by the operating system.
    pub random: bool,
}

/// The resolution of the clock that stands still.
const STOPPED: Datetime = Datetime { seconds: 1, nanoseconds: 0 };
/// The resolution of the real clock.
const REAL: Datetime = Datetime { seconds: 0, nanoseconds: 1 };

/// The clock and the random bytes of one call, counted.
pub(crate) struct Surroundings {
    granted: Ambient,
    handoff: HandoffId,
    random: Option<Random>,
    random_limit: u64,
    memory_limit: u64,
    random_used: u64,
    wall_clock_reads: u64,
}

struct Random {
    bytes: StdRng,
    insecure_seed: (u64, u64),
}

/// Names [`Surroundings`] for the generated `add_to_linker` functions.
pub(crate) struct HasSurroundings;

impl HasData for HasSurroundings {
    type Data<'a> = &'a mut Surroundings;
}

impl Surroundings {
    pub(crate) fn new(granted: Ambient, handoff: &HandoffId, limits: &Limits) -> Self {
        Self {
            granted,
            handoff: handoff.clone(),
            random: None,
            random_limit: limits.random_bytes,
            memory_limit: limits.memory_bytes,
            random_used: 0,
            wall_clock_reads: 0,
        }
    }

    /// Random bytes that were handed out.
    pub(crate) fn random_used(&self) -> u64 {
        self.random_used
    }

    /// How often the time of day was read.
    pub(crate) fn wall_clock_reads(&self) -> u64 {
        self.wall_clock_reads
    }

    /// The generator. Most guests never ask for it, so it is made when one does.
    fn random(&mut self) -> wasmtime::Result<&mut Random> {
        if self.random.is_none() {
            let mut seed = [0; 32];
            if self.granted.random {
                SysRng.try_fill_bytes(&mut seed)?;
            } else {
                seed = Sha256::digest(self.handoff.as_str()).into();
            }
            let mut bytes = StdRng::from_seed(seed);
            let insecure_seed = (bytes.next_u64(), bytes.next_u64());
            self.random = Some(Random { bytes, insecure_seed });
        }
        self.random.as_mut().ok_or_else(|| wasmtime::Error::msg("there is no generator"))
    }

    /// Charges `len` bytes, or ends the call.
    fn charge(&mut self, len: u64) -> Result<(), Killed> {
        // They are copied into the guest's memory, where more than this cannot fit; the host need not make them first.
        if len > self.memory_limit {
            return Err(Killed::Limit { limit: LimitName::Memory, reached: Some(len) });
        }
        let used = self.random_used.saturating_add(len);
        if used > self.random_limit {
            return Err(Killed::Limit { limit: LimitName::Random, reached: Some(used) });
        }
        self.random_used = used;
        Ok(())
    }

    fn bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.charge(len)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(len)?)?;
        bytes.resize(usize::try_from(len)?, 0);
        self.random()?.bytes.fill_bytes(&mut bytes);
        Ok(bytes)
    }

    fn number(&mut self) -> wasmtime::Result<u64> {
        self.charge(size_of::<u64>() as u64)?;
        Ok(self.random()?.bytes.next_u64())
    }
}

impl random::Host for Surroundings {
    fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.bytes(len)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.number()
    }
}

impl insecure::Host for Surroundings {
    fn get_insecure_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.bytes(len)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.number()
    }
}

impl insecure_seed::Host for Surroundings {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok(self.random()?.insecure_seed)
    }
}

impl wall_clock::Host for Surroundings {
    fn now(&mut self) -> wasmtime::Result<Datetime> {
        self.wall_clock_reads += 1;
        let now = if self.granted.wall_clock {
            // A machine whose clock is set before 1970 gets the epoch.
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
        } else {
            Duration::ZERO
        };
        Ok(Datetime { seconds: now.as_secs(), nanoseconds: now.subsec_nanos() })
    }

    fn resolution(&mut self) -> wasmtime::Result<Datetime> {
        Ok(if self.granted.wall_clock { REAL } else { STOPPED })
    }
}
