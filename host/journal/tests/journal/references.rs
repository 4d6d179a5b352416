//! No guest path and no path of the machine gets into a journal through a reference.

use brain_journal::{ArtifactDigest, ArtifactDigests, Phase, Record, is_journal_uri, journal_uri};
use brain_packet::message::MessageBody;
use brain_packet::{AgentMessage, BrainTaskContext, ContextRef, ContextRefKind, MessageId, TaskStatus};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Fixture, handoff, result, role, session_id};

fn report_digest() -> ArtifactDigest {
    ArtifactDigest::new(&"0f".repeat(32)).unwrap()
}

fn artifacts() -> ArtifactDigests {
    let mut artifacts = ArtifactDigests::default();
    artifacts.insert("/artifacts/report.md", report_digest());
    artifacts
}

#[test]
fn every_guest_path_has_a_form_in_the_journal() {
    let report = format!("artifact:{}", report_digest());
    for (guest, journal) in [
        ("/workspace/src/a.rs", "file:src/a.rs"),
        ("/workspace//src/./b/../a.rs", "file:src/a.rs"),
        ("/workspace", "file:."),
        ("/workspace/", "file:."),
        ("/workspace/a b/ü\n", "file:a b/ü\n"),
        ("/context/results/review.json", "context:results/review.json"),
        ("/context/threads/20260102-030405-abcdef.md", "context:threads/20260102-030405-abcdef.md"),
        ("/artifacts/report.md", report.as_str()),
        ("/artifacts/./report.md", report.as_str()),
        ("/artifacts/other.md", "unknown:/artifacts/other.md"),
        ("/workspace/../etc/passwd", "unknown:/workspace/../etc/passwd"),
        ("/workspaces/a", "unknown:/workspaces/a"),
        ("/home/me/p/src/a.rs", "unknown:/home/me/p/src/a.rs"),
        ("C:\\Users\\me", "unknown:C:\\Users\\me"),
        ("src/a.rs", "unknown:src/a.rs"),
        ("file:/etc/passwd", "unknown:file:/etc/passwd"),
        ("file:../a", "unknown:file:../a"),
        ("artifact:0f", "unknown:artifact:0f"),
        ("", "unknown:"),
    ] {
        assert_eq!(journal_uri(guest, &artifacts()), journal, "{guest:?}");
        assert_eq!(journal_uri(journal, &artifacts()), journal, "twice: {guest:?}");
    }
}

#[test]
fn a_digest_is_sixty_four_hexadecimal_characters() {
    assert_eq!(ArtifactDigest::new(&"0f".repeat(32)).unwrap().as_str(), "0f".repeat(32));
    for bad in ["", "0f", &"0F".repeat(32), &"0g".repeat(32), &"0f".repeat(33), &"é".repeat(32)] {
        assert_eq!(ArtifactDigest::new(bad), None, "{bad}");
    }
}

#[test]
fn an_append_rewrites_every_reference_of_every_record() {
    let fixture = Fixture::new();
    let mut context = BrainTaskContext::new(session_id("20260102-030405-abcdef"), "goal");
    context.context_refs.push(ContextRef::new(ContextRefKind::File, "/workspace/src/main.rs"));
    let in_value = json!({ "roles": [{ "artifacts": [
        { "kind": "artifact", "uri": "/artifacts/report.md" },
        { "kind": "file", "uri": "/home/me/p/a.rs" },
    ]}]});
    let id = |text: &str| MessageId::new(text).unwrap();
    let mut fact = AgentMessage::handoff(id("m3"), handoff("security", "look"));
    fact.body = MessageBody::Fact(in_value.clone());
    let message =
        |message| Record::AgentMessage { phase: Phase::Support, worker: role("security"), message, attempt: None };
    for record in [
        Record::ContextPlan { context },
        message(AgentMessage::handoff(id("m1"), handoff("security", "look"))),
        message(AgentMessage::result(id("m2"), role("security"), result("security", TaskStatus::Completed, vec![]))),
        message(AgentMessage::result(id("m2"), role("security"), result("security", TaskStatus::Failed, vec![]))),
        message(fact),
        Record::WorkerEnd {
            phase: Phase::Support,
            worker: role("security"),
            result: Some(result("security", TaskStatus::Completed, vec![])),
            attempt: None,
            receipt: in_value.clone(),
        },
        Record::FinalReport { final_report: in_value, attempt: None },
    ] {
        let before = std::fs::metadata(fixture.file()).unwrap().len() as usize;
        fixture.journal.append_with(&record, &artifacts()).unwrap();
        let line = String::from_utf8(fixture.bytes().split_off(before)).unwrap();
        for guest in ["\"/workspace", "\"/artifacts", "\"/context", "\"/home"] {
            assert!(!line.contains(guest), "{guest} in {line}");
        }
        assert!(line.contains("file:src/main.rs") || line.contains(&format!("artifact:{}", report_digest())), "{line}");
    }
    assert_eq!(fixture.records().len(), 7);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_role_returns_as_a_uri_gets_a_journal_form(
        uri in prop_oneof![
            any::<String>(),
            "(/workspace|/context|/artifacts|file:|artifact:|context:|unknown:|)(/|\\.|\\.\\.|a){0,8}",
        ]
    ) {
        let form = journal_uri(&uri, &artifacts());
        prop_assert!(is_journal_uri(&form), "{form:?}");
        prop_assert!(!form.starts_with('/'));
        prop_assert!(form.starts_with("unknown:") || !form.split([':', '/']).any(|part| part == ".."), "{form:?}");
        prop_assert_eq!(journal_uri(&form, &artifacts()), form);
    }
}
