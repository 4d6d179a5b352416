//! Several writers of one journal, as threads and as processes, and writers that die, hang, or run out of room.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::time::Duration;

use brain_journal::{Journal, JournalError, Record, Skipped, parse_session_id, read};

use crate::support::{Fixture, run_end};

/// Set for a process that is to append: its home, the session, the writer's name, how many records, how large at most, and
/// after how many records it waits for a line on its standard input.
const WRITER: [&str; 6] =
    ["JOURNAL_HOME", "JOURNAL_ID", "JOURNAL_WRITER", "JOURNAL_RECORDS", "JOURNAL_BYTES", "JOURNAL_ROUND"];

/// How many times it waits so, when not every time.
const GATES: &str = "JOURNAL_GATES";

/// A process of this test binary that runs [`appends_when_told_to`] alone.
fn writer(fixture: &Fixture, name: &str, records: usize, bytes: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    configure(&mut command, fixture, name, records, bytes);
    command
}

fn configure(command: &mut Command, fixture: &Fixture, name: &str, records: usize, bytes: usize) {
    let (records, bytes) = (records.to_string(), bytes.to_string());
    let never = usize::MAX.to_string();
    let home = fixture.home().to_str().unwrap();
    command
        .args(["--exact", "processes::appends_when_told_to", "--nocapture", "--test-threads=1"])
        .envs(WRITER.iter().zip([home, fixture.id().as_str(), name, &records, &bytes, &never]))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
}

/// What the other processes run. Without the variables there is nothing to do: the tests below are what it is for.
#[test]
fn appends_when_told_to() {
    let [Ok(home), Ok(id), Ok(name), Ok(records), Ok(bytes), Ok(round)] = WRITER.map(std::env::var) else { return };
    let journal = Journal::open(Path::new(&home), &parse_session_id(&id).unwrap()).unwrap();
    let [records, bytes, round]: [usize; 3] = [records, bytes, round].map(|number| number.parse().unwrap());
    let gates: usize = std::env::var(GATES).map_or(usize::MAX, |gates| gates.parse().unwrap());
    for number in 0..records {
        if number % round == 0 && number > 0 && number / round <= gates {
            println!("waiting");
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
        match journal.append(&numbered(&name, number, bytes)) {
            Ok(_) => println!("wrote {number}"),
            Err(error) => {
                let code = miette::Diagnostic::code(&error).map(|code| code.to_string());
                println!("failed {number} {}", code.unwrap_or_default());
                return;
            }
        }
    }
}

/// Record `number` of a writer, of a size that changes from record to record.
fn numbered(writer: &str, number: usize, bytes: usize) -> Record {
    // Not `run_end` and its like, which are flushed to the disk one by one.
    Record::WorkerError {
        phase: brain_journal::Phase::Support,
        worker: crate::support::role("librarian"),
        handoff_id: None,
        code: Some(format!("{writer} {number}")),
        error: writer.repeat(number * 7919 % bytes.max(1)),
        attempt: None,
        will_fallback: false,
    }
}

fn codes(records: &[Record]) -> Vec<String> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::WorkerError { code, .. } => code.clone(),
            _ => None,
        })
        .collect()
}

fn expect_every_record(fixture: &Fixture, writers: &[&str], each: usize, bytes: usize) {
    let log = read(fixture.home(), fixture.id()).unwrap();
    assert!(log.skipped.is_nothing(), "{:?}", log.skipped);
    assert_eq!(log.records.len(), writers.len() * each);
    for writer in writers {
        let own = log.records.iter().map(|entry| &entry.record).filter(
            |record| matches!(record, Record::WorkerError { code: Some(code), .. } if code.starts_with(writer)),
        );
        let expected = (0..each).map(|number| numbered(writer, number, bytes));
        assert!(own.eq(expected.collect::<Vec<_>>().iter()), "the records of {writer}");
    }
}

