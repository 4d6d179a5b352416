//! The smaller manifest that was worked out from receipts.

use std::fmt::Write;
use std::path::Path;

use brain_orchestrator::{Advice, Tightened};

use super::style::{count, heading, line};

/// The proposal, and what it is based on.
pub fn tightened(tightened: &Tightened, folder: &Path, shipped: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}  from {} in {}{}",
        heading(tightened.role.as_str()),
        count(tightened.calls, "completed call"),
        count(tightened.sessions, "session"),
        match tightened.incomplete_calls {
            0 => String::new(),
            n => format!("; {} left out, which did not complete", count(n, "call")),
        }
    );
    for glob in &tightened.globs {
        let what = match glob.advice {
            Advice::Keep => "keep  ",
            Advice::Drop => "drop  ",
            Advice::Narrow => "narrow",
        };
        let becomes =
            if glob.becomes.is_empty() { String::new() } else { format!(" to {}", line(&glob.becomes.join(" "))) };
        let _ = writeln!(out, "  {what} {} {}{becomes}: {}", glob.key, line(&glob.glob), line(&glob.why));
    }
    for limit in &tightened.limits {
        let key = &limit.key;
        let _ = match limit.suggested {
            Some(suggested) => {
                writeln!(out, "  lower  {key} from {} to {suggested}: at most {} used", limit.today, limit.peak)
            }
            None => writeln!(out, "  keep   {key}: it was reached"),
        };
    }
    let file = line(&folder.join("role.toml").display().to_string());
    if tightened.patch.is_empty() {
        if tightened.calls > 0 {
            let _ = writeln!(out, "Nothing in {file} can be smaller.");
        }
    } else {
        if shipped {
            let _ = writeln!(
                out,
                "\nFor the authors of {file}. To narrow it here, grant less of it in config.toml, as this says:\n"
            );
        } else {
            let _ = writeln!(out, "\nIn {file}, in place of what is there now:\n");
        }
        out.push_str(&brain_packet::terminal_safe(&tightened.patch));
        out.push('\n');
    }
    for note in &tightened.notes {
        let _ = writeln!(out, "Note: {}.", line(note));
    }
    out
}
