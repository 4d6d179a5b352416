//! Every rule on settings that it is for, and on settings that only look like it.
//!
//! A line of `fixtures/dangerous` says in a comment what is expected of it: `expect high ci/dead-action`, or, where a comment cannot stand
//! behind the setting, `expect-next` on the line before. Nothing is expected of `fixtures/safe`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use brain_role::WorkerResult;
use brain_role::testing::Bench;

type Places = BTreeSet<(String, u32, String, String)>;

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// The project in a folder of fixtures, and what it expects.
fn project(kind: &str) -> (Bench, Places) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kind);
    let mut paths = Vec::new();
    files(&root, &mut paths);
    assert!(paths.len() >= 6, "{kind}: {paths:?}");
    let (mut bench, mut expected) = (Bench::new(), Places::new());
    for path in paths {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in (1u32..).zip(text.lines()) {
            for (mark, at) in [("expect ", number), ("expect-next ", number + 1)] {
                let Some((_, words)) = line.split_once(mark) else { continue };
                let words: Vec<&str> = words.split_whitespace().collect();
                expected.extend(words.chunks(2).map(|pair| (name.clone(), at, pair[0].to_owned(), pair[1].to_owned())));
            }
        }
        bench = bench.file(&name, text);
    }
    (bench, expected)
}

fn found(result: &WorkerResult) -> Places {
    let place = |finding: &brain_role::Finding| {
        let severity = format!("{:?}", finding.severity).to_lowercase();
        (finding.file.clone().unwrap(), finding.line.unwrap(), severity, finding.rule.clone().unwrap())
    };
    result.findings.iter().map(place).collect()
}

#[test]
fn each_marked_line_is_found_and_nothing_else() {
    let (bench, expected) = project("dangerous");
    let result = bench.run(devops::run);
    let found = found(&result);
    let missing: Vec<_> = expected.difference(&found).collect();
    let extra: Vec<_> = found.difference(&expected).collect();
    assert!(missing.is_empty() && extra.is_empty(), "missing {missing:#?}, extra {extra:#?}");
    assert!(result.findings.iter().all(|finding| finding.suggestion.as_ref().is_some_and(|text| text.len() > 10)));
    let seen: BTreeSet<&str> = found.iter().map(|(.., rule)| rule.as_str()).collect();
    let untested: Vec<_> = devops::RULES.iter().filter(|rule| !seen.contains(**rule)).collect();
    assert!(untested.is_empty(), "no fixture for {untested:?}");
    let output = format!("{result:?}");
    assert!(!output.contains("hunter"), "a secret of the fixtures is in the output");
}

#[test]
fn look_alikes_are_left_alone() {
    let (bench, _) = project("safe");
    assert_eq!(bench.run(devops::run).findings, []);
}

#[test]
fn the_readme_has_every_rule() {
    let readme = include_str!("../README.md");
    for rule in devops::RULES {
        assert!(readme.contains(&format!("`{rule}`")), "{rule}");
    }
}
