//! The sandbox: one engine, its compile cache, and the loading of roles.

use std::path::PathBuf;
use std::sync::Arc;

use brain_packet::RoleName;
use wasmtime::Engine;

use crate::cache::CompileCache;
use crate::contract::bindings::AgentPre;
use crate::contract::check::check;
use crate::contract::CheckReport;
use crate::digest::Digest;
use crate::engine::{Ticker, engine};
use crate::link::linker_for;
use crate::role::Role;

/// Bytes of a component that is loaded. Compiling is the one thing that a hostile role can make slow before it runs.
pub const MAX_COMPONENT_BYTES: u64 = 64 << 20;

/// How a sandbox is set up.
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// Folder of the compile cache, made when needed. None compiles every component anew.
    pub cache_dir: Option<PathBuf>,
    /// Bytes of the largest component that is loaded. Default: [`MAX_COMPONENT_BYTES`].
    pub max_component_bytes: u64,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        Self { cache_dir: None, max_component_bytes: MAX_COMPONENT_BYTES }
    }
}

/// A sandbox that cannot be set up.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("the sandbox cannot start: {why}")]
#[diagnostic(code("sandbox.start"), help("`brain doctor` checks what the sandbox needs of this machine"))]
pub struct SandboxError {
    why: String,
}

/// A role that cannot be loaded.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("the role `{role}` cannot be loaded: {fault}")]
#[diagnostic(code("sandbox.load"), help("{remedy}"))]
pub struct LoadError {
    /// The role.
    pub role: RoleName,
    /// The first fault, in one line.
    pub fault: String,
    /// What to do about it.
    pub remedy: String,
    /// The whole report.
    pub report: CheckReport,
}

/// What all roles of one sandbox share.
pub(crate) struct Shared {
    pub engine: Engine,
    pub ticker: Ticker,
    pub cache: CompileCache,
    pub max_component_bytes: u64,
}

/// Loads roles. One per process is enough; clones are the same sandbox.
#[derive(Clone)]
pub struct Sandbox(Arc<Shared>);

impl Sandbox {
    /// Sets the engine up and starts its ticker.
    pub fn new(config: SandboxConfig) -> Result<Self, SandboxError> {
        let engine = engine().map_err(|e| SandboxError { why: format!("{e:#}") })?;
        let ticker = Ticker::start(&engine).map_err(|e| SandboxError { why: format!("no ticker thread: {e}") })?;
        let cache = CompileCache::new(&engine, config.cache_dir);
        Ok(Self(Arc::new(Shared { engine, ticker, cache, max_component_bytes: config.max_component_bytes })))
    }

    /// Compares some bytes with the contract and with what this host links. Compiles nothing, runs nothing, never fails:
    /// whatever is wrong is a row of the report.
    pub fn check(&self, bytes: &[u8]) -> CheckReport {
        check(bytes, self.0.max_component_bytes)
    }

    /// Checks, compiles (or takes from the cache) and links a component.
    pub fn load(&self, name: &RoleName, bytes: &[u8]) -> Result<Role, LoadError> {
        let report = self.check(bytes);
        let refuse = |report: CheckReport| {
            let row = report.first_fault();
            LoadError {
                role: name.clone(),
                fault: row.map(|r| format!("{}: {}", r.item, r.offered)).unwrap_or_default(),
                remedy: row.and_then(|r| r.remedy.clone()).unwrap_or_default(),
                report,
            }
        };
        if !report.passed() {
            return Err(refuse(report));
        }
        let digest = Digest::of(bytes);
        let link = || {
            let component = self.0.cache.component(&self.0.engine, bytes, &digest)?;
            AgentPre::new(linker_for(&self.0.engine, &component)?.instantiate_pre(&component)?)
        };
        match link() {
            Ok(pre) => Ok(Role::new(name.clone(), digest, report, pre, Arc::clone(&self.0))),
            Err(error) => Err(refuse(report.refused_by_engine(format!("{error:#}")))),
        }
    }

    /// How many components were compiled, rather than taken from the cache, since this sandbox was set up.
    pub fn compilations(&self) -> u64 {
        self.0.cache.compilations()
    }
}
