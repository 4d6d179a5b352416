//! Rust, Go, C and C++.

use brain_role::Severity::{self, High, Low, Medium};

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

const SHELL: &str = "runs a command line that is put together at run time through a shell";
const TLS: &str = "turns off the check of TLS certificates";

pub(super) const RUST: &[Rule] = &[
    rule(
        "danger/rust-unsafe",
        "unsafe",
        unsafe_block,
        "an unsafe block says nowhere why it is sound",
        "Write a `// SAFETY:` comment that names the conditions and why they hold.",
    ),
    rule(
        "danger/rust-transmute",
        "transmute",
        transmute,
        "reinterprets memory as another type, with no word on why that is sound",
        "Use a safe conversion (from_ne_bytes, bytemuck, as), or write a `// SAFETY:` comment.",
    ),
    rule(
        "danger/rust-shell",
        "Command::new",
        rust_shell,
        SHELL,
        "Call the program itself with .arg() for each argument.",
    ),
    rule(
        "danger/rust-tls-verify",
        "danger_accept_invalid_certs",
        accepts,
        TLS,
        "Add the private CA with add_root_certificate.",
    ),
    rule(
        "danger/rust-tls-verify",
        "danger_accept_invalid_hostnames",
        accepts,
        TLS,
        "Use the name that the certificate is for.",
    ),
    rule("danger/rust-tls-verify", "SslVerifyMode::NONE", always, TLS, "Use SslVerifyMode::PEER."),
];

pub(super) const GO: &[Rule] = &[
    rule("danger/go-shell", "exec.Command", go_shell, SHELL, "Call the program itself, one argument per parameter."),
    rule(
        "danger/go-shell",
        "exec.CommandContext",
        go_shell,
        SHELL,
        "Call the program itself, one argument per parameter.",
    ),
    rule(
        "danger/go-tls-verify",
        "InsecureSkipVerify",
        skip_verify,
        TLS,
        "Leave it off; put the private CA into RootCAs.",
    ),
    rule("danger/go-weak-random", "rand.Int", weak_random, WEAK, WEAK_FIX),
    rule("danger/go-weak-random", "rand.Intn", weak_random, WEAK, WEAK_FIX),
    rule("danger/go-weak-random", "rand.Int63", weak_random, WEAK, WEAK_FIX),
    rule("danger/go-weak-random", "rand.Int31n", weak_random, WEAK, WEAK_FIX),
    rule("danger/go-weak-random", "rand.Read", weak_random, WEAK, WEAK_FIX),
    rule("danger/go-weak-random", "rand.IntN", weak_random, WEAK, WEAK_FIX),
    rule("danger/go-weak-random", "rand.Uint64", weak_random, WEAK, WEAK_FIX),
];

const WEAK: &str = "makes a secret with a random generator that can be predicted";
const WEAK_FIX: &str = "Use crypto/rand.";
const UNBOUNDED: &str = "writes to a buffer without knowing its size";

pub(super) const C: &[Rule] = &[
    rule(
        "danger/c-gets",
        "gets",
        gets,
        "reads a line into a buffer without knowing its size",
        "Use fgets with the size of the buffer.",
    ),
    rule(
        "danger/c-strcpy",
        "strcpy",
        copies,
        UNBOUNDED,
        "Use snprintf or strlcpy with the size of the target, and check for truncation.",
    ),
    rule(
        "danger/c-strcat",
        "strcat",
        copies,
        UNBOUNDED,
        "Use snprintf or strlcat with the size of the target, and check for truncation.",
    ),
    rule(
        "danger/c-sprintf",
        "sprintf",
        prints,
        UNBOUNDED,
        "Use snprintf with the size of the target, and check its result.",
    ),
    rule(
        "danger/c-sprintf",
        "vsprintf",
        prints,
        UNBOUNDED,
        "Use vsnprintf with the size of the target, and check its result.",
    ),
    rule(
        "danger/c-system",
        "system",
        system,
        "runs a command line through a shell",
        "Use posix_spawn or execve with a list of arguments.",
    ),
    rule(
        "danger/c-system",
        "popen",
        system,
        "runs a command line through a shell",
        "Use posix_spawn with pipes and a list of arguments.",
    ),
];

fn always(_: &Site<'_>) -> Option<Severity> {
    Some(High)
}

/// `unsafe {` or `unsafe impl` with no SAFETY comment beside it.
fn unsafe_block(site: &Site<'_>) -> Option<Severity> {
    let after = site.after();
    let is_block = after.starts_with('{') || after.starts_with("impl");
    (is_block && !is_explained(site)).then_some(Low)
}

/// Whether a comment with the word stands on the line, on the ones before it (up to the statement's start), or first in the block.
fn is_explained(site: &Site<'_>) -> bool {
    let low = site.at.start.saturating_sub(1500);
    let high = site.at.end + 400;
    let first = site.source.comments.partition_point(|comment| comment.end < low);
    site.source.comments.iter().skip(first).take_while(|comment| comment.start < high).any(|comment| {
        let text = site.source.raw(comment.clone()).to_ascii_lowercase();
        if !text.contains("safety") && !text.contains("# safe") {
            return false;
        }
        if comment.start >= site.at.end {
            // Inside the block: nothing but the brace and blanks before it.
            return site.source.code(site.at.end..comment.start).chars().all(|c| c == '{' || c.is_whitespace());
        }
        // Before it: at most the rest of one statement, three lines of code.
        let between = site.source.code(comment.end..site.at.start);
        between.lines().filter(|line| !line.trim().is_empty()).count() <= 3 && !between.contains("}\n\n")
    })
}

