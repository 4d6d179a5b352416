//! A session in short: its bounds, its last records, what it cost, and what a file says of itself.

use std::fs::File;
use std::io::Write;

use brain_journal::{
    AuditSummary, ContextEntry, HandoffBrief, JOURNAL_VERSION, Journal, MAX_AUDIT_CHARS, MAX_AUDIT_DEPTH,
    MAX_AUDIT_ITEMS, MAX_AUDIT_KEYS, MAX_INLINE_SESSION_CHARS, MAX_RECENT_CALLS, MAX_SESSION_FIELD_CHARS,
    MAX_SNAPSHOT_ENTRIES, Record, RunEnd, RunStart, SessionContext, SessionStatus, SessionStory, Tail, TokenCounts,
    TokenUsage, UsageScope, UsageStats, read, usage,
};
use brain_packet::TaskStatus;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generated::counts;
use crate::roundtrip::json as any_json;
use crate::support::{Fixture, role, run_end, run_error, run_start, worker_end};

#[test]
fn a_file_begins_with_what_it_is() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::start(home.path()).unwrap();
    let text = std::fs::read_to_string(journal.paths().journal()).unwrap();
    assert_eq!(text.lines().count(), 1);
    let first: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&first["type"], &first["version"]), (&json!("journal"), &json!(JOURNAL_VERSION)));
    Journal::open(home.path(), journal.id()).unwrap().append(&run_end("done")).unwrap();
    assert_eq!(read(home.path(), journal.id()).unwrap().records.len(), 2, "opening writes no other");
    let story = SessionStory::read(home.path(), journal.id()).unwrap();
    assert_eq!((story.journal_version, story.runs.len()), (Some(JOURNAL_VERSION), 1));
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn widest(value: &Value) -> (usize, usize) {
    let (own, inner): ((usize, usize), Vec<_>) = match value {
        Value::Array(items) => ((items.len(), 0), items.iter().map(widest).collect()),
        Value::Object(fields) => ((0, fields.len()), fields.values().map(widest).collect()),
        _ => ((0, 0), vec![]),
    };
    inner.into_iter().fold(own, |(items, keys), (i, k)| (items.max(i), keys.max(k)))
}

