//! Definitions on a single line of source: what is defined, and whether others can see it.

use crate::code::indent;
use crate::lang::Lang;

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Exported, public, or by the language's rule visible to others.
    pub public: bool,
    /// The line up to its body, white space made one.
    pub signature: String,
}

/// The definition that a line begins, if it begins one. `code` is the line without the contents of its strings.
pub fn definition(code: &str, lang: Lang) -> Option<Definition> {
    let line = code.trim();
    let (name, public) = match lang {
        Lang::Rust => rust(line)?,
        Lang::Js => js(line)?,
        Lang::Python => {
            let rest = ["async def ", "def ", "class "].iter().find_map(|keyword| line.strip_prefix(keyword))?;
            let name = identifier(rest)?;
            // A deeper one is visible only when it is a method: `rules::api` knows its surroundings.
            (name, !name.starts_with('_') && indent(code) == 0)
        }
        Lang::Go => go(line)?,
        Lang::Java | Lang::CSharp => java(line)?,
        Lang::Kotlin | Lang::Swift => kotlin_or_swift(line, lang)?,
        Lang::Php => {
            let hidden = line.starts_with("private ") || line.starts_with("protected ");
            let at = line.find("function ")?;
            (identifier(line.get(at + 9..)?.trim_start())?, !hidden)
        }
        Lang::Ruby => {
            (identifier(["def ", "class ", "module "].iter().find_map(|keyword| line.strip_prefix(keyword))?)?, false)
        }
        Lang::C | Lang::Shell | Lang::Other => return None,
    };
    Some(Definition { name: name.to_owned(), public, signature: signature(line) })
}

fn signature(line: &str) -> String {
    let head = line.split('{').next().unwrap_or(line);
    head.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches([':', ';', ' ']).to_owned()
}

/// The identifier at the start of `text`.
fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty())
}

fn without_words<'a>(mut line: &'a str, words: &[&str]) -> &'a str {
    while let Some(rest) = words.iter().find_map(|word| line.strip_prefix(word)) {
        line = rest.trim_start();
    }
    line
}

fn rust(line: &str) -> Option<(&str, bool)> {
    let (public, rest) = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => (false, rest.split_once(')')?.1.trim_start()),
        Some(rest) if rest.starts_with(' ') => (true, rest.trim_start()),
        _ => (false, line),
    };
    if public && let Some(path) = rest.strip_prefix("use ") {
        return Some((path.trim_end_matches(';'), true));
    }
    let bare = without_words(
        rest,
        &["default ", "async ", "unsafe ", "extern \"\" ", "const unsafe ", "const async ", "const extern \"\" "],
    );
    let bare = bare.strip_prefix("const ").filter(|after| after.starts_with("fn ")).unwrap_or(bare);
    let keywords = [
        "fn ",
        "struct ",
        "enum ",
        "trait ",
        "type ",
        "static mut ",
        "static ",
        "const ",
        "mod ",
        "union ",
        "macro_rules! ",
    ];
    let name = keywords.iter().find_map(|keyword| bare.strip_prefix(keyword))?;
    Some((identifier(name.trim_start())?, public))
}

fn js(line: &str) -> Option<(&str, bool)> {
    if let Some(rest) = line.strip_prefix("module.exports") {
        let own = rest.strip_prefix('.').and_then(identifier);
        return Some((own.unwrap_or("module.exports"), true));
    }
    if let Some(rest) = line.strip_prefix("exports.") {
        return Some((identifier(rest)?, true));
    }
    let (public, rest) = match line.strip_prefix("export ") {
        Some(rest) => (true, rest.trim_start()),
        None => (false, line),
    };
    if public && (rest.starts_with('{') || rest.starts_with('*')) {
        return Some((rest, true));
    }
    let bare = without_words(rest, &["default ", "declare ", "async ", "abstract "]);
    let keywords = ["function* ", "function *", "function ", "class ", "interface ", "type ", "enum ", "namespace "];
    if let Some(name) = keywords.iter().find_map(|keyword| bare.strip_prefix(keyword)) {
        return Some((identifier(name.trim_start())?, public));
    }
    let variable = ["const ", "let ", "var "].iter().find_map(|keyword| bare.strip_prefix(keyword));
    match variable {
        Some(name) if public || name.contains("=>") || name.contains("function") => Some((identifier(name)?, public)),
        None if public && rest.starts_with("default ") => Some(("default", true)),
        _ => None,
    }
}

