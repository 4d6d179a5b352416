//! Makefiles and shell scripts, where a hazard is certain.

use std::collections::BTreeSet;

use brain_role::Severity::{Low, Medium};
use file_findings::{Evidence, Issue};
use settings_scan::{joined, shell};

use crate::limits::MAX_VARIABLES;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Make,
    Shell,
}

/// What a file is by its name.
pub(crate) fn kind(path: &str) -> Option<Kind> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if matches!(name, "Makefile" | "makefile" | "GNUmakefile") || name.ends_with(".mk") {
        Some(Kind::Make)
    } else if name.ends_with(".sh") || name.ends_with(".bash") {
        Some(Kind::Shell)
    } else {
        None
    }
}

pub(crate) fn find(kind: Kind, text: &str) -> Vec<Issue> {
    let mut issues = Vec::new();
    let lines = joined((1u32..).zip(text.lines()));
    let assigned = assigned(kind, &lines);
    let checks = kind == Kind::Shell && lines.iter().any(|(_, line)| is_nounset(line));
    for (line, content) in &lines {
        if kind == Kind::Make {
            // What a script does so is the role `security`'s to tell, by the names that it has for scripts.
            if shell::pipes_to_a_shell(content) {
                push(&mut issues, *line, "ci/curl-pipe", Medium, shell::PIPE.to_owned(), shell::PIPE_FIX);
            }
            if content.match_indices("chmod ").any(|(at, _)| content.get(at..).is_some_and(shell::opens_to_all)) {
                push(&mut issues, *line, "ci/chmod-777", Low, shell::CHMOD.to_owned(), shell::CHMOD_FIX);
            }
        }
        if let Some(name) = removes(kind, content, &assigned).filter(|_| !checks) {
            let text = format!(
                "removes everything from the root on when {} is empty, and nothing in this file sets it",
                crate::said::name(&name)
            );
            let fix = match kind {
                Kind::Make => {
                    "Set it in the Makefile, or stop when it is empty: $(if $(NAME),,$(error NAME is not set))."
                }
                Kind::Shell => "Write ${NAME:?}, which stops the script when it is empty, and begin with `set -u`.",
            };
            push(&mut issues, *line, "shell/rm-variable", Medium, text, fix);
        }
    }
    issues
}

fn push(
    issues: &mut Vec<Issue>,
    line: u32,
    rule: &'static str,
    severity: brain_role::Severity,
    text: String,
    fix: &'static str,
) {
    issues.push(Issue { rule, severity, line, text, evidence: Evidence::Line, fix: fix.into() });
}

/// `set -u`, `set -euo pipefail`, `set -o nounset`.
fn is_nounset(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.first() == Some(&"set")
        && (words.contains(&"nounset")
            || words.iter().skip(1).any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('u')))
}

/// The names that a file gives a value, in any way.
fn assigned(kind: Kind, lines: &[(u32, String)]) -> BTreeSet<String> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let mut names = BTreeSet::new();
    for (_, line) in lines {
        if names.len() >= MAX_VARIABLES {
            break;
        }
        match kind {
            Kind::Make => {
                let name = line.split(['=', ':', '?', '+', '!']).next().unwrap_or_default().trim();
                let name = name
                    .trim_start_matches("export ")
                    .trim_start_matches("override ")
                    .trim_start_matches("define ")
                    .trim();
                if is_name(name) && line.contains('=') {
                    names.insert(name.to_owned());
                }
            }
            Kind::Shell => {
                for (at, _) in line.match_indices('=').take(64) {
                    let before = line.get(..at).unwrap_or_default();
                    let name: String = before
                        .chars()
                        .rev()
                        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                        .take(128)
                        .collect::<Vec<_>>()
                        .into_iter()
                        .rev()
                        .collect();
                    if is_name(&name) {
                        names.insert(name);
                    }
                }
                // `for x in`, `read x`, `local x`, `mapfile x`.
                let mut words = line.split(|c: char| c.is_whitespace() || c == ';').filter(|word| !word.is_empty());
                while let Some(word) = words.next() {
                    if matches!(word, "for" | "read" | "select" | "mapfile" | "readarray" | "getopts" | "printf") {
                        names.extend(words.by_ref().take(6).filter(|name| is_name(name)).map(str::to_owned));
                    }
                }
            }
        }
    }
    names
}

