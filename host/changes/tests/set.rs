//! What is read back is not believed, and what is built stays within its bounds.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use brain_changes::{
    BuildError, Builder, Change, ChangeSet, Contents, ContentsError, Folder, MAX_CHANGES, MAX_DIFF_BYTES,
    MAX_DIFF_INPUT_BYTES, MAX_FOLDERS, MAX_SET_BYTES, MAX_SET_DIFF_BYTES, Side, diff, new_file_mode, new_folder_mode,
};
use brain_packet::Digest;
use common::fast_dir;
use miette::Diagnostic as _;
use proptest::prelude::*;
use serde_json::{Value, json};

fn code(error: &dyn miette::Diagnostic) -> String {
    error.code().unwrap().to_string()
}

fn good() -> Value {
    let (a, b) = ("a".repeat(64), "b".repeat(64));
    json!({
        "changes": [
            {"path": "added", "kind": "added", "mode": 0o644, "new": a, "baseBytes": 0, "newBytes": 2, "text": true, "diff": "@@ -0,0 +1,1 @@\n+x\n", "diffCut": false},
            {"path": "bin", "kind": "deleted", "baseMode": 0o644, "base": a, "baseBytes": 2, "newBytes": 0, "text": false, "diffCut": false},
            {"path": "changed", "kind": "modified", "mode": 0o644, "baseMode": 0o600, "base": a, "new": b, "baseBytes": 2, "newBytes": 2, "text": true, "diff": "@@ -1,1 +1,1 @@\n-x\n+y\n", "diffCut": false},
            {"path": "moved", "kind": "renamed", "from": "was", "mode": 0o644, "baseMode": 0o644, "base": a, "new": a, "baseBytes": 2, "newBytes": 2, "text": true, "diff": "", "diffCut": false},
        ],
        "foldersAdded": [{"path": "dir", "mode": 0o755}],
        "foldersRemoved": [{"path": "gone", "mode": 0o755}],
    })
}

