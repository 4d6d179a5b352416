//! Makefiles: targets that are written out. Those for which nothing else in the folder stands are checks of their own accord.

use std::collections::BTreeSet;

use super::package::Package;
use super::{Part, Tool};

pub(super) fn offer(package: &mut Package<'_>) {
    // The order in which make looks.
    for file in ["GNUmakefile", "makefile", "Makefile"] {
        let Some(text) = package.text(file) else { continue };
        let targets = targets(&text);
        let parts = [Part::Check, Part::Lint, Part::Test];
        for part in parts {
            if targets.contains(part.as_str()) && !package.covers(part) {
                give(package, file, part.as_str(), Some(part));
            }
        }
        for target in targets {
            give(package, file, target, None);
        }
        return;
    }
}

fn give(package: &mut Package<'_>, file: &str, target: &str, part: Option<Part>) {
    package.offer(Tool::Make, &["make", target], target, part, format!("the target `{target}` of {file}"));
}

/// The targets of a makefile that have plain names.
fn targets(text: &str) -> BTreeSet<&str> {
    let mut targets = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with(['\t', ' ', '#', '.']) {
            continue;
        }
        let Some((names, rest)) = line.split_once(':') else { continue };
        // `a := b` and `a ::= b` give a variable its value.
        if rest.trim_start_matches(':').starts_with('=') || names.contains('=') {
            continue;
        }
        targets.extend(names.split_whitespace().filter(|name| is_plain(name)));
    }
    targets
}

/// Whether make takes it for a target, and not for a switch, a pattern or a variable.
fn is_plain(name: &str) -> bool {
    !name.starts_with('-') && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
}

#[cfg(test)]
mod tests {
    use super::targets;

    #[test]
    fn targets_are_what_stands_before_a_colon_and_is_no_variable() {
        let text = "A := b\nB ::= c\nC = d:e\n.PHONY: test\n# no: one\ntest lint: deps\n\techo x: y\n%.o: %.c\n-x: y\n$(Z): y\n\
                    check::\n";
        assert_eq!(targets(text).into_iter().collect::<Vec<_>>(), ["check", "lint", "test"]);
    }
}
