//! Random trees and random operations, done in a view and by the system itself: the same answers, the same files, and a
//! change set that makes the one of the other.
//!
//! Where a view means to differ, it is in [`allowed`] and in the comments of [`Both::step`]; nothing else may.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};

use brain_files::{ErrorCode, Fault, FileLimits, FileResult, Folder, Handle, Kind, NewTime, Open, OpenFile};
use common::{Node, Place, Tree, View, assert_same, how, open_view, read_tree, without_modes};
use proptest::prelude::*;
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

/// Names of files and folders, and of links. Few, so that operations meet.
const NAMES: [&str; 4] = ["a", "b", "c", "d e"];
const LINKS: [&str; 2] = ["l", "m"];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![Just(Vec::new()), Just(b"one\ntwo\n".to_vec()), proptest::collection::vec(any::<u8>(), 1..40)]
}

fn plain_path() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&NAMES[..]), 1..4).prop_map(|names| names.join("/"))
}

fn node() -> impl Strategy<Value = Node> {
    prop_oneof![
        3 => (bytes(), proptest::sample::select(vec![0o644, 0o755, 0o600, 0o640]))
            .prop_map(|(bytes, mode)| Node::File { bytes, mode }),
        2 => proptest::sample::select(vec![0o755, 0o700, 0o750]).prop_map(|mode| Node::Folder { mode }),
    ]
}

fn target() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => plain_path(),
        1 => plain_path().prop_map(|path| format!("../{path}")),
        1 => proptest::sample::select(vec!["l", "m", "m/a", ".", "..", "../..", "/etc", "a/../../b", "b/"]).prop_map(str::to_owned),
    ]
}

fn trees() -> impl Strategy<Value = Tree> {
    let nodes = proptest::collection::btree_map(plain_path(), node(), 0..10);
    let links = proptest::collection::vec(
        (proptest::option::of(plain_path()), proptest::sample::select(&LINKS[..]), target()),
        0..3,
    );
    (nodes, links).prop_map(|(nodes, links)| {
        let links = links.into_iter().map(|(folder, name, to)| {
            (folder.map_or(name.to_owned(), |folder| format!("{folder}/{name}")), Node::Link(to))
        });
        let mut tree = Tree::new();
        for (path, node) in nodes.into_iter().chain(links) {
            let above: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
            if above.iter().any(|above| matches!(tree.get(*above), Some(Node::File { .. }))) {
                continue;
            }
            for above in above {
                tree.entry(above.to_owned()).or_insert(Node::Folder { mode: 0o755 });
            }
            tree.insert(path, node);
        }
        tree
    })
}

/// Paths as guests write them.
fn path() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        12 => proptest::sample::select(&NAMES[..]),
        2 => proptest::sample::select(&LINKS[..]),
        1 => Just("."),
        1 => Just(".."),
        1 => Just(""),
    ];
    let end = prop_oneof![12 => Just(""), 2 => Just("/"), 1 => Just("/."), 1 => Just("/./"), 1 => Just("/..")];
    (proptest::collection::vec(name, 1..4), end).prop_map(|(names, end)| {
        let path = format!("{}{end}", names.join("/"));
        // An absolute path leads out of the mount; that is not what is compared here.
        path.trim_start_matches('/').to_owned()
    })
}

