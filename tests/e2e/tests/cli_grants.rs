//! Grants on the command line: what is asked, granted and in force, and who said so; what a project cannot widen; and that a
//! role which asks for more than it did is not called until the operator confirms it.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use brain_tests::cli::{Brain, Ran};
use brain_tests::guest;
use serde_json::{Value, json};

/// A project with some files, and the guest that does what its goal says.
fn brain() -> Brain {
    Brain::in_project(&[
        ("a.txt", "one\n"),
        ("src/in.rs", "x\n"),
        ("logs/x.log", "1234567\n"),
        (".gitignore", "logs/\n"),
    ])
}

/// The guest `wild` with this manifest below its head.
fn wild(brain: &Brain, rest: &str) {
    brain.role("wild", &format!("{rest}\n[routing]\nwords = [\"wild\"]\n"), &guest("misbehave"));
}

fn config(brain: &Brain, text: &str) {
    std::fs::write(brain.home().join("config.toml"), text).unwrap();
}

fn confirmed(brain: &Brain) -> PathBuf {
    brain.home().join("confirmed.toml")
}

fn call(brain: &Brain, goal: &str) -> Ran {
    brain.run(&["role", "run", "wild", "--json", "-q", "--goal", goal])
}

fn answer(brain: &Brain, goal: &str) -> String {
    call(brain, goal).ended(0).json()["summary"].as_str().unwrap().to_owned()
}

fn inspect(brain: &Brain) -> Value {
    brain.run(&["role", "inspect", "wild", "--json"]).ended(0).json()
}

const READS: &str = "[files]\nread = [\"**\"]\n";

#[test]
fn the_operator_narrows_what_a_role_reads_in_all_projects_and_in_one() {
    let brain = brain();
    wild(&brain, READS);
    assert!(answer(&brain, "open /workspace/a.txt").ends_with("ok 4 bytes"));
    config(&brain, "[grants.wild]\nread = [\"src/**\"]\n");
    assert!(answer(&brain, "open /workspace/a.txt").contains("error PermissionDenied"));
    assert!(answer(&brain, "open /workspace/src/in.rs").ends_with("ok 2 bytes"));

    // By another name of the same folder.
    symlink(brain.project(), brain.path("other-name")).unwrap();
    config(
        &brain,
        &format!(
            "[grants.wild]\nread = []\n[projects.\"{}\".grants.wild]\nread = [\"a.txt\"]\n",
            brain.path("other-name").display()
        ),
    );
    assert!(answer(&brain, "open /workspace/a.txt").ends_with("ok 4 bytes"));
    assert!(answer(&brain, "open /workspace/src/in.rs").contains("error PermissionDenied"));
    assert_eq!(inspect(&brain)["grant"]["read"][1], json!({"who": "operator-here", "globs": ["a.txt"]}));
}

#[test]
fn what_gitignore_excludes_is_seen_by_who_asks_and_is_granted_it() {
    let brain = brain();
    let open = "open /workspace/logs/x.log";
    wild(&brain, "[files]\nread = [\"**\"]\ngitignored = true\n");
    assert!(answer(&brain, open).contains("error "), "asking is not enough");
    config(&brain, "[grants.wild]\ngitignored = true\n");
    assert!(answer(&brain, open).ends_with("ok 8 bytes"));
    brain.write(".brain/brain.toml", "[grants.wild]\ngitignored = false\n");
    assert!(answer(&brain, open).contains("error "), "a project narrows");
    let ran = brain.run(&["role", "inspect", "wild"]).ended(0);
    let row = ran.out.lines().find(|line| line.starts_with("gitignored")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["gitignored", "yes", "no", "project", "no"]);
}

