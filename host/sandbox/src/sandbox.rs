//! The sandbox: one engine, its compile cache, and the loading of roles.

use std::path::PathBuf;
use std::sync::Arc;

use brain_files::RuleCache;
use brain_packet::{Digest, RoleName};
use wasmtime::Engine;

use crate::cache::CompileCache;
use crate::contract::CheckReport;
use crate::contract::bindings::AgentPre;
use crate::contract::check::check;
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

/// Open files that the process asks the system for.
const OPEN_FILES: u64 = 1 << 16;

/// Many systems start a process with 1024, which one role may use up alone: then the next role, or the journal, fails.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(OPEN_FILES, |maximum| maximum.min(OPEN_FILES));
    if current.is_some_and(|current| current < wanted) {
        // Where it is refused, a role gets an error when it opens too many.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

/// What all roles of one sandbox share.
pub(crate) struct Shared {
    pub engine: Engine,
    pub ticker: Ticker,
    pub cache: CompileCache,
    pub rules: RuleCache,
    pub max_component_bytes: u64,
}

/// Loads roles. One per process is enough; clones are the same sandbox.
#[derive(Clone)]
pub struct Sandbox(Arc<Shared>);

impl Sandbox {
    /// Sets the engine up and starts its ticker. The process's limit on open files is raised towards what the system
    /// allows, since every role may hold [`crate::Limits::open_handles`] of them.
    pub fn new(config: SandboxConfig) -> Result<Self, SandboxError> {
        raise_open_files();
        let engine = engine().map_err(|e| SandboxError { why: format!("{e:#}") })?;
        let ticker = Ticker::start(&engine).map_err(|e| SandboxError { why: format!("no ticker thread: {e}") })?;
        let cache = CompileCache::new(&engine, config.cache_dir);
        let shared = Shared {
            engine,
            ticker,
            cache,
            rules: RuleCache::default(),
            max_component_bytes: config.max_component_bytes,
        };
        Ok(Self(Arc::new(shared)))
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
        let link = || -> wasmtime::Result<_> {
            let (component, took) = self.0.cache.component(&self.0.engine, bytes, &digest)?;
            let pre = AgentPre::new(linker_for(&self.0.engine, &component)?.instantiate_pre(&component)?)?;
            Ok((pre, took))
        };
        match link() {
            Ok((pre, took)) => Ok(Role::new(name.clone(), digest, report, pre, took, Arc::clone(&self.0))),
            Err(error) => Err(refuse(report.refused_by_engine(format!("{error:#}")))),
        }
    }

    /// How many components were compiled, rather than taken from the cache, since this sandbox was set up.
    pub fn compilations(&self) -> u64 {
        self.0.cache.compilations()
    }
}
