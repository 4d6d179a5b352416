//! An operator interrupts a run: it ends at once, says so, and its journal ends with that.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use brain_tests::cli::Brain;
use rustix::process::{Pid, Signal, kill_process};

/// Starts a run of a role that never ends, interrupts it once the role works, and returns its status and what it said.
fn interrupted(brain: &Brain, goal: &str, signal: Signal) -> (Option<i32>, String) {
    let mut command = brain.command(&["role", "run", "wild", "--goal", goal]);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("wild: working") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "it ended before it was interrupted: {said}");
    }
    kill_process(Pid::from_child(&child), signal).unwrap();
    stderr.read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

#[test]
fn a_role_that_computes_or_sleeps_is_stopped_and_the_journal_says_so() {
    let brain = Brain::in_project(&[]);
    // Far longer than any test waits: only the signal ends it.
    std::fs::write(brain.home().join("config.toml"), "[limits]\ndeadline_ms = 3600000\n").unwrap();
    brain.misbehaving("wild", "wild", "[limits]\ndeadline_ms = 3600000\n");
    for (goal, signal) in [("spin", Signal::INT), ("sleep 1000000000", Signal::INT), ("spin", Signal::TERM)] {
        let (status, said) = interrupted(&brain, goal, signal);
        assert_eq!(status, Some(130), "{goal}: {said}");
        assert!(said.contains("error: the run was interrupted") && said.contains("code: run.interrupted"), "{said}");
        let list = brain.run(&["sessions", "list", "-n", "1", "--json"]).ended(0).json();
        let session = &list["sessions"][0];
        assert_eq!(session["status"], "failed");
        assert_eq!(session["error"], "the run was interrupted");
        let journal = brain.journal(session["sessionId"].as_str().unwrap());
        let last = journal.last().unwrap();
        assert_eq!((&last["type"], &last["code"]), (&"run_error".into(), &"run.interrupted".into()));
        let receipt = journal.iter().find(|record| record["type"] == "role_receipt").unwrap();
        assert_eq!(receipt["receipt"]["ended"], "sandbox.cancelled");
    }
}
