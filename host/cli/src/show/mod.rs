//! What people read. Everything that a role wrote is made harmless for a terminal before it is printed.

mod capabilities;
mod changes;
mod diagnosis;
mod failure;
mod progress;
mod receipt;
mod report;
mod role;
mod session;
mod style;
mod tighten;

pub use changes::{applied, conflicts, names, patch, stat};
pub use diagnosis::diagnosis;
pub use failure::failure;
pub use progress::Progress;
pub use receipt::receipts;
pub use report::{clarification, plan, report, shortfalls, summary};
pub use role::{asks, check, inspected, roles};
pub use session::{sessions, story};
pub use style::line;
pub use tighten::tightened;
