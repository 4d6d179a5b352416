//! Where a program, a build or a pipeline starts.

use serde::Serialize;

use crate::language::{self, Language};
use crate::outline::{Definition, Kind, Outline};

/// What starts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// A program.
    Program,
    /// A command of the project: a script, a target of a makefile.
    Command,
    /// Continuous integration.
    Pipeline,
    /// A container image.
    Container,
    /// A library, as its users see it.
    Library,
}

/// A place where something starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryPoint {
    /// What starts there.
    pub start: Start,
    /// Path relative to the project.
    pub file: String,
    /// 1-based, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What it is, for the reader.
    pub what: String,
}

impl EntryPoint {
    /// `path:line`, or the path alone.
    pub fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        }
    }
}

/// Most scripts, targets or jobs of one file that are listed by name.
const MAX_NAMES: usize = 12;

/// The entry points that a file holds or declares. Never fails: a manifest that cannot be read has none.
pub fn of(path: &str, language: &Language, text: &str, outline: &Outline) -> Vec<EntryPoint> {
    let name = language::file_name(path);
    let mut found = Vec::new();
    let mut add = |start, line, what: String| found.push(EntryPoint { start, file: path.to_owned(), line, what });
    match name {
        "Cargo.toml" => cargo(text, &mut add),
        "package.json" => package(text, &mut add),
        "pyproject.toml" => pyproject(text, &mut add),
        "Procfile" => {
            for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| line.contains(':')).take(MAX_NAMES) {
                add(Start::Program, Some(number), format!("process {}", line.trim()));
            }
        }
        "Jenkinsfile"
        | ".gitlab-ci.yml"
        | ".travis.yml"
        | "azure-pipelines.yml"
        | "bitbucket-pipelines.yml"
        | ".drone.yml" => add(Start::Pipeline, None, "CI pipeline".to_owned()),
        "docker-compose.yml" | "docker-compose.yaml" | "compose.yml" | "compose.yaml" => {
            add(Start::Container, None, "services of Docker Compose".to_owned())
        }
        _ if language.name == "Dockerfile" => dockerfile(text, &mut add),
        _ if language.name == "Make" && !outline.definitions.is_empty() => {
            let names: Vec<&str> = outline.definitions.iter().map(|target| target.name.as_str()).collect();
            add(
                Start::Command,
                outline.definitions.first().map(|target| target.line),
                format!("targets {}", listed(&names)),
            );
        }
        _ if is_workflow(path) => add(Start::Pipeline, None, workflow(text)),
        _ if path.starts_with(".ci/") || path.starts_with("ci/") || path == ".circleci/config.yml" => {
            add(Start::Pipeline, None, "CI script".to_owned())
        }
        _ => {}
    }
    mains(path, language, text, outline, &mut add);
    found
}

fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", ");
    if names.len() > MAX_NAMES { format!("{shown} and {} more", names.len() - MAX_NAMES) } else { shown }
}

fn is_workflow(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    matches!(folder, ".github/workflows" | ".gitea/workflows" | ".forgejo/workflows" | ".woodpecker")
        && (path.ends_with(".yml") || path.ends_with(".yaml"))
}

fn workflow(text: &str) -> String {
    let name =
        text.lines().find_map(|line| line.strip_prefix("name:")).map(|name| name.trim().trim_matches(['"', '\'']));
    match name {
        Some(name) if !name.is_empty() => format!("CI workflow {name:?}"),
        _ => "CI workflow".to_owned(),
    }
}

