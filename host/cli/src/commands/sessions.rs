//! `brain sessions list | show | tail | export`: from the journals alone.

use std::io::Write as _;
use std::io::{ErrorKind, IsTerminal, Read};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use brain_journal::{
    Entry, JournalError, JournalLine, ListFilter, RunLock, SessionPaths, SessionStory, Tail, UsageScope, UsageStats,
    list_with, usage,
};
use brain_orchestrator::{RunError, open_project, session as session_of};
use brain_packet::SessionId;
use serde::Serialize;

use super::changes::here;
use crate::args::{ExportArgs, ListArgs, PlaceArgs, SessionsCommand, TailArgs};
use crate::exit::{Exit, Failure, Outcome, Reader, json_line, print, print_bytes, print_json};
use crate::show;

/// How often a followed journal is looked at.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);

/// Does what was asked with sessions.
pub fn sessions(place: &PlaceArgs, command: Option<&SessionsCommand>, bare: &ListArgs) -> Outcome {
    let home = place.home()?;
    match command {
        None => listed(place, bare),
        Some(SessionsCommand::List(args)) => listed(place, args),
        Some(SessionsCommand::Show { session, json }) => {
            let id = session_of(&home, session, &here(place))?;
            let story = SessionStory::read(&home, &id).map_err(failed)?;
            if *json {
                print_json(&story)?
            } else {
                print(&show::story(&story))?
            }
            Ok(Exit::Done)
        }
        Some(SessionsCommand::Tail(args)) => tail(place, args),
        Some(SessionsCommand::Export(args)) => export(place, args),
    }
}

fn failed(error: JournalError) -> Failure {
    RunError::Journal(error).into()
}

fn listed(place: &PlaceArgs, args: &ListArgs) -> Outcome {
    let home = place.home()?;
    let project = if args.all { None } else { Some(open_project(&place.project)?) };
    let filter = ListFilter { project: project.as_deref(), status: args.status.map(Into::into) };
    let sessions = list_with(&home, args.limit, filter).map_err(failed)?;
    if args.json {
        print_json(&sessions)?
    } else {
        print(&show::sessions(&sessions, project.as_deref(), args.status.is_some()))?
    }
    Ok(Exit::Done)
}

/// Shows the last records, and with `--follow` those that come after them.
fn tail(place: &PlaceArgs, args: &TailArgs) -> Outcome {
    let home = place.home()?;
    let id = session_of(&home, &args.session, &here(place))?;
    let (mut tail, last) = Tail::open(&home, &id, args.count).map_err(failed)?;
    if shown(&last, args.json)? == Reader::Gone || !args.follow {
        return Ok(Exit::Done);
    }
    let (interrupt, interrupted) = channel();
    // Without a handler the signal ends the process, which is the next best thing.
    let _ = ctrlc::set_handler(move || {
        let _ = interrupt.send(());
    });
    loop {
        let added = tail.added().map_err(failed)?;
        if shown(&added, args.json)? == Reader::Gone || (tail.run_has_ended() && added.is_empty()) {
            return Ok(Exit::Done);
        }
        if added.is_empty() && RunLock::is_held(&home, &id) == Some(false) {
            // What it wrote between the last look and its end.
            let rest = tail.added().map_err(failed)?;
            if shown(&rest, args.json)? != Reader::Gone && !tail.run_has_ended() {
                // Nobody is left to tell when standard error is gone.
                let _ = writeln!(std::io::stderr().lock(), "the run is gone without a last record: it was killed");
            }
            return Ok(Exit::Done);
        }
        match interrupted.recv_timeout(FOLLOW_EVERY) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) => return Ok(Exit::Interrupted),
            // There is no handler, so nobody will ever send.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(FOLLOW_EVERY),
        }
    }
}

fn shown(entries: &[Entry], json: bool) -> Result<Reader, Failure> {
    let mut text = String::new();
    for entry in entries {
        text.push_str(&if json { json_line(&JournalLine::from(entry))? } else { show::record(entry) });
    }
    if text.is_empty() { Ok(Reader::Listens) } else { print_bytes(text.as_bytes()) }
}

/// A session as one document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Export {
    /// Version of this document's shape.
    version: u32,
    story: SessionStory,
    usage: UsageStats,
}

fn export(place: &PlaceArgs, args: &ExportArgs) -> Outcome {
    let home = place.home()?;
    let id = session_of(&home, &args.session, &here(place))?;
    if args.raw {
        return raw(&SessionPaths::new(&home, &id).map_err(failed)?, &id);
    }
    let story = SessionStory::read(&home, &id).map_err(failed)?;
    if args.markdown {
        print(&show::markdown(&story))?;
    } else {
        let usage = usage(&home, UsageScope::Session(&id)).map_err(failed)?;
        print_json(&Export { version: 1, story, usage })?;
    }
    Ok(Exit::Done)
}

/// The journal byte for byte, as long as it was when this began. A terminal gets it without what it could obey.
fn raw(paths: &SessionPaths, id: &SessionId) -> Outcome {
    let unreadable = |source| {
        failed(JournalError::Unreadable {
            action: "read the session journal",
            path: paths.journal().to_path_buf(),
            source,
        })
    };
    let file = std::fs::File::open(paths.journal()).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(unreadable(std::io::Error::new(
            ErrorKind::InvalidInput,
            format!("the journal of {id} is no file"),
        )));
    }
    let mut from = file.take(metadata.len());
    let harmless = std::io::stdout().is_terminal();
    let mut buffer = vec![0; 64 * 1024];
    let mut kept = 0;
    loop {
        let read = from.read(buffer.get_mut(kept..).unwrap_or_default()).map_err(unreadable)?;
        let bytes = buffer.get(..kept + read).unwrap_or_default();
        // A character that the piece cuts in two waits for its rest.
        let cut = match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() && read > 0 => bytes.len() - error.valid_up_to(),
            _ => 0,
        };
        let whole = bytes.get(..bytes.len() - cut).unwrap_or_default();
        let reader = if harmless {
            print_bytes(brain_packet::terminal_safe(&String::from_utf8_lossy(whole)).as_bytes())?
        } else {
            print_bytes(whole)?
        };
        if read == 0 || reader == Reader::Gone {
            return Ok(Exit::Done);
        }
        let end = whole.len() + cut;
        buffer.copy_within(end - cut..end, 0);
        kept = cut;
    }
}
