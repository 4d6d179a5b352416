//! How a file call fails: the error codes of `wasi:filesystem`.

use std::io;

use rustix::io::Errno;

/// The error codes of `wasi:filesystem`, of the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the interface, which documents them")]
pub enum ErrorCode {
    Access,
    WouldBlock,
    Already,
    BadDescriptor,
    Busy,
    Deadlock,
    Quota,
    Exist,
    FileTooLarge,
    IllegalByteSequence,
    InProgress,
    Interrupted,
    Invalid,
    Io,
    IsDirectory,
    Loop,
    TooManyLinks,
    MessageSize,
    NameTooLong,
    NoDevice,
    NoEntry,
    NoLock,
    InsufficientMemory,
    InsufficientSpace,
    NotDirectory,
    NotEmpty,
    NotRecoverable,
    Unsupported,
    NoTty,
    NoSuchDevice,
    Overflow,
    NotPermitted,
    Pipe,
    ReadOnly,
    InvalidSeek,
    TextFileBusy,
    CrossDevice,
}

/// How a file call ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The guest gets this code.
    Code(ErrorCode),
    /// The call that the guest is in has to end: its deadline came in the middle of a long operation.
    Stopped,
}

/// What a file call gives.
pub type FileResult<T> = Result<T, Fault>;

impl From<ErrorCode> for Fault {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        io::Error::from(errno).into()
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Code(code_of(&error))
    }
}

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
