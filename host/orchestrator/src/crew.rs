//! The workers of one run: each called when those that it waits for are done, with their results and nothing else of them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use brain_changes::ChangeSet;
use brain_journal::{Record, TodoItem};
use brain_packet::{ContextRef, ContextRefKind, TaskStatus};
use brain_plan::{Plan, PlanPhase, WorkerPlan};
use brain_sandbox::Role;

use crate::checking::{self, Checked};
use crate::error::RunError;
use crate::git::{ChangedFile, Changes};
use crate::report::Fault;
use crate::run::{Event, Orchestrator};
use crate::schedule::{Outcome, run_jobs};
use crate::worker::{Bench, ContextFile, Git, Job, Worked};

/// The workers of one run.
pub(crate) struct Crew<'a> {
    pub orchestrator: &'a Orchestrator,
    pub bench: Bench<'a>,
    pub plan: &'a Plan,
    pub loaded: Vec<Result<Role, Fault>>,
    pub named: Vec<ContextRef>,
    pub shared: Vec<ContextFile>,
    pub watch: &'a (dyn Fn(Event) + Sync),
}

impl Crew<'_> {
    /// Runs the support workers, in the order that their edges ask for.
    pub(crate) fn support(&self) -> Result<Vec<Worked>, RunError> {
        let support: Vec<&WorkerPlan> = self.plan.of(PlanPhase::Support).map(|(_, worker)| worker).collect();
        let done: Mutex<Vec<Option<Worked>>> = Mutex::new(support.iter().map(|_| None).collect());
        let upstream = |i: usize| -> Vec<usize> {
            let after = support.get(i).map(|worker| worker.after.as_slice()).unwrap_or_default();
            after.iter().filter_map(|role| support.iter().position(|other| other.role == *role)).collect()
        };
        let outcomes = run_jobs(support.len(), self.orchestrator.config.max_parallel, upstream, |i| {
            let settled = done.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let seen: Vec<Worked> = upstream(i).into_iter().filter_map(|j| settled.get(j).cloned().flatten()).collect();
            let worked = self.call(&self.bench, i, &seen);
            let completed = worked.as_ref().is_ok_and(|w| w.result.progress.status == TaskStatus::Completed);
            if let (Ok(worked), Some(slot)) = (&worked, done.lock().unwrap_or_else(PoisonError::into_inner).get_mut(i))
            {
                *slot = Some(worked.clone());
            }
            (worked, completed)
        });
        outcomes
            .into_iter()
            .enumerate()
            .map(|(i, outcome)| match outcome {
                Outcome::Done(worked) => worked,
                Outcome::Blocked => self.blocked(i, "what it waits for did not complete, or waits for it"),
            })
            .collect()
    }

    pub(crate) fn primary(&self, support: &[Worked]) -> Result<Worked, RunError> {
        let primary = self.plan.of(PlanPhase::Primary).map(|(at, _)| at).next().unwrap_or_default();
        self.call(&self.bench, primary, support)
    }

    /// Has what `before` propose to change reviewed, where the plan asks for that. Each reviewer is handed the proposed change in
    /// place of the pending one, and the results of all. Where nothing is proposed there is nothing to review.
    pub(crate) fn review(&self, before: &[Worked], checked: Option<&Checked>) -> Result<Vec<Worked>, RunError> {
        let reviewers = self.plan.of(PlanPhase::Review);
        let Some(changes) = proposed(before) else {
            for (_, worker) in reviewers {
                self.nothing_to_review(worker)?;
            }
            return Ok(Vec::new());
        };
        let git = Git { tracked: Arc::clone(&self.bench.git.tracked), diff: Some(changes) };
        // It sees the files as they would be.
        let copy = checked.and_then(|checked| checked.copy.as_ref());
        let project = copy.map_or(self.bench.project, |copy| copy.root());
        let bench = Bench { git: &git, project, ..self.bench };
        let checks: Vec<ContextFile> = checked.map(|checked| checking::context(&checked.summary)).into_iter().collect();
        reviewers.map(|(at, _)| self.call_with(&bench, at, before, &checks)).collect()
    }

    fn nothing_to_review(&self, worker: &WorkerPlan) -> Result<(), RunError> {
        let summary = "nothing was changed, so there is nothing to review";
        let todos: Vec<TodoItem> = self
            .plan
            .todos_of(worker)
            .map(|todo| TodoItem { status: TaskStatus::Completed, summary: Some(summary.into()), ..todo.clone() })
            .collect();
        self.bench.journal.append(&Record::TodoUpdate {
            phase: worker.phase.into(),
            role: Some(worker.role.clone()),
            status: TaskStatus::Completed,
            todo_ids: worker.todo_ids.clone(),
            todos,
            summary: Some(summary.into()),
            error: None,
        })?;
        Ok(())
    }

    /// Calls one worker with the results of those it waits for.
    fn call(&self, bench: &Bench<'_>, index: usize, seen: &[Worked]) -> Result<Worked, RunError> {
        self.call_with(bench, index, seen, &[])
    }

    /// As [`Self::call`], with more context files.
    fn call_with(
        &self,
        bench: &Bench<'_>,
        index: usize,
        seen: &[Worked],
        more: &[ContextFile],
    ) -> Result<Worked, RunError> {
        let (Some(worker), Some(Ok(role))) = (self.plan.workers.get(index), self.loaded.get(index)) else {
            return self.not_loaded(index);
        };
        if self.orchestrator.cancel.is_cancelled() {
            return self.blocked(index, "the run was interrupted");
        }
        (self.watch)(Event::Started(worker.role.clone(), worker.phase));
        let worked = self.with_job(index, role, seen, more, |job| bench.work(job))?;
        let wall = worked.report.receipt.as_ref().map_or(0.0, |receipt| receipt.wall_ms);
        (self.watch)(Event::Ended(worker.role.clone(), worked.report.status, wall));
        Ok(worked)
    }

    fn blocked(&self, index: usize, reason: &str) -> Result<Worked, RunError> {
        match self.loaded.get(index) {
            Some(Ok(role)) => self.with_job(index, role, &[], &[], |job| self.bench.blocked(job, reason)),
            _ => self.not_loaded(index),
        }
    }

    fn with_job(
        &self,
        index: usize,
        role: &Role,
        seen: &[Worked],
        more: &[ContextFile],
        then: impl FnOnce(&Job<'_>) -> Result<Worked, RunError>,
    ) -> Result<Worked, RunError> {
        let Some(worker) = self.plan.workers.get(index) else {
            return self.not_loaded(index);
        };
        let installed = self.orchestrator.catalogue.get(worker.role.as_str())?;
        let mut context = self.shared.clone();
        context.extend(seen.iter().map(|worked| ContextFile {
            path: format!("results/{}.json", worked.report.role),
            kind: ContextRefKind::Summary,
            label: format!("the result of {}", worked.report.role),
            content: serde_json::to_vec_pretty(&worked.result).unwrap_or_default(),
        }));
        context.extend_from_slice(more);
        then(&Job {
            role,
            manifest: &installed.manifest,
            phase: worker.phase,
            goal: &worker.goal,
            todos: self.plan.todos_of(worker).cloned().collect(),
            named: self.named.clone(),
            context,
        })
    }

    /// A role that could not be loaded takes no part; the report says why.
    fn not_loaded(&self, index: usize) -> Result<Worked, RunError> {
        let Some(worker) = self.plan.workers.get(index) else {
            return Err(RunError::Interrupted);
        };
        let fault = match self.loaded.get(index) {
            Some(Err(fault)) => fault.clone(),
            _ => Fault { code: "role.load".into(), message: "it was not loaded".into(), remedy: None },
        };
        let todos: Vec<TodoItem> = self.plan.todos_of(worker).cloned().collect();
        let worked = self.bench.unloaded(&worker.role, worker.phase, &worker.goal, &todos, fault)?;
        (self.watch)(Event::Ended(worker.role.clone(), worked.report.status, 0.0));
        Ok(worked)
    }
}

/// What workers propose, as the change that a reviewer is handed; none where they propose nothing.
fn proposed(workers: &[Worked]) -> Option<Changes> {
    let proposing: Vec<&Worked> = workers.iter().filter(|worked| !worked.proposed.is_empty()).collect();
    let roles: Vec<&str> = proposing.iter().map(|worked| worked.report.role.as_str()).collect();
    let mut changes = Changes { of: format!("the change that {} proposed", roles.join(" and ")), ..Changes::default() };
    for set in proposing.iter().map(|worked| &worked.proposed) {
        for change in &set.changes {
            let one = ChangeSet { changes: vec![change.clone()], ..ChangeSet::default() };
            changes.files.push(ChangedFile {
                paths: change.from.iter().chain([&change.path]).cloned().collect::<BTreeSet<_>>(),
                patch: one.to_patch().into_bytes(),
            });
            if change.diff.is_none() && change.base != change.new {
                changes.cut.push(format!("{} is not shown as text", change.path));
            } else if change.diff_cut {
                changes.cut.push(format!("the diff of {} is cut", change.path));
            }
        }
    }
    (!proposing.is_empty()).then_some(changes)
}
