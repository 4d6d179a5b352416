//! What a script and its answers look like. The guest reads one and writes the other; a test does the reverse with these same
//! types, since it includes this file.

use serde::{Deserialize, Serialize};

/// A numbered place for a descriptor or a stream. What was in it is dropped when another takes it.
pub type Slot = u32;

/// The slot that `/workspace` is in when a script starts.
pub const WORKSPACE: Slot = 0;
/// The slot that `/context` is in when a script starts.
pub const CONTEXT: Slot = 1;
/// The slot that `/artifacts` is in when a script starts.
pub const ARTIFACTS: Slot = 2;
/// The first slot that is empty when a script starts.
pub const FREE: Slot = 3;

/// The goal that stands for a script in `/context/script.json`.
pub const IN_CONTEXT: &str = "script in context";
/// Where a script is that is too long for a goal.
pub const SCRIPT_FILE: &str = "script.json";
/// Distinct answers that a [`Op::Repeat`] counts apart.
pub const MAX_TALLIED: usize = 64;

/// How `open-at` opens: path flags, open flags and descriptor flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the flags of WASI, by their names there")]
pub struct How {
    #[serde(skip_serializing_if = "is_false")]
    pub symlink_follow: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub create: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub directory: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub exclusive: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub truncate: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub read: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub write: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub file_integrity_sync: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub data_integrity_sync: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub requested_write_sync: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub mutate_directory: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde wants")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A timestamp to set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stamp {
    /// Leave it.
    #[default]
    NoChange,
    /// The host's time.
    Now,
    /// Seconds and nanoseconds since 1970.
    At(u64, u32),
}

/// Bytes, in JSON a text whose characters are the bytes (U+0000 to U+00FF): ASCII stays readable, and nothing is lost.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Bytes(pub Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes \"{}\"", self.0.len(), self.0.get(..64).unwrap_or(&self.0).escape_ascii())
    }
}

impl<T: Into<Vec<u8>>> From<T> for Bytes {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.iter().map(|byte| char::from(*byte)).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes =
            text.chars().map(|c| u8::try_from(c).map_err(|_| serde::de::Error::custom("a character over U+00FF")));
        Ok(Self(bytes.collect::<Result<_, _>>()?))
    }
}

