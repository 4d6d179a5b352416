//! The sample repository's pending change: every fault that was planted for this role is found where it was planted.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};

use brain_role::Verdict;
use common::{Change, told, verdict};

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/sample")
}

/// Paths of the files below a folder, relative to it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The change as git would show it.
fn pending() -> Change {
    let (base, over) = (sample().join("base"), sample().join("change"));
    let mut change = Change::new();
    for path in files(&base).iter().filter(|path| !over.join(path).exists()) {
        change = change.there(path, &std::fs::read_to_string(base.join(path)).unwrap());
    }
    for path in files(&over) {
        let new = std::fs::read_to_string(over.join(&path)).unwrap();
        change = match std::fs::read_to_string(base.join(&path)) {
            Ok(old) => change.edit(&path, &old, &new),
            Err(_) => change.add(&path, &new),
        };
    }
    change
}

fn planted() -> toml::Table {
    std::fs::read_to_string(sample().join("planted.toml")).unwrap().parse().unwrap()
}

#[test]
fn the_planted_faults_are_found() {
    let result = pending().review();
    let told = told(&result);
    let planted = planted();
    let faults = planted["fault"].as_array().unwrap().iter().filter(|fault| fault["role"].as_str() == Some("review"));
    let expected: Vec<String> = faults
        .map(|fault| {
            format!(
                "{} {}:{} {}",
                fault["rule"].as_str().unwrap(),
                fault["file"].as_str().unwrap(),
                fault["line"].as_integer().unwrap(),
                fault["severity"].as_str().unwrap()
            )
        })
        .collect();
    assert!(expected.len() >= 5, "{expected:?}");
    let missing: Vec<&String> = expected.iter().filter(|line| !told.contains(line)).collect();
    assert!(missing.is_empty(), "missing {missing:#?} in {told:#?}");
    assert_eq!(verdict(&result), Verdict::ChangesRequested);
    assert!(result.review.unwrap().coverage.iter().all(|entry| entry.reason.is_none()));
}

#[test]
fn every_planted_fault_is_in_the_tree() {
    for fault in planted()["fault"].as_array().unwrap() {
        let file = fault["file"].as_str().unwrap();
        let over = sample().join("change").join(file);
        let path = if over.exists() { over } else { sample().join("base").join(file) };
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let line = fault["line"].as_integer().unwrap();
        assert!(text.lines().nth(line as usize - 1).is_some_and(|text| !text.trim().is_empty()), "{fault:?}");
        assert!(fault["what"].as_str().is_some() && fault["id"].as_str().is_some());
    }
}
