//! Trees that are not what a change set expects, or stop being it in the middle.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use brain_changes::{
    Applied, ApplyError, Builder, ChangeSet, Conflict, Contents, Failure, Intent, IntentId, IntentLog, MemoryLog,
    Outcome, Reached, Side, State, Step, apply, apply_watched, recover,
};
use brain_packet::Digest;
use common::{Model, Node, Place, assert_same, between, file, folder, model, place, read_tree};
use miette::Diagnostic as _;

fn small() -> (Model, Model) {
    let before = model(&[
        ("src", folder(0o755)),
        ("src/lib.rs", file("old\n", 0o644)),
        ("src/gone.rs", file("gone\n", 0o644)),
        ("top", file("top\n", 0o755)),
        ("other", file("not touched\n", 0o600)),
    ]);
    let after = model(&[
        ("src", folder(0o755)),
        ("src/lib.rs", file("new\n", 0o644)),
        ("src/new.rs", file("added\n", 0o644)),
        ("src/in", folder(0o755)),
        ("src/in/deep.rs", file("deep\n", 0o644)),
        ("top", file("top\nmore\n", 0o755)),
        ("other", file("not touched\n", 0o600)),
    ]);
    (before, after)
}

fn prepared() -> (Place, ChangeSet, Model, Model) {
    let (before, after) = small();
    let place = place(&before);
    let set = between(&before, &after, &[], &place.contents);
    (place, set, before, after)
}

fn conflicts(error: ApplyError) -> Vec<Conflict> {
    match error {
        ApplyError::Conflict { conflicts, left } => {
            assert!(left.is_empty(), "{left:?}");
            conflicts
        }
        other => panic!("{other:?}"),
    }
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o644.into(), 0).unwrap();
}

#[test]
fn every_conflict_is_listed_and_nothing_is_written() {
    let names = ["changed", "mode", "gone", "link", "pipe", "folder", "setuid", "socket"];
    let mut before = Model::new();
    let mut after = Model::new();
    for name in names {
        before.insert(name.into(), file(format!("{name}\n"), 0o644));
        after.insert(name.into(), file(format!("{name}\nnew\n"), 0o644));
    }
    for name in ["deleted", "linked/in", "filed/in"] {
        before.insert(name.into(), file(name, 0o644));
    }
    for name in ["linked", "filed"] {
        before.insert(name.into(), folder(0o755));
        after.insert(name.into(), folder(0o755));
    }
    for name in ["exists", "exists-as-link", "exists-as-folder"] {
        after.insert(name.into(), file(name, 0o644));
    }
    let place = place(&before);
    let set = between(&before, &after, &[], &place.contents);
    let mut builder = Builder::new(&place.contents);
    builder.added("nowhere/deep/x", Side::new(0o644, &b"x"[..])).unwrap();
    let homeless = builder.finish().unwrap();

    let at = |name: &str| place.root.join(name);
    let outside = place.root.parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("in"), "linked/in").unwrap();
    fs::write(outside.join("link"), "link\n").unwrap();
    fs::write(at("changed"), "theirs\n").unwrap();
    fs::set_permissions(at("mode"), fs::Permissions::from_mode(0o640)).unwrap();
    for name in ["gone", "link", "pipe", "folder", "socket", "linked/in", "filed/in", "deleted"] {
        fs::remove_file(at(name)).unwrap();
    }
    symlink(outside.join("link"), at("link")).unwrap();
    fifo(&at("pipe"));
    fs::create_dir(at("folder")).unwrap();
    fs::set_permissions(at("setuid"), fs::Permissions::from_mode(0o4644)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    fs::remove_dir(at("linked")).unwrap();
    symlink(&outside, at("linked")).unwrap();
    fs::remove_dir(at("filed")).unwrap();
    fs::write(at("filed"), "").unwrap();
    fs::write(at("exists"), "exists").unwrap();
    symlink("/nowhere", at("exists-as-link")).unwrap();
    fs::create_dir(at("exists-as-folder")).unwrap();

    let now = read_tree(&place.root);
    let mut log = MemoryLog::default();
    let error = apply(&set, &place.root, &place.contents, &mut log).unwrap_err();
    assert_eq!(error.code().unwrap().to_string(), "changes.conflict");
    let text = error.to_string();
    assert!(text.contains("14 places") && text.contains("and 4 more"), "{text}");
    let found: Vec<(String, State)> =
        conflicts(error).into_iter().map(|conflict| (conflict.path, conflict.found)).collect();
    let blocked = |at: &str, by| State::Blocked { at: at.into(), by: Box::new(by) };
    let a_file = |bytes: &str, mode| State::File { digest: Digest::of(bytes.as_bytes()), mode };
    let expected = [
        ("changed", a_file("theirs\n", 0o644)),
        ("deleted", State::Missing),
        ("exists", a_file("exists", 0o644)),
        ("exists-as-folder", State::Folder),
        ("exists-as-link", State::Link),
        ("filed/in", blocked("filed", State::SomeFile)),
        ("folder", State::Folder),
        ("gone", State::Missing),
        ("link", State::Link),
        ("linked/in", blocked("linked", State::Link)),
        ("mode", a_file("mode\n", 0o640)),
        ("pipe", State::Special),
        ("setuid", State::SpecialMode { mode: 0o4644 }),
        ("socket", State::Special),
    ]
    .map(|(path, state)| (path.to_owned(), state));
    assert_eq!(found, expected);
    assert_same(&read_tree(&place.root), &now, "nothing is written");
    assert_eq!(log, MemoryLog::default());

    let missing = conflicts(apply(&homeless, &place.root, &place.contents, &mut log).unwrap_err());
    assert_eq!(
        (missing[0].path.as_str(), &missing[0].expected, &missing[0].found),
        ("nowhere", &State::Folder, &State::Missing)
    );
}

