//! Rust, by the parser of rust-analyzer. It repairs as it goes, so a file with errors has an outline too.

use ra_ap_parser::SyntaxKind::{self, *};
use ra_ap_parser::{Edition, LexedStr, StrStep, TopEntryPoint};

use super::{Definition, Found, Kind, Lines};

/// An item that is open.
struct Item {
    /// Its place in the nodes.
    at: usize,
    kind: Kind,
    name: String,
    line: u32,
    top: u32,
    attributes: String,
    /// `#[test]` or one of its kind.
    test: bool,
    /// `#[cfg(test)]`.
    for_tests: bool,
    /// What an impl implements, once `for` was seen; the name is that of the type.
    interface: Option<String>,
    has_body: bool,
}

pub(super) fn outline(text: &str) -> Found {
    let lexed = LexedStr::new(Edition::CURRENT, text);
    let output = TopEntryPoint::SourceFile.parse(&lexed.to_input(Edition::CURRENT));
    let mut reader = Reader {
        lines: Lines::new(text),
        nodes: Vec::new(),
        items: Vec::new(),
        attributes: 0,
        trees: 0,
        found: Found::default(),
        offset: 0,
        macros: Macros::default(),
    };
    lexed.intersperse_trivia(&output, &mut |step| match step {
        StrStep::Enter { kind } => reader.enter(kind),
        StrStep::Exit => reader.exit(),
        StrStep::Token { kind, text } => reader.token(kind, text),
        StrStep::Error { .. } => {}
    });
    reader.found
}

struct Reader {
    lines: Lines,
    /// The nodes of the syntax tree that are open, outermost first.
    nodes: Vec<SyntaxKind>,
    /// Those of them that are items.
    items: Vec<Item>,
    /// How many of them are attributes, and how many hold the tokens of a macro call.
    attributes: usize,
    trees: usize,
    found: Found,
    offset: usize,
    macros: Macros,
}

/// The last tokens inside a macro call, whose contents are not parsed: `proptest! { #[test] fn holds(…) … }`.
#[derive(Default)]
struct Macros {
    after_fn: bool,
    test: bool,
}

fn item_kind(kind: SyntaxKind) -> Option<Kind> {
    Some(match kind {
        FN => Kind::Function,
        STRUCT | UNION => Kind::Struct,
        ENUM => Kind::Enum,
        TRAIT => Kind::Interface,
        IMPL => Kind::Impl,
        MODULE => Kind::Module,
        CONST | STATIC => Kind::Constant,
        TYPE_ALIAS => Kind::Type,
        MACRO_RULES | MACRO_DEF => Kind::Macro,
        _ => return None,
    })
}

impl Reader {
    fn line(&self) -> u32 {
        self.lines.of(self.offset)
    }

    fn enter(&mut self, kind: SyntaxKind) {
        if let Some(item) = item_kind(kind) {
            let line = self.line();
            self.items.push(Item {
                at: self.nodes.len(),
                kind: item,
                name: String::new(),
                line,
                top: line,
                attributes: String::new(),
                test: false,
                for_tests: false,
                interface: None,
                has_body: false,
            });
        }
        match kind {
            ITEM_LIST => {
                if let Some(item) = self.items.last_mut() {
                    item.has_body = true;
                }
            }
            ATTR => self.attributes += 1,
            TOKEN_TREE => self.trees += 1,
            _ => {}
        }
        self.nodes.push(kind);
    }

    fn exit(&mut self) {
        match self.nodes.pop() {
            Some(ATTR) => self.attributes -= 1,
            Some(TOKEN_TREE) => self.trees -= 1,
            _ => {}
        }
        if let Some(item) = self.items.pop_if(|item| item.at == self.nodes.len()) {
            self.define(item);
        }
    }

    /// An item ends.
    fn define(&mut self, item: Item) {
        let mut kind = item.kind;
        let in_tests = self.in_tests();
        let (name, container) = match kind {
            // What an impl adds to a type is found under the type; that a type has an interface is worth a line.
            Kind::Impl => match item.interface {
                Some(interface) => (format!("{interface} for {}", item.name), None),
                None => return,
            },
            // `mod name;` only says that another file is there.
            Kind::Module if !item.has_body => return,
            _ => (item.name, self.container()),
        };
        if name.is_empty() || name == "_" {
            return;
        }
        if kind == Kind::Function
            && matches!(self.items.last().map(|outer| outer.kind), Some(Kind::Impl | Kind::Interface))
        {
            kind = Kind::Method;
        }
        if item.test && matches!(kind, Kind::Function | Kind::Method) {
            kind = Kind::Test;
        }
        let end = self.lines.of(self.offset.saturating_sub(1)).max(item.line);
        let test = item.test || item.for_tests || in_tests;
        self.found.definitions.push(Definition { name, kind, container, line: item.line, top: item.top, end, test });
    }

    fn container(&self) -> Option<String> {
        self.items.last().map(|outer| outer.name.clone()).filter(|name| !name.is_empty())
    }

    fn in_tests(&self) -> bool {
        self.items.iter().any(|outer| outer.test || outer.for_tests)
    }

