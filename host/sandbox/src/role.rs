//! A loaded role, and one call of it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use brain_changes::ChangeSet;
use brain_files::{FileGrants, FileLimit, FileLimits, FileView, WorkspaceGrant};
use brain_packet::normalise::{self, Reply};
use brain_packet::{Digest, HandoffPacket, RoleName, WorkerResult};
use wasmtime::{Store, UpdateDeadline, WasmBacktrace};

use crate::contract::bindings::{Agent, AgentPre};
use crate::contract::{CONTRACT, CheckReport, convert};
use crate::ended::{Ended, classify};
use crate::kill::{CancelToken, Lifetime};
use crate::output::{Output, OutputCounts};
use crate::receipt::{AmbientUse, FileUse, Grants, OutputUse, Reached, Receipt, ResultUse, Versions};
use crate::sandbox::Shared;
use crate::state::State;
use crate::wasi::ambient::{Ambient, Surroundings};
use brain_manifest::{LimitName, Limits};

/// One call of a role: `Call { files, ..Call::new(&handoff) }`.
pub struct Call<'a> {
    /// What the role is called with.
    pub handoff: &'a HandoffPacket,
    /// The files that exist for it.
    pub files: FileGrants,
    /// What it may learn of the world beside them.
    pub ambient: Ambient,
    /// The limits that it runs under.
    pub limits: Limits,
    /// Where its output goes, a file that is created with mode 0600. None keeps it nowhere.
    pub log: Option<PathBuf>,
    /// Ends the call from another thread.
    pub cancel: CancelToken,
}

impl<'a> Call<'a> {
    /// A call that is granted nothing, under the default limits, with no log.
    pub fn new(handoff: &'a HandoffPacket) -> Self {
        Self {
            handoff,
            files: FileGrants::default(),
            ambient: Ambient::default(),
            limits: Limits::default(),
            log: None,
            cancel: CancelToken::default(),
        }
    }
}

/// What came of one call.
#[derive(Clone, Debug)]
pub struct Run {
    /// The role's result, normalised; one with status `failed` where it did not return.
    pub result: WorkerResult,
    /// How the call ended.
    pub ended: Ended,
    /// What it proposes to change in the workspace. Nothing, where it did not return: what it wrote until then is half of
    /// something.
    pub changes: ChangeSet,
    /// What it did and used.
    pub receipt: Receipt,
}

/// A component that passed the check and is compiled. Cheap to clone; calls of one role may run side by side.
#[derive(Clone)]
pub struct Role(Arc<Loaded>);

struct Loaded {
    name: RoleName,
    digest: Digest,
    report: CheckReport,
    pre: AgentPre<State>,
    compiled_in: Option<Duration>,
    shared: Arc<Shared>,
}

impl Role {
    pub(crate) fn new(
        name: RoleName,
        digest: Digest,
        report: CheckReport,
        pre: AgentPre<State>,
        compiled_in: Option<Duration>,
        shared: Arc<Shared>,
    ) -> Self {
        Self(Arc::new(Loaded { name, digest, report, pre, compiled_in, shared }))
    }

    /// The name that it was loaded by.
    pub fn name(&self) -> &RoleName {
        &self.0.name
    }

    /// The digest of its component.
    pub fn digest(&self) -> &Digest {
        &self.0.digest
    }

    /// How long it took to compile it; none where it came from the cache.
    pub fn compiled_in(&self) -> Option<Duration> {
        self.0.compiled_in
    }

    /// The contract check that it passed.
    pub fn report(&self) -> &CheckReport {
        &self.0.report
    }

    /// Calls the role in an instance of its own and waits for its end, which comes by the deadline at the latest. Whatever
    /// the guest does is an outcome, never an error of the host.
    ///
    /// It blocks: call it from a thread that may, never from an async task.
    pub fn run(&self, call: Call<'_>) -> Run {
        let lifetime = Lifetime::start(&call.limits, call.cancel.clone());
        let output = Output::new(call.limits.output_bytes);
        let stop = lifetime.clone();
        let stop = Arc::new(move || stop.interrupted().is_some());
        let files = match FileView::open(&call.files, &file_limits(&call.limits), &self.0.shared.rules, stop) {
            Ok(files) => files,
            Err(error) => {
                let remedy = miette::Diagnostic::help(&error).map(|help| help.to_string()).unwrap_or_default();
                let ended = Ended::Refused { message: error.to_string(), remedy };
                return self.conclude(call, &lifetime, &output, None, Err(ended));
            }
        };
        let surroundings = Surroundings::new(call.ambient, &call.handoff.id, &call.limits);
        let state = State::new(files, surroundings, output.clone(), lifetime.clone(), &call.limits);
        let mut store = self.store(state, &call.limits);
        let outcome = {
            let _ticking = self.0.shared.ticker.during_call(lifetime.deadline());
            self.call(&mut store, &call)
        };
        self.conclude(call, &lifetime, &output, Some(store), outcome)
    }

