//! The role as Brain calls it: what it looks at, how it reports, and what it says that it did not see.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use brain_role::testing::Bench;
use brain_role::{ContextRef, ContextRefKind, Outcome, TaskStatus, WorkerResult};
use dba::limits::{MAX_DIFF_FILES, MAX_FINDINGS, RECENT};
use dba::{DIFF, run};
use proptest::prelude::*;

fn places(result: &WorkerResult) -> Vec<String> {
    let line = |line: Option<u32>| line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    result
        .findings
        .iter()
        .map(|f| {
            format!("{:?} {}:{} {}", f.severity, f.file.as_deref().unwrap(), line(f.line), f.rule.as_deref().unwrap())
        })
        .collect()
}

fn says(result: &WorkerResult, words: &str) -> bool {
    result.risks.iter().any(|risk| risk.contains(words))
}

const EDIT: &str = "diff --git a/migrations/1_a.sql b/migrations/1_a.sql\n--- a/migrations/1_a.sql\n+++ b/migrations/1_a.sql\n@@ -1,2 +1,2 @@\n SELECT 1;\n-SELECT 2;\n+SELECT 3;\n";
const DELETED: &str = "diff --git a/migrations/0_z.sql b/migrations/0_z.sql\ndeleted file mode 100644\n--- a/migrations/0_z.sql\n+++ /dev/null\n@@ -1 +0,0 @@\n-SELECT 1;\n";
const RENAMED: &str = "diff --git a/migrations/2_b.sql b/migrations/3_b.sql\nsimilarity index 100%\nrename from migrations/2_b.sql\nrename to migrations/3_b.sql\n";
const ADDED: &str = "diff --git a/migrations/4_d.sql b/migrations/4_d.sql\nnew file mode 100644\n--- /dev/null\n+++ b/migrations/4_d.sql\n@@ -0,0 +1 @@\n+CREATE TABLE t (a INT);\n";

fn changed() -> Bench {
    Bench::new()
        .file("migrations/1_a.sql", "SELECT 1;\nSELECT 3;\n")
        .file("migrations/3_b.sql", "DELETE FROM a;\n")
        .file("migrations/4_d.sql", "CREATE TABLE t (a INT);\n")
        .file("migrations/9_e.sql", "TRUNCATE a;\n")
}

#[test]
fn an_edit_of_a_migration_that_was_there_is_found_and_what_is_changed_comes_first() {
    let result = changed().context(DIFF, [EDIT, DELETED, RENAMED, ADDED].concat()).run(run);
    assert_eq!(
        places(&result),
        [
            "High migrations/0_z.sql:- migration/edited",
            "High migrations/1_a.sql:2 migration/edited",
            "High migrations/3_b.sql:1 migration/edited",
            "High migrations/3_b.sql:1 sql/delete-without-where",
            "Medium migrations/4_d.sql:1 sql/no-primary-key",
            "High migrations/9_e.sql:1 sql/truncate",
        ]
    );
    let (of_change, other) = result.findings.split_at(5);
    assert!(of_change.iter().all(|finding| finding.issue.ends_with(" (in the pending change)")), "{of_change:#?}");
    assert!(!other[0].issue.contains("pending change"));
    assert!(!says(&result, "no pending change was handed over"), "{:?}", result.risks);
}

#[test]
fn a_change_that_is_committed_is_not_called_pending() {
    let labelled = ContextRef::new(ContextRefKind::Artifact, format!("/context/{DIFF}"))
        .label("the last commit; there are no uncommitted changes");
    let result = changed().reference(labelled).context(DIFF, ADDED).run(run);
    let of_change: Vec<_> =
        result.findings.iter().filter(|finding| finding.file.as_deref() == Some("migrations/4_d.sql")).collect();
    assert!(!of_change.is_empty());
    assert!(of_change.iter().all(|finding| finding.issue.ends_with(" (in the last commit)")), "{of_change:#?}");
    assert!(!result.findings.iter().any(|finding| finding.issue.contains("pending change")));
}

#[test]
fn a_container_or_syntax_tells_the_database() {
    let migration = "ALTER TABLE users MODIFY COLUMN name VARCHAR(10);\n";
    for bench in [
        Bench::new().file("migrations/1_a.sql", migration),
        Bench::new()
            .file("migrations/1_a.sql", "ALTER TABLE users ADD COLUMN name VARCHAR(10);\n")
            .file("docker-compose.yml", "services:\n  db:\n    image: mysql:8\n"),
    ] {
        let result = bench.run(run);
        assert!(says(&result, "read as MySQL"), "{:?}", result.risks);
        assert!(!says(&result, "assumed"), "{:?}", result.risks);
    }
}

