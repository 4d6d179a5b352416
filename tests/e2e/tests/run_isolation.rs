//! What a role is given, and that it is given nothing else: the results of those that it runs after, the context that its
//! handoff names, and ids that stay Brain's whatever it answers.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;

use brain_tests::cli::Brain;
use brain_tests::guest;
use serde_json::{Value, json};

/// Four roles that each do what the request says: `alpha` answers, the others prepare, and of those only `gamma` asks to see
/// the result of another.
fn crew(word: &str) -> Brain {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    for (name, after) in [("alpha", ""), ("beta", ""), ("gamma", "after = [\"beta\"]\n"), ("delta", "")] {
        brain.misbehaving(name, word, after);
    }
    brain
}

fn worker<'a>(report: &'a Value, role: &str) -> &'a Value {
    report["workers"].as_array().unwrap().iter().find(|w| w["role"] == role).unwrap_or_else(|| panic!("no {role}"))
}

fn summary<'a>(report: &'a Value, role: &str) -> &'a str {
    worker(report, role)["summary"].as_str().unwrap()
}

#[test]
fn a_role_sees_the_results_of_those_that_it_runs_after_and_of_no_others() {
    for parallel in ["1", "4"] {
        let brain = crew("list");
        std::fs::write(brain.home().join("config.toml"), format!("[run]\nmax_parallel = {parallel}\n")).unwrap();
        let report = brain.run(&["run", "list /context/results", "--json", "-q"]).ended(0).json();
        assert_eq!(worker(&report, "alpha")["phase"], "primary");
        assert!(summary(&report, "alpha").ends_with("ok 3: beta.json, delta.json, gamma.json"), "{report}");
        assert!(summary(&report, "gamma").ends_with("ok 1: beta.json"), "{report}");
        for alone in ["beta", "delta"] {
            assert!(summary(&report, alone).contains(": error "), "{alone} saw a result: {}", summary(&report, alone));
        }
    }
}

#[test]
fn the_result_of_another_cannot_be_reached_by_another_way() {
    let brain = crew("open");
    let private = brain.home().join("sessions");
    for goal in [
        "open /context/results/beta.json",
        "open /context/../beta/context/request.md",
        "open /context/results/../../../beta/output.log",
        "open /artifacts/../context/request.md",
        private.to_str().map(|sessions| format!("open {sessions}")).unwrap().as_str(),
    ] {
        let report = brain.run(&["run", goal, "--json", "-q"]).ended(0).json();
        assert!(summary(&report, "delta").contains(": error "), "{goal}: {}", summary(&report, "delta"));
    }
}

#[test]
fn the_context_folder_holds_what_the_handoff_names_and_nothing_else() {
    let brain = crew("list");
    brain.commit();
    brain.write("a.txt", "two\n");
    brain.role(
        "epsilon",
        "[files]\nread = [\"**\"]\n[context]\nreads = [\"changes.diff\"]\n[routing]\nwords = [\"list\"]\nafter = [\"gamma\", \"delta\"]\n",
        &guest("misbehave"),
    );
    let report = brain.run(&["run", "list /context @a.txt", "--json", "-q"]).ended(0).json();
    let session = report["sessionId"].as_str().unwrap();
    let handoffs: Vec<Value> = brain
        .journal(session)
        .into_iter()
        .filter(|record| record["type"] == "agent_message" && record["message"]["kind"] == "handoff")
        .map(|record| record["message"]["payload"].clone())
        .collect();
    assert_eq!(handoffs.len(), 5);
    for handoff in handoffs {
        let role = handoff["task"]["agentRole"].as_str().unwrap();
        let refs = handoff["task"]["contextRefs"].as_array().unwrap();
        let named: BTreeSet<String> = refs
            .iter()
            .filter_map(|r| r["uri"].as_str().unwrap().strip_prefix("context:"))
            .map(str::to_owned)
            .collect();
        let there: BTreeSet<String> = brain.context(session, role).into_iter().map(|(path, _)| path).collect();
        assert_eq!(there, named, "{role}");
        let results =
            |roles: &[&str]| -> BTreeSet<String> { roles.iter().map(|r| format!("results/{r}.json")).collect() };
        let seen: BTreeSet<String> = named.iter().filter(|path| path.starts_with("results/")).cloned().collect();
        let expected = match role {
            "alpha" => results(&["beta", "gamma", "delta", "epsilon"]),
            "gamma" => results(&["beta"]),
            "epsilon" => results(&["gamma", "delta"]),
            _ => results(&[]),
        };
        assert_eq!(seen, expected, "{role}");
        assert_eq!(named.contains("changes.diff"), role == "epsilon", "{role}");
        assert!(named.contains("request.md"), "{role}");
    }
    let context = brain.context(session, "epsilon");
    let (_, diff) = context.iter().find(|(path, _)| path == "changes.diff").unwrap();
    assert!(String::from_utf8_lossy(diff).contains("+two"));
}

#[test]
fn a_result_that_is_passed_on_is_the_settled_one() {
    let brain = crew("echo");
    let report = brain.run(&["run", "echo", "--json", "-q"]).ended(1).json();
    let session = report["sessionId"].as_str().unwrap();
    let context = brain.context(session, "gamma");
    let (_, result) = context.iter().find(|(path, _)| path == "results/beta.json").unwrap();
    let result: Value = serde_json::from_slice(result).unwrap();
    assert_eq!(result["handoffId"], format!("{session}:beta:1"));
    assert_eq!(result["taskId"], format!("{session}:beta"));
    assert_eq!(result["parentId"], session);
    assert!(result["findings"].as_array().unwrap().iter().all(|f| f["file"] != "../outside"), "{result}");
}

