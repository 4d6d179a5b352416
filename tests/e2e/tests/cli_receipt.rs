//! `brain receipt` and `brain grants tighten`: what calls were granted and used, and the smaller manifest that follows.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use brain_tests::cli::{AUDIT, Brain};
use brain_tests::probe::open;
use brain_tests::probe::script::{FREE, WORKSPACE};
use serde_json::{Value, json};

/// Calls the guest that does what its goal says, and returns the session's id.
fn called(brain: &Brain, goal: &str) -> String {
    let ran = brain.run(&["role", "run", "wild", "--goal", goal, "--json"]);
    ran.json()["sessionId"].as_str().unwrap().to_owned()
}

/// The one line of a table that begins with `name`.
fn row<'a>(table: &'a str, name: &str) -> &'a str {
    table.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("no {name} in\n{table}"))
}

#[test]
fn a_receipt_is_a_table_of_what_was_granted_used_and_left() {
    let brain = Brain::in_sample();
    let report = brain.run(&["run", AUDIT, "--json"]).ended(0).json();
    let id = report["sessionId"].as_str().unwrap();
    let all = brain.run(&["receipt", id]).ended(0).out;
    for role in ["librarian", "security", "review"] {
        assert!(all.contains(role), "{all}");
    }
    let one = brain.run(&["receipt", id, "security"]).ended(0).out;
    let worker = report["workers"].as_array().unwrap().iter().find(|w| w["role"] == "security").unwrap();
    assert!(row(&one, "component").contains(worker["receipt"]["component"].as_str().unwrap()), "{one}");
    assert!(row(&one, "contract").contains("brain:role@1.0.0"), "{one}");
    assert!(row(&one, "ended").contains("returned"), "{one}");
    assert!(row(&one, "wall time").contains(" of "), "{one}");
    assert!(row(&one, "CPU time").contains(" ms"), "{one}");
    assert!(row(&one, "memory").contains(" of "), "{one}");
    assert!(row(&one, "read").contains(&format!("{} files", worker["receipt"]["files"]["filesRead"])), "{one}");
    assert!(row(&one, "granted").contains("(manifest)"), "{one}");
    assert!(row(&one, "versions").contains("wasmtime"), "{one}");
    assert!(!one.contains("librarian"), "{one}");

    let json = brain.run(&["receipt", "last", "security", "--json"]).ended(0).json();
    assert_eq!(json[0]["receipt"], worker["receipt"], "it is the one of the report");
    assert_eq!(json[0]["sessionId"], id);
}

#[test]
fn denials_are_told_with_the_edit_that_grants_them_and_the_rest_is_counted() {
    let brain = Brain::in_project(&[("src/a.rs", "fn a() {}\n")]);
    brain.role("wild", "[files]\nread = [\"src/**\"]\n", &brain_tests::guest("probe"));
    let ops: Vec<_> = (0..6).map(|n| open(WORKSPACE, &format!("f{n}.txt"), FREE)).collect();
    let goal = serde_json::to_string(&ops).unwrap();
    let shown = brain.run(&["role", "run", "wild", "--goal", &goal]).ended(0).out;
    let denied: Vec<&str> = shown.lines().filter(|line| line.contains("    denied /workspace/f")).collect();
    assert_eq!(denied.len(), 3, "{shown}");
    assert!(
        denied[0].contains("no read glob of the manifest matches it") && denied[0].contains("role.toml"),
        "{shown}"
    );
    assert!(shown.contains("and 3 more denied: brain receipt "), "{shown}");

    let table = brain.run(&["receipt", "last", "wild"]).ended(0).out;
    for n in 0..6 {
        assert!(table.contains(&format!("/workspace/f{n}.txt: no read glob of the manifest matches it")), "{table}");
    }
    assert!(table.contains("-> ") && table.contains("[files]") && !table.contains("<role>"), "{table}");
}

#[test]
fn what_is_not_there_is_told_apart() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.run(&["receipt", "20010203-040506-aaaaaa"]).ended(2).error("journal.not-found");
    let unclear = brain.run(&["run", "fix it", "--json"]).ended(2).json();
    let id = unclear["sessionId"].as_str().unwrap();
    let none = brain.run(&["receipt", id]).ended(2);
    assert!(none.error("receipt.none").contains("no role was called"), "{none}");
    brain.misbehaving("wild", "wild", "");
    let id = called(&brain, "say hello");
    let none = brain.run(&["receipt", &id, "tame"]).ended(2);
    assert!(none.error("receipt.none").contains("these did: wild"), "{none}");
    brain.role("unfit", "[files]\nread = [\"**\"]\n", b"no component");
    let report = brain.run(&["role", "run", "unfit", "--goal", "x", "--json"]).ended(1).json();
    let table = brain.run(&["receipt", report["sessionId"].as_str().unwrap()]).ended(0).out;
    assert!(table.contains("it was not called"), "{table}");
}

#[test]
fn receipts_of_other_versions_and_damaged_ones_are_shown_as_far_as_they_go() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.misbehaving("wild", "wild", "");
    let id = called(&brain, "open /workspace/a.txt");
    let journal = brain.journal(&id);
    for receipt in [
        json!({}),
        json!({ "wallMs": "soon", "files": [], "grants": 7, "limits": null, "reached": [7, {}, { "limit": "\u{1b}[2J" }] }),
        json!({ "component": "\u{1b}[31m", "files": { "denied": [{ "path": "\u{202e}", "fix": "\u{7}" }, 7] } }),
        json!({ "wallMs": 1e300, "peakMemoryBytes": u64::MAX, "files": { "filesRead": u64::MAX, "bytesRead": u64::MAX } }),
    ] {
        // As a version wrote it that had no record for receipts.
        let old: Vec<String> = journal
            .iter()
            .filter(|record| record["type"] != "role_receipt")
            .map(|record| {
                let mut record = record.clone();
                if record["type"] == "worker_end" {
                    record["receipt"] = receipt.clone();
                }
                record.to_string() + "\n"
            })
            .collect();
        std::fs::write(brain.journal_file(&id), old.concat()).unwrap();
        brain.run(&["receipt", &id]).ended(0);
        let json = brain.run(&["receipt", &id, "--json"]).ended(0).json();
        assert_eq!(json[0]["receipt"], receipt);
        let tightened = brain.run(&["grants", "tighten", "wild", "--json"]).ended(0).json();
        assert_eq!(tightened["calls"], 1);
    }
}

