//! The demonstration: Brain on the sample repository, and which of its planted faults it named.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::files;
use crate::place::Place;
use crate::planted::{self, Fault, Verdict};
use crate::roles;
use crate::setup;
use crate::steps::{Failure, Steps, answer, seconds, shown};
use crate::suite;

/// What the demonstration asks. It has words for the librarian, security and review.
const PROMPT: &str = "find where orders are exported and payments are made, check the security of the code (secrets, dangerous calls, CI), and review the pending change before it is merged";

/// So many planted faults must be named, with the right file and line, for the demonstration to pass.
const MUST_NAME: usize = 5;

/// Author and date of the sample's commit. Fixed, so that its id is the same everywhere.
const AUTHOR: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "Sample Author"),
    ("GIT_AUTHOR_EMAIL", "author@example.com"),
    ("GIT_AUTHOR_DATE", "2025-01-01T00:00:00+00:00"),
    ("GIT_COMMITTER_NAME", "Sample Author"),
    ("GIT_COMMITTER_EMAIL", "author@example.com"),
    ("GIT_COMMITTER_DATE", "2025-01-01T00:00:00+00:00"),
];

/// Builds everything, prepares the sample, runs `brain run` in it and prints which planted faults the report named.
///
/// # Errors
/// A step fails, `brain` does, or fewer than [`MUST_NAME`] planted faults are named.
pub fn run(place: &Place, steps: &mut Steps) -> Result<(), Failure> {
    setup::run(place, steps)?;
    roles::run(place, steps)?;
    suite::build_host(place, steps)?;
    let fixture = place.root.join("tests/fixtures/sample");
    let demo = place.scratch("demo");
    let sample = demo.join("sample");
    steps.work("sample", &format!("a git repository with a pending change in {}", sample.display()), || {
        prepare(&fixture, &sample)
    })?;

    let sarif = demo.join("findings.sarif");
    files::remove(&sarif)?;
    let mut brain = Command::new(place.brain());
    brain.args(["run".as_ref(), PROMPT.as_ref(), "--sarif".as_ref(), sarif.as_os_str()]);
    brain.current_dir(&sample).env("BRAIN_HOME", demo.join("home")).env_remove("BRAIN_VAULT");
    let line = shown(&brain);
    let (status, printed, took) = steps.work("brain", &line, || {
        let started = Instant::now();
        let (status, printed) = tee(&mut brain)?;
        Ok((status, printed, started.elapsed()))
    })?;

    // A run that ended badly may still have found something: show that before giving up.
    let found = if sarif.is_file() { planted::sarif(&files::text(&sarif)?)? } else { Vec::new() };
    let faults = planted::faults(&files::text(&fixture.join("planted.toml"))?)?;
    let judge = |fault: Fault| {
        let verdict = planted::judge(&fault, &found, &printed);
        (fault, verdict)
    };
    let judged: Vec<(Fault, Verdict)> = faults.into_iter().map(judge).collect();
    let (table, named) = table(&judged, took);
    let _ = io::stdout().write_all(table.as_bytes());
    if !status.success() {
        return Err(Failure::new(format!("`brain run` ended with {status}")).help(format!("run it by hand: {line}")));
    }
    if !sarif.is_file() {
        return Err(Failure::new(format!("`brain run` wrote no {}", sarif.display())));
    }
    if named < MUST_NAME {
        return Err(Failure::new(format!("{named} planted fault(s) named, and {MUST_NAME} are wanted")));
    }
    Ok(())
}

/// Makes the sample afresh: the base tree as one commit, and the change on top of it, not committed.
fn prepare(fixture: &Path, sample: &Path) -> Result<(), Failure> {
    files::remove(sample)?;
    let base = fixture.join("base");
    files::copy_tree(&base, sample)?;
    let sample = fs::canonicalize(sample).map_err(|error| Failure::io("find", sample, &error))?;
    // The main branch is named, since its default differs between installations of git.
    answer(git(&sample).args(["init", "--quiet", "--template=", "--initial-branch=main"]))?;
    answer(git(&sample).args(["add", "--all"]))?;
    answer(git(&sample).args(["commit", "--quiet", "--no-verify", "--message", "The sample as it was released"]))?;
    let (patch, overlay) = (fixture.join("change.patch"), fixture.join("change"));
    if !patch.is_file() && !overlay.is_dir() {
        return Err(Failure::new(format!("{} has neither change.patch nor change/", fixture.display()))
            .help("the sample needs a pending change for the reviewer"));
    }
    if patch.is_file() {
        answer(git(&sample).arg("apply").arg(absolute(&patch)?))?;
    }
    if overlay.is_dir() {
        files::copy_tree(&overlay, &sample)?;
    }
    let changed = answer(git(&sample).args(["status", "--porcelain"]))?;
    eprintln!("    {} changed path(s) that are not committed", changed.lines().count());
    Ok(())
}

/// Git in the sample, deaf to the configuration and to the hooks of this machine and to a git that called us.
fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder);
    for setting in
        ["core.hooksPath=/dev/null", "core.excludesFile=", "core.autocrlf=false", "commit.gpgSign=false", "gc.auto=0"]
    {
        git.args(["-c", setting]);
    }
    git.envs(AUTHOR).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for ambient in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"] {
        git.env_remove(ambient);
    }
    git
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    fs::canonicalize(path).map_err(|error| Failure::io("find", path, &error))
}

