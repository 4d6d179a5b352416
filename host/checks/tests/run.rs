//! A check runs to its end, or is ended: with its time, on demand, and with all that it started.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use brain_checks::{Cancelled, Check, CheckResult, CheckStatus, Environment, RunLimits, Tool, run};
use common::{LIMITS, environment};
use rustix::process::Pid;

/// Time of checks that are to be ended by it: enough for a shell to start on a busy machine.
const SHORT: Duration = Duration::from_secs(2);
/// How long a process may take to be gone that was killed, before a test fails.
const GONE: Duration = Duration::from_mins(1);

fn check(program: &str, args: &[&str]) -> Check {
    Check {
        name: "the check".into(),
        program: program.into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        folder: String::new(),
        tool: Tool::Make,
        script: "check".into(),
        part: None,
        why: String::new(),
    }
}

fn shell(script: &str, folder: &Path, limits: &RunLimits, stop: &dyn Fn() -> bool) -> Result<CheckResult, Cancelled> {
    run(&check("sh", &["-c", script]), folder, &environment(), limits, stop)
}

fn ran(script: &str) -> CheckResult {
    shell(script, &std::env::temp_dir(), &LIMITS, &|| false).unwrap()
}

/// The process whose number is in a file.
fn process(file: &Path) -> Pid {
    Pid::from_raw(fs::read_to_string(file).unwrap().trim().parse().unwrap()).unwrap()
}

/// Whether a process is gone, or nothing but its entry is left until its new parent looks at it.
fn is_gone(pid: Pid) -> bool {
    let until = Instant::now() + GONE;
    loop {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        let zombie = stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")));
        if zombie || rustix::process::test_kill_process(pid).is_err() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        std::thread::yield_now();
    }
}

#[test]
fn how_it_ended_is_told() {
    let passed = ran("echo out; echo err >&2");
    assert_eq!((passed.status, passed.exit_code, passed.signal.as_deref()), (CheckStatus::Passed, Some(0), None));
    assert_eq!((passed.stdout.as_str(), passed.stderr.as_str()), ("out\n", "err\n"));
    assert_eq!((passed.name.as_str(), passed.command.as_str()), ("the check", "sh"));
    let failed = ran("exit 3");
    assert_eq!((failed.status, failed.exit_code, failed.timed_out), (CheckStatus::Failed, Some(3), false));
    let killed = ran("kill -SEGV $$");
    assert_eq!(
        (killed.status, killed.exit_code, killed.signal.as_deref()),
        (CheckStatus::Failed, None, Some("SIGSEGV"))
    );
}

#[test]
fn there_is_nothing_to_read_and_nothing_of_brain_around_it() {
    assert_eq!(ran("cat; echo end").stdout, "end\n");
    let variables = [("PATH", "/usr/bin:/bin"), ("BRAIN_HOME", "/b"), ("GIT_DIR", "/g"), ("OTHER", "o")];
    let outer = Environment::from(variables.map(|(name, value)| (name.into(), value.into())));
    let script = "echo $CI $OTHER ${BRAIN_HOME-none} ${GIT_DIR-none}";
    let result = run(&check("sh", &["-c", script]), &std::env::temp_dir(), &outer, &LIMITS, &|| false).unwrap();
    assert_eq!(result.stdout, "1 o none none\n");
}

#[test]
fn a_program_that_is_missing_or_cannot_start_is_a_failed_check() {
    let folder = tempfile::tempdir().unwrap();
    for (program, words) in [
        ("no-such-program-anywhere", "the program `no-such-program-anywhere` is not there"),
        ("./not-executable", "the program `./not-executable` is not there"),
        ("./not-a-program", "cannot be started"),
    ] {
        fs::write(folder.path().join("not-executable"), "").unwrap();
        fs::write(folder.path().join("not-a-program"), b"\x7fELF nonsense").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(folder.path().join("not-a-program"), mode).unwrap();
        let result = run(&check(program, &[]), folder.path(), &environment(), &LIMITS, &|| false).unwrap();
        assert_eq!((result.status, result.exit_code), (CheckStatus::Failed, None));
        assert!(result.stderr.contains(words), "{}", result.stderr);
    }
}

