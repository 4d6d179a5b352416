//! What `.gitignore` files hide.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::OpenOptions;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::lower::Lower;
use crate::scope::prefix_ends;

/// Bytes of one `.gitignore`. Compiled rules take many times the room of their text, in the host's memory.
const MAX_GITIGNORE_BYTES: u64 = 64 << 10;
/// Bytes of one rule.
const MAX_RULE_BYTES: usize = 512;
/// Bytes of all `.gitignore` files of one call together.
const MAX_ALL_BYTES: usize = 256 << 10;
/// Unusable files that are named; further ones are counted with the last.
const MAX_NAMED: usize = 16;

/// The `.gitignore` files of a tree, read when first asked for. They fail closed: where one cannot be used, nothing of its
/// folder is shown but what is tracked.
pub(crate) struct Ignores {
    root: Arc<Lower>,
    /// Paths that no `.gitignore` hides, as git has it for tracked files.
    tracked: Arc<BTreeSet<String>>,
    files: Mutex<HashMap<String, Rules>>,
    folders: Mutex<HashMap<String, bool>>,
    all_bytes: AtomicUsize,
    unusable: Mutex<Vec<String>>,
}

/// What one folder's `.gitignore` says.
#[derive(Clone)]
enum Rules {
    /// It has none.
    None,
    Some(Arc<Gitignore>),
    /// It has one that is too large or cannot be compiled.
    Unusable,
}

impl Ignores {
    pub(crate) fn new(root: Arc<Lower>, tracked: Arc<BTreeSet<String>>) -> Self {
        Self {
            root,
            tracked,
            files: Mutex::default(),
            folders: Mutex::default(),
            all_bytes: AtomicUsize::new(0),
            unusable: Mutex::default(),
        }
    }

    /// The `.gitignore` files that could not be used.
    pub(crate) fn unusable(&self) -> Vec<String> {
        lock(&self.unusable).clone()
    }

    /// Whether a `.gitignore` excludes `path` or a folder that it is in, and nothing of it is tracked.
    pub(crate) fn hides(&self, path: &str, is_folder: bool) -> bool {
        self.excludes(path, is_folder) && !self.is_tracked(path, is_folder)
    }

    fn is_tracked(&self, path: &str, is_folder: bool) -> bool {
        if !is_folder {
            return self.tracked.contains(path);
        }
        let below = format!("{path}/");
        self.tracked.range(below.clone()..).next().is_some_and(|first| first.starts_with(&below))
    }

    fn excludes(&self, path: &str, is_folder: bool) -> bool {
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
            let rules = match self.rules_of(folder) {
                Rules::None => continue,
                Rules::Unusable => return true,
                Rules::Some(rules) => rules,
            };
            let relative = if folder.is_empty() { path } else { path.get(folder.len() + 1..).unwrap_or(path) };
            let verdict = rules.matched(relative, is_folder);
            if verdict.is_ignore() {
                return true;
            }
            if verdict.is_whitelist() {
                return false;
            }
        }
        false
    }

    fn rules_of(&self, folder: &str) -> Rules {
        if let Some(known) = lock(&self.files).get(folder) {
            return known.clone();
        }
        let name = if folder.is_empty() { ".gitignore".into() } else { format!("{folder}/.gitignore") };
        let rules = self.read_rules(&name);
        if matches!(rules, Rules::Unusable) {
            let mut unusable = lock(&self.unusable);
            if unusable.len() < MAX_NAMED {
                unusable.push(name);
            } else if let Some(last) = unusable.last_mut() {
                *last = "(and more)".into();
            }
        }
        lock(&self.files).insert(folder.to_owned(), rules.clone());
        rules
    }

    fn read_rules(&self, name: &str) -> Rules {
        // A link or a FIFO by this name has no rules to give, and opening a FIFO must not wait for a writer.
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = match self.root.dir().and_then(|root| root.open_with(name, &options)) {
            Ok(file) => file,
            Err(error) if is_none(&error) => return Rules::None,
            // Too many open files, say: that it cannot be read now must not show what it hides.
            Err(_) => return Rules::Unusable,
        };
        if !file.metadata().is_ok_and(|m| m.is_file()) {
            return Rules::None;
        }
        let mut text = Vec::new();
        if file.take(MAX_GITIGNORE_BYTES + 1).read_to_end(&mut text).is_err() {
            return Rules::Unusable;
        }
        let all = self.all_bytes.fetch_add(text.len(), Relaxed) + text.len();
        if text.len() as u64 > MAX_GITIGNORE_BYTES || all > MAX_ALL_BYTES {
            return Rules::Unusable;
        }
        let text = String::from_utf8_lossy(&text);
        let mut builder = GitignoreBuilder::new("");
        for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
            if line.len() > MAX_RULE_BYTES {
                return Rules::Unusable;
            }
            // What is no glob matches nothing, for git as well.
            let _ = builder.add_line(None, line);
        }
        match builder.build() {
            Ok(rules) if rules.is_empty() => Rules::None,
            Ok(rules) => Rules::Some(Arc::new(rules)),
            Err(_) => Rules::Unusable,
        }
    }
}

/// Whether there is no regular file by the name that was opened.
fn is_none(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let none = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::NXIO, Errno::MLINK];
    Errno::from_io_error(error).is_some_and(|errno| none.contains(&errno))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    fn ignores(rules: &[u8], tracked: &[&str]) -> (tempfile::TempDir, Ignores) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(".gitignore"), rules).unwrap();
        let root = Dir::open_ambient_dir(dir.path(), ambient_authority()).unwrap();
        let tracked = tracked.iter().map(|path| (*path).to_owned()).collect();
        let ignores = Ignores::new(Lower::opened(root), Arc::new(tracked));
        (dir, ignores)
    }

    #[test]
    fn what_is_tracked_is_not_hidden_and_neither_are_its_folders() {
        let (_dir, ignores) = ignores(b"*\n", &["src/kept.rs"]);
        assert!(!ignores.hides("src/kept.rs", false));
        assert!(!ignores.hides("src", true));
        assert!(ignores.hides("src/other.rs", false));
        assert!(ignores.hides("srcs", true));
    }

    #[test]
    fn a_byte_order_mark_does_not_disable_the_first_rule() {
        let (_dir, ignores) = ignores("\u{feff}secret.txt\n".as_bytes(), &[]);
        assert!(ignores.hides("secret.txt", false));
        assert!(!ignores.hides("other.txt", false));
    }

    #[test]
    fn rules_that_cannot_be_used_hide_everything_and_are_named() {
        let long_rule = format!("secret.txt\n{}\n", "a".repeat(MAX_RULE_BYTES + 1));
        let long_file = "x\n".repeat(usize::try_from(MAX_GITIGNORE_BYTES).unwrap());
        for rules in [long_rule, long_file] {
            let (_dir, ignores) = ignores(rules.as_bytes(), &["tracked"]);
            assert!(ignores.hides("secret.txt", false));
            assert!(ignores.hides("anything", false));
            assert!(!ignores.hides("tracked", false));
            assert_eq!(ignores.unusable(), [".gitignore"]);
        }
    }
}
