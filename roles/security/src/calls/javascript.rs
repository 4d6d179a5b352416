//! JavaScript and TypeScript.

use brain_role::Severity::{self, High, Low, Medium};

use super::{Rule, Site};

const HTML: &str = "puts text into the page as HTML";
const HTML_FIX: &str = "Use textContent, or clean the text with a sanitiser such as DOMPurify first.";
const COMMAND: &str = "runs a command line through a shell";
const COMMAND_FIX: &str = "Use execFile or spawn with a list of arguments and no shell.";
const TLS: &str = "turns off the check of TLS certificates";
const TLS_FIX: &str = "Leave it on; give a private CA in the `ca` option or in NODE_EXTRA_CA_CERTS.";

const fn rule(
    rule: &'static str,
    word: &'static str,
    judge: fn(&Site<'_>) -> Option<Severity>,
    text: &'static str,
    fix: &'static str,
) -> Rule {
    Rule { rule, word, judge, text, fix }
}

pub(super) const RULES: &[Rule] = &[
    rule(
        "danger/js-eval",
        "eval",
        evaluates,
        "evaluates text as code",
        "Use JSON.parse for data, or a table of functions for choices.",
    ),
    rule(
        "danger/js-new-function",
        "Function",
        new_function,
        "makes a function from text",
        "Write the function, or choose from a table of functions.",
    ),
    rule("danger/js-child-process", "exec", child_process, COMMAND, COMMAND_FIX),
    rule("danger/js-child-process", "execSync", child_process, COMMAND, COMMAND_FIX),
    rule("danger/js-inner-html", "innerHTML", html, HTML, HTML_FIX),
    rule("danger/js-inner-html", "outerHTML", html, HTML, HTML_FIX),
    rule("danger/js-inner-html", "insertAdjacentHTML", adjacent, HTML, HTML_FIX),
    rule(
        "danger/js-dangerous-html",
        "dangerouslySetInnerHTML",
        react,
        HTML,
        "Render the text as children, or clean it with a sanitiser such as DOMPurify first.",
    ),
    rule("danger/js-document-write", "document.write", write, "writes text into the page as HTML", HTML_FIX),
    rule("danger/js-document-write", "document.writeln", write, "writes text into the page as HTML", HTML_FIX),
    rule("danger/js-tls-verify", "rejectUnauthorized", reject, TLS, TLS_FIX),
    rule("danger/js-tls-verify", "NODE_TLS_REJECT_UNAUTHORIZED", environment, TLS, TLS_FIX),
    rule(
        "danger/js-weak-random",
        "Math.random",
        weak_random,
        "makes a secret with a random generator that can be predicted",
        "Use crypto.randomUUID or crypto.getRandomValues.",
    ),
];

fn evaluates(site: &Site<'_>) -> Option<Severity> {
    let own = !site.is_method() || matches!(site.receiver(), "window" | "globalThis" | "global" | "self");
    if !own || site.is_definition() || is_member(site) {
        return None;
    }
    site.grade(site.arguments()?)
}

/// A method of a class or an object: `eval(x) {`.
fn is_member(site: &Site<'_>) -> bool {
    site.arguments().is_some_and(|arguments| {
        let rest = site.source.code(arguments.end..site.source.code.len());
        let rest = rest.strip_prefix(')').unwrap_or(rest).trim_start();
        rest.starts_with('{') || rest.starts_with(": ")
    })
}

fn new_function(site: &Site<'_>) -> Option<Severity> {
    let bytes = site.source.code(site.at.start.saturating_sub(8)..site.at.start);
    let arguments = site.arguments()?;
    if !bytes.trim_end().ends_with("new")
        || site.source.code(arguments.clone()).trim().is_empty() && site.source.is_constant(arguments.clone())
    {
        return None;
    }
    Some(site.grade(arguments).unwrap_or(Low))
}

/// `exec` of child_process, and not of a regular expression.
fn child_process(site: &Site<'_>) -> Option<Severity> {
    let file_uses_it = site.source.raw.contains("child_process") || site.source.raw.contains("shelljs");
    let own = if site.is_method() {
        matches!(site.receiver(), "child_process" | "childProcess" | "cp" | "child" | "shell" | "shelljs" | "proc")
    } else {
        !site.is_definition() && !is_member(site)
    };
    if !file_uses_it || !own {
        return None;
    }
    site.grade(site.first()?)
}

fn html(site: &Site<'_>) -> Option<Severity> {
    if !site.is_method() {
        return None;
    }
    if site.after().starts_with(':') {
        return None;
    }
    clean_or(site, site.assigned()?)
}

fn adjacent(site: &Site<'_>) -> Option<Severity> {
    let arguments = site.source.split(site.arguments()?);
    clean_or(site, arguments.get(1)?.clone())
}

fn react(site: &Site<'_>) -> Option<Severity> {
    let value = site.assigned()?;
    // The object names the text: `{ __html: text }`.
    let code = site.source.code(value.clone());
    let start = code.find("__html").map_or(value.start, |at| value.start + at + 6);
    let end = value.end.min(site.source.code(start..value.end).find('}').map_or(value.end, |at| start + at));
    let text = site.source.code(start..end).trim_start_matches([' ', ':']);
    clean_or(site, end - text.len()..end)
}

/// Medium unless the text is a constant or has been cleaned.
fn clean_or(site: &Site<'_>, value: std::ops::Range<usize>) -> Option<Severity> {
    let code = site.source.code(value.clone()).to_ascii_lowercase();
    let clean = ["sanitize", "sanitise", "dompurify", "escapehtml", "escape(", "trustedhtml", "createhtml"]
        .iter()
        .any(|word| code.contains(word));
    let empty = code.trim().trim_end_matches([';', ',', '}']).trim().is_empty();
    if clean || empty || site.source.is_constant(value.clone()) { None } else { Some(Medium) }
}

fn write(site: &Site<'_>) -> Option<Severity> {
    let arguments = site.arguments()?;
    site.grade(arguments).map(|_| Medium)
}

fn reject(site: &Site<'_>) -> Option<Severity> {
    let after = site.after();
    let value = after.strip_prefix(':').or_else(|| after.strip_prefix('='))?.trim_start();
    (value.starts_with("false") || value.starts_with("!1")).then_some(High)
}

/// `process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"`.
fn environment(site: &Site<'_>) -> Option<Severity> {
    let value = site.assigned()?;
    let zero = site.source.raw(value).trim().trim_matches(['"', '\'', ' ', ';']).starts_with('0');
    zero.then_some(High)
}

fn weak_random(site: &Site<'_>) -> Option<Severity> {
    let before = site.source.code(site.line().start..site.at.start);
    let target = before.rsplit_once('=').map_or(before, |(target, _)| target).to_ascii_lowercase();
    let words = super::SENSITIVE.iter().any(|word| target.contains(word));
    // `tokens[Math.floor(Math.random() * n)]` picks one of a list.
    (words && !target.trim_end().ends_with('[') && !before.trim_end().ends_with("[Math.floor(")).then_some(Medium)
}
