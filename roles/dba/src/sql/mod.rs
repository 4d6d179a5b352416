//! SQL as statements of tokens.
//!
//! There is no grammar here, since migrations are written in five dialects and half of their statements are extensions of one of
//! them. What a rule needs to know of a statement is at its beginning and in a few words outside of parentheses; what it must never do is take
//! a word of a comment or a string for one of those. So the lexer is exact, and the rest is reading words in order.

mod cursor;
mod lex;
mod split;

pub(crate) use cursor::{Cursor, Name, split as split_list};
pub(crate) use split::{Script, Section, TOO_MANY, read};

/// The kind of database that a script is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// PostgreSQL and what speaks its language.
    Postgres,
    /// MySQL and MariaDB.
    MySql,
    /// SQLite.
    Sqlite,
    /// Microsoft SQL Server.
    SqlServer,
}

impl Dialect {
    /// As a reader knows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::MySql => "MySQL",
            Self::Sqlite => "SQLite",
            Self::SqlServer => "SQL Server",
        }
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes; the text is without them.
    Quoted,
    /// A string; the text is without its quotes, as it is written.
    Text,
    /// A string in dollar quotes.
    Body,
    /// A number.
    Number,
    /// Any other character.
    Sign,
}

/// A token with its 1-based line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
    pub(crate) line: u32,
}

impl Token<'_> {
    /// Whether it is this keyword.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether it is this sign.
    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }
}

/// A statement: its tokens without the `;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement<'t> {
    pub(crate) tokens: Vec<Token<'t>>,
    /// Part of the way back.
    pub(crate) section: Section,
}

impl<'t> Statement<'t> {
    /// The line of its first token.
    pub(crate) fn line(&self) -> u32 {
        self.tokens.first().map_or(1, |token| token.line)
    }

    /// The statement, read from its beginning.
    pub(crate) fn cursor(&self) -> Cursor<'_, 't> {
        Cursor::new(&self.tokens)
    }

    /// Whether it begins with these keywords.
    pub(crate) fn begins(&self, words: &[&str]) -> bool {
        self.cursor().eat(words)
    }

    /// Whether a keyword stands anywhere in it.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.tokens.iter().any(|token| token.is(word))
    }

    /// Whether keywords stand in it one behind the other.
    pub(crate) fn has_all(&self, words: &[&str]) -> bool {
        has_all(&self.tokens, words)
    }
}

/// Whether keywords stand in `tokens` one behind the other.
pub(crate) fn has_all(tokens: &[Token<'_>], words: &[&str]) -> bool {
    tokens.windows(words.len().max(1)).any(|run| run.iter().zip(words).all(|(token, word)| token.is(word)))
}