/// Runs an apply in which `meddle` is called before the step with the number `at`; false when there are not so many steps.
fn meddled(
    place: &Place,
    set: &ChangeSet,
    log: &mut MemoryLog,
    at: usize,
    meddle: &mut dyn FnMut(Step<'_>),
) -> (bool, Result<Applied, ApplyError>) {
    let mut step = 0;
    let mut watch = |next: Step<'_>| {
        if step == at {
            meddle(next);
        }
        step += 1;
        Ok(())
    };
    let result = apply_watched(set, &place.root, &place.contents, log, &mut watch);
    (step > at, result)
}

#[test]
fn a_folder_that_becomes_a_link_at_any_step_leads_nowhere() {
    for at in 0.. {
        let (place, set, before, _) = prepared();
        let outside = place.root.parent().unwrap().join("outside");
        common::write_tree_at(&outside, &before);
        let untouched = read_tree(&outside);
        let mut log = MemoryLog::default();
        let (more, result) = meddled(&place, &set, &mut log, at, &mut |_| {
            fs::rename(place.root.join("src"), place.root.join("moved")).unwrap();
            symlink(outside.join("src"), place.root.join("src")).unwrap();
        });
        // Whatever became of it: nothing behind the link, neither then nor by a recovery.
        assert_same(&read_tree(&outside), &untouched, &format!("step {at}"));
        if let Some((intent, reached)) = log.open().map(|(intent, reached)| (intent.clone(), reached)) {
            let _ = result.unwrap_err();
            let recovered = recover(&intent, reached, &place.root, &place.contents, &mut log).unwrap();
            assert!(!recovered.kept.is_empty());
            assert_same(&read_tree(&outside), &untouched, &format!("recovery after step {at}"));
        }
        if !more {
            break;
        }
    }
}

