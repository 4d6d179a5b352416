//! Why JSON is not the packet that it should be.

use miette::Diagnostic;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::terminal::{quoted, terminal_line};

/// Why a packet was refused. A role's reply is never refused but repaired: see [`crate::normalise`].
#[derive(Debug, Error, Diagnostic)]
pub enum PacketError {
    /// The tags are those of another direction.
    #[error("this is not a {what}: expected the direction {expected}, found {found}")]
    #[diagnostic(
        code("packet.direction"),
        help(
            "a handoff goes from brain to agent and a result from agent to brain; agents have no packet for each other"
        )
    )]
    Direction {
        /// The packet that was expected.
        what: &'static str,
        /// The tags of that packet: `brain to agent`.
        expected: String,
        /// The tags that it carries.
        found: String,
    },
    /// The text is not JSON, or a field is missing, unknown or of the wrong type.
    #[error("this is not a {what}: {message}")]
    #[diagnostic(code("packet.json"), help("compare it with the JSON Schema of a {what}"))]
    Json {
        /// The packet that was expected.
        what: &'static str,
        /// The parser's message, with the line and the column; safe to print.
        message: String,
    },
    /// A field holds more than its limit.
    #[error("`{field}` of this {what} has {found} {unit}, the most is {limit}")]
    #[diagnostic(
        code("packet.too-much"),
        help("put long text into a file and point at it with a context reference, or ask for less at once")
    )]
    TooMuch {
        /// The packet.
        what: &'static str,
        /// The field, by its JSON name.
        field: String,
        /// What is counted.
        unit: &'static str,
        /// The most that is allowed.
        limit: usize,
        /// What there is.
        found: usize,
    },
}

/// Reads one packet, and tells a wrong direction from every other fault.
pub(crate) fn parse<T: DeserializeOwned>(
    what: &'static str,
    (from, to): (&str, &str),
    json: &str,
) -> Result<T, PacketError> {
    serde_json::from_str(json).map_err(|error| match direction_of(json) {
        Some(found) if found != (quoted(from), quoted(to)) => PacketError::Direction {
            what,
            expected: format!("{} to {}", quoted(from), quoted(to)),
            found: format!("{} to {}", found.0, found.1),
        },
        _ => PacketError::Json { what, message: terminal_line(&error.to_string()).into_owned() },
    })
}

/// The tags of anything that is a JSON object, as they are to be shown. `None` when it is not an object.
fn direction_of(json: &str) -> Option<(String, String)> {
    let object: serde_json::Map<String, Value> = serde_json::from_str(json).ok()?;
    let tag = |name: &str| match object.get(name) {
        None => "nothing".to_owned(),
        Some(Value::String(layer)) => quoted(layer),
        Some(other) => quoted(&other.to_string()),
    };
    Some((tag("fromLayer"), tag("toLayer")))
}
