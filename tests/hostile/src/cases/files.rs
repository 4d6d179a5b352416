//! Files: floods, extremes, and writes where only reading is granted.

use brain_tests::probe::script::{ARTIFACTS, Answer, CONTEXT, FREE, How, Op, Stamp, Value, WORKSPACE};
use brain_tests::probe::{create, open, open_how};

use brain_sandbox::LimitName;

use crate::case::{Case, Guest, Seen};

/// Numbers at which arithmetic goes wrong.
const EXTREMES: [u64; 6] = [1 << 31, (1 << 32) + 1, (1 << 63) - 1, 1 << 63, u64::MAX - 1, u64::MAX];

fn words<'a>(seen: &Seen<'a>) -> Vec<&'a str> {
    seen.answers.iter().map(Answer::word).collect()
}

/// No answer from `from` on is `ok`.
fn refused(seen: &Seen<'_>, from: usize) -> Result<(), String> {
    let words = words(seen);
    match words.get(from..) {
        Some(rest) if !rest.is_empty() && !rest.contains(&"ok") && !rest.contains(&"no answer") => Ok(()),
        _ => Err(format!("something was allowed: {words:?}")),
    }
}

/// The repetition did at most `most` rounds before it was refused.
fn stopped(seen: &Seen<'_>, most: u64) -> Result<(), String> {
    match seen.answers.iter().find(|answer| matches!(answer, Answer::Ok(Value::Tally { .. }))) {
        Some(Answer::Ok(Value::Tally { rounds, answers, .. }))
            if *rounds <= most && answers.iter().any(|(answer, _)| answer.word() == "quota") =>
        {
            Ok(())
        }
        other => Err(format!("not stopped within {most}: {other:?}")),
    }
}

fn ok(seen: &Seen<'_>) -> Result<(), String> {
    let words = words(seen);
    if words.iter().all(|word| *word == "ok") { Ok(()) } else { Err(format!("{words:?}")) }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = floods();
    cases.extend(extremes());
    cases.extend(read_only());
    cases.extend(oddities());
    cases
}

