//! The handles that a guest holds.

use std::sync::Arc;

use super::bindings::wasi::filesystem::types::{DescriptorFlags, ErrorCode};
use super::error::FsResult;
use super::quota::{Held, Quota};
use super::resolve::Folder;

/// An open file or folder of a guest.
pub enum Descriptor {
    Folder {
        /// Index of the mount in the view.
        mount: usize,
        folder: Folder,
    },
    File(OpenFile),
}

/// An open regular file.
#[derive(Clone)]
pub struct OpenFile {
    pub file: Arc<std::fs::File>,
    pub readable: bool,
    /// Set where the guest may write to it.
    pub quota: Option<Arc<Quota>>,
    /// Set in a mount with a quota: keeps the file's bytes charged.
    #[expect(dead_code, reason = "what it does, it does when it is dropped")]
    pub held: Option<Arc<Held>>,
}

impl Descriptor {
    pub(crate) fn folder(&self) -> FsResult<(usize, &Folder)> {
        match self {
            Self::Folder { mount, folder } => Ok((*mount, folder)),
            Self::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    pub(crate) fn file(&self) -> FsResult<&OpenFile> {
        match self {
            Self::File(file) => Ok(file),
            Self::Folder { .. } => Err(ErrorCode::IsDirectory.into()),
        }
    }

    pub(crate) fn flags(&self, writable_mount: bool) -> DescriptorFlags {
        match self {
            Self::Folder { .. } if writable_mount => DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY,
            Self::Folder { .. } => DescriptorFlags::READ,
            Self::File(file) => {
                let mut flags = DescriptorFlags::empty();
                if file.readable {
                    flags |= DescriptorFlags::READ;
                }
                if file.quota.is_some() {
                    flags |= DescriptorFlags::WRITE;
                }
                flags
            }
        }
    }
}

impl OpenFile {
    pub(crate) fn readable(&self) -> FsResult<&std::fs::File> {
        if self.readable { Ok(&self.file) } else { Err(ErrorCode::BadDescriptor.into()) }
    }

    pub(crate) fn writable(&self) -> FsResult<(&std::fs::File, &Quota)> {
        match &self.quota {
            Some(quota) => Ok((&self.file, quota)),
            None => Err(ErrorCode::BadDescriptor.into()),
        }
    }
}

/// A folder being listed.
pub struct EntryStream {
    pub mount: usize,
    /// Path of the folder below the mount.
    pub path: String,
    pub entries: cap_std::fs::ReadDir,
}
