//! A record that is too large for a line is cut and says so; it is never lost and never makes a line that cannot be read.

use brain_journal::{
    Journal, MAX_RECORD_BYTES, MAX_VALUE_DEPTH, Phase, Record, RunStart, SessionStory, Truncation, read,
};
use brain_packet::message::MessageBody;
use brain_packet::{AgentMessage, MessageId, RoleName, Severity, TaskStatus};
use serde_json::{Map, Value, json};

use crate::support::{Fixture, finding, handoff, role, run_end, run_start, worker_end};

/// Appends the record and gives back what is read, after checking that the cut is bounded and told.
fn cut(record: &Record) -> Record {
    let fixture = Fixture::new();
    fixture.append(&run_start("before", "/p"));
    let appended = fixture.append(record);
    fixture.append(&run_end("after"));
    let original = serde_json::to_vec(&record).unwrap().len() as u64;

    let Some(Truncation { original_bytes }) = appended.truncated else { panic!("nothing was cut") };
    assert!(appended.bytes <= MAX_RECORD_BYTES as u64, "{}", appended.bytes);
    // Besides the record itself, a line has its timestamp and its newline.
    assert!((original..original + 64).contains(&original_bytes), "{original_bytes} for {original}");
    let mut log = read(fixture.home(), fixture.id()).unwrap();
    assert!(log.skipped.is_nothing(), "{:?}", log.skipped);
    assert_eq!(log.records.len(), 3);
    assert_eq!(log.records[1].truncated, appended.truncated);
    assert_eq!(SessionStory::read(fixture.home(), fixture.id()).unwrap().truncated_records, 1);
    log.records.remove(1).record
}

#[test]
fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
    let fixture = Fixture::new();
    let frame = fixture.append(&run_end("")).bytes as usize;
    let fits = run_end(&"x".repeat(MAX_RECORD_BYTES - frame));
    let appended = fixture.append(&fits);
    assert_eq!((appended.bytes as usize, appended.truncated), (MAX_RECORD_BYTES, None));
    assert_eq!(fixture.records()[1], fits);

    let appended = fixture.append(&run_end(&"x".repeat(MAX_RECORD_BYTES - frame + 1)));
    assert_eq!(appended.truncated, Some(Truncation { original_bytes: MAX_RECORD_BYTES as u64 + 1 }));
}

#[test]
fn a_huge_text_keeps_its_beginning_and_says_its_length() {
    let prompt = format!("find the ü{}", "ü".repeat(5 * 1024 * 1024));
    let Record::RunStart(RunStart { prompt: kept, plan, project_support, .. }) = cut(&run_start(&prompt, "/p")) else {
        panic!()
    };
    assert!(kept.starts_with("find the üü"), "{}", &kept[..20]);
    assert!(kept.ends_with(&format!("… [cut, {} bytes]", prompt.len())));
    assert_eq!(plan.unwrap().primary_role, role("review"));
    assert_eq!(project_support.unwrap().root, "/p");
}

#[test]
fn a_result_with_very_many_findings_keeps_the_first_and_its_ids() {
    let findings = (0..60_000).map(|number| finding(Severity::High, &format!("issue {number}"))).collect();
    let whole = worker_end("security", TaskStatus::Completed, findings);
    let Record::WorkerEnd { result: Some(result), receipt, .. } = cut(&whole) else { panic!() };
    assert!(result.findings.len() >= 16 && result.findings.len() < 60_000, "{}", result.findings.len());
    assert_eq!(result.findings[0].issue, "issue 0");
    assert_eq!(result.handoff_id.as_str(), "handoff-security");
    assert_eq!(receipt["wallMs"], 12);
}

