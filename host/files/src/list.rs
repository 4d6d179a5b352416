//! Listing a folder: what the guest may see of it, from the overlay and from the real tree.

use std::collections::BTreeSet;

use crate::code::{Fault, FileResult};
use crate::handle::{Folder, join};
use crate::overlay::Node;
use crate::stat::Kind;
use crate::view::FileView;

/// A folder that is being listed.
pub struct Listing {
    folder: Folder,
    /// Names of the real tree that are still to come.
    lower: Option<cap_std::fs::ReadDir>,
    /// Names that the overlay had when the listing began: they come last, and the real tree's of that name do not.
    upper: BTreeSet<String>,
    /// The next one of those.
    next_upper: Option<String>,
}

/// One name of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

impl FileView {
    /// Begins to list a folder.
    ///
    /// # Errors
    /// `no-entry` for a folder that is gone; what the system says.
    pub fn list(&self, folder: &Folder) -> FileResult<Listing> {
        let mount = self.mount(folder);
        let folder = mount.as_it_is_now(folder)?;
        let lower = folder.lower.as_ref().map(|lower| lower.dir()?.entries()).transpose()?;
        let upper = mount.overlay.as_ref().map(|overlay| overlay.children(&folder.path)).into_iter().flatten();
        let upper: BTreeSet<String> = upper.map(|(name, _)| name.to_owned()).collect();
        let next_upper = upper.first().cloned();
        Ok(Listing { folder, lower, upper, next_upper })
    }

    /// The next name that the guest may see; none at the end.
    ///
    /// # Errors
    /// `quota` when more names were looked at than may be; what the system says.
    pub fn next_entry(&self, listing: &mut Listing) -> FileResult<Option<Listed>> {
        let mount = self.mount(&listing.folder);
        if let Some(lower) = &mut listing.lower {
            for entry in lower {
                // One folder may hold millions of names that the guest does not see.
                if (mount.stop)() {
                    return Err(Fault::Stopped);
                }
                self.meter.list()?;
                let entry = entry?;
                let Ok(name) = entry.file_name().into_string() else {
                    self.meter.name_skipped();
                    continue;
                };
                let path = join(&listing.folder.path, &name);
                let over = mount.overlay.as_ref().and_then(|overlay| overlay.get(&path));
                if listing.upper.contains(&name) {
                    continue;
                }
                let kind = match over {
                    Some(node) => kind_of(node),
                    None => {
                        let kind = entry.file_type()?;
                        // Whether it is hidden, or no file and no folder: either way it is not there for the guest.
                        mount.lists(&path, kind).then_some(if kind.is_dir() {
                            Kind::Folder
                        } else if kind.is_file() {
                            Kind::File
                        } else {
                            Kind::Link
                        })
                    }
                };
                if let Some(kind) = kind {
                    return Ok(Some(Listed { name, kind }));
                }
            }
            listing.lower = None;
        }
        while let Some(name) = listing.next_upper.take() {
            self.meter.list()?;
            let after = (std::ops::Bound::Excluded(name.clone()), std::ops::Bound::Unbounded);
            listing.next_upper = listing.upper.range(after).next().cloned();
            let path = join(&listing.folder.path, &name);
            let node = mount.overlay.as_ref().and_then(|overlay| overlay.get(&path));
            if let Some(kind) = node.and_then(kind_of) {
                return Ok(Some(Listed { name, kind }));
            }
        }
        Ok(None)
    }
}

fn kind_of(node: &Node) -> Option<Kind> {
    match node {
        Node::Gone => None,
        Node::Folder { .. } => Some(Kind::Folder),
        Node::File(_) => Some(Kind::File),
    }
}
