//! What one call did and used: the account that the operator gets of it.

use std::collections::BTreeMap;

use brain_files::{Denial, FolderUse, GlobLayer};
use brain_packet::{Digest, RoleName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use brain_manifest::{LimitName, Limits};

/// The account of one call. Times are milliseconds, sizes are bytes. Paths are guest paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The role that was called.
    pub role: RoleName,
    /// The component that ran.
    pub component: Digest,
    /// The contract that it was called by, such as `brain:role@1.0.0`.
    pub contract: String,
    /// The code of how the call ended, such as `returned` or `sandbox.limit.deadline`.
    pub ended: String,
    /// The same for a reader; absent when the role returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_message: Option<String>,
    /// Wall time from the start of the call to its end, instantiation included.
    pub wall_ms: f64,
    /// CPU time of the thread that ran it.
    pub cpu_ms: f64,
    /// The most linear memory that it had at once.
    pub peak_memory_bytes: u64,
    /// File use.
    pub files: FileUse,
    /// What it printed.
    pub output: OutputUse,
    /// What it learned of the world beside its files.
    #[serde(default)]
    pub ambient: AmbientUse,
    /// What it returned.
    #[serde(default)]
    pub result: ResultUse,
    /// Limits at which something was refused or dropped without ending the call. The one that ended it is in `ended`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<Reached>,
    /// Calls to imports that no role is granted, by function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stubbed_calls: BTreeMap<String, u64>,
    /// What it was granted.
    pub grants: Grants,
    /// The limits that were in force.
    pub limits: Limits,
    /// Versions of this host and its engine.
    pub versions: Versions,
}

/// File use of one call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileUse {
    /// Files that were opened to read.
    pub files_read: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Files that were opened to write.
    pub files_written: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
    /// Paths that were asked for and not granted, the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Denial>,
    /// Denials of further paths that are not listed.
    #[serde(default)]
    pub denied_unlisted: u64,
    /// The folders of the workspace in which files were opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<FolderUse>,
    /// `.gitignore` files that are too large or cannot be read as rules, so that nothing of their folders was shown but
    /// what is tracked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unusable_gitignores: Vec<String>,
    /// Names in listed folders that are not UTF-8 and so could not be shown.
    #[serde(default)]
    pub names_skipped: u64,
}

/// Output of one call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputUse {
    /// Bytes printed to stdout.
    pub stdout_bytes: u64,
    /// Bytes printed to stderr.
    pub stderr_bytes: u64,
    /// Of both, the bytes that were not kept.
    pub dropped_bytes: u64,
    /// Why the private log could not be written, if it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_error: Option<String>,
}

/// Use of clock and randomness in one call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AmbientUse {
    /// How often it read the time of day, whether that was real or stood still.
    pub wall_clock_reads: u64,
    /// Random bytes that it was given, whether they were real or followed from the handoff's id.
    pub random_bytes: u64,
}

/// The result of one call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultUse {
    /// Its size as the limit on results measures it; 0 where the role did not return.
    pub bytes: u64,
    /// Repairs and cuts that it needed. The result's notes name them.
    pub repairs: u64,
}

/// A limit at which something was refused or dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reached {
    /// Which one.
    pub limit: LimitName,
    /// Its value, in its unit.
    pub value: u64,
    /// How often.
    pub times: u64,
    /// How to raise it.
    pub remedy: String,
}

impl Reached {
    pub(crate) fn new(limit: LimitName, limits: &Limits, times: u64) -> Self {
        Self { limit, value: limit.value_in(limits), times, remedy: limit.remedy() }
    }
}

/// What one call was granted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grants {
    /// Read globs of `/workspace` by layer; a path is visible only if every layer matches it. Absent: no workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Vec<GlobLayer>>,
    /// Of those, the globs by which no file was opened; layers without any are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<GlobLayer>,
    /// Write globs of `/workspace` by layer; a path may be written only if there are any, and every layer matches it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<GlobLayer>,
    /// Of those, the globs by which no file was opened to write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused_write: Vec<GlobLayer>,
    /// Globs that hide a path whatever grants it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Whether `.gitignore` was honoured.
    pub gitignore: bool,
    /// Whether there was a `/context`.
    pub context: bool,
    /// Whether there was an `/artifacts`.
    pub artifacts: bool,
    /// Whether the time of day was real.
    #[serde(default)]
    pub wall_clock: bool,
    /// Whether random bytes were real.
    #[serde(default)]
    pub random: bool,
}

/// The version of wasmtime that this build is locked to; a test compares it with `Cargo.lock`.
const WASMTIME_VERSION: &str = "48.0.8";

/// Versions of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Versions {
    /// This crate's version.
    pub brain: String,
    /// wasmtime's version line.
    pub wasmtime: String,
}

impl Versions {
    /// Those of this build.
    pub fn of_this_build() -> Self {
        Self { brain: env!("CARGO_PKG_VERSION").into(), wasmtime: WASMTIME_VERSION.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_in_receipts_is_the_one_that_is_locked() {
        let lock = include_str!("../../../Cargo.lock");
        assert!(lock.contains(&format!("name = \"wasmtime\"\nversion = \"{WASMTIME_VERSION}\"")));
    }
}
