//! `wasi:io`: the streams of wasmtime-wasi, and polling that ends with the call.
//!
//! Every stream that a guest can hold here is always ready (files, kept output, an empty stdin), so the blocking forms are
//! polled once and need no runtime. A guest waits only in `poll`, on a clock: that wait is cut at the call's deadline
//! and when the call is cancelled, since epochs do not fire while a guest is inside the host. All waits of a process share
//! one runtime, so that a waiting call costs little more than its parked thread.

use std::future::Future;
use std::pin::pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use tokio::runtime::{Builder, Runtime};

use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::sync::io::{poll, streams};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, StreamError, StreamResult};
use wasmtime_wasi_io::bindings::wasi::io::poll as polls;
use wasmtime_wasi_io::bindings::wasi::io::streams::{HostInputStream as Input, HostOutputStream as Output};

use crate::kill::Lifetime;

/// What the stream calls of one guest work on.
pub(crate) struct IoHost<'a> {
    pub table: &'a mut ResourceTable,
    pub lifetime: &'a Lifetime,
}

/// Names [`IoHost`] for the generated `add_to_linker` functions.
pub(crate) struct HasIo;

impl HasData for HasIo {
    type Data<'a> = IoHost<'a>;
}

/// Names the table alone, for `wasi:io/error`.
pub(crate) struct HasTable;

impl HasData for HasTable {
    type Data<'a> = &'a mut ResourceTable;
}

/// The value of a future over streams that are always ready.
fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn ready_stream<T>(future: impl Future<Output = StreamResult<T>>) -> StreamResult<T> {
    ready(future).unwrap_or_else(|| Err(StreamError::trap("a stream of the sandbox was not ready")))
}

/// The runtime whose timers end waits. It has one thread, which starts with the first wait.
fn runtime() -> wasmtime::Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let start = || Builder::new_multi_thread().worker_threads(1).thread_name("brain-timer").enable_time().build();
    RUNTIME.get_or_init(start).as_ref().map_err(|error| wasmtime::Error::msg(format!("no timer thread: {error}")))
}

impl IoHost<'_> {
    /// Waits for `future`, but no longer than the call may live.
    fn wait<T>(lifetime: &Lifetime, future: impl Future<Output = wasmtime::Result<T>>) -> wasmtime::Result<T> {
        runtime()?.block_on(lifetime.during(future))?
    }
}

impl poll::Host for IoHost<'_> {
    fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        Self::wait(self.lifetime, polls::Host::poll(self.table, pollables))
    }
}

impl poll::HostPollable for IoHost<'_> {
    fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        Self::wait(self.lifetime, polls::HostPollable::ready(self.table, pollable))
    }

    fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        Self::wait(self.lifetime, polls::HostPollable::block(self.table, pollable))
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        polls::HostPollable::drop(self.table, pollable)
    }
}

impl streams::Host for IoHost<'_> {
    fn convert_stream_error(&mut self, error: StreamError) -> wasmtime::Result<streams::StreamError> {
        streams::Host::convert_stream_error(self.table, error)
    }
}

impl streams::HostInputStream for IoHost<'_> {
    fn drop(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<()> {
        ready(Input::drop(self.table, stream)).unwrap_or(Ok(()))
    }

    fn read(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<Vec<u8>> {
        Input::read(self.table, stream, len)
    }

    fn blocking_read(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<Vec<u8>> {
        ready_stream(Input::blocking_read(self.table, stream, len))
    }

    fn skip(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        Input::skip(self.table, stream, len)
    }

    fn blocking_skip(&mut self, stream: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        ready_stream(Input::blocking_skip(self.table, stream, len))
    }

    fn subscribe(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<Resource<DynPollable>> {
        Input::subscribe(self.table, stream)
    }
}

impl streams::HostOutputStream for IoHost<'_> {
    fn drop(&mut self, stream: Resource<DynOutputStream>) -> wasmtime::Result<()> {
        ready(Output::drop(self.table, stream)).unwrap_or(Ok(()))
    }

    fn check_write(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<u64> {
        Output::check_write(self.table, stream)
    }

    fn write(&mut self, stream: Resource<DynOutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        Output::write(self.table, stream, bytes)
    }

    fn blocking_write_and_flush(&mut self, stream: Resource<DynOutputStream>, bytes: Vec<u8>) -> StreamResult<()> {
        ready_stream(Output::blocking_write_and_flush(self.table, stream, bytes))
    }

    fn blocking_write_zeroes_and_flush(&mut self, stream: Resource<DynOutputStream>, len: u64) -> StreamResult<()> {
        ready_stream(Output::blocking_write_zeroes_and_flush(self.table, stream, len))
    }

    fn subscribe(&mut self, stream: Resource<DynOutputStream>) -> wasmtime::Result<Resource<DynPollable>> {
        Output::subscribe(self.table, stream)
    }

    fn write_zeroes(&mut self, stream: Resource<DynOutputStream>, len: u64) -> StreamResult<()> {
        Output::write_zeroes(self.table, stream, len)
    }

    fn flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        Output::flush(self.table, stream)
    }

    fn blocking_flush(&mut self, stream: Resource<DynOutputStream>) -> StreamResult<()> {
        ready_stream(Output::blocking_flush(self.table, stream))
    }

    fn splice(&mut self, to: Resource<DynOutputStream>, from: Resource<DynInputStream>, len: u64) -> StreamResult<u64> {
        Output::splice(self.table, to, from, len)
    }

    fn blocking_splice(
        &mut self,
        to: Resource<DynOutputStream>,
        from: Resource<DynInputStream>,
        len: u64,
    ) -> StreamResult<u64> {
        ready_stream(Output::blocking_splice(self.table, to, from, len))
    }
}
