//! Secrets that are known by what stands around them: key blocks, web tokens, addresses with a password, and values that
//! only their neighbour explains.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::Severity::{self, High, Low, Medium};
use crate::shape::{self, is_base32, is_base62, is_base64, is_base64url, is_key};
use crate::{EXACT, Found, STRUCTURED};

/// Bytes after the head of a key block that are read for its body.
const MAX_KEY_BYTES: usize = 16 * 1024;
/// Bytes of a web token that are read.
const MAX_JWT_BYTES: usize = 8 * 1024;
/// Bytes of the authority of an address that are read.
const MAX_AUTHORITY: usize = 320;
/// How far from an AWS key id its secret is looked for, in bytes.
const AWS_NEAR: usize = 320;

type Reader = fn(&str, usize, usize) -> Option<Found>;

const NEEDLES: &[(&str, Reader)] = &[
    ("-----BEGIN ", private_key),
    ("eyJ", jwt),
    ("://", address),
    ("hooks.slack.com/", slack_webhook),
    ("AccountKey=", azure_storage),
    ("Q~", azure_client),
    ("AKIA", aws_secret),
    ("_authToken=", npm_auth),
    ("discord.com/api/webhooks/", discord_webhook),
    ("discordapp.com/api/webhooks/", discord_webhook),
];

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(NEEDLES.iter().map(|(needle, _)| *needle)).ok()
});

/// Adds every secret of `text` that its surroundings give away.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let Some(automaton) = AUTOMATON.as_ref() else { return };
    // Where the last hit ended: inside a key block there is nothing else to look for.
    let mut done = 0;
    for hit in automaton.find_iter(text) {
        if hit.start() < done {
            continue;
        }
        let Some((_, read)) = NEEDLES.get(hit.pattern().as_usize()) else { continue };
        if let Some(one) = read(text, hit.start(), hit.end()) {
            if one.span.start == hit.start() {
                done = one.span.end;
            }
            found.push(one);
        }
    }
}

fn hit(rule: &'static str, span: std::ops::Range<usize>, severity: Severity, what: &'static str) -> Found {
    Found { rule, span, severity, what, weight: STRUCTURED }
}

/// `-----BEGIN … PRIVATE KEY-----` with a body. Code that only builds or strips the head has none.
fn private_key(text: &str, start: usize, after: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let label_end = after + shape::run(bytes, after, after + 40, |b| b.is_ascii_uppercase() || b == b' ');
    let label = text.get(after..label_end)?;
    if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let body_start = label_end + shape::run(bytes, label_end, label_end + 5, |b| b == b'-');
    let limit = bytes.len().min(body_start + MAX_KEY_BYTES);
    let window = bytes.get(body_start..limit)?;
    // Any other row of dashes ends the body, so that no byte is read for two heads.
    let body_end = window.windows(5).position(|w| w == b"-----").map_or(limit, |at| body_start + at);

    let mut at = body_start;
    let mut last = None;
    while at < body_end {
        // `\n` as two characters separates lines of a key in JSON and in string literals.
        let escaped = bytes.get(at) == Some(&b'\\');
        at += if escaped { 2 } else { 0 };
        let length = shape::run(bytes, at, body_end, is_base64);
        let line = text.get(at..at + length).unwrap_or_default();
        let is_body = length >= 40 && shape::entropy(line) >= 3.8 && !shape::is_filler(line);
        if is_body || last.is_some() && length >= 4 {
            last = Some(at + length);
        }
        at += length;
        at += usize::from(length == 0 && !escaped);
    }
    let end = last?;
    // The foot belongs to the block, so that a mask covers it.
    let end = if body_end < limit {
        let foot =
            body_end + 5 + shape::run(bytes, body_end + 5, body_end + 50, |b| b.is_ascii_uppercase() || b == b' ');
        foot + shape::run(bytes, foot, foot + 5, |b| b == b'-')
    } else {
        end
    };
    let line_start = bytes[..start]
        .iter()
        .rev()
        .take(256)
        .position(|&b| b == b'\n')
        .map_or(start.saturating_sub(256), |back| start - back);
    let before = text.get(crate::lines::floor_boundary(text, line_start)..start).unwrap_or_default();
    Some(if before.contains("\"private_key\"") {
        hit(
            "secret/gcp-service-account",
            start..end,
            High,
            "the private key of a Google service account is written in this file",
        )
    } else if label.contains("ENCRYPTED") {
        hit("secret/private-key", start..end, Medium, "an encrypted private key is in this file")
    } else {
        hit("secret/private-key", start..end, High, "a private key is in this file")
    })
}

