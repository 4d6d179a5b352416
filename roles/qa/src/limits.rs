//! Every bound of the role, in one place. What a bound cuts off is counted and said in the result's risks.

pub use code_map::limits::MAX_FILE_BYTES;

/// Most files that are listed in the granted tree.
pub const MAX_FILES_LISTED: usize = 100_000;

/// Most files whose text is read.
pub const MAX_FILES_READ: usize = 40_000;

/// Most bytes that are read in all: 64 MiB.
pub const MAX_TOTAL_BYTES: u64 = 64 * 1024 * 1024;

/// Most bytes of code without comments that are kept to look for names in: 48 MiB. Files with tests come first.
pub const MAX_KEPT_BYTES: u64 = 48 * 1024 * 1024;

/// Most definitions that are kept in all.
pub const MAX_DEFINITIONS: usize = 100_000;

/// Most manifests (`Cargo.toml`, `package.json`, …) that are read, those nearest to the root first.
pub const MAX_MANIFESTS: usize = 500;

/// Largest manifest that is read, in bytes: 256 KiB.
pub const MAX_MANIFEST_BYTES: u64 = 256 * 1024;

/// Bytes of `/context/changes.diff` that are read.
pub const MAX_DIFF_BYTES: usize = 8 * 1024 * 1024;

/// Lines of the diff that are parsed.
pub const MAX_DIFF_LINES: usize = 400_000;

/// Changed files that are looked at.
pub const MAX_CHANGED_FILES: usize = 1_000;

/// Longest goal that is looked at, in bytes.
pub const MAX_GOAL_BYTES: usize = 16 * 1024;

/// Most different words of a goal that are looked for.
pub const MAX_GOAL_WORDS: usize = 24;

/// Most files that the words of a goal select.
pub const MAX_NAMED_FILES: usize = 6;

/// Most references of a handoff to files that are followed.
pub const MAX_REFS: usize = 256;

/// Most definitions whose tests are looked for when a change or a part of the project is asked about.
pub const MAX_TARGETS: usize = 4_000;

/// Most tests that are kept for one definition; further ones are counted.
pub const MAX_USES: usize = 20;

/// Steps from a definition without a test of its own to a caller that has one.
pub const MAX_STEPS: usize = 3;

/// Callers that are followed in one step.
pub const MAX_CALLERS: usize = 2_000;

/// Marks of disabled and focused tests, and tests without an assertion, that are kept of one file.
pub const MAX_SMELLS_PER_FILE: usize = 100;

/// Words of one function that are kept to see whether what it calls asserts.
pub const MAX_CALLS: usize = 200;

/// Findings in the result, the worst first.
pub const MAX_FINDINGS: usize = 200;

/// Findings of one rule in one file; the last of them says how many more there are.
pub const MAX_PER_RULE: usize = 3;

/// Definitions that one list of the summary names.
pub const MAX_LISTED: usize = 12;

/// Commands that the summary names.
pub const MAX_COMMANDS: usize = 12;

/// Names of tests in one command; with more, the whole file or target is run.
pub const MAX_NAMES_IN_COMMAND: usize = 8;

/// Test files of one definition that the commands run, the nearest first.
pub const MAX_FILES_TO_RUN: usize = 2;

/// Longest command, in bytes.
pub const MAX_COMMAND_BYTES: usize = 1_500;

/// Test files that the result refers to.
pub const MAX_TEST_REFS: usize = 12;

/// Characters of a finding's evidence.
pub const MAX_EVIDENCE_CHARS: usize = 160;

/// Characters of a name in a sentence.
pub const MAX_SHOWN_CHARS: usize = 160;
