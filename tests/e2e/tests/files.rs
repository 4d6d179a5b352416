//! What a role sees of the file system: what is granted, and nothing else, whatever it tries.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use brain_sandbox::{Ended, LimitName, Role, Run};
use brain_tests::Bench;

/// A text that must never reach a role. Its length is unlike that of every file that may.
const SECRET: &str = "a secret of forty-one bytes, no file is so";

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What the guest says of `goal`: `ok …` or `error …`.
#[track_caller]
fn ask(bench: &Bench, role: &Role, goal: &str) -> (String, Run) {
    let run = bench.run(role, goal);
    assert_eq!(run.ended, Ended::Returned, "{goal}: {}", run.ended.message());
    let said = run.result.summary.strip_prefix(&format!("{goal}: ")).unwrap_or(&run.result.summary).to_owned();
    (said, run)
}

#[track_caller]
fn assert_says(bench: &Bench, role: &Role, goal: &str, expected: &str) {
    let (said, _) = ask(bench, role, goal);
    assert!(said.starts_with(expected), "{goal}: expected {expected}, got {said}");
}

const DENIED: &str = "error PermissionDenied";
const ABSENT: &str = "error NotFound";
const READ_ONLY: &str = "error ReadOnlyFilesystem";

#[test]
fn granted_files_open_and_others_do_not_exist_whether_or_not_they_do() {
    let (mut bench, role) = Bench::misbehaving();
    bench.read = vec!["src/**/*.rs".into(), "docs".into(), "one.txt".into()];
    let root = bench.workspace.path();
    for path in ["src/a.rs", "src/deep/b.rs", "docs/x/y.md", "one.txt"] {
        put(root, path, "seven..");
    }
    for path in ["src/a.py", "two.txt", "lib/a.rs"] {
        put(root, path, SECRET);
    }
    for path in
        ["src/a.rs", "src/deep/b.rs", "docs/x/y.md", "one.txt", "src/../one.txt", "./one.txt", "src//deep/./b.rs"]
    {
        assert_says(&bench, &role, &format!("open /workspace/{path}"), "ok 7 bytes");
    }
    for path in ["src/a.py", "src/no-such.py", "two.txt", "three.txt", "lib/a.rs", "lib/b.rs", "nowhere/a.rs"] {
        assert_says(&bench, &role, &format!("open /workspace/{path}"), DENIED);
        assert_says(&bench, &role, &format!("stat /workspace/{path}"), DENIED);
    }
    assert_says(&bench, &role, "open /workspace/src/no-such.rs", ABSENT);
    // A hidden file as a folder on the way, and nothing there: the same answer.
    for path in ["src/a.py/x.rs", "src/no-such/x.rs"] {
        assert_says(&bench, &role, &format!("open /workspace/{path}"), ABSENT);
    }
    let (_, run) = ask(&bench, &role, "open /workspace/src/a.py");
    assert_eq!(run.receipt.files.denied.len(), 1, "the operator is told: {:?}", run.receipt.files);
    assert_says(&bench, &role, "list /workspace", "ok 3: docs, one.txt, src");
    assert_says(&bench, &role, "list /workspace/src", "ok 2: a.rs, deep");
    assert_says(&bench, &role, "list /workspace/lib", DENIED);
    assert_says(&bench, &role, "stat /workspace/one.txt", "ok file 7 bytes");
    assert_says(&bench, &role, "stat /workspace/src", "ok directory");
}

#[test]
fn a_denial_is_counted_and_says_what_would_grant_it() {
    let (mut bench, role) = Bench::misbehaving();
    bench.read = vec!["src".into()];
    put(bench.workspace.path(), ".env", SECRET);
    let (_, run) = ask(&bench, &role, "open /workspace/README.md");
    let [denial] = run.receipt.files.denied.try_into().unwrap();
    assert_eq!((denial.path.as_str(), denial.count), ("/workspace/README.md", 1));
    assert!(denial.why.contains("manifest") && denial.fix.unwrap().contains("README.md"));
    bench.read = vec!["**".into()];
    let (said, run) = ask(&bench, &role, "open /workspace/.env");
    assert!(said.starts_with(DENIED));
    assert!(run.receipt.files.denied[0].why.contains("`.env*`"));
    assert_eq!((run.receipt.files.files_read, run.receipt.files.bytes_read), (0, 0));
}

