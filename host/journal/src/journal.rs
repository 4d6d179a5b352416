//! Appending to a journal: one record, one line, one write, and never inside somebody else's line.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use brain_packet::SessionId;

use crate::cut::{self, Truncation};
use crate::error::JournalError;
use crate::id::new_session_id;
use crate::layout::{self, SessionPaths};
use crate::record::{JournalHeader, Record};
use crate::refs::ArtifactDigests;

/// How long an append waits for another process that is appending. It normally takes less than a millisecond; a process
/// that was stopped while it held the lock would otherwise hang every other run of the session.
pub const LOCK_WAIT: Duration = Duration::from_secs(30);

/// How many fresh ids [`Journal::start`] tries before it reports that they all exist.
const ID_ATTEMPTS: usize = 16;

/// The journal of one session, open for appending.
///
/// Threads may share it by reference, and processes may open the same one: a record is written as one whole line under an
/// exclusive advisory lock of the file, so lines never interleave.
#[derive(Debug)]
pub struct Journal {
    id: SessionId,
    paths: SessionPaths,
    // The lock of the file keeps other processes out, this one the other threads of this process.
    file: Mutex<File>,
    lock_wait: Duration,
}

/// What became of an appended record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Length of its line in bytes, with the newline.
    pub bytes: u64,
    /// Set when the record was larger than [`crate::MAX_RECORD_BYTES`] and was cut.
    pub truncated: Option<Truncation>,
}

impl Journal {
    /// Begins a session under a fresh id.
    ///
    /// # Errors
    /// As [`Journal::create`].
    pub fn start(home: &Path) -> Result<Self, JournalError> {
        let mut attempt = 1;
        loop {
            match Self::create(home, &new_session_id()?) {
                Err(JournalError::Exists { .. }) if attempt < ID_ATTEMPTS => attempt += 1,
                done => return done,
            }
        }
    }

