//! The operator's configuration: `config.toml` in `BRAIN_HOME`, and `.brain/brain.toml` in a project.
//!
//! A project's file comes with the project, from whoever wrote it, so it can only narrow: it adds to what is denied and
//! lowers limits. What the home's file sets is the ceiling.

use std::path::{Path, PathBuf};

use brain_sandbox::{DEFAULT_DENY, Limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::toml_file::{TomlError, read};

/// Support workers that run side by side by default.
pub const DEFAULT_MAX_PARALLEL: usize = 2;

/// `config.toml` and `.brain/brain.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigFile {
    /// The run.
    pub run: RunConfig,
    /// Files of a project.
    pub files: FilesConfig,
    /// Ceilings of the limits that manifests ask for.
    pub limits: LimitsConfig,
}

/// How a run is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// Support workers that run side by side. Default: 2.
    #[schemars(range(min = 1, max = 64))]
    pub max_parallel: Option<usize>,
}

/// What no role sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FilesConfig {
    /// Deny globs, in addition to the default ones.
    pub deny: Vec<String>,
}

/// Ceilings of limits; what is not given is at its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Wall time of a call in milliseconds.
    pub deadline_ms: Option<u64>,
    /// Linear memory of a call in bytes.
    pub memory_bytes: Option<u64>,
    /// Table elements of a call.
    pub table_elements: Option<u64>,
    /// Output of a call that is kept, in bytes.
    pub output_bytes: Option<u64>,
    /// Size of a result in bytes.
    pub result_bytes: Option<u64>,
    /// Bytes below `/artifacts`.
    pub artifact_bytes: Option<u64>,
    /// Files below `/artifacts`.
    pub artifact_files: Option<u64>,
    /// Open handles of a call.
    pub open_handles: Option<u64>,
}

/// The configuration in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Support workers that run side by side.
    pub max_parallel: usize,
    /// Globs that hide a path from every role.
    pub deny: Vec<String>,
    /// Ceilings of limits.
    pub ceiling: Limits,
    /// What the project's own file hides and lowers, in words.
    pub by_project: Vec<String>,
    /// The files that were read, for `brain doctor`.
    pub sources: Vec<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_parallel: DEFAULT_MAX_PARALLEL,
            deny: DEFAULT_DENY.iter().map(|glob| (*glob).to_owned()).collect(),
            ceiling: Limits::default(),
            by_project: Vec::new(),
            sources: Vec::new(),
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
        if home.exists() {
            let file: ConfigFile = read(&home)?;
            config.ceiling = file.limits.over(&Limits::default());
            if let Some(n) = file.run.max_parallel {
                config.max_parallel = n.clamp(1, 64);
            }
            config.deny.extend(file.files.deny);
            config.sources.push(home);
        }
        if let Some(project) = project.map(|p| p.join(".brain/brain.toml")).filter(|p| p.exists()) {
            let file: ConfigFile = read(&project)?;
            let ceiling = file.limits.over(&config.ceiling).capped_by(&config.ceiling);
            if ceiling != config.ceiling {
                config.by_project.push("the project's .brain/brain.toml lowers limits of roles".into());
            }
            config.ceiling = ceiling;
            if !file.files.deny.is_empty() {
                let hidden = file.files.deny.join(" ");
                config.by_project.push(format!("the project's .brain/brain.toml hides files from roles: {hidden}"));
            }
            if let Some(n) = file.run.max_parallel {
                config.max_parallel = n.clamp(1, config.max_parallel);
            }
            config.deny.extend(file.files.deny);
            config.sources.push(project);
        }
        Ok(config)
    }
}

impl LimitsConfig {
    /// `base` with what is given here.
    fn over(&self, base: &Limits) -> Limits {
        Limits {
            deadline_ms: self.deadline_ms.unwrap_or(base.deadline_ms),
            memory_bytes: self.memory_bytes.unwrap_or(base.memory_bytes),
            table_elements: self.table_elements.unwrap_or(base.table_elements),
            output_bytes: self.output_bytes.unwrap_or(base.output_bytes),
            result_bytes: self.result_bytes.unwrap_or(base.result_bytes),
            artifact_bytes: self.artifact_bytes.unwrap_or(base.artifact_bytes),
            artifact_files: self.artifact_files.unwrap_or(base.artifact_files),
            open_handles: self.open_handles.unwrap_or(base.open_handles),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

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
        assert!(config.deny.contains(&".git".to_owned()) && config.deny.contains(&"secret/**".to_owned()));
        assert_eq!(config.sources.len(), 2);
        assert!(config.by_project.iter().any(|said| said.ends_with("secret/**")), "{:?}", config.by_project);
    }
}
