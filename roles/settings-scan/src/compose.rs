//! Compose files.

use brain_role::Severity::{High, Low};

use crate::at;
use crate::yaml::Node;
use file_findings::Issue;

pub(crate) fn find(root: &Node, issues: &mut Vec<Issue>) {
    for (_, service) in root.get("services").into_iter().flat_map(Node::entries) {
        if let Some(node) = service.get("privileged").filter(|node| node.is_true()) {
            let text = "a container runs with all rights of its host";
            issues.push(at(
                node,
                "ci/compose-privileged",
                High,
                text,
                "Drop `privileged`; add the one capability that is needed with cap_add.",
            ));
        }
        for volume in service.get("volumes").map(Node::items).unwrap_or_default() {
            let source = volume.get("source").unwrap_or(volume);
            if source.text().is_some_and(|text| text.contains("docker.sock")) {
                let text = "a container holds the socket of Docker, and with it the host";
                issues.push(at(
                    source,
                    "ci/compose-docker-socket",
                    High,
                    text,
                    "Put a socket proxy between that allows only what is needed.",
                ));
            }
        }
        for key in ["network_mode", "pid"] {
            if let Some(node) = service.get(key).filter(|node| node.text() == Some("host")) {
                let text = "a container shares a namespace with its host";
                issues.push(at(node, "ci/compose-host-namespace", Low, text, "Publish the ports that are needed."));
            }
        }
    }
}