/// Three parts of base64url, the first of which is a JSON header with an algorithm.
fn jwt(text: &str, start: usize, _: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    if start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|&b| is_base64url(b) || b == b'.') {
        return None;
    }
    let length = shape::run(bytes, start, start + MAX_JWT_BYTES, |b| is_base64url(b) || b == b'.');
    let token = text.get(start..start + length)?.trim_end_matches('.');
    let mut parts = token.split('.');
    let (header, payload, signature) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || signature.len() < 20 || shape::is_filler(signature) {
        return None;
    }
    let header = String::from_utf8(base64url(header)?).ok()?;
    if !header.contains("\"alg\"") {
        return None;
    }
    let payload = String::from_utf8(base64url(payload)?).ok()?;
    let span = start..start + token.len();
    let known = ["John Doe", "\"1234567890\"", "example.com", "joe\""].iter().any(|sample| payload.contains(sample));
    payload.starts_with('{').then(|| {
        if known {
            hit("secret/jwt", span, Low, "a sample JSON Web Token is written in this file")
        } else {
            hit("secret/jwt", span, Medium, "a signed JSON Web Token is written in this file")
        }
    })
}

/// Decodes base64url without padding.
fn base64url(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0u32);
    for b in text.bytes() {
        let value = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    Some(out)
}

const DATABASES: &[&str] = &[
    "postgres",
    "postgresql",
    "mysql",
    "mysql2",
    "mariadb",
    "mongodb",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "mssql",
    "sqlserver",
    "clickhouse",
    "cockroachdb",
    "oracle",
    "neo4j",
    "bolt",
    "cassandra",
    "couchdb",
    "elasticsearch",
    "nats",
    "kafka",
    "ldap",
    "ldaps",
    "smtp",
    "smtps",
];

/// `scheme://user:password@host`.
fn address(text: &str, start: usize, after: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let is_scheme = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    let scheme_length = bytes[..start].iter().rev().take(32).take_while(|&&b| is_scheme(b)).count();
    let scheme = text.get(start - scheme_length..start)?.to_ascii_lowercase();
    let scheme = scheme.split('+').next().unwrap_or_default();
    if scheme.is_empty() {
        return None;
    }
    let ends = |b: u8| {
        b.is_ascii_whitespace()
            || b.is_ascii_control()
            || matches!(b, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'\\' | b'|' | b',' | b';' | b'(' | b')')
    };
    let limit = bytes.len().min(after + MAX_AUTHORITY);
    let length = bytes.get(after..limit)?.iter().take_while(|&&b| !ends(b)).count();
    let authority = text.get(after..after + length)?;
    let (user_info, host) = authority.rsplit_once('@')?;
    let (user, password) = user_info.split_once(':')?;
    if password.len() < 3 || host.is_empty() || shape::refers(password) || shape::refers(user) || shape::refers(host) {
        return None;
    }
    let at = after + user.len() + 1;
    let span = at..at + password.len();
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let sample_host = ["example.com", "example.org", "example.net", "host", "hostname", "server"]
        .contains(&host.as_str())
        || [".example", ".invalid", ".test", ".example.com", ".example.org", ".example.net"]
            .iter()
            .any(|end| host.ends_with(end));
    let local = !host.contains('.')
        || host.starts_with("127.")
        || host == "0.0.0.0"
        || host.ends_with(".local")
        || host.ends_with(".localhost");
    let weak = shape::is_placeholder(password) || password == user;
    let is_database = DATABASES.contains(&scheme);
    // `postgres://postgres:postgres@db/app` opens nothing but the developer's own machine.
    if sample_host || (weak && local) {
        return None;
    }
    match (is_database, weak, local) {
        (true, true, _) => Some(hit(
            "secret/database-url",
            span,
            Medium,
            "an address of a database with a guessable password is written in this file",
        )),
        (true, _, true) => Some(hit(
            "secret/database-url",
            span,
            Low,
            "an address of a local database with its password is written in this file",
        )),
        (true, ..) => Some(hit(
            "secret/database-url",
            span,
            High,
            "an address of a database with its password is written in this file",
        )),
        (false, true, _) => None,
        (false, _, local) => {
            let random = password.len() >= 8 && shape::has_digit(password) && shape::has_letter(password);
            let severity = if local || !random { Low } else { Medium };
            Some(hit(
                "secret/basic-auth-url",
                span,
                severity,
                "an address with a user's password is written in this file",
            ))
        }
    }
}

/// `https://hooks.slack.com/services/T…/B…/…`.
fn slack_webhook(text: &str, _: usize, after: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let length = shape::run(bytes, after, after + 200, |b| is_base62(b) || b == b'/' || b == b'_');
    let path = text.get(after..after + length)?;
    let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let [kind, team, .., last] = parts.as_slice() else { return None };
    let right = matches!(*kind, "services" | "workflows" | "triggers") && team.len() >= 8 && last.len() >= 20;
    (right && !shape::is_filler(last) && shape::entropy(last) >= 3.0).then(|| {
        let what = "the address of a Slack webhook is written in this file; whoever has it can post";
        hit("secret/slack-webhook", after..after + length, High, what)
    })
}

