//! Runs a role: loads a component, checks it against the contract, grants it files, calls it with one handoff, ends it in
//! time, and accounts for what it did.
//!
//! It knows packets and nothing else of Brain: not the run that a call is part of, nor models, nor where roles come
//! from. What a role may have is given to it as values with each call.
//!
//! ```no_run
//! use brain_sandbox::{Call, Limits, Sandbox, SandboxConfig};
//!
//! fn run(handoff: &brain_packet::HandoffPacket) -> Result<(), Box<dyn std::error::Error>> {
//!     let sandbox = Sandbox::new(SandboxConfig::default())?;
//!     let role = sandbox.load(&handoff.task.agent_role, &std::fs::read("role.wasm")?)?;
//!     let run = role.run(Call { limits: Limits::default(), ..Call::new(handoff) });
//!     println!("{}: {}", run.ended.code(), run.result.summary);
//!     Ok(())
//! }
//! ```

mod cache;
mod contract;
mod ended;
mod engine;
mod files;
mod kill;
mod limiter;
mod link;
mod output;
mod receipt;
mod rewrite;
mod role;
mod sandbox;
mod state;
mod wasi;

pub use brain_changes::{Change, ChangeKind, ChangeSet};
pub use brain_files::{
    ARTIFACTS, Asked, CONTEXT, DEFAULT_DENY, Denial, FileGrants, FolderUse, GlobError, GlobLayer, GrantError,
    Visibility, WORKSPACE, WorkspaceGrant,
};
pub use brain_manifest::{LimitName, Limits, PartialLimits, STACK_BYTES, TICK_MS, Unit, show_bytes};
pub use brain_packet::Digest;
pub use contract::{CONTRACT, CONTRACT_WIT, CheckReport, CheckRow, RowState};
pub use ended::Ended;
pub use kill::CancelToken;
pub use receipt::{AmbientUse, FileUse, Grants, OutputUse, Reached, Receipt, ResultUse, Versions};
pub use role::{Call, Role, Run};
pub use sandbox::{LoadError, MAX_COMPONENT_BYTES, Sandbox, SandboxConfig, SandboxError};
pub use wasi::ambient::Ambient;
