//! What Brain knows of a change and a reviewer does not: a review counts only for what was shown, and an approval does not
//! stand beside a finding of high severity, whoever reports it.

use brain_packet::{Note, ReviewDecision, Severity, Verdict, WorkerResult};

use crate::report::ReportFinding;

/// Findings that are made required changes one by one; the rest is counted.
const MAX_REQUIRED: usize = 20;

/// Takes an approval back that stands beside findings of high severity, and tells who reports them. Reviewers work side by
/// side with other roles, and judge a change where others look at all of a project: only Brain has both.
pub(crate) fn gate_findings(review: &mut ReviewDecision, findings: &[ReportFinding]) -> Option<String> {
    let high: Vec<&ReportFinding> = findings.iter().filter(|f| f.finding.severity == Severity::High).collect();
    if review.decision != Verdict::Approved || high.is_empty() {
        return None;
    }
    let mut roles: Vec<&str> = high.iter().flat_map(|found| &found.roles).map(|role| role.as_str()).collect();
    roles.sort_unstable();
    roles.dedup();
    let (verb, number) = (if roles.len() == 1 { "reports" } else { "report" }, high.len());
    let findings = if number == 1 { "1 finding".to_owned() } else { format!("{number} findings") };
    let beside = format!("{} {verb} {findings} of high severity", roles.join(" and "));
    review.decision = Verdict::ChangesRequested;
    review.confidence = None;
    review.rationale = format!("Not approved: {beside}. The reviewer said: {}", review.rationale);
    review.required_changes.extend(high.iter().take(MAX_REQUIRED).map(|found| {
        let f = &found.finding;
        let place = match (&f.file, f.line) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            (Some(file), None) => format!("{file}: "),
            (None, _) => String::new(),
        };
        format!("{place}{}", f.issue)
    }));
    if number > MAX_REQUIRED {
        review.required_changes.push(format!("{} more findings of high severity", number - MAX_REQUIRED));
    }
    Some(beside)
}

/// The field that a note on an approval that does not count is about.
pub const REVIEW_DECISION: &str = "review.decision";

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
            field: REVIEW_DECISION.into(),
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

    fn found(severity: Severity, role: &str) -> ReportFinding {
        let finding = brain_packet::Finding {
            severity,
            rule: None,
            issue: "bad".into(),
            file: Some("a.py".into()),
            line: Some(3),
            evidence: None,
            suggestion: None,
        };
        ReportFinding { roles: vec![role.parse().unwrap()], finding }
    }

    #[test]
    fn an_approval_does_not_stand_beside_a_high_finding_of_whoever() {
        let mut review = reviewed(Verdict::Approved).review.unwrap();
        let few = [found(Severity::High, "security"), found(Severity::High, "licences"), found(Severity::Low, "qa")];
        let beside = gate_findings(&mut review, &few).unwrap();
        assert_eq!(beside, "licences and security report 2 findings of high severity");
        assert_eq!(review.decision, Verdict::ChangesRequested);
        assert_eq!(review.required_changes, ["a.py:3: bad", "a.py:3: bad"]);
        assert!(review.rationale.starts_with("Not approved: ") && review.rationale.ends_with("fine"));

        let mut review = reviewed(Verdict::Approved).review.unwrap();
        let many: Vec<_> = (0..MAX_REQUIRED + 3).map(|_| found(Severity::High, "security")).collect();
        gate_findings(&mut review, &many).unwrap();
        assert_eq!(review.required_changes.last().unwrap(), "3 more findings of high severity");
    }

    #[test]
    fn other_findings_and_other_verdicts_change_nothing() {
        let mut review = reviewed(Verdict::Approved).review.unwrap();
        assert_eq!(gate_findings(&mut review, &[found(Severity::Medium, "security")]), None);
        assert_eq!(review.decision, Verdict::Approved);
        for verdict in [Verdict::Blocked, Verdict::ChangesRequested] {
            let mut review = reviewed(verdict).review.unwrap();
            assert_eq!(gate_findings(&mut review, &[found(Severity::High, "security")]), None);
            assert_eq!(review, reviewed(verdict).review.unwrap());
        }
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
