//! A run that continues a session: what the session is about, and what it may have asked.

use std::path::Path;

use brain_journal::{RunLock, SessionStory};
use brain_packet::SessionId;
use brain_plan::Clarification;

use crate::error::RunError;
use crate::proposals::session;
use crate::threads;

/// A session that is continued.
pub(crate) struct Continued {
    pub id: SessionId,
    /// Nobody else continues it meanwhile.
    pub lock: RunLock,
    /// Where its last run was, when that was elsewhere.
    pub elsewhere: Option<String>,
    /// What was asked in it and what came of it, for the workers.
    pub snapshot: String,
    /// How many runs it has.
    pub runs: usize,
    /// What its last run asked back, with the request about which it did.
    asked: Option<(String, Clarification)>,
}

impl Continued {
    /// The session that `word` names: its id, the beginning of it, or `last`.
    pub(crate) fn find(home: &Path, word: &str, project: &Path) -> Result<Self, RunError> {
        let id = session(home, word, project)?;
        let lock = RunLock::take(home, &id)?;
        let story = SessionStory::read(home, &id)?;
        let (_, snapshot) = threads::snapshot(home, id.clone())
            .map_err(|why| RunError::Reference { reference: id.to_string(), why })?;
        let last = story.runs.last();
        let asked = last.and_then(|run| Some((run.prompt.clone()?, run.events.clarification.clone()?.into())));
        let root = last.and_then(|run| run.project_root.clone());
        let elsewhere = root.filter(|root| Path::new(root) != project);
        Ok(Self { id, lock, elsewhere, snapshot, runs: story.runs.len(), asked })
    }

    /// What the operator's words ask for: by themselves, or as the answer to what was asked.
    pub(crate) fn request(&self, words: &str) -> Result<String, RunError> {
        let Some((request, asked)) = &self.asked else { return Ok(words.to_owned()) };
        asked.answered(request, words).ok_or_else(|| RunError::Answer {
            session: self.id.clone(),
            question: asked.question.clone(),
            answer: words.to_owned(),
            options: asked.options.len(),
        })
    }
}
