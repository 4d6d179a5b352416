//! What a role proposes to change, and how it gets into a tree: all of it or none of it.
//!
//! **What it is for.** A [`ChangeSet`] says which files come, change, move and go, with the digests of both sides and a
//! diff. [`Contents`] keep the files themselves. [`apply()`] brings a set into a tree, [`recover()`] ends what a crash
//! interrupted, and applying [`Applied::undo`] takes it back, byte and mode exact. What a crash has to find is
//! written to an [`IntentLog`], which the caller has.
//!
//! **What it must not know.** Roles, grants and WASM: whether a role may write a path was decided before. Sessions and
//! the journal: it sees one root, one folder of contents, one log. It never follows a link, never opens what is no regular
//! file, and believes no change set, plan or content that it reads back.
//!
//! ```
//! use brain_changes::{Builder, Contents, MemoryLog, Side, apply};
//!
//! let place = tempfile::tempdir()?;
//! let (root, contents) = (place.path().join("tree"), Contents::open(place.path().join("contents"))?);
//! std::fs::create_dir(&root)?;
//!
//! let mut proposal = Builder::new(&contents);
//! proposal.folder_added("src", 0o755)?.added("src/lib.rs", Side::new(0o644, &b"//! New.\n"[..]))?;
//! let set = proposal.finish()?;
//! assert_eq!(set.stats().added_lines, 1);
//! let applied = apply(&set, &root, &contents, &mut MemoryLog::default())?;
//! assert_eq!(std::fs::read(root.join("src/lib.rs"))?, b"//! New.\n");
//! let _ = apply(&applied.undo, &root, &contents, &mut MemoryLog::default())?;
//! assert!(!root.join("src").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod apply;
pub mod build;
pub mod change;
mod check;
pub mod contents;
pub mod diff;
pub mod error;
mod finish;
pub mod intent;
mod patch;
pub mod path;
mod plan;
pub mod recover;
pub mod set;
pub mod state;
mod tree;
pub mod watch;

pub use apply::{Applied, apply, apply_watched};
pub use build::{Builder, DIFF_TIME, Side};
pub use change::{Change, ChangeKind, Folder, MODE_BITS, new_file_mode, new_folder_mode};
pub use check::{conflicts, is_base};
pub use contents::{Contents, MAX_CONTENT_BYTES};
pub use diff::{DiffError, MAX_DIFF_BYTES, MAX_DIFF_INPUT_BYTES};
pub use error::{ApplyError, BuildError, ContentsError, Failure, SetError};
pub use intent::{Intent, IntentId, IntentLog, MemoryLog, Outcome, Reached};
pub use path::{MAX_NAME_BYTES, MAX_PATH_BYTES, PathFault, TEMP_PREFIX, check_path, is_reserved};
pub use recover::{Recovered, recover, recover_watched};
pub use set::{ChangeSet, MAX_CHANGES, MAX_FOLDERS, MAX_SET_BYTES, MAX_SET_DIFF_BYTES, Stats};
pub use state::{Conflict, State};
pub use watch::{Step, Watch};
