//! `wasi:filesystem` as guests call it.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{FileType, Metadata, OpenOptions, OpenOptionsExt};
use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

use super::bindings::wasi::filesystem::preopens;
use super::bindings::wasi::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, Filesize,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use super::descriptor::OpenFile;
use super::error::{FsError, FsResult, StreamFault, code_of};
use super::quota::{Held, Quota};
use super::resolve::{Entry, Fault, Target, open_folder, resolve, visible};
use super::streams::{FileInput, FileOutput, read_at, write_at};
use super::{Descriptor, EntryStream, FileView, Mount};

/// What the file calls of one guest work on.
pub(crate) struct FileHost<'a> {
    pub view: &'a mut FileView,
    pub table: &'a mut ResourceTable,
}

/// Names [`FileHost`] for the generated `add_to_linker` functions.
pub(crate) struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = FileHost<'a>;
}

impl FileHost<'_> {
    fn get(&self, descriptor: &Resource<Descriptor>) -> FsResult<&Descriptor> {
        self.table.get(descriptor).map_err(trap)
    }

    fn push<T: Send + 'static>(&mut self, value: T) -> FsResult<Resource<T>> {
        // The table is bounded by the limit on open handles; a full one is an ordinary error for a guest.
        self.table.push(value).map_err(|_| ErrorCode::InsufficientMemory.into())
    }

    /// Walks a path from a folder descriptor, recording a refusal.
    fn walk(&mut self, from: &Resource<Descriptor>, path: &str, follow: bool) -> FsResult<(usize, Target)> {
        let (mount, folder) = self.get(from)?.folder()?;
        let folder = folder.clone();
        match resolve(&self.view.mount(mount).scope, &folder, path, follow) {
            Ok(target) => Ok((mount, target)),
            Err(fault) => Err(self.fault(mount, fault)),
        }
    }

    fn fault(&mut self, mount: usize, fault: Fault) -> FsError {
        match fault {
            Fault::Refused(refused) => {
                self.view.deny(mount, refused);
                ErrorCode::Access.into()
            }
            Fault::Code(code) => code.into(),
        }
    }

    /// The entry at the end of a path in a mount that the guest may write to.
    fn writable_entry(&mut self, from: &Resource<Descriptor>, path: &str) -> FsResult<(Entry, Arc<Quota>)> {
        let (mount, target) = self.walk(from, path, false)?;
        let quota = self.view.mount(mount).quota.clone().ok_or(ErrorCode::ReadOnly)?;
        match target {
            Target::Entry(entry) => Ok((entry, quota)),
            Target::Folder(_) => Err(ErrorCode::Busy.into()),
        }
    }

    fn metadata(&mut self, from: &Resource<Descriptor>, flags: PathFlags, path: &str) -> FsResult<Metadata> {
        let (_, target) = self.walk(from, path, flags.contains(PathFlags::SYMLINK_FOLLOW))?;
        match target {
            Target::Folder(folder) => Ok(folder.dir.dir_metadata()?),
            Target::Entry(entry) => entry.found.ok_or_else(|| ErrorCode::NoEntry.into()),
        }
    }

    fn own_metadata(&self, descriptor: &Resource<Descriptor>) -> FsResult<Metadata> {
        Ok(match self.get(descriptor)? {
            Descriptor::Folder { folder, .. } => folder.dir.dir_metadata()?,
            Descriptor::File(file) => Metadata::from_file(&file.file)?,
        })
    }
}

fn trap(error: wasmtime::component::ResourceTableError) -> FsError {
    FsError::Trap(error.into())
}

/// Opens a regular file by one name in a folder, without following a link and without blocking on a FIFO that took the
/// file's place since it was looked at.
fn open_regular(entry: &Entry, options: &mut OpenOptions) -> FsResult<std::fs::File> {
    options.follow(FollowSymlinks::No).nonblock(true).custom_flags(rustix::fs::OFlags::NOCTTY.bits().cast_signed());
    let file = entry.parent.dir.open_with(&entry.name, options)?.into_std();
    if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorCode::Access.into()) }
}

