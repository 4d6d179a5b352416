//! `brain diff`, `brain apply` and `brain undo`: a proposal gets into the project whole or not at all, and out of it again byte by
//! byte.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use brain_changes::{Builder, Contents, Intent, IntentId, IntentLog, Outcome, Side, Step, apply_watched};
use brain_journal::{ApplyDirection, Journal, Record, parse_session_id};
use brain_packet::Digest;
use brain_tests::cli::Brain;
use brain_tests::proposed::{Tree, side, tree};
use serde_json::{Value, json};

const BINARY: &[u8] = b"\x00\x01binary";

/// A project with one file for each kind of change, all modes as given whatever the umask.
fn project() -> Brain {
    let brain = Brain::in_project(&[]);
    for (path, content, mode) in [
        ("kept.txt", &b"untouched\n"[..], 0o644),
        ("changed.txt", b"one\ntwo\n", 0o644),
        ("gone/deleted.txt", b"old\n", 0o640),
        ("moved.txt", b"moves\n", 0o600),
        ("run.sh", b"#!/bin/sh\n", 0o644),
        ("image.bin", BINARY, 0o644),
    ] {
        brain.write(path, content);
        let path = brain.project().join(path);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    std::fs::set_permissions(brain.project().join("gone"), std::fs::Permissions::from_mode(0o755)).unwrap();
    brain
}

fn propose(builder: &mut Builder<'_>) {
    builder.modified("changed.txt", side("one\ntwo\n"), side("one\nthree\n")).unwrap();
    builder.folder_added("new", 0o755).unwrap();
    builder.added("new/added.txt", side("new\n")).unwrap();
    builder.deleted("gone/deleted.txt", Side::new(0o640, &b"old\n"[..])).unwrap();
    builder.folder_removed("gone", 0o755).unwrap();
    let moved = || Side::new(0o600, &b"moves\n"[..]);
    builder.renamed("moved.txt", "arrived.txt", moved(), moved()).unwrap();
    builder.modified("run.sh", side("#!/bin/sh\n"), Side::new(0o755, &b"#!/bin/sh\n"[..])).unwrap();
    builder.modified("image.bin", side(BINARY), side(b"\x00other")).unwrap();
}

/// Proposes one new file.
fn one(builder: &mut Builder<'_>, path: &str) {
    builder.added(path, side("x\n")).unwrap();
}

/// The project after [`propose`].
fn wanted(before: &Tree) -> Tree {
    let mut after = before.clone();
    after.insert("changed.txt".into(), (b"one\nthree\n".to_vec(), 0o644));
    after.insert("new/".into(), (Vec::new(), 0o755));
    after.insert("new/added.txt".into(), (b"new\n".to_vec(), 0o644));
    after.remove("gone/deleted.txt");
    after.remove("gone/");
    let moved = after.remove("moved.txt").unwrap();
    after.insert("arrived.txt".into(), moved);
    after.get_mut("run.sh").unwrap().1 = 0o755;
    after.insert("image.bin".into(), (b"\x00other".to_vec(), 0o644));
    after
}

#[test]
fn a_proposal_is_shown_applied_and_taken_back() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let before = tree(&brain.project());

    let stat = brain.run(&["diff", &id, "--stat"]).ended(0).out;
    assert!(stat.contains("modified changed.txt  +1 -1"), "{stat}");
    assert!(stat.contains("renamed  arrived.txt from moved.txt"), "{stat}");
    assert!(stat.contains("modified image.bin  binary, 8 -> 6 bytes"), "{stat}");
    assert!(stat.contains("mode 0644 -> 0755") && stat.contains("added    new/\n"), "{stat}");
    assert!(stat.contains("6 files changed, 2 lines added, 2 removed (1 file without a diff"), "{stat}");
    let names = brain.run(&["diff", &id, "editor", "--name-only"]).ended(0).out;
    assert_eq!(names, "arrived.txt\nchanged.txt\ngone/deleted.txt\nimage.bin\nnew/added.txt\nrun.sh\n");
    let shown = brain.run(&["diff", &id, "--json"]).ended(0).json();
    assert_eq!((&shown["state"], &shown["proposed"]["files"]), (&json!("proposed"), &json!(6)));
    assert_eq!(tree(&brain.project()), before, "nothing is applied by being looked at");

    let dry = brain.run(&["apply", &id, "--dry-run"]).ended(0).out;
    assert!(dry.contains("would be applied: 6 files changed"), "{dry}");
    assert_eq!(tree(&brain.project()), before);
    let applied = brain.run(&["apply", &id]).ended(0);
    assert!(applied.out.contains("applied: 6 files changed") && applied.out.contains("brain undo"), "{applied}");
    assert_eq!(tree(&brain.project()), wanted(&before));
    let again = brain.run(&["apply", &id]).ended(0).out;
    assert!(again.contains("already applied"), "{again}");
    let story = brain.run(&["sessions", "show", &id, "--json"]).ended(0).json();
    assert_eq!(story["runs"][0]["workers"][0]["proposal"]["state"], "applied");
    let story = brain.run(&["sessions", "show", &id]).ended(0).out;
    assert!(story.contains("proposed 6 files changed, 2 lines added, 2 removed: applied"), "{story}");

    let dry = brain.run(&["undo", &id, "--dry-run"]).ended(0).out;
    assert!(dry.contains("would be undone"), "{dry}");
    let undone = brain.run(&["undo", &id]).ended(0).out;
    assert!(undone.contains("undone"), "{undone}");
    assert_eq!(tree(&brain.project()), before);
    let twice = brain.run(&["undo", &id]).ended(0).out;
    assert!(twice.contains("nothing to undo"), "{twice}");
    let report = brain.run(&["apply", &id, "--json"]).ended(0).json();
    assert_eq!((&report["outcome"], &report["files"]), (&json!("done"), &json!(6)));
    assert_eq!(tree(&brain.project()), wanted(&before), "what was undone can be applied again");
    assert_eq!(std::fs::read_dir(brain.home().join("applying")).unwrap().count(), 0, "no marker is left");
}

