//! What characters a value has, how random they are, and whether they are only filler.

/// Letters and digits.
pub(crate) fn is_base62(b: u8) -> bool {
    b.is_ascii_alphanumeric()
}

/// Letters, digits, `_` and `-`.
pub(crate) fn is_base64url(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

/// Letters, digits, `_`, `-` and `.`.
pub(crate) fn is_dotted(b: u8) -> bool {
    is_base64url(b) || b == b'.'
}

/// Letters, digits, `+` and `/`.
pub(crate) fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'+' || b == b'/'
}

/// Upper-case base32, the alphabet of AWS key ids.
pub(crate) fn is_base32(b: u8) -> bool {
    b.is_ascii_uppercase() || (b'2'..=b'7').contains(&b)
}

/// Hexadecimal digits, lower case.
pub(crate) fn is_hex(b: u8) -> bool {
    b.is_ascii_digit() || (b'a'..=b'f').contains(&b)
}

/// Hexadecimal digits of either case.
pub(crate) fn is_any_hex(b: u8) -> bool {
    b.is_ascii_hexdigit()
}

/// Letters.
pub(crate) fn is_letter(b: u8) -> bool {
    b.is_ascii_alphabetic()
}

/// Upper-case letters and digits.
pub(crate) fn is_upper(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

/// What keys of any kind are written with.
pub(crate) fn is_key(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~')
}

/// Bytes from `at` on, at most up to `end`, that are of `set`.
pub(crate) fn run(bytes: &[u8], at: usize, end: usize, set: fn(u8) -> bool) -> usize {
    let end = end.min(bytes.len());
    bytes.get(at..end).map_or(0, |rest| rest.iter().take_while(|&&b| set(b)).count())
}

pub(crate) fn has_digit(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit())
}

pub(crate) fn has_letter(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_alphabetic())
}

pub(crate) fn has_upper(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_uppercase())
}

pub(crate) fn has_lower(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_lowercase())
}

/// Whether upper and lower case change too often for words: at least at every third letter, where `camelCase` changes at every fifth.
pub(crate) fn is_mixed_case(value: &str) -> bool {
    let letters: Vec<bool> = value.bytes().filter(u8::is_ascii_alphabetic).map(|b| b.is_ascii_uppercase()).collect();
    let changes = letters.windows(2).filter(|pair| pair[0] != pair[1]).count();
    letters.len() >= 8 && changes * 3 >= letters.len()
}

/// Shannon entropy of the bytes of `value`, in bits per byte.
pub(crate) fn entropy(value: &str) -> f64 {
    if value.is_empty() {
        return 0.0;
    }
    let mut counts = [0u32; 256];
    for b in value.bytes() {
        counts[usize::from(b)] += 1;
    }
    let total = value.len() as f64;
    counts.iter().filter(|&&count| count > 0).map(|&count| f64::from(count) / total).map(|p| -p * p.log2()).sum()
}

/// Words that say: put your own here. A random value of 40 characters holds one of them once in a million.
const FILLER_WORDS: &[&str] = &[
    "example",
    "sample",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "yourkey",
    "your_",
    "your-",
    "yourtoken",
    "yourapi",
    "yoursecret",
    "yourpass",
    "dummy",
    "redacted",
    "xxxxx",
    "insert",
    "replace",
    "goes_here",
    "goeshere",
    "notreal",
    "not-real",
    "not_real",
    "invalid",
];

