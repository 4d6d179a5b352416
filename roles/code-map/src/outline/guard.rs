//! Whether a recursive parser can take a file.
//!
//! A role has 1 MiB of stack, and running out of it ends the run. The three parsers descend once for every bracket, and for some operators and
//! keywords once for every one in a row. Both are counted here on the tokens alone, without recursion, before a parser sees the file. The bounds are
//! far above what people write and far below what overflows, so the count need not be exact: it over-counts where it is unsure.

pub(super) mod javascript;

use ra_ap_parser::{Edition, LexedStr, SyntaxKind};
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use crate::limits::{MAX_CHAIN, MAX_NESTING};

/// Whether a parser can take a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It descends no deeper than it may.
    Fits,
    /// It would, or nearly.
    TooDeep,
    /// Nobody but the parser can tell.
    Unclear,
}

/// What a level is closed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Round,
    Square,
    Curly,
    /// A block of lines that are indented alike.
    Block,
    /// A JSX element.
    Element,
}

/// One open bracket.
#[derive(Debug)]
struct Level {
    bracket: Option<Bracket>,
    /// Links of the statement there that is not finished.
    links: usize,
    /// Open `<` of that statement.
    angles: usize,
    /// Links there that no end of a statement completes.
    held: usize,
}

/// How deep a parser would have to descend for the tokens so far.
#[derive(Debug)]
struct Pressure {
    /// The file itself, then one per open bracket, outermost first.
    levels: Vec<Level>,
    /// Sum over all levels.
    chain: usize,
    exceeded: bool,
}

impl Pressure {
    fn new() -> Self {
        Self { levels: vec![Level { bracket: None, links: 0, angles: 0, held: 0 }], chain: 0, exceeded: false }
    }

    fn open(&mut self, bracket: Bracket) {
        self.levels.push(Level { bracket: Some(bracket), links: 0, angles: 0, held: 0 });
        self.exceeded |= self.levels.len() > MAX_NESTING;
    }

    /// Whether it closed the last one. A bracket of another kind closes nothing: what a parser makes of it is not known, and it may well
    /// go on inside of what is open.
    fn close(&mut self, bracket: Bracket) -> bool {
        let Some(level) = self.levels.pop_if(|level| level.bracket == Some(bracket)) else { return false };
        self.chain -= level.links + level.angles + level.held;
        true
    }

    /// Closes a level and leaves to the one around what the bracket does not complete: what is held, and unless it is `finished` its chain.
    fn close_after(&mut self, bracket: Bracket, finished: bool) {
        let Some(inner) = self.levels.last() else { return };
        let (links, held) = (if finished { 0 } else { inner.links }, inner.held);
        if self.close(bracket)
            && let Some(level) = self.levels.last_mut()
        {
            level.links += links;
            level.held += held;
            self.chain += links + held;
        }
    }

    fn link(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.links += 1;
            self.chain += 1;
            self.exceeded |= self.chain > MAX_CHAIN;
        }
    }

    fn angle(&mut self, open: bool) {
        let Some(level) = self.levels.last_mut() else { return };
        if open {
            level.angles += 1;
            self.chain += 1;
            self.exceeded |= self.chain > MAX_CHAIN;
        } else if level.angles > 0 {
            level.angles -= 1;
            self.chain -= 1;
        }
    }

    /// A link that no end of a statement completes.
    fn hold(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.held += 1;
            self.chain += 1;
            self.exceeded |= self.chain > MAX_CHAIN;
        }
    }

    fn holds(&self) -> bool {
        self.levels.last().is_some_and(|level| level.held > 0)
    }

    /// What was held last is a link like any other from now on.
    fn settle(&mut self) {
        if let Some(level) = self.levels.last_mut()
            && level.held > 0
        {
            level.held -= 1;
            self.chain -= 1;
        }
        self.link();
    }

    /// The next item of a list begins. What `<` opened is still open.
    fn comma(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.chain -= std::mem::take(&mut level.links);
        }
    }

    /// The next statement begins.
    fn statement(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.chain -= std::mem::take(&mut level.links) + std::mem::take(&mut level.angles);
        }
    }
}

/// Whether the Rust parser can take this text.
pub(super) fn rust(text: &str) -> Fit {
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
            SyntaxKind::L_CURLY => pressure.open(Bracket::Curly),
            SyntaxKind::L_PAREN => pressure.open(Bracket::Round),
            SyntaxKind::L_BRACK => pressure.open(Bracket::Square),
            SyntaxKind::R_CURLY => pressure.close_after(Bracket::Curly, finished(before)),
            SyntaxKind::R_PAREN => pressure.close_after(Bracket::Round, finished(before)),
            SyntaxKind::R_BRACK => pressure.close_after(Bracket::Square, finished(before)),
            SyntaxKind::SEMICOLON if ends(before) => pressure.statement(),
            SyntaxKind::COMMA if ends(before) => pressure.comma(),
            SyntaxKind::SEMICOLON | SyntaxKind::COMMA => {}
            SyntaxKind::L_ANGLE => pressure.angle(true),
            SyntaxKind::R_ANGLE if !matches!(before, SyntaxKind::MINUS | SyntaxKind::EQ) => pressure.angle(false),
            SyntaxKind::IDENT => {}
            kind if kind.is_literal() => {}
            _ => pressure.link(),
        }
        if pressure.exceeded {
            return Fit::TooDeep;
        }
        before = kind;
    }
    Fit::Fits
}

