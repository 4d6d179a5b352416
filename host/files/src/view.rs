//! The files of one call: its mounts, and every operation that a guest has on them.

use std::sync::{Arc, Mutex};

use crate::alias::Aliases;
use crate::code::{ErrorCode, Fault, FileResult};
use crate::denials::{Asked, Denial, Denials};
use crate::grants::{FileGrants, GrantError, open_context, open_root};
use crate::handle::{Folder, Handle, OpenFile, Opened, join};
use crate::limits::{FileLimit, FileLimits, Meter};
use crate::meta::Meta;
use crate::mount::{Mount, Stop};
use crate::mutate::ends_in_dot;
use crate::overlay::{Content, FileNode, Overlay};
use crate::quota::Quota;
use crate::recent::Recent;
use crate::scope::{FolderUse, GlobLayer, Hidden, RuleCache, Scope};
use crate::staging::Staging;
use crate::stat::Stat;
use crate::walk::{Entry, Found, FoundFile, FoundFolder, Refused, Stumble, Target, Why, refused};
use crate::{ARTIFACTS, CONTEXT, WORKSPACE};

/// The files of one call, opened.
pub struct FileView {
    pub(crate) mounts: Vec<Mount>,
    pub(crate) meter: Arc<Meter>,
    denials: Denials,
    pub(crate) artifacts: Option<std::path::PathBuf>,
    pub(crate) contents: Option<std::path::PathBuf>,
}

/// How a file is opened: the flags of `open-at`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// A link at the end of the path is followed.
    pub follow: bool,
    /// Make the file where there is none.
    pub create: bool,
    /// Fail unless it is made.
    pub exclusive: bool,
    /// Fail unless it is a folder.
    pub directory: bool,
    /// Cut the file to nothing.
    pub truncate: bool,
    /// It will be read.
    pub read: bool,
    /// It will be written.
    pub write: bool,
}

impl FileView {
    /// Opens the granted folders. `stop` is asked in the middle of long operations.
    ///
    /// # Errors
    /// A folder cannot be opened, or a glob cannot be used.
    pub fn open(grants: &FileGrants, limits: &FileLimits, rules: &RuleCache, stop: Stop) -> Result<Self, GrantError> {
        let meter = Arc::new(Meter::new(*limits));
        let staging = Arc::new(Staging::new(grants.staging.clone().unwrap_or_else(std::env::temp_dir)));
        let mut mounts = Vec::with_capacity(3);
        let mut mount = |guest, lower, scope, overlay| {
            let root = Folder { mount: mounts.len(), path: String::new(), lower };
            let stop = Arc::clone(&stop);
            mounts.push(Mount {
                guest,
                root,
                scope,
                overlay,
                aliases: Aliases::default(),
                near: Mutex::default(),
                recent: Recent::default(),
                stop,
            });
        };
        let overlay = |bytes, files, upper_only| {
            let quota = Arc::new(Quota::new(bytes, files, Arc::clone(&meter)));
            Overlay::new(quota, Arc::clone(&staging), upper_only)
        };
        if let Some(workspace) = &grants.workspace {
            let root = open_root(&workspace.root, WORKSPACE)?;
            let scope = workspace.scope(&root, rules)?;
            let bytes = (limits.staged_bytes, FileLimit::StagedBytes);
            let files = (limits.staged_files, FileLimit::StagedFiles);
            let overlay = (!workspace.write.is_empty()).then(|| overlay(bytes, files, false));
            if overlay.is_some() && grants.contents.is_none() {
                return Err(GrantError::NoContents);
            }
            mount(WORKSPACE, Some(root), scope, overlay);
        }
        if let Some(context) = &grants.context {
            mount(CONTEXT, Some(open_context(context)?), Scope::everything(), None);
        }
        if grants.artifacts.is_some() {
            let bytes = (limits.artifact_bytes, FileLimit::ArtifactBytes);
            let files = (limits.artifact_files, FileLimit::ArtifactFiles);
            mount(ARTIFACTS, None, Scope::everything_writable(), Some(overlay(bytes, files, true)));
        }
        Ok(Self {
            mounts,
            meter,
            denials: Denials::default(),
            artifacts: grants.artifacts.clone(),
            contents: grants.contents.clone(),
        })
    }

    /// The mounts: a handle of each, and its guest path.
    pub fn roots(&self) -> impl Iterator<Item = (Folder, &'static str)> {
        self.mounts.iter().map(|mount| (mount.root.clone(), mount.guest))
    }

    /// Counts of what was done.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The first denials, and how many more paths were denied than are listed.
    pub fn denials(&self) -> (Vec<Denial>, u64) {
        self.denials.list()
    }

    /// Read globs of the workspace by which no file was opened, by layer.
    pub fn unused_read(&self) -> Vec<GlobLayer> {
        self.mounts.iter().flat_map(|mount| mount.scope.unused_read()).collect()
    }

    /// Write globs of the workspace by which no file was opened to write, by layer.
    pub fn unused_write(&self) -> Vec<GlobLayer> {
        self.mounts.iter().flat_map(|mount| mount.scope.unused_write()).collect()
    }

