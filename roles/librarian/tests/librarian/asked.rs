//! What a goal is understood to ask: references, earlier sessions, names that look like stop words, overviews.

use crate::support::{ask, files, label, ledger};
use brain_role::testing::Bench;
use brain_role::{ContextRef, ContextRefKind};

fn last(summary: &str) -> &str {
    summary.lines().last().unwrap_or("")
}

#[test]
fn the_words_of_a_reference_are_not_searched_for() {
    let bench = Bench::new()
        .file(
            "src/app.py",
            "\"\"\"Serves the orders.\n\nMore.\n\"\"\"\nclass App:\n    def start(self):\n        pass\n",
        )
        .file("src/test_app.py", "def test_it_starts():\n    App().start()\n");
    let result = bench.goal("explain @src/app.py").ref_file("src/app.py").run(librarian::run);
    assert!(
        result.summary.contains(
            "- src/app.py: Python, 7 lines; \"Serves the orders.\"; has `App` (class, :5), `App::start` (method, :6)"
        ),
        "{}",
        result.summary
    );
    assert!(result.summary.contains("Tests: yes, 1 test refers to it: src/test_app.py:2"), "{}", result.summary);
    assert_eq!(files(&result), ["src/app.py", "src/test_app.py"]);
    // A session is no word either.
    let result = ask("where is the journal written, see @@20261130-101010-journal and @src/config.rs");
    assert_eq!(last(&result.summary), "Searched for: journal, written, src/config.rs.");
}

#[test]
fn one_line_is_singular_and_an_index_is_no_table() {
    let bench = Bench::new()
        .file("db/schema.sql", "CREATE TABLE users (id INT, name TEXT); CREATE INDEX idx_users ON users (name); CREATE VIEW named AS SELECT 1;\n");
    let result = bench.goal("explain @db/schema.sql").ref_file("db/schema.sql").run(librarian::run);
    assert!(
        result.summary.contains(
            "- db/schema.sql: SQL, 1 line; has `users` (table, :1), `idx_users` (index, :1), `named` (view, :1)"
        ),
        "{}",
        result.summary
    );
}

/// A reference in a request narrows what is granted; a test that cannot be seen is not missing.
#[test]
fn tests_that_are_not_granted_are_said_to_be_out_of_sight() {
    let bench = Bench::new().file("src/app.py", "class App:\n    def start(self):\n        pass\n");
    let result = bench.goal("explain @src/app.py").ref_file("src/app.py").run(librarian::run);
    let unseen = "Tests: tests outside of what was granted cannot be seen; in what was granted, no test calls";
    assert!(result.summary.contains(unseen), "{}", result.summary);
}

#[test]
fn a_folder_that_is_referred_to_is_described_file_by_file() {
    let mut bench = Bench::new().goal("what is in @src").ref_file("src");
    for n in 0..librarian::limits::MAX_DESCRIBED + 2 {
        bench = bench.file(format!("src/f{n}.rs"), format!("//! Part {n}.\npub struct S{n};\n"));
    }
    let result = bench.run(librarian::run);
    assert!(
        result.summary.starts_with("The goal refers to 8 files.\n- src/f0.rs: Rust, 2 lines; \"Part 0.\""),
        "{}",
        result.summary
    );
    assert!(result.summary.contains("- and 2 files, not described one by one"), "{}", result.summary);
}

#[test]
fn an_earlier_session_counts_with_a_low_weight_and_is_named() {
    let thread = "# Session\n\n## Request\n\nwhere are parcels weighed?\n\n## Answer\n\n- src/scale.rs:3: has `weigh`\n\n### security (completed)\n\nlorem other.rs\n";
    let bench = || {
        Bench::new()
            .file("src/scale.rs", "/// Weighs parcels.\npub fn weigh() {}\n")
            .file("src/ship.rs", "/// Ships by boat.\npub fn ship() {}\n")
            .file("src/other.rs", "pub fn other() {}\n")
    };
    let result =
        bench().goal("go on with that").context("threads/20261130-101010-abcdef.md", thread).run(librarian::run);
    assert_eq!(files(&result), ["src/scale.rs"], "{}", result.summary);
    assert!(label(&result, "src/scale.rs").contains("the earlier session named it"));
    assert!(result.summary.contains("The earlier session was taken into account"), "{}", result.summary);
    assert_eq!(last(&result.summary), "Searched for: parcels, weighed, src/scale.rs (from the earlier session).");
    // What is asked now comes before what was asked then.
    let now = bench()
        .goal("where does the boat ship?")
        .context("threads/20261130-101010-abcdef.md", thread)
        .run(librarian::run);
    assert_eq!(files(&now).first(), Some(&"src/ship.rs"), "{}", now.summary);
    // A long session is read up to its bound.
    let long = format!("## Request\n\n{}\n", "lorem ".repeat(100_000));
    let result = bench().goal("where is weigh?").context("threads/a.md", long).run(librarian::run);
    assert_eq!(files(&result).first(), Some(&"src/scale.rs"), "{}", result.summary);
    let manifest = include_str!("../../role.toml");
    assert!(manifest.contains("\"threads/*.md\""));
}

