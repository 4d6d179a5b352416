//! Reading fields of a planner's reply, where each may be missing or of another type.

use serde_json::Value;

/// A string that is not blank, trimmed.
pub(crate) fn text(value: Option<&Value>) -> Option<String> {
    let text = value?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The items of a list; none of anything else.
pub(crate) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
