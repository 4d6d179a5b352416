//! What is covered and what is not.

use brain_role::testing::Bench;
use brain_role::{ContextRef, ContextRefKind, TaskStatus};

use crate::support::{change, commands, first, python, told};

#[test]
fn a_change_is_mapped_to_the_tests_that_reach_it() {
    let diff = [
        change("app/session.py", 10, "    return 0", "    return 1"),
        change("app/billing.py", 2, "    return invoice", "    return -invoice"),
    ];
    let result = python().context("changes.diff", diff.concat()).goal("do my changes have tests?").run(qa::run);
    assert_eq!(result.progress.status, TaskStatus::Completed);
    assert_eq!(
        first(&result),
        "Tests of the change: 1 of 2 changed definitions are reached by tests, 1 by none (`refund`)."
    );
    let through = "- `_age` (app/session.py:10) through `Session::expired`: tests/test_session.py:7 (test_expires)";
    assert!(result.summary.contains(through), "{}", result.summary);
    assert_eq!(commands(&result), ["uv run pytest tests/test_session.py::TestSession::test_expires", "uv run pytest"]);
    assert_eq!(
        told(&result),
        [
            "qa/changed-untested app/billing.py:2 medium",
            "qa/disabled-test tests/test_session.py:9 medium",
            "qa/no-assertion tests/test_session.py:14 low",
        ]
    );
    assert_eq!(result.findings[0].evidence.as_deref(), Some("return -invoice"));
    assert!(result.artifacts.iter().any(|artifact| artifact.uri == "/workspace/tests/test_session.py"));
    assert!(result.risks[0].starts_with("No test was run."), "{:?}", result.risks);
}

#[test]
fn named_code_is_found_by_words_by_identifier_and_by_reference() {
    for goal in ["is the session code tested?", "session代码有测试吗", "which tests cover app/session.py?"] {
        let result = python().goal(goal).run(qa::run);
        assert!(
            first(&result).contains("4 of 5 definitions are reached by tests, 1 by none (`close_all`)"),
            "{goal}: {}",
            first(&result)
        );
        assert!(
            told(&result).contains(&"qa/public-untested app/session.py:17 low".to_owned()),
            "{goal}: {:?}",
            told(&result)
        );
    }
    let result = python().ref_file("app/billing.py").goal("is @app/billing.py tested?").run(qa::run);
    assert!(!result.summary.contains("was granted"), "{}", result.summary);
    assert_eq!(first(&result), "Tests of app/billing.py: no test refers to the definition (`refund`).");
    let result = python().goal("is open_session tested?").run(qa::run);
    assert_eq!(first(&result), "Tests of `open_session`: the definition is reached by tests.");
    assert_eq!(commands(&result), ["uv run pytest tests/test_session.py::test_open", "uv run pytest"]);
    // Other roles quote the first line alone.
    let quoted = result.summary.lines().next().unwrap();
    assert!(quoted.ends_with(" Run: uv run pytest tests/test_session.py::test_open"), "{quoted}");
}

/// A reference in a request narrows what is granted; a test that cannot be seen is not missing.
#[test]
fn what_is_not_granted_is_not_said_to_be_missing() {
    let bench = Bench::new().file("app/billing.py", "def refund(invoice):\n    return -invoice\n");
    let result = bench.ref_file("app/billing.py").goal("is @app/billing.py tested?").run(qa::run);
    assert_eq!(told(&result), Vec::<String>::new());
    assert!(result.summary.contains("Only what the request refers to was granted"), "{}", result.summary);
    assert_eq!(
        first(&result),
        "Tests of app/billing.py: tests outside of what was granted cannot be seen; in what was granted, no test refers to the definition (`refund`)."
    );
}

/// What CommonJS gives away is as public as what `export` marks.
#[test]
fn exports_of_commonjs_are_public() {
    let result = Bench::new()
        .file("cart.js", "function total(a) { return a; }\nconst discount = (a) => a;\nfunction own() {}\nmodule.exports = {total, discount};\n")
        .file("math.js", "const mul = (a, b) => a * b;\nfunction div(a) { return a; }\nexports.mul = mul;\nmodule.exports.div = div;\n")
        .file("named.js", "module.exports = function named(a) { return a; };\n")
        .goal("is the whole project tested?")
        .run(qa::run);
    assert_eq!(
        told(&result),
        [
            "qa/public-untested cart.js:1 low",
            "qa/public-untested cart.js:2 low",
            "qa/public-untested math.js:1 low",
            "qa/public-untested math.js:2 low",
            "qa/public-untested named.js:1 low",
        ]
    );
}

