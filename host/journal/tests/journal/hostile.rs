//! Whatever stands in a journal, reading it is no error, takes bounded memory, and says what it passed over.

use std::fs::File;
use std::io::Write;

use brain_journal::{MAX_FILE_BYTES, MAX_LINE_BYTES, ReadLimits, SessionStory, Skipped, list, read, read_with};
use proptest::prelude::*;

use crate::support::{Fixture, run_end, run_start};

#[test]
fn each_kind_of_stranger_is_counted_and_skipped() {
    let deep = format!(r#"{{"timestamp":1,"type":"final_report","finalReport":{}"#, "[".repeat(100_000));
    let malformed: Vec<&[u8]> = vec![
        b"not json",
        b"[1,2]",
        b"17",
        b"null",
        b"\"run_end\"",
        b"{}",
        b"{\"type\":\"run_end\",\"summary\":\"no time\"}",
        b"{\"timestamp\":-1,\"type\":\"run_end\",\"summary\":\"\"}",
        b"{\"timestamp\":\"1\",\"type\":\"run_end\",\"summary\":\"\"}",
        b"{\"timestamp\":1e999,\"type\":\"run_end\",\"summary\":\"\"}",
        b"{\"timestamp\":1,\"type\":[\"run_end\"],\"summary\":\"\"}",
        b"{\"timestamp\":1,\"type\":\"run_end\"}",
        b"{\"timestamp\":1,\"type\":\"run_end\",\"summary\":7}",
        b"{\"timestamp\":1,\"type\":\"run_end\",\"summary\":\"a\"}{}",
        b"{\"timestamp\":1,\"type\":\"run_end\",\"summary\":\"\xff\xfe\"}",
        b"{\"timestamp\":1,\"type\":\"run_end\",\"summary\":\"s\",\"extra\":\"\xc3\"}",
        b"{\"timestamp\":1,\"type\":\"run_end\",\"summary\":\"half",
        b"{\"timestamp\":1,\"type\":\"todo_update\",\"phase\":\"lunch\",\"status\":\"completed\",\"todoIds\":[]}",
        b"\0\0\0\0",
        deep.as_bytes(),
    ];
    let unknown: [&[u8]; 2] =
        [b"{\"timestamp\":1,\"type\":\"from_the_future\",\"x\":{\"y\":3}}", b"{\"timestamp\":1,\"type\":\"\"}"];
    let fixture = Fixture::new();
    fixture.append(&run_start("find it", "/p"));
    let mut bytes = fixture.bytes();
    for line in malformed.iter().chain(&unknown) {
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(b"\n\n  \r\n");
    }
    fixture.write(&bytes);
    fixture.append(&run_end("found"));

    let log = read(fixture.home(), fixture.id()).unwrap();
    let expected = Skipped { malformed: malformed.len() as u64, unknown: 2, ..Skipped::default() };
    assert_eq!(log.skipped, expected);
    assert_eq!(log.records.len(), 2);
    assert_eq!(SessionStory::read(fixture.home(), fixture.id()).unwrap().skipped, expected);
    // A list does not look into the lines that its rows do not need, so it does not know of their faults.
    let of_list = Skipped { malformed: expected.malformed - 1, ..expected };
    assert_eq!(list(fixture.home(), 5, None).unwrap().sessions[0].skipped, of_list);
}

#[test]
fn fields_that_a_later_version_adds_do_no_harm() {
    let fixture = Fixture::new();
    fixture.write(b"{\"timestamp\":1,\"type\":\"run_end\",\"summary\":\"s\",\"tokens\":{\"total\":9}}\r\n");
    assert_eq!(fixture.records(), [run_end("s")]);
}

#[test]
fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
    let fixture = Fixture::new();
    let line = |bytes: usize| {
        let (begin, end) = ("{\"timestamp\":1,\"type\":\"run_end\",\"summary\":\"", "\"}");
        format!("{begin}{}{end}\n", "x".repeat(bytes - begin.len() - end.len()))
    };
    fixture.write([line(MAX_LINE_BYTES), line(MAX_LINE_BYTES + 1), line(100)].concat().as_bytes());
    let log = read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(log.skipped, Skipped { too_long: 1, ..Skipped::default() });
    assert_eq!(log.records.len(), 2);

    // The last line counts as too long, not as torn, when it has no end either.
    fixture.write(line(MAX_LINE_BYTES + 1).trim_end().as_bytes());
    let log = read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(log.skipped, Skipped { too_long: 1, ..Skipped::default() });
}

#[test]
fn of_a_huge_file_the_head_and_the_tail_are_read() {
    let fixture = Fixture::new();
    fixture.append(&run_start("find it", "/p"));
    let head = fixture.bytes().len() as u64;
    let length = 5 * 1024 * 1024 * 1024;
    // Sparse: five gigabytes of nothing in the middle.
    let mut file = File::options().append(true).open(fixture.file()).unwrap();
    file.set_len(length).unwrap();
    file.write_all(b"\n{\"timestamp\":1,\"type\":\"run_end\",\"summary\":\"found\"}\n").unwrap();
    drop(file);

    let log = read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(log.records.len(), 2, "{:?}", log.skipped);
    assert_eq!(log.records[1].record, run_end("found"));
    assert!(log.skipped.unread_bytes >= length - MAX_FILE_BYTES - head, "{:?}", log.skipped);
    assert_eq!(list(fixture.home(), 5, None).unwrap().sessions[0].summary.as_deref(), Some("found"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_without_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..2000), line in 0usize..64) {
        let fixture = Fixture::new();
        fixture.write(&bytes);
        let log = read_with(fixture.home(), fixture.id(), &ReadLimits { line_bytes: line, file_bytes: 1500 }).unwrap();
        prop_assert!(log.records.is_empty());
        SessionStory::read(fixture.home(), fixture.id()).unwrap();
    }

    #[test]
    fn a_limited_file_gives_its_first_and_last_records_and_counts_the_rest(limit in 0u64..4000, records in 1usize..40) {
        let fixture = Fixture::new();
        let mut sizes = Vec::new();
        for number in 0..records {
            sizes.push(fixture.append(&run_end(&"x".repeat(number * 7 % 90))).bytes);
        }
        let all = read(fixture.home(), fixture.id()).unwrap().records;
        let limits = ReadLimits { file_bytes: limit, ..ReadLimits::default() };
        let some = read_with(fixture.home(), fixture.id(), &limits).unwrap();

        let first = some.records.iter().zip(&all).take_while(|(some, all)| some == all).count();
        let last = some.records.len() - first;
        prop_assert_eq!(&some.records[first..], &all[all.len() - last..]);
        prop_assert_eq!(some.skipped.lines(), 0);
        let read_bytes: u64 = sizes[..first].iter().chain(&sizes[sizes.len() - last..]).sum();
        prop_assert_eq!(some.skipped.unread_bytes + read_bytes, fixture.bytes().len() as u64);
        prop_assert!(read_bytes <= limit);
    }
}