#[test]
fn git_applies_the_patch_to_the_same_tree() {
    let brain = project();
    let text = |builder: &mut Builder<'_>| {
        builder.modified("changed.txt", side("one\ntwo\n"), side("one\r\nthree \u{1b}[31m")).unwrap();
        builder.added("a name with \"quotes\".txt", side("x\n")).unwrap();
        builder.renamed("moved.txt", "arrived.txt", side("moves\n"), side("moves on\n")).unwrap();
        builder.deleted("gone/deleted.txt", side("old\n")).unwrap();
    };
    for path in ["moved.txt", "gone/deleted.txt"] {
        std::fs::set_permissions(brain.project().join(path), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let (id, _) = brain.proposed("editor", text);
    let patch = brain.command(&["diff", &id]).output().unwrap().stdout;
    assert!(patch.contains(&0x1b), "every byte of it is there");
    let mut git = Command::new("git");
    git.args(["apply", "-"]).current_dir(brain.project()).stdin(Stdio::piped());
    let mut git = git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").spawn().unwrap();
    git.stdin.take().unwrap().write_all(&patch).unwrap();
    assert!(git.wait().unwrap().success());
    let files = |tree: Tree| -> Tree { tree.into_iter().filter(|(path, _)| !path.ends_with('/')).collect() };
    let by_git = files(tree(&brain.project()));
    let brain = project();
    for path in ["moved.txt", "gone/deleted.txt"] {
        std::fs::set_permissions(brain.project().join(path), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let (id, _) = brain.proposed("editor", text);
    brain.run(&["apply", &id]).ended(0);
    assert_eq!(files(tree(&brain.project())), by_git);
}

/// A way to change the project behind a proposal's back, and a path and words that tell it.
type Meddling = (&'static str, fn(&Path), &'static str);

#[test]
fn a_tree_that_changed_meanwhile_is_left_alone_and_each_conflict_is_named() {
    let meddlings: [Meddling; 8] = [
        ("changed.txt", |p| std::fs::write(p.join("changed.txt"), "mine\n").unwrap(), "it was changed since"),
        ("changed.txt", |p| std::fs::remove_file(p.join("changed.txt")).unwrap(), "it was removed since"),
        (
            "changed.txt",
            |p| {
                std::fs::rename(p.join("changed.txt"), p.join("elsewhere.txt")).unwrap();
                symlink("elsewhere.txt", p.join("changed.txt")).unwrap();
            },
            "a symbolic link",
        ),
        (
            "changed.txt",
            |p| {
                std::fs::remove_file(p.join("changed.txt")).unwrap();
                std::fs::create_dir(p.join("changed.txt")).unwrap();
            },
            "a folder",
        ),
        (
            "run.sh",
            |p| std::fs::set_permissions(p.join("run.sh"), std::fs::Permissions::from_mode(0o600)).unwrap(),
            "its mode was changed",
        ),
        ("arrived.txt", |p| std::fs::write(p.join("arrived.txt"), "there first\n").unwrap(), "it is there by now"),
        ("new", |p| std::fs::write(p.join("new"), "no folder\n").unwrap(), "a folder has to be there"),
        (
            "gone/deleted.txt",
            |p| {
                std::fs::rename(p.join("gone"), p.join("aside")).unwrap();
                symlink("aside", p.join("gone")).unwrap();
            },
            "in its way",
        ),
    ];
    for (path, meddle, words) in meddlings {
        let brain = project();
        let (id, _) = brain.proposed("editor", propose);
        meddle(&brain.project());
        let before = tree(&brain.project());
        let refused = brain.run(&["apply", &id]).ended(1);
        let said = refused.error("changes.conflict");
        assert!(said.contains(path) && said.contains(words), "{path}, {words}: {said}");
        let dry = brain.run(&["apply", &id, "--dry-run", "--json"]).ended(1).json();
        assert_eq!(dry["outcome"], "conflict");
        let named =
            dry["conflicts"].as_array().unwrap().iter().any(|c| c["path"].as_str().unwrap().starts_with(&path[..3]));
        assert!(named, "{dry}");
        assert_eq!(tree(&brain.project()), before, "{path}, {words}");
        let story = brain.run(&["sessions", "show", &id, "--json"]).ended(0).json();
        assert_eq!(story["runs"][0]["workers"][0]["proposal"]["state"], "proposed");
    }
}

#[test]
fn all_conflicts_are_told_at_once() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    brain.write("changed.txt", "mine\n");
    brain.write("arrived.txt", "mine\n");
    let refused = brain.run(&["apply", &id]).ended(1);
    let said = refused.error("changes.conflict");
    assert!(said.contains("2 files are in the way") && said.contains("changed.txt"), "{said}");
}

#[test]
fn an_undo_never_overwrites_what_was_edited_since() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    brain.run(&["apply", &id]).ended(0);
    brain.write("changed.txt", "edited by hand\n");
    let before = tree(&brain.project());
    let refused = brain.run(&["undo", &id]).ended(1);
    assert!(refused.error("changes.conflict").contains("changed.txt"), "{refused}");
    assert_eq!(tree(&brain.project()), before);
    brain.write("changed.txt", "one\nthree\n");
    brain.run(&["undo", &id]).ended(0);
}

#[test]
fn an_undo_before_any_apply_does_nothing() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let before = tree(&brain.project());
    assert!(brain.run(&["undo", &id]).ended(0).out.contains("nothing to undo"));
    assert_eq!(tree(&brain.project()), before);
}

