//! The layouts without braces: indented blocks, and statements that declare.

use super::pieces::Token;
use super::tokens::Reader;

impl Reader<'_> {
    /// Definitions of a language whose blocks are indented: each is inside the last one that is indented less.
    pub(super) fn indented(&mut self) {
        let mut open: Vec<(u32, usize)> = Vec::new();
        let mut start = true;
        let mut last_line = 1;
        let mut at = 0;
        while at < self.pieces.len() {
            let fresh = std::mem::take(&mut start);
            if self.token(at) == Token::Newline {
                start = true;
                at += 1;
                continue;
            }
            if !fresh {
                at += 1;
                continue;
            }
            let line = self.line(at);
            let indent = self.indent(at);
            let word = self.word(at).unwrap_or("");
            // A line that is indented as a definition or less ends it, unless it is that definition's own `end` or bracket.
            let closes = word == "end" || self.token(at) == Token::Close;
            while let Some((_, index)) = open.pop_if(|(other, _)| *other >= indent) {
                self.found[index].end = if closes { line } else { last_line.max(self.found[index].line) };
            }
            last_line = line;
            at = self.indented_line(at, indent, &mut open).max(at + 1);
        }
        for (_, index) in open {
            self.found[index].end = last_line.max(self.found[index].line);
        }
    }

    fn indent(&self, at: usize) -> u32 {
        let start = self.pieces[at].start as usize;
        let begin = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        (start - begin) as u32
    }

    fn indented_line(&mut self, at: usize, indent: u32, open: &mut Vec<(u32, usize)>) -> usize {
        let mut at = at;
        // Python's `async def`, Ruby's `private def`.
        if matches!(self.word(at), Some("async" | "private" | "public" | "protected" | "private_class_method")) {
            at += 1;
        }
        let Some(word) = self.word(at) else { return at + 1 };
        let container = open.last().map(|(_, index)| self.as_container(*index));
        let index = if let Some(kind) = self.declares(word) {
            let mut name_at = at + 1;
            while self.token(name_at + 1) == Token::Member && self.word(name_at + 2).is_some() {
                name_at += 2;
            }
            let Some(name) = self.word(name_at).filter(|name| *name != "self") else { return at + 1 };
            self.define(name.to_owned(), kind, container, name_at)
        } else if self.table.test_words.contains(&word) && self.token(at + 1) == Token::Text {
            let before = self.found.len();
            self.test_call(at);
            if self.found.len() == before {
                return at + 1;
            }
            self.found[before].container = container.map(|container| container.name);
            before
        } else {
            return at + 1;
        };
        open.push((indent, index));
        at + 1
    }

    /// `create or replace table if not exists a.b (`.
    pub(super) fn statements(&mut self) {
        let mut creating = false;
        let mut last: Option<usize> = None;
        let mut at = 0;
        while at < self.pieces.len() {
            match self.token(at) {
                Token::Semicolon => {
                    creating = false;
                    if let Some(index) = last.take() {
                        self.found[index].end = self.line(at);
                    }
                }
                Token::Word => {
                    let word = self.word(at).unwrap_or("");
                    creating |= word.eq_ignore_ascii_case("create") || word.eq_ignore_ascii_case("alter");
                    if creating && let Some(kind) = self.declares(word) {
                        let altered = self
                            .before(at)
                            .and_then(|before| self.word(before))
                            .is_some_and(|before| before.eq_ignore_ascii_case("alter"));
                        creating = false;
                        let mut name = self.skip(at + 1);
                        while ["if", "not", "exists", "concurrently", "only"]
                            .iter()
                            .any(|word| self.word(name).is_some_and(|found| found.eq_ignore_ascii_case(word)))
                        {
                            name = self.skip(name + 1);
                        }
                        while self.token(name) == Token::Mark {
                            name += 1;
                        }
                        while self.token(name + 1) == Token::Member && self.word(name + 2).is_some() {
                            name += 2;
                        }
                        if let Some(text) = self.word(name)
                            && !altered
                        {
                            last = Some(self.define(text.to_owned(), kind, None, name));
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}
