//! What a role sees of the file system: a small tree and a run of operations on it, compared with a [model] of both.
//!
//! Three views of the same operations are compared. Under a grant of everything, every answer is the model's, up to which
//! of several reasons a refusal gives. Under any other grant, every answer is that of a second tree in which the hidden files are
//! missing, so that nothing can be learnt of what is hidden. And what the role proposes, once applied, is what it saw.

pub mod model;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use arbitrary::{Result, Unstructured};
use brain_changes::{Contents, MemoryLog, apply};
use brain_files::{
    ErrorCode, Fault, FileGrants, FileLimits, FileResult, FileView, Folder, GlobLayer, Handle, Kind, Open, OpenFile,
    RuleCache, WORKSPACE, WorkspaceGrant,
};

use crate::change_set;
use crate::made::text;
use crate::tree::{self, Node, Tree};

/// Names of files and folders.
const NAMES: [&str; 10] = ["a", "b", "d", "e", "A", "ä", "a\u{308}", ".env", ".brain", "x y"];
/// What links point to, besides other names.
const TARGETS: [&str; 12] =
    [".", "..", "d", "d/e", "./a", "../a", "d/../b", "../outside/secret", "/etc/passwd", "missing", "l", "d//"];
/// What is in a file that no role may see.
const HIDDEN: &[u8] = b"HIDDEN";
/// Bytes of a file that a role makes: writes beyond are cut.
const FILE_BYTES: u64 = 4_096;

/// Globs to read, globs to write, and what is denied.
type Grant = (&'static [&'static str], &'static [&'static str], &'static [&'static str]);

/// The grants, the first of them of everything.
const GRANTS: [Grant; 8] = [
    (&["**"], &["**"], &[]),
    (&["**"], &["**"], &[".env*", "e"]),
    (&["**"], &["d/**"], &["a"]),
    (&["d/**", "a"], &["d/e/**"], &[".env*"]),
    (&["d/*"], &["*"], &["b"]),
    (&["a"], &["d"], &["d/e/.env"]),
    (&[], &["**/a", "d/e"], &[]),
    (&["**"], &[], &["d/e"]),
];
/// Globs compile slower than all the rest runs.
static RULES: LazyLock<RuleCache> = LazyLock::new(RuleCache::default);

/// One operation. Numbers choose among the folders and files that are open, of which there is always the root.
#[derive(Clone, Debug)]
pub enum Op {
    /// Opens a file or a folder, and keeps it open.
    Open(usize, String, Flags),
    /// Asks for what is at a path; follows a link at its end or not.
    Stat(usize, String, bool),
    /// Lists a folder that is open.
    List(usize),
    /// Reads a file that is open, from its beginning.
    Read(usize),
    /// Writes to a file that is open: at an offset or at the end.
    Write(usize, Option<u64>, Vec<u8>),
    /// Sets the size of a file that is open.
    SetSize(usize, u64),
    /// Makes a folder.
    MakeFolder(usize, String),
    /// Removes a folder.
    RemoveFolder(usize, String),
    /// Removes a file.
    Unlink(usize, String),
    /// Renames a file or a folder.
    Rename(usize, String, usize, String),
    /// Reads a link.
    ReadLink(usize, String),
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "they are those of `brain_files::Open`")]
pub struct Flags {
    pub follow: bool,
    pub create: bool,
    pub exclusive: bool,
    pub directory: bool,
    pub truncate: bool,
    pub write: bool,
}

/// What a role learns from an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the answer to the operations that can give it")]
pub enum Seen {
    Refused(ErrorCode),
    Done,
    Opened(Kind),
    /// The size of a folder is the system's business.
    Stat(Kind, Option<u64>),
    Names(Vec<(String, Kind)>),
    Bytes(Vec<u8>),
    Target(String),
}

