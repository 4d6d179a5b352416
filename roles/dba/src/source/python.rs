//! Migrations of Alembic and Django.

use std::collections::BTreeMap;
use std::ops::Range;

use super::code::{Program, Syntax, TOO_MANY_CALLS};
use super::{Extract, Fragment, quoted};
use crate::limits::MAX_CALLS;
use crate::sql::Section;

/// The arguments of a call.
struct Arguments<'p, 't> {
    program: &'p Program<'t>,
    plain: Vec<Range<usize>>,
    named: BTreeMap<&'t str, Range<usize>>,
}

impl<'p, 't> Arguments<'p, 't> {
    fn new(program: &'p Program<'t>, range: Range<usize>) -> Self {
        let (mut plain, mut named) = (Vec::new(), BTreeMap::new());
        for part in program.split(range) {
            let code = program.code.get(part.clone()).unwrap_or_default();
            let equals = code.iter().position(|b| *b == b'=').filter(|at| code.get(at + 1) != Some(&b'='));
            let name = equals.map(|at| program.trimmed(part.start..part.start + at));
            match (equals, name.filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))) {
                (Some(at), Some(name)) => {
                    named.insert(name, part.start + at + 1..part.end);
                }
                _ => plain.push(part),
            }
        }
        Self { program, plain, named }
    }

    /// The string that an argument is or holds first.
    fn string(&self, range: &Range<usize>) -> Option<(usize, &'t str)> {
        self.program.strings_in(range.clone()).next()
    }

    fn plain(&self, at: usize) -> Option<&'t str> {
        Some(self.string(self.plain.get(at)?)?.1)
    }

    /// A string by its name, or by its place.
    fn text(&self, name: &str, at: usize) -> Option<&'t str> {
        match self.named.get(name) {
            Some(range) => Some(self.string(range)?.1),
            None => self.plain(at),
        }
    }

    fn raw(&self, name: &str) -> Option<&'t str> {
        Some(self.program.trimmed(self.named.get(name)?.clone()))
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.raw(name) == Some(value)
    }
}

/// `sa.Column("a", sa.Integer(), nullable=False)` as SQL.
fn column(program: &Program<'_>, part: Range<usize>) -> Option<String> {
    let open = part.start + program.code.get(part.clone())?.iter().position(|b| *b == b'(')?;
    let arguments = Arguments::new(program, program.group(open));
    let name = quoted(arguments.text("name", 0)?);
    let kind = arguments.plain.get(1).map(|range| program.trimmed(range.clone())).unwrap_or_default();
    let kind = if ["String", "Text", "Unicode", "VARCHAR", "CHAR"].iter().any(|word| kind.contains(word)) {
        "text"
    } else {
        "other"
    };
    let mut sql = format!("{name} {kind}");
    if arguments.is("primary_key", "True") {
        sql.push_str(" PRIMARY KEY");
    }
    if arguments.is("nullable", "False") {
        sql.push_str(" NOT NULL");
    }
    if program.trimmed(part).contains("Identity(")
        || program.trimmed(open..program.group(open).end).contains("Computed(")
    {
        sql.push_str(" GENERATED ALWAYS AS IDENTITY");
    }
    if let Some(default) = arguments.raw("server_default") {
        let volatile = ["gen_random_uuid", "uuid_generate", "random()", "clock_timestamp"]
            .iter()
            .find(|name| default.contains(**name));
        sql.push_str(if volatile.is_some() { " DEFAULT gen_random_uuid()" } else { " DEFAULT 0" });
    }
    Some(sql)
}

