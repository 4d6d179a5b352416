//! Which sessions there are, newest first, and which one a reference means.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use brain_journal::{
    JournalError, MAX_CANDIDATES, MAX_LIST_LIMIT, MAX_LISTED_FILES, MAX_SESSION_FIELD_CHARS, Record, SessionList,
    SessionStatus, find, list,
};
use miette::Diagnostic;
use tempfile::TempDir;

use crate::support::{journal_path, role, run_end, run_error, run_start, session};

/// A home with these sessions: id, last change in seconds after the epoch, records.
fn home(sessions: &[(&str, u64, &[Record])]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (id, seconds, records) in sessions {
        add(home.path(), id, *seconds, records);
    }
    home
}

/// Adds a session that was last changed at `seconds` after the epoch.
fn add(home: &Path, id: &str, seconds: u64, records: &[Record]) {
    let journal = session(home, id);
    for record in records {
        journal.append(record).unwrap();
    }
    touch(&journal_path(home, id), seconds);
}

fn touch(path: &Path, seconds: u64) {
    File::options().append(true).open(path).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

fn ids(list: &SessionList) -> Vec<&str> {
    list.sessions.iter().map(|row| row.session_id.as_str()).collect()
}

const A: &str = "20260101-000000-aaaaaa";
const B: &str = "20260102-000000-aaaaaa";
const C: &str = "20260102-000000-bbbbbb";

#[test]
fn sessions_come_newest_first_with_what_they_are_about() {
    let home = home(&[
        (A, 30, &[run_start("find it", "/p"), run_end("found"), run_start("again", "/q"), run_end("found twice")]),
        (B, 10, &[run_start("check it", "/p"), run_error("stopped")]),
        (C, 20, &[run_start("do it", "/q")]),
    ]);
    let list = list(home.path(), 25, None).unwrap();
    assert_eq!(ids(&list), [A, C, B]);
    assert_eq!((list.not_shown, list.foreign), (0, 0));
    let [a, c, b] = &list.sessions[..] else { panic!() };
    assert_eq!((a.status, c.status, b.status), {
        use SessionStatus::{Completed, Failed, Incomplete};
        (Completed, Incomplete, Failed)
    });
    assert_eq!(a.prompt.as_deref(), Some("find it"));
    assert_eq!(a.summary.as_deref(), Some("found twice"));
    assert_eq!(a.primary_role, Some(role("review")));
    assert_eq!(a.project_root.as_deref(), Some("/p"));
    assert_eq!(a.updated, 30_000);
    assert_eq!(b.error.as_deref(), Some("stopped"));
    assert_eq!((c.summary.as_deref(), c.error.as_deref()), (None, None));
}

#[test]
fn sessions_of_one_moment_are_ordered_by_id() {
    let home = home(&[(B, 5, &[]), (C, 5, &[]), (A, 5, &[])]);
    assert_eq!(ids(&list(home.path(), 25, None).unwrap()), [C, B, A]);
}

#[test]
fn the_status_is_that_of_the_latest_run() {
    let (start, end, error) = (run_start("p", "/p"), run_end("s"), run_error("e"));
    for (records, status) in [
        (vec![], SessionStatus::Incomplete),
        (vec![start.clone(), error.clone(), start.clone(), end.clone()], SessionStatus::Completed),
        (vec![start.clone(), end.clone(), start.clone()], SessionStatus::Incomplete),
        (vec![start.clone(), end.clone(), start, error], SessionStatus::Failed),
        (vec![end], SessionStatus::Completed),
    ] {
        let home = home(&[(A, 1, &records)]);
        assert_eq!(list(home.path(), 1, None).unwrap().sessions[0].status, status, "{records:?}");
    }
}

#[test]
fn a_project_has_its_own_sessions() {
    let home = home(&[
        (A, 30, &[run_start("one", "/p")]),
        (B, 20, &[run_start("two", "/p/")]),
        (C, 10, &[run_start("three", "/pp")]),
        ("20260103-000000-aaaaaa", 40, &[]),
    ]);
    assert_eq!(ids(&list(home.path(), 25, Some(Path::new("/p"))).unwrap()), [A, B]);
    assert_eq!(ids(&list(home.path(), 25, Some(Path::new("/none"))).unwrap()), [""; 0]);
    // The limit counts what is shown, not what was passed over on the way.
    assert_eq!(ids(&list(home.path(), 1, Some(Path::new("/pp"))).unwrap()), [C]);
}

#[test]
fn a_list_is_limited_and_says_how_many_it_leaves_out() {
    let home = home(&[(A, 30, &[]), (B, 20, &[]), (C, 10, &[])]);
    let two = list(home.path(), 2, None).unwrap();
    assert_eq!((ids(&two), two.not_shown), (vec![A, B], 1));
    let none = list(home.path(), 0, None).unwrap();
    assert_eq!((none.sessions.len(), none.not_shown), (0, 3));
}

#[test]
fn no_list_is_longer_than_the_longest() {
    let home = tempfile::tempdir().unwrap();
    add(home.path(), A, 1, &[]);
    for number in 0..MAX_LIST_LIMIT {
        let id = format!("20250101-{number:06}-aaaaaa");
        File::create(journal_path(home.path(), &id)).unwrap();
    }
    let all = list(home.path(), usize::MAX, None).unwrap();
    assert_eq!((all.sessions.len(), all.not_shown), (MAX_LIST_LIMIT, 1));
}

#[test]
fn a_list_chooses_from_the_newest_journals_and_counts_the_others() {
    let home = tempfile::tempdir().unwrap();
    add(home.path(), A, 1, &[run_start("the oldest", "/p")]);
    for number in 0..MAX_LISTED_FILES {
        File::create(journal_path(home.path(), &format!("20250101-{number:06}-aaaaaa"))).unwrap();
    }
    // The one session of the project is older than all that are chosen from.
    let mine = list(home.path(), 5, Some(Path::new("/p"))).unwrap();
    assert_eq!((mine.sessions.len(), mine.not_shown), (0, 1));
    assert_eq!(find(home.path(), "20260101").unwrap().as_str(), A);
}

#[test]
fn long_texts_are_clipped_by_characters() {
    let exact = "ü".repeat(MAX_SESSION_FIELD_CHARS);
    let home = home(&[(A, 1, &[run_start(&exact, "/p"), run_end(&format!("{exact}ü"))])]);
    let row = list(home.path(), 1, None).unwrap().sessions.remove(0);
    assert_eq!(row.prompt.as_deref(), Some(exact.as_str()));
    let summary = row.summary.unwrap();
    assert_eq!(summary.chars().count(), MAX_SESSION_FIELD_CHARS);
    assert!(summary.ends_with("ü…"));
}

#[test]
fn what_is_no_session_is_counted_and_what_cannot_be_read_is_shown() {
    let home = home(&[(A, 30, &[run_start("one", "/p")])]);
    let sessions = home.path().join("sessions");
    std::fs::write(sessions.join("notes.jsonl"), "{}\n").unwrap();
    std::fs::write(sessions.join("20260102-000000-aaaaaa.txt"), "").unwrap();
    std::fs::create_dir(sessions.join("20260109-000000-aaaaaa.jsonl")).unwrap();
    let list = list(home.path(), 25, None).unwrap();
    assert_eq!((ids(&list), list.foreign), (vec![A], 2));

    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        std::fs::write(sessions.join(std::ffi::OsStr::from_bytes(b"\xff\xfe.jsonl")), "").unwrap();
        std::os::unix::fs::symlink("/dev/zero", sessions.join("20260108-000000-aaaaaa.jsonl")).unwrap();
        std::os::unix::fs::symlink("nowhere", sessions.join("20260107-000000-aaaaaa.jsonl")).unwrap();
        let list = brain_journal::list(home.path(), 25, None).unwrap();
        assert_eq!((ids(&list), list.foreign), (vec![A], 5));

        // A journal that lies on another disk is one.
        std::fs::rename(journal_path(home.path(), A), home.path().join("moved")).unwrap();
        std::os::unix::fs::symlink("../moved", journal_path(home.path(), A)).unwrap();
        assert_eq!(brain_journal::list(home.path(), 25, None).unwrap().sessions[0].prompt.as_deref(), Some("one"));
    }
}

