//! Reads the words of a statement in order.

use super::{Kind, Token};
use crate::limits::MAX_NAME_CHARS;

/// The name of a table, column or other object, without its schema and its quotes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(pub(crate) String);

impl Name {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect())
    }

    /// For comparing: databases fold the case of names in different ways, and a hazard is not missed for that.
    pub(crate) fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

/// A place in the tokens of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'s, 't> {
    tokens: &'s [Token<'t>],
}

impl<'s, 't> Cursor<'s, 't> {
    pub(crate) fn new(tokens: &'s [Token<'t>]) -> Self {
        Self { tokens }
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'s [Token<'t>] {
        self.tokens
    }

    pub(crate) fn peek(&self) -> Option<&'s Token<'t>> {
        self.tokens.first()
    }

    pub(crate) fn skip(&mut self) {
        self.tokens = self.tokens.get(1..).unwrap_or_default();
    }

    /// Passes these keywords when they stand here one behind the other.
    pub(crate) fn eat(&mut self, words: &[&str]) -> bool {
        let here =
            self.tokens.len() >= words.len() && self.tokens.iter().zip(words).all(|(token, word)| token.is(word));
        if here {
            self.tokens = self.tokens.get(words.len()..).unwrap_or_default();
        }
        here
    }

    /// Passes one of these keywords.
    pub(crate) fn eat_any(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.eat(&[word]))
    }

    /// Passes a sign.
    pub(crate) fn eat_sign(&mut self, sign: &str) -> bool {
        let here = self.peek().is_some_and(|token| token.is_sign(sign));
        if here {
            self.skip();
        }
        here
    }

    /// Passes a name with its schema, and gives its last part.
    pub(crate) fn name(&mut self) -> Option<Name> {
        let mut last = None;
        loop {
            let token = self.peek().filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted | Kind::Text))?;
            last.replace(Name::new(token.text));
            self.skip();
            if !self.eat_sign(".") {
                return last;
            }
        }
    }

    /// Passes what stands in parentheses here, and gives it without them. Unclosed ones reach to the end.
    pub(crate) fn group(&mut self) -> Option<&'s [Token<'t>]> {
        if !self.peek()?.is_sign("(") {
            return None;
        }
        let mut depth = 0usize;
        for (at, token) in self.tokens.iter().enumerate() {
            if token.is_sign("(") {
                depth += 1;
            } else if token.is_sign(")") {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    let inside = self.tokens.get(1..at).unwrap_or_default();
                    self.tokens = self.tokens.get(at + 1..).unwrap_or_default();
                    return Some(inside);
                }
            }
        }
        let inside = self.tokens.get(1..).unwrap_or_default();
        self.tokens = &[];
        Some(inside)
    }

    /// The parts of the rest between the commas that stand in no parentheses.
    pub(crate) fn parts(&self) -> Vec<&'s [Token<'t>]> {
        split(self.tokens)
    }

    /// The tokens of the rest that stand in no parentheses.
    pub(crate) fn outside(&self) -> impl Iterator<Item = &'s Token<'t>> {
        let mut depth = 0usize;
        self.tokens.iter().filter(move |token| {
            if token.is_sign("(") {
                depth += 1;
            } else if token.is_sign(")") {
                depth = depth.saturating_sub(1);
            }
            depth == 0
        })
    }
}

/// The parts of `tokens` between the commas that stand in no parentheses.
pub(crate) fn split<'s, 't>(tokens: &'s [Token<'t>]) -> Vec<&'s [Token<'t>]> {
    let (mut depth, mut start, mut parts) = (0usize, 0usize, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        if token.is_sign("(") {
            depth += 1;
        } else if token.is_sign(")") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && token.is_sign(",") {
            parts.push(tokens.get(start..at).unwrap_or_default());
            start = at + 1;
        }
    }
    parts.push(tokens.get(start..).unwrap_or_default());
    parts
}
