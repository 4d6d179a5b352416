//! Where the files of a session lie below Brain's home, and how private they are.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use brain_packet::{Digest, RoleName, SessionId};

use crate::error::JournalError;
use crate::id::check_session_id;

/// Mode of every folder that the journal makes: its owner alone may look inside.
pub const FOLDER_MODE: u32 = 0o700;

/// Mode of every file that the journal makes.
pub const FILE_MODE: u32 = 0o600;

/// Ending of a journal's file name.
pub(crate) const JOURNAL_ENDING: &str = ".jsonl";

/// `<home>/sessions`, the folder of all journals.
#[must_use]
pub fn sessions_folder(home: &Path) -> PathBuf {
    home.join("sessions")
}

/// The files of one session. Nothing is created until it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPaths {
    journal: PathBuf,
    folder: PathBuf,
}

impl SessionPaths {
    /// Names the files of session `id` below `home`.
    ///
    /// # Errors
    /// `journal.bad-id` when the id has another shape than Brain's ids: such an id could name a path outside `home`.
    pub fn new(home: &Path, id: &SessionId) -> Result<Self, JournalError> {
        check_session_id(id.as_str())?;
        let sessions = sessions_folder(home);
        Ok(Self {
            journal: sessions.join(format!("{}{JOURNAL_ENDING}", id.as_str())),
            folder: sessions.join(id.as_str()),
        })
    }

    /// `<home>/sessions/<id>.jsonl`.
    #[must_use]
    pub fn journal(&self) -> &Path {
        &self.journal
    }

    /// `<home>/sessions/<id>/artifacts`: what roles left behind, one file per content digest.
    #[must_use]
    pub fn artifacts(&self) -> PathBuf {
        self.folder.join("artifacts")
    }

    /// `<home>/sessions/<id>/private`: what a worker printed; no orchestration code reads it.
    #[must_use]
    pub fn private(&self) -> PathBuf {
        self.folder.join("private")
    }

    /// `<home>/sessions/<id>/run.lock`: locked by the run that goes on in the session. It is empty.
    #[must_use]
    pub fn run_lock(&self) -> PathBuf {
        self.folder.join("run.lock")
    }

    /// `<home>/sessions/<id>/changes`: what roles propose to change. Not made with the other folders: most sessions have none.
    #[must_use]
    pub fn changes(&self) -> PathBuf {
        self.folder.join("changes")
    }

    /// `<home>/sessions/<id>/changes/contents`: the contents of both sides of all change sets, one file per content digest.
    /// A role of this name shares the folder, and no file of it has a digest's name.
    #[must_use]
    pub fn contents(&self) -> PathBuf {
        self.changes().join("contents")
    }

    /// `<home>/sessions/<id>/changes/<role>/<digest>.json`: a change set that a role proposes. Each has a file of its own, since
    /// a role may work several times in one session.
    #[must_use]
    pub fn change_set(&self, role: &RoleName, digest: &Digest) -> PathBuf {
        self.changes().join(role.as_str()).join(format!("{}.json", digest.as_str()))
    }

    /// Makes the folders of the session that do not exist yet, each with [`FOLDER_MODE`]. Existing ones are left as they are.
    ///
    /// # Errors
    /// `journal.home-not-writable`, `journal.disk-full` or `journal.io`.
    pub fn create_folders(&self) -> Result<(), JournalError> {
        for folder in [self.artifacts(), self.private()] {
            create_folder(&folder).map_err(|source| match source.kind() {
                // A file where a folder belongs is for the reader to move away, like a folder without permission.
                io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                    JournalError::HomeNotWritable { action: "create the folder", path: folder.clone(), source }
                }
                _ => JournalError::from_write("create the folder", &folder, source),
            })?;
        }
        Ok(())
    }
}

fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(FOLDER_MODE);
    }
    builder.create(path)
}

/// Creates a file that must not exist, for its owner alone.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(FILE_MODE);
    }
    options.open(path)
}

/// Opens an existing regular file. Anything else (a folder, a pipe that would block for ever) is refused before it is opened.
pub(crate) fn open_regular(path: &Path, append: bool) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    OpenOptions::new().read(true).append(append).open(path)
}

/// Makes a newly created file survive a crash: on Unix its directory entry has to be flushed as well.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        return match File::open(folder)?.sync_all() {
            // Some file systems cannot flush a folder; they have nothing to flush it from either.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            other => other,
        };
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
