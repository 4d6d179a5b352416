//! The three folders a role sees, read within bounds.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::types::strip_root;

/// Most bytes that [`Tree::read`] and [`Tree::read_text`] take from one file: 16 MiB. A role's memory is bounded (256
/// MiB unless the operator says otherwise), and running into that bound ends the run; a file that is too large is an
/// error that the role can report. [`Tree::read_at_most`] takes another bound.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Most entries that [`Walk::skipped`] lists one by one; the rest is counted in [`Walk::skipped_count`].
pub const MAX_SKIPPED_LISTED: usize = 100;

/// One of the folders that a handoff grants: `/workspace`, `/context` or `/artifacts`.
///
/// Inside a component a tree reads the guest path itself; in a test it reads the folder of the
/// [bench](crate::testing::Bench). Paths given to its functions are relative to it, with `/` between names; a full
/// guest path of the same tree (`/workspace/src/a.rs`) is understood too. Nothing outside what the handoff grants
/// opens, whatever the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    guest: &'static str,
    root: PathBuf,
}

impl Tree {
    pub(crate) fn new(guest: &'static str, root: PathBuf) -> Self {
        Self { guest, root }
    }

    /// The folder to give to `std::fs`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder as Brain names it, such as `/workspace`.
    pub fn guest_root(&self) -> &'static str {
        self.guest
    }

    /// The guest path of a file of this tree, for a [`ContextRef`](crate::ContextRef).
    pub fn guest_path(&self, rel: impl AsRef<str>) -> String {
        match self.relative(rel.as_ref()) {
            "" => self.guest.to_owned(),
            rel => format!("{}/{rel}", self.guest),
        }
    }

    /// The path to give to `std::fs` for a file of this tree. It is joined, not checked: what may be opened is decided
    /// when it is opened.
    pub fn path(&self, rel: impl AsRef<str>) -> PathBuf {
        match self.relative(rel.as_ref()) {
            "" => self.root.clone(),
            rel => self.root.join(rel),
        }
    }

    fn relative<'a>(&self, rel: &'a str) -> &'a str {
        let rel = strip_root(rel, self.guest).unwrap_or(rel);
        rel.trim_start_matches("./").trim_matches('/')
    }

    /// Refuses a path that climbs out, so that a test sees what the sandbox would do.
    fn inside(&self, rel: &str) -> io::Result<PathBuf> {
        let path = self.relative(rel);
        if Path::new(path).components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{rel} leads out of {}", self.guest)));
        }
        Ok(self.path(path))
    }

    fn explain(&self, rel: &str, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.guest_path(rel)))
    }

    /// Reads a file of at most [`MAX_FILE_BYTES`].
    ///
    /// # Errors
    /// `FileTooLarge` above the bound; `PermissionDenied` for a path that no grant covers; otherwise what the file
    /// system says. Every message names the guest path.
    pub fn read(&self, rel: impl AsRef<str>) -> io::Result<Vec<u8>> {
        self.read_at_most(rel, MAX_FILE_BYTES)
    }

    /// Reads a file of at most `max` bytes.
    ///
    /// # Errors
    /// As [`read`](Self::read), with `max` as the bound.
    pub fn read_at_most(&self, rel: impl AsRef<str>, max: u64) -> io::Result<Vec<u8>> {
        let rel = rel.as_ref();
        let (bytes, more) = self.head(rel, max)?;
        if more {
            let too_large = io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("larger than the {max} bytes that are read at once"),
            );
            return Err(self.explain(rel, too_large));
        }
        Ok(bytes)
    }

    /// Reads the first `max` bytes of a file, and says whether there is more.
    ///
    /// # Errors
    /// As [`read`](Self::read), except that no file is too large.
    pub fn head(&self, rel: impl AsRef<str>, max: u64) -> io::Result<(Vec<u8>, bool)> {
        let rel = rel.as_ref();
        let path = self.inside(rel)?;
        let read = || {
            let file = fs::File::open(&path)?;
            if file.metadata()?.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
            }
            let mut bytes = Vec::new();
            file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
            let more = bytes.len() as u64 > max;
            if more {
                bytes.truncate(max as usize);
            }
            Ok((bytes, more))
        };
        read().map_err(|error| self.explain(rel, error))
    }

    /// Reads a text file of at most [`MAX_FILE_BYTES`].
    ///
    /// # Errors
    /// As [`read`](Self::read), and `InvalidData` for a file that is not UTF-8.
    pub fn read_text(&self, rel: impl AsRef<str>) -> io::Result<String> {
        let rel = rel.as_ref();
        String::from_utf8(self.read(rel)?).map_err(|error| {
            self.explain(rel, io::Error::new(io::ErrorKind::InvalidData, format!("not UTF-8: {}", error.utf8_error())))
        })
    }

    /// Whether a file or directory opens under this name. A path that no grant covers does not exist for a role.
    pub fn exists(&self, rel: impl AsRef<str>) -> bool {
        self.inside(rel.as_ref()).is_ok_and(|path| path.exists())
    }

    /// Writes a file, and the directories above it. Only `/artifacts` takes writes, under a quota of files and bytes.
    ///
    /// # Errors
    /// `PermissionDenied` or `ReadOnlyFilesystem` in a tree that is read-only, `QuotaExceeded` or `StorageFull` over
    /// the quota.
    pub fn write(&self, rel: impl AsRef<str>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        let rel = rel.as_ref();
        let path = self.inside(rel)?;
        let write = || {
            if let Some(parent) = path.parent().filter(|parent| *parent != self.root) {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, bytes.as_ref())
        };
        write().map_err(|error| self.explain(rel, error))
    }

    /// Lists the regular files below the tree, nearest to the root first until a limit of `limits` is reached, then
    /// sorted by path. Links are never followed. What is left out is counted and named in the answer; a directory that
    /// does not open is one of those.
    pub fn walk(&self, limits: &WalkLimits) -> Walk {
        let mut walk = Walk::default();
        let mut seen = 0usize;
        let mut queue = VecDeque::from([(String::new(), 0usize)]);
        while let Some((dir, depth)) = queue.pop_front() {
            if !self.walk_dir(&dir, depth, limits, &mut seen, &mut queue, &mut walk) {
                walk.truncated = true;
                break;
            }
        }
        walk.files.sort_by(|a, b| a.path.cmp(&b.path));
        walk
    }

    /// One directory of a walk; `false` when a limit ended it.
    fn walk_dir(
        &self,
        dir: &str,
        depth: usize,
        limits: &WalkLimits,
        seen: &mut usize,
        queue: &mut VecDeque<(String, usize)>,
        walk: &mut Walk,
    ) -> bool {
        let entries = match fs::read_dir(self.path(dir)) {
            Ok(entries) => entries,
            Err(error) => {
                walk.skip(dir, error.to_string());
                return true;
            }
        };
        let mut batch = Vec::new();
        let mut complete = true;
        for entry in entries {
            if *seen >= limits.max_entries {
                walk.skip(dir, format!("the walk stopped at {} entries", limits.max_entries));
                complete = false;
                break;
            }
            *seen += 1;
            match entry {
                Ok(entry) => batch.push(entry),
                // std reads no further after a fault, so there may be more in this directory.
                Err(error) => {
                    walk.skip(dir, format!("not listed to its end: {error}"));
                    walk.truncated = true;
                    break;
                }
            }
        }
        // The order of a directory is the file system's; a walk that stops early must still be the same every time.
        batch.sort_by_key(fs::DirEntry::file_name);
        for entry in batch {
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                walk.skip(&join(dir, &name.to_string_lossy()), "its name is not UTF-8");
                continue;
            };
            let path = join(dir, name);
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) => {
                    walk.skip(&path, error.to_string());
                    continue;
                }
            };
            if kind.is_dir() {
                if depth >= limits.max_depth {
                    walk.skip(&path, format!("deeper than {} directories", limits.max_depth));
                } else {
                    queue.push_back((path, depth + 1));
                }
            } else if kind.is_symlink() {
                walk.skip(&path, "a symbolic link");
            } else if !kind.is_file() {
                walk.skip(&path, "not a regular file");
            } else if walk.files.len() >= limits.max_files {
                walk.skip(&path, format!("the walk stopped at {} files", limits.max_files));
                return false;
            } else {
                match entry.metadata() {
                    Ok(metadata) => walk.files.push(TreeFile { path, len: metadata.len() }),
                    Err(error) => walk.skip(&path, error.to_string()),
                }
            }
        }
        complete
    }
}

fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

/// Where a [walk](Tree::walk) stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkLimits {
    /// Most files that are listed. Default: 100,000.
    pub max_files: usize,
    /// Most entries that are looked at, directories and skipped names included. Default: 400,000.
    pub max_entries: usize,
    /// Most directories above a file. Default: 64.
    pub max_depth: usize,
}

impl Default for WalkLimits {
    fn default() -> Self {
        Self { max_files: 100_000, max_entries: 400_000, max_depth: 64 }
    }
}

/// One regular file of a [walk](Tree::walk).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeFile {
    /// Path relative to the tree, with `/` between names.
    pub path: String,
    /// Bytes.
    pub len: u64,
}

/// What a [walk](Tree::walk) found, and what it left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The regular files, sorted by path.
    pub files: Vec<TreeFile>,
    /// What was left out and why, the first [`MAX_SKIPPED_LISTED`]: `(path, reason)`. The tree itself is the empty
    /// path.
    pub skipped: Vec<(String, String)>,
    /// How many entries were left out, listed or not. A directory counts once.
    pub skipped_count: u64,
    /// Whether a limit ended the walk or a directory was not listed to its end, so that there may be more files.
    pub truncated: bool,
}

impl Walk {
    fn skip(&mut self, path: &str, reason: impl Into<String>) {
        self.skipped_count += 1;
        if self.skipped.len() < MAX_SKIPPED_LISTED {
            self.skipped.push((path.to_owned(), reason.into()));
        }
    }

    /// What was left out, in a sentence for [`Outcome::risk`](crate::Outcome::risk); `None` when nothing was.
    pub fn note(&self) -> Option<String> {
        let (path, reason) = self.skipped.first()?;
        let path = if path.is_empty() { "." } else { path };
        let count = self.skipped_count;
        let noun = if count == 1 { "entry was" } else { "entries were" };
        Some(format!("{count} {noun} not read; the first is {path:?}: {reason}"))
    }
}
