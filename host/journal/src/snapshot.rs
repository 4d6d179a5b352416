//! A session in short, as context for another one: what was asked and what came of it, never a transcript.
//!
//! The seed's form and bounds. A journal of any length is skimmed once: of its records those are looked into that the last
//! [`MAX_SNAPSHOT_ENTRIES`] entries need.

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;

use brain_packet::{RoleName, SessionId, TaskStatus, Verdict};
use jiff::Timestamp;
use serde::Serialize;

use crate::error::JournalError;
use crate::layout::{self, SessionPaths};
use crate::limits::{MAX_INLINE_SESSION_CHARS, MAX_SESSION_FIELD_CHARS};
use crate::list::SessionStatus;
use crate::read::{ReadLimits, Seen, Skipped, Span, read_line, skim_file, unreadable};
use crate::record::{CheckResult, CheckStatus, HandoffBrief, Phase, Record, RunEnd, RunStart};
use crate::story::HandoffStory;

/// Most entries of a snapshot: the last ones.
pub const MAX_SNAPSHOT_ENTRIES: usize = 24;

/// How much of a journal is skimmed for a snapshot, in bytes.
pub const MAX_SNAPSHOT_FILE_BYTES: u64 = 1 << 30;

/// Most lines, and bytes of lines, that are looked into for the entries. More than the entries need, since some lines turn out
/// to be none, and tasks that changed several times have one entry.
const MAX_LINES: usize = 512;
const MAX_LINES_BYTES: usize = 16 * 1024 * 1024;

/// Characters of what an entry tells.
const RUN_PROMPT: usize = 600;
const WORKER_SUMMARY: usize = 2_000;
const TITLE: usize = 600;
const REASON: usize = 800;
const FOCUS: usize = 400;
const SMALL: usize = 1_200;

/// A session in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionContext {
    /// Its id.
    pub session_id: SessionId,
    /// How its latest run ended.
    pub status: SessionStatus,
    /// When its last record was made, in milliseconds since the epoch.
    pub updated: u64,
    /// The first prompt.
    pub prompt: Option<String>,
    /// The latest prompt, when it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_prompt: Option<String>,
    /// The latest summary.
    pub summary: Option<String>,
    /// What happened, the last [`MAX_SNAPSHOT_ENTRIES`].
    pub entries: Vec<ContextEntry>,
    /// Whether there were more.
    pub truncated: bool,
    /// The latest brief for another session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff: Option<HandoffStory>,
    /// What of the journal was passed over. Lines that the entries do not need are not looked into.
    pub skipped: Skipped,
}

/// Something that happened in a session. Texts are clipped to what the snapshot has of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum ContextEntry {
    /// A run, where it ended.
    Run {
        /// How.
        status: SessionStatus,
        /// The role that answered.
        role: Option<RoleName>,
        /// What was asked, on one line.
        prompt: Option<String>,
        /// The answer, or the error.
        summary: Option<String>,
    },
    /// A worker that ended.
    Worker {
        /// In which phase.
        phase: Phase,
        /// Its role.
        role: RoleName,
        /// How it ended.
        status: TaskStatus,
        /// Its own words.
        summary: Option<String>,
        /// What failed.
        error: Option<String>,
    },
    /// A task, as it is now.
    Todo {
        /// Its id.
        id: String,
        /// In words.
        title: String,
        /// How far it is.
        status: TaskStatus,
        /// What came of it.
        summary: Option<String>,
        /// What failed.
        error: Option<String>,
    },
    /// Checks.
    Check {
        /// What they came to.
        status: CheckStatus,
        /// Why.
        reason: Option<String>,
        /// Each as `name:status:exit`.
        results: Vec<String>,
    },
    /// A review.
    Review {
        /// The verdict.
        decision: Verdict,
        /// Why.
        rationale: Option<String>,
        /// What has to change, in one text.
        required: Option<String>,
        /// What blocks, in one text.
        blocked: Option<String>,
    },
    /// A brief for another session.
    Handoff {
        /// What it is about.
        focus: Option<String>,
        /// The brief.
        summary: String,
    },
    /// Something that failed outside of any run, or before another model was tried.
    Error {
        /// In words.
        error: String,
    },
}

impl SessionContext {
    /// Reads a session in short.
    ///
    /// # Errors
    /// `journal.not-found`, `journal.bad-id`, `journal.unreadable`.
    pub fn read(home: &Path, id: &SessionId) -> Result<Self, JournalError> {
        let paths = SessionPaths::new(home, id)?;
        Self::of(id, &paths).map_err(|source| unreadable(home, id, &paths, source))
    }

