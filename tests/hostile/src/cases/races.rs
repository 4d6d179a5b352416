//! A tree that changes while a role looks at it: what was checked is not what is opened, where names are checked.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use brain_tests::Bench;
use brain_tests::probe::open;
use brain_tests::probe::script::{FREE, Op, WORKSPACE};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};

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
    ]
}
