//! Effective grants, by the judge that roles are held to: what a workspace grant shows.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use brain_files::{Visibility, WorkspaceGrant};
use proptest::prelude::*;

use super::*;
use crate::config::{ConfigFile, ProjectFile};

/// A workspace of which `read` is granted.
pub(super) fn workspace(root: &Path, read: Vec<GlobLayer>) -> WorkspaceGrant {
    WorkspaceGrant {
        root: root.to_owned(),
        read,
        write: Vec::new(),
        deny: Vec::new(),
        honour_gitignore: false,
        tracked: Default::default(),
    }
}

/// A home and a project, with the files that grant.
struct Place {
    home: tempfile::TempDir,
    project: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), project: tempfile::tempdir().unwrap() }
    }

    fn home(&self, config: &str) -> &Self {
        std::fs::write(self.home.path().join("config.toml"), config).unwrap();
        self
    }

    fn project(&self, config: &str) -> &Self {
        std::fs::create_dir_all(self.project.path().join(".brain")).unwrap();
        std::fs::write(self.project.path().join(".brain/brain.toml"), config).unwrap();
        self
    }

    fn config(&self) -> Config {
        Config::load(self.home.path(), Some(self.project.path())).unwrap()
    }

    fn fault(&self) -> String {
        Config::load(self.home.path(), Some(self.project.path())).unwrap_err().to_string()
    }

    fn grant(&self, rest: &str) -> EffectiveGrant {
        EffectiveGrant::new(&manifest(rest), &self.config())
    }

    fn matcher(&self, layers: &[GlobLayer]) -> Visibility {
        workspace(self.project.path(), layers.to_vec()).visibility().unwrap()
    }

    fn matches(&self, globs: &[String], path: &str) -> bool {
        self.matcher(&[GlobLayer::new("", globs)]).shows(path)
    }
}

fn manifest(rest: &str) -> Manifest {
    let head = "name = \"editor\"\nversion = \"1.0.0\"\ndescription = \"d\"\ncontract = \"brain:role@1.0.0\"\n";
    Manifest::parse(&format!("{head}component = \"editor.wasm\"\n{rest}")).unwrap()
}

fn globs_of(layers: &[GlobLayer]) -> Vec<(&str, Vec<&str>)> {
    layers.iter().map(|layer| (layer.who.as_str(), layer.globs.iter().map(String::as_str).collect())).collect()
}

const ASKS: &str =
    "[files]\nread = [\"**\"]\nwrite = [\"src/**\"]\ngitignored = true\n[wasi]\nwall_clock = true\nrandom = true\n";

#[test]
fn without_a_word_of_the_operator_a_role_reads_what_it_asks_and_has_nothing_else() {
    let grant = Place::new().grant(ASKS);
    assert_eq!(globs_of(&grant.read), [("manifest", vec!["**"])]);
    assert_eq!(grant.write_layers(), []);
    assert_eq!(globs_of(&grant.write), [("manifest", vec!["src/**"]), ("default", vec![])]);
    for decision in [grant.gitignored, grant.wall_clock, grant.random] {
        assert_eq!(decision, Decision { asked: true, granted: false, by: Who::Default, effective: false });
    }
    assert!(grant.has_workspace());
    assert!(!Place::new().grant("").has_workspace());
    assert!(!Place::new().grant("[files]\nwrite = [\"src/**\"]\n").has_workspace());
}

#[test]
fn the_operator_grants_and_what_is_said_of_one_project_stands_in_place_of_that() {
    let place = Place::new();
    let here = place.project.path().join("../").join(place.project.path().file_name().unwrap());
    place.home(&format!(
        "[grants.editor]\nread = [\"src/**\"]\nwrite = [\"src/gen/**\"]\nrandom = true\ngitignored = true\n\
         [projects.\"{}\".grants.editor]\nwrite = [\"**\"]\ngitignored = false\n\
         [projects.\"/nowhere\".grants.editor]\nread = [\"**\"]\nwall_clock = true\n",
        here.display()
    ));
    let grant = place.grant(ASKS);
    assert_eq!(globs_of(&grant.read), [("manifest", vec!["**"]), ("operator", vec!["src/**"])]);
    assert_eq!(globs_of(&grant.write), [("manifest", vec!["src/**"]), ("operator-here", vec!["**"])]);
    assert_eq!((grant.gitignored.by, grant.gitignored.effective), (Who::OperatorHere, false));
    assert_eq!((grant.random.by, grant.random.effective), (Who::Operator, true));
    assert!(!grant.wall_clock.effective, "another project's grants are not this one's");
    assert_eq!(place.config().no_projects, [PathBuf::from("/nowhere")]);
}

