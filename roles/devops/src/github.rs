//! Workflows of GitHub: what makes a run hang, fail or give too much away.

use brain_role::Severity::{High, Low, Medium};
use file_findings::{Evidence, Issue};
use settings_scan::yaml::Node;
use settings_scan::{at, is_secret_name, lines_between, triggers};

use crate::said::{self, names, secret};

/// Events that a stranger can cause on a public repository.
const PUBLIC: &[&str] =
    &["pull_request", "pull_request_target", "issue_comment", "issues", "discussion", "discussion_comment", "fork"];

/// Actions that the service refuses to run: the last major version that it does.
const DEAD: &[(&str, u32)] = &[("actions/upload-artifact", 3), ("actions/download-artifact", 3), ("actions/cache", 2)];

/// Actions that are written for a version of Node.js that runners no longer have: the last major version that is.
const OLD: &[(&str, u32)] = &[
    ("actions/checkout", 3),
    ("actions/setup-node", 3),
    ("actions/setup-python", 4),
    ("actions/setup-java", 3),
    ("actions/setup-go", 4),
    ("actions/setup-dotnet", 3),
    ("actions/github-script", 6),
    ("actions/cache", 3),
];

/// Images of runners that are gone: a job for one waits until it is cancelled.
const GONE: &[&str] = &[
    "ubuntu-16.04",
    "ubuntu-18.04",
    "ubuntu-20.04",
    "macos-10.15",
    "macos-11",
    "macos-12",
    "windows-2016",
    "windows-2019",
];

pub(crate) fn find(root: &Node, text: &str, issues: &mut Vec<Issue>) {
    let Some(jobs) = root.get("jobs") else { return };
    permissions(root, jobs, issues);
    timeouts(jobs, issues);
    environment(root, issues);
    secrets_for_all(root, jobs, issues);
    let public: Vec<&str> = PUBLIC.iter().copied().filter(|event| triggers(root, event)).collect();
    let privileged = ["pull_request_target", "workflow_run", "issue_comment"].iter().any(|event| triggers(root, event));
    for (name, job) in jobs.entries() {
        runner(job, &public, issues);
        deploys(root, name, job, issues);
        environment(job, issues);
        tolerates(job, "job", issues);
        if privileged {
            caches(job, issues);
        }
        for step in job.get("steps").map(Node::items).unwrap_or_default() {
            environment(step, issues);
            step_of(step, text, issues);
        }
    }
}

/// The rules for `action.yml`.
pub(crate) fn action(root: &Node, text: &str, issues: &mut Vec<Issue>) {
    for step in root.at(&["runs", "steps"]).map(Node::items).unwrap_or_default() {
        environment(step, issues);
        step_of(step, text, issues);
    }
    if let Some(using) = root.at(&["runs", "using"])
        && let Some(version @ ("node12" | "node16")) = using.text()
    {
        let what = format!(
            "the action is written for {version}, which runners no longer have: they force it onto a newer one"
        );
        issues.push(at(using, "ci/old-action", Low, what, "Write `using: node20` or newer, and test it there."));
    }
}

fn step_of(step: &Node, text: &str, issues: &mut Vec<Issue>) {
    if let Some(uses) = step.get("uses") {
        outdated(uses, issues);
    }
    if let Some(run) = step.get("run") {
        commands(run, text, issues);
    }
    tolerates(step, "step", issues);
}

fn permissions(root: &Node, jobs: &Node, issues: &mut Vec<Issue>) {
    if root.get("permissions").is_some() {
        return;
    }
    let without: Vec<&Node> =
        jobs.entries().filter(|(_, job)| job.get("permissions").is_none()).map(|(name, _)| name).collect();
    let Some(first) = without.first() else { return };
    let text = format!(
        "no permissions are set ({}), so the token has what the repository's settings give it, which may be to write everything",
        names("job", &without)
    );
    let fix =
        "Write `permissions: { contents: read }` at the top of the workflow, and give a job more where it needs more.";
    issues.push(at(first, "ci/no-permissions", Low, text, fix));
}

fn timeouts(jobs: &Node, issues: &mut Vec<Issue>) {
    let without: Vec<&Node> = jobs
        .entries()
        // A job that calls a workflow cannot have one.
        .filter(|(_, job)| {
            job.get("timeout-minutes").is_none() && job.get("uses").is_none() && job.get("steps").is_some()
        })
        .map(|(name, _)| name)
        .collect();
    let Some(first) = without.first() else { return };
    let text =
        format!("a run that hangs holds its runner for six hours: no timeout-minutes ({})", names("job", &without));
    issues.push(at(
        first,
        "ci/no-timeout",
        Low,
        text,
        "Set `timeout-minutes` on each job to about three times what it usually takes.",
    ));
}

