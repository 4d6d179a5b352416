//! Roles on the command line: what is listed, what is checked, what a named reference narrows, and what becomes of a run in
//! which a role does its worst.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use brain_tests::cli::{Brain, Ran};
use brain_tests::guest;
use serde_json::{Value, json};

fn worker<'a>(report: &'a Value, role: &str) -> &'a Value {
    report["workers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|w| w["role"] == role)
        .unwrap_or_else(|| panic!("no {role} in {report}"))
}

/// The answer of the guest `wild`, asked by name.
fn answer(brain: &Brain, goal: &str, refs: &[&str]) -> String {
    let mut args = vec!["role", "run", "wild", "--json", "-q", "--goal", goal];
    args.extend(refs.iter().flat_map(|path| ["--ref", path]));
    brain.run(&args).ended(0).json()["summary"].as_str().unwrap().to_owned()
}

#[test]
fn the_list_has_what_shipped_and_what_was_named() {
    let brain = Brain::in_project(&[]);
    brain.misbehaving("wild", "wild", "");
    let list = brain.run(&["role", "list"]).ended(0).out;
    for name in ["librarian", "review", "security"] {
        assert!(list.lines().any(|line| line.starts_with(&format!("{name:<14} 0.1.0     shipped  "))), "{list}");
    }
    assert!(list.lines().any(|line| line.starts_with("wild           0.1.0     named    a role of a test")), "{list}");
    assert!(list.contains(&format!("looked in {}", brain.path("roles").display())), "{list}");
}

#[test]
fn the_folder_that_is_named_first_wins() {
    let brain = Brain::in_project(&[]);
    brain.misbehaving("security", "secret", "");
    let inspected = brain.run(&["role", "inspect", "security", "--json"]).ended(0).json();
    assert_eq!(inspected["origin"], "named");
    assert_eq!(inspected["manifest"]["description"], "a role of a test");
}

#[test]
fn a_role_is_inspected_with_what_it_asks_and_what_is_in_force() {
    let brain = Brain::in_project(&[]);
    std::fs::write(
        brain.home().join("config.toml"),
        "[limits]\ndeadline_ms = 2000\n[files]\ndeny = [\"private/**\"]\n",
    )
    .unwrap();
    brain.misbehaving("wild", "wild", "[limits]\ndeadline_ms = 9000\nmemory_bytes = 1048576\n");
    let inspected = brain.run(&["role", "inspect", "wild", "--json"]).ended(0).json();
    assert_eq!(inspected["manifest"]["limits"]["deadline_ms"], 9000);
    let limits = inspected["grant"]["limits"].as_array().unwrap();
    let limit = |name: &str| limits.iter().find(|limit| limit["name"] == name).unwrap();
    assert_eq!(
        limit("deadline_ms"),
        &json!({"name": "deadline_ms", "asked": 9000, "cap": 2000, "by": "operator", "effective": 2000})
    );
    assert_eq!(limit("memory_bytes")["effective"], 1_048_576);
    let deny = inspected["grant"]["deny"].as_array().unwrap();
    assert!(deny.contains(&json!({"glob": "private/**", "who": "operator"})), "{deny:?}");
    assert_eq!(inspected["digest"].as_str().unwrap().len(), 64);
    let shown = brain.run(&["role", "inspect", "wild"]).ended(0).out;
    assert!(shown.contains("it fits brain:role@1.0.0") && shown.contains("private/**"), "{shown}");
    let row = shown.lines().find(|line| line.trim_start().starts_with("deadline_ms")).unwrap();
    assert!(row.contains("9 s") && row.contains("2 s"), "{row}");

    let none = brain.run(&["role", "inspect", "librarin"]).ended(2);
    assert!(none.error("role.not-found").contains("librarian, qa, review, security"), "{none}");
}

