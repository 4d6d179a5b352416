//! What the roles that look for things in files share: which files to look at, reading them within bounds, and the way from an
//! [`Issue`] of one file to the findings of all.
//!
//! A rule gives issues; [`settle`] makes findings of them, of which a [`Collection`] keeps the worst. No text of a file gets into a
//! finding with a secret in it. The crate must not know any rule.

mod collect;
mod gather;
mod issue;
pub mod limits;
pub mod paths;
mod prior;
mod settle;
pub mod text;

pub use collect::{Collection, by_severity};
pub use gather::{Files, Reader, files};
pub use issue::{Evidence, Issue, lower};
pub use prior::compose;
pub use settle::{FileReport, line_of, line_starts, settle};
