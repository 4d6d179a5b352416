//! `@path` and `@@session` in a request; `@@last` is the newest session of the project.
//!
//! A reference becomes a context reference of the handoffs; its content is never pasted into the request. What cannot be
//! delivered is said, with the reason, and the run goes on. The tokens stay in the request, so that a role can tell what
//! they meant.

use std::path::{Component, Path};

use brain_packet::{ContextRef, ContextRefKind, SessionId};
use brain_sandbox::WORKSPACE;

use crate::proposals::session;
use crate::threads;

/// References in one request; further ones are counted as missing.
pub const MAX_REFERENCES: usize = 64;

/// What the references of a request came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct References {
    /// Files and folders of the project, as guest paths.
    pub files: Vec<ContextRef>,
    /// Sessions, with the snapshot of each.
    pub threads: Vec<(SessionId, String)>,
    /// The request names files, whether or not they exist: then it is about them, and roles see nothing else.
    pub names_files: bool,
    /// What could not be delivered, in words.
    pub missing: Vec<String>,
}

/// Finds and resolves the references of `request`.
pub fn resolve(request: &str, project: &Path, home: &Path) -> References {
    let mut found = References::default();
    let tokens = tokens(request);
    for (n, token) in tokens.iter().enumerate() {
        if n >= MAX_REFERENCES {
            found
                .missing
                .push(format!("{} further references: at most {MAX_REFERENCES} are followed", tokens.len() - n));
            break;
        }
        found.names_files |= matches!(token, Token::File(_));
        match token {
            Token::File(path) => match file(project, path) {
                Ok(reference) => found.files.push(reference),
                Err(why) => found.missing.push(format!("@{path}: {why}")),
            },
            Token::Session(word) => {
                let thread =
                    session(home, word, project).map_err(|e| e.to_string()).and_then(|id| threads::snapshot(home, id));
                match thread {
                    // One session by two names is one.
                    Ok((id, _)) if found.threads.iter().any(|(known, _)| *known == id) => {}
                    Ok(thread) => found.threads.push(thread),
                    Err(why) => found.missing.push(format!("@@{word}: {why}")),
                }
            }
        }
    }
    found
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    File(String),
    Session(String),
}

/// The references in a text, each once: a marker at its beginning or after white space, then what is neither white space
/// nor `@`. Punctuation that ends a sentence is no part of one.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for word in text.split_whitespace() {
        let (target, session) = match (word.strip_prefix("@@"), word.strip_prefix('@')) {
            (Some(target), _) => (target, true),
            (None, Some(target)) => (target, false),
            (None, None) => continue,
        };
        let target = target.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'']);
        if target.is_empty() || target.contains('@') {
            continue;
        }
        let token = if session { Token::Session(target.to_owned()) } else { Token::File(target.to_owned()) };
        if !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    tokens
}

/// A path of the project as a context reference. What it names must exist; whether a role sees it is for its grants.
///
/// # Errors
/// Why it cannot be referred to, in words.
pub fn file(project: &Path, path: &str) -> Result<ContextRef, String> {
    // What is all of the project is said as `.`: a name that came out empty is a mistake.
    if path.is_empty() {
        return Err("it names nothing; `.` is the project".into());
    }
    let mut relative = String::new();
    for component in Path::new(path.strip_prefix("/workspace/").unwrap_or(path)).components() {
        match component {
            Component::Normal(name) => {
                if !relative.is_empty() {
                    relative.push('/');
                }
                relative.push_str(name.to_str().ok_or("the path is not UTF-8")?);
            }
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err("give a path below the project".into());
            }
        }
    }
    if relative.is_empty() {
        return Ok(ContextRef::new(ContextRefKind::File, WORKSPACE));
    }
    // `src/a.rs:30:5` names a place, as compilers and the report do; the file is what can be granted.
    let is_there = |relative: &str| std::fs::symlink_metadata(project.join(relative)).ok();
    if is_there(&relative).is_none() {
        let mut place = relative.as_str();
        while let Some((file, number)) = place.rsplit_once(':')
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
        {
            place = file;
        }
        // A folder has no lines, and naming one would grant more than was meant.
        if is_there(place).is_some_and(|found| found.is_file()) {
            relative.truncate(place.len());
        }
    }
    match std::fs::symlink_metadata(project.join(&relative)) {
        Ok(_) => Ok(ContextRef::new(ContextRefKind::File, format!("{WORKSPACE}/{relative}"))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err("there is no such file".into()),
        Err(e) => Err(e.to_string()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn tokens_start_a_word_and_are_taken_once() {
        assert_eq!(
            tokens("look at @src/a.rs, mail me@example.org about @src/a.rs and @@20260101-x. (@ @@ @a@b)"),
            [Token::File("src/a.rs".into()), Token::Session("20260101-x".into())]
        );
    }

    #[test]
    fn files_stay_below_the_project() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("src/a.rs"), "").unwrap();
        assert_eq!(file(dir.path(), "./src/a.rs").unwrap().uri, "/workspace/src/a.rs");
        assert_eq!(file(dir.path(), "src").unwrap().uri, "/workspace/src");
        for place in ["src/a.rs:30", "src/a.rs:30:5"] {
            assert_eq!(file(dir.path(), place).unwrap().uri, "/workspace/src/a.rs", "{place}");
        }
        std::fs::write(dir.path().join("odd:30"), "").unwrap();
        assert_eq!(file(dir.path(), "odd:30").unwrap().uri, "/workspace/odd:30", "a name is a name first");
        assert_eq!(file(dir.path(), ".").unwrap().uri, "/workspace");
        for bad in ["/etc/passwd", "../x", "src/../../x", "nope", "", "nope:3", "src/a.rs:x", ":3", "src/:3", "src:3"] {
            assert!(file(dir.path(), bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let found = resolve("see @nope.rs and @@nosession", dir.path(), dir.path());
        assert_eq!(found.files, []);
        assert_eq!(found.missing.len(), 2, "{:?}", found.missing);
        let many: String = (0..MAX_REFERENCES + 5).map(|i| format!("@f{i} ")).collect();
        assert!(resolve(&many, dir.path(), dir.path()).missing.iter().any(|m| m.starts_with("5 further")));
    }
}
