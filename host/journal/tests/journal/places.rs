//! Where the files lie, who may look at them, and what is refused.

use std::path::Path;

use brain_journal::{Journal, JournalError, SESSION_ID_CHARS, SessionPaths, new_session_id, parse_session_id, read};
use brain_packet::SessionId;
use miette::Diagnostic;

use crate::support::{Fixture, run_end, session, session_id};

const ID: &str = "20260102-030405-abcdef";

fn code(error: &JournalError) -> String {
    assert!(error.help().is_some(), "no help for {error}");
    error.code().unwrap().to_string()
}

#[cfg(unix)]
#[test]
fn everything_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let above = tempfile::tempdir().unwrap();
    let home = above.path().join("deep/home");
    let journal = session(&home, ID);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let paths = journal.paths();
    let sessions = home.join("sessions");
    for folder in [&home, &sessions, &sessions.join(ID), &paths.artifacts(), &paths.private()] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    journal.append(&run_end("done")).unwrap();
    assert_eq!(mode(paths.journal()), 0o600);
}

#[test]
fn files_lie_where_they_are_documented() {
    let paths = SessionPaths::new(Path::new("/h"), &session_id(ID)).unwrap();
    assert_eq!(paths.journal(), Path::new("/h/sessions/20260102-030405-abcdef.jsonl"));
    assert_eq!(paths.artifacts(), Path::new("/h/sessions/20260102-030405-abcdef/artifacts"));
    assert_eq!(paths.private(), Path::new("/h/sessions/20260102-030405-abcdef/private"));
}

#[test]
fn fresh_ids_have_one_length_and_differ() {
    let ids: std::collections::BTreeSet<_> = (0..64).map(|_| new_session_id().unwrap()).collect();
    assert!(ids.iter().all(|id| id.as_str().len() == SESSION_ID_CHARS));
    assert!(ids.len() > 60, "{} of 64 differ", ids.len());
}

#[test]
fn an_id_of_another_shape_never_becomes_a_path() {
    let home = tempfile::tempdir().unwrap();
    // Sound for a packet, but not one of the journal's own.
    for odd in ["notes", "20260102-030405-ABCDEF", "x..y", "20260102-030405-abcdef.jsonl", "con"] {
        let id = SessionId::new(odd).unwrap();
        for error in [
            Journal::create(home.path(), &id).unwrap_err(),
            Journal::open(home.path(), &id).unwrap_err(),
            read(home.path(), &id).unwrap_err(),
        ] {
            assert_eq!(code(&error), "journal.bad-id");
        }
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    let error = parse_session_id(&format!("\u{1b}[2J{}", "x".repeat(100_000))).unwrap_err().to_string();
    assert!(error.len() < 200 && !error.contains('\u{1b}'), "{error:?}");
}

#[test]
fn a_session_is_created_once_and_opened_when_it_exists() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(code(&Journal::open(home.path(), &session_id(ID)).unwrap_err()), "journal.not-found");
    assert_eq!(code(&read(home.path(), &session_id(ID)).unwrap_err()), "journal.not-found");
    session(home.path(), ID).append(&run_end("one")).unwrap();
    assert_eq!(code(&Journal::create(home.path(), &session_id(ID)).unwrap_err()), "journal.exists");
    let again = Journal::open(home.path(), &session_id(ID)).unwrap();
    again.append(&run_end("two")).unwrap();
    let kinds: Vec<_> =
        read(home.path(), again.id()).unwrap().records.iter().map(|entry| entry.record.type_name()).collect();
    assert_eq!(kinds, ["journal", "run_end", "run_end"]);
}

#[test]
fn a_home_that_cannot_be_one_is_named() {
    let above = tempfile::tempdir().unwrap();
    let file = above.path().join("file");
    std::fs::write(&file, "").unwrap();
    for home in [file.clone(), file.join("below")] {
        let error = Journal::create(&home, &session_id(ID)).unwrap_err();
        assert_eq!(code(&error), "journal.home-not-writable");
        assert!(error.to_string().contains("file"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o500)).unwrap();
    let outcome = Journal::create(home.path(), &session_id(ID));
    // The superuser is let in all the same; then there is a journal, and nothing to refuse.
    let superuser = std::fs::write(home.path().join("probe"), "").is_ok();
    match outcome {
        Ok(_) => assert!(superuser),
        Err(error) => assert_eq!(code(&error), "journal.home-not-writable"),
    }
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn what_is_no_regular_file_is_refused_without_being_opened() {
    let fixture = Fixture::new();
    std::fs::remove_file(fixture.file()).unwrap();
    std::fs::create_dir(fixture.file()).unwrap();
    assert_eq!(code(&read(fixture.home(), fixture.id()).unwrap_err()), "journal.unreadable");
    assert_eq!(code(&Journal::open(fixture.home(), fixture.id()).unwrap_err()), "journal.io");

    #[cfg(unix)]
    {
        // A pipe would block its reader for ever.
        std::fs::remove_dir(fixture.file()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(fixture.file()).status().unwrap().success());
        assert_eq!(code(&read(fixture.home(), fixture.id()).unwrap_err()), "journal.unreadable");
        assert_eq!(code(&Journal::open(fixture.home(), fixture.id()).unwrap_err()), "journal.io");
    }
}
