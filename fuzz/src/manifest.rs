//! Files that people write: `role.toml`, `config.toml`, and a project's `.brain/brain.toml`, which comes from whoever wrote the project.
//!
//! An input is up to three files, separated by form feeds: what a role asks, what the operator grants, and what the project says.

use std::fmt::Debug;
use std::fs;
use std::path::Path;

use brain_files::{Visibility, WorkspaceGrant};
use brain_manifest::{Config, ConfigFile, EffectiveGrant, Manifest, ProjectFile, TomlError, toml_file};
use serde::{Serialize, de::DeserializeOwned};

use crate::tree;

/// Paths that grants are asked about.
const PATHS: [&str; 10] = [
    "a",
    "src/lib.rs",
    "src/a/b.rs",
    "docs/x.md",
    ".env",
    "id_rsa",
    ".git/config",
    ".brain/brain.toml",
    "secret/a",
    "A",
];

/// Nothing panics. What is read survives being written; what is not is told in a line that is safe to print, with a line of the file.
/// And a project can take away and never give.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut parts = text.split('\u{c}');
    let [asked, granted, narrowed] = [(); 3].map(|()| parts.next().unwrap_or_default());
    file::<Manifest>(asked);
    for text in [asked, granted, narrowed] {
        file::<ConfigFile>(text);
        file::<ProjectFile>(text);
    }
    if let Ok(manifest) = Manifest::parse(asked) {
        grants(&manifest, granted, narrowed);
    }
}

fn file<T: Serialize + DeserializeOwned + PartialEq + Debug>(text: &str) {
    match toml_file::parse::<T>(Path::new("file.toml"), text) {
        Ok(read) => {
            // A number beyond what TOML has is one that it cannot have given.
            let written = toml::to_string(&read).expect("what was read can be written");
            let again = toml_file::parse::<T>(Path::new("file.toml"), &written);
            assert_eq!(again.unwrap_or_else(|error| panic!("{error}: {written}")), read, "{written}");
        }
        Err(error) => told(&error, text),
    }
}

fn told(error: &TomlError, text: &str) {
    let help = miette_help(error);
    assert!(!error.to_string().chars().chain(help.chars()).any(char::is_control), "{:?} {help:?}", error.to_string());
    if let TomlError::Invalid { line, .. } = error {
        assert!((1..=text.matches('\n').count() + 1).contains(line), "line {line} of {text:?}");
    }
}

fn miette_help(error: &TomlError) -> String {
    miette::Diagnostic::help(error).map(|help| help.to_string()).unwrap_or_default()
}

/// What a role may do where the project has a word in it is no more than where it has none.
fn grants(manifest: &Manifest, granted: &str, narrowed: &str) {
    let place = tree::folder();
    let (home, project) = (place.path().join("home"), place.path().join("project"));
    fs::create_dir_all(project.join(".brain")).and_then(|()| fs::create_dir(&home)).expect("folders can be made");
    fs::write(home.join("config.toml"), granted).expect("a file can be written");
    let Ok(config) = Config::load(&home, Some(&project)) else { return };
    fs::write(project.join(".brain/brain.toml"), narrowed).expect("a file can be written");
    let Ok(with_project) = Config::load(&home, Some(&project)) else { return };
    let (more, less) = (EffectiveGrant::new(manifest, &config), EffectiveGrant::new(manifest, &with_project));
    let told = || format!("{less:#?}\nis more than\n{more:#?}");

    let limits = |grant: &EffectiveGrant| grant.limits.iter().map(|limit| limit.effective).collect::<Vec<_>>();
    for ((limit, most), less) in more.limits.iter().zip(limits(&more)).zip(limits(&less)) {
        assert!(less <= most && most <= limit.asked.max(limit.cap), "{}: {}", limit.name, told());
    }
    for (more, less) in
        [(more.gitignored, less.gitignored), (more.wall_clock, less.wall_clock), (more.random, less.random)]
    {
        assert!(more.effective || !less.effective, "{}", told());
        assert!(more.asked || !more.effective, "nobody asked: {more:?}");
    }
    assert!(with_project.max_parallel <= config.max_parallel);
    let (shown, fewer) = (visibility(&project, &more), visibility(&project, &less));
    for path in PATHS {
        assert!(shown.shows(path) || !fewer.shows(path), "{path} is shown: {}", told());
        assert!(shown.lets_write(path) || !fewer.lets_write(path), "{path} is writable: {}", told());
        assert!(fewer.shows(path) || !fewer.lets_write(path), "{path} is writable and not shown: {}", told());
    }
    assert!(!fewer.lets_write(".brain/brain.toml") && !fewer.lets_write(".git/config"), "{}", told());
}

/// Every glob of a grant was checked when its file was read.
fn visibility(project: &Path, grant: &EffectiveGrant) -> Visibility {
    let mut workspace = WorkspaceGrant::new(project, grant.read.clone(), grant.write_layers().to_vec());
    workspace.deny = grant.deny.iter().map(|denied| denied.glob.clone()).collect();
    workspace.honour_gitignore = false;
    workspace.visibility().unwrap_or_else(|error| panic!("{error}: {grant:#?}"))
}
