//! What happened in a run beside its workers.

use std::fmt::Write;

use brain_journal::{CheckOutcome, HookRun, ReviewOutcome, RunEvents, UsageTotals};
use brain_packet::Verdict;

use super::style::{count, heading, line};

/// Lines of each kind that are shown; the others are counted.
const MAX_LINES: usize = 20;

/// The events of a run, each kind under its heading; nothing of what there was not.
pub fn events(out: &mut String, events: &RunEvents) {
    if let Some(asked) = &events.clarification {
        section(
            out,
            "Brain asked",
            std::iter::once(line(&asked.question)).chain(asked.options.iter().enumerate().map(|(n, option)| {
                format!("{}. {}: {} ({})", n + 1, line(&option.label), line(&option.description), line(&option.id))
            })),
        );
    }
    if let Some(review) = &events.plan_review {
        let touched = review.proposed_side_effects.iter().map(|effect| format!("may touch {}", line(&effect.target)));
        let risks = review.risk_triggers.iter().map(|risk| format!("risk: {}", line(risk)));
        let first = format!("{} by {}: {}", review.status, review.approver, line(&review.rationale));
        section(out, "Plan", std::iter::once(first).chain(touched).chain(risks));
    }
    section(
        out,
        "Specialists",
        events.dispatches.iter().map(|sent| {
            let said = sent.summary.as_deref().or(sent.goal.as_deref()).unwrap_or_default();
            format!("{}  {}  {}", sent.role, line(sent.status.as_deref().unwrap_or("unanswered")), line(said))
        }),
    );
    section(
        out,
        "Approvals",
        events.approvals.iter().map(|call| {
            let why = call.reason.as_deref().map(|why| format!(": {}", line(why))).unwrap_or_default();
            format!("{}  {} by {}{why}", line(&call.tool_name), call.decision, call.approver)
        }),
    );
    let mut tools: Vec<String> = events
        .tools
        .iter()
        .map(|tool| format!("{}  {}, {} failed", line(&tool.name), count(number(tool.calls), "call"), tool.failed))
        .collect();
    if let Some(calls) = &events.tool_calls {
        tools.push(format!("{} in all, {} failed", count(number(calls.total), "call"), calls.failed));
    }
    section(out, "Tools", tools);
    section(out, "Checks", events.checks.iter().map(checks));
    section(out, "Reviews", events.reviews.iter().map(review));
    section(
        out,
        "Rounds of fixing",
        events.fix_iterations.iter().map(|round| format!("{}, since {}", round.iteration, round.trigger)),
    );
    if let Some(patch) = &events.patch {
        section(
            out,
            "Changed",
            patch.changed_files.iter().map(|file| format!("{:<2} {}", line(&file.status), line(&file.path))),
        );
    }
    section(out, "Hooks", events.hooks.iter().map(hook));
    if !events.usage.is_nothing() {
        section(out, "Tokens", [tokens(&events.usage)]);
    }
}

fn section(out: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "\n{}", heading(title));
    for line in lines.by_ref().take(MAX_LINES) {
        let _ = writeln!(out, "  {line}");
    }
    match lines.count() {
        0 => {}
        more => {
            let _ = writeln!(out, "  and {more} more: --json shows all");
        }
    }
}

/// What checks came to, on one line.
pub fn checks(checks: &CheckOutcome) -> String {
    let each: Vec<String> =
        checks.results.iter().map(|check| format!("{} {}", line(&check.name), check.status)).collect();
    let why = checks.reason.as_deref().map(|why| format!(": {}", line(why))).unwrap_or_default();
    let each = if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) };
    format!("{}{each}{why}", checks.status)
}

/// What a review decided, on one line.
pub fn review(review: &ReviewOutcome) -> String {
    let verdict = match review.decision {
        Verdict::Approved => "approved",
        Verdict::ChangesRequested => "changes requested",
        Verdict::Blocked => "blocked",
    };
    format!("{verdict}: {}", line(&review.rationale))
}

/// What the hooks of an event did, on one line.
pub fn hook(run: &HookRun) -> String {
    let blocked = run.blocked_reason.as_deref().map(|why| format!(", stopped it: {}", line(why))).unwrap_or_default();
    format!("{}  {}{blocked}", run.event_name, count(run.records.len(), "hook"))
}

/// Tokens of several calls, on one line.
pub fn tokens(totals: &UsageTotals) -> String {
    let tokens = &totals.tokens;
    format!(
        "{} in {} ({} in, {} out, {} read from the cache, {} written to it)",
        tokens.total,
        count(number(totals.calls), "call"),
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write,
    )
}

fn number(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
