//! Random trees, random change sets: what is applied is what was proposed, what is undone is what was, and whatever stops
//! it at whatever step leaves one of the two.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use brain_changes::{
    ApplyError, ChangeSet, MemoryLog, Outcome, Reached, Step, apply, apply_watched, recover, recover_watched,
};
use common::{Model, Node, Place, assert_same, between, place, read_tree};
use proptest::prelude::*;

const NAMES: [&str; 4] = ["a", "b", "c d", "ü"];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        Just(b"one\ntwo\nthree\n".to_vec()),
        Just(b"one\n2\nthree".to_vec()),
        Just(b"\0\xff".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..200),
    ]
}

fn node() -> impl Strategy<Value = Node> {
    prop_oneof![
        3 => (bytes(), prop_oneof![Just(0o644), Just(0o755), Just(0o600), Just(0o444), Just(0o777)])
            .prop_map(|(bytes, mode)| Node::File { bytes, mode }),
        1 => prop_oneof![Just(0o755), Just(0o700), Just(0o775), Just(0o750)].prop_map(|mode| Node::Folder { mode }),
    ]
}

/// Up to 12 nodes, at most three names deep.
fn tree() -> impl Strategy<Value = Model> {
    let path = proptest::collection::vec(proptest::sample::select(&NAMES[..]), 1..4).prop_map(|names| names.join("/"));
    proptest::collection::btree_map(path, node(), 0..12).prop_map(|nodes| {
        let mut tree = Model::new();
        for (path, node) in nodes {
            let above: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
            if above.iter().any(|above| matches!(tree.get(*above), Some(Node::File { .. }))) {
                continue;
            }
            for above in above {
                tree.entry(above.to_owned()).or_insert(Node::Folder { mode: 0o755 });
            }
            tree.insert(path, node);
        }
        tree
    })
}

/// Two trees and the renames between them. About half of the nodes of the first are in the second too.
fn trees() -> impl Strategy<Value = (Model, Model, Vec<(String, String)>)> {
    (tree(), tree(), any::<u64>()).prop_map(|(before, mut after, coin)| {
        for (number, (path, node)) in before.iter().enumerate() {
            let above_fits =
                path.match_indices('/').all(|(at, _)| matches!(after.get(&path[..at]), Some(Node::Folder { .. })));
            match (node, after.get(path)) {
                // The mode of a folder that stays is no change.
                (Node::Folder { .. }, Some(Node::Folder { .. })) => drop(after.insert(path.clone(), node.clone())),
                (_, None) if above_fits && coin >> (number % 60) & 1 == 1 => {
                    after.insert(path.clone(), node.clone());
                }
                _ => {}
            }
        }
        let files = |model: &Model, other: &Model| -> Vec<String> {
            let is_file = |model: &Model, path: &str| matches!(model.get(path), Some(Node::File { .. }));
            model.keys().filter(|path| is_file(model, path) && !is_file(other, path)).cloned().collect()
        };
        let (gone, new) = (files(&before, &after), files(&after, &before));
        let mut renames: Vec<(String, String)> = gone.into_iter().zip(new).take((coin % 3) as usize).collect();
        // Two files that are in both trees swap their places.
        let both: Vec<&String> = before
            .keys()
            .filter(|path| {
                matches!((before.get(*path), after.get(*path)), (Some(Node::File { .. }), Some(Node::File { .. })))
            })
            .collect();
        if let ([a, b, ..], true) = (both.as_slice(), coin & 8 == 0) {
            renames.extend([((*a).clone(), (*b).clone()), ((*b).clone(), (*a).clone())]);
        }
        (before, after, renames)
    })
}

fn prepared(before: &Model, after: &Model, renames: &[(String, String)]) -> (Place, ChangeSet) {
    let place = place(before);
    assert_same(&read_tree(&place.root), before, "the tree that was made");
    let set = between(before, after, renames, &place.contents);
    (place, set)
}

/// The number of steps of an apply.
fn steps(before: &Model, after: &Model, renames: &[(String, String)]) -> usize {
    let (place, set) = prepared(before, after, renames);
    let mut steps = 0;
    let mut count = |_: Step<'_>| {
        steps += 1;
        Ok(())
    };
    let _ = apply_watched(&set, &place.root, &place.contents, &mut MemoryLog::default(), &mut count).unwrap();
    steps
}

/// A watch that gives up before the step with the number `at`.
fn at(at: usize, mut give_up: impl FnMut() -> io::Result<()>) -> impl FnMut(Step<'_>) -> io::Result<()> {
    let mut step = 0;
    move |_: Step<'_>| {
        step += 1;
        if step == at + 1 { give_up() } else { Ok(()) }
    }
}

