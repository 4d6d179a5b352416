//! Roles: a list, one in detail, and a contract check.

use std::fmt::Write;
use std::path::PathBuf;

use brain_orchestrator::{Catalogue, Origin};
use brain_sandbox::{CheckReport, LimitName, Limits, show_bytes};

use super::style::{faint, heading, line};
use crate::commands::role::Inspected;

/// The roles that were found, and where was looked.
pub fn roles(catalogue: &Catalogue, folders: &[(PathBuf, Origin)]) -> String {
    let mut out = String::new();
    for role in catalogue.iter() {
        let m = &role.manifest;
        let _ = writeln!(
            out,
            "{:<14} {:<9} {:<8} {}",
            m.name.as_str(),
            line(&m.version),
            role.origin,
            line(&m.description)
        );
    }
    if catalogue.is_empty() {
        let _ = writeln!(out, "There are no roles. Build the vetted ones with `cargo xtask roles`.");
    }
    for fault in &catalogue.faults {
        let _ = writeln!(out, "not usable: {}", line(&fault.to_string()));
        if let Some(help) = miette::Diagnostic::help(fault) {
            let _ = writeln!(out, "    -> {}", line(&help.to_string()));
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
    let _ = writeln!(put, "\n{}", heading("Asks for"));
    let _ = writeln!(put, "  files     {}", or_nothing(&m.files.read));
    let _ = writeln!(put, "  ignored   {}", if m.files.gitignored { "what .gitignore excludes, too" } else { "no" });
    let _ = writeln!(put, "  context   {}", or_nothing(&m.context.reads));
    let _ = writeln!(put, "  called by {}", or_nothing(&m.routing.words));
    let _ = writeln!(put, "\n{}", heading("Gets"));
    let _ = writeln!(put, "  files     of what it asks, what the handoff names; never {}", line(&role.deny.join(" ")));
    let _ = writeln!(put, "  network, environment, time of day: nothing; model, tools: denied");
    let _ = writeln!(put, "\n{:<18} {:>12} {:>12} {:>12}", heading("Limits"), "asked", "ceiling", "in force");
    for (name, asked, ceiling, effective) in limits(&m.limits, role.ceiling, &role.effective) {
        let _ = writeln!(put, "  {name:<16} {asked:>12} {ceiling:>12} {effective:>12}");
    }
    let _ = writeln!(put, "\n{}", heading("Contract check"));
    put.push_str(&check(&role.check));
    out
}

fn limits(asked: &Limits, ceiling: &Limits, effective: &Limits) -> Vec<(&'static str, String, String, String)> {
    let bytes = |f: fn(&Limits) -> u64| [asked, ceiling, effective].map(|l| show_bytes(f(l)));
    let count = |f: fn(&Limits) -> u64| [asked, ceiling, effective].map(|l| f(l).to_string());
    let row = |name, [a, b, c]: [String; 3]| (name, a, b, c);
    vec![
        row("deadline_ms", [asked, ceiling, effective].map(|l| LimitName::Deadline.show(l.deadline_ms))),
        row("memory_bytes", bytes(|l| l.memory_bytes)),
        row("table_elements", count(|l| l.table_elements)),
        row("output_bytes", bytes(|l| l.output_bytes)),
        row("result_bytes", bytes(|l| l.result_bytes)),
        row("artifact_bytes", bytes(|l| l.artifact_bytes)),
        row("artifact_files", count(|l| l.artifact_files)),
        row("open_handles", count(|l| l.open_handles)),
    ]
}

fn or_nothing(list: &[String]) -> String {
    if list.is_empty() { "nothing".into() } else { line(&list.join(" ")) }
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
