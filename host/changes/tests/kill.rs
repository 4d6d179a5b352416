//! A process that applies a set of forty files is killed at 200 points. What the next start finds becomes the old tree or
//! the new one, and nothing else.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use brain_changes::{
    ChangeSet, Contents, Intent, IntentId, IntentLog, MemoryLog, Outcome, Reached, Step, apply_watched, recover,
};
use common::{Model, Node, assert_same, between, file, folder, place, read_tree};

const POINTS: usize = 200;
/// Tells the child where its things are, and that it is one.
const CHILD: &str = "BRAIN_CHANGES_TEST_CHILD";
/// The step before which the child kills itself.
const KILL_AT: &str = "BRAIN_CHANGES_TEST_KILL_AT";

/// A log that outlives its process: a line for each record.
struct FileLog(PathBuf);

impl FileLog {
    fn line(&self, line: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.0)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_all()
    }

    fn open(&self) -> Option<(Intent, Reached)> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let mut open = None;
        for line in text.lines() {
            match line.split_once(' ').unwrap() {
                ("intent", json) => open = Some((serde_json::from_str(json).unwrap(), Reached::Intent)),
                ("commit", _) => open = open.map(|(intent, _)| (intent, Reached::Commit)),
                _ => open = None,
            }
        }
        open
    }
}

impl IntentLog for FileLog {
    fn intent(&mut self, intent: &Intent) -> io::Result<()> {
        self.line(&format!("intent {}", serde_json::to_string(intent)?))
    }

    fn commit(&mut self, id: &IntentId) -> io::Result<()> {
        self.line(&format!("commit {id}"))
    }

    fn end(&mut self, id: &IntentId, _: Outcome) -> io::Result<()> {
        self.line(&format!("end {id}"))
    }
}

/// What the child does: it announces each step on its standard output, and perhaps kills itself before one.
#[test]
fn child() {
    let Some(place) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let kill_at: Option<usize> = std::env::var(KILL_AT).ok().map(|step| step.parse().unwrap());
    let set = ChangeSet::from_json(&fs::read(place.join("set.json")).unwrap()).unwrap();
    let contents = Contents::open(place.join("contents")).unwrap();
    let mut log = FileLog(place.join("log"));
    let mut steps = 0;
    let mut watch = |_: Step<'_>| {
        if kill_at == Some(steps) {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
        steps += 1;
        io::stdout().write_all(b"step\n")?;
        io::stdout().flush()
    };
    let _ = apply_watched(&set, &place.join("tree"), &contents, &mut log, &mut watch).unwrap();
}

/// Forty files: changed, added in new folders, deleted with their folder, renamed, swapped, made executable; and some that
/// no change touches.
fn trees() -> (Model, Model, Vec<(String, String)>) {
    let (mut before, mut after) = (Model::new(), Model::new());
    let text = |n: usize, word: &str| format!("{word} {n}\n").repeat(n * 37 % 500 + 1);
    for name in ["src", "docs", "keep"] {
        for tree in [&mut before, &mut after] {
            tree.insert(name.into(), folder(0o755));
        }
    }
    before.insert("old".into(), folder(0o750));
    before.insert("old/deep".into(), folder(0o700));
    after.insert("new".into(), folder(0o755));
    after.insert("new/deep".into(), folder(0o755));
    for n in 0..12 {
        before.insert(format!("src/{n}.rs"), file(text(n, "old"), 0o644));
        after.insert(format!("src/{n}.rs"), file(text(n, "new"), if n % 4 == 0 { 0o755 } else { 0o644 }));
    }
    for n in 0..10 {
        after.insert(format!("new/{}{n}", if n % 2 == 0 { "deep/" } else { "" }), file(text(n, "added"), 0o644));
        before.insert(format!("old/{}{n}", if n % 2 == 0 { "deep/" } else { "" }), file(text(n, "gone"), 0o600));
    }
    let mut renames = Vec::new();
    for n in 0..6 {
        before.insert(format!("docs/{n}.md"), file(text(n, "moved"), 0o644));
        after.insert(format!("docs/{n}-moved.md"), file(text(n, if n % 2 == 0 { "moved" } else { "edited" }), 0o644));
        renames.push((format!("docs/{n}.md"), format!("docs/{n}-moved.md")));
    }
    for (a, b) in [("docs/a", "docs/b"), ("docs/b", "docs/a")] {
        before.insert(a.into(), file(a, 0o644));
        after.insert(a.into(), file(b, 0o644));
        renames.push((a.into(), b.into()));
    }
    // A file gives way to a folder, and a folder to a file.
    before.insert("turn".into(), file("a file", 0o644));
    after.insert("turn".into(), folder(0o755));
    after.insert("turn/in".into(), file("in a folder", 0o644));
    before.insert("back".into(), folder(0o755));
    before.insert("back/in".into(), file("in a folder", 0o644));
    after.insert("back".into(), file("a file", 0o644));
    for n in 0..5 {
        let kept = Node::File { bytes: vec![0xff; n], mode: 0o640 };
        before.insert(format!("keep/{n}"), kept.clone());
        after.insert(format!("keep/{n}"), kept);
    }
    (before, after, renames)
}

