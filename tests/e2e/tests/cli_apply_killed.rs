//! `brain apply` and `brain undo` are killed at any moment: after the next start the tree is all old or all new.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use brain_changes::{Builder, Side};
use brain_tests::cli::Brain;
use brain_tests::proposed::{Tree, tree};

/// How often it is killed.
const KILLS: usize = 200;
/// Files of each kind of change.
const FILES: usize = 8;

fn old(n: usize) -> Vec<u8> {
    "line\n".repeat(n * 40 + 1).into_bytes()
}

fn new(n: usize) -> Vec<u8> {
    [old(n), format!("more {n}\n").into_bytes()].concat()
}

/// Lays out the tree that the proposal starts from.
fn lay_out(root: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let write = |path: String, content: &[u8], mode: u32| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for n in 0..FILES {
        write(format!("src/modified{n}.txt"), &old(n), 0o644);
        write(format!("src/deep/er/deleted{n}.txt"), &old(n), 0o600);
        write(format!("from{n}.txt"), &old(n), 0o640);
        write(format!("mode{n}.sh"), &old(n), 0o644);
        write(format!("kept/{n}.txt"), &old(n), 0o604);
    }
    for folder in ["src", "src/deep", "src/deep/er"] {
        std::fs::set_permissions(root.join(folder), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn propose(builder: &mut Builder<'_>) {
    fn side(content: &[u8], mode: u32) -> Side<'_> {
        Side::new(mode, content)
    }
    for folder in ["made", "made/to", "made/to/order"] {
        builder.folder_added(folder, 0o750).unwrap();
    }
    for folder in ["src/deep", "src/deep/er"] {
        builder.folder_removed(folder, 0o755).unwrap();
    }
    for n in 0..FILES {
        let (old, new) = (old(n), new(n));
        builder.added(format!("made/to/order/{n}.txt"), side(&new, 0o644)).unwrap();
        builder.modified(format!("src/modified{n}.txt"), side(&old, 0o644), side(&new, 0o644)).unwrap();
        builder.deleted(format!("src/deep/er/deleted{n}.txt"), side(&old, 0o600)).unwrap();
        builder.renamed(format!("from{n}.txt"), format!("made/{n}.txt"), side(&old, 0o640), side(&new, 0o640)).unwrap();
        builder.modified(format!("mode{n}.sh"), side(&old, 0o644), side(&old, 0o755)).unwrap();
    }
}

/// Numbers that look random and are the same in every run.
struct Drawn(u64);

impl Drawn {
    /// The next one below `below`.
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below.max(1)
    }
}

fn started(brain: &Brain, verb: &str, id: &str) -> Child {
    brain.command(&[verb, id]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// How the tree was when the process was gone, before the next start.
#[derive(Default, Debug)]
struct Seen {
    old: usize,
    new: usize,
    half: usize,
    finished: usize,
    taken_back: usize,
}

#[test]
fn whenever_it_is_killed_the_next_start_leaves_all_of_it_or_nothing() {
    let brain = Brain::in_project(&[]);
    lay_out(&brain.project());
    let (id, set) = brain.proposed("editor", propose);
    assert_eq!(set.changes.len(), 5 * FILES);
    let before = tree(&brain.project());
    // One whole round measures how long each takes, and says what the tree looks like after it.
    let took = |verb: &str| {
        let begin = Instant::now();
        assert!(started(&brain, verb, &id).wait().unwrap().success());
        u64::try_from(begin.elapsed().as_micros()).unwrap()
    };
    let mut durations = [took("apply"), 0];
    let after = tree(&brain.project());
    assert!(after != before);
    durations[1] = took("undo");
    assert_eq!(tree(&brain.project()), before);

    let mut drawn = Drawn(7);
    let mut seen = Seen::default();
    for round in 0..KILLS {
        // Where the last round left it decides which way this one goes.
        let is_new = tree(&brain.project()) == after;
        let (verb, duration) = if is_new { ("undo", durations[1]) } else { ("apply", durations[0]) };
        let mut child = started(&brain, verb, &id);
        // Any moment will do, so a sleep that is not exact is as good as another. Most of the time goes into staging, so every
        // other kill is drawn from the end, where files are replaced.
        let moment = match round % 2 {
            0 => drawn.next(duration * 11 / 10),
            _ => duration * 7 / 10 + drawn.next(duration * 4 / 10),
        };
        std::thread::sleep(Duration::from_micros(moment));
        // It may have come to its end by itself.
        let _ = child.kill();
        child.wait().unwrap();
        note(&mut seen, &tree(&brain.project()), &before, &after);
        let next = brain.run(&["sessions"]).ended(0);
        seen.finished += usize::from(next.err.contains("is finished now"));
        seen.taken_back += usize::from(next.err.contains("is taken back now"));
        assert!(!next.err.contains("cannot be made good"), "{next}");
        let now = tree(&brain.project());
        assert!(now == before || now == after, "round {round} of {verb}: {seen:?}\n{}", difference(&now, &before));
        assert_eq!(std::fs::read_dir(brain.home().join("applying")).unwrap().count(), strays(&brain), "{seen:?}");
    }
    println!("{seen:?}");
    assert!(seen.old > 0 && seen.new > 0, "{seen:?}");
    assert!(seen.half > 0 && seen.taken_back > 0, "it was never killed in the middle: {seen:?}");
    // The journal is as good as the tree: the proposal can still go either way.
    let verb = if tree(&brain.project()) == after { "undo" } else { "apply" };
    brain.run(&[verb, &id]).ended(0);
}

/// Markers that were never named, since their process was killed before: they are removed when they are old.
fn strays(brain: &Brain) -> usize {
    let entries = std::fs::read_dir(brain.home().join("applying")).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with(".new-")).count()
}

fn note(seen: &mut Seen, now: &Tree, before: &Tree, after: &Tree) {
    match (now == before, now == after) {
        (true, _) => seen.old += 1,
        (_, true) => seen.new += 1,
        _ => seen.half += 1,
    }
}

fn difference(now: &Tree, wanted: &Tree) -> String {
    let only = |a: &Tree, b: &Tree| -> Vec<String> {
        a.iter().filter(|(path, entry)| b.get(*path) != Some(entry)).map(|(path, _)| path.clone()).collect()
    };
    format!("there: {:?}\nnot there: {:?}", only(now, wanted), only(wanted, now))
}
