//! What is measured.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use brain_packet::{AgentTaskContext, HandoffPacket};
use brain_sandbox::{Call, FileGrants, GlobLayer, Limits, Role, Run, Sandbox, SandboxConfig, TICK_MS, WorkspaceGrant};
use criterion::{BatchSize, Criterion};

use crate::flight;
use crate::raw::Raw;

/// Pairs of runs whose medians make the ratio.
const PAIRS: usize = 2_000;
/// The ratio that the sandbox may not exceed.
const MAX_RATIO: f64 = 1.25;
/// Runs that are killed at their deadline, and that deadline.
const KILLS: usize = 200;
const KILL_AT: Duration = Duration::from_millis(20);
/// What a kill may overshoot its deadline by, at the 99th percentile.
const MAX_OVERSHOOT: Duration = Duration::from_millis(TICK_MS + 5);
/// Processes that are started one after the other.
const PROCESSES: usize = 15;
/// Roles that are loaded at once to see what they hold.
const ROLES: usize = 10;

/// A sandbox with a project, a context folder and an artifact folder.
pub struct Bench {
    sandbox: Sandbox,
    role: Role,
    component: Vec<u8>,
    component_path: PathBuf,
    raw: Raw,
    handoff: HandoffPacket,
    folders: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        let folders = tempfile::tempdir().unwrap();
        for folder in ["workspace", "context", "artifacts"] {
            fs::create_dir(folders.path().join(folder)).unwrap();
        }
        fs::write(folders.path().join("workspace/main.rs"), "fn main() {}\n").unwrap();
        fs::write(folders.path().join("workspace/.gitignore"), "target/\n").unwrap();
        fs::write(folders.path().join("context/request.md"), "nothing\n").unwrap();
        let component_path = guest("noop");
        let component = read_guest("noop");
        let sandbox = sandbox(folders.path());
        let role = sandbox.load(&"noop".parse().unwrap(), &component).unwrap();
        let raw = Raw::new(&component);
        Self { sandbox, role, component, component_path, raw, handoff: handoff("nothing"), folders }
    }

    /// A call with a project, a context folder and an artifact folder.
    fn call<'a>(&self, handoff: &'a HandoffPacket, limits: Limits) -> Call<'a> {
        let at = |folder: &str| self.folders.path().join(folder);
        let files = FileGrants {
            workspace: Some(WorkspaceGrant::new(at("workspace"), vec![GlobLayer::new("manifest", ["**"])], Vec::new())),
            context: Some(at("context")),
            artifacts: Some(at("artifacts")),
            ..FileGrants::default()
        };
        Call { files, limits, log: Some(at("log")), ..Call::new(handoff) }
    }

    pub fn run(&self, role: &Role, handoff: &HandoffPacket, limits: Limits) -> Run {
        role.run(self.call(handoff, limits))
    }

    fn noop(&self) -> Call<'_> {
        self.call(&self.handoff, Limits::default())
    }

    /// The measurements that criterion has no form for.
    ///
    /// # Panics
    /// When the ratio is over its bound, or kills come too late: the sandbox has become too expensive.
    pub fn report(&self) {
        println!("\n== beside criterion");
        let ratio = self.ratio();
        let misbehave = self.sandbox.load(&"misbehave".parse().unwrap(), &read_guest("misbehave")).unwrap();
        let late = self.kills(&misbehave);
        self.processes();
        self.resident();
        flight::report(self, &misbehave);
        assert!(late.is_zero(), "kills come {late:.1?} later than {MAX_OVERSHOOT:?} and what the machine adds");
        assert!(ratio <= MAX_RATIO, "the sandbox costs {ratio:.2} times a raw run, the bound is {MAX_RATIO}");
    }

    fn ratio(&self) -> f64 {
        let (mut ours, mut raw) = (Vec::with_capacity(PAIRS), Vec::with_capacity(PAIRS));
        for turn in 0..PAIRS {
            // What either is called with is made before: the call is what is compared.
            let call = self.noop();
            // Whoever comes second finds warmer caches: take turns at that, too.
            if turn % 2 == 0 {
                ours.push(time(|| self.role.run(call)));
                raw.push(time(|| self.raw.run()));
            } else {
                raw.push(time(|| self.raw.run()));
                ours.push(time(|| self.role.run(call)));
            }
        }
        let (ours, raw) = (quantile(&mut ours, 0.5), quantile(&mut raw, 0.5));
        let ratio = ours.as_secs_f64() / raw.as_secs_f64();
        println!("warm run: sandbox {ours:.1?}, raw {raw:.1?} (medians of {PAIRS})");
        println!("ratio sandbox/raw = {ratio:.2}");
        ratio
    }

    /// Prints how late kills come, and returns by how much the 99th percentile is over what it may be.
    fn kills(&self, role: &Role) -> Duration {
        let handoff = handoff("spin");
        let limits = Limits { deadline_ms: u64::try_from(KILL_AT.as_millis()).unwrap(), ..Limits::default() };
        let (mut over, mut native) = (Vec::with_capacity(KILLS), Vec::with_capacity(KILLS));
        for _ in 0..KILLS {
            let run = self.run(role, &handoff, limits.clone());
            assert_eq!(run.ended.code(), "sandbox.limit.deadline");
            over.push(Duration::from_secs_f64(run.receipt.wall_ms / 1e3).saturating_sub(KILL_AT));
            native.push(native_overshoot());
        }
        let [p50, native_p50] = [&mut over, &mut native].map(|times| quantile(times, 0.5));
        let [p99, native_p99] = [&mut over, &mut native].map(|times| quantile(times, 0.99));
        println!(
            "kill overshoot at a deadline of {KILL_AT:?}: p50 {p50:.1?}, p99 {p99:.1?}; a native thread stopped by another \
            in turns with them: p50 {native_p50:.1?}, p99 {native_p99:.1?} ({KILLS} runs of each)"
        );
        p99.saturating_sub(MAX_OVERSHOOT + native_p99)
    }

    fn processes(&self) {
        let cache = self.folders.path().join("cache");
        let start = || {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.arg(crate::ONCE).arg(&self.component_path).arg(&cache);
            let start = Instant::now();
            let output = command.output().unwrap();
            let took = start.elapsed();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("returned") && text.contains("(0 compiled"), "{text}{output:?}");
            took
        };
        let mut times: Vec<Duration> = (0..PROCESSES).map(|_| start()).collect();
        let median = quantile(&mut times, 0.5);
        println!("process start to first result and exit, cache warm: {median:.1?} (median of {PROCESSES})");
    }

    fn resident(&self) {
        let before = resident_bytes();
        let roles: Vec<Role> = (0..ROLES)
            .map(|n| {
                let mut component = self.component.clone();
                component.extend(custom_section(&format!("role {n}")));
                self.sandbox.load(&format!("role-{n}").parse().unwrap(), &component).unwrap()
            })
            .collect();
        let compiled = resident_bytes();
        // A second sandbox takes the same ten from the cache, as a second start does.
        drop(roles);
        let second = sandbox(self.folders.path());
        let fresh = resident_bytes();
        let roles: Vec<Role> = (0..ROLES)
            .map(|n| {
                let mut component = self.component.clone();
                component.extend(custom_section(&format!("role {n}")));
                second.load(&format!("role-{n}").parse().unwrap(), &component).unwrap()
            })
            .collect();
        assert_eq!(second.compilations(), 0);
        let cached = resident_bytes();
        for role in &roles {
            assert_eq!(self.run(role, &self.handoff, Limits::default()).ended.code(), "returned");
        }
        let used = resident_bytes();
        println!(
            "resident with {ROLES} roles more: {} after compiling (from {}); {} from the cache (from {}); {} after a run of each",
            mib(compiled),
            mib(before),
            mib(cached),
            mib(fresh),
            mib(used)
        );
    }
}

