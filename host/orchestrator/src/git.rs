//! The pending change of a project, from git.
//!
//! The repository may come from anybody, and its configuration can name programs to run. Every call here switches those
//! off, reads nothing from standard input, and is bounded in time and output.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes of a diff that are handed to roles; the rest is cut, and said to be.
pub const MAX_DIFF_BYTES: usize = 8 << 20;
/// Untracked files that are added to a diff.
pub const MAX_UNTRACKED: usize = 500;
/// Time that one git command may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A unified diff, and what it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The diff.
    pub diff: Vec<u8>,
    /// What it compares, in words.
    pub of: String,
    /// What is not in it, in words.
    pub cut: Vec<String>,
}

/// The change to review: the working tree and index against `HEAD`, with untracked files; in a clean tree, the last commit.
///
/// # Errors
/// Why there is none, in words: not a repository, no commit, no git.
pub fn changes(project: &Path) -> Result<Changes, String> {
    let git = &Git { project, filters: Vec::new() };
    let inside = git.ask(&["rev-parse", "--is-inside-work-tree"], 64)?;
    if inside.bytes.trim_ascii() != b"true" {
        return Err("this is not a git work tree".into());
    }
    let git = &Git { project, filters: git.filters()? };
    if git.ask(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], 128).is_err() {
        return Err("the repository has no commit to compare with".into());
    }
    let mut cut = Vec::new();
    let mut diff = git.diff(&["HEAD"])?;
    let mut of = "the uncommitted changes against HEAD".to_owned();
    let untracked = git.untracked(&mut cut)?;
    for path in &untracked {
        if diff.bytes.len() >= MAX_DIFF_BYTES {
            diff.cut = true;
            break;
        }
        // Git would read all of it before it says anything.
        if std::fs::symlink_metadata(project.join(path)).is_ok_and(|file| file.len() > MAX_DIFF_BYTES as u64) {
            cut.push(format!("{path} is larger than {} MiB, and is not in it", MAX_DIFF_BYTES >> 20));
            continue;
        }
        // `--no-index` exits with 1 when there is a difference, which there always is.
        let added = git.run(&[DIFF, &["--no-index", "--", "/dev/null", path]].concat(), MAX_DIFF_BYTES)?;
        diff.bytes.extend(added.bytes);
        diff.cut |= added.cut;
    }
    if diff.bytes.is_empty() && cut.is_empty() {
        // Against the empty tree when the last commit is the first.
        let last = [
            "show",
            "--format=",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "-m",
            "--first-parent",
            "--relative",
            "HEAD",
            "--",
            ".",
        ];
        diff = git.ask(&last, MAX_DIFF_BYTES)?;
        of = "the last commit; there are no uncommitted changes".to_owned();
    }
    if diff.cut || diff.bytes.len() > MAX_DIFF_BYTES {
        diff.bytes.truncate(MAX_DIFF_BYTES);
        cut.push(format!("the diff is longer than {} MiB and was cut there", MAX_DIFF_BYTES >> 20));
    }
    Ok(Changes { diff: diff.bytes, of, cut })
}

const DIFF: &[&str] = &["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames"];

/// git in one project.
struct Git<'a> {
    project: &'a Path,
    /// Keys of the filters that must not run.
    filters: Vec<String>,
}

impl Git<'_> {
    /// Of a project that is a folder of a repository, its own part, with the paths that its roles see.
    fn diff(&self, what: &[&str]) -> Result<Output, String> {
        self.ask(&[DIFF, &["--relative"], what, &["--", "."]].concat(), MAX_DIFF_BYTES)
    }

    fn untracked(&self, cut: &mut Vec<String>) -> Result<Vec<String>, String> {
        let listed = self.ask(&["ls-files", "--others", "--exclude-standard", "-z"], 1 << 20)?;
        let mut paths = Vec::new();
        let mut unreadable = 0_usize;
        for name in listed.bytes.split(|b| *b == 0).filter(|name| !name.is_empty()) {
            match std::str::from_utf8(name) {
                Ok(name) => paths.push(name.to_owned()),
                Err(_) => unreadable += 1,
            }
        }
        if unreadable > 0 {
            cut.push(format!("{unreadable} untracked files have names that are not UTF-8"));
        }
        if paths.len() > MAX_UNTRACKED {
            cut.push(format!("{} of {} untracked files are not in the diff", paths.len() - MAX_UNTRACKED, paths.len()));
            paths.truncate(MAX_UNTRACKED);
        }
        Ok(paths)
    }

    /// The content filters that any configuration defines. Comparing a file with the index would run them.
    fn filters(&self) -> Result<Vec<String>, String> {
        // It exits with 1 when there are none.
        let listed = self.run(&["config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$"], 1 << 20)?;
        if listed.cut {
            return Err("the configuration of the repository defines too many filters".into());
        }
        let names = listed.bytes.split(|b| *b == 0).filter(|name| !name.is_empty());
        names.map(|name| String::from_utf8(name.to_vec()).map_err(|_| "a filter's name is not UTF-8".to_owned())).collect()
    }

    /// Configuration that empties every filter, above whatever defines it.
    fn without_filters(&self) -> Vec<(String, String)> {
        let mut keys = self.filters.clone();
        let required = self.filters.iter().filter_map(|key| key.rsplit_once('.'));
        let required: Vec<String> = required.map(|(filter, _)| format!("{filter}.required")).collect();
        keys.extend(required);
        let mut variables = vec![("GIT_CONFIG_COUNT".to_owned(), keys.len().to_string())];
        for (n, key) in keys.into_iter().enumerate() {
            let value = if key.ends_with(".required") { "false" } else { "" };
            variables.push((format!("GIT_CONFIG_KEY_{n}"), key));
            variables.push((format!("GIT_CONFIG_VALUE_{n}"), value.to_owned()));
        }
        variables
    }

    fn ask(&self, args: &[&str], max: usize) -> Result<Output, String> {
        let output = self.run(args, max)?;
        if output.success || output.cut {
            Ok(output)
        } else {
            let why = output.stderr.lines().next().unwrap_or("no message").to_owned();
            Err(format!("git {} failed: {why}", args.first().copied().unwrap_or_default()))
        }
    }

    fn run(&self, args: &[&str], max: usize) -> Result<Output, String> {
        let mut command = Command::new("git");
        command
            .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat"])
            .args([
                "-c",
                "diff.external=",
                "-c",
                "protocol.allow=never",
                "-c",
                "core.quotePath=true",
                "--no-optional-locks",
            ])
            .args(args)
            .current_dir(self.project)
            .envs(self.without_filters())
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C")
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .env_remove("GIT_EXTERNAL_DIFF")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("git cannot be run: {e}"))?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let reader = std::thread::spawn(move || read_bounded(out, max));
        let errors = std::thread::spawn(move || read_bounded(err, 4096));
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) => {
                    // It may have ended by itself since.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!(
                        "git {} took longer than {} s",
                        args.first().copied().unwrap_or_default(),
                        TIMEOUT.as_secs()
                    ));
                }
                Err(e) => return Err(format!("git cannot be waited for: {e}")),
            }
        };
        let (bytes, cut) = reader.join().unwrap_or_default();
        let (stderr, _) = errors.join().unwrap_or_default();
        Ok(Output { bytes, cut, success: status.success(), stderr: String::from_utf8_lossy(&stderr).trim().to_owned() })
    }
}

