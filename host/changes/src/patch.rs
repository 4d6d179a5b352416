//! A change set as a patch that git applies.

use std::fmt::Write as _;

use brain_packet::Digest;

use crate::change::{Change, ChangeKind};
use crate::set::{ChangeSet, shown};

impl ChangeSet {
    /// The whole set as a unified diff with the headers of git, for a person to read and for `git apply`.
    ///
    /// Git knows text files and one bit of a mode. A file without a diff gets the line `Binary files … differ`, which git
    /// refuses to apply, so that nobody takes a patch that lacks something for the whole; a diff that was cut and a mode
    /// that git cannot carry are said in a line that begins with `#`, as are folders.
    pub fn to_patch(&self) -> String {
        let mut out = String::new();
        for change in &self.changes {
            one(&mut out, change);
        }
        for (folders, verb) in [(&self.folders_added, "added"), (&self.folders_removed, "removed")] {
            for folder in folders {
                line(&mut out, format_args!("# folder {verb}: {}", quoted("", &folder.path)));
            }
        }
        out
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = out.write_fmt(text);
    out.push('\n');
}

fn one(out: &mut String, change: &Change) {
    let from = change.from.as_deref().unwrap_or(&change.path);
    let (old, new) = (quoted("a/", from), quoted("b/", &change.path));
    if change.diff_cut {
        line(out, format_args!("# {}: its diff is too large to be shown", shown(&change.path)));
    }
    let (base_mode, mode) = (change.base_mode.map(git_mode), change.mode.map(git_mode));
    if let (Some(before), Some(after)) = (change.base_mode, change.mode)
        && before != after
        && base_mode == mode
    {
        line(out, format_args!("# {}: its mode changes from {before:04o} to {after:04o}", shown(&change.path)));
    }
    let same = change.base == change.new;
    if same && base_mode == mode && change.kind == ChangeKind::Modified {
        return;
    }
    line(out, format_args!("diff --git {old} {new}"));
    match (base_mode, mode) {
        (None, Some(mode)) => line(out, format_args!("new file mode {mode}")),
        (Some(mode), None) => line(out, format_args!("deleted file mode {mode}")),
        (Some(before), Some(after)) if before != after => {
            line(out, format_args!("old mode {before}"));
            line(out, format_args!("new mode {after}"));
        }
        _ => {}
    }
    if change.kind == ChangeKind::Renamed {
        if same {
            line(out, format_args!("similarity index 100%"));
        }
        line(out, format_args!("rename from {}", quoted("", from)));
        line(out, format_args!("rename to {}", quoted("", &change.path)));
    }
    if same {
        return;
    }
    let old = if change.base.is_some() { old.as_str() } else { "/dev/null" };
    let new = if change.new.is_some() { new.as_str() } else { "/dev/null" };
    match change.diff.as_deref() {
        Some("") => {}
        Some(diff) => {
            line(out, format_args!("--- {old}{}", end(old)));
            line(out, format_args!("+++ {new}{}", end(new)));
            out.push_str(diff);
        }
        None => {
            // Without this line git takes the next one for a remark, and applies the patch without the file.
            line(out, format_args!("index {}..{}", git_blob(change.base.as_ref()), git_blob(change.new.as_ref())));
            line(out, format_args!("Binary files {old} and {new} differ"));
        }
    }
}

/// A content as the `index` line of a patch names it. Git has digests of its own and looks at these for their form alone.
fn git_blob(digest: Option<&Digest>) -> &str {
    digest.map_or("000000000000", Digest::short)
}

/// What tells git where a name with blanks in it ends.
fn end(name: &str) -> &'static str {
    if name.contains(' ') && !name.starts_with('"') { "\t" } else { "" }
}

/// The only two modes of a file that git knows.
fn git_mode(mode: u32) -> &'static str {
    if mode & 0o100 == 0 { "100644" } else { "100755" }
}

/// A name as git writes it: in double quotes with C escapes where it has anything but printable ASCII, a quote or a
/// backslash in it.
fn quoted(prefix: &str, name: &str) -> String {
    let plain = |b: u8| (b' '..=b'~').contains(&b) && b != b'"' && b != b'\\';
    if name.bytes().all(plain) {
        return format!("{prefix}{name}");
    }
    let mut out = format!("\"{prefix}");
    for b in name.bytes() {
        match b {
            b'"' | b'\\' => out.extend(['\\', char::from(b)]),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            _ if plain(b) => out.push(char::from(b)),
            // Writing to a string does not fail.
            _ => {
                let _ = write!(out, "\\{b:03o}");
            }
        }
    }
    out.push('"');
    out
}