/// See the module.
pub fn check(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let Ok((before, grant, ops)) = made(&mut u) else {
        return;
    };
    let place = tree::folder();
    let files = Place::new(place.path(), "one", &before, &GRANTS[grant]);
    let (mut view, seen) = files.run(&ops);
    let told = |at: usize| told(&before, &GRANTS[grant], ops.get(..=at).unwrap_or(&ops));

    let leaks =
        |seen: &Seen| matches!(seen, Seen::Bytes(bytes) if bytes.windows(HIDDEN.len()).any(|part| part == HIDDEN));
    if let Some(at) = seen.iter().position(|seen| grant != 0 && leaks(seen)) {
        panic!("hidden bytes are shown: {}", told(at));
    }
    let shown = walked(&mut view);
    if grant == 0 {
        let mut model = model::Model::new(&before);
        for (at, (op, seen)) in ops.iter().zip(&seen).enumerate() {
            let expected = model.apply(op);
            assert!(agree(seen, &expected), "{seen:?} is not {expected:?}: {}", told(at));
        }
        assert_eq!(shown, model.shown(), "{}", told(ops.len()));
    } else {
        let twin = Place::new(place.path(), "two", &without_hidden(&before, &files), &GRANTS[grant]);
        let (mut other, other_seen) = twin.run(&ops);
        for (at, (one, other)) in seen.iter().zip(&other_seen).enumerate() {
            assert_eq!(one, other, "what is hidden makes a difference (left: it is there): {}", told(at));
        }
        assert_eq!(shown, walked(&mut other), "{}", told(ops.len()));
    }
    tree::assert_same(&tree::read(&files.root), &before, "a role wrote to the tree");
    proposed(&files, &before, &view, &shown, grant == 0, &|| told(ops.len()));
}

/// Whether an answer is the model's. Which reason is told of several is the order of the checks, and not the model's business; but
/// `access` is told where something is not granted, and nowhere else.
fn agree(seen: &Seen, expected: &Seen) -> bool {
    match (seen, expected) {
        (Seen::Refused(one), Seen::Refused(other)) => (*one == ErrorCode::Access) == (*other == ErrorCode::Access),
        (one, other) => one == other,
    }
}

/// For the reader of a failure: the tree, the grant, and the operations, the last of which is the one at fault.
fn told(tree: &Tree, (read, write, deny): &Grant, ops: &[Op]) -> String {
    let tree = tree.iter().map(|(path, node)| match node {
        Node::File(bytes, mode) => format!("  {path:?}: {:?} {mode:o}\n", String::from_utf8_lossy(bytes)),
        Node::Folder(mode) => format!("  {path:?}: folder {mode:o}\n"),
        Node::Link(target) => format!("  {path:?}: link to {target:?}\n"),
    });
    let ops = ops.iter().map(|op| format!("  {op:?}\n"));
    let (tree, ops) = (tree.collect::<String>(), ops.collect::<String>());
    format!("read {read:?}, write {write:?}, deny {deny:?}, on\n{tree}after\n{ops}")
}

/// Applies what the role proposes, and takes it back.
fn proposed(files: &Place, before: &Tree, view: &FileView, shown: &Shown, all: bool, told: &dyn Fn() -> String) {
    let contents = Contents::open(&files.contents).expect("contents can be kept");
    let set = view.change_set().unwrap_or_else(|error| panic!("{error}: {}", told()));
    change_set::sound(&set);
    let applied = match apply(&set, &files.root, &contents, &mut MemoryLog::default()) {
        Ok(applied) => applied,
        // What a role does not see can be in the way of what it proposes; then nothing is done.
        Err(error) if !all => {
            drop(error.to_string());
            return tree::assert_same(&tree::read(&files.root), before, "after a refusal");
        }
        Err(error) => panic!("{error}: {set:?}\n{}", told()),
    };
    assert!(applied.kept.is_empty() && (!all || applied.folders_left.is_empty()), "{applied:?} {}", told());
    let (mut now, _) = files.run(&[]);
    if applied.folders_left.is_empty() {
        assert_eq!(&walked(&mut now), shown, "what is proposed is not what was seen: {set:?}\n{}", told());
    }
    let undone = apply(&applied.undo, &files.root, &contents, &mut MemoryLog::default());
    assert!(undone.is_ok(), "{undone:?}: {}", told());
    tree::assert_same(&tree::read(&files.root), before, "after an undo");
}