#[test]
fn a_manifest_is_tightened_from_what_its_calls_used() {
    let files = [("src/a.rs", "fn a() {}\n"), ("docs/b.md", "b\n"), ("c.txt", "c\n")];
    let brain = Brain::in_project(&files);
    let rest =
        "[files]\nread = [\"**\", \"never/**\"]\n[routing]\nwords = [\"wild\"]\n[limits]\nmemory_bytes = 268435456\n";
    brain.role("wild", rest, &brain_tests::guest("misbehave"));
    let none = brain.run(&["grants", "tighten", "wild"]).ended(0).out;
    assert!(none.contains("from 0 completed calls") && none.contains("nothing is known"), "{none}");
    called(&brain, "open /workspace/src/a.rs");
    called(&brain, "open /workspace/c.txt");
    let manifest = brain.path("roles/wild/role.toml");
    let before = std::fs::read_to_string(&manifest).unwrap();
    let tightened = brain.run(&["grants", "tighten", "wild", "--json"]).ended(0).json();
    assert_eq!((&tightened["calls"], &tightened["sessions"]), (&json!(2), &json!(2)));
    let patch: toml::Value = toml::from_str(tightened["patch"].as_str().unwrap()).unwrap();
    assert_eq!(patch["files"]["read"], toml::Value::from(vec!["*", "src/**"]), "{patch}");
    let memory = patch["limits"]["memory_bytes"].as_integer().unwrap();
    assert!(memory > 0 && memory < 268_435_456, "{patch}");
    let shown = brain.run(&["grants", "tighten", "wild"]).ended(0).out;
    assert!(shown.contains("narrow read **") && shown.contains("drop   read never/**"), "{shown}");
    assert!(shown.contains("now and then"), "{shown}");
    assert_eq!(std::fs::read_to_string(&manifest).unwrap(), before, "nothing is changed");
    let fewer = brain.run(&["grants", "tighten", "wild", "--sessions", "1", "--json"]).ended(0).json();
    assert_eq!(fewer["calls"], 1);
    assert!(fewer["notes"].to_string().contains("not looked at"), "{fewer}");
    brain.run(&["grants", "tighten", "nobody"]).ended(2);

    // The smaller manifest is enough for the same calls.
    let narrow = "[files]\nread = [\"*\", \"src/**\"]\n[routing]\nwords = [\"wild\"]\n[limits]\n";
    brain.role("wild", &format!("{narrow}memory_bytes = {memory}\n"), &brain_tests::guest("misbehave"));
    for goal in ["open /workspace/src/a.rs", "open /workspace/c.txt"] {
        let report = brain.run(&["role", "run", "wild", "--goal", goal, "--json"]).ended(0).json();
        assert!(report["summary"].as_str().unwrap().contains("ok "), "{report}");
    }
}

#[test]
fn a_tightened_manifest_fits_its_schema() {
    let brain = Brain::in_project(&[("src/a.rs", "fn a() {}\n")]);
    brain.misbehaving("wild", "wild", "");
    called(&brain, "open /workspace/src/a.rs");
    let folder = brain.path("schemas");
    std::fs::create_dir(&folder).unwrap();
    brain.run(&["schema", "--out", folder.to_str().unwrap()]).ended(0);
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("tightened.schema.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let tightened = brain.run(&["grants", "tighten", "wild", "--json"]).ended(0).json();
    let faults: Vec<String> = validator.iter_errors(&tightened).map(|error| error.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn calls_that_did_not_complete_are_left_out_and_counted() {
    let brain = Brain::in_project(&[("src/a.rs", "fn a() {}\n"), ("docs/b.md", "b\n")]);
    let rest = "[files]\nread = [\"src/**\", \"docs/**\"]\n[routing]\nwords = [\"wild\"]\n";
    brain.role("wild", rest, &brain_tests::guest("misbehave"));
    for goal in ["panic early", "fail at once", "block for now"] {
        called(&brain, goal);
    }
    let none = brain.run(&["grants", "tighten", "wild", "--json"]).ended(0).json();
    assert_eq!((&none["calls"], &none["incompleteCalls"], &none["patch"]), (&json!(0), &json!(3), &json!("")));
    let shown = brain.run(&["grants", "tighten", "wild"]).ended(0).out;
    assert!(
        shown.contains("from 0 completed calls in 3 sessions; 3 calls left out, which did not complete"),
        "{shown}"
    );
    assert!(shown.contains("no call of this role completed (3 did not)"), "{shown}");

    called(&brain, "open /workspace/src/a.rs");
    let tightened = brain.run(&["grants", "tighten", "wild", "--json"]).ended(0).json();
    assert_eq!((&tightened["calls"], &tightened["incompleteCalls"]), (&json!(1), &json!(3)));
    let of = |glob: &str| tightened["globs"].as_array().unwrap().iter().find(|g| g["glob"] == glob).unwrap().clone();
    assert_eq!(of("src/**")["why"], "used in 1 of 1 call");
    assert_eq!((&of("docs/**")["advice"], &of("docs/**")["why"]), (&json!("drop"), &json!("never used in 1 call")));
}
