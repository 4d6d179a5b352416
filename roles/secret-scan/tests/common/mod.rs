//! Secrets for tests, put together at run time so that no file of this repository holds one.

pub const BASE62: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub const HEX: &str = "0123456789abcdef";
pub const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
pub const BASE64URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// `length` characters of `alphabet` from a small generator; equal seeds give equal text.
pub fn chars(alphabet: &str, length: usize, seed: u64) -> String {
    let symbols: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            symbols[(state >> 33) as usize % symbols.len()]
        })
        .collect()
}

/// Thirty characters and their checksum, as GitHub and npm write them.
pub fn checked(seed: u64) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let random = chars(BASE62, 30, seed);
    let mut rest = crc32fast::hash(random.as_bytes());
    let mut check = Vec::new();
    for _ in 0..6 {
        check.push(char::from(DIGITS[(rest % 62) as usize]));
        rest /= 62;
    }
    random + &check.into_iter().rev().collect::<String>()
}

/// A key block with `lines` lines of body.
pub fn key_block(kind: &str, lines: usize, seed: u64) -> String {
    let body: Vec<String> = (0..lines).map(|n| chars(BASE64, 64, seed + n as u64)).collect();
    format!("-----{} {kind}PRIVATE KEY-----\n{}\n-----END {kind}PRIVATE KEY-----\n", "BEGIN", body.join("\n"))
}

fn base64url(bytes: &[u8]) -> String {
    let symbols: Vec<char> = BASE64URL.chars().collect();
    let table: Vec<char> = symbols[..62].iter().copied().chain(['-', '_']).collect();
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let value = chunk.iter().fold(0u32, |sum, &b| sum << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for n in 0..=chunk.len() {
            out.push(table[(value >> (18 - 6 * n) & 63) as usize]);
        }
    }
    out
}

