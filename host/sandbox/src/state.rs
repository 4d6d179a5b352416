//! What a store of one call holds.

use std::collections::BTreeMap;

use wasmtime_wasi::random::WasiRandomCtx;
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxView, WasiView};

use crate::contract::bindings::brain::role::{model, tools};
use crate::files::{FileHost, FileView};
use crate::kill::Lifetime;
use crate::limiter::Limiter;
use crate::wasi::io::IoHost;

/// Stubbed functions that are listed in a receipt; calls to further ones are added to the last.
const MAX_STUBS: usize = 64;

pub(crate) struct State {
    pub wasi: WasiCtx,
    pub table: ResourceTable,
    pub files: FileView,
    pub lifetime: Lifetime,
    pub limiter: Limiter,
    stubs: BTreeMap<String, u64>,
}

impl State {
    pub(crate) fn new(wasi: WasiCtx, files: FileView, lifetime: Lifetime, limiter: Limiter, open_handles: u64) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(usize::try_from(open_handles).unwrap_or(usize::MAX));
        Self { wasi, table, files, lifetime, limiter, stubs: BTreeMap::new() }
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
        FileHost { view: &mut self.files, table: &mut self.table }
    }

    pub(crate) fn io(&mut self) -> IoHost<'_> {
        IoHost { table: &mut self.table, lifetime: &self.lifetime }
    }

    pub(crate) fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    pub(crate) fn random(&mut self) -> &mut WasiRandomCtx {
        self.wasi.random()
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
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
