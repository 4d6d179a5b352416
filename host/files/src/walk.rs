//! From a path that a guest gives to a directory handle and one name in it.
//!
//! Every step is taken by handle, one name at a time, and never through a link: a link is read, and its target is walked
//! in its place under the same rules. So a check of names here is a check of files, whatever the tree does meanwhile.

use std::sync::Arc;

use cap_fs_ext::DirExt;
use cap_std::fs::{FileType, Metadata};

use crate::code::{ErrorCode, Fault, code_of};
use crate::handle::Folder;
use crate::mount::Mount;
use crate::overlay::{FileNode, Node, Shows};
use crate::scope::Hidden;

/// Links that one path may go through.
const MAX_LINKS: usize = 32;
/// Bytes of a guest path.
const MAX_PATH_BYTES: usize = 4096;
/// Folders that a path may lead through, below the mount: one walk holds a handle of each.
const MAX_DEPTH: usize = 128;
/// Bytes of one name in a path.
const MAX_NAME_BYTES: usize = 255;

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
    pub found: Found,
    /// The path ended in a slash: only a folder will do.
    pub must_be_folder: bool,
}

/// What is at a name.
pub(crate) enum Found {
    Nothing,
    Folder(FoundFolder),
    File(FoundFile),
    /// A symbolic link of the real tree.
    Link(Metadata),
}

pub(crate) enum FoundFolder {
    Lower(Metadata),
    Upper { made: std::time::SystemTime },
}

pub(crate) enum FoundFile {
    Lower(Metadata),
    Node(FileNode),
}

/// A path that does not exist for the role, or that it may not write, as the operator is told of it.
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
    /// It is a symbolic link, which no role removes or moves.
    Link,
}

/// How a walk failed.
pub(crate) enum Stumble {
    /// The guest gets `access`, the operator gets the reason.
    Refused(Refused),
    Fault(Fault),
}

impl From<ErrorCode> for Stumble {
    fn from(code: ErrorCode) -> Self {
        Self::Fault(code.into())
    }
}

impl From<Fault> for Stumble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<std::io::Error> for Stumble {
    fn from(error: std::io::Error) -> Self {
        Self::Fault(code_of(&error).into())
    }
}

pub(crate) fn refused(path: impl Into<String>, why: Why) -> Stumble {
    Stumble::Refused(Refused { path: path.into(), why })
}

fn hidden(path: impl Into<String>) -> impl FnOnce(Hidden) -> Stumble {
    move |hidden| refused(path, Why::Hidden(hidden))
}

impl Mount {
    /// Walks `path` from `base`. With `follow`, a link at the end is walked too; without, it is the entry.
    pub(crate) fn walk(&self, base: &Folder, path: &str, follow: bool) -> Result<Target, Stumble> {
        self.walk_as(base, path, follow, false)
    }

    /// Walks `path` to where something is to be made, moved or removed: through no link at the end. With `as_folder`, a
    /// name that a folder could have is nothing where a hidden file has it: the overlay covers it, and nothing is told.
    pub(crate) fn walk_to(&self, base: &Folder, path: &str, as_folder: bool) -> Result<Target, Stumble> {
        self.walk_as(base, path, false, as_folder)
    }

