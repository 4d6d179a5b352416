//! What a worker may answer, and what Brain makes of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use brain_packet::{ContextRefKind, ReviewDecision, Severity, TaskStatus, Verdict, WorkerResult, normalise};
use common::{assert_settled, from_json, handoff, notes_on, review, typed};
use serde_json::json;

#[test]
fn a_clean_reply_has_nothing_to_note() {
    let result = from_json(&json!({
        "fromLayer": "agent", "toLayer": "brain",
        "handoffId": "handoff-1", "taskId": "task-1", "parentId": "session-1",
        "progress": { "status": "completed", "summary": "ok", "currentStep": "end", "completedSteps": ["a"], "percent": 50 },
        "summary": "  Done.\n", "artifacts": [{ "kind": "file", "uri": "/workspace/a.rs", "label": "A" }],
        "risks": ["r"], "nextQuestions": ["q"],
        "findings": [{ "severity": "high", "rule": "a/b", "issue": "i", "file": "a.rs", "line": 1, "evidence": "e", "suggestion": "s" }],
        "review": null,
    }));
    assert_eq!(result.notes, []);
    assert_eq!((result.summary.as_str(), result.progress.percent), ("Done.", Some(50.0)));
    assert_eq!(result.findings[0].line, Some(1));
    assert_eq!(result.artifacts[0].label.as_deref(), Some("A"));
}

/// The table of replies: what the text is, and the status and summary that it gives.
#[test]
fn every_shape_of_reply_gives_a_result() {
    let json = r#"{"summary":"S","progress":{"status":"blocked"}}"#;
    let parsed = |text: String| (text, TaskStatus::Blocked, Some("S"));
    let plain = |text: &str| (text.to_owned(), TaskStatus::Completed, None);
    let table = [
        parsed(json.to_owned()),
        parsed(format!("Sure!\n```json\n{json}\n```\nThat is {{all}}.")),
        parsed(format!("```JSON\n{json}```")),
        parsed(format!("```\n{json}\n```")),
        parsed(format!("Well: {json} I hope.")),
        parsed(json.replace("\"S\"", "\"S\",\"risks\":[\"```rust\\nx\\n```\"]")),
        plain("I looked and found nothing."),
        plain("{not json}"),
        plain("```\n```"),
        plain("```python\n{\"summary\":\"S\"}\n```"),
        plain("{\"summary\":\"S\"}\n{\"summary\":\"T\"}"),
        plain("{\"summary\":\"S\"} as in {this}"),
        plain("```json\n[{\"summary\":\"S\"}]\n```"),
        plain("```json\nnull\n```"),
        plain("```json\n7\n```"),
        plain("```json\n\"text\"\n```"),
        plain("[]"),
        plain("null"),
    ];
    for (text, status, summary) in table {
        let result = normalise::reply_text(&handoff(), &format!("\n {text} \n"));
        assert_settled(&handoff(), &result);
        assert_eq!(result.progress.status, status, "{text}");
        assert_eq!(result.summary, summary.unwrap_or(&text), "{text}");
        if summary.is_none() {
            assert_eq!(result.progress.summary.as_deref(), Some(text.as_str()));
            assert!(result.risks.is_empty() && result.findings.is_empty() && result.artifacts.is_empty());
            assert_eq!(notes_on(&result, "reply"), ["not a JSON object → its text became the summary"], "{text}");
        }
    }
}

#[test]
fn a_blank_reply_is_a_failure() {
    for text in ["", " \n\t\u{2003}"] {
        let result = normalise::reply_text(&handoff(), text);
        assert_eq!(result.progress.status, TaskStatus::Failed);
        assert_eq!(result.summary, "librarian worker failed: the reply was empty");
    }
}

