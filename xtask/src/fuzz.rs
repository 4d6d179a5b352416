//! `cargo xtask fuzz`: every fuzz target for a bounded time, with libFuzzer.
//!
//! The layout is cargo-fuzz's, and its subcommands work in `fuzz/`. It is not needed here: coverage takes stable flags of rustc
//! only. What cargo-fuzz adds is the sanitizers of a nightly, for unsafe code that there is none of.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::files;
use crate::place::Place;
use crate::steps::{Failure, Steps, answer, shown};

/// Seconds for which one target runs by default.
pub const SECONDS: u32 = 20;
/// Seconds after which one input counts as a hang.
const HANG_SECONDS: u32 = 20;
/// Resident memory of a target in MiB; more is a failure.
const MEMORY_MIB: u32 = 1_500;
/// Bytes of the longest input that is tried.
const INPUT_BYTES: u32 = 8_192;
/// Lines from the end of a target's output that are shown when an input failed.
const SHOWN_LINES: usize = 30;

/// What makes rustc's code tell libFuzzer where it went and what it compared.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Builds the targets, and runs those that are asked for, all when none is, for `seconds` each. With 0 seconds, the inputs that
/// are kept are run once and no new ones are tried. One `seed` means the same choices in every run.
///
/// # Errors
/// A target is unknown, the build fails, or an input makes a target fail: all targets have been run then, and the failure says
/// where the input is.
pub fn run(place: &Place, steps: &mut Steps, asked: &[String], seconds: u32, seed: Option<u32>) -> Result<(), Failure> {
    let names = chosen(files::names_ending(&place.fuzz().join("fuzz_targets"), ".rs")?, asked)?;
    compiler(place)?;
    let triple = answer(Command::new("rustc").args(["--print", "host-tuple"]).current_dir(place.fuzz()))?;
    // With `--target`, flags are not for build scripts and macros. Cargo's own separator: see `roles`.
    let mut build = place.fuzz_cargo(["build", "--release", "--bins", "--target", &triple]);
    steps.run("build", build.env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}")))?;

    let built = place.fuzz_target().join(triple).join("release");
    let mut failures = Vec::new();
    for name in names {
        let target = Target { place, name: &name };
        let mut command = target.command(&built, seconds, seed)?;
        let line = shown(&command);
        if let Err(failure) = steps.work(&name, &line, || target.watch(&mut command)) {
            eprintln!("{failure}");
            failures.push(name);
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(Failure::new(format!("inputs fail in: {}", failures.join(", ")))) }
}

/// The names of the targets to run, from the names of their sources and from what was asked for.
fn chosen(sources: Vec<String>, asked: &[String]) -> Result<Vec<String>, Failure> {
    let all: Vec<String> = sources.iter().map(|source| source.trim_end_matches(".rs").to_owned()).collect();
    if let Some(unknown) = asked.iter().find(|name| !all.contains(name)) {
        return Err(Failure::new(format!("there is no fuzz target `{unknown}`"))
            .help(format!("the targets are {}", all.join(", "))));
    }
    Ok(if asked.is_empty() { all } else { asked.to_vec() })
}

/// libFuzzer is C++ and is built here.
fn compiler(place: &Place) -> Result<(), Failure> {
    let own = std::env::var_os("CXX").into_iter();
    let mut candidates = own.chain(["c++", "g++", "clang++"].map(Into::into));
    if candidates.any(|program| answer(Command::new(program).arg("--version").current_dir(&place.root)).is_ok()) {
        return Ok(());
    }
    Err(Failure::new("no C++ compiler was found, and libFuzzer is built with one (looked for $CXX, c++, g++, clang++)")
        .help("install one (Debian: apt-get install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install)"))
}

/// A target and its folders.
struct Target<'a> {
    place: &'a Place,
    name: &'a str,
}