#[test]
fn two_names_of_one_project_must_both_grant() {
    let place = Place::new();
    let link = place.home.path().join("link");
    std::os::unix::fs::symlink(place.project.path(), &link).unwrap();
    place.home(&format!(
        "[projects.\"{}\".grants.editor]\nwrite = [\"src/a/**\"]\nrandom = true\n\
         [projects.\"{}\".grants.editor]\nwrite = [\"src/b/**\"]\nrandom = false\n",
        link.display(),
        place.project.path().display()
    ));
    let grant = place.grant(ASKS);
    assert_eq!(grant.write.len(), 3);
    assert!(!place.matcher(grant.write_layers()).shows("src/a/x") && !grant.random.effective);
}

#[test]
fn a_project_narrows_and_what_it_would_widen_is_said_and_not_applied() {
    let place = Place::new();
    place.home("[grants.editor]\nwrite = [\"src/**\"]\nwall_clock = true\n").project(
        "[grants.editor]\nread = [\"src/**\"]\nwrite = [\"**\"]\ngitignored = true\nwall_clock = false\nrandom = true\n",
    );
    let (config, grant) = (place.config(), place.grant(ASKS));
    assert!(!grant.gitignored.effective && !grant.random.effective && !grant.wall_clock.effective);
    assert_eq!(grant.wall_clock.by, Who::Project);
    assert!(!place.matcher(grant.write_layers()).shows("docs/x"), "`**` of the project grants nothing");
    let said = config.by_project.join("\n");
    for part in [
        "turns on `gitignored` for editor, which is not applied",
        "turns on `random` for editor, which is not applied",
        "turns off `wall_clock` for editor",
        "narrows what editor may read to src/**",
        "names more for editor to write than is granted, which is not applied: **",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    place.project("[grants.editor]\nread = [\"src/only.rs\"]\n");
    let grant = place.grant(ASKS);
    assert!(!place.matcher(grant.write_layers()).shows("src/other.rs"), "what it lets nobody read nobody writes");
}

#[test]
fn what_a_project_does_is_told_within_bounds() {
    let place = Place::new();
    let many: String = (0..400).map(|i| format!("[grants.r{i}]\nrandom = true\n")).collect();
    place.project(&format!("[files]\ndeny = [{}]\n{many}", "\"secret/of/a/long/name/that/is/told/once\",".repeat(900)));
    let said = place.config().by_project;
    assert!(said.len() < 20 && said.iter().all(|said| said.len() < 1000), "{said:?}");
    assert!(said.last().unwrap().contains("more such things"), "{said:?}");
}

#[test]
fn what_is_wrong_in_a_file_that_grants_names_its_line() {
    for (text, line, why) in [
        ("[grants.editor]\nred = []\n", 2, "unknown field `red`"),
        ("[grants.editor]\nread = [\n\"ok\",\n\"/abs\",\n]\n", 4, "absolute"),
        ("[files]\ndeny = [\"a\", \"../b\"]\n", 2, "`..`"),
        ("\n[grants.Editor]\nread = []\n", 2, "not a role name"),
        ("\n[projects.relative.grants.editor]\nread = []\n", 2, "not the absolute path"),
        ("[grants.editor]\nrandom = \"yes\"\n", 2, "invalid type"),
        ("[projects.\"/a\"]\ngrant = 1\n", 2, "unknown field `grant`"),
    ] {
        let fault = Place::new().home(text).fault();
        assert!(fault.contains(&format!("config.toml:{line}: ")) && fault.contains(why), "{text}: {fault}");
    }
    let fault = Place::new().project("[projects.\"/a\".grants.editor]\nread = [\"**\"]\n").fault();
    assert!(fault.contains("brain.toml:1: unknown field `projects`"), "{fault}");
    let anchored = Place::new();
    anchored.home("[files]\ndeny = [\"/state\", \".git/**\"]\n").config();
}

fn glob() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "*", "**", "a*", "?", "[ab]", "{a,b}"]);
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn some_globs() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(glob(), 0..4)
}

