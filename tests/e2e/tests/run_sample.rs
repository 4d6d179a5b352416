//! The main job: one request on the sample repository, and every fault that was planted there comes out of it, in each form
//! that a report has, and no secret does.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::sync::OnceLock;

use brain_tests::cli::{AUDIT, Brain, Ran, files_below};
use brain_tests::repository;
use serde_json::Value;

/// What the sample's files have as secrets, word for word.
const SECRETS: &[&str] = &["AKIAQX3M7ZK2VJ5RWD6T", "q7Zt2mXw9LrB4kVn8sHd3yFc6pJg1uEa"];

/// One audit of the sample, for people and for programs. The runs are the same but for their form.
struct Audit {
    brain: Brain,
    people: Ran,
    programs: Ran,
    sarif: Value,
}

fn audit() -> &'static Audit {
    static AUDIT_OF_SAMPLE: OnceLock<Audit> = OnceLock::new();
    AUDIT_OF_SAMPLE.get_or_init(|| {
        let brain = Brain::in_sample();
        let people = brain.run(&["run", AUDIT]).ended(0);
        let sarif = brain.path("findings.sarif");
        let programs = brain.run(&["run", AUDIT, "--json", "--sarif", sarif.to_str().unwrap()]).ended(0);
        let sarif = serde_json::from_slice(&std::fs::read(sarif).unwrap()).unwrap();
        Audit { brain, people, programs, sarif }
    })
}

struct Planted {
    role: String,
    rule: String,
    file: String,
    line: i64,
    severity: String,
}

fn planted() -> Vec<Planted> {
    let text = std::fs::read_to_string(repository().join("tests/fixtures/sample/planted.toml")).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let faults: Vec<Planted> = table["fault"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| {
            let text = |key: &str| fault[key].as_str().unwrap().to_owned();
            Planted {
                role: text("role"),
                rule: text("rule"),
                file: text("file"),
                line: fault["line"].as_integer().unwrap(),
                severity: text("severity"),
            }
        })
        .collect();
    assert!(faults.len() >= 10, "the sample has lost its faults");
    faults
}

#[test]
fn every_planted_fault_is_a_finding_of_its_role_at_its_line() {
    let report = audit().programs.json();
    let findings = report["findings"].as_array().unwrap();
    for fault in planted() {
        let found = findings
            .iter()
            .find(|f| f["rule"] == fault.rule.as_str() && f["file"] == fault.file.as_str() && f["line"] == fault.line)
            .unwrap_or_else(|| panic!("{}:{} {} is not reported", fault.file, fault.line, fault.rule));
        assert_eq!(found["severity"], fault.severity.as_str(), "{found}");
        let roles = found["roles"].as_array().unwrap();
        assert!(roles.contains(&Value::from(fault.role.as_str())), "{} is not reported by {}", fault.rule, fault.role);
    }
}

#[test]
fn every_planted_fault_is_in_the_report_for_people_with_its_place() {
    let printed = &audit().people.out;
    for fault in planted() {
        let place = format!(" {}:{}  {}  [", fault.file, fault.line, fault.rule);
        let line = printed.lines().find(|line| line.contains(&place));
        let line = line.unwrap_or_else(|| panic!("no line of the report has {place:?}:\n{printed}"));
        assert!(line.trim_start().starts_with(&fault.severity), "{line}");
    }
}

#[test]
fn every_planted_fault_is_in_the_sarif_file() {
    let results = audit().sarif["runs"][0]["results"].as_array().unwrap().clone();
    for fault in planted() {
        let found = results.iter().find(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            result["ruleId"] == fault.rule.as_str()
                && place["artifactLocation"]["uri"] == fault.file.as_str()
                && place["region"]["startLine"] == fault.line
        });
        let level = match fault.severity.as_str() {
            "high" => "error",
            "medium" => "warning",
            _ => "note",
        };
        let found = found.unwrap_or_else(|| panic!("{}:{} {} is not in it", fault.file, fault.line, fault.rule));
        assert_eq!(found["level"], level, "{found}");
    }
}

#[test]
fn findings_come_gravest_first_and_each_place_of_a_rule_once() {
    let report = audit().programs.json();
    let rank = |f: &Value| ["high", "medium", "low"].iter().position(|s| f["severity"] == *s).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let ranks: Vec<usize> = findings.iter().map(rank).collect();
    assert!(ranks.is_sorted(), "{ranks:?}");
    let mut places: Vec<String> =
        findings.iter().map(|f| format!("{} {} {}", f["file"], f["line"], f["rule"])).collect();
    let all = places.len();
    places.sort();
    places.dedup();
    assert_eq!(places.len(), all, "{places:?}");
    let both =
        findings.iter().find(|f| f["file"] == "orders/payments.py" && f["rule"] == "secret/hardcoded-token").unwrap();
    assert_eq!(both["roles"], serde_json::json!(["review", "security"]));
}