#[test]
fn a_project_that_would_widen_is_told_of_and_has_nothing_of_it() {
    let brain = brain();
    wild(
        &brain,
        "[files]\nread = [\"**\"]\nwrite = [\"**\"]\ngitignored = true\n[wasi]\nwall_clock = true\nrandom = true\n",
    );
    config(&brain, "[grants.wild]\nread = [\"src/**\"]\n");
    brain.write(
        ".brain/brain.toml",
        "[grants.wild]\nread = [\"**\"]\nwrite = [\"**\"]\ngitignored = true\nwall_clock = true\nrandom = true\n\
         [limits]\ndeadline_ms = 999999999\n",
    );
    for goal in ["open /workspace/a.txt", "open /workspace/logs/x.log", "write /workspace/src/new.rs"] {
        assert!(answer(&brain, goal).contains("error "), "{goal}");
    }
    let report = call(&brain, "open /workspace/src/in.rs").ended(0).json();
    assert!(report["summary"].as_str().unwrap().ends_with("ok 2 bytes"), "{report}");
    let missing = report["missing"].to_string();
    for said in [
        "names more for wild to read than is granted, which is not applied: **",
        "names more for wild to write than is granted, which is not applied: **",
        "turns on `gitignored` for wild, which is not applied",
        "turns on `wall_clock` for wild, which is not applied",
        "turns on `random` for wild, which is not applied",
        "would raise limits of roles, which is not applied: deadline_ms",
    ] {
        assert!(missing.contains(said), "{said}: {missing}");
    }
    let grant = &inspect(&brain)["grant"];
    for switch in ["gitignored", "wallClock", "random"] {
        assert_eq!(grant[switch], json!({"asked": true, "granted": false, "by": "default", "effective": false}));
    }
    brain.write(".brain/brain.toml", "[projects.\"/\".grants.wild]\nread = [\"**\"]\n");
    let ran = call(&brain, "list /workspace").ended(1);
    assert!(ran.error("config.invalid").contains("brain.toml:1: unknown field `projects`"), "{ran}");
}

#[test]
fn no_role_reaches_the_files_that_grant() {
    let brain = brain();
    wild(&brain, "[files]\nread = [\"**\"]\nwrite = [\"**\", \".brain/**\"]\n");
    config(&brain, "[grants.wild]\nwrite = [\"**\", \".brain/**\"]\n");
    let narrow = "[files]\ndeny = [\"src/**\"]\n";
    brain.write(".brain/brain.toml", narrow);
    for goal in [
        "write /workspace/.brain/brain.toml",
        "append /workspace/.brain/brain.toml",
        "truncate /workspace/.brain/brain.toml",
        "remove /workspace/.brain/brain.toml",
        "rename /workspace/.brain -> /workspace/elsewhere",
        "rename /workspace/a.txt -> /workspace/.brain/brain.toml",
        "write /workspace/.brain/other",
        "mkdir /workspace/.brain/folder",
    ] {
        assert!(answer(&brain, goal).contains("error "), "{goal}");
    }
    assert_eq!(std::fs::read_to_string(brain.project().join(".brain/brain.toml")).unwrap(), narrow);
    assert_eq!(std::fs::read_dir(brain.project().join(".brain")).unwrap().count(), 1);
}