#[test]
fn brains_ids_win_and_the_wrong_ones_are_noted() {
    let result = from_json(&json!({ "summary": "S", "progress": {}, "taskId": "\u{1b}other", "handoffId": 7 }));
    assert_eq!(notes_on(&result, "taskId"), [r#""\u{1b}other" is not the id that was handed over → Brain's id kept"#]);
    assert_eq!(notes_on(&result, "handoffId"), ["not a string → dropped"]);
    assert_eq!(notes_on(&result, "parentId"), [""; 0]);

    let mut other = handoff();
    other.id = "handoff-2".parse().unwrap();
    let answer = WorkerResult::answering(&other, TaskStatus::Completed, "S");
    let result = normalise::reply(&handoff(), answer);
    assert_settled(&handoff(), &result);
    assert_eq!(notes_on(&result, "handoffId").len(), 1);
}

#[test]
fn a_wrong_direction_in_a_reply_is_noted() {
    let result = from_json(&json!({ "summary": "S", "progress": { "status": "completed" }, "toLayer": "agent" }));
    assert_eq!(notes_on(&result, "toLayer"), [r#"not "brain" → a result goes from agent to brain"#]);
    assert_eq!(result.notes.len(), 1);
}

#[test]
fn a_status_is_one_that_a_task_can_end_with() {
    let cases = [
        (json!("completed"), TaskStatus::Completed, 0),
        (json!("blocked"), TaskStatus::Blocked, 0),
        (json!("failed"), TaskStatus::Failed, 0),
        (json!(" FAILED "), TaskStatus::Failed, 0),
        (json!("pending"), TaskStatus::Failed, 1),
        (json!("running"), TaskStatus::Failed, 1),
        (json!("done"), TaskStatus::Completed, 1),
        (json!(null), TaskStatus::Completed, 1),
        (json!(3), TaskStatus::Completed, 2),
    ];
    for (said, status, noted) in cases {
        let result = from_json(&json!({ "summary": "S", "progress": { "status": said } }));
        assert_eq!(result.progress.status, status, "{said}");
        assert_eq!(notes_on(&result, "progress.status").len(), noted, "{said}");
    }
    for said in [TaskStatus::Pending, TaskStatus::Running] {
        let result = typed(|reply| reply.progress.status = said);
        assert_eq!(result.progress.status, TaskStatus::Failed);
        assert!(notes_on(&result, "progress.status")[0].ends_with("after the worker had returned → counted as failed"));
    }
    for progress in [json!(null), json!("completed"), json!([])] {
        let result = from_json(&json!({ "summary": "S", "progress": progress }));
        assert_eq!(result.progress.status, TaskStatus::Completed);
        assert_eq!(notes_on(&result, "progress").len(), 1);
    }
}

#[test]
fn a_missing_summary_is_made_up_for() {
    let result = from_json(&json!({ "summary": "  ", "progress": { "status": "completed" } }));
    assert!(result.summary.starts_with('{'), "{}", result.summary);
    assert_eq!(notes_on(&result, "summary"), ["missing → the whole reply was used"]);

    let result = typed(|reply| {
        reply.summary = " ".to_owned();
        reply.progress.summary = Some(" Half. ".to_owned());
    });
    assert_eq!((result.summary.as_str(), result.progress.summary.as_deref()), ("Half.", Some("Half.")));
    let result = typed(|reply| reply.summary.clear());
    assert_eq!(result.summary, "librarian completed without a summary");
    assert_eq!(notes_on(&result, "summary").len(), 1);
}

#[test]
fn numbers_are_finite_and_in_range() {
    let cases = [
        (0.0, Some(0.0), 0),
        (100.0, Some(100.0), 0),
        (33.3, Some(33.3), 0),
        (-1.0, Some(0.0), 1),
        (100.1, Some(100.0), 1),
        (f64::MAX, Some(100.0), 1),
        (f64::NAN, None, 1),
        (f64::INFINITY, None, 1),
        (f64::NEG_INFINITY, None, 1),
    ];
    for (said, percent, noted) in cases {
        let result = typed(|reply| reply.progress.percent = Some(said));
        assert_eq!(result.progress.percent, percent, "{said}");
        assert_eq!(notes_on(&result, "progress.percent").len(), noted, "{said}");
        let result = typed(|reply| {
            reply.review = Some(ReviewDecision { confidence: Some(said / 100.0), ..review(Verdict::Blocked) });
        });
        assert_eq!(result.review.unwrap().confidence, percent.map(|percent| percent / 100.0), "{said}");
    }
    for said in [json!("50"), json!([50]), json!(true)] {
        let result = from_json(&json!({ "summary": "S", "progress": { "status": "completed", "percent": said } }));
        assert_eq!(result.progress.percent, None);
        assert_eq!(notes_on(&result, "progress.percent"), ["not a number → dropped"]);
    }
}

#[test]
fn list_items_of_the_wrong_kind_are_dropped_and_counted() {
    let result = from_json(&json!({
        "summary": "S", "progress": { "status": "completed" },
        "risks": [" r ", "", " ", 1, null, {}], "nextQuestions": "why?", "findings": { "issue": "i" },
        "artifacts": [
            { "kind": "file", "uri": " /workspace/a " }, { "kind": "file" }, { "kind": "link", "uri": "/workspace/a" },
            { "uri": "/workspace/a" }, "/workspace/a", { "kind": "file", "uri": "src/a.rs" },
            { "kind": "artifact", "uri": "/artifacts/b", "label": " " },
        ],
    }));
    assert_eq!(result.risks, ["r"]);
    assert_eq!(notes_on(&result, "risks"), ["3 items: not a string → dropped", "2 items: blank → dropped"]);
    assert_eq!(notes_on(&result, "nextQuestions"), ["not a list → dropped"]);
    assert_eq!(notes_on(&result, "findings"), ["not a list → dropped"]);
    let uris: Vec<&str> = result.artifacts.iter().map(|artifact| artifact.uri.as_str()).collect();
    assert_eq!(uris, ["/workspace/a", "/artifacts/b"]);
    assert_eq!(result.artifacts[1].label, None);
    assert_eq!(
        notes_on(&result, "artifacts"),
        [
            "1 item: without a uri → dropped",
            "2 items: kind missing or unknown → dropped",
            "1 item: not an object → dropped",
            "1 item: path not below /workspace, /context or /artifacts → dropped",
        ]
    );
}

#[test]
fn findings_keep_what_is_sound_in_them() {
    let result = from_json(&json!({
        "summary": "S", "progress": { "status": "completed" },
        "findings": [
            { "issue": " i ", "severity": "critical", "line": 0, "file": "/workspace/src/a.rs" },
            { "issue": "j", "severity": "HIGH", "line": -3, "file": "../../etc/passwd" },
            { "issue": "k", "severity": "low", "line": 12.0, "file": "./b.rs" },
            { "issue": "l", "line": 1.5, "file": "/etc/passwd" },
            { "issue": "m", "severity": "low", "line": "7", "evidence": 4 },
            { "issue": "n", "severity": "low", "line": 4_294_967_296_u64 },
            { "issue": " ", "severity": "low" },
            { "severity": "low" },
        ],
    }));
    let seen: Vec<_> = result
        .findings
        .iter()
        .map(|finding| (finding.issue.as_str(), finding.severity, finding.file.as_deref(), finding.line))
        .collect();
    assert_eq!(
        seen,
        [
            ("i", Severity::Medium, Some("src/a.rs"), None),
            ("j", Severity::High, None, None),
            ("k", Severity::Low, Some("b.rs"), Some(12)),
            ("l", Severity::Medium, None, None),
            ("m", Severity::Low, None, None),
            ("n", Severity::Low, None, None),
        ]
    );
    assert_eq!(notes_on(&result, "findings.severity"), ["2 items: missing or unknown → set to medium"]);
    assert_eq!(notes_on(&result, "findings"), ["2 items: without an issue → dropped"]);
    assert_eq!(
        notes_on(&result, "findings.line"),
        ["4 items: not a line number → dropped", "1 item: 0, lines are counted from 1 → dropped"]
    );
    assert_eq!(
        notes_on(&result, "findings.file"),
        [
            "2 items: not a plain path below /workspace → made relative to it",
            "1 item: path with a `..` part → dropped",
            "1 item: absolute path outside /workspace → dropped",
        ]
    );
}

#[test]
fn unknown_fields_are_dropped_by_name() {
    let result = from_json(&json!({
        "summary": "S", "progress": { "status": "completed", "eta": 1 }, "transcript": "…", "notes": [],
        "findings": [{ "issue": "i", "severity": "low", "cwe": 1 }, { "issue": "j", "severity": "low", "cwe": 2 }],
    }));
    assert_eq!(notes_on(&result, "reply"), [r#"2 unknown fields: "notes", "transcript" → dropped"#]);
    assert_eq!(notes_on(&result, "progress"), [r#"1 unknown field: "eta" → dropped"#]);
    assert_eq!(notes_on(&result, "findings"), [r#"2 unknown fields: "cwe", … → dropped"#]);
}

#[test]
fn a_worker_that_never_answered_has_a_result_too() {
    let risks = ["tail of the log".to_owned(), "out of memory".to_owned(), " ".to_owned()];
    let result = normalise::failed(&handoff(), " out of memory\n", &risks);
    assert_settled(&handoff(), &result);
    assert_eq!(result.summary, "librarian worker failed: out of memory");
    assert_eq!(result.progress.status, TaskStatus::Failed);
    assert_eq!(result.risks, ["out of memory", "tail of the log"]);

    let result = normalise::blocked(&handoff(), "nobody supplies the diff");
    assert_settled(&handoff(), &result);
    assert_eq!(result.progress.status, TaskStatus::Blocked);
    assert_eq!(result.summary, "librarian worker is blocked: nobody supplies the diff");
    assert_eq!(result.risks, ["nobody supplies the diff"]);

    let long = normalise::failed(&handoff(), &"é".repeat(1_000_000), &[]);
    assert_settled(&handoff(), &long);
    assert_settled(&handoff(), &normalise::failed(&handoff(), " ", &[]));
}

#[test]
fn the_kind_of_a_reference_fits_its_path() {
    let reply = r#"{ "summary": "s", "artifacts": [
        { "kind": "artifact", "uri": "/workspace/a.rs" },
        { "kind": "thread", "uri": "/artifacts/b" },
        { "kind": "file", "uri": "/context/request.md" },
        { "kind": "thread", "uri": "/context/threads/x.md" }
    ] }"#;
    let result = normalise::reply_text(&handoff(), reply);
    let kinds: Vec<ContextRefKind> = result.artifacts.iter().map(|artifact| artifact.kind).collect();
    use ContextRefKind::{Artifact, File, Summary, Thread};
    assert_eq!(kinds, [File, Artifact, Summary, Thread]);
    assert_eq!(notes_on(&result, "artifacts.kind"), ["3 items: a kind that does not fit the path → set by the path"]);
}
