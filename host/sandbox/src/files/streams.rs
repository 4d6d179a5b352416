//! Byte streams over files. They are always ready: a regular file does not block.

use brain_files::{Fault, OpenFile};
use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::StreamFault;
use super::convert::code_of;

/// Bytes that a guest may write to a stream at once.
const PERMIT: usize = 64 << 10;

pub(crate) struct FileInput {
    pub file: OpenFile,
    pub position: u64,
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileInput {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl InputStream for FileInput {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        let bytes = self.file.read_at(size, self.position).map_err(fault)?;
        if bytes.is_empty() {
            return Err(StreamError::Closed);
        }
        self.position += bytes.len() as u64;
        Ok(bytes.into())
    }

    // It is always ready: what reads a file to its end is spared a future for each part.
    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.read(size)
    }
}

pub(crate) struct FileOutput {
    pub file: OpenFile,
    /// Where the next byte goes; none appends.
    pub position: Option<u64>,
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileOutput {
    async fn ready(&mut self) {}
}

impl OutputStream for FileOutput {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.file.write_at(&bytes, self.position).map_err(fault)?;
        if let Some(at) = &mut self.position {
            *at += bytes.len() as u64;
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

fn fault(fault: Fault) -> StreamError {
    match fault {
        Fault::Code(code) => StreamError::LastOperationFailed(wasmtime::Error::new(StreamFault(code_of(code)))),
        // Reading and writing are bounded, so they are never stopped half-way.
        Fault::Stopped => StreamError::trap("a stream operation was stopped"),
    }
}
