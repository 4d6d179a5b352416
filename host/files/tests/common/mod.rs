//! Trees on disk, trees as a role sees them, and views of them.
#![allow(missing_docs, dead_code, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brain_changes::{Applied, ApplyError, ChangeSet, Contents, MemoryLog, apply};
use brain_files::{
    ErrorCode, Fault, FileGrants, FileLimits, FileResult, FileView, Folder, GlobLayer, Handle, Kind, Listed, Open,
    OpenFile, RuleCache, Stop, WorkspaceGrant,
};
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    File { bytes: Vec<u8>, mode: u32 },
    Folder { mode: u32 },
    Link(String),
    Fifo,
}

/// Everything below a root, by path.
pub type Tree = BTreeMap<String, Node>;

pub fn file(bytes: impl AsRef<[u8]>) -> Node {
    file_of(bytes, 0o644)
}

pub fn file_of(bytes: impl AsRef<[u8]>, mode: u32) -> Node {
    Node::File { bytes: bytes.as_ref().to_vec(), mode }
}

pub fn folder() -> Node {
    Node::Folder { mode: 0o755 }
}

pub fn link(to: &str) -> Node {
    Node::Link(to.to_owned())
}

/// A tree of these nodes, with the folders that they are in.
pub fn tree<'a>(nodes: impl IntoIterator<Item = (&'a str, Node)>) -> Tree {
    let mut tree = Tree::new();
    for (path, node) in nodes {
        for (at, _) in path.match_indices('/') {
            tree.entry(path[..at].to_owned()).or_insert_with(folder);
        }
        tree.insert(path.to_owned(), node);
    }
    tree
}

pub fn write_tree(root: &Path, tree: &Tree) {
    for (path, node) in tree {
        let path = root.join(path);
        match node {
            Node::File { bytes, mode } => {
                let file = fs::OpenOptions::new().write(true).create_new(true).mode(*mode).open(&path);
                std::io::Write::write_all(&mut file.unwrap(), bytes).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Node::Folder { mode } => {
                fs::DirBuilder::new().mode(*mode).create(&path).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Node::Link(to) => std::os::unix::fs::symlink(to, &path).unwrap(),
            Node::Fifo => {
                rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o644.into(), 0).unwrap();
            }
        }
    }
}

pub fn read_tree(root: &Path) -> Tree {
    fn go(folder: &Path, prefix: &str, tree: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{prefix}{}", entry.file_name().into_string().unwrap());
            let meta = fs::symlink_metadata(entry.path()).unwrap();
            let mode = meta.permissions().mode() & 0o7777;
            let node = if meta.is_dir() {
                go(&entry.path(), &format!("{path}/"), tree);
                Node::Folder { mode }
            } else if meta.is_symlink() {
                Node::Link(fs::read_link(entry.path()).unwrap().into_os_string().into_string().unwrap())
            } else if meta.is_file() {
                Node::File { bytes: fs::read(entry.path()).unwrap(), mode }
            } else {
                Node::Fifo
            };
            tree.insert(path, node);
        }
    }
    let mut tree = Tree::new();
    go(root, "", &mut tree);
    tree
}

/// Says what differs, path by path.
pub fn assert_same(found: &Tree, expected: &Tree, context: &str) {
    for path in found.keys().chain(expected.keys()) {
        assert_eq!(found.get(path), expected.get(path), "{context}: `{path}`");
    }
}

/// A folder in memory where the system has one: a disk is slow to say that all is written out.
pub fn fast_dir() -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix("brain-files-").tempdir_in("/dev/shm");
    dir.or_else(|_| tempfile::tempdir()).unwrap()
}

/// A project on disk, and the folders that a call on it needs.
pub struct Place {
    dir: tempfile::TempDir,
    pub root: PathBuf,
}

