//! Proposed changes, and what came of applying them.

use std::fmt::Write;

use brain_changes::{Change, ChangeKind, ChangeSet, Conflict, State};
use brain_journal::ApplyDirection;
use brain_orchestrator::{ApplyReport, ApplyResult, figures};
use brain_packet::terminal_safe;
use console::style;

use super::style::{count, faint, line};

/// Conflicts that are named; the rest is counted.
const MAX_CONFLICTS: usize = 20;

/// A patch for a terminal: harmless, and coloured where colours are shown.
pub fn patch(set: &ChangeSet) -> String {
    let mut out = String::new();
    for text in set.to_patch().lines() {
        let text = terminal_safe(text);
        let styled = match text.as_bytes().first() {
            Some(b'+') => style(&text).green(),
            Some(b'-') => style(&text).red(),
            Some(b'@') => style(&text).cyan(),
            Some(b'd' | b'n' | b'o' | b'r' | b's' | b'B' | b'#') => style(&text).bold(),
            _ => style(&text),
        };
        let _ = writeln!(out, "{styled}");
    }
    out
}

/// The changed paths, one a line.
pub fn names(set: &ChangeSet) -> String {
    set.changes.iter().map(|change| format!("{}\n", path(&change.path))).collect()
}

/// Each file with what happens to it, and the sum.
pub fn stat(set: &ChangeSet) -> String {
    let mut out = String::new();
    for change in &set.changes {
        let (what, from) = match change.kind {
            ChangeKind::Added => ("added   ", None),
            ChangeKind::Modified => ("modified", None),
            ChangeKind::Deleted => ("deleted ", None),
            ChangeKind::Renamed => ("renamed ", change.from.as_deref()),
        };
        let from = from.map(|from| format!(" from {}", path(from))).unwrap_or_default();
        let _ = writeln!(out, "{what} {}{from}  {}", path(&change.path), lines(change));
    }
    for (folders, what) in [(&set.folders_added, "added   "), (&set.folders_removed, "removed ")] {
        for folder in folders {
            let _ = writeln!(out, "{what} {}/", path(&folder.path));
        }
    }
    let stats = set.stats();
    let uncounted = match stats.uncounted {
        0 => String::new(),
        n => format!(" ({} without a diff: binary, or too large)", count(n as usize, "file")),
    };
    let _ = writeln!(out, "{}{uncounted}", figures(stats.files, stats.added_lines, stats.removed_lines));
    out
}

fn lines(change: &Change) -> String {
    let sizes = || format!("{} -> {} bytes", change.base_bytes, change.new_bytes);
    let mut said = match &change.diff {
        Some(diff) => {
            let starting = |sign| diff.lines().filter(|line| line.starts_with(sign)).count();
            format!("+{} -{}", starting('+'), starting('-'))
        }
        None if change.diff_cut => format!("text, its diff is too large to be shown, {}", sizes()),
        None => format!("binary, {}", sizes()),
    };
    if let (Some(before), Some(after)) = (change.base_mode, change.mode)
        && before != after
    {
        said.push_str(&format!(", mode {before:04o} -> {after:04o}"));
    }
    said
}

/// A path on one line, in quotes where its own bytes would not be safe to read.
fn path(path: &str) -> String {
    let plain = !path.contains(['"', '\\']) && !path.chars().any(char::is_control) && terminal_safe(path) == path;
    if plain { path.to_owned() } else { format!("{:?}", terminal_safe(path)) }
}

/// What was done.
pub fn applied(report: &ApplyReport) -> String {
    let root = line(&report.root);
    let figures = figures(report.files, report.added_lines, report.removed_lines);
    let again = format!("{} {}", report.session_id, report.role);
    let mut out = match (report.outcome, report.direction) {
        (ApplyResult::Done, ApplyDirection::Apply) => {
            format!("applied: {figures} in {root}\n{}\n", faint(&format!("brain undo {again} takes it back")))
        }
        (ApplyResult::Done, ApplyDirection::Undo) => format!("undone: {root} is as it was before\n"),
        (ApplyResult::Already, ApplyDirection::Apply) => {
            format!("already applied to {root}: nothing to do\n")
        }
        (ApplyResult::Already, ApplyDirection::Undo) => format!("not applied to {root}: nothing to undo\n"),
        (ApplyResult::Possible, ApplyDirection::Apply) => {
            format!("would be applied: {figures} in {root}; nothing stands in the way\n")
        }
        (ApplyResult::Possible, ApplyDirection::Undo) => {
            format!("would be undone: {figures} in {root}; nothing stands in the way\n")
        }
        // Conflicts are told as the error that they are.
        (ApplyResult::Conflict, _) => String::new(),
    };
    for note in &report.notes {
        let _ = writeln!(out, "{}", line(note));
    }
    out
}

