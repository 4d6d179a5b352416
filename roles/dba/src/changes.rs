//! What the pending change does to files.

use std::collections::{BTreeMap, BTreeSet};

use brain_role::Handoff;
use unified_diff::{Change, bounded, parse};

use crate::limits::{MAX_DIFF_BYTES, MAX_DIFF_FILES, MAX_DIFF_LINES};

/// The diff below `/context`.
pub const DIFF: &str = "changes.diff";

/// What happened to a file that was there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    Edited {
        line: u32,
    },
    Deleted,
    /// By its name before.
    Renamed {
        from: String,
    },
}

/// The pending change.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Whether a diff was handed over.
    pub(crate) given: bool,
    /// Whether it is the last commit, because nothing is uncommitted.
    pub(crate) committed: bool,
    /// Files that it touches, as they are called after it.
    pub(crate) files: BTreeSet<String>,
    /// Those that were there before, deleted ones too.
    pub(crate) before: BTreeMap<String, Before>,
    /// What could not be read.
    pub(crate) risks: Vec<String>,
}

/// Reads the diff of a handoff.
pub(crate) fn read(handoff: &Handoff) -> Changes {
    let mut changes = Changes::default();
    let (bytes, more) = match handoff.context().head(DIFF, MAX_DIFF_BYTES as u64) {
        Ok(read) => read,
        Err(error) => {
            if error.kind() != std::io::ErrorKind::NotFound {
                changes
                    .risks
                    .push(format!("the pending change cannot be read, so no migration is marked as changed: {error}"));
            }
            return changes;
        }
    };
    changes.given = true;
    let uri = format!("/context/{DIFF}");
    let label = handoff.refs().iter().find(|reference| reference.uri == uri).and_then(|found| found.label.as_deref());
    changes.committed = label.is_some_and(|label| label.contains("last commit"));
    let (kept, cut) = bounded(&bytes, MAX_DIFF_BYTES, MAX_DIFF_LINES);
    let diff = parse(kept, MAX_DIFF_FILES);
    if more || cut > 0 || diff.cut_files > 0 {
        changes.risks.push(
            "the pending change is larger than what is read of it: changed migrations may not be marked".to_owned(),
        );
    }
    let problems = diff.problems.len() + diff.files.iter().map(|file| file.problems.len()).sum::<usize>();
    if problems > 0 {
        changes.risks.push(format!("{problems} places of the pending change could not be read"));
    }
    for file in &diff.files {
        let name = |name: &Option<unified_diff::Name>| name.as_ref().map(|name| name.as_str().to_owned());
        let (old, new) = (name(&file.old), name(&file.new));
        let line = file
            .hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .find(|line| line.side != unified_diff::Side::Context)
            .map_or(1, |line| line.line.max(1));
        match (file.change, old, new) {
            (Change::Deleted, Some(old), _) => {
                changes.before.insert(old, Before::Deleted);
            }
            (Change::Renamed, Some(old), Some(new)) => {
                changes.files.insert(new.clone());
                changes.before.insert(new, Before::Renamed { from: old });
            }
            (Change::Modified, _, Some(new)) => {
                changes.files.insert(new.clone());
                // A section without lines changes the mode alone.
                if !file.hunks.is_empty() || file.binary {
                    changes.before.insert(new, Before::Edited { line });
                }
            }
            (_, _, Some(new)) => {
                changes.files.insert(new);
            }
            _ => {}
        }
    }
    changes
}
