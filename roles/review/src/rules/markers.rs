//! Marks in added lines that no file should have: merge conflicts, and characters that reorder text on a screen.

use super::{Findings, View};
use crate::diff::{Line, Side};
use crate::model::{Found, Severity};

const MARKER_LENGTH: usize = 7;

/// One finding per conflict. The middle line alone is none: headings are underlined like that.
pub fn conflicts(view: &View<'_>, findings: &mut Findings) {
    let mut open = false;
    for line in view.lines(Side::Added) {
        let starts = match marker(line) {
            Some(b'<') => {
                open = true;
                true
            }
            Some(b'>') => !std::mem::replace(&mut open, false),
            Some(b'|') => !open,
            _ => false,
        };
        if starts {
            findings.push(
                Found::new(
                    Severity::High,
                    "review/conflict-marker",
                    &view.path,
                    "A merge conflict marker is left in the file",
                )
                .at(line.line)
                .evidence(super::text_of(line))
                .suggest("Resolve the conflict: keep the lines that are meant and remove every marker"),
            );
        }
    }
}

/// The character of a line that is seven of it, alone or followed by a blank.
fn marker(line: &Line<'_>) -> Option<u8> {
    let text = line.text.strip_suffix(b"\r").unwrap_or(line.text);
    let (&first, _) = text.split_first()?;
    let run = text.iter().take_while(|byte| **byte == first).count();
    let alone = run == MARKER_LENGTH && text.get(MARKER_LENGTH).is_none_or(|next| *next == b' ');
    alone.then_some(first)
}

/// Overrides and isolates make code read otherwise than it runs (CVE-2021-42574).
pub fn hidden_direction(view: &View<'_>, findings: &mut Findings) {
    for (line, text) in view.added() {
        let reorders = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        if let Some(c) = text.chars().find(|c| reorders(*c)) {
            findings.push(
                Found::new(
                    Severity::High,
                    "review/hidden-direction",
                    &view.path,
                    format!(
                        "An invisible character (U+{:04X}) changes the order in which the line is shown",
                        u32::from(c)
                    ),
                )
                .at(line)
                .evidence(text)
                .suggest("Remove the character, or write it as an escape"),
            );
        }
    }
}