#[test]
fn a_check_says_which_row_fails_and_what_to_do() {
    let brain = Brain::in_project(&[]);
    brain.misbehaving("wild", "wild", "");
    brain.write("text.wasm", "this is no component");
    brain.write("empty.wasm", "");
    brain.write("core.wasm", wat::parse_str("(module)").unwrap());
    brain.write("bare.wasm", wat::parse_str("(component)").unwrap());
    brain.write("truncated.wasm", &guest("noop")[..1000]);
    for file in ["text.wasm", "empty.wasm", "core.wasm", "bare.wasm", "truncated.wasm"] {
        let ran = brain.run(&["role", "check", file]).ended(1);
        assert!(ran.out.contains("it does not fit brain:role@1.0.0: "), "{ran}");
        assert!(ran.out.contains("MISSING") || ran.out.contains("MISMATCH"), "{ran}");
        let report = brain.run(&["role", "check", file, "--json"]).ended(1).json();
        let rows = report["rows"].as_array().unwrap();
        let failed = rows.iter().find(|row| row["state"] == "missing" || row["state"] == "mismatch").unwrap();
        assert!(failed["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{file}: {failed}");
    }
    let folder = brain.path("roles/wild");
    for good in ["wild", "librarian", folder.to_str().unwrap(), folder.join("role.wasm").to_str().unwrap()] {
        let ran = brain.run(&["role", "check", good]).ended(0);
        assert!(ran.out.contains("it fits brain:role@1.0.0"), "{ran}");
    }
    brain.run(&["role", "check", "nowhere"]).ended(2).error("role.not-found");
    brain.run(&["role", "check", "no/where.wasm"]).ended(1).error("role.unreadable");
    brain.run(&["role", "check", "/dev/zero"]).ended(1).error("role.unreadable");
}

#[test]
fn a_reference_is_all_that_a_role_sees_of_the_project() {
    let brain = Brain::in_project(&[
        ("a.txt", "one\n"),
        ("b.txt", "four\n"),
        ("src/in.rs", "x\n"),
        ("src/deep/er.rs", "yy\n"),
        ("src[1]/odd.rs", "zzz\n"),
        ("src1/other.rs", "zzzz\n"),
    ]);
    brain.misbehaving("wild", "wild", "");
    assert!(answer(&brain, "open /workspace/b.txt", &[]).ends_with("ok 5 bytes"), "without a reference it sees all");

    assert!(answer(&brain, "open /workspace/a.txt", &["a.txt"]).ends_with("ok 4 bytes"));
    assert!(answer(&brain, "open /workspace/b.txt", &["a.txt"]).contains("error PermissionDenied"));
    assert!(answer(&brain, "open /workspace/no-such-file", &["a.txt"]).contains("error PermissionDenied"));
    assert!(answer(&brain, "list /workspace", &["a.txt"]).ends_with("ok 1: a.txt"));
    assert!(answer(&brain, "stat /workspace/src", &["a.txt"]).contains("error PermissionDenied"));

    assert!(answer(&brain, "open /workspace/src/deep/er.rs", &["src"]).ends_with("ok 3 bytes"));
    assert!(answer(&brain, "open /workspace/src/../a.txt", &["src"]).contains("error "));
    assert!(answer(&brain, "list /workspace", &["src/deep/er.rs", "b.txt"]).ends_with("ok 2: b.txt, src"));
    assert!(answer(&brain, "list /workspace/src", &["src/deep/er.rs"]).ends_with("ok 1: deep"));
    assert!(answer(&brain, "list /workspace", &["src[1]"]).ends_with("ok 1: src[1]"), "a name is no glob");
    assert!(answer(&brain, "open /workspace/src[1]/odd.rs", &["src[1]"]).ends_with("ok 4 bytes"));
}

#[test]
fn what_was_denied_is_told_with_the_way_to_grant_it() {
    let brain = Brain::in_project(&[("a.txt", "one\n"), ("b.txt", "four\n")]);
    brain.misbehaving("wild", "wild", "");
    let args = ["role", "run", "wild", "--goal", "open /workspace/b.txt", "--ref", "a.txt"];
    let report = brain.run(&[&args[..], &["--json"]].concat()).ended(0).json();
    let denied = &worker(&report, "wild")["receipt"]["files"]["denied"];
    assert_eq!(denied.as_array().unwrap().len(), 1, "{denied}");
    assert!(denied[0]["path"].as_str().unwrap().ends_with("b.txt"), "{denied}");
    assert_eq!(report["warnings"], json!(["wild: asked for 1 path that it was not granted"]));
    let shown = brain.run(&args).ended(0).out;
    let line = shown.lines().find(|line| line.contains("denied ")).unwrap_or_else(|| panic!("{shown}"));
    assert!(line.contains("b.txt") && line.contains("to grant it"), "{line}");
    assert!(shown.contains("granted: a.txt (handoff)"), "{shown}");
}

/// What a terminal must never be sent, whichever way it comes: [`Brain::finish`] looks at every output of these runs.
#[test]
fn what_a_role_says_cannot_drive_a_terminal() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.misbehaving("wild", "wild", "");
    let escape = "\u{1b}]0;owned\u{7}\u{1b}[2J\r\u{9b}31m";
    for (goal, status) in [
        // It approves a change that nobody handed to it, which does not count.
        ("echo".to_owned(), 1),
        (format!("say {escape}"), 0),
        (format!("panic {escape}"), 1),
        (format!("fail {escape}"), 1),
        (format!("block {escape}"), 1),
        (format!("open /workspace/{escape}"), 0),
        (format!("artifact {escape} 10"), 0),
    ] {
        let ran = brain.run(&["role", "run", "wild", "--goal", &goal]).ended(status);
        assert!(!ran.out.contains('\u{202e}') && !ran.err.contains('\u{202e}'), "{ran}");
        let id = ran
            .out
            .lines()
            .find_map(|line| line.strip_prefix("Session   "))
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .to_owned();
        brain.run(&["sessions", "show", &id]).ended(0);
        brain.run(&["role", "run", "wild", "--goal", &goal, "--json"]).ended(status);
        brain.run(&["role", "run", "wild", "--goal", &goal, "-q"]).ended(status);
    }
    brain.run(&["sessions", "list"]).ended(0);
}

