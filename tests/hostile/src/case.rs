//! One case of the suite: a guest, what it does, and what must come of it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use brain_packet::TaskStatus;
use brain_sandbox::{Ended, LimitName, Limits, Role, Run, Sandbox, SandboxConfig};
use brain_tests::components::{core, role};
use brain_tests::probe::probe;
use brain_tests::probe::script::{Answer, Op};
use brain_tests::{Bench, guest, target};

use crate::measure::open_descriptors;
use crate::outside::{Outside, snapshot, told};

/// Bytes that a log may have beyond [`Limits::output_bytes`]: a backtrace and its headings.
const LOG_ROOM: u64 = 64 << 10;
/// Bytes of the file that every case finds in its workspace.
const FILE: &str = "seven..";
/// The code of a component that is refused before it runs.
pub const REFUSED: &str = "sandbox.load";

/// The guest of a case.
#[derive(Clone, Copy)]
pub enum Guest {
    /// `misbehave`, by its goal.
    Says(&'static str),
    /// `probe`, by its script.
    Probes(fn() -> Vec<Op>),
    /// The smallest role, by the body of its function, which leaves the address of a result.
    Body(&'static str),
    /// A component of its own.
    Made(fn() -> Vec<u8>),
}

/// What a case looks at when its call is over.
pub struct Seen<'a> {
    /// The call; none when the component was refused.
    pub run: Option<&'a Run>,
    /// Why it was refused.
    pub refusal: Option<&'a str>,
    /// What `probe` answered.
    pub answers: &'a [Answer],
    /// The bench that it ran on.
    pub bench: &'a Bench,
}

impl Seen<'_> {
    /// Whether something was refused at a limit, and the receipt says so.
    ///
    /// # Errors
    /// It does not.
    pub fn reached(&self, limit: LimitName) -> Result<(), String> {
        let reached = &self.run().receipt.reached;
        match reached.iter().find(|reached| reached.limit == limit) {
            Some(reached) if reached.times > 0 && !reached.remedy.is_empty() => Ok(()),
            _ => Err(format!("the receipt does not say that the {limit} limit was reached: {reached:?}")),
        }
    }

    /// The call.
    ///
    /// # Panics
    /// When there was none.
    pub fn run(&self) -> &Run {
        self.run.expect("the component was refused")
    }
}

/// A thread beside the call: it works until the flag is set.
pub type Beside = fn(&Bench, &Outside, &AtomicBool);

/// One attack.
#[derive(Clone)]
pub struct Case {
    /// Its name, unique in the table.
    pub name: &'static str,
    /// The attack, in one line.
    pub attack: &'static str,
    /// Who attacks.
    pub guest: Guest,
    /// The codes that it may end by.
    pub ends: Vec<&'static str>,
    writes: bool,
    limits: fn(&mut Limits),
    set_up: fn(&Bench, &Outside),
    beside: Option<Beside>,
    also: fn(&Seen<'_>) -> Result<(), String>,
}

impl Case {
    /// A case that ends by `end`, under the default limits.
    pub fn new(name: &'static str, attack: &'static str, guest: Guest, end: &'static str) -> Self {
        Self {
            name,
            attack,
            guest,
            ends: vec![end],
            writes: false,
            limits: |_| {},
            set_up: |_, _| {},
            beside: None,
            also: |_| Ok(()),
        }
    }

    /// A case that computes or waits without end, and is stopped at its deadline.
    pub fn endless(name: &'static str, attack: &'static str, guest: Guest) -> Self {
        Self::new(name, attack, guest, "sandbox.limit.deadline").limits(|limits| limits.deadline_ms = DEADLINE_MS)
    }

    /// Under limits of its own.
    #[must_use]
    pub fn limits(mut self, limits: fn(&mut Limits)) -> Self {
        self.limits = limits;
        self
    }

    /// With the whole workspace granted to be written: what comes of it is a proposal, and the tree stays as it is.
    #[must_use]
    pub fn writes(mut self) -> Self {
        self.writes = true;
        self
    }

