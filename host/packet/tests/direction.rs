//! What is not a packet of the direction that was asked for does not parse, and says so.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use brain_packet::{
    AgentMessage, AgentTaskContext, BrainTaskContext, ContextRef, HandoffPacket, PacketError, TaskProgress,
    WorkerResult, limits,
};
use common::golden;
use miette::Diagnostic;
use schemars::schema_for;
use serde_json::{Value, json};

/// A change to the JSON of a packet.
type Change = fn(&mut Value);

fn changed(name: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(&golden(name)).unwrap();
    change(&mut value);
    value.to_string()
}

fn code(error: &PacketError) -> String {
    error.code().unwrap().to_string()
}

#[test]
fn a_result_is_not_a_handoff_and_a_handoff_is_not_a_result() {
    let error = HandoffPacket::from_json(&golden("result")).unwrap_err();
    assert_eq!(code(&error), "packet.direction");
    assert_eq!(
        error.to_string(),
        r#"this is not a handoff: expected the direction "brain" to "agent", found "agent" to "brain""#
    );
    let error = WorkerResult::from_json(&golden("handoff")).unwrap_err();
    assert_eq!(code(&error), "packet.direction");
    assert!(error.to_string().ends_with(r#"expected the direction "agent" to "brain", found "brain" to "agent""#));
}

#[test]
fn each_tag_is_checked_by_itself() {
    let wrong = [json!("agent"), json!("Brain"), json!(""), json!(null), json!(7), json!({}), json!("\u{1b}[2J")];
    for tag in wrong {
        let text = changed("handoff", |handoff| handoff["fromLayer"] = tag.clone());
        let error = HandoffPacket::from_json(&text).unwrap_err();
        assert_eq!(code(&error), "packet.direction", "{tag}");
        assert!(!error.to_string().contains('\u{1b}'));
    }
    let text = changed("handoff", |handoff| {
        handoff.as_object_mut().unwrap().remove("toLayer");
    });
    assert!(HandoffPacket::from_json(&text).unwrap_err().to_string().ends_with(r#"found "brain" to nothing"#));
}

#[test]
fn plain_serde_names_the_field_too() {
    let text = changed("handoff", |handoff| handoff["toLayer"] = json!("brain"));
    let error = serde_json::from_str::<HandoffPacket>(&text).unwrap_err().to_string();
    assert!(error.contains(r#"wrong direction: expected "agent" in `toLayer`, found "brain""#), "{error}");
    let text = changed("handoff", |handoff| handoff["task"]["layer"] = json!("brain"));
    let error = HandoffPacket::from_json(&text).unwrap_err();
    assert_eq!(code(&error), "packet.json");
    assert!(error.to_string().contains(r#"expected "agent" in `layer`, found "brain""#), "{error}");
    let text = changed("brain-task", |task| task["layer"] = json!("agent"));
    assert!(serde_json::from_str::<BrainTaskContext>(&text).is_err());
}

#[test]
fn nothing_rides_along_with_a_handoff() {
    let places: [Change; 4] = [
        |handoff| handoff["transcript"] = json!("…"),
        |handoff| handoff["task"]["transcript"] = json!("…"),
        |handoff| handoff["task"]["progress"]["log"] = json!([]),
        |handoff| handoff["task"]["contextRefs"][0]["content"] = json!("…"),
    ];
    for place in places {
        let error = HandoffPacket::from_json(&changed("handoff", place)).unwrap_err();
        assert_eq!(code(&error), "packet.json");
        assert!(error.to_string().contains("unknown field"), "{error}");
    }
}

#[test]
fn what_is_no_packet_at_all_is_an_error_with_a_place() {
    for text in ["", "{", "[]", "null", "\u{0}", "{\"fromLayer\":\"brain\",\"toLayer\":\"agent\"}"] {
        let error = HandoffPacket::from_json(text).unwrap_err();
        assert!(error.to_string().starts_with("this is not a handoff: "), "{error}");
    }
    let error = HandoffPacket::from_json("{\"fromLayer\":\"brain\",\"toLayer\":\"agent\"}").unwrap_err();
    assert!(error.to_string().contains("missing field `id` at line 1"), "{error}");
    let text = changed("handoff", |handoff| handoff["task"]["agentRole"] = json!("../x"));
    let error = HandoffPacket::from_json(&text).unwrap_err();
    assert!(error.to_string().contains("\"../x\" is not a role name"), "{error}");
}

#[test]
fn a_handoff_over_a_limit_is_refused_by_name() {
    let too_much: [(&str, Change); 6] = [
        ("task.goal", |h| h["task"]["goal"] = json!("é".repeat(limits::MAX_GOAL_CHARS + 1))),
        ("expectedResult", |h| h["expectedResult"] = json!("é".repeat(limits::MAX_CONSTRAINT_CHARS + 1))),
        ("constraints", |h| h["constraints"] = json!(vec!["x"; limits::MAX_CONSTRAINTS + 1])),
        ("constraints[1]", |h| h["constraints"][1] = json!("é".repeat(limits::MAX_CONSTRAINT_CHARS + 1))),
        ("task.contextRefs[2].uri", |h| {
            h["task"]["contextRefs"][2]["uri"] = json!("é".repeat(limits::MAX_URI_CHARS + 1));
        }),
        ("task.contextRefs[1].label", |h| {
            h["task"]["contextRefs"][1]["label"] = json!("é".repeat(limits::MAX_LABEL_CHARS + 1));
        }),
    ];
    for (name, change) in too_much {
        let error = HandoffPacket::from_json(&changed("handoff", change)).unwrap_err();
        assert_eq!(code(&error), "packet.too-much");
        assert!(error.to_string().starts_with(&format!("`{name}` of this handoff has ")), "{error}");
    }
    let reference = json!({ "kind": "file", "uri": "/workspace/a" });
    let refs = |count| changed("handoff", |h| h["task"]["contextRefs"] = json!(vec![reference.clone(); count]));
    assert!(HandoffPacket::from_json(&refs(limits::MAX_CONTEXT_REFS)).is_ok());
    assert!(HandoffPacket::from_json(&refs(limits::MAX_CONTEXT_REFS + 1)).is_err());
    let goal = |length| changed("handoff", |h| h["task"]["goal"] = json!("é".repeat(length)));
    assert!(HandoffPacket::from_json(&goal(limits::MAX_GOAL_CHARS)).is_ok());
}

#[test]
fn there_is_no_message_between_workers() {
    let wrong = [
        ("message-result", "secret-scan", "librarian"),
        ("message-handoff", "librarian", "secret-scan"),
        ("message-question", "devops", "librarian"),
        ("message-handoff", "secret-scan", "orchestrator"),
        ("message-result", "brain", "secret-scan"),
        ("message-result", "brain", "orchestrator"),
    ];
    for (name, from, to) in wrong {
        let text = changed(name, |message| {
            message["from"] = json!(from);
            message["to"] = json!(to);
        });
        let error = serde_json::from_str::<AgentMessage>(&text).unwrap_err().to_string();
        assert!(error.contains("wrong direction: expected "), "{name}: {error}");
        assert!(error.contains(&format!("found {from} to {to}")), "{name}: {error}");
    }
}

#[test]
fn an_envelope_carries_what_its_kind_says() {
    let text = changed("message-result", |message| message["kind"] = json!("handoff"));
    assert!(serde_json::from_str::<AgentMessage>(&text).is_err());
    let text = changed("message-handoff", |message| message["kind"] = json!("result"));
    let error = serde_json::from_str::<AgentMessage>(&text).unwrap_err().to_string();
    assert!(error.contains("wrong direction") || error.contains("missing field"), "{error}");
    let text = changed("message-handoff", |message| message["kind"] = json!("order"));
    assert!(serde_json::from_str::<AgentMessage>(&text).is_err());
}

#[test]
fn schemas_tell_what_the_types_enforce() {
    let schema = schema_for!(HandoffPacket).to_value();
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["properties"]["fromLayer"]["const"], "brain");
    assert_eq!(schema["properties"]["toLayer"]["const"], "agent");
    assert_eq!(schema["$defs"]["RoleName"]["pattern"], "^[a-z][a-z0-9-]*$");
    let schema = schema_for!(WorkerResult).to_value();
    assert_eq!(schema["properties"]["fromLayer"]["const"], "agent");
    assert_eq!(schema["$defs"]["Verdict"]["oneOf"][1]["const"], "changes_requested");
    for schema in [
        schema_for!(BrainTaskContext),
        schema_for!(AgentTaskContext),
        schema_for!(TaskProgress),
        schema_for!(ContextRef),
        schema_for!(AgentMessage),
    ] {
        assert!(schema.to_value().is_object());
    }
}
