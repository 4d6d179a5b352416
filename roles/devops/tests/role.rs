//! The role as Brain calls it: what it looks at, how it reports, and what it says that it did not see.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use brain_role::testing::Bench;
use brain_role::{Outcome, TaskStatus, WorkerResult};
use devops::limits::{MAX_FINDINGS, MAX_YAML_BYTES};
use devops::run;
use proptest::prelude::*;

fn places(result: &WorkerResult) -> Vec<String> {
    let place = |f: &brain_role::Finding| {
        format!("{:?} {}:{} {}", f.severity, f.file.as_deref().unwrap(), f.line.unwrap(), f.rule.as_deref().unwrap())
    };
    result.findings.iter().map(place).collect()
}

fn says(result: &WorkerResult, words: &str) -> bool {
    result.risks.iter().any(|risk| risk.contains(words))
}

#[test]
fn the_worst_comes_first_and_what_was_looked_at_is_said() {
    let result = Bench::new()
        .file("Dockerfile", "FROM debian:12\nUSER app\nRUN apt-get update\n")
        .file("compose.yml", "services:\n  a:\n    image: a:1\n    volumes: [\"/:/h\"]\n")
        .file("deploy/k8s.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  hostNetwork: true\n")
        .file("src/a.rs", "fn a() {}\n")
        .run(run);
    assert_eq!(
        places(&result),
        [
            "High compose.yml:4 compose/host-path",
            "Medium Dockerfile:3 docker/apt-update-alone",
            "Medium deploy/k8s.yaml:4 ci/k8s-host-namespace"
        ]
    );
    assert!(
        result.summary.ends_with("Looked at: 1 Compose file, 1 Dockerfile, 1 Kubernetes file."),
        "{}",
        result.summary
    );
    assert!(says(&result, "settings outside of the files are not seen"), "{:?}", result.risks);
}

#[test]
fn a_project_without_settings_is_not_called_safe() {
    let result = Bench::new().file("src/a.rs", "fn a() {}\n").file("notes.yml", "a: 1\n").run(run);
    assert_eq!(result.progress.status, TaskStatus::Completed);
    assert!(says(&result, "no workflow, Dockerfile, Compose file or script was found"), "{:?}", result.risks);
}

#[test]
fn what_cannot_be_read_is_said() {
    let result = Bench::new()
        .file(".github/workflows/a.yml", "jobs: {{ x }}: y\n- z")
        .file(".github/workflows/b.yml", "# a\n".repeat(MAX_YAML_BYTES / 4 + 1))
        .file("c/compose.yml", b"\0\0".as_slice())
        .run(run);
    for words in ["not plain YAML", "too large or too deep", "binary"] {
        assert!(says(&result, words), "{words}: {:?}", result.risks);
    }
}

#[test]
fn a_rule_that_security_has_too_has_its_name_and_line_here() {
    let text =
        "on: push\npermissions: write-all\njobs:\n  a:\n    timeout-minutes: 5\n    steps:\n      - uses: acme/a@v1\n";
    let result = Bench::new().file(".github/workflows/a.yml", text).run(run);
    assert_eq!(
        places(&result),
        ["Medium .github/workflows/a.yml:2 ci/write-all", "Low .github/workflows/a.yml:7 ci/unpinned-action"]
    );
}

#[test]
fn without_the_whole_folder_nothing_is_said_of_a_missing_dockerignore() {
    let text = "FROM debian:12\nUSER app\nCOPY . /srv\n";
    assert_eq!(places(&Bench::new().file("Dockerfile", text).run(run)), ["Medium Dockerfile:3 docker/no-dockerignore"]);
    assert_eq!(Bench::new().file("Dockerfile", text).ref_file("Dockerfile").run(run).findings, []);
    for ignore in [".dockerignore", "Dockerfile.dockerignore"] {
        assert_eq!(Bench::new().file("Dockerfile", text).file(ignore, ".git\n").run(run).findings, [], "{ignore}");
    }
}