#[test]
fn processes_that_append_at_once_tear_no_line() {
    const ROUNDS: usize = 10;
    const EACH: usize = 3000;
    const BYTES: usize = 9000;
    let fixture = Fixture::new();
    let mut children = ["a", "b"].map(|name| {
        let mut command = writer(&fixture, name, EACH, BYTES);
        command.env(WRITER[5], (EACH / ROUNDS).to_string()).stdin(Stdio::piped()).spawn().unwrap()
    });
    let mut inputs = children.each_mut().map(|child| child.stdin.take().unwrap());
    let mut outputs = children.each_mut().map(|child| BufReader::new(child.stdout.take().unwrap()).lines());
    // Neither begins a round before both have ended the last one, so every round has records of both.
    for _ in 1..ROUNDS {
        for output in &mut outputs {
            assert!(output.any(|line| line.unwrap() == "waiting"));
        }
        for input in &mut inputs {
            input.write_all(b"\n").unwrap();
        }
    }
    outputs.into_iter().for_each(|output| output.for_each(drop));
    assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()));

    expect_every_record(&fixture, &["a", "b"], EACH, BYTES);
    let codes = codes(&fixture.records());
    let turns = codes.windows(2).filter(|pair| pair[0].as_bytes()[0] != pair[1].as_bytes()[0]).count();
    assert!(turns >= ROUNDS, "the writers took {turns} turns");
}

/// Four processes that share one session and four with a session each, 100 000 records together.
#[test]
fn eight_processes_append_a_hundred_thousand_records_and_tear_no_line() {
    const EACH: usize = 12_500;
    const BYTES: usize = 300;
    let shared = Fixture::new();
    let own = [Fixture::new(), Fixture::new(), Fixture::new(), Fixture::new()];
    let names = ["a", "b", "c", "d"];
    let spawn = |fixture: &Fixture, name: &str| {
        let mut command = writer(fixture, name, EACH, BYTES);
        // All begin at once: each waits for a line before its second record.
        command.env(WRITER[5], "1").env(GATES, "1").stdin(Stdio::piped()).spawn().unwrap()
    };
    let mut children: Vec<_> = names.iter().map(|name| spawn(&shared, name)).collect();
    children.extend(own.iter().zip(names).map(|(fixture, name)| spawn(fixture, name)));
    let mut outputs: Vec<_> = children.iter_mut().map(|c| BufReader::new(c.stdout.take().unwrap()).lines()).collect();
    for output in &mut outputs {
        assert!(output.any(|line| line.unwrap() == "waiting"));
    }
    for child in &mut children {
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
    }
    std::thread::scope(|scope| {
        for output in outputs {
            scope.spawn(move || output.for_each(drop));
        }
    });
    assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()));
    expect_every_record(&shared, &names, EACH, BYTES);
    for (fixture, name) in own.iter().zip(names) {
        expect_every_record(fixture, &[name], EACH, BYTES);
    }
}

#[test]
fn threads_that_append_at_once_tear_no_line() {
    const EACH: usize = 300;
    const BYTES: usize = 100_000;
    let fixture = Fixture::new();
    let other = Journal::open(fixture.home(), fixture.id()).unwrap();
    let begin = Barrier::new(4);
    std::thread::scope(|scope| {
        for (name, journal) in [("a", &fixture.journal), ("b", &fixture.journal), ("c", &other), ("d", &other)] {
            let begin = &begin;
            scope.spawn(move || {
                begin.wait();
                for number in 0..EACH {
                    journal.append(&numbered(name, number, BYTES)).unwrap();
                }
            });
        }
    });
    expect_every_record(&fixture, &["a", "b", "c", "d"], EACH, BYTES);
}

