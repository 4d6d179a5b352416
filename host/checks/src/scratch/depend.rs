//! Folders of dependencies, which are too large to be copied and too dear to be installed anew: they are there by links.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::copy::{Copier, failed};
use super::link::stays_inside;
use crate::error::ScratchError;

/// Folders of dependencies by their names.
pub(super) const NAMES: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];

/// Whether a folder of such a name is one of dependencies whatever git thinks of it. Many a project has its own `vendor`
/// in git, which is source as any other.
pub(super) fn is_certain(path: &Path, name: &str) -> bool {
    match name {
        "node_modules" => true,
        ".venv" | "venv" => path.join("pyvenv.cfg").exists(),
        _ => false,
    }
}

impl Copier<'_> {
    /// Links the folders of dependencies in `folder` that were not copied.
    pub(super) fn link_dependencies(&mut self, folder: &Path) -> Result<(), ScratchError> {
        for name in NAMES {
            let within = folder.join(name);
            let (from, to) = (self.project.join(&within), self.tree.join(&within));
            // Where some of it was copied, that is what the project wants to be in git.
            if fs::symlink_metadata(&to).is_ok() || !from.is_dir() {
                continue;
            }
            // A link that stays inside was copied as one, and one that leads out is nobody's dependencies; nor is any folder a
            // virtual environment that is called like one.
            let is_link = fs::symlink_metadata(&from).is_ok_and(|metadata| metadata.is_symlink());
            let is_environment = name.ends_with("venv");
            if is_link || (is_environment && !is_certain(&from, name)) {
                continue;
            }
            if name == "node_modules" {
                self.link_entries(&within, true)?;
            } else {
                self.count(0)?;
                symlink(&from, &to).map_err(failed("link", &to))?;
            }
            self.made.linked.push(within.display().to_string());
        }
        Ok(())
    }

    /// Makes a folder whose entries are links: what tools write beside the packages stays in it. Links to packages of the project
    /// itself (workspaces) lead to the copy of them, with the change in it.
    fn link_entries(&mut self, within: &Path, outer: bool) -> Result<(), ScratchError> {
        let (from, to) = (self.project.join(within), self.tree.join(within));
        self.make_folder(&to)?;
        let entries = fs::read_dir(&from).map_err(failed("list", &from))?;
        for entry in entries {
            let entry = entry.map_err(failed("list", &from))?;
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            let kind = entry.file_type().map_err(failed("look at", &entry.path()))?;
            // Caches: each run makes its own.
            if outer && matches!(&*shown, ".cache" | ".vite" | ".vitest" | ".tmp") {
                continue;
            }
            if outer && kind.is_dir() && (shown.starts_with('@') || shown == ".bin") {
                self.link_entries(&within.join(&name), false)?;
                continue;
            }
            self.count(0)?;
            let target = match fs::read_link(entry.path()) {
                Ok(target) if stays_inside(&self.project, within, &target) => target,
                _ => entry.path(),
            };
            let to = to.join(&name);
            symlink(&target, &to).map_err(failed("link", &to))?;
        }
        Ok(())
    }
}
