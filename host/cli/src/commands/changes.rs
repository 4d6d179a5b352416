//! `brain diff | apply | undo`.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use brain_journal::{ApplyDirection, Root};
use brain_orchestrator::{
    ApplyReport, ApplyResult, Proposal, ProposalError, apply as put, open_project, proposal, session,
};
use console::Term;
use miette::Diagnostic;

use crate::args::{ApplyArgs, DiffArgs, PlaceArgs, WhichArgs};
use crate::exit::{Exit, Failure, Outcome, print, print_json};
use crate::show;

/// The session ran in another project than the one that the command was given in.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("session {session} ran in {}{}, and this is {}", ran_in.display(), if *is_there { "" } else { ", where nothing is any more" }, here.display())]
#[diagnostic(
    code("changes.other-project"),
    help("{}", if *is_there {
        format!("give the project with -C: `-C {}`", ran_in.display())
    } else {
        "give the folder that it has been moved to by its path, with -C".to_owned()
    })
)]
struct OtherProject {
    session: String,
    ran_in: PathBuf,
    is_there: bool,
    here: PathBuf,
}

/// Something in the project stands in the way.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{said}")]
#[diagnostic(code("changes.conflict"), help("{help}"))]
struct InTheWay {
    said: String,
    help: String,
}

impl From<ProposalError> for Failure {
    fn from(error: ProposalError) -> Self {
        let exit = if error.is_usage() { Exit::Usage } else { Exit::Failed };
        Self { error: Box::new(error), exit }
    }
}

fn found(place: &PlaceArgs, which: &WhichArgs) -> Result<Proposal, Failure> {
    let home = place.home()?;
    let session = session(&home, &which.session, &here(place))?;
    Ok(proposal(&home, &session, which.role.as_deref())?)
}

/// The project's folder, as far as it can be told.
pub fn here(place: &PlaceArgs) -> PathBuf {
    open_project(&place.project).unwrap_or_else(|_| place.project.clone())
}

/// Shows a proposal.
pub fn diff(place: &PlaceArgs, args: &DiffArgs) -> Outcome {
    let proposal = found(place, &args.which)?;
    if args.json {
        print_json(&proposal.shown()?)?;
    } else {
        let set = proposal.change_set()?;
        let terminal = Term::stdout().is_term();
        if args.name_only {
            print(&show::names(&set))?;
        } else if args.stat {
            print(&show::stat(&set))?;
        } else if terminal {
            print(&show::patch(&set))?;
        } else {
            // Whoever takes the patch on needs every byte of it.
            print(&set.to_patch())?;
        }
    }
    Ok(Exit::Done)
}

/// Applies or undoes a proposal.
pub fn apply(place: &PlaceArgs, args: &ApplyArgs, direction: ApplyDirection) -> Outcome {
    let proposal = found(place, &args.which)?;
    let root = root(place, &proposal)?;
    let report = put(&place.home()?, &root, &proposal, direction, args.dry_run).map_err(Failure::new)?;
    let exit = if report.outcome == ApplyResult::Conflict { Exit::Failed } else { Exit::Done };
    if args.json {
        print_json(&report)?;
        return Ok(exit);
    }
    match report.outcome {
        ApplyResult::Conflict => Err(Failure::new(in_the_way(&report))),
        _ => print(&show::applied(&report)).map(|()| exit),
    }
}

fn in_the_way(report: &ApplyReport) -> InTheWay {
    let (said, help) = show::conflicts(report);
    InTheWay { said, help }
}

/// The tree to apply to: the one that the session ran in, or one that the operator names in so many words.
fn root(place: &PlaceArgs, proposal: &Proposal) -> Result<PathBuf, Failure> {
    let here = open_project(&place.project)?;
    let Some(ran_in) = &proposal.project else { return Ok(here) };
    let identity = |path: &Path| std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok();
    let named = place.project != Path::new(".");
    let (this, that) = (identity(&here), identity(ran_in));
    let path = here.to_string_lossy();
    // A folder that it was applied to is known wherever it was moved. Of a path that is not UTF-8, the journal has this text.
    let at = Root { path: &path, file: this };
    let was_here = || proposal.story.attempts.iter().any(|attempt| attempt.root_file.is_some() && attempt.is_at(at));
    match (this, that) {
        (Some(this), Some(that)) if this == that => Ok(here),
        _ if named || was_here() || *path == *ran_in.to_string_lossy() => Ok(here),
        _ => Err(Failure {
            error: Box::new(OtherProject {
                session: proposal.session.to_string(),
                ran_in: ran_in.clone(),
                is_there: ran_in.exists(),
                here,
            }),
            exit: Exit::Usage,
        }),
    }
}
