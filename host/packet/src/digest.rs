//! Content digests.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// SHA-256 of some bytes, written as 64 lower-case hex digits. A digest is an identity: the same bytes are the same
/// component, file or artifact, whatever name they came by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Digest(String);

/// A text that is not a digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a SHA-256 digest: 64 lower-case hex digits")]
pub struct NotADigest(String);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_sha256(Sha256::digest(bytes).into())
    }

    /// The digest that a hasher arrived at.
    pub fn from_sha256(hash: [u8; 32]) -> Self {
        Self(hex::encode(hash))
    }

    /// The 64 hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 hex digits: enough to tell digests apart on a screen, never used as a key.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        let fits = text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if fits { Ok(Self(text)) } else { Err(NotADigest(text.chars().take(80).collect())) }
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        Self::try_from(text.strip_prefix("sha256:").unwrap_or(text).to_owned())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_a_digest_parses_as_one() {
        let digest = Digest::of(b"");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert_eq!(digest.as_str().parse::<Digest>().unwrap(), digest);
        for text in ["", "../../etc/passwd", &digest.as_str().to_uppercase(), &digest.as_str()[1..], "sha256:"] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
            assert!(serde_json::from_value::<Digest>(text.into()).is_err(), "{text}");
        }
    }
}