impl Mount {
    /// Opens an entry of a mount that the guest may only read.
    fn open_to_read(&self, entry: &Entry, open: OpenFlags, flags: DescriptorFlags) -> FsResult<OpenFile> {
        let writes = flags.contains(DescriptorFlags::WRITE) || open.contains(OpenFlags::TRUNCATE);
        if writes || (open.contains(OpenFlags::CREATE) && entry.found.is_none()) {
            return Err(ErrorCode::ReadOnly.into());
        }
        if entry.found.is_none() {
            return Err(ErrorCode::NoEntry.into());
        }
        if open.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE) {
            return Err(ErrorCode::Exist.into());
        }
        let file = open_regular(entry, OpenOptions::new().read(true))?;
        Ok(OpenFile { file: Arc::new(file), readable: true, quota: None, held: None })
    }

    /// Opens or creates an entry of a mount that the guest may write to.
    fn open_to_write(
        &self,
        quota: &Arc<Quota>,
        entry: &Entry,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<OpenFile> {
        let write = flags.contains(DescriptorFlags::WRITE) || open.contains(OpenFlags::TRUNCATE);
        let mut options = OpenOptions::new();
        options.read(true).write(write);
        let file = match &entry.found {
            None if open.contains(OpenFlags::CREATE) => {
                if entry.must_be_folder {
                    return Err(ErrorCode::IsDirectory.into());
                }
                quota.take_file()?;
                open_regular(entry, options.write(true).create_new(true)).inspect_err(|_| quota.give_file())?
            }
            None => return Err(ErrorCode::NoEntry.into()),
            Some(_) if open.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE) => {
                return Err(ErrorCode::Exist.into());
            }
            Some(_) => open_regular(entry, &mut options)?,
        };
        if open.contains(OpenFlags::TRUNCATE) {
            let size = file.metadata()?.len();
            file.set_len(0)?;
            quota.give_bytes(size);
        }
        let file = Arc::new(file);
        Ok(OpenFile {
            held: Some(Arc::new(Held::new(&file, quota)?)),
            file,
            readable: flags.contains(DescriptorFlags::READ) || !write,
            quota: write.then(|| Arc::clone(quota)),
        })
    }
}

impl preopens::Host for FileHost<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mut directories = Vec::with_capacity(self.view.mounts.len());
        for mount in 0..self.view.mounts.len() {
            let Mount { guest, root, .. } = self.view.mount(mount);
            let (guest, folder) = (*guest, root.clone());
            let descriptor = self.table.push(Descriptor::Folder { mount, folder })?;
            directories.push((descriptor, guest.to_owned()));
        }
        Ok(directories)
    }
}

impl types::Host for FileHost<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        match error {
            FsError::Code(code) => Ok(code),
            FsError::Trap(error) => Err(error),
        }
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime_wasi::p2::IoError>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        let error = self.table.get(&error)?;
        Ok(error
            .downcast_ref::<StreamFault>()
            .map(|fault| fault.0)
            .or_else(|| error.downcast_ref::<std::io::Error>().map(code_of)))
    }
}

