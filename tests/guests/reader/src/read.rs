//! The reading itself, which runs in a component and natively.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a buffer that a large file is read through.
const BUFFER: usize = 256 << 10;

/// `tree <folder>`: every file below it. `stream <file>`: one file from its beginning to its end. Says how many files and
/// bytes that were.
///
/// # Errors
/// What the system says, or that the goal is neither.
pub fn read(goal: &str) -> io::Result<String> {
    match goal.split_once(' ') {
        Some(("tree", folder)) => {
            let (mut files, mut bytes) = (0, 0);
            tree(Path::new(folder), &mut files, &mut bytes)?;
            Ok(format!("{files} files, {bytes} bytes"))
        }
        Some(("stream", file)) => Ok(format!("1 files, {} bytes", stream(Path::new(file))?)),
        _ => Err(io::Error::other("no such goal")),
    }
}

fn tree(folder: &Path, files: &mut u64, bytes: &mut u64) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            tree(&entry.path(), files, bytes)?;
        } else {
            *bytes += fs::read(entry.path())?.len() as u64;
            *files += 1;
        }
    }
    Ok(())
}

fn stream(file: &Path) -> io::Result<u64> {
    let (mut file, mut buffer, mut bytes) = (File::open(file)?, vec![0; BUFFER], 0);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(bytes),
            n => bytes += n as u64,
        }
    }
}
