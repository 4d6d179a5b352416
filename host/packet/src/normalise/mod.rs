//! From what a worker answered to a [`WorkerResult`] that Brain can rely on.
//!
//! A reply comes from a component, typed but unchecked ([`reply`]), or from a model, as text that may hold JSON
//! ([`reply_text`]). Neither is trusted, and neither is refused: provider drift or a careless role must not break a run.
//! What is wrong is repaired, and every repair leaves a [`Note`] in the result, alike ones counted together.
//!
//! What holds for every result, whatever the reply was:
//! - The ids are those of the handoff. A worker cannot answer for another.
//! - The status is completed, blocked or failed. A task that says `pending` or `running` when its worker has returned is
//!   **failed**: nobody is left to finish it, and what depends on it must not start.
//! - Numbers are finite and in range, lines are counted from 1, strings are trimmed, and list items are not blank.
//! - Files are relative to the workspace, references lie below a guest root, and neither has a `..`.
//! - Everything is within the [limits](crate::limits).
//! - A review is never approved by repair. It loses its approval when its worker did not complete, or when it lists what
//!   has to change or what blocks it: an approval that contradicts itself is none.
//! - Normalising it again changes nothing.
//!
//! Trimming white space and filling `progress.summary` from the summary are not counted as repairs.

mod extract;
mod fields;
mod notes;
mod paths;
mod reply;
mod review;
mod text;

pub use extract::object as json_object;
pub use reply::Reply;
pub use text::reply_text;

use crate::{
    context::TaskStatus,
    handoff::HandoffPacket,
    result::{Note, WorkerResult},
};

/// The result of a worker that answered with a typed packet.
///
/// Takes a [`Reply`], whose ids are whatever the worker wrote, or a [`WorkerResult`].
#[must_use]
pub fn reply(handoff: &HandoffPacket, reply: impl Into<Reply>) -> WorkerResult {
    reply.into().settle(handoff, notes::Repairs::default())
}

/// The result of a worker that did not get to answer: it trapped, was killed, or could not be started.
///
/// The message becomes the summary, `<role> worker failed: <message>`, and the first risk; `risks` follow.
#[must_use]
pub fn failed(handoff: &HandoffPacket, message: &str, risks: &[String]) -> WorkerResult {
    let message = or_unknown(message);
    let summary = format!("{} worker failed: {message}", handoff.task.agent_role);
    unanswered(handoff, TaskStatus::Failed, summary, message, risks)
}

/// The result of a worker that was never called, since what it depends on is missing.
///
/// The reason becomes the summary, `<role> worker is blocked: <reason>`, and the only risk.
#[must_use]
pub fn blocked(handoff: &HandoffPacket, reason: &str) -> WorkerResult {
    let reason = or_unknown(reason);
    let summary = format!("{} worker is blocked: {reason}", handoff.task.agent_role);
    unanswered(handoff, TaskStatus::Blocked, summary, reason, &[])
}

/// The result of a worker that was asked to review, with a review in it for certain.
///
/// Where the reply gave none, the decision is `blocked` when the task failed or was blocked, else `changes_requested`,
/// with a required change that says so. It is never an approval.
#[must_use]
pub fn expect_review(mut result: WorkerResult) -> WorkerResult {
    if result.review.is_none() {
        result.review = Some(review::undecided(result.progress.status, &result.summary, &result.risks));
        let mut repairs = notes::Repairs::default();
        repairs.once("review", "absent, although a review was asked for", "counted as not approved");
        result.notes = repairs.into_notes(result.notes);
    }
    result
}

fn or_unknown(message: &str) -> &str {
    match message.trim() {
        "" => "no cause was given",
        message => message,
    }
}

fn unanswered(
    handoff: &HandoffPacket,
    status: TaskStatus,
    summary: String,
    cause: &str,
    risks: &[String],
) -> WorkerResult {
    let mut result = WorkerResult::answering(handoff, status, summary);
    result.progress.summary = None;
    result.risks.push(cause.to_owned());
    result.risks.extend(risks.iter().filter(|risk| risk.trim() != cause).cloned());
    reply(handoff, result)
}