/// Everything that a view shows, by path; a link with its target, where that is told.
pub type Shown = BTreeMap<String, Seen>;

fn walked(view: &mut FileView) -> Shown {
    let mut shown = Shown::new();
    let Some(root) = view.roots().find(|(_, guest)| *guest == WORKSPACE).map(|(root, _)| root) else {
        return shown;
    };
    let mut todo = vec![(root, String::new())];
    while let Some((folder, prefix)) = todo.pop() {
        let names = names(view, &folder).expect("an open folder can be listed");
        for (name, kind) in names {
            let path = format!("{prefix}{name}");
            let how = Open { read: true, ..Open::default() };
            let seen = match kind {
                Kind::Folder => {
                    let opened = view.open_at(&folder, &name, how).and_then(|handle| handle.folder().cloned());
                    let below =
                        opened.unwrap_or_else(|fault| panic!("{path:?} is listed and cannot be opened: {fault:?}"));
                    todo.push((below, format!("{path}/")));
                    Seen::Opened(Kind::Folder)
                }
                Kind::File => {
                    let opened = view.open_at(&folder, &name, how).and_then(|handle| handle.file().cloned());
                    let file =
                        opened.unwrap_or_else(|fault| panic!("{path:?} is listed and cannot be opened: {fault:?}"));
                    answer(bytes(&file).map(Seen::Bytes))
                }
                Kind::Link => answer(view.read_link_at(&folder, &name).map(Seen::Target)),
            };
            shown.insert(path, seen);
        }
    }
    shown
}

/// A tree on disk, and what of it is granted.
struct Place {
    root: std::path::PathBuf,
    contents: std::path::PathBuf,
    grants: FileGrants,
}

impl Place {
    fn new(place: &Path, name: &str, tree: &Tree, (read, write, deny): &Grant) -> Self {
        let place = place.join(name);
        let [root, contents, staging, outside] =
            ["tree", "contents", "staging", "outside"].map(|name| place.join(name));
        for folder in [&place, &root, &staging, &outside] {
            fs::create_dir(folder).expect("a folder can be made");
        }
        fs::write(outside.join("secret"), HIDDEN).expect("a file can be written");
        tree::write(&root, tree);
        let layers = |globs: &[&'static str]| vec![GlobLayer::new("operator", globs.iter().copied())];
        let write = if write.is_empty() { Vec::new() } else { layers(write) };
        let mut workspace = WorkspaceGrant::new(&root, layers(read), write);
        workspace.deny = deny.iter().map(|glob| (*glob).to_owned()).collect();
        let grants = FileGrants {
            workspace: Some(workspace),
            staging: Some(staging),
            contents: Some(contents.clone()),
            ..FileGrants::default()
        };
        Self { root, contents, grants }
    }

    fn run(&self, ops: &[Op]) -> (FileView, Vec<Seen>) {
        let view = FileView::open(&self.grants, &FileLimits::default(), &RULES, Arc::new(|| false));
        let view = view.expect("the grants can be used");
        let root = view.roots().next().expect("the workspace is granted").0;
        let mut run = Run { view, folders: vec![root], files: Vec::new() };
        let seen = ops.iter().map(|op| answer(run.apply(op))).collect();
        (run.view, seen)
    }
}

/// The tree without the files that its grant hides.
fn without_hidden(tree: &Tree, files: &Place) -> Tree {
    let visibility =
        files.grants.workspace.as_ref().expect("it is granted").visibility().expect("the globs can be used");
    let kept = |(path, node): &(&String, &Node)| !matches!(node, Node::File(..)) || visibility.shows(path);
    tree.iter().filter(kept).map(|(path, node)| (path.clone(), node.clone())).collect()
}

/// A view with what is open in it.
struct Run {
    view: FileView,
    folders: Vec<Folder>,
    files: Vec<OpenFile>,
}

impl Run {
    fn folder(&self, at: usize) -> Folder {
        self.folders[at % self.folders.len()].clone()
    }

