//! What people read. Everything that a role wrote is made harmless for a terminal before it is printed.

mod capabilities;
mod changes;
mod diagnosis;
mod events;
mod export;
mod failure;
mod plan;
mod progress;
mod receipt;
mod record;
mod report;
mod role;
mod session;
mod style;
mod tighten;
mod usage;

pub use changes::{applied, conflicts, names, patch, stat};
pub use diagnosis::diagnosis;
pub use export::markdown;
pub use failure::failure;
pub use plan::plan;
pub use progress::Progress;
pub use receipt::receipts;
pub use record::record;
pub use report::{report, shortfalls, summary};
pub use role::{asks, check, inspected, roles};
pub use session::{sessions, story};
pub use style::line;
pub use tighten::tightened;
pub use usage::usage;