#[test]
fn a_change_of_tests_alone_and_of_the_last_commit_is_told_in_a_sentence() {
    let diff = [
        change("tests/test_session.py", 7, "        assert 1", "        assert Session('a').expired(-1)"),
        change("tests/test_session.py", 15, "    open_session('b')", "    open_session('a')"),
    ];
    let labelled = ContextRef::new(ContextRefKind::Artifact, "/context/changes.diff")
        .label("the last commit; there are no uncommitted changes");
    let result = python()
        .reference(labelled)
        .context("changes.diff", diff.concat())
        .goal("do my changes have tests?")
        .run(qa::run);
    assert_eq!(
        first(&result),
        "Tests of the last commit (there are no uncommitted changes): only tests changed, 2 of them."
    );
}

#[test]
fn the_change_is_asked_about_only_where_the_request_does_not_name_something_else() {
    let of = |goal: &str, label: &str| {
        let diff = change("app/billing.py", 2, "    return invoice", "    return -invoice");
        let mut bench = python().goal(goal);
        bench = bench.context("other.diff", "").context("results/none.txt", "");
        let labelled = ContextRef::new(ContextRefKind::Artifact, "/context/changes.diff").label(label);
        first(&bench.reference(labelled).context("changes.diff", diff).run(qa::run)).to_owned()
    };
    let pending = "the uncommitted changes against HEAD";
    let last = "the last commit; there are no uncommitted changes";
    assert!(
        of("qa", pending).starts_with("Tests of the uncommitted changes against HEAD: no test refers"),
        "{}",
        of("qa", pending)
    );
    assert!(of("is the session tested", pending).starts_with("Tests of \"session\""));
    assert!(of("qa", last).starts_with("The project has 3 tests in 1 file"), "{}", of("qa", last));
    assert!(of("qa of the last commit", last).starts_with("Tests of the last commit"));
    assert!(of("qa of the whole project", pending).starts_with("The project has"));
}

#[test]
fn what_is_not_there_is_said() {
    let result = python().goal("do my changes have tests?").run(qa::run);
    assert!(result.risks.iter().any(|risk| risk.starts_with("no change was handed over")), "{:?}", result.risks);
    let result = python().goal("is the zeppelin tested?").run(qa::run);
    assert!(result.summary.contains("Nothing in the code is named \"zeppelin\"."), "{}", result.summary);
    let result = Bench::new().goal("qa").run(qa::run);
    assert_eq!(first(&result), "No code was found in what is granted of the project.");
    let docs = change("README.md", 1, "a", "b");
    let result = python().file("README.md", "b\n").context("changes.diff", docs).goal("test my change").run(qa::run);
    assert!(
        first(&result).contains("touches no code that a test could refer to (files of other kinds: Markdown 1)"),
        "{}",
        first(&result)
    );
    let result = python().ref_file("nothing.py").goal("is @nothing.py tested?").run(qa::run);
    assert!(result.risks.iter().any(|risk| risk == "nothing.py has no code that was read"), "{:?}", result.risks);
}

#[test]
fn a_changed_test_is_run_and_judged() {
    let diff = change("tests/test_session.py", 15, "    pass", "    open_session('a')");
    let result = python().context("changes.diff", diff).goal("qa of my change").run(qa::run);
    assert!(first(&result).contains("only tests changed, 1 of them"), "{}", first(&result));
    assert_eq!(commands(&result)[0], "uv run pytest tests/test_session.py::test_open");
    assert!(
        told(&result).contains(&"qa/no-assertion tests/test_session.py:14 medium".to_owned()),
        "{:?}",
        told(&result)
    );
}

