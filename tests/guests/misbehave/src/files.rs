//! Files: paths come from the goal and go to std as they are.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};

use crate::{number, told};

/// Most bytes that `open` reads: more is counted as this much.
const READ_BYTES: u64 = 1 << 20;
/// What `write` and `append` write.
const FIVE: &[u8] = b"five!";

pub(crate) fn open(path: &str) -> String {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(READ_BYTES).read_to_end(&mut bytes)
    };
    told(read(), |len| format!("{len} bytes"))
}

pub(crate) fn list(path: &str) -> String {
    let names = || -> io::Result<Vec<String>> {
        let mut names = fs::read_dir(path)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    };
    told(names(), |names| format!("{}: {}", names.len(), names.join(", ")))
}

pub(crate) fn stat(path: &str) -> String {
    told(fs::symlink_metadata(path), |found| {
        let kind = if found.is_dir() {
            "directory"
        } else if found.is_symlink() {
            "link"
        } else if found.is_file() {
            "file"
        } else {
            "other"
        };
        format!("{kind} {} bytes", found.len())
    })
}

pub(crate) fn readlink(path: &str) -> String {
    told(fs::read_link(path), |target| target.display().to_string())
}

pub(crate) fn open_often(rest: &str) -> String {
    let (times, path) = rest.split_once(' ').unwrap_or((rest, ""));
    let (mut opened, mut sizes) = (0u64, std::collections::BTreeSet::new());
    for _ in 0..number(times, 1) {
        if let Ok(bytes) = fs::read(path) {
            opened += 1;
            sizes.insert(bytes.len());
        }
    }
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    format!("{opened} opened, sizes {}", sizes.join(", "))
}

pub(crate) fn write(path: &str) -> String {
    told(fs::write(path, FIVE), |()| "5 bytes".to_owned())
}

pub(crate) fn append(path: &str) -> String {
    let append = || OpenOptions::new().append(true).open(path)?.write_all(FIVE);
    told(append(), |()| "5 bytes".to_owned())
}

pub(crate) fn truncate(path: &str) -> String {
    told(OpenOptions::new().write(true).truncate(true).open(path), |_| String::new())
}

pub(crate) fn remove(path: &str) -> String {
    told(fs::remove_file(path), |()| String::new())
}

pub(crate) fn mkdir(path: &str) -> String {
    told(fs::create_dir(path), |()| String::new())
}

pub(crate) fn rmdir(path: &str) -> String {
    told(fs::remove_dir(path), |()| String::new())
}

pub(crate) fn rename(paths: &str) -> String {
    let (from, to) = two(paths);
    told(fs::rename(from, to), |()| String::new())
}

pub(crate) fn hardlink(paths: &str) -> String {
    let (from, to) = two(paths);
    told(fs::hard_link(from, to), |()| String::new())
}

/// The two sides of `a -> b`.
pub(crate) fn two(paths: &str) -> (&str, &str) {
    paths.split_once(" -> ").unwrap_or((paths, ""))
}

pub(crate) fn handles(most: u64) -> String {
    let mut held = Vec::new();
    for count in 0..most {
        match File::open("/workspace") {
            Ok(file) => held.push(file),
            Err(error) => return format!("{} after {count}", told::<()>(Err(error), |()| String::new())),
        }
    }
    format!("ok {} handles", held.len())
}

pub(crate) fn artifact(rest: &str) -> String {
    let (name, len) = rest.rsplit_once(' ').unwrap_or((rest, "1"));
    let fill = || {
        let mut file = File::create(format!("/artifacts/{name}"))?;
        let block = [b'a'; 4096];
        let mut left = number(len, 1);
        while left > 0 {
            let part = left.min(block.len() as u64);
            file.write_all(&block[..part as usize])?;
            left -= part;
        }
        Ok(())
    };
    told(fill(), |()| format!("{len} bytes"))
}

pub(crate) fn artifact_flood() -> String {
    let block = vec![b'f'; 64 * 1024];
    let mut written = 0u64;
    let mut flood = || -> io::Result<()> {
        let mut file = File::create("/artifacts/flood")?;
        loop {
            file.write_all(&block)?;
            written += block.len() as u64;
        }
    };
    let ended = told(flood(), |()| String::new());
    format!("{ended} after {written} bytes")
}

pub(crate) fn many(most: u64) -> String {
    for count in 0..most {
        if let Err(error) = File::create(format!("/artifacts/{count}")) {
            return format!("{} after {count}", told::<()>(Err(error), |()| String::new()));
        }
    }
    format!("ok {most} files")
}

/// Files that are removed while they are open, and are then kept open or not.
pub(crate) fn nameless(rest: &str, keep: bool) -> String {
    let (count, bytes) = rest.split_once(' ').unwrap_or((rest, "1"));
    let content = vec![b'n'; number(bytes, 1) as usize];
    let mut held = Vec::new();
    for done in 0..number(count, 1) {
        let make = || {
            let path = "/artifacts/nameless";
            let mut file = File::create(path)?;
            fs::remove_file(path)?;
            file.write_all(&content)?;
            Ok(file)
        };
        match make() {
            Ok(file) if keep => held.push(file),
            Ok(_) => {}
            Err(error) => return format!("{} after {done}", told::<()>(Err(error), |()| String::new())),
        }
    }
    format!("ok {count} files")
}
