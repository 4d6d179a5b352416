//! Change sets: read from JSON that anybody may have written, or made of both sides of files; then applied to a small tree.
//!
//! An input whose first byte is NUL stands for a made set, any other is JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Cursor;

use arbitrary::{Result, Unstructured};
use brain_changes::{
    BuildError, Builder, Change, ChangeKind, ChangeSet, Contents, MAX_SET_DIFF_BYTES, MemoryLog, Side, apply,
    check_path,
};
use review::diff;

use crate::made::text;
use crate::tree::{self, Node, Tree};

/// Paths that a made set is about, besides any others.
const PATHS: [&str; 16] = [
    "a",
    "b",
    "d/a",
    "d/b",
    "d",
    "d/e/f",
    "d/e",
    "x y",
    "ü\n\"\\",
    "a\t",
    "x b/x",
    ".git/config",
    "../a",
    "dev/null",
    "A",
    "ä",
];
/// Contents that the tree has and that JSON can name by digest.
const CONTENTS: [&str; 4] = ["", "a\n", "b", "\0"];
/// Permission bits of folders that are there.
const FOLDER_MODE: u32 = 0o755;

/// Nothing panics. What is read keeps its rules, as does its opposite; its patch shows its files and no others. Applied to a tree that
/// it was made for, it gives exactly the tree that it says, and is taken back exactly; applied to any other, it changes nothing.
pub fn check(data: &[u8]) {
    match data.split_first() {
        Some((0, rest)) => {
            if let Ok(changes) = changes(&mut Unstructured::new(rest)) {
                made(&changes);
            }
        }
        _ => read(data),
    }
}

fn read(json: &[u8]) {
    let set = match ChangeSet::from_json(json) {
        Ok(set) => set,
        Err(error) => {
            let said = error.to_string();
            assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{said:?}");
            return;
        }
    };
    sound(&set);
    // A tree that it was not made for: all of it or nothing, and nothing beside it.
    let place = tree::folder();
    let root = place.path().join("tree");
    let before: Tree = [
        ("a", Node::File(b"a\n".to_vec(), 0o644)),
        ("b", Node::File(b"b".to_vec(), 0o600)),
        ("d", Node::Folder(FOLDER_MODE)),
        ("d/a", Node::File(Vec::new(), 0o644)),
        ("l", Node::Link("../outside".into())),
    ]
    .map(|(path, node)| (path.to_owned(), node))
    .into();
    fs::create_dir(&root).expect("a folder can be made");
    tree::write(&root, &before);
    fs::create_dir(place.path().join("outside")).expect("a folder can be made");
    let contents = Contents::open(place.path().join("contents")).expect("contents can be kept");
    for content in CONTENTS {
        contents.put(&mut content.as_bytes()).expect("contents can be kept");
    }
    match apply(&set, &root, &contents, &mut MemoryLog::default()) {
        Ok(applied) => {
            assert!(applied.kept.is_empty(), "nobody else writes here: {:?}", applied.kept);
            sound(&applied.undo);
            let undone = apply(&applied.undo, &root, &contents, &mut MemoryLog::default());
            let undone = undone.unwrap_or_else(|error| panic!("it cannot be taken back: {error}: {set:?}"));
            assert!(undone.kept.is_empty() && undone.folders_left.is_empty(), "{undone:?}");
        }
        Err(error) => drop(error.to_string()),
    }
    tree::assert_same(&tree::read(&root), &before, "after a refusal, or after an undo");
    assert!(tree::read(&place.path().join("outside")).is_empty(), "something was written outside of the tree");
}

/// What holds for every set that was read or made.
pub(crate) fn sound(set: &ChangeSet) {
    set.check().expect("a set keeps its rules");
    let json = set.to_json();
    assert_eq!(&ChangeSet::from_json(&json).expect("what was written can be read"), set);
    let inverse = set.inverse();
    inverse.check().unwrap_or_else(|error| panic!("its opposite breaks a rule: {error}: {set:?}"));
    // Turning a diff around puts removed lines first, so that only the opposite comes back exactly.
    assert_eq!(inverse.inverse().inverse(), inverse, "the opposite of the opposite");
    let (stats, opposite) = (set.stats(), inverse.stats());
    assert_eq!((stats.files, stats.folders), (opposite.files, opposite.folders));
    assert_eq!((stats.added_lines, stats.removed_lines), (opposite.removed_lines, opposite.added_lines));
    patch(set);
}

