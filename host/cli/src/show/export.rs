//! A session as a document.

use std::fmt::Write;

use brain_journal::{SessionStory, UsageTotals};
use brain_packet::terminal_safe;

use super::events::{checks, review, tokens};
use super::session::time;
use super::style::{line, status};

/// The story as Markdown. What others wrote is quoted, so that it cannot pass for the document's own structure.
pub fn markdown(story: &SessionStory) -> String {
    let mut out = format!("# Session {}\n\nStatus: {}\n", story.session_id, story.status);
    for (number, run) in story.runs.iter().enumerate() {
        let _ = writeln!(out, "\n## Run {}\n", number + 1);
        let _ = writeln!(out, "{} to {}, {}", time(run.started), time(run.updated), run.status);
        quoted(&mut out, "Request", run.prompt.as_deref());
        if let Some(plan) = &run.plan {
            let _ = writeln!(out, "\n`{}` answers: {}", plan.primary_role, code(&plan.reason));
        }
        if !run.workers.is_empty() {
            out.push_str("\n### Roles\n\n| role | phase | status | findings |\n|---|---|---|---|\n");
            for worker in &run.workers {
                let ended = worker.status.map_or("unfinished", status);
                let _ = writeln!(out, "| {} | {} | {ended} | {} |", worker.role, worker.phase, worker.findings.total);
            }
            for worker in &run.workers {
                quoted(&mut out, worker.role.as_str(), worker.summary.as_deref().or(worker.error.as_deref()));
            }
        }
        if !run.todos.is_empty() {
            out.push_str("\n### Tasks\n\n");
            for todo in &run.todos {
                let _ = writeln!(out, "- {}: {}", status(todo.status), code(&todo.title));
            }
        }
        let events = &run.events;
        let judged = events.checks.iter().map(checks).chain(events.reviews.iter().map(review));
        list(&mut out, "Checks and reviews", judged);
        list(&mut out, "Errors", run.errors.iter().map(|error| error.error.clone()));
        list(&mut out, "Tokens", Some(&events.usage).filter(|usage| !UsageTotals::is_nothing(usage)).map(tokens));
        quoted(&mut out, "Answer", run.summary.as_deref());
    }
    quoted(&mut out, "Handoff brief", story.handoff.as_ref().map(|handoff| handoff.brief.summary.as_str()));
    out
}

fn list(out: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_some() {
        let _ = writeln!(out, "\n### {title}\n");
        lines.for_each(|line| {
            let _ = writeln!(out, "- {}", code(&line));
        });
    }
}

fn quoted(out: &mut String, title: &str, text: Option<&str>) {
    let Some(text) = text else { return };
    let _ = writeln!(out, "\n### {title}\n");
    for line in terminal_safe(text).lines() {
        let _ = writeln!(out, "> {line}");
    }
}

/// Somebody else's words on one line, as code that no Markdown is found in.
fn code(text: &str) -> String {
    format!("`{}`", line(text).replace('`', "'"))
}
