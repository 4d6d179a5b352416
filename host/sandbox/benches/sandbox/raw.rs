//! The other side of the ratio: wasmtime and its stock WASI, and nothing of ours.

use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

mod bindings {
    wasmtime::component::bindgen!({ path: "../../wit", world: "brain:role/agent", require_store_data_send: true });
}

use bindings::brain::role::{model, packets, tools};

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl packets::Host for State {}

impl model::Host for State {
    fn info(&mut self) -> Result<model::ModelInfo, model::ModelError> {
        Err(model::ModelError::Denied(String::new()))
    }

    fn complete(&mut self, _: model::Request) -> Result<model::Response, model::ModelError> {
        Err(model::ModelError::Denied(String::new()))
    }
}

impl tools::Host for State {
    fn offered(&mut self) -> Vec<model::ToolSpec> {
        Vec::new()
    }

    fn call(&mut self, _: String, _: String) -> Result<tools::ToolOutput, tools::ToolError> {
        Err(tools::ToolError::Denied(String::new()))
    }
}

/// A component, linked and ready to be instantiated.
pub struct Raw {
    engine: Engine,
    pre: bindings::AgentPre<State>,
    handoff: packets::HandoffPacket,
}

impl Raw {
    /// The same engine settings as the sandbox's, as far as they change what a call costs.
    pub fn new(component: &[u8]) -> Self {
        let mut config = Config::new();
        config
            .wasm_component_model(true)
            .concurrency_support(false)
            .epoch_interruption(true)
            .max_wasm_stack(brain_sandbox::STACK_BYTES)
            .relaxed_simd_deterministic(true)
            .cranelift_nan_canonicalization(true);
        let engine = Engine::new(&config).unwrap();
        let component = Component::from_binary(&engine, component).unwrap();
        let mut linker = Linker::<State>::new(&engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).unwrap();
        bindings::Agent::add_to_linker::<_, HasSelf<_>>(&mut linker, |s| s).unwrap();
        let pre = bindings::AgentPre::new(linker.instantiate_pre(&component).unwrap()).unwrap();
        Self { engine, pre, handoff: handoff() }
    }

    /// One isolated run: a fresh store and instance, one call, and the end of both.
    #[allow(dead_code, reason = "one of the benchmarks uses it")]
    pub fn run(&self) -> packets::WorkerResult {
        self.run_with(WasiCtxBuilder::new().build(), &self.handoff)
    }

    /// As [`Self::run`], with `goal` and the stock file system on `folder`, read-only at `/workspace`.
    #[allow(dead_code, reason = "one of the benchmarks uses it")]
    pub fn run_on(&self, folder: &std::path::Path, goal: &str) -> packets::WorkerResult {
        let mut wasi = WasiCtxBuilder::new();
        wasi.preopened_dir(folder, "/workspace", wasmtime_wasi::FsPerms::ReadOnly).unwrap();
        let mut handoff = self.handoff.clone();
        handoff.task.goal = goal.into();
        self.run_with(wasi.build(), &handoff)
    }

    fn run_with(&self, wasi: WasiCtx, handoff: &packets::HandoffPacket) -> packets::WorkerResult {
        let mut store = Store::new(&self.engine, State { wasi, table: ResourceTable::new() });
        store.set_epoch_deadline(u64::MAX / 2);
        let agent = self.pre.instantiate(&mut store).unwrap();
        agent.brain_role_worker().call_run(&mut store, handoff).unwrap()
    }
}

fn handoff() -> packets::HandoffPacket {
    packets::HandoffPacket {
        transfer: packets::BrainToAgent::BrainToAgent,
        id: "handoff-1".into(),
        task: packets::AgentTaskContext {
            id: "task-1".into(),
            parent_id: "20260101-000000-abcdef".into(),
            agent_role: "noop".into(),
            goal: "nothing".into(),
            progress: packets::TaskProgress {
                status: packets::TaskStatus::Pending,
                summary: None,
                current_step: None,
                completed_steps: Vec::new(),
                percent: None,
            },
            context_refs: Vec::new(),
        },
        constraints: Vec::new(),
        expected_result: "nothing".into(),
    }
}