    fn of(id: &SessionId, paths: &SessionPaths) -> std::io::Result<Self> {
        let limits = ReadLimits { file_bytes: MAX_SNAPSHOT_FILE_BYTES, ..ReadLimits::default() };
        let mut wanted = Wanted::default();
        let skipped = skim_file(paths.journal(), &limits, |line| {
            wanted.note(line.kind, line.timestamp, line.span());
            Seen::Fine
        })?;
        let file = layout::open_regular(paths.journal(), false)?;
        let mut telling = Telling::default();
        let mut context = Self {
            session_id: id.clone(),
            status: SessionStatus::Incomplete,
            updated: wanted.updated,
            prompt: None,
            latest_prompt: None,
            summary: None,
            entries: Vec::new(),
            truncated: wanted.dropped,
            handoff: None,
            skipped,
        };
        if let Some(span) = wanted.first_start
            && let Some(Record::RunStart(start)) = read_line(&file, span)?.map(|entry| entry.record)
        {
            context.prompt = Some(clip(&start.prompt, MAX_SESSION_FIELD_CHARS));
        }
        for (span, counts) in wanted.in_order() {
            match read_line(&file, span)? {
                Some(entry) if counts => telling.tell(entry.timestamp, entry.record),
                Some(entry) => telling.remember(entry.timestamp, entry.record),
                None => context.skipped.malformed += 1,
            }
        }
        telling.finish(&mut context);
        Ok(context)
    }
}

/// Which lines have to be looked into.
#[derive(Default)]
struct Wanted {
    first_start: Option<Span>,
    /// The latest start, end and brief that are not among `lines` any more.
    before: [Option<Span>; 3],
    lines: VecDeque<(Option<usize>, Span)>,
    bytes: usize,
    dropped: bool,
    updated: u64,
}

impl Wanted {
    fn note(&mut self, kind: &str, timestamp: u64, span: Span) {
        // What is applied later is no part of the session's own story.
        if !matches!(kind, "apply_intent" | "apply_commit" | "apply_end") {
            self.updated = self.updated.max(timestamp);
        }
        let keep_apart = match kind {
            "run_start" => Some(0),
            "run_end" => Some(1),
            "handoff" => Some(2),
            "run_error" | "worker_end" | "worker_error" | "todo_update" | "check_summary" | "review_decision" => None,
            _ => return,
        };
        if keep_apart == Some(0) {
            self.first_start.get_or_insert(span);
        }
        self.lines.push_back((keep_apart, span));
        self.bytes += span.bytes;
        while self.lines.len() > MAX_LINES || (self.bytes > MAX_LINES_BYTES && self.lines.len() > 1) {
            let Some((kind, span)) = self.lines.pop_front() else { break };
            self.bytes -= span.bytes;
            self.dropped = true;
            if let Some(place) = kind.and_then(|kind| self.before.get_mut(kind)) {
                *place = Some(span);
            }
        }
    }

    /// The lines to look into, in the order of the file, and whether they may make entries.
    fn in_order(&self) -> Vec<(Span, bool)> {
        let mut before: Vec<(Span, bool)> = self.before.iter().flatten().map(|span| (*span, false)).collect();
        before.sort_by_key(|(span, _)| span.offset);
        before.extend(self.lines.iter().map(|(_, span)| (*span, true)));
        before
    }
}

/// The entries, as far as they are told.
#[derive(Default)]
struct Telling {
    entries: VecDeque<ContextEntry>,
    truncated: bool,
    open: Option<(Option<String>, Option<RoleName>)>,
    status: Option<SessionStatus>,
    prompt: Option<String>,
    summary: Option<String>,
    handoff: Option<HandoffStory>,
}

impl Telling {
    /// Takes in what makes no entry any more, and matters all the same.
    fn remember(&mut self, timestamp: u64, record: Record) {
        match record {
            Record::RunStart(start) => self.start(start),
            Record::RunEnd(end) => {
                self.open = None;
                self.status = Some(SessionStatus::Completed);
                self.summary = Some(clip(&end.summary, MAX_SESSION_FIELD_CHARS));
            }
            Record::Handoff(brief) => self.brief(timestamp, brief),
            _ => {}
        }
    }