#[test]
fn every_rule_is_checked_when_a_set_is_read() {
    let set = ChangeSet::from_json(good().to_string().as_bytes()).unwrap();
    assert_eq!((set.stats().added_lines, set.stats().removed_lines, set.stats().uncounted), (2, 1, 1));
    assert_eq!(serde_json::to_value(&set).unwrap(), good());
    let c = "c".repeat(64);
    let table: Vec<(&str, Value, &str)> = vec![
        ("/changes/0/path", json!("../added"), "changes.set-path"),
        ("/changes/0/path", json!("/added"), "changes.set-path"),
        ("/changes/0/path", json!(""), "changes.set-path"),
        ("/changes/0/path", json!("a//b"), "changes.set-path"),
        ("/changes/0/path", json!("a\u{0}"), "changes.set-path"),
        ("/changes/0/path", json!(".git/hooks/pre-commit"), "changes.set-path"),
        ("/changes/0/path", json!("sub/.GIT/config"), "changes.set-path"),
        ("/changes/0/path", json!(".brain/brain.toml"), "changes.set-path"),
        ("/changes/0/path", json!(".brain-apply-0123456789abcdef-0"), "changes.set-path"),
        ("/changes/3/from", json!("../was"), "changes.set-path"),
        ("/foldersAdded/0/path", json!("a/../../b"), "changes.set-path"),
        ("/foldersRemoved/0/path", json!(".git"), "changes.set-path"),
        ("/changes/0/path", json!("bin"), "changes.set-duplicate"),
        ("/changes/0/path", json!("zzz"), "changes.set-unsorted"),
        ("/changes/0/mode", json!(0o4755), "changes.set-mode"),
        ("/changes/2/baseMode", json!(0o100_644), "changes.set-mode"),
        ("/foldersAdded/0/mode", json!(0o1777), "changes.set-mode"),
        ("/changes/0/kind", json!("modified"), "changes.set-inconsistent"),
        ("/changes/0/base", json!(c), "changes.set-inconsistent"),
        ("/changes/0/new", Value::Null, "changes.set-inconsistent"),
        ("/changes/0/mode", Value::Null, "changes.set-inconsistent"),
        ("/changes/0/baseBytes", json!(1), "changes.set-inconsistent"),
        ("/changes/1/new", json!(c), "changes.set-inconsistent"),
        ("/changes/1/kind", json!("added"), "changes.set-inconsistent"),
        ("/changes/1/diff", json!(""), "changes.set-inconsistent"),
        ("/changes/1/diffCut", json!(true), "changes.set-inconsistent"),
        ("/changes/2/from", json!("elsewhere"), "changes.set-inconsistent"),
        ("/changes/2/diff", Value::Null, "changes.set-inconsistent"),
        ("/changes/3/from", Value::Null, "changes.set-inconsistent"),
        ("/changes/3/from", json!("moved"), "changes.set-inconsistent"),
        ("/changes/2/diff", json!("x".repeat(MAX_DIFF_BYTES + 1)), "changes.set-inconsistent"),
        ("/changes/2/diff", json!("@@ -1,1 +1,1 @@\n-x\n+y\ndiff --git a/x b/x\n"), "changes.set-diff"),
        ("/changes/2/diff", json!("--- a/x\n+++ b/x\n"), "changes.set-diff"),
        ("/changes/3/from", json!("changed"), "changes.set-contradiction"),
        ("/changes/3/from", json!("added"), "changes.set-contradiction"),
        ("/changes/3/from", json!("bin"), "changes.set-contradiction"),
        ("/changes/3/from", json!("changed/in"), "changes.set-contradiction"),
        ("/changes/3/path", json!("changed/in"), "changes.set-contradiction"),
        ("/changes/3/path", json!("gone/in"), "changes.set-contradiction"),
        ("/changes/3/from", json!("dir/in"), "changes.set-contradiction"),
        ("/foldersAdded/0/path", json!("gone"), "changes.set-contradiction"),
        ("/foldersAdded/0/path", json!("changed"), "changes.set-contradiction"),
        ("/foldersAdded/0/path", json!("gone/in"), "changes.set-contradiction"),
        ("/changes/0/new", json!("A".repeat(64)), "changes.set-json"),
        ("/changes/0/kind", json!("copied"), "changes.set-json"),
        ("/changes/0/newBytes", json!(-1), "changes.set-json"),
        ("/changes", json!({}), "changes.set-json"),
    ];
    for (at, value, expected) in table {
        let mut set = good();
        *set.pointer_mut(at).unwrap_or(&mut Value::Null) = value.clone();
        if set.pointer(at).is_none() {
            let (above, name) = at.rsplit_once('/').unwrap();
            set.pointer_mut(above).unwrap()[name] = value.clone();
        }
        let error = ChangeSet::from_json(set.to_string().as_bytes()).unwrap_err();
        assert_eq!(code(&error), expected, "{at} = {value:.80}: {error}");
        assert!(error.help().is_some(), "{at}");
        let again: Result<ChangeSet, _> = serde_json::from_value(set);
        assert!(again.is_err(), "{at}: by way of serde");
    }
    for junk in
        ["", "null", "[]", "{}", "{\"changes\":[],\"foldersAdded\":[],\"foldersRemoved\":[],\"more\":1}", "\u{0}"]
    {
        assert_eq!(code(&ChangeSet::from_json(junk.as_bytes()).unwrap_err()), "changes.set-json", "{junk}");
    }
}

