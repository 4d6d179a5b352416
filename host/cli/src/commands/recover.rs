//! What every start does first: an apply that was interrupted is finished or taken back.

use std::io::Write;

use brain_journal::{ApplyDirection, ApplyOutcome};
use brain_orchestrator::{Recovery, recover_interrupted};
use miette::Diagnostic;

use crate::args::{Args, Command};
use crate::show::line;

/// Notes on one recovery that are shown; the rest is counted.
const MAX_NOTES: usize = 10;

/// Makes good what an earlier start left half done, and says so on standard error. Whatever comes of it, the command goes on:
/// a tree that cannot be made good is told of at each start, and is in the way of nothing but an apply to it.
pub fn recover(args: &Args) {
    // It knows of no home.
    if matches!(args.command, Command::Schema { .. }) {
        return;
    }
    let Ok(home) = args.place.home() else { return };
    for recovery in recover_interrupted(&home) {
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(std::io::stderr().lock(), "{}", told(&recovery));
        for note in recovery.notes.iter().take(MAX_NOTES) {
            let _ = writeln!(std::io::stderr().lock(), "    {}", line(note));
        }
        if let Some(more) = recovery.notes.len().checked_sub(MAX_NOTES).filter(|more| *more > 0) {
            let _ = writeln!(std::io::stderr().lock(), "    and {more} more");
        }
    }
}

fn told(recovery: &Recovery) -> String {
    let what = match &recovery.of {
        Some(mark) => {
            let verb = match mark.direction {
                ApplyDirection::Apply => "apply",
                ApplyDirection::Undo => "undo",
            };
            format!("brain {verb} {} {} in {}", mark.session, mark.role, line(&mark.root))
        }
        None => "an apply".to_owned(),
    };
    match &recovery.outcome {
        Ok(None) => format!("{what} was interrupted before it began: nothing was changed"),
        Ok(Some(ApplyOutcome::Done)) => format!("{what} was interrupted, and is finished now"),
        Ok(Some(ApplyOutcome::DoneExcept)) => {
            format!("{what} was interrupted, and is finished now, but for files that were changed meanwhile")
        }
        Ok(Some(ApplyOutcome::RolledBack)) => {
            format!("{what} was interrupted, and is taken back now: the project is as it was before")
        }
        Err(error) => {
            let mut help = error.help().map(|help| format!("; {help}")).unwrap_or_default();
            // Each start tells it again, so that each way to an end of that is told too.
            if let Some(marker) = recovery.marker.as_ref().map(|marker| marker.display().to_string())
                && !help.contains(&marker)
            {
                help.push_str(&format!("; when the tree is as you want it, remove {marker} to be told no more"));
            }
            line(&format!("{what} was interrupted, and cannot be made good: {error}{help}"))
        }
    }
}
