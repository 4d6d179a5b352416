//! From a path that a guest gives to a directory handle and one name in it.
//!
//! Every step is taken by handle, one name at a time, and never through a link: a link is read, and its target is walked
//! in its place under the same rules. So a check of names here is a check of files, whatever the tree does meanwhile.

use std::sync::Arc;

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, FileType, Metadata};

use super::bindings::wasi::filesystem::types::ErrorCode;
use super::error::{FsResult, code_of};
use super::scope::{Hidden, Scope};

/// Links that one path may go through.
const MAX_LINKS: usize = 32;
/// Bytes of a guest path.
const MAX_PATH_BYTES: usize = 4096;
/// Folders that a path may lead through, below the mount: one walk holds a handle of each.
const MAX_DEPTH: usize = 128;
/// Bytes of one name in a path.
const MAX_NAME_BYTES: usize = 255;

/// An open folder and its path below the mount (`""` is the mount itself).
#[derive(Clone)]
pub struct Folder {
    pub dir: Arc<Dir>,
    pub path: String,
}

impl Folder {
    fn child_path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }
}

/// What a path leads to.
#[expect(clippy::large_enum_variant, reason = "made and taken apart within one call, never kept")]
pub(crate) enum Target {
    /// A folder that is already open: the path ended in `.`, `..` or a link to such.
    Folder(Folder),
    /// One name in a folder.
    Entry(Entry),
}

/// One name in a folder that exists for the role.
pub(crate) struct Entry {
    /// The folder that the name is in.
    pub parent: Folder,
    pub name: String,
    /// Path below the mount.
    pub path: String,
    /// What is there now; none when nothing is.
    pub found: Option<Metadata>,
    /// The path ended in a slash: only a folder will do.
    pub must_be_folder: bool,
}

/// A path that does not exist for the role, as the operator is told of it.
pub(crate) struct Refused {
    /// Path below the mount, as far as it was understood.
    pub path: String,
    pub why: Why,
}

/// Why a path was refused.
pub(crate) enum Why {
    Hidden(Hidden),
    /// It leads out of the mount: absolute, `..` above it, or a link to such.
    Outside,
    /// It is neither a regular file nor a folder.
    Special,
}

/// How a walk failed.
pub(crate) enum Fault {
    /// The guest gets `access`, the operator gets the reason.
    Refused(Refused),
    Code(ErrorCode),
}

impl From<ErrorCode> for Fault {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Code(code_of(&error))
    }
}

fn refused(path: impl Into<String>, why: Why) -> Fault {
    Fault::Refused(Refused { path: path.into(), why })
}

/// Walks `path` from `base`. With `follow`, a link at the end is walked too; without, it is the entry.
pub(crate) fn resolve(scope: &Scope, base: &Folder, path: &str, follow: bool) -> Result<Target, Fault> {
    check_text(path)?;
    let whole = base.child_path(path);
    if path.starts_with('/') {
        return Err(refused(path, Why::Outside));
    }
    let mut stack: Vec<Folder> = Vec::new();
    let mut todo: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
    let mut links = 0;
    while let Some(name) = todo.pop() {
        match name.as_str() {
            "" | "." => continue,
            ".." => {
                if stack.pop().is_none() {
                    return Err(refused(whole, Why::Outside));
                }
                continue;
            }
            _ => {}
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(ErrorCode::NameTooLong.into());
        }
        // Only empty names and `.` may follow the last one: `a/`, `a/.`.
        let last = todo.iter().all(|rest| matches!(rest.as_str(), "" | "."));
        let must_be_folder = last && !todo.is_empty();
        let parent = stack.last().unwrap_or(base);
        let here = parent.child_path(&name);
        if here.matches('/').count() > MAX_DEPTH {
            return Err(ErrorCode::NameTooLong.into());
        }
        if let Err(hidden) =
            if last { scope.anything(&here) } else { scope.folder(&here).or_else(|_| scope.anything(&here)) }
        {
            return Err(refused(here, Why::Hidden(hidden)));
        }
        let found = match parent.dir.symlink_metadata(&name) {
            Ok(found) => found,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && last => {
                if let Err(hidden) = scope.file(&here) {
                    return Err(refused(here, Why::Hidden(hidden)));
                }
                let parent = parent.clone();
                return Ok(Target::Entry(Entry { parent, name, path: here, found: None, must_be_folder }));
            }
            Err(e) => return Err(e.into()),
        };
        let kind = found.file_type();
        if kind.is_symlink() && (follow || !last || must_be_folder) {
            links += 1;
            if links > MAX_LINKS {
                return Err(ErrorCode::Loop.into());
            }
            let target = parent.dir.read_link_contents(&name)?;
            let Some(target) = target.to_str() else {
                return Err(refused(here, Why::Outside));
            };
            if target.starts_with('/') {
                return Err(refused(here, Why::Outside));
            }
            check_text(target)?;
            todo.extend(target.split('/').rev().map(str::to_owned));
        } else if kind.is_dir() && !last {
            let dir = Arc::new(parent.dir.open_dir_nofollow(&name)?);
            stack.push(Folder { dir, path: here });
        } else if last {
            match visible(scope, &here, kind) {
                // A hidden file by a name that a folder could have, or the reverse. The answer is what it is above, where
                // nothing is there.
                Err(Fault::Refused(Refused { why: Why::Hidden(_), .. })) => {
                    return Err(match scope.file(&here) {
                        Ok(()) => ErrorCode::NoEntry.into(),
                        Err(hidden) => refused(here, Why::Hidden(hidden)),
                    });
                }
                verdict => verdict?,
            }
            if must_be_folder && !kind.is_dir() {
                return Err(ErrorCode::NotDirectory.into());
            }
            let parent = parent.clone();
            return Ok(Target::Entry(Entry { parent, name, path: here, found: Some(found), must_be_folder }));
        } else if visible(scope, &here, kind).is_ok() {
            return Err(ErrorCode::NotDirectory.into());
        } else {
            // What it would be if nothing were there.
            return Err(ErrorCode::NoEntry.into());
        }
    }
    Ok(Target::Folder(stack.pop().unwrap_or_else(|| base.clone())))
}

/// Whether a thing of this kind at this path exists for the role.
pub(crate) fn visible(scope: &Scope, path: &str, kind: FileType) -> Result<(), Fault> {
    let verdict = if kind.is_dir() {
        scope.folder(path)
    } else if kind.is_file() {
        scope.file(path)
    } else if kind.is_symlink() {
        scope.anything(path)
    } else {
        return Err(refused(path, Why::Special));
    };
    verdict.map_err(|hidden| refused(path, Why::Hidden(hidden)))
}

fn check_text(path: &str) -> Result<(), ErrorCode> {
    if path.is_empty() {
        return Err(ErrorCode::NoEntry);
    }
    if path.len() > MAX_PATH_BYTES {
        return Err(ErrorCode::NameTooLong);
    }
    if path.contains('\0') {
        return Err(ErrorCode::IllegalByteSequence);
    }
    Ok(())
}

/// Opens the folder that `target` is.
pub(crate) fn open_folder(target: Target) -> FsResult<Folder> {
    match target {
        Target::Folder(folder) => Ok(folder),
        Target::Entry(entry) => match entry.found {
            Some(found) if found.is_dir() => {
                let dir = Arc::new(entry.parent.dir.open_dir_nofollow(&entry.name)?);
                Ok(Folder { dir, path: entry.path })
            }
            Some(_) => Err(ErrorCode::NotDirectory.into()),
            None => Err(ErrorCode::NoEntry.into()),
        },
    }
}
