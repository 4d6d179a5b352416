//! Sessions in which a role proposed a change, made without a role: what such a session leaves, written by the crates that write
//! it. A tree and its wanted state are compared, and the difference is the proposal.
#![allow(clippy::unwrap_used, reason = "the callers are tests")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use brain_changes::{Builder, ChangeSet, Contents, Side};
use brain_journal::{Journal, Phase, ProjectSupport, Record, RunEnd, RunStart};
use brain_packet::{HandoffId, RoleName};

use crate::cli::Brain;

/// A file of a tree: its content and its permission bits.
pub type Entry = (Vec<u8>, u32);

/// What a tree has: its files with content and mode, its folders (with a slash at the end) with their mode, its links with
/// where they lead.
pub type Tree = BTreeMap<String, Entry>;

/// All that is below a folder, links not followed.
///
/// # Panics
/// When something cannot be read.
pub fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            if metadata.is_dir() {
                found.insert(format!("{name}/"), (Vec::new(), mode));
                folders.push(path);
            } else if metadata.is_symlink() {
                let target = std::fs::read_link(&path).unwrap().to_str().unwrap().as_bytes().to_vec();
                found.insert(name, (target, 0o120_000));
            } else {
                found.insert(name, (std::fs::read(&path).unwrap(), mode));
            }
        }
    }
    found
}

impl Brain {
    /// A session of the project in which `role` proposed what `propose` builds. Returns the session's id and the set.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn proposed(&self, role: &str, propose: impl FnOnce(&mut Builder<'_>)) -> (String, ChangeSet) {
        let mut sets = self.all_proposed(vec![(role, Box::new(propose))]);
        (sets.0, sets.1.remove(0))
    }

    /// As [`Brain::proposed`], for several roles of one session.
    ///
    /// # Panics
    /// When it cannot be written.
    #[allow(clippy::type_complexity, reason = "one caller needs it, and a name would say no more")]
    pub fn all_proposed(
        &self,
        proposals: Vec<(&str, Box<dyn FnOnce(&mut Builder<'_>) + '_>)>,
    ) -> (String, Vec<ChangeSet>) {
        let journal = Journal::start(&self.home()).unwrap();
        let root = self.project().canonicalize().unwrap().to_str().unwrap().to_owned();
        let start = Record::RunStart(RunStart {
            project_support: Some(ProjectSupport::at(root)),
            ..RunStart::new("change it")
        });
        journal.append(&start).unwrap();
        let contents = Contents::open(journal.paths().contents()).unwrap();
        let mut sets = Vec::new();
        for (role, propose) in proposals {
            let role: RoleName = role.parse().unwrap();
            let mut builder = Builder::new(&contents);
            propose(&mut builder);
            let set = builder.finish().unwrap();
            let path = journal.paths().change_set(&role, &set.digest());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, set.to_json()).unwrap();
            let stats = set.stats();
            let record = Record::ChangeSet {
                phase: Phase::Primary,
                handoff_id: HandoffId::new(format!("{}:{role}:{}", journal.id(), sets.len() + 1)).unwrap(),
                worker: role,
                digest: set.digest(),
                files: stats.files,
                added_lines: stats.added_lines,
                removed_lines: stats.removed_lines,
                folders: stats.folders,
            };
            journal.append(&record).unwrap();
            sets.push(set);
        }
        journal.append(&Record::RunEnd(RunEnd::new("changed"))).unwrap();
        (journal.id().to_string(), sets)
    }
}

/// A side of a change: this content with mode 644.
pub fn side(content: &(impl AsRef<[u8]> + ?Sized)) -> Side<'_> {
    Side::new(0o644, content.as_ref())
}
