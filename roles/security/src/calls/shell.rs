//! Shell scripts, and command lines inside other files.

use brain_role::Severity::{self, Low, Medium};

use super::{Rule, Site};
use file_findings::{Evidence, Issue};
use settings_scan::shell::{CHMOD, CHMOD_FIX, PIPE, PIPE_FIX, is_shell, opens_to_all, pipes_to_a_shell};

use crate::source::Source;

pub(super) const RULES: &[Rule] = &[
    Rule {
        rule: "danger/shell-eval",
        word: "eval",
        judge: evaluates,
        text: "evaluates text as shell code",
        fix: "Use an array for the command: cmd=(…); \"${cmd[@]}\".",
    },
    Rule { rule: "danger/shell-chmod-777", word: "chmod", judge: chmod, text: CHMOD, fix: CHMOD_FIX },
];

/// `eval` of something that holds a variable. `eval "$(tool init)"` is how tools set up a shell.
fn evaluates(site: &Site<'_>) -> Option<Severity> {
    let line = site.line();
    let before = site.source.code(line.start..site.at.start).trim_end();
    let is_command = before.is_empty()
        || before.ends_with([';', '|', '&', '(', '{', '!'])
        || ["then", "do", "else", "&&", "||", "if"].iter().any(|word| before.ends_with(word));
    if !is_command {
        return None;
    }
    let text = site.source.raw(site.at.end..line.end.max(site.at.end)).trim();
    let argument = text.trim_start_matches(['"', '\'']);
    if !text.contains('$') || argument.starts_with("$(") || argument.starts_with('`') {
        return None;
    }
    let outside =
        ["$1", "$2", "$@", "$*", "${1", "${@", "${*", "$REPLY", "$QUERY_STRING"].iter().any(|name| text.contains(name));
    Some(if outside { Medium } else { Low })
}

fn chmod(site: &Site<'_>) -> Option<Severity> {
    let line = site.line();
    opens_to_all(site.source.code(site.at.start..line.end.max(site.at.start))).then_some(Medium)
}

/// Adds every `curl … | sh` of a script.
pub(super) fn pipes(source: &Source<'_>, line_of: &dyn Fn(usize) -> u32, issues: &mut Vec<Issue>) {
    for (at, _) in source.code.match_indices("curl").chain(source.code.match_indices("wget")) {
        let line = source.line_around(at);
        // A comment has no code; a string is what is printed, but for `sh -c "$(curl …)"`.
        if pipes_to_a_shell(source.code(line.clone())) {
            issues.push(pipe("danger/shell-curl-pipe", line_of(at), Evidence::Bytes(line)));
        }
    }
    for literal in source.literals.iter().filter(|literal| literal.dynamic) {
        let text = source.raw(literal.span.clone());
        let substituted =
            ["$(curl ", "$(wget ", "`curl ", "`wget "].iter().any(|start| text.trim_start().starts_with(start));
        let line = source.line_around(literal.span.start);
        let before = source.code(line.start..literal.span.start);
        let run = before.split_whitespace().any(is_shell) && before.contains(" -c")
            || crate::source::has_word(before, "eval");
        if substituted && run {
            issues.push(pipe("danger/shell-curl-pipe", line_of(literal.span.start), Evidence::Bytes(line)));
        }
    }
}

fn pipe(rule: &'static str, line: u32, evidence: Evidence) -> Issue {
    Issue { rule, severity: Medium, line, text: PIPE.to_owned(), evidence, fix: PIPE_FIX.into() }
}
