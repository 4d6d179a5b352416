//! Public definitions that change or go away in a change that brings no tests.

use std::collections::{HashMap, HashSet};

use super::{Findings, View, text_of};
use crate::code::{indent, split};
use crate::definitions::{Definition, definition};
use crate::diff::{Hunk, Side};
use crate::lang::{Lang, file_name};
use crate::model::{Found, Severity};

/// Lines above a definition in which its class is looked for.
const MAX_LOOK_BACK: usize = 500;
/// Characters of a definition's name that are quoted.
const MAX_NAME_CHARS: usize = 80;

/// Public definitions of one file, on both sides.
#[derive(Debug, Default)]
struct Sides {
    removed: Vec<(u32, Definition)>,
    added: Vec<(u32, Definition)>,
}

/// Looks at every file together, since a definition may move from one to another.
pub fn changed_without_tests(views: &[View<'_>], findings: &mut Findings) {
    if views.iter().any(View::brings_tests) {
        return;
    }
    let sides: Vec<(&View<'_>, Sides)> =
        views.iter().filter(|view| is_public(view)).map(|view| (view, public_definitions(view))).collect();
    // Moved as it is to another file: its callers may still have to change, but its behaviour is the same.
    let moved: HashSet<(Lang, String)> = sides
        .iter()
        .flat_map(|(view, sides)| sides.added.iter().map(|(_, d)| (view.lang, d.signature.clone())))
        .collect();
    for (view, sides) in &sides {
        let now: HashMap<&str, (u32, &Definition)> =
            sides.added.iter().map(|(line, d)| (d.name.as_str(), (*line, d))).collect();
        for (line, old) in &sides.removed {
            let name: String = old.name.chars().take(MAX_NAME_CHARS).collect();
            // Two types of one file may have a method of the same name.
            if sides.added.iter().any(|(_, new)| new.name == old.name && new.signature == old.signature) {
                continue;
            }
            let found = match now.get(old.name.as_str()) {
                Some((at, new)) => Found::new(
                    Severity::Medium,
                    "review/public-api-without-tests",
                    &view.path,
                    format!("The public `{name}` changes, and the change touches no test"),
                )
                .at(*at)
                .evidence(&new.signature),
                None if moved.contains(&(view.lang, old.signature.clone())) => continue,
                None => Found::new(
                    Severity::Medium,
                    "review/public-api-without-tests",
                    &view.path,
                    format!("The public `{name}` is removed, and the change touches no test"),
                )
                .at(*line)
                .evidence(format!("- {}", old.signature)),
            };
            findings.push(found.suggest("Add or adjust a test that shows the new behaviour to the callers"));
        }
    }
}

fn is_public(view: &View<'_>) -> bool {
    let program = view.lang == Lang::Rust
        && (file_name(&view.path) == "main.rs" || view.path.contains("/bin/") || view.path.contains("examples/"));
    !view.test && !program && view.not_by_hand.is_none()
}

fn public_definitions(view: &View<'_>) -> Sides {
    let mut sides = Sides::default();
    for hunk in &view.diff.hunks {
        for (at, line) in hunk.lines.iter().enumerate().filter(|(_, line)| line.side != Side::Context) {
            let text = text_of(line);
            let code = split(&text, view.lang).code;
            let Some(found) = definition(&code, view.lang) else { continue };
            if view.is_test_line(line.line)
                || !(found.public || (view.lang == Lang::Python && is_method(hunk, at, &found.name, indent(&code))))
            {
                continue;
            }
            let side = if line.side == Side::Added { &mut sides.added } else { &mut sides.removed };
            side.push((line.line, found));
        }
    }
    sides
}

/// Whether the Python definition at a place of a hunk is a method that callers see: the nearest line that is less indented opens a
/// class. When the hunk shows no such line, git's heading tells what it is in.
fn is_method(hunk: &Hunk<'_>, at: usize, name: &str, column: usize) -> bool {
    if column == 0 || name.starts_with('_') {
        return false;
    }
    let above = hunk
        .lines
        .iter()
        .take(at)
        .rev()
        .take(MAX_LOOK_BACK)
        .map(text_of)
        .find(|text| !text.trim().is_empty() && indent(text) < column);
    let opener = above.unwrap_or_else(|| crate::code::text(hunk.heading));
    opener.trim_start().starts_with("class ")
}
