//! From the chosen roles to workers, tasks and the edges between them.

use brain_journal::{Phase, PlannedWorker, RunPlan, TodoDependency, TodoItem};
use brain_packet::{RoleName, TaskStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::roles::Catalogue;
use crate::route::{Chosen, Route};

/// What plans by rule calls itself in records and reports.
pub const SOURCE: &str = "heuristic";

/// One worker of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerPlan {
    /// The role.
    pub role: RoleName,
    /// `support` or `primary`.
    pub phase: PlanPhase,
    /// Why it takes part.
    pub reason: String,
    /// The task that it works on.
    pub todo: String,
    /// Support roles whose results it sees: for the primary, all of them.
    pub after: Vec<RoleName>,
    /// Read globs that its manifest asks for.
    pub reads: Vec<String>,
}

/// The part that a worker plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlanPhase {
    /// It prepares the primary's work.
    Support,
    /// It answers.
    Primary,
}

impl From<PlanPhase> for Phase {
    fn from(phase: PlanPhase) -> Self {
        match phase {
            PlanPhase::Support => Phase::Support,
            PlanPhase::Primary => Phase::Primary,
        }
    }
}

/// What Brain means to do about a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// What was asked.
    pub request: String,
    /// How it was planned: `heuristic`.
    pub source: String,
    /// The workers, the primary last.
    pub workers: Vec<WorkerPlan>,
    /// What the request calls for and this run cannot do, and what it refers to and is not there.
    pub missing: Vec<String>,
}

impl Plan {
    /// Plans the chosen roles.
    pub fn new(request: &str, route: Route, catalogue: &Catalogue) -> Self {
        let manifest = |role: &RoleName| catalogue.iter().map(|r| &r.manifest).find(|m| m.name == *role);
        let support: Vec<RoleName> = route.support.iter().map(|c| c.role.clone()).collect();
        let worker = |chosen: &Chosen, phase, after| WorkerPlan {
            role: chosen.role.clone(),
            phase,
            reason: chosen.reason.clone(),
            todo: todo_id(chosen.role.as_str()),
            after,
            reads: manifest(&chosen.role).map(|m| m.files.read.clone()).unwrap_or_default(),
        };
        let mut workers: Vec<WorkerPlan> = route
            .support
            .iter()
            .map(|chosen| {
                let declared = manifest(&chosen.role).map(|m| m.routing.after.clone()).unwrap_or_default();
                // A role that takes no part is not waited for.
                let after =
                    declared.into_iter().filter(|role| support.contains(role) && *role != chosen.role).collect();
                worker(chosen, PlanPhase::Support, after)
            })
            .collect();
        workers.push(worker(&route.primary, PlanPhase::Primary, support));
        Self { request: request.to_owned(), source: SOURCE.into(), workers, missing: route.missing }
    }

    /// The workers that prepare.
    pub fn support(&self) -> &[WorkerPlan] {
        self.workers.split_last().map_or(&[], |(_, support)| support)
    }

    /// The worker that answers; none only in a plan that was made by hand.
    pub fn primary(&self) -> Option<&WorkerPlan> {
        self.workers.last()
    }

    /// The tasks, all pending.
    pub fn todos(&self) -> Vec<TodoItem> {
        self.workers
            .iter()
            .map(|worker| TodoItem {
                id: worker.todo.clone(),
                title: title(worker.role.as_str(), worker.phase),
                role: worker.role.clone(),
                status: TaskStatus::Pending,
                reason: Some(worker.reason.clone()),
                summary: None,
            })
            .collect()
    }

    /// The edges between the tasks.
    pub fn dependencies(&self) -> Vec<TodoDependency> {
        self.workers
            .iter()
            .flat_map(|worker| {
                worker.after.iter().map(|role| TodoDependency {
                    from_todo_id: todo_id(role.as_str()),
                    to_todo_id: worker.todo.clone(),
                    reason: None,
                })
            })
            .collect()
    }

    /// The plan as the journal keeps it.
    pub fn record(&self) -> Option<RunPlan> {
        let primary = self.primary()?;
        Some(RunPlan {
            primary_role: primary.role.clone(),
            workers: self
                .workers
                .iter()
                .map(|worker| PlannedWorker {
                    role: worker.role.clone(),
                    phase: worker.phase.into(),
                    goal: self.request.clone(),
                    reason: worker.reason.clone(),
                    todo_ids: vec![worker.todo.clone()],
                })
                .collect(),
            requires_review: false,
            reason: primary.reason.clone(),
            source: self.source.clone(),
        })
    }
}

/// The id of a role's task: the seed's where it has one.
fn todo_id(role: &str) -> String {
    match role {
        "librarian" => "map-context".into(),
        "designer" => "design-experience".into(),
        "dba" => "plan-data".into(),
        "security" => "assess-security".into(),
        "qa" => "verify-behavior".into(),
        "review" => "review-result".into(),
        "devops" => "handle-workspace".into(),
        other => format!("ask-{other}"),
    }
}

fn title(role: &str, phase: PlanPhase) -> String {
    let what = match role {
        "librarian" => "map the code for the request".into(),
        "security" => "look for secrets, dangerous calls and unsafe settings".into(),
        "review" => "review the pending change".into(),
        other => format!("do the {other} part"),
    };
    match phase {
        PlanPhase::Support => what,
        PlanPhase::Primary => format!("{what}, and answer"),
    }
}
