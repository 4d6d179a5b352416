//! What roles proposed to change, kept with the session until somebody applies it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use brain_changes::{ChangeSet, Contents, MAX_SET_BYTES, SetError, Stats};
use brain_journal::{JournalError, ProposalState, ProposalStory, SessionPaths, SessionStory, find, list};
use brain_manifest::plain_file;
use brain_packet::{Digest, RoleName, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifacts::{private_folder, replace_private};

/// The word that stands for the newest session of the project.
pub const LAST: &str = "last";

/// What a role proposes to change, in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposedChanges {
    /// Digest of the change set.
    pub digest: Digest,
    /// Files that it changes.
    pub files: u64,
    /// Lines that it adds to text files.
    pub added_lines: u64,
    /// Lines that it takes away from text files.
    pub removed_lines: u64,
    /// Folders that it makes or removes.
    pub folders: u64,
}

impl ProposedChanges {
    /// The figures of a set.
    pub(crate) fn of(set: &ChangeSet) -> Self {
        let Stats { files, added_lines, removed_lines, folders, .. } = set.stats();
        Self { digest: set.digest(), files, added_lines, removed_lines, folders }
    }
}

/// One role's proposal in a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The session.
    pub session: SessionId,
    /// The role.
    pub role: RoleName,
    /// The project that the session ran in, as its journal has it.
    pub project: Option<PathBuf>,
    /// The figures, and what became of it.
    pub story: ProposalStory,
    pub(crate) paths: SessionPaths,
}

/// A proposal, with all that it would change: what `brain diff --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownProposal {
    /// The session.
    pub session_id: SessionId,
    /// The role.
    pub role: RoleName,
    /// What became of it.
    pub state: ProposalState,
    /// The figures.
    pub proposed: ProposedChanges,
    /// The change set.
    pub change_set: ChangeSet,
}

/// A proposal that cannot be found or used.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ProposalError {
    /// There is no session in this project yet.
    #[error("no session ran in {}", project.display())]
    #[diagnostic(code("changes.no-session"), help("name one: `brain sessions list` shows them"))]
    NoSession {
        /// The project.
        project: PathBuf,
    },
    /// No role of the session proposed a change.
    #[error("no role of session {session} proposed a change")]
    #[diagnostic(
        code("changes.none"),
        help(
            "a role proposes changes when its manifest asks for `write` globs and you grant them; `brain sessions show {session}` tells what the session did"
        )
    )]
    None {
        /// The session.
        session: SessionId,
    },
    /// The named role did not propose one.
    #[error("`{role}` proposed no change in session {session}; these did: {}", roles.join(", "))]
    #[diagnostic(code("changes.not-that-role"), help("name one of these, or none if there is one alone"))]
    NotThatRole {
        /// The session.
        session: SessionId,
        /// What was named.
        role: String,
        /// The roles that proposed.
        roles: Vec<String>,
    },
    /// Several changes were proposed, and what was named leaves open which is meant.
    #[error("{} changes are proposed in session {session}:{}", listed.len(), listed.iter().map(|line| format!("\n  {line}")).collect::<String>())]
    #[diagnostic(code("changes.which-role"), help("name one of them after the session, as it stands before the colon"))]
    WhichRole {
        /// The session.
        session: SessionId,
        /// One line for each.
        listed: Vec<String>,
    },
    /// The file of the change set is not there or cannot be read.
    #[error("the change set of `{role}` in session {session} cannot be read: {}", path.display())]
    #[diagnostic(
        code("changes.unreadable"),
        help("the session's folder was removed or is not yours to read: let the role make its proposal again")
    )]
    Unreadable {
        /// The session.
        session: SessionId,
        /// The role.
        role: RoleName,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file of the change set is not what was proposed.
    #[error("{} is not what `{role}` proposed in session {session}", path.display())]
    #[diagnostic(
        code("changes.damaged"),
        help("the file was changed since, and nothing of it is used: let the role make its proposal again")
    )]
    Damaged {
        /// The session.
        session: SessionId,
        /// The role.
        role: RoleName,
        /// The file.
        path: PathBuf,
        /// The rule that it breaks; none when it is another sound set than the one that the journal tells of.
        source: Option<SetError>,
    },
    /// The journal cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Journal(#[from] JournalError),
}

impl ProposalError {
    /// Whether the command was called wrongly, rather than something having failed.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::NoSession { .. } | Self::None { .. } | Self::NotThatRole { .. } | Self::WhichRole { .. } => true,
            Self::Journal(error) => matches!(
                error,
                JournalError::NotFound { .. } | JournalError::Ambiguous { .. } | JournalError::BadReference { .. }
            ),
            Self::Unreadable { .. } | Self::Damaged { .. } => false,
        }
    }
}

/// The session that a word means: an id, the beginning of one, or [`LAST`] for the newest of `project`.
///
/// # Errors
/// As [`find`], and there is none.
pub fn session(home: &Path, word: &str, project: &Path) -> Result<SessionId, ProposalError> {
    if word != LAST {
        return Ok(find(home, word)?);
    }
    let newest = list(home, 1, Some(project))?.sessions.into_iter().next();
    newest.map(|session| session.session_id).ok_or_else(|| ProposalError::NoSession { project: project.to_owned() })
}

