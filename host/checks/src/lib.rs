//! Whether a project's own checks pass with a proposed change, found out in a copy of its tree.
//!
//! **What it is for.** [`PatchKind::of`] says what a change is about, [`detect()`] which checks the project has for it, [`select()`] which of
//! them would run: a [`CheckPlan`], to be shown to whoever may allow it. A [`Scratch`] is a copy of the working tree with the
//! change in it, [`run_all`] runs the plan there, and a [`CheckSummary`] says what came of it.
//!
//! **What it must not know.** Roles, models, sessions and the journal; who allows a check and how they are asked; git, of which it
//! reads only what is to be ignored. It writes nothing into the project. A check is a program of the project's, and runs with the
//! operator's rights: this crate bounds it in time and output and cleans up after it, and is no sandbox.
//!
//! ```
//! use brain_changes::{Builder, Contents, Side};
//! use brain_checks::{
//!     ChecksConfig, Environment, PatchKind, Scratch, ScratchLimits, changed_paths, detect, run_all, select,
//! };
//!
//! let place = tempfile::tempdir()?;
//! let (project, contents) = (place.path().join("project"), Contents::open(place.path().join("contents"))?);
//! std::fs::create_dir(&project)?;
//! std::fs::write(project.join("Makefile"), "test:\n\ttest -e new.c\n")?;
//! let mut proposal = Builder::new(&contents);
//! proposal.added("new.c", Side::new(0o644, &b"int x;\n"[..]))?;
//! let set = proposal.finish()?;
//!
//! let (cache, stop) = (place.path().join("cache"), || false);
//! let scratch =
//!     Scratch::new(&project, &cache, &set, &contents, &Default::default(), &ScratchLimits::default(), &stop)?;
//! let (config, paths) = (ChecksConfig::default(), changed_paths(&set));
//! let plan = select(PatchKind::of(paths.clone()), &config, &detect(scratch.root(), paths));
//! assert_eq!(plan.checks[0].command_line(), "make test");
//! let summary = run_all(&plan, &scratch, &Environment::of_operator(), &config.limits(), &mut |_| {}, &stop)?;
//! assert_eq!(summary.results.len(), 1);
//! assert!(!project.join("new.c").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod config;
pub mod detect;
pub mod environment;
pub mod error;
pub mod kind;
mod read;
pub mod run;
pub mod scratch;
pub mod select;
pub mod summary;
mod tail;

pub use config::{ChecksConfig, ChecksTable, KindPolicy, ReviewPolicy, Strategy};
pub use detect::{Check, Detected, Part, Tool, detect};
pub use environment::Environment;
pub use error::{Cancelled, ScratchError};
pub use kind::{PatchKind, ReviewMode, RiskTier, changed_paths};
pub use run::{RunLimits, run};
pub use scratch::{Scratch, ScratchLimits, sweep};
pub use select::{CheckPlan, MAX_CHECKS, SkippedCheck, select};
pub use summary::{CheckResult, CheckStatus, CheckSummary, run_all};
