//! The command line.

use std::path::PathBuf;

use brain_packet::Severity;
use clap::builder::TypedValueParser as _;
use clap::{Parser, Subcommand, ValueEnum};

/// Hands work to sandboxed WebAssembly roles and shows what they found.
///
/// Each role sees the files that its handoff grants, and nothing else: no network, no environment, no clock, no other
/// file. Whatever a role does, its call ends by a deadline and under a memory limit.
#[derive(Debug, Parser)]
#[command(
    name = "brain",
    version,
    max_term_width = 100,
    after_help = "Exit status: 0 done, 1 could not, 2 called wrongly, 3 findings at or above --fail-on, 130 interrupted."
)]
pub struct Args {
    /// Where things are.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Where things are.
#[derive(Clone, Debug, clap::Args)]
pub struct PlaceArgs {
    /// The project's folder.
    #[arg(long, short = 'C', global = true, value_name = "DIR", default_value = ".")]
    pub project: PathBuf,
    /// A folder of role folders to look into first; may be given again.
    #[arg(long = "roles", global = true, value_name = "DIR")]
    pub roles: Vec<PathBuf>,
    /// Where sessions, roles and caches are kept.
    #[arg(long, global = true, value_name = "DIR", env = "BRAIN_HOME", value_parser = clap::builder::OsStringValueParser::new().map(PathBuf::from), help = "Where sessions, roles and caches are kept [default: ~/.brain]")]
    pub home: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Hand a request to the roles that it calls for, and report.
    Run(RunArgs),
    /// List, inspect, check and call roles.
    Role {
        /// What to do with them.
        #[command(subcommand)]
        command: RoleCommand,
    },
    /// List and show sessions from their journals.
    Sessions {
        /// What to do with them; `list` when not given.
        #[command(subcommand)]
        command: Option<SessionsCommand>,
    },
    /// Show what roles propose to change, as a patch that `git apply` takes.
    Diff(DiffArgs),
    /// Put a proposed change into the project: all of it, or none of it.
    Apply(ApplyArgs),
    /// Take an applied change out of the project again.
    Undo(ApplyArgs),
    /// Show what the calls of a session were granted, did, used and were denied.
    Receipt {
        /// Whose receipt; those of all roles of the session when none is named.
        #[command(flatten)]
        which: WhichArgs,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Look after what roles are granted.
    Grants {
        /// What to do with them.
        #[command(subcommand)]
        command: GrantsCommand,
    },
    /// Check what Brain needs of this machine and project.
    Doctor {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write the published JSON Schemas.
    #[command(hide = true)]
    Schema {
        /// An existing folder to write them to.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

/// A session, and a role of it.
#[derive(Debug, clap::Args)]
pub struct WhichArgs {
    /// The session's id, the beginning of it, or `last` for the newest of the project.
    pub session: String,
    /// The role; not needed where there is one alone.
    pub role: Option<String>,
}

/// `brain diff`.
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// Whose proposal.
    #[command(flatten)]
    pub which: WhichArgs,
    /// Show each file with the number of its changed lines.
    #[arg(long, conflicts_with_all = ["name_only", "json"])]
    pub stat: bool,
    /// Show the paths alone.
    #[arg(long, conflicts_with = "json")]
    pub name_only: bool,
    /// Print JSON; schemas/proposal.schema.json describes it.
    #[arg(long)]
    pub json: bool,
}

/// `brain apply` and `brain undo`.
#[derive(Debug, clap::Args)]
pub struct ApplyArgs {
    /// Whose proposal.
    #[command(flatten)]
    pub which: WhichArgs,
    /// Say what would be done, and whether something stands in its way.
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON; schemas/apply-report.schema.json describes it.
    #[arg(long)]
    pub json: bool,
}

/// `brain grants …`.
#[derive(Debug, Subcommand)]
pub enum GrantsCommand {
    /// Propose the smaller manifest that a role's past calls would have been content with. Changes nothing.
    Tighten {
        /// Its name.
        role: String,
        /// How many sessions to look into, the newest first.
        #[arg(long, value_name = "N", default_value_t = brain_orchestrator::DEFAULT_RECEIPT_SESSIONS)]
        sessions: usize,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// `brain run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// What you want to know or have done; `-` reads it from standard input.
    ///
    /// `@path` refers to a file of the project, `@@session` to an earlier session.
    #[arg(required = true, value_name = "REQUEST")]
    pub request: Vec<String>,
    /// Show the plan and run nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print the report as JSON; schemas/run-report.schema.json describes it.
    #[arg(long, conflicts_with = "summary_only")]
    pub json: bool,
    /// Print only the answer.
    #[arg(long)]
    pub summary_only: bool,
    /// Change nothing in the project. This is the default: what roles propose is applied by `brain apply` alone.
    #[arg(long)]
    pub read_only: bool,
    /// How the result goes elsewhere.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How a result goes elsewhere.
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// Write the findings to this file as SARIF 2.1.0.
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Exit with status 3 when a finding is at least this grave.
    #[arg(long, value_name = "SEVERITY")]
    pub fail_on: Option<SeverityArg>,
    /// Say nothing about progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// A severity on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SeverityArg {
    /// Anything.
    Low,
    /// Worth fixing.
    Medium,
    /// Worth stopping for.
    High,
}

impl From<SeverityArg> for Severity {
    fn from(arg: SeverityArg) -> Self {
        match arg {
            SeverityArg::Low => Self::Low,
            SeverityArg::Medium => Self::Medium,
            SeverityArg::High => Self::High,
        }
    }
}

/// `brain role …`.
#[derive(Debug, Subcommand)]
pub enum RoleCommand {
    /// The roles that there are, and where they come from.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// What a role is, what it asks for, what it is granted, and who said so.
    Inspect {
        /// Its name.
        role: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Let a role have what it asks for beyond what was confirmed of it.
    ///
    /// What a role asks for is confirmed by its first use. A later version that asks for more is not called until you
    /// confirm it here.
    Confirm {
        /// Its name.
        role: String,
        /// Confirm without asking back.
        #[arg(long, short)]
        yes: bool,
    },
    /// Compare a component with the contract, row by row, without running it.
    Check {
        /// A component's file, a role's folder, or a role's name.
        component: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Call one role.
    Run {
        /// Its name.
        role: String,
        /// What it is to do.
        #[arg(long, value_name = "TEXT")]
        goal: String,
        /// A file or folder of the project that it may see, and then nothing else of it; may be given again.
        #[arg(long = "ref", value_name = "PATH")]
        refs: Vec<String>,
        /// Print the report as JSON.
        #[arg(long)]
        json: bool,
        /// How the result goes elsewhere.
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// `brain sessions …`.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// The latest sessions.
    List {
        /// How many.
        #[arg(long, short = 'n', default_value_t = brain_journal::DEFAULT_LIST_LIMIT)]
        limit: usize,
        /// Only those of the project.
        #[arg(long)]
        here: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// What a session's journal tells.
    Show {
        /// Its id, or the beginning of it.
        session: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
