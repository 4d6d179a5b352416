//! What people write about checks: the table `[checks]` of `config.toml` and `.brain/brain.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kind::PatchKind;
use crate::run::{DEFAULT_TOTAL, RunLimits};

/// Time that one check has by default, in milliseconds.
pub const DEFAULT_TIMEOUT_MS: u64 = 180_000;
/// Least and most time that one check can be given, in milliseconds. What is outside becomes the nearer of the two.
pub const TIMEOUT_MS: std::ops::RangeInclusive<u64> = 1_000..=900_000;
/// Bytes of each of standard output and standard error that are kept of a check by default: the last ones.
pub const DEFAULT_OUTPUT_BYTES: u64 = 24_000;
/// Fewest and most bytes that can be kept. What is outside becomes the nearer of the two.
pub const OUTPUT_BYTES: std::ops::RangeInclusive<u64> = 1_000..=512_000;
/// Most scripts that a table can name; further ones are not read.
pub const MAX_SCRIPTS: usize = 64;

/// The table `[checks]`, as it is written. What it leaves out is taken from the table that it is laid [over](Self::over), or
/// is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChecksTable {
    /// Whether checks are run at all. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Which checks run where no script is named. Default: `smart`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// The checks that run, by the name of a script (`test`), of a make target, or of a check (`cargo clippy`). One that is not
    /// there is a failed check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<Vec<String>>,
    /// Time that one check has, in milliseconds: 1000 to 900000. Default: 180000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Bytes that are kept of each output of a check: 1000 to 512000. Default: 24000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_bytes: Option<u64>,
    /// What holds for one kind of change.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub policies: BTreeMap<PatchKind, KindPolicy>,
}

/// What holds for one kind of change: `[checks.policies.<kind>]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KindPolicy {
    /// Whether checks run for it. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The checks that run for it, in place of those of `[checks]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<Vec<String>>,
    /// Whether it is reviewed. Default: changes of authentication, databases and continuous integration are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewPolicy>,
    /// Why, for the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which checks run where no script is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// Those that fit the kind of the change.
    #[default]
    Smart,
    /// All that belong to the changed packages.
    All,
}

/// Whether a kind of change is reviewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewPolicy {
    /// Always.
    Required,
    /// Where something else wants it.
    Optional,
}

impl ChecksTable {
    /// This table over `base`: what this one says counts, field by field, and kind by kind in the policies.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        let mut policies = base.policies.clone();
        for (kind, policy) in &self.policies {
            let merged = policies.get(kind).map_or_else(|| policy.clone(), |base| policy.over(base));
            policies.insert(*kind, merged);
        }
        Self {
            enabled: self.enabled.or(base.enabled),
            strategy: self.strategy.or(base.strategy),
            scripts: self.scripts.clone().or_else(|| base.scripts.clone()),
            timeout_ms: self.timeout_ms.or(base.timeout_ms),
            max_output_bytes: self.max_output_bytes.or(base.max_output_bytes),
            policies,
        }
    }

    /// The configuration that follows: defaults where nothing is said, numbers within their bounds, scripts once each.
    pub fn resolve(&self) -> ChecksConfig {
        let policies = self.policies.iter().map(|(kind, policy)| {
            let scripts = policy.scripts.as_deref().map(names).filter(|scripts| !scripts.is_empty());
            (*kind, KindPolicy { scripts, ..policy.clone() })
        });
        let timeout_ms = self.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS).clamp(*TIMEOUT_MS.start(), *TIMEOUT_MS.end());
        let bytes =
            self.max_output_bytes.unwrap_or(DEFAULT_OUTPUT_BYTES).clamp(*OUTPUT_BYTES.start(), *OUTPUT_BYTES.end());
        ChecksConfig {
            enabled: self.enabled.unwrap_or(true),
            strategy: self.strategy.unwrap_or_default(),
            scripts: names(self.scripts.as_deref().unwrap_or_default()),
            timeout: Duration::from_millis(timeout_ms),
            max_output_bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            policies: policies.collect(),
        }
    }
}

