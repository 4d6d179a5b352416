//! Every bound of the role, in one place; those that it shares with other roles are re-exported.

pub use file_findings::limits::*;
pub use settings_scan::limits::*;

/// Bytes behind a name that are read for the arguments of its call.
pub const MAX_CALL_BYTES: usize = 4 * 1024;
/// Bytes before a place that are read for the call or statement around it.
pub const MAX_BACK_BYTES: usize = 2 * 1024;
/// String templates inside string templates that are followed.
pub const MAX_TEMPLATE_DEPTH: usize = 16;
/// Findings of one file before they are joined; a file with more is counted.
pub const MAX_RAW_PER_FILE: usize = 2_000;