    fn walk_as(&self, base: &Folder, path: &str, follow: bool, as_folder: bool) -> Result<Target, Stumble> {
        check_text(path)?;
        if path.starts_with('/') {
            return Err(refused(path, Why::Outside));
        }
        let base = &self.as_it_is_now(base)?;
        let mut stack: Vec<Folder> = Vec::new();
        let mut todo: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut links = 0;
        while let Some(name) = todo.pop() {
            match name.as_str() {
                "" | "." => continue,
                ".." => {
                    if stack.pop().is_none() {
                        return Err(refused(base.child_path(path), Why::Outside));
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
            check_length(&here)?;
            let exists = if last {
                self.scope.anything(&here)
            } else {
                self.scope.folder(&here).or_else(|_| self.scope.anything(&here))
            };
            exists.map_err(hidden(here.as_str()))?;
            let found = self.look(parent, &name, &here);
            match found {
                Ok(Found::Link(_)) if follow || !last || must_be_folder => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(ErrorCode::Loop.into());
                    }
                    let target = read_link(parent, &name)?;
                    let Some(target) = target.to_str().filter(|target| !target.starts_with('/')) else {
                        return Err(refused(here, Why::Outside));
                    };
                    check_text(target)?;
                    todo.extend(target.split('/').rev().map(str::to_owned));
                }
                Ok(Found::Folder(_)) if !last => stack.push(self.enter(parent, &name, here)?),
                Ok(Found::Nothing) if !last => return Err(ErrorCode::NoEntry.into()),
                // A file on the way.
                Ok(Found::File(_)) if !last => {
                    let shown = self.scope.file(&here).is_ok();
                    // A hidden one is answered as if nothing were there.
                    return Err(if shown { ErrorCode::NotDirectory } else { ErrorCode::NoEntry }.into());
                }
                Err(Stumble::Refused(_)) if !last => return Err(ErrorCode::NoEntry.into()),
                Err(stumble) => return Err(stumble),
                Ok(mut found) => {
                    if as_folder && !matches!(found, Found::Folder(_)) && self.scope.file(&here).is_err() {
                        self.scope.folder(&here).map_err(hidden(here.as_str()))?;
                        found = Found::Nothing;
                    } else {
                        self.check_shown(&here, &found)?;
                    }
                    if must_be_folder && !matches!(found, Found::Folder(_) | Found::Nothing) {
                        return Err(ErrorCode::NotDirectory.into());
                    }
                    let parent = parent.clone();
                    return Ok(Target::Entry(Entry { parent, name, path: here, found, must_be_folder }));
                }
            }
        }
        Ok(Target::Folder(stack.pop().unwrap_or_else(|| base.clone())))
    }

    /// Whether what was found at the end of a path exists for the role: a hidden file by a name that a folder could have,
    /// or the reverse, is answered as if nothing were there.
    fn check_shown(&self, path: &str, found: &Found) -> Result<(), Stumble> {
        let shown = match found {
            Found::Nothing => return self.scope.file(path).map_err(hidden(path)),
            Found::Folder(_) => self.scope.folder(path),
            Found::File(_) => self.scope.file(path),
            Found::Link(_) => self.scope.anything(path),
        };
        match shown {
            Ok(()) => Ok(()),
            Err(_) => Err(self.scope.file(path).map_err(hidden(path)).err().unwrap_or(ErrorCode::NoEntry.into())),
        }
    }

    /// A folder handle with what shows in it now: the overlay may have changed since it was opened.
    pub(crate) fn as_it_is_now(&self, folder: &Folder) -> Result<Folder, Fault> {
        let shows = self.overlay.as_ref().map_or(Shows::Both, |overlay| overlay.shows(&folder.path));
        match shows {
            Shows::Both => Ok(folder.clone()),
            Shows::Upper => Ok(Folder { lower: None, ..folder.clone() }),
            Shows::Nothing => Err(ErrorCode::NoEntry.into()),
        }
    }

    /// What is at one name in a folder, whether or not it exists for the role. What is neither file, folder nor link is
    /// refused.
    pub(crate) fn look(&self, parent: &Folder, name: &str, path: &str) -> Result<Found, Stumble> {
        match self.overlay.as_ref().and_then(|overlay| overlay.get(path)) {
            Some(Node::Gone) => return Ok(Found::Nothing),
            Some(Node::Folder { made }) => return Ok(Found::Folder(FoundFolder::Upper { made: *made })),
            Some(Node::File(node)) => return Ok(Found::File(FoundFile::Node(node.clone()))),
            None => {}
        }
        let Some(dir) = &parent.lower else { return Ok(Found::Nothing) };
        let metadata = match dir.symlink_metadata(name) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(error.into()),
        };
        if !self.aliases.is_listed_name(dir, &parent.path, name, &metadata)? {
            return Ok(Found::Nothing);
        }
        let kind = metadata.file_type();
        if kind.is_dir() {
            Ok(Found::Folder(FoundFolder::Lower(metadata)))
        } else if kind.is_file() {
            Ok(Found::File(FoundFile::Lower(metadata)))
        } else if kind.is_symlink() {
            Ok(Found::Link(metadata))
        } else {
            // Whether there is one is told to nobody who could not see a file there.
            self.scope.file(path).map_err(hidden(path))?;
            Err(refused(path, Why::Special))
        }
    }

    /// Opens the folder at one name.
    pub(crate) fn enter(&self, parent: &Folder, name: &str, path: String) -> Result<Folder, Stumble> {
        let upper =
            self.overlay.as_ref().is_some_and(|overlay| matches!(overlay.get(&path), Some(Node::Folder { .. })));
        let lower = match &parent.lower {
            Some(dir) if !upper => Some(Arc::new(dir.open_dir_nofollow(name)?)),
            _ => None,
        };
        Ok(Folder { mount: parent.mount, path, lower })
    }

    /// Opens the folder that `target` is.
    pub(crate) fn enter_target(&self, target: Target) -> Result<Folder, Stumble> {
        match target {
            Target::Folder(folder) => Ok(folder),
            Target::Entry(entry) => match entry.found {
                Found::Folder(_) => self.enter(&entry.parent, &entry.name, entry.path),
                Found::Nothing => Err(ErrorCode::NoEntry.into()),
                _ => Err(ErrorCode::NotDirectory.into()),
            },
        }
    }

    /// Whether a thing of this kind at this path is listed for the role.
    pub(crate) fn lists(&self, path: &str, kind: FileType) -> bool {
        if kind.is_dir() {
            self.scope.folder(path).is_ok()
        } else if kind.is_file() {
            self.scope.file(path).is_ok()
        } else {
            kind.is_symlink() && self.scope.anything(path).is_ok()
        }
    }
}

/// The target of a link, as it is written.
pub(crate) fn read_link(parent: &Folder, name: &str) -> Result<std::path::PathBuf, Stumble> {
    match &parent.lower {
        Some(dir) => Ok(dir.read_link_contents(name)?),
        None => Err(ErrorCode::NoEntry.into()),
    }
}

/// Whether a path below the mount is no longer and no deeper than paths may be.
pub(crate) fn check_length(path: &str) -> Result<(), ErrorCode> {
    if path.len() > MAX_PATH_BYTES || path.matches('/').count() > MAX_DEPTH {
        Err(ErrorCode::NameTooLong)
    } else {
        Ok(())
    }
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
