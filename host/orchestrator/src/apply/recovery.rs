//! Making good what an earlier start left half done.

use std::io;
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
    /// The marker that stays while the attempt is not made good; absent where none does.
    pub marker: Option<PathBuf>,
}

/// An attempt that was interrupted and stands there still.
#[derive(Debug)]
pub struct Interrupted {
    /// Its marker. As long as it is there, each start tries to make the attempt good, and the tree takes no other change.
    pub marker: PathBuf,
    /// Which attempt, or why its marker does not tell.
    pub of: io::Result<Mark>,
    /// Whether anything is at the path of its tree.
    pub root_is_there: bool,
}

/// The interrupted attempts below `home` as they stand, and how many more markers were not looked at. Changes nothing; one that a
/// process is at work on is not among them.
///
/// # Errors
/// The folder of the markers cannot be listed.
pub fn interrupted(home: &Path) -> io::Result<(Vec<Interrupted>, usize)> {
    let (markers, more) = marker::markers(home)?;
    let looked = |marker: PathBuf| {
        let of = match marker::seize(&marker) {
            Ok(Seized::Busy(_) | Seized::Gone) => return None,
            Ok(Seized::Ours(_, mark)) => mark,
            Err(error) => Err(error),
        };
        let root_is_there = of.as_ref().is_ok_and(|mark| mark.path().exists());
        Some(Interrupted { marker, of, root_is_there })
    };
    Ok((markers.into_iter().filter_map(looked).collect(), more))
}

/// Finishes or takes back every attempt below `home` whose process is gone. Nearly always there is none, and this is one look
/// for a folder that is empty or not there.
#[must_use]
pub fn recover_interrupted(home: &Path) -> Vec<Recovery> {
    let failed = |path: PathBuf, source| Recovery {
        of: None,
        outcome: Err(ApplyFault::State { path, source }),
        notes: Vec::new(),
        marker: None,
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
                recoveries.push(no_marker(path, source));
            }
            Err(source) => recoveries.push(no_marker(path, source)),
        }
    }
    if more > 0
        && let Some(last) = recoveries.last_mut()
    {
        last.notes.push(format!("{more} more interrupted applies are looked at by the next start"));
    }
    recoveries
}

fn no_marker(path: PathBuf, source: io::Error) -> Recovery {
    let marker = Some(path.clone());
    Recovery { of: None, outcome: Err(ApplyFault::Marker { path, source }), notes: Vec::new(), marker }
}

fn make_good(home: &Path, held: Marker, mark: Mark) -> Recovery {
    let mut notes = Vec::new();
    let marker = held.path().to_owned();
    let outcome = ended(home, &held, &mark, &mut notes).and_then(|outcome| {
        let path = held.path().to_owned();
        held.release().map_err(|source| ApplyFault::State { path, source })?;
        Ok(outcome)
    });
    let marker = outcome.is_err().then_some(marker);
    Recovery { of: Some(mark), outcome, notes, marker }
}

/// How the attempt ends; none when the journal does not tell of one that has not.
fn ended(home: &Path, held: &Marker, mark: &Mark, notes: &mut Vec<String>) -> Result<Option<ApplyOutcome>, ApplyFault> {
    let (intent, reached) = match last_attempt(home, held, mark)? {
        Attempt::None => return Ok(None),
        // All that was missing was to take the marker away.
        Attempt::Ended(outcome) => return Ok(Some(outcome)),
        Attempt::Open(intent, reached) => (intent, reached),
    };
    let (root, marker) = (mark.path(), held.path().to_owned());
    match marker::which(&root) {
        Ok(is) if mark.root_file.is_some_and(|was| is != was) => return Err(ApplyFault::RootMoved { root, marker }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ApplyFault::RootGone { root, marker }),
        _ => {}
    }
    let contents = Contents::open(SessionPaths::new(home, &mark.session)?.contents())?;
    let journal = Journal::open(home, &mark.session)?;
    let mut log = JournalLog::new(journal, mark, None);
    let recovered = recover(&intent, reached, &mark.path(), &contents, &mut log)?;
    log.close(Some(&recovered.undo), &contents, true)?;
    notes.extend(recovered.kept.iter().map(|c| format!("{} was changed meanwhile: it was left as it is", c.path)));
    notes.extend(recovered.folders_left.iter().map(|path| format!("{path}/ was not removed: something else is in it")));
    notes.extend(recovered.left.iter().map(|path| super::left_over(path)));
    Ok(Some(outcome(recovered.outcome)))
}

/// What the journal tells of an attempt.
enum Attempt {
    /// Nothing: it was cut off before its intent.
    None,
    /// It came to its end.
    Ended(ApplyOutcome),
    /// It has no end.
    Open(Intent, Reached),
}

