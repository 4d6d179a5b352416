//! Bytes and files that a role may store.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::bindings::wasi::filesystem::types::ErrorCode;

/// What a writable mount may hold. Counts what exists, so removing a file makes room again.
#[derive(Debug)]
pub struct Quota {
    max_bytes: u64,
    max_files: u64,
    bytes: AtomicU64,
    files: AtomicU64,
    refusals: AtomicU64,
    /// Open handles by inode.
    open: Mutex<HashMap<u64, usize>>,
}

/// An open file of a mount with a quota. A file that is removed while it is open holds its bytes until it is closed: else
/// a role could fill the disk with files that no longer have a name.
#[derive(Debug)]
pub struct Held {
    file: Arc<File>,
    inode: u64,
    quota: Arc<Quota>,
}

impl Held {
    pub(crate) fn new(file: &Arc<File>, quota: &Arc<Quota>) -> std::io::Result<Self> {
        let inode = file.metadata()?.ino();
        *quota.open().entry(inode).or_default() += 1;
        Ok(Self { file: Arc::clone(file), inode, quota: Arc::clone(quota) })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut open = self.quota.open();
        if let Some(handles) = open.get_mut(&self.inode) {
            *handles -= 1;
            if *handles > 0 {
                return;
            }
        }
        open.remove(&self.inode);
        drop(open);
        if let Ok(metadata) = self.file.metadata()
            && metadata.nlink() == 0
        {
            self.quota.give_bytes(metadata.len());
        }
    }
}

impl Quota {
    pub(crate) fn new(max_bytes: u64, max_files: u64) -> Self {
        Self {
            max_bytes,
            max_files,
            bytes: AtomicU64::new(0),
            files: AtomicU64::new(0),
            refusals: AtomicU64::new(0),
            open: Mutex::default(),
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file or folder lost its name. What a file holds stays charged for as long as it is open.
    pub(crate) fn release(&self, is_file: bool, inode: u64, bytes: u64) {
        self.give_file();
        if is_file && !self.open().contains_key(&inode) {
            self.give_bytes(bytes);
        }
    }

    /// Takes room for `n` more bytes, or nothing.
    pub(crate) fn take_bytes(&self, n: u64) -> Result<(), ErrorCode> {
        self.take(&self.bytes, n, self.max_bytes)
    }

    /// Takes room for one more file or folder, or nothing.
    pub(crate) fn take_file(&self) -> Result<(), ErrorCode> {
        self.take(&self.files, 1, self.max_files)
    }

    pub(crate) fn give_bytes(&self, n: u64) {
        give(&self.bytes, n);
    }

    pub(crate) fn give_file(&self) {
        give(&self.files, 1);
    }

    /// How often something was refused.
    pub(crate) fn refusals(&self) -> u64 {
        self.refusals.load(Relaxed)
    }

    fn take(&self, used: &AtomicU64, n: u64, max: u64) -> Result<(), ErrorCode> {
        used.fetch_update(Relaxed, Relaxed, |used| used.checked_add(n).filter(|sum| *sum <= max)).map(drop).map_err(
            |_| {
                self.refusals.fetch_add(1, Relaxed);
                ErrorCode::Quota
            },
        )
    }
}

fn give(used: &AtomicU64, n: u64) {
    // The closure never refuses.
    let _ = used.fetch_update(Relaxed, Relaxed, |used| Some(used.saturating_sub(n)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_takes_nothing() {
        let quota = Quota::new(10, 1);
        assert_eq!(quota.take_bytes(8), Ok(()));
        assert_eq!(quota.take_bytes(3), Err(ErrorCode::Quota));
        assert_eq!(quota.take_bytes(2), Ok(()));
        assert_eq!(quota.take_bytes(u64::MAX), Err(ErrorCode::Quota));
        quota.give_bytes(10);
        assert_eq!(quota.take_bytes(10), Ok(()));
        assert_eq!(quota.take_file(), Ok(()));
        assert_eq!(quota.take_file(), Err(ErrorCode::Quota));
        assert_eq!(quota.refusals(), 3);
    }
}
