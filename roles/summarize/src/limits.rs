//! Every bound of the role. What is past one is counted and said.

/// Sources that are read, in all.
pub const MAX_SOURCES: usize = 64;
/// Bytes that are read of one source: 256 KiB.
pub const MAX_SOURCE_BYTES: u64 = 256 * 1024;
/// Files of one folder that the handoff names.
pub const MAX_FILES_OF_FOLDER: usize = 24;
/// Entries that are listed to find the prose of a folder.
pub const MAX_LISTED: usize = 20_000;
/// Longest goal that is looked at, in bytes.
pub const MAX_GOAL_BYTES: usize = 64 * 1024;
/// Sentences that are ranked.
pub const MAX_SENTENCES: usize = 10_000;
/// Findings of one result that are taken, the worst first.
pub const MAX_FINDINGS_OF_RESULT: usize = 50;
/// Terms of one sentence that are compared.
pub const MAX_TERMS: usize = 120;
/// Characters of one quoted sentence; a longer one is cut and marked.
pub const MAX_SENTENCE_CHARS: usize = 320;
/// Bytes of a paragraph that are split into sentences.
pub const MAX_PARAGRAPH_BYTES: usize = 32 * 1024;
/// Sentences that say what was asked.
pub const MAX_ASKED: usize = 4;
/// Sentences that say what was decided and found.
pub const MAX_FOUND: usize = 10;
/// Sentences that say what is open.
pub const MAX_OPEN: usize = 6;
/// Sentences that say what comes next.
pub const MAX_NEXT: usize = 6;
/// Sources that one quoted sentence names when several say the same.
pub const MAX_SAME: usize = 3;
/// Characters of a source's name.
pub const MAX_LABEL_CHARS: usize = 120;
