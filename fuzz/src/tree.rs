//! Small trees: made on disk, and read back as values.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A regular file, with its permission bits.
    File(Vec<u8>, u32),
    /// A folder, with its permission bits.
    Folder(u32),
    /// A symbolic link, with its target.
    Link(PathBuf),
}

/// Everything below a root, by path; a folder comes before what is in it.
pub type Tree = BTreeMap<String, Node>;

/// A folder that is removed with the value. Unless somebody said where, it is in memory where the system has that: nothing here
/// outlives the machine, and a disk is slow to say that all is written out.
pub fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let place =
        if std::env::var_os("TMPDIR").is_none() && memory.is_dir() { memory.into() } else { std::env::temp_dir() };
    TempDir::with_prefix_in("brain-fuzz-", place).expect("a temporary folder can be made")
}

/// Makes a tree below an empty folder.
pub fn write(root: &Path, tree: &Tree) {
    for (path, node) in tree {
        let path = root.join(path);
        match node {
            Node::File(bytes, mode) => {
                fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).expect("the mode can be set");
            }
            Node::Folder(mode) => {
                fs::create_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).expect("the mode can be set");
            }
            Node::Link(target) => std::os::unix::fs::symlink(target, &path).expect("a link can be made"),
        }
    }
}

/// Reads everything below a folder.
pub fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    read_into(root, "", &mut tree);
    tree
}

fn read_into(folder: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(folder).expect("the folder can be listed") {
        let entry = entry.expect("the folder can be listed");
        let path = format!("{prefix}{}", entry.file_name().into_string().expect("the name is UTF-8"));
        let metadata = entry.path().symlink_metadata().expect("the entry is there");
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_dir() {
            tree.insert(path.clone(), Node::Folder(mode));
            read_into(&entry.path(), &format!("{path}/"), tree);
        } else if metadata.is_symlink() {
            tree.insert(path, Node::Link(fs::read_link(entry.path()).expect("the link can be read")));
        } else {
            tree.insert(path, Node::File(fs::read(entry.path()).expect("the file can be read"), mode));
        }
    }
}

/// Every folder that `path` is in, the outermost first.
pub fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// Fails unless both are the same, and says where they are not.
pub fn assert_same(found: &Tree, expected: &Tree, when: &str) {
    for path in found.keys().chain(expected.keys()) {
        assert_eq!(found.get(path), expected.get(path), "{when}: {path:?}");
    }
}
