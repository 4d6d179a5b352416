//! A `brain` of its own: a project, a home and role folders in a temporary place, and the built binary run on them.
//!
//! Whatever a test asks, [`Brain::finish`] holds every run to three promises: the binary ends by itself, it says nothing that
//! only a panic or an engine would say, and nothing that it prints can drive a terminal.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::{guest, repository, target};

/// What the three roles that ship are all called for by: each has a word of it in its manifest.
pub const AUDIT: &str =
    "audit the code for secrets and dangerous calls, find where payments are made, and review the pending change";

/// Text that only a panic of the host or an error of the engine has. A panic of a guest is quoted without the thread.
const NEVER: &[&str] = &["thread '", "RUST_BACKTRACE", "wasm backtrace", "wasmtime::"];

/// A run that takes longer hangs, and is killed so that the test can say so. The slowest takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(300);

/// A project, a home and a folder of roles, and the way to run `brain` on them.
pub struct Brain {
    root: tempfile::TempDir,
}

/// How a run of the binary came out.
#[derive(Debug)]
pub struct Ran {
    /// Its exit status.
    pub status: i32,
    /// What it printed to standard output.
    pub out: String,
    /// What it printed to standard error.
    pub err: String,
}

#[allow(clippy::unwrap_used, clippy::panic, reason = "the callers are tests")]
impl Brain {
    /// A project of these files, and an empty home.
    ///
    /// # Panics
    /// When the machine has no room for it.
    pub fn in_project(files: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["project", "home"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        // Compiling a role takes seconds, and what a home keeps of it is not what these tests are about.
        let compiled = target().join("brain-tests-cache");
        std::fs::create_dir_all(&compiled).unwrap();
        symlink(&compiled, root.path().join("home/cache")).unwrap();
        let brain = Self { root };
        for (path, text) in files {
            brain.write(path, text);
        }
        brain
    }

    /// The sample repository: one commit, and the pending change on top of it.
    ///
    /// # Panics
    /// When the sample cannot be copied or git cannot be run.
    pub fn in_sample() -> Self {
        let sample = repository().join("tests/fixtures/sample");
        let brain = Self::in_project(&[]);
        copy(&sample.join("base"), &brain.project());
        brain.commit();
        copy(&sample.join("change"), &brain.project());
        brain
    }

    /// The project's folder.
    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// `BRAIN_HOME`.
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// A path beside the project and the home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file of the project.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        put(&self.project().join(path), content.as_ref());
    }

    /// Makes the project a git repository with all that is there as its one commit.
    ///
    /// # Panics
    /// When git cannot be run.
    pub fn commit(&self) {
        self.git(&["init", "--quiet", "--template=", "--initial-branch=main"]);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--no-verify", "--message", "all of it"]);
    }

