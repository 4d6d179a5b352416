//! What a call was about, small enough to keep for every call.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// How deep an audit summary nests; what lies deeper is `"[MaxDepth]"`.
pub const MAX_AUDIT_DEPTH: usize = 4;
/// Most items of a list in an audit summary; `"[+n more]"` follows them where there were more.
pub const MAX_AUDIT_ITEMS: usize = 20;
/// Most keys of a map in an audit summary; `__truncatedKeys` has the number of the others.
pub const MAX_AUDIT_KEYS: usize = 40;
/// Most characters of an audit summary as JSON. A larger one becomes `{truncated, chars, preview}`, which has no more either.
pub const MAX_AUDIT_CHARS: usize = 1_600;

/// The key that tells how many keys were dropped.
const DROPPED_KEYS: &str = "__truncatedKeys";

/// A free-form value within bounds: arguments and results of tools, and what other crates shape.
///
/// ```
/// use brain_journal::AuditSummary;
/// use serde_json::json;
/// let deep = AuditSummary::of(&json!({ "a": { "b": { "c": { "d": {} } } }, "list": (0..25).collect::<Vec<_>>() }));
/// assert_eq!(deep.value()["a"]["b"]["c"]["d"], "[MaxDepth]");
/// assert_eq!(deep.value()["list"][20], "[+5 more]");
/// let long = AuditSummary::of(&json!("x".repeat(5_000)));
/// assert_eq!((&long.value()["truncated"], &long.value()["chars"]), (&json!(true), &json!(5_002)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AuditSummary(Value);

impl AuditSummary {
    /// Summarises a value. A summary is its own summary.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        if is_summary(value, 0) && fits(value) {
            return Self(value.clone());
        }
        let summary = bounded(value, 0);
        if fits(&summary) { Self(summary) } else { Self(preview(&summary)) }
    }

    /// The summary.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

impl<'de> Deserialize<'de> for AuditSummary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&Value::deserialize(deserializer)?))
    }
}

impl JsonSchema for AuditSummary {
    fn schema_name() -> Cow<'static, str> {
        "AuditSummary".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": format!(
            "any value, {MAX_AUDIT_DEPTH} deep, lists of {MAX_AUDIT_ITEMS}, maps of {MAX_AUDIT_KEYS} keys, {MAX_AUDIT_CHARS} characters at most; or {{truncated, chars, preview}}"
        ) })
    }
}

/// Whether a value has the bounds that [`bounded`] gives it.
fn is_summary(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => {
            let noted = items.last().and_then(Value::as_str).is_some_and(|last| last.starts_with("[+"));
            depth < MAX_AUDIT_DEPTH
                && items.len() <= MAX_AUDIT_ITEMS + usize::from(noted)
                && items.iter().all(|item| is_summary(item, depth + 1))
        }
        Value::Object(fields) => {
            depth < MAX_AUDIT_DEPTH
                && fields.len() <= MAX_AUDIT_KEYS + usize::from(fields.contains_key(DROPPED_KEYS))
                && fields.values().all(|field| is_summary(field, depth + 1))
        }
        _ => true,
    }
}

fn bounded(value: &Value, depth: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if depth == MAX_AUDIT_DEPTH => Value::from("[MaxDepth]"),
        Value::Array(items) => {
            let mut kept: Vec<Value> =
                items.iter().take(MAX_AUDIT_ITEMS).map(|item| bounded(item, depth + 1)).collect();
            if items.len() > MAX_AUDIT_ITEMS {
                kept.push(Value::from(format!("[+{} more]", items.len() - MAX_AUDIT_ITEMS)));
            }
            Value::Array(kept)
        }
        Value::Object(fields) => {
            let kept = fields.iter().take(MAX_AUDIT_KEYS);
            let mut kept: Map<_, _> = kept.map(|(name, field)| (name.clone(), bounded(field, depth + 1))).collect();
            if fields.len() > MAX_AUDIT_KEYS {
                kept.insert(DROPPED_KEYS.to_owned(), Value::from(fields.len() - MAX_AUDIT_KEYS));
            }
            Value::Object(kept)
        }
        other => other.clone(),
    }
}

fn json(value: &Value) -> String {
    value.to_string()
}

fn fits(value: &Value) -> bool {
    let text = json(value);
    // Bytes are counted first: they are there already.
    text.len() <= MAX_AUDIT_CHARS || text.chars().count() <= MAX_AUDIT_CHARS
}

/// What stands for a summary that is too large: its beginning, as much of it as fits once it is quoted.
fn preview(summary: &Value) -> Value {
    let text = json(summary);
    let chars = text.chars().count();
    let whole = |preview: &str| {
        let mut fields = Map::new();
        fields.insert("truncated".into(), Value::from(true));
        fields.insert("chars".into(), Value::from(chars));
        fields.insert("preview".into(), Value::from(preview));
        Value::Object(fields)
    };
    let room = MAX_AUDIT_CHARS - json(&whole("")).chars().count();
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            c if u32::from(*c) < 0x20 => 6,
            _ => 1,
        };
        used > room
    });
    whole(&text[..end.map_or(text.len(), |(at, _)| at)])
}
