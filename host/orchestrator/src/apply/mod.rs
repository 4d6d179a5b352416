//! Putting a proposal into a tree and taking it out again, and making good what was interrupted.
//!
//! The journal of the session tells how far an attempt came, and the [marker](marker) which journal that is. An attempt
//! goes: take the marker, write the intent, stage, write the commit, replace, keep the set that undoes it, write the end, and
//! take the marker away. Wherever it is cut off, the next start finds the marker and what the journal says, and
//! [finishes it or takes it back](recover_interrupted).

mod error;
mod log;
mod marker;
mod recovery;

use std::io::{self, Read};
use std::path::Path;

use brain_changes::{
    Applied, ApplyError, ChangeSet, Conflict, Contents, ContentsError, MAX_SET_BYTES, Outcome, Step, apply_watched,
};
use brain_journal::{ApplyDirection, ApplyOutcome, Journal, ProposalState};
use brain_packet::{Digest, RoleName, SessionId};
use schemars::JsonSchema;
use serde::Serialize;

pub use error::ApplyFault;
pub use recovery::{Mark, Recovery, recover_interrupted};

use crate::proposals::{Proposal, proposal};
use log::JournalLog;
use marker::Taken;

/// What came of `brain apply` or `brain undo`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApplyReport {
    /// The session.
    pub session_id: SessionId,
    /// Whose proposal.
    pub role: RoleName,
    /// Which way.
    pub direction: ApplyDirection,
    /// The root of the tree.
    pub root: String,
    /// What came of it.
    pub outcome: ApplyResult,
    /// Files that it changes.
    pub files: u64,
    /// Lines that it adds to text files.
    pub added_lines: u64,
    /// Lines that it takes away from text files.
    pub removed_lines: u64,
    /// What stands in its way. Then nothing was changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// What to know of the tree as it is now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How an apply or an undo came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ApplyResult {
    /// It was done.
    Done,
    /// There was nothing to do: it had been done before.
    Already,
    /// It could be done; nothing was, since only that was asked.
    Possible,
    /// The tree is not as it has to be. Nothing was done.
    Conflict,
}

/// Applies a proposal to the tree at `root`, or undoes it there. `root` is absolute and without links in it.
///
/// # Errors
/// Another process is at it, an interrupted attempt could not be made good, the proposal cannot be read, or the tree cannot be
/// changed. Conflicts are no error but part of the report.
pub fn apply(
    home: &Path,
    root: &Path,
    wanted: &Proposal,
    direction: ApplyDirection,
    dry_run: bool,
) -> Result<ApplyReport, ApplyFault> {
    let Some(root_text) = root.to_str() else { return Err(ApplyFault::NotText { root: root.to_owned() }) };
    let mark = Mark {
        session: wanted.session.clone(),
        role: wanted.role.clone(),
        direction,
        root: root_text.to_owned(),
        root_file: marker::which(root).ok(),
        pid: std::process::id(),
    };
    let state = |source| ApplyFault::State { path: marker::folder(home), source };
    let held = match marker::take(home, &mark).map_err(state)? {
        Taken::Ours(marker) => marker,
        Taken::Busy(who) => return Err(ApplyFault::busy(root, who)),
        Taken::Left(path) => return Err(ApplyFault::Left { root: root.to_owned(), marker: path }),
    };
    let (done, finished) = under_marker(home, root, root_text, wanted, direction, dry_run);
    // A tree that is half way keeps its marker: the next start makes it good.
    if finished {
        held.release().map_err(state)?;
    }
    done
}