/// The SQL that a call of Alembic's `op` stands for. `table` is that of the batch, when it is one.
fn alembic(call: &str, arguments: &Arguments<'_, '_>, batch: Option<&str>) -> Option<Vec<String>> {
    let program = arguments.program;
    // In a batch the table is not an argument.
    let shift = usize::from(batch.is_none());
    let table = || Some(quoted(batch.or_else(|| arguments.text("table_name", 0))?));
    Some(vec![match call {
        "drop_table" => format!("DROP TABLE {}", quoted(arguments.text("table_name", 0)?)),
        "rename_table" => {
            format!(
                "ALTER TABLE {} RENAME TO {}",
                quoted(arguments.text("old_table_name", 0)?),
                quoted(arguments.text("new_table_name", 1)?)
            )
        }
        "drop_column" => {
            format!("ALTER TABLE {} DROP COLUMN {}", table()?, quoted(arguments.text("column_name", shift)?))
        }
        "add_column" => {
            let part = arguments.plain.get(shift).or_else(|| arguments.named.get("column"))?;
            format!("ALTER TABLE {} ADD COLUMN {}", table()?, column(program, part.clone())?)
        }
        "create_table" => {
            let columns: Vec<String> = arguments
                .plain
                .iter()
                .skip(1)
                .filter_map(|part| {
                    let raw = program.trimmed(part.clone());
                    if raw.contains("PrimaryKeyConstraint(") {
                        Some("PRIMARY KEY (id)".to_owned())
                    } else if raw.contains("Column(") {
                        column(program, part.clone())
                    } else {
                        None
                    }
                })
                .collect();
            format!("CREATE TABLE {} ({})", quoted(arguments.text("table_name", 0)?), columns.join(", "))
        }
        "create_index" => {
            let concurrently = if arguments.is("postgresql_concurrently", "True") { "CONCURRENTLY " } else { "" };
            let table = batch.or_else(|| arguments.text("table_name", 1))?;
            format!(
                "CREATE INDEX {concurrently}{} ON {} (a)",
                quoted(arguments.text("index_name", 0).unwrap_or("index")),
                quoted(table)
            )
        }
        "drop_index" => {
            let concurrently = if arguments.is("postgresql_concurrently", "True") { "CONCURRENTLY " } else { "" };
            format!("DROP INDEX {concurrently}{}", quoted(arguments.text("index_name", 0).unwrap_or("index")))
        }
        "create_foreign_key" => {
            let valid = if arguments.is("postgresql_not_valid", "True") { " NOT VALID" } else { "" };
            let table = batch.or_else(|| arguments.text("source_table", 1))?;
            format!("ALTER TABLE {} ADD CONSTRAINT a FOREIGN KEY (a) REFERENCES b (c){valid}", quoted(table))
        }
        "create_check_constraint" => {
            let valid = if arguments.is("postgresql_not_valid", "True") { " NOT VALID" } else { "" };
            format!(
                "ALTER TABLE {} ADD CONSTRAINT a CHECK (b){valid}",
                quoted(batch.or_else(|| arguments.text("table_name", 1))?)
            )
        }
        "create_unique_constraint" => {
            format!(
                "ALTER TABLE {} ADD CONSTRAINT a UNIQUE (b)",
                quoted(batch.or_else(|| arguments.text("table_name", 1))?)
            )
        }
        "alter_column" => {
            let (table, column) = (table()?, quoted(arguments.text("column_name", shift)?));
            let mut statements = Vec::new();
            if let Some(new) = arguments.text("new_column_name", usize::MAX) {
                statements.push(format!("ALTER TABLE {table} RENAME COLUMN {column} TO {}", quoted(new)));
            }
            if arguments.named.contains_key("type_") {
                statements.push(format!("ALTER TABLE {table} ALTER COLUMN {column} TYPE other"));
            }
            if arguments.is("nullable", "False") {
                statements.push(format!("ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL"));
            }
            return Some(statements);
        }
        _ => return None,
    }])
}

