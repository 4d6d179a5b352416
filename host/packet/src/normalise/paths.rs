//! The repair of paths: files below the workspace, and guest paths of references.
//!
//! Paths are compared and mapped to real files later on, so one that is not plainly inside is dropped and never guessed
//! at. A path from a component is taken exactly, white space and all.

use crate::{
    context::{GUEST_ROOTS, WORKSPACE_ROOT},
    limits::{MAX_FILE_CHARS, MAX_URI_CHARS},
};

/// A path as it should be, or why it cannot be one.
pub(super) type Repaired = Result<String, &'static str>;

const TOO_LONG: &str = "path longer than 4096 characters";

/// A file relative to the workspace: a leading `/workspace/` or `./` goes, and so do `.` and empty parts.
pub(super) fn workspace_file(path: &str) -> Repaired {
    let rest = match path.strip_prefix(WORKSPACE_ROOT) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        _ if path.starts_with('/') => return Err("absolute path outside /workspace"),
        _ => path,
    };
    let file = plain(rest)?;
    if file.chars().count() > MAX_FILE_CHARS {
        return Err(TOO_LONG);
    }
    Ok(file)
}

/// A guest path strictly below one of the guest roots, without `.` and empty parts.
pub(super) fn guest_path(uri: &str) -> Repaired {
    let below = GUEST_ROOTS.iter().find_map(|root| Some((root, uri.strip_prefix(root)?.strip_prefix('/')?)));
    let Some((root, rest)) = below else {
        return Err("path not below /workspace, /context or /artifacts");
    };
    let path = format!("{root}/{}", plain(rest)?);
    if path.chars().count() > MAX_URI_CHARS {
        return Err(TOO_LONG);
    }
    Ok(path)
}

/// The path without empty and `.` parts. A `..` between any separators is an error, since what it means depends on links;
/// so is a start that makes a path absolute on Windows, since paths are joined to folders of the host later on.
fn plain(path: &str) -> Repaired {
    if path.contains('\0') {
        return Err("path with a NUL in it");
    }
    if path.split(['/', '\\']).any(|part| part == "..") {
        return Err("path with a `..` part");
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let path = parts.join("/");
    if path.trim().is_empty() {
        return Err("path that names no file");
    }
    let has_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if has_drive || path.starts_with('\\') {
        return Err("path with a drive or a backslash at its start");
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_quotes_the_limit() {
        assert!(TOO_LONG.contains(&MAX_FILE_CHARS.to_string()) && MAX_FILE_CHARS == MAX_URI_CHARS);
    }

    #[test]
    fn files_become_relative_to_the_workspace() {
        let cases = [
            ("src/a.rs", "src/a.rs"),
            ("./src/a.rs", "src/a.rs"),
            ("././a", "a"),
            ("/workspace/src/a.rs", "src/a.rs"),
            ("/workspace//a/./b/", "a/b"),
            ("workspace/a", "workspace/a"),
            ("a..b/..c/d..", "a..b/..c/d.."),
            (" leading space", " leading space"),
            ("line\nfeed", "line\nfeed"),
        ];
        for (path, file) in cases {
            assert_eq!(workspace_file(path).as_deref(), Ok(file), "{path:?}");
        }
    }

    #[test]
    fn files_outside_the_workspace_are_none() {
        let long = "x".repeat(MAX_FILE_CHARS + 1);
        let cases = [
            "",
            " ",
            "/",
            ".",
            "./",
            "/workspace",
            "/workspace/",
            "/etc/passwd",
            "//etc/passwd",
            "/workspacex/a",
            "/context/request.md",
            "..",
            "../a",
            "a/../b",
            "a/..",
            "/workspace/../etc/passwd",
            "..\\a",
            "a\\..\\b",
            "C:\\a",
            "c:/a",
            "./C:/a",
            "\\\\host\\share",
            "/workspace/\\a",
            "a\0b",
            long.as_str(),
        ];
        for path in cases {
            assert!(workspace_file(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn references_stay_below_a_guest_root() {
        let cases = [
            ("/workspace/a", Some("/workspace/a")),
            ("/context/results/x.json", Some("/context/results/x.json")),
            ("/artifacts//out/./map.md", Some("/artifacts/out/map.md")),
            ("/artifacts/", None),
            ("/artifacts", None),
            ("/workspace/../context/a", None),
            ("/contexts/a", None),
            ("artifacts/a", None),
            ("//workspace/a", None),
            ("file:///workspace/a", None),
            ("https://example.com/workspace/a", None),
            ("/home/user/.ssh/id", None),
            ("/artifacts/a\0", None),
            ("/artifacts/..\\a", None),
            ("/artifacts/\\a", None),
            ("/workspace/c:/a", None),
        ];
        for (uri, path) in cases {
            assert_eq!(guest_path(uri).ok().as_deref(), path, "{uri:?}");
        }
        assert!(guest_path(&format!("/artifacts/{}", "x".repeat(MAX_URI_CHARS))).is_err());
    }
}
