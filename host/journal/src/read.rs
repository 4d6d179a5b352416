//! Reading a journal back. Whatever stands in the file, reading it is no error: what is no record is counted and skipped.

use std::fs::{File, TryLockError};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use brain_packet::SessionId;
use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

use crate::cut::Truncation;
use crate::error::JournalError;
use crate::journal::wait_for;
use crate::layout::{self, SessionPaths};
use crate::lines::{self, LineEnd, Lines, Range};
use crate::record::Record;
use crate::seed;

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

    /// Adds what was passed over elsewhere.
    pub(crate) fn add(&mut self, other: Self) {
        self.torn_lines += other.torn_lines;
        self.malformed += other.malformed;
        self.unknown += other.unknown;
        self.too_long += other.too_long;
        self.unread_bytes += other.unread_bytes;
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
    scan_file(paths.journal(), limits, visit).map_err(|source| unreadable(home, id, &paths, source))
}

/// Why a journal cannot be read.
pub(crate) fn unreadable(home: &Path, id: &SessionId, paths: &SessionPaths, source: io::Error) -> JournalError {
    match source.kind() {
        io::ErrorKind::NotFound => {
            JournalError::NotFound { reference: id.to_string(), folder: layout::sessions_folder(home) }
        }
        _ => JournalError::unreadable("read the session journal", paths.journal(), source),
    }
}

/// Reads the records of a file.
pub(crate) fn scan_file(
    path: &Path,
    limits: &ReadLimits,
    mut visit: impl FnMut(Entry) -> ControlFlow<()>,
) -> io::Result<Skipped> {
    skim_file(path, limits, |line| match line.entry() {
        None => Seen::Malformed,
        Some(entry) => match visit(entry) {
            ControlFlow::Break(()) => Seen::Enough,
            ControlFlow::Continue(()) => Seen::Fine,
        },
    })
}

/// A line of which the head alone was read: somebody's record of a known type, by the look of it.
#[derive(Clone, Copy)]
pub(crate) struct Skimmed<'l> {
    pub kind: &'l str,
    pub timestamp: u64,
    line: &'l [u8],
    /// Where the line begins in the file.
    offset: u64,
}

/// What a visitor says of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Fine,
    /// It is no record after all.
    Malformed,
    /// Nothing more is wanted.
    Enough,
}

impl<'l> Skimmed<'l> {
    /// Where the line stands, without its newline.
    pub fn span(&self) -> Span {
        Span { offset: self.offset, bytes: self.line.len() }
    }

    /// The line as text.
    pub fn text(&self) -> Option<&'l str> {
        // serde_json takes any bytes between quotes that it skips, so the line is checked as a whole.
        std::str::from_utf8(self.line).ok()
    }

    /// The line as a record.
    pub fn entry(&self) -> Option<Entry> {
        let text = self.text()?;
        let truncated = match TRUNCATED.find(self.line) {
            None => None,
            Some(_) => serde_json::from_str::<Head>(text).ok()?.truncated,
        };
        let record = match serde_json::from_str::<Record>(text) {
            Ok(record) if seed::is_partial(&record, text) => seed::adapt(text).unwrap_or(record),
            Ok(record) => record,
            Err(_) => seed::adapt(text)?,
        };
        Some(Entry { timestamp: self.timestamp, truncated, record })
    }
}

/// The name of the note that a cut record carries.
static TRUNCATED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"truncated\":"));

