//! Making good what an earlier start left half done.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use brain_changes::{Contents, Intent, IntentId, Reached, recover};
use brain_journal::{ApplyOutcome, Journal, ReadLimits, Record, SessionPaths, scan};

use super::error::ApplyFault;
use super::log::JournalLog;
pub use super::marker::Mark;
use super::marker::{self, Marker, Seized};
use super::outcome;

/// What was made of an interrupted attempt.
#[derive(Debug)]
pub struct Recovery {
    /// Which attempt; absent when that cannot be told.
    pub of: Option<Mark>,
    /// How it ended. None when it had not begun, so that there was nothing to make good. An attempt that could not be made
    /// good keeps its marker, and the next start tries again.
    pub outcome: Result<Option<ApplyOutcome>, ApplyFault>,
    /// What to know of the tree as it is now.
    pub notes: Vec<String>,
}

/// Finishes or takes back every attempt below `home` whose process is gone. Nearly always there is none, and this is one look
/// for a folder that is empty or not there.
#[must_use]
pub fn recover_interrupted(home: &Path) -> Vec<Recovery> {
    let failed = |path: PathBuf, source| Recovery {
        of: None,
        outcome: Err(ApplyFault::State { path, source }),
        notes: Vec::new(),
    };
    let (markers, more) = match marker::markers(home) {
        Ok(found) => found,
        Err(source) => return vec![failed(marker::folder(home), source)],
    };
    let mut recoveries = Vec::new();
    for path in markers {
        match marker::seize(&path) {
            // Whoever holds it is alive and does its own work.
            Ok(Seized::Busy(_) | Seized::Gone) => {}
            Ok(Seized::Ours(held, Ok(mark))) => recoveries.push(make_good(home, held, mark)),
            Ok(Seized::Ours(_, Err(source))) => {
                recoveries.push(Recovery {
                    of: None,
                    outcome: Err(ApplyFault::Marker { path, source }),
                    notes: Vec::new(),
                });
            }
            Err(source) => recoveries.push(failed(path, source)),
        }
    }
    if more > 0
        && let Some(last) = recoveries.last_mut()
    {
        last.notes.push(format!("{more} more interrupted applies are looked at by the next start"));
    }
    recoveries
}

fn make_good(home: &Path, held: Marker, mark: Mark) -> Recovery {
    let mut notes = Vec::new();
    let outcome = ended(home, &held, &mark, &mut notes).and_then(|outcome| {
        let path = held.path().to_owned();
        held.release().map_err(|source| ApplyFault::State { path, source })?;
        Ok(outcome)
    });
    Recovery { of: Some(mark), outcome, notes }
}

/// How the attempt ends; none when the journal does not tell of one that has not.
fn ended(home: &Path, held: &Marker, mark: &Mark, notes: &mut Vec<String>) -> Result<Option<ApplyOutcome>, ApplyFault> {
    let Some((intent, reached)) = open_attempt(home, held, mark)? else { return Ok(None) };
    let contents = Contents::open(SessionPaths::new(home, &mark.session)?.contents())?;
    let journal = Journal::open(home, &mark.session)?;
    let mut log = JournalLog::new(journal, mark.role.clone(), mark.direction, mark.root.clone());
    let recovered = recover(&intent, reached, Path::new(&mark.root), &contents, &mut log)?;
    log.close(Some(&recovered.undo), &contents, true)?;
    notes.extend(recovered.kept.iter().map(|c| format!("{} was changed meanwhile: it was left as it is", c.path)));
    notes.extend(recovered.folders_left.iter().map(|path| format!("{path}/ was not removed: something else is in it")));
    notes.extend(recovered.left.iter().map(|path| super::left_over(path)));
    Ok(Some(outcome(recovered.outcome)))
}

/// The attempt of the role in the tree that the journal tells of last, if it has no end.
fn open_attempt(home: &Path, held: &Marker, mark: &Mark) -> Result<Option<(Intent, Reached)>, ApplyFault> {
    struct Open {
        id: String,
        intent: Record,
        reached: Reached,
    }
    let mut open: Option<Open> = None;
    scan(home, &mark.session, &ReadLimits::default(), |entry| {
        match entry.record {
            Record::ApplyIntent { ref worker, ref intent_id, ref root, .. }
                if *worker == mark.role && *root == mark.root =>
            {
                open = Some(Open { id: intent_id.clone(), intent: entry.record, reached: Reached::Intent });
            }
            Record::ApplyCommit { intent_id, .. } => {
                if let Some(open) = open.as_mut().filter(|open| open.id == intent_id) {
                    open.reached = Reached::Commit;
                }
            }
            Record::ApplyEnd { intent_id, .. } if open.as_ref().is_some_and(|open| open.id == intent_id) => open = None,
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    let Some(Open { id, intent: Record::ApplyIntent { set, plan, files, .. }, reached }) = open else {
        return Ok(None);
    };
    match IntentId::try_from(id.clone()) {
        Ok(id) => Ok(Some((Intent { id, set, plan, files }, reached))),
        Err(_) => Err(ApplyFault::Intent {
            session: mark.session.to_string(),
            id: brain_packet::terminal_line(&id).into(),
            marker: held.path().to_owned(),
        }),
    }
}
