//! Finds comments and strings, and blanks them out.
//!
//! One state machine for nine languages: enough of each one's lexical grammar to know code from text. It never fails; a string
//! that is not closed ends where the language says (at the line's end, or at the end of the text), so that one mistake does
//! not blank the rest of a file without need.

use std::ops::Range;

use crate::language::Language;
use crate::limits::MAX_TEMPLATE_DEPTH;
use crate::source::{Literal, Source, is_name};

/// Reads `raw` as `language`. With `embedded`, only what stands between `<script>` tags is code.
pub(crate) fn read(language: Language, embedded: bool, raw: &str) -> Source<'_> {
    let mut lexer = Lexer {
        language,
        bytes: raw.as_bytes(),
        out: raw.as_bytes().to_vec(),
        at: 0,
        last: b'\n',
        word: 0..0,
        literals: Vec::new(),
        comments: Vec::new(),
        frames: Vec::new(),
        heredocs: Vec::new(),
    };
    if language == Language::Php {
        lexer.php();
    } else if embedded {
        lexer.scripts();
    } else {
        lexer.code_until(raw.len());
    }
    lexer.literals.sort_by_key(|literal| literal.span.start);
    // Only whole runs between ASCII signs are blanked, so the bytes are still text.
    let code = String::from_utf8(lexer.out).unwrap_or_else(|_| " ".repeat(raw.len()));
    Source { language, raw, code, literals: lexer.literals, comments: lexer.comments }
}

/// Bytes of a regular expression that are read; without a bound, a line of unclosed ones would be read over and over.
const MAX_REGEX_BYTES: usize = 2 * 1024;

/// A template string that is left for the code inside it.
struct Frame {
    quote: u8,
    start: usize,
    /// Braces opened since.
    depth: usize,
}

struct Lexer<'a> {
    language: Language,
    bytes: &'a [u8],
    out: Vec<u8>,
    at: usize,
    /// The last byte of code that is no blank.
    last: u8,
    /// The last word of code.
    word: Range<usize>,
    literals: Vec<Literal>,
    comments: Vec<Range<usize>>,
    frames: Vec<Frame>,
    /// Names of here-documents that start on the next line, and whether their end may be indented.
    heredocs: Vec<(Range<usize>, bool)>,
}

