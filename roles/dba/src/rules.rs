//! The names of the role's own rules.

/// Every rule, by name.
pub const RULES: &[&str] = &[
    "migration/edited",
    "migration/mixes-schema-and-data",
    "migration/no-down",
    "migration/same-number",
    "migration/two-heads",
    "sql/add-not-null",
    "sql/column-type",
    "sql/concurrently-in-transaction",
    "sql/constraint-not-valid",
    "sql/delete-without-where",
    "sql/drop-column",
    "sql/drop-database",
    "sql/drop-table",
    "sql/grant-all",
    "sql/grant-public",
    "sql/index-not-concurrent",
    "sql/lock-table",
    "sql/no-lock-timeout",
    "sql/no-primary-key",
    "sql/plaintext-password",
    "sql/rebuild",
    "sql/rename",
    "sql/set-not-null",
    "sql/truncate",
    "sql/unique-builds-index",
    "sql/update-without-where",
    "sql/volatile-default",
];

/// Rules about what stays in the database, so that they hold for a migration that was applied long ago.
pub(crate) const LASTING: &[&str] =
    &["sql/grant-all", "sql/grant-public", "sql/no-primary-key", "sql/plaintext-password"];
