//! What the tokenizer knows of each language.

use super::Kind::{self, Class, Constant, Enum, Function, Interface, Method, Module, Struct, Type};

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

const C_BLOCK: Option<(&str, &str)> = Some(("/*", "*/"));

const DOUBLE: Quote = Quote { open: "\"", close: "\"", escapes: true, lines: false };
const SINGLE: Quote = Quote { open: "'", close: "'", escapes: true, lines: false };
const TRIPLE: Quote = Quote { open: "\"\"\"", close: "\"\"\"", escapes: true, lines: true };
const TRIPLE_SINGLE: Quote = Quote { open: "'''", close: "'''", escapes: true, lines: true };
const TICK: Quote = Quote { open: "`", close: "`", escapes: true, lines: true };
const RAW_TICK: Quote = Quote { open: "`", close: "`", escapes: false, lines: true };
const LONG_DOUBLE: Quote = Quote { open: "\"", close: "\"", escapes: true, lines: true };
const LONG_SINGLE: Quote = Quote { open: "'", close: "'", escapes: false, lines: true };

/// What the languages have in common: `//` and `/* */`, braces, strings that end on their line.
const BASE: Table = Table {
    line_comments: &["//"],
    block_comment: C_BLOCK,
    nested_comments: false,
    quotes: &[DOUBLE, SINGLE],
    declare: &[],
    body_needed: &[],
    layout: Layout::Braces,
    bare_functions: false,
    receivers: false,
    define_macros: false,
    typedefs: false,
    dashes: false,
    assigned_functions: false,
    any_case: false,
    test_words: &[],
    test_marks: &[],
    test_prefix: "",
};

const CLASSES: &[(&str, Kind)] = &[
    ("class", Class),
    ("interface", Interface),
    ("enum", Enum),
    ("record", Struct),
    ("namespace", Module),
    ("struct", Struct),
];

/// Go.
pub static GO: Table = Table {
    quotes: &[DOUBLE, SINGLE, RAW_TICK],
    declare: &[("func", Function), ("type", Type), ("const", Constant), ("var", Constant)],
    receivers: true,
    test_prefix: "Test",
    ..BASE
};