#[derive(Clone, Debug)]
enum Step {
    Open { base: usize, path: String, how: Open },
    Close { handle: usize },
    Read { handle: usize, offset: u64, len: usize },
    Write { handle: usize, offset: Option<u64>, bytes: Vec<u8> },
    SetSize { handle: usize, size: u64 },
    StatHandle { handle: usize },
    SetTimes { handle: usize, seconds: u64 },
    Stat { base: usize, path: String, follow: bool },
    SetTimesAt { base: usize, path: String, follow: bool, seconds: u64 },
    List { base: usize, path: String },
    ReadLink { base: usize, path: String },
    MakeFolder { base: usize, path: String },
    RemoveFolder { base: usize, path: String },
    Unlink { base: usize, path: String },
    Rename { base: usize, path: String, to: usize, to_path: String },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Of three handles of folders and eight of files, so that most are there.
    let (base, handle) = (0_usize..3, 0_usize..8);
    let step = prop_oneof![
        5 => (base.clone(), path(), how()).prop_map(|(base, path, how)| Step::Open { base, path, how }),
        1 => handle.clone().prop_map(|handle| Step::Close { handle }),
        2 => (handle.clone(), 0..50_u64, 0..50_usize).prop_map(|(handle, offset, len)| Step::Read { handle, offset, len }),
        4 => (handle.clone(), proptest::option::of(0..60_u64), bytes())
            .prop_map(|(handle, offset, bytes)| Step::Write { handle, offset, bytes }),
        1 => (handle.clone(), 0..80_u64).prop_map(|(handle, size)| Step::SetSize { handle, size }),
        1 => handle.clone().prop_map(|handle| Step::StatHandle { handle }),
        1 => (handle, 0..1u64 << 31).prop_map(|(handle, seconds)| Step::SetTimes { handle, seconds }),
        2 => (base.clone(), path(), any::<bool>()).prop_map(|(base, path, follow)| Step::Stat { base, path, follow }),
        1 => (base.clone(), path(), any::<bool>(), 0..1u64 << 31)
            .prop_map(|(base, path, follow, seconds)| Step::SetTimesAt { base, path, follow, seconds }),
        2 => (base.clone(), path()).prop_map(|(base, path)| Step::List { base, path }),
        1 => (base.clone(), path()).prop_map(|(base, path)| Step::ReadLink { base, path }),
        4 => (base.clone(), path()).prop_map(|(base, path)| Step::MakeFolder { base, path }),
        4 => (base.clone(), path()).prop_map(|(base, path)| Step::RemoveFolder { base, path }),
        4 => (base.clone(), path()).prop_map(|(base, path)| Step::Unlink { base, path }),
        8 => (base.clone(), path(), base, path())
            .prop_map(|(base, path, to, to_path)| Step::Rename { base, path, to, to_path }),
    ];
    proptest::collection::vec(step, 1..40)
}

/// A view of one copy of a tree, and another copy on which the system does the same.
struct Both {
    view: View,
    native: Place,
    folders: Vec<(Folder, OwnedFd, String)>,
    files: Vec<(OpenFile, File)>,
    /// Inodes of the tree as it was, which are held open so that none is used again.
    original: Vec<(u64, OwnedFd)>,
    /// Whether a link of the tree goes up, as it is written.
    some_lead_up: bool,
}

/// What a path natively is, without following it; and whether it could be opened so at all.
fn native_kind(dir: impl AsFd, path: &str) -> Option<rustix::fs::FileType> {
    let stat = rustix::fs::statat(dir, path.trim_end_matches('/'), AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(rustix::fs::FileType::from_raw_mode(stat.st_mode))
}

/// Whether the system would leave the folder on the way along `path`.
fn leads_out(dir: impl AsFd, path: &str, follow: bool) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.filter(|end| *end > 0).any(|end| {
        let flags = if end == path.len() && !follow { OFlags::PATH | OFlags::NOFOLLOW } else { OFlags::PATH };
        openat2(&dir, &path[..end], flags, Mode::empty(), ResolveFlags::BENEATH).err() == Some(Errno::XDEV)
    })
}

fn native_path(dir: impl AsFd) -> String {
    use std::os::fd::AsRawFd;
    let link = format!("/proc/self/fd/{}", dir.as_fd().as_raw_fd());
    std::fs::read_link(link).unwrap().into_os_string().into_string().unwrap()
}

/// Whether a folder has a link somewhere in it.
fn has_links(dir: impl AsFd, path: &str) -> bool {
    let Ok(dir) = openat(dir, path, OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) else { return false };
    read_tree(native_path(&dir).as_ref()).values().any(|node| matches!(node, Node::Link(_)))
}

