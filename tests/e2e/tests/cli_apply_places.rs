//! `brain apply` and `brain undo` where the project is not what the journal remembers: moved, restored, taken back by other means,
//! deleted, or of a name that is not text.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use brain_changes::Builder;
use brain_packet::Digest;
use brain_tests::cli::{Brain, Ran};
use brain_tests::proposed::{side, tree};
use serde_json::json;

fn project() -> Brain {
    let brain = Brain::in_project(&[]);
    for (path, content) in [("a.txt", "one\n"), ("b.txt", "b\n"), ("gone/old.txt", "old\n")] {
        brain.write(path, content);
        let mode = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(brain.project().join(path), mode).unwrap();
    }
    brain
}

fn propose(builder: &mut Builder<'_>) {
    builder.modified("a.txt", side("one\n"), side("two\n")).unwrap();
    builder.modified("b.txt", side("b\n"), side("c\n")).unwrap();
    builder.deleted("gone/old.txt", side("old\n")).unwrap();
    builder.folder_added("new", 0o755).unwrap();
    builder.added("new/n.txt", side("new\n")).unwrap();
}

/// Runs it in a folder.
fn run_in(brain: &Brain, folder: &Path, args: &[&str]) -> Ran {
    let mut command = brain.command(args);
    command.current_dir(folder);
    Brain::end(command)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Copies a folder, as to another file system: nothing of it is the same folder.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for (path, (content, mode)) in tree(from) {
        let at = to.join(&path);
        if path.ends_with('/') {
            std::fs::create_dir(&at).unwrap()
        } else {
            std::fs::write(&at, content).unwrap()
        }
        std::fs::set_permissions(&at, std::fs::Permissions::from_mode(mode)).unwrap();
    }
}

#[test]
fn what_was_applied_is_taken_back_in_the_folder_that_was_moved() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let before = tree(&brain.project());
    brain.run(&["apply", &id]).ended(0);
    let after = tree(&brain.project());
    let moved = brain.path("moved");
    std::fs::rename(brain.project(), &moved).unwrap();
    // Another folder is at its path by now.
    std::fs::create_dir(brain.project()).unwrap();
    let refused = brain.run(&["undo", &id]).ended(1);
    let said = refused.error("changes.applied-elsewhere").split_whitespace().collect::<Vec<_>>().join(" ");
    let root = brain.project().canonicalize().unwrap();
    assert!(
        said.contains(&format!("{}, where another folder is now", text(&root))) && said.contains("-C DIR"),
        "{said}"
    );
    // Nothing is.
    std::fs::remove_dir(brain.project()).unwrap();
    let elsewhere = brain.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let refused = run_in(&brain, &elsewhere, &["undo", &id, "-C", text(&elsewhere)]).ended(1);
    let said = refused.error("changes.applied-elsewhere").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("where nothing is any more") && said.contains(text(&elsewhere)), "{said}");
    let refused = run_in(&brain, &elsewhere, &["undo", &id]).ended(2);
    assert!(refused.error("changes.other-project").contains("where nothing is any"), "{refused}");
    // In the moved folder it works, and needs no -C.
    assert!(run_in(&brain, &moved, &["undo", &id, "--dry-run"]).ended(0).out.contains("would be undone"));
    assert_eq!(tree(&moved), after);
    run_in(&brain, &moved, &["undo", &id]).ended(0);
    assert_eq!(tree(&moved), before);
    assert!(run_in(&brain, &moved, &["undo", &id]).ended(0).out.contains("nothing to undo"));
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_copy_of_a_folder_that_is_gone_is_known_by_what_is_in_it() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let before = tree(&brain.project());
    brain.run(&["apply", &id]).ended(0);
    let copy = brain.path("copy");
    copied(&brain.project(), &copy);
    // As long as the folder stands, what is applied is applied there.
    let told = brain.run(&["undo", &id, "-C", text(&copy)]).ended(0).out;
    assert!(told.contains("nothing to undo") && told.contains("it is applied to "), "{told}");
    std::fs::remove_dir_all(brain.project()).unwrap();
    let told = run_in(&brain, &copy, &["undo", &id, "-C", text(&copy)]).ended(0).out;
    assert!(told.contains("undone") && told.contains("where nothing is any more"), "{told}");
    assert_eq!(tree(&copy), before);
}

