//! Replies of roles and of models, and what Brain makes of them.
//!
//! An input whose first byte is NUL stands for a typed reply, made from the rest; any other is the text of a reply.

use arbitrary::{Result, Unstructured};
use brain_packet::normalise::{self, Reply};
use brain_packet::{
    AgentTaskContext, ContextRef, ContextRefKind, CoverageStatus, Finding, HandoffId, HandoffPacket, Note,
    ReviewCoverage, ReviewDecision, RoleName, SessionId, Severity, TaskId, TaskProgress, TaskStatus, Verdict,
    WorkerResult,
};

use crate::made::{list, optional, text};
use crate::settled::assert_settled;

/// Words that mean something somewhere in a reply.
const WORDS: [&str; 20] = [
    "",
    " ",
    "task-1",
    "session-1",
    "handoff-1",
    "src/lib.rs",
    "/workspace/a",
    "/workspace",
    "/workspace//./a",
    "/context/request.md",
    "/artifacts/../x",
    "..",
    "../a",
    "a\\..\\b",
    "C:\\a",
    "a\0b",
    "./",
    "file://a",
    "high",
    "…",
];

/// Nothing panics; the result is settled, survives its JSON, is left alone by a second pass, and approves only where the reply did.
pub fn check(data: &[u8]) {
    let handoff = handoff();
    let (result, approved) = match data.split_first() {
        Some((0, rest)) => {
            let Ok(reply) = reply(&mut Unstructured::new(rest)) else {
                return;
            };
            let (completed, approved) =
                (reply.progress.status == TaskStatus::Completed, approves(reply.review.as_ref()));
            let result = normalise::reply(&handoff, reply);
            assert_eq!(result.progress.status == TaskStatus::Completed, completed, "the status does not get better");
            (result, approved)
        }
        _ => {
            let said = String::from_utf8_lossy(data);
            // JSON may spell a letter as an escape.
            let approved = said.contains("approved") || said.contains("\\u");
            (normalise::reply_text(&handoff, &said), approved)
        }
    };
    sound(&handoff, &result);
    assert!(approved || !approves(result.review.as_ref()), "nobody approved: {result:?}");

    let reviewed = normalise::expect_review(result);
    sound(&handoff, &reviewed);
    assert!(approved || !approves(reviewed.review.as_ref()), "nobody approved: {reviewed:?}");

    let failed = normalise::failed(&handoff, &reviewed.summary, &reviewed.risks);
    sound(&handoff, &failed);
    assert_eq!(failed.progress.status, TaskStatus::Failed);
    let blocked = normalise::blocked(&handoff, &reviewed.summary);
    sound(&handoff, &blocked);
    assert_eq!(blocked.progress.status, TaskStatus::Blocked);
}

fn sound(handoff: &HandoffPacket, result: &WorkerResult) {
    assert_settled(handoff, result);
    let json = serde_json::to_string(result).expect("a result can be written");
    assert_eq!(&WorkerResult::from_json(&json).expect("what was written can be read"), result);
    assert_eq!(&normalise::reply(handoff, result.clone()), result, "a second pass changes nothing and notes nothing");
}

fn approves(review: Option<&ReviewDecision>) -> bool {
    review.is_some_and(|review| review.decision == Verdict::Approved)
}

fn handoff() -> HandoffPacket {
    let (task, session) = (TaskId::new("task-1"), SessionId::new("session-1"));
    let role = RoleName::new("librarian").expect("a name");
    let task = AgentTaskContext::new(task.expect("an id"), session.expect("an id"), role, "Where is it?");
    HandoffPacket::new(HandoffId::new("handoff-1").expect("an id"), task, "The files.")
}

fn reply(u: &mut Unstructured<'_>) -> Result<Reply> {
    let status = *u.choose(&[
        TaskStatus::Completed,
        TaskStatus::Blocked,
        TaskStatus::Failed,
        TaskStatus::Pending,
        TaskStatus::Running,
    ])?;
    Ok(Reply {
        handoff_id: optional(u, word)?,
        task_id: optional(u, word)?,
        parent_id: optional(u, word)?,
        progress: TaskProgress {
            status,
            summary: optional(u, word)?,
            current_step: optional(u, word)?,
            completed_steps: list(u, 600, word)?,
            percent: optional(u, |u| u.arbitrary())?,
        },
        summary: word(u)?,
        artifacts: list(u, 1_500, artifact)?,
        risks: list(u, 600, word)?,
        next_questions: list(u, 600, word)?,
        findings: list(u, 3_000, finding)?,
        review: optional(u, review)?,
        notes: list(u, 100, note)?,
    })
}

fn word(u: &mut Unstructured<'_>) -> Result<String> {
    text(u, &WORDS)
}

fn artifact(u: &mut Unstructured<'_>) -> Result<ContextRef> {
    let kinds = [ContextRefKind::File, ContextRefKind::Thread, ContextRefKind::Summary, ContextRefKind::Artifact];
    Ok(ContextRef { kind: *u.choose(&kinds)?, uri: word(u)?, label: optional(u, word)? })
}

fn finding(u: &mut Unstructured<'_>) -> Result<Finding> {
    Ok(Finding {
        severity: *u.choose(&[Severity::Low, Severity::Medium, Severity::High])?,
        rule: optional(u, word)?,
        issue: word(u)?,
        file: optional(u, word)?,
        line: optional(u, |u| u.arbitrary())?,
        evidence: optional(u, word)?,
        suggestion: optional(u, word)?,
    })
}

fn review(u: &mut Unstructured<'_>) -> Result<ReviewDecision> {
    Ok(ReviewDecision {
        decision: *u.choose(&[Verdict::Approved, Verdict::ChangesRequested, Verdict::Blocked])?,
        confidence: optional(u, |u| u.arbitrary())?,
        rationale: word(u)?,
        required_changes: list(u, 600, word)?,
        blocking_issues: list(u, 600, word)?,
        residual_risks: list(u, 600, word)?,
        coverage: list(u, 5_000, coverage)?,
    })
}

fn coverage(u: &mut Unstructured<'_>) -> Result<ReviewCoverage> {
    let statuses = [CoverageStatus::Skipped, CoverageStatus::PartiallyInspected, CoverageStatus::Inspected];
    Ok(ReviewCoverage { file: word(u)?, status: *u.choose(&statuses)?, reason: optional(u, word)? })
}

fn note(u: &mut Unstructured<'_>) -> Result<Note> {
    Ok(Note { field: word(u)?, problem: word(u)?, action: word(u)? })
}
