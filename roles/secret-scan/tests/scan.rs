//! What is found, what is left alone, and that no output repeats a secret.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod common;

use common::{BASE32, BASE62, BASE64, HEX, chars, checked, jwt, key_block, samples};
use proptest::prelude::*;
use secret_scan::{MAX_HITS, MAX_LINE_BYTES, MAX_TEXT_BYTES, Severity, mask, mask_runs, scan, scan_counted};

fn rules(path: &str, text: &str) -> Vec<&'static str> {
    scan(path, text).into_iter().map(|hit| hit.rule).collect()
}

#[test]
fn every_known_kind_is_found_at_its_line() {
    for seed in 1..40 {
        for (rule, value, text) in samples(seed) {
            let text = format!("# first line\n{text}");
            let hits = scan("src/settings.env", &text);
            let hit = hits
                .iter()
                .find(|hit| hit.rule == rule)
                .unwrap_or_else(|| panic!("seed {seed}: {rule} not found in {text:?}: {hits:?}"));
            let line = text[..text.find(&value).unwrap()].matches('\n').count() as u32 + 1;
            assert_eq!(hit.line, line, "seed {seed}: {rule} in {text:?}");
        }
    }
}

/// No window of eight characters of any secret in anything that the crate gives out.
fn assert_silent(path: &str, text: &str, value: &str) {
    let scan = scan_counted(path, text);
    let mut outputs: Vec<String> = scan.hits.iter().map(|hit| format!("{hit:?}")).collect();
    outputs.push(format!("{:?}", secret_scan::scan(path, text)));
    for line in 1..=text.lines().count() as u32 {
        outputs.push(scan.masked_line(text, line, 10_000));
    }
    outputs.push(mask(value));
    let windows: Vec<&[u8]> = value.as_bytes().windows(8).collect();
    for output in &outputs {
        for window in &windows {
            // The head and foot of a key block are the format's own words.
            let public = window.iter().all(|b| b.is_ascii_uppercase() || matches!(b, b' ' | b'-'));
            assert!(
                public || !output.as_bytes().windows(8).any(|other| other == *window),
                "{output:?} repeats part of {value:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn no_output_repeats_a_secret(seed in 1u64..1_000_000, before in "[ -~]{0,40}", after in "[ -~]{0,40}") {
        for (rule, value, text) in samples(seed) {
            // A few random values look like words; `every_known_kind_is_found_at_its_line` says how many are found.
            if !rules("src/settings.env", &text).contains(&rule) {
                continue;
            }
            assert_silent("src/settings.env", &text, &value);
            // Other text on the line may hide a secret from the rules; where one is found, it must be masked.
            let mixed = format!("{before} {}  {after}\n", text.trim_end());
            if scan("a.env", &mixed).iter().any(|hit| hit.severity == Severity::High) {
                let kept = scan_counted("a.env", &mixed);
                let shown = format!("{:?} {}", kept, kept.masked_line(&mixed, 1, 10_000));
                prop_assert!(!shown.contains(&value), "{} repeats {}", shown, value);
            }
        }
    }

    #[test]
    fn any_text_is_scanned_without_a_panic(path in ".{0,20}", text in "(?s).{0,400}") {
        let scan = scan_counted(&path, &text);
        for line in 0..5 {
            let _ = scan.masked_line(&text, line, 20);
        }
    }

    #[test]
    fn needles_in_any_order_are_scanned_without_a_panic(parts in prop::collection::vec(prop::sample::select(vec![
        "-----BEGIN ", "RSA PRIVATE KEY-----", "-----END", "eyJ", ".", "://", "@", ":", "password", "=", "\"", "'", "\\", "\n", "é", "AKIA", "Q~",
        "ghp_", "sk-", "hooks.slack.com/", "services/", "AccountKey=", "==", "token", "api_key", " ", "abcDEF123", "ZZZZZZZZZZZZZZZZZZZZ", "7f8e9a0b1c2d", "https",
    ]), 0..60)) {
        let text = parts.concat();
        let scan = scan_counted("x.env", &text);
        for line in 0..8 {
            let _ = scan.masked_line(&text, line, 30);
        }
    }
}

#[test]
fn look_alikes_are_left_alone() {
    let long = chars(BASE62, 32, 5);
    let sha = chars(HEX, 40, 6);
    let cases: Vec<(&str, String)> = vec![
        ("a.py", format!("PASSWORD = '{}'", "changeme")),
        ("a.py", "password = os.environ['DB_PASSWORD']".into()),
        ("a.py", "password = 'Password123!'".into()),
        ("a.js", "const token = process.env.TOKEN".into()),
        ("a.js", "token: `${user.id}-${Date.now()}`".into()),
        ("a.env", "API_KEY=${API_KEY_FROM_VAULT_2024}".into()),
        ("a.env", "API_KEY=<your-api-key-0123456789>".into()),
        ("a.yaml", "password: {{ .Values.db.password1 }}".into()),
        ("a.yaml", "secret: vault:secret/data/app#Key0123456789".into()),
        ("a.yaml", "token: 123e4567-e89b-12d3-a456-426614174000".into()),
        ("a.py", "secret_name = 'prod/Db2/Password9x'".into()),
        ("a.py", "TOKEN_URL = 'https://acme.io/oauth2/token/v1'".into()),
        ("a.rs", "const TOKEN_KIND: &str = \"IdentifierToken42\";".into()),
        ("a.rs", "let secret = load_secret(\"kv-7\")?;".into()),
        ("a.ts", "passwordLabel: 'Passwort#1 eingeben'".into()),
        ("a.ts", "type: 'password', autocomplete: 'current-password'".into()),
        ("a.ts", "import { token } from './tokens/Token2Parser'".into()),
        ("a.py", "if password == 'Xy7#kQ9!vv2':".into()),
        ("a.json", format!("\"secret_sha256\": \"{}\"", chars(HEX, 64, 8))),
        ("a.json", format!("\"token\": \"{sha}\", \"commit\": \"x\"")),
        ("Cargo.lock", format!("checksum_token = \"{long}\"")),
        ("package-lock.json", format!("\"secret\": \"{long}\"")),
        ("a.html", format!("<img src=\"data:image/png;base64,{}\">", chars(BASE64, 300, 9))),
        ("a.css", format!("token: url(data:font/woff2;base64,{})", chars(BASE64, 300, 9))),
        ("a.py", format!("key = 'X{}{}'", ["AK", "IA"].concat(), chars(BASE32, 16, 1))),
        ("a.py", format!("key = '{}{}'", ["AK", "IA"].concat(), chars(BASE32, 30, 1))),
        ("a.py", format!("key = '{}{}'", ["AK", "IA"].concat(), "XXXXXXXXXXXXXXXX")),
        ("a.py", format!("t = '{}{}'", ["gh", "p_"].concat(), "x".repeat(36))),
        ("a.py", format!("t = '{}{}'", ["gh", "p_"].concat(), chars(BASE62, 35, 1))),
        ("a.py", format!("t = '{}YOUR_TOKEN_HERE'", ["gh", "p_"].concat())),
        ("a.py", format!("t = '{}1234567890abcdefghijklmnopqrstuvwxyz'", ["gh", "p_"].concat())),
        ("a.py", format!("t = 'task-{}{}'", ["s", "k-"].concat(), chars(BASE62, 48, 1))),
        ("a.py", format!("t = '{}{}'", ["s", "k-"].concat(), chars(BASE62, 48, 1))),
        ("a.js", format!("pk = '{}{}'", ["pk_", "live_"].concat(), chars(BASE62, 24, 1))),
        ("a.js", format!("t = '{}not-a-token-but-a-name-of-some-kind'", ["xo", "xb-"].concat())),
        (
            "a.rs",
            format!(
                "pem.replace(\"-----{} PRIVATE KEY-----\", \"\").replace(\"-----END PRIVATE KEY-----\", \"\")",
                "BEGIN"
            ),
        ),
        ("a.pem", format!("-----{} PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----", "BEGIN", chars(BASE64, 64, 1))),
        ("a.md", format!("-----{} RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----", "BEGIN")),
        ("a.md", format!("-----{} RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", "BEGIN", "x".repeat(64))),
        ("a.py", "url = 'https://user:password@example.com/'".into()),
        ("a.py", "url = f'postgres://{user}:{password}@{host}/db'".into()),
        ("a.yml", "DATABASE_URL: postgres://postgres:postgres@localhost:5432/app".into()),
        ("a.yml", "url: redis://:${REDIS_PASSWORD}@cache.acme.io".into()),
        ("a.go", "http://localhost:8080/a@b".into()),
        ("a.py", "eyJhbGciOiJIUzI1NiJ9.not-a-token".into()),
        ("a.txt", "SKabcdef is a short one".into()),
        ("a.rs", "match token { Token::Ident2 => \"Ident2Token\" }".into()),
        ("a.py", "pwd: /home/ci/Build7/output".into()),
    ];
    for (path, text) in cases {
        let hits = scan(path, &text);
        assert!(hits.is_empty(), "{path}: {text:?} gave {hits:?}");
    }
}

#[test]
fn published_examples_are_low() {
    let id = ["AKIA", "IOSFODNN7", "EXAMPLE"].concat();
    let hits = scan("a.py", &format!("KEY = '{id}'"));
    assert_eq!((hits[0].rule, hits[0].severity), ("secret/aws-access-key", Severity::Low));

    let sample = jwt(r#"{"sub":"1234567890","name":"John Doe"}"#, 3);
    assert_eq!(scan("a.py", &format!("t = '{sample}'"))[0].severity, Severity::Low);

    let key = ["sk_", "test_", &chars(BASE62, 24, 3)].concat();
    assert_eq!(scan("a.py", &format!("t = '{key}'"))[0].severity, Severity::Low);

    let emulator =
        ["Eby8vdM02xNO", "cqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="].concat();
    assert_eq!(scan("a.cs", &format!("AccountKey={emulator};"))[0].severity, Severity::Low);
}

#[test]
fn a_wrong_checksum_is_medium() {
    let right = ["gh", "p_", &checked(9)].concat();
    assert_eq!(scan("a.py", &right)[0].severity, Severity::High);
    let first = right.as_bytes()[4];
    let wrong = right.replacen(char::from(first), if first == b'q' { "w" } else { "q" }, 1);
    let wrong = if wrong.starts_with("ghp_") { wrong } else { ["gh", "p_q", &right[5..]].concat() };
    let hits = scan("a.py", &wrong);
    assert_eq!(hits[0].severity, Severity::Medium);
    assert!(hits[0].what.contains("checksum"), "{hits:?}");
}

#[test]
fn a_key_is_found_beside_an_escape_and_inside_json() {
    let token = ["gh", "p_", &checked(4)].concat();
    assert_eq!(rules("a.json", &format!("{{\"text\": \"a\\n{token}\\nb\"}}")), ["secret/github-token"]);
    assert_eq!(rules("a.md", &format!("Use {token}.")), ["secret/github-token"]);
    assert_eq!(rules("a.sh", &format!("git clone https://x:{token}@github.com/a/b")), ["secret/github-token"]);
}

#[test]
fn a_known_format_wins_over_the_name_beside_it() {
    let token = ["gh", "p_", &checked(4)].concat();
    assert_eq!(rules("a.py", &format!("password = '{token}'")), ["secret/github-token"]);
}

#[test]
fn prose_and_tests_lower_what_a_name_gives_away() {
    let value = chars(BASE62, 32, 5);
    assert_eq!(scan("README.md", &format!("api_key = \"{value}\""))[0].severity, Severity::Low);
    assert_eq!(scan("a.py", &format!("test_api_key = \"{value}\""))[0].severity, Severity::Low);
    assert_eq!(scan("a.py", &format!("api_key = \"{value}\""))[0].severity, Severity::Medium);
}

#[test]
fn an_encrypted_key_block_is_medium_and_masked_whole() {
    let key = key_block("ENCRYPTED ", 5, 2);
    let text = format!("a\n{key}b\n");
    let scan = scan_counted("k.pem", &text);
    assert_eq!((scan.hits[0].severity, scan.hits[0].line), (Severity::Medium, 2));
    for line in 2..8 {
        assert!(!scan.masked_line(&text, line, 500).contains(&key[40..60]), "{}", scan.masked_line(&text, line, 500));
    }
    assert_eq!(scan.masked_line(&text, 8, 500).trim_start_matches(|c: char| c != 'b'), "");
    assert_eq!(scan.masked_line(&text, 9, 500), "b");
    assert_eq!(scan.masked_line(&text, 10, 500), "");
}

#[test]
fn hits_past_the_limit_are_counted() {
    let text: String = (0..MAX_HITS as u64 + 7)
        .map(|n| format!("k{n} = '{}{}'\n", ["AK", "IA"].concat(), chars(BASE32, 16, n + 1)))
        .collect();
    let counted = scan_counted("a.py", &text);
    assert_eq!((counted.hits.len(), counted.not_listed), (MAX_HITS, 7));
    let hits = scan("a.py", &text);
    let last = hits.last().unwrap();
    assert_eq!((hits.len(), last.rule), (MAX_HITS + 1, "secret/not-listed"));
    assert!(last.what.starts_with("7 more"), "{}", last.what);
    // What is past the limit is masked all the same.
    let last_line = text.lines().count() as u32;
    assert!(counted.masked_line(&text, last_line, 200).contains("AKIA… (20 characters)"));
}

#[test]
fn a_long_line_is_looked_at_for_known_formats_only() {
    let value = chars(BASE62, 32, 5);
    let token = ["gh", "p_", &checked(4)].concat();
    let text = format!("a='{}';api_key='{value}';b='{token}'\n", "x ".repeat(MAX_LINE_BYTES / 2));
    let counted = scan_counted("a.js", &text);
    assert_eq!(counted.hits.iter().map(|hit| hit.rule).collect::<Vec<_>>(), ["secret/github-token"]);
    assert_eq!(counted.long_lines, 1);
    // Quoting such a line still shows no random run.
    assert!(!counted.masked_line(&text, 1, 100_000).contains(&value[4..]));
}

#[test]
fn text_past_the_limit_is_counted_and_never_quoted() {
    let token = ["gh", "p_", &checked(4)].concat();
    let text = "a b\n".repeat(MAX_TEXT_BYTES / 4) + &format!("t='{token}'\n");
    let counted = scan_counted("a.py", &text);
    assert_eq!(counted.hits.len(), 0);
    assert_eq!(counted.unread_bytes, token.len() as u64 + 5);
    let tail = text.len() - token.len() - 5..text.len();
    assert!(!counted.masked_range(&text, tail, 1000).contains(&token[4..12]));
}

#[test]
fn a_mask_shows_at_most_four_characters() {
    assert_eq!(mask(""), "… (0 characters)");
    assert_eq!(mask("x"), "… (1 character)");
    assert_eq!(mask("hunter2"), "… (7 characters)");
    assert_eq!(mask("0123456789abcdef"), "0123… (16 characters)");
    assert_eq!(mask("éééééééééééééééé"), "éééé… (16 characters)");
    let value = chars(BASE62, 40, 3);
    assert_eq!(
        mask_runs(&format!("curl -H x:{value} /usr/local/share/some-name")),
        format!("curl -H x:{} /usr/local/share/some-name", mask(&value))
    );
}

#[test]
fn hostile_repetitions_take_linear_work() {
    // Each of these would take minutes if a needle were read to the end of the text every time.
    for piece in [
        "-----BEGIN PRIVATE KEY",
        "eyJ",
        "eyJ.",
        "://",
        "a://b:c@",
        "AKIA",
        "ghs_/",
        "password",
        "password='",
        "token:'aB3dE5gH7jK9mN1p' ",
        "Q~",
        "sk-",
    ] {
        let text = piece.repeat(500_000 / piece.len());
        let counted = scan_counted("a.env", &text);
        assert!(counted.hits.len() <= MAX_HITS);
    }
}
