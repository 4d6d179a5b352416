//! A project in a temporary folder, changes of it, and their checks.
#![allow(
    dead_code,
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests fail by panicking; each uses some of it"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brain_changes::{Builder, ChangeSet, Contents, Side};
use brain_checks::{
    Check, CheckPlan, CheckSummary, ChecksConfig, ChecksTable, Detected, Environment, Part, PatchKind, RunLimits,
    Scratch, ScratchError, ScratchLimits, Tool, changed_paths, detect, run_all, select,
};
use tempfile::TempDir;

pub struct Project {
    place: TempDir,
    pub root: PathBuf,
    pub cache: PathBuf,
    pub contents: Contents,
}

/// A path of the change, and the file's text afterwards; none if it goes.
pub type Edit<'a> = (&'a str, Option<&'a str>);

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        let (cache, contents) = (place.path().join("cache"), Contents::open(place.path().join("contents")).unwrap());
        let project = Self { place, root, cache, contents };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub fn outside(&self) -> &Path {
        self.place.path()
    }

    pub fn change(&self, edits: &[Edit<'_>]) -> ChangeSet {
        let mut builder = Builder::new(&self.contents);
        let mut folders = BTreeSet::new();
        for (path, text) in edits {
            let base = fs::read(self.root.join(path)).ok();
            let mode = || fs::metadata(self.root.join(path)).unwrap().permissions().mode() & 0o777;
            let new = text.map(|text| Side::new(0o644, text.as_bytes()));
            match (&base, new) {
                (Some(base), Some(new)) => builder.modified(*path, Side::new(mode(), &base[..]), new),
                (Some(base), None) => builder.deleted(*path, Side::new(mode(), &base[..])),
                (None, Some(new)) => builder.added(*path, new),
                (None, None) => panic!("{path} is not there"),
            }
            .unwrap();
            for folder in Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
                if !self.root.join(folder).exists() && folders.insert(folder.to_owned()) {
                    builder.folder_added(folder.to_str().unwrap(), 0o755).unwrap();
                }
            }
        }
        builder.finish().unwrap()
    }

    pub fn scratch(&self, set: &ChangeSet) -> Scratch {
        self.try_scratch(set, &[], &ScratchLimits::default()).unwrap()
    }

    pub fn try_scratch(&self, set: &ChangeSet, also: &[&str], limits: &ScratchLimits) -> Result<Scratch, ScratchError> {
        let also = also.iter().map(|path| (*path).to_owned()).collect();
        Scratch::new(&self.root, &self.cache, set, &self.contents, &also, limits, &|| false)
    }

    /// Runs the checks of a change as Brain does.
    pub fn check(&self, set: &ChangeSet, config: &str) -> CheckSummary {
        let config = toml::from_str::<ChecksTable>(config).unwrap().resolve();
        let scratch = self.scratch(set);
        let plan = plan(&scratch, set, &config);
        run_all(&plan, &scratch, &environment(), &config.limits(), &mut |_| {}, &|| false).unwrap()
    }

    /// The same in a project whose only check is a script of the shell.
    pub fn check_by(&self, script: &str, set: &ChangeSet, config: &str) -> CheckSummary {
        let config = toml::from_str::<ChecksTable>(config).unwrap().resolve();
        let plan = select(kind(set), &config, &Detected { checks: vec![shell(script)], ..Detected::default() });
        run_all(&plan, &self.scratch(set), &environment(), &config.limits(), &mut |_| {}, &|| false).unwrap()
    }

    /// All that is in the project.
    pub fn state(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        state(&self.root)
    }
}

pub fn kind(set: &ChangeSet) -> PatchKind {
    PatchKind::of(changed_paths(set))
}

pub fn plan(scratch: &Scratch, set: &ChangeSet, config: &ChecksConfig) -> CheckPlan {
    select(kind(set), config, &detect(scratch.root(), changed_paths(set)))
}

/// A check that is a script of the shell.
pub fn shell(script: &str) -> Check {
    Check {
        name: "script".into(),
        program: "sh".into(),
        args: vec!["-ec".into(), script.into()],
        folder: String::new(),
        tool: Tool::Make,
        script: "test".into(),
        part: Some(Part::Test),
        why: "the test says so".into(),
    }
}

/// Whether a program is on the machine.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// That of the tests, without what the cargo that runs them adds.
pub fn environment() -> Environment {
    let ours = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        !name.starts_with("CARGO_") || matches!(&*name, "CARGO_HOME")
    });
    Environment::from(ours).with("CARGO_NET_OFFLINE", "true")
}

pub const LIMITS: RunLimits =
    RunLimits { timeout: Duration::from_mins(3), total: Duration::from_mins(9), max_output_bytes: 24_000 };

pub fn state(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let (path, metadata) = (entry.path(), entry.metadata().unwrap());
            let bytes = if metadata.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if metadata.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path.strip_prefix(root).unwrap().to_owned(), (metadata.permissions().mode(), bytes));
        }
    }
    found
}
