//! The test script of `package.json`, and the runner behind it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Commands, few, in_folder, quoted, relative};
use crate::project::{File, Project, folder, folders, join};

/// A package that has a manifest.
struct Package<'a> {
    folder: &'a str,
    manager: Manager,
    /// The script `test`, unless it is the one that `npm init` writes.
    script: Option<String>,
    runner: Option<Runner>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl Manager {
    fn test(self) -> &'static str {
        match self {
            Self::Npm => "npm test",
            Self::Pnpm => "pnpm test",
            Self::Yarn => "yarn test",
            Self::Bun => "bun run test",
        }
    }

    /// What runs a program of the package's dependencies.
    fn exec(self) -> &'static str {
        match self {
            Self::Npm => "npx",
            Self::Pnpm => "pnpm exec",
            Self::Yarn => "yarn",
            Self::Bun => "bunx",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    Vitest,
    Jest,
    Mocha,
    Ava,
    Playwright,
    Node,
    Bun,
}

const LOCKS: &[(&str, Manager)] = &[
    ("pnpm-lock.yaml", Manager::Pnpm),
    ("yarn.lock", Manager::Yarn),
    ("bun.lock", Manager::Bun),
    ("bun.lockb", Manager::Bun),
    ("package-lock.json", Manager::Npm),
    ("npm-shrinkwrap.json", Manager::Npm),
];

fn package<'a>(project: &Project, path: &'a str) -> Option<Package<'a>> {
    let above = folders(path).find(|folder| project.manifests.contains_key(&join(folder, "package.json")))?;
    let manifest: Value = serde_json::from_str(project.manifests.get(&join(above, "package.json"))?).ok()?;
    let script = manifest.get("scripts").and_then(|scripts| scripts.get("test")).and_then(Value::as_str);
    let script = script.filter(|script| !script.contains("no test specified")).map(str::to_owned);
    let runner = runner(&manifest, script.as_deref().unwrap_or_default());
    Some(Package { folder: above, manager: manager(project, &manifest, above), script, runner })
}

/// By the lock file nearest to the package, else by the manifest's word, else npm.
fn manager(project: &Project, manifest: &Value, above: &str) -> Manager {
    let inside = join(above, "package.json");
    let lock =
        folders(&inside).find_map(|folder| LOCKS.iter().find(|(lock, _)| project.paths.contains(&join(folder, lock))));
    if let Some((_, manager)) = lock {
        return *manager;
    }
    match manifest.get("packageManager").and_then(Value::as_str).and_then(|name| name.split('@').next()) {
        Some("pnpm") => Manager::Pnpm,
        Some("yarn") => Manager::Yarn,
        Some("bun") => Manager::Bun,
        _ => Manager::Npm,
    }
}

fn runner(manifest: &Value, script: &str) -> Option<Runner> {
    let by_script = [
        ("vitest", Runner::Vitest),
        ("jest", Runner::Jest),
        ("mocha", Runner::Mocha),
        ("playwright", Runner::Playwright),
        ("bun test", Runner::Bun),
        ("node --test", Runner::Node),
    ];
    if let Some((_, runner)) = by_script.iter().find(|(word, _)| script.contains(word)) {
        return Some(*runner);
    }
    if crate::public::has_word(script, "ava") {
        return Some(Runner::Ava);
    }
    if script.contains("node ") && script.contains("--test") {
        return Some(Runner::Node);
    }
    let depends = |name: &str| {
        ["devDependencies", "dependencies"].iter().any(|key| manifest.get(key).and_then(|all| all.get(name)).is_some())
    };
    let by_package = [
        ("vitest", Runner::Vitest),
        ("jest", Runner::Jest),
        ("mocha", Runner::Mocha),
        ("ava", Runner::Ava),
        ("@playwright/test", Runner::Playwright),
    ];
    if let Some((_, runner)) = by_package.iter().find(|(name, _)| depends(name)) {
        return Some(*runner);
    }
    None
}

/// The command of a runner for one file.
fn command(package: &Package<'_>, path: &str, names: &BTreeSet<String>) -> Option<String> {
    let path = quoted(relative(package.folder, path))?;
    let exec = package.manager.exec();
    let pattern = few(names).map(|names| names.iter().map(|name| escaped(name)).collect::<Vec<_>>().join("|"));
    let pattern = pattern.and_then(|pattern| quoted(&pattern));
    let with = |command: String, flag: &str| match &pattern {
        Some(pattern) => format!("{command} {flag} {pattern}"),
        None => command,
    };
    Some(match package.runner? {
        Runner::Vitest => with(format!("{exec} vitest run {path}"), "-t"),
        Runner::Jest => with(format!("{exec} jest {path}"), "-t"),
        Runner::Mocha => with(format!("{exec} mocha {path}"), "-g"),
        Runner::Playwright => with(format!("{exec} playwright test {path}"), "-g"),
        Runner::Bun => with(format!("bun test {path}"), "-t"),
        Runner::Ava => format!("{exec} ava {path}"),
        // Flags of the script, such as a loader for TypeScript, are needed by the file too.
        Runner::Node => {
            let script = package.script.as_deref().unwrap_or("node --test");
            let is_flag = |word: &&str| {
                let rest = word.strip_prefix("--").filter(|rest| rest.contains('='));
                rest.is_some_and(|rest| quoted(rest).as_deref() == Some(rest))
            };
            let flags = script.split_whitespace().filter(is_flag);
            let flags: String = flags.map(|flag| format!("{flag} ")).collect();
            match &pattern {
                Some(pattern) => format!("node {flags}--test --test-name-pattern={pattern} {path}"),
                None => format!("node {flags}--test {path}"),
            }
        }
    })
}

/// A name as a regular expression that matches it.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for c in name.chars() {
        if matches!(c, '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '^' | '$' | '/') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Adds a command for each file, or the script where the runner is not known.
pub(super) fn commands(project: &Project, files: &[(&File, &BTreeSet<String>)], commands: &mut Commands) {
    let mut scripts: BTreeMap<String, usize> = BTreeMap::new();
    for (file, names) in files {
        let Some(package) = package(project, &file.path) else {
            commands.unknown(file, "no package.json that can be read is above it");
            continue;
        };
        match command(&package, &file.path, names).and_then(|command| in_folder(package.folder, &command)) {
            Some(command) => commands.exact.push(command),
            None if package.script.is_some() => {
                if let Some(script) = in_folder(package.folder, package.manager.test()) {
                    *scripts.entry(script).or_insert(0) += 1;
                }
            }
            None => commands.unknown(file, "its package.json has no script `test` and no test runner that is known"),
        }
    }
    commands.exact.extend(scripts.into_keys());
}

/// Adds the commands for all tests: the script of each package.
pub(super) fn whole(project: &Project, commands: &mut Commands) {
    for path in project.manifests.keys().filter(|path| *path == "package.json" || path.ends_with("/package.json")) {
        if code_map::language::is_sample(path) {
            continue;
        }
        if let Some(package) = package(project, path).filter(|package| package.script.is_some()) {
            commands.whole.extend(in_folder(folder(path), package.manager.test()));
        }
    }
}
