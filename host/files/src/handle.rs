//! What a guest holds open: folders, files, and listings.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::io::{pread, retry_on_intr};

use crate::code::{ErrorCode, FileResult};
use crate::limits::Meter;
use crate::lower::Lower;
use crate::meta::Meta;
use crate::mount::MAX_FILE_BYTES;
use crate::staging::Staged;
use crate::stat::Stat;

/// Bytes that one read returns at most, whatever the guest asks for.
pub const MAX_READ: usize = 1 << 20;

/// An open folder.
#[derive(Clone)]
pub struct Folder {
    /// Index of the mount in the view.
    pub(crate) mount: usize,
    /// Path below the mount; `""` is the mount itself.
    pub(crate) path: String,
    /// The folder of the real tree that shows through; none where there is none.
    pub(crate) lower: Option<Arc<Lower>>,
}

impl Folder {
    pub(crate) fn child_path(&self, name: &str) -> String {
        join(&self.path, name)
    }
}

/// `name` below `folder`, which may be the mount itself.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { [folder, name].join("/") }
}

/// An open regular file.
#[derive(Clone)]
pub struct OpenFile {
    pub(crate) behind: Behind,
    pub(crate) readable: bool,
    /// Set where the file may be written: it is the overlay's.
    pub(crate) writable: bool,
    pub(crate) meter: Arc<Meter>,
}

/// What is behind an open file. It is shared with the overlay, which puts its copy there when the file of the real tree is
/// first written to: all handles of one file are one file.
pub(crate) type Behind = Arc<Mutex<Arc<Opened>>>;

/// A file of the real tree, or one of the overlay.
pub(crate) struct Opened {
    pub file: File,
    /// Keeps the overlay's file alive while it is open.
    pub staged: Option<Arc<Staged>>,
    /// What was last learned of a file of the real tree, and when. Guests ask several times in a row: a language's runtime
    /// turns one question into two or three.
    fresh: Mutex<Option<(Instant, Meta)>>,
}

/// How long what is known of a file of the real tree is news. Nothing that the guest does changes such a file.
const FRESH: Duration = Duration::from_millis(1);

impl Opened {
    /// A file of the overlay.
    pub(crate) fn staged(file: File, staged: Arc<Staged>) -> Self {
        Self { file, staged: Some(staged), fresh: Mutex::new(None) }
    }

    /// A file of the real tree, which is now as `meta` says.
    pub(crate) fn lower(file: File, meta: Meta) -> Self {
        Self { file, staged: None, fresh: Mutex::new(Some((Instant::now(), meta))) }
    }

    fn meta(&self) -> std::io::Result<Meta> {
        if self.staged.is_some() {
            return Meta::of(&self.file);
        }
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, meta)) = &*fresh
            && since.elapsed() < FRESH
        {
            return Ok(*meta);
        }
        let meta = Meta::of(&self.file)?;
        *fresh = Some((Instant::now(), meta));
        Ok(meta)
    }

    pub(crate) fn behind(self) -> Behind {
        Arc::new(Mutex::new(Arc::new(self)))
    }
}

/// The file that is behind a handle now.
fn now(behind: &Behind) -> Arc<Opened> {
    Arc::clone(&behind.lock().unwrap_or_else(PoisonError::into_inner))
}

impl OpenFile {
    /// Whether it was opened to read.
    pub fn is_readable(&self) -> bool {
        self.readable
    }

    /// Whether it was opened to write.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Reads at most `length` bytes at `offset`, and no more than [`MAX_READ`]. At the end there are none.
    ///
    /// # Errors
    /// `bad-descriptor` where the file was not opened to read; what the system says.
    pub fn read_at(&self, length: usize, offset: u64) -> FileResult<Vec<u8>> {
        if !self.readable {
            return Err(ErrorCode::BadDescriptor.into());
        }
        let opened = now(&self.behind);
        let mut bytes = Vec::with_capacity(length.min(MAX_READ));
        if bytes.capacity() > 0 {
            retry_on_intr(|| pread(&opened.file, spare_capacity(&mut bytes), offset))?;
            // The allocator may have given more room than was asked for.
            bytes.truncate(length);
        }
        self.meter.read(bytes.len());
        Ok(bytes)
    }

