//! Values that are made from a fuzzer's bytes, where raw bytes would seldom be one.

use arbitrary::{Arbitrary, Result, Unstructured};

/// Bytes that the item of a long list is made from.
const SMALL: usize = 24;

/// Text: a word of `words`, any text, or a run of one character, which is what reaches the limits.
///
/// # Errors
/// The bytes are used up, where that is an error.
pub fn text(u: &mut Unstructured<'_>, words: &[&str]) -> Result<String> {
    // An item of a long list stays small: the product of both would take all the time that there is.
    let longest = if u.len() > SMALL { 20_000 } else { 20 };
    Ok(match u.int_in_range(0..=7)? {
        0..=2 if !words.is_empty() => (*u.choose(words)?).to_owned(),
        3 => {
            let (unit, times) = (char::arbitrary(u)?, u.int_in_range(0..=longest)?);
            String::from_iter(std::iter::repeat_n(unit, times))
        }
        4 => format!("{}{}", u.choose(&[" ", "\n", "\u{a0}", "/", "…"])?, <&str>::arbitrary(u)?),
        _ => <&str>::arbitrary(u)?.to_owned(),
    })
}

/// A list: a few items, and now and then a small one of up to `most` times more.
///
/// # Errors
/// As `item`.
pub fn list<T: Clone>(
    u: &mut Unstructured<'_>,
    most: usize,
    mut item: impl FnMut(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut items = Vec::new();
    for _ in 0..u.int_in_range(0..=6_u8)? {
        items.push(item(u)?);
    }
    if u.ratio(1, 64)? && u.len() >= SMALL {
        let small = item(&mut Unstructured::new(u.bytes(SMALL)?))?;
        items.extend(std::iter::repeat_n(small, u.int_in_range(0..=most)?));
    }
    Ok(items)
}

/// What may be there or not.
///
/// # Errors
/// As `item`.
pub fn optional<T>(
    u: &mut Unstructured<'_>,
    item: impl FnOnce(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Option<T>> {
    if bool::arbitrary(u)? { item(u).map(Some) } else { Ok(None) }
}
