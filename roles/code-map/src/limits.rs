//! Every bound of the library.

/// Largest text that an outline is made of: 1 MiB. Larger files are generated or data far more often than written by hand. Whoever
/// reads the file keeps to it.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Most definitions that are kept of one file.
pub const MAX_DEFINITIONS_PER_FILE: usize = 4_000;

/// Longest name of a definition, in characters; a longer one is cut.
pub const MAX_NAME_CHARS: usize = 120;

/// Deepest nesting of brackets, or of indented blocks, that a recursive parser is given.
///
/// Measured in wasm with the sandbox's 1 MiB of stack: the worst construct of the three parsers overflows above 500 levels.
/// A file that is nested deeper gets the tokenizer, which does not recurse.
pub const MAX_NESTING: usize = 200;

/// Longest chain of operators and prefix words in one statement (`!!!!a`, `a = b = c`, `if … else if …`) that a recursive
/// parser is given. Measured as [`MAX_NESTING`]: the worst chain overflows above 1,000.
pub const MAX_CHAIN: usize = 400;
