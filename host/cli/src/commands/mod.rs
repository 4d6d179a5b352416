//! The commands, one file each.

pub mod doctor;
pub mod role;
pub mod run;
pub mod schema;
pub mod sessions;
