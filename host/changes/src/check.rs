//! The first step of an apply: is the tree what the change set was made from?

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use brain_packet::Digest;

use crate::change::Folder;
use crate::error::{ApplyError, Failure};
use crate::intent::IntentId;
use crate::path::{ancestors, split};
use crate::plan::{Plan, Target, state_of, targets};
use crate::set::ChangeSet;
use crate::state::{Conflict, State};
use crate::tree::{Entry, Identity, Tree};
use crate::watch::{Step, Unwatched, Watch};

/// Most entries that are looked at in a folder whose place a file takes.
const MAX_ENTRIES: usize = crate::set::MAX_CHANGES + crate::set::MAX_FOLDERS;

/// A tree that is as expected.
pub(crate) struct Checked<'s> {
    pub(crate) plan: Plan,
    /// Each file that changes or goes, as it was when it was compared.
    pub(crate) identities: BTreeMap<&'s str, Identity>,
}

/// In what the tree at `root` differs from what `set` was made from: every path that would be in the way of applying it,
/// sorted. Touches nothing, and asks for no permission to.
///
/// A set that takes back what was applied tells, by being without conflict, that the tree is as that apply left it. Of folders
/// alone that says little, since one that is there already, or gone already, is in nobody's way: [`is_base()`] looks at them too.
///
/// # Errors
/// The set breaks a rule, or the root cannot be opened.
pub fn conflicts(set: &ChangeSet, root: &Path) -> Result<Vec<Conflict>, ApplyError> {
    set.check()?;
    let tree = Tree::open(root).map_err(|source| ApplyError::Root { root: root.to_owned(), source })?;
    let targets = targets(set);
    let mut check = Check::new(&tree, set, &targets);
    check.files(&mut Unwatched)?;
    check.folders_added(&set.folders_added);
    check.folders_removed(&set.folders_removed);
    Ok(check.conflicts.into_values().collect())
}

/// Whether the tree at `root` is what `set` was made from. Where a set has no files, its folders have to tell: those that it
/// removes are there, and those that it adds are not.
///
/// # Errors
/// As [`conflicts()`].
pub fn is_base(set: &ChangeSet, root: &Path) -> Result<bool, ApplyError> {
    if !conflicts(set, root)?.is_empty() {
        return Ok(false);
    }
    if !set.changes.is_empty() {
        return Ok(true);
    }
    let tree = Tree::open(root).map_err(|source| ApplyError::Root { root: root.to_owned(), source })?;
    let is_there = |folder: &Folder| tree.folder_mode(&folder.path).is_ok();
    Ok(set.folders_removed.iter().all(is_there) && !set.folders_added.iter().any(is_there))
}

/// Compares every path that the set touches, and plans. Touches nothing.
pub(crate) fn check<'s>(
    tree: &Tree,
    set: &'s ChangeSet,
    digest: Digest,
    targets: &BTreeMap<&'s str, Target<'s>>,
    watch: &mut dyn Watch,
) -> Result<Checked<'s>, ApplyError> {
    let mut check = Check::new(tree, set, targets);
    check.files(watch)?;
    let (early, late) = check.folders_added(&set.folders_added);
    let removed = check.folders_removed(&set.folders_removed);
    if !check.conflicts.is_empty() {
        return Err(ApplyError::Conflict { conflicts: check.conflicts.into_values().collect(), left: Vec::new() });
    }
    check.may_change(&removed, &set.folders_added)?;
    let id = IntentId::fresh();
    let mut plan = Plan { id, set: digest, early, late, removed, temps: Vec::new() };
    plan.temps = plan.temp_paths(set);
    Ok(Checked { plan, identities: check.identities })
}

struct Check<'c, 's> {
    tree: &'c Tree,
    targets: &'c BTreeMap<&'s str, Target<'s>>,
    added: BTreeSet<&'s str>,
    removed: BTreeSet<&'s str>,
    /// By path, so that each is told once.
    conflicts: BTreeMap<String, Conflict>,
    identities: BTreeMap<&'s str, Identity>,
}

impl<'c, 's> Check<'c, 's> {
    fn new(tree: &'c Tree, set: &'s ChangeSet, targets: &'c BTreeMap<&'s str, Target<'s>>) -> Self {
        Self {
            tree,
            targets,
            added: set.folders_added.iter().map(|folder| folder.path.as_str()).collect(),
            removed: set.folders_removed.iter().map(|folder| folder.path.as_str()).collect(),
            conflicts: BTreeMap::new(),
            identities: BTreeMap::new(),
        }
    }

    fn files(&mut self, watch: &mut dyn Watch) -> Result<(), ApplyError> {
        for (path, target) in self.targets {
            watch.before(Step::Check(path)).map_err(|source| {
                ApplyError::before(Failure { action: "look at", path: (*path).to_owned(), source })
            })?;
            self.file(path, target);
        }
        Ok(())
    }

    fn conflict(&mut self, path: &str, expected: State, found: State) {
        let conflict = Conflict { path: path.to_owned(), expected, found };
        self.conflicts.entry(path.to_owned()).or_insert(conflict);
    }

