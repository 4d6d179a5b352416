//! Every limit, filled exactly and by one more; what is given back, and when; and calls that have to end.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use brain_changes::MAX_CONTENT_BYTES;
use brain_files::{ErrorCode, Fault, FileLimit, FileLimits, Handle, Stop};
use common::{
    FOLDER, MAKE, Node, PUT, Place, READ, View, WRITE, assert_same, code, file, folder, open_stoppable, open_view,
    read_all, read_tree, tree,
};

const NONE: FileLimits = FileLimits {
    artifact_bytes: u64::MAX,
    artifact_files: u64::MAX,
    staged_bytes: u64::MAX,
    staged_files: u64::MAX,
    written_bytes: u64::MAX,
    created_files: u64::MAX,
    listed_entries: u64::MAX,
};

fn place() -> Place {
    Place::new(&tree([("a", file("0123456789")), ("d/x", file("xx")), ("d/y", file("yyy")), ("e", folder())]))
}

fn view(place: &Place, limits: FileLimits) -> View {
    open_view(&place.everything(), &limits)
}

fn refused(view: &View, limit: FileLimit, times: u64) {
    assert_eq!(view.view.meter().reached(), [(limit, times)]);
}

/// One limit on bytes that lie somewhere at once.
fn bytes_at_once(limits: FileLimits, limit: FileLimit, at: &str) {
    let place = place();
    let mut view = view(&place, limits);
    let (one, two) = (format!("{at}one"), format!("{at}two"));
    view.put(&one, "12345").unwrap();
    let two_open = view.open_file(&two, MAKE).unwrap();
    two_open.write_at(b"12345", None).unwrap();
    assert_eq!(view.view.meter().reached(), []);
    assert_eq!(place.staged(), (10, 2));

    // By one more, in every way; what is there already is overwritten for nothing.
    two_open.write_at(b"abcde", Some(0)).unwrap();
    for refusal in [
        two_open.write_at(b"6", None),
        two_open.write_at(b"ab", Some(4)),
        two_open.write_at(b"!", Some(1 << 20)),
        two_open.set_size(6),
        view.put(&format!("{at}three"), "x"),
    ] {
        assert_eq!(code(refusal), ErrorCode::Quota);
    }
    refused(&view, limit, 5);
    assert_eq!((read_all(&view.open_file(&two, READ).unwrap()), place.staged().0), (b"abcde".to_vec(), 10));

    // Room comes back by cutting, in both ways, and by removing, but only of what nothing holds open.
    two_open.set_size(4).unwrap();
    two_open.write_at(b"E", None).unwrap();
    view.put(&one, "123").unwrap();
    two_open.write_at(b"FG", None).unwrap();
    view.unlink(&one).unwrap();
    view.put(&one, "abc").unwrap();
    let reader = view.open_file(&one, READ).unwrap();
    view.unlink(&one).unwrap();
    assert_eq!(code(view.put(&one, "x")), ErrorCode::Quota, "a file that is open takes room, removed or not");
    assert_eq!(read_all(&reader), b"abc");
    drop(reader);
    view.put(&one, "xyz").unwrap();
    // And by replacing.
    view.rename(&two, &one).unwrap();
    drop(two_open);
    view.put(&two, "xyz").unwrap();
    assert_eq!(code(view.put(&two, "xyzz")), ErrorCode::Quota);
    refused(&view, limit, 7);
    drop(view);
    assert_eq!(place.staged(), (0, 0));
}

#[test]
fn staged_bytes_are_those_that_lie_there_at_once() {
    bytes_at_once(FileLimits { staged_bytes: 10, ..NONE }, FileLimit::StagedBytes, "");
}

#[test]
fn artifact_bytes_are_those_that_lie_there_at_once() {
    bytes_at_once(FileLimits { artifact_bytes: 10, ..NONE }, FileLimit::ArtifactBytes, "/artifacts/");
}

#[test]
fn a_copy_of_what_is_changed_is_staged_whole_or_not_at_all() {
    let place = place();
    for (room, fits) in [(9, false), (10, true)] {
        let mut view = view(&place, FileLimits { staged_bytes: room, ..NONE });
        let opened = view.open_file("a", WRITE).map(|file| file.write_at(b"X", Some(0)));
        assert_eq!(opened.is_ok(), fits);
        assert_eq!(view.read("a").unwrap(), if fits { b"X123456789" } else { b"0123456789" });
        assert_eq!(view.view.meter().reached(), if fits { vec![] } else { vec![(FileLimit::StagedBytes, 1)] });
        assert_eq!((place.staged().0, view.change_set().changes.len()), if fits { (10, 1) } else { (0, 0) });
        // All of it is there again.
        view.put("new", "z".repeat(room as usize - place.staged().0 as usize)).unwrap();
    }
    // What is cut at once, moved or removed takes no bytes.
    let mut view = view(&place, FileLimits { staged_bytes: 0, ..NONE });
    view.put("a", "").unwrap();
    view.rename("d", "moved").unwrap();
    view.unlink("moved/x").unwrap();
    assert_eq!(view.view.meter().reached(), []);
}