    fn tell(&mut self, timestamp: u64, record: Record) {
        match record {
            Record::RunStart(start) => self.start(start),
            Record::RunEnd(end) => self.end(&end),
            Record::RunError { error, will_fallback, .. } => self.error(&error, will_fallback),
            Record::WorkerEnd { phase, worker, result, .. } => {
                let status = result.as_ref().map_or(TaskStatus::Completed, |result| result.progress.status);
                let summary = result.map(|result| clip(&result.summary, WORKER_SUMMARY));
                self.push(ContextEntry::Worker { phase, role: worker, status, summary, error: None });
            }
            Record::WorkerError { phase, worker, error, .. } => {
                let (error, status) = (Some(clip(&error, SMALL)), TaskStatus::Failed);
                self.push(ContextEntry::Worker { phase, role: worker, status, summary: None, error });
            }
            Record::TodoUpdate { status, todos, summary, error, .. } => {
                for todo in todos {
                    let said = todo.summary.or_else(|| summary.clone());
                    self.todo(ContextEntry::Todo {
                        title: clip(&todo.title, TITLE),
                        id: todo.id,
                        status: if todo.status == TaskStatus::Pending { status } else { todo.status },
                        summary: said.as_deref().map(|text| clip(text, SMALL)),
                        error: error.as_deref().map(|text| clip(text, SMALL)),
                    });
                }
            }
            Record::CheckSummary(check) => self.push(ContextEntry::Check {
                status: check.outcome.status,
                reason: check.outcome.reason.as_deref().map(|text| clip(text, REASON)),
                results: check.outcome.results.iter().take(MAX_SNAPSHOT_ENTRIES).map(result).collect(),
            }),
            Record::ReviewDecision(review) => self.push(ContextEntry::Review {
                decision: review.outcome.decision,
                rationale: Some(clip(&review.outcome.rationale, SMALL)).filter(|text| !text.is_empty()),
                required: joined(&review.outcome.required_changes),
                blocked: joined(&review.outcome.blocking_issues),
            }),
            Record::Handoff(brief) => {
                let focus = brief.focus.as_deref().map(|text| clip(text, FOCUS));
                self.push(ContextEntry::Handoff { focus, summary: clip(&brief.summary, MAX_SESSION_FIELD_CHARS) });
                self.brief(timestamp, brief);
            }
            _ => {}
        }
    }

    fn start(&mut self, start: RunStart) {
        let tries_again = start.attempt.is_some_and(|attempt| attempt > 1);
        // A run that never said how it ended is told where the next begins.
        if !tries_again {
            self.cut_off();
        }
        self.prompt = Some(clip(&start.prompt, MAX_SESSION_FIELD_CHARS));
        let before = self.open.take().and_then(|(_, role)| role);
        let role = start.plan.map(|plan| plan.primary_role).or(start.role).or(before);
        self.open = Some((Some(clip(&one_line(&start.prompt), RUN_PROMPT)), role));
        self.status = Some(SessionStatus::Incomplete);
        if let Some(handoff) = &mut self.handoff {
            handoff.fresh = false;
        }
    }

    fn cut_off(&mut self) {
        if let Some((prompt, role)) = self.open.take() {
            self.push(ContextEntry::Run { status: SessionStatus::Incomplete, role, prompt, summary: None });
        }
    }

    fn end(&mut self, end: &RunEnd) {
        let (prompt, role) = self.open.take().unwrap_or_default();
        let summary = clip(&end.summary, MAX_SESSION_FIELD_CHARS);
        self.summary = Some(summary.clone());
        self.status = Some(SessionStatus::Completed);
        self.push(ContextEntry::Run { status: SessionStatus::Completed, role, prompt, summary: Some(summary) });
    }

    fn error(&mut self, error: &str, will_fallback: bool) {
        if !will_fallback {
            self.status = Some(SessionStatus::Failed);
        }
        match self.open.take() {
            Some((prompt, role)) if !will_fallback => {
                let summary = Some(clip(error, SMALL));
                self.push(ContextEntry::Run { status: SessionStatus::Failed, role, prompt, summary });
            }
            open => {
                self.open = open;
                self.push(ContextEntry::Error { error: clip(error, SMALL) });
            }
        }
    }

    /// One entry for each task of a run: its latest state, where it came to that.
    fn todo(&mut self, todo: ContextEntry) {
        if let ContextEntry::Todo { id, .. } = &todo {
            let since = self.entries.iter().rposition(|entry| matches!(entry, ContextEntry::Run { .. }));
            let from = since.map_or(0, |at| at + 1);
            let same = |entry: &ContextEntry| matches!(entry, ContextEntry::Todo { id: known, .. } if known == id);
            if let Some(at) = self.entries.iter().skip(from).position(same) {
                self.entries.remove(from + at);
            }
        }
        self.push(todo);
    }

    fn brief(&mut self, timestamp: u64, mut brief: HandoffBrief) {
        brief.summary = clip(&brief.summary, MAX_INLINE_SESSION_CHARS);
        self.handoff = Some(HandoffStory { timestamp, fresh: true, brief });
    }

    fn push(&mut self, entry: ContextEntry) {
        if self.entries.len() == MAX_SNAPSHOT_ENTRIES {
            self.entries.pop_front();
            self.truncated = true;
        }
        self.entries.push_back(entry);
    }

