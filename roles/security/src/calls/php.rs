//! PHP.

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
const COMMAND_FIX: &str = "Pass each argument through escapeshellarg, or use proc_open with an array.";
const INCLUDE: &str = "includes a file that the request names";
const INCLUDE_FIX: &str = "Choose the file from a fixed list.";

pub(super) const RULES: &[Rule] = &[
    rule(
        "danger/php-eval",
        "eval",
        evaluates,
        "evaluates text as PHP code",
        "Use a table of functions, or a template engine.",
    ),
    rule(
        "danger/php-unserialize",
        "unserialize",
        unserialize,
        "deserialises objects, which runs code of their classes",
        "Use json_decode, or the option allowed_classes => false.",
    ),
    rule("danger/php-command", "system", command, COMMAND, COMMAND_FIX),
    rule("danger/php-command", "exec", command, COMMAND, COMMAND_FIX),
    rule("danger/php-command", "shell_exec", command, COMMAND, COMMAND_FIX),
    rule("danger/php-command", "passthru", command, COMMAND, COMMAND_FIX),
    rule("danger/php-command", "popen", command, COMMAND, COMMAND_FIX),
    rule("danger/php-command", "proc_open", command, COMMAND, COMMAND_FIX),
    rule("danger/php-include", "include", include, INCLUDE, INCLUDE_FIX),
    rule("danger/php-include", "include_once", include, INCLUDE, INCLUDE_FIX),
    rule("danger/php-include", "require", include, INCLUDE, INCLUDE_FIX),
    rule("danger/php-include", "require_once", include, INCLUDE, INCLUDE_FIX),
];

const FROM_REQUEST: &[&str] = &["_GET", "_POST", "_REQUEST", "_COOKIE", "_FILES"];

fn is_function(site: &Site<'_>) -> bool {
    !site.is_method()
        && !site.is_definition()
        && !site.source.code(site.at.start.saturating_sub(2)..site.at.start).ends_with("::")
}

fn from_request(site: &Site<'_>, range: std::ops::Range<usize>) -> bool {
    // In a literal too: "cat $_GET[f]".
    let text = site.source.raw(range);
    FROM_REQUEST.iter().any(|name| text.contains(name))
}

fn evaluates(site: &Site<'_>) -> Option<Severity> {
    let arguments = site.arguments()?;
    if !is_function(site) || site.source.is_constant(arguments) { None } else { Some(High) }
}

fn unserialize(site: &Site<'_>) -> Option<Severity> {
    let arguments = site.arguments()?;
    let guarded = site.source.raw(arguments.clone()).contains("allowed_classes");
    if !is_function(site) || guarded || !site.source.code(arguments.clone()).contains('$') {
        return None;
    }
    Some(if from_request(site, arguments) { High } else { Medium })
}

fn command(site: &Site<'_>) -> Option<Severity> {
    let first = site.first()?;
    let escaped = site.source.code(first.clone()).contains("escapeshell");
    let constant = site.source.is_constant(first.clone());
    if !is_function(site) || escaped || constant || site.source.code(first.clone()).trim_start().starts_with('[') {
        return None;
    }
    Some(if from_request(site, first.clone()) || site.source.is_built(first) { High } else { Medium })
}

fn include(site: &Site<'_>) -> Option<Severity> {
    (is_function(site) && from_request(site, site.statement(2))).then_some(High)
}
