//! `role.toml`: what a role is, and what it asks for.

use std::path::Path;

use brain_packet::RoleName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grants::globs;
use crate::limits::Limits;
use crate::toml_file::{TomlError, parse};

/// The manifest of a role. It asks; what the role gets is what the operator and the handoff grant of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name of the role, the same as its folder's.
    pub name: RoleName,
    /// Version of the role.
    pub version: String,
    /// What it does, in one line.
    pub description: String,
    /// The contract that it is built for, such as `brain:role@1.0.0`.
    pub contract: String,
    /// File name of the component beside this file.
    pub component: String,
    /// Files that it asks for.
    #[serde(default)]
    pub files: Files,
    /// Context that it makes use of.
    #[serde(default)]
    pub context: Context,
    /// Parts of WASI that it asks for.
    #[serde(default)]
    pub wasi: Wasi,
    /// When it is called.
    #[serde(default)]
    pub routing: Routing,
    /// Limits that it asks for; the operator's cap them.
    #[serde(default)]
    #[serde(deserialize_with = "crate::limits::asked")]
    pub limits: Limits,
}

impl Manifest {
    /// Parses the text of a `role.toml`.
    ///
    /// # Errors
    /// [`TomlError::Invalid`], with the line.
    pub fn parse(text: &str) -> Result<Self, TomlError> {
        parse(Path::new("role.toml"), text)
    }
}

/// Files of the project that a role asks for. Globs are relative to the project, with `/` between names; one without
/// wildcards that names a folder covers all below it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Files {
    /// Globs of files to read. None asked, and none to write: no workspace.
    #[serde(deserialize_with = "globs::list")]
    pub read: Vec<String>,
    /// Globs of files to change; what it may write it may read, too. Nothing is granted unless the operator grants it.
    #[serde(deserialize_with = "globs::list")]
    pub write: Vec<String>,
    /// Whether it asks to see what `.gitignore` excludes. Not granted unless the operator grants it.
    pub gitignored: bool,
}

/// Parts of WASI that a role has only when the operator grants them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wasi {
    /// The time of day. Without it time stands still.
    pub wall_clock: bool,
    /// Entropy of the system. Without it random numbers follow from the handoff.
    pub random: bool,
}

/// Context files that a role makes use of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Context {
    /// Names below `/context`: `request.md`, `changes.diff`.
    pub reads: Vec<String>,
}

impl Context {
    /// Whether it makes use of the context file `name`.
    pub fn wants(&self, name: &str) -> bool {
        self.reads.iter().any(|read| read == name)
    }
}

/// When a role takes part in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Routing {
    /// Words of a request that call for the role; each matches as a whole word, in any case.
    pub words: Vec<String>,
    /// Roles whose results it is to see, so that it runs after them when they take part.
    pub after: Vec<RoleName>,
}
