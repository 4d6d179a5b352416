//! Applying a change set: all of it, or none.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::check::check;
use crate::contents::{Contents, CopyError};
use crate::error::{ApplyError, ContentsError, Failure};
use crate::finish::{Done, Finish};
use crate::intent::{Intent, IntentLog, Outcome};
use crate::plan::{self, Plan, Target, state_of, targets};
use crate::set::ChangeSet;
use crate::state::Conflict;
use crate::tree::{Identity, Tree};
use crate::watch::{Step, Unwatched, Watch, tell};

/// A change set that is in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "files may have been kept as somebody else made them"]
pub struct Applied {
    /// The intent that the log has of it; none for an empty set, which leaves no trace.
    pub intent: Option<Intent>,
    /// The set that takes back exactly what was done. Its contents are kept.
    pub undo: ChangeSet,
    /// Files that somebody else changed in the very moment of the apply, after they had been checked twice. Theirs were
    /// kept, and the proposed contents are in the [`Contents`]. Nearly always empty.
    pub kept: Vec<Conflict>,
    /// Folders that were not removed because something else is in them.
    pub folders_left: Vec<String>,
    /// Files that belong to you now because their owner could not be given to the new content.
    pub owner_changed: Vec<String>,
}

impl Applied {
    /// How the log has it.
    pub fn outcome(&self) -> Outcome {
        if self.kept.is_empty() { Outcome::Applied } else { Outcome::AppliedExcept }
    }
}

/// Brings a change set into the tree at `root`: all of it or none.
///
/// 1. Every file that changes is compared with what the set was made from, and every place for a new one must be free.
///    All conflicts are told in one error.
/// 2. What will be replaced is kept in `contents`, for [`Applied::undo`].
/// 3. The intent is written to `log`. Then folders are made, and each new content is written under a temporary name in
///    its folder, with its mode, and out to the disk.
/// 4. The files are looked at again, and the commit is written to `log`: the point of no return.
/// 5. Files go, temporary names become the real ones, emptied folders go, new folders get their modes, and the end is written
///    to `log`.
///
/// Until 5 every failure leaves the tree as it was. A crash is dealt with by [`recover`](crate::recover()).
///
/// Paths are walked by handle and no link is followed, so nothing outside of `root` can be touched, whatever happens in it
/// meanwhile. New content is a new file: it keeps mode and, where the system allows, owner, but not hard links, extended
/// attributes or access lists. The caller makes sure that only one apply works on a tree at a time.
///
/// # Errors
/// See [`ApplyError`].
pub fn apply(
    set: &ChangeSet,
    root: &Path,
    contents: &Contents,
    log: &mut dyn IntentLog,
) -> Result<Applied, ApplyError> {
    apply_watched(set, root, contents, log, &mut Unwatched)
}

/// [`apply()`], telling `watch` each step, which can stop it.
///
/// # Errors
/// See [`ApplyError`].
pub fn apply_watched(
    set: &ChangeSet,
    root: &Path,
    contents: &Contents,
    log: &mut dyn IntentLog,
    watch: &mut dyn Watch,
) -> Result<Applied, ApplyError> {
    set.check()?;
    let tree = Tree::open(root).map_err(|source| ApplyError::Root { root: root.to_owned(), source })?;
    if set.is_empty() {
        return Ok(Applied {
            intent: None,
            undo: ChangeSet::default(),
            kept: Vec::new(),
            folders_left: Vec::new(),
            owner_changed: Vec::new(),
        });
    }
    let targets = targets(set);
    let checked = check(&tree, set, set.digest(), &targets, watch)?;
    let plan = checked.plan;
    let mut apply = Apply { tree: &tree, contents, targets: &targets, plan: &plan, watch, made: Made::default() };
    let intent = apply.keep(set, &checked.identities)?;

    apply.step(Step::Intent, "write the intent of", "")?;
    if let Err(source) = log.intent(&intent) {
        return Err(ApplyError::Log { what: "what will be changed", source, left: Vec::new() });
    }
    let committed = apply.stage(&checked.identities).and_then(|()| {
        apply.recheck(&checked.identities)?;
        apply.step(Step::Commit, "commit to", "")?;
        log.commit(&plan.id).map_err(|source| ApplyError::Log { what: "the commit", source, left: Vec::new() })
    });
    if let Err(error) = committed {
        let left = roll_back(&tree, &plan, apply.made.folders, apply.made.files, apply.watch);
        // Should this fail, the next start finds an intent that has not ended, and nothing left to roll back.
        let _ = log.end(&plan.id, Outcome::RolledBack);
        return Err(error.leaving(left));
    }
    let owner_changed = apply.made.owner_changed;
    let finish =
        Finish { tree: &tree, contents, targets: &targets, plan: &plan, identities: Some(&checked.identities), watch };
    let Done { kept, folders_left } = finish.run()?;
    let undo = plan.undo(set, &kept, &folders_left);
    let applied = Applied { intent: Some(intent), undo, kept, folders_left, owner_changed };
    end(log, watch, &plan, applied.outcome())?;
    Ok(applied)
}

/// Writes the end of what is complete.
pub(crate) fn end(
    log: &mut dyn IntentLog,
    watch: &mut dyn Watch,
    plan: &Plan,
    outcome: Outcome,
) -> Result<(), ApplyError> {
    tell(watch, Step::End)
        .and_then(|()| log.end(&plan.id, outcome))
        .map_err(|source| ApplyError::NotEnded { outcome, source })
}

/// What was made in the tree so far.
#[derive(Default)]
struct Made {
    folders: usize,
    files: usize,
    owner_changed: Vec<String>,
}

