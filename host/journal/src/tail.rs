//! The last records of a journal, and those that come after them while somebody waits.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::Path;

use brain_packet::SessionId;

use crate::error::JournalError;
use crate::layout::{self, SessionPaths};
use crate::lines::{LineEnd, Lines, Range};
use crate::read::{
    Entry, Line, MAX_LINE_BYTES, ReadLimits, Seen, Skipped, Span, entry_of, look, read_line, skim_file, unreadable,
};
use crate::record::Record;

/// Records that a tail begins with unless it is asked for another number.
pub const DEFAULT_TAIL: usize = 10;

/// Most records that a tail begins with.
pub const MAX_TAIL: usize = 10_000;

/// How much of a journal is skimmed for its last records, in bytes.
const MAX_TAIL_FILE_BYTES: u64 = 1 << 30;

/// Most bytes that one look at what was added takes in. What is beyond comes with the next.
const MAX_POLL_BYTES: u64 = 16 * 1024 * 1024;

/// The end of a journal, which can be followed. Nothing waits here: whoever follows decides how often to look.
#[derive(Debug)]
pub struct Tail {
    home: std::path::PathBuf,
    id: SessionId,
    paths: SessionPaths,
    file: File,
    /// What lies before it was looked at.
    offset: u64,
    ended: bool,
    skipped: Skipped,
}

impl Tail {
    /// Opens a session's journal and gives its last `count` records, at most [`MAX_TAIL`].
    ///
    /// # Errors
    /// `journal.not-found`, `journal.bad-id`, `journal.unreadable`.
    pub fn open(home: &Path, id: &SessionId, count: usize) -> Result<(Self, Vec<Entry>), JournalError> {
        let paths = SessionPaths::new(home, id)?;
        Self::last(home, id, &paths, count.min(MAX_TAIL)).map_err(|source| unreadable(home, id, &paths, source))
    }

    fn last(home: &Path, id: &SessionId, paths: &SessionPaths, count: usize) -> io::Result<(Self, Vec<Entry>)> {
        let limits = ReadLimits { file_bytes: MAX_TAIL_FILE_BYTES, ..ReadLimits::default() };
        let mut spans: VecDeque<Span> = VecDeque::new();
        let mut turn: Option<Span> = None;
        let mut offset = 0;
        let skipped = skim_file(paths.journal(), &limits, |line| {
            if matches!(line.kind, "run_start" | "run_end" | "run_error") {
                turn = Some(line.span());
            }
            if count > 0 {
                if spans.len() == count {
                    spans.pop_front();
                }
                spans.push_back(line.span());
            }
            offset = line.span().offset;
            Seen::Fine
        })?;
        let file = layout::open_regular(paths.journal(), false)?;
        let mut tail = Self {
            home: home.to_path_buf(),
            id: id.clone(),
            paths: paths.clone(),
            file,
            offset,
            ended: false,
            skipped,
        };
        // The last line that was skimmed is passed again, so that what follows begins behind a whole line.
        tail.offset = tail.end_of_line(offset)?;
        if let Some(entry) = turn.map(|span| read_line(&tail.file, span)).transpose()?.flatten() {
            tail.turn(&entry.record);
        }
        let mut entries = Vec::with_capacity(spans.len());
        for span in spans {
            match read_line(&tail.file, span)? {
                Some(entry) => entries.push(entry),
                None => tail.skipped.malformed += 1,
            }
        }
        Ok((tail, entries))
    }

    /// Whether the latest run has come to its end, well or badly. Nothing more is expected then.
    #[must_use]
    pub fn run_has_ended(&self) -> bool {
        self.ended
    }

    /// What was passed over so far.
    #[must_use]
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The records that were added since the last look, as far as their lines are whole.
    ///
    /// # Errors
    /// `journal.unreadable`.
    pub fn added(&mut self) -> Result<Vec<Entry>, JournalError> {
        self.poll().map_err(|source| unreadable(&self.home, &self.id, &self.paths, source))
    }

    fn poll(&mut self) -> io::Result<Vec<Entry>> {
        let length = self.file.metadata()?.len();
        // A record that could not be written whole was taken back.
        let start = self.offset.min(length);
        let end = length.min(start.saturating_add(MAX_POLL_BYTES));
        let mut entries = Vec::new();
        let mut buffer = Vec::new();
        let range = Range { start, end, starts_inside_line: false, more_follows: true };
        let file = self.file.try_clone()?;
        let mut lines = Lines::new(&file, range, MAX_LINE_BYTES)?;
        self.offset = start;
        while let Some((line_end, bytes)) = lines.next(&mut buffer)? {
            match line_end {
                LineEnd::EndOfRange => break,
                LineEnd::TooLong => self.skipped.too_long += 1,
                LineEnd::Newline => match look(&buffer) {
                    Line::Blank => {}
                    Line::Unknown => self.skipped.unknown += 1,
                    Line::Malformed => self.skipped.malformed += 1,
                    Line::Known { .. } => match entry_of(&buffer) {
                        Some(entry) => {
                            self.turn(&entry.record);
                            entries.push(entry);
                        }
                        None => self.skipped.malformed += 1,
                    },
                },
            }
            self.offset += bytes;
        }
        Ok(entries)
    }

    fn turn(&mut self, record: &Record) {
        match record {
            Record::RunStart(_) => self.ended = false,
            Record::RunEnd(_) | Record::RunError { will_fallback: false, .. } => self.ended = true,
            _ => {}
        }
    }

    /// Where the line that begins at `offset` ends, if it has its newline; else where it begins.
    fn end_of_line(&self, offset: u64) -> io::Result<u64> {
        let end = self.file.metadata()?.len();
        let range = Range { start: offset, end, starts_inside_line: false, more_follows: true };
        let mut lines = Lines::new(&self.file, range, MAX_LINE_BYTES)?;
        Ok(match lines.next(&mut Vec::new())? {
            Some((LineEnd::Newline | LineEnd::TooLong, bytes)) => offset + bytes,
            _ => offset,
        })
    }
}
