//! Receipts of past calls, from the journals.
//!
//! A journal may be of another version than this one, so a receipt is read as JSON: what an old one does not have is
//! unknown, and is never taken for zero.

use std::ops::ControlFlow;
use std::path::Path;

use brain_journal::{JournalError, Phase, ReadLimits, Record, SessionStory, list, scan};
use brain_packet::{HandoffId, RoleName, SessionId, TaskStatus};
use serde::Serialize;
use serde_json::Value;

/// Sessions that are looked into for receipts of a role, the newest first, unless the operator says otherwise.
pub const DEFAULT_RECEIPT_SESSIONS: usize = 200;

/// Most receipts of a role that are looked at.
pub const MAX_RECEIPTS: usize = 10_000;

/// The receipt of one call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptReceipt {
    /// The session of the call.
    pub session_id: SessionId,
    /// The role that was called.
    pub role: RoleName,
    /// In which phase.
    pub phase: Phase,
    /// By which handoff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff_id: Option<HandoffId>,
    /// The receipt as the journal has it; `null` for a role that was not called.
    pub receipt: Value,
}

/// The receipts of one session, in the order of the calls.
///
/// # Errors
/// The journal cannot be read.
pub fn receipts(home: &Path, session: &SessionId) -> Result<Vec<KeptReceipt>, JournalError> {
    let story = SessionStory::read(home, session)?;
    let workers = story.runs.into_iter().flat_map(|run| run.workers);
    Ok(workers
        .map(|worker| KeptReceipt {
            session_id: session.clone(),
            role: worker.role,
            phase: worker.phase,
            handoff_id: worker.handoff_id,
            receipt: worker.receipt,
        })
        .collect())
}

/// The past calls of one role.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastCalls {
    /// The receipts of those that completed, the newest session first; at most [`MAX_RECEIPTS`] with those that did not.
    pub receipts: Vec<Value>,
    /// The receipts of those that did not: each shows some of what the role needs, and nothing of what it does not.
    pub incomplete: Vec<Value>,
    /// Sessions that were looked into.
    pub sessions: usize,
    /// Older sessions that were not looked into, and receipts beyond the most.
    pub not_looked_at: usize,
    /// Sessions whose journal cannot be read.
    pub unreadable: usize,
}

impl PastCalls {
    fn has_room(&self, waiting: usize) -> bool {
        self.receipts.len() + self.incomplete.len() + waiting < MAX_RECEIPTS
    }

    fn add(&mut self, receipt: Value, completed: bool) {
        if completed { self.receipts.push(receipt) } else { self.incomplete.push(receipt) }
    }
}

/// The receipts of a role in the newest `sessions` of a home.
///
/// # Errors
/// The folder of the sessions cannot be listed.
pub fn past_calls(home: &Path, role: &RoleName, sessions: usize) -> Result<PastCalls, JournalError> {
    let listed = list(home, sessions, None)?;
    let mut past = PastCalls { not_looked_at: listed.not_shown, ..PastCalls::default() };
    for session in &listed.sessions {
        past.sessions += 1;
        // The receipt of a call comes before its result, which says whether it completed.
        let mut waiting: Vec<(HandoffId, Value)> = Vec::new();
        let scanned = scan(home, &session.session_id, &ReadLimits::default(), |entry| {
            match entry.record {
                Record::RoleReceipt { worker, receipt, handoff_id, .. } if worker == *role && receipt.is_object() => {
                    if past.has_room(waiting.len()) {
                        waiting.push((handoff_id, receipt));
                    } else {
                        past.not_looked_at += 1;
                    }
                }
                Record::WorkerEnd { worker, receipt, result: Some(result), .. } if worker == *role => {
                    let at = waiting.iter().position(|(id, _)| *id == result.handoff_id);
                    let receipt = at.map(|at| waiting.swap_remove(at).1).or(Some(receipt).filter(Value::is_object));
                    match receipt {
                        Some(receipt) if past.has_room(waiting.len()) => {
                            past.add(receipt, result.progress.status == TaskStatus::Completed);
                        }
                        Some(_) => past.not_looked_at += 1,
                        None => {}
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        });
        // Cut off before the result was written.
        waiting.into_iter().for_each(|(_, receipt)| past.add(receipt, false));
        past.unreadable += usize::from(scanned.is_err());
    }
    Ok(past)
}
