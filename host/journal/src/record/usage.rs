//! What model calls cost, in tokens.

use brain_packet::RoleName;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What one model call cost: the record `token_usage`. A call without a positive total makes none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// The role that called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// In which part of the run.
    #[serde(default)]
    pub phase: UsagePhase,
    /// The Brain Model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brain_id: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    /// Its provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The worker's own session; `<session>:router` for the planner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
    /// The worker's task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Brain's task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// Which turn of the worker's session: `<agentSession>:<message>:<n>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Which attempt of the primary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The figures.
    pub usage: TokenCounts,
}

/// Tokens of one call.
///
/// Providers have many names for these figures; [`TokenCounts::from_provider`] reads them all, and so does the JSON form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenCounts {
    /// What was sent and not in the provider's cache.
    pub input: u64,
    /// What came back.
    pub output: u64,
    /// What was sent and came from the cache.
    pub cache_read: u64,
    /// What was sent and put into the cache.
    pub cache_write: u64,
    /// All of it.
    pub total: u64,
}

const INPUT: [&str; 5] = ["input", "inputTokens", "input_tokens", "promptTokens", "prompt_tokens"];
const OUTPUT: [&str; 5] = ["output", "outputTokens", "output_tokens", "completionTokens", "completion_tokens"];
const CACHE_READ: [&str; 4] = ["cacheRead", "cache_read", "cacheReadTokens", "cache_read_tokens"];
const CACHE_WRITE: [&str; 4] = ["cacheWrite", "cache_write", "cacheWriteTokens", "cache_write_tokens"];
const TOTAL: [&str; 3] = ["total", "totalTokens", "total_tokens"];

impl TokenCounts {
    /// Reads what a provider says of a call: of each figure, the first of its names that has a positive number; the total, if
    /// none has, is the sum. `None` when the total is not positive: then there is nothing to record.
    ///
    /// ```
    /// use brain_journal::TokenCounts;
    /// use serde_json::json;
    /// let said = json!({ "prompt_tokens": 90, "inputTokens": 0, "completion_tokens": 10 });
    /// let counts = TokenCounts::from_provider(&said).ok_or("nothing")?;
    /// assert_eq!((counts.input, counts.output, counts.total), (90, 10, 100));
    /// assert!(TokenCounts::from_provider(&json!({ "input": -3 })).is_none());
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn from_provider(usage: &Value) -> Option<Self> {
        let figure = |names: &[&str]| names.iter().find_map(|name| positive(usage.get(name)?)).unwrap_or(0);
        let (input, output) = (figure(&INPUT), figure(&OUTPUT));
        let (cache_read, cache_write) = (figure(&CACHE_READ), figure(&CACHE_WRITE));
        let sum = input.saturating_add(output).saturating_add(cache_read).saturating_add(cache_write);
        let total = match figure(&TOTAL) {
            0 => sum,
            total => total,
        };
        (total > 0).then_some(Self { input, output, cache_read, cache_write, total })
    }
}

/// A positive number, rounded down; what is beyond the whole numbers is the largest of them.
fn positive(value: &Value) -> Option<u64> {
    let whole = match (value.as_u64(), value.as_f64()) {
        (Some(whole), _) => whole,
        (None, Some(number)) => super::lenient::floor(number),
        (None, None) => 0,
    };
    (whole > 0).then_some(whole)
}

impl<'de> Deserialize<'de> for TokenCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_provider(&Value::deserialize(deserializer)?).unwrap_or_default())
    }
}

/// Which part of a run called a model or a tool. The order is the one in which they are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UsagePhase {
    /// The planner.
    Router,
    /// A worker that prepares.
    Support,
    /// The worker that answers.
    Primary,
    /// The worker that judges.
    Review,
    /// What entertains the operator.
    Pet,
    /// None of these, or none that this version knows.
    #[default]
    #[serde(other)]
    Unknown,
}

impl std::fmt::Display for UsagePhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Router => "router",
            Self::Support => "support",
            Self::Primary => "primary",
            Self::Review => "review",
            Self::Pet => "pet",
            Self::Unknown => "unknown",
        })
    }
}