fn error_code(error: &std::io::Error) -> ErrorCode {
    match Errno::from_io_error(error).unwrap() {
        Errno::NOENT => ErrorCode::NoEntry,
        Errno::EXIST => ErrorCode::Exist,
        Errno::NOTDIR => ErrorCode::NotDirectory,
        Errno::ISDIR => ErrorCode::IsDirectory,
        Errno::NOTEMPTY => ErrorCode::NotEmpty,
        Errno::LOOP => ErrorCode::Loop,
        Errno::INVAL => ErrorCode::Invalid,
        Errno::BUSY => ErrorCode::Busy,
        Errno::BADF => ErrorCode::BadDescriptor,
        other => panic!("the system says {other:?}"),
    }
}

/// Pairs of errors, the view's and the system's, that are the same to a guest: both say that it cannot be done, and the
/// system names whichever of several reasons it meets first.
fn allowed(step: &Step, ours: ErrorCode, native: ErrorCode) -> bool {
    use ErrorCode::{Busy, Exist, Invalid, IsDirectory, Loop, NoEntry, NotDirectory, NotEmpty};
    match step {
        _ if ours == native => true,
        // `.` and `..` are no names that can be moved or removed; the system has a code for each way to ask.
        Step::RemoveFolder { path, .. } if path.trim_end_matches('/').ends_with("/.") => {
            matches!((ours, native), (Busy, Invalid) | (NotDirectory, Invalid | NoEntry | Loop))
        }
        Step::RemoveFolder { .. } => matches!((ours, native), (Busy, Invalid | NotEmpty)),
        Step::Unlink { .. } => {
            matches!((ours, native), (Busy, IsDirectory) | (NotDirectory, NoEntry | Loop | IsDirectory))
        }
        // A slash after the name of a file that is to be made, or in the link that it is: Linux does not look what is there.
        Step::Open { how, .. } if how.create => {
            matches!((ours, native), (NotDirectory | Exist | NoEntry | Loop, IsDirectory))
        }
        // A slash after the name of a file or a link: the name is taken, and it is no folder. The system follows a link that
        // has `/.` after it, only to refuse.
        Step::MakeFolder { path, .. } if path.trim_end_matches('/').ends_with("/.") => {
            matches!((ours, native), (NotDirectory, Exist | NoEntry | Loop))
        }
        Step::MakeFolder { .. } => matches!((ours, native), (NotDirectory, Exist)),
        // The system looks at the folders of both paths, then whether either ends in a dot, then at both names, and slashes
        // come last; a view looks at one path after the other.
        Step::Rename { path, to_path, .. } => {
            let is_plain = |path: &str| !matches!(path.rsplit('/').next(), Some("" | "." | ".."));
            !(is_plain(path) && is_plain(to_path))
                || matches!(
                    (ours, native),
                    (NoEntry, NotDirectory) | (NotDirectory, NoEntry)
                // A file onto a folder that it is in.
                | (IsDirectory, NotEmpty)
                )
        }
        _ => false,
    }
}

impl Both {
    fn new(tree: &Tree, copy: &Place) -> Self {
        let view = open_view(&copy.everything(), &FileLimits::default());
        let native = Place::new(tree);
        let open = |path: &str| {
            let fd = openat(rustix::fs::CWD, native.root.join(path), OFlags::PATH | OFlags::NOFOLLOW, Mode::empty());
            let fd = fd.unwrap();
            (rustix::fs::fstat(&fd).unwrap().st_ino, fd)
        };
        let original = tree.keys().map(|path| open(path)).collect();
        let root = openat(rustix::fs::CWD, &native.root, OFlags::DIRECTORY, Mode::empty()).unwrap();
        let folders = vec![(view.root(), root, String::new())];
        let some_lead_up = tree.values().any(|node| matches!(node, Node::Link(to) if to.contains("..")));
        let mut both = Self { view, native, folders, files: Vec::new(), original, some_lead_up };
        both.folders[0].2 = native_path(&both.folders[0].1);
        both
    }

    fn base(&self, at: usize) -> (Folder, OwnedFd) {
        let (ours, native, _) = &self.folders[at % self.folders.len()];
        (ours.clone(), native.try_clone().unwrap())
    }

