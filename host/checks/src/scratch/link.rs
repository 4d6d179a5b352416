//! Where a symbolic link leads.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Most links that one way leads through; the system follows no more either.
const MAX_LINKS: usize = 40;

/// Whether a link in `folder`, a path within the tree at `root`, with the target `target` stays within the tree on all of its way,
/// so that it leads to the same place in a copy of the tree. What is not there yet counts as a plain name.
pub(crate) fn stays_inside(root: &Path, folder: &Path, target: &Path) -> bool {
    if !is_relative(target) {
        return false;
    }
    let mut at: Vec<OsString> = folder.components().map(owned).collect();
    let mut way: VecDeque<OsString> = target.components().map(owned).collect();
    let mut links = 0;
    while let Some(name) = way.pop_front() {
        if name == "." {
            continue;
        }
        if name == ".." {
            if at.pop().is_none() {
                return false;
            }
            continue;
        }
        at.push(name);
        let here: PathBuf = at.iter().collect();
        if let Ok(next) = std::fs::read_link(root.join(here)) {
            links += 1;
            if links > MAX_LINKS || !is_relative(&next) {
                return false;
            }
            at.pop();
            for component in next.components().rev() {
                way.push_front(owned(component));
            }
        }
    }
    true
}

fn owned(component: Component<'_>) -> OsString {
    component.as_os_str().to_owned()
}

fn is_relative(path: &Path) -> bool {
    !path.as_os_str().is_empty() && !path.is_absolute()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_link_stays_inside_on_all_of_its_way() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("tree");
        std::fs::create_dir_all(root.join("d1/d2")).unwrap();
        std::fs::write(root.join("a"), "").unwrap();
        for (link, target) in [("d1/d2/up", ".."), ("out", "../other"), ("abs", "/etc"), ("loop", "loop")] {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        for (folder, target, inside) in [
            ("", "a", true),
            ("", "./d1/../a", true),
            ("d1/d2", "../../a", true),
            ("d1/d2", "up/a", true),
            ("", "not/there", true),
            ("", "../tree/a", false),
            ("", "..", false),
            ("d1", "../../a", false),
            // By its names alone it would stay inside.
            ("d1/d2", "up/../..", false),
            ("", "out/x", false),
            ("", "abs/passwd", false),
            ("", "/etc/passwd", false),
            ("", "loop", false),
        ] {
            assert_eq!(stays_inside(&root, Path::new(folder), Path::new(target)), inside, "{folder}: {target}");
        }
    }
}