fn floods() -> Vec<Case> {
    vec![
        Case::new(
            "hundred-thousand-files",
            "makes 100,000 files, in Rust",
            Guest::Says("many-files 100000"),
            "returned",
        ),
        Case::new(
            "hundred-thousand-folders",
            "makes 100,000 folders",
            Guest::Probes(|| {
                vec![Op::Repeat {
                    times: 100_000,
                    until_error: true,
                    ops: vec![Op::CreateDirectoryAt { fd: ARTIFACTS, path: "{n}".into() }],
                }]
            }),
            "returned",
        )
        .also(|seen| stopped(seen, 1_001)),
        Case::new(
            "hundred-thousand-short-lives",
            "makes and removes 100,000 files: never two at once",
            Guest::Probes(|| {
                vec![Op::Repeat {
                    times: 100_000,
                    until_error: true,
                    ops: vec![
                        create(ARTIFACTS, "one", FREE),
                        Op::Drop { fd: FREE },
                        Op::UnlinkFileAt { fd: ARTIFACTS, path: "one".into() },
                    ],
                }]
            }),
            "returned",
        )
        .also(|seen| seen.reached(LimitName::CreatedFiles)),
        Case::new(
            "one-gigabyte",
            "writes 1 GiB into one file, in Rust",
            Guest::Says("artifact big 1073741824"),
            "returned",
        ),
        Case::new(
            "artifact-flood",
            "writes one file until it is refused, in Rust",
            Guest::Says("artifact-flood"),
            "returned",
        ),
        Case::new(
            "append-flood",
            "appends 64 KiB at a time until it is refused",
            Guest::Probes(|| {
                vec![
                    create(ARTIFACTS, "log", FREE),
                    Op::AppendViaStream { fd: FREE, into: 1 },
                    Op::Repeat {
                        times: 100_000,
                        until_error: true,
                        ops: vec![Op::StreamWriteRaw { stream: 1, data: "x".into(), times: 65_536 }],
                    },
                ]
            }),
            "returned",
        )
        .also(|seen| stopped(seen, 1_025)),
        Case::new(
            "zeroes-flood",
            "has the host write zeroes until it is refused",
            Guest::Probes(|| {
                vec![
                    create(ARTIFACTS, "zeroes", FREE),
                    Op::WriteViaStream { fd: FREE, offset: 0, into: 1 },
                    Op::Repeat {
                        times: 100_000,
                        until_error: true,
                        ops: vec![Op::StreamZeroes { stream: 1, length: 65_536 }],
                    },
                ]
            }),
            "returned",
        )
        .also(|seen| stopped(seen, 1_025)),
        Case::new(
            "splice-flood",
            "has the host copy a file into another until it is refused",
            Guest::Probes(|| {
                vec![
                    open(WORKSPACE, "large", FREE),
                    create(ARTIFACTS, "copy", FREE + 1),
                    Op::WriteViaStream { fd: FREE + 1, offset: 0, into: 1 },
                    Op::ReadViaStream { fd: FREE, offset: 0, into: 2 },
                    Op::Repeat {
                        times: 100_000,
                        until_error: true,
                        ops: vec![Op::StreamSplice { stream: 1, from: 2, length: u64::MAX }],
                    },
                ]
            }),
            "returned",
        )
        .set_up(|bench, _| {
            std::fs::File::create(bench.workspace.path().join("large")).unwrap().set_len(100 << 20).unwrap()
        })
        .also(|seen| stopped(seen, 100_000)),
        Case::new(
            "nameless",
            "makes 300 files of 1 MiB whose names it removes, each closed at once",
            Guest::Says("nameless-closed 300 1048576"),
            "returned",
        ),
        Case::new(
            "rewrite-flood",
            "writes one MiB over and over in its place",
            Guest::Probes(|| {
                vec![
                    create(ARTIFACTS, "a", FREE),
                    Op::Repeat {
                        times: 100_000,
                        until_error: true,
                        ops: vec![Op::Write { fd: FREE, data: "x".into(), times: 1 << 20, offset: 0 }],
                    },
                ]
            }),
            "returned",
        )
        .limits(|limits| limits.written_bytes = 64 << 20)
        .also(|seen| seen.reached(LimitName::WrittenBytes)),
        Case::new(
            "list-flood",
            "lists a folder of 5,000 files until it is refused",
            Guest::Probes(|| {
                vec![
                    open(WORKSPACE, "many", FREE),
                    Op::Repeat {
                        times: 100_000,
                        until_error: true,
                        ops: vec![Op::ReadDirectory { fd: FREE, most: u64::MAX }],
                    },
                ]
            }),
            "returned",
        )
        .limits(|limits| limits.listed_entries = 12_000)
        .set_up(|bench, _| {
            let many = bench.workspace.path().join("many");
            std::fs::create_dir(&many).unwrap();
            (0..5_000).for_each(|n| drop(std::fs::File::create(many.join(n.to_string())).unwrap()));
        })
        .also(|seen| seen.reached(LimitName::ListedEntries)),
        Case::new(
            "deep-folders",
            "makes a folder in a folder, 10,000 deep",
            Guest::Probes(|| {
                (1..=10_000)
                    .map(|n| Op::CreateDirectoryAt { fd: ARTIFACTS, path: vec!["d"; n.min(2_100)].join("/") })
                    .collect()
            }),
            "returned",
        )
        .also(|seen| match seen.answers.last() {
            Some(Answer::Error(code)) if code == "name-too-long" => Ok(()),
            other => Err(format!("{other:?}")),
        }),
        Case::new(
            "deep-folders-by-handle",
            "makes a folder in a folder, 2,000 deep, and opens each from the last",
            Guest::Probes(|| {
                let mut ops = vec![open(ARTIFACTS, ".", FREE)];
                let step = [Op::CreateDirectoryAt { fd: FREE, path: "d".into() }, open(FREE, "d", FREE)];
                ops.push(Op::Repeat { times: 2_000, until_error: true, ops: step.to_vec() });
                ops
            }),
            "returned",
        ),
        Case::new(
            "rename-flood",
            "renames one file 20,000 times",
            Guest::Probes(|| {
                let mut ops = vec![create(ARTIFACTS, "a", FREE)];
                ops.push(Op::Repeat {
                    times: 10_000,
                    until_error: true,
                    ops: vec![
                        Op::RenameAt { fd: ARTIFACTS, path: "a".into(), to: ARTIFACTS, to_path: "b".into() },
                        Op::RenameAt { fd: ARTIFACTS, path: "b".into(), to: ARTIFACTS, to_path: "a".into() },
                    ],
                });
                ops
            }),
            "returned",
        )
        .also(ok),
        Case::new(
            "grow-and-shrink",
            "grows a file to its quota and shrinks it, 5,000 times: the account must not drift",
            Guest::Probes(|| {
                let mut ops = vec![create(ARTIFACTS, "a", FREE)];
                ops.push(Op::Repeat {
                    times: 5_000,
                    until_error: true,
                    ops: vec![Op::SetSize { fd: FREE, size: 64 << 20 }, Op::SetSize { fd: FREE, size: 0 }],
                });
                ops.push(Op::SetSize { fd: FREE, size: (64 << 20) + 1 });
                ops
            }),
            "returned",
        )
        .also(|seen| match &words(seen)[..] {
            ["ok", "ok", "quota"] => Ok(()),
            words => Err(format!("{words:?}")),
        }),
    ]
}