struct Apply<'a, 's> {
    tree: &'a Tree,
    contents: &'a Contents,
    targets: &'a BTreeMap<&'s str, Target<'s>>,
    plan: &'a Plan,
    watch: &'a mut dyn Watch,
    made: Made,
}

impl Apply<'_, '_> {
    fn step(&mut self, step: Step<'_>, action: &'static str, path: &str) -> Result<(), ApplyError> {
        self.watch.before(step).map_err(|source| failed(action, path)(source))
    }

    /// Keeps what a recovery and an undo need.
    fn keep(&mut self, set: &ChangeSet, identities: &BTreeMap<&str, Identity>) -> Result<Intent, ApplyError> {
        let kept = |source: ContentsError| ApplyError::Contents { source, left: Vec::new() };
        for path in identities.keys() {
            self.step(Step::Save(path), "keep the content of", path)?;
            let file = self.tree.read(path);
            let digest = self.contents.put(&mut file.map_err(failed("read", path))?).map_err(kept)?;
            let target = self.targets.get(path).cloned().unwrap_or_default();
            if target.base.is_none_or(|(base, _)| *base != digest) {
                return Err(self.conflict(path, target.base));
            }
        }
        let set_digest = self.contents.put(&mut set.to_json().as_slice()).map_err(kept)?;
        let plan = self.contents.put(&mut self.plan.to_json().as_slice()).map_err(kept)?;
        let sides = self.targets.values().flat_map(|target| [target.base, target.new]).flatten();
        self.contents.sync(sides.map(|(digest, _)| digest).chain([&set_digest, &plan])).map_err(kept)?;
        let files = set.changes.len() as u64;
        Ok(Intent { id: self.plan.id.clone(), set: set_digest, plan, files })
    }

    fn conflict(&self, path: &str, expected: Option<plan::Side<'_>>) -> ApplyError {
        let (found, _) = self.tree.state(path);
        let conflict = Conflict { path: path.to_owned(), expected: state_of(expected), found };
        ApplyError::Conflict { conflicts: vec![conflict], left: Vec::new() }
    }

    /// Makes folders and temporary files.
    fn stage(&mut self, identities: &BTreeMap<&str, Identity>) -> Result<(), ApplyError> {
        for folder in &self.plan.early {
            let path = &folder.path;
            self.step(Step::MakeFolder(path), "make the folder", path)?;
            match self.tree.make_folder(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(self.conflict(path, None)),
                result => result.map_err(failed("make the folder", path))?,
            }
            self.made.folders += 1;
        }
        let new = self.targets.iter().filter_map(|(path, target)| Some((*path, target.new?)));
        for ((path, side), temp) in new.zip(&self.plan.temps) {
            self.step(Step::Create(temp), "write", path)?;
            let file = self.tree.create(temp).map_err(failed("make a file for", path))?;
            self.made.files += 1;
            write(self.contents, side.0, file, |file| {
                self.watch.before(Step::Complete(temp))?;
                let owner = identities.get(path).map(|identity| identity.owner);
                if !Tree::complete(file, side.1, owner)? {
                    self.made.owner_changed.push(path.to_owned());
                }
                Ok(())
            })
            .map_err(|error| match error {
                CopyError::Contents(source) => ApplyError::Contents { source, left: Vec::new() },
                CopyError::Write(source) => failed("write", path)(source),
            })?;
        }
        Ok(())
    }

    /// Sees that nothing changed since it was compared.
    fn recheck(&mut self, identities: &BTreeMap<&str, Identity>) -> Result<(), ApplyError> {
        let mut conflicts = Vec::new();
        for (path, target) in self.targets {
            self.step(Step::Recheck(path), "look at", path)?;
            let now = self.tree.identity(path).map_err(failed("look at", path))?;
            let gives_way = || self.plan.removed.iter().any(|folder| folder.path == *path);
            if now.as_ref() != identities.get(path) && (target.base.is_some() || !gives_way()) {
                let (found, _) = self.tree.state(path);
                let expected = state_of(target.base);
                // Touched, but with the same content and mode: not a change.
                if found != expected {
                    conflicts.push(Conflict { path: (*path).to_owned(), expected, found });
                }
            }
        }
        if conflicts.is_empty() { Ok(()) } else { Err(ApplyError::Conflict { conflicts, left: Vec::new() }) }
    }
}

fn failed<'p>(action: &'static str, path: &'p str) -> impl Fn(io::Error) -> ApplyError + use<'p> {
    move |source| ApplyError::before(Failure { action, path: path.to_owned(), source })
}

/// Writes a content into a file and completes it.
pub(crate) fn write(
    contents: &Contents,
    digest: &brain_packet::Digest,
    mut file: std::fs::File,
    complete: impl FnOnce(&std::fs::File) -> io::Result<()>,
) -> Result<(), CopyError> {
    contents.copy_to(digest, &mut file)?;
    complete(&file).map_err(CopyError::Write)
}

/// Removes the first so many folders and files that a plan names; returns what could not be removed.
pub(crate) fn roll_back(tree: &Tree, plan: &Plan, folders: usize, files: usize, watch: &mut dyn Watch) -> Vec<String> {
    let mut left = Vec::new();
    for temp in plan.temps.iter().take(files) {
        if tell(watch, Step::TakeBack(temp)).and_then(|()| tree.remove(temp)).is_err() {
            left.push(temp.clone());
        }
    }
    for folder in plan.early.iter().take(folders).rev() {
        let path = &folder.path;
        if tell(watch, Step::TakeBack(path)).and_then(|()| tree.remove_folder(path)).is_err() {
            left.push(path.clone());
        }
    }
    left
}
