//! A snapshot of an earlier session, as context for a new one: what was asked and what came of it, never a transcript.

use std::fmt::Write;
use std::path::Path;

use brain_journal::{SessionStory, find};
use brain_packet::SessionId;

/// Characters of one snapshot.
pub const MAX_SNAPSHOT_CHARS: usize = 24 * 1024;
/// Characters of one field in a snapshot.
pub const MAX_FIELD_CHARS: usize = 6 * 1024;
/// Runs of the session that a snapshot tells of, the latest.
const MAX_RUNS: usize = 8;

/// The session that `reference` names (its id, or the beginning of it), and its snapshot in Markdown.
///
/// # Errors
/// Why there is none, in words.
pub fn snapshot(home: &Path, reference: &str) -> Result<(SessionId, String), String> {
    let id = find(home, reference).map_err(|e| e.to_string())?;
    let story = SessionStory::read(home, &id).map_err(|e| e.to_string())?;
    let mut text = format!(
        "# Session {id}\n\nStatus: {}. A snapshot of its records; what its workers saw and thought is not in it.\n",
        story.status
    );
    let from = story.runs.len().saturating_sub(MAX_RUNS);
    if from > 0 {
        let _ = writeln!(text, "\n{from} earlier runs are left out.");
    }
    for run in story.runs.iter().skip(from) {
        let _ = writeln!(
            text,
            "\n## Request\n\n{}",
            clip(run.prompt.as_deref().unwrap_or("(not recorded)"), MAX_FIELD_CHARS)
        );
        if let Some(summary) = &run.summary {
            let _ = writeln!(text, "\n## Answer\n\n{}", clip(summary, MAX_FIELD_CHARS));
        }
        for worker in &run.workers {
            let status = worker.status.map_or_else(|| "unfinished".to_owned(), |s| format!("{s:?}").to_lowercase());
            let _ = writeln!(
                text,
                "\n### {} ({status})\n\n{}",
                worker.role,
                clip(worker.summary.as_deref().unwrap_or(""), 2_000)
            );
        }
        for error in &run.errors {
            let _ = writeln!(text, "\n- error: {}", clip(&error.error, 1_200));
        }
    }
    Ok((id, clip(&text, MAX_SNAPSHOT_CHARS)))
}

/// The first `max` characters, the last three of them dots where something was cut.
fn clip(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars().take(max - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use brain_journal::{Journal, Record};

    #[test]
    fn a_snapshot_has_the_request_and_the_answer_and_is_bounded() {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::start(home.path()).unwrap();
        journal.append(&Record::RunStart { prompt: "q".repeat(100_000), plan: None, project_support: None }).unwrap();
        journal.append(&Record::RunEnd { summary: "the answer".into() }).unwrap();
        let (id, text) = snapshot(home.path(), journal.id().as_str()).unwrap();
        assert_eq!(&id, journal.id());
        assert!(text.contains("the answer") && text.contains("qqq..."));
        assert!(text.chars().count() <= MAX_SNAPSHOT_CHARS);
        assert!(snapshot(home.path(), "nope").is_err());
    }
}
