//! A loaded role, and one call of it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use brain_packet::normalise::{self, Reply};
use brain_packet::{HandoffPacket, RoleName, WorkerResult};
use sha2::{Digest as _, Sha256};
use wasmtime::{Store, UpdateDeadline, WasmBacktrace};
use wasmtime_wasi::WasiCtxBuilder;

use crate::contract::bindings::{Agent, AgentPre};
use crate::contract::{CONTRACT, CheckReport, convert};
use crate::digest::Digest;
use crate::ended::{Ended, classify};
use crate::files::{FileGrants, FileView, GlobLayer};
use crate::kill::{CancelToken, Lifetime};
use crate::limiter::Limiter;
use crate::limits::{HOSTCALL_BYTES, LimitName, Limits};
use crate::output::{Output, Which};
use crate::receipt::{FileUse, Grants, OutputUse, Receipt, Versions};
use crate::sandbox::Shared;
use crate::state::State;
use crate::wasi::quiet;

/// One call of a role.
pub struct Call<'a> {
    /// What the role is called with.
    pub handoff: &'a HandoffPacket,
    /// The files that exist for it.
    pub files: FileGrants,
    /// The limits that it runs under.
    pub limits: Limits,
    /// Where its output goes, a file that is created with mode 0600. None keeps it nowhere.
    pub log: Option<PathBuf>,
    /// Ends the call from another thread.
    pub cancel: CancelToken,
}

/// What came of one call.
#[derive(Clone, Debug)]
pub struct Run {
    /// The role's result, normalised; one with status `failed` where it did not return.
    pub result: WorkerResult,
    /// How the call ended.
    pub ended: Ended,
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
    shared: Arc<Shared>,
}

impl Role {
    pub(crate) fn new(
        name: RoleName,
        digest: Digest,
        report: CheckReport,
        pre: AgentPre<State>,
        shared: Arc<Shared>,
    ) -> Self {
        Self(Arc::new(Loaded { name, digest, report, pre, shared }))
    }

    /// The name that it was loaded by.
    pub fn name(&self) -> &RoleName {
        &self.0.name
    }

    /// The digest of its component.
    pub fn digest(&self) -> &Digest {
        &self.0.digest
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
        let cancel = call.cancel.clone();
        let lifetime = Lifetime::start(Duration::from_millis(call.limits.deadline_ms), cancel);
        let cpu = cpu_time();
        let output = Output::new(call.limits.output_bytes);
        let files = match FileView::open(&call.files, &call.limits, &self.0.shared.rules) {
            Ok(files) => files,
            Err(error) => {
                let remedy = miette::Diagnostic::help(&error).map(|help| help.to_string()).unwrap_or_default();
                let ended = Ended::Refused { message: error.to_string(), remedy };
                return self.conclude(&call, &lifetime, cpu, &output, None, Err(ended));
            }
        };
        let mut store = self.store(&call, &lifetime, &output, files);
        let outcome = {
            let _ticking = self.0.shared.ticker.during_call();
            self.call(&mut store, &call)
        };
        self.conclude(&call, &lifetime, cpu, &output, Some(store), outcome)
    }

    fn store(&self, call: &Call<'_>, lifetime: &Lifetime, output: &Output, files: FileView) -> Store<State> {
        let mut wasi = WasiCtxBuilder::new();
        wasi.stdout(output.stream(Which::Stdout)).stderr(output.stream(Which::Stderr));
        quiet::quieten(&mut wasi, Sha256::digest(call.handoff.id.as_str()).into());
        let state =
            State::new(wasi.build(), files, lifetime.clone(), Limiter::new(&call.limits), call.limits.open_handles);
        let mut store = Store::new(&self.0.shared.engine, state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            store.data().lifetime.check()?;
            Ok(UpdateDeadline::Continue(1))
        });
        store
    }

    fn call(&self, store: &mut Store<State>, call: &Call<'_>) -> Result<Reply, Ended> {
        let run = |store: &mut Store<State>| {
            store.data().lifetime.check()?;
            let agent: Agent = self.0.pre.instantiate(&mut *store)?;
            agent.brain_role_worker().call_run(&mut *store, &convert::handoff(call.handoff))
        };
        match run(store) {
            Ok(result) => {
                let size = convert::size_of(&result);
                if size > call.limits.result_bytes {
                    return Err(Ended::Killed {
                        limit: LimitName::Result,
                        value: call.limits.result_bytes,
                        reached: Some(size),
                    });
                }
                Ok(convert::reply(result))
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
        call: &Call<'_>,
        lifetime: &Lifetime,
        cpu: Duration,
        output: &Output,
        store: Option<Store<State>>,
        outcome: Result<Reply, Ended>,
    ) -> Run {
        let mut log_error = None;
        let counts = output.counts();
        if let Some(path) = call.log.as_ref().filter(|_| counts.stdout + counts.stderr > 0) {
            log_error = append_log(path, |log| output.write_log(log)).err().map(|e| e.to_string());
        }
        let ended = outcome.as_ref().err().cloned().unwrap_or(Ended::Returned);
        let ended = ended.with_stderr(|| output.stderr_tail(crate::ended::MAX_STDERR_TAIL));
        let state = store.as_ref().map(Store::data);
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
            stubbed_calls: state.map(|s| s.stubs().clone()).unwrap_or_default(),
            grants: grants(&call.files, state.map(|s| s.files.unused_grants()).unwrap_or_default()),
            limits: call.limits.clone(),
            versions: Versions::of_this_build(),
            cpu_ms: millis(cpu_time().saturating_sub(cpu)),
            wall_ms: millis(lifetime.elapsed()),
        };
        let result = match outcome {
            Ok(reply) => normalise::reply(call.handoff, reply),
            Err(_) => normalise::failed(call.handoff, &ended.message(), &ended.risks()),
        };
        Run { result, ended, receipt }
    }
}

fn file_use(files: &FileView) -> FileUse {
    let counters = files.counters();
    let (denied, denied_unlisted) = files.denials();
    FileUse {
        files_read: counters.files_read.load(Relaxed),
        bytes_read: counters.bytes_read.load(Relaxed),
        files_written: counters.files_written.load(Relaxed),
        bytes_written: counters.bytes_written.load(Relaxed),
        denied,
        denied_unlisted,
        quota_refusals: files.quota_refusals(),
        unusable_gitignores: files.unusable_ignores(),
        names_skipped: counters.names_skipped.load(Relaxed),
    }
}

fn grants(files: &FileGrants, unused: Vec<GlobLayer>) -> Grants {
    Grants {
        workspace: files.workspace.as_ref().map(|w| w.read.clone()),
        unused,
        deny: files.workspace.as_ref().map(|w| w.deny.clone()).unwrap_or_default(),
        gitignore: files.workspace.as_ref().is_some_and(|w| w.honour_gitignore),
        context: files.context.is_some(),
        artifacts: files.artifacts.is_some(),
    }
}

fn append_log(path: &Path, write: impl FnOnce(&mut fs::File) -> std::io::Result<()>) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    write(&mut file)
}

fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0))
}

fn millis(time: Duration) -> f64 {
    // Microseconds are as fine as a reader needs.
    (time.as_secs_f64() * 1e6).round() / 1e3
}
