//! Byte streams over files. They are always ready: a regular file does not block.

use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::{Bytes, BytesMut};
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::bindings::wasi::filesystem::types::ErrorCode;
use super::descriptor::OpenFile;
use super::error::{FsError, FsResult, StreamFault, code_of};
use super::quota::Quota;

/// Bytes that one read returns at most, whatever the guest asks for.
pub(crate) const MAX_READ: usize = 1 << 20;
/// Bytes that a guest may write to a stream at once.
const PERMIT: usize = 64 << 10;

/// Counts of one call's file use.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub files_read: AtomicU64,
    pub bytes_read: AtomicU64,
    pub files_written: AtomicU64,
    pub bytes_written: AtomicU64,
    /// Names in listed folders that are not UTF-8 and so cannot be shown to a guest.
    pub names_skipped: AtomicU64,
}

/// Reads up to `length` bytes at `offset`. The flag says that the end was reached.
pub(crate) fn read_at(
    file: &std::fs::File,
    length: u64,
    offset: u64,
    counters: &Counters,
) -> FsResult<(Vec<u8>, bool)> {
    let length = usize::try_from(length).unwrap_or(MAX_READ).min(MAX_READ);
    let mut buffer = vec![0; length];
    let n = retrying(|| file.read_at(&mut buffer, offset))?;
    buffer.truncate(n);
    counters.bytes_read.fetch_add(n as u64, Relaxed);
    Ok((buffer, n == 0 && length > 0))
}

/// Writes all of `bytes` at `offset`, charging the file's growth to the quota first.
pub(crate) fn write_at(
    file: &std::fs::File,
    quota: &Quota,
    bytes: &[u8],
    offset: u64,
    counters: &Counters,
) -> FsResult<()> {
    let end = offset.checked_add(bytes.len() as u64).ok_or(ErrorCode::FileTooLarge)?;
    let size = file.metadata()?.len();
    let growth = if bytes.is_empty() { 0 } else { end.saturating_sub(size) };
    quota.take_bytes(growth)?;
    if let Err(error) = file.write_all_at(bytes, offset) {
        let grown = file.metadata().map(|m| m.len().saturating_sub(size)).unwrap_or(growth);
        quota.give_bytes(growth.saturating_sub(grown));
        return Err(error.into());
    }
    counters.bytes_written.fetch_add(bytes.len() as u64, Relaxed);
    Ok(())
}

fn retrying(mut io: impl FnMut() -> std::io::Result<usize>) -> std::io::Result<usize> {
    loop {
        match io() {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

pub(crate) struct FileInput {
    pub file: OpenFile,
    pub position: u64,
    pub counters: Arc<Counters>,
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileInput {
    async fn ready(&mut self) {}
}

impl InputStream for FileInput {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        let mut buffer = BytesMut::zeroed(size.min(MAX_READ));
        let n = retrying(|| self.file.file.read_at(&mut buffer, self.position)).map_err(|e| fault(code_of(&e)))?;
        if n == 0 {
            return Err(StreamError::Closed);
        }
        buffer.truncate(n);
        self.position += n as u64;
        self.counters.bytes_read.fetch_add(n as u64, Relaxed);
        Ok(buffer.freeze())
    }
}

pub(crate) struct FileOutput {
    pub file: OpenFile,
    /// Where the next byte goes; none appends.
    pub position: Option<u64>,
    pub counters: Arc<Counters>,
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileOutput {
    async fn ready(&mut self) {}
}

impl OutputStream for FileOutput {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let write = || -> FsResult<()> {
            let (file, quota) = self.file.writable()?;
            let offset = match self.position {
                Some(at) => at,
                None => file.metadata()?.len(),
            };
            write_at(file, quota, &bytes, offset, &self.counters)
        };
        match write() {
            Ok(()) => {
                if let Some(at) = &mut self.position {
                    *at += bytes.len() as u64;
                }
                Ok(())
            }
            Err(FsError::Code(code)) => Err(fault(code)),
            Err(FsError::Trap(error)) => Err(StreamError::Trap(error)),
        }
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

fn fault(code: ErrorCode) -> StreamError {
    StreamError::LastOperationFailed(wasmtime::Error::new(StreamFault(code)))
}
