//! Whole words of a request.

/// The lower-cased words of a request: runs of letters, digits, `_` and `-`.
#[derive(Debug)]
pub(crate) struct Words {
    text: String,
}

impl Words {
    pub(crate) fn of(request: &str) -> Self {
        let mut text = String::from(" ");
        for word in request.to_lowercase().split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-') {
            if !word.is_empty() {
                text.push_str(word);
                text.push(' ');
            }
        }
        Self { text }
    }

    /// Whether the request has this word, or these words in a row; a plural `s` makes no difference. A word in a script
    /// that is not written with spaces matches anywhere.
    pub(crate) fn has(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        if word.is_empty() {
            return false;
        }
        if word.chars().any(|c| ('\u{2e80}'..='\u{9fff}').contains(&c)) {
            return self.text.contains(&word);
        }
        [format!(" {word} "), format!(" {word}s ")].iter().any(|w| self.text.contains(w))
    }

    /// The first of `words` that the request has.
    pub(crate) fn first_of<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        words.into_iter().find(|word| self.has(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_plurals_count() {
        let words = Words::of("Find SECRETS, and re-view the pull-request (API keys)!");
        assert!(words.has("secret") && words.has("secrets") && words.has("api key"));
        assert!(!words.has("review") && !words.has("key api") && !words.has("ecret"));
    }

    #[test]
    fn scripts_without_spaces_match_inside() {
        assert!(Words::of("请审查这个改动").has("审查"));
        assert!(!Words::of("请").has("审查"));
    }
}
