//! Plans as the operator sees them, what is asked back and answered, sessions that go on, and the review of what is proposed.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use brain_tests::cli::Brain;
use brain_tests::guest;
use serde_json::{Value, json};

fn session(report: &Value) -> &str {
    report["sessionId"].as_str().unwrap()
}

fn roles(of: &Value) -> Vec<&str> {
    of["workers"].as_array().unwrap().iter().map(|worker| worker["role"].as_str().unwrap()).collect()
}

/// The records of one type in a session's journal.
fn records(brain: &Brain, session: &str, of: &str) -> Vec<Value> {
    brain.journal(session).into_iter().filter(|record| record["type"] == of).collect()
}

#[test]
fn a_plan_is_a_tree_for_people_and_data_for_programs_and_runs_nothing() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.misbehaving("alpha", "list", "");
    brain.misbehaving("beta", "list", "");
    let shown = brain.run(&["plan", "list /workspace"]).ended(0).out;
    let tree = "support, at most 2 side by side\n\
        └─ beta   the request says \"list\"\n     \
        ask-beta: do the beta part\n     \
        asks to read **\n\
        answers\n\
        └─ alpha   the request says \"list\"\n     \
        ask-alpha: do the alpha part   after ask-beta\n     \
        asks to read **; sees the results of beta\n";
    assert!(shown.contains(tree), "{shown}");
    let plan = brain.run(&["plan", "--json", "list /workspace"]).ended(0).json();
    assert_eq!(roles(&plan), ["beta", "alpha"]);
    assert_eq!(plan["dependencies"], json!([{"fromTodoId": "ask-beta", "toTodoId": "ask-alpha"}]));
    assert_eq!((&plan["source"], &plan["limits"]["maxTodos"]), (&json!("heuristic"), &json!(6)));
    let radical = brain.run(&["plan", "--mode", "radical", "--json", "list /workspace"]).ended(0).json();
    assert_eq!((&radical["mode"], &radical["limits"]["maxParallel"]), (&json!("radical"), &json!(4)));
    assert_eq!(brain.run(&["run", "--dry-run", "--json", "list /workspace"]).ended(0).json(), plan);
    assert!(!brain.home().join("sessions").exists());
}

#[test]
fn what_is_asked_back_is_recorded_and_answered_by_number_id_or_words() {
    for (answer, expected) in [
        ("2", "look for secrets, dangerous calls and unsafe settings"),
        ("check-safety", "look for secrets, dangerous calls and unsafe settings"),
        ("the parser in a.py", "the parser in a.py"),
    ] {
        let brain = Brain::in_project(&[("a.py", "def parse(text):\n    return text\n")]);
        let asked = brain.run(&["run", "fix it", "--json"]).ended(2).json();
        let id = session(&asked);
        let request = &records(&brain, id, "clarification_request")[0];
        assert_eq!(request["clarification"]["question"], asked["clarification"]["question"]);
        let blocked = &records(&brain, id, "todo_update")[0];
        assert_eq!((&blocked["status"], &blocked["phase"]), (&json!("blocked"), &json!("planning")));
        assert_eq!(records(&brain, id, "worker_start"), [] as [Value; 0]);
        let shown = brain.run(&["sessions", "show", id]).ended(0).out;
        assert!(shown.contains(asked["clarification"]["question"].as_str().unwrap()), "{shown}");

        let report = brain.run(&["run", "--session", "last", answer, "--json"]).ended(0).json();
        assert_eq!(session(&report), id, "the session goes on");
        assert_eq!(report["task"], expected);
        assert_eq!(report["status"], "answered");
        assert_eq!(records(&brain, id, "run_start").len(), 2);
        // The workers see what went before as a snapshot, and nothing of it otherwise.
        let start = records(&brain, id, "agent_message").into_iter().next().unwrap();
        let refs = start["message"]["payload"]["task"]["contextRefs"].to_string();
        assert!(refs.contains(&format!("context:threads/{id}.md")), "{refs}");
    }
}

#[test]
fn an_answer_that_names_no_option_is_refused_and_the_question_stays() {
    let brain = Brain::in_project(&[("a.py", "x = 1\n")]);
    let asked = brain.run(&["run", "fix it", "--json"]).ended(2).json();
    let none = brain.run(&["run", "--session", session(&asked), "7"]).ended(2);
    let said = none.error("run.answer");
    assert!(said.contains("`7` is none of its 3 options") && said.contains("What should be looked at"), "{none}");
    assert_eq!(records(&brain, session(&asked), "run_start").len(), 1);
    brain.run(&["run", "--session", session(&asked), "1"]).ended(0);
    brain.run(&["run", "--session", "nope", "1"]).ended(2);
}

