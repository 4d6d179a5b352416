//! Every rule on projects that it is for, and on what only looks like it.
//!
//! Each folder of `fixtures` is a project. A line of one says in a comment what is expected of it: `expect high sql/drop-table`. Nothing
//! else is expected anywhere.
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

fn expected(path: &str, text: &str, expected: &mut Places) {
    for (number, line) in (1u32..).zip(text.lines()) {
        let Some((_, words)) = line.split_once("expect ") else { continue };
        let words: Vec<&str> = words.split_whitespace().filter(|word| *word != "expect").collect();
        for pair in words.chunks(2) {
            expected.insert((path.to_owned(), number, pair[0].to_owned(), pair[1].to_owned()));
        }
    }
}

fn found(result: &WorkerResult) -> Places {
    result
        .findings
        .iter()
        .map(|finding| {
            (
                finding.file.clone().unwrap(),
                finding.line.unwrap(),
                format!("{:?}", finding.severity).to_lowercase(),
                finding.rule.clone().unwrap(),
            )
        })
        .collect()
}

#[test]
fn each_marked_line_is_found_and_nothing_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut seen = BTreeSet::new();
    for project in ["alembic", "mysql", "postgres", "prisma", "rails", "sqlite"] {
        let folder = root.join(project);
        let mut paths = Vec::new();
        files(&folder, &mut paths);
        let (mut bench, mut marks) = (Bench::new(), Places::new());
        for path in paths {
            let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
            let text = std::fs::read_to_string(&path).unwrap();
            expected(&name, &text, &mut marks);
            bench = bench.file(&name, text);
        }
        let result = bench.run(dba::run);
        let found = found(&result);
        let missing: Vec<_> = marks.difference(&found).collect();
        let extra: Vec<_> = found.difference(&marks).collect();
        assert!(missing.is_empty() && extra.is_empty(), "{project}: missing {missing:#?}, extra {extra:#?}");
        for finding in &result.findings {
            let suggestion = finding.suggestion.as_deref().unwrap_or_default();
            assert!(suggestion.ends_with(['.', '…', ')']) && finding.issue.len() > 20, "{finding:?}");
        }
        seen.extend(found.into_iter().map(|(.., rule)| rule));
    }
    // What the change does to a migration is tested with a change.
    let untested: Vec<_> =
        dba::RULES.iter().filter(|rule| !seen.contains(**rule) && **rule != "migration/edited").collect();
    assert!(untested.is_empty(), "no fixture for {untested:?}");
    let unknown: Vec<_> = seen.iter().filter(|rule| !dba::RULES.contains(&rule.as_str())).collect();
    assert!(unknown.is_empty(), "not in RULES: {unknown:?}");
}

#[test]
fn the_readme_has_every_rule() {
    let readme = include_str!("../README.md");
    for rule in dba::RULES {
        assert!(readme.contains(&format!("`{rule}`")), "{rule}");
    }
}
