//! A tree that changes while a role looks at it: what was checked is not what is opened, where names are checked.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use brain_tests::Bench;
use brain_tests::probe::script::{Answer, CONTEXT, FREE, Op, WORKSPACE};
use brain_tests::probe::{create, open};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, inotify, mknodat, renameat_with};

use crate::case::{Case, Guest, Seen};
use crate::outside::Outside;

/// Rounds of one race.
const ROUNDS: u64 = 4_000;

/// Every call that looks at `folder/canary` in any way, over and over.
fn look() -> Vec<Op> {
    let path = || "folder/canary".to_owned();
    let ops = vec![
        open(WORKSPACE, "folder/canary", FREE),
        Op::Read { fd: FREE, length: 5_000, offset: 0 },
        Op::Stat { fd: FREE },
        Op::StatAt { fd: WORKSPACE, path: path(), follow: true },
        Op::StatAt { fd: WORKSPACE, path: path(), follow: false },
        Op::MetadataHashAt { fd: WORKSPACE, path: path(), follow: true },
        Op::ReadlinkAt { fd: WORKSPACE, path: path() },
        Op::ReadlinkAt { fd: WORKSPACE, path: "folder".into() },
        open(WORKSPACE, "folder", FREE + 1),
        open(FREE + 1, "canary", FREE),
        Op::Read { fd: FREE, length: 5_000, offset: 0 },
        open(WORKSPACE, "folder/../folder/./canary", FREE),
    ];
    // A descriptor of an earlier round is that of the file inside: what it answers must be from inside too.
    vec![
        open(WORKSPACE, "file", FREE),
        open(WORKSPACE, ".", FREE + 1),
        Op::Repeat { times: ROUNDS, until_error: false, ops },
    ]
}

/// What waits to be swapped in lies beside the canaries, on the same file system.
fn aside(outside: &Outside) -> std::path::PathBuf {
    outside.path().parent().unwrap().join("aside")
}

fn set_up(bench: &Bench, outside: &Outside, in_its_place: impl FnOnce(&Path, &Path)) {
    let folder = bench.workspace.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("canary"), "inside").unwrap();
    in_its_place(&aside(outside), outside.path());
}

/// Swaps two names until it is told to stop.
fn swap(a: &Path, b: &Path, stop: &AtomicBool) {
    while !stop.load(Relaxed) {
        renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
    }
}

fn swap_folder(bench: &Bench, outside: &Outside, stop: &AtomicBool) {
    swap(&bench.workspace.path().join("folder"), &aside(outside), stop);
}

fn swap_file(bench: &Bench, outside: &Outside, stop: &AtomicBool) {
    swap(&bench.workspace.path().join("folder/canary"), &aside(outside), stop);
}

/// All rounds were done: nothing blocked, and the race was run.
fn done(seen: &Seen<'_>) -> Result<(), String> {
    match seen.answers.len() {
        3 => Ok(()),
        n => Err(format!("{n} answers of 3: {:?}", seen.run().ended)),
    }
}

fn race(name: &'static str, attack: &'static str) -> Case {
    Case::new(name, attack, Guest::Probes(look), "returned").also(done)
}

