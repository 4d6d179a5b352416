//! A crash in the middle of a line costs that line and nothing else.

use brain_journal::{Record, Skipped, read};
use brain_packet::{AgentMessage, MessageId, TaskStatus};

use crate::support::{Fixture, handoff, role, run_end, run_start, worker_end};

fn last_record() -> Record {
    Record::AgentMessage {
        phase: brain_journal::Phase::Support,
        worker: role("librarian"),
        message: AgentMessage::handoff(
            MessageId::new("m1").unwrap(),
            handoff("librarian", "où est le journal? 日誌 \"\\ \u{1f9e0}\n"),
        ),
        attempt: None,
    }
}

#[test]
fn a_line_torn_at_any_byte_is_skipped_counted_and_closed() {
    let fixture = Fixture::new();
    let before = [run_start("find it", "/p"), worker_end("librarian", TaskStatus::Completed, Vec::new())];
    fixture.append_all(&before);
    let kept = fixture.bytes();
    fixture.append(&last_record());
    let whole = fixture.bytes();
    let next = run_end("found");
    let read_now = || read(fixture.home(), fixture.id()).unwrap();

    for cut in kept.len()..=whole.len() {
        fixture.write(&whole[..cut]);
        let nothing_of_it = cut == kept.len();
        let all_of_it = cut + 1 >= whole.len();
        let lost = u64::from(!nothing_of_it && !all_of_it);

        let torn = read_now();
        assert_eq!(torn.skipped, Skipped { torn_lines: lost, ..Skipped::default() }, "cut at {cut}");
        assert_eq!(torn.records.len(), before.len() + usize::from(all_of_it), "cut at {cut}");

        fixture.append(&next);
        let closed = read_now();
        assert_eq!(closed.skipped, Skipped { malformed: lost, ..Skipped::default() }, "cut at {cut}");
        assert_eq!(closed.records.len(), torn.records.len() + 1, "cut at {cut}");
        assert_eq!(closed.records.last().unwrap().record, next, "cut at {cut}");
        assert!(fixture.bytes().ends_with(b"\n"));
    }
}

#[test]
fn a_file_that_ends_in_zeros_is_closed_too() {
    let fixture = Fixture::new();
    fixture.append(&run_start("find it", "/p"));
    let mut bytes = fixture.bytes();
    bytes.extend([0; 5000]);
    fixture.write(&bytes);
    fixture.append(&run_end("found"));
    let log = read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(log.records.len(), 2);
    assert_eq!(log.skipped, Skipped { malformed: 1, ..Skipped::default() });
}
