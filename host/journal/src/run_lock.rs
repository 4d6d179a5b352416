//! One run at a time in a session: its records carry no run's name, so those of two would be taken for one another's.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use brain_packet::SessionId;

use crate::error::JournalError;
use crate::layout::SessionPaths;

/// Held by a run for as long as it goes on. The system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct RunLock(#[expect(dead_code, reason = "it is held, not used")] File);

impl RunLock {
    /// Takes the session for a run.
    ///
    /// # Errors
    /// `journal.in-use` while another run goes on in it; what the system says.
    pub fn take(home: &Path, id: &SessionId) -> Result<Self, JournalError> {
        let paths = SessionPaths::new(home, id)?;
        paths.create_folders()?;
        let path = paths.run_lock();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|source| JournalError::from_write("lock the session by", &path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(JournalError::InUse { id: id.clone() }),
            Err(TryLockError::Error(source)) => Err(JournalError::from_write("lock the session by", &path, source)),
        }
    }

    /// Whether a run goes on in the session. None where that cannot be told, as in a session from before there was this lock.
    #[must_use]
    pub fn is_held(home: &Path, id: &SessionId) -> Option<bool> {
        let path = SessionPaths::new(home, id).ok()?.run_lock();
        let file = OpenOptions::new().read(true).write(true).open(path).ok()?;
        match file.try_lock_shared() {
            Ok(()) => Some(false),
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Journal;

    #[test]
    fn a_session_is_one_runs_until_it_lets_go() {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::start(home.path()).unwrap();
        let first = RunLock::take(home.path(), journal.id()).unwrap();
        assert_eq!(RunLock::is_held(home.path(), journal.id()), Some(true));
        let second = RunLock::take(home.path(), journal.id()).unwrap_err();
        assert_eq!(second.to_string(), format!("a run goes on in the session `{}`", journal.id()));
        drop(first);
        assert_eq!(RunLock::is_held(home.path(), journal.id()), Some(false));
        RunLock::take(home.path(), journal.id()).unwrap();
    }
}