/// Shows every line that looks like a record of a known type, and counts the others. Only its head is looked at, so that lines
/// which the visitor has no use for cost next to nothing; that they are sound is not known then.
pub(crate) fn skim_file(
    path: &Path,
    limits: &ReadLimits,
    mut visit: impl FnMut(Skimmed<'_>) -> Seen,
) -> io::Result<Skipped> {
    let file = layout::open_regular(path, false)?;
    let length = file.metadata()?.len();
    let mut skipped = Skipped::default();
    let mut read_bytes = 0;
    let mut buffer = Vec::new();
    for range in lines::ranges(length, limits) {
        let mut lines = Lines::new(&file, range, limits.line_bytes)?;
        let mut offset = range.start;
        if range.starts_inside_line {
            offset += lines.next(&mut buffer)?.map_or(0, |(_, bytes)| bytes);
        }
        while let Some((end, bytes)) = lines.next(&mut buffer)? {
            if end == LineEnd::EndOfRange && range.more_follows {
                break;
            }
            read_bytes += bytes;
            let at = offset;
            offset += bytes;
            if end == LineEnd::TooLong {
                skipped.too_long += 1;
                continue;
            }
            let seen = match look(&buffer) {
                Line::Blank => Seen::Fine,
                Line::Unknown => {
                    skipped.unknown += 1;
                    Seen::Fine
                }
                Line::Malformed => Seen::Malformed,
                Line::Known { kind, timestamp } => {
                    // A whole record that lacks nothing but its newline is a record.
                    if end == LineEnd::EndOfRange && !buffer.trim_ascii_end().ends_with(b"}") {
                        Seen::Malformed
                    } else {
                        visit(Skimmed { kind, timestamp, line: &buffer, offset: at })
                    }
                }
            };
            match seen {
                Seen::Fine => {}
                Seen::Enough => return Ok(skipped),
                Seen::Malformed if end == LineEnd::EndOfRange => {
                    skipped.torn_lines += u64::from(is_settled(&file, length)?);
                }
                Seen::Malformed => skipped.malformed += 1,
            }
        }
    }
    skipped.unread_bytes = length.saturating_sub(read_bytes);
    Ok(skipped)
}

/// One line of a file that was skimmed before, as a record.
pub(crate) fn read_line(file: &File, span: Span) -> io::Result<Option<Entry>> {
    let range = Range {
        start: span.offset,
        end: span.offset.saturating_add(span.bytes as u64),
        starts_inside_line: false,
        more_follows: false,
    };
    let mut line = Vec::with_capacity(span.bytes);
    if Lines::new(file, range, span.bytes)?.next(&mut line)?.is_none() {
        return Ok(None);
    }
    Ok(entry_of(&line))
}

/// A line as a record, if it is one.
pub(crate) fn entry_of(line: &[u8]) -> Option<Entry> {
    match look(line) {
        Line::Known { kind, timestamp } => Skimmed { kind, timestamp, line, offset: 0 }.entry(),
        _ => None,
    }
}

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub offset: u64,
    /// Without the newline.
    pub bytes: usize,
}

/// Whether nobody was appending when the file had this length. While somebody is, the last line may be half written.
fn is_settled(file: &File, length: u64) -> io::Result<bool> {
    match wait_for(READ_LOCK_WAIT, || file.try_lock_shared()) {
        Ok(()) => {
            let now = file.metadata().map(|metadata| metadata.len());
            file.unlock()?;
            Ok(now? == length)
        }
        Err(TryLockError::WouldBlock) => Ok(false),
        // A file system without locks has no appending brain process either.
        Err(TryLockError::Error(_)) => Ok(true),
    }
}

pub(crate) enum Line<'l> {
    Known { kind: &'l str, timestamp: u64 },
    Blank,
    Unknown,
    Malformed,
}

/// What every record has. It tells a stranger from a broken line without building either.
#[derive(Deserialize)]
struct Head {
    timestamp: u64,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    truncated: Option<Truncation>,
}

/// Looks at the head of a line.
pub(crate) fn look(line: &[u8]) -> Line<'_> {
    if let Some((timestamp, kind)) = written_head(line)
        && let Some(kind) = known(kind)
    {
        return Line::Known { kind, timestamp };
    }
    if line.trim_ascii().is_empty() {
        return Line::Blank;
    }
    let Ok(text) = std::str::from_utf8(line) else { return Line::Malformed };
    let Ok(head) = serde_json::from_str::<Head>(text) else { return Line::Malformed };
    match known(head.kind.as_bytes()) {
        Some(kind) => Line::Known { kind, timestamp: head.timestamp },
        None => Line::Unknown,
    }
}

fn known(kind: &[u8]) -> Option<&'static str> {
    Record::TYPES.into_iter().find(|known| known.as_bytes() == kind)
}

/// Time and type of a line that begins as Brain writes it: `{"timestamp":1,"type":"run_end"` and then something. Other
/// spellings of the same JSON are for [`Head`].
fn written_head(line: &[u8]) -> Option<(u64, &[u8])> {
    const TYPE: &[u8] = b",\"type\":\"";
    let rest = line.strip_prefix(b"{\"timestamp\":")?;
    let digits = rest.iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = rest.split_at(digits);
    if number.len() > 1 && number.starts_with(b"0") {
        return None;
    }
    let timestamp = std::str::from_utf8(number).ok()?.parse().ok()?;
    let rest = rest.strip_prefix(TYPE)?;
    let end = rest.iter().take(64).position(|byte| *byte == b'"')?;
    matches!(rest.get(end + 1), Some(b',' | b'}')).then(|| (timestamp, &rest[..end]))
}