#[test]
fn what_somebody_writes_at_any_step_is_never_lost() {
    for (path, theirs) in [
        ("src/lib.rs", "somebody's work\n"),
        ("src/new.rs", "a file of somebody else\n"),
        ("src/gone.rs", "not gone\n"),
    ] {
        for at in 0.. {
            let (place, set, before, after) = prepared();
            let mut log = MemoryLog::default();
            let mut by_then = String::new();
            let mut is_prepared = false;
            let (more, result) = meddled(&place, &set, &mut log, at, &mut |step| {
                by_then = format!("{step:?}");
                is_prepared = !matches!(
                    step,
                    Step::Check(_)
                        | Step::Save(_)
                        | Step::Intent
                        | Step::MakeFolder(_)
                        | Step::Create(_)
                        | Step::Complete(_)
                );
                fs::write(place.root.join(path), theirs).unwrap();
            });
            if !more {
                break;
            }
            let context = format!("{path} written before {by_then}");
            assert!(log.open().is_none(), "{context}");
            assert!(is_prepared || result.is_err(), "{context}: found by the second look");
            let found = read_tree(&place.root);
            let expected = match &result {
                Ok(_) => &after,
                Err(error) => {
                    assert_eq!(error.code().unwrap().to_string(), "changes.conflict", "{context}");
                    &before
                }
            };
            let mut expected = expected.clone();
            expected.insert(path.into(), file(theirs, 0o644));
            assert_same(&found, &expected, &context);
            if let Ok(applied) = &result {
                // Written after ours was in place, it was not in the way; before, it was kept and is told.
                assert!(applied.kept.iter().all(|kept| kept.path == path), "{context}");
                let undone = apply(&applied.undo, &place.root, &place.contents, &mut log);
                if applied.kept.is_empty() {
                    assert_eq!(conflicts(undone.unwrap_err())[0].path, path, "{context}");
                } else {
                    let _ = undone.unwrap();
                    let mut expected = before.clone();
                    expected.insert(path.into(), file(theirs, 0o644));
                    assert_same(&read_tree(&place.root), &expected, &format!("undone, {context}"));
                }
            }
        }
    }
}

#[test]
fn a_folder_that_somebody_makes_in_between_is_theirs() {
    let (place, set, mut before, _) = prepared();
    let mut log = MemoryLog::default();
    let mut watch = |step: Step<'_>| {
        if step == Step::MakeFolder("src/in") { fs::create_dir(place.root.join("src/in")) } else { Ok(()) }
    };
    let found = conflicts(apply_watched(&set, &place.root, &place.contents, &mut log, &mut watch).unwrap_err());
    assert_eq!((found[0].path.as_str(), &found[0].found), ("src/in", &State::Folder));
    let mode = fs::metadata(place.root.join("src/in")).unwrap().permissions().mode() & 0o777;
    before.insert("src/in".into(), folder(mode));
    assert_same(&read_tree(&place.root), &before, "their folder stays");
    assert_eq!(log.outcome, Some(Outcome::RolledBack));
}

struct Crash;

#[test]
fn what_somebody_writes_after_a_crash_is_kept_and_so_is_the_proposal() {
    let theirs = "written after the crash\n";
    for path in ["src/lib.rs", "src/new.rs", "src/gone.rs", "top"] {
        for at in 0.. {
            let (place, set, before, after) = prepared();
            let mut log = MemoryLog::default();
            let crashed = catch_unwind(AssertUnwindSafe(|| {
                meddled(&place, &set, &mut log, at, &mut |_| resume_unwind(Box::new(Crash))).1.unwrap()
            }));
            if crashed.is_ok() {
                break;
            }
            let mode = if path == "top" { 0o755 } else { 0o644 };
            fs::write(place.root.join(path), theirs).unwrap();
            let open = log.open().map(|(intent, reached)| (intent.clone(), reached));
            let (mut expected, context) = (before.clone(), format!("{path} after a crash at {at}"));
            if let Some((intent, reached)) = open {
                let recovered = recover(&intent, reached, &place.root, &place.contents, &mut log).unwrap();
                if reached == Reached::Commit {
                    expected = after.clone();
                    assert_eq!(recovered.outcome, Outcome::AppliedExcept, "{context}");
                    assert_eq!(recovered.kept.len(), 1, "{context}");
                    assert_eq!(recovered.kept[0].path, path, "{context}");
                } else {
                    assert_eq!((recovered.outcome, recovered.kept.len()), (Outcome::RolledBack, 0), "{context}");
                }
            }
            expected.insert(path.into(), file(theirs, mode));
            assert_same(&read_tree(&place.root), &expected, &context);
            for change in &set.changes {
                assert!(change.new.as_ref().is_none_or(|new| place.contents.read(new).is_ok()), "{context}");
            }
        }
    }
}