#[test]
fn what_a_manifest_says_cannot_drive_a_terminal() {
    let brain = Brain::in_project(&[]);
    let escape = "\\u001b]0;owned\\u0007\\u001b[2J";
    let manifest = format!(
        "name = \"wild\"\nversion = \"{escape}\"\ndescription = \"{escape}\"\ncontract = \"{escape}\"\ncomponent = \"role.wasm\"\n\
         [files]\nread = [\"{escape}\"]\n[context]\nreads = [\"{escape}\"]\n[routing]\nwords = [\"{escape}\", \"wild\"]\n"
    );
    brain.role_folder("wild", &manifest, &guest("noop"));
    brain.role_folder("broken", &format!("\"{escape}\" = 1\n"), b"");
    brain.role_folder("elsewhere", &manifest.replace("role.wasm", &format!("../{escape}")), b"");
    for args in [
        &["role", "list"][..],
        &["role", "inspect", "wild"],
        &["doctor"],
        &["run", "wild", "--dry-run"],
        &["run", "go wild"],
    ] {
        brain.run(args);
    }
}

/// What `wild` does in a run in which two sound roles take part, and how it is told.
const WORST: &[(&str, &str, &str)] = &[
    ("spin", "sandbox.limit.deadline", "deadline_ms"),
    ("sleep 1000000000", "sandbox.limit.deadline", "deadline_ms"),
    ("trap", "sandbox.trap", "its author"),
    ("panic out of tea", "sandbox.trap", "its author"),
    ("exit 3", "sandbox.trap", "its author"),
    ("alloc", "sandbox.limit.memory", "memory_bytes"),
    ("recurse", "sandbox.limit.stack", "this bound is fixed"),
    ("return-100mb", "sandbox.limit.", ""),
    ("return-many", "sandbox.limit.", ""),
];

/// A project in which `security` finds one thing, and a role that does what the request begins with.
fn with_wild() -> Brain {
    let brain = Brain::in_project(&[("a.py", "eval(input())\n")]);
    brain.misbehaving("wild", "beside", "[limits]\ndeadline_ms = 400\n");
    brain
}