impl types::HostDescriptor for FileHost<'_> {
    fn read_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        let file = self.get(&fd)?.file()?;
        file.readable()?;
        let (file, counters) = (file.clone(), Arc::clone(&self.view.counters));
        self.push(Box::new(FileInput { file, position: offset, counters }) as DynInputStream)
    }

    fn write_via_stream(&mut self, fd: Resource<Descriptor>, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.output_stream(&fd, Some(offset))
    }

    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        self.output_stream(&fd, None)
    }

    fn advise(&mut self, fd: Resource<Descriptor>, _: Filesize, _: Filesize, _: Advice) -> FsResult<()> {
        // A hint; the host's own read-ahead serves.
        self.get(&fd)?.file().map(drop)
    }

    fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        match self.get(&fd)? {
            Descriptor::File(OpenFile { file, quota: Some(_), .. }) => Ok(file.sync_data()?),
            _ => Ok(()),
        }
    }

    fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        match self.get(&fd)? {
            Descriptor::File(OpenFile { file, quota: Some(_), .. }) => Ok(file.sync_all()?),
            _ => Ok(()),
        }
    }

    fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        let descriptor = self.get(&fd)?;
        let writable = match descriptor {
            Descriptor::Folder { mount, .. } => self.view.mount(*mount).quota.is_some(),
            Descriptor::File(_) => false,
        };
        Ok(descriptor.flags(writable))
    }

    fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        Ok(match self.get(&fd)? {
            Descriptor::Folder { .. } => DescriptorType::Directory,
            Descriptor::File(_) => DescriptorType::RegularFile,
        })
    }

    fn set_size(&mut self, fd: Resource<Descriptor>, size: Filesize) -> FsResult<()> {
        let (file, quota) = self.get(&fd)?.file()?.writable()?;
        let old = file.metadata()?.len();
        quota.take_bytes(size.saturating_sub(old))?;
        if let Err(error) = file.set_len(size) {
            quota.give_bytes(size.saturating_sub(old));
            return Err(error.into());
        }
        quota.give_bytes(old.saturating_sub(size));
        Ok(())
    }

    fn set_times(&mut self, fd: Resource<Descriptor>, atime: NewTimestamp, mtime: NewTimestamp) -> FsResult<()> {
        let (file, _) = self.get(&fd)?.file()?.writable()?;
        set_file_times(file, atime, mtime)
    }

    fn read(&mut self, fd: Resource<Descriptor>, length: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        let file = self.get(&fd)?.file()?.readable()?;
        read_at(file, length, offset, &self.view.counters)
    }

    fn write(&mut self, fd: Resource<Descriptor>, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        let (file, quota) = self.get(&fd)?.file()?.writable()?;
        write_at(file, quota, &bytes, offset, &self.view.counters)?;
        Ok(bytes.len() as u64)
    }

    fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<EntryStream>> {
        let (mount, folder) = self.get(&fd)?.folder()?;
        let stream = EntryStream { mount, path: folder.path.clone(), entries: folder.dir.entries()? };
        self.push(stream)
    }

    fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let (entry, quota) = self.writable_entry(&fd, &path)?;
        if entry.found.is_some() {
            return Err(ErrorCode::Exist.into());
        }
        quota.take_file()?;
        entry.parent.dir.create_dir(&entry.name).inspect_err(|_| quota.give_file())?;
        Ok(())
    }

    fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        Ok(stat_of(&self.own_metadata(&fd)?))
    }

    fn stat_at(&mut self, fd: Resource<Descriptor>, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        Ok(stat_of(&self.metadata(&fd, flags, &path)?))
    }

    fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
        atime: NewTimestamp,
        mtime: NewTimestamp,
    ) -> FsResult<()> {
        let (mount, target) = self.walk(&fd, &path, flags.contains(PathFlags::SYMLINK_FOLLOW))?;
        if self.view.mount(mount).quota.is_none() {
            return Err(ErrorCode::ReadOnly.into());
        }
        let file = match target {
            Target::Entry(Entry { found: None, .. }) => return Err(ErrorCode::NoEntry.into()),
            Target::Entry(entry) if entry.found.as_ref().is_some_and(Metadata::is_file) => {
                open_regular(&entry, OpenOptions::new().write(true))?
            }
            folder => open_folder(folder)?.dir.try_clone()?.into_std_file(),
        };
        set_file_times(&file, atime, mtime)
    }

    fn link_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
        to: Resource<Descriptor>,
        to_path: String,
    ) -> FsResult<()> {
        self.refuse_link(&fd, &path)?;
        self.refuse_link(&to, &to_path)?;
        Err(ErrorCode::NotPermitted.into())
    }

    fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let (mount, target) = self.walk(&fd, &path, path_flags.contains(PathFlags::SYMLINK_FOLLOW))?;
        let is_folder = match &target {
            Target::Folder(_) => true,
            Target::Entry(entry) => entry.found.as_ref().is_some_and(Metadata::is_dir),
        };
        let wants_folder = open.contains(OpenFlags::DIRECTORY);
        if is_folder {
            if open.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE) {
                return Err(ErrorCode::Exist.into());
            }
            if flags.contains(DescriptorFlags::WRITE) || open.contains(OpenFlags::TRUNCATE) {
                return Err(ErrorCode::IsDirectory.into());
            }
            let folder = open_folder(target)?;
            return self.push(Descriptor::Folder { mount, folder });
        }
        let Target::Entry(entry) = target else {
            return Err(ErrorCode::NotDirectory.into());
        };
        if wants_folder {
            let code = if entry.found.is_some() { ErrorCode::NotDirectory } else { ErrorCode::NoEntry };
            return Err(code.into());
        }
        if entry.found.as_ref().is_some_and(|found| found.file_type().is_symlink()) {
            return Err(ErrorCode::Loop.into());
        }
        let at = self.view.mount(mount);
        let file = match &at.quota {
            None => at.open_to_read(&entry, open, flags)?,
            Some(quota) => at.open_to_write(quota, &entry, open, flags)?,
        };
        let counters = &self.view.counters;
        let counter = if file.quota.is_some() { &counters.files_written } else { &counters.files_read };
        counter.fetch_add(1, Relaxed);
        at.scope.opened(&entry.path);
        self.push(Descriptor::File(file))
    }

    fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        let (mount, target) = self.walk(&fd, &path, false)?;
        let Target::Entry(entry) = target else {
            return Err(ErrorCode::Invalid.into());
        };
        match &entry.found {
            None => return Err(ErrorCode::NoEntry.into()),
            Some(found) if !found.is_symlink() => return Err(ErrorCode::Invalid.into()),
            Some(_) => {}
        }
        // A target that leads out of what is granted would tell the guest about the host: walk it first.
        let scope = &self.view.mount(mount).scope;
        match resolve(scope, &entry.parent, &entry.name, true) {
            Ok(_) | Err(Fault::Code(ErrorCode::NoEntry)) => {}
            Err(fault) => return Err(self.fault(mount, fault)),
        }
        let target = entry.parent.dir.read_link_contents(&entry.name)?;
        target.into_os_string().into_string().map_err(|_| ErrorCode::IllegalByteSequence.into())
    }

    fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let (entry, quota) = self.writable_entry(&fd, &path)?;
        entry.parent.dir.remove_dir(&entry.name)?;
        quota.give_file();
        Ok(())
    }

    fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        path: String,
        to: Resource<Descriptor>,
        to_path: String,
    ) -> FsResult<()> {
        let (from, from_quota) = self.writable_entry(&fd, &path)?;
        let (onto, onto_quota) = self.writable_entry(&to, &to_path)?;
        if !Arc::ptr_eq(&from_quota, &onto_quota) {
            return Err(ErrorCode::CrossDevice.into());
        }
        if from.found.is_none() {
            return Err(ErrorCode::NoEntry.into());
        }
        from.parent.dir.rename(&from.name, &onto.parent.dir, &onto.name)?;
        if let Some(replaced) = onto.found.filter(|_| from.path != onto.path) {
            release(&onto_quota, &replaced);
        }
        Ok(())
    }

    fn symlink_at(&mut self, fd: Resource<Descriptor>, _: String, path: String) -> FsResult<()> {
        self.refuse_link(&fd, &path)?;
        Err(ErrorCode::NotPermitted.into())
    }

    fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let (entry, quota) = self.writable_entry(&fd, &path)?;
        let found = entry.found.ok_or(ErrorCode::NoEntry)?;
        if found.is_dir() {
            return Err(ErrorCode::IsDirectory.into());
        }
        entry.parent.dir.remove_file_or_symlink(&entry.name)?;
        release(&quota, &found);
        Ok(())
    }

    fn is_same_object(&mut self, a: Resource<Descriptor>, b: Resource<Descriptor>) -> wasmtime::Result<bool> {
        let identity = |fd| self.own_metadata(fd).ok().map(|m| (m.dev(), m.ino()));
        let (a, b) = (identity(&a), identity(&b));
        Ok(a.is_some() && a == b)
    }

    fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        Ok(hash_of(&self.own_metadata(&fd)?))
    }

    fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        Ok(hash_of(&self.metadata(&fd, flags, &path)?))
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.table.delete(fd)?;
        Ok(())
    }
}

