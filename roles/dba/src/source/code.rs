//! Programs as code, strings and comments, so far as calls with strings can be read from them.

use std::ops::Range;

use super::{Extract, Fragment};
use crate::limits::{MAX_CALL_BYTES, MAX_CALLS, MAX_LINE_BACK};
use crate::sql::Section;

/// How a language writes strings and comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Python,
    Ruby,
    /// `//`, `/* */`, and strings in any of three quotes.
    Braces,
}

/// A program: its code with strings and comments blanked out, as long as the text, and where the strings are.
pub(super) struct Program<'t> {
    pub(super) text: &'t str,
    /// As long as `text`, byte for byte; ASCII wherever something was blanked.
    pub(super) code: Vec<u8>,
    /// The contents of the strings, in order.
    pub(super) strings: Vec<Range<usize>>,
    starts: Vec<usize>,
    /// The end of a line with a here-document, and where the text goes on behind that.
    jump: Option<(usize, usize)>,
}

impl<'t> Program<'t> {
    pub(super) fn new(text: &'t str, syntax: Syntax) -> Self {
        let mut program = Self {
            text,
            code: text.as_bytes().to_vec(),
            strings: Vec::new(),
            starts: file_findings::line_starts(text),
            jump: None,
        };
        program.read(syntax);
        program.strings.sort_by_key(|string| string.start);
        program
    }

    pub(super) fn line(&self, at: usize) -> u32 {
        file_findings::line_of(&self.starts, at)
    }

    fn blank(&mut self, range: Range<usize>) {
        for b in self.code.get_mut(range).into_iter().flatten() {
            if *b != b'\n' {
                *b = b' ';
            }
        }
    }

    /// Where `mark` stands next, from `at`.
    fn find(&self, mark: &str, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mark = mark.as_bytes();
        bytes.get(at..)?.windows(mark.len().max(1)).position(|window| window == mark).map(|found| at + found)
    }