/// The SQL that an operation of Django stands for. The table is called after its model: its real name has that of the app before it.
fn django(call: &str, arguments: &Arguments<'_, '_>) -> Option<Vec<String>> {
    let model = |name: &str| Some(quoted(&arguments.text(name, usize::MAX)?.to_lowercase()));
    let text = |name: &str| Some(quoted(arguments.text(name, usize::MAX)?));
    Some(vec![match call {
        "RemoveField" => format!("ALTER TABLE {} DROP COLUMN {}", model("model_name")?, text("name")?),
        "DeleteModel" => format!("DROP TABLE {}", model("name")?),
        "RenameField" => {
            format!("ALTER TABLE {} RENAME COLUMN {} TO {}", model("model_name")?, text("old_name")?, text("new_name")?)
        }
        "RenameModel" => format!("ALTER TABLE {} RENAME TO {}", text("old_name")?, text("new_name")?),
        "CreateModel" => format!("CREATE TABLE {} (id int PRIMARY KEY)", model("name")?),
        "AddIndex" => format!("CREATE INDEX ON {} (a)", model("model_name")?),
        "AddIndexConcurrently" => format!("CREATE INDEX CONCURRENTLY ON {} (a)", model("model_name")?),
        _ => return None,
    }])
}

/// Where the body of a top-level function is.
fn body(program: &Program<'_>, name: &str) -> Option<Range<usize>> {
    let mark = format!("def {name}(");
    let mut at = 0;
    let mut start = None;
    for line in program.text.split_inclusive('\n') {
        let code = program.code.get(at..at + line.len()).unwrap_or_default();
        match start {
            None if line.starts_with(&mark) => start = Some(at + line.len()),
            // The next line that is not indented ends it.
            Some(start) if code.first().is_some_and(|b| !b.is_ascii_whitespace() && *b != b')') => {
                return Some(start..at);
            }
            _ => {}
        }
        at += line.len();
    }
    start.map(|start| start..at)
}

/// The strings of `name = …` at the top level.
fn assigned(program: &Program<'_>, name: &str) -> Vec<String> {
    let mut at = 0;
    for line in program.text.split_inclusive('\n') {
        if line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', ':'])) {
            return program
                .strings_in(at..at + line.len())
                .take(16)
                .map(|(_, text)| text.chars().take(80).collect())
                .collect();
        }
        at += line.len();
    }
    Vec::new()
}