#[test]
fn failures_have_types_and_leave_the_tree() {
    use io::ErrorKind as Kind;
    for (kind, code) in [
        (Kind::StorageFull, "changes.disk-full"),
        (Kind::QuotaExceeded, "changes.disk-full"),
        (Kind::ReadOnlyFilesystem, "changes.read-only"),
        (Kind::PermissionDenied, "changes.permission"),
        (Kind::Interrupted, "changes.stopped"),
        (Kind::Other, "changes.io"),
    ] {
        let (place, set, before, _) = prepared();
        let mut log = MemoryLog::default();
        let mut watch = |step: Step<'_>| match step {
            Step::Complete(path) if path.contains("in/") => Err(io::Error::from(kind)),
            _ => Ok(()),
        };
        let error = apply_watched(&set, &place.root, &place.contents, &mut log, &mut watch).unwrap_err();
        assert_eq!(error.code().unwrap().to_string(), code);
        assert!(error.help().is_some());
        assert_same(&read_tree(&place.root), &before, code);
        assert_eq!(log.outcome, Some(Outcome::RolledBack));
    }
}

#[test]
fn whoever_stops_it_gets_all_or_nothing() {
    for at in 0.. {
        let (place, set, before, after) = prepared();
        let mut log = MemoryLog::default();
        let mut step = 0;
        let mut committed = false;
        // From some step on the answer is always that it should stop.
        let mut watch = |next: Step<'_>| {
            step += 1;
            if step <= at {
                committed |= next == Step::Commit;
                return Ok(());
            }
            Err(io::Error::from(io::ErrorKind::Interrupted))
        };
        let result = apply_watched(&set, &place.root, &place.contents, &mut log, &mut watch);
        assert!(log.open().is_none(), "stopped after {at} steps");
        assert_eq!(result.is_ok(), committed, "stopped after {at} steps: {result:?}");
        assert_same(&read_tree(&place.root), if committed { &after } else { &before }, &format!("after {at} steps"));
        if step <= at {
            break;
        }
    }
}

#[test]
fn what_cannot_be_taken_back_is_named() {
    let (place, set, before, _) = prepared();
    let mut log = MemoryLog::default();
    let mut watch = |step: Step<'_>| match step {
        Step::Commit => Err(io::Error::from(io::ErrorKind::Interrupted)),
        Step::TakeBack("src/in") => Err(io::Error::from(io::ErrorKind::PermissionDenied)),
        _ => Ok(()),
    };
    let error = apply_watched(&set, &place.root, &place.contents, &mut log, &mut watch).unwrap_err();
    assert!(error.to_string().contains("could not be removed again: `src/in`"), "{error}");
    assert!(matches!(error, ApplyError::Stopped { left, .. } if left == ["src/in"]));
    let mut expected = before;
    expected.insert("src/in".into(), folder(0o700));
    assert_same(&read_tree(&place.root), &expected, "all but the folder");
}

/// Runs in a thread that has no privilege to ignore permissions.
fn unprivileged<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            #[cfg(target_os = "linux")]
            {
                use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
                let none = CapabilitySet::empty();
                set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).unwrap();
            }
            run()
        });
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

