//! Every bound of the role, in one place; those that it shares with other roles are re-exported.

pub use file_findings::limits::*;

/// Migrations that are looked at in one run; further ones are counted.
pub const MAX_MIGRATIONS: usize = 10_000;
/// Bytes of migrations and other SQL that are looked at in one run.
pub const MAX_SQL_BYTES: usize = 64 * 1024 * 1024;
/// Tokens of one file; what comes behind is not looked at, and that is said.
pub const MAX_TOKENS: usize = 300_000;
/// Statements of one file.
pub const MAX_STATEMENTS: usize = 20_000;
/// Levels of `DO` blocks inside one another.
pub const MAX_BODY_DEPTH: usize = 4;
/// The newest migrations of a folder whose effect on a running database is judged one by one. Older ones have been applied long
/// ago: what they locked or dropped is counted.
pub const RECENT: usize = 20;
/// Names that are dropped or renamed and looked for in the code.
pub const MAX_NAMES: usize = 500;
/// Characters of a name that is looked for or shown.
pub const MAX_NAME_CHARS: usize = 128;
/// Files in which the use of one name is kept.
pub const MAX_USES: usize = 200;
/// Bytes of a configuration that is read for the database that it names.
pub const MAX_CONFIG_BYTES: usize = 256 * 1024;
/// Reasons for a dialect that are kept.
pub const MAX_EVIDENCE_FILES: usize = 200;
/// Reasons for a dialect that are shown.
pub const MAX_REASONS_SHOWN: usize = 3;
/// Bytes of `/context/changes.diff` that are read.
pub const MAX_DIFF_BYTES: usize = 8 * 1024 * 1024;
/// Lines of the diff that are parsed.
pub const MAX_DIFF_LINES: usize = 400_000;
/// Files of the diff that are taken in.
pub const MAX_DIFF_FILES: usize = 2_000;
/// Calls of one migration in a programming language that are read.
pub const MAX_CALLS: usize = 5_000;
/// Bytes before a place that are looked at for the beginning of its line.
pub const MAX_LINE_BACK: usize = 256;
/// Bytes of the arguments of one call in a migration that is written in a programming language.
pub const MAX_CALL_BYTES: usize = 32 * 1024;