pub(super) fn extract(text: &str) -> Extract {
    let program = Program::new(text, Syntax::Python);
    let code = String::from_utf8_lossy(&program.code);
    let mut found = Extract {
        no_transaction: code.contains("atomic = False") || code.contains("autocommit_block()"),
        revision: assigned(&program, "revision").into_iter().next(),
        before: assigned(&program, "down_revision"),
        ..Extract::default()
    };
    let is_alembic = code.contains("import op") || found.revision.is_some();
    let down = body(&program, "downgrade");
    if is_alembic {
        found.down = Some(down.clone().is_some_and(|body| {
            let lines = program.text.get(body.clone()).unwrap_or_default().lines();
            let code = String::from_utf8_lossy(program.code.get(body).unwrap_or_default()).into_owned();
            code.lines().zip(lines).any(|(line, _)| {
                !matches!(line.trim(), "" | "pass" | "..." | "\"\"\"\"\"\"") && !line.trim().starts_with(['"', '\''])
            })
        }));
    }
    let mut batch: Option<(&str, &str)> = None;
    let (mut unread, mut calls) = (false, 0usize);
    for (name, at, open) in program.calls() {
        let section = if down.as_ref().is_some_and(|down| down.contains(&at)) { Section::Down } else { Section::Up };
        let line = program.line(at);
        let (on, call) = name.rsplit_once('.').unwrap_or(("", name));
        let of_batch = batch.is_some_and(|(_, alias)| on == alias);
        let is_read = matches!(call, "execute" | "RunSQL" | "batch_alter_table")
            || on == "op"
            || of_batch
            || !is_alembic && matches!(on, "migrations" | "operations" | "");
        if !is_read {
            continue;
        }
        calls += 1;
        if calls > MAX_CALLS {
            found.partly.push(TOO_MANY_CALLS);
            break;
        }
        let arguments = Arguments::new(&program, program.group(open));
        if matches!(call, "execute" | "RunSQL") {
            let sql = arguments.named.get("sql").or(arguments.named.get("sqltext")).or(arguments.plain.first());
            // Strings one behind the other are one.
            let strings: Vec<(usize, &str)> =
                sql.map(|range| program.strings_in(range.clone()).collect()).unwrap_or_default();
            match strings.first() {
                Some((start, _)) => {
                    let sql: Vec<&str> = strings.iter().map(|(_, text)| *text).collect();
                    let separator = if sql.len() > 1
                        && program.trimmed(arguments.plain.first().cloned().unwrap_or(0..0)).starts_with('[')
                    {
                        ";\n"
                    } else {
                        "\n"
                    };
                    found.fragments.push(Fragment { sql: sql.join(separator), line: program.line(*start), section });
                }
                None => unread = true,
            }
            continue;
        }
        if call == "batch_alter_table" {
            let behind = program.text.get(program.group(open).end..).unwrap_or_default();
            let alias =
                behind.trim_start_matches(')').trim_start().strip_prefix("as ").and_then(|rest| rest.split(':').next());
            batch = arguments.text("table_name", 0).zip(alias.map(str::trim));
            continue;
        }
        let statements = match (on, batch) {
            ("op", _) => alembic(call, &arguments, None),
            (on, Some((table, alias))) if on == alias => alembic(call, &arguments, Some(table)),
            ("migrations" | "operations" | "", _) if !is_alembic => django(call, &arguments),
            _ => continue,
        };
        match statements {
            Some(statements) => {
                found.fragments.extend(statements.into_iter().map(|sql| Fragment { sql, line, section }));
            }
            None => unread |= on == "op" || on == "migrations" && !matches!(call, "Migration" | "swappable_dependency"),
        }
    }
    if unread {
        found.partly.push("a migration with calls whose effect on the database was not read");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        extract(text)
            .fragments
            .iter()
            .map(|f| format!("{}{} {}", f.line, if f.section == Section::Down { "-" } else { "" }, f.sql))
            .collect()
    }

    #[test]
    fn calls_of_alembic_are_statements() {
        let text = "from alembic import op\nimport sqlalchemy as sa\nrevision = 'b2'\ndown_revision: str = 'a1'\n\ndef upgrade():\n    op.drop_column('orders', 'note')  # op.drop_table('x')\n    op.add_column('orders', sa.Column('n', sa.Integer(),\n        nullable=False))\n    op.execute(\"\"\"\n        DELETE FROM orders\n    \"\"\")\n    with op.batch_alter_table('users') as batch:\n        batch.alter_column('a', new_column_name='b')\n\ndef downgrade():\n    op.drop_table('t')\n";
        assert_eq!(
            told(text),
            [
                "7 ALTER TABLE \"orders\" DROP COLUMN \"note\"",
                "8 ALTER TABLE \"orders\" ADD COLUMN \"n\" other NOT NULL",
                "10 \n        DELETE FROM orders\n    ",
                "14 ALTER TABLE \"users\" RENAME COLUMN \"a\" TO \"b\"",
                "17- DROP TABLE \"t\"",
            ]
        );
        let found = extract(text);
        assert_eq!(
            (found.revision.as_deref(), found.before.as_slice(), found.down),
            (Some("b2"), ["a1".to_owned()].as_slice(), Some(true))
        );
        assert_eq!(
            extract("from alembic import op\ndef upgrade():\n    pass\ndef downgrade():\n    pass\n").down,
            Some(false)
        );
    }

    #[test]
    fn operations_of_django_are_statements() {
        let text = "class Migration(migrations.Migration):\n    atomic = False\n    operations = [\n        migrations.RemoveField(model_name='Order', name='note'),\n        migrations.RunSQL('DROP TABLE a', reverse_sql=''),\n        migrations.RunPython(f),\n    ]\n";
        assert_eq!(told(text), ["4 ALTER TABLE \"order\" DROP COLUMN \"note\"", "5 DROP TABLE a"]);
        assert!(extract(text).no_transaction);
        assert_eq!(extract(text).partly.len(), 1);
    }
}
