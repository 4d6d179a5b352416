//! A plan that was not run: a tree of its phases, workers and tasks.

use std::fmt::Write as _;

use brain_orchestrator::{Clarification, Plan, PlanPhase, WorkerPlan};

use super::report::{plain, writes};
use super::style::{faint, heading, line};

/// A plan that was not run.
pub fn plan(plan: &Plan) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", heading("Plan (nothing was run)"));
    let _ = writeln!(out, "Request   {}", line(&plan.request));
    let sure = plan.confidence.map(|sure| format!(", {:.0} % sure", sure * 100.0)).unwrap_or_default();
    let _ = writeln!(out, "Planned   by {}{sure}, mode {}: {}", by(plan), plan.mode.as_str(), line(&plan.reason));
    if let Some(question) = &plan.clarification {
        out.push_str(&clarification(question));
        return out;
    }
    for phase in [PlanPhase::Support, PlanPhase::Primary, PlanPhase::Review] {
        let workers: Vec<&WorkerPlan> = plan.of(phase).map(|(_, worker)| worker).collect();
        if let Some((last, first)) = workers.split_last() {
            let _ = writeln!(out, "{}", title(phase, plan));
            first.iter().for_each(|worker| put(&mut out, plan, worker, "├─", "│ "));
            put(&mut out, plan, last, "└─", "  ");
        }
    }
    plain(&mut out, "Missing", &plan.missing);
    out
}

fn by(plan: &Plan) -> &'static str {
    match plan.source.as_str() {
        "router-brain" => "a model",
        "operator" => "the operator",
        _ => "rule",
    }
}

fn title(phase: PlanPhase, plan: &Plan) -> String {
    match phase {
        PlanPhase::Support => format!("support, at most {} side by side", plan.limits.max_parallel),
        PlanPhase::Primary => "answers".into(),
        PlanPhase::Review => "reviews what was changed".into(),
    }
}

fn put(out: &mut String, plan: &Plan, worker: &WorkerPlan, branch: &str, below: &str) {
    let _ = writeln!(out, "{branch} {}   {}", worker.role, faint(&line(&worker.reason)));
    if worker.goal != plan.request {
        let _ = writeln!(out, "{below}   goal: {}", line(&worker.goal));
    }
    for todo in plan.todos_of(worker) {
        let waits: Vec<&str> = plan
            .dependencies
            .iter()
            .filter(|edge| edge.to_todo_id == todo.id)
            .map(|edge| edge.from_todo_id.as_str())
            .collect();
        let waits = if waits.is_empty() { String::new() } else { format!("   after {}", waits.join(", ")) };
        let _ = writeln!(out, "{below}   {}: {}{}", todo.id, line(&todo.title), faint(&waits));
    }
    let reads = if worker.reads.is_empty() { "nothing".into() } else { line(&worker.reads.join(" ")) };
    let writes = match (worker.writes.as_slice(), worker.write_grant.as_slice()) {
        ([], _) => String::new(),
        (asked, []) => format!("; to write {}, of which it is granted nothing", line(&asked.join(" "))),
        (asked, grant) => format!("; to write {}, and is granted {}", line(&asked.join(" ")), writes(grant)),
    };
    let after: Vec<&str> = worker.after.iter().map(|role| role.as_str()).collect();
    let after = if after.is_empty() { String::new() } else { format!("; sees the results of {}", after.join(", ")) };
    let _ = writeln!(out, "{below}   {}", faint(&format!("asks to read {reads}{writes}{after}")));
}

/// A question that is asked back.
fn clarification(question: &Clarification) -> String {
    format!("{}\n  {}\n{}", heading("The request says too little"), line(&question.question), options(question))
}

/// The options of a question, numbered as an answer may name them.
pub fn options(question: &Clarification) -> String {
    let mut out = String::new();
    for (n, option) in question.options.iter().enumerate() {
        let _ = writeln!(out, "  {}. {}: {}", n + 1, line(&option.label), line(&option.description));
    }
    out
}
