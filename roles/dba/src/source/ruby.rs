//! Migrations of Rails.

use std::ops::Range;

use super::code::{Program, Syntax, TOO_MANY_CALLS};
use super::{Extract, Fragment, quoted};
use crate::limits::{MAX_CALL_BYTES, MAX_CALLS};
use crate::sql::Section;

/// The arguments of a call without parentheses, or with them.
struct Arguments<'t> {
    plain: Vec<String>,
    named: Vec<(String, &'t str)>,
}

impl<'t> Arguments<'t> {
    fn new(program: &Program<'t>, range: Range<usize>) -> Self {
        let (mut plain, mut named) = (Vec::new(), Vec::new());
        for part in program.split(range) {
            let raw = program.trimmed(part.clone());
            let word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
            if let Some((key, value)) = raw.split_once(": ").filter(|(key, _)| word(key)) {
                named.push((key.to_owned(), value.trim()));
            } else if let Some((key, value)) = raw.split_once("=>").filter(|(key, _)| key.starts_with(':')) {
                named.push((key.trim().trim_start_matches(':').to_owned(), value.trim()));
            } else {
                let name = raw.trim_start_matches(':').trim_matches(['"', '\'']);
                plain.push(name.chars().take(crate::limits::MAX_NAME_CHARS).collect());
            }
        }
        Self { plain, named }
    }

    fn get(&self, at: usize) -> Option<String> {
        self.plain.get(at).map(|name| quoted(name))
    }

    fn named(&self, name: &str) -> Option<&'t str> {
        self.named.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.named(name) == Some(value)
    }

    /// What a column has besides its name.
    fn column(&self) -> String {
        let mut sql = String::new();
        if self.is("null", "false") {
            sql.push_str(" NOT NULL");
        }
        if let Some(default) = self.named("default").filter(|default| *default != "nil") {
            let volatile = default.contains("gen_random_uuid") || default.contains("uuid_generate");
            sql.push_str(if volatile { " DEFAULT gen_random_uuid()" } else { " DEFAULT 0" });
        }
        sql
    }
}

fn kind(name: &str) -> &'static str {
    if matches!(name, "string" | "text") { "text" } else { "other" }
}

/// The SQL that a call stands for; `None` where it is not read.
fn statements(call: &str, arguments: &Arguments<'_>) -> Option<Vec<String>> {
    let concurrently = if arguments.is("algorithm", ":concurrently") { "CONCURRENTLY " } else { "" };
    let valid = if arguments.is("validate", "false") { " NOT VALID" } else { "" };
    let table = arguments.get(0)?;
    Some(vec![match call {
        "drop_table" => format!("DROP TABLE {table}"),
        "rename_table" => format!("ALTER TABLE {table} RENAME TO {}", arguments.get(1)?),
        "remove_column" | "remove_columns" => {
            let last = if call == "remove_column" { 2 } else { arguments.plain.len() };
            let dropped: Vec<String> =
                (1..last).filter_map(|at| Some(format!("DROP COLUMN {}", arguments.get(at)?))).collect();
            format!("ALTER TABLE {table} {}", dropped.join(", "))
        }
        "remove_timestamps" => format!("ALTER TABLE {table} DROP COLUMN \"created_at\", DROP COLUMN \"updated_at\""),
        "rename_column" => format!("ALTER TABLE {table} RENAME COLUMN {} TO {}", arguments.get(1)?, arguments.get(2)?),
        "add_column" => {
            let kind = kind(arguments.plain.get(2).map(String::as_str).unwrap_or_default());
            format!("ALTER TABLE {table} ADD COLUMN {} {kind}{}", arguments.get(1)?, arguments.column())
        }
        "change_column" => format!("ALTER TABLE {table} ALTER COLUMN {} TYPE other", arguments.get(1)?),
        "change_column_null" if arguments.plain.get(2).is_some_and(|null| null == "false") => {
            format!("ALTER TABLE {table} ALTER COLUMN {} SET NOT NULL", arguments.get(1)?)
        }
        "change_column_null"
        | "change_column_default"
        | "change_column_comment"
        | "remove_foreign_key"
        | "validate_foreign_key"
        | "validate_check_constraint" => return Some(Vec::new()),
        "add_index" => format!("CREATE INDEX {concurrently}ON {table} (a)"),
        "remove_index" => format!("DROP INDEX {concurrently}a"),
        "add_foreign_key" => format!("ALTER TABLE {table} ADD CONSTRAINT a FOREIGN KEY (b) REFERENCES c (d){valid}"),
        "add_check_constraint" => format!("ALTER TABLE {table} ADD CONSTRAINT a CHECK (b){valid}"),
        "add_reference" | "add_belongs_to" => {
            let column = quoted(&format!("{}_id", arguments.plain.get(1)?));
            let mut all = vec![format!("ALTER TABLE {table} ADD COLUMN {column} other{}", arguments.column())];
            let index = arguments.named("index").unwrap_or_default();
            if index != "false" {
                let concurrently = if index.contains(":concurrently") { "CONCURRENTLY " } else { "" };
                all.push(format!("CREATE INDEX {concurrently}ON {table} (a)"));
            }
            if arguments.named("foreign_key").is_some_and(|value| value != "false") {
                all.push(format!("ALTER TABLE {table} ADD CONSTRAINT a FOREIGN KEY (b) REFERENCES c (d)"));
            }
            return Some(all);
        }
        "create_table" | "create_join_table" => {
            let key = if arguments.is("id", "false") && !arguments.named.iter().any(|(key, _)| key == "primary_key")
                || call == "create_join_table"
            {
                "a int"
            } else {
                "id int PRIMARY KEY"
            };
            format!("CREATE TABLE {table} ({key})")
        }
        _ => return None,
    }])
}

