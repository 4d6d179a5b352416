//! A text as tokens, by what a table says of its comments and strings.

use std::ops::Range;

use logos::{Lexer, Logos};

use super::tables::{Quote, Table};

/// Most tokens of one file that are looked at; a file of [`crate::limits::MAX_FILE_BYTES`] can have no more.
const MAX_TOKENS: usize = crate::limits::MAX_FILE_BYTES as usize;

/// What the tokenizer tells apart.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\f]+")]
pub(super) enum Token {
    #[regex(r"[A-Za-z_$\u{80}-\u{10FFFF}][A-Za-z0-9_$\u{80}-\u{10FFFF}]*")]
    Word,
    #[regex(r"[0-9][A-Za-z0-9_]*")]
    Number,
    #[token("\n")]
    Newline,
    #[regex(r"[(\[]")]
    Open,
    #[regex(r"[)\]]")]
    Close,
    #[token("{")]
    Begin,
    #[token("}")]
    End,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token("::")]
    #[token(".")]
    Member,
    #[token("->")]
    #[token("=>")]
    Arrow,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("=")]
    Equals,
    #[token("@")]
    At,
    #[token("#")]
    Hash,
    // The beginnings of comments and strings are looked at in the table; here they are only kept apart from what is around.
    #[token("/")]
    #[token("-")]
    #[token("\"")]
    #[token("'")]
    #[token("`")]
    Mark,
    #[regex(r"[:*&~!?+%^|\\]")]
    Other,
    Text,
}

/// A token and where it is, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) token: Token,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The tokens of a text without its comments; a string is one token.
pub(super) fn pieces(table: &Table, text: &str, comments: &mut Vec<Range<usize>>) -> Vec<Piece> {
    let mut found: Vec<Piece> = Vec::new();
    let mut lexer: Lexer<Token> = Token::lexer(text);
    while let Some(token) = lexer.next() {
        if found.len() >= MAX_TOKENS {
            break;
        }
        let Range { start, end } = lexer.span();
        let rest = &text[start..];
        let width = match token {
            Ok(Token::Mark | Token::Hash | Token::Newline) => comment(table, rest, start == 0),
            _ => None,
        };
        if let Some(width) = width {
            comments.push(start..start + width);
            lexer.bump(width.saturating_sub(end - start));
            if token == Ok(Token::Newline) {
                found.push(Piece { token: Token::Newline, start: start as u32, end: end as u32 });
            }
            continue;
        }
        let token = token.unwrap_or(Token::Other);
        if token == Token::Mark
            && let Some(quote) = table.quotes.iter().find(|quote| rest.starts_with(quote.open))
        {
            let width = string(quote, rest);
            lexer.bump(width - (end - start));
            found.push(Piece { token: Token::Text, start: start as u32, end: (start + width) as u32 });
            continue;
        }
        if token == Token::Mark
            && let Some(width) = character(rest)
        {
            lexer.bump(width - (end - start));
            found.push(Piece { token: Token::Text, start: start as u32, end: (start + width) as u32 });
            continue;
        }
        if table.dashes
            && rest.starts_with('-')
            && let Some(last) = found.last_mut()
            && last.token == Token::Word
            && last.end as usize == start
        {
            last.end = end as u32;
            continue;
        }
        if table.dashes
            && token == Token::Word
            && let Some(last) = found.last_mut()
            && last.token == Token::Word
            && last.end as usize == start
        {
            last.end = end as u32;
            continue;
        }
        found.push(Piece { token, start: start as u32, end: end as u32 });
    }
    found
}

/// The width of a comment that begins here.
fn comment(table: &Table, rest: &str, at_start: bool) -> Option<usize> {
    if let Some((open, close)) = table.block_comment
        && (rest.starts_with(open) || (at_start && rest.starts_with(open.trim_start())))
    {
        return Some(if table.nested_comments {
            nested(rest, open, close)
        } else {
            rest[open.len().min(rest.len())..].find(close).map_or(rest.len(), |end| open.len() + end + close.len())
        });
    }
    if table.line_comments.iter().any(|open| rest.starts_with(open)) {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    None
}

fn nested(rest: &str, open: &str, close: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    let bytes = rest.as_bytes();
    while at < bytes.len() {
        if bytes[at..].starts_with(open.as_bytes()) {
            depth += 1;
            at += open.len();
        } else if bytes[at..].starts_with(close.as_bytes()) {
            depth -= 1;
            at += close.len();
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// The width of a string, with its quotes. One that does not end where it must is as long as its opening: an apostrophe.
fn string(quote: &Quote, rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = quote.open.len();
    while at < bytes.len() {
        if bytes[at..].starts_with(quote.close.as_bytes()) {
            return at + quote.close.len();
        }
        match bytes[at] {
            b'\\' if quote.escapes => {
                // The character after it may be longer than a byte.
                at += 1 + rest[at + 1..].chars().next().map_or(0, char::len_utf8);
            }
            b'\n' if !quote.lines => break,
            _ => at += 1,
        }
    }
    quote.open.len()
}

/// The width of a character between single quotes, where the language has no longer strings of that kind: Rust's `'{'`, but not its `'a`.
fn character(rest: &str) -> Option<usize> {
    let mut characters = rest.strip_prefix('\'')?.chars();
    let first = characters.next()?;
    let escaped = if first == '\\' { characters.next()?.len_utf8() } else { 0 };
    (characters.next()? == '\'').then(|| 2 + first.len_utf8() + escaped)
}
