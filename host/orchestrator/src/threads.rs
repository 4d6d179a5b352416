//! A snapshot of an earlier session, as context for a new one: what was asked and what came of it, never a transcript.

use std::path::Path;

use brain_journal::SessionContext;
use brain_packet::SessionId;

/// The session, and its snapshot.
///
/// # Errors
/// Why there is none, in words.
pub fn snapshot(home: &Path, id: SessionId) -> Result<(SessionId, String), String> {
    let context = SessionContext::read(home, &id).map_err(|e| e.to_string())?;
    Ok((id, context.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use brain_journal::{Journal, MAX_INLINE_SESSION_CHARS, Record, RunEnd, RunStart};

    #[test]
    fn a_snapshot_has_the_request_and_the_answer_and_is_bounded() {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::start(home.path()).unwrap();
        journal.append(&Record::RunStart(RunStart::new("q".repeat(100_000)))).unwrap();
        journal.append(&Record::RunEnd(RunEnd::new("the answer"))).unwrap();
        let (id, text) = snapshot(home.path(), journal.id().clone()).unwrap();
        assert_eq!(&id, journal.id());
        assert!(text.contains("the answer") && text.contains("qqq..."));
        assert!(text.chars().count() <= MAX_INLINE_SESSION_CHARS);
        assert!(snapshot(home.path(), "20260101-000000-abcdef".parse().unwrap()).is_err());
    }
}
