//! A copy of the project's working tree, with a change in it, that is gone when it is not needed any more.

mod copy;
mod depend;
mod link;
mod slot;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brain_changes::{ChangeSet, Contents, MemoryLog, Step, apply_watched};

use crate::error::ScratchError;
use slot::Slot;
pub use slot::{MAX_SLOTS, TARGET_KEPT, sweep};

/// Bounds of a scratch checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScratchLimits {
    /// Most files, folders and links.
    pub files: u64,
    /// Most bytes, also of those that the file system shares between both trees.
    pub bytes: u64,
    /// Longest time that copying takes.
    pub time: Duration,
}

impl Default for ScratchLimits {
    /// 200,000 files, 4 GiB, two minutes.
    fn default() -> Self {
        Self { files: 200_000, bytes: 4 << 30, time: Duration::from_mins(2) }
    }
}

/// A scratch checkout: `<cache>/trees/<project>-<n>/tree`. It is removed on drop; [`sweep`] removes what a killed process left.
///
/// **What is in it.** Every file that git would not ignore, tracked or not, with its content and permission bits, copied and never
/// hard linked; every link that stays inside of the tree. Not: `.git`, since a check could write to the project's
/// own; `.brain` at the root; folders that are marked as caches (`CACHEDIR.TAG`); FIFOs, sockets and devices; what `.gitignore`
/// names, unless it is among `also`. Of these, folders of dependencies (`node_modules`, `.venv`, `venv`, `vendor`) are
/// there by links to the project's own.
///
/// **What it is not.** A sandbox: a check runs with the operator's rights, and can write wherever the operator can, through a
/// link too. What well-behaved checks write goes to the copy: see [`Scratch::linked`] for the rest.
#[derive(Debug)]
pub struct Scratch {
    slot: Slot,
    project: PathBuf,
    made: Made,
}

/// What came of copying.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) linked: Vec<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) more_notes: u64,
}

/// Notes that are kept; further ones are counted.
const MAX_NOTES: usize = 16;

impl Made {
    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        } else {
            self.more_notes += 1;
        }
    }
}

impl Scratch {
    /// Copies the tree at `project` to a place below `cache`, a folder of Brain's own, and makes the change `set` in the copy.
    ///
    /// `also` are paths that are copied though git would ignore them: those that are tracked all the same. What the change
    /// starts from is copied in any case. `stop` is asked often, and ends it.
    ///
    /// # Errors
    /// See [`ScratchError`]. Nothing is left then.
    pub fn new(
        project: &Path,
        cache: &Path,
        set: &ChangeSet,
        contents: &Contents,
        also: &BTreeSet<String>,
        limits: &ScratchLimits,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, ScratchError> {
        let project = std::fs::canonicalize(project).map_err(|source| ScratchError::Io {
            action: "find the project",
            path: project.to_owned(),
            source,
        })?;
        let slot = Slot::take(cache, &project)?;
        let mut also = also.clone();
        also.extend(set.changes.iter().filter_map(|change| Some(change.base_side()?.0.to_owned())));
        let folders: BTreeSet<String> = set.folders_removed.iter().map(|folder| folder.path.clone()).collect();
        let made = copy::copy(&project, slot.tree(), slot.cache(), &also, &folders, limits, stop)?;
        let scratch = Self { slot, project, made };
        let mut watch = |_: Step<'_>| if stop() { Err(std::io::ErrorKind::Interrupted.into()) } else { Ok(()) };
        match apply_watched(set, scratch.root(), contents, &mut MemoryLog::default(), &mut watch) {
            Ok(_) => Ok(scratch),
            Err(_) if stop() => Err(ScratchError::Cancelled),
            Err(source) => Err(ScratchError::Apply { source: Box::new(source) }),
        }
    }

    /// The root of the copy.
    pub fn root(&self) -> &Path {
        self.slot.tree()
    }

    /// A folder of the copy by its path in the project, which is empty for the root.
    pub fn folder(&self, path: &str) -> PathBuf {
        // Joining nothing would leave a `/` at the end.
        if path.is_empty() { self.root().to_owned() } else { self.root().join(path) }
    }

    /// The project that it is a copy of, by its canonical path.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Where cargo builds: a folder of Brain's own that is kept for the project's next checks, and never the project's own `target`.
    pub fn cargo_target(&self) -> &Path {
        self.slot.target()
    }

    /// The folders of dependencies that are there by links to the project's own. What a check writes into a package in
    /// them, it writes into the project's. What it writes beside the packages (`node_modules/.cache`) stays in the copy, but for
    /// `vendor` and virtual environments, which are linked as a whole.
    pub fn linked(&self) -> &[String] {
        &self.made.linked
    }

    /// What is not in the copy and might have been expected there, and what is there by a link, in words.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.made.notes.clone();
        if self.made.more_notes > 0 {
            notes.push(format!("and {} more such notes on the copy", self.made.more_notes));
        }
        if !self.made.linked.is_empty() {
            let shown: Vec<&str> = self.made.linked.iter().take(MAX_NOTES).map(String::as_str).collect();
            let more = self.made.linked.len() - shown.len();
            notes.push(format!(
                "the checks use the project's own dependencies through links: {}{}",
                shown.join(", "),
                if more > 0 { format!(" and {more} more") } else { String::new() },
            ));
        }
        notes
    }

    /// Files, folders and links in the copy before the change.
    pub fn files(&self) -> u64 {
        self.made.files
    }

    /// Bytes of them.
    pub fn bytes(&self) -> u64 {
        self.made.bytes
    }
}