/// The variable of a `rm -rf $X/…` whose being empty leaves `/…`.
fn removes(kind: Kind, line: &str, assigned: &BTreeSet<String>) -> Option<String> {
    let (_, behind) = line.split_once("rm ")?;
    let command = behind.split([';', '&', '|']).next()?;
    let mut recursive = false;
    for word in command.split_whitespace() {
        if word.starts_with('-') {
            recursive |= word.contains('r') || word.contains('R');
            continue;
        }
        if !recursive {
            continue;
        }
        let word = word.trim_matches(['"', '\'']).replace('"', "");
        let (name, rest) = variable(kind, &word)?;
        // Only what then is the root, or a folder right below it.
        if matches!(rest, "/" | "/*" | "/.*") && !assigned.contains(name) && !is_given(name) {
            return Some(name.to_owned());
        }
    }
    None
}

/// Variables that the system or a CI system sets.
fn is_given(name: &str) -> bool {
    matches!(name, "HOME" | "PWD" | "OLDPWD" | "TMPDIR" | "CURDIR" | "MAKEFILE_DIR" | "DESTDIR")
        || ["GITHUB_", "CI_", "RUNNER_", "CARGO_", "XDG_"].iter().any(|start| name.starts_with(start))
}

/// The plain variable that a word begins with, and what comes behind it. One with a default or a check (`${X:?}`) is none.
fn variable(kind: Kind, word: &str) -> Option<(&str, &str)> {
    let rest = word.strip_prefix('$')?;
    let (open, close) = match kind {
        Kind::Make => ('(', ')'),
        Kind::Shell => ('{', '}'),
    };
    let (name, rest) = match (rest.strip_prefix(open).and_then(|rest| rest.split_once(close)), kind) {
        (Some(found), _) => found,
        (None, Kind::Shell) => {
            rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len()))
        }
        (None, Kind::Make) => return None,
    };
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(kind: Kind, text: &str) -> Vec<(u32, &'static str)> {
        find(kind, text).into_iter().map(|issue| (issue.line, issue.rule)).collect()
    }

    #[test]
    fn a_variable_that_may_be_empty_is_seen() {
        for text in ["rm -rf $OUT/", "rm -rf \"$OUT\"/*", "rm -fr ${OUT}/*", "cd x && rm -rf \"${OUT}/\""] {
            assert_eq!(rules(Kind::Shell, text), [(1, "shell/rm-variable")], "{text}");
        }
        for text in [
            "OUT=x\nrm -rf $OUT/",
            "set -euo pipefail\nrm -rf $OUT/",
            "rm -rf ${OUT:?}/",
            "rm -rf $OUT/build",
            "rm -rf $OUT",
            "rm $OUT/*",
            "rm -rf build/",
            "for OUT in a b; do rm -rf $OUT/; done",
            "# rm -rf $OUT/",
            "rm -rf $1/",
        ] {
            assert_eq!(rules(Kind::Shell, text), [], "{text}");
        }
        assert_eq!(rules(Kind::Make, "clean:\n\trm -rf $(OUT)/*\n"), [(2, "shell/rm-variable")]);
        assert_eq!(rules(Kind::Make, "OUT ?= build\nclean:\n\trm -rf $(OUT)/*\n"), []);
        assert_eq!(
            rules(Kind::Make, "i:\n\tcurl -fsSL https://x.io | sh\n\tchmod 777 a\n"),
            [(2, "ci/curl-pipe"), (3, "ci/chmod-777")]
        );
    }
}