/// Whether `;` or `,` ends something after this token. Elsewhere, as in `for ;`, the parser may skip it and go on inside of what it is in.
fn ends(before: SyntaxKind) -> bool {
    before.is_literal()
        || matches!(
            before,
            SyntaxKind::IDENT
                | SyntaxKind::LIFETIME_IDENT
                | SyntaxKind::UNDERSCORE
                | SyntaxKind::SELF_KW
                | SyntaxKind::SELF_TYPE_KW
                | SyntaxKind::SUPER_KW
                | SyntaxKind::CRATE_KW
                | SyntaxKind::TRUE_KW
                | SyntaxKind::FALSE_KW
                | SyntaxKind::RETURN_KW
                | SyntaxKind::BREAK_KW
                | SyntaxKind::CONTINUE_KW
                | SyntaxKind::R_CURLY
                | SyntaxKind::R_PAREN
                | SyntaxKind::R_BRACK
                | SyntaxKind::R_ANGLE
                | SyntaxKind::L_CURLY
                | SyntaxKind::QUESTION
                | SyntaxKind::SEMICOLON
        )
}

/// Whether a bracket that closes after this token ends all that it holds; an attribute or an operator would go on behind it.
fn finished(before: SyntaxKind) -> bool {
    ends(before) || matches!(before, SyntaxKind::COMMA | SyntaxKind::L_PAREN | SyntaxKind::L_BRACK)
}

