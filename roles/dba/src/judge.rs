//! The statements of one file, judged.

use std::collections::BTreeSet;

use brain_role::Severity::{self, High, Low, Medium};
use file_findings::{Evidence, Issue, lower};

use crate::acts::{Act, Column, Constraint, Default, acts};
use crate::dialect::Chosen;
use crate::migration::{Form, Tool};
use crate::sql::{Dialect, Name, Script, Section};
use crate::usage::{Usage, Use};

/// What is known beside the statements.
pub(crate) struct Around<'a> {
    pub(crate) tool: Tool,
    pub(crate) form: Form,
    pub(crate) chosen: &'a Chosen,
    pub(crate) usage: &'a Usage,
    /// Every migration of this file's folder that puts a constraint in force, by table: what makes SET NOT NULL cheap.
    pub(crate) validated: &'a BTreeSet<String>,
}

/// What one file gave.
#[derive(Debug, std::default::Default)]
pub(crate) struct Judged {
    pub(crate) issues: Vec<Issue>,
    /// The first line that locks a table that exists, when the file bounds no wait for a lock.
    pub(crate) waits: Option<u32>,
}

struct Judge<'a> {
    around: &'a Around<'a>,
    /// Tables that the file makes: nobody uses them yet.
    made: BTreeSet<String>,
    issues: Vec<Issue>,
}

impl Judge<'_> {
    fn dialect(&self) -> Dialect {
        self.around.chosen.dialect
    }

    fn is_postgres(&self) -> bool {
        self.dialect() == Dialect::Postgres
    }

    fn exists(&self, table: &Name) -> bool {
        !self.made.contains(&table.key())
    }

    fn push(
        &mut self,
        line: u32,
        rule: &'static str,
        severity: Severity,
        text: impl Into<String>,
        fix: impl Into<String>,
    ) {
        self.issues.push(Issue {
            rule,
            severity,
            line,
            text: text.into(),
            evidence: Evidence::Line,
            fix: fix.into().into(),
        });
    }

    /// As [`Self::push`], for what holds for the assumed dialect: one step less severe where it is only assumed.
    fn push_by_dialect(
        &mut self,
        line: u32,
        rule: &'static str,
        severity: Severity,
        text: &str,
        fix: impl Into<String>,
    ) {
        let assumed = self.around.chosen.assumed;
        let (severity, text) = if assumed {
            (lower(severity), format!("{text} (if the database is PostgreSQL, which is assumed)"))
        } else {
            (severity, text.to_owned())
        };
        self.push(line, rule, severity, text, fix);
    }
}

/// A name as a sentence shows it.
fn shown(name: &Name) -> String {
    // A random run of characters may be a secret in the wrong place.
    secret_scan::mask_runs(&format!("`{}`", name.0.escape_debug()))
}

/// Judges the way forward. What a way back drops is what it is there for.
pub(crate) fn judge(script: &Script<'_>, around: &Around<'_>) -> Judged {
    let mut judge = Judge { around, made: BTreeSet::new(), issues: Vec::new() };
    let up: Vec<(u32, Act)> =
        script.statements.iter().filter(|statement| statement.section == Section::Up).flat_map(acts).collect();
    let statements = script.statements.iter().filter(|statement| statement.section == Section::Up).count();
    let keyed: BTreeSet<String> = up
        .iter()
        .filter_map(|(_, act)| match act {
            Act::AddConstraint { table, kind: Constraint::PrimaryKey, .. } => Some(table.key()),
            _ => None,
        })
        .collect();
    let bounded = up.iter().any(|(_, act)| *act == Act::LockTimeout);
    let mut waits = None;
    // Whether a transaction is open because the file says so.
    let mut begun = false;
    for (line, act) in &up {
        match act {
            Act::Begin => begun = true,
            Act::Commit => begun = false,
            _ => {}
        }
        let locks = act.changes().is_some_and(|table| judge.exists(table));
        if locks && waits.is_none() && !bounded && judge.is_postgres() {
            waits = Some(*line);
        }
        judge.table(*line, act, &keyed);
        judge.change(*line, act);
        judge.rows(*line, act);
        judge.rights(*line, act);
        judge.concurrent(*line, act, begun, script.no_transaction, statements);
    }
    judge.mixture(&up);
    Judged { issues: judge.issues, waits }
}

