//! Which sessions there are, and which one a reference means.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use brain_packet::{RoleName, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{JournalError, MAX_CANDIDATES, quoted};
use crate::id::{could_begin_an_id, parse_session_id};
use crate::layout::{JOURNAL_ENDING, SessionPaths, sessions_folder};
use crate::limits::MAX_SESSION_FIELD_CHARS;
use crate::read::{ReadLimits, Seen, Skimmed, Skipped, skim_file};
use crate::record::Record;

/// Sessions that a list has unless it is asked for another number.
pub const DEFAULT_LIST_LIMIT: usize = 25;

/// Most sessions that one list has, however many it is asked for.
pub const MAX_LIST_LIMIT: usize = 1_000;

/// Most journals that a list chooses from: the newest ones. Older ones are counted and can still be [found](find).
pub const MAX_LISTED_FILES: usize = 10_000;

/// How a session, or a run in it, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// The latest run came to its end.
    Completed,
    /// The latest run stopped with an error.
    Failed,
    /// The latest run is still going, or was cut off.
    Incomplete,
}

impl std::fmt::Display for SessionStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Incomplete => "incomplete",
        })
    }
}

/// One row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// Its id.
    pub session_id: SessionId,
    /// How its latest run ended. (Not: whether any run ever ended. A session that was resumed and failed has failed.)
    pub status: SessionStatus,
    /// The first prompt.
    pub prompt: Option<String>,
    /// The primary role of the first plan.
    pub primary_role: Option<RoleName>,
    /// What the latest report says of how the run came out, in its own word, such as `answered` or `failed`.
    pub outcome: Option<String>,
    /// The latest summary.
    pub summary: Option<String>,
    /// The error of the latest run, when that failed.
    pub error: Option<String>,
    /// The project of the first run.
    pub project_root: Option<String>,
    /// When the journal was last written, in milliseconds since the epoch.
    pub updated: u64,
    /// What of the journal was passed over.
    pub skipped: Skipped,
    /// Why the journal could not be read, when it could not; the row then has nothing more.
    pub unreadable: Option<String>,
}

/// Sessions, newest first, and how many are not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionList {
    /// By last change, then by id.
    pub sessions: Vec<SessionSummary>,
    /// Journals that were not looked at, since the limit or [`MAX_LISTED_FILES`] was reached before.
    pub not_shown: usize,
    /// Sessions that were looked at and that the filter left out.
    pub filtered: usize,
    /// Entries of the folder that are `.jsonl` but no session of Brain's: another name, or no regular file.
    pub foreign: usize,
}

/// Which sessions a list has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListFilter<'f> {
    /// Only those whose first run was in this folder.
    pub project: Option<&'f Path>,
    /// Only those that ended so.
    pub status: Option<SessionStatus>,
}

/// Lists the sessions below `home`, newest first: at most `limit` (never more than [`MAX_LIST_LIMIT`]), and with `project`
/// only those whose first run was in that folder. A home without sessions has an empty list.
///
/// # Errors
/// `journal.unreadable` when the folder of the sessions cannot be read. A journal that cannot be read is a row that says so.
pub fn list(home: &Path, limit: usize, project: Option<&Path>) -> Result<SessionList, JournalError> {
    list_with(home, limit, ListFilter { project, status: None })
}

/// [`list()`], of the sessions that a filter lets through.
///
/// # Errors
/// As [`list()`].
pub fn list_with(home: &Path, limit: usize, filter: ListFilter<'_>) -> Result<SessionList, JournalError> {
    let limit = limit.min(MAX_LIST_LIMIT);
    let folder = Folder::of(home)?;
    let mut list = SessionList { foreign: folder.foreign, ..SessionList::default() };
    let mut looked_at = 0;
    let newest: Vec<(u64, SessionId)> = folder.newest.into_iter().rev().collect();
    let mut rest = newest.as_slice();
    while list.sessions.len() < limit && !rest.is_empty() {
        // Without a filter every journal is a row; with one, nobody knows how many have to be looked at.
        let wanted = if filter == ListFilter::default() { limit - list.sessions.len() } else { MAX_AT_ONCE };
        let (batch, after) = rest.split_at(rest.len().min(wanted.min(MAX_AT_ONCE)));
        rest = after;
        for row in summaries(home, batch, filter.project)? {
            if list.sessions.len() == limit {
                break;
            }
            looked_at += 1;
            match row.filter(|row| filter.status.is_none_or(|status| row.status == status)) {
                Some(row) => list.sessions.push(row),
                None => list.filtered += 1,
            }
        }
    }
    list.not_shown = folder.journals - looked_at;
    Ok(list)
}