    /// Runs git in the project, untouched by this machine's configuration.
    ///
    /// # Panics
    /// When git fails.
    pub fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Author", "-c", "user.email=author@example.com", "-c", "commit.gpgSign=false"])
            .args(args)
            .current_dir(self.project())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        for ambient in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            git.env_remove(ambient);
        }
        let output = git.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Puts a role into the folder that every run names with `--roles`: a manifest with `rest` below its head, and a
    /// component.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn role(&self, name: &str, rest: &str, component: &[u8]) {
        let manifest = format!(
            "name = \"{name}\"\nversion = \"0.1.0\"\ndescription = \"a role of a test\"\ncontract = \"brain:role@1.0.0\"\n\
             component = \"role.wasm\"\n{rest}"
        );
        self.role_folder(name, &manifest, component);
    }

    /// Puts the guest that does what its goal says into a role folder, called for by `word`; it asks for the whole
    /// project, and `rest` is added to its manifest.
    ///
    /// # Panics
    /// When it cannot be written, or the guest has not been built.
    pub fn misbehaving(&self, name: &str, word: &str, rest: &str) {
        let manifest = format!("[files]\nread = [\"**\"]\n[routing]\nwords = [\"{word}\"]\n{rest}");
        self.role(name, &manifest, &guest("misbehave"));
    }

    /// Puts a folder with this manifest and this component beside the other roles of the test.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn role_folder(&self, name: &str, manifest: &str, component: &[u8]) {
        let folder = self.path("roles").join(name);
        put(&folder.join("role.toml"), manifest.as_bytes());
        put(&folder.join("role.wasm"), component);
    }

    /// The binary with these arguments in the project, with nothing of this process's environment but `PATH`.
    ///
    /// # Panics
    /// When the binary has not been built; the message says how.
    pub fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let binary = target().join("brain");
        assert!(binary.is_file(), "{}: not built; build it first: `cargo build --workspace`", binary.display());
        let mut command = Command::new(binary);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("BRAIN_HOME", self.home())
            .current_dir(self.project())
            .stdin(Stdio::null());
        if self.path("roles").is_dir() {
            command.arg("--roles").arg(self.path("roles"));
        }
        command.args(args);
        command
    }

    /// Runs the binary to its end.
    ///
    /// # Panics
    /// When it breaks one of the promises of this module.
    pub fn run(&self, args: &[impl AsRef<OsStr>]) -> Ran {
        Self::end(self.command(args))
    }

    /// Runs the binary to its end with this on its standard input.
    ///
    /// # Panics
    /// When it breaks one of the promises of this module.
    pub fn run_with_input(&self, args: &[impl AsRef<OsStr>], input: &[u8]) -> Ran {
        let mut command = assert_cmd::Command::from_std(self.command(args));
        Self::finish(command.write_stdin(input).timeout(PATIENCE).output().unwrap())
    }

    /// Runs a command of the binary to its end.
    ///
    /// # Panics
    /// When it breaks one of the promises of this module.
    pub fn end(command: Command) -> Ran {
        Self::finish(assert_cmd::Command::from_std(command).timeout(PATIENCE).output().unwrap())
    }

    /// Holds an output to the promises of this module.
    ///
    /// # Panics
    /// When it breaks one.
    pub fn finish(output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).unwrap_or_else(|error| panic!("the output is not UTF-8: {error}"));
        let (out, err) = (text(output.stdout), text(output.stderr));
        let Some(status) = output.status.code() else { panic!("{:?}\n{out}\n{err}", output.status) };
        let ran = Ran { status, out, err };
        for stream in [&ran.out, &ran.err] {
            for never in NEVER {
                assert!(!stream.contains(never), "{never:?} in {ran}");
            }
            let obeyed = stream.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            assert!(obeyed.is_none(), "{obeyed:?} reached the terminal raw: {ran}");
        }
        ran
    }

    /// The one session that a report is of: the lines of its journal, each parsed.
    ///
    /// # Panics
    /// When the journal cannot be read, or a line of it is not JSON.
    pub fn journal(&self, session: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.journal_file(session)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The journal of a session.
    pub fn journal_file(&self, session: &str) -> PathBuf {
        self.home().join("sessions").join(format!("{session}.jsonl"))
    }

    /// The context that a role was given in a session: each file below it, by its path there.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn context(&self, session: &str, role: &str) -> Vec<(String, Vec<u8>)> {
        let root = self.home().join("sessions").join(session).join("private").join(role).join("context");
        files_below(&root)
            .into_iter()
            .map(|path| {
                let content = std::fs::read(&path).unwrap();
                (path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), content)
            })
            .collect()
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "status {}\n--- stdout\n{}\n--- stderr\n{}", self.status, self.out, self.err)
    }
}

#[allow(clippy::panic, reason = "the callers are tests")]
impl Ran {
    /// The run itself, when it ended with `status`.
    ///
    /// # Panics
    /// When it ended with another.
    pub fn ended(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self}");
        self
    }

    /// Standard output as JSON.
    ///
    /// # Panics
    /// When it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self}"))
    }

    /// Standard error, when it is one error with `code`, a help and nothing on standard output.
    ///
    /// # Panics
    /// When it is anything else.
    pub fn error(&self, code: &str) -> &str {
        assert!(self.err.contains(&format!("code: {code}\n")), "no {code} in {self}");
        assert!(self.err.contains("error: ") && self.err.contains("help: "), "{self}");
        assert_eq!(self.out, "", "{self}");
        &self.err
    }
}

/// Every regular file below a folder, sorted.
///
/// # Panics
/// When a folder cannot be listed.
#[allow(clippy::unwrap_used, reason = "the callers are tests")]
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    files
}

#[allow(clippy::unwrap_used, reason = "the callers are tests")]
fn put(path: &Path, content: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

#[allow(clippy::unwrap_used, reason = "the callers are tests")]
fn copy(from: &Path, to: &Path) {
    for file in files_below(from) {
        put(&to.join(file.strip_prefix(from).unwrap()), &std::fs::read(&file).unwrap());
    }
}
