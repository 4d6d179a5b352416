//! Formats whose structure is in their lines: Markdown, TOML, INI, YAML, makefiles.

use super::{Definition, Found, Kind};

/// Deepest heading level that CommonMark knows.
const MAX_LEVEL: usize = 6;

/// Headings, `#` and underlined, each with the heading above it as its container. Text between code fences is skipped.
pub(super) fn markdown(text: &str) -> Found {
    let mut found = Found::default();
    // The headings around the present line: level, and place in what was found.
    let mut above: Vec<(usize, usize)> = Vec::new();
    let mut fence: Option<(u8, usize)> = None;
    let mut previous = "";
    let mut last = 0;
    for (number, line) in numbered(text) {
        last = number;
        let trimmed = line.trim_start();
        if line.len() - trimmed.len() > 3 {
            previous = "";
            continue;
        }
        let mark = trimmed.bytes().next().unwrap_or(b' ');
        let width = trimmed.bytes().take_while(|byte| *byte == mark).count();
        if matches!(mark, b'`' | b'~') && width >= 3 {
            fence = match fence {
                None => Some((mark, width)),
                Some((open, least)) if open == mark && width >= least && trimmed[width..].trim().is_empty() => None,
                open => open,
            };
            continue;
        }
        if fence.is_some() {
            continue;
        }
        let heading = if mark == b'#' && width <= MAX_LEVEL && trimmed[width..].starts_with([' ', '\t']) {
            Some((width, trimmed[width..].trim().trim_end_matches('#').trim(), number))
        } else if matches!(mark, b'=' | b'-')
            && trimmed.trim_end().bytes().all(|byte| byte == mark)
            && is_paragraph(previous)
        {
            Some((if mark == b'=' { 1 } else { 2 }, previous.trim(), number - 1))
        } else {
            None
        };
        previous = line;
        let Some((level, title, line)) = heading else { continue };
        previous = "";
        if title.is_empty() {
            continue;
        }
        while let Some((_, index)) = above.pop_if(|(other, _)| *other >= level) {
            let ended = &mut found.definitions[index];
            ended.end = line.saturating_sub(1).max(ended.line);
        }
        let container = above.last().map(|(_, index)| found.definitions[*index].name.clone());
        above.push((level, found.definitions.len()));
        found.definitions.push(Definition {
            name: title.to_owned(),
            kind: Kind::Heading,
            container,
            line,
            top: line,
            end: line,
            test: false,
        });
    }
    for (_, index) in above {
        found.definitions[index].end = last;
    }
    found
}

fn is_paragraph(line: &str) -> bool {
    line.chars().any(char::is_alphanumeric) && !line.trim_start().starts_with(['|', '-', '*', '>', '+'])
}

fn numbered(text: &str) -> impl Iterator<Item = (u32, &str)> {
    text.lines().zip(1u32..).map(|(line, number)| (number, line))
}

fn section(name: &str, line: u32) -> Definition {
    Definition { name: name.to_owned(), kind: Kind::Section, container: None, line, top: line, end: line, test: false }
}

/// Each section ends where the next begins.
fn ended(mut found: Found, text: &str) -> Found {
    let mut end = text.lines().count() as u32;
    for definition in found.definitions.iter_mut().rev() {
        definition.end = end.max(definition.line);
        end = definition.line.saturating_sub(1);
    }
    found
}

/// `#` comments of a line-based format, as byte ranges; only those that fill their line.
fn comments(text: &str, marks: &[char]) -> Vec<std::ops::Range<usize>> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with(marks) {
            found.push(at..at + line.trim_end().len());
        }
        at += line.len();
    }
    found
}

/// Tables of TOML and sections of INI.
pub(super) fn tables(text: &str) -> Found {
    let mut found = Found { comments: comments(text, &['#', ';']), ..Found::default() };
    for (number, line) in numbered(text) {
        let line = line.trim();
        let name = line
            .strip_prefix('[')
            .and_then(|rest| rest.split(']').next())
            .map(|name| name.trim_start_matches('[').trim());
        if let Some(name) = name
            && !name.is_empty()
            && line.contains(']')
            && !name.contains([',', '=', '{'])
        {
            found.definitions.push(section(name, number));
        }
    }
    ended(found, text)
}

/// Top-level keys of YAML.
pub(super) fn keys(text: &str) -> Found {
    let mut found = Found { comments: comments(text, &['#']), ..Found::default() };
    for (number, line) in numbered(text) {
        if let Some((key, _)) = line.split_once(':')
            && !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'"' | b'\''))
        {
            found.definitions.push(section(key.trim_matches(['"', '\'']), number));
        }
    }
    ended(found, text)
}

/// Targets of makefiles and recipes of justfiles.
pub(super) fn targets(text: &str) -> Found {
    let mut found = Found { comments: comments(text, &['#']), ..Found::default() };
    for (number, line) in numbered(text) {
        let Some((head, rest)) = line.split_once(':') else { continue };
        // `NAME := value` is a variable, `.PHONY` a directive.
        if line.starts_with(['\t', ' ', '#', '.']) || rest.starts_with('=') || head.contains(['=', '$', '"']) {
            continue;
        }
        if let Some(name) = head.split_whitespace().next() {
            found.definitions.push(section(name, number));
        }
    }
    ended(found, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(found: &Found) -> Vec<(&str, Option<&str>, u32, u32)> {
        found.definitions.iter().map(|d| (d.name.as_str(), d.container.as_deref(), d.line, d.end)).collect()
    }

    #[test]
    fn headings_have_their_place() {
        let found = markdown("# A\ntext\n## B ##\n```sh\n# not a heading\n```\nC\n---\n| - |\n---\n#not\n# D\n");
        assert_eq!(
            rows(&found),
            [("A", None, 1, 11), ("B", Some("A"), 3, 6), ("C", Some("A"), 7, 11), ("D", None, 12, 12)]
        );
    }

    #[test]
    fn tables_keys_and_targets() {
        assert_eq!(
            rows(&tables("a = [1]\n[package]\nx = 1\n[[bin]]\n# c\n")),
            [("package", None, 2, 3), ("bin", None, 4, 5)]
        );
        assert_eq!(rows(&keys("on:\n  push:\njobs:\n  a: b\n- c: d\n")), [("on", None, 1, 2), ("jobs", None, 3, 5)]);
        assert_eq!(
            rows(&targets(".PHONY: all\nX := 1\nall: a b\n\tcc\ntest:\n")),
            [("all", None, 3, 4), ("test", None, 5, 5)]
        );
    }
}
