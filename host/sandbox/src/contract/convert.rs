//! Between the packets of the host and those of the component model.

use brain_packet as packet;
use brain_packet::HandoffPacket;
use brain_packet::normalise::Reply;

use super::bindings::brain::role::packets as wit;

/// The handoff as a component takes it.
pub(crate) fn handoff(h: &HandoffPacket) -> wit::HandoffPacket {
    wit::HandoffPacket {
        transfer: wit::BrainToAgent::BrainToAgent,
        id: h.id.to_string(),
        task: wit::AgentTaskContext {
            id: h.task.id.to_string(),
            parent_id: h.task.parent_id.to_string(),
            agent_role: h.task.agent_role.to_string(),
            goal: h.task.goal.clone(),
            progress: wit::TaskProgress {
                status: match h.task.progress.status {
                    packet::TaskStatus::Pending => wit::TaskStatus::Pending,
                    packet::TaskStatus::Running => wit::TaskStatus::Running,
                    packet::TaskStatus::Completed => wit::TaskStatus::Completed,
                    packet::TaskStatus::Blocked => wit::TaskStatus::Blocked,
                    packet::TaskStatus::Failed => wit::TaskStatus::Failed,
                },
                summary: h.task.progress.summary.clone(),
                current_step: h.task.progress.current_step.clone(),
                completed_steps: h.task.progress.completed_steps.clone(),
                percent: h.task.progress.percent,
            },
            context_refs: h
                .task
                .context_refs
                .iter()
                .map(|r| wit::ContextRef {
                    kind: match r.kind {
                        packet::ContextRefKind::File => wit::ContextRefKind::File,
                        packet::ContextRefKind::Thread => wit::ContextRefKind::Thread,
                        packet::ContextRefKind::Summary => wit::ContextRefKind::Summary,
                        packet::ContextRefKind::Artifact => wit::ContextRefKind::Artifact,
                    },
                    uri: r.uri.clone(),
                    label: r.label.clone(),
                })
                .collect(),
        },
        constraints: h.constraints.clone(),
        expected_result: h.expected_result.clone(),
    }
}

/// What a component returned, before anything in it is believed.
pub(crate) fn reply(r: wit::WorkerResult) -> Reply {
    let mut result = Reply::new(packet::TaskStatus::Completed, r.summary);
    result.handoff_id = Some(r.handoff_id);
    result.task_id = Some(r.task_id);
    result.parent_id = Some(r.parent_id);
    result.progress = packet::TaskProgress {
        status: match r.progress.status {
            wit::TaskStatus::Pending => packet::TaskStatus::Pending,
            wit::TaskStatus::Running => packet::TaskStatus::Running,
            wit::TaskStatus::Completed => packet::TaskStatus::Completed,
            wit::TaskStatus::Blocked => packet::TaskStatus::Blocked,
            wit::TaskStatus::Failed => packet::TaskStatus::Failed,
        },
        summary: r.progress.summary,
        current_step: r.progress.current_step,
        completed_steps: r.progress.completed_steps,
        percent: r.progress.percent,
    };
    result.artifacts = r
        .artifacts
        .into_iter()
        .map(|r| packet::ContextRef {
            kind: match r.kind {
                wit::ContextRefKind::File => packet::ContextRefKind::File,
                wit::ContextRefKind::Thread => packet::ContextRefKind::Thread,
                wit::ContextRefKind::Summary => packet::ContextRefKind::Summary,
                wit::ContextRefKind::Artifact => packet::ContextRefKind::Artifact,
            },
            uri: r.uri,
            label: r.label,
        })
        .collect();
    result.risks = r.risks;
    result.next_questions = r.next_questions;
    result.findings = r
        .findings
        .into_iter()
        .map(|f| packet::Finding {
            severity: match f.severity {
                wit::Severity::Low => packet::Severity::Low,
                wit::Severity::Medium => packet::Severity::Medium,
                wit::Severity::High => packet::Severity::High,
            },
            rule: f.rule,
            issue: f.issue,
            file: f.file,
            line: f.line,
            evidence: f.evidence,
            suggestion: f.suggestion,
        })
        .collect();
    result.review = r.review.map(review);
    result
}

fn review(r: wit::ReviewDecision) -> packet::ReviewDecision {
    packet::ReviewDecision {
        decision: match r.decision {
            wit::Verdict::Blocked => packet::Verdict::Blocked,
            wit::Verdict::ChangesRequested => packet::Verdict::ChangesRequested,
            wit::Verdict::Approved => packet::Verdict::Approved,
        },
        confidence: r.confidence,
        rationale: r.rationale,
        required_changes: r.required_changes,
        blocking_issues: r.blocking_issues,
        residual_risks: r.residual_risks,
        coverage: r
            .coverage
            .into_iter()
            .map(|c| packet::ReviewCoverage {
                file: c.file,
                status: match c.status {
                    wit::CoverageStatus::Skipped => packet::CoverageStatus::Skipped,
                    wit::CoverageStatus::PartiallyInspected => packet::CoverageStatus::PartiallyInspected,
                    wit::CoverageStatus::Inspected => packet::CoverageStatus::Inspected,
                },
                reason: c.reason,
            })
            .collect(),
    }
}

/// Bytes of all text of a result, and of the memory that each list item takes, as wasmtime measures them while it lifts:
/// a list of empty items is not free, and what the bound on lifting stops is never smaller than this.
pub(crate) fn size_of(r: &wit::WorkerResult) -> u64 {
    let text = |s: &Option<String>| s.as_ref().map_or(0, String::len);
    let list = |l: &[String]| items(l) + l.iter().map(String::len).sum::<usize>();
    let mut n = r.handoff_id.len() + r.task_id.len() + r.parent_id.len() + r.summary.len();
    n += text(&r.progress.summary) + text(&r.progress.current_step) + list(&r.progress.completed_steps);
    n += items(&r.artifacts) + r.artifacts.iter().map(|a| a.uri.len() + text(&a.label)).sum::<usize>();
    n += list(&r.risks) + list(&r.next_questions);
    n += items(&r.findings);
    n += r
        .findings
        .iter()
        .map(|f| [&f.rule, &f.file, &f.evidence, &f.suggestion].into_iter().map(text).sum::<usize>() + f.issue.len())
        .sum::<usize>();
    if let Some(review) = &r.review {
        n += review.rationale.len();
        n += [&review.required_changes, &review.blocking_issues, &review.residual_risks]
            .into_iter()
            .map(|l| list(l))
            .sum::<usize>();
        n += items(&review.coverage);
        n += review.coverage.iter().map(|c| c.file.len() + text(&c.reason)).sum::<usize>();
    }
    n as u64
}

fn items<T>(list: &[T]) -> usize {
    size_of_val(list)
}