/// The last attempt of the role in the tree.
fn last_attempt(home: &Path, held: &Marker, mark: &Mark) -> Result<Attempt, ApplyFault> {
    struct Open {
        id: String,
        intent: Record,
        reached: Reached,
    }
    let (mut open, mut ended): (Option<Open>, _) = (None, None);
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
            Record::ApplyEnd { intent_id, direction, outcome, .. }
                if open.as_ref().is_some_and(|open| open.id == intent_id) =>
            {
                open = None;
                ended = (direction == mark.direction).then_some(outcome);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    let Some(Open { id, intent: Record::ApplyIntent { set, plan, files, .. }, reached }) = open else {
        return Ok(ended.map_or(Attempt::None, Attempt::Ended));
    };
    match IntentId::try_from(id.clone()) {
        Ok(id) => Ok(Attempt::Open(Intent { id, set, plan, files }, reached)),
        Err(_) => Err(ApplyFault::Intent {
            session: mark.session.to_string(),
            id: brain_packet::terminal_line(&id).into(),
            marker: held.path().to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
    use std::fs;

    use brain_changes::{ApplyError, Builder, Side, Step, apply_watched};
    use brain_journal::ApplyDirection;

    use super::*;

    /// An apply that was cut off after its commit: `a` is old still, in the folder `root` below the home's parent.
    struct CutOff {
        dir: tempfile::TempDir,
        root: PathBuf,
        home: PathBuf,
    }

    fn cut_off() -> CutOff {
        let dir = tempfile::tempdir().unwrap();
        let (root, home) = (dir.path().canonicalize().unwrap().join("root"), dir.path().join("home"));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "old").unwrap();
        let journal = Journal::start(&home).unwrap();
        let contents = Contents::open(SessionPaths::new(&home, journal.id()).unwrap().contents()).unwrap();
        let mut set = Builder::new(&contents);
        set.modified("a", Side::new(0o644, &b"old"[..]), Side::new(0o644, &b"new"[..])).unwrap();
        let set = set.finish().unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        fs::set_permissions(root.join("a"), mode).unwrap();
        let mark = Mark {
            session: journal.id().clone(),
            role: "editor".parse().unwrap(),
            direction: ApplyDirection::Apply,
            root: root.to_str().unwrap().into(),
            root_bytes: None,
            root_file: Some(marker::which(&root).unwrap()),
            pid: 7,
        };
        let held = marker::take(&home, &mark).unwrap();
        let mut log = JournalLog::new(journal, &mark, None);
        let mut fails = |step: Step<'_>| match step {
            Step::Place(_) => Err(io::Error::other("the power goes")),
            _ => Ok(()),
        };
        let error = apply_watched(&set, &root, &contents, &mut log, &mut fails).unwrap_err();
        assert!(matches!(error, ApplyError::Unfinished { .. }), "{error}");
        drop(held);
        assert_eq!(fs::read(root.join("a")).unwrap(), b"old");
        CutOff { dir, root, home }
    }

    #[test]
    fn what_lies_at_the_path_of_a_tree_that_was_moved_away_is_not_touched() {
        let CutOff { dir, root, home } = cut_off();
        let (away, other) = (dir.path().join("away"), dir.path().join("other"));
        fs::rename(&root, &away).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("a"), "old").unwrap();
        std::os::unix::fs::symlink(&other, &root).unwrap();
        let recoveries = recover_interrupted(&home);
        assert!(matches!(recoveries[0].outcome, Err(ApplyFault::RootMoved { .. })), "{recoveries:?}");
        assert_eq!(fs::read(other.join("a")).unwrap(), b"old");
        assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
        // Put back, it goes on.
        fs::remove_file(&root).unwrap();
        fs::rename(&away, &root).unwrap();
        assert!(matches!(recover_interrupted(&home)[0].outcome, Ok(Some(ApplyOutcome::Done))));
        assert_eq!(fs::read(root.join("a")).unwrap(), b"new");
        assert!(recover_interrupted(&home).is_empty());
    }

    #[test]
    fn an_attempt_that_ended_and_kept_its_marker_is_told_as_it_ended() {
        let CutOff { dir: _dir, root, home } = cut_off();
        let marker = marker::markers(&home).unwrap().0.remove(0);
        let kept = fs::read(&marker).unwrap();
        assert!(matches!(recover_interrupted(&home)[0].outcome, Ok(Some(ApplyOutcome::Done))));
        fs::write(&marker, kept).unwrap();
        assert!(matches!(recover_interrupted(&home)[0].outcome, Ok(Some(ApplyOutcome::Done))));
        assert_eq!(fs::read(root.join("a")).unwrap(), b"new");
    }
}
