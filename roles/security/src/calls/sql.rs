//! SQL text that is put together from parts, in any language.

use brain_role::Severity;
use brain_role::Severity::{High, Low, Medium};

use crate::language::Language;
use crate::limits::MAX_RAW_PER_FILE;
use crate::source::{Literal, Source};
use file_findings::{Evidence, Issue};

/// Adds every literal that is SQL and has a value put into it.
pub(super) fn find(source: &Source<'_>, line_of: &dyn Fn(usize) -> u32, issues: &mut Vec<Issue>) {
    let Some(rule) = rule(source.language) else { return };
    for literal in &source.literals {
        if issues.len() >= MAX_RAW_PER_FILE {
            return;
        }
        let text = source.raw(literal.span.clone());
        if !is_sql(text) {
            continue;
        }
        let Some(severity) = severity(source, literal, text) else { continue };
        let at = literal.span.start + (text.len() - text.trim_start().len());
        issues.push(Issue {
            rule,
            severity,
            line: line_of(at),
            text: "puts a value into the text of an SQL statement".to_owned(),
            evidence: Evidence::Bytes(source.line_around(at)),
            fix: "Give the value as a parameter (?, $1, :name); choose names of tables and columns from a fixed list."
                .into(),
        });
    }
}

fn rule(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Python => "danger/python-sql",
        Language::JavaScript => "danger/js-sql",
        Language::Rust => "danger/rust-sql",
        Language::Go => "danger/go-sql",
        Language::Java => "danger/java-sql",
        Language::Php => "danger/php-sql",
        Language::Ruby => "danger/ruby-sql",
        Language::C | Language::Shell => return None,
    })
}

/// Whether a text is an SQL statement: its verb and the word that belongs to it, both in capitals or both small.
fn is_sql(text: &str) -> bool {
    const PAIRS: &[(&str, &str)] = &[
        ("SELECT ", " FROM "),
        ("INSERT INTO ", " VALUES"),
        ("INSERT INTO ", "SELECT "),
        ("UPDATE ", " SET "),
        ("DELETE FROM ", " "),
        ("DROP TABLE ", " "),
    ];
    let text = text.trim_start();
    let Some(head) = text.get(..12.min(text.len())).or_else(|| text.get(..6)) else { return false };
    if !["select", "insert", "update", "delete", "drop t"]
        .iter()
        .any(|verb| head.get(..6).is_some_and(|start| start.eq_ignore_ascii_case(verb)))
    {
        return false;
    }
    let flat: String =
        text.chars().take(2_000).map(|c| if c.is_whitespace() { ' ' } else { c }).collect::<String>() + " ";
    let small = |word: &str| word.to_ascii_lowercase();
    PAIRS.iter().any(|(verb, word)| {
        (flat.starts_with(verb) && (flat.contains(word) || flat.trim_end().ends_with(word.trim())))
            // In small letters `select one from a list` is English: a comparison or a star makes it SQL.
            || (flat.starts_with(&small(verb)) && flat.contains(&small(word)) && (flat.contains(" where ") || flat.contains(" values") || flat.contains("select *") || flat.contains(" set ")) && flat.contains(['=', '*', '(']))
    })
}

fn severity(source: &Source<'_>, literal: &Literal, text: &str) -> Option<Severity> {
    let behind = source.code(literal.span.end..crate::source::floor(source.raw, literal.span.end + 120));
    let behind = behind.trim_start_matches(['"', '\'', '`', '#']).trim_start();
    let spots = if literal.dynamic {
        interpolations(source.language, text)
    } else if formatted(source, literal, behind) {
        placeholders(source.language, text)
    } else if joined(source.language, behind)? {
        // What is put behind the end of the literal.
        vec![(text.len(), operand(behind))]
    } else {
        return None;
    };
    if spots.is_empty() {
        return None;
    }
    // A constant of the program, such as TABLE, or a list of question marks.
    if spots.iter().all(|(_, name)| is_constant_name(name)) {
        return None;
    }
    if ["quote_name", "quote_ident", "quoteIdentifier", "quote_column", "quote_table", "escapeId"]
        .iter()
        .any(|word| behind.contains(word) || text.contains(word))
    {
        return Some(Low);
    }
    let value = spots.iter().any(|(at, name)| !is_constant_name(name) && is_value(text.get(..*at).unwrap_or_default()));
    Some(if value {
        High
    } else if source.language == Language::Rust || spots.iter().all(|(_, name)| is_table_name(name)) {
        Low
    } else {
        Medium
    })
}

