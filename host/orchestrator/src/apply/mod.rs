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
    is_base,
};
use brain_journal::{ApplyDirection, ApplyOutcome, AttemptStory, Journal, ProposalState, Root};
use brain_packet::{Digest, RoleName, SessionId};
use schemars::JsonSchema;
use serde::Serialize;

pub use error::ApplyFault;
pub use recovery::{Interrupted, Mark, Recovery, interrupted, recover_interrupted};

use crate::proposals::{Proposal, proposal};
use log::JournalLog;
use marker::Taken;

/// Places that a note names, of all where a proposal is applied.
const MAX_PLACES: usize = 8;

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
    let mark = Mark {
        session: wanted.session.clone(),
        role: wanted.role.clone(),
        direction,
        root: root.to_string_lossy().into_owned(),
        root_bytes: Mark::bytes_of(root),
        root_file: marker::which(root).ok(),
        pid: std::process::id(),
    };
    let state = |source| ApplyFault::State { path: marker::folder(home), source };
    let held = match marker::take(home, &mark).map_err(state)? {
        Taken::Ours(marker) => marker,
        Taken::Busy(who) => return Err(ApplyFault::busy(root, who)),
        Taken::Left(path) => return Err(ApplyFault::Left { root: root.to_owned(), marker: path }),
        Taken::NoMarker(path, source) => return Err(ApplyFault::Marker { path, source }),
    };
    let (done, finished) = under_marker(home, root, &mark, wanted, dry_run);
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
    mark: &Mark,
    wanted: &Proposal,
    dry_run: bool,
) -> (Result<ApplyReport, ApplyFault>, bool) {
    let direction = mark.direction;
    let prepared = || -> Result<Prepared, ApplyFault> {
        // Another process may have applied it since it was looked up.
        let proposal = proposal(home, &wanted.session, Some(&wanted.exact_name()))?;
        prepare(&proposal, root, mark)
    };
    let prepared = match prepared() {
        Ok(prepared) => prepared,
        Err(error) => return (Err(error), true),
    };
    let report = |outcome, conflicts, notes: Vec<String>| {
        let stats = prepared.set.stats();
        ApplyReport {
            session_id: wanted.session.clone(),
            role: wanted.role.clone(),
            direction,
            root: mark.root.clone(),
            outcome,
            files: stats.files,
            added_lines: stats.added_lines,
            removed_lines: stats.removed_lines,
            conflicts,
            notes: prepared.notes.iter().cloned().chain(notes).collect(),
        }
    };
    if prepared.already {
        return (Ok(report(ApplyResult::Already, Vec::new(), Vec::new())), true);
    }
    let mut log = match Journal::open(home, &wanted.session) {
        Ok(journal) => JournalLog::new(journal, mark, Some(wanted.story.digest.clone())),
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
                    let left: Vec<String> = left.iter().map(|path| left_over(path)).collect();
                    in_the_way(&prepared, root, direction, conflicts).map(|(outcome, conflicts, note)| {
                        let mut report = report(outcome, conflicts, left);
                        report.notes = note.into_iter().chain(report.notes).collect();
                        report
                    })
                }
                error => Err(ApplyFault::Changes(error)),
            };
            (done, whole && ended)
        }
    }
}

/// What conflicts come to: the tree may be as it was to become, by other means than Brain.
fn in_the_way(
    prepared: &Prepared,
    root: &Path,
    direction: ApplyDirection,
    conflicts: Vec<Conflict>,
) -> Result<(ApplyResult, Vec<Conflict>, Option<String>), ApplyFault> {
    if is_base(&prepared.back, root)? {
        let note = match direction {
            ApplyDirection::Apply => "the change is there, though it was not `brain apply` that brought it",
            ApplyDirection::Undo => "it had been applied, and was taken back by other means",
        };
        return Ok((ApplyResult::Already, Vec::new(), Some(note.to_owned())));
    }
    if !prepared.was_applied || direction == ApplyDirection::Undo {
        return Ok((ApplyResult::Conflict, conflicts, None));
    }
    // What is as the apply left it is in nobody's way unless nothing else is.
    let since: Vec<String> =
        brain_changes::conflicts(&prepared.back, root)?.into_iter().map(|conflict| conflict.path).collect();
    let (changed, as_left): (Vec<Conflict>, Vec<Conflict>) =
        conflicts.into_iter().partition(|conflict| since.contains(&conflict.path));
    Ok(if changed.is_empty() {
        let note = "it had been applied, and was taken back only in part by other means: this is still as it left it";
        (ApplyResult::Conflict, as_left, Some(note.to_owned()))
    } else {
        let note = "it had been applied, and this was changed since: it is neither as before it nor as after it";
        (ApplyResult::Conflict, changed, Some(note.to_owned()))
    })
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
    /// What would take it back: the tree is as it was to become when it is what this was made from.
    back: ChangeSet,
    contents: Contents,
    already: bool,
    was_applied: bool,
    notes: Vec<String>,
}