#[test]
fn folders_and_files_without_permission() {
    let set_mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    // A folder in which only files go, one in which files are replaced and made, a file that cannot be read.
    for (path, mode, code) in
        [("src", 0o555, "changes.permission"), ("src", 0o000, "changes.conflict"), ("top", 0o200, "changes.conflict")]
    {
        let (place, set, ..) = prepared();
        set_mode(&place.root.join(path), mode);
        let (result, log) = unprivileged(|| {
            let mut log = MemoryLog::default();
            (apply(&set, &place.root, &place.contents, &mut log), log)
        });
        let error = result.unwrap_err();
        assert_eq!(error.code().unwrap().to_string(), code, "{path}: {error}");
        assert_eq!(log, MemoryLog::default(), "{path}: found before anything was written down");
        set_mode(&place.root.join(path), 0o755);
        assert_same(&read_tree(&place.root), &small().0, path);
    }
    // Only new files, and one in a folder that is new too.
    let (place, ..) = prepared();
    let mut builder = Builder::new(&place.contents);
    builder.added("first", Side::new(0o644, &b"1"[..])).unwrap();
    builder.added("src/second", Side::new(0o644, &b"2"[..])).unwrap();
    builder.folder_added("src/folder", 0o755).unwrap();
    builder.added("src/folder/third", Side::new(0o644, &b"3"[..])).unwrap();
    let set = builder.finish().unwrap();
    set_mode(&place.root.join("src"), 0o555);
    let mut log = MemoryLog::default();
    let result = unprivileged(|| apply(&set, &place.root, &place.contents, &mut log));
    assert!(matches!(result, Err(ApplyError::Permission { source: Failure { path, .. }, .. }) if path == "src"));
    assert_eq!(log, MemoryLog::default(), "found before anything was written down");
    set_mode(&place.root.join("src"), 0o755);
    assert_same(&read_tree(&place.root), &small().0, "nothing is made");
}

#[test]
fn a_name_that_is_not_utf_8_is_taken_for_no_other() {
    use std::os::unix::ffi::OsStrExt;
    let replaced = "a/x\u{fffd}";
    let before = model(&[("a", folder(0o755)), (replaced, file("known", 0o644))]);
    let after = model(&[("a", file("a file by now", 0o644))]);
    let place = place(&before);
    let set = between(&before, &after, &[], &place.contents);
    let odd = place.root.join("a").join(std::ffi::OsStr::from_bytes(b"x\xff"));
    fs::write(&odd, "theirs").unwrap();
    let found = conflicts(apply(&set, &place.root, &place.contents, &mut MemoryLog::default()).unwrap_err());
    assert_eq!((found.len(), found[0].path.as_str(), &found[0].found), (1, r"a/x\xff", &State::SomeFile));
    assert_eq!(fs::read(&odd).unwrap(), b"theirs");
    fs::remove_file(&odd).unwrap();
    let _ = apply(&set, &place.root, &place.contents, &mut MemoryLog::default()).unwrap();
    assert_same(&read_tree(&place.root), &after, "without it");
}

#[test]
fn a_tree_says_whether_it_is_what_a_set_was_made_from() {
    let (place, set, ..) = prepared();
    let of = |set: &ChangeSet| brain_changes::is_base(set, &place.root).unwrap();
    assert!(of(&set) && !of(&set.inverse()));
    let applied = apply(&set, &place.root, &place.contents, &mut MemoryLog::default()).unwrap();
    assert!(!of(&set) && of(&applied.undo));
    // Of folders alone, nothing is ever in the way.
    let mut folders = Builder::new(&place.contents);
    folders.folder_added("only", 0o755).unwrap();
    let folders = folders.finish().unwrap();
    assert!(of(&folders) && !of(&folders.inverse()));
    fs::create_dir(place.root.join("only")).unwrap();
    assert!(!of(&folders) && of(&folders.inverse()));
}

