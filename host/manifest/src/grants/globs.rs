//! Globs in files that people write: checked when they are read, and compared with each other.

use std::fmt;

use brain_files::GlobLayer;
use globset::GlobBuilder;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::toml_file::GLOB;

/// Globs in one list. The sandbox takes no more in one layer.
pub const MAX_GLOBS: usize = 4096;

/// Deserializes a list of globs that grant. One that cannot be used is an error at its own place in the file.
pub(crate) fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    from.deserialize_seq(List)
}

/// [`list`], where there may be none.
pub(crate) fn optional<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    list(from).map(Some)
}

/// Deserializes a list of globs that deny: as in a `.gitignore`, a slash may stand at the beginning.
pub(crate) fn denying<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct Denying;
    impl<'de> Visitor<'de> for Denying {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of globs")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vec<String>, A::Error> {
            collect::<Deny, _>(seq, |Deny(glob)| glob)
        }
    }
    from.deserialize_seq(Denying)
}

struct List;

impl<'de> Visitor<'de> for List {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of globs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vec<String>, A::Error> {
        collect::<Grant, _>(seq, |Grant(glob)| glob)
    }
}

fn collect<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
    mut seq: A,
    text: fn(T) -> String,
) -> Result<Vec<String>, A::Error> {
    let mut globs = Vec::new();
    while let Some(glob) = seq.next_element()? {
        if globs.len() >= MAX_GLOBS {
            return Err(A::Error::custom(format!("more than {MAX_GLOBS} globs in one list")));
        }
        globs.push(text(glob));
    }
    Ok(globs)
}

struct Grant(String);

struct Deny(String);

impl<'de> Deserialize<'de> for Grant {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Checked(|glob| glob)).map(Self)
    }
}

impl<'de> Deserialize<'de> for Deny {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Checked(|glob| glob.strip_prefix('/').unwrap_or(glob))).map(Self)
    }
}

/// Refuses inside of the deserializer, which then knows where.
struct Checked(fn(&str) -> &str);

impl Visitor<'_> for Checked {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a glob")
    }

    fn visit_str<E: Error>(self, written: &str) -> Result<String, E> {
        match GlobLayer::new("", [(self.0)(written)]).check() {
            Ok(()) => Ok(written.to_owned()),
            Err(error) => Err(E::custom(format!("{GLOB}{}` cannot be used: {}", error.glob, error.why))),
        }
    }
}

/// Whether every path that `inner` matches is matched by one of `outer`. It errs on one side: `false` may mean that it
/// cannot tell.
pub(crate) fn covered<'a>(inner: &str, mut outer: impl Iterator<Item = &'a String>) -> bool {
    outer.any(|outer| covers(outer, inner))
}

/// Whether `outer` matches whatever `inner` matches, as far as it can be told name by name.
pub(crate) fn covers(outer: &str, inner: &str) -> bool {
    let (outer, inner) = (tidy(outer), tidy(inner));
    if outer == inner {
        return true;
    }
    let names = |glob: &'_ str| glob.split('/').map(str::to_owned).collect::<Vec<_>>();
    let (mut outers, inners) = (vec![names(&outer)], names(&inner));
    if is_literal(&outer) {
        // It covers what is below it, too.
        outers.push(names(&format!("{outer}/**")));
    }
    let one = |inners: &[String]| outers.iter().any(|outers| covers_names(outers, inners));
    // Every glob that the sandbox takes for a folder's name, which is more than those that this takes literally.
    let below = (!inner.contains(['*', '?', '[', '{'])).then(|| names(&format!("{inner}/**")));
    one(&inners) && below.is_none_or(|below| one(&below))
}