/// One call. Paths are relative to the descriptor in slot `fd`, and are passed on as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the calls of `wasi:filesystem/types` and `wasi:io/streams`, by their names there")]
pub enum Op {
    /// The guest paths of the preopened folders: [`Value::Names`].
    Preopens,
    OpenAt {
        fd: Slot,
        path: String,
        #[serde(default)]
        how: How,
        into: Slot,
    },
    Stat {
        fd: Slot,
    },
    StatAt {
        fd: Slot,
        path: String,
        #[serde(default)]
        follow: bool,
    },
    Read {
        fd: Slot,
        length: u64,
        offset: u64,
    },
    /// `data`, `times` times over, in one call.
    Write {
        fd: Slot,
        data: Bytes,
        #[serde(default = "once")]
        times: u64,
        offset: u64,
    },
    SetSize {
        fd: Slot,
        size: u64,
    },
    SetTimes {
        fd: Slot,
        #[serde(default)]
        accessed: Stamp,
        #[serde(default)]
        modified: Stamp,
    },
    SetTimesAt {
        fd: Slot,
        path: String,
        #[serde(default)]
        follow: bool,
        #[serde(default)]
        accessed: Stamp,
        #[serde(default)]
        modified: Stamp,
    },
    Sync {
        fd: Slot,
    },
    SyncData {
        fd: Slot,
    },
    /// `advice` by its number in WASI's enum, 0 to 5.
    Advise {
        fd: Slot,
        offset: u64,
        length: u64,
        advice: u8,
    },
    GetFlags {
        fd: Slot,
    },
    GetType {
        fd: Slot,
    },
    ReadlinkAt {
        fd: Slot,
        path: String,
    },
    SymlinkAt {
        fd: Slot,
        target: String,
        path: String,
    },
    LinkAt {
        fd: Slot,
        path: String,
        #[serde(default)]
        follow: bool,
        to: Slot,
        to_path: String,
    },
    RenameAt {
        fd: Slot,
        path: String,
        to: Slot,
        to_path: String,
    },
    UnlinkFileAt {
        fd: Slot,
        path: String,
    },
    CreateDirectoryAt {
        fd: Slot,
        path: String,
    },
    RemoveDirectoryAt {
        fd: Slot,
        path: String,
    },
    /// Opens the folder's stream and reads it to its end, or until it gave `most` entries: [`Value::Entries`].
    ReadDirectory {
        fd: Slot,
        #[serde(default = "all")]
        most: u64,
    },
    MetadataHash {
        fd: Slot,
    },
    MetadataHashAt {
        fd: Slot,
        path: String,
        #[serde(default)]
        follow: bool,
    },
    IsSameObject {
        fd: Slot,
        other: Slot,
    },
    Drop {
        fd: Slot,
    },
    /// Slots of streams are counted apart from those of descriptors.
    ReadViaStream {
        fd: Slot,
        offset: u64,
        into: Slot,
    },
    WriteViaStream {
        fd: Slot,
        offset: u64,
        into: Slot,
    },
    AppendViaStream {
        fd: Slot,
        into: Slot,
    },
    /// Reads once; with `whole`, until the stream ends or `length` bytes are there.
    StreamRead {
        stream: Slot,
        length: u64,
        #[serde(default)]
        whole: bool,
    },
    StreamSkip {
        stream: Slot,
        length: u64,
    },
    CheckWrite {
        stream: Slot,
    },
    /// `blocking-write-and-flush`, in pieces of at most 4,096 bytes as WASI asks.
    StreamWrite {
        stream: Slot,
        data: Bytes,
        #[serde(default = "once")]
        times: u64,
    },
    /// One `write` of all of it, whatever `check-write` permits.
    StreamWriteRaw {
        stream: Slot,
        data: Bytes,
        #[serde(default = "once")]
        times: u64,
    },
    StreamZeroes {
        stream: Slot,
        length: u64,
    },
    StreamFlush {
        stream: Slot,
    },
    /// `blocking-splice` into `stream`.
    StreamSplice {
        stream: Slot,
        from: Slot,
        length: u64,
    },
    StreamDrop {
        stream: Slot,
    },
    /// Waits until the path exists, computing: the host's answer to something that the script made.
    Await {
        fd: Slot,
        path: String,
    },
    /// Does `ops` over and over; `{n}` in a path is the number of the round, from 0. Answers [`Value::Tally`].
    Repeat {
        times: u64,
        /// Ends at the first round with an error.
        #[serde(default)]
        until_error: bool,
        ops: Vec<Op>,
    },
}

fn once() -> u64 {
    1
}

fn all() -> u64 {
    u64::MAX
}

/// What one call answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It succeeded.
    Ok(Value),
    /// It failed with this code of WASI, or with `closed` for a stream that ended.
    Error(String),
    /// It was not called: the script is at fault, such as by an empty slot.
    Broken(String),
}

/// What a call that succeeded gave.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// Nothing but success.
    Done,
    /// Metadata.
    Stat(Stat),
    /// Bytes that were read.
    Data {
        /// The bytes.
        bytes: Bytes,
        /// Whether the end was reached.
        end: bool,
    },
    /// A number: bytes written, skipped, permitted.
    Count(u64),
    /// The target of a link, or a type.
    Text(String),
    /// Names, in order: of flags that are set, of preopened folders.
    Names(Vec<String>),
    /// The entries of a folder in the order they came: type and name.
    Entries(Vec<(String, String)>),
    /// A metadata hash.
    Hash(u64, u64),
    /// Whether two descriptors are the same.
    Same(bool),
    /// Of a [`Op::Repeat`].
    Tally {
        /// Rounds that were done.
        rounds: u64,
        /// Distinct answers, the first [`MAX_TALLIED`] of them, each with how often it came.
        answers: Vec<(Answer, u64)>,
        /// Answers that are not among them.
        others: u64,
    },
}

impl PartialOrd for Bytes {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bytes {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

/// `descriptor-stat`. Times are seconds and nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stat {
    /// `regular-file`, `directory`, `symbolic-link` and so on.
    pub kind: String,
    /// Hard links.
    pub links: u64,
    /// Bytes.
    pub size: u64,
    /// Last access.
    pub accessed: Option<(u64, u32)>,
    /// Last change of the content.
    pub modified: Option<(u64, u32)>,
    /// Last change of the status.
    pub changed: Option<(u64, u32)>,
}
