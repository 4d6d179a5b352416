//! Roles that know nothing of Brain's file system, plain `std::fs` in Rust and plain stdio in C, held against the same
//! programs on the machine itself.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use brain_changes::{Change, ChangeKind, ChangeSet, Contents, Folder, MemoryLog, apply};
use brain_packet::TaskStatus;
use brain_sandbox::{CancelToken, Ended, GlobLayer, Run};
use brain_tests::proposed::{Tree, tree};
use brain_tests::{Bench, repository};

#[path = "../../guests/editor-rust/src/edit.rs"]
mod edit;
#[path = "../../guests/editor-rust/src/observe.rs"]
mod observe;
#[path = "../../guests/editor-rust/src/sample.rs"]
mod sample;

/// A guest, and its program on the machine itself, which gives its report.
struct Editor {
    name: &'static str,
    native: fn(verb: &str, root: &Path) -> String,
    /// What it observes as a guest where that is not what it observes natively, and why.
    otherwise: &'static [(&'static str, &'static str)],
    /// The same, for files that were in the project before only.
    otherwise_in_project: &'static [(&'static str, &'static str)],
}

const RUST: Editor = Editor {
    name: "editor-rust",
    native: rust,
    otherwise: &[
        ("std for WASI has no kind for ENOTEMPTY", "remove a folder that is not empty: error Uncategorized"),
        ("std for WASI has no kind for ENOTEMPTY", "rename a folder over a full one: error Uncategorized"),
        ("its libc reads at the end what is open for appending", "append and read: \"\""),
        ("WASI has no modes: nothing looks writable", "metadata: (true, false, 3, false, true, false, true)"),
    ],
    otherwise_in_project: &[],
};

const C: Editor = Editor {
    name: "editor-c",
    native: c,
    otherwise: &[
        ("its libc has no folders to read from", "read a folder: EBADF"),
        ("its libc looks for a preopen, and finds none", "an empty path: ENOTCAPABLE"),
        ("no role makes links", "links: EINVAL ENOENT EPERM EPERM ENOENT ENOENT"),
        (
            "an open folder is known by its path, and does not follow a rename",
            "renamed folder while open: ok 0 ENOENT EBADF ENOENT ENOENT ENOENT",
        ),
        (
            "an open folder is known by its path, also where that is a new one",
            "removed folder while open: ok 0 ok ok 0 1",
        ),
    ],
    otherwise_in_project: &[],
};

fn rust(verb: &str, root: &Path) -> String {
    match verb {
        "edit" => {
            edit::edit(root).unwrap();
            edit::listing(root).unwrap()
        }
        "observe" => observe::observe(root),
        _ => panic!("{verb}"),
    }
}

/// Compiled by the C compiler that links Rust's programs too.
fn c(verb: &str, root: &Path) -> String {
    let sources = repository().join("tests/guests/editor-c");
    let built = tempfile::tempdir().unwrap();
    let program = built.path().join("editor");
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let files = ["edit.c", "editor.c", "observe.c", "text.c", "native/main.c"].map(|file| sources.join(file));
    let compiled = Command::new(cc).args(["-std=gnu17", "-w", "-o"]).arg(&program).args(files).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(program).arg(verb).arg(root).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    String::from_utf8(ran.stdout).unwrap().trim_end().to_owned()
}

/// The report of a run that did what it was asked.
#[track_caller]
fn report(run: &Run) -> &str {
    assert_eq!(run.ended, Ended::Returned, "{}", run.ended.message());
    assert_eq!(run.result.progress.status, TaskStatus::Completed, "{}", run.result.summary);
    &run.result.summary
}

/// What is granted of the workspace, beside all of it to read.
#[derive(Clone, Copy, PartialEq)]
enum Grant {
    Read,
    Write,
}

/// Where the contents are of what a role proposes.
fn contents(bench: &Bench) -> PathBuf {
    bench.private.path().join("contents")
}

/// The sample tree, edited natively.
fn edited(editor: &Editor) -> (tempfile::TempDir, String) {
    let twin = tempfile::tempdir().unwrap();
    sample::lay_out(twin.path()).unwrap();
    let report = (editor.native)("edit", twin.path());
    (twin, report)
}

/// What a program left in a tree: contents, and what the owner may do with them. What others may do with a new file is the
/// umask's choice natively, and follows from its folder in a change set.
fn left_in(root: &Path) -> Tree {
    tree(root).into_iter().map(|(path, (contents, mode))| (path, (contents, mode & 0o700))).collect()
}

