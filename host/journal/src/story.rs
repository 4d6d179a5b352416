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
use crate::list::SessionStatus;
use crate::proposal::ProposalStory;
use crate::read::{Entry, ReadLimits, Skipped, scan};
use crate::record::{Phase, Record, RunPlan, TodoDependency, TodoItem};

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
    /// Its runs, oldest first.
    pub runs: Vec<RunStory>,
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
            runs: Vec::new(),
            omitted: 0,
            truncated_records: 0,
            skipped: Skipped::default(),
        }
    }

    fn tell(&mut self, Entry { timestamp, truncated, record }: Entry) {
        self.truncated_records += u64::from(truncated.is_some());
        // What is applied afterwards is no part of the run's own time.
        let afterwards =
            matches!(record, Record::ApplyIntent { .. } | Record::ApplyCommit { .. } | Record::ApplyEnd { .. });
        let run = self.run_of(&record, timestamp);
        if !afterwards {
            run.updated = run.updated.max(timestamp);
        }
        let kept = run.tell(timestamp, record);
        self.status = run.status;
        self.omitted += u64::from(kept == Kept::No);
    }

    /// The run that a record belongs to. A `run_start` begins one, unless the open run still waits for its own: a planner
    /// may write plans and support work before it.
    fn run_of(&mut self, record: &Record, timestamp: u64) -> &mut RunStory {
        let continues = self.runs.last().is_some_and(|run| match record {
            Record::RunStart { .. } => run.prompt.is_none() && run.status == SessionStatus::Incomplete,
            // What plans comes before what ends.
            Record::ContextPlan { .. } | Record::TodoPlan { .. } => run.status == SessionStatus::Incomplete,
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

/// Whether what a record tells found room in the story.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

/// Adds an item to a list of the story if there is room.
fn keep<T>(list: &mut Vec<T>, item: T) -> Kept {
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
            summary: None,
            final_report: None,
        }
    }

    fn tell(&mut self, timestamp: u64, record: Record) -> Kept {
        match record {
            Record::RunStart { prompt, plan, project_support } => {
                self.prompt = Some(prompt);
                self.plan = plan;
                self.project_root = project_support.map(|support| support.root);
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
            Record::FinalReport { final_report } => self.final_report = Some(final_report),
            Record::RunEnd { summary } => {
                self.status = SessionStatus::Completed;
                self.summary = Some(summary);
            }
            Record::RunError { code, error } => {
                self.status = SessionStatus::Failed;
                return keep(&mut self.errors, ErrorStory { timestamp, worker: None, code, error });
            }
            Record::AgentMessage { .. }
            | Record::WorkerStart { .. }
            | Record::WorkerEnd { .. }
            | Record::RoleReceipt { .. }
            | Record::WorkerError { .. } => return self.tell_worker(timestamp, record),
            Record::ChangeSet { .. }
            | Record::ApplyIntent { .. }
            | Record::ApplyCommit { .. }
            | Record::ApplyEnd { .. } => return self.tell_proposal(timestamp, record),
        }
        Kept::Yes
    }

    fn tell_worker(&mut self, timestamp: u64, record: Record) -> Kept {
        match record {
            Record::AgentMessage { phase, worker, message } => {
                let MessageBody::Handoff(handoff) = message.body else { return Kept::Yes };
                let Some(story) = self.worker(&worker, phase, Some(&handoff.id)) else { return Kept::No };
                story.goal = Some(handoff.task.goal);
                story.granted = handoff.task.context_refs;
            }
            Record::WorkerStart { phase, worker, goal, handoff_id, .. } => {
                let Some(story) = self.worker(&worker, phase, Some(&handoff_id)) else { return Kept::No };
                story.goal = Some(goal);
                story.started = Some(timestamp);
            }
            Record::WorkerEnd { phase, worker, result, receipt } => {
                let Some(story) = self.worker(&worker, phase, Some(&result.handoff_id)) else { return Kept::No };
                // A journal from before there was a record for receipts has it here.
                if !receipt.is_null() {
                    story.receipt = receipt;
                }
                story.ended = Some(timestamp);
                story.take(result);
            }
            Record::RoleReceipt { phase, worker, handoff_id, receipt } => {
                let Some(story) = self.worker(&worker, phase, Some(&handoff_id)) else { return Kept::No };
                story.receipt = receipt;
            }
            Record::WorkerError { phase, worker, handoff_id, code, error } => {
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

    fn tell_proposal(&mut self, timestamp: u64, record: Record) -> Kept {
        if let Record::ChangeSet { phase, worker, handoff_id, .. } = &record {
            let Some(story) = self.worker(worker, *phase, Some(handoff_id)) else { return Kept::No };
            story.proposal = ProposalStory::begun_by(record);
            return Kept::Yes;
        }
        let worker = match &record {
            Record::ApplyIntent { worker, .. }
            | Record::ApplyCommit { worker, .. }
            | Record::ApplyEnd { worker, .. } => worker.clone(),
            _ => return Kept::Yes,
        };
        // The latest proposal of the role.
        let of_role = self.workers.iter_mut().rev().filter(|story| story.role == worker);
        let Some(proposal) = of_role.filter_map(|story| story.proposal.as_mut()).next() else { return Kept::No };
        if proposal.tell(timestamp, record) { Kept::Yes } else { Kept::No }
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
