//! `brain grants tighten`.

use brain_orchestrator::{Origin, RunError, past_calls, tighten};

use crate::args::{GrantsCommand, PlaceArgs};
use crate::exit::{Exit, Failure, Outcome, print, print_json};
use crate::show;

/// Does what was asked with grants.
pub fn grants(place: &PlaceArgs, command: &GrantsCommand) -> Outcome {
    let GrantsCommand::Tighten { role, sessions, json } = command;
    let catalogue = place.catalogue()?;
    let installed = catalogue.get(role).map_err(RunError::from)?;
    let past = past_calls(&place.home()?, &installed.manifest.name, *sessions)
        .map_err(|error| Failure::from(RunError::Journal(error)))?;
    let tightened = tighten(&installed.manifest, &past);
    if *json {
        print_json(&tightened)?
    } else {
        print(&show::tightened(&tightened, &installed.folder, installed.origin == Origin::Shipped))?
    }
    Ok(Exit::Done)
}
