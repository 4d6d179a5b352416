//! Copying a working tree: what git would not ignore, file by file.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ignore::WalkBuilder;

use super::link::stays_inside;
use super::{Made, ScratchLimits, depend};
use crate::error::ScratchError;
use crate::read::open_itself;

/// Bytes between two looks at the clock and at whether to stop.
const PIECE_BYTES: u64 = 8 << 20;
/// Permission bits, which are kept. Others, such as set-user-id, are not.
const MODE_BITS: u32 = 0o777;
/// What marks a folder as a cache (<https://bford.info/cachedir/>).
const CACHE_TAG: &str = "CACHEDIR.TAG";
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Copies what belongs into a scratch checkout of `project` to the empty folder `tree`. `cache` is left out should it be in the project.
pub(super) fn copy(
    project: &Path,
    tree: &Path,
    cache: &Path,
    also: &BTreeSet<String>,
    folders: &BTreeSet<String>,
    limits: &ScratchLimits,
    stop: &dyn Fn() -> bool,
) -> Result<Made, ScratchError> {
    let mut copier = Copier {
        project: project.to_owned(),
        tree: tree.to_owned(),
        limits,
        stop,
        until: Instant::now() + limits.time,
        reflink: true,
        made: Made::default(),
        modes: Vec::new(),
    };
    if project.join(".git").exists() {
        copier.made.note("the copy is no git repository, so a check that asks git fails".to_owned());
    }
    let mut walked = vec![PathBuf::new()];
    let caches = Arc::new(Mutex::new(Vec::new()));
    for entry in walk(project, cache, also, &caches).build() {
        copier.look_up()?;
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                copier.made.note(format!("not in the copy, since it cannot be read: {error}"));
                continue;
            }
        };
        let Ok(within) = entry.path().strip_prefix(project) else { continue };
        if within.as_os_str().is_empty() {
            continue;
        }
        if let Some(error) = entry.error() {
            copier.made.note(format!("a rule on what git ignores cannot be used: {error}"));
        }
        copier.entry(within)?;
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            walked.push(within.to_owned());
        }
    }
    for within in caches.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        copier.made.note(format!("`{}` is not in the copy: it is marked as a cache", within.display()));
    }
    for path in also {
        copier.with_parents(Path::new(path))?;
    }
    for folder in folders {
        copier.with_parents(Path::new(folder))?;
    }
    for folder in walked {
        copier.look_up()?;
        copier.link_dependencies(&folder)?;
    }
    copier.set_modes();
    Ok(copier.made)
}

/// The entries that git would not ignore. The rules are those of git, and no other tool's. `caches` are those that git would
/// not ignore, and that are left out all the same.
fn walk(project: &Path, cache: &Path, also: &BTreeSet<String>, caches: &Arc<Mutex<Vec<PathBuf>>>) -> WalkBuilder {
    // Outside of a repository, what an outer folder has git ignore is about something else.
    let in_repository = project.ancestors().any(|folder| folder.join(".git").exists());
    let mut walk = WalkBuilder::new(project);
    walk.standard_filters(false)
        .parents(in_repository)
        .git_ignore(true)
        .git_global(true)
        .git_exclude(true)
        .require_git(false);
    let (project, cache, also, caches) = (project.to_owned(), cache.to_owned(), also.clone(), Arc::clone(caches));
    walk.filter_entry(move |entry| {
        let path = entry.path();
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let Ok(within) = path.strip_prefix(&project) else { return true };
        let Some(name) = within.file_name() else { return true };
        let name = name.to_string_lossy();
        if name == ".git" || within == Path::new(".brain") || path == cache {
            return false;
        }
        if !is_folder || also.iter().any(|wanted| Path::new(wanted).starts_with(within)) {
            return true;
        }
        let is_cache = is_cache(path);
        if is_cache {
            caches.lock().unwrap_or_else(PoisonError::into_inner).push(within.to_owned());
        }
        !is_cache && !depend::is_certain(path, &name)
    });
    walk
}

fn is_cache(folder: &Path) -> bool {
    let mut signature = [0; CACHE_SIGNATURE.len()];
    let read = open_itself(&folder.join(CACHE_TAG)).and_then(|mut tag| tag.read_exact(&mut signature));
    read.is_ok() && signature == *CACHE_SIGNATURE
}

pub(super) struct Copier<'a> {
    pub(super) project: PathBuf,
    pub(super) tree: PathBuf,
    limits: &'a ScratchLimits,
    stop: &'a dyn Fn() -> bool,
    until: Instant,
    /// Whether the file system may be able to share content between files.
    reflink: bool,
    pub(super) made: Made,
    /// The modes of folders, which they get last: in some of them nothing can be made then.
    modes: Vec<(PathBuf, u32)>,
}

/// The error of something that the system refused.
pub(super) fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> ScratchError + use<> {
    let path = path.to_owned();
    move |source| ScratchError::Io { action, path: path.clone(), source }
}