#[test]
fn a_role_is_inspected_by_capability_within_a_hundred_columns() {
    let brain = brain();
    let long: String = (0..40).map(|i| format!("\"a/rather/long/folder/name/{i}/**\", ")).collect();
    wild(
        &brain,
        &format!(
            "[files]\nread = [{long}]\nwrite = [\"src/**\"]\n[wasi]\nrandom = true\n[limits]\ndeadline_ms = 90000\n"
        ),
    );
    config(
        &brain,
        "[grants.wild]\nread = [\"**\"]\nrandom = true\n[files]\ndeny = [\"private/**\"]\n[limits]\ndeadline_ms = 70000\n",
    );
    brain.write(".brain/brain.toml", "[limits]\nmemory_bytes = 1048576\n[files]\ndeny = [\"hidden\"]\n");
    let ran = brain.run(&["role", "inspect", "wild"]).ended(0);
    let rows: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
    for row in [
        &["Capability", "Asked", "Granted", "By", "In", "force"][..],
        &["write", "src/**", "nothing", "default", "nothing"],
        &["random", "yes", "yes", "operator", "yes"],
        &["wall", "clock", "no", "no", "default", "no"],
        &["deadline_ms", "90", "s", "up", "to", "70", "s", "operator", "70", "s"],
        &["memory_bytes", "256", "MiB", "up", "to", "1", "MiB", "project", "1", "MiB"],
        &["Never", "read", "or", "written,", "by", "the", "operator:", "private/**"],
        &["Never", "read", "or", "written,", "by", "the", "project:", "hidden"],
        &["Confirmed", "nothing", "yet:", "its", "first", "use", "confirms", "what", "it", "asks", "for"],
    ] {
        assert!(rows.iter().any(|found| found == row), "{row:?}: {ran}");
    }
    let table =
        ran.out.lines().skip_while(|line| !line.starts_with("Capability")).take_while(|l| !l.contains("Contract"));
    for line in table {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(ran.out.contains("… (all: --json)"), "{ran}");
}

#[test]
fn a_wrong_key_names_its_line_and_the_nearest_key() {
    let brain = brain();
    wild(&brain, READS);
    for (text, line, help) in [
        ("[grants.wild]\nreed = []\n", 2, "did you mean `read`?"),
        ("[grants.wild]\n\nwallclock = true\n", 3, "did you mean `wall_clock`?"),
        ("[grant.wild]\n", 1, "did you mean `grants`?"),
        ("[grants.wild]\nread = [\n  \"src\",\n  \"../up\",\n]\n", 4, "write it relative to the project"),
        ("[grants.\"Not A Role\"]\n", 1, "`brain schema config`"),
    ] {
        config(&brain, text);
        for args in [&["role", "inspect", "wild"][..], &["role", "run", "wild", "--goal", "list /workspace"]] {
            let ran = brain.run(args).ended(1);
            let error = ran.error("config.invalid");
            assert!(error.contains(&format!("config.toml:{line}: ")) && error.contains(help), "{text}: {ran}");
        }
    }
    config(&brain, "");
    wild(&brain, "[files]\nread = [\"**\"]\nwrit = [\"src/**\"]\n");
    let broken = brain.run(&["role", "inspect", "wild"]).ended(1);
    let said = broken.error("role.unusable");
    assert!(said.contains("role.toml:8: unknown field `writ`") && said.contains("did you mean `write`?"), "{broken}");
}

#[test]
fn a_grant_to_nobody_is_a_warning_of_the_doctor() {
    let brain = brain();
    config(&brain, "[grants.secuirty]\nread = [\"**\"]\n[projects.\"/no/such/project\".grants.review]\nread = []\n");
    brain.write(".brain/brain.toml", "[grants.zzz]\nread = []\n");
    let report = brain.run(&["doctor", "--json"]).ended(0).json();
    let told: Vec<&Value> = report["checks"].as_array().unwrap().iter().filter(|c| c["id"] == "grants").collect();
    assert_eq!(told.len(), 3, "{report}");
    assert!(told.iter().all(|check| check["status"] == "warning"));
    assert!(
        told[0]["message"].as_str().unwrap().contains("`secuirty`") && told[0]["fix"] == "did you mean `security`?"
    );
    assert!(told[1]["message"].as_str().unwrap().contains("`zzz`"), "{report}");
    assert!(told[2]["message"].as_str().unwrap().contains("/no/such/project"), "{report}");
}

#[test]
fn the_first_use_confirms_what_a_role_asks_for_the_operator_alone_to_read() {
    let brain = brain();
    wild(&brain, READS);
    let ran = brain.run(&["role", "run", "wild", "--goal", "list /workspace"]).ended(0);
    assert!(ran.err.contains("wild: used for the first time"), "{ran}");
    assert_eq!(std::fs::metadata(confirmed(&brain)).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(confirmed(&brain)).unwrap();
    let file: toml::Value = toml::from_str(&text).unwrap();
    let pinned = &file["roles"]["wild"];
    assert_eq!(pinned["version"].as_str(), Some("0.1.0"));
    assert_eq!(pinned["by"].as_str(), Some("first-use"));
    assert_eq!(pinned["component"].as_str().unwrap().len(), 64);
    assert_eq!(pinned["asks"]["read"].as_array().unwrap().len(), 1);
    let again = brain.run(&["role", "run", "wild", "--goal", "list /workspace"]).ended(0);
    assert!(!again.err.contains("first time"), "{again}");
    assert_eq!(std::fs::read_to_string(confirmed(&brain)).unwrap(), text, "a second use changes nothing");
    assert!(brain.run(&["role", "inspect", "wild"]).out.contains("Confirmed by its first use on "));

    // Those that ship are confirmed the same way, and nothing is said of it.
    let ran = brain.run(&["run", "where is x defined?"]).ended(0);
    assert!(!ran.err.contains("first time"), "{ran}");
    assert!(std::fs::read_to_string(confirmed(&brain)).unwrap().contains("[roles.librarian]"));
}

#[test]
fn an_update_that_asks_for_more_is_not_called_until_it_is_confirmed() {
    let brain = brain();
    wild(&brain, "[files]\nread = [\"src/**\"]\n");
    assert!(answer(&brain, "open /workspace/a.txt").contains("error PermissionDenied"));
    wild(&brain, "[files]\nread = [\"**\"]\nwrite = [\"src/**\"]\n[limits]\ndeadline_ms = 61000\n");

    let ran = call(&brain, "open /workspace/a.txt").ended(1);
    let fault = &ran.json()["workers"][0]["fault"];
    assert_eq!(fault["code"], "role.widened");
    assert_eq!(
        fault["message"],
        "the role `wild` asks for more than was confirmed: to read **; to write src/**; deadline_ms 61000, above 60000"
    );
    assert!(fault["remedy"].as_str().unwrap().contains("`brain role confirm wild`"), "{fault}");

    let inspected = brain.run(&["role", "inspect", "wild"]).ended(0).out;
    for part in ["Not called: it asks for more than was confirmed", "  + to read **", "  + to write src/**"] {
        assert!(inspected.contains(part), "{inspected}");
    }
    assert_eq!(inspect(&brain)["beyond"].as_array().unwrap().len(), 3);
    let doctor = brain.run(&["doctor", "--json"]).ended(0).json();
    assert!(doctor["checks"].as_array().unwrap().iter().any(|c| c["id"] == "confirmed" && c["status"] == "warning"));

    let ran = brain.run(&["role", "confirm", "wild", "--yes"]).ended(0);
    assert!(ran.out.contains("+ to read **") && ran.out.ends_with("wild 0.1.0 is confirmed.\n"), "{ran}");
    assert!(answer(&brain, "open /workspace/a.txt").ends_with("ok 4 bytes"));
    let ran = brain.run(&["role", "confirm", "wild"]).ended(0);
    assert_eq!(ran.out, "wild asks for what was confirmed already.\n");

    // Less is no news, and the way back to what was confirmed is none either.
    wild(&brain, "[files]\nread = [\"src/**\"]\n");
    assert!(answer(&brain, "open /workspace/src/in.rs").ends_with("ok 2 bytes"));
    wild(&brain, READS);
    assert!(answer(&brain, "open /workspace/a.txt").ends_with("ok 4 bytes"));
}

#[test]
fn a_run_goes_on_without_a_role_that_asks_for_more() {
    let brain = brain();
    brain.misbehaving("sound", "audit", "[limits]\nopen_handles = 100\n");
    brain.misbehaving("wild", "audit", "");
    let request = "audit say, and find where it is";
    brain.run(&["run", request, "-q"]);
    brain.misbehaving("wild", "audit", "[wasi]\nwall_clock = true\n");
    let preview = brain.run(&["run", request, "--dry-run", "--json"]).ended(0);
    assert!(preview.out.contains("the role `wild` asks for more than was confirmed: the time of day"), "{preview}");
    let report = brain.run(&["run", request, "--json", "-q"]).json();
    let worker =
        |role: &str| report["workers"].as_array().unwrap().iter().find(|w| w["role"] == role).cloned().unwrap();
    assert_eq!(worker("wild")["fault"]["code"], "role.widened");
    assert!(worker("wild").get("receipt").is_none(), "it was not called");
    assert!(worker("sound").get("receipt").is_some(), "{report}");
    assert!(report["warnings"].to_string().contains("wild: the role `wild` asks for more"), "{report}");
}

#[test]
fn without_a_terminal_nothing_is_confirmed_unless_it_is_said() {
    let brain = brain();
    wild(&brain, READS);
    for ran in
        [brain.run(&["role", "confirm", "wild"]), brain.run_with_input(&["role", "confirm", "wild"], b"y\ny\ny\n")]
    {
        let ran = ran.ended(2);
        let error = ran.error("cli.consent");
        assert!(error.contains("+ to read **") && error.contains("--yes"), "{ran}");
        assert!(!confirmed(&brain).exists());
    }
    brain.run(&["role", "confirm", "nobody", "--yes"]).ended(2).error("role.not-found");
    let ran = brain.run(&["role", "confirm", "wild", "--yes"]).ended(0);
    assert!(ran.out.starts_with("wild was never used. It asks for:\n  + to read **\n"), "{ran}");
    assert!(std::fs::read_to_string(confirmed(&brain)).unwrap().contains("by = \"operator\""));
}

#[test]
fn damage_confirms_nothing_and_names_its_line() {
    let brain = brain();
    wild(&brain, READS);
    call(&brain, "list /workspace").ended(0);
    let sound = std::fs::read_to_string(confirmed(&brain)).unwrap();
    let at = sound.lines().position(|line| line.starts_with("version")).unwrap() + 1;
    for (damaged, line) in [
        (sound.replace("version = \"0.1.0\"", "version = 1"), at),
        (sound.replace("version = ", "versoin = "), at),
        (sound.replacen("first-use", "nobody", 1), 0),
        (sound.replace("gitignored = false", "gitignored = false\ngitignored = true"), 0),
        (sound[..sound.len() / 2].to_owned() + "\"", 0),
        ("<html>".to_owned(), 1),
    ] {
        assert_ne!(damaged, sound);
        std::fs::write(confirmed(&brain), &damaged).unwrap();
        for args in [
            &["role", "run", "wild", "-q", "--goal", "list /workspace"][..],
            &["role", "inspect", "wild"],
            &["role", "confirm", "wild", "--yes"],
            &["run", "go wild", "--dry-run"],
        ] {
            let ran = brain.run(args).ended(1);
            let error = ran.error("role.confirmed");
            let named = if line == 0 { "confirmed.toml:".to_owned() } else { format!("confirmed.toml:{line}: ") };
            assert!(error.contains(&named), "{ran}");
        }
        assert_eq!(std::fs::read_to_string(confirmed(&brain)).unwrap(), damaged, "damage is left for the operator");
        assert_eq!(brain.run(&["doctor"]).status, 1);
    }
    std::fs::remove_file(confirmed(&brain)).unwrap();
    std::fs::create_dir(confirmed(&brain)).unwrap();
    call(&brain, "list /workspace").ended(1).error("role.confirmed");
}

#[test]
fn processes_that_confirm_at_once_lose_nothing() {
    let brain = brain();
    let names: Vec<String> = (0..12).map(|i| format!("role-{i}")).collect();
    for name in &names {
        brain.misbehaving(name, name, "");
    }
    let running: Vec<_> = names
        .iter()
        .map(|name| brain.command(&["role", "confirm", name, "--yes"]).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    for mut process in running {
        assert!(process.wait().unwrap().success());
    }
    let text = std::fs::read_to_string(confirmed(&brain)).unwrap();
    for name in &names {
        assert!(text.contains(&format!("[roles.{name}]")), "{text}");
    }
}

/// Wherever a confirmation is cut off, the file is the one from before or the one from after, and nobody is locked out.
#[test]
fn a_confirmation_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let brain = brain();
    let asks = ["[files]\nread = [\"src/**\"]\n", READS];
    wild(&brain, asks[0]);
    brain.run(&["role", "confirm", "wild", "--yes"]).ended(0);
    let read = || {
        let text = std::fs::read_to_string(confirmed(&brain)).unwrap();
        let file: toml::Value = toml::from_str(&text).unwrap();
        file["roles"]["wild"]["asks"]["read"][0].as_str().unwrap().to_owned()
    };
    let known = ["src/**", "**"];
    for round in 0..40_u64 {
        let (asked, before) = (usize::from(round % 2 == 0), read());
        wild(&brain, asks[asked]);
        let mut process = brain
            .command(&["role", "confirm", "wild", "--yes"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Another place to be cut off at each time: nothing waits for this.
        std::thread::sleep(Duration::from_micros(round * 400));
        let _ = process.kill();
        process.wait().unwrap();
        let after = read();
        assert!(after == before || after == known[asked], "{before} became {after}");
    }
    wild(&brain, READS);
    brain.run(&["role", "confirm", "wild", "--yes"]).ended(0);
    assert_eq!(read(), "**");
}

#[test]
fn a_grant_to_a_role_that_cannot_be_used_says_why_and_not_that_there_is_none() {
    let brain = brain();
    wild(&brain, "[files]\nreed = [\"**\"]\n");
    brain.role("gone", "", b"");
    std::fs::remove_file(brain.path("roles/gone/role.wasm")).unwrap();
    config(&brain, "[grants.wild]\nread = []\n[grants.gone]\nread = []\n");
    let report = brain.run(&["doctor", "--json"]).ended(0).json();
    let told: Vec<&Value> = report["checks"].as_array().unwrap().iter().filter(|c| c["id"] == "grants").collect();
    assert_eq!(told.len(), 2, "{report}");
    for (role, why, fix) in [
        ("`gone`", "role.wasm cannot be read", "build the role"),
        ("`wild`", "role.toml:7: unknown field `reed`", "`read`"),
    ] {
        let said = told.iter().any(|check| {
            let message = check["message"].as_str().unwrap();
            message.contains(role) && message.contains(why) && check["fix"].as_str().unwrap().contains(fix)
        });
        assert!(said, "{role}: {told:?}");
    }
    assert!(!report.to_string().contains("no role `"), "{report}");
}

#[test]
fn what_a_role_may_write_is_in_the_plan_and_in_the_report() {
    let brain = brain();
    wild(&brain, "[files]\nread = [\"**\"]\nwrite = [\"src/**\", \"docs/**\"]\n");
    let plan = |brain: &Brain| brain.run(&["run", "wild", "--dry-run"]).ended(0).out;
    let report = |brain: &Brain| brain.run(&["role", "run", "wild", "--goal", "list /workspace"]).ended(0).out;
    let shown = plan(&brain);
    assert!(shown.contains("asks to read **; to write src/** docs/**, of which it is granted nothing"), "{shown}");
    assert!(report(&brain).contains("; nothing to write; "), "asking is not enough");

    config(&brain, "[grants.wild]\nwrite = [\"src/*.rs\"]\n");
    let granted = "to write src/** docs/** (manifest) within src/*.rs (operator)";
    let shown = plan(&brain);
    assert!(shown.contains(&format!("; to write src/** docs/**, and is granted {granted}")), "{shown}");
    let shown = report(&brain);
    let line = shown.lines().find(|line| line.contains("granted: ")).unwrap();
    assert!(line.contains(&format!("; {granted}; ")), "{line}");
    assert!(line.contains("to write src/** docs/** (manifest), to write src/*.rs (operator)"), "{line}");
    let json = brain.run(&["run", "wild", "--dry-run", "--json"]).ended(0).json();
    assert_eq!(json["workers"][0]["writes"], json!(["src/**", "docs/**"]));
    assert_eq!(json["workers"][0]["writeGrant"][1], json!({"who": "operator", "globs": ["src/*.rs"]}));

    wild(&brain, "[files]\nread = [\"**\"]\nwrite = [\"**\"]\n");
    brain.run(&["role", "confirm", "wild", "--yes"]).ended(0);
    config(&brain, "[grants.wild]\nwrite = [\"**\"]\n");
    let shown = report(&brain);
    assert!(shown.contains("; to write all of the project; "), "{shown}");
    wild(&brain, READS);
    assert!(!plan(&brain).contains("write"), "who does not ask has no word on it");
}
