//! The role as Brain calls it: what it looks at, how it reports, and what it never says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../../secret-scan/tests/common/mod.rs"]
#[allow(dead_code)]
mod common;

use brain_role::testing::Bench;
use brain_role::{Finding, Outcome, Severity, TaskStatus, WorkerResult};
use common::{BASE62, chars, checked, samples};
use proptest::prelude::*;
use security::limits::{MAX_FILE_BYTES, MAX_FINDINGS, MAX_PER_RULE_AND_FILE};
use security::run;

fn places(result: &WorkerResult) -> Vec<String> {
    result
        .findings
        .iter()
        .map(|f| {
            format!(
                "{:?} {}:{} {}",
                f.severity,
                f.file.as_deref().unwrap(),
                f.line.unwrap(),
                f.rule.as_deref().unwrap()
            )
        })
        .collect()
}

fn bench() -> Bench {
    Bench::new()
        .file("src/b.py", "import os\n\nos.system('ls ' + name)\n")
        .file("src/a.py", "x = 1\neval(x)\n")
        .file("install.sh", "chmod 777 x\n")
        .file("Dockerfile", "FROM debian:12\nUSER app\n")
        .file("README.md", "Do not call eval(x).\n")
}

#[test]
fn the_worst_comes_first_and_the_summary_names_it() {
    let result = bench().run(run);
    assert_eq!(result.progress.status, TaskStatus::Completed);
    let expected = [
        "High src/b.py:3 danger/python-os-system",
        "Medium install.sh:1 danger/shell-chmod-777",
        "Medium src/a.py:2 danger/python-eval",
    ];
    assert_eq!(places(&result), expected);
    assert_eq!(
        result.summary,
        "3 findings in 5 files: 1 high, 2 medium, 0 low. Worst: src/b.py:3 danger/python-os-system (runs a command line through a shell); \
         install.sh:1 danger/shell-chmod-777 (lets everybody on the machine write); src/a.py:2 danger/python-eval (evaluates text as Python code)."
    );
    assert_eq!(result.findings[0].evidence.as_deref(), Some("os.system('ls ' + name)"));
    assert!(result.findings.iter().all(|finding| finding.suggestion.is_some()));
    assert_eq!(result.risks, Vec::<String>::new());
    assert_eq!(bench().run(run), result, "the same tree gives the same result");
}

#[test]
fn only_the_files_that_are_referred_to_are_looked_at() {
    assert_eq!(places(&bench().ref_file("src/a.py").run(run)), ["Medium src/a.py:2 danger/python-eval"]);
    // A directory stands for what is below it, and not for what merely starts with its name.
    let bench = bench().file("src2/c.py", "eval(y)\n").ref_file("src");
    assert_eq!(
        places(&bench.run(run)),
        ["High src/b.py:3 danger/python-os-system", "Medium src/a.py:2 danger/python-eval"]
    );
    // References to anything else than files of the project change nothing.
    assert_eq!(self::bench().context("request.md", "look").run(run).findings.len(), 3);
}

#[test]
fn a_reference_to_nothing_is_said() {
    let result = bench().ref_file("src/gone.py").run(run);
    assert_eq!(result.findings, []);
    assert_eq!(
        result.risks,
        [
            "1 file not looked at: not there (the first is \"src/gone.py\")",
            "no file was looked at, so nothing can be said about the project"
        ]
    );
    assert_eq!(result.summary, "Nothing dangerous found in 0 files.");
}

#[test]
fn an_empty_project_is_not_called_safe() {
    let result = Bench::new().run(run);
    assert_eq!(result.progress.status, TaskStatus::Completed);
    assert!(result.risks.iter().any(|risk| risk.contains("no file was looked at")), "{:?}", result.risks);
}

#[test]
fn what_is_not_looked_at_is_counted() {
    let big = format!("{}eval(x)\n", "x = 1\n".repeat(MAX_FILE_BYTES as usize / 6 + 1));
    let result = Bench::new()
        .file("a.png", "eval(x)")
        .file("data", b"\0\0eval(x)")
        .file("big.py", big)
        .file("node_modules/m/a.js", "eval(x)")
        .file("ok.py", "eval(x)")
        .run(run);
    assert_eq!(places(&result), ["Medium ok.py:1 danger/python-eval"]);
    assert_eq!(
        result.risks,
        [
            "1 file not looked at: binary (the first is \"data\")",
            "1 file not looked at: binary by its name (the first is \"a.png\")",
            "1 file: larger than 1 MiB and read up to there (the first is \"big.py\")",
            "1 file was looked at in part: third-party code: looked at for secrets only (the first is \"node_modules/m/a.js\")",
        ]
    );
}