#[test]
fn a_session_of_another_project_needs_its_folder_to_be_named() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let elsewhere = brain.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut command = brain.command(&["apply", &id]);
    command.current_dir(&elsewhere);
    let refused = Brain::end(command).ended(2);
    assert!(refused.error("changes.other-project").contains("-C"), "{refused}");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);

    let before = tree(&brain.project());
    let link = brain.path("by-another-name");
    symlink(brain.project(), &link).unwrap();
    let mut command = brain.command(&["apply", &id]);
    command.current_dir(&link);
    Brain::end(command).ended(0);
    assert_eq!(tree(&brain.project()), wanted(&before), "it is the same folder by another name");

    // The project has been moved, and a folder is named in so many words.
    let moved = brain.path("moved");
    brain.run(&["undo", &id]).ended(0);
    std::fs::rename(brain.project(), &moved).unwrap();
    std::fs::create_dir(brain.project()).unwrap();
    brain.run(&["apply", &id, "-C", moved.to_str().unwrap()]).ended(0);
    assert_eq!(tree(&moved), wanted(&before));
    brain.run(&["undo", &id, "-C", moved.to_str().unwrap()]).ended(0);
    assert_eq!(tree(&moved), before);
    let refused = brain.run(&["apply", &id, "-C", elsewhere.to_str().unwrap()]).ended(1);
    refused.error("changes.conflict");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

