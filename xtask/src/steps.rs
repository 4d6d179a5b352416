//! Steps: what a command runs, echoed and timed, and the one-line reason why it stopped.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Why a command stopped, and what to do about it. Hand-written, since derive macros would triple this crate's build time.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    what: String,
    help: Option<String>,
}

impl Failure {
    /// A failure whose message says what failed, on what, and why.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), help: None }
    }

    /// Adds what the reader can do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// An input or output error with the operation and the path that it belongs to.
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(format!("cannot {doing} {}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        match &self.help {
            Some(help) => write!(f, "\n help: {help}"),
            None => Ok(()),
        }
    }
}

/// The steps of one command, in order, with their wall times.
pub struct Steps {
    begun: Instant,
    done: Vec<Done>,
}

struct Done {
    name: String,
    took: Duration,
    passed: bool,
}

impl Steps {
    /// No step yet; the clock of the total starts now.
    pub fn begin() -> Self {
        Self { begun: Instant::now(), done: Vec::new() }
    }

    /// Runs a program with its output on the terminal and no standard input.
    ///
    /// # Errors
    /// It could not be started, or its exit status was not zero.
    pub fn run(&mut self, name: &str, command: &mut Command) -> Result<(), Failure> {
        let line = shown(command);
        self.work(name, &line, || {
            let status = command.stdin(Stdio::null()).status().map_err(|error| not_started(command, &error))?;
            if status.success() { Ok(()) } else { Err(Failure::new(format!("{name}: `{line}` ended with {status}"))) }
        })
    }

    /// Does a piece of work of our own as a step; `what` is echoed.
    ///
    /// # Errors
    /// Whatever `job` returns.
    pub fn work<T>(&mut self, name: &str, what: &str, job: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        eprintln!("==> {name}: {what}");
        let started = Instant::now();
        let outcome = job();
        let took = started.elapsed();
        let passed = outcome.is_ok();
        eprintln!("    {name}: {} after {}", if passed { "done" } else { "FAILED" }, seconds(took));
        self.done.push(Done { name: name.to_owned(), took, passed });
        outcome
    }

    /// One line a step and the total; empty when there was at most one step.
    pub fn summary(&self) -> String {
        if self.done.len() < 2 {
            return String::new();
        }
        let width = self.done.iter().map(|done| done.name.chars().count()).max().unwrap_or(0);
        let mut text = String::from("\n");
        for Done { name, took, passed } in &self.done {
            let state = if *passed { "ok" } else { "FAILED" };
            text.push_str(&format!("{state:>6}  {name:width$}  {:>9}\n", seconds(*took)));
        }
        text.push_str(&format!("{:>6}  {:width$}  {:>9}\n", "", "total", seconds(self.begun.elapsed())));
        text
    }
}

/// `12.3 s`, the form of every wall time that these commands print.
pub fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Standard output of a program that is only asked something, trimmed. Not a step: it is neither echoed nor timed.
///
/// # Errors
/// It could not be started, or failed; then the message carries the last line of its standard error.
pub fn answer(command: &mut Command) -> Result<String, Failure> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message");
    Err(Failure::new(format!("`{}` ended with {}: {said}", shown(command), output.status)))
}

fn not_started(command: &Command, error: &io::Error) -> Failure {
    Failure::new(format!("cannot start `{}`: {error}", command.get_program().to_string_lossy()))
}

/// The command as one could type it: variables that are set, the program without its folder, quoted arguments, the folder.
pub fn shown(command: &Command) -> String {
    let mut words: Vec<String> = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quoted(&value?.to_string_lossy()))))
        .collect();
    let program = Path::new(command.get_program());
    words.push(program.file_stem().unwrap_or(command.get_program()).to_string_lossy().into_owned());
    words.extend(command.get_args().map(|arg| quoted(&arg.to_string_lossy())));
    let line = words.join(" ");
    match command.get_current_dir() {
        Some(folder) => format!("{line}   (in {})", folder.display()),
        None => line,
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_echo_can_be_typed_again() {
        let mut command = Command::new("/opt/toolchain/bin/cargo");
        command
            .args(["test", "a b", "*", "it's", ""])
            .env("BRAIN_HOME", "/tmp/h x")
            .env_remove("GIT_DIR")
            .current_dir("/p");
        assert_eq!(shown(&command), r"BRAIN_HOME='/tmp/h x' cargo test 'a b' '*' 'it'\''s' ''   (in /p)");
    }

    #[test]
    fn a_failing_program_names_step_command_and_status() {
        let mut steps = Steps::begin();
        let mut command = Command::new("git");
        command.args(["rev-parse", "--verify", "--quiet", "refs/heads/none"]).current_dir(std::env::temp_dir());
        let failure = steps.run("ask git", &mut command).expect_err("no such ref").to_string();
        assert!(failure.starts_with("error: ask git: `git rev-parse --verify --quiet refs/heads/none"), "{failure}");
        assert!(failure.contains("ended with exit status"), "{failure}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let failure = answer(&mut Command::new("no-such-program-here")).expect_err("not there").to_string();
        assert!(failure.contains("cannot start `no-such-program-here`"), "{failure}");
    }

    #[test]
    fn the_summary_lists_each_step_and_marks_the_failed_one() {
        let mut steps = Steps::begin();
        steps.work("first", "nothing", || Ok(())).unwrap();
        assert_eq!(steps.summary(), "", "one step needs no summary");
        steps.work("second", "nothing", || Err::<(), _>(Failure::new("broken"))).unwrap_err();
        let summary = steps.summary();
        let lines: Vec<&str> = summary.trim_matches('\n').lines().collect();
        assert_eq!(lines.len(), 3, "{summary}");
        assert!(lines[0].trim_start().starts_with("ok  first"), "{summary}");
        assert!(lines[1].starts_with("FAILED  second"), "{summary}");
        assert!(lines[2].trim_start().starts_with("total"), "{summary}");
    }

    #[test]
    fn help_follows_on_a_line_of_its_own() {
        assert_eq!(Failure::new("x").to_string(), "error: x");
        assert_eq!(Failure::new("x").help("do y").to_string(), "error: x\n help: do y");
    }
}
