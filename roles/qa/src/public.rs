//! Which definitions can be used from outside their file, told by the line that declares them.

use std::collections::BTreeSet;

use code_map::language::Language;
use code_map::outline::{Definition, Kind};

/// Names in one list of exports that are read.
const MAX_EXPORTS: usize = 2_000;

/// What is needed to judge the definitions of one file.
pub struct Visible<'a> {
    language: &'static str,
    header: bool,
    lines: Vec<&'a str>,
    /// Names in `export { … }` and `module.exports = { … }`.
    exported: BTreeSet<&'a str>,
}

impl<'a> Visible<'a> {
    /// `code` is the file without comments and strings.
    pub fn new(language: &Language, path: &str, code: &'a str) -> Self {
        let exported = match language.name {
            "JavaScript" | "TypeScript" => exported(code),
            _ => BTreeSet::new(),
        };
        let header = [".h", ".hh", ".hpp", ".hxx"].iter().any(|end| path.ends_with(end));
        Self { language: language.name, header, lines: code.lines().collect(), exported }
    }

    fn line(&self, number: u32) -> &'a str {
        (number as usize).checked_sub(1).and_then(|at| self.lines.get(at)).copied().unwrap_or_default().trim_start()
    }

    /// Whether a definition can be used from outside.
    pub fn is_public(&self, one: &Definition, all: &[Definition]) -> bool {
        if one.test {
            return false;
        }
        let line = self.line(one.line);
        let has = |word: &str| has_word(line, word);
        let container = one.container.as_deref();
        // What is inside of a function is nobody else's.
        let outer = container.and_then(|name| all.iter().find(|outer| outer.name == name && outer.line < one.line));
        if outer.is_some_and(|outer| matches!(outer.kind, Kind::Function | Kind::Method)) {
            return false;
        }
        match self.language {
            "Rust" => line.starts_with("pub ") || line.contains("#[macro_export]"),
            "Python" => {
                let own = !one.name.starts_with('_');
                own && container.is_none_or(|container| !container.starts_with('_'))
            }
            "JavaScript" | "TypeScript" => {
                if one.name.starts_with(['#', '_']) || has("private") || has("protected") {
                    return false;
                }
                let of = |name: &str, line: &str| {
                    has_word(line, "export") || line.contains("exports.") || self.exported.contains(name)
                };
                of(&one.name, line) || outer.is_some_and(|outer| of(&outer.name, self.line(outer.line)))
            }
            "Go" => {
                let upper = |name: &str| name.chars().next().is_some_and(char::is_uppercase);
                upper(&one.name) && container.is_none_or(upper)
            }
            "Java" | "C#" => has("public"),
            "Swift" => has("public") || has("open"),
            "Kotlin" | "Scala" | "PHP" => !has("private") && !has("protected") && !has("internal"),
            "Ruby" => !one.name.starts_with('_') && !has("private"),
            "C" | "C++" => self.header && !has("static"),
            _ => false,
        }
    }
}

fn exported(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for opening in ["export {", "export default ", "module.exports = {", "module.exports = "] {
        for (at, _) in code.match_indices(opening) {
            let rest = code.get(at + opening.len()..).unwrap_or_default();
            let end = rest.find(if opening.ends_with('{') { '}' } else { '\n' }).unwrap_or(rest.len());
            let inside = rest.get(..end).unwrap_or_default();
            for word in inside.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').filter(|w| !w.is_empty()) {
                if names.len() >= MAX_EXPORTS {
                    return names;
                }
                names.insert(word);
            }
        }
    }
    names
}

/// Whether a word stands by itself.
pub fn has_word(text: &str, word: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80);
    let bytes = text.as_bytes();
    text.match_indices(word).any(|(at, _)| {
        !is_word(at.checked_sub(1).and_then(|before| bytes.get(before))) && !is_word(bytes.get(at + word.len()))
    })
}

/// Whether a word is written as an identifier is, and not as a word of a sentence.
pub fn is_identifier(word: &str) -> bool {
    word.trim_matches('_').contains('_')
        || word.chars().skip(1).any(char::is_uppercase)
        || word.contains(|c: char| c.is_ascii_digit())
}