/// Journals that are looked at before their rows are counted.
const MAX_AT_ONCE: usize = 1_024;

/// Journals that one thread looks at, at least: fewer are not worth a thread.
const MIN_FOR_A_THREAD: usize = 64;

/// Threads that look at journals at once, at most.
const MAX_THREADS: usize = 4;

/// The rows of these journals, in their order; nothing for those of another project. Opening files is what a list costs, and
/// that goes on in several threads.
fn summaries(
    home: &Path,
    journals: &[(u64, SessionId)],
    project: Option<&Path>,
) -> Result<Vec<Option<SessionSummary>>, JournalError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let each = journals.len().div_ceil(threads).max(MIN_FOR_A_THREAD);
    let rows = |part: &[(u64, SessionId)]| -> Result<Vec<_>, JournalError> {
        part.iter().map(|(updated, id)| summarise(home, id, *updated, project)).collect()
    };
    std::thread::scope(|scope| {
        let mut parts = journals.chunks(each);
        let own = parts.next().unwrap_or_default();
        let others: Vec<_> = parts.map(|part| (part, scope.spawn(move || rows(part)))).collect();
        let mut all = rows(own)?;
        for (part, other) in others {
            // A thread that came to grief is done over here, where the fault is one of this call.
            all.extend(other.join().unwrap_or_else(|_| rows(part))?);
        }
        Ok(all)
    })
}

/// The session that a reference means: its exact id, or the beginning of exactly one id.
///
/// # Errors
/// `journal.not-found`, `journal.ambiguous` (with the newest candidates), `journal.bad-reference`, `journal.unreadable`.
pub fn find(home: &Path, reference: &str) -> Result<SessionId, JournalError> {
    if reference.is_empty() || !could_begin_an_id(reference) {
        return Err(JournalError::BadReference { reference: quoted(reference) });
    }
    let not_found = || JournalError::NotFound { reference: reference.to_owned(), folder: sessions_folder(home) };
    if let Ok(id) = parse_session_id(reference) {
        let exists = SessionPaths::new(home, &id)?.journal().is_file();
        return if exists { Ok(id) } else { Err(not_found()) };
    }
    let mut matches: BTreeSet<SessionId> = BTreeSet::new();
    let mut total = 0;
    each_journal(home, |entry| {
        if let Some((id, _)) = entry
            && id.as_str().starts_with(reference)
        {
            total += 1;
            matches.insert(id);
            if matches.len() > MAX_CANDIDATES {
                matches.pop_first();
            }
        }
    })?;
    match (total, matches.pop_last()) {
        (1, Some(id)) => Ok(id),
        (_, None) => Err(not_found()),
        (_, Some(newest)) => {
            let candidates = std::iter::once(newest).chain(matches.into_iter().rev()).collect();
            Err(JournalError::Ambiguous { reference: reference.to_owned(), candidates, total })
        }
    }
}

/// The newest journals, newest first; at most [`MAX_LISTED_FILES`].
pub(crate) fn newest_journals(home: &Path) -> Result<impl Iterator<Item = SessionId>, JournalError> {
    Ok(Folder::of(home)?.newest.into_iter().rev().map(|(_, id)| id))
}

/// What the folder of the sessions has.
#[derive(Default)]
struct Folder {
    /// The newest journals by last change and id, at most [`MAX_LISTED_FILES`].
    newest: BTreeSet<(u64, SessionId)>,
    /// How many journals there are.
    journals: usize,
    /// How many `.jsonl` are none.
    foreign: usize,
}

impl Folder {
    fn of(home: &Path) -> Result<Self, JournalError> {
        let mut folder = Self::default();
        each_journal(home, |entry| match entry {
            Some((id, updated)) => {
                folder.journals += 1;
                folder.newest.insert((updated, id));
                if folder.newest.len() > MAX_LISTED_FILES {
                    folder.newest.pop_first();
                }
            }
            None => folder.foreign += 1,
        })?;
        Ok(folder)
    }
}