fn extremes() -> Vec<Case> {
    vec![
        Case::new(
            "sparse-write",
            "writes a byte at 2^31, 2^63 and further",
            Guest::Probes(|| {
                let mut ops = vec![create(ARTIFACTS, "a", FREE)];
                ops.extend(EXTREMES.map(|offset| Op::Write { fd: FREE, data: "x".into(), times: 1, offset }));
                ops
            }),
            "returned",
        )
        .also(|seen| refused(seen, 1)),
        Case::new(
            "sparse-size",
            "sets a file's size to 2^31, 2^63 and further",
            Guest::Probes(|| {
                let mut ops = vec![create(ARTIFACTS, "a", FREE)];
                ops.extend(EXTREMES.map(|size| Op::SetSize { fd: FREE, size }));
                ops
            }),
            "returned",
        )
        .also(|seen| refused(seen, 1)),
        Case::new(
            "sparse-stream",
            "writes through streams that start at 2^31, 2^63 and further",
            Guest::Probes(|| {
                let mut ops = vec![create(ARTIFACTS, "a", FREE)];
                for offset in EXTREMES {
                    ops.push(Op::WriteViaStream { fd: FREE, offset, into: 1 });
                    ops.push(Op::StreamWrite { stream: 1, data: "xy".into(), times: 1 });
                    ops.push(Op::StreamZeroes { stream: 1, length: 2 });
                }
                ops
            }),
            "returned",
        )
        .also(|seen| {
            let written = seen.answers.iter().skip(1).step_by(3).zip(seen.answers.iter().skip(2).step_by(3));
            for (opened, wrote) in written {
                if opened.word() == "ok" && wrote.word() == "ok" {
                    return Err(format!("a write was allowed: {:?}", words(seen)));
                }
            }
            Ok(())
        }),
        Case::new(
            "read-extremes",
            "reads 0, 2^31, 2^63 and more bytes at such offsets, by call and by stream",
            Guest::Probes(|| {
                let mut ops = vec![open(WORKSPACE, "file", FREE)];
                for at in EXTREMES {
                    for length in [0, 1, 1 << 31, 1 << 63, u64::MAX] {
                        ops.push(Op::Read { fd: FREE, length, offset: at });
                        ops.push(Op::ReadViaStream { fd: FREE, offset: at, into: 1 });
                        ops.push(Op::StreamRead { stream: 1, length, whole: false });
                        ops.push(Op::StreamSkip { stream: 1, length });
                    }
                }
                ops.push(Op::Read { fd: FREE, length: u64::MAX, offset: 0 });
                ops
            }),
            "returned",
        )
        .also(|seen| match seen.answers.last() {
            Some(Answer::Ok(Value::Data { bytes, .. })) if bytes.0 == b"seven.." => Ok(()),
            other => Err(format!("{other:?}")),
        }),
        Case::new(
            "advise-extremes",
            "gives every advice about ranges that end beyond 2^64",
            Guest::Probes(|| {
                let mut ops = vec![open(WORKSPACE, "file", FREE)];
                for advice in 0..6 {
                    ops.extend(EXTREMES.map(|at| Op::Advise { fd: FREE, offset: at, length: u64::MAX, advice }));
                }
                ops
            }),
            "returned",
        ),
        Case::new(
            "times-extremes",
            "sets times that no clock shows, by handle and by path",
            Guest::Probes(|| {
                let mut ops = vec![create(ARTIFACTS, "a", FREE)];
                for seconds in EXTREMES.into_iter().chain([0, 253_402_300_800, i64::MAX as u64]) {
                    for nanoseconds in [0, 999_999_999, 1_000_000_000, u32::MAX] {
                        let at = Stamp::At(seconds, nanoseconds);
                        ops.push(Op::SetTimes { fd: FREE, accessed: at, modified: Stamp::NoChange });
                        ops.push(Op::SetTimesAt {
                            fd: ARTIFACTS,
                            path: "a".into(),
                            follow: true,
                            accessed: Stamp::Now,
                            modified: at,
                        });
                        ops.push(Op::Stat { fd: FREE });
                        ops.push(Op::MetadataHash { fd: FREE });
                    }
                }
                ops
            }),
            "returned",
        ),
        Case::new(
            "write-8-mib",
            "hands more bytes to one write than a call to the host may carry",
            Guest::Probes(|| {
                vec![create(ARTIFACTS, "a", FREE), Op::Write { fd: FREE, data: "x".into(), times: 9 << 20, offset: 0 }]
            }),
            "sandbox.limit.host-call",
        ),
        Case::new(
            "write-beyond-permit",
            "writes 4 MiB to a stream that permits 64 KiB",
            Guest::Probes(|| {
                vec![
                    create(ARTIFACTS, "a", FREE),
                    Op::AppendViaStream { fd: FREE, into: 1 },
                    Op::CheckWrite { stream: 1 },
                    Op::StreamWriteRaw { stream: 1, data: "x".into(), times: 4 << 20 },
                ]
            }),
            "returned",
        )
        .or("sandbox.trap"),
        Case::new(
            "zeroes-beyond-permit",
            "has 2^64 - 1 zeroes written at once",
            Guest::Probes(|| {
                vec![
                    create(ARTIFACTS, "a", FREE),
                    Op::AppendViaStream { fd: FREE, into: 1 },
                    Op::StreamZeroes { stream: 1, length: u64::MAX },
                ]
            }),
            "returned",
        )
        .or("sandbox.trap"),
        Case::new(
            "names-extremes",
            "names of 255, 256 and 1,000,000 bytes, and a path of as many steps",
            Guest::Probes(|| {
                let paths = [
                    "n".repeat(255),
                    "n".repeat(256),
                    "n".repeat(1_000_000),
                    "n/".repeat(500_000),
                    "../".repeat(300_000),
                ];
                paths.into_iter().map(|path| Op::StatAt { fd: WORKSPACE, path, follow: true }).collect()
            }),
            "returned",
        )
        .also(|seen| match &words(seen)[..] {
            ["no-entry", "name-too-long", "name-too-long", "name-too-long", "name-too-long"] => Ok(()),
            words => Err(format!("{words:?}")),
        }),
    ]
}

