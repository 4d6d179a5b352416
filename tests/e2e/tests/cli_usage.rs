//! Bad input, odd projects and broken places: each a clear message with its exit status, or a correct run.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use brain_tests::cli::{AUDIT, Brain};
use serde_json::{Value, json};

/// A project in which no role finds anything.
fn calm() -> Brain {
    Brain::in_project(&[(
        "src/lib.rs",
        "/// The sum of two invoices.\npub fn invoice_total(a: u8, b: u8) -> u8 {\n    a.saturating_add(b)\n}\n",
    )])
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

#[test]
fn an_unknown_flag_or_command_is_named_with_what_was_meant() {
    let brain = calm();
    let ran = brain.run(&["run", "--jsn", "where is invoice_total"]).ended(2);
    assert!(ran.err.contains("--jsn") && ran.err.contains("'--json'"), "{ran}");
    let ran = brain.run(&["rum", "where is invoice_total"]).ended(2);
    assert!(ran.err.contains("rum") && ran.err.contains("'run'"), "{ran}");
    let ran = brain.run(&["run", "where", "--fail-on", "urgent"]).ended(2);
    assert!(ran.err.contains("low, medium, high"), "{ran}");
    for name in ["-", ""] {
        let ran = brain.run(&["run", "where is invoice_total", "--sarif", name]).ended(2);
        assert!(ran.err.contains("--sarif <FILE>"), "{ran}");
    }
    let ran = brain.run(&["run", "where", "--json", "--summary-only"]).ended(2);
    assert!(ran.err.contains("cannot be used with"), "{ran}");
    assert!(!brain.home().join("sessions").exists());
}

#[test]
fn help_and_version_are_on_standard_output() {
    let brain = calm();
    let help = brain.run(&["--help"]).ended(0);
    assert!(help.out.contains("Exit status: 0 done, 1 could not, 2 called wrongly, 3 findings"), "{help}");
    for command in ["run", "role", "sessions", "doctor"] {
        assert!(help.out.contains(&format!("\n  {command} ")), "{help}");
    }
    let version = brain.run(&["--version"]).ended(0);
    assert!(version.out.starts_with("brain "), "{version}");
    brain.run(&[] as &[&str]).ended(2);
}

#[test]
fn an_empty_or_blank_request_is_refused() {
    let brain = calm();
    for empty in ["", "   ", "\n\t "] {
        brain.run(&["run", empty]).ended(2).error("run.empty");
        brain.run_with_input(&["run", "-"], empty.as_bytes()).ended(2).error("run.empty");
        brain.run(&["role", "run", "librarian", "--goal", empty]).ended(2).error("run.empty");
    }
    let none = brain.run(&["run"]).ended(2);
    assert!(none.err.contains("REQUEST"), "{none}");
    assert!(!brain.home().join("sessions").exists());
}

#[test]
fn a_vague_request_is_asked_back_before_any_role_runs() {
    let brain = calm();
    let ran = brain.run(&["run", "please fix this"]).ended(2);
    assert!(ran.out.contains("What should be looked at") && ran.out.contains("1. Map the code first: "), "{ran}");
    let report = brain.run(&["run", "improve it", "--json"]).ended(2).json();
    assert_eq!(report["status"], "needs_clarification");
    assert_eq!(report["workers"], json!([]));
    assert_eq!(report["clarification"]["options"].as_array().unwrap().len(), 3);
    let dry = brain.run(&["run", "fix it", "--dry-run"]).ended(2);
    assert!(dry.out.contains("What should be looked at"), "{dry}");
}

#[test]
fn a_request_that_asks_for_nothing_is_asked_back() {
    let brain = calm();
    for request in ["hi", "Hello there!", "thank you", "how are you?", "what can you do?", "ok", "1", "你好"] {
        let report = brain.run(&["run", request, "--json"]).ended(2).json();
        assert_eq!((&report["status"], &report["workers"]), (&json!("needs_clarification"), &json!([])), "{request}");
    }
    let ran = brain.run(&["run", "hi"]).ended(2);
    assert!(ran.out.contains("What should be looked at") && ran.err.is_empty(), "{ran}");
    let report = brain.run(&["run", "hi, where is invoice_total?", "--json"]).ended(0).json();
    assert_eq!(report["status"], "answered", "a greeting before a request is no hindrance");
}

#[test]
fn a_usage_line_names_the_program_and_the_command_alone() {
    let brain = calm();
    for (args, usage) in [
        (&["receipt"][..], "Usage: brain receipt <SESSION> [ROLE]\n"),
        (&["run"], "Usage: brain run <REQUEST>...\n"),
        (&["role", "inspect"], "Usage: brain role inspect <ROLE>\n"),
        (&["sessions", "show"], "Usage: brain sessions show <SESSION>\n"),
        (&["role"], "Usage: brain role [OPTIONS] <COMMAND>\n"),
        (&["--bogus"], "Usage: brain [OPTIONS] <COMMAND>\n"),
    ] {
        // BRAIN_HOME is set, and was not typed.
        let ran = brain.run(args).ended(2);
        assert!(ran.err.contains(usage), "{args:?}: {ran}");
    }
    brain.run(&["--home", "", "role", "list"]).ended(2);
}

#[test]
fn compiling_is_told_when_it_happens_and_then_no_more() {
    let brain = calm();
    brain.role("small", "", &brain_tests::guest("noop"));
    let empty = brain.path("empty-home");
    let called = || {
        let mut command = brain.command(&["role", "run", "small", "--goal", "do nothing"]);
        command.env("BRAIN_HOME", &empty);
        Brain::end(command).ended(0)
    };
    let first = called();
    let told =
        first.err.lines().find(|line| line.starts_with("small: compiled in ")).unwrap_or_else(|| panic!("{first}"));
    assert!(told.ends_with(" s, and kept for the next time"), "{told}");
    let second = called();
    assert!(!second.err.contains("compiled") && !second.err.contains("loading"), "{second}");
}

#[test]
fn schemas_are_named_printed_and_written() {
    let brain = calm();
    let names = brain.run(&["schema"]).ended(0).out;
    assert!(names.lines().any(|name| name == "role") && names.lines().any(|name| name == "run-report"), "{names}");
    for name in names.lines() {
        assert!(brain.run(&["schema", name]).ended(0).json()["$schema"].is_string(), "{name}");
    }
    let by_file = brain.run(&["schema", "role.schema.json"]).ended(0).out;
    assert_eq!(by_file, brain.run(&["schema", "role"]).ended(0).out);
    let out = brain.path("schemas");
    std::fs::create_dir(&out).unwrap();
    brain.run(&["schema", "--out", out.to_str().unwrap()]).ended(0);
    assert_eq!(std::fs::read_to_string(out.join("role.schema.json")).unwrap(), by_file);
    assert!(brain.run(&["schema", "rol"]).ended(2).error("cli.schema").contains("did you mean `role`?"));
    brain.run(&["schema", "role", "--out", out.to_str().unwrap()]).ended(2);
    assert!(brain.run(&["--help"]).ended(0).out.contains("\n  schema "));
}

#[test]
fn a_request_may_come_from_standard_input() {
    let brain = calm();
    let report = brain.run_with_input(&["run", "-", "--json"], b"where is invoice_total defined?\n").ended(0).json();
    assert_eq!(report["task"], "where is invoice_total defined?");
    assert!(report["summary"].as_str().unwrap().contains("src/lib.rs"), "{report}");
    // Bytes that are no text, and bytes that a terminal would obey, are shown harmlessly.
    let ran =
        brain.run_with_input(&["run", "-"], b"where is invoice_total \xff\x00\x1b[2J\xe2\x80\xae defined?").ended(0);
    assert!(ran.out.contains("\\u{1b}[2J") && ran.out.contains("\\u{202e}"), "{ran}");
}

#[test]
fn a_request_that_is_too_long_is_refused_with_the_limit() {
    let brain = calm();
    let ran = brain.run_with_input(&["run", "-"], &vec![b'x'; 10 << 20]).ended(2);
    let said = ran.error("run.too-long");
    assert!(said.contains("262144") && said.contains("@path"), "{said}");
    let ran = brain.run_with_input(&["run", "-"], "é".repeat(262_145).as_bytes()).ended(2);
    assert!(ran.error("run.too-long").contains("262144"), "{ran}");
    assert!(!brain.home().join("sessions").exists());
    // The longest that is allowed is worked on, and the report is not as long.
    let longest = format!("where is invoice_total {}", "é".repeat(262_144 - "where is invoice_total ".len()));
    let ran = brain.run_with_input(&["run", "-"], longest.as_bytes()).ended(0);
    assert!(ran.out.len() < 20_000, "{} bytes", ran.out.len());
}

#[test]
fn a_project_that_is_no_folder_is_refused() {
    let brain = calm();
    for project in ["src/lib.rs", "src/lib.rs/below", "nowhere"] {
        let ran = brain.run(&["run", "where is invoice_total", "-C", project]).ended(2);
        assert!(ran.error("run.project").contains(project), "{ran}");
    }
    brain.run(&["doctor", "-C", "nowhere"]).ended(1);
}

#[test]
fn a_missing_reference_is_said_and_the_run_goes_on_but_a_named_one_has_to_exist() {
    let brain = calm();
    let report = brain.run(&["run", "where is invoice_total, see @src/nope.rs and @../x", "--json"]).ended(0).json();
    assert_eq!(
        strings(&report["missing"]),
        [
            "@src/nope.rs: there is no such file",
            "@../x: give a path below the project",
            "none of the files that the request names is there, and roles see nothing else",
        ]
    );
    // A name that is mistyped does not widen what roles see.
    let granted = report["workers"][0]["receipt"]["grants"]["workspace"].as_array().unwrap();
    assert_eq!(granted.last().unwrap(), &json!({"who": "handoff", "globs": []}), "{granted:?}");
    for bad in ["src/nope.rs", "../x", "/etc/passwd", ""] {
        let ran = brain.run(&["role", "run", "librarian", "--goal", "where is invoice_total", "--ref", bad]).ended(2);
        assert!(ran.error("run.reference").contains(bad), "{ran}");
    }
}

#[test]
fn names_that_are_not_utf_8_are_counted_and_the_rest_is_seen() {
    let brain = calm();
    let odd = brain.project().join(OsStr::from_bytes(b"bad-\xff-name.py"));
    std::fs::write(odd, "eval(input())\n").unwrap();
    brain.write("seen.py", "eval(input())\n");
    let report = brain.run(&["run", "find dangerous calls", "--json"]).ended(0).json();
    assert_eq!(report["findings"][0]["file"], "seen.py");
    let warned = strings(&report["warnings"]).iter().any(|w| w.contains("security: 1 name") && w.contains("not UTF-8"));
    assert!(warned, "{}", report["warnings"]);
    let ran = brain.run_with_input(&[OsStr::from_bytes(b"run"), OsStr::from_bytes(b"where is \xff")], b"");
    assert_eq!(ran.status, 2, "{ran}");
    assert!(ran.err.contains("UTF-8"), "{ran}");
}

#[test]
fn links_in_circles_pipes_and_devices_hold_no_role_up() {
    let brain = calm();
    brain.write("danger/a.py", "eval(input())\n");
    symlink("loop-b", brain.project().join("loop-a")).unwrap();
    symlink("loop-a", brain.project().join("loop-b")).unwrap();
    symlink(".", brain.project().join("danger/again")).unwrap();
    symlink("..", brain.project().join("danger/up")).unwrap();
    symlink("/etc/passwd", brain.project().join("passwd.py")).unwrap();
    symlink("/dev/zero", brain.project().join("zero.py")).unwrap();
    let pipe = brain.project().join("pipe.py");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Git passes over what is neither file nor link.
    brain.commit();
    let report = brain.run(&["run", AUDIT, "--json"]).ended(0).json();
    let places: Vec<&str> = report["findings"].as_array().unwrap().iter().filter_map(|f| f["file"].as_str()).collect();
    assert!(places.contains(&"danger/a.py"), "{places:?}");
    let led_out = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["rule"] == "review/symbolic-link" && f["severity"] == "high");
    assert_eq!(
        led_out.count(),
        2,
        "links that lead out of the project are findings, and what they lead to is not read"
    );
    assert!(!report.to_string().contains("root:"), "{report}");
    for worker in report["workers"].as_array().unwrap() {
        assert_eq!(worker["status"], "completed", "{worker}");
    }
}

