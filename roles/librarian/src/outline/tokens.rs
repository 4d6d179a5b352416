//! Definitions of languages that have no parser here, by a tokenizer and a table.
//!
//! It knows comments, strings, brackets and the words that declare something; it does not know grammar. It never recurses, so it also takes
//! the files that a parser cannot.

use std::ops::Range;

use logos::{Lexer, Logos};

use super::{Definition, Found, Kind, Lines};

/// Most tokens of one file that are looked at; a file of [`crate::limits::MAX_FILE_BYTES`] can have no more.
const MAX_TOKENS: usize = crate::limits::MAX_FILE_BYTES as usize;

/// Deepest nesting of braces of which the names are kept.
const MAX_FRAMES: usize = 4_096;

/// How a language shows where a definition ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// By braces.
    Braces,
    /// By indentation, or by an `end` that has the same.
    Indent,
    /// By the end of a statement; `create` begins one that declares.
    Statements,
}

/// A kind of string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    /// What begins it.
    pub open: &'static str,
    /// What ends it.
    pub close: &'static str,
    /// Whether a backslash takes the next character out.
    pub escapes: bool,
    /// Whether it may go over lines; one that may not ends with its line.
    pub lines: bool,
}

/// A language.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// What begins a comment that ends with its line.
    pub line_comments: &'static [&'static str],
    /// What begins and ends a comment.
    pub block_comment: Option<(&'static str, &'static str)>,
    /// Whether block comments nest.
    pub nested_comments: bool,
    /// Longer openings first.
    pub quotes: &'static [Quote],
    /// Words that declare the name after them.
    pub declare: &'static [(&'static str, Kind)],
    /// Those of `declare` that only declare when a body follows: C's `struct a *b` is a use.
    pub body_needed: &'static [&'static str],
    /// Where a definition ends.
    pub layout: Layout,
    /// Whether a name with brackets and a body is a function: `int main(void) {`.
    pub bare_functions: bool,
    /// Whether a function may name its receiver: Go's `func (a *A) b`, Kotlin's `fun A.b`.
    pub receivers: bool,
    /// Whether `#define` declares.
    pub define_macros: bool,
    /// Whether `typedef` declares the last name before its `;`.
    pub typedefs: bool,
    /// Whether a name may have `-` inside.
    pub dashes: bool,
    /// Whether `const a = (…) =>` declares a function.
    pub assigned_functions: bool,
    /// Whether words are the same in capitals.
    pub any_case: bool,
    /// Functions whose call with a text is a test: Ruby's `it "…" do`.
    pub test_words: &'static [&'static str],
    /// Annotations of tests, without `@` or brackets.
    pub test_marks: &'static [&'static str],
    /// What the name of a test function begins with.
    pub test_prefix: &'static str,
}

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\f]+")]
enum Token {
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

#[derive(Clone, Copy, Debug)]
struct Piece {
    token: Token,
    start: u32,
    end: u32,
}

/// Reads a text by a table.
pub fn outline(table: &Table, text: &str) -> Found {
    let mut comments = Vec::new();
    let pieces = pieces(table, text, &mut comments);
    let mut reader = Reader {
        table, text, pieces, lines: Lines::new(text), found: Vec::new(), frames: Vec::new(), pending: None, marked: false, declared: None,
    };
    match table.layout {
        Layout::Indent => reader.indented(),
        Layout::Braces => reader.braced(),
        Layout::Statements => reader.statements(),
    }
    let Reader { lines, mut found, .. } = reader;
    for definition in &mut found {
        definition.top = super::comment_top(&lines, text, &comments, definition.line).min(definition.line);
    }
    Found { definitions: found, comments }
}

/// The tokens of a text without its comments; a string is one token.
fn pieces(table: &Table, text: &str, comments: &mut Vec<Range<usize>>) -> Vec<Piece> {
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
        return Some(if table.nested_comments { nested(rest, open, close) } else { rest[open.len().min(rest.len())..].find(close).map_or(rest.len(), |end| open.len() + end + close.len()) });
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

/// An open brace.
#[derive(Debug)]
struct Frame {
    /// The definition it is the body of.
    definition: Option<usize>,
    /// Whether declarations inside are declarations, rather than a function's own business.
    container: bool,
}

struct Reader<'a> {
    table: &'a Table,
    text: &'a str,
    pieces: Vec<Piece>,
    lines: Lines,
    found: Vec<Definition>,
    frames: Vec<Frame>,
    /// A definition whose body has not begun.
    pending: Option<usize>,
    /// Whether an annotation of a test was seen since the last definition.
    marked: bool,
    /// Start of a `typedef` that is open, as the number of braces around it.
    declared: Option<usize>,
}

/// Words with brackets and a body after them that are no functions.
const CONTROL: &[&str] = &[
    "if", "for", "while", "switch", "catch", "return", "sizeof", "defined", "synchronized", "using", "lock", "fixed", "foreach", "elif", "else", "do", "when", "match", "try", "with",
    "throw", "new", "delete", "case", "function", "super", "this", "await", "typeof", "constexpr", "requires", "decltype", "alignas", "__attribute__", "unless", "until", "assert",
];

impl<'a> Reader<'a> {
    fn word(&self, at: usize) -> Option<&'a str> {
        let piece = self.pieces.get(at)?;
        (piece.token == Token::Word).then(|| &self.text[piece.start as usize..piece.end as usize])
    }

