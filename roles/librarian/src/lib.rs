//! The librarian.
pub mod language;
pub mod limits;
pub mod outline;
pub mod query;
pub mod words;