#[test]
fn an_edit_of_the_newest_migration_may_be_one_of_this_branch() {
    let result = Bench::new().file("migrations/1_a.sql", "SELECT 1;\nSELECT 3;\n").context(DIFF, EDIT).run(run);
    assert_eq!(places(&result), ["Medium migrations/1_a.sql:2 migration/edited"]);
}

#[test]
fn an_edit_of_anything_else_is_none_of_a_migration() {
    let diff = EDIT.replace("migrations/1_a.sql", "src/a.sql");
    let repeatable = EDIT.replace("migrations/1_a.sql", "sql/R__views.sql");
    let result = Bench::new()
        .file("src/a.sql", "SELECT 1;\nSELECT 3;\n")
        .file("sql/R__views.sql", "SELECT 1;\nSELECT 3;\n")
        .context(DIFF, diff + &repeatable)
        .run(run);
    assert_eq!(places(&result), Vec::<String>::new());
}

#[test]
fn a_diff_that_is_cut_or_broken_is_said() {
    let mut diff = String::new();
    for n in 0..=MAX_DIFF_FILES {
        diff.push_str(&EDIT.replace("1_a", &format!("1_a{n}")));
    }
    let result = changed().context(DIFF, diff).run(run);
    assert!(says(&result, "larger than what is read of it"), "{:?}", result.risks);
    let result = changed().context(DIFF, EDIT.replace("+1,2 @@", "+1,9 @@")).run(run);
    assert!(says(&result, "of the pending change could not be read"), "{:?}", result.risks);
}

#[test]
fn the_dialect_and_its_reason_are_said() {
    let sql = "CREATE INDEX a ON b (c);\n";
    let result = Bench::new().file("migrations/1_a.sql", sql).file("go.mod", "require github.com/lib/pq v1\n").run(run);
    assert_eq!(places(&result), ["Medium migrations/1_a.sql:1 sql/index-not-concurrent"]);
    assert!(says(&result, "migrations: read as PostgreSQL, since go.mod depends on lib/pq"), "{:?}", result.risks);
    let result =
        Bench::new().file("migrations/1_a.sql", sql).file("go.mod", "github.com/go-sql-driver/mysql v1\n").run(run);
    assert_eq!(result.findings, []);
    assert!(result.summary.contains("1 migration, read as MySQL."), "{}", result.summary);
    // Nothing tells: what holds for PostgreSQL alone is told more quietly, and so is why.
    let result = Bench::new().file("migrations/1_a.sql", sql).run(run);
    assert_eq!(places(&result), ["Low migrations/1_a.sql:1 sql/index-not-concurrent"]);
    assert!(result.findings[0].issue.contains("which is assumed"), "{:?}", result.findings[0]);
    assert!(says(&result, "migrations: assumed to be PostgreSQL"), "{:?}", result.risks);
}

#[test]
fn a_project_without_migrations_is_not_called_safe() {
    let result = Bench::new().file("src/a.rs", "fn a() {}\n").run(run);
    assert_eq!(result.progress.status, TaskStatus::Completed);
    assert_eq!(result.summary, "No migration found in 1 file.");
    assert!(says(&result, "no migration was found"), "{:?}", result.risks);
}

#[test]
fn only_the_newest_migrations_are_judged_for_what_they_do_to_a_running_database() {
    let mut bench = Bench::new();
    for n in 1..=RECENT + 3 {
        bench = bench.file(format!("migrations/{n}_a.sql"), "DELETE FROM a;\nCREATE TABLE b (c INT);\n");
    }
    let result = bench.run(run);
    let of = |rule: &str| result.findings.iter().filter(|f| f.rule.as_deref() == Some(rule)).count();
    assert_eq!((of("sql/delete-without-where"), of("sql/no-primary-key")), (RECENT, RECENT + 3));
    assert!(says(&result, "3 hazards in older migrations are not listed"), "{:?}", result.risks);
}

#[test]
fn findings_past_the_limit_are_counted() {
    let mut bench = Bench::new();
    for n in 0..MAX_FINDINGS + 7 {
        bench = bench.file(format!("s{n}/migrations/1_a.sql"), "TRUNCATE a;\n");
    }
    let result = bench.run(run);
    assert_eq!(result.findings.len(), MAX_FINDINGS);
    assert!(says(&result, "7 findings are not listed"), "{:?}", result.risks);
}

#[test]
fn several_drops_in_one_line_are_one_finding_that_names_them() {
    let result = Bench::new().file("migrations/1_a.sql", "DROP TABLE a, b, c, d, e, f;\n").run(run);
    assert_eq!(places(&result), ["Medium migrations/1_a.sql:1 sql/drop-table"]);
    let issue = &result.findings[0].issue;
    assert!(issue.contains("`a`") && issue.contains("`d`") && issue.ends_with("; and more"), "{issue}");
}

