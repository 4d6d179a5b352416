//! The marker of an apply that is under way: a locked file for each tree, `BRAIN_HOME/applying/<digest of its root>`.
//!
//! It is there while a tree may be half way, and says whose journal tells how far it came. Who applies holds its lock, so
//! a marker whose lock is free was left by a process that is gone. It gets its name only once it is complete and locked.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brain_journal::ApplyDirection;
use brain_manifest::plain_file;
use brain_packet::{Digest, RoleName, SessionId};
use serde::{Deserialize, Serialize};

/// Most bytes that are read as a marker.
const MAX_MARKER_BYTES: u64 = 64 << 10;

/// Most markers that one start looks at. Each is of an apply that is under way or was interrupted.
pub(crate) const MAX_MARKERS: usize = 256;

/// How often a marker that goes away while it is looked at is looked at again.
const ATTEMPTS: usize = 64;

/// Beginning of the name of a marker that is not complete.
const NEW: &str = ".new-";

/// How old a file with that beginning is when its process cannot be about to name it any more.
const STALE: Duration = Duration::from_secs(600);

/// What a marker says: who is bringing what into which tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// The session whose journal tells how far it came.
    pub session: SessionId,
    /// Whose proposal.
    pub role: RoleName,
    /// Which way.
    pub direction: ApplyDirection,
    /// The root of the tree, with no links in it; with replacements where it is not UTF-8.
    pub root: String,
    /// The bytes of the root's path in hex, where they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_bytes: Option<String>,
    /// Which folder that is, as device and inode: a path may lead elsewhere by the time that an attempt is made good. Absent
    /// in the markers of versions that did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_file: Option<(u64, u64)>,
    /// The process that applies.
    pub pid: u32,
}

impl Mark {
    /// The root of the tree.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let bytes = self.root_bytes.as_ref().and_then(|bytes| hex::decode(bytes).ok());
        bytes.map_or_else(|| PathBuf::from(&self.root), |bytes| PathBuf::from(OsString::from_vec(bytes)))
    }

    /// The bytes of a path, where they cannot be told as text.
    pub(crate) fn bytes_of(path: &Path) -> Option<String> {
        path.to_str().is_none().then(|| hex::encode(path.as_os_str().as_bytes()))
    }
}

/// Which folder is at `path`, as device and inode.
pub(crate) fn which(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

/// A marker that this process holds. Dropping it gives the lock back and leaves the marker, as a crash would.
#[derive(Debug)]
pub(crate) struct Marker {
    path: PathBuf,
    _lock: File,
}

/// What came of asking for a tree.
#[derive(Debug)]
pub(crate) enum Taken {
    /// It is this process's.
    Ours(Marker),
    /// Another process is applying to it.
    Busy(Option<Mark>),
    /// An interrupted apply has not been made good.
    Left(PathBuf),
    /// What is at the marker's place is none.
    NoMarker(PathBuf, io::Error),
}

/// What came of looking at a marker.
#[derive(Debug)]
pub(crate) enum Seized {
    /// It was left behind, and is held by this process now.
    Ours(Marker, io::Result<Mark>),
    /// Its process is at work.
    Busy(Option<Mark>),
    /// It went away.
    Gone,
}

/// `BRAIN_HOME/applying`.
pub(crate) fn folder(home: &Path) -> PathBuf {
    home.join("applying")
}

/// Takes the tree of `mark` for this process.
pub(crate) fn take(home: &Path, mark: &Mark) -> io::Result<Taken> {
    let folder = folder(home);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let path = folder.join(Digest::of(mark.path().as_os_str().as_bytes()).as_str());
    for _ in 0..ATTEMPTS {
        let mut file = tempfile::Builder::new().prefix(NEW).tempfile_in(&folder)?;
        match file.as_file().try_lock() {
            Ok(()) => {}
            // Somebody is just about to clean it away.
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.write_all(&serde_json::to_vec(mark)?)?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(&path) {
            Ok(lock) => {
                // From here on the marker survives a power cut, and so may what it stands for.
                File::open(&folder)?.sync_all()?;
                return Ok(Taken::Ours(Marker { path, _lock: lock }));
            }
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => match seize(&path) {
                Ok(Seized::Ours(..)) => return Ok(Taken::Left(path)),
                Ok(Seized::Busy(who)) => return Ok(Taken::Busy(who)),
                Ok(Seized::Gone) => {}
                Err(error) => return Ok(Taken::NoMarker(path, error)),
            },
            Err(failed) if failed.error.kind() == io::ErrorKind::NotFound => {}
            Err(failed) => return Err(failed.error),
        }
    }
    Ok(Taken::Busy(None))
}

/// The markers that there are, at most [`MAX_MARKERS`], and how many more there are.
pub(crate) fn markers(home: &Path) -> io::Result<(Vec<PathBuf>, usize)> {
    let entries = match std::fs::read_dir(folder(home)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        other => other?,
    };
    let (mut markers, mut more) = (Vec::new(), 0);
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if name.starts_with(NEW) {
            remove_if_stale(&entry.path());
        } else if name.parse::<Digest>().is_ok() {
            if markers.len() < MAX_MARKERS { markers.push(entry.path()) } else { more += 1 }
        }
    }
    markers.sort();
    Ok((markers, more))
}

/// Holds a marker that was left behind.
pub(crate) fn seize(path: &Path) -> io::Result<Seized> {
    for _ in 0..ATTEMPTS {
        let file = match plain_file::open_itself(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seized::Gone),
            other => other?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Seized::Busy(read(&file).ok())),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Its process may have taken it away before it gave the lock back; then another may be there by now.
        if is_at(&file, path)? {
            let mark = read(&file);
            return Ok(Seized::Ours(Marker { path: path.to_owned(), _lock: file }, mark));
        }
    }
    Ok(Seized::Gone)
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let there = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other?,
    };
    let held = file.metadata()?;
    Ok((there.dev(), there.ino()) == (held.dev(), held.ino()))
}