/// What tells whether anything happened in a tree: contents, and what changes with them.
fn traces(root: &Path) -> BTreeMap<PathBuf, (u64, u32, [i64; 4], Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(path) = todo.pop() {
        let is = fs::symlink_metadata(&path).unwrap();
        let contents = if is.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        if is.is_dir() {
            todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path, (is.ino(), is.mode(), [is.mtime(), is.mtime_nsec(), is.ctime(), is.ctime_nsec()], contents));
    }
    found
}

/// Calls the editor, and holds the real tree against what it was, over and over until the call has ended and once after.
fn run_watched(bench: &Bench, editor: &Editor, grant: Grant, goal: &str) -> Run {
    let root = bench.workspace.path();
    let before = traces(root);
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let (looked, first_look) = mpsc::channel();
        let watcher = scope.spawn(|| {
            let looked = looked;
            loop {
                let last = ended.load(Ordering::Acquire);
                assert_eq!(traces(root), before, "{}: the real tree changed", editor.name);
                let _ = looked.send(());
                if last {
                    break;
                }
            }
        });
        first_look.recv().unwrap();
        let run = bench.run_with(&bench.load(editor.name), goal, CancelToken::default(), |files, _| {
            files.contents = Some(contents(bench));
            if grant == Grant::Write {
                files.workspace.as_mut().unwrap().write = vec![GlobLayer::new("manifest", ["**"])];
            }
        });
        ended.store(true, Ordering::Release);
        watcher.join().unwrap();
        run
    })
}

/// What every editor proposes: kind, path, and where a file was before.
const CHANGES: [(ChangeKind, &str, Option<&str>); 21] = [
    (ChangeKind::Added, "README.copy.md", None),
    (ChangeKind::Renamed, "archive/2026/mail.txt", Some("inbox/mail.txt")),
    (ChangeKind::Deleted, "build/deep/x.o", None),
    (ChangeKind::Deleted, "build/out.o", None),
    (ChangeKind::Modified, "data/big.bin", None),
    (ChangeKind::Modified, "data/long.bin", None),
    (ChangeKind::Modified, "data/record.bin", None),
    (ChangeKind::Modified, "data/short.bin", None),
    (ChangeKind::Renamed, "docs/final.txt", Some("docs/draft.txt")),
    (ChangeKind::Modified, "left.txt", None),
    (ChangeKind::Renamed, "library/in/two.txt", Some("lib/in/two.txt")),
    (ChangeKind::Renamed, "library/one.txt", Some("lib/one.txt")),
    (ChangeKind::Modified, "log/edits.log", None),
    (ChangeKind::Added, "made/deep/tree/new.txt", None),
    (ChangeKind::Modified, "notes/a.txt", None),
    (ChangeKind::Modified, "notes/deep/b.txt", None),
    (ChangeKind::Modified, "replaced.txt", None),
    (ChangeKind::Modified, "right.txt", None),
    (ChangeKind::Modified, "run.sh", None),
    (ChangeKind::Modified, "settings.toml", None),
    (ChangeKind::Deleted, "trash.txt", None),
];

#[track_caller]
fn assert_changes(set: &ChangeSet) {
    let changes: Vec<_> = set.changes.iter().map(|c| (c.kind, c.path.as_str(), c.from.as_deref())).collect();
    assert_eq!(changes, CHANGES);
    let paths = |folders: &[Folder]| folders.iter().map(|folder| folder.path.clone()).collect::<Vec<_>>();
    let added =
        ["archive", "archive/2026", "library", "library/in", "made", "made/deep", "made/deep/tree", "made/empty"];
    assert_eq!(paths(&set.folders_added), added);
    assert_eq!(paths(&set.folders_removed), ["build", "build/deep", "build/empty", "lib", "lib/in"]);
    let of = |path: &str| -> &Change { set.changes.iter().find(|change| change.path == path).unwrap() };
    assert_eq!(of("settings.toml").diff.as_deref(), Some("@@ -1,2 +1,2 @@\n [app]\n-debug = true\n+debug = false\n"));
    assert_eq!((of("run.sh").base_mode, of("run.sh").mode), (Some(0o755), Some(0o755)));
    assert_eq!(
        (of("library/one.txt").base.clone(), of("library/one.txt").base_bytes),
        (of("library/one.txt").new.clone(), 4)
    );
    assert!(of("library/in/two.txt").base != of("library/in/two.txt").new, "a file that moved may change too");
    assert!(!of("data/big.bin").text && of("data/big.bin").new_bytes == 300_003);
}

