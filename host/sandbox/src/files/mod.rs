//! `wasi:filesystem` for guests: every call of the interface, in terms of [`brain_files`], which decides and does.

pub(crate) mod bindings;
mod convert;
mod host;
mod streams;

pub use brain_files::{Handle as Descriptor, Listing as EntryStream};
pub(crate) use host::{FileHost, HasFiles};

use bindings::wasi::filesystem::types::ErrorCode;

/// A fault of a file call: a code that the guest gets, or a trap.
#[derive(Debug)]
pub enum FsError {
    /// A code.
    Code(ErrorCode),
    /// A trap.
    Trap(wasmtime::Error),
}

pub(crate) type FsResult<T> = Result<T, FsError>;

impl From<ErrorCode> for FsError {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

/// A fault of a stream, kept as the last operation's error until the guest asks which code it was.
#[derive(Debug)]
pub(crate) struct StreamFault(pub ErrorCode);

impl std::fmt::Display for StreamFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

impl std::error::Error for StreamFault {}
