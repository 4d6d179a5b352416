//! The JSON object in a reply, if there is one.

use serde_json::{Map, Value};

const FENCE: &str = "```";
const FENCE_TAG: &str = "json";

/// Finds the object in what a model replied. In this order: the whole reply, the content of a fence (tagged `json` or not), and, when there is
/// no fence, what stands between the first `{` and the last `}`.
///
/// Only an object counts. A fence of another language, two objects, or a brace in the prose after one give `None`: the
/// reply is then plain text, which is always safe.
#[must_use]
pub fn object(reply: &str) -> Option<Map<String, Value>> {
    if let Some(object) = parse(reply) {
        return Some(object);
    }
    if reply.matches(FENCE).nth(1).is_some() {
        return fenced(reply);
    }
    let start = reply.find('{')?;
    let end = reply.rfind('}')?;
    parse(reply.get(start..=end)?)
}

/// The first fence that holds an object; else, since an object's strings may hold fences of their own, all that stands
/// between the first fence and the last.
fn fenced(reply: &str) -> Option<Map<String, Value>> {
    // Of the pieces between the marks, every second one is inside a fence, and the last one is never closed.
    let pieces: Vec<&str> = reply.split(FENCE).collect();
    let closed = pieces.get(..pieces.len() - 1)?;
    if let Some(object) = closed.iter().skip(1).step_by(2).find_map(|inside| parse(untagged(inside))) {
        return Some(object);
    }
    let (start, end) = (reply.find(FENCE)?, reply.rfind(FENCE)?);
    parse(untagged(reply.get(start + FENCE.len()..end)?))
}

fn untagged(inside: &str) -> &str {
    match inside.get(..FENCE_TAG.len()) {
        Some(tag) if tag.eq_ignore_ascii_case(FENCE_TAG) => &inside[FENCE_TAG.len()..],
        _ => inside,
    }
}

fn parse(json: &str) -> Option<Map<String, Value>> {
    // Most candidates are prose; the parser need not look at them.
    if !json.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_object_is_found_where_a_model_puts_it() {
        let replies = [
            "{\"n\":1}",
            " \n{\"n\":1}\n",
            "Here it is:\n```json\n{\"n\":1}\n```\nDone.",
            "```JSON\n{\"n\":1}```",
            "```\n{\"n\":1}\n```",
            "```json{\"n\":1}```",
            "Look: {\"n\":1} as asked.",
            "```rust\nfn main() {}\n```\nand\n```json\n{\"n\":1}\n```",
            "```json\n{\"n\":1}",
        ];
        for reply in replies {
            assert_eq!(object(reply).unwrap()["n"], 1, "{reply}");
        }
    }

    #[test]
    fn fences_inside_strings_do_not_hide_the_object() {
        let json = r#"{"n":1,"evidence":"```rust\nfn main() {}\n```"}"#;
        assert_eq!(object(json).unwrap()["n"], 1);
        assert_eq!(object(&format!("Result:\n```json\n{json}\n```")).unwrap()["n"], 1);
    }

    #[test]
    fn everything_else_is_plain_text() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let replies = [
            "",
            "plain",
            "``````",
            "```json\n```",
            "```json\n[{\"n\":1}]\n```",
            "```json\nnull\n```",
            "```\n7\n```",
            "```rust\n{\"n\":1}\n```",
            "{\"n\":1} and {\"n\":2}",
            "{\"n\":1} (see {x})",
            "} {",
            "{\"n\":NaN}",
            "{\"n\":1e999}",
            "{'n':1}",
            "```json\n{\"n\":1\n```",
            &deep,
        ];
        for reply in replies {
            assert!(object(reply).is_none(), "{}", reply.chars().take(40).collect::<String>());
        }
    }
}
