//! Numbers as other writers have them: fractions and negative ones where a count belongs.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A count: rounded down, 0 for what is below it and for `null`.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    match (value.as_u64(), value.as_f64(), value.is_null()) {
        (Some(whole), ..) => Ok(whole),
        (None, Some(number), _) => Ok(floor(number)),
        (None, None, true) => Ok(0),
        (None, None, false) => Err(serde::de::Error::custom("expected a number")),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and 0 is for what is below"
)]
pub(crate) fn floor(number: f64) -> u64 {
    number as u64
}
