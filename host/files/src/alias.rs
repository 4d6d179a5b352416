//! Names by which a file system finds a file that is called otherwise.
//!
//! Some file systems fold case, some fold Unicode forms, and then `SECRET.txt` opens `secret.txt`. Grants are about
//! names, so for a role a file has the one name that its folder lists, and any other finds nothing. Which folders fold is
//! found by asking them: the same object by another spelling.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use cap_std::fs::Dir;
use unicode_normalization::UnicodeNormalization;

use crate::meta::Meta;

/// Folders of which is remembered whether they fold; beyond it, they are asked again.
const MAX_REMEMBERED: usize = 4096;

/// Which folders of a mount fold names.
#[derive(Default)]
pub(crate) struct Aliases(Mutex<HashMap<String, Folds>>);

/// What is known of one folder.
#[derive(Clone, Copy, Default)]
struct Folds {
    case: Option<bool>,
    form: Option<bool>,
}

impl Aliases {
    /// Whether the folder at `path` is known to find nothing by another spelling of `name`.
    pub(crate) fn is_exact(&self, path: &str, name: &str) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied().unwrap_or_default();
        let has_case = name.chars().any(|c| c.is_lowercase() || c.is_uppercase());
        (!has_case || known.case == Some(false)) && (name.is_ascii() || known.form == Some(false))
    }

    /// Whether `name`, which was found in `dir` at `path` below the mount, is what the folder itself calls it.
    pub(crate) fn is_listed_name(&self, dir: &Dir, path: &str, name: &str, found: &Meta) -> io::Result<bool> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied().unwrap_or_default();
        let mut folds = known;
        if folds.case.is_none() {
            folds.case = other_case(name).map(|other| same(dir, &other, found));
        }
        if folds.form.is_none() {
            folds.form = other_form(name).map(|other| same(dir, &other, found));
        }
        let suspicious = folds.case == Some(true) || folds.form == Some(true);
        if suspicious {
            // Two hard links whose names differ in case look the same from outside, so the verdict is about this name.
            return lists(dir, name);
        }
        if (folds.case, folds.form) != (known.case, known.form) {
            let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if remembered.len() < MAX_REMEMBERED || remembered.contains_key(path) {
                remembered.insert(path.to_owned(), folds);
            }
        }
        Ok(true)
    }
}

/// Whether `other` finds the same object as the name by which `found` was found.
fn same(dir: &Dir, other: &str, found: &Meta) -> bool {
    Meta::at(dir, other).is_ok_and(|other| other.inode() == found.inode())
}

fn lists(dir: &Dir, name: &str) -> io::Result<bool> {
    for entry in dir.entries()? {
        if entry?.file_name() == name {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The name with every letter in the other case; none where it has no letter.
fn other_case(name: &str) -> Option<String> {
    let swap = |c: char| if c.is_uppercase() { c.to_lowercase().next() } else { c.to_uppercase().next() };
    let other: String = name.chars().map(|c| swap(c).unwrap_or(c)).collect();
    (other != name).then_some(other)
}

/// The name in the other Unicode form; none where both are the same.
fn other_form(name: &str) -> Option<String> {
    if name.is_ascii() {
        return None;
    }
    let composed: String = name.nfc().collect();
    let other = if composed == name { name.nfd().collect() } else { composed };
    (other != name).then_some(other)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use cap_std::ambient_authority;

    #[test]
    fn other_spellings() {
        assert_eq!(other_case("Read_Me.md").as_deref(), Some("rEAD_mE.MD"));
        assert_eq!(other_case("1.2"), None);
        assert_eq!(other_form("caf\u{e9}").as_deref(), Some("cafe\u{301}"));
        assert_eq!(other_form("cafe\u{301}").as_deref(), Some("caf\u{e9}"));
        assert_eq!(other_form("plain"), None);
        assert_eq!(other_form("日本"), None);
    }

    #[test]
    fn two_links_of_one_file_are_both_listed_names() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.txt"), "x").unwrap();
        std::fs::hard_link(root.path().join("a.txt"), root.path().join("A.TXT")).unwrap();
        let dir = Dir::open_ambient_dir(root.path(), ambient_authority()).unwrap();
        let (aliases, found) = (Aliases::default(), Meta::at(&dir, "a.txt").unwrap());
        assert!(aliases.is_listed_name(&dir, "", "a.txt", &found).unwrap());
        assert!(aliases.is_listed_name(&dir, "", "A.TXT", &found).unwrap());
        // As where a file system folds names: it was found, and is not listed.
        assert!(!lists(&dir, "A.txt").unwrap());
    }
}