/// Whether the literal goes through a format: `% x`, `.format(x)`, `Sprintf`, `format!`.
fn formatted(source: &Source<'_>, literal: &Literal, behind: &str) -> bool {
    let before =
        source.code(crate::source::floor(source.raw, literal.span.start.saturating_sub(48))..literal.span.start);
    let before = before.trim_end_matches(['"', '\'', '`', ' ', '\n', '\t', '#', 'r', '(']);
    match source.language {
        Language::Python => behind.starts_with('%') || behind.starts_with(".format("),
        Language::Go => before.ends_with("Sprintf"),
        Language::Rust => before.ends_with("format!"),
        Language::Java => before.ends_with("String.format") || behind.starts_with(".formatted("),
        Language::Php => before.ends_with("sprintf"),
        _ => false,
    }
}

/// Whether something that is no literal is put behind the literal. `None` when nothing is.
fn joined(language: Language, behind: &str) -> Option<bool> {
    let rest = match language {
        Language::Php => behind.strip_prefix('.')?,
        Language::Rust => return None,
        _ => behind.strip_prefix('+')?,
    };
    let rest = rest.trim_start();
    Some(rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '$' | '_' | '(' | '@')))
}

fn operand(behind: &str) -> String {
    behind
        .trim_start_matches(['+', '.', ' ', '\n', '\t', '('])
        .chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'))
        .collect()
}

/// Where values are put into the literal, and what they are called.
fn interpolations(language: Language, text: &str) -> Vec<(usize, String)> {
    let (open, close) = match language {
        Language::Python => ("{", '}'),
        Language::JavaScript => ("${", '}'),
        Language::Ruby => ("#{", '}'),
        _ => ("$", ' '),
    };
    text.match_indices(open)
        .map(|(at, sign)| {
            let rest = text.get(at + sign.len()..).unwrap_or_default();
            let name = if close == '}' {
                rest.split('}').next()
            } else {
                rest.split(|c: char| !c.is_alphanumeric() && c != '_').find(|part| !part.is_empty())
            };
            (at, name.unwrap_or_default().trim().to_owned())
        })
        .collect()
}

/// The places of a format.
fn placeholders(language: Language, text: &str) -> Vec<(usize, String)> {
    let signs: &[&str] = match language {
        Language::Rust => &["{"],
        Language::Python => &["%s", "%d", "%(", "{"],
        Language::Go => &["%s", "%v", "%q"],
        _ => &["%s"],
    };
    signs
        .iter()
        .flat_map(|sign| text.match_indices(sign))
        .map(|(at, _)| {
            // `{table}` and `%(table)s` have a name; `{}` and `%s` have none.
            let named = text.get(at..).filter(|rest| rest.starts_with('{') || rest.starts_with("%("));
            let name = named
                .and_then(|rest| rest.split(['}', ')']).next())
                .map(|rest| rest.trim_start_matches(['{', '%', '(']))
                .filter(|name| name.len() < 40)
                .unwrap_or_default();
            (at, name.to_owned())
        })
        .collect()
}

/// Whether a value is expected here: behind a comparison or a quote (a double quote is for names), and not where a table is named.
fn is_value(before: &str) -> bool {
    let before = before.trim_end();
    let upper: String =
        before.chars().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect::<String>().to_ascii_uppercase();
    before.ends_with(['=', '\'', '<', '>', '%'])
        || [" LIKE", "VALUES (", "VALUES(", "WHERE", " AND", " OR"].iter().any(|end| upper.ends_with(end))
}

fn is_constant_name(name: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name);
    (name.len() > 1
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && !name.starts_with("_GET")
        && !name.starts_with("_POST")
        && !name.starts_with("_REQUEST")
        && !name.starts_with("_COOKIE"))
        || name.contains("placeholder")
        || name.contains("question_marks")
}

fn is_table_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["table", "column", "columns", "schema", "fields", "cols", "database"].iter().any(|word| lower.contains(word))
}
