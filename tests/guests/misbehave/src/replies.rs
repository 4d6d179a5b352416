//! Results that are too large or wrong.

use brain_role::{
    ContextRef, ContextRefKind, CoverageStatus, Finding, Handoff, Outcome, ReviewDecision, Severity, TaskProgress,
    TaskStatus, Verdict, WorkerResult,
};

/// A result with the right ids and one status, and nothing else.
pub(crate) fn with_status(handoff: &Handoff, status: TaskStatus) -> WorkerResult {
    let mut result = Outcome::completed("").into_result(handoff);
    result.progress = TaskProgress::new(status);
    result
}

/// A summary of `bytes` bytes. It is in the result once, so that the size of the result is what ends the call.
pub(crate) fn one_large(handoff: &Handoff, bytes: usize) -> WorkerResult {
    let mut result = with_status(handoff, TaskStatus::Completed);
    result.summary = "x".repeat(bytes);
    result
}

/// `count` empty risks: little text, many items.
pub(crate) fn many_risks(handoff: &Handoff, count: u64) -> WorkerResult {
    let mut result = with_status(handoff, TaskStatus::Completed);
    result.risks = vec![String::new(); count as usize];
    result
}

/// `count` findings with one word each.
pub(crate) fn many_findings(handoff: &Handoff, count: u64) -> WorkerResult {
    let mut result = with_status(handoff, TaskStatus::Completed);
    result.findings = (0..count).map(|n| Finding::new(Severity::Low, n.to_string())).collect();
    result
}

/// Nothing in it is right.
pub(crate) fn echo() -> WorkerResult {
    WorkerResult {
        handoff_id: "not-the-handoff".to_owned(),
        task_id: String::new(),
        parent_id: "../../etc".to_owned(),
        progress: TaskProgress {
            status: TaskStatus::Completed,
            summary: Some("   ".to_owned()),
            current_step: Some(String::new()),
            completed_steps: vec![" ".to_owned(), "one step".to_owned(), String::new()],
            percent: Some(f64::NAN),
        },
        summary: "\u{1b}[2J\u{1b}]0;title\u{7}echo\r\u{202e}".to_owned(),
        artifacts: vec![
            ContextRef::new(ContextRefKind::File, ""),
            ContextRef::new(ContextRefKind::File, "/etc/passwd"),
            ContextRef::new(ContextRefKind::Artifact, "/artifacts/../workspace/a"),
            ContextRef::new(ContextRefKind::Thread, "https://example.org/"),
        ],
        risks: vec![String::new(), "  ".to_owned(), " a risk ".to_owned()],
        next_questions: vec!["\n".to_owned()],
        findings: vec![
            Finding { line: Some(0), ..Finding::new(Severity::High, "line zero").in_file("/workspace/a") },
            Finding { line: Some(u32::MAX), ..Finding::new(Severity::Medium, "") },
            Finding::new(Severity::Low, "climbs").at("../outside", 1).rule("not a rule name"),
        ],
        review: Some(ReviewDecision {
            confidence: Some(f64::INFINITY),
            ..ReviewDecision::new(Verdict::Approved, " ")
                .covered("a", CoverageStatus::Inspected)
                .covered("a", CoverageStatus::Skipped)
                .covered("", CoverageStatus::Inspected)
        }),
    }
}
