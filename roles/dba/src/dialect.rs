//! Which database a script is written for, and how that is known.

use std::collections::BTreeMap;

use crate::limits::{MAX_EVIDENCE_FILES, MAX_REASONS_SHOWN};
use crate::sql::Dialect::{self, MySql, Postgres, SqlServer, Sqlite};

/// How much a reason says: a setting of the migrations themselves, syntax, a driver, a container beside.
const SETTING: u32 = 8;
const SYNTAX: u32 = 4;
const DRIVER: u32 = 3;
const CONTAINER: u32 = 2;

/// One reason for a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reason {
    dialect: Dialect,
    weight: u32,
    folder: String,
    said: String,
}

/// What a project says about its databases.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    reasons: Vec<Reason>,
    pub(crate) not_kept: usize,
}

/// The dialect of a folder of migrations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) dialect: Dialect,
    /// Nothing says so.
    pub(crate) assumed: bool,
    /// Why, for a reader.
    pub(crate) why: String,
}

/// Words that a setting names a database with.
fn by_word(word: &str) -> Option<Dialect> {
    let word = word.trim().trim_matches(['"', '\'', ',', ';', ' ']).to_ascii_lowercase();
    let starts = |names: &[&str]| names.iter().any(|name| word.starts_with(name));
    if starts(&["postgres", "pgsql", "pg", "cockroach", "psycopg"]) {
        Some(Postgres)
    } else if starts(&["mysql", "mariadb", "trilogy"]) {
        Some(MySql)
    } else if starts(&["sqlite", "better-sqlite", "libsql", "turso"]) {
        Some(Sqlite)
    } else if starts(&["mssql", "sqlserver", "sqlsrv"]) {
        Some(SqlServer)
    } else {
        None
    }
}

/// Packages that speak to one database, by the manifest that names them.
const DRIVERS: &[(&str, &[(&str, Dialect)])] = &[
    (
        "package.json",
        &[
            ("\"pg\"", Postgres),
            ("\"postgres\"", Postgres),
            ("\"pg-promise\"", Postgres),
            ("\"mysql2\"", MySql),
            ("\"mysql\"", MySql),
            ("\"mariadb\"", MySql),
            ("\"sqlite3\"", Sqlite),
            ("\"better-sqlite3\"", Sqlite),
            ("\"mssql\"", SqlServer),
            ("\"tedious\"", SqlServer),
        ],
    ),
    (
        "Cargo.toml",
        &[
            ("\"postgres\"", Postgres),
            ("tokio-postgres", Postgres),
            ("\"mysql\"", MySql),
            ("mysql_async", MySql),
            ("\"sqlite\"", Sqlite),
            ("rusqlite", Sqlite),
            ("tiberius", SqlServer),
        ],
    ),
    (
        "go.mod",
        &[
            ("lib/pq", Postgres),
            ("jackc/pgx", Postgres),
            ("go-sql-driver/mysql", MySql),
            ("mattn/go-sqlite3", Sqlite),
            ("modernc.org/sqlite", Sqlite),
            ("go-mssqldb", SqlServer),
        ],
    ),
    (
        "python",
        &[
            ("psycopg", Postgres),
            ("asyncpg", Postgres),
            ("pg8000", Postgres),
            ("mysqlclient", MySql),
            ("pymysql", MySql),
            ("aiomysql", MySql),
            ("mysql-connector", MySql),
            ("aiosqlite", Sqlite),
            ("pymssql", SqlServer),
            ("pyodbc", SqlServer),
        ],
    ),
    (
        "Gemfile",
        &[("'pg'", Postgres), ("\"pg\"", Postgres), ("mysql2", MySql), ("trilogy", MySql), ("sqlite3", Sqlite)],
    ),
    (
        "java",
        &[
            ("org.postgresql", Postgres),
            ("mysql-connector", MySql),
            ("mariadb-java-client", MySql),
            ("sqlite-jdbc", Sqlite),
            ("mssql-jdbc", SqlServer),
        ],
    ),
    (
        "composer.json",
        &[("ext-pgsql", Postgres), ("ext-pdo_pgsql", Postgres), ("ext-mysqli", MySql), ("ext-pdo_mysql", MySql)],
    ),
    ("mix.exs", &[(":postgrex", Postgres), (":myxql", MySql), (":ecto_sqlite3", Sqlite)]),
];