#[test]
fn a_file_of_five_gigabytes_holds_no_role_up() {
    let brain = calm();
    for name in ["huge.py", "huge.bin", "huge.diff"] {
        File::create(brain.project().join(name)).unwrap().set_len(5 << 30).unwrap();
    }
    brain.write("seen.py", "eval(input())\n");
    let report = brain.run(&["run", "find dangerous calls and where invoice_total is", "--json"]).ended(0).json();
    assert_eq!(report["findings"][0]["file"], "seen.py");
    for worker in report["workers"].as_array().unwrap() {
        assert_eq!(worker["status"], "completed", "{worker}");
        assert!(worker["receipt"]["files"]["bytesRead"].as_u64().unwrap() < 64 << 20, "{}", worker["receipt"]["files"]);
        let said =
            strings(&worker["risks"]).iter().any(|risk| risk.contains("not looked at") || risk.contains("not read"));
        assert!(said, "{} says nothing of the files that it did not look at: {}", worker["role"], worker["risks"]);
    }
}

#[test]
fn fifty_thousand_files_are_looked_through() {
    let brain = Brain::in_project(&[]);
    for folder in 0..500 {
        let folder = brain.project().join(format!("d{folder}"));
        std::fs::create_dir(&folder).unwrap();
        for file in 0..100 {
            std::fs::write(folder.join(format!("f{file}.py")), format!("def f{file}():\n    return {file}\n")).unwrap();
        }
    }
    brain.write("d199/f99.py", "eval(input())\n");
    let report = brain.run(&["run", "find dangerous calls, and where is f42", "--json"]).ended(0).json();
    for worker in report["workers"].as_array().unwrap() {
        assert_eq!(worker["status"], "completed", "{worker}");
    }
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().any(|f| f["file"] == "d199/f99.py");
    let security = report["workers"].as_array().unwrap().iter().find(|w| w["role"] == "security").unwrap();
    let said = strings(&security["risks"]).iter().any(|risk| risk.contains("files"));
    assert!(found || said, "neither found nor said to be left out: {security}");
}

