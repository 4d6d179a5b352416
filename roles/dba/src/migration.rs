//! Which files are migrations, of which tool, and in which order.

use brain_role::TreeFile;
use file_findings::paths::is_foreign;

/// The tool whose layout a migration follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Tool {
    Prisma,
    Diesel,
    Sqlx,
    Goose,
    Dbmate,
    SqlMigrate,
    Flyway,
    Liquibase,
    GolangMigrate,
    Alembic,
    Rails,
    Django,
    /// A folder of numbered files whose tool is not known.
    Other,
}

impl Tool {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prisma => "Prisma",
            Self::Diesel => "Diesel",
            Self::Sqlx => "sqlx",
            Self::Goose => "goose",
            Self::Dbmate => "dbmate",
            Self::SqlMigrate => "sql-migrate",
            Self::Flyway => "Flyway",
            Self::Liquibase => "Liquibase",
            Self::GolangMigrate => "golang-migrate",
            Self::Alembic => "Alembic",
            Self::Rails => "Rails",
            Self::Django => "Django",
            Self::Other => "the migration tool",
        }
    }

    /// Whether it runs a migration inside a transaction unless it is told otherwise, and how it is told.
    pub(crate) fn wraps(self) -> Option<&'static str> {
        match self {
            Self::Sqlx => Some("begin the file with `-- no-transaction`"),
            Self::Goose => Some("begin the file with `-- +goose NO TRANSACTION`"),
            Self::Dbmate => Some("write `-- migrate:up transaction:false`"),
            Self::SqlMigrate => Some("write `-- +migrate Up notransaction`"),
            Self::Diesel => Some("put `run_in_transaction = false` into the migration's metadata.toml"),
            Self::Liquibase => Some("write `runInTransaction:false` behind the changeset"),
            Self::Alembic => Some("call it inside `with op.get_context().autocommit_block():`"),
            Self::Rails => Some("write `disable_ddl_transaction!` in the class"),
            Self::Django => Some("set `atomic = False` in the migration, or use AddIndexConcurrently"),
            Self::Prisma | Self::Flyway | Self::GolangMigrate | Self::Other => None,
        }
    }
}

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    Sql,
    Python,
    Ruby,
    /// A language whose own calls are not read: only the SQL in its strings is.
    Code,
}

/// What a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// Forward; the way back may be a section of the same file.
    Up,
    /// Back only.
    Down,
    /// Runs again whenever it changes (Flyway's `R__`).
    Repeatable,
}

/// One migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Migration {
    pub(crate) path: String,
    /// The folder whose migrations are one sequence.
    pub(crate) folder: String,
    pub(crate) tool: Tool,
    pub(crate) form: Form,
    pub(crate) way: Way,
    /// Its number, where its name has one, without leading zeros.
    pub(crate) number: Option<String>,
    /// What pairs the way forward with the way back.
    pub(crate) pair: String,
}

/// What a project's files say about its tools, before any of them is read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    /// A manifest of Rust depends on sqlx.
    pub(crate) sqlx: bool,
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether a folder is named after migrations.
fn is_migrations(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    matches!(part.as_str(), "migrations" | "migration" | "migrate" | "flyway" | "changelog" | "changelogs" | "drizzle")
        || part.ends_with("migrations")
        || part.ends_with("_migration")
        || part.ends_with("-migration")
}

/// `V1__a.sql`, `V2.1__b.sql`: the version. `U…` undoes one; `R__…` has none.
fn flyway(name: &str) -> Option<(Way, Option<String>)> {
    let (head, _) = name.split_once("__")?;
    let mut chars = head.chars();
    let first = chars.next()?;
    let version = chars.as_str();
    let is_version = version.starts_with(|c: char| c.is_ascii_digit())
        && version.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
    match first {
        'V' | 'B' if is_version => Some((Way::Up, Some(plain(version)))),
        'U' if is_version => Some((Way::Down, Some(plain(version)))),
        'R' if version.is_empty() => Some((Way::Repeatable, None)),
        _ => None,
    }
}

