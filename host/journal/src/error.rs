//! What can go wrong with a journal, told to the reader: what failed, on what, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use brain_packet::{SessionId, terminal_line};

/// How many candidates an ambiguous reference lists.
pub const MAX_CANDIDATES: usize = 10;

/// How much of a reference that somebody typed is repeated in a message, in characters.
const MAX_QUOTED_CHARS: usize = 80;

/// A journal operation that could not be done.
///
/// Every variant has a stable code (`journal.…`) and a remedy, both through [`miette::Diagnostic`].
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum JournalError {
    /// A folder or file below Brain's home could not be made or opened for writing.
    #[error("cannot {action} {}", path.display())]
    #[diagnostic(
        code("journal.home-not-writable"),
        help("make that folder writable for your user, or set BRAIN_HOME to a folder that is")
    )]
    HomeNotWritable {
        /// What was tried, as a verb and its object: "create the folder".
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// A session id that has another shape than the ids that Brain makes.
    #[error("`{id}` is not a session id")]
    #[diagnostic(
        code("journal.bad-id"),
        help(
            "a session id looks like 20260131-235959-k3v7qa: date, time (UTC) and six of a-z and 2-7; `brain sessions list` shows them"
        )
    )]
    BadId {
        /// What was given, shortened.
        id: String,
    },

    /// A reference that no session id can start with.
    #[error("`{reference}` is neither a session id nor the beginning of one")]
    #[diagnostic(
        code("journal.bad-reference"),
        help(
            "give a session id such as 20260131-235959-k3v7qa or its first characters; `brain sessions list` shows them"
        )
    )]
    BadReference {
        /// What was given, shortened.
        reference: String,
    },

    /// More than one session starts with the reference.
    #[error("`{reference}` is the beginning of {total} session ids: {}", shown(candidates, *total))]
    #[diagnostic(code("journal.ambiguous"), help("give more characters of the id"))]
    Ambiguous {
        /// What was given.
        reference: String,
        /// The newest ids that match, at most [`MAX_CANDIDATES`].
        candidates: Vec<SessionId>,
        /// How many match.
        total: usize,
    },

    /// No session has the id, or starts with the reference.
    #[error("there is no session `{reference}` in {}", folder.display())]
    #[diagnostic(
        code("journal.not-found"),
        help("`brain sessions list` shows the sessions; BRAIN_HOME decides which folder they are read from")
    )]
    NotFound {
        /// What was looked for.
        reference: String,
        /// Where.
        folder: PathBuf,
    },

    /// Another run goes on in the session.
    #[error("a run goes on in the session `{id}`")]
    #[diagnostic(
        code("journal.in-use"),
        help("wait until it has ended, or begin a session of its own: leave --session out")
    )]
    InUse {
        /// The session.
        id: SessionId,
    },

    /// A new session was to get an id that is in use.
    #[error("session `{id}` exists already")]
    #[diagnostic(code("journal.exists"), help("open it to continue it, or let Brain choose a fresh id"))]
    Exists {
        /// The id.
        id: SessionId,
    },

    /// The disk, the quota or the file size limit is exhausted. What had been written of the record was taken back.
    #[error("no room to write the session journal {}", path.display())]
    #[diagnostic(
        code("journal.disk-full"),
        help(
            "free space (or raise the quota or file size limit) where the journal lies, or set BRAIN_HOME to another disk"
        )
    )]
    DiskFull {
        /// The journal.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// Another process kept the journal locked for longer than a record takes.
    #[error("another process has kept the session journal {} locked for {waited_ms} ms", path.display())]
    #[diagnostic(
        code("journal.locked"),
        help("a stopped or hung `brain` process holds the lock: continue or end it, then run again")
    )]
    Locked {
        /// The journal.
        path: PathBuf,
        /// How long was waited.
        waited_ms: u64,
    },

    /// A journal or the folder of the journals could not be read.
    #[error("cannot {action} {}", path.display())]
    #[diagnostic(
        code("journal.unreadable"),
        help("check that it is a regular file or folder and that your user may read it")
    )]
    Unreadable {
        /// What was tried, as a verb and its object.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// Any other failure of the system while a record was written.
    #[error("cannot {action} {}", path.display())]
    #[diagnostic(
        code("journal.io"),
        help(
            "the record is not in the journal, so the run must not go on as if it were; check the disk and run again"
        )
    )]
    Io {
        /// What was tried, as a verb and its object.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// A record that has no JSON form within the limits.
    #[error("a `{record}` record cannot be written: {reason}")]
    #[diagnostic(code("journal.unwritable-record"), help("this is a fault in Brain; please report it"))]
    UnwritableRecord {
        /// The record's type.
        record: &'static str,
        /// Why.
        reason: String,
    },
}

impl JournalError {
    /// Sorts a failed write by what the reader can do about it.
    pub(crate) fn from_write(action: &'static str, path: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let path = path.to_path_buf();
        match source.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Self::DiskFull { path, source },
            PermissionDenied | ReadOnlyFilesystem => Self::HomeNotWritable { action, path, source },
            _ => Self::Io { action, path, source },
        }
    }

    pub(crate) fn unreadable(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Unreadable { action, path: path.to_path_buf(), source }
    }
}

/// The beginning of a text that came from outside, on one line and safe to print.
pub(crate) fn quoted(text: &str) -> String {
    let start: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    let mut out = terminal_line(&start).into_owned();
    if text.chars().nth(MAX_QUOTED_CHARS).is_some() {
        out.push('…');
    }
    out
}

fn shown(candidates: &[SessionId], total: usize) -> String {
    let mut text = candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if total > candidates.len() {
        text.push_str(&format!(" and {} more", total - candidates.len()));
    }
    text
}
