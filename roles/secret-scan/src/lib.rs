//! Finds committed secrets in text, and never repeats one.
//!
//! The crate looks at text that it is given: no files, no clock, no network. It must not know what a role or a packet is.
//! Known key formats are matched by their published prefix, alphabet, length and, where there is one, checksum; a literal
//! that is assigned to a name such as `password` or `api_key` is judged by its shape and its Shannon entropy.
//!
//! The value of a secret stays inside: a [`Hit`] carries at most its first four characters and its length, and
//! [`Scan::masked_line`] gives a line for quoting in which every secret is masked the same way.
//!
//! ```
//! let token = ["ghp_", "aB7cD8eF9gH0jK1mN2pQ3rS4tU5vW6", "2M5jQM"].concat();
//! let hits = secret_scan::scan("src/client.py", &format!("TOKEN = '{token}'\n"));
//! assert_eq!(hits.len(), 1);
//! assert_eq!((hits[0].rule, hits[0].line), ("secret/github-token", 1));
//! assert_eq!(hits[0].masked, "ghp_… (40 characters)");
//! ```
//!
//! Every pass is linear in the text: the needles are found by one automaton each, and what is read around a needle has
//! a fixed bound.

mod assigned;
mod context;
mod formats;
mod lines;
mod mask;
mod shape;
mod structured;

use std::fmt;
use std::ops::Range;

pub use mask::{mask, mask_runs};

/// Hits that are listed for one text; further ones are counted in [`Scan::not_listed`].
pub const MAX_HITS: usize = 50;
/// Bytes of one text that are looked at; the rest is counted in [`Scan::unread_bytes`].
pub const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of a line up to which names and their values are judged. Longer lines are generated or minified: only known
/// formats are looked for in them, and they are counted in [`Scan::long_lines`].
pub const MAX_LINE_BYTES: usize = 4096;

/// How bad a hit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Probably harmless: a published example, a test key, a password of the local machine.
    Low,
    /// A credential whose format proves nothing, or which opens little.
    Medium,
    /// A credential of a known format.
    High,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// One secret, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Stable name, such as `secret/aws-access-key`.
    pub rule: &'static str,
    /// 1-based line on which the secret starts.
    pub line: u32,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence for the reader, without the value.
    pub what: String,
    /// At most the first four characters, and the length.
    pub masked: String,
}

/// Everything that is known about one text.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// The secrets by line, at most [`MAX_HITS`].
    pub hits: Vec<Hit>,
    /// Secrets past [`MAX_HITS`].
    pub not_listed: u32,
    /// Lines over [`MAX_LINE_BYTES`], in which only known formats were looked for. A line counts only where a name asked
    /// for a look.
    pub long_lines: u32,
    /// Bytes past [`MAX_TEXT_BYTES`].
    pub unread_bytes: u64,
    /// Where the values are, sorted and apart: what [`Scan::masked_line`] leaves out.
    spans: Vec<Range<usize>>,
}

impl Scan {
    /// Line `line` (1-based) of the text that was scanned, with every secret on it masked and every long random-looking
    /// run shortened, cut to `max_chars` characters. Empty for a line that does not exist.
    #[must_use]
    pub fn masked_line(&self, text: &str, line: u32, max_chars: usize) -> String {
        let Some(range) = lines::range_of(text, line) else { return String::new() };
        self.masked_range(text, range, max_chars)
    }

    /// As [`Scan::masked_line`], for a byte range of the text that was scanned. A range that cuts a character is empty.
    #[must_use]
    pub fn masked_range(&self, text: &str, range: Range<usize>, max_chars: usize) -> String {
        mask::range(text, range, &self.spans, max_chars)
    }
}

/// The secrets of `text`, by line. `path` says what kind of file it is (a lock file, a page of documentation, an
/// environment file); it is not opened.
///
/// When there are more than [`MAX_HITS`], a last hit of rule `secret/not-listed` says how many. See [`scan_counted`] for
/// the counts.
#[must_use]
pub fn scan(path: &str, text: &str) -> Vec<Hit> {
    let mut found = scan_counted(path, text);
    if found.not_listed > 0 {
        let line = found.hits.last().map_or(1, |hit| hit.line);
        let (severity, masked) = (Severity::Medium, String::new());
        let what = format!("{} more secrets in this file are not listed", found.not_listed);
        found.hits.push(Hit { rule: "secret/not-listed", line, severity, what, masked });
    }
    found.hits
}

/// As [`scan`], with what was left out.
#[must_use]
pub fn scan_counted(path: &str, text: &str) -> Scan {
    let end = lines::floor_boundary(text, MAX_TEXT_BYTES);
    let read = text.get(..end).unwrap_or_default();
    let mut scan = Scan { unread_bytes: (text.len() - end) as u64, ..Scan::default() };

    let mut found = Vec::new();
    formats::find(read, &mut found);
    structured::find(read, &mut found);
    let kind = context::FileKind::of(path);
    scan.long_lines = assigned::find(read, kind, &mut found);

    let found = settle(found);
    scan.spans = found.iter().map(|one| one.span.clone()).collect();
    if end < text.len() {
        // Nobody looked at the rest, so nobody may quote it.
        scan.spans.push(end..text.len());
    }
    scan.not_listed = u32::try_from(found.len().saturating_sub(MAX_HITS)).unwrap_or(u32::MAX);
    let mut counter = lines::Counter::new(read);
    for one in found.iter().take(MAX_HITS) {
        let value = read.get(one.span.clone()).unwrap_or_default();
        let masked = mask(value);
        let what = if mask::leaks(one.what, value) { "a credential is written in this file" } else { one.what };
        scan.hits.push(Hit {
            rule: one.rule,
            line: counter.line_of(one.span.start),
            severity: one.severity,
            what: what.to_owned(),
            masked,
        });
    }
    scan
}

/// A secret inside the crate: still with the place of its value.
#[derive(Clone, Debug)]
struct Found {
    rule: &'static str,
    span: Range<usize>,
    severity: Severity,
    what: &'static str,
    /// How specific the rule is; of two that overlap, the more specific one stands.
    weight: u8,
}

/// Weight of a rule that knows the format by prefix, alphabet and length.
const EXACT: u8 = 3;
/// Weight of a rule that knows the surroundings.
const STRUCTURED: u8 = 2;
/// Weight of a rule that only knows the name beside the value.
const BY_NAME: u8 = 1;

/// Sorted by place, and of overlapping ones only the most specific.
fn settle(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by(|a, b| {
        (a.span.start, u8::MAX - a.weight, a.span.end).cmp(&(b.span.start, u8::MAX - b.weight, b.span.end))
    });
    let mut kept: Vec<Found> = Vec::with_capacity(found.len());
    for one in found {
        match kept.last_mut() {
            Some(last) if one.span.start < last.span.end => {
                // The mask must cover both, whichever rule gives its name.
                let span = last.span.start..last.span.end.max(one.span.end);
                if one.weight > last.weight {
                    *last = one;
                }
                last.span = span;
            }
            _ => kept.push(one),
        }
    }
    kept
}