/// A version without zeros before its numbers, so that `01` and `1` are one.
fn plain(version: &str) -> String {
    let part = |part: &str| {
        let part = part.trim_start_matches('0');
        if part.is_empty() { "0".to_owned() } else { part.to_owned() }
    };
    version.split(['.', '_']).map(part).collect::<Vec<_>>().join(".")
}

/// The number that a name begins with. A date with dashes or underscores (`2024-01-02-…`) belongs to it.
pub(crate) fn number(name: &str) -> Option<String> {
    let end = name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len());
    let mut whole = name.get(..end).filter(|digits| !digits.is_empty())?;
    // `2024-01-02-030405_name` and `2024_01_02_030405_name`.
    if whole.len() == 4 {
        let separators = |c: char| matches!(c, '-' | '_');
        let dated = name.find(|c: char| !c.is_ascii_digit() && !separators(c)).unwrap_or(name.len());
        let date = name.get(..dated).unwrap_or(whole).trim_end_matches(separators);
        if date.split(separators).count() >= 3 {
            whole = date;
        }
    }
    let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_start_matches('0');
    Some(if digits.is_empty() { "0".to_owned() } else { digits.to_owned() })
}

/// The migration that a file is by its path; `None` for any other file. What tool a comment names is added by [`by_text`].
pub(crate) fn by_path(path: &str, layout: Layout) -> Option<Migration> {
    if is_foreign(path) {
        return None;
    }
    let name = name_of(path);
    let folder = folder_of(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let form = match extension {
        "sql" => Form::Sql,
        "py" => Form::Python,
        "rb" => Form::Ruby,
        "js" | "ts" | "cjs" | "mjs" | "php" | "go" | "exs" | "java" | "kt" | "cs" => Form::Code,
        _ => return None,
    };
    let new = |folder: &str, tool, way, number, pair: &str| {
        Some(Migration {
            path: path.to_owned(),
            folder: folder.to_owned(),
            tool,
            form,
            way,
            number,
            pair: pair.to_owned(),
        })
    };
    let parts: Vec<&str> = folder.split('/').collect();
    let in_migrations = parts.iter().any(|part| is_migrations(part));
    match form {
        Form::Sql => {
            if let Some((way, number)) = flyway(name) {
                return new(
                    folder,
                    Tool::Flyway,
                    way,
                    number,
                    name.split("__").next().unwrap_or(name).trim_start_matches(['V', 'U', 'B']),
                );
            }
            if !in_migrations {
                return None;
            }
            let (above, own) = folder.rsplit_once('/').unwrap_or(("", folder));
            // A folder for each migration.
            if !is_migrations(own) && number_of_folder(own).is_some() {
                let number = number_of_folder(own);
                match name {
                    "migration.sql" => return new(above, Tool::Prisma, Way::Up, number, own),
                    "up.sql" => return new(above, Tool::Diesel, Way::Up, number, own),
                    "down.sql" => return new(above, Tool::Diesel, Way::Down, number, own),
                    _ => {}
                }
            }
            let stem = name.strip_suffix(".sql").unwrap_or(name);
            let (stem, way, pairs) = match (stem.strip_suffix(".up"), stem.strip_suffix(".down")) {
                (Some(stem), _) => (stem, Way::Up, true),
                (_, Some(stem)) => (stem, Way::Down, true),
                _ => (stem, Way::Up, false),
            };
            let number = number(stem);
            let tool = match (layout.sqlx, pairs) {
                (true, _) if number.is_some() => Tool::Sqlx,
                (_, true) => Tool::GolangMigrate,
                _ => Tool::Other,
            };
            new(folder, tool, way, number, stem)
        }
        Form::Ruby => {
            let is_rails = folder.ends_with("db/migrate") || folder.ends_with("_migrate") && folder.contains("db/");
            let number = number(name)?;
            if is_rails { new(folder, Tool::Rails, Way::Up, Some(number), name) } else { None }
        }
        Form::Python => {
            if parts.last() == Some(&"versions") {
                return new(folder, Tool::Alembic, Way::Up, None, name);
            }
            let is_django = parts.last() == Some(&"migrations") && number(name).is_some();
            if is_django { new(folder, Tool::Django, Way::Up, number(name), name) } else { None }
        }
        Form::Code => {
            let numbered = number(name).filter(|number| number.len() >= 3 || name.starts_with("00"));
            if in_migrations && numbered.is_some() { new(folder, Tool::Other, Way::Up, numbered, name) } else { None }
        }
    }
}

fn number_of_folder(own: &str) -> Option<String> {
    number(own)
}

/// The tool that the text of a migration names.
pub(crate) fn by_text(tool: Tool, text: &str) -> Tool {
    let head: String = text.lines().take(40).collect::<Vec<_>>().join("\n").to_ascii_lowercase();
    if head.contains("-- +goose") {
        Tool::Goose
    } else if head.contains("-- migrate:up") {
        Tool::Dbmate
    } else if head.contains("-- +migrate") {
        Tool::SqlMigrate
    } else if head.contains("liquibase formatted sql") {
        Tool::Liquibase
    } else {
        tool
    }
}

/// Whether a file holds SQL and is no migration: schemas, seeds, queries.
pub(crate) fn is_plain_sql(file: &TreeFile) -> bool {
    file.path.to_ascii_lowercase().ends_with(".sql") && !is_foreign(&file.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_the_tool_the_way_and_the_number() {
        let told = |path: &str, sqlx: bool| {
            by_path(path, Layout { sqlx }).map(|m| (m.tool, m.way, m.number.unwrap_or_default(), m.folder))
        };
        let (db, empty) = ("migrations".to_owned(), String::new());
        for (path, expected) in [
            (
                "prisma/migrations/20240102030405_a/migration.sql",
                (Tool::Prisma, Way::Up, "20240102030405".to_owned(), "prisma/migrations".to_owned()),
            ),
            ("migrations/2024-01-02-030405_a/up.sql", (Tool::Diesel, Way::Up, "20240102030405".to_owned(), db.clone())),
            (
                "migrations/2024-01-02-030405_a/down.sql",
                (Tool::Diesel, Way::Down, "20240102030405".to_owned(), db.clone()),
            ),
            (
                "src/main/resources/db/migration/V2_1__b.sql",
                (Tool::Flyway, Way::Up, "2.1".to_owned(), "src/main/resources/db/migration".to_owned()),
            ),
            ("sql/R__views.sql", (Tool::Flyway, Way::Repeatable, empty.clone(), "sql".to_owned())),
            ("migrations/0007_a.up.sql", (Tool::GolangMigrate, Way::Up, "7".to_owned(), db.clone())),
            ("migrations/0007_a.down.sql", (Tool::GolangMigrate, Way::Down, "7".to_owned(), db.clone())),
            ("migrations/0007_a.sql", (Tool::Other, Way::Up, "7".to_owned(), db.clone())),
            ("alembic/versions/ab12_x.py", (Tool::Alembic, Way::Up, empty.clone(), "alembic/versions".to_owned())),
            (
                "db/migrate/20240102030405_x.rb",
                (Tool::Rails, Way::Up, "20240102030405".to_owned(), "db/migrate".to_owned()),
            ),
            ("shop/migrations/0002_x.py", (Tool::Django, Way::Up, "2".to_owned(), "shop/migrations".to_owned())),
        ] {
            assert_eq!(told(path, false), Some(expected), "{path}");
        }
        assert_eq!(told("migrations/0007_a.sql", true).map(|t| t.0), Some(Tool::Sqlx));
        for path in [
            "schema.sql",
            "queries/a.sql",
            "src/versions.py",
            "shop/migrations/__init__.py",
            "migrations/README.md",
            "node_modules/x/migrations/1_a.sql",
        ] {
            assert_eq!(told(path, false), None, "{path}");
        }
    }
}
