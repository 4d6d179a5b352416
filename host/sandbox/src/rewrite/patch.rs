//! Changes to a binary in which every part says how long it is.

use std::borrow::Cow;
use std::ops::Range;

use wasm_encoder::Encode;
use wasmparser::BinaryReader;

use super::RewriteError;

/// A number in the binary (LEB128), and where it is.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub at: Range<usize>,
    pub value: u32,
}

impl Number {
    pub(super) fn read(reader: &mut BinaryReader<'_>) -> Result<Self, RewriteError> {
        let start = reader.original_position();
        let value = reader.read_var_u32()?;
        Ok(Self { at: start..reader.original_position(), value })
    }
}

/// The changes, in the order of what they change.
pub(super) struct Patch<'a> {
    original: &'a [u8],
    edits: Vec<Edit>,
    open: Vec<Part>,
}

struct Edit {
    at: Range<usize>,
    with: Vec<u8>,
}

/// A part that is being changed.
struct Part {
    size: Number,
    /// The edit that is kept for its size.
    edit: usize,
    /// By how much its content has grown so far.
    grown: i64,
}

impl<'a> Patch<'a> {
    pub(super) fn new(original: &'a [u8]) -> Self {
        Self { original, edits: Vec::new(), open: Vec::new() }
    }

    /// Goes into a part whose length is said by `size`, just before it.
    pub(super) fn enter(&mut self, size: Number) {
        let edit = self.edits.len();
        self.edits.push(Edit { at: size.at.clone(), with: Vec::new() });
        self.open.push(Part { size, edit, grown: 0 });
    }

    /// Ends the part that was entered last, and sets its size.
    pub(super) fn leave(&mut self) -> Result<(), RewriteError> {
        let Some(Part { size, edit, grown }) = self.open.pop() else { return Ok(()) };
        if self.edits.len() == edit + 1 {
            // Nothing in it was changed.
            self.edits.truncate(edit);
            return Ok(());
        }
        let value = u32::try_from(i64::from(size.value) + grown)
            .map_err(|_| RewriteError::new("a section would be longer than 4 GiB"))?;
        let with = leb(value);
        self.grow(grown + difference(with.len(), size.at.len()));
        if let Some(edit) = self.edits.get_mut(edit) {
            edit.with = with;
        }
        Ok(())
    }

    pub(super) fn replace(&mut self, at: Range<usize>, with: Vec<u8>) {
        self.grow(difference(with.len(), at.len()));
        self.edits.push(Edit { at, with });
    }

    pub(super) fn insert(&mut self, at: usize, with: Vec<u8>) {
        self.replace(at..at, with);
    }

    fn grow(&mut self, by: i64) {
        if let Some(part) = self.open.last_mut() {
            part.grown += by;
        }
    }

    /// The binary with all changes made.
    pub(super) fn finish(self) -> Result<Cow<'a, [u8]>, RewriteError> {
        if self.edits.is_empty() {
            return Ok(Cow::Borrowed(self.original));
        }
        let mut out = Vec::with_capacity(self.original.len() + self.original.len() / 8);
        let mut done = 0;
        for Edit { at, with } in self.edits {
            let kept = self.original.get(done..at.start).ok_or_else(|| RewriteError::new("its parts overlap"))?;
            out.extend_from_slice(kept);
            out.extend(with);
            done = at.end;
        }
        out.extend_from_slice(self.original.get(done..).unwrap_or_default());
        Ok(Cow::Owned(out))
    }
}

/// Both are lengths of slices, which are below 2^63.
fn difference(new: usize, old: usize) -> i64 {
    new as i64 - old as i64
}

pub(super) fn leb(value: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(5);
    value.encode(&mut bytes);
    bytes
}