fn grants() -> impl Strategy<Value = RoleGrants> {
    let switch = || prop::option::of(any::<bool>());
    (prop::option::of(some_globs()), prop::option::of(some_globs()), switch(), switch(), switch()).prop_map(
        |(read, write, gitignored, wall_clock, random)| RoleGrants { read, write, gitignored, wall_clock, random },
    )
}

fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "ab"]);
    prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn nobody_is_overruled(
        asked in (some_globs(), some_globs(), any::<bool>(), any::<bool>(), any::<bool>()),
        operator in grants(),
        here in prop::option::of(grants()),
        project in grants(),
        deadline in prop::option::of(1_u64..200_000),
        named in prop::collection::vec(path(), 0..3),
        paths in prop::collection::vec(path(), 1..16),
    ) {
        let place = Place::new();
        let role: brain_packet::RoleName = "editor".parse().unwrap();
        let mut file = ConfigFile { grants: [(role.clone(), operator.clone())].into(), ..ConfigFile::default() };
        if let Some(here) = &here {
            let path: ProjectPath = serde_json::from_value(serde_json::json!(place.project.path())).unwrap();
            file.projects.insert(path, ProjectGrants { grants: [(role.clone(), here.clone())].into() });
        }
        place.home(&toml::to_string(&file).unwrap());
        let mut manifest = manifest("");
        (manifest.files.read, manifest.files.write, manifest.files.gitignored, manifest.wasi.wall_clock, manifest.wasi.random) = asked.clone();
        manifest.limits.deadline_ms = 90_000;
        let handoff = GlobLayer::new("handoff", named.iter().cloned());

        let without = EffectiveGrant::new(&manifest, &place.config()).narrowed(&handoff);
        let mut narrowing = ProjectFile { grants: [(role, project.clone())].into(), ..ProjectFile::default() };
        narrowing.limits.deadline_ms = deadline;
        place.project(&toml::to_string(&narrowing).unwrap());
        let grant = EffectiveGrant::new(&manifest, &place.config()).narrowed(&handoff);

        let judge = |grant: &EffectiveGrant| {
            let write = grant.write_layers();
            (place.matcher(&grant.read), (!write.is_empty()).then(|| place.matcher(write)))
        };
        let (with, before) = (judge(&grant), judge(&without));
        let writes = |judge: &(Visibility, Option<Visibility>), path: &str| judge.1.as_ref().is_some_and(|w| w.shows(path));
        let reads = |judge: &(Visibility, Option<Visibility>), path: &str| judge.0.shows(path) || writes(judge, path);
        let by_operator = |globs: fn(&RoleGrants) -> Option<&Vec<String>>| here.as_ref().and_then(globs).or_else(|| globs(&operator)).cloned();
        let (op_read, op_write) = (by_operator(|g| g.read.as_ref()), by_operator(|g| g.write.as_ref()));
        let within = |globs: &Option<Vec<String>>, path: &str| globs.as_ref().is_none_or(|globs| place.matches(globs, path));
        let inside = |globs: &Option<Vec<String>>, path: &str| globs.as_ref().is_some_and(|globs| place.matches(globs, path));
        for path in &paths {
            if reads(&with, path) {
                prop_assert!(place.matches(&asked.0, path) || place.matches(&asked.1, path), "asked {}", path);
                prop_assert!(within(&op_read, path) || inside(&op_write, path), "operator {}", path);
                prop_assert!(within(&project.read, path) || inside(&project.write, path), "project {}", path);
                prop_assert!(place.matches(&handoff.globs, path), "handoff {}", path);
                prop_assert!(reads(&before, path), "a project's file widened reading to {}", path);
            }
            if writes(&with, path) {
                prop_assert!(place.matches(&asked.1, path) && inside(&op_write, path), "{}", path);
                prop_assert!(within(&project.write.clone().or(project.read.clone()), path), "{}", path);
                prop_assert!(place.matches(&handoff.globs, path) && writes(&before, path), "{}", path);
                prop_assert!(reads(&with, path), "{} is written and not read", path);
            }
        }
        let switches = |g: &EffectiveGrant| [g.gitignored, g.wall_clock, g.random];
        let said = |g: &RoleGrants| [g.gitignored, g.wall_clock, g.random];
        for (at, (now, before)) in switches(&grant).into_iter().zip(switches(&without)).enumerate() {
            let operator = here.as_ref().and_then(|here| said(here)[at]).or(said(&operator)[at]);
            prop_assert!(!now.effective || (now.asked && operator == Some(true) && said(&project)[at] != Some(false) && before.effective));
            prop_assert!(now.effective || !before.effective || said(&project)[at] == Some(false));
        }
        prop_assert!(grant.in_force().deadline_ms <= without.in_force().deadline_ms);
        prop_assert!(grant.in_force().deadline_ms <= deadline.unwrap_or(u64::MAX));
        for limit in &grant.limits {
            prop_assert_eq!(limit.effective, limit.asked.min(limit.cap));
        }
        // What one layer is said to stand for all, stands for all.
        if let Some(plain) = plainest(&grant.read) {
            for path in &paths {
                prop_assert_eq!(place.matches(&plain.globs, path), with.0.shows(path));
            }
        }
    }
}

