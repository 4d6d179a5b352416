//! The pending change of a project, and which of its files are tracked, from git.
//!
//! The repository may come from anybody, and its configuration can name programs to run: filters, diff drivers, hooks,
//! fetchers, signature checkers. So the `git` program is not used here. libgit2 reads the repository and has none of these.
//!
//! A repository can also refer to objects of another one. What a project cannot reach as files it must not reach as
//! history, so a `.git` that leads elsewhere without being led back is refused.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use brain_sandbox::CancelToken;
use git2::{Delta, Diff, DiffFindOptions, DiffLineType, DiffOptions, ErrorCode, FileMode, Patch, Repository, Tree};

use crate::patch::{Header, header};

/// Bytes of the whole diff; files beyond it are left out, and said to be.
pub const MAX_DIFF_BYTES: usize = 8 << 20;
/// Files of a diff; further ones are left out, and said to be.
pub const MAX_DIFF_FILES: usize = 5_000;
/// Bytes of a file whose lines are compared; a larger one counts as binary.
const MAX_FILE_BYTES: i64 = 8 << 20;
/// Time that reading the repository may take.
pub const MAX_GIT_TIME: Duration = Duration::from_secs(20);
/// How often a wait for the repository looks whether the run was interrupted.
const LOOK: Duration = Duration::from_millis(20);

/// What git knows of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitView {
    /// The tracked files, relative to the project.
    pub tracked: Arc<BTreeSet<String>>,
    /// The change to review.
    pub changes: Changes,
    /// Whether the project is a folder of a larger work tree.
    pub is_part: bool,
}

/// A change, file by file, and what it is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The files, in the order of their paths.
    pub files: Vec<ChangedFile>,
    /// What was compared, in words.
    pub of: String,
    /// What is not among the files, in words.
    pub cut: Vec<String>,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path before and after, relative to the project; two only where it was renamed.
    pub paths: BTreeSet<String>,
    /// Its part of the unified diff.
    pub patch: Vec<u8>,
}

