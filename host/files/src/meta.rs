//! What the system knows of a file or folder, asked for in the one call that costs least: every path that a role gives costs
//! at least one.

use std::fs::FileTimes;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, SystemTime};

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Stat, fstat, statat};

/// The system's answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meta(Stat);

impl Meta {
    /// Of something that is open.
    pub(crate) fn of(open: impl AsFd) -> io::Result<Self> {
        Ok(Self(fstat(open)?))
    }

    /// Of one name in a folder, and of a link itself where it is one.
    pub(crate) fn at(dir: &Dir, name: &str) -> io::Result<Self> {
        Ok(Self(statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.0.st_mode)
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind() == FileType::RegularFile
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.kind() == FileType::Directory
    }

    pub(crate) fn is_link(&self) -> bool {
        self.kind() == FileType::Symlink
    }

    /// Bytes.
    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or(0)
    }

    /// Permission bits.
    pub(crate) fn mode(&self) -> u32 {
        self.0.st_mode & 0o777
    }

    /// Whether it has a set-user-id, set-group-id or sticky bit.
    pub(crate) fn is_special(&self) -> bool {
        self.0.st_mode & 0o7000 != 0
    }

    /// Names.
    #[allow(clippy::useless_conversion, reason = "its width is another on other systems")]
    pub(crate) fn links(&self) -> u64 {
        self.0.st_nlink.into()
    }

    /// What makes it the same object: the device, and the number on it.
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "its type is another on other systems")]
    pub(crate) fn inode(&self) -> (u64, u64) {
        (self.0.st_dev as u64, self.0.st_ino)
    }

    pub(crate) fn accessed(&self) -> Option<SystemTime> {
        time(self.0.st_atime, self.0.st_atime_nsec)
    }

    /// Both, for a copy.
    pub(crate) fn times(&self) -> FileTimes {
        let mut times = FileTimes::new();
        if let Some(accessed) = self.accessed() {
            times = times.set_accessed(accessed);
        }
        if let Some(modified) = self.modified() {
            times = times.set_modified(modified);
        }
        times
    }

    pub(crate) fn modified(&self) -> Option<SystemTime> {
        time(self.0.st_mtime, self.0.st_mtime_nsec)
    }
}

fn time(seconds: i64, nanoseconds: u64) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let at =
        if seconds < 0 { SystemTime::UNIX_EPOCH.checked_sub(whole) } else { SystemTime::UNIX_EPOCH.checked_add(whole) };
    at?.checked_add(Duration::from_nanos(nanoseconds))
}
