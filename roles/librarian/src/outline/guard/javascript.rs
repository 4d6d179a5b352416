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
        modes: vec![Mode::Code { control: false }],
        before: Before::Operator,
        control: false,
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
    /// Code: the file, or what a bracket holds. `control`: a round one after `if` or the like, behind which a statement begins.
    Code { control: bool },
    /// Code in `${…}` of a template.
    Hole,
    /// The text of a template.
    Template,
    /// Between `<` and `>` of an element that begins.
    Tag,
    /// What an element holds.
    Text,
}

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
    "return", "typeof", "void", "delete", "new", "throw", "if", "else", "while", "for", "do", "case", "extends", "in",
    "instanceof", "with", "try", "finally", "export", "import", "default",
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

    fn token(&mut self, width: usize, before: Before) {
        self.at += width;
        (self.before, self.control, self.brace, self.new_line) = (before, false, false, false);
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
            b' ' | b'\t' | b'\r' => self.at += 1,
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
                let control = self.control;
                self.open(Bracket::Round, Mode::Code { control });
            }
            b'[' => self.open(Bracket::Square, Mode::Code { control: false }),
            b'{' => self.open(Bracket::Curly, Mode::Code { control: false }),
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
            // `?.name`: any word is a name there.
            b'.' if next != b'.' && !next.is_ascii_digit() => self.member(),
            b'<' => self.less()?,
            b'>' => {
                if self.bytes[..self.at].last() != Some(&b'=') {
                    self.pressure.angle(false);
                }
                // `=>` begins an operand; another may have closed the arguments of a type.
                let arrow = self.bytes[..self.at].last() == Some(&b'=');
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
            // An escape in a name.
            b'\\' => return None,
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
            (Mode::Code { control: true }, _) => Before::Operator,
            (_, b'}') => Before::Unknown,
            _ => Before::Operand,
        };
        self.token(1, before);
        self.brace = byte == b'}';
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
        if self.elements && (in_word(next) || next == b'>') {
            match self.before {
                Before::Operand => {}
                Before::Unknown => return None,
                Before::Operator => {
                    self.begin_element();
                    return Some(());
                }
            }
        }
        self.pressure.angle(true);
        self.token(1, Before::Operator);
        Some(())
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

    fn member(&mut self) {
        self.pressure.link();
        self.token(1, Before::Operator);
        while self.byte(0).is_ascii_whitespace() && self.at < self.bytes.len() {
            self.at += 1;
        }
        let width = word_width(&self.bytes[self.at..]);
        if width > 0 {
            self.token(width, Before::Operand);
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
            _ => Before::Operand,
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
            b'{' => self.open(Bracket::Curly, Mode::Code { control: false }),
            b'=' | b'.' | b':' | b'-' => self.at += 1,
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
                let named = |byte: &u8| in_word(*byte) || matches!(byte, b'.' | b':' | b'-') || byte.is_ascii_whitespace();
                if !self.bytes[self.at + 2..self.at + end].iter().all(named) {
                    return None;
                }
                self.at += end + 1;
                self.end_element()?;
            }
            b'<' => self.begin_element(),
            b'{' => self.open(Bracket::Curly, Mode::Code { control: false }),
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
