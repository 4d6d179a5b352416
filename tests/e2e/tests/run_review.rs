//! What a review may say of a change that is too much to hand over: never that it is approved.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs::File;

use brain_tests::cli::Brain;
use serde_json::Value;

const REQUEST: &str = "review my changes";

/// A project whose one commit is behind it.
fn committed() -> Brain {
    let brain = Brain::in_project(&[
        ("notes/a.md", "one\n"),
        ("src/lib.rs", "/// The sum.\npub fn total(a: u8, b: u8) -> u8 {\n    a.saturating_add(b)\n}\n"),
    ]);
    brain.commit();
    brain
}

fn reviewed(brain: &Brain) -> Value {
    brain.run(&["run", REQUEST, "--json", "-q"]).json()
}

fn covered(report: &Value) -> Vec<&str> {
    report["review"]["coverage"].as_array().unwrap().iter().map(|c| c["file"].as_str().unwrap()).collect()
}

fn says(list: &Value, what: &str) -> bool {
    list.as_array().unwrap().iter().any(|item| item.as_str().unwrap().contains(what))
}

#[test]
fn a_harmless_change_that_was_seen_is_approved() {
    let brain = committed();
    brain.write("notes/a.md", "one\ntwo\n");
    let report = brain.run(&["run", REQUEST, "--json", "-q"]).ended(0).json();
    assert_eq!(report["status"], "approved");
    assert_eq!(covered(&report), ["notes/a.md"]);
    assert_eq!(report["review"]["coverage"][0]["status"], "inspected");
}

#[test]
fn a_change_of_more_files_than_a_diff_takes_is_not_approved() {
    let brain = committed();
    for n in 0..5_003 {
        brain.write(&format!("notes/n{n}.md"), format!("note {n}\n"));
    }
    let report = reviewed(&brain);
    assert!(says(&report["missing"], "3 changed files are beyond the size"), "{}", report["missing"]);
    assert_ne!(report["status"], "approved", "{}", report["review"]["rationale"]);
    assert_ne!(report["review"]["decision"], "approved");
}

#[test]
fn a_change_that_is_longer_than_a_diff_may_be_is_not_approved() {
    let brain = committed();
    // Each is small enough to be no finding by itself.
    let text = "a line of a harmless text, which is 50 bytes long\n".repeat(18_000);
    for n in 0..12 {
        brain.write(&format!("notes/n{n:02}.md"), &text);
    }
    let report = reviewed(&brain);
    assert!(says(&report["missing"], "beyond the size that a diff may have"), "{}", report["missing"]);
    assert_ne!(report["status"], "approved", "{}", report["review"]["rationale"]);
    assert_ne!(report["review"]["decision"], "approved");
}

#[test]
fn a_new_file_of_five_gigabytes_takes_nothing_away_from_the_rest_of_the_review() {
    let brain = committed();
    File::create(brain.project().join("huge.txt")).unwrap().set_len(5 << 30).unwrap();
    brain.write("src/lib.rs", "/// The sum.\npub fn total(a: u8) -> u8 {\n    a\n}\n");
    let report = reviewed(&brain);
    assert!(report["review"]["decision"].is_string(), "{report}");
    assert!(covered(&report).contains(&"src/lib.rs"), "{report}");
    let named = says(&report["missing"], "huge.txt") || covered(&report).contains(&"huge.txt");
    assert!(named, "nothing says that huge.txt was not seen: {report}");
    assert_ne!(report["status"], "approved");
}

#[test]
fn a_binary_file_and_a_name_that_is_not_utf_8_are_not_approved() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let brain = committed();
    brain.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\0binary");
    assert_ne!(reviewed(&brain)["status"], "approved", "a binary file cannot be seen");
    std::fs::remove_file(brain.project().join("logo.png")).unwrap();
    std::fs::write(brain.project().join(OsStr::from_bytes(b"odd-\xff.md")), "text\n").unwrap();
    brain.write("notes/a.md", "one\ntwo\n");
    let report = reviewed(&brain);
    assert!(says(&report["missing"], "not UTF-8"), "{}", report["missing"]);
    assert_ne!(report["status"], "approved", "{}", report["review"]["rationale"]);
}

#[test]
fn without_a_repository_nothing_is_approved() {
    let bare = Brain::in_project(&[("a.md", "one\n")]);
    let ran = bare.run(&["run", REQUEST, "--json", "-q"]).ended(1);
    assert_eq!(ran.json()["status"], "blocked");
    assert!(says(&ran.json()["missing"], "no diff to review: "), "{ran}");
}

#[test]
fn the_change_shows_no_role_what_the_files_are_not_shown_for() {
    let brain = committed();
    let secrets = [".env", "k/id_rsa", "tls.pem", "private/b.md"];
    for path in secrets {
        brain.write(path, format!("unsayable {path}\n"));
    }
    brain.write("notes/a.md", "one\nseen\n");
    brain.write(".brain/brain.toml", "[files]\ndeny = [\"private/**\"]\n");
    let report = reviewed(&brain);
    assert_ne!(report["status"], "approved", "{report}");
    assert!(says(&report["missing"], "4 changed files are not shown to it"), "{}", report["missing"]);
    assert!(says(&report["missing"], "brain.toml hides files from roles: private/**"), "{}", report["missing"]);
    let context = brain.context(report["sessionId"].as_str().unwrap(), "review");
    let all: String = context.iter().map(|(_, content)| String::from_utf8_lossy(content)).collect();
    assert!(all.contains("seen") && !all.contains("unsayable"), "{all}");

    let narrow = ["role", "run", "review", "--goal", "review it", "--ref", "src", "--json", "-q"];
    let report = brain.run(&narrow).json();
    let context = brain.context(report["sessionId"].as_str().unwrap(), "review");
    let all: String = context.iter().map(|(_, content)| String::from_utf8_lossy(content)).collect();
    assert!(!all.contains("seen"), "what the handoff does not name is not in the diff: {all}");
}

