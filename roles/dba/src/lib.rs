//! The dba role: finds hazards in the migrations of a database, in the files that it is granted.
//!
//! It works on text alone, without a model and without a database. `migration` says which files are migrations, `source` and `sql` make
//! statements of them, `acts` says what a statement does, `judge` what is dangerous in it, `series` what is wrong with the row of
//! migrations. What was assumed, and what was not looked at, is in the risks.
//!
//! ```
//! use brain_role::testing::Bench;
//!
//! let result = Bench::new().file("migrations/0002_a.sql", "SELECT 1;\nDELETE FROM orders; -- all\n").run(dba::run);
//! assert_eq!(result.findings[0].rule.as_deref(), Some("sql/delete-without-where"));
//! assert_eq!(result.findings[0].line, Some(2));
//! ```

mod acts;
mod changes;
mod dialect;
mod judge;
pub mod limits;
mod migration;
mod rules;
mod run;
mod series;
mod source;
mod sql;
mod usage;

pub use changes::DIFF;
pub use rules::RULES;
pub use run::run;
pub use sql::Dialect;

brain_role::role!(run);
