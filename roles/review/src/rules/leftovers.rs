//! Work that is not done: placeholders, notes to oneself, tests that were focused or switched off, code kept as a comment.

use super::{Findings, View};
use crate::code::{calls, has_word, split};
use crate::lang::Lang;
use crate::model::{Found, Severity};

/// Comment lines in a row that must look like code before they are taken for code.
const MIN_COMMENTED_LINES: usize = 3;

/// Placeholders and notes in added lines.
pub fn unfinished(view: &View<'_>, findings: &mut Findings) {
    if view.lang == Lang::Other {
        return;
    }
    for (line, text) in view.added() {
        let parts = split(&text, view.lang);
        let placeholder =
            ["todo!", "unimplemented!"].iter().find(|name| view.lang == Lang::Rust && calls(&parts.code, name));
        if let Some(name) = placeholder {
            findings.push(
                Found::new(
                    Severity::Medium,
                    "review/unfinished-code",
                    &view.path,
                    format!("`{name}` panics when it is reached"),
                )
                .at(line)
                .evidence(text.as_ref())
                .suggest("Write the missing code, or return an error that says what is not supported"),
            );
        } else if raises(&parts.code) && text.to_ascii_lowercase().contains("not implemented") {
            findings.push(
                Found::new(
                    Severity::Low,
                    "review/unfinished-code",
                    &view.path,
                    "This code fails with \"not implemented\"",
                )
                .at(line)
                .evidence(text.as_ref()),
            );
        }
        if let Some(word) =
            parts.comment.and_then(|comment| ["FIXME", "XXX", "HACK"].into_iter().find(|word| has_word(comment, word)))
        {
            findings.push(
                Found::new(Severity::Low, "review/fixme", &view.path, format!("The change adds a {word} note"))
                    .at(line)
                    .evidence(text.as_ref())
                    .suggest("Fix it in this change, or record it where the project tracks its work"),
            );
        }
    }
}

fn raises(code: &str) -> bool {
    ["throw", "raise", "panic"].iter().any(|word| has_word(code, word)) || calls(code, "panic!")
}

/// Tests that run alone or not at all.
pub fn switched_tests(view: &View<'_>, findings: &mut Findings) {
    for (line, text) in view.added() {
        let code = split(&text, view.lang).code;
        let (focused, skipped): (&[&str], &[&str]) = match view.lang {
            Lang::Js => (
                &["it.only", "test.only", "describe.only", "context.only", "suite.only", "fdescribe", "fit"],
                &["it.skip", "test.skip", "describe.skip", "xit", "xdescribe", "xtest", "it.todo"],
            ),
            Lang::Go => (&[], &["t.Skip", "t.SkipNow", "t.Skipf"]),
            Lang::Python => (&[], &["pytest.skip"]),
            _ => (&[], &[]),
        };
        let marks: &[&str] = match view.lang {
            Lang::Rust => &["#[ignore]", "#[ignore "],
            Lang::Python => &["@pytest.mark.skip", "@unittest.skip"],
            Lang::Java | Lang::Kotlin => &["@Ignore", "@Disabled"],
            Lang::CSharp => &["[Ignore]", "[Ignore("],
            _ => &[],
        };
        if let Some(name) = focused.iter().find(|name| calls(&code, name)) {
            findings.push(
                Found::new(
                    Severity::Medium,
                    "review/focused-test",
                    &view.path,
                    format!("`{name}` keeps every other test from running"),
                )
                .at(line)
                .evidence(text.as_ref())
                .suggest("Remove the focus"),
            );
        } else if let Some(name) =
            skipped.iter().find(|name| calls(&code, name)).or_else(|| marks.iter().find(|mark| has_word(&code, mark)))
        {
            findings.push(
                Found::new(
                    Severity::Medium,
                    "review/skipped-test",
                    &view.path,
                    format!("`{}` switches a test off", name.trim_end_matches([' ', '('])),
                )
                .at(line)
                .evidence(text.as_ref())
                .suggest("Make the test pass, or remove it and say why"),
            );
        }
    }
}

/// Runs of added comment lines that read like code.
pub fn commented_code(view: &View<'_>, findings: &mut Findings) {
    if view.lang == Lang::Other {
        return;
    }
    let mut run: Vec<(u32, String)> = Vec::new();
    let mut likely = 0_usize;
    for (line, text) in view.added() {
        let parts = split(&text, view.lang);
        // `///`, `//!` and `/**` are documentation.
        let comment =
            parts.comment.filter(|comment| parts.code.trim().is_empty() && !comment.starts_with(['/', '!', '*']));
        let follows = run.last().is_none_or(|(last, _)| last.checked_add(1) == Some(line));
        if comment.is_none() || !follows {
            report_run(view, &run, likely, findings);
            run.clear();
            likely = 0;
        }
        if let Some(comment) = comment {
            likely += usize::from(reads_like_code(comment));
            run.push((line, text.into_owned()));
        }
    }
    report_run(view, &run, likely, findings);
}

fn report_run(view: &View<'_>, run: &[(u32, String)], likely: usize, findings: &mut Findings) {
    let Some((line, text)) = run.first() else { return };
    // Prose between the lines of code is usual; mostly prose is an explanation.
    if run.len() >= MIN_COMMENTED_LINES && likely * 3 >= run.len() * 2 {
        findings.push(
            Found::new(
                Severity::Low,
                "review/commented-out-code",
                &view.path,
                format!("{} lines of code are kept as a comment", run.len()),
            )
            .at(*line)
            .evidence(text.as_str())
            .suggest("Remove them; the history keeps them"),
        );
    }
}

fn reads_like_code(comment: &str) -> bool {
    let text = comment.trim();
    let ends = text.ends_with([';', '{', '}'])
        || text.ends_with("):")
        || text.ends_with(");")
        || text.ends_with(')') && text.contains('(') && !text.contains(". ");
    let opens = [
        "return ", "if (", "for (", "while (", "import ", "from ", "def ", "let ", "const ", "var ", "fn ", "func ",
        "else",
    ]
    .iter()
    .any(|word| text.starts_with(word));
    let assigns = text.contains(" = ") && text.split_whitespace().count() <= 8;
    ends || assigns || (opens && text.contains(['(', '=', '{']))
}
