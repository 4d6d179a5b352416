//! What the tests share: a handoff, the golden files, results, and what has to hold for each of them.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod settled;
pub mod values;

use brain_packet::{
    AgentTaskContext, Finding, HandoffId, HandoffPacket, ReviewDecision, RoleName, SessionId, Severity, TaskId,
    TaskStatus, Verdict, WorkerResult,
    normalise::{self, Reply},
};
pub use settled::assert_settled;

pub fn golden(name: &str) -> String {
    let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn handoff() -> HandoffPacket {
    let task = AgentTaskContext::new(
        TaskId::new("task-1").unwrap(),
        SessionId::new("session-1").unwrap(),
        RoleName::new("librarian").unwrap(),
        "Where is it?",
    );
    HandoffPacket::new(HandoffId::new("handoff-1").unwrap(), task, "The files.")
}

/// The result of a reply that is this JSON.
pub fn from_json(reply: &serde_json::Value) -> WorkerResult {
    let result = normalise::reply_text(&handoff(), &reply.to_string());
    assert_settled(&handoff(), &result);
    result
}

/// The result of a completed typed reply, after a change to it.
pub fn typed(change: impl FnOnce(&mut Reply)) -> WorkerResult {
    let mut reply = Reply::new(TaskStatus::Completed, "Done.");
    change(&mut reply);
    let result = normalise::reply(&handoff(), reply);
    assert_settled(&handoff(), &result);
    result
}

/// The notes on one field, as `problem → action`.
pub fn notes_on(result: &WorkerResult, field: &str) -> Vec<String> {
    let on_field = result.notes.iter().filter(|note| note.field == field);
    on_field.map(|note| format!("{} → {}", note.problem, note.action)).collect()
}

/// A finding with nothing but an issue.
pub fn finding(issue: &str) -> Finding {
    Finding {
        severity: Severity::Low,
        rule: None,
        issue: issue.to_owned(),
        file: None,
        line: None,
        evidence: None,
        suggestion: None,
    }
}

/// A review with nothing but a decision.
pub fn review(decision: Verdict) -> ReviewDecision {
    ReviewDecision {
        decision,
        confidence: None,
        rationale: "Because.".to_owned(),
        required_changes: Vec::new(),
        blocking_issues: Vec::new(),
        residual_risks: Vec::new(),
        coverage: Vec::new(),
    }
}
