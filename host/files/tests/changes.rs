//! What becomes of what a role did: each kind of change, and that applying and undoing it makes exactly that.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use brain_changes::{ApplyError, Change, ChangeKind, ChangeSet, TEMP_PREFIX};
use brain_files::{ErrorCode, FileLimits, GlobLayer, Handle, WorkspaceGrant};
use common::{
    FOLDER, MAKE, Node, Place, READ, Tree, View, WRITE, assert_same, code, file, file_of, folder, open_view, read_all,
    read_tree, tree,
};

fn view(place: &Place) -> View {
    open_view(&place.everything(), &FileLimits::default())
}

fn project() -> Tree {
    tree([
        ("run.sh", file_of("echo one\n", 0o755)),
        ("notes.txt", file_of("one\n", 0o640)),
        ("other.txt", file("other\n")),
        ("src/lib.rs", file("//! Lib.\n")),
        ("src/deep/a.rs", file("a\n")),
        ("empty", folder()),
        ("private", Node::Folder { mode: 0o700 }),
        ("private/key.txt", file_of("k\n", 0o600)),
    ])
}

/// What is done to the project gives a set with these lines, which makes `expected` of it and can be undone.
fn proposes(act: impl FnOnce(&mut View), lines: &[&str], expected: impl FnOnce(&mut Tree)) -> ChangeSet {
    let place = Place::new(&project());
    let mut view = view(&place);
    act(&mut view);
    let seen = view.tree();
    let set = view.change_set();
    drop(view);
    assert_eq!(lines_of(&set), lines);
    let mut after = project();
    expected(&mut after);
    assert_same(&seen, &common::without_modes(&after), "what the role saw");
    assert_same(&read_tree(&place.root), &project(), "the real tree is never written");
    let applied = place.apply(&set).unwrap();
    assert_same(&read_tree(&place.root), &after, "what is applied");
    let _ = place.apply(&applied.undo).unwrap();
    assert_same(&read_tree(&place.root), &project(), "what is undone");
    set
}

fn lines_of(set: &ChangeSet) -> Vec<String> {
    let change = |change: &Change| {
        let kind = match change.kind {
            ChangeKind::Added => "+",
            ChangeKind::Modified => "~",
            ChangeKind::Deleted => "-",
            ChangeKind::Renamed => ">",
        };
        let from = change.from.as_ref().map(|from| format!("{from} ")).unwrap_or_default();
        format!("{kind} {from}{}", change.path)
    };
    let changes = set.changes.iter().map(change);
    let added = set.folders_added.iter().map(|folder| format!("+ {}/", folder.path));
    let removed = set.folders_removed.iter().map(|folder| format!("- {}/", folder.path));
    changes.chain(added).chain(removed).collect()
}

fn moved(tree: &mut Tree, from: &str, to: &str) {
    let node = tree.remove(from).unwrap();
    tree.insert(to.to_owned(), node);
}

fn folder_moved(tree: &mut Tree, from: &str, to: &str) {
    let below = format!("{from}/");
    let paths: Vec<String> = tree.keys().filter(|path| *path == from || path.starts_with(&below)).cloned().collect();
    for path in paths {
        moved(tree, &path, &path.replacen(from, to, 1));
    }
}

#[test]
fn a_new_file_is_as_open_as_its_folder() {
    proposes(
        |view| {
            view.put("new.txt", "new\n").unwrap();
            view.put("private/new.txt", "").unwrap();
            view.mkdir("private/sub").unwrap();
            view.put("private/sub/new.txt", "x").unwrap();
        },
        &["+ new.txt", "+ private/new.txt", "+ private/sub/new.txt", "+ private/sub/"],
        |tree| {
            tree.extend([
                ("new.txt".into(), file("new\n")),
                ("private/new.txt".into(), file_of("", 0o600)),
                ("private/sub".into(), Node::Folder { mode: 0o700 }),
                ("private/sub/new.txt".into(), file_of("x", 0o600)),
            ]);
        },
    );
}

