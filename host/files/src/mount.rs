//! One folder of the host as a guest sees it.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use brain_packet::Digest;
use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags, openat};
use sha2::{Digest as _, Sha256};

use crate::alias::Aliases;
use crate::code::{ErrorCode, Fault, FileResult};
use crate::handle::{Behind, Folder, Opened};
use crate::lower::Lower;
use crate::meta::Meta;
use crate::overlay::{Base, Content, FileNode, Node, Overlay};
use crate::recent::Recent;
use crate::scope::Scope;
use crate::staging::Staged;
use crate::walk::{Entry, Found, FoundFile};

/// Bytes that are moved between two looks at whether the call has to end.
const CHUNK: usize = 256 << 10;

/// Bytes of a file that a role may write, move or remove: a change set can carry no more.
pub(crate) const MAX_FILE_BYTES: u64 = brain_changes::MAX_CONTENT_BYTES;

/// Says whether the call that a long operation is part of has to end.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

pub(crate) struct Mount {
    /// Its path for the guest.
    pub guest: &'static str,
    pub root: Folder,
    pub scope: Scope,
    /// Set where the guest may write.
    pub overlay: Option<Overlay>,
    pub aliases: Aliases,
    /// The folder of the real tree that a path was last walked through. A role that reads a folder reads many of its files;
    /// it is as if it held the folder open.
    pub near: Mutex<Option<Folder>>,
    /// The file of the real tree that was looked at last.
    pub recent: Recent,
    pub stop: Stop,
}

/// Opens a regular file by one name in a folder, without following a link and without blocking on a FIFO that took the
/// file's place since it was looked at. One name that is no link cannot lead anywhere else.
pub(crate) fn open_lower(dir: &Dir, name: &str) -> FileResult<Opened> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(dir, name, flags, Mode::empty())?);
    let meta = Meta::of(&file)?;
    if meta.is_file() { Ok(Opened::lower(file, meta)) } else { Err(ErrorCode::Access.into()) }
}

/// Opens a folder by one name in a folder, without following a link: to go on from there, not to read it.
pub(crate) fn open_folder(dir: &Dir, name: &str) -> std::io::Result<Arc<Lower>> {
    let flags = GO_ON | OFlags::NOFOLLOW;
    Ok(Lower::opened(Dir::from_std_file(openat(dir, name, flags, Mode::empty())?.into())))
}

/// Opens a folder below another in one step: by these names and through no link, as [`open_folder`] would, one by one.
/// None where that cannot be done, for whatever reason.
#[cfg(target_os = "linux")]
pub(crate) fn open_folders(dir: &Dir, path: &str) -> Option<Arc<Lower>> {
    use rustix::fs::{ResolveFlags, openat2};
    let through = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = openat2(dir, path, GO_ON, Mode::empty(), through).ok()?;
    Some(Lower::opened(Dir::from_std_file(opened.into())))
}

/// As on Linux, where there is a call for it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open_folders(_: &Dir, _: &str) -> Option<Arc<Lower>> {
    None
}

