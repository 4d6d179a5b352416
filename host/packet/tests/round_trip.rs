//! Every packet survives its JSON, and its JSON is the one that is written down in `golden/`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fmt::Debug;

use brain_packet::{AgentMessage, BrainTaskContext, HandoffPacket, MessageKind, Party, TaskStatus, WorkerResult};
use common::{golden, values};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Reads a golden file, and fails unless writing it again gives the same JSON.
fn same_again<T: Serialize + DeserializeOwned>(name: &str) -> T {
    let text = golden(name);
    let packet: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_value(&packet).unwrap(), json, "{name}");
    packet
}

fn survives<T: Serialize + DeserializeOwned + PartialEq + Debug>(packet: &T) {
    let json = serde_json::to_string(packet).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), packet);
    let value = serde_json::to_value(packet).unwrap();
    assert_eq!(&serde_json::from_value::<T>(value).unwrap(), packet);
}

#[test]
fn packets_read_and_write_the_golden_json() {
    let handoff: HandoffPacket = same_again("handoff");
    assert_eq!(handoff.task.agent_role.as_str(), "secret-scan");
    assert_eq!(handoff.task.context_refs.len(), 3);
    let task: BrainTaskContext = same_again("brain-task");
    assert_eq!(task.child_context_ids.len(), 2);
    let result: WorkerResult = same_again("result");
    assert_eq!((result.findings[0].line, result.progress.percent), (Some(12), Some(100.0)));
    let review: WorkerResult = same_again("result-review");
    assert_eq!(review.review.unwrap().coverage.len(), 3);
}

#[test]
fn a_result_without_the_added_fields_is_read() {
    let result = WorkerResult::from_json(&golden("result-bare")).unwrap();
    assert_eq!(result.progress.status, TaskStatus::Blocked);
    assert!(result.findings.is_empty() && result.review.is_none() && result.notes.is_empty());
    let written = serde_json::to_value(&result).unwrap();
    assert_eq!(written["findings"], Value::Array(Vec::new()));
    assert!(written.get("review").is_none() && written.get("notes").is_none());
}

#[test]
fn envelopes_read_and_write_the_golden_json() {
    let kinds = [MessageKind::Handoff, MessageKind::Result, MessageKind::Error, MessageKind::Question];
    for (name, kind) in ["message-handoff", "message-result", "message-error", "message-question"].iter().zip(kinds) {
        assert_eq!(same_again::<AgentMessage>(name).kind(), kind);
    }
}

#[test]
fn constructors_make_the_golden_envelopes() {
    let handoff: HandoffPacket = same_again("handoff");
    let sent = AgentMessage::handoff("m-1".parse().unwrap(), handoff);
    assert_eq!(sent, same_again("message-handoff"));

    let result: WorkerResult = same_again("result");
    let role = "secret-scan".parse().unwrap();
    let answered = AgentMessage::result("m-2".parse().unwrap(), role, result);
    assert_eq!(answered, same_again("message-result"));
    assert_eq!((answered.from.as_str(), &answered.to), ("secret-scan", &Party::Orchestrator));
}

proptest! {
    #[test]
    fn a_handoff_survives(packet in values::handoffs()) {
        survives(&packet);
    }

    #[test]
    fn a_brain_task_survives(packet in values::brain_tasks()) {
        survives(&packet);
    }

    #[test]
    fn a_result_survives(packet in values::results(values::finite())) {
        survives(&packet);
    }

    #[test]
    fn a_message_survives(message in values::messages()) {
        survives(&message);
    }
}
