//! The rules. Each looks at one changed file, or at the change as a whole, and pushes what it finds.

pub mod added;
pub mod api;
pub mod danger;
pub mod files;
pub mod leftovers;
pub mod markers;
pub mod removed;
pub mod secrets;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::code;
use crate::diff::{Change, FileDiff, Line, Side};
use crate::lang::{self, Lang};
use crate::limits::{MAX_EVIDENCE_CHARS, MAX_FINDINGS, MAX_LINE_BYTES, MAX_PER_RULE};
use crate::model::{Found, Severity};
use crate::tree::Content;

/// A changed file with what the rules need to know of it.
pub struct View<'a> {
    /// Its section of the diff.
    pub diff: &'a FileDiff<'a>,
    /// Its path, exactly.
    pub path: String,
    /// By its name.
    pub lang: Lang,
    /// A file of tests.
    pub test: bool,
    /// A program whose output is its job.
    pub prints: bool,
    /// What keeps it from being written by hand: `vendored` or `generated`.
    pub not_by_hand: Option<&'static str>,
    /// The file as the workspace has it.
    pub content: Option<Content>,
    /// 1-based line at which a Rust file's own tests begin.
    tests_from: Option<u32>,
}

impl<'a> View<'a> {
    /// Looks at a section and the file that belongs to it.
    pub fn new(diff: &'a FileDiff<'a>, content: Option<Content>) -> Self {
        let path = diff.name().map_or_else(|| "(unnamed)".to_owned(), crate::diff::Name::file);
        let lang = Lang::of(&path);
        let text = content.as_ref().map(|content| String::from_utf8_lossy(&content.bytes));
        let tests_from = match (&text, lang) {
            (Some(text), Lang::Rust) => text
                .lines()
                .position(|line| line.trim_start().starts_with("#[cfg(test)]"))
                .and_then(|at| u32::try_from(at + 1).ok()),
            _ => None,
        };
        let prints = lang::prints_by_design(&path, lang, text.as_deref());
        let not_by_hand = lang::not_by_hand(&path, lang, text.as_deref());
        drop(text);
        Self { not_by_hand, diff, test: lang::is_test(&path), prints, lang, content, tests_from, path }
    }

    /// Lines of one side.
    pub fn lines(&self, side: Side) -> impl Iterator<Item = &Line<'a>> {
        self.diff.hunks.iter().flat_map(|hunk| &hunk.lines).filter(move |line| line.side == side)
    }

    /// Added lines as text, cut to [`MAX_LINE_BYTES`], with their number.
    pub fn added(&self) -> impl Iterator<Item = (u32, Cow<'a, str>)> {
        self.lines(Side::Added).map(|line| (line.line, text_of(line)))
    }

    /// Whether a line of the new file is test code.
    pub fn is_test_line(&self, line: u32) -> bool {
        self.test || self.tests_from.is_some_and(|from| line >= from)
    }

    /// Lines that are longer than the rules look.
    pub fn long_lines(&self) -> usize {
        self.diff.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.text.len() > MAX_LINE_BYTES).count()
    }

    /// Whether the change adds tests: a file of tests, or test functions of a Rust file.
    pub fn brings_tests(&self) -> bool {
        if self.diff.change == Change::Deleted {
            return false;
        }
        self.test
            || (self.lang == Lang::Rust
                && self.added().any(|(line, text)| {
                    self.is_test_line(line) || text.contains("test]") || text.contains("#[cfg(test)]")
                }))
    }
}

/// A line's text, cut to [`MAX_LINE_BYTES`].
pub fn text_of<'a>(line: &Line<'a>) -> Cow<'a, str> {
    code::text(line.text.get(..MAX_LINE_BYTES).unwrap_or(line.text))
}

/// Collects findings within the bounds.
#[derive(Debug, Default)]
pub struct Findings {
    kept: Vec<Found>,
    per_rule: HashMap<(String, Cow<'static, str>), usize>,
    cut: usize,
    worst: Option<Severity>,
}

impl Findings {
    /// Takes a finding, or counts it when there are too many. Its evidence is cut, with secrets masked.
    pub fn push(&mut self, mut found: Found) {
        self.worst = self.worst.max(Some(found.severity));
        let seen = self.per_rule.entry((found.file.clone(), found.rule.clone())).or_default();
        *seen += 1;
        if *seen > MAX_PER_RULE {
            self.cut += 1;
            return;
        }
        // `secret/…` findings bring their value masked already.
        if !found.rule.starts_with("secret/") {
            found.evidence = found.evidence.map(|text| shown(&found.file, &text));
        }
        self.kept.push(found);
    }

    /// The worst severity that was pushed, kept or not.
    pub fn worst(&self) -> Option<Severity> {
        self.worst
    }

    /// The findings, the worst [`MAX_FINDINGS`] of them sorted by place, and the number of those that are left out.
    pub fn finish(mut self) -> (Vec<Found>, usize) {
        self.kept
            .sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.file.cmp(&b.file)).then(a.line.cmp(&b.line)));
        let over = self.kept.len().saturating_sub(MAX_FINDINGS);
        self.kept.truncate(MAX_FINDINGS);
        self.kept.sort_by(|a, b| {
            a.file
                .cmp(&b.file)
                .then(a.line.cmp(&b.line))
                .then(b.severity.cmp(&a.severity))
                .then_with(|| a.rule.cmp(&b.rule))
        });
        (self.kept, self.cut + over)
    }
}

fn shown(file: &str, text: &str) -> String {
    // A line break inside would hide what follows it from the mask.
    let text = text.trim().replace(['\n', '\r'], " ");
    let masked = secrets::masked(file, &text, MAX_EVIDENCE_CHARS);
    let hidden = |c: char| c.is_control() || crate::diff::is_bidi_control(c);
    // An escape is longer than what it stands for, so the bound is kept here once more, and no escape is cut in two.
    let (mut shown, mut length) = (String::with_capacity(masked.len()), 0);
    for c in masked.chars() {
        let pieces: Vec<char> = if hidden(c) { c.escape_default().collect() } else { vec![c] };
        length += pieces.len();
        if length > MAX_EVIDENCE_CHARS {
            shown.push('…');
            break;
        }
        shown.extend(pieces);
    }
    shown
}
