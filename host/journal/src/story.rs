//! What a session's journal tells: its runs, their plans, workers, tasks, errors and reports, from the records alone.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;

use brain_packet::message::MessageBody;
use brain_packet::{
    ContextRef, HandoffId, Note, ReviewDecision, RoleName, SessionId, Severity, TaskStatus, WorkerResult,
};
use serde::Serialize;
use serde_json::Value;

use crate::error::JournalError;
use crate::events::RunEvents;
use crate::list::SessionStatus;
use crate::proposal::ProposalStory;
use crate::read::{Entry, ReadLimits, Skipped, scan};
use crate::record::{HandoffBrief, Phase, Record, RunPlan, TodoDependency, TodoItem, UsagePhase};

/// Most runs of a session, and most workers, tasks and errors of a run, that a story keeps. Of more runs the latest are
/// kept, of the others the first.
pub const MAX_STORY_ITEMS: usize = 4_096;

/// A session as its journal tells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStory {
    /// Its id.
    pub session_id: SessionId,
    /// How its latest run ended.
    pub status: SessionStatus,
    /// The version of the form that its file says it has; absent in a file from before there was one.
    pub journal_version: Option<u32>,
    /// Its runs, oldest first.
    pub runs: Vec<RunStory>,
    /// What it came to, condensed for another one: the latest such brief.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff: Option<HandoffStory>,
    /// How many runs, and workers, tasks and errors in runs, are left out since there are more than [`MAX_STORY_ITEMS`].
    pub omitted: u64,
    /// How many records were cut because they were too large.
    pub truncated_records: u64,
    /// What of the journal was passed over.
    pub skipped: Skipped,
}

/// One run of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStory {
    /// What was asked; absent when the record of the start is missing.
    pub prompt: Option<String>,
    /// Where.
    pub project_root: Option<String>,
    /// How it ended.
    pub status: SessionStatus,
    /// Time of its first record, in milliseconds since the epoch.
    pub started: u64,
    /// Time of its last record, in milliseconds since the epoch.
    pub updated: u64,
    /// What Brain decided to do.
    pub plan: Option<RunPlan>,
    /// What Brain's own task started from.
    pub context_refs: Vec<ContextRef>,
    /// The tasks, with the status that they came to.
    pub todos: Vec<TodoItem>,
    /// Which task had to wait for which.
    pub dependencies: Vec<TodoDependency>,
    /// The workers, in the order in which they were handed their work.
    pub workers: Vec<WorkerStory>,
    /// Every error, in order.
    pub errors: Vec<ErrorStory>,
    /// What else happened: questions, approvals, tools, checks, reviews, hooks, tokens.
    #[serde(flatten)]
    pub events: RunEvents,
    /// The answer in short.
    pub summary: Option<String>,
    /// The report as the operator was shown it.
    pub final_report: Option<Value>,
}

/// One worker's part in a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerStory {
    /// Its role.
    pub role: RoleName,
    /// In which phase it worked.
    pub phase: Phase,
    /// Its handoff.
    pub handoff_id: Option<HandoffId>,
    /// The goal of its handoff.
    pub goal: Option<String>,
    /// What the handoff granted to see.
    pub granted: Vec<ContextRef>,
    /// How it ended; absent while it has not.
    pub status: Option<TaskStatus>,
    /// Its own words.
    pub summary: Option<String>,
    /// How many findings it reported.
    pub findings: FindingCounts,
    /// What it points at or has produced.
    pub artifacts: Vec<ContextRef>,
    /// The risks it named.
    pub risks: Vec<String>,
    /// Its verdict, when it reviewed.
    pub review: Option<ReviewDecision>,
    /// What Brain repaired in its reply.
    pub notes: Vec<Note>,
    /// What the host says about its failure.
    pub error: Option<String>,
    /// What the call was granted, used and cost; `null` without one.
    pub receipt: Value,
    /// What it proposes to change in the project, and what became of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalStory>,
    /// When it was started, in milliseconds since the epoch.
    pub started: Option<u64>,
    /// When it ended, in milliseconds since the epoch.
    pub ended: Option<u64>,
}

/// Findings by how much they matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FindingCounts {
    /// All of them.
    pub total: usize,
    /// Worth stopping for.
    pub high: usize,
    /// Worth fixing.
    pub medium: usize,
    /// Worth knowing.
    pub low: usize,
}

/// Something that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorStory {
    /// When, in milliseconds since the epoch.
    pub timestamp: u64,
    /// Whose work; absent for the run itself.
    pub worker: Option<RoleName>,
    /// Stable code.
    pub code: Option<String>,
    /// In words.
    pub error: String,
}

