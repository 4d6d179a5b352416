//! The repair of single strings, lists of strings, and numbers.

use super::notes::Repairs;

/// The text cut to `limit` characters, the last of them an ellipsis; `None` when it fits.
pub(super) fn cut(text: &str, limit: usize) -> Option<String> {
    if text.len() <= limit || text.char_indices().nth(limit).is_none() {
        return None;
    }
    let mut shorter: String = text.chars().take(limit - 1).collect();
    shorter.truncate(shorter.trim_end().len());
    shorter.push('…');
    Some(shorter)
}

/// A string that a reply has once, trimmed and cut. Blank text comes back empty and unnoted: only the caller knows what
/// stands in for it.
pub(super) fn text(repairs: &mut Repairs, field: &'static str, value: &str, limit: usize) -> String {
    let value = value.trim();
    cut(value, limit).map_or_else(
        || value.to_owned(),
        |shorter| {
            let length = value.chars().count();
            repairs.once(field, format!("{length} characters, the most is {limit}"), format!("cut to {limit}"));
            shorter
        },
    )
}

/// A string of a list, or of an item of a list, trimmed and cut. Blank text is dropped.
pub(super) fn item(repairs: &mut Repairs, field: &'static str, value: &str, limit: usize) -> Option<String> {
    let value = value.trim();
    if value.is_empty() {
        repairs.item(field, "blank", "dropped");
        return None;
    }
    let Some(shorter) = cut(value, limit) else {
        return Some(value.to_owned());
    };
    repairs.item(field, format!("longer than {limit} characters"), format!("cut to {limit}"));
    Some(shorter)
}

/// As [`item`], for a string that need not be there.
pub(super) fn optional(
    repairs: &mut Repairs,
    field: &'static str,
    value: Option<String>,
    limit: usize,
) -> Option<String> {
    value.and_then(|value| item(repairs, field, &value, limit))
}

/// A list of strings: blank ones dropped, long ones cut, and no more of them than `most`.
pub(super) fn strings(
    repairs: &mut Repairs,
    field: &'static str,
    values: Vec<String>,
    most: usize,
    limit: usize,
) -> Vec<String> {
    let values = values.into_iter().filter_map(|value| item(repairs, field, &value, limit)).collect();
    at_most(repairs, field, values, most)
}

/// A list with no more than `most` items: the first ones.
pub(super) fn at_most<T>(repairs: &mut Repairs, field: &'static str, mut values: Vec<T>, most: usize) -> Vec<T> {
    if values.len() > most {
        repairs.once(
            field,
            format!("{} items, the most is {most}", values.len()),
            format!("the first {most} kept, {} dropped", values.len() - most),
        );
        values.truncate(most);
    }
    values
}

/// A number from 0 to `most`: what is outside is moved to the nearer end, what is no finite number is dropped.
pub(super) fn number(repairs: &mut Repairs, field: &'static str, value: Option<f64>, most: f64) -> Option<f64> {
    let value = value?;
    if !value.is_finite() {
        repairs.once(field, format!("{value} is not a finite number"), "dropped");
        return None;
    }
    let inside = value.clamp(0.0, most);
    if inside != value {
        repairs.once(field, format!("{value:e} is not between 0 and {most}"), format!("set to {inside}"));
    }
    Some(inside)
}
