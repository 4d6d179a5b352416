//! What a role asks for, and whether that is more than it was.

use brain_packet::RoleName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::globs::covered;
use super::{MAX_NAMED, by_name, some_of};
use crate::limits::Limits;
use crate::manifest::Manifest;

/// All that a manifest asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Asks {
    /// The contract that the role is built for.
    pub contract: String,
    /// Globs of files to read.
    pub read: Vec<String>,
    /// Globs of files to change.
    pub write: Vec<String>,
    /// What `.gitignore` excludes.
    pub gitignored: bool,
    /// The time of day.
    pub wall_clock: bool,
    /// Entropy of the system.
    pub random: bool,
    /// Context files.
    pub context: Vec<String>,
    /// Roles whose results it sees.
    pub results_of: Vec<RoleName>,
    /// Limits.
    pub limits: Limits,
}

impl Asks {
    /// What `manifest` asks for.
    pub fn of(manifest: &Manifest) -> Self {
        Self {
            contract: manifest.contract.clone(),
            read: manifest.files.read.clone(),
            write: manifest.files.write.clone(),
            gitignored: manifest.files.gitignored,
            wall_clock: manifest.wasi.wall_clock,
            random: manifest.wasi.random,
            context: manifest.context.reads.clone(),
            results_of: manifest.routing.after.clone(),
            limits: manifest.limits.clone(),
        }
    }

    /// In what this goes beyond `confirmed`, in words; nothing where it asks for the same or for less.
    ///
    /// A glob goes beyond unless a confirmed one plainly covers it. A limit does when it is above both the confirmed value and
    /// the default. Another contract does, in another version not: the host has one of each.
    pub fn beyond(&self, confirmed: &Asks) -> Vec<String> {
        let name = |contract: &str| contract.split('@').next().unwrap_or_default().to_owned();
        let mut beyond = Vec::new();
        if name(&self.contract) != name(&confirmed.contract) {
            beyond.push(format!("the contract {}", self.contract));
        }
        let readable = || confirmed.read.iter().chain(&confirmed.write);
        let read: Vec<&String> = self.read.iter().filter(|glob| !covered(glob, readable())).collect();
        let write: Vec<&String> = self.write.iter().filter(|glob| !covered(glob, confirmed.write.iter())).collect();
        let context: Vec<&String> =
            // Names, and no globs: one covers itself alone.
            self.context.iter().filter(|name| !confirmed.context.contains(name)).collect();
        for (what, globs) in [("to read", read), ("to write", write), ("the context", context)] {
            if !globs.is_empty() {
                beyond.push(format!("{what} {}", some_of(&globs)));
            }
        }
        for (what, asked, confirmed) in [
            ("what .gitignore excludes", self.gitignored, confirmed.gitignored),
            ("the time of day", self.wall_clock, confirmed.wall_clock),
            ("entropy of the system", self.random, confirmed.random),
        ] {
            if asked && !confirmed {
                beyond.push(what.to_owned());
            }
        }
        let results: Vec<&str> =
            self.results_of.iter().filter(|role| !confirmed.results_of.contains(role)).map(RoleName::as_str).collect();
        if !results.is_empty() {
            beyond.push(format!("the results of {}", some_of(&results)));
        }
        let (before, default) = (by_name(&confirmed.limits), by_name(&Limits::default()));
        for (name, asked) in by_name(&self.limits) {
            let allowed = before.get(&name).max(default.get(&name)).copied().unwrap_or_default();
            if asked > allowed {
                beyond.push(format!("{name} {asked}, above {allowed}"));
            }
        }
        beyond
    }

    /// All that is asked, in words, for somebody who has not confirmed anything yet.
    pub fn in_words(&self) -> Vec<String> {
        self.beyond(&Asks { contract: self.contract.clone(), ..Self::default() })
    }
}

/// The first of what goes beyond, for a message.
pub fn first_of(beyond: &[String]) -> String {
    let more = beyond.len().saturating_sub(MAX_NAMED);
    let named = beyond.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join("; ");
    if more > 0 { format!("{named}; and {more} more") } else { named }
}
