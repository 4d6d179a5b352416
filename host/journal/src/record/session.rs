//! Records that are about the session as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the journal's form that this crate writes. A change that an older reader would take for something else
/// raises it; a new record type or a new optional field does not, since readers pass over what they do not know.
pub const JOURNAL_VERSION: u32 = 1;

/// The first record of a file: what the file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JournalHeader {
    /// Version of the form.
    pub version: u32,
    /// The version of Brain that began the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub brain: String,
}

impl JournalHeader {
    /// The header of a file that is begun now.
    #[must_use]
    pub fn current() -> Self {
        Self { version: JOURNAL_VERSION, brain: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// What a session came to, condensed for the next one: the record `handoff`. It is fresh until a later run begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandoffBrief {
    /// The brief.
    pub summary: String,
    /// What it was to be about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// What asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<HandoffTrigger>,
    /// What the context would have weighed, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_bytes: Option<u64>,
    /// What it may weigh, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
}

/// What asked for a brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HandoffTrigger {
    /// The operator.
    Manual,
    /// A bound on the context.
    Auto,
}
