//! What a role sees of the file system, and what becomes of what it writes.
//!
//! **For:** a [`FileView`] shows the files that a call is granted: three mounts, each with a scope of names that exist.
//! Every path is walked by directory handle, one name at a time. What a role writes goes to an overlay; the real tree is
//! never written. When the call has ended, the overlay becomes a [`ChangeSet`](brain_changes::ChangeSet), a proposal.
//!
//! **Must not know:** wasmtime, what a role is, who granted what and why, or how a proposal is applied.
//!
//! ```
//! use brain_files::{FileGrants, FileLimits, FileView, GlobLayer, Handle, Open, RuleCache, WorkspaceGrant};
//!
//! let project = tempfile::tempdir()?;
//! std::fs::write(project.path().join("notes.txt"), "one\n")?;
//! let everything = vec![GlobLayer::new("operator", ["**"])];
//! let kept = tempfile::tempdir()?;
//! let grants = FileGrants {
//!     workspace: Some(WorkspaceGrant::new(project.path(), everything.clone(), everything)),
//!     contents: Some(kept.path().to_owned()),
//!     ..FileGrants::default()
//! };
//! let mut view = FileView::open(&grants, &FileLimits::default(), &RuleCache::default(), std::sync::Arc::new(|| false))?;
//! let (root, guest_path) = view.roots().next().expect("the workspace");
//! assert_eq!(guest_path, "/workspace");
//! let how = Open { write: true, ..Open::default() };
//! let Ok(Handle::File(file)) = view.open_at(&root, "notes.txt", how) else { panic!("it is granted") };
//! file.write_at(b"two\n", None).expect("there is room");
//!
//! assert_eq!(std::fs::read(project.path().join("notes.txt"))?, b"one\n");
//! let proposed = view.change_set()?;
//! assert_eq!(proposed.changes[0].diff.as_deref(), Some("@@ -1,1 +1,2 @@\n one\n+two\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alias;
mod code;
mod collect;
mod denials;
mod grants;
mod handle;
mod ignores;
mod limits;
mod list;
mod lower;
mod meta;
mod mount;
mod mutate;
mod overlay;
mod quota;
mod recent;
mod scope;
mod staging;
mod stat;
mod view;
mod walk;

pub use code::{ErrorCode, Fault, FileResult};
pub use denials::{Asked, Denial};
pub use grants::{FileGrants, GrantError, Visibility, WorkspaceGrant};
pub use handle::{Folder, Handle, MAX_READ, OpenFile};
pub use limits::{FileLimit, FileLimits, Meter};
pub use list::{Listed, Listing};
pub use mount::Stop;
pub use mutate::NewTime;
pub use scope::{DEFAULT_DENY, FolderUse, GlobError, GlobLayer, RuleCache};
pub use stat::{Kind, Stat};
pub use view::{FileView, Open};

/// Guest path of the project.
pub const WORKSPACE: &str = "/workspace";
/// Guest path of the handoff's context files.
pub const CONTEXT: &str = "/context";
/// Guest path of the folder that a role leaves artifacts in.
pub const ARTIFACTS: &str = "/artifacts";
