//! Reading and walking the granted folders, hostile trees included.

use std::fs;
use std::io::ErrorKind;

use brain_role::testing::Bench;
use brain_role::{ContextRef, ContextRefKind, MAX_FILE_BYTES, MAX_SKIPPED_LISTED, WalkLimits};

fn paths(bench: &Bench, limits: &WalkLimits) -> Vec<String> {
    bench.handoff().workspace().walk(limits).files.into_iter().map(|file| file.path).collect()
}

#[test]
fn a_walk_lists_regular_files_sorted_with_their_sizes() {
    let bench = Bench::new().file("b/z.rs", "12345").file("b.rs", "").file("a/deep/er/x", "1");
    let walk = bench.handoff().workspace().walk(&WalkLimits::default());
    let listed: Vec<_> = walk.files.iter().map(|file| (file.path.as_str(), file.len)).collect();
    assert_eq!(listed, [("a/deep/er/x", 1), ("b.rs", 0), ("b/z.rs", 5)]);
    assert_eq!((walk.skipped_count, walk.truncated, walk.note()), (0, false, None));
}

#[test]
fn odd_names_are_kept_as_they_are() {
    let names = [
        " lead",
        "a b",
        "a\nb",
        "a\"b",
        "a'b",
        "a\u{202e}b",
        "a\u{1b}[2J",
        "e\u{301}",
        "\u{1f468}\u{200d}\u{1f469}",
        "-rf",
        "a\\b",
        "…",
    ];
    let bench = names.iter().fold(Bench::new(), |bench, name| bench.file(name, name));
    let mut expected = names.to_vec();
    expected.sort_unstable();
    assert_eq!(paths(&bench, &WalkLimits::default()), expected);
    for name in names {
        assert_eq!(bench.handoff().workspace().read_text(name).unwrap(), name);
    }
}

#[test]
fn a_walk_stops_at_its_limits_and_says_so() {
    let bench = (0..20).fold(Bench::new(), |bench, n| bench.file(format!("dir/{n:02}"), "")).file("top", "");

    // Nearest to the root first: a walk that is cut keeps the top.
    let few = bench.handoff().workspace().walk(&WalkLimits { max_files: 3, ..WalkLimits::default() });
    assert_eq!(few.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["dir/00", "dir/01", "top"]);
    assert!(few.truncated);
    assert_eq!(few.skipped, [("dir/02".to_owned(), "the walk stopped at 3 files".to_owned())]);

    let entries = bench.handoff().workspace().walk(&WalkLimits { max_entries: 5, ..WalkLimits::default() });
    assert_eq!(entries.files.len(), 4);
    assert!(entries.truncated);

    let flat = bench.handoff().workspace().walk(&WalkLimits { max_depth: 0, ..WalkLimits::default() });
    assert_eq!(flat.files.len(), 1);
    assert_eq!(flat.skipped, [("dir".to_owned(), "deeper than 0 directories".to_owned())]);
    assert!(flat.note().unwrap().starts_with("1 entry was not read"));
}

#[test]
fn a_tree_that_cannot_be_listed_is_a_note_and_not_an_empty_project() {
    let bench = Bench::new();
    fs::remove_dir(bench.handoff().workspace().root()).unwrap();
    let walk = bench.handoff().workspace().walk(&WalkLimits::default());
    assert_eq!(walk.skipped_count, 1);
    assert!(walk.note().unwrap().contains("\".\""), "{walk:?}");
}

