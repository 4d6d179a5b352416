//! `cargo test`, with package, target and names.

use std::collections::{BTreeMap, BTreeSet};

use code_map::outline::Kind;
use toml::{Table, Value};

use super::{Commands, few, quoted};
use crate::limits::MAX_COMMAND_BYTES;
use crate::project::{File, Project, folder, folders, join};

/// A package of a workspace.
struct Package<'a> {
    /// Its folder.
    folder: &'a str,
    name: String,
    manifest: Table,
    /// Folder of its workspace; its own when it has none.
    root: String,
    /// Whether other packages share that workspace.
    shared: bool,
}

/// Manifests that parse, by folder.
fn manifests(project: &Project) -> BTreeMap<&str, Table> {
    let texts =
        project.manifests.iter().filter(|(path, _)| path.as_str() == "Cargo.toml" || path.ends_with("/Cargo.toml"));
    texts.filter_map(|(path, text)| Some((folder(path), text.parse::<Table>().ok()?))).collect()
}

fn package<'a>(all: &BTreeMap<&'a str, Table>, path: &str) -> Option<Package<'a>> {
    let (own, manifest, name) = folders(path).find_map(|folder| {
        let (folder, manifest) = all.get_key_value(folder)?;
        let name = manifest.get("package")?.get("name")?.as_str()?;
        Some((*folder, manifest, name.to_owned()))
    })?;
    let is_root = |manifest: &Table| manifest.contains_key("workspace");
    let lists = |folder: &str, manifest: &Table| {
        let members =
            manifest.get("workspace").and_then(|workspace| workspace.get("members")).and_then(Value::as_array);
        members.is_some_and(|members| {
            members.iter().filter_map(Value::as_str).any(|member| matches(&resolved(folder, member), own))
        })
    };
    let named = manifest.get("package").and_then(|package| package.get("workspace")).and_then(Value::as_str);
    let root = named
        .map(|named| resolved(own, named))
        .filter(|folder| all.contains_key(folder.as_str()))
        .or_else(|| is_root(manifest).then(|| own.to_owned()))
        .or_else(|| {
            all.iter().find(|(folder, manifest)| lists(folder, manifest)).map(|(folder, _)| (*folder).to_owned())
        })
        // A package that a member depends on by path is a member too.
        .or_else(|| folders(own).find(|folder| all.get(folder).is_some_and(is_root)).map(str::to_owned))
        .unwrap_or_else(|| own.to_owned());
    let shared = root != own
        || all.get(root.as_str()).is_some_and(|manifest| {
            let members =
                manifest.get("workspace").and_then(|workspace| workspace.get("members")).and_then(Value::as_array);
            members.is_some_and(|members| !members.is_empty())
        });
    Some(Package { folder: own, name, manifest: manifest.clone(), root, shared })
}

/// A relative path from a folder, with `..` followed.
fn resolved(folder: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether a member's pattern, with `*` for a part of a name, is a folder.
fn matches(pattern: &str, folder: &str) -> bool {
    let (pattern, parts): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), folder.split('/').collect());
    let fits = |pattern: &str, part: &str| match pattern.split_once('*') {
        None => pattern == part,
        Some((start, end)) => part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end),
    };
    pattern.len() == parts.len() && pattern.iter().zip(&parts).all(|(pattern, part)| fits(pattern, part))
}

/// The flag that selects the target in which a file's tests are.
fn target(project: &Project, package: &Package<'_>, path: &str) -> Option<String> {
    let inside = super::relative(package.folder, path);
    let has = |name: &str| project.paths.contains(&join(package.folder, name));
    let own = |kind: &str| {
        let tables = package.manifest.get(kind).and_then(Value::as_array)?;
        tables.iter().find_map(|table| {
            let table = table.as_table()?;
            (table.get("path")?.as_str()? == inside).then(|| table.get("name")?.as_str().map(str::to_owned)).flatten()
        })
    };
    for (kind, flag) in [("test", "--test"), ("bin", "--bin"), ("example", "--example")] {
        if let Some(name) = own(kind) {
            return Some(format!("{flag} {}", quoted(&name)?));
        }
    }
    let below = |top: &str, flag: &str| -> Option<String> {
        let rest = inside.strip_prefix(top)?;
        let name = match rest.split_once('/') {
            None => rest.strip_suffix(".rs")?,
            Some((folder, _)) if has(&format!("{top}{folder}/main.rs")) => folder,
            // A module that several targets share: its tests run with each of them.
            Some(_) => return None,
        };
        Some(format!("{flag} {}", quoted(name)?))
    };
    if inside.starts_with("tests/") {
        return below("tests/", "--test");
    }
    if inside.starts_with("examples/") {
        return below("examples/", "--example");
    }
    if inside.starts_with("src/bin/") {
        return below("src/bin/", "--bin");
    }
    let library = has("src/lib.rs") || package.manifest.contains_key("lib");
    if library && inside != "src/main.rs" {
        return Some("--lib".to_owned());
    }
    let bins = package.manifest.get("bin").and_then(Value::as_array).map_or(0, Vec::len);
    if bins == 0 && has("src/main.rs") {
        return Some(format!("--bin {}", quoted(&package.name)?));
    }
    Some("--bins".to_owned())
}

