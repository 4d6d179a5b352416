//! What Brain knows of a change and a reviewer does not: a review counts only for what was shown.

use brain_packet::{Note, Verdict, WorkerResult};

/// Takes an approval back when `cut` says that part of the change was not shown to the reviewer. In any case the review
/// then carries what is missing as residual risks.
pub(crate) fn gate_review(mut result: WorkerResult, cut: &[String]) -> WorkerResult {
    let Some(review) = result.review.as_mut().filter(|_| !cut.is_empty()) else {
        return result;
    };
    review.residual_risks.extend(cut.iter().map(|part| format!("not shown to the reviewer: {part}")));
    let not_shown = cut.join("; ");
    if review.decision != Verdict::Approved {
        result.summary = format!("Part of the change was not shown to the reviewer ({not_shown}).\n{}", result.summary);
    } else {
        review.decision = Verdict::Blocked;
        review.blocking_issues.push(format!("part of the change was not shown to the reviewer: {not_shown}"));
        let what = "Not approved: part of the change was not shown to the reviewer";
        review.rationale = format!("{what}. Of the rest it said: {}", review.rationale);
        result.summary = format!("{what} ({not_shown}).\n{}", result.summary);
        result.notes.push(Note {
            field: "review.decision".into(),
            problem: "approved, although part of the change was not shown".into(),
            action: "counted as blocked".into(),
        });
    }
    result
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use brain_packet::{AgentTaskContext, HandoffPacket, ReviewDecision, TaskStatus};

    fn reviewed(decision: Verdict) -> WorkerResult {
        let task =
            AgentTaskContext::new("t".parse().unwrap(), "s".parse().unwrap(), "review".parse().unwrap(), "review it");
        let handoff = HandoffPacket::new("h".parse().unwrap(), task, "");
        let mut result = WorkerResult::answering(&handoff, TaskStatus::Completed, "Approved.");
        result.review = Some(ReviewDecision {
            decision,
            confidence: None,
            rationale: "fine".into(),
            required_changes: vec![],
            blocking_issues: vec![],
            residual_risks: vec![],
            coverage: vec![],
        });
        result
    }

    #[test]
    fn an_approval_of_part_of_a_change_is_taken_back() {
        let result = gate_review(reviewed(Verdict::Approved), &["100 of 600 files".into()]);
        let review = result.review.unwrap();
        assert_eq!(review.decision, Verdict::Blocked);
        assert!(review.blocking_issues.first().unwrap().contains("100 of 600"));
        assert!(result.summary.starts_with("Not approved"));
        assert_eq!(result.notes.len(), 1);
    }

    #[test]
    fn other_verdicts_stand_and_carry_what_is_missing() {
        let result = gate_review(reviewed(Verdict::ChangesRequested), &["x".into()]);
        assert!(result.summary.starts_with("Part of the change was not shown"));
        let review = result.review.unwrap();
        assert_eq!(review.decision, Verdict::ChangesRequested);
        assert_eq!(review.residual_risks, ["not shown to the reviewer: x"]);
    }

    #[test]
    fn a_whole_change_is_left_to_the_reviewer() {
        assert_eq!(gate_review(reviewed(Verdict::Approved), &[]), reviewed(Verdict::Approved));
    }
}