    fn token(&mut self, kind: SyntaxKind, text: &str) {
        if kind == COMMENT {
            self.found.comments.push(self.offset..self.offset + text.len());
        }
        if !kind.is_trivia() {
            self.place(kind, text);
        }
        self.offset += text.len();
    }

    /// Gives a token to the innermost item.
    fn place(&mut self, kind: SyntaxKind, text: &str) {
        if self.trees > 0 && self.attributes == 0 {
            return self.in_macro(kind, text);
        }
        let Some(item) = self.items.last_mut() else { return };
        match &self.nodes[item.at + 1..] {
            [ATTR, ..] => {
                item.attributes.push_str(text);
                if kind == R_BRACK {
                    item.test |= is_test(&item.attributes);
                    item.for_tests |= is_for_tests(&item.attributes);
                }
            }
            [NAME] if item.kind != Kind::Impl => {
                item.name = text.trim_start_matches("r#").to_owned();
                item.line = self.lines.of(self.offset);
            }
            // The last plain name of the path is the type's, whatever its arguments.
            [PATH_TYPE | REF_TYPE | DYN_TRAIT_TYPE, rest @ ..]
                if item.kind == Kind::Impl
                    && kind == IDENT
                    && rest.last() == Some(&NAME_REF)
                    && !rest.contains(&GENERIC_ARG_LIST) =>
            {
                item.name = text.to_owned();
            }
            [] if kind == FOR_KW && item.kind == Kind::Impl => {
                item.interface = Some(std::mem::take(&mut item.name));
                item.line = self.lines.of(self.offset);
            }
            _ => {}
        }
    }

    fn in_macro(&mut self, kind: SyntaxKind, text: &str) {
        if kind == IDENT && self.macros.after_fn {
            let (line, test) = (self.line(), std::mem::take(&mut self.macros.test));
            let kind = if test { Kind::Test } else { Kind::Function };
            let test = test || self.in_tests();
            self.found.definitions.push(Definition {
                name: text.to_owned(),
                kind,
                container: self.container(),
                line,
                top: line,
                end: line,
                test,
            });
        }
        self.macros.after_fn = kind == FN_KW;
        self.macros.test |= kind == IDENT && text == "test";
    }
}

/// `#[test]`, `#[tokio::test(…)]`, `#[rstest]`: the last attribute of those given.
fn is_test(attributes: &str) -> bool {
    let path = last(attributes).split('(').next().unwrap_or("");
    matches!(
        path.rsplit("::").next(),
        Some("test" | "rstest" | "test_case" | "quickcheck" | "proptest" | "wasm_bindgen_test")
    )
}

/// `#[cfg(test)]`, `#[cfg(all(test, …))]`.
fn is_for_tests(attributes: &str) -> bool {
    let last = last(attributes);
    last.starts_with("cfg(") && last.contains("(test") && !last.contains("not(test")
}

fn last(attributes: &str) -> &str {
    attributes.rsplit("#[").next().unwrap_or("").trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(String, Kind, u32, bool)> {
        let mut definitions = outline(text).definitions;
        definitions.sort_by_key(|definition| (definition.line, definition.qualified()));
        definitions.into_iter().map(|d| (d.qualified(), d.kind, d.line, d.test)).collect()
    }

    #[test]
    fn items_methods_and_tests() {
        let text = "/// Doc.\n#[derive(Debug)]\npub struct Journal<'a> { file: &'a str }\n\nimpl<'a> Journal<'a> {\n    pub fn append(&mut self) { fn inner() {} }\n}\n\
            impl std::fmt::Display for Journal<'_> {\n    fn fmt(&self) {}\n}\nmod other;\n#[cfg(test)]\nmod tests {\n    #[tokio::test]\n    async fn r#works() {}\n    proptest! { #[test] fn holds(a in 0..1) { } }\n}\nconst _: () = ();\npub const MAX: usize = 1;\ntrait T { fn a(); }\n";
        let found = rows(text);
        let expected = [
            ("Journal", Kind::Struct, 3, false),
            ("Journal::append", Kind::Method, 6, false),
            ("append::inner", Kind::Function, 6, false),
            ("Display for Journal", Kind::Impl, 8, false),
            ("Journal::fmt", Kind::Method, 9, false),
            ("tests", Kind::Module, 13, true),
            ("tests::works", Kind::Test, 15, true),
            ("tests::holds", Kind::Test, 16, true),
            ("MAX", Kind::Constant, 19, false),
            ("T", Kind::Interface, 20, false),
            ("T::a", Kind::Method, 20, false),
        ];
        assert_eq!(
            found.iter().map(|(name, kind, line, test)| (name.as_str(), *kind, *line, *test)).collect::<Vec<_>>(),
            expected
        );
        let journal = outline(text).definitions.into_iter().find(|d| d.name == "Journal").expect("journal");
        assert_eq!((journal.top, journal.line, journal.end), (1, 3, 3));
    }

    #[test]
    fn a_broken_file_still_has_an_outline() {
        let found = rows("fn a( {\n}\nstruct B {\nfn c() }}}}\nfn d() {}\n");
        assert!(found.iter().any(|(name, ..)| name == "a") && found.iter().any(|(name, ..)| name == "B"), "{found:?}");
    }
}
