//! Sessions, from their journals.

use std::fmt::Write;
use std::path::Path;

use brain_journal::{JOURNAL_VERSION, RunStory, SessionList, SessionStory, Skipped, WorkerStory};
use brain_orchestrator::figures;
use jiff::Timestamp;

use super::events::events;
use super::style::{block, count, faint, heading, line, status};

/// Characters of a request in a list.
const MAX_REQUEST: usize = 60;

/// A list of sessions: of all, or of one project.
pub fn sessions(list: &SessionList, project: Option<&Path>, of_a_status: bool) -> String {
    let such = if of_a_status { "such " } else { "" };
    let mut out = String::new();
    if list.sessions.is_empty() && list.not_shown == 0 {
        let _ = match (project, list.filtered) {
            (_, 0) => writeln!(out, "There are no sessions yet: `brain run \"…\"` makes one."),
            (Some(project), others) => writeln!(
                out,
                "There are no {such}sessions of {}, and {}: --all shows those of every project.",
                line(&project.display().to_string()),
                count(others, "other one"),
            ),
            (None, others) => writeln!(out, "There are no such sessions among {}.", count(others, "session")),
        };
    }
    for session in &list.sessions {
        let request: String =
            line(session.prompt.as_deref().unwrap_or("(no request recorded)")).chars().take(MAX_REQUEST).collect();
        let role = session.primary_role.as_ref().map(|r| r.to_string()).unwrap_or_default();
        let outcome = session.outcome.as_deref().map(|word| line(&word.replace('_', " ")));
        let outcome = outcome.unwrap_or_else(|| session.status.to_string());
        let _ = writeln!(out, "{}  {outcome:<19}  {role:<12} {request}", session.session_id);
        if let Some(why) = &session.unreadable {
            let _ = writeln!(out, "    cannot be read: {}", line(why));
        }
    }
    if list.not_shown > 0 {
        let _ = writeln!(out, "{}", faint(&format!("{} older ones are not shown: --limit", list.not_shown)));
    }
    if list.foreign > 0 {
        let are = if list.foreign == 1 { "is no session" } else { "are not sessions" };
        let _ = writeln!(out, "{}", faint(&format!("{} in the folder {are}", count(list.foreign, "file"))));
    }
    out
}

/// What a journal tells.
pub fn story(story: &SessionStory) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}  {}", heading(&format!("Session {}", story.session_id)), story.status);
    if story.journal_version.is_some_and(|version| version > JOURNAL_VERSION) {
        let _ = writeln!(out, "A later version of Brain wrote this journal: some of it may not be told here.");
    }
    for run in &story.runs {
        self::run(&mut out, run);
    }
    if let Some(handoff) = &story.handoff {
        let age = if handoff.fresh { "up to date" } else { "from before the latest run" };
        let _ = writeln!(out, "\n{}", heading(&format!("Handoff brief, {age}")));
        out.push_str(&block(&handoff.brief.summary, "  "));
    }
    if story.omitted > 0 {
        let _ = writeln!(out, "\n{} more entries are left out here", story.omitted);
    }
    if story.truncated_records > 0 {
        let _ =
            writeln!(out, "\n{} were cut when they were written", count(story.truncated_records as usize, "record"));
    }
    skipped(&mut out, &story.skipped);
    out
}

fn run(out: &mut String, run: &RunStory) {
    let _ = writeln!(out, "\nRequest   {}", line(run.prompt.as_deref().unwrap_or("(not recorded)")));
    let _ = writeln!(out, "Status    {}", report_status(run).unwrap_or_else(|| run.status.to_string()));
    let _ = writeln!(out, "Started   {}   ended {}", time(run.started), time(run.updated));
    if let Some(root) = &run.project_root {
        let _ = writeln!(out, "Project   {}", line(root));
    }
    if let Some(plan) = &run.plan {
        let _ = writeln!(out, "Routing   {} answers: {}", plan.primary_role, line(&plan.reason));
    }
    if !run.workers.is_empty() {
        let _ = writeln!(out, "\n{}", heading("Roles"));
        run.workers.iter().for_each(|w| worker(out, w));
    }
    if !run.todos.is_empty() {
        let _ = writeln!(out, "\n{}", heading("Tasks"));
        for todo in &run.todos {
            let _ = writeln!(out, "  {:<9} {:<18} {}", status(todo.status), line(&todo.id), line(&todo.title));
        }
    }
    events(out, &run.events);
    if let Some(summary) = &run.summary {
        let _ = writeln!(out, "\n{}", heading("Answer"));
        out.push_str(&block(summary, "  "));
    }
    if !run.errors.is_empty() {
        let _ = writeln!(out, "\n{}", heading("Errors"));
        for error in &run.errors {
            let who = error.worker.as_ref().map(|w| format!("{w}: ")).unwrap_or_default();
            let code = error.code.as_deref().map(|c| format!(" ({})", line(c))).unwrap_or_default();
            let _ = writeln!(out, "  {who}{}{code}", line(&error.error));
        }
    }
}

/// The status that the operator was shown.
fn report_status(run: &RunStory) -> Option<String> {
    Some(line(&run.final_report.as_ref()?.get("status")?.as_str()?.replace('_', " ")))
}

fn worker(out: &mut String, worker: &WorkerStory) {
    let ended = worker.status.map_or("unfinished", status);
    let f = &worker.findings;
    let _ = writeln!(
        out,
        "  {:<12} {ended:<9} {:<8} {} ({} high, {} medium, {} low){}",
        worker.role.as_str(),
        worker.phase,
        count(f.total, "finding"),
        f.high,
        f.medium,
        f.low,
        wall(worker),
    );
    if let Some(error) = &worker.error {
        let _ = writeln!(out, "    {}", line(error));
    } else if let Some(summary) = &worker.summary {
        let _ = writeln!(out, "    {}", line(summary));
    }
    if let Some(proposal) = &worker.proposal {
        let figures = figures(proposal.files, proposal.added_lines, proposal.removed_lines);
        let _ = writeln!(out, "    proposed {figures}: {}", proposal.state);
    }
    let granted: Vec<String> = worker.granted.iter().map(|r| line(&r.uri)).collect();
    if !granted.is_empty() {
        let _ = writeln!(out, "    {}", faint(&format!("handed {}", granted.join(", "))));
    }
    for artifact in &worker.artifacts {
        if artifact.uri.starts_with("artifact:") {
            let _ = writeln!(out, "    {}", faint(&format!("kept {}", line(&artifact.uri))));
        }
    }
}

fn wall(worker: &WorkerStory) -> String {
    let receipt = &worker.receipt;
    let wall = receipt.get("wallMs").and_then(serde_json::Value::as_f64);
    wall.map(|ms| format!(", {:.2} s", ms / 1000.0)).unwrap_or_default()
}

fn skipped(out: &mut String, skipped: &Skipped) {
    if skipped.is_nothing() {
        return;
    }
    let _ = writeln!(
        out,
        "\nPassed over in the journal: {} torn, {} malformed, {} of an unknown type, {} too long; {} bytes not read",
        skipped.torn_lines, skipped.malformed, skipped.unknown, skipped.too_long, skipped.unread_bytes
    );
}

/// A time of a journal, in UTC.
pub fn time(ms: u64) -> String {
    i64::try_from(ms)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok())
        .map_or_else(|| "unknown".into(), |t| t.strftime("%Y-%m-%d %H:%M:%SZ").to_string())
}
