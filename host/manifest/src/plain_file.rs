//! Opening a file that somebody else may have put there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file to read. Anything else is an error at once: a FIFO would hold the run up until somebody writes.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    opened(path, rustix::fs::OFlags::empty())
}

/// Opens a regular file to read that is at `path` itself, and not where a link there leads.
///
/// # Errors
/// As [`open`]; what is there is a link.
pub fn open_itself(path: &Path) -> io::Result<File> {
    opened(path, rustix::fs::OFlags::NOFOLLOW).map_err(|error| match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => io::Error::other("it is a symbolic link"),
        _ => error,
    })
}

fn opened(path: &Path, more: rustix::fs::OFlags) -> io::Result<File> {
    let flags = more | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}
