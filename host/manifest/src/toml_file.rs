//! TOML files that people write: read whole or not at all, with the line of what is wrong and the key that was meant.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::limits::show_bytes;
use crate::plain_file;

/// Bytes of a manifest or configuration file.
pub const MAX_TOML_BYTES: u64 = 256 << 10;
/// How alike an unknown key must be to a known one to be suggested, from 0 to 1.
const ALIKE: f64 = 0.6;

/// The files that people write, and the published schema of each.
const SCHEMAS: &[(&str, &str)] =
    &[("role.toml", "role"), ("config.toml", "config"), ("brain.toml", "project"), ("confirmed.toml", "confirmed")];
/// How what is wrong with a glob begins.
pub(crate) const GLOB: &str = "the glob `";
/// What to do about it.
const GLOB_HELP: &str = "write it relative to the project, with `/` between names, such as `src/**/*.rs`";

/// A TOML file that cannot be used.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum TomlError {
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    #[diagnostic(code("config.unreadable"), help("check that the file exists and that you may read it"))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is larger than such a file may be.
    #[error("{} is larger than {}", path.display(), show_bytes(*limit))]
    #[diagnostic(code("config.too-large"), help("is it the right file?"))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes that it may have.
        limit: u64,
    },
    /// It is not TOML, or has a key or value that does not belong.
    #[error("{}:{line}: {problem}", path.display())]
    #[diagnostic(code("config.invalid"), help("{help}"))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
        /// What to write instead.
        help: String,
    },
}

/// Reads a TOML file of up to [`MAX_TOML_BYTES`].
///
/// # Errors
/// Every [`TomlError`].
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, TomlError> {
    read_up_to(path, MAX_TOML_BYTES)
}

/// Reads a TOML file of up to `limit` bytes.
///
/// # Errors
/// Every [`TomlError`].
pub fn read_up_to<T: DeserializeOwned>(path: &Path, limit: u64) -> Result<T, TomlError> {
    let unreadable = |source| TomlError::Unreadable { path: path.to_owned(), source };
    let mut text = String::new();
    let file = plain_file::open(path).map_err(unreadable)?;
    file.take(limit.saturating_add(1)).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > limit {
        return Err(TomlError::TooLarge { path: path.to_owned(), limit });
    }
    parse(path, &text)
}

/// Parses the text of a TOML file; `path` is for the error.
///
/// # Errors
/// [`TomlError::Invalid`].
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
        let problem = error.message().to_owned();
        let help = unknown_key(&problem).unwrap_or_else(|| match problem.starts_with(GLOB) {
            true => GLOB_HELP.into(),
            false => schema_help(path),
        });
        TomlError::Invalid { path: path.to_owned(), line, problem, help }
    })
}

/// Where it stands what belongs into a file.
fn schema_help(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str());
    match SCHEMAS.iter().find(|(file, _)| Some(*file) == name) {
        Some((file, schema)) => {
            format!("`brain schema {schema}` prints what belongs into {file} (schemas/{schema}.schema.json)")
        }
        None => "`brain schema` names the schemas of all files".into(),
    }
}

/// What to write instead of a key that serde calls unknown: the nearest of those that it says belong there.
fn unknown_key(problem: &str) -> Option<String> {
    let (key, rest) = problem.strip_prefix("unknown field `")?.split_once('`')?;
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    Some(match nearest(key, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the keys here are: {}", known.join(", ")),
    })
}