    fn file(&mut self, path: &'s str, target: &Target<'s>) {
        let expected = state_of(target.base);
        let (found, identity) = self.tree.state(path);
        if target.base.is_some() {
            match identity {
                Some(identity) if found == expected => {
                    self.identities.insert(path, identity);
                }
                _ => self.conflict(path, expected, found),
            }
            return;
        }
        match found {
            State::Missing => {}
            State::Blocked { at, by } => self.blocked(path, &at, *by),
            State::Folder if self.removed.contains(path) => self.must_empty(path),
            found => self.conflict(path, expected, found),
        }
    }

    /// Something above a path that is to be new is no folder: fine if the set makes it one.
    fn blocked(&mut self, path: &str, at: &str, by: State) {
        let gives_way = match by {
            State::Missing => true,
            State::SomeFile | State::SpecialMode { .. } => {
                self.targets.get(at).is_some_and(|target| target.base.is_some() && target.new.is_none())
            }
            _ => false,
        };
        if !gives_way {
            return self.conflict(at, State::Folder, by);
        }
        let missing = ancestors(path).find(|above| above.len() >= at.len() && !self.added.contains(above));
        if let Some(missing) = missing {
            let found = if missing == at { by } else { State::Missing };
            self.conflict(missing, State::Folder, found);
        }
    }

    /// A file takes the place of a folder: what is in the folder must go too.
    fn must_empty(&mut self, path: &str) {
        let entries = match self.tree.entries(path, MAX_ENTRIES) {
            Ok(entries) => entries,
            Err(error) => return self.conflict(path, State::Folder, State::Unreadable { why: error.to_string() }),
        };
        if entries.len() >= MAX_ENTRIES {
            // More than a set could take away, so that something stays whatever it is.
            return self.conflict(path, State::Missing, State::Folder);
        }
        for entry in entries {
            let entry = match entry {
                Entry::Path(path) => path,
                // No change is about a name that is not text, so it stays.
                Entry::NotText { shown, is } => {
                    self.conflict(&shown, State::Missing, is);
                    continue;
                }
            };
            let goes = self.targets.get(entry.as_str()).is_some_and(|t| t.base.is_some() && t.new.is_none());
            if self.removed.contains(entry.as_str()) {
                self.must_empty(&entry);
            } else if !goes {
                let (found, _) = self.tree.state(&entry);
                self.conflict(&entry, State::Missing, found);
            }
        }
    }

    /// The folders to make before the commit, and those to make after it.
    fn folders_added(&mut self, folders: &[Folder]) -> (Vec<Folder>, Vec<Folder>) {
        let (mut early, mut late) = (Vec::new(), Vec::new());
        for folder in folders {
            let path = folder.path.as_str();
            let goes = |path: &str| self.targets.get(path).is_some_and(|t| t.base.is_some() && t.new.is_none());
            match self.tree.folder_mode(path) {
                // It is there already: nothing to do, and nothing to undo.
                Ok(_) => {}
                Err(State::Missing) => early.push(folder.clone()),
                Err(State::SomeFile | State::SpecialMode { .. }) if goes(path) => late.push(folder.clone()),
                Err(State::Blocked { at, by }) => {
                    let list = if *by == State::Missing { &mut early } else { &mut late };
                    list.push(folder.clone());
                    self.blocked(path, &at, *by);
                }
                Err(found) => self.conflict(path, State::Missing, found),
            }
        }
        (early, late)
    }

    /// The folders that are there to be removed, with the modes that they have.
    fn folders_removed(&mut self, folders: &[Folder]) -> Vec<Folder> {
        let mut removed = Vec::new();
        for folder in folders {
            match self.tree.folder_mode(&folder.path) {
                Ok(mode) => removed.push(Folder::new(folder.path.as_str(), mode)),
                Err(State::Missing) => {}
                Err(State::Blocked { by, .. }) if *by == State::Missing => {}
                Err(State::Blocked { at, by }) => self.conflict(&at, State::Folder, *by),
                Err(found) => self.conflict(&folder.path, State::Folder, found),
            }
        }
        removed
    }

    /// Whether names may change wherever files and folders come and go.
    fn may_change(&self, removed: &[Folder], added: &[Folder]) -> Result<(), ApplyError> {
        let going = self.identities.keys().copied().chain(removed.iter().map(|folder| folder.path.as_str()));
        let mut folders: BTreeSet<&str> = going.map(|path| split(path).0).collect();
        let coming = self.targets.iter().filter(|(_, target)| target.new.is_some()).map(|(path, _)| *path);
        let above: BTreeSet<&str> =
            coming.chain(added.iter().map(|folder| folder.path.as_str())).map(|path| split(path).0).collect();
        folders.extend(above.into_iter().map(|folder| self.nearest(folder)));
        for folder in folders {
            self.tree.may_change(folder).map_err(|source| {
                ApplyError::before(Failure { action: "change what is in the folder", path: folder.to_owned(), source })
            })?;
        }
        for path in self.identities.keys().copied().chain(removed.iter().map(|folder| folder.path.as_str())) {
            self.tree.may_replace(path).map_err(|source| {
                ApplyError::before(Failure { action: "replace or remove", path: path.to_owned(), source })
            })?;
        }
        Ok(())
    }
    /// `folder`, or the nearest one above it that is there: where it will be made.
    fn nearest<'p>(&self, mut folder: &'p str) -> &'p str {
        while !folder.is_empty() && self.tree.folder_mode(folder).is_err() {
            folder = split(folder).0;
        }
        folder
    }
}
