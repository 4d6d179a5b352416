//! The commands that run tests, from what the project has: its manifests, lock files and targets. Nothing is run here.

mod cargo;
mod go;
mod node;
mod python;

use std::collections::{BTreeMap, BTreeSet};

use crate::limits::{MAX_COMMAND_BYTES, MAX_NAMES_IN_COMMAND};
use crate::project::{File, Project};

/// Tests that are to be run: names by file. No names stands for all of the file.
pub type Wanted = BTreeMap<usize, BTreeSet<String>>;

/// What to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Commands that run the wanted tests and few others.
    pub exact: Vec<String>,
    /// Commands that run all tests.
    pub whole: Vec<String>,
    /// Files with wanted tests for which no command is known, and why.
    pub unknown: Vec<(String, &'static str)>,
    /// What the commands rest on, where it is less than certain.
    pub notes: Vec<String>,
}

impl Commands {
    /// The commands for some tests of a project.
    pub fn new(project: &Project, wanted: &Wanted) -> Self {
        let mut commands = Self::default();
        let mut by_runner: BTreeMap<u8, Vec<(&File, &BTreeSet<String>)>> = BTreeMap::new();
        for (index, names) in wanted {
            let Some(file) = project.files.get(*index) else { continue };
            let runner = match file.language.name {
                "Rust" => 0,
                "Python" => 1,
                "JavaScript" | "TypeScript" | "Vue" | "Svelte" => 2,
                "Go" => 3,
                _ => {
                    commands
                        .unknown
                        .push((file.path.clone(), "its language's test runner is not one that this role knows"));
                    continue;
                }
            };
            by_runner.entry(runner).or_default().push((file, names));
        }
        for (runner, files) in by_runner {
            match runner {
                0 => cargo::commands(project, &files, &mut commands),
                1 => python::commands(project, &files, &mut commands),
                2 => node::commands(project, &files, &mut commands),
                _ => go::commands(project, &files, &mut commands),
            }
        }
        cargo::whole(project, &mut commands);
        python::whole(project, &mut commands);
        node::whole(project, &mut commands);
        go::whole(project, &mut commands);
        make(project, &mut commands);
        let mut seen = BTreeSet::new();
        commands.exact.retain(|command| seen.insert(command.clone()));
        commands.whole.retain(|command| seen.insert(command.clone()));
        commands.notes.dedup();
        commands
    }

    fn unknown(&mut self, file: &File, why: &'static str) {
        self.unknown.push((file.path.clone(), why));
    }
}

/// Targets of makefiles and justfiles at the root that run tests.
fn make(project: &Project, commands: &mut Commands) {
    for (path, text) in &project.manifests {
        let tool = match path.as_str() {
            "Makefile" | "makefile" | "GNUmakefile" => "make",
            "justfile" | "Justfile" => "just",
            _ => continue,
        };
        let has = |target: &str| {
            text.lines().any(|line| {
                let rest = line.strip_prefix(target).map(str::trim_start);
                rest.is_some_and(|rest| rest.starts_with(':') && !rest.starts_with(":="))
            })
        };
        if let Some(target) = ["test", "tests", "check"].into_iter().find(|target| has(target)) {
            commands.whole.push(format!("{tool} {target}"));
        }
    }
}

/// A word for a POSIX shell; none when it has characters that no command of one line should have, or would be taken for a flag.
pub(crate) fn quoted(word: &str) -> Option<String> {
    if word.starts_with('-') || word.chars().any(|c| c.is_control() || unified_diff::is_bidi_control(c)) {
        return None;
    }
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '%' | '+' | '=' | ':' | ',' | '.' | '/' | '-');
    if !word.is_empty() && word.chars().all(plain) {
        return Some(word.to_owned());
    }
    Some(format!("'{}'", word.replace('\'', "'\\''")))
}

/// A command as it is run from the root: in a folder, when it has one.
fn in_folder(folder: &str, command: &str) -> Option<String> {
    let whole = if folder.is_empty() { command.to_owned() } else { format!("(cd {} && {command})", quoted(folder)?) };
    (whole.len() <= MAX_COMMAND_BYTES).then_some(whole)
}

/// The names, when they are few enough for a command.
fn few(names: &BTreeSet<String>) -> Option<&BTreeSet<String>> {
    (!names.is_empty() && names.len() <= MAX_NAMES_IN_COMMAND).then_some(names)
}

/// A path relative to a folder above it.
fn relative<'a>(folder: &str, path: &'a str) -> &'a str {
    if folder.is_empty() {
        return path;
    }
    path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}
