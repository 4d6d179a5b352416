//! What may be shown of a secret, and of a line that has one.

use std::ops::Range;

use crate::shape;

/// Characters of a secret that are ever shown.
const SHOWN: usize = 4;
/// A secret shorter than this shows no character: four of a short password would be most of it.
const SHOW_FROM: usize = 16;
/// A run of key-like characters from this length on is shortened in a quoted line when it looks random.
const RUN: usize = 16;
/// A window of this many characters of a secret in an output counts as a leak.
const WINDOW: usize = 8;

/// At most the first four characters of `value`, and its length in characters: `ghp_… (40 characters)`.
#[must_use]
pub fn mask(value: &str) -> String {
    let length = value.chars().count();
    let shown: String = if length >= SHOW_FROM { value.chars().take(SHOWN).collect() } else { String::new() };
    // A private key spans lines; its first characters are dashes and say nothing.
    let shown = shown.trim_start_matches('-').replace(char::is_control, "");
    format!("{shown}… ({length} {})", if length == 1 { "character" } else { "characters" })
}

/// `text` with every long run that looks random shortened. For quoting text that no scan has looked at.
#[must_use]
pub fn mask_runs(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        let length = shape::run(bytes, at, bytes.len(), shape::is_key);
        if length >= RUN && text.get(at..at + length).is_some_and(looks_random) {
            out.push_str(text.get(copied..at).unwrap_or_default());
            out.push_str(&mask(text.get(at..at + length).unwrap_or_default()));
            copied = at + length;
        }
        at += length.max(1);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

/// Letters and digits, or upper and lower case, mixed beyond what names and paths do.
fn looks_random(run: &str) -> bool {
    run.split(['/', '.', '-', '_', '+', '=']).any(|part| {
        part.len() >= RUN && shape::has_digit(part) && shape::has_letter(part) && shape::entropy(part) >= 3.0
    }) || (shape::has_digit(run) && shape::entropy(run) >= 4.2)
        || shape::is_mixed_case(run)
}

/// `range` of `text` with the parts inside `spans` (sorted) masked, cut to `max_chars`.
pub(crate) fn range(text: &str, range: Range<usize>, spans: &[Range<usize>], max_chars: usize) -> String {
    let mut out = String::new();
    let mut at = range.start;
    let first = spans.partition_point(|span| span.end <= range.start);
    for span in spans.iter().skip(first).take_while(|span| span.start < range.end) {
        if span.start > at {
            out.push_str(&mask_runs(text.get(at..span.start).unwrap_or_default()));
        }
        out.push_str(&mask(text.get(span.clone()).unwrap_or_default()));
        at = span.end;
    }
    if at < range.end {
        out.push_str(&mask_runs(text.get(at..range.end).unwrap_or_default()));
    }
    let out = out.trim();
    match out.char_indices().nth(max_chars) {
        Some((cut, _)) => format!("{}…", out.get(..cut).unwrap_or_default()),
        None => out.to_owned(),
    }
}

/// Whether `shown` has a window of eight characters of `value`.
pub(crate) fn leaks(shown: &str, value: &str) -> bool {
    value.as_bytes().windows(WINDOW).any(|window| shown.as_bytes().windows(WINDOW).any(|other| other == window))
}
