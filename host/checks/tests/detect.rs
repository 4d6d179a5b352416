//! Which checks a project has is known from its files.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use brain_checks::detect::{MAX_OFFERED, MAX_PACKAGES};
use brain_checks::{Check, Part, Tool, detect};
use common::Project;

/// Names of the checks that are more than an offer, with what they look at.
fn found(project: &Project, changed: &[&str]) -> Vec<(String, Part)> {
    let detected = detect(&project.root, changed.iter().copied());
    let checks = detected.checks.into_iter();
    checks.filter_map(|check| Some((check.name.clone(), check.part?))).collect()
}

fn names(project: &Project, changed: &[&str]) -> Vec<String> {
    found(project, changed).into_iter().map(|(name, _)| name).collect()
}

fn one(project: &Project, name: &str) -> Check {
    let detected = detect(&project.root, []);
    detected.checks.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("{detected:?}")).clone()
}

#[test]
fn cargo() {
    let package = "[package]\nname = \"a\"\n";
    let plain = Project::new(&[("Cargo.toml", package)]);
    let (check, test) = ("cargo check --all-targets", "cargo test");
    assert_eq!(found(&plain, &[]), [(check.into(), Part::Typecheck), (test.into(), Part::Test)]);
    let strict = Project::new(&[("Cargo.toml", package), (".rustfmt.toml", ""), ("clippy.toml", "")]);
    let (fmt, clippy) = ("cargo fmt --check", "cargo clippy --all-targets");
    assert_eq!(names(&strict, &[]), [fmt, clippy, check, test]);
    assert_eq!(found(&strict, &[])[0].1, Part::Lint);
    let linted = Project::new(&[("Cargo.toml", "[workspace]\n[workspace.lints.clippy]\nunwrap_used = \"warn\"\n")]);
    assert_eq!(names(&linted, &[]), [clippy, check, test]);
    assert_eq!(one(&strict, "cargo fmt --check").why, ".rustfmt.toml is there");
    assert!(names(&Project::new(&[("Cargo.toml", "[other]\n")]), &[]).is_empty());
}

#[test]
fn package_scripts_run_by_the_manager_of_the_lock_file() {
    let manifest = r#"{"scripts": {"test": "node --test", "lint": "eslint .", "tsc": "tsc", "build": "x", "-v": "x"}}"#;
    for (lock, program, tool) in [
        (None, "npm", Tool::Npm),
        (Some("package-lock.json"), "npm", Tool::Npm),
        (Some("pnpm-lock.yaml"), "pnpm", Tool::Pnpm),
        (Some("yarn.lock"), "yarn", Tool::Yarn),
        (Some("bun.lock"), "bun", Tool::Bun),
        (Some("bun.lockb"), "bun", Tool::Bun),
    ] {
        let project = Project::new(&[("package.json", manifest)]);
        if let Some(lock) = lock {
            project.write(lock, "");
        }
        let expected: Vec<_> = ["tsc", "lint", "test"].map(|script| format!("{program} run {script}")).into();
        assert_eq!(names(&project, &[]), expected);
        let test = one(&project, &format!("{program} run test"));
        assert_eq!((test.tool, test.args, test.script.as_str()), (tool, vec!["run".into(), "test".into()], "test"));
        assert_eq!(one(&project, &format!("{program} run build")).part, None);
        assert!(!detect(&project.root, []).checks.iter().any(|check| check.script == "-v"));
    }
    let named = r#"{"packageManager": "pnpm@9.1.0", "scripts": {"test": "x"}}"#;
    assert_eq!(names(&Project::new(&[("package.json", named), ("yarn.lock", "")]), &[]), ["pnpm run test"]);
    // What `npm init` writes is no test.
    let fresh = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    assert!(names(&Project::new(&[("package.json", fresh)]), &[]).is_empty());
}

#[test]
fn go_and_make() {
    let project = Project::new(&[
        ("go.mod", "module a\n"),
        ("Makefile", "lint:\n\tx\ntest:\n\tgo test\ncheck: lint\nbuild:\n\tx\n"),
    ]);
    // The makefile's own test is the one of go, most likely; it can be named.
    assert_eq!(names(&project, &[]), ["go vet ./...", "go test ./...", "make check", "make lint"]);
    assert_eq!(one(&project, "make test").part, None);
    assert_eq!(one(&project, "make build").why, "the target `build` of Makefile");
}