    fn apply(&mut self, op: &Op) -> FileResult<Seen> {
        match op {
            Op::Open(at, path, flags) => {
                let Flags { follow, create, exclusive, directory, truncate, write } = *flags;
                let how = Open { follow, create, exclusive, directory, truncate, write, read: true };
                match self.view.open_at(&self.folder(*at), path, how)? {
                    Handle::Folder(folder) => {
                        self.folders.push(folder);
                        Ok(Seen::Opened(Kind::Folder))
                    }
                    Handle::File(file) => {
                        self.files.push(file);
                        Ok(Seen::Opened(Kind::File))
                    }
                }
            }
            Op::Stat(at, path, follow) => {
                let stat = self.view.stat_at(&self.folder(*at), path, *follow)?;
                Ok(Seen::Stat(stat.kind, (stat.kind == Kind::File).then_some(stat.bytes)))
            }
            Op::List(at) => names(&self.view, &self.folder(*at)).map(Seen::Names),
            Op::Read(at) => self.file(*at).map_or(Ok(Seen::Done), |file| bytes(file).map(Seen::Bytes)),
            Op::Write(at, offset, bytes) => {
                self.file(*at).map_or(Ok(()), |file| file.write_at(bytes, *offset)).map(|()| Seen::Done)
            }
            Op::SetSize(at, size) => self.file(*at).map_or(Ok(()), |file| file.set_size(*size)).map(|()| Seen::Done),
            Op::MakeFolder(at, path) => self.view.create_folder_at(&self.folder(*at), path).map(|()| Seen::Done),
            Op::RemoveFolder(at, path) => self.view.remove_folder_at(&self.folder(*at), path).map(|()| Seen::Done),
            Op::Unlink(at, path) => self.view.unlink_at(&self.folder(*at), path).map(|()| Seen::Done),
            Op::Rename(at, path, to, to_path) => {
                self.view.rename_at(&self.folder(*at), path, &self.folder(*to), to_path).map(|()| Seen::Done)
            }
            Op::ReadLink(at, path) => self.view.read_link_at(&self.folder(*at), path).map(Seen::Target),
        }
    }

    fn file(&self, at: usize) -> Option<&OpenFile> {
        self.files.get(at % self.files.len().max(1))
    }
}

fn answer(result: FileResult<Seen>) -> Seen {
    match result {
        Ok(seen) => seen,
        Err(Fault::Code(code)) => Seen::Refused(code),
        Err(Fault::Stopped) => panic!("nobody stopped it"),
    }
}

fn names(view: &FileView, folder: &Folder) -> FileResult<Vec<(String, Kind)>> {
    let (mut listing, mut names) = (view.list(folder)?, Vec::new());
    while let Some(listed) = view.next_entry(&mut listing)? {
        names.push((listed.name, listed.kind));
    }
    names.sort_by(|a, b| a.0.cmp(&b.0));
    let twice = names.windows(2).any(|pair| pair[0].0 == pair[1].0);
    assert!(!twice, "a name is listed twice: {names:?}");
    Ok(names)
}

fn bytes(file: &OpenFile) -> FileResult<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let more = file.read_at(1_000, bytes.len() as u64)?;
        if more.is_empty() {
            return Ok(bytes);
        }
        bytes.extend(more);
    }
}

