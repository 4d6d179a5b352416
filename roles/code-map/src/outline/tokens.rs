//! Definitions of languages that have no parser here, by a tokenizer and a table.
//!
//! It knows comments, strings, brackets and the words that declare something; it does not know grammar. It never recurses, so it also takes
//! the files that a parser cannot.

use super::pieces::{Piece, Token, pieces};
use super::tables::{Layout, Table};
use super::{Definition, Found, Kind, Lines};

/// Deepest nesting of braces of which the names are kept.
const MAX_FRAMES: usize = 4_096;

/// How far it is looked ahead for the end of a bracket or the body of a type, in tokens. Without a bound, brackets that never
/// close would be walked to the end of the file from every one of them.
const MAX_LOOK_AHEAD: usize = 2_000;

/// Reads a text by a table.
pub fn outline(table: &Table, text: &str) -> Found {
    let mut comments = Vec::new();
    let pieces = pieces(table, text, &mut comments);
    let mut reader = Reader {
        table,
        text,
        pieces,
        lines: Lines::new(text),
        found: Vec::new(),
        frames: Vec::new(),
        pending: None,
        marked: false,
        declared: None,
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

/// What a definition belongs to.
#[derive(Clone, Debug)]
pub(super) struct Container {
    pub(super) name: String,
    is_type: bool,
}

impl Container {
    /// One that the definition names itself, as a receiver or a path: `func (a *A) b`, `A::b`.
    fn named(name: &str) -> Self {
        Self { name: name.to_owned(), is_type: true }
    }
}

/// An open brace.
#[derive(Debug)]
struct Frame {
    /// The definition it is the body of.
    definition: Option<usize>,
    /// Whether declarations inside are declarations, rather than a function's own business.
    container: bool,
}

pub(super) struct Reader<'a> {
    pub(super) table: &'a Table,
    pub(super) text: &'a str,
    pub(super) pieces: Vec<Piece>,
    lines: Lines,
    pub(super) found: Vec<Definition>,
    frames: Vec<Frame>,
    /// A definition whose body has not begun.
    pending: Option<usize>,
    /// Whether an annotation of a test was seen since the last definition.
    pub(super) marked: bool,
    /// Start of a `typedef` that is open, as the number of braces around it.
    declared: Option<usize>,
}

/// Words with brackets and a body after them that are no functions.
const CONTROL: &[&str] = &[
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "return",
    "sizeof",
    "defined",
    "synchronized",
    "using",
    "lock",
    "fixed",
    "foreach",
    "elif",
    "else",
    "do",
    "when",
    "match",
    "try",
    "with",
    "throw",
    "new",
    "delete",
    "case",
    "function",
    "super",
    "this",
    "await",
    "typeof",
    "constexpr",
    "requires",
    "decltype",
    "alignas",
    "__attribute__",
    "unless",
    "until",
    "assert",
];

impl<'a> Reader<'a> {
    pub(super) fn word(&self, at: usize) -> Option<&'a str> {
        let piece = self.pieces.get(at)?;
        (piece.token == Token::Word).then(|| &self.text[piece.start as usize..piece.end as usize])
    }

    pub(super) fn token(&self, at: usize) -> Token {
        self.pieces.get(at).map_or(Token::Semicolon, |piece| piece.token)
    }

    /// The token before `at`, newlines left out.
    pub(super) fn before(&self, at: usize) -> Option<usize> {
        (0..at).rev().find(|index| self.pieces[*index].token != Token::Newline)
    }

    /// The first place from `at` on that is no newline.
    pub(super) fn skip(&self, mut at: usize) -> usize {
        while self.token(at) == Token::Newline && at < self.pieces.len() {
            at += 1;
        }
        at
    }

    /// The place after the bracket that closes the one at `at`.
    fn after_brackets(&self, at: usize) -> usize {
        let mut depth = 0usize;
        for (index, piece) in self.pieces.iter().enumerate().skip(at).take(MAX_LOOK_AHEAD) {
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
        (at + MAX_LOOK_AHEAD).min(self.pieces.len())
    }

    pub(super) fn line(&self, at: usize) -> u32 {
        self.lines.of(self.pieces[at].start as usize)
    }

    /// The definition around, and whether it is a type.
    fn container(&self) -> Option<Container> {
        self.frames.iter().rev().find_map(|frame| frame.definition).map(|index| self.as_container(index))
    }

    pub(super) fn as_container(&self, index: usize) -> Container {
        Container { name: self.found[index].name.clone(), is_type: is_type(self.found[index].kind) }
    }

    fn in_container(&self) -> bool {
        self.frames.last().is_none_or(|frame| frame.container)
    }

    pub(super) fn declares(&self, word: &str) -> Option<Kind> {
        let same = |known: &str| if self.table.any_case { known.eq_ignore_ascii_case(word) } else { known == word };
        self.table.declare.iter().find(|(known, _)| same(known)).map(|(_, kind)| *kind)
    }

    pub(super) fn define(&mut self, name: String, mut kind: Kind, container: Option<Container>, at: usize) -> usize {
        let test = std::mem::take(&mut self.marked)
            || (!self.table.test_prefix.is_empty()
                && name.starts_with(self.table.test_prefix)
                && kind == Kind::Function);
        if kind == Kind::Function && container.as_ref().is_some_and(|container| container.is_type) {
            kind = Kind::Method;
        }
        if test && matches!(kind, Kind::Function | Kind::Method) {
            kind = Kind::Test;
        }
        let line = self.line(at);
        let container = container.map(|container| container.name);
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
            let continued =
                self.text[..self.pieces[end].start as usize].trim_end_matches([' ', '\t', '\r']).ends_with('\\');
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
        if self.table.bare_functions
            && self.in_container()
            && self.pending.is_none()
            && !CONTROL.contains(&word)
            && self.token(at + 1) == Token::Open
        {
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
                if self.word(after).is_none()
                    || self.token(after + 1) != Token::Open && self.token(after + 1) != Token::Less
                {
                    return at + 1;
                }
                container = receiver.map(Container::named);
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
        if kind == Kind::Constant && !self.frames.is_empty()
            || matches!(kind, Kind::Function | Kind::Constant) && !self.in_container() && self.table.receivers
        {
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
                container = self.word(end).map(Container::named);
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
        for (index, piece) in self.pieces.iter().enumerate().skip(at).take(MAX_LOOK_AHEAD) {
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
        (at + MAX_LOOK_AHEAD).min(self.pieces.len())
    }

    /// Whether `{` comes before anything that a heading of a type cannot have.
    fn body_follows(&self, from: usize) -> bool {
        for piece in self.pieces.iter().skip(from).take(MAX_LOOK_AHEAD) {
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
        let typed = before.is_some_and(|before| {
            matches!(self.token(before), Token::Word | Token::Greater | Token::Other | Token::Close | Token::Member)
        }) && before.and_then(|before| self.word(before)).is_none_or(|word| !CONTROL.contains(&word));
        let same_as_class = self.container().is_some_and(|container| container.name == word);
        let shell = self.table.dashes;
        let script = self.table.assigned_functions && !self.frames.is_empty();
        if !typed && !same_as_class && !shell && !script {
            return after.max(at + 1);
        }
        let mut next = self.skip(after);
        // `const noexcept override`, `throws A, B`, `-> T`, `: a(1), b(2)`.
        let mut budget = 64;
        while budget > 0
            && matches!(
                self.token(next),
                Token::Word
                    | Token::Arrow
                    | Token::Member
                    | Token::Comma
                    | Token::Less
                    | Token::Greater
                    | Token::Other
                    | Token::Open
                    | Token::Newline
            )
        {
            next = if self.token(next) == Token::Open { self.after_brackets(next) } else { next + 1 };
            budget -= 1;
        }
        if self.token(next) != Token::Begin || next >= self.pieces.len() {
            return after.max(at + 1);
        }
        let qualifier = (at >= 2 && self.token(at - 1) == Token::Member).then(|| self.word(at - 2)).flatten();
        let container = qualifier.map(Container::named).or_else(|| self.container());
        let index = self.define(word.to_owned(), Kind::Function, container, at);
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
    pub(super) fn test_call(&mut self, at: usize) -> usize {
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
}

fn is_type(kind: Kind) -> bool {
    matches!(kind, Kind::Class | Kind::Struct | Kind::Interface | Kind::Enum | Kind::Type)
}

#[cfg(test)]
mod tests;