    /// Compares what both said; the answers are compared by the caller.
    fn agree<A, B>(step: &Step, ours: FileResult<A>, native: std::io::Result<B>) -> Option<(A, B)> {
        match (ours, native) {
            (Ok(ours), Ok(native)) => Some((ours, native)),
            (Err(Fault::Code(ours)), Err(native)) => {
                let native = error_code(&native);
                assert!(allowed(step, ours, native), "{step:?}: {ours:?}, the system says {native:?}");
                None
            }
            (ours, native) => panic!("{step:?}: {:?}, the system says {:?}", ours.map(drop), native.map(drop)),
        }
    }

    /// One operation, in both copies.
    fn step(&mut self, step: &Step) {
        match step {
            Step::Open { base, path, how } => self.open(step, *base, path, *how),
            Step::Close { handle } => {
                if !self.files.is_empty() {
                    self.files.remove(handle % self.files.len());
                }
            }
            Step::Read { handle, offset, len } => {
                let Some((ours, native)) = self.file(*handle) else { return };
                let (mut a, mut b) = (vec![0; *len], vec![0; *len]);
                if let Some((a_len, b_len)) = Self::agree(
                    step,
                    ours.read_at(a.len(), *offset).map(|bytes| {
                        a[..bytes.len()].copy_from_slice(&bytes);
                        bytes.len()
                    }),
                    native.read_at(&mut b, *offset),
                ) {
                    assert_eq!(a[..a_len], b[..b_len], "{step:?}");
                }
            }
            Step::Write { handle, offset, bytes } => {
                let Some((ours, native)) = self.file(*handle) else { return };
                let at = offset.unwrap_or_else(|| native.metadata().unwrap().len());
                Self::agree(step, ours.write_at(bytes, *offset), native.write_at(bytes, at));
            }
            Step::SetSize { handle, size } => {
                let Some((ours, native)) = self.file(*handle) else { return };
                Self::agree(step, ours.set_size(*size), native.set_len(*size));
            }
            Step::StatHandle { handle } => {
                let Some((ours, native)) = self.file(*handle).map(|(a, b)| (Handle::File(a.clone()), b)) else {
                    return;
                };
                assert_eq!(self.view.view.stat(&ours).unwrap().bytes, native.metadata().unwrap().len(), "{step:?}");
            }
            Step::SetTimes { handle, seconds } => {
                let Some((ours, native)) = self.file(*handle).map(|(a, b)| (a.clone(), b.try_clone().unwrap())) else {
                    return;
                };
                // The owner may set times by a handle that only reads; a role may not.
                let set = self.view.view.set_times(&ours, NewTime::Same, at(*seconds));
                assert_eq!(set.is_ok(), ours.is_writable(), "{step:?}");
                if set.is_ok() {
                    native.set_modified(time(*seconds)).unwrap();
                    let ours = self.view.view.stat(&Handle::File(ours)).unwrap();
                    assert_eq!(ours.modified, Some(time(*seconds)), "{step:?}");
                }
            }
            Step::Stat { base, path, follow } => {
                let (ours, native) = self.base(*base);
                let ours = self.view.view.stat_at(&ours, path, *follow);
                if leads_out(&native, path, *follow) {
                    return assert!(ours.is_err(), "{step:?}");
                }
                let flags = if *follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
                let native = rustix::fs::statat(&native, path.as_str(), flags).map_err(Into::into);
                let Some((ours, native)) = Self::agree(step, ours, native) else { return };
                let kind = rustix::fs::FileType::from_raw_mode(native.st_mode);
                assert_eq!(ours.kind, kind_of(kind), "{step:?}");
                if ours.kind == Kind::File {
                    let native = (i128::from(native.st_size), i128::from(native.st_nlink));
                    assert_eq!((i128::from(ours.bytes), i128::from(ours.links)), native, "{step:?}");
                }
            }
            Step::SetTimesAt { base, path, follow, seconds } => {
                let (ours, native) = self.base(*base);
                let set = self.view.view.set_times_at(&ours, path, *follow, NewTime::Same, at(*seconds));
                if leads_out(&native, path, *follow) {
                    return assert!(set.is_err(), "{step:?}");
                }
                let flags = if *follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
                // Folders and links keep their times.
                let other = rustix::fs::statat(&native, path.as_str(), flags)
                    .is_ok_and(|stat| !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file());
                if other {
                    return assert!(
                        matches!(set, Err(Fault::Code(ErrorCode::Unsupported | ErrorCode::NotPermitted))),
                        "{step:?}: {set:?}"
                    );
                }
                let times = rustix::fs::Timestamps {
                    last_access: rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
                    last_modification: rustix::fs::Timespec { tv_sec: *seconds as i64, tv_nsec: 0 },
                };
                let native = rustix::fs::utimensat(&native, path.as_str(), &times, flags).map_err(Into::into);
                if Self::agree(step, set, native).is_some() {
                    let now = self.view.view.stat_at(&ours, path, *follow).unwrap();
                    assert_eq!(now.modified, Some(time(*seconds)), "{step:?}");
                }
            }
            Step::List { base, path } => {
                let (ours, native) = self.base(*base);
                let how = Open { follow: true, directory: true, read: true, ..Open::default() };
                let ours = self.view.view.open_at(&ours, path, how).map(|handle| handle.folder().unwrap().clone());
                if leads_out(&native, path, true) {
                    return assert!(ours.is_err(), "{step:?}");
                }
                let native = openat(&native, path.as_str(), OFlags::DIRECTORY, Mode::empty()).map_err(Into::into);
                let Some((ours, native)) = Self::agree(step, ours, native) else { return };
                let ours: Vec<_> = self
                    .view
                    .list_handle(&ours)
                    .unwrap()
                    .into_iter()
                    .map(|listed| (listed.name, listed.kind))
                    .collect();
                assert_eq!(ours, native_list(&native), "{step:?}");
            }
            Step::ReadLink { base, path } => {
                let (ours, native) = self.base(*base);
                let target = self.view.view.read_link_at(&ours, path);
                if leads_out(&native, path, false) {
                    return assert!(target.is_err(), "{step:?}");
                }
                // What leads out is not told, nor what would lead out if it led anywhere.
                if native_kind(&native, path) == Some(rustix::fs::FileType::Symlink)
                    && target == Err(ErrorCode::Access.into())
                {
                    return assert!(leads_out(&native, path, true) || self.some_lead_up, "{step:?}");
                }
                // What it may lead out of is the mount, not the folder that it was asked for in.
                let (_, root) = self.base(0);
                let below = native_path(&native).strip_prefix(&native_path(&root)).unwrap_or_default().to_owned();
                let whole = format!("{}/{path}", below.trim_start_matches('/'));
                let leads = leads_out(&root, whole.trim_start_matches('/'), true);
                assert!(target.is_err() || !leads, "{step:?}: {target:?}");
                let native = rustix::fs::readlinkat(&native, path.as_str(), Vec::new()).map_err(Into::into);
                if let Some((ours, native)) = Self::agree(step, target, native) {
                    assert_eq!(ours, native.to_str().unwrap(), "{step:?}");
                }
            }
            Step::MakeFolder { base, path } => {
                let (ours, native) = self.base(*base);
                let made = self.view.view.create_folder_at(&ours, path);
                if leads_out(&native, path, false) {
                    return assert!(made.is_err(), "{step:?}");
                }
                let native = rustix::fs::mkdirat(&native, path.as_str(), 0o755.into()).map_err(Into::into);
                Self::agree(step, made, native);
            }
            Step::RemoveFolder { base, path } => {
                let (ours, native) = self.base(*base);
                let removed = self.view.view.remove_folder_at(&ours, path);
                if leads_out(&native, path, false) {
                    return assert!(removed.is_err(), "{step:?}");
                }
                let native = rustix::fs::unlinkat(&native, path.as_str(), AtFlags::REMOVEDIR).map_err(Into::into);
                Self::agree(step, removed, native);
            }
            Step::Unlink { base, path } => {
                let (ours, native) = self.base(*base);
                let removed = self.view.view.unlink_at(&ours, path);
                if leads_out(&native, path, false) {
                    return assert!(removed.is_err(), "{step:?}");
                }
                if removed == Err(ErrorCode::NotPermitted.into()) {
                    // Links stay.
                    return assert_eq!(native_kind(&native, path), Some(rustix::fs::FileType::Symlink), "{step:?}");
                }
                let native = rustix::fs::unlinkat(&native, path.as_str(), AtFlags::empty()).map_err(Into::into);
                Self::agree(step, removed, native);
            }
            Step::Rename { base, path, to, to_path } => {
                let ((ours, native), (ours_to, native_to)) = (self.base(*base), self.base(*to));
                let moved = self.view.view.rename_at(&ours, path, &ours_to, to_path);
                if leads_out(&native, path, false) || leads_out(&native_to, to_path, false) {
                    return assert!(moved.is_err(), "{step:?}");
                }
                if moved == Err(ErrorCode::NotPermitted.into()) {
                    // Links stay, and so do the folders that they are in.
                    let is_link = |dir: &OwnedFd, path| native_kind(dir, path) == Some(rustix::fs::FileType::Symlink);
                    let stays =
                        is_link(&native, path) || is_link(&native_to, to_path) || has_links(&native, path.as_str());
                    return assert!(stays, "{step:?}");
                }
                let native =
                    rustix::fs::renameat(&native, path.as_str(), &native_to, to_path.as_str()).map_err(Into::into);
                Self::agree(step, moved, native);
            }
        }
        // A handle of a folder is that of a path: it does not go along when the folder moves.
        self.folders.retain(|(_, native, path)| native_path(native) == *path);
    }

