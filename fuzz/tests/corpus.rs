//! Every input that is kept, through the function that it was kept for. No fuzzer is needed.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use brain_fuzz::TARGETS;

/// What the committed inputs of all targets may take together, in bytes.
const MOST_BYTES: u64 = 400 << 10;

fn place(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// The files of a folder in the order of their names; none where there is no such folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn names(folder: &str) -> BTreeSet<String> {
    files(&place(folder)).iter().map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_kept_input_passes() {
    let mut failed = Vec::new();
    for (name, check) in TARGETS {
        let seeds = files(&place("corpus").join(name));
        assert!(!seeds.is_empty(), "{name} has no corpus");
        for path in seeds.into_iter().chain(files(&place("regressions").join(name))) {
            let input = fs::read(&path).unwrap();
            if catch_unwind(|| check(&input)).is_err() {
                failed.push(path);
            }
        }
    }
    assert!(failed.is_empty(), "these inputs fail, the messages are above: {failed:#?}");
}

#[test]
fn every_target_has_a_binary_and_every_folder_a_target() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names("fuzz_targets"), targets);
    assert_eq!(names("corpus"), targets);
    for folder in ["regressions", "dictionaries"] {
        let unknown: Vec<_> = names(folder).difference(&targets).cloned().collect();
        assert!(unknown.is_empty(), "{folder} of no target: {unknown:?}");
    }
    let manifest = fs::read_to_string(place("Cargo.toml")).unwrap();
    for name in targets {
        assert!(manifest.contains(&format!("\nname = \"{name}\"\n")), "Cargo.toml has no [[bin]] {name}");
    }
}

#[test]
fn what_is_kept_stays_small() {
    let folders = ["corpus", "regressions"].map(place);
    let inputs = folders.iter().flat_map(|folder| files(folder)).flat_map(|folder| files(&folder));
    let bytes: u64 = inputs.map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(bytes <= MOST_BYTES, "{bytes} bytes are kept, the most is {MOST_BYTES}: minimise with `cargo fuzz cmin`");
}
