//! What a guest is told about a file or folder.

use std::hash::{Hash, Hasher};
use std::time::SystemTime;

use crate::meta::Meta;

/// What something is. Anything else does not exist for a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
}

/// What a guest is told about a file, folder or link.
#[derive(Clone, Debug)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// Its names; 1 for a folder, of which the system would tell how many folders are in it, hidden ones too.
    pub links: u64,
    /// Its bytes; 0 for a folder, of which the system would tell about how many names are in it.
    pub bytes: u64,
    /// When it was last read.
    pub accessed: Option<SystemTime>,
    /// When it was last written.
    pub modified: Option<SystemTime>,
    pub(crate) identity: Identity,
}

/// What makes two handles the same object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    Inode(u64, u64),
    /// A folder that only the overlay has: the mount and the path.
    Upper(usize, String),
}

impl Stat {
    pub(crate) fn of(meta: &Meta) -> Self {
        let kind = if meta.is_dir() {
            Kind::Folder
        } else if meta.is_link() {
            Kind::Link
        } else {
            Kind::File
        };
        let (device, inode) = meta.inode();
        let is_folder = kind == Kind::Folder;
        Self {
            kind,
            links: if is_folder { 1 } else { meta.links() },
            bytes: if is_folder { 0 } else { meta.len() },
            accessed: meta.accessed(),
            modified: meta.modified(),
            identity: Identity::Inode(device, inode),
        }
    }

    /// As the object that this one is the overlay's copy of.
    pub(crate) fn standing_for(self, original: Option<(u64, u64)>) -> Self {
        let identity = original.map_or(self.identity, |(device, inode)| Identity::Inode(device, inode));
        Self { identity, ..self }
    }

    pub(crate) fn of_upper_folder(mount: usize, path: &str, made: Option<SystemTime>) -> Self {
        Self {
            kind: Kind::Folder,
            links: 1,
            bytes: 0,
            accessed: made,
            modified: made,
            identity: Identity::Upper(mount, path.to_owned()),
        }
    }

    /// A number that changes with the object and with what it holds, 128 bits in two halves.
    pub fn hash(&self) -> (u64, u64) {
        let hash = |salt: u8| {
            let mut hasher = std::hash::DefaultHasher::new();
            (salt, &self.identity, self.bytes, self.modified).hash(&mut hasher);
            hasher.finish()
        };
        (hash(0), hash(1))
    }

    /// Whether both are the same object.
    pub fn is_same(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}