#[track_caller]
fn assert_edits_through_the_overlay(editor: &Editor) {
    let bench = Bench::new();
    let root = bench.workspace.path();
    sample::lay_out(root).unwrap();
    let (twin, expected) = edited(editor);

    let run = run_watched(&bench, editor, Grant::Write, "edit /workspace");
    assert_eq!(report(&run), expected, "{}: the role sees what it wrote", editor.name);
    assert!(run.receipt.files.denied.is_empty(), "{:?}", run.receipt.files.denied);
    assert_changes(&run.changes);

    let original = tree(root);
    let contents = Contents::open(contents(&bench)).unwrap();
    let applied = apply(&run.changes, root, &contents, &mut MemoryLog::default()).unwrap();
    assert_eq!(left_in(root), left_in(twin.path()), "{}: as if it had run here", editor.name);
    let undone = apply(&applied.undo, root, &contents, &mut MemoryLog::default()).unwrap();
    assert_eq!((undone.kept, undone.folders_left), (Vec::new(), Vec::new()));
    assert_eq!(tree(root), original, "{}: as if it had not run", editor.name);
}

#[test]
fn a_role_written_against_std_fs_edits_through_the_overlay() {
    assert_edits_through_the_overlay(&RUST);
}

#[test]
fn a_role_written_against_stdio_edits_through_the_overlay() {
    assert_edits_through_the_overlay(&C);
}

/// As many as an editor has at most.
const EXPERIMENTS: usize = 60;

/// Line by line, since a line is an experiment.
#[track_caller]
fn assert_observes_what_is_native(
    editor: &Editor,
    bench: &Bench,
    goal: &str,
    native: &str,
    otherwise: &[&[(&str, &str)]],
) -> Run {
    let run = run_watched(bench, editor, Grant::Write, goal);
    let seen = report(&run);
    assert_eq!(seen.lines().count(), native.lines().count(), "{seen}");
    let mut wrong = Vec::new();
    for (seen, native) in seen.lines().zip(native.lines()) {
        let experiment = native.split(": ").next().unwrap();
        let mut otherwise = otherwise.iter().copied().flatten();
        let expected = otherwise.find(|(_, line)| line.starts_with(&format!("{experiment}: ")));
        let expected = expected.map_or(native, |(_, line)| line);
        if seen != expected {
            wrong.push(format!("{goal}: saw\n  {seen}\nand not\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", editor.name, wrong.join("\n"));
    run
}

#[test]
fn what_a_role_observes_in_its_own_files_is_what_a_native_program_does() {
    for editor in [RUST, C] {
        let twin = tempfile::tempdir().unwrap();
        let native = (editor.native)("observe", twin.path());
        assert_observes_what_is_native(&editor, &Bench::new(), "observe /artifacts", &native, &[editor.otherwise]);
        let run =
            assert_observes_what_is_native(&editor, &Bench::new(), "observe /workspace", &native, &[editor.otherwise]);
        assert!(run.changes.changes.iter().all(|change| change.kind == ChangeKind::Added), "{:?}", run.changes);
    }
}

#[test]
fn what_a_role_observes_in_files_of_the_project_is_what_a_native_program_does() {
    for editor in [RUST, C] {
        let (bench, twin) = (Bench::new(), tempfile::tempdir().unwrap());
        for root in [bench.workspace.path(), twin.path()] {
            sample::lay_out_experiments(root, EXPERIMENTS).unwrap();
        }
        let native = (editor.native)("observe", twin.path());
        assert!(native.lines().count() <= EXPERIMENTS);
        let otherwise = [editor.otherwise, editor.otherwise_in_project];
        let run = assert_observes_what_is_native(&editor, &bench, "observe /workspace", &native, &otherwise);
        assert!(run.changes.changes.iter().any(|change| change.kind != ChangeKind::Added), "{:?}", run.changes);
    }
}

#[test]
fn without_a_write_grant_an_editor_is_told_so_by_its_own_library() {
    for (editor, says) in [(RUST, "Read-only file system"), (C, "Read-only file system")] {
        let bench = Bench::new();
        sample::lay_out(bench.workspace.path()).unwrap();
        let run = run_watched(&bench, &editor, Grant::Read, "edit /workspace");
        assert_eq!(run.result.progress.status, TaskStatus::Failed);
        assert!(run.result.summary.starts_with("replace a word: "), "{}", run.result.summary);
        assert!(run.result.summary.contains(says), "{}", run.result.summary);
        assert!(run.changes.is_empty());
    }
}
