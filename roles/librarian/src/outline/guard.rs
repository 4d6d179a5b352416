//! Whether a recursive parser can take a file.
//!
//! A role has 1 MiB of stack, and running out of it ends the run. The three parsers descend once for every bracket, and for some operators and
//! keywords once for every one in a row. Both are counted here on the tokens alone, without recursion, before a parser sees the file. The bounds are
//! far above what people write and far below what overflows, so the count need not be exact: it over-counts where it is unsure.

use ra_ap_parser::{Edition, LexedStr, SyntaxKind};
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use crate::limits::{MAX_CHAIN, MAX_NESTING};

/// Deepest nesting of JSX elements, opened and not yet closed. Measured: the parser overflows above 2,000.
const MAX_ELEMENTS: usize = 500;

/// How deep a parser would have to descend for the tokens so far.
#[derive(Debug)]
struct Pressure {
    /// One per open bracket, outermost first: links of the statement there that is not finished, and its open `<`.
    levels: Vec<(usize, usize)>,
    /// Sum over all levels.
    chain: usize,
    exceeded: bool,
}

impl Pressure {
    fn new() -> Self {
        Self { levels: vec![(0, 0)], chain: 0, exceeded: false }
    }

    fn open(&mut self) {
        self.levels.push((0, 0));
        self.exceeded |= self.levels.len() > MAX_NESTING;
    }

    fn close(&mut self) {
        if self.levels.len() > 1 {
            let (links, angles) = self.levels.pop().unwrap_or_default();
            self.chain -= links + angles;
        }
    }

    fn link(&mut self) {
        if let Some((links, _)) = self.levels.last_mut() {
            *links += 1;
            self.chain += 1;
            self.exceeded |= self.chain > MAX_CHAIN;
        }
    }

    fn angle(&mut self, open: bool) {
        let Some((_, angles)) = self.levels.last_mut() else { return };
        if open {
            *angles += 1;
            self.chain += 1;
            self.exceeded |= self.chain > MAX_CHAIN;
        } else if *angles > 0 {
            *angles -= 1;
            self.chain -= 1;
        }
    }

    /// The next item of a list begins. What `<` opened is still open.
    fn comma(&mut self) {
        if let Some((links, _)) = self.levels.last_mut() {
            self.chain -= std::mem::take(links);
        }
    }

    /// The next statement begins.
    fn statement(&mut self) {
        if let Some((links, angles)) = self.levels.last_mut() {
            self.chain -= std::mem::take(links) + std::mem::take(angles);
        }
    }
}

/// Whether the Rust parser can take this text.
pub(super) fn rust(text: &str) -> bool {
    let lexed = LexedStr::new(Edition::CURRENT, text);
    let mut pressure = Pressure::new();
    let mut before = SyntaxKind::SEMICOLON;
    for index in 0..lexed.len() {
        let kind = lexed.kind(index);
        if kind.is_trivia() {
            continue;
        }
        let word = kind == SyntaxKind::IDENT || kind.is_keyword(Edition::CURRENT);
        // After a block, a word other than these begins the next statement, item or arm.
        if before == SyntaxKind::R_CURLY
            && (word || kind == SyntaxKind::POUND)
            && !matches!(kind, SyntaxKind::ELSE_KW | SyntaxKind::AS_KW)
        {
            pressure.statement();
        }
        match kind {
            SyntaxKind::L_CURLY | SyntaxKind::L_PAREN | SyntaxKind::L_BRACK => pressure.open(),
            SyntaxKind::R_CURLY | SyntaxKind::R_PAREN | SyntaxKind::R_BRACK => pressure.close(),
            SyntaxKind::SEMICOLON => pressure.statement(),
            SyntaxKind::COMMA => pressure.comma(),
            SyntaxKind::L_ANGLE => pressure.angle(true),
            SyntaxKind::R_ANGLE if !matches!(before, SyntaxKind::MINUS | SyntaxKind::EQ) => pressure.angle(false),
            SyntaxKind::IDENT => {}
            kind if kind.is_literal() => {}
            _ => pressure.link(),
        }
        if pressure.exceeded {
            return false;
        }
        before = kind;
    }
    true
}

/// Whether the Python parser can take this text.
pub(super) fn python(text: &str) -> bool {
    let mut tokens = lexer::lex(text, Mode::Module);
    let mut pressure = Pressure::new();
    loop {
        match tokens.next_token() {
            TokenKind::EndOfFile => return true,
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace | TokenKind::Indent => pressure.open(),
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::Dedent => pressure.close(),
            TokenKind::Newline | TokenKind::Semi => pressure.statement(),
            TokenKind::Comma => pressure.comma(),
            TokenKind::Name | TokenKind::Int | TokenKind::Float | TokenKind::Complex | TokenKind::String => {}
            kind if kind.is_trivia() => {}
            _ => pressure.link(),
        }
        if pressure.exceeded {
            return false;
        }
    }
}