/// Decides what to do. The journal tells what was done; only the tree tells what is there.
fn prepare(proposal: &Proposal, root: &Path, mark: &Mark) -> Result<Prepared, ApplyFault> {
    let proposed = proposal.change_set()?;
    let contents = Contents::open(proposal.paths.contents())?;
    // What cannot be swept is in nobody's way.
    let _ = Contents::sweep(contents.folder());
    let here = Root { path: &mark.root, file: mark.root_file };
    let was_applied = proposal.story.state_at(here) == ProposalState::Applied;
    let kept = proposal.story.applied_at(here).filter(|_| was_applied).and_then(|attempt| attempt.undo.as_ref());
    if mark.direction == ApplyDirection::Apply {
        // That an undo has lost what it needs is no reason not to apply.
        let back = kept.and_then(|digest| kept_set(&contents, digest).ok()).unwrap_or_else(|| proposed.inverse());
        let already = was_applied && is_base(&back, root)?;
        let again = was_applied && !already && brain_changes::conflicts(&proposed, root)?.is_empty();
        let notes = again.then(|| "it had been applied before, and was taken back by other means".to_owned());
        return Ok(Prepared {
            set: proposed,
            back,
            contents,
            already,
            was_applied,
            notes: notes.into_iter().collect(),
        });
    }
    if was_applied {
        let set = kept.map_or_else(|| Ok(proposed.inverse()), |digest| kept_set(&contents, digest))?;
        let back = set.inverse();
        return Ok(Prepared { set, back, contents, already: false, was_applied, notes: Vec::new() });
    }
    undo_of_elsewhere(proposal, proposed, contents, root)
}

/// What to undo where nothing was applied, as the journal has it: the folder may be one that was applied to and then moved to another
/// file system or restored, which its content tells.
fn undo_of_elsewhere(
    proposal: &Proposal,
    proposed: ChangeSet,
    contents: Contents,
    root: &Path,
) -> Result<Prepared, ApplyFault> {
    let applied = proposal.story.applied();
    let (lost, stands): (Vec<_>, Vec<_>) =
        applied.into_iter().map(|attempt| (attempt, whereabouts(attempt))).partition(|(_, now)| now.is_some());
    for (attempt, now) in &lost {
        let set = match &attempt.undo {
            Some(digest) => kept_set(&contents, digest)?,
            None => proposed.inverse(),
        };
        if is_base(&set, root)? {
            let back = set.inverse();
            let now = now.unwrap_or_default();
            let notes = vec![format!("it was applied to {}, {now}: this folder is as that one was left", attempt.root)];
            return Ok(Prepared { set, back, contents, already: false, was_applied: false, notes });
        }
    }
    if let Some((attempt, now)) = lost.first() {
        return Err(ApplyFault::Elsewhere {
            session: proposal.session.clone(),
            role: proposal.role.clone(),
            here: root.to_owned(),
            was: brain_packet::terminal_line(&format!("{}, {}", attempt.root, now.unwrap_or_default())).into(),
        });
    }
    let notes =
        stands.iter().take(MAX_PLACES).map(|(attempt, _)| format!("it is applied to {}", attempt.root)).collect();
    let (set, back) = (proposed.inverse(), proposed);
    Ok(Prepared { set, back, contents, already: true, was_applied: false, notes })
}

/// What became of the folder that an attempt was in, in words; none where it is as it was.
fn whereabouts(attempt: &AttemptStory) -> Option<&'static str> {
    if attempt.root.contains(char::REPLACEMENT_CHARACTER) {
        // Its path is not text, so that the journal does not have it.
        return None;
    }
    match (marker::which(Path::new(&attempt.root)), attempt.root_file) {
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Some("where nothing is any more"),
        // As in [`AttemptStory::is_at`]: the device may have got another number.
        (Ok((_, is)), Some((_, was))) if is != was => Some("where another folder is now"),
        _ => None,
    }
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