#[test]
fn a_file_that_is_written_keeps_its_mode_and_what_is_written_back_is_no_change() {
    let set = proposes(
        |view| {
            view.open_file("run.sh", WRITE).unwrap().write_at(b"TWO", Some(5)).unwrap();
            let notes = view.open_file("notes.txt", WRITE).unwrap();
            notes.write_at(b"two\n", None).unwrap();
            notes.set_size(4).unwrap();
            view.put("other.txt", "other\n").unwrap();
        },
        &["~ run.sh"],
        |tree| drop(tree.insert("run.sh".into(), file_of("echo TWO\n", 0o755))),
    );
    let change = &set.changes[0];
    assert_eq!((change.mode, change.base_mode), (Some(0o755), Some(0o755)));
    assert_eq!(change.diff.as_deref(), Some("@@ -1,1 +1,1 @@\n-echo one\n+echo TWO\n"));
}

#[test]
fn files_are_removed_and_made_again() {
    proposes(|view| view.unlink("notes.txt").unwrap(), &["- notes.txt"], |tree| drop(tree.remove("notes.txt")));
    // It takes the mode of the file whose place it takes.
    proposes(
        |view| {
            view.unlink("run.sh").unwrap();
            view.put("run.sh", "echo two\n").unwrap();
        },
        &["~ run.sh"],
        |tree| drop(tree.insert("run.sh".into(), file_of("echo two\n", 0o755))),
    );
    proposes(
        |view| {
            view.put("new", "x").unwrap();
            view.unlink("new").unwrap();
            view.unlink("notes.txt").unwrap();
            view.put("notes.txt", "one\n").unwrap();
        },
        &[],
        |_| {},
    );
}

#[test]
fn an_editor_saves_by_renaming_and_the_mode_stays() {
    let saved = |tree: &mut Tree| drop(tree.insert("run.sh".into(), file_of("echo two\n", 0o755)));
    // A temporary file over the old one.
    proposes(
        |view| {
            view.put("run.sh.tmp", "echo two\n").unwrap();
            view.rename("run.sh.tmp", "run.sh").unwrap();
        },
        &["~ run.sh"],
        saved,
    );
    // The old one away, a new one, the old one removed.
    proposes(
        |view| {
            view.rename("run.sh", "run.sh~").unwrap();
            view.put("run.sh", "echo two\n").unwrap();
            view.unlink("run.sh~").unwrap();
        },
        &["~ run.sh"],
        saved,
    );
    // And the old one kept, which is a new file with the old mode.
    proposes(
        |view| {
            view.rename("run.sh", "run.sh~").unwrap();
            view.put("run.sh", "echo two\n").unwrap();
        },
        &["~ run.sh", "+ run.sh~"],
        |tree| {
            let old = tree["run.sh"].clone();
            saved(tree);
            tree.insert("run.sh~".into(), old);
        },
    );
}

#[test]
fn files_are_renamed_with_and_without_edits() {
    let set = proposes(
        |view| view.rename("run.sh", "src/start.sh").unwrap(),
        &["> run.sh src/start.sh"],
        |tree| moved(tree, "run.sh", "src/start.sh"),
    );
    assert_eq!(set.changes[0].diff.as_deref(), Some(""));
    let edited = |tree: &mut Tree| {
        tree.remove("run.sh");
        tree.insert("start.sh".into(), file_of("echo one\n!", 0o755));
    };
    proposes(
        |view| {
            view.rename("run.sh", "start.sh").unwrap();
            view.open_file("start.sh", WRITE).unwrap().write_at(b"!", None).unwrap();
        },
        &["> run.sh start.sh"],
        edited,
    );
    proposes(
        |view| {
            view.open_file("run.sh", WRITE).unwrap().write_at(b"!", None).unwrap();
            view.rename("run.sh", "b").unwrap();
            view.rename("b", "start.sh").unwrap();
        },
        &["> run.sh start.sh"],
        edited,
    );
    // Over another file, which is that one changed then; and back again, which is nothing.
    proposes(
        |view| view.rename("run.sh", "notes.txt").unwrap(),
        &["~ notes.txt", "- run.sh"],
        |tree| moved(tree, "run.sh", "notes.txt"),
    );
    proposes(
        |view| {
            view.rename("run.sh", "a").unwrap();
            view.rename("a", "run.sh").unwrap();
            view.rename("src", "lib").unwrap();
            view.rename("lib", "src").unwrap();
        },
        &[],
        |_| {},
    );
}