#[test]
fn the_home_is_brain_home_or_below_home() {
    let brain = calm();
    let user = brain.path("user");
    std::fs::create_dir(&user).unwrap();
    let with_home = |brain_home: Option<&str>| {
        let mut command = brain.command(&["run", "fix it"]);
        command.env_remove("BRAIN_HOME").env("HOME", &user);
        command.envs(brain_home.map(|value| ("BRAIN_HOME", value)));
        Brain::end(command).ended(2)
    };
    with_home(None);
    with_home(Some(""));
    assert_eq!(std::fs::read_dir(user.join(".brain/sessions")).unwrap().filter(is_journal).count(), 2);
    assert!(!brain.home().join("sessions").exists());

    // The user database may know a home where the environment does not; a command that writes nothing tells.
    let mut command = brain.command(&["role", "list"]);
    command.env_remove("BRAIN_HOME");
    let ran = Brain::end(command);
    match ran.status {
        0 => assert!(ran.out.contains("/.brain/roles"), "{ran}"),
        _ => assert!(ran.ended(2).error("cli.home").contains("BRAIN_HOME")),
    }
}

#[test]
fn the_doctor_looks_where_sessions_are_kept() {
    let brain = calm();
    std::fs::write(brain.home().join("sessions"), "in its place").unwrap();
    let ran = brain.run(&["doctor"]).ended(1);
    assert!(ran.out.contains("home/sessions cannot be written"), "{ran}");
    brain.run(&["run", "where is invoice_total"]).ended(1).error("journal.home-not-writable");
}

