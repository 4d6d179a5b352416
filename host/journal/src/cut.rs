//! Makes a record fit into a line: what is large is cut, and the cut is said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::JournalError;
use crate::read::Entry;
use crate::record::Record;

/// Longest line that is written, in bytes with its newline. A larger record is cut and carries a [`Truncation`].
pub const MAX_RECORD_BYTES: usize = 4 * 1024 * 1024;

/// How deep a free-form value may nest. What lies deeper is replaced, since a reader of JSON gives up at some depth.
pub const MAX_VALUE_DEPTH: usize = 64;

/// The note that a cut record carries in its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// How many bytes the record's line would have had.
    pub original_bytes: u64,
}

/// How much of each text, list and free-form map is kept.
#[derive(Clone, Copy)]
struct Caps {
    text_bytes: usize,
    items: usize,
    /// Replace free-form values altogether.
    drop_free_form: bool,
}

/// Tried one after the other until the line fits. No text is cut below 256 bytes, so that ids and role names stay whole;
/// the last step leaves a few hundred kilobytes at most, whatever came in.
const STEPS: [Caps; 5] = [
    Caps { text_bytes: 64 * 1024, items: 1024, drop_free_form: false },
    Caps { text_bytes: 8 * 1024, items: 256, drop_free_form: false },
    Caps { text_bytes: 1024, items: 64, drop_free_form: false },
    Caps { text_bytes: 256, items: 16, drop_free_form: false },
    Caps { text_bytes: 256, items: 16, drop_free_form: true },
];

/// Fields whose value belongs to another crate and has no shape that the journal knows.
const FREE_FORM: [&str; 3] = ["receipt", "finalReport", "report"];

/// Kinds of message that are reserved, so that their `payload` has no shape yet.
const FREE_FORM_MESSAGES: [&str; 3] = ["question", "fact", "artifact"];

/// The line of a record, with its newline; cut when it would be longer than [`MAX_RECORD_BYTES`].
pub(crate) fn line(record: &Record, timestamp: u64) -> Result<(Vec<u8>, Option<Truncation>), JournalError> {
    let whole = encode(record, timestamp, None)?;
    if whole.len() <= MAX_RECORD_BYTES {
        return Ok((whole, None));
    }
    let note = Truncation { original_bytes: whole.len() as u64 };
    drop(whole);
    let value = serde_json::to_value(record).map_err(|error| unwritable(record, &error))?;
    for caps in STEPS {
        let mut cut = value.clone();
        shrink(&mut cut, caps);
        // A cut that the reader would not take for the same record is no good.
        let Ok(cut) = serde_json::from_value::<Record>(cut) else { continue };
        let line = encode(&cut, timestamp, Some(note))?;
        if line.len() <= MAX_RECORD_BYTES {
            return Ok((line, Some(note)));
        }
    }
    Err(JournalError::UnwritableRecord {
        record: record.type_name(),
        reason: format!("its {} bytes cannot be cut to {MAX_RECORD_BYTES}", note.original_bytes),
    })
}

/// A record as its line in the journal has it.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct JournalLine<'r> {
    /// When it was appended, in milliseconds since the epoch.
    pub timestamp: u64,
    /// Its `type`, and the fields of that type.
    #[serde(flatten)]
    pub record: &'r Record,
    /// Set when it had been too large and was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncation>,
}

impl<'e> From<&'e Entry> for JournalLine<'e> {
    fn from(entry: &'e Entry) -> Self {
        Self { timestamp: entry.timestamp, record: &entry.record, truncated: entry.truncated }
    }
}

fn encode(record: &Record, timestamp: u64, truncated: Option<Truncation>) -> Result<Vec<u8>, JournalError> {
    let mut line = serde_json::to_vec(&JournalLine { timestamp, record, truncated })
        .map_err(|error| unwritable(record, &error))?;
    line.push(b'\n');
    Ok(line)
}

fn unwritable(record: &Record, error: &serde_json::Error) -> JournalError {
    JournalError::UnwritableRecord { record: record.type_name(), reason: error.to_string() }
}

fn shrink(value: &mut Value, caps: Caps) {
    match value {
        Value::String(text) => shorten(text, caps.text_bytes),
        Value::Array(items) => {
            items.truncate(caps.items);
            items.iter_mut().for_each(|item| shrink(item, caps));
        }
        Value::Object(fields) => {
            let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
            let free_payload = FREE_FORM_MESSAGES.contains(&kind);
            for (name, field) in fields.iter_mut() {
                let free_form = FREE_FORM.contains(&name.as_str()) || (free_payload && name == "payload");
                match (free_form, caps.drop_free_form) {
                    (false, _) => shrink(field, caps),
                    (true, false) => shrink_free_form(field, caps),
                    (true, true) => *field = Value::Null,
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Like [`shrink`], for a value whose maps may have any number of keys.
fn shrink_free_form(value: &mut Value, caps: Caps) {
    match value {
        Value::Object(fields) => {
            let mut kept = 0;
            fields.retain(|name, _| {
                kept += 1;
                kept <= caps.items && name.len() <= caps.text_bytes
            });
            fields.iter_mut().for_each(|(_, field)| shrink_free_form(field, caps));
        }
        Value::Array(items) => {
            items.truncate(caps.items);
            items.iter_mut().for_each(|item| shrink_free_form(item, caps));
        }
        other => shrink(other, caps),
    }
}

/// Cuts a text to `limit` bytes, the note about the cut included.
fn shorten(text: &mut String, limit: usize) {
    if text.len() <= limit {
        return;
    }
    let note = format!("… [cut, {} bytes]", text.len());
    let keep = text.floor_char_boundary(limit.saturating_sub(note.len()));
    text.truncate(keep);
    text.push_str(&note);
    text.shrink_to_fit();
}

/// Replaces what nests deeper than [`MAX_VALUE_DEPTH`] in a free-form value.
pub(crate) fn limit_depth(value: &mut Value) {
    fn walk(value: &mut Value, left: usize) {
        if left == 0 {
            if value.is_array() || value.is_object() {
                *value = Value::String(format!("… [cut, nested deeper than {MAX_VALUE_DEPTH}]"));
            }
            return;
        }
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| walk(item, left - 1)),
            Value::Object(fields) => fields.iter_mut().for_each(|(_, field)| walk(field, left - 1)),
            _ => {}
        }
    }
    walk(value, MAX_VALUE_DEPTH);
}
