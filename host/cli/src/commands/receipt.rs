//! `brain receipt`.

use brain_orchestrator::{RunError, receipts, session};

use super::changes::here;
use crate::args::{PlaceArgs, WhichArgs};
use crate::exit::{Exit, Failure, Outcome, print, print_json};
use crate::show;

/// The session has no call to give an account of.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("{what}")]
#[diagnostic(code("receipt.none"), help("{help}"))]
struct NoReceipt {
    what: String,
    help: String,
}

/// Shows the receipts of a session.
pub fn receipt(place: &PlaceArgs, which: &WhichArgs, json: bool) -> Outcome {
    let home = place.home()?;
    let session = session(&home, &which.session, &here(place))?;
    let all = receipts(&home, &session).map_err(|error| Failure::from(RunError::Journal(error)))?;
    let roles: Vec<String> = all.iter().map(|kept| kept.role.to_string()).collect();
    let wanted: Vec<_> = match &which.role {
        Some(role) => all.into_iter().filter(|kept| kept.role.as_str() == role).collect(),
        None => all,
    };
    if wanted.is_empty() {
        let none = match &which.role {
            Some(role) if !roles.is_empty() => NoReceipt {
                what: format!("`{}` took no part in session {session}", show::line(role)),
                help: format!("these did: {}", roles.join(", ")),
            },
            _ => NoReceipt {
                what: format!("no role was called in session {session}"),
                help: format!("`brain sessions show {session}` tells what happened"),
            },
        };
        return Err(Failure { error: Box::new(none), exit: Exit::Usage });
    }
    if json {
        print_json(&wanted)?
    } else {
        print(&show::receipts(&wanted))?
    }
    Ok(Exit::Done)
}
