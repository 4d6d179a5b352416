//! The one engine of a process, and the ticker that interrupts its guests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Config, Engine, EngineWeak};

use crate::limits::{STACK_BYTES, TICK_MS};

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

/// Advances the engine's epoch while calls are running, and sleeps otherwise. It does so twice per [`TICK_MS`]: with the
/// time that two threads take to be scheduled, a call still overshoots its deadline by less than one. A thread of its own: a
/// guest that spins must not be able to starve what stops it.
pub(crate) struct Ticker {
    running: Arc<AtomicUsize>,
    thread: Thread,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let running = Arc::new(AtomicUsize::new(0));
        let (weak, count) = (engine.weak(), Arc::clone(&running));
        let thread = thread::Builder::new().name("brain-ticker".into()).spawn(move || tick(&weak, &count))?;
        Ok(Self { running, thread: thread.thread().clone() })
    }

    /// Keeps the ticker going for as long as the guard lives.
    pub(crate) fn during_call(&self) -> Ticking<'_> {
        if self.running.fetch_add(1, SeqCst) == 0 {
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
        self.0.running.fetch_sub(1, SeqCst);
    }
}

fn tick(engine: &EngineWeak, running: &AtomicUsize) {
    loop {
        if running.load(SeqCst) == 0 {
            thread::park();
        } else {
            thread::sleep(Duration::from_millis(TICK_MS / 2));
        }
        match engine.upgrade() {
            Some(engine) => engine.increment_epoch(),
            None => return,
        }
    }
}
