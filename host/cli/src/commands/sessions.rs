//! `brain sessions list | show`: from the journals alone.

use brain_journal::{DEFAULT_LIST_LIMIT, SessionStory, list};
use brain_orchestrator::{RunError, open_project, session as session_of};

use super::changes::here;
use crate::args::{PlaceArgs, SessionsCommand};
use crate::exit::{Exit, Failure, Outcome, print, print_json};
use crate::show;

/// Does what was asked with sessions.
pub fn sessions(place: &PlaceArgs, command: Option<&SessionsCommand>) -> Outcome {
    let home = place.home()?;
    let failed = |error| Failure::from(RunError::Journal(error));
    match command {
        Some(SessionsCommand::Show { session, json }) => {
            let id = session_of(&home, session, &here(place))?;
            let story = SessionStory::read(&home, &id).map_err(failed)?;
            if *json { print_json(&story)? } else { print(&show::story(&story))? }
        }
        other => {
            let (limit, here, json) = match other {
                Some(SessionsCommand::List { limit, here, json }) => (*limit, *here, *json),
                _ => (DEFAULT_LIST_LIMIT, false, false),
            };
            let project = here.then(|| open_project(&place.project)).transpose()?;
            let sessions = list(&home, limit, project.as_deref()).map_err(failed)?;
            if json { print_json(&sessions)? } else { print(&show::sessions(&sessions))? }
        }
    }
    Ok(Exit::Done)
}