#[test]
fn staged_files_are_every_path_that_is_made_changed_moved_or_removed() {
    let place = place();
    let full = |files| view(&place, FileLimits { staged_files: files, ..NONE });

    let mut made = full(3);
    made.put("new", "").unwrap();
    made.mkdir("folder").unwrap();
    made.put("a", "changed").unwrap();
    // What is counted is not counted again.
    made.put("a", "changed again").unwrap();
    made.put("new", "again").unwrap();
    assert_eq!(made.view.meter().reached(), []);
    let refusals = [
        made.put("other", ""),
        made.mkdir("other"),
        made.put("d/x", ""),
        made.unlink("d/x"),
        made.rename("a", "b"),
        made.rmdir("e"),
    ];
    for refusal in refusals {
        assert_eq!(code(refusal), ErrorCode::Quota);
    }
    refused(&made, FileLimit::StagedFiles, 6);
    assert_eq!(made.read("d/x").unwrap(), b"xx");
    assert_eq!(made.read("a").unwrap(), b"changed again");
    // Room comes back for what the role made itself.
    made.unlink("new").unwrap();
    made.rmdir("folder").unwrap();
    made.mkdir("folder").unwrap();
    made.unlink("d/x").unwrap();
    assert_eq!(code(made.mkdir("other")), ErrorCode::Quota, "what is removed of the tree is a change");
    made.put("d/x", "back").unwrap();

    // A folder with two files moves as six names, itself and its files at both places, or does not move.
    for (room, fits) in [(5, false), (6, true)] {
        let mut moving = full(room);
        let before = moving.tree();
        assert_eq!(moving.rename("d", "e").map_err(|_| ()), if fits { Ok(()) } else { Err(()) }, "{room}");
        let moved = ["d", "d/x", "d/y"].iter().all(|path| code_or_ok(&mut moving, path) == Some(ErrorCode::NoEntry));
        assert_eq!(moved, fits);
        if !fits {
            refused(&moving, FileLimit::StagedFiles, 1);
            assert_same(&moving.tree(), &before, "what does not fit is not begun");
            assert!(moving.change_set().is_empty());
        }
    }
}

fn code_or_ok(view: &mut View, path: &str) -> Option<ErrorCode> {
    view.open(path, READ).err().map(|fault| match fault {
        Fault::Code(code) => code,
        Fault::Stopped => panic!("nothing stops it"),
    })
}

#[test]
fn a_folder_that_does_not_fit_leaves_its_new_place_as_it_was() {
    let place = Place::new(&tree([("d/x", file("xx")), ("d/y", file("yyy")), ("e/gone", file("g"))]));
    // One for `e/gone`; the folder needs six more.
    for room in 2..=7 {
        let mut view = view(&place, FileLimits { staged_files: room, ..NONE });
        view.unlink("e/gone").unwrap();
        let before = view.tree();
        let moved = view.rename("d", "e");
        assert_eq!(moved.is_ok(), room == 7, "{room}");
        if moved.is_err() {
            assert_same(&view.tree(), &before, "neither has it moved, nor is what was removed there again");
            let set = view.change_set();
            assert_eq!((set.changes.len(), set.folders_added.len(), set.folders_removed.len()), (1, 0, 0), "{room}");
        }
    }
}

#[test]
fn artifact_files_are_those_that_lie_there_at_once() {
    let place = place();
    let mut view = view(&place, FileLimits { artifact_files: 2, ..NONE });
    view.mkdir("/artifacts/folder").unwrap();
    view.put("/artifacts/folder/one", "1").unwrap();
    assert_eq!(code(view.put("/artifacts/two", "2")), ErrorCode::Quota);
    assert_eq!(code(view.mkdir("/artifacts/other")), ErrorCode::Quota);
    refused(&view, FileLimit::ArtifactFiles, 2);
    view.unlink("/artifacts/folder/one").unwrap();
    view.put("/artifacts/two", "2").unwrap();
    view.rmdir("/artifacts/folder").unwrap();
    view.put("/artifacts/three", "3").unwrap();
    refused(&view, FileLimit::ArtifactFiles, 2);
    // The workspace has limits of its own.
    view.put("new", "").unwrap();
    view.view.settle_artifacts().unwrap();
    let left = read_tree(&place.artifacts());
    assert_eq!(left, tree([("three", common::file_of("3", 0o600)), ("two", common::file_of("2", 0o600))]));
    assert_eq!(view.change_set().changes.len(), 1);
}

