//! From text to tokens. Comments are no tokens, but some of them direct the tool that runs the file.

use super::{Dialect, Kind, Token};
use crate::limits::MAX_LINE_BACK;

/// Something that the text holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    Token(Token<'t>),
    /// What a comment says, without its marks; of a comment over several lines, all of it.
    Comment(&'t str),
    /// A string, name or comment that is never closed: everything behind it is part of it.
    Unclosed,
}

/// Reads pieces one after the other. Every step moves on by at least one byte, so that a text of n bytes has at most n pieces.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    dialect: Dialect,
    /// Inside of a MySQL comment that is run: `/*!40101 … */`.
    conditional: bool,
    /// The client's mark for the end of a statement, when it is not `;`. A word ends before it.
    pub(crate) mark: Option<&'t str>,
}

impl<'t> Lexer<'t> {
    /// A lexer over `text`, whose first line is called `line`.
    pub(crate) fn new(text: &'t str, dialect: Dialect, line: u32) -> Self {
        Self { text, at: 0, line, dialect, conditional: false, mark: None }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Moves on by `bytes`, which end at a character, and gives what was passed.
    fn pass(&mut self, bytes: usize) -> &'t str {
        let passed = self.rest().get(..bytes).unwrap_or_else(|| self.rest());
        self.at += passed.len();
        let lines = passed.bytes().filter(|b| *b == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        passed
    }

    /// The rest of the line, which is passed with its end.
    pub(crate) fn rest_of_line(&mut self) -> &'t str {
        let end = self.rest().find('\n').map_or(self.rest().len(), |end| end + 1);
        self.pass(end).trim()
    }

    /// Passes lines until one is `\.`: the data of a COPY.
    pub(crate) fn pass_copy_data(&mut self) {
        self.rest_of_line();
        while !self.rest().is_empty() && self.rest_of_line() != "\\." {}
    }

    /// Passes `mark` when it stands here, after blanks of the line.
    pub(crate) fn pass_mark(&mut self, mark: &str) -> bool {
        let rest = self.rest();
        let blanks = rest.len() - rest.trim_start().len();
        let is_here = !mark.is_empty() && rest.get(blanks..).is_some_and(|rest| rest.starts_with(mark));
        if is_here {
            self.pass(blanks + mark.len());
        }
        is_here
    }

