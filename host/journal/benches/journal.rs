//! What journals cost: appending, listing five thousand sessions, and taking in a session of two hundred megabytes.
//!
//! Each figure stands beside what the same bytes cost without any of this crate: a plain append, opening the files, counting
//! the newlines. The bounds are ratios to that, so that they hold on any machine, and a bound on memory.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark reports and fails loudly"
)]

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use brain_journal::{
    AuditSummary, Journal, Phase, ProjectSupport, Record, RunEnd, RunStart, SessionContext, SessionPaths, SessionStory,
    Tail, TokenCounts, TokenUsage, ToolEvent, ToolExecutionSummary, ToolScope, UsageScope, list, parse_session_id,
    usage,
};
use brain_packet::{AgentTaskContext, HandoffId, HandoffPacket, RoleName, SessionId, TaskId, TaskStatus, WorkerResult};
use serde_json::json;

/// Sessions of the home, and bytes of each.
const SESSIONS: usize = 5_000;
const SESSION_BYTES: usize = 20_000;
/// Bytes of the large session.
const LARGE: u64 = 200 << 20;
/// Records that are appended.
const APPENDED: usize = 20_000;
/// Turns of each measurement; the median counts.
const TURNS: usize = 7;

/// Bounds. Appending against a plain write of the same lines, a list against opening the files that it has to open, the
/// snapshot against counting the newlines of the file.
const MAX_APPEND: f64 = 12.0;
const MAX_LIST: f64 = 4.0;
const MAX_SNAPSHOT: f64 = 6.0;
/// What a process may take in memory that lists, sums up and takes snapshots.
const MAX_MEMORY: u64 = 64 << 20;
/// What people are promised, on two cores with the files in the system's cache. Printed, not asserted.
const LIST_TARGET: Duration = Duration::from_millis(100);
const SNAPSHOT_TARGET: Duration = Duration::from_millis(500);

fn main() {
    if let Some(homes) = std::env::args().skip_while(|argument| argument != "--memory").nth(1) {
        measured(Path::new(&homes));
        return;
    }
    let homes = tempfile::tempdir().unwrap();
    let [appended, listed, larger] = ["append", "list", "large"].map(|name| homes.path().join(name));
    append(&appended);
    lists(&listed);
    large(&larger);
    memory(homes.path());
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..TURNS)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[TURNS / 2]
}

fn hold(what: &str, ours: Duration, plain: Duration, bound: f64) {
    let ratio = ours.as_secs_f64() / plain.as_secs_f64();
    println!("{what}: {ours:.1?}, plain {plain:.1?}: {ratio:.2} times (at most {bound})");
    assert!(ratio <= bound, "{what} costs {ratio:.2} times what it may");
}

fn append(home: &Path) {
    let journal = Journal::start(home).unwrap();
    let records: Vec<Record> = (0..APPENDED).map(event).collect();
    let ours = median(|| {
        for record in &records {
            journal.append(record).unwrap();
        }
    });
    let text = std::fs::read(journal.paths().journal()).unwrap();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').skip(1).take(APPENDED).collect();
    let mut file = File::options().append(true).create(true).open(home.join("plain")).unwrap();
    let plain = median(|| lines.iter().for_each(|line| file.write_all(line).unwrap()));
    println!(
        "append: {:.0} records a second, {:.1} µs each",
        APPENDED as f64 / ours.as_secs_f64(),
        ours.as_secs_f64() * 1e6 / APPENDED as f64
    );
    hold("append", ours, plain, MAX_APPEND);
}

fn lists(home: &Path) {
    for number in 0..SESSIONS {
        let id = parse_session_id(&format!("20260101-{number:06}-aaaaaa")).unwrap();
        write(home, &id, SESSION_BYTES as u64, number % 10);
    }
    let sessions = home.join("sessions");
    let mut piece = vec![0; 64 * 1024];
    let plain = median(|| {
        for entry in std::fs::read_dir(&sessions).unwrap() {
            let path = entry.unwrap().path();
            std::fs::metadata(&path).unwrap();
            let _ = File::open(&path).unwrap().read(&mut piece).unwrap();
        }
    });
    let newest = median(|| assert_eq!(list(home, 25, None).unwrap().sessions.len(), 25));
    println!("list, the newest 25 of {SESSIONS}: {newest:.1?} (target {LIST_TARGET:?})");
    let none = median(|| assert_eq!(list(home, 25, Some(Path::new("/none"))).unwrap().sessions.len(), 0));
    println!("list, none of {SESSIONS} of the project: {none:.1?} (target {LIST_TARGET:?})");
    let tenth = median(|| assert_eq!(list(home, 1_000, Some(Path::new("/p3"))).unwrap().sessions.len(), SESSIONS / 10));
    println!("list, a tenth of {SESSIONS} of the project: {tenth:.1?} (target {LIST_TARGET:?})");
    hold("list", none, plain, MAX_LIST);
}

