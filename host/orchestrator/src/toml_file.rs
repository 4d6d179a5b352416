//! TOML files that people write: read whole or not at all, with the line of what is wrong and the key that was meant.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::plain_file;

/// Bytes of a manifest or configuration file.
pub const MAX_TOML_BYTES: u64 = 256 << 10;
/// How alike an unknown key must be to a known one to be suggested, from 0 to 1.
const ALIKE: f64 = 0.6;

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
    /// It is larger than [`MAX_TOML_BYTES`].
    #[error("{} is larger than {} KiB", path.display(), MAX_TOML_BYTES >> 10)]
    #[diagnostic(code("config.too-large"), help("is it the right file?"))]
    TooLarge {
        /// The file.
        path: PathBuf,
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

/// Reads a TOML file.
///
/// # Errors
/// Every [`TomlError`].
pub fn read<T: DeserializeOwned + JsonSchema>(path: &Path) -> Result<T, TomlError> {
    let unreadable = |source| TomlError::Unreadable { path: path.to_owned(), source };
    let mut text = String::new();
    let file = plain_file::open(path).map_err(unreadable)?;
    file.take(MAX_TOML_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_TOML_BYTES {
        return Err(TomlError::TooLarge { path: path.to_owned() });
    }
    parse(path, &text)
}

/// Parses the text of a TOML file; `path` is for the error.
///
/// # Errors
/// [`TomlError::Invalid`].
pub fn parse<T: DeserializeOwned + JsonSchema>(path: &Path, text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
        let problem = error.message().to_owned();
        let help = unknown_key(&problem)
            .map_or_else(|| "see the published schema of this file".to_owned(), |key| suggest::<T>(key));
        TomlError::Invalid { path: path.to_owned(), line, problem, help }
    })
}

/// The key that serde calls unknown.
fn unknown_key(problem: &str) -> Option<&str> {
    problem.strip_prefix("unknown field `")?.split_once('`').map(|(key, _)| key)
}

fn suggest<T: JsonSchema>(key: &str) -> String {
    let mut known = BTreeSet::new();
    collect_keys(&schemars::schema_for!(T).to_value(), &mut known);
    let nearest = known
        .iter()
        .map(|name| (strsim::jaro_winkler(key, name), name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((_, name)) => format!("did you mean `{name}`?"),
        None => format!("the keys are: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// Every property name in a schema.
fn collect_keys(schema: &Value, into: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                into.extend(properties.keys().cloned());
            }
            map.values().for_each(|value| collect_keys(value, into));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_keys(value, into)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
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
    fn a_wrong_value_names_its_line() {
        let fault = fault(&format!("{HEAD}[limits]\ndeadline_ms = \"soon\"\n"));
        assert!(fault.contains("role.toml:7:"), "{fault}");
    }

    #[test]
    fn text_that_is_not_toml_names_its_line() {
        let fault = fault("name = \"x\"\n<html>\n");
        assert!(fault.contains("role.toml:2:"), "{fault}");
    }
}
