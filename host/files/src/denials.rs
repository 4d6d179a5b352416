//! What a role asked for and was not granted, as the operator is told.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scope::Hidden;
use crate::walk::{Refused, Why};

/// Distinct paths whose denial is kept; further ones are counted.
const MAX_DENIALS: usize = 64;

/// What a role wanted to do with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// Read it, list it, or learn about it.
    Read,
    /// Make, change, move or remove it.
    Write,
}

impl Asked {
    pub(crate) fn to(write: bool) -> Self {
        if write { Self::Write } else { Self::Read }
    }
}

/// A path that a role asked for and was not granted. The role got the code `access`, whether or not the path exists on the
/// host, or `read-only` where it may write nothing at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Denial {
    /// The guest path that was asked for.
    pub path: String,
    /// What for.
    #[serde(default = "read")]
    pub asked: Asked,
    /// How often.
    pub count: u64,
    /// Why it was not granted.
    pub why: String,
    /// The edit that would grant it; absent where nothing should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

fn read() -> Asked {
    Asked::Read
}

#[derive(Debug, Default)]
pub(crate) struct Denials {
    listed: BTreeMap<(String, Asked), Denial>,
    unlisted: u64,
}

impl Denials {
    pub(crate) fn record(&mut self, guest: &str, asked: Asked, refused: Refused) {
        let path = format!("{guest}/{}", refused.path.trim_start_matches('/'));
        let key = (path.clone(), asked);
        if let Some(known) = self.listed.get_mut(&key) {
            known.count += 1;
            return;
        }
        if self.listed.len() >= MAX_DENIALS {
            self.unlisted += 1;
            return;
        }
        let (why, fix) = explain(asked, &refused);
        self.listed.insert(key, Denial { path, asked, count: 1, why, fix });
    }

    pub(crate) fn list(&self) -> (Vec<Denial>, u64) {
        (self.listed.values().cloned().collect(), self.unlisted)
    }
}

/// Why it was refused, and the edit that grants it. Files are named as an operator finds them; `<role>` stands for the role's
/// name, which this crate does not know.
fn explain(asked: Asked, refused: &Refused) -> (String, Option<String>) {
    let path = &refused.path;
    match &refused.why {
        Why::Hidden(Hidden::NotGranted { who }) => {
            let key = if asked == Asked::Write { "write" } else { "read" };
            (format!("no {key} glob of the {who} matches it"), Some(grant(who, key, path)))
        }
        Why::Hidden(Hidden::NotWritable { who }) if who == "-" => (
            "the role may write nothing here".into(),
            Some(format!(
                "if it is to propose changes: `write = [\"{path}\"]` below `[files]` of its role.toml, and below `[grants.<role>]` of config.toml in BRAIN_HOME"
            )),
        ),
        Why::Hidden(Hidden::NotWritable { who }) => {
            (format!("no write glob of the {who} matches it"), Some(grant(who, "write", path)))
        }
        Why::Hidden(Hidden::NeverWritten) => {
            ("no role writes version control, Brain's configuration, or names that Brain keeps for itself".into(), None)
        }
        Why::Hidden(Hidden::Denied { glob }) => (
            format!("the deny glob `{glob}` matches it"),
            Some(format!("take `{glob}` off the deny list, if roles should see such files")),
        ),
        Why::Hidden(Hidden::Ignored) => (
            "a .gitignore excludes it".into(),
            Some(
                "`gitignored = true` below `[files]` of the role's role.toml, and below `[grants.<role>]` of config.toml in BRAIN_HOME"
                    .into(),
            ),
        ),
        Why::Outside => ("it leads out of the granted folder".into(), None),
        Why::Special => ("it is neither a regular file nor a folder".into(), None),
        Why::Link => ("it is a symbolic link, which no role removes or moves".into(), None),
        Why::SpecialMode => (
            "it has a set-user-id, set-group-id or sticky bit, and no role changes, moves or removes such a file".into(),
            None,
        ),
    }
}

/// The edit that makes one layer grant `path`.
fn grant(who: &str, key: &str, path: &str) -> String {
    match who {
        "handoff" => format!("name it in the request (`@{path}`), or to one role with `--ref {path}`"),
        "manifest" => format!("add \"{path}\" to `{key}` below `[files]` of the role's role.toml"),
        "project" => format!("add \"{path}\" to `{key}` below `[grants.<role>]` of the project's .brain/brain.toml"),
        _ => format!("add \"{path}\" to `{key}` below `[grants.<role>]` of config.toml in BRAIN_HOME"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &str) -> Refused {
        Refused { path: path.into(), why: Why::Outside }
    }

    #[test]
    fn denials_are_bounded_and_the_rest_is_counted() {
        let mut denials = Denials::default();
        for i in 0..MAX_DENIALS + 3 {
            denials.record("/workspace", Asked::Read, refused(&format!("f{i:04}")));
        }
        denials.record("/workspace", Asked::Read, refused("f0000"));
        let (listed, unlisted) = denials.list();
        assert_eq!(listed.len(), MAX_DENIALS);
        assert_eq!(listed.first().map(|d| (d.path.as_str(), d.count)), Some(("/workspace/f0000", 2)));
        assert_eq!(unlisted, 3);
    }
}
