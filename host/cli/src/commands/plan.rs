//! `brain plan`.

use crate::args::{PlaceArgs, PlanArgs};
use crate::commands::run::request;
use crate::exit::{Exit, Outcome, print, print_json};
use crate::show;

/// Shows what a run of the request would do. Runs nothing.
pub fn plan(place: &PlaceArgs, args: &PlanArgs) -> Outcome {
    let request = request(&args.request)?;
    let mut brain = place.orchestrator()?;
    brain.mode = args.mode.into();
    let plan = brain.preview(&request)?;
    if args.json {
        print_json(&plan)?;
    } else {
        print(&show::plan(&plan))?;
    }
    Ok(if plan.clarification.is_some() { Exit::Usage } else { Exit::Done })
}
