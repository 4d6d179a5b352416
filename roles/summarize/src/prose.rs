//! From Markdown or plain text to paragraphs: prose stays, code and tables are counted and left out.

use secret_scan::Scan;

use crate::limits::MAX_PARAGRAPH_BYTES;
use crate::terms::is_unspaced;

/// A piece of prose: a paragraph or an item of a list, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paragraph {
    /// Its text, with what may be a secret masked.
    pub text: String,
    /// 1-based line on which it begins.
    pub line: u32,
    /// The headings above it, the outermost first.
    pub headings: Vec<String>,
    /// `- [ ]` or `- [x]`.
    pub ticked: Option<bool>,
    /// It is an item of a list, or begins with blanks: a detail of what stands before it.
    pub detail: bool,
}

/// What a text is made of.
#[derive(Debug, Default)]
pub struct Prose {
    /// In order.
    pub paragraphs: Vec<Paragraph>,
    /// Blocks of code that were left out.
    pub code_blocks: usize,
    /// Lines of tables that were left out.
    pub table_lines: usize,
    /// Paragraphs that were cut at [`MAX_PARAGRAPH_BYTES`].
    pub cut: usize,
}

/// How lines belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Up to a blank line, as Markdown has it.
    Joined,
    /// Each for itself, as results have it.
    Apart,
}

/// Reads a text. `lines` is asked with the headings above a line.
pub fn read(path: &str, text: &str, lines: impl Fn(&[String]) -> Lines) -> Prose {
    let scan = secret_scan::scan_counted(path, text);
    let mut reader = Reader { prose: Prose::default(), open: None, headings: Vec::new(), fence: None, lines };
    let (mut at, mut blank_before, mut front) = (0, true, text.starts_with("---\n"));
    for (number, line) in (1u32..).zip(text.split_inclusive('\n')) {
        let raw = line.trim_end_matches(['\n', '\r']);
        if front {
            // Settings at the top of a page.
            front = number == 1 || !matches!(raw.trim_end(), "---" | "...");
        } else {
            reader.line(number, raw, at, text, &scan, blank_before);
        }
        blank_before = raw.trim().is_empty();
        at += line.len();
    }
    reader.close();
    reader.prose
}

struct Reader<F> {
    prose: Prose,
    open: Option<Paragraph>,
    headings: Vec<(usize, String)>,
    fence: Option<(char, usize)>,
    lines: F,
}

impl<F: Fn(&[String]) -> Lines> Reader<F> {
    fn close(&mut self) {
        if let Some(paragraph) = self.open.take().filter(|paragraph| paragraph.text.chars().any(char::is_alphanumeric))
        {
            self.prose.paragraphs.push(paragraph);
        }
    }

    fn headings(&self) -> Vec<String> {
        self.headings.iter().map(|(_, text)| text.clone()).collect()
    }

    fn line(&mut self, number: u32, raw: &str, at: usize, text: &str, scan: &Scan, blank_before: bool) {
        let (trimmed, indent) = (raw.trim_start(), raw.len() - raw.trim_start().len());
        let mark = trimmed.chars().next().unwrap_or(' ');
        let length = trimmed.chars().take_while(|c| *c == mark).count();
        if let Some((fence, opened)) = self.fence {
            if mark == fence && length >= opened && trimmed.trim_end().chars().all(|c| c == fence) {
                self.fence = None;
            }
            return;
        }
        if matches!(mark, '`' | '~') && length >= 3 {
            self.close();
            self.prose.code_blocks += 1;
            self.fence = Some((mark, length));
            return;
        }
        if trimmed.trim_end().is_empty() {
            return self.close();
        }
        // Code by indentation stands after a blank line, or after more of itself.
        if indent >= 4
            && blank_before
            && self.open.is_none()
            && !is_item(trimmed)
            && (self.lines)(&self.headings()) == Lines::Joined
        {
            self.prose.code_blocks += 1;
            return;
        }
        let masked = |from: usize| scan.masked_range(text, at + from..at + raw.len(), usize::MAX);
        if mark == '#' && length <= 6 && trimmed.chars().nth(length).is_none_or(char::is_whitespace) {
            self.close();
            self.headings.retain(|(level, _)| *level < length);
            let title = masked(indent + length);
            self.headings.push((length, title.trim_matches(['#', ' ']).to_owned()));
            return;
        }
        if mark == '|' {
            self.close();
            self.prose.table_lines += 1;
            return;
        }
        // Rules, and underlines of headings.
        if matches!(mark, '-' | '=' | '*' | '_')
            && trimmed.trim_end().chars().all(|c| c == mark || c == ' ')
            && length >= 2
        {
            return self.close();
        }
        let (skip, ticked) = item(trimmed);
        let content = masked(indent + skip);
        let joined = (self.lines)(&self.headings()) == Lines::Joined;
        // A quotation goes on from line to line; a list inside of one does not.
        let begins = is_item(trimmed.trim_start_matches(['>', ' ', '\t']));
        match &mut self.open {
            Some(open) if joined && !begins => {
                let wide = |c: Option<char>| c.is_some_and(is_unspaced);
                if open.text.len() + content.len() > MAX_PARAGRAPH_BYTES {
                    if !open.text.ends_with('…') {
                        open.text.push('…');
                        self.prose.cut += 1;
                    }
                    return;
                }
                if !(wide(open.text.chars().next_back()) && wide(content.chars().next())) {
                    open.text.push(' ');
                }
                open.text.push_str(&content);
            }
            _ => {
                self.close();
                let mut content = content;
                if content.len() > MAX_PARAGRAPH_BYTES {
                    let end = (0..=MAX_PARAGRAPH_BYTES).rev().find(|end| content.is_char_boundary(*end)).unwrap_or(0);
                    content.truncate(end);
                    content.push('…');
                    self.prose.cut += 1;
                }
                self.open = Some(Paragraph {
                    text: content,
                    line: number,
                    headings: self.headings(),
                    ticked,
                    detail: begins || indent > 0,
                });
            }
        }
    }
}