#[test]
fn an_audit_summary_says_what_it_leaves_out() {
    let keys: serde_json::Map<String, Value> = (0..50).map(|key| (format!("k{key:02}"), json!(key))).collect();
    let summary = AuditSummary::of(&Value::Object(keys));
    assert_eq!(summary.value()["__truncatedKeys"], 10);
    assert_eq!(summary.value().as_object().unwrap().len(), MAX_AUDIT_KEYS + 1);
    let deep = (0..9).fold(json!("core"), |inner, _| json!([inner]));
    assert_eq!(AuditSummary::of(&deep).value(), &json!([[[["[MaxDepth]"]]]]));
    let edge = json!("x".repeat(MAX_AUDIT_CHARS - 2));
    assert_eq!(AuditSummary::of(&edge).value(), &edge);
    let over = AuditSummary::of(&json!("ü".repeat(MAX_AUDIT_CHARS - 1)));
    assert_eq!((&over.value()["truncated"], &over.value()["chars"]), (&json!(true), &json!(MAX_AUDIT_CHARS + 1)));
    assert!(over.value()["preview"].as_str().unwrap().starts_with("\"üüü"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_audit_summary_is_within_its_bounds_and_its_own_summary(
        value in any_json(),
        copies in 1usize..60,
        text in "[\"\\\\\n\u{1}ü ]{0,400}",
        nest in 0usize..8,
    ) {
        let wide = json!(vec![json!({ "value": value, "text": text }); copies]);
        let value = (0..nest).fold(wide, |inner, level| json!({ format!("level {level}"): inner }));
        let summary = AuditSummary::of(&value);
        let json = summary.value().to_string();
        prop_assert!(json.chars().count() <= MAX_AUDIT_CHARS, "{}", json.len());
        prop_assert!(depth(summary.value()) <= MAX_AUDIT_DEPTH);
        let (items, keys) = widest(summary.value());
        prop_assert!(items <= MAX_AUDIT_ITEMS + 1 && keys <= MAX_AUDIT_KEYS + 1);
        prop_assert_eq!(&AuditSummary::of(summary.value()), &summary);
        let read: AuditSummary = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(read, summary);
    }

    #[test]
    fn usage_adds_up_whichever_names_a_provider_uses(calls in proptest::collection::vec(counts(), 0..30)) {
        let fixture = Fixture::new();
        let mut total = 0u64;
        for (number, call) in calls.iter().enumerate() {
            total = total.saturating_add(call.total);
            let usage = TokenUsage { usage: *call, model_id: Some(format!("m{}", number % 3)), ..TokenUsage::default() };
            fixture.journal.append_at(&Record::TokenUsage(usage), &Default::default(), number as u64).unwrap();
        }
        let stats = usage(fixture.home(), UsageScope::All).unwrap();
        prop_assert_eq!(stats.totals.calls, calls.len() as u64);
        prop_assert_eq!(stats.totals.tokens.total, total);
        prop_assert_eq!(stats.by_model.iter().map(|group| group.totals.calls).sum::<u64>(), calls.len() as u64);
        let ordered = stats.by_model.windows(2).all(|pair| pair[0].totals.tokens.total >= pair[1].totals.tokens.total);
        prop_assert!(ordered);
        let newest: Vec<u64> = stats.recent.iter().map(|call| call.timestamp).collect();
        let expected: Vec<u64> = (0..calls.len() as u64).rev().take(MAX_RECENT_CALLS).collect();
        prop_assert_eq!(newest, expected);
        prop_assert!(stats.cache_hit_percent <= 100);
    }
}

#[test]
fn the_first_positive_of_a_figures_names_counts() {
    let counts = |value: Value| TokenCounts::from_provider(&value);
    let four = |input, output, cache_read, cache_write, total| {
        Some(TokenCounts { input, output, cache_read, cache_write, total })
    };
    assert_eq!(counts(json!({ "input": 3, "inputTokens": 9, "output_tokens": 4 })), four(3, 4, 0, 0, 7));
    assert_eq!(counts(json!({ "input": 0, "prompt_tokens": 9.9, "total": -1 })), four(9, 0, 0, 0, 9));
    assert_eq!(counts(json!({ "cache_read": 5, "cacheWriteTokens": 6, "totalTokens": 40 })), four(0, 0, 5, 6, 40));
    assert_eq!(counts(json!({ "total_tokens": 1e300 })), four(0, 0, 0, 0, u64::MAX));
    for nothing in [json!({}), json!(null), json!([7]), json!({ "input": "9" }), json!({ "input": 0.4 })] {
        assert_eq!(counts(nothing.clone()), None, "{nothing}");
    }
    assert_eq!(usage(tempfile::tempdir().unwrap().path(), UsageScope::All).unwrap(), UsageStats::default());
}

#[test]
fn a_snapshot_has_the_last_entries_and_is_bounded_whatever_they_say() {
    let fixture = Fixture::new();
    let long = "ü".repeat(100_000);
    fixture.append(&run_start(&format!("first {long}"), "/p"));
    for number in 0..MAX_SNAPSHOT_ENTRIES + 3 {
        fixture.append(&worker_end(&format!("w{number}"), TaskStatus::Completed, vec![]));
    }
    fixture.append(&run_end(&long));
    let context = SessionContext::read(fixture.home(), fixture.id()).unwrap();
    assert_eq!((context.entries.len(), context.truncated), (MAX_SNAPSHOT_ENTRIES, true));
    assert!(matches!(
        context.entries.last(),
        Some(ContextEntry::Run { status: SessionStatus::Completed, role: Some(_), .. })
    ));
    assert!(matches!(&context.entries[0], ContextEntry::Worker { role: first, .. } if *first == role("w4")));
    assert_eq!(context.prompt.as_ref().unwrap().chars().count(), MAX_SESSION_FIELD_CHARS);
    assert!(context.prompt.as_ref().unwrap().ends_with("ü..."));
    let text = context.to_string();
    assert!(text.contains("- earlier records omitted"), "{text}");
    assert!(text.chars().count() <= MAX_INLINE_SESSION_CHARS);
}

#[test]
fn a_long_session_is_told_from_its_end_and_keeps_its_first_prompt() {
    let fixture = Fixture::new();
    fixture.append(&run_start("the first", "/p"));
    fixture.append(&run_end("the first answer"));
    fixture.append(&Record::Handoff(HandoffBrief { summary: "so far".into(), ..HandoffBrief::default() }));
    for _ in 0..600 {
        fixture.append(&worker_end("security", TaskStatus::Completed, vec![]));
    }
    let context = SessionContext::read(fixture.home(), fixture.id()).unwrap();
    assert_eq!((context.prompt.as_deref(), context.summary.as_deref()), (Some("the first"), Some("the first answer")));
    assert_eq!((context.status, context.truncated), (SessionStatus::Completed, true));
    assert!(context.handoff.as_ref().unwrap().fresh);
    fixture.append(&run_start("the second", "/p"));
    let context = SessionContext::read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(context.status, SessionStatus::Incomplete);
    assert!(!context.handoff.as_ref().unwrap().fresh);
    let Some(ContextEntry::Run { status: SessionStatus::Incomplete, prompt, .. }) = context.entries.last() else {
        panic!("{:?}", context.entries.last())
    };
    assert_eq!(prompt.as_deref(), Some("the second"));
}

#[test]
fn a_failure_outside_of_a_run_is_an_entry_of_its_own() {
    let fixture = Fixture::new();
    fixture.append_all(&[run_error("lost"), run_start("p", "/p"), run_error("stopped")]);
    let context = SessionContext::read(fixture.home(), fixture.id()).unwrap();
    assert!(matches!(&context.entries[0], ContextEntry::Error { error } if error == "lost"));
    assert!(matches!(&context.entries[1], ContextEntry::Run { status: SessionStatus::Failed, .. }));
}

#[test]
fn a_tail_begins_with_the_last_records_and_goes_on_line_by_line() {
    let fixture = Fixture::new();
    fixture.append(&Record::RunStart(RunStart::new("one")));
    for number in 0..20 {
        fixture.append(&worker_end(&format!("w{number}"), TaskStatus::Completed, vec![]));
    }
    let (mut tail, last) = Tail::open(fixture.home(), fixture.id(), 3).unwrap();
    let names: Vec<_> = last
        .iter()
        .map(|entry| match &entry.record {
            Record::WorkerEnd { worker, .. } => worker.to_string(),
            other => other.type_name().to_owned(),
        })
        .collect();
    assert_eq!(names, ["w17", "w18", "w19"]);
    assert!(!tail.run_has_ended());
    assert_eq!(tail.added().unwrap(), []);

    // Half a line is none yet.
    let mut raw = File::options().append(true).open(fixture.file()).unwrap();
    raw.write_all(b"{\"timestamp\":7,\"type\":\"run_end\",\"summ").unwrap();
    assert_eq!(tail.added().unwrap(), []);
    raw.write_all(b"ary\":\"done\"}\nnonsense\n{\"timestamp\":8,\"type\":\"from_the_future\"}\n").unwrap();
    let added = tail.added().unwrap();
    assert_eq!(added.iter().map(|entry| &entry.record).collect::<Vec<_>>(), [&Record::RunEnd(RunEnd::new("done"))]);
    assert!(tail.run_has_ended());
    assert_eq!((tail.skipped().malformed, tail.skipped().unknown), (1, 1));
    fixture.append(&Record::RunStart(RunStart::new("two")));
    assert_eq!(tail.added().unwrap().len(), 1);
    assert!(!tail.run_has_ended());

    let (tail, none) = Tail::open(fixture.home(), fixture.id(), 0).unwrap();
    assert_eq!((none.len(), tail.run_has_ended()), (0, false));
}
