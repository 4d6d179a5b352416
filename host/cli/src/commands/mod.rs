//! The commands, one file each.

pub mod changes;
pub mod confirm;
pub mod doctor;
pub mod grants;
pub mod plan;
pub mod receipt;
pub mod recover;
pub mod role;
pub mod run;
pub mod schema;
pub mod sessions;
pub mod usage;