/// Whether the JavaScript parser can take this text.
///
/// Only the parser itself knows whether `/` begins a regular expression and where a template ends, so this reads the bytes: strings within
/// a line and comments are left out, everything else is taken for code. `elements_allowed`: whether the file may have JSX, which plain
/// TypeScript has not.
pub(super) fn javascript(text: &str, elements_allowed: bool) -> bool {
    /// Words that follow an operand on a new line without beginning a statement.
    const GOES_ON: &[&str] =
        &["else", "catch", "finally", "instanceof", "in", "of", "extends", "as", "satisfies", "is"];
    /// Words that begin a statement which is not the body of the one before: `if (a)` may have `if (b)` on the next line for its body.
    const FRESH: &[&str] = &["export", "import", "case", "default", "return", "throw", "try"];
    /// Words after which the statement has only begun, so that the next line still belongs to it.
    const BEGINS: &[&str] = &[
        "return",
        "await",
        "typeof",
        "void",
        "delete",
        "new",
        "yield",
        "throw",
        "async",
        "if",
        "else",
        "while",
        "for",
        "do",
        "case",
        "default",
        "export",
        "keyof",
        "infer",
        "readonly",
        "unique",
        "asserts",
        "extends",
        "in",
        "of",
        "as",
        "is",
        "satisfies",
        "instanceof",
        "with",
        "try",
        "finally",
        "import",
    ];
    let bytes = text.as_bytes();
    let mut pressure = Pressure::new();
    let mut elements = 0usize;
    // Whether the last token could end an operand, whether it was `}`, and whether a line ended since.
    let (mut operand, mut brace, mut new_line) = (false, false, false);
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        let mut width = 1;
        let after_brace = brace;
        brace &= byte.is_ascii_whitespace();
        match byte {
            b'\n' => new_line = true,
            b' ' | b'\t' | b'\r' => {}
            b'/' if next == b'/' && (at == 0 || bytes[at - 1] != b':') => {
                width = text[at..].find('\n').unwrap_or(bytes.len() - at)
            }
            b'/' if next == b'*' => width = text[at..].find("*/").map_or(2, |end| end + 2),
            b'"' | b'\'' => {
                width = quoted(bytes, at);
                (operand, new_line) = (true, false);
            }
            b'(' | b'[' | b'{' => {
                pressure.open();
                (operand, new_line) = (false, false);
            }
            b')' | b']' | b'}' => {
                pressure.close();
                (operand, new_line) = (true, false);
                brace = byte == b'}';
            }
            b';' => {
                pressure.statement();
                (operand, new_line) = (false, false);
            }
            b',' => {
                pressure.comma();
                (operand, new_line) = (false, false);
            }
            b'`' => (operand, new_line) = (true, false),
            // A decorator. What it decorates may begin with one again.
            b'@' => {
                if operand && (after_brace || new_line) {
                    pressure.statement();
                }
                pressure.link();
                (operand, new_line) = (false, false);
            }
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#') || byte >= 0x80 => {
                width = bytes[at..]
                    .iter()
                    .take_while(|byte| {
                        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#') || **byte >= 0x80
                    })
                    .count();
                let word = &text[at..at + width];
                let begins = BEGINS.contains(&word);
                let fresh = after_brace || new_line && (!begins || FRESH.contains(&word));
                if operand && fresh && !GOES_ON.contains(&word) {
                    pressure.statement();
                }
                if begins {
                    pressure.link();
                }
                (operand, new_line) = (!begins, false);
            }
            _ => {
                match byte {
                    b'<' if next.is_ascii_alphabetic() || next == b'>' => {
                        elements += 1;
                        pressure.angle(true);
                    }
                    b'<' if next == b'/' => elements = elements.saturating_sub(1),
                    b'<' => pressure.angle(true),
                    b'>' if at > 0 && bytes[at - 1] == b'/' => {
                        elements = elements.saturating_sub(1);
                        pressure.angle(false);
                    }
                    b'>' if at == 0 || bytes[at - 1] != b'=' => pressure.angle(false),
                    _ => pressure.link(),
                }
                (operand, new_line) = (false, false);
            }
        }
        if pressure.exceeded || (elements_allowed && elements > MAX_ELEMENTS) {
            return false;
        }
        at += width;
    }
    true
}