/// Where a call that begins at `at` ends: its line, and the ones behind while it is open.
fn end_of(program: &Program<'_>, at: usize) -> usize {
    let mut depth = 0usize;
    let mut last = b' ';
    for (offset, &b) in program.code.get(at..).unwrap_or_default().iter().take(MAX_CALL_BYTES).enumerate() {
        match b {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'\n' if depth == 0 && last != b',' => return at + offset,
            _ => {}
        }
        if !b.is_ascii_whitespace() {
            last = b;
        }
    }
    program.text.len().min(at + MAX_CALL_BYTES)
}

pub(super) fn extract(text: &str) -> Extract {
    let program = Program::new(text, Syntax::Ruby);
    let mut found = Extract::default();
    let (mut section, mut at, mut until) = (Section::Up, 0usize, 0usize);
    let (mut ups, mut downs, mut unread) = (false, false, false);
    let mut calls = 0usize;
    // The table of a `create_table` or `change_table` block, and the name of its variable.
    let mut block: Option<(String, String)> = None;
    for raw in text.split_inclusive('\n') {
        let start = at;
        at += raw.len();
        if start < until {
            continue;
        }
        let code = String::from_utf8_lossy(program.code.get(start..at).unwrap_or_default()).into_owned();
        let indent = code.len() - code.trim_start().len();
        let call_at = start + indent;
        let line = program.line(call_at);
        let code = code.trim();
        let word: String =
            code.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '!')).take(80).collect();
        match code {
            "def up" | "def self.up" => (section, ups) = (Section::Up, true),
            "def down" | "def self.down" => (section, downs) = (Section::Down, true),
            "disable_ddl_transaction!" => found.no_transaction = true,
            // `add_column` inside of these is run as it stands.
            _ if code.starts_with("safety_assured {") => {}
            _ => {}
        }
        // A heredoc is no code, and its lines are blank there.
        let (offset, word) = match code.strip_prefix("safety_assured { ") {
            Some(rest) => {
                ("safety_assured { ".len(), rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
            }
            None => (0, word),
        };
        let call_at = call_at + offset;
        if word.is_empty() || word.len() > 60 {
            continue;
        }
        calls += 1;
        if calls > MAX_CALLS {
            found.partly.push(TOO_MANY_CALLS);
            break;
        }
        let end = end_of(&program, call_at);
        if word == "execute" || word.ends_with(".execute") {
            // The strings of the call; a heredoc's lie behind its line.
            let first = program.strings_in(call_at..(end + 1).min(text.len())).next();
            match first {
                Some((start, sql)) => {
                    found.fragments.push(Fragment { sql: sql.to_owned(), line: program.line(start), section });
                }
                None => unread = true,
            }
            until = end;
            continue;
        }
        let from = call_at + word.len();
        let opens = program.code.get(from) == Some(&b'(');
        let range = if opens { program.group(from) } else { from..end };
        let range = range.start..before_block(&program, range.clone());
        let arguments = Arguments::new(&program, range);
        if let Some((table, variable)) = block.clone()
            && let Some(call) = word.strip_prefix(&format!("{variable}."))
        {
            found.fragments.extend(in_block(call, &table, &arguments).into_iter().map(|sql| Fragment {
                sql,
                line,
                section,
            }));
            continue;
        }
        let variable =
            code.split_once("do |").and_then(|(_, rest)| rest.split_once('|')).map(|(name, _)| name.trim().to_owned());
        if matches!(word.as_str(), "create_table" | "change_table") {
            block = arguments.plain.first().cloned().zip(variable);
        }
        if word == "change_table" {
            continue;
        }
        match statements(&word, &arguments) {
            Some(all) => {
                until = end;
                found.fragments.extend(all.into_iter().map(|sql| Fragment { sql, line, section }));
            }
            None => {
                unread |= ["add_", "remove_", "change_", "rename_", "drop_", "create_"]
                    .iter()
                    .any(|verb| word.starts_with(verb))
            }
        }
    }
    if ups {
        found.down = Some(downs);
    }
    if unread {
        found.partly.push("a migration with calls whose effect on the database was not read");
    }
    found
}

