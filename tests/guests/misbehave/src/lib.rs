//! Does what its goal says, most of it forbidden or without end. Tests of the sandbox give it a goal and look at what
//! comes of it.
//!
//! The goal is a verb and what it works on, separated by one space. The summary of the result starts with the goal and
//! reports what happened: `ok …`, or `error <io::ErrorKind> os=<errno>`, where errno is wasi-libc's.
//!
//! | verb | does |
//! |---|---|
//! | `all <goal> ;; <goal> …` | several of the file verbs in one call, one after the other |
//! | `open <path>` | opens and reads a file: `ok <bytes> bytes` |
//! | `list <path>` | lists a directory: `ok <names>: a, b` |
//! | `stat <path>` | metadata: `ok <kind> <bytes> bytes` |
//! | `readlink <path>` | the target of a symbolic link |
//! | `open-often <n> <path>` | opens and reads a file n times: how often it opened, and the sizes that it had |
//! | `write <path>` | creates the file with five bytes |
//! | `append <path>`, `truncate <path>`, `remove <path>`, `mkdir <path>`, `rmdir <path>` | as named |
//! | `rename <from> -> <to>`, `hardlink <from> -> <to>`, `symlink <target> -> <new>` | as named, across preopens too |
//! | `preopens` | the guest paths of the preopened directories, and what a raw `open-at` of `..`, `/etc/passwd` and an empty path answers |
//! | `handles [n]` | opens `/workspace` over and over and keeps every handle, n times or until an error (default 100,000) |
//! | `env` | environment, arguments and current directory |
//! | `stdin` | reads standard input to its end |
//! | `spin` | computes without end |
//! | `sleep <ms>` | sleeps; a huge number sleeps for ever |
//! | `alloc` | allocates and touches memory without end |
//! | `alloc-politely` | asks for a mebibyte at a time until it gets none, then returns |
//! | `recurse` | recurses on the call stack until it ends |
//! | `recurse-memory` | recurses on the stack in linear memory until it ends |
//! | `flood-stdout [bytes]`, `flood-stderr [bytes]` | writes that much (default 64 MiB), then returns |
//! | `return-100mb` | a summary of 100 MiB |
//! | `return-many [n]` | n empty risks (default 5,000,000) |
//! | `return-findings [n]` | n findings (default 100,000) |
//! | `echo` | wrong ids, NaN and infinite numbers, blank items, impossible lines, escapes, repeated coverage |
//! | `pending`, `running` | returns that status |
//! | `trap` | an unreachable instruction |
//! | `panic <msg>` | panics |
//! | `exit <code>` | exits the process |
//! | `artifact <name> <bytes>` | leaves one artifact of that size |
//! | `artifact-flood` | one artifact that grows until an error |
//! | `nameless <n> <bytes>` | n artifacts of that size, each removed while it stays open |
//! | `nameless-closed <n> <bytes>` | the same, each closed after it is removed |
//! | `many-files [n]` | n empty artifacts (default 100,000) or until an error |
//! | `model`, `tools` | calls every function of the import and reports the answers |
//! | `tools-large <bytes>` | calls a tool with an argument of that size |
//! | `random [bytes]` | asks for random bytes in one call (default 16) and reports the first eight |
//! | `random-often <n> <bytes>` | asks for that many random bytes n times, of both kinds in turns |
//! | `random-numbers` | asks for random numbers of both kinds without end |
//! | `clock` | reads both clocks |
//! | `threads` | spawns a thread |
//! | `connect <addr>`, `resolve <host>` | opens a TCP connection, looks a name up |
//! | `say <text>` | writes the text to stdout and stderr, then returns it |
//! | `fail <msg>`, `block <msg>` | returns that status |

mod calls;
mod endless;
mod files;
#[cfg(target_family = "wasm")]
mod raw;
mod replies;

use brain_role::{Handoff, Outcome, WorkerResult};

brain_role::role!(run);

