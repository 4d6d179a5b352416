//! From text to the words that are compared: identifiers are split, endings are cut.

/// Calls `found` with every word of a text: its byte offset and itself. A word is a run of letters, digits and `_`.
pub fn scan<'a>(text: &'a str, mut found: impl FnMut(usize, &'a str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && is_word(bytes[at]) {
            at += 1;
        }
        if at > start {
            found(start, &text[start..at]);
        } else {
            at += 1;
        }
    }
}

/// Bytes above 0x7f count as letters: every character outside ASCII stays whole.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Calls `found` with every part of an identifier, as written: `readJSONFile2` has `read`, `JSON`, `File2`.
pub fn parts<'a>(word: &'a str, mut found: impl FnMut(&'a str)) {
    let bytes = word.as_bytes();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'_' {
            if at > start {
                found(&word[start..at]);
            }
            start = at + 1;
        } else if at > start && bytes[at].is_ascii_uppercase() {
            let before = bytes[at - 1];
            let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            // `fooBar` parts before B; `HTTPServer` parts before S, which a small letter follows.
            if before.is_ascii_lowercase() || before.is_ascii_digit() || (before.is_ascii_uppercase() && next_is_lower)
            {
                found(&word[start..at]);
                start = at;
            }
        }
        at += 1;
    }
    if at > start {
        found(&word[start..at]);
    }
}

/// The form under which a word is compared: small letters, without its ending.
///
/// The rule is a short one that treats `write`, `writes` and `writing`, or `entry` and `entries`, as one; it is not a dictionary.
/// Irregular forms (`written`) are not recognised: whoever searches adds them to the words searched for.
pub fn stem(word: &str) -> String {
    let mut word = word.to_lowercase();
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    if word.ends_with("ies") && word.len() > 4 {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ["sses", "shes", "ches", "xes", "zes"].iter().any(|ending| word.ends_with(ending)) {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        word.truncate(word.len() - 1);
    }
    for ending in [
        "ization", "isation", "ation", "ingly", "ing", "edly", "ed", "ions", "ion", "ments", "ment", "ness", "ers",
        "er", "ors", "or", "able", "ible", "ly",
    ] {
        let Some(root) = word.strip_suffix(ending) else { continue };
        // `comment` is not what is done to a `com`.
        let shortest = if ending.starts_with("ment") { 4 } else { 3 };
        if root.len() < shortest || !root.bytes().any(|byte| matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')) {
            continue;
        }
        word.truncate(root.len());
        undouble(&mut word);
        break;
    }
    // `cache` and `caching`, `retry` and `retries`.
    if word.len() > 3 && word.ends_with('e') {
        word.truncate(word.len() - 1);
    }
    if word.len() > 3 && word.ends_with('y') {
        word.truncate(word.len() - 1);
        word.push('i');
    }
    word
}

/// `stopp` of `stopping` becomes `stop`; `call` and `pass` keep their two letters.
fn undouble(word: &mut String) {
    let bytes = word.as_bytes();
    if let [.., before, last] = bytes
        && before == last
        && !matches!(last, b'l' | b's' | b'z' | b'a' | b'e' | b'i' | b'o' | b'u')
    {
        word.truncate(word.len() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(word: &str) -> Vec<&str> {
        let mut found = Vec::new();
        parts(word, |part| found.push(part));
        found
    }

    #[test]
    fn identifiers_are_split_where_a_reader_would() {
        assert_eq!(split("readJSONFile"), ["read", "JSON", "File"]);
        assert_eq!(split("__init_subclass__"), ["init", "subclass"]);
        assert_eq!(split("HTTPServer"), ["HTTP", "Server"]);
        assert_eq!(split("utf8Reader"), ["utf8", "Reader"]);
        assert_eq!(split("MAX_SIZE"), ["MAX", "SIZE"]);
        assert_eq!(split("___"), Vec::<&str>::new());
        assert_eq!(split("größeÄndern"), ["größeÄndern"]);
    }

    #[test]
    fn words_of_one_family_have_one_stem() {
        for family in [
            &["write", "writes", "writing", "writer", "writers"][..],
            &["entry", "entries"],
            &["test", "tests", "tested", "testing", "tester"],
            &["cache", "caches", "cached", "caching"],
            &["configure", "configured", "configuration"],
            &["retry", "retries"],
            &["match", "matches", "matching", "matcher"],
            &["stop", "stops", "stopped", "stopping"],
            &["pass", "passes", "passed"],
            &["session", "sessions"],
            &["limit", "limits", "limited", "limiter"],
            &["parse", "parser", "parsing"],
        ] {
            let first = stem(family[0]);
            for word in family {
                assert_eq!(stem(word), first, "{word}");
            }
        }
        for (a, b) in
            [("session", "sense"), ("use", "user"), ("ring", "r"), ("status", "state"), ("bus", "bu"), ("red", "r")]
        {
            assert_ne!(stem(a), stem(b), "{a} {b}");
        }
    }

    #[test]
    fn any_text_is_scanned_whole() {
        let text = "a::b_c(\"é x\") \u{1f980}z";
        let mut words = Vec::new();
        scan(text, |at, word| words.push((at, word)));
        assert!(words.iter().all(|(at, word)| &text[*at..*at + word.len()] == *word));
        assert_eq!(words.iter().map(|(_, word)| *word).collect::<Vec<_>>(), ["a", "b_c", "é", "x", "\u{1f980}z"]);
    }
}