#[test]
fn one_that_never_ends_is_ended_at_its_time() {
    let limits = RunLimits { timeout: SHORT, ..LIMITS };
    // It is polite, and ends when it is asked to.
    let asked =
        shell("trap 'echo asked; exit 0' TERM; while :; do :; done", Path::new("/"), &limits, &|| false).unwrap();
    assert_eq!((asked.status, asked.exit_code, asked.timed_out), (CheckStatus::Failed, Some(0), true));
    assert_eq!(asked.stdout, "asked\n");
    // It is not.
    let killed = shell("trap '' TERM; echo deaf; while :; do :; done", Path::new("/"), &limits, &|| false).unwrap();
    assert_eq!(
        (killed.status, killed.signal.as_deref(), killed.timed_out),
        (CheckStatus::Failed, Some("SIGKILL"), true)
    );
    assert_eq!(killed.stdout, "deaf\n");
}

#[test]
fn a_flood_is_kept_to_its_end_and_counted() {
    let limits = RunLimits { max_output_bytes: 1_000, ..LIMITS };
    let script = "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo errors >&2; i=$((i+1)); done; echo last";
    let result = shell(script, Path::new("/"), &limits, &|| false).unwrap();
    assert_eq!(result.status, CheckStatus::Passed);
    assert!(result.stdout.ends_with("0123456789\nlast\n"));
    assert_eq!(result.stdout.len() as u64 + result.stdout_dropped, 20_000 * 11 + 5);
    assert_eq!(result.stderr.len() as u64 + result.stderr_dropped, 20_000 * 7);
    assert!(result.stdout.len() <= 1_000 && result.stderr.len() <= 1_000);
    // One that never stops is ended at its time all the same.
    let limits = RunLimits { timeout: SHORT, max_output_bytes: 1_000, ..LIMITS };
    let endless = shell("while :; do echo yes; done", Path::new("/"), &limits, &|| false).unwrap();
    assert!(endless.timed_out && endless.stdout_dropped > 0 && endless.stdout.len() <= 1_000);
}

#[test]
fn what_it_leaves_in_its_group_is_killed_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let child = "(trap '' TERM HUP; while :; do :; done) & echo $! > child;";
    // It ends well by itself, and its child holds its output open.
    let result = shell(&format!("{child} echo done"), folder.path(), &LIMITS, &|| false).unwrap();
    assert_eq!((result.status, result.stdout.as_str()), (CheckStatus::Passed, "done\n"));
    assert!(is_gone(process(&folder.path().join("child"))));
    // It is ended at its time.
    let limits = RunLimits { timeout: SHORT, ..LIMITS };
    let result = shell(&format!("{child} wait"), folder.path(), &limits, &|| false).unwrap();
    assert!(result.timed_out);
    assert!(is_gone(process(&folder.path().join("child"))));
}

#[test]
fn output_that_is_held_open_from_outside_of_the_group_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    // A shell with job control gives each job a group of its own.
    let script = "set -m; (while [ ! -e end ]; do :; done) & echo $! > child; echo done";
    let result = shell(script, folder.path(), &LIMITS, &|| false).unwrap();
    assert_eq!((result.status, result.stdout.as_str()), (CheckStatus::Passed, "done\n"));
    let outside = process(&folder.path().join("child"));
    assert!(rustix::process::test_kill_process(outside).is_ok());
    fs::write(folder.path().join("end"), "").unwrap();
    assert!(is_gone(outside));
}

#[test]
fn it_is_stopped_with_all_that_it_started_when_somebody_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let script = "trap '' TERM; (trap '' TERM; while :; do :; done) & echo $! > child; echo $$ > check; mv check ready; wait; \
                  while :; do :; done";
    let stopped = shell(script, folder.path(), &LIMITS, &|| ready.exists());
    assert_eq!(stopped.unwrap_err(), Cancelled);
    assert!(is_gone(process(&ready)) && is_gone(process(&folder.path().join("child"))));
    // Nothing is started when it was stopped before.
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        true
    };
    let result = shell("touch started", folder.path(), &LIMITS, &stop);
    assert!(result.is_err() && asked.get() == 1 && !folder.path().join("started").exists());
}