#[test]
fn what_a_killed_process_left_among_the_contents_is_swept_unless_somebody_is_writing() {
    let (place, ..) = prepared();
    let folder = place.contents.folder();
    let kept = place.contents.put(&mut &b"kept"[..]).unwrap();
    let before = fs::read_dir(folder).unwrap().count();
    for name in [".put-abc", ".put-"] {
        fs::write(folder.join(name), "torn").unwrap();
    }
    /// A content of which the middle is a moment at which others sweep.
    struct Sweeps<'p>(&'p Path, Option<usize>);
    impl io::Read for Sweeps<'_> {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.1 = Some(Contents::sweep(self.0)?);
            Ok(0)
        }
    }
    let mut writing = Sweeps(folder, None);
    place.contents.put(&mut writing).unwrap();
    assert_eq!(writing.1, Some(0), "somebody is writing");
    assert_eq!(Contents::sweep(folder).unwrap(), 2);
    assert_eq!(fs::read_dir(folder).unwrap().count(), before + 1);
    place.contents.read(&kept).unwrap();
    assert_eq!(Contents::sweep(&folder.join("nowhere")).unwrap(), 0);
}

#[test]
fn a_root_that_is_gone_or_no_folder() {
    let (place, set, ..) = prepared();
    for root in [place.root.join("nowhere"), place.root.join("top")] {
        let error = apply(&set, &root, &place.contents, &mut MemoryLog::default()).unwrap_err();
        assert_eq!(error.code().unwrap().to_string(), "changes.root-gone");
    }
    // A link to the root is the caller's to follow.
    let link = place.root.with_file_name("link");
    symlink(&place.root, &link).unwrap();
    let _ = apply(&set, &link, &place.contents, &mut MemoryLog::default()).unwrap();
    assert_same(&read_tree(&place.root), &small().1, "through the link");
}

#[test]
fn contents_that_are_missing_or_damaged_are_never_applied() {
    let damages: [fn(&Path); 4] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::write(path, "evil\n").unwrap(),
        |path| {
            fs::remove_file(path).unwrap();
            symlink("/etc/hostname", path).unwrap();
        },
        |path| {
            fs::remove_file(path).unwrap();
            fifo(path);
        },
    ];
    for damage in damages {
        let (place, set, before, _) = prepared();
        damage(&place.contents.folder().join(Digest::of(b"added\n").as_str()));
        let mut log = MemoryLog::default();
        let error = apply(&set, &place.root, &place.contents, &mut log).unwrap_err();
        assert_eq!(error.code().unwrap().to_string(), "changes.contents");
        assert_same(&read_tree(&place.root), &before, "contents");
        assert!(log.open().is_none());
    }
}

/// A log that fails from a record on.
#[derive(Default)]
struct Full {
    records: usize,
    from: usize,
    inner: MemoryLog,
}