#[test]
fn two_files_swap() {
    proposes(
        |view| {
            view.rename("run.sh", "swap").unwrap();
            view.rename("notes.txt", "run.sh").unwrap();
            view.rename("swap", "notes.txt").unwrap();
        },
        &["~ notes.txt", "~ run.sh"],
        |tree| {
            let (run, notes) = (tree["run.sh"].clone(), tree["notes.txt"].clone());
            tree.extend([("run.sh".into(), notes), ("notes.txt".into(), run)]);
        },
    );
}

#[test]
fn a_folder_moves_with_all_that_is_in_it() {
    proposes(
        |view| {
            view.put("src/new.rs", "n\n").unwrap();
            view.unlink("src/lib.rs").unwrap();
            view.rename("src", "lib").unwrap();
        },
        &[
            "> src/deep/a.rs lib/deep/a.rs",
            "+ lib/new.rs",
            "- src/lib.rs",
            "+ lib/",
            "+ lib/deep/",
            "- src/",
            "- src/deep/",
        ],
        |tree| {
            tree.remove("src/lib.rs");
            tree.insert("src/new.rs".into(), file("n\n"));
            folder_moved(tree, "src", "lib");
        },
    );
    // It keeps its mode, and so do the files in it.
    proposes(
        |view| {
            view.rename("private", "mine").unwrap();
            view.put("mine/new", "x").unwrap();
        },
        &["> private/key.txt mine/key.txt", "+ mine/new", "+ mine/", "- private/"],
        |tree| {
            folder_moved(tree, "private", "mine");
            tree.insert("mine/new".into(), file_of("x", 0o600));
        },
    );
    // Onto an empty folder of the tree, which is there before and after.
    proposes(
        |view| view.rename("src/deep", "empty").unwrap(),
        &["> src/deep/a.rs empty/a.rs", "- src/deep/"],
        |tree| {
            moved(tree, "src/deep/a.rs", "empty/a.rs");
            tree.remove("src/deep");
        },
    );
    // Away, and another one of its name made.
    proposes(
        |view| {
            view.rename("src", "lib").unwrap();
            view.mkdir("src").unwrap();
            view.put("src/lib.rs", "new\n").unwrap();
        },
        &["> src/deep/a.rs lib/deep/a.rs", "+ lib/lib.rs", "~ src/lib.rs", "+ lib/", "+ lib/deep/", "- src/deep/"],
        |tree| {
            let old = tree.clone();
            folder_moved(tree, "src", "lib");
            tree.insert("src".into(), old["src"].clone());
            tree.insert("src/lib.rs".into(), file("new\n"));
        },
    );
}

#[test]
fn files_and_folders_take_each_others_places() {
    proposes(
        |view| {
            view.unlink("private/key.txt").unwrap();
            view.rmdir("private").unwrap();
            view.put("private", "now a file\n").unwrap();
            view.rmdir("empty").unwrap();
            view.rename("notes.txt", "empty").unwrap();
        },
        &["> notes.txt empty", "+ private", "- private/key.txt", "- empty/", "- private/"],
        |tree| {
            tree.remove("private/key.txt");
            tree.insert("private".into(), file("now a file\n"));
            moved(tree, "notes.txt", "empty");
        },
    );
    proposes(
        |view| {
            view.unlink("run.sh").unwrap();
            view.mkdir("run.sh").unwrap();
            view.put("run.sh/main", "x").unwrap();
            view.unlink("notes.txt").unwrap();
            view.rename("src/deep", "notes.txt").unwrap();
        },
        &[
            "- notes.txt",
            "> src/deep/a.rs notes.txt/a.rs",
            "- run.sh",
            "+ run.sh/main",
            "+ notes.txt/",
            "+ run.sh/",
            "- src/deep/",
        ],
        |tree| {
            tree.insert("run.sh".into(), folder());
            tree.insert("run.sh/main".into(), file("x"));
            tree.remove("notes.txt");
            folder_moved(tree, "src/deep", "notes.txt");
        },
    );
}

