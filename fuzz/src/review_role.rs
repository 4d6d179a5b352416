//! The whole vetted role `review`: a diff by anybody, and a workspace that mostly agrees with it.

use std::collections::BTreeMap;

use brain_role::testing::Bench;
use brain_role::{CoverageStatus, Severity, Verdict};
use review::diff::{FileDiff, Side, parse};
use review::limits::{MAX_EVIDENCE_CHARS, MAX_FILES, MAX_FINDINGS, MAX_LIST};

/// Files that the workspace has; making more takes longer than reviewing them.
const FILES: usize = 8;
/// Lines of such a file.
const FILE_LINES: usize = 2_000;

/// Nothing panics, every list is bounded, and an approval means that all of the change was seen and nothing grave was found.
pub fn check(data: &[u8]) {
    let diff = parse(data, MAX_FILES);
    let mut bench = Bench::new().context(review::DIFF, data);
    for (path, content) in workspace(&diff.files) {
        bench = bench.file(path, content);
    }
    let result = bench.run(review::run);
    let findings = &result.findings;
    assert!(findings.len() <= MAX_FINDINGS);
    for finding in findings {
        assert!(finding.rule.is_some() && finding.line != Some(0) && !finding.issue.trim().is_empty(), "{finding:?}");
        let evidence = finding.evidence.as_deref().unwrap_or_default();
        assert!(evidence.chars().count() <= MAX_EVIDENCE_CHARS + 1, "{finding:?}");
    }
    let decision = result.review.expect("a reviewer decides");
    for list in [&decision.required_changes, &decision.blocking_issues, &decision.residual_risks] {
        assert!(list.len() <= MAX_LIST + 1, "{} items", list.len());
    }
    if decision.decision != Verdict::Approved {
        return;
    }
    assert!(diff.problems.is_empty() && diff.cut_files == 0 && diff.unmerged.is_empty(), "{diff:?}");
    for file in &diff.files {
        let name = file.name().expect("what is approved has a name").file();
        let entry = decision.coverage.iter().find(|entry| entry.file == name);
        let entry = entry.unwrap_or_else(|| panic!("{name:?} is approved and not accounted for"));
        assert_eq!(entry.status, CoverageStatus::Inspected, "{entry:?}");
    }
    assert!(findings.iter().all(|finding| finding.severity != Severity::High), "{findings:?}");
    assert!(decision.required_changes.is_empty() && decision.blocking_issues.is_empty());
}

/// The files after the change, as far as the diff shows them; what it does not show is filled up.
fn workspace(files: &[FileDiff<'_>]) -> BTreeMap<String, Vec<u8>> {
    let mut tree = BTreeMap::new();
    for file in files.iter().take(FILES) {
        let Some(Ok(path)) = file.new.as_ref().map(|name| name.path()) else {
            continue;
        };
        let mut lines: Vec<&[u8]> = Vec::new();
        for line in file.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.side != Side::Removed) {
            let at = line.line as usize;
            if at > FILE_LINES {
                break;
            }
            lines.resize(lines.len().max(at), b"filler");
            if let Some(place) = lines.get_mut(at - 1) {
                *place = line.text;
            }
        }
        // A file cannot be where a folder is, nor below a file; such a diff finds its tree without it.
        let clashes = |other: &String| is_below(other, path) || is_below(path, other);
        let fits = path.split('/').all(|part| part.len() < 200) && path.len() < 2_000;
        if fits && !tree.keys().any(clashes) {
            let mut content = lines.join(&b'\n');
            content.push(b'\n');
            tree.insert(path.to_owned(), content);
        }
    }
    tree
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}