/// A reviewer that reads the patch sees these files, by these names, and no others.
fn patch(set: &ChangeSet) {
    let patch = set.to_patch();
    assert!(patch.len() <= MAX_SET_DIFF_BYTES + set.changes.len() * 50_000);
    let read = diff::parse(patch.as_bytes(), usize::MAX);
    let told = || format!("{set:?}\nhas the patch\n{patch}\nwhich is read as\n{read:?}");
    assert!(read.problems.is_empty() && read.unmerged.is_empty(), "{}", told());
    // A mode that git cannot carry is a comment.
    let git = |mode: Option<u32>| mode.map(|mode| mode & 0o100);
    let shown = |change: &&Change| {
        let same = change.base == change.new && git(change.base_mode) == git(change.mode);
        change.kind != ChangeKind::Modified || !same
    };
    let changes: Vec<&Change> = set.changes.iter().filter(shown).collect();
    assert_eq!(read.files.len(), changes.len(), "{}", told());
    for (file, change) in read.files.iter().zip(changes) {
        let name = |name: &Option<diff::Name>| name.as_ref().map(|name| name.as_str().to_owned());
        let path = || Some(change.path.clone());
        let (kind, old, new) = match change.kind {
            ChangeKind::Added => (diff::Change::Added, None, path()),
            ChangeKind::Deleted => (diff::Change::Deleted, path(), None),
            ChangeKind::Modified => (diff::Change::Modified, path(), path()),
            ChangeKind::Renamed => (diff::Change::Renamed, change.from.clone(), path()),
        };
        assert_eq!((file.change, name(&file.old), name(&file.new)), (kind, old, new), "{}", told());
        assert_eq!(file.binary, change.diff.is_none() && change.base != change.new, "{}", told());
        let count =
            |side| file.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.side == side).count() as u64;
        if let Some(hunks) = &change.diff {
            let lines = diff_lines(hunks);
            assert_eq!((count(diff::Side::Added), count(diff::Side::Removed)), lines, "{}", told());
        }
    }
}

/// Lines that a diff adds and removes.
fn diff_lines(hunks: &str) -> (u64, u64) {
    let lines = brain_changes::diff::check(hunks).expect("the diff of a set is well formed");
    (lines.added, lines.removed)
}

/// One file of a made set: where it was and is, with content and mode.
struct Made {
    from: Option<(String, Vec<u8>, u32)>,
    to: Option<(String, Vec<u8>, u32)>,
}

/// What a made set is made of.
struct Changes {
    files: Vec<Made>,
    added: Vec<(String, u32)>,
    removed: Vec<(String, u32)>,
}

fn changes(u: &mut Unstructured<'_>) -> Result<Changes> {
    let mut files = Vec::new();
    for _ in 0..u.int_in_range(1..=4_u8)? {
        let path = path(u)?;
        let other = if u.ratio(1, 3)? { self::path(u)? } else { path.clone() };
        let (from, to) = match u.int_in_range(0..=3_u8)? {
            0 => (true, false),
            1 => (false, true),
            _ => (true, true),
        };
        let (old, new) = (content(u, &[])?, Vec::new());
        let new = if to { content(u, &old)? } else { new };
        let from = from.then_some(()).map(|()| Ok((path, old, mode(u)?))).transpose()?;
        let to = to.then_some(()).map(|()| Ok((other, new, mode(u)?))).transpose()?;
        files.push(Made { from, to });
    }
    let mut folders = || -> Result<Vec<(String, u32)>> {
        (0..u.int_in_range(0..=2_u8)?).map(|_| Ok((path(u)?, mode(u)? | 0o700))).collect()
    };
    Ok(Changes { files, added: folders()?, removed: folders()? })
}

fn path(u: &mut Unstructured<'_>) -> Result<String> {
    let path = text(u, &PATHS)?;
    // The temporary folder's own path takes some of what the system allows.
    Ok(if path.len() > 2_000 { String::from("long") } else { path })
}

fn mode(u: &mut Unstructured<'_>) -> Result<u32> {
    Ok(*u.choose(&[0o644, 0o755, 0o600, 0o400, 0o777, 0o664, 0o444])?)
}

/// Any bytes, or the lines of `like` with a few of them changed, so that there are hunks with context.
fn content(u: &mut Unstructured<'_>, like: &[u8]) -> Result<Vec<u8>> {
    if like.is_empty() || u.ratio(1, 4)? {
        let line = text(
            u,
            &["", "one\n", "one\ntwo\n", "@@ -1,1 +1,1 @@\n", "--- a\n", "\\ No newline at end of file\n", "\r\n"],
        )?;
        return Ok(line.repeat(u.int_in_range(1..=8)?).into_bytes());
    }
    let mut lines: Vec<&[u8]> = like.split_inclusive(|byte| *byte == b'\n').collect();
    for _ in 0..u.int_in_range(0..=3_u8)? {
        let at = u.choose_index(lines.len() + 1)?;
        let line: &[u8] = u.choose(&[&b"new\n"[..], b"\n", b"x", b"-- \n", b"diff --git a/a b/a\n", b"+\n"])?;
        if u.ratio(1, 3)? && at < lines.len() {
            lines.remove(at);
        } else {
            lines.insert(at, line);
        }
    }
    Ok(lines.concat())
}

