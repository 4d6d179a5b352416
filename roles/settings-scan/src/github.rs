//! Workflows and actions of GitHub.

use brain_role::Severity::{self, High, Low, Medium};

use crate::yaml::Node;
use crate::{at, lines_between, script};
use file_findings::{Evidence, Issue};

/// The rules for a file below `.github/workflows`.
pub(crate) fn workflow(root: &Node, text: &str, issues: &mut Vec<Issue>) {
    permissions(root, issues);
    let privileged = triggers(root, "pull_request_target") || triggers(root, "workflow_run");
    let jobs = root.get("jobs");
    for (_, job) in jobs.into_iter().flat_map(Node::entries) {
        permissions(job, issues);
        if let Some(uses) = job.get("uses") {
            pinned(uses, issues);
        }
        steps(job, privileged, text, issues);
    }
    for env in [Some(root), jobs].into_iter().flatten() {
        unsecure_commands(env, issues);
    }
}

/// The rules for `action.yml`.
pub(crate) fn action(root: &Node, text: &str, issues: &mut Vec<Issue>) {
    if let Some(runs) = root.get("runs") {
        steps(runs, false, text, issues);
    }
}

/// Whether the workflow starts on this event. YAML reads a bare `on` as a word, so the key is as it is written.
pub fn triggers(root: &Node, event: &str) -> bool {
    let Some(on) = root.get("on").or_else(|| root.get("true")) else { return false };
    on.text() == Some(event) || on.get(event).is_some() || on.items().iter().any(|item| item.text() == Some(event))
}

fn permissions(holder: &Node, issues: &mut Vec<Issue>) {
    let Some(permissions) = holder.get("permissions").filter(|p| p.text() == Some("write-all")) else { return };
    let text = "the token of the workflow may write everything";
    issues.push(at(
        permissions,
        "ci/write-all",
        Medium,
        text,
        "Name each permission that the job needs; start from `permissions: {}`.",
    ));
}

fn steps(holder: &Node, privileged: bool, text: &str, issues: &mut Vec<Issue>) {
    for step in holder.get("steps").map(Node::items).unwrap_or_default() {
        if let Some(uses) = step.get("uses") {
            pinned(uses, issues);
            if privileged {
                checkout(step, uses, issues);
            }
        }
        if let Some(run) = step.get("run") {
            script(run, text, issues);
            expressions(run, text, issues);
            secrets(run, text, issues);
        }
        // The script of actions/github-script is code too.
        if let Some(code) = step.at(&["with", "script"]) {
            expressions(code, text, issues);
        }
    }
}

/// Code of a stranger's pull request, checked out where the token may write and secrets are set.
fn checkout(step: &Node, uses: &Node, issues: &mut Vec<Issue>) {
    if !uses.text().unwrap_or_default().starts_with("actions/checkout") {
        return;
    }
    for key in ["ref", "repository"] {
        let Some(node) = step.at(&["with", key]) else { continue };
        let value = node.text().unwrap_or_default();
        let foreign =
            ["pull_request.head", "head_ref", "refs/pull/", "workflow_run.head", "pull_request.number", "event.number"]
                .iter()
                .any(|part| value.contains(part));
        if foreign {
            let text = "a workflow with secrets and a writing token checks out the code of a pull request";
            let fix = "Run the code of a pull request on `pull_request`, without secrets; keep `pull_request_target` for labels and comments.";
            issues.push(at(node, "ci/pull-request-target", High, text, fix));
            return;
        }
    }
}

/// An action by a name that its owner can move.
fn pinned(uses: &Node, issues: &mut Vec<Issue>) {
    let Some(name) = uses.text() else { return };
    if name.starts_with("./") || name.starts_with("../") || name.contains("@sha256:") {
        return;
    }
    let reference = name.rsplit_once('@').map(|(_, reference)| reference);
    let fixed = reference.is_some_and(|r| r.len() == 40 && r.bytes().all(|b| b.is_ascii_hexdigit()));
    if fixed || reference.is_none() && !name.starts_with("docker://") {
        return;
    }
    // A branch moves with every commit, a tag seldom.
    let branch =
        reference.is_some_and(|r| matches!(r, "main" | "master" | "develop" | "dev" | "trunk" | "HEAD" | "latest"));
    let severity = if branch { Medium } else { Low };
    let text = "an action is fetched by a tag or branch, which its owner can move";
    issues.push(at(uses, "ci/unpinned-action", severity, text, "Give the full commit hash, and the tag in a comment."));
}

/// `${{ github.event.issue.title }}` in a script: the text becomes part of the program.
fn expressions(node: &Node, text: &str, issues: &mut Vec<Issue>) {
    for (line, content) in lines_between(text, node.line..node.end + 1) {
        let worst = content.split("${{").skip(1).filter_map(|rest| rest.split("}}").next()).filter_map(injected).max();
        let Some(severity) = worst else { continue };
        issues.push(Issue {
            rule: "ci/script-injection",
            severity,
            line,
            text: "an expression puts text from outside into a script".to_owned(),
            evidence: Evidence::Line,
            fix: "Give it to the step as an environment variable, and use that: env: TITLE: ${{ … }}, then \"$TITLE\"."
                .into(),
        });
    }
}

/// How free whoever triggers the event is in what the expression holds.
fn injected(expression: &str) -> Option<Severity> {
    const FREE: &[&str] = &[
        "title",
        "body",
        "message",
        "name",
        "email",
        "ref",
        "label",
        "page_name",
        "default_branch",
        "description",
        "homepage",
    ];
    let expression = expression.trim();
    if expression.contains("github.head_ref") {
        return Some(High);
    }
    if expression.starts_with("inputs.") || expression.contains("github.event.inputs.") {
        return Some(Low);
    }
    let at = expression.find("github.event.")?;
    let path = expression
        .get(at..)?
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '*' | '[' | ']'))
        .next()?;
    let last = path.rsplit('.').next()?;
    // A comparison gives true or false.
    if expression.contains("==")
        || expression.contains("contains(")
        || expression.contains("toJSON(") && !expression.contains("github.event)")
    {
        return None;
    }
    FREE.contains(&last).then_some(High)
}

/// A secret that the script prints.
fn secrets(run: &Node, text: &str, issues: &mut Vec<Issue>) {
    for (line, content) in lines_between(text, run.line..run.end + 1) {
        let holds = content.contains("${{ secrets.")
            || content.contains("${{secrets.")
            || content.contains("toJSON(secrets)")
            || content.contains("toJson(secrets)");
        let words = content.trim_start_matches(['-', ' ']).trim_start_matches("run:").trim_start();
        let prints = words.starts_with("echo ")
            || words.starts_with("printf ")
            || words.starts_with("print(")
            || words.contains("; echo ")
            || words.contains("&& echo ");
        // Given on to a program or a file, it is not printed.
        let given_on = content.contains(" | ") || content.contains('>') || content.contains("::add-mask::");
        if holds && prints && !given_on {
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

fn unsecure_commands(root: &Node, issues: &mut Vec<Issue>) {
    root.each(&mut |node| {
        if let Some(value) = node.get("ACTIONS_ALLOW_UNSECURE_COMMANDS").filter(|value| value.is_true()) {
            let text = "the workflow turns on commands by which any output can set its environment";
            let issue = at(value, "ci/unsecure-commands", Medium, text, "Write to $GITHUB_ENV and $GITHUB_PATH.");
            if !issues.contains(&issue) {
                issues.push(issue);
            }
        }
    });
}
