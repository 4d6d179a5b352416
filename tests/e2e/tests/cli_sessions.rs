//! `brain sessions`: the journal alone tells the story that the report told, and a damaged journal tells what is left of it.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs::OpenOptions;
use std::io::Write;

use brain_tests::cli::{AUDIT, Brain};
use serde_json::{Value, json};

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value}"))
}

/// Runs the audit on the sample and returns its report.
fn audited(brain: &Brain) -> Value {
    brain.run(&["run", AUDIT, "--json", "-q"]).ended(0).json()
}

#[test]
fn a_session_tells_the_story_of_its_report() {
    let brain = Brain::in_sample();
    let report = audited(&brain);
    let id = text(&report, "sessionId");
    let story = brain.run(&["sessions", "show", id, "--json"]).ended(0).json();
    assert_eq!(story["sessionId"], id);
    assert_eq!(story["status"], "completed");
    let run = &story["runs"][0];
    assert_eq!(run["prompt"], AUDIT);
    assert_eq!(run["summary"], report["summary"]);
    assert_eq!(run["finalReport"], report, "the report is kept as it was shown");
    assert_eq!(run["projectRoot"], brain.project().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(run["plan"]["primaryRole"], report["routing"]["primaryRole"]);

    let (told, reported) = (run["workers"].as_array().unwrap(), report["workers"].as_array().unwrap());
    assert_eq!(told.len(), reported.len());
    for worker in reported {
        let same = told.iter().find(|t| t["handoffId"] == worker["handoffId"]);
        let same = same.unwrap_or_else(|| panic!("{} is not in the story", worker["handoffId"]));
        for key in ["role", "phase", "status", "summary", "artifacts", "risks", "receipt"] {
            assert_eq!(same[key], worker[key], "{key} of {}", worker["role"]);
        }
        assert_eq!(same["findings"]["total"], worker["findings"]);
    }
    let review = told.iter().find(|t| t["role"] == "review").unwrap();
    assert_eq!(review["review"], report["review"]);
    let done = run["todos"].as_array().unwrap().iter().all(|todo| todo["status"] == "completed");
    assert!(done, "{}", run["todos"]);
    assert_eq!(run["errors"], json!([]));
}

#[test]
fn a_session_is_shown_for_people_too() {
    let brain = Brain::in_sample();
    let report = audited(&brain);
    let id = text(&report, "sessionId");
    let shown = brain.run(&["sessions", "show", id]).ended(0).out;
    assert!(shown.contains(&format!("Session {id}  completed")), "{shown}");
    assert!(shown.contains("Status    changes requested"), "{shown}");
    assert!(shown.contains(&format!("Request   {AUDIT}")), "{shown}");
    for worker in report["workers"].as_array().unwrap() {
        let line = shown.lines().find(|line| line.starts_with(&format!("  {:<12} completed", text(worker, "role"))));
        let line = line.unwrap_or_else(|| panic!("{} is not in\n{shown}", worker["role"]));
        assert!(line.contains(&format!(" {} finding", worker["findings"])), "{line}");
    }
    let answer = text(&report, "summary").lines().next().unwrap();
    assert!(shown.contains(answer), "{shown}");
}

#[test]
fn a_failed_worker_is_told_with_its_error() {
    let brain = Brain::in_project(&[]);
    brain.misbehaving("wild", "wild", "");
    let report = brain.run(&["role", "run", "wild", "--goal", "panic out of tea", "--json"]).ended(1).json();
    let id = text(&report, "sessionId");
    let story = brain.run(&["sessions", "show", id, "--json"]).ended(0).json();
    let run = &story["runs"][0];
    assert_eq!(run["finalReport"]["status"], "failed");
    assert_eq!(run["workers"][0]["status"], "failed");
    assert_eq!(run["errors"][0]["code"], "sandbox.trap");
    assert!(text(&run["errors"][0], "error").contains("out of tea"), "{}", run["errors"]);
    let shown = brain.run(&["sessions", "show", id]).ended(0).out;
    assert!(shown.contains("Status    failed") && shown.contains("(sandbox.trap)"), "{shown}");
}

#[test]
fn the_list_has_the_newest_first_and_says_what_it_leaves_out() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    let empty = brain.run(&["sessions"]).ended(0).out;
    assert!(empty.contains("no sessions yet"), "{empty}");
    for request in ["fix it", "improve it", "where is a.txt"] {
        brain.run(&["run", request, "--quiet"]);
    }
    let list = brain.run(&["sessions", "list", "--json"]).ended(0).json();
    let mut prompts: Vec<&str> = list["sessions"].as_array().unwrap().iter().map(|s| text(s, "prompt")).collect();
    assert_eq!(prompts[0], "where is a.txt");
    prompts.sort_unstable();
    assert_eq!(prompts, ["fix it", "improve it", "where is a.txt"]);
    assert_eq!(list["sessions"][0]["primaryRole"], "librarian");
    let short = brain.run(&["sessions", "list", "-n", "1"]).ended(0).out;
    assert!(short.contains("where is a.txt") && short.contains("2 older ones are not shown"), "{short}");

    std::fs::create_dir(brain.path("elsewhere")).unwrap();
    let elsewhere =
        brain.run(&["sessions", "list", "--here", "--json", "-C", brain.path("elsewhere").to_str().unwrap()]);
    assert_eq!(elsewhere.ended(0).json()["sessions"], json!([]));
    let here = brain.run(&["sessions", "list", "--here", "--json"]).ended(0).json();
    assert_eq!(here["sessions"].as_array().unwrap().len(), 3);
}