/// The name that `wrong` was most likely meant to be, if any is alike.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::grants::MAX_GLOBS;
    use crate::manifest::Manifest;

    fn fault(text: &str) -> String {
        let error = parse::<Manifest>(Path::new("role.toml"), text).unwrap_err();
        format!("{error} | {}", miette::Diagnostic::help(&error).unwrap())
    }

    const HEAD: &str = "name = \"x\"\nversion = \"0.1.0\"\ndescription = \"d\"\ncontract = \"brain:role@1.0.0\"\ncomponent = \"x.wasm\"\n";

    #[test]
    fn a_wrong_key_names_its_line_and_the_nearest_known_key() {
        let text = format!("{HEAD}[limits]\ndeadline = 5\n");
        let fault = fault(&text);
        assert!(fault.contains("role.toml:7: unknown field `deadline`"), "{fault}");
        assert!(fault.contains("did you mean `deadline_ms`?"), "{fault}");
    }

    #[test]
    fn the_nearest_key_is_one_of_the_table_that_the_wrong_one_stands_in() {
        // `reads` is a key too, of another table.
        let fault = fault(&format!("{HEAD}[files]\nreads = [\"**\"]\n"));
        assert!(fault.contains("role.toml:7:") && fault.contains("did you mean `read`?"), "{fault}");
    }

    #[test]
    fn a_key_like_no_other_is_answered_with_those_that_there_are() {
        let fault = fault(&format!("{HEAD}[wasi]\nzzz = 1\n"));
        assert!(fault.contains("role.toml:7:") && fault.contains("the keys here are: wall_clock, random"), "{fault}");
    }

    #[test]
    fn a_glob_that_cannot_be_used_names_its_own_line() {
        for (globs, line, why) in [
            ("read = [\"src/**\", \"/etc/**\"]", 7, "absolute"),
            ("read = [\n  \"src/**\",\n  \"a/../b\",\n]", 9, "`..`"),
            ("write = [\n\n  \"\"]", 9, "empty"),
        ] {
            let fault = fault(&format!("{HEAD}[files]\n{globs}\n"));
            assert!(fault.contains(&format!("role.toml:{line}: ")) && fault.contains(why), "{fault}");
        }
    }

    #[test]
    fn globs_are_bounded_in_number() {
        let many = "\"a\",".repeat(MAX_GLOBS + 1);
        let fault = fault(&format!("{HEAD}[files]\nread = [{many}]\n"));
        assert!(fault.contains("more than 4096 globs"), "{fault}");
    }

    #[test]
    fn a_wrong_value_names_its_line() {
        let fault = fault(&format!("{HEAD}[limits]\ndeadline_ms = \"soon\"\n"));
        assert!(fault.contains("role.toml:7:"), "{fault}");
    }

    #[test]
    fn a_value_that_does_not_belong_names_the_schema_of_its_file() {
        for (file, schema) in SCHEMAS {
            let error = parse::<toml::Table>(&Path::new("/some/where").join(file), "<html>").unwrap_err();
            let help = miette::Diagnostic::help(&error).unwrap().to_string();
            assert!(help.contains(&format!("`brain schema {schema}`")) && help.contains(file), "{help}");
        }
        let error = parse::<toml::Table>(Path::new("other.toml"), "<html>").unwrap_err();
        assert!(miette::Diagnostic::help(&error).unwrap().to_string().contains("`brain schema`"));
    }

    #[test]
    fn a_limit_that_cannot_be_names_its_line_and_what_it_may_be() {
        for (limit, words) in [
            ("memory_bytes = 0", "the limit `memory_bytes` is 0, with which no call can do anything; it is at least 1"),
            (
                "memory_bytes = 18446744073709551615",
                "18446744073709551615, and the most that it may be is 1099511627776, 1 TiB",
            ),
            ("deadline_ms = 9223372036854775807", "the most that it may be is 31536000000, 31536000 s"),
            ("open_handles = -1", "invalid value"),
        ] {
            let fault = fault(&format!("{HEAD}[limits]\n\n{limit}\n"));
            assert!(fault.contains("role.toml:8: ") && fault.contains(words), "{fault}");
        }
    }

    #[test]
    fn text_that_is_not_toml_names_its_line() {
        let fault = fault("name = \"x\"\n<html>\n");
        assert!(fault.contains("role.toml:2:"), "{fault}");
    }
}
