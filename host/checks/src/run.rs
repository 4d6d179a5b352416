//! Runs one check, and ends it: with its time, when somebody asks for it, and with all that it started.

use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::detect::Check;
use crate::environment::Environment;
use crate::error::Cancelled;
use crate::summary::{CheckResult, CheckStatus};
use crate::tail::Tail;

/// Time between SIGTERM and SIGKILL.
pub const GRACE: Duration = Duration::from_secs(1);
/// Time that all checks of a change have together by default.
pub const DEFAULT_TOTAL: Duration = Duration::from_mins(45);
/// Between two looks at whether to stop and whether the check has ended.
const TICK: Duration = Duration::from_millis(20);
/// How long output is read on after all of the group is gone: what left the group may hold it open for ever.
const LINGER: Duration = Duration::from_millis(200);
/// Bytes that are read at a time.
const CHUNK: usize = 16 * 1024;

/// Bounds of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// Time that it has.
    pub timeout: Duration,
    /// Time that all checks of a change have together: what has not started by then has failed.
    pub total: Duration,
    /// Bytes that are kept of each output: the last ones.
    pub max_output_bytes: usize,
}

/// Runs `check` in the folder `folder` and waits for its end.
///
/// It has a process group of its own and nothing to read. At its time limit the group gets SIGTERM, and SIGKILL [`GRACE`] later.
/// When it has ended, whatever it left in its group is killed. A process that leaves the group is out of reach; its output is not waited for.
///
/// A program that is not there, and one that cannot be started, are failed checks.
///
/// # Errors
/// If `stop`, which is asked at each turn, said to stop. The group is killed at once then.
pub fn run(
    check: &Check,
    folder: &Path,
    environment: &Environment,
    limits: &RunLimits,
    stop: &dyn Fn() -> bool,
) -> Result<CheckResult, Cancelled> {
    let started = Instant::now();
    if stop() {
        return Err(Cancelled);
    }
    let failed = |why: String| {
        let mut result = CheckResult::failed(check, why);
        result.duration_ms = millis(started.elapsed());
        Ok(result)
    };
    let Some(program) = find(&check.program, folder, environment) else {
        return failed(format!(
            "the program `{}` is not there: install it, or name other checks in [checks] scripts\n",
            check.program
        ));
    };
    let mut command = Command::new(&program);
    command.args(&check.args).current_dir(folder).env_clear().envs(environment.variables());
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return failed(format!("`{}` cannot be started: {error}\n", program.display())),
    };
    let mut group = Group::new(child);
    let (Some(mut stdout), Some(mut stderr)) = (group.child.stdout.take(), group.child.stderr.take()) else {
        return failed(format!("`{}` has no output\n", program.display()));
    };
    let mut out = Stream { pipe: &mut stdout, tail: Tail::new(limits.max_output_bytes), open: true };
    let mut err = Stream { pipe: &mut stderr, tail: Tail::new(limits.max_output_bytes), open: true };

    let until = started + limits.timeout;
    let mut timed_out = None;
    while !group.has_ended() {
        if stop() {
            return Err(Cancelled);
        }
        let now = Instant::now();
        match timed_out {
            None if now >= until => {
                group.signal(Signal::TERM);
                timed_out = Some(now + GRACE);
            }
            Some(killed_at) if now >= killed_at => group.signal(Signal::KILL),
            _ => {}
        }
        read_both(&mut out, &mut err, TICK);
    }
    let status = group.end();
    let linger = Instant::now() + LINGER;
    while (out.open || err.open) && Instant::now() < linger {
        read_both(&mut out, &mut err, TICK);
    }
    let (stdout, stdout_dropped) = out.tail.finish();
    let (stderr, stderr_dropped) = err.tail.finish();
    let passed = timed_out.is_none() && status.is_some_and(|status| status.success());
    Ok(CheckResult {
        status: if passed { CheckStatus::Passed } else { CheckStatus::Failed },
        exit_code: status.and_then(|status| status.code()).map(i64::from),
        signal: status.and_then(|status| status.signal()).map(signal_name),
        duration_ms: millis(started.elapsed()),
        stdout,
        stderr,
        stdout_dropped,
        stderr_dropped,
        timed_out: timed_out.is_some(),
        ..CheckResult::failed(check, String::new())
    })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Where a program is: from the folder if its name has a `/`, else in the first folder of `PATH` that has it. That of the check's
/// environment counts, and never the current folder of Brain.
fn find(program: &str, folder: &Path, environment: &Environment) -> Option<PathBuf> {
    let runs = |path: &Path| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return Some(folder.join(program)).filter(|path| runs(path));
    }
    let path = environment.get("PATH")?;
    std::env::split_paths(path).filter(|at| at.is_absolute()).map(|at| at.join(program)).find(|path| runs(path))
}

/// A check and all of its process group. On drop the group is killed, so that an early return leaves nothing behind.
struct Group {
    child: Child,
    /// None where the system's number is none, which does not happen.
    pid: Option<Pid>,
    /// The group was killed and the check was waited for: its number may be another's by now.
    over: bool,
}

impl Group {
    fn new(child: Child) -> Self {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Self { child, pid, over: false }
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid
            && !self.over
        {
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Whether the check itself has ended. It is not waited for, so that its number, which is that of the group, stays its own.
    fn has_ended(&self) -> bool {
        let Some(pid) = self.pid else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), options) {
            Ok(status) => status.is_some(),
            Err(rustix::io::Errno::INTR) => false,
            Err(_) => true,
        }
    }

    /// Kills what is left of the group, and takes the status of the check.
    fn end(&mut self) -> Option<ExitStatus> {
        self.signal(Signal::KILL);
        let status = self.child.wait().ok();
        self.over = true;
        status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.over {
            self.end();
        }
    }
}

struct Stream<'p, P> {
    pipe: &'p mut P,
    tail: Tail,
    open: bool,
}

impl<P: Read> Stream<'_, P> {
    /// Reads once; there is something, so it does not wait.
    fn read(&mut self) {
        let mut chunk = [0; CHUNK];
        match self.pipe.read(&mut chunk) {
            Ok(0) => self.open = false,
            Ok(bytes) => self.tail.push(chunk.get(..bytes).unwrap_or_default()),
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(_) => self.open = false,
        }
    }
}

/// Reads from both outputs what is there, waiting at most so long for anything to come.
fn read_both<A: Read + AsFd, B: Read + AsFd>(out: &mut Stream<'_, A>, err: &mut Stream<'_, B>, wait: Duration) {
    let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
    let mut fds = Vec::with_capacity(2);
    // A pipe that was closed would be ready at once, for ever.
    if out.open {
        fds.push(PollFd::new(&*out.pipe, PollFlags::IN));
    }
    if err.open {
        fds.push(PollFd::new(&*err.pipe, PollFlags::IN));
    }
    // Without any, it only waits.
    let polled = poll(&mut fds, Some(&wait));
    let mut ready = fds.iter().map(|fd| polled.is_ok() && !fd.revents().is_empty());
    let from_out = out.open && ready.next().unwrap_or_default();
    let from_err = err.open && ready.next().unwrap_or_default();
    drop(fds);
    if from_out {
        out.read();
    }
    if from_err {
        err.read();
    }
}

fn signal_name(signal: i32) -> String {
    [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
    ]
    .into_iter()
    .find(|(known, _)| known.as_raw() == signal)
    .map_or_else(|| format!("signal {signal}"), |(_, name)| name.to_owned())
}