impl Lexer<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn starts(&self, at: usize, text: &str) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// Where `text` is from `at` on, up to `end`.
    fn find(&self, at: usize, end: usize, text: &str) -> Option<usize> {
        let needle = text.as_bytes();
        let first = *needle.first()?;
        let mut at = at;
        while at + needle.len() <= end {
            at += self.bytes.get(at..end)?.iter().position(|&b| b == first)?;
            if self.bytes.get(at..end)?.starts_with(needle) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    fn line_end(&self, at: usize) -> usize {
        self.bytes.get(at..).and_then(|rest| rest.iter().position(|&b| b == b'\n')).map_or(self.bytes.len(), |n| at + n)
    }

    fn blank(&mut self, range: Range<usize>) {
        if let Some(part) = self.out.get_mut(range) {
            part.iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        }
    }

    fn comment(&mut self, end: usize) {
        self.blank(self.at..end);
        self.comments.push(self.at..end);
        self.at = end;
    }

    fn literal(&mut self, span: Range<usize>, dynamic: bool, next: usize) {
        self.blank(span.clone());
        self.literals.push(Literal { span, dynamic });
        self.last = b'"';
        self.at = next;
    }

    /// PHP is code between `<?php` or `<?=` and `?>`.
    fn php(&mut self) {
        while self.at < self.bytes.len() {
            let open = self.find(self.at, self.bytes.len(), "<?").unwrap_or(self.bytes.len());
            self.blank(self.at..open);
            self.at = if self.starts(open, "<?php") { open + 5 } else { (open + 2).min(self.bytes.len()) };
            self.last = b';';
            self.code_until(self.bytes.len());
        }
    }

    /// A page or component: code is between `<script …>` and `</script>`.
    fn scripts(&mut self) {
        while self.at < self.bytes.len() {
            let tag = self.find(self.at, self.bytes.len(), "<script").unwrap_or(self.bytes.len());
            let open = self.find(tag, self.bytes.len(), ">").map_or(self.bytes.len(), |at| at + 1);
            self.blank(self.at..open);
            let close = self.find(open, self.bytes.len(), "</script").unwrap_or(self.bytes.len());
            self.at = open;
            self.last = b';';
            self.frames.clear();
            self.code_until(close);
            self.at = close.max(self.at.min(self.bytes.len()));
        }
    }

    /// Code up to `end`, or up to `?>` in PHP.
    fn code_until(&mut self, end: usize) {
        while self.at < end {
            let b = self.byte(self.at);
            if self.language == Language::Php && b == b'?' && self.byte(self.at + 1) == b'>' {
                self.at += 2;
                return;
            }
            if b == b'\n' {
                self.at += 1;
                self.here_documents();
                self.last_newline();
                continue;
            }
            if self.comment_here() || self.string_here() {
                continue;
            }
            self.plain(b);
        }
    }

    fn last_newline(&mut self) {
        // In a shell and in Ruby a line's end ends a command, so a `/` behind it starts a value.
        if matches!(self.language, Language::Ruby | Language::Shell) {
            self.last = b'\n';
        }
    }

    /// One byte of code.
    fn plain(&mut self, b: u8) {
        if is_name(b) {
            let start = self.at;
            while is_name(self.byte(self.at)) && self.at < self.bytes.len() {
                self.at += 1;
            }
            self.word = start..self.at;
            self.last = b'a';
            return;
        }
        match b {
            b'{' => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.depth += 1;
                }
            }
            b'}' => {
                if let Some(frame) = self.frames.last_mut() {
                    if frame.depth == 0 {
                        let frame = self.frames.pop();
                        if let Some(frame) = frame {
                            self.at += 1;
                            self.template(frame.quote, frame.start, true);
                        }
                        return;
                    }
                    frame.depth -= 1;
                }
            }
            b'\\' if self.language == Language::Shell => self.at += 1,
            _ => {}
        }
        if !b.is_ascii_whitespace() {
            self.last = b;
        }
        self.at += 1;
    }

    fn comment_here(&mut self) -> bool {
        let (at, b) = (self.at, self.byte(self.at));
        match self.language {
            Language::Python if b == b'#' => self.comment(self.line_end(at)),
            Language::Ruby if b == b'#' => self.comment(self.line_end(at)),
            Language::Ruby if b == b'=' && self.starts(at, "=begin") && (at == 0 || self.byte(at - 1) == b'\n') => {
                let close = self.find(at, self.bytes.len(), "\n=end").map_or(self.bytes.len(), |n| n + 5);
                self.comment(close);
            }
            Language::Shell if b == b'#' && (at == 0 || matches!(self.byte(at - 1), b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(')) => {
                self.comment(self.line_end(at));
            }
            Language::Python | Language::Ruby | Language::Shell => return false,
            Language::Php if b == b'#' && self.byte(at + 1) != b'[' => self.comment(self.line_end(at)),
            _ if b == b'/' && self.byte(at + 1) == b'/' => self.comment(self.line_end(at)),
            _ if b == b'/' && self.byte(at + 1) == b'*' => {
                let end = if self.language == Language::Rust { self.nested_comment(at) } else { self.find(at + 2, self.bytes.len(), "*/").map(|n| n + 2) };
                self.comment(end.unwrap_or(self.bytes.len()));
            }
            _ => return false,
        }
        true
    }

    /// Rust's block comments nest.
    fn nested_comment(&self, at: usize) -> Option<usize> {
        let (mut depth, mut at) = (0usize, at);
        while at < self.bytes.len() {
            if self.starts(at, "/*") {
                depth += 1;
                at += 2;
            } else if self.starts(at, "*/") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            } else {
                at += 1;
            }
        }
        None
    }

    fn string_here(&mut self) -> bool {
        let b = self.byte(self.at);
        match self.language {
            Language::Python => matches!(b, b'"' | b'\'') && self.python(b),
            Language::JavaScript => match b {
                b'"' | b'\'' => self.simple(b, true),
                b'`' => self.template_start(b),
                b'/' => self.regex(),
                _ => false,
            },
            Language::Rust => self.rust(b),
            Language::Go => match b {
                b'"' | b'\'' => self.simple(b, true),
                b'`' => self.until(1, "`", false),
                _ => false,
            },
            Language::C => self.c(b),
            Language::Java => match b {
                b'"' if self.starts(self.at, "\"\"\"") => self.until(3, "\"\"\"", false),
                b'"' | b'\'' => self.simple(b, true),
                _ => false,
            },
            Language::Php => match b {
                b'"' | b'\'' | b'`' => self.simple(b, false),
                b'<' if self.starts(self.at, "<<<") => self.here_document_start(3),
                _ => false,
            },
            Language::Ruby => self.ruby(b),
            Language::Shell => self.shell(b),
        }
    }

    /// A string that opens with `open` bytes and closes with `close`, without escapes.
    fn until(&mut self, open: usize, close: &str, dynamic: bool) -> bool {
        let start = self.at + open;
        let end = self.find(start, self.bytes.len(), close).unwrap_or(self.bytes.len());
        let next = (end + close.len()).min(self.bytes.len());
        let dynamic = dynamic || (self.language == Language::Java && self.bytes.get(start..end).is_some_and(|s| s.contains(&b'$')));
        self.literal(start..end, dynamic, next);
        true
    }

    /// A string with backslash escapes; with `one_line` it ends at the line's end at the latest.
    fn simple(&mut self, quote: u8, one_line: bool) -> bool {
        let start = self.at + 1;
        let (end, next) = self.close(start, quote, one_line);
        let inside = self.bytes.get(start..end).unwrap_or_default();
        let dynamic = match self.language {
            // Kotlin, Scala and Groovy; a `$` in Java is rare and only makes a string suspicious.
            Language::Java => quote == b'"' && inside.windows(2).any(|w| w[0] == b'$' && (w[1] == b'{' || w[1].is_ascii_alphabetic())),
            Language::Php => quote != b'\'' && inside.windows(2).any(|w| w[0] == b'$' && (w[1].is_ascii_alphabetic() || w[1] == b'{' || w[1] == b'_')),
            _ => false,
        };
        self.literal(start..end, dynamic, next);
        true
    }

    /// The end of a string's content and what comes behind its quote.
    fn close(&self, start: usize, quote: u8, one_line: bool) -> (usize, usize) {
        let mut at = start;
        while at < self.bytes.len() {
            match self.byte(at) {
                b'\\' => at += 2,
                b'\n' if one_line => return (at, at),
                b if b == quote => return (at, at + 1),
                _ => at += 1,
            }
        }
        (self.bytes.len(), self.bytes.len())
    }

    fn python(&mut self, quote: u8) -> bool {
        let triple = self.byte(self.at + 1) == quote && self.byte(self.at + 2) == quote;
        let prefix: Vec<u8> = if self.word.end == self.at { self.bytes[self.word.clone()].to_ascii_lowercase() } else { Vec::new() };
        let formatted = prefix.len() <= 2 && prefix.contains(&b'f');
        let start = self.at + if triple { 3 } else { 1 };
        let (end, next) = if triple {
            let mut at = start;
            loop {
                match self.bytes.get(at) {
                    None => break (self.bytes.len(), self.bytes.len()),
                    Some(b'\\') => at += 2,
                    Some(&b) if b == quote && self.byte(at + 1) == quote && self.byte(at + 2) == quote => break (at, at + 3),
                    Some(_) => at += 1,
                }
            }
        } else {
            self.close(start, quote, true)
        };
        let inside = self.bytes.get(start..end).unwrap_or_default();
        // `{{` is a brace; `{x}` is a value.
        let dynamic = formatted && inside.iter().enumerate().any(|(n, &b)| b == b'{' && inside.get(n + 1) != Some(&b'{') && (n == 0 || inside.get(n - 1) != Some(&b'{')));
        self.literal(start..end, dynamic, next);
        true
    }

    fn template_start(&mut self, quote: u8) -> bool {
        self.at += 1;
        self.template(quote, self.at, false);
        true
    }

    /// The rest of a template string: up to its quote, or up to the code inside it.
    fn template(&mut self, quote: u8, start: usize, dynamic: bool) {
        let mark = if self.language == Language::Ruby { b'#' } else { b'$' };
        let from = self.at;
        let mut at = from;
        while at < self.bytes.len() {
            match self.byte(at) {
                b'\\' => at += 2,
                b if b == quote => {
                    self.blank(from..at);
                    self.literals.push(Literal { span: start..at, dynamic });
                    self.last = b'"';
                    self.at = at + 1;
                    return;
                }
                b if b == mark && self.byte(at + 1) == b'{' && self.frames.len() < MAX_TEMPLATE_DEPTH => {
                    self.blank(from..at + 1);
                    self.frames.push(Frame { quote, start, depth: 0 });
                    self.last = b'(';
                    self.at = at + 2;
                    return;
                }
                _ => at += 1,
            }
        }
        self.blank(from..self.bytes.len());
        self.literals.push(Literal { span: start..self.bytes.len(), dynamic });
        self.at = self.bytes.len();
    }

    /// A regular expression, where a `/` cannot be a division.
    fn regex(&mut self) -> bool {
        let value_before = is_name(self.last) || matches!(self.last, b')' | b']' | b'}' | b'"');
        let keyword = matches!(
            self.bytes.get(self.word.clone()).unwrap_or_default(),
            b"return" | b"typeof" | b"case" | b"in" | b"of" | b"when" | b"and" | b"or" | b"if" | b"unless" | b"not" | b"split" | b"match"
        );
        if value_before && !(self.last == b'a' && keyword) {
            return false;
        }
        let mut class = false;
        let mut at = self.at + 1;
        while at < self.bytes.len().min(self.at + MAX_REGEX_BYTES) {
            match self.byte(at) {
                b'\\' => at += 1,
                b'\n' => return false,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    let start = self.at + 1;
                    self.literal(start..at, false, at + 1);
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    fn rust(&mut self, b: u8) -> bool {
        match b {
            b'"' => {
                let hashes = self.bytes[..self.at].iter().rev().take_while(|&&b| b == b'#').count();
                let before = self.byte(self.at.wrapping_sub(hashes + 1));
                let raw = self.word.end + hashes == self.at && matches!(self.bytes.get(self.word.clone()), Some(b"r" | b"br" | b"cr")) && matches!(before, b'r');
                if raw {
                    let close = format!("\"{}", "#".repeat(hashes));
                    return self.until(1, &close, false);
                }
                self.simple(b'"', false)
            }
            b'\'' => {
                let next = self.byte(self.at + 1);
                let width = match next {
                    b'\\' => self.close(self.at + 1, b'\'', true).1.saturating_sub(self.at + 2),
                    0xF0.. => 4,
                    0xE0.. => 3,
                    0xC0.. => 2,
                    _ => 1,
                };
                // `'a'` is a character, `'a` a lifetime.
                if self.byte(self.at + 1 + width) == b'\'' && next != b'\'' {
                    let start = self.at + 1;
                    self.literal(start..start + width, false, start + width + 1);
                    return true;
                }
                false
            }
            _ => false,
        }
    }

    fn c(&mut self, b: u8) -> bool {
        match b {
            b'"' if self.word.end == self.at && self.bytes.get(self.word.clone()).is_some_and(|w| matches!(w, b"R" | b"LR" | b"uR" | b"UR" | b"u8R")) => {
                let open = (self.at + 1..self.bytes.len().min(self.at + 18)).find(|&at| self.byte(at) == b'(');
                let Some(open) = open else { return self.simple(b, true) };
                let delimiter = String::from_utf8_lossy(&self.bytes[self.at + 1..open]).into_owned();
                self.until(open + 1 - self.at, &format!("){delimiter}\""), false)
            }
            // `1'000'000`
            b'\'' if self.word.end == self.at && self.byte(self.word.start).is_ascii_digit() => false,
            b'"' | b'\'' => self.simple(b, true),
            _ => false,
        }
    }

    fn ruby(&mut self, b: u8) -> bool {
        match b {
            b'\'' => self.simple(b, false),
            b'"' | b'`' => self.template_start(b),
            b'/' => self.regex(),
            b'<' if self.starts(self.at, "<<~") || self.starts(self.at, "<<-") => self.here_document_start(3),
            b'<' if self.starts(self.at, "<<") && self.byte(self.at + 2).is_ascii_uppercase() => self.here_document_start(2),
            b'%' if matches!(self.byte(self.at + 1), b'w' | b'i' | b'q' | b'W' | b'I' | b'Q') => {
                let close = match self.byte(self.at + 2) {
                    b'(' => ")",
                    b'[' => "]",
                    b'{' => "}",
                    b'<' => ">",
                    b'|' => "|",
                    _ => return false,
                };
                self.until(3, close, false)
            }
            _ => false,
        }
    }

    fn shell(&mut self, b: u8) -> bool {
        match b {
            b'\'' => self.until(1, "'", false),
            b'"' => {
                let start = self.at + 1;
                let end = self.shell_close(start);
                let dynamic = self.bytes.get(start..end).is_some_and(|s| s.contains(&b'$') || s.contains(&b'`'));
                let next = (end + 1).min(self.bytes.len());
                self.literal(start..end, dynamic, next);
                true
            }
            b'<' if self.starts(self.at, "<<<") => {
                self.at += 3;
                true
            }
            b'<' if self.starts(self.at, "<<") => self.here_document_start(if self.byte(self.at + 2) == b'-' { 3 } else { 2 }),
            _ => false,
        }
    }

    /// The end of a double-quoted string of a shell, in which `$(…)` may hold quotes of its own.
    fn shell_close(&self, start: usize) -> usize {
        let (mut at, mut depth) = (start, 0usize);
        while at < self.bytes.len() {
            match self.byte(at) {
                b'\\' => at += 1,
                b'$' if self.byte(at + 1) == b'(' => {
                    depth += 1;
                    at += 1;
                }
                b'(' if depth > 0 => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b'"' if depth == 0 => return at,
                _ => {}
            }
            at += 1;
        }
        self.bytes.len()
    }

    /// Notes the name of a here-document; its text starts on the next line.
    fn here_document_start(&mut self, sign: usize) -> bool {
        let mut at = self.at + sign;
        while self.byte(at) == b' ' {
            at += 1;
        }
        let quoted = matches!(self.byte(at), b'"' | b'\'' | b'`');
        at += usize::from(quoted);
        let start = at;
        while at < self.bytes.len() && is_name(self.byte(at)) {
            at += 1;
        }
        if at == start || self.byte(start).is_ascii_digit() {
            return false;
        }
        let indented = sign == 3 || self.language != Language::Shell;
        self.heredocs.push((start..at, indented));
        self.at = at + usize::from(quoted);
        true
    }

    /// The here-documents whose names stood on the line before.
    fn here_documents(&mut self) {
        for (name, indented) in std::mem::take(&mut self.heredocs) {
            let start = self.at;
            let name = self.bytes.get(name).unwrap_or_default();
            let mut line = start;
            let end = loop {
                if line >= self.bytes.len() {
                    break self.bytes.len();
                }
                let end = self.line_end(line);
                let text = self.bytes.get(line..end).unwrap_or_default();
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                let text = if indented { text.trim_ascii_start() } else { text };
                let is_end = text.strip_prefix(name).is_some_and(|rest| !rest.first().is_some_and(|&b| is_name(b)));
                if is_end {
                    self.at = end;
                    break line;
                }
                line = end + 1;
            };
            let inside = self.bytes.get(start..end).unwrap_or_default();
            let dynamic = inside.windows(2).any(|w| matches!(w, [b'$', _] | [b'#', b'{'] | [b'{', b'$']));
            let next = if end == self.bytes.len() { end } else { self.at };
            self.literal(start..end, dynamic, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(language: Language, raw: &str) -> String {
        let source = read(language, false, raw);
        assert_eq!(source.code.len(), raw.len());
        source.code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_strings_are_blanked_in_every_language() {
        let cases = [
            (Language::Python, "a = 'eval(x)' # eval(y)\n\"\"\"eval(\nz)\"\"\"\nb", "a = ' ' \"\"\" \"\"\" b"),
            (Language::Python, "f'{eval(x)}' r'\\\\' + \"don't\"", "f' ' r' ' + \" \""),
            (Language::JavaScript, "a // eval\n/* eval\n */ b `x ${f(1)} y ${`in ${g}`}` c", "a b ` {f(1)} {` {g}`}` c"),
            (Language::JavaScript, "x = /['\"]eval(/g; y = a / b / c; return /'/.test(s)", "x = / /g; y = a / b / c; return / /.test(s)"),
            (Language::JavaScript, "s = 'open\nnext()", "s = ' next()"),
            (Language::Rust, "let c = '\"'; let l: &'a str = r#\"un\"safe\"#; /* a /* b */ c */ x '\\'' y", "let c = ' '; let l: &'a str = r#\" \"#; x ' ' y"),
            (Language::Go, "a := `x\n\"` + \"y\\\"\" // c\n'\\''", "a := ` ` + \" \" ' '"),
            (Language::C, "x = 1'000; char c = '\"'; R\"q(a \" b)q\" z \"s\" // t", "x = 1'000; char c = ' '; R\"q( )q\" z \" \""),
            (Language::Java, "String s = \"\"\"\n a \"b\" \"\"\"; 'c' /* d */", "String s = \"\"\" \"\"\"; ' '"),
            (Language::Php, "<b>eval('</b><?php eval($a); # x\n$b = 'it\\'s'; ?> eval( <?= $c ?>", "<?php eval($a); $b = ' '; ?> <?= $c ?>"),
            (Language::Ruby, "a = \"x #{b('y')} z\" # eval\n=begin\neval\n=end\nc %w[eval d] <<~EOS\n eval\n EOS\nd", "a = \" {b(' ')} \" c %w[ ] <<~EOS EOS d"),
            (Language::Shell, "echo \"a $(b \"c\") d\" # e\ncat <<'EOF'\ncurl | sh\nEOF\nx ${#y}", "echo \" \" cat <<'EOF' EOF x ${#y}"),
        ];
        for (language, raw, expected) in cases {
            let got = code(language, raw).replace("=begin", "").replace("=end", "");
            let squash = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(squash(&got), squash(expected), "{language:?}: {raw:?}");
        }
    }

    #[test]
    fn only_scripts_are_code_in_a_page() {
        let source = read(Language::JavaScript, true, "<p>eval(x)</p><script type=\"m\">eval(y)</script><i>Don't</i><script>z</script>");
        assert_eq!(source.code.split_whitespace().collect::<Vec<_>>(), ["eval(y)", "z"]);
    }

    #[test]
    fn an_interpolated_literal_is_known_as_such() {
        let dynamic = |language, raw| read(language, false, raw).literals.iter().any(|literal| literal.dynamic);
        assert!(dynamic(Language::Python, "f'a {b}'"));
        assert!(!dynamic(Language::Python, "f'a {{b}}'"));
        assert!(!dynamic(Language::Python, "'a {b}'"));
        assert!(dynamic(Language::JavaScript, "`a ${b}`"));
        assert!(!dynamic(Language::JavaScript, "'a ${b}'"));
        assert!(dynamic(Language::Php, "<?php \"a $b\";"));
        assert!(!dynamic(Language::Php, "<?php 'a $b';"));
        assert!(dynamic(Language::Ruby, "\"a #{b}\""));
        assert!(dynamic(Language::Shell, "\"a $b\""));
    }
}
