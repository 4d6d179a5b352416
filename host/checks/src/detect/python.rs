//! Python: what its tools are configured for, run from the virtual environment that is nearest, if there is one.

use super::package::{Package, at};
use super::{Part, Tool};

pub(super) fn offer(package: &mut Package<'_>) {
    let project = package.toml("pyproject.toml").unwrap_or_default();
    let (setup, tox) = (package.text("setup.cfg").unwrap_or_default(), package.text("tox.ini").unwrap_or_default());
    let in_project = |tool: &str| at(&project, &["tool", tool]).map(|_| format!("[tool.{tool}] in pyproject.toml"));
    let file = |names: &[&str]| names.iter().find(|name| package.has(name)).map(|name| format!("{name} is there"));
    let section = |name: &str| {
        let within = |file: &str, text| has_section(text, name).then(|| format!("[{name}] in {file}"));
        within("setup.cfg", &setup).or_else(|| within("tox.ini", &tox))
    };

    let pytest = file(&["pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py"])
        .or_else(|| in_project("pytest"))
        .or_else(|| section("tool:pytest"))
        .or_else(|| section("pytest"));
    let by_tox = in_project("tox").or_else(|| section("tox")).or_else(|| section("testenv"));
    let ruff = file(&["ruff.toml", ".ruff.toml"]).or_else(|| in_project("ruff"));
    let mypy = file(&["mypy.ini", ".mypy.ini"]).or_else(|| in_project("mypy")).or_else(|| section("mypy"));
    // Where the configuration names the files, naming others would be another check.
    let names_files = at(&project, &["tool", "mypy", "files"]).is_some()
        || ["mypy.ini", ".mypy.ini"].iter().any(|name| package.text(name).is_some_and(|text| has_key(&text, "files")))
        || (section("mypy").is_some() && has_key(&setup, "files"));

    let program = |name: &str, package: &Package<'_>| match package
        .upward(&[format!(".venv/bin/{name}").as_str(), format!("venv/bin/{name}").as_str()])
    {
        Some((way, path)) => format!("{way}{path}"),
        None => name.to_owned(),
    };
    if let Some(why) = ruff {
        let ruff = program("ruff", package);
        package.offer(Tool::Python, &[&ruff, "check", "."], "ruff", Some(Part::Lint), why);
    }
    if let Some(why) = mypy {
        let mypy = program("mypy", package);
        let command: &[&str] = if names_files { &[&mypy] } else { &[&mypy, "."] };
        package.offer(Tool::Python, command, "mypy", Some(Part::Typecheck), why);
    }
    let runs_itself = pytest.is_none();
    if let Some(why) = pytest {
        // As a module, the package in the folder is found as well.
        let python = match program("python", package) {
            plain if plain == "python" => "python3".to_owned(),
            path => path,
        };
        package.offer(Tool::Python, &[&python, "-m", "pytest"], "pytest", Some(Part::Test), why);
    }
    if let Some(why) = by_tox {
        let tox = program("tox", package);
        // It makes environments of its own, from the network: a check where nothing else runs the tests.
        package.offer(Tool::Python, &[&tox], "tox", runs_itself.then_some(Part::Test), why);
    }
}

/// Whether an INI file has a section of the name.
fn has_section(text: &str, name: &str) -> bool {
    text.lines().any(|line| line.trim_end().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) == Some(name))
}

/// Whether an INI file has the key anywhere.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.split_once(['=', ':']).is_some_and(|(name, _)| name.trim_end() == key))
}
