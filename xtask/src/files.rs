//! Files: atomic copies that touch nothing when nothing changed, and trees.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use crate::steps::Failure;

/// Copies a file unless the destination already has the same bytes. Readers of the destination see the old bytes or the new
/// ones and never a part: the copy is written beside it and renamed. True when it was copied.
///
/// # Errors
/// The source cannot be read, or the destination's folder cannot be made or written.
pub fn copy_if_changed(from: &Path, to: &Path) -> Result<bool, Failure> {
    let bytes = fs::read(from).map_err(|error| Failure::io("read", from, &error))?;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(false);
    }
    let folder = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| Failure::io("make the folder", folder, &error))?;
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.join(format!(".{name}.{}.tmp", process::id()));
    // `fs::copy` keeps the permission bits, which matter for a binary.
    let written = fs::copy(from, &beside).and_then(|_| fs::rename(&beside, to));
    if let Err(error) = written {
        let _ = fs::remove_file(&beside);
        return Err(Failure::io("write", to, &error));
    }
    Ok(true)
}

/// Copies a tree onto another, file by file, replacing files that are there. Gives the number of files.
///
/// # Errors
/// A folder cannot be read or made, a file cannot be copied, or the tree holds something other than folders and regular files.
pub fn copy_tree(from: &Path, to: &Path) -> Result<usize, Failure> {
    fs::create_dir_all(to).map_err(|error| Failure::io("make the folder", to, &error))?;
    let mut count = 0;
    for entry in entries(from)? {
        let kind = entry.file_type().map_err(|error| Failure::io("look at", &entry.path(), &error))?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            count += copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            copy_if_changed(&entry.path(), &target)?;
            count += 1;
        } else {
            return Err(Failure::new(format!("{} is neither a folder nor a regular file", entry.path().display()))
                .help("fixture trees hold plain files only; tests make links where they need them"));
        }
    }
    Ok(count)
}

/// Removes what `keep` does not name from a folder of ours, and gives the names that it removed. A folder that is not there
/// has nothing to remove.
///
/// # Errors
/// The folder cannot be read or an entry cannot be removed.
pub fn prune(folder: &Path, keep: &BTreeSet<String>) -> Result<Vec<String>, Failure> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut removed = Vec::new();
    for entry in entries(folder)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !keep.contains(&name) {
            remove(&entry.path())?;
            removed.push(name);
        }
    }
    Ok(removed)
}

/// Removes a file or a tree; nothing there is fine. A link is removed, not followed.
///
/// # Errors
/// It is there and cannot be removed.
pub fn remove(path: &Path) -> Result<(), Failure> {
    let outcome = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    outcome.map_err(|error| Failure::io("remove", path, &error))
}

/// The folders directly below `folder` that hold a file of the given name, sorted.
///
/// # Errors
/// The folder cannot be read.
pub fn folders_with(folder: &Path, file: &str) -> Result<Vec<PathBuf>, Failure> {
    let found = entries(folder)?.into_iter().map(|entry| entry.path());
    Ok(found.filter(|path| path.join(file).is_file()).collect())
}

/// The names in `folder` that end in `end`, sorted.
///
/// # Errors
/// The folder cannot be read.
pub fn names_ending(folder: &Path, end: &str) -> Result<Vec<String>, Failure> {
    let names = entries(folder)?.into_iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name.ends_with(end)).collect())
}

/// Reads a text file.
///
/// # Errors
/// It cannot be read or is not UTF-8.
pub fn text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))
}

/// Reads a TOML file.
///
/// # Errors
/// It cannot be read, or is not TOML; the message carries the line.
pub fn toml(path: &Path) -> Result<toml::Table, Failure> {
    let text = text(path)?;
    text.parse().map_err(|error| Failure::new(format!("{} is not valid TOML: {error}", path.display())))
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, Failure> {
    let failed = |error| Failure::io("list", folder, &error);
    let mut entries = fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_copy_happens_once_and_again_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a"), folder.path().join("deep/er/b"));
        put(&from, "one");
        assert!(copy_if_changed(&from, &to).unwrap());
        assert!(!copy_if_changed(&from, &to).unwrap(), "same bytes: nothing to do");
        put(&from, "two");
        assert!(copy_if_changed(&from, &to).unwrap());
        assert_eq!(fs::read_to_string(&to).unwrap(), "two");
        let left: Vec<_> = fs::read_dir(to.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["b"], "no temporary file stays");
    }

    #[test]
    fn a_failed_copy_leaves_the_destination_and_says_which() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a"), folder.path().join("to"));
        let failure = copy_if_changed(&from, &to).unwrap_err().to_string();
        assert!(failure.contains("cannot read") && failure.contains(&from.display().to_string()), "{failure}");
        assert!(!to.exists());
        put(&from, "x");
        put(&to.join("inside"), "a folder is in the way");
        let failure = copy_if_changed(&from, &to).unwrap_err().to_string();
        assert!(failure.contains("cannot write"), "{failure}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the temporary file is gone");
    }

    #[cfg(unix)]
    #[test]
    fn a_binary_stays_executable() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a"), folder.path().join("b"));
        put(&from, "#!");
        fs::set_permissions(&from, fs::Permissions::from_mode(0o755)).unwrap();
        copy_if_changed(&from, &to).unwrap();
        assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn a_tree_is_laid_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let (base, over, to) = (folder.path().join("base"), folder.path().join("over"), folder.path().join("to"));
        put(&base.join("kept"), "kept");
        put(&base.join("sub/.hidden"), "old");
        put(&over.join("sub/.hidden"), "new");
        put(&over.join("sub/more/x"), "x");
        assert_eq!(copy_tree(&base, &to).unwrap(), 2);
        assert_eq!(copy_tree(&over, &to).unwrap(), 2);
        assert_eq!(fs::read_to_string(to.join("kept")).unwrap(), "kept");
        assert_eq!(fs::read_to_string(to.join("sub/.hidden")).unwrap(), "new");
        assert_eq!(fs::read_to_string(to.join("sub/more/x")).unwrap(), "x");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_a_tree_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        fs::create_dir(&from).unwrap();
        std::os::unix::fs::symlink("/etc", from.join("link")).unwrap();
        let failure = copy_tree(&from, &folder.path().join("to")).unwrap_err().to_string();
        assert!(failure.contains("from/link is neither"), "{failure}");
    }

    #[cfg(unix)]
    #[test]
    fn removing_a_link_keeps_what_it_points_to() {
        let folder = tempfile::tempdir().unwrap();
        put(&folder.path().join("real/file"), "x");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("real"), &link).unwrap();
        remove(&link).unwrap();
        assert!(!link.exists());
        assert!(folder.path().join("real/file").exists());
    }

    #[test]
    fn pruning_removes_what_is_not_named_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        put(&folder.path().join("stays/role.toml"), "");
        put(&folder.path().join("goes/role.toml"), "");
        put(&folder.path().join("loose"), "");
        let keep = BTreeSet::from(["stays".to_owned()]);
        assert_eq!(prune(folder.path(), &keep).unwrap(), ["goes", "loose"]);
        assert!(folder.path().join("stays/role.toml").exists());
        assert_eq!(prune(&folder.path().join("not there"), &keep).unwrap(), Vec::<String>::new());
    }
}