/// Both by name. `**` stands for any number of names, and at the end for one at least.
fn covers_names(outer: &[String], inner: &[String]) -> bool {
    // reach[i]: what is before here in `outer` covers the first `i` names of `inner`.
    let mut reach = vec![false; inner.len() + 1];
    if let Some(first) = reach.first_mut() {
        *first = true;
    }
    for (at, name) in outer.iter().enumerate() {
        let mut next = vec![false; inner.len() + 1];
        if name == "**" {
            let mut seen = false;
            for (i, here) in reach.iter().enumerate() {
                if let Some(slot) = next.get_mut(i) {
                    *slot = if at + 1 == outer.len() { seen } else { seen || *here };
                }
                seen |= *here;
            }
        } else {
            for (i, other) in inner.iter().enumerate() {
                if let (Some(true), Some(slot)) = (reach.get(i), next.get_mut(i + 1)) {
                    *slot = covers_name(name, other);
                }
            }
        }
        reach = next;
    }
    reach.last().copied().unwrap_or(false)
}

fn covers_name(outer: &str, inner: &str) -> bool {
    if inner == "**" {
        return false;
    }
    if outer == "*" || outer == inner {
        return true;
    }
    let glob = GlobBuilder::new(outer).literal_separator(true).build();
    is_literal(inner) && glob.is_ok_and(|glob| glob.compile_matcher().is_match(inner))
}

/// Without characters that mean something in a glob.
fn is_literal(glob: &str) -> bool {
    !glob.contains(['*', '?', '[', ']', '{', '}', '\\', '!'])
}

/// A glob as the sandbox takes it: without `./`, `/workspace/` or a trailing slash.
fn tidy(glob: &str) -> String {
    let glob = glob.strip_prefix("/workspace/").unwrap_or(glob);
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let glob = glob.strip_suffix('/').unwrap_or(glob);
    if glob == "." { "**".to_owned() } else { glob.to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use brain_files::Visibility;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_plainly_covers_is_known() {
        for (outer, inner) in [
            ("**", "src/**/*.rs"),
            ("**", "**"),
            ("**", "."),
            ("src", "src/a.rs"),
            ("src", "src/**"),
            ("src/**", "src/deep/*.rs"),
            ("**/*.rs", "src/**/*.rs"),
            ("s*/**", "src/lib.rs"),
            ("./src/", "/workspace/src"),
            ("*", "a*"),
        ] {
            assert!(covers(outer, inner), "{outer} covers {inner}");
        }
    }

    #[test]
    fn what_does_not_cover_is_never_said_to() {
        for (outer, inner) in [
            ("src/**", "**"),
            // `src` is the file of that name as well.
            ("src/**", "src"),
            ("*", "**"),
            ("*", "src"),
            // A name without wildcards is a folder's, too, with all below it.
            ("src/*.rs", "src/lib.rs"),
            ("src/*", "src/**"),
            ("src", "srcs"),
            ("a/*/**", "a/**/b"),
            ("docs", "src"),
            ("[!a]", "a"),
        ] {
            assert!(!covers(outer, inner), "{outer} does not cover {inner}");
        }
    }

    fn glob() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec!["a", "b", "ab", "*", "**", "a*", "?", "[ab]", "{a,b}", "*b", "a**"]);
        prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
    }

    fn path() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec!["a", "b", "ab", "abb", "c"]);
        prop::collection::vec(name, 1..6).prop_map(|names| names.join("/"))
    }

    fn visible(root: &std::path::Path, glob: &str) -> Option<Visibility> {
        crate::grants::tests::workspace(root, vec![GlobLayer::new("manifest", [glob])]).visibility().ok()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn whoever_covers_matches_all_that_the_other_matches(outer in glob(), inner in glob(), paths in prop::collection::vec(path(), 1..24)) {
            let root = tempfile::tempdir().unwrap();
            if covers(&outer, &inner) {
                let both = (visible(root.path(), &outer), visible(root.path(), &inner));
                let (Some(by_outer), Some(by_inner)) = both else { return Ok(()) };
                for path in &paths {
                    prop_assert!(by_outer.shows(path) || !by_inner.shows(path), "{} {} {}", outer, inner, path);
                }
            }
        }
    }
}