    fn read(&mut self, syntax: Syntax) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(&b) = bytes.get(at) {
            if let Some((_, to)) = self.jump.filter(|(from, _)| at >= *from) {
                self.jump = None;
                at = to.max(at + 1);
                continue;
            }
            let rest = bytes.get(at..).unwrap_or_default();
            at = match b {
                b'#' if syntax != Syntax::Braces => self.comment(at, "\n"),
                b'/' if syntax == Syntax::Braces && rest.starts_with(b"//") => self.comment(at, "\n"),
                b'/' if syntax == Syntax::Braces && rest.starts_with(b"/*") => self.comment(at, "*/"),
                b'"' | b'\'' if rest.starts_with(&[b, b, b]) && syntax != Syntax::Ruby => self.triple(at, b),
                b'"' | b'\'' => self.string(at, b, syntax == Syntax::Ruby),
                b'`' if syntax == Syntax::Braces => self.string(at, b, true),
                b'<' if syntax == Syntax::Ruby && rest.starts_with(b"<<") => self.heredoc(at),
                _ => at + 1,
            };
        }
    }

    fn comment(&mut self, at: usize, end: &str) -> usize {
        let end = self.find(end, at + 1).unwrap_or(self.text.len());
        self.blank(at..end);
        end.max(at + 1)
    }

    fn triple(&mut self, at: usize, quote: u8) -> usize {
        let mark = if quote == b'"' { "\"\"\"" } else { "'''" };
        let end = self.find(mark, at + 3).unwrap_or(self.text.len());
        self.strings.push(at + 3..end);
        self.blank(at + 3..end);
        end + 3
    }

    /// A string; one that may not hold a line break ends there.
    fn string(&mut self, at: usize, quote: u8, lines: bool) -> usize {
        let bytes = self.text.as_bytes();
        let mut end = at + 1;
        while let Some(&b) = bytes.get(end) {
            if b == quote || b == b'\n' && !lines {
                break;
            }
            end += if b == b'\\' { 2 } else { 1 };
        }
        let end = end.min(bytes.len());
        self.strings.push(at + 1..end);
        self.blank(at + 1..end);
        end + 1
    }

    /// `<<~SQL … SQL`: the lines behind this one. What else stands on this line is read as code.
    fn heredoc(&mut self, at: usize) -> usize {
        // One for a line: of a second one the text is not known to be where it is looked for.
        if self.jump.is_some() {
            return at + 2;
        }
        let bytes = self.text.as_bytes();
        let mut tag_at = at + 2;
        if matches!(bytes.get(tag_at), Some(b'~' | b'-')) {
            tag_at += 1;
        }
        if matches!(bytes.get(tag_at), Some(b'\'' | b'"')) {
            tag_at += 1;
        }
        let length = bytes
            .get(tag_at..)
            .unwrap_or_default()
            .iter()
            .take(64)
            .take_while(|b| b.is_ascii_uppercase() || **b == b'_')
            .count();
        let Some(tag) = self.text.get(tag_at..tag_at + length).filter(|tag| !tag.is_empty()) else { return at + 2 };
        let Some(line_end) = self.find("\n", tag_at) else {
            self.jump = Some((bytes.len(), bytes.len()));
            return at + 2;
        };
        let mut line_at = line_end + 1;
        while let Some(line) = self.text.get(line_at..).and_then(|rest| rest.split('\n').next()) {
            if line.trim() == tag || line_at >= self.text.len() {
                break;
            }
            line_at += line.len() + 1;
        }
        let end = line_at.min(self.text.len());
        self.strings.push(line_end + 1..end);
        let behind = self.find("\n", end).unwrap_or(self.text.len());
        self.blank(line_end + 1..behind);
        self.jump = Some((line_end, behind));
        tag_at + length
    }

    /// The strings that begin in a range.
    pub(super) fn strings_in(&self, range: Range<usize>) -> impl Iterator<Item = (usize, &'t str)> {
        let first = self.strings.partition_point(|string| string.start < range.start);
        self.strings
            .iter()
            .skip(first)
            .take_while(move |string| string.start <= range.end)
            .filter_map(|string| Some((string.start, self.text.get(string.clone())?)))
    }

    /// What stands in the parenthesis that opens at `open`, to the one that closes it; of a long one, its beginning.
    pub(super) fn group(&self, open: usize) -> Range<usize> {
        let mut depth = 0usize;
        for (offset, b) in self.code.get(open..).unwrap_or_default().iter().take(MAX_CALL_BYTES).enumerate() {
            match b {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return open + 1..open + offset;
                    }
                }
                _ => {}
            }
        }
        open + 1..(open + MAX_CALL_BYTES).min(self.code.len()).max(open + 1)
    }

    /// The parts of a range between the commas of its own level, without blanks around them.
    pub(super) fn split(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let (mut depth, mut start, mut parts) = (0usize, range.start, Vec::new());
        for (offset, b) in self.code.get(range.clone()).unwrap_or_default().iter().enumerate() {
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
        parts.retain(|part| !self.trimmed(part.clone()).is_empty());
        parts
    }

    /// The text of a range, without blanks and comments around it. A range that cuts a character is empty.
    pub(super) fn trimmed(&self, range: Range<usize>) -> &'t str {
        let code = self.code.get(range.clone()).unwrap_or_default();
        let is_code = |b: &u8| !b.is_ascii_whitespace();
        let (Some(first), Some(last)) = (code.iter().position(is_code), code.iter().rposition(is_code)) else {
            return "";
        };
        self.text.get(range.start + first..range.start + last + 1).unwrap_or_default()
    }

    /// Each call: the name before a `(` with what it is called on, where it begins, and its parenthesis.
    pub(super) fn calls(&self) -> Vec<(&'t str, usize, usize)> {
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
        let mut calls = Vec::new();
        for (open, _) in self.code.iter().enumerate().filter(|(_, b)| **b == b'(') {
            let before = self.code.get(open.saturating_sub(128)..open).unwrap_or_default();
            let length = before.iter().rev().take_while(|b| is_name(b)).count();
            if let Some(name) = self.text.get(open - length..open).filter(|name| !name.is_empty()) {
                calls.push((name, open - length, open));
            }
        }
        calls
    }
}

