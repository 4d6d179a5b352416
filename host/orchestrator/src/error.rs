//! Why a run cannot be done.

use std::path::PathBuf;

use brain_journal::JournalError;
use brain_manifest::TomlError;
use brain_packet::SessionId;
use brain_plan::PlanError;
use brain_sandbox::SandboxError;

use crate::confirmed::ConsentError;
use crate::proposals::ProposalError;
use crate::roles::RoleError;

/// A run that cannot be done. A role that fails is not one: the run goes on and says so.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum RunError {
    /// The request is empty.
    #[error("the request is empty")]
    #[diagnostic(code("run.empty"), help("say what you want to know: brain run \"where is the configuration read?\""))]
    Empty,
    /// The project is Brain's own home, or lies in it.
    #[error("{} is where brain keeps its own state, and no project: roles do not see grants and sessions", .0.display())]
    #[diagnostic(code("run.own-home"), help("run it in a project, or set BRAIN_HOME to another folder"))]
    OwnHome(PathBuf),
    /// The request is too long.
    #[error("the request is longer than {limit} characters")]
    #[diagnostic(code("run.too-long"), help("put the material into a file of the project and refer to it as @path"))]
    TooLong {
        /// Characters that are allowed.
        limit: usize,
    },
    /// The project is not a folder that can be read.
    #[error("the project {} cannot be used: {source}", path.display())]
    #[diagnostic(code("run.project"), help("give a folder that exists and that you may read"))]
    Project {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that a run needs cannot be written.
    #[error("{what} cannot be written to {}: {source}", path.display())]
    #[diagnostic(code("run.state"), help("check the disk and the permissions of BRAIN_HOME"))]
    State {
        /// What it is.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A reference that was named explicitly does not exist.
    #[error("the reference `{reference}` cannot be granted: {why}")]
    #[diagnostic(code("run.reference"), help("give a path below the project, relative to it"))]
    Reference {
        /// What was named.
        reference: String,
        /// Why not.
        why: String,
    },
    /// A role cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Role(#[from] RoleError),
    /// There is no plan.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Plan(#[from] PlanError),
    /// The session that is continued asked something, and the answer names none of its options.
    #[error("the session {session} asked `{question}`, and `{answer}` is none of its {options} options")]
    #[diagnostic(code("run.answer"), help("answer with a number, an option's id, or your own words"))]
    Answer {
        /// The session.
        session: SessionId,
        /// What it asked.
        question: String,
        /// What was answered.
        answer: String,
        /// How many options there are.
        options: usize,
    },
    /// The session that is to be continued cannot be found.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Session(#[from] ProposalError),
    /// Configuration cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Config(#[from] TomlError),
    /// What was confirmed of roles cannot be read or kept.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Consent(#[from] ConsentError),
    /// The journal cannot be written or read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Journal(#[from] JournalError),
    /// The sandbox cannot start.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Sandbox(#[from] SandboxError),
    /// The run was interrupted by the operator.
    #[error("the run was interrupted")]
    #[diagnostic(code("run.interrupted"))]
    Interrupted,
}

impl RunError {
    /// Whether the command was called wrongly, rather than something having failed.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Empty
                | Self::TooLong { .. }
                | Self::Project { .. }
                | Self::Reference { .. }
                | Self::Answer { .. }
                | Self::Session(_)
        )
    }
}
