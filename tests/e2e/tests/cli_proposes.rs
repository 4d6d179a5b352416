//! From a role that writes to a project that is changed: nothing before `brain apply`, exactly what the role made after it.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;

use brain_tests::cli::Brain;
use brain_tests::guest;
use brain_tests::proposed::{Tree, tree};
use serde_json::{Value, json};

#[path = "../../guests/editor-rust/src/edit.rs"]
#[allow(dead_code, reason = "another test uses the rest of it")]
mod edit;
#[path = "../../guests/editor-rust/src/sample.rs"]
#[allow(dead_code, reason = "another test uses the rest of it")]
mod sample;

const WRITES: &str = "[files]\nread = [\"**\"]\nwrite = [\"**\"]\n";

fn grant(brain: &Brain, roles: &[&str]) {
    let text: String = roles.iter().map(|role| format!("[grants.{role}]\nwrite = [\"**\"]\n")).collect();
    std::fs::write(brain.home().join("config.toml"), text).unwrap();
}

fn worker<'a>(report: &'a Value, role: &str) -> &'a Value {
    report["workers"].as_array().unwrap().iter().find(|w| w["role"] == role).unwrap()
}

/// The files of a tree, without modes.
fn contents(tree: &Tree) -> Vec<(&String, &Vec<u8>)> {
    tree.iter().map(|(path, (content, _))| (path, content)).collect()
}

fn edited_natively(root: &Path) -> Tree {
    sample::lay_out(root).unwrap();
    edit::edit(root).unwrap();
    tree(root)
}

#[test]
fn what_a_role_edits_is_proposed_applied_and_taken_back() {
    let brain = Brain::in_project(&[]);
    sample::lay_out(&brain.project()).unwrap();
    let before = tree(&brain.project());
    brain.role("editor", WRITES, &guest("editor-rust"));
    grant(&brain, &["editor"]);
    let report = brain.run(&["role", "run", "editor", "--goal", "edit /workspace", "--json"]).ended(0).json();
    assert_eq!(tree(&brain.project()), before, "a proposal changes nothing");
    let id = report["sessionId"].as_str().unwrap();
    let changes = &worker(&report, "editor")["changes"];
    let shown = brain.run(&["diff", id, "--json"]).ended(0).json();
    assert_eq!(shown["proposed"], *changes);
    assert_eq!(changes["files"].as_u64().unwrap() as usize, shown["changeSet"]["changes"].as_array().unwrap().len());
    let record = brain.journal(id).into_iter().find(|record| record["type"] == "change_set").unwrap();
    assert_eq!((&record["digest"], &record["worker"]), (&changes["digest"], &json!("editor")));

    brain.run(&["apply", id]).ended(0);
    let native = tempfile::tempdir().unwrap();
    let wanted = edited_natively(native.path());
    assert_eq!(contents(&tree(&brain.project())), contents(&wanted), "as the same program does it without a sandbox");
    brain.run(&["undo", id]).ended(0);
    assert_eq!(tree(&brain.project()), before);
}

#[test]
fn a_run_says_what_is_proposed_and_how_it_gets_in() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    for role in ["wild", "tame"] {
        brain.role(role, &format!("{WRITES}[routing]\nwords = [\"{role}\"]\n"), &guest("misbehave"));
    }
    grant(&brain, &["wild"]);
    let args = ["role", "run", "wild", "--goal", "write /workspace/b.txt"];
    let shown = brain.run(&args).ended(0).out;
    let id = shown.split("brain diff ").nth(1).unwrap().split(',').next().unwrap();
    assert!(
        shown.contains(&format!("wild proposes: 1 file changed, 1 line added, 0 removed: brain diff {id}")),
        "{shown}"
    );
    assert!(shown.contains(&format!(", then brain apply {id}\n")), "{shown}");
    assert!(!brain.project().join("b.txt").exists());
    brain.run(&["apply", id]).ended(0);
    assert!(brain.project().join("b.txt").exists());

    // What is not granted is not proposed.
    let none = brain.run(&["role", "run", "tame", "--goal", "write /workspace/c.txt", "--json"]).ended(0).json();
    assert_eq!(worker(&none, "tame").get("changes"), None);
    let denied = &worker(&none, "tame")["receipt"]["files"]["denied"][0];
    assert!(denied["fix"].as_str().unwrap().contains("[grants.tame]"), "{denied}");
    let none = brain.run(&["diff", none["sessionId"].as_str().unwrap()]).ended(2);
    none.error("changes.none");
}

#[test]
fn a_role_that_did_not_come_to_its_end_proposes_nothing() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.role("wild", WRITES, &guest("misbehave"));
    grant(&brain, &["wild"]);
    for goal in ["panic out of tea", "spin"] {
        brain.role("wild", &format!("{WRITES}[limits]\ndeadline_ms = 300\n"), &guest("misbehave"));
        let report = brain.run(&["role", "run", "wild", "--goal", goal, "--json"]).ended(1).json();
        assert_eq!(worker(&report, "wild").get("changes"), None, "{goal}");
        let folder = brain.home().join("sessions").join(report["sessionId"].as_str().unwrap()).join("changes");
        assert!(!folder.exists(), "nothing is kept of nothing");
    }
}

#[test]
fn what_is_kept_is_the_operators_alone_and_no_staged_bytes_are_left() {
    use std::os::unix::fs::PermissionsExt;
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.role("wild", WRITES, &guest("misbehave"));
    grant(&brain, &["wild"]);
    let args = ["role", "run", "wild", "--goal", "write /workspace/b.txt", "--json"];
    let report = brain.run(&args).ended(0).json();
    let session = brain.home().join("sessions").join(report["sessionId"].as_str().unwrap());
    let kept = tree(&session.join("changes"));
    assert!(
        kept.keys().any(|path| path.starts_with("wild/") && path.ends_with(".json"))
            && kept.keys().any(|path| path.starts_with("contents/")),
        "{kept:?}"
    );
    for (path, (_, mode)) in &kept {
        assert_eq!(*mode, if path.ends_with('/') { 0o700 } else { 0o600 }, "{path}");
    }
    let folder = std::fs::metadata(session.join("changes")).unwrap().permissions().mode();
    assert_eq!(folder & 0o777, 0o700);
    let left: Vec<String> =
        tree(&session).into_keys().filter(|path| path.contains(".staged") || path.contains(".put")).collect();
    assert_eq!(left, Vec::<String>::new());
}
