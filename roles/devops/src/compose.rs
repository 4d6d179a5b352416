//! Compose files.

use brain_role::Severity::{High, Low, Medium};
use file_findings::Issue;
use settings_scan::yaml::Node;
use settings_scan::{at, is_floating, is_secret_name};

use crate::github::plain_secret;
use crate::said;

/// Ports of databases and stores that ask for no password, or are not meant for strangers.
const STORES: &[(&str, &str)] = &[
    ("5432", "PostgreSQL"),
    ("3306", "MySQL"),
    ("27017", "MongoDB"),
    ("6379", "Redis"),
    ("9200", "Elasticsearch"),
    ("11211", "memcached"),
    ("2375", "Docker"),
];

pub(crate) fn find(root: &Node, issues: &mut Vec<Issue>) {
    for (_, service) in root.get("services").into_iter().flat_map(Node::entries) {
        image(service, issues);
        environment(service, issues);
        volumes(service, issues);
        rights(service, issues);
        ports(service, issues);
    }
}

fn image(service: &Node, issues: &mut Vec<Issue>) {
    // With `build`, the name is that of what is built.
    if let Some(image) = service.get("image").filter(|_| service.get("build").is_none())
        && is_floating(image.text().unwrap_or_default())
    {
        let what = "the image has no fixed version: the next pull may start another one";
        issues.push(at(
            image,
            "compose/image-latest",
            Low,
            what,
            "Give a version, better a digest: image:1.2@sha256:…",
        ));
    }
}

fn environment(service: &Node, issues: &mut Vec<Issue>) {
    let Some(environment) = service.get("environment") else { return };
    for (name, value) in environment.entries() {
        plain_secret(name, value, "compose/plain-secret", issues);
    }
    for item in environment.items() {
        let Some((key, value)) = item.text().and_then(|text| text.split_once('=')) else { continue };
        if is_secret_name(key) && said::is_literal(value) {
            let severity = if said::is_placeholder(value) { Low } else { Medium };
            let what = format!("{} holds a secret in plain text, for whoever reads the repository", said::name(key));
            let fix = "Give it as a file with `secrets:`, or take it from the environment: ${NAME:?}. Revoke the one that is written here.";
            issues.push(said::secret(item, "compose/plain-secret", severity, what, key, value, fix));
        }
    }
}

fn volumes(service: &Node, issues: &mut Vec<Issue>) {
    for volume in service.get("volumes").map(Node::items).unwrap_or_default() {
        let node = volume.get("source").unwrap_or(volume);
        let text = node.text().unwrap_or_default();
        let source = if volume.get("source").is_some() { text } else { text.split(':').next().unwrap_or_default() };
        let whole = matches!(
            source.trim_end_matches('/'),
            "" | "/etc" | "/root" | "/var" | "/var/lib/docker" | "/proc" | "/sys" | "/boot" | "/home"
        ) && source.starts_with('/');
        let reads = text.ends_with(":ro") || volume.get("read_only").is_some_and(Node::is_true);
        if whole && (!reads || source == "/") {
            let what = format!("a container holds {} of its host, and with it the host", said::name(source));
            issues.push(at(
                node,
                "compose/host-path",
                High,
                what,
                "Mount the one folder that is needed, read-only (`:ro`) where that is enough.",
            ));
        }
    }
}

fn rights(service: &Node, issues: &mut Vec<Issue>) {
    for capability in service.get("cap_add").map(Node::items).unwrap_or_default() {
        let name = capability.text().unwrap_or_default().to_ascii_uppercase();
        let name = name.strip_prefix("CAP_").unwrap_or(&name);
        let severity = match name {
            "ALL" => High,
            "SYS_ADMIN" | "SYS_PTRACE" | "SYS_MODULE" | "DAC_READ_SEARCH" | "SYS_RAWIO" => Medium,
            _ => continue,
        };
        let what = format!("capability {name} lets a container take over its host");
        issues.push(at(
            capability,
            "compose/cap-add",
            severity,
            what,
            "Drop all (`cap_drop: [ALL]`) and add the one that is needed.",
        ));
    }
    for option in service.get("security_opt").map(Node::items).unwrap_or_default() {
        let text = option.text().unwrap_or_default();
        if text.ends_with("unconfined") || text == "label:disable" {
            let what = "the container's confinement by the kernel is switched off";
            issues.push(at(
                option,
                "compose/unconfined",
                Medium,
                what,
                "Remove it; give a profile of its own to a program that needs more.",
            ));
        }
    }
}

fn ports(service: &Node, issues: &mut Vec<Issue>) {
    for port in service.get("ports").map(Node::items).unwrap_or_default() {
        let text = port.text().unwrap_or_default();
        // `host:container`; with an address before it there are three parts.
        let parts: Vec<&str> = text.split('/').next().unwrap_or_default().split(':').collect();
        let open = match parts.as_slice() {
            [_, container] => Some(*container),
            ["0.0.0.0", _, container] => Some(*container),
            _ => port
                .get("published")
                .filter(|_| port.get("host_ip").is_none())
                .and_then(|_| port.get("target"))
                .and_then(Node::text),
        };
        if let Some((_, store)) = open.and_then(|open| STORES.iter().find(|(known, _)| *known == open)) {
            let what =
                format!("{store} listens on every address of the host; Docker's rules stand before the firewall's");
            issues.push(at(
                port,
                "compose/database-port",
                Low,
                what,
                "Publish it to this machine alone: \"127.0.0.1:…\", or not at all; services reach each other without.",
            ));
        }
    }
}
