//! What can go wrong before a check runs, told to the reader. What a check says is no error: it is its result.

use std::io;
use std::path::PathBuf;

use brain_changes::ApplyError;

/// A scratch checkout that cannot be made.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum ScratchError {
    /// The system said no.
    #[error("cannot {action} {}: {source}", path.display())]
    #[diagnostic(code("checks.scratch.io"), help("see that the disk has room and that the folder belongs to you"))]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The tree is too large to be copied.
    #[error("the project has more than {limit} {what}, so no copy of it is made to run its checks in")]
    #[diagnostic(
        code("checks.scratch.too-large"),
        help("is something in it that git should ignore? what .gitignore names is not copied")
    )]
    TooLarge {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// Copying took too long.
    #[error("copying the project took more than {seconds} s")]
    #[diagnostic(
        code("checks.scratch.too-slow"),
        help("is something in it that git should ignore, or is it on a slow disk?")
    )]
    TooSlow {
        /// The limit.
        seconds: u64,
    },
    /// Too many runs have a scratch checkout of the project at once.
    #[error("{limit} scratch checkouts of {} are in use", project.display())]
    #[diagnostic(code("checks.scratch.busy"), help("wait until the other runs in this project have ended"))]
    Busy {
        /// The project.
        project: PathBuf,
        /// How many there may be.
        limit: usize,
    },
    /// The change set does not go into the copy.
    #[error("the change cannot be made in a copy of the project: {source}")]
    #[diagnostic(
        code("checks.scratch.apply"),
        help("if the project's files changed since the role saw them, let it make its proposal again")
    )]
    Apply {
        /// Why.
        source: Box<ApplyError>,
    },
    /// It was asked to stop.
    #[error("stopped while the project was being copied")]
    #[diagnostic(code("checks.scratch.cancelled"), help("start again"))]
    Cancelled,
}

/// The checks were stopped because somebody asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("stopped while the checks were running")]
#[diagnostic(code("checks.cancelled"), help("start again"))]
pub struct Cancelled;