#[test]
fn what_cannot_be_read_is_said() {
    let result = Bench::new()
        .file("migrations/1_a.sql", "SELECT 1; SELECT 'open\nDROP TABLE a;\n")
        .file("migrations/2_b.sql", "DROP TABLE {{ name }};\n")
        .file("migrations/20240101000000_c.ts", "await q.query(`TRUNCATE a`); schema.dropTable('x');\n")
        .run(run);
    assert_eq!(places(&result)[0], "High migrations/20240101000000_c.ts:1 sql/truncate");
    for words in ["never closed", "a template", "only the SQL in its strings was read"] {
        assert!(says(&result, words), "{words}: {:?}", result.risks);
    }
}

#[test]
fn a_secret_in_a_line_that_is_quoted_is_masked() {
    let value = ["Zx8Kq2Lm9Vb4", "Tn7Rc5Wd1Yh6", "Jp3Gs0Fa7Q"].concat();
    let text = format!("DELETE FROM t; -- password = '{value}'\nDROP TABLE {value};\n");
    let output = format!("{:?}", Bench::new().file("migrations/1_a.sql", text).run(run));
    assert!(output.contains("sql/delete-without-where") && output.contains("sql/drop-table"), "{output}");
    assert!(!output.contains(&value), "{output}");
}

#[test]
fn the_path_in_a_finding_is_the_one_in_the_tree() {
    for name in [
        "migrations/1_\u{1b}]0;x.sql",
        "migrations/1_\"a\".sql",
        "migrations/1_line\nbreak.sql",
        "migrations/1_größe漢.sql",
    ] {
        let result = Bench::new().file(name, "TRUNCATE a;\n").run(run);
        assert_eq!(result.findings[0].file.as_deref(), Some(name));
        assert!(result.risks.iter().all(|risk| !risk.contains(|c: char| c.is_control())), "{:?}", result.risks);
    }
}

#[test]
fn the_primary_role_composes_what_the_others_found() {
    let bench = Bench::new();
    let other = bench.run(|_| Outcome::completed("Four files matter."));
    let result = Bench::new().prior_result("librarian", &other).run(run);
    assert!(result.summary.contains("- librarian (completed): Four files matter."), "{}", result.summary);
}

#[test]
fn only_words_of_the_field_call_for_the_role() {
    let manifest = include_str!("../role.toml");
    let words = manifest.split_once("words = [").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    for word in ["migration", "schema", "sql", "迁移"] {
        assert!(words.contains(&format!("\"{word}\"")), "{word}");
    }
    for word in ["table", "column", "query", "index", "row", "data", "change"] {
        assert!(!words.contains(&format!("\"{word}\"")), "{word}");
    }
}

/// Pieces of which hostile files are made.
const PIECES: &[&str] = &[
    "ALTER TABLE ",
    "a",
    " ADD ",
    "COLUMN ",
    "DROP ",
    "(",
    ")",
    ",",
    ";",
    "'",
    "\"",
    "`",
    "$$",
    "$x$",
    "--",
    "/*",
    "*/",
    "\n",
    " ",
    "é",
    "\\",
    "E'",
    "DO ",
    "BEGIN ",
    "END",
    " IF ",
    "CASE ",
    "CREATE TRIGGER ",
    "CREATE TABLE ",
    "RENAME ",
    "TO ",
    "NOT NULL",
    "DEFAULT ",
    "DELIMITER //\n",
    "//",
    "COPY a FROM STDIN;",
    "\\.",
    "WITH ",
    "UPDATE ",
    "SET ",
    "DELETE FROM ",
    "op.",
    "add_column(",
    "execute(",
    "def upgrade():\n",
    "def down\n",
    "<<~SQL\n",
    "SQL\n",
    "\"\"\"",
    "#",
    "batch_alter_table('t') as b:",
    "GO\n",
    "/*!40101 ",
    "CHANGE ",
    "MODIFY ",
    ".",
    "=",
    "[",
    "]",
    "revision = '",
    "{{",
    "\u{feff}",
    "+goose Down",
    "EXEC sp_rename 'a.b', 'c', 'COLUMN'",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn any_text_is_judged_without_a_panic(
        path in prop::sample::select(vec!["migrations/1_a.sql", "db/migrate/1_a.rb", "alembic/versions/a.py", "app/migrations/0001_a.py", "migrations/2024_01_a.ts", "a.sql", "mysql/migrations/1_a.sql", "mssql/migrations/1_a.sql"]),
        parts in prop::collection::vec(prop::sample::select(PIECES), 0..80),
    ) {
        let text = parts.concat();
        let lines = u32::try_from(text.lines().count().max(1)).unwrap();
        let result = Bench::new().file(path, &text).run(run);
        prop_assert_eq!(result.progress.status, TaskStatus::Completed);
        for finding in result.findings {
            prop_assert!(finding.line.is_some_and(|line| line >= 1 && line <= lines), "{:?} in {:?}", finding, text);
        }
    }
}
