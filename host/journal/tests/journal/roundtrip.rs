//! Records → file → records.

use brain_journal::{
    ApplyDirection, ApplyOutcome, ArtifactDigests, AuditSummary, Phase, PlannedWorker, ProjectSupport, Record, RunEnd,
    RunPlan, RunStart, TodoDependency, TodoItem, read,
};
use brain_packet::{
    AgentMessage, AgentTaskContext, BrainTaskContext, ContextRef, ContextRefKind, CoverageStatus, Digest, Finding,
    HandoffId, HandoffPacket, MessageId, Note, ReviewCoverage, ReviewDecision, RoleName, SessionId, Severity, TaskId,
    TaskStatus, Verdict, WorkerResult,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

use crate::generated;
use crate::support::{Fixture, session_id};

pub fn text() -> impl Strategy<Value = String> {
    any::<String>()
}

pub fn role() -> impl Strategy<Value = RoleName> {
    "[a-z][a-z0-9-]{0,20}x".prop_map(|name| RoleName::new(name).unwrap())
}

fn handoff_id() -> impl Strategy<Value = HandoffId> {
    "[a-zA-Z0-9:_-]{1,40}".prop_map(|id| HandoffId::new(id).unwrap())
}

fn task_id() -> impl Strategy<Value = TaskId> {
    "[a-zA-Z0-9:_-]{1,40}".prop_map(|id| TaskId::new(id).unwrap())
}

fn parent() -> SessionId {
    session_id("20260102-030405-abcdef")
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![Just(Phase::Planning), Just(Phase::Support), Just(Phase::Primary), Just(Phase::Review)]
}

pub fn status() -> impl Strategy<Value = TaskStatus> {
    prop_oneof![
        Just(TaskStatus::Pending),
        Just(TaskStatus::Running),
        Just(TaskStatus::Completed),
        Just(TaskStatus::Blocked),
        Just(TaskStatus::Failed)
    ]
}

fn reference() -> impl Strategy<Value = ContextRef> {
    let kind = prop_oneof![
        Just(ContextRefKind::File),
        Just(ContextRefKind::Thread),
        Just(ContextRefKind::Summary),
        Just(ContextRefKind::Artifact)
    ];
    let uri = prop_oneof!["file:[a-z]{1,8}(/[a-z é]{1,8}){0,3}", "context:[a-z]{1,8}\\.md", "artifact:[0-9a-f]{64}"];
    (kind, uri, option::of(text())).prop_map(|(kind, uri, label)| ContextRef { kind, uri, label })
}

pub fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1.0e9..1.0e9).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

pub fn finding() -> impl Strategy<Value = Finding> {
    let severity = prop_oneof![Just(Severity::Low), Just(Severity::Medium), Just(Severity::High)];
    (severity, option::of(text()), text(), option::of(text()), option::of(1u32..), option::of(text())).prop_map(
        |(severity, rule, issue, file, line, evidence)| Finding {
            severity,
            rule,
            issue,
            file,
            line,
            suggestion: evidence.clone(),
            evidence,
        },
    )
}

fn review() -> impl Strategy<Value = ReviewDecision> {
    let verdict = prop_oneof![Just(Verdict::Blocked), Just(Verdict::ChangesRequested), Just(Verdict::Approved)];
    (verdict, option::of(0.0..=1.0), text(), vec(text(), 0..3), vec(text(), 0..3)).prop_map(
        |(decision, confidence, rationale, items, files)| ReviewDecision {
            decision,
            confidence,
            rationale,
            required_changes: items.clone(),
            blocking_issues: items.clone(),
            residual_risks: items,
            coverage: files
                .into_iter()
                .map(|file| ReviewCoverage { file, status: CoverageStatus::PartiallyInspected, reason: None })
                .collect(),
        },
    )
}

fn handoff() -> impl Strategy<Value = HandoffPacket> {
    (handoff_id(), task_id(), role(), text(), vec(reference(), 0..3), vec(text(), 0..3)).prop_map(
        |(id, task, role, goal, refs, constraints)| {
            let mut task = AgentTaskContext::new(task, parent(), role, goal.clone());
            task.context_refs = refs;
            let mut packet = HandoffPacket::new(id, task, goal);
            packet.constraints = constraints;
            packet
        },
    )
}