    /// The folders of the workspace in which files were opened, and how many times.
    pub fn folders_used(&self) -> Vec<FolderUse> {
        let workspace = self.mounts.iter().filter(|mount| mount.guest == WORKSPACE);
        workspace.flat_map(|mount| mount.scope.folders_used()).collect()
    }

    /// The `.gitignore` files that could not be used, so that nothing of their folders is shown but what is tracked.
    pub fn unusable_ignores(&self) -> Vec<String> {
        self.mounts.iter().flat_map(|mount| mount.scope.unusable_ignores()).collect()
    }

    /// Whether names in this folder can be made, moved and removed.
    pub fn is_writable(&self, folder: &Folder) -> bool {
        self.mount(folder).overlay.is_some()
    }

    /// Opens a file or folder at `path` below `from`.
    ///
    /// # Errors
    /// The codes of `open-at`; `invalid` for a folder that is to be made or cut. What is not granted is `access`, whether or
    /// not it exists.
    pub fn open_at(&mut self, from: &Folder, path: &str, how: Open) -> FileResult<Handle> {
        if how.directory && (how.create || how.exclusive || how.truncate) {
            return Err(ErrorCode::Invalid.into());
        }
        let must_make = how.create && how.exclusive;
        let follow = how.follow && !must_make;
        let asked = Asked::to(how.write || how.truncate || how.create);
        let walked = self.mount(from).walk_to_open(from, path, follow);
        let target = self.or_denied(from.mount, asked, walked)?;
        let writes = how.write || how.truncate;
        let entry = match target {
            Target::Entry(entry) if !matches!(entry.found, Found::Folder(_)) => entry,
            folder => {
                if must_make {
                    return Err(ErrorCode::Exist.into());
                }
                if writes || how.create {
                    return Err(ErrorCode::IsDirectory.into());
                }
                let folder = self.mount(from).enter_target(folder);
                return self.or_denied(from.mount, Asked::Read, folder).map(Handle::Folder);
            }
        };
        let exists = !matches!(entry.found, Found::Nothing);
        if how.directory {
            return Err(if exists { ErrorCode::NotDirectory } else { ErrorCode::NoEntry }.into());
        }
        match &entry.found {
            Found::Link(_) if !must_make => return Err(ErrorCode::Loop.into()),
            // `name/.` asks for what is in a folder.
            Found::Nothing if !how.create || ends_in_dot(path) => return Err(ErrorCode::NoEntry.into()),
            Found::Nothing if entry.must_be_folder => return Err(ErrorCode::IsDirectory.into()),
            _ if exists && must_make => return Err(ErrorCode::Exist.into()),
            _ => {}
        }
        let to_write = writes || !exists;
        if to_write {
            self.check_writable(from.mount, &entry.path, false)?;
            self.check_mode(from.mount, &entry)?;
        }
        let readable = how.read || !how.write;
        let mount = self.mount_mut(from.mount);
        let behind = match &entry.found {
            Found::File(found) if !writes => mount.open_to_read(&entry, found)?,
            _ => {
                let (file, staged) = mount.stage(&entry, !how.truncate)?;
                Opened::staged(file, staged).behind()
            }
        };
        mount.scope.opened(&entry.path, to_write);
        self.meter.opened(to_write);
        Ok(Handle::File(OpenFile { behind, readable, writable: how.write, meter: Arc::clone(&self.meter) }))
    }

    /// What is known of an open file or folder.
    ///
    /// # Errors
    /// What the system says; `no-entry` for a folder that is gone.
    pub fn stat(&self, handle: &Handle) -> FileResult<Stat> {
        match handle {
            Handle::File(file) => Ok(file.stat()?),
            Handle::Folder(folder) => self.stat_folder(folder),
        }
    }

    /// What is known of the file, folder or link at `path` below `from`.
    ///
    /// # Errors
    /// The codes of `stat-at`. What is not granted is `access`, whether or not it exists.
    pub fn stat_at(&mut self, from: &Folder, path: &str, follow: bool) -> FileResult<Stat> {
        match self.walk(from, path, follow, Asked::Read)? {
            Target::Folder(folder) => self.stat_folder(&folder),
            Target::Entry(entry) => self.stat_entry(&entry),
        }
    }

    fn stat_folder(&self, folder: &Folder) -> FileResult<Stat> {
        let now = self.mount(folder).as_it_is_now(folder)?;
        match &now.lower {
            Some(lower) => Ok(Stat::of(&Meta::of(lower.dir()?)?)),
            None => Ok(Stat::of_upper_folder(now.mount, &now.path, None)),
        }
    }

