//! What can go wrong, told to the reader: what failed, on what, and what to do about it.

use std::io;
use std::path::PathBuf;

use brain_packet::Digest;

use crate::diff::DiffError;
use crate::intent::Outcome;
use crate::path::PathFault;
use crate::state::Conflict;

/// How many conflicts, and how many left-over paths, a message lists. The error has all of them.
pub const MAX_SHOWN: usize = 10;

/// What to do about a set that Brain would not have written.
const DAMAGED_SET: &str =
    "Brain writes no such change set: this one was damaged or changed; let the role make its proposal again";

/// A content that could not be kept or given back.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum ContentsError {
    /// The system said no.
    #[error("cannot {action}: {}", path.display())]
    #[diagnostic(
        code("changes.contents-io"),
        help("see that the disk has room and that the folder belongs to you, then run again")
    )]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// It is not there.
    #[error("there is no content {digest} in {}", folder.display())]
    #[diagnostic(
        code("changes.content-missing"),
        help("the session's contents were removed or are incomplete: let the role make its proposal again")
    )]
    Missing {
        /// Where it should be.
        folder: PathBuf,
        /// Which.
        digest: Digest,
    },
    /// Its bytes are not the ones that its name promises.
    #[error("{} is damaged: its bytes are not the content {digest}", path.display())]
    #[diagnostic(
        code("changes.content-damaged"),
        help("somebody or something changed it; remove it and let the role make its proposal again")
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What it should be.
        digest: Digest,
    },
    /// It is larger than contents may be.
    #[error("{} is larger than {limit} bytes", path.display())]
    #[diagnostic(code("changes.content-too-large"), help("such files are not part of a change set"))]
    TooLarge {
        /// Where it was to be kept.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
}

/// A change set that breaks a rule.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum SetError {
    /// More of something than a set may have.
    #[error("the change set has more than {limit} {what}")]
    #[diagnostic(code("changes.set-too-large"), help("give the role a smaller task or narrower write globs"))]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// No JSON of a change set.
    #[error("not the JSON of a change set")]
    #[diagnostic(code("changes.set-json"), help("{DAMAGED_SET}"))]
    Json {
        /// Where and why.
        source: serde_json::Error,
    },
    /// A path that no change may have.
    #[error("the change set has the path `{path}`")]
    #[diagnostic(code("changes.set-path"), help("{DAMAGED_SET}"))]
    Path {
        /// The path, shortened.
        path: String,
        /// What is wrong with it.
        source: PathFault,
    },
    /// A mode with other bits than permissions.
    #[error("`{path}` would get the mode {mode:o}: only permission bits (777) can be changed")]
    #[diagnostic(code("changes.set-mode"), help("{DAMAGED_SET}"))]
    Mode {
        /// The path, shortened.
        path: String,
        /// The mode.
        mode: u32,
    },
    /// A change that contradicts itself.
    #[error("the change of `{path}` contradicts itself: {what}")]
    #[diagnostic(code("changes.set-inconsistent"), help("{DAMAGED_SET}"))]
    Inconsistent {
        /// The path, shortened.
        path: String,
        /// How.
        what: &'static str,
    },
    /// A diff that is none.
    #[error("the diff of `{path}` is no unified diff")]
    #[diagnostic(code("changes.set-diff"), help("{DAMAGED_SET}"))]
    Diff {
        /// The path, shortened.
        path: String,
        /// Where it is wrong.
        source: DiffError,
    },
    /// Two entries for one path.
    #[error("the change set has `{path}` twice")]
    #[diagnostic(code("changes.set-duplicate"), help("{DAMAGED_SET}"))]
    Twice {
        /// The path, shortened.
        path: String,
    },
    /// Entries that are not in order.
    #[error("the change set is not sorted: `{path}` comes too late")]
    #[diagnostic(code("changes.set-unsorted"), help("{DAMAGED_SET}"))]
    Unsorted {
        /// The path, shortened.
        path: String,
    },
    /// Changes that contradict each other.
    #[error("the changes around `{path}` contradict each other: {what}")]
    #[diagnostic(code("changes.set-contradiction"), help("{DAMAGED_SET}"))]
    Contradiction {
        /// The path, shortened.
        path: String,
        /// How.
        what: &'static str,
    },
}