/// Java.
pub static JAVA: Table = Table {
    quotes: &[TRIPLE, DOUBLE, SINGLE],
    declare: CLASSES,
    bare_functions: true,
    test_marks: &["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "Property"],
    ..BASE
};

/// Kotlin.
pub static KOTLIN: Table = Table {
    nested_comments: true,
    quotes: &[TRIPLE, DOUBLE, SINGLE],
    declare: &[("class", Class), ("interface", Interface), ("object", Class), ("fun", Function), ("typealias", Type)],
    receivers: true,
    test_marks: &["Test", "ParameterizedTest"],
    ..BASE
};

/// C.
pub static C: Table = Table {
    declare: &[("struct", Struct), ("union", Struct), ("enum", Enum)],
    body_needed: &["struct", "union", "enum"],
    bare_functions: true,
    define_macros: true,
    typedefs: true,
    ..BASE
};

/// C++.
pub static CPP: Table = Table {
    declare: &[
        ("class", Class),
        ("struct", Struct),
        ("union", Struct),
        ("enum", Enum),
        ("namespace", Module),
        ("concept", Type),
    ],
    body_needed: &["class", "struct", "union", "enum", "namespace"],
    ..C
};

/// C#.
pub static CSHARP: Table = Table {
    quotes: &[TRIPLE, DOUBLE, SINGLE],
    declare: CLASSES,
    bare_functions: true,
    test_marks: &["Test", "TestCase", "Fact", "Theory", "TestMethod"],
    ..BASE
};

/// Swift.
pub static SWIFT: Table = Table {
    nested_comments: true,
    quotes: &[TRIPLE, DOUBLE],
    declare: &[
        ("class", Class),
        ("struct", Struct),
        ("enum", Enum),
        ("protocol", Interface),
        ("extension", Type),
        ("actor", Class),
        ("func", Function),
        ("typealias", Type),
    ],
    test_marks: &["Test"],
    test_prefix: "test",
    ..BASE
};

/// Scala.
pub static SCALA: Table = Table {
    nested_comments: true,
    quotes: &[TRIPLE, DOUBLE],
    declare: &[
        ("class", Class),
        ("object", Class),
        ("trait", Interface),
        ("def", Function),
        ("enum", Enum),
        ("type", Type),
    ],
    ..BASE
};

/// PHP.
pub static PHP: Table = Table {
    line_comments: &["//", "#"],
    quotes: &[LONG_DOUBLE, Quote { escapes: true, ..LONG_SINGLE }],
    declare: &[
        ("class", Class),
        ("interface", Interface),
        ("trait", Interface),
        ("enum", Enum),
        ("function", Function),
        ("namespace", Module),
    ],
    test_prefix: "test",
    ..BASE
};

/// Ruby.
pub static RUBY: Table = Table {
    line_comments: &["#"],
    block_comment: Some(("\n=begin", "\n=end")),
    quotes: &[DOUBLE, SINGLE],
    declare: &[("class", Class), ("module", Module), ("def", Function)],
    layout: Layout::Indent,
    test_words: &["it", "describe", "context", "test", "specify"],
    test_prefix: "test_",
    ..BASE
};

/// Shell.
pub static SHELL: Table = Table {
    line_comments: &["#"],
    block_comment: None,
    quotes: &[LONG_DOUBLE, LONG_SINGLE],
    declare: &[("function", Function)],
    bare_functions: true,
    dashes: true,
    ..BASE
};

/// SQL.
pub static SQL: Table = Table {
    line_comments: &["--"],
    quotes: &[Quote { escapes: false, ..LONG_SINGLE }],
    declare: &[
        ("table", Kind::Table),
        ("view", Kind::View),
        ("index", Kind::Index),
        ("trigger", Function),
        ("function", Function),
        ("procedure", Function),
        ("type", Type),
    ],
    layout: Layout::Statements,
    any_case: true,
    ..BASE
};

/// Protocol Buffers.
pub static PROTO: Table =
    Table { declare: &[("message", Struct), ("enum", Enum), ("service", Interface), ("rpc", Method)], ..BASE };

/// WIT.
pub static WIT: Table = Table {
    quotes: &[],
    declare: &[
        ("interface", Interface),
        ("world", Module),
        ("record", Struct),
        ("enum", Enum),
        ("variant", Enum),
        ("flags", Enum),
        ("resource", Class),
        ("type", Type),
    ],
    dashes: true,
    ..BASE
};

/// Rust, for files that the parser cannot take.
pub static RUST: Table = Table {
    nested_comments: true,
    // A single quote is a lifetime as often as a character.
    quotes: &[LONG_DOUBLE],
    declare: &[
        ("fn", Function),
        ("struct", Struct),
        ("enum", Enum),
        ("trait", Interface),
        ("mod", Module),
        ("union", Struct),
        ("type", Type),
        ("const", Constant),
        ("static", Constant),
        ("impl", Type),
    ],
    test_marks: &["test"],
    ..BASE
};

/// Python, for files that the parser cannot take.
pub static PYTHON: Table = Table {
    line_comments: &["#"],
    block_comment: None,
    quotes: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
    declare: &[("class", Class), ("def", Function)],
    layout: Layout::Indent,
    test_prefix: "test_",
    ..BASE
};

/// JavaScript and TypeScript, for files that the parser cannot take.
pub static JAVASCRIPT: Table = Table {
    quotes: &[DOUBLE, SINGLE, TICK],
    declare: &[
        ("function", Function),
        ("class", Class),
        ("interface", Interface),
        ("enum", Enum),
        ("namespace", Module),
        ("type", Type),
    ],
    bare_functions: true,
    assigned_functions: true,
    test_words: &["it", "describe", "test"],
    ..BASE
};