/// What stands in the way, and what to do about it.
pub fn conflicts(report: &ApplyReport) -> (String, String) {
    let verb = match report.direction {
        ApplyDirection::Apply => "applied",
        ApplyDirection::Undo => "undone",
    };
    let mut said = format!("nothing was {verb}: {} in the way", are(report.conflicts.len()));
    for conflict in report.conflicts.iter().take(MAX_CONFLICTS) {
        said.push_str(&format!("\n  {}: {}", path(&conflict.path), problem(conflict)));
    }
    let more = report.conflicts.len().saturating_sub(MAX_CONFLICTS);
    if more > 0 {
        said.push_str(&format!("\n  and {more} more: --json has them all"));
    }
    for note in &report.notes {
        said.push_str(&format!("\n{}", line(note)));
    }
    let help = match report.direction {
        ApplyDirection::Apply => {
            "put these back as they were when the role worked, or let it work again on the project as it is now"
                .to_owned()
        }
        ApplyDirection::Undo => format!(
            "what was changed since is not overwritten: put these back as they were after the apply, or change the rest \
             by hand with `brain diff {} {}`",
            report.session_id, report.role
        ),
    };
    (said, help)
}

fn are(n: usize) -> String {
    if n == 1 { "1 file is".into() } else { format!("{n} files are") }
}

/// What is wrong at a path, and what would make it right.
fn problem(conflict: &Conflict) -> String {
    match (&conflict.expected, &conflict.found) {
        (State::File { digest: old, mode: before }, State::File { digest: new, mode: after }) if old == new => {
            format!("its mode was changed from {before:04o} to {after:04o} since: `chmod {before:o}` it")
        }
        (State::File { .. }, State::File { .. }) => {
            "it was changed since: save your change elsewhere, and put it back".into()
        }
        (State::File { .. }, State::Missing) => "it was removed since: put it back".into(),
        (State::File { mode, .. }, State::SpecialMode { mode: now }) => format!(
            "it has a set-user-id, set-group-id or sticky bit (mode {now:04o}), and such a file is never replaced: \
             `chmod {mode:o}` it, and give the bit back afterwards if it is wanted"
        ),
        (State::File { .. }, State::TooLarge { bytes }) => {
            format!("it was changed since, and has {bytes} bytes by now: put it back")
        }
        (State::Missing, State::File { .. }) => "it is there by now: move it away".into(),
        (State::Missing, found) => format!("{found} is there by now: move it away"),
        (_, State::Blocked { at, by }) if **by == State::Missing => {
            format!("the folder {} is not there any more: put it back", path(at))
        }
        (_, State::Blocked { at, by }) => format!("{by} is in its way at {}: move it away", path(at)),
        (_, State::Unreadable { why }) => format!("it cannot be read ({}): give yourself the right to", line(why)),
        (State::Folder, State::Missing) => "the folder was removed since: put it back".into(),
        (State::Folder, found) => format!("a folder has to be there, and {found} is: move it away"),
        (expected, State::Missing) => format!("it was {expected}, and is not there any more: put it back"),
        (expected, found) => format!("it was {expected} and is {found} now: move that away, and put it back"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;
    use brain_changes::{Builder, Contents, Side};

    #[test]
    fn nothing_of_a_patch_drives_a_terminal() {
        let place = tempfile::tempdir().unwrap();
        let contents = Contents::open(place.path().join("contents")).unwrap();
        let mut builder = Builder::new(&contents);
        let content = "plain\n\u{1b}]0;title\u{7}\n\u{202e}reversed\rover\n";
        builder.added("a\u{1b}[2J", Side::new(0o644, content.as_bytes())).unwrap();
        let set = builder.finish().unwrap();
        for shown in [patch(&set), names(&set), stat(&set)] {
            let obeyed = shown.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(obeyed, None, "{shown:?}");
        }
        assert!(patch(&set).contains("\\u{1b}]0;title"), "{}", patch(&set));
        assert!(set.to_patch().contains('\u{202e}'), "the patch itself is exact");
    }
}
