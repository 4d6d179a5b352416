//! Calls of WASI that std does not make.

use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{DescriptorFlags, OpenFlags, PathFlags};
use wasip2::random::insecure::{get_insecure_random_bytes, get_insecure_random_u64};
use wasip2::random::random::{get_random_bytes, get_random_u64};

use crate::files::two;
use crate::number;

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
    let bytes = get_random_bytes(len);
    let first: String = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("ok {} bytes: {first}", bytes.len())
}

/// Random bytes in many calls.
pub(crate) fn random_often(rest: &str) -> String {
    let (times, len) = rest.split_once(' ').unwrap_or((rest, "16"));
    let (mut got, len) = (0, number(len, 16));
    for turn in 0..number(times, 1) {
        got += if turn % 2 == 0 { get_random_bytes(len) } else { get_insecure_random_bytes(len) }.len();
    }
    format!("ok {got} bytes")
}

/// Random numbers, until the call is ended.
pub(crate) fn random_numbers() -> String {
    let mut sum = 0u64;
    while std::hint::black_box(true) {
        sum ^= get_random_u64() ^ get_insecure_random_u64();
    }
    sum.to_string()
}