    fn store(&self, state: State, limits: &Limits) -> Store<State> {
        let mut store = Store::new(&self.0.shared.engine, state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(usize::try_from(limits.hostcall_bytes).unwrap_or(usize::MAX));
        store.set_max_component_handles(component_handles(limits));
        store.set_epoch_deadline(1);
        let pulse = Arc::clone(self.0.shared.ticker.pulse());
        store.epoch_deadline_callback(move |store| {
            let lifetime = &store.data().lifetime;
            lifetime.check()?;
            pulse.expect(lifetime.deadline());
            Ok(UpdateDeadline::Continue(1))
        });
        store
    }

    fn call(&self, store: &mut Store<State>, call: &Call<'_>) -> Result<Returned, Ended> {
        let run = |store: &mut Store<State>| {
            store.data().lifetime.begin()?;
            let agent: Agent = self.0.pre.instantiate(&mut *store)?;
            agent.brain_role_worker().call_run(&mut *store, &convert::handoff(call.handoff))
        };
        match run(store) {
            Ok(result) => {
                let (limit, bytes) = (LimitName::Result, convert::size_of(&result));
                if bytes > call.limits.result_bytes {
                    return Err(Ended::Killed { limit, value: call.limits.result_bytes, reached: Some(bytes) });
                }
                Ok(Returned { reply: convert::reply(result), bytes })
            }
            Err(error) => {
                // The backtrace is for the author, in the private log; the reader gets the typed outcome.
                let trace = error.downcast_ref::<WasmBacktrace>().map(ToString::to_string);
                let ended = classify(&error, store.data(), &call.limits);
                if let (Some(path), Some(trace)) = (&call.log, trace) {
                    // What cannot be written is said when the output is written to the same file.
                    let _ = append_log(path, |log| writeln!(log, "--- trap: {}\n{trace}", error.root_cause()));
                }
                Err(ended)
            }
        }
    }

    fn conclude(
        &self,
        call: Call<'_>,
        lifetime: &Lifetime,
        output: &Output,
        store: Option<Store<State>>,
        outcome: Result<Returned, Ended>,
    ) -> Run {
        let mut log_error = None;
        let counts = output.counts();
        if let Some(path) = call.log.as_ref().filter(|_| counts.stdout + counts.stderr > 0) {
            log_error = append_log(path, |log| output.write_log(log)).err().map(|e| e.to_string());
        }
        let (ended, result, bytes) = match outcome {
            Ok(Returned { reply, bytes }) => (Ended::Returned, normalise::reply(call.handoff, reply), bytes),
            Err(ended) => {
                let ended = ended.with_stderr(|| output.stderr_tail(crate::ended::MAX_STDERR_TAIL));
                let result = normalise::failed(call.handoff, &ended.message(), &ended.risks());
                (ended, result, 0)
            }
        };
        let state = store.as_ref().map(Store::data);
        let (ended, result, changes) = settle(&call, state, ended, result);
        let receipt = Receipt {
            role: self.0.name.clone(),
            component: self.0.digest.clone(),
            contract: CONTRACT.into(),
            ended: ended.code().into(),
            ended_message: (ended != Ended::Returned).then(|| ended.message()),
            peak_memory_bytes: state.map_or(0, |s| s.limiter.peak_memory()),
            files: state.map(|s| file_use(&s.files)).unwrap_or_default(),
            output: OutputUse {
                stdout_bytes: counts.stdout,
                stderr_bytes: counts.stderr,
                dropped_bytes: counts.dropped,
                log_error,
            },
            ambient: state.map(ambient_use).unwrap_or_default(),
            result: ResultUse { bytes, repairs: result.notes.len() as u64 },
            reached: reached(state, counts, &call.limits),
            stubbed_calls: state.map(|s| s.stubs().clone()).unwrap_or_default(),
            grants: grants(call.files, call.ambient, state.map(|s| &s.files)),
            limits: call.limits,
            versions: Versions::of_this_build(),
            cpu_ms: millis(lifetime.cpu()),
            wall_ms: millis(lifetime.elapsed()),
        };
        Run { result, ended, changes, receipt }
    }
}

/// Handles as wasmtime counts them for the guest's side: each that is open, those of interfaces that are stubbed included,
/// and each once more while it is lent to the host. The host's own table, which counts what is real, is full before.
fn component_handles(limits: &Limits) -> usize {
    const SPARE: usize = 64;
    let open = usize::try_from(limits.open_handles).unwrap_or(usize::MAX);
    open.saturating_mul(2).saturating_add(SPARE)
}

/// What a role returned.
struct Returned {
    reply: Reply,
    /// Its size as it was measured.
    bytes: u64,
}

/// The limits at which something was refused while the call went on.
fn reached(state: Option<&State>, output: OutputCounts, limits: &Limits) -> Vec<Reached> {
    let mut times = Vec::new();
    if let Some(state) = state {
        times.extend(state.limiter.refusals());
        times.push((LimitName::OpenHandles, state.handles_refused));
        times.extend(state.files.meter().reached().into_iter().map(|(limit, times)| (limit_name(limit), times)));
    }
    times.push((LimitName::Output, output.cuts));
    times.retain(|(_, times)| *times > 0);
    times.into_iter().map(|(limit, times)| Reached::new(limit, limits, times)).collect()
}

fn ambient_use(state: &State) -> AmbientUse {
    AmbientUse {
        wall_clock_reads: state.surroundings.wall_clock_reads(),
        random_bytes: state.surroundings.random_used(),
    }
}

fn file_limits(limits: &Limits) -> FileLimits {
    FileLimits {
        artifact_bytes: limits.artifact_bytes,
        artifact_files: limits.artifact_files,
        staged_bytes: limits.staged_bytes,
        staged_files: limits.staged_files,
        written_bytes: limits.written_bytes,
        created_files: limits.created_files,
        listed_entries: limits.listed_entries,
    }
}

fn limit_name(limit: FileLimit) -> LimitName {
    match limit {
        FileLimit::ArtifactBytes => LimitName::ArtifactBytes,
        FileLimit::ArtifactFiles => LimitName::ArtifactFiles,
        FileLimit::StagedBytes => LimitName::StagedBytes,
        FileLimit::StagedFiles => LimitName::StagedFiles,
        FileLimit::WrittenBytes => LimitName::WrittenBytes,
        FileLimit::CreatedFiles => LimitName::CreatedFiles,
        FileLimit::ListedEntries => LimitName::ListedEntries,
    }
}

/// Keeps what the role wrote: its artifacts however it ended, its changes only where it returned. A write that cannot be
/// kept is a broken promise, and the call has failed.
fn settle(
    call: &Call<'_>,
    state: Option<&State>,
    ended: Ended,
    result: WorkerResult,
) -> (Ended, WorkerResult, ChangeSet) {
    let Some(state) = state else { return (ended, result, ChangeSet::default()) };
    let failed = |message: String, remedy: String| {
        let ended = Ended::Refused { message, remedy };
        let result = normalise::failed(call.handoff, &ended.message(), &ended.risks());
        (ended, result, ChangeSet::default())
    };
    if let Err(error) = state.files.settle_artifacts() {
        return failed(
            format!("the artifacts of the role cannot be kept: {error}"),
            "see that the disk has room and that BRAIN_HOME belongs to you, then run again".into(),
        );
    }
    if ended != Ended::Returned {
        return (ended, result, ChangeSet::default());
    }
    match state.files.change_set() {
        Ok(changes) => (ended, result, changes),
        Err(error) => {
            let remedy = miette::Diagnostic::help(&error).map(|help| help.to_string()).unwrap_or_default();
            failed(format!("what the role wrote cannot be kept: {error}"), remedy)
        }
    }
}

fn file_use(files: &FileView) -> FileUse {
    let meter = files.meter();
    let (denied, denied_unlisted) = files.denials();
    FileUse {
        files_read: meter.files_read(),
        bytes_read: meter.bytes_read(),
        files_written: meter.files_written(),
        bytes_written: meter.bytes_written(),
        denied,
        denied_unlisted,
        folders: files.folders_used(),
        unusable_gitignores: files.unusable_ignores(),
        names_skipped: meter.names_skipped(),
    }
}

fn grants(files: FileGrants, ambient: Ambient, view: Option<&FileView>) -> Grants {
    let (context, artifacts) = (files.context.is_some(), files.artifacts.is_some());
    let unused = view.map(FileView::unused_read).unwrap_or_default();
    let unused_write = view.map(FileView::unused_write).unwrap_or_default();
    let Ambient { wall_clock, random } = ambient;
    let beside = Grants { context, artifacts, wall_clock, random, unused, unused_write, ..Grants::default() };
    match files.workspace {
        Some(WorkspaceGrant { read, write, deny, honour_gitignore, .. }) => {
            Grants { workspace: Some(read), write, deny, gitignore: honour_gitignore, ..beside }
        }
        None => beside,
    }
}

fn append_log(path: &Path, write: impl FnOnce(&mut fs::File) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    write(&mut file)
}

fn millis(time: Duration) -> f64 {
    // Microseconds are as fine as a reader needs.
    (time.as_secs_f64() * 1e6).round() / 1e3
}
