//! Dockerfiles.

use brain_role::Severity::{High, Low, Medium};

use crate::{command, joined};
use file_findings::{Evidence, Issue};

pub(crate) fn find(text: &str) -> Vec<Issue> {
    let mut issues = Vec::new();
    let mut stages: Vec<String> = Vec::new();
    // The line of the last FROM, and who its stage runs as.
    let mut last_from = None;
    let mut user: Option<(u32, String)> = None;
    for (at, line) in joined((1u32..).zip(text.lines())) {
        let Some((word, rest)) = line.trim_start().split_once(char::is_whitespace) else { continue };
        let rest = rest.trim();
        match word.to_ascii_uppercase().as_str() {
            "FROM" => {
                user = None;
                last_from = Some(at);
                from(at, rest, &mut stages, &mut issues);
            }
            "USER" => user = Some((at, rest.to_owned())),
            "ADD" => add(at, rest, &mut issues),
            "ENV" | "ARG" => environment(at, word, rest, &mut issues),
            "RUN" => command(at, rest, "docker", &mut issues),
            _ => {}
        }
    }
    let fix = "End the file with USER and the name or id of an unprivileged user.";
    match (last_from, user) {
        (Some(_), Some((at, name))) if matches!(name.split(':').next(), Some("root" | "0")) => {
            issues.push(issue(at, "ci/docker-root", Low, "the container runs as root", Evidence::Line, fix));
        }
        (Some(at), None) => issues.push(issue(
            at,
            "ci/docker-root",
            Low,
            "no USER is set, so the container runs as root unless its base says otherwise",
            Evidence::Line,
            fix,
        )),
        _ => {}
    }
    issues
}

fn issue(
    line: u32,
    rule: &'static str,
    severity: brain_role::Severity,
    text: &str,
    evidence: Evidence,
    fix: &'static str,
) -> Issue {
    Issue { rule, severity, line, text: text.to_owned(), evidence, fix: fix.into() }
}

fn from(line: u32, rest: &str, stages: &mut Vec<String>, issues: &mut Vec<Issue>) {
    let mut words = rest.split_whitespace().filter(|word| !word.starts_with("--"));
    let image = words.next().unwrap_or_default();
    if words.next().is_some_and(|word| word.eq_ignore_ascii_case("as"))
        && let Some(name) = words.next()
    {
        stages.push(name.to_ascii_lowercase());
    }
    let is_stage = stages.contains(&image.to_ascii_lowercase());
    if image != "scratch" && !is_stage && is_floating(image) {
        let text = "the base image has no fixed version";
        issues.push(issue(
            line,
            "ci/docker-latest",
            Low,
            text,
            Evidence::Line,
            "Give a version, better a digest: image:1.2@sha256:…",
        ));
    }
}

/// Whether the name of an image gives it no fixed version. One that a variable stands in may.
pub fn is_floating(image: &str) -> bool {
    if image.is_empty() || image.contains('$') || image.contains('@') {
        return false;
    }
    let tag = image.rsplit('/').next().and_then(|name| name.split_once(':')).map(|(_, tag)| tag);
    matches!(tag, None | Some("latest"))
}

fn add(line: u32, rest: &str, issues: &mut Vec<Issue>) {
    let fetched = rest
        .split_whitespace()
        .filter(|word| !word.starts_with("--"))
        .any(|word| word.starts_with("http://") || word.starts_with("https://"));
    if fetched && !rest.contains("--checksum=") {
        let plain = rest.contains("http://");
        let text = "a file is fetched into the image without a check of its content";
        issues.push(issue(
            line,
            "ci/docker-add-url",
            if plain { Medium } else { Low },
            text,
            Evidence::Line,
            "Give ADD --checksum=sha256:…, or fetch and verify it in RUN.",
        ));
    }
}

/// A value that stays in the image, for whoever pulls it.
fn environment(line: u32, word: &str, rest: &str, issues: &mut Vec<Issue>) {
    let pairs: Vec<(&str, &str)> = if rest.contains('=') {
        rest.split_whitespace().map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect()
    } else {
        vec![rest.split_once(char::is_whitespace).unwrap_or((rest, ""))]
    };
    for (name, value) in pairs {
        if !is_secret_name(name) {
            continue;
        }
        let value = value.trim().trim_matches(['"', '\'']);
        let fix = "Use a build secret: RUN --mount=type=secret,id=…; give the container its secrets when it starts.";
        let said = Evidence::Said(format!("{} {name}={}", word.to_ascii_uppercase(), secret_scan::mask(value)));
        if value.is_empty() && word.eq_ignore_ascii_case("ARG") {
            let text = "a build argument for a secret stays in the image's history";
            issues.push(issue(line, "ci/docker-secret-arg", Low, text, Evidence::Said(format!("ARG {name}")), fix));
        } else if !value.is_empty() && !value.starts_with('$') && !value.starts_with('/') {
            issues.push(issue(line, "ci/docker-secret-env", High, "a secret is written into the image", said, fix));
        }
    }
}

/// Whether a variable of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let about = ["_FILE", "_PATH", "_DIR", "_URL", "_NAME", "_ID", "_TTL", "_LENGTH", "_ENABLED", "_HEADER"]
        .iter()
        .any(|end| name.ends_with(end));
    let secret = name
        .split('_')
        .any(|part| matches!(part, "PASSWORD" | "PASSWD" | "SECRET" | "TOKEN" | "APIKEY" | "CREDENTIALS"))
        || ["API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "SECRET_KEY", "AUTH_KEY"].iter().any(|part| name.contains(part));
    secret && !about && !name.starts_with("PUBLIC")
}
