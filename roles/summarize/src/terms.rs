//! The terms by which sentences are compared: words without their endings, and pairs of characters where words are not spaced.

use std::collections::BTreeSet;

use crate::limits::MAX_TERMS;

/// Words that say nothing.
const STOP: &[&str] = &[
    "a",
    "about",
    "after",
    "again",
    "all",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "each",
    "for",
    "from",
    "give",
    "had",
    "has",
    "have",
    "he",
    "her",
    "here",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "me",
    "more",
    "most",
    "my",
    "no",
    "not",
    "now",
    "of",
    "on",
    "one",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "please",
    "recap",
    "said",
    "same",
    "say",
    "says",
    "see",
    "session",
    "she",
    "short",
    "so",
    "some",
    "such",
    "summarise",
    "summarize",
    "summary",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "up",
    "us",
    "very",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// Whether a character belongs to a script that is written without spaces.
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The terms of a text, at most [`MAX_TERMS`].
pub fn terms(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for c in text.chars().chain([' ']) {
        if found.len() >= MAX_TERMS {
            break;
        }
        if is_unspaced(c) {
            if let Some(before) = before {
                found.insert([before, c].iter().collect());
            }
            before = Some(c);
        } else {
            before = None;
        }
        if c.is_alphanumeric() && !is_unspaced(c) {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            if !STOP.contains(&word.as_str()) && (word.chars().count() > 1 || word.chars().all(|c| c.is_ascii_digit()))
            {
                found.insert(root(&word).to_owned());
            }
            word.clear();
        }
    }
    found
}

/// `decide` of `decides` and `decided`: enough to see that two sentences say the same.
fn root(word: &str) -> &str {
    if word.len() < 5 || !word.is_ascii() {
        return word;
    }
    let cut = ["ings", "ing", "ed", "es", "s"].iter().find_map(|end| word.strip_suffix(end));
    let cut = cut.filter(|cut| cut.len() >= 3).unwrap_or(word);
    cut.strip_suffix('e').filter(|cut| cut.len() >= 3).unwrap_or(cut)
}

/// How much two sentences say the same: 0 to 1.
pub fn likeness(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let small = a.len().min(b.len());
    if small == 0 {
        return 0.0;
    }
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    let alike = shared as f64 / all as f64;
    // One that holds nearly the whole of another, if that is long enough to say something.
    let held = shared as f64 / small as f64;
    if small >= 4 && held >= 0.85 { alike.max(held) } else { alike }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        terms(text).into_iter().collect()
    }

    #[test]
    fn words_lose_their_endings_and_unspaced_text_is_paired() {
        assert_eq!(list("We decided: it decides the Tests!"), ["decid", "test"]);
        assert_eq!(list("使用SQLite存储"), ["sqlit", "使用", "存储"]);
        assert_eq!(list("a 7 Größe"), ["7", "größe"]);
        assert!(terms(&"word1 word2 ".repeat(9)).len() == 2);
    }

    #[test]
    fn likeness_is_of_what_is_said() {
        let alike = |a: &str, b: &str| likeness(&terms(a), &terms(b));
        assert!(alike("The journal is appended with a lock.", "Appending the journal: with a lock") > 0.7);
        assert!(alike("The journal is appended with a lock.", "The report has two findings.") < 0.2);
        assert!(alike("我们决定使用 SQLite 作为存储。", "决定使用 SQLite 作为存储") > 0.7);
        assert!(alike("", "") == 0.0);
    }
}
