//! Names of things: handoffs, tasks, sessions, roles, messages.
//!
//! Each is a newtype, so a task's id cannot be handed over where a session's is meant. All of them travel as plain JSON
//! strings. Their characters are restricted because ids end up in file names, terminal lines and shell commands.

use std::{borrow::Cow, fmt, str::FromStr};

use miette::Diagnostic;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

use crate::{
    limits::{MAX_ID_CHARS, MAX_ROLE_NAME_CHARS, MAX_SESSION_ID_CHARS},
    terminal::quoted,
};

/// Role names that would read as Brain itself in the `from` and `to` of a message.
pub const RESERVED_ROLE_NAMES: [&str; 2] = ["brain", "orchestrator"];

/// Why a string is not an id of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
pub enum IdError {
    /// The string is empty.
    #[error("{what} is empty")]
    #[diagnostic(code("packet.id.empty"), help("{rule}"))]
    Empty {
        /// The kind of id, with its article: "a role name".
        what: &'static str,
        /// What such an id looks like.
        rule: &'static str,
    },
    /// The string is longer than the kind allows.
    #[error("{what} has at most {limit} characters, this one has {length}: {value}")]
    #[diagnostic(code("packet.id.too-long"), help("{rule}"))]
    TooLong {
        /// The kind of id, with its article.
        what: &'static str,
        /// The most characters that are allowed.
        limit: usize,
        /// The characters that there are.
        length: usize,
        /// The start of the string, quoted and safe to print.
        value: String,
        /// What such an id looks like.
        rule: &'static str,
    },
    /// A character is not allowed where it stands.
    #[error("{value} is not {what}: {found} is not allowed at character {position}")]
    #[diagnostic(code("packet.id.character"), help("{rule}"))]
    Character {
        /// The kind of id, with its article.
        what: &'static str,
        /// The start of the string, quoted and safe to print.
        value: String,
        /// The character, quoted and safe to print.
        found: String,
        /// Its place, counted from 1.
        position: usize,
        /// What such an id looks like.
        rule: &'static str,
    },
    /// The name is kept for Brain.
    #[error("{value} cannot name a role: Brain itself goes by that name")]
    #[diagnostic(code("packet.id.reserved"), help("choose another name for the role"))]
    Reserved {
        /// The name, quoted.
        value: String,
    },
}

/// How one kind of id is spelled.
struct Spelling {
    what: &'static str,
    rule: &'static str,
    limit: usize,
    first: fn(char) -> bool,
    rest: fn(char) -> bool,
}

impl Spelling {
    fn check(&self, value: &str) -> Result<(), IdError> {
        let (what, rule) = (self.what, self.rule);
        if value.is_empty() {
            return Err(IdError::Empty { what, rule });
        }
        let length = value.chars().count();
        if length > self.limit {
            return Err(IdError::TooLong { what, limit: self.limit, length, value: quoted(value), rule });
        }
        for (index, found) in value.chars().enumerate() {
            let allowed = if index == 0 { self.first } else { self.rest };
            if !allowed(found) {
                return Err(IdError::Character {
                    what,
                    value: quoted(value),
                    found: quoted(found.encode_utf8(&mut [0; 4])),
                    position: index + 1,
                    rule,
                });
            }
        }
        Ok(())
    }
}

fn not_reserved(value: &str) -> Result<(), IdError> {
    if RESERVED_ROLE_NAMES.contains(&value) {
        return Err(IdError::Reserved { value: quoted(value) });
    }
    Ok(())
}

fn anything_goes(_: &str) -> Result<(), IdError> {
    Ok(())
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident { $spelling:expr, pattern: $pattern:literal, also: $also:path }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            const SPELLING: Spelling = $spelling;

            /// Takes a string that is spelled as such an id is.
            ///
            /// # Errors
            /// [`IdError`] when it is not; the message says which character is wrong and what is allowed.
            pub fn new(value: impl Into<String>) -> Result<Self, IdError> {
                let value = value.into();
                Self::SPELLING.check(&value)?;
                $also(&value)?;
                Ok(Self(value))
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(value: &str) -> Result<Self, IdError> {
                Self::new(value)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(value: String) -> Result<Self, IdError> {
                Self::new(value)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = IdError;
            fn try_from(value: &str) -> Result<Self, IdError> {
                Self::new(value)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": Self::SPELLING.rule,
                    "pattern": $pattern,
                    "maxLength": Self::SPELLING.limit,
                })
            }
        }
    };
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

