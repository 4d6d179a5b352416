//! pytest, unittest, tox and nox.

use std::collections::{BTreeMap, BTreeSet};

use code_map::outline::Kind;

use super::{Commands, few, in_folder, quoted, relative};
use crate::project::{File, Project, folders, join};

/// Files at whose folder tests are run.
const ROOTS: &[&str] =
    &["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "noxfile.py", "requirements.txt"];

fn root<'a>(project: &Project, path: &'a str) -> &'a str {
    folders(path)
        .find(|folder| ROOTS.iter().any(|name| project.manifests.contains_key(&join(folder, name))))
        .unwrap_or("")
}

fn text<'a>(project: &'a Project, folder: &str, name: &str) -> Option<&'a str> {
    project.manifests.get(&join(folder, name)).map(String::as_str)
}

/// Whether the project itself speaks of pytest.
fn has_pytest(project: &Project, root: &str) -> bool {
    let says = [
        "pyproject.toml",
        "pytest.ini",
        "tox.ini",
        "setup.cfg",
        "setup.py",
        "requirements.txt",
        "requirements-dev.txt",
        "noxfile.py",
    ];
    let inside = |path: &str| root.is_empty() || path.starts_with(&format!("{root}/"));
    text(project, root, "pytest.ini").is_some()
        || says.iter().any(|name| text(project, root, name).is_some_and(|text| text.contains("pytest")))
        || project.paths.iter().any(|path| inside(path) && code_map::language::file_name(path) == "conftest.py")
}

/// What stands before a command so that it runs with the project's packages.
fn prefix(project: &Project, root: &str) -> &'static str {
    let locks = [
        ("uv.lock", "uv run "),
        ("poetry.lock", "poetry run "),
        ("pdm.lock", "pdm run "),
        ("Pipfile.lock", "pipenv run "),
    ];
    let above = folders(&join(root, "x")).map(str::to_owned).collect::<Vec<_>>();
    let found =
        above.iter().find_map(|folder| locks.iter().find(|(lock, _)| project.paths.contains(&join(folder, lock))));
    found.map_or("", |(_, prefix)| prefix)
}

/// Adds a command for each root.
pub(super) fn commands(project: &Project, files: &[(&File, &BTreeSet<String>)], commands: &mut Commands) {
    let mut roots: BTreeMap<&str, Vec<(&File, &BTreeSet<String>)>> = BTreeMap::new();
    for (file, names) in files {
        let name = code_map::language::file_name(&file.path);
        if name == "conftest.py" || name == "__init__.py" {
            continue;
        }
        roots.entry(root(project, &file.path)).or_default().push((*file, *names));
    }
    for (root, files) in roots {
        let prefix = prefix(project, root);
        // A test outside of a class is none of unittest's.
        let needs = files.iter().any(|(file, _)| {
            let pytest = file.code.as_deref().is_some_and(|code| crate::public::has_word(code, "pytest"));
            pytest || file.definitions.iter().any(|test| test.kind == Kind::Test && test.container.is_none())
        });
        let configured = has_pytest(project, root);
        if configured || needs {
            if !configured {
                let place = if root.is_empty() { "the project" } else { root };
                commands.notes.push(format!(
                    "pytest is not named in the manifests of {}; its tests are written for it",
                    unified_diff::shown(place)
                ));
            }
            pytest(root, prefix, &files, commands);
        } else {
            unittest(root, prefix, &files, commands);
        }
        if let Some(tox) = text(project, root, "tox.ini")
            && tox.contains("{posargs")
            && files.len() == 1
            && let Some(path) = files.first().and_then(|(file, _)| quoted(relative(root, &file.path)))
        {
            commands.exact.extend(in_folder(root, &format!("{prefix}tox -- {path}")));
        }
    }
}

