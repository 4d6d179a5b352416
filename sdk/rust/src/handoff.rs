//! The task that Brain hands over.

use std::io;
use std::path::{Path, PathBuf};

use crate::tree::Tree;
use crate::types::{
    ARTIFACTS, CONTEXT, ContextRef, ContextRefKind, TaskProgress, TaskStatus, WORKSPACE, WorkerResult, strip_root,
};

/// Most results of other roles that [`Handoff::prior_results`] reads.
pub const MAX_PRIOR_RESULTS: usize = 256;

/// One task, with all that the role may know about it.
///
/// Brain sets every field; a role reads them. The three folders hold everything else that is granted.
#[derive(Clone, Debug, PartialEq)]
pub struct Handoff {
    pub(crate) id: String,
    pub(crate) task_id: String,
    pub(crate) parent_id: String,
    pub(crate) role: String,
    pub(crate) goal: String,
    pub(crate) progress: TaskProgress,
    pub(crate) refs: Vec<ContextRef>,
    pub(crate) constraints: Vec<String>,
    pub(crate) expected_result: String,
    /// What stands before a guest path: nothing in a component, the bench's folder in a test.
    pub(crate) roots: Roots,
}

/// Where the three folders are for `std::fs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roots {
    pub(crate) workspace: PathBuf,
    pub(crate) context: PathBuf,
    pub(crate) artifacts: PathBuf,
}

impl Roots {
    /// The guest paths themselves, as a component sees them.
    pub(crate) fn guest() -> Self {
        Self {
            workspace: PathBuf::from(WORKSPACE),
            context: PathBuf::from(CONTEXT),
            artifacts: PathBuf::from(ARTIFACTS),
        }
    }
}

impl Handoff {
    /// The same ids with nothing else, so that a large packet is not held twice.
    pub(crate) fn ids_only(&self) -> Self {
        Self {
            id: self.id.clone(),
            task_id: self.task_id.clone(),
            parent_id: self.parent_id.clone(),
            role: self.role.clone(),
            goal: String::new(),
            progress: TaskProgress::new(TaskStatus::Pending),
            refs: Vec::new(),
            constraints: Vec::new(),
            expected_result: String::new(),
            roots: self.roots.clone(),
        }
    }

    /// The handoff's own id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The id of the role's task.
    pub fn task_id(&self) -> &str {
        &self.task_id
    }

    /// The id of the Brain task, which is the session.
    pub fn parent_id(&self) -> &str {
        &self.parent_id
    }

    /// The name under which the role was called.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// What to achieve, in the user's or the router's words.
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// How far Brain considers the task to be; usually `Pending`.
    pub fn progress(&self) -> &TaskProgress {
        &self.progress
    }

    /// Hard rules for this task.
    pub fn constraints(&self) -> &[String] {
        &self.constraints
    }

    /// What the result should look like, in words.
    pub fn expected_result(&self) -> &str {
        &self.expected_result
    }

    /// The context that Brain points at.
    pub fn refs(&self) -> &[ContextRef] {
        &self.refs
    }

    /// The references of one kind.
    pub fn refs_of(&self, kind: ContextRefKind) -> impl Iterator<Item = &ContextRef> {
        self.refs.iter().filter(move |reference| reference.kind == kind)
    }

    /// The project, through the globs that are granted. Read-only.
    pub fn workspace(&self) -> Tree {
        Tree::new(WORKSPACE, self.roots.workspace.clone())
    }

    /// What Brain wrote out for this handoff: `request.md`, `changes.diff`, `results/<role>.json` and the like, as far
    /// as it is granted. Read-only.
    pub fn context(&self) -> Tree {
        Tree::new(CONTEXT, self.roots.context.clone())
    }

    /// An empty folder. What is left there when the role returns becomes an `artifact` reference.
    pub fn artifacts(&self) -> Tree {
        Tree::new(ARTIFACTS, self.roots.artifacts.clone())
    }

    /// Reads what a reference points at, up to [`MAX_FILE_BYTES`](crate::MAX_FILE_BYTES).
    ///
    /// # Errors
    /// `InvalidInput` for a reference outside the three folders; otherwise as [`Tree::read`].
    pub fn read(&self, reference: &ContextRef) -> io::Result<Vec<u8>> {
        self.tree_of(reference)?.read(&reference.uri)
    }

    /// Reads what a reference points at as text.
    ///
    /// # Errors
    /// As [`read`](Self::read), and `InvalidData` for a file that is not UTF-8.
    pub fn read_text(&self, reference: &ContextRef) -> io::Result<String> {
        self.tree_of(reference)?.read_text(&reference.uri)
    }

    fn tree_of(&self, reference: &ContextRef) -> io::Result<Tree> {
        [self.workspace(), self.context(), self.artifacts()]
            .into_iter()
            .find(|tree| strip_root(&reference.uri, tree.guest_root()).is_some())
            .ok_or_else(|| {
                let message = format!("{:?} is not below {WORKSPACE}, {CONTEXT} or {ARTIFACTS}", reference.uri);
                io::Error::new(io::ErrorKind::InvalidInput, message)
            })
    }

    /// The results of the roles that ran before this one, from `/context/results`, sorted by role. Empty when none is
    /// granted. A result that cannot be read is in the list with its error.
    pub fn prior_results(&self) -> Vec<PriorResult> {
        let context = self.context();
        let mut names = Vec::new();
        let mut prior = Vec::new();
        let failed = |role: &str, error: io::Error| PriorResult { role: role.to_owned(), result: Err(error) };
        match std::fs::read_dir(context.path("results")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => prior.push(failed("", io::Error::new(error.kind(), format!("{CONTEXT}/results: {error}")))),
            Ok(entries) => {
                for entry in entries.take(MAX_PRIOR_RESULTS + 1) {
                    match entry {
                        Ok(entry) => names.push(entry.file_name().to_string_lossy().into_owned()),
                        Err(error) => {
                            prior.push(failed("", io::Error::new(error.kind(), format!("{CONTEXT}/results: {error}"))));
                            break;
                        }
                    }
                }
            }
        }
        if names.len() > MAX_PRIOR_RESULTS {
            names.truncate(MAX_PRIOR_RESULTS);
            let message = format!("{CONTEXT}/results: only {MAX_PRIOR_RESULTS} results are read");
            prior.push(failed("", io::Error::new(io::ErrorKind::FileTooLarge, message)));
        }
        names.sort();
        prior.extend(names.iter().filter_map(|name| {
            let role = Path::new(name).file_stem()?.to_str()?;
            if !name.ends_with(".json") {
                return None;
            }
            let uri = format!("results/{name}");
            let result = context.read(&uri).and_then(|bytes| {
                serde_json::from_slice(&bytes).map_err(|error| {
                    io::Error::new(io::ErrorKind::InvalidData, format!("{CONTEXT}/{uri}: not a result: {error}"))
                })
            });
            Some(PriorResult { role: role.to_owned(), result })
        }));
        prior
    }
}

/// The result of a role that ran before this one.
#[derive(Debug)]
pub struct PriorResult {
    /// The role's name; empty when the list itself could not be read to its end.
    pub role: String,
    /// What it returned, after Brain's repairs; or why it cannot be read.
    pub result: io::Result<WorkerResult>,
}
