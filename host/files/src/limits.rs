//! What one call may do to files, and the count of what it did.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::code::ErrorCode;

/// The limits of one call that are enforced here. None of them ends the call: the operation gets `quota`, and the
/// refusal is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimits {
    /// Bytes that may lie below `/artifacts` at once. Default: 64 MiB.
    pub artifact_bytes: u64,
    /// Files and folders that may lie there at once. Default: 1 000.
    pub artifact_files: u64,
    /// Bytes that the overlay of `/workspace` may hold at once: new files, and copies of those that were changed. Default: 256 MiB.
    pub staged_bytes: u64,
    /// Files and folders of `/workspace` that may be created, changed, moved or removed. Default: 10 000.
    pub staged_files: u64,
    /// Bytes that may be written in all, wherever they go and whatever they replace. Default: 1 GiB.
    pub written_bytes: u64,
    /// Files and folders that may be created in all, whether or not they still exist. Default: 20 000.
    pub created_files: u64,
    /// Names that may be looked at in listed folders, whether or not the role is shown them. Default: 1 000 000.
    pub listed_entries: u64,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            artifact_bytes: 64 << 20,
            artifact_files: 1_000,
            staged_bytes: 256 << 20,
            staged_files: 10_000,
            written_bytes: 1 << 30,
            created_files: 20_000,
            listed_entries: 1_000_000,
        }
    }
}

/// One of [`FileLimits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "they are the fields of `FileLimits`")]
pub enum FileLimit {
    ArtifactBytes,
    ArtifactFiles,
    StagedBytes,
    StagedFiles,
    WrittenBytes,
    CreatedFiles,
    ListedEntries,
}

impl FileLimit {
    /// All of them, in the order of the fields.
    pub const ALL: [Self; 7] = [
        Self::ArtifactBytes,
        Self::ArtifactFiles,
        Self::StagedBytes,
        Self::StagedFiles,
        Self::WrittenBytes,
        Self::CreatedFiles,
        Self::ListedEntries,
    ];
}

/// Counts of one call's file use, and of what its limits refused.
#[derive(Debug)]
pub struct Meter {
    limits: FileLimits,
    files_read: AtomicU64,
    bytes_read: AtomicU64,
    files_written: AtomicU64,
    bytes_written: AtomicU64,
    created: AtomicU64,
    listed: AtomicU64,
    names_skipped: AtomicU64,
    refused: [AtomicU64; FileLimit::ALL.len()],
}

impl Meter {
    pub(crate) fn new(limits: FileLimits) -> Self {
        Self {
            limits,
            files_read: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            files_written: AtomicU64::new(0),
            bytes_written: AtomicU64::new(0),
            created: AtomicU64::new(0),
            listed: AtomicU64::new(0),
            names_skipped: AtomicU64::new(0),
            refused: Default::default(),
        }
    }

    /// Files that were opened to read.
    pub fn files_read(&self) -> u64 {
        self.files_read.load(Relaxed)
    }

    /// Bytes that were read.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Relaxed)
    }

    /// Files that were opened to write.
    pub fn files_written(&self) -> u64 {
        self.files_written.load(Relaxed)
    }

    /// Bytes that were written.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written.load(Relaxed)
    }

    /// Names in listed folders that are not UTF-8 and so cannot be shown to a guest.
    pub fn names_skipped(&self) -> u64 {
        self.names_skipped.load(Relaxed)
    }

    /// The limits at which something was refused, and how often.
    pub fn reached(&self) -> Vec<(FileLimit, u64)> {
        let times = FileLimit::ALL.into_iter().map(|limit| (limit, self.refusals(limit).load(Relaxed)));
        times.filter(|(_, times)| *times > 0).collect()
    }

    pub(crate) fn opened(&self, to_write: bool) {
        if to_write { &self.files_written } else { &self.files_read }.fetch_add(1, Relaxed);
    }

    pub(crate) fn read(&self, bytes: usize) {
        self.bytes_read.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn name_skipped(&self) {
        self.names_skipped.fetch_add(1, Relaxed);
    }

    /// Counts bytes that are about to be written.
    pub(crate) fn write(&self, bytes: u64) -> Result<(), ErrorCode> {
        self.count(&self.bytes_written, bytes, self.limits.written_bytes, FileLimit::WrittenBytes)
    }

    /// Counts a file or folder that is about to be created.
    pub(crate) fn create(&self) -> Result<(), ErrorCode> {
        self.count(&self.created, 1, self.limits.created_files, FileLimit::CreatedFiles)
    }

    /// Counts a name that is about to be looked at.
    pub(crate) fn list(&self) -> Result<(), ErrorCode> {
        self.count(&self.listed, 1, self.limits.listed_entries, FileLimit::ListedEntries)
    }

    /// Adds `n` where the sum stays within `max`; else nothing is added, and the refusal is counted.
    pub(crate) fn count(&self, used: &AtomicU64, n: u64, max: u64, limit: FileLimit) -> Result<(), ErrorCode> {
        let fits = |used: u64| used.checked_add(n).filter(|sum| *sum <= max);
        used.fetch_update(Relaxed, Relaxed, fits).map(drop).map_err(|_| self.refuse(limit))
    }

    /// Counts a refusal.
    pub(crate) fn refuse(&self, limit: FileLimit) -> ErrorCode {
        self.refusals(limit).fetch_add(1, Relaxed);
        ErrorCode::Quota
    }

    fn refusals(&self, limit: FileLimit) -> &AtomicU64 {
        let [a, b, c, d, e, f, g] = &self.refused;
        match limit {
            FileLimit::ArtifactBytes => a,
            FileLimit::ArtifactFiles => b,
            FileLimit::StagedBytes => c,
            FileLimit::StagedFiles => d,
            FileLimit::WrittenBytes => e,
            FileLimit::CreatedFiles => f,
            FileLimit::ListedEntries => g,
        }
    }
}
