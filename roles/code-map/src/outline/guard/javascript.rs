//! JavaScript, TypeScript and JSX for the guard.
//!
//! Only the parser itself knows for sure where a regular expression, a template or an element begins and ends, and a bracket in one of them
//! closes nothing. This reader follows them where the tokens before leave no doubt, and gives the file up where they leave any: the
//! tokenizer takes it then, so a wrong guess cannot be made use of.

use super::{Bracket, Fit, Pressure};

/// Whether the JavaScript parser can take this text. `elements`: whether the file may have JSX, which plain TypeScript has not.
pub(in crate::outline) fn fits(text: &str, elements: bool) -> Fit {
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: if text.starts_with("#!") { line_end(text, 0) } else { 0 },
        elements,
        pressure: Pressure::new(),
        modes: vec![PLAIN],
        before: Before::Operator,
        control: false,
        since_group: None,
        brace: false,
        new_line: false,
    };
    while reader.at < reader.bytes.len() {
        if reader.step().is_none() {
            return Fit::Unclear;
        }
        if reader.pressure.exceeded {
            return Fit::TooDeep;
        }
    }
    Fit::Fits
}

/// Inside of what the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Code: the file, or what a bracket holds. `control`: a round one after `if` or the like, behind which a statement begins. `group`: a
    /// round one that is no call's, so that it may hold the parameters of a function's type.
    Code { control: bool, group: bool },
    /// Code in `${…}` of a template.
    Hole,
    /// The text of a template.
    Template,
    /// Between `<` and `>` of an element that begins.
    Tag,
    /// What an element holds.
    Text,
}

const PLAIN: Mode = Mode::Code { control: false, group: false };

/// What stood before, as far as it decides what `/` and `<` mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// The end of an operand: an operator comes next.
    Operand,
    /// An operator, an open bracket or a word such as `return`: an operand comes next.
    Operator,
    /// `}`, `>`, `++`, `!` after an operand, or a word that is a keyword in some places: only the parser knows.
    Unknown,
}

/// Words that follow an operand on a new line without beginning a statement.
const GOES_ON: &[&str] = &["else", "catch", "finally", "instanceof", "in", "of", "extends", "as", "satisfies", "is"];
/// Words that begin a statement which is not the body of the one before: `if (a)` may have `if (b)` on the next line for its body.
const FRESH: &[&str] = &["export", "import", "case", "default", "return", "throw", "try"];
/// Words that are reserved everywhere, and after which the statement or expression has only begun.
const RESERVED: &[&str] = &[
    "return",
    "typeof",
    "void",
    "delete",
    "new",
    "throw",
    "if",
    "else",
    "while",
    "for",
    "do",
    "case",
    "extends",
    "in",
    "instanceof",
    "with",
    "try",
    "finally",
    "export",
    "import",
    "default",
];
/// Words of the same kind that may also be names.
const CONTEXTUAL: &[&str] =
    &["await", "yield", "async", "keyof", "infer", "readonly", "unique", "asserts", "of", "as", "is", "satisfies"];
/// Words whose brackets are followed by a statement.
const CONTROL: &[&str] = &["if", "while", "for", "with"];

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    elements: bool,
    pressure: Pressure,
    /// Outermost first. As deep as the pressure's levels, and one more for each template and each tag.
    modes: Vec<Mode>,
    before: Before,
    /// Whether the last word is of [`CONTROL`].
    control: bool,
    /// Tokens since a group was closed, up to one.
    since_group: Option<u8>,
    /// Whether the last token was `}`, and whether a line ended since the last token.
    brace: bool,
    new_line: bool,
}

