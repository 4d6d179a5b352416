//! From a path that a guest gives to a directory handle and one name in it.
//!
//! Every step is taken by handle, one name at a time, and never through a link: a link is read, and its target is walked
//! in its place under the same rules. So a check of names here is a check of files, whatever the tree does meanwhile.

use std::sync::PoisonError;

use cap_std::fs::FileType;

use crate::code::{ErrorCode, Fault, code_of};
use crate::handle::Folder;
use crate::meta::Meta;
use crate::mount::{Mount, open_folder, open_folders};
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

/// What becomes of a link that is the last name of a path.
#[derive(Clone, Copy)]
enum Last {
    /// It is followed.
    Followed,
    /// It is followed, and what it leads to is opened next.
    Opened,
    /// It is the entry; with a slash after it, it is followed.
    Looked,
    /// It is the entry, since nothing is made, moved or removed through a link.
    Changed {
        /// A folder is to be there.
        as_folder: bool,
    },
}

impl Last {
    fn follows(self, must_be_folder: bool) -> bool {
        match self {
            Self::Followed | Self::Opened => true,
            Self::Looked => must_be_folder,
            Self::Changed { .. } => false,
        }
    }
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
    Link(Meta),
}

pub(crate) enum FoundFolder {
    Lower(Meta),
    Upper { made: std::time::SystemTime, mode: Option<u32> },
}

pub(crate) enum FoundFile {
    Lower(Meta),
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
    /// It is a file with a set-user-id, set-group-id or sticky bit, which no change replaces.
    SpecialMode,
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
    /// Walks `path` from `base`. With `follow`, a link at the end is walked too; without, it is the entry, unless a slash
    /// comes after it.
    pub(crate) fn walk(&self, base: &Folder, path: &str, follow: bool) -> Result<Target, Stumble> {
        self.walk_as(base, path, if follow { Last::Followed } else { Last::Looked })
    }

    /// As [`Self::walk`], to what is opened next.
    pub(crate) fn walk_to_open(&self, base: &Folder, path: &str, follow: bool) -> Result<Target, Stumble> {
        self.walk_as(base, path, if follow { Last::Opened } else { Last::Looked })
    }

    /// Walks `path` to where something is to be made, moved or removed: through no link at the end. With `as_folder`, a
    /// name that a folder could have is nothing where a hidden file has it: the overlay covers it, and nothing is told.
    pub(crate) fn walk_to(&self, base: &Folder, path: &str, as_folder: bool) -> Result<Target, Stumble> {
        self.walk_as(base, path, Last::Changed { as_folder })
    }

    fn walk_as(&self, base: &Folder, path: &str, how: Last) -> Result<Target, Stumble> {
        check_text(path)?;
        if path.starts_with('/') {
            return Err(refused(path, Why::Outside));
        }
        let base = &self.as_it_is_now(base)?;
        if let Some((folder, name)) = self.step_over_folders(base, path) {
            // Nothing comes of a link: what it leads to is walked from the beginning, since it may lead up.
            if let Some(target) = self.walk_names(&folder, name, how, false)? {
                return Ok(target);
            }
        }
        self.walk_names(base, path, how, true)?.ok_or_else(|| ErrorCode::Loop.into())
    }

    /// Walks a path name by name. Without `follow_links`, nothing is returned where a link would have to be followed.
    fn walk_names(&self, base: &Folder, path: &str, how: Last, follow_links: bool) -> Result<Option<Target>, Stumble> {
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
            let is_opened = last && matches!(how, Last::Opened);
            let found = self.look_at(parent, &name, &here, is_opened);
            match found {
                Ok(Found::Link(_)) if !last || how.follows(must_be_folder) => {
                    if !follow_links {
                        return Ok(None);
                    }
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
                // A folder that is hidden, by a name that a file could have.
                Ok(Found::Folder(_)) if !last && self.scope.folder(&here).is_err() => {
                    return Err(ErrorCode::NoEntry.into());
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
                Ok(found) => {
                    let as_folder = matches!(how, Last::Changed { as_folder: true });
                    let found = if as_folder && !matches!(found, Found::Folder(_)) && self.scope.file(&here).is_err() {
                        self.scope.folder(&here).map_err(hidden(here.as_str()))?;
                        Found::Nothing
                    } else {
                        self.as_shown(&here, found)?
                    };
                    if must_be_folder && !matches!(found, Found::Folder(_) | Found::Nothing) {
                        return Err(ErrorCode::NotDirectory.into());
                    }
                    let parent = parent.clone();
                    return Ok(Some(Target::Entry(Entry { parent, name, path: here, found, must_be_folder })));
                }
            }
        }
        Ok(Some(Target::Folder(stack.pop().unwrap_or_else(|| base.clone()))))
    }

    /// Goes to the folder that `path` names a file in at once, where every name on the way is a plain one that the role may
    /// go through and that no file system could take for another. Returns it and the last name. It is what the walk would
    /// do, in one call of the system; in every doubtful case it is left to the walk.
    fn step_over_folders<'p>(&self, base: &Folder, path: &'p str) -> Option<(Folder, &'p str)> {
        let (folders, name) = path.rsplit_once('/')?;
        if matches!(name, "" | "." | "..") {
            return None;
        }
        let mut near = self.near.lock().unwrap_or_else(PoisonError::into_inner);
        let is_near = base.path.is_empty() && near.as_ref().is_some_and(|near| near.path == folders);
        if !is_near {
            *near = Some(self.go_to(base, folders)?);
        }
        let folder = near.clone()?;
        let shows = self.overlay.as_ref().map_or(Shows::Both, |overlay| overlay.shows(&folder.path));
        (shows == Shows::Both).then_some((folder, name))
    }