#[test]
fn a_session_that_goes_on_keeps_its_runs_apart() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.misbehaving("alpha", "say", "");
    let first = brain.run(&["run", "say one", "--json"]).ended(0).json();
    let id = session(&first).to_owned();
    let second = brain.run(&["run", "--session", &id, "say two", "--json"]).ended(0).json();
    let third = brain.run(&["run", "--session", &id[..12], "say three", "--json"]).ended(0).json();
    assert_eq!((session(&second), session(&third)), (id.as_str(), id.as_str()));
    let ids: Vec<Value> = [&first, &second, &third].map(|report| report["workers"][0]["handoffId"].clone()).into();
    let expected: Vec<Value> = (1..=3).map(|run| json!(format!("{id}:alpha:{run}"))).collect();
    assert_eq!(ids, expected, "each handoff has an id of its own");
    let private = brain.home().join("sessions").join(&id).join("private");
    for (folder, word) in [("alpha", "one"), ("2/alpha", "two"), ("3/alpha", "three")] {
        let log = std::fs::read_to_string(private.join(folder).join("output.log")).unwrap();
        assert!(log.contains(word), "{folder}: {log}");
    }
}

#[test]
fn what_a_run_proposes_is_reviewed_after_it_was_made_and_the_decision_is_the_runs() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    let manifest = "[files]\nread = [\"**\"]\nwrite = [\"**\"]\n[routing]\nwords = [\"write\"]\n";
    brain.role("writer", manifest, &guest("misbehave"));
    std::fs::write(brain.home().join("config.toml"), "[grants.writer]\nwrite = [\"**\"]\n").unwrap();
    let report = brain.run(&["run", "write /workspace/b.txt", "--json"]).ended(0).json();
    let phases: Vec<(&Value, &Value)> =
        report["workers"].as_array().unwrap().iter().map(|worker| (&worker["role"], &worker["phase"])).collect();
    let expected = [("writer", "primary"), ("review", "review")].map(|(role, phase)| (json!(role), json!(phase)));
    let last: Vec<(Value, Value)> =
        phases.iter().rev().take(2).rev().map(|(r, p)| ((*r).clone(), (*p).clone())).collect();
    assert_eq!(last, expected, "{report}");
    let decision = report["review"]["decision"].as_str().unwrap();
    let status = report["status"].as_str().unwrap();
    assert_eq!(status, decision.replace("changes-requested", "changes_requested"));
    let coverage = report["review"]["coverage"].to_string();
    assert!(coverage.contains("b.txt"), "it saw what was proposed: {coverage}");
    assert!(!brain.project().join("b.txt").exists());
    let diff = brain.context(session(&report), "review").into_iter().find(|(path, _)| path == "changes.diff").unwrap();
    assert!(String::from_utf8_lossy(&diff.1).contains("+++ b/b.txt"), "{diff:?}");
}

#[test]
fn where_nothing_is_proposed_nothing_is_reviewed() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    let manifest = "[files]\nread = [\"**\"]\nwrite = [\"**\"]\n[routing]\nwords = [\"add\"]\n";
    brain.role("writer", manifest, &guest("noop"));
    std::fs::write(brain.home().join("config.toml"), "[grants.writer]\nwrite = [\"**\"]\n").unwrap();
    let report = brain.run(&["run", "add a line", "--json"]).ended(0).json();
    assert!(!roles(&report).contains(&"review"), "{report}");
    assert_eq!(report["status"], "answered");
    let todos = records(&brain, session(&report), "todo_update");
    let reviewed = todos.iter().find(|todo| todo["phase"] == "review").unwrap();
    assert_eq!(reviewed["summary"], "nothing was changed, so there is nothing to review");
}

#[test]
fn a_session_in_which_a_run_goes_on_is_not_continued_meanwhile() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.misbehaving("alpha", "say", "");
    let first = brain.run(&["run", "say one", "--json"]).ended(0).json();
    let id = session(&first);
    let lock = brain_journal::RunLock::take(&brain.home(), &id.parse().unwrap()).unwrap();
    let refused = brain.run(&["run", "--session", id, "say two"]).ended(1);
    assert!(refused.error("journal.in-use").contains(id), "{refused}");
    assert_eq!(records(&brain, id, "run_start").len(), 1);
    drop(lock);
    brain.run(&["run", "--session", id, "say two"]).ended(0);
}

#[test]
fn a_session_of_another_project_is_said_to_be_one() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.misbehaving("alpha", "say", "");
    let first = brain.run(&["run", "say one", "--json"]).ended(0).json();
    let elsewhere = brain.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let args = ["run", "--session", session(&first), "say two", "--json", "-C", elsewhere.to_str().unwrap()];
    let second = brain.run(&args).ended(0).json();
    assert!(second["missing"].to_string().contains("the session was last about another project"), "{second}");
}