/// The last part of a name.
pub(super) fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Why the rest of a migration is not read.
pub(super) const TOO_MANY_CALLS: &str = "a migration with more calls than are read";

/// Calls that take SQL.
const SENDS: &[&str] = &[
    "query",
    "execute",
    "exec",
    "Exec",
    "ExecContext",
    "raw",
    "sql",
    "unsafe",
    "statement",
    "unprepared",
    "addSql",
    "runSql",
    "executeSql",
    "execute_sql",
    "Sql",
];

/// A migration in a language whose own calls are not read: the SQL that it sends.
pub(super) fn extract(text: &str) -> Extract {
    let program = Program::new(text, Syntax::Braces);
    let mut found = Extract {
        partly: vec!["a migration in a programming language: only the SQL in its strings was read"],
        ..Extract::default()
    };
    let mut section = Section::Up;
    let mut downs = false;
    let mut calls = 0;
    for (name, at, open) in program.calls() {
        match last(name).to_ascii_lowercase().as_str() {
            "up" => section = Section::Up,
            "down" => {
                section = Section::Down;
                downs = true;
            }
            _ => {}
        }
        // `exports.down = async function (knex)`, `exports.down = (knex) =>`.
        let back = file_findings::text::floor(program.text, at.saturating_sub(MAX_LINE_BACK));
        let line = program.text.get(back..at).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
        if line.contains("exports.down") || line.contains("const down") || line.contains("function down") {
            section = Section::Down;
            downs = true;
        } else if line.contains("exports.up") || line.contains("const up") || line.contains("function up") {
            section = Section::Up;
        }
        if !SENDS.contains(&last(name)) {
            continue;
        }
        calls += 1;
        if calls > MAX_CALLS {
            found.partly.push(TOO_MANY_CALLS);
            break;
        }
        let arguments = program.group(open);
        if let Some((start, sql)) = program.strings_in(arguments).next() {
            found.fragments.push(Fragment { sql: sql.to_owned(), line: program.line(start), section });
        }
    }
    found.down = Some(downs).filter(|downs| *downs);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_in_strings_is_found_with_its_line_and_way() {
        let text = "export class A {\n  // query('no')\n  async up(q) {\n    await q.query(`ALTER TABLE a\n DROP b`);\n  }\n  async down(q) { await q.query('DROP TABLE a'); }\n}";
        let found = extract(text).fragments;
        let told: Vec<_> = found.iter().map(|f| (f.line, f.section, f.sql.as_str())).collect();
        assert_eq!(told, [(4, Section::Up, "ALTER TABLE a\n DROP b"), (7, Section::Down, "DROP TABLE a")]);
    }

    #[test]
    fn what_is_never_closed_ends_with_the_text() {
        for text in ["<<A", "<<A\n", "<<A<<A\n<<A\n", "a(<<A, 'x')\nit's\nA\n'y'", "'", "\"\"\"", "/*", "`", "'\\"] {
            for syntax in [Syntax::Python, Syntax::Ruby, Syntax::Braces] {
                let program = Program::new(text, syntax);
                assert_eq!(program.code.len(), text.len());
                assert!(program.strings.iter().all(|string| text.get(string.clone()).is_some()), "{text:?}");
            }
        }
        let program = Program::new("a(<<A, 'x')\nit's\nA\nb('y')", Syntax::Ruby);
        let strings: Vec<_> = program.strings.iter().map(|s| &program.text[s.clone()]).collect();
        assert_eq!(strings, ["x", "it's\n", "y"]);
    }

    #[test]
    fn a_heredoc_is_a_string() {
        let program = Program::new("a(<<~SQL, 1)\n  DROP TABLE x;\nSQL\nb('y')\n", Syntax::Ruby);
        let strings: Vec<_> = program.strings.iter().map(|s| &program.text[s.clone()]).collect();
        assert_eq!(strings, ["  DROP TABLE x;\n", "y"]);
    }
}