#[test]
fn a_run_goes_on_whatever_one_role_does() {
    let brain = with_wild();
    for (verb, code, remedy) in WORST {
        let request = format!("{verb} beside a search for dangerous calls");
        let ran = brain.run(&["run", &request, "--json"]).ended(0);
        let report = ran.json();
        let wild = worker(&report, "wild");
        assert_eq!(wild["status"], "failed", "{verb}: {wild}");
        assert_eq!(wild["phase"], "support");
        assert!(wild["fault"]["code"].as_str().unwrap().starts_with(code), "{verb}: {}", wild["fault"]);
        assert!(wild["fault"]["remedy"].as_str().unwrap().contains(remedy), "{verb}: {}", wild["fault"]);
        assert_eq!(wild["receipt"]["ended"], wild["fault"]["code"]);
        let message = wild["fault"]["message"].as_str().unwrap();
        let warned = report["warnings"].as_array().unwrap().iter().any(|w| w.as_str().unwrap().contains(message));
        assert!(warned, "{verb}: {}", report["warnings"]);
        assert!(ran.err.contains("wild: failed after "), "{ran}");

        // The others are what they would be without it.
        assert_eq!(report["status"], "answered", "{verb}");
        assert_eq!(worker(&report, "security")["status"], "completed", "{verb}");
        assert_eq!(report["findings"].as_array().unwrap().len(), 1, "{verb}: {}", report["findings"]);
        assert_eq!(report["findings"][0]["file"], "a.py");
    }
}

#[test]
fn what_one_role_did_is_told_to_people_with_the_remedy() {
    let brain = with_wild();
    let told = |request: &str| -> Vec<String> {
        let ran: Ran = brain.run(&["run", request]).ended(0);
        let at = ran
            .out
            .lines()
            .position(|line| line.starts_with("  wild         failed    support"))
            .unwrap_or_else(|| panic!("{ran}"));
        ran.out.lines().skip(at).take(3).map(str::to_owned).collect()
    };
    let spun = told("spin beside a search for dangerous calls");
    assert!(spun[1].contains("sandbox.limit.deadline: it was stopped at its deadline limit of 400 ms"), "{spun:?}");
    assert!(spun[2].contains("-> if the role needs more, raise `deadline_ms`"), "{spun:?}");
    let panicked = told("panic beside a search for dangerous calls");
    assert!(
        panicked[1].contains("sandbox.trap: ") && panicked[1].contains("search for dangerous calls"),
        "{panicked:?}"
    );
}

#[test]
fn a_run_whose_answering_role_fails_has_failed_and_keeps_what_the_others_found() {
    let brain = Brain::in_project(&[("a.py", "eval(input())\n")]);
    // Under the name of the role that answers for security; the one that ships is out of the way.
    brain.misbehaving("security", "answer", "[limits]\ndeadline_ms = 400\n");
    brain.misbehaving("helper", "answer", "");
    let ran = brain.run(&["run", "panic for an answer, and where is eval", "--json"]).ended(1);
    let report = ran.json();
    assert_eq!(report["status"], "failed");
    assert_eq!(report["routing"]["primaryRole"], "security");
    assert_eq!(worker(&report, "librarian")["status"], "completed");
    assert!(report["summary"].as_str().unwrap().contains("security worker failed"), "{report}");
    let session = report["sessionId"].as_str().unwrap();
    assert!(brain.run(&["sessions", "show", session]).ended(0).out.contains("Status    failed"));
}

