//! What `.gitignore` files hide.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::scope::prefix_ends;

/// Bytes of one `.gitignore` that are read; a longer one is honoured up to there.
const MAX_GITIGNORE_BYTES: u64 = 1 << 20;

/// The `.gitignore` files of a tree, read when first asked for.
pub(crate) struct Ignores {
    root: Arc<Dir>,
    files: Mutex<HashMap<String, Option<Arc<Gitignore>>>>,
    folders: Mutex<HashMap<String, bool>>,
}

impl Ignores {
    pub(crate) fn new(root: Arc<Dir>) -> Self {
        Self { root, files: Mutex::default(), folders: Mutex::default() }
    }

    /// Whether a `.gitignore` excludes `path` or a folder that it is in.
    pub(crate) fn hides(&self, path: &str, is_folder: bool) -> bool {
        prefix_ends(path).any(|end| {
            let prefix = path.get(..end).unwrap_or(path);
            if end < path.len() || is_folder {
                let known = lock(&self.folders).get(prefix).copied();
                known.unwrap_or_else(|| {
                    let hidden = self.hides_entry(prefix, true);
                    lock(&self.folders).insert(prefix.to_owned(), hidden);
                    hidden
                })
            } else {
                self.hides_entry(prefix, false)
            }
        })
    }

    /// Whether the nearest `.gitignore` that says anything about `path` excludes it.
    fn hides_entry(&self, path: &str, is_folder: bool) -> bool {
        let mut folder = path;
        while let Some((parent, _)) = folder.rsplit_once('/').or((!folder.is_empty()).then_some(("", ""))) {
            folder = parent;
            if let Some(rules) = self.rules_of(folder) {
                let relative = if folder.is_empty() { path } else { path.get(folder.len() + 1..).unwrap_or(path) };
                let verdict = rules.matched(relative, is_folder);
                if verdict.is_ignore() {
                    return true;
                }
                if verdict.is_whitelist() {
                    return false;
                }
            }
        }
        false
    }

    fn rules_of(&self, folder: &str) -> Option<Arc<Gitignore>> {
        if let Some(known) = lock(&self.files).get(folder) {
            return known.clone();
        }
        let rules = self.read_rules(folder).map(Arc::new);
        lock(&self.files).insert(folder.to_owned(), rules.clone());
        rules
    }

    fn read_rules(&self, folder: &str) -> Option<Gitignore> {
        let name = if folder.is_empty() { ".gitignore".into() } else { format!("{folder}/.gitignore") };
        // A link or a FIFO by this name has no rules to give, and opening a FIFO must not wait for a writer.
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file =
            self.root.open_with(&name, &options).ok().filter(|file| file.metadata().is_ok_and(|m| m.is_file()))?;
        let mut text = Vec::new();
        file.take(MAX_GITIGNORE_BYTES).read_to_end(&mut text).ok()?;
        let mut builder = GitignoreBuilder::new("");
        for line in String::from_utf8_lossy(&text).lines() {
            // git ignores a rule that it cannot read, too
            let _ = builder.add_line(None, line);
        }
        builder.build().ok().filter(|rules| !rules.is_empty())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
