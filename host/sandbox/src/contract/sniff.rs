//! What some bytes are, before any engine sees them: most files that are not a component are an honest mistake.

use wasmparser::{Encoding, Parser, Payload};

/// What the bytes of a supposed component turn out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sniffed {
    /// A component, as far as its header says.
    Component,
    Empty,
    /// WebAssembly text.
    Wat,
    /// Some other text, such as a manifest or an error page.
    Text,
    /// A core module.
    CoreModule,
    /// An object of native code, such as a precompiled `.cwasm`.
    Native,
    /// None of these.
    Unknown,
}

/// Looks at the first bytes.
pub(crate) fn sniff(bytes: &[u8]) -> Sniffed {
    if bytes.is_empty() {
        return Sniffed::Empty;
    }
    if bytes.starts_with(b"\0asm") {
        return match Parser::new(0).parse_all(bytes).next() {
            Some(Ok(Payload::Version { encoding: Encoding::Module, .. })) => Sniffed::CoreModule,
            _ => Sniffed::Component,
        };
    }
    if bytes.starts_with(b"\x7fELF") {
        return Sniffed::Native;
    }
    let head = bytes.get(..bytes.len().min(4096)).unwrap_or_default();
    // The cut may go through a character.
    let text = match std::str::from_utf8(head) {
        Ok(text) => Some(text),
        Err(e) if e.error_len().is_none() => head.get(..e.valid_up_to()).and_then(|b| std::str::from_utf8(b).ok()),
        Err(_) => None,
    };
    match text {
        Some(text) if !text.contains('\0') => {
            let code = text.trim_start();
            if code.starts_with("(component") || code.starts_with("(module") || code.starts_with(";;") {
                Sniffed::Wat
            } else {
                Sniffed::Text
            }
        }
        _ => Sniffed::Unknown,
    }
}

impl Sniffed {
    /// What it is, for a reader; none for a component.
    pub(crate) fn fault(&self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Component => return None,
            Self::Empty => ("an empty file", "build the role again: the file has no bytes"),
            Self::Wat => ("WebAssembly text", "turn it into a binary first: `wasm-tools parse role.wat -o role.wasm`"),
            Self::Text => ("a text file", "give the built component, such as target/wasm32-wasip2/release/<name>.wasm"),
            Self::CoreModule => (
                "a core WebAssembly module",
                "build for a component target (Rust: --target wasm32-wasip2), or wrap it: `wasm-tools component new`",
            ),
            Self::Native => (
                "native code",
                "give the component itself: precompiled code is never accepted from outside, since it cannot be checked",
            ),
            Self::Unknown => {
                ("not WebAssembly", "give the built component, a file that begins with the bytes 00 61 73 6d")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_kind_of_mistake_is_told_apart() {
        for (bytes, expected) in [
            (b"".as_slice(), Sniffed::Empty),
            (b"(component)", Sniffed::Wat),
            (b"  ;; a comment\n(module)", Sniffed::Wat),
            (b"name = \"librarian\"\n", Sniffed::Text),
            (b"\x7fELF\x02", Sniffed::Native),
            (b"\x00\x01\x02\xff", Sniffed::Unknown),
            (b"\0asm\x01\0\0\0", Sniffed::CoreModule),
            (b"\0asm\x0d\0\x01\0", Sniffed::Component),
            (b"\0asm", Sniffed::Component),
        ] {
            assert_eq!(sniff(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn text_that_is_cut_inside_a_character_is_still_text() {
        let text = "é".repeat(4000);
        let shifted = format!("x{text}");
        assert_eq!(sniff(text.as_bytes()), Sniffed::Text);
        assert_eq!(sniff(shifted.as_bytes()), Sniffed::Text);
    }
}