/// The proposals of a session, in the order in which its roles worked.
///
/// # Errors
/// The journal cannot be read.
pub fn proposals(home: &Path, session: &SessionId) -> Result<Vec<Proposal>, ProposalError> {
    let paths = SessionPaths::new(home, session)?;
    let story = SessionStory::read(home, session)?;
    let mut found: Vec<Proposal> = Vec::new();
    for run in story.runs {
        let project = run.project_root.map(PathBuf::from);
        for worker in run.workers {
            let Some(story) = worker.proposal else { continue };
            // The same change, proposed twice, is one; what became of it is told of the latest.
            found.retain(|known| known.role != worker.role || known.story.digest != story.digest);
            found.push(Proposal {
                session: session.clone(),
                role: worker.role,
                project: project.clone(),
                story,
                paths: paths.clone(),
            });
        }
    }
    Ok(found)
}

/// The one proposal of a session, or that of the role that is named; of a role that made several, its name is followed by `@`
/// and the beginning of the digest of one.
///
/// # Errors
/// There is none, or there are several and none of them alone is named.
pub fn proposal(home: &Path, session: &SessionId, role: Option<&str>) -> Result<Proposal, ProposalError> {
    let mut found = proposals(home, session)?;
    let session = session.clone();
    if found.is_empty() {
        return Err(ProposalError::None { session });
    }
    let names: Vec<String> = found.iter().map(|proposal| name(&found, proposal)).collect();
    let (wanted, digest) = match role.map(|role| role.split_once('@').unwrap_or((role, ""))) {
        Some((role, digest)) => (Some(role), digest),
        None => (None, ""),
    };
    let is_meant = |proposal: &Proposal| {
        wanted.is_none_or(|role| proposal.role.as_str() == role) && proposal.story.digest.as_str().starts_with(digest)
    };
    let meant: Vec<usize> = (0..found.len()).filter(|at| found.get(*at).is_some_and(is_meant)).collect();
    match (meant.as_slice(), role) {
        ([one], _) => Ok(found.swap_remove(*one)),
        ([], Some(role)) => {
            Err(ProposalError::NotThatRole { session, role: brain_packet::terminal_line(role).into(), roles: names })
        }
        (several, _) => {
            let lines = several.iter().filter_map(|at| Some(found.get(*at)?.line(names.get(*at)?)));
            Err(ProposalError::WhichRole { session, listed: lines.collect() })
        }
    }
}

/// What names a proposal within its session: its role, and its digest where the role made several.
fn name(all: &[Proposal], proposal: &Proposal) -> String {
    let of_role = all.iter().filter(|other| other.role == proposal.role).count();
    if of_role == 1 {
        proposal.role.to_string()
    } else {
        format!("{}@{}", proposal.role, proposal.story.digest.short())
    }
}

impl Proposal {
    fn line(&self, name: &str) -> String {
        let story = &self.story;
        format!("{name}: {} ({})", figures(story.files, story.added_lines, story.removed_lines), story.state)
    }

    /// What names it within its session, whatever else was proposed there.
    #[must_use]
    pub fn exact_name(&self) -> String {
        format!("{}@{}", self.role, self.story.digest.as_str())
    }

    /// The change set, as it was proposed.
    ///
    /// # Errors
    /// Its file cannot be read, or is not what the journal says that was proposed.
    pub fn change_set(&self) -> Result<ChangeSet, ProposalError> {
        let path = self.paths.change_set(&self.role, &self.story.digest);
        let (session, role) = (self.session.clone(), self.role.clone());
        let json = match read(&path) {
            Ok(json) => json,
            Err(source) => return Err(ProposalError::Unreadable { session, role, path, source }),
        };
        match ChangeSet::from_json(&json) {
            Ok(set) if set.digest() == self.story.digest => Ok(set),
            Ok(_) => Err(ProposalError::Damaged { session, role, path, source: None }),
            Err(error) => Err(ProposalError::Damaged { session, role, path, source: Some(error) }),
        }
    }

    /// The proposal with its change set.
    ///
    /// # Errors
    /// As [`Proposal::change_set`].
    pub fn shown(&self) -> Result<ShownProposal, ProposalError> {
        let change_set = self.change_set()?;
        Ok(ShownProposal {
            session_id: self.session.clone(),
            role: self.role.clone(),
            state: self.story.state,
            proposed: ProposedChanges::of(&change_set),
            change_set,
        })
    }
}

/// `3 files changed, 12 lines added, 4 removed`.
#[must_use]
pub fn figures(files: u64, added: u64, removed: u64) -> String {
    let of = |n: u64, thing: &str| if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") };
    format!("{} changed, {} added, {removed} removed", of(files, "file"), of(added, "line"))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut json = Vec::new();
    // One byte more tells that there is too much.
    plain_file::open(path)?.take(MAX_SET_BYTES + 1).read_to_end(&mut json)?;
    Ok(json)
}

/// Keeps a proposal with its session: the contents of its files, and then the set that names them, each on the disk before
/// this returns.
pub(crate) fn keep(paths: &SessionPaths, role: &RoleName, set: &ChangeSet, contents: &Contents) -> io::Result<()> {
    let new = set.changes.iter().filter_map(|change| change.new.as_ref());
    contents.sync(new).map_err(io::Error::other)?;
    let path = paths.change_set(role, &set.digest());
    if let Some(folder) = path.parent() {
        private_folder(folder.to_owned())?;
        replace_private(&path, &set.to_json())?;
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