#[test]
fn artifacts_settle_with_their_folders_as_they_are_in_the_end() {
    let place = place();
    let mut view = view(&place, NONE);
    view.mkdir("/artifacts/a").unwrap();
    view.mkdir("/artifacts/a/b").unwrap();
    view.put("/artifacts/a/b/c", "first").unwrap();
    view.put("/artifacts/draft", "second").unwrap();
    view.rename("/artifacts/draft", "/artifacts/a/final").unwrap();
    view.put("/artifacts/none", "x").unwrap();
    view.unlink("/artifacts/none").unwrap();
    view.rename("/artifacts/a", "/artifacts/z").unwrap();
    assert_eq!(code(view.rename("/artifacts/z", "z")), ErrorCode::CrossDevice);
    assert_eq!(read_tree(&place.artifacts()).len(), 0, "nothing is there before");
    view.view.settle_artifacts().unwrap();
    let settled = common::without_modes(&read_tree(&place.artifacts()));
    let expected = tree([("z/b/c", file("first")), ("z/final", file("second"))]);
    assert_eq!(settled, common::without_modes(&expected));
    assert!(view.change_set().is_empty());
}

#[test]
fn written_bytes_are_all_that_were_ever_written() {
    let place = place();
    let mut view = view(&place, FileLimits { written_bytes: 10, ..NONE });
    let one = view.open_file("one", MAKE).unwrap();
    one.write_at(b"1234", Some(0)).unwrap();
    one.write_at(b"5678", Some(0)).unwrap();
    view.unlink("one").unwrap();
    view.put("/artifacts/two", "ab").unwrap();
    // What the host copies is not what the role writes.
    let copied = view.open_file("a", WRITE).unwrap();
    assert_eq!((view.view.meter().bytes_written(), view.view.meter().reached()), (10, vec![]));
    for refusal in [one.write_at(b"x", Some(0)), copied.write_at(b"x", None), view.put("/artifacts/three", "x")] {
        assert_eq!(code(refusal), ErrorCode::Quota);
    }
    refused(&view, FileLimit::WrittenBytes, 3);
    assert_eq!(read_all(&one), b"5678");
    // A write that is refused takes no room.
    drop((one, copied));
    assert_eq!(place.staged().0, 10 + 2);
}

#[test]
fn created_files_are_all_that_were_ever_made() {
    let place = place();
    let mut view = view(&place, FileLimits { created_files: 3, staged_files: 2, ..NONE });
    view.put("one", "").unwrap();
    view.mkdir("two").unwrap();
    // What fails for another reason has not been made.
    assert_eq!(code(view.put("x", "")), ErrorCode::Quota);
    assert_eq!(code(view.mkdir("x")), ErrorCode::Quota);
    assert_eq!(view.view.meter().reached(), [(FileLimit::StagedFiles, 2)]);
    view.unlink("one").unwrap();
    view.put("/artifacts/three", "").unwrap();
    assert_eq!(code(view.put("one", "")), ErrorCode::Quota);
    assert_eq!(code(view.mkdir("one")), ErrorCode::Quota);
    assert_eq!(code(view.put("/artifacts/four", "")), ErrorCode::Quota);
    // Nothing new: to change, to open, to move.
    view.put("a", "changed").unwrap();
    assert_eq!(view.view.meter().reached(), [(FileLimit::StagedFiles, 2), (FileLimit::CreatedFiles, 3)]);
}

#[test]
fn listed_entries_are_all_that_were_looked_at() {
    let place = place();
    let mut view = view(&place, FileLimits { listed_entries: 6, ..NONE });
    assert_eq!(view.list("").map(|all| all.len()).ok(), None, "an empty path is none");
    assert_eq!(view.list(".").unwrap().len(), 3);
    view.put("d/z", "").unwrap();
    assert_eq!(view.list("d").unwrap().len(), 3);
    assert_eq!(code(view.list("d")), ErrorCode::Quota);
    refused(&view, FileLimit::ListedEntries, 1);
    // An empty folder has nothing to look at; to move or remove one that is not is refused, and nothing has moved.
    assert_eq!(view.list("e").unwrap(), []);
    assert_eq!(code(view.rmdir("d")), ErrorCode::Quota);
    assert_eq!(code(view.rename("d", "moved")), ErrorCode::Quota);
    refused(&view, FileLimit::ListedEntries, 3);
    assert_eq!(view.read("d/x").unwrap(), b"xx");
    assert_eq!(view.change_set().changes.len(), 1);
}

