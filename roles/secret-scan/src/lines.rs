//! Lines and character boundaries of a text.

use std::ops::Range;

/// The largest character boundary that is at most `at`.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

/// The byte range of line `line` (1-based), without its line end.
pub(crate) fn range_of(text: &str, line: u32) -> Option<Range<usize>> {
    let mut start = 0;
    for (number, piece) in (1u32..).zip(text.split_inclusive('\n')) {
        if number == line {
            return Some(start..start + piece.trim_end_matches(['\n', '\r']).len());
        }
        start += piece.len();
    }
    None
}

/// The line around byte `at`, when it is at most `max` bytes to either side.
pub(crate) fn around(bytes: &[u8], at: usize, max: usize) -> Option<Range<usize>> {
    let low = at.saturating_sub(max);
    let start = match bytes[low..at].iter().rposition(|&b| b == b'\n') {
        Some(newline) => low + newline + 1,
        None if low == 0 => 0,
        None => return None,
    };
    let high = bytes.len().min(start.saturating_add(max).saturating_add(1)).max(at);
    match bytes[at..high].iter().position(|&b| b == b'\n') {
        Some(newline) => Some(start..at + newline),
        None if high == bytes.len() => Some(start..high),
        None => None,
    }
}

/// Line numbers of ascending offsets, in one pass.
pub(crate) struct Counter<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, line: 1 }
    }

    /// The 1-based line of `offset`, which is not below the one of the call before.
    pub(crate) fn line_of(&mut self, offset: usize) -> u32 {
        let offset = offset.min(self.bytes.len());
        if let Some(between) = self.bytes.get(self.at..offset) {
            let lines = between.iter().filter(|&&b| b == b'\n').count();
            self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
            self.at = offset;
        }
        self.line
    }
}
