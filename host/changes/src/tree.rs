//! A tree, reached by handles: each path is walked one name at a time, and no link is followed.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::change::MODE_BITS;
use crate::contents::{HashError, MAX_CONTENT_BYTES, copy_hashed};
use crate::path::{join, split};
use crate::state::State;

/// Set-user-id, set-group-id and sticky.
const SPECIAL_BITS: u32 = 0o7000;
/// The mode of a folder that was made and did not get its own yet.
pub(crate) const NEW_FOLDER_MODE: u32 = 0o700;
/// What a folder is opened with: for listing and for `fsync`, never through a link.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The root of a tree.
pub(crate) struct Tree {
    root: OwnedFd,
}

/// Which file it is, and when it was touched last: enough to see that somebody changed it since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    file: (u64, u64),
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
    mode: u32,
    pub(crate) owner: (u32, u32),
}

impl Identity {
    #[allow(clippy::unnecessary_cast, reason = "the types of these fields differ between systems")]
    fn of(stat: &Stat) -> Self {
        Self {
            file: (stat.st_dev as u64, stat.st_ino as u64),
            size: stat.st_size as i64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            mode: stat.st_mode as u32,
            owner: (stat.st_uid, stat.st_gid),
        }
    }
}

/// What is in a folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Entry {
    /// Something at this path of the tree.
    Path(String),
    /// Something whose name is not UTF-8.
    NotText {
        /// Its path, with escapes such as `\xff` for what is not ASCII in the name.
        shown: String,
        /// What it is.
        is: State,
    },
}

/// Why a folder was not reached.
#[derive(Debug)]
pub(crate) enum Walk {
    /// Something on the way is no folder.
    NotFolder {
        at: String,
        is: State,
    },
    Io(io::Error),
}

impl From<Walk> for io::Error {
    fn from(walk: Walk) -> Self {
        match walk {
            Walk::NotFolder { at, is: State::Missing } => {
                Self::new(io::ErrorKind::NotFound, format!("the folder `{}` is not there", crate::set::shown(&at)))
            }
            Walk::NotFolder { at, is } => {
                Self::new(io::ErrorKind::NotADirectory, format!("`{}` is {is}, not a folder", crate::set::shown(&at)))
            }
            Walk::Io(error) => error,
        }
    }
}