/// A change set that could not be built.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum BuildError {
    /// The file as it is in the tree could not be read.
    #[error("cannot read `{path}` as it is in the tree")]
    #[diagnostic(
        code("changes.base-unreadable"),
        help("see that the file can be read and is not huge, then run again")
    )]
    Base {
        /// The path, shortened.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The proposed content could not be kept.
    #[error("cannot keep the proposed content of `{path}`")]
    #[diagnostic(
        code("changes.new-not-kept"),
        help("see that the disk has room where Brain keeps sessions, then run again")
    )]
    New {
        /// The path, shortened.
        path: String,
        /// Why.
        source: ContentsError,
    },
    /// The changes do not make a set.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Set(#[from] SetError),
}

/// One thing that could not be done in a tree.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}", if path.is_empty() { "the tree".to_owned() } else { format!("`{}`", crate::set::shown(path)) })]
pub struct Failure {
    /// What was tried, as a verb and its object: "make the folder".
    pub action: &'static str,
    /// The path in the tree; empty for its root.
    pub path: String,
    /// The system's answer.
    pub source: io::Error,
}

/// A change set that was not applied, not completely, or not recovered.
///
/// In each variant but [`Unfinished`](Self::Unfinished), [`NotEnded`](Self::NotEnded) and [`Unrecovered`](Self::Unrecovered), every file of the tree is
/// as it was before. `left` names temporary files and folders that could not be removed again; it is nearly always empty.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum ApplyError {
    /// The set breaks a rule.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Set(#[from] SetError),
    /// The tree is not there.
    #[error("cannot open the folder {}", root.display())]
    #[diagnostic(
        code("changes.root-gone"),
        help("nothing was changed; see that the project is still there and can be read")
    )]
    Root {
        /// Its root.
        root: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The tree is not what the set was made from.
    #[error("the tree changed since the proposal was made, in {}:{}", counted(conflicts.len(), "place"), listed(conflicts) + &also(left))]
    #[diagnostic(
        code("changes.conflict"),
        help("nothing was changed; put these files back as they were, or let the role make its proposal again")
    )]
    Conflict {
        /// Every path that is not as expected, sorted.
        conflicts: Vec<Conflict>,
        /// What could not be removed again.
        left: Vec<String>,
    },
    /// A content is missing or damaged, or one to be replaced could not be kept for an undo.
    #[error("a content could not be read or kept{}", also(left))]
    #[diagnostic(code("changes.contents"), help("nothing was changed"))]
    Contents {
        /// Which and why.
        #[diagnostic_source]
        source: ContentsError,
        /// What could not be removed again.
        left: Vec<String>,
    },
    /// No room.
    #[error("there is no room for the change{}", also(left))]
    #[diagnostic(
        code("changes.disk-full"),
        help("no file was changed; free space or raise the quota, then apply again")
    )]
    DiskFull {
        /// What failed.
        source: Failure,
        /// What could not be removed again.
        left: Vec<String>,
    },
    /// A file system that cannot be written.
    #[error("the tree is on a file system that is mounted read-only{}", also(left))]
    #[diagnostic(
        code("changes.read-only"),
        help("no file was changed; mount it writable or work on a copy, then apply again")
    )]
    ReadOnly {
        /// What failed.
        source: Failure,
        /// What could not be removed again.
        left: Vec<String>,
    },
    /// A permission is missing.
    #[error("you may not make the change{}", also(left))]
    #[diagnostic(
        code("changes.permission"),
        help("no file was changed; make the folder that is named writable for your user, then apply again")
    )]
    Permission {
        /// What failed.
        source: Failure,
        /// What could not be removed again.
        left: Vec<String>,
    },
    /// The caller stopped it.
    #[error("the apply was stopped{}", also(left))]
    #[diagnostic(code("changes.stopped"), help("no file was changed; apply again when you want it"))]
    Stopped {
        /// Before what.
        source: Failure,
        /// What could not be removed again.
        left: Vec<String>,
    },
    /// Something else that the system refused.
    #[error("the change could not be made{}", also(left))]
    #[diagnostic(code("changes.io"), help("no file was changed; remove the cause, then apply again"))]
    Io {
        /// What failed.
        source: Failure,
        /// What could not be removed again.
        left: Vec<String>,
    },
    /// The log could not be written before anything was replaced.
    #[error("cannot write down {what}{}", also(left))]
    #[diagnostic(
        code("changes.log"),
        help("no file was changed; see that the disk where Brain keeps its journal has room, then apply again")
    )]
    Log {
        /// What was to be written down.
        what: &'static str,
        /// The log's answer.
        source: io::Error,
        /// What could not be removed again.
        left: Vec<String>,
    },
    /// The change was made in part: it was decided, and then something failed. The log has it as unfinished.
    #[error("the change was begun and {} could not be made:{}", counted(failures.len(), "part of it"), listed(failures))]
    #[diagnostic(
        code("changes.unfinished"),
        help("remove the cause; the next start of Brain finishes the change. Nothing is lost: contents are kept")
    )]
    Unfinished {
        /// What failed.
        failures: Vec<Failure>,
    },
    /// All was done, and only that could not be written down.
    #[error("the tree is as it should be, but the end of the work could not be written down")]
    #[diagnostic(
        code("changes.not-ended"),
        help("see that the disk where Brain keeps its journal has room; the next start finds nothing left to do")
    )]
    NotEnded {
        /// How it ended.
        outcome: Outcome,
        /// The log's answer.
        source: io::Error,
    },
    /// What an earlier apply wrote down cannot be understood, so it was neither finished nor rolled back.
    #[error("an apply that was interrupted cannot be recovered: {what}")]
    #[diagnostic(
        code("changes.unrecovered"),
        help(
            "nothing was touched now; compare the tree with version control, and remove files named `.brain-apply-…`"
        )
    )]
    Unrecovered {
        /// Why.
        what: String,
        /// The content that is missing or damaged, if that is why.
        source: Option<ContentsError>,
    },
}