#[test]
fn a_stop_word_that_is_the_name_of_a_definition_is_searched_for() {
    let tree = || {
        Bench::new()
            .file(
                "src/build.rs",
                "pub struct Build;\nimpl Build {\n    pub fn define(&mut self) {}\n    pub fn new() {}\n}\n",
            )
            .file("src/other.rs", "pub fn compile() {}\n")
    };
    let result = tree().goal("where is define implemented").run(librarian::run);
    assert!(
        result.summary.starts_with("Closest to the goal: Build::define (method, src/build.rs:3)"),
        "{}",
        result.summary
    );
    assert_eq!(last(&result.summary), "Searched for: define.");
    let result =
        Bench::new().file("src/a.rs", "pub fn compile() {}\n").goal("where is define implemented").run(librarian::run);
    assert!(!result.summary.contains("Searched for"), "{}", result.summary);
}

#[test]
fn an_overview_names_folders_entry_points_and_types() {
    for goal in
        ["give me an overview of this project", "explain the architecture", "what is the structure of the code?"]
    {
        let result = ask(goal);
        let count = result.summary.lines().count();
        assert!((8..=15).contains(&count), "{goal}: {count}\n{}", result.summary);
        for part in [
            "- crates/: 4 files",
            "mainly Rust",
            "- src/main.rs:5: main",
            "struct `Journal`",
            "crates/journal/src/lib.rs:8",
        ] {
            assert!(result.summary.contains(part), "{goal}: {part}\n{}", result.summary);
        }
    }
    // A reference to the whole project is one to no part of it.
    let whole = ContextRef::new(ContextRefKind::File, "/workspace");
    let bench = Bench::new().workspace_dir(ledger()).goal("give me an overview of this project").reference(whole);
    let result = bench.run(librarian::run);
    assert!(result.summary.contains("- crates/: 4 files"), "{}", result.summary);
    // Asked for a place, it is a place that is wanted.
    let result = Bench::new()
        .file("src/a.rs", "pub fn structure() {}\n")
        .goal("where is structure implemented")
        .run(librarian::run);
    assert!(result.summary.starts_with("Closest to the goal: structure (function, src/a.rs:1)"), "{}", result.summary);
}

#[test]
fn sources_in_a_folder_with_the_name_of_one_for_output_are_read() {
    let bench = || {
        Bench::new()
            .file("src/target/apple.rs", "/// Picks the linker.\npub fn linker() {}\n")
            .file("src/lib.rs", "pub mod target;\n")
    };
    let result = bench().goal("where is the linker picked?").run(librarian::run);
    assert_eq!(files(&result).first(), Some(&"src/target/apple.rs"), "{}", result.summary);
    let result = bench()
        .file("src/target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
        .goal("where is the linker picked?")
        .run(librarian::run);
    assert!(files(&result).is_empty(), "{}", result.summary);
    assert!(result.risks.iter().any(|risk| risk.contains("in target, which holds")), "{:?}", result.risks);
}

#[test]
fn tests_beside_an_untested_definition_are_listed() {
    let text = "/// Weighs parcels.\npub fn weigh() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn parcels_are_heavy() { assert!(true); }\n}\n";
    let result = Bench::new().file("src/scale.rs", text).goal("is weigh of parcels tested?").run(librarian::run);
    assert!(result.summary.contains("no test calls it by name (`weigh`)"), "{}", result.summary);
    assert!(
        result
            .summary
            .contains("Tests in the same file with words of the goal: src/scale.rs:6 (tests::parcels_are_heavy)."),
        "{}",
        result.summary
    );
}