impl Place {
    pub fn new(tree: &Tree) -> Self {
        let dir = fast_dir();
        let root = dir.path().join("project");
        for name in ["project", "staging", "artifacts"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
        write_tree(&root, tree);
        Self { dir, root }
    }

    pub fn contents_folder(&self) -> PathBuf {
        self.dir.path().join("contents")
    }

    pub fn contents(&self) -> Contents {
        Contents::open(self.contents_folder()).unwrap()
    }

    pub fn artifacts(&self) -> PathBuf {
        self.dir.path().join("artifacts")
    }

    /// Bytes and files that the overlay holds on the disk.
    pub fn staged(&self) -> (u64, usize) {
        let staged = read_tree(&self.dir.path().join("staging"));
        let sizes = staged.values().filter_map(|node| match node {
            Node::File { bytes, .. } => Some(bytes.len() as u64),
            _ => None,
        });
        (sizes.clone().sum(), sizes.count())
    }

    /// A grant of everything, to read and to write; nothing is denied.
    pub fn everything(&self) -> FileGrants {
        let everything = vec![GlobLayer::new("operator", ["**"])];
        let mut workspace = WorkspaceGrant::new(&self.root, everything.clone(), everything);
        workspace.deny.clear();
        self.grants(workspace)
    }

    pub fn grants(&self, workspace: WorkspaceGrant) -> FileGrants {
        FileGrants {
            workspace: Some(workspace),
            context: None,
            artifacts: Some(self.artifacts()),
            staging: Some(self.dir.path().join("staging")),
            contents: Some(self.contents_folder()),
        }
    }

    pub fn apply(&self, set: &ChangeSet) -> Result<Applied, ApplyError> {
        apply(set, &self.root, &self.contents(), &mut MemoryLog::default())
    }
}

pub fn open_view(grants: &FileGrants, limits: &FileLimits) -> View {
    open_stoppable(grants, limits, Arc::new(|| false))
}

pub fn open_stoppable(grants: &FileGrants, limits: &FileLimits, stop: Stop) -> View {
    let view = FileView::open(grants, limits, &RuleCache::default(), stop).unwrap();
    let roots: Vec<(Folder, &str)> = view.roots().collect();
    let root = |guest| roots.iter().find(|(_, path)| *path == guest).map(|(folder, _)| folder.clone());
    let (workspace, artifacts) = (root(brain_files::WORKSPACE), root(brain_files::ARTIFACTS));
    View { view, workspace, artifacts }
}

/// A view, and shorter words for what is done with it. Paths are below `/workspace`, or below `/artifacts` where they begin
/// with that.
pub struct View {
    pub view: FileView,
    workspace: Option<Folder>,
    artifacts: Option<Folder>,
}

pub const READ: Open =
    Open { follow: true, create: false, exclusive: false, directory: false, truncate: false, read: true, write: false };
pub const FOLDER: Open = Open { directory: true, ..READ };
pub const WRITE: Open = Open { write: true, ..READ };
pub const MAKE: Open = Open { create: true, exclusive: true, ..WRITE };
/// As `fs::write` and `>` open.
pub const PUT: Open = Open { create: true, truncate: true, ..WRITE };

pub fn code<T>(result: FileResult<T>) -> ErrorCode {
    match result {
        Ok(_) => panic!("it should fail"),
        Err(Fault::Code(code)) => code,
        Err(Fault::Stopped) => panic!("nothing stops it"),
    }
}

impl View {
    pub fn at<'p>(&self, path: &'p str) -> (Folder, &'p str) {
        match path.strip_prefix("/artifacts/") {
            Some(path) => (self.artifacts.clone().unwrap(), path),
            None => (self.workspace.clone().unwrap(), path),
        }
    }

    pub fn root(&self) -> Folder {
        self.at("").0
    }

    pub fn open(&mut self, path: &str, how: Open) -> FileResult<Handle> {
        let (root, path) = self.at(path);
        self.view.open_at(&root, path, how)
    }

    pub fn open_file(&mut self, path: &str, how: Open) -> FileResult<OpenFile> {
        match self.open(path, how)? {
            Handle::File(file) => Ok(file),
            Handle::Folder(_) => panic!("`{path}` is a folder"),
        }
    }

