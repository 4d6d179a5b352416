//! Values of every kind, tame and hostile, for tests of what holds for all of them.

use brain_packet::{
    AgentMessage, AgentTaskContext, BrainTaskContext, ContextRef, ContextRefKind, CoverageStatus, Finding, HandoffId,
    HandoffPacket, MessageBody, MessageId, Note, Party, ReviewCoverage, ReviewDecision, RoleName, SessionId, Severity,
    TaskId, TaskProgress, TaskStatus, Verdict, WorkerResult, limits, normalise::Reply,
};
use proptest::{collection::vec, option, prelude::*};

pub fn verdicts() -> impl Strategy<Value = Verdict> {
    prop_oneof![Just(Verdict::Blocked), Just(Verdict::ChangesRequested), Just(Verdict::Approved)]
}

pub fn statuses() -> impl Strategy<Value = TaskStatus> {
    prop_oneof![
        Just(TaskStatus::Pending),
        Just(TaskStatus::Running),
        Just(TaskStatus::Completed),
        Just(TaskStatus::Blocked),
        Just(TaskStatus::Failed),
    ]
}

fn kinds() -> impl Strategy<Value = ContextRefKind> {
    prop_oneof![
        Just(ContextRefKind::File),
        Just(ContextRefKind::Thread),
        Just(ContextRefKind::Summary),
        Just(ContextRefKind::Artifact),
    ]
}

fn severities() -> impl Strategy<Value = Severity> {
    prop_oneof![Just(Severity::Low), Just(Severity::Medium), Just(Severity::High)]
}

fn coverage_statuses() -> impl Strategy<Value = CoverageStatus> {
    prop_oneof![
        Just(CoverageStatus::Skipped),
        Just(CoverageStatus::PartiallyInspected),
        Just(CoverageStatus::Inspected),
    ]
}

/// Text that a role might send to do harm: blank, padded, over every limit, full of controls, or a path out.
pub fn text() -> BoxedStrategy<String> {
    prop_oneof![
        4 => "\\PC{0,24}",
        2 => any::<String>(),
        1 => Just(String::new()),
        1 => Just(" \t\n\u{2003}".to_owned()),
        1 => Just("\u{1b}[2J\u{202e}\0".to_owned()),
        1 => Just(format!(" {} ", "é".repeat(limits::MAX_STEP_CHARS))),
        1 => (limits::MAX_STEP_CHARS..limits::MAX_SUMMARY_CHARS + 9).prop_map(|length| "é ".repeat(length / 2)),
    ]
    .boxed()
}

/// Paths of every sort, most of them wrong.
pub fn paths() -> BoxedStrategy<String> {
    let part = prop_oneof![
        Just(".".to_owned()),
        Just("..".to_owned()),
        Just(String::new()),
        Just("C:".to_owned()),
        Just("\\".to_owned()),
        Just(" ".to_owned()),
        Just("workspace".to_owned()),
        Just("artifacts".to_owned()),
        "[a-c]{1,3}",
        text(),
    ];
    let start = prop_oneof![
        Just(""),
        Just("/"),
        Just("./"),
        Just("/workspace/"),
        Just("/context/"),
        Just("/artifacts/"),
        Just("../"),
    ];
    (start, vec(part, 0..4)).prop_map(|(start, parts)| format!("{start}{}", parts.join("/"))).boxed()
}

prop_compose! {
    pub fn refs()(kind in kinds(), uri in paths(), label in option::of(text())) -> ContextRef {
        ContextRef { kind, uri, label }
    }
}

prop_compose! {
    pub fn progress(numbers: BoxedStrategy<f64>)(
        status in statuses(), summary in option::of(text()), current_step in option::of(text()),
        completed_steps in vec(text(), 0..4), percent in option::of(numbers),
    ) -> TaskProgress {
        TaskProgress { status, summary, current_step, completed_steps, percent }
    }
}

prop_compose! {
    pub fn findings()(
        severity in severities(), rule in option::of(text()), issue in text(), file in option::of(paths()),
        line in option::of(0_u32..4), evidence in option::of(text()), suggestion in option::of(text()),
    ) -> Finding {
        Finding { severity, rule, issue, file, line, evidence, suggestion }
    }
}

