//! `brain usage`: what model calls cost, from the journals alone.

use brain_journal::{UsageScope, usage as add_up};
use brain_orchestrator::{RunError, open_project, session as session_of};

use super::changes::here;
use crate::args::{PlaceArgs, UsageArgs};
use crate::exit::{Exit, Failure, Outcome, print, print_json};
use crate::show;

/// Adds up and shows.
pub fn usage(place: &PlaceArgs, args: &UsageArgs) -> Outcome {
    let home = place.home()?;
    let failed = |error| Failure::from(RunError::Journal(error));
    let (stats, of) = match &args.session {
        Some(word) => {
            let id = session_of(&home, word, &here(place))?;
            (add_up(&home, UsageScope::Session(&id)).map_err(failed)?, format!("in session {id}"))
        }
        None if args.all => (add_up(&home, UsageScope::All).map_err(failed)?, "in any project".to_owned()),
        None => {
            let project = open_project(&place.project)?;
            let of = format!("in {}", show::line(&project.display().to_string()));
            (add_up(&home, UsageScope::Project(&project)).map_err(failed)?, of)
        }
    };
    if args.json {
        print_json(&stats)?
    } else {
        print(&show::usage(&stats, &of))?
    }
    Ok(Exit::Done)
}