impl KindPolicy {
    fn over(&self, base: &Self) -> Self {
        Self {
            enabled: self.enabled.or(base.enabled),
            scripts: self.scripts.clone().or_else(|| base.scripts.clone()),
            review: self.review.or(base.review),
            reason: self.reason.clone().or_else(|| base.reason.clone()),
        }
    }
}

/// Trimmed, without those that are empty, each once, in the order in which they are named.
fn names(scripts: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let names = scripts.iter().map(|script| script.trim()).filter(|script| !script.is_empty() && seen.insert(*script));
    names.take(MAX_SCRIPTS).map(str::to_owned).collect()
}

/// The configuration in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChecksConfig {
    /// Whether checks are run at all.
    pub enabled: bool,
    /// Which checks run where no script is named.
    pub strategy: Strategy,
    /// The scripts that are named for every kind; empty when none are.
    pub scripts: Vec<String>,
    /// Time that one check has.
    pub timeout: Duration,
    /// Bytes that are kept of each output of a check.
    pub max_output_bytes: usize,
    /// What holds for one kind of change.
    pub policies: BTreeMap<PatchKind, KindPolicy>,
}

impl ChecksConfig {
    /// The bounds of its checks.
    pub fn limits(&self) -> RunLimits {
        RunLimits { timeout: self.timeout, total: DEFAULT_TOTAL, max_output_bytes: self.max_output_bytes }
    }
}

impl Default for ChecksConfig {
    fn default() -> Self {
        ChecksTable::default().resolve()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn table(text: &str) -> ChecksTable {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn nothing_written_is_the_default() {
        let config = table("").resolve();
        assert!(config.enabled && config.strategy == Strategy::Smart && config.scripts.is_empty());
        assert_eq!(config.timeout, Duration::from_mins(3));
        assert_eq!(config.max_output_bytes, 24_000);
    }

    #[test]
    fn numbers_stay_within_their_bounds_and_scripts_are_named_once() {
        let low =
            table("timeout_ms = 1\nmax_output_bytes = 0\nscripts = [\" test \", \"\", \"lint\", \"test\"]").resolve();
        assert_eq!((low.timeout, low.max_output_bytes), (Duration::from_secs(1), 1_000));
        assert_eq!(low.scripts, ["test", "lint"]);
        let high = table("timeout_ms = 9000000\nmax_output_bytes = 9000000").resolve();
        assert_eq!((high.timeout, high.max_output_bytes), (Duration::from_mins(15), 512_000));
        let many: Vec<String> = (0..=MAX_SCRIPTS).map(|n| format!("s{n}")).collect();
        let many = ChecksTable { scripts: Some(many), ..ChecksTable::default() };
        assert_eq!(many.resolve().scripts.len(), MAX_SCRIPTS);
    }

    #[test]
    fn a_table_over_another_counts_field_by_field_and_kind_by_kind() {
        let base = table(
            "enabled = false\nscripts = [\"a\"]\ntimeout_ms = 5000\n[policies.backend]\nscripts = [\"b\"]\nreview = \"required\"\n\
             [policies.docs-only]\nenabled = false\n",
        );
        let over =
            table("enabled = true\n[policies.backend]\nreview = \"optional\"\n[policies.db-risk]\nreason = \"r\"\n");
        let both = over.over(&base);
        assert_eq!((both.enabled, both.timeout_ms), (Some(true), Some(5000)));
        assert_eq!(both.scripts.as_deref(), Some(&["a".to_owned()][..]));
        let backend = &both.policies[&PatchKind::Backend];
        assert_eq!(backend.scripts.as_deref(), Some(&["b".to_owned()][..]));
        assert_eq!(backend.review, Some(ReviewPolicy::Optional));
        assert_eq!(both.policies[&PatchKind::DocsOnly].enabled, Some(false));
        assert_eq!(both.policies[&PatchKind::DbRisk].reason.as_deref(), Some("r"));
    }

    #[test]
    fn what_does_not_belong_is_refused() {
        for text in ["timeout = 5", "strategy = \"fast\"", "[policies.docs]\n", "[policies.backend]\nscript = []\n"] {
            assert!(toml::from_str::<ChecksTable>(text).is_err(), "{text}");
        }
    }
}
