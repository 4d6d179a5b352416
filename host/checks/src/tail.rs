//! The end of an output: what a program says last is what it fails with.

/// Keeps the last so many bytes of what goes in, and counts the rest.
pub(crate) struct Tail {
    bytes: Vec<u8>,
    limit: usize,
    seen: u64,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, seen: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        self.bytes.extend_from_slice(bytes.get(bytes.len().saturating_sub(self.limit)..).unwrap_or_default());
        // Not at each push, so that a byte costs no more than being moved once.
        if self.bytes.len() > self.limit.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let over = self.bytes.len().saturating_sub(self.limit);
        self.bytes.drain(..over);
    }

    /// The text, beginning with a whole character, and how many bytes before it were dropped. What is not UTF-8 is replaced.
    pub(crate) fn finish(mut self) -> (String, u64) {
        self.cut();
        let cut = self.seen > self.bytes.len() as u64;
        let continues = |byte: &u8| cut && (byte & 0xc0) == 0x80;
        let start = self.bytes.iter().take(3).take_while(|byte| continues(byte)).count();
        let kept = self.bytes.get(start..).unwrap_or_default();
        let dropped = self.seen - kept.len() as u64;
        let mut text = String::from_utf8_lossy(kept).into_owned();
        // Each byte that was replaced has three in its place.
        if text.len() > self.limit {
            let over = text.len() - self.limit;
            let from = (over..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            text.drain(..from);
        }
        (text, dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(limit: usize, pushes: &[&[u8]]) -> (String, u64) {
        let mut tail = Tail::new(limit);
        for bytes in pushes {
            tail.push(bytes);
        }
        tail.finish()
    }

    #[test]
    fn the_last_bytes_are_kept_and_the_rest_is_counted() {
        assert_eq!(tail(4, &[b"ab", b"cd"]), ("abcd".into(), 0));
        assert_eq!(tail(4, &[b"ab", b"cdefghijkl"]), ("ijkl".into(), 8));
        assert_eq!(tail(4, &[&b"a"[..]; 99]), ("aaaa".into(), 95));
        assert_eq!(tail(4, &[]), (String::new(), 0));
    }

    #[test]
    fn the_text_begins_with_a_whole_character_and_stays_within_its_bound() {
        assert_eq!(tail(4, &["aüöä".as_bytes()]), ("öä".into(), 3));
        assert_eq!(tail(3, &["aüöä".as_bytes()]), ("ä".into(), 5));
        let (text, dropped) = tail(4, &[&[0xff; 10]]);
        assert!(text.len() <= 4 && dropped == 6, "{text}");
    }
}
