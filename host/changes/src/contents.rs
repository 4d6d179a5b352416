//! Contents by digest: where proposed files wait, and where replaced ones are kept for an undo.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use brain_packet::Digest;
use rustix::fs::FlockOperation;
use sha2::{Digest as _, Sha256};

use crate::error::ContentsError;

/// Largest content, in bytes.
pub const MAX_CONTENT_BYTES: u64 = 1024 * 1024 * 1024;
/// Beginning of the name of a content that is being written.
const NEW: &str = ".put-";
/// Most names that one [sweep](Contents::sweep) looks at.
const MAX_SWEPT: usize = 1 << 16;
/// How much is copied at a time, in bytes.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;

/// A folder of contents, each in a file that is named by its digest. The folder is for its owner only (0700), as is each
/// file (0600). Nothing is believed on reading: a content whose bytes do not hash to its name is an error.
#[derive(Clone, Debug)]
pub struct Contents {
    folder: PathBuf,
    limit: u64,
}

impl Contents {
    /// The contents in `folder`, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made, or is no folder.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, ContentsError> {
        let folder = folder.into();
        let failed = |source| ContentsError::Io { action: "make the folder", path: folder.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        Ok(Self { folder, limit: MAX_CONTENT_BYTES })
    }

    /// The same, taking no content of more than `bytes`; never more than [`MAX_CONTENT_BYTES`].
    #[must_use]
    pub fn with_limit(self, bytes: u64) -> Self {
        Self { limit: bytes.min(MAX_CONTENT_BYTES), ..self }
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps what `reader` gives. The content has its name only once it is complete. It survives a crash of the process at once,
    /// and one of the machine when it was [kept](Self::sync).
    ///
    /// # Errors
    /// If reading or writing fails, or there is more than a content may have.
    pub fn put(&self, reader: &mut dyn Read) -> Result<Digest, ContentsError> {
        self.put_watched(reader, &mut |_| {}).map(|(digest, _)| digest)
    }

    /// [`put`](Self::put) that shows every chunk, and returns the size too.
    pub(crate) fn put_watched(
        &self,
        reader: &mut dyn Read,
        seen: &mut dyn FnMut(&[u8]),
    ) -> Result<(Digest, u64), ContentsError> {
        let failed = |action| move |source| ContentsError::Io { action, path: self.folder.clone(), source };
        // Held while there is a file that has not got its name: whoever sweeps sees that somebody is at work.
        let _at_work = self.hold(FlockOperation::LockShared);
        let mut file = tempfile::Builder::new()
            .prefix(NEW)
            .tempfile_in(&self.folder)
            .map_err(failed("make a file in the folder"))?;
        let (digest, bytes) = copy_hashed(reader, self.limit, &mut |chunk| {
            seen(chunk);
            file.write_all(chunk)
        })
        .map_err(|error| error.into_contents("write a content into the folder", &self.folder))?;
        // A good copy that is there already stays: it may have been synced.
        if self.read(&digest).is_err() {
            file.persist(self.path(&digest)).map_err(|e| failed("name a content in the folder")(e.error))?;
        }
        Ok((digest, bytes))
    }

    /// Opens a content, from its first byte.
    ///
    /// # Errors
    /// If it is not there, cannot be read, or is not what its name says.
    pub fn read(&self, digest: &Digest) -> Result<File, ContentsError> {
        let mut file = self.open_file(digest)?;
        let (found, _) = copy_hashed(&mut file, MAX_CONTENT_BYTES, &mut |_| Ok(()))
            .map_err(|error| error.into_contents("read", &self.path(digest)))?;
        self.same(digest, found)?;
        file.rewind().map_err(|source| ContentsError::Io { action: "read", path: self.path(digest), source })?;
        Ok(file)
    }

    /// Reads a content of at most `limit` bytes.
    pub(crate) fn bytes(&self, digest: &Digest, limit: u64) -> Result<Vec<u8>, ContentsError> {
        let failed = |source| ContentsError::Io { action: "read", path: self.path(digest), source };
        let mut bytes = Vec::new();
        self.open_file(digest)?.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > limit {
            return Err(ContentsError::TooLarge { path: self.path(digest), limit });
        }
        self.same(digest, Digest::of(&bytes))?;
        Ok(bytes)
    }

    /// Writes a content into `out`. What was written is worth nothing when this fails.
    pub(crate) fn copy_to(&self, digest: &Digest, out: &mut dyn Write) -> Result<(), CopyError> {
        let mut file = self.open_file(digest).map_err(CopyError::Contents)?;
        let (found, _) = copy_hashed(&mut file, MAX_CONTENT_BYTES, &mut |chunk| out.write_all(chunk)).map_err(
            |error| match error {
                HashError::Write(source) => CopyError::Write(source),
                error => CopyError::Contents(error.into_contents("read", &self.path(digest))),
            },
        )?;
        self.same(digest, found).map_err(CopyError::Contents)
    }

    /// Whether there is a content of that name. Its bytes are checked by those who read it.
    pub fn has(&self, digest: &Digest) -> bool {
        self.path(digest).is_file()
    }

    /// Makes contents survive a crash of the machine.
    ///
    /// # Errors
    /// If one is not there or cannot be written out.
    pub fn sync<'d>(&self, digests: impl IntoIterator<Item = &'d Digest>) -> Result<(), ContentsError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| ContentsError::Io { action: "write out", path, source }
        };
        for digest in digests {
            self.open_file(digest)?.sync_all().map_err(failed(&self.path(digest)))?;
        }
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(failed(&self.folder))
    }

    /// Removes what processes left that were killed while they wrote a content, and says how many files that was. Where another
    /// process is writing one, nothing is removed: that may be its own.
    ///
    /// # Errors
    /// If the folder cannot be listed. That it is not there is no error, nor what cannot be removed: it is in nobody's way.
    pub fn sweep(folder: &Path) -> io::Result<usize> {
        let swept = Self { folder: folder.to_owned(), limit: 0 };
        let Some(_alone) = swept.hold(FlockOperation::NonBlockingLockExclusive) else { return Ok(0) };
        let entries = fs::read_dir(folder)?.take(MAX_SWEPT).flatten();
        let left = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(NEW.as_bytes()));
        Ok(left.filter(|entry| fs::remove_file(entry.path()).is_ok()).count())
    }

    /// The folder, locked until it is dropped. None where that is not to be had: a file system may have no locks, and then nothing
    /// is ever swept.
    fn hold(&self, how: FlockOperation) -> Option<File> {
        let folder = File::open(&self.folder).ok()?;
        rustix::fs::flock(&folder, how).ok()?;
        Some(folder)
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.folder.join(digest.as_str())
    }

    fn open_file(&self, digest: &Digest) -> Result<File, ContentsError> {
        let path = self.path(digest);
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let file = fs::OpenOptions::new()
            .read(true)
            .custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
            .open(&path)
            .and_then(|file| Ok((file.metadata()?.is_file(), file)));
        match file {
            Ok((true, file)) => Ok(file),
            Ok((false, _)) => Err(ContentsError::Damaged { path, digest: digest.clone() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(ContentsError::Missing { folder: self.folder.clone(), digest: digest.clone() })
            }
            Err(source) => Err(ContentsError::Io { action: "open", path, source }),
        }
    }

    fn same(&self, digest: &Digest, found: Digest) -> Result<(), ContentsError> {
        if found == *digest {
            return Ok(());
        }
        Err(ContentsError::Damaged { path: self.path(digest), digest: digest.clone() })
    }
}

