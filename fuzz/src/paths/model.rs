//! The model: a tree in memory in which everything is granted, and what each operation answers.
//!
//! It is written from the contract of `wasi:filesystem` and from what brain-files says about itself, and is as simple as
//! that allows: one map of paths; no handles of the system, no overlay.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use brain_files::{ErrorCode, Kind};

use super::{Flags, Op, Seen, Shown};
use crate::tree::{Node, Tree};

/// Links that one path may go through.
const MAX_LINKS: usize = 32;
/// Bytes of a path.
const MAX_PATH: usize = 4_096;
/// Bytes of one name in it.
const MAX_NAME: usize = 255;
/// Folders that a path may lead through.
const MAX_DEPTH: usize = 128;

type Answer<T> = Result<T, ErrorCode>;

/// A file may be open while it is renamed or removed.
type Content = Rc<RefCell<Vec<u8>>>;

#[derive(Clone)]
enum Thing {
    File(Content),
    Folder,
    Link(String),
}

impl Thing {
    fn kind(&self) -> Kind {
        match self {
            Self::File(_) => Kind::File,
            Self::Folder => Kind::Folder,
            Self::Link(_) => Kind::Link,
        }
    }
}

/// Where a path leads.
enum Place {
    /// To a folder, by `.`, `..` or nothing at its end.
    Folder(String),
    /// To a name in a folder that is there. The flag says that only a folder will do.
    Name(String, bool),
}

/// What becomes of a link that is the last name of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// It is followed.
    Followed,
    /// It is what is asked about; with a slash after it, it is followed.
    Looked,
    /// It stays: nothing is made, moved or removed through a link.
    Changed,
}

impl Last {
    fn of(follow: bool) -> Self {
        if follow { Self::Followed } else { Self::Looked }
    }
}

/// The tree, and what is open in it.
pub struct Model {
    things: BTreeMap<String, Thing>,
    folders: Vec<String>,
    /// Files with whether they may be written.
    files: Vec<(Content, bool)>,
}

impl Model {
    /// Nothing is open but the root.
    pub fn new(tree: &Tree) -> Self {
        let thing = |node: &Node| match node {
            Node::File(bytes, _) => Thing::File(Rc::new(RefCell::new(bytes.clone()))),
            Node::Folder(_) => Thing::Folder,
            Node::Link(target) => Thing::Link(target.to_string_lossy().into_owned()),
        };
        let things = tree.iter().map(|(path, node)| (path.clone(), thing(node))).collect();
        Self { things, folders: vec![String::new()], files: Vec::new() }
    }

    /// Everything that is shown.
    pub fn shown(&self) -> Shown {
        let seen = |(path, thing): (&String, &Thing)| match thing {
            Thing::File(content) => Seen::Bytes(content.borrow().clone()),
            Thing::Folder => Seen::Opened(Kind::Folder),
            Thing::Link(_) => {
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
                self.read_link(folder, name).map_or_else(Seen::Refused, Seen::Target)
            }
        };
        self.things.iter().map(|thing| (thing.0.clone(), seen(thing))).collect()
    }

    /// Does an operation.
    pub fn apply(&mut self, op: &Op) -> Seen {
        let done = |answer: Answer<()>| answer.map(|()| Seen::Done);
        let answer = match op {
            Op::Open(at, path, flags) => self.open(&self.folder(*at), path, *flags).map(Seen::Opened),
            Op::Stat(at, path, follow) => self.stat(&self.folder(*at), path, *follow),
            Op::List(at) => self.list(&self.folder(*at)).map(Seen::Names),
            Op::Read(at) => Ok(self.file(*at).map_or(Seen::Done, |(content, _)| Seen::Bytes(content.borrow().clone()))),
            Op::Write(at, offset, bytes) => done(self.write(*at, *offset, bytes)),
            Op::SetSize(at, size) => done(self.set_size(*at, *size)),
            Op::MakeFolder(at, path) => done(self.make_folder(&self.folder(*at), path)),
            Op::RemoveFolder(at, path) => done(self.remove_folder(&self.folder(*at), path)),
            Op::Unlink(at, path) => done(self.unlink(&self.folder(*at), path)),
            Op::Rename(at, path, to, to_path) => done(self.rename(&self.folder(*at), path, &self.folder(*to), to_path)),
            Op::ReadLink(at, path) => self.read_link(&self.folder(*at), path).map(Seen::Target),
        };
        answer.unwrap_or_else(Seen::Refused)
    }

