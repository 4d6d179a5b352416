//! Trees as values, and change sets between them.
#![allow(missing_docs, dead_code, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use brain_changes::{Builder, ChangeSet, Contents, Side};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    File { bytes: Vec<u8>, mode: u32 },
    Folder { mode: u32 },
    Link(PathBuf),
    Other,
}

/// Everything below a root, by path.
pub type Model = BTreeMap<String, Node>;

pub fn file(bytes: impl AsRef<[u8]>, mode: u32) -> Node {
    Node::File { bytes: bytes.as_ref().to_vec(), mode }
}

pub fn folder(mode: u32) -> Node {
    Node::Folder { mode }
}

pub fn model(nodes: &[(&str, Node)]) -> Model {
    nodes.iter().map(|(path, node)| ((*path).to_owned(), node.clone())).collect()
}

pub fn write_tree(root: &Path, model: &Model) {
    for (path, node) in model {
        let path = root.join(path);
        match node {
            Node::File { bytes, mode } => {
                let options = fs::OpenOptions::new().write(true).create_new(true).mode(*mode).open(&path);
                std::io::Write::write_all(&mut options.unwrap(), bytes).unwrap();
            }
            Node::Folder { mode } => fs::DirBuilder::new().mode(*mode | 0o700).create(&path).unwrap(),
            Node::Link(to) => std::os::unix::fs::symlink(to, &path).unwrap(),
            Node::Other => panic!("not made here"),
        }
    }
    for (path, node) in model.iter().rev() {
        if let Node::File { mode, .. } | Node::Folder { mode } = node {
            fs::set_permissions(root.join(path), fs::Permissions::from_mode(*mode)).unwrap();
        }
    }
}

pub fn read_tree(root: &Path) -> Model {
    let mut model = Model::new();
    read_into(root, "", &mut model);
    model
}

fn read_into(folder: &Path, prefix: &str, model: &mut Model) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().into_string().unwrap());
        let meta = fs::symlink_metadata(entry.path()).unwrap();
        let mode = meta.permissions().mode() & 0o7777;
        if meta.is_dir() {
            model.insert(path.clone(), Node::Folder { mode });
            read_into(&entry.path(), &format!("{path}/"), model);
        } else if meta.is_file() {
            model.insert(path, Node::File { bytes: fs::read(entry.path()).unwrap(), mode });
        } else if meta.is_symlink() {
            model.insert(path, Node::Link(fs::read_link(entry.path()).unwrap()));
        } else {
            model.insert(path, Node::Other);
        }
    }
}

/// The set that makes `after` of `before`; `renames` are pairs of old and new path.
pub fn between(before: &Model, after: &Model, renames: &[(String, String)], contents: &Contents) -> ChangeSet {
    let mut builder = Builder::new(contents);
    let side = |model: &Model, path: &str| match model.get(path) {
        Some(Node::File { bytes, mode }) => Some((bytes.clone(), *mode)),
        _ => None,
    };
    let make = |(bytes, mode): (Vec<u8>, u32)| Side::new(mode, std::io::Cursor::new(bytes));
    for (from, to) in renames {
        let (old, new) = (side(before, from).unwrap(), side(after, to).unwrap());
        builder.renamed(from, to, make(old), make(new)).unwrap();
    }
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    for path in paths {
        let old = side(before, path).filter(|_| !renames.iter().any(|(from, _)| from == path));
        let new = side(after, path).filter(|_| !renames.iter().any(|(_, to)| to == path));
        match (old, new) {
            (Some(old), Some(new)) => builder.modified(path, make(old), make(new)).map(|_| ()),
            (Some(old), None) => builder.deleted(path, make(old)).map(|_| ()),
            (None, Some(new)) => builder.added(path, make(new)).map(|_| ()),
            (None, None) => Ok(()),
        }
        .unwrap();
        match (before.get(path), after.get(path)) {
            (Some(Node::Folder { mode }), Some(Node::Folder { mode: now })) => assert_eq!(mode, now, "{path}"),
            (Some(Node::Folder { mode }), _) => drop(builder.folder_removed(path, *mode).unwrap()),
            (_, Some(Node::Folder { mode })) => drop(builder.folder_added(path, *mode).unwrap()),
            _ => {}
        }
    }
    builder.finish().unwrap()
}

/// A folder in memory where the system has one: nothing here outlives the machine, and a disk is slow to say that all is
/// written out.
pub fn fast_dir() -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix("brain-changes-").tempdir_in("/dev/shm");
    dir.or_else(|_| tempfile::tempdir()).unwrap()
}

/// A tree on disk, with contents beside it.
pub struct Place {
    _dir: tempfile::TempDir,
    pub root: PathBuf,
    pub contents: Contents,
}

pub fn place(model: &Model) -> Place {
    let dir = fast_dir();
    let root = dir.path().join("tree");
    fs::create_dir(&root).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    write_tree(&root, model);
    let contents = Contents::open(dir.path().join("contents")).unwrap();
    Place { _dir: dir, root, contents }
}

/// Says what differs, path by path.
pub fn assert_same(found: &Model, expected: &Model, context: &str) {
    for path in found.keys().chain(expected.keys()) {
        assert_eq!(found.get(path), expected.get(path), "{context}: `{path}`");
    }
}

/// The tree in a folder that is not there yet.
pub fn write_tree_at(root: &Path, model: &Model) {
    fs::create_dir(root).unwrap();
    write_tree(root, model);
}
