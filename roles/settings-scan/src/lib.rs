//! Unsafe settings of CI systems, containers and clusters: the rules that more than one role reports.
//!
//! The crate looks at text that it is given. Two roles that look at the same file give the same rule at the same line, and a report
//! shows it once. It must not know what a role is for.

mod compose;
mod dockerfile;
mod github;
mod gitlab;
mod kubernetes;
pub mod limits;
pub mod shell;
pub mod yaml;

use std::ops::Range;

use brain_role::Severity;
pub use dockerfile::{is_floating, is_secret_name};
use file_findings::{Evidence, Issue};
pub use github::triggers;
pub use yaml::Fault;
use yaml::Node;

/// What kind of settings a path says that a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A workflow of GitHub Actions.
    GithubWorkflow,
    /// An action of GitHub.
    GithubAction,
    /// A pipeline of GitLab.
    Gitlab,
    /// Services of Compose.
    Compose,
    /// Any other YAML: for Kubernetes when it says so itself.
    Yaml,
    /// Instructions for an image.
    Dockerfile,
}

/// The kind of settings that a file with this path holds, where the path tells.
pub fn kind(path: &str) -> Option<Kind> {
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
pub fn find(path: &str, text: &str) -> Result<Vec<Issue>, Fault> {
    let Some(kind) = kind(path) else { return Ok(Vec::new()) };
    Ok(judge(kind, &documents(kind, text)?, text))
}

/// The documents of a file of this kind; none where it is no YAML by its kind, or is about no cluster by its words.
///
/// # Errors
/// When it cannot be read as YAML.
pub fn documents(kind: Kind, text: &str) -> Result<Vec<Node>, Fault> {
    let is_other = kind == Kind::Yaml && !(text.contains("apiVersion:") && text.contains("kind:"));
    if kind == Kind::Dockerfile || is_other { Ok(Vec::new()) } else { yaml::read(text) }
}

/// The unsafe settings of a file whose documents are read.
pub fn judge(kind: Kind, documents: &[Node], text: &str) -> Vec<Issue> {
    if kind == Kind::Dockerfile {
        return dockerfile::find(text);
    }
    let mut issues = Vec::new();
    for root in documents {
        match kind {
            Kind::GithubWorkflow => github::workflow(root, text, &mut issues),
            Kind::GithubAction => github::action(root, text, &mut issues),
            Kind::Gitlab => gitlab::find(root, text, &mut issues),
            Kind::Compose => compose::find(root, &mut issues),
            Kind::Yaml | Kind::Dockerfile => kubernetes::find(root, &mut issues),
        }
    }
    issues
}

/// An issue on the line of a node.
pub fn at(node: &Node, rule: &'static str, severity: Severity, text: impl Into<String>, fix: &'static str) -> Issue {
    Issue { rule, severity, line: node.line, text: text.into(), evidence: Evidence::Line, fix: fix.into() }
}

/// The lines of a text between two line numbers, with their numbers.
pub fn lines_between(text: &str, lines: Range<u32>) -> impl Iterator<Item = (u32, &str)> {
    (1u32..).zip(text.lines()).skip(lines.start.saturating_sub(1) as usize).take(lines.len())
}

/// Adds what a script inside YAML does: downloads that are run, rights for everybody.
fn script(node: &Node, text: &str, issues: &mut Vec<Issue>) {
    for (line, text) in joined(lines_between(text, node.line..node.end + 1)) {
        command(line, &text, "ci", issues);
    }
}

/// Lines without comment lines, joined where a `\` ends one, each with the number of its first.
pub fn joined<'t>(lines: impl Iterator<Item = (u32, &'t str)>) -> Vec<(u32, String)> {
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
            fix: shell::PIPE_FIX.into(),
        });
    }
    if command.match_indices("chmod ").any(|(at, _)| command.get(at..).is_some_and(shell::opens_to_all)) {
        issues.push(Issue {
            rule: "ci/chmod-777",
            severity: Severity::Low,
            line,
            text: shell::CHMOD.to_owned(),
            evidence: Evidence::Line,
            fix: shell::CHMOD_FIX.into(),
        });
    }
}

/// `sh -c "$(curl …)"`.
fn piped_by_substitution(command: &str) -> bool {
    ["sh -c \"$(curl", "bash -c \"$(curl", "sh -c \"$(wget", "bash -c \"$(wget", "eval \"$(curl", "eval $(curl"]
        .iter()
        .any(|start| command.contains(start))
}