/// Copies a session's journal under another id.
fn copied(brain: &Brain, from: &str, to: &str) {
    std::fs::copy(brain.journal_file(from), brain.journal_file(to)).unwrap();
}

#[test]
fn the_beginning_of_an_id_is_enough_when_it_is_of_one_session() {
    let brain = Brain::in_project(&[]);
    let report = brain.run(&["run", "fix it", "--json"]).ended(2).json();
    copied(&brain, text(&report, "sessionId"), "20010203-040506-aaaaaa");
    copied(&brain, text(&report, "sessionId"), "20010203-040507-bbbbbb");
    let shown = brain.run(&["sessions", "show", "20010203-040506", "--json"]).ended(0).json();
    assert_eq!(shown["sessionId"], "20010203-040506-aaaaaa");

    let two = brain.run(&["sessions", "show", "20010203"]).ended(2);
    let said = two.error("journal.ambiguous");
    assert!(said.contains("20010203-040506-aaaaaa") && said.contains("20010203-040507-bbbbbb"), "{said}");

    let none = brain.run(&["sessions", "show", "19990101-000000-aaaaaa"]).ended(2);
    assert!(none.error("journal.not-found").contains("brain sessions list"), "{none}");
    for bad in ["nonsense", "../../etc/passwd", "", "2001\u{1b}[2J"] {
        let none = brain.run(&["sessions", "show", bad]).ended(2);
        none.error("journal.bad-reference");
    }
}

#[test]
fn a_torn_last_line_is_counted_and_the_rest_is_told() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    let report = brain.run(&["run", "where is a.txt", "--json"]).ended(0).json();
    let id = text(&report, "sessionId");
    let whole = brain.run(&["sessions", "show", id, "--json"]).ended(0).json();
    let mut journal = OpenOptions::new().append(true).open(brain.journal_file(id)).unwrap();
    journal.write_all(b"{\"timestamp\":1,\"type\":\"run_err").unwrap();
    let torn = brain.run(&["sessions", "show", id, "--json"]).ended(0).json();
    assert_eq!(torn["runs"], whole["runs"]);
    assert_eq!(torn["skipped"]["tornLines"], 1);
    let shown = brain.run(&["sessions", "show", id]).ended(0).out;
    assert!(shown.contains("Passed over in the journal: 1 torn"), "{shown}");
}

#[test]
fn a_journal_that_was_cut_off_is_incomplete() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    let report = brain.run(&["run", "where is a.txt", "--json"]).ended(0).json();
    let id = text(&report, "sessionId");
    let journal = std::fs::read_to_string(brain.journal_file(id)).unwrap();
    let started = journal.find("\"worker_end\"").unwrap();
    std::fs::write(brain.journal_file(id), &journal[..started]).unwrap();
    let story = brain.run(&["sessions", "show", id, "--json"]).ended(0).json();
    assert_eq!(story["status"], "incomplete");
    assert_eq!(story["runs"][0]["prompt"], "where is a.txt");
    let shown = brain.run(&["sessions", "show", id]).ended(0).out;
    assert!(shown.contains("unfinished"), "{shown}");
}

#[test]
fn garbage_in_a_journal_is_counted_and_never_obeyed() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    let report = brain.run(&["run", "where is a.txt", "--json"]).ended(0).json();
    let id = text(&report, "sessionId");
    let whole = brain.run(&["sessions", "show", id, "--json"]).ended(0).json();
    let journal = std::fs::read(brain.journal_file(id)).unwrap();
    let mut damaged: Vec<u8> = b"not json\n\xff\xfe\x00\n{}\n[]\n\x1b[2J\n\"\"\n".to_vec();
    damaged.extend_from_slice(b"{\"timestamp\":1,\"type\":\"from_the_future\",\"x\":1}\n");
    damaged.extend(journal);
    damaged.extend_from_slice(b"{\"timestamp\":1,\"type\":\"run_end\"}\n");
    std::fs::write(brain.journal_file(id), damaged).unwrap();
    let story = brain.run(&["sessions", "show", id, "--json"]).ended(0).json();
    assert_eq!(story["runs"], whole["runs"]);
    let skipped = &story["skipped"];
    assert_eq!(skipped["unknown"], 1, "{skipped}");
    assert!(skipped["malformed"].as_u64() >= Some(6), "{skipped}");
    let list = brain.run(&["sessions", "list"]).ended(0).out;
    assert!(list.contains(id) && list.contains("where is a.txt"), "{list}");
}

