//! `brain run`.

use std::io::Read;

use brain_orchestrator::{RunError, RunReport, RunStatus, sarif};
use brain_packet::limits::MAX_GOAL_CHARS;

use crate::args::{OutputArgs, PlaceArgs, PlanArgs, RunArgs};
use crate::commands::plan::plan;
use crate::exit::{Exit, Failure, Outcome, OutputError, print, print_json};
use crate::show::{self, Progress};

/// Runs a request, or shows what would be run.
pub fn run(place: &PlaceArgs, args: &RunArgs) -> Outcome {
    if args.dry_run {
        return plan(place, &PlanArgs { request: args.request.clone(), mode: args.mode, json: args.json });
    }
    let request = request(&args.request)?;
    let mut brain = place.orchestrator()?;
    brain.mode = args.mode.into();
    brain.may_check = args.yes;
    let progress = Progress::new(args.output.quiet);
    let report = brain.run(&request, args.session.as_deref(), &|event| progress.show(event));
    progress.finish();
    conclude(&report?, args.json, args.summary_only, &args.output)
}

/// Shows a report as it was asked for.
pub fn conclude(report: &RunReport, json: bool, summary_only: bool, output: &OutputArgs) -> Outcome {
    if json {
        print_json(report)?;
    } else if summary_only {
        // Whoever pipes the answer on still has to see what it was made without.
        show::shortfalls(report);
        print(&show::summary(report))?;
    } else {
        print(&show::report(report))?;
    }
    // After the report, which the reader gets in any case.
    if let Some(path) = &output.sarif {
        let text = serde_json::to_string_pretty(&sarif(report)).unwrap_or_default();
        std::fs::write(path, text + "\n").map_err(|source| {
            Failure::new(OutputError { what: format!("the SARIF file {}", path.display()), source })
        })?;
    }
    Ok(match (report.status, output.fail_on) {
        (RunStatus::Failed | RunStatus::Blocked, _) => Exit::Failed,
        (RunStatus::NeedsClarification, _) => Exit::Usage,
        (_, Some(severity)) if report.has_at_least(severity.into()) => Exit::Findings,
        _ => Exit::Done,
    })
}

/// The words of the request as one text; `-` alone is standard input.
pub fn request(words: &[String]) -> Result<String, Failure> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    // Four bytes a character at most; one more tells that there is more.
    let max = (MAX_GOAL_CHARS * 4 + 1) as u64;
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(max).read_to_end(&mut bytes).map_err(|source| {
        Failure::new(OutputError { what: "standard input cannot be read, so the request".into(), source })
    })?;
    if bytes.len() as u64 == max {
        return Err(RunError::TooLong { limit: MAX_GOAL_CHARS }.into());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
