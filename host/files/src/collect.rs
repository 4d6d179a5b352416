//! When a call has ended: what it proposes to change, and what it left as artifacts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};

use brain_changes::{BuildError, Builder, ChangeSet, Contents, Side, new_file_mode, new_folder_mode};
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::handle::Opened;
use crate::meta::Meta;
use crate::mount::{Mount, open_folder};
use crate::overlay::{Base, Content, FileNode, Node, Overlay, Shows};
use crate::view::FileView;
use crate::{ARTIFACTS, WORKSPACE};

/// Mode of a folder that cannot be asked.
const FOLDER_MODE: u32 = 0o755;

/// What a path has become.
enum Now<'a> {
    /// What the real tree has.
    Same,
    /// Nothing, or a folder.
    NoFile,
    File(&'a FileNode),
}

impl FileView {
    /// What the role proposes to change in the workspace. New contents are put into the folder that was granted for them.
    ///
    /// The base of a change is what the role saw. Where the tree has changed since, the change carries the digest of what
    /// was there then, without a diff: applying it is a conflict.
    ///
    /// # Errors
    /// A content cannot be read or kept, or the set is larger than change sets may be.
    pub fn change_set(&self) -> Result<ChangeSet, BuildError> {
        let workspace = self.mounts.iter().find(|mount| mount.guest == WORKSPACE);
        let overlay = workspace.and_then(|mount| Some((mount, mount.overlay.as_ref()?)));
        // A role that was let write and did not gets by without a folder.
        match (overlay.filter(|(_, overlay)| overlay.nodes().next().is_some()), &self.contents) {
            (Some((mount, overlay)), Some(contents)) => {
                let failed = |source| BuildError::New { path: "(contents)".into(), source };
                collect(mount, overlay, &Contents::open(contents).map_err(failed)?)
            }
            _ => Ok(ChangeSet::default()),
        }
    }

    /// Puts what the role left at `/artifacts` into the folder that was granted for it.
    ///
    /// # Errors
    /// A file or folder cannot be made there.
    pub fn settle_artifacts(&self) -> io::Result<()> {
        let artifacts = self.mounts.iter().find(|mount| mount.guest == ARTIFACTS);
        let (Some(folder), Some(overlay)) = (&self.artifacts, artifacts.and_then(|mount| mount.overlay.as_ref()))
        else {
            return Ok(());
        };
        let mut to = None;
        for (path, node) in overlay.nodes() {
            // Parents come before what is in them, since they are shorter.
            let to: &Dir = match &mut to {
                Some(to) => to,
                none => none.insert(Dir::open_ambient_dir(folder, ambient_authority())?),
            };
            match node {
                Node::Gone => {}
                Node::Folder { .. } => to.create_dir(path)?,
                Node::File(FileNode { content: Content::Staged(staged), .. }) => staged.move_to(to, path)?,
                // There is no tree below that a file could come from.
                Node::File(FileNode { content: Content::Lower(_), .. }) => {}
            }
        }
        Ok(())
    }
}

fn now<'a>(overlay: &'a Overlay, path: &str) -> Now<'a> {
    match overlay.get(path) {
        Some(Node::File(node)) => Now::File(node),
        Some(_) => Now::NoFile,
        None => {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            if overlay.shows(parent) == Shows::Both { Now::Same } else { Now::NoFile }
        }
    }
}

