//! Every rule on code that it is for, and on code that only looks like it.
//!
//! A line of `fixtures/dangerous` says in a comment what is expected of it: `expect high danger/python-eval`, or, where a
//! comment cannot stand behind the code, `expect-next` on the line before. Nothing is expected of `fixtures/safe`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use security::{RULES, inspect};

type Expected = BTreeSet<(u32, String, String)>;

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Path below the folder, and text, of every fixture of a kind.
fn fixtures(kind: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kind);
    let mut paths = Vec::new();
    files(&root, &mut paths);
    paths.sort();
    assert!(paths.len() >= 15, "{kind}: {paths:?}");
    paths
        .iter()
        .map(|path| {
            (
                path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/"),
                std::fs::read_to_string(path).unwrap(),
            )
        })
        .collect()
}

fn expected(text: &str) -> Expected {
    let mut expected = Expected::new();
    for (number, line) in (1u32..).zip(text.lines()) {
        for (mark, line_number) in [("expect ", number), ("expect-next ", number + 1)] {
            let Some((_, words)) = line.split_once(mark) else { continue };
            let words: Vec<&str> = words.split_whitespace().collect();
            for pair in words.chunks(2) {
                expected.insert((line_number, pair[0].to_owned(), pair[1].to_owned()));
            }
        }
    }
    expected
}

fn found(path: &str, text: &str) -> Expected {
    let report = inspect(path, text);
    report
        .findings
        .iter()
        .map(|finding| {
            (finding.line.unwrap(), format!("{:?}", finding.severity).to_lowercase(), finding.rule.clone().unwrap())
        })
        .collect()
}

#[test]
fn each_marked_line_is_found_and_nothing_else() {
    for (path, text) in fixtures("dangerous") {
        let (expected, found) = (expected(&text), found(&path, &text));
        let missing: Vec<_> = expected.difference(&found).collect();
        let extra: Vec<_> = found.difference(&expected).collect();
        assert!(missing.is_empty() && extra.is_empty(), "{path}: missing {missing:#?}, extra {extra:#?}");
    }
}

#[test]
fn look_alikes_are_left_alone() {
    for (path, text) in fixtures("safe") {
        assert_eq!(inspect(&path, &text).findings, [], "{path}");
    }
}

#[test]
fn every_rule_has_a_case_and_every_case_a_rule() {
    let cases: BTreeSet<String> =
        fixtures("dangerous").iter().flat_map(|(_, text)| expected(text)).map(|(.., rule)| rule).collect();
    let rules: BTreeSet<String> = RULES.iter().map(|rule| (*rule).to_owned()).collect();
    assert_eq!(rules.len(), RULES.len(), "a rule is named twice");
    assert_eq!(cases.difference(&rules).collect::<Vec<_>>(), Vec::<&String>::new(), "not in RULES");
    assert_eq!(rules.difference(&cases).collect::<Vec<_>>(), Vec::<&String>::new(), "without a case");
}

#[test]
fn the_readme_names_every_rule() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for rule in RULES {
        assert!(readme.contains(&format!("`{rule}`")), "README.md does not name {rule}");
    }
}

#[test]
fn a_marked_line_that_is_commented_out_is_not_found() {
    // The same code as a comment: the rules look at code.
    let comment = |path: &str| match path.rsplit('.').next().unwrap() {
        "py" | "rb" | "sh" => Some("# "),
        "js" | "rs" | "go" | "c" | "java" => Some("// "),
        _ => None,
    };
    for (path, text) in fixtures("dangerous") {
        let Some(mark) = comment(&path) else { continue };
        let text: String = text.lines().map(|line| format!("{mark}{line}\n")).collect();
        assert_eq!(inspect(&path, &text).findings, [], "{path}");
    }
}

#[test]
fn in_tests_and_examples_a_finding_is_one_step_less_severe_and_says_so() {
    let text = "import os\nos.system('ls ' + name)\n";
    let severe = &inspect("src/a.py", text).findings[0];
    let mild = &inspect("tests/a.py", text).findings[0];
    assert_eq!((severe.severity, mild.severity), (brain_role::Severity::High, brain_role::Severity::Medium));
    assert!(mild.evidence.as_deref().unwrap().ends_with("(in tests or examples: one step less severe)"), "{mild:?}");
    assert!(!severe.evidence.as_deref().unwrap().contains("less severe"));
}

#[test]
fn what_repeats_in_a_file_is_joined() {
    let text = "eval(a)\n".repeat(20);
    let report = inspect("src/a.py", &text);
    assert_eq!(report.findings.len(), security::limits::MAX_PER_RULE_AND_FILE);
    assert_eq!(report.joined, [0, 17, 0]);
    let last = report.findings.last().unwrap().evidence.clone().unwrap();
    assert_eq!(last, "eval(a) (+17 more in this file: line 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, …)");
}

#[test]
fn third_party_and_minified_code_is_looked_at_for_secrets_only() {
    let text = "eval(a)\n";
    for path in ["node_modules/x/a.js", "vendor/a.py", "dist/a.min.js"] {
        let report = inspect(path, text);
        assert_eq!((report.findings.len(), report.partly.len()), (0, 1), "{path}");
    }
    let long = format!("eval(a);{}\n", "x=1;".repeat(2_000));
    assert_eq!(inspect("src/a.js", &long).partly, ["minified or generated code: looked at for secrets only"]);
}

#[test]
fn a_template_of_yaml_is_said_to_be_none() {
    let text = "apiVersion: v1\nkind: Pod\nspec:\n  {{- if .Values.x }}\n  hostNetwork: true\n  {{- end }}\n";
    assert_eq!(inspect("chart/templates/pod.yaml", text).partly, ["settings that are not plain YAML (a template?)"]);
}

#[test]
fn calls_past_the_limit_of_a_file_are_said() {
    let most = security::limits::MAX_RAW_PER_FILE;
    let report = inspect("src/a.py", &"eval(a)\n".repeat(most + 5));
    assert_eq!(report.joined, [0, (most - security::limits::MAX_PER_RULE_AND_FILE) as u64, 0]);
    assert_eq!(report.partly, ["more dangerous calls in one file than are kept"]);
}

#[test]
fn a_long_line_is_clipped_in_the_evidence() {
    let text = format!("eval(a, \"{}\")\n", "word ".repeat(200));
    let evidence = inspect("src/a.py", &text).findings[0].evidence.clone().unwrap();
    assert_eq!(evidence.chars().count(), security::limits::MAX_EVIDENCE_CHARS + 1);
    assert!(evidence.starts_with("eval(a, \"word word") && evidence.ends_with('…'), "{evidence}");
}

#[test]
fn templates_inside_templates_are_followed_to_a_depth() {
    let nested = |depth: usize| format!("x = {}eval(a){}\n", "`${".repeat(depth), "}`".repeat(depth));
    assert_eq!(inspect("src/a.js", &nested(security::limits::MAX_TEMPLATE_DEPTH)).findings.len(), 1);
    // Deeper, it is text.
    assert_eq!(inspect("src/a.js", &nested(security::limits::MAX_TEMPLATE_DEPTH + 1)).findings.len(), 0);
}
