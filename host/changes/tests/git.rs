//! The patch of a set is one that git applies, to the same result.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use brain_changes::{Builder, ChangeKind, MAX_DIFF_INPUT_BYTES, MemoryLog, Side, apply};
use common::{Model, Node, assert_same, between, file, folder, model, place, read_tree};

fn git_apply(root: &Path, patch: &str) -> Output {
    let mut git = Command::new("git")
        .args(["apply", "--whitespace=nowarn", "-"])
        .env("GIT_CEILING_DIRECTORIES", root.parent().unwrap())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
    git.wait_with_output().unwrap()
}

/// Applies the patch with git and the set without, and compares; then the same backwards.
fn both_ways(before: &Model, after: &Model, renames: &[(String, String)]) {
    let (ours, theirs) = (place(before), place(before));
    let set = between(before, after, renames, &ours.contents);
    let applied = apply(&set, &ours.root, &ours.contents, &mut MemoryLog::default()).unwrap();
    for (set, expected) in [(&set, after), (&applied.undo, before)] {
        let patch = set.to_patch();
        let git = git_apply(&theirs.root, &patch);
        assert!(git.status.success(), "{}\n{patch}", String::from_utf8_lossy(&git.stderr));
        assert_same(&read_tree(&theirs.root), expected, &patch);
    }
}

#[test]
fn additions_deletions_changes_and_modes() {
    let long: String = (0..200).map(|n| format!("line {n}\n")).collect();
    let before = model(&[
        ("a.txt", file("one\ntwo\nthree\n", 0o644)),
        ("long.txt", file(&long, 0o644)),
        ("gone.txt", file("gone\n", 0o644)),
        ("gone-empty", file("", 0o644)),
        ("run.sh", file("#!/bin/sh\n", 0o644)),
        ("plain.sh", file("#!/bin/sh\necho\n", 0o755)),
        ("emptied", file("all of this goes\n", 0o644)),
        ("filled", file("", 0o644)),
    ]);
    let after = model(&[
        ("a.txt", file("one\n2\nthree\nfour\n", 0o644)),
        ("long.txt", file(long.replace("line 3\n", "").replace("line 150\n", "line 150\nmore\n"), 0o644)),
        ("new.txt", file("new\n", 0o644)),
        ("new-empty", file("", 0o755)),
        ("run.sh", file("#!/bin/sh\n", 0o755)),
        ("plain.sh", file("#!/bin/sh\n", 0o644)),
        ("emptied", file("", 0o644)),
        ("filled", file("now\nthere is something\n", 0o644)),
    ]);
    both_ways(&before, &after, &[]);
}

#[test]
fn last_lines_without_an_end() {
    let before = model(&[
        ("both", file("a\nb", 0o644)),
        ("gets", file("a\nb", 0o644)),
        ("loses", file("a\nb\n", 0o644)),
        ("near", file("a\nb\nc", 0o644)),
        ("gone", file("no end", 0o644)),
    ]);
    let after = model(&[
        ("both", file("a\nc", 0o644)),
        ("gets", file("a\nb\n", 0o644)),
        ("loses", file("a\nb", 0o644)),
        ("near", file("A\nb\nc", 0o644)),
        ("new", file("no end", 0o644)),
    ]);
    both_ways(&before, &after, &[]);
}

#[test]
fn renames_swaps_and_names_that_need_quotes() {
    let names =
        ["a b", "t\tab", "new\nline", "quo\"te", "back\\slash", "ünïcödé", "日本 語", " lead", "-dash", "a b/c d"];
    let (mut before, mut after) = (Model::new(), Model::new());
    let mut renames = Vec::new();
    for tree in [&mut before, &mut after] {
        tree.insert("a b".into(), folder(0o755));
        tree.insert("to".into(), folder(0o755));
        // Git removes a folder in which nothing is left, so something stays.
        tree.insert("to/stays".into(), file("", 0o644));
        tree.insert("a b/stays".into(), file("", 0o644));
    }
    for name in names.iter().skip(1) {
        before.insert((*name).into(), file(format!("{name}\n1\n2\n3\n"), 0o644));
        after.insert((*name).into(), file(format!("{name}\n1\n2\nthree\n"), 0o644));
        let (from, to) = (format!("to/from {}", name.replace('/', "_")), format!("to/{}", name.replace('/', "_")));
        before.insert(from.clone(), file(format!("moved {name}\nx\n"), 0o644));
        after.insert(
            to.clone(),
            file(format!("moved {name}\n{}\n", if name.len() % 2 == 0 { "x" } else { "y" }), 0o755),
        );
        renames.push((from, to));
    }
    for (from, to) in [("swap 1", "swap 2"), ("swap 2", "swap 1")] {
        before.insert(from.into(), file(format!("{from}\n"), 0o644));
        after.insert(to.into(), file(format!("{from}\n"), 0o644));
        renames.push((from.into(), to.into()));
    }
    both_ways(&before, &after, &renames);
}

#[test]
fn lines_end_with_line_feeds_only() {
    let before = model(&[
        ("crlf", file("a\r\nb\r\n", 0o644)),
        ("cr", file("a\rb\rc\n", 0o644)),
        ("odd", file("\u{2028}\u{b}\n", 0o644)),
    ]);
    let after = model(&[
        ("crlf", file("a\r\nB\r\n", 0o644)),
        ("cr", file("a\rB\rc", 0o644)),
        ("odd", file("\u{2028}\u{c}\n@@ -1 +1 @@\n", 0o644)),
    ]);
    both_ways(&before, &after, &[]);
}

#[test]
fn what_git_cannot_carry_is_said_and_refused_not_dropped() {
    let large = "x\n".repeat(MAX_DIFF_INPUT_BYTES);
    for (path, new, said) in
        [("bin", b"a\0b".to_vec(), "Binary files"), ("large", large.into_bytes(), "too large to be shown")]
    {
        let before = model(&[(path, file("text\n", 0o644))]);
        let after = Model::from([(path.to_owned(), Node::File { bytes: new, mode: 0o644 })]);
        let place = place(&before);
        let set = between(&before, &after, &[], &place.contents);
        assert_eq!((set.changes[0].text, set.changes[0].diff_cut), (path == "large", path == "large"));
        let patch = set.to_patch();
        assert!(patch.contains(said), "{patch}");
        assert!(!git_apply(&place.root, &patch).status.success(), "{patch}");
        assert_same(&read_tree(&place.root), &before, "refused");
        assert_eq!(set.stats().uncounted, 1);
    }
    let place = place(&model(&[("x", file("same", 0o644))]));
    let mut builder = Builder::new(&place.contents);
    builder.modified("x", Side::new(0o644, &b"same"[..]), Side::new(0o600, &b"same"[..])).unwrap();
    builder.modified("nothing", Side::new(0o644, &b"same"[..]), Side::new(0o644, &b"same"[..])).unwrap();
    builder.folder_added("empty\u{1b}[2J", 0o755).unwrap();
    let set = builder.finish().unwrap();
    assert_eq!((set.changes.len(), set.changes[0].kind), (1, ChangeKind::Modified));
    let patch = set.to_patch();
    assert_eq!(patch, "# x: its mode changes from 0644 to 0600\n# folder added: \"empty\\033[2J\"\n");
}