#[test]
fn free_form_values_are_cut_in_every_direction() {
    let keys: Map<String, Value> = (0..400_000).map(|number| (format!("key {number}"), json!(number))).collect();
    let long_key: Map<String, Value> = [("k".repeat(MAX_RECORD_BYTES), json!(1))].into_iter().collect();
    let wide = json!(vec![vec!["word"; 1000]; 1000]);
    for value in [Value::Object(keys), Value::Object(long_key), wide] {
        let Record::FinalReport { final_report, .. } =
            cut(&Record::FinalReport { final_report: value.clone(), attempt: None })
        else {
            panic!()
        };
        assert!(final_report.is_object() || final_report.is_array(), "{final_report}");
        let Record::WorkerEnd { receipt, .. } = cut(&Record::WorkerEnd {
            phase: Phase::Support,
            worker: role("security"),
            result: Some(crate::support::result("security", TaskStatus::Failed, Vec::new())),
            attempt: None,
            receipt: value.clone(),
        }) else {
            panic!()
        };
        assert!(receipt.is_object() || receipt.is_array(), "{receipt}");
        let mut message = AgentMessage::handoff(MessageId::new("m").unwrap(), handoff("security", "look"));
        message.body = MessageBody::Fact(value);
        cut(&Record::AgentMessage { phase: Phase::Support, worker: role("security"), message, attempt: None });
    }
}

#[test]
fn what_no_gentle_cut_makes_small_enough_is_dropped_but_told() {
    // Every level is within the caps of a list and a text; together they are not.
    let leaf = Value::from("x".repeat(256));
    let bushy = (0..4).fold(leaf, |inner, _| Value::from(vec![inner; 16]));
    let Record::WorkerEnd { receipt, worker, .. } = cut(&Record::WorkerEnd {
        phase: Phase::Support,
        worker: role("security"),
        result: Some(crate::support::result("security", TaskStatus::Failed, Vec::new())),
        attempt: None,
        receipt: bushy,
    }) else {
        panic!()
    };
    assert_eq!(receipt, Value::Null);
    assert_eq!(worker, role("security"));
}

#[test]
fn a_message_with_huge_packets_stays_a_message() {
    let mut packet = handoff("security", &"g".repeat(3 * 1024 * 1024));
    packet.constraints = vec!["c".repeat(4096); 1000];
    let message = AgentMessage::handoff(MessageId::new("m").unwrap(), packet);
    let record = Record::AgentMessage { phase: Phase::Support, worker: role("security"), message, attempt: None };
    let Record::AgentMessage { message, .. } = cut(&record) else { panic!() };
    let MessageBody::Handoff(packet) = message.body else { panic!("{:?}", message.body) };
    assert!(packet.task.goal.starts_with("ggg") && packet.task.goal.contains("[cut, 3145728 bytes]"));
    assert_eq!(packet.id.as_str(), "handoff-security");
}

#[test]
fn the_longest_names_survive_the_hardest_cut() {
    let name = RoleName::new("r".repeat(64)).unwrap();
    let error = Record::WorkerError {
        phase: Phase::Review,
        worker: name.clone(),
        handoff_id: Some(brain_packet::HandoffId::new("h".repeat(256)).unwrap()),
        code: None,
        error: "\u{1}".repeat(MAX_RECORD_BYTES),
        attempt: None,
        will_fallback: false,
    };
    let Record::WorkerError { worker, handoff_id, .. } = cut(&error) else { panic!() };
    assert_eq!(worker, name);
    assert_eq!(handoff_id.unwrap().as_str().len(), 256);
}

#[test]
fn a_value_that_nests_too_deep_for_a_reader_is_cut() {
    let deep = (0..1000).fold(json!("core"), |inner, _| json!([inner]));
    let fixture = Fixture::new();
    fixture.append(&Record::FinalReport { final_report: deep, attempt: None });
    let [Record::FinalReport { final_report, .. }] = &fixture.records()[..] else { panic!("it cannot be read") };
    let mut value = final_report;
    let mut depth = 0;
    while let Some(inner) = value.get(0) {
        value = inner;
        depth += 1;
    }
    assert_eq!(depth, MAX_VALUE_DEPTH);
    assert!(value.as_str().unwrap().contains("nested deeper"), "{value}");
}

#[test]
fn a_cut_record_goes_into_an_existing_journal_as_well() {
    let fixture = Fixture::new();
    let again = Journal::open(fixture.home(), fixture.id()).unwrap();
    let appended = again.append(&run_end(&"x".repeat(2 * MAX_RECORD_BYTES))).unwrap();
    assert!(appended.truncated.is_some());
}
