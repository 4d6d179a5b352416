//! After the commit: what was prepared becomes the tree. An apply does it with the files that it has prepared itself; a
//! recovery does it again, from wherever a crash left it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::apply::write;
use crate::contents::{Contents, CopyError};
use crate::error::{ApplyError, Failure};
use crate::path::split;
use crate::plan::{Plan, Target, state_of};
use crate::state::{Conflict, State};
use crate::tree::{Identity, NEW_FOLDER_MODE, Tree};
use crate::watch::{Step, Watch, tell};

pub(crate) struct Finish<'a, 's> {
    pub(crate) tree: &'a Tree,
    pub(crate) contents: &'a Contents,
    pub(crate) targets: &'a BTreeMap<&'s str, Target<'s>>,
    pub(crate) plan: &'a Plan,
    /// The files as they were checked by the same process, which has also just written every temporary file. None after a
    /// crash: then files are known by their content, and temporary files are written again.
    pub(crate) identities: Option<&'a BTreeMap<&'s str, Identity>>,
    pub(crate) watch: &'a mut dyn Watch,
}

/// What is not as the set has it, although all was done.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) kept: Vec<Conflict>,
    pub(crate) folders_left: Vec<String>,
}

/// What is to be done about a path.
enum Verdict {
    /// Nothing: it is as it should become.
    Done,
    /// It is as it was: go on.
    Ready,
    /// Somebody else made it something different.
    Theirs(State),
}

impl Finish<'_, '_> {
    pub(crate) fn run(mut self) -> Result<Done, ApplyError> {
        let mut done = Done::default();
        let mut failures = Vec::new();
        if self.identities.is_none() {
            self.make_folders(&self.plan.early, &mut failures);
        }
        self.remove_files(&mut done, &mut failures);
        self.remove_folders(&mut done, &mut failures);
        self.make_folders(&self.plan.late, &mut failures);
        self.place_files(&mut done, &mut failures);
        self.set_modes(&mut failures);
        self.sync(&mut failures);
        done.kept.sort_by(|a, b| a.path.cmp(&b.path));
        if failures.is_empty() { Ok(done) } else { Err(ApplyError::Unfinished { failures }) }
    }

    fn judge(&self, path: &str, target: &Target<'_>) -> io::Result<Verdict> {
        if let Some(identities) = self.identities
            && self.tree.identity(path)?.as_ref() == identities.get(path)
        {
            return Ok(Verdict::Ready);
        }
        let (found, _) = self.tree.state(path);
        if let State::Unreadable { why } = found {
            return Err(io::Error::other(why));
        }
        let gone = matches!(found, State::Missing | State::Blocked { .. });
        let became_folder = found == State::Folder && self.plan.late.iter().any(|folder| folder.path == path);
        Ok(match (target.base, target.new) {
            (_, None) if gone || became_folder => Verdict::Done,
            (_, Some(_)) if found == state_of(target.new) => Verdict::Done,
            (base, _) if found == state_of(base) => Verdict::Ready,
            _ => Verdict::Theirs(found),
        })
    }

    fn remove_files(&mut self, done: &mut Done, failures: &mut Vec<Failure>) {
        for (path, target) in self.targets.iter().filter(|(_, target)| target.new.is_none()) {
            let result = tell(self.watch, Step::Remove(path)).and_then(|()| match self.judge(path, target)? {
                Verdict::Done => Ok(()),
                Verdict::Ready => self.tree.remove(path),
                Verdict::Theirs(found) => {
                    let expected = state_of(target.base);
                    done.kept.push(Conflict { path: (*path).to_owned(), expected, found });
                    Ok(())
                }
            });
            note(failures, "remove", path, result);
        }
    }

    fn remove_folders(&mut self, done: &mut Done, failures: &mut Vec<Failure>) {
        for folder in self.plan.removed.iter().rev() {
            let path = &folder.path;
            let result = tell(self.watch, Step::RemoveFolder(path)).and_then(|()| self.tree.remove_folder(path));
            match result {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => done.folders_left.push(path.clone()),
                // A file has its place already, or somebody put something else there.
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
                result => note(failures, "remove the folder", path, result),
            }
        }
        done.folders_left.reverse();
    }