#[test]
fn nothing_outside_of_the_mounts_opens_by_any_path() {
    let (bench, role) = Bench::misbehaving();
    let root = bench.workspace.path();
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "secret", SECRET);
    put(root, "a/b/inside", "seven..");
    let host_root = root.display();
    for path in [
        "/workspace/../secret".to_owned(),
        "/workspace/a/../../secret".into(),
        "/workspace/a/b/../../../etc/passwd".into(),
        "/workspace/..".into(),
        "/workspace/../workspace/../..".into(),
        "/context/../workspace/a/b/inside".into(),
        "/etc/passwd".into(),
        "/proc/self/environ".into(),
        "/../etc/passwd".into(),
        "../etc/passwd".into(),
        "/dev/null".into(),
        format!("{}/secret", outside.path().display()),
        format!("{host_root}/a/b/inside"),
        format!("/workspace{host_root}/a/b/inside"),
    ] {
        let (said, run) = ask(&bench, &role, &format!("open {path}"));
        assert!(said.starts_with("error"), "{path}: {said}");
        assert_eq!(run.receipt.files.files_read, 0, "{path}");
    }
    let (said, _) = ask(&bench, &role, "preopens");
    assert!(said.starts_with("3: /workspace "), "{said}");
    for escape in ["\"..\"", "\"../..\"", "\"/etc/passwd\""] {
        assert!(!said.contains(&format!("{escape}=Ok")), "{said}");
    }
    assert!(!said.contains(&host_root.to_string()), "the host's path is not for guests: {said}");
}

#[test]
fn links_are_followed_only_to_what_is_granted() {
    let (mut bench, role) = Bench::misbehaving();
    bench.read = vec!["open/**".into(), "link*".into()];
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "secret", SECRET);
    let root = bench.workspace.path();
    put(root, "open/file", "seven..");
    put(root, "closed/file", SECRET);
    let link = |target: &str, name: &str| symlink(target, root.join(name)).unwrap();
    link("open/file", "link-file");
    link("open", "link-folder");
    link("link-file", "link-link");
    link("open/../open/file", "link-winding");
    link("closed/file", "link-closed");
    link("closed", "link-closed-folder");
    link("closed/no-such", "link-closed-nothing");
    link("../../../../../../etc/passwd", "link-parent");
    link("/etc/passwd", "link-absolute");
    symlink(outside.path().join("secret"), root.join("link-outside")).unwrap();
    symlink(outside.path(), root.join("link-outside-folder")).unwrap();
    symlink(root.join("open/file"), root.join("link-absolute-inside")).unwrap();
    link("link-self", "link-self");
    link("link-pong", "link-ping");
    link("link-ping", "link-pong");
    link("open/no-such", "link-dangling");
    symlink("../closed/file", root.join("open/sideways")).unwrap();
    symlink("../open/file", root.join("open/around")).unwrap();
    for path in ["link-file", "link-folder/file", "link-link", "link-winding", "open/around"] {
        assert_says(&bench, &role, &format!("open /workspace/{path}"), "ok 7 bytes");
    }
    for path in [
        "link-closed",
        "link-closed-folder/file",
        "link-closed-nothing",
        "link-parent",
        "link-absolute",
        "link-outside",
        "link-outside-folder/secret",
        "link-absolute-inside",
        "open/sideways",
    ] {
        let (said, run) = ask(&bench, &role, &format!("open /workspace/{path}"));
        assert!(said.starts_with(DENIED), "{path}: {said}");
        assert_eq!(run.receipt.files.denied.len(), 1, "{path}");
    }
    assert_says(&bench, &role, "open /workspace/link-dangling", ABSENT);
    for path in ["link-self", "link-ping"] {
        let (said, _) = ask(&bench, &role, &format!("open /workspace/{path}"));
        assert!(said.starts_with("error") && said.ends_with("os=32"), "a loop is ELOOP: {said}");
    }
    assert_says(&bench, &role, "list /workspace/link-closed-folder", DENIED);
    assert_says(&bench, &role, "list /workspace/link-folder", "ok 3: around, file, sideways");
    assert_says(&bench, &role, "stat /workspace/link-closed", "ok link");
}

#[test]
fn reading_a_link_does_not_tell_where_outside_it_leads() {
    let (bench, role) = Bench::misbehaving();
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "secret", SECRET);
    let root = bench.workspace.path();
    put(root, "file", "seven..");
    symlink("file", root.join("inside")).unwrap();
    symlink(outside.path().join("secret"), root.join("outside")).unwrap();
    symlink("../up", root.join("above")).unwrap();
    assert_says(&bench, &role, "readlink /workspace/inside", "ok file");
    for path in ["outside", "above"] {
        assert_says(&bench, &role, &format!("readlink /workspace/{path}"), DENIED);
    }
    assert_says(&bench, &role, "readlink /workspace/file", "error InvalidInput");
}