#[test]
fn what_goes_beyond_is_named_and_what_is_less_passes() {
    let before = Asks::of(&manifest(
        "[files]\nread = [\"src/**\", \"docs/*.md\"]\nwrite = [\"out/**\"]\n[limits]\ndeadline_ms = 90000\n",
    ));
    for same in [
        "[files]\nread = [\"src/**\"]\n",
        "[files]\nread = [\"src/deep/*.rs\", \"docs/*.md\", \"out/x\"]\nwrite = [\"out/a/**\"]\n",
        "[limits]\ndeadline_ms = 80000\nmemory_bytes = 1024\n",
        "[routing]\nwords = [\"other\"]\n",
    ] {
        assert_eq!(Asks::of(&manifest(same)).beyond(&before), Vec::<String>::new(), "{same}");
    }
    for (more, named) in [
        ("[files]\nread = [\"**\"]\n", "to read **"),
        ("[files]\nread = [\"lib/**\", \"src/a\"]\n", "to read lib/**"),
        ("[files]\nwrite = [\"src/**\"]\n", "to write src/**"),
        ("[files]\ngitignored = true\n", "what .gitignore excludes"),
        ("[wasi]\nwall_clock = true\n", "the time of day"),
        ("[wasi]\nrandom = true\n", "entropy of the system"),
        ("[context]\nreads = [\"changes.diff\"]\n", "the context changes.diff"),
        ("[routing]\nafter = [\"security\"]\n", "the results of security"),
        ("[limits]\ndeadline_ms = 90001\n", "deadline_ms 90001, above 90000"),
        ("[limits]\nopen_handles = 1000000\n", "open_handles 1000000, above "),
    ] {
        let beyond = Asks::of(&manifest(more)).beyond(&before);
        assert_eq!(beyond.len(), 1, "{more}: {beyond:?}");
        assert!(beyond.first().unwrap().starts_with(named), "{more}: {beyond:?}");
    }
    let other = Asks { contract: "brain:agent@1.0.0".into(), ..before.clone() };
    assert_eq!(other.beyond(&before), ["the contract brain:agent@1.0.0"]);
    let newer = Asks { contract: "brain:role@1.1.0".into(), ..before.clone() };
    assert_eq!(newer.beyond(&before), Vec::<String>::new());
}

#[test]
fn what_goes_beyond_is_told_within_bounds() {
    let long = format!("\"{}\",", "x".repeat(300)).repeat(600);
    let beyond = Asks::of(&manifest(&format!("[files]\nread = [{long}]\n"))).beyond(&Asks::default());
    assert!(beyond.iter().all(|said| said.len() < 1000) && beyond.join(" ").contains("and 592 more"), "{beyond:?}");
}
