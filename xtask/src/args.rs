//! The command line of `cargo xtask`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::steps::Failure;

/// What `cargo xtask --help` prints.
pub const USAGE: &str = "\
cargo xtask <command>

  setup                 check the tools, add the target wasm32-wasip2
  roles                 build the roles and the test guests, place them beside the `brain` binary
  demo                  build everything and run Brain on the sample repository
  test [-- ARGS…]       every test of every workspace; ARGS go to each `cargo test`
  check                 formatting and clippy, every workspace, warnings are errors
  fuzz [--seconds N] [--seed N] [TARGET…]
                        each fuzz target for N seconds (20); with 0, only the inputs that are kept. One seed
                        tries the same inputs in the same order
  bench [-- ARGS…]      benchmarks; ARGS go to `cargo bench`
  hostile [-- ARGS…]    every hostile guest, how late each is stopped, the escape corpus; `-- --runs N` for N runs
  schemas [--check]     write schemas/*.json; with --check, fail when they are out of date
  install --prefix DIR  put `brain` and its roles into DIR/bin

Steps are echoed and timed; the first failure stops the run.
";

/// One developer command with its options.
#[derive(Debug, PartialEq, Eq)]
pub enum Task {
    /// Print [`USAGE`].
    Help,
    /// Check the tools and add the guests' target.
    Setup,
    /// Build and place roles and test guests.
    Roles,
    /// Build everything and run the demonstration.
    Demo,
    /// Run every test.
    Test {
        /// Arguments for each `cargo test`.
        forwarded: Vec<OsString>,
    },
    /// Formatting and lints.
    Check,
    /// Run the fuzz targets.
    Fuzz {
        /// Names of targets; none for all.
        targets: Vec<String>,
        /// Seconds for each.
        seconds: u32,
        /// What libFuzzer's choices begin with; its own when there is none.
        seed: Option<u32>,
    },
    /// Run the benchmarks.
    Bench {
        /// Arguments for `cargo bench`.
        forwarded: Vec<OsString>,
    },
    /// Run the hostile suite.
    Hostile {
        /// Arguments for its program.
        forwarded: Vec<OsString>,
    },
    /// Regenerate the JSON Schemas.
    Schemas {
        /// Compare instead of writing.
        check: bool,
    },
    /// Copy the binary and the roles to a prefix.
    Install {
        /// The folder whose `bin` receives them.
        prefix: PathBuf,
    },
}

/// Reads a command line.
///
/// # Errors
/// No command, an unknown one, an unknown or repeated option, a missing value. The message names the word at fault.
pub fn parse(mut parser: lexopt::Parser) -> Result<Task, Failure> {
    let command = match parser.next().map_err(misused)? {
        None | Some(lexopt::Arg::Long("help") | lexopt::Arg::Short('h')) => return Ok(Task::Help),
        Some(lexopt::Arg::Value(word)) => word.to_string_lossy().into_owned(),
        Some(other) => return Err(misused(other.unexpected())),
    };
    match command.as_str() {
        "help" => finish(parser, Task::Help),
        "setup" => finish(parser, Task::Setup),
        "roles" => finish(parser, Task::Roles),
        "demo" => finish(parser, Task::Demo),
        "test" => forwarded(parser).map(|forwarded| forwarded.map_or(Task::Help, |forwarded| Task::Test { forwarded })),
        "check" => finish(parser, Task::Check),
        "bench" => {
            forwarded(parser).map(|forwarded| forwarded.map_or(Task::Help, |forwarded| Task::Bench { forwarded }))
        }
        "fuzz" => fuzz(parser),
        "hostile" => {
            forwarded(parser).map(|forwarded| forwarded.map_or(Task::Help, |forwarded| Task::Hostile { forwarded }))
        }
        "schemas" => schemas(parser),
        "install" => install(parser),
        unknown => Err(Failure::new(format!("unknown command `{unknown}`")).help(
            "the commands are setup, roles, demo, test, check, fuzz, bench, hostile, schemas and install; see `cargo xtask --help`",
        )),
    }
}

/// `task`, provided that nothing follows; `Help` when `--help` does.
fn finish(mut parser: lexopt::Parser, task: Task) -> Result<Task, Failure> {
    match parser.next().map_err(misused)? {
        None => Ok(task),
        Some(lexopt::Arg::Long("help") | lexopt::Arg::Short('h')) => Ok(Task::Help),
        Some(other) => Err(misused(other.unexpected())),
    }
}

/// Everything after `--`; `None` when help is asked for before it. A word before `--` is refused, so that a forgotten `--`
/// does not silently run more than was meant.
fn forwarded(mut parser: lexopt::Parser) -> Result<Option<Vec<OsString>>, Failure> {
    let mut words = parser.raw_args().map_err(misused)?;
    match words.next() {
        None => Ok(Some(Vec::new())),
        Some(word) if word == "--" => Ok(Some(words.collect())),
        Some(word) if word == "--help" || word == "-h" => Ok(None),
        Some(word) => Err(Failure::new(format!("unexpected `{}` before `--`", word.to_string_lossy()))
            .help("arguments for cargo follow `--`, as in `cargo xtask test -- some_test_name`")),
    }
}

fn fuzz(mut parser: lexopt::Parser) -> Result<Task, Failure> {
    let (mut targets, mut seconds, mut seed) = (Vec::new(), None, None);
    let number = |parser: &mut lexopt::Parser, what: &str, example: &str| {
        let said = parser.value().map_err(misused)?;
        let said = said.to_string_lossy();
        let wrong =
            |_| Failure::new(format!("`{said}` is no {what}")).help(format!("as in `cargo xtask fuzz {example}`"));
        said.parse::<u32>().map(Some).map_err(wrong)
    };
    while let Some(arg) = parser.next().map_err(misused)? {
        match arg {
            lexopt::Arg::Long("seconds") if seconds.is_none() => {
                seconds = number(&mut parser, "number of seconds", "--seconds 60")?;
            }
            lexopt::Arg::Long("seed") if seed.is_none() => seed = number(&mut parser, "seed", "--seed 1")?,
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Task::Help),
            lexopt::Arg::Value(name) => targets.push(name.to_string_lossy().into_owned()),
            other => return Err(misused(other.unexpected())),
        }
    }
    Ok(Task::Fuzz { targets, seconds: seconds.unwrap_or(crate::fuzz::SECONDS), seed })
}

fn schemas(mut parser: lexopt::Parser) -> Result<Task, Failure> {
    let mut check = false;
    while let Some(arg) = parser.next().map_err(misused)? {
        match arg {
            lexopt::Arg::Long("check") => check = true,
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Task::Help),
            other => return Err(misused(other.unexpected())),
        }
    }
    Ok(Task::Schemas { check })
}

fn install(mut parser: lexopt::Parser) -> Result<Task, Failure> {
    let mut prefix = None;
    while let Some(arg) = parser.next().map_err(misused)? {
        match arg {
            lexopt::Arg::Long("prefix") if prefix.is_none() => {
                prefix = Some(PathBuf::from(parser.value().map_err(misused)?));
            }
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Task::Help),
            other => return Err(misused(other.unexpected())),
        }
    }
    match prefix {
        Some(prefix) if !prefix.as_os_str().is_empty() => Ok(Task::Install { prefix }),
        _ => {
            Err(Failure::new("install needs a folder").help("say where, as in `cargo xtask install --prefix ~/.local`"))
        }
    }
}

fn misused(error: lexopt::Error) -> Failure {
    Failure::new(error.to_string()).help("see `cargo xtask --help`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Task, Failure> {
        parse(lexopt::Parser::from_args(words))
    }

    fn refused(words: &[&str]) -> String {
        parsed(words).expect_err("should be refused").to_string()
    }

    #[test]
    fn every_command_of_the_usage_text_is_understood() {
        for line in USAGE.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
            let command = line.split_whitespace().next().unwrap();
            let words: &[&str] = if command == "install" { &[command, "--prefix", "d"] } else { &[command] };
            let task = parsed(words).unwrap_or_else(|failure| panic!("`{command}`: {failure}"));
            assert_ne!(task, Task::Help, "`{command}` should be a command of its own");
        }
    }

    #[test]
    fn nothing_and_help_print_the_usage() {
        let asked: [&[&str]; 8] = [
            &[],
            &["--help"],
            &["-h"],
            &["help"],
            &["demo", "--help"],
            &["test", "-h"],
            &["install", "--help"],
            &["schemas", "-h"],
        ];
        for words in asked {
            assert_eq!(parsed(words).unwrap(), Task::Help, "{words:?}");
        }
    }

    #[test]
    fn what_follows_two_dashes_is_forwarded_verbatim() {
        let expected = ["name", "--", "--nocapture", "--help"].map(OsString::from).to_vec();
        assert_eq!(
            parsed(&["test", "--", "name", "--", "--nocapture", "--help"]).unwrap(),
            Task::Test { forwarded: expected }
        );
        assert_eq!(parsed(&["bench"]).unwrap(), Task::Bench { forwarded: Vec::new() });
    }

    #[test]
    fn a_word_before_two_dashes_is_refused() {
        assert!(refused(&["test", "some_test"]).contains("`some_test`"));
        assert!(refused(&["bench", "--save-baseline", "--"]).contains("--save-baseline"));
    }

    #[test]
    fn unknown_words_are_named() {
        assert!(refused(&["tests"]).contains("unknown command `tests`"));
        assert!(refused(&["--release"]).contains("--release"));
        assert!(refused(&["check", "extra"]).contains("extra"));
        assert!(refused(&["schemas", "--chek"]).contains("--chek"));
    }

    #[test]
    fn fuzz_takes_names_seconds_and_a_seed() {
        let named = |words: &[&str], targets: &[&str], seconds, seed| {
            let targets = targets.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(parsed(words).unwrap(), Task::Fuzz { targets, seconds, seed });
        };
        named(&["fuzz"], &[], crate::fuzz::SECONDS, None);
        named(&["fuzz", "a", "--seconds", "0", "b"], &["a", "b"], 0, None);
        named(&["fuzz", "--seed=7"], &[], crate::fuzz::SECONDS, Some(7));
        assert!(refused(&["fuzz", "--seed", "any"]).contains("`any`"));
        assert!(refused(&["fuzz", "--seed", "1", "--seed", "2"]).contains("--seed"));
        assert!(refused(&["fuzz", "--seconds", "soon"]).contains("`soon`"));
        assert!(refused(&["fuzz", "--seconds=-1"]).contains("`-1`"));
        assert!(refused(&["fuzz", "--seconds", "1", "--seconds", "2"]).contains("--seconds"));
    }

    #[test]
    fn install_wants_exactly_one_prefix() {
        assert_eq!(parsed(&["install", "--prefix", "/opt/b"]).unwrap(), Task::Install { prefix: "/opt/b".into() });
        assert_eq!(parsed(&["install", "--prefix=/opt/b"]).unwrap(), Task::Install { prefix: "/opt/b".into() });
        assert!(refused(&["install"]).contains("needs a folder"));
        assert!(refused(&["install", "--prefix="]).contains("needs a folder"));
        assert!(refused(&["install", "--prefix"]).contains("--prefix"));
        assert!(refused(&["install", "--prefix", "a", "--prefix", "b"]).contains("--prefix"));
    }
}