/// Hunks say where they are in both files, so a header can be wrong on its own.
#[test]
fn hunks_are_where_their_headers_say() {
    let last = u32::MAX;
    let good = [
        "@@ -0,0 +1,1 @@\n+a\n".to_owned(),
        "@@ -1,1 +0,0 @@\n-a\n".to_owned(),
        "@@ -1,1 +1,2 @@\n-a\n+b\n+c\n@@ -3,1 +4,1 @@\n-a\n+b\n".to_owned(),
        format!("@@ -{last},1 +{last},1 @@\n-a\n+b\n"),
    ];
    for hunks in good {
        assert!(diff::check(&hunks).is_ok(), "{hunks}");
    }
    let header = "line 1 of the diff is not the header of a hunk";
    let place = "of the diff is not where the hunks before it leave it";
    let wrong = [
        ("@@ -0,1 +1,1 @@\n-a\n+b\n".to_owned(), header.to_owned()),
        ("@@ -1,1 +0,1 @@\n-a\n+b\n".to_owned(), header.to_owned()),
        (format!("@@ -{last},2 +{last},2 @@\n a\n b\n"), header.to_owned()),
        ("@@ -4294967296,1 +1,1 @@\n-a\n+b\n".to_owned(), header.to_owned()),
        ("@@ -1,1 +2,1 @@\n-a\n+b\n".to_owned(), format!("line 1 {place}")),
        ("@@ -2,1 +2,1 @@\n-a\n+b\n@@ -1,1 +1,1 @@\n-a\n+b\n".to_owned(), format!("line 4 {place}")),
        ("@@ -1,1 +1,2 @@\n-a\n+b\n+c\n@@ -3,1 +3,1 @@\n-a\n+b\n".to_owned(), format!("line 5 {place}")),
    ];
    for (hunks, expected) in wrong {
        assert_eq!(diff::check(&hunks).expect_err(&hunks).to_string(), expected, "{hunks}");
    }
}

fn added(path: String) -> Change {
    let mut set = ChangeSet::from_json(good().to_string().as_bytes()).unwrap();
    Change { path, text: false, diff: None, ..set.changes.swap_remove(0) }
}

#[test]
fn bounds_of_a_set() {
    let full: Vec<Change> = (0..MAX_CHANGES).map(|n| added(format!("{n}"))).collect();
    let folders: Vec<Folder> = (0..MAX_FOLDERS).map(|n| Folder::new(format!("d{n}"), 0o755)).collect();
    let more = |mut changes: Vec<Change>| {
        changes.push(added("one more".into()));
        changes
    };
    let one_more = |mut folders: Vec<Folder>| {
        folders.push(Folder::new("one more", 0o755));
        folders
    };
    assert_eq!(ChangeSet::new(full.clone(), folders.clone(), vec![]).unwrap().stats().files, MAX_CHANGES as u64);
    for result in [
        ChangeSet::new(more(full), vec![], vec![]),
        ChangeSet::new(vec![], one_more(folders.clone()), vec![]),
        ChangeSet::new(vec![], vec![], one_more(folders)),
        ChangeSet::from_json(&vec![b' '; MAX_SET_BYTES as usize + 1]),
    ] {
        assert_eq!(code(&result.unwrap_err()), "changes.set-too-large");
    }
    let dir = fast_dir();
    let contents = Contents::open(dir.path().join("contents")).unwrap();
    let mut builder = Builder::new(&contents);
    for n in 0..MAX_FOLDERS {
        builder.folder_added(format!("d{n}"), 0o755).unwrap();
    }
    assert_eq!(code(&builder.folder_added("one more", 0o755).unwrap_err()), "changes.set-too-large");
}

