//! The journal of a session as the log of an attempt.

use std::io;

use brain_changes::{ChangeSet, Contents, Intent, IntentId, IntentLog, Outcome};
use brain_journal::{ApplyDirection, Journal, JournalError, Record};
use brain_packet::{Digest, RoleName};

use super::error::ApplyFault;
use super::marker::Mark;
use super::outcome;

/// Writes an attempt into a journal. The end is written by [`JournalLog::close`], after the set that undoes the attempt was
/// kept: without its end, an attempt is finished again, which gives that set again.
pub(crate) struct JournalLog {
    journal: Journal,
    worker: RoleName,
    direction: ApplyDirection,
    root: String,
    root_file: Option<(u64, u64)>,
    /// The proposal that it is about; not needed of an attempt that has begun.
    proposal: Option<Digest>,
    ended: Option<(String, Outcome)>,
}

impl JournalLog {
    /// The log of an attempt as its marker has it.
    pub(crate) fn new(journal: Journal, mark: &Mark, proposal: Option<Digest>) -> Self {
        let Mark { role, direction, root, root_file, .. } = mark.clone();
        Self { journal, worker: role, direction, root, root_file, proposal, ended: None }
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
            root_file: self.root_file,
            proposal: self.proposal.clone(),
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