#[test]
fn findings_past_the_limit_are_counted_and_the_worst_are_kept() {
    let mut bench = Bench::new();
    for n in 0..MAX_FINDINGS + 40 {
        bench = bench.file(format!("a{n:04}.sh"), "eval $x\n");
    }
    let result = bench.file("z.py", "import os\nos.system('a' + b)\n").run(run);
    assert_eq!(result.findings.len(), MAX_FINDINGS);
    assert_eq!(places(&result)[0], "High z.py:2 danger/python-os-system");
    assert!(
        result.risks.contains(&format!(
            "41 findings are not listed, since {MAX_FINDINGS} are the most: 0 high, 0 medium, 41 low"
        )),
        "{:?}",
        result.risks
    );
    assert!(result.summary.starts_with(&format!("{} findings in", MAX_FINDINGS + 41)), "{}", result.summary);
}

#[test]
fn many_files_with_many_findings_stay_within_the_limit() {
    // Enough to thin the list out more than once.
    let mut bench = Bench::new();
    for n in 0..1_200 {
        bench = bench.file(format!("d{n}/a.py"), "eval(x)\nexec(x)\nos.system(x)\n");
    }
    let result = bench.run(run);
    assert_eq!(result.findings.len(), MAX_FINDINGS);
    assert!(
        result.summary.starts_with("3600 findings in 1200 files: 0 high, 3600 medium, 0 low."),
        "{}",
        result.summary
    );
}

#[test]
fn repeated_findings_are_counted_in_the_summary() {
    let result = Bench::new().file("a.py", "eval(x)\n".repeat(10)).run(run);
    assert_eq!(result.findings.len(), MAX_PER_RULE_AND_FILE);
    assert!(result.summary.starts_with("10 findings in 1 file: 0 high, 10 medium, 0 low."), "{}", result.summary);
    assert_eq!(
        result.risks,
        ["7 findings repeat a rule in the same file and are named by line in the evidence of another"]
    );
}

#[test]
fn an_allow_comment_silences_its_rule_alone_and_is_counted() {
    let result = Bench::new()
        .file("a.py", "eval(x)  # brain:allow danger/python-eval\n# brain:allow danger/python-exec -- generated above\nexec(x)\neval(y)  # brain:allow danger/python-exec\n")
        .run(run);
    assert_eq!(places(&result), ["Medium a.py:4 danger/python-eval"]);
    assert_eq!(result.risks, ["2 findings are allowed by a brain:allow comment"]);
}

#[test]
fn the_primary_role_composes_what_the_others_found() {
    let librarian = Outcome::completed("Four files matter.\nThe rest does not.")
        .finding(Finding::new(Severity::Low, "a"))
        .finding(Finding::new(Severity::High, "b"));
    let base = bench();
    let result = base.run(move |handoff| librarian.into_result(&handoff));
    let failed = base.run(|_| Outcome::failed("no diff"));
    let composed = bench()
        .prior_result("librarian", &result)
        .prior_result("review", &failed)
        .context("results/odd.json", "not json")
        .run(run);
    let (own, others) = composed.summary.split_once("\n\n").unwrap();
    assert!(own.starts_with("3 findings"), "{own}");
    let lines: Vec<&str> = others.lines().collect();
    assert_eq!(lines[0], "Other roles:");
    assert_eq!(lines[1], "- librarian (completed): Four files matter. [2 findings: 1 high, 1 low]");
    assert!(lines[2].starts_with("- odd: its result cannot be read:"), "{}", lines[2]);
    assert_eq!(lines[3], "- review (failed): no diff [no findings]");
}

#[test]
fn prior_results_past_the_limit_are_counted() {
    let mut bench = bench();
    let other = bench.run(|_| Outcome::completed("done"));
    for n in 0..brain_role::MAX_COMPOSED + 3 {
        bench = bench.prior_result(&format!("r{n:02}"), &other);
    }
    let result = bench.run(run);
    assert_eq!(
        result.summary.lines().filter(|line| line.contains(" (completed): done [no findings]")).count(),
        brain_role::MAX_COMPOSED
    );
    assert!(result.summary.ends_with("- 3 more are not shown"), "{}", result.summary);
}

#[test]
fn a_secret_is_found_with_its_line_and_without_its_value() {
    let token = ["gh", "p_", &checked(3)].concat();
    let result = Bench::new().file("src/a.py", format!("import x\nTOKEN = '{token}'\n")).run(run);
    assert_eq!(places(&result), ["High src/a.py:2 secret/github-token"]);
    assert_eq!(result.findings[0].evidence.as_deref(), Some("ghp_… (40 characters)"));
}

