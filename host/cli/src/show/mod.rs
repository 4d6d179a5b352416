//! What people read. Everything that a role wrote is made harmless for a terminal before it is printed.

mod diagnosis;
mod failure;
mod progress;
mod report;
mod role;
mod session;
mod style;

pub use diagnosis::diagnosis;
pub use failure::failure;
pub use progress::Progress;
pub use report::{clarification, plan, report, shortfalls, summary};
pub use role::{check, inspected, roles};
pub use session::{sessions, story};