    fn file(&self, at: usize) -> Option<(&OpenFile, &File)> {
        if self.files.is_empty() {
            return None;
        }
        let (ours, native) = &self.files[at % self.files.len()];
        Some((ours, native))
    }

    fn open(&mut self, step: &Step, base: usize, path: &str, how: Open) {
        let (ours, native) = self.base(base);
        // To cut a file that is not opened to write is undefined for POSIX, and so is a folder that is to be made or cut.
        let how = Open { truncate: how.truncate && how.write, exclusive: how.exclusive && how.create, ..how };
        let opened = self.view.view.open_at(&ours, path, how);
        if how.directory && (how.create || how.truncate) {
            return assert!(matches!(opened, Err(Fault::Code(ErrorCode::Invalid))), "{step:?}");
        }
        if leads_out(&native, path, how.follow && !how.exclusive) {
            return assert!(opened.is_err(), "{step:?}");
        }
        let mut flags = match (how.read, how.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        flags.set(OFlags::CREATE, how.create);
        flags.set(OFlags::EXCL, how.exclusive);
        flags.set(OFlags::DIRECTORY, how.directory);
        flags.set(OFlags::TRUNC, how.truncate);
        flags.set(OFlags::NOFOLLOW, !how.follow);
        let native = openat(&native, path, flags, 0o644.into()).map_err(Into::into);
        let Some((ours, native)) = Self::agree(step, opened, native) else { return };
        let is_folder = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&native).unwrap().st_mode).is_dir();
        match ours {
            Handle::Folder(ours) => {
                assert!(is_folder, "{step:?}");
                let path = native_path(&native);
                self.folders.truncate(2);
                self.folders.push((ours, native, path));
            }
            Handle::File(ours) => {
                assert!(!is_folder, "{step:?}");
                if self.files.len() == 8 {
                    self.files.remove(0);
                }
                self.files.push((ours, native.into()));
            }
        }
    }

    /// The modes that files and folders of the system's copy are to have in the tree that the change set makes. A role cannot
    /// choose modes: what it makes is as open as the folder that it is in, unless it takes the place of a file.
    fn expected(&self, tree: &Tree) -> Tree {
        let originals: BTreeSet<u64> = self.original.iter().map(|(inode, _)| *inode).collect();
        let mut after = read_tree(&self.native.root);
        let is_original = |path: &str| {
            let metadata = std::fs::symlink_metadata(self.native.root.join(path)).unwrap();
            originals.contains(&metadata.ino())
        };
        let before = after.clone();
        let folder_mode = |path: &str| match (tree.get(path), before.get(path)) {
            (Some(Node::Folder { mode }), _) => Some(*mode),
            (_, Some(Node::Folder { mode })) if is_original(path) => Some(*mode),
            _ => None,
        };
        for (path, node) in &mut after {
            let above = path.match_indices('/').map(|(at, _)| &path[..at]).rev().find_map(folder_mode).unwrap_or(0o755);
            match (node, tree.get(path)) {
                (Node::File { mode, .. }, at) if !is_original(path) => {
                    *mode =
                        if let Some(Node::File { mode, .. }) = at { *mode } else { brain_changes::new_file_mode(above) }
                }
                (Node::Folder { mode }, Some(Node::Folder { mode: old })) => *mode = *old,
                (Node::Folder { mode }, _) if !is_original(path) => *mode = brain_changes::new_folder_mode(above),
                _ => {}
            }
        }
        after
    }
}

