//! Roles: a list, one in detail, and a contract check.

use std::fmt::Write;
use std::path::PathBuf;

use brain_orchestrator::{Asks, Confirmation, How, Origin};
use brain_packet::RoleName;
use brain_sandbox::{CheckReport, show_bytes};

use super::capabilities::{capabilities, wrapped};
use super::style::{faint, heading, line};
use crate::commands::role::{Inspected, ListedRoles};

/// The roles that were found, and where was looked.
pub fn roles(listed: &ListedRoles<'_>, folders: &[(PathBuf, Origin)]) -> String {
    let mut out = String::new();
    for role in &listed.roles {
        let _ =
            writeln!(out, "{:<14} {:<9} {:<8} {}", role.name, line(role.version), role.origin, line(role.description));
    }
    if listed.roles.is_empty() {
        let _ = match listed.unusable.len() {
            0 => writeln!(out, "There are no roles. Build the vetted ones with `cargo xtask roles`."),
            _ => writeln!(out, "There are no roles that can be used."),
        };
    }
    for broken in &listed.unusable {
        let _ =
            writeln!(out, "{:<14} {:<9} {:<8} {}", line(&broken.name), "BROKEN", broken.origin, line(&broken.error));
        if !broken.help.is_empty() {
            let _ = writeln!(out, "    -> {}", line(&broken.help));
        }
    }
    let looked: Vec<String> = folders.iter().map(|(path, _)| line(&path.display().to_string())).collect();
    let _ = writeln!(out, "{}", faint(&format!("looked in {}", looked.join(", "))));
    out
}

/// One role in detail.
pub fn inspected(role: &Inspected<'_>) -> String {
    let m = role.manifest;
    let mut out = String::new();
    let put = &mut out;
    let _ = writeln!(put, "{}  {}", heading(m.name.as_str()), line(&m.description));
    let _ = writeln!(
        put,
        "Version   {}   ({}, {})",
        line(&m.version),
        role.origin,
        line(&role.folder.display().to_string())
    );
    let _ = writeln!(put, "Component {}   {}", role.digest, show_bytes(role.bytes as u64));
    let _ = writeln!(put, "Contract  {}", line(&m.contract));
    let words = if m.routing.words.is_empty() { "nothing".into() } else { line(&m.routing.words.join(", ")) };
    let _ = writeln!(put, "Called by {}", wrapped(&words, 90).join("\n          "));
    match role.confirmed {
        None => {
            let _ = writeln!(put, "Confirmed nothing yet: its first use confirms what it asks for");
        }
        Some(confirmed) => {
            let by = match confirmed.by {
                How::FirstUse => "by its first use",
                How::Operator => "by you",
            };
            let (version, at) = (line(&confirmed.version), line(&confirmed.at));
            let _ = writeln!(put, "Confirmed {by} on {at}, as version {version} ({})", confirmed.component.short());
        }
    }
    if !role.beyond.is_empty() {
        let _ = writeln!(put, "\n{}", heading("Not called: it asks for more than was confirmed"));
        for beyond in &role.beyond {
            let _ = writeln!(put, "  + {}", line(beyond));
        }
        let _ = writeln!(put, "  -> brain role confirm {}", m.name);
    }
    let _ = writeln!(put);
    put.push_str(&capabilities(m, &role.grant));
    let _ = writeln!(put, "\n{}", heading("Contract check"));
    put.push_str(&check(&role.check));
    out
}

/// What a confirmation of a role would add, and what it has no more.
pub fn asks(role: &RoleName, confirmed: Option<&Confirmation>, now: &Asks) -> String {
    let (more, less) = match confirmed {
        None => (now.in_words(), Vec::new()),
        Some(confirmed) => (now.beyond(&confirmed.asks), confirmed.asks.beyond(now)),
    };
    let mut out = String::new();
    let _ = match confirmed {
        None => writeln!(out, "{role} was never used. It asks for:"),
        Some(_) if more.is_empty() => writeln!(out, "{role} asks for nothing beyond what was confirmed."),
        Some(confirmed) => {
            writeln!(out, "Beyond what was confirmed as version {}, {role} asks for:", line(&confirmed.version))
        }
    };
    for more in &more {
        let _ = writeln!(out, "  + {}", line(more));
    }
    if !less.is_empty() {
        let _ = writeln!(out, "It no longer asks for:");
        for less in &less {
            let _ = writeln!(out, "  - {}", line(less));
        }
    }
    out
}

/// A contract check, with its verdict.
pub fn check(report: &CheckReport) -> String {
    // What fails comes first: a component may import a lot that is fine.
    let mut sorted = report.clone();
    sorted.rows.sort_by_key(|row| !row.state.fails());
    let table = brain_packet::terminal_safe(&sorted.to_string()).into_owned();
    let verdict = match report.first_fault() {
        None => format!("it fits {}", report.contract),
        Some(row) => format!("it does not fit {}: {}", report.contract, line(&row.item)),
    };
    format!("{table}{verdict}\n")
}
