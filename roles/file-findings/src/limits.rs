//! Every bound of the crate, in one place.

/// Findings that are returned, the worst first; the rest is counted by severity in the risks.
pub const MAX_FINDINGS: usize = 200;
/// Findings of one rule that are listed for one file; the last one says how many more there are and where.
pub const MAX_PER_RULE_AND_FILE: usize = 3;
/// Line numbers that the last listed one names for the others.
pub const MAX_LINES_NAMED: usize = 10;
/// Characters of evidence that a finding shows.
pub const MAX_EVIDENCE_CHARS: usize = 160;
/// Bytes of a file that are read; of a larger one, the beginning.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Bytes that are read in one run: what a component scans well within its deadline.
pub const MAX_TOTAL_BYTES: u64 = 256 * 1024 * 1024;
/// File references of the handoff that are followed.
pub const MAX_REFS: usize = 10_000;
/// Bytes of a line from which a file counts as minified: generated code is looked at for secrets only.
pub const MAX_CODE_LINE_BYTES: usize = 5_000;
