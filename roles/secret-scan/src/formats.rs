//! Keys that are known by a prefix, an alphabet and a length.
//!
//! The rows follow what each provider publishes about its own keys. GitHub and npm end a token in a CRC-32 of the rest,
//! in base 62; a token whose checksum is wrong was made up or altered, and is reported as medium.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::Severity::{self, High, Low, Medium};
use crate::shape::{
    self, is_any_hex, is_base32, is_base62, is_base64url, is_dotted, is_hex, is_key, is_letter, is_upper,
};
use crate::{EXACT, Found};

/// One known format.
struct Format {
    rule: &'static str,
    prefix: &'static str,
    /// What the bytes after the prefix are.
    set: fn(u8) -> bool,
    /// How many of them; a longer run is something else.
    min: usize,
    max: usize,
    severity: Severity,
    what: &'static str,
    check: Check,
}

/// What decides beside the alphabet and the length.
#[derive(Clone, Copy)]
enum Check {
    /// Random enough, no filler.
    Random,
    /// Besides, the last six characters are the CRC-32 of those before.
    Crc,
    /// Published examples end in `EXAMPLE`.
    Aws,
    /// Besides, this text stands inside.
    Has(&'static str),
    /// Besides, it is in two parts of these lengths, a dot between them.
    Parts(usize, usize),
    /// Besides, it has a digit run: Slack's ids.
    Slack,
}

const fn row(
    rule: &'static str,
    prefix: &'static str,
    set: fn(u8) -> bool,
    (min, max): (usize, usize),
    severity: Severity,
    what: &'static str,
) -> Format {
    Format { rule, prefix, set, min, max, severity, what, check: Check::Random }
}

const fn with(format: Format, check: Check) -> Format {
    Format { check, ..format }
}

const GITHUB: &str = "a GitHub token is written in this file";
const GITLAB: &str = "a GitLab token is written in this file";
const SLACK: &str = "a Slack token is written in this file";
const AWS_ID: &str = "an AWS access key id is written in this file";
const STRIPE: &str = "a Stripe secret key of live mode is written in this file";
const STRIPE_TEST: &str = "a Stripe key of test mode is written in this file";
const OPENAI: &str = "an OpenAI API key is written in this file";

const FORMATS: &[Format] = &[
    with(row("secret/aws-access-key", "AKIA", is_base32, (16, 16), High, AWS_ID), Check::Aws),
    with(
        row(
            "secret/aws-access-key",
            "ASIA",
            is_base32,
            (16, 16),
            Medium,
            "a temporary AWS access key id is written in this file",
        ),
        Check::Aws,
    ),
    with(
        row("secret/aws-access-key", "ABIA", is_base32, (16, 16), High, "an AWS bearer key id is written in this file"),
        Check::Aws,
    ),
    with(
        row(
            "secret/aws-access-key",
            "ACCA",
            is_base32,
            (16, 16),
            High,
            "an AWS context key id is written in this file",
        ),
        Check::Aws,
    ),
    with(row("secret/github-token", "ghp_", is_base62, (36, 36), High, GITHUB), Check::Crc),
    with(row("secret/github-token", "gho_", is_base62, (36, 36), High, GITHUB), Check::Crc),
    with(row("secret/github-token", "ghu_", is_base62, (36, 36), High, GITHUB), Check::Crc),
    with(row("secret/github-token", "ghs_", is_base62, (36, 36), High, GITHUB), Check::Crc),
    with(row("secret/github-token", "ghr_", is_base62, (36, 76), High, GITHUB), Check::Crc),
    with(row("secret/github-token", "ghs_", is_dotted, (80, 1024), High, GITHUB), Check::Has(".eyJ")),
    row(
        "secret/github-token",
        "github_pat_",
        is_base64url,
        (82, 82),
        High,
        "a fine-grained GitHub token is written in this file",
    ),
    row("secret/gitlab-token", "glpat-", is_base64url, (20, 20), High, GITLAB),
    with(row("secret/gitlab-token", "glpat-", is_dotted, (30, 320), High, GITLAB), Check::Has(".")),
    row("secret/gitlab-token", "gldt-", is_base64url, (20, 20), High, "a GitLab deploy token is written in this file"),
    row("secret/gitlab-token", "glrt-", is_dotted, (20, 320), High, "a GitLab runner token is written in this file"),
    row(
        "secret/gitlab-token",
        "glcbt-",
        is_base64url,
        (20, 70),
        Medium,
        "a GitLab CI job token is written in this file",
    ),
    row("secret/gitlab-token", "glptt-", is_hex, (40, 40), High, "a GitLab trigger token is written in this file"),
    row("secret/gitlab-token", "glft-", is_base64url, (20, 20), Medium, "a GitLab feed token is written in this file"),
    row("secret/gitlab-token", "glsoat-", is_base64url, (20, 20), High, "a GitLab SCIM token is written in this file"),
    row(
        "secret/gitlab-token",
        "glagent-",
        is_base64url,
        (50, 320),
        High,
        "a GitLab agent token is written in this file",
    ),
    row(
        "secret/gitlab-token",
        "GR1348941",
        is_base64url,
        (20, 20),
        High,
        "a GitLab runner registration token is written in this file",
    ),
    with(row("secret/slack-token", "xoxb-", is_base64url, (24, 120), High, SLACK), Check::Slack),
    with(row("secret/slack-token", "xoxp-", is_base64url, (24, 160), High, SLACK), Check::Slack),
    with(row("secret/slack-token", "xoxa-", is_base64url, (24, 160), High, SLACK), Check::Slack),
    with(row("secret/slack-token", "xoxr-", is_base64url, (24, 160), High, SLACK), Check::Slack),
    with(row("secret/slack-token", "xoxs-", is_base64url, (24, 160), High, SLACK), Check::Slack),
    with(row("secret/slack-token", "xoxe-", is_base64url, (24, 250), High, SLACK), Check::Slack),
    with(row("secret/slack-token", "xapp-", is_base64url, (40, 200), High, SLACK), Check::Slack),
    row("secret/stripe-key", "sk_live_", is_base62, (20, 247), High, STRIPE),
    row("secret/stripe-key", "rk_live_", is_base62, (20, 247), High, STRIPE),
    row("secret/stripe-key", "sk_test_", is_base62, (20, 247), Low, STRIPE_TEST),
    row("secret/stripe-key", "rk_test_", is_base62, (20, 247), Low, STRIPE_TEST),
    row(
        "secret/stripe-key",
        "whsec_",
        is_key,
        (32, 64),
        Medium,
        "a Stripe webhook signing secret is written in this file",
    ),
    row("secret/google-api-key", "AIza", is_base64url, (35, 35), Medium, "a Google API key is written in this file"),
    row(
        "secret/google-oauth-secret",
        "GOCSPX-",
        is_base64url,
        (28, 28),
        High,
        "a Google OAuth client secret is written in this file",
    ),
    with(
        row("secret/npm-token", "npm_", is_base62, (36, 36), High, "an npm token is written in this file"),
        Check::Crc,
    ),
    row(
        "secret/pypi-token",
        "pypi-AgEIcHlwaS5vcmc",
        is_base64url,
        (50, 1000),
        High,
        "a PyPI token is written in this file",
    ),
    row(
        "secret/pypi-token",
        "pypi-AgENdGVzdC5weXBpLm9yZw",
        is_base64url,
        (50, 1000),
        Medium,
        "a TestPyPI token is written in this file",
    ),
    row(
        "secret/anthropic-key",
        "sk-ant-",
        is_base64url,
        (80, 140),
        High,
        "an Anthropic API key is written in this file",
    ),
    row("secret/openai-key", "sk-proj-", is_base64url, (40, 200), High, OPENAI),
    row("secret/openai-key", "sk-svcacct-", is_base64url, (40, 200), High, OPENAI),
    row("secret/openai-key", "sk-admin-", is_base64url, (40, 200), High, OPENAI),
    with(row("secret/openai-key", "sk-", is_base62, (48, 48), High, OPENAI), Check::Has("T3BlbkFJ")),
    row("secret/twilio-key", "SK", is_hex, (32, 32), Medium, "a Twilio API key id is written in this file"),
    with(
        row("secret/sendgrid-key", "SG.", is_dotted, (66, 66), High, "a SendGrid API key is written in this file"),
        Check::Parts(22, 43),
    ),
    row("secret/huggingface-token", "hf_", is_letter, (34, 34), High, "a Hugging Face token is written in this file"),
    row("secret/digitalocean-token", "dop_v1_", is_hex, (64, 64), High, "a DigitalOcean token is written in this file"),
    row("secret/shopify-token", "shpat_", is_any_hex, (32, 32), High, "a Shopify access token is written in this file"),
    row(
        "secret/shopify-token",
        "shpss_",
        is_any_hex,
        (32, 32),
        High,
        "a Shopify shared secret is written in this file",
    ),
    row("secret/databricks-token", "dapi", is_hex, (32, 32), High, "a Databricks token is written in this file"),
    row("secret/vault-token", "hvs.", is_base64url, (90, 300), High, "a HashiCorp Vault token is written in this file"),
    row("secret/docker-token", "dckr_pat_", is_base64url, (27, 27), High, "a Docker Hub token is written in this file"),
    row("secret/linear-key", "lin_api_", is_base62, (40, 40), High, "a Linear API key is written in this file"),
    row(
        "secret/grafana-token",
        "glsa_",
        is_base64url,
        (41, 41),
        High,
        "a Grafana service account token is written in this file",
    ),
    row("secret/newrelic-key", "NRAK-", is_upper, (27, 27), High, "a New Relic API key is written in this file"),
    row("secret/age-key", "AGE-SECRET-KEY-1", is_upper, (58, 58), High, "an age identity is written in this file"),
    row("secret/crates-io-token", "cio", is_base62, (32, 32), High, "a crates.io token is written in this file"),
];

/// One automaton over all prefixes. The table is a constant of a few hundred bytes, so a build error cannot happen at run
/// time; were it to, nothing would be found and every test of this crate would fail.
static PREFIXES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(FORMATS.iter().map(|format| format.prefix)).ok()
});