    /// With something in its folders.
    #[must_use]
    pub fn set_up(mut self, set_up: fn(&Bench, &Outside)) -> Self {
        self.set_up = set_up;
        self
    }

    /// With a thread beside it.
    #[must_use]
    pub fn beside(mut self, beside: Beside) -> Self {
        self.beside = Some(beside);
        self
    }

    /// May end in another way too, where both keep the bound.
    #[must_use]
    pub fn or(mut self, end: &'static str) -> Self {
        self.ends.push(end);
        self
    }

    /// With a bound of its own.
    #[must_use]
    pub fn also(mut self, also: fn(&Seen<'_>) -> Result<(), String>) -> Self {
        self.also = also;
        self
    }

    /// Whether it is one that is stopped at its deadline.
    pub fn is_endless(&self) -> bool {
        self.ends == ["sandbox.limit.deadline"]
    }
}

/// The deadline of the cases that have no end.
pub const DEADLINE_MS: u64 = 50;

/// How a case went.
#[derive(Debug)]
pub struct Verdict {
    /// The code that it ended by.
    pub ended: String,
    /// From the call to its return, with everything that the sandbox tidies up.
    pub wall: Duration,
    /// How long after its deadline it returned; none when it was not stopped at it.
    pub overshoot: Option<Duration>,
    /// The most linear memory that it had.
    pub peak_memory: u64,
    /// What is wrong; empty when the case passed.
    pub faults: Vec<String>,
}

/// The sandbox of the suite and the guests that are used over and over.
pub struct Suite {
    sandbox: Sandbox,
    built: BTreeMap<&'static str, Role>,
}

impl Suite {
    /// Loads the built guests.
    ///
    /// # Panics
    /// When they have not been built.
    pub fn new() -> Self {
        let cache = target().join("compiled-for-tests");
        let sandbox = Sandbox::new(SandboxConfig { cache_dir: Some(cache), ..SandboxConfig::default() }).unwrap();
        let load = |name: &'static str| (name, sandbox.load(&name.parse().unwrap(), &guest(name)).unwrap());
        let built = ["misbehave", "probe", "noop"].map(load).into_iter().collect();
        Self { sandbox, built }
    }

    /// A built guest.
    pub fn built(&self, name: &str) -> &Role {
        &self.built[name]
    }

    /// A bench of the suite's sandbox.
    pub fn bench(&self) -> Bench {
        Bench::of(self.sandbox.clone())
    }

    fn load(&self, component: &[u8]) -> Result<Role, String> {
        self.sandbox.load(&"guest".parse().unwrap(), component).map_err(|error| error.to_string())
    }

    /// Runs one case and holds it to its bounds and to those of all.
    pub fn run(&self, case: &Case) -> Verdict {
        self.ready(case).run()
    }

