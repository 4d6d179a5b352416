//! Runs a role: loads a component, checks it against the contract, grants it files, calls it with one handoff, ends it in
//! time, and accounts for what it did.
//!
//! It knows packets and nothing else of Brain: not the run that a call is part of, nor models, nor where roles come
//! from. What a role may have is given to it as values with each call.
//!
//! ```no_run
//! use brain_sandbox::{Call, CancelToken, FileGrants, Limits, Sandbox, SandboxConfig};
//!
//! fn run(handoff: &brain_packet::HandoffPacket) -> Result<(), Box<dyn std::error::Error>> {
//!     let sandbox = Sandbox::new(SandboxConfig::default())?;
//!     let role = sandbox.load(&handoff.task.agent_role, &std::fs::read("role.wasm")?)?;
//!     let (files, limits) = (FileGrants::default(), Limits::default());
//!     let run = role.run(Call { handoff, files, limits, log: None, cancel: CancelToken::default() });
//!     println!("{}: {}", run.ended.code(), run.result.summary);
//!     Ok(())
//! }
//! ```

mod cache;
mod contract;
mod digest;
mod ended;
mod engine;
mod files;
mod kill;
mod limiter;
mod limits;
mod link;
mod output;
mod receipt;
mod role;
mod sandbox;
mod state;
mod wasi;

pub use contract::{CONTRACT, CONTRACT_WIT, CheckReport, CheckRow, RowState};
pub use digest::Digest;
pub use ended::Ended;
pub use files::{
    ARTIFACTS, CONTEXT, DEFAULT_DENY, Denial, FileGrants, GlobError, GlobLayer, GrantError, Visibility, WORKSPACE,
    WorkspaceGrant,
};
pub use kill::CancelToken;
pub use limits::{HOSTCALL_BYTES, INSTANCES, LimitName, Limits, RANDOM_BYTES, STACK_BYTES, TICK_MS, show_bytes};
pub use receipt::{FileUse, Grants, OutputUse, Receipt, Versions};
pub use role::{Call, Role, Run};
pub use sandbox::{LoadError, MAX_COMPONENT_BYTES, Sandbox, SandboxConfig, SandboxError};
