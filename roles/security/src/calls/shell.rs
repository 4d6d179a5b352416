//! Shell scripts, and command lines inside other files.

use brain_role::Severity::{self, Low, Medium};

use super::{Rule, Site};
use crate::issue::{Evidence, Issue};
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

pub(crate) const CHMOD: &str = "lets everybody on the machine write";
pub(crate) const CHMOD_FIX: &str = "Give the rights to the user or group that needs them: 750 or 770.";
pub(crate) const PIPE: &str = "runs what it downloads, unseen";
pub(crate) const PIPE_FIX: &str = "Download to a file, compare its checksum or signature, then run it.";

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

/// `chmod -R 777`, `chmod a+rwx`, `chmod o+w`.
pub(crate) fn opens_to_all(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.next() == Some("chmod")
        && words.find(|word| !word.starts_with('-')).is_some_and(|mode| matches!(mode, "777" | "0777" | "a+rwx" | "ugo+rwx" | "o+w" | "a+w" | "666" | "0666" | "1777" if mode != "1777"))
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
    Issue { rule, severity: Medium, line, text: PIPE.to_owned(), evidence, fix: PIPE_FIX }
}

fn is_shell(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '"', '\'']).trim_end_matches([';', ')', '"', '\'', '&']);
    matches!(word.rsplit('/').next().unwrap_or(word), "sh" | "bash" | "zsh" | "dash" | "ash" | "ksh")
}

/// Whether a command line downloads something and gives it to an interpreter.
pub(crate) fn pipes_to_a_shell(line: &str) -> bool {
    const INTERPRETERS: &[&str] = &["python", "python3", "perl", "ruby", "node", "pwsh", "source"];
    let downloads = |part: &str| crate::source::has_word(part, "curl") || crate::source::has_word(part, "wget");
    // `bash <(curl …)`
    if line.contains("<(")
        && line.split("<(").skip(1).any(downloads)
        && line.split_whitespace().any(|word| is_shell(word) || word == "source")
    {
        return true;
    }
    let mut seen = false;
    for part in line.replace("||", " ; ").split('|') {
        if seen
            && part.split(';').next().is_some_and(|command| {
                let mut words = command.split_whitespace().skip_while(|word| {
                    matches!(*word, "sudo" | "env" | "-E" | "-H" | "nice" | "exec") || word.contains('=')
                });
                words.next().is_some_and(|word| {
                    let bare = word.trim_end_matches([')', ';', '"', '\'']);
                    // `python -c …` and `node -e …` read the pipe as data.
                    is_shell(word)
                        || INTERPRETERS.contains(&bare)
                            && words.next().is_none_or(|next| next == "-" || next.starts_with(['&', '>', ')']))
                })
            })
        {
            return true;
        }
        let last = part.rsplit([';', '&']).next().unwrap_or(part);
        seen = seen && !part.contains([';', '&']) || downloads(last);
    }
    false
}

/// Whether a command line is a comment.
pub(crate) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_into_an_interpreter_is_seen() {
        for line in [
            "curl -fsSL https://x.io/i.sh | sh",
            "curl x | sudo -E bash -s -- -y",
            "wget -qO- x | tee log | bash",
            "bash <(curl -s x)",
            "curl x | python3 -",
            "a && curl x | bash && b",
            "curl x | FOO=1 sh",
        ] {
            assert!(pipes_to_a_shell(line), "{line}");
        }
        for line in [
            "curl x | jq .",
            "curl x | tar xz",
            "curl -o f x; sh f",
            "cat f | sh",
            "curl x || sh f",
            "curl x | python3 -c 'import json'",
            "curl x && cat y | sh",
            "curly | sh",
        ] {
            assert!(!pipes_to_a_shell(line), "{line}");
        }
    }
}
