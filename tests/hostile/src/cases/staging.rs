//! Writes below `/workspace`: they are staged, counted, and never reach the tree.

use brain_sandbox::LimitName;
use brain_tests::probe::script::{Answer, FREE, Op, Stamp, Value, WORKSPACE};
use brain_tests::probe::{create, open};

use crate::case::{Case, Guest, Seen};

fn until_refused(ops: Vec<Op>) -> Op {
    Op::Repeat { times: 200_000, until_error: true, ops }
}

fn rename(path: &str, to_path: &str) -> Op {
    Op::RenameAt { fd: WORKSPACE, path: path.into(), to: WORKSPACE, to_path: to_path.into() }
}

/// Files that are proposed to be changed.
fn proposes(seen: &Seen<'_>, from: usize, to: usize) -> Result<(), String> {
    match seen.run().changes.changes.len() {
        n if (from..=to).contains(&n) => Ok(()),
        n => Err(format!("{n} changes are proposed, not {from} to {to}")),
    }
}

/// Lines that are all different, from `from` on; backwards, where the number is odd.
fn lines(count: u32, seed: u32) -> String {
    (0..count).map(|n| format!("{:08x}\n", n.wrapping_mul(2_654_435_761).rotate_left(seed) ^ seed)).collect()
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = floods();
    cases.extend(proposals());
    cases
}

fn floods() -> Vec<Case> {
    vec![
        Case::new(
            "stage-one-gigabyte",
            "writes one file of the project until it is refused",
            Guest::Probes(|| {
                vec![
                    create(WORKSPACE, "new", FREE),
                    Op::AppendViaStream { fd: FREE, into: 1 },
                    until_refused(vec![Op::StreamWriteRaw { stream: 1, data: "x".into(), times: 65_536 }]),
                ]
            }),
            "returned",
        )
        .writes()
        .limits(|limits| limits.staged_bytes = 16 << 20)
        .also(|seen| seen.reached(LimitName::StagedBytes).and_then(|()| proposes(seen, 1, 1))),
        Case::new(
            "stage-hundred-thousand-files",
            "makes files in the project until it is refused",
            Guest::Probes(|| vec![until_refused(vec![create(WORKSPACE, "new-{n}", FREE)])]),
            "returned",
        )
        .writes()
        .limits(|limits| limits.staged_files = 500)
        .also(|seen| seen.reached(LimitName::StagedFiles).and_then(|()| proposes(seen, 500, 500))),
        Case::new(
            "stage-and-remove",
            "makes and removes files in the project until it is refused",
            Guest::Probes(|| {
                vec![until_refused(vec![
                    create(WORKSPACE, "new", FREE),
                    Op::Drop { fd: FREE },
                    Op::UnlinkFileAt { fd: WORKSPACE, path: "new".into() },
                ])]
            }),
            "returned",
        )
        .writes()
        .also(|seen| seen.reached(LimitName::CreatedFiles).and_then(|()| proposes(seen, 0, 0))),
        Case::new(
            "stage-by-touching",
            "opens 40 files of 1 MiB to write one byte: each has to be copied",
            Guest::Probes(|| {
                vec![until_refused(vec![
                    create(WORKSPACE, "large/{n}", FREE),
                    Op::Write { fd: FREE, data: "x".into(), times: 1, offset: 0 },
                ])]
            }),
            "returned",
        )
        .writes()
        .limits(|limits| limits.staged_bytes = 16 << 20)
        .set_up(|bench, _| {
            let large = bench.workspace.path().join("large");
            std::fs::create_dir(&large).unwrap();
            (0..40).for_each(|n| std::fs::write(large.join(n.to_string()), vec![b'a'; 1 << 20]).unwrap());
        })
        .also(|seen| seen.reached(LimitName::StagedBytes).and_then(|()| proposes(seen, 14, 17))),
        Case::new(
            "stage-a-sparse-gigabyte",
            "opens a sparse file of 1 GiB to write: a copy of it does not fit",
            Guest::Probes(|| {
                vec![create(WORKSPACE, "large", FREE), Op::Write { fd: FREE, data: "x".into(), times: 1, offset: 0 }]
            }),
            "returned",
        )
        .writes()
        .set_up(|bench, _| {
            std::fs::File::create(bench.workspace.path().join("large")).unwrap().set_len(1 << 30).unwrap()
        })
        .also(|seen| seen.reached(LimitName::StagedBytes).and_then(|()| proposes(seen, 0, 0))),
        Case::endless(
            "stage-copies-without-end",
            "has the host copy a file of 200 MiB, over and over: the copy is cut at the deadline",
            Guest::Probes(|| {
                vec![Op::Repeat {
                    times: u64::MAX,
                    until_error: false,
                    ops: vec![
                        create(WORKSPACE, "large", FREE),
                        Op::Write { fd: FREE, data: "x".into(), times: 1, offset: 0 },
                        Op::Drop { fd: FREE },
                        Op::UnlinkFileAt { fd: WORKSPACE, path: "large".into() },
                    ],
                }]
            }),
        )
        .writes()
        .set_up(|bench, _| {
            std::fs::File::create(bench.workspace.path().join("large")).unwrap().set_len(200 << 20).unwrap();
        }),
        Case::new(
            "stage-renames",
            "moves a folder of 1,000 files to and fro, 2,000 times",
            Guest::Probes(|| {
                vec![Op::Repeat {
                    times: 1_000,
                    until_error: true,
                    ops: vec![rename("many", "more"), rename("more", "many")],
                }]
            }),
            "returned",
        )
        .or("sandbox.limit.deadline")
        .writes()
        .limits(|limits| limits.deadline_ms = 3_000)
        .set_up(many),
        Case::new(
            "stage-sparse",
            "sets the size of a file of the project to 2^63 and writes at its end",
            Guest::Probes(|| {
                let mut ops = vec![create(WORKSPACE, "new", FREE)];
                for at in [1 << 40, (1 << 63) - 1, 1 << 63, u64::MAX] {
                    ops.push(Op::SetSize { fd: FREE, size: at });
                    ops.push(Op::Write { fd: FREE, data: "x".into(), times: 1, offset: at });
                }
                ops
            }),
            "returned",
        )
        .writes()
        .also(|seen| {
            let words: Vec<&str> = seen.answers.iter().map(Answer::word).collect();
            if words[1..].contains(&"ok") { Err(format!("{words:?}")) } else { Ok(()) }
        }),
    ]
}