#[test]
fn empty_folders_come_and_go() {
    proposes(
        |view| {
            view.mkdir("a").unwrap();
            view.mkdir("a/b").unwrap();
            view.mkdir("c").unwrap();
            view.rmdir("c").unwrap();
            view.rmdir("empty").unwrap();
        },
        &["+ a/", "+ a/b/", "- empty/"],
        |tree| {
            tree.remove("empty");
            tree.extend([("a".into(), folder()), ("a/b".into(), folder())]);
        },
    );
    proposes(
        |view| {
            view.rmdir("empty").unwrap();
            view.mkdir("empty").unwrap();
            view.rename("empty", "x").unwrap();
            view.rename("x", "empty").unwrap();
        },
        &[],
        |_| {},
    );
}

/// What the tree was changed to while the role was at work is not overwritten.
#[test]
fn a_tree_that_changed_meanwhile_is_a_conflict() {
    type Act = fn(&mut View);
    let acts: [(&str, Act); 6] = [
        ("edit", |view| view.put("notes.txt", "role\n").unwrap()),
        ("edit to what it became", |view| view.put("notes.txt", "user\n").unwrap()),
        ("remove", |view| view.unlink("notes.txt").unwrap()),
        ("move", |view| view.rename("notes.txt", "moved").unwrap()),
        ("move over another", |view| view.rename("notes.txt", "other.txt").unwrap()),
        ("swap", |view| {
            view.rename("notes.txt", "swap").unwrap();
            view.rename("other.txt", "notes.txt").unwrap();
            view.rename("swap", "other.txt").unwrap();
        }),
    ];
    for (name, act) in acts {
        let place = Place::new(&project());
        let expected = {
            let mut view = view(&place);
            act(&mut view);
            view.change_set()
        };
        for then in [Some("user\n"), None] {
            let mut view = view(&place);
            act(&mut view);
            let path = place.root.join("notes.txt");
            match then {
                Some(text) => std::fs::write(&path, text).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let set = view.change_set();
            // It says what the role saw, and what it made of that.
            let sides = |set: &ChangeSet| {
                let side =
                    |c: &Change| (c.path.clone(), c.kind, c.base.clone(), c.new.clone(), c.base_bytes, c.new_bytes);
                set.changes.iter().map(side).collect::<Vec<_>>()
            };
            assert_eq!(sides(&set), sides(&expected), "{name}");
            assert_eq!(set.check().map_err(|e| e.to_string()), Ok(()), "{name}");
            let changed = read_tree(&place.root);
            match place.apply(&set) {
                Err(ApplyError::Conflict { conflicts, .. }) => assert_eq!(conflicts[0].path, "notes.txt", "{name}"),
                other => panic!("{name}: {other:?}"),
            }
            assert_same(&read_tree(&place.root), &changed, name);
            // When the file is again what the role saw, the set makes what the role made, of the contents that it saw.
            std::fs::write(&path, "one\n").unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
            let seen = view.tree();
            let applied = place.apply(&set).unwrap();
            assert_same(&common::without_modes(&read_tree(&place.root)), &seen, name);
            let _ = place.apply(&applied.undo).unwrap();
            assert_same(&read_tree(&place.root), &project(), name);
        }
    }
}

#[test]
fn what_is_new_in_a_folder_that_the_role_removes_stays() {
    let place = Place::new(&project());
    let mut view = view(&place);
    view.unlink("private/key.txt").unwrap();
    view.rmdir("private").unwrap();
    std::fs::write(place.root.join("private/mine"), "mine").unwrap();
    let applied = place.apply(&view.change_set()).unwrap();
    assert_eq!(applied.folders_left, ["private"]);
    assert_eq!(std::fs::read(place.root.join("private/mine")).unwrap(), b"mine");
}

#[test]
fn no_role_writes_version_control_or_what_brain_keeps_for_itself() {
    let nodes =
        [(".git/config", file("c")), (".brain/brain.toml", file("b")), ("sub/.git/HEAD", file("h")), ("a", file("a"))];
    let place = Place::new(&tree(nodes));
    // Nothing is denied here, and all is granted.
    let mut view = view(&place);
    let temporary = format!("{TEMP_PREFIX}1-2");
    let before = view.tree();
    for name in [".git", ".brain", ".GIT", ".Brain", "sub/.git", ".git.", "git~1", &temporary] {
        for path in [name.to_owned(), format!("{name}/new"), format!("{name}/config")] {
            for result in [
                view.put(&path, "x"),
                view.mkdir(&path),
                view.unlink(&path),
                view.rmdir(&path),
                view.rename("a", &path),
                view.rename("sub", &path),
                view.rename(&path, "b"),
            ] {
                assert!(result.is_err(), "{path}");
            }
        }
    }
    assert_eq!(code(view.put(".git/config", "x")), ErrorCode::Access);
    assert_eq!(code(view.open(".brain/new", MAKE)), ErrorCode::Access);
    // A folder with such in it stays where it is, and such a name is read like any other.
    assert_eq!(code(view.rename("sub", "moved")), ErrorCode::Access);
    assert_eq!(view.read("sub/.git/HEAD").unwrap(), b"h");
    assert_same(&view.tree(), &before, "nothing has changed");
    assert!(view.change_set().is_empty());
    // What only looks like it is free.
    view.put(".gitignore", "x").unwrap();
    view.put(".github", "x").unwrap();
    view.put(".brainy", "x").unwrap();
    assert_eq!(view.change_set().changes.len(), 3);
}

#[test]
fn paths_as_long_and_as_deep_as_they_may_be_go_all_the_way() {
    let place = Place::new(&Tree::new());
    let mut view = view(&place);
    // 128 folders; and a name of 255 bytes at every place that the length leaves.
    let deep = vec!["d"; 128].join("/");
    let long_name = "n".repeat(255);
    let long = vec![long_name.as_str(); 15].join("/");
    for path in [&deep, &long] {
        for (at, _) in path.match_indices('/') {
            view.mkdir(&path[..at]).unwrap();
        }
        view.mkdir(path).unwrap();
    }
    let deepest = format!("{deep}/f");
    view.put(&deepest, "deep").unwrap();
    view.mkdir(&format!("{deep}/d")).unwrap();
    assert_eq!(code(view.mkdir(&format!("{deep}/d/d"))), ErrorCode::NameTooLong);
    let longest = format!("{long}/{long_name}");
    assert_eq!(longest.len(), 4095);
    view.put(&longest, "long").unwrap();
    assert_eq!(code(view.put(&format!("{longest}12"), "x")), ErrorCode::NameTooLong);
    assert_eq!(code(view.mkdir(&"n".repeat(256))), ErrorCode::NameTooLong);
    // No folder moves to where what is in it would be too deep, or its path too long.
    view.mkdir("sub").unwrap();
    assert_eq!(code(view.rename("d", "sub/d")), ErrorCode::NameTooLong);
    assert_eq!(code(view.rename(&long_name, &format!("sub/{long_name}"))), ErrorCode::NameTooLong);
    assert_eq!(view.read(&deepest).unwrap(), b"deep");

    let set = view.change_set();
    let applied = place.apply(&set).unwrap();
    assert_eq!(open_view(&place.everything(), &FileLimits::default()).read(&deepest).unwrap(), b"deep");
    assert_eq!(open_view(&place.everything(), &FileLimits::default()).read(&longest).unwrap(), b"long");
    let _ = place.apply(&applied.undo).unwrap();
    assert_eq!(std::fs::read_dir(&place.root).unwrap().count(), 0);
}

#[test]
fn handles_of_a_file_are_one_file_and_handles_of_a_folder_are_its_path() {
    let place = Place::new(&project());
    let mut view = view(&place);
    let reader = view.open_file("notes.txt", READ).unwrap();
    let writer = view.open_file("notes.txt", WRITE).unwrap();
    writer.write_at(b"two\n", None).unwrap();
    assert_eq!(read_all(&reader), b"one\ntwo\n");
    view.rename("notes.txt", "moved").unwrap();
    view.put("notes.txt", "another").unwrap();
    writer.write_at(b"three\n", None).unwrap();
    assert_eq!((read_all(&reader), view.read("moved").unwrap()), (b"one\ntwo\nthree\n".to_vec(), read_all(&writer)));
    // What was opened before it moved, and was first written to then.
    let reader = view.open_file("other.txt", READ).unwrap();
    view.rename("other.txt", "b").unwrap();
    view.put("b", "new").unwrap();
    assert_eq!(read_all(&reader), b"new");
    // To cut a file without opening it to write gives no right to write it.
    let cut = brain_files::Open { truncate: true, ..READ };
    let cut = view.open_file("b", cut).unwrap();
    assert_eq!((code(cut.write_at(b"x", None)), read_all(&reader)), (ErrorCode::BadDescriptor, Vec::new()));

    for path in ["src", "made"] {
        let _ = view.mkdir(path);
        let Ok(Handle::Folder(folder)) = view.open(path, FOLDER) else { panic!("it is a folder") };
        view.rename(path, "elsewhere").unwrap();
        assert_eq!(code(view.view.open_at(&folder, "new", MAKE)), ErrorCode::NoEntry, "{path}");
        assert_eq!(code(view.view.create_folder_at(&folder, "new")), ErrorCode::NoEntry, "{path}");
        assert_eq!(code(view.list_handle(&folder)), ErrorCode::NoEntry, "{path}");
        assert_eq!(code(view.view.stat(&Handle::Folder(folder.clone()))), ErrorCode::NoEntry, "{path}");
        view.mkdir(path).unwrap();
        assert_eq!(view.list_handle(&folder).unwrap(), [], "{path}");
        view.rename("elsewhere", &format!("was-{path}")).unwrap();
    }
    assert_eq!(view.change_set().check().map_err(|e| e.to_string()), Ok(()));
}

#[test]
fn where_nothing_may_be_written_nothing_is_and_no_folder_is_needed() {
    let place = Place::new(&project());
    let mut grants =
        place.grants(WorkspaceGrant::new(&place.root, vec![GlobLayer::new("operator", ["**"])], Vec::new()));
    grants.contents = None;
    let mut view = open_view(&grants, &FileLimits::default());
    assert_eq!(code(view.put("new", "")), ErrorCode::ReadOnly);
    assert_eq!(code(view.unlink("notes.txt")), ErrorCode::ReadOnly);
    assert!(view.change_set().is_empty());
    // A role that may write and does not leaves no folder behind.
    let view = self::view(&place);
    assert!(view.change_set().is_empty() && !place.contents_folder().exists());
}

#[test]
fn a_file_with_a_special_bit_is_read_and_never_proposed_to_change() {
    use std::os::unix::fs::PermissionsExt;
    for bit in [0o4000, 0o2000, 0o1000] {
        let place = Place::new(&project());
        let special = place.root.join("src/deep/a.rs");
        std::fs::set_permissions(&special, std::fs::Permissions::from_mode(bit | 0o755)).unwrap();
        let mut view = view(&place);
        assert_eq!(view.read("src/deep/a.rs").unwrap(), b"a\n");
        let refused = [
            code(view.put("src/deep/a.rs", "new")),
            code(view.unlink("src/deep/a.rs")),
            code(view.rename("src/deep/a.rs", "free")),
            code(view.rename("notes.txt", "src/deep/a.rs")),
            code(view.rename("src", "moved")),
        ];
        assert_eq!(refused, [ErrorCode::NotPermitted; 5], "{bit:o}");
        let (denials, _) = view.view.denials();
        assert_eq!((denials.len(), denials[0].path.as_str()), (1, "/workspace/src/deep/a.rs"), "{denials:?}");
        assert!(denials[0].why.contains("sticky bit") && denials[0].count == 5, "{denials:?}");
        // What is beside it can be changed.
        view.put("src/deep/b.rs", "b\n").unwrap();
        assert_eq!(lines_of(&view.change_set()), ["+ src/deep/b.rs"]);
    }
}