#[test]
fn what_a_role_leaves_is_kept_by_its_content_and_within_its_quota() {
    let brain = Brain::in_project(&[]);
    brain.misbehaving("wild", "wild", "[limits]\nartifact_bytes = 100000\nartifact_files = 10\n");
    let report = brain.run(&["role", "run", "wild", "--goal", "artifact notes.txt 1000", "--json"]).ended(0).json();
    let uri = worker(&report, "wild")["artifacts"][0]["uri"].as_str().unwrap();
    let digest = uri.strip_prefix("artifact:").unwrap();
    let kept = brain.home().join("sessions").join(report["sessionId"].as_str().unwrap()).join("artifacts").join(digest);
    assert_eq!(std::fs::read(kept).unwrap(), vec![b'a'; 1000]);

    let flood = brain.run(&["role", "run", "wild", "--goal", "artifact-flood", "--json"]).ended(0).json();
    let receipt = &worker(&flood, "wild")["receipt"];
    assert!(receipt["files"]["bytesWritten"].as_u64().unwrap() <= 100_000, "{receipt}");
    let reached = &receipt["reached"][0];
    assert_eq!(reached["limit"], "artifact-bytes", "{receipt}");
    assert!(reached["times"].as_u64() > Some(0), "{receipt}");
    let warned = flood["warnings"].as_array().unwrap().iter().any(|w| w.as_str().unwrap().contains("artifact"));
    assert!(warned, "{}", flood["warnings"]);
    let many = brain.run(&["role", "run", "wild", "--goal", "many-files", "--json"]).ended(0).json();
    assert!(worker(&many, "wild")["artifacts"].as_array().unwrap().len() <= 10);
}

#[test]
fn a_broken_manifest_is_told_and_stops_no_other_role() {
    let brain = Brain::in_project(&[("a.py", "eval(input())\n")]);
    brain.misbehaving("wild", "wild", "");
    brain.role("broken", "[limits]\ndeadline = 5\n", b"");
    brain.role_folder("renamed", "name = \"another\"\nversion = \"1\"\ndescription = \"d\"\ncontract = \"brain:role@1.0.0\"\ncomponent = \"role.wasm\"\n", b"");
    brain.role_folder("climber", "name = \"climber\"\nversion = \"1\"\ndescription = \"d\"\ncontract = \"brain:role@1.0.0\"\ncomponent = \"../wild/role.wasm\"\n", b"");

    let list = brain.run(&["role", "list"]).ended(0).out;
    let unusable: Vec<&str> = list.lines().filter(|line| line.contains(" BROKEN    named    ")).collect();
    assert_eq!(unusable.len(), 3, "{list}");
    assert!(unusable.iter().any(|line| line.contains("broken/role.toml:7: unknown field `deadline`")), "{list}");
    assert!(unusable.iter().any(|line| line.contains("`another`")), "{list}");
    assert!(unusable.iter().any(|line| line.contains("`../wild/role.wasm`")), "{list}");
    assert!(list.contains("did you mean `deadline_ms`?"), "the remedy is shown: {list}");
    assert!(list.contains("\nwild ") && list.contains("security"), "{list}");

    let listed = brain.run(&["role", "list", "--json"]).ended(0).json();
    assert!(listed.to_string().contains("unknown field `deadline`"), "programs are told, too: {listed}");

    let report = brain.run(&["run", "find dangerous calls", "--json"]).ended(0).json();
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    let said = report["missing"].as_array().unwrap().iter().any(|m| m.as_str().unwrap().contains("broken/role.toml:7"));
    assert!(said, "a run says that a role cannot be used: {}", report["missing"]);

    let doctor = brain.run(&["doctor"]).ended(0).out;
    assert!(doctor.contains("broken/role.toml:7") && doctor.contains("did you mean `deadline_ms`?"), "{doctor}");

    for (role, why) in [("broken", "broken/role.toml:7"), ("renamed", "calls itself"), ("another", "calls itself")] {
        let ran = brain.run(&["role", "run", role, "--goal", "echo"]).ended(1);
        assert!(ran.error("role.unusable").contains(why), "it is there, and cannot be used: {ran}");
    }
}