    /// Begins a session: makes its folders (mode 0700) and its journal (mode 0600) below `home`, which is made too. The first
    /// record says what the file is.
    ///
    /// # Errors
    /// `journal.exists` when the id is in use, `journal.bad-id`, and as [`Journal::append_with`].
    pub fn create(home: &Path, id: &SessionId) -> Result<Self, JournalError> {
        let paths = SessionPaths::new(home, id)?;
        paths.create_folders()?;
        let file = layout::create_file(paths.journal()).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists { id: id.clone() },
            _ => JournalError::from_write("create the session journal", paths.journal(), source),
        })?;
        layout::sync_folder_of(paths.journal())
            .map_err(|source| JournalError::from_write("flush the folder of", paths.journal(), source))?;
        let journal = Self::over(file, paths, id);
        journal.append(&Record::Journal(JournalHeader::current()))?;
        Ok(journal)
    }

    /// Continues a session.
    ///
    /// # Errors
    /// `journal.not-found` when it has no journal, `journal.bad-id`, `journal.home-not-writable`, `journal.disk-full`,
    /// `journal.io`.
    pub fn open(home: &Path, id: &SessionId) -> Result<Self, JournalError> {
        let paths = SessionPaths::new(home, id)?;
        let file = layout::open_regular(paths.journal(), true).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => {
                JournalError::NotFound { reference: id.to_string(), folder: layout::sessions_folder(home) }
            }
            _ => JournalError::from_write("open the session journal", paths.journal(), source),
        })?;
        paths.create_folders()?;
        Ok(Self::over(file, paths, id))
    }

    fn over(file: File, paths: SessionPaths, id: &SessionId) -> Self {
        Self { id: id.clone(), paths, file: Mutex::new(file), lock_wait: LOCK_WAIT }
    }

    /// Sets how long an append waits for the lock, in place of [`LOCK_WAIT`].
    #[must_use]
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The session's files.
    #[must_use]
    pub fn paths(&self) -> &SessionPaths {
        &self.paths
    }

    /// Appends a record that mentions no artifact. See [`Journal::append_with`].
    ///
    /// # Errors
    /// As [`Journal::append_with`].
    pub fn append(&self, record: &Record) -> Result<Appended, JournalError> {
        self.append_with(record, &ArtifactDigests::default())
    }

    /// Appends a record, stamped with the time of now, and returns when the system has it (a
    /// [durable](Record::is_durable) one: when the disk has it).
    ///
    /// References are written in the journal's own form whatever form they come in (see [`crate::journal_uri`]), so no
    /// guest path and no path of the machine gets into the journal through a reference. `artifacts` says under which
    /// digest each file of `/artifacts` was stored.
    ///
    /// # Errors
    /// `journal.disk-full`, `journal.home-not-writable`, `journal.locked`, `journal.io`, `journal.unwritable-record`. After
    /// an error before the flush, the journal is as it was: a part of a line that had been written is taken back.
    pub fn append_with(&self, record: &Record, artifacts: &ArtifactDigests) -> Result<Appended, JournalError> {
        self.append_at(record, artifacts, now_ms())
    }

    /// [`Journal::append_with`] with the record's time given, in milliseconds since the epoch: for records that are copied
    /// from elsewhere, and for tests.
    ///
    /// # Errors
    /// As [`Journal::append_with`].
    pub fn append_at(
        &self,
        record: &Record,
        artifacts: &ArtifactDigests,
        timestamp_ms: u64,
    ) -> Result<Appended, JournalError> {
        let (line, truncated) = cut::line(&record.clone().into_journal_form(artifacts), timestamp_ms)?;
        // A thread that panicked while it held the lock left a whole or a torn line; the next append copes with both.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock(&file)?;
        let written = self.write(&mut file, &line, record.is_durable());
        let unlocked = file.unlock();
        written?;
        unlocked.map_err(|source| JournalError::from_write("unlock", self.paths.journal(), source))?;
        Ok(Appended { bytes: line.len() as u64, truncated })
    }

    fn write(&self, file: &mut File, line: &[u8], durable: bool) -> Result<(), JournalError> {
        let failed = |action| move |source| JournalError::from_write(action, self.paths.journal(), source);
        let (length, torn) = end_of(file).map_err(failed("look at the end of"))?;
        let written = if torn {
            // A crash left half a line. It gets its newline in the same write as the record that follows it.
            file.write_all(&[b"\n", line].concat())
        } else {
            file.write_all(line)
        };
        if let Err(source) = written {
            // Only brain processes write here, and the lock keeps them out, so what lies behind `length` is this record's.
            // When taking it back fails too, readers skip the torn line and the next append closes it.
            let _ = file.set_len(length);
            return Err(failed("append to")(source));
        }
        if durable {
            file.sync_data().map_err(failed("flush"))?;
        }
        Ok(())
    }

    /// Takes the file's exclusive lock, waiting for at most `lock_wait`.
    fn lock(&self, file: &File) -> Result<(), JournalError> {
        match wait_for(self.lock_wait, || file.try_lock()) {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(JournalError::Locked {
                path: self.paths.journal().to_path_buf(),
                waited_ms: u64::try_from(self.lock_wait.as_millis()).unwrap_or(u64::MAX),
            }),
            Err(TryLockError::Error(source)) => Err(JournalError::from_write("lock", self.paths.journal(), source)),
        }
    }
}

/// Tries to take a lock until it is free or the time is up. The system's own wait has no time limit.
pub(crate) fn wait_for(
    wait: Duration,
    mut attempt: impl FnMut() -> Result<(), TryLockError>,
) -> Result<(), TryLockError> {
    const FIRST_PAUSE: Duration = Duration::from_micros(50);
    const LONGEST_PAUSE: Duration = Duration::from_millis(5);
    let begin = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match attempt() {
            Err(TryLockError::WouldBlock) if begin.elapsed() < wait => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// The length of the file, and whether its last line lacks its newline.
fn end_of(file: &mut File) -> io::Result<(u64, bool)> {
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok((0, false));
    }
    file.seek(SeekFrom::Start(length - 1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok((length, last != *b"\n"))
}

/// Milliseconds since the epoch; 0 for a clock before it.
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
