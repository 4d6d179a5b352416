//! What `brain doctor` found.

use std::fmt::Write;

use console::style;

use super::style::{heading, line};
use crate::commands::doctor::{Diagnosis, Health};

/// All checks, with what to do about those that failed.
pub fn diagnosis(diagnosis: &Diagnosis) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", heading("Brain doctor"));
    for check in &diagnosis.checks {
        let mark = match check.status {
            Health::Ok => style("ok     ").green(),
            Health::Warning => style("warning").yellow(),
            Health::Error => style("error  ").red(),
        };
        let _ = writeln!(out, "  {mark} {:<9} {}", check.id, line(&check.message));
        if let Some(fix) = &check.fix {
            let _ = writeln!(out, "          -> {}", line(fix));
        }
    }
    let _ = writeln!(
        out,
        "{}",
        match diagnosis.status {
            Health::Ok => "All is well.",
            Health::Warning => "Brain works; see the warnings for what does not.",
            Health::Error => "Brain does not work here yet; see the errors.",
        }
    );
    out
}