/// Arguments end before ` do |t|`.
fn before_block(program: &Program<'_>, range: Range<usize>) -> usize {
    let code = program.code.get(range.clone()).unwrap_or_default();
    code.windows(4).position(|window| window == b" do " || window == b" do\n").map_or(range.end, |at| range.start + at)
}

/// The SQL of a call on the variable of a block.
fn in_block(call: &str, table: &str, arguments: &Arguments<'_>) -> Vec<String> {
    let table = quoted(table);
    match call {
        "remove" => (0..arguments.plain.len().min(50))
            .filter_map(|at| Some(format!("ALTER TABLE {table} DROP COLUMN {}", arguments.get(at)?)))
            .collect(),
        "rename" => arguments
            .get(0)
            .zip(arguments.get(1))
            .map(|(old, new)| format!("ALTER TABLE {table} RENAME COLUMN {old} TO {new}"))
            .into_iter()
            .collect(),
        "index" => vec![format!("CREATE INDEX ON {table} (a)")],
        "timestamps" | "primary_key" | "foreign_key" | "change" | "change_default" | "check_constraint" => Vec::new(),
        _ => arguments
            .get(0)
            .map(|name| format!("ALTER TABLE {table} ADD COLUMN {name} {}{}", kind(call), arguments.column()))
            .into_iter()
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_rails_are_statements() {
        let text = "class A < ActiveRecord::Migration[7.0]\n  disable_ddl_transaction!\n\n  def up\n    add_index :orders, :note, algorithm: :concurrently\n    add_column :orders, :n, :integer,\n               null: false\n    # drop_table :x\n    remove_column :users, :name, :string\n    execute <<~SQL\n      DELETE FROM users;\n    SQL\n    create_table :t do |t|\n      t.string :password, null: false\n    end\n  end\n\n  def down\n    drop_table(:t)\n  end\nend\n";
        let found = extract(text);
        let told: Vec<String> = found
            .fragments
            .iter()
            .map(|f| format!("{}{} {}", f.line, if f.section == Section::Down { "-" } else { "" }, f.sql.trim()))
            .collect();
        assert_eq!(
            told,
            [
                "5 CREATE INDEX CONCURRENTLY ON \"orders\" (a)",
                "6 ALTER TABLE \"orders\" ADD COLUMN \"n\" other NOT NULL",
                "9 ALTER TABLE \"users\" DROP COLUMN \"name\"",
                "11 DELETE FROM users;",
                "13 CREATE TABLE \"t\" (id int PRIMARY KEY)",
                "14 ALTER TABLE \"t\" ADD COLUMN \"password\" text NOT NULL",
                "19- DROP TABLE \"t\"",
            ]
        );
        assert!(found.no_transaction);
        assert_eq!((found.down, found.partly.len()), (Some(true), 0));
    }
}
