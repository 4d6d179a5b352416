//! What Brain knows of a change and a reviewer does not: a review counts only for what was shown.

use brain_packet::{Note, Verdict, WorkerResult};

/// Takes an approval back when part of the change was not shown to who gave it: `cut` says which part, and is none where
/// no change was handed over at all. A review of a part carries what is missing as residual risks in any case.
pub(crate) fn gate_review(mut result: WorkerResult, cut: Option<&[String]>) -> WorkerResult {
    let Some(review) = result.review.as_mut() else { return result };
    let approved = review.decision == Verdict::Approved;
    let not_shown = match cut {
        Some([]) => return result,
        Some(cut) => {
            review.residual_risks.extend(cut.iter().map(|part| format!("not shown to the reviewer: {part}")));
            cut.join("; ")
        }
        // That there was nothing to decide on, an honest reviewer says itself.
        None if !approved => return result,
        None => "no change was handed to it".to_owned(),
    };
    if approved {
        review.decision = Verdict::Blocked;
        review.blocking_issues.push(format!("the change was not shown whole to the reviewer: {not_shown}"));
        let what = "Not approved: the change was not shown whole to the reviewer";
        review.rationale = format!("{what}. It said: {}", review.rationale);
        result.summary = format!("{what} ({not_shown}).\n{}", result.summary);
        result.notes.push(Note {
            field: "review.decision".into(),
            problem: "approved, although the change was not shown whole".into(),
            action: "counted as blocked".into(),
        });
    } else {
        result.summary = format!("Part of the change was not shown to the reviewer ({not_shown}).\n{}", result.summary);
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
        let result = gate_review(reviewed(Verdict::Approved), Some(&["100 of 600 files".into()]));
        let review = result.review.unwrap();
        assert_eq!(review.decision, Verdict::Blocked);
        assert!(review.blocking_issues.first().unwrap().contains("100 of 600"));
        assert!(result.summary.starts_with("Not approved"));
        assert_eq!(result.notes.len(), 1);
    }

    #[test]
    fn other_verdicts_stand_and_carry_what_is_missing() {
        let result = gate_review(reviewed(Verdict::ChangesRequested), Some(&["x".into()]));
        assert!(result.summary.starts_with("Part of the change was not shown"));
        let review = result.review.unwrap();
        assert_eq!(review.decision, Verdict::ChangesRequested);
        assert_eq!(review.residual_risks, ["not shown to the reviewer: x"]);
    }

    #[test]
    fn a_whole_change_is_left_to_the_reviewer() {
        assert_eq!(gate_review(reviewed(Verdict::Approved), Some(&[])), reviewed(Verdict::Approved));
    }

    #[test]
    fn who_was_handed_no_change_cannot_approve_one() {
        let result = gate_review(reviewed(Verdict::Approved), None);
        assert_eq!(result.review.unwrap().decision, Verdict::Blocked);
        assert!(result.summary.contains("no change was handed to it"));
        let blocked = reviewed(Verdict::Blocked);
        assert_eq!(gate_review(blocked.clone(), None), blocked);
    }
}
