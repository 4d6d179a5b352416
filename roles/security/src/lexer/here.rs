//! Here-documents of shells, Ruby and PHP.

use super::Lexer;
use crate::language::Language;
use crate::source::is_name;

impl Lexer<'_> {
    /// Notes the name of a here-document; its text starts on the next line.
    pub(super) fn here_document_start(&mut self, sign: usize) -> bool {
        let mut at = self.at + sign;
        while self.byte(at) == b' ' {
            at += 1;
        }
        let quoted = matches!(self.byte(at), b'"' | b'\'' | b'`');
        at += usize::from(quoted);
        let start = at;
        while at < self.bytes.len() && is_name(self.byte(at)) {
            at += 1;
        }
        if at == start || self.byte(start).is_ascii_digit() {
            return false;
        }
        let indented = sign == 3 || self.language != Language::Shell;
        self.heredocs.push((start..at, indented));
        self.at = at + usize::from(quoted);
        true
    }

    /// The here-documents whose names stood on the line before.
    pub(super) fn here_documents(&mut self) {
        for (name, indented) in std::mem::take(&mut self.heredocs) {
            let start = self.at;
            let name = self.bytes.get(name).unwrap_or_default();
            let mut line = start;
            let end = loop {
                if line >= self.bytes.len() {
                    break self.bytes.len();
                }
                let end = self.line_end(line);
                let text = self.bytes.get(line..end).unwrap_or_default();
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                let text = if indented { text.trim_ascii_start() } else { text };
                let is_end = text.strip_prefix(name).is_some_and(|rest| !rest.first().is_some_and(|&b| is_name(b)));
                if is_end {
                    self.at = end;
                    break line;
                }
                line = end + 1;
            };
            let inside = self.bytes.get(start..end).unwrap_or_default();
            let dynamic = inside.windows(2).any(|w| matches!(w, [b'$', _] | [b'#', b'{'] | [b'{', b'$']));
            let next = if end == self.bytes.len() { end } else { self.at };
            self.literal(start..end, dynamic, next);
        }
    }
}
