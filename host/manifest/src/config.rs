//! The operator's configuration: `config.toml` in `BRAIN_HOME`, and `.brain/brain.toml` in a project.
//!
//! A project's file comes with the project, from whoever wrote it, so it can only narrow: it adds to what is denied,
//! leaves out of what is granted, and lowers limits. What the home's file sets is the ceiling.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use brain_files::DEFAULT_DENY;
use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::grants::{ByRole, Denied, Granted, ProjectGrants, ProjectPath, Who, by_name, by_role, globs, some_of};
use crate::limits::{Limits, PartialLimits};
use crate::toml_file::{TomlError, read};

/// Support workers that run side by side by default.
pub const DEFAULT_MAX_PARALLEL: usize = 2;

/// Most support workers that run side by side.
pub const MAX_PARALLEL: usize = 64;

/// Notes on what a project's file does; further ones are counted.
const MAX_NOTES: usize = 16;

/// `config.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigFile {
    /// The run.
    pub run: RunConfig,
    /// Files of a project.
    pub files: FilesConfig,
    /// Ceilings of the limits that manifests ask for.
    pub limits: PartialLimits,
    /// What each role is granted in all projects.
    #[serde(deserialize_with = "by_role")]
    pub grants: ByRole,
    /// What holds in one project, by its absolute path.
    pub projects: BTreeMap<ProjectPath, ProjectGrants>,
}

/// `.brain/brain.toml`, which can only narrow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectFile {
    /// The run.
    pub run: RunConfig,
    /// Files of the project.
    pub files: FilesConfig,
    /// Lower ceilings.
    pub limits: PartialLimits,
    /// To what the grants of each role are narrowed.
    #[serde(deserialize_with = "by_role")]
    pub grants: ByRole,
}

/// How a run is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// Support workers that run side by side. Default: 2.
    #[schemars(range(min = 1, max = 64))]
    #[serde(deserialize_with = "max_parallel")]
    pub max_parallel: Option<usize>,
}

fn max_parallel<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    match Option::deserialize(deserializer)? {
        Some(n) if !(1..=MAX_PARALLEL).contains(&n) => {
            Err(D::Error::custom(format!("max_parallel is {n}; it is at least 1 and at most {MAX_PARALLEL}")))
        }
        n => Ok(n),
    }
}

/// What no role sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FilesConfig {
    /// Deny globs, in addition to the default ones.
    #[serde(deserialize_with = "globs::denying")]
    pub deny: Vec<String>,
}

/// The configuration in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Support workers that run side by side.
    pub max_parallel: usize,
    /// Globs that hide a path from every role.
    pub deny: Vec<Denied>,
    /// Ceilings of limits.
    pub ceiling: Limits,
    /// Who set a ceiling, by its key; the default holds for the others.
    caps: BTreeMap<String, Who>,
    /// What roles are granted.
    pub granted: Granted,
    /// What the project's own file hides and lowers, and what it would widen, in words.
    pub by_project: Vec<String>,
    /// The files that were read, for `brain doctor`.
    pub sources: Vec<PathBuf>,
    /// Projects that the home's file names and that are not there.
    pub no_projects: Vec<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_parallel: DEFAULT_MAX_PARALLEL,
            deny: denied(DEFAULT_DENY.iter().map(|glob| (*glob).to_owned()), Who::Default).collect(),
            ceiling: Limits::default(),
            caps: BTreeMap::new(),
            granted: Granted::default(),
            by_project: Vec::new(),
            sources: Vec::new(),
            no_projects: Vec::new(),
        }
    }
}

impl Config {
    /// Reads the home's file and the project's, where they exist.
    ///
    /// # Errors
    /// A file exists and cannot be used.
    pub fn load(home: &Path, project: Option<&Path>) -> Result<Self, TomlError> {
        let mut config = Self::default();
        let home = home.join("config.toml");
        if is_there(&home) {
            config.by_home(read(&home)?, project);
            config.sources.push(home);
        }
        if let Some(project) = project.map(|p| p.join(".brain/brain.toml")).filter(|p| is_there(p)) {
            config.narrow(read(&project)?);
            config.sources.push(project);
        }
        Ok(config)
    }

    fn by_home(&mut self, file: ConfigFile, project: Option<&Path>) {
        self.ceiling = file.limits.over(&Limits::default());
        self.caps = by_name(&file.limits).into_keys().map(|name| (name, Who::Operator)).collect();
        if let Some(n) = file.run.max_parallel {
            self.max_parallel = n;
        }
        self.deny.extend(denied(file.files.deny, Who::Operator));
        self.no_projects =
            file.projects.keys().map(ProjectPath::as_path).filter(|path| !path.is_dir()).map(Path::to_owned).collect();
        self.granted = Granted::by_operator(file.grants, file.projects, project);
    }

