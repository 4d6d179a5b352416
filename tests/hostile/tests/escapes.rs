//! No path leads out of a mount: the corpus on a plain folder, on a bind-mounted one, and on one below links.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::print_stdout, reason = "what was tried is of interest when it fails")]

use brain_hostile::case::Suite;
use brain_hostile::escapes::{Grant, Place, in_namespace, run};

/// Paths that the corpus has at least: one that shrinks by mistake is no corpus.
const PATHS: usize = 250;

#[track_caller]
fn assert_nothing_escapes(place: Place) {
    let suite = Suite::new();
    let mut faults = Vec::new();
    for grant in [Grant::Read, Grant::Write] {
        let report = run(&suite, place, grant);
        println!("{place:?}, granted to {grant:?}: {}", report.counts());
        if std::env::var_os("BRAIN_HOSTILE_ANSWERS").is_some() {
            for (class, answered) in &report.answered {
                println!("[{class}]");
                for (what, paths) in answered {
                    println!("  {what}  ({}: {})", paths.len(), paths[..paths.len().min(4)].join(" , "));
                }
            }
        }
        faults.extend(report.faults());
        assert!(report.paths >= PATHS, "{} paths", report.paths);
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(60)].join("\n"));
}

#[test]
fn nothing_escapes_from_a_plain_folder() {
    assert_nothing_escapes(Place::Plain);
}

#[test]
fn nothing_escapes_from_a_folder_below_links() {
    assert_nothing_escapes(Place::BelowLink);
}

#[test]
fn nothing_escapes_from_a_bind_mounted_folder() {
    match in_namespace(&["nothing_escapes_from_a_bind_mounted_folder", "--exact", "--nocapture"]) {
        Ok(None) => assert_nothing_escapes(Place::BindMounted),
        Ok(Some((passed, said))) => {
            assert!(passed, "{said}");
            assert!(said.contains("BindMounted, granted to Write"), "nothing was tried: {said}");
            println!("{said}");
        }
        Err(why) => eprintln!("NOT TRIED on a bind-mounted folder: this machine allows no mount namespace ({why})"),
    }
}