/// The attempt itself, and whether the tree is whole after it.
fn under_marker(
    home: &Path,
    root: &Path,
    root_text: &str,
    wanted: &Proposal,
    direction: ApplyDirection,
    dry_run: bool,
) -> (Result<ApplyReport, ApplyFault>, bool) {
    let prepared = || -> Result<Prepared, ApplyFault> {
        // Another process may have applied it since it was looked up.
        let proposal = proposal(home, &wanted.session, Some(wanted.role.as_str()))?;
        prepare(proposal, root_text, direction)
    };
    let prepared = match prepared() {
        Ok(prepared) => prepared,
        Err(error) => return (Err(error), true),
    };
    let report = |outcome, conflicts, notes| {
        let stats = prepared.set.stats();
        ApplyReport {
            session_id: wanted.session.clone(),
            role: wanted.role.clone(),
            direction,
            root: root_text.to_owned(),
            outcome,
            files: stats.files,
            added_lines: stats.added_lines,
            removed_lines: stats.removed_lines,
            conflicts,
            notes,
        }
    };
    if prepared.already {
        return (Ok(report(ApplyResult::Already, Vec::new(), Vec::new())), true);
    }
    let mut log = match Journal::open(home, &wanted.session) {
        Ok(journal) => JournalLog::new(journal, wanted.role.clone(), direction, root_text.to_owned()),
        Err(error) => return (Err(error.into()), true),
    };
    let contents = &prepared.contents;
    let mut dry = |step: Step<'_>| match step {
        Step::Check(_) => Ok(()),
        // All has been looked at, and nothing touched.
        _ => Err(io::Error::from(io::ErrorKind::Interrupted)),
    };
    let mut wet = |_: Step<'_>| Ok(());
    let watch: &mut dyn brain_changes::Watch = if dry_run { &mut dry } else { &mut wet };
    match apply_watched(&prepared.set, root, contents, &mut log, watch) {
        Ok(applied) => {
            let notes = notes(&applied);
            match log.close(Some(&applied.undo), contents, false) {
                Ok(()) => (Ok(report(ApplyResult::Done, Vec::new(), notes)), true),
                Err(error) => (Err(ApplyFault::NotRecorded { why: error.to_string() }), false),
            }
        }
        Err(ApplyError::Stopped { .. }) if dry_run => (
            missing_content(&prepared.set, contents).map(|()| report(ApplyResult::Possible, Vec::new(), Vec::new())),
            true,
        ),
        Err(error) => {
            let whole = !matches!(error, ApplyError::Unfinished { .. } | ApplyError::NotEnded { .. });
            // After a roll back that cannot be written down, the next start finds nothing left to take back.
            let ended = !whole || log.close(None, contents, false).is_ok();
            let done = match error {
                ApplyError::Conflict { conflicts, left } => {
                    Ok(report(ApplyResult::Conflict, conflicts, left.iter().map(|path| left_over(path)).collect()))
                }
                error => Err(ApplyFault::Changes(error)),
            };
            (done, whole && ended)
        }
    }
}

/// Whether all that a set brings is there and whole.
fn missing_content(set: &ChangeSet, contents: &Contents) -> Result<(), ApplyFault> {
    set.changes.iter().filter_map(|change| change.new.as_ref()).try_for_each(|new| contents.read(new).map(drop))?;
    Ok(())
}

fn left_over(path: &str) -> String {
    format!("{path} could not be removed again: remove it")
}

/// What to do, and with what.
struct Prepared {
    set: ChangeSet,
    contents: Contents,
    already: bool,
}

fn prepare(proposal: Proposal, root: &str, direction: ApplyDirection) -> Result<Prepared, ApplyFault> {
    let proposed = proposal.change_set()?;
    let contents = Contents::open(proposal.paths.contents())?;
    let state = proposal.story.state_at(root);
    let (already, set) = match direction {
        ApplyDirection::Apply => (state == ProposalState::Applied, proposed),
        ApplyDirection::Undo => {
            let undo = proposal.story.applied_at(root).and_then(|attempt| attempt.undo.clone());
            let set = match undo.filter(|_| state == ProposalState::Applied) {
                Some(digest) => kept_set(&contents, &digest)?,
                None => proposed.inverse(),
            };
            (state != ProposalState::Applied, set)
        }
    };
    Ok(Prepared { set, contents, already })
}

/// A set that was kept among the contents.
fn kept_set(contents: &Contents, digest: &Digest) -> Result<ChangeSet, ApplyFault> {
    let path = contents.folder().join(digest.as_str());
    let mut json = Vec::new();
    let mut file = contents.read(digest)?.take(MAX_SET_BYTES + 1);
    file.read_to_end(&mut json).map_err(|source| ContentsError::Io { action: "read", path, source })?;
    Ok(ChangeSet::from_json(&json).map_err(ApplyError::Set)?)
}

/// What the operator should know of a tree that a set was brought into.
fn notes(applied: &Applied) -> Vec<String> {
    let kept = applied.kept.iter().map(|conflict| {
        format!(
            "{} was changed in that very moment: it was left as it is, and the proposal for it is not in",
            conflict.path
        )
    });
    let left = applied.folders_left.iter().map(|path| format!("{path}/ was not removed: something else is in it"));
    let owner = applied.owner_changed.iter().map(|path| format!("{path} belongs to you now"));
    kept.chain(left).chain(owner).collect()
}

/// An outcome as the journal has it.
fn outcome(outcome: Outcome) -> ApplyOutcome {
    match outcome {
        Outcome::Applied => ApplyOutcome::Done,
        Outcome::AppliedExcept => ApplyOutcome::DoneExcept,
        Outcome::RolledBack => ApplyOutcome::RolledBack,
    }
}