pub(super) fn cases() -> Vec<Case> {
    use std::os::unix::fs::symlink;
    vec![
        race("folder-to-link", "a folder turns into a link that leads outside, and back, while it is walked")
            .set_up(|bench, outside| {
                set_up(bench, outside, |aside, outside| symlink(outside.join("folder"), aside).unwrap());
            })
            .beside(swap_folder),
        race("folder-to-relative-link", "a folder turns into a link that climbs, and back, while it is walked")
            .set_up(|bench, outside| {
                set_up(bench, outside, |aside, outside| {
                    let far = format!("{}{}", "../".repeat(20), outside.join("folder").display());
                    symlink(far, aside).unwrap();
                });
            })
            .beside(swap_folder),
        race("file-to-link", "a file turns into a link that leads outside, and back, while it is opened")
            .set_up(|bench, outside| {
                set_up(bench, outside, |aside, outside| symlink(outside.join("canary"), aside).unwrap());
            })
            .beside(swap_file),
        race("file-to-fifo", "a file turns into a FIFO, and back, while it is opened: nobody waits for its writer")
            .set_up(|bench, outside| {
                set_up(bench, outside, |aside, _| {
                    mknodat(CWD, aside, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
                });
            })
            .beside(swap_file),
        race("file-to-folder", "a file turns into a folder, and back, while it is opened")
            .set_up(|bench, outside| set_up(bench, outside, |aside, _| std::fs::create_dir(aside).unwrap()))
            .beside(swap_file),
        race("file-to-hidden", "a file that is granted swaps places with one that is denied")
            .set_up(|bench, outside| {
                set_up(bench, outside, |_, _| {});
                // In the tree, and denied by its name: what is read through the granted name is that file's content.
                std::fs::write(bench.workspace.path().join("folder/other"), "inside").unwrap();
            })
            .beside(|bench, _, stop| {
                let folder = bench.workspace.path().join("folder");
                swap(&folder.join("canary"), &folder.join("other"), stop);
            }),
        race("folder-comes-and-goes", "a folder is removed and made again while it is walked")
            .set_up(|bench, outside| set_up(bench, outside, |_, _| {}))
            .beside(|bench, _, stop| {
                let folder = bench.workspace.path().join("folder");
                while !stop.load(Relaxed) {
                    std::fs::remove_dir_all(&folder).unwrap();
                    std::fs::create_dir(&folder).unwrap();
                    std::fs::write(folder.join("canary"), "inside").unwrap();
                }
            }),
        race("file-shrinks", "a file is cut and grows again while it is read")
            .set_up(|bench, outside| set_up(bench, outside, |_, _| {}))
            .beside(|bench, _, stop| {
                let file =
                    std::fs::File::options().write(true).open(bench.workspace.path().join("folder/canary")).unwrap();
                while !stop.load(Relaxed) {
                    file.set_len(0).unwrap();
                    file.set_len(4_000).unwrap();
                }
            }),
        Case::new(
            "folder-moved-away",
            "holds a folder that the host then moves out of the tree, and climbs from it",
            Guest::Probes(held_and_moved),
            "returned",
        )
        .set_up(|bench, _| {
            let held = bench.workspace.path().join("a/b/held");
            std::fs::create_dir_all(&held).unwrap();
            std::fs::write(held.join("file"), "inside").unwrap();
        })
        .beside(|bench, outside, stop| {
            when_opened(bench, "a/b/held", stop, |held| {
                // Now `..` of what the role holds is the folder that the canaries are in.
                std::fs::rename(held, outside.path().parent().unwrap().join("moved")).unwrap();
                std::fs::write(bench.context.path().join("go"), "").unwrap();
            });
        })
        .also(climbs_nowhere),
        Case::new(
            "parent-moved-away",
            "holds a folder whose parent the host then moves, and climbs from it",
            Guest::Probes(held_and_moved),
            "returned",
        )
        .set_up(|bench, _| {
            let held = bench.workspace.path().join("a/b/held");
            std::fs::create_dir_all(&held).unwrap();
            std::fs::write(held.join("file"), "inside").unwrap();
        })
        .beside(|bench, outside, stop| {
            when_opened(bench, "a/b/held", stop, |held| {
                std::fs::rename(held.parent().unwrap(), outside.path().parent().unwrap().join("moved")).unwrap();
                std::fs::write(bench.context.path().join("go"), "").unwrap();
            });
        })
        .also(climbs_nowhere),
        Case::new(
            "write-while-swapped",
            "writes below a folder that turns into a link that leads outside, and back",
            Guest::Probes(|| {
                let write = vec![
                    create(WORKSPACE, "folder/canary", FREE),
                    Op::Write { fd: FREE, data: "written by a role".into(), times: 1, offset: 0 },
                    Op::SetSize { fd: FREE, size: 3 },
                    create(WORKSPACE, "folder/new-{n}", FREE + 1),
                    Op::CreateDirectoryAt { fd: WORKSPACE, path: "folder/made-{n}".into() },
                    Op::RenameAt {
                        fd: WORKSPACE,
                        path: "folder/canary".into(),
                        to: WORKSPACE,
                        to_path: "folder/moved-{n}".into(),
                    },
                    Op::UnlinkFileAt { fd: WORKSPACE, path: "folder/moved-{n}".into() },
                    Op::RemoveDirectoryAt { fd: WORKSPACE, path: "folder/made-{n}".into() },
                ];
                vec![open(WORKSPACE, "file", FREE), Op::Repeat { times: 1_000, until_error: false, ops: write }]
            }),
            "returned",
        )
        .writes()
        .set_up(|bench, outside| {
            set_up(bench, outside, |aside, outside| symlink(outside.join("folder"), aside).unwrap());
        })
        .beside(swap_folder),
    ]
}

/// Opens a folder, waits until the host has moved it, and tries every way out of it.
fn held_and_moved() -> Vec<Op> {
    let mut ops = vec![
        Op::Await { fd: CONTEXT, path: "ready".into() },
        open(WORKSPACE, "a/b", FREE + 1),
        open(WORKSPACE, "a/b/held", FREE),
        // A handle of a folder opens nothing that the host could see; this does.
        open(FREE, "file", FREE + 2),
        Op::Await { fd: CONTEXT, path: "go".into() },
    ];
    for path in ["..", "../..", "../outside", "../outside/canary", "../../outside/canary", "../a/b", "../held/file"] {
        ops.push(open(FREE, path, FREE + 2));
        ops.push(Op::StatAt { fd: FREE, path: path.into(), follow: true });
        ops.push(open(FREE + 1, &format!("held/{path}/.."), FREE + 2));
        ops.push(open(FREE + 1, &format!("../{path}"), FREE + 2));
    }
    ops
}

fn climbs_nowhere(seen: &Seen<'_>) -> Result<(), String> {
    let words: Vec<&str> = seen.answers.iter().map(Answer::word).collect();
    match words.get(5..) {
        Some(climbs) if climbs.len() == 28 && !climbs.contains(&"ok") => Ok(()),
        _ => Err(format!("{words:?}")),
    }
}

/// Does something as soon as the role opens a file in a folder of its workspace, which it does when it sees that this is
/// ready.
fn when_opened(bench: &Bench, folder: &str, stop: &AtomicBool, then: impl FnOnce(&Path)) {
    let folder = bench.workspace.path().join(folder);
    let events = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&events, &folder, inotify::WatchFlags::OPEN).unwrap();
    std::fs::write(bench.context.path().join("ready"), "").unwrap();
    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(&events, &mut buffer);
    while !stop.load(Relaxed) {
        if reader.next().is_ok() {
            return then(&folder);
        }
        std::thread::yield_now();
    }
}
