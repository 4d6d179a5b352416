//! What a check finds in its environment: the operator's, without what is Brain's own or would lead out of the copy.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::detect::{Check, Tool};
use crate::scratch::Scratch;

/// Variables by which git would work on another repository than the one that it finds. Brain may be called from a hook, where
/// they name the project's own.
const GIT: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
];
/// Of a make or cargo that Brain was called by, whose job server a check cannot reach; and of the operator's shell.
const OUTER: [&str; 6] = ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CARGO_MAKEFLAGS", "OLDPWD", "PWD"];

/// The environment of checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// That of this process, without every `BRAIN_…`, with `CI=1`.
    pub fn of_operator() -> Self {
        Self::from(std::env::vars_os())
    }

    /// The same of other variables.
    pub fn from(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let kept = variables.into_iter().filter(|(name, _)| {
            !name.as_encoded_bytes().starts_with(b"BRAIN_") && !GIT.iter().chain(&OUTER).any(|not| name == not)
        });
        let mut variables: BTreeMap<OsString, OsString> = kept.collect();
        variables.insert("CI".into(), "1".into());
        Self { variables }
    }

    /// The same with one more variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    pub(crate) fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.variables
    }

    /// That of one check in a scratch checkout: cargo builds elsewhere than in the project, git does not look for a repository above
    /// the copy, and Python finds the copy's modules before those that a virtual environment leads to.
    #[must_use]
    pub(crate) fn of_check(self, check: &Check, scratch: &Scratch) -> Self {
        let folder = scratch.folder(&check.folder);
        let above = scratch.root().parent().unwrap_or(scratch.root());
        let mut environment = self
            .with("CARGO_TARGET_DIR", scratch.cargo_target())
            .with("GIT_CEILING_DIRECTORIES", above)
            .with("PWD", &folder);
        if check.tool == Tool::Python {
            let path = python_path(&folder, environment.get("PYTHONPATH"));
            environment = environment.with("PYTHONDONTWRITEBYTECODE", "1").with("PYTHONPATH", path);
        }
        environment
    }
}

fn python_path(folder: &Path, outer: Option<&OsStr>) -> OsString {
    let sources = folder.join("src");
    let mut path = OsString::new();
    for entry in sources.is_dir().then_some(sources.as_os_str()).into_iter().chain([folder.as_os_str()]).chain(outer) {
        if !path.is_empty() {
            path.push(":");
        }
        path.push(entry);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_brains_own_or_leads_out_is_left_out() {
        let outer = ["PATH", "BRAIN_HOME", "BRAIN_", "BRAINY", "GIT_DIR", "GIT_AUTHOR_NAME", "MAKEFLAGS", "CI", "HOME"];
        let environment = Environment::from(outer.map(|name| (name.into(), "x".into())));
        let names: Vec<_> = environment.variables().keys().collect();
        assert_eq!(names, ["BRAINY", "CI", "GIT_AUTHOR_NAME", "HOME", "PATH"]);
        assert_eq!(environment.get("CI"), Some(OsStr::new("1")));
    }
}
