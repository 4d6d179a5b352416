//! Real projects, whose checks run in a copy of them, and tell right from wrong.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use std::path::PathBuf;
use std::time::Duration;

use brain_changes::{Builder, Side};
use brain_checks::{
    Check, CheckStatus, CheckSummary, ChecksConfig, Detected, PatchKind, RunLimits, Tool, changed_paths, run_all,
    select,
};
use common::{LIMITS, Project, environment, has, kind, shell};

const LIB: &str = "/// Twice.\npub fn twice(n: u32) -> u32 {\n    n * 2\n}\n";
const TEST: &str = "#[test]\nfn two() {\n    assert_eq!(a::twice(1), 2);\n}\n";

fn rust() -> Project {
    Project::new(&[
        (".gitignore", "target\n"),
        ("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
        ("src/lib.rs", LIB),
        ("tests/two.rs", TEST),
        ("target/debug/kept", "the operator's own build\n"),
    ])
}

fn statuses(summary: &CheckSummary) -> Vec<(&str, CheckStatus)> {
    summary.results.iter().map(|result| (result.name.as_str(), result.status)).collect()
}

#[test]
fn the_tests_of_a_rust_crate_tell_a_right_change_from_a_wrong_one() {
    let project = rust();
    let before = project.state();
    let right = project.change(&[("src/lib.rs", Some(&LIB.replace("n * 2", "n + n")))]);
    let summary = project.check(&right, "");
    let both = ["cargo check --all-targets", "cargo test"];
    assert_eq!(statuses(&summary), both.map(|name| (name, CheckStatus::Passed)), "{summary:#?}");
    assert_eq!((summary.status, summary.patch_kind), (CheckStatus::Passed, PatchKind::Backend));
    assert_eq!(summary.selected_scripts, ["typecheck", "test"]);

    let wrong = project.change(&[("src/lib.rs", Some(&LIB.replace("n * 2", "n * 3")))]);
    let summary = project.check(&wrong, "");
    assert_eq!(summary.status, CheckStatus::Failed);
    let [check, test] = &summary.results[..] else { panic!("{summary:#?}") };
    assert_eq!((check.status, test.status, test.exit_code), (CheckStatus::Passed, CheckStatus::Failed, Some(101)));
    assert!(test.stdout.contains("assertion `left == right` failed"), "{}", test.stdout);

    // The next change is not judged by what was built of the last one.
    let summary = project.check(&right, "");
    assert_eq!(summary.status, CheckStatus::Passed, "{summary:#?}");
    assert_eq!(project.state(), before);
}

#[test]
fn a_change_of_documents_needs_no_checks_and_one_of_tests_needs_tests() {
    let project = rust();
    let summary = project.check(&project.change(&[("README.md", Some("# A\n"))]), "");
    assert_eq!((summary.status, summary.results.len()), (CheckStatus::Skipped, 0));
    assert_eq!(summary.reason.as_deref(), Some("docs-only changes need no checks"));
    let summary = project.check(&project.change(&[("tests/two.rs", Some(&TEST.replace("2)", "5)")))]), "");
    assert_eq!(statuses(&summary), [("cargo test", CheckStatus::Failed)]);
}

#[test]
fn a_file_that_is_renamed_counts_by_both_of_its_names() {
    let project = Project::new(&[("src/auth.rs", "a\n")]);
    let mut builder = Builder::new(&project.contents);
    let side = || Side::new(0o644, &b"a\n"[..]);
    builder.renamed("src/auth.rs", "README.md", side(), side()).unwrap();
    let set = builder.finish().unwrap();
    assert_eq!(changed_paths(&set).collect::<Vec<_>>(), ["README.md", "src/auth.rs"]);
    assert_eq!(kind(&set), PatchKind::AuthRisk);
}

#[test]
fn a_script_that_is_named_and_missing_is_a_failed_check() {
    let project = Project::new(&[]);
    let set = project.change(&[("a.c", Some("int x;\n"))]);
    let summary = project.check_by("echo tested", &set, "scripts = [\"test\", \"e2e\"]");
    assert_eq!(statuses(&summary), [("e2e", CheckStatus::Failed), ("script", CheckStatus::Passed)]);
    assert_eq!(summary.status, CheckStatus::Failed);
    assert!(summary.results[0].stderr.contains("[checks] names `e2e`"), "{:?}", summary.results[0]);
    assert_eq!(summary.results[1].stdout, "tested\n");
}

#[test]
fn what_a_check_does_to_its_files_it_does_to_the_copy() {
    let wild = "rm -f data; mkfifo pipe; mkdir locked; touch locked/x; chmod 0 locked; ln -s / everything; echo new > made; \
                chmod 777 run.sh; echo more >> run.sh; echo more >> a.c";
    let project = Project::new(&[("data", "precious\n"), ("run.sh", "#!/bin/sh\n")]);
    let before = project.state();
    let summary = project.check_by(wild, &project.change(&[("a.c", Some("int x;\n"))]), "");
    assert_eq!(statuses(&summary), [("script", CheckStatus::Passed)], "{summary:#?}");
    assert_eq!(project.state(), before);
    // The pipe and the folder that nobody may enter are gone with the copy.
    let trees: Vec<PathBuf> =
        std::fs::read_dir(project.cache.join("trees")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(trees.iter().all(|path| path.is_file()), "{trees:?}");
}

#[test]
fn a_python_package_is_checked_with_the_change_in_it() {
    let project = Project::new(&[
        ("app/__init__.py", "def twice(n):\n    return n * 2\n"),
        ("check.py", "import app\nassert app.twice(1) == 2, 'wrong'\n"),
    ]);
    // Where there is no Python, the shell looks for the same.
    let python = "python3 check.py";
    let script =
        if has("python3") { python } else { "grep -q 'n \\* 2' app/__init__.py || { echo wrong >&2; exit 1; }" };
    let right = project.change(&[("app/__init__.py", Some("# Twice.\ndef twice(n):\n    return n * 2\n"))]);
    assert_eq!(project.check_by(script, &right, "").status, CheckStatus::Passed);
    let wrong = project.change(&[("app/__init__.py", Some("def twice(n):\n    return n * 3\n"))]);
    let summary = project.check_by(script, &wrong, "");
    assert_eq!(summary.status, CheckStatus::Failed);
    assert!(summary.results[0].stderr.contains("wrong"), "{summary:#?}");
}

#[test]
fn a_target_of_a_makefile_is_made_in_the_copy() {
    let project = Project::new(&[("Makefile", "test:\n\t@cat a.c\n")]);
    let summary = project.check(&project.change(&[("a.c", Some("int x;\n"))]), "");
    let [test] = &summary.results[..] else { panic!("{summary:#?}") };
    if has("make") {
        assert_eq!((test.status, test.stdout.as_str()), (CheckStatus::Passed, "int x;\n"), "{test:#?}");
    } else {
        // It is said what is missing.
        assert!(test.stderr.contains("the program `make` is not there"), "{test:#?}");
    }
}

#[test]
fn a_node_project_is_checked_with_the_change_in_it() {
    let test = "const test = require('node:test');\ntest('two', () => { if (require('..')(1) !== 2) throw Error('wrong'); });\n";
    let project = Project::new(&[
        ("package.json", r#"{"name": "a", "main": "index.js", "scripts": {"test": "node --test test/"}}"#),
        ("index.js", "module.exports = (n) => n * 2;\n"),
        ("test/two.test.js", test),
    ]);
    let right = project.change(&[("index.js", Some("module.exports = (n) => n + n;\n"))]);
    let wrong = project.change(&[("index.js", Some("module.exports = (n) => n * 3;\n"))]);
    let (right, wrong) = (project.check(&right, ""), project.check(&wrong, ""));
    assert_eq!(wrong.status, CheckStatus::Failed, "{wrong:#?}");
    if has("npm") && has("node") {
        assert_eq!(right.status, CheckStatus::Passed, "{right:#?}");
        assert!(wrong.results[0].stdout.contains("wrong"), "{wrong:#?}");
    } else {
        // It is said what is missing.
        assert_eq!(right.status, CheckStatus::Failed);
        assert!(right.results[0].stderr.contains("the program `npm` is not there"), "{right:#?}");
    }
}

#[test]
fn a_check_builds_in_a_folder_of_brains_and_knows_no_repository_above_the_copy() {
    let project = Project::new(&[]);
    let set = project.change(&[("a.c", Some("int x;\n"))]);
    let scratch = project.scratch(&set);
    let script = shell("echo $CARGO_TARGET_DIR:$GIT_CEILING_DIRECTORIES:$CI");
    let detected = Detected { checks: vec![script.clone()], ..Detected::default() };
    let plan = select(kind(&set), &ChecksConfig::default(), &detected);
    let mut told = Vec::new();
    let mut each = |check: &Check| told.push(check.command_line());
    let summary = run_all(&plan, &scratch, &environment(), &LIMITS, &mut each, &|| false).unwrap();
    let place = scratch.root().parent().unwrap();
    let expected = format!("{}:{}:1\n", scratch.cargo_target().display(), place.display());
    assert_eq!(summary.results[0].stdout, expected);
    assert_eq!(told, [script.command_line()]);
    assert!(run_all(&plan, &scratch, &environment(), &LIMITS, &mut |_| {}, &|| true).is_err());

    // What there is no time for has failed, and did not run.
    let limits = RunLimits { total: Duration::ZERO, ..LIMITS };
    let mut each = |check: &Check| panic!("{}", check.name);
    let summary = run_all(&plan, &scratch, &environment(), &limits, &mut each, &|| false).unwrap();
    assert_eq!(statuses(&summary), [("script", CheckStatus::Failed)]);
    assert!(summary.results[0].stderr.starts_with("not run"), "{summary:#?}");
}

#[test]
fn python_finds_the_modules_of_the_copy_before_those_that_are_installed() {
    let project = Project::new(&[("src/app/__init__.py", "")]);
    let set = project.change(&[("src/app/new.py", Some("x = 1\n"))]);
    let check = Check { tool: Tool::Python, ..shell("echo $PYTHONPATH $PYTHONDONTWRITEBYTECODE") };
    let plan = select(kind(&set), &ChecksConfig::default(), &Detected { checks: vec![check], ..Detected::default() });
    let scratch = project.scratch(&set);
    let environment = environment().with("PYTHONPATH", "/outer");
    let summary = run_all(&plan, &scratch, &environment, &LIMITS, &mut |_| {}, &|| false).unwrap();
    let root = scratch.root().display();
    assert_eq!(summary.results[0].stdout, format!("{root}/src:{root}:/outer 1\n"));
}

#[test]
fn the_journal_keeps_what_the_checks_came_to() {
    let project = Project::new(&[]);
    let summary = project.check_by("exit 2", &project.change(&[("src/auth.c", Some("int x;\n"))]), "");
    let json = serde_json::to_value(&summary).unwrap();
    let kept: brain_journal::CheckOutcome = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(kept.status, brain_journal::CheckStatus::Failed);
    assert_eq!((kept.patch_kind.as_deref(), kept.review_required), (Some("auth-risk"), Some(true)));
    assert_eq!(kept.results[0].exit_code, Some(2));
    // Every field that it has is one of ours, by the same name.
    let again = serde_json::to_value(&kept.results[0]).unwrap();
    for (key, value) in again.as_object().unwrap() {
        assert_eq!(&json["results"][0][key], value, "{key}");
    }
    assert_eq!(serde_json::from_value::<CheckSummary>(json).unwrap(), summary);
}
