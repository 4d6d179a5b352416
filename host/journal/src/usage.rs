//! What model calls cost, over sessions: totals, and who and what they were spent on.

use std::collections::BTreeMap;
use std::path::Path;

use brain_packet::{RoleName, SessionId};
use serde::Serialize;

use crate::error::JournalError;
use crate::layout::SessionPaths;
use crate::list::newest_journals;
use crate::read::{ReadLimits, Seen, Skipped, skim_file, unreadable};
use crate::record::{Record, TokenCounts, TokenUsage, UsagePhase};

/// Most calls that are listed one by one: the newest.
pub const MAX_RECENT_CALLS: usize = 20;

/// Most models and roles that are told apart; what others spent is added up as `(others)`.
pub const MAX_USAGE_GROUPS: usize = 1_000;

/// How much of a journal is looked through for usage, in bytes. More than otherwise, since a sum needs all of it and lines of
/// other types are not looked into.
pub const MAX_USAGE_FILE_BYTES: u64 = 1 << 30;

const OTHERS: &str = "(others)";
const UNKNOWN: &str = "unknown";

/// Which sessions are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageScope<'s> {
    /// Every session below the home, at most [`crate::MAX_LISTED_FILES`].
    All,
    /// Those whose first run was in this folder.
    Project(&'s Path),
    /// This one.
    Session(&'s SessionId),
}

/// Tokens of several calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageTotals {
    /// How many calls.
    pub calls: u64,
    /// Their tokens.
    #[serde(flatten)]
    pub tokens: TokenCounts,
}

impl UsageTotals {
    /// Adds one call.
    pub fn add(&mut self, call: TokenCounts) {
        self.calls += 1;
        let sum = &mut self.tokens;
        for (sum, part) in [
            (&mut sum.input, call.input),
            (&mut sum.output, call.output),
            (&mut sum.cache_read, call.cache_read),
            (&mut sum.cache_write, call.cache_write),
            (&mut sum.total, call.total),
        ] {
            *sum = sum.saturating_add(part);
        }
    }

    /// Whether there was no call.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.calls == 0
    }

    /// How much of what could come from the provider's cache did, in per cent, rounded; 0 when there was nothing to read.
    #[must_use]
    pub fn cache_hit_percent(&self) -> u8 {
        let read = u128::from(self.tokens.cache_read);
        let readable = read + u128::from(self.tokens.input);
        let percent = (read * 100 + readable / 2).checked_div(readable).unwrap_or(0);
        u8::try_from(percent).unwrap_or(100)
    }
}

/// What one model, role or part of a run cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageGroup {
    /// Which one.
    pub label: String,
    /// What it cost.
    #[serde(flatten)]
    pub totals: UsageTotals,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageCall {
    /// When, in milliseconds since the epoch.
    pub timestamp: u64,
    /// In which session.
    pub session_id: SessionId,
    /// In which part of the run.
    pub phase: UsagePhase,
    /// Which role.
    pub role: Option<RoleName>,
    /// Which model.
    pub model_id: Option<String>,
    /// What it cost.
    pub usage: TokenCounts,
}

/// What model calls cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageStats {
    /// Sessions with at least one call.
    pub sessions_with_usage: u64,
    /// Sessions that were looked through.
    pub sessions: u64,
    /// All calls together.
    pub totals: UsageTotals,
    /// How much of what could come from the provider's cache did, in per cent.
    pub cache_hit_percent: u8,
    /// By part of the run. These three have the dearest first, then the most often called, then the first by name.
    pub by_phase: Vec<UsageGroup>,
    /// By model.
    pub by_model: Vec<UsageGroup>,
    /// By role.
    pub by_role: Vec<UsageGroup>,
    /// The newest calls, newest first; at most [`MAX_RECENT_CALLS`].
    pub recent: Vec<UsageCall>,
    /// Journals that could not be read.
    pub unreadable: u64,
    /// What of the journals was passed over. Lines of other types are not looked into.
    pub skipped: Skipped,
}

/// Adds up what model calls cost.
///
/// # Errors
/// `journal.not-found` or `journal.unreadable` of the session that was named, or of the folder of the sessions. Of several
/// sessions, those that cannot be read are counted.
pub fn usage(home: &Path, scope: UsageScope<'_>) -> Result<UsageStats, JournalError> {
    let mut sum = Sum::default();
    let project = match scope {
        UsageScope::Session(id) => {
            let paths = SessionPaths::new(home, id)?;
            sum.session(&paths, id, None).map_err(|source| unreadable(home, id, &paths, source))?;
            return Ok(sum.done());
        }
        UsageScope::Project(project) => Some(project),
        UsageScope::All => None,
    };
    for id in newest_journals(home)? {
        let paths = SessionPaths::new(home, &id)?;
        if sum.session(&paths, &id, project).is_err() {
            sum.stats.unreadable += 1;
        }
    }
    Ok(sum.done())
}

