//! One changed file.

use brain_packet::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bits of a mode that a change set carries: read, write and execute. Set-user-id, set-group-id and sticky bits are
/// never set, and a file that has one is never replaced.
pub const MODE_BITS: u32 = 0o777;

/// The mode of a new file in a folder of mode `folder`: as open as the folder is, never wider than `rw-r--r--`, never
/// executable. A role cannot choose modes, so this rule is all there is for files that it adds.
pub fn new_file_mode(folder: u32) -> u32 {
    (folder & 0o644) | 0o600
}

/// The mode of a new folder in a folder of mode `folder`: as open as that one, never wider than `rwxr-xr-x`.
pub fn new_folder_mode(folder: u32) -> u32 {
    (folder & 0o755) | 0o700
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or its mode changes.
    Modified,
    /// It goes.
    Deleted,
    /// It gets another path, and perhaps other content.
    Renamed,
}

/// One changed file: what it was, and what it becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Change {
    /// The path from the root of the tree, with `/`; the new one for a rename.
    pub path: String,
    /// What happens to it.
    pub kind: ChangeKind,
    /// The path that it had: of a rename, and only of a rename.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The permission bits that it gets, exactly, whatever the umask; none for a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The permission bits that it had; none for an addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_mode: Option<u32>,
    /// The digest of the content that it had; none for an addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Digest>,
    /// The digest of the content that it gets; none for a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Digest>,
    /// The size that it had, in bytes.
    pub base_bytes: u64,
    /// The size that it gets, in bytes.
    pub new_bytes: u64,
    /// Whether both sides are text: UTF-8 without NUL. Of a file larger than [`MAX_DIFF_INPUT_BYTES`](crate::MAX_DIFF_INPUT_BYTES) only
    /// the beginning was looked at.
    pub text: bool,
    /// The hunks of the unified diff, from the first `@@` on: empty where the content stays the same. None for what is
    /// no text, and where it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Whether there would be a diff, had the file, the diff, or the diffs of the whole set not been too large.
    pub diff_cut: bool,
}

impl Change {
    /// Digest and mode of the file before, and the path that it has then.
    pub fn base_side(&self) -> Option<(&str, &Digest, u32)> {
        Some((self.from.as_deref().unwrap_or(&self.path), self.base.as_ref()?, self.base_mode?))
    }

    /// Digest and mode of the file afterwards, and the path that it has then.
    pub fn new_side(&self) -> Option<(&str, &Digest, u32)> {
        Some((&self.path, self.new.as_ref()?, self.mode?))
    }

    /// Whether it changes nothing: same path, content and mode.
    pub fn is_nothing(&self) -> bool {
        self.kind == ChangeKind::Modified && self.base == self.new && self.base_mode == self.mode
    }
}

/// A folder that comes or goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Folder {
    /// The path from the root of the tree, with `/`.
    pub path: String,
    /// Its permission bits.
    pub mode: u32,
}

impl Folder {
    /// A folder.
    pub fn new(path: impl Into<String>, mode: u32) -> Self {
        Self { path: path.into(), mode }
    }
}