/// Literals in `env`.
fn environment(holder: &Node, issues: &mut Vec<Issue>) {
    for (name, value) in holder.get("env").into_iter().flat_map(Node::entries) {
        plain_secret(name, value, "ci/plain-secret", issues);
    }
}

/// A secret that is written where a reference should be.
pub(crate) fn plain_secret(name: &Node, value: &Node, rule: &'static str, issues: &mut Vec<Issue>) {
    let (Some(key), Some(text)) = (name.text(), value.text()) else { return };
    if is_secret_name(key) && said::is_literal(text) {
        let severity = if said::is_placeholder(text) { Low } else { Medium };
        let what = format!("{} holds a secret in plain text, for whoever reads the repository", said::name(key));
        let fix = match rule {
            "compose/plain-secret" => {
                "Give it as a file with `secrets:`, or take it from the environment: ${NAME:?}. Revoke the one that is written here."
            }
            _ => {
                "Keep it in the CI system's secrets and refer to it. Revoke the one that is written here, since history keeps it."
            }
        };
        issues.push(secret(value, rule, severity, what, key, text, fix));
    }
}

/// A secret in the environment of every step, where a foreign action is one of them.
fn secrets_for_all(root: &Node, jobs: &Node, issues: &mut Vec<Issue>) {
    let foreign =
        jobs.entries().flat_map(|(_, job)| job.get("steps").map(Node::items).unwrap_or_default()).any(|step| {
            let uses = step.get("uses").and_then(Node::text).unwrap_or_default();
            !uses.is_empty() && !uses.starts_with("actions/") && !uses.starts_with("github/") && !uses.starts_with("./")
        });
    for (_, value) in root.get("env").into_iter().flat_map(Node::entries) {
        let text = value.text().unwrap_or_default();
        if foreign && text.contains("secrets.") && text.contains("${{") {
            let what = "a secret is in the environment of every step of every job, those of foreign actions too";
            issues.push(at(
                value,
                "ci/secret-for-all-steps",
                Low,
                what,
                "Put it under `env` of the one step that needs it.",
            ));
        }
    }
}

fn labels(job: &Node) -> Vec<&Node> {
    let Some(runs_on) = job.get("runs-on") else { return Vec::new() };
    let labels = runs_on.get("labels").unwrap_or(runs_on);
    if labels.text().is_some() { vec![labels] } else { labels.items().iter().collect() }
}

fn runner(job: &Node, public: &[&str], issues: &mut Vec<Issue>) {
    for label in labels(job) {
        let name = label.text().unwrap_or_default();
        if name == "self-hosted"
            && let Some(event) = public.first()
        {
            let what =
                format!("a machine of your own runs what a stranger sends ({event}), if the repository is public");
            let fix = "Run such events on hosted runners; keep your own for pushes, or make them ephemeral and require approval for outside contributors.";
            issues.push(at(label, "ci/self-hosted-public", Medium, what, fix));
        }
        if GONE.contains(&name) {
            let what = format!("the runner image {name} was removed: the job waits until it is cancelled");
            issues.push(at(
                label,
                "ci/dead-runner",
                High,
                what,
                "Name one that is there: ubuntu-24.04, macos-14, windows-2022.",
            ));
        }
    }
    // A matrix of images.
    for image in job.at(&["strategy", "matrix", "os"]).map(Node::items).unwrap_or_default() {
        let name = image.text().unwrap_or_default();
        if GONE.contains(&name) {
            let what = format!("the runner image {name} was removed: its job waits until it is cancelled");
            issues.push(at(
                image,
                "ci/dead-runner",
                High,
                what,
                "Take it out of the matrix, or name one that is there.",
            ));
        }
    }
}

fn deploys(root: &Node, name: &Node, job: &Node, issues: &mut Vec<Issue>) {
    if root.get("concurrency").is_some() || job.get("concurrency").is_some() {
        return;
    }
    let key = name.text().unwrap_or_default().to_ascii_lowercase();
    let called =
        key.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| matches!(word, "deploy" | "deployment" | "rollout"));
    if job.get("environment").is_some() || called {
        let what =
            format!("job {} deploys, and two runs may do so at once: the older may finish last", said::name(&key));
        let fix = "Write `concurrency: { group: deploy-${{ github.ref }}, cancel-in-progress: false }`.";
        issues.push(at(name, "ci/deploy-without-concurrency", Medium, what, fix));
    }
}