impl SessionStory {
    /// Tells the story of a session below `home`.
    ///
    /// It keeps what `brain sessions show` can render, not the records; at most what
    /// [`MAX_FILE_BYTES`](crate::MAX_FILE_BYTES) of journal can hold.
    ///
    /// # Errors
    /// `journal.not-found`, `journal.bad-id`, `journal.unreadable`.
    pub fn read(home: &Path, id: &SessionId) -> Result<Self, JournalError> {
        let mut story = Self::empty(id.clone());
        story.skipped = scan(home, id, &ReadLimits::default(), |entry| {
            story.tell(entry);
            ControlFlow::Continue(())
        })?;
        Ok(story)
    }

    /// Tells the story of records that were read before, in their order.
    #[must_use]
    pub fn from_entries(id: SessionId, entries: impl IntoIterator<Item = Entry>, skipped: Skipped) -> Self {
        let mut story = Self::empty(id);
        entries.into_iter().for_each(|entry| story.tell(entry));
        story.skipped = skipped;
        story
    }

    fn empty(session_id: SessionId) -> Self {
        Self {
            session_id,
            status: SessionStatus::Incomplete,
            journal_version: None,
            runs: Vec::new(),
            handoff: None,
            omitted: 0,
            truncated_records: 0,
            skipped: Skipped::default(),
        }
    }

    fn tell(&mut self, Entry { timestamp, truncated, record }: Entry) {
        self.truncated_records += u64::from(truncated.is_some());
        let record = match record {
            // These are about the session, and begin no run.
            Record::Journal(header) => {
                self.journal_version.get_or_insert(header.version);
                return;
            }
            Record::Handoff(brief) => {
                self.handoff = Some(HandoffStory { timestamp, fresh: true, brief });
                return;
            }
            other => other,
        };
        if let (Record::RunStart(_), Some(handoff)) = (&record, &mut self.handoff) {
            handoff.fresh = false;
        }
        // What is applied afterwards is no part of the run's own time.
        let afterwards =
            matches!(record, Record::ApplyIntent { .. } | Record::ApplyCommit { .. } | Record::ApplyEnd { .. });
        let run = self.run_of(&record, timestamp);
        if !afterwards {
            run.updated = run.updated.max(timestamp);
        }
        let kept = if afterwards { self.tell_attempt(timestamp, record) } else { run.tell(timestamp, record) };
        self.status = self.runs.last().map_or(self.status, |run| run.status);
        self.omitted += u64::from(kept == Kept::No);
    }

    /// What is told of an attempt to apply or to undo goes to the proposal that it is about, whichever run that was made in: the
    /// latest of the role that fits.
    fn tell_attempt(&mut self, timestamp: u64, record: Record) -> Kept {
        let worker = match &record {
            Record::ApplyIntent { worker, .. }
            | Record::ApplyCommit { worker, .. }
            | Record::ApplyEnd { worker, .. } => worker,
            _ => return Kept::Yes,
        };
        let is_meant = |proposal: &ProposalStory| match &record {
            Record::ApplyIntent { proposal: Some(digest), .. } => proposal.digest == *digest,
            Record::ApplyCommit { intent_id, .. } | Record::ApplyEnd { intent_id, .. } => proposal.knows(intent_id),
            _ => true,
        };
        let workers = self.runs.iter_mut().rev().flat_map(|run| run.workers.iter_mut().rev());
        let mut of_role = workers.filter(|story| story.role == *worker).filter_map(|story| story.proposal.as_mut());
        let Some(proposal) = of_role.find(|proposal| is_meant(proposal)) else { return Kept::No };
        if proposal.tell(timestamp, record) { Kept::Yes } else { Kept::No }
    }

    /// The run that a record belongs to. A `run_start` begins one, unless the open run still waits for its own: a planner
    /// may write plans and support work before it.
    fn run_of(&mut self, record: &Record, timestamp: u64) -> &mut RunStory {
        let continues = self.runs.last().is_some_and(|run| match record {
            Record::RunStart(start) => {
                let tries_again = start.attempt.is_some_and(|attempt| attempt > 1);
                run.status == SessionStatus::Incomplete && (run.prompt.is_none() || tries_again)
            }
            // What plans comes before what ends.
            record if precedes_work(record) => run.status == SessionStatus::Incomplete,
            _ => true,
        });
        if !continues {
            if self.runs.len() == MAX_STORY_ITEMS {
                self.runs.remove(0);
                self.omitted += 1;
            }
            self.runs.push(RunStory::beginning(timestamp));
        }
        let last = self.runs.len() - 1;
        &mut self.runs[last]
    }
}