impl Target<'_> {
    /// The inputs that earlier runs on this machine found. libFuzzer adds to the first folder that it is given, which is this
    /// one, so that a run changes nothing that is committed.
    fn found(&self) -> PathBuf {
        self.place.fuzz_target().join("found").join(self.name)
    }

    /// Where an input that fails is put.
    fn artifacts(&self) -> PathBuf {
        self.place.fuzz().join("artifacts").join(self.name)
    }

    fn command(&self, built: &Path, seconds: u32, seed: Option<u32>) -> Result<Command, Failure> {
        for folder in [self.found(), self.artifacts()] {
            fs::create_dir_all(&folder).map_err(|error| Failure::io("make the folder", &folder, &error))?;
        }
        let mut command = Command::new(built.join(format!("{}{}", self.name, std::env::consts::EXE_SUFFIX)));
        command.current_dir(self.place.fuzz());
        // Some targets make files, which a disk is slow to keep, and which nobody wants to be kept.
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            command.env("TMPDIR", memory);
        }
        // No end in seconds is no end at all, for libFuzzer; no runs are a replay.
        command.arg(if seconds == 0 { "-runs=0".to_owned() } else { format!("-max_total_time={seconds}") });
        command.args(seed.map(|seed| format!("-seed={seed}")));
        command.args([
            format!("-timeout={HANG_SECONDS}"),
            format!("-rss_limit_mb={MEMORY_MIB}"),
            format!("-max_len={INPUT_BYTES}"),
            format!("-artifact_prefix=artifacts/{}/", self.name),
            "-print_final_stats=1".to_owned(),
        ]);
        let dictionary = format!("dictionaries/{}.dict", self.name);
        if self.place.fuzz().join(&dictionary).is_file() {
            command.arg(format!("-dict={dictionary}"));
        }
        command.arg(format!("target/found/{}", self.name));
        let kept = ["corpus", "regressions"].map(|folder| format!("{folder}/{}", self.name));
        command.args(kept.iter().filter(|folder| self.place.fuzz().join(folder).is_dir()));
        Ok(command)
    }

    /// Runs the target with its output in a file, and says what it did.
    fn watch(&self, command: &mut Command) -> Result<(), Failure> {
        let log = self.place.fuzz_target().join(format!("{}.log", self.name));
        let file = File::create(&log).map_err(|error| Failure::io("write", &log, &error))?;
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).status();
        let status = status.map_err(|error| Failure::new(format!("cannot start the target: {error}")))?;
        let said = fs::read(&log).map_err(|error| Failure::io("read", &log, &error))?;
        let said = String::from_utf8_lossy(&said);
        let told = told(&said);
        eprintln!("    {} executions, {} edges covered; all it said: {}", told.executions, told.edges, log.display());
        if status.success() {
            return Ok(());
        }
        let lines: Vec<&str> = said.lines().collect();
        lines.iter().skip(lines.len().saturating_sub(SHOWN_LINES)).for_each(|line| eprintln!("    | {line}"));
        let name = self.name;
        let Some(input) = told.failing else {
            return Err(Failure::new(format!("the target {name} ended with {status}, and kept no input")));
        };
        if let Ok(bytes) = fs::read(self.place.fuzz().join(&input)) {
            // Where only the log of a run is left, the input can be taken from there.
            eprintln!("    the input: b\"{}\"", bytes.escape_ascii());
        }
        Err(Failure::new(format!("the target {name} fails with fuzz/{input}")).help(format!(
            "keep the input as fuzz/regressions/{name}/<what-it-shows>, and reproduce with `cargo test --no-default-features` in fuzz/"
        )))
    }
}

/// What a target's output says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    /// Inputs that were tried.
    executions: u64,
    /// Branches of the code that some input took.
    edges: u64,
    /// The input that failed, relative to `fuzz/`.
    failing: Option<String>,
}

fn told(said: &str) -> Told {
    let mut told = Told::default();
    let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    for line in said.lines() {
        // `#1234	NEW    cov: 56 ft: 78 corp: …`, and one line of statistics at the end that counts exactly.
        if let Some(executions) = line.strip_prefix('#').and_then(number) {
            told.executions = executions;
        }
        if let Some(executions) = line.strip_prefix("stat::number_of_executed_units:").map(str::trim).and_then(number) {
            told.executions = executions;
        }
        if let Some(edges) = line.split_once(" cov: ").and_then(|(_, rest)| number(rest)) {
            told.edges = edges;
        }
        if let Some((_, path)) = line.split_once("Test unit written to ") {
            told.failing = Some(path.trim().to_owned());
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libfuzzer_prints_is_understood() {
        let said = "INFO: seed corpus: files: 9\n#10\tINITED cov: 97 ft: 98 corp: 4/1Kb exec/s: 0\n#4096\tpulse  cov: 101 ft: 200\nDone 5000 runs in 2 second(s)\nstat::number_of_executed_units: 5000\n";
        assert_eq!(told(said), Told { executions: 5000, edges: 101, failing: None });
        let said = "#77\tNEW    cov: 12 ft: 13\nthread '<unnamed>' panicked\nartifact_prefix='artifacts/x/'; Test unit written to artifacts/x/crash-da39\nBase64: AA==\n";
        let failing = Some("artifacts/x/crash-da39".to_owned());
        assert_eq!(told(said), Told { executions: 77, edges: 12, failing });
        assert_eq!(told(""), Told::default());
    }

    #[test]
    fn an_unknown_target_is_named_with_the_known_ones() {
        let sources = || vec!["a.rs".to_owned(), "b.rs".to_owned()];
        assert_eq!(chosen(sources(), &[]).unwrap(), ["a", "b"]);
        assert_eq!(chosen(sources(), &["b".to_owned()]).unwrap(), ["b"]);
        let failure = chosen(sources(), &["c".to_owned()]).expect_err("unknown").to_string();
        assert!(failure.contains("`c`") && failure.contains("a, b"), "{failure}");
    }

    #[test]
    fn nothing_committed_is_written_to() {
        let place = Place::find().unwrap();
        let target = Target { place: &place, name: "packet_json" };
        let command = target.command(Path::new("/built"), 0, Some(3)).unwrap();
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let first_folder = words.iter().find(|word| !word.starts_with('-')).unwrap();
        assert_eq!(first_folder, "target/found/packet_json");
        assert!(words.iter().any(|word| word == "-seed=3"));
        assert!(words.iter().any(|word| word == "-runs=0") && words.iter().any(|word| word == "corpus/packet_json"));
    }
}