impl Reader<'_> {
    /// Reads on. `None` where only the parser would know what the text means, or where it is broken.
    fn step(&mut self) -> Option<()> {
        match self.modes.last()? {
            Mode::Code { .. } | Mode::Hole => self.code(),
            Mode::Template => self.template(),
            Mode::Tag => self.tag(),
            Mode::Text => self.children(),
        }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(b' ')
    }

    fn last(&self) -> Option<u8> {
        self.bytes[..self.at].last().copied()
    }

    fn token(&mut self, width: usize, before: Before) {
        self.at += width;
        (self.before, self.control, self.brace, self.new_line) = (before, false, false, false);
        self.since_group = self.since_group.map(|tokens| tokens + 1).filter(|tokens| *tokens < 2);
    }

    fn open(&mut self, bracket: Bracket, mode: Mode) {
        self.pressure.open(bracket);
        self.modes.push(mode);
        self.token(1, Before::Operator);
    }

    fn code(&mut self) -> Option<()> {
        let (byte, next) = (self.byte(0), self.byte(1));
        match byte {
            b'\n' => {
                self.new_line = true;
                self.at += 1;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
            b'/' if matches!(next, b'/' | b'*') => self.comment()?,
            b'/' => self.slash()?,
            b'"' | b'\'' => {
                let width = quoted(&self.bytes[self.at..])?;
                self.token(width, Before::Operand);
            }
            b'`' => {
                self.modes.push(Mode::Template);
                self.at += 1;
            }
            b'(' => {
                // Behind the parameters of a function's type the parser takes any token for its arrow, and more parameters after it.
                let chained = self.since_group == Some(1);
                if chained {
                    self.pressure.hold();
                }
                let control = self.control;
                let group = chained || !control && self.before != Before::Operand;
                self.open(Bracket::Round, Mode::Code { control, group });
            }
            b'[' => self.open(Bracket::Square, PLAIN),
            b'{' => self.open(Bracket::Curly, PLAIN),
            b')' | b']' | b'}' => self.close(byte)?,
            b';' => {
                self.pressure.statement();
                self.token(1, Before::Operator);
            }
            b',' => {
                self.pressure.comma();
                self.token(1, Before::Operator);
            }
            b'@' => {
                // A decorator. What it decorates may begin with one again.
                if self.before != Before::Operator && (self.brace || self.new_line) {
                    self.pressure.statement();
                }
                self.pressure.link();
                self.token(1, Before::Operator);
            }
            b'.' if next != b'.' && !next.is_ascii_digit() && self.last() != Some(b'.') => self.member(),
            b'<' => self.less()?,
            b'>' => {
                // `=>` begins an operand; another may have closed the arguments of a type.
                let arrow = self.last() == Some(b'=');
                if !arrow {
                    self.pressure.angle(false);
                }
                self.token(1, if arrow { Before::Operator } else { Before::Unknown });
            }
            // A comment in old scripts, whatever stands on the rest of the line.
            b'-' if self.text[self.at..].starts_with("-->") => return None,
            b'+' | b'-' if next == byte => {
                self.pressure.link();
                self.token(2, Before::Unknown);
            }
            b'!' if next != b'=' && self.before != Before::Operator => {
                self.pressure.link();
                self.token(1, Before::Unknown);
            }
            // An escape in a name, or nothing that may stand in code.
            b'\\' | 0..=0x1f | 0x7f => return None,
            byte if in_word(byte) => self.word(),
            _ => {
                self.pressure.link();
                self.token(1, Before::Operator);
            }
        }
        Some(())
    }

    fn close(&mut self, byte: u8) -> Option<()> {
        let bracket = match byte {
            b')' => Bracket::Round,
            b']' => Bracket::Square,
            _ => Bracket::Curly,
        };
        if !self.pressure.close(bracket) {
            return None;
        }
        let closed = self.modes.pop()?;
        let before = match (closed, byte) {
            (Mode::Code { control: true, .. }, _) => Before::Operator,
            (_, b'}') => Before::Unknown,
            _ => Before::Operand,
        };
        self.token(1, before);
        self.brace = byte == b'}';
        self.since_group = matches!(closed, Mode::Code { group: true, .. }).then_some(0);
        Some(())
    }

    fn comment(&mut self) -> Option<()> {
        if self.byte(1) == b'/' {
            self.at = line_end(self.text, self.at);
        } else {
            let end = self.text[self.at + 2..].find("*/")?;
            self.new_line |= self.text[self.at..self.at + 2 + end].contains('\n');
            self.at += 2 + end + 2;
        }
        Some(())
    }

    /// Divides, or begins a regular expression.
    fn slash(&mut self) -> Option<()> {
        match self.before {
            Before::Unknown => return None,
            Before::Operand => {
                self.pressure.link();
                self.token(1, Before::Operator);
            }
            Before::Operator => {
                let width = regular_expression(&self.bytes[self.at..])?;
                self.token(width, Before::Operand);
            }
        }
        Some(())
    }

    /// Compares, opens the arguments of a type, or begins an element.
    fn less(&mut self) -> Option<()> {
        let next = self.byte(1);
        if next == b'!' && self.text[self.at..].starts_with("<!--") {
            return None;
        }
        if self.elements {
            match self.before {
                Before::Operand => {}
                // `i++ < 9` is the one that is common.
                Before::Unknown if matches!(self.text[..self.at].trim_end().as_bytes().last(), Some(b'+' | b'-')) => {}
                Before::Unknown => return None,
                Before::Operator => {
                    if self.may_be_parameters() {
                        return None;
                    }
                    self.begin_element();
                    return Some(());
                }
            }
        }
        if self.before != Before::Operand {
            // `<T>a` asserts a type, and `a` may do so again.
            self.pressure.link();
        }
        self.pressure.angle(true);
        self.token(1, Before::Operator);
        Some(())
    }

    /// Whether `<name>` could be the parameters of a function's type, `<T>(a: T) => T`, rather than an element.
    fn may_be_parameters(&self) -> bool {
        let before = self.text[..self.at].trim_end();
        if before.ends_with("&&") || before.ends_with("||") {
            return false;
        }
        let rest = &self.text[self.at + 1..];
        let rest = rest.trim_start_matches(|c: char| !c.is_ascii() || c.is_ascii_whitespace() || in_word(c as u8));
        rest.strip_prefix('>').is_some_and(|rest| rest.trim_start().starts_with(['(', '/']))
    }

    fn begin_element(&mut self) {
        self.pressure.open(Bracket::Element);
        self.modes.push(Mode::Tag);
        self.at += 1;
    }

    fn end_element(&mut self) -> Option<()> {
        self.modes.pop()?;
        if !self.pressure.close(Bracket::Element) {
            return None;
        }
        // Inside of another element it does not matter.
        self.token(0, Before::Operand);
        Some(())
    }

    /// A dot and the name after it: any word is a name there. Behind a number there may be none.
    fn member(&mut self) {
        self.pressure.link();
        self.token(1, Before::Unknown);
        while self.byte(0).is_ascii_whitespace() && self.at < self.bytes.len() {
            self.at += 1;
        }
        let width = word_width(&self.bytes[self.at..]);
        if width > 0 {
            let plain = is_plain(&self.text[self.at..self.at + width]);
            self.token(width, if plain { Before::Operand } else { Before::Unknown });
        }
    }

    fn word(&mut self) {
        let width = word_width(&self.bytes[self.at..]);
        let word = &self.text[self.at..self.at + width];
        let reserved = RESERVED.contains(&word);
        let contextual = CONTEXTUAL.contains(&word);
        let begins = reserved || contextual;
        let fresh = self.brace || self.new_line && (!begins || FRESH.contains(&word));
        if self.before != Before::Operator && fresh && !GOES_ON.contains(&word) {
            self.pressure.statement();
        }
        if begins {
            self.pressure.link();
        }
        let before = match (reserved, contextual) {
            (true, _) => Before::Operator,
            (_, true) => Before::Unknown,
            _ if is_plain(word) => Before::Operand,
            _ => Before::Unknown,
        };
        self.token(width, before);
        self.control = CONTROL.contains(&word);
    }

    fn template(&mut self) -> Option<()> {
        match self.byte(0) {
            b'`' => {
                self.modes.pop()?;
                self.token(1, Before::Operand);
            }
            b'\\' => self.at += 2,
            b'$' if self.byte(1) == b'{' => {
                self.at += 1;
                self.open(Bracket::Curly, Mode::Hole);
            }
            _ => self.at += 1,
        }
        Some(())
    }

    fn tag(&mut self) -> Option<()> {
        let byte = self.byte(0);
        match byte {
            b'>' => {
                *self.modes.last_mut()? = Mode::Text;
                self.at += 1;
            }
            b'/' if self.byte(1) == b'>' => {
                self.at += 2;
                self.end_element()?;
            }
            b'/' if matches!(self.byte(1), b'/' | b'*') => self.comment()?,
            b'"' | b'\'' => {
                let close = self.bytes[self.at + 1..].iter().position(|other| *other == byte)?;
                self.at += close + 2;
            }
            b'{' => self.open(Bracket::Curly, PLAIN),
            b'=' => {
                self.at += 1;
                while self.byte(0).is_ascii_whitespace() && self.at < self.bytes.len() {
                    self.at += 1;
                }
                // Anything else is the default of a parameter.
                if !matches!(self.byte(0), b'"' | b'\'' | b'{') {
                    return None;
                }
            }
            b'.' | b':' | b'-' => self.at += 1,
            byte if byte.is_ascii_whitespace() => self.at += 1,
            // `<T extends A>(…) => …` is a function.
            byte if in_word(byte) => {
                let width = word_width(&self.bytes[self.at..]);
                if &self.text[self.at..self.at + width] == "extends" {
                    return None;
                }
                self.at += width;
            }
            _ => return None,
        }
        Some(())
    }

    fn children(&mut self) -> Option<()> {
        match self.byte(0) {
            b'<' if self.byte(1) == b'/' => {
                let end = self.text[self.at..].find('>')?;
                let named =
                    |byte: &u8| in_word(*byte) || matches!(byte, b'.' | b':' | b'-') || byte.is_ascii_whitespace();
                if !self.bytes[self.at + 2..self.at + end].iter().all(named) {
                    return None;
                }
                self.at += end + 1;
                self.end_element()?;
            }
            // `< /a>` ends an element, too.
            b'<' if self.byte(1).is_ascii_whitespace() => return None,
            b'<' => self.begin_element(),
            b'{' => self.open(Bracket::Curly, PLAIN),
            // Neither may stand in such text.
            b'}' | b'>' => return None,
            // What was taken for an element may be the parameters of a type, and then this is code.
            b'(' | b'[' | b'?' | b'|' | b'&' | b'@' | b'!' | b'~' | b'*' | b'`' => {
                self.pressure.link();
                self.at += 1;
            }
            _ => self.at += 1,
        }
        Some(())
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#') || byte >= 0x80
}

fn word_width(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| in_word(**byte)).count()
}

/// Whether a word surely is one: many characters outside of ASCII are spaces, line ends or nothing at all.
fn is_plain(word: &str) -> bool {
    word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '#'))
}

/// Where the line of an offset ends. The parser also ends a line at U+2028 and U+2029; a comment that goes on behind one is code.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r', '\u{2028}', '\u{2029}']).map_or(text.len(), |end| at + end)
}

/// The width of a string with its quotes; `None` when it does not end on its line.
fn quoted(bytes: &[u8]) -> Option<usize> {
    let quote = bytes.first()?;
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\\' if bytes.get(at + 1..at + 3) == Some(b"\r\n") => at += 3,
            b'\\' => at += 2,
            b'\n' | b'\r' => return None,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The width of a regular expression with its slashes; `None` when it does not end on its line.
fn regular_expression(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    let mut class = false;
    loop {
        match bytes.get(at)? {
            b'\n' | b'\r' => return None,
            b'\\' if matches!(bytes.get(at + 1)?, b'\n' | b'\r') => return None,
            b'\\' => at += 1,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
}