    /// A case with its guest loaded, its folders set up, to be run once or often.
    ///
    /// # Panics
    /// When the folders cannot be made.
    pub fn ready<'s>(&'s self, case: &'s Case) -> Ready<'s> {
        let around = tempfile::tempdir().unwrap();
        let outside = Outside::make(&around.path().join("outside"));
        let mut bench = self.bench();
        fs::write(bench.workspace.path().join("file"), FILE).unwrap();
        if case.writes {
            bench.write = vec!["**".into()];
        }
        (case.limits)(&mut bench.limits);
        (case.set_up)(&bench, &outside);
        let role = match case.guest {
            Guest::Says(_) => Ok(self.built["misbehave"].clone()),
            Guest::Probes(_) => Ok(self.built["probe"].clone()),
            Guest::Body(body) => self.load(&role(&core("", body))),
            Guest::Made(made) => self.load(&made()),
        };
        let before = case.beside.is_none().then(|| snapshot(bench.workspace.path()));
        Ready { suite: self, case, role, bench, outside, before, _around: around }
    }
}

impl Default for Suite {
    fn default() -> Self {
        Self::new()
    }
}

/// A case that can be run.
pub struct Ready<'s> {
    suite: &'s Suite,
    case: &'s Case,
    role: Result<Role, String>,
    bench: Bench,
    outside: Outside,
    /// The workspace as it was; none when something beside the call changes it.
    before: Option<BTreeMap<PathBuf, String>>,
    _around: tempfile::TempDir,
}

impl Ready<'_> {
    /// Runs it.
    ///
    /// # Panics
    /// When the machine has no room for it.
    pub fn run(&self) -> Verdict {
        let (case, bench) = (self.case, &self.bench);
        let role = match &self.role {
            Ok(role) => role,
            Err(refusal) => return self.refused(refusal),
        };
        let open = open_descriptors();
        let (run, answers, wall) = beside(case.beside, bench, &self.outside, || self.call(role));
        let seen = Seen { run: Some(&run), refusal: None, answers: &answers, bench };
        let mut faults = Vec::new();
        self.hold(&run, &answers, &mut faults);
        let left = open_descriptors();
        if left != open {
            let new: Vec<_> = left.iter().filter(|(fd, to)| open.get(*fd) != Some(to)).collect();
            faults.push(format!("{} descriptors were open before and {} after: {new:?}", open.len(), left.len()));
        }
        faults.extend((case.also)(&seen).err());
        self.usable(&mut faults);
        self.clear();
        self.verdict(&run, wall, faults)
    }

    /// Runs it to see how late it is stopped, and looks at nothing but its end.
    pub fn kill(&self) -> Verdict {
        let (run, _, wall) = match &self.role {
            Ok(role) => self.call(role),
            Err(refusal) => return self.refused(refusal),
        };
        self.clear();
        let mut faults = Vec::new();
        self.end(&run, &mut faults);
        self.verdict(&run, wall, faults)
    }

    fn call(&self, role: &Role) -> (Run, Vec<Answer>, Duration) {
        let begun = Instant::now();
        let (run, answers) = match self.case.guest {
            Guest::Says(goal) => (self.bench.run(role, goal), Vec::new()),
            Guest::Probes(script) => {
                let probed = probe(&self.bench, role, &script());
                (probed.run, probed.answers)
            }
            Guest::Body(_) | Guest::Made(_) => (self.bench.run(role, "anything"), Vec::new()),
        };
        (run, answers, begun.elapsed())
    }

    fn verdict(&self, run: &Run, wall: Duration, faults: Vec<String>) -> Verdict {
        let deadline = Duration::from_millis(self.bench.limits.deadline_ms);
        let at_deadline = matches!(run.ended, Ended::Killed { limit: LimitName::Deadline, .. });
        Verdict {
            ended: run.ended.code().to_owned(),
            wall,
            overshoot: at_deadline.then(|| wall.saturating_sub(deadline)),
            peak_memory: run.receipt.peak_memory_bytes,
            faults,
        }
    }

    fn refused(&self, refusal: &str) -> Verdict {
        let mut faults = Vec::new();
        if !self.case.ends.contains(&REFUSED) {
            faults.push(format!("it was not loaded: {refusal}"));
        }
        let seen = Seen { run: None, refusal: Some(refusal), answers: &[], bench: &self.bench };
        faults.extend((self.case.also)(&seen).err());
        self.usable(&mut faults);
        Verdict { ended: REFUSED.into(), wall: Duration::ZERO, overshoot: None, peak_memory: 0, faults }
    }

    /// It ended as it must, and says so in every place.
    fn end(&self, run: &Run, faults: &mut Vec<String>) {
        let limits = &run.receipt.limits;
        let code = run.ended.code();
        if !self.case.ends.contains(&code) {
            faults.push(format!(
                "it ended by {code} ({}), not by {}",
                run.ended.message(),
                self.case.ends.join(" or ")
            ));
        }
        if run.ended != Ended::Returned && run.result.progress.status != TaskStatus::Failed {
            faults.push(format!("it ended by {code}, and its result is {:?}", run.result.progress.status));
        }
        if let Ended::Killed { limit, value, .. } = &run.ended
            && *value != limit.value_in(limits)
        {
            faults.push(format!("the {limit} limit is said to be {value}"));
        }
    }