/// Does what the goal says.
pub fn run(handoff: Handoff) -> WorkerResult {
    let goal = handoff.goal().to_owned();
    let (verb, rest) = goal.split_once(' ').unwrap_or((&goal, ""));
    if let Some(report) = on_files(&goal) {
        return Outcome::completed(format!("{goal}: {report}")).into_result(&handoff);
    }
    let report = match verb {
        // Several file verbs in one call, one after the other.
        "all" => rest.split(" ;; ").map(|goal| on_files(goal).unwrap_or_default()).collect::<Vec<_>>().join(" ;; "),
        "preopens" => preopens(),
        "handles" => files::handles(number(rest, 100_000)),
        "artifact" => files::artifact(rest),
        "artifact-flood" => files::artifact_flood(),
        "nameless" => files::nameless(rest, true),
        "nameless-closed" => files::nameless(rest, false),
        "many-files" => files::many(number(rest, 100_000)),
        "spin" => endless::spin(),
        "alloc" => endless::alloc(),
        "alloc-politely" => endless::alloc_politely(),
        "recurse" => endless::recurse(),
        "recurse-memory" => endless::recurse_memory(),
        "sleep" => endless::sleep(number(rest, 1_000)),
        "flood-stdout" => endless::flood(&mut std::io::stdout().lock(), number(rest, 64 << 20)),
        "flood-stderr" => endless::flood(&mut std::io::stderr().lock(), number(rest, 64 << 20)),
        "env" => calls::env(),
        "stdin" => calls::stdin(),
        "model" => calls::model(),
        "tools" => calls::tools(),
        "tools-large" => calls::tools_large(number(rest, 1)),
        "random" => random(number(rest, 16)),
        "random-often" => random_often(rest),
        "random-numbers" => random_numbers(),
        "clock" => calls::clock(),
        "threads" => calls::threads(),
        "connect" => calls::connect(rest),
        "resolve" => calls::resolve(rest),
        "say" => calls::say(rest),
        "trap" => trap(),
        "panic" => panic(rest),
        "exit" => std::process::exit(number(rest, 1) as i32),
        "return-100mb" => return replies::one_large(&handoff, 100 << 20),
        "return-many" => return replies::many_risks(&handoff, number(rest, 5_000_000)),
        "return-findings" => return replies::many_findings(&handoff, number(rest, 100_000)),
        "echo" => return replies::echo(),
        "pending" => return replies::with_status(&handoff, brain_role::TaskStatus::Pending),
        "running" => return replies::with_status(&handoff, brain_role::TaskStatus::Running),
        "block" => return Outcome::blocked(rest).into_result(&handoff),
        "fail" => return Outcome::failed(rest).into_result(&handoff),
        _ => return Outcome::failed(format!("no verb {verb:?}")).into_result(&handoff),
    };
    Outcome::completed(format!("{goal}: {report}")).into_result(&handoff)
}

/// What came of a goal that is about files.
fn on_files(goal: &str) -> Option<String> {
    let (verb, rest) = goal.split_once(' ').unwrap_or((goal, ""));
    Some(match verb {
        "open" => files::open(rest),
        "list" => files::list(rest),
        "stat" => files::stat(rest),
        "readlink" => files::readlink(rest),
        "open-often" => files::open_often(rest),
        "write" => files::write(rest),
        "append" => files::append(rest),
        "truncate" => files::truncate(rest),
        "remove" => files::remove(rest),
        "mkdir" => files::mkdir(rest),
        "rmdir" => files::rmdir(rest),
        "rename" => files::rename(rest),
        "hardlink" => files::hardlink(rest),
        "symlink" => symlink(rest),
        _ => return None,
    })
}

/// The number that a goal gives, or a default.
fn number(text: &str, default: u64) -> u64 {
    text.trim().parse().unwrap_or(default)
}

/// `ok …` or `error <kind> os=<errno>`.
fn told<T>(result: std::io::Result<T>, ok: impl FnOnce(T) -> String) -> String {
    match result {
        Ok(value) => format!("ok {}", ok(value)).trim_end().to_owned(),
        Err(error) => {
            let errno = error.raw_os_error().map_or_else(|| "none".to_owned(), |errno| errno.to_string());
            format!("error {:?} os={errno}", error.kind())
        }
    }
}

#[allow(clippy::panic)]
fn panic(message: &str) -> String {
    panic!("{message}")
}

#[cfg(target_family = "wasm")]
fn trap() -> String {
    core::arch::wasm32::unreachable()
}

#[cfg(not(target_family = "wasm"))]
fn trap() -> String {
    std::process::abort()
}

#[cfg(target_family = "wasm")]
use raw::{preopens, random, random_numbers, random_often, symlink};

#[cfg(not(target_family = "wasm"))]
fn symlink(_: &str) -> String {
    "only in a component".to_owned()
}

#[cfg(not(target_family = "wasm"))]
fn preopens() -> String {
    "only in a component".to_owned()
}

#[cfg(not(target_family = "wasm"))]
fn random(_: u64) -> String {
    "only in a component".to_owned()
}

#[cfg(not(target_family = "wasm"))]
fn random_often(_: &str) -> String {
    "only in a component".to_owned()
}

#[cfg(not(target_family = "wasm"))]
fn random_numbers() -> String {
    "only in a component".to_owned()
}