fn pytest(root: &str, prefix: &str, files: &[(&File, &BTreeSet<String>)], commands: &mut Commands) {
    let mut ids: Vec<String> = Vec::new();
    for (file, names) in files {
        let path = relative(root, &file.path);
        let tests = file.definitions.iter().filter(|test| test.kind == Kind::Test && names.contains(&test.name));
        let ids_of: Vec<String> = match few(names) {
            Some(_) => tests
                .map(|test| match &test.container {
                    Some(class) => format!("{path}::{class}::{}", test.name),
                    None => format!("{path}::{}", test.name),
                })
                .collect(),
            None => vec![path.to_owned()],
        };
        let quoted: Option<Vec<String>> = ids_of.iter().map(|id| quoted(id)).collect();
        match quoted {
            Some(quoted) => ids.extend(quoted),
            None => commands.unknown(file, "its name does not fit into a command"),
        }
    }
    ids.dedup();
    // A command that nobody can read runs files and not tests.
    if ids.len() > 2 * crate::limits::MAX_NAMES_IN_COMMAND {
        ids = files.iter().filter_map(|(file, _)| quoted(relative(root, &file.path))).collect();
    }
    if !ids.is_empty() {
        let command = in_folder(root, &format!("{prefix}pytest {}", ids.join(" ")));
        commands.exact.push(command.unwrap_or_else(|| format!("{prefix}pytest")));
    }
}

fn unittest(root: &str, prefix: &str, files: &[(&File, &BTreeSet<String>)], commands: &mut Commands) {
    for (file, names) in files {
        let Some(path) = quoted(relative(root, &file.path)) else {
            commands.unknown(file, "its name does not fit into a command");
            continue;
        };
        let only: Vec<String> = few(names)
            .into_iter()
            .flatten()
            .filter_map(|name| quoted(name))
            .map(|name| format!(" -k {name}"))
            .collect();
        commands.exact.extend(in_folder(root, &format!("{prefix}python -m unittest {path}{}", only.concat())));
    }
}

/// Adds the commands for all tests.
pub(super) fn whole(project: &Project, commands: &mut Commands) {
    let tests = project.files.iter().filter(|file| file.language.name == "Python" && file.has_tests() && !file.sample);
    let roots: BTreeSet<&str> = tests.map(|file| root(project, &file.path)).collect();
    for root in roots {
        let prefix = prefix(project, root);
        let mut add = |command: &str| commands.whole.extend(in_folder(root, &format!("{prefix}{command}")));
        if text(project, root, "tox.ini").is_some()
            || text(project, root, "pyproject.toml").is_some_and(|text| text.contains("[tool.tox"))
        {
            add("tox");
        } else if text(project, root, "noxfile.py").is_some() {
            add("nox");
        }
        let inside = |path: &str| folders(path).any(|folder| folder == root);
        let plain = project.files.iter().filter(|file| file.language.name == "Python" && inside(&file.path));
        let mut tests = plain.flat_map(|file| &file.definitions).filter(|test| test.kind == Kind::Test);
        if has_pytest(project, root) || tests.any(|test| test.container.is_none()) {
            add("pytest");
        } else {
            for arguments in discover(project, root) {
                add(&format!("python -m unittest discover{arguments}"));
            }
        }
    }
}

/// What `discover` needs to be told so that it comes upon the tests: it enters only folders with an `__init__.py`, and takes
/// only files called `test*.py` unless it is given another pattern.
fn discover(project: &Project, root: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let tests = project.files.iter().filter(|file| {
        file.language.name == "Python" && !file.sample && file.definitions.iter().any(|one| one.kind == Kind::Test)
    });
    for file in tests.filter(|file| self::root(project, &file.path) == root) {
        // From the folder of the file upwards: the last one that is no package is where to begin.
        let inside = folders(&file.path).take_while(|folder| *folder != root);
        let start = inside.filter(|folder| !project.paths.contains(&join(folder, "__init__.py"))).last();
        let pattern = match code_map::language::file_name(&file.path) {
            name if name.starts_with("test") => "",
            name if name.ends_with("_test.py") => " -p '*_test.py'",
            _ => continue,
        };
        match start {
            None => found.insert(pattern.to_owned()),
            Some(start) => match quoted(relative(root, start)) {
                Some(start) => found.insert(format!(" -s {start}{pattern}")),
                None => continue,
            },
        };
    }
    if found.is_empty() {
        found.insert(String::new());
    }
    found
}
