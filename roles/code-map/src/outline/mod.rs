//! The definitions and comments of one file.

mod blocks;
mod guard;
mod javascript;
mod lines;
mod pieces;
mod python;
mod rust;
pub mod tables;
pub mod tokens;

use std::ops::Range;

use serde::Serialize;

use crate::language::{Language, Reader};
use crate::limits::{MAX_DEFINITIONS_PER_FILE, MAX_NAME_CHARS};

/// What a definition defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A free function.
    Function,
    /// A function of a type.
    Method,
    /// A class.
    Class,
    /// A struct, record or union.
    Struct,
    /// An enumeration.
    Enum,
    /// A trait, interface or protocol.
    Interface,
    /// A type alias or another named type.
    Type,
    /// A module, namespace or package.
    Module,
    /// A constant or static.
    Constant,
    /// A macro.
    Macro,
    /// An implementation of an interface for a type.
    Impl,
    /// A test.
    Test,
    /// A table of a database.
    Table,
    /// A view of a database.
    View,
    /// An index of a database.
    Index,
    /// A heading of a document.
    Heading,
    /// A table of a settings file, a top-level key, or a target.
    Section,
}

impl Kind {
    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Function => "function",
            Kind::Method => "method",
            Kind::Class => "class",
            Kind::Struct => "struct",
            Kind::Enum => "enum",
            Kind::Interface => "interface",
            Kind::Type => "type",
            Kind::Module => "module",
            Kind::Constant => "constant",
            Kind::Macro => "macro",
            Kind::Impl => "impl",
            Kind::Test => "test",
            Kind::Table => "table",
            Kind::View => "view",
            Kind::Index => "index",
            Kind::Heading => "heading",
            Kind::Section => "section",
        }
    }
}

/// A named piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name, without the container.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The type, module or heading it belongs to.
    pub container: Option<String>,
    /// 1-based line of its name.
    pub line: u32,
    /// First line of the comments and attributes above it; `line` without any.
    pub top: u32,
    /// Last line; `line` where the end is not known.
    pub end: u32,
    /// Whether it is a test, or belongs to tests: a helper in a module of tests.
    pub test: bool,
}

impl Definition {
    /// `Container::name`, with the separator of prose.
    pub fn qualified(&self) -> String {
        match &self.container {
            Some(container) if self.kind != Kind::Heading => format!("{container}::{}", self.name),
            _ => self.name.clone(),
        }
    }
}

/// How an outline was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// By the language's own reader.
    Own,
    /// By the tokenizer, since the file is nested too deeply for a recursive parser.
    TooDeep,
    /// By the tokenizer, since the parser gave up, or how deep it would get could not be told.
    Unparsable,
}

/// What is known of a file.
#[derive(Debug)]
pub struct Outline {
    /// In order of their lines, at most [`MAX_DEFINITIONS_PER_FILE`].
    pub definitions: Vec<Definition>,
    /// Byte ranges of comments and doc strings, in order.
    pub comments: Vec<Range<usize>>,
    /// How it was made.
    pub made: Made,
    /// Definitions over the bound.
    pub dropped: usize,
}

/// Reads the outline of a file. No text makes it fail: the worst is an outline without definitions.
pub fn outline(language: &Language, path: &str, text: &str) -> Outline {
    let mut made = Made::Own;
    let mut found = match language.reader {
        Reader::Rust => {
            guarded(guard::rust(text), &mut made, || Some(rust::outline(text)), || tokens::outline(&tables::RUST, text))
        }
        Reader::Python => guarded(
            guard::python(text),
            &mut made,
            || Some(python::outline(text)),
            || tokens::outline(&tables::PYTHON, text),
        ),
        Reader::JavaScript => {
            let plain = [".ts", ".mts", ".cts"].iter().any(|extension| path.ends_with(extension));
            guarded(
                guard::javascript::fits(text, !plain),
                &mut made,
                || javascript::outline(path, text),
                || tokens::outline(&tables::JAVASCRIPT, text),
            )
        }
        Reader::Tokens(table) => tokens::outline(table, text),
        Reader::Markdown => lines::markdown(text),
        Reader::Tables => lines::tables(text),
        Reader::Keys => lines::keys(text),
        Reader::Targets => lines::targets(text),
        Reader::None => Found::default(),
    };
    found.definitions.sort_by_key(|definition| (definition.line, std::cmp::Reverse(definition.end)));
    let dropped = found.definitions.len().saturating_sub(MAX_DEFINITIONS_PER_FILE);
    found.definitions.truncate(MAX_DEFINITIONS_PER_FILE);
    for definition in &mut found.definitions {
        cut(&mut definition.name);
        if let Some(container) = &mut definition.container {
            cut(container);
        }
    }
    found.comments.sort_by_key(|range| range.start);
    Outline { definitions: found.definitions, comments: found.comments, made, dropped }
}

/// What a reader finds.
#[derive(Debug, Default)]
pub struct Found {
    /// In any order.
    pub definitions: Vec<Definition>,
    /// In any order.
    pub comments: Vec<Range<usize>>,
}

fn guarded(
    fit: guard::Fit,
    made: &mut Made,
    parse: impl FnOnce() -> Option<Found>,
    tokens: impl FnOnce() -> Found,
) -> Found {
    let parsed = match fit {
        guard::Fit::Fits => parse(),
        guard::Fit::TooDeep | guard::Fit::Unclear => None,
    };
    parsed.unwrap_or_else(|| {
        *made = if fit == guard::Fit::TooDeep { Made::TooDeep } else { Made::Unparsable };
        tokens()
    })
}

fn cut(name: &mut String) {
    if let Some((at, _)) = name.char_indices().nth(MAX_NAME_CHARS) {
        name.truncate(at);
        name.push('…');
    }
}

/// From byte offsets to lines.
#[derive(Debug)]
pub struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// Of a text of at most 4 GiB, which [`crate::limits::MAX_FILE_BYTES`] ensures.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1));
        Self { starts }
    }

    /// The 1-based line of an offset.
    pub fn of(&self, offset: usize) -> u32 {
        self.starts.partition_point(|start| *start as usize <= offset) as u32
    }

    /// How many lines there are; a newline at the end begins none.
    pub fn count(&self, text: &str) -> u32 {
        let started = self.starts.len() as u32;
        if text.is_empty() || text.ends_with('\n') { started - 1 } else { started }
    }
}

/// The lines that comments fill alone, for finding the comments above a definition.
pub(crate) fn comment_top(lines: &Lines, text: &str, comments: &[Range<usize>], line: u32) -> u32 {
    let mut top = line;
    // Comments are in order; the last one that ends above `top` is looked at again and again.
    let mut next = comments.partition_point(|range| lines.of(range.start) < line);
    while next > 0 {
        next -= 1;
        let range = &comments[next];
        let first = lines.of(range.start);
        let last = lines.of(range.end.saturating_sub(1).max(range.start));
        let starts_line = starts_line(text, range.start);
        if !starts_line || last + 1 < top || last >= line {
            break;
        }
        top = first;
    }
    top
}

/// Whether only spaces stand before an offset on its line. A line that begins far away has more than spaces.
fn starts_line(text: &str, offset: usize) -> bool {
    const MAX_INDENT: usize = 256;
    let before = text.as_bytes()[..offset].iter().rev().take(MAX_INDENT).find(|byte| !matches!(byte, b' ' | b'\t'));
    before.map_or(offset < MAX_INDENT, |byte| *byte == b'\n')
}
