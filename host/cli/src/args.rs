//! The command line.

use std::path::PathBuf;

use brain_orchestrator::Mode;
use brain_packet::Severity;
use clap::builder::{PathBufValueParser, TypedValueParser};
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

/// The heading of [`PlaceArgs`], which every command has beside its own options.
const PLACES: &str = "Places";

/// Where things are.
#[derive(Clone, Debug, clap::Args)]
pub struct PlaceArgs {
    /// The project's folder.
    #[arg(long, short = 'C', global = true, value_name = "DIR", default_value = ".", help_heading = PLACES)]
    pub project: PathBuf,
    /// A folder of role folders to look into first; may be given again.
    #[arg(long = "roles", global = true, value_name = "DIR", help_heading = PLACES)]
    pub roles: Vec<PathBuf>,
    // The variable is read elsewhere: what clap takes from one it shows in every usage line, as if it had been typed.
    /// Where sessions, roles and caches are kept [default: $BRAIN_HOME, or ~/.brain].
    #[arg(long, global = true, value_name = "DIR", help_heading = PLACES)]
    pub home: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Hand a request to the roles that it calls for, and report.
    Run(RunArgs),
    /// Show what a run of a request would do: its workers and tasks, and what waits for what. Runs nothing.
    Plan(PlanArgs),
    /// List, inspect, check and call roles.
    Role {
        /// What to do with them.
        #[command(subcommand)]
        command: RoleCommand,
    },
    /// List, show, follow and export sessions from their journals.
    #[command(args_conflicts_with_subcommands = true)]
    Sessions {
        /// What to do with them; `list` when not given.
        #[command(subcommand)]
        command: Option<SessionsCommand>,
        /// How `list` does it, when no command is given.
        #[command(flatten)]
        list: ListArgs,
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
    /// Show what model calls cost, in tokens.
    Usage(UsageArgs),
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
    /// Print a published JSON Schema, or the names of all of them.
    ///
    /// They describe the files that people write (role, config, project, confirmed), and what `--json` prints.
    Schema {
        /// Its name, such as `role` or `run-report`; the names of all are listed when none is given.
        #[arg(conflicts_with = "out")]
        name: Option<String>,
        /// Write all of them to this existing folder.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// A session, and a role of it.
#[derive(Debug, clap::Args)]
pub struct WhichArgs {
    /// The session's id, the beginning of it, or `last` for the newest of the project.
    pub session: String,
    /// The role; not needed where there is one alone. Of a role that proposed several changes, `ROLE@DIGEST` names one.
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
    /// `@path` refers to a file or folder of the project, and then roles see nothing else of it. `@@session` hands over what
    /// an earlier session asked and found; `@@last` is the newest one of this project.
    #[arg(required = true, value_name = "REQUEST")]
    pub request: Vec<String>,
    /// Show the plan and run nothing, as `brain plan` does.
    #[arg(long, conflicts_with = "session")]
    pub dry_run: bool,
    /// Continue this session: its id, the beginning of it, or `last` for the newest of the project. Where it asked back, the
    /// request is the answer: an option's number or id, or your own words.
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// How wide the run may go.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub mode: ModeArg,
    /// Let the project's own checks run on what roles propose, in a copy of the project. They are programs of the project, on
    /// a role's change, and run with your rights.
    #[arg(long, short)]
    pub yes: bool,
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

/// `brain plan`.
#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    /// What you want to know or have done; `-` reads it from standard input.
    #[arg(required = true, value_name = "REQUEST")]
    pub request: Vec<String>,
    /// How wide the run may go.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub mode: ModeArg,
    /// Print the plan as JSON; schemas/run-plan.schema.json describes it.
    #[arg(long)]
    pub json: bool,
}

/// How wide a run may go, on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModeArg {
    /// Focused: few tasks, and risky steps are asked about.
    Auto,
    /// Expansive: more tasks, and more roles side by side.
    Radical,
}

impl From<ModeArg> for Mode {
    fn from(arg: ModeArg) -> Self {
        match arg {
            ModeArg::Auto => Self::Auto,
            ModeArg::Radical => Self::Radical,
        }
    }
}

/// How a result goes elsewhere.
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// Write the findings to this file as SARIF 2.1.0.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(file_to_write))]
    pub sarif: Option<PathBuf>,
    /// Exit with status 3 when a finding is at least this grave.
    #[arg(long, value_name = "SEVERITY")]
    pub fail_on: Option<SeverityArg>,
    /// Say nothing about progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// The name of a file that is written. Standard output has the report, so that a `-` would make a file of that name.
fn file_to_write(name: PathBuf) -> Result<PathBuf, &'static str> {
    if name.as_os_str() == "-" { Err("give the name of a file") } else { Ok(name) }
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

/// `brain sessions list`.
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// How many.
    #[arg(long, short = 'n', value_name = "N", default_value_t = brain_journal::DEFAULT_LIST_LIMIT)]
    pub limit: usize,
    /// Those of every project; otherwise those of the project alone.
    #[arg(long)]
    pub all: bool,
    /// Those of the project alone, which is the default.
    #[arg(long, hide = true, conflicts_with = "all")]
    pub here: bool,
    /// Only those whose latest run ended so.
    #[arg(long, value_name = "STATUS")]
    pub status: Option<StatusArg>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// How a session's latest run ended, on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StatusArg {
    /// It came to its end.
    Completed,
    /// It stopped with an error.
    Failed,
    /// It is still going, or was cut off.
    Incomplete,
}

impl From<StatusArg> for brain_journal::SessionStatus {
    fn from(arg: StatusArg) -> Self {
        match arg {
            StatusArg::Completed => Self::Completed,
            StatusArg::Failed => Self::Failed,
            StatusArg::Incomplete => Self::Incomplete,
        }
    }
}

/// `brain sessions tail`.
#[derive(Debug, clap::Args)]
pub struct TailArgs {
    /// Its id, the beginning of it, or `last` for the newest of the project.
    pub session: String,
    /// How many records.
    #[arg(long = "lines", short = 'n', value_name = "N", default_value_t = brain_journal::DEFAULT_TAIL)]
    pub count: usize,
    /// Go on with the records that are added, until the run has ended or Ctrl-C.
    #[arg(long, short)]
    pub follow: bool,
    /// Print each record as a line of JSON.
    #[arg(long)]
    pub json: bool,
}

/// `brain sessions export`.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Its id, the beginning of it, or `last` for the newest of the project.
    pub session: String,
    /// One JSON document: the story, and what it cost. This is the default.
    #[arg(long, conflicts_with_all = ["markdown", "raw"])]
    pub json: bool,
    /// The story as Markdown.
    #[arg(long, conflicts_with = "raw")]
    pub markdown: bool,
    /// The journal itself, line by line as it is.
    #[arg(long)]
    pub raw: bool,
}

/// `brain usage`.
#[derive(Debug, clap::Args)]
pub struct UsageArgs {
    /// Of this session alone: its id, the beginning of it, or `last` for the newest of the project.
    #[arg(long, value_name = "SESSION", conflicts_with = "all")]
    pub session: Option<String>,
    /// Of every project; otherwise of the project alone.
    #[arg(long)]
    pub all: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `brain sessions …`.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// The latest sessions.
    List(ListArgs),
    /// The last records of a session.
    Tail(TailArgs),
    /// A session as one document, without anything private.
    Export(ExportArgs),
    /// What a session's journal tells.
    Show {
        /// Its id, the beginning of it, or `last` for the newest of the project.
        session: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
