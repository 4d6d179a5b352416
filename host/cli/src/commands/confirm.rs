//! `brain role confirm`: the operator lets a role have what it asks for.

use std::io::{BufRead, IsTerminal, Read, Write};

use brain_orchestrator::{Asks, Confirmation, Confirmed, How, RunError};
use brain_packet::RoleName;
use miette::Diagnostic;

use super::role::find;
use crate::args::PlaceArgs;
use crate::exit::{Exit, Failure, Outcome, OutputError, print};
use crate::show;

/// Bytes of an answer that are read.
const MAX_ANSWER: u64 = 64;

/// There is nobody to ask.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{0} is not confirmed: there is no terminal to ask on, and consent is never assumed")]
#[diagnostic(code("cli.consent"), help("read what it asks for, then give --yes: `brain role confirm {0} --yes`"))]
struct NobodyToAsk(RoleName);

/// Shows what is to be confirmed, asks back, and keeps it.
pub fn confirm(place: &PlaceArgs, name: &str, yes: bool) -> Outcome {
    let catalogue = place.catalogue()?;
    let role = find(&catalogue, name)?;
    let (home, name) = (place.home()?, &role.manifest.name);
    let confirmed = Confirmed::read(&home).map_err(RunError::from)?;
    let (before, now) = (confirmed.of(name), Asks::of(&role.manifest));
    if before.is_some_and(|before| before.asks == now) {
        print(&format!("{name} asks for what was confirmed already.\n"))?;
        return Ok(Exit::Done);
    }
    let bytes = role.bytes().map_err(RunError::from)?;
    let difference = show::asks(name, before, &now);
    if !yes {
        if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
            // On standard error, where the refusal follows: standard output is for what was done.
            let _ = std::io::stderr().write_all(difference.as_bytes());
            return Err(Failure { error: Box::new(NobodyToAsk(name.clone())), exit: Exit::Usage });
        }
        print(&difference)?;
        if !answered_yes()? {
            print(&format!("{name} is not confirmed; nothing was changed.\n"))?;
            return Ok(Exit::Failed);
        }
    } else {
        print(&difference)?;
    }
    Confirmed::confirm(&home, name, Confirmation::of(role, &bytes, How::Operator)).map_err(RunError::from)?;
    print(&format!("{name} {} is confirmed.\n", show::line(&role.manifest.version)))?;
    Ok(Exit::Done)
}

fn answered_yes() -> Result<bool, Failure> {
    let fail = |source| Failure::new(OutputError { what: "the question".into(), source });
    let mut err = std::io::stderr().lock();
    err.write_all(b"Confirm? [y/N] ").and_then(|()| err.flush()).map_err(fail)?;
    let mut answer = String::new();
    std::io::stdin().lock().take(MAX_ANSWER).read_line(&mut answer).map_err(fail)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
