//! A YAML file as a tree whose nodes know their lines.

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::limits::{MAX_YAML_BYTES, MAX_YAML_DEPTH, MAX_YAML_NODES};

/// A node with the first and last line of its text, 1-based. The text of a block scalar starts below its `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// First line.
    pub line: u32,
    /// Last line.
    pub end: u32,
    /// What it holds.
    pub value: Value,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text, as it is written.
    Scalar(String),
    /// A list.
    List(Vec<Node>),
    /// Keys and values, in their order.
    Map(Vec<(Node, Node)>),
}

/// Why a file is not, or not wholly, a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is no YAML; templates of Helm or Jinja are not.
    Invalid,
    /// It is larger or deeper than what is kept.
    TooLarge,
}

impl Node {
    fn scalar(text: String, line: u32, end: u32) -> Self {
        Self { line, end, value: Value::Scalar(text) }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }

    /// The value behind a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The entries of a mapping; none for anything else.
    pub fn entries(&self) -> impl Iterator<Item = (&Node, &Node)> {
        let entries: &[(Node, Node)] = if let Value::Map(entries) = &self.value { entries } else { &[] };
        entries.iter().map(|(key, value)| (key, value))
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[Node] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    /// The text of a scalar.
    pub fn text(&self) -> Option<&str> {
        if let Value::Scalar(text) = &self.value { Some(text) } else { None }
    }

    /// Whether it is the scalar `true`, in any of YAML's spellings.
    pub fn is_true(&self) -> bool {
        self.text().is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"))
    }

    /// Calls `visit` for this node and everything below, keys excepted.
    pub fn each<'n>(&'n self, visit: &mut dyn FnMut(&'n Node)) {
        // The tree is at most MAX_YAML_DEPTH deep.
        visit(self);
        match &self.value {
            Value::Scalar(_) => {}
            Value::List(items) => items.iter().for_each(|item| item.each(visit)),
            Value::Map(entries) => entries.iter().for_each(|(_, value)| value.each(visit)),
        }
    }
}

/// A mapping or list that is being read.
enum Open {
    List(Node),
    Map(Node, Option<Node>),
}

/// The documents of a file. Aliases are left as empty scalars, never expanded.
pub fn read(text: &str) -> Result<Vec<Node>, Fault> {
    if text.len() > MAX_YAML_BYTES {
        return Err(Fault::TooLarge);
    }
    let (mut documents, mut open, mut nodes) = (Vec::new(), Vec::<Open>::new(), 0usize);
    let lines: Vec<&str> = text.lines().collect();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|_| Fault::Invalid)?;
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let (line, end) = (number(span.start.line()), number(span.end.line()));
        nodes += 1;
        if nodes > MAX_YAML_NODES || open.len() > MAX_YAML_DEPTH {
            return Err(Fault::TooLarge);
        }
        let done = match event {
            Event::Scalar(text, style, ..) => {
                // The mark behind a block stands before the first word that is no longer part of it.
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let last = lines.get(span.end.line().saturating_sub(1)).copied().unwrap_or_default();
                let outside = last.chars().take(span.end.col()).all(char::is_whitespace);
                let end = if block && outside { end.saturating_sub(1).max(line) } else { end };
                Some(Node::scalar(text.into_owned(), line, end))
            }
            Event::Alias(_) => Some(Node::scalar(String::new(), line, end)),
            Event::SequenceStart(..) => {
                open.push(Open::List(Node { line, end, value: Value::List(Vec::new()) }));
                None
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Node { line, end, value: Value::Map(Vec::new()) }, None));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|closed| match closed {
                Open::List(node) | Open::Map(node, _) => Node { end, ..node },
            }),
            _ => None,
        };
        let Some(node) = done else { continue };
        match open.last_mut() {
            None => documents.push(node),
            Some(Open::List(list)) => {
                if let Value::List(items) = &mut list.value {
                    items.push(node);
                }
            }
            Some(Open::Map(map, key)) => match key.take() {
                None => *key = Some(node),
                Some(key) => {
                    if let Value::Map(entries) = &mut map.value {
                        entries.push((key, node));
                    }
                }
            },
        }
    }
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_know_their_lines() {
        let text = "a:\n  - b: 1\n    run: |\n      one\n      two\nc: &x {d: yes}\ne: *x\n";
        let documents = read(text).unwrap_or_default();
        let root = &documents[0];
        let step = &root.get("a").map(Node::items).unwrap_or_default()[0];
        assert_eq!(step.get("b").map(|n| (n.line, n.text())), Some((2, Some("1"))));
        let run = step.get("run");
        assert_eq!(run.and_then(Node::text), Some("one\ntwo\n"));
        assert_eq!(run.map(|n| (n.line, n.end)), Some((4, 5)));
        assert!(root.at(&["c", "d"]).is_some_and(Node::is_true));
        assert_eq!(root.get("e").and_then(Node::text), Some(""));
    }

    #[test]
    fn a_block_ends_with_its_last_line() {
        let lines = |text: &str| {
            let documents = read(text).unwrap_or_default();
            let node = documents[0].at(&["a", "b"]).cloned().unwrap_or_else(|| Node::scalar(String::new(), 0, 0));
            (node.line, node.end)
        };
        assert_eq!(lines("a:\n  b: |\n    x\n    y\n  c: d\n"), (3, 4));
        assert_eq!(lines("a:\n  b: >\n    x\n    y\n  c: d\n"), (3, 4));
        assert_eq!(lines("a:\n  b: |\n    x\n    y\n"), (3, 4));
        assert_eq!(lines("a:\n  b: |\n    x\n    y"), (3, 4));
        assert_eq!(lines("a:\n  b: x\n    y\n"), (2, 3));
        assert_eq!(lines("a:\n  b: x\n  c: y\n"), (2, 2));
        assert_eq!(lines("a:\n  b: \"x\n    y\"\n  c: y\n"), (2, 3));
    }

    #[test]
    fn what_is_no_tree_is_said() {
        assert_eq!(read("a: {{ b }}: c\n- d"), Err(Fault::Invalid));
        assert_eq!(read(&"[".repeat(60)), Err(Fault::TooLarge));
        assert_eq!(read(&"- a\n".repeat(MAX_YAML_NODES)), Err(Fault::TooLarge));
        assert_eq!(read(&" ".repeat(MAX_YAML_BYTES + 1)), Err(Fault::TooLarge));
        assert_eq!(read(""), Ok(Vec::new()));
        // A chain of aliases stays as small as it is written.
        let bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n";
        assert!(read(bomb).is_ok());
    }
}