    /// A token of `whole` bytes whose text stands between `before` and `after` bytes of quotes.
    fn token(&mut self, kind: Kind, whole: usize, before: usize, after: usize) -> Piece<'t> {
        let line = self.line;
        let passed = self.pass(whole);
        let text = passed.get(before..passed.len().saturating_sub(after)).unwrap_or_default();
        Piece::Token(Token { kind, text, line })
    }

    /// Where a quote that opens at the start of the rest (behind `open` bytes) is closed: bytes behind it.
    fn closing(&self, open: usize, quote: u8, escapes: bool) -> Option<usize> {
        let bytes = self.rest().as_bytes();
        let mut at = open;
        while let Some(&b) = bytes.get(at) {
            if escapes && b == b'\\' {
                at += 2;
            } else if b == quote {
                // Twice is one of the text.
                if bytes.get(at + 1) != Some(&quote) {
                    return Some(at + 1);
                }
                at += 2;
            } else {
                at += 1;
            }
        }
        None
    }

    fn quoted(&mut self, kind: Kind, open: usize, quote: u8, escapes: bool) -> Piece<'t> {
        match self.closing(open, quote, escapes) {
            Some(end) => self.token(kind, end, open, 1),
            None => self.unclosed(),
        }
    }

    fn unclosed(&mut self) -> Piece<'t> {
        self.pass(self.rest().len());
        Piece::Unclosed
    }

    fn comment(&mut self, marks: usize) -> Piece<'t> {
        let end = self.rest().find('\n').unwrap_or(self.rest().len());
        let passed = self.pass(end);
        Piece::Comment(passed.get(marks..).unwrap_or_default().trim())
    }

    fn block_comment(&mut self) -> Piece<'t> {
        let bytes = self.rest().as_bytes();
        let nests = self.dialect == Dialect::Postgres || self.dialect == Dialect::SqlServer;
        let (mut depth, mut at) = (1usize, 2usize);
        while let Some(pair) = bytes.get(at..at + 2) {
            match pair {
                b"*/" => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        let passed = self.pass(at);
                        return Piece::Comment(passed.get(2..at - 2).unwrap_or_default().trim());
                    }
                }
                b"/*" if nests => {
                    depth += 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        self.unclosed()
    }

    /// `$tag$ … $tag$`, when it is one.
    fn dollar(&mut self) -> Option<Piece<'t>> {
        let rest = self.rest();
        let tag = rest.get(1..)?.split('$').next()?;
        let is_tag = tag.len() <= 63
            && !tag.starts_with(|c: char| c.is_ascii_digit())
            && tag.chars().all(|c| c.is_alphanumeric() || c == '_');
        let mark = rest.get(..tag.len() + 2).filter(|mark| is_tag && mark.ends_with('$'))?;
        let Some(end) = rest.get(mark.len()..)?.find(mark) else { return Some(self.unclosed()) };
        Some(self.token(Kind::Body, end + 2 * mark.len(), mark.len(), mark.len()))
    }

    /// The next piece; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Piece<'t>> {
        let rest = self.rest();
        let blanks = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len();
        self.pass(blanks);
        let rest = self.rest();
        let mut chars = rest.chars();
        let first = chars.next()?;
        let second = chars.next();
        let mysql = self.dialect == Dialect::MySql;
        Some(match (first, second) {
            ('-', Some('-')) => self.comment(2),
            ('#', _) if mysql => self.comment(1),
            ('/', Some('*')) if mysql && (rest.starts_with("/*!") || rest.starts_with("/*M!")) => {
                let digits = rest.bytes().skip_while(|b| *b != b'!').skip(1).take_while(u8::is_ascii_digit).count();
                self.pass(rest.find('!').unwrap_or(2) + 1 + digits);
                self.conditional = true;
                // What stands inside is code: the caller asks for it next.
                Piece::Comment("")
            }
            ('/', Some('*')) => self.block_comment(),
            ('*', Some('/')) if self.conditional => {
                self.pass(2);
                self.conditional = false;
                Piece::Comment("")
            }
            ('\'', _) => self.quoted(Kind::Text, 1, b'\'', mysql),
            ('E' | 'e', Some('\'')) => self.quoted(Kind::Text, 2, b'\'', self.dialect == Dialect::Postgres || mysql),
            ('N' | 'n' | 'B' | 'b' | 'X' | 'x', Some('\'')) => self.quoted(Kind::Text, 2, b'\'', mysql),
            ('"', _) => self.quoted(Kind::Quoted, 1, b'"', mysql),
            ('`', _) => self.quoted(Kind::Quoted, 1, b'`', false),
            ('[', _) if self.dialect == Dialect::SqlServer => self.quoted(Kind::Quoted, 1, b']', false),
            ('$', Some(_)) if self.dialect == Dialect::Postgres => match self.dollar() {
                Some(piece) => piece,
                None => self.token(Kind::Sign, 1, 0, 0),
            },
            _ if first.is_alphabetic() || matches!(first, '_' | '@') => {
                let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '#');
                let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
                let mark = self.mark.and_then(|mark| rest.get(..end)?.find(mark)).filter(|at| *at > 0);
                let end = mark.unwrap_or(end);
                self.token(Kind::Word, end, 0, 0)
            }
            _ if first.is_ascii_digit() => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
                self.token(Kind::Number, end, 0, 0)
            }
            _ => self.token(Kind::Sign, first.len_utf8(), 0, 0),
        })
    }

    /// Whether nothing but blanks stands before the place on its line.
    pub(crate) fn begins_line(&self) -> bool {
        let start = self.at.saturating_sub(MAX_LINE_BACK);
        let before = self.text.as_bytes().get(start..self.at).unwrap_or_default();
        let blanks = before.iter().rev().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        before.len().checked_sub(blanks + 1).map_or(start == 0, |at| before.get(at) == Some(&b'\n'))
    }

    /// Whether the next character that is no blank begins a line of psql's own commands.
    pub(crate) fn is_meta(&self) -> bool {
        let rest = self.rest();
        let at = rest.len() - rest.trim_start().len();
        let before = rest.get(..at).unwrap_or_default();
        rest.get(at..).is_some_and(|rest| rest.starts_with('\\'))
            && (before.contains('\n') || self.at == 0 || self.begins_line())
    }
}
