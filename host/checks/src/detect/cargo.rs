//! Rust: what a `Cargo.toml` stands for. Formatting and clippy are checks of the projects that configure them.

use super::package::{Package, at};
use super::{Part, Tool};

pub(super) fn offer(package: &mut Package<'_>) {
    let Some(manifest) = package.toml("Cargo.toml") else { return };
    if !manifest.contains_key("package") && !manifest.contains_key("workspace") {
        return;
    }
    if let Some((way, name)) = package.upward(&["rustfmt.toml", ".rustfmt.toml"]) {
        let why = format!("{way}{name} is there");
        package.offer(Tool::Cargo, &["cargo", "fmt", "--check"], "fmt", Some(Part::Lint), why);
    }
    let linted = at(&manifest, &["lints"]).is_some() || at(&manifest, &["workspace", "lints"]).is_some();
    let clippy = match package.upward(&["clippy.toml", ".clippy.toml"]) {
        Some((way, name)) => Some(format!("{way}{name} is there")),
        None => linted.then(|| "Cargo.toml configures lints".to_owned()),
    };
    if let Some(why) = clippy {
        package.offer(Tool::Cargo, &["cargo", "clippy", "--all-targets"], "clippy", Some(Part::Lint), why);
    }
    let why = || "Cargo.toml is there".to_owned();
    package.offer(Tool::Cargo, &["cargo", "check", "--all-targets"], "check", Some(Part::Typecheck), why());
    package.offer(Tool::Cargo, &["cargo", "test"], "test", Some(Part::Test), why());
}
