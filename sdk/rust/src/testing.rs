//! Runs a role's function natively, on folders of its own. Not part of a component.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::handoff::{Handoff, Roots};
use crate::outcome::Answer;
use crate::types::{
    CONTEXT, ContextRef, ContextRefKind, TaskProgress, TaskStatus, WORKSPACE, WorkerResult, strip_root,
};

/// A handoff for a test: what the role is to do, and what it sees.
///
/// The bench keeps `/workspace`, `/context` and `/artifacts` as temporary folders that are removed with it. Guest paths
/// are mapped for everything that goes through [`Handoff`] and [`Tree`](crate::Tree); code that gives a literal
/// `/workspace/…` to `std::fs` works in a component only. Globs, quotas and deadlines are the sandbox's, not the
/// bench's: `brain role run` shows those.
///
/// ```
/// use brain_role::testing::Bench;
/// use brain_role::{Handoff, Outcome, TaskStatus};
///
/// fn run(handoff: Handoff) -> std::io::Result<Outcome> {
///     let text = handoff.workspace().read_text("a.txt")?;
///     Ok(Outcome::completed(format!("{} lines", text.lines().count())))
/// }
///
/// let result = Bench::new().file("a.txt", "one\ntwo\n").run(run);
/// assert_eq!(result.summary, "2 lines");
///
/// let result = Bench::new().run(run);
/// assert_eq!(result.progress.status, TaskStatus::Failed);
/// ```
///
/// Its functions panic when a folder or file cannot be made, or a path leads out of its folder, as a test should.
#[derive(Debug)]
pub struct Bench {
    folder: TempDir,
    handoff: Handoff,
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

#[allow(clippy::panic)]
impl Bench {
    /// Empty folders, an empty goal, and ids `handoff-1`, `task-1` and `session-1`.
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("brain-role-").unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        let roots = Roots {
            workspace: folder.path().join("workspace"),
            context: folder.path().join("context"),
            artifacts: folder.path().join("artifacts"),
        };
        for root in [&roots.workspace, &roots.context, &roots.artifacts] {
            fs::create_dir(root).unwrap_or_else(|error| panic!("{}: {error}", root.display()));
        }
        let handoff = Handoff {
            id: "handoff-1".to_owned(),
            task_id: "task-1".to_owned(),
            parent_id: "session-1".to_owned(),
            role: "role-under-test".to_owned(),
            goal: String::new(),
            progress: TaskProgress::new(TaskStatus::Pending),
            refs: Vec::new(),
            constraints: Vec::new(),
            expected_result: String::new(),
            roots,
        };
        Self { folder, handoff }
    }

    /// Puts a file into the project; `path` is relative to `/workspace`.
    #[must_use]
    pub fn file(self, path: impl AsRef<str>, contents: impl AsRef<[u8]>) -> Self {
        if self.handoff.roots.workspace != self.folder.path().join("workspace") {
            panic!("file({:?}) would write into the folder given to workspace_dir", path.as_ref());
        }
        put(&self.handoff.roots.workspace, WORKSPACE, path.as_ref(), contents.as_ref());
        self
    }

    /// Shows an existing folder as the project. The role reads it in place; nothing is copied.
    #[must_use]
    pub fn workspace_dir(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        if !path.is_dir() {
            panic!("workspace_dir: {} is not a directory", path.display());
        }
        self.handoff.roots.workspace = path;
        self
    }

    /// Puts a file into the context and refers to it, as Brain does; `path` is relative to `/context`.
    #[must_use]
    pub fn context(mut self, path: impl AsRef<str>, contents: impl AsRef<[u8]>) -> Self {
        let path = path.as_ref();
        put(&self.handoff.roots.context, CONTEXT, path, contents.as_ref());
        let guest = crate::types::guest_path(CONTEXT, path);
        let kind = if strip_root(&guest, "/context/threads").is_some() {
            ContextRefKind::Thread
        } else if guest.ends_with(".diff") {
            ContextRefKind::Artifact
        } else {
            ContextRefKind::Summary
        };
        self.handoff.refs.push(ContextRef::new(kind, guest));
        self
    }

    /// Puts the result of another role into the context, for [`Handoff::prior_results`].
    #[must_use]
    pub fn prior_result(self, role: &str, result: &WorkerResult) -> Self {
        let json = serde_json::to_vec_pretty(result).unwrap_or_else(|error| panic!("the result of {role}: {error}"));
        self.context(format!("results/{role}.json"), json)
    }

    /// Sets the goal.
    #[must_use]
    pub fn goal(mut self, goal: impl Into<String>) -> Self {
        self.handoff.goal = goal.into();
        self
    }

    /// Sets the name under which the role is called.
    #[must_use]
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.handoff.role = role.into();
        self
    }

    /// Adds a constraint.
    #[must_use]
    pub fn constraint(mut self, constraint: impl Into<String>) -> Self {
        self.handoff.constraints.push(constraint.into());
        self
    }

    /// Says what the result should look like.
    #[must_use]
    pub fn expected_result(mut self, expected: impl Into<String>) -> Self {
        self.handoff.expected_result = expected.into();
        self
    }

    /// Refers to a file of the project; `path` is relative to `/workspace`. The file need not exist.
    #[must_use]
    pub fn ref_file(self, path: impl AsRef<str>) -> Self {
        self.reference(ContextRef::file(path))
    }

    /// Adds any reference.
    #[must_use]
    pub fn reference(mut self, reference: ContextRef) -> Self {
        self.handoff.refs.push(reference);
        self
    }

    /// The handoff that [`run`](Self::run) gives to the role.
    pub fn handoff(&self) -> Handoff {
        self.handoff.clone()
    }

    /// Runs the role's function and returns what Brain would get before its own repairs. A panic of the role is a panic
    /// of the test; in a component it is a trap.
    pub fn run<A: Answer>(&self, run: impl FnOnce(Handoff) -> A) -> WorkerResult {
        run(self.handoff()).answer(&self.handoff)
    }

    /// What the role left in `/artifacts` under this relative path; `None` when it left nothing there.
    pub fn artifact(&self, path: &str) -> Option<Vec<u8>> {
        self.handoff.artifacts().read(path).ok()
    }
}

#[allow(clippy::panic)]
fn put(root: &Path, guest: &'static str, path: &str, contents: &[u8]) {
    crate::Tree::new(guest, root.to_owned())
        .write(path, contents)
        .unwrap_or_else(|error| panic!("the bench cannot write {path:?}: {error}"));
}
