//! After a crash: an apply that was interrupted is finished or rolled back.

use std::path::Path;

use crate::apply::{end, roll_back};
use crate::contents::Contents;
use crate::error::ApplyError;
use crate::finish::{Done, Finish};
use crate::intent::{Intent, IntentLog, Outcome, Reached};
use crate::plan::{Plan, Unusable, targets};
use crate::set::ChangeSet;
use crate::state::Conflict;
use crate::tree::Tree;
use crate::watch::{Unwatched, Watch};

/// An apply that is over now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "files may have been kept as somebody else made them"]
pub struct Recovered {
    /// How it ended.
    pub outcome: Outcome,
    /// The set that it applied or would have applied.
    pub set: ChangeSet,
    /// The set that takes back what was done: empty if it was rolled back.
    pub undo: ChangeSet,
    /// Files that somebody changed since the crash. Theirs were kept, and the proposed contents are in the [`Contents`].
    pub kept: Vec<Conflict>,
    /// Folders that were not removed because something else is in them.
    pub folders_left: Vec<String>,
    /// Temporary files and folders of the rolled back apply that could not be removed: nearly always empty.
    pub left: Vec<String>,
}

/// Ends an apply that has an intent and no end in the log: rolls it back if it was not committed, finishes it if it was.
/// It can be interrupted itself and called again.
///
/// A file that is neither as it was nor as it was to become has been changed by somebody since the crash: it is kept.
///
/// # Errors
/// [`ApplyError::Root`] if the tree is gone, [`ApplyError::Unrecovered`] if the intent cannot be understood,
/// [`ApplyError::Unfinished`] if something stands in the way still. The log has no end then, so that the next start tries again.
pub fn recover(
    intent: &Intent,
    reached: Reached,
    root: &Path,
    contents: &Contents,
    log: &mut dyn IntentLog,
) -> Result<Recovered, ApplyError> {
    recover_watched(intent, reached, root, contents, log, &mut Unwatched)
}

/// [`recover()`], telling `watch` each step.
///
/// # Errors
/// As [`recover()`].
pub fn recover_watched(
    intent: &Intent,
    reached: Reached,
    root: &Path,
    contents: &Contents,
    log: &mut dyn IntentLog,
    watch: &mut dyn Watch,
) -> Result<Recovered, ApplyError> {
    let tree = Tree::open(root).map_err(|source| ApplyError::Root { root: root.to_owned(), source })?;
    let (set, plan) = Plan::read(intent, contents).map_err(|unusable| match unusable {
        Unusable::Contents(source) => ApplyError::Unrecovered { what: source.to_string(), source: Some(source) },
        Unusable::Says(what) => ApplyError::Unrecovered { what, source: None },
    })?;
    let mut recovered = Recovered {
        outcome: Outcome::RolledBack,
        undo: ChangeSet::default(),
        kept: Vec::new(),
        folders_left: Vec::new(),
        left: Vec::new(),
        set,
    };
    if reached == Reached::Intent {
        recovered.left = roll_back(&tree, &plan, usize::MAX, usize::MAX, watch);
    } else {
        let targets = targets(&recovered.set);
        let finish = Finish { tree: &tree, contents, targets: &targets, plan: &plan, identities: None, watch };
        let Done { kept, folders_left } = finish.run()?;
        recovered.outcome = if kept.is_empty() { Outcome::Applied } else { Outcome::AppliedExcept };
        recovered.undo = plan.undo(&recovered.set, &kept, &folders_left);
        (recovered.kept, recovered.folders_left) = (kept, folders_left);
    }
    end(log, watch, &plan, recovered.outcome)?;
    Ok(recovered)
}