/// Functions that a language or its loader calls first.
fn mains(
    path: &str,
    language: &Language,
    text: &str,
    outline: &Outline,
    add: &mut impl FnMut(Start, Option<u32>, String),
) {
    if language::is_test(path) {
        return;
    }
    let name = language::file_name(path);
    let named = |definition: &&Definition| matches!(definition.name.as_str(), "main" | "Main" | "__main__");
    let candidates: Vec<&Definition> = outline.definitions.iter().filter(named).take(MAX_NAMES).collect();
    for definition in candidates {
        let is_main = match language.name {
            "Rust" => definition.name == "main" && definition.kind == Kind::Function && definition.container.is_none(),
            "Go" => {
                definition.name == "main"
                    && definition.kind == Kind::Function
                    && text.lines().any(|line| line.trim() == "package main")
            }
            "C" | "C++" | "Kotlin" => definition.name == "main" && definition.kind == Kind::Function,
            "Java" => definition.name == "main" && text.contains("static void main("),
            "C#" => definition.name == "Main",
            "Python" => definition.name == "__main__",
            "Scala" => definition.name == "main",
            _ => false,
        };
        if is_main {
            let what = match (language.name, name) {
                ("Rust", "build.rs") => "build script",
                _ if language::is_sample(path) => "main of an example",
                _ => "main",
            };
            let start = if what == "build script" { Start::Command } else { Start::Program };
            add(start, Some(definition.line), what.to_owned());
        }
    }
    if name == "__main__.py" || name == "manage.py" && language.name == "Python" {
        add(Start::Program, None, format!("run by Python as {name}"));
    }
    if language.name == "Shell" && text.starts_with("#!") && !path.contains('/') {
        add(Start::Command, None, "script at the root".to_owned());
    }
}

fn cargo(text: &str, add: &mut impl FnMut(Start, Option<u32>, String)) {
    let Ok(manifest) = text.parse::<toml::Table>() else { return };
    let package = manifest.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
    for bin in manifest.get("bin").and_then(toml::Value::as_array).into_iter().flatten().take(MAX_NAMES) {
        let name = bin.get("name").and_then(toml::Value::as_str).or(package).unwrap_or("?");
        let path = bin.get("path").and_then(toml::Value::as_str).unwrap_or("src/main.rs");
        add(Start::Program, line_of(text, "[[bin]]"), format!("binary {name} from {path}"));
    }
    if let (Some(package), Some(lib)) = (package, manifest.get("lib")) {
        let path = lib.get("path").and_then(toml::Value::as_str).unwrap_or("src/lib.rs");
        add(Start::Library, line_of(text, "[lib]"), format!("library {package} from {path}"));
    }
}

fn package(text: &str, add: &mut impl FnMut(Start, Option<u32>, String)) {
    let Ok(manifest) = serde_json::from_str::<serde_json::Value>(text) else { return };
    for key in ["main", "module", "browser"] {
        if let Some(path) = manifest.get(key).and_then(serde_json::Value::as_str) {
            add(Start::Library, line_of(text, &format!("\"{key}\"")), format!("package {key} {path}"));
        }
    }
    match manifest.get("bin") {
        Some(serde_json::Value::String(path)) => {
            add(Start::Program, line_of(text, "\"bin\""), format!("command from {path}"))
        }
        Some(serde_json::Value::Object(commands)) => {
            for (name, path) in commands.iter().take(MAX_NAMES) {
                add(
                    Start::Program,
                    line_of(text, "\"bin\""),
                    format!("command {name} from {}", path.as_str().unwrap_or("?")),
                );
            }
        }
        _ => {}
    }
    if let Some(scripts) = manifest.get("scripts").and_then(serde_json::Value::as_object)
        && !scripts.is_empty()
    {
        let names: Vec<&str> = scripts.keys().map(String::as_str).collect();
        add(Start::Command, line_of(text, "\"scripts\""), format!("scripts {}", listed(&names)));
    }
}

fn pyproject(text: &str, add: &mut impl FnMut(Start, Option<u32>, String)) {
    let Ok(manifest) = text.parse::<toml::Table>() else { return };
    let at = |path: &[&str]| {
        path.iter().try_fold(
            manifest.get(*path.first()?)?,
            |value, key| if *key == path[0] { Some(value) } else { value.get(*key) },
        )
    };
    for path in [&["project", "scripts"][..], &["project", "gui-scripts"], &["tool", "poetry", "scripts"]] {
        for (name, target) in at(path).and_then(toml::Value::as_table).into_iter().flatten().take(MAX_NAMES) {
            let line = line_of(text, &format!("[{}]", path.join(".")));
            add(Start::Program, line, format!("command {name} from {}", target.as_str().unwrap_or("?")));
        }
    }
}