fn tolerates(node: &Node, what: &str, issues: &mut Vec<Issue>) {
    if let Some(value) = node.get("continue-on-error").filter(|value| value.is_true()) {
        let text = format!("the {what} may fail and the run is green all the same");
        let fix =
            "Remove it; for a part of a matrix that may fail, write `continue-on-error: ${{ matrix.experimental }}`.";
        issues.push(at(value, "ci/continue-on-error", Low, text, fix));
    }
}

/// A cache that is written beside code of a stranger, and read by the default branch.
fn caches(job: &Node, issues: &mut Vec<Issue>) {
    let steps = job.get("steps").map(Node::items).unwrap_or_default();
    let foreign = steps.iter().any(|step| {
        step.get("uses").and_then(Node::text).is_some_and(|uses| uses.starts_with("actions/checkout"))
            && ["ref", "repository"].iter().filter_map(|key| step.at(&["with", key])?.text()).any(|value| {
                ["pull_request", "head_ref", "refs/pull/", "workflow_run.head", "event.number"]
                    .iter()
                    .any(|part| value.contains(part))
            })
    });
    if !foreign {
        return;
    }
    for step in steps {
        let Some(uses) = step.get("uses") else { continue };
        let name = uses.text().unwrap_or_default();
        let caches = name.starts_with("actions/cache@")
            || name.starts_with("actions/cache/save@")
            || name.starts_with("actions/setup-")
                && step.at(&["with", "cache"]).is_some_and(|cache| cache.text() != Some("false"));
        if caches {
            let what =
                "a run on the code of a pull request writes the cache of the default branch, which later runs trust";
            let fix = "Do not cache where foreign code runs; use `pull_request`, whose cache is its own.";
            issues.push(at(uses, "ci/cache-poisoning", High, what, fix));
        }
    }
}

/// The major version that a reference `v3`, `v3.1` or `3` names.
fn major(reference: &str) -> Option<u32> {
    let digits = reference.strip_prefix('v').unwrap_or(reference);
    digits.split('.').next()?.parse().ok().filter(|_| reference.len() < 20)
}

fn outdated(uses: &Node, issues: &mut Vec<Issue>) {
    let Some((name, reference)) = uses.text().and_then(|uses| uses.split_once('@')) else { return };
    let Some(version) = major(reference) else { return };
    // `actions/cache/restore` is part of `actions/cache`.
    let is = |known: &str| name == known || name.strip_prefix(known).is_some_and(|rest| rest.starts_with('/'));
    let shown = said::name(&format!("{name}@{reference}"));
    if DEAD.iter().any(|(known, last)| is(known) && version <= *last) {
        let what = format!("{shown} no longer runs: the service behind it was shut down, and the step fails");
        issues.push(at(
            uses,
            "ci/dead-action",
            High,
            what,
            "Go to the version that is maintained: v4 or newer, by its commit hash.",
        ));
    } else if OLD.iter().any(|(known, last)| is(known) && version <= *last) {
        let what =
            format!("{shown} is written for a Node.js that runners no longer have; they force it onto a newer one");
        issues.push(at(uses, "ci/old-action", Low, what, "Go to its newest major version, by its commit hash."));
    }
}

/// `::set-output` and its like.
fn commands(run: &Node, text: &str, issues: &mut Vec<Issue>) {
    const OLD: &[(&str, bool, &str)] = &[
        ("::set-output name=", false, "GITHUB_OUTPUT"),
        ("::save-state name=", false, "GITHUB_STATE"),
        ("::set-env name=", true, "GITHUB_ENV"),
        ("::add-path::", true, "GITHUB_PATH"),
    ];
    for (line, content) in lines_between(text, run.line..run.end.saturating_add(1)) {
        if content.trim_start().starts_with('#') {
            continue;
        }
        let Some((command, gone, file)) = OLD.iter().find(|(command, ..)| content.contains(command)) else { continue };
        let command = command.trim_end_matches(" name=").trim_end_matches("::");
        let (severity, what) = if *gone {
            (Medium, format!("{command} was switched off: the line fails, and nothing is set"))
        } else {
            (Low, format!("{command} is deprecated, since any output of a program can forge it"))
        };
        let fix = format!("Write to the file: echo \"name=value\" >> \"${file}\".");
        issues.push(Issue {
            rule: "ci/deprecated-command",
            severity,
            line,
            text: what,
            evidence: Evidence::Line,
            fix: fix.into(),
        });
    }
}
