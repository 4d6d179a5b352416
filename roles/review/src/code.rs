//! A line of source as the rules look at it: code with the contents of its strings taken out, and its comment.
//!
//! One line at a time, since a diff shows no more: a string or a comment that began on an earlier line is taken for code.

use std::borrow::Cow;

use crate::lang::Lang;

/// The parts of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts<'a> {
    /// The code, each string literal as an empty one.
    pub code: String,
    /// The text of a comment, without its mark.
    pub comment: Option<&'a str>,
}

/// The bytes of a diff line as text, without a trailing `\r`.
pub fn text(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line))
}

/// Takes a line apart.
pub fn split(line: &str, lang: Lang) -> Parts<'_> {
    let slashes = !matches!(lang, Lang::Python | Lang::Ruby | Lang::Shell | Lang::Other);
    let hash = matches!(lang, Lang::Python | Lang::Ruby | Lang::Shell | Lang::Php);
    let start = line.trim_start();
    if slashes
        && let Some(rest) = start
            .strip_prefix("/*")
            .or_else(|| start.strip_prefix("* "))
            .or_else(|| (start == "*" || start.starts_with("*/")).then_some(start))
    {
        return Parts { code: String::new(), comment: Some(rest) };
    }
    let mut code = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if slashes && rest.starts_with("//") {
            return Parts { code, comment: rest.get(2..) };
        }
        if hash && c == '#' && (lang != Lang::Shell || code.is_empty() || code.ends_with(char::is_whitespace)) {
            return Parts { code, comment: rest.get(1..) };
        }
        let literal = match c {
            '"' if lang != Lang::Shell => string_end(rest, '"'),
            '`' if matches!(lang, Lang::Js | Lang::Go) => string_end(rest, '`'),
            '\'' if matches!(lang, Lang::Python | Lang::Js | Lang::Ruby | Lang::Php) => string_end(rest, '\''),
            '\'' if lang != Lang::Shell => char_end(rest),
            _ => None,
        };
        let taken = literal.unwrap_or(c.len_utf8());
        code.push(c);
        if literal.is_some() {
            code.push(c);
        }
        rest = rest.get(taken..).unwrap_or("");
    }
    Parts { code, comment: None }
}

/// Bytes up to and with the closing quote. A string that the line does not close is taken to its end.
fn string_end(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    Some(rest.len())
}

/// A character literal; a Rust lifetime is none.
fn char_end(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        chars.next()?;
        return chars.take(10).find(|(_, c)| *c == '\'').map(|(at, _)| at + 1);
    }
    chars.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at + 1)
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Byte places at which `word` stands in `code` with no identifier character on either side. A `word` that itself begins or ends
/// with another character, such as `@Ignore` or `verify=`, has no such side.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let open_start = !word.starts_with(in_word);
    let open_end = !word.ends_with(in_word);
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = open_start || !code.get(..*at).is_some_and(|head| head.ends_with(in_word));
        let after = open_end || !code.get(at + word.len()..).is_some_and(|tail| tail.starts_with(in_word));
        before && after
    })
}

/// Whether `word` stands in `code`.
pub fn has_word(code: &str, word: &str) -> bool {
    words(code, word).next().is_some()
}

/// Whether `name` is called in `code` as itself and not as a method of something else: `print(` but not `x.print(` or `def print(`.
pub fn calls(code: &str, name: &str) -> bool {
    words(code, name).any(|at| {
        let head = code.get(..at).unwrap_or("").trim_end();
        let opens = code.get(at + name.len()..).is_some_and(|tail| tail.trim_start().starts_with(['(', '[', '{']));
        let own = !head.ends_with('.')
            && !head.ends_with("->")
            && !["def", "fn", "func", "function", "fun"].iter().any(|keyword| head.ends_with(keyword));
        opens && own
    })
}

/// Columns of leading white space; a tab counts for four.
pub fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_not_code() {
        let cases = [
            (Lang::Python, "x = 'print(1)'  # print(2)", "x = ''  ", Some(" print(2)")),
            (Lang::Js, "a(`console.log(1)`) // b", "a(``) ", Some(" b")),
            (Lang::Rust, r#"let a: &'a str = "dbg!(\"x\")"; // c"#, r#"let a: &'a str = ""; "#, Some(" c")),
            (Lang::Rust, "let q = '\"'; dbg!(q);", "let q = ''; dbg!(q);", None),
            (Lang::Go, "/* fmt.Println() */", "", Some(" fmt.Println() */")),
            (Lang::Shell, "echo a#b # c", "echo a#b ", Some(" c")),
            (Lang::Js, "open(\"never closed", "open(\"\"", None),
            (Lang::Java, "", "", None),
        ];
        for (lang, line, code, comment) in cases {
            assert_eq!(split(line, lang), Parts { code: code.to_owned(), comment }, "{line}");
        }
    }

    #[test]
    fn a_call_is_the_name_itself() {
        assert!(calls("print (x)", "print"));
        assert!(calls("dbg!(x)", "dbg!"));
        for other in ["pprint(x)", "self.print(x)", "def print(x):", "printer(x)", "print", "fn print(x)"] {
            assert!(!calls(other, "print"), "{other}");
        }
    }
}
