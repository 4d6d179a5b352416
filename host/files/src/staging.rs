//! Where the bytes lie that a role writes, for as long as its call lasts: numbered files in a private folder.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};

use crate::meta::Meta;
use crate::quota::Quota;

/// A private folder that is made with the first file in it, and removed with this value.
#[derive(Debug)]
pub(crate) struct Staging {
    /// The folder that it is made in.
    parent: PathBuf,
    made: OnceLock<(tempfile::TempDir, Dir)>,
    next: AtomicU64,
}

impl Staging {
    pub(crate) fn new(parent: PathBuf) -> Self {
        Self { parent, made: OnceLock::new(), next: AtomicU64::new(0) }
    }

    fn dir(&self) -> io::Result<&Dir> {
        if let Some((_, dir)) = self.made.get() {
            return Ok(dir);
        }
        // Mode 0700, as temporary folders are.
        let folder = tempfile::Builder::new().prefix(".staged-").tempdir_in(&self.parent)?;
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority())?;
        Ok(&self.made.get_or_init(|| (folder, dir)).1)
    }

    /// An empty file, whose bytes are charged to `quota` for as long as it lives. `stands_for` is the file of the real tree
    /// that it is to be a copy of.
    pub(crate) fn create(
        self: &Arc<Self>,
        quota: &Arc<Quota>,
        stands_for: Option<(u64, u64)>,
    ) -> io::Result<(Arc<Staged>, File)> {
        let name = self.next.fetch_add(1, Relaxed).to_string();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = self.dir()?.open_with(&name, &options)?.into_std();
        Ok((Arc::new(Staged { name, staging: Arc::clone(self), quota: Arc::clone(quota), stands_for }), file))
    }
}

/// One file of a [`Staging`]. It lasts as long as a name of the overlay or an open handle holds it, so a file that is
/// removed while it is open stays charged: else a role could fill the disk with files that no longer have a name.
#[derive(Debug)]
pub(crate) struct Staged {
    name: String,
    staging: Arc<Staging>,
    quota: Arc<Quota>,
    stands_for: Option<(u64, u64)>,
}

impl Staged {
    /// The identity of the file of the real tree that this is a copy of: to the guest it is that file.
    pub(crate) fn stands_for(&self) -> Option<(u64, u64)> {
        self.stands_for
    }

    pub(crate) fn open(&self, to_write: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(to_write);
        Ok(self.staging.dir()?.open_with(&self.name, &options)?.into_std())
    }

    pub(crate) fn meta(&self) -> io::Result<Meta> {
        Meta::at(self.staging.dir()?, &self.name)
    }

    pub(crate) fn quota(&self) -> &Arc<Quota> {
        &self.quota
    }

    /// Moves the file to `path` below `to`.
    pub(crate) fn move_to(&self, to: &Dir, path: &str) -> io::Result<()> {
        let dir = self.staging.dir()?;
        match dir.rename(&self.name, to, path) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).mode(0o600);
                io::copy(&mut self.open(false)?, &mut to.open_with(path, &options)?).map(drop)
            }
            done => done,
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        let Ok(dir) = self.staging.dir() else { return };
        // A file that was moved away is not here any more.
        if let Ok(meta) = Meta::at(dir, &self.name) {
            self.quota.give_bytes(meta.len());
            // What cannot be removed goes with the folder.
            let _ = dir.remove_file(&self.name);
        }
    }
}