fn transmute(site: &Site<'_>) -> Option<Severity> {
    let after = site.after();
    let is_call = after.starts_with('(') || after.starts_with("::<");
    // A comment on the block around it speaks for it too.
    (is_call && !site.is_definition() && !is_explained(site)).then_some(Medium)
}

/// `Command::new("sh").arg("-c").arg(format!(…))`.
fn rust_shell(site: &Site<'_>) -> Option<Severity> {
    let program = site.source.raw(site.arguments()?).trim();
    if !is_shell(program) {
        return None;
    }
    let statement = site.statement(20);
    let chain = site.source.code(statement.clone());
    let open = chain.find(".arg")?;
    let rest = statement.start + open..statement.end;
    if !site.source.raw(rest.clone()).contains("\"-c\"") && !site.source.raw(rest.clone()).contains("\"/C\"") {
        return None;
    }
    let last = last_argument(site, rest)?;
    if site.source.code(last.clone()).contains("format!") {
        return Some(High);
    }
    (!site.source.is_constant(last)).then_some(Medium)
}

/// The argument of the last `.arg(…)` or `.args(…)` of a chain, without the `-c`.
fn last_argument(site: &Site<'_>, chain: std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let code = site.source.code(chain.clone());
    let mut built = None;
    for (at, word) in code.match_indices(".arg") {
        let start = chain.start + at + word.len();
        let start = start + usize::from(site.source.code(start..start + 1) == "s");
        if let Some(arguments) = site.source.arguments(start) {
            let constant = site.source.is_constant(arguments.clone());
            if built.is_none() || !constant {
                built = Some(arguments);
            }
        }
    }
    built
}

/// Whether a literal names a shell.
fn is_shell(literal: &str) -> bool {
    let name = literal.trim_matches(['"', '\'', '`', '&', ' ']);
    matches!(
        name.rsplit('/').next().unwrap_or(name),
        "sh" | "bash" | "zsh" | "dash" | "cmd" | "cmd.exe" | "powershell" | "pwsh"
    )
}

fn accepts(site: &Site<'_>) -> Option<Severity> {
    (site.source.code(site.arguments()?).trim() == "true").then_some(High)
}

fn go_shell(site: &Site<'_>) -> Option<Severity> {
    let mut arguments = site.source.split(site.arguments()?);
    if site.source.code(site.at.clone()).ends_with("Context") && !arguments.is_empty() {
        arguments.remove(0);
    }
    if !is_shell(site.source.raw(arguments.first()?.clone()).trim()) {
        return None;
    }
    let flag = site.source.raw(arguments.get(1)?.clone()).trim();
    if !matches!(flag, "\"-c\"" | "\"-lc\"" | "\"/C\"" | "\"/c\"" | "\"-Command\"" | "`-c`") {
        return None;
    }
    site.grade(arguments.get(2)?.clone())
}

fn skip_verify(site: &Site<'_>) -> Option<Severity> {
    let after = site.after();
    let value = after.strip_prefix(':').or_else(|| after.strip_prefix('='))?.trim_start();
    value.starts_with("true").then_some(High)
}

/// `rand` of math/rand on a line that is about a secret.
fn weak_random(site: &Site<'_>) -> Option<Severity> {
    let raw = site.source.raw;
    let is_math = raw.contains("\"math/rand\"") || raw.contains("\"math/rand/v2\"");
    (is_math && !raw.contains("\"crypto/rand\"") && (site.is_sensitive_line() || in_sensitive_function(site)))
        .then_some(Medium)
}

/// Whether the function around it is named after a secret.
fn in_sensitive_function(site: &Site<'_>) -> bool {
    let start = crate::source::floor(site.source.raw, site.at.start.saturating_sub(800));
    let before = site.source.code(start..site.at.start);
    let head = before
        .rfind("\nfunc ")
        .and_then(|at| before.get(at + 1..))
        .and_then(|text| text.lines().next())
        .unwrap_or_default()
        .to_ascii_lowercase();
    super::SENSITIVE.iter().any(|word| head.contains(word))
}

/// A function of the C library that is called, and not declared or a member.
fn is_library_call(site: &Site<'_>) -> bool {
    let scoped = site.source.code(site.at.start.saturating_sub(2)..site.at.start) == "::";
    let standard = !scoped || matches!(site.receiver(), "std" | "");
    !site.is_method()
        && standard
        && !site.is_definition()
        && !site.source.code(site.line()).trim_start().starts_with("#define")
}

fn gets(site: &Site<'_>) -> Option<Severity> {
    let arguments = site.arguments()?;
    (is_library_call(site) && !site.source.code(arguments).trim().is_empty()).then_some(High)
}

fn copies(site: &Site<'_>) -> Option<Severity> {
    let arguments = site.source.split(site.arguments()?);
    let from = arguments.get(1)?.clone();
    // A literal has a known length.
    (is_library_call(site) && !site.source.is_constant(from)).then_some(Medium)
}

fn prints(site: &Site<'_>) -> Option<Severity> {
    let arguments = site.source.split(site.arguments()?);
    let format = site.source.raw(arguments.get(1)?.clone());
    if !is_library_call(site) {
        return None;
    }
    // Numbers have a known width; text has not.
    let text = format.contains("%s") || !format.trim_start().starts_with('"');
    Some(if text { Medium } else { Low })
}

fn system(site: &Site<'_>) -> Option<Severity> {
    if !is_library_call(site) {
        return None;
    }
    site.grade(site.first()?)
}