#[test]
fn a_component_of_another_contract_takes_no_part_and_the_report_says_which_row() {
    let brain = Brain::in_project(&[("a.py", "eval(input())\n")]);
    let routed = "[routing]\nwords = [\"dangerous\"]\n";
    brain.role("bare", routed, &wat::parse_str("(component)").unwrap());
    brain.role("core", routed, &wat::parse_str("(module)").unwrap());
    brain.role("text", routed, b"this is no component");
    let ran = brain.run(&["run", "find dangerous calls", "--json"]).ended(0);
    let report = ran.json();
    assert_eq!(report["status"], "answered");
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    for role in ["bare", "core", "text"] {
        let unfit = worker(&report, role);
        assert_eq!(unfit["status"], "failed", "{unfit}");
        assert!(unfit.get("receipt").is_none(), "it was never called: {unfit}");
        let fault = &unfit["fault"];
        assert!(fault["code"].as_str().is_some_and(|code| !code.is_empty()), "{fault}");
        assert!(fault["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{fault}");
    }
    let fault = worker(&report, "bare")["fault"]["message"].as_str().unwrap();
    assert!(fault.contains("brain:role/worker"), "{fault}");
    let shown = brain.run(&["run", "find dangerous calls"]).ended(0).out;
    assert!(shown.contains("brain:role/worker"), "{shown}");

    let doctor = brain.run(&["doctor"]).ended(1).out;
    assert!(doctor.contains("bare: brain:role/worker"), "{doctor}");
    assert!(
        doctor.contains("compiled roles are kept in"),
        "the cache is tried with a role that can be compiled: {doctor}"
    );

    let list = brain.run(&["role", "list"]).ended(0).out;
    for role in ["bare", "core", "text"] {
        let row = list.lines().find(|line| line.starts_with(&format!("{role:<14} BROKEN    named    "))).unwrap();
        assert!(row.contains("does not fit brain:role@1.0.0: "), "{row}");
    }
    let listed = brain.run(&["role", "list", "--json"]).ended(0).json();
    let unusable: Vec<&str> =
        listed["unusable"].as_array().unwrap().iter().map(|role| role["name"].as_str().unwrap()).collect();
    assert_eq!(unusable, ["bare", "core", "text"]);
}

#[test]
fn a_role_whose_read_glob_is_none_is_refused_with_the_glob() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.role("odd", "[files]\nread = [\"src/{a\"]\n", &guest("misbehave"));
    let ran = brain.run(&["role", "run", "odd", "--goal", "list /workspace", "--json"]).ended(1);
    assert!(ran.error("role.unusable").contains("src/{a"), "{ran}");
    let listed = brain.run(&["role", "list"]).ended(0).out;
    assert!(listed.contains("src/{a") && listed.contains("write it relative to the project"), "{listed}");
}

#[test]
fn without_any_role_the_way_to_get_some_is_said() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    // The roles that ship are looked for beside the binary.
    let binary = brain.path("bin/brain");
    std::fs::create_dir(brain.path("bin")).unwrap();
    std::fs::hard_link(brain_tests::target().join("brain"), &binary)
        .or_else(|_| std::fs::copy(brain_tests::target().join("brain"), &binary).map(drop))
        .unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&binary);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("BRAIN_HOME", brain.home());
        command.args(args).current_dir(brain.project());
        Brain::end(command)
    };
    assert!(run(&["run", "where is a"]).ended(1).error("role.none").contains("cargo xtask roles"));
    assert!(run(&["role", "list"]).ended(1).out.contains("There are no roles"));
    assert!(run(&["doctor"]).ended(1).out.contains("there are no roles"));

    // One that is broken is not none.
    let gone = brain.home().join("roles/gone");
    std::fs::create_dir_all(&gone).unwrap();
    let manifest = "name = \"gone\"\nversion = \"1\"\ndescription = \"d\"\ncontract = \"brain:role@1.0.0\"\ncomponent = \"gone.wasm\"\n";
    std::fs::write(gone.join("role.toml"), manifest).unwrap();
    let ran = run(&["run", "where is a"]).ended(1);
    assert!(ran.error("role.none-usable").contains("gone.wasm cannot be read"), "{ran}");
    let list = run(&["role", "list"]).ended(1).out;
    assert!(list.contains("There are no roles that can be used") && list.contains("gone           BROKEN"), "{list}");
    run(&["role", "inspect", "gone"]).ended(1).error("role.unusable");
}

