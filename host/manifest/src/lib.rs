//! What people write about a role, and what follows from it together: the manifest asks, the operator's configuration
//! grants, the project's narrows, and every limit has a name.
//!
//! **For:** reading `role.toml`, `config.toml` and `.brain/brain.toml` with errors that name the line and the key that was meant,
//! and working out what a role may do: an [`EffectiveGrant`].
//!
//! **Must not know:** wasmtime, how a limit or a grant is enforced, what a run is, or where roles are found.
//!
//! ```
//! use brain_manifest::{Config, EffectiveGrant, Manifest};
//!
//! let manifest = Manifest::parse(
//!     "name = \"reader\"\nversion = \"1.0.0\"\ndescription = \"Reads.\"\ncontract = \"brain:role@1.0.0\"\n\
//!      component = \"reader.wasm\"\n[files]\nread = [\"src/**\"]\nwrite = [\"src/**\"]\n",
//! )?;
//! let grant = EffectiveGrant::new(&manifest, &Config::default());
//! // What is asked to be read is granted unless the operator says otherwise; nothing is granted to be written.
//! assert!(grant.has_workspace() && grant.write_layers().is_empty());
//! # Ok::<(), brain_manifest::TomlError>(())
//! ```

pub mod config;
pub mod grants;
pub mod limits;
pub mod manifest;
pub mod plain_file;
pub mod toml_file;

pub use config::{Config, ConfigFile, DEFAULT_MAX_PARALLEL, ProjectFile};
pub use grants::{
    Asks, ByRole, Decision, Denied, EffectiveGrant, Granted, LimitGrant, MAX_GLOBS, ProjectGrants, ProjectPath,
    RoleGrants, Who, plainest,
};
pub use limits::{LimitName, Limits, PartialLimits, STACK_BYTES, TICK_MS, Unit, show_bytes};
pub use manifest::{Context, Files, Manifest, Routing, Wasi};
pub use toml_file::{MAX_TOML_BYTES, TomlError, nearest};