    fn folder(&self, at: usize) -> String {
        self.folders[at % self.folders.len()].clone()
    }

    fn file(&self, at: usize) -> Option<&(Content, bool)> {
        self.files.get(at % self.files.len().max(1))
    }

    /// What is at a path; the root is a folder.
    fn get(&self, path: &str) -> Option<Thing> {
        if path.is_empty() { Some(Thing::Folder) } else { self.things.get(path).cloned() }
    }

    fn is_folder(&self, path: &str) -> bool {
        matches!(self.get(path), Some(Thing::Folder))
    }

    /// Follows a path. It never leads above the folder that it starts from, and is refused where it would.
    fn walk(&self, from: &str, path: &str, how: Last) -> Answer<Place> {
        text(path)?;
        if path.starts_with('/') {
            return Err(ErrorCode::Access);
        }
        if !self.is_folder(from) {
            return Err(ErrorCode::NoEntry);
        }
        // Names below `from`, so that going up from none of them is leaving it.
        let mut inside: Vec<String> = Vec::new();
        let mut todo: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut links = 0;
        while let Some(name) = todo.pop() {
            if name.is_empty() || name == "." {
                continue;
            }
            if name == ".." {
                inside.pop().ok_or(ErrorCode::Access)?;
                continue;
            }
            let here = join(from, &[inside.as_slice(), std::slice::from_ref(&name)].concat().join("/"));
            if name.len() > MAX_NAME || here.len() > MAX_PATH || here.matches('/').count() > MAX_DEPTH {
                return Err(ErrorCode::NameTooLong);
            }
            let last = todo.iter().all(|rest| rest.is_empty() || rest == ".");
            let folder_only = last && !todo.is_empty();
            match self.get(&here) {
                Some(Thing::Link(target)) if !last || how == Last::Followed || (folder_only && how == Last::Looked) => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(ErrorCode::Loop);
                    }
                    if target.starts_with('/') {
                        return Err(ErrorCode::Access);
                    }
                    text(&target)?;
                    todo.extend(target.split('/').rev().map(str::to_owned));
                }
                Some(Thing::File(_) | Thing::Link(_)) if !last || folder_only => return Err(ErrorCode::NotDirectory),
                None if !last => return Err(ErrorCode::NoEntry),
                _ if last => return Ok(Place::Name(here, folder_only)),
                _ => inside.push(name),
            }
        }
        Ok(Place::Folder(join(from, &inside.join("/"))))
    }

    fn open(&mut self, from: &str, path: &str, flags: Flags) -> Answer<Kind> {
        if flags.directory && (flags.create || flags.exclusive || flags.truncate) {
            return Err(ErrorCode::Invalid);
        }
        let (writes, must_make) = (flags.write || flags.truncate, flags.create && flags.exclusive);
        let (path, folder_only) = match self.walk(from, path, Last::of(flags.follow && !must_make))? {
            Place::Folder(path) => (path, true),
            Place::Name(path, folder_only) => (path, folder_only),
        };
        let content = match self.get(&path) {
            Some(_) if must_make => return Err(ErrorCode::Exist),
            Some(Thing::Folder) if writes || flags.create => return Err(ErrorCode::IsDirectory),
            Some(Thing::Folder) => {
                self.folders.push(path);
                return Ok(Kind::Folder);
            }
            Some(_) if flags.directory => return Err(ErrorCode::NotDirectory),
            Some(Thing::Link(_)) => return Err(ErrorCode::Loop),
            Some(Thing::File(content)) => content,
            None if flags.directory || !flags.create => return Err(ErrorCode::NoEntry),
            None if folder_only => return Err(ErrorCode::IsDirectory),
            None => {
                writable(&path)?;
                let content = Content::default();
                self.things.insert(path.clone(), Thing::File(content.clone()));
                content
            }
        };
        if writes {
            writable(&path)?;
        }
        if flags.truncate {
            content.borrow_mut().clear();
        }
        self.files.push((content, flags.write));
        Ok(Kind::File)
    }

    fn stat(&self, from: &str, path: &str, follow: bool) -> Answer<Seen> {
        let path = match self.walk(from, path, Last::of(follow))? {
            Place::Folder(path) | Place::Name(path, _) => path,
        };
        Ok(match self.get(&path).ok_or(ErrorCode::NoEntry)? {
            Thing::File(content) => Seen::Stat(Kind::File, Some(content.borrow().len() as u64)),
            thing => Seen::Stat(thing.kind(), None),
        })
    }

    fn list(&self, folder: &str) -> Answer<Vec<(String, Kind)>> {
        if !self.is_folder(folder) {
            return Err(ErrorCode::NoEntry);
        }
        let names = self.things.iter().filter_map(|(path, thing)| {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            (parent == folder).then(|| (name.to_owned(), thing.kind()))
        });
        let mut names: Vec<_> = names.collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(names)
    }

    fn write(&mut self, at: usize, offset: Option<u64>, bytes: &[u8]) -> Answer<()> {
        let Some((content, may_write)) = self.file(at) else { return Ok(()) };
        if !may_write {
            return Err(ErrorCode::BadDescriptor);
        }
        if !bytes.is_empty() {
            let mut content = content.borrow_mut();
            let start = offset.map_or(content.len(), |offset| offset as usize);
            let end = start + bytes.len();
            let size = content.len().max(end);
            content.resize(size, 0);
            content[start..end].copy_from_slice(bytes);
        }
        Ok(())
    }

    fn set_size(&mut self, at: usize, size: u64) -> Answer<()> {
        let Some((content, may_write)) = self.file(at) else { return Ok(()) };
        if !may_write {
            return Err(ErrorCode::Invalid);
        }
        content.borrow_mut().resize(size as usize, 0);
        Ok(())
    }

    /// The name at the end of a path that something is done to, which is never the folder that the path starts from.
    fn name(&self, from: &str, path: &str) -> Answer<(String, bool)> {
        match self.walk(from, path, Last::Changed)? {
            Place::Name(path, folder_only) => Ok((path, folder_only)),
            Place::Folder(_) => Err(ErrorCode::Busy),
        }
    }

    fn make_folder(&mut self, from: &str, path: &str) -> Answer<()> {
        // `a/..`: whatever it leads to is there.
        let Place::Name(name, _) = self.walk(from, path, Last::Changed)? else { return Err(ErrorCode::Exist) };
        writable(&name)?;
        if self.get(&name).is_some() {
            return Err(ErrorCode::Exist);
        }
        if ends_in_dot(path) {
            return Err(ErrorCode::NoEntry);
        }
        self.things.insert(name, Thing::Folder);
        Ok(())
    }

    fn remove_folder(&mut self, from: &str, path: &str) -> Answer<()> {
        let (name, _) = self.name(from, path)?;
        writable(&name)?;
        match self.get(&name) {
            None => Err(ErrorCode::NoEntry),
            Some(Thing::Folder) if ends_in_dot(path) => Err(ErrorCode::Invalid),
            Some(Thing::Folder) if !self.list(&name)?.is_empty() => Err(ErrorCode::NotEmpty),
            Some(Thing::Folder) => {
                self.things.remove(&name);
                Ok(())
            }
            Some(_) => Err(ErrorCode::NotDirectory),
        }
    }

    fn unlink(&mut self, from: &str, path: &str) -> Answer<()> {
        let (path, _) = self.name(from, path)?;
        writable(&path)?;
        match self.get(&path) {
            None => Err(ErrorCode::NoEntry),
            Some(Thing::Folder) => Err(ErrorCode::IsDirectory),
            // The links of the tree stay.
            Some(Thing::Link(_)) => Err(ErrorCode::NotPermitted),
            Some(Thing::File(_)) => {
                self.things.remove(&path);
                Ok(())
            }
        }
    }

    fn rename(&mut self, from: &str, path: &str, to: &str, to_path: &str) -> Answer<()> {
        let (source, _) = self.name(from, path)?;
        let (target, folder_only) = self.name(to, to_path)?;
        let there = self.get(&target);
        match self.get(&source) {
            None => Err(ErrorCode::NoEntry),
            Some(Thing::Link(_)) => Err(ErrorCode::NotPermitted),
            Some(Thing::File(content)) => {
                writable(&source)?;
                writable(&target)?;
                match there {
                    Some(Thing::Folder) => return Err(ErrorCode::IsDirectory),
                    Some(Thing::Link(_)) => return Err(ErrorCode::NotPermitted),
                    None if folder_only => return Err(ErrorCode::NotDirectory),
                    _ => {}
                }
                self.things.remove(&source);
                self.things.insert(target, Thing::File(content));
                Ok(())
            }
            Some(Thing::Folder) if ends_in_dot(path) || ends_in_dot(to_path) => Err(ErrorCode::Busy),
            Some(Thing::Folder) => {
                writable(&source)?;
                writable(&target)?;
                if source == target {
                    return Ok(());
                }
                let below = format!("{source}/");
                if target.starts_with(&below) {
                    return Err(ErrorCode::Invalid);
                }
                match there {
                    Some(Thing::Link(_)) => return Err(ErrorCode::NotPermitted),
                    Some(Thing::File(_)) => return Err(ErrorCode::NotDirectory),
                    Some(Thing::Folder) if !self.list(&target)?.is_empty() => return Err(ErrorCode::NotEmpty),
                    _ => {}
                }
                self.move_folder(&source, &target)
            }
        }
    }

    /// All of it or nothing: a link in it stays, and so does what may not be written.
    fn move_folder(&mut self, source: &str, target: &str) -> Answer<()> {
        let below = format!("{source}/");
        let moved: Vec<(String, Thing)> = self
            .things
            .iter()
            .filter(|(path, _)| path.starts_with(&below))
            .map(|(p, t)| (p.clone(), t.clone()))
            .collect();
        if moved.iter().any(|(_, thing)| matches!(thing, Thing::Link(_))) {
            return Err(ErrorCode::NotPermitted);
        }
        for (path, _) in &moved {
            writable(path)?;
        }
        for (path, thing) in moved {
            self.things.remove(&path);
            self.things.insert(format!("{target}/{}", &path[below.len()..]), thing);
        }
        self.things.remove(source);
        self.things.insert(target.to_owned(), Thing::Folder);
        Ok(())
    }

    /// A target is told only where it leads to what is shown. One that leads to nothing, or round in a circle, is judged as it is
    /// written.
    fn read_link(&self, from: &str, path: &str) -> Answer<String> {
        let Place::Name(path, _) = self.walk(from, path, Last::Looked)? else { return Err(ErrorCode::Invalid) };
        let Thing::Link(target) = self.get(&path).ok_or(ErrorCode::NoEntry)? else { return Err(ErrorCode::Invalid) };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        match self.walk("", &path, Last::Followed) {
            Err(ErrorCode::Access) => Err(ErrorCode::Access),
            Err(_) if !stays_below(folder, &target) => Err(ErrorCode::Access),
            _ => Ok(target),
        }
    }
}

fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

/// Whether `target`, taken as it is written, leads from `folder` to somewhere below the root.
fn stays_below(folder: &str, target: &str) -> bool {
    let names = folder.split('/').chain(target.split('/')).filter(|name| !matches!(*name, "" | "."));
    let mut names = names;
    names.try_fold(0_usize, |depth, name| if name == ".." { depth.checked_sub(1) } else { Some(depth + 1) }).is_some()
}

/// No folder is made, moved or removed by that name of it.
fn ends_in_dot(path: &str) -> bool {
    path.trim_end_matches('/').rsplit('/').next() == Some(".")
}

fn text(path: &str) -> Answer<()> {
    if path.is_empty() {
        Err(ErrorCode::NoEntry)
    } else if path.len() > MAX_PATH {
        Err(ErrorCode::NameTooLong)
    } else if path.contains('\0') {
        Err(ErrorCode::IllegalByteSequence)
    } else {
        Ok(())
    }
}

/// Everything may be written but what no change set may touch.
fn writable(path: &str) -> Answer<()> {
    if path.split('/').any(brain_changes::is_reserved) { Err(ErrorCode::Access) } else { Ok(()) }
}