    /// What must be true of every call.
    fn hold(&self, run: &Run, answers: &[Answer], faults: &mut Vec<String>) {
        self.end(run, faults);
        let (bench, limits) = (&self.bench, &run.receipt.limits);
        for noise in ["wasm backtrace", "<unknown>!", "stack backtrace"] {
            if run.ended.message().contains(noise) {
                faults.push(format!("a message for the reader has `{noise}` in it: {}", run.ended.message()));
            }
        }
        if run.receipt.peak_memory_bytes > limits.memory_bytes {
            faults.push(format!("{} bytes of memory, over its limit", run.receipt.peak_memory_bytes));
        }
        let (files, bytes) = usage(bench.artifacts.path());
        if files > limits.artifact_files || bytes > limits.artifact_bytes {
            faults.push(format!("{files} files of {bytes} bytes are left in /artifacts, over its limits"));
        }
        let left = staged(bench.private.path());
        if !left.is_empty() {
            faults.push(format!("staged files are left: {left:?}"));
        }
        let log = fs::metadata(bench.private.path().join("log")).map_or(0, |log| log.len());
        if log > limits.output_bytes + LOG_ROOM {
            faults.push(format!("a log of {log} bytes is over its limit"));
        }
        if self.before.as_ref().is_some_and(|before| *before != snapshot(bench.workspace.path())) {
            faults.push("the workspace is not as it was".into());
        }
        faults.extend(self.outside.touched());
        let host = [bench.workspace.path(), bench.context.path(), bench.artifacts.path(), self.outside.path()];
        faults.extend(told(answers, &host));
        if host.iter().any(|path| run.result.summary.contains(&*path.to_string_lossy())) {
            faults.push(format!("the role knows a path of the host: {}", run.result.summary));
        }
    }

    /// The sandbox is as good as new.
    fn usable(&self, faults: &mut Vec<String>) {
        let next = self.suite.bench().run(&self.suite.built["noop"], "anything");
        if next.ended != Ended::Returned {
            faults.push(format!("the next role could not run: {}", next.ended.message()));
        }
    }

    fn clear(&self) {
        let _ = fs::remove_dir_all(self.bench.contents());
        let _ = fs::remove_file(self.bench.private.path().join("log"));
        for entry in fs::read_dir(self.bench.artifacts.path()).unwrap().flatten() {
            let path = entry.path();
            let _ = if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// Runs `work` with the case's thread beside it.
fn beside<T>(thread: Option<Beside>, bench: &Bench, outside: &Outside, work: impl FnOnce() -> T) -> T {
    /// Also when an assertion fails: the scope waits for the thread.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let Some(thread) = thread else { return work() };
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| thread(bench, outside, &stop));
        let _stop = Stop(&stop);
        work()
    })
}

/// What is left in the folder for staging, beside the log and the contents of the proposal.
fn staged(private: &Path) -> Vec<String> {
    let names = fs::read_dir(private).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !matches!(name.as_str(), "log" | "contents")).collect()
}

/// Files and folders below a folder, and the bytes that its files have on disk or claim, whichever is less: a hole costs
/// nothing.
fn usage(root: &Path) -> (u64, u64) {
    let mut seen: HashMap<u64, u64> = HashMap::new();
    let mut count = 0;
    let mut todo = vec![root.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            count += 1;
            let metadata = fs::symlink_metadata(entry.path()).unwrap();
            if metadata.is_dir() {
                todo.push(entry.path());
            } else {
                seen.insert(metadata.ino(), metadata.len());
            }
        }
    }
    (count, seen.values().sum())
}