#[test]
fn a_role_that_was_handed_no_change_cannot_approve_one() {
    let brain = Brain::in_project(&[("a.txt", "one\n")]);
    brain.misbehaving("wild", "wild", "");
    let report = brain.run(&["role", "run", "wild", "--goal", "echo", "--json"]).ended(1).json();
    assert_eq!(report["status"], "blocked");
    assert_eq!(report["review"]["decision"], "blocked");
    assert!(report["summary"].as_str().unwrap().contains("no change was handed to it"), "{report}");
}

#[test]
fn a_role_without_its_component_is_broken_wherever_it_is_named() {
    let brain = Brain::in_project(&[("a.py", "eval(input())\n")]);
    brain.role("gone", "[routing]\nwords = [\"dangerous\"]\n", b"");
    let component = brain.path("roles/gone/role.wasm");
    std::fs::remove_file(&component).unwrap();
    let why = format!("the component {} cannot be read: ", component.display());
    let list = brain.run(&["role", "list"]).ended(0).out;
    let row = list.lines().find(|line| line.starts_with("gone           BROKEN    named    ")).unwrap();
    assert!(row.contains(&why), "{list}");
    let listed = brain.run(&["role", "list", "--json"]).ended(0).json();
    assert_eq!(listed["unusable"][0]["name"], "gone", "{listed}");
    assert!(listed["roles"].as_array().unwrap().iter().all(|role| role["name"] != "gone"), "{listed}");
    for args in [
        &["role", "inspect", "gone"][..],
        &["role", "inspect", "gone", "--json"],
        &["role", "check", "gone"],
        &["role", "confirm", "gone", "--yes"],
        &["role", "run", "gone", "--goal", "look"],
        &["grants", "tighten", "gone"],
    ] {
        let ran = brain.run(args).ended(1);
        let said = ran.error("role.unusable");
        assert!(said.contains(&why) && said.contains("build the role first"), "{args:?}: {said}");
    }
    let report = brain.run(&["run", "find dangerous calls", "--json"]).ended(0).json();
    let said = report["missing"].as_array().unwrap().iter().any(|m| m.as_str().unwrap().contains(&why));
    assert!(said && report["status"] == "answered", "the others answer, and it is said: {report}");
    assert!(report["workers"].as_array().unwrap().iter().all(|worker| worker["role"] != "gone"), "{report}");
    let plan = brain.run(&["run", "find dangerous calls", "--dry-run"]).ended(0).out;
    assert!(plan.contains(&why), "{plan}");
}

#[test]
fn a_place_for_roles_that_is_none_is_said() {
    let brain = Brain::in_project(&[]);
    brain.misbehaving("wild", "wild", "");
    let ran = brain.run(&["role", "list", "--roles", brain.path("roles/wild").to_str().unwrap()]).ended(2);
    assert!(ran.error("cli.roles").contains("the folder that it lies in"), "{ran}");

    std::fs::write(brain.home().join("roles"), "in its place").unwrap();
    let list = brain.run(&["role", "list"]).ended(0).out;
    assert!(list.contains("home/roles cannot be listed: ") && list.contains("\nwild "), "{list}");
    assert!(brain.run(&["doctor"]).ended(0).out.contains("home/roles cannot be listed: "));
    std::fs::remove_file(brain.home().join("roles")).unwrap();

    // More than is looked at, and a manifest that leads nowhere.
    for n in 0..1001 {
        std::fs::create_dir_all(brain.home().join(format!("roles/z{n}"))).unwrap();
    }
    std::os::unix::fs::symlink("nowhere", brain.home().join("roles/z0/role.toml")).unwrap();
    let list = brain.run(&["role", "list"]).ended(0).out;
    assert!(list.contains("has more than 1000 entries: not all were looked at"), "{list}");
    assert!(
        list.contains("z0             BROKEN    home     ") && list.contains("z0/role.toml cannot be read"),
        "{list}"
    );
}