fn made(u: &mut Unstructured<'_>) -> Result<(Tree, usize, Vec<Op>)> {
    let grant = u.choose_index(GRANTS.len())?;
    let mut tree = Tree::new();
    for n in 0..u.int_in_range(0..=9_u8)? {
        let folders: Vec<String> = tree
            .iter()
            .filter(|(_, node)| matches!(node, Node::Folder(_)))
            .map(|(path, _)| format!("{path}/"))
            .collect();
        let folder = if folders.is_empty() || u.ratio(1, 3)? { String::new() } else { u.choose(&folders)?.clone() };
        let path = format!("{folder}{}", u.choose(&NAMES)?);
        let node = match u.int_in_range(0..=6_u8)? {
            0..=2 => Node::Folder(0o755),
            3 => Node::Link(u.choose(&TARGETS)?.into()),
            _ => {
                let mut bytes = if grant == 0 { b"SHOWN".to_vec() } else { Vec::new() };
                bytes.extend([b'0' + n].repeat(usize::from(n)));
                Node::File(bytes, *u.choose(&[0o644, 0o755, 0o600])?)
            }
        };
        tree.entry(path).or_insert(node);
    }
    if grant != 0 {
        hide(&mut tree, &GRANTS[grant]);
    }
    let mut ops = Vec::new();
    for _ in 0..u.int_in_range(1..=24_u8)? {
        ops.push(op(u)?);
    }
    Ok((tree, grant, ops))
}

/// Marks the files that the grant does not show.
fn hide(tree: &mut Tree, (read, write, deny): &Grant) {
    let mut grant = WorkspaceGrant::new(
        std::env::temp_dir(),
        vec![GlobLayer::new("operator", read.iter().copied())],
        if write.is_empty() { Vec::new() } else { vec![GlobLayer::new("operator", write.iter().copied())] },
    );
    grant.deny = deny.iter().map(|glob| (*glob).to_owned()).collect();
    grant.honour_gitignore = false;
    let visibility = grant.visibility().expect("the globs can be used");
    for (path, node) in tree {
        if let Node::File(bytes, _) = node
            && !visibility.shows(path)
        {
            bytes.splice(0..0, HIDDEN.iter().copied());
        }
    }
}

fn op(u: &mut Unstructured<'_>) -> Result<Op> {
    let at = usize::from(u.int_in_range(0..=7_u8)?);
    Ok(match u.int_in_range(0..=15_u8)? {
        0..=3 => Op::Open(at, path(u)?, flags(u)?),
        4 => Op::Stat(at, path(u)?, u.arbitrary()?),
        5 => Op::List(at),
        6 => Op::Read(at),
        7 | 8 => {
            let offset = if u.arbitrary()? { Some(u.int_in_range(0..=FILE_BYTES)?) } else { None };
            Op::Write(at, offset, u.choose(&["", "w", "written", "w\n"])?.as_bytes().to_vec())
        }
        9 => Op::SetSize(at, u.int_in_range(0..=FILE_BYTES)?),
        10 => Op::MakeFolder(at, path(u)?),
        11 => Op::RemoveFolder(at, path(u)?),
        12 => Op::Unlink(at, path(u)?),
        13 | 14 => Op::Rename(at, path(u)?, usize::from(u.int_in_range(0..=7_u8)?), path(u)?),
        _ => Op::ReadLink(at, path(u)?),
    })
}

fn flags(u: &mut Unstructured<'_>) -> Result<Flags> {
    let bits = u.int_in_range(0..=63_u8)?;
    let bit = |at: u8| bits & (1 << at) != 0;
    Ok(Flags { follow: bit(0), create: bit(1), exclusive: bit(2), directory: bit(3), truncate: bit(4), write: bit(5) })
}

/// A path: names of the pool, with what else can stand between slashes, or any text.
fn path(u: &mut Unstructured<'_>) -> Result<String> {
    if u.ratio(1, 24)? {
        return text(u, &["/", "/workspace/a", "a\0b", "//a", "../../outside/secret", "/proc/self/environ"]);
    }
    let mut parts = Vec::new();
    for _ in 0..u.int_in_range(1..=4_u8)? {
        parts.push(match u.int_in_range(0..=23_u8)? {
            0 => ".",
            1 => "..",
            2 => "",
            3 => "l",
            4 => "new",
            other => NAMES[usize::from(other) % NAMES.len()],
        });
    }
    Ok(parts.join("/"))
}
