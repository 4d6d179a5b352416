//! `go test`, with package and names.

use std::collections::{BTreeMap, BTreeSet};

use super::{Commands, few, in_folder, quoted, relative};
use crate::project::{File, Project, folder, folders, join};

fn module<'a>(project: &Project, path: &'a str) -> Option<&'a str> {
    folders(path).find(|folder| project.manifests.contains_key(&join(folder, "go.mod")))
}

/// Adds a command for each package.
pub(super) fn commands(project: &Project, files: &[(&File, &BTreeSet<String>)], commands: &mut Commands) {
    let mut packages: BTreeMap<(&str, &str), (BTreeSet<String>, bool)> = BTreeMap::new();
    for (file, names) in files {
        let Some(module) = module(project, &file.path) else {
            commands.unknown(file, "no go.mod is above it");
            continue;
        };
        let entry = packages.entry((module, folder(&file.path))).or_default();
        entry.0.extend(names.iter().cloned());
        entry.1 |= names.is_empty();
    }
    for ((module, package), (names, everything)) in packages {
        let inside = if package == module { "." } else { &format!("./{}", relative(module, package)) };
        let Some(inside) = quoted(inside) else { continue };
        let plain = |name: &&String| name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let names: Vec<&str> =
            few(&names).filter(|_| !everything).into_iter().flatten().filter(plain).map(String::as_str).collect();
        let command = match names.as_slice() {
            [] => format!("go test {inside}"),
            [one] => format!("go test {inside} -run '^{one}$'"),
            names => format!("go test {inside} -run '^({})$'", names.join("|")),
        };
        commands.exact.extend(in_folder(module, &command));
    }
}

/// Adds the commands for all tests: one for each module.
pub(super) fn whole(project: &Project, commands: &mut Commands) {
    for path in project.manifests.keys().filter(|path| *path == "go.mod" || path.ends_with("/go.mod")) {
        if !code_map::language::is_sample(path) {
            commands.whole.extend(in_folder(folder(path), "go test ./..."));
        }
    }
}