#[test]
fn ids_are_brains_whatever_a_role_answers() {
    let brain = crew("echo");
    let report = brain.run(&["run", "echo", "--json", "-q"]).ended(1).json();
    let session = report["sessionId"].as_str().unwrap();
    let mut seen = 0;
    for record in brain.journal(session) {
        let role = record["worker"].as_str().unwrap_or_default();
        let (handoff, task) = (json!(format!("{session}:{role}:1")), json!(format!("{session}:{role}")));
        let result = match record["type"].as_str().unwrap() {
            "worker_start" => {
                assert_eq!((&record["handoffId"], &record["taskId"]), (&handoff, &task));
                continue;
            }
            "worker_end" => &record["result"],
            "agent_message" if record["message"]["kind"] == "handoff" => {
                let packet = &record["message"]["payload"];
                assert_eq!((&packet["id"], &packet["task"]["id"]), (&handoff, &task));
                assert_eq!(packet["task"]["parentId"], session);
                continue;
            }
            "agent_message" => &record["message"]["payload"],
            _ => continue,
        };
        seen += 1;
        assert_eq!((&result["handoffId"], &result["taskId"]), (&handoff, &task));
        assert_eq!(result["parentId"], session);
        let notes = result["notes"].as_array().unwrap();
        assert!(notes.iter().any(|note| note["field"] == "handoffId"), "{notes:?}");
        assert!(notes.iter().any(|note| note["field"] == "parentId"), "{notes:?}");
    }
    assert_eq!(seen, 8, "a message and an end for each of four roles");
    for worker in report["workers"].as_array().unwrap() {
        assert_eq!(worker["handoffId"], format!("{session}:{}:1", worker["role"].as_str().unwrap()));
    }
}

#[test]
fn who_waits_for_a_role_that_failed_is_blocked_and_the_others_go_on() {
    let brain = crew("nothing");
    let report = brain.run(&["run", "fail for nothing", "--json", "-q"]).ended(1).json();
    assert_eq!(worker(&report, "beta")["status"], "failed");
    assert_eq!(worker(&report, "gamma")["status"], "blocked");
    assert!(worker(&report, "gamma").get("receipt").is_none(), "it was never called");
    assert_eq!(worker(&report, "delta")["status"], "failed");
    assert_eq!(worker(&report, "alpha")["status"], "failed");
    assert_eq!(report["status"], "failed");
    let warned = report["warnings"].as_array().unwrap().iter().any(|w| w.as_str().unwrap().starts_with("gamma: "));
    assert!(warned, "{}", report["warnings"]);
}

#[test]
fn roles_that_wait_for_each_other_are_found_while_planning_and_named() {
    let brain = Brain::in_project(&[]);
    brain.misbehaving("alpha", "list", "");
    brain.misbehaving("beta", "list", "after = [\"gamma\"]\n");
    brain.misbehaving("gamma", "list", "after = [\"beta\"]\n");
    let ran = brain.run(&["run", "list /workspace", "--json", "-q"]).ended(1);
    assert!(ran.error("plan.cycle").contains("the roles wait for each other: beta → gamma → beta"), "{ran}");
    assert!(!brain.home().join("sessions").exists(), "nothing was begun");
    brain.run(&["plan", "list /workspace"]).ended(1).error("plan.cycle");
}

#[test]
fn what_a_role_prints_stays_in_its_private_log() {
    let brain = crew("say");
    let ran = brain.run(&["run", "say marmalade-4711", "--json", "-q"]).ended(0);
    let report = ran.json();
    let session = report["sessionId"].as_str().unwrap();
    let log = brain.home().join("sessions").join(session).join("private/beta/output.log");
    let log = std::fs::read_to_string(log).unwrap();
    assert_eq!(log.matches("marmalade-4711").count(), 2, "on both streams: {log}");
    assert_eq!(ran.err, "");
    for record in brain.journal(session) {
        assert_ne!(record["type"], "output", "{record}");
    }
}

#[test]
fn a_role_without_read_globs_has_no_workspace_and_one_with_globs_has_those() {
    let brain = Brain::in_project(&[("src/a.rs", "one\n"), ("docs/b.md", "two\n"), (".env", "SECRET=1\n")]);
    brain.role("blind", "[routing]\nwords = [\"x\"]\n", &guest("misbehave"));
    brain.role("narrow", "[files]\nread = [\"src/**\"]\n", &guest("misbehave"));
    let answer = |role: &str, goal: &str| {
        let report = brain.run(&["role", "run", role, "--goal", goal, "--json", "-q"]).ended(0).json();
        report["summary"].as_str().unwrap().to_owned()
    };
    assert!(answer("blind", "open /workspace/src/a.rs").contains(": error "));
    assert!(answer("blind", "list /workspace").contains(": error "));
    assert!(answer("narrow", "open /workspace/src/a.rs").ends_with("ok 4 bytes"));
    assert!(answer("narrow", "open /workspace/docs/b.md").contains("error PermissionDenied"));
    assert!(answer("narrow", "open /workspace/.env").contains("error PermissionDenied"));
    assert!(answer("narrow", "list /workspace").ends_with("ok 1: src"));
}
