//! Every bound of the crate, in one place.

/// Nodes of a YAML file that are kept; a larger file is said to be read in part.
pub const MAX_YAML_NODES: usize = 50_000;
/// Levels of a YAML file that are kept.
pub const MAX_YAML_DEPTH: usize = 48;
/// Bytes of a YAML file that is parsed.
pub const MAX_YAML_BYTES: usize = 512 * 1024;