impl FileHost<'_> {
    fn output_stream(
        &mut self,
        fd: &Resource<Descriptor>,
        position: Option<u64>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let file = self.get(fd)?.file()?;
        file.writable()?;
        let (file, counters) = (file.clone(), Arc::clone(&self.view.counters));
        self.push(Box::new(FileOutput { file, position, counters }) as DynOutputStream)
    }

    /// Links cannot be created anywhere; outside the grants that is not even said.
    fn refuse_link(&mut self, fd: &Resource<Descriptor>, path: &str) -> FsResult<()> {
        let (mount, _) = self.walk(fd, path, false)?;
        if self.view.mount(mount).quota.is_none() { Err(ErrorCode::ReadOnly.into()) } else { Ok(()) }
    }
}

impl types::HostDirectoryEntryStream for FileHost<'_> {
    fn read_directory_entry(&mut self, stream: Resource<EntryStream>) -> FsResult<Option<DirectoryEntry>> {
        let EntryStream { mount, path, entries } = self.table.get_mut(&stream).map_err(trap)?;
        let scope = &self.view.mount(*mount).scope;
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                self.view.counters.names_skipped.fetch_add(1, Relaxed);
                continue;
            };
            let kind = entry.file_type()?;
            let full = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            // Whether it is hidden, or no file and no folder: either way it is not there for the role.
            if visible(scope, &full, kind).is_ok() {
                return Ok(Some(DirectoryEntry { type_: type_of(kind), name }));
            }
        }
        Ok(None)
    }

    fn drop(&mut self, stream: Resource<EntryStream>) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}