#[test]
fn a_home_without_sessions_has_an_empty_list_and_a_broken_one_an_error() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(list(home.path(), 25, None).unwrap(), SessionList::default());
    assert_eq!(list(&home.path().join("none"), 25, None).unwrap(), SessionList::default());
    std::fs::write(home.path().join("sessions"), "").unwrap();
    let error = list(home.path(), 25, None).unwrap_err();
    assert_eq!(error.code().unwrap().to_string(), "journal.unreadable");
}

#[test]
fn a_reference_is_an_id_or_the_beginning_of_exactly_one() {
    let home = home(&[(A, 30, &[]), (B, 20, &[]), (C, 10, &[])]);
    let found = |reference: &str| find(home.path(), reference).map(|id| id.to_string());
    assert_eq!(found(A).unwrap(), A);
    assert_eq!(found("20260101").unwrap(), A);
    assert_eq!(found("20260102-000000-b").unwrap(), C);

    let error = found("2026").unwrap_err();
    let JournalError::Ambiguous { candidates, total, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*total, 3);
    assert_eq!(candidates.iter().map(|id| id.as_str()).collect::<Vec<_>>(), [C, B, A]);
    assert!(error.to_string().contains(B), "{error}");

    for (reference, code) in [
        ("20260102", "journal.ambiguous"),
        ("2027", "journal.not-found"),
        ("20260101-000000-zzzzzz", "journal.not-found"),
        ("", "journal.bad-reference"),
        ("../20260101", "journal.bad-reference"),
        ("20260101*", "journal.bad-reference"),
        ("20260101-000000-aaaaaaa", "journal.bad-reference"),
        ("é", "journal.bad-reference"),
    ] {
        let error = found(reference).unwrap_err();
        assert_eq!(error.code().unwrap().to_string(), code, "{reference}");
        assert!(error.help().is_some());
    }
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(find(empty.path(), "2026"), Err(JournalError::NotFound { .. })));
}

#[test]
fn an_ambiguous_reference_lists_the_newest_candidates_only() {
    let home = tempfile::tempdir().unwrap();
    add(home.path(), A, 1, &[]);
    for number in 0..30 {
        File::create(journal_path(home.path(), &format!("20260101-0001{number:02}-aaaaaa"))).unwrap();
    }
    let error = find(home.path(), "20260101").unwrap_err();
    let JournalError::Ambiguous { candidates, total, .. } = &error else { panic!("{error:?}") };
    assert_eq!((candidates.len(), *total), (MAX_CANDIDATES, 31));
    assert_eq!(candidates[0].as_str(), "20260101-000129-aaaaaa");
    assert!(error.to_string().ends_with("and 21 more"), "{error}");
}
