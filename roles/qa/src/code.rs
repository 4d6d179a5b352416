//! The code of a file: its text with comments and the content of strings blanked out, byte for byte.

use std::collections::BTreeSet;
use std::ops::Range;

/// Languages that write strings alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    /// `"…"` over lines, `r#"…"#`, characters and lifetimes.
    Rust,
    /// `'…'`, `"…"` and both three times.
    Python,
    /// `'…'`, `"…"` on one line, `` `…` `` over lines.
    Script,
    /// `"…"` on one line, `'c'`, `` `…` `` over lines.
    Go,
    /// `"…"` on one line, three times over lines, `'c'`.
    Plain,
    /// `'…'` and `"…"` over lines.
    Shell,
}

fn quotes(language: &str) -> Quotes {
    match language {
        "Rust" => Quotes::Rust,
        "Python" => Quotes::Python,
        "JavaScript" | "TypeScript" | "Vue" | "Svelte" => Quotes::Script,
        "Go" => Quotes::Go,
        "Ruby" | "PHP" | "Shell" | "Perl" | "Lua" => Quotes::Shell,
        _ => Quotes::Plain,
    }
}

/// Blanks the ranges of `comments` and the content of strings. The result is as long as `text`, has its line ends where `text` has
/// them, and keeps the quotes. A string that is not closed ends with its line where the language has strings of one line, and is no
/// string otherwise, so that a mistake does not hide the rest of a file.
pub fn blanked(language: &str, text: &str, comments: &[Range<usize>]) -> String {
    let mut blanker = Blanker {
        quotes: quotes(language),
        bytes: text.as_bytes(),
        out: text.as_bytes().to_vec(),
        at: 0,
        open: BTreeSet::new(),
    };
    let mut comments = comments.iter().peekable();
    while blanker.at < text.len() {
        while comments.peek().is_some_and(|comment| comment.end <= blanker.at) {
            comments.next();
        }
        match comments.peek() {
            Some(comment) if comment.start <= blanker.at => {
                blanker.blank(blanker.at..comment.end);
                blanker.at = comment.end.max(blanker.at + 1);
            }
            _ => blanker.step(),
        }
    }
    // Whole characters are blanked, since every range begins and ends at an ASCII sign or at a comment's ends.
    String::from_utf8(blanker.out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

struct Blanker<'a> {
    quotes: Quotes,
    bytes: &'a [u8],
    out: Vec<u8>,
    at: usize,
    /// Ends of strings that do not come any more: they are not looked for again, which would take the square of the file's length.
    open: BTreeSet<Vec<u8>>,
}

impl Blanker<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn blank(&mut self, range: Range<usize>) {
        let end = range.end.min(self.out.len());
        if let Some(part) = self.out.get_mut(range.start..end) {
            part.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
    }

    fn starts(&self, at: usize, with: &[u8]) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(with))
    }

    fn step(&mut self) {
        let (at, byte) = (self.at, self.byte(self.at));
        let end = match (self.quotes, byte) {
            (Quotes::Rust, b'r')
                if !is_word(self.byte(at.wrapping_sub(1))) || self.byte(at.wrapping_sub(1)) == b'b' =>
            {
                self.raw(at)
            }
            (Quotes::Rust, b'"') => self.closed(at, b"\"", true),
            (Quotes::Python | Quotes::Plain, b'"') if self.starts(at, b"\"\"\"") => self.closed(at, b"\"\"\"", true),
            (Quotes::Python, b'\'') if self.starts(at, b"'''") => self.closed(at, b"'''", true),
            (Quotes::Python | Quotes::Script, b'\'' | b'"') => self.closed(at, &[byte], false),
            (Quotes::Script, b'`') => self.closed(at, b"`", true),
            (Quotes::Go, b'`') => self.until(at + 1, b"`".to_vec()),
            (Quotes::Go | Quotes::Plain, b'"') => self.closed(at, b"\"", false),
            (Quotes::Shell, b'\'' | b'"') => self.closed(at, &[byte], true),
            (Quotes::Rust | Quotes::Go | Quotes::Plain, b'\'') => self.character(at),
            _ => None,
        };
        match end {
            Some((content, end)) => {
                self.blank(content);
                self.at = end;
            }
            None => self.at += 1,
        }
    }

    /// What stands between the quotes, and where to go on. A backslash takes what follows it.
    fn closed(&mut self, at: usize, quote: &[u8], lines: bool) -> Option<(Range<usize>, usize)> {
        if self.open.contains(quote) {
            return None;
        }
        let start = at + quote.len();
        let mut end = start;
        while end < self.bytes.len() {
            match self.byte(end) {
                b'\\' => end += 2,
                b'\n' if !lines => return Some((start..end, end)),
                _ if self.starts(end, quote) => return Some((start..end, end + quote.len())),
                _ => end += 1,
            }
        }
        if lines {
            self.open.insert(quote.to_vec());
            return None;
        }
        Some((start..self.bytes.len(), self.bytes.len()))
    }

    /// As `closed`, without backslashes.
    fn until(&mut self, start: usize, close: Vec<u8>) -> Option<(Range<usize>, usize)> {
        if self.open.contains(&close) {
            return None;
        }
        match self.bytes.get(start..)?.windows(close.len().max(1)).position(|window| window == close) {
            Some(length) => Some((start..start + length, start + length + close.len())),
            None => {
                self.open.insert(close);
                None
            }
        }
    }

    /// `r"…"` and `r#"…"#`.
    fn raw(&mut self, at: usize) -> Option<(Range<usize>, usize)> {
        const MOST: usize = 16;
        let hashes = self.bytes.get(at + 1..)?.iter().take(MOST).take_while(|byte| **byte == b'#').count();
        if self.byte(at + 1 + hashes) != b'"' {
            return None;
        }
        let mut close = vec![b'"'];
        close.resize(1 + hashes, b'#');
        self.until(at + 2 + hashes, close)
    }

    /// `'c'` and `'\u{1f600}'`; a lifetime is none.
    fn character(&self, at: usize) -> Option<(Range<usize>, usize)> {
        const LONGEST: usize = 12;
        let start = at + 1;
        let escaped = self.byte(start) == b'\\';
        let from = if escaped { start + 2 } else { start + 1 };
        let far = if escaped { LONGEST } else { 4 };
        let length = self.bytes.get(from..)?.iter().take(far).position(|byte| matches!(byte, b'\'' | b'\n'))?;
        let end = from + length;
        // `<'a, 'b>`: what is between is no single character.
        let single = escaped || std::str::from_utf8(self.bytes.get(start..end)?).is_ok_and(|c| c.chars().count() == 1);
        (self.byte(end) == b'\'' && single).then_some((start..end, end + 1))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use code_map::{language, outline};
    use proptest::prelude::*;

    fn code(path: &str, text: &str) -> String {
        let language = language::of(path);
        blanked(language.name, text, &outline::outline(language, path, text).comments)
    }

    fn squashed(path: &str, text: &str) -> String {
        code(path, text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        for (path, text, expected) in [
            (
                "a.rs",
                "let a = \"x \\\" y\"; // z\nlet b = r#\"q \" r\"#; 'c' f::<'a, 'b>()",
                "let a = \" \"; let b = r#\" \"#; ' ' f::<'a, 'b>()",
            ),
            ("a.py", "a = 'x' # y\nb = \"\"\"q\nr\"\"\" + 'it\\'s'\n", "a = ' ' b = \"\"\" \"\"\" + ' '"),
            ("a.ts", "const a = `x\n${b}` + 'c'; /* d */ it.skip(\"e\", f)", "const a = ` ` + ' '; it.skip(\" \", f)"),
            ("a.go", "a := `x\\` + \"y\" // z\nb('\\'', 'c')", "a := ` ` + \" \" b(' ', ' ')"),
            ("a.ts", "const a = 'open\nb()", "const a = ' b()"),
        ] {
            assert_eq!(squashed(path, text), expected, "{path}: {text}");
        }
    }

    #[test]
    fn a_string_that_is_never_closed_hides_nothing_that_follows() {
        assert!(code("a.rs", "let a = \"x;\nfn b() {}\n").contains("fn b()"));
        assert!(code("a.ts", "a = `x;\nfunction b() {}\n").contains("function b()"));
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length_and_lines(text in "[\"'`#/*a\\\\\n\u{e9}\u{4e2d}{}r ]{0,80}", which in 0usize..7) {
            let path = ["a.rs", "a.py", "a.ts", "a.go", "a.java", "a.rb", "a.zig"][which];
            let code = code(path, &text);
            prop_assert_eq!(code.len(), text.len());
            let ends = |text: &str| text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect::<Vec<_>>();
            prop_assert_eq!(ends(&code), ends(&text));
        }
    }
}