#[test]
fn what_was_taken_back_by_git_can_be_applied_again() {
    let brain = project();
    brain.commit();
    let (id, _) = brain.proposed("editor", propose);
    let before = tree(&brain.project());
    brain.run(&["apply", &id]).ended(0);
    let after = tree(&brain.project());
    assert!(brain.run(&["apply", &id]).ended(0).out.contains("already applied"));
    let revert = || {
        brain.git(&["checkout", "--quiet", "--", "."]);
        brain.git(&["clean", "--quiet", "--force", "-d"]);
        for path in ["a.txt", "b.txt", "gone/old.txt"] {
            let mode = std::fs::Permissions::from_mode(0o644);
            std::fs::set_permissions(brain.project().join(path), mode).unwrap();
        }
    };
    let files = |tree: brain_tests::proposed::Tree| -> Vec<_> {
        tree.into_iter().filter(|(path, _)| !path.starts_with(".git") && !path.ends_with('/')).collect()
    };
    revert();
    assert_eq!(files(tree(&brain.project())), files(before.clone()));
    let undo = brain.run(&["undo", &id]).ended(0).out;
    assert!(undo.contains("nothing to undo") && undo.contains("taken back by other means"), "{undo}");
    let dry = brain.run(&["apply", &id, "--dry-run"]).ended(0).out;
    assert!(dry.contains("would be applied") && dry.contains("taken back by other means"), "{dry}");
    let again = brain.run(&["apply", &id]).ended(0).out;
    assert!(again.starts_with("applied: ") && again.contains("taken back by other means"), "{again}");
    assert_eq!(files(tree(&brain.project())), files(after));
    brain.run(&["undo", &id]).ended(0);
    assert_eq!(files(tree(&brain.project())), files(before));
}

#[test]
fn a_tree_that_is_neither_as_before_nor_as_after_names_what_was_changed() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    brain.run(&["apply", &id]).ended(0);
    brain.write("a.txt", "three\n");
    let refused = brain.run(&["apply", &id]).ended(1);
    let said = refused.error("changes.conflict");
    assert!(said.contains("1 file is in the way") && said.contains("a.txt: it was changed since"), "{said}");
    assert!(said.contains("it had been applied, and this was changed since"), "{said}");
    let report = brain.run(&["apply", &id, "--json"]).ended(1).json();
    assert_eq!((&report["outcome"], report["conflicts"].as_array().unwrap().len()), (&json!("conflict"), 1));
    // Some of it as before, some as after.
    brain.write("a.txt", "one\n");
    let refused = brain.run(&["apply", &id]).ended(1);
    let said = refused.error("changes.conflict");
    assert!(said.contains("taken back only in part") && said.contains("b.txt") && !said.contains("a.txt"), "{said}");
}

#[test]
fn a_change_that_somebody_else_made_already_is_said_to_be_there() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let elsewhere = brain.path("elsewhere");
    copied(&brain.project(), &elsewhere);
    brain.run(&["apply", &id, "-C", text(&elsewhere)]).ended(0);
    std::fs::remove_dir_all(brain.project()).unwrap();
    copied(&elsewhere, &brain.project());
    let already = brain.run(&["apply", &id]).ended(0).out;
    assert!(already.contains("already applied") && already.contains("not `brain apply` that brought it"), "{already}");
    let undo = brain.run(&["undo", &id]).ended(0).out;
    assert!(undo.contains("not applied to") && undo.contains("it is applied to "), "{undo}");
}

