//! What a role wrote, over what is there: new files, copies of changed ones, and names that are gone.
//!
//! The overlay is a map from paths to what is there now. A path that is not in it, and below no folder that is, shows
//! the real tree. The real tree is never written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use brain_packet::Digest;

use crate::code::{ErrorCode, FileResult};
use crate::handle::{Behind, Opened};
use crate::quota::Quota;
use crate::scope::prefix_ends;
use crate::staging::{Staged, Staging};

/// Mode of a file that a role creates. It cannot choose another: WASI knows no modes.
pub(crate) const NEW_FILE_MODE: u32 = 0o644;

/// Paths of open files below which nobody looks for those that were closed.
const MIN_SWEEP: usize = 1024;

/// What the overlay has at a path.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// Nothing, whatever the real tree has.
    Gone,
    /// A folder that holds what the overlay says, and nothing of the real tree.
    Folder {
        /// When it was made.
        made: SystemTime,
        /// Permission bits, of a folder that was moved.
        mode: Option<u32>,
    },
    File(FileNode),
}

/// A file of the overlay.
#[derive(Clone, Debug)]
pub(crate) struct FileNode {
    pub content: Content,
    /// Permission bits.
    pub mode: u32,
    /// The path that the file had in the real tree, if it comes from there.
    pub origin: Option<String>,
}

/// Where the bytes of a file are.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Staged(Arc<Staged>),
    /// At this path of the real tree: it was moved, and not written to.
    Lower(String),
}

/// A file of the real tree as it was when the role first touched it.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    pub digest: Digest,
    /// Permission bits.
    pub mode: u32,
    pub bytes: u64,
}

/// Where a folder's names come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// From the overlay, and from the real tree below it.
    Both,
    /// From the overlay alone.
    Upper,
    /// It is not there any more.
    Nothing,
}

/// The overlay of one mount.
pub(crate) struct Overlay {
    nodes: BTreeMap<String, Node>,
    bases: BTreeMap<String, Base>,
    /// Folders of the real tree that were removed or moved away.
    gone_folders: BTreeSet<String>,
    /// The real tree has nothing for this mount.
    upper_only: bool,
    /// Files of the real tree that are open, by path: when one is covered, its handles change over.
    readers: BTreeMap<String, Vec<Weak<Mutex<Arc<Opened>>>>>,
    /// How many of those there may be before the closed ones are looked for.
    next_sweep: usize,
    pub quota: Arc<Quota>,
    pub staging: Arc<Staging>,
}