prop_compose! {
    pub fn reviews(numbers: BoxedStrategy<f64>)(
        decision in verdicts(), confidence in option::of(numbers), rationale in text(),
        required_changes in vec(text(), 0..3), blocking_issues in vec(text(), 0..3), residual_risks in vec(text(), 0..4),
        coverage in vec((paths(), coverage_statuses(), option::of(text())), 0..5),
    ) -> ReviewDecision {
        let coverage =
            coverage.into_iter().map(|(file, status, reason)| ReviewCoverage { file, status, reason }).collect();
        ReviewDecision {
            decision, confidence, rationale, required_changes, blocking_issues, residual_risks, coverage,
        }
    }
}

prop_compose! {
    pub fn notes()(field in "\\PC{0,9}", problem in text(), action in "\\PC{0,9}") -> Note {
        Note { field, problem, action }
    }
}

pub fn finite() -> BoxedStrategy<f64> {
    (prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL | prop::num::f64::NEGATIVE).boxed()
}

pub fn any_number() -> BoxedStrategy<f64> {
    prop_oneof![prop::num::f64::ANY, -0.5..1.5, -50.0..150.0].boxed()
}

fn task_ids() -> impl Strategy<Value = TaskId> {
    "[a-zA-Z0-9_:-][a-zA-Z0-9._:-]{0,40}".prop_map(|id| TaskId::new(id).unwrap())
}

fn handoff_ids() -> impl Strategy<Value = HandoffId> {
    "[a-zA-Z0-9_:-][a-zA-Z0-9._:-]{0,40}".prop_map(|id| HandoffId::new(id).unwrap())
}

pub fn session_ids() -> impl Strategy<Value = SessionId> {
    "[a-zA-Z0-9_-][a-zA-Z0-9._-]{0,40}".prop_map(|id| SessionId::new(id).unwrap())
}

pub fn roles() -> impl Strategy<Value = RoleName> {
    "r[a-z0-9-]{0,40}".prop_map(|name| RoleName::new(name).unwrap())
}

prop_compose! {
    pub fn brain_tasks()(
        id in session_ids(), goal in text(), progress in progress(finite()), child_context_ids in vec(task_ids(), 0..3),
        context_refs in vec(refs(), 0..3),
    ) -> BrainTaskContext {
        BrainTaskContext { progress, child_context_ids, context_refs, ..BrainTaskContext::new(id, goal) }
    }
}

prop_compose! {
    pub fn handoffs()(
        id in handoff_ids(), task_id in task_ids(), parent in session_ids(), role in roles(), goal in text(),
        progress in progress(finite()), context_refs in vec(refs(), 0..3), constraints in vec(text(), 0..3),
        expected in text(),
    ) -> HandoffPacket {
        let task = AgentTaskContext { progress, context_refs, ..AgentTaskContext::new(task_id, parent, role, goal) };
        HandoffPacket { constraints, ..HandoffPacket::new(id, task, expected) }
    }
}

prop_compose! {
    pub fn results(numbers: BoxedStrategy<f64>)(
        handoff in handoffs(), progress in progress(numbers.clone()), summary in text(), artifacts in vec(refs(), 0..4),
        risks in vec(text(), 0..4), next_questions in vec(text(), 0..3), findings in vec(findings(), 0..4),
        review in option::of(reviews(numbers)), notes in vec(notes(), 0..3),
    ) -> WorkerResult {
        WorkerResult {
            progress, artifacts, risks, next_questions, findings, review, notes,
            ..WorkerResult::answering(&handoff, TaskStatus::Completed, summary)
        }
    }
}

pub fn replies() -> impl Strategy<Value = Reply> {
    let id = || option::of(prop_oneof![text(), Just("task-1".to_owned())]);
    (results(any_number()), id(), id(), id()).prop_map(|(result, handoff_id, task_id, parent_id)| Reply {
        handoff_id,
        task_id,
        parent_id,
        ..Reply::from(result)
    })
}

pub fn messages() -> impl Strategy<Value = AgentMessage> {
    let id = || "[a-z0-9-]{1,9}".prop_map(|id| MessageId::new(id).unwrap());
    prop_oneof![
        (id(), handoffs()).prop_map(|(id, handoff)| AgentMessage::handoff(id, handoff)),
        (id(), roles(), results(finite())).prop_map(|(id, role, result)| AgentMessage::result(id, role, result)),
        (id(), roles(), text()).prop_map(|(id, role, fact)| AgentMessage {
            id,
            parent_id: None,
            from: Party::Role(role),
            to: Party::Orchestrator,
            body: MessageBody::Fact(fact.into()),
            context_refs: Vec::new(),
        }),
    ]
}
