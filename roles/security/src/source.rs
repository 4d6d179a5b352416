//! A file as the rules see it: its text, the same text with comments and strings blanked out, and where those were.

use std::ops::Range;

pub(crate) use file_findings::text::{floor, has_word, is_name};

use crate::language::Language;
use crate::lexer;
use crate::limits::{MAX_BACK_BYTES, MAX_CALL_BYTES};

/// A string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    /// Its content, without the quotes.
    pub(crate) span: Range<usize>,
    /// Whether something is put into it at run time.
    pub(crate) dynamic: bool,
}

/// A file that has been read for its code.
pub(crate) struct Source<'a> {
    pub(crate) language: Language,
    pub(crate) raw: &'a str,
    /// As long as `raw`, byte for byte, with the content of comments and strings replaced by spaces.
    pub(crate) code: String,
    pub(crate) literals: Vec<Literal>,
    pub(crate) comments: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(language: Language, embedded: bool, raw: &'a str) -> Self {
        lexer::read(language, embedded, raw)
    }

    /// The code of a range, empty when the range is none.
    pub(crate) fn code(&self, range: Range<usize>) -> &str {
        self.code.get(range).unwrap_or_default()
    }

    /// The text of a range, empty when the range is none.
    pub(crate) fn raw(&self, range: Range<usize>) -> &'a str {
        self.raw.get(range).unwrap_or_default()
    }

    /// The literals that lie inside `range`.
    pub(crate) fn literals_in(&self, range: Range<usize>) -> impl Iterator<Item = &Literal> {
        let first = self.literals.partition_point(|literal| literal.span.start < range.start);
        self.literals
            .iter()
            .skip(first)
            .take_while(move |literal| literal.span.start < range.end)
            .filter(move |literal| literal.span.end <= range.end)
    }

    /// The line around `at`, without its line end.
    pub(crate) fn line_around(&self, at: usize) -> Range<usize> {
        let bytes = self.raw.as_bytes();
        let low = at.saturating_sub(MAX_BACK_BYTES);
        let start = bytes[low..at].iter().rposition(|&b| b == b'\n').map_or(low, |n| low + n + 1);
        let high = bytes.len().min(at + MAX_CALL_BYTES);
        let end = bytes[at..high].iter().position(|&b| b == b'\n').map_or(high, |n| at + n);
        floor(self.raw, start)..floor(self.raw, end)
    }

    /// What stands between the parenthesis that opens at or just behind `at` and the one that closes it.
    pub(crate) fn arguments(&self, at: usize) -> Option<Range<usize>> {
        let bytes = self.code.as_bytes();
        let open = at + bytes.get(at..)?.iter().take(64).take_while(|b| b.is_ascii_whitespace()).count();
        if bytes.get(open) != Some(&b'(') {
            return None;
        }
        let mut depth = 0usize;
        for (offset, &b) in bytes.get(open..)?.iter().take(MAX_CALL_BYTES).enumerate() {
            match b {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(open + 1..open + offset);
                    }
                }
                _ => {}
            }
        }
        // A call that is cut or never closed is judged by what is there.
        Some(open + 1..floor(&self.code, open + MAX_CALL_BYTES).max(open + 1))
    }

    /// The parts of `range` between the commas of its own level.
    pub(crate) fn split(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let (mut depth, mut start) = (0usize, range.start);
        for (offset, b) in self.code(range.clone()).bytes().enumerate() {
            match b {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => {
                    parts.push(start..range.start + offset);
                    start = range.start + offset + 1;
                }
                _ => {}
            }
        }
        parts.push(start..range.end);
        parts
    }

    /// The name whose call encloses `at`, and that call's arguments.
    pub(crate) fn enclosing_call(&self, at: usize) -> Option<(&str, Range<usize>)> {
        let low = floor(&self.code, at.saturating_sub(MAX_BACK_BYTES));
        let mut depth = 0usize;
        for (offset, b) in self.code(low..at).bytes().enumerate().rev() {
            match b {
                b')' | b']' | b'}' => depth += 1,
                b'(' if depth == 0 => {
                    let open = low + offset;
                    return Some((self.name_before(open), self.arguments(open)?));
                }
                b'(' | b'[' | b'{' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        None
    }

    /// The dotted name that ends at `at`.
    pub(crate) fn name_before(&self, at: usize) -> &str {
        let bytes = self.code.as_bytes();
        let low = at.saturating_sub(128);
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'$' | b'!');
        let length = bytes[low..at].iter().rev().take_while(|b| is_name(b)).count();
        self.code(at - length..at)
    }

    /// Whether `range` holds literals and nothing else, and nothing is put into them.
    pub(crate) fn is_constant(&self, range: Range<usize>) -> bool {
        if self.literals_in(range.clone()).any(|literal| literal.dynamic) {
            return false;
        }
        let bytes = self.code.as_bytes();
        let mut at = range.start;
        while at < range.end {
            let b = bytes.get(at).copied().unwrap_or(b' ');
            let is_sign = b.is_ascii_whitespace()
                || matches!(b, b'"' | b'\'' | b'`' | b',' | b'+' | b'\\' | b'(' | b')' | b'@' | b'#');
            // The prefix of a literal: `rb"…"`.
            let prefix = bytes.get(at..range.end.min(at + 3)).unwrap_or_default();
            let is_prefix = b.is_ascii_alphabetic()
                && prefix.iter().position(|b| matches!(b, b'"' | b'\'')).is_some_and(|quote| {
                    prefix[..quote].iter().all(|b| matches!(b.to_ascii_lowercase(), b'r' | b'b' | b'u' | b'f' | b'l'))
                });
            if !is_sign && !is_prefix {
                return false;
            }
            at += 1;
        }
        true
    }

    /// Whether text is put together in `range`: an interpolated literal, a `+`, a format.
    pub(crate) fn is_built(&self, range: Range<usize>) -> bool {
        if self.literals_in(range.clone()).any(|literal| literal.dynamic) {
            return true;
        }
        let code = self.code(range.clone());
        let has_literal = self.literals_in(range).next().is_some();
        let joined = match self.language {
            Language::Python => {
                code.contains('+') || code.contains('%') || code.contains(".format(") || code.contains(".join(")
            }
            Language::Php => code.contains(". $") || code.contains(".$") || code.contains("sprintf"),
            Language::Rust => code.contains("format!"),
            Language::Go => code.contains('+') || code.contains("Sprintf"),
            Language::C => false,
            _ => {
                code.contains('+') || code.contains(".format(") || code.contains(".concat(") || code.contains(".join(")
            }
        };
        has_literal && joined
    }

    /// Whether a word stands in `range` by itself.
    pub(crate) fn has_word(&self, range: Range<usize>, word: &str) -> bool {
        has_word(self.code(range), word)
    }
}
