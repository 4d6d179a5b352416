//! Every bound of a review. What is past one is counted, told in the result, and never approved.

pub use unified_diff::{MAX_NAME_BYTES, MAX_PATH_BYTES};

/// Bytes of `/context/changes.diff` that are read.
pub const MAX_DIFF_BYTES: usize = 8 * 1024 * 1024;
/// Lines of the diff that are parsed.
pub const MAX_DIFF_LINES: usize = 400_000;
/// Sections of the diff that are reviewed, and so the most entries of the coverage.
pub const MAX_FILES: usize = 1_000;
/// Bytes of one file of the workspace that are read to compare it with the diff.
pub const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of the whole workspace that are read.
pub const MAX_TREE_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of one line that the line rules look at; minified and generated text has longer ones.
pub const MAX_LINE_BYTES: usize = 4 * 1024;
/// Findings in the result.
pub const MAX_FINDINGS: usize = 200;
/// Findings of one rule in one file.
pub const MAX_PER_RULE: usize = 20;
/// Entries of each list of the decision: required changes, blocking issues, residual risks.
pub const MAX_LIST: usize = 50;
/// Characters of a finding's evidence.
pub const MAX_EVIDENCE_CHARS: usize = 160;
/// Characters that are quoted of an issue that another role found.
pub const MAX_SUPPORT_CHARS: usize = 200;

/// An added file of more bytes than this is a finding.
pub const LARGE_FILE_BYTES: usize = 1024 * 1024;
/// An added source file of more lines than this is a finding.
pub const LARGE_FILE_LINES: usize = 2_000;
