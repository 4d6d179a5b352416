//! Colours, where the output is a terminal, and text of others on one line.

use brain_packet::{Severity, TaskStatus, terminal_line, terminal_safe};
use console::{Style, style};

/// Characters of a line of somebody else's text.
const MAX_LINE: usize = 400;

/// A heading.
pub fn heading(text: &str) -> String {
    style(text).bold().to_string()
}

/// Something of less weight.
pub fn faint(text: &str) -> String {
    style(text).dim().to_string()
}

/// A severity, padded to the longest.
pub fn severity(severity: Severity) -> String {
    let (word, colour) = match severity {
        Severity::High => ("high  ", Style::new().red().bold()),
        Severity::Medium => ("medium", Style::new().yellow()),
        Severity::Low => ("low   ", Style::new().cyan()),
    };
    colour.apply_to(word).to_string()
}

/// A status as the JSON has it.
pub fn status(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "pending",
        TaskStatus::Running => "running",
        TaskStatus::Completed => "completed",
        TaskStatus::Blocked => "blocked",
        TaskStatus::Failed => "failed",
    }
}

/// Somebody else's text on one line, harmless and bounded.
pub fn line(text: &str) -> String {
    let safe = terminal_line(text);
    if safe.chars().count() <= MAX_LINE {
        return safe.into_owned();
    }
    safe.chars().take(MAX_LINE - 1).chain(['…']).collect()
}

/// Somebody else's text over several lines, harmless, each line indented.
pub fn block(text: &str, indent: &str) -> String {
    let mut out = String::new();
    for line in terminal_safe(text).lines() {
        out.push_str(indent);
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// `n thing` or `n things`.
pub fn count(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}