/// Whether a record is made before any worker is called, so that it belongs to a run that has not ended.
fn precedes_work(record: &Record) -> bool {
    match record {
        Record::ContextPlan { .. }
        | Record::TodoPlan { .. }
        | Record::ClarificationRequest(_)
        | Record::ExecutionPlanReview(_)
        | Record::McpConnect(_)
        | Record::HookSessionStart(_)
        | Record::HookUserPromptSubmit(_) => true,
        Record::TokenUsage(usage) => usage.phase == UsagePhase::Router,
        _ => false,
    }
}

/// A brief of the session, and whether it is up to date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandoffStory {
    /// When it was made, in milliseconds since the epoch.
    pub timestamp: u64,
    /// Whether no run began since.
    pub fresh: bool,
    /// The brief.
    #[serde(flatten)]
    pub brief: HandoffBrief,
}

/// Whether what a record tells found room in the story.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Yes,
    No,
}

/// Adds an item to a list of the story if there is room.
pub(crate) fn keep<T>(list: &mut Vec<T>, item: T) -> Kept {
    if list.len() == MAX_STORY_ITEMS {
        return Kept::No;
    }
    list.push(item);
    Kept::Yes
}

impl RunStory {
    fn beginning(timestamp: u64) -> Self {
        Self {
            prompt: None,
            project_root: None,
            status: SessionStatus::Incomplete,
            started: timestamp,
            updated: timestamp,
            plan: None,
            context_refs: Vec::new(),
            todos: Vec::new(),
            dependencies: Vec::new(),
            workers: Vec::new(),
            errors: Vec::new(),
            events: RunEvents::default(),
            summary: None,
            final_report: None,
        }
    }

    fn tell(&mut self, timestamp: u64, record: Record) -> Kept {
        match record {
            Record::RunStart(start) => {
                self.prompt = Some(start.prompt);
                self.plan = start.plan.or(self.plan.take());
                self.project_root = start.project_support.map(|support| support.root).or(self.project_root.take());
                self.events.attempts = self.events.attempts.max(start.attempt.unwrap_or(1));
            }
            Record::ContextPlan { context } => self.context_refs = context.context_refs,
            Record::TodoPlan { mut todos, dependencies, .. } => {
                let all_fit = todos.len() <= MAX_STORY_ITEMS;
                todos.truncate(MAX_STORY_ITEMS);
                self.todos = todos;
                self.dependencies = dependencies;
                return if all_fit { Kept::Yes } else { Kept::No };
            }
            Record::TodoUpdate { status, todo_ids, todos, summary, .. } => {
                return self.update_todos(status, &todo_ids, todos, summary.as_deref());
            }
            Record::FinalReport { final_report, .. } => self.final_report = Some(final_report),
            Record::RunEnd(end) => {
                self.status = SessionStatus::Completed;
                self.summary = Some(end.summary);
                if !end.final_report.is_null() {
                    self.final_report.get_or_insert(end.final_report);
                }
                self.events.at_the_end(end.patch, end.checks, end.review_decision);
                return self.take_results(end.worker_results);
            }
            Record::RunError { code, error, will_fallback, .. } => {
                if !will_fallback {
                    self.status = SessionStatus::Failed;
                }
                return keep(&mut self.errors, ErrorStory { timestamp, worker: None, code, error });
            }
            Record::AgentMessage { .. }
            | Record::WorkerStart { .. }
            | Record::WorkerEnd { .. }
            | Record::RoleReceipt { .. }
            | Record::WorkerError { .. } => return self.tell_worker(timestamp, record),
            Record::ChangeSet { phase, ref worker, ref handoff_id, .. } => {
                let Some(story) = self.worker(worker, phase, Some(handoff_id)) else { return Kept::No };
                story.proposal = ProposalStory::begun_by(record);
            }
            // These are about a proposal of any run.
            Record::ApplyIntent { .. } | Record::ApplyCommit { .. } | Record::ApplyEnd { .. } => {}
            other => return self.events.tell(timestamp, other),
        }
        Kept::Yes
    }

    /// Results that stand in the record of the end, of workers that have no record of their own.
    fn take_results(&mut self, results: Vec<WorkerResult>) -> Kept {
        let mut kept = Kept::Yes;
        for result in results {
            let known = self.workers.iter().any(|worker| worker.handoff_id.as_ref() == Some(&result.handoff_id));
            // Whose work it was stands in the handoff alone, so a result without one is told by nobody.
            if !known {
                kept = Kept::No;
            } else if let Some(worker) = self
                .workers
                .iter_mut()
                .find(|worker| worker.handoff_id.as_ref() == Some(&result.handoff_id) && worker.status.is_none())
            {
                worker.take(result);
            }
        }
        kept
    }

