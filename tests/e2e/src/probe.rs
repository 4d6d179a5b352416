//! Scripts of file calls: a test lists operations, the guest `probe` makes them, and each answer comes back as WASI gave it.

#[path = "../../guests/probe/src/script.rs"]
pub mod script;

use brain_sandbox::{CancelToken, FileGrants, Limits, Role, Run};

use crate::Bench;
use script::{Answer, How, IN_CONTEXT, Op, SCRIPT_FILE, Slot};

/// Characters of a script that still goes into a goal.
const MAX_IN_GOAL: usize = 200_000;
/// Bytes of output that the log of a probed call keeps: a stream is kept whole up to half of it.
const LOG_BYTES: u64 = 512 << 20;

/// What came of a script.
#[derive(Debug)]
pub struct Probed {
    /// The answers that were given, in the order of the operations; fewer when the call was ended.
    pub answers: Vec<Answer>,
    /// The call.
    pub run: Run,
}

impl Probed {
    /// The answer to one operation as a word: `ok`, or the error's code.
    pub fn word(&self, n: usize) -> &str {
        self.answers.get(n).map_or("no answer", Answer::word)
    }
}

impl Answer {
    /// `ok`, the code, or what is wrong with the script.
    pub fn word(&self) -> &str {
        match self {
            Self::Ok(_) => "ok",
            Self::Error(code) => code,
            Self::Broken(why) => why,
        }
    }
}

/// Has `probe`, the loaded guest of that name, make the calls of a script. A script that is too long for a goal is left in
/// `/context/script.json`, and counts there as one file read.
///
/// # Panics
/// When the answers cannot be read back: the guest is at fault then, not the sandbox.
pub fn probe(bench: &Bench, probe: &Role, ops: &[Op]) -> Probed {
    probe_with(bench, probe, ops, |_, _| {})
}

/// As [`probe`], with files and limits that are not the bench's.
///
/// # Panics
/// As [`probe`].
#[allow(clippy::unwrap_used, clippy::panic, reason = "the callers are tests")]
pub fn probe_with(
    bench: &Bench,
    probe: &Role,
    ops: &[Op],
    change: impl FnOnce(&mut FileGrants, &mut Limits),
) -> Probed {
    let text = serde_json::to_string(ops).unwrap();
    let goal = if text.len() <= MAX_IN_GOAL {
        text
    } else {
        std::fs::write(bench.context.path().join(SCRIPT_FILE), text).unwrap();
        IN_CONTEXT.to_owned()
    };
    let log = bench.private.path().join("log");
    // The sandbox appends: what is there is of an earlier call.
    let _ = std::fs::remove_file(&log);
    let run = bench.run_with(probe, &goal, CancelToken::default(), |files, limits| {
        limits.output_bytes = LOG_BYTES;
        change(files, limits);
    });
    let said = std::fs::read(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    Probed { answers: answers(&said), run }
}

/// The answers in a log. The last line of a call that was ended may be cut.
#[allow(clippy::panic, reason = "the callers are tests")]
fn answers(log: &[u8]) -> Vec<Answer> {
    let mut lines =
        log.split(|byte| *byte == b'\n').skip_while(|line| !line.starts_with(b"--- stdout: ")).skip(1).peekable();
    let mut answers = Vec::new();
    while let Some(line) = lines.next_if(|line| !line.is_empty() && !line.starts_with(b"--- ")) {
        match serde_json::from_slice(line) {
            Ok(answer) => answers.push(answer),
            Err(_) if lines.peek().is_none_or(|next| next.is_empty()) => break,
            Err(error) => panic!("an answer that is none: {error}: {}", String::from_utf8_lossy(line)),
        }
    }
    answers
}

/// Opens a file or folder to read, following links.
pub fn open(fd: Slot, path: &str, into: Slot) -> Op {
    open_how(fd, path, How { read: true, symlink_follow: true, ..How::default() }, into)
}

/// Creates or opens a file to read and write it.
pub fn create(fd: Slot, path: &str, into: Slot) -> Op {
    open_how(fd, path, How { read: true, write: true, create: true, ..How::default() }, into)
}

/// Opens in any way.
pub fn open_how(fd: Slot, path: &str, how: How, into: Slot) -> Op {
    Op::OpenAt { fd, path: path.into(), how, into }
}