/// Runs a program, and both shows and keeps its standard output.
fn tee(command: &mut Command) -> Result<(ExitStatus, String), Failure> {
    let failed = |error: io::Error| Failure::new(format!("cannot run `brain`: {error}"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut kept = Vec::new();
    if let Some(output) = child.stdout.take() {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).map_err(failed)? > 0 {
            // Our own reader may be gone (`| head`); the run and its verdict do not depend on it.
            let _ = io::stdout().write_all(&line);
            kept.append(&mut line);
        }
    }
    let status = child.wait().map_err(failed)?;
    Ok((status, String::from_utf8_lossy(&kept).into_owned()))
}

/// The closing table, and how many faults were named.
fn table(judged: &[(Fault, Verdict)], took: Duration) -> (String, usize) {
    let named = judged.iter().filter(|(_, verdict)| *verdict == Verdict::Named).count();
    let place = |fault: &Fault| format!("{}:{}", fault.file, fault.line);
    let width = judged.iter().map(|(fault, _)| place(fault).chars().count()).max().unwrap_or(0);
    let mut text = String::from("\nPlanted faults of the sample repository\n");
    for (fault, verdict) in judged {
        let rule = fault.rule.as_deref().unwrap_or("any rule");
        let _ = writeln!(text, "  {:<width$}  {rule}: {} [{verdict}]", place(fault), fault.what);
    }
    let _ =
        writeln!(text, "  {named} of {} named with file and line; `brain run` took {}", judged.len(), seconds(took));
    (text, named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn asked(folder: &Path, words: &[&str]) -> String {
        answer(git(folder).args(words)).unwrap()
    }

    #[test]
    fn the_sample_is_one_commit_with_a_change_on_top() {
        let folder = tempfile::tempdir().unwrap();
        let (fixture, sample) = (folder.path().join("fixture"), folder.path().join("out/sample"));
        put(&fixture.join("base/a.txt"), "one\n");
        put(&fixture.join("base/b.txt"), "one\n");
        put(&fixture.join("change/sub/new.txt"), "new\n");
        put(&fixture.join("change.patch"), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n");
        prepare(&fixture, &sample).unwrap();
        assert_eq!(fs::read_to_string(sample.join("a.txt")).unwrap(), "two\n");
        assert_eq!(asked(&sample, &["show", "HEAD:a.txt"]), "one");
        assert_eq!(asked(&sample, &["status", "--porcelain", "-uall"]), "M a.txt\n?? sub/new.txt");
        assert_eq!(
            asked(&sample, &["log", "--format=%an %ae %s"]),
            "Sample Author author@example.com The sample as it was released"
        );

        let first = asked(&sample, &["rev-parse", "HEAD"]);
        put(&sample.join("left-over.txt"), "from an earlier demonstration");
        prepare(&fixture, &sample).unwrap();
        assert_eq!(asked(&sample, &["rev-parse", "HEAD"]), first, "the commit is the same at every preparation");
        assert!(!sample.join("left-over.txt").exists());
    }

    #[test]
    fn a_sample_without_a_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        put(&folder.path().join("fixture/base/a.txt"), "one\n");
        let failure = prepare(&folder.path().join("fixture"), &folder.path().join("sample")).unwrap_err().to_string();
        assert!(failure.contains("neither change.patch nor change/"), "{failure}");
    }

    #[test]
    fn a_patch_that_does_not_apply_is_refused_with_git_s_reason() {
        let folder = tempfile::tempdir().unwrap();
        put(&folder.path().join("fixture/base/a.txt"), "one\n");
        put(&folder.path().join("fixture/change.patch"), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-other\n+two\n");
        let failure = prepare(&folder.path().join("fixture"), &folder.path().join("sample")).unwrap_err().to_string();
        assert!(failure.contains("a.txt"), "{failure}");
    }

    #[test]
    fn the_table_counts_what_was_named_and_says_why_not() {
        let fault = |line| Fault { file: "a.py".into(), line, rule: Some("x/y".into()), what: "bad".into() };
        let judged = [(fault(3), Verdict::Named), (fault(4), Verdict::OtherLine(5)), (fault(6), Verdict::Missed)];
        let (text, named) = table(&judged, Duration::from_millis(1500));
        assert_eq!(named, 1);
        for expected in
            ["a.py:3  x/y: bad [named]", "a.py:4  x/y: bad [wrong line: 5]", "[missed]", "1 of 3 named", "took 1.5 s"]
        {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }

    #[test]
    fn the_sample_that_ships_can_be_prepared_and_its_faults_are_where_they_are_said_to_be() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/sample");
        let folder = tempfile::tempdir().unwrap();
        let sample = folder.path().join("sample");
        prepare(&fixture, &sample).unwrap();
        let faults = planted::faults(&fs::read_to_string(fixture.join("planted.toml")).unwrap()).unwrap();
        assert!(faults.len() >= MUST_NAME, "{} planted faults", faults.len());
        for fault in faults {
            let text = fs::read(sample.join(&fault.file)).unwrap_or_else(|error| panic!("{}: {error}", fault.file));
            let lines = String::from_utf8_lossy(&text).lines().count() as u64;
            assert!(fault.line <= lines, "{}:{} is past the end ({lines} lines)", fault.file, fault.line);
        }
    }
}
