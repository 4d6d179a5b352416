//! Unified diffs: made, checked and turned around. A diff here is its hunks, from the first `@@` on; the file headers
//! are [`ChangeSet::to_patch`](crate::ChangeSet::to_patch)'s.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::Instant;

use similar::{Algorithm, DiffOp, DiffTag, TextDiff};

/// Largest file, on either side, that a diff is made of, in bytes.
pub const MAX_DIFF_INPUT_BYTES: usize = 1024 * 1024;
/// Longest diff of one file, in bytes.
pub const MAX_DIFF_BYTES: usize = 256 * 1024;
/// Unchanged lines around each change.
const CONTEXT_LINES: usize = 3;
/// What stands after a last line that has no line end.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// Lines that a diff adds and removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Added lines.
    pub added: u64,
    /// Removed lines.
    pub removed: u64,
}

/// A text that is not the hunks of a unified diff.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the diff {what}")]
pub struct DiffError {
    /// The line, from 1.
    pub line: usize,
    what: &'static str,
}

/// Whether `bytes` are text as far as a diff is concerned. `whole` says that no bytes follow; otherwise a character
/// that is cut at the end is forgiven.
pub(crate) fn text(bytes: &[u8], whole: bool) -> Option<&str> {
    if bytes.contains(&0) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if !whole && error.error_len().is_none() => {
            bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok())
        }
        Err(_) => None,
    }
}

/// The hunks between two texts, or nothing where they would be longer than [`MAX_DIFF_BYTES`]. Lines end with `\n` and
/// with nothing else, as in git. After `deadline` the diff gets coarser, never wrong.
pub fn unified(base: &str, new: &str, deadline: Instant) -> Option<String> {
    let base: Vec<&str> = base.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).deadline(deadline).diff_slices(&base, &new);
    let mut out = String::new();
    for group in similar::group_diff_ops(in_place(diff.ops()), CONTEXT_LINES) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        out.push_str("@@ -");
        range(&mut out, first.old_range().start..last.old_range().end);
        out.push_str(" +");
        range(&mut out, first.new_range().start..last.new_range().end);
        out.push_str(" @@\n");
        for op in group {
            let (tag, old_range, new_range) = op.as_tag_tuple();
            let old = base.get(old_range).unwrap_or_default();
            let now = new.get(new_range).unwrap_or_default();
            match tag {
                DiffTag::Equal => lines(&mut out, ' ', old)?,
                DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                    lines(&mut out, '-', old)?;
                    lines(&mut out, '+', now)?;
                }
            }
        }
    }
    Some(out)
}

/// The operations with their positions counted anew: `similar` 2 moves operations past each other and may leave the position
/// of an insertion in the old text, or of a deletion in the new one, where it was.
fn in_place(ops: &[DiffOp]) -> Vec<DiffOp> {
    let (mut old_index, mut new_index) = (0, 0);
    let counted = |op: &DiffOp| {
        let (tag, old, new) = op.as_tag_tuple();
        let (old_len, new_len) = (old.len(), new.len());
        let op = match tag {
            DiffTag::Equal => DiffOp::Equal { old_index, new_index, len: old_len },
            DiffTag::Delete => DiffOp::Delete { old_index, old_len, new_index },
            DiffTag::Insert => DiffOp::Insert { old_index, new_index, new_len },
            DiffTag::Replace => DiffOp::Replace { old_index, old_len, new_index, new_len },
        };
        old_index += old_len;
        new_index += new_len;
        op
    };
    ops.iter().map(counted).collect()
}

/// Adds lines to a diff; nothing when it becomes too long.
fn lines(out: &mut String, tag: char, lines: &[&str]) -> Option<()> {
    for line in lines {
        out.push(tag);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push('\n');
            out.push_str(NO_NEWLINE);
            out.push('\n');
        }
        if out.len() > MAX_DIFF_BYTES {
            return None;
        }
    }
    Some(())
}

/// `first line,lines`; a range without lines is named by the line before it.
fn range(out: &mut String, range: Range<usize>) {
    let first = if range.is_empty() { range.start } else { range.start + 1 };
    // Writing to a string does not fail.
    let _ = write!(out, "{first},{}", range.len());
}

/// What a line of a hunk is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Hunk,
    Kept,
    Removed,
    Added,
    NoNewline,
}

/// Whether `diff` is nothing but well-formed hunks, and how many lines they add and remove.
///
/// # Errors
/// Names the first line that is wrong. A diff that passes cannot smuggle the header of another file into a patch.
pub fn check(diff: &str) -> Result<Lines, DiffError> {
    let mut lines = Lines::default();
    walk(diff, |line, _| match line {
        Line::Added => lines.added += 1,
        Line::Removed => lines.removed += 1,
        _ => {}
    })?;
    Ok(lines)
}