impl Copier<'_> {
    fn look_up(&self) -> Result<(), ScratchError> {
        if (self.stop)() {
            return Err(ScratchError::Cancelled);
        }
        if Instant::now() > self.until {
            return Err(ScratchError::TooSlow { seconds: self.limits.time.as_secs() });
        }
        Ok(())
    }

    /// Counts one more entry, of so many bytes.
    pub(super) fn count(&mut self, bytes: u64) -> Result<(), ScratchError> {
        self.look_up()?;
        self.made.files += 1;
        self.made.bytes = self.made.bytes.saturating_add(bytes);
        if self.made.files > self.limits.files {
            return Err(ScratchError::TooLarge { what: "files", limit: self.limits.files });
        }
        if self.made.bytes > self.limits.bytes {
            return Err(ScratchError::TooLarge { what: "bytes", limit: self.limits.bytes });
        }
        Ok(())
    }

    pub(super) fn make_folder(&mut self, to: &Path) -> Result<(), ScratchError> {
        self.count(0)?;
        DirBuilder::new().mode(0o700).create(to).map_err(failed("make the folder", to))
    }

    /// Copies what is at a path of the project, and the folders above it where they were not copied. What is not there is no
    /// error: whoever needs it will say so.
    fn with_parents(&mut self, within: &Path) -> Result<(), ScratchError> {
        let above: Vec<&Path> = within.ancestors().collect();
        for path in above.into_iter().rev().filter(|path| !path.as_os_str().is_empty()) {
            let Ok(there) = fs::symlink_metadata(self.project.join(path)) else { return Ok(()) };
            if fs::symlink_metadata(self.tree.join(path)).is_err() {
                self.entry(path)?;
            }
            // What is below a link is not below the project.
            if !there.is_dir() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Copies one entry of the project.
    fn entry(&mut self, within: &Path) -> Result<(), ScratchError> {
        let (from, to) = (self.project.join(within), self.tree.join(within));
        let metadata = match fs::symlink_metadata(&from) {
            Ok(metadata) => metadata,
            // It went away meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed("look at", &from)(error)),
        };
        let kind = metadata.file_type();
        if kind.is_dir() {
            self.make_folder(&to)?;
            self.modes.push((to, metadata.mode() & MODE_BITS));
        } else if kind.is_symlink() {
            let target = fs::read_link(&from).map_err(failed("read the link", &from))?;
            if stays_inside(&self.project, within.parent().unwrap_or(Path::new("")), &target) {
                self.count(0)?;
                symlink(&target, &to).map_err(failed("make the link", &to))?;
            } else {
                self.made.note(format!("`{}` is not in the copy: it is a link that leads out", within.display()));
            }
        } else if kind.is_file() {
            self.file(within, &from, &to)?;
        } else {
            self.made.note(format!("`{}` is not in the copy: it is no file, folder or link", within.display()));
        }
        Ok(())
    }

    fn file(&mut self, within: &Path, from: &Path, to: &Path) -> Result<(), ScratchError> {
        let source = match open_itself(from) {
            Ok(source) => source,
            Err(error) => {
                self.made.note(format!("`{}` is not in the copy: {error}", within.display()));
                return Ok(());
            }
        };
        let metadata = source.metadata().map_err(failed("look at", from))?;
        self.count(metadata.len())?;
        let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to);
        let target = new.map_err(failed("make the file", to))?;
        if !self.share(&source, &target) {
            self.copy_bytes(&source, &target, metadata.len(), from, to)?;
        }
        let mode = fs::Permissions::from_mode(metadata.mode() & MODE_BITS);
        target.set_permissions(mode).map_err(failed("set the mode of", to))
    }

    /// Lets both files have the same blocks until one of them is written to, if the file system can.
    #[cfg(target_os = "linux")]
    fn share(&mut self, source: &File, target: &File) -> bool {
        use rustix::io::Errno;
        if self.reflink {
            match rustix::fs::ioctl_ficlone(target, source) {
                Ok(()) => return true,
                // It never will between these file systems; other faults are those of one file.
                Err(Errno::OPNOTSUPP | Errno::XDEV | Errno::NOTTY | Errno::NOSYS) => self.reflink = false,
                Err(_) => {}
            }
        }
        false
    }

    /// Only Linux has it in this form.
    #[cfg(not(target_os = "linux"))]
    fn share(&mut self, _: &File, _: &File) -> bool {
        self.reflink = false;
        false
    }

    fn copy_bytes(
        &mut self,
        source: &File,
        mut target: &File,
        counted: u64,
        from: &Path,
        to: &Path,
    ) -> Result<(), ScratchError> {
        let mut copied = 0_u64;
        loop {
            let piece = io::copy(&mut source.take(PIECE_BYTES), &mut target);
            copied += match piece {
                Ok(0) => break,
                Ok(bytes) => bytes,
                Err(error) => return Err(failed("copy", if is_full(&error) { to } else { from })(error)),
            };
            self.look_up()?;
            // It may have grown meanwhile.
            if self.made.bytes + copied.saturating_sub(counted) > self.limits.bytes {
                return Err(ScratchError::TooLarge { what: "bytes", limit: self.limits.bytes });
            }
        }
        self.made.bytes += copied.saturating_sub(counted);
        Ok(())
    }

    /// Inner folders first.
    fn set_modes(&mut self) {
        for (folder, mode) in self.modes.drain(..).rev() {
            // Ours it is, so that it works; should it not, the folder is its owner's alone.
            let _ = fs::set_permissions(folder, fs::Permissions::from_mode(mode));
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