#[test]
fn an_allow_comment_silences_its_rule_and_is_counted() {
    let text = "FROM debian:12\nUSER app\n# brain:allow docker/sudo -- the installer wants it\nRUN sudo make\n";
    let result = Bench::new().file("Dockerfile", text).run(run);
    assert_eq!(result.findings, []);
    assert!(says(&result, "1 findings are allowed"), "{:?}", result.risks);
}

#[test]
fn findings_past_the_limit_are_counted() {
    let mut bench = Bench::new();
    for n in 0..MAX_FINDINGS + 5 {
        bench = bench.file(format!("d{n}/Dockerfile"), "FROM debian:12\nUSER app\nRUN apt-get update\n");
    }
    let result = bench.run(run);
    assert_eq!(result.findings.len(), MAX_FINDINGS);
    assert!(says(&result, "5 findings are not listed"), "{:?}", result.risks);
}

#[test]
fn the_path_in_a_finding_is_the_one_in_the_tree() {
    for name in ["a\u{1b}]0;x/Dockerfile", "line\nbreak/Dockerfile", "größe漢/Dockerfile"] {
        let result = Bench::new().file(name, "FROM debian:12\nUSER app\nRUN sudo a\n").run(run);
        assert_eq!(result.findings[0].file.as_deref(), Some(name));
    }
}

#[test]
fn the_primary_role_composes_what_the_others_found() {
    let bench = Bench::new();
    let other = bench.run(|_| Outcome::completed("Four files matter."));
    let result = Bench::new().prior_result("librarian", &other).run(run);
    assert!(result.summary.contains("- librarian (completed): Four files matter."), "{}", result.summary);
}

#[test]
fn only_words_of_the_field_call_for_the_role() {
    let manifest = include_str!("../role.toml");
    let words = manifest.split_once("words = [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    for word in ["ci", "workflow", "docker", "deploy", "部署"] {
        assert!(words.contains(&format!("\"{word}\"")), "{word}");
    }
    for word in ["build", "image", "run", "container", "make", "script", "job"] {
        assert!(!words.contains(&format!("\"{word}\"")), "{word}");
    }
}

/// Pieces of which hostile files are made.
const PIECES: &[&str] = &[
    "on:",
    " push",
    "\n",
    "  ",
    "- ",
    "jobs:\n",
    "  a:\n",
    "    steps:\n",
    "      - uses: ",
    "actions/cache@v1",
    "@",
    "run: |\n",
    "::set-env name=",
    "runs-on: ",
    "[",
    "]",
    "{",
    "}",
    "self-hosted",
    "env:\n",
    "  TOKEN: x\n",
    "environment: ",
    "FROM ",
    "RUN ",
    "apt-get install ",
    "pip install ",
    "npm i ",
    "COPY ",
    ". ",
    "\\\n",
    "EXPOSE 1\n",
    "ENTRYPOINT x",
    "rm -rf ",
    "$",
    "${",
    "(",
    ")",
    "/*",
    "'",
    "\"",
    "é",
    "services:\n",
    "ports:\n",
    "5432:5432",
    "volumes:\n",
    "/:/x",
    "*x",
    "&x ",
    "#",
    "=",
    "|",
    "&&",
    "include:\n",
    "remote: http://x\n",
    "\t",
    "\u{feff}",
    ": ",
    "cap_add: [ALL]\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn any_text_is_judged_without_a_panic(
        path in prop::sample::select(vec![".github/workflows/a.yml", "action.yml", ".gitlab-ci.yml", "compose.yml", "Dockerfile", "Makefile", "a.sh"]),
        parts in prop::collection::vec(prop::sample::select(PIECES), 0..80),
    ) {
        let text = parts.concat();
        let lines = u32::try_from(text.lines().count().max(1)).unwrap();
        let result = Bench::new().file(path, &text).run(run);
        prop_assert_eq!(result.progress.status, TaskStatus::Completed);
        for finding in result.findings {
            prop_assert!(finding.line.is_some_and(|line| line >= 1 && line <= lines), "{:?} in {:?}", finding, text);
        }
    }
}