/// The diff that takes back what `diff` does.
///
/// # Errors
/// Those of [`check()`].
pub fn invert(diff: &str) -> Result<String, DiffError> {
    let mut out = String::with_capacity(diff.len());
    // Within a run of changed lines, the removed ones stand first.
    let (mut removed, mut added) = (String::new(), String::new());
    let mut last = Line::Hunk;
    walk(diff, |line, text| {
        if matches!(line, Line::Hunk | Line::Kept) {
            out.push_str(&removed);
            out.push_str(&added);
            removed.clear();
            added.clear();
        }
        let rest = text.get(1..).unwrap_or_default();
        match (line, last) {
            (Line::Hunk, _) => out.push_str(&turned(text)),
            (Line::Kept, _) => push(&mut out, text),
            (Line::Removed, _) => push_tagged(&mut added, '+', rest),
            (Line::Added, _) => push_tagged(&mut removed, '-', rest),
            (Line::NoNewline, Line::Removed) => push(&mut added, text),
            (Line::NoNewline, Line::Added) => push(&mut removed, text),
            (Line::NoNewline, _) => push(&mut out, text),
        }
        last = line;
    })?;
    out.push_str(&removed);
    out.push_str(&added);
    Ok(out)
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

fn push_tagged(out: &mut String, tag: char, rest: &str) {
    out.push(tag);
    push(out, rest);
}

/// A hunk header with its sides swapped; it is known to be well-formed.
fn turned(header: &str) -> String {
    let mut parts = header.split(' ').filter_map(|part| part.strip_prefix(['-', '+']));
    let (old, new) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("@@ -{new} +{old} @@\n")
}

/// Goes over the lines of a diff, refusing the first that does not belong.
fn walk(diff: &str, mut visit: impl FnMut(Line, &str)) -> Result<(), DiffError> {
    let (mut old, mut new) = (0u64, 0u64);
    // Where the hunk before ends, in lines of each side.
    let mut ends = (0, 0);
    let mut last = Line::Hunk;
    let mut number = 0;
    for raw in diff.split_inclusive('\n') {
        number += 1;
        let wrong = |what| DiffError { line: number, what };
        let text = raw.strip_suffix('\n').ok_or_else(|| wrong("does not end"))?;
        let too_many = || wrong("is more than the header of its hunk announces");
        let line = match text.as_bytes().first() {
            Some(b' ') => {
                old = old.checked_sub(1).ok_or_else(too_many)?;
                new = new.checked_sub(1).ok_or_else(too_many)?;
                Line::Kept
            }
            Some(b'-') => {
                old = old.checked_sub(1).ok_or_else(too_many)?;
                Line::Removed
            }
            Some(b'+') => {
                new = new.checked_sub(1).ok_or_else(too_many)?;
                Line::Added
            }
            Some(b'\\') if text == NO_NEWLINE && !matches!(last, Line::Hunk | Line::NoNewline) => Line::NoNewline,
            Some(b'@') if (old, new) == (0, 0) => {
                let (before, after) = header(text).ok_or_else(|| wrong("is not the header of a hunk"))?;
                // What lies between two hunks is the same on both sides, so that it is as long.
                let kept = (before.start.checked_sub(ends.0), after.start.checked_sub(ends.1));
                if kept.0.is_none() || kept.0 != kept.1 {
                    return Err(wrong("is not where the hunks before it leave it"));
                }
                ends = (before.end, after.end);
                (old, new) = (before.end - before.start, after.end - after.start);
                Line::Hunk
            }
            Some(b'@') => return Err(wrong("comes before the hunk is complete")),
            _ => return Err(wrong("is no line of a unified diff")),
        };
        visit(line, text);
        last = line;
    }
    if (old, new) == (0, 0) {
        Ok(())
    } else {
        Err(DiffError { line: number, what: "is the last, before the hunk is complete" })
    }
}

/// The old and the new lines, counted from 0, that `@@ -a,b +c,d @@` announces.
fn header(text: &str) -> Option<(Range<u64>, Range<u64>)> {
    let (old, new) = text.strip_prefix("@@ -")?.strip_suffix(" @@")?.split_once(" +")?;
    let (old, new) = (announced(old)?, announced(new)?);
    (!old.is_empty() || !new.is_empty()).then_some((old, new))
}

/// What [`range`] writes, read; the last line is a number of 32 bits, as it is for those who read patches.
fn announced(range: &str) -> Option<Range<u64>> {
    let (first, lines) = range.split_once(',')?;
    let plain = |number: &str| {
        let digits = number.bytes().all(|b| b.is_ascii_digit());
        if digits { number.parse::<u32>().ok().map(u64::from) } else { None }
    };
    let (first, lines) = (plain(first)?, plain(lines)?);
    let start = if lines == 0 { first } else { first.checked_sub(1)? };
    let end = start + lines;
    (end <= u64::from(u32::MAX)).then_some(start..end)
}
