//! The run: from an operator's request to a report, through roles that each see one handoff and nothing else.
//!
//! It has a request planned, makes the handoffs, lays their context out as files, calls roles in the sandbox, has what they
//! propose checked and reviewed, and puts their results together; every step is in the journal. It must not know how a
//! component is run or what wasmtime is (that is the sandbox's), nor how a report is shown (that is the command line's).
//!
//! ```no_run
//! use brain_orchestrator::{Catalogue, Config, Mode, Orchestrator, open_project};
//! use brain_sandbox::{CancelToken, Sandbox, SandboxConfig};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (home, project) = (std::path::PathBuf::from("/home/me/.brain"), open_project(".".as_ref())?);
//! let brain = Orchestrator {
//!     sandbox: Sandbox::new(SandboxConfig::default())?,
//!     catalogue: Catalogue::find(&Catalogue::folders(&[], &home), &home),
//!     config: Config::load(&home, Some(&project))?,
//!     mode: Mode::Auto,
//!     may_check: false,
//!     home, project, cancel: CancelToken::default(),
//! };
//! println!("{}", brain.run("where is the configuration read?", None, &|_| {})?.summary);
//! # Ok(()) }
//! ```

mod apply;
mod artifacts;
mod checking;
mod compose;
mod confirmed;
mod continued;
mod crew;
mod error;
mod gate;
mod git;
mod patch;
mod proposals;
mod receipts;
mod references;
mod report;
mod roles;
mod run;
mod sarif;
mod schedule;
mod schemas;
mod sweep;
mod threads;
mod tighten;
mod worker;

pub use apply::{
    ApplyFault, ApplyReport, ApplyResult, Interrupted, Mark, Recovery, apply, interrupted, recover_interrupted,
};
pub use brain_checks::{CheckResult, CheckStatus, CheckSummary};
pub use brain_manifest::{
    Asks, ByRole, Config, ConfigFile, Context, DEFAULT_MAX_PARALLEL, Decision, Denied, EffectiveGrant, Files, Granted,
    LimitGrant, MAX_GLOBS, MAX_TOML_BYTES, Manifest, ProjectFile, ProjectGrants, ProjectPath, RoleGrants,
    Routing as ManifestRouting, TomlError, Wasi, Who, nearest, plainest,
};
pub use brain_plan::{Clarification, Mode, Plan, PlanPhase, WorkerPlan};
pub use confirmed::{Confirmation, Confirmed, ConsentError, How, MAX_CONFIRMED_BYTES};
pub use error::RunError;
pub use gate::REVIEW_DECISION;
pub use git::{ChangedFile, Changes, GitView, MAX_DIFF_BYTES, MAX_DIFF_FILES, MAX_GIT_TIME, view as git_view};
pub use proposals::{
    LAST, Proposal, ProposalError, ProposedChanges, ShownProposal, figures, proposal, proposals, session,
};
pub use receipts::{DEFAULT_RECEIPT_SESSIONS, KeptReceipt, MAX_RECEIPTS, PastCalls, past_calls, receipts};
pub use references::MAX_REFERENCES;
pub use report::{Fault, REPORT_VERSION, ReportFinding, Routing, RunReport, RunStatus, WorkerReport};
pub use roles::{Catalogue, Fault as RoleFault, Installed, Origin, RoleError, read_component};
pub use run::{Event, Orchestrator, open_project};
pub use sarif::sarif;
pub use schemas::schemas;

pub use tighten::{Advice, GlobAdvice, LimitAdvice, MAX_NARROWED_FOLDERS, Tightened, tighten};
