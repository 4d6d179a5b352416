//! The compile cache: a second start compiles nothing, and whatever is wrong with an entry makes it a miss.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use brain_sandbox::{Ended, Sandbox, SandboxConfig};
use brain_tests::components::with_custom_section;
use brain_tests::{Bench, guest};

fn sandbox(cache: &Path) -> Sandbox {
    Sandbox::new(SandboxConfig { cache_dir: Some(cache.into()), ..SandboxConfig::default() }).unwrap()
}

/// Loads `component` in a sandbox of its own and runs it; how many were compiled.
#[track_caller]
fn compilations(cache: &Path, component: &[u8]) -> u64 {
    let bench = Bench::new();
    let sandbox = sandbox(cache);
    let role = sandbox.load(&"noop".parse().unwrap(), component).unwrap();
    assert_eq!(bench.run(&role, "anything").ended, Ended::Returned);
    sandbox.compilations()
}

fn entries(cache: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// A cache with the entry of one component.
fn filled() -> (tempfile::TempDir, Vec<u8>, PathBuf) {
    let cache = tempfile::tempdir().unwrap();
    let component = guest("noop");
    assert_eq!(compilations(cache.path(), &component), 1);
    let [entry] = entries(cache.path()).try_into().unwrap();
    (cache, component, entry)
}

#[test]
fn the_second_start_compiles_nothing() {
    let (cache, component, entry) = filled();
    let before = fs::metadata(&entry).unwrap().modified().unwrap();
    assert_eq!(compilations(cache.path(), &component), 0);
    assert_eq!(fs::metadata(&entry).unwrap().modified().unwrap(), before, "an entry is never rewritten");
    assert_eq!(compilations(cache.path(), &with_custom_section(&component, "other")), 1, "other bytes, other role");
    assert_eq!(entries(cache.path()).len(), 2);
}

#[test]
fn without_a_cache_folder_every_load_compiles() {
    let sandbox = Sandbox::new(SandboxConfig::default()).unwrap();
    let component = guest("noop");
    for n in 1..=2 {
        sandbox.load(&"noop".parse().unwrap(), &component).unwrap();
        assert_eq!(sandbox.compilations(), n);
    }
}

#[test]
fn entries_and_their_folder_are_the_operators_alone() {
    let home = tempfile::tempdir().unwrap();
    let cache = home.path().join("cache/compiled");
    compilations(&cache, &guest("noop"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&cache), 0o700);
    let entries = entries(&cache);
    assert_eq!(entries.len(), 1, "no temporary file is left: {entries:?}");
    assert_eq!(mode(&entries[0]), 0o600);
    let name = entries[0].file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with(brain_sandbox::Digest::of(&guest("noop")).as_str()) && name.ends_with(".cwasm"), "{name}");
}

#[test]
fn a_damaged_entry_is_a_miss_and_is_replaced() {
    let (cache, component, entry) = filled();
    let whole = fs::read(&entry).unwrap();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let damaged = [
        Vec::new(),
        vec![0; 16],
        whole[..32].to_vec(),
        whole[..whole.len() / 2].to_vec(),
        whole[..whole.len() - 1].to_vec(),
        [whole.as_slice(), b"x"].concat(),
        flipped(0),
        flipped(31),
        flipped(40),
        flipped(whole.len() / 2),
        flipped(whole.len() - 1),
        component.clone(),
    ];
    for (n, bytes) in damaged.into_iter().enumerate() {
        fs::write(&entry, bytes).unwrap();
        assert_eq!(compilations(cache.path(), &component), 1, "damage {n}");
        assert_eq!(compilations(cache.path(), &component), 0, "damage {n} was repaired");
    }
}

#[test]
fn the_entry_of_another_component_is_damage_too() {
    let (cache, component, entry) = filled();
    let misbehave = guest("misbehave");
    let bench = Bench::new();
    let foreign = sandbox(cache.path());
    foreign.load(&"misbehave".parse().unwrap(), &misbehave).unwrap();
    let other = entries(cache.path()).into_iter().find(|path| *path != entry).unwrap();
    fs::copy(&other, &entry).unwrap();
    let sandbox = sandbox(cache.path());
    let role = sandbox.load(&"noop".parse().unwrap(), &component).unwrap();
    assert_eq!(sandbox.compilations(), 1);
    assert_eq!(bench.run(&role, "trap").result.summary, "nothing to do", "it is noop that ran");
}

#[test]
fn an_entry_that_others_may_write_or_that_is_no_file_is_a_miss() {
    let (cache, component, entry) = filled();
    for mode in [0o620, 0o602, 0o666] {
        fs::set_permissions(&entry, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(compilations(cache.path(), &component), 1, "{mode:o}");
        assert_eq!(fs::metadata(&entry).unwrap().permissions().mode() & 0o777, 0o600, "{mode:o} was repaired");
    }
    // A link to a good entry is no entry.
    let aside = cache.path().join("aside");
    fs::rename(&entry, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &entry).unwrap();
    assert_eq!(compilations(cache.path(), &component), 1);
    assert!(fs::symlink_metadata(&entry).unwrap().is_file());
    // A folder in its place cannot be replaced; the role runs all the same.
    fs::remove_file(&entry).unwrap();
    fs::create_dir(&entry).unwrap();
    assert_eq!(compilations(cache.path(), &component), 1);
}

#[test]
fn an_entry_of_another_owner_is_a_miss() {
    let (cache, component, entry) = filled();
    if std::os::unix::fs::chown(&entry, Some(65534), None).is_err() {
        eprintln!("not shown: only root may give a file away, so no such entry can be made here");
        return;
    }
    assert_eq!(compilations(cache.path(), &component), 1);
}

#[test]
fn a_cache_folder_that_cannot_be_made_stops_nothing() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "in the way").unwrap();
    for folder in [file.join("cache"), file.clone(), PathBuf::from("/proc/self/cache"), PathBuf::from("/dev/null")] {
        assert_eq!(compilations(&folder, &guest("noop")), 1, "{}", folder.display());
    }
    assert_eq!(fs::read(&file).unwrap(), b"in the way");
}

#[test]
fn loads_at_once_all_work_and_leave_one_whole_entry() {
    let cache = tempfile::tempdir().unwrap();
    let component = guest("noop");
    std::thread::scope(|threads| {
        for _ in 0..4 {
            // A sandbox each, as processes have one each.
            threads.spawn(|| compilations(cache.path(), &component));
        }
    });
    assert_eq!(entries(cache.path()).len(), 1);
    assert_eq!(compilations(cache.path(), &component), 0);
}
