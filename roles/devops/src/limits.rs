//! Every bound of the role, in one place; those that it shares with other roles are re-exported.

pub use file_findings::limits::*;
pub use settings_scan::limits::*;

/// Names of jobs that one finding lists.
pub const MAX_NAMES: usize = 8;
/// Characters of a name that is shown.
pub const MAX_NAME_CHARS: usize = 60;
/// Variables that are assigned in one script and kept.
pub const MAX_VARIABLES: usize = 10_000;
