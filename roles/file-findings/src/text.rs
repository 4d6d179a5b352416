//! Words and boundaries of text.

/// Whether `word` stands in `text` by itself.
pub fn has_word(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(at + word.len());
        !before.is_some_and(|b| is_name(*b)) && !after.is_some_and(|b| is_name(*b))
    })
}

/// A byte of an identifier.
pub fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// The largest character boundary that is at most `at`.
pub fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().take(4).find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}
