//! The prose documents at the root, held to what is in the tree. Tests only: there is nothing to run.

use std::fs;
use std::path::{Path, PathBuf};

/// The documents that are held to the tree.
const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];

/// A link `[label](target)` of a document.
struct Link {
    document: &'static str,
    label: String,
    target: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

/// Links to files of this repository; those to other sites are not followed.
fn links() -> Vec<Link> {
    let mut found = Vec::new();
    for document in DOCUMENTS {
        let text = text(document);
        for (at, _) in text.match_indices("](") {
            let (Some(open), Some(close)) = (text[..at].rfind('['), text[at + 2..].find(')')) else {
                continue;
            };
            let target = text[at + 2..at + 2 + close].to_owned();
            if !target.contains("://") {
                found.push(Link { document, label: text[open + 1..at].to_owned(), target });
            }
        }
    }
    found
}

#[test]
fn links_lead_somewhere() {
    let links = links();
    assert!(links.len() > 10, "the documents have links, and {} were found", links.len());
    for Link { document, label, target } in links {
        let file = target.split('#').next().unwrap_or_default();
        assert!(root().join(file).exists(), "{document}: [{label}]({target}) leads nowhere");
    }
}

/// A link whose label is `` `a_name` `` and whose target is a Rust file names a test in it.
#[test]
fn the_tests_that_are_named_exist() {
    let mut named = 0;
    for Link { document, label, target } in links() {
        let Some(name) = label.strip_prefix('`').and_then(|label| label.strip_suffix('`')) else {
            continue;
        };
        if target.ends_with(".rs") {
            named += 1;
            let source = fs::read_to_string(root().join(&target)).unwrap_or_default();
            assert!(source.contains(&format!("fn {name}(")), "{document}: {target} has no test `{name}`");
        }
    }
    assert!(named > 0, "ARCHITECTURE.md names the test of each invariant");
}

#[test]
fn no_invariant_is_without_a_test() {
    let open = text("ARCHITECTURE.md").matches("TEST:").count();
    assert_eq!(open, 0, "{open} invariant(s) of ARCHITECTURE.md name no test");
}

/// A command that the documents tell people to type is one that there is.
#[test]
fn the_commands_that_are_named_exist() {
    for document in DOCUMENTS {
        let text = text(document);
        for (at, found) in text.match_indices("cargo xtask ") {
            let word: String = text[at + found.len()..].chars().take_while(char::is_ascii_alphanumeric).collect();
            assert!(
                crate::args::USAGE.contains(&format!("\n  {word} ")),
                "{document}: there is no `cargo xtask {word}`"
            );
        }
    }
}
