//! What a guest prints: kept in part, counted in whole, never an error for the guest.
//!
//! wasmtime's `MemoryOutputPipe` reports a full pipe as closed, so a chatty guest dies of it. This sink keeps the head and
//! the tail, counts what lies between, and tells the guest that all is well.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use wasmtime_wasi::p2::{DynOutputStream, OutputStream, Pollable, StreamResult};

/// Bytes that a guest may write to a stream at once; it is told so by `check-write`.
const PERMIT: usize = 64 << 10;

/// Which of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Stdout,
    Stderr,
}

/// The head and the tail of one stream.
#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    /// Writes of which something was dropped, or that pushed something out.
    cuts: u64,
}

impl Kept {
    fn push(&mut self, mut bytes: &[u8], half: usize) {
        self.total += bytes.len() as u64;
        let room = half.saturating_sub(self.head.len()).min(bytes.len());
        let (now, rest) = bytes.split_at(room);
        self.head.extend_from_slice(now);
        bytes = rest;
        let cut = bytes.len() > half;
        if cut {
            bytes = bytes.split_at(bytes.len() - half).1;
        }
        let overflow = (self.tail.len() + bytes.len()).saturating_sub(half);
        self.cuts += u64::from(overflow > 0 || cut);
        self.tail.drain(..overflow.min(self.tail.len()));
        self.tail.extend(bytes);
    }

    fn dropped(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }
}

#[derive(Debug, Default)]
struct Both {
    stdout: Kept,
    stderr: Kept,
}

/// The two output streams of one call.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    kept: Arc<Mutex<Both>>,
    /// Bytes of head, and of tail, that each stream keeps.
    half: usize,
}

/// Byte counts of one call's output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutputCounts {
    pub stdout: u64,
    pub stderr: u64,
    pub dropped: u64,
    /// Writes that the limit cut.
    pub cuts: u64,
}

impl Output {
    /// Keeps at most `limit` bytes, shared evenly between the streams and their ends.
    pub(crate) fn new(limit: u64) -> Self {
        Self { kept: Arc::default(), half: usize::try_from(limit / 4).unwrap_or(usize::MAX) }
    }

    /// A stream of the guest.
    pub(crate) fn stream(&self, which: Which) -> DynOutputStream {
        Box::new(self.sink(which))
    }

    fn sink(&self, which: Which) -> Sink {
        Sink { output: self.clone(), which }
    }

    pub(crate) fn counts(&self) -> OutputCounts {
        let both = self.lock();
        OutputCounts {
            stdout: both.stdout.total,
            stderr: both.stderr.total,
            dropped: both.stdout.dropped() + both.stderr.dropped(),
            cuts: both.stdout.cuts + both.stderr.cuts,
        }
    }

    /// The last `max` bytes of stderr as text: in most languages that is where the message of a trap is.
    pub(crate) fn stderr_tail(&self, max: usize) -> String {
        let both = self.lock();
        let kept = &both.stderr;
        let mut bytes = Vec::with_capacity(kept.head.len() + kept.tail.len());
        bytes.extend_from_slice(&kept.head);
        bytes.extend(kept.tail.iter());
        let from = bytes.len().saturating_sub(max);
        let text = String::from_utf8_lossy(bytes.get(from..).unwrap_or_default());
        // Rust's advice to set a variable is no use where there is no environment.
        let lines = text.lines().filter(|line| !line.starts_with("note: run with `RUST_BACKTRACE"));
        lines.collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    /// Writes what was kept, with a line that counts what was dropped.
    pub(crate) fn write_log(&self, log: &mut impl Write) -> std::io::Result<()> {
        let both = self.lock();
        for (name, kept) in [("stdout", &both.stdout), ("stderr", &both.stderr)] {
            if kept.total == 0 {
                continue;
            }
            writeln!(log, "--- {name}: {} bytes", kept.total)?;
            log.write_all(&kept.head)?;
            if kept.dropped() > 0 {
                writeln!(log, "\n--- {name}: {} bytes dropped here", kept.dropped())?;
            }
            let (a, b) = kept.tail.as_slices();
            log.write_all(a)?;
            log.write_all(b)?;
            writeln!(log)?;
        }
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Both> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One stream of an [`Output`], as wasmtime-wasi wants it.
struct Sink {
    output: Output,
    which: Which,
}

impl Sink {
    fn push(&self, bytes: &[u8]) {
        let mut both = self.output.lock();
        let kept = match self.which {
            Which::Stdout => &mut both.stdout,
            Which::Stderr => &mut both.stderr,
        };
        kept.push(bytes, self.output.half);
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Sink {
    async fn ready(&mut self) {}
}

impl OutputStream for Sink {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn head_and_tail_are_kept_and_the_rest_is_counted() {
        let output = Output::new(16);
        let sink = output.sink(Which::Stdout);
        for chunk in ["abcdef", "ghi", "jklmnop", "q"] {
            sink.push(chunk.as_bytes());
        }
        let mut log = Vec::new();
        output.write_log(&mut log).unwrap();
        let log = String::from_utf8(log).unwrap();
        assert_eq!(log, "--- stdout: 17 bytes\nabcd\n--- stdout: 9 bytes dropped here\nnopq\n");
        assert_eq!((output.counts().dropped, output.counts().cuts), (9, 3));
    }

    #[test]
    fn a_short_stream_is_kept_whole() {
        let output = Output::new(16);
        output.sink(Which::Stderr).push(b"ab");
        output.sink(Which::Stderr).push(b"cdef");
        assert_eq!(output.stderr_tail(100), "abcdef");
        assert_eq!(output.stderr_tail(3), "def");
        assert_eq!((output.counts().dropped, output.counts().cuts), (0, 0));
    }
}