impl Judge<'_> {
    fn table(&mut self, line: u32, act: &Act, keyed: &BTreeSet<String>) {
        match act {
            Act::CreateTable { table, temporary, key, derived, columns } => {
                self.made.insert(table.key());
                for column in columns {
                    self.password(column);
                }
                if *temporary || *key || *derived || keyed.contains(&table.key()) || columns.is_empty() && self.around.form != Form::Ruby {
                    return;
                }
                let severity = if self.dialect() == Dialect::Sqlite { Low } else { Medium };
                self.push(
                    line,
                    "sql/no-primary-key",
                    severity,
                    format!("table {} has no primary key: its rows cannot be told apart, and replication and upserts need one", shown(table)),
                    "Add one: `id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY`, or PRIMARY KEY over the columns that make a row unique.",
                );
            }
            Act::DropTable { tables, cascade } => {
                for table in tables.iter().filter(|table| self.exists(table)).cloned().collect::<Vec<_>>() {
                    let used = self.around.usage.table(&table);
                    let also = if *cascade { ", and by CASCADE whatever refers to it" } else { "" };
                    self.gone(line, "sql/drop-table", format!("drops table {} with all of its rows{also}", shown(&table)), used, &table);
                }
            }
            Act::DropColumn { table, column } if self.exists(table) => {
                let used = self.around.usage.column(table, column);
                self.gone(line, "sql/drop-column", format!("drops column {} of {} with its values", shown(column), shown(table)), used, column);
            }
            Act::DropDatabase { what, name } => self.push(
                line,
                "sql/drop-database",
                High,
                format!("drops the {what} {} with everything in it", shown(name)),
                "Do not do this in a migration: it runs wherever migrations run. Drop it by hand, after a backup that was restored once.",
            ),
            Act::RenameTable { old, new } => {
                if self.exists(old) {
                    let used = self.around.usage.table(old);
                    let fix = format!(
                        "Rename in steps: create a view {} over the new table so that both names work, move the code, then drop the view.",
                        shown(old)
                    );
                    self.renamed(line, format!("renames table {} to {}", shown(old), shown(new)), used, fix);
                }
                self.made.insert(new.key());
            }
            Act::RenameColumn { table, old, new } if self.exists(table) => {
                let used = self.around.usage.column(table, old);
                let fix = format!(
                    "Rename in steps: add {} and write both, copy the values in batches, move the readers, then drop {}.",
                    shown(new),
                    shown(old)
                );
                self.renamed(line, format!("renames column {} of {} to {}", shown(old), shown(table), shown(new)), used, fix);
            }
            _ => {}
        }
    }

    /// What is dropped: grave while code still says its name.
    fn gone(&mut self, line: u32, rule: &'static str, text: String, used: Option<Use>, name: &Name) {
        let fix = format!(
            "Release code that no longer uses {} first, and drop it in a later migration; keep a backup, since the way back brings no rows.",
            shown(name)
        );
        match used {
            Some(used) => {
                self.push(line, rule, High, format!("{text}, and code still says its name: {}", used.place()), fix)
            }
            None => self.push(line, rule, Medium, text, fix),
        }
    }

    fn renamed(&mut self, line: u32, text: String, used: Option<Use>, fix: String) {
        match used {
            Some(used) => self.push(
                line,
                "sql/rename",
                High,
                format!("{text}, and code still says the old name: {}", used.place()),
                fix,
            ),
            None => self.push(
                line,
                "sql/rename",
                Low,
                format!("{text}: the release that still runs while this one is rolled out fails"),
                fix,
            ),
        }
    }

    fn password(&mut self, column: &Column) {
        let name = column.name.key().replace('_', "");
        let plain = [
            "password",
            "passwd",
            "pwd",
            "userpassword",
            "plainpassword",
            "passwordplain",
            "plaintextpassword",
            "passphrase",
        ];
        if column.text && plain.contains(&name.as_str()) {
            self.push(
                column.line,
                "sql/plaintext-password",
                Medium,
                format!("column {} is text and its name does not say that it is hashed", shown(&column.name)),
                "Store a hash made with argon2id, scrypt or bcrypt, and call the column password_hash.",
            );
        }
    }

    /// Changes of a table that is in use.
    fn change(&mut self, line: u32, act: &Act) {
        match act {
            Act::AddColumn { table, column } => {
                self.password(column);
                if self.exists(table) {
                    self.add_column(line, table, column);
                }
            }
            Act::ColumnType { table, column, to_text } if self.exists(table) && self.dialect() != Dialect::Sqlite => {
                let severity = if *to_text { Low } else { Medium };
                self.push_by_dialect(
                    line,
                    "sql/column-type",
                    severity,
                    &format!("changes the type of {} in {}, which rewrites the whole table under a lock unless the old type is stored the same way", shown(column), shown(table)),
                    "Add a column of the new type, fill it in batches, switch the code over, then drop the old one. (Only a wider varchar, or varchar to text, is free.)",
                );
            }
            Act::Modify { table, column } if self.exists(table) => self.push(
                line,
                "sql/column-type",
                Medium,
                format!("changes column {} of {}, for which MySQL copies the table and blocks writes if the type changes", shown(column), shown(table)),
                "Add `, ALGORITHM=INPLACE, LOCK=NONE`, so that it fails rather than blocks; else use gh-ost or pt-online-schema-change.",
            ),
            Act::SetNotNull { table, column } if self.exists(table) && self.is_postgres() && !self.around.validated.contains(&table.key()) => {
                self.push_by_dialect(
                    line,
                    "sql/set-not-null",
                    Medium,
                    &format!("reads all of {} under a lock that blocks reads and writes, to see that {} is never null", shown(table), shown(column)),
                    format!(
                        "First ADD CONSTRAINT … CHECK ({} IS NOT NULL) NOT VALID, VALIDATE it in a migration of its own, then SET NOT NULL, which needs no scan, and drop the check.",
                        shown(column)
                    ),
                );
            }
            Act::AddConstraint { table, kind, not_valid, by_index } if self.exists(table) && self.is_postgres() => {
                self.constraint(line, table, *kind, *not_valid, *by_index);
            }
            Act::CreateIndex { table, concurrently: false } if self.exists(table) && self.is_postgres() => {
                let how = match self.around.form {
                    Form::Sql | Form::Code => "Write CREATE INDEX CONCURRENTLY",
                    Form::Python => "Use postgresql_concurrently=True (Alembic) or AddIndexConcurrently (Django)",
                    Form::Ruby => "Write `algorithm: :concurrently`",
                };
                let outside = self.around.tool.wraps().map_or_else(
                    || "in a file of its own, since it cannot run in a transaction".to_owned(),
                    |how| format!("outside of a transaction: {how}"),
                );
                self.push_by_dialect(
                    line,
                    "sql/index-not-concurrent",
                    Medium,
                    &format!("builds an index while nobody can write to {}", shown(table)),
                    format!("{how}, {outside}."),
                );
            }
            Act::DropIndex { concurrently: false } if self.is_postgres() => self.push_by_dialect(
                line,
                "sql/index-not-concurrent",
                Low,
                "drops an index under a lock that blocks reads and writes of its table",
                "Write DROP INDEX CONCURRENTLY, outside of a transaction.",
            ),
            Act::Rebuild { what, concurrently: false } => self.push(
                line,
                "sql/rebuild",
                Medium,
                format!("{what} writes whole tables anew while nobody can use them"),
                "Leave it out of migrations. REINDEX has CONCURRENTLY; pg_repack does the rest without the lock.",
            ),
            Act::Lock { exclusive } => self.push(
                line,
                "sql/lock-table",
                if *exclusive { High } else { Medium },
                "locks a table by hand until the transaction ends",
                "Lock rows (SELECT … FOR UPDATE) or take an advisory lock; if it must be the table, set lock_timeout first and take the weakest mode.",
            ),
            _ => {}
        }
    }

    fn add_column(&mut self, line: u32, table: &Name, column: &Column) {
        let (name, of) = (shown(&column.name), shown(table));
        if column.not_null && column.default == Default::None && !column.primary {
            let (severity, text) = match self.dialect() {
                Dialect::MySql => (
                    Medium,
                    format!(
                        "adds column {name} to {of} as NOT NULL without a default: existing rows silently get '' or 0"
                    ),
                ),
                _ => (
                    High,
                    format!(
                        "adds column {name} to {of} as NOT NULL without a default, which fails as soon as the table has a row"
                    ),
                ),
            };
            let fix =
                "Give a DEFAULT, or add it as nullable, fill it in batches, and make it NOT NULL in a later migration.";
            self.push(line, "sql/add-not-null", severity, text, fix);
        }
        if column.default == Default::PerRow && self.is_postgres() {
            self.push_by_dialect(
                line,
                "sql/volatile-default",
                Medium,
                &format!("adds column {name} with a value of its own for each row, which rewrites all of {of} under a lock that blocks reads and writes"),
                "Add the column without a default, ALTER COLUMN … SET DEFAULT for new rows, and fill the old ones in batches.",
            );
        }
    }

    fn constraint(&mut self, line: u32, table: &Name, kind: Constraint, not_valid: bool, by_index: bool) {
        let of = shown(table);
        match kind {
            Constraint::ForeignKey | Constraint::Check if !not_valid => {
                let text = if kind == Constraint::ForeignKey {
                    format!("adds a foreign key and checks every row of {of} while writes to both tables are blocked")
                } else {
                    format!("adds a check and reads every row of {of} under a lock that blocks reads and writes")
                };
                let fix = match self.around.form {
                    Form::Ruby => "Write `validate: false`, and validate it in the next migration.",
                    Form::Python => {
                        "Pass postgresql_not_valid=True, and run ALTER TABLE … VALIDATE CONSTRAINT in the next migration."
                    }
                    _ => {
                        "Add it NOT VALID, and run ALTER TABLE … VALIDATE CONSTRAINT in the next migration, which blocks no writes."
                    }
                };
                self.push_by_dialect(line, "sql/constraint-not-valid", Medium, &text, fix);
            }
            Constraint::Unique | Constraint::PrimaryKey | Constraint::Exclude if !by_index => self.push_by_dialect(
                line,
                "sql/unique-builds-index",
                Medium,
                &format!("builds the index of a constraint under a lock that blocks reads and writes of {of}"),
                "Build it with CREATE UNIQUE INDEX CONCURRENTLY first, then ADD CONSTRAINT … UNIQUE USING INDEX.",
            ),
            _ => {}
        }
    }

    /// Statements that touch many rows.
    fn rows(&mut self, line: u32, act: &Act) {
        match act {
            Act::Truncate { table } if self.exists(table) => self.push(
                line,
                "sql/truncate",
                High,
                format!("removes every row of {}", shown(table)),
                "Delete the rows that must go, by a WHERE; if the table is to be empty in every environment, say why in a comment.",
            ),
            Act::Delete { table, limited: false } if self.exists(table) => self.push(
                line,
                "sql/delete-without-where",
                High,
                format!("deletes every row of {}: the statement has no condition", shown(table)),
                "Add the WHERE that names the rows. For many of them, delete in batches.",
            ),
            Act::Update { table, limited: false } if self.exists(table) => self.push(
                line,
                "sql/update-without-where",
                Medium,
                format!("writes every row of {} in one transaction, whose locks last until its end", shown(table)),
                "Update in batches by key, outside of the schema migration, with a WHERE that skips rows that are done.",
            ),
            _ => {}
        }
    }

    fn rights(&mut self, line: u32, act: &Act) {
        let Act::Grant { all, public, usage } = act else { return };
        if *public {
            let severity = if *all {
                High
            } else if *usage {
                Low
            } else {
                Medium
            };
            self.push(
                line,
                "sql/grant-public",
                severity,
                "grants rights to PUBLIC, which is every user that there is and will be",
                "Grant them to the role that needs them.",
            );
        } else if *all {
            self.push(
                line,
                "sql/grant-all",
                Medium,
                "grants every right, also to drop, truncate or grant on",
                "Name the rights that are needed: GRANT SELECT, INSERT, UPDATE ON ….",
            );
        }
    }

    fn concurrent(&mut self, line: u32, act: &Act, begun: bool, no_transaction: bool, statements: usize) {
        let concurrently = matches!(
            act,
            Act::CreateIndex { concurrently: true, .. }
                | Act::DropIndex { concurrently: true }
                | Act::Rebuild { concurrently: true, .. }
        );
        if !concurrently || !self.is_postgres() {
            return;
        }
        let rule = "sql/concurrently-in-transaction";
        let fix = "Put it into a migration of its own";
        if begun {
            let text = "CONCURRENTLY stands between BEGIN and COMMIT, where PostgreSQL refuses it";
            self.push(line, rule, High, text, format!("{fix}, without BEGIN."));
        } else if let Some(how) = self.around.tool.wraps().filter(|_| !no_transaction) {
            let text =
                format!("CONCURRENTLY fails here: {} runs a migration inside a transaction", self.around.tool.name());
            self.push(line, rule, High, text, format!("{fix}, and {how}."));
        } else if !no_transaction && statements > 1 && self.around.form == Form::Sql {
            let text = "CONCURRENTLY beside other statements: sent as one text, they are one transaction, in which PostgreSQL refuses it";
            self.push(line, rule, Medium, text, format!("{fix}, so that it is the file's only statement."));
        }
    }

    /// Changes of the schema and of many rows in one file.
    fn mixture(&mut self, up: &[(u32, Act)]) {
        let mut schema = None;
        let mut data = None;
        for (line, act) in up {
            if act.changes().is_some_and(|table| self.exists(table)) {
                schema.get_or_insert(*line);
            }
            let table = match act {
                Act::Update { table, .. } | Act::Delete { table, .. } | Act::InsertSelect { table } => table,
                _ => continue,
            };
            if self.exists(table) {
                data.get_or_insert(*line);
            }
        }
        if let (Some(schema), Some(data)) = (schema, data) {
            let why = match self.dialect() {
                Dialect::MySql => {
                    "MySQL commits at each change of the schema, so a failure in between leaves half of it"
                }
                Dialect::Sqlite => "a failure in one takes the other with it",
                _ => "the lock of the schema change is held until the last row is written",
            };
            self.push(
                data,
                "migration/mixes-schema-and-data",
                Medium,
                format!("changes rows in the same migration as the schema (line {schema}): {why}"),
                "Make three steps of it: the schema change, the rows in batches, and then what relies on them.",
            );
        }
    }
}
