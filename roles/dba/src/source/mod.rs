//! From a file to the SQL in it: the file itself, or what the calls of a migration in a programming language stand for.
//!
//! A call such as `op.drop_column("orders", "note")` is written as the statement that it sends, so that the rules know SQL alone.

mod code;
mod python;
mod ruby;

use crate::migration::Form;
use crate::sql::{self, Dialect, Script, Section};

/// A piece of SQL and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) sql: String,
    /// 1-based line of its beginning.
    pub(crate) line: u32,
    pub(crate) section: Section,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extract {
    pub(crate) fragments: Vec<Fragment>,
    pub(crate) no_transaction: bool,
    /// Whether there is a way back, where the form has one.
    pub(crate) down: Option<bool>,
    /// Alembic's own id of the migration, and those of the ones before.
    pub(crate) revision: Option<String>,
    pub(crate) before: Vec<String>,
    /// What was not read.
    pub(crate) partly: Vec<&'static str>,
}

/// The SQL of a file.
pub(crate) fn extract(form: Form, text: &str) -> Extract {
    match form {
        Form::Sql => Extract {
            fragments: vec![Fragment { sql: text.to_owned(), line: 1, section: Section::Up }],
            partly: if text.contains("{{") || text.contains("{%") {
                vec!["SQL with a template in it: the template was read as SQL"]
            } else {
                Vec::new()
            },
            ..Extract::default()
        },
        Form::Python => python::extract(text),
        Form::Ruby => ruby::extract(text),
        Form::Code => code::extract(text),
    }
}

/// The statements of an extract, in the order of the file.
pub(crate) fn script(extract: &Extract, dialect: Dialect) -> Script<'_> {
    let mut whole = Script { no_transaction: extract.no_transaction, ..Script::default() };
    for fragment in &extract.fragments {
        if whole.statements.len() >= crate::limits::MAX_STATEMENTS {
            whole.faults.push(sql::TOO_MANY);
            break;
        }
        let mut part = sql::read(&fragment.sql, dialect, fragment.line);
        if fragment.section == Section::Down {
            part.statements.iter_mut().for_each(|statement| statement.section = Section::Down);
        }
        whole.statements.append(&mut part.statements);
        whole.no_transaction |= part.no_transaction;
        whole.has_down |= part.has_down;
        whole.has_up |= part.has_up;
        whole.faults.append(&mut part.faults);
    }
    whole.faults.sort_unstable();
    whole.faults.dedup();
    whole
}

/// A name in quotes that cannot end early.
fn quoted(name: &str) -> String {
    let plain: String = name.chars().filter(|c| !matches!(c, '"' | '\\' | '`') && !c.is_control()).collect();
    format!("\"{plain}\"")
}