#[test]
fn python() {
    let configured = "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\nfiles = \"src\"\n";
    let project = Project::new(&[("pyproject.toml", configured), ("tox.ini", "[tox]\n")]);
    assert_eq!(names(&project, &[]), ["ruff check .", "mypy", "python3 -m pytest"]);
    assert_eq!(one(&project, "tox").part, None);
    project.write(".venv/bin/python", "");
    project.write(".venv/bin/ruff", "");
    assert_eq!(one(&project, "python -m pytest").program, ".venv/bin/python");
    assert_eq!(one(&project, "ruff check .").program, ".venv/bin/ruff");
    assert_eq!(names(&Project::new(&[("tox.ini", "[testenv]\n")]), &[]), ["tox"]);
    assert_eq!(names(&Project::new(&[("setup.cfg", "[mypy]\n[tool:pytest]\n")]), &[]), ["mypy .", "python3 -m pytest"]);
    assert!(names(&Project::new(&[("pyproject.toml", "[project]\nname = \"a\"\n")]), &[]).is_empty());
}

#[test]
fn each_changed_file_has_the_checks_of_the_nearest_package() {
    let test = r#"{"scripts": {"test": "x"}}"#;
    let project = Project::new(&[
        ("package.json", r#"{"scripts": {"test": "all", "e2e": "x"}}"#),
        ("pnpm-lock.yaml", ""),
        ("apps/web/package.json", test),
        ("apps/tool/package.json", r#"{"scripts": {"start": "x"}}"#),
        ("crates/a/Cargo.toml", "[package]\n"),
        ("crates/a/src/lib.rs", ""),
    ]);
    assert_eq!(names(&project, &["apps/web/src/deep/a.ts"]), ["pnpm run test (apps/web)"]);
    // One without checks leaves it to the folder above, and its scripts can still be named.
    assert_eq!(names(&project, &["apps/tool/a.ts"]), ["pnpm run test"]);
    let tool = detect(&project.root, ["apps/tool/a.ts"]);
    assert!(tool.checks.iter().any(|check| check.name == "pnpm run start (apps/tool)"));
    let both = names(&project, &["crates/a/src/lib.rs", "apps/web/b.ts", "apps/web/c.ts"]);
    assert_eq!(both, ["pnpm run test (apps/web)", "cargo check --all-targets (crates/a)", "cargo test (crates/a)"]);
    // The root is there for what is named.
    let web = detect(&project.root, ["apps/web/b.ts"]);
    assert!(web.at_root.iter().any(|check| check.script == "e2e"));
    // What leads out is no path of a change.
    assert_eq!(names(&project, &["../apps/web/a.ts", "/etc/passwd"]), ["pnpm run test"]);
}

#[test]
fn what_cannot_be_shown_as_it_is_is_no_check() {
    let manifest = r#"{"scripts": {"test\u001b[2Jlint": "x", "a\nb": "x", "test": "x \u001b[2J y"}}"#;
    let project = Project::new(&[("package.json", manifest), ("a\u{202e}b/go.mod", "")]);
    let detected = detect(&project.root, ["a.js", "a\u{202e}b/c.go"]);
    let names: Vec<&str> = detected.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(names, ["npm run test"]);
    assert!(detected.checks[0].why.contains("which is `x \\u{1b}[2J y`"), "{}", detected.checks[0].why);
    assert_eq!(detected.notes.len(), 4, "{:?}", detected.notes);
    assert!(!detected.notes.concat().contains(['\u{1b}', '\u{202e}', '\n']), "{:?}", detected.notes);
}

#[test]
fn packages_and_scripts_are_bounded_and_it_is_said() {
    let project = Project::new(&[]);
    let paths: Vec<String> = (0..MAX_PACKAGES + 2).map(|n| format!("p{n}/a.go")).collect();
    for n in 0..MAX_PACKAGES + 2 {
        project.write(&format!("p{n}/go.mod"), "");
    }
    let detected = detect(&project.root, paths.iter().map(String::as_str));
    assert_eq!(detected.checks.len(), 2 * MAX_PACKAGES);
    assert!(detected.notes[0].contains("the checks of 2 are left out: p8, p9"), "{:?}", detected.notes);

    let scripts: Vec<String> = (0..MAX_OFFERED + 5).map(|n| format!("\"s{n}\": \"x\"")).collect();
    let project = Project::new(&[("package.json", &format!("{{\"scripts\": {{{}}}}}", scripts.join(",")))]);
    let detected = detect(&project.root, []);
    assert_eq!(detected.checks.len(), MAX_OFFERED);
    assert!(detected.notes[0].starts_with("5 scripts of the root are more"), "{:?}", detected.notes);
}

#[test]
fn files_that_cannot_be_used_say_nothing_and_it_is_noted() {
    let project =
        Project::new(&[("Cargo.toml", "[package\n"), ("package.json", "{"), ("Makefile", &"#".repeat(2 << 20))]);
    let pipe = project.root.join("pyproject.toml");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let detected = detect(&project.root, []);
    assert!(detected.checks.is_empty());
    for name in ["Cargo.toml", "package.json", "Makefile", "pyproject.toml"] {
        let note = format!("no check is taken from {name}, which cannot be used: ");
        assert!(detected.notes.iter().any(|said| said.starts_with(&note)), "{name}: {:?}", detected.notes);
    }
}