#[test]
fn bounds_of_diffs() {
    let dir = fast_dir();
    let contents = Contents::open(dir.path().join("contents")).unwrap();
    // The largest diffs that there are, one more of them than a set may have.
    let line = "x".repeat(MAX_DIFF_BYTES - 100);
    let count = MAX_SET_DIFF_BYTES / (MAX_DIFF_BYTES - 100) + 1;
    let changes: Vec<Change> = (0..count)
        .map(|n| Change { text: true, diff: Some(format!("@@ -0,0 +1,1 @@\n+{line}\n")), ..added(format!("{n:04}")) })
        .collect();
    let set = ChangeSet::new(changes, vec![], vec![]).unwrap();
    assert_eq!(set.changes.iter().filter(|change| change.diff_cut).count(), 1);
    assert!(set.changes.last().unwrap().diff_cut);

    let built = |old: &str, new: &str| {
        let mut builder = Builder::new(&contents);
        builder.modified("x", Side::new(0o644, old.as_bytes()), Side::new(0o644, new.as_bytes())).unwrap();
        builder.finish().unwrap().changes.remove(0)
    };
    let fits = "y".repeat(MAX_DIFF_INPUT_BYTES - 1);
    let a_line_more = format!("{fits}\n");
    for (old, new, is_cut) in [
        ("x\n", "y\n", false),
        ("", &"y".repeat(MAX_DIFF_BYTES) as &str, true),
        (&a_line_more, &format!("{fits}z"), true),
        (
            &format!("{}\nx\n", "y\n".repeat(MAX_DIFF_INPUT_BYTES / 2 - 3)),
            &"y\n".repeat(MAX_DIFF_INPUT_BYTES / 2 - 3),
            false,
        ),
        (&format!("{}x\n", "y\n".repeat(MAX_DIFF_INPUT_BYTES / 2)), &"y\n".repeat(MAX_DIFF_INPUT_BYTES / 2), true),
    ] {
        let change = built(old, new);
        assert!(change.text);
        assert_eq!((change.diff_cut, change.diff.is_none()), (is_cut, is_cut), "{} to {} bytes", old.len(), new.len());
    }
    for binary in [&b"a\0"[..], b"\xff", b"a\xc3"] {
        let mut builder = Builder::new(&contents);
        builder.added("x", Side::new(0o644, binary)).unwrap();
        let change = builder.finish().unwrap().changes.remove(0);
        assert_eq!((change.text, change.diff, change.diff_cut), (false, None, false));
    }
}

#[test]
fn a_diff_of_files_with_nothing_in_common_ends() {
    // Hundreds of thousands of lines, shuffled: with no time left the diff is coarse, but it is one.
    let old: String = (0..100_000u64).map(|n| format!("{}\n", n * 7919 % 100_003)).collect();
    let new: String = (0..100_000u64).map(|n| format!("{}\n", n * 104_729 % 100_003)).collect();
    assert_eq!(diff::unified(&old, &new, Instant::now()), None);
    let few: Vec<&str> = old.lines().take(2000).collect();
    let hunks = diff::unified(&few.join("\n"), "other\n", Instant::now()).unwrap();
    assert_eq!(diff::check(&hunks).unwrap(), diff::Lines { added: 1, removed: 2000 });
}

#[test]
fn contents_are_private_bounded_and_verified() {
    let dir = fast_dir();
    let contents = Contents::open(dir.path().join("a/b")).unwrap().with_limit(10);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let digest = contents.put(&mut &b"0123456789"[..]).unwrap();
    assert_eq!(mode(contents.folder()), 0o700);
    assert_eq!(mode(&contents.folder().join(digest.as_str())), 0o600);
    let mut read = String::new();
    contents.read(&digest).unwrap().read_to_string(&mut read).unwrap();
    assert_eq!((read.as_str(), contents.has(&digest)), ("0123456789", true));
    contents.sync([&digest]).unwrap();

    let too_large = contents.put(&mut io::repeat(0)).unwrap_err();
    assert!(matches!(too_large, ContentsError::TooLarge { limit: 10, .. }), "{too_large:?}");
    assert_eq!(code(&contents.read(&Digest::of(b"other")).unwrap_err()), "changes.content-missing");
    assert_eq!(fs::read_dir(contents.folder()).unwrap().count(), 1, "what was refused leaves nothing");

    fs::write(contents.folder().join(digest.as_str()), "012345678X").unwrap();
    assert_eq!(code(&contents.read(&digest).unwrap_err()), "changes.content-damaged");
    assert_eq!(contents.put(&mut &b"0123456789"[..]).unwrap(), digest);
    assert!(contents.read(&digest).is_ok(), "keeping it again heals it");
    fs::write(dir.path().join("file"), "").unwrap();
    assert_eq!(code(&Contents::open(dir.path().join("file")).unwrap_err()), "changes.contents-io");

    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }
    let mut builder = Builder::new(&contents);
    assert!(matches!(builder.added("x", Side::new(0o644, Broken)), Err(BuildError::New { .. })));
    assert!(matches!(builder.deleted("x", Side::new(0o644, Broken)), Err(BuildError::Base { .. })));
    assert!(builder.finish().unwrap().is_empty());
}

