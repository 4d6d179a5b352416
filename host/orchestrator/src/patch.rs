//! The header of one file in a unified diff, as git writes it.

/// What a header says.
pub(crate) struct Header<'a> {
    /// Path before, relative to the project.
    pub old: &'a str,
    /// Path after.
    pub new: &'a str,
    pub added: bool,
    pub deleted: bool,
    pub renamed: bool,
    pub old_mode: &'static str,
    pub new_mode: &'static str,
}

impl Header<'_> {
    fn before(&self) -> String {
        if self.added { "/dev/null".into() } else { quoted("a/", self.old) }
    }

    fn after(&self) -> String {
        if self.deleted { "/dev/null".into() } else { quoted("b/", self.new) }
    }

    /// The two lines that come before the first hunk.
    pub(crate) fn names(&self) -> Vec<u8> {
        format!("--- {}\n+++ {}\n", self.before(), self.after()).into_bytes()
    }

    /// The line that stands for content that is not text.
    pub(crate) fn binary(&self) -> Vec<u8> {
        format!("Binary files {} and {} differ\n", self.before(), self.after()).into_bytes()
    }
}

/// The lines from `diff --git` to what comes before the names.
pub(crate) fn header(facts: &Header<'_>) -> Vec<u8> {
    let mut text = format!("diff --git {} {}\n", quoted("a/", facts.old), quoted("b/", facts.new));
    if facts.added {
        text.push_str(&format!("new file mode {}\n", facts.new_mode));
    } else if facts.deleted {
        text.push_str(&format!("deleted file mode {}\n", facts.old_mode));
    } else if facts.old_mode != facts.new_mode {
        text.push_str(&format!("old mode {}\nnew mode {}\n", facts.old_mode, facts.new_mode));
    }
    if facts.renamed {
        text.push_str(&format!("rename from {}\nrename to {}\n", quoted("", facts.old), quoted("", facts.new)));
    }
    text.into_bytes()
}

/// A name with its prefix, quoted as git quotes: only where it has control characters, quotes or backslashes.
fn quoted(prefix: &str, name: &str) -> String {
    if !name.chars().any(|c| c.is_ascii_control() || c == '"' || c == '\\') {
        return format!("{prefix}{name}");
    }
    let mut out = format!("\"{prefix}");
    for c in name.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_ascii_control() => out.push_str(&format!("\\{:03o}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_only_where_they_must_be() {
        assert_eq!(quoted("a/", "src/é x.rs"), "a/src/é x.rs");
        assert_eq!(quoted("b/", "a\"b\\c\n\u{1b}.py"), "\"b/a\\\"b\\\\c\\n\\033.py\"");
    }
}
