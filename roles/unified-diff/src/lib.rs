//! A unified diff as data: files, hunks, lines, each with its place in the new file.
//!
//! The parser is this crate's own. The crates that read git's extended headers drop what a reviewer must not miss: combined diffs
//! (`diff --cc`) and anything that follows a malformed hunk vanish without a word, and one bad section ends the whole parse. Here
//! every section that was announced becomes a [`FileDiff`], and what could not be read is a [`Problem`] of it.
//!
//! It reads bytes that it is given, and must not know what a role is.

mod header;
mod hunk;
mod name;
mod parse;
#[cfg(test)]
mod tests;

pub use name::{Name, is_bidi_control, shown};
pub use parse::parse;

/// Bytes of a path that can be opened: what the file systems take (`PATH_MAX` of Linux). A longer one names no file.
pub const MAX_PATH_BYTES: usize = 4096;
/// Bytes of a file name that are shown in a sentence.
pub const MAX_NAME_BYTES: usize = 400;

/// git's mode of a symbolic link.
pub const MODE_SYMLINK: u32 = 0o120_000;
/// git's mode of a submodule.
pub const MODE_SUBMODULE: u32 = 0o160_000;

/// A parsed diff. Borrows its lines from the input.
#[derive(Debug, Default)]
pub struct Diff<'a> {
    /// One per section, in the order of the input; a file may have more than one section.
    pub files: Vec<FileDiff<'a>>,
    /// Paths that git reported as unmerged (`* Unmerged path …`).
    pub unmerged: Vec<Name>,
    /// What could not be read and belongs to no file.
    pub problems: Vec<Problem>,
    /// Lines outside any section: mail headers, commit messages, signatures.
    pub ignored_lines: usize,
    /// Sections past the limit that was given, which were not kept.
    pub cut_files: usize,
}

/// Something in the diff that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// 1-based line of the diff itself.
    pub line: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A new file.
    Added,
    /// The file is gone.
    Deleted,
    /// Same path before and after.
    Modified,
    /// Moved, perhaps with edits.
    Renamed,
    /// A new file that began as a copy of another.
    Copied,
}

/// One section of the diff.
#[derive(Debug)]
pub struct FileDiff<'a> {
    /// Path before the change; none for an added file.
    pub old: Option<Name>,
    /// Path after the change; none for a deleted file.
    pub new: Option<Name>,
    /// What happened.
    pub change: Change,
    /// Mode before, where the diff tells.
    pub old_mode: Option<u32>,
    /// Mode after, where the diff tells.
    pub new_mode: Option<u32>,
    /// git shows no lines of it.
    pub binary: bool,
    /// A merge shown against several parents: only lines that differ from each of them are in it.
    pub combined: bool,
    /// The hunks, in the order of the input.
    pub hunks: Vec<Hunk<'a>>,
    /// What could not be read in this section.
    pub problems: Vec<Problem>,
}

impl FileDiff<'_> {
    /// The path to speak of: after the change, or before it for a deleted file.
    pub fn name(&self) -> Option<&Name> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// A link or a submodule: its lines are not the lines of a file.
    pub fn is_special(&self) -> Option<&'static str> {
        let mode = self.new_mode.or(self.old_mode)?;
        match mode & 0o170_000 {
            MODE_SYMLINK => Some("symbolic link"),
            MODE_SUBMODULE => Some("submodule"),
            _ => None,
        }
    }
}

/// A run of changed lines with their context.
#[derive(Debug)]
pub struct Hunk<'a> {
    /// First line in the new file; 0 only when the hunk leaves the file empty.
    pub new_start: u32,
    /// Lines in the new file.
    pub new_len: u32,
    /// What git prints after the second `@@`: the definition that the hunk is in.
    pub heading: &'a [u8],
    /// The lines.
    pub lines: Vec<Line<'a>>,
    /// The header's counts were met. A hunk that was cut short is not.
    pub complete: bool,
}

/// Which side of the change a line is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// In both files.
    Context,
    /// Only in the new file.
    Added,
    /// Only in the old file.
    Removed,
}

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The side.
    pub side: Side,
    /// The line without its marker and without its `\n`; a `\r` stays.
    pub text: &'a [u8],
    /// 1-based line of the new file. For a removed line: the line that now stands in its place, kept inside the hunk.
    pub line: u32,
}

/// The most that is parsed of a diff: bytes and lines. Returns what is kept and the number of bytes that are not.
pub fn bounded(input: &[u8], max_bytes: usize, max_lines: usize) -> (&[u8], usize) {
    let kept = input.get(..max_bytes).unwrap_or(input);
    let end = kept
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .nth(max_lines.saturating_sub(1))
        .map_or(kept.len(), |(at, _)| at + 1);
    let kept = kept.get(..end).unwrap_or(kept);
    (kept, input.len() - kept.len())
}