fn large(home: &Path) {
    let id = parse_session_id("20260101-000000-aaaaaa").unwrap();
    write(home, &id, LARGE, 1);
    let path = SessionPaths::new(home, &id).unwrap().journal().to_path_buf();
    let plain = median(|| {
        let (mut file, mut piece, mut newlines) = (File::open(&path).unwrap(), vec![0; 64 * 1024], 0);
        loop {
            match file.read(&mut piece).unwrap() {
                0 => break,
                read => newlines += piece[..read].iter().filter(|byte| **byte == b'\n').count(),
            }
        }
        assert!(newlines > 10);
    });
    let snapshot = median(|| assert!(SessionContext::read(home, &id).unwrap().to_string().contains("the answer")));
    let tokens = median(|| assert!(usage(home, UsageScope::Session(&id)).unwrap().totals.calls > 0));
    let tail = median(|| assert_eq!(Tail::open(home, &id, 10).unwrap().1.len(), 10));
    println!("snapshot of {} MiB: {snapshot:.1?} (target {SNAPSHOT_TARGET:?})", LARGE >> 20);
    println!("usage: {tokens:.1?}; the last 10 records: {tail:.1?}");
    hold("snapshot", snapshot, plain, MAX_SNAPSHOT);
    let story = median(|| assert!(!SessionStory::read(home, &id).unwrap().runs.is_empty()));
    println!("story: {story:.1?}");
}

/// Does everything but the story once more in a process of its own, which made none of the files, and holds its memory.
fn memory(homes: &Path) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.arg("--memory").arg(homes).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let Ok(bytes) = String::from_utf8(output.stdout).unwrap().trim().parse::<u64>() else {
        println!("memory: this system does not tell");
        return;
    };
    println!("memory: {} MiB (at most {})", bytes >> 20, MAX_MEMORY >> 20);
    assert!(bytes <= MAX_MEMORY, "it took {bytes} bytes of memory");
}

fn measured(homes: &Path) {
    let (listed, larger) = (homes.join("list"), homes.join("large"));
    let id = parse_session_id("20260101-000000-aaaaaa").unwrap();
    drop(list(&listed, 1_000, None).unwrap());
    drop(usage(&listed, UsageScope::All).unwrap());
    drop(list(&larger, 25, None).unwrap());
    drop(SessionContext::read(&larger, &id).unwrap());
    drop(usage(&larger, UsageScope::All).unwrap());
    drop(Tail::open(&larger, &id, 10).unwrap());
    println!("{}", peak_memory().map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string()));
}

/// The most memory that this process has had, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}

/// A session of about `bytes`: runs of workers with results, receipts, tools and token counts, as a run with models has them.
fn write(home: &Path, id: &SessionId, bytes: u64, project: usize) {
    let journal = SessionPaths::new(home, id).unwrap().journal().to_path_buf();
    std::fs::create_dir_all(journal.parent().unwrap()).unwrap();
    let mut file = BufWriter::new(File::create(journal).unwrap());
    let (mut written, mut number) = (0, 0);
    let mut put = |record: &Record, number: usize| {
        let mut line = format!("{{\"timestamp\":{},", 1_767_322_800_000 + number).into_bytes();
        line.extend_from_slice(&serde_json::to_vec(record).unwrap()[1..]);
        line.push(b'\n');
        file.write_all(&line).unwrap();
        line.len() as u64
    };
    let project_support = Some(ProjectSupport::at(format!("/p{project}")));
    while written < bytes {
        let start = RunStart { project_support: project_support.clone(), ..RunStart::new("What is wrong here?") };
        written += put(&Record::RunStart(start), number);
        for worker in 0..3 {
            for call in 0..8 {
                written += put(&event(worker * 8 + call), number + call);
            }
            written += put(&ended(number, worker), number);
            number += 10;
        }
        written += put(&Record::RunEnd(RunEnd::new("the answer")), number);
    }
    file.flush().unwrap();
}

fn event(number: usize) -> Record {
    if number.is_multiple_of(4) {
        let usage = TokenCounts { input: 900, output: 80, cache_read: 4_000, cache_write: 0, total: 4_980 };
        return Record::TokenUsage(TokenUsage { usage, model_id: Some("local/m".into()), ..TokenUsage::default() });
    }
    Record::ToolExecutionSummary(ToolExecutionSummary {
        event: if number.is_multiple_of(2) { ToolEvent::Start } else { ToolEvent::End },
        tool_call_id: format!("call-{number}"),
        tool_name: "read_file".into(),
        scope: ToolScope::default(),
        args_summary: AuditSummary::of(&json!({ "path": format!("src/file-{number}.rs") })),
        is_error: None,
        result_summary: AuditSummary::of(&json!({ "text": "fn main() {}\n".repeat(20) })),
    })
}

fn ended(number: usize, worker: usize) -> Record {
    let role = RoleName::new(["librarian", "security", "review"][worker % 3]).unwrap();
    let parent = parse_session_id("20260101-000000-aaaaaa").unwrap();
    let task = AgentTaskContext::new(TaskId::new(format!("t{number}")).unwrap(), parent, role.clone(), "look");
    let handoff = HandoffPacket::new(HandoffId::new(format!("h{number}")).unwrap(), task, "findings");
    let mut result = WorkerResult::answering(&handoff, TaskStatus::Completed, "It is sound.\n".repeat(40));
    result.risks = vec!["It was not run.".into(); 5];
    Record::WorkerEnd {
        phase: Phase::Support,
        worker: role,
        result: Some(result),
        receipt: json!({ "wallMs": 12.5, "granted": vec!["src/**"; 20] }),
        attempt: None,
    }
}