    /// Puts these bytes there, whatever was there.
    pub fn put(&mut self, path: &str, bytes: impl AsRef<[u8]>) -> FileResult<()> {
        self.open_file(path, PUT)?.write_at(bytes.as_ref(), Some(0))
    }

    pub fn read(&mut self, path: &str) -> FileResult<Vec<u8>> {
        Ok(read_all(&self.open_file(path, READ)?))
    }

    pub fn mkdir(&mut self, path: &str) -> FileResult<()> {
        let (root, path) = self.at(path);
        self.view.create_folder_at(&root, path)
    }

    pub fn rmdir(&mut self, path: &str) -> FileResult<()> {
        let (root, path) = self.at(path);
        self.view.remove_folder_at(&root, path)
    }

    pub fn unlink(&mut self, path: &str) -> FileResult<()> {
        let (root, path) = self.at(path);
        self.view.unlink_at(&root, path)
    }

    pub fn rename(&mut self, from: &str, to: &str) -> FileResult<()> {
        let ((from_root, from), (to_root, to)) = (self.at(from), self.at(to));
        self.view.rename_at(&from_root, from, &to_root, to)
    }

    pub fn list(&mut self, path: &str) -> FileResult<Vec<Listed>> {
        let Handle::Folder(folder) = self.open(path, FOLDER)? else { panic!("it is a folder") };
        self.list_handle(&folder)
    }

    /// What is in a folder, by name.
    pub fn list_handle(&self, folder: &Folder) -> FileResult<Vec<Listed>> {
        let mut listing = self.view.list(folder)?;
        let mut all = Vec::new();
        while let Some(listed) = self.view.next_entry(&mut listing)? {
            all.push(listed);
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Everything that the role sees. It is shown no modes.
    pub fn tree(&mut self) -> Tree {
        fn go(view: &mut View, folder: &Folder, prefix: &str, tree: &mut Tree) {
            for Listed { name, kind } in view.list_handle(folder).unwrap() {
                let path = format!("{prefix}{name}");
                let node = match kind {
                    Kind::Folder => {
                        let Ok(Handle::Folder(below)) = view.view.open_at(folder, &name, FOLDER) else {
                            panic!("`{path}` is listed as a folder")
                        };
                        go(view, &below, &format!("{path}/"), tree);
                        Node::Folder { mode: 0 }
                    }
                    Kind::File => {
                        let Ok(Handle::File(file)) = view.view.open_at(folder, &name, READ) else {
                            panic!("`{path}` is listed as a file")
                        };
                        file_of(read_all(&file), 0)
                    }
                    Kind::Link => Node::Link(view.view.read_link_at(folder, &name).unwrap_or_default()),
                };
                assert_eq!(tree.insert(path.clone(), node), None, "`{path}` is listed twice");
            }
        }
        let (root, mut tree) = (self.root(), Tree::new());
        go(self, &root, "", &mut tree);
        tree
    }

    pub fn change_set(&self) -> ChangeSet {
        self.view.change_set().unwrap()
    }
}

pub fn read_all(file: &OpenFile) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let more = file.read_at(4096, all.len() as u64).unwrap();
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

/// A tree without its modes, as a role sees it.
pub fn without_modes(tree: &Tree) -> Tree {
    let node = |node: &Node| match node {
        Node::File { bytes, .. } => file_of(bytes, 0),
        Node::Folder { .. } => Node::Folder { mode: 0 },
        other => other.clone(),
    };
    tree.iter().map(|(path, old)| (path.clone(), node(old))).collect()
}

/// Any flags that a file can be opened with; folders are asked for less often.
pub fn how() -> impl Strategy<Value = Open> {
    let bits = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (bits, 0..6).prop_map(|((follow, create, exclusive, truncate, read, write), directory)| Open {
        follow,
        create,
        exclusive,
        directory: directory == 0,
        truncate,
        read,
        write,
    })
}
