//! The guest's two output streams. The rest of `wasi:cli` is wasmtime-wasi's, which has no way to be given these alone.

use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::p2::DynOutputStream;
use wasmtime_wasi::p2::bindings::cli::{stderr, stdout};

use crate::output::{Output, Which};

/// What `wasi:cli/stdout` and `wasi:cli/stderr` work on.
pub(crate) struct StdioHost<'a> {
    pub output: &'a Output,
    pub table: &'a mut ResourceTable,
}

/// Names [`StdioHost`] for the generated `add_to_linker` functions.
pub(crate) struct HasStdio;

impl HasData for HasStdio {
    type Data<'a> = StdioHost<'a>;
}

impl stdout::Host for StdioHost<'_> {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        Ok(self.table.push(self.output.stream(Which::Stdout))?)
    }
}

impl stderr::Host for StdioHost<'_> {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        Ok(self.table.push(self.output.stream(Which::Stderr))?)
    }
}