    fn tell_worker(&mut self, timestamp: u64, record: Record) -> Kept {
        match record {
            Record::AgentMessage { phase, worker, message, .. } => {
                let MessageBody::Handoff(handoff) = message.body else { return Kept::Yes };
                let Some(story) = self.worker(&worker, phase, Some(&handoff.id)) else { return Kept::No };
                story.goal = Some(handoff.task.goal);
                story.granted = handoff.task.context_refs;
            }
            Record::WorkerStart { phase, worker, goal, handoff_id, .. } => {
                let Some(story) = self.worker(&worker, phase, handoff_id.as_ref()) else { return Kept::No };
                story.goal = Some(goal);
                story.started = Some(timestamp);
            }
            Record::WorkerEnd { phase, worker, result, receipt, .. } => {
                let handoff = result.as_ref().map(|result| result.handoff_id.clone());
                let Some(story) = self.worker(&worker, phase, handoff.as_ref()) else { return Kept::No };
                // A journal from before there was a record for receipts has it here.
                if !receipt.is_null() {
                    story.receipt = receipt;
                }
                story.ended = Some(timestamp);
                match result {
                    Some(result) => story.take(result),
                    None => story.status = Some(TaskStatus::Completed),
                }
            }
            Record::RoleReceipt { phase, worker, handoff_id, receipt } => {
                let Some(story) = self.worker(&worker, phase, Some(&handoff_id)) else { return Kept::No };
                story.receipt = receipt;
            }
            Record::WorkerError { phase, worker, handoff_id, code, error, .. } => {
                if let Some(story) = self.worker(&worker, phase, handoff_id.as_ref()) {
                    story.error = Some(error.clone());
                    story.status.get_or_insert(TaskStatus::Failed);
                    story.ended.get_or_insert(timestamp);
                }
                return keep(&mut self.errors, ErrorStory { timestamp, worker: Some(worker), code, error });
            }
            _ => {}
        }
        Kept::Yes
    }

    fn update_todos(
        &mut self,
        status: TaskStatus,
        ids: &[String],
        updated: Vec<TodoItem>,
        summary: Option<&str>,
    ) -> Kept {
        let ids: HashSet<&str> = ids.iter().map(String::as_str).collect();
        for todo in self.todos.iter_mut().filter(|todo| ids.contains(todo.id.as_str())) {
            todo.status = status;
            if let Some(summary) = summary {
                todo.summary = Some(summary.to_owned());
            }
        }
        let mut place: HashMap<String, usize> =
            self.todos.iter().enumerate().map(|(at, todo)| (todo.id.clone(), at)).collect();
        let mut kept = Kept::Yes;
        for item in updated {
            match place.get(&item.id) {
                Some(at) => self.todos[*at] = item,
                None if self.todos.len() == MAX_STORY_ITEMS => kept = Kept::No,
                None => {
                    place.insert(item.id.clone(), self.todos.len());
                    self.todos.push(item);
                }
            }
        }
        kept
    }

    /// The worker of a handoff; without a handoff, the latest one of that role and phase. A new one where there is none,
    /// if there is room.
    fn worker(&mut self, role: &RoleName, phase: Phase, handoff: Option<&HandoffId>) -> Option<&mut WorkerStory> {
        let known = self.workers.iter().rposition(|worker| match handoff {
            Some(id) => worker.handoff_id.as_ref() == Some(id),
            None => worker.role == *role && worker.phase == phase,
        });
        match known {
            Some(at) => self.workers.get_mut(at),
            None => match keep(&mut self.workers, WorkerStory::new(role.clone(), phase, handoff.cloned())) {
                Kept::Yes => self.workers.last_mut(),
                Kept::No => None,
            },
        }
    }
}

impl WorkerStory {
    fn new(role: RoleName, phase: Phase, handoff_id: Option<HandoffId>) -> Self {
        Self {
            role,
            phase,
            handoff_id,
            goal: None,
            granted: Vec::new(),
            status: None,
            summary: None,
            findings: FindingCounts::default(),
            artifacts: Vec::new(),
            risks: Vec::new(),
            review: None,
            notes: Vec::new(),
            error: None,
            receipt: Value::Null,
            proposal: None,
            started: None,
            ended: None,
        }
    }

    fn take(&mut self, result: WorkerResult) {
        let count = |wanted| result.findings.iter().filter(|finding| finding.severity == wanted).count();
        self.findings = FindingCounts {
            total: result.findings.len(),
            high: count(Severity::High),
            medium: count(Severity::Medium),
            low: count(Severity::Low),
        };
        self.status = Some(result.progress.status);
        self.summary = Some(result.summary);
        self.artifacts = result.artifacts;
        self.risks = result.risks;
        self.review = result.review;
        self.notes = result.notes;
    }
}
