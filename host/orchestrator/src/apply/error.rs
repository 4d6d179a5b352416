//! Why a proposal cannot be applied or undone, or an interrupted attempt not be made good.

use std::io;
use std::path::{Path, PathBuf};

use brain_changes::{ApplyError, ContentsError};
use brain_journal::JournalError;
use brain_packet::{RoleName, SessionId};

use super::marker::Mark;
use crate::proposals::ProposalError;

/// An apply, an undo or a recovery that could not be done.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ApplyFault {
    /// Another process is at the same tree.
    #[error("another brain is applying to {}{who}", root.display())]
    #[diagnostic(code("changes.busy"), help("wait until it is done, and try again"))]
    Busy {
        /// The root of the tree.
        root: PathBuf,
        /// Who, where that is known.
        who: String,
    },
    /// An interrupted attempt in the same tree has not been made good.
    #[error("an earlier apply to {} was interrupted and could not be made good", root.display())]
    #[diagnostic(
        code("changes.left"),
        help(
            "this start has said why; when the tree is as you want it, remove {} and try again", marker.display()
        )
    )]
    Left {
        /// The root of the tree.
        root: PathBuf,
        /// The marker that stands for it.
        marker: PathBuf,
    },
    /// Where the tree was, another folder is.
    #[error("{} is not the folder that it was when the apply began", root.display())]
    #[diagnostic(
        code("changes.root-moved"),
        help("put that folder back to where it was, and the next start goes on with it; if you do not want that, remove {}", marker.display())
    )]
    RootMoved {
        /// The root of the tree.
        root: PathBuf,
        /// The marker that stands for it.
        marker: PathBuf,
    },
    /// Where the tree was, nothing is.
    #[error("{} is not there any more", root.display())]
    #[diagnostic(
        code("changes.root-gone"),
        help("if it was moved, put it back to where it was, and the next start goes on with it; if it was deleted for good, remove {}", marker.display())
    )]
    RootGone {
        /// The root of the tree.
        root: PathBuf,
        /// The marker that stands for it.
        marker: PathBuf,
    },
    /// It was applied to a folder that is not this one.
    #[error("{session} {role} is not applied to {}: it was applied to {was}", here.display())]
    #[diagnostic(
        code("changes.applied-elsewhere"),
        help(
            "nothing was changed; run it in the folder that it was applied to, or name that folder: `brain undo {session} {role} -C DIR`"
        )
    )]
    Elsewhere {
        /// The session.
        session: SessionId,
        /// Whose proposal.
        role: RoleName,
        /// The folder that was to be changed.
        here: PathBuf,
        /// Where it was applied, and what is there now.
        was: String,
    },
    /// The tree is new, and that cannot be written down.
    #[error("the changes are in the project, but that cannot be recorded: {why}")]
    #[diagnostic(
        code("changes.not-recorded"),
        help("make room in BRAIN_HOME; the next start records it, and nothing is changed twice")
    )]
    NotRecorded {
        /// What failed, in words.
        why: String,
    },
    /// A file of Brain's own cannot be read or written.
    #[error("{} cannot be used", path.display())]
    #[diagnostic(code("changes.state"), help("check the disk and the permissions of BRAIN_HOME"))]
    State {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A marker says nothing that can be understood.
    #[error("{} is no marker of an apply", path.display())]
    #[diagnostic(
        code("changes.marker"),
        help("Brain writes no such file: when no tree holds files named .brain-apply-…, remove it")
    )]
    Marker {
        /// The marker.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The journal tells of an attempt in words that this version does not use.
    #[error("the journal of session {session} names the attempt `{id}`, which is no name of one")]
    #[diagnostic(
        code("changes.intent"),
        help("the journal was changed: compare the tree with version control, remove files named .brain-apply-…, and remove {}", marker.display())
    )]
    Intent {
        /// The session.
        session: String,
        /// The name.
        id: String,
        /// The marker that stands for it.
        marker: PathBuf,
    },
    /// The attempt was refused or failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Changes(#[from] ApplyError),
    /// Contents cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Contents(#[from] ContentsError),
    /// The proposal cannot be found or read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Proposal(#[from] ProposalError),
    /// The journal cannot be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Journal(#[from] JournalError),
}

impl ApplyFault {
    pub(crate) fn busy(root: &Path, who: Option<Mark>) -> Self {
        let who = who.map(|mark| format!(": process {}, for session {}, {}", mark.pid, mark.session, mark.role));
        Self::Busy { root: root.to_owned(), who: who.unwrap_or_default() }
    }
}