/// Adds every key of a known format in `text`.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let Some(prefixes) = PREFIXES.as_ref() else { return };
    // Two prefixes can start at one place (`sk-`, `sk-ant-`), and so can two formats with one prefix.
    for hit in prefixes.find_overlapping_iter(text) {
        let Some(format) = FORMATS.get(hit.pattern().as_usize()) else { continue };
        if let Some(one) = judge(format, text, hit.start(), hit.end()) {
            found.push(one);
        }
    }
}

fn judge(format: &Format, text: &str, start: usize, body_start: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    if !starts_a_word(bytes, start) {
        return None;
    }
    let mut length = shape::run(bytes, body_start, body_start + format.max + 1, format.set);
    let mut body = text.get(body_start..body_start + length)?;
    if (format.set)(b'.') {
        // A full stop or an assignment sign after a key in prose is not part of it.
        body = body.trim_end_matches(['.', '=']);
        length = body.len();
    }
    if length < format.min || length > format.max {
        return None;
    }
    // The run must be the whole word: `AKIA` and sixteen capitals inside a longer name is no key.
    let ends = bytes.get(body_start + length).is_none_or(|&b| !(b.is_ascii_alphanumeric() || b == b'_'));
    if !ends {
        return None;
    }
    let (severity, what) = decide(format, body)?;
    Some(Found { rule: format.rule, span: start..body_start + length, severity, what, weight: EXACT })
}

