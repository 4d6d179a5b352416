//! Every bound of the role, in one place.

/// Findings that are returned, the worst first; the rest is counted by severity in the risks.
pub const MAX_FINDINGS: usize = 200;
/// Findings of one rule that are listed for one file; the last one says how many more there are and where.
pub const MAX_PER_RULE_AND_FILE: usize = 3;
/// Line numbers that the last listed one names for the others.
pub const MAX_LINES_NAMED: usize = 10;
/// Bytes of a file that are read; of a larger one, the beginning.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Bytes that are read in one run: what a component scans well within its deadline.
pub const MAX_TOTAL_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes of a line from which a file counts as minified: generated code is looked at for secrets only.
pub const MAX_CODE_LINE_BYTES: usize = 5_000;
/// Characters of evidence that a finding shows.
pub const MAX_EVIDENCE_CHARS: usize = 160;
/// Bytes behind a name that are read for the arguments of its call.
pub const MAX_CALL_BYTES: usize = 4 * 1024;
/// Bytes before a place that are read for the call or statement around it.
pub const MAX_BACK_BYTES: usize = 2 * 1024;
/// String templates inside string templates that are followed.
pub const MAX_TEMPLATE_DEPTH: usize = 16;
/// Nodes of a YAML file that are kept; a larger file is said to be read in part.
pub const MAX_YAML_NODES: usize = 50_000;
/// Levels of a YAML file that are kept.
pub const MAX_YAML_DEPTH: usize = 48;
/// Bytes of a YAML file that is parsed.
pub const MAX_YAML_BYTES: usize = 512 * 1024;
/// File references of the handoff that are followed.
pub const MAX_REFS: usize = 10_000;
/// Findings of one file before they are joined; a file with more is counted.
pub const MAX_RAW_PER_FILE: usize = 2_000;