/// What git knows of `project`. It takes [`MAX_GIT_TIME`] at most, and ends early when `cancel` says so.
///
/// # Errors
/// Why there is nothing, in words: not a repository, no commit, a repository that is not read, too slow.
pub fn view(project: &Path, cancel: &CancelToken) -> Result<GitView, String> {
    let (send, receive) = channel();
    let project = project.to_owned();
    // A pipe in the place of a file of `.git` would hold this thread up for ever. It is then left behind.
    std::thread::Builder::new()
        .name("brain-git".into())
        .spawn(move || send.send(read(&project)))
        .map_err(|e| format!("the repository cannot be read: {e}"))?;
    let started = Instant::now();
    loop {
        match receive.recv_timeout(LOOK) {
            Ok(view) => return view,
            Err(RecvTimeoutError::Disconnected) => return Err("reading the repository failed inside the host".into()),
            Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => return Err("the run was interrupted".into()),
            Err(RecvTimeoutError::Timeout) if started.elapsed() > MAX_GIT_TIME => {
                return Err(format!("reading the repository took longer than {} s", MAX_GIT_TIME.as_secs()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn read(project: &Path) -> Result<GitView, String> {
    let repository = open(project)?;
    let within = within(project, &repository)?;
    let tracked = Arc::new(tracked(&repository, &within)?);
    let changes = changes(&repository, &within)?;
    Ok(GitView { tracked, changes, is_part: !within.is_empty() })
}

fn words(error: git2::Error) -> String {
    format!("the repository cannot be read: {}", error.message())
}

fn open(project: &Path) -> Result<Repository, String> {
    let repository = Repository::discover(project).map_err(|error| match error.code() {
        ErrorCode::NotFound => "this is not a git work tree".to_owned(),
        ErrorCode::Owner => "the repository belongs to somebody else (see safe.directory in git's manual)".to_owned(),
        _ => words(error),
    })?;
    let workdir = repository.workdir().ok_or("this is not a git work tree")?;
    let workdir = workdir.canonicalize().map_err(|e| format!("the work tree cannot be read: {e}"))?;
    if !belongs(&repository, &workdir) {
        return Err("the repository's .git leads to another repository: it is not read".into());
    }
    if repository.commondir().join("objects/info/alternates").exists() {
        return Err("the repository borrows objects of another one (objects/info/alternates): it is not read".into());
    }
    Ok(repository)
}

/// Whether the repository is the work tree's own: inside it, or elsewhere and naming it back, as linked work trees and
/// submodules do. Whoever makes a work tree that points elsewhere cannot write there.
fn belongs(repository: &Repository, workdir: &Path) -> bool {
    let Ok(git_dir) = repository.path().canonicalize() else { return false };
    let Ok(common) = repository.commondir().canonicalize() else { return false };
    if git_dir.starts_with(workdir) && common.starts_with(workdir) {
        return true;
    }
    let named = std::fs::read_to_string(git_dir.join("gitdir")).ok();
    let back = named.and_then(|path| PathBuf::from(path.trim()).parent().and_then(|p| p.canonicalize().ok()));
    if repository.is_worktree() {
        return back.as_deref() == Some(workdir) && git_dir.starts_with(&common);
    }
    let config = repository.config().and_then(|config| config.open_level(git2::ConfigLevel::Local));
    let named = config.and_then(|config| config.get_path("core.worktree")).ok();
    named.and_then(|path| git_dir.join(path).canonicalize().ok()).as_deref() == Some(workdir)
}

/// The project's path below the work tree: empty, or ending in a slash.
fn within(project: &Path, repository: &Repository) -> Result<String, String> {
    let workdir = repository.workdir().and_then(|dir| dir.canonicalize().ok()).ok_or("this is not a git work tree")?;
    let project = project.canonicalize().map_err(|e| format!("the project cannot be read: {e}"))?;
    let within = project.strip_prefix(&workdir).map_err(|_| "the project is outside its work tree")?;
    let within = within.to_str().ok_or("the project's path is not UTF-8")?;
    Ok(if within.is_empty() { String::new() } else { format!("{within}/") })
}

fn tracked(repository: &Repository, within: &str) -> Result<BTreeSet<String>, String> {
    let index = repository.index().map_err(words)?;
    let paths = index.iter().filter_map(|entry| String::from_utf8(entry.path).ok());
    Ok(paths.filter_map(|path| path.strip_prefix(within).map(str::to_owned)).collect())
}

/// The working tree and index against `HEAD`, with untracked files; in a clean tree, the last commit.
fn changes(repository: &Repository, within: &str) -> Result<Changes, String> {
    let head = repository.head().and_then(|head| head.peel_to_commit());
    let head = head.map_err(|_| "the repository has no commit to compare with")?;
    let tree = head.tree().map_err(words)?;
    let pending = repository
        .diff_tree_to_workdir_with_index(Some(&tree), Some(&mut options(within)))
        .map_err(words)
        .and_then(|diff| collect(diff, within))?;
    if !pending.files.is_empty() || !pending.cut.is_empty() {
        return Ok(Changes { of: "the uncommitted changes against HEAD".into(), ..pending });
    }
    let parent: Option<Tree<'_>> = match head.parent(0) {
        Ok(parent) => Some(parent.tree().map_err(words)?),
        // Against nothing when the last commit is the first.
        Err(_) => None,
    };
    let last = repository.diff_tree_to_tree(parent.as_ref(), Some(&tree), Some(&mut options(within))).map_err(words)?;
    Ok(Changes { of: "the last commit; there are no uncommitted changes".into(), ..collect(last, within)? })
}

fn options(within: &str) -> DiffOptions {
    let mut options = DiffOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .show_untracked_content(true)
        .include_typechange(true)
        .max_size(MAX_FILE_BYTES)
        .disable_pathspec_match(true);
    if !within.is_empty() {
        options.pathspec(within.trim_end_matches('/'));
    }
    options
}

fn collect(mut diff: Diff<'_>, within: &str) -> Result<Changes, String> {
    diff.find_similar(Some(DiffFindOptions::new().renames(true))).map_err(words)?;
    let mut changes = Changes::default();
    let (mut bytes, mut beyond, mut unnamed, mut unread) = (0, 0_usize, 0_usize, 0_usize);
    for index in 0..diff.deltas().len() {
        if bytes >= MAX_DIFF_BYTES || changes.files.len() >= MAX_DIFF_FILES {
            beyond += 1;
            continue;
        }
        match file(&diff, index, within) {
            Ok(Some(file)) if bytes + file.patch.len() > MAX_DIFF_BYTES => beyond += 1,
            Ok(Some(file)) => {
                bytes += file.patch.len();
                changes.files.push(file);
            }
            Ok(None) => {}
            Err(Unreadable::Name) => unnamed += 1,
            Err(Unreadable::Content) => unread += 1,
        }
    }
    let mut cut = |n: usize, why: &str| {
        if n > 0 {
            changes.cut.push(format!("{n} changed {} {why}", if n == 1 { "file is" } else { "files are" }));
        }
    };
    cut(beyond, "beyond the size that a diff may have");
    cut(unnamed, "left out, since the name is not UTF-8");
    cut(unread, "left out, since the content cannot be read");
    Ok(changes)
}

enum Unreadable {
    Name,
    Content,
}

/// One file of a diff; none where nothing of it is below the project.
fn file(diff: &Diff<'_>, index: usize, within: &str) -> Result<Option<ChangedFile>, Unreadable> {
    let Some(delta) = diff.get_delta(index) else { return Ok(None) };
    let relative = |bytes: Option<&[u8]>| -> Result<Option<String>, Unreadable> {
        let Some(bytes) = bytes else { return Ok(None) };
        let path = std::str::from_utf8(bytes).map_err(|_| Unreadable::Name)?;
        Ok(path.strip_prefix(within).map(str::to_owned))
    };
    let (old, new) = (relative(delta.old_file().path_bytes())?, relative(delta.new_file().path_bytes())?);
    let status = delta.status();
    let modes = (delta.old_file().mode(), delta.new_file().mode());
    let (Some(old_path), Some(new_path)) = (old.clone().or(new.clone()), new.or(old)) else { return Ok(None) };
    let facts = Header {
        old: &old_path,
        new: &new_path,
        added: matches!(status, Delta::Added | Delta::Untracked | Delta::Copied),
        deleted: status == Delta::Deleted,
        renamed: status == Delta::Renamed,
        old_mode: mode(modes.0),
        new_mode: mode(modes.1),
    };
    let mut patch = match Patch::from_diff(diff, index) {
        Ok(patch) => patch,
        Err(_) => return Err(Unreadable::Content),
    };
    let mut text = header(&facts);
    match &mut patch {
        None => text.extend(facts.binary()),
        Some(patch) => body(patch, &facts, &mut text)?,
    }
    Ok(Some(ChangedFile { paths: BTreeSet::from([old_path, new_path]), patch: text }))
}

/// The hunks of a patch, or the line that stands for binary content.
fn body(patch: &mut Patch<'_>, facts: &Header<'_>, text: &mut Vec<u8>) -> Result<(), Unreadable> {
    let mut named = false;
    let printed = patch.print(&mut |_, _, line| {
        match line.origin_value() {
            // libgit2's own header has the paths of the work tree, not those of the project.
            DiffLineType::FileHeader => {}
            DiffLineType::Binary => text.extend(facts.binary()),
            DiffLineType::HunkHeader => {
                if !named {
                    text.extend(facts.names());
                    named = true;
                }
                text.extend(line.content());
            }
            DiffLineType::Context | DiffLineType::Addition | DiffLineType::Deletion => {
                text.extend([u8::try_from(line.origin()).unwrap_or(b' ')]);
                text.extend(line.content());
            }
            _ => text.extend(line.content()),
        }
        true
    });
    printed.map_err(|_| Unreadable::Content)
}

fn mode(mode: FileMode) -> &'static str {
    match mode {
        FileMode::BlobExecutable => "100755",
        FileMode::Link => "120000",
        FileMode::Commit => "160000",
        _ => "100644",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;
    use std::process::{Command, Stdio};

    fn sh(dir: &Path, args: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"])
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "git {args:?}");
    }

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        sh(dir.path(), &["init", "-q"]);
        dir
    }

    fn committed(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = repository();
        for (path, content) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        sh(dir.path(), &["add", "-Af", "."]);
        sh(dir.path(), &["commit", "-qm", "a"]);
        dir
    }

    fn of(dir: &Path) -> Result<Changes, String> {
        view(dir, &CancelToken::default()).map(|view| view.changes)
    }

    fn text(changes: &Changes) -> String {
        changes.files.iter().map(|file| String::from_utf8_lossy(&file.patch).into_owned()).collect()
    }

    #[test]
    fn a_dirty_tree_gives_its_changes_as_git_writes_them() {
        let dir = committed(&[("a.txt", "one\n"), ("gone.txt", "x\n"), ("old.txt", "1\n2\n3\n4\n5\n6\n")]);
        fs::write(dir.path().join("a.txt"), "two").unwrap();
        fs::write(dir.path().join("new file.txt"), "fresh\n").unwrap();
        fs::write(dir.path().join("bin"), [0, 1, 2]).unwrap();
        fs::remove_file(dir.path().join("gone.txt")).unwrap();
        sh(dir.path(), &["mv", "old.txt", "moved.txt"]);
        let changes = of(dir.path()).unwrap();
        assert!(changes.of.contains("uncommitted") && changes.cut.is_empty(), "{changes:?}");
        let diff = text(&changes);
        for expected in [
            "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n\\ No newline at end of file\n",
            "diff --git a/bin b/bin\nnew file mode 100644\nBinary files /dev/null and b/bin differ\n",
            "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
            "diff --git a/new file.txt b/new file.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new file.txt\n@@ -0,0 +1 @@\n+fresh\n",
            "diff --git a/old.txt b/moved.txt\nrename from old.txt\nrename to moved.txt\n",
        ] {
            assert!(diff.contains(expected), "{expected}\nis not in\n{diff}");
        }
    }

    #[test]
    fn a_clean_tree_gives_its_last_commit() {
        let dir = committed(&[("a.txt", "one\n")]);
        let changes = of(dir.path()).unwrap();
        assert!(text(&changes).contains("+one"));
        assert!(changes.of.contains("last commit"));
    }

    #[test]
    fn a_folder_of_a_repository_has_its_own_part_alone() {
        let dir = committed(&[("a.txt", "one\n"), ("sub/b.txt", "one\n")]);
        fs::write(dir.path().join("a.txt"), "two\n").unwrap();
        fs::write(dir.path().join("sub/b.txt"), "two\n").unwrap();
        let view = view(&dir.path().join("sub"), &CancelToken::default()).unwrap();
        assert!(text(&view.changes).starts_with("diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n"));
        assert_eq!(view.changes.files.len(), 1);
        assert_eq!(*view.tracked, BTreeSet::from(["b.txt".to_owned()]));
    }

    #[test]
    fn tracked_files_are_known_even_if_ignored() {
        let dir = committed(&[(".gitignore", "*\n"), ("kept.txt", "x\n")]);
        fs::write(dir.path().join("other.txt"), "x").unwrap();
        let view = view(dir.path(), &CancelToken::default()).unwrap();
        assert!(view.tracked.contains("kept.txt") && !view.tracked.contains("other.txt"));
    }

    #[test]
    fn without_a_repository_or_a_commit_the_reason_is_said() {
        let dir = tempfile::tempdir().unwrap();
        assert!(of(dir.path()).unwrap_err().contains("not a git"));
        let dir = repository();
        assert!(of(dir.path()).unwrap_err().contains("no commit"));
    }

    #[test]
    fn programs_that_the_repository_names_are_not_run() {
        let dir = committed(&[(".gitattributes", "*.txt diff=evil filter=evil\n"), ("a.txt", "one\n")]);
        let trap = dir.path().join("ran");
        let evil = format!("touch {}", trap.display());
        for key in [
            "diff.external",
            "diff.evil.command",
            "diff.evil.textconv",
            "core.fsmonitor",
            "core.pager",
            "core.sshCommand",
            "gpg.program",
            "filter.evil.clean",
            "filter.evil.smudge",
            "filter.evil.process",
            "filter.evil.required",
        ] {
            sh(dir.path(), &["config", key, &evil]);
        }
        sh(dir.path(), &["config", "log.showSignature", "true"]);
        fs::write(dir.path().join("a.txt"), "two\n").unwrap();
        fs::write(dir.path().join("b.txt"), "new\n").unwrap();
        assert!(text(&of(dir.path()).unwrap()).contains("+two"));
        assert!(!trap.exists());
    }

    #[test]
    fn another_repository_is_not_reached_through_ones_own() {
        let victim = committed(&[("secret.txt", "confidential\n")]);
        for attack in ["file", "link", "alternates"] {
            let dir = tempfile::tempdir().unwrap();
            let git = victim.path().join(".git");
            match attack {
                "file" => fs::write(dir.path().join(".git"), format!("gitdir: {}\n", git.display())).unwrap(),
                "link" => std::os::unix::fs::symlink(&git, dir.path().join(".git")).unwrap(),
                _ => {
                    sh(dir.path(), &["init", "-q"]);
                    let alternates = dir.path().join(".git/objects/info/alternates");
                    fs::write(alternates, format!("{}\n", git.join("objects").display())).unwrap();
                    let head = fs::read_dir(git.join("refs/heads")).unwrap().next().unwrap().unwrap().path();
                    fs::write(dir.path().join(".git/HEAD"), fs::read(head).unwrap()).unwrap();
                }
            }
            let seen = of(dir.path());
            assert!(seen.is_err(), "{attack}: {seen:?}");
        }
    }

    #[test]
    fn a_linked_work_tree_is_its_own() {
        let dir = committed(&[("a.txt", "one\n")]);
        let linked = tempfile::tempdir().unwrap();
        let path = linked.path().join("tree");
        sh(dir.path(), &["worktree", "add", "-q", path.to_str().unwrap()]);
        fs::write(path.join("a.txt"), "two\n").unwrap();
        assert!(text(&of(&path).unwrap()).contains("+two"));
    }

    #[test]
    fn what_does_not_fit_is_left_out_whole_and_counted() {
        let dir = committed(&[("a.txt", "x\n")]);
        let line = "0123456789abcde\n";
        for name in ["b.txt", "c.txt", "d.txt"] {
            fs::write(dir.path().join(name), line.repeat(3 << 16)).unwrap();
        }
        let changes = of(dir.path()).unwrap();
        assert_eq!(changes.files.len(), 2);
        assert_eq!(changes.cut, ["1 changed file is beyond the size that a diff may have"]);
        assert!(text(&changes).len() <= MAX_DIFF_BYTES);
    }

    #[test]
    fn names_that_are_not_utf_8_are_counted() {
        use std::os::unix::ffi::OsStrExt;
        let dir = committed(&[("a.txt", "x\n")]);
        fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"\xff.txt")), "x").unwrap();
        let changes = of(dir.path()).unwrap();
        assert_eq!(changes.cut, ["1 changed file is left out, since the name is not UTF-8"]);
        assert!(changes.of.contains("uncommitted"), "{}", changes.of);
    }

    #[test]
    fn a_pipe_in_the_repository_ends_when_the_run_is_interrupted() {
        let dir = committed(&[("a.txt", "x\n")]);
        let head = dir.path().join(".git/HEAD");
        fs::remove_file(&head).unwrap();
        assert!(Command::new("mkfifo").arg(&head).status().unwrap().success());
        let cancel = CancelToken::default();
        cancel.cancel();
        // It either sees that this is no repository, or waits at the pipe until it is interrupted.
        assert!(view(dir.path(), &cancel).is_err());
    }
}
