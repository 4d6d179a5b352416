//! Any tree of files, folders and links, any grant and any path: a role reads a file only if it is inside and granted, and
//! it does read every granted file by its plain path.
//!
//! The host itself is the oracle: every file has a length of its own, so the length that a role reads names the file, and
//! `canonicalize` says where a path really leads.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use brain_sandbox::Role;
use brain_tests::Bench;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Node {
    File,
    Folder,
    Link(String),
}

/// A few names, so that paths meet.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", ".env"]).prop_map(str::to_owned)
}

fn plain_path() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"))
}

fn any_path() -> impl Strategy<Value = String> {
    let step =
        prop_oneof![8 => name(), 3 => Just("..".to_owned()), 1 => Just(".".to_owned()), 1 => Just(String::new())];
    prop::collection::vec(step, 1..7).prop_map(|steps| steps.join("/"))
}

fn node() -> impl Strategy<Value = Node> {
    let link = prop_oneof![
        6 => any_path(),
        // `OUTSIDE` is replaced by a folder that is not granted.
        1 => Just("OUTSIDE".to_owned()),
        1 => name().prop_map(|name| format!("OUTSIDE/{name}")),
    ];
    prop_oneof![4 => Just(Node::File), 2 => Just(Node::Folder), 3 => link.prop_map(Node::Link)]
}

/// A read glob, and the rule that it stands for.
type Grant = (&'static str, fn(&str) -> bool);

const GRANTS: [Grant; 5] = [
    ("**", |_| true),
    ("a", |path| path == "a" || path.starts_with("a/")),
    ("*/b", |path| path.split('/').nth(1) == Some("b") && path.split('/').count() == 2),
    ("**/c", |path| path == "c" || path.ends_with("/c")),
    ("a/b/c", |path| path == "a/b/c" || path.starts_with("a/b/c/")),
];

fn denied(path: &str) -> bool {
    path.split('/').any(|name| name == ".env")
}

/// Makes the tree, as far as it fits together; the length of each file by its canonical path.
fn build(root: &Path, outside: &Path, nodes: &[(String, Node)]) -> BTreeMap<PathBuf, usize> {
    let mut files = BTreeMap::new();
    let mut length = 10;
    let mut file = |path: PathBuf| {
        length += 1;
        if !path.exists() && fs::write(&path, "x".repeat(length)).is_ok() {
            files.insert(path.canonicalize().unwrap(), length);
        }
    };
    for name in ["a", "b", "c"] {
        file(outside.join(name));
    }
    for (path, node) in nodes {
        let path = root.join(path);
        // Only folders of the tree itself: a file that is made through a link would be made outside.
        let parent = path.parent().unwrap();
        if fs::create_dir_all(parent).is_err() || parent.canonicalize().ok().as_deref() != Some(parent) {
            continue;
        }
        match node {
            Node::File => file(path),
            Node::Folder => drop(fs::create_dir(&path)),
            Node::Link(target) if target.is_empty() => {}
            Node::Link(target) => drop(symlink(target.replace("OUTSIDE", &outside.display().to_string()), &path)),
        }
    }
    files
}

/// The length that the role reads at `path`; none when it gets an error.
fn read(bench: &Bench, role: &Role, path: &str) -> Option<usize> {
    let run = bench.run(role, &format!("open /workspace/{path}"));
    let said = run.result.summary.rsplit_once(": ").unwrap().1.to_owned();
    said.strip_prefix("ok ").map(|said| said.split(' ').next().unwrap().parse().unwrap())
}

fn check(nodes: &[(String, Node)], grant: usize, paths: &[String]) -> Result<(), TestCaseError> {
    let (glob, rule) = GRANTS[grant];
    let mut bench = Bench::new();
    bench.read = vec![glob.into()];
    let role = bench.load("misbehave");
    let root = bench.workspace.path().canonicalize().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let files = build(&root, outside.path(), nodes);
    for path in paths {
        if let Some(length) = read(&bench, &role, path) {
            let real = Path::new(&format!("{}/{path}", root.display())).canonicalize();
            prop_assert!(real.is_ok(), "{path} leads nowhere, and yet {length} bytes were read");
            let real = real.unwrap();
            prop_assert_eq!(files.get(&real), Some(&length), "{} led to another file", path);
            let below = real.strip_prefix(&root);
            prop_assert!(below.is_ok(), "{path} leads outside to {}", real.display());
            let below = below.unwrap().to_str().unwrap();
            prop_assert!(rule(below) && !denied(below), "{path} leads to {below}, which is not granted by {glob}");
        }
    }
    for (file, length) in &files {
        let Ok(below) = file.strip_prefix(&root) else { continue };
        let below = below.to_str().unwrap();
        let expected = (rule(below) && !denied(below)).then_some(*length);
        prop_assert_eq!(read(&bench, &role, below), expected, "{} under {}", below, glob);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_role_reads_what_is_granted_and_nothing_else(
        nodes in prop::collection::vec((plain_path(), node()), 0..24),
        grant in 0..GRANTS.len(),
        paths in prop::collection::vec(any_path(), 0..24),
    ) {
        check(&nodes, grant, &paths)?;
    }
}