struct Output {
    bytes: Vec<u8>,
    cut: bool,
    success: bool,
    stderr: String,
}

/// The first `max` bytes, and whether there were more. Reads to the end all the same, so that the writer is not stuck.
fn read_bounded(from: Option<impl Read>, max: usize) -> (Vec<u8>, bool) {
    let Some(mut from) = from else { return Default::default() };
    let mut bytes = Vec::new();
    let mut cut = false;
    let mut buffer = [0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                let room = max.saturating_sub(bytes.len()).min(n);
                bytes.extend_from_slice(buffer.get(..room).unwrap_or_default());
                cut |= room < n;
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    (bytes, cut)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;

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

    fn text(changes: &Changes) -> String {
        String::from_utf8_lossy(&changes.diff).into_owned()
    }

    #[test]
    fn a_dirty_tree_gives_its_changes_and_untracked_files() {
        let dir = repository();
        fs::write(dir.path().join("a.txt"), "one\n").unwrap();
        sh(dir.path(), &["add", "."]);
        sh(dir.path(), &["commit", "-qm", "a"]);
        fs::write(dir.path().join("a.txt"), "two\n").unwrap();
        fs::write(dir.path().join("new file.txt"), "fresh\n").unwrap();
        let changes = changes(dir.path()).unwrap();
        let diff = text(&changes);
        assert!(diff.contains("-one") && diff.contains("+two") && diff.contains("+fresh"), "{diff}");
        assert!(changes.of.contains("uncommitted"));
    }

    #[test]
    fn a_clean_tree_gives_its_last_commit() {
        let dir = repository();
        fs::write(dir.path().join("a.txt"), "one\n").unwrap();
        sh(dir.path(), &["add", "."]);
        sh(dir.path(), &["commit", "-qm", "a"]);
        let changes = changes(dir.path()).unwrap();
        assert!(text(&changes).contains("+one"));
        assert!(changes.of.contains("last commit"));
    }

    #[test]
    fn without_a_repository_or_a_commit_the_reason_is_said() {
        let dir = tempfile::tempdir().unwrap();
        assert!(changes(dir.path()).unwrap_err().contains("not a git"), "{:?}", changes(dir.path()));
        let dir = repository();
        assert!(changes(dir.path()).unwrap_err().contains("no commit"));
    }

    #[test]
    fn programs_that_the_repository_names_are_not_run() {
        let dir = repository();
        let trap = dir.path().join("ran");
        fs::write(dir.path().join(".gitattributes"), "*.txt diff=evil filter=evil\n").unwrap();
        fs::write(dir.path().join("a.txt"), "one\n").unwrap();
        sh(dir.path(), &["add", "."]);
        sh(dir.path(), &["commit", "-qm", "a"]);
        let evil = format!("touch {}", trap.display());
        for key in [
            "diff.external",
            "diff.evil.command",
            "diff.evil.textconv",
            "core.fsmonitor",
            "core.pager",
            "filter.evil.clean",
            "filter.evil.smudge",
            "filter.evil.process",
            "filter.evil.required",
        ] {
            sh(dir.path(), &["config", key, &evil]);
        }
        fs::write(dir.path().join("a.txt"), "two\n").unwrap();
        changes(dir.path()).unwrap();
        assert!(!trap.exists());
    }

    #[test]
    fn a_diff_is_cut_at_its_limit_and_says_so() {
        let dir = repository();
        fs::write(dir.path().join("a.txt"), "x\n").unwrap();
        sh(dir.path(), &["add", "."]);
        sh(dir.path(), &["commit", "-qm", "a"]);
        fs::write(dir.path().join("a.txt"), "0123456789abcde\n".repeat(MAX_DIFF_BYTES / 8)).unwrap();
        let changes = changes(dir.path()).unwrap();
        assert_eq!(changes.diff.len(), MAX_DIFF_BYTES);
        assert!(changes.cut.iter().any(|c| c.contains("was cut")));
    }
}