/// The list of drivers for a manifest.
fn drivers(name: &str) -> Option<&'static [(&'static str, Dialect)]> {
    let key = match name {
        "pyproject.toml" | "Pipfile" | "setup.py" | "setup.cfg" => "python",
        "pom.xml" | "build.gradle" | "build.gradle.kts" => "java",
        _ if name.starts_with("requirements") && name.ends_with(".txt") => "python",
        _ => name,
    };
    DRIVERS.iter().find(|(manifest, _)| *manifest == key).map(|(_, drivers)| *drivers)
}

/// Settings files, and the keys in them that name a database.
fn settings(name: &str) -> &'static [&'static str] {
    match name {
        "migration_lock.toml" => &["provider"],
        "schema.prisma" => &["provider"],
        "alembic.ini" => &["sqlalchemy.url"],
        "diesel.toml" | "ormconfig.json" | "ormconfig.js" | "data-source.ts" => &["type", "\"type\""],
        "drizzle.config.ts" | "drizzle.config.js" | "drizzle.config.json" => &["dialect", "driver", "\"dialect\""],
        "knexfile.js" | "knexfile.ts" => &["client"],
        "database.yml" => &["adapter"],
        "sqlc.yaml" | "sqlc.yml" | "sqlc.json" => &["engine", "- engine", "\"engine\""],
        "flyway.conf" | "flyway.toml" => &["flyway.url", "url"],
        "application.properties" => &["spring.datasource.url"],
        "application.yml" | "application.yaml" => &["url"],
        "dbconfig.yml" => &["dialect"],
        "atlas.hcl" => &["url", "dev"],
        _ => &[],
    }
}

fn is_compose(name: &str) -> bool {
    (name.starts_with("docker-compose") || name.starts_with("compose.") || name.starts_with("compose-"))
        && (name.ends_with(".yml") || name.ends_with(".yaml"))
}

/// The image that a line of a Compose file names: by itself, as an entry of a list, or between braces.
fn image_of(line: &str) -> Option<&str> {
    let line = line.trim();
    let at = line.match_indices("image").find_map(|(at, _)| {
        let before = line.get(..at).unwrap_or_default().trim_end_matches(['"', '\'']).trim_end();
        let own = before.is_empty() || before.ends_with(['{', ',', '-', '?']);
        own.then_some(at + "image".len())
    })?;
    if line.starts_with('#') {
        return None;
    }
    let value = line.get(at..)?.trim_start_matches(['"', '\'']).trim_start().strip_prefix(':')?.trim_start();
    let value = value.trim_start_matches(['"', '\'']);
    value.split([',', '}', '#', '"', '\'', ' ']).next()
}

/// Whether a file may say which database a project uses.
pub(crate) fn is_config(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !file_findings::paths::is_foreign(path)
        && (drivers(name).is_some() || !settings(name).is_empty() || is_compose(name))
}

