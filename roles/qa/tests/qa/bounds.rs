//! Hostile and large input: nothing fails, what is left out is said.

use brain_role::TaskStatus;
use brain_role::testing::Bench;
use proptest::prelude::*;
use qa::limits::{MAX_CHANGED_FILES, MAX_FILE_BYTES, MAX_FINDINGS, MAX_MANIFESTS, MAX_PER_RULE};

use crate::support::{change, commands, told};

#[test]
fn findings_of_one_rule_in_one_file_are_joined() {
    let code: String = (0..20).map(|n| format!("pub fn thing_{n}() {{}}\n")).collect();
    let result = Bench::new().file("src/lib.rs", code).goal("untested code of the project").run(qa::run);
    assert_eq!(result.findings.len(), MAX_PER_RULE);
    assert!(
        result.findings[MAX_PER_RULE - 1]
            .issue
            .ends_with(&format!("{} more of this kind are in the file", 20 - MAX_PER_RULE))
    );
}

#[test]
fn findings_are_bounded_and_the_rest_is_counted() {
    let bench = (0..MAX_FINDINGS + 7)
        .fold(Bench::new(), |bench, n| bench.file(format!("src/m{n}.rs"), format!("pub fn thing_{n}() {{}}\n")));
    let result = bench.goal("untested code of the project").run(qa::run);
    assert_eq!(result.findings.len(), MAX_FINDINGS);
    assert!(result.risks.iter().any(|risk| risk.starts_with("7 findings past")), "{:?}", result.risks);
}

#[test]
fn files_that_are_not_read_are_counted() {
    let result = Bench::new()
        .file("src/big.rs", vec![b'/'; MAX_FILE_BYTES as usize + 1])
        .file("node_modules/a/index.js", "export function a() {}")
        .file("src/bin.rs", b"fn a\0() {}")
        .goal("qa")
        .run(qa::run);
    let risks = result.risks.join("\n");
    for part in [
        "1 file not looked at: over 1 MiB (the first is src/big.rs)",
        "in node_modules",
        "binary (the first is src/bin.rs)",
    ] {
        assert!(risks.contains(part), "{part}: {risks}");
    }
}

#[test]
fn manifests_and_changed_files_are_bounded() {
    let bench = (0..MAX_MANIFESTS + 2).fold(Bench::new(), |bench, n| bench.file(format!("p{n}/go.mod"), "module a\n"));
    let risks = bench.goal("qa").run(qa::run).risks.join("\n");
    assert!(risks.contains("2 files not looked at: a manifest past"), "{risks}");
    let diff: String = (0..MAX_CHANGED_FILES + 1).map(|n| change(&format!("f{n}.rs"), 1, "a", "b")).collect();
    let result = Bench::new().file("f0.rs", "b\n").context("changes.diff", diff).goal("test my change").run(qa::run);
    assert!(result.risks.iter().any(|risk| risk.starts_with("the change is longer than")), "{:?}", result.risks);
    assert!(result.risks.iter().any(|risk| risk.contains("changed files were not read")), "{:?}", result.risks);
}

#[test]
fn a_name_that_would_break_a_command_or_a_line_is_in_neither() {
    let path = "tests/test_a\n; rm -rf x.py";
    let result = Bench::new()
        .file("pytest.ini", "")
        .file("app.py", "def add_up():\n    pass\n")
        .file(path, "def test_a():\n    assert add_up()\n")
        .goal("is add_up tested?")
        .run(qa::run);
    assert_eq!(commands(&result), ["pytest"]);
    assert!(!result.summary.lines().any(|line| line.starts_with("; rm")), "{}", result.summary);
    assert!(result.risks.iter().any(|risk| risk.contains("does not fit into a command")), "{:?}", result.risks);
    let quoted = Bench::new()
        .file("pytest.ini", "")
        .file("app.py", "def add_up():\n    pass\n")
        .file("tests/it's $(here)/test_a.py", "def test_a():\n    assert add_up()\n")
        .goal("is add_up tested?")
        .run(qa::run);
    assert_eq!(commands(&quoted)[0], "pytest 'tests/it'\\''s $(here)/test_a.py::test_a'");
}

#[test]
fn manifests_that_are_broken_break_nothing() {
    for manifest in [
        "[package",
        "[package]\nname = 1",
        "[workspace]\nmembers = 3",
        "[workspace]\nmembers = [1, \"**\", \"../..\", \"*/*\"]\n[package]\nname = \"a\"",
        "[[test]]\npath = 1",
    ] {
        let result = Bench::new()
            .file("Cargo.toml", manifest)
            .file("package.json", "[]")
            .file("src/lib.rs", "pub fn add_up() {}\n#[test]\nfn adds() { add_up() }\n")
            .goal("is add_up tested?")
            .run(qa::run);
        assert_eq!(result.progress.status, TaskStatus::Completed, "{manifest}");
    }
}

/// Text that parsers, blankers and readers of marks trip over.
const PIECES: &[&str] = &[
    "#[test]\n",
    "fn a(",
    "}",
    "{",
    "\"",
    "'",
    "`",
    "/*",
    "*/",
    "//",
    "#",
    "\"\"\"",
    "r#\"",
    "it.only(",
    "describe('x', () => {",
    "def test_a():\n",
    "@pytest.mark.skip",
    "class A:\n  ",
    "\\",
    "\n",
    "é",
    "测试",
    "export {",
    "mod tests {",
    "#[cfg(test)]\n",
    "func TestA(t *testing.T) {",
    "t.Skip()",
    "pub fn thing_one() {",
    "thing_one();",
    "\u{202e}",
    "\0",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_it_fail(a in text(), b in text(), goal in "(is |qa |tests |my change |thing_one |测试|a.rs |@){0,5}", diff in "(diff --git a/a.rs b/a.rs\n|@@ -1 \\+1,2 @@\n|[-+ ].{0,4}\n|\\+\\+\\+ b/a.rs\n){0,8}") {
        let result = Bench::new()
            .file("src/a.rs", &a).file("tests/a.rs", &b).file("a.py", &b).file("tests/test_a.py", &a).file("a.test.ts", &a).file("a_test.go", &b)
            .file("Cargo.toml", &a).file("package.json", &b).file("go.mod", &b)
            .context("changes.diff", diff)
            .goal(goal)
            .run(qa::run);
        prop_assert_eq!(result.progress.status, TaskStatus::Completed);
        prop_assert!(result.summary.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", result.summary);
        prop_assert!(told(&result).len() <= MAX_FINDINGS);
    }
}