/// How a folder is opened to go on from there.
#[cfg(target_os = "linux")]
const GO_ON: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const GO_ON: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Mount {
    /// Opens a file of the real tree by its path below the mount, through no link.
    pub(crate) fn open_lower_path(&self, path: &str) -> FileResult<Opened> {
        let mut dir = Arc::clone(self.root.lower.as_ref().ok_or(ErrorCode::NoEntry)?);
        let (folders, name) = path.rsplit_once('/').map_or((None, path), |(folders, name)| (Some(folders), name));
        for folder in folders.into_iter().flat_map(|folders| folders.split('/')) {
            dir = open_folder(dir.dir()?, folder)?;
        }
        open_lower(dir.dir()?, name)
    }

    /// Opens what was found as a file, to read.
    pub(crate) fn open_found(&self, entry: &Entry, file: &FoundFile) -> FileResult<Opened> {
        match file {
            FoundFile::Lower(_) => {
                open_lower(entry.parent.lower.as_ref().ok_or(ErrorCode::NoEntry)?.dir()?, &entry.name)
            }
            FoundFile::Node(FileNode { content: Content::Lower(path), .. }) => self.open_lower_path(path),
            FoundFile::Node(FileNode { content: Content::Staged(staged), .. }) => {
                Ok(Opened::staged(staged.open(false)?, Arc::clone(staged)))
            }
        }
    }

    /// As [`Self::open_found`], for a handle that changes over to the overlay's copy when there is one.
    pub(crate) fn open_to_read(&mut self, entry: &Entry, file: &FoundFile) -> FileResult<Behind> {
        let behind = self.open_found(entry, file)?.behind();
        if let Some(overlay) = &mut self.overlay {
            match file {
                FoundFile::Lower(_) => overlay.reads(&entry.path, &behind),
                FoundFile::Node(FileNode { content: Content::Lower(path), .. }) => overlay.reads(path, &behind),
                FoundFile::Node(_) => {}
            }
        }
        Ok(behind)
    }

    pub(crate) fn overlay(&self) -> FileResult<&Overlay> {
        self.overlay.as_ref().ok_or(Fault::Code(ErrorCode::ReadOnly))
    }

    pub(crate) fn overlay_mut(&mut self) -> FileResult<&mut Overlay> {
        self.overlay.as_mut().ok_or(Fault::Code(ErrorCode::ReadOnly))
    }

    /// Records what a file of the real tree is like, before the overlay covers it. With `to`, its bytes are copied there.
    pub(crate) fn cover(&mut self, entry: &Entry, mut to: Option<&mut File>) -> FileResult<()> {
        let Found::File(found) = &entry.found else { return Ok(()) };
        let mut file = self.open_found(entry, found)?.file;
        let is_new = matches!(found, FoundFile::Lower(_)) && self.overlay()?.base(&entry.path).is_none();
        if !is_new && to.is_none() {
            return Ok(());
        }
        let meta = Meta::of(&file)?;
        if meta.len() > MAX_FILE_BYTES {
            return Err(ErrorCode::FileTooLarge.into());
        }
        // A change would be refused when it is applied: whoever replaces such a file takes more than its content away.
        if is_new && meta.is_special() {
            return Err(ErrorCode::NotPermitted.into());
        }
        let mode = meta.mode();
        let (digest, bytes) = self.copy(&mut file, to.as_deref_mut())?;
        if let Some(copy) = to {
            copy.set_times(meta.times())?;
        }
        if is_new {
            self.overlay_mut()?.record_base(&entry.path, Base { digest, bytes, mode })?;
        }
        Ok(())
    }

    /// Reads a file to its end, and copies it where there is somewhere to. Room for the copy is taken as it grows.
    fn copy(&self, from: &mut File, mut to: Option<&mut File>) -> FileResult<(Digest, u64)> {
        let (mut hasher, mut bytes) = (Sha256::new(), 0_u64);
        let mut buffer = vec![0; CHUNK];
        loop {
            if (self.stop)() {
                return Err(Fault::Stopped);
            }
            let n = from.read(&mut buffer)?;
            let Some(chunk) = buffer.get(..n).filter(|chunk| !chunk.is_empty()) else { break };
            hasher.update(chunk);
            bytes += n as u64;
            if let Some(to) = &mut to {
                self.overlay()?.quota.take_bytes(n as u64)?;
                to.write_all(chunk).inspect_err(|_| {
                    if let Some(overlay) = &self.overlay {
                        overlay.quota.give_bytes(n as u64);
                    }
                })?;
            }
        }
        Ok((Digest::from_sha256(hasher.finalize().into()), bytes))
    }

    /// Makes the file at `entry` one that can be written to: an empty one, or with `keep` a copy of what is there.
    pub(crate) fn stage(&mut self, entry: &Entry, keep: bool) -> FileResult<(File, Arc<Staged>)> {
        if let Found::File(FoundFile::Node(FileNode { content: Content::Staged(staged), .. })) = &entry.found {
            let file = staged.open(true)?;
            if !keep {
                let size = Meta::of(&file)?.len();
                file.set_len(0)?;
                staged.quota().give_bytes(size);
            }
            return Ok((file, Arc::clone(staged)));
        }
        let (own_mode, origin) = match &entry.found {
            Found::File(FoundFile::Lower(meta)) => (Some(meta.mode()), Some(entry.path.clone())),
            Found::File(FoundFile::Node(node)) => (Some(node.mode), node.origin.clone()),
            _ => (None, None),
        };
        let is_new = matches!(entry.found, Found::Nothing);
        let overlay = self.overlay()?;
        let (staging, quota) = (Arc::clone(&overlay.staging), Arc::clone(&overlay.quota));
        if is_new {
            overlay.has_room_for(&entry.path)?;
            quota.meter().create()?;
        }
        let stands_for = match &entry.found {
            Found::File(FoundFile::Lower(meta)) => Some(meta.inode()),
            Found::File(found @ FoundFile::Node(_)) => Some(Meta::of(&self.open_found(entry, found)?.file)?.inode()),
            _ => None,
        };
        let (staged, mut file) = staging.create(&quota, stands_for)?;
        if !is_new {
            self.cover(entry, keep.then_some(&mut file))?;
        }
        let overlay = self.overlay_mut()?;
        let mode = overlay.mode_at(&entry.path, own_mode);
        match &entry.found {
            Found::File(FoundFile::Lower(_)) => overlay.change_over(&entry.path, &staged)?,
            Found::File(FoundFile::Node(FileNode { content: Content::Lower(path), .. })) => {
                overlay.change_over(path, &staged)?;
            }
            _ => {}
        }
        let node = FileNode { content: Content::Staged(Arc::clone(&staged)), mode, origin };
        overlay.put(&entry.path, Node::File(node))?;
        Ok((file, staged))
    }
}