fn session_folder(brain: &Brain, id: &str) -> PathBuf {
    brain.home().join("sessions").join(id).join("changes")
}

#[test]
fn a_damaged_proposal_is_refused_whole() {
    type Damage = (fn(&Path, &str), &'static str);
    let damages: [Damage; 7] = [
        (|set, _| std::fs::write(set, "{").unwrap(), "changes.damaged"),
        (|set, text| std::fs::write(set, text.replace("changed.txt", "../../etc/x")).unwrap(), "changes.damaged"),
        (|set, text| std::fs::write(set, text.replace("changed.txt", "channel.txt")).unwrap(), "changes.damaged"),
        (
            |set, _| std::fs::write(set, r#"{"changes":[],"foldersAdded":[],"foldersRemoved":[]}"#).unwrap(),
            "changes.damaged",
        ),
        (|set, _| std::fs::write(set, [0xff, 0, 7]).unwrap(), "changes.damaged"),
        (|set, _| std::fs::remove_file(set).unwrap(), "changes.unreadable"),
        (
            |set, _| {
                std::fs::remove_file(set).unwrap();
                std::fs::create_dir(set).unwrap();
            },
            "changes.unreadable",
        ),
    ];
    for (damage, code) in damages {
        let brain = project();
        let (id, set) = brain.proposed("editor", propose);
        let before = tree(&brain.project());
        let file = session_folder(&brain, &id).join("editor").join(format!("{}.json", set.digest().as_str()));
        damage(&file, &std::fs::read_to_string(&file).unwrap());
        for command in ["diff", "apply"] {
            let refused = brain.run(&[command, &id]).ended(1);
            refused.error(code);
        }
        assert_eq!(tree(&brain.project()), before);
    }
}

#[test]
fn damaged_or_missing_contents_change_nothing() {
    let new = Digest::of(b"one\nthree\n");
    for damage in [
        (|file: &Path, _: &Path| std::fs::write(file, "something else").unwrap()) as fn(&Path, &Path),
        |file, _| std::fs::remove_file(file).unwrap(),
        |_, folder| std::fs::remove_dir_all(folder).unwrap(),
        |file, _| {
            std::fs::remove_file(file).unwrap();
            symlink("/etc/passwd", file).unwrap();
        },
    ] {
        let brain = project();
        let (id, _) = brain.proposed("editor", propose);
        let before = tree(&brain.project());
        let contents = session_folder(&brain, &id).join("contents");
        damage(&contents.join(new.as_str()), &contents);
        let refused = brain.run(&["apply", &id]).ended(1);
        assert!(refused.err.contains("code: changes.") && refused.err.contains("help: "), "{refused}");
        assert_eq!(tree(&brain.project()), before);
        brain.run(&["sessions"]).ended(0);
        assert_eq!(tree(&brain.project()), before, "nothing is left over for the next start");
    }
}

#[test]
fn what_is_not_there_is_told_apart() {
    let brain = project();
    brain.run(&["apply", "last"]).ended(2).error("changes.no-session");
    brain.run(&["diff", "20010203-040506-aaaaaa"]).ended(2).error("journal.not-found");
    brain.run(&["diff", "nonsense"]).ended(2).error("journal.bad-reference");
    let (id, _) = brain.proposed("editor", propose);
    brain.run(&["diff", "last"]).ended(0);
    brain.run(&["diff", &id[..18]]).ended(0);
    let other = brain.run(&["apply", &id, "librarian\u{1b}"]).ended(2);
    assert!(other.error("changes.not-that-role").contains("these did: editor"), "{other}");

    let (id, _) =
        brain.all_proposed(vec![("one", Box::new(|b| one(b, "1.txt"))), ("two", Box::new(|b| one(b, "2.txt")))]);
    let which = brain.run(&["apply", &id]).ended(2);
    let said = which.error("changes.which-role");
    assert!(
        said.contains("one: 1 file changed, 1 line added, 0 removed (proposed)") && said.contains("two:"),
        "{said}"
    );
    brain.run(&["apply", &id, "two"]).ended(0);
    assert!(brain.project().join("2.txt").exists() && !brain.project().join("1.txt").exists());
    brain.run(&["apply", &id, "one"]).ended(0);

    let (id, _) = brain.all_proposed(Vec::new());
    brain.run(&["diff", &id]).ended(2).error("changes.none");
}

#[test]
fn odd_names_are_shown_harmlessly_and_applied_exactly() {
    let brain = project();
    let names = ["a\nb", "c\u{1b}[2Jd", "e\"f\\", " g ", "-n", "h\u{202e}i", "j'k$(l)", "ü"];
    let (id, _) = brain.proposed("editor", |builder| {
        for name in names {
            builder.added(name, side("x\n")).unwrap();
        }
    });
    // Each of these holds every run to harmless output.
    let listed = brain.run(&["diff", &id, "--name-only"]).ended(0).out;
    assert_eq!(listed.lines().count(), names.len(), "{listed}");
    assert!(listed.contains("\nü\n") && listed.contains(r#""a\nb""#), "{listed}");
    brain.run(&["diff", &id, "--stat"]).ended(0);
    brain.run(&["diff", &id, "--json"]).ended(0);
    brain.run(&["apply", &id]).ended(0);
    for name in names {
        assert_eq!(std::fs::read(brain.project().join(name)).unwrap(), b"x\n", "{name:?}");
    }
    for name in names {
        brain.write(name, "edited\n");
    }
    let refused = brain.run(&["undo", &id]).ended(1);
    refused.error("changes.conflict");
}

/// The marker of the project, as a brain that applies leaves it.
fn marker(brain: &Brain, id: &str) -> PathBuf {
    let root = brain.project().canonicalize().unwrap().to_str().unwrap().to_owned();
    let path = brain.home().join("applying").join(Digest::of(root.as_bytes()).as_str());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mark = json!({ "session": id, "role": "editor", "direction": "apply", "root": root, "pid": 4242 });
    std::fs::write(&path, mark.to_string()).unwrap();
    path
}

#[test]
fn a_tree_that_another_brain_works_on_is_left_to_it() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let before = tree(&brain.project());
    let path = marker(&brain, &id);
    let lock = std::fs::File::open(&path).unwrap();
    lock.lock().unwrap();
    let refused = brain.run(&["apply", &id]).ended(1);
    let said = refused.error("changes.busy");
    assert!(said.contains("process 4242") && said.contains(&id), "{said}");
    let sessions = brain.run(&["sessions"]).ended(0);
    assert_eq!(sessions.err, "", "what is under way is nobody's business");
    assert_eq!(tree(&brain.project()), before);
    drop(lock);
    let sessions = brain.run(&["sessions"]).ended(0);
    assert!(sessions.err.contains("interrupted before it began"), "{sessions}");
    assert!(!path.exists());
    brain.run(&["apply", &id]).ended(0);
}

/// The journal as the log of an apply, with its end never written.
struct Unended {
    journal: Journal,
    root: String,
}

impl IntentLog for Unended {
    fn intent(&mut self, intent: &Intent) -> std::io::Result<()> {
        let record = Record::ApplyIntent {
            worker: "editor".parse().unwrap(),
            direction: ApplyDirection::Apply,
            intent_id: intent.id.to_string(),
            set: intent.set.clone(),
            plan: intent.plan.clone(),
            files: intent.files,
            root: self.root.clone(),
            root_file: None,
            proposal: None,
        };
        self.journal.append(&record).map(drop).map_err(std::io::Error::other)
    }

    fn commit(&mut self, id: &IntentId) -> std::io::Result<()> {
        let (worker, direction) = ("editor".parse().unwrap(), ApplyDirection::Apply);
        let record = Record::ApplyCommit { worker, direction, intent_id: id.to_string() };
        self.journal.append(&record).map(drop).map_err(std::io::Error::other)
    }

    fn end(&mut self, _: &IntentId, _: Outcome) -> std::io::Result<()> {
        Ok(())
    }
}

/// Applies as far as the first file that is replaced, and stops there as a crash would.
fn cut_off(brain: &Brain, id: &str) -> PathBuf {
    let root = brain.project().canonicalize().unwrap();
    let journal = Journal::open(&brain.home(), &parse_session_id(id).unwrap()).unwrap();
    let contents = Contents::open(journal.paths().contents()).unwrap();
    let folder = journal.paths().changes().join("editor");
    let set = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let set = brain_changes::ChangeSet::from_json(&std::fs::read(set).unwrap()).unwrap();
    let path = marker(brain, id);
    let mut placed = 0;
    let mut watch = |step: Step<'_>| {
        placed += usize::from(matches!(step, Step::Place(_)));
        if placed > 1 { Err(std::io::Error::other("a crash")) } else { Ok(()) }
    };
    let mut log = Unended { journal, root: root.to_str().unwrap().to_owned() };
    apply_watched(&set, &root, &contents, &mut log, &mut watch).unwrap_err();
    path
}

#[test]
fn what_was_interrupted_after_its_commit_is_finished_by_the_next_start_and_can_be_undone() {
    for next in [&["sessions"][..], &["apply", "ID"], &["undo", "ID"], &["diff", "ID"], &["doctor"]] {
        let brain = project();
        let (id, _) = brain.proposed("editor", propose);
        let before = tree(&brain.project());
        let marker = cut_off(&brain, &id);
        let half = tree(&brain.project());
        assert!(half != before && half != wanted(&before), "it is half way");
        let next: Vec<&str> = next.iter().map(|word| if *word == "ID" { id.as_str() } else { word }).collect();
        let ran = brain.run(&next);
        assert!(ran.err.contains("was interrupted, and is finished now"), "{ran}");
        assert!(!marker.exists());
        let now = tree(&brain.project());
        if next[0] == "undo" {
            assert_eq!(now, before);
            continue;
        }
        assert_eq!(now, wanted(&before), "{next:?}");
        let story = brain.run(&["sessions", "show", &id, "--json"]).ended(0);
        assert_eq!(story.err, "", "it is told once");
        let attempt = &story.json()["runs"][0]["workers"][0]["proposal"]["attempts"][0];
        assert_eq!((&attempt["outcome"], &attempt["recovered"]), (&json!("done"), &json!(true)));
        brain.run(&["undo", &id]).ended(0);
        assert_eq!(tree(&brain.project()), before);
    }
}

#[test]
fn what_cannot_be_made_good_is_told_and_in_the_way_of_nothing_else() {
    let contents = |brain: &Brain, id: &str| session_folder(brain, id).join("contents");
    type Damage = fn(&Brain, &Path);
    let damages: [Damage; 4] = [
        |_, contents| std::fs::remove_dir_all(contents).unwrap(),
        |_, contents| {
            for file in std::fs::read_dir(contents).unwrap() {
                std::fs::write(file.unwrap().path(), "rubbish").unwrap();
            }
        },
        |brain, _| std::fs::rename(brain.project(), brain.path("away")).unwrap(),
        |brain, _| std::fs::remove_dir_all(brain.home().join("sessions")).unwrap(),
    ];
    for damage in damages {
        let brain = project();
        let (id, _) = brain.proposed("editor", propose);
        let marker = cut_off(&brain, &id);
        damage(&brain, &contents(&brain, &id));
        let ran = |args: &[&str]| {
            let mut command = brain.command(args);
            command.current_dir(brain.home());
            Brain::end(command)
        };
        for _ in 0..2 {
            let sessions = ran(&["sessions"]).ended(0);
            assert!(sessions.err.contains("cannot be made good"), "{sessions}");
            assert_eq!(sessions.err.lines().count(), 1, "{sessions}");
        }
        assert!(marker.exists(), "the next start tries again");
        // Another project is not concerned.
        let other = brain.path("other");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("a.txt"), "one\n").unwrap();
        ran(&["run", "where is a.txt", "-C", other.to_str().unwrap()]).ended(0);
    }
}

#[test]
fn a_tree_that_could_not_be_made_good_takes_no_other_change() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let marker = cut_off(&brain, &id);
    std::fs::remove_dir_all(session_folder(&brain, &id).join("contents")).unwrap();
    let half = tree(&brain.project());
    let (other, _) = brain.proposed("other", |b| one(b, "other.txt"));
    let refused = brain.run(&["apply", &other]).ended(1);
    assert!(refused.error("changes.left").contains(marker.to_str().unwrap()), "{refused}");
    assert_eq!(tree(&brain.project()), half);
    std::fs::remove_file(&marker).unwrap();
    brain.run(&["apply", &other]).ended(0);
}