#[test]
fn a_base_that_changed_since_it_was_seen_stays_what_was_seen() {
    let dir = fast_dir();
    let contents = Contents::open(dir.path().join("contents")).unwrap();
    let seen = || Side::new(0o644, &b"theirs\n"[..]).seen_as(Digest::of(b"seen\n"), 5);
    let mut builder = Builder::new(&contents);
    builder.modified("changed", seen(), Side::new(0o644, &b"new\n"[..])).unwrap();
    builder.modified("same as seen", seen(), Side::new(0o644, &b"seen\n"[..])).unwrap();
    builder.modified("same as theirs", seen(), Side::new(0o644, &b"theirs\n"[..])).unwrap();
    let same = Side::new(0o644, &b"seen\n"[..]).seen_as(Digest::of(b"seen\n"), 5);
    builder.modified("still so", same, Side::new(0o644, &b"new\n"[..])).unwrap();
    let set = builder.finish().unwrap();
    let told: Vec<_> = set.changes.iter().map(|c| (c.path.as_str(), c.base_bytes, c.diff_cut)).collect();
    assert_eq!(told, [("changed", 5, true), ("same as theirs", 5, true), ("still so", 5, false)]);
    assert!(set.changes.iter().all(|change| change.base == Some(Digest::of(b"seen\n"))));
}

#[test]
fn modes_of_what_is_new_follow_the_folder() {
    for (folder, file, inner) in [
        (0o755, 0o644, 0o755),
        (0o700, 0o600, 0o700),
        (0o1777, 0o644, 0o755),
        (0o775, 0o644, 0o755),
        (0o2750, 0o640, 0o750),
    ] {
        assert_eq!((new_file_mode(folder), new_folder_mode(folder)), (file, inner), "{folder:o}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// A diff passes its own check, turns around to the diff of the other direction, and does so twice.
    #[test]
    fn diffs_turn_around(old in "([ab+@ \\\\-]{0,3}\n?){0,12}", new in "([ab+@ \\\\-]{0,3}\n?){0,12}") {
        let far = Instant::now() + std::time::Duration::from_secs(60);
        let hunks = diff::unified(&old, &new, far).unwrap();
        diff::check(&hunks).unwrap();
        prop_assert_eq!(patched(&old, &hunks), &new[..]);
        let back = diff::invert(&hunks).unwrap();
        diff::check(&back).unwrap();
        prop_assert_eq!(patched(&new, &back), &old[..]);
        prop_assert_eq!(diff::invert(&back).unwrap(), hunks);
    }

    /// No text makes the check of diffs panic, and what passes has nothing but lines of hunks in it.
    #[test]
    fn any_text_as_a_diff(text in "(@@ -[0-9]{1,12},[0-3] \\+[0-9],[0-3] @@\n|[-+ ][a-c]?\n|\\\\ No newline at end of file\n|diff --git a b\n|.{0,5}){0,8}") {
        if diff::check(&text).is_ok() {
            prop_assert!(text.lines().all(|line| line.starts_with(['@', '-', '+', ' ', '\\'])));
            prop_assert!(diff::check(&diff::invert(&text).unwrap()).is_ok());
        }
    }
}

/// Applies hunks the plain way.
fn patched(old: &str, hunks: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut out, mut next, mut is_removed) = (String::new(), 0, false);
    for line in hunks.split_inclusive('\n') {
        match line.as_bytes()[0] {
            b'@' => {
                let (first, count) = line[4..].split(' ').next().unwrap().split_once(',').unwrap();
                let first: usize = first.parse().unwrap();
                let start = if count == "0" { first } else { first - 1 };
                out.extend(old[next..start].iter().copied());
                next = start;
            }
            b'\\' if is_removed => {}
            b'\\' => assert_eq!(out.pop(), Some('\n')),
            b'-' => next += 1,
            b' ' => {
                next += 1;
                out.push_str(&line[1..]);
            }
            _ => out.push_str(&line[1..]),
        }
        is_removed = line.starts_with('-');
    }
    out.extend(old[next..].iter().copied());
    out
}
