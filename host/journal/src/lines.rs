//! Lines of a file, however long the file and its lines are, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use crate::read::ReadLimits;

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// With a newline; the buffer has the line without it.
    Newline,
    /// With the end of the range; the buffer has what there was.
    EndOfRange,
    /// It is longer than the limit; the buffer is empty.
    TooLong,
}

/// A part of the file that is read, in whole lines as far as they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub start: u64,
    pub end: u64,
    /// The range starts inside a line, whose rest is dropped.
    pub starts_inside_line: bool,
    /// The range ends before the file does, so an unfinished last line is not torn but left out.
    pub more_follows: bool,
}

/// Which parts of a file of `len` bytes are read: all of it, or its head and its tail when it is over the limit.
/// The tail matters: it is where a session says how it ended.
pub(crate) fn ranges(len: u64, limits: &ReadLimits) -> Vec<Range> {
    if len <= limits.file_bytes {
        return vec![Range { start: 0, end: len, starts_inside_line: false, more_follows: false }];
    }
    let head = limits.file_bytes / 2;
    let tail = limits.file_bytes - head;
    vec![
        Range { start: 0, end: head, starts_inside_line: false, more_follows: true },
        // One byte earlier, so that a tail which begins exactly at a line loses no line.
        Range { start: (len - tail).saturating_sub(1), end: len, starts_inside_line: true, more_follows: false },
    ]
}

/// Reads one line after the other out of a range of a file.
pub(crate) struct Lines<'f> {
    inner: io::Take<BufReader<&'f File>>,
    limit: usize,
}

impl<'f> Lines<'f> {
    pub(crate) fn new(mut file: &'f File, range: Range, line_bytes: usize) -> io::Result<Self> {
        file.seek(SeekFrom::Start(range.start))?;
        let inner = BufReader::with_capacity(64 * 1024, file).take(range.end.saturating_sub(range.start));
        Ok(Self { inner, limit: line_bytes })
    }

    /// The next line in `buffer`, how it ended, and how many bytes of the file it took; `None` at the end of the range.
    pub(crate) fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<(LineEnd, u64)>> {
        buffer.clear();
        let mut taken: u64 = 0;
        let mut too_long = false;
        loop {
            let chunk = match self.inner.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if chunk.is_empty() {
                return Ok(match (taken, too_long) {
                    (0, _) => None,
                    (_, true) => Some((LineEnd::TooLong, taken)),
                    (_, false) => Some((LineEnd::EndOfRange, taken)),
                });
            }
            let newline = memchr::memchr(b'\n', chunk);
            let part = newline.unwrap_or(chunk.len());
            if !too_long && buffer.len().saturating_add(part) > self.limit {
                too_long = true;
                *buffer = Vec::new();
            }
            if !too_long {
                buffer.extend_from_slice(&chunk[..part]);
            }
            let used = newline.map_or(part, |at| at + 1);
            taken += used as u64;
            self.inner.consume(used);
            if newline.is_some() {
                let end = if too_long { LineEnd::TooLong } else { LineEnd::Newline };
                return Ok(Some((end, taken)));
            }
        }
    }
}
