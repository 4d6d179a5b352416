//! What `.gitignore` files hide.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::OpenOptions;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::lower::Lower;

/// Bytes of one `.gitignore`. Compiled rules take many times the room of their text, in the host's memory.
const MAX_GITIGNORE_BYTES: u64 = 64 << 10;
/// Bytes of one rule.
const MAX_RULE_BYTES: usize = 512;
/// Bytes of all `.gitignore` files of one call together.
const MAX_ALL_BYTES: usize = 256 << 10;
/// Bytes of the folders that are remembered; what is known of further ones is found anew each time.
const MAX_FOLDERS_BYTES: usize = 8 << 20;
/// Bytes that one remembered folder takes besides its path.
const FOLDER_BYTES: usize = 128;
/// Unusable files that are named; further ones are counted with the last.
const MAX_NAMED: usize = 16;

/// The `.gitignore` files of a tree, read when first asked for. They fail closed: where one cannot be used, nothing of its
/// folder is shown but what is tracked.
pub(crate) struct Ignores {
    root: Arc<Lower>,
    /// Paths that no `.gitignore` hides, as git has it for tracked files.
    tracked: Arc<BTreeSet<String>>,
    /// By folder, what its `.gitignore` says, where it has one; none for a file that is too large or cannot be compiled.
    files: Mutex<HashMap<String, Option<Arc<Gitignore>>>>,
    folders: Mutex<Folders>,
    all_bytes: AtomicUsize,
    unusable: Mutex<Vec<String>>,
}

/// The folders that were asked for. A guest can ask for any number of them, whether or not they exist.
#[derive(Default)]
struct Folders {
    known: HashMap<String, Arc<FolderRules>>,
    bytes: usize,
}

/// What is known of one folder.
struct FolderRules {
    /// It is excluded, or a folder that it is in.
    excluded: bool,
    /// The nearest rules above it.
    above: Option<Arc<Level>>,
    /// The nearest rules for what is in it. They are read when something in it is asked for.
    inside: OnceLock<Option<Arc<Level>>>,
}

/// The `.gitignore` of one folder, and those of the folders that it is in. A folder without one has no level.
struct Level {
    /// Bytes of the folder's path with the slash after it.
    prefix: usize,
    /// None for a file that cannot be used.
    rules: Option<Arc<Gitignore>>,
    above: Option<Arc<Level>>,
}

impl Level {
    /// Whether the nearest file that says anything about `path`, which is in the folder, excludes it.
    fn excludes(self: &Arc<Self>, path: &str, is_folder: bool) -> bool {
        let levels = std::iter::successors(Some(self), |level| level.above.as_ref());
        for Self { prefix, rules, .. } in levels.map(AsRef::as_ref) {
            let Some(rules) = rules else { return true };
            let verdict = rules.matched(path.get(*prefix..).unwrap_or(path), is_folder);
            if !verdict.is_none() {
                return verdict.is_ignore();
            }
        }
        false
    }
}

