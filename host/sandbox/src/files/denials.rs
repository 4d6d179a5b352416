//! What a role asked for and was not granted, as the operator is told.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::resolve::{Refused, Why};
use super::scope::Hidden;

/// Distinct paths whose denial is kept; further ones are counted.
const MAX_DENIALS: usize = 64;

/// A path that a role asked for and that does not exist for it. The role got the code `access`, whether or not the path
/// exists on the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Denial {
    /// The guest path that was asked for.
    pub path: String,
    /// How often.
    pub count: u64,
    /// Why it does not exist for the role.
    pub why: String,
    /// The edit that would grant it; absent where nothing should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Denials {
    listed: BTreeMap<String, Denial>,
    unlisted: u64,
}

impl Denials {
    pub(crate) fn record(&mut self, guest: &str, refused: Refused) {
        let path = format!("{guest}/{}", refused.path.trim_start_matches('/'));
        if let Some(known) = self.listed.get_mut(&path) {
            known.count += 1;
            return;
        }
        if self.listed.len() >= MAX_DENIALS {
            self.unlisted += 1;
            return;
        }
        let (why, fix) = explain(&refused);
        self.listed.insert(path.clone(), Denial { path, count: 1, why, fix });
    }

    pub(crate) fn list(&self) -> (Vec<Denial>, u64) {
        (self.listed.values().cloned().collect(), self.unlisted)
    }
}

fn explain(refused: &Refused) -> (String, Option<String>) {
    let path = &refused.path;
    match &refused.why {
        Why::Hidden(Hidden::NotGranted { who }) => (
            format!("no read glob of the {who} matches it"),
            Some(match who.as_str() {
                "handoff" => format!("name it in the handoff: `--ref {path}`"),
                "manifest" => format!("add \"{path}\" to `read` below `[files]` of the role's role.toml"),
                _ => format!("add \"{path}\" to the read globs of the {who}"),
            }),
        ),
        Why::Hidden(Hidden::Denied { glob }) => (
            format!("the deny glob `{glob}` matches it"),
            Some(format!("take `{glob}` off the deny list, if roles should see such files")),
        ),
        Why::Hidden(Hidden::Ignored) => (
            "a .gitignore excludes it".into(),
            Some("set `gitignored = true` below `[files]` of the role's role.toml".into()),
        ),
        Why::Outside => ("it leads out of the granted folder".into(), None),
        Why::Special => ("it is neither a regular file nor a folder".into(), None),
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
            denials.record("/workspace", refused(&format!("f{i:04}")));
        }
        denials.record("/workspace", refused("f0000"));
        let (listed, unlisted) = denials.list();
        assert_eq!(listed.len(), MAX_DENIALS);
        assert_eq!(listed.first().map(|d| (d.path.as_str(), d.count)), Some(("/workspace/f0000", 2)));
        assert_eq!(unlisted, 3);
    }
}
