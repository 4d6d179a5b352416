//! What a writable mount may hold at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::code::ErrorCode;
use crate::limits::{FileLimit, Meter};

/// Counts what exists in a writable mount, so that removing something makes room again.
#[derive(Debug)]
pub(crate) struct Quota {
    max_bytes: (u64, FileLimit),
    max_files: (u64, FileLimit),
    bytes: AtomicU64,
    files: AtomicU64,
    meter: Arc<Meter>,
}

impl Quota {
    pub(crate) fn new(max_bytes: (u64, FileLimit), max_files: (u64, FileLimit), meter: Arc<Meter>) -> Self {
        Self { max_bytes, max_files, bytes: AtomicU64::new(0), files: AtomicU64::new(0), meter }
    }

    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Files and folders that there may be.
    pub(crate) fn max_files(&self) -> u64 {
        self.max_files.0
    }

    /// Counts a refusal of more files than there may be.
    pub(crate) fn too_many_files(&self) -> ErrorCode {
        self.meter.refuse(self.max_files.1)
    }

    /// Takes room for `n` more bytes, or nothing.
    pub(crate) fn take_bytes(&self, n: u64) -> Result<(), ErrorCode> {
        self.meter.count(&self.bytes, n, self.max_bytes.0, self.max_bytes.1)
    }

    /// Takes room for one more file or folder, or nothing.
    pub(crate) fn take_file(&self) -> Result<(), ErrorCode> {
        self.meter.count(&self.files, 1, self.max_files.0, self.max_files.1)
    }

    pub(crate) fn give_bytes(&self, n: u64) {
        give(&self.bytes, n);
    }

    pub(crate) fn give_file(&self) {
        give(&self.files, 1);
    }
}

fn give(used: &AtomicU64, n: u64) {
    // The closure never refuses.
    let _ = used.fetch_update(Relaxed, Relaxed, |used| Some(used.saturating_sub(n)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::FileLimits;

    #[test]
    fn what_does_not_fit_is_refused_whole_and_counted() {
        let limits = FileLimits {
            artifact_bytes: 10,
            artifact_files: 1,
            staged_bytes: 0,
            staged_files: 0,
            written_bytes: 0,
            created_files: 0,
            listed_entries: 0,
        };
        let meter = Arc::new(Meter::new(limits));
        let (bytes, files) = ((10, FileLimit::ArtifactBytes), (1, FileLimit::ArtifactFiles));
        let quota = Quota::new(bytes, files, Arc::clone(&meter));
        assert_eq!(quota.take_bytes(8), Ok(()));
        assert_eq!(quota.take_bytes(3), Err(ErrorCode::Quota));
        assert_eq!(quota.take_bytes(2), Ok(()));
        assert_eq!(quota.take_bytes(u64::MAX), Err(ErrorCode::Quota));
        quota.give_bytes(10);
        assert_eq!(quota.take_bytes(10), Ok(()));
        assert_eq!(quota.take_file(), Ok(()));
        assert_eq!(quota.take_file(), Err(ErrorCode::Quota));
        assert_eq!(meter.reached(), [(FileLimit::ArtifactBytes, 2), (FileLimit::ArtifactFiles, 1)]);
    }
}
