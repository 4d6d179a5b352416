//! One hunk: its header and its counted lines, of a plain diff (`@@`) or of a combined one (`@@@` and more).

use super::parse::Cursor;
use super::{Hunk, Line, Problem, Side};

/// Parents of a merge that are followed. git's own octopus merges are far below.
const MAX_PARENTS: usize = 16;

/// The ranges of a hunk header.
struct Ranges<'a> {
    /// Lines on each old side.
    old: Vec<u32>,
    new_start: u32,
    new_len: u32,
    heading: &'a [u8],
}

/// Whether a line opens a hunk, in either form.
pub fn opens(line: &[u8]) -> bool {
    line.starts_with(b"@@ -") || line.starts_with(b"@@@ -") || line.starts_with(b"@@@@")
}

/// Reads the hunk that starts at the cursor. None when its header is malformed; the cursor is then behind that line.
pub fn read<'a>(cursor: &mut Cursor<'a>, problems: &mut Vec<Problem>) -> Option<Hunk<'a>> {
    let at = cursor.line_number();
    let header = cursor.next()?;
    let Some(ranges) = ranges(header) else {
        problems.push(Problem { line: at, what: "a hunk header is malformed" });
        return None;
    };
    let mut hunk = Hunk {
        new_start: ranges.new_start,
        new_len: ranges.new_len,
        heading: ranges.heading,
        lines: Vec::new(),
        complete: false,
    };
    let mut old_left = ranges.old;
    let mut new_seen = 0_u32;
    let last_line = ranges.new_start.saturating_add(ranges.new_len.saturating_sub(1)).max(1);

    while old_left.iter().any(|left| *left > 0) || new_seen < ranges.new_len {
        let Some(raw) = cursor.peek() else {
            problems.push(Problem {
                line: cursor.line_number(),
                what: "a hunk ends before its last line: the diff is cut",
            });
            return Some(hunk);
        };
        if raw.starts_with(b"\\") {
            cursor.next();
            continue;
        }
        let Some((side, text)) = split_marker(raw, &mut old_left) else {
            problems.push(Problem {
                line: cursor.line_number(),
                what: "a hunk has fewer lines than its header says, or a line of another kind",
            });
            return Some(hunk);
        };
        if side != Side::Removed && new_seen >= ranges.new_len {
            problems.push(Problem { line: cursor.line_number(), what: "a hunk has more lines than its header says" });
            return Some(hunk);
        }
        let place = ranges.new_start.saturating_add(new_seen).clamp(1, last_line);
        hunk.lines.push(Line { side, text, line: place });
        new_seen += u32::from(side != Side::Removed);
        cursor.next();
    }
    // `\ No newline at end of file` may follow the last line.
    while cursor.peek().is_some_and(|line| line.starts_with(b"\\")) {
        cursor.next();
    }
    hunk.complete = true;
    Some(hunk)
}

/// The line's side and text, after the old sides that it belongs to were counted down. None when it is no hunk line, or when it
/// belongs to an old side that has no lines left.
fn split_marker<'a>(raw: &'a [u8], old_left: &mut [u32]) -> Option<(Side, &'a [u8])> {
    // Mail programs strip the blank of an empty context line.
    let blank = raw.is_empty() || raw == b"\r";
    let (markers, text) = if blank { (&b""[..], raw) } else { raw.split_at_checked(old_left.len())? };
    if !markers.iter().all(|m| matches!(m, b' ' | b'+' | b'-')) {
        return None;
    }
    let removed = markers.contains(&b'-');
    let side = if removed {
        Side::Removed
    } else if markers.contains(&b'+') {
        Side::Added
    } else {
        Side::Context
    };
    // In a combined diff a line belongs to the parents whose column has its mark: `-` for a removed line, a blank otherwise.
    let belongs = |column: usize| {
        let marker = markers.get(column).copied().unwrap_or(b' ');
        marker == if removed { b'-' } else { b' ' }
    };
    if old_left.iter().enumerate().any(|(column, left)| belongs(column) && *left == 0) {
        return None;
    }
    for (column, left) in old_left.iter_mut().enumerate() {
        *left -= u32::from(belongs(column));
    }
    Some((side, text))
}

fn ranges(header: &[u8]) -> Option<Ranges<'_>> {
    let header = header.strip_suffix(b"\r").unwrap_or(header);
    let ats = header.iter().take_while(|byte| **byte == b'@').count();
    if !(2..=MAX_PARENTS + 1).contains(&ats) {
        return None;
    }
    let mut rest = header.get(ats..)?.strip_prefix(b" ")?;
    let mut old = Vec::with_capacity(ats - 1);
    for _ in 1..ats {
        let (word, after) = super::header::split_once(rest, b' ')?;
        old.push(range(word.strip_prefix(b"-")?)?.1);
        rest = after;
    }
    let (word, after) = super::header::split_once(rest, b' ')?;
    let (new_start, new_len) = range(word.strip_prefix(b"+")?)?;
    let tail = after.get(..ats).filter(|closing| closing.iter().all(|b| *b == b'@')).and_then(|_| after.get(ats..))?;
    // A hunk with lines starts at line 1 at least.
    let sound = new_len == 0 || new_start > 0;
    sound.then(|| Ranges { old, new_start, new_len, heading: tail.strip_prefix(b" ").unwrap_or(tail) })
}

/// `start[,length]`; the length is 1 when it is absent. None when the end is past `u32`.
fn range(word: &[u8]) -> Option<(u32, u32)> {
    let number = |digits: &[u8]| {
        let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        plain.then(|| std::str::from_utf8(digits).ok()?.parse::<u32>().ok()).flatten()
    };
    let (start, len) = match super::header::split_once(word, b',') {
        Some((start, len)) => (number(start)?, number(len)?),
        None => (number(word)?, 1),
    };
    start.checked_add(len)?;
    Some((start, len))
}
