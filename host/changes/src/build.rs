//! Building a change set from both sides of each file.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use brain_packet::Digest;

use crate::change::{Change, ChangeKind, Folder};
use crate::contents::{CHUNK_BYTES, Contents, HashError, MAX_CONTENT_BYTES, copy_hashed};
use crate::diff::{MAX_DIFF_INPUT_BYTES, text, unified};
use crate::error::BuildError;
use crate::set::{ChangeSet, MAX_CHANGES, MAX_FOLDERS, MAX_SET_DIFF_BYTES};

/// How long all diffs of a set may take together. What comes after that has none.
pub const DIFF_TIME: Duration = Duration::from_secs(2);
/// How long one file may be looked at for the shortest diff. After that its diff gets coarser.
const FILE_DIFF_TIME: Duration = Duration::from_millis(250);

/// A file as it is on one side of a change.
pub struct Side<'r> {
    mode: u32,
    reader: Box<dyn Read + 'r>,
    seen: Option<(Digest, u64)>,
}

impl<'r> Side<'r> {
    /// A file of mode `mode` (permission bits) whose content `reader` gives.
    pub fn new(mode: u32, reader: impl Read + 'r) -> Self {
        Self { mode, reader: Box::new(reader), seen: None }
    }

    /// For a base: the digest and the size that it had when the role saw it. If the reader gives something else by now, the change
    /// starts from what was seen and has no diff; applying it is a conflict, as it should be.
    #[must_use]
    pub fn seen_as(self, digest: Digest, bytes: u64) -> Self {
        Self { seen: Some((digest, bytes)), ..self }
    }
}

impl std::fmt::Debug for Side<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Side").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// Builds a [`ChangeSet`]: proposed contents go to the [`Contents`], diffs are made while there is time and room.
#[derive(Debug)]
pub struct Builder<'c> {
    contents: &'c Contents,
    diff_time_left: Duration,
    diff_bytes_left: usize,
    changes: Vec<Change>,
    folders_added: Vec<Folder>,
    folders_removed: Vec<Folder>,
}

impl<'c> Builder<'c> {
    /// A builder of one set.
    pub fn new(contents: &'c Contents) -> Self {
        Self {
            contents,
            diff_time_left: DIFF_TIME,
            diff_bytes_left: MAX_SET_DIFF_BYTES,
            changes: Vec::new(),
            folders_added: Vec::new(),
            folders_removed: Vec::new(),
        }
    }

    /// A new file.
    ///
    /// # Errors
    /// If its content cannot be read or kept, or the set is full; so for each of these.
    pub fn added(&mut self, path: impl Into<String>, new: Side<'_>) -> Result<&mut Self, BuildError> {
        self.change(path.into(), ChangeKind::Added, None, None, Some(new))
    }

    /// A file with other content or another mode. Where both stay the same, nothing is added to the set.
    ///
    /// # Errors
    /// As [`added`](Self::added).
    pub fn modified(
        &mut self,
        path: impl Into<String>,
        base: Side<'_>,
        new: Side<'_>,
    ) -> Result<&mut Self, BuildError> {
        self.change(path.into(), ChangeKind::Modified, None, Some(base), Some(new))
    }

    /// A file that goes.
    ///
    /// # Errors
    /// As [`added`](Self::added).
    pub fn deleted(&mut self, path: impl Into<String>, base: Side<'_>) -> Result<&mut Self, BuildError> {
        self.change(path.into(), ChangeKind::Deleted, None, Some(base), None)
    }

    /// A file that was `from`, perhaps with other content or another mode.
    ///
    /// # Errors
    /// As [`added`](Self::added).
    pub fn renamed(
        &mut self,
        from: impl Into<String>,
        path: impl Into<String>,
        base: Side<'_>,
        new: Side<'_>,
    ) -> Result<&mut Self, BuildError> {
        self.change(path.into(), ChangeKind::Renamed, Some(from.into()), Some(base), Some(new))
    }

    /// A folder that is new, with its permission bits.
    ///
    /// # Errors
    /// If the set is full.
    pub fn folder_added(&mut self, path: impl Into<String>, mode: u32) -> Result<&mut Self, BuildError> {
        push(&mut self.folders_added, Folder::new(path, mode), MAX_FOLDERS, "added folders")?;
        Ok(self)
    }

    /// A folder that goes, with the permission bits that it had.
    ///
    /// # Errors
    /// If the set is full.
    pub fn folder_removed(&mut self, path: impl Into<String>, mode: u32) -> Result<&mut Self, BuildError> {
        push(&mut self.folders_removed, Folder::new(path, mode), MAX_FOLDERS, "removed folders")?;
        Ok(self)
    }

