//! From a paragraph to its sentences, in English, Chinese and languages that end sentences alike.

use std::ops::Range;

/// Words that a full stop does not end a sentence after, in small letters.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "eg", "ie", "vs", "cf", "approx", "mr", "mrs", "ms", "dr", "prof", "fig", "figs", "no", "nos", "vol",
    "sec", "ch", "resp", "incl", "excl", "ca", "st", "jr", "sr", "dept", "est", "min", "max", "z.b", "bzw", "u.a",
    "d.h",
];

/// The byte ranges of the sentences of a paragraph, without blanks around them. Together they hold every character that is no blank.
///
/// A sentence ends after `。！？` wherever they stand, with the quotes and brackets that close behind them, and after `.!?` where a blank or the end
/// follows. A full stop after an abbreviation, an initial or a number of a list, or before a small letter, ends nothing.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut end = at + c.len_utf8();
        let wide = is_wide_end(c);
        if !wide && !matches!(c, '.' | '!' | '?') {
            continue;
        }
        // Ends in a row, and what closes behind them.
        while let Some((at, next)) = chars.peek().copied() {
            if !(is_wide_end(next) || matches!(next, '.' | '!' | '?') || closes(next)) {
                break;
            }
            end = at + next.len_utf8();
            chars.next();
        }
        let rest = text.get(end..).unwrap_or_default();
        let ends = wide
            || rest.is_empty()
            || (rest.starts_with(char::is_whitespace) && !goes_on(text.get(start..end).unwrap_or_default(), rest));
        if ends {
            push(&mut found, text, start..end);
            start = end;
        }
    }
    push(&mut found, text, start..text.len());
    found
}

fn push(found: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    let whole = text.get(range.clone()).unwrap_or_default();
    let trimmed = whole.trim();
    if !trimmed.is_empty() {
        let start = range.start + (whole.len() - whole.trim_start().len());
        found.push(start..start + trimmed.len());
    }
}

fn is_wide_end(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡')
}

fn closes(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '」' | '』' | '）' | '】' | '》' | '*' | '_' | '`')
}

/// Whether a sentence that seems to end goes on. `sentence` ends with its sign.
fn goes_on(sentence: &str, rest: &str) -> bool {
    if !sentence.trim_end_matches(closes).ends_with('.') {
        // `"Why?" she asked.`
        return rest.trim_start().starts_with(char::is_lowercase) && sentence.ends_with(closes);
    }
    let before = sentence.trim_end_matches(|c: char| c == '.' || closes(c));
    let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"')).next().unwrap_or_default();
    let next = rest.trim_start().chars().next();
    let first = word.len() == before.trim_start().len();
    let lower = word.to_lowercase();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let number = first && !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    // `No. 5`, but `I said no. Then …`.
    let numbered =
        matches!(lower.as_str(), "no" | "nos" | "min" | "max" | "st" | "fig" | "figs" | "sec" | "ch" | "vol");
    let abbreviated =
        ABBREVIATIONS.contains(&lower.as_str()) && (!numbered || next.is_some_and(|c| c.is_ascii_digit()));
    initial || number || abbreviated || next.is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        for (text, expected) in [
            ("One. Two! Three? Four", &["One.", "Two!", "Three?", "Four"] as &[_]),
            ("我们决定用 SQLite。为什么？因为简单！完", &["我们决定用 SQLite。", "为什么？", "因为简单！", "完"]),
            ("他说：“可以。”然后走了。", &["他说：“可以。”", "然后走了。"]),
            (
                "Use e.g. a file. See Fig. 3 and src/a.rs for it.",
                &["Use e.g. a file.", "See Fig. 3 and src/a.rs for it."],
            ),
            ("Version 1.2.3 is out. It works.", &["Version 1.2.3 is out.", "It works."]),
            ("J. Doe agreed. Is it safe?! Yes...", &["J. Doe agreed.", "Is it safe?!", "Yes..."]),
            ("1. First step. 2. Second", &["1. First step.", "2. Second"]),
            ("\"Why?\" she asked. (It was late.) Fine.", &["\"Why?\" she asked.", "(It was late.)", "Fine."]),
            ("I said no. Then we left.", &["I said no.", "Then we left."]),
            ("Wait... what", &["Wait... what"]),
            ("", &[]),
            (" \n ", &[]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_added(text in "([a-zA-Z0-9 .!?。！？“”'\"()\n\u{e9}\u{1f980}测试]|e\\.g\\. ){0,80}") {
            let joined: String = split(&text).concat();
            let squash = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(squash(&joined), squash(&text));
            prop_assert!(split(&text).iter().all(|one| one.trim() == *one && !one.is_empty()));
        }
    }
}