fn release(quota: &Quota, gone: &Metadata) {
    quota.release(gone.is_file(), gone.ino(), gone.len());
}

fn type_of(kind: FileType) -> DescriptorType {
    if kind.is_dir() {
        DescriptorType::Directory
    } else if kind.is_file() {
        DescriptorType::RegularFile
    } else if kind.is_symlink() {
        DescriptorType::SymbolicLink
    } else {
        DescriptorType::Unknown
    }
}

fn stat_of(metadata: &Metadata) -> DescriptorStat {
    let time = |time: std::io::Result<cap_std::time::SystemTime>| {
        let since = time.ok()?.into_std().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(Datetime { seconds: since.as_secs(), nanoseconds: since.subsec_nanos() })
    };
    DescriptorStat {
        type_: type_of(metadata.file_type()),
        link_count: metadata.nlink(),
        size: metadata.len(),
        data_access_timestamp: time(metadata.accessed()),
        data_modification_timestamp: time(metadata.modified()),
        // The host's view of when it changed the inode is no concern of a guest.
        status_change_timestamp: None,
    }
}

fn hash_of(metadata: &Metadata) -> MetadataHashValue {
    let hash = |salt: u8| {
        let mut hasher = std::hash::DefaultHasher::new();
        (salt, metadata.dev(), metadata.ino(), metadata.len()).hash(&mut hasher);
        metadata.modified().ok().map(cap_std::time::SystemTime::into_std).hash(&mut hasher);
        hasher.finish()
    };
    MetadataHashValue { lower: hash(0), upper: hash(1) }
}

fn set_file_times(file: &std::fs::File, atime: NewTimestamp, mtime: NewTimestamp) -> FsResult<()> {
    let time = |stamp| -> FsResult<Option<SystemTime>> {
        Ok(match stamp {
            NewTimestamp::NoChange => None,
            NewTimestamp::Now => Some(SystemTime::now()),
            NewTimestamp::Timestamp(Datetime { seconds, nanoseconds }) => {
                if nanoseconds >= 1_000_000_000 {
                    return Err(ErrorCode::Invalid.into());
                }
                let since = Duration::new(seconds, nanoseconds);
                Some(SystemTime::UNIX_EPOCH.checked_add(since).ok_or(ErrorCode::Overflow)?)
            }
        })
    };
    let mut times = std::fs::FileTimes::new();
    if let Some(atime) = time(atime)? {
        times = times.set_accessed(atime);
    }
    if let Some(mtime) = time(mtime)? {
        times = times.set_modified(mtime);
    }
    Ok(file.set_times(times)?)
}
