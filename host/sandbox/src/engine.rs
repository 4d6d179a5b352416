//! The one engine of a process, and the ticker that interrupts its guests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use wasmtime::{Config, Engine, EngineWeak};

use brain_manifest::{STACK_BYTES, TICK_MS};

/// Frames of a guest's backtrace that go into the private log.
const MAX_FRAMES: usize = 32;

/// Makes the engine. Everything that decides how guests are compiled is here, so that the compile cache of one process
/// fits every other: nothing else in the host makes a `Config`.
pub(crate) fn engine() -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // A role has one synchronous export. Support for WASI 0.3 concurrency costs every call several times over.
        .concurrency_support(false)
        .epoch_interruption(true)
        .max_wasm_stack(STACK_BYTES)
        .wasm_backtrace_max_frames(std::num::NonZeroUsize::new(MAX_FRAMES))
        // Results must not depend on the machine that a role runs on.
        .relaxed_simd_deterministic(true)
        .cranelift_nan_canonicalization(true);
    Engine::new(&config)
}

/// Advances the engine's epoch while calls are running, and sleeps otherwise. It does so at the nearest deadline, and else
/// twice per [`TICK_MS`], so that with the time that two threads take to be scheduled a call still learns of a
/// cancellation within one. A thread of its own: a guest that spins must not be able to starve what stops it.
pub(crate) struct Ticker {
    pulse: Arc<Pulse>,
    thread: Thread,
}

/// What the ticker and the running calls know of each other.
pub(crate) struct Pulse {
    started: Instant,
    running: AtomicUsize,
    /// The nearest deadline of a call that was in its guest since the last tick, in nanoseconds since `started`.
    nearest: AtomicU64,
}

impl Pulse {
    /// Has the next tick come at `deadline`, where nothing else makes it come before. It holds for one tick: a call says it
    /// again whenever it is interrupted.
    pub(crate) fn expect(&self, deadline: Option<Instant>) {
        if let Some(deadline) = deadline {
            let at = deadline.saturating_duration_since(self.started).as_nanos();
            self.nearest.fetch_min(u64::try_from(at).unwrap_or(u64::MAX), SeqCst);
        }
    }

    /// How long to sleep before the next tick.
    fn pause(&self) -> Duration {
        let nearest = Duration::from_nanos(self.nearest.load(SeqCst));
        nearest.saturating_sub(self.started.elapsed()).min(Duration::from_millis(TICK_MS / 2))
    }
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let pulse = Pulse { started: Instant::now(), running: AtomicUsize::new(0), nearest: AtomicU64::new(u64::MAX) };
        let pulse = Arc::new(pulse);
        let (weak, shared) = (engine.weak(), Arc::clone(&pulse));
        let thread = thread::Builder::new().name("brain-ticker".into()).spawn(move || tick(&weak, &shared))?;
        Ok(Self { pulse, thread: thread.thread().clone() })
    }

    /// What calls tell their deadline to.
    pub(crate) fn pulse(&self) -> &Arc<Pulse> {
        &self.pulse
    }

    /// Keeps the ticker going for as long as the guard lives.
    pub(crate) fn during_call(&self, deadline: Option<Instant>) -> Ticking<'_> {
        self.pulse.expect(deadline);
        if self.pulse.running.fetch_add(1, SeqCst) == 0 {
            self.thread.unpark();
        }
        Ticking(self)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // The thread sees that the engine is gone.
        self.thread.unpark();
    }
}

/// A running call.
pub(crate) struct Ticking<'a>(&'a Ticker);

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.pulse.running.fetch_sub(1, SeqCst);
    }
}

fn tick(engine: &EngineWeak, pulse: &Pulse) {
    loop {
        if pulse.running.load(SeqCst) == 0 {
            thread::park();
        } else {
            thread::sleep(pulse.pause());
        }
        // Before the tick: who is interrupted by it says again when it has to end.
        pulse.nearest.store(u64::MAX, SeqCst);
        match engine.upgrade() {
            Some(engine) => engine.increment_epoch(),
            None => return,
        }
    }
}