#[derive(Default)]
struct Sum {
    stats: UsageStats,
    phases: BTreeMap<String, UsageTotals>,
    models: BTreeMap<String, UsageTotals>,
    roles: BTreeMap<String, UsageTotals>,
}

impl Sum {
    fn session(&mut self, paths: &SessionPaths, id: &SessionId, project: Option<&Path>) -> std::io::Result<()> {
        let limits = ReadLimits { file_bytes: MAX_USAGE_FILE_BYTES, ..ReadLimits::default() };
        // Of a session that turns out to be elsewhere nothing is added, and planning is paid for before the run says where it is.
        let mut place = project.map_or(Place::Here, |_| Place::Unknown);
        let mut waiting: Vec<(u64, TokenUsage)> = Vec::new();
        let mut calls = 0;
        let skipped = skim_file(paths.journal(), &limits, |line| {
            if !(line.kind == "token_usage" || (line.kind == "run_start" && place == Place::Unknown)) {
                return Seen::Fine;
            }
            let Some(entry) = line.entry() else { return Seen::Malformed };
            match entry.record {
                Record::TokenUsage(usage) if usage.usage.total > 0 => match place {
                    Place::Here => {
                        calls += 1;
                        self.add(id, entry.timestamp, usage);
                    }
                    Place::Unknown if waiting.len() < MAX_USAGE_GROUPS => waiting.push((entry.timestamp, usage)),
                    Place::Unknown => {}
                },
                Record::RunStart(start) => {
                    let root = start.project_support.map(|support| support.root);
                    if root.as_deref().map(Path::new) != project {
                        return Seen::Enough;
                    }
                    place = Place::Here;
                    for (timestamp, usage) in waiting.drain(..) {
                        calls += 1;
                        self.add(id, timestamp, usage);
                    }
                }
                _ => {}
            }
            Seen::Fine
        })?;
        if place == Place::Here {
            self.stats.sessions += 1;
            self.stats.sessions_with_usage += u64::from(calls > 0);
            self.stats.skipped.add(skipped);
        }
        Ok(())
    }

    fn add(&mut self, id: &SessionId, timestamp: u64, usage: TokenUsage) {
        self.stats.totals.add(usage.usage);
        let model = usage.model_id.clone().unwrap_or_else(|| UNKNOWN.to_owned());
        let role = usage.role.as_ref().map_or_else(|| UNKNOWN.to_owned(), ToString::to_string);
        for (groups, label) in
            [(&mut self.phases, usage.phase.to_string()), (&mut self.models, model), (&mut self.roles, role)]
        {
            let room = groups.len() < MAX_USAGE_GROUPS || groups.contains_key(&label);
            groups.entry(if room { label } else { OTHERS.to_owned() }).or_default().add(usage.usage);
        }
        let recent = &mut self.stats.recent;
        // Newest first; of one time, the later in the file.
        let at = recent.partition_point(|call| call.timestamp > timestamp);
        if at < MAX_RECENT_CALLS {
            let call = UsageCall {
                timestamp,
                session_id: id.clone(),
                phase: usage.phase,
                role: usage.role,
                model_id: usage.model_id,
                usage: usage.usage,
            };
            recent.insert(at, call);
            recent.truncate(MAX_RECENT_CALLS);
        }
    }

    fn done(self) -> UsageStats {
        let mut stats = self.stats;
        stats.cache_hit_percent = stats.totals.cache_hit_percent();
        stats.by_phase = sorted(self.phases);
        stats.by_model = sorted(self.models);
        stats.by_role = sorted(self.roles);
        stats
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Here,
    Unknown,
}

fn sorted(groups: BTreeMap<String, UsageTotals>) -> Vec<UsageGroup> {
    let mut groups: Vec<UsageGroup> = groups.into_iter().map(|(label, totals)| UsageGroup { label, totals }).collect();
    // The map had them by name, and sorting keeps that where nothing else decides.
    groups.sort_by_key(|group| std::cmp::Reverse((group.totals.tokens.total, group.totals.calls)));
    groups
}
