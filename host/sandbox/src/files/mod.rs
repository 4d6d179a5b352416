//! What a role sees of the file system: `wasi:filesystem` over directory handles, scoped by grants.
//!
//! A [`FileView`] is a set of mounts. Each has a guest path, a directory handle, a [`scope::Scope`] of the names that
//! exist for the role, and, where the role may write, a [`quota::Quota`]. Nothing outside this module opens a file for a
//! guest, and nothing inside it knows what a role is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::limits::Limits;

pub(crate) mod bindings;
mod denials;
mod descriptor;
mod error;
mod host;
mod ignores;
mod quota;
mod resolve;
pub(crate) mod scope;
mod streams;

pub use denials::Denial;
pub use descriptor::{Descriptor, EntryStream};
pub(crate) use host::{FileHost, HasFiles};
pub use scope::{DEFAULT_DENY, GlobError, GlobLayer};

use denials::Denials;
use ignores::Ignores;
use quota::Quota;
use resolve::{Folder, Refused};
pub(crate) use scope::RuleCache;
use scope::Scope;
pub(crate) use streams::Counters;

/// Guest path of the project.
pub const WORKSPACE: &str = "/workspace";
/// Guest path of the handoff's context files.
pub const CONTEXT: &str = "/context";
/// Guest path of the folder that a role leaves artifacts in.
pub const ARTIFACTS: &str = "/artifacts";

/// The files of one call. What is none does not exist for the role.
#[derive(Clone, Debug, Default)]
pub struct FileGrants {
    /// The project.
    pub workspace: Option<WorkspaceGrant>,
    /// A host folder that is shown whole and read-only at [`CONTEXT`].
    pub context: Option<PathBuf>,
    /// An empty host folder that the role may fill at [`ARTIFACTS`], under the quota of the call's [`Limits`].
    pub artifacts: Option<PathBuf>,
}

/// The part of a project that a role may read.
#[derive(Clone, Debug)]
pub struct WorkspaceGrant {
    /// The project's folder on the host. It never reaches the guest.
    pub root: PathBuf,
    /// Read globs; a path is visible only if every layer matches it.
    pub read: Vec<GlobLayer>,
    /// Globs that hide a path whatever grants it; see [`DEFAULT_DENY`].
    pub deny: Vec<String>,
    /// Whether what `.gitignore` files exclude is hidden too.
    pub honour_gitignore: bool,
    /// Files that are tracked, relative to the root, and so not hidden by a `.gitignore`. Deny globs hide them all the same.
    pub tracked: Arc<BTreeSet<String>>,
}

/// Which files of a project a grant shows, for a host that hands content of them over by another way.
pub struct Visibility(Scope);

impl WorkspaceGrant {
    /// Which files this grant shows.
    ///
    /// # Errors
    /// The root cannot be opened, or a glob cannot be used.
    pub fn visibility(&self) -> Result<Visibility, GrantError> {
        Ok(Visibility(self.scope(&open_root(&self.root, WORKSPACE)?, &RuleCache::default())?))
    }

    fn scope(&self, root: &Folder, rules: &RuleCache) -> Result<Scope, GlobError> {
        let ignores = self.honour_gitignore.then(|| Ignores::new(Arc::clone(&root.dir), Arc::clone(&self.tracked)));
        Scope::new(rules, &self.read, &self.deny, ignores)
    }
}

impl Visibility {
    /// Whether the file at `path`, relative to the project, exists for the role. It need not exist on the host.
    pub fn shows(&self, path: &str) -> bool {
        self.0.file(path).is_ok()
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
    /// A glob of the grant cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Glob(#[from] GlobError),
}

/// One folder of the host as a guest sees it.
pub(crate) struct Mount {
    guest: &'static str,
    root: Folder,
    scope: Scope,
    /// Set where the guest may write.
    quota: Option<Arc<Quota>>,
}

/// The files of one call, opened.
pub(crate) struct FileView {
    mounts: Vec<Mount>,
    counters: Arc<Counters>,
    denials: Denials,
}

impl FileView {
    /// Opens the granted folders.
    pub(crate) fn open(grants: &FileGrants, limits: &Limits, rules: &RuleCache) -> Result<Self, GrantError> {
        let mut mounts = Vec::with_capacity(3);
        if let Some(workspace) = &grants.workspace {
            let root = open_root(&workspace.root, WORKSPACE)?;
            let scope = workspace.scope(&root, rules)?;
            mounts.push(Mount { guest: WORKSPACE, root, scope, quota: None });
        }
        if let Some(context) = &grants.context {
            let root = open_root(context, CONTEXT)?;
            mounts.push(Mount { guest: CONTEXT, root, scope: Scope::everything(), quota: None });
        }
        if let Some(artifacts) = &grants.artifacts {
            let root = open_root(artifacts, ARTIFACTS)?;
            let quota = Some(Arc::new(Quota::new(limits.artifact_bytes, limits.artifact_files)));
            mounts.push(Mount { guest: ARTIFACTS, root, scope: Scope::everything(), quota });
        }
        Ok(Self { mounts, counters: Arc::default(), denials: Denials::default() })
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The first denials, and how many more paths were denied than are listed.
    pub(crate) fn denials(&self) -> (Vec<Denial>, u64) {
        self.denials.list()
    }

    /// Globs of the workspace by which no file was opened, by layer.
    pub(crate) fn unused_grants(&self) -> Vec<GlobLayer> {
        self.mounts.iter().flat_map(|mount| mount.scope.unused()).collect()
    }

    /// The `.gitignore` files that could not be used, so that nothing of their folders is shown but what is tracked.
    pub(crate) fn unusable_ignores(&self) -> Vec<String> {
        self.mounts.iter().flat_map(|mount| mount.scope.unusable_ignores()).collect()
    }

    /// Quota refusals of the artifact folder: a count, and the limit that was hit first.
    pub(crate) fn quota_refusals(&self) -> u64 {
        self.mounts.iter().filter_map(|m| m.quota.as_ref()).map(|q| q.refusals()).sum()
    }

    fn mount(&self, index: usize) -> &Mount {
        // Descriptors are made by this view alone, from indices of this vector, which never changes.
        &self.mounts[index]
    }

    fn deny(&mut self, mount: usize, refused: Refused) {
        let guest = self.mount(mount).guest;
        self.denials.record(guest, refused);
    }
}

fn open_root(path: &Path, guest: &'static str) -> Result<Folder, GrantError> {
    let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(|source| GrantError::Folder {
        path: path.to_owned(),
        guest,
        source,
    })?;
    Ok(Folder { dir: Arc::new(dir), path: String::new() })
}
