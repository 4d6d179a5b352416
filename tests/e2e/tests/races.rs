//! A tree that changes while a role looks at it. A check of names that is not a check of files would show here.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use brain_sandbox::Ended;
use brain_tests::Bench;
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// Bytes of the file that may be read, and of the one outside that may not.
const INSIDE: usize = 7;
const OUTSIDE: usize = 41;
/// Calls, and opens in each of them.
const CALLS: usize = 40;
const OPENS: usize = 500;

/// Swaps `a` and `b` for as long as `work` runs.
fn while_swapping(a: &std::path::Path, b: &std::path::Path, work: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Relaxed) {
                renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).unwrap();
            }
        });
        // Also when an assertion fails: the scope waits for the thread.
        struct Stop<'a>(&'a AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Relaxed);
            }
        }
        let _stop = Stop(&stop);
        work();
    });
}

fn race(swap: &str, outside_is_folder: bool) {
    let bench = Bench::new();
    let role = bench.load("misbehave");
    let (root, outside) = (bench.workspace.path(), tempfile::tempdir().unwrap());
    fs::create_dir(root.join("folder")).unwrap();
    fs::write(root.join("folder/file"), "x".repeat(INSIDE)).unwrap();
    fs::write(outside.path().join("file"), "x".repeat(OUTSIDE)).unwrap();
    let target = if outside_is_folder { outside.path().to_owned() } else { outside.path().join("file") };
    // What waits to be swapped in is outside of the mount, on the same file system.
    let aside = tempfile::tempdir().unwrap();
    symlink(target, aside.path().join("link")).unwrap();
    // The sizes that the file had for the role.
    let sizes = || {
        let run = bench.run(&role, &format!("open-often {OPENS} /workspace/folder/file"));
        assert_eq!(run.ended, Ended::Returned);
        run.result.summary.rsplit_once("sizes").unwrap().1.trim().to_owned()
    };
    assert_eq!(sizes(), INSIDE.to_string(), "nothing is swapped yet");
    while_swapping(&root.join(swap), &aside.path().join("link"), || {
        for _ in 0..CALLS {
            let sizes = sizes();
            assert!(sizes.is_empty() || sizes == INSIDE.to_string(), "the role read a file outside: {sizes}");
        }
    });
}

#[test]
fn a_folder_that_turns_into_a_link_never_leads_outside() {
    race("folder", true);
}

#[test]
fn a_file_that_turns_into_a_link_never_leads_outside() {
    race("folder/file", false);
}