fn manifest_flag(root: &str) -> Option<String> {
    if root.is_empty() {
        Some(String::new())
    } else {
        Some(format!(" --manifest-path {}", quoted(&join(root, "Cargo.toml"))?))
    }
}

/// Adds a command for each target.
pub(super) fn commands(project: &Project, files: &[(&File, &BTreeSet<String>)], commands: &mut Commands) {
    let all = manifests(project);
    // By command without names: the names, whether all tests of some file are wanted, and whether some are not ignored.
    let mut targets: BTreeMap<String, (BTreeSet<String>, bool, bool)> = BTreeMap::new();
    for (file, names) in files {
        let Some(package) = package(&all, &file.path) else {
            commands.unknown(file, "no Cargo.toml with a package is above it");
            continue;
        };
        let command = (|| {
            let mut command = format!("cargo test{}", manifest_flag(&package.root)?);
            if package.shared {
                command.push_str(&format!(" -p {}", quoted(&package.name)?));
            }
            if let Some(target) = target(project, &package, &file.path) {
                command.push_str(&format!(" {target}"));
            }
            Some(command)
        })();
        let Some(command) = command else {
            commands.unknown(file, "its name does not fit into a command");
            continue;
        };
        let entry = targets.entry(command).or_default();
        entry.0.extend(names.iter().cloned());
        entry.1 |= names.is_empty();
        entry.2 |= !all_ignored(std::iter::once(*file), |name| names.is_empty() || names.contains(name));
    }
    for (command, (names, everything, runs)) in targets {
        let with_names = few(&names).filter(|_| !everything).map(|names| {
            let names: Vec<String> = names.iter().filter_map(|name| quoted(name)).collect();
            match (names.as_slice(), runs) {
                ([one], true) => format!("{command} {one}"),
                ([one], false) => format!("{command} {one} -- --ignored"),
                (_, true) => format!("{command} -- {}", names.join(" ")),
                (_, false) => format!("{command} -- --ignored {}", names.join(" ")),
            }
        });
        let without = if runs { command } else { format!("{command} -- --ignored") };
        commands.exact.push(with_names.filter(|command| command.len() <= MAX_COMMAND_BYTES).unwrap_or(without));
    }
}

/// Whether there are tests of a wanted name, and each of them runs only where ignored tests are asked for.
fn all_ignored<'a>(files: impl Iterator<Item = &'a File>, wanted: impl Fn(&str) -> bool) -> bool {
    let mut tests = 0usize;
    for file in files {
        let ignored: BTreeSet<&str> = file
            .smells
            .iter()
            .filter(|smell| smell.mark == "#[ignore]")
            .filter_map(|smell| smell.test.as_deref())
            .collect();
        let all = file.definitions.iter().enumerate().filter(|(at, one)| one.kind == Kind::Test && !file.is_group(*at));
        for (_, test) in all.filter(|(_, test)| wanted(&test.name)) {
            if !ignored.contains(test.name.as_str()) {
                return false;
            }
            tests += 1;
        }
    }
    tests > 0
}

/// Adds the commands for all tests: one for each workspace.
pub(super) fn whole(project: &Project, commands: &mut Commands) {
    let all = manifests(project);
    let mut roots: BTreeMap<String, bool> = BTreeMap::new();
    for folder in all.keys() {
        if code_map::language::is_sample(&join(folder, "Cargo.toml")) {
            continue;
        }
        if let Some(package) = package(&all, &join(folder, "Cargo.toml")) {
            *roots.entry(package.root).or_insert(false) |= package.shared;
        }
    }
    // Where each test of the project is ignored, the plain command runs none.
    let rust = project.files.iter().filter(|file| file.language.name == "Rust" && !file.sample);
    let ignored = if all_ignored(rust, |_| true) { " -- --ignored" } else { "" };
    for (root, shared) in roots {
        if let Some(flag) = manifest_flag(&root) {
            commands.whole.push(format!("cargo test{flag}{}{ignored}", if shared { " --workspace" } else { "" }));
        }
    }
}
