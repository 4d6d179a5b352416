//! One folder that may be a package, and the checks that are found in it.

use std::path::{Path, PathBuf};

use brain_packet::{terminal_line, terminal_safe};

use super::{Check, MAX_OFFERED, Part, Tool};
use crate::read::{self, Text};

pub(super) struct Package<'r> {
    root: &'r Path,
    folder: &'r str,
    checks: Vec<Check>,
    dropped: usize,
    notes: Vec<String>,
}

impl<'r> Package<'r> {
    pub(super) fn new(root: &'r Path, folder: &'r str) -> Self {
        Self { root, folder, checks: Vec::new(), dropped: 0, notes: Vec::new() }
    }

    pub(super) fn finish(mut self) -> (Vec<Check>, Vec<String>) {
        if self.dropped > 0 {
            self.notes.push(format!(
                "{} scripts of {} are more than the {MAX_OFFERED} that are looked at",
                self.dropped,
                if self.folder.is_empty() { "the root" } else { self.folder },
            ));
        }
        (self.checks, self.notes)
    }

    /// Adds a check. What is called like another is left out: it is the same.
    pub(super) fn offer(&mut self, tool: Tool, command: &[&str], script: &str, part: Option<Part>, why: String) {
        let Some((program, args)) = command.split_first() else { return };
        // A program of a virtual environment is called by its name alone.
        let short = program.rsplit('/').next().unwrap_or(program);
        let line = std::iter::once(&short).chain(args).copied().collect::<Vec<_>>().join(" ");
        let name = if self.folder.is_empty() { line } else { format!("{line} ({})", self.folder) };
        if self.checks.iter().any(|check| check.name == name) {
            return;
        }
        // Whoever may allow it has to see what it is.
        if terminal_safe(&name) != name || name.contains(['\n', '\t']) {
            self.notes.push(format!("left out, since its name cannot be shown as it is: `{}`", terminal_line(&name)));
            return;
        }
        if self.checks.len() >= MAX_OFFERED {
            self.dropped += 1;
            return;
        }
        self.checks.push(Check {
            name,
            program: (*program).to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            folder: self.folder.to_owned(),
            tool,
            script: script.to_owned(),
            part,
            why,
        });
    }

    /// Whether a check for `part` was found already.
    pub(super) fn covers(&self, part: Part) -> bool {
        self.checks.iter().any(|check| check.part == Some(part))
    }

    fn path(&self, folder: &str, name: &str) -> PathBuf {
        self.root.join(folder).join(name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.path(self.folder, name).exists()
    }

    /// The text of a file of the folder. One that is there and cannot be read is noted.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match read::text(&self.path(self.folder, name)) {
            Text::Absent => None,
            Text::Is(text) => Some(text),
            Text::Unread(why) => {
                self.unusable(name, &why);
                None
            }
        }
    }

    /// Notes that a file of the folder says nothing.
    pub(super) fn unusable(&mut self, name: &str, why: &str) {
        let path = if self.folder.is_empty() { name.to_owned() } else { format!("{}/{name}", self.folder) };
        self.notes.push(format!("no check is taken from {path}, which cannot be used: {why}"));
    }

    /// A TOML file of the folder.
    pub(super) fn toml(&mut self, name: &str) -> Option<toml::Table> {
        let text = self.text(name)?;
        match toml::from_str(&text) {
            Ok(table) => Some(table),
            Err(error) => {
                self.unusable(name, error.message());
                None
            }
        }
    }

    /// The nearest of `names` from this folder up to the root: the way up to it (empty or `../` so many times), and the name.
    pub(super) fn upward<'n>(&self, names: &[&'n str]) -> Option<(String, &'n str)> {
        let mut folder = self.folder;
        let mut way = String::new();
        loop {
            if let Some(name) = names.iter().find(|name| self.path(folder, name).exists()) {
                return Some((way, name));
            }
            if folder.is_empty() {
                return None;
            }
            folder = super::parent(folder).unwrap_or_default();
            way.push_str("../");
        }
    }
}

/// What is at `keys` in a TOML table.
pub(super) fn at<'t>(table: &'t toml::Table, keys: &[&str]) -> Option<&'t toml::Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(key))
}