pub fn result() -> impl Strategy<Value = WorkerResult> {
    let parts = (handoff(), status(), text(), vec(reference(), 0..3), vec(text(), 0..3), vec(finding(), 0..3));
    (parts, option::of(review()), option::of(0.0..=100.0)).prop_map(
        |((handoff, status, summary, artifacts, texts, findings), review, percent)| {
            let mut result = WorkerResult::answering(&handoff, status, summary);
            result.progress.percent = percent;
            result.progress.completed_steps = texts.clone();
            result.notes = texts
                .iter()
                .map(|text| Note { field: text.clone(), problem: text.clone(), action: text.clone() })
                .collect();
            result.risks = texts.clone();
            result.next_questions = texts;
            result.artifacts = artifacts;
            result.findings = findings;
            result.review = review;
            result
        },
    )
}

fn message() -> impl Strategy<Value = AgentMessage> {
    let id = "[a-z0-9]{1,20}".prop_map(|id| MessageId::new(id).unwrap());
    prop_oneof![
        (id.clone(), handoff()).prop_map(|(id, handoff)| AgentMessage::handoff(id, handoff)),
        (id, role(), result()).prop_map(|(id, from, result)| AgentMessage::result(id, from, result)),
    ]
}

pub fn todo() -> impl Strategy<Value = TodoItem> {
    (text(), text(), role(), status(), option::of(text()), option::of(text()))
        .prop_map(|(id, title, role, status, reason, summary)| TodoItem { id, title, role, status, reason, summary })
}

fn plan() -> impl Strategy<Value = RunPlan> {
    let worker = (role(), phase(), text(), text(), vec(text(), 0..3))
        .prop_map(|(role, phase, goal, reason, todo_ids)| PlannedWorker { role, phase, goal, reason, todo_ids });
    (role(), vec(worker, 0..3), any::<bool>(), text()).prop_map(|(primary_role, workers, requires_review, reason)| {
        RunPlan { primary_role, workers, requires_review, source: reason.clone(), reason }
    })
}

fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 8]>().prop_map(|bytes| Digest::of(&bytes))
}

fn direction() -> impl Strategy<Value = ApplyDirection> {
    prop_oneof![Just(ApplyDirection::Apply), Just(ApplyDirection::Undo)]
}

