//! What a worker may answer, and what Brain makes of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use brain_packet::{
    ContextRef, ContextRefKind, CoverageStatus, Finding, Note, ReviewCoverage, ReviewDecision, Severity, TaskStatus,
    Verdict, WorkerResult, limits,
    normalise::{self, Reply},
};
use common::{assert_settled, handoff};
use serde_json::{Value, json};

fn from_json(reply: &Value) -> WorkerResult {
    let result = normalise::reply_text(&handoff(), &reply.to_string());
    assert_settled(&handoff(), &result);
    result
}

fn typed(change: impl FnOnce(&mut Reply)) -> WorkerResult {
    let mut reply = Reply::new(TaskStatus::Completed, "Done.");
    change(&mut reply);
    let result = normalise::reply(&handoff(), reply);
    assert_settled(&handoff(), &result);
    result
}

/// The notes on one field, as `problem → action`.
fn notes(result: &WorkerResult, field: &str) -> Vec<String> {
    let on_field = result.notes.iter().filter(|note| note.field == field);
    on_field.map(|note| format!("{} → {}", note.problem, note.action)).collect()
}

fn finding(issue: &str) -> Finding {
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

fn review(decision: Verdict) -> ReviewDecision {
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
            assert_eq!(notes(&result, "reply"), ["not a JSON object → its text became the summary"], "{text}");
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
    assert_eq!(notes(&result, "taskId"), [r#""\u{1b}other" is not the id that was handed over → Brain's id kept"#]);
    assert_eq!(notes(&result, "handoffId"), ["not a string → dropped"]);
    assert_eq!(notes(&result, "parentId"), [""; 0]);

    let mut other = handoff();
    other.id = "handoff-2".parse().unwrap();
    let answer = WorkerResult::answering(&other, TaskStatus::Completed, "S");
    let result = normalise::reply(&handoff(), answer);
    assert_settled(&handoff(), &result);
    assert_eq!(notes(&result, "handoffId").len(), 1);
}

#[test]
fn a_wrong_direction_in_a_reply_is_noted() {
    let result = from_json(&json!({ "summary": "S", "progress": { "status": "completed" }, "toLayer": "agent" }));
    assert_eq!(notes(&result, "toLayer"), [r#"not "brain" → a result goes from agent to brain"#]);
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
        assert_eq!(notes(&result, "progress.status").len(), noted, "{said}");
    }
    for said in [TaskStatus::Pending, TaskStatus::Running] {
        let result = typed(|reply| reply.progress.status = said);
        assert_eq!(result.progress.status, TaskStatus::Failed);
        assert!(notes(&result, "progress.status")[0].ends_with("after the worker had returned → counted as failed"));
    }
    for progress in [json!(null), json!("completed"), json!([])] {
        let result = from_json(&json!({ "summary": "S", "progress": progress }));
        assert_eq!(result.progress.status, TaskStatus::Completed);
        assert_eq!(notes(&result, "progress").len(), 1);
    }
}

#[test]
fn a_missing_summary_is_made_up_for() {
    let result = from_json(&json!({ "summary": "  ", "progress": { "status": "completed" } }));
    assert!(result.summary.starts_with('{'), "{}", result.summary);
    assert_eq!(notes(&result, "summary"), ["missing → the whole reply was used"]);

    let result = typed(|reply| {
        reply.summary = " ".to_owned();
        reply.progress.summary = Some(" Half. ".to_owned());
    });
    assert_eq!((result.summary.as_str(), result.progress.summary.as_deref()), ("Half.", Some("Half.")));
    let result = typed(|reply| reply.summary.clear());
    assert_eq!(result.summary, "librarian completed without a summary");
    assert_eq!(notes(&result, "summary").len(), 1);
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
        assert_eq!(notes(&result, "progress.percent").len(), noted, "{said}");
        let result = typed(|reply| {
            reply.review = Some(ReviewDecision { confidence: Some(said / 100.0), ..review(Verdict::Blocked) });
        });
        assert_eq!(result.review.unwrap().confidence, percent.map(|percent| percent / 100.0), "{said}");
    }
    for said in [json!("50"), json!([50]), json!(true)] {
        let result = from_json(&json!({ "summary": "S", "progress": { "status": "completed", "percent": said } }));
        assert_eq!(result.progress.percent, None);
        assert_eq!(notes(&result, "progress.percent"), ["not a number → dropped"]);
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
    assert_eq!(notes(&result, "risks"), ["3 items: not a string → dropped", "2 items: blank → dropped"]);
    assert_eq!(notes(&result, "nextQuestions"), ["not a list → dropped"]);
    assert_eq!(notes(&result, "findings"), ["not a list → dropped"]);
    let uris: Vec<&str> = result.artifacts.iter().map(|artifact| artifact.uri.as_str()).collect();
    assert_eq!(uris, ["/workspace/a", "/artifacts/b"]);
    assert_eq!(result.artifacts[1].label, None);
    assert_eq!(
        notes(&result, "artifacts"),
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
    assert_eq!(notes(&result, "findings.severity"), ["2 items: missing or unknown → set to medium"]);
    assert_eq!(notes(&result, "findings"), ["2 items: without an issue → dropped"]);
    assert_eq!(
        notes(&result, "findings.line"),
        ["4 items: not a line number → dropped", "1 item: 0, lines are counted from 1 → dropped"]
    );
    assert_eq!(
        notes(&result, "findings.file"),
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
    assert_eq!(notes(&result, "reply"), [r#"2 unknown fields: "notes", "transcript" → dropped"#]);
    assert_eq!(notes(&result, "progress"), [r#"1 unknown field: "eta" → dropped"#]);
    assert_eq!(notes(&result, "findings"), [r#"2 unknown fields: "cwe", … → dropped"#]);
}

#[test]
fn a_review_that_does_not_decide_is_not_approved() {
    let undecided = [json!("APPROVED"), json!(" approved "), json!("lgtm"), json!(""), json!(true), json!(null)];
    for said in undecided {
        for (status, verdict) in [("completed", Verdict::ChangesRequested), ("failed", Verdict::Blocked)] {
            let progress = json!({ "status": status });
            let nested = json!({ "summary": "S", "progress": progress, "review": { "decision": said } });
            let beside = json!({ "summary": "S", "progress": progress, "decision": said, "rationale": "R" });
            for reply in [nested, beside] {
                let review = from_json(&reply).review.expect("a review");
                assert_eq!(review.decision, verdict, "{reply}");
                assert!(review.required_changes[0].contains("no explicit structured decision"), "{reply}");
            }
        }
    }
    for said in [json!("approved"), json!(true), json!([])] {
        let result = from_json(&json!({ "summary": "S", "progress": { "status": "completed" }, "review": said }));
        assert_eq!(result.review.unwrap().decision, Verdict::ChangesRequested);
    }
}

#[test]
fn a_review_that_was_asked_for_is_always_there() {
    for (status, verdict) in [
        (TaskStatus::Completed, Verdict::ChangesRequested),
        (TaskStatus::Blocked, Verdict::Blocked),
        (TaskStatus::Failed, Verdict::Blocked),
        (TaskStatus::Running, Verdict::Blocked),
    ] {
        let result = typed(|reply| {
            reply.progress.status = status;
            reply.risks = vec!["r".to_owned(); 2];
        });
        let result = normalise::expect_review(result);
        assert_settled(&handoff(), &result);
        assert_eq!(notes(&result, "review"), ["absent, although a review was asked for → counted as not approved"]);
        let review = result.review.clone().unwrap();
        assert_eq!((review.decision, review.residual_risks), (verdict, vec!["r".to_owned()]));
        assert_eq!(review.required_changes.len(), 1);
        assert_eq!(normalise::expect_review(result.clone()), result);
        assert_eq!(normalise::reply(&handoff(), result.clone()), result);
    }
    let approved = typed(|reply| reply.review = Some(review(Verdict::Approved)));
    assert_eq!(normalise::expect_review(approved.clone()), approved);
    let plain = normalise::expect_review(normalise::reply_text(&handoff(), "Looks good, approved!"));
    assert_eq!(plain.review.unwrap().decision, Verdict::ChangesRequested);
}

#[test]
fn an_approval_that_contradicts_itself_is_none() {
    let sound = typed(|reply| reply.review = Some(review(Verdict::Approved)));
    assert_eq!(sound.review.unwrap().decision, Verdict::Approved);
    assert_eq!(sound.notes, []);

    for status in [TaskStatus::Failed, TaskStatus::Blocked, TaskStatus::Running, TaskStatus::Pending] {
        let result = typed(|reply| {
            reply.progress.status = status;
            reply.review = Some(review(Verdict::Approved));
        });
        assert_eq!(result.review.as_ref().unwrap().decision, Verdict::Blocked);
        assert_eq!(notes(&result, "review.decision").len(), 1);
    }
    let items = || vec!["x".to_owned()];
    let blocking = ReviewDecision { blocking_issues: items(), ..review(Verdict::Approved) };
    let changes = ReviewDecision { required_changes: items(), ..review(Verdict::Approved) };
    let blank = ReviewDecision { required_changes: vec![" ".to_owned()], ..review(Verdict::Approved) };
    for (review, verdict) in
        [(blocking, Verdict::Blocked), (changes, Verdict::ChangesRequested), (blank, Verdict::Approved)]
    {
        let result = typed(|reply| reply.review = Some(review));
        assert_eq!(result.review.unwrap().decision, verdict);
    }
}

#[test]
fn a_review_is_read_from_either_place_and_completed() {
    let result = from_json(&json!({
        "summary": "S", "progress": { "status": "completed" }, "risks": ["one", "two"],
        "decision": "changes_requested", "confidence": 7, "requiredChanges": ["c"], "blockingIssues": null,
        "residualRisks": ["two", "three", "two"],
        "coverage": [
            { "file": "/workspace/a.rs", "status": "inspected" },
            { "file": "a.rs", "status": "skipped", "reason": "too big" },
            { "file": "b.rs", "status": "looked at" }, { "status": "inspected" }, { "file": "../c", "status": "inspected" },
        ],
    }));
    let review = result.review.clone().unwrap();
    assert_eq!((review.decision, review.confidence), (Verdict::ChangesRequested, Some(1.0)));
    assert_eq!(review.rationale, "S");
    assert_eq!(review.required_changes, ["c"]);
    assert_eq!(review.residual_risks, ["two", "three", "one"]);
    let skipped = ReviewCoverage {
        file: "a.rs".to_owned(),
        status: CoverageStatus::Skipped,
        reason: Some("too big".to_owned()),
    };
    assert_eq!(review.coverage, [skipped]);
    assert_eq!(notes(&result, "review.residualRisks"), ["1 item: said twice → dropped"]);
    assert!(!notes(&result, "review.coverage").is_empty());

    let other = from_json(&json!({ "summary": "S", "progress": { "status": "completed" }, "confidence": 0.5 }));
    assert_eq!(other.review, None);
    assert_eq!(notes(&other, "reply"), [r#"1 unknown field: "confidence" → dropped"#]);
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
fn strings_are_cut_at_their_limits_and_say_so() {
    use limits::*;
    type Field = (&'static str, usize, fn(&mut Reply, String), fn(&WorkerResult) -> String);
    let fields: [Field; 12] = [
        ("summary", MAX_SUMMARY_CHARS, |r, s| r.summary = s, |r| r.summary.clone()),
        ("progress.summary", MAX_SUMMARY_CHARS, |r, s| r.progress.summary = Some(s), |r| {
            r.progress.summary.clone().unwrap()
        }),
        ("progress.currentStep", MAX_STEP_CHARS, |r, s| r.progress.current_step = Some(s), |r| {
            r.progress.current_step.clone().unwrap()
        }),
        ("progress.completedSteps", MAX_STEP_CHARS, |r, s| r.progress.completed_steps = vec![s], |r| {
            r.progress.completed_steps[0].clone()
        }),
        ("risks", MAX_ITEM_CHARS, |r, s| r.risks = vec![s], |r| r.risks[0].clone()),
        ("nextQuestions", MAX_ITEM_CHARS, |r, s| r.next_questions = vec![s], |r| r.next_questions[0].clone()),
        ("artifacts.label", MAX_LABEL_CHARS, |r, s| {
            r.artifacts = vec![ContextRef::new(ContextRefKind::File, "/workspace/a").labelled(s)];
        }, |r| r.artifacts[0].label.clone().unwrap()),
        ("findings.issue", MAX_ISSUE_CHARS, |r, s| r.findings = vec![finding(&s)], |r| r.findings[0].issue.clone()),
        ("findings.evidence", MAX_EVIDENCE_CHARS, |r, s| {
            r.findings = vec![Finding { evidence: Some(s), ..finding("i") }];
        }, |r| r.findings[0].evidence.clone().unwrap()),
        ("findings.suggestion", MAX_SUGGESTION_CHARS, |r, s| {
            r.findings = vec![Finding { suggestion: Some(s), ..finding("i") }];
        }, |r| r.findings[0].suggestion.clone().unwrap()),
        ("review.rationale", MAX_RATIONALE_CHARS, |r, s| {
            r.review = Some(ReviewDecision { rationale: s, ..review(Verdict::Blocked) });
        }, |r| r.review.clone().unwrap().rationale),
        ("review.coverage.reason", MAX_REASON_CHARS, |r, s| {
            let entry = ReviewCoverage { file: "a".to_owned(), status: CoverageStatus::Skipped, reason: Some(s) };
            r.review = Some(ReviewDecision { coverage: vec![entry], ..review(Verdict::Blocked) });
        }, |r| r.review.clone().unwrap().coverage[0].reason.clone().unwrap()),
    ];
    for (field, limit, set, get) in fields {
        let fits = typed(|reply| set(reply, "é".repeat(limit)));
        assert_eq!(get(&fits), "é".repeat(limit), "{field}");
        assert_eq!(fits.notes, [], "{field}");
        let cut = typed(|reply| set(reply, "é".repeat(limit + 1)));
        assert_eq!(get(&cut), format!("{}…", "é".repeat(limit - 1)), "{field}");
        assert_eq!(notes(&cut, field).len(), 1, "{field}");
    }
}

#[test]
fn lists_are_cut_at_their_limits_and_say_so() {
    use limits::*;
    type Field = (&'static str, usize, fn(&mut Reply, Vec<String>), fn(&WorkerResult) -> usize);
    let fields: [Field; 9] = [
        ("progress.completedSteps", MAX_COMPLETED_STEPS, |r, l| r.progress.completed_steps = l, |r| {
            r.progress.completed_steps.len()
        }),
        ("risks", MAX_RISKS, |r, l| r.risks = l, |r| r.risks.len()),
        ("nextQuestions", MAX_NEXT_QUESTIONS, |r, l| r.next_questions = l, |r| r.next_questions.len()),
        ("artifacts", MAX_ARTIFACTS, |r, l| {
            let refs = l.iter().map(|name| ContextRef::new(ContextRefKind::File, format!("/workspace/{name}")));
            r.artifacts = refs.collect();
        }, |r| r.artifacts.len()),
        ("findings", MAX_FINDINGS, |r, l| r.findings = l.iter().map(|s| finding(s)).collect(), |r| r.findings.len()),
        ("review.requiredChanges", MAX_REVIEW_ITEMS, |r, l| {
            r.review = Some(ReviewDecision { required_changes: l, ..review(Verdict::Blocked) });
        }, |r| r.review.clone().unwrap().required_changes.len()),
        ("review.blockingIssues", MAX_REVIEW_ITEMS, |r, l| {
            r.review = Some(ReviewDecision { blocking_issues: l, ..review(Verdict::Blocked) });
        }, |r| r.review.clone().unwrap().blocking_issues.len()),
        ("review.residualRisks", MAX_REVIEW_ITEMS, |r, l| {
            r.risks = vec!["a risk of the result".to_owned()];
            r.review = Some(ReviewDecision { residual_risks: l, ..review(Verdict::Blocked) });
        }, |r| r.review.clone().unwrap().residual_risks.len()),
        ("review.coverage", MAX_COVERAGE, |r, l| {
            let entry = |file| ReviewCoverage { file, status: CoverageStatus::Inspected, reason: None };
            r.review = Some(ReviewDecision { coverage: l.into_iter().map(entry).collect(), ..review(Verdict::Blocked) });
        }, |r| r.review.clone().unwrap().coverage.len()),
    ];
    let items = |count: usize| (0..count).map(|n| format!("n{n}")).collect::<Vec<_>>();
    for (field, limit, set, get) in fields {
        let fits = typed(|reply| set(reply, items(limit)));
        assert_eq!((get(&fits), fits.notes.len()), (limit, 0), "{field}");
        let cut = typed(|reply| set(reply, items(limit + 3)));
        assert_eq!(get(&cut), limit, "{field}");
        let note = format!("{} items, the most is {limit} → the first {limit} kept, 3 dropped", limit + 3);
        assert_eq!(notes(&cut, field), [note], "{field}");
        assert_eq!(normalise::reply(&handoff(), cut.clone()), cut, "{field}");
    }
}

#[test]
fn a_name_that_is_too_long_is_dropped_and_not_cut() {
    let long = "x".repeat(limits::MAX_URI_CHARS + 1);
    let result = typed(|reply| {
        let rule = Some("r".repeat(limits::MAX_RULE_CHARS + 1));
        reply.findings = vec![Finding { rule, file: Some(long.clone()), ..finding("i") }];
        reply.artifacts = vec![ContextRef::new(ContextRefKind::File, format!("/workspace/{long}"))];
    });
    assert_eq!((&result.findings[0].rule, &result.findings[0].file), (&None, &None));
    assert!(result.artifacts.is_empty());
    assert_eq!(result.notes.len(), 3);
}

#[test]
fn many_repairs_make_few_notes() {
    let result = typed(|reply| {
        reply.risks = vec![" ".to_owned(); 100_000];
        reply.findings = vec![Finding { line: Some(0), file: Some("..".to_owned()), ..finding("i") }; 100_000];
    });
    assert!(result.notes.len() <= 4, "{:?}", result.notes);
    assert_eq!(notes(&result, "risks"), ["100000 items: blank → dropped"]);

    let text = json!({ "summary": "S", "progress": {}, "risks": vec![1; 200_000] }).to_string();
    let result = normalise::reply_text(&handoff(), &text);
    assert_eq!(notes(&result, "risks"), ["200000 items: not a string → dropped"]);
    let fields: serde_json::Map<String, Value> = (0..20_000).map(|n| (format!("f{n}"), json!(n))).collect();
    let result = normalise::reply_text(&handoff(), &Value::Object(fields).to_string());
    assert!(notes(&result, "reply")[0].starts_with("20000 unknown fields: "));
    assert!(notes(&result, "reply")[0].ends_with(", … → dropped"));
}

#[test]
fn notes_are_bounded_and_the_rest_is_counted() {
    let note = |n: usize| Note { field: format!("f{n}"), problem: "p".repeat(999), action: "a".to_owned() };
    let full = typed(|reply| reply.notes = (0..limits::MAX_NOTES).map(note).collect());
    assert_eq!(full.notes.len(), limits::MAX_NOTES);
    assert_eq!(full.notes[limits::MAX_NOTES - 1].field, format!("f{}", limits::MAX_NOTES - 1));

    let over = typed(|reply| {
        reply.notes = (0..limits::MAX_NOTES).map(note).collect();
        reply.summary.clear();
        reply.progress.percent = Some(-1.0);
    });
    assert_eq!(over.notes.len(), limits::MAX_NOTES);
    assert_eq!(notes(&over, "notes"), ["3 more repairs → counted, not listed"]);
    assert_eq!(normalise::reply(&handoff(), over.clone()), over);
}

#[test]
fn a_reply_over_the_limit_is_not_parsed() {
    let pad = limits::MAX_REPLY_BYTES - r#"{"summary":"S","x":""}"#.len();
    let fits = format!(r#"{{"summary":"S","x":"{}"}}"#, "y".repeat(pad));
    assert_eq!(fits.len(), limits::MAX_REPLY_BYTES);
    assert_eq!(normalise::reply_text(&handoff(), &fits).summary, "S");
    let over = fits.replacen('y', "yy", 1);
    let result = normalise::reply_text(&handoff(), &over);
    assert_settled(&handoff(), &result);
    assert_eq!(result.summary.chars().count(), limits::MAX_SUMMARY_CHARS);
    assert!(notes(&result, "reply")[0].starts_with("1048577 bytes"), "{:?}", result.notes);
}