/// `https://discord.com/api/webhooks/<id>/<token>`.
fn discord_webhook(text: &str, _: usize, after: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let id = shape::run(bytes, after, after + 24, |b| b.is_ascii_digit());
    let at = after + id + 1;
    let token = shape::run(bytes, at, at + 100, is_base64url);
    let value = text.get(at..at + token)?;
    (id >= 17 && token >= 60 && bytes.get(after + id) == Some(&b'/') && !shape::is_filler(value)).then(|| {
        hit(
            "secret/discord-webhook",
            at..at + token,
            High,
            "the address of a Discord webhook is written in this file; whoever has it can post",
        )
    })
}

/// `AccountKey=` and 64 bytes in base64.
fn azure_storage(text: &str, _: usize, after: usize) -> Option<Found> {
    let length = shape::run(text.as_bytes(), after, after + 89, |b| is_base64(b) || b == b'=');
    let key = text.get(after..after + length)?;
    if length != 88 || !key.ends_with("==") || shape::is_filler(key) || shape::entropy(key) < 4.0 {
        return None;
    }
    let span = after..after + length;
    // The storage emulator has one published key for everybody.
    Some(if key.starts_with("Eby8vdM02xNO") {
        hit(
            "secret/azure-storage-key",
            span,
            Low,
            "the published key of the Azure storage emulator is written in this file",
        )
    } else {
        hit("secret/azure-storage-key", span, High, "an Azure storage account key is written in this file")
    })
}

/// Three characters, a digit, `Q~`, and 31 to 34 more: a client secret of Microsoft Entra.
fn azure_client(text: &str, start: usize, after: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let set = |b: u8| is_base64url(b) || b == b'.' || b == b'~';
    let first = start.checked_sub(4)?;
    let head = bytes.get(first..start)?;
    let whole = first.checked_sub(1).and_then(|at| bytes.get(at)).is_none_or(|&b| !set(b));
    let length = shape::run(bytes, after, after + 35, set);
    let value = text.get(first..after + length)?;
    let right = whole
        && head.iter().all(|&b| set(b))
        && head.get(3).is_some_and(u8::is_ascii_digit)
        && (31..=34).contains(&length);
    (right && shape::entropy(value) >= 3.5 && !shape::is_filler(value)).then(|| {
        let what = "a client secret of Microsoft Entra is written in this file";
        Found { weight: EXACT, ..hit("secret/azure-client-secret", first..after + length, High, what) }
    })
}

/// The 40 characters near an AWS access key id: one shows that the other is live.
fn aws_secret(text: &str, start: usize, after: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let end = after + shape::run(bytes, after, after + 17, is_base32);
    if end - start != 20 || text.get(start..end)?.ends_with("EXAMPLE") {
        return None;
    }
    let low = start.saturating_sub(AWS_NEAR);
    let high = bytes.len().min(end + AWS_NEAR);
    runs_of_40(text, end, high)
        .or_else(|| runs_of_40(text, low, start))
        .map(|span| hit("secret/aws-secret-key", span, High, "an AWS secret access key is written beside its key id"))
}

fn runs_of_40(text: &str, low: usize, high: usize) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = low;
    while at < high {
        let length = shape::run(bytes, at, high + 41, is_base64);
        if length == 40 && text.get(at..at + 40).is_some_and(is_aws_secret) {
            return Some(at..at + 40);
        }
        at += length.max(1);
    }
    None
}

/// Whether 40 characters can be an AWS secret key: base64, mixed, random, and neither a digest in hexadecimal nor a name.
pub(crate) fn is_aws_secret(value: &str) -> bool {
    value.len() == 40
        && value.bytes().all(is_base64)
        && value.bytes().any(|b| !b.is_ascii_alphabetic())
        && shape::has_upper(value)
        && shape::has_lower(value)
        && shape::entropy(value) >= 4.0
        && !shape::is_filler(value)
}

/// `//registry…/:_authToken=` in an npm configuration.
fn npm_auth(text: &str, _: usize, after: usize) -> Option<Found> {
    let length = shape::run(text.as_bytes(), after, after + 200, is_key);
    let value = text.get(after..after + length)?;
    (length >= 20 && !shape::is_placeholder(value) && shape::has_digit(value)).then(|| {
        hit("secret/npm-token", after..after + length, High, "the token of a package registry is written in this file")
    })
}
