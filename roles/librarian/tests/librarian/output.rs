//! The artifact, the manifest, and what other roles said.

use crate::support::ledger;
use brain_role::testing::Bench;
use brain_role::{Finding, Handoff, Outcome, Severity};

#[test]
fn the_whole_map_is_left_as_an_artifact() {
    let bench = Bench::new().workspace_dir(ledger()).goal("where is the session journal written and is it tested?");
    let result = bench.run(librarian::run);
    assert_eq!(result.artifacts.last().map(|artifact| artifact.uri.as_str()), Some("/artifacts/map.json"));
    let map: serde_json::Value = serde_json::from_slice(&bench.artifact("map.json").expect("a map")).expect("JSON");
    assert_eq!(map["format"], 1);
    assert_eq!(map["filesRead"], 22);
    assert_eq!(map["ranking"][0]["path"], "crates/journal/src/lib.rs");
    assert!(map["ranking"][0]["score"].as_f64() > map["ranking"][1]["score"].as_f64());
    assert_eq!(map["languages"][0]["name"], "Rust");
    assert!(
        map["entryPoints"]
            .as_array()
            .is_some_and(|entries| entries.iter().any(|entry| entry["file"] == "src/main.rs" && entry["line"] == 5))
    );
    assert!(
        map["tests"]
            .as_array()
            .is_some_and(|tests| tests.iter().any(|test| test["file"] == "crates/journal/tests/append.rs"))
    );
    let journal = &map["definitions"][0];
    assert_eq!(
        (journal["path"].as_str(), journal["definitions"][0]["name"].as_str()),
        (Some("crates/journal/src/lib.rs"), Some("Journal"))
    );
    let append =
        serde_json::json!({ "name": "append", "kind": "method", "container": "Journal", "line": 19, "end": 21 });
    assert!(journal["definitions"].as_array().is_some_and(|definitions| definitions.contains(&append)), "{journal}");
}

#[test]
fn results_of_other_roles_are_composed_in_a_line_each() {
    let security = Bench::new().run(|_: Handoff| {
        Outcome::completed("\nOne secret was found.\nMore text.")
            .finding(Finding::new(Severity::High, "a key").rule("secret/key"))
            .finding(Finding::new(Severity::Low, "a call"))
            .finding(Finding::new(Severity::Low, "a call"))
    });
    let review = Bench::new().run(|_: Handoff| Outcome::failed("There is no diff."));
    let bench = Bench::new()
        .workspace_dir(ledger())
        .goal("where is the journal?")
        .prior_result("security", &security)
        .prior_result("review", &review);
    let result = bench.context("results/broken.json", "{").run(librarian::run);
    let lines: Vec<&str> = result.summary.lines().collect();
    assert!(lines[0].starts_with("Closest to the goal: "), "{}", result.summary);
    assert_eq!(
        lines[lines.len() - 3..],
        [
            "- review (failed): There is no diff. [no findings]",
            "- security (completed): One secret was found. [3 findings: 1 high, 2 low]",
            "Searched for: journal."
        ]
    );
    assert!(
        result.risks.iter().any(|risk| risk.contains("The result of broken could not be read")),
        "{:?}",
        result.risks
    );
}

#[test]
fn the_manifest_names_this_role() {
    let manifest = std::fs::read_to_string(format!("{}/role.toml", env!("CARGO_MANIFEST_DIR"))).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    assert_eq!(manifest["name"].as_str(), Some(env!("CARGO_PKG_NAME")));
    assert_eq!(manifest["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(manifest["component"].as_str(), Some("librarian.wasm"));
}