#[test]
fn rubbish_among_the_markers_is_told_and_never_obeyed() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let path = marker(&brain, &id);
    for rubbish in
        ["", "{", "\u{1b}[2J", r#"{"session":"../../etc","role":"editor","direction":"apply","root":"/","pid":1}"#]
    {
        std::fs::write(&path, rubbish).unwrap();
        let sessions = brain.run(&["sessions"]).ended(0);
        assert!(sessions.err.contains("cannot be made good"), "{rubbish:?}: {sessions}");
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let sessions = brain.run(&["sessions"]).ended(0);
    assert!(sessions.err.contains("cannot be made good"), "{sessions}");
    std::fs::remove_dir(&path).unwrap();
    std::fs::remove_dir(path.parent().unwrap()).unwrap();
    std::fs::write(path.parent().unwrap(), "no folder").unwrap();
    brain.run(&["sessions"]).ended(0);
    let refused = brain.run(&["apply", &id]).ended(1);
    refused.error("changes.state");
}

#[test]
fn what_programs_read_fits_its_schema() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let folder = brain.path("schemas");
    std::fs::create_dir(&folder).unwrap();
    brain.run(&["schema", "--out", folder.to_str().unwrap()]).ended(0);
    let fits = |name: &str, value: &Value| {
        let schema = std::fs::read_to_string(folder.join(format!("{name}.schema.json"))).unwrap();
        let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
        let faults: Vec<String> = validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path)).collect();
        assert_eq!(faults, Vec::<String>::new(), "{name}");
    };
    let shown = brain.run(&["diff", &id, "--json"]).ended(0).json();
    fits("proposal", &shown);
    fits("change-set", &shown["changeSet"]);
    fits("apply-report", &brain.run(&["apply", &id, "--json"]).ended(0).json());
    fits("apply-report", &brain.run(&["apply", &id, "--json"]).ended(0).json());
    brain.write("changed.txt", "mine\n");
    fits("apply-report", &brain.run(&["undo", &id, "--json"]).ended(1).json());
}

#[test]
fn two_brains_that_apply_at_once_apply_once() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let before = tree(&brain.project());
    let spawned: Vec<_> = (0..6)
        .map(|_| brain.command(&["apply", &id]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    let ran: Vec<_> = spawned.into_iter().map(|child| Brain::finish(child.wait_with_output().unwrap())).collect();
    let applied = ran.iter().filter(|ran| ran.out.starts_with("applied: ")).count();
    assert_eq!(applied, 1, "{ran:?}");
    for ran in &ran {
        assert!(ran.status == 0 || ran.err.contains("changes.busy"), "{ran}");
    }
    assert_eq!(tree(&brain.project()), wanted(&before));
}