fn dockerfile(text: &str, add: &mut impl FnMut(Start, Option<u32>, String)) {
    let mut last = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if ["ENTRYPOINT", "CMD"]
            .iter()
            .any(|word| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)))
        {
            last = Some((number, line));
        }
    }
    match last {
        Some((number, line)) => add(Start::Container, Some(number), format!("image, {line}")),
        None => add(Start::Container, None, "image".to_owned()),
    }
}

fn line_of(text: &str, needle: &str) -> Option<u32> {
    (1..).zip(text.lines()).find(|(_, line)| line.contains(needle)).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(Start, Option<u32>, String)> {
        let language = language::of(path);
        let outline = crate::outline::outline(language, path, text);
        of(path, language, text, &outline).into_iter().map(|entry| (entry.start, entry.line, entry.what)).collect()
    }

    #[test]
    fn manifests_name_their_programs() {
        assert_eq!(
            found("a/Cargo.toml", "[package]\nname = \"a\"\n[[bin]]\nname = \"b\"\npath = \"src/b.rs\"\n"),
            [(Start::Program, Some(3), "binary b from src/b.rs".to_owned())]
        );
        let rows = found(
            "package.json",
            "{\n\"main\": \"index.js\",\n\"bin\": {\"x\": \"x.js\"},\n\"scripts\": {\"build\": \"a\", \"test\": \"b\"}\n}",
        );
        assert_eq!(rows[0], (Start::Library, Some(2), "package main index.js".to_owned()));
        assert_eq!(rows[1], (Start::Program, Some(3), "command x from x.js".to_owned()));
        assert_eq!(rows[2], (Start::Command, Some(4), "scripts build, test".to_owned()));
        assert_eq!(
            found("pyproject.toml", "[project]\n[project.scripts]\nx = \"a.b:main\"\n"),
            [(Start::Program, Some(2), "command x from a.b:main".to_owned())]
        );
        assert_eq!(
            found("Dockerfile", "FROM a\nentrypoint [\"x\"]\n"),
            [(Start::Container, Some(2), "image, entrypoint [\"x\"]".to_owned())]
        );
        assert_eq!(
            found(".github/workflows/ci.yml", "name: \"Checks\"\n"),
            [(Start::Pipeline, None, "CI workflow \"Checks\"".to_owned())]
        );
        assert_eq!(found("Makefile", "all: b\nb:\n"), [(Start::Command, Some(1), "targets all, b".to_owned())]);
    }

    #[test]
    fn mains_are_found_and_helpers_are_not() {
        assert_eq!(found("src/main.rs", "mod a;\nfn main() {}\n"), [(Start::Program, Some(2), "main".to_owned())]);
        assert_eq!(found("cmd/x/main.go", "package main\nfunc main() {}\n").len(), 1);
        assert_eq!(found("x/a.go", "package x\nfunc main() {}\n").len(), 0);
        assert_eq!(
            found("a.py", "def main(): pass\nif __name__ == '__main__':\n  main()\n"),
            [(Start::Program, Some(2), "main".to_owned())]
        );
        assert_eq!(found("tests/a.rs", "fn main() {}").len(), 0);
    }

    #[test]
    fn a_broken_manifest_declares_nothing() {
        for path in ["Cargo.toml", "package.json", "pyproject.toml"] {
            assert_eq!(found(path, "{{{[[").len(), 0);
            assert_eq!(found(path, &"[".repeat(100_000)).len(), 0);
        }
        assert_eq!(found("package.json", "{\"bin\": 3, \"scripts\": [], \"main\": {}}").len(), 0);
    }
}
