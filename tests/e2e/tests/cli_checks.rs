//! The project's own checks on what a role proposes: with leave, in a copy, and never in the project.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use brain_tests::cli::Brain;
use brain_tests::guest;
use brain_tests::proposed::tree;
use serde_json::{Value, json};

/// A crate whose only test says whether `src/b.rs` may be there, with a role that writes that file.
fn project(may_be_there: bool) -> Brain {
    let test = format!(
        "#[test]\nfn b() -> Result<(), String> {{\n    \
         let is_there = std::path::Path::new(\"src/b.rs\").exists();\n    \
         if is_there == {may_be_there} {{ Ok(()) }} else {{ Err(\"is it there?\".into()) }}\n}}\n"
    );
    let manifest = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
    let brain = Brain::in_project(&[("Cargo.toml", manifest), ("src/lib.rs", &test)]);
    let role = "[files]\nread = [\"**\"]\nwrite = [\"**\"]\n[routing]\nwords = [\"write\"]\n";
    brain.role("writer", role, &guest("misbehave"));
    std::fs::write(brain.home().join("config.toml"), "[grants.writer]\nwrite = [\"**\"]\n").unwrap();
    brain
}

fn checked(brain: &Brain, more: &[&str]) -> Value {
    let args = [&["run", "write /workspace/src/b.rs", "--json"], more].concat();
    brain.run(&args).ended(0).json()
}

fn result<'a>(report: &'a Value, name: &str) -> &'a Value {
    let results = report["checks"]["results"].as_array().unwrap();
    results.iter().find(|result| result["name"].as_str().unwrap().contains(name)).unwrap_or_else(|| panic!("{report}"))
}

#[test]
fn a_change_that_passes_is_checked_in_a_copy_and_the_project_stays_as_it_was() {
    let brain = project(true);
    let before = tree(&brain.project());
    let report = checked(&brain, &["--yes"]);
    assert_eq!((&report["checks"]["status"], &report["checks"]["patchKind"]), (&json!("passed"), &json!("backend")));
    assert_eq!(result(&report, "test")["exitCode"], 0);
    assert_eq!(tree(&brain.project()), before, "no build folder, no lock file, nothing");
    let session = report["sessionId"].as_str().unwrap();
    let record = brain.journal(session).into_iter().find(|record| record["type"] == "check_summary").unwrap();
    assert_eq!(record["status"], "passed");
    // Who reviews it sees what came of it.
    let seen = brain.context(session, "review");
    assert!(seen.iter().any(|(path, _)| path == "checks.json"), "{seen:?}");
}

#[test]
fn a_change_that_fails_is_not_approved_and_the_report_says_what_failed() {
    let brain = project(false);
    let report = checked(&brain, &["--yes"]);
    assert_eq!((&report["checks"]["status"], &report["status"]), (&json!("failed"), &json!("changes_requested")));
    let test = result(&report, "test");
    assert_eq!(test["status"], "failed");
    assert!(format!("{}{}", test["stdout"], test["stderr"]).contains("is it there?"), "{test}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("the project's own checks fail with the proposed change"), "{warnings}");
    let shown = brain.run(&["run", "write /workspace/src/b.rs", "--yes"]).ended(0).out;
    assert!(shown.contains("Checks of the project: failed") && shown.contains("| "), "{shown}");
}

#[test]
fn without_leave_nothing_of_the_project_runs_and_what_would_is_named() {
    let brain = project(false);
    let report = checked(&brain, &[]);
    assert_eq!((&report["checks"]["status"], &report["checks"]["results"]), (&json!("skipped"), &json!([])));
    let reason = report["checks"]["reason"].as_str().unwrap();
    assert!(reason.contains("not allowed (--yes)") && reason.contains("cargo test"), "{reason}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("nothing was checked") && !warnings.contains("checks fail"), "{warnings}");
}

#[test]
fn a_change_of_how_the_project_is_checked_is_not_checked_by_its_own_leave() {
    let brain = project(true);
    let manifest = "[files]\nread = [\"**\"]\nwrite = [\"**\"]\n[routing]\nwords = [\"write\"]\n";
    brain.role("writer", manifest, &guest("misbehave"));
    let args = ["run", "write /workspace/.gitlab-ci.yml", "--yes", "--json"];
    let report = brain.run(&args).ended(0).json();
    assert_eq!((&report["checks"]["status"], &report["checks"]["patchKind"]), (&json!("skipped"), &json!("ci-risk")));
    let reason = report["checks"]["reason"].as_str().unwrap();
    assert!(reason.contains("--yes does not cover it") && reason.contains("cargo test"), "{reason}");
}

#[test]
fn a_reviewer_sees_the_files_as_they_would_be() {
    let brain = project(true);
    let report = checked(&brain, &["--yes"]);
    let coverage = report["review"]["coverage"].as_array().unwrap();
    let seen = coverage.iter().find(|entry| entry["file"] == "src/b.rs").unwrap();
    assert_eq!(seen["status"], "inspected", "{}", report["review"]);
}

#[test]
fn where_nothing_is_proposed_there_is_nothing_to_check() {
    let brain = project(true);
    let report = brain.run(&["run", "where is b?", "--yes", "--json"]).ended(0).json();
    assert_eq!(report.get("checks"), None);
}