    fn stat_entry(&self, entry: &Entry) -> FileResult<Stat> {
        match &entry.found {
            Found::Nothing => Err(ErrorCode::NoEntry.into()),
            Found::Folder(FoundFolder::Lower(meta)) | Found::File(FoundFile::Lower(meta)) | Found::Link(meta) => {
                Ok(Stat::of(meta))
            }
            Found::Folder(FoundFolder::Upper { made, .. }) => {
                Ok(Stat::of_upper_folder(entry.parent.mount, &entry.path, Some(*made)))
            }
            Found::File(FoundFile::Node(FileNode { content: Content::Staged(staged), .. })) => {
                Ok(Stat::of(&staged.meta()?).standing_for(staged.stands_for()))
            }
            Found::File(FoundFile::Node(FileNode { content: Content::Lower(path), .. })) => {
                let file = self.mount(&entry.parent).open_lower_path(path)?.file;
                Ok(Stat::of(&Meta::of(&file)?))
            }
        }
    }

    /// The target of the link at `path` below `from`, where it stays within what is granted.
    ///
    /// # Errors
    /// The codes of `readlink-at`; `access` for a target that is not granted.
    pub fn read_link_at(&mut self, from: &Folder, path: &str) -> FileResult<String> {
        let Target::Entry(entry) = self.walk(from, path, false, Asked::Read)? else {
            return Err(ErrorCode::Invalid.into());
        };
        match &entry.found {
            Found::Nothing => return Err(ErrorCode::NoEntry.into()),
            Found::Link(_) => {}
            _ => return Err(ErrorCode::Invalid.into()),
        }
        // A target that leads out of what is granted would tell the guest about the host. It is read once, and what is judged
        // is what is told: the link may be another one by now.
        let mount = self.mount(from);
        let told = crate::walk::read_link(&entry.parent, &entry.name).and_then(|target| {
            if !stays_below(&entry.parent.path, &target) {
                return Err(refused(entry.path.as_str(), Why::Outside));
            }
            let target = target.into_os_string().into_string().map_err(|_| ErrorCode::IllegalByteSequence)?;
            match mount.walk(&mount.root, &join(&entry.parent.path, &target), true) {
                // Where the walk does not get to the end, there is nothing to tell of what is there.
                Ok(_) | Err(Stumble::Fault(Fault::Code(_))) => Ok(target),
                Err(stumble) => Err(stumble),
            }
        });
        self.or_denied(from.mount, Asked::Read, told)
    }

    pub(crate) fn mount(&self, folder: &Folder) -> &Mount {
        // Handles are made by this view alone, from indices of this vector, which never changes.
        &self.mounts[folder.mount]
    }

    pub(crate) fn mount_mut(&mut self, mount: usize) -> &mut Mount {
        &mut self.mounts[mount]
    }

    /// Walks a path from a folder, recording a refusal.
    pub(crate) fn walk(&mut self, from: &Folder, path: &str, follow: bool, asked: Asked) -> FileResult<Target> {
        let walked = self.mount(from).walk(from, path, follow);
        self.or_denied(from.mount, asked, walked)
    }

    /// Whether the guest may create, change or remove something, recording a refusal.
    pub(crate) fn check_writable(&mut self, mount: usize, path: &str, is_folder: bool) -> FileResult<()> {
        let Mount { scope, overlay, .. } = &self.mounts[mount];
        let verdict = if is_folder { scope.writable_folder(path) } else { scope.writable_file(path) };
        let Err(hidden) = verdict else { return Ok(()) };
        // Where nothing at all may be written, the whole mount is read-only.
        let code = if overlay.is_none() { ErrorCode::ReadOnly } else { ErrorCode::Access };
        self.record(mount, Asked::Write, Refused { path: path.to_owned(), why: Why::Hidden(hidden) });
        Err(code.into())
    }

    pub(crate) fn or_denied<T>(&mut self, mount: usize, asked: Asked, result: Result<T, Stumble>) -> FileResult<T> {
        result.map_err(|stumble| self.denied(mount, asked, stumble))
    }

    pub(crate) fn denied(&mut self, mount: usize, asked: Asked, stumble: Stumble) -> Fault {
        match stumble {
            Stumble::Fault(fault) => fault,
            Stumble::Refused(refused) => {
                self.record(mount, asked, refused);
                ErrorCode::Access.into()
            }
        }
    }

    fn record(&mut self, mount: usize, asked: Asked, refused: Refused) {
        // Of the context and the artifacts, nothing is granted or not: there is nothing to teach.
        let guest = self.mounts[mount].guest;
        if guest == CONTEXT && matches!(refused.why, Why::Hidden(Hidden::NotWritable { .. })) {
            return;
        }
        self.denials.record(guest, asked, refused);
    }
}

/// Whether a link in `folder` with this target, taken as it is written, leads to somewhere below the mount.
fn stays_below(folder: &str, target: &std::path::Path) -> bool {
    use std::path::Component;
    let depth = folder.split('/').filter(|name| !name.is_empty()).count();
    let end = target.components().try_fold(depth, |depth, name| match name {
        Component::CurDir => Some(depth),
        Component::ParentDir => depth.checked_sub(1),
        Component::Normal(_) => depth.checked_add(1),
        Component::RootDir | Component::Prefix(_) => None,
    });
    end.is_some()
}
