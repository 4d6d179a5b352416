//! What programs read: the JSON of a run and of a plan against the published schemas, and SARIF against its own rules.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;

use brain_tests::cli::{AUDIT, Brain};
use brain_tests::repository;
use jsonschema::Validator;
use serde_json::{Value, json};

/// The schemas as the binary writes them, by file name.
fn generated(brain: &Brain) -> BTreeMap<String, String> {
    let folder = brain.path("schemas");
    std::fs::create_dir(&folder).unwrap();
    brain.run(&["schema", "--out", folder.to_str().unwrap()]).ended(0);
    texts(&folder)
}

fn texts(folder: &std::path::Path) -> BTreeMap<String, String> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap())
        })
        .collect()
}

fn validator(schemas: &BTreeMap<String, String>, name: &str) -> Validator {
    let schema: Value = serde_json::from_str(&schemas[&format!("{name}.schema.json")]).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn faults(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path)).collect()
}

#[test]
fn the_committed_schemas_are_those_that_the_types_make() {
    let fresh = generated(&Brain::in_project(&[]));
    let committed = texts(&repository().join("schemas"));
    assert_eq!(fresh.keys().collect::<Vec<_>>(), committed.keys().collect::<Vec<_>>(), "run `cargo xtask schemas`");
    for (name, text) in &fresh {
        assert_eq!(&committed[name], text, "{name} is out of date: run `cargo xtask schemas`");
    }
}

#[test]
fn a_report_fits_its_schema() {
    let brain = Brain::in_sample();
    let schemas = generated(&brain);
    let report = brain.run(&["run", AUDIT, "--json"]).ended(0).json();
    assert_eq!(faults(&validator(&schemas, "run-report"), &report), Vec::<String>::new());
    let receipts = validator(&schemas, "receipt");
    let workers = report["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 3);
    for worker in workers {
        let receipt = &worker["receipt"];
        assert_eq!(faults(&receipts, receipt), Vec::<String>::new(), "{}", worker["role"]);
        assert_eq!(receipt["ended"], "returned");
        assert_eq!(receipt["role"], worker["role"]);
        assert!(receipt["files"]["filesRead"].as_u64() > Some(0), "{receipt}");
        assert!(receipt["peakMemoryBytes"].as_u64() > Some(0), "{receipt}");
        assert!(receipt["grants"]["deny"].as_array().unwrap().contains(&json!(".git")), "{receipt}");
    }
}

#[test]
fn a_report_that_was_damaged_does_not() {
    let brain = Brain::in_sample();
    let validator = validator(&generated(&brain), "run-report");
    let report = brain.run(&["run", AUDIT, "--json"]).ended(0).json();
    let damages: &[(&str, Option<Value>)] = &[
        ("/sessionId", None),
        ("/workers", None),
        ("/summary", None),
        ("/status", Some(json!("wonderful"))),
        ("/version", Some(json!("one"))),
        ("/findings/0/severity", Some(json!("urgent"))),
        ("/findings/0/line", Some(json!(0))),
        ("/findings/0/issue", None),
        ("/workers/0/phase", Some(json!("observer"))),
        ("/workers/0/receipt/wallMs", Some(json!("fast"))),
        ("/workers/0/receipt/limits/deadline_ms", Some(json!(-1))),
        ("/review/decision", Some(json!("maybe"))),
        ("/review/coverage/0/status", Some(json!("glanced_at"))),
    ];
    for (place, value) in damages {
        let mut damaged = report.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        let parent = damaged.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        assert!(parent.contains_key(key), "{place} is not in the report");
        match value {
            Some(value) => parent[key] = value.clone(),
            None => drop(parent.remove(key)),
        }
        assert!(!validator.is_valid(&damaged), "{place} may be {value:?}");
    }
}

#[test]
fn every_way_that_a_run_ends_fits_the_schema() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    let validator = validator(&generated(&brain), "run-report");
    brain.misbehaving("wild", "wild", "[limits]\ndeadline_ms = 300\n");
    brain.role("unfit", "[routing]\nwords = [\"wild\"]\n", b"not a component");
    for (goal, status) in [
        ("echo", 1),
        ("trap", 1),
        ("panic with words", 1),
        ("exit 3", 1),
        ("spin", 1),
        ("return-100mb", 1),
        ("return-findings 5000", 0),
        ("pending", 1),
        ("open /etc/passwd", 0),
    ] {
        let report = brain.run(&["role", "run", "wild", "--goal", goal, "--json", "-q"]).ended(status).json();
        assert_eq!(faults(&validator, &report), Vec::<String>::new(), "{goal}");
    }
    for (request, status) in [("go wild", 1), ("fix it", 2)] {
        let report = brain.run(&["run", request, "--json", "-q"]).ended(status).json();
        assert_eq!(faults(&validator, &report), Vec::<String>::new(), "{request}");
    }
}

#[test]
fn a_plan_fits_its_schema_and_runs_nothing() {
    let brain = Brain::in_sample();
    let validator = validator(&generated(&brain), "run-plan");
    let plan = brain.run(&["run", AUDIT, "--dry-run", "--json"]).ended(0).json();
    assert_eq!(faults(&validator, &plan), Vec::<String>::new());
    let roles: Vec<&Value> = plan["workers"].as_array().unwrap().iter().map(|w| &w["role"]).collect();
    assert_eq!(roles, ["review", "librarian", "security"]);
    assert_eq!(plan["workers"][2]["after"], json!(["review", "librarian"]));
    assert!(!brain.home().join("sessions").exists(), "a dry run leaves no session");
    let mut damaged = plan;
    damaged["workers"][0]["phase"] = json!("observer");
    assert!(!validator.is_valid(&damaged));
}

