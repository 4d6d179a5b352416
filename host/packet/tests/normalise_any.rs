//! What holds for every result, whatever the reply was.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use brain_packet::{TaskStatus, Verdict, WorkerResult, normalise, terminal_line, terminal_safe};
use common::{assert_settled, handoff, values};
use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value, json};

/// The result is as promised, survives its JSON, and is left alone by a second pass.
fn assert_sound(result: &WorkerResult) {
    assert_settled(&handoff(), result);
    let json = serde_json::to_string(result).unwrap();
    assert_eq!(&WorkerResult::from_json(&json).unwrap(), result);
    assert_eq!(&normalise::reply(&handoff(), result.clone()), result);
    let reviewed = normalise::expect_review(result.clone());
    assert_settled(&handoff(), &reviewed);
    assert_eq!(normalise::reply(&handoff(), reviewed.clone()), reviewed);
}

fn approves(result: &WorkerResult) -> bool {
    result.review.as_ref().is_some_and(|review| review.decision == Verdict::Approved)
}

/// Any JSON, rich in the names and words that a reply has.
fn values() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("completed"),
        Just("failed"),
        Just("pending"),
        Just("approved"),
        Just("APPROVED"),
        Just("blocked"),
        Just("inspected"),
        Just("high"),
        Just("file"),
        Just("/workspace/a"),
        Just("../a"),
        Just(""),
        Just("```"),
        Just("agent"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0..4).prop_map(Value::from),
        word.prop_map(Value::from),
        values::text().prop_map(Value::from),
    ];
    let name = prop_oneof![
        Just("summary".to_owned()),
        Just("progress".to_owned()),
        Just("status".to_owned()),
        Just("review".to_owned()),
        Just("decision".to_owned()),
        Just("risks".to_owned()),
        Just("findings".to_owned()),
        Just("issue".to_owned()),
        Just("line".to_owned()),
        Just("file".to_owned()),
        Just("artifacts".to_owned()),
        Just("uri".to_owned()),
        Just("kind".to_owned()),
        Just("coverage".to_owned()),
        Just("requiredChanges".to_owned()),
        Just("taskId".to_owned()),
        Just("percent".to_owned()),
        Just("confidence".to_owned()),
        "\\PC{0,6}",
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((name.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Whether an explicit approval is anywhere in the JSON, in the only place where one counts.
fn says_approved(value: &Value) -> bool {
    value["decision"] == "approved" || value["review"]["decision"] == "approved"
}

proptest! {
    #[test]
    fn a_typed_reply_settles(reply in values::replies()) {
        let said = reply.review.as_ref().map(|review| review.decision);
        let status = reply.progress.status;
        let result = normalise::reply(&handoff(), reply);
        assert_sound(&result);
        prop_assert!(!approves(&result) || said == Some(Verdict::Approved));
        prop_assert_eq!(result.progress.status == TaskStatus::Completed, status == TaskStatus::Completed);
    }

    #[test]
    fn any_text_settles(text in any::<String>()) {
        let result = normalise::reply_text(&handoff(), &text);
        assert_sound(&result);
        prop_assert!(!approves(&result));
    }

    #[test]
    fn any_json_settles(value in values(), before in "[a-z{}`\n ]{0,9}", after in "[a-z{}`\n ]{0,9}", fenced in any::<bool>()) {
        let json = if fenced { format!("```json\n{value}\n```") } else { value.to_string() };
        let result = normalise::reply_text(&handoff(), &format!("{before}{json}{after}"));
        assert_sound(&result);
        // An object that is nested in a list may be taken for the reply, so only a reply that is an object is judged.
        if value.is_object() && !says_approved(&value) {
            prop_assert!(!approves(&result), "{}", value);
        }
    }

    #[test]
    fn a_damaged_reply_settles(result in values::results(values::finite()), at in any::<prop::sample::Index>(), with in "[a-z{}\"`:,\\[\\]]{0,3}") {
        let not_approved = result.review.as_ref().is_none_or(|review| review.decision != Verdict::Approved);
        let mut characters: Vec<char> = json!(result).to_string().chars().collect();
        let at = at.index(characters.len());
        characters.splice(at..=at, with.chars());
        let damaged = normalise::reply_text(&handoff(), &characters.into_iter().collect::<String>());
        assert_sound(&damaged);
        prop_assert!(!not_approved || !approves(&damaged));
    }

    #[test]
    fn a_failure_settles(message in values::text(), risks in vec(values::text(), 0..4)) {
        let failed = normalise::failed(&handoff(), &message, &risks);
        assert_sound(&failed);
        prop_assert_eq!(failed.progress.status, TaskStatus::Failed);
        let blocked = normalise::blocked(&handoff(), &message);
        assert_sound(&blocked);
        prop_assert_eq!(blocked.progress.status, TaskStatus::Blocked);
    }

    #[test]
    fn shown_text_obeys_nobody(text in any::<String>()) {
        let safe = terminal_safe(&text);
        prop_assert!(safe.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
        assert!(!safe.contains(['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}']));
        prop_assert_eq!(terminal_safe(&safe), safe.clone());
        let line = terminal_line(&text);
        prop_assert!(!line.chars().any(char::is_control));
        prop_assert_eq!(terminal_line(&line), line.clone());
    }
}
