//! Paths of a change set: relative, plain, and never where a change would be an attack.

/// Longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 4096;
/// Longest name within a path, in bytes.
pub const MAX_NAME_BYTES: usize = 255;
/// Every temporary name that an [apply](crate::apply()) makes in a tree starts with this, followed by the id of the
/// intent, `-` and a number. No path of a change set may have a name that starts so, whatever its case, which is why
/// a temporary name cannot collide with a file that a role was granted.
pub const TEMP_PREFIX: &str = ".brain-apply-";

/// Folders that no change may touch, wherever in the tree they are: version control runs what it finds in its own
/// (hooks, filters), and Brain reads its grants from the other.
const RESERVED: [&str; 2] = [".git", ".brain"];

/// Why a text is not a path of a change set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// Nothing at all.
    #[error("it is empty")]
    Empty,
    /// It starts at the root of the file system.
    #[error("it is absolute")]
    Absolute,
    /// Two slashes in a row, or one at the end.
    #[error("it has an empty name in it")]
    EmptyName,
    /// `.` or `..`.
    #[error("it has `.` or `..` in it")]
    Dots,
    /// No file system takes it.
    #[error("it has a NUL in it")]
    Nul,
    /// Longer than [`MAX_PATH_BYTES`], or one of its names than [`MAX_NAME_BYTES`].
    #[error("it, or a name in it, is too long")]
    TooLong,
    /// It is in a folder that no change may touch, or has a name that Brain keeps for itself.
    #[error("it is in a folder that no change may touch (`.git`, `.brain`), or has a name that Brain keeps for itself")]
    Reserved,
}

/// Whether `path` can be one of a change set: names joined by `/`, none of them empty, `.`, `..` or
/// [reserved](is_reserved).
///
/// # Errors
/// Says what is wrong with it.
pub fn check_path(path: &str) -> Result<(), PathFault> {
    if path.is_empty() {
        return Err(PathFault::Empty);
    }
    if path.starts_with('/') {
        return Err(PathFault::Absolute);
    }
    if path.len() > MAX_PATH_BYTES {
        return Err(PathFault::TooLong);
    }
    if path.contains('\0') {
        return Err(PathFault::Nul);
    }
    for name in path.split('/') {
        match name {
            "" => return Err(PathFault::EmptyName),
            "." | ".." => return Err(PathFault::Dots),
            _ if name.len() > MAX_NAME_BYTES => return Err(PathFault::TooLong),
            _ if is_reserved(name) => return Err(PathFault::Reserved),
            _ => {}
        }
    }
    Ok(())
}

/// Whether a single name is one that no change may touch: `.git`, `.brain`, what begins with [`TEMP_PREFIX`], and what
/// some file system takes for one of those: other case, invisible characters (HFS+), trailing dots and spaces, stream
/// suffixes and the short name `git~1` (NTFS). The list of spellings is the one that git itself refuses.
pub fn is_reserved(name: &str) -> bool {
    let visible: String = name.chars().filter(|c| !is_ignored_by_hfs(*c)).flat_map(char::to_lowercase).collect();
    let plain = visible.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    RESERVED.contains(&plain) || plain == "git~1" || visible.starts_with(TEMP_PREFIX)
}

fn is_ignored_by_hfs(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// The folder that `path` is in (empty for the root) and its name there.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The folders above `path`, outermost first, without the root.
pub(crate) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// `name` in `folder`, which is empty for the root.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_pass() {
        for path in ["a", "a/b.rs", "..a/b..", "a b/ü\n\"", ".gitignore", ".github/x", "git", ".brainy", ".brain-x"] {
            assert_eq!(check_path(path), Ok(()), "{path}");
        }
        let long = "a/".repeat(MAX_PATH_BYTES);
        let name = "n".repeat(MAX_NAME_BYTES + 1);
        for (path, fault) in [
            ("", PathFault::Empty),
            ("/etc/passwd", PathFault::Absolute),
            ("a//b", PathFault::EmptyName),
            ("a/", PathFault::EmptyName),
            ("../a", PathFault::Dots),
            ("a/..", PathFault::Dots),
            ("a/./b", PathFault::Dots),
            ("a\0b", PathFault::Nul),
            (&long, PathFault::TooLong),
            (&name, PathFault::TooLong),
            (".git", PathFault::Reserved),
            ("sub/.GIT/hooks/pre-commit", PathFault::Reserved),
            (".g\u{200c}it/config", PathFault::Reserved),
            (".git. ./config", PathFault::Reserved),
            (".git::$INDEX_ALLOCATION/config", PathFault::Reserved),
            ("git~1/config", PathFault::Reserved),
            (".brain/brain.toml", PathFault::Reserved),
            ("a/.Brain-Apply-0-1", PathFault::Reserved),
        ] {
            assert_eq!(check_path(path), Err(fault), "{path:?}");
        }
    }
}
