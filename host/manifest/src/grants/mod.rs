//! What a role may do: what its manifest asks, of what the operator grants, less what the project and the handoff leave
//! out. It is worked out in one place, for runs and for whoever asks beforehand.

mod asks;
pub(crate) mod globs;
mod granted;

use std::collections::BTreeMap;

use brain_files::GlobLayer;
use schemars::JsonSchema;
use serde::Serialize;

pub use asks::{Asks, first_of};
pub use globs::MAX_GLOBS;
pub(crate) use granted::by_role;
pub use granted::{ByRole, Granted, ProjectGrants, ProjectPath, RoleGrants, Who};

use crate::config::Config;
use crate::limits::{LimitName, Limits};
use crate::manifest::Manifest;
use granted::Switch;

/// Items of a list that a message names; the rest is counted.
const MAX_NAMED: usize = 8;
/// Characters of an item that a message names.
const MAX_NAMED_CHARS: usize = 80;

/// What one role may do in one project.
///
/// A path is readable if all layers of `read` match it, or all of `write`; it is writable if all of `write` do. What
/// `deny` matches is neither, and `.brain` is never writable.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffectiveGrant {
    /// What narrows reading, the manifest first.
    pub read: Vec<GlobLayer>,
    /// What narrows writing, the manifest first. A layer without globs grants nothing.
    pub write: Vec<GlobLayer>,
    /// What hides a path whatever grants it.
    pub deny: Vec<Denied>,
    /// Files that a `.gitignore` excludes.
    pub gitignored: Decision,
    /// The time of day.
    pub wall_clock: Decision,
    /// Entropy of the system.
    pub random: Decision,
    /// Context files that it makes use of; it gets those that the handoff has.
    pub context: Vec<String>,
    /// Each limit.
    pub limits: Vec<LimitGrant>,
    #[serde(skip)]
    in_force: Limits,
}

/// A glob that hides paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Denied {
    /// The glob.
    pub glob: String,
    /// Whose it is.
    pub who: Who,
}

/// Something that a role has or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Whether the manifest asks for it.
    pub asked: bool,
    /// Whether it is granted to whoever asks.
    pub granted: bool,
    /// Who decided that.
    pub by: Who,
    /// Whether the role has it.
    pub effective: bool,
}

/// One limit, in the unit that its name says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LimitGrant {
    /// Its key in `[limits]`.
    pub name: String,
    /// What the manifest asks, or the default.
    pub asked: u64,
    /// The ceiling.
    pub cap: u64,
    /// Who set the ceiling.
    pub by: Who,
    /// What is in force: the lower of both.
    pub effective: u64,
}

impl EffectiveGrant {
    /// What the role of `manifest` may do in the project that `config` is of, before a handoff narrows it.
    pub fn new(manifest: &Manifest, config: &Config) -> Self {
        let asked = |globs: &[String]| GlobLayer::new(Who::Manifest.as_str(), globs);
        let layers = |asked, granted: Vec<GlobLayer>| std::iter::once(asked).chain(granted).collect();
        let (role, granted) = (&manifest.name, &config.granted);
        let in_force = manifest.limits.capped_by(&config.ceiling);
        Self {
            read: layers(asked(&manifest.files.read), granted.read(role)),
            write: layers(asked(&manifest.files.write), granted.write(role)),
            deny: config.deny.clone(),
            gitignored: granted.decide(role, Switch::Gitignored, manifest.files.gitignored),
            wall_clock: granted.decide(role, Switch::WallClock, manifest.wasi.wall_clock),
            random: granted.decide(role, Switch::Random, manifest.wasi.random),
            context: manifest.context.reads.clone(),
            limits: limits(&manifest.limits, config, &in_force),
            in_force,
        }
    }

    /// The same, narrowed to what a handoff names.
    #[must_use]
    pub fn narrowed(mut self, handoff: &GlobLayer) -> Self {
        self.read.push(handoff.clone());
        self.write.push(handoff.clone());
        self
    }

    /// Whether there is a workspace at all: whether the role asks for files, and not only for ones that it is not granted to
    /// write.
    pub fn has_workspace(&self) -> bool {
        self.read.first().is_some_and(|asked| !asked.globs.is_empty()) || !self.write_layers().is_empty()
    }

    /// The layers of `write`, none where one of them grants nothing.
    pub fn write_layers(&self) -> &[GlobLayer] {
        if self.write.iter().any(|layer| layer.globs.is_empty()) { &[] } else { &self.write }
    }

    /// The limits in force.
    pub fn in_force(&self) -> &Limits {
        &self.in_force
    }
}

/// The layer that says alone what all of them match together: the one that every other plainly covers. None where it takes
/// several to say.
pub fn plainest(layers: &[GlobLayer]) -> Option<&GlobLayer> {
    layers.iter().find(|layer| {
        layer.globs.iter().all(|glob| layers.iter().all(|other| globs::covered(glob, other.globs.iter())))
    })
}

fn limits(asked: &Limits, config: &Config, in_force: &Limits) -> Vec<LimitGrant> {
    let grant = |limit: &LimitName| {
        let name = limit.key()?;
        Some(LimitGrant {
            name: name.to_owned(),
            asked: limit.value_in(asked),
            cap: limit.value_in(&config.ceiling),
            by: config.capped_by(name),
            effective: limit.value_in(in_force),
        })
    };
    LimitName::SETTABLE.iter().filter_map(grant).collect()
}

/// Limits by their keys in `[limits]`.
pub(crate) fn by_name(limits: &impl Serialize) -> BTreeMap<String, u64> {
    let Ok(serde_json::Value::Object(map)) = serde_json::to_value(limits) else { return BTreeMap::new() };
    map.into_iter().filter_map(|(name, value)| Some((name, value.as_u64()?))).collect()
}

/// The first of a list, and how many more there are.
pub(crate) fn some_of<T: AsRef<str>>(list: &[T]) -> String {
    if list.is_empty() {
        return "nothing".to_owned();
    }
    let named: Vec<String> = list.iter().take(MAX_NAMED).map(|item| cut(item.as_ref())).collect();
    let more = list.len().saturating_sub(MAX_NAMED);
    if more > 0 { format!("{} and {more} more", named.join(" ")) } else { named.join(" ") }
}

fn cut(item: &str) -> String {
    match item.char_indices().nth(MAX_NAMED_CHARS) {
        Some((end, _)) => format!("{}…", item.get(..end).unwrap_or_default()),
        None => item.to_owned(),
    }
}

#[cfg(test)]
mod tests;