/// Builds the set, the tree that it is for and the tree that it is to give, and applies it there and back.
fn made(changes: &Changes) {
    let place = tree::folder();
    let contents = Contents::open(place.path().join("contents")).expect("contents can be kept");
    let set = match build(changes, &contents) {
        Ok(set) => set,
        // Contradictions are made here as well; that they are found is all there is to see.
        Err(BuildError::Set(error)) => return drop(error.to_string()),
        Err(error) => panic!("{error}"),
    };
    sound(&set);

    let (mut before, mut after) = (Tree::new(), Tree::new());
    // What is added must not be there before; its mode is exact.
    let added: BTreeMap<&str, u32> =
        set.folders_added.iter().map(|folder| (folder.path.as_str(), folder.mode)).collect();
    let removed: BTreeMap<&str, u32> =
        set.folders_removed.iter().map(|folder| (folder.path.as_str(), folder.mode)).collect();
    let paths = set.changes.iter().flat_map(|change| [Some(change.path.as_str()), change.from.as_deref()]).flatten();
    let paths: BTreeSet<&str> = paths.chain(added.keys().copied()).chain(removed.keys().copied()).collect();
    let files = set.changes.iter().flat_map(|change| [change.base_side(), change.new_side()]);
    let files: BTreeSet<&str> = files.flatten().map(|(path, ..)| path).collect();
    for folder in paths.iter().flat_map(|path| tree::above(path)) {
        if !added.contains_key(folder) && !removed.contains_key(folder) {
            // A file may take the place of a folder, or a folder that of a file, where the set says so of the folder. And a
            // folder that is there cannot be in one that comes or goes.
            let mut comes_or_goes =
                tree::above(folder).filter(|above| added.contains_key(above) || removed.contains_key(above));
            if files.contains(folder) || comes_or_goes.next().is_some() {
                return;
            }
            before.insert(folder.to_owned(), Node::Folder(FOLDER_MODE));
            after.insert(folder.to_owned(), Node::Folder(FOLDER_MODE));
        }
    }
    before.extend(removed.iter().map(|(path, mode)| ((*path).to_owned(), Node::Folder(*mode))));
    after.extend(added.iter().map(|(path, mode)| ((*path).to_owned(), Node::Folder(*mode))));
    // What changes nothing is left out of a set, whatever its path.
    for made in changes.files.iter().filter(|made| made.from != made.to) {
        if let Some((path, bytes, mode)) = &made.from {
            before.insert(path.clone(), Node::File(bytes.clone(), *mode));
        }
        if let Some((path, bytes, mode)) = &made.to {
            after.insert(path.clone(), Node::File(bytes.clone(), *mode));
        }
    }

    let root = place.path().join("tree");
    fs::create_dir(&root).expect("a folder can be made");
    tree::write(&root, &before);
    let told = || format!("{set:?}\non {before:?}");
    let applied = apply(&set, &root, &contents, &mut MemoryLog::default());
    let applied = applied.unwrap_or_else(|error| panic!("{error}: {}", told()));
    assert!(applied.kept.is_empty() && applied.folders_left.is_empty(), "{applied:?}\n{}", told());
    tree::assert_same(&tree::read(&root), &after, &format!("after the apply of {}", told()));
    sound(&applied.undo);
    let undone = apply(&applied.undo, &root, &contents, &mut MemoryLog::default());
    let undone = undone.unwrap_or_else(|error| panic!("{error}: taking back {}", told()));
    assert!(undone.kept.is_empty() && undone.folders_left.is_empty(), "{undone:?}\n{}", told());
    tree::assert_same(&tree::read(&root), &before, &format!("after the undo of {}", told()));
}

fn build(changes: &Changes, contents: &Contents) -> std::result::Result<ChangeSet, BuildError> {
    let mut set = Builder::new(contents);
    let side = |(_, bytes, mode): &(String, Vec<u8>, u32)| Side::new(*mode, Cursor::new(bytes.clone()));
    for Made { from, to } in &changes.files {
        match (from, to) {
            (Some(from), Some(to)) if from.0 == to.0 => set.modified(&to.0, side(from), side(to))?,
            (Some(from), Some(to)) => set.renamed(&from.0, &to.0, side(from), side(to))?,
            (Some(from), None) => set.deleted(&from.0, side(from))?,
            (None, Some(to)) => set.added(&to.0, side(to))?,
            (None, None) => &mut set,
        };
    }
    for (path, mode) in &changes.added {
        set.folder_added(path, *mode)?;
    }
    for (path, mode) in &changes.removed {
        set.folder_removed(path, *mode)?;
    }
    let set = set.finish()?;
    let paths = set.changes.iter().map(|change| &change.path);
    paths.for_each(|path| check_path(path).expect("a set has no other paths"));
    Ok(set)
}