#[test]
fn each_of_two_proposals_of_one_role_is_kept_shown_and_applied_by_itself() {
    let brain = project();
    let (id, sets) = brain.all_proposed(vec![
        (
            "editor",
            Box::new(|b| {
                b.modified("a.txt", side("one\n"), side("first\n")).unwrap();
            }),
        ),
        (
            "editor",
            Box::new(|b| {
                b.modified("b.txt", side("b\n"), side("second\n")).unwrap();
            }),
        ),
        (
            "other",
            Box::new(|b| {
                b.added("c.txt", side("c\n")).unwrap();
            }),
        ),
    ]);
    let names: Vec<String> = sets.iter().take(2).map(|set| format!("editor@{}", set.digest().short())).collect();
    for args in [&["apply", &id][..], &["apply", &id, "editor"], &["diff", &id, "editor"]] {
        let which = brain.run(args).ended(2);
        let said = which.error("changes.which-role");
        assert!(names.iter().all(|name| said.contains(&format!("{name}: 1 file changed"))), "{said}");
        assert_eq!(said.contains("other:"), args.len() == 2, "{said}");
    }
    assert!(brain.run(&["diff", &id, &names[0]]).ended(0).out.contains("+first"));
    assert!(brain.run(&["diff", &id, &names[1]]).ended(0).out.contains("+second"));
    brain.run(&["apply", &id, &names[0]]).ended(0);
    let read = |path: &str| std::fs::read_to_string(brain.project().join(path)).unwrap();
    assert_eq!((read("a.txt").as_str(), read("b.txt").as_str()), ("first\n", "b\n"));
    let told = brain.run(&["undo", &id, &names[1]]).ended(0).out;
    assert!(told.contains("nothing to undo"), "each has a state of its own: {told}");
    brain.run(&["apply", &id, &names[1]]).ended(0);
    brain.run(&["undo", &id, &names[0]]).ended(0);
    assert_eq!((read("a.txt").as_str(), read("b.txt").as_str()), ("one\n", "second\n"));
    let unknown = brain.run(&["apply", &id, "editor@0000"]).ended(2);
    assert!(unknown.error("changes.not-that-role").contains(&names[0]), "{unknown}");
    brain.run(&["apply", &id, "other"]).ended(0);
}

#[test]
fn what_stands_in_the_way_is_told_with_what_to_do_about_it() {
    type Meddling = (fn(&Path), &'static [&'static str], &'static str);
    let meddlings: [Meddling; 3] = [
        (
            |p| std::fs::remove_dir_all(p.join("gone")).unwrap(),
            &["gone/old.txt: the folder gone is not there any more: put it back"],
            "move it away",
        ),
        (
            |p| std::fs::set_permissions(p.join("a.txt"), std::fs::Permissions::from_mode(0o4644)).unwrap(),
            &["a.txt: it has a set-user-id, set-group-id or sticky bit (mode 4644)", "`chmod 644` it"],
            "put it back",
        ),
        (
            |p| {
                std::fs::remove_file(p.join("a.txt")).unwrap();
                symlink("b.txt", p.join("a.txt")).unwrap();
            },
            &["a symbolic link now: move that away, and put it back"],
            "nothing",
        ),
    ];
    for (meddle, words, never) in meddlings {
        let brain = project();
        let (id, _) = brain.proposed("editor", propose);
        meddle(&brain.project());
        let refused = brain.run(&["apply", &id]).ended(1);
        let said = refused.error("changes.conflict");
        let line = said.lines().find(|line| line.contains(".txt: ")).unwrap();
        let joined = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.iter().all(|words| joined.contains(words)), "{words:?}: {said}");
        assert!(!line.contains(never), "{never}: {said}");
    }
}

/// A marker of an apply to `root`, as a killed brain leaves it.
fn marker(brain: &Brain, id: &str, root: &Path) -> PathBuf {
    let path = brain.home().join("applying").join(Digest::of(root.as_os_str().as_bytes()).as_str());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mark =
        json!({ "session": id, "role": "editor", "direction": "apply", "root": root.to_str().unwrap(), "pid": 4242 });
    std::fs::write(&path, mark.to_string()).unwrap();
    path
}

#[test]
fn a_link_in_the_place_of_a_marker_is_no_brain_at_work() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let path = marker(&brain, &id, &brain.project().canonicalize().unwrap());
    let aside = brain.path("aside");
    std::fs::rename(&path, &aside).unwrap();
    for to in [aside.clone(), brain.path("nowhere")] {
        symlink(to, &path).unwrap();
        let refused = brain.run(&["apply", &id]).ended(1);
        assert!(refused.err.contains("code: changes.marker\n") && refused.err.contains("symbolic link"), "{refused}");
        std::fs::remove_file(&path).unwrap();
    }
    brain.run(&["apply", &id]).ended(0);
}

