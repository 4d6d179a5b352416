//! One record of a journal on one line.

use brain_journal::{DispatchPhase, Entry, Record, ToolEvent, UsageTotals};
use brain_packet::RoleName;
use brain_packet::message::MessageKind;

use super::events::{checks, hook, review, tokens};
use super::session::time;
use super::style::{count, line, status};

/// Time, type, and what the record says in short.
pub fn record(entry: &Entry) -> String {
    let cut = if entry.truncated.is_some() { " (was cut)" } else { "" };
    format!("{}  {:<22} {}{cut}\n", time(entry.timestamp), entry.record.type_name(), said(&entry.record))
}

fn said(record: &Record) -> String {
    match record {
        Record::Journal(header) => format!("version {}, by Brain {}", header.version, line(&header.brain)),
        Record::RunStart(start) => line(&start.prompt),
        Record::RunEnd(end) => line(&end.summary),
        Record::RunError { error, code, will_fallback, .. } => {
            let next = if *will_fallback { "; another model is tried" } else { "" };
            format!("{}{}{next}", line(error), coded(code.as_deref()))
        }
        Record::ContextPlan { context } => count(context.child_context_ids.len(), "task"),
        Record::TodoPlan { todos, .. } => count(todos.len(), "task"),
        Record::TodoUpdate { status: now, todo_ids, .. } => format!("{} {}", line(&todo_ids.join(", ")), status(*now)),
        Record::AgentMessage { worker, message, .. } => match message.kind() {
            MessageKind::Handoff => format!("to {worker}"),
            _ => format!("from {worker}"),
        },
        Record::WorkerStart { worker, goal, .. } => format!("{worker}  {}", line(goal)),
        Record::WorkerEnd { worker, result, .. } => match result {
            Some(result) => format!("{worker} {}  {}", status(result.progress.status), line(&result.summary)),
            None => worker.to_string(),
        },
        Record::WorkerError { worker, error, code, .. } => {
            format!("{worker}  {}{}", line(error), coded(code.as_deref()))
        }
        Record::RoleReceipt { worker, .. } => worker.to_string(),
        Record::ChangeSet { worker, files, .. } => format!("{worker} proposes to change {files} files"),
        Record::ApplyIntent { worker, files, .. } => format!("{worker}  {files} files"),
        Record::ApplyCommit { worker, .. } => worker.to_string(),
        Record::ApplyEnd { worker, outcome, .. } => format!("{worker}  {outcome:?}").to_lowercase(),
        Record::FinalReport { final_report, .. } => {
            line(&final_report.get("status").and_then(|word| word.as_str()).unwrap_or_default().replace('_', " "))
        }
        other => event(other),
    }
}

fn event(record: &Record) -> String {
    match record {
        Record::ClarificationRequest(request) => line(&request.clarification.question),
        Record::DynamicDispatch(sent) => match sent.phase {
            DispatchPhase::Request => {
                format!("{} is asked  {}", sent.role, line(sent.goal.as_deref().unwrap_or_default()))
            }
            DispatchPhase::Result => {
                format!("{} answers  {}", sent.role, line(sent.summary.as_deref().unwrap_or_default()))
            }
        },
        Record::ExecutionPlanReview(plan) => format!("{} by {}", plan.status, plan.approver),
        Record::ToolApprovalDecision(call) => {
            format!("{}  {} by {}", line(&call.tool_name), call.decision, call.approver)
        }
        Record::ToolExecutionSummary(call) => {
            let how = match (call.event, call.is_error) {
                (ToolEvent::Start, _) => "begins",
                (ToolEvent::End, Some(true)) => "failed",
                (ToolEvent::End, _) => "is done",
            };
            format!("{} {how}", line(&call.tool_name))
        }
        Record::CheckSummary(summary) => checks(&summary.outcome),
        Record::ReviewArtifactsSummary(shown) => count(shown.changed_files.len(), "changed file"),
        Record::ReviewDecision(decision) => review(&decision.outcome),
        Record::FixIteration(round) => format!("round {}, since {}", round.iteration, round.trigger),
        Record::PatchSummary(patch) => count(patch.changes.changed_files.len(), "changed file"),
        Record::ToolCallCount(calls) => format!("{} calls, {} failed", calls.total, calls.failed),
        Record::TokenUsage(usage) => {
            let role = usage.role.as_ref().map_or("", RoleName::as_str);
            let mut totals = UsageTotals::default();
            totals.add(usage.usage);
            format!("{role} {}  {}", line(usage.model_id.as_deref().unwrap_or_default()), tokens(&totals))
        }
        Record::Handoff(brief) => line(&brief.summary),
        other => other.as_hook().map(hook).unwrap_or_default(),
    }
}

fn coded(code: Option<&str>) -> String {
    code.map(|code| format!(" ({})", line(code))).unwrap_or_default()
}