impl ApplyError {
    /// A failure before the commit, by what it means to the reader.
    pub(crate) fn before(source: Failure) -> Self {
        let left = Vec::new();
        match source.source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::DiskFull { source, left }
            }
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { source, left },
            io::ErrorKind::PermissionDenied => Self::Permission { source, left },
            io::ErrorKind::Interrupted => Self::Stopped { source, left },
            _ => Self::Io { source, left },
        }
    }

    /// The same, with what a roll-back could not remove.
    pub(crate) fn leaving(mut self, names: Vec<String>) -> Self {
        match &mut self {
            Self::Contents { left, .. }
            | Self::DiskFull { left, .. }
            | Self::ReadOnly { left, .. }
            | Self::Permission { left, .. }
            | Self::Stopped { left, .. }
            | Self::Io { left, .. }
            | Self::Log { left, .. }
            | Self::Conflict { left, .. } => *left = names,
            Self::Set(_)
            | Self::Root { .. }
            | Self::Unfinished { .. }
            | Self::NotEnded { .. }
            | Self::Unrecovered { .. } => {}
        }
        self
    }
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {}s", what.strip_suffix(" of it").unwrap_or(what)) }
}

fn listed<T: Listed>(items: &[T]) -> String {
    let mut out: String = items.iter().take(MAX_SHOWN).map(|item| format!("\n  {}", item.line())).collect();
    if let Some(more) = items.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        out.push_str(&format!("\n  and {more} more"));
    }
    out
}

trait Listed {
    fn line(&self) -> String;
}

impl Listed for Conflict {
    fn line(&self) -> String {
        self.to_string()
    }
}

impl Listed for Failure {
    fn line(&self) -> String {
        format!("{self}: {}", self.source)
    }
}

fn also(left: &[String]) -> String {
    if left.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = left.iter().take(MAX_SHOWN).map(|path| format!("`{}`", crate::set::shown(path))).collect();
    let more = left.len().saturating_sub(MAX_SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("; these could not be removed again: {}{more}", shown.join(", "))
}
