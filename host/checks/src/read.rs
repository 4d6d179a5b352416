//! Reading a small file of a project that may be anything.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Bytes of a file that says which checks there are. A larger one is not looked at.
pub(crate) const MAX_MARKER_BYTES: u64 = 1 << 20;

/// Opens the regular file at `path` itself, for reading. Anything else is an error at once: a FIFO would hold Brain up until
/// somebody writes.
pub(crate) fn open_itself(path: &Path) -> io::Result<File> {
    open(path, OFlags::NOFOLLOW)
}

fn open(path: &Path, more: OFlags) -> io::Result<File> {
    let flags = more | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

/// What became of reading.
pub(crate) enum Text {
    /// It is not there.
    Absent,
    /// Its text.
    Is(String),
    /// It is there, and why it was not read.
    Unread(String),
}

/// The text of the file at `path`, where links may lead to.
pub(crate) fn text(path: &Path) -> Text {
    let read = || -> io::Result<String> {
        let mut text = String::new();
        open(path, OFlags::empty())?.take(MAX_MARKER_BYTES + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_MARKER_BYTES {
            return Err(io::Error::other(format!("it is larger than {MAX_MARKER_BYTES} bytes")));
        }
        Ok(text)
    };
    match read() {
        Ok(text) => Text::Is(text),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Text::Absent,
        Err(error) => Text::Unread(error.to_string()),
    }
}
