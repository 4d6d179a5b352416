//! The journal of a session as the log of an attempt.

use std::io;

use brain_changes::{ChangeSet, Contents, Intent, IntentId, IntentLog, Outcome};
use brain_journal::{ApplyDirection, Journal, JournalError, Record};
use brain_packet::RoleName;

use super::error::ApplyFault;
use super::outcome;

/// Writes an attempt into a journal. The end is written by [`JournalLog::close`], after the set that undoes the attempt was
/// kept: without its end, an attempt is finished again, which gives that set again.
pub(crate) struct JournalLog {
    journal: Journal,
    worker: RoleName,
    direction: ApplyDirection,
    root: String,
    ended: Option<(String, Outcome)>,
}

impl JournalLog {
    pub(crate) fn new(journal: Journal, worker: RoleName, direction: ApplyDirection, root: String) -> Self {
        Self { journal, worker, direction, root, ended: None }
    }

    /// Keeps the set that undoes the attempt, and writes the end. Nothing where the attempt did not come to its end, or
    /// never began.
    pub(crate) fn close(
        self,
        undo: Option<&ChangeSet>,
        contents: &Contents,
        recovered: bool,
    ) -> Result<(), ApplyFault> {
        let Some((intent_id, ended)) = self.ended else { return Ok(()) };
        let undo = match undo.filter(|_| ended != Outcome::RolledBack) {
            None => None,
            Some(undo) => {
                let digest = contents.put(&mut undo.to_json().as_slice())?;
                contents.sync([&digest])?;
                Some(digest)
            }
        };
        let (worker, direction, outcome) = (self.worker, self.direction, outcome(ended));
        self.journal.append(&Record::ApplyEnd { worker, direction, intent_id, outcome, undo, recovered })?;
        Ok(())
    }
}

impl IntentLog for JournalLog {
    fn intent(&mut self, intent: &Intent) -> io::Result<()> {
        let written = self.journal.append(&Record::ApplyIntent {
            worker: self.worker.clone(),
            direction: self.direction,
            intent_id: intent.id.to_string(),
            set: intent.set.clone(),
            plan: intent.plan.clone(),
            files: intent.files,
            root: self.root.clone(),
        });
        written.map(drop).map_err(told)
    }

    fn commit(&mut self, id: &IntentId) -> io::Result<()> {
        let (worker, direction, intent_id) = (self.worker.clone(), self.direction, id.to_string());
        self.journal.append(&Record::ApplyCommit { worker, direction, intent_id }).map(drop).map_err(told)
    }

    fn end(&mut self, id: &IntentId, outcome: Outcome) -> io::Result<()> {
        self.ended = Some((id.to_string(), outcome));
        Ok(())
    }
}

fn told(error: JournalError) -> io::Error {
    io::Error::other(error)
}
