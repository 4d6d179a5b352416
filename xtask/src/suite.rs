//! Tests, checks, benchmarks, schemas and installation.
//!
//! Features of dependencies are unified over what one cargo call selects. So that wasmtime is compiled once, every build of
//! the host selects the same: the whole workspace without this crate, development dependencies counted in.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::c_guests;
use crate::files;
use crate::place::{GUEST_TARGET, Place};
use crate::roles;
use crate::setup;
use crate::steps::{Failure, Steps};

/// The one selection of packages with which the host is built.
const HOST: [&str; 3] = ["--workspace", "--exclude", "xtask"];

/// Builds the `brain` binary.
///
/// `--examples` selects no file of ours: it makes cargo count development dependencies in when it unifies features, as
/// `cargo test` does, and so the two share every build of a dependency.
///
/// # Errors
/// The build fails.
pub fn build_host(place: &Place, steps: &mut Steps) -> Result<(), Failure> {
    steps.run("build", &mut host(place, "build", &["--bins", "--examples"]))
}

/// `cargo xtask test`: set-up, roles, then every test of every workspace.
///
/// # Errors
/// The first step that fails.
pub fn test(place: &Place, steps: &mut Steps, forwarded: &[OsString]) -> Result<(), Failure> {
    setup::run(place, steps)?;
    roles::run(place, steps)?;
    c_guests::run(place, steps)?;
    build_host(place, steps)?;
    steps.run("test host", host(place, "test", &[]).args(forwarded))?;
    steps.run("test xtask", place.cargo(["test", "--package", "xtask"]).args(forwarded))?;
    steps.run("test roles", place.roles_cargo(["test", "--workspace"]).args(forwarded))?;
    steps.run("test fuzz", place.fuzz_cargo(["test", "--no-default-features"]).args(forwarded))
}

/// `cargo xtask check`: formatting and lints, warnings being errors.
///
/// # Errors
/// The first step that fails.
pub fn check(place: &Place, steps: &mut Steps) -> Result<(), Failure> {
    setup::run(place, steps)?;
    let format = ["fmt", "--all", "--check"];
    explained(steps.run("fmt host", &mut place.cargo(format)), "run `cargo fmt --all`")?;
    explained(steps.run("fmt roles", &mut place.roles_cargo(format)), "run `cargo fmt --all` in roles/")?;
    explained(steps.run("fmt fuzz", &mut place.fuzz_cargo(format)), "run `cargo fmt --all` in fuzz/")?;
    let strict: &[&str] = &["--", "-D", "warnings"];
    steps.run("clippy host", host(place, "clippy", &["--all-targets"]).args(strict))?;
    steps.run("clippy xtask", place.cargo(["clippy", "--package", "xtask", "--all-targets"]).args(strict))?;
    steps.run("clippy roles", place.roles_cargo(["clippy", "--workspace", "--all-targets"]).args(strict))?;
    steps.run("clippy wasm", place.roles_cargo(["clippy", "--workspace", "--target", GUEST_TARGET]).args(strict))?;
    let kept = ["clippy", "--no-default-features", "--lib", "--tests"];
    steps.run("clippy fuzz", place.fuzz_cargo(kept).args(strict))
}

/// `cargo xtask bench`: every criterion benchmark, in the profile in which everything else is built.
///
/// # Errors
/// The first step that fails.
pub fn bench(place: &Place, steps: &mut Steps, forwarded: &[OsString]) -> Result<(), Failure> {
    setup::run(place, steps)?;
    roles::run(place, steps)?;
    build_host(place, steps)?;
    // `--bench *` leaves out the libraries' own test harnesses, which would not understand criterion's arguments.
    steps.run("bench", host(place, "bench", &["--profile", "dev", "--bench", "*"]).args(forwarded))
}

/// `cargo xtask hostile`: the hostile suite, measured. Its cases are tests too; what takes quiet and minutes is only here.
///
/// # Errors
/// The first step that fails; the suite fails when a bound was not kept.
pub fn hostile(place: &Place, steps: &mut Steps, forwarded: &[OsString]) -> Result<(), Failure> {
    setup::run(place, steps)?;
    roles::run(place, steps)?;
    build_host(place, steps)?;
    steps.run("hostile", Command::new(place.bin.join("hostile")).args(forwarded).current_dir(&place.root))
}