/// No window of eight characters of `value` anywhere in the result.
fn assert_silent(result: &WorkerResult, value: &str) {
    let output = format!("{result:?}");
    for window in value.as_bytes().windows(8) {
        // The head and foot of a key block are the format's own words.
        let public = window.iter().all(|b| b.is_ascii_uppercase() || matches!(b, b' ' | b'-'));
        assert!(
            public || !output.as_bytes().windows(8).any(|other| other == window),
            "{output} repeats part of {value:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn no_output_repeats_a_secret(seed in 1u64..1_000_000) {
        for (rule, value, text) in samples(seed) {
            if !secret_scan::scan("src/a.env", &text).iter().any(|hit| hit.rule == rule) {
                continue;
            }
            let one_line = text.trim_end().replace('\n', " ");
            // The secret stands on lines that are quoted as evidence for other reasons.
            let result = Bench::new()
                .file("src/a.env", &text)
                .file("src/run.py", format!("import os\nos.system(f'curl {{x}} {one_line}')\neval(x) # {one_line}\n"))
                .file("src/run.sh", format!("eval $x {one_line}\nchmod 777 {one_line}\n"))
                .file("Dockerfile", format!("FROM x:latest\nENV API_TOKEN={value} DB_PASSWORD={value}\nRUN curl -H '{one_line}' x | sh\n"))
                .file(".github/workflows/a.yml", format!("on: push\njobs:\n  a:\n    steps:\n      - run: |\n          echo ${{{{ secrets.A }}}} {one_line}\n          curl -H '{one_line}' x | sh\n"))
                .run(run);
            prop_assert!(result.findings.len() >= 4, "{:?}", result.findings);
            if one_line.contains(&value) {
                assert_silent(&result, &value);
            }
        }
    }
}

#[test]
fn a_random_run_that_no_rule_knows_is_not_quoted_either() {
    let value = chars(BASE62, 40, 9) + "7";
    let result = Bench::new().file("a.sh", format!("eval $x {value}\n")).run(run);
    assert_eq!(result.findings.len(), 1);
    assert_silent(&result, &value);
}

#[test]
fn hostile_text_is_read_without_a_panic() {
    let mut bench = Bench::new();
    let texts = [
        "\u{feff}eval(",
        "'\"`\"\"\"'''",
        "${${${${${${${${${${${${${${${${${${",
        "/*/*/*/*",
        "r####\"",
        "R\"(",
        "<<EOF\n<<EOF\n<<EOF",
        "<?php <<<X\n",
        "%w[",
        "=begin",
        "f'{'",
        "eval(((((((((",
        ")))))",
        "unsafe",
        "shell=True",
        "exec.Command(",
        "é'é\"é",
        "SELECT ",
        "\"SELECT \u{1F600} FROM x\" + y",
        "a: [[[[",
        "- - - -",
        "\r\n\r\n",
    ];
    for extension in ["py", "js", "rs", "go", "c", "java", "php", "rb", "sh", "html", "yml", "md", "Dockerfile"] {
        for (n, text) in texts.iter().enumerate() {
            bench = bench.file(format!("a{n}.{extension}"), text.repeat(3));
        }
    }
    assert_eq!(bench.run(run).progress.status, TaskStatus::Completed);
}

proptest! {
    #[test]
    fn any_text_is_inspected_without_a_panic(extension in prop::sample::select(vec!["py", "js", "rs", "go", "cpp", "kt", "php", "rb", "sh", "vue", "yml"]), parts in prop::collection::vec(prop::sample::select(vec![
        "eval", "(", ")", "'", "\"", "`", "${", "}", "{", "#", "//", "/*", "*/", "\n", " ", "é", "\\", "=", "+", "f'", "r#\"", "<<E", "<?php", "?>", "<script>", "SELECT * FROM ", "WHERE x = ",
        "shell=True", "unsafe", "innerHTML", "exec", "system", "curl x | sh", "on: pull_request_target", "  - ", "run: |", "%s", "$x", ",", ".", "Command::new", "-c", "send", "strcpy",
    ]), 0..80)) {
        let text = parts.concat();
        let path = format!("src/a.{extension}");
        let report = security::inspect(&path, &text);
        let lines = text.lines().count().max(1) as u32;
        for finding in report.findings {
            prop_assert!(finding.line.is_some_and(|line| line >= 1 && line <= lines), "{:?} in {:?}", finding, text);
        }
    }
}

#[test]
fn a_random_run_that_another_role_quotes_is_masked() {
    let key = ["Zx8Kq2Lm9Vb4", "Tn7Rc5Wd1Yh6", "Jp3Gs0Fa"].concat();
    let other = bench().run(|_| Outcome::completed(format!("found {key} here")));
    let result = bench().prior_result("librarian", &other).run(run);
    assert!(result.summary.contains("- librarian (completed): found "), "{}", result.summary);
    assert!(!result.summary.contains(&key), "{}", result.summary);
}

#[test]
fn only_words_that_mean_an_assessment_call_for_the_role() {
    let manifest = include_str!("../role.toml");
    let words = manifest.split_once("words = [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    for word in ["security", "secrets", "credentials", "vulnerability", "leaked", "hardcoded"] {
        assert!(words.contains(&format!("\"{word}\"")), "{word}");
    }
    for word in ["token", "password", "auth", "permission", "permissions", "leak"] {
        assert!(!words.contains(&format!("\"{word}\"")), "{word}");
    }
}