fn collect(mount: &Mount, overlay: &Overlay, contents: &Contents) -> Result<ChangeSet, BuildError> {
    let mut set = Builder::new(contents);
    let moved = moved(overlay);
    let taken: BTreeSet<&String> = moved.values().copied().collect();
    for (path, base) in overlay.bases() {
        match now(overlay, path) {
            Now::Same => {}
            Now::File(node) => {
                set.modified(path, base_side(mount, path, base), new_side(mount, path, node)?)?;
            }
            Now::NoFile if taken.contains(path) => {}
            Now::NoFile => {
                set.deleted(path, base_side(mount, path, base))?;
            }
        }
    }
    for (path, node) in overlay.nodes() {
        match node {
            Node::Gone => {}
            Node::Folder { .. } if overlay.is_gone_folder(path) => {}
            Node::Folder { mode, .. } => {
                set.folder_added(path, mode.unwrap_or_else(|| new_folder_mode(mode_above(mount, path))))?;
            }
            Node::File(_) if overlay.base(path).is_some() => {}
            Node::File(node) => match moved.get(path).and_then(|from| Some((*from, overlay.base(from)?))) {
                Some((from, base)) => {
                    set.renamed(from, path, base_side(mount, from, base), new_side(mount, path, node)?)?;
                }
                None => {
                    set.added(path, new_side(mount, path, node)?)?;
                }
            },
        }
    }
    for path in overlay.gone_folders() {
        let still_there = matches!(overlay.get(path), Some(Node::Folder { .. }));
        if !still_there && let Some(mode) = folder_mode(mount, path) {
            set.folder_removed(path, mode)?;
        }
    }
    let mut set = set.finish()?;
    for change in &mut set.changes {
        // A file that was only moved gets what was there when it was moved, whatever is there now.
        let Some(Node::File(FileNode { content: Content::Lower(at), .. })) = overlay.get(&change.path) else {
            continue;
        };
        let Some(seen) = overlay.base(at).filter(|seen| change.new.as_ref() != Some(&seen.digest)) else { continue };
        change.new = Some(seen.digest.clone());
        change.new_bytes = seen.bytes;
        change.diff_cut = change.text;
        change.diff = None;
    }
    set.changes.retain(|change| !change.is_nothing());
    Ok(set)
}

/// The files that were moved to a path that was free, by that path: where each was. One that is at several is at the first.
fn moved(overlay: &Overlay) -> BTreeMap<&String, &String> {
    let mut taken = BTreeSet::new();
    let mut moved = BTreeMap::new();
    for (path, node) in overlay.nodes() {
        let Node::File(FileNode { origin: Some(from), .. }) = node else { continue };
        let is_free = overlay.base(path).is_none();
        let has_gone = overlay.base(from).is_some() && matches!(now(overlay, from), Now::NoFile);
        if is_free && has_gone && taken.insert(from) {
            moved.insert(path, from);
        }
    }
    moved
}

/// A file of the real tree as the role saw it, whatever it has become since.
fn base_side<'a>(mount: &Mount, path: &str, base: &Base) -> Side<'a> {
    let side = match mount.open_lower_path(path) {
        Ok(Opened { file, .. }) => Side::new(base.mode, file.take(base.bytes.saturating_add(1))),
        Err(_) => Side::new(base.mode, io::empty()),
    };
    side.seen_as(base.digest.clone(), base.bytes)
}

fn new_side<'a>(mount: &Mount, path: &str, node: &FileNode) -> Result<Side<'a>, BuildError> {
    let failed = |source| BuildError::Base { path: path.to_owned(), source };
    let file: File = match &node.content {
        Content::Staged(staged) => staged.open(false).map_err(failed)?,
        Content::Lower(at) => match mount.open_lower_path(at) {
            Ok(opened) => opened.file,
            // It is gone meanwhile, and so this change is a conflict when it is applied.
            Err(_) => return Ok(Side::new(node.mode, io::empty())),
        },
    };
    let is_new = node.origin.is_none() && mount.overlay.as_ref().is_some_and(|overlay| overlay.base(path).is_none());
    let mode = if is_new { new_file_mode(mode_above(mount, path)) } else { node.mode };
    Ok(Side::new(mode, file))
}

/// The mode of the nearest folder above `path` that the real tree has, or that was moved from elsewhere.
fn mode_above(mount: &Mount, path: &str) -> u32 {
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/') {
        let moved = || match mount.overlay.as_ref()?.get(above) {
            Some(Node::Folder { mode, .. }) => *mode,
            _ => None,
        };
        if let Some(mode) = folder_mode(mount, above).or_else(moved) {
            return mode;
        }
        folder = above;
    }
    folder_mode(mount, "").unwrap_or(FOLDER_MODE)
}

fn folder_mode(mount: &Mount, path: &str) -> Option<u32> {
    let mut dir = std::sync::Arc::clone(mount.root.lower.as_ref()?);
    for name in path.split('/').filter(|name| !name.is_empty()) {
        dir = open_folder(dir.dir().ok()?, name).ok()?;
    }
    Some(Meta::of(dir.dir().ok()?).ok()?.mode())
}