struct Crash;

/// Runs until the step with the number `step`, and ends there without any cleaning up, as a killed process does.
fn crashing<T>(step: usize, run: impl FnOnce(&mut dyn FnMut(Step<'_>) -> io::Result<()>) -> T) -> Option<T> {
    let mut watch = at(step, || resume_unwind(Box::new(Crash)));
    match catch_unwind(AssertUnwindSafe(|| run(&mut watch))) {
        Ok(done) => Some(done),
        Err(crash) if crash.is::<Crash>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn apply_makes_the_proposal_and_undo_takes_it_back((before, after, renames) in trees()) {
        let (place, set) = prepared(&before, &after, &renames);
        prop_assert_eq!(&ChangeSet::from_json(&set.to_json()).unwrap(), &set);
        prop_assert_eq!(&set.inverse().inverse(), &set);
        set.inverse().check().unwrap();
        let mut log = MemoryLog::default();
        let applied = apply(&set, &place.root, &place.contents, &mut log).unwrap();
        assert_same(&read_tree(&place.root), &after, "applied");
        prop_assert!(applied.kept.is_empty() && applied.folders_left.is_empty());
        prop_assert_eq!(&applied.undo, &set.inverse());
        if !set.is_empty() {
            prop_assert_eq!(log.outcome, Some(Outcome::Applied));
        }
        let undone = apply(&applied.undo, &place.root, &place.contents, &mut log).unwrap();
        assert_same(&read_tree(&place.root), &before, "undone");
        prop_assert_eq!(undone.undo, set);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_failure_at_any_step_leaves_all_or_nothing((before, after, renames) in trees(), chosen in any::<prop::sample::Index>()) {
        let (place, set) = prepared(&before, &after, &renames);
        let total = steps(&before, &after, &renames);
        prop_assume!(total > 0);
        let mut log = MemoryLog::default();
        let full = || Err(io::Error::from(io::ErrorKind::StorageFull));
        let mut watch = at(chosen.index(total), full);
        let result = apply_watched(&set, &place.root, &place.contents, &mut log, &mut watch);
        match result.unwrap_err() {
            ApplyError::DiskFull { left, .. } => {
                prop_assert!(left.is_empty());
                assert_same(&read_tree(&place.root), &before, "rolled back");
                prop_assert!(log.open().is_none());
            }
            ApplyError::Unfinished { .. } => {
                let (intent, reached) = log.open().map(|(intent, reached)| (intent.clone(), reached)).unwrap();
                prop_assert_eq!(reached, Reached::Commit);
                let recovered = recover(&intent, reached, &place.root, &place.contents, &mut log).unwrap();
                prop_assert_eq!(recovered.outcome, Outcome::Applied);
                assert_same(&read_tree(&place.root), &after, "finished");
            }
            ApplyError::NotEnded { outcome, .. } => {
                prop_assert_eq!(outcome, Outcome::Applied);
                assert_same(&read_tree(&place.root), &after, "not ended");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_crash_at_any_step_even_of_the_recovery_leaves_all_or_nothing(
        (before, after, renames) in trees(),
        first in any::<prop::sample::Index>(),
        second in any::<prop::sample::Index>(),
    ) {
        let (place, set) = prepared(&before, &after, &renames);
        let total = steps(&before, &after, &renames);
        prop_assume!(total > 0);
        let mut log = MemoryLog::default();
        let ended = crashing(first.index(total), |mut watch| {
            apply_watched(&set, &place.root, &place.contents, &mut log, &mut watch).unwrap()
        });
        prop_assert!(ended.is_none());
        let Some((intent, reached)) = log.open().map(|(intent, reached)| (intent.clone(), reached)) else {
            assert_same(&read_tree(&place.root), &before, "before the intent");
            return Ok(());
        };
        let _ = crashing(second.index(total), |mut watch| {
            recover_watched(&intent, reached, &place.root, &place.contents, &mut log, &mut watch).unwrap()
        });
        let recovered = recover(&intent, reached, &place.root, &place.contents, &mut log).unwrap();
        prop_assert!(recovered.kept.is_empty() && recovered.left.is_empty());
        match reached {
            Reached::Intent => {
                prop_assert_eq!(recovered.outcome, Outcome::RolledBack);
                assert_same(&read_tree(&place.root), &before, "rolled back");
            }
            Reached::Commit => {
                prop_assert_eq!(recovered.outcome, Outcome::Applied);
                assert_same(&read_tree(&place.root), &after, "finished");
                let _ = apply(&recovered.undo, &place.root, &place.contents, &mut log).unwrap();
                assert_same(&read_tree(&place.root), &before, "undone");
            }
        }
    }
}