/// `cargo xtask schemas`: the published JSON Schemas, from the types; with `check`, only compared.
///
/// # Errors
/// The build fails, `brain` fails, or (with `check`) a schema is out of date, missing, or left over.
pub fn schemas(place: &Place, steps: &mut Steps, check: bool) -> Result<(), Failure> {
    build_host(place, steps)?;
    let published = place.root.join("schemas");
    let fresh = place.scratch("schemas");
    files::remove(&fresh)?;
    fs::create_dir_all(&fresh).map_err(|error| Failure::io("make the folder", &fresh, &error))?;
    let mut generate = Command::new(place.brain());
    generate.args([OsStr::new("schema"), OsStr::new("--out"), fresh.as_os_str()]).current_dir(&place.root);
    steps.run("schemas", &mut generate)?;
    let verb = if check { "compare with" } else { "write" };
    steps.work("publish", &format!("{verb} {}", published.display()), || {
        let (old, new) = (contents(&published)?, contents(&fresh)?);
        let differing = differing(&old, &new);
        if differing.is_empty() {
            return Ok(());
        }
        if check {
            return Err(
                Failure::new(format!("out of date: {}", differing.join(", "))).help("run `cargo xtask schemas`")
            );
        }
        files::copy_tree(&fresh, &published)?;
        for left_over in old.keys().filter(|name| !new.contains_key(*name)) {
            files::remove(&published.join(left_over))?;
        }
        eprintln!("    changed: {}", differing.join(", "));
        Ok(())
    })
}

/// `cargo xtask install`: `DIR/bin/brain`, and the roles in `DIR/bin/roles`, where `brain` looks first.
///
/// # Errors
/// The first step that fails.
pub fn install(place: &Place, steps: &mut Steps, prefix: &Path) -> Result<(), Failure> {
    setup::run(place, steps)?;
    roles::run(place, steps)?;
    build_host(place, steps)?;
    let into = prefix.join("bin");
    steps.work("install", &format!("brain and its roles into {}", into.display()), || {
        let brain = place.brain();
        files::copy_if_changed(&brain, &into.join(brain.file_name().unwrap_or_default()))?;
        // Roles of the destination that are not ours stay: an operator may have put them there.
        let count = files::copy_tree(&place.bin.join("roles"), &into.join("roles"))?;
        eprintln!("    {}, {count} file(s) of roles; put {} on PATH", brain.display(), into.display());
        Ok(())
    })
}

fn host(place: &Place, verb: &str, words: &[&str]) -> Command {
    place.cargo([verb].iter().chain(&HOST).chain(words))
}

fn explained(outcome: Result<(), Failure>, help: &str) -> Result<(), Failure> {
    outcome.map_err(|failure| failure.help(help))
}

/// Names and bytes of the JSON files of a folder; a folder that is not there has none.
fn contents(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let mut found = BTreeMap::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(found);
    };
    for entry in entries {
        let path = entry.map_err(|error| Failure::io("list", folder, &error))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let bytes = fs::read(&path).map_err(|error| Failure::io("read", &path, &error))?;
            found.insert(path.file_name().unwrap_or_default().to_string_lossy().into_owned(), bytes);
        }
    }
    Ok(found)
}

/// Names that only one side has, or whose bytes differ.
fn differing(old: &BTreeMap<String, Vec<u8>>, new: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    names.into_iter().filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schemas_of(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn changed_missing_and_left_over_schemas_differ() {
        let old = schemas_of(&[("same.json", "1"), ("changed.json", "1"), ("left-over.json", "1")]);
        let new = schemas_of(&[("same.json", "1"), ("changed.json", "2"), ("new.json", "1")]);
        assert_eq!(differing(&old, &new), ["changed.json", "left-over.json", "new.json"]);
        assert!(differing(&old, &old).is_empty());
    }

    #[test]
    fn only_json_files_count_as_schemas() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.json"), "{}").unwrap();
        fs::write(folder.path().join("README.md"), "text").unwrap();
        assert_eq!(contents(folder.path()).unwrap().into_keys().collect::<Vec<_>>(), ["a.json"]);
        assert!(contents(&folder.path().join("not there")).unwrap().is_empty());
    }

    #[test]
    fn every_build_of_the_host_selects_the_same_packages() {
        let place = Place::find().unwrap();
        for verb in ["build", "test", "clippy", "bench"] {
            let command = host(&place, verb, &["--x"]);
            let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
            assert_eq!(words, [verb, "--workspace", "--exclude", "xtask", "--x"]);
        }
    }
}