    /// Writes all of `bytes` at `offset`; without an offset, at the end. What the file grows by is charged first.
    ///
    /// # Errors
    /// `bad-descriptor` where the file was not opened to write, `quota`, `file-too-large`; what the system says.
    pub fn write_at(&self, bytes: &[u8], offset: Option<u64>) -> FileResult<()> {
        let opened = self.writer(ErrorCode::BadDescriptor)?;
        let (file, Some(staged)) = (&opened.file, &opened.staged) else { return Err(ErrorCode::BadDescriptor.into()) };
        if bytes.is_empty() {
            return Ok(());
        }
        let size = Meta::of(file)?.len();
        let offset = offset.unwrap_or(size);
        let end = offset.checked_add(bytes.len() as u64).filter(|end| *end <= MAX_FILE_BYTES);
        let end = end.ok_or(ErrorCode::FileTooLarge)?;
        let growth = end.saturating_sub(size);
        staged.quota().take_bytes(growth)?;
        if let Err(error) = self.meter.write(bytes.len() as u64) {
            staged.quota().give_bytes(growth);
            return Err(error.into());
        }
        if let Err(error) = file.write_all_at(bytes, offset) {
            let grown = Meta::of(file).map(|m| m.len().saturating_sub(size)).unwrap_or(growth);
            staged.quota().give_bytes(growth.saturating_sub(grown));
            return Err(error.into());
        }
        Ok(())
    }

    /// Cuts the file, or makes it longer with zeros.
    ///
    /// # Errors
    /// `invalid` where the file was not opened to write, `quota`, `file-too-large`; what the system says.
    pub fn set_size(&self, size: u64) -> FileResult<()> {
        let opened = self.writer(ErrorCode::Invalid)?;
        let (file, Some(staged)) = (&opened.file, &opened.staged) else { return Err(ErrorCode::Invalid.into()) };
        if size > MAX_FILE_BYTES {
            return Err(ErrorCode::FileTooLarge.into());
        }
        let old = Meta::of(file)?.len();
        staged.quota().take_bytes(size.saturating_sub(old))?;
        if let Err(error) = file.set_len(size) {
            staged.quota().give_bytes(size.saturating_sub(old));
            return Err(error.into());
        }
        staged.quota().give_bytes(old.saturating_sub(size));
        Ok(())
    }

    /// Writes what the system holds back to the disk.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&self, data_only: bool) -> FileResult<()> {
        let opened = now(&self.behind);
        match (self.writable, data_only) {
            (false, _) => Ok(()),
            (true, true) => Ok(opened.file.sync_data()?),
            (true, false) => Ok(opened.file.sync_all()?),
        }
    }

    /// The file to write to; `otherwise` where it was not opened to write.
    pub(crate) fn writer(&self, otherwise: ErrorCode) -> FileResult<Arc<Opened>> {
        if self.writable { Ok(now(&self.behind)) } else { Err(otherwise.into()) }
    }

    pub(crate) fn stat(&self) -> std::io::Result<Stat> {
        let opened = now(&self.behind);
        let stat = Stat::of(&opened.meta()?);
        Ok(opened.staged.as_ref().map_or(stat.clone(), |staged| stat.standing_for(staged.stands_for())))
    }
}

/// What a guest opened.
#[derive(Clone)]
pub enum Handle {
    /// A folder.
    Folder(Folder),
    /// A regular file.
    File(OpenFile),
}

impl Handle {
    /// The folder that it is.
    ///
    /// # Errors
    /// `not-directory`.
    pub fn folder(&self) -> FileResult<&Folder> {
        match self {
            Self::Folder(folder) => Ok(folder),
            Self::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    /// The file that it is.
    ///
    /// # Errors
    /// `is-directory`.
    pub fn file(&self) -> FileResult<&OpenFile> {
        match self {
            Self::File(file) => Ok(file),
            Self::Folder(_) => Err(ErrorCode::IsDirectory.into()),
        }
    }
}
