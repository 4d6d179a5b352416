//! Untrusted text, shown to a person.
//!
//! Every string that comes from a role may hold escape sequences that recolour, retitle or erase a terminal, and Unicode
//! controls that make text read in another order than it is stored. Packets keep strings as they came; whoever prints
//! one passes it through here first.

use std::borrow::Cow;

/// The characters of a value that an error or a note quotes.
const QUOTED_CHARS: usize = 48;

/// The text with every character that a terminal would obey, or that a reader cannot see, spelled out as `\u{1b}`.
///
/// Line feeds and tabs stay, and a carriage return before a line feed goes. Use [`terminal_line`] for what has to stay
/// on one line.
///
/// ```
/// assert_eq!(brain_packet::terminal_safe("\u{1b}[2Jgone"), "\\u{1b}[2Jgone");
/// ```
#[must_use]
pub fn terminal_safe(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c != '\n' && c != '\t' && is_hidden(c);
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        if obeyed(c) {
            safe.extend(c.escape_unicode());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// As [`terminal_safe`], on one line: each run of white space becomes one space.
#[must_use]
pub fn terminal_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c != ' ' && c.is_whitespace();
    if !text.contains(|c| breaks(c) || is_hidden(c)) && !text.contains("  ") {
        return Cow::Borrowed(text.trim());
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&terminal_safe(word));
    }
    Cow::Owned(line)
}

/// A short quotation of a value for an error or a note: one line, safe to print, its length bounded.
pub(crate) fn quoted(value: &str) -> String {
    let start: String = value.chars().take(QUOTED_CHARS).collect();
    let more = if start.len() < value.len() { "…" } else { "" };
    let safe: String = start
        .chars()
        .flat_map(|c| if is_hidden(c) { c.escape_unicode().collect::<Vec<_>>() } else { vec![c] })
        .collect();
    format!("\"{safe}{more}\"")
}

/// Characters that act on the terminal or on the reading order, or that take no room at all.
///
/// Joiners (U+200C, U+200D) stay: scripts and emoji need them.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_not_copied() {
        for text in ["", "plain", "two\nlines\tand a tab", "日本語 👩‍💻 é"] {
            assert!(matches!(terminal_safe(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_spelled_out() {
        let cases = [
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("safe\rover", "safe\\u{d}over"),
            ("dos\r\nline", "dos\nline"),
            ("a\u{8}b\u{7f}", "a\\u{8}b\\u{7f}"),
            ("user\u{202e}txt.exe", "user\\u{202e}txt.exe"),
            ("\u{2066}iso\u{2069}", "\\u{2066}iso\\u{2069}"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
            ("\u{2028}para", "\\u{2028}para"),
        ];
        for (text, safe) in cases {
            assert_eq!(terminal_safe(text), safe);
        }
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(terminal_line("  a\r\n\tb   c\u{2028}d "), "a b c d");
        assert_eq!(terminal_line("x\u{1b}c"), "x\\u{1b}c");
        assert!(matches!(terminal_line("one line"), Cow::Borrowed("one line")));
    }

    #[test]
    fn a_quotation_is_short_and_clean() {
        assert_eq!(quoted("a\nb\u{202e}"), "\"a\\u{a}b\\u{202e}\"");
        let long = quoted(&"é".repeat(1_000));
        assert_eq!(long.chars().count(), QUOTED_CHARS + 3);
    }
}