fn read_only() -> Vec<Case> {
    vec![
        Case::new(
            "write-to-read-only",
            "opens a file that it may read in every way that would change it",
            Guest::Probes(|| {
                let mut ops = Vec::new();
                for n in 1..16_u8 {
                    let how = How {
                        read: true,
                        create: n & 1 > 0,
                        exclusive: n & 2 > 0,
                        truncate: n & 4 > 0,
                        write: n & 8 > 0,
                        ..How::default()
                    };
                    // What opens to read only is written to as well.
                    ops.push(open_how(WORKSPACE, "file", how, FREE));
                    ops.push(Op::Write { fd: FREE, data: "changed".into(), times: 1, offset: 0 });
                    ops.push(Op::SetSize { fd: FREE, size: 0 });
                    ops.push(Op::SetTimes { fd: FREE, accessed: Stamp::Now, modified: Stamp::Now });
                    ops.push(Op::WriteViaStream { fd: FREE, offset: 0, into: 1 });
                    ops.push(Op::AppendViaStream { fd: FREE, into: 1 });
                }
                ops
            }),
            "returned",
        )
        .also(|seen| {
            let allowed = seen.answers.chunks(6).any(|of| of[1..].iter().any(|answer| answer.word() == "ok"));
            if allowed { Err(format!("{:?}", words(seen))) } else { Ok(()) }
        }),
        Case::new(
            "move-between-mounts",
            "moves and links files between what it may read and what it may write",
            Guest::Probes(|| {
                let mut ops = vec![create(ARTIFACTS, "mine", FREE), Op::Drop { fd: FREE }];
                for (from, path, to, to_path) in [
                    (WORKSPACE, "file", ARTIFACTS, "stolen"),
                    (ARTIFACTS, "mine", WORKSPACE, "file"),
                    (ARTIFACTS, "mine", WORKSPACE, "new"),
                    (WORKSPACE, "file", CONTEXT, "new"),
                    (ARTIFACTS, "mine", CONTEXT, "new"),
                ] {
                    let (path, to_path) = (path.to_owned(), to_path.to_owned());
                    ops.push(Op::RenameAt { fd: from, path: path.clone(), to, to_path: to_path.clone() });
                    ops.push(Op::LinkAt { fd: from, path, follow: false, to, to_path });
                }
                ops
            }),
            "returned",
        )
        .also(|seen| refused(seen, 2)),
        Case::new(
            "make-links",
            "makes links of both kinds to what is inside and outside, wherever it may write",
            Guest::Probes(|| {
                let mut ops = vec![create(ARTIFACTS, "mine", FREE), Op::Drop { fd: FREE }];
                for (n, target) in
                    ["mine", "..", "/etc/passwd", "../outside/canary", "", "/", "\0"].into_iter().enumerate()
                {
                    for fd in [WORKSPACE, CONTEXT, ARTIFACTS] {
                        ops.push(Op::SymlinkAt { fd, target: target.into(), path: format!("link-{n}") });
                        ops.push(Op::LinkAt {
                            fd: ARTIFACTS,
                            path: target.into(),
                            follow: n % 2 > 0,
                            to: fd,
                            to_path: format!("link-{n}"),
                        });
                    }
                }
                ops
            }),
            "returned",
        )
        .also(|seen| refused(seen, 2)),
        Case::new(
            "change-the-context",
            "changes what Brain wrote out for it",
            Guest::Probes(|| {
                vec![
                    create(CONTEXT, "new", FREE),
                    Op::CreateDirectoryAt { fd: CONTEXT, path: "new".into() },
                    Op::UnlinkFileAt { fd: CONTEXT, path: "given".into() },
                    Op::RemoveDirectoryAt { fd: CONTEXT, path: ".".into() },
                    Op::SetTimesAt {
                        fd: CONTEXT,
                        path: "given".into(),
                        follow: true,
                        accessed: Stamp::Now,
                        modified: Stamp::Now,
                    },
                    Op::SetTimesAt {
                        fd: CONTEXT,
                        path: ".".into(),
                        follow: true,
                        accessed: Stamp::Now,
                        modified: Stamp::Now,
                    },
                    Op::RenameAt { fd: CONTEXT, path: "given".into(), to: CONTEXT, to_path: "taken".into() },
                ]
            }),
            "returned",
        )
        .set_up(|bench, _| std::fs::write(bench.context.path().join("given"), "x").unwrap())
        .also(|seen| refused(seen, 0)),
    ]
}