#[test]
fn the_review_decides_on_every_changed_file() {
    let report = audit().programs.json();
    assert_eq!(report["status"], "changes_requested");
    let review = &report["review"];
    assert_eq!(review["decision"], "changes_requested");
    let mut covered: Vec<&str> =
        review["coverage"].as_array().unwrap().iter().map(|c| c["file"].as_str().unwrap()).collect();
    covered.sort_unstable();
    assert_eq!(
        covered,
        ["orders/app.py", "orders/importer.py", "orders/payments.py", "orders/pricing.py", "web/app.js"]
    );
    assert_eq!(report["changes"], "the uncommitted changes against HEAD");
    let printed = &audit().people.out;
    assert!(
        printed.contains("\nReview  changes requested") && printed.contains("5 of 5 changed files inspected"),
        "{printed}"
    );
}

#[test]
fn the_roles_are_routed_by_the_words_of_the_request() {
    let report = audit().programs.json();
    let parts: Vec<(String, String)> = report["workers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| (w["role"].as_str().unwrap().to_owned(), w["phase"].as_str().unwrap().to_owned()))
        .collect();
    let part = |role: &str, phase: &str| (role.to_owned(), phase.to_owned());
    assert_eq!(parts, [part("review", "support"), part("librarian", "support"), part("security", "primary")]);
    assert_eq!(report["routing"]["primaryRole"], "security");
    assert_eq!(report["routing"]["source"], "heuristic");
    let printed = &audit().people.out;
    for line in
        ["  review       completed support", "  librarian    completed support", "  security     completed answers"]
    {
        assert!(printed.contains(line), "{line:?} is not in\n{printed}");
    }
    assert!(printed.contains("granted: all of the project, but not what"), "{printed}");
}

#[test]
fn no_secret_leaves_the_role_that_found_it() {
    let audit = audit();
    let masked = audit.people.out.lines().any(|line| line.contains("AKIA… (20 characters)"));
    assert!(masked, "the masked value shows which secret is meant:\n{}", audit.people.out);
    let sarif = audit.sarif.to_string();
    for secret in SECRETS {
        let half = &secret[..secret.len() / 2];
        for (what, text) in [
            ("the report for people", &audit.people.out),
            ("the progress", &audit.people.err),
            ("the report for programs", &audit.programs.out),
            ("SARIF", &sarif),
        ] {
            assert!(!text.contains(half), "{what} shows {half}");
        }
    }
    let mut looked_at = 0;
    for file in files_below(&audit.brain.home()) {
        // The diff is what the handoff grants: the change as it stands in the project.
        if file.ends_with("context/changes.diff") {
            continue;
        }
        looked_at += 1;
        let content = std::fs::read(&file).unwrap();
        for secret in SECRETS {
            let half = &secret.as_bytes()[..secret.len() / 2];
            assert!(!content.windows(half.len()).any(|w| w == half), "{} holds a secret", file.display());
        }
    }
    assert!(looked_at >= 10, "journals, artifacts, results and requests of two runs: {looked_at}");
}

#[test]
fn what_a_run_keeps_is_the_operators_alone_and_the_project_is_untouched() {
    use std::os::unix::fs::PermissionsExt;
    let brain = Brain::in_sample();
    let before = tree(&brain);
    brain.run(&["run", AUDIT, "--quiet"]).ended(0);
    assert_eq!(tree(&brain), before);
    for file in files_below(&brain.home()) {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", file.display());
    }
}

fn tree(brain: &Brain) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    files_below(&brain.project()).into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn the_same_request_finds_the_same() {
    let brain = &audit().brain;
    let again = brain.run(&["run", AUDIT, "--json"]).ended(0).json();
    let first = audit().programs.json();
    for key in ["findings", "review", "summary", "missing", "routing", "status"] {
        assert_eq!(again[key], first[key], "{key}");
    }
}

#[test]
fn the_summary_alone_is_the_answer_of_the_role_that_was_asked() {
    let audit = audit();
    let short = audit.brain.run(&["run", AUDIT, "--summary-only"]).ended(0).out;
    assert_eq!(short.trim_end(), audit.programs.json()["summary"].as_str().unwrap().trim_end());
}