fn is_item(trimmed: &str) -> bool {
    item(trimmed).0 > 0
}

/// How many bytes the mark of an item or a quotation takes, and whether it is a box that is ticked or not.
fn item(trimmed: &str) -> (usize, Option<bool>) {
    let mut skip = 0;
    let rest = |skip: usize| trimmed.get(skip..).unwrap_or_default();
    while rest(skip).starts_with('>') {
        skip += 1;
        skip += rest(skip).len() - rest(skip).trim_start().len();
    }
    let marked = rest(skip).strip_prefix(['-', '*', '+', '•', '·']).filter(|rest| rest.starts_with([' ', '\t']));
    if let Some(after) = marked {
        skip = trimmed.len() - after.trim_start().len();
    } else {
        let digits = rest(skip).bytes().take(4).take_while(u8::is_ascii_digit).count();
        let after = rest(skip + digits).strip_prefix(['.', ')']).filter(|rest| digits > 0 && rest.starts_with(' '));
        if let Some(after) = after {
            skip = trimmed.len() - after.trim_start().len();
        }
    }
    let ticked = match rest(skip).get(..4) {
        Some("[ ] ") => Some(false),
        Some("[x] " | "[X] ") => Some(true),
        _ => None,
    };
    (if ticked.is_some() { skip + 4 } else { skip }, ticked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> (Vec<String>, usize, usize) {
        let prose = read("a.md", text, |_| Lines::Joined);
        (prose.paragraphs.into_iter().map(|one| one.text).collect(), prose.code_blocks, prose.table_lines)
    }

    #[test]
    fn prose_stays_and_code_and_tables_go() {
        let text = "---\ntitle: x\n---\n# Head\n\nOne\ntwo.\n\n```sh\nrm -rf /\n```\n\n    code()\n\n- item a\n  goes on\n- [ ] todo b\n1. first\n> quoted\n> more\n\n| a | b |\n|---|---|\n\n---\n一行\n接着\n";
        let (paragraphs, code, tables) = texts(text);
        assert_eq!(paragraphs, ["One two.", "item a goes on", "todo b", "first quoted more", "一行接着"]);
        assert_eq!((code, tables), (2, 2));
        let prose = read("a.md", text, |_| Lines::Joined);
        assert_eq!(prose.paragraphs.iter().map(|one| one.line).collect::<Vec<_>>(), [6, 15, 17, 18, 26]);
        assert_eq!(prose.paragraphs[2].ticked, Some(false));
        assert!(prose.paragraphs.iter().all(|one| one.headings == ["Head"]));
    }

    #[test]
    fn lines_of_results_stand_apart() {
        let prose = read("a.md", "Run:\n    cargo test\nDone.", |_| Lines::Apart);
        assert_eq!(
            prose.paragraphs.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(),
            ["Run:", "cargo test", "Done."]
        );
    }

    #[test]
    fn a_fence_that_is_never_closed_and_a_long_paragraph_break_nothing() {
        assert_eq!(texts("a\n```\nb\n"), (vec!["a".to_owned()], 1, 0));
        let (paragraphs, ..) = texts(&"é word\n".repeat(20_000));
        assert!(paragraphs[0].len() <= MAX_PARAGRAPH_BYTES + 4);
    }
}
