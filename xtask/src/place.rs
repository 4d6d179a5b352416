//! Where things are in this repository, and how cargo is called in it.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::Failure;

/// Target of the guests.
pub const GUEST_TARGET: &str = "wasm32-wasip2";

/// The folders that commands work with.
#[derive(Debug, Clone)]
pub struct Place {
    /// Root of the repository, which is the host's workspace.
    pub root: PathBuf,
    /// Where this build's binaries are (`target/debug`): `brain`, `roles/` and `guests/` land there.
    pub bin: PathBuf,
}

impl Place {
    /// From this binary's own position: whatever set the target folder (a variable, a configuration) has placed it.
    ///
    /// # Errors
    /// The position of the running binary is unknown.
    pub fn find() -> Result<Self, Failure> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf();
        let own =
            env::current_exe().map_err(|error| Failure::new(format!("cannot tell where this binary is: {error}")))?;
        let bin = own.parent().unwrap_or(&root).to_path_buf();
        Ok(Self { root, bin })
    }

    /// The guests' workspace.
    pub fn roles(&self) -> PathBuf {
        self.root.join("roles")
    }

    /// Where the guests' workspace puts what it builds.
    pub fn roles_target(&self) -> PathBuf {
        self.roles().join("target")
    }

    /// The fuzz targets' workspace.
    pub fn fuzz(&self) -> PathBuf {
        self.root.join("fuzz")
    }

    /// Where the fuzz targets' workspace puts what it builds: instrumented, so never among other builds.
    pub fn fuzz_target(&self) -> PathBuf {
        self.fuzz().join("target")
    }

    /// The `brain` binary of this build.
    pub fn brain(&self) -> PathBuf {
        self.bin.join(format!("brain{}", env::consts::EXE_SUFFIX))
    }

    /// Where a command may keep files of its own between runs.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.bin.parent().unwrap_or(&self.bin).join(name)
    }

    /// Cargo for the host's workspace.
    pub fn cargo<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        cargo(&self.root, words)
    }

    /// Cargo for the guests' workspace, which always builds into its own folder.
    pub fn roles_cargo<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = cargo(&self.roles(), words);
        command.env("CARGO_TARGET_DIR", self.roles_target());
        command
    }

    /// Cargo for the fuzz targets' workspace.
    pub fn fuzz_cargo<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = cargo(&self.fuzz(), words);
        command.env("CARGO_TARGET_DIR", self.fuzz_target());
        command
    }
}

/// The cargo that runs this binary, without the variables that describe this crate: a build script that watches one of
/// them would run again, and rebuild what depends on it, each time that a build is started from here and from a shell in turn.
fn cargo<S: AsRef<OsStr>>(folder: &Path, words: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).args(words);
    for (name, _) in env::vars_os() {
        let described = name.to_string_lossy();
        if described.starts_with("CARGO_PKG_") || described.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_repository() {
        let place = Place::find().unwrap();
        assert!(place.root.join("wit/role.wit").is_file(), "{}", place.root.display());
        assert!(place.roles().join("Cargo.toml").is_file());
    }

    #[test]
    fn nested_cargo_is_not_told_about_this_crate() {
        let command = Place::find().unwrap().cargo(["build"]);
        let removed: Vec<_> =
            command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name.to_owned()).collect();
        assert!(removed.iter().any(|name| name == "CARGO_PKG_NAME"), "{removed:?}");
        assert!(removed.iter().any(|name| name == "CARGO_MANIFEST_DIR"), "{removed:?}");
    }
}
