//! Pipelines of GitLab.

use brain_role::Severity::Medium;

use crate::yaml::Node;
use crate::{at, script};
use file_findings::Issue;

pub(crate) fn find(root: &Node, text: &str, issues: &mut Vec<Issue>) {
    job(root, text, issues);
    for (_, entry) in root.entries() {
        job(entry, text, issues);
    }
}

/// A job, or the top level, which may have the same keys.
fn job(node: &Node, text: &str, issues: &mut Vec<Issue>) {
    for key in ["CI_DEBUG_TRACE", "CI_DEBUG_SERVICES"] {
        let Some(value) = node.at(&["variables", key]) else { continue };
        if value.is_true() || value.get("value").is_some_and(Node::is_true) {
            let what = "debug tracing prints every variable of the job, secrets too";
            issues.push(at(
                value,
                "ci/gitlab-debug-trace",
                Medium,
                what,
                "Remove it; turn tracing on for a single run by hand.",
            ));
        }
    }
    let services = node.get("services").map(Node::items).unwrap_or_default();
    let images = services
        .iter()
        .map(|service| service.get("name").unwrap_or(service))
        .chain(node.get("image").map(|image| image.get("name").unwrap_or(image)));
    for image in images {
        let name = image.text().unwrap_or_default();
        if name.contains("docker:") && name.contains("dind") && !name.contains("rootless") {
            let what = "Docker in Docker needs a privileged runner, which is root on its host";
            issues.push(at(
                image,
                "ci/gitlab-dind",
                Medium,
                what,
                "Build images with buildah, kaniko or rootless BuildKit on an unprivileged runner.",
            ));
        }
    }
    for key in ["before_script", "script", "after_script"] {
        let Some(commands) = node.get(key) else { continue };
        if commands.text().is_some() {
            script(commands, text, issues);
        }
        commands.items().iter().for_each(|command| script(command, text, issues));
    }
}