    fn make_folders(&mut self, folders: &[crate::change::Folder], failures: &mut Vec<Failure>) {
        for folder in folders {
            let path = &folder.path;
            let result = tell(self.watch, Step::MakeFolder(path)).and_then(|()| {
                // What is not missing is there already, or is somebody else's and the files that belong below say so.
                match self.tree.folder_mode(path) {
                    Err(State::Missing) => self.tree.make_folder(path),
                    _ => Ok(()),
                }
            });
            note(failures, "make the folder", path, result);
        }
    }

    fn place_files(&mut self, done: &mut Done, failures: &mut Vec<Failure>) {
        let new = self.targets.iter().filter(|(_, target)| target.new.is_some());
        for ((path, target), temp) in new.zip(&self.plan.temps) {
            let result = tell(self.watch, Step::Place(path)).and_then(|()| {
                match self.judge(path, target)? {
                    Verdict::Done => return self.tree.remove(temp),
                    Verdict::Ready => {}
                    Verdict::Theirs(found) => return self.keep(done, path, target, temp, found),
                }
                if self.identities.is_none() {
                    self.write_again(target, temp)?;
                }
                match self.tree.rename(temp, path, target.base.is_some()) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        let (found, _) = self.tree.state(path);
                        self.keep(done, path, target, temp, found)
                    }
                    result => result,
                }
            });
            note(failures, "put the new content at", path, result);
        }
    }

    fn keep(&self, done: &mut Done, path: &str, target: &Target<'_>, temp: &str, found: State) -> io::Result<()> {
        self.tree.remove(temp)?;
        done.kept.push(Conflict { path: path.to_owned(), expected: state_of(target.base), found });
        Ok(())
    }

    /// Writes a temporary file anew: what a crash left of it may be incomplete.
    fn write_again(&mut self, target: &Target<'_>, temp: &str) -> io::Result<()> {
        let Some((digest, mode)) = target.new else { return Ok(()) };
        self.tree.remove(temp)?;
        tell(self.watch, Step::Create(temp))?;
        let file = self.tree.create(temp)?;
        write(self.contents, digest, file, |file| {
            tell(self.watch, Step::Complete(temp))?;
            Tree::complete(file, mode, None).map(|_| ())
        })
        .map_err(|error| match error {
            CopyError::Contents(error) => io::Error::other(error),
            CopyError::Write(error) => error,
        })
    }

    /// Gives new folders their modes: last, since there are modes in which even their owner could not have worked. A folder
    /// that has one already got it before a crash, or from somebody else.
    fn set_modes(&mut self, failures: &mut Vec<Failure>) {
        for folder in self.plan.early.iter().chain(&self.plan.late).rev() {
            let path = &folder.path;
            let result = tell(self.watch, Step::SetMode(path)).and_then(|()| match self.tree.folder_mode(path) {
                Ok(NEW_FOLDER_MODE) => self.tree.set_folder_mode(path, folder.mode),
                _ => Ok(()),
            });
            note(failures, "set the mode of the folder", path, result);
        }
    }

    fn sync(&mut self, failures: &mut Vec<Failure>) {
        let removed = self.plan.removed.iter().map(|folder| folder.path.as_str());
        let made = self.plan.early.iter().chain(&self.plan.late).map(|folder| folder.path.as_str());
        let folders: BTreeSet<&str> =
            self.targets.keys().copied().chain(removed).chain(made).map(|path| split(path).0).collect();
        for folder in folders {
            let result = tell(self.watch, Step::Sync(folder)).and_then(|()| self.tree.sync(folder));
            note(failures, "write out the folder", folder, result);
        }
    }
}

fn note(failures: &mut Vec<Failure>, action: &'static str, path: &str, result: io::Result<()>) {
    if let Err(source) = result {
        failures.push(Failure { action, path: path.to_owned(), source });
    }
}