/// Shows each journal of the folder with its last change, and `None` for each `.jsonl` that is no journal.
fn each_journal(home: &Path, mut visit: impl FnMut(Option<(SessionId, u64)>)) -> Result<(), JournalError> {
    let folder = sessions_folder(home);
    let failed = |source| JournalError::unreadable("list the sessions in", &folder, source);
    let entries = match std::fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(failed)?,
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(stem) = name.to_string_lossy().strip_suffix(JOURNAL_ENDING).map(str::to_owned) else { continue };
        // The folder is shared with running processes: what is gone by now is no error and no session. A link that leads
        // nowhere is still there.
        let metadata = match std::fs::metadata(entry.path()) {
            Err(_) if !entry.path().is_symlink() => continue,
            other => other.ok().filter(std::fs::Metadata::is_file),
        };
        visit(metadata.and_then(|metadata| Some((parse_session_id(&stem).ok()?, changed(&metadata)))));
    }
    Ok(())
}

/// When a file was last written, in milliseconds since the epoch; 0 where the system does not say.
fn changed(metadata: &std::fs::Metadata) -> u64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The row of one session, or nothing when it is of another project.
fn summarise(
    home: &Path,
    id: &SessionId,
    updated: u64,
    project: Option<&Path>,
) -> Result<Option<SessionSummary>, JournalError> {
    let mut row = SessionSummary {
        session_id: id.clone(),
        status: SessionStatus::Incomplete,
        prompt: None,
        primary_role: None,
        outcome: None,
        summary: None,
        error: None,
        project_root: None,
        updated,
        skipped: Skipped::default(),
        unreadable: None,
    };
    let mut elsewhere = false;
    let paths = SessionPaths::new(home, id)?;
    let scanned = skim_file(paths.journal(), &ReadLimits::default(), |line| {
        let seen = note(&mut row, line);
        elsewhere = matches!((project, &row.project_root), (Some(wanted), Some(root)) if Path::new(root) != wanted);
        if elsewhere { Seen::Enough } else { seen }
    });
    match scanned {
        Ok(skipped) => row.skipped = skipped,
        Err(error) => row.unreadable = Some(error.to_string()),
    }
    // A journal that does not say its project is of none that was asked for, unless it could not be asked.
    let unplaced = project.is_some() && row.project_root.is_none() && row.unreadable.is_none();
    Ok((!elsewhere && !unplaced).then_some(row))
}

/// Adds what a line tells to its session's row. The other types are not looked into.
fn note(row: &mut SessionSummary, line: Skimmed<'_>) -> Seen {
    match line.kind {
        "final_report" => {
            // Of a report, which may be large, one word is needed.
            let short = line.text().and_then(|text| serde_json::from_str::<ReportLine>(text).ok());
            row.outcome = match short {
                Some(line) => line.final_report.status.as_deref().map(clip),
                None => match line.entry().map(|entry| entry.record) {
                    Some(Record::FinalReport { final_report, .. }) => outcome(&final_report),
                    _ => return Seen::Malformed,
                },
            };
        }
        "run_start" | "run_end" | "run_error" => match line.entry() {
            Some(entry) => note_run(row, entry.record),
            None => return Seen::Malformed,
        },
        _ => {}
    }
    Seen::Fine
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportLine {
    final_report: ReportHead,
}

#[derive(Deserialize)]
struct ReportHead {
    #[serde(default)]
    status: Option<String>,
}

fn outcome(report: &Value) -> Option<String> {
    report.get("status").and_then(Value::as_str).map(clip)
}

fn note_run(row: &mut SessionSummary, record: Record) {
    match record {
        Record::RunStart(start) => {
            row.status = SessionStatus::Incomplete;
            row.outcome = None;
            row.error = None;
            row.prompt.get_or_insert_with(|| clip(&start.prompt));
            if let Some(role) = start.plan.map(|plan| plan.primary_role).or(start.role) {
                row.primary_role.get_or_insert(role);
            }
            if let Some(support) = start.project_support {
                row.project_root.get_or_insert(support.root);
            }
        }
        Record::RunEnd(end) => {
            row.status = SessionStatus::Completed;
            row.error = None;
            row.outcome = row.outcome.take().or_else(|| outcome(&end.final_report));
            row.summary = Some(clip(&end.summary));
        }
        // Another model is tried next: the run goes on.
        Record::RunError { will_fallback: true, .. } => {}
        Record::RunError { error, .. } => {
            row.status = SessionStatus::Failed;
            row.error = Some(clip(&error));
        }
        _ => {}
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(MAX_SESSION_FIELD_CHARS) {
        None => text.to_owned(),
        Some(_) => text.chars().take(MAX_SESSION_FIELD_CHARS - 1).chain(['…']).collect(),
    }
}