#[test]
fn a_reader_sees_whole_lines_while_others_append() {
    let fixture = Fixture::new();
    let mut child = writer(&fixture, "a", 400, 60_000).spawn().unwrap();
    let mut reports = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = 0;
    while reports.any(|line| line.unwrap().starts_with("wrote ")) {
        let log = read(fixture.home(), fixture.id()).unwrap();
        assert!(log.skipped.is_nothing(), "{:?}", log.skipped);
        assert!(log.records.len() >= seen);
        seen = log.records.len();
        if seen == 400 {
            break;
        }
    }
    assert_eq!(seen, 400);
    reports.for_each(drop);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_killed_writer_costs_at_most_its_last_line() {
    let fixture = Fixture::new();
    let mut child = writer(&fixture, "a", usize::MAX, 60_000).spawn().unwrap();
    let mut reports = BufReader::new(child.stdout.take().unwrap()).lines();
    let written = reports.by_ref().filter(|line| line.as_ref().unwrap().starts_with("wrote ")).take(200).count();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(written, 200);

    // The lock died with the process: the next append does not wait for it.
    let journal = Journal::open(fixture.home(), fixture.id()).unwrap().with_lock_wait(Duration::ZERO);
    journal.append(&run_end("after")).unwrap();
    let log = read(fixture.home(), fixture.id()).unwrap();
    assert!(log.skipped.lines() <= 1, "{:?}", log.skipped);
    assert!(log.records.len() > 200);
    assert_eq!(log.records.last().unwrap().record, run_end("after"));
    let records: Vec<Record> = log.records.into_iter().map(|entry| entry.record).collect();
    let codes = codes(&records);
    assert!(codes.iter().enumerate().all(|(number, code)| *code == format!("a {number}")));
}

#[test]
fn a_lock_that_is_never_given_back_ends_the_wait() {
    let fixture = Fixture::new();
    fixture.append(&run_end("before"));
    let before = fixture.bytes();
    let hung = File::open(fixture.file()).unwrap();
    hung.lock().unwrap();

    let journal = Journal::open(fixture.home(), fixture.id()).unwrap().with_lock_wait(Duration::ZERO);
    let error = journal.append(&run_end("meanwhile")).unwrap_err();
    assert!(matches!(error, JournalError::Locked { .. }), "{error:?}");
    assert_eq!(fixture.bytes(), before);
    // Reading goes on, and takes half a line for what it is while the lock is held: one that is being written.
    assert_eq!(fixture.records(), [run_end("before")]);
    let half = [&before[..], b"{\"timestamp\":1,\"ty"].concat();
    fixture.write(&half);
    let torn_lines = || read(fixture.home(), fixture.id()).unwrap().skipped.torn_lines;
    assert_eq!(torn_lines(), 0);
    hung.unlock().unwrap();
    assert_eq!(torn_lines(), 1);
    fixture.write(&before);
    journal.append(&run_end("after")).unwrap();
    assert_eq!(fixture.records(), [run_end("before"), run_end("after")]);
}

/// A file size limit stands in for a full disk: the system writes what fits and then refuses, as it does on a full one.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_leaves_no_half_record() {
    let fixture = Fixture::new();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    configure(&mut command, &fixture, "a", 1000, 5000);
    let output = command.output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let written = report.lines().filter(|line| line.contains("wrote ")).count();
    assert!(report.contains(&format!("failed {written} journal.disk-full")), "{report}");
    assert!(written > 1, "{report}");

    let log = read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(log.skipped, Skipped::default());
    assert_eq!(log.records.len(), written);
    assert!(fixture.bytes().ends_with(b"\n"));
    fixture.append(&run_end("after there is room again"));
    assert_eq!(fixture.records().len(), written + 1);
}

/// Half a line that could not be taken back, as a crash leaves it, does not stop the writers that come after.
#[test]
fn writers_close_what_another_left_open() {
    let fixture = Fixture::new();
    fixture.append(&run_end("before"));
    File::options().append(true).open(fixture.file()).unwrap().write_all(b"{\"timestamp\":1,\"ty").unwrap();
    let output = writer(&fixture, "a", 3, 10).output().unwrap();
    assert!(output.status.success());
    let log = read(fixture.home(), fixture.id()).unwrap();
    assert_eq!(log.skipped, Skipped { malformed: 1, ..Skipped::default() });
    assert_eq!(log.records.len(), 4);
}
