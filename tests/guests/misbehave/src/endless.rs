//! What does not end by itself, or only after a great deal.

use std::hint::black_box;
use std::io::Write;
use std::time::Duration;

use crate::told;

pub(crate) fn spin() -> String {
    let mut turns = 0u64;
    while black_box(true) {
        turns = turns.wrapping_add(1);
    }
    turns.to_string()
}

pub(crate) fn alloc() -> String {
    let mut held: Vec<Vec<u8>> = Vec::new();
    while black_box(true) {
        held.push(vec![1; 1 << 20]);
    }
    held.len().to_string()
}

/// As much as there is, and then no more: the guest lives.
pub(crate) fn alloc_politely() -> String {
    let mut held: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut block = Vec::new();
        if black_box(&mut block).try_reserve_exact(1 << 20).is_err() {
            return format!("ok {} blocks", held.len());
        }
        block.resize(1 << 20, 1);
        held.push(block);
    }
}

/// Frames on the engine's stack: locals only, nothing in linear memory.
pub(crate) fn recurse() -> String {
    fn deeper(depth: u64, stop: u64) -> u64 {
        if depth == stop { depth } else { deeper(depth.wrapping_add(1), stop).rotate_left(3) ^ depth }
    }
    deeper(0, black_box(u64::MAX)).to_string()
}

/// Frames in linear memory, which end long before the engine's stack does.
pub(crate) fn recurse_memory() -> String {
    fn deeper(depth: u64) -> u64 {
        let frame = black_box([depth; 512]);
        if black_box(depth) == u64::MAX { depth } else { deeper(depth + 1) ^ black_box(frame)[7] }
    }
    deeper(0).to_string()
}

pub(crate) fn sleep(ms: u64) -> String {
    std::thread::sleep(Duration::from_millis(ms));
    format!("ok {ms} ms")
}

/// Lines of 64 bytes, counted, so that what is kept of them can be told apart.
pub(crate) fn flood(out: &mut dyn Write, bytes: u64) -> String {
    let mut written = 0u64;
    let mut write = || {
        while written < bytes {
            let line = format!("{:063}\n", written / 64);
            out.write_all(line.as_bytes())?;
            written += line.len() as u64;
        }
        out.flush()
    };
    let ended = told(write(), |()| String::new());
    format!("{ended} {written} bytes")
}