impl Full {
    fn next(&mut self) -> io::Result<()> {
        self.records += 1;
        if self.records > self.from { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl IntentLog for Full {
    fn intent(&mut self, intent: &Intent) -> io::Result<()> {
        self.next()?;
        self.inner.intent(intent)
    }

    fn commit(&mut self, id: &IntentId) -> io::Result<()> {
        self.next()?;
        self.inner.commit(id)
    }

    fn end(&mut self, id: &IntentId, outcome: Outcome) -> io::Result<()> {
        self.next()?;
        self.inner.end(id, outcome)
    }
}

#[test]
fn a_log_that_cannot_be_written_leaves_old_or_new() {
    for (from, code, is_new) in [(0, "changes.log", false), (1, "changes.log", false), (2, "changes.not-ended", true)] {
        let (place, set, before, after) = prepared();
        let expected = if is_new { &after } else { &before };
        let mut log = Full { from, ..Full::default() };
        let error = apply(&set, &place.root, &place.contents, &mut log).unwrap_err();
        assert_eq!(error.code().unwrap().to_string(), code);
        assert_same(&read_tree(&place.root), expected, code);
        // The next start finds what is left to do: nothing.
        if let Some((intent, reached)) = log.inner.open().map(|(intent, reached)| (intent.clone(), reached)) {
            let _ = recover(&intent, reached, &place.root, &place.contents, &mut log.inner).unwrap();
            assert_same(&read_tree(&place.root), expected, code);
            assert!(log.inner.open().is_none());
        }
    }
}

#[test]
fn an_intent_whose_plan_is_damaged_touches_nothing() {
    let (place, set, ..) = prepared();
    let mut log = MemoryLog::default();
    let mut watch = |step: Step<'_>| if step == Step::Commit { resume_unwind(Box::new(Crash)) } else { Ok(()) };
    let crash = catch_unwind(AssertUnwindSafe(|| {
        apply_watched(&set, &place.root, &place.contents, &mut log, &mut watch).unwrap()
    }));
    assert!(crash.is_err());
    let intent = log.open().unwrap().0.clone();
    let now = read_tree(&place.root);
    let other = place.contents.put(&mut &b"{}"[..]).unwrap();
    let path = |digest: &Digest| place.contents.folder().join(digest.as_str());
    let plan = fs::read_to_string(path(&intent.plan)).unwrap();
    // A folder that the set does not add: a roll back would remove it.
    let elsewhere = plan.replacen(r#""early":[{"path":"src/in""#, r#""early":[{"path":"theirs""#, 1);
    assert_ne!(elsewhere, plan);
    let elsewhere = place.contents.put(&mut elsewhere.as_bytes()).unwrap();
    let victim = plan.replacen("src/.brain-apply-", "src/lib.rs-", 1);
    assert_ne!(victim, plan);
    let victim = place.contents.put(&mut victim.as_bytes()).unwrap();
    for intent in [
        Intent { plan: other.clone(), ..intent.clone() },
        Intent { set: other, ..intent.clone() },
        Intent { plan: elsewhere, ..intent.clone() },
        Intent { plan: victim, ..intent.clone() },
        Intent { plan: Digest::of(b"not kept"), ..intent.clone() },
        Intent { id: "0123456789abcdef".to_owned().try_into().unwrap(), ..intent.clone() },
    ] {
        for reached in [Reached::Intent, Reached::Commit] {
            let error = recover(&intent, reached, &place.root, &place.contents, &mut log).unwrap_err();
            assert_eq!(error.code().unwrap().to_string(), "changes.unrecovered", "{intent:?}");
            assert_same(&read_tree(&place.root), &now, "untouched");
        }
    }
    let _ = recover(&intent, Reached::Intent, &place.root, &place.contents, &mut log).unwrap();
    assert_same(&read_tree(&place.root), &small().0, "the right one");
}

#[test]
fn folders_that_are_not_empty_or_there_already_stay() {
    let before = model(&[("old", folder(0o750)), ("old/gone", file("gone", 0o644))]);
    let after = model(&[("new", folder(0o755)), ("new/in", file("in", 0o644))]);
    let place = place(&before);
    let set = between(&before, &after, &[], &place.contents);
    fs::write(place.root.join("old/theirs"), "theirs").unwrap();
    fs::create_dir(place.root.join("new")).unwrap();
    fs::set_permissions(place.root.join("new"), fs::Permissions::from_mode(0o700)).unwrap();
    let now = read_tree(&place.root);
    let mut log = MemoryLog::default();
    let applied = apply(&set, &place.root, &place.contents, &mut log).unwrap();
    assert_eq!(applied.folders_left, ["old"]);
    let expected = [
        ("old", folder(0o750)),
        ("old/theirs", file("theirs", 0o644)),
        ("new", folder(0o700)),
        ("new/in", file("in", 0o644)),
    ];
    assert_same(&read_tree(&place.root), &model(&expected), "applied");
    let _ = apply(&applied.undo, &place.root, &place.contents, &mut log).unwrap();
    assert_same(&read_tree(&place.root), &now, "undone");
}

#[test]
fn a_file_takes_the_place_of_a_folder_only_when_all_in_it_goes() {
    let before = model(&[("a", folder(0o755)), ("a/b", folder(0o755)), ("a/b/x", file("x", 0o644))]);
    let after = model(&[("a", file("a", 0o644))]);
    let place = place(&before);
    let set = between(&before, &after, &[], &place.contents);
    fs::write(place.root.join("a/b/theirs"), "theirs").unwrap();
    let now = read_tree(&place.root);
    let found = conflicts(apply(&set, &place.root, &place.contents, &mut MemoryLog::default()).unwrap_err());
    assert_eq!(found.iter().map(|conflict| conflict.path.as_str()).collect::<Vec<_>>(), ["a/b/theirs"]);
    assert_same(&read_tree(&place.root), &now, "not begun");
}

#[test]
fn folders_that_shut_out_their_owner_and_modes_that_a_umask_would_cut() {
    let before = Model::new();
    let after = model(&[
        ("shut", folder(0o555)),
        ("shut/in", folder(0o500)),
        ("shut/in/x", file("x", 0o400)),
        ("open", folder(0o777)),
        ("open/x", file("x", 0o777)),
    ]);
    let place = place(&before);
    let set = between(&before, &after, &[], &place.contents);
    let applied = unprivileged(|| apply(&set, &place.root, &place.contents, &mut MemoryLog::default()).unwrap());
    assert_same(&read_tree(&place.root), &after, "applied");
    // Taking it back needs the permissions that the set itself took away: said before anything is done.
    let undone = unprivileged(|| apply(&applied.undo, &place.root, &place.contents, &mut MemoryLog::default()));
    assert_eq!(undone.unwrap_err().code().unwrap().to_string(), "changes.permission");
    assert_same(&read_tree(&place.root), &after, "not undone");
    for path in ["shut", "shut/in"] {
        fs::set_permissions(place.root.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let _ = unprivileged(|| apply(&applied.undo, &place.root, &place.contents, &mut MemoryLog::default()).unwrap());
    assert_same(&read_tree(&place.root), &before, "undone");
}

#[test]
fn another_name_of_a_replaced_file_keeps_its_content() {
    let (place, set, ..) = prepared();
    let other = place.root.with_file_name("hard-link");
    fs::hard_link(place.root.join("top"), &other).unwrap();
    let _ = apply(&set, &place.root, &place.contents, &mut MemoryLog::default()).unwrap();
    assert_eq!(fs::read(&other).unwrap(), b"top\n");
}

#[test]
fn a_file_that_is_too_large_is_a_conflict_and_not_read() {
    let (place, set, ..) = prepared();
    let bytes = brain_changes::MAX_CONTENT_BYTES + 1;
    fs::OpenOptions::new().write(true).open(place.root.join("top")).unwrap().set_len(bytes).unwrap();
    let found = conflicts(apply(&set, &place.root, &place.contents, &mut MemoryLog::default()).unwrap_err());
    assert_eq!(found[0].found, State::TooLarge { bytes });
}

#[test]
fn an_empty_set_leaves_no_trace() {
    let (place, _, before, _) = prepared();
    let mut log = MemoryLog::default();
    let applied = apply(&ChangeSet::default(), &place.root, &place.contents, &mut log).unwrap();
    assert_eq!((applied.intent, log), (None, MemoryLog::default()));
    assert_same(&read_tree(&place.root), &before, "empty");
}

#[test]
fn a_set_that_was_tampered_with_in_memory_is_checked_again() {
    let (place, mut set, before, _) = prepared();
    let outside = place.root.with_file_name("victim");
    fs::write(&outside, "victim").unwrap();
    set.changes[0].path = "../victim".into();
    let error = apply(&set, &place.root, &place.contents, &mut MemoryLog::default()).unwrap_err();
    assert_eq!(error.code().unwrap().to_string(), "changes.set-path");
    assert_same(&read_tree(&place.root), &before, "tampered");
    assert_eq!(fs::read(outside).unwrap(), b"victim");
}

#[test]
fn contents_can_be_shared_and_moved() {
    let (place, set, _, after) = prepared();
    let moved = place.root.with_file_name("elsewhere");
    fs::rename(place.contents.folder(), &moved).unwrap();
    let contents = Contents::open(&moved).unwrap();
    let _ = apply(&set, &place.root, &contents, &mut MemoryLog::default()).unwrap();
    assert_same(&read_tree(&place.root), &after, "applied");
    assert!(matches!(after.get("top"), Some(Node::File { .. })));
}