#[test]
fn what_a_deleted_project_left_is_told_with_how_to_be_rid_of_it() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let root = brain.project().canonicalize().unwrap();
    let marker = marker(&brain, &id, &root);
    let begun = json!({
        "type": "apply_intent", "timestamp": 1, "worker": "editor", "direction": "apply", "intentId": "0123456789abcdef",
        "set": Digest::of(b"set"), "plan": Digest::of(b"plan"), "files": 1, "root": text(&root),
    });
    let journal = brain.journal_file(&id);
    let mut lines = std::fs::read_to_string(&journal).unwrap();
    lines.push_str(&format!("{begun}\n"));
    std::fs::write(&journal, lines).unwrap();
    std::fs::remove_dir_all(brain.project()).unwrap();
    let folder = brain.path("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    for _ in 0..2 {
        let told = run_in(&brain, &folder, &["sessions"]).ended(0).err;
        assert!(
            told.contains("is not there any more") && told.contains(&format!("remove {}", text(&marker))),
            "{told}"
        );
    }
    let doctor = run_in(&brain, &folder, &["doctor", "--json"]).json();
    let check = doctor["checks"].as_array().unwrap().iter().find(|check| check["id"] == "apply").unwrap();
    assert_eq!(check["status"], "warning");
    assert!(check["message"].as_str().unwrap().contains(text(&root)), "{check}");
    assert!(check["fix"].as_str().unwrap().contains(text(&marker)), "{check}");
    std::fs::remove_file(&marker).unwrap();
    assert_eq!(run_in(&brain, &folder, &["sessions"]).ended(0).err, "");
    let doctor = run_in(&brain, &folder, &["doctor", "--json"]).json();
    let check = doctor["checks"].as_array().unwrap().iter().find(|check| check["id"] == "apply").unwrap();
    assert_eq!(check["status"], "ok");
}

#[test]
fn a_project_whose_path_is_not_utf_8_takes_a_change_like_any_other() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let before = tree(&brain.project());
    let odd = brain.path("").join(OsStr::from_bytes(b"pro\xffject"));
    std::fs::rename(brain.project(), &odd).unwrap();
    let mut apply = brain.command(&["apply", &id, "-C"]);
    apply.arg(&odd).current_dir(&odd);
    let applied = Brain::end(apply).ended(0).out;
    assert!(applied.starts_with("applied: "), "{applied}");
    assert_ne!(tree(&odd), before);
    assert!(run_in(&brain, &odd, &["apply", &id]).ended(0).out.contains("already applied"));
    run_in(&brain, &odd, &["undo", &id]).ended(0);
    assert_eq!(tree(&odd), before);
}

#[test]
fn what_killed_processes_left_is_swept() {
    let brain = project();
    let (id, _) = brain.proposed("editor", propose);
    let contents = brain.home().join("sessions").join(&id).join("changes/contents");
    let left = [contents.join(".put-1"), contents.join(".put-2"), brain.home().join(".confirmed-1")];
    for path in &left[..1] {
        std::fs::write(path, "torn").unwrap();
    }
    brain.run(&["apply", &id]).ended(0);
    assert!(!left[0].exists());
    for path in &left[1..] {
        std::fs::write(path, "torn").unwrap();
    }
    brain.run(&["run", "where is a.txt"]).ended(0);
    assert_eq!(left.iter().filter(|path| path.exists()).count(), 0);
    brain.run(&["undo", &id]).ended(0);
}

#[test]
fn a_ceiling_that_cannot_be_names_its_line_and_what_it_may_be() {
    let brain = project();
    for (limit, words) in [
        ("memory_bytes = 0", "the limit `memory_bytes` is 0, with which no call can do anything"),
        ("deadline_ms = 0", "it is at least 1"),
        ("memory_bytes = 18446744073709551615", "the most that it may be is 1099511627776, 1 TiB"),
        ("listed_entries = 9223372036854775807", "the most that it may be is 1000000000"),
    ] {
        std::fs::write(brain.home().join("config.toml"), format!("[limits]\n{limit}\n")).unwrap();
        let refused = brain.run(&["run", "where is a.txt"]).ended(1);
        let said = refused.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("code: config.invalid") && said.contains(words), "{refused}");
        assert!(brain.run(&["doctor"]).ended(1).out.contains("config.toml:2: "));
    }
    // None of it is a limit too: a role may then write nothing.
    std::fs::write(brain.home().join("config.toml"), "[limits]\nstaged_bytes = 0\nmemory_bytes = 1099511627776\n")
        .unwrap();
    let doctor = brain.run(&["doctor"]).ended(0).out;
    assert!(doctor.contains("a call has 60 s and 1 TiB at most"), "{doctor}");
}