    fn token(&self, at: usize) -> Token {
        self.pieces.get(at).map_or(Token::Semicolon, |piece| piece.token)
    }

    /// The token before `at`, newlines left out.
    fn before(&self, at: usize) -> Option<usize> {
        (0..at).rev().find(|index| self.pieces[*index].token != Token::Newline)
    }

    /// The first place from `at` on that is no newline.
    fn skip(&self, mut at: usize) -> usize {
        while self.token(at) == Token::Newline && at < self.pieces.len() {
            at += 1;
        }
        at
    }

    /// The place after the bracket that closes the one at `at`.
    fn after_brackets(&self, at: usize) -> usize {
        let mut depth = 0usize;
        for (index, piece) in self.pieces.iter().enumerate().skip(at) {
            match piece.token {
                Token::Open => depth += 1,
                Token::Close => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return index + 1;
                    }
                }
                // A bracket that never closes must not swallow the file.
                Token::End | Token::Semicolon if depth <= 1 && self.table.layout == Layout::Braces => return index,
                _ => {}
            }
        }
        self.pieces.len()
    }

    fn line(&self, at: usize) -> u32 {
        self.lines.of(self.pieces[at].start as usize)
    }

    fn container(&self) -> Option<String> {
        let frame = self.frames.iter().rev().find_map(|frame| frame.definition)?;
        Some(self.found[frame].name.clone())
    }

    fn in_container(&self) -> bool {
        self.frames.last().is_none_or(|frame| frame.container)
    }

    fn declares(&self, word: &str) -> Option<Kind> {
        let same = |known: &str| if self.table.any_case { known.eq_ignore_ascii_case(word) } else { known == word };
        self.table.declare.iter().find(|(known, _)| same(known)).map(|(_, kind)| *kind)
    }

    fn define(&mut self, name: String, mut kind: Kind, container: Option<String>, at: usize) -> usize {
        let test = std::mem::take(&mut self.marked) || (!self.table.test_prefix.is_empty() && name.starts_with(self.table.test_prefix) && kind == Kind::Function);
        if kind == Kind::Function && container.is_some() && self.found.iter().rev().any(|other| Some(&other.name) == container.as_ref() && is_type(other.kind)) {
            kind = Kind::Method;
        }
        if test && matches!(kind, Kind::Function | Kind::Method) {
            kind = Kind::Test;
        }
        let line = self.line(at);
        self.found.push(Definition { name, kind, container, line, top: line, end: line, test });
        self.found.len() - 1
    }

    fn braced(&mut self) {
        let mut at = 0;
        while at < self.pieces.len() {
            let next = at + 1;
            match self.token(at) {
                Token::Begin => self.begin(at),
                Token::End => self.end(at),
                Token::Semicolon => {
                    self.pending = None;
                    self.typedef_ends(at);
                }
                // `fun a() = 1`: braces after it are another's.
                Token::Equals => self.pending = None,
                Token::Hash if self.table.define_macros && self.starts_line(at) => {
                    at = self.directive(at);
                    continue;
                }
                Token::At | Token::Open | Token::Hash => self.mark(at),
                Token::Word => {
                    at = self.braced_word(at).max(next);
                    continue;
                }
                _ => {}
            }
            at = next;
        }
    }

    fn begin(&mut self, at: usize) {
        if self.frames.len() >= MAX_FRAMES {
            return;
        }
        let definition = self.pending.take();
        let container = match definition {
            Some(index) => !matches!(self.found[index].kind, Kind::Function | Kind::Method | Kind::Constant),
            // `extern "C" {`, and Go's `type (`-like blocks; any other brace without a name holds code.
            None => self.before(at).is_some_and(|before| self.token(before) == Token::Text) && self.in_container(),
        };
        self.frames.push(Frame { definition, container });
    }

    fn end(&mut self, at: usize) {
        self.pending = None;
        self.marked = false;
        if let Some(Frame { definition: Some(index), .. }) = self.frames.pop() {
            self.found[index].end = self.line(at);
        }
    }

    /// `@Test`, `[Fact]`, `#[test]`.
    fn mark(&mut self, at: usize) {
        let mut name = at + 1;
        if self.token(at) == Token::Hash && self.token(name) == Token::Open {
            name += 1;
        }
        self.marked |= self.word(name).is_some_and(|word| self.table.test_marks.contains(&word));
    }

    fn starts_line(&self, at: usize) -> bool {
        at == 0 || self.token(at - 1) == Token::Newline
    }

    /// A line of C's preprocessor, with those that a backslash adds to it; the place after it.
    fn directive(&mut self, at: usize) -> usize {
        let mut end = at + 1;
        while end < self.pieces.len() {
            let continued = self.text[..self.pieces[end].start as usize].trim_end_matches([' ', '\t', '\r']).ends_with('\\');
            if self.token(end) == Token::Newline && !continued {
                break;
            }
            end += 1;
        }
        if self.word(at + 1) == Some("define")
            && let Some(name) = self.word(at + 2)
        {
            self.define(name.to_owned(), Kind::Macro, None, at + 2);
        }
        end
    }

    fn typedef_ends(&mut self, at: usize) {
        if self.declared == Some(self.frames.len()) {
            self.declared = None;
            if let Some(before) = self.before(at)
                && let Some(name) = self.word(before)
            {
                self.define(name.to_owned(), Kind::Type, None, before);
            }
        }
    }

    /// A word among braces; the place to go on from.
    fn braced_word(&mut self, at: usize) -> usize {
        let Some(word) = self.word(at) else { return at + 1 };
        let member = self.before(at).is_some_and(|before| self.token(before) == Token::Member);
        if self.table.typedefs && word == "typedef" {
            self.declared = Some(self.frames.len());
            return at + 1;
        }
        if !member && let Some(kind) = self.declares(word) {
            return self.declaration(at, word, kind);
        }
        if self.table.test_words.contains(&word) && !member {
            return self.test_call(at);
        }
        if self.table.assigned_functions && matches!(word, "const" | "let" | "var") && self.in_container() {
            return self.assigned(at);
        }
        if self.table.bare_functions && self.in_container() && self.pending.is_none() && !CONTROL.contains(&word) && self.token(at + 1) == Token::Open {
            return self.bare_function(at, word);
        }
        at + 1
    }

    /// After a word that declares.
    fn declaration(&mut self, at: usize, word: &str, kind: Kind) -> usize {
        let mut name_at = self.skip(at + 1);
        let mut container = self.container();
        if self.table.receivers && matches!(kind, Kind::Function) {
            if self.token(name_at) == Token::Open {
                // Go's receiver, or a function without a name.
                let after = self.after_brackets(name_at);
                let receiver = (name_at..after).filter_map(|index| self.word(index)).take(2).last();
                if self.word(after).is_none() || self.token(after + 1) != Token::Open && self.token(after + 1) != Token::Less {
                    return at + 1;
                }
                container = receiver.map(str::to_owned);
                name_at = after;
            }
            if self.token(name_at) == Token::Less {
                name_at = self.after_angles(name_at);
            }
        }
        if self.token(name_at) == Token::Less && word == "impl" {
            name_at = self.after_angles(name_at);
        }
        // Go's `const (` and `var (`; PHP's `function &a`.
        let Some(mut name) = self.word(name_at) else { return at + 1 };
        // `enum class A`, `data class A` read from `class`.
        if self.declares(name).is_some()
            && let Some(inner) = self.word(name_at + 1)
        {
            name_at += 1;
            name = inner;
        }
        if kind == Kind::Constant && !self.frames.is_empty() || matches!(kind, Kind::Function | Kind::Constant) && !self.in_container() && self.table.receivers {
            return at + 1;
        }
        // A path: the last part is the name, what is before it the container; `namespace A.B` keeps all.
        let mut end = name_at;
        loop {
            // Kotlin's `fun List<T>.second()`.
            let generic = self.table.receivers && self.token(end + 1) == Token::Less;
            let member = if generic { self.after_angles(end + 1) } else { end + 1 };
            if self.token(member) != Token::Member || self.word(member + 1).is_none() {
                break;
            }
            if kind != Kind::Module {
                container = self.word(end).map(str::to_owned);
            }
            end = member + 1;
        }
        let name = if end > name_at && kind == Kind::Module {
            self.text[self.pieces[name_at].start as usize..self.pieces[end].end as usize].to_owned()
        } else {
            self.word(end).unwrap_or(name).to_owned()
        };
        let kind = match self.word(end + 1) {
            Some("struct") if kind == Kind::Type => Kind::Struct,
            Some("interface") if kind == Kind::Type => Kind::Interface,
            _ => kind,
        };
        if self.table.body_needed.contains(&word) && !self.body_follows(end + 1) {
            return end + 1;
        }
        let index = self.define(name, kind, container, end);
        self.pending = Some(index);
        // Default values of parameters are not the `=` of a body.
        let open = if self.token(end + 1) == Token::Less { self.after_angles(end + 1) } else { end + 1 };
        if kind != Kind::Constant && self.token(open) == Token::Open { self.after_brackets(open) } else { end + 1 }
    }

    fn after_angles(&self, at: usize) -> usize {
        let mut depth = 0usize;
        for (index, piece) in self.pieces.iter().enumerate().skip(at) {
            match piece.token {
                Token::Less => depth += 1,
                Token::Greater => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return index + 1;
                    }
                }
                Token::Begin | Token::End | Token::Semicolon => return index,
                _ => {}
            }
        }
        self.pieces.len()
    }

    /// Whether `{` comes before anything that a heading of a type cannot have.
    fn body_follows(&self, from: usize) -> bool {
        for piece in self.pieces.iter().skip(from) {
            match piece.token {
                Token::Begin => return true,
                Token::Semicolon | Token::Equals | Token::Close | Token::End => return false,
                Token::Open => return false,
                _ => {}
            }
        }
        false
    }

    /// `type name(…) {` and what may stand between.
    fn bare_function(&mut self, at: usize, word: &str) -> usize {
        let after = self.after_brackets(at + 1);
        let before = self.before(at);
        let typed = before.is_some_and(|before| matches!(self.token(before), Token::Word | Token::Greater | Token::Other | Token::Close | Token::Member))
            && before.and_then(|before| self.word(before)).is_none_or(|word| !CONTROL.contains(&word));
        let same_as_class = self.container().as_deref() == Some(word);
        let shell = self.table.dashes;
        let script = self.table.assigned_functions && !self.frames.is_empty();
        if !typed && !same_as_class && !shell && !script {
            return after.max(at + 1);
        }
        let mut next = self.skip(after);
        // `const noexcept override`, `throws A, B`, `-> T`, `: a(1), b(2)`.
        let mut budget = 64;
        while budget > 0 && matches!(self.token(next), Token::Word | Token::Arrow | Token::Member | Token::Comma | Token::Less | Token::Greater | Token::Other | Token::Open | Token::Newline) {
            next = if self.token(next) == Token::Open { self.after_brackets(next) } else { next + 1 };
            budget -= 1;
        }
        if self.token(next) != Token::Begin || next >= self.pieces.len() {
            return after.max(at + 1);
        }
        let qualifier = (at >= 2 && self.token(at - 1) == Token::Member).then(|| self.word(at - 2)).flatten();
        let container = qualifier.map(str::to_owned).or_else(|| self.container());
        let kind = if qualifier.is_some() { Kind::Method } else { Kind::Function };
        let index = self.define(word.to_owned(), kind, container, at);
        self.pending = Some(index);
        // An initialiser list may have braces of its own; the body is the one found.
        next
    }

    /// `const name = (…) =>`, `const name = async function`.
    fn assigned(&mut self, at: usize) -> usize {
        let Some(name) = self.word(at + 1) else { return at + 1 };
        if self.token(at + 2) != Token::Equals {
            return at + 1;
        }
        let mut value = at + 3;
        if self.word(value) == Some("async") {
            value += 1;
        }
        let arrow = match self.token(value) {
            Token::Open => self.token(self.after_brackets(value)) == Token::Arrow,
            Token::Word => self.word(value) == Some("function") || self.token(value + 1) == Token::Arrow,
            _ => false,
        };
        if !arrow {
            return at + 1;
        }
        let container = self.container();
        let index = self.define(name.to_owned(), Kind::Function, container, at + 1);
        self.pending = Some(index);
        match self.token(value) {
            Token::Open => self.after_brackets(value),
            _ => value + 1,
        }
    }

    /// `it "…" do`, `describe('…', …)`.
    fn test_call(&mut self, at: usize) -> usize {
        let mut name = at + 1;
        if self.token(name) == Token::Open {
            name += 1;
        }
        if self.token(name) == Token::Text {
            let piece = self.pieces[name];
            let text = self.text[piece.start as usize..piece.end as usize].trim_matches(['"', '\'', '`']).to_owned();
            if !text.trim().is_empty() {
                let container = self.container();
                self.marked = true;
                self.define(text, Kind::Test, container, at);
            }
        }
        name + 1
    }

    /// Definitions of a language whose blocks are indented: each is inside the last one that is indented less.
    fn indented(&mut self) {
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
            while let Some((_, index)) = open.pop_if(|(other, _)| *other > indent || *other == indent) {
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
        let container = open.last().map(|(_, index)| self.found[*index].name.clone());
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
            self.found[before].container = container;
            before
        } else {
            return at + 1;
        };
        open.push((indent, index));
        at + 1
    }

    /// `create or replace table if not exists a.b (`.
    fn statements(&mut self) {
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
                    if creating
                        && let Some(kind) = self.declares(word)
                    {
                        let altered = self.before(at).and_then(|before| self.word(before)).is_some_and(|before| before.eq_ignore_ascii_case("alter"));
                        creating = false;
                        let mut name = self.skip(at + 1);
                        while ["if", "not", "exists", "concurrently", "only"].iter().any(|word| self.word(name).is_some_and(|found| found.eq_ignore_ascii_case(word))) {
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

fn is_type(kind: Kind) -> bool {
    matches!(kind, Kind::Class | Kind::Struct | Kind::Interface | Kind::Enum | Kind::Type)
}

#[cfg(test)]
mod tests;