/// Whether a word can start at `start`: no letter, digit, `-` or `_` stands before it, but for an escape such as `\n`.
fn starts_a_word(bytes: &[u8], start: usize) -> bool {
    let before = |back: usize| start.checked_sub(back).and_then(|at| bytes.get(at)).copied();
    match before(1) {
        None => true,
        Some(b'n' | b't' | b'r') if before(2) == Some(b'\\') => true,
        Some(b) => !(is_base64url(b) || b == b'.'),
    }
}

/// The severity and sentence of a body with the right alphabet and length, or nothing when it is no secret.
fn decide(format: &Format, body: &str) -> Option<(Severity, &'static str)> {
    let usual = (format.severity, format.what);
    let random = || random_enough(body) && !shape::is_filler(body);
    match format.check {
        Check::Random => random().then_some(usual),
        Check::Crc => {
            if !random() {
                return None;
            }
            // Refresh tokens have had a longer form; only the short form is known to end in a checksum.
            let known = body.len() != 36 || crc_is_right(body);
            Some(if known {
                usual
            } else {
                (
                    Medium,
                    "what looks like a token is written in this file, but its checksum is wrong: made up or altered",
                )
            })
        }
        Check::Aws if body.ends_with("EXAMPLE") => {
            Some((Low, "the example key of the AWS documentation is written in this file"))
        }
        Check::Aws => random().then_some(usual),
        Check::Has(inside) => (body.contains(inside) && random()).then_some(usual),
        Check::Parts(first, second) => {
            let (left, right) = body.split_once('.')?;
            (left.len() == first && right.len() == second && random()).then_some(usual)
        }
        Check::Slack => {
            let ids = body.split('-').filter(|part| part.len() >= 9 && part.bytes().all(is_upper)).count();
            (ids >= 1 && random()).then_some(usual)
        }
    }
}

/// A random value of `n` characters over `k` symbols has an entropy a little under log2(min(n, k)).
fn random_enough(body: &str) -> bool {
    let short = body.len() < 20 || body.bytes().all(|b| b.is_ascii_hexdigit());
    let least = if short { 2.6 } else { 3.0 };
    shape::entropy(body) >= least
}

/// Whether the last six characters are the CRC-32 of the others, in base 62 with leading zeros.
pub(crate) fn crc_is_right(body: &str) -> bool {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let Some((random, check)) = body.len().checked_sub(6).and_then(|at| body.split_at_checked(at)) else {
        return false;
    };
    let mut rest = crc32fast::hash(random.as_bytes());
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(rest % 62) as usize];
        rest /= 62;
    }
    check.as_bytes() == digits
}

#[cfg(test)]
mod tests {
    use super::crc_is_right;

    #[test]
    fn the_checksum_is_crc32_in_base_62_with_leading_zeros() {
        // Computed with another implementation of CRC-32 (Python's zlib).
        assert!(crc_is_right(concat!("aB7cD8eF9gH0jK1mN2pQ3rS4tU5vW6", "2M5jQM")));
        assert!(!crc_is_right(concat!("aB7cD8eF9gH0jK1mN2pQ3rS4tU5vW7", "2M5jQM")));
        assert!(crc_is_right(concat!("ugM1yTMAd7V3DnI8lFPPwtV5ASPZHu", "0FecsX")));
        assert!(!crc_is_right("short"));
        assert!(!crc_is_right(""));
    }
}
