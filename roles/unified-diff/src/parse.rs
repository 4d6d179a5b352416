//! Cuts the input into sections and reads each.

use super::header::{Header, git_pair, side_name};
use super::name::{Name, read_name};
use super::{Diff, FileDiff, Problem, hunk};

/// Problems kept per section; a section with more is as unreadable as one with that many.
const MAX_PROBLEMS: usize = 20;

/// Lines of the input with their 1-based number.
pub struct Cursor<'a> {
    rest: Option<&'a [u8]>,
    number: usize,
}

impl<'a> Cursor<'a> {
    fn new(input: &'a [u8]) -> Self {
        Self { rest: (!input.is_empty()).then_some(input), number: 1 }
    }

    /// Number of the line that [`Cursor::peek`] shows.
    pub fn line_number(&self) -> usize {
        self.number
    }

    /// The line at the cursor, without its `\n`.
    pub fn peek(&self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        Some(rest.split(|byte| *byte == b'\n').next().unwrap_or(rest))
    }

    /// The line at the cursor, which then moves on.
    pub fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.peek()?;
        self.rest = self.rest.and_then(|rest| rest.get(line.len() + 1..)).filter(|rest| !rest.is_empty());
        self.number += 1;
        Some(line)
    }

    fn second(&self) -> Option<&'a [u8]> {
        let mut ahead = Cursor { rest: self.rest, number: self.number };
        ahead.next();
        ahead.peek()
    }
}

/// Parses a unified diff as git, diff or svn print it. Never fails as a whole: what cannot be read is in the problems of the
/// section it is in, or of the diff. Keeps the first `max_files` sections and counts the others.
pub fn parse(input: &[u8], max_files: usize) -> Diff<'_> {
    let mut diff = Diff::default();
    let mut cursor = Cursor::new(input);
    // Whether the last section has ended in a way that lets prose follow: a blank line, a mail signature, a commit header.
    let mut prose = true;
    while let Some(raw) = cursor.peek() {
        let line = trimmed(raw);
        let at = cursor.line_number();
        if let Some(file) = section(&mut cursor, line) {
            prose = false;
            if diff.files.len() < max_files {
                diff.files.push(file);
            } else {
                diff.cut_files += 1;
            }
        } else if let Some(rest) = line.strip_prefix(b"* Unmerged path ") {
            diff.unmerged.push(Name::new(&read_name(rest).map_or_else(|| rest.to_vec(), |(name, _)| name)));
            cursor.next();
        } else {
            prose = prose
                || line.is_empty()
                || line == b"-- "
                || line.starts_with(b"commit ")
                || line.starts_with(b"From ");
            let lost_hunk = hunk::opens(line);
            if lost_hunk || (!prose && line.first().is_some_and(|byte| matches!(byte, b'+' | b'-' | b' '))) {
                let what = if lost_hunk {
                    "a hunk stands outside any file section"
                } else {
                    "changed lines stand outside any hunk"
                };
                let problems = diff.files.last_mut().map_or(&mut diff.problems, |file| &mut file.problems);
                note(problems, Problem { line: at, what });
            }
            diff.ignored_lines += 1;
            cursor.next();
        }
    }
    diff
}

/// Reads the section that starts at the cursor, if one does.
fn section<'a>(cursor: &mut Cursor<'a>, line: &[u8]) -> Option<FileDiff<'a>> {
    let mut header = Header::at(cursor.line_number());
    let mut problems = Vec::new();
    if let Some(rest) = line.strip_prefix(b"diff --git ") {
        header.pair = git_pair(rest);
        cursor.next();
    } else if let Some(rest) = line.strip_prefix(b"diff --cc ").or_else(|| line.strip_prefix(b"diff --combined ")) {
        header.combined = true;
        header.combined_name = read_name(rest).map(|(name, _)| name);
        cursor.next();
    } else if is_binary_note(line) {
        header.pair = plain_binary_pair(line);
    } else if !(line.starts_with(b"--- ") && cursor.second().is_some_and(|next| next.starts_with(b"+++ "))) {
        return None;
    }
    read_header(cursor, &mut header, &mut problems);
    let mut file = header.into_file(problems);
    while let Some(raw) = cursor.peek() {
        if !hunk::opens(raw) {
            break;
        }
        let mut found = Vec::new();
        if let Some(hunk) = hunk::read(cursor, &mut found) {
            file.hunks.push(hunk);
        }
        found.into_iter().for_each(|problem| note(&mut file.problems, problem));
    }
    Some(file)
}

/// Reads header lines up to the first hunk, or to a line that belongs to no header.
fn read_header(cursor: &mut Cursor<'_>, header: &mut Header, problems: &mut Vec<Problem>) {
    while let Some(raw) = cursor.peek() {
        let line = trimmed(raw);
        let at = cursor.line_number();
        if let Some(rest) = line.strip_prefix(b"--- ") {
            if header.old.is_some() {
                return;
            }
            header.old = side_name(rest, problems, at);
        } else if let Some(rest) = line.strip_prefix(b"+++ ") {
            header.new = side_name(rest, problems, at);
            cursor.next();
            return;
        } else if is_binary_note(line) {
            header.binary = true;
            cursor.next();
            return;
        } else if line == b"GIT binary patch" {
            header.binary = true;
            cursor.next();
            skip_binary_patch(cursor);
            return;
        } else if !header.take(line, problems, at) {
            return;
        }
        cursor.next();
    }
}

fn is_binary_note(line: &[u8]) -> bool {
    line.starts_with(b"Binary files ") && line.ends_with(b" differ")
}

/// The names of a binary note that has no header before it, as `diff -r` prints it.
fn plain_binary_pair(line: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let names = line.strip_prefix(b"Binary files ")?.strip_suffix(b" differ")?;
    let at = names.windows(5).position(|window| window == b" and ")?;
    Some((names.get(..at)?.to_vec(), names.get(at + 5..)?.to_vec()))
}

/// The data of a binary patch: blocks of base-85 lines, each closed by an empty line. It ends where anything else begins.
fn skip_binary_patch(cursor: &mut Cursor<'_>) {
    while let Some(raw) = cursor.peek() {
        let line = trimmed(raw);
        let data = line.first().is_some_and(u8::is_ascii_alphabetic) && !line.contains(&b' ');
        if !(line.is_empty() || data || line.starts_with(b"literal ") || line.starts_with(b"delta ")) {
            return;
        }
        cursor.next();
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn note(problems: &mut Vec<Problem>, problem: Problem) {
    if problems.len() < MAX_PROBLEMS {
        problems.push(problem);
    }
}
