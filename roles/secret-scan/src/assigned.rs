//! Literals that are given to a name such as `password`, `api_key` or `token`.
//!
//! The name says what kind of secret to expect, and the value has to look like one: long enough, of mixed characters, with
//! an entropy that words and identifiers do not reach. What refers to a value (`${VAR}`, `os.environ[…]`, `<token>`), what is
//! made of words, and what is a digest, a UUID, a path or an address, is no secret.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::Severity::{self, High, Low, Medium};
use crate::context::FileKind;
use crate::{BY_NAME, Found, MAX_LINE_BYTES, STRUCTURED, lines, shape, structured};

/// Least length of a password that is judged; shorter ones are words too often.
const MIN_PASSWORD: usize = 8;
/// Least length of a token or key.
const MIN_TOKEN: usize = 16;
/// Longest value that is judged; longer ones are data.
const MAX_VALUE: usize = 256;
/// Bits per character that a password must have.
const PASSWORD_ENTROPY: f64 = 2.7;
/// Bits per character that a token must have, by length: a random value of 16 has fewer than one of 40.
const TOKEN_ENTROPY: [(usize, f64); 3] = [(32, 3.7), (20, 3.4), (MIN_TOKEN, 3.1)];
/// Bits per character of a token in hexadecimal, which has at most 4.
const HEX_ENTROPY: f64 = 3.0;
/// Bytes of a name that are looked at, to either side of the word.
const MAX_NAME: usize = 64;
/// Bytes of the line before the name and behind the value that may explain them.
const NEAR: usize = 120;

/// What a name promises.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Promise {
    Password,
    Token,
}

const WORDS: &[(&str, Promise)] = &[
    ("password", Promise::Password),
    ("passwd", Promise::Password),
    ("passphrase", Promise::Password),
    ("pwd", Promise::Password),
    ("secret", Promise::Token),
    ("token", Promise::Token),
    ("api_key", Promise::Token),
    ("api-key", Promise::Token),
    ("apikey", Promise::Token),
    ("access_key", Promise::Token),
    ("accesskey", Promise::Token),
    ("auth_key", Promise::Token),
    ("authkey", Promise::Token),
    ("private_key", Promise::Token),
    ("privatekey", Promise::Token),
    ("encryption_key", Promise::Token),
    ("signing_key", Promise::Token),
    ("account_key", Promise::Token),
    ("credential", Promise::Token),
];

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .match_kind(MatchKind::LeftmostLongest)
        .ascii_case_insensitive(true)
        .build(WORDS.iter().map(|(word, _)| *word))
        .ok()
});

/// Adds every secret of `text` that a name gives away, and returns how many lines were too long to judge.
pub(crate) fn find(text: &str, kind: FileKind, found: &mut Vec<Found>) -> u32 {
    let Some(automaton) = AUTOMATON.as_ref() else { return 0 };
    if kind == FileKind::Lock {
        return 0;
    }
    let bytes = text.as_bytes();
    let (mut long_lines, mut done) = (0u32, 0);
    for hit in automaton.find_iter(text) {
        if hit.start() < done {
            continue;
        }
        let Some(line) = lines::around(bytes, hit.start(), MAX_LINE_BYTES) else {
            // Counted once: the next look starts behind this line.
            long_lines = long_lines.saturating_add(1);
            done = bytes[hit.end()..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |at| hit.end() + at);
            continue;
        };
        let Some((_, promise)) = WORDS.get(hit.pattern().as_usize()) else { continue };
        let name = name_around(bytes, hit.start()..hit.end(), &line);
        done = name.end;
        let Some(value) = value_after(text, &name, &line, kind) else { continue };
        let Some(name_text) = text.get(name.clone()) else { continue };
        let near = lines::floor_boundary(text, line.start.max(name.start.saturating_sub(NEAR)));
        let near = near..lines::floor_boundary(text, line.end.min(value.span.end + NEAR));
        let near = text.get(near).unwrap_or_default();
        if let Some(one) = judge(name_text, *promise, &value, text, near, kind) {
            done = one.span.end;
            found.push(one);
        }
    }
    long_lines
}

/// The whole identifier around the word.
fn name_around(bytes: &[u8], word: Range<usize>, line: &Range<usize>) -> Range<usize> {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let low = line.start.max(word.start.saturating_sub(MAX_NAME));
    let high = line.end.min(word.end + MAX_NAME);
    let before = bytes[low..word.start].iter().rev().take_while(|b| is_name(b)).count();
    let after = bytes[word.end.min(high)..high].iter().take_while(|b| is_name(b)).count();
    word.start - before..word.end + after
}

/// A value and how it was written.
struct Value {
    span: Range<usize>,
    quoted: bool,
    /// Given as an argument after a name in quotes: `header("X-Api-Key", "…")`.
    argument: bool,
}