fn run_child(place: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child", "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, place).stdout(Stdio::piped());
    command.stderr(Stdio::null());
    command
}

#[test]
fn a_kill_at_200_points_leaves_the_old_tree_or_the_new_one() {
    let (before, after, renames) = trees();
    let total = {
        let place = place(&before);
        let set = between(&before, &after, &renames, &place.contents);
        assert!(set.changes.len() >= 40, "{}", set.changes.len());
        let mut steps = 0;
        let mut count = |_: Step<'_>| {
            steps += 1;
            Ok(())
        };
        let mut log = MemoryLog::default();
        let _ = apply_watched(&set, &place.root, &place.contents, &mut log, &mut count).unwrap();
        assert_same(&read_tree(&place.root), &after, "not killed");
        steps
    };
    let (mut old, mut new) = (0, 0);
    for point in 0..POINTS {
        let place = place(&before);
        let home = place.root.parent().unwrap();
        let set = between(&before, &after, &renames, &place.contents);
        fs::write(home.join("set.json"), set.to_json()).unwrap();
        let step = point * total / POINTS;
        let context = format!("killed at step {step} of {total}");
        // One half is killed exactly before a step, the other from outside, wherever it is by then.
        if point % 2 == 0 {
            let child = run_child(home).env(KILL_AT, step.to_string()).output().unwrap();
            assert!(!child.status.success(), "{context}");
        } else {
            let mut child = run_child(home).spawn().unwrap();
            // The pipe stays open: without a reader the child would see an error, and roll back.
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let steps = lines.by_ref().map(Result::unwrap).filter(|line| line.ends_with("step"));
            let announced = steps.take(step + 1).count();
            assert_eq!(announced, step + 1, "{context}");
            child.kill().unwrap();
            child.wait().unwrap();
            drop(lines);
        }
        let mut log = FileLog(home.join("log"));
        let contents = Contents::open(home.join("contents")).unwrap();
        let mut outcome = None;
        if let Some((intent, reached)) = log.open() {
            let recovered = recover(&intent, reached, &place.root, &contents, &mut log).unwrap();
            assert!(recovered.kept.is_empty() && recovered.left.is_empty(), "{context}: {recovered:?}");
            outcome = Some(recovered.outcome);
        }
        assert!(log.open().is_none(), "{context}");
        let found = read_tree(&place.root);
        if found == before {
            assert_ne!(outcome, Some(Outcome::Applied), "{context}");
            old += 1;
        } else {
            assert_ne!(outcome, Some(Outcome::RolledBack), "{context}");
            assert_same(&found, &after, &context);
            new += 1;
        }
    }
    assert!(old > POINTS / 10 && new > POINTS / 10, "{old} old and {new} new: the points are not spread");
}

#[test]
fn the_log_of_a_crash_is_read_as_it_was_written() {
    let dir = common::fast_dir();
    let mut log = FileLog(dir.path().join("log"));
    assert!(log.open().is_none());
    let json = format!(r#"{{"id":"0123456789abcdef","set":"{0}","plan":"{0}","files":1}}"#, "a".repeat(64));
    let intent: Intent = serde_json::from_str(&json).unwrap();
    log.intent(&intent).unwrap();
    assert_eq!(log.open(), Some((intent.clone(), Reached::Intent)));
    log.commit(&intent.id).unwrap();
    assert_eq!(log.open(), Some((intent.clone(), Reached::Commit)));
    log.end(&intent.id, Outcome::Applied).unwrap();
    assert_eq!(log.open(), None);
}