/// Whether `value` is no value: a run of one character, a counted-up alphabet, a repetition, or a word such as `EXAMPLE`.
pub(crate) fn is_filler(value: &str) -> bool {
    let bytes = value.as_bytes();
    let distinct = {
        let mut seen = [false; 256];
        bytes.iter().for_each(|&b| seen[usize::from(b)] = true);
        seen.iter().filter(|&&s| s).count()
    };
    if bytes.len() >= 12 && distinct < 6 || distinct < 2 {
        return true;
    }
    if longest(bytes, |a, b| a == b) >= 6 || longest(bytes, |a, b| a.checked_add(1) == Some(b)) >= 8 {
        return true;
    }
    if (1..=16)
        .any(|period| bytes.len() >= 2 * period && bytes.iter().zip(bytes.iter().skip(period)).all(|(a, b)| a == b))
    {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    FILLER_WORDS.iter().any(|word| lower.contains(word))
}

/// The longest stretch in which each byte and its next are `related`, in bytes.
fn longest(bytes: &[u8], related: fn(u8, u8) -> bool) -> usize {
    let (mut best, mut current) = (1, 1);
    for (&a, &b) in bytes.iter().zip(bytes.iter().skip(1)) {
        current = if related(a, b) { current + 1 } else { 1 };
        best = best.max(current);
    }
    best
}

/// Values that people type when any value will do.
const WEAK: &[&str] = &[
    "password",
    "passwd",
    "pass",
    "pwd",
    "secret",
    "token",
    "test",
    "testing",
    "admin",
    "root",
    "user",
    "guest",
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "string",
    "foo",
    "bar",
    "baz",
    "foobar",
    "hunter",
    "letmein",
    "qwerty",
    "postgres",
    "mysql",
    "redis",
    "rabbitmq",
    "minio",
    "default",
    "mypassword",
    "mysecret",
    "mytoken",
    "abc",
    "asdf",
    "empty",
    "key",
    "apikey",
    "api",
    "auth",
    "my",
    "the",
    "new",
    "old",
    "some",
    "super",
    "this",
    "is",
    "for",
    "not",
    "mock",
    "stub",
    "unit",
    "value",
    "required",
    "optional",
    "hidden",
    "enter",
    "confirm",
    "current",
    "reset",
    "forgot",
    "wrong",
    "bad",
    "good",
    "username",
    "name",
    "login",
    "dev",
    "local",
    "demo",
    "development",
    "insecure",
    "fake",
];

/// Whether `value` is filler, refers to something (`${VAR}`, `<token>`, `%s`), or is made of words such as `password` and `test`.
pub(crate) fn is_placeholder(value: &str) -> bool {
    if is_filler(value) || refers(value) {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    let mut rest = 0usize;
    for word in lower.split(|c: char| !c.is_ascii_alphabetic()) {
        rest += unexplained(word);
    }
    let other = lower.bytes().filter(|b| !b.is_ascii_alphabetic() && !matches!(b, b'_' | b'-' | b'.' | b' ')).count();
    // `password1`, `Test123!`, `my-secret-token`: a known word and a few signs.
    (rest == 0 && other <= 4)
        || lower.starts_with("fake")
        || lower.starts_with("test")
        || lower.contains("test-")
        || lower.contains("test_")
        || lower.contains("-test")
}

/// Letters of `word` that the weak words do not explain.
fn unexplained(word: &str) -> usize {
    let mut rest = word;
    let mut left = 0;
    while !rest.is_empty() {
        let known = WEAK.iter().filter(|weak| rest.starts_with(**weak)).map(|weak| weak.len()).max();
        let step = known.unwrap_or(1);
        left += usize::from(known.is_none());
        rest = rest.get(step..).unwrap_or_default();
    }
    left
}

/// Whether `value` points at the real value instead of being it.
pub(crate) fn refers(value: &str) -> bool {
    const MARKS: &[&str] = &[
        "${",
        "$(",
        "{{",
        "#{",
        "%(",
        "%s",
        "%v",
        "%d",
        "<%",
        "***",
        "...",
        "…",
        "process.env",
        "os.environ",
        "getenv",
        "ENV[",
    ];
    const SCHEMES: &[&str] = &[
        "vault:",
        "secret:",
        "sm://",
        "op://",
        "ref+",
        "arn:",
        "ssm:",
        "env:",
        "file:",
        "keyring:",
        "!vault",
        "ENC[",
        "@Microsoft.KeyVault",
    ];
    let first = value.bytes().next();
    matches!(first, Some(b'$' | b'<' | b'[' | b'{' | b'%'))
        || (value.contains('<') && value.contains('>'))
        || (value.contains('{') && value.contains('}'))
        || MARKS.iter().any(|mark| value.contains(mark))
        || SCHEMES.iter().any(|scheme| value.starts_with(scheme))
}

/// Whether `value` is written as words: `current_password`, `app.security.token-v2`, `newPassword1`, `--api-key`.
pub(crate) fn is_words(value: &str) -> bool {
    value.split(['_', '.', '-', '/', ':', ' ', '@', ',', '#']).all(|part| {
        let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
        let rest = part.get(letters..).unwrap_or_default();
        rest.len() <= 4 && rest.bytes().all(|b| b.is_ascii_digit())
    })
}

/// 8-4-4-4-12 hexadecimal digits.
pub(crate) fn is_uuid(value: &str) -> bool {
    let parts: Vec<&str> = value.split('-').collect();
    parts.iter().map(|p| p.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_hexdigit()))
}