/// The width of a string that ends on its line, with its quotes; 1 when none does, as for an apostrophe in text.
fn quoted(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'\n' {
        match bytes[end] {
            b'\\' => end += 2,
            byte if byte == bytes[at] => return end + 1 - at,
            _ => end += 1,
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is repeated between a beginning and an end.
    const RUST: &[(&str, &str, &str, &str)] = &[
        ("fn f(){", "(", ")", ";}"),
        ("fn f(){", "{", "}", "}"),
        ("fn f(){", "!", "", "a;}"),
        ("fn f(a:", "&", "", "u8){}"),
        ("fn f(){", "a=", "", "a;}"),
        ("fn f(){", "if a {} else ", "", "{}}"),
        ("fn f(){", "|x| ", "", "a;}"),
        ("type A=", "A<", ">", ";"),
        ("type A=", "fn()->", "", "u8;"),
        ("", "mod a{", "}", ""),
        ("fn f(){", "return ", "", "a;}"),
        ("fn f(){", "if a {", "}", "}"),
        ("type A=", "A<A,", ">", ";"),
        ("fn f()->", "impl Fn()->", "", "u8{}"),
        ("const A:u8=", "[", "]", ";"),
        ("fn f(){", "match a{_=>", "}", "}"),
        ("fn f(){let ", "S(", ")", "=a;}"),
        ("fn f(){", "..", "", "a;}"),
        ("type A=", "A<{}, A<", ">", ";"),
    ];
    const PYTHON: &[(&str, &str, &str, &str)] = &[
        ("", "(", ")", ""),
        ("x=", "[", "]", ""),
        ("x=", "{a:", "}", ""),
        ("", "not ", "", "a"),
        ("", "-", "", "a"),
        ("", "a+", "", "a"),
        ("a", ".b()", "", ""),
        ("", "lambda:", "", "a"),
        ("", "a if b else ", "", "c"),
        ("", "await ", "", "a"),
        ("", "a**", "", "a"),
        ("", "*", "", "a"),
        ("x = (\"a\"", "\n + \"b c\"", "", ")"),
    ];
    const JAVASCRIPT: &[(&str, &str, &str, &str)] = &[
        ("", "(", ")", ";"),
        ("", "{", "}", ""),
        ("x=", "[", "]", ""),
        ("", "!", "", "a"),
        ("", "a=", "", "a"),
        ("", "a?b:", "", "c"),
        ("", "a=>", "", "a"),
        ("", "if(a){}else ", "", "{}"),
        ("", "if(a) ", "", "{}"),
        ("type A=", "A<", ">", ";"),
        ("x=", "<a>", "</a>", ""),
        ("x=", "<a>\ntext ", "</a>", ""),
        ("", "new ", "", "a"),
        ("", "`${", "}`", ""),
        ("", "function f(){", "}", ""),
        ("", "class A{m(){", "}}", ""),
        ("", "a**", "", "a"),
        ("type A=", "A extends B?C:", "", "D"),
        ("x=", "{a:", "}", ""),
        ("", "a:", "", ";"),
        ("", "f(", ")", ""),
        ("type A=", "keyof ", "", "D"),
        ("", "await\n", "", "a"),
        ("type A=", "()=>", "", "a"),
        ("", "\"x y\"\n+ ", "", "a"),
        ("", "@", "", "a class {}"),
    ];

    fn repeat((before, open, close, after): &(&str, &str, &str, &str), times: usize) -> String {
        format!("{before}{}{}{after}", open.repeat(times), close.repeat(times))
    }

    #[test]
    fn no_construct_gets_past_when_it_is_repeated() {
        for times in [1_500, 100_000] {
            for (language, bombs, safe) in [
                ("rust", RUST, rust as fn(&str) -> bool),
                ("python", PYTHON, python),
                ("javascript", JAVASCRIPT, |text| javascript(text, true)),
            ] {
                for bomb in bombs {
                    assert!(!safe(&repeat(bomb, times)), "{language}: {bomb:?} × {times}");
                    assert!(safe(&repeat(bomb, 20)), "{language}: {bomb:?} × 20");
                }
            }
        }
    }

    #[test]
    fn python_blocks_are_counted_by_their_indentation() {
        let nest = |times: usize| {
            (0..times).fold(String::new(), |text, n| text + &" ".repeat(n) + "if a:\n") + &" ".repeat(times) + "b\n"
        };
        assert!(python(&nest(50)) && !python(&nest(400)));
    }

    #[test]
    fn long_files_of_ordinary_statements_pass() {
        let many = |line: &str| line.repeat(5_000);
        assert!(rust(&many(
            "impl<T: A + B> C<T> for D<T> { fn a(&self) -> u8 { if x < 1 { return 2 } else { 3 } } }\n"
        )));
        assert!(rust(&many("#[derive(Debug)]\npub struct A { a: Vec<u8>, b: &'static str }\n")));
        assert!(python(&many("if a == 1:\n    x = [b for b in c if not d]\nelif e:\n    return -1\n")));
        assert!(javascript(&many("export const a = (x) => x + 1\n"), false));
        assert!(javascript(&many("if (a) { b(\"it's (\") } else { c() }\nfoo()\n"), false));
        assert!(javascript(&many("interface A<T> { a: Array<T>; b?: () => void }\n"), false));
        let decorated = "@Input() a?: string\n@Output()\nb = new Emitter()\n@Listen('c') d() { e() }\n";
        assert!(javascript(&format!("class A {{\n{}}}\n", many(decorated)), false));
    }
}