fn read(mut file: &File) -> io::Result<Mark> {
    let mut text = Vec::new();
    Read::by_ref(&mut file).take(MAX_MARKER_BYTES).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// Removes what a process left that ended before its marker had a name.
fn remove_if_stale(path: &Path) {
    let stale = || -> io::Result<bool> {
        let file = plain_file::open_itself(path)?;
        let age = SystemTime::now().duration_since(file.metadata()?.modified()?).unwrap_or_default();
        Ok(age > STALE && file.try_lock().is_ok())
    };
    if stale().unwrap_or(false) {
        // What cannot be removed is in nobody's way.
        let _ = std::fs::remove_file(path);
    }
}

impl Marker {
    /// Takes the marker away: the tree is whole.
    pub(crate) fn release(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
    use super::*;

    fn mark(root: &str) -> Mark {
        Mark {
            session: "20260101-000000-abcdef".parse().unwrap(),
            role: "editor".parse().unwrap(),
            direction: ApplyDirection::Apply,
            root: root.into(),
            root_bytes: None,
            root_file: Some((1, 2)),
            pid: 7,
        }
    }

    fn ours(taken: Taken) -> Marker {
        match taken {
            Taken::Ours(marker) => marker,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_tree_is_one_appliers_at_a_time_and_others_are_free() {
        let home = tempfile::tempdir().unwrap();
        let first = ours(take(home.path(), &mark("/a")).unwrap());
        let Taken::Busy(Some(who)) = take(home.path(), &mark("/a")).unwrap() else { panic!("it was free") };
        assert_eq!(who, mark("/a"));
        let other = ours(take(home.path(), &mark("/b")).unwrap());
        assert_eq!(markers(home.path()).unwrap().0.len(), 2);
        first.release().unwrap();
        ours(take(home.path(), &mark("/a")).unwrap()).release().unwrap();
        other.release().unwrap();
        assert_eq!(std::fs::read_dir(folder(home.path())).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn a_marker_that_was_left_is_seized_once_and_keeps_the_tree() {
        let home = tempfile::tempdir().unwrap();
        drop(ours(take(home.path(), &mark("/a")).unwrap()));
        assert!(matches!(take(home.path(), &mark("/a")).unwrap(), Taken::Left(_)));
        let path = markers(home.path()).unwrap().0.remove(0);
        let Seized::Ours(held, found) = seize(&path).unwrap() else { panic!("it is held") };
        assert_eq!(found.unwrap(), mark("/a"));
        assert!(matches!(seize(&path).unwrap(), Seized::Busy(Some(_))));
        held.release().unwrap();
        assert!(matches!(seize(&path).unwrap(), Seized::Gone));
    }

    #[test]
    fn a_link_or_a_folder_in_the_place_of_a_marker_is_none() {
        let home = tempfile::tempdir().unwrap();
        let path = folder(home.path()).join(Digest::of(b"/a").as_str());
        std::fs::create_dir(folder(home.path())).unwrap();
        let elsewhere = home.path().join("elsewhere");
        std::fs::write(&elsewhere, "mine").unwrap();
        for to in [&elsewhere, &home.path().join("nowhere")] {
            std::os::unix::fs::symlink(to, &path).unwrap();
            assert!(seize(&path).unwrap_err().to_string().contains("a symbolic link"));
            let taken = take(home.path(), &mark("/a")).unwrap();
            assert!(matches!(&taken, Taken::NoMarker(at, _) if *at == path), "{taken:?}");
            std::fs::remove_file(&path).unwrap();
        }
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(take(home.path(), &mark("/a")).unwrap(), Taken::NoMarker(..)));
        assert_eq!(std::fs::read(&elsewhere).unwrap(), b"mine");
    }

    #[test]
    fn threads_that_ask_for_a_tree_at_once_have_it_one_after_the_other() {
        let home = tempfile::tempdir().unwrap();
        let holders = std::sync::atomic::AtomicUsize::new(0);
        let turns = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    use std::sync::atomic::Ordering::SeqCst;
                    while turns.load(SeqCst) < 50 {
                        if let Taken::Ours(marker) = take(home.path(), &mark("/a")).unwrap() {
                            assert_eq!(holders.fetch_add(1, SeqCst), 0, "two hold it");
                            turns.fetch_add(1, SeqCst);
                            holders.fetch_sub(1, SeqCst);
                            marker.release().unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(folder(home.path())).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_marker_is_let_be_and_what_says_nothing_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(markers(home.path()).unwrap(), (Vec::new(), 0));
        std::fs::create_dir(folder(home.path())).unwrap();
        std::fs::write(folder(home.path()).join("notes.txt"), "mine").unwrap();
        std::fs::write(folder(home.path()).join(".new-x"), "being made").unwrap();
        let damaged = folder(home.path()).join(Digest::of(b"/a").as_str());
        std::fs::write(&damaged, "{").unwrap();
        assert_eq!(markers(home.path()).unwrap(), (vec![damaged.clone()], 0));
        let Seized::Ours(_, mark) = seize(&damaged).unwrap() else { panic!("it is held") };
        assert!(mark.is_err());
        assert!(folder(home.path()).join(".new-x").exists(), "it is not old");
    }
}