pub fn record() -> impl Strategy<Value = Record> {
    let dependency = (text(), text(), option::of(text()))
        .prop_map(|(from_todo_id, to_todo_id, reason)| TodoDependency { from_todo_id, to_todo_id, reason });
    prop_oneof![
        (text(), option::of(plan()), option::of(text())).prop_map(|(prompt, plan, root)| Record::RunStart(RunStart {
            plan,
            project_support: root.map(ProjectSupport::at),
            ..RunStart::new(prompt)
        })),
        generated::run_edges(),
        generated::event(),
        generated::event(),
        (text(), vec(task_id(), 0..3), vec(reference(), 0..3)).prop_map(|(goal, children, refs)| {
            let mut context = BrainTaskContext::new(parent(), goal);
            context.child_context_ids = children;
            context.context_refs = refs;
            Record::ContextPlan { context }
        }),
        (vec(todo(), 0..3), vec(dependency, 0..3), option::of(text()))
            .prop_map(|(todos, dependencies, reason)| Record::TodoPlan { todos, dependencies, reason }),
        (phase(), option::of(role()), status(), vec(text(), 0..3), vec(todo(), 0..3), option::of(text())).prop_map(
            |(phase, role, status, todo_ids, todos, summary)| Record::TodoUpdate {
                phase,
                role,
                status,
                todo_ids,
                todos,
                error: summary.clone(),
                summary,
            }
        ),
        (phase(), role(), message()).prop_map(|(phase, worker, message)| Record::AgentMessage {
            phase,
            worker,
            message,
            attempt: None
        }),
        (phase(), role(), text(), handoff_id(), task_id()).prop_map(|(phase, worker, goal, handoff_id, task_id)| {
            Record::WorkerStart {
                phase,
                worker,
                agent_session_id: Some(goal.clone()),
                model: AuditSummary::of(&Value::from(goal.clone())),
                goal,
                handoff_id: Some(handoff_id),
                task_id: Some(task_id),
                attempt: Some(2),
            }
        }),
        (phase(), role(), option::of(result()), json()).prop_map(|(phase, worker, result, receipt)| {
            Record::WorkerEnd { phase, worker, result, receipt, attempt: None }
        }),
        (phase(), role(), option::of(handoff_id()), option::of(text()), text()).prop_map(
            |(phase, worker, handoff_id, code, error)| Record::WorkerError {
                phase,
                worker,
                will_fallback: code.is_some(),
                attempt: Some(1),
                handoff_id,
                code,
                error
            }
        ),
        (phase(), role(), handoff_id(), json()).prop_map(|(phase, worker, handoff_id, receipt)| Record::RoleReceipt {
            phase,
            worker,
            handoff_id,
            receipt
        }),
        (phase(), role(), handoff_id(), digest(), any::<[u64; 4]>()).prop_map(
            |(phase, worker, handoff_id, digest, [files, added_lines, removed_lines, folders])| Record::ChangeSet {
                phase,
                worker,
                handoff_id,
                digest,
                files,
                added_lines,
                removed_lines,
                folders
            }
        ),
        (
            role(),
            direction(),
            text(),
            [digest(), digest()],
            any::<u64>(),
            text(),
            option::of(any::<(u64, u64)>()),
            option::of(digest())
        )
            .prop_map(|(worker, direction, intent_id, [set, plan], files, root, root_file, proposal)| {
                Record::ApplyIntent { worker, direction, intent_id, set, plan, files, root, root_file, proposal }
            }),
        (role(), direction(), text()).prop_map(|(worker, direction, intent_id)| Record::ApplyCommit {
            worker,
            direction,
            intent_id
        }),
        (role(), direction(), text(), any::<bool>(), option::of(digest()), any::<bool>()).prop_map(
            |(worker, direction, intent_id, done, undo, recovered)| Record::ApplyEnd {
                worker,
                direction,
                intent_id,
                outcome: if done { ApplyOutcome::Done } else { ApplyOutcome::RolledBack },
                undo,
                recovered
            }
        ),
        json().prop_map(|final_report| Record::FinalReport { final_report, attempt: None }),
        text().prop_map(|summary| Record::RunEnd(RunEnd::new(summary))),
        (option::of(text()), text(), any::<bool>()).prop_map(|(code, error, will_fallback)| Record::RunError {
            code,
            error,
            attempt: will_fallback.then_some(1),
            will_fallback
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_appended_is_read_back(records in vec((record(), any::<u64>()), 0..8)) {
        let fixture = Fixture::new();
        for (record, timestamp) in &records {
            let appended = fixture.journal.append_at(record, &ArtifactDigests::default(), *timestamp).unwrap();
            prop_assert_eq!(appended.truncated, None);
        }
        let log = read(fixture.home(), fixture.id()).unwrap();
        prop_assert!(log.skipped.is_nothing(), "{:?}", log.skipped);
        let back: Vec<_> = log.records.into_iter().map(|entry| (entry.record, entry.timestamp)).collect();
        prop_assert_eq!(&back, &records);

        let bytes = fixture.bytes();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        prop_assert_eq!(lines.len(), records.len());
        for (line, (record, timestamp)) in lines.iter().zip(&records) {
            let begin = format!("{{\"timestamp\":{timestamp},\"type\":\"{}\"", record.type_name());
            prop_assert!(line.starts_with(begin.as_bytes()), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn every_record_has_a_type_that_is_listed(record in record()) {
        let json = serde_json::to_value(&record).unwrap();
        prop_assert_eq!(json["type"].as_str(), Some(record.type_name()));
        prop_assert!(Record::TYPES.contains(&record.type_name()));
    }
}