    fn narrow(&mut self, file: ProjectFile) {
        let mut said = Vec::new();
        let (mut lowered, mut ignored) = (Vec::new(), Vec::new());
        let ceilings = by_name(&self.ceiling);
        for (name, cap) in by_name(&file.limits) {
            match ceilings.get(&name) {
                Some(ceiling) if cap < *ceiling => lowered.push(name),
                Some(ceiling) if cap > *ceiling => ignored.push(name),
                _ => {}
            }
        }
        if !lowered.is_empty() {
            said.push(format!("lowers limits of roles: {}", some_of(&lowered)));
        }
        if !ignored.is_empty() {
            said.push(format!("would raise limits of roles, which is not applied: {}", some_of(&ignored)));
        }
        self.ceiling = file.limits.over(&self.ceiling).capped_by(&self.ceiling);
        self.caps.extend(lowered.into_iter().map(|name| (name, Who::Project)));
        if !file.files.deny.is_empty() {
            said.push(format!("hides files from roles: {}", some_of(&file.files.deny)));
        }
        self.deny.extend(denied(file.files.deny, Who::Project));
        if let Some(n) = file.run.max_parallel {
            if n > self.max_parallel {
                said.push(format!("would run more roles side by side, which is not applied: max_parallel = {n}"));
            }
            self.max_parallel = n.min(self.max_parallel);
        }
        said.extend(self.granted.narrowed(file.grants));
        let more = said.len().saturating_sub(MAX_NOTES);
        said.truncate(MAX_NOTES);
        if more > 0 {
            said.push(format!("does {more} more such things"));
        }
        self.by_project = said.into_iter().map(|said| format!("the project's .brain/brain.toml {said}")).collect();
    }

    /// Who set the ceiling of the limit `name`.
    pub fn capped_by(&self, name: &str) -> Who {
        self.caps.get(name).copied().unwrap_or(Who::Default)
    }

    /// The globs that hide a path from every role.
    pub fn deny_globs(&self) -> impl Iterator<Item = String> + '_ {
        self.deny.iter().map(|denied| denied.glob.clone())
    }
}

/// Whether there may be anything at `path`: a file that is there and cannot be read is not passed over.
fn is_there(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(e) => !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

fn denied(globs: impl IntoIterator<Item = String>, who: Who) -> impl Iterator<Item = Denied> {
    globs.into_iter().map(move |glob| Denied { glob, who })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_limit_that_cannot_be_is_refused_in_both_files() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(project.path().join(".brain")).unwrap();
        let files = [home.path().join("config.toml"), project.path().join(".brain/brain.toml")];
        for file in &files {
            for (text, words) in [
                ("[limits]\ndeadline_ms = 0\n", ":2: the limit `deadline_ms` is 0"),
                (
                    "[limits]\nstaged_bytes = 18446744073709551615\n",
                    ":2: the limit `staged_bytes` is 18446744073709551615",
                ),
                ("[run]\nmax_parallel = 0\n", ":2: max_parallel is 0; it is at least 1 and at most 64"),
                ("[run]\nmax_parallel = 65\n", ":2: max_parallel is 65"),
            ] {
                std::fs::write(file, text).unwrap();
                let error = Config::load(home.path(), Some(project.path())).unwrap_err().to_string();
                assert!(error.contains(words), "{error}");
            }
            std::fs::write(file, "[limits]\nstaged_bytes = 0\n").unwrap();
            assert_eq!(Config::load(home.path(), Some(project.path())).unwrap().ceiling.staged_bytes, 0);
        }
    }

    #[test]
    fn a_project_can_narrow_and_never_widen() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(project.path().join(".brain")).unwrap();
        std::fs::write(home.path().join("config.toml"), "[limits]\ndeadline_ms = 90000\n[run]\nmax_parallel = 3\n")
            .unwrap();
        std::fs::write(
            project.path().join(".brain/brain.toml"),
            "[limits]\ndeadline_ms = 99999999\nmemory_bytes = 1024\n[run]\nmax_parallel = 9\n[files]\ndeny = [\"secret/**\"]\n",
        )
        .unwrap();
        let config = Config::load(home.path(), Some(project.path())).unwrap();
        assert_eq!(config.ceiling.deadline_ms, 90_000);
        assert_eq!(config.ceiling.memory_bytes, 1024);
        assert_eq!(config.max_parallel, 3);
        assert!(config.deny_globs().any(|glob| glob == ".git") && config.deny_globs().any(|glob| glob == "secret/**"));
        assert_eq!(config.capped_by("deadline_ms"), Who::Operator);
        assert_eq!(config.capped_by("memory_bytes"), Who::Project);
        assert_eq!(config.capped_by("table_elements"), Who::Default);
        assert!(
            config.by_project.iter().any(|said| said.ends_with("not applied: deadline_ms")),
            "{:?}",
            config.by_project
        );
        assert_eq!(config.sources.len(), 2);
        assert!(config.by_project.iter().any(|said| said.ends_with("secret/**")), "{:?}", config.by_project);
    }
}
