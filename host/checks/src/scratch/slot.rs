//! The places of scratch checkouts: who has one holds its lock, so that what a killed process left is known by that nobody
//! does.
//!
//! A project has few places, always the same: tools that keep caches by absolute path find them again.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use brain_packet::Digest;
use rustix::fs::FlockOperation;

use crate::error::ScratchError;

/// Most scratch checkouts of one project at a time.
pub const MAX_SLOTS: usize = 16;
/// How long the build cache of a project is kept that is not used.
pub const TARGET_KEPT: Duration = Duration::from_hours(14 * 24);
/// Most names that one sweep looks at in each of its folders.
const MAX_SWEPT: usize = 4_096;
/// Depth to which folders that cannot be removed are made writable.
const MAX_DEPTH: usize = 512;

const LOCK: &str = "lock";

/// A place that is held.
#[derive(Debug)]
pub(crate) struct Slot {
    cache: PathBuf,
    /// `<cache>/trees/<project>-<n>`.
    place: PathBuf,
    tree: PathBuf,
    target: PathBuf,
    /// Closing it gives the place back.
    _lock: File,
}

impl Slot {
    /// Takes the first free place of a project, and empties it.
    pub(crate) fn take(cache: &Path, project: &Path) -> Result<Self, ScratchError> {
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |source| ScratchError::Io { action, path, source }
        };
        let (trees, targets) = (cache.join("trees"), cache.join("target"));
        for folder in [&trees, &targets] {
            make(folder).map_err(failed("make the folder", folder))?;
        }
        let cache = fs::canonicalize(cache).map_err(failed("find the folder", cache))?;
        let (trees, targets) = (cache.join("trees"), cache.join("target"));
        let id = Digest::of(project.as_os_str().as_encoded_bytes());
        let id = id.as_str().rsplit(':').next().unwrap_or_default().get(..16).unwrap_or_default().to_owned();
        let target = targets.join(&id);
        for n in 0..MAX_SLOTS {
            let place = trees.join(format!("{id}-{n}"));
            let Some(lock) = try_lock(&trees, &format!("{id}-{n}")).map_err(failed("lock", &place))? else { continue };
            let tree = place.join("tree");
            remove(&place).map_err(failed("empty the folder", &place))?;
            make(&tree).map_err(failed("make the folder", &tree))?;
            make(&target).map_err(failed("make the folder", &target))?;
            // Its time says when it was used last.
            let _ = File::open(&target).and_then(|folder| folder.set_modified(SystemTime::now()));
            return Ok(Self { cache, place, tree, target, _lock: lock });
        }
        Err(ScratchError::Busy { project: project.to_owned(), limit: MAX_SLOTS })
    }

    pub(crate) fn cache(&self) -> &Path {
        &self.cache
    }

    pub(crate) fn tree(&self) -> &Path {
        &self.tree
    }

    pub(crate) fn target(&self) -> &Path {
        &self.target
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // What stays is removed by the next who takes the place, or by a sweep.
        let _ = remove(&self.place);
    }
}

/// Removes what killed processes left below `cache`, and build caches that were not used for [`TARGET_KEPT`]. Returns how many
/// of both. What cannot be removed is in nobody's way, and is tried again by the next sweep.
pub fn sweep(cache: &Path) -> usize {
    let (trees, targets) = (cache.join("trees"), cache.join("target"));
    let mut swept = 0;
    for name in names(&trees) {
        // Only places: their locks stay, which are few and empty.
        if name.contains('.') {
            continue;
        }
        if let Ok(Some(_lock)) = try_lock(&trees, &name)
            && remove(&trees.join(&name)).is_ok()
        {
            swept += 1;
        }
    }
    for name in names(&targets) {
        let target = targets.join(&name);
        let used = fs::symlink_metadata(&target).and_then(|metadata| metadata.modified());
        let old = used.is_ok_and(|used| used.elapsed().is_ok_and(|unused| unused > TARGET_KEPT));
        // Held, so that nobody starts to build there meanwhile.
        let lock = |n| try_lock(&trees, &format!("{name}-{n}")).ok().flatten();
        if old
            && let Some(_locks) = (0..MAX_SLOTS).map(lock).collect::<Option<Vec<File>>>()
            && remove(&target).is_ok()
        {
            swept += 1;
        }
    }
    swept
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.take(MAX_SWEPT).flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The lock of a place, if nobody has it. It stands beside the place, so that it outlives it.
fn try_lock(trees: &Path, name: &str) -> io::Result<Option<File>> {
    let path = trees.join(format!("{name}.{LOCK}"));
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    }
    // A lock of a file that somebody removed in between is none.
    let (ours, there) = (file.metadata()?, fs::symlink_metadata(&path));
    Ok(there.is_ok_and(|there| there.ino() == ours.ino() && there.dev() == ours.dev()).then_some(file))
}

/// Removes a folder and all that is in it, also below folders in which their owner may not write. It is no error that it is not
/// there.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    };
    if gone(fs::remove_dir_all(folder)).is_ok() {
        return Ok(());
    }
    open_up(folder, 0);
    gone(fs::remove_dir_all(folder))
}

/// Gives the owner of folders the right to list and change them.
fn open_up(folder: &Path, depth: usize) {
    let Ok(metadata) = fs::symlink_metadata(folder) else { return };
    if !metadata.is_dir() || depth > MAX_DEPTH {
        return;
    }
    let mode = metadata.permissions().mode();
    if mode & 0o700 != 0o700 {
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(mode | 0o700));
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path(), depth + 1);
        }
    }
}
