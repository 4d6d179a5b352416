//! Folders of the real tree.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{Access, access};

/// An open folder of the real tree, or the root of a mount, which is opened when it is first asked for: opening and closing
/// a folder is the dearest part of a call that does not touch it.
pub(crate) struct Lower {
    dir: OnceLock<Dir>,
    root: PathBuf,
}

impl Lower {
    /// The root of a mount, which has to be a folder that may be read.
    pub(crate) fn root(path: &Path) -> io::Result<Arc<Self>> {
        // Joined with nothing, a path ends in a slash, and so is that of a folder.
        access(path.join(""), Access::READ_OK | Access::EXEC_OK)?;
        Ok(Arc::new(Self { dir: OnceLock::new(), root: path.to_owned() }))
    }

    /// A folder that is open.
    pub(crate) fn opened(dir: Dir) -> Arc<Self> {
        Arc::new(Self { dir: OnceLock::from(dir), root: PathBuf::new() })
    }

    /// The folder.
    ///
    /// # Errors
    /// It is a root, was not open yet, and cannot be opened any more.
    pub(crate) fn dir(&self) -> io::Result<&Dir> {
        if let Some(dir) = self.dir.get() {
            return Ok(dir);
        }
        let opened = Dir::open_ambient_dir(&self.root, ambient_authority())?;
        Ok(self.dir.get_or_init(|| opened))
    }
}
