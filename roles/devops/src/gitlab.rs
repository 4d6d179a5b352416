//! Pipelines of GitLab.

use brain_role::Severity::{High, Low, Medium};
use file_findings::{Evidence, Issue};
use settings_scan::yaml::Node;
use settings_scan::{at, is_floating, lines_between};

use crate::github::plain_secret;
use crate::said;

/// Variables of GitLab's own that are secrets.
const SECRETS: &[&str] =
    &["CI_JOB_TOKEN", "CI_REGISTRY_PASSWORD", "CI_DEPLOY_PASSWORD", "CI_DEPENDENCY_PROXY_PASSWORD", "CI_JOB_JWT"];

pub(crate) fn find(root: &Node, text: &str, issues: &mut Vec<Issue>) {
    job(root, text, issues);
    includes(root, issues);
    for (name, entry) in root.entries() {
        job(entry, text, issues);
        deploys(name, entry, issues);
    }
}

fn job(node: &Node, text: &str, issues: &mut Vec<Issue>) {
    for (name, value) in node.get("variables").into_iter().flat_map(Node::entries) {
        plain_secret(name, value.get("value").unwrap_or(value), "ci/plain-secret", issues);
    }
    if let Some(image) = node.get("image").map(|image| image.get("name").unwrap_or(image))
        && is_floating(image.text().unwrap_or_default())
    {
        let what = "the job runs in an image without a fixed version: it breaks or changes without a commit";
        issues.push(at(image, "ci/image-latest", Low, what, "Give a version, better a digest: image:1.2@sha256:…"));
    }
    if let Some(value) = node.get("allow_failure").filter(|value| value.is_true() && node.get("when").is_none()) {
        let what = "the job may fail and the pipeline is green all the same";
        issues.push(at(
            value,
            "ci/continue-on-error",
            Low,
            what,
            "Remove it, or name the exit codes that are no failure: allow_failure: { exit_codes: [3] }.",
        ));
    }
    for key in ["before_script", "script", "after_script"] {
        let Some(commands) = node.get(key) else { continue };
        for command in commands.text().map(|_| commands).into_iter().chain(commands.items()) {
            printed(command, text, issues);
        }
    }
}

/// A secret of GitLab that a script prints.
fn printed(command: &Node, text: &str, issues: &mut Vec<Issue>) {
    for (line, content) in lines_between(text, command.line..command.end.saturating_add(1)) {
        let words = content.trim_start_matches([' ', '-', '"', '\'']);
        let prints = words.starts_with("echo ") || words.starts_with("printf ");
        let given_on = content.contains('|') || content.contains('>');
        if prints
            && !given_on
            && SECRETS
                .iter()
                .any(|name| content.contains(&format!("${name}")) || content.contains(&format!("${{{name}}}")))
        {
            issues.push(Issue {
                rule: "ci/secret-echoed",
                severity: High,
                line,
                text: "a script prints a secret into the log".to_owned(),
                evidence: Evidence::Line,
                fix: "Do not print it; masking fails as soon as the value is encoded or cut.".into(),
            });
        }
    }
}

fn includes(root: &Node, issues: &mut Vec<Issue>) {
    let Some(include) = root.get("include") else { return };
    for one in include.items().iter().chain((include.items().is_empty()).then_some(include)) {
        let remote =
            one.get("remote").or(Some(one)).filter(|node| node.text().is_some_and(|text| text.starts_with("http")));
        let floating = one.get("project").filter(|_| {
            one.get("ref").is_none_or(|reference| matches!(reference.text(), Some("main" | "master" | "HEAD")))
        });
        if let Some(node) = remote.filter(|_| one.get("integrity").is_none()).or(floating) {
            let what = "the pipeline takes in another file that its owner can change at any time";
            let fix = "Give `ref:` a tag or a commit hash, or a remote file its `integrity:`.";
            issues.push(at(node, "ci/unpinned-include", Medium, what, fix));
        }
    }
}

fn deploys(name: &Node, job: &Node, issues: &mut Vec<Issue>) {
    let Some(environment) = job.get("environment") else { return };
    // Each review app is an environment of its own.
    let called = environment.get("name").unwrap_or(environment).text().unwrap_or_default();
    let stops = environment.get("action").and_then(Node::text).is_some_and(|action| action != "start");
    if job.get("resource_group").is_none() && !called.contains('$') && !stops {
        let what = format!(
            "job {} deploys, and two pipelines may do so at once: the older may finish last",
            said::name(name.text().unwrap_or("?"))
        );
        issues.push(at(
            name,
            "ci/deploy-without-concurrency",
            Medium,
            what,
            "Give it a `resource_group:` that is named after the environment.",
        ));
    }
}
