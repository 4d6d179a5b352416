//! JavaScript: the scripts of a `package.json`, run by the package manager whose lock file is nearest.

use brain_packet::terminal_line;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::package::Package;
use super::{Part, Tool};

/// Lock files, and whose they are.
const LOCKS: [(&str, Tool); 6] = [
    ("pnpm-lock.yaml", Tool::Pnpm),
    ("yarn.lock", Tool::Yarn),
    ("bun.lock", Tool::Bun),
    ("bun.lockb", Tool::Bun),
    ("package-lock.json", Tool::Npm),
    ("npm-shrinkwrap.json", Tool::Npm),
];
/// Names of scripts by what they look at. The first that is there counts.
const SCRIPTS: [(Part, &[&str]); 4] = [
    (Part::Check, &["check"]),
    (Part::Typecheck, &["typecheck", "type-check", "check-types", "check:types", "types", "tsc"]),
    (Part::Lint, &["lint", "eslint"]),
    (Part::Test, &["test"]),
];
/// What `npm init` writes for a project that has no tests.
const NO_TEST: &str = "no test specified";

/// Characters of a script that are shown.
const MAX_SHOWN: usize = 200;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    #[serde(default)]
    scripts: Map<String, Value>,
    #[serde(default)]
    package_manager: Option<Value>,
}

pub(super) fn offer(package: &mut Package<'_>) {
    let Some(text) = package.text("package.json") else { return };
    let manifest: Manifest = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(manifest) => manifest,
        Err(error) => return package.unusable("package.json", &error.to_string()),
    };
    let (tool, whose) = manager(package, &manifest);
    let program = program(tool);
    let mut offer = |script: &str, part| {
        let text = manifest.scripts.get(script).and_then(Value::as_str);
        if text.is_some_and(|text| !text.trim().is_empty() && !text.contains(NO_TEST)) {
            let text: String = terminal_line(text.unwrap_or_default()).chars().take(MAX_SHOWN).collect();
            let why = format!("the script `{script}` of package.json, which is `{text}`; {whose}");
            package.offer(tool, &[program, "run", script], script, part, why);
        }
    };
    for (part, names) in SCRIPTS {
        if let Some(name) = names.iter().find(|name| manifest.scripts.contains_key(**name)) {
            offer(name, Some(part));
        }
    }
    for script in manifest.scripts.keys() {
        // A name that starts so would be read as a switch.
        if !script.starts_with('-') {
            offer(script, None);
        }
    }
}

/// The package manager, and from what it is known.
fn manager(package: &Package<'_>, manifest: &Manifest) -> (Tool, String) {
    let named = manifest.package_manager.as_ref().and_then(Value::as_str).unwrap_or_default();
    let name = named.split('@').next().unwrap_or_default();
    if let Some(tool) = [Tool::Npm, Tool::Pnpm, Tool::Yarn, Tool::Bun].into_iter().find(|tool| program(*tool) == name) {
        return (tool, format!("packageManager is {name}"));
    }
    match package.upward(&LOCKS.map(|(lock, _)| lock)) {
        Some((way, lock)) => {
            let tool = LOCKS.iter().find(|(name, _)| *name == lock).map_or(Tool::Npm, |(_, tool)| *tool);
            (tool, format!("{way}{lock} is there"))
        }
        None => (Tool::Npm, "there is no lock file".to_owned()),
    }
}

fn program(tool: Tool) -> &'static str {
    match tool {
        Tool::Pnpm => "pnpm",
        Tool::Yarn => "yarn",
        Tool::Bun => "bun",
        _ => "npm",
    }
}
