//! What a reviewer may answer, and that no repair approves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use brain_packet::{CoverageStatus, ReviewCoverage, ReviewDecision, TaskStatus, Verdict, normalise};
use common::{assert_settled, from_json, handoff, notes_on, review, typed};
use serde_json::json;

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
        assert_eq!(notes_on(&result, "review"), ["absent, although a review was asked for → counted as not approved"]);
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
        assert_eq!(notes_on(&result, "review.decision").len(), 1);
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
    let skipped =
        ReviewCoverage { file: "a.rs".to_owned(), status: CoverageStatus::Skipped, reason: Some("too big".to_owned()) };
    assert_eq!(review.coverage, [skipped]);
    assert_eq!(notes_on(&result, "review.residualRisks"), ["1 item: said twice → dropped"]);
    assert!(!notes_on(&result, "review.coverage").is_empty());

    let other = from_json(&json!({ "summary": "S", "progress": { "status": "completed" }, "confidence": 0.5 }));
    assert_eq!(other.review, None);
    assert_eq!(notes_on(&other, "reply"), [r#"1 unknown field: "confidence" → dropped"#]);
}