/// What is read from one folder.
enum Rules {
    /// It has no `.gitignore`, or one without rules.
    None,
    Some(Gitignore),
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
        if is_folder {
            return self.folder(path).excluded;
        }
        let parent = parent(path);
        let folder = self.folder(parent);
        folder.excluded || self.inside(&folder, parent).is_some_and(|level| level.excludes(path, false))
    }

    /// What is known of a folder, and of those that it is in.
    fn folder(&self, path: &str) -> Arc<FolderRules> {
        if let Some(known) = lock(&self.folders).known.get(path) {
            return Arc::clone(known);
        }
        let (excluded, above) = if path.is_empty() {
            (false, None)
        } else {
            let parent = parent(path);
            let folder = self.folder(parent);
            let above = self.inside(&folder, parent);
            (folder.excluded || above.is_some_and(|level| level.excludes(path, true)), above.cloned())
        };
        let folder = Arc::new(FolderRules { excluded, above, inside: OnceLock::new() });
        let mut folders = lock(&self.folders);
        let bytes = folders.bytes + path.len() + FOLDER_BYTES;
        if bytes <= MAX_FOLDERS_BYTES {
            folders.bytes = bytes;
            folders.known.insert(path.to_owned(), Arc::clone(&folder));
        }
        folder
    }

    /// The rules for what is in a folder.
    fn inside<'a>(&self, folder: &'a FolderRules, path: &str) -> Option<&'a Arc<Level>> {
        let level = folder.inside.get_or_init(|| {
            let above = folder.above.clone();
            let Some(rules) = self.file(path) else { return above };
            let prefix = if path.is_empty() { 0 } else { path.len() + 1 };
            Some(Arc::new(Level { prefix, rules, above }))
        });
        level.as_ref()
    }

    /// The `.gitignore` of a folder, where it has one.
    fn file(&self, folder: &str) -> Option<Option<Arc<Gitignore>>> {
        if let Some(known) = lock(&self.files).get(folder) {
            return Some(known.clone());
        }
        let name = if folder.is_empty() { ".gitignore".into() } else { format!("{folder}/.gitignore") };
        let rules = match self.read_rules(&name) {
            Rules::None => return None,
            Rules::Some(rules) => Some(Arc::new(rules)),
            Rules::Unusable => {
                self.note_unusable(name);
                None
            }
        };
        lock(&self.files).insert(folder.to_owned(), rules.clone());
        Some(rules)
    }

    fn note_unusable(&self, name: String) {
        let mut unusable = lock(&self.unusable);
        if unusable.len() < MAX_NAMED {
            unusable.push(name);
        } else if let Some(last) = unusable.last_mut() {
            *last = "(and more)".into();
        }
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
            Ok(rules) => Rules::Some(rules),
            Err(_) => Rules::Unusable,
        }
    }
}

/// The folder that `path` is in.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
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
    fn the_nearest_rule_decides_and_a_folder_that_is_excluded_stays_so() {
        let (dir, ignores) = ignores(b"*.log\n/out/\n", &[]);
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::create_dir(dir.path().join("out")).unwrap();
        std::fs::write(dir.path().join("a/.gitignore"), "!kept.log\n").unwrap();
        std::fs::write(dir.path().join("a/b/.gitignore"), "kept.*\n").unwrap();
        std::fs::write(dir.path().join("out/.gitignore"), "!*\n").unwrap();
        let hidden = ["x.log", "a/x.log", "a/b/kept.log", "a/b/c/kept.txt", "out/x", "out/sub/x"];
        let shown = ["x", "a/kept.log", "a/c/kept.log", "a/b/x"];
        assert_eq!(hidden.map(|path| ignores.hides(path, false)), [true; 6]);
        assert_eq!(shown.map(|path| ignores.hides(path, false)), [false; 4]);
        assert!(ignores.hides("out", true) && ignores.hides("out/sub", true) && !ignores.hides("a", true));
    }

    #[test]
    fn folders_that_are_asked_for_without_end_take_bounded_room_and_rules_stay() {
        let (dir, ignores) = ignores(b"secret\n", &[]);
        std::fs::create_dir(dir.path().join("late")).unwrap();
        std::fs::write(dir.path().join("late/.gitignore"), "x\n".repeat(20_000)).unwrap();
        let long = "0".repeat(200);
        for n in 0..30_000 {
            assert!(!ignores.hides(&format!("{n}{long}/file"), false));
        }
        assert!(lock(&ignores.folders).bytes <= MAX_FOLDERS_BYTES);
        assert!(ignores.hides("never/asked/before/secret", false));
        // Found anew each time, its text counts once.
        for _ in 0..50 {
            assert!(ignores.hides("late/x", false) && !ignores.hides("late/y", false));
        }
        assert!(ignores.unusable().is_empty());
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
