//! What Brain means to do about a request: which roles take part, which tasks each has, and in which order.
//!
//! **What it is for.** [`plan`] takes a request and the manifests of the roles that there are, and gives a [`Plan`]: by
//! rule, or by the word of a [`Router`] where there is one. A planner's reply is never believed: it is read field by field,
//! cut to what the [`Mode`] allows, and what it leaves out comes from the rules. Where the request says too little, the plan
//! holds a [`Clarification`] instead of work.
//!
//! **What it must not know.** How a role is called, where a plan is recorded, which model answers. It reads no file, no
//! clock and no environment, and panics on no input.
//!
//! ```
//! use brain_manifest::{Config, Manifest};
//! use brain_plan::{Mode, Request, plan};
//!
//! let role = |name: &str, words: &str| {
//!     Manifest::parse(&format!(
//!         "name = \"{name}\"\nversion = \"1\"\ndescription = \"d\"\ncontract = \"brain:role@1.0.0\"\n\
//!          component = \"x.wasm\"\n[routing]\nwords = [\"{words}\"]\n"
//!     ))
//! };
//! let (librarian, security) = (role("librarian", "map")?, role("security", "secrets")?);
//! let roles = [&librarian, &security];
//! let prompt = "map the code and find secrets";
//! let config = Config::default();
//! let request = Request { prompt, roles: &roles, config: &config, mode: Mode::Auto, review_edits: true, continues: false };
//! let plan = plan(&request, None)?;
//! let roles: Vec<&str> = plan.workers.iter().map(|worker| worker.role.as_str()).collect();
//! assert_eq!(roles, ["librarian", "security"]); // the one that answers comes last
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clarify;
mod decision;
mod draft;
mod mode;
mod plan;
mod reply;
mod router;
mod rules;
mod todos;
mod words;

pub use brain_journal::ClarificationOption;
pub use clarify::{Clarification, MAX_MISSING, MAX_OPTIONS};
pub use decision::{MAX_REPLY_BYTES, ReplyError};
pub use mode::{Mode, ModeLimits, PlanLimits};
pub use plan::{BY_OPERATOR, BY_ROUTER, BY_RULE, Plan, PlanError, PlanPhase, Request, WorkerPlan, of_one, plan};
pub use router::{Router, RouterError, RouterPrompt};