impl Evidence {
    fn add(&mut self, dialect: Dialect, weight: u32, path: &str, said: &str) {
        if self.reasons.len() >= MAX_EVIDENCE_FILES {
            self.not_kept += 1;
            return;
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let shown: String = path.escape_debug().take(120).collect();
        self.reasons.push(Reason { dialect, weight, folder, said: format!("{shown} {said}") });
    }

    /// Takes in a configuration or a manifest.
    pub(crate) fn read(&mut self, path: &str, text: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let keys = settings(name);
        let mut found: BTreeMap<Dialect, String> = BTreeMap::new();
        for line in text.lines() {
            let line = line.trim();
            if line.starts_with(['#', ';']) || line.starts_with("//") {
                continue;
            }
            let Some((key, value)) = line.split_once(['=', ':']) else { continue };
            if !keys.contains(&key.trim()) {
                continue;
            }
            // An address: `jdbc:postgresql://…`, `postgresql+psycopg://…`.
            let value = value.trim().trim_start_matches(['"', '\'', '=']).trim_start_matches("jdbc:");
            if let Some(dialect) = by_word(value) {
                let key: String = key.trim().trim_matches(['"', '-', ' ']).chars().take(40).collect();
                found.entry(dialect).or_insert(key);
            }
        }
        for (dialect, key) in found {
            self.add(dialect, SETTING, path, &format!("sets {key} to {}", dialect.name()));
        }
        for (driver, dialect) in drivers(name).unwrap_or_default() {
            let lower = name.ends_with(".txt") || name.starts_with("py");
            let has = if lower { text.to_ascii_lowercase().contains(driver) } else { text.contains(driver) };
            if has {
                self.add(*dialect, DRIVER, path, &format!("depends on {}", driver.trim_matches(['"', '\'', ':'])));
            }
        }
        if is_compose(name) {
            for (image, dialect) in [
                ("postgres", Postgres),
                ("postgis", Postgres),
                ("mysql", MySql),
                ("mariadb", MySql),
                ("mssql/server", SqlServer),
            ] {
                if text.lines().any(|line| image_of(line).is_some_and(|name| name.contains(image))) {
                    self.add(dialect, CONTAINER, path, &format!("starts {image}"));
                }
            }
        }
    }

    /// The dialect of the migrations in `folder`, whose text says `syntax`.
    pub(crate) fn choose(&self, folder: &str, syntax: &BTreeMap<Dialect, (u32, String)>) -> Chosen {
        // A folder that is called after a database holds what is for it.
        if let Some((part, dialect)) = folder.rsplit('/').find_map(|part| Some((part, by_folder(part)?))) {
            return Chosen { dialect, assumed: false, why: format!("its folder is called {part:?}") };
        }
        // What stands above the migrations is about them; what stands elsewhere only where nothing else is known.
        let is_above = |reason: &&Reason| {
            reason.folder.is_empty()
                || folder == reason.folder
                || folder.strip_prefix(&reason.folder).is_some_and(|rest| rest.starts_with('/'))
        };
        let mut reasons: Vec<&Reason> = self.reasons.iter().filter(is_above).collect();
        if reasons.is_empty() {
            reasons = self.reasons.iter().collect();
        }
        let mut votes: BTreeMap<Dialect, (u32, Vec<String>)> = BTreeMap::new();
        for reason in reasons {
            let vote = votes.entry(reason.dialect).or_default();
            // Many files that say the same weigh no more than the strongest of them.
            vote.0 = vote.0.max(reason.weight);
            vote.1.push(reason.said.clone());
        }
        for (dialect, (count, said)) in syntax {
            let vote = votes.entry(*dialect).or_default();
            vote.0 += SYNTAX + (*count).min(3);
            vote.1.push(said.clone());
        }
        let Some((dialect, (_, mut said))) =
            votes.into_iter().max_by_key(|(dialect, (weight, _))| (*weight, std::cmp::Reverse(*dialect)))
        else {
            return Chosen {
                dialect: Postgres,
                assumed: true,
                why: "no configuration, driver or syntax says which database it is".to_owned(),
            };
        };
        said.dedup();
        said.truncate(MAX_REASONS_SHOWN);
        Chosen { dialect, assumed: false, why: said.join("; ") }
    }
}

fn by_folder(part: &str) -> Option<Dialect> {
    match part.to_ascii_lowercase().as_str() {
        "postgres" | "postgresql" | "pg" | "pgsql" | "supabase" | "cockroach" => Some(Postgres),
        "mysql" | "mariadb" => Some(MySql),
        "sqlite" | "sqlite3" => Some(Sqlite),
        "mssql" | "sqlserver" => Some(SqlServer),
        _ => None,
    }
}

/// Words that only one dialect has.
const SYNTAXES: &[(&str, Dialect)] = &[
    ("BIGSERIAL", Postgres),
    ("SERIAL", Postgres),
    ("JSONB", Postgres),
    ("TIMESTAMPTZ", Postgres),
    ("BYTEA", Postgres),
    ("TSVECTOR", Postgres),
    ("plpgsql", Postgres),
    ("CONCURRENTLY", Postgres),
    ("gen_random_uuid", Postgres),
    ("AUTO_INCREMENT", MySql),
    ("UNSIGNED", MySql),
    ("MEDIUMINT", MySql),
    ("MEDIUMTEXT", MySql),
    ("LONGTEXT", MySql),
    ("MEDIUMBLOB", MySql),
    ("LONGBLOB", MySql),
    ("AUTOINCREMENT", Sqlite),
    ("PRAGMA", Sqlite),
    ("NVARCHAR", SqlServer),
    ("DATETIME2", SqlServer),
    ("UNIQUEIDENTIFIER", SqlServer),
    ("SYSUTCDATETIME", SqlServer),
];

/// Words that only one dialect has beside each other.
const PHRASES: &[(&str, Dialect)] =
    &[("MODIFY COLUMN", MySql), ("CHANGE COLUMN", MySql), ("DROP FOREIGN KEY", MySql), ("ON DUPLICATE KEY", MySql)];

/// Counts the words of one dialect that a text has.
pub(crate) fn syntax(path: &str, text: &str, counts: &mut BTreeMap<Dialect, (u32, String)>) {
    let shown: String = path.escape_debug().take(120).collect();
    let mut add = |dialect: Dialect, word: &str| {
        let entry = counts.entry(dialect).or_insert_with(|| (0, format!("{shown} says {word}")));
        entry.0 = entry.0.saturating_add(1);
    };
    for line in text.lines().filter(|line| !line.trim_start().starts_with("--")) {
        for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if let Some((name, dialect)) = SYNTAXES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
                add(*dialect, name);
            }
        }
        let upper = line.to_ascii_uppercase();
        let words: Vec<&str> = upper.split_whitespace().collect();
        for (phrase, dialect) in PHRASES {
            let phrase_words: Vec<&str> = phrase.split(' ').collect();
            if words.windows(phrase_words.len()).any(|window| window == phrase_words) {
                add(*dialect, phrase);
            }
        }
        if line.contains("$$") {
            add(Postgres, "$$");
        }
        if upper.replace(' ', "").contains("ENGINE=") {
            add(MySql, "ENGINE");
        }
        if line.matches('`').count() >= 2 {
            add(MySql, "names in backticks");
        }
        if line.trim().eq_ignore_ascii_case("go") {
            add(SqlServer, "GO");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_tells_its_database() {
        for (path, text, expected) in [
            ("prisma/migrations/migration_lock.toml", "provider = \"postgresql\"\n", Postgres),
            ("alembic.ini", "sqlalchemy.url = mysql+pymysql://u@h/d\n", MySql),
            ("config/database.yml", "default:\n  adapter: sqlite3\n", Sqlite),
            ("flyway.conf", "flyway.url=jdbc:sqlserver://h\n", SqlServer),
            ("Cargo.toml", "sqlx = { version = \"0.8\", features = [\"postgres\"] }\n", Postgres),
            ("go.mod", "require github.com/go-sql-driver/mysql v1\n", MySql),
            ("requirements.txt", "Psycopg2-binary==2.9\n", Postgres),
            ("compose.yml", "services:\n  db:\n    image: mariadb:11\n", MySql),
            ("docker-compose.yml", "services:\n  db:\n    image: \"mysql:8\"\n", MySql),
            ("docker-compose.yml", "services:\n  db: {image: mysql:8, restart: always}\n", MySql),
            ("docker-compose.yml", "services: { db: { restart: always, \"image\": postgres } }\n", Postgres),
        ] {
            assert!(is_config(path), "{path}");
            let mut evidence = Evidence::default();
            evidence.read(path, text);
            let chosen = evidence.choose("x/migrations", &BTreeMap::new());
            assert_eq!((chosen.dialect, chosen.assumed), (expected, false), "{path}");
            assert!(chosen.why.contains(path), "{}", chosen.why);
        }
    }

    #[test]
    fn the_nearest_and_strongest_reason_counts() {
        let mut evidence = Evidence::default();
        evidence.read("a/go.mod", "github.com/lib/pq");
        evidence.read("b/go.mod", "github.com/mattn/go-sqlite3");
        assert_eq!(evidence.choose("b/migrations", &BTreeMap::new()).dialect, Sqlite);
        assert_eq!(evidence.choose("a/migrations", &BTreeMap::new()).dialect, Postgres);
        assert_eq!(evidence.choose("a/migrations/mysql", &BTreeMap::new()).dialect, MySql);
        let mut counts = BTreeMap::new();
        syntax("a/migrations/1.sql", "id INT AUTO_INCREMENT\n-- JSONB", &mut counts);
        assert_eq!(evidence.choose("a/migrations", &counts).dialect, MySql);
        assert!(Evidence::default().choose("x", &BTreeMap::new()).assumed);
        for (text, expected) in [
            ("ALTER TABLE a MODIFY  COLUMN b INT NOT NULL;", MySql),
            ("alter table a change column b c int;", MySql),
            ("ALTER TABLE a DROP FOREIGN KEY fk;", MySql),
            ("CREATE TABLE a (b DATETIME2);", SqlServer),
        ] {
            let mut counts = BTreeMap::new();
            syntax("x/1.sql", text, &mut counts);
            let chosen = Evidence::default().choose("x", &counts);
            assert_eq!((chosen.dialect, chosen.assumed), (expected, false), "{text}");
        }
    }
}