    /// Opens the folder `folders` below `base` at once, where nothing speaks against it.
    fn go_to(&self, base: &Folder, folders: &str) -> Option<Folder> {
        let mut at = base.path.clone();
        for folder in folders.split('/') {
            let is_plain = !matches!(folder, "" | "." | "..") && folder.len() <= MAX_NAME_BYTES;
            if !is_plain || !self.aliases.is_exact(&at, folder) {
                return None;
            }
            if !at.is_empty() {
                at.push('/');
            }
            at.push_str(folder);
        }
        check_length(&at).ok()?;
        self.scope.folder(&at).ok()?;
        if self.overlay.as_ref().is_some_and(|overlay| overlay.shows(&at) != Shows::Both) {
            return None;
        }
        let lower = open_folders(base.lower.as_ref()?.dir().ok()?, folders)?;
        Some(Folder { mount: base.mount, path: at, lower: Some(lower) })
    }

    /// What was found at the end of a path, as the role is shown it: a hidden folder by a name that a file could have is
    /// nothing, and a hidden file by a name that only a folder could have is refused as nothing would be.
    fn as_shown(&self, path: &str, found: Found) -> Result<Found, Stumble> {
        match found {
            Found::Folder(_) if self.scope.folder(path).is_ok() => return Ok(found),
            Found::Link(_) => self.scope.anything(path).map_err(hidden(path))?,
            Found::Folder(_) | Found::File(_) | Found::Nothing => self.scope.file(path).map_err(hidden(path))?,
        }
        Ok(if matches!(found, Found::Folder(_)) { Found::Nothing } else { found })
    }

    /// A folder handle with what shows in it now: the overlay may have changed since it was opened.
    pub(crate) fn as_it_is_now(&self, folder: &Folder) -> Result<Folder, Fault> {
        let shows = self.overlay.as_ref().map_or(Shows::Both, |overlay| overlay.shows(&folder.path));
        match shows {
            // It was the overlay's, and the real tree has none.
            Shows::Both if folder.lower.is_none() => Err(ErrorCode::NoEntry.into()),
            Shows::Both => Ok(folder.clone()),
            Shows::Upper => Ok(Folder { lower: None, ..folder.clone() }),
            Shows::Nothing => Err(ErrorCode::NoEntry.into()),
        }
    }

    /// What is at one name in a folder, whether or not it exists for the role. What is neither file, folder nor link is
    /// refused.
    pub(crate) fn look(&self, parent: &Folder, name: &str, path: &str) -> Result<Found, Stumble> {
        self.look_at(parent, name, path, false)
    }

    /// As [`Self::look`]. For what `is_opened` next, a look of just now counts.
    fn look_at(&self, parent: &Folder, name: &str, path: &str, is_opened: bool) -> Result<Found, Stumble> {
        match self.overlay.as_ref().and_then(|overlay| overlay.get(path)) {
            Some(Node::Gone) => return Ok(Found::Nothing),
            Some(Node::Folder { made, mode }) => {
                return Ok(Found::Folder(FoundFolder::Upper { made: *made, mode: *mode }));
            }
            Some(Node::File(node)) => return Ok(Found::File(FoundFile::Node(node.clone()))),
            None => {}
        }
        let Some(lower) = &parent.lower else { return Ok(Found::Nothing) };
        if let Some(meta) = is_opened.then(|| self.recent.at(path)).flatten() {
            return Ok(Found::File(FoundFile::Lower(meta)));
        }
        let dir = lower.dir()?;
        let meta = match Meta::at(dir, name) {
            Ok(meta) => meta,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(error.into()),
        };
        if !self.aliases.is_listed_name(dir, &parent.path, name, &meta)? {
            return Ok(Found::Nothing);
        }
        if meta.is_dir() {
            Ok(Found::Folder(FoundFolder::Lower(meta)))
        } else if meta.is_file() {
            self.recent.note(path, meta);
            Ok(Found::File(FoundFile::Lower(meta)))
        } else if meta.is_link() {
            Ok(Found::Link(meta))
        } else {
            // Whether there is one is told to nobody who could not see a file there.
            if self.scope.file(path).is_ok() { Err(refused(path, Why::Special)) } else { Ok(Found::Nothing) }
        }
    }

    /// Opens the folder at one name.
    pub(crate) fn enter(&self, parent: &Folder, name: &str, path: String) -> Result<Folder, Stumble> {
        let upper =
            self.overlay.as_ref().is_some_and(|overlay| matches!(overlay.get(&path), Some(Node::Folder { .. })));
        let lower = match &parent.lower {
            Some(lower) if !upper => Some(open_folder(lower.dir()?, name)?),
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
        Some(lower) => Ok(lower.dir()?.read_link_contents(name)?),
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