#[test]
fn manifests_and_check_reports_fit_their_schemas() {
    let brain = Brain::in_project(&[]);
    let schemas = generated(&brain);
    let (manifests, checks) = (validator(&schemas, "role"), validator(&schemas, "check-report"));
    for role in ["librarian", "security", "review"] {
        let inspected = brain.run(&["role", "inspect", role, "--json"]).ended(0).json();
        assert_eq!(faults(&manifests, &inspected["manifest"]), Vec::<String>::new(), "{role}");
        assert_eq!(faults(&checks, &inspected["check"]), Vec::<String>::new(), "{role}");
        let check = brain.run(&["role", "check", role, "--json"]).ended(0).json();
        assert_eq!(check, inspected["check"]);
    }
    brain.write("text.wasm", "this is no component");
    let check = brain.run(&["role", "check", "text.wasm", "--json"]).ended(1).json();
    assert_eq!(faults(&checks, &check), Vec::<String>::new());
}

#[test]
fn handoffs_and_results_in_the_journal_fit_their_schemas() {
    let brain = Brain::in_sample();
    let schemas = generated(&brain);
    let (handoffs, results) = (validator(&schemas, "handoff-packet"), validator(&schemas, "worker-result"));
    let report = brain.run(&["run", AUDIT, "--json"]).ended(0).json();
    let journal = brain.journal(report["sessionId"].as_str().unwrap());
    let (mut sent, mut returned) = (0, 0);
    for record in &journal {
        if record["type"] == "agent_message" && record["message"]["kind"] == "handoff" {
            sent += 1;
            assert_eq!(faults(&handoffs, &record["message"]["payload"]), Vec::<String>::new());
        }
        if record["type"] == "worker_end" {
            returned += 1;
            assert_eq!(faults(&results, &record["result"]), Vec::<String>::new());
        }
    }
    assert_eq!((sent, returned), (3, 3));
}

/// The rules of SARIF 2.1.0 that a consumer of results relies on: properties that are required, closed sets of values, references
/// that lead somewhere, locations that are relative URIs.
fn assert_sarif(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-2.1.0.json"));
    let runs = log["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "Brain");
    assert!(run["columnKind"] == "unicodeCodePoints" || run["columnKind"] == "utf16CodeUnits");
    let mut rules: Vec<&str> = driver["rules"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap()).collect();
    let all = rules.len();
    rules.sort_unstable();
    rules.dedup();
    assert_eq!(rules.len(), all, "every rule is described once");
    for rule in driver["rules"].as_array().unwrap() {
        assert!(rule["shortDescription"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{rule}");
        assert_level(&rule["defaultConfiguration"]["level"]);
    }
    let results = run["results"].as_array().unwrap();
    for result in results {
        assert!(rules.contains(&result["ruleId"].as_str().unwrap()), "{} is not described", result["ruleId"]);
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        assert_level(&result["level"]);
        for location in result["locations"].as_array().into_iter().flatten() {
            let place = &location["physicalLocation"];
            assert_relative(place["artifactLocation"]["uri"].as_str().unwrap());
            if let Some(region) = place.get("region") {
                assert!(region["startLine"].as_u64() > Some(0), "{region}");
            }
        }
    }
    let used = |rule: &&str| results.iter().any(|result| result["ruleId"] == **rule);
    assert!(rules.iter().all(used), "a rule without a result");
}

fn assert_level(level: &Value) {
    assert!(["none", "note", "warning", "error"].iter().any(|known| level == known), "{level}");
}

fn assert_relative(uri: &str) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "/.-_~@+,=%".contains(c);
    assert!(!uri.is_empty() && uri.chars().all(allowed), "{uri}");
    assert!(!uri.starts_with('/') && !uri.split('/').any(|part| part == ".." || part.is_empty()), "{uri}");
}

#[test]
fn sarif_has_what_its_readers_rely_on() {
    let brain = Brain::in_sample();
    let file = brain.path("out.sarif");
    let report = brain.run(&["run", AUDIT, "--json", "--sarif", file.to_str().unwrap()]).ended(0).json();
    let log: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_sarif(&log);
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), report["findings"].as_array().unwrap().len());
    assert!(results.iter().all(|r| r["locations"][0]["physicalLocation"]["region"]["startLine"].is_u64()));
}

#[test]
fn sarif_of_a_hostile_role_and_of_hostile_names_is_sarif_too() {
    let brain = Brain::in_project(&[]);
    brain.misbehaving("wild", "wild", "");
    let file = brain.path("out.sarif");
    let path = file.to_str().unwrap();
    brain.run(&["role", "run", "wild", "--goal", "echo", "--sarif", path]).ended(1);
    let log: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_sarif(&log);
    assert!(!log["runs"][0]["results"].as_array().unwrap().is_empty());

    for name in ["a b.py", "ab:d.py", "e\u{1b}[31m.py", "f%20#?.py", "é/g.py"] {
        brain.write(name, "eval(input())\n");
    }
    brain.run(&["run", "find dangerous calls", "--sarif", path]).ended(0);
    let log: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_sarif(&log);
    let mut uris: Vec<&str> = log["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap())
        .collect();
    uris.sort_unstable();
    uris.dedup();
    assert_eq!(uris, ["%C3%A9/g.py", "a%20b.py", "ab%3Ad.py", "e%1B%5B31m.py", "f%2520%23%3F.py"]);
}

#[test]
fn a_run_without_findings_writes_an_empty_log_and_not_none() {
    let brain = Brain::in_project(&[("a.py", "x = 1\n")]);
    let file = brain.path("out.sarif");
    brain.run(&["run", "find dangerous calls", "--sarif", file.to_str().unwrap()]).ended(0);
    let log: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_sarif(&log);
    assert_eq!(log["runs"][0]["results"], json!([]));
}
