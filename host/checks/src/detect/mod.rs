//! Which checks a project has, from what lies in it. Nothing is run to find out, and nothing is believed but files.

mod cargo;
mod go;
mod make;
mod node;
mod package;
mod python;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use brain_changes::check_path;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use package::Package;

/// Most packages of which the checks run; those of further ones are left out, and it is said.
pub const MAX_PACKAGES: usize = 8;
/// Most checks that one package offers: scripts and targets that are named, mostly.
pub const MAX_OFFERED: usize = 128;
/// Folders that are looked at for a package.
const MAX_FOLDERS: usize = 4_096;
/// Notes that are kept; further ones are counted.
const MAX_NOTES: usize = 16;

/// A check of a project: a program that ends well if all is well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// What it is called: the same for the same check of the same tree, and no two are called alike.
    pub name: String,
    /// The program; with `/` in it, a path from the folder.
    pub program: String,
    /// What it is given.
    pub args: Vec<String>,
    /// The folder that it runs in, from the root of the project; empty for the root.
    pub folder: String,
    /// What it is a tool of.
    pub tool: Tool,
    /// By what a configuration names it besides its name: a script, a target, or a command of the tool.
    pub script: String,
    /// What it looks at. Without one, it runs only where it is named.
    pub part: Option<Part>,
    /// Why it is taken for a check of the project.
    pub why: String,
}

/// What a check looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Whatever the project calls its check.
    Check,
    /// Whether it compiles.
    Typecheck,
    /// Whether it is written as the project wants it.
    Lint,
    /// Whether it does what it should.
    Test,
}

/// What a check is a tool of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// Rust.
    Cargo,
    /// JavaScript.
    Npm,
    /// JavaScript.
    Pnpm,
    /// JavaScript.
    Yarn,
    /// JavaScript.
    Bun,
    /// Go.
    Go,
    /// Python.
    Python,
    /// A makefile.
    Make,
}

impl Part {
    /// The name of it, which is that of the script that a project mostly has for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Typecheck => "typecheck",
            Self::Lint => "lint",
            Self::Test => "test",
        }
    }
}

impl Check {
    /// Whether a configuration that names `script` means it.
    pub fn is_called(&self, script: &str) -> bool {
        self.name == script || self.script == script || self.part.is_some_and(|part| part.as_str() == script)
    }

    /// Its command line, for showing.
    pub fn command_line(&self) -> String {
        std::iter::once(&self.program).chain(&self.args).map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// The checks that a tree has for a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Detected {
    /// Those of the packages that are nearest to the changed files.
    pub checks: Vec<Check>,
    /// Those of the root, where it is none of these packages: they run only where they are named and the packages have no such check.
    pub at_root: Vec<Check>,
    /// What was left out or could not be read, in words.
    pub notes: Vec<String>,
}

/// Finds the checks of the tree at `root` for a change of `changed`, paths as in a change set. To each file belongs the nearest
/// folder above it that has checks; a change of no files is one of the root.
///
/// `root` is the tree with the change in it: a change may bring checks, and take them away.
pub fn detect<'p>(root: &Path, changed: impl IntoIterator<Item = &'p str>) -> Detected {
    let mut search = Search { root, offers: BTreeMap::new(), notes: Vec::new(), more_notes: 0 };
    let mut folders: BTreeSet<&str> = BTreeSet::new();
    for path in changed {
        if check_path(path).is_ok() {
            folders.insert(parent(path).unwrap_or_default());
        }
    }
    if folders.is_empty() {
        folders.insert("");
    }
    // The packages whose checks run, and the folders on the way whose scripts can be named.
    let (mut packages, mut passed) = (BTreeSet::new(), BTreeSet::new());
    let mut left_out = BTreeSet::new();
    let mut unseen = 0_u64;
    for folder in folders {
        let mut at = Some(folder);
        while let Some(folder) = at {
            if search.offers.len() >= MAX_FOLDERS && !search.offers.contains_key(folder) {
                unseen += 1;
                break;
            }
            let offered = search.offered(folder);
            if offered.iter().any(|check| check.part.is_some()) {
                if packages.contains(folder) || packages.len() < MAX_PACKAGES {
                    packages.insert(folder.to_owned());
                } else {
                    left_out.insert(folder.to_owned());
                }
                break;
            }
            if !offered.is_empty() && passed.len() < MAX_PACKAGES {
                passed.insert(folder.to_owned());
            }
            at = parent(folder).or((!folder.is_empty()).then_some(""));
        }
    }
    if unseen > 0 {
        search.note(format!("{unseen} changed folders are more than the {MAX_FOLDERS} in which checks are looked for"));
    }
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().take(MAX_PACKAGES).map(String::as_str).collect();
        search.note(format!(
            "the change is in more than {MAX_PACKAGES} packages; the checks of {} are left out: {}{}",
            left_out.len(),
            names.join(", "),
            if left_out.len() > names.len() { ", …" } else { "" },
        ));
    }
    let folders: BTreeSet<String> = packages.into_iter().chain(passed).collect();
    let checks = folders.iter().flat_map(|folder| search.offered(folder).to_vec()).collect();
    let at_root = if folders.contains("") { Vec::new() } else { search.offered("").to_vec() };
    if search.more_notes > 0 {
        search.notes.push(format!("and {} more such notes", search.more_notes));
    }
    Detected { checks, at_root, notes: search.notes }
}

/// The folder that a path is in; none for what is at the root.
fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

struct Search<'r> {
    root: &'r Path,
    offers: BTreeMap<String, Vec<Check>>,
    notes: Vec<String>,
    more_notes: u64,
}

impl Search<'_> {
    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        } else {
            self.more_notes += 1;
        }
    }

    /// The checks of one folder.
    fn offered(&mut self, folder: &str) -> &[Check] {
        if !self.offers.contains_key(folder) {
            let mut package = Package::new(self.root, folder);
            cargo::offer(&mut package);
            node::offer(&mut package);
            go::offer(&mut package);
            python::offer(&mut package);
            // Last: a makefile mostly calls the others.
            make::offer(&mut package);
            let (checks, notes) = package.finish();
            for note in notes {
                self.note(note);
            }
            self.offers.insert(folder.to_owned(), checks);
        }
        self.offers.get(folder).map(Vec::as_slice).unwrap_or_default()
    }
}
