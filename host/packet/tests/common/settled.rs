//! What holds for every normalised result. The fuzz targets include this file, so it uses `brain_packet` alone.

use brain_packet::{HandoffPacket, TaskStatus, Verdict, WorkerResult, limits};

/// Fails when any part of a result is over its limit, or is not as a normalised result promises.
pub fn assert_settled(handoff: &HandoffPacket, result: &WorkerResult) {
    fn text(field: &str, text: &str, limit: usize) {
        assert!(text.chars().count() <= limit, "{field} is over {limit}");
        assert!(!text.trim().is_empty(), "{field} is blank");
        assert_eq!(text, text.trim(), "{field} is not trimmed");
    }
    fn optional(field: &str, value: Option<&String>, limit: usize) {
        if let Some(value) = value {
            text(field, value, limit);
        }
    }
    fn list(field: &str, values: &[String], most: usize, limit: usize) {
        assert!(values.len() <= most, "{field} has over {most} items");
        values.iter().for_each(|value| text(field, value, limit));
    }
    fn file(path: &str) {
        assert!(!path.starts_with(['/', '\\']) && !path.contains('\0'), "{path:?}");
        assert!(path.split(['/', '\\']).all(|part| part != ".."), "{path:?}");
        assert!(path.split('/').all(|part| !matches!(part, "" | ".")), "{path:?}");
        assert!(path.chars().count() <= limits::MAX_FILE_CHARS);
    }

    assert_eq!(result.handoff_id, handoff.id);
    assert_eq!(result.task_id, handoff.task.id);
    assert_eq!(result.parent_id, handoff.task.parent_id);

    assert!(result.progress.status.has_ended());
    text("summary", &result.summary, limits::MAX_SUMMARY_CHARS);
    assert!(result.progress.summary.is_some());
    optional("progress.summary", result.progress.summary.as_ref(), limits::MAX_SUMMARY_CHARS);
    optional("progress.currentStep", result.progress.current_step.as_ref(), limits::MAX_STEP_CHARS);
    list("completedSteps", &result.progress.completed_steps, limits::MAX_COMPLETED_STEPS, limits::MAX_STEP_CHARS);
    assert!(result.progress.percent.is_none_or(|percent| (0.0..=100.0).contains(&percent)));

    assert!(result.artifacts.len() <= limits::MAX_ARTIFACTS);
    for artifact in &result.artifacts {
        let below = ["/workspace/", "/context/", "/artifacts/"].iter().find_map(|root| artifact.uri.strip_prefix(root));
        file(below.unwrap_or_else(|| panic!("{:?}", artifact.uri)));
        assert!(artifact.uri.chars().count() <= limits::MAX_URI_CHARS);
        optional("label", artifact.label.as_ref(), limits::MAX_LABEL_CHARS);
    }
    list("risks", &result.risks, limits::MAX_RISKS, limits::MAX_ITEM_CHARS);
    list("nextQuestions", &result.next_questions, limits::MAX_NEXT_QUESTIONS, limits::MAX_ITEM_CHARS);

    assert!(result.findings.len() <= limits::MAX_FINDINGS);
    for finding in &result.findings {
        text("issue", &finding.issue, limits::MAX_ISSUE_CHARS);
        optional("rule", finding.rule.as_ref(), limits::MAX_RULE_CHARS);
        optional("evidence", finding.evidence.as_ref(), limits::MAX_EVIDENCE_CHARS);
        optional("suggestion", finding.suggestion.as_ref(), limits::MAX_SUGGESTION_CHARS);
        assert_ne!(finding.line, Some(0));
        finding.file.iter().for_each(|path| file(path));
    }

    if let Some(review) = &result.review {
        text("rationale", &review.rationale, limits::MAX_RATIONALE_CHARS);
        list("requiredChanges", &review.required_changes, limits::MAX_REVIEW_ITEMS, limits::MAX_ITEM_CHARS);
        list("blockingIssues", &review.blocking_issues, limits::MAX_REVIEW_ITEMS, limits::MAX_ITEM_CHARS);
        list("residualRisks", &review.residual_risks, limits::MAX_REVIEW_ITEMS, limits::MAX_ITEM_CHARS);
        assert!(review.confidence.is_none_or(|confidence| (0.0..=1.0).contains(&confidence)));
        assert!(review.coverage.len() <= limits::MAX_COVERAGE);
        for entry in &review.coverage {
            file(&entry.file);
            optional("reason", entry.reason.as_ref(), limits::MAX_REASON_CHARS);
        }
        if review.decision == Verdict::Approved {
            assert_eq!(result.progress.status, TaskStatus::Completed);
            assert!(review.required_changes.is_empty() && review.blocking_issues.is_empty());
        }
    }

    assert!(result.notes.len() <= limits::MAX_NOTES);
    for note in &result.notes {
        for text in [&note.field, &note.problem, &note.action] {
            assert!(text.chars().count() <= limits::MAX_NOTE_CHARS);
        }
    }
}
