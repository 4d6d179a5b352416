//! Bulk operations cut into pieces, before a component is compiled.
//!
//! wasmtime looks at the epoch before a `memory.fill`, `memory.copy`, `memory.init`, `table.fill`, `table.copy` or
//! `table.init`, and then does the whole of it at once: a role with 250 MiB of memory runs past its deadline by as long as
//! filling that takes. So every such operation that may be long becomes a call of a function that is appended to its module
//! and works piece by piece, in a loop: the engine looks at the epoch on every turn. What the role can observe is the same:
//! an operation out of bounds traps as it did, before anything is written.
//!
//! All else of the component stays as it is, byte for byte. Nothing that exists is renumbered, and a component without such
//! operations is not changed at all. The result depends on the component and [`VERSION`] alone, and is never seen outside:
//! the digest of a role is that of the component as it came.

mod bulk;
mod module;
mod patch;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use wasmparser::BinaryReader;

use patch::{Number, Patch};

/// Changes whenever the outcome for any component does: compiled code of another version is not used.
pub(crate) const VERSION: u32 = 1;

/// The most that one operation does between two looks at the epoch. Large enough that the loop costs nothing, and small
/// enough to take well below a millisecond where every page is touched for the first time.
#[derive(Clone, Copy, Debug)]
struct Pieces {
    /// Bytes of memory.
    bytes: u32,
    /// Elements of a table.
    elements: u32,
}

const PIECES: Pieces = Pieces { bytes: 1 << 18, elements: 1 << 14 };

/// A component that cannot be rewritten, which is one that is not valid, or that is as large as the format allows.
#[derive(Debug, thiserror::Error)]
#[error("its bulk operations cannot be cut into pieces: {why}")]
pub(crate) struct RewriteError {
    why: String,
}

impl RewriteError {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl From<wasmparser::BinaryReaderError> for RewriteError {
    fn from(error: wasmparser::BinaryReaderError) -> Self {
        Self::new(format!("{} (at byte {:#x})", error.message(), error.offset()))
    }
}

/// The component with its bulk operations cut into pieces. The time it takes is linear in the component's size, and what
/// it returns is less than twice as large, but for the functions that are appended.
pub(crate) fn rewrite(component: &[u8]) -> Result<Cow<'_, [u8]>, RewriteError> {
    rewrite_in(component, PIECES)
}

fn rewrite_in(bytes: &[u8], pieces: Pieces) -> Result<Cow<'_, [u8]>, RewriteError> {
    let mut patch = Patch::new(bytes);
    if wasmparser::Parser::is_core_wasm(bytes) {
        module::rewrite(&mut patch, bytes, 0..bytes.len(), pieces)?;
        return patch.finish();
    }
    // Components may lie in one another to any depth, so the walk keeps its own stack: the ends of those that it is in.
    let mut ends = vec![bytes.len()];
    let mut at = HEADER;
    while let Some(&end) = ends.last() {
        if at >= end {
            ends.pop();
            if !ends.is_empty() {
                patch.leave()?;
            }
            continue;
        }
        let section = Section::read(bytes, at..end)?;
        at = section.content.end;
        match section.id {
            CORE_MODULE => {
                patch.enter(section.size);
                module::rewrite(&mut patch, bytes, section.content, pieces)?;
                patch.leave()?;
            }
            COMPONENT => {
                patch.enter(section.size);
                at = section.content.start.saturating_add(HEADER);
                ends.push(section.content.end);
            }
            _ => {}
        }
    }
    patch.finish()
}

/// Bytes of magic number and version, with which every module and component begins.
const HEADER: usize = 8;

/// Numbers of the sections of a component that are looked into; from the component model's `Binary.md`.
const CORE_MODULE: u8 = 1;
const COMPONENT: u8 = 4;

/// One section of a module or component: its number, its size and its content.
struct Section {
    id: u8,
    size: Number,
    content: Range<usize>,
}

impl Section {
    /// The one at the start of `at`.
    fn read(bytes: &[u8], at: Range<usize>) -> Result<Self, RewriteError> {
        let mut reader = reader(bytes, at)?;
        let id = reader.read_u8()?;
        let size = Number::read(&mut reader)?;
        let start = reader.original_position();
        reader.read_bytes(size.value as usize)?;
        Ok(Self { id, size, content: start..reader.original_position() })
    }
}

/// Reads `at`; positions are those in `bytes`.
fn reader(bytes: &[u8], at: Range<usize>) -> Result<BinaryReader<'_>, RewriteError> {
    let start = at.start;
    let slice = bytes.get(at).ok_or_else(|| RewriteError::new("a section is longer than what it is in"))?;
    Ok(BinaryReader::new(slice, start))
}