#[test]
fn a_test_that_only_prepares_is_no_test_and_a_helper_leads_to_one() {
    let bench = Bench::new()
        .file("Cargo.toml", "[package]\nname = \"a\"\n")
        .file("src/lib.rs", "pub struct Store;\nimpl Store {\n    pub fn keep_all(&self) {}\n    pub fn drop_all(&self) {}\n}\npub fn hidden_one() {}\n")
        .file(
            "tests/store.rs",
            "use a::Store;\nfn kept() -> Store {\n    let store = Store;\n    store.keep_all();\n    store\n}\n\nfn hidden() { a::hidden_one(); }\n\n#[test]\nfn keeps() {\n    kept().same();\n}\n",
        );
    let result = bench.goal("is src/lib.rs tested?").run(qa::run);
    assert!(
        result.summary.contains("`Store::keep_all` (src/lib.rs:3) through `kept`: tests/store.rs:12 (keeps)"),
        "{}",
        result.summary
    );
    assert!(result.summary.contains("- `Store::drop_all` (src/lib.rs:4)\n"), "{}", result.summary);
    assert!(
        result.summary.contains("`hidden_one` (src/lib.rs:6); tests/store.rs:8 mentions it outside of a test"),
        "{}",
        result.summary
    );
    assert!(told(&result).contains(&"qa/no-assertion tests/store.rs:11 low".to_owned()), "{:?}", told(&result));
}

#[test]
fn a_helper_that_asserts_clears_its_tests() {
    let result = Bench::new()
        .file("src/lib.rs", "pub fn double(a: u32) -> u32 { a * 2 }\n")
        .file("tests/a.rs", "mod common;\n#[test]\nfn doubles() { common::same(double(1), 2); }\n")
        .file(
            "tests/common/mod.rs",
            "pub fn same(a: u32, b: u32) { inner(a, b) }\nfn inner(a: u32, b: u32) { assert_eq!(a, b) }\n",
        )
        .goal("test coverage")
        .run(qa::run);
    assert_eq!(told(&result), Vec::<String>::new(), "{}", result.summary);
}

#[test]
fn what_stands_in_strings_and_comments_is_no_test_and_no_mark() {
    let result = Bench::new()
        .file("Cargo.toml", "[package]\nname = \"a\"\n")
        .file("src/lib.rs", "pub fn parse_line() {}\n")
        .file("tests/a.rs", "// parse_line();\n#[test]\nfn a() {\n    assert_eq!(\"parse_line() #[ignore] it.only(\", \"\");\n    // #[ignore]\n}\n")
        .goal("is parse_line tested?")
        .run(qa::run);
    assert_eq!(first(&result), "Tests of `parse_line`: no test refers to the definition (`parse_line`).");
    assert_eq!(told(&result), ["qa/public-untested src/lib.rs:1 low"]);
}

#[test]
fn a_common_word_counts_only_beside_what_it_belongs_to() {
    let result = Bench::new()
        .file("Cargo.toml", "[workspace]\nmembers = [\"one\", \"two\"]\n")
        .file("one/Cargo.toml", "[package]\nname = \"one\"\n")
        .file(
            "one/src/lib.rs",
            "pub struct Lamp;\nimpl Lamp {\n    pub fn lights(&self) {}\n    pub fn run(&self) {}\n}\n",
        )
        .file("two/Cargo.toml", "[package]\nname = \"two\"\n")
        .file("two/tests/a.rs", "#[test]\nfn a() {\n    assert!(two.lights());\n    run();\n}\n")
        .goal("is the lamp tested?")
        .run(qa::run);
    assert!(first(&result).contains("no test refers to any of 2 definitions"), "{}", result.summary);
}

#[test]
fn no_output_repeats_a_secret() {
    let secret = ["ghp_", "aB7cD8eF9gH0jK1mN2pQ3rS4tU5vW6", "2M5jQM"].concat();
    let test = format!("it('takes {secret}', () => {{ send_it('{secret}'); }});\n");
    let result = Bench::new()
        .file("package.json", r#"{"scripts":{"test":"jest"}}"#)
        .file("src/a.js", "export function send_it(token) {}\n")
        .file("src/a.test.js", test)
        .goal("is send_it tested?")
        .run(qa::run);
    assert_eq!(told(&result), ["qa/no-assertion src/a.test.js:1 low"]);
    assert!(!format!("{result:?}").contains(&secret), "{result:?}");
    assert_eq!(commands(&result)[0], "npx jest src/a.test.js");
}

#[test]
fn support_results_are_composed_and_the_librarians_files_are_taken() {
    let other = Bench::new()
        .run(|_: brain_role::Handoff| brain_role::Outcome::completed("Two files.").file_ref("app/billing.py", "x"));
    let result = python().prior_result("librarian", &other).goal("qa").run(qa::run);
    assert!(first(&result).contains("what the librarian found for the request: app/billing.py"), "{}", first(&result));
    assert!(result.summary.ends_with("- librarian (completed): Two files. [no findings]"), "{}", result.summary);
}
