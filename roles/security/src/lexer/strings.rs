//! Strings, templates and regular expressions, language by language.

use super::{Frame, Lexer};
use crate::language::Language;
use crate::limits::MAX_TEMPLATE_DEPTH;
use crate::source::{Literal, is_name};

/// Bytes of a regular expression that are read; without a bound, a line of unclosed ones would be read over and over.
const MAX_REGEX_BYTES: usize = 2 * 1024;

impl Lexer<'_> {
    pub(super) fn string_here(&mut self) -> bool {
        let b = self.byte(self.at);
        match self.language {
            Language::Python => matches!(b, b'"' | b'\'') && self.python(b),
            Language::JavaScript => match b {
                b'"' | b'\'' => self.simple(b, true),
                b'`' => self.template_start(b),
                b'/' => self.regex(),
                _ => false,
            },
            Language::Rust => self.rust(b),
            Language::Go => match b {
                b'"' | b'\'' => self.simple(b, true),
                b'`' => self.until(1, "`", false),
                _ => false,
            },
            Language::C => self.c(b),
            Language::Java => match b {
                b'"' if self.starts(self.at, "\"\"\"") => self.until(3, "\"\"\"", false),
                b'"' | b'\'' => self.simple(b, true),
                _ => false,
            },
            Language::Php => match b {
                b'"' | b'\'' | b'`' => self.simple(b, false),
                b'<' if self.starts(self.at, "<<<") => self.here_document_start(3),
                _ => false,
            },
            Language::Ruby => self.ruby(b),
            Language::Shell => self.shell(b),
        }
    }

    /// A string that opens with `open` bytes and closes with `close`, without escapes.
    fn until(&mut self, open: usize, close: &str, dynamic: bool) -> bool {
        let start = self.at + open;
        let end = self.find(start, self.bytes.len(), close).unwrap_or(self.bytes.len());
        let next = (end + close.len()).min(self.bytes.len());
        let dynamic = dynamic
            || (self.language == Language::Java && self.bytes.get(start..end).is_some_and(|s| s.contains(&b'$')));
        self.literal(start..end, dynamic, next);
        true
    }

    /// A string with backslash escapes; with `one_line` it ends at the line's end at the latest.
    fn simple(&mut self, quote: u8, one_line: bool) -> bool {
        let start = self.at + 1;
        let (end, next) = self.close(start, quote, one_line);
        let inside = self.bytes.get(start..end).unwrap_or_default();
        let dynamic = match self.language {
            // Kotlin, Scala and Groovy; a `$` in Java is rare and only makes a string suspicious.
            Language::Java => {
                quote == b'"' && inside.windows(2).any(|w| w[0] == b'$' && (w[1] == b'{' || w[1].is_ascii_alphabetic()))
            }
            Language::Php => {
                quote != b'\''
                    && inside
                        .windows(2)
                        .any(|w| w[0] == b'$' && (w[1].is_ascii_alphabetic() || w[1] == b'{' || w[1] == b'_'))
            }
            _ => false,
        };
        self.literal(start..end, dynamic, next);
        true
    }

    /// The end of a string's content and what comes behind its quote.
    fn close(&self, start: usize, quote: u8, one_line: bool) -> (usize, usize) {
        let mut at = start;
        while at < self.bytes.len() {
            match self.byte(at) {
                b'\\' => at += 2,
                b'\n' if one_line => return (at, at),
                b if b == quote => return (at, at + 1),
                _ => at += 1,
            }
        }
        (self.bytes.len(), self.bytes.len())
    }

    fn python(&mut self, quote: u8) -> bool {
        let triple = self.byte(self.at + 1) == quote && self.byte(self.at + 2) == quote;
        let prefix: Vec<u8> =
            if self.word.end == self.at { self.bytes[self.word.clone()].to_ascii_lowercase() } else { Vec::new() };
        let formatted = prefix.len() <= 2 && prefix.contains(&b'f');
        let start = self.at + if triple { 3 } else { 1 };
        let (end, next) = if triple {
            let mut at = start;
            loop {
                match self.bytes.get(at) {
                    None => break (self.bytes.len(), self.bytes.len()),
                    Some(b'\\') => at += 2,
                    Some(&b) if b == quote && self.byte(at + 1) == quote && self.byte(at + 2) == quote => {
                        break (at, at + 3);
                    }
                    Some(_) => at += 1,
                }
            }
        } else {
            self.close(start, quote, true)
        };
        let inside = self.bytes.get(start..end).unwrap_or_default();
        // `{{` is a brace; `{x}` is a value.
        let dynamic = formatted
            && inside.iter().enumerate().any(|(n, &b)| {
                b == b'{' && inside.get(n + 1) != Some(&b'{') && (n == 0 || inside.get(n - 1) != Some(&b'{'))
            });
        self.literal(start..end, dynamic, next);
        true
    }

    fn template_start(&mut self, quote: u8) -> bool {
        self.at += 1;
        self.template(quote, self.at, false);
        true
    }

    /// The rest of a template string: up to its quote, or up to the code inside it.
    pub(super) fn template(&mut self, quote: u8, start: usize, dynamic: bool) {
        let mark = if self.language == Language::Ruby { b'#' } else { b'$' };
        let from = self.at;
        let mut at = from;
        while at < self.bytes.len() {
            match self.byte(at) {
                b'\\' => at += 2,
                b if b == quote => {
                    self.blank(from..at);
                    self.literals.push(Literal { span: start..at, dynamic });
                    self.last = b'"';
                    self.at = at + 1;
                    return;
                }
                b if b == mark && self.byte(at + 1) == b'{' && self.frames.len() < MAX_TEMPLATE_DEPTH => {
                    self.blank(from..at + 1);
                    self.frames.push(Frame { quote, start, depth: 0 });
                    self.last = b'(';
                    self.at = at + 2;
                    return;
                }
                _ => at += 1,
            }
        }
        self.blank(from..self.bytes.len());
        self.literals.push(Literal { span: start..self.bytes.len(), dynamic });
        self.at = self.bytes.len();
    }

    /// A regular expression, where a `/` cannot be a division.
    fn regex(&mut self) -> bool {
        let value_before = is_name(self.last) || matches!(self.last, b')' | b']' | b'}' | b'"');
        let keyword = matches!(
            self.bytes.get(self.word.clone()).unwrap_or_default(),
            b"return"
                | b"typeof"
                | b"case"
                | b"in"
                | b"of"
                | b"when"
                | b"and"
                | b"or"
                | b"if"
                | b"unless"
                | b"not"
                | b"split"
                | b"match"
        );
        if value_before && !(self.last == b'a' && keyword) {
            return false;
        }
        let mut class = false;
        let mut at = self.at + 1;
        while at < self.bytes.len().min(self.at + MAX_REGEX_BYTES) {
            match self.byte(at) {
                b'\\' => at += 1,
                b'\n' => return false,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    let start = self.at + 1;
                    self.literal(start..at, false, at + 1);
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    fn rust(&mut self, b: u8) -> bool {
        match b {
            b'"' => {
                let hashes = self.bytes[..self.at].iter().rev().take_while(|&&b| b == b'#').count();
                let before = self.byte(self.at.wrapping_sub(hashes + 1));
                let raw = self.word.end + hashes == self.at
                    && matches!(self.bytes.get(self.word.clone()), Some(b"r" | b"br" | b"cr"))
                    && matches!(before, b'r');
                if raw {
                    let close = format!("\"{}", "#".repeat(hashes));
                    return self.until(1, &close, false);
                }
                self.simple(b'"', false)
            }
            b'\'' => {
                let next = self.byte(self.at + 1);
                let width = match next {
                    b'\\' => self.close(self.at + 1, b'\'', true).1.saturating_sub(self.at + 2),
                    0xF0.. => 4,
                    0xE0.. => 3,
                    0xC0.. => 2,
                    _ => 1,
                };
                // `'a'` is a character, `'a` a lifetime.
                if self.byte(self.at + 1 + width) == b'\'' && next != b'\'' {
                    let start = self.at + 1;
                    self.literal(start..start + width, false, start + width + 1);
                    return true;
                }
                false
            }
            _ => false,
        }
    }

    fn c(&mut self, b: u8) -> bool {
        match b {
            b'"' if self.word.end == self.at
                && self
                    .bytes
                    .get(self.word.clone())
                    .is_some_and(|w| matches!(w, b"R" | b"LR" | b"uR" | b"UR" | b"u8R")) =>
            {
                let open = (self.at + 1..self.bytes.len().min(self.at + 18)).find(|&at| self.byte(at) == b'(');
                let Some(open) = open else { return self.simple(b, true) };
                let delimiter = String::from_utf8_lossy(&self.bytes[self.at + 1..open]).into_owned();
                self.until(open + 1 - self.at, &format!("){delimiter}\""), false)
            }
            // `1'000'000`
            b'\'' if self.word.end == self.at && self.byte(self.word.start).is_ascii_digit() => false,
            b'"' | b'\'' => self.simple(b, true),
            _ => false,
        }
    }

    fn ruby(&mut self, b: u8) -> bool {
        match b {
            b'\'' => self.simple(b, false),
            b'"' | b'`' => self.template_start(b),
            b'/' => self.regex(),
            b'<' if self.starts(self.at, "<<~") || self.starts(self.at, "<<-") => self.here_document_start(3),
            b'<' if self.starts(self.at, "<<") && self.byte(self.at + 2).is_ascii_uppercase() => {
                self.here_document_start(2)
            }
            b'%' if matches!(self.byte(self.at + 1), b'w' | b'i' | b'q' | b'W' | b'I' | b'Q') => {
                let close = match self.byte(self.at + 2) {
                    b'(' => ")",
                    b'[' => "]",
                    b'{' => "}",
                    b'<' => ">",
                    b'|' => "|",
                    _ => return false,
                };
                self.until(3, close, false)
            }
            _ => false,
        }
    }

    fn shell(&mut self, b: u8) -> bool {
        match b {
            b'\'' => self.until(1, "'", false),
            b'"' => {
                let start = self.at + 1;
                let end = self.shell_close(start);
                let dynamic = self.bytes.get(start..end).is_some_and(|s| s.contains(&b'$') || s.contains(&b'`'));
                let next = (end + 1).min(self.bytes.len());
                self.literal(start..end, dynamic, next);
                true
            }
            b'<' if self.starts(self.at, "<<<") => {
                self.at += 3;
                true
            }
            b'<' if self.starts(self.at, "<<") => {
                self.here_document_start(if self.byte(self.at + 2) == b'-' { 3 } else { 2 })
            }
            _ => false,
        }
    }

    /// The end of a double-quoted string of a shell, in which `$(…)` may hold quotes of its own.
    fn shell_close(&self, start: usize) -> usize {
        let (mut at, mut depth) = (start, 0usize);
        while at < self.bytes.len() {
            match self.byte(at) {
                b'\\' => at += 1,
                b'$' if self.byte(at + 1) == b'(' => {
                    depth += 1;
                    at += 1;
                }
                b'(' if depth > 0 => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b'"' if depth == 0 => return at,
                _ => {}
            }
            at += 1;
        }
        self.bytes.len()
    }
}