impl Overlay {
    pub(crate) fn new(quota: Arc<Quota>, staging: Arc<Staging>, upper_only: bool) -> Self {
        Self {
            nodes: BTreeMap::new(),
            bases: BTreeMap::new(),
            gone_folders: BTreeSet::new(),
            upper_only,
            readers: BTreeMap::new(),
            next_sweep: MIN_SWEEP,
            quota,
            staging,
        }
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path)
    }

    pub(crate) fn base(&self, path: &str) -> Option<&Base> {
        self.bases.get(path)
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&String, &Node)> {
        self.nodes.iter()
    }

    pub(crate) fn bases(&self) -> impl Iterator<Item = (&String, &Base)> {
        self.bases.iter()
    }

    pub(crate) fn is_gone_folder(&self, path: &str) -> bool {
        self.gone_folders.contains(path)
    }

    pub(crate) fn gone_folders(&self) -> impl Iterator<Item = &String> {
        self.gone_folders.iter()
    }

    /// Where the names of the folder `path` come from; for a path that is no folder of the overlay, [`Shows::Nothing`].
    pub(crate) fn shows(&self, path: &str) -> Shows {
        let mut shows = if self.upper_only { Shows::Upper } else { Shows::Both };
        if self.nodes.is_empty() || path.is_empty() {
            return if path.is_empty() || shows == Shows::Both { shows } else { Shows::Nothing };
        }
        for end in prefix_ends(path) {
            shows = match (self.nodes.get(path.get(..end).unwrap_or(path)), shows) {
                (Some(Node::Folder { .. }), _) => Shows::Upper,
                (None, Shows::Both) => Shows::Both,
                _ => return Shows::Nothing,
            };
        }
        shows
    }

    /// What is directly in the folder `path` by the overlay, gone names included.
    pub(crate) fn children<'a>(&'a self, path: &str) -> impl Iterator<Item = (&'a str, &'a Node)> {
        let skip = if path.is_empty() { 0 } else { path.len() + 1 };
        self.below(path).filter_map(move |(full, node)| {
            let name = full.get(skip..)?;
            (!name.contains('/')).then_some((name, node))
        })
    }

    /// Everything below the folder `path` by the overlay.
    fn below<'a>(&'a self, path: &str) -> impl Iterator<Item = (&'a String, &'a Node)> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        self.nodes.range(prefix.clone()..).take_while(move |(full, _)| full.starts_with(&prefix))
    }

    /// Whether `path` has taken room already: every path that the overlay knows takes room for one file, once.
    fn is_counted(&self, path: &str) -> bool {
        self.nodes.contains_key(path) || self.bases.contains_key(path)
    }

    fn take_room(&self, path: &str) -> Result<(), ErrorCode> {
        if self.is_counted(path) { Ok(()) } else { self.quota.take_file() }
    }

    /// Whether a path could be put.
    pub(crate) fn has_room_for(&self, path: &str) -> FileResult<()> {
        self.take_room(path)?;
        if !self.is_counted(path) {
            self.quota.give_file();
        }
        Ok(())
    }

    /// Records what a file of the real tree was like before it is changed; later changes of it are not a new base.
    pub(crate) fn record_base(&mut self, path: &str, base: Base) -> Result<(), ErrorCode> {
        self.take_room(path)?;
        self.bases.entry(path.to_owned()).or_insert(base);
        Ok(())
    }

    /// Puts something at `path`.
    pub(crate) fn put(&mut self, path: &str, node: Node) -> Result<(), ErrorCode> {
        self.take_room(path)?;
        self.nodes.insert(path.to_owned(), node);
        Ok(())
    }

    /// Takes away what is at `path` and below, so that nothing is there.
    pub(crate) fn remove(&mut self, path: &str) {
        let mut going: Vec<String> = self.below(path).map(|(full, _)| full.clone()).collect();
        if self.bases.contains_key(path) || self.gone_folders.contains(path) {
            if !self.is_counted(path) {
                // A folder of the real tree whose parent was moved: it is gone with that one.
                return;
            }
            self.nodes.insert(path.to_owned(), Node::Gone);
        } else {
            going.push(path.to_owned());
        }
        for full in going {
            if self.nodes.remove(&full).is_some() && !self.bases.contains_key(&full) {
                self.quota.give_file();
            }
        }
    }

    /// Everything at `path` and below by the overlay, to be put back.
    pub(crate) fn all_at(&self, path: &str) -> Vec<(String, Node)> {
        let here = self.nodes.get_key_value(path);
        here.into_iter().chain(self.below(path)).map(|(full, node)| (full.clone(), node.clone())).collect()
    }

    /// Puts back what [`Self::all_at`] gave, in place of all that is there now.
    pub(crate) fn put_back(&mut self, path: &str, was: Vec<(String, Node)>) -> Result<(), ErrorCode> {
        for (full, _) in self.all_at(path) {
            if self.nodes.remove(&full).is_some() && !self.bases.contains_key(&full) {
                self.quota.give_file();
            }
        }
        // They had room before.
        was.into_iter().try_for_each(|(full, node)| self.put(&full, node))
    }

    /// Hides a folder of the real tree, with all below it.
    pub(crate) fn remove_lower_folder(&mut self, path: &str) -> Result<(), ErrorCode> {
        self.put(path, Node::Gone)?;
        self.gone_folders.insert(path.to_owned());
        self.remove(path);
        Ok(())
    }

    /// Notes a folder of the real tree that does not show any more: it goes with a parent, or the overlay has its place.
    pub(crate) fn covers_folder(&mut self, path: &str) {
        self.gone_folders.insert(path.to_owned());
    }

    /// Notes that the file of the real tree at `path` was opened to read.
    pub(crate) fn reads(&mut self, path: &str, behind: &Behind) {
        if self.readers.len() >= self.next_sweep {
            self.readers.retain(|_, readers| readers.iter().any(|reader| reader.strong_count() > 0));
            self.next_sweep = MIN_SWEEP.max(self.readers.len() * 2);
        }
        let readers = self.readers.entry(path.to_owned()).or_default();
        readers.retain(|reader| reader.strong_count() > 0);
        readers.push(Arc::downgrade(behind));
    }

    /// Lets the handles of the file of the real tree at `path` go on with its copy.
    pub(crate) fn change_over(&mut self, path: &str, staged: &Arc<Staged>) -> std::io::Result<()> {
        for behind in self.readers.remove(path).unwrap_or_default().iter().filter_map(Weak::upgrade) {
            let opened = Opened::staged(staged.open(false)?, Arc::clone(staged));
            *behind.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(opened);
        }
        Ok(())
    }

    /// The permission bits that a file has at `path`: it brings its own along, or takes those of what it replaces.
    pub(crate) fn mode_at(&self, path: &str, own: Option<u32>) -> u32 {
        own.or_else(|| self.bases.get(path).map(|base| base.mode)).unwrap_or(NEW_FILE_MODE)
    }
}