#[test]
fn tracked_files_are_seen_whatever_gitignore_says() {
    let brain = Brain::in_project(&[(".gitignore", "*\n"), ("evil.py", "eval(input())\n")]);
    brain.git(&["init", "-q"]);
    brain.git(&["add", "-f", "evil.py"]);
    brain.git(&["commit", "-qm", "a"]);
    brain.write("scratch.py", "eval(input())\n");
    let report = brain.run(&["run", "find dangerous calls", "--json"]).ended(0).json();
    let files: Vec<&str> = report["findings"].as_array().unwrap().iter().map(|f| f["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["evil.py"]);
}

#[test]
fn a_folder_of_a_repository_is_reviewed_by_its_own_paths() {
    let brain = committed();
    brain.write("notes/a.md", "one\n<<<<<<< HEAD\ntwo\n=======\nthree\n>>>>>>> other\n");
    brain.write("src/lib.rs", "// elsewhere\n");
    brain.write("notes/new.md", "fresh\n");
    let report = brain.run(&["run", REQUEST, "--json", "-q", "-C", "notes"]).json();
    let mut files = covered(&report);
    files.sort_unstable();
    assert_eq!(files, ["a.md", "new.md"], "paths are those that the roles see: {report}");
    assert!(report["findings"].as_array().unwrap().iter().any(|f| f["file"] == "a.md" && f["line"] == 2), "{report}");
}

#[test]
fn the_last_commit_of_a_folder_is_told_by_its_own_paths_too() {
    let brain = committed();
    let report = brain.run(&["run", REQUEST, "--json", "-q", "-C", "notes"]).json();
    assert!(report["changes"].as_str().unwrap().starts_with("the last commit"), "{report}");
    assert_eq!(covered(&report), ["a.md"]);
}

#[test]
fn files_that_cannot_be_handed_over_are_no_reason_to_look_elsewhere() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let brain = committed();
    std::fs::write(brain.project().join(OsStr::from_bytes(b"odd-\xff.md")), "text\n").unwrap();
    let report = reviewed(&brain);
    assert!(says(&report["missing"], "not UTF-8"), "{}", report["missing"]);
    assert_ne!(report["changes"], "the last commit; there are no uncommitted changes", "there is one");
    assert_ne!(report["status"], "approved");
}

#[test]
fn an_approval_does_not_stand_beside_a_high_finding_of_another_role() {
    // The fault is in the commit, and the change that is judged is harmless.
    let brain = Brain::in_project(&[("notes/a.md", "one\n"), ("old.py", "import os\nos.system(input())\n")]);
    brain.commit();
    brain.write("notes/a.md", "one\ntwo\n");
    assert_eq!(reviewed(&brain)["status"], "approved", "alone, the review approves it");

    let request = "review my changes and look for dangerous calls";
    let report = brain.run(&["run", request, "--json", "-q"]).ended(0).json();
    let high = report["findings"].as_array().unwrap().iter().find(|f| f["severity"] == "high").unwrap();
    assert_eq!((&high["roles"], &high["file"]), (&serde_json::json!(["security"]), &serde_json::json!("old.py")));
    assert_eq!(report["status"], "changes_requested");
    let review = &report["review"];
    assert_eq!(review["decision"], "changes_requested");
    assert!(review["rationale"].as_str().unwrap().starts_with("Not approved: security reports 1 finding"), "{review}");
    assert!(says(&review["requiredChanges"], "old.py:2: "), "{review}");
    assert!(report["summary"].as_str().unwrap().starts_with("Not approved, although review approved"), "{report}");
    assert!(says(&report["warnings"], "review approved, and security reports 1 finding"), "{}", report["warnings"]);
    let worker = report["workers"].as_array().unwrap().iter().find(|w| w["role"] == "review").unwrap();
    assert_eq!(worker["notes"][0]["field"], "review.decision", "{worker}");

    let shown = brain.run(&["run", request, "-q"]).ended(0).out;
    assert!(shown.contains("Status    changes requested") && shown.contains("Review  changes requested"), "{shown}");
    assert!(
        shown.contains("    approved, although security reports 1 finding of high severity: counted as"),
        "{shown}"
    );
    let told = brain.run(&["sessions", "show", "last"]).ended(0).out;
    assert!(told.contains("Status    changes requested") && told.contains("Not approved, although"), "{told}");
    assert!(brain.run(&["sessions"]).ended(0).out.contains("changes requested"));
    let summary = brain.run(&["run", request, "-q", "--summary-only"]).ended(0).out;
    assert!(summary.starts_with("Not approved, although"), "{summary}");
}

#[test]
fn findings_below_high_leave_an_approval_as_it_is() {
    let workflow = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n";
    let brain = Brain::in_project(&[("notes/a.md", "one\n"), (".github/workflows/ci.yml", workflow)]);
    brain.commit();
    brain.write("notes/a.md", "one\ntwo\n");
    let report = brain.run(&["run", "review my changes and check the security", "--json", "-q"]).ended(0).json();
    assert!(!report["findings"].as_array().unwrap().is_empty(), "{report}");
    assert_eq!((&report["status"], &report["review"]["decision"]), (&"approved".into(), &"approved".into()));
}
