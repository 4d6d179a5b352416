//! What an apply writes down before it touches anything, so that a crash can be finished or taken back.

use std::io;

use brain_packet::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of one apply: 16 lower-case hex digits, chosen at random.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct IntentId(String);

/// A text that is not the id of an intent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of an intent: 16 lower-case hex digits")]
pub struct NotAnIntentId(String);

impl IntentId {
    /// An id that nobody else has.
    pub(crate) fn fresh() -> Self {
        Self(hex::encode(rand::random::<[u8; 8]>()))
    }

    /// The 16 hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for IntentId {
    type Error = NotAnIntentId;

    fn try_from(text: String) -> Result<Self, NotAnIntentId> {
        let fits = text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if fits { Ok(Self(text)) } else { Err(NotAnIntentId(text.chars().take(80).collect())) }
    }
}

impl std::fmt::Display for IntentId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// An apply that is about to begin. Small, whatever the size of the change set: the set and the plan, which names every
/// temporary file and every folder that will be made, are in the [`Contents`](crate::Contents) by then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Intent {
    /// Its name. Temporary names are [`TEMP_PREFIX`](crate::TEMP_PREFIX), this, `-` and a number.
    pub id: IntentId,
    /// The digest of the change set, which is also the name of its JSON in the contents.
    pub set: Digest,
    /// The digest and name of the plan in the contents.
    pub plan: Digest,
    /// Files that will change.
    pub files: u64,
}

/// How far an apply came, as its log tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Reached {
    /// There is an intent and no commit: nothing was replaced, [`recover`](crate::recover()) takes everything back.
    Intent,
    /// There is a commit: [`recover`](crate::recover()) finishes.
    Commit,
}

/// How an apply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// The tree is all new.
    Applied,
    /// The tree is all new but for files that somebody else changed in the middle of it: theirs were kept.
    AppliedExcept,
    /// The tree is all old.
    RolledBack,
}

/// Where an apply writes down what it is about to do. Each call returns only when the record would survive a crash of the
/// machine; one that returns an error has left no record behind, or one that a later `end` for the same id overrules.
///
/// Whoever implements it also keeps others out of the tree (one apply for a root at a time) and looks, at the next
/// start, for an intent without an end, to [`recover`](crate::recover()) it.
pub trait IntentLog {
    /// Nothing has been made in the tree yet.
    ///
    /// # Errors
    /// The apply ends, with the tree as it was.
    fn intent(&mut self, intent: &Intent) -> io::Result<()>;

    /// All is prepared, nothing has been replaced: the point of no return.
    ///
    /// # Errors
    /// The apply is rolled back.
    fn commit(&mut self, id: &IntentId) -> io::Result<()>;

    /// Nothing is left to do.
    ///
    /// # Errors
    /// The tree stays as it is; the next start finds nothing left to do.
    fn end(&mut self, id: &IntentId, outcome: Outcome) -> io::Result<()>;
}

/// A log that lasts as long as the process: for tests, and for a tree that a crash may spoil.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryLog {
    /// The intent, once there is one.
    pub intent: Option<Intent>,
    /// Whether it was committed.
    pub committed: bool,
    /// How it ended, once it has.
    pub outcome: Option<Outcome>,
}

impl MemoryLog {
    /// What a start after a crash would find: an intent that has not ended, and how far it came.
    pub fn open(&self) -> Option<(&Intent, Reached)> {
        let intent = self.intent.as_ref().filter(|_| self.outcome.is_none())?;
        Some((intent, if self.committed { Reached::Commit } else { Reached::Intent }))
    }
}

impl IntentLog for MemoryLog {
    fn intent(&mut self, intent: &Intent) -> io::Result<()> {
        *self = Self { intent: Some(intent.clone()), ..Self::default() };
        Ok(())
    }

    fn commit(&mut self, _: &IntentId) -> io::Result<()> {
        self.committed = true;
        Ok(())
    }

    fn end(&mut self, _: &IntentId, outcome: Outcome) -> io::Result<()> {
        self.outcome = Some(outcome);
        Ok(())
    }
}
