//! Reading a journal back. Whatever stands in the file, reading it is no error: what is no record is counted and skipped.

use std::fs::{File, TryLockError};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use brain_packet::SessionId;
use serde::{Deserialize, Serialize};

use crate::cut::Truncation;
use crate::error::JournalError;
use crate::journal::wait_for;
use crate::layout::{self, SessionPaths};
use crate::lines::{self, LineEnd, Lines};
use crate::record::Record;

/// Longest line that is read, in bytes. Twice [`crate::MAX_RECORD_BYTES`], so that a later version may write more.
pub const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// How much of a journal is read, in bytes. Of a longer one the first and the last half of this are read.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// How long a reader waits for an appending process. It then reads what there is.
const READ_LOCK_WAIT: Duration = Duration::from_millis(200);

/// Bounds of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Longest line in bytes; by default [`MAX_LINE_BYTES`].
    pub line_bytes: usize,
    /// Most bytes of one journal; by default [`MAX_FILE_BYTES`].
    pub file_bytes: u64,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { line_bytes: MAX_LINE_BYTES, file_bytes: MAX_FILE_BYTES }
    }
}

/// A record as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When it was appended, in milliseconds since the epoch.
    pub timestamp: u64,
    /// Set when it had been too large and was cut.
    pub truncated: Option<Truncation>,
    /// The record.
    pub record: Record,
}

/// What reading passed over, so that it can be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// A last line that a crash cut off (0 or 1). Once something follows it, it counts as malformed. A line that another
    /// process is just writing is not counted.
    pub torn_lines: u64,
    /// Lines that are not UTF-8, not JSON, no object, or lack what their type needs.
    pub malformed: u64,
    /// Sound records of a type that this version does not know.
    pub unknown: u64,
    /// Lines over the limit of a line.
    pub too_long: u64,
    /// Bytes in the middle of a journal that is over the limit of a file.
    pub unread_bytes: u64,
}

impl Skipped {
    /// Whether everything was read.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// How many lines were passed over, without the unread middle of an overlong journal.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.torn_lines + self.malformed + self.unknown + self.too_long
    }
}

/// A whole journal in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionLog {
    /// The records in the order of the file.
    pub records: Vec<Entry>,
    /// What is not among them.
    pub skipped: Skipped,
}

/// Reads a session's journal.
///
/// # Errors
/// `journal.not-found`, `journal.bad-id`, `journal.unreadable`. Never because of what the file contains.
pub fn read(home: &Path, id: &SessionId) -> Result<SessionLog, JournalError> {
    read_with(home, id, &ReadLimits::default())
}

/// Reads a session's journal within other limits than the default ones.
///
/// # Errors
/// As [`read`].
pub fn read_with(home: &Path, id: &SessionId, limits: &ReadLimits) -> Result<SessionLog, JournalError> {
    let mut records = Vec::new();
    let skipped = scan(home, id, limits, |entry| {
        records.push(entry);
        ControlFlow::Continue(())
    })?;
    Ok(SessionLog { records, skipped })
}

/// Shows the records of a session to `visit`, one after the other, without keeping them; `visit` may end it early.
///
/// # Errors
/// As [`read`].
pub fn scan(
    home: &Path,
    id: &SessionId,
    limits: &ReadLimits,
    visit: impl FnMut(Entry) -> ControlFlow<()>,
) -> Result<Skipped, JournalError> {
    let paths = SessionPaths::new(home, id)?;
    scan_file(paths.journal(), limits, visit).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => {
            JournalError::NotFound { reference: id.to_string(), folder: layout::sessions_folder(home) }
        }
        _ => JournalError::unreadable("read the session journal", paths.journal(), source),
    })
}

pub(crate) fn scan_file(
    path: &Path,
    limits: &ReadLimits,
    mut visit: impl FnMut(Entry) -> ControlFlow<()>,
) -> std::io::Result<Skipped> {
    let file = layout::open_regular(path, false)?;
    let (length, settled) = current_length(&file)?;
    let mut skipped = Skipped::default();
    let mut read_bytes = 0;
    let mut buffer = Vec::new();
    for range in lines::ranges(length, limits) {
        let mut lines = Lines::new(&file, range, limits.line_bytes)?;
        if range.starts_inside_line {
            lines.next(&mut buffer)?;
        }
        while let Some((end, bytes)) = lines.next(&mut buffer)? {
            if end == LineEnd::EndOfRange && range.more_follows {
                break;
            }
            read_bytes += bytes;
            let entry = match end {
                LineEnd::TooLong => {
                    skipped.too_long += 1;
                    continue;
                }
                LineEnd::Newline | LineEnd::EndOfRange => parse(&buffer),
            };
            match entry {
                // A whole record that lacks nothing but its newline is a record.
                Line::Record(entry) => {
                    if visit(*entry).is_break() {
                        return Ok(skipped);
                    }
                }
                Line::Blank => {}
                Line::Unknown => skipped.unknown += 1,
                Line::Malformed if end == LineEnd::EndOfRange => skipped.torn_lines += u64::from(settled),
                Line::Malformed => skipped.malformed += 1,
            }
        }
    }
    skipped.unread_bytes = length.saturating_sub(read_bytes);
    Ok(skipped)
}

/// The file's length, and whether nobody was appending then. While somebody is, the last line may be half written.
fn current_length(file: &File) -> std::io::Result<(u64, bool)> {
    let (locked, settled) = match wait_for(READ_LOCK_WAIT, || file.try_lock_shared()) {
        Ok(()) => (true, true),
        Err(TryLockError::WouldBlock) => (false, false),
        // A file system without locks has no appending brain process either.
        Err(TryLockError::Error(_)) => (false, true),
    };
    let length = file.metadata().map(|metadata| metadata.len());
    if locked {
        file.unlock()?;
    }
    Ok((length?, settled))
}

enum Line {
    Record(Box<Entry>),
    Blank,
    Unknown,
    Malformed,
}

/// What every record has. Read first and on its own: it tells a stranger from a broken line without building either.
#[derive(Deserialize)]
struct Head {
    timestamp: u64,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    truncated: Option<Truncation>,
}

fn parse(line: &[u8]) -> Line {
    if line.trim_ascii().is_empty() {
        return Line::Blank;
    }
    // serde_json takes any bytes between quotes that it skips, so the line is checked as a whole.
    let Ok(text) = std::str::from_utf8(line) else { return Line::Malformed };
    let Ok(head) = serde_json::from_str::<Head>(text) else { return Line::Malformed };
    if !Record::TYPES.contains(&head.kind.as_str()) {
        return Line::Unknown;
    }
    match serde_json::from_str::<Record>(text) {
        Ok(record) => Line::Record(Box::new(Entry { timestamp: head.timestamp, truncated: head.truncated, record })),
        Err(_) => Line::Malformed,
    }
}
