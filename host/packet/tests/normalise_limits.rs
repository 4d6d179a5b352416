//! Every limit, filled to the brim and past it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use brain_packet::{
    ContextRef, ContextRefKind, CoverageStatus, Finding, Note, ReviewCoverage, ReviewDecision, Verdict, WorkerResult,
    limits,
    normalise::{self, Reply},
};
use common::{assert_settled, finding, handoff, notes_on, review, typed};
use serde_json::{Value, json};

#[test]
fn strings_are_cut_at_their_limits_and_say_so() {
    use limits::*;
    type Field = (&'static str, usize, fn(&mut Reply, String), fn(&WorkerResult) -> String);
    let fields: [Field; 12] = [
        ("summary", MAX_SUMMARY_CHARS, |r, s| r.summary = s, |r| r.summary.clone()),
        (
            "progress.summary",
            MAX_SUMMARY_CHARS,
            |r, s| r.progress.summary = Some(s),
            |r| r.progress.summary.clone().unwrap(),
        ),
        (
            "progress.currentStep",
            MAX_STEP_CHARS,
            |r, s| r.progress.current_step = Some(s),
            |r| r.progress.current_step.clone().unwrap(),
        ),
        (
            "progress.completedSteps",
            MAX_STEP_CHARS,
            |r, s| r.progress.completed_steps = vec![s],
            |r| r.progress.completed_steps[0].clone(),
        ),
        ("risks", MAX_ITEM_CHARS, |r, s| r.risks = vec![s], |r| r.risks[0].clone()),
        ("nextQuestions", MAX_ITEM_CHARS, |r, s| r.next_questions = vec![s], |r| r.next_questions[0].clone()),
        (
            "artifacts.label",
            MAX_LABEL_CHARS,
            |r, s| {
                r.artifacts = vec![ContextRef::new(ContextRefKind::File, "/workspace/a").labelled(s)];
            },
            |r| r.artifacts[0].label.clone().unwrap(),
        ),
        ("findings.issue", MAX_ISSUE_CHARS, |r, s| r.findings = vec![finding(&s)], |r| r.findings[0].issue.clone()),
        (
            "findings.evidence",
            MAX_EVIDENCE_CHARS,
            |r, s| {
                r.findings = vec![Finding { evidence: Some(s), ..finding("i") }];
            },
            |r| r.findings[0].evidence.clone().unwrap(),
        ),
        (
            "findings.suggestion",
            MAX_SUGGESTION_CHARS,
            |r, s| {
                r.findings = vec![Finding { suggestion: Some(s), ..finding("i") }];
            },
            |r| r.findings[0].suggestion.clone().unwrap(),
        ),
        (
            "review.rationale",
            MAX_RATIONALE_CHARS,
            |r, s| {
                r.review = Some(ReviewDecision { rationale: s, ..review(Verdict::Blocked) });
            },
            |r| r.review.clone().unwrap().rationale,
        ),
        (
            "review.coverage.reason",
            MAX_REASON_CHARS,
            |r, s| {
                let entry = ReviewCoverage { file: "a".to_owned(), status: CoverageStatus::Skipped, reason: Some(s) };
                r.review = Some(ReviewDecision { coverage: vec![entry], ..review(Verdict::Blocked) });
            },
            |r| r.review.clone().unwrap().coverage[0].reason.clone().unwrap(),
        ),
    ];
    for (field, limit, set, get) in fields {
        let fits = typed(|reply| set(reply, "é".repeat(limit)));
        assert_eq!(get(&fits), "é".repeat(limit), "{field}");
        assert_eq!(fits.notes, [], "{field}");
        let cut = typed(|reply| set(reply, "é".repeat(limit + 1)));
        assert_eq!(get(&cut), format!("{}…", "é".repeat(limit - 1)), "{field}");
        assert_eq!(notes_on(&cut, field).len(), 1, "{field}");
    }
}

#[test]
fn lists_are_cut_at_their_limits_and_say_so() {
    use limits::*;
    type Field = (&'static str, usize, fn(&mut Reply, Vec<String>), fn(&WorkerResult) -> usize);
    let fields: [Field; 9] = [
        (
            "progress.completedSteps",
            MAX_COMPLETED_STEPS,
            |r, l| r.progress.completed_steps = l,
            |r| r.progress.completed_steps.len(),
        ),
        ("risks", MAX_RISKS, |r, l| r.risks = l, |r| r.risks.len()),
        ("nextQuestions", MAX_NEXT_QUESTIONS, |r, l| r.next_questions = l, |r| r.next_questions.len()),
        (
            "artifacts",
            MAX_ARTIFACTS,
            |r, l| {
                let refs = l.iter().map(|name| ContextRef::new(ContextRefKind::File, format!("/workspace/{name}")));
                r.artifacts = refs.collect();
            },
            |r| r.artifacts.len(),
        ),
        ("findings", MAX_FINDINGS, |r, l| r.findings = l.iter().map(|s| finding(s)).collect(), |r| r.findings.len()),
        (
            "review.requiredChanges",
            MAX_REVIEW_ITEMS,
            |r, l| {
                r.review = Some(ReviewDecision { required_changes: l, ..review(Verdict::Blocked) });
            },
            |r| r.review.clone().unwrap().required_changes.len(),
        ),
        (
            "review.blockingIssues",
            MAX_REVIEW_ITEMS,
            |r, l| {
                r.review = Some(ReviewDecision { blocking_issues: l, ..review(Verdict::Blocked) });
            },
            |r| r.review.clone().unwrap().blocking_issues.len(),
        ),
        (
            "review.residualRisks",
            MAX_REVIEW_ITEMS,
            |r, l| {
                r.risks = vec!["a risk of the result".to_owned()];
                r.review = Some(ReviewDecision { residual_risks: l, ..review(Verdict::Blocked) });
            },
            |r| r.review.clone().unwrap().residual_risks.len(),
        ),
        (
            "review.coverage",
            MAX_COVERAGE,
            |r, l| {
                let entry = |file| ReviewCoverage { file, status: CoverageStatus::Inspected, reason: None };
                r.review =
                    Some(ReviewDecision { coverage: l.into_iter().map(entry).collect(), ..review(Verdict::Blocked) });
            },
            |r| r.review.clone().unwrap().coverage.len(),
        ),
    ];
    let items = |count: usize| (0..count).map(|n| format!("n{n}")).collect::<Vec<_>>();
    for (field, limit, set, get) in fields {
        let fits = typed(|reply| set(reply, items(limit)));
        assert_eq!((get(&fits), fits.notes.len()), (limit, 0), "{field}");
        let cut = typed(|reply| set(reply, items(limit + 3)));
        assert_eq!(get(&cut), limit, "{field}");
        let note = format!("{} items, the most is {limit} → the first {limit} kept, 3 dropped", limit + 3);
        assert_eq!(notes_on(&cut, field), [note], "{field}");
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
    assert_eq!(notes_on(&result, "risks"), ["100000 items: blank → dropped"]);

    let text = json!({ "summary": "S", "progress": {}, "risks": vec![1; 200_000] }).to_string();
    let result = normalise::reply_text(&handoff(), &text);
    assert_eq!(notes_on(&result, "risks"), ["200000 items: not a string → dropped"]);
    let fields: serde_json::Map<String, Value> = (0..20_000).map(|n| (format!("f{n}"), json!(n))).collect();
    let result = normalise::reply_text(&handoff(), &Value::Object(fields).to_string());
    assert!(notes_on(&result, "reply")[0].starts_with("20000 unknown fields: "));
    assert!(notes_on(&result, "reply")[0].ends_with(", … → dropped"));
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
    assert_eq!(notes_on(&over, "notes"), ["3 more repairs → counted, not listed"]);
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
    assert!(notes_on(&result, "reply")[0].starts_with("1048577 bytes"), "{:?}", result.notes);
}