fn go(line: &str) -> Option<(&str, bool)> {
    let name = if let Some(rest) = line.strip_prefix("func ") {
        let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim_start() } else { rest };
        identifier(rest)?
    } else {
        identifier(["type ", "var ", "const "].iter().find_map(|keyword| line.strip_prefix(keyword))?)?
    };
    Some((name, name.starts_with(char::is_uppercase)))
}

fn java(line: &str) -> Option<(&str, bool)> {
    let public = line.starts_with("public ");
    if !(public || line.starts_with("private ") || line.starts_with("protected ") || line.starts_with("internal ")) {
        return None;
    }
    let kinds = [" class ", " interface ", " enum ", " record ", " @interface ", " struct "];
    if let Some(rest) = kinds.iter().find_map(|kind| line.split_once(kind).map(|(_, rest)| rest)) {
        return Some((identifier(rest)?, public));
    }
    let head = line.split(['(', '=', ';']).next().unwrap_or(line).trim_end();
    let name = head.rsplit([' ', '.']).next()?;
    Some((identifier(name)?, public))
}

fn kotlin_or_swift(line: &str, lang: Lang) -> Option<(&str, bool)> {
    let hidden = ["private ", "internal ", "protected ", "fileprivate "].iter().any(|word| line.starts_with(word));
    let shown = line.starts_with("public ") || line.starts_with("open ");
    let bare = without_words(
        line,
        &[
            "public ",
            "open ",
            "private ",
            "internal ",
            "protected ",
            "fileprivate ",
            "override ",
            "suspend ",
            "final ",
            "static ",
            "abstract ",
            "sealed ",
            "data ",
            "inline ",
        ],
    );
    let keywords = ["fun ", "func ", "class ", "interface ", "object ", "struct ", "enum ", "protocol "];
    let name = keywords.iter().find_map(|keyword| bare.strip_prefix(keyword))?;
    // Kotlin's default is public, Swift's is internal.
    Some((identifier(name.trim_start())?, shown || (lang == Lang::Kotlin && !hidden)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_each_language() {
        let cases = [
            (Lang::Rust, "pub async fn run(a: u8) -> X {", Some(("run", true))),
            (Lang::Rust, "    pub const fn id() -> u8 {", Some(("id", true))),
            (Lang::Rust, "pub const MAX: usize = 3;", Some(("MAX", true))),
            (Lang::Rust, "pub(crate) fn hidden() {", Some(("hidden", false))),
            (Lang::Rust, "pub use a::B;", Some(("a::B", true))),
            (Lang::Rust, "publish(x);", None),
            (Lang::Js, "export default async function load(x) {", Some(("load", true))),
            (Lang::Js, "export const a = 1;", Some(("a", true))),
            (Lang::Js, "const f = (x) => x;", Some(("f", false))),
            (Lang::Js, "exports.total = total;", Some(("total", true))),
            (Lang::Js, "let x = 1;", None),
            (Lang::Python, "def open_order(a):", Some(("open_order", true))),
            (Lang::Python, "def _hidden():", Some(("_hidden", false))),
            (Lang::Python, "    def method(self):", Some(("method", false))),
            (Lang::Go, "func (s *Store) Get(id string) error {", Some(("Get", true))),
            (Lang::Go, "func get() {", Some(("get", false))),
            (Lang::Java, "public static List<String> names(int a) {", Some(("names", true))),
            (Lang::Java, "private int x;", Some(("x", false))),
            (Lang::Kotlin, "fun total(): Int {", Some(("total", true))),
            (Lang::Swift, "func total() -> Int {", Some(("total", false))),
            (Lang::Php, "public function total($a) {", Some(("total", true))),
            (Lang::Other, "def x():", None),
        ];
        for (lang, line, expected) in cases {
            let found = definition(line, lang);
            assert_eq!(found.as_ref().map(|d| (d.name.as_str(), d.public)), expected, "{line}");
        }
    }

    #[test]
    fn a_signature_ends_at_the_body() {
        let found = definition("pub fn  run( a: u8 )  {  body", Lang::Rust).map(|d| d.signature);
        assert_eq!(found.as_deref(), Some("pub fn run( a: u8 )"));
    }
}
