//! Ruby.

use brain_role::Severity::{self, High, Medium};

use super::{Rule, Site};

const fn rule(
    rule: &'static str,
    word: &'static str,
    judge: fn(&Site<'_>) -> Option<Severity>,
    text: &'static str,
    fix: &'static str,
) -> Rule {
    Rule { rule, word, judge, text, fix }
}

const COMMAND: &str = "runs a command line through a shell";
const COMMAND_FIX: &str = "Give each argument by itself: system(\"git\", \"log\", name).";

pub(super) const RULES: &[Rule] = &[
    rule(
        "danger/ruby-eval",
        "eval",
        evaluates,
        "evaluates text as Ruby code",
        "Use a table of procs, or public_send with a name from a fixed list.",
    ),
    rule(
        "danger/ruby-marshal",
        "Marshal.load",
        marshal,
        "deserialises objects, which runs code of their classes",
        "Use JSON.",
    ),
    rule(
        "danger/ruby-marshal",
        "Marshal.restore",
        marshal,
        "deserialises objects, which runs code of their classes",
        "Use JSON.",
    ),
    rule(
        "danger/ruby-send",
        "send",
        sends,
        "calls a method that the request names",
        "Choose the method from a fixed list.",
    ),
    rule(
        "danger/ruby-send",
        "public_send",
        sends,
        "calls a method that the request names",
        "Choose the method from a fixed list.",
    ),
    rule(
        "danger/ruby-send",
        "__send__",
        sends,
        "calls a method that the request names",
        "Choose the method from a fixed list.",
    ),
    rule("danger/ruby-command", "system", command, COMMAND, COMMAND_FIX),
    rule("danger/ruby-command", "exec", command, COMMAND, COMMAND_FIX),
];

/// The arguments with or without parentheses.
fn arguments(site: &Site<'_>) -> Option<std::ops::Range<usize>> {
    site.arguments().or_else(|| {
        let after = site.source.code(site.at.end..site.source.code.len());
        let is_argument = after.starts_with(' ')
            && after
                .trim_start()
                .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '"' | '\'' | '@' | '`' | ':'));
        let line = site.line();
        (is_argument && site.at.end < line.end).then_some(site.at.end..line.end)
    })
}

fn evaluates(site: &Site<'_>) -> Option<Severity> {
    if site.is_method() && site.receiver() != "Kernel" || site.is_definition() {
        return None;
    }
    let arguments = arguments(site)?;
    site.grade(site.source.split(arguments).into_iter().next()?)
}

fn marshal(site: &Site<'_>) -> Option<Severity> {
    let arguments = arguments(site)?;
    // `Marshal.load(Marshal.dump(x))` is a deep copy.
    if site.source.code(arguments.clone()).contains("Marshal.dump") {
        return None;
    }
    Some(if site.comes_from_outside(arguments) { High } else { Medium })
}

fn sends(site: &Site<'_>) -> Option<Severity> {
    let first = site.source.split(arguments(site)?).into_iter().next()?;
    (!site.is_definition() && (site.source.has_word(first.clone(), "params") || site.source.has_word(first, "cookies")))
        .then_some(High)
}

fn command(site: &Site<'_>) -> Option<Severity> {
    if site.is_method() && site.receiver() != "Kernel" || site.is_definition() {
        return None;
    }
    let parts = site.source.split(arguments(site)?);
    // With several arguments no shell is asked.
    let [only] = parts.as_slice() else { return None };
    site.source.is_built(only.clone()).then_some(High)
}