fn is_journal(entry: &std::io::Result<std::fs::DirEntry>) -> bool {
    entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".jsonl")
}

#[test]
fn a_home_that_cannot_be_written_stops_the_run_with_the_reason() {
    let brain = calm();
    std::fs::write(brain.path("file"), "in its place").unwrap();
    for home in ["file", "file/below"] {
        let home = brain.path(home);
        let mut command = brain.command(&["run", "where is invoice_total"]);
        command.env("BRAIN_HOME", &home);
        let ran = Brain::end(command).ended(1);
        let said = ran.error("journal.home-not-writable");
        assert!(said.contains(home.to_str().unwrap()) && said.contains("BRAIN_HOME"), "{said}");
        assert!(
            said.contains("Not a directory") || said.contains("File exists"),
            "the system's reason is said: {said}"
        );
    }
    let mut command = brain.command(&["doctor"]);
    command.env("BRAIN_HOME", brain.path("file"));
    let ran = Brain::end(command).ended(1);
    assert!(ran.out.contains("cannot be written"), "{ran}");
}

#[test]
fn a_broken_configuration_is_refused_with_its_line_and_what_was_meant() {
    let brain = calm();
    let config = brain.home().join("config.toml");
    for (text, line, hint) in [
        ("[run]\nmax_paralel = 2\n", 2, "did you mean `max_parallel`?"),
        ("# limits\n\n[limit]\ndeadline_ms = 5\n", 3, "did you mean `limits`?"),
        ("[limits]\ndeadline_ms = \"soon\"\n", 2, "`brain schema config` prints what belongs into config.toml"),
        ("[limits]\ndeadline_ms = -5\n", 2, "schemas/config.schema.json"),
        ("[run]\n<html>\n", 2, "`brain schema config`"),
    ] {
        std::fs::write(&config, text).unwrap();
        let ran = brain.run(&["run", "where is invoice_total"]).ended(1);
        let said = ran.error("config.invalid");
        assert!(said.contains(&format!("config.toml:{line}: ")) && said.contains(hint), "{text}: {said}");
        assert!(brain.run(&["doctor"]).ended(1).out.contains(&format!("config.toml:{line}: ")));
    }
    std::fs::write(&config, vec![b'#'; 300 << 10]).unwrap();
    brain.run(&["run", "where is invoice_total"]).ended(1).error("config.too-large");
    std::fs::write(&config, b"\xff\xfe").unwrap();
    brain.run(&["run", "where is invoice_total"]).ended(1).error("config.unreadable");
    std::fs::remove_file(&config).unwrap();
    std::fs::create_dir(&config).unwrap();
    brain.run(&["run", "where is invoice_total"]).ended(1).error("config.unreadable");
    std::fs::remove_dir(&config).unwrap();

    brain.write(".brain/brain.toml", "[files]\ndenny = []\n");
    let ran = brain.run(&["run", "where is invoice_total"]).ended(1);
    assert!(ran.error("config.invalid").contains("brain.toml:2: "), "{ran}");
}

