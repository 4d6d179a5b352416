//! File names of a diff: git's quoting, and whether a name may be used as a path below the workspace.

use crate::{MAX_NAME_BYTES, MAX_PATH_BYTES};

/// A path as the diff names it, without its `a/` or `b/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    text: String,
    utf8: bool,
}

impl Name {
    /// Takes the bytes of a name. Bytes that are not UTF-8 are replaced for display, and the name is then never opened.
    pub fn new(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self { text: text.to_owned(), utf8: true },
            Err(_) => Self { text: String::from_utf8_lossy(bytes).into_owned(), utf8: false },
        }
    }

    /// The path as it is: it may hold control characters.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The path for the fields that hold one, a finding's and a coverage entry's: exactly the one in the tree, since it is compared with
    /// others and opened. A sentence has [`shown`] of it instead. What is longer than a path can be names no file, and is cut.
    pub fn file(&self) -> String {
        if self.text.len() <= MAX_PATH_BYTES { self.text.clone() } else { shown(&self.text) }
    }

    /// The path if it may be opened below the workspace, else why not.
    pub fn path(&self) -> Result<&str, &'static str> {
        if !self.utf8 {
            return Err("its name is not UTF-8");
        }
        if self.text.len() > MAX_PATH_BYTES {
            return Err("its name is longer than a path can be");
        }
        // A backslash is a character like any other, but for one who takes it for a separator it must not lead out either.
        let leaves = self.text.starts_with(['/', '\\'])
            || self.text.contains('\0')
            || self.text.split('/').any(|part| part.is_empty() || part == ".")
            || self.text.split(['/', '\\']).any(|part| part == "..");
        if leaves { Err("its name is not a plain path below the workspace") } else { Ok(&self.text) }
    }
}

/// Text from the change for a sentence: control characters are escaped, so that a file name cannot forge lines of a report, and what is past
/// [`MAX_NAME_BYTES`] is cut.
pub fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(MAX_NAME_BYTES));
    for c in text.chars() {
        if shown.len() >= MAX_NAME_BYTES {
            shown.push('…');
            break;
        }
        if c.is_control() || is_bidi_control(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Characters that reorder the text around them on a screen (Unicode TR 36; CVE-2021-42574).
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{061C}')
}

/// Reads a name at the start of `input`: quoted with C escapes, or bare up to a tab. Returns its bytes and what follows.
/// None when a quoted name is not closed or has an unknown escape.
pub fn read_name(input: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    match input.strip_prefix(b"\"") {
        Some(quoted) => unquote(quoted),
        None => {
            let end = input.iter().position(|byte| *byte == b'\t').unwrap_or(input.len());
            let (name, rest) = input.split_at(end);
            Some((name.to_vec(), rest))
        }
    }
}

/// Decodes a C-quoted name whose opening quote is already taken (git `quote.c`: named escapes and three octal digits).
fn unquote(mut input: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut name = Vec::new();
    loop {
        let (&byte, rest) = input.split_first()?;
        input = rest;
        match byte {
            b'"' => return Some((name, input)),
            b'\\' => {
                let (&escape, rest) = input.split_first()?;
                input = rest;
                name.push(match escape {
                    b'a' => 0x07,
                    b'b' => 0x08,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 0x0b,
                    b'f' => 0x0c,
                    b'r' => b'\r',
                    b'"' | b'\\' => escape,
                    b'0'..=b'3' => {
                        let digits = input.get(..2).filter(|pair| pair.iter().all(|d| (b'0'..=b'7').contains(d)))?;
                        input = input.get(2..)?;
                        digits.iter().fold(escape - b'0', |value, digit| (value << 3) | (digit - b'0'))
                    }
                    _ => return None,
                });
            }
            _ => name.push(byte),
        }
    }
}