#[test]
fn special_files_neither_open_nor_block() {
    let (bench, role) = Bench::misbehaving();
    let root = bench.workspace.path();
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    rustix::fs::mknodat(rustix::fs::CWD, root.join("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    symlink("fifo", root.join("to-fifo")).unwrap();
    symlink("/dev/zero", root.join("to-device")).unwrap();
    // Only root may make a device; elsewhere the other three stand for it.
    let device = rustix::fs::makedev(1, 5);
    let kind = rustix::fs::FileType::CharacterDevice;
    let made = rustix::fs::mknodat(rustix::fs::CWD, root.join("device"), kind, mode, device).is_ok();
    let names = ["fifo", "socket", "to-fifo", "to-device"].into_iter().chain(made.then_some("device"));
    for name in names {
        let (said, run) = ask(&bench, &role, &format!("open /workspace/{name}"));
        assert!(said.starts_with(DENIED), "{name}: {said}");
        assert_eq!(run.receipt.files.denied.len(), 1, "{name}");
    }
    // A FIFO by the name of a `.gitignore` has no rules to give, and nobody waits for its writer.
    rustix::fs::mknodat(rustix::fs::CWD, root.join(".gitignore"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_says(&bench, &role, "list /workspace", "ok 2: to-device, to-fifo");
}

#[test]
fn deny_globs_and_gitignore_hide_at_every_depth() {
    let (bench, role) = Bench::misbehaving();
    let root = bench.workspace.path();
    for path in
        [".git/config", "app/.env", "keys/id_rsa", "keys/server.pem", "target/debug/x", "app/x.log", "app/local"]
    {
        put(root, path, SECRET);
    }
    put(root, ".gitignore", "target/\n*.log\n");
    put(root, "app/.gitignore", "!keep.log\n/local\n");
    put(root, "app/keep.log", "seven..");
    put(root, "local", "seven..");
    for path in [".git/config", ".git", "app/.env", "keys/id_rsa", "keys/server.pem", "app/x.log", "app/local"] {
        assert_says(&bench, &role, &format!("open /workspace/{path}"), DENIED);
    }
    // The rule is about a folder, and a file of that name would exist for the role: it is as if nothing were there.
    for path in ["target/debug/x", "nowhere/debug/x"] {
        assert_says(&bench, &role, &format!("open /workspace/{path}"), ABSENT);
    }
    for path in ["app/keep.log", "local"] {
        assert_says(&bench, &role, &format!("open /workspace/{path}"), "ok 7 bytes");
    }
    assert_says(&bench, &role, "list /workspace", "ok 4: .gitignore, app, keys, local");
    assert_says(&bench, &role, "list /workspace/app", "ok 2: .gitignore, keep.log");
    assert_says(&bench, &role, "list /workspace/keys", "ok 0:");
}

#[test]
fn names_that_are_no_text_are_counted_and_left_out() {
    let (bench, role) = Bench::misbehaving();
    let root = bench.workspace.path();
    put(root, "good", "seven..");
    for name in [b"bad-\xff".as_slice(), b"\xc3\x28"] {
        fs::write(root.join(OsStr::from_bytes(name)), SECRET).unwrap();
    }
    let (said, run) = ask(&bench, &role, "list /workspace");
    assert_eq!(said, "ok 1: good");
    assert_eq!(run.receipt.files.names_skipped, 2);
}

#[test]
fn workspace_and_context_are_read_only_for_every_operation() {
    let (bench, role) = Bench::misbehaving();
    for (root, mount) in [(bench.workspace.path(), "/workspace"), (bench.context.path(), "/context")] {
        put(root, "file", "seven..");
        fs::create_dir(root.join("folder")).unwrap();
        for goal in [
            "write M/file",
            "write M/new",
            "append M/file",
            "truncate M/file",
            "remove M/file",
            "mkdir M/new",
            "rmdir M/folder",
            "rename M/file -> M/new",
            "rename M/file -> /artifacts/new",
            "rename /artifacts/old -> M/new",
            "hardlink M/file -> M/new",
        ] {
            assert_says(&bench, &role, &goal.replace('M', mount), READ_ONLY);
        }
        let (said, _) = ask(&bench, &role, &format!("symlink file -> {mount}/new"));
        assert!(said.contains("read-only"), "{said}");
        let mut left: Vec<_> = fs::read_dir(root).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["file", "folder"]);
        assert_eq!(fs::read_to_string(root.join("file")).unwrap(), "seven..");
    }
    assert_says(&bench, &role, "hardlink /workspace/file -> /artifacts/new", DENIED);
    assert_eq!(fs::read_dir(bench.artifacts.path()).unwrap().count(), 0);
}

#[test]
fn what_may_not_be_seen_cannot_be_touched_either() {
    let (mut bench, role) = Bench::misbehaving();
    bench.read = vec!["open".into()];
    put(bench.workspace.path(), "closed", SECRET);
    for goal in
        ["write /workspace/closed", "remove /workspace/closed", "mkdir /workspace/new", "truncate /workspace/../x"]
    {
        assert_says(&bench, &role, goal, DENIED);
    }
    assert_eq!(fs::read_to_string(bench.workspace.path().join("closed")).unwrap(), SECRET);
}

#[test]
fn artifacts_can_be_made_changed_moved_and_removed() {
    let (bench, role) = Bench::misbehaving();
    let root = bench.artifacts.path();
    let steps = [
        ("write /artifacts/a", "ok 5 bytes"),
        ("append /artifacts/a", "ok 5 bytes"),
        ("open /artifacts/a", "ok 10 bytes"),
        ("mkdir /artifacts/folder", "ok"),
        ("mkdir /artifacts/folder", "error AlreadyExists"),
        ("rename /artifacts/a -> /artifacts/folder/b", "ok"),
        ("list /artifacts", "ok 1: folder"),
        ("open /artifacts/a", ABSENT),
        ("rmdir /artifacts/folder", "error Uncategorized os=55"),
        ("remove /artifacts/folder", "error"),
        ("truncate /artifacts/folder/b", "ok"),
        ("stat /artifacts/folder/b", "ok file 0 bytes"),
        ("append /artifacts/folder/b", "ok 5 bytes"),
        ("write /artifacts/gone", "ok 5 bytes"),
        ("remove /artifacts/gone", "ok"),
        ("remove /artifacts/gone", ABSENT),
        ("mkdir /artifacts/empty", "ok"),
        ("rmdir /artifacts/empty", "ok"),
        ("rename /artifacts/none -> /artifacts/some", ABSENT),
        ("hardlink /artifacts/folder/b -> /artifacts/l", DENIED),
        ("list /artifacts", "ok 1: folder"),
        ("rmdir /artifacts", "error"),
        ("write /artifacts/../x", DENIED),
        ("rename /artifacts/../x -> /artifacts/y", DENIED),
    ];
    let goals: Vec<&str> = steps.iter().map(|(goal, _)| *goal).collect();
    let (said, _) = ask(&bench, &role, &format!("all {}", goals.join(" ;; ")));
    let said: Vec<&str> = said.split(" ;; ").collect();
    assert_eq!(said.len(), steps.len(), "{said:?}");
    for ((goal, expected), said) in steps.iter().zip(said) {
        assert!(said.starts_with(expected), "{goal}: expected {expected}, got {said}");
    }
    assert_eq!(fs::read_to_string(root.join("folder/b")).unwrap(), "five!");
    assert_eq!(fs::read_dir(root).unwrap().count(), 1);
    assert_eq!(fs::read_dir(root.join("folder")).unwrap().count(), 1);
}

#[test]
fn links_are_made_nowhere() {
    let (bench, role) = Bench::misbehaving();
    for goal in ["symlink /etc/passwd -> /artifacts/l", "symlink file -> /artifacts/l", "symlink .. -> /artifacts/l"] {
        let (said, _) = ask(&bench, &role, goal);
        assert!(said.contains("not-permitted"), "{said}");
    }
    assert_eq!(fs::read_dir(bench.artifacts.path()).unwrap().count(), 0);
}

#[test]
fn a_link_that_somebody_put_into_artifacts_leads_nowhere() {
    let (bench, role) = Bench::misbehaving();
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "secret", SECRET);
    symlink(outside.path(), bench.artifacts.path().join("out")).unwrap();
    symlink(outside.path().join("secret"), bench.artifacts.path().join("file")).unwrap();
    // The role sees an empty folder, whatever lies in the one on the host.
    for goal in ["write /artifacts/out/new", "open /artifacts/out/secret", "open /artifacts/file"] {
        assert_says(&bench, &role, goal, ABSENT);
    }
    assert_says(&bench, &role, "write /artifacts/file", "ok");
    assert!(fs::symlink_metadata(bench.artifacts.path().join("file")).unwrap().is_file());
    // What cannot be kept is a failure of the call, and is said.
    let run = bench.run(&role, "all mkdir /artifacts/out ;; write /artifacts/out/new");
    assert_eq!(run.ended.code(), "sandbox.refused", "{}", run.ended.message());
    assert!(run.ended.message().contains("artifacts"), "{}", run.ended.message());
    assert_eq!(fs::read_to_string(outside.path().join("secret")).unwrap(), SECRET);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn the_quota_of_artifacts_is_exact_in_bytes_and_in_files() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.artifact_bytes = 100_000;
    bench.limits.artifact_files = 10;
    let (said, run) = ask(&bench, &role, "artifact-flood");
    assert!(said.starts_with("error") && said.ends_with("after 65536 bytes"), "{said}");
    let reached: Vec<_> = run.receipt.reached.iter().map(|r| (r.limit, r.times)).collect();
    assert_eq!(reached, [(LimitName::ArtifactBytes, 1)]);
    let stored: u64 = fs::read_dir(bench.artifacts.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    assert!(stored <= 100_000, "{stored}");
    fs::remove_file(bench.artifacts.path().join("flood")).unwrap();
    assert_says(&bench, &role, "artifact exact 100000", "ok 100000 bytes");
    fs::remove_file(bench.artifacts.path().join("exact")).unwrap();
    assert_says(&bench, &role, "artifact over 100001", "error");
    fs::remove_file(bench.artifacts.path().join("over")).unwrap();
    let (said, _) = ask(&bench, &role, "many-files 100");
    assert!(said.contains("error QuotaExceeded") && said.ends_with("after 10"), "{said}");
    assert_eq!(fs::read_dir(bench.artifacts.path()).unwrap().count(), 10);
}

#[test]
fn a_file_without_a_name_still_counts_while_it_is_open() {
    let (mut bench, role) = Bench::misbehaving();
    bench.limits.artifact_bytes = 1 << 20;
    // Ten files of half the quota, each removed while it is open: only two fit.
    let (said, _) = ask(&bench, &role, "nameless 10 524288");
    assert!(said.starts_with("error") && said.ends_with("after 2"), "{said}");
    // Removed and closed, one after the other: as many as it likes.
    let (said, _) = ask(&bench, &role, "nameless-closed 10 524288");
    assert_eq!(said, "ok 10 files");
    assert_eq!(fs::read_dir(bench.artifacts.path()).unwrap().count(), 0);
}

#[test]
fn folders_nest_to_a_bound() {
    let (bench, role) = Bench::misbehaving();
    let deep = |n: usize| vec!["d"; n].join("/");
    fs::create_dir_all(bench.workspace.path().join(deep(140))).unwrap();
    put(bench.workspace.path(), &format!("{}/f", deep(128)), "seven..");
    assert_says(&bench, &role, &format!("open /workspace/{}/f", deep(128)), "ok 7 bytes");
    let (said, _) = ask(&bench, &role, &format!("stat /workspace/{}", deep(140)));
    assert!(said.ends_with("os=37"), "too deep is ENAMETOOLONG: {said}");
    let (said, _) = ask(&bench, &role, &format!("stat /workspace/{}", "n".repeat(256)));
    assert!(said.ends_with("os=37"), "{said}");
    let (said, _) = ask(&bench, &role, &format!("stat /workspace/{}", "n/".repeat(2048)));
    assert!(said.starts_with("error"), "{said}");
}

#[test]
fn without_grants_there_are_no_files() {
    use brain_sandbox::Call;
    let (bench, role) = Bench::misbehaving();
    let handoff = bench.handoff("preopens");
    let run = role.run(Call::new(&handoff));
    assert_eq!(run.result.summary, "preopens: 0:");
    assert_eq!(run.receipt.grants, brain_sandbox::Grants::default());
}

#[test]
fn a_grant_that_cannot_be_set_up_refuses_the_call() {
    let (mut bench, role) = Bench::misbehaving();
    bench.read = vec!["/etc/**".into()];
    let run = bench.run(&role, "env");
    assert_eq!(run.ended.code(), "sandbox.refused");
    assert!(run.ended.message().contains("`/etc/**`") && run.ended.message().contains("absolute"), "{:?}", run.ended);
    bench.read = vec!["**".into()];
    fs::remove_dir(bench.context.path()).unwrap();
    let run = bench.run(&role, "env");
    assert_eq!(run.ended.code(), "sandbox.refused");
    assert!(run.ended.message().contains("/context"), "{:?}", run.ended);
}
