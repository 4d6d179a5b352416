//! A scratch checkout is the working tree with the change in it, and the working tree stays as it is.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use brain_changes::{ChangeSet, Contents};
use brain_checks::{Scratch, ScratchError, ScratchLimits, sweep};
use common::{Project, state};

fn limits() -> ScratchLimits {
    ScratchLimits::default()
}

#[test]
fn what_git_would_not_ignore_is_copied_with_its_mode_and_nothing_else() {
    let project = Project::new(&[
        (".gitignore", "*.log\n/build\ntracked.bin\n"),
        (".git/config", "[core]\n"),
        (".brain/brain.toml", ""),
        ("fixtures/.brain/brain.toml", ""),
        (".ignore", "src\n"),
        (".hidden", "h"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/deep/.gitignore", "x\n"),
        ("src/deep/x", "ignored"),
        ("run.sh", "#!/bin/sh\n"),
        ("a.log", "ignored"),
        ("build/out", "ignored"),
        ("tracked.bin", "tracked all the same"),
        ("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
        ("cache/much", "m"),
    ]);
    fs::set_permissions(project.root.join("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::create_dir(project.root.join("empty")).unwrap();
    fs::set_permissions(project.root.join("empty"), fs::Permissions::from_mode(0o555)).unwrap();
    let before = project.state();
    let scratch = project.try_scratch(&ChangeSet::default(), &["tracked.bin", "not/there"], &limits()).unwrap();
    let copy = state(scratch.root());
    let names: Vec<&str> = copy.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            ".gitignore",
            ".hidden",
            ".ignore",
            "empty",
            "fixtures",
            "fixtures/.brain",
            "fixtures/.brain/brain.toml",
            "run.sh",
            "src",
            "src/deep",
            "src/deep/.gitignore",
            "src/main.rs",
            "tracked.bin",
        ]
    );
    for (path, now) in &copy {
        assert_eq!(now, &before[path], "{}", path.display());
    }
    // No file is one with the project's.
    for path in [".hidden", "run.sh", "tracked.bin"] {
        let of = |root: &Path| fs::metadata(root.join(path)).unwrap().ino();
        assert_ne!(of(scratch.root()), of(&project.root), "{path}");
    }
    assert_eq!(scratch.files(), names.len() as u64);
    let notes = scratch.notes().join("\n");
    assert!(notes.contains("no git repository") && notes.contains("`cache` is not in the copy"), "{notes}");
    let place = scratch.root().parent().unwrap().to_owned();
    drop(scratch);
    assert!(!place.exists());
    assert_eq!(project.state(), before);
}

#[test]
fn a_change_is_made_in_the_copy_alone() {
    let project = Project::new(&[
        (".gitignore", "*.gen\n"),
        ("a", "old\n"),
        ("gone", "g\n"),
        ("code.gen", "ignored, and changed\n"),
    ]);
    let before = project.state();
    let set =
        project.change(&[("a", Some("new\n")), ("gone", None), ("sub/new", Some("n\n")), ("code.gen", Some("c\n"))]);
    let scratch = project.scratch(&set);
    let read = |path| fs::read_to_string(scratch.root().join(path)).unwrap();
    assert_eq!((read("a"), read("sub/new"), read("code.gen")), ("new\n".into(), "n\n".into(), "c\n".into()));
    assert!(!scratch.root().join("gone").exists());
    assert_eq!(project.state(), before);

    // A tree that has gone on is told, and leaves nothing.
    project.write("a", "somebody else's\n");
    let error = project.try_scratch(&set, &[], &limits()).unwrap_err();
    assert!(matches!(error, ScratchError::Apply { .. }), "{error}");
    assert_eq!(miette::Diagnostic::code(&error).unwrap().to_string(), "checks.scratch.apply");
}

#[test]
fn links_that_stay_inside_are_kept_and_others_are_named() {
    let project = Project::new(&[("a", "a"), ("d/e/f", "f")]);
    project.link("in", "a");
    project.link("d/e/up", "../../a");
    project.link("folder", "d/e");
    project.link("dangling", "not/there");
    project.link("out", "../secret");
    project.link("absolute", project.root.join("a"));
    project.link("tricky", "folder/../../a");
    let scratch = project.scratch(&ChangeSet::default());
    let target = |path| fs::read_link(scratch.root().join(path)).ok().map(|path| path.display().to_string());
    assert_eq!(target("in").as_deref(), Some("a"));
    assert_eq!(target("d/e/up").as_deref(), Some("../../a"));
    assert_eq!(target("folder").as_deref(), Some("d/e"));
    assert_eq!(target("dangling").as_deref(), Some("not/there"));
    assert_eq!(target("tricky").as_deref(), Some("folder/../../a"));
    assert_eq!(fs::read_to_string(scratch.root().join("tricky")).unwrap(), "a");
    assert_eq!((target("out"), target("absolute")), (None, None));
    let notes = scratch.notes().join("\n");
    assert!(notes.contains("`out` is not in the copy") && notes.contains("`absolute` is not in the copy"), "{notes}");
}

#[test]
fn what_is_no_file_is_named_and_never_opened() {
    let project = Project::new(&[("a", "a")]);
    let fifo = project.root.join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let _socket = UnixListener::bind(project.root.join("socket")).unwrap();
    let scratch = project.scratch(&ChangeSet::default());
    let notes = scratch.notes().join("\n");
    assert!(notes.contains("`fifo`") && notes.contains("`socket`"), "{notes}");
    assert_eq!(state(scratch.root()).len(), 1);
}

#[test]
fn dependencies_are_there_by_links_and_what_tools_write_beside_them_stays_in_the_copy() {
    let project = Project::new(&[
        (".gitignore", "node_modules\n.venv\nvendor\n"),
        ("package.json", "{}"),
        ("packages/b/index.js", "old\n"),
        ("node_modules/left/index.js", "left\n"),
        ("node_modules/.cache/x", "old cache\n"),
        ("node_modules/@scope/c/index.js", "c\n"),
        ("packages/b/node_modules/inner/index.js", "inner\n"),
        (".venv/pyvenv.cfg", ""),
        ("vendor/lib.go", "v\n"),
        ("other/vendor/lib.go", "o\n"),
    ]);
    project.link("node_modules/b", "../packages/b");
    project.link("node_modules/@scope/b", "../../packages/b");
    project.link("node_modules/.bin/left", "../left/index.js");
    let before = project.state();
    let set = project.change(&[("packages/b/index.js", Some("new\n"))]);
    let scratch = project.scratch(&set);
    let read = |path: &str| fs::read_to_string(scratch.root().join(path)).unwrap();
    assert_eq!(read("node_modules/left/index.js"), "left\n");
    assert_eq!(read("node_modules/@scope/c/index.js"), "c\n");
    assert_eq!(read("node_modules/.bin/left"), "left\n");
    assert_eq!(read("packages/b/node_modules/inner/index.js"), "inner\n");
    assert_eq!(read("vendor/lib.go"), "v\n");
    // A package of the project itself is the changed one.
    assert_eq!(read("node_modules/b/index.js"), "new\n");
    assert_eq!(read("node_modules/@scope/b/index.js"), "new\n");
    assert!(scratch.root().join(".venv/pyvenv.cfg").exists());
    assert!(!scratch.root().join("node_modules/.cache").exists());
    fs::create_dir(scratch.root().join("node_modules/.cache")).unwrap();
    fs::write(scratch.root().join("node_modules/.cache/x"), "new cache\n").unwrap();
    let linked: BTreeSet<&str> = scratch.linked().iter().map(String::as_str).collect();
    let all = [".venv", "node_modules", "other/vendor", "packages/b/node_modules", "vendor"];
    assert_eq!(linked, all.into_iter().collect());
    assert!(scratch.notes().join("\n").contains("through links: "), "{:?}", scratch.notes());
    // Removing the copy removes no dependency.
    drop(scratch);
    assert_eq!(project.state(), before);
}

#[test]
fn a_vendor_folder_that_is_in_git_is_source_as_any_other() {
    let project = Project::new(&[("vendor/lib.go", "v\n"), ("venv/notes.txt", "no environment\n")]);
    let scratch = project.scratch(&ChangeSet::default());
    assert!(scratch.linked().is_empty(), "{:?}", scratch.linked());
    assert_eq!(state(scratch.root()), project.state());
}

#[test]
fn a_copy_is_bounded_in_files_bytes_and_time_and_can_be_stopped() {
    let project = Project::new(&[("a", "aaaa"), ("b", "bbbb"), ("c", "cccc")]);
    let with = |limits: ScratchLimits| project.try_scratch(&ChangeSet::default(), &[], &limits);
    drop(with(ScratchLimits { files: 3, bytes: 12, ..limits() }).unwrap());
    let files = with(ScratchLimits { files: 2, ..limits() }).unwrap_err();
    assert!(matches!(files, ScratchError::TooLarge { what: "files", limit: 2 }), "{files}");
    let bytes = with(ScratchLimits { bytes: 11, ..limits() }).unwrap_err();
    assert!(matches!(bytes, ScratchError::TooLarge { what: "bytes", limit: 11 }), "{bytes}");
    let time = with(ScratchLimits { time: Duration::ZERO, ..limits() }).unwrap_err();
    assert!(matches!(time, ScratchError::TooSlow { .. }), "{time}");
    let (set, also) = (ChangeSet::default(), BTreeSet::new());
    let stopped = Scratch::new(&project.root, &project.cache, &set, &project.contents, &also, &limits(), &|| true);
    assert!(matches!(stopped.unwrap_err(), ScratchError::Cancelled));
    // Nothing but locks is left.
    let left: Vec<_> = fs::read_dir(project.cache.join("trees")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().all(|path| path.extension().is_some_and(|extension| extension == "lock")), "{left:?}");
}

#[test]
fn copies_at_once_are_apart_and_the_cache_in_the_project_is_not_copied() {
    let mut project = Project::new(&[("a", "a")]);
    project.cache = project.root.join("brain-cache");
    let first = project.scratch(&ChangeSet::default());
    let second = project.scratch(&ChangeSet::default());
    assert_ne!(first.root(), second.root());
    assert_eq!(first.cargo_target(), second.cargo_target());
    assert!(!first.cargo_target().starts_with(project.root.join("target")));
    assert_eq!(state(second.root()).into_keys().collect::<Vec<_>>(), [Path::new("a")]);
    // A place is used again, by the same path.
    let path = first.root().to_owned();
    drop(first);
    assert_eq!(project.scratch(&ChangeSet::default()).root(), path);
}

#[test]
fn what_a_killed_process_left_is_swept_and_what_is_in_use_is_not() {
    let project = Project::new(&[("a", "a")]);
    let used = project.scratch(&ChangeSet::default());
    let left = project.scratch(&ChangeSet::default());
    let place = left.root().parent().unwrap().to_owned();
    drop(left);
    // As after a kill: the tree is there, and nobody holds its lock. What is in it resists.
    fs::create_dir_all(place.join("tree/locked/inner")).unwrap();
    fs::write(place.join("tree/locked/file"), "").unwrap();
    fs::set_permissions(place.join("tree/locked"), fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(sweep(&project.cache), 1);
    assert!(!place.exists());
    assert!(used.root().join("a").exists());
    assert_eq!(sweep(&project.cache), 0);
}

/// Tells the child which project it makes a copy of.
const CHILD: &str = "CHECKS_TEST_CHILD";

#[test]
fn a_copy_outlives_a_killed_process_until_the_next_sweep() {
    if let Some(root) = std::env::var_os(CHILD) {
        let place = Path::new(&root).parent().unwrap();
        let contents = Contents::open(place.join("contents")).unwrap();
        let (set, also, cache) = (ChangeSet::default(), BTreeSet::new(), place.join("cache"));
        let scratch = Scratch::new(Path::new(&root), &cache, &set, &contents, &also, &limits(), &|| false).unwrap();
        println!("\ncopy {}", scratch.root().display());
        // Until it is killed.
        std::io::stdin().read_line(&mut String::new()).unwrap();
        return;
    }
    let project = Project::new(&[("a", "a")]);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_copy_outlives_a_killed_process_until_the_next_sweep", "--nocapture"])
        .env(CHILD, &project.root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let tree = lines.find_map(|line| line.strip_prefix("copy ").map(PathBuf::from)).unwrap();
    assert_eq!(sweep(&project.cache), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(tree.join("a").exists());
    assert_eq!(sweep(&project.cache), 1);
    assert!(!tree.exists());
}

#[test]
fn a_build_cache_that_was_not_used_for_long_is_swept_unless_somebody_is_at_work() {
    let project = Project::new(&[("a", "a")]);
    let scratch = project.scratch(&ChangeSet::default());
    let target = scratch.cargo_target().to_owned();
    fs::write(target.join("built"), "").unwrap();
    let age = || {
        let then = std::time::SystemTime::now() - (brain_checks::scratch::TARGET_KEPT + Duration::from_mins(1));
        fs::File::open(&target).unwrap().set_modified(then).unwrap();
    };
    age();
    assert_eq!(sweep(&project.cache), 0);
    drop(scratch);
    assert!(target.join("built").exists());
    age();
    assert_eq!(sweep(&project.cache), 1);
    assert!(!target.exists());
}
