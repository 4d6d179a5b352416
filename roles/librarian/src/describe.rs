//! What single files are: for a goal that only refers to them ("explain @src/app.py").

use brain_role::Tree;

use crate::answer::{Answer, Reference, files, lines_in, listed};
use crate::file::{File, refers};
use crate::limits::{MAX_DESCRIBED, MAX_FILE_REFS};
use crate::outline::Kind;
use crate::survey::Survey;

/// Definitions of one file that are named.
const MAX_NAMED: usize = 5;
/// Bytes at the beginning of a file in which its comment is looked for.
const MAX_HEAD_BYTES: u64 = 8 * 1024;
/// Characters that are quoted of that comment.
const MAX_COMMENT_CHARS: usize = 160;

/// A file that the handoff refers to.
#[derive(Debug)]
pub struct Described {
    /// Index into [`Survey::files`].
    pub file: usize,
    /// The first lines of the comment at its beginning.
    pub comment: Option<String>,
}

impl Described {
    /// The files that are referred to, those with most definitions first; the comment is read for as many as are shown.
    pub fn new(tree: &Tree, survey: &Survey, wanted: &[String]) -> Vec<Self> {
        let is_meant =
            |index: &usize| refers(wanted, &survey.files[*index].path) && survey.files[*index].foreign.is_none();
        let mut indexes: Vec<usize> = (0..survey.files.len()).filter(is_meant).collect();
        indexes.sort_by_key(|index| {
            let file = &survey.files[*index];
            let code = file.language.class == crate::language::Class::Code;
            (file.test, !code, std::cmp::Reverse(file.definitions.len()), *index)
        });
        let comment_of =
            |at: usize, file: usize| if at < MAX_DESCRIBED { comment(tree, &survey.files[file]) } else { None };
        let each = indexes.into_iter().enumerate();
        each.map(|(at, file)| Self { file, comment: comment_of(at, file) }).collect()
    }
}

impl Answer {
    /// One line for each file: language, size, comment, definitions.
    pub(crate) fn describe(&mut self, survey: &Survey, described: &[Described]) {
        self.summary.push(match described {
            [one] => format!("The goal refers to {}.", survey.files[one.file].path),
            more => format!("The goal refers to {}.", files(more.len())),
        });
        for (at, described) in described.iter().take(MAX_FILE_REFS).enumerate() {
            let file = &survey.files[described.file];
            let label = label(file, described.comment.as_deref());
            if at < MAX_DESCRIBED {
                self.summary.push(format!("- {}: {label}", file.path));
            }
            self.references.push(Reference { path: file.path.clone(), label });
        }
        if described.len() > MAX_DESCRIBED {
            self.summary.push(format!("- and {}, not described one by one", files(described.len() - MAX_DESCRIBED)));
        }
    }
}

fn label(file: &File, comment: Option<&str>) -> String {
    if !file.read {
        return format!("{}, not read", file.language.name);
    }
    let mut text = format!("{}, {}", file.language.name, lines_in(u64::from(file.lines)));
    if let Some(comment) = comment {
        text.push_str(&format!("; \"{comment}\""));
    }
    let all = file.definitions.iter().map(|defined| &defined.definition).filter(|own| own.kind != Kind::Impl);
    let (tests, own): (Vec<_>, Vec<_>) = all.partition(|definition| definition.test);
    if !own.is_empty() {
        let names = own.iter().map(|own| format!("`{}` ({}, :{})", own.qualified(), own.kind.name(), own.line));
        text.push_str(&format!("; has {}", listed(names, MAX_NAMED)));
    }
    let tests = tests.iter().filter(|test| test.kind == Kind::Test);
    let tests = listed(tests.map(|test| format!("`{}` (:{})", test.qualified(), test.line)), MAX_NAMED);
    if !tests.is_empty() {
        text.push_str(&format!("; tests {tests}"));
    }
    text
}

fn comment(tree: &Tree, file: &File) -> Option<String> {
    if !file.read {
        return None;
    }
    let (bytes, _) = tree.head(&file.path, MAX_HEAD_BYTES).ok()?;
    first_comment(&String::from_utf8_lossy(&bytes))
}

/// The first lines of the comment at the beginning of a text, without their marks. None when it begins with something else.
fn first_comment(text: &str) -> Option<String> {
    const MARKS: &[&str] = &["//!", "///", "//", "/**", "/*", "\"\"\"", "'''", "# ", "-- ", "* ", "<!--"];
    const ENDS: &[&str] = &["*/", "\"\"\"", "'''", "-->"];
    let mut found = String::new();
    // A block comment or a doc string goes on without a mark.
    let mut block = false;
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        let rest = match MARKS.iter().find(|mark| line.starts_with(**mark)) {
            Some(mark) => {
                block |= matches!(*mark, "/**" | "/*" | "\"\"\"" | "'''" | "<!--");
                line.get(mark.len()..).unwrap_or_default()
            }
            None if block => line,
            None if found.is_empty() && (line.is_empty() || line.starts_with("#!") || line.starts_with("<?")) => {
                continue;
            }
            None => break,
        };
        let end = ENDS.iter().find(|end| rest.ends_with(**end));
        let rest = end.and_then(|end| rest.strip_suffix(end)).unwrap_or(rest).trim();
        if rest.is_empty() && !found.is_empty() {
            break;
        }
        if !found.is_empty() {
            found.push(' ');
        }
        found.extend(rest.chars().filter(|c| !c.is_control()));
        if end.is_some() || found.chars().count() >= MAX_COMMENT_CHARS {
            break;
        }
    }
    if let Some((at, _)) = found.char_indices().nth(MAX_COMMENT_CHARS) {
        found.truncate(at);
        found.push('…');
    }
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comment_at_the_beginning_is_read_without_its_marks() {
        for (text, expected) in [
            ("//! Reads things.\n//! And more.\n\nuse a;\n", Some("Reads things. And more.")),
            ("#!/usr/bin/env python3\n\"\"\"Serves orders.\n\nMore.\n\"\"\"\nimport os\n", Some("Serves orders.")),
            ("\"\"\"One line.\"\"\"\nx = 1\n", Some("One line.")),
            ("/**\n * Draws it.\n */\nlet a;\n", Some("Draws it.")),
            ("# Sets up.\nset -e\n", Some("Sets up.")),
            ("import os\n# later\n", None),
            ("", None),
        ] {
            assert_eq!(first_comment(text).as_deref(), expected, "{text}");
        }
        let long = first_comment(&format!("// {}", "é".repeat(5_000)));
        assert!(long.is_some_and(|found| found.chars().count() == MAX_COMMENT_CHARS + 1));
    }
}