fn oddities() -> Vec<Case> {
    vec![
        Case::new(
            "special-files",
            "opens FIFOs, sockets and devices, and links to them, in every way",
            Guest::Probes(|| {
                let mut ops = Vec::new();
                for path in ["fifo", "socket", "to-fifo", "to-device", "fifo/", "fifo/.", "fifo/x"] {
                    for n in 0..8_u8 {
                        let how = How {
                            symlink_follow: true,
                            read: n & 1 > 0,
                            write: n & 2 > 0,
                            create: n & 4 > 0,
                            ..How::default()
                        };
                        ops.push(open_how(WORKSPACE, path, how, FREE));
                    }
                }
                ops
            }),
            "returned",
        )
        .limits(|limits| limits.deadline_ms = 5_000)
        .set_up(|bench, _| special(bench.workspace.path()))
        .also(|seen| refused(seen, 0)),
        Case::new(
            "folder-into-itself",
            "moves a folder into itself, and over what is there",
            Guest::Probes(|| {
                let rename = |path: &str, to_path: &str| Op::RenameAt {
                    fd: ARTIFACTS,
                    path: path.into(),
                    to: ARTIFACTS,
                    to_path: to_path.into(),
                };
                vec![
                    Op::CreateDirectoryAt { fd: ARTIFACTS, path: "a".into() },
                    Op::CreateDirectoryAt { fd: ARTIFACTS, path: "a/b".into() },
                    rename("a", "a/b/c"),
                    rename("a", "a/b"),
                    rename("a/b", "a"),
                    rename(".", "x"),
                    rename("a", "."),
                    rename("a", "a/.."),
                    rename("a", ".."),
                    Op::RemoveDirectoryAt { fd: ARTIFACTS, path: ".".into() },
                    Op::RemoveDirectoryAt { fd: ARTIFACTS, path: "a".into() },
                    Op::UnlinkFileAt { fd: ARTIFACTS, path: "a".into() },
                ]
            }),
            "returned",
        )
        .also(|seen| refused(seen, 2)),
        Case::new(
            "wrong-kind",
            "uses a file as a folder, and a folder as a file, in every call",
            Guest::Probes(|| {
                let path = || "file".to_owned();
                vec![
                    open(WORKSPACE, "file", FREE),
                    open(FREE, "x", FREE + 1),
                    open(FREE, ".", FREE + 1),
                    open(FREE, "..", FREE + 1),
                    Op::ReadDirectory { fd: FREE, most: 1 },
                    Op::StatAt { fd: FREE, path: path(), follow: true },
                    Op::Read { fd: WORKSPACE, length: 10, offset: 0 },
                    Op::Write { fd: ARTIFACTS, data: "x".into(), times: 1, offset: 0 },
                    Op::SetSize { fd: ARTIFACTS, size: 0 },
                    Op::ReadViaStream { fd: WORKSPACE, offset: 0, into: 1 },
                    Op::AppendViaStream { fd: ARTIFACTS, into: 1 },
                    Op::WriteViaStream { fd: ARTIFACTS, offset: 0, into: 1 },
                    Op::CreateDirectoryAt { fd: FREE, path: path() },
                    Op::RenameAt { fd: FREE, path: path(), to: ARTIFACTS, to_path: path() },
                    Op::LinkAt { fd: FREE, path: path(), follow: false, to: FREE, to_path: path() },
                    Op::SymlinkAt { fd: FREE, target: path(), path: path() },
                    Op::ReadlinkAt { fd: FREE, path: path() },
                ]
            }),
            "returned",
        )
        .also(|seen| refused(seen, 1)),
        Case::new(
            "gitignore-bomb",
            "a .gitignore of 8 MiB of patterns in the tree that it lists",
            Guest::Probes(|| {
                vec![
                    Op::ReadDirectory { fd: WORKSPACE, most: u64::MAX },
                    Op::StatAt { fd: WORKSPACE, path: "file".into(), follow: true },
                ]
            }),
            "returned",
        )
        .set_up(|bench, _| {
            std::fs::write(bench.workspace.path().join(".gitignore"), "a*b*c*d*e*\n".repeat(800_000)).unwrap()
        }),
    ]
}

/// A FIFO, a socket, and links to such.
fn special(root: &std::path::Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;
    mknodat(CWD, root.join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
    // The socket stays when its listener is gone.
    drop(std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap());
    symlink("fifo", root.join("to-fifo")).unwrap();
    symlink("/dev/zero", root.join("to-device")).unwrap();
}