#[test]
fn what_is_no_journal_is_counted_in_the_list() {
    let brain = Brain::in_project(&[]);
    brain.run(&["run", "fix it"]).ended(2);
    let sessions = brain.home().join("sessions");
    std::fs::write(sessions.join("notes.jsonl"), "hello\n").unwrap();
    std::fs::create_dir(sessions.join("20010203-040506-aaaaaa.jsonl")).unwrap();
    let list = brain.run(&["sessions"]).ended(0).out;
    assert!(list.contains("2 files in the folder are not sessions"), "{list}");
}

#[test]
fn an_earlier_session_is_handed_over_as_a_snapshot() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    let first = brain.run(&["run", "where is a.txt", "--json"]).ended(0).json();
    let request = format!("where did @@{} look, and what is @nowhere.txt", text(&first, "sessionId"));
    let second = brain.run(&["run", &request, "--json"]).ended(0).json();
    let context = brain.context(text(&second, "sessionId"), "librarian");
    let thread = format!("threads/{}.md", text(&first, "sessionId"));
    let (_, snapshot) = context.iter().find(|(path, _)| *path == thread).unwrap();
    let snapshot = String::from_utf8_lossy(snapshot);
    assert!(snapshot.contains("where is a.txt"), "{snapshot}");
    assert_eq!(
        second["missing"],
        json!([
            "@nowhere.txt: there is no such file",
            "none of the files that the request names is there, and roles see nothing else"
        ])
    );
}

#[test]
fn the_last_session_is_referred_to_as_it_is_shown() {
    let brain = Brain::in_project(&[("src/a.rs", "fn a() {}\n")]);
    let none = brain.run(&["run", "where is a, see @@last", "--json"]).ended(0).json();
    let said = &none["missing"][0];
    assert!(said.as_str().unwrap().starts_with("@@last: no session ran in "), "{said}");

    let earlier = text(&none, "sessionId").to_owned();
    let request = format!("what did @@last find, and @@{earlier}, and @@last?");
    let report = brain.run(&["run", &request, "--json"]).ended(0).json();
    assert_eq!(report["missing"], json!([]));
    let context = brain.context(text(&report, "sessionId"), "librarian");
    let threads: Vec<&str> =
        context.iter().map(|(path, _)| path.as_str()).filter(|p| p.starts_with("threads/")).collect();
    assert_eq!(threads, [format!("threads/{earlier}.md")], "it is the one before this run, and once");

    // Of this project, as `brain sessions show last` has it.
    let elsewhere = brain.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let other =
        brain.run(&["run", "what did @@last find", "--json", "-C", elsewhere.to_str().unwrap()]).ended(0).json();
    assert!(other["missing"][0].as_str().unwrap().contains("no session ran in"), "{}", other["missing"]);
    let shown = brain.run(&["sessions", "show", "last", "--json"]).ended(0).json();
    assert_eq!(shown["sessionId"], report["sessionId"]);
    let help = brain.run(&["run", "--help"]).ended(0).out;
    assert!(help.contains("@@last"), "{help}");
    assert!(brain.run(&["sessions", "show", "--help"]).ended(0).out.contains("`last`"));
}

#[test]
fn a_bare_list_takes_what_the_list_takes() {
    let brain = Brain::in_project(&[]);
    for _ in 0..3 {
        brain.run(&["run", "hi"]).ended(2);
    }
    let list = brain.run(&["sessions", "--json", "-n", "2"]).ended(0).json();
    assert_eq!((list["sessions"].as_array().unwrap().len(), &list["notShown"]), (2, &json!(1)));
    assert_eq!(brain.run(&["sessions", "list", "--json", "-n", "2"]).ended(0).json(), list);
    let elsewhere = brain.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let none = brain.run(&["sessions", "--here", "-C", elsewhere.to_str().unwrap()]).ended(0).out;
    assert!(none.contains(&format!("no sessions of {}", elsewhere.canonicalize().unwrap().display())), "{none}");
    let row = brain.run(&["sessions", "-n", "1"]).ended(0).out;
    assert!(row.contains("  needs clarification  "), "{row}");
}