fn kind_of(kind: rustix::fs::FileType) -> Kind {
    match kind {
        rustix::fs::FileType::Directory => Kind::Folder,
        rustix::fs::FileType::Symlink => Kind::Link,
        _ => Kind::File,
    }
}

fn native_list(dir: &OwnedFd) -> Vec<(String, Kind)> {
    let entries = rustix::fs::Dir::read_from(dir).unwrap().map(Result::unwrap);
    let entries = entries.map(|entry| (entry.file_name().to_str().unwrap().to_owned(), kind_of(entry.file_type())));
    let mut entries: Vec<_> = entries.filter(|(name, _)| name != "." && name != "..").collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries
}

fn at(seconds: u64) -> NewTime {
    NewTime::At { seconds, nanoseconds: 0 }
}

fn time(seconds: u64) -> std::time::SystemTime {
    std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)
}

/// Links as a view tells of them: not of those that lead out, be it by way of another.
fn links_as_told(tree: &mut Tree, view: &Tree) {
    let leads_up = |node: &Node| matches!(node, Node::Link(to) if to.contains("..") || to.starts_with('/'));
    let some_lead_up = tree.values().any(leads_up);
    for (path, node) in tree {
        if let (Node::Link(to), Some(Node::Link(told))) = (node, view.get(path))
            && told.is_empty()
        {
            assert!(some_lead_up, "`{path}` leads to `{to}`, which is not told");
            to.clear();
        }
    }
}

