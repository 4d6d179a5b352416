//! Every bound of the role, in one place. What a bound cuts off is counted and said in the result's risks.

pub use code_map::limits::{MAX_CHAIN, MAX_DEFINITIONS_PER_FILE, MAX_FILE_BYTES, MAX_NAME_CHARS, MAX_NESTING};

/// Most files that are listed in the granted tree.
pub const MAX_FILES_LISTED: usize = 100_000;

/// Most files whose text is read. The rest is ranked by path alone.
pub const MAX_FILES_READ: usize = 60_000;

/// Most bytes that are read in all: 64 MiB.
pub const MAX_TOTAL_BYTES: u64 = 64 * 1024 * 1024;

/// Most definitions that are kept in all for the map. Beyond it, only those that have something of the goal are.
pub const MAX_DEFINITIONS: usize = 100_000;

/// Most definitions that are kept in all, those with something of the goal included.
pub const MAX_DEFINITIONS_WITH_MATCHES: usize = 150_000;

/// Longest goal that is looked at, in bytes. What comes after is not searched for.
pub const MAX_GOAL_BYTES: usize = 16 * 1024;

/// Most different words of a goal that are searched for, rarest kept by order of appearance.
pub const MAX_QUERY_WORDS: usize = 24;

/// Longest written-out earlier session that is looked at, in bytes: 64 KiB.
pub const MAX_THREAD_BYTES: usize = 64 * 1024;

/// Most earlier sessions that are read.
pub const MAX_THREADS: usize = 4;

/// Most files that are described one by one when the handoff refers to them and the goal asks for nothing else.
pub const MAX_DESCRIBED: usize = 6;

/// Most places in one file at which a word of the goal is assigned to the definition around it.
pub const MAX_HITS_PER_FILE: usize = 4_000;

/// Most files named in the result.
pub const MAX_FILE_REFS: usize = 10;

/// Most test files named in the result, on top of those, when the goal asks about tests.
pub const MAX_TEST_REFS: usize = 5;

/// Most definitions named in the summary.
pub const MAX_SUMMARY_DEFINITIONS: usize = 6;

/// Most test files that are read again to find what they refer to.
pub const MAX_TEST_FILES_SEARCHED: usize = 2_000;

/// Most bytes of test files that are read again: 16 MiB.
pub const MAX_TEST_BYTES: u64 = 16 * 1024 * 1024;

/// Most entry points that are kept.
pub const MAX_ENTRY_POINTS: usize = 200;

/// Most files in the ranking of `map.json`.
pub const MAX_RANKED: usize = 200;

/// Largest `map.json`, in bytes: 32 MiB. Definitions of the lowest ranked files are left out first.
pub const MAX_MAP_BYTES: usize = 32 * 1024 * 1024;

/// Most entries of one kind that a sentence lists before it says how many more there are.
pub const MAX_LISTED: usize = 3;

/// Characters of one item of a list in the summary, such as a word of the goal; a path may be longer than a word.
pub const MAX_ITEM_CHARS: usize = 160;