    fn finish(mut self, context: &mut SessionContext) {
        self.cut_off();
        context.status = self.status.unwrap_or(SessionStatus::Incomplete);
        context.latest_prompt = self.prompt.filter(|prompt| context.prompt.as_ref() != Some(prompt));
        context.summary = self.summary;
        context.handoff = self.handoff;
        context.truncated |= self.truncated;
        context.entries = self.entries.into();
    }
}

fn result(check: &CheckResult) -> String {
    let exit = check.exit_code.map_or_else(|| "-".to_owned(), |code| code.to_string());
    format!("{}:{}:{exit}", clip(&one_line(&check.name), 100), check.status)
}

fn joined(items: &[String]) -> Option<String> {
    (!items.is_empty()).then(|| clip(&items.join("; "), SMALL))
}

/// A text with every run of white space as one blank.
fn one_line(text: &str) -> String {
    // Of a long text the beginning is enough: what comes of it is clipped to less.
    let mut out = String::new();
    for word in text.split_whitespace().take(MAX_SESSION_FIELD_CHARS) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > 4 * MAX_SESSION_FIELD_CHARS {
            break;
        }
    }
    out
}

/// The first `max` characters, the last three of them dots where something was cut.
pub(crate) fn clip(text: &str, max: usize) -> String {
    if text.len() <= max || text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    text.chars().take(max - 3).chain("...".chars()).collect()
}

impl fmt::Display for SessionContext {
    /// The snapshot as Markdown: at most [`MAX_INLINE_SESSION_CHARS`] characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("# Session {}\n\nStatus: {}\n", self.session_id, self.status);
        let updated = i64::try_from(self.updated).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        if let Some(updated) = updated {
            text.push_str(&format!("Updated: {updated}\n"));
        }
        text.push_str(
            "A compact snapshot of the session's records: what was asked and what came of it. No worker's own transcript is in it.\n",
        );
        // Roles find what was asked and answered by these titles.
        for (title, field) in [("Request", &self.prompt), ("Request", &self.latest_prompt), ("Answer", &self.summary)] {
            if let Some(field) = field {
                text.push_str(&format!("\n## {title}\n\n{field}\n"));
            }
        }
        if !self.entries.is_empty() {
            text.push_str("\n## Records\n\n");
        }
        if self.truncated {
            text.push_str("- earlier records omitted\n");
        }
        for entry in &self.entries {
            text.push_str(&format!("- {entry}\n"));
        }
        f.write_str(&clip(&text, MAX_INLINE_SESSION_CHARS))
    }
}

impl fmt::Display for ContextEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |f: &mut fmt::Formatter<'_>, name: &str, text: Option<&str>| match text {
            Some(text) if !text.is_empty() => write!(f, "; {name}: {text}"),
            _ => Ok(()),
        };
        match self {
            Self::Run { status, role, prompt, summary } => {
                write!(f, "run {status}")?;
                part(f, "role", role.as_ref().map(RoleName::as_str))?;
                part(f, "prompt", prompt.as_deref())?;
                part(f, if *status == SessionStatus::Failed { "error" } else { "summary" }, summary.as_deref())
            }
            Self::Worker { phase, role, status, summary, error } => {
                write!(f, "worker {role} ({phase}) {}", word(*status))?;
                part(f, "summary", summary.as_deref())?;
                part(f, "error", error.as_deref())
            }
            Self::Todo { title, status, summary, error, .. } => {
                write!(f, "todo {}: {title}", word(*status))?;
                part(f, "summary", summary.as_deref())?;
                part(f, "error", error.as_deref())
            }
            Self::Check { status, reason, results } => {
                write!(f, "checks {status}")?;
                part(f, "reason", reason.as_deref())?;
                part(f, "results", Some(&results.join(", ")))
            }
            Self::Review { decision, rationale, required, blocked } => {
                let decision = match decision {
                    Verdict::Approved => "approved",
                    Verdict::ChangesRequested => "changes requested",
                    Verdict::Blocked => "blocked",
                };
                write!(f, "review {decision}")?;
                part(f, "rationale", rationale.as_deref())?;
                part(f, "required", required.as_deref())?;
                part(f, "blocked by", blocked.as_deref())
            }
            Self::Handoff { focus, summary } => {
                f.write_str("handoff brief")?;
                part(f, "focus", focus.as_deref())?;
                part(f, "summary", Some(summary))
            }
            Self::Error { error } => write!(f, "error: {error}"),
        }
    }
}

fn word(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "pending",
        TaskStatus::Running => "running",
        TaskStatus::Completed => "completed",
        TaskStatus::Blocked => "blocked",
        TaskStatus::Failed => "failed",
    }
}