fn starts_word(c: char) -> bool {
    is_word(c) && c != '.'
}

fn is_scoped_word(c: char) -> bool {
    is_word(c) || c == ':'
}

fn starts_scoped_word(c: char) -> bool {
    is_scoped_word(c) && c != '.'
}

macro_rules! scoped_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        id!($(#[$doc])* $name {
            Spelling {
                what: $what,
                rule: "an id holds a-z, A-Z, 0-9, '.', '_', '-' and ':', does not begin with '.', and has at most 256 characters",
                limit: MAX_ID_CHARS,
                first: starts_scoped_word,
                rest: is_scoped_word,
            },
            pattern: r"^[a-zA-Z0-9_:-][a-zA-Z0-9._:-]*$",
            also: anything_goes
        });
    };
}

scoped_id!(
    /// One handoff: the packet's own id.
    HandoffId, "a handoff id"
);
scoped_id!(
    /// One worker's task. `<session>:primary` is one, so ':' is allowed.
    TaskId, "a task id"
);
scoped_id!(
    /// One message between Brain and a worker.
    MessageId, "a message id"
);

id!(
    /// One session: the run, Brain's own task, and the name of its journal file.
    SessionId {
        Spelling {
            what: "a session id",
            rule: "a session id holds a-z, A-Z, 0-9, '.', '_' and '-', does not begin with '.', and has at most 128 characters",
            limit: MAX_SESSION_ID_CHARS,
            first: starts_word,
            rest: is_word,
        },
        pattern: r"^[a-zA-Z0-9_-][a-zA-Z0-9._-]*$",
        also: anything_goes
    }
);

id!(
    /// A role, as its manifest names it: `librarian`, `secret-scan`.
    RoleName {
        Spelling {
            what: "a role name",
            rule: "a role name holds a-z, 0-9 and '-', begins with a letter, and has at most 64 characters",
            limit: MAX_ROLE_NAME_CHARS,
            first: |c| c.is_ascii_lowercase(),
            rest: |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-',
        },
        pattern: r"^[a-z][a-z0-9-]*$",
        also: not_reserved
    }
);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn a_session_id_cannot_leave_its_folder() {
        for good in ["20260102-030405-ab12cd", "a", "A.b_c-9", "_x", "-x"] {
            assert_eq!(SessionId::new(good).unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", ".hidden", "a/b", "../a", "a\\b", "a b", "a:b", "a\0", "é", "a\n"] {
            assert!(SessionId::new(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn each_id_is_bounded_at_its_limit() {
        assert!(SessionId::new("x".repeat(MAX_SESSION_ID_CHARS)).is_ok());
        assert!(SessionId::new("x".repeat(MAX_SESSION_ID_CHARS + 1)).is_err());
        assert!(RoleName::new("x".repeat(MAX_ROLE_NAME_CHARS)).is_ok());
        assert!(RoleName::new("x".repeat(MAX_ROLE_NAME_CHARS + 1)).is_err());
        assert!(TaskId::new("x".repeat(MAX_ID_CHARS)).is_ok());
        let error = TaskId::new("x".repeat(MAX_ID_CHARS + 1)).unwrap_err();
        assert!(error.to_string().contains("at most 256 characters, this one has 257"), "{error}");
        for help in [HandoffId::SPELLING.rule, SessionId::SPELLING.rule, RoleName::SPELLING.rule] {
            let limits = [MAX_ID_CHARS, MAX_SESSION_ID_CHARS, MAX_ROLE_NAME_CHARS];
            assert!(limits.iter().any(|limit| help.contains(&format!("{limit} characters"))), "{help}");
        }
    }

    #[test]
    fn a_role_cannot_pass_for_brain() {
        for reserved in RESERVED_ROLE_NAMES {
            assert!(matches!(RoleName::new(reserved), Err(IdError::Reserved { .. })));
        }
        for bad in ["Librarian", "9lives", "-x", "a_b", "a.b", ""] {
            assert!(RoleName::new(bad).is_err(), "{bad:?} was accepted");
        }
        assert!(RoleName::new("secret-scan").is_ok());
    }

    #[test]
    fn an_error_names_the_character_and_is_safe_to_print() {
        let error = RoleName::new("ab\u{1b}[2Jc").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("character 3"), "{text}");
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert_eq!(error.code().unwrap().to_string(), "packet.id.character");
        assert!(error.help().unwrap().to_string().contains("begins with a letter"));
    }
}