pub fn warm(criterion: &mut Criterion, bench: &Bench) {
    let mut group = criterion.benchmark_group("warm run of noop");
    group.bench_function("sandbox", |b| {
        b.iter_batched(|| bench.noop(), |call| bench.role.run(call), BatchSize::SmallInput)
    });
    group.bench_function("raw wasmtime", |b| b.iter(|| black_box(bench.raw.run())));
    group.finish();
}

pub fn load(criterion: &mut Criterion, bench: &Bench) {
    let mut group = criterion.benchmark_group("load of noop");
    let name = "noop".parse().unwrap();
    group.bench_function("check alone", |b| b.iter(|| black_box(bench.sandbox.check(&bench.component))));
    group.bench_function("from a warm cache", |b| b.iter(|| bench.sandbox.load(&name, &bench.component).unwrap()));
    group.finish();
    assert_eq!(bench.sandbox.compilations(), 1, "the cache was not used");
}

fn sandbox(folders: &Path) -> Sandbox {
    Sandbox::new(SandboxConfig { cache_dir: Some(folders.join("cache")), ..SandboxConfig::default() }).unwrap()
}

pub fn handoff(goal: &str) -> HandoffPacket {
    let (task, session) = ("task-1".parse().unwrap(), "20260101-000000-abcdef".parse().unwrap());
    let task = AgentTaskContext::new(task, session, "noop".parse().unwrap(), goal);
    HandoffPacket::new("handoff-1".parse().unwrap(), task, "nothing")
}

fn guest(name: &str) -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository.join("target"), PathBuf::from);
    target.join("debug/guests").join(format!("{name}.wasm"))
}

fn read_guest(name: &str) -> Vec<u8> {
    let path = guest(name);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}; build the guests first: `cargo xtask roles`", path.display()))
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    // What becomes of the answer is the caller's affair.
    let answer = black_box(work());
    let took = start.elapsed();
    drop(answer);
    took
}

/// How late a thread that computes learns that another one, which slept until [`KILL_AT`], has stopped it: what the machine
/// makes of it without any sandbox.
fn native_overshoot() -> Duration {
    let (start, stop) = (Instant::now(), AtomicBool::new(false));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(KILL_AT.saturating_sub(start.elapsed()));
            stop.store(true, Relaxed);
        });
        while !stop.load(Relaxed) {
            std::hint::spin_loop();
        }
        start.elapsed().saturating_sub(KILL_AT)
    })
}

fn quantile(times: &mut [Duration], q: f64) -> Duration {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * q).round() as usize]
}

pub fn resident_bytes() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

pub fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// A custom section: it changes a component's digest and nothing else.
fn custom_section(text: &str) -> Vec<u8> {
    let name = text.as_bytes();
    let mut section = vec![0, u8::try_from(name.len() + 1).unwrap(), u8::try_from(name.len()).unwrap()];
    section.extend_from_slice(name);
    section
}
