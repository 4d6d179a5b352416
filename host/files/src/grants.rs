//! What a call is granted of the file system.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ignores::Ignores;
use crate::lower::Lower;
use crate::scope::{DEFAULT_DENY, GlobError, GlobLayer, RuleCache, Scope};
use crate::{CONTEXT, WORKSPACE};

/// The files of one call. What is none does not exist for the role.
#[derive(Clone, Debug, Default)]
pub struct FileGrants {
    /// The project.
    pub workspace: Option<WorkspaceGrant>,
    /// A host folder that is shown whole and read-only at [`CONTEXT`].
    pub context: Option<PathBuf>,
    /// An empty host folder for what the role leaves at [`crate::ARTIFACTS`]. It is filled when the call has ended, however
    /// it ended.
    pub artifacts: Option<PathBuf>,
    /// The host folder below which the bytes are kept that the role writes, until the call has ended. None is the system's
    /// folder for temporary files.
    pub staging: Option<PathBuf>,
    /// The host folder for the contents of what the role proposes to change, by digest. Needed where the workspace has
    /// write globs; it is made where it does not exist.
    pub contents: Option<PathBuf>,
}

/// The part of a project that a role may read, and the part that it may propose changes of.
#[derive(Clone, Debug)]
pub struct WorkspaceGrant {
    /// The project's folder on the host. It never reaches the guest, and is never written.
    pub root: PathBuf,
    /// Read globs; a path is visible only if every layer matches it.
    pub read: Vec<GlobLayer>,
    /// Write globs; a path is writable, and visible too, only if there are layers and every one matches it. What is written
    /// goes to an overlay.
    pub write: Vec<GlobLayer>,
    /// Globs that hide a path whatever grants it; see [`crate::DEFAULT_DENY`].
    pub deny: Vec<String>,
    /// Whether what `.gitignore` files exclude is hidden too.
    pub honour_gitignore: bool,
    /// Files that are tracked, relative to the root, and so not hidden by a `.gitignore`. Deny globs hide them all the same.
    pub tracked: Arc<BTreeSet<String>>,
}

/// Which files of a project a grant shows, for a host that hands content of them over by another way.
pub struct Visibility(Scope);

impl WorkspaceGrant {
    /// A grant of `root` with the default deny globs, `.gitignore` honoured, and nothing tracked.
    pub fn new(root: impl Into<PathBuf>, read: Vec<GlobLayer>, write: Vec<GlobLayer>) -> Self {
        let deny = DEFAULT_DENY.iter().map(|glob| (*glob).to_owned()).collect();
        Self { root: root.into(), read, write, deny, honour_gitignore: true, tracked: Arc::default() }
    }

    /// Which files this grant shows.
    ///
    /// # Errors
    /// The root cannot be opened, or a glob cannot be used.
    pub fn visibility(&self) -> Result<Visibility, GrantError> {
        Ok(Visibility(self.scope(&open_root(&self.root, WORKSPACE)?, &RuleCache::default())?))
    }

    pub(crate) fn scope(&self, root: &Arc<Lower>, rules: &RuleCache) -> Result<Scope, GlobError> {
        let ignores = self.honour_gitignore.then(|| Ignores::new(Arc::clone(root), Arc::clone(&self.tracked)));
        Scope::new(rules, &self.read, &self.write, &self.deny, ignores)
    }
}

impl Visibility {
    /// Whether the file at `path`, relative to the project, exists for the role. It need not exist on the host.
    pub fn shows(&self, path: &str) -> bool {
        self.0.file(path).is_ok()
    }

    /// Whether the role may propose to create, change or remove the file at `path`.
    pub fn lets_write(&self, path: &str) -> bool {
        self.0.writable_file(path).is_ok()
    }
}

/// A grant that cannot be turned into a view.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum GrantError {
    /// A host folder of the grant cannot be opened.
    #[error("the folder {} for {guest} cannot be opened: {source}", path.display())]
    #[diagnostic(code("sandbox.grant.folder"), help("check that the folder exists and that you may read it"))]
    Folder {
        /// The host folder.
        path: PathBuf,
        /// The guest path that it was meant for.
        guest: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// There are write globs, and no place for what the role proposes.
    #[error("the grant lets the role write, and names no folder for the contents of what it proposes")]
    #[diagnostic(code("sandbox.grant.contents"), help("name one in `FileGrants::contents`, or grant no write globs"))]
    NoContents,
    /// A glob of the grant cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Glob(#[from] GlobError),
}

pub(crate) fn open_root(path: &Path, guest: &'static str) -> Result<Arc<Lower>, GrantError> {
    let folder = |source| GrantError::Folder { path: path.to_owned(), guest, source };
    Lower::root(path).map_err(folder)
}

pub(crate) fn open_context(path: &Path) -> Result<Arc<Lower>, GrantError> {
    open_root(path, CONTEXT)
}
