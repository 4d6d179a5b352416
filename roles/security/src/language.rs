//! Which language a file is in, by its name or its first line.

/// The languages whose calls are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript, alone or inside a page or component.
    JavaScript,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// C and C++.
    C,
    /// Java, Kotlin, Scala and Groovy.
    Java,
    /// PHP.
    Php,
    /// Ruby.
    Ruby,
    /// Bourne-like shells.
    Shell,
}

impl Language {
    /// The language of a file, `None` when its calls are not judged.
    pub fn of(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((_, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
            return Self::by_name(name).or_else(|| Self::by_first_line(text));
        };
        Some(match extension.to_ascii_lowercase().as_str() {
            "py" | "pyw" | "pyi" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" | "html" | "htm"
            | "astro" => Self::JavaScript,
            "rs" => Self::Rust,
            "go" => Self::Go,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" | "ino" => Self::C,
            "java" | "kt" | "kts" | "scala" | "groovy" => Self::Java,
            "php" | "phtml" | "php5" | "inc" => Self::Php,
            "rb" | "rake" | "gemspec" | "ru" => Self::Ruby,
            "sh" | "bash" | "zsh" | "ksh" => Self::Shell,
            _ => return None,
        })
    }

    fn by_name(name: &str) -> Option<Self> {
        match name {
            "Rakefile" | "Gemfile" | "Vagrantfile" => Some(Self::Ruby),
            ".bashrc" | ".profile" | ".zshrc" | "configure" => Some(Self::Shell),
            _ => None,
        }
    }

    fn by_first_line(text: &str) -> Option<Self> {
        let line = text.lines().next().unwrap_or_default();
        let program = line.strip_prefix("#!")?;
        let has = |word: &str| program.contains(word);
        if has("python") {
            Some(Self::Python)
        } else if has("node") || has("deno") || has("bun") {
            Some(Self::JavaScript)
        } else if has("ruby") {
            Some(Self::Ruby)
        } else if has("php") {
            Some(Self::Php)
        } else if has("sh") {
            Some(Self::Shell)
        } else {
            None
        }
    }

    /// Whether code stands between tags, and what is outside is not code.
    pub(crate) fn is_embedded(path: &str) -> bool {
        [".vue", ".svelte", ".html", ".htm", ".astro"].iter().any(|end| path.to_ascii_lowercase().ends_with(end))
    }
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn a_name_or_a_first_line_tells() {
        assert_eq!(Language::of("a/b.TSX", ""), Some(Language::JavaScript));
        assert_eq!(Language::of("bin/tool", "#!/usr/bin/env python3\n"), Some(Language::Python));
        assert_eq!(Language::of("bin/tool", "#!/bin/sh\n"), Some(Language::Shell));
        assert_eq!(Language::of("bin/tool", "text"), None);
        assert_eq!(Language::of(".bashrc", ""), Some(Language::Shell));
        assert_eq!(Language::of("a.md", "#!/bin/sh"), None);
        assert_eq!(Language::of("", ""), None);
    }
}
