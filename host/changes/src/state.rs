//! What is found at a path of a tree, as conflicts tell it.

use std::fmt;

use brain_packet::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "is")]
#[non_exhaustive]
pub enum State {
    /// Nothing.
    Missing,
    /// A regular file.
    File {
        /// Its content.
        digest: Digest,
        /// Its permission bits.
        mode: u32,
    },
    /// A regular file whose content does not matter, because any would be in the way.
    SomeFile,
    /// A folder.
    Folder,
    /// A symbolic link, which is never followed.
    Link,
    /// A pipe, a socket or a device, which is never opened.
    Special,
    /// A regular file with a set-user-id, set-group-id or sticky bit, which is never replaced.
    SpecialMode {
        /// All bits of its mode.
        mode: u32,
    },
    /// A regular file that is larger than [`MAX_CONTENT_BYTES`](crate::MAX_CONTENT_BYTES).
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// Nothing can be said, because what is above it is no folder (any more).
    Blocked {
        /// The path above that is no folder.
        at: String,
        /// What is there.
        by: Box<State>,
    },
    /// It cannot be read.
    Unreadable {
        /// The system's answer.
        why: String,
    },
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("nothing"),
            Self::File { digest, mode } => write!(f, "a file with content {} and mode {mode:04o}", digest.short()),
            Self::SomeFile => f.write_str("a file"),
            Self::Folder => f.write_str("a folder"),
            Self::Link => f.write_str("a symbolic link"),
            Self::Special => f.write_str("a pipe, socket or device"),
            Self::SpecialMode { mode } => write!(f, "a file with the special mode {mode:04o}"),
            Self::TooLarge { bytes } => write!(f, "a file of {bytes} bytes, which is too large"),
            Self::Blocked { at, by } => write!(f, "{by} at `{}`", crate::set::shown(at)),
            Self::Unreadable { why } => write!(f, "something that cannot be read ({why})"),
        }
    }
}

/// A path that is not as a change set expects it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    /// The path.
    pub path: String,
    /// What should be there.
    pub expected: State,
    /// What is.
    pub found: State,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: expected {}, found {}", crate::set::shown(&self.path), self.expected, self.found)
    }
}
