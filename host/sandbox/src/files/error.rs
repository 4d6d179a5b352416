//! File faults, as WASI error codes.

use std::io;

use rustix::io::Errno;

use super::bindings::wasi::filesystem::types::ErrorCode;

/// A fault of a file call: a code that the guest gets, or a trap.
#[derive(Debug)]
pub enum FsError {
    Code(ErrorCode),
    Trap(wasmtime::Error),
}

pub(crate) type FsResult<T> = Result<T, FsError>;

impl From<ErrorCode> for FsError {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<io::Error> for FsError {
    fn from(error: io::Error) -> Self {
        Self::Code(code_of(&error))
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

/// The WASI code of a host error. What WASI has no word for is `io`; the host's own text never reaches a guest, since it
/// may hold a path.
pub(crate) fn code_of(error: &io::Error) -> ErrorCode {
    if let Some(errno) = Errno::from_io_error(error) {
        return match errno {
            Errno::ACCESS => ErrorCode::Access,
            Errno::PERM => ErrorCode::NotPermitted,
            Errno::AGAIN => ErrorCode::WouldBlock,
            Errno::BADF => ErrorCode::BadDescriptor,
            Errno::BUSY => ErrorCode::Busy,
            Errno::DQUOT => ErrorCode::Quota,
            Errno::EXIST => ErrorCode::Exist,
            Errno::FBIG => ErrorCode::FileTooLarge,
            Errno::ILSEQ => ErrorCode::IllegalByteSequence,
            Errno::INTR => ErrorCode::Interrupted,
            Errno::INVAL => ErrorCode::Invalid,
            Errno::ISDIR => ErrorCode::IsDirectory,
            Errno::LOOP => ErrorCode::Loop,
            Errno::MLINK => ErrorCode::TooManyLinks,
            Errno::NAMETOOLONG => ErrorCode::NameTooLong,
            Errno::NOENT => ErrorCode::NoEntry,
            Errno::NOMEM | Errno::MFILE | Errno::NFILE => ErrorCode::InsufficientMemory,
            Errno::NOSPC => ErrorCode::InsufficientSpace,
            Errno::NOTDIR => ErrorCode::NotDirectory,
            Errno::NOTEMPTY => ErrorCode::NotEmpty,
            Errno::NOTSUP => ErrorCode::Unsupported,
            Errno::OVERFLOW => ErrorCode::Overflow,
            Errno::PIPE => ErrorCode::Pipe,
            Errno::ROFS => ErrorCode::ReadOnly,
            Errno::SPIPE => ErrorCode::InvalidSeek,
            Errno::TXTBSY => ErrorCode::TextFileBusy,
            Errno::XDEV => ErrorCode::CrossDevice,
            _ => ErrorCode::Io,
        };
    }
    match error.kind() {
        io::ErrorKind::NotFound => ErrorCode::NoEntry,
        io::ErrorKind::PermissionDenied => ErrorCode::Access,
        io::ErrorKind::AlreadyExists => ErrorCode::Exist,
        io::ErrorKind::InvalidInput => ErrorCode::Invalid,
        io::ErrorKind::InvalidFilename => ErrorCode::NameTooLong,
        _ => ErrorCode::Io,
    }
}