fn compare(tree: &Tree, steps: &[Step]) {
    let copy = Place::new(tree);
    let mut both = Both::new(tree, &copy);
    for step in steps {
        both.step(step);
    }
    assert_same(&read_tree(&copy.root), tree, "the real tree is never written");

    let (seen, mut now) = (both.view.tree(), without_modes(&read_tree(&both.native.root)));
    links_as_told(&mut now, &seen);
    assert_same(&seen, &now, "what the role sees");

    let expected = both.expected(tree);
    let set = both.view.change_set();
    assert_eq!(set.check().map_err(|e| e.to_string()), Ok(()));
    // Contents lie beside the first copy, the third one gets the changes.
    let third = Place::new(tree);
    std::fs::create_dir_all(copy.contents_folder()).unwrap();
    std::fs::rename(copy.contents_folder(), third.contents_folder()).unwrap();
    let applied = third.apply(&set).unwrap();
    assert_eq!((applied.kept.len(), applied.folders_left.len()), (0, 0));
    assert_same(&read_tree(&third.root), &expected, "what the change set makes");
    let undone = third.apply(&applied.undo).unwrap();
    assert_eq!(undone.kept.len(), 0);
    assert_same(&read_tree(&third.root), tree, "what undo makes");
    // Nothing is kept of what the role wrote.
    drop(both);
    assert_eq!(copy.staged(), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_view_answers_as_the_system_does_and_its_change_set_makes_the_same_tree((tree, steps) in (trees(), steps())) {
        compare(&tree, &steps);
    }
}
