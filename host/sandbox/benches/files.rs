//! What file calls of the sandbox cost, beside the stock file system of wasmtime-wasi and beside `std::fs` itself.
//!
//! The three do the same work in turns in one process: the same guest in the sandbox and with stock preopens, and the
//! same source natively. What is compared are medians of whole runs, so that instantiation is in them too.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark reports and fails loudly"
)]

#[path = "sandbox/raw.rs"]
mod raw;
#[path = "../../../tests/guests/reader/src/read.rs"]
mod read;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use brain_packet::{AgentTaskContext, HandoffPacket};
use brain_sandbox::{Call, FileGrants, GlobLayer, Limits, Role, Sandbox, SandboxConfig, WorkspaceGrant};

use crate::raw::Raw;

/// Files of the tree, files in each of its folders, and bytes of each.
const FILES: usize = 10_000;
const PER_FOLDER: usize = 100;
const BYTES: usize = 1_000;
/// Bytes of the large file.
const LARGE: u64 = 1 << 30;
/// Turns of each measurement.
const TURNS: usize = 7;
/// Turns under a profiler.
const PROFILED: usize = 40;
/// Bounds: the sandbox against stock and against native on the tree, and the throughput of the large file against native.
const MAX_OF_STOCK: f64 = 1.0;
const MAX_OF_NATIVE: f64 = 2.5;
const MIN_THROUGHPUT: f64 = 0.6;

fn main() {
    let folders = tempfile::tempdir().unwrap();
    let bench = Bench::new(folders.path());
    let profiled = std::env::args().skip_while(|argument| argument != "--profile").nth(1);
    if let Some(what) = profiled {
        // The sandbox alone, again and again, for a profiler to look at: `--profile tree` or `--profile large`.
        let goal = if what == "large" { "stream /workspace/large" } else { "tree /workspace/tree" };
        (0..PROFILED).for_each(|_| drop(bench.sandboxed(goal)));
        return;
    }
    let tree = bench.measure("tree /workspace/tree", TURNS);
    println!("{FILES} files of {BYTES} bytes: {tree}");
    let large = bench.measure("stream /workspace/large", TURNS.min(5));
    println!("one file of {} MiB: {large}", LARGE >> 20);
    let throughput = large.native.as_secs_f64() / large.ours.as_secs_f64();
    println!(
        "tree: {:.2} of stock (at most {MAX_OF_STOCK}), {:.2} of native (at most {MAX_OF_NATIVE})",
        tree.of_stock(),
        tree.of_native()
    );
    println!("large: {:.0} % of native throughput (at least {:.0} %)", throughput * 100.0, MIN_THROUGHPUT * 100.0);
    assert!(tree.of_stock() <= MAX_OF_STOCK && tree.of_native() <= MAX_OF_NATIVE && throughput >= MIN_THROUGHPUT);
}

struct Bench {
    role: Role,
    raw: Raw,
    root: PathBuf,
}

/// Medians.
struct Measured {
    ours: Duration,
    stock: Duration,
    native: Duration,
}

impl Measured {
    fn of_stock(&self) -> f64 {
        self.ours.as_secs_f64() / self.stock.as_secs_f64()
    }

    fn of_native(&self) -> f64 {
        self.ours.as_secs_f64() / self.native.as_secs_f64()
    }
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sandbox {:.1?}, stock wasmtime-wasi {:.1?}, native {:.1?}", self.ours, self.stock, self.native)
    }
}

impl Bench {
    fn new(folder: &Path) -> Self {
        let root = folder.join("workspace");
        for n in 0..FILES {
            let at = root.join(format!("tree/{:03}", n / PER_FOLDER));
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join(format!("{n:05}.txt")), vec![b'x'; BYTES]).unwrap();
        }
        // With bytes in it: a hole would be read faster than a file ever is.
        let mut large = fs::File::create(root.join("large")).unwrap();
        let chunk = vec![7; 1 << 20];
        for _ in 0..LARGE >> 20 {
            std::io::Write::write_all(&mut large, &chunk).unwrap();
        }
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"), PathBuf::from);
        let component = target.join("debug/guests/reader.wasm");
        let component = fs::read(&component)
            .unwrap_or_else(|e| panic!("{}: {e}; build the guests first: `cargo xtask roles`", component.display()));
        let sandbox = Sandbox::new(SandboxConfig::default()).unwrap();
        Self { role: sandbox.load(&"reader".parse().unwrap(), &component).unwrap(), raw: Raw::new(&component), root }
    }

    fn measure(&self, goal: &str, turns: usize) -> Measured {
        let natively = goal.replace("/workspace", self.root.to_str().unwrap());
        let expected = read::read(&natively).unwrap();
        let (mut ours, mut stock, mut native) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..turns {
            ours.push(time(&expected, || self.sandboxed(goal)));
            stock.push(time(&expected, || self.raw.run_on(&self.root, goal).summary));
            native.push(time(&expected, || read::read(&natively).unwrap()));
        }
        Measured { ours: median(ours), stock: median(stock), native: median(native) }
    }

    fn sandboxed(&self, goal: &str) -> String {
        let (task, session) = ("task-1".parse().unwrap(), "20260101-000000-abcdef".parse().unwrap());
        let task = AgentTaskContext::new(task, session, "reader".parse().unwrap(), goal);
        let handoff = HandoffPacket::new("handoff-1".parse().unwrap(), task, "nothing");
        let everything = vec![GlobLayer::new("manifest", ["**"]), GlobLayer::new("handoff", ["**"])];
        let workspace = Some(WorkspaceGrant::new(&self.root, everything, Vec::new()));
        let files = FileGrants { workspace, ..FileGrants::default() };
        self.role.run(Call { files, limits: Limits::default(), ..Call::new(&handoff) }).result.summary
    }
}

fn time(expected: &str, work: impl FnOnce() -> String) -> Duration {
    let start = Instant::now();
    let told = work();
    let took = start.elapsed();
    assert_eq!(told, expected);
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