/// Whether the Python parser can take this text.
pub(super) fn python(text: &str) -> Fit {
    let mut tokens = lexer::lex(text, Mode::Module);
    let mut pressure = Pressure::new();
    loop {
        match tokens.next_token() {
            TokenKind::EndOfFile => return Fit::Fits,
            TokenKind::Lpar => pressure.open(Bracket::Round),
            TokenKind::Lsqb => pressure.open(Bracket::Square),
            TokenKind::Lbrace => pressure.open(Bracket::Curly),
            TokenKind::Indent => pressure.open(Bracket::Block),
            TokenKind::Rpar => pressure.close_after(Bracket::Round, true),
            TokenKind::Rsqb => pressure.close_after(Bracket::Square, true),
            TokenKind::Rbrace => pressure.close_after(Bracket::Curly, true),
            TokenKind::Dedent => pressure.close_after(Bracket::Block, true),
            // They end nothing between `lambda` and its `:`.
            TokenKind::Newline | TokenKind::Semi | TokenKind::Comma if pressure.holds() => {}
            TokenKind::Newline | TokenKind::Semi => pressure.statement(),
            TokenKind::Comma => pressure.comma(),
            // A parser that misses its `:` goes on with the next line inside of it.
            TokenKind::Lambda => pressure.hold(),
            TokenKind::Colon => pressure.settle(),
            // It takes what follows a comma, too.
            TokenKind::Yield => pressure.angle(true),
            TokenKind::Name | TokenKind::Int | TokenKind::Float | TokenKind::Complex | TokenKind::String => {}
            kind if kind.is_trivia() => {}
            _ => pressure.link(),
        }
        if pressure.exceeded {
            return Fit::TooDeep;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::javascript::fits as javascript;
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
        ("fn f(){", "for ;", "", "}"),
        ("const A:u8=", "let ;", "", ""),
        ("fn f(){", "for ,", "", "}"),
        ("fn f(){", "for !;", "", "}"),
        ("fn f(){", "=*;", "", "}"),
        ("", "{#}", "", ""),
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
        ("", "lambda ,", "", ""),
        ("", "lambda ;", "", ""),
        ("", "lambda \n", "", ""),
        ("", "(lambda )", "", ""),
        ("", "lambda a, b: ", "", "c"),
        ("", "lambda \n:", "", ""),
        ("", "yield a,", "", ""),
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
        ("type A=", "();", "", ""),
        ("type A=", "()a", "", ""),
        ("type A=", "(),", "", ""),
    ];
    /// Brackets that close nothing, since they are of another kind.
    const MIXED: &[(&str, &str, &str, &str)] =
        &[("", "){", "", ""), ("", "(}", "", ""), ("", "[)", "", ""), ("", "{]", "", ""), ("", "]]](", "", "")];
    /// Brackets that close nothing, since they are text to the parser.
    const TEXT: &[(&str, &str, &str, &str)] = &[
        ("", "{/}/;", "", ""),
        ("x=", "<\n>", "", ""),
        ("x=", "< a >", "", ""),
        ("x=", "(/)/,", "", ""),
        ("", "if(a)/)/,(", "", ""),
        ("", "{`}`;", "", ""),
        ("x=", "<a>)(</a>+(", "", ""),
        ("x=<a>\"", "{<a>\"\"", "", ""),
        ("", "{<!-- }\n", "", ""),
        ("type A=", "<T>(", "", ""),
        ("x=", "<a b=\"\n'\">{", "", ""),
        ("", "{}/[}]/;{", "", ""),
        ("", "{\u{a0}/}/;", "", ""),
        ("", "a\u{b}/(/", "", ""),
        ("", "1./(/", "", ""),
        ("", "f(...typeof/)/,", "", ""),
        ("x=", "class{return <T>(a=b</T>}/,c=", "", ""),
        ("", "interface A{<T>(a=b</T>}/,c=class{}){}", "", ""),
    ];

    fn repeat((before, open, close, after): &(&str, &str, &str, &str), times: usize) -> String {
        format!("{before}{}{}{after}", open.repeat(times), close.repeat(times))
    }

    #[test]
    fn no_construct_gets_past_when_it_is_repeated() {
        for times in [1_500, 100_000] {
            for (language, bombs, fit) in [
                ("rust", RUST, rust as fn(&str) -> Fit),
                ("python", PYTHON, python),
                ("javascript", JAVASCRIPT, |text| javascript(text, true)),
            ] {
                for bomb in bombs {
                    assert_eq!(fit(&repeat(bomb, times)), Fit::TooDeep, "{language}: {bomb:?} × {times}");
                    assert_eq!(fit(&repeat(bomb, 20)), Fit::Fits, "{language}: {bomb:?} × 20");
                }
            }
            for bomb in [("", "<a>", "", "b"), ("x=", "<a>\n", "", "b"), ("x=", "<A<b>>", "", "b")] {
                assert_eq!(javascript(&repeat(&bomb, times), false), Fit::TooDeep, "{bomb:?} × {times}");
            }
            for bomb in TEXT {
                assert_ne!(javascript(&repeat(bomb, times), true), Fit::Fits, "{bomb:?} × {times}");
            }
            for bomb in MIXED {
                assert_eq!(rust(&repeat(bomb, times)), Fit::TooDeep, "{bomb:?} × {times}");
                assert_eq!(python(&repeat(bomb, times)), Fit::TooDeep, "{bomb:?} × {times}");
                assert_ne!(javascript(&repeat(bomb, times), true), Fit::Fits, "{bomb:?} × {times}");
            }
        }
    }

    #[test]
    fn python_blocks_are_counted_by_their_indentation() {
        let nest = |times: usize| {
            (0..times).fold(String::new(), |text, n| text + &" ".repeat(n) + "if a:\n") + &" ".repeat(times) + "b\n"
        };
        assert_eq!((python(&nest(50)), python(&nest(400))), (Fit::Fits, Fit::TooDeep));
    }

    #[test]
    fn long_files_of_ordinary_statements_pass() {
        let many = |line: &str| line.repeat(5_000);
        assert_eq!(
            rust(&many("impl<T: A + B> C<T> for D<T> { fn a(&self) -> u8 { if x < 1 { return 2 } else { 3 } } }\n")),
            Fit::Fits
        );
        assert_eq!(rust(&many("#[derive(Debug)]\npub struct A { a: Vec<u8>, b: &'static str }\n")), Fit::Fits);
        assert_eq!(python(&many("if a == 1:\n    x = [b for b in c if not d]\nelif e:\n    return -1\n")), Fit::Fits);
        assert_eq!(python(&many("a = sorted(b, key=lambda c, d: c[1:2], e=lambda: f)\n")), Fit::Fits);
        assert_eq!(rust(&many("use a::*; fn b(&self, _: u8) -> [u8; 2] { let c; return; }\n")), Fit::Fits);
        assert_eq!(javascript(&many("export const a = (x) => x + 1\n"), false), Fit::Fits);
        assert_eq!(javascript(&many("if (a) { b(\"it's (\") } else { c() }\nfoo()\n"), false), Fit::Fits);
        assert_eq!(javascript(&many("interface A<T> { a: Array<T>; b?: () => void }\n"), false), Fit::Fits);
        let decorated = "@Input() a?: string\n@Output()\nb = new Emitter()\n@Listen('c') d() { e() }\n";
        assert_eq!(javascript(&format!("class A {{\n{}}}\n", many(decorated)), false), Fit::Fits);
    }
}
