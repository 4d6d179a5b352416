//! Which definitions can be used from outside their file, told by the line that declares them.

use std::collections::BTreeSet;

use code_map::language::Language;
use code_map::outline::{Definition, Kind};

/// Names in one list of exports that are read.
const MAX_EXPORTS: usize = 2_000;
/// Of a value that is given away, other than an object.
const MAX_VALUE_CHARS: usize = 1_000;

/// What is needed to judge the definitions of one file.
pub struct Visible<'a> {
    language: &'static str,
    header: bool,
    lines: Vec<&'a str>,
    /// Names in `export { … }`, `module.exports = { … }`, `exports.name = …` and the like.
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
                let of = |name: &str, line: &str| has_word(line, "export") || self.exported.contains(name);
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

/// The names that `export { … }`, `export default …`, `module.exports = …`, `exports.name = …` and
/// `Object.assign(exports, { … })` give away: each place is read once.
fn exported(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut at = 0;
    while let Some(found) = code.get(at..).and_then(|rest| rest.find("export")) {
        let start = at + found;
        let inside = code.as_bytes().get(start.wrapping_sub(1)).is_some_and(|b| is_name_byte(*b));
        let rest = code.get(start + "export".len()..).unwrap_or_default();
        let (rest, common) = rest.strip_prefix('s').map_or((rest, false), |rest| (rest, true));
        at = code.len() - rest.len();
        if inside || rest.bytes().next().is_some_and(is_name_byte) || names.len() >= MAX_EXPORTS {
            continue;
        }
        let rest = if common { of_commonjs(rest, &mut names) } else { of_module(rest, &mut names) };
        at = (code.len() - rest.len()).max(at);
    }
    names
}

/// What follows the word `export`; gives what is left.
fn of_module<'a>(rest: &'a str, names: &mut BTreeSet<&'a str>) -> &'a str {
    let rest = rest.trim_start();
    if rest.starts_with('{') {
        return object(rest, names);
    }
    match rest.strip_prefix("default").or_else(|| rest.strip_prefix('=')) {
        Some(value) => given(value, false, names),
        None => rest,
    }
}

/// What follows the word `exports`; gives what is left.
fn of_commonjs<'a>(rest: &'a str, names: &mut BTreeSet<&'a str>) -> &'a str {
    let mut rest = rest.trim_start();
    let mut path = Vec::new();
    while let Some(name) = rest.strip_prefix('.') {
        let name = name.trim_start();
        let end = name.bytes().position(|byte| !is_name_byte(byte)).unwrap_or(name.len());
        path.push(name.get(..end).unwrap_or_default());
        rest = name.get(end..).unwrap_or_default().trim_start();
    }
    if let Some(value) = rest.strip_prefix('=').filter(|value| !value.starts_with(['=', '>'])) {
        let named = !path.is_empty();
        names.extend(if named { path } else { vec!["exports"] });
        return given(value, named, names);
    }
    match rest.strip_prefix(',').map(str::trim_start) {
        Some(value) if value.starts_with('{') => object(value, names),
        _ => rest,
    }
}

/// The names in a value that is given away, under a name of its own where it is `named`; gives what is left.
fn given<'a>(value: &'a str, named: bool, names: &mut BTreeSet<&'a str>) -> &'a str {
    const INTRODUCE: &[&str] = &["async", "function", "class"];
    let value = value.trim_start();
    if value.starts_with('{') {
        return object(value, names);
    }
    let near = value.char_indices().nth(MAX_VALUE_CHARS).map_or(value, |(end, _)| value.get(..end).unwrap_or_default());
    let end = near.find(['\n', ';', '{']).unwrap_or(near.len());
    let text = near.get(..end).unwrap_or_default();
    // What a function calls, and what a value is computed with, is not given away by that.
    let hidden = text.contains("=>") || (named && text.contains('('));
    let mut words = words(text).peekable();
    if words.peek().is_some_and(|word| INTRODUCE.contains(word)) {
        // The name of a function or a class; what it is made of is its own.
        let head = value.split(['(', '{', '\n']).next().unwrap_or_default();
        names.extend(self::words(head).find(|word| !INTRODUCE.contains(word)));
        return value.get(head.len()..).unwrap_or_default();
    }
    let mut left = value.get(end..).unwrap_or_default();
    for word in words {
        // `exports.a = module.exports.b = c`: the rest is read as one of its own.
        if word == "exports" {
            left = value;
            break;
        }
        if word != "module" && !hidden {
            names.insert(word);
        }
    }
    left
}

/// The names that stand in an object or a list of exports itself, not in what its methods are made of; gives what is behind it.
fn object<'a>(text: &'a str, names: &mut BTreeSet<&'a str>) -> &'a str {
    let (mut depth, mut from) = (0usize, 0usize);
    for (at, byte) in text.bytes().enumerate() {
        if is_name_byte(byte) {
            continue;
        }
        if depth == 1 && names.len() < MAX_EXPORTS {
            names.extend(text.get(from..at).filter(|word| !word.is_empty()));
        }
        from = at + 1;
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return text.get(at + 1..).unwrap_or_default();
        }
    }
    ""
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').filter(|word| !word.is_empty())
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_gives_away_is_known() {
        for (code, expected) in [
            ("module.exports = {total, discount};", &["exports", "total", "discount"][..]),
            (
                "module.exports={\n  total,\n  run() { hidden(); },\n  off: discount,\n};",
                &["exports", "total", "run", "off", "discount"],
            ),
            ("exports.mul = mul;", &["mul"]),
            ("module.exports.div = (a) => a;", &["div"]),
            ("exports.run = () => own();\nexports.made = make(own);", &["run", "made"]),
            ("module.exports = wrap(Cart);", &["exports", "wrap", "Cart"]),
            ("module.exports = function named(a) { return other(a); };", &["exports", "named"]),
            ("module.exports = async function named(a) {}", &["exports", "named"]),
            ("module.exports = class Store { get() {} }", &["exports", "Store"]),
            ("exports = module.exports = create;", &["exports", "create"]),
            ("exports.a = exports.b = c\n", &["a", "b", "c"]),
            ("Object.assign(exports, { a, b: c });", &["a", "b", "c"]),
            ("export {a, b as c}\nexport default d;", &["a", "b", "as", "c", "d"]),
            ("export default function e() { return f(); }", &["e"]),
            ("if (exports.a === b) { myexports.c = d; exportsAll = e; }", &[]),
            ("module.exports = {", &["exports"]),
        ] {
            assert_eq!(exported(code), expected.iter().copied().collect(), "{code}");
        }
    }
}
