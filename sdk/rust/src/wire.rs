//! Between the plain types of this crate and the contract's bindings. Nothing is checked or repaired here.

use crate::bindings::brain::role::packets as wire;
use crate::handoff::{Handoff, Roots};
use crate::types::{
    ContextRef, ContextRefKind, CoverageStatus, Finding, ReviewCoverage, ReviewDecision, Severity, TaskProgress,
    TaskStatus, Verdict, WorkerResult,
};

impl From<wire::HandoffPacket> for Handoff {
    fn from(packet: wire::HandoffPacket) -> Self {
        let wire::HandoffPacket { transfer: wire::BrainToAgent::BrainToAgent, id, task, constraints, expected_result } =
            packet;
        Self {
            id,
            task_id: task.id,
            parent_id: task.parent_id,
            role: task.agent_role,
            goal: task.goal,
            progress: task.progress.into(),
            refs: task.context_refs.into_iter().map(Into::into).collect(),
            constraints,
            expected_result,
            roots: Roots::guest(),
        }
    }
}

impl From<WorkerResult> for wire::WorkerResult {
    fn from(result: WorkerResult) -> Self {
        Self {
            transfer: wire::AgentToBrain::AgentToBrain,
            handoff_id: result.handoff_id,
            task_id: result.task_id,
            parent_id: result.parent_id,
            progress: result.progress.into(),
            summary: result.summary,
            artifacts: result.artifacts.into_iter().map(Into::into).collect(),
            risks: result.risks,
            next_questions: result.next_questions,
            findings: result.findings.into_iter().map(Into::into).collect(),
            review: result.review.map(Into::into),
        }
    }
}

impl From<wire::TaskProgress> for TaskProgress {
    fn from(progress: wire::TaskProgress) -> Self {
        let wire::TaskProgress { status, summary, current_step, completed_steps, percent } = progress;
        Self { status: status.into(), summary, current_step, completed_steps, percent }
    }
}

impl From<TaskProgress> for wire::TaskProgress {
    fn from(progress: TaskProgress) -> Self {
        let TaskProgress { status, summary, current_step, completed_steps, percent } = progress;
        Self { status: status.into(), summary, current_step, completed_steps, percent }
    }
}

impl From<wire::ContextRef> for ContextRef {
    fn from(reference: wire::ContextRef) -> Self {
        let wire::ContextRef { kind, uri, label } = reference;
        Self { kind: kind.into(), uri, label }
    }
}

impl From<ContextRef> for wire::ContextRef {
    fn from(reference: ContextRef) -> Self {
        let ContextRef { kind, uri, label } = reference;
        Self { kind: kind.into(), uri, label }
    }
}

impl From<Finding> for wire::Finding {
    fn from(finding: Finding) -> Self {
        let Finding { severity, rule, issue, file, line, evidence, suggestion } = finding;
        Self { severity: severity.into(), rule, issue, file, line, evidence, suggestion }
    }
}

impl From<ReviewDecision> for wire::ReviewDecision {
    fn from(review: ReviewDecision) -> Self {
        Self {
            decision: review.decision.into(),
            confidence: review.confidence,
            rationale: review.rationale,
            required_changes: review.required_changes,
            blocking_issues: review.blocking_issues,
            residual_risks: review.residual_risks,
            coverage: review.coverage.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<ReviewCoverage> for wire::ReviewCoverage {
    fn from(coverage: ReviewCoverage) -> Self {
        let ReviewCoverage { file, status, reason } = coverage;
        Self { file, status: status.into(), reason }
    }
}

/// Enums with the same cases on both sides.
macro_rules! same_cases {
    ($from:ty => $to:ty { $($case:ident),* }) => {
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                match value { $(<$from>::$case => Self::$case),* }
            }
        }
    };
}

same_cases!(wire::ContextRefKind => ContextRefKind { File, Thread, Summary, Artifact });
same_cases!(ContextRefKind => wire::ContextRefKind { File, Thread, Summary, Artifact });
same_cases!(wire::TaskStatus => TaskStatus { Pending, Running, Completed, Blocked, Failed });
same_cases!(TaskStatus => wire::TaskStatus { Pending, Running, Completed, Blocked, Failed });
same_cases!(Severity => wire::Severity { Low, Medium, High });
same_cases!(CoverageStatus => wire::CoverageStatus { Skipped, PartiallyInspected, Inspected });
same_cases!(Verdict => wire::Verdict { Blocked, ChangesRequested, Approved });
