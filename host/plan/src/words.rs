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

    /// The words, each between spaces.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Whether the request has this word, or these words in a row; a plural `s` makes no difference. A word in a script
    /// that is not written with spaces matches anywhere.
    pub(crate) fn has(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        if word.is_empty() {
            return false;
        }
        if word.chars().any(is_unspaced) {
            return self.text.contains(&word);
        }
        [format!(" {word} "), format!(" {word}s ")].iter().any(|w| self.text.contains(w))
    }

    /// The first of `verbs` that the request asks for: at its beginning, or after a word that a wish goes on with. "Fix the
    /// parser" and "check and fix it" ask; "review the change" does not.
    pub(crate) fn asks_to<'a>(&self, verbs: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        const BEFORE: &[&str] = &[
            "to", "and", "then", "also", "please", "you", "must", "should", "let", "lets", "us", "i", "we", "or",
            "just",
        ];
        verbs.into_iter().find(|verb| {
            if verb.chars().any(is_unspaced) {
                return self.text.contains(verb);
            }
            self.text.match_indices(&format!(" {verb} ")).any(|(at, _)| {
                let before = self.text.get(..at).unwrap_or_default().rsplit(' ').next().unwrap_or_default();
                before.is_empty() || BEFORE.contains(&before)
            })
        })
    }

    /// The one of `words` that the request begins with.
    pub(crate) fn first_is<'a>(&self, words: &[&'a str]) -> Option<&'a str> {
        let text = self.text.trim_start();
        words.iter().copied().find(|word| {
            text.strip_prefix(word).is_some_and(|rest| rest.starts_with(' ') || word.chars().any(is_unspaced))
        })
    }

    /// The first of `words` that the request has.
    pub(crate) fn first_of<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        words.into_iter().find(|word| self.has(word))
    }
}

/// Whether a character belongs to a script that is written without spaces.
pub(crate) fn is_unspaced(c: char) -> bool {
    ('\u{2e80}'..='\u{9fff}').contains(&c)
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
    fn a_verb_asks_only_where_a_wish_stands() {
        let verbs = || ["fix", "change", "build", "修复"];
        for (request, expected) in [
            ("Fix the parser", Some("fix")),
            ("look for bugs and fix them", Some("fix")),
            ("please change it", Some("change")),
            ("find secrets and review the pending change", None),
            ("is the build broken?", None),
            ("where was the last fix made", None),
            ("请修复登录", Some("修复")),
        ] {
            assert_eq!(Words::of(request).asks_to(verbs()), expected, "{request}");
        }
    }

    #[test]
    fn scripts_without_spaces_match_inside() {
        assert!(Words::of("请审查这个改动").has("审查"));
        assert!(!Words::of("请").has("审查"));
    }
}