fn many(bench: &brain_tests::Bench, _: &crate::outside::Outside) {
    let many = bench.workspace.path().join("many");
    std::fs::create_dir(&many).unwrap();
    (0..1_000).for_each(|n| std::fs::write(many.join(n.to_string()), "x\n").unwrap());
}

fn proposals() -> Vec<Case> {
    vec![
        Case::new(
            "diff-bomb",
            "changes every line of a text of 100,000 lines: the worst that can be compared",
            Guest::Probes(|| {
                vec![
                    create(WORKSPACE, "text", FREE),
                    Op::Write { fd: FREE, data: lines(100_000, 7).into(), times: 1, offset: 0 },
                ]
            }),
            "returned",
        )
        .writes()
        .set_up(|bench, _| std::fs::write(bench.workspace.path().join("text"), lines(100_000, 3)).unwrap())
        .also(|seen| proposes(seen, 1, 1)),
        Case::new(
            "many-diff-bombs",
            "changes every line of 100 texts of 10,000 lines",
            Guest::Probes(|| {
                vec![Op::Repeat {
                    times: 100,
                    until_error: true,
                    ops: vec![
                        create(WORKSPACE, "texts/{n}", FREE),
                        Op::Write { fd: FREE, data: lines(10_000, 7).into(), times: 1, offset: 0 },
                    ],
                }]
            }),
            "returned",
        )
        .writes()
        .set_up(|bench, _| {
            let texts = bench.workspace.path().join("texts");
            std::fs::create_dir(&texts).unwrap();
            (0..100).for_each(|n| std::fs::write(texts.join(n.to_string()), lines(10_000, 3)).unwrap());
        })
        .also(|seen| proposes(seen, 100, 100)),
        Case::new(
            "remove-everything",
            "removes every file that there is, and the folder",
            Guest::Probes(|| {
                vec![
                    Op::Repeat {
                        times: 1_000,
                        until_error: true,
                        ops: vec![Op::UnlinkFileAt { fd: WORKSPACE, path: "many/{n}".into() }],
                    },
                    Op::RemoveDirectoryAt { fd: WORKSPACE, path: "many".into() },
                    Op::UnlinkFileAt { fd: WORKSPACE, path: "file".into() },
                    Op::RemoveDirectoryAt { fd: WORKSPACE, path: ".".into() },
                    Op::ReadDirectory { fd: WORKSPACE, most: 10 },
                ]
            }),
            "returned",
        )
        .writes()
        .set_up(many)
        .also(|seen| match seen.answers.last() {
            Some(Answer::Ok(Value::Entries(entries))) if entries.is_empty() => proposes(seen, 1_001, 1_001),
            other => Err(format!("{other:?}")),
        }),
        Case::new(
            "plant-programs",
            "writes where git, Brain and other tools would run or believe it",
            Guest::Probes(|| {
                [
                    ".git/hooks/pre-commit",
                    ".git/config",
                    ".GIT/config",
                    ".brain/brain.toml",
                    ".env",
                    "a/.git/config",
                    "x/.env.local",
                ]
                .into_iter()
                .flat_map(|path| {
                    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
                    [
                        Op::CreateDirectoryAt { fd: WORKSPACE, path: "a".into() },
                        Op::CreateDirectoryAt { fd: WORKSPACE, path: folder.into() },
                        create(WORKSPACE, path, FREE),
                        rename("file", path),
                    ]
                })
                .collect()
            }),
            "returned",
        )
        .writes()
        .also(|seen| {
            let planted = |path: &str| {
                path.split('/')
                    .any(|name| matches!(name.to_lowercase().as_str(), ".git" | ".brain") || name.starts_with(".env"))
            };
            match seen.run().changes.changes.iter().find(|change| planted(&change.path)) {
                Some(change) => Err(format!("a change of `{}` is proposed", change.path)),
                None => Ok(()),
            }
        }),
        Case::new(
            "killed-while-writing",
            "is stopped in the middle of its writes: what it wrote is no proposal that counts as done",
            Guest::Probes(|| {
                vec![
                    create(WORKSPACE, "new", FREE),
                    Op::Write { fd: FREE, data: "half".into(), times: 1, offset: 0 },
                    Op::SetTimes { fd: FREE, accessed: Stamp::Now, modified: Stamp::Now },
                    Op::Repeat { times: u64::MAX, until_error: false, ops: vec![open(WORKSPACE, "file", FREE + 1)] },
                ]
            }),
            "sandbox.limit.deadline",
        )
        .writes()
        .limits(|limits| limits.deadline_ms = crate::case::DEADLINE_MS)
        .also(|seen| proposes(seen, 0, 0)),
    ]
}
