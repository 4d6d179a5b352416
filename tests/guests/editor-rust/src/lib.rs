//! Edits a tree as any Rust program does: `std::fs` and `std::io`, no call of WASI, no tree of the SDK.
//!
//! The goal is a verb and the folder to work in, separated by one space.
//!
//! | verb | does |
//! |---|---|
//! | `edit <root>` | the jobs of [`edit`]; the summary is the listing of the tree afterwards |
//! | `observe <root>` | the experiments of [`observe`] in an empty folder; the summary has a line for each |
//!
//! The modules take the root as a parameter and know nothing of roles, so that a test can run the same code natively and
//! compare.

pub mod edit;
pub mod observe;
#[cfg(not(target_family = "wasm"))]
pub mod sample;

use std::path::Path;

use brain_role::{Handoff, Outcome};

brain_role::role!(run);

/// Does what the goal says.
pub fn run(handoff: Handoff) -> Outcome {
    let (verb, root) = handoff.goal().split_once(' ').unwrap_or((handoff.goal(), ""));
    let root = Path::new(root);
    let report = match verb {
        "edit" => edit::edit(root).and_then(|()| edit::listing(root).map_err(|error| format!("listing: {error}"))),
        "observe" => Ok(observe::observe(root)),
        _ => Err(format!("unknown verb {verb:?}")),
    };
    match report {
        Ok(report) => Outcome::completed(report),
        Err(error) => Outcome::failed(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brain_role::TaskStatus;
    use brain_role::testing::Bench;

    #[test]
    fn the_jobs_are_done_and_reported() {
        let root = tempfile::tempdir().unwrap();
        sample::lay_out(root.path()).unwrap();
        let result = Bench::new().goal(format!("edit {}", root.path().display())).run(run);
        assert_eq!(result.progress.status, TaskStatus::Completed, "{}", result.summary);
        let lines: Vec<&str> = result.summary.lines().collect();
        assert!(lines.contains(&"f notes/a.txt 15 568e5b9ad2078f67"), "{}", result.summary);
        assert!(lines.contains(&"d made/empty") && !lines.iter().any(|line| line.contains("build")), "{lines:?}");
    }

    #[test]
    fn a_job_that_fails_is_named() {
        let root = tempfile::tempdir().unwrap();
        let result = Bench::new().goal(format!("edit {}", root.path().display())).run(run);
        assert_eq!(result.progress.status, TaskStatus::Failed);
        assert!(result.summary.starts_with("replace a word: "), "{}", result.summary);
    }

    #[test]
    fn no_experiment_is_stopped_on_a_plain_folder() {
        let root = tempfile::tempdir().unwrap();
        let seen = observe::observe(root.path());
        assert!(!seen.contains("stopped"), "{seen}");
        assert!(seen.lines().count() > 40, "{seen}");
    }
}
