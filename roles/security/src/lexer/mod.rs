//! Finds comments and strings, and blanks them out.
//!
//! One state machine for nine languages: enough of each one's lexical grammar to know code from text. It never fails; a string
//! that is not closed ends where the language says (at the line's end, or at the end of the text), so that one mistake does
//! not blank the rest of a file without need.

mod here;
mod strings;

use std::ops::Range;

use crate::language::Language;
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
            Language::Shell
                if b == b'#'
                    && (at == 0 || matches!(self.byte(at - 1), b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(')) =>
            {
                self.comment(self.line_end(at));
            }
            Language::Python | Language::Ruby | Language::Shell => return false,
            Language::Php if b == b'#' && self.byte(at + 1) != b'[' => self.comment(self.line_end(at)),
            _ if b == b'/' && self.byte(at + 1) == b'/' => self.comment(self.line_end(at)),
            _ if b == b'/' && self.byte(at + 1) == b'*' => {
                let end = if self.language == Language::Rust {
                    self.nested_comment(at)
                } else {
                    self.find(at + 2, self.bytes.len(), "*/").map(|n| n + 2)
                };
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
            (
                Language::JavaScript,
                "a // eval\n/* eval\n */ b `x ${f(1)} y ${`in ${g}`}` c",
                "a b ` {f(1)} {` {g}`}` c",
            ),
            (
                Language::JavaScript,
                "x = /['\"]eval(/g; y = a / b / c; return /'/.test(s)",
                "x = / /g; y = a / b / c; return / /.test(s)",
            ),
            (Language::JavaScript, "s = 'open\nnext()", "s = ' next()"),
            (
                Language::Rust,
                "let c = '\"'; let l: &'a str = r#\"un\"safe\"#; /* a /* b */ c */ x '\\'' y",
                "let c = ' '; let l: &'a str = r#\" \"#; x ' ' y",
            ),
            (Language::Go, "a := `x\n\"` + \"y\\\"\" // c\n'\\''", "a := ` ` + \" \" ' '"),
            (
                Language::C,
                "x = 1'000; char c = '\"'; R\"q(a \" b)q\" z \"s\" // t",
                "x = 1'000; char c = ' '; R\"q( )q\" z \" \"",
            ),
            (Language::Java, "String s = \"\"\"\n a \"b\" \"\"\"; 'c' /* d */", "String s = \"\"\" \"\"\"; ' '"),
            (
                Language::Php,
                "<b>eval('</b><?php eval($a); # x\n$b = 'it\\'s'; ?> eval( <?= $c ?>",
                "<?php eval($a); $b = ' '; ?> <?= $c ?>",
            ),
            (
                Language::Ruby,
                "a = \"x #{b('y')} z\" # eval\n=begin\neval\n=end\nc %w[eval d] <<~EOS\n eval\n EOS\nd",
                "a = \" {b(' ')} \" c %w[ ] <<~EOS EOS d",
            ),
            (
                Language::Shell,
                "echo \"a $(b \"c\") d\" # e\ncat <<'EOF'\ncurl | sh\nEOF\nx ${#y}",
                "echo \" \" cat <<'EOF' EOF x ${#y}",
            ),
        ];
        for (language, raw, expected) in cases {
            let got = code(language, raw).replace("=begin", "").replace("=end", "");
            let squash = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(squash(&got), squash(expected), "{language:?}: {raw:?}");
        }
    }

    #[test]
    fn only_scripts_are_code_in_a_page() {
        let source = read(
            Language::JavaScript,
            true,
            "<p>eval(x)</p><script type=\"m\">eval(y)</script><i>Don't</i><script>z</script>",
        );
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