/// The literal that is given to the name: after `=`, `:`, `:=`, `=>`, or as the next argument.
fn value_after(text: &str, name: &Range<usize>, line: &Range<usize>, kind: FileKind) -> Option<Value> {
    let bytes = text.as_bytes();
    let mut at = name.end;
    let peek = |at: usize| if at < line.end { bytes.get(at).copied() } else { None };
    let blank = |mut at: usize| {
        while matches!(peek(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        at
    };
    let name_was_quoted = matches!(peek(at), Some(b'"' | b'\'' | b'`'));
    while matches!(peek(at), Some(b'"' | b'\'' | b'`' | b']' | b')' | b'?' | b'!'))
        || (peek(at) == Some(b'\\') && matches!(peek(at + 1), Some(b'"')))
    {
        at += 1;
    }
    at = blank(at);
    let mut argument = false;
    match (peek(at)?, peek(at + 1)) {
        (b'=', Some(b'=' | b'~')) | (b':', Some(b':')) => return None,
        (b'=', Some(b'>')) | (b':', Some(b'=')) => at += 2,
        (b'=', _) => at += 1,
        (b':', _) => {
            at += 1;
            at = behind_type(bytes, at, line.end);
        }
        (b',', _) if name_was_quoted => {
            at += 1;
            argument = true;
        }
        _ => return None,
    }
    at = blank(at);
    // A prefix of the literal (`b"…"`, `r'…'`, `@"…"`), an escape inside a JSON text, or a conversion around it.
    if matches!(peek(at), Some(b'b' | b'r' | b'u' | b'@' | b'L' | b'&')) && matches!(peek(at + 1), Some(b'"' | b'\'')) {
        at += 1;
    }
    if peek(at) == Some(b'\\') && matches!(peek(at + 1), Some(b'"')) {
        at += 1;
    }
    if let Some(quote @ (b'"' | b'\'' | b'`')) = peek(at) {
        let start = at + 1;
        let length = bytes.get(start..line.end)?.iter().position(|&b| b == quote || b == b'\\')?;
        return Some(Value { span: start..start + length, quoted: true, argument });
    }
    if kind != FileKind::Settings || argument {
        return None;
    }
    let start = at;
    let length = bytes
        .get(start..line.end)?
        .iter()
        .take_while(|&&b| !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b';' | b','))
        .count();
    Some(Value { span: start..start + length, quoted: false, argument })
}

/// Behind a type between the name and its value (`: &'static str =`, `: string =`), else `at`.
fn behind_type(bytes: &[u8], at: usize, end: usize) -> usize {
    let is_type = |b: &u8| {
        b.is_ascii_alphanumeric()
            || matches!(b, b'&' | b'\'' | b' ' | b'_' | b'<' | b'>' | b'[' | b']' | b'|' | b'.' | b':')
    };
    let length = bytes[at..end.min(at + 48)].iter().take_while(|b| is_type(b)).count();
    let stop = at + length;
    let typed = bytes.get(stop) == Some(&b'=')
        && bytes.get(stop + 1) != Some(&b'=')
        && bytes[at..stop].iter().any(u8::is_ascii_alphabetic);
    if typed { stop + 1 } else { at }
}

/// Endings of a name that holds something about a secret, and not the secret.
const ABOUT: &[&str] = &[
    "url",
    "uri",
    "path",
    "file",
    "filename",
    "dir",
    "name",
    "id",
    "field",
    "label",
    "type",
    "length",
    "len",
    "size",
    "hash",
    "hashed",
    "header",
    "prefix",
    "suffix",
    "regex",
    "pattern",
    "re",
    "count",
    "ttl",
    "expiry",
    "expires",
    "param",
    "env",
    "var",
    "policy",
    "error",
    "errors",
    "msg",
    "message",
    "placeholder",
    "hint",
    "title",
    "text",
    "desc",
    "description",
    "template",
    "endpoint",
    "class",
    "style",
    "icon",
    "validator",
    "format",
    "kind",
    "ref",
    "sha",
    "sha256",
    "digest",
    "checksum",
    "rule",
    "rules",
    "test",
    "tests",
    "input",
    "selector",
    "locator",
    "xpath",
    "algorithm",
    "alg",
    "arn",
    "provider",
    "manager",
    "service",
    "version",
    "mask",
    "masked",
    "symbol",
];

/// Beginnings of a name that is not for a secret.
const NOT_SECRET: &[&str] = &[
    "public",
    "publishable",
    "dummy",
    "fake",
    "mock",
    "example",
    "sample",
    "invalid",
    "wrong",
    "bad",
    "expected",
    "csrf_field",
];

fn judge(name: &str, promise: Promise, value: &Value, text: &str, near: &str, kind: FileKind) -> Option<Found> {
    let literal = text.get(value.span.clone())?;
    let lower = name.to_ascii_lowercase();
    let last = last_word(name);
    if ABOUT.contains(&last.as_str()) || NOT_SECRET.iter().any(|word| lower.contains(word)) {
        return None;
    }
    if literal.len() > MAX_VALUE
        || !literal.is_ascii()
        || literal.bytes().any(|b| b.is_ascii_whitespace() || b.is_ascii_control())
    {
        return None;
    }
    let near = near.to_ascii_lowercase();
    let found = |rule, severity, what, weight| Some(Found { rule, span: value.span.clone(), severity, what, weight });
    let is_aws = near.contains("aws") || near.contains("secret_access_key") || near.contains("secretaccesskey");
    if is_aws && structured::is_aws_secret(literal) {
        return found("secret/aws-secret-key", High, "an AWS secret access key is written in this file", STRUCTURED);
    }
    if shape::is_placeholder(literal)
        || shape::is_uuid(literal)
        || is_place(literal)
        || (shape::is_words(literal) && !shape::is_mixed_case(literal))
    {
        return None;
    }
    if !value.quoted && literal.contains(['(', ')', '[', '$', '`', '{']) {
        return None;
    }
    // The value itself says nothing about the line: any word can stand in a random text.
    if is_digest_line(&near.replace(&literal.to_ascii_lowercase(), "")) {
        return None;
    }
    if near.contains("twilio") && literal.len() == 32 && literal.bytes().all(shape::is_hex) && is_token(literal) {
        return found("secret/twilio-auth-token", High, "a Twilio auth token is written in this file", STRUCTURED);
    }
    let severity = grade(&lower, kind);
    match promise {
        Promise::Password if !value.argument && is_password(literal) => found(
            "secret/hardcoded-password",
            severity,
            "a literal is given to a name that stands for a password",
            BY_NAME,
        ),
        Promise::Token if is_token(literal) => found(
            "secret/hardcoded-token",
            severity,
            "a random literal is given to a name that stands for a key or token",
            BY_NAME,
        ),
        _ => None,
    }
}

/// Prose and tests are full of samples.
fn grade(name: &str, kind: FileKind) -> Severity {
    if kind == FileKind::Prose || name.contains("test") || name.contains("default") || name.contains("local") {
        Low
    } else {
        Medium
    }
}

/// The last word of an identifier in any case style, lower case.
fn last_word(name: &str) -> String {
    let tail = name.rsplit(['_', '-', '.']).find(|part| !part.is_empty()).unwrap_or_default();
    let camel = tail.char_indices().rev().find(|(at, c)| {
        c.is_ascii_uppercase() && *at > 0 && tail.as_bytes().get(at - 1).is_some_and(u8::is_ascii_lowercase)
    });
    camel.map_or(tail, |(at, _)| tail.get(at..).unwrap_or(tail)).to_ascii_lowercase()
}

/// A line about digests holds hexadecimal and base64 that is no secret. `near` is lower case.
fn is_digest_line(near: &str) -> bool {
    const MARKS: &[&str] = &[
        "sha256",
        "sha512",
        "sha1",
        "sha-",
        "md5",
        "integrity",
        "checksum",
        "digest",
        "commit",
        "data:",
        "fingerprint",
        "etag",
    ];
    MARKS.iter().any(|mark| near.contains(mark))
}

/// An address, a path, a media type, a class name.
fn is_place(value: &str) -> bool {
    value.contains("://")
        || value.starts_with(['/', '.', '~', '#', '@'])
        || value.contains("::")
        || value.contains('\\')
        || (value.contains('/') && value.split('/').all(|part| !part.is_empty() && shape::is_words(part)))
}

/// Mixed enough for a password that somebody means.
fn is_password(value: &str) -> bool {
    let symbols = value.bytes().filter(|b| b.is_ascii_punctuation() && !matches!(b, b'_' | b'-' | b'.')).count();
    let classes = usize::from(shape::has_lower(value))
        + usize::from(shape::has_upper(value))
        + usize::from(shape::has_digit(value))
        + usize::from(symbols > 0);
    value.len() >= MIN_PASSWORD
        && shape::has_letter(value)
        && (shape::has_digit(value) || symbols > 0)
        && classes >= 2
        && shape::entropy(value) >= PASSWORD_ENTROPY
        && !looks_like_code(value)
}

/// Random enough for a key that a machine made.
fn is_token(value: &str) -> bool {
    let hex = value.bytes().all(|b| b.is_ascii_hexdigit());
    let least = if hex {
        HEX_ENTROPY
    } else {
        match TOKEN_ENTROPY.iter().find(|(length, _)| value.len() >= *length) {
            Some((_, least)) => *least,
            None => return false,
        }
    };
    value.len() >= MIN_TOKEN
        && shape::has_letter(value)
        && (shape::has_digit(value) || shape::is_mixed_case(value))
        && shape::entropy(value) >= least
        && !looks_like_code(value)
}

/// A call, a format or an expression in quotes.
fn looks_like_code(value: &str) -> bool {
    value.ends_with("()")
        || value.contains("](")
        || value.contains("=>")
        || value.contains("&&")
        || value.starts_with("--")
        || (value.contains('=') && value.contains('&'))
}
