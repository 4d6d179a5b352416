//! What a store of one call holds.

use std::collections::BTreeMap;

use wasmtime_wasi::ResourceTable;
use wasmtime_wasi::cli::{WasiCliCtx, WasiCliCtxView};
use wasmtime_wasi::clocks::{WasiClocksCtx, WasiClocksCtxView};

use crate::contract::bindings::brain::role::{model, tools};
use brain_files::FileView;

use crate::files::FileHost;
use crate::kill::Lifetime;
use crate::limiter::Limiter;
use crate::output::Output;
use crate::wasi::ambient::Surroundings;
use crate::wasi::io::IoHost;
use crate::wasi::stdio::StdioHost;
use brain_manifest::Limits;

/// Stubbed functions that are listed in a receipt; calls to further ones are added to the last.
const MAX_STUBS: usize = 64;

pub(crate) struct State {
    /// No environment, no arguments, an empty stdin.
    cli: WasiCliCtx,
    /// Of these clocks only the monotonic one is linked.
    clocks: WasiClocksCtx,
    pub table: ResourceTable,
    pub files: FileView,
    pub surroundings: Surroundings,
    pub output: Output,
    pub lifetime: Lifetime,
    pub limiter: Limiter,
    /// How often a handle was refused because too many were open.
    pub handles_refused: u64,
    stubs: BTreeMap<String, u64>,
}

impl State {
    pub(crate) fn new(
        files: FileView,
        surroundings: Surroundings,
        output: Output,
        lifetime: Lifetime,
        limits: &Limits,
    ) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(usize::try_from(limits.open_handles).unwrap_or(usize::MAX));
        Self {
            cli: WasiCliCtx::default(),
            clocks: WasiClocksCtx::default(),
            table,
            files,
            surroundings,
            output,
            lifetime,
            limiter: Limiter::new(limits),
            handles_refused: 0,
            stubs: BTreeMap::new(),
        }
    }

    /// Counts a call to something that is imported and not granted.
    pub(crate) fn count_stub(&mut self, function: &str) {
        if let Some(count) = self.stubs.get_mut(function) {
            *count += 1;
        } else if self.stubs.len() < MAX_STUBS {
            self.stubs.insert(function.to_owned(), 1);
        } else {
            *self.stubs.entry("(others)".to_owned()).or_default() += 1;
        }
    }

    pub(crate) fn stubs(&self) -> &BTreeMap<String, u64> {
        &self.stubs
    }

    pub(crate) fn files(&mut self) -> FileHost<'_> {
        FileHost {
            view: &mut self.files,
            table: &mut self.table,
            lifetime: &self.lifetime,
            handles_refused: &mut self.handles_refused,
        }
    }

    pub(crate) fn io(&mut self) -> IoHost<'_> {
        IoHost { table: &mut self.table, lifetime: &self.lifetime }
    }

    pub(crate) fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    pub(crate) fn cli(&mut self) -> WasiCliCtxView<'_> {
        WasiCliCtxView { ctx: &mut self.cli, table: &mut self.table }
    }

    pub(crate) fn clocks(&mut self) -> WasiClocksCtxView<'_> {
        WasiClocksCtxView { ctx: &mut self.clocks, table: &mut self.table }
    }

    pub(crate) fn stdio(&mut self) -> StdioHost<'_> {
        StdioHost { output: &self.output, table: &mut self.table }
    }

    pub(crate) fn surroundings(&mut self) -> &mut Surroundings {
        &mut self.surroundings
    }
}

const NO_MODEL: &str = "this handoff grants no model";
const NO_TOOLS: &str = "this handoff grants no tools";

impl model::Host for State {
    fn info(&mut self) -> Result<model::ModelInfo, model::ModelError> {
        self.count_stub("brain:role/model#info");
        Err(model::ModelError::Denied(NO_MODEL.into()))
    }

    fn complete(&mut self, _: model::Request) -> Result<model::Response, model::ModelError> {
        self.count_stub("brain:role/model#complete");
        Err(model::ModelError::Denied(NO_MODEL.into()))
    }
}

impl tools::Host for State {
    fn offered(&mut self) -> Vec<model::ToolSpec> {
        Vec::new()
    }

    fn call(&mut self, _: String, _: String) -> Result<tools::ToolOutput, tools::ToolError> {
        self.count_stub("brain:role/tools#call");
        Err(tools::ToolError::Denied(NO_TOOLS.into()))
    }
}
