//! Objects of Kubernetes.

use brain_role::Severity::{High, Medium};

use crate::at;
use crate::yaml::Node;
use file_findings::Issue;

pub(crate) fn find(root: &Node, issues: &mut Vec<Issue>) {
    let (Some(_), Some(kind)) = (root.get("apiVersion"), root.get("kind").and_then(Node::text)) else { return };
    // A definition of a type describes fields; it has none.
    if kind == "CustomResourceDefinition" || kind == "PodSecurityPolicy" || kind == "SecurityContextConstraints" {
        return;
    }
    root.each(&mut |node| {
        if let Some(context) = node.get("securityContext") {
            if let Some(node) = context.get("privileged").filter(|node| node.is_true()) {
                let text = "a container runs with all rights of its node";
                issues.push(at(
                    node,
                    "ci/k8s-privileged",
                    High,
                    text,
                    "Drop `privileged`; add the one capability that is needed.",
                ));
            }
            if let Some(node) = context.get("runAsUser").filter(|node| node.text() == Some("0")) {
                let text = "a container runs as root";
                issues.push(at(node, "ci/k8s-root", Medium, text, "Set runAsNonRoot: true and a user id above 0."));
            }
            if let Some(node) = context.get("allowPrivilegeEscalation").filter(|node| node.is_true()) {
                let text = "a process may gain more rights than its parent";
                issues.push(at(
                    node,
                    "ci/k8s-privilege-escalation",
                    Medium,
                    text,
                    "Set allowPrivilegeEscalation: false.",
                ));
            }
        }
        if let Some(path) = node.at(&["hostPath", "path"]) {
            let value = path.text().unwrap_or_default();
            let whole = matches!(
                value.trim_end_matches('/'),
                "" | "/etc" | "/root" | "/var" | "/proc" | "/sys" | "/var/lib/kubelet"
            ) && value.starts_with('/');
            if whole || value.ends_with("docker.sock") || value.ends_with("containerd.sock") {
                let text = "a pod mounts a path of its node that gives it the node";
                issues.push(at(
                    path,
                    "ci/k8s-host-path",
                    High,
                    text,
                    "Mount a volume of the pod's own, or the one directory that is needed, read-only.",
                ));
            }
        }
        for key in ["hostNetwork", "hostPID", "hostIPC"] {
            if let Some(node) = node.get(key).filter(|node| node.is_true()) {
                let text = "a pod shares a namespace with its node";
                issues.push(at(node, "ci/k8s-host-namespace", Medium, text, "Use a Service, or a port of the pod."));
            }
        }
    });
}