/// Why copying out of the contents failed: because of them, or because of where the copy goes.
#[derive(Debug)]
pub(crate) enum CopyError {
    Contents(ContentsError),
    Write(io::Error),
}

#[derive(Debug)]
pub(crate) enum HashError {
    Read(io::Error),
    Write(io::Error),
    TooLarge { limit: u64 },
}

impl HashError {
    fn into_contents(self, action: &'static str, path: &Path) -> ContentsError {
        match self {
            Self::Read(source) | Self::Write(source) => ContentsError::Io { action, path: path.to_owned(), source },
            Self::TooLarge { limit } => ContentsError::TooLarge { path: path.to_owned(), limit },
        }
    }
}

/// Reads to the end, handing each chunk on; the digest and the number of bytes. Never more than `limit`.
pub(crate) fn copy_hashed(
    reader: &mut dyn Read,
    limit: u64,
    chunk: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<(Digest, u64), HashError> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut total = 0u64;
    loop {
        let read = match reader.read(&mut buffer) {
            Ok(0) => return Ok((Digest::from_sha256(hasher.finalize().into()), total)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(HashError::Read(error)),
        };
        total += read as u64;
        if total > limit {
            return Err(HashError::TooLarge { limit });
        }
        let bytes = buffer.get(..read).unwrap_or_default();
        hasher.update(bytes);
        chunk(bytes).map_err(HashError::Write)?;
    }
}