/// A web token with this payload.
pub fn jwt(payload: &str, seed: u64) -> String {
    let header = base64url(br#"{"alg":"HS256","typ":"JWT"}"#);
    format!("{header}.{}.{}", base64url(payload.as_bytes()), chars(BASE64URL, 43, seed))
}

/// One secret of every known kind: the rule that must find it, the value, and a text that holds it.
pub fn samples(seed: u64) -> Vec<(&'static str, String, String)> {
    let of = |prefix: &[&str], alphabet: &str, length: usize| prefix.concat() + &chars(alphabet, length, seed + 7);
    let plain = |rule: &'static str, value: String| {
        let text = format!("value = \"{value}\"\n");
        (rule, value, text)
    };
    let aws_secret = chars(BASE64, 40, seed + 3);
    let aws_id = of(&["AK", "IA"], BASE32, 16);
    let azure = chars(BASE64, 86, seed + 4) + "==";
    let password = format!("{}9!aZ", chars(BASE62, 10, seed + 5));
    let slack_path =
        format!("services/T{}/B{}/{}", chars(BASE32, 9, seed), chars(BASE32, 9, seed + 1), chars(BASE62, 24, seed + 2));
    let key = key_block("RSA ", 8, seed);
    let gcp = key_block("", 8, seed + 50).trim_end().replace('\n', "\\n");
    let hex = chars(HEX, 32, seed + 9);
    vec![
        plain("secret/aws-access-key", aws_id.clone()),
        ("secret/aws-secret-key", aws_secret.clone(), format!("[default]\naws_secret_access_key = {aws_secret}\n")),
        ("secret/aws-secret-key", aws_secret.clone(), format!("{aws_id},{aws_secret}\n")),
        plain("secret/github-token", ["gh", "p_"].concat() + &checked(seed)),
        plain("secret/github-token", ["gh", "o_"].concat() + &checked(seed + 1)),
        plain("secret/github-token", ["gh", "u_"].concat() + &checked(seed + 2)),
        plain("secret/github-token", ["gh", "s_"].concat() + &checked(seed + 3)),
        plain("secret/github-token", ["gh", "r_"].concat() + &checked(seed + 4)),
        plain(
            "secret/github-token",
            format!("{}{}_{}", ["github", "_pat_"].concat(), chars(BASE62, 22, seed), chars(BASE62, 59, seed + 1)),
        ),
        plain("secret/gitlab-token", of(&["gl", "pat-"], BASE62, 20)),
        plain("secret/gitlab-token", of(&["gl", "dt-"], BASE62, 20)),
        plain("secret/gitlab-token", of(&["gl", "ptt-"], HEX, 40)),
        plain(
            "secret/slack-token",
            format!(
                "{}{}-{}-{}",
                ["xo", "xb-"].concat(),
                chars("123456789", 12, seed),
                chars("123456789", 12, seed + 1),
                chars(BASE62, 24, seed + 2)
            ),
        ),
        (
            "secret/slack-webhook",
            slack_path.clone(),
            format!("url: https://{}/{slack_path}\n", ["hooks", "slack", "com"].join(".")),
        ),
        plain("secret/stripe-key", of(&["sk_", "live_"], BASE62, 24)),
        plain("secret/stripe-key", of(&["rk_", "live_"], BASE62, 99)),
        plain("secret/google-api-key", of(&["AI", "za"], BASE62, 35)),
        plain("secret/google-oauth-secret", of(&["GOC", "SPX-"], BASE62, 28)),
        (
            "secret/gcp-service-account",
            gcp.clone(),
            format!("{{\n  \"type\": \"service_account\",\n  \"private_key\": \"{gcp}\\n\"\n}}\n"),
        ),
        (
            "secret/azure-storage-key",
            azure.clone(),
            format!(
                "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={azure};EndpointSuffix=core.windows.net\n"
            ),
        ),
        plain("secret/azure-client-secret", format!("aB{}8Q~{}", 'c', chars(BASE62, 34, seed))),
        plain("secret/npm-token", ["np", "m_"].concat() + &checked(seed + 5)),
        ("secret/npm-token", hex.clone(), format!("//registry.local/:_authToken={hex}\n")),
        plain("secret/pypi-token", of(&["pypi-", "AgEIcHlwaS5vcmc"], BASE62, 120)),
        plain("secret/anthropic-key", of(&["sk-", "ant-", "api03-"], BASE62, 95)),
        plain("secret/openai-key", of(&["sk-", "proj-"], BASE62, 74)),
        plain(
            "secret/openai-key",
            format!("{}{}T3Blbk{}{}", ["s", "k-"].concat(), chars(BASE62, 20, seed), "FJ", chars(BASE62, 20, seed + 1)),
        ),
        plain("secret/twilio-key", of(&["S", "K"], HEX, 32)),
        ("secret/twilio-auth-token", hex.clone(), format!("TWILIO_AUTH_TOKEN = \"{hex}\"\n")),
        plain(
            "secret/sendgrid-key",
            format!("{}{}.{}", ["S", "G."].concat(), chars(BASE62, 22, seed), chars(BASE62, 43, seed + 1)),
        ),
        plain("secret/huggingface-token", of(&["h", "f_"], &BASE62[..52], 34)),
        ("secret/private-key", key.trim_end().to_owned(), key),
        (
            "secret/jwt",
            jwt(r#"{"sub":"u-77","iss":"acme"}"#, seed),
            format!("h = '{}'\n", jwt(r#"{"sub":"u-77","iss":"acme"}"#, seed)),
        ),
        (
            "secret/database-url",
            password.replace('!', "."),
            format!("DATABASE=postgres://app:{}@db.acme.io:5432/app\n", password.replace('!', ".")),
        ),
        (
            "secret/basic-auth-url",
            password.replace('!', "."),
            format!("curl https://deploy:{}@ci.acme.io/run\n", password.replace('!', ".")),
        ),
        ("secret/hardcoded-password", password.clone(), format!("DB_PASSWORD = '{password}'\n")),
        (
            "secret/hardcoded-token",
            chars(BASE62, 32, seed + 11),
            format!("const apiKey: string = \"{}\";\n", chars(BASE62, 32, seed + 11)),
        ),
        ("secret/hardcoded-token", hex.clone(), format!("\"client_secret\": \"{hex}\",\n")),
        (
            "secret/hardcoded-token",
            chars(BASE62, 32, seed + 12),
            format!("req.header(\"X-Api-Key\", \"{}\")\n", chars(BASE62, 32, seed + 12)),
        ),
    ]
}
