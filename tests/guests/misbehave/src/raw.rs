//! Calls of WASI that std does not make.

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{DescriptorFlags, OpenFlags, PathFlags};

use crate::files::two;

/// The preopened directories, and what they answer to paths that lead out of them.
pub(crate) fn preopens() -> String {
    let mut lines = Vec::new();
    for (dir, path) in get_directories() {
        let mut line = format!("{path} flags={:?}", dir.get_flags());
        for escape in ["..", "../..", "/etc/passwd", "", ".", "\0", "a\0b"] {
            let opened = dir.open_at(PathFlags::SYMLINK_FOLLOW, escape, OpenFlags::empty(), DescriptorFlags::READ);
            line.push_str(&format!(" {escape:?}={:?}", opened.map(|_| "opened")));
        }
        lines.push(line);
    }
    format!("{}: {}", lines.len(), lines.join("; "))
}

/// Makes a symbolic link, in the first preopened directory that holds the new path.
pub(crate) fn symlink(paths: &str) -> String {
    let (target, new) = two(paths);
    for (dir, root) in get_directories() {
        if let Some(rel) = new.strip_prefix(&root) {
            return format!("{:?}", dir.symlink_at(target, rel.trim_start_matches('/')));
        }
    }
    format!("no preopened directory holds {new}")
}

/// Random bytes, all in one call.
pub(crate) fn random(len: u64) -> String {
    format!("ok {} bytes", wasip2::random::random::get_random_bytes(len).len())
}
