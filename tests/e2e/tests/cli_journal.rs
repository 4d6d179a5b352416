//! `brain sessions list | tail | export` and `brain usage`: what a journal tells beside its story.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use brain_journal::{Journal, Record, RunEnd, RunStart, TokenCounts, TokenUsage, UsagePhase, parse_session_id};
use brain_tests::cli::Brain;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const SEED: &str = include_str!("../../../host/journal/tests/journal/fixtures/seed.jsonl");
const SEED_ID: &str = "20260102-030000-aaaaaa";

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value}"))
}

/// A journal that somebody else wrote.
fn written(brain: &Brain, id: &str, journal: &str) {
    std::fs::create_dir_all(brain.home().join("sessions")).unwrap();
    std::fs::write(brain.journal_file(id), journal).unwrap();
}

fn seeded() -> Brain {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    written(&brain, SEED_ID, SEED);
    brain
}

#[test]
fn a_list_is_of_the_project_unless_all_are_asked_for() {
    let brain = seeded();
    brain.run(&["run", "fix it"]).ended(2);
    let rows = |args: &[&str]| {
        let list = brain.run(args).ended(0).json();
        list["sessions"].as_array().unwrap().iter().map(|row| text(row, "prompt").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(rows(&["sessions", "list", "--json"]), ["fix it"]);
    let mut all = rows(&["sessions", "list", "--all", "--json"]);
    all.sort();
    assert_eq!(all, ["Make a logo\n and a login page", "fix it"]);
    assert_eq!(
        rows(&["sessions", "list", "--all", "--status", "failed", "--json"]),
        ["Make a logo\n and a login page"]
    );
    assert_eq!(rows(&["sessions", "--status", "incomplete", "--json"]), [""; 0]);
    let none = brain.run(&["sessions", "--status", "incomplete"]).ended(0).out;
    assert!(none.contains("There are no such sessions of") && none.contains("--all"), "{none}");
}

#[test]
fn a_new_journal_says_what_it_is_and_is_shown_with_all_that_happened() {
    let brain = seeded();
    let report = brain.run(&["run", "where is a.txt", "--json"]).ended(0).json();
    let first = brain.journal(text(&report, "sessionId")).remove(0);
    assert_eq!((text(&first, "type"), &first["version"]), ("journal", &json!(1)));
    let schema = brain.run(&["schema", "journal-record"]).ended(0).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for record in brain.journal(text(&report, "sessionId")) {
        let faults: Vec<String> = validator.iter_errors(&record).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{faults:?} in {record}");
    }

    let shown = brain.run(&["sessions", "show", SEED_ID]).ended(0).out;
    for line in [
        "Brain asked\n  Which form?\n  1. Login: the login form (a)",
        "Plan\n  approved by the operator: Approved by the user.\n  may touch login.html\n  risk: auth",
        "Specialists\n  security  completed  The form is sound.",
        "Approvals\n  write_file  approved by the operator",
        "Tools\n  write_file  1 call, 1 failed",
        "Checks\n  failed (typecheck failed)\n  skipped: nothing to run",
        "Reviews\n  changes requested: no label",
        "Rounds of fixing\n  1, since checks failed",
        "Changed\n  A  login.html",
        "Stop  1 hook, stopped it: not so fast",
        "Tokens\n  3250 in 3 calls",
        "Handoff brief, from before the latest run\n  A login page with a logo; a label is missing.",
    ] {
        assert!(shown.contains(line), "{line}\nis not in\n{shown}");
    }
}

#[test]
fn a_tail_shows_the_last_records_each_on_a_line() {
    let brain = seeded();
    let last = brain.run(&["sessions", "tail", SEED_ID, "-n", "2"]).ended(0).out;
    let lines: Vec<&str> = last.lines().collect();
    assert_eq!(
        lines,
        [
            "2026-01-02 03:01:40Z  worker_error           qa  (no error recorded)",
            "2026-01-02 03:01:40Z  run_error              no model answered"
        ]
    );
    let json = brain.run(&["sessions", "tail", SEED_ID, "-n", "1", "--json"]).ended(0).json();
    assert_eq!(
        json,
        json!({
            "timestamp": 1_767_322_900_050_u64, "type": "run_error", "error": "no model answered", "attempt": 1
        })
    );
    assert_eq!(brain.run(&["sessions", "tail", SEED_ID]).ended(0).out.lines().count(), 10);
    // A run that is over is not waited for.
    brain.run(&["sessions", "tail", SEED_ID, "--follow"]).ended(0);
    // Hostile bytes of a journal do not reach the terminal.
    written(
        &brain,
        "20260102-030000-bbbbbb",
        "{\"timestamp\":1,\"type\":\"run_end\",\"summary\":\"\\u001b[2J\\u009b\"}\n",
    );
    brain.run(&["sessions", "tail", "20260102-030000-bbbbbb"]).ended(0);
    brain.run(&["sessions", "tail", "20260102-030000-bbbbbb", "--json"]).ended(0);
    for command in ["tail", "export", "show"] {
        let two = brain.run(&["sessions", command, "20260102-030000"]).ended(2);
        let said = two.error("journal.ambiguous");
        assert!(said.contains(SEED_ID) && said.contains("20260102-030000-bbbbbb"), "{said}");
    }
}

/// A tail that follows, and what it has said so far: the record of the start.
fn following(brain: &Brain, id: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = brain.command(&["sessions", "tail", id, "--follow", "-n", "1"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().ends_with("the request"));
    (child, lines)
}

fn begun(brain: &Brain) -> Journal {
    let journal = Journal::start(&brain.home()).unwrap();
    journal.append(&Record::RunStart(RunStart::new("the request"))).unwrap();
    journal
}

#[test]
fn a_followed_session_is_shown_until_its_run_ends() {
    let brain = Brain::in_project(&[]);
    let journal = begun(&brain);
    let (mut child, mut lines) = following(&brain, journal.id().as_str());
    let usage = TokenCounts { input: 3, total: 3, ..TokenCounts::default() };
    journal.append(&Record::TokenUsage(TokenUsage { usage, ..TokenUsage::default() })).unwrap();
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains("token_usage") && line.contains("3 in 1 call"), "{line}");
    journal.append(&Record::RunEnd(RunEnd::new("the answer"))).unwrap();
    assert!(lines.next().unwrap().unwrap().ends_with("the answer"));
    assert!(lines.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_followed_session_whose_run_was_killed_is_left_and_said_to_be() {
    let brain = Brain::in_project(&[]);
    let id = text(&brain.run(&["run", "hi", "--json"]).ended(2).json(), "sessionId").to_owned();
    // As a run leaves it that is killed: begun, and not held by anybody.
    let journal = brain_journal::Journal::open(&brain.home(), &id.parse().unwrap()).unwrap();
    journal.append(&Record::RunStart(RunStart::new("again"))).unwrap();
    let ran = brain.run(&["sessions", "tail", "--follow", &id]).ended(0);
    assert!(ran.err.contains("it was killed"), "{ran}");
}

#[test]
fn a_followed_session_is_left_by_an_interrupt() {
    let brain = Brain::in_project(&[]);
    let journal = begun(&brain);
    let (mut child, mut lines) = following(&brain, journal.id().as_str());
    // It follows when it shows what is added, so the handler is there.
    journal.append(&Record::RunStart(RunStart::new("again"))).unwrap();
    assert!(lines.next().unwrap().unwrap().ends_with("again"));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(lines.next().is_none());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn an_export_is_one_document_or_the_journal_itself_and_has_nothing_private() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    let report = brain.run(&["run", "where is a.txt", "--json"]).ended(0).json();
    let id = text(&report, "sessionId");
    let private = brain.home().join("sessions").join(id).join("private/librarian/output.log");
    std::fs::create_dir_all(private.parent().unwrap()).unwrap();
    std::fs::write(&private, "a private word").unwrap();

    let story = brain.run(&["sessions", "show", id, "--json"]).ended(0).json();
    let export = brain.run(&["sessions", "export", id]).ended(0);
    assert_eq!(export.json()["story"], story);
    assert_eq!(export.json()["usage"]["totals"]["calls"], 0);
    assert_eq!(brain.run(&["sessions", "export", "last", "--json"]).ended(0).json(), export.json());
    let markdown = brain.run(&["sessions", "export", id, "--markdown"]).ended(0);
    for line in [
        &format!("# Session {id}"),
        "### Request\n\n> where is a.txt",
        "| librarian | primary | completed |",
        "### Answer",
    ] {
        assert!(markdown.out.contains(line), "{line}\nis not in\n{markdown}");
    }
    let raw = brain.run(&["sessions", "export", id, "--raw"]).ended(0);
    assert_eq!(raw.out, std::fs::read_to_string(brain.journal_file(id)).unwrap());
    for ran in [export, markdown, raw] {
        assert!(!ran.out.contains("a private word"), "{ran}");
    }
}

#[test]
fn usage_is_added_up_and_its_absence_is_said() {
    let brain = seeded();
    let none = brain.run(&["usage"]).ended(0).out;
    assert!(none.starts_with("No model was called in ") && none.contains("cost no tokens"), "{none}");
    let all = brain.run(&["usage", "--all", "--json"]).ended(0).json();
    assert_eq!(
        (&all["sessionsWithUsage"], &all["totals"]["total"], &all["cacheHitPercent"]),
        (&json!(1), &json!(3_300), &json!(50))
    );
    assert_eq!(brain.run(&["usage", "--session", SEED_ID, "--json"]).ended(0).json()["totals"], all["totals"]);
    let shown = brain.run(&["usage", "--session", "20260102"]).ended(0).out;
    for line in [
        "3300 in 4 calls",
        "1 session with usage",
        "Cache hit: 50% of cacheable input served from cache",
        "By phase\n  primary                  2200 in 1 call",
        "By model\n  anthropic/large          2200",
        "By role\n  frontend                 2200",
        "Recent calls\n  2026-01-02 03:01:40Z  router   route-brain",
    ] {
        assert!(shown.contains(line), "{line}\nis not in\n{shown}");
    }

    // What is spent in this project counts for it.
    let report = brain.run(&["run", "where is a.txt", "--json"]).ended(0).json();
    let journal = Journal::open(&brain.home(), &parse_session_id(text(&report, "sessionId")).unwrap()).unwrap();
    let usage = TokenCounts { output: 7, total: 7, ..TokenCounts::default() };
    let phase = UsagePhase::Primary;
    journal.append(&Record::TokenUsage(TokenUsage { usage, phase, ..TokenUsage::default() })).unwrap();
    let here = brain.run(&["usage", "--json"]).ended(0).json();
    assert_eq!((&here["totals"]["output"], &here["byPhase"][0]["label"]), (&json!(7), &json!("primary")));
    brain.run(&["usage", "--session", "20990101"]).ended(2).error("journal.not-found");
}