    /// The set.
    ///
    /// # Errors
    /// If the changes contradict each other or break a rule of [`ChangeSet::check`].
    pub fn finish(self) -> Result<ChangeSet, BuildError> {
        Ok(ChangeSet::new(self.changes, self.folders_added, self.folders_removed)?)
    }

    fn change(
        &mut self,
        path: String,
        kind: ChangeKind,
        from: Option<String>,
        base: Option<Side<'_>>,
        new: Option<Side<'_>>,
    ) -> Result<&mut Self, BuildError> {
        let (mode, base_mode) = (new.as_ref().map(|side| side.mode), base.as_ref().map(|side| side.mode));
        let base = match base {
            Some(mut side) => Looked::hashed(&path, &mut side.reader)?.seen_as(side.seen),
            None => Looked::default(),
        };
        let new = match new {
            Some(mut side) => Looked::kept(self.contents, &path, &mut side.reader)?,
            None => Looked::default(),
        };
        let (old_text, new_text) = (base.text(), new.text());
        let is_text = old_text.is_some() && new_text.is_some();
        let diff = match (old_text, new_text) {
            _ if base.digest == new.digest => is_text.then(String::new),
            (Some(old), Some(now)) if base.is_whole() && new.is_whole() => self.diff(old, now),
            _ => None,
        };
        let change = Change {
            path,
            kind,
            from,
            mode,
            base_mode,
            base_bytes: base.bytes,
            new_bytes: new.bytes,
            text: is_text,
            diff_cut: is_text && diff.is_none(),
            diff,
            base: base.digest.clone(),
            new: new.digest.clone(),
        };
        if !change.is_nothing() {
            push(&mut self.changes, change, MAX_CHANGES, "changed files")?;
        }
        Ok(self)
    }

    fn diff(&mut self, old: &str, new: &str) -> Option<String> {
        if self.diff_time_left.is_zero() {
            return None;
        }
        let start = Instant::now();
        let diff = unified(old, new, start + self.diff_time_left.min(FILE_DIFF_TIME));
        self.diff_time_left = self.diff_time_left.saturating_sub(start.elapsed());
        let diff = diff?;
        self.diff_bytes_left = self.diff_bytes_left.checked_sub(diff.len())?;
        Some(diff)
    }
}

fn push<T>(list: &mut Vec<T>, item: T, limit: usize, what: &'static str) -> Result<(), BuildError> {
    if list.len() >= limit {
        return Err(BuildError::Set(crate::error::SetError::TooMany { what, limit: limit as u64 }));
    }
    list.push(item);
    Ok(())
}

/// One side, read to its end: its digest, its size, and as much of it as a diff is made of.
#[derive(Default)]
struct Looked {
    digest: Option<Digest>,
    bytes: u64,
    head: Vec<u8>,
    /// Whether what was read is not what the digest says.
    is_other: bool,
}

impl Looked {
    fn hashed(path: &str, reader: &mut dyn Read) -> Result<Self, BuildError> {
        let mut head = Vec::new();
        let (digest, bytes) = copy_hashed(reader, MAX_CONTENT_BYTES, &mut |chunk| {
            take(&mut head, chunk);
            Ok(())
        })
        .map_err(|error| BuildError::Base {
            path: crate::set::shown(path),
            source: match error {
                HashError::Read(source) | HashError::Write(source) => source,
                HashError::TooLarge { .. } => io::Error::from(io::ErrorKind::FileTooLarge),
            },
        })?;
        Ok(Self { digest: Some(digest), bytes, head, is_other: false })
    }

    fn kept(contents: &Contents, path: &str, reader: &mut dyn Read) -> Result<Self, BuildError> {
        let mut head = Vec::new();
        let (digest, bytes) = contents
            .put_watched(reader, &mut |chunk| take(&mut head, chunk))
            .map_err(|source| BuildError::New { path: crate::set::shown(path), source })?;
        Ok(Self { digest: Some(digest), bytes, head, is_other: false })
    }

    fn seen_as(self, seen: Option<(Digest, u64)>) -> Self {
        match seen {
            Some((digest, bytes)) if self.digest.as_ref() != Some(&digest) => {
                Self { digest: Some(digest), bytes, is_other: true, ..self }
            }
            _ => self,
        }
    }

    fn is_whole(&self) -> bool {
        !self.is_other && self.bytes <= MAX_DIFF_INPUT_BYTES as u64
    }

    fn text(&self) -> Option<&str> {
        text(&self.head, !self.is_other && self.bytes == self.head.len() as u64)
    }
}

fn take(head: &mut Vec<u8>, chunk: &[u8]) {
    let room = (MAX_DIFF_INPUT_BYTES + CHUNK_BYTES).saturating_sub(head.len());
    head.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
}