#[test]
fn no_file_gets_larger_than_a_change_set_can_carry() {
    let place = place();
    std::fs::File::create(place.root.join("huge")).unwrap().set_len(MAX_CONTENT_BYTES + 1).unwrap();
    let mut view = view(&place, NONE);
    let new = view.open_file("new", MAKE).unwrap();
    new.set_size(MAX_CONTENT_BYTES).unwrap();
    assert_eq!(code(new.set_size(MAX_CONTENT_BYTES + 1)), ErrorCode::FileTooLarge);
    assert_eq!(code(new.write_at(b"x", None)), ErrorCode::FileTooLarge);
    assert_eq!(code(new.write_at(b"x", Some(u64::MAX))), ErrorCode::FileTooLarge);
    new.set_size(0).unwrap();
    // One that the tree has can be read, and nothing else.
    assert_eq!(view.open_file("huge", READ).unwrap().read_at(4, 1 << 29).map(|bytes| bytes.len()), Ok(4));
    assert_eq!(code(view.open("huge", WRITE)), ErrorCode::FileTooLarge);
    assert_eq!(code(view.open("huge", PUT)), ErrorCode::FileTooLarge);
    assert_eq!(code(view.unlink("huge")), ErrorCode::FileTooLarge);
    assert_eq!(code(view.rename("huge", "other")), ErrorCode::FileTooLarge);
    assert_eq!(code(view.rename("new", "huge")), ErrorCode::FileTooLarge);
    let set = view.change_set();
    assert_eq!(set.changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["new"]);
}

/// Ends the call at the n-th look.
fn stopping() -> (Arc<AtomicU64>, Stop) {
    let left = Arc::new(AtomicU64::new(u64::MAX));
    let looks = Arc::clone(&left);
    // Once it says so, it says so for good.
    let stop = move || looks.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err();
    (left, Arc::new(stop))
}

type Long = fn(&mut View) -> Result<(), Fault>;

#[test]
fn a_call_that_has_to_end_ends_in_the_middle_of_long_operations_and_leaves_all_as_it_was() {
    let place = Place::new(&tree([
        ("big", file(vec![b'x'; 1 << 20])),
        ("d/big", file(vec![b'y'; 1 << 20])),
        ("d/s/z", file("z")),
        ("e/gone", file("g")),
    ]));
    let operations: [(&str, Long); 7] = [
        ("copy", |view| view.open("big", WRITE).map(drop)),
        ("hash to cut", |view| view.put("big", "")),
        ("hash to remove", |view| view.unlink("big")),
        ("hash to move", |view| view.rename("big", "moved")),
        ("list", |view| view.list("d").map(drop)),
        ("look whether it is empty", |view| view.rmdir("d")),
        ("move a folder", |view| view.rename("d", "e")),
    ];
    for (name, operation) in operations {
        let (mut stopped, mut looks) = (0, 0);
        loop {
            let (left, stop) = stopping();
            let mut view = open_stoppable(&place.everything(), &NONE, stop);
            view.unlink("e/gone").unwrap();
            view.put("new", "12345").unwrap();
            let before = view.tree();
            left.store(looks, Relaxed);
            let done = operation(&mut view);
            left.store(u64::MAX, Relaxed);
            if done != Err(Fault::Stopped) {
                break;
            }
            stopped += 1;
            assert_same(&view.tree(), &before, &format!("{name}, after {looks} looks"));
            let set = view.change_set();
            assert_eq!((set.changes.len(), set.folders_added.len(), set.folders_removed.len()), (2, 0, 0), "{name}");
            assert_eq!(place.staged(), (5, 1), "{name}: what was begun is gone");
            // The call goes on no further, but a view that is asked again does all of it.
            assert_ne!(operation(&mut view), Err(Fault::Stopped), "{name}");
            looks += 1;
        }
        assert!(stopped > 0, "{name} does not look");
    }
}

#[test]
fn more_handles_of_one_file_than_are_looked_through_all_change_over() {
    let place = place();
    let mut view = view(&place, NONE);
    let open: Vec<_> = (0..50).map(|_| view.open_file("a", READ).unwrap()).collect();
    // Closed ones are forgotten on the way.
    for _ in 0..3000 {
        drop(view.open_file("d/x", READ).unwrap());
    }
    view.open_file("a", WRITE).unwrap().write_at(b"X", Some(0)).unwrap();
    assert!(open.iter().all(|file| read_all(file) == b"X123456789"));
    let Ok(Handle::Folder(folder)) = view.open("d", FOLDER) else { panic!("it is a folder") };
    assert!(matches!(view.view.open_at(&folder, "x", READ), Ok(Handle::File(_))));
    assert_eq!(read_tree(&place.root).get("a"), Some(&Node::File { bytes: b"0123456789".to_vec(), mode: 0o644 }));
}