#[cfg(unix)]
#[test]
fn links_are_never_followed_and_counted() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new().file("dir/file", "");
    let root = bench.handoff().workspace().root().to_owned();
    symlink(&root, root.join("dir/loop")).unwrap();
    symlink("/etc/hostname", root.join("out")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    let walk = bench.handoff().workspace().walk(&WalkLimits::default());
    assert_eq!(walk.files.len(), 1);
    assert_eq!(walk.skipped_count, 3);
    assert!(walk.skipped.iter().all(|(_, reason)| reason == "a symbolic link"));
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_and_special_files_are_counted() {
    use std::ffi::OsStr;
    use std::os::unix::{ffi::OsStrExt, net::UnixListener};
    let bench = Bench::new().file("good", "");
    let root = bench.handoff().workspace().root().to_owned();
    fs::write(root.join(OsStr::from_bytes(b"bad\xff.rs")), "").unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    let walk = bench.handoff().workspace().walk(&WalkLimits::default());
    assert_eq!(walk.files.len(), 1);
    let reasons: Vec<_> = walk.skipped.iter().map(|(path, reason)| (path.as_str(), reason.as_str())).collect();
    assert_eq!(reasons, [("bad\u{fffd}.rs", "its name is not UTF-8"), ("socket", "not a regular file")]);
}

#[cfg(unix)]
#[test]
fn what_is_skipped_is_listed_up_to_a_bound_and_counted_beyond() {
    let bench = Bench::new();
    let root = bench.handoff().workspace().root().to_owned();
    for n in 0..MAX_SKIPPED_LISTED + 7 {
        std::os::unix::fs::symlink("x", root.join(n.to_string())).unwrap();
    }
    let walk = bench.handoff().workspace().walk(&WalkLimits::default());
    assert_eq!(walk.skipped.len(), MAX_SKIPPED_LISTED);
    assert_eq!(walk.skipped_count, MAX_SKIPPED_LISTED as u64 + 7);
}

#[test]
fn a_read_is_bounded() {
    let bench = Bench::new().file("four", "1234");
    let tree = bench.handoff().workspace();
    assert_eq!(tree.read_at_most("four", 4).unwrap(), b"1234");
    let error = tree.read_at_most("four", 3).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    assert_eq!(error.to_string(), "/workspace/four: larger than the 3 bytes that are read at once");
    assert_eq!(tree.head("four", 3).unwrap(), (b"123".to_vec(), true));
    assert_eq!(tree.head("four", 9).unwrap(), (b"1234".to_vec(), false));

    // A sparse file: as large as it says, with nothing behind it.
    let file = fs::File::create(tree.path("sparse")).unwrap();
    file.set_len(5 << 30).unwrap();
    assert_eq!(tree.read("sparse").unwrap_err().kind(), ErrorKind::FileTooLarge);
    file.set_len(MAX_FILE_BYTES).unwrap();
    assert_eq!(tree.read("sparse").unwrap().len() as u64, MAX_FILE_BYTES);
}

#[test]
fn errors_name_the_guest_path() {
    let bench = Bench::new().file("latin1", b"caf\xe9").file("dir/x", "");
    let tree = bench.handoff().workspace();
    let cases = [
        (tree.read_text("missing").unwrap_err(), ErrorKind::NotFound, "/workspace/missing: "),
        (tree.read_text("latin1").unwrap_err(), ErrorKind::InvalidData, "/workspace/latin1: not UTF-8: "),
        (tree.read_text("dir").unwrap_err(), ErrorKind::IsADirectory, "/workspace/dir: "),
        (tree.read_text("").unwrap_err(), ErrorKind::IsADirectory, "/workspace: "),
    ];
    for (error, kind, start) in cases {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().starts_with(start), "{error}");
        assert!(!error.to_string().contains(&*tree.root().to_string_lossy()), "the host's path is in: {error}");
    }
}

#[test]
fn a_path_that_climbs_out_is_refused() {
    let bench = Bench::new().context("secret", "").file("a", "");
    let tree = bench.handoff().workspace();
    for path in ["../context/secret", "a/../../context/secret", "/workspace/../context/secret", ".."] {
        assert_eq!(tree.read(path).unwrap_err().kind(), ErrorKind::PermissionDenied, "{path}");
        assert_eq!(tree.write(path, "").unwrap_err().kind(), ErrorKind::PermissionDenied, "{path}");
        assert!(!tree.exists(path), "{path}");
    }
    // An absolute path is taken below the tree.
    assert_eq!(tree.read("/etc/hostname").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(tree.path("/etc/hostname"), tree.root().join("etc/hostname"));
}

#[test]
fn guest_paths_and_relative_paths_are_the_same_file() {
    let bench = Bench::new().file("src/a.rs", "text");
    let tree = bench.handoff().workspace();
    for path in ["src/a.rs", "/workspace/src/a.rs", "./src/a.rs", "/src/a.rs"] {
        assert_eq!(tree.read_text(path).unwrap(), "text", "{path}");
        assert_eq!(tree.guest_path(path), "/workspace/src/a.rs");
        assert!(tree.exists(path));
    }
    assert_eq!(tree.guest_path(""), "/workspace");
    assert_eq!(tree.guest_path("/workspace"), "/workspace");
    // A name that only starts like the guest path is a name.
    assert_eq!(tree.guest_path("/workspaces"), "/workspace/workspaces");
}

#[test]
fn a_reference_is_read_in_the_tree_that_it_names() {
    let bench = Bench::new().file("a", "from the project").context("a", "from the context");
    let handoff = bench.handoff();
    handoff.artifacts().write("out/a", "from the role").unwrap();
    for (reference, text) in [
        (ContextRef::file("a"), "from the project"),
        (ContextRef::new(ContextRefKind::Summary, "/context/a"), "from the context"),
        (ContextRef::artifact("out/a"), "from the role"),
    ] {
        assert_eq!(handoff.read_text(&reference).unwrap(), text);
        assert_eq!(handoff.read(&reference).unwrap(), text.as_bytes());
    }
    for uri in ["", "a", "/etc/hostname", "https://example.org/", "/workspaces/a"] {
        let error = handoff.read(&ContextRef::new(ContextRefKind::File, uri)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{uri}");
    }
    let climbing = ContextRef::new(ContextRefKind::File, "/workspace/../context/a");
    assert_eq!(handoff.read(&climbing).unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert_eq!(bench.artifact("out/a").as_deref(), Some(&b"from the role"[..]));
}
