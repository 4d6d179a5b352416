//! The devops role: finds hazards in CI workflows, Dockerfiles, Compose files and the scripts beside them.
//!
//! It works on text alone, without a model. What it shares with the role `security` is the `settings-scan` crate's, under the same
//! names at the same lines, so that a report of both shows it once; what makes a pipeline hang, fail, drift or give too much away is
//! here. What was not looked at is counted in the risks.
//!
//! ```
//! use brain_role::testing::Bench;
//!
//! let result = Bench::new().file("Dockerfile", "FROM debian:12\nUSER app\nRUN apt-get update\n").run(devops::run);
//! assert_eq!(result.findings[0].rule.as_deref(), Some("docker/apt-update-alone"));
//! assert_eq!(result.findings[0].line, Some(3));
//! ```

mod compose;
mod dockerfile;
mod github;
mod gitlab;
mod inspect;
pub mod limits;
mod rules;
mod said;
mod shell;

use std::collections::BTreeMap;

use brain_role::{Handoff, Outcome};
use file_findings::{Collection, Reader};

use dockerfile::Around;
pub use rules::RULES;

brain_role::role!(run);

/// The role: looks at the settings among the files of `handoff` and reports what is hazardous in them.
pub fn run(handoff: Handoff) -> Outcome {
    let tree = handoff.workspace();
    let files = file_findings::files(&handoff);
    let mut collection = Collection::default();
    let mut reader = Reader::default();
    let mut kinds: BTreeMap<&'static str, u64> = BTreeMap::new();
    for file in files.paths.iter().filter(|file| inspect::is_looked_at(&file.path)) {
        let Some(text) = reader.read(&tree, file) else { continue };
        if let Some(kind) = kind(&file.path, &text) {
            *kinds.entry(kind).or_default() += 1;
            let around = Around { ignores: ignores(&tree, &file.path), whole: file.len > 0 };
            collection.add(&file.path, inspect::inspect(&file.path, &text, around));
        }
    }
    let looked_at: u64 = kinds.values().sum();
    let mut risks = files.risks;
    risks.extend(reader.risks());
    risks.extend(collection.risks());
    if looked_at == 0 {
        risks.push("no workflow, Dockerfile, Compose file or script was found, so nothing can be said about how this is built and run".to_owned());
    } else {
        risks.push("settings outside of the files are not seen: branch protection, secrets and their scopes, runners, the registry".to_owned());
    }
    let mut summary = collection.summary(looked_at, "No hazard found");
    let found: Vec<String> =
        kinds.iter().map(|(kind, count)| format!("{count} {kind}{}", if *count == 1 { "" } else { "s" })).collect();
    if !found.is_empty() {
        summary.push_str(&format!(" Looked at: {}.", found.join(", ")));
    }
    if let Some(prior) = file_findings::compose(&handoff) {
        summary.push_str("\n\n");
        summary.push_str(&prior);
    }
    Outcome::completed(summary)
        .step(format!("looked at {looked_at} of {} files", files.paths.len()))
        .findings(collection.into_findings())
        .risks(risks)
}

/// What a file is called in the summary; `None` for YAML that is no settings.
fn kind(path: &str, text: &str) -> Option<&'static str> {
    use settings_scan::Kind;
    Some(match settings_scan::kind(path) {
        Some(Kind::GithubWorkflow) => "GitHub workflow",
        Some(Kind::GithubAction) => "GitHub action",
        Some(Kind::Gitlab) => "GitLab pipeline",
        Some(Kind::Compose) => "Compose file",
        Some(Kind::Dockerfile) => "Dockerfile",
        Some(Kind::Yaml) => {
            return (text.contains("apiVersion:") && text.contains("kind:")).then_some("Kubernetes file");
        }
        None => match shell::kind(path)? {
            shell::Kind::Make => "Makefile",
            shell::Kind::Shell => "script",
        },
    })
}

/// Whether a `.dockerignore` is where a build with this Dockerfile may look for one.
fn ignores(tree: &brain_role::Tree, path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    tree.exists(".dockerignore")
        || tree.exists(format!("{folder}.dockerignore"))
        || tree.exists(format!("{path}.dockerignore"))
}
