//! Settings of CI systems, containers and clusters.

mod compose;
mod dockerfile;
mod github;
mod gitlab;
mod kubernetes;
mod yaml;

use std::ops::Range;

use brain_role::Severity;

use crate::calls::shell;
use crate::issue::{Evidence, Issue};
pub(crate) use yaml::Fault;
use yaml::Node;

/// What kind of settings a path says that a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    GithubWorkflow,
    GithubAction,
    Gitlab,
    Compose,
    /// Any other YAML: for Kubernetes when it says so itself.
    Yaml,
    Dockerfile,
}

fn kind(path: &str) -> Option<Kind> {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
    if name == "dockerfile"
        || name == "containerfile"
        || name.starts_with("dockerfile.")
        || name.ends_with(".dockerfile")
    {
        return Some(Kind::Dockerfile);
    }
    if !is_yaml {
        return None;
    }
    Some(if path.starts_with(".github/workflows/") || path.contains("/.github/workflows/") {
        Kind::GithubWorkflow
    } else if name == "action.yml" || name == "action.yaml" {
        Kind::GithubAction
    } else if name.ends_with(".gitlab-ci.yml") || name.ends_with(".gitlab-ci.yaml") || path.contains(".gitlab/ci/") {
        Kind::Gitlab
    } else if name.starts_with("docker-compose") || name.starts_with("compose.") || name.starts_with("compose-") {
        Kind::Compose
    } else {
        Kind::Yaml
    })
}

/// The unsafe settings of a file.
///
/// # Errors
/// When it is a file of settings by its name or its words, and cannot be read as YAML.
pub(crate) fn find(path: &str, text: &str) -> Result<Vec<Issue>, Fault> {
    let Some(kind) = kind(path) else { return Ok(Vec::new()) };
    if kind == Kind::Dockerfile {
        return Ok(dockerfile::find(text));
    }
    if kind == Kind::Yaml && !(text.contains("apiVersion:") && text.contains("kind:")) {
        return Ok(Vec::new());
    }
    let documents = yaml::read(text)?;
    let mut issues = Vec::new();
    for root in &documents {
        match kind {
            Kind::GithubWorkflow => github::workflow(root, text, &mut issues),
            Kind::GithubAction => github::action(root, text, &mut issues),
            Kind::Gitlab => gitlab::find(root, text, &mut issues),
            Kind::Compose => compose::find(root, &mut issues),
            Kind::Yaml | Kind::Dockerfile => kubernetes::find(root, &mut issues),
        }
    }
    Ok(issues)
}

/// An issue on the line of a node.
fn at(node: &Node, rule: &'static str, severity: Severity, text: impl Into<String>, fix: &'static str) -> Issue {
    Issue { rule, severity, line: node.line, text: text.into(), evidence: Evidence::Line, fix }
}

/// The lines of a text between two line numbers, with their numbers.
fn lines_between(text: &str, lines: Range<u32>) -> impl Iterator<Item = (u32, &str)> {
    (1u32..).zip(text.lines()).skip(lines.start.saturating_sub(1) as usize).take(lines.len())
}

/// Adds what a script inside YAML does: downloads that are run, rights for everybody.
fn script(node: &Node, text: &str, issues: &mut Vec<Issue>) {
    for (line, text) in joined(lines_between(text, node.line..node.end + 1)) {
        command(line, &text, "ci", issues);
    }
}

/// Lines without comment lines, joined where a `\` ends one, each with the number of its first.
fn joined<'t>(lines: impl Iterator<Item = (u32, &'t str)>) -> Vec<(u32, String)> {
    let mut whole: Vec<(u32, String)> = Vec::new();
    let mut open = false;
    for (number, line) in lines.filter(|(_, line)| !shell::is_comment(line)) {
        let body = line.trim_end();
        let (body, more) = body.strip_suffix('\\').map_or((body, false), |body| (body, true));
        match whole.last_mut().filter(|_| open) {
            Some((_, joined)) => {
                joined.push(' ');
                joined.push_str(body.trim_start());
            }
            None => whole.push((number, body.to_owned())),
        }
        open = more;
    }
    whole
}

/// Adds what one command line does.
fn command(line: u32, command: &str, area: &str, issues: &mut Vec<Issue>) {
    if shell::pipes_to_a_shell(command) || piped_by_substitution(command) {
        let rule = if area == "docker" { "ci/docker-curl-pipe" } else { "ci/curl-pipe" };
        issues.push(Issue {
            rule,
            severity: Severity::Medium,
            line,
            text: shell::PIPE.to_owned(),
            evidence: Evidence::Line,
            fix: shell::PIPE_FIX,
        });
    }
    if command.match_indices("chmod ").any(|(at, _)| command.get(at..).is_some_and(shell::opens_to_all)) {
        issues.push(Issue {
            rule: "ci/chmod-777",
            severity: Severity::Low,
            line,
            text: shell::CHMOD.to_owned(),
            evidence: Evidence::Line,
            fix: shell::CHMOD_FIX,
        });
    }
}

/// `sh -c "$(curl …)"`.
fn piped_by_substitution(command: &str) -> bool {
    ["sh -c \"$(curl", "bash -c \"$(curl", "sh -c \"$(wget", "bash -c \"$(wget", "eval \"$(curl", "eval $(curl"]
        .iter()
        .any(|start| command.contains(start))
}