impl Tree {
    /// Opens the root. Links above it, and it itself if it is one, are the caller's to choose.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: rustix::fs::open(root, flags, Mode::empty())? })
    }

    /// The folder at `path`, which is empty for the root.
    pub(crate) fn folder(&self, path: &str) -> Result<OwnedFd, Walk> {
        let mut folder = self.root.try_clone().map_err(Walk::Io)?;
        let mut walked = 0;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            walked += name.len() + usize::from(walked > 0);
            folder = rustix::fs::openat(&folder, name, FOLDER, Mode::empty()).map_err(|errno| match errno {
                Errno::NOENT | Errno::NOTDIR | Errno::LOOP => {
                    let is = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW);
                    let is = is.map_or(State::Missing, |stat| roughly(&stat));
                    Walk::NotFolder { at: path.get(..walked).unwrap_or(path).to_owned(), is }
                }
                errno => Walk::Io(errno.into()),
            })?;
        }
        Ok(folder)
    }

    /// The folder that `path` is in, and its name there.
    fn parent<'p>(&self, path: &'p str) -> Result<(OwnedFd, &'p str), Walk> {
        let (folder, name) = split(path);
        Ok((self.folder(folder)?, name))
    }

    /// What is at `path`; for a regular file also which one it was when reading it began.
    pub(crate) fn state(&self, path: &str) -> (State, Option<Identity>) {
        match self.parent(path) {
            Ok((folder, name)) => state(&folder, name).unwrap_or_else(|error| (unreadable(&error), None)),
            Err(Walk::NotFolder { at, is }) => (State::Blocked { at, by: Box::new(is) }, None),
            Err(Walk::Io(error)) => (unreadable(&error), None),
        }
    }

    /// Which file is at `path`, if anything is.
    pub(crate) fn identity(&self, path: &str) -> io::Result<Option<Identity>> {
        let (folder, name) = match self.parent(path) {
            Ok(parent) => parent,
            Err(Walk::NotFolder { .. }) => return Ok(None),
            Err(Walk::Io(error)) => return Err(error),
        };
        match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Identity::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The permission bits of the folder at `path`, or what is there instead.
    pub(crate) fn folder_mode(&self, path: &str) -> Result<u32, State> {
        match self.folder(path) {
            Ok(folder) => match rustix::fs::fstat(&folder) {
                Ok(stat) => Ok(mode_of(&stat) & MODE_BITS),
                Err(errno) => Err(unreadable(&errno.into())),
            },
            Err(Walk::NotFolder { at, is }) if at == path => Err(is),
            Err(Walk::NotFolder { at, is }) => Err(State::Blocked { at, by: Box::new(is) }),
            Err(Walk::Io(error)) => Err(unreadable(&error)),
        }
    }

    /// The paths in the folder at `path`, at most `limit` of them.
    pub(crate) fn entries(&self, path: &str, limit: usize) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let folder = self.folder(path)?;
        for entry in rustix::fs::Dir::read_from(&folder)? {
            let entry = entry?;
            match entry.file_name().to_str() {
                Ok("." | "..") => {}
                Ok(name) => entries.push(Entry::Path(join(path, name))),
                // Read as text with replacements, it could be the name of another file.
                Err(_) => {
                    let stat = rustix::fs::statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                    let is = stat.map_or(State::Missing, |stat| roughly(&stat));
                    let shown = join(path, &entry.file_name().to_bytes().escape_ascii().to_string());
                    entries.push(Entry::NotText { shown, is });
                }
            }
            if entries.len() >= limit {
                break;
            }
        }
        entries.sort();
        Ok(entries)
    }

    /// Whether names in the folder at `path` may be made and removed.
    pub(crate) fn may_change(&self, path: &str) -> io::Result<()> {
        let folder = self.folder(path)?;
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        Ok(rustix::fs::accessat(&folder, ".", access, AtFlags::empty())?)
    }

    /// Whether the name at `path` may be taken away or given to another file. What the system would refuse is found here, while
    /// the tree is as it was: once the first file is replaced, there is no way but forward.
    pub(crate) fn may_replace(&self, path: &str) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        let (inside, at) = (rustix::fs::fstat(&folder)?, rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?);
        let user = rustix::process::geteuid().as_raw();
        let sticky = Mode::from_raw_mode(inside.st_mode).contains(Mode::SVTX);
        if sticky && user != 0 && user != at.st_uid && user != inside.st_uid {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it belongs to another user, in a folder where only owners may remove what is theirs",
            ));
        }
        fixed(&folder, ".").and_then(|()| fixed(&folder, name))
    }

    /// Makes a folder in which only its owner can work. [`set_folder_mode`](Self::set_folder_mode) comes next.
    pub(crate) fn make_folder(&self, path: &str) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        Ok(rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(NEW_FOLDER_MODE as _))?)
    }

    /// Sets the permission bits of a folder. Its special bits stay: it may have inherited them.
    pub(crate) fn set_folder_mode(&self, path: &str, mode: u32) -> io::Result<()> {
        let folder = self.folder(path)?;
        let now = mode_of(&rustix::fs::fstat(&folder)?) & (MODE_BITS | SPECIAL_BITS);
        let wanted = (now & SPECIAL_BITS) | (mode & MODE_BITS);
        if now != wanted {
            rustix::fs::fchmod(&folder, Mode::from_raw_mode(wanted as _))?;
        }
        Ok(())
    }

    /// Makes a new file that nobody else can open yet.
    pub(crate) fn create(&self, path: &str) -> io::Result<File> {
        let (folder, name) = self.parent(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o600))?))
    }

    /// Gives a file its owner, if it has another, and its mode, and writes it out. Says whether the owner is right.
    pub(crate) fn complete(file: &File, mode: u32, owner: Option<(u32, u32)>) -> io::Result<bool> {
        let stat = rustix::fs::fstat(file)?;
        let kept = owner.is_none_or(|(user, group)| {
            let user = (user != stat.st_uid).then(|| rustix::fs::Uid::from_raw(user));
            let group = (group != stat.st_gid).then(|| rustix::fs::Gid::from_raw(group));
            (user.is_none() && group.is_none()) || rustix::fs::fchown(file, user, group).is_ok()
        });
        rustix::fs::fchmod(file, Mode::from_raw_mode((mode & MODE_BITS) as _))?;
        file.sync_all()?;
        Ok(kept)
    }

    /// Moves a file to another name; onto what is there, or only where nothing is.
    pub(crate) fn rename(&self, from: &str, to: &str, replace: bool) -> io::Result<()> {
        let (old_folder, old) = self.parent(from)?;
        let (new_folder, new) = self.parent(to)?;
        if !replace {
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(&old_folder, old, &new_folder, new, flags) {
                // Not every file system can; then looking first has to do.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    if rustix::fs::statat(&new_folder, new, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                        return Err(Errno::EXIST.into());
                    }
                }
                done => return Ok(done?),
            }
        }
        Ok(rustix::fs::renameat(&old_folder, old, &new_folder, new)?)
    }

    /// Removes a file. It is no error that it is not there.
    pub(crate) fn remove(&self, path: &str) -> io::Result<()> {
        self.unlink(path, AtFlags::empty())
    }

    /// Removes a folder in which nothing is. It is no error that it is not there.
    pub(crate) fn remove_folder(&self, path: &str) -> io::Result<()> {
        self.unlink(path, AtFlags::REMOVEDIR)
    }

    fn unlink(&self, path: &str, flags: AtFlags) -> io::Result<()> {
        let (folder, name) = match self.parent(path) {
            Ok(parent) => parent,
            Err(Walk::NotFolder { .. }) => return Ok(()),
            Err(Walk::Io(error)) => return Err(error),
        };
        match rustix::fs::unlinkat(&folder, name, flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Writes out which names are in a folder. It is no error that it is not there.
    pub(crate) fn sync(&self, path: &str) -> io::Result<()> {
        match self.folder(path) {
            Ok(folder) => Ok(rustix::fs::fsync(&folder)?),
            Err(Walk::NotFolder { .. }) => Ok(()),
            Err(Walk::Io(error)) => Err(error),
        }
    }
}

/// Fails where a name is that of a mount point, or of what the system lets nobody change.
#[cfg(target_os = "linux")]
fn fixed(folder: impl AsFd, name: &str) -> io::Result<()> {
    use rustix::fs::{StatxAttributes, StatxFlags, statx};
    let Ok(found) = statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS) else {
        // Not every system can tell; the change itself will.
        return Ok(());
    };
    let has = |attribute| found.stx_attributes.contains(attribute);
    let why = if has(StatxAttributes::IMMUTABLE) || has(StatxAttributes::APPEND) {
        "it is marked as not to be changed"
    } else if has(StatxAttributes::MOUNT_ROOT) && name != "." {
        "something is mounted there"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Only Linux tells.
#[cfg(not(target_os = "linux"))]
fn fixed(_: impl AsFd, _: &str) -> io::Result<()> {
    Ok(())
}

fn unreadable(error: &io::Error) -> State {
    State::Unreadable { why: error.to_string() }
}

#[allow(clippy::unnecessary_cast, reason = "the type of the field differs between systems")]
fn mode_of(stat: &Stat) -> u32 {
    stat.st_mode as u32
}

/// What is there, without its content.
fn roughly(stat: &Stat) -> State {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => State::Folder,
        FileType::Symlink => State::Link,
        FileType::RegularFile if mode_of(stat) & SPECIAL_BITS == 0 => State::SomeFile,
        FileType::RegularFile => State::SpecialMode { mode: mode_of(stat) & (MODE_BITS | SPECIAL_BITS) },
        _ => State::Special,
    }
}

/// What is in a folder under a name. Nothing but a regular file is opened.
fn state(folder: impl AsFd, name: &str) -> io::Result<(State, Option<Identity>)> {
    let stat = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok((State::Missing, None)),
        Err(errno) => return Err(errno.into()),
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || mode_of(&stat) & SPECIAL_BITS != 0 {
        return Ok((roughly(&stat), None));
    }
    // Not blocking, should it have become a pipe in between.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(&folder, name, flags, Mode::empty())?);
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok((roughly(&stat), None));
    }
    #[allow(clippy::unnecessary_cast, reason = "the type of the field differs between systems")]
    let bytes = stat.st_size as u64;
    if bytes > MAX_CONTENT_BYTES {
        return Ok((State::TooLarge { bytes }, None));
    }
    match copy_hashed(&mut file, MAX_CONTENT_BYTES, &mut |_| Ok(())) {
        Ok((digest, _)) => Ok((State::File { digest, mode: mode_of(&stat) & MODE_BITS }, Some(Identity::of(&stat)))),
        Err(HashError::Read(error) | HashError::Write(error)) => Err(error),
        Err(HashError::TooLarge { limit }) => Ok((State::TooLarge { bytes: limit }, None)),
    }
}

impl Tree {
    /// Opens the file at `path` for reading, as [`state`](Self::state) does.
    pub(crate) fn read(&self, path: &str) -> io::Result<File> {
        let (folder, name) = self.parent(path)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&folder, name, flags, Mode::empty())?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_appeared_in_the_last_moment_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree::open(dir.path()).unwrap();
        std::fs::write(dir.path().join("ours"), "ours").unwrap();
        std::fs::write(dir.path().join("theirs"), "theirs").unwrap();
        let error = tree.rename("ours", "theirs", false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(dir.path().join("theirs")).unwrap(), b"theirs");
        tree.rename("ours", "theirs", true).unwrap();
        assert_eq!(std::fs::read(dir.path().join("theirs")).unwrap(), b"ours");
        tree.rename("theirs", "free", false).unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_mount_point_is_known_before_anything_is_replaced() {
        let tree = Tree::open(std::path::Path::new("/")).unwrap();
        let error = tree.may_replace("proc").unwrap_err();
        assert!(error.to_string().contains("mounted"), "{error}");
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "").unwrap();
        Tree::open(dir.path()).unwrap().may_replace("a").unwrap();
    }
}