#[test]
fn configuration_that_is_a_pipe_holds_nothing_up() {
    let brain = calm();
    assert!(Command::new("mkfifo").arg(brain.home().join("config.toml")).status().unwrap().success());
    brain.run(&["run", "where is invoice_total"]).ended(1).error("config.unreadable");
}

#[test]
fn what_the_operator_denies_no_role_sees() {
    let brain = Brain::in_project(&[("open.py", "eval(input())\n"), ("private/b.py", "eval(input())\n")]);
    brain.write(".brain/brain.toml", "[files]\ndeny = [\"private/**\"]\n");
    let report = brain.run(&["run", "find dangerous calls", "--json"]).ended(0).json();
    let files: Vec<&str> = report["findings"].as_array().unwrap().iter().map(|f| f["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["open.py"]);
}

#[test]
fn findings_change_the_exit_status_when_asked() {
    let brain = Brain::in_project(&[(
        ".github/workflows/ci.yml",
        "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n",
    )]);
    let request = "check the security";
    let report = brain.run(&["run", request, "--json"]).ended(0).json();
    let severities: Vec<&Value> = report["findings"].as_array().unwrap().iter().map(|f| &f["severity"]).collect();
    assert!(!severities.is_empty() && severities.iter().all(|s| *s == "low"), "{severities:?}");
    brain.run(&["run", request, "--fail-on", "low"]).ended(3);
    brain.run(&["run", request, "--fail-on", "medium"]).ended(0);
    brain.write("a.py", "import os\nos.system(input())\n");
    brain.run(&["run", request, "--fail-on", "medium"]).ended(3);
    brain.run(&["role", "run", "security", "--goal", request, "--fail-on", "low"]).ended(3);
    calm().run(&["run", request, "--fail-on", "low"]).ended(0);
}

#[test]
fn progress_goes_to_standard_error_and_quiet_says_nothing() {
    let brain = calm();
    let ran = brain.run(&["run", "where is invoice_total"]).ended(0);
    assert!(ran.err.contains("librarian: completed after "), "{ran}");
    let quiet = brain.run(&["run", "where is invoice_total", "--quiet"]).ended(0);
    assert_eq!(quiet.err, "");
    assert!(quiet.out.contains("src/lib.rs"), "{quiet}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let brain = Brain::in_sample();
    for args in [
        &["run", AUDIT, "--json", "-q"][..],
        &["run", AUDIT, "-q"],
        &["sessions", "list"],
        &["role", "list"],
        &["--help"],
    ] {
        let mut command = brain.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let ran = Brain::finish(child.wait_with_output().unwrap()).ended(0);
        assert_eq!(ran.err, "", "{args:?}");
    }
    // Nobody reads at all.
    let mut command = brain.command(&["role", "list"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(Brain::finish(child.wait_with_output().unwrap()).ended(0).err, "");
}

#[test]
fn a_disk_that_is_full_is_an_error() {
    let brain = calm();
    let mut command = brain.command(&["role", "list"]);
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    Brain::finish(command.output().unwrap()).ended(1).error("cli.output");
}

#[test]
fn a_report_is_shown_even_when_the_sarif_file_cannot_be_written() {
    let brain = calm();
    let ran = brain.run(&["run", "where is invoice_total", "--sarif", "nowhere/out.sarif"]).ended(1);
    assert!(ran.err.contains("nowhere/out.sarif") && ran.err.contains("code: cli.output"), "{ran}");
    assert!(ran.out.contains("src/lib.rs"), "{ran}");
}

#[test]
fn a_project_without_git_is_analysed_and_the_review_says_what_it_misses() {
    let brain = calm();
    let report = brain.run(&["run", "where is invoice_total, and review my changes", "--json"]);
    let report = report.json();
    assert!(strings(&report["missing"]).iter().any(|m| m.starts_with("no diff to review: ")), "{}", report["missing"]);
    assert_ne!(report["status"], "approved");
}

#[test]
fn an_empty_project_is_a_project() {
    let brain = Brain::in_project(&[]);
    let report = brain.run(&["run", "where is the journal written", "--json"]).ended(0).json();
    assert_eq!(report["status"], "answered");
}

#[test]
fn the_doctor_is_content_with_a_sound_place() {
    let brain = calm();
    brain.commit();
    let ran = brain.run(&["doctor"]).ended(0);
    assert!(ran.out.contains("All is well."), "{ran}");
    let checks = brain.run(&["doctor", "--json"]).ended(0).json();
    assert!(checks["checks"].as_array().unwrap().len() >= 6, "{checks}");
}
