//! `wasi:filesystem` as guests call it.

use brain_files::{FileView, Folder, Handle, Listing, Open, OpenFile};
use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

use super::bindings::wasi::filesystem::preopens;
use super::bindings::wasi::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, Filesize,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use super::convert::{fault, hash, new_time, stat, type_of};
use super::streams::{FileInput, FileOutput};
use super::{FsError, FsResult, StreamFault};
use crate::kill::Lifetime;

/// What the file calls of one guest work on.
pub(crate) struct FileHost<'a> {
    pub view: &'a mut FileView,
    pub table: &'a mut ResourceTable,
    pub lifetime: &'a Lifetime,
    /// How often a handle was refused because too many are open.
    pub handles_refused: &'a mut u64,
}

/// Names [`FileHost`] for the generated `add_to_linker` functions.
pub(crate) struct HasFiles;

impl HasData for HasFiles {
    type Data<'a> = FileHost<'a>;
}

impl FileHost<'_> {
    fn get(&self, descriptor: &Resource<Handle>) -> FsResult<&Handle> {
        self.table.get(descriptor).map_err(trap)
    }

    /// A folder handle, of its own: what is done with it may change the table.
    fn folder(&self, descriptor: &Resource<Handle>) -> FsResult<Folder> {
        self.or_code(self.get(descriptor)?.folder()).cloned()
    }

    fn file(&self, descriptor: &Resource<Handle>) -> FsResult<&OpenFile> {
        self.or_code(self.get(descriptor)?.file())
    }

    fn or_code<T>(&self, result: brain_files::FileResult<T>) -> FsResult<T> {
        result.map_err(|error| fault(error, self.lifetime))
    }

    fn push<T: Send + 'static>(&mut self, value: T) -> FsResult<Resource<T>> {
        // The table is bounded by the limit on open handles; a full one is an ordinary error for a guest.
        self.table.push(value).map_err(|_| {
            *self.handles_refused += 1;
            ErrorCode::InsufficientMemory.into()
        })
    }

    fn output_stream(
        &mut self,
        fd: &Resource<Handle>,
        position: Option<Filesize>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let file = self.file(fd)?.clone();
        if !file.is_writable() {
            return Err(ErrorCode::BadDescriptor.into());
        }
        self.push(Box::new(FileOutput { file, position }) as DynOutputStream)
    }
}

fn trap(error: wasmtime::component::ResourceTableError) -> FsError {
    FsError::Trap(error.into())
}

impl preopens::Host for FileHost<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Handle>, String)>> {
        let roots: Vec<(Folder, &str)> = self.view.roots().collect();
        roots.into_iter().map(|(root, guest)| Ok((self.table.push(Handle::Folder(root))?, guest.to_owned()))).collect()
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
        // Streams over files give this kind of error, and no others do.
        Ok(self.table.get(&error)?.downcast_ref::<StreamFault>().map(|StreamFault(code)| *code))
    }
}

impl types::HostDescriptor for FileHost<'_> {
    fn read_via_stream(&mut self, fd: Resource<Handle>, position: Filesize) -> FsResult<Resource<DynInputStream>> {
        let file = self.file(&fd)?.clone();
        if !file.is_readable() {
            return Err(ErrorCode::BadDescriptor.into());
        }
        self.push(Box::new(FileInput { file, position }) as DynInputStream)
    }

    fn write_via_stream(&mut self, fd: Resource<Handle>, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.output_stream(&fd, Some(offset))
    }

    fn append_via_stream(&mut self, fd: Resource<Handle>) -> FsResult<Resource<DynOutputStream>> {
        self.output_stream(&fd, None)
    }

    fn advise(&mut self, fd: Resource<Handle>, _: Filesize, _: Filesize, _: Advice) -> FsResult<()> {
        // A hint; the host's own read-ahead serves.
        self.file(&fd).map(drop)
    }

    fn sync_data(&mut self, fd: Resource<Handle>) -> FsResult<()> {
        match self.get(&fd)? {
            Handle::File(file) => self.or_code(file.sync(true)),
            Handle::Folder(_) => Ok(()),
        }
    }

    fn sync(&mut self, fd: Resource<Handle>) -> FsResult<()> {
        match self.get(&fd)? {
            Handle::File(file) => self.or_code(file.sync(false)),
            Handle::Folder(_) => Ok(()),
        }
    }

    fn get_flags(&mut self, fd: Resource<Handle>) -> FsResult<DescriptorFlags> {
        let (read, write) = (DescriptorFlags::READ, DescriptorFlags::WRITE);
        let flag = |flag, set| if set { flag } else { DescriptorFlags::empty() };
        Ok(match self.get(&fd)? {
            Handle::Folder(folder) => read | flag(DescriptorFlags::MUTATE_DIRECTORY, self.view.is_writable(folder)),
            Handle::File(file) => flag(read, file.is_readable()) | flag(write, file.is_writable()),
        })
    }

    fn get_type(&mut self, fd: Resource<Handle>) -> FsResult<DescriptorType> {
        Ok(match self.get(&fd)? {
            Handle::Folder(_) => DescriptorType::Directory,
            Handle::File(_) => DescriptorType::RegularFile,
        })
    }

    fn set_size(&mut self, fd: Resource<Handle>, size: Filesize) -> FsResult<()> {
        self.or_code(self.file(&fd)?.set_size(size))
    }

    fn set_times(&mut self, fd: Resource<Handle>, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
        let file = self.file(&fd)?.clone();
        let set = self.view.set_times(&file, new_time(accessed), new_time(modified));
        self.or_code(set)
    }

    fn read(&mut self, fd: Resource<Handle>, length: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let bytes = self.or_code(self.file(&fd)?.read_at(length, offset))?;
        let at_end = bytes.is_empty() && length > 0;
        Ok((bytes, at_end))
    }

    fn write(&mut self, fd: Resource<Handle>, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        self.or_code(self.file(&fd)?.write_at(&bytes, Some(offset)))?;
        Ok(bytes.len() as u64)
    }

    fn read_directory(&mut self, fd: Resource<Handle>) -> FsResult<Resource<Listing>> {
        let folder = self.folder(&fd)?;
        let listing = self.or_code(self.view.list(&folder))?;
        self.push(listing)
    }

    fn create_directory_at(&mut self, fd: Resource<Handle>, path: String) -> FsResult<()> {
        let folder = self.folder(&fd)?;
        let made = self.view.create_folder_at(&folder, &path);
        self.or_code(made)
    }

    fn stat(&mut self, fd: Resource<Handle>) -> FsResult<DescriptorStat> {
        let known = self.or_code(self.view.stat(self.get(&fd)?))?;
        Ok(stat(&known))
    }

    fn stat_at(&mut self, fd: Resource<Handle>, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let folder = self.folder(&fd)?;
        let known = self.view.stat_at(&folder, &path, flags.contains(PathFlags::SYMLINK_FOLLOW));
        self.or_code(known).map(|known| stat(&known))
    }

    fn set_times_at(
        &mut self,
        fd: Resource<Handle>,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let (folder, follow) = (self.folder(&fd)?, flags.contains(PathFlags::SYMLINK_FOLLOW));
        let set = self.view.set_times_at(&folder, &path, follow, new_time(accessed), new_time(modified));
        self.or_code(set)
    }

    fn link_at(
        &mut self,
        fd: Resource<Handle>,
        _: PathFlags,
        path: String,
        to: Resource<Handle>,
        to_path: String,
    ) -> FsResult<()> {
        let (folder, to) = (self.folder(&fd)?, self.folder(&to)?);
        // Where the old name does not exist for the guest, it is told that. Then the new one refuses in any case.
        let known = self.view.stat_at(&folder, &path, false);
        self.or_code(known)?;
        let refused = self.view.refuse_link_at(&to, &to_path);
        self.or_code(refused)
    }

    fn open_at(
        &mut self,
        fd: Resource<Handle>,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Handle>> {
        let how = Open {
            follow: path_flags.contains(PathFlags::SYMLINK_FOLLOW),
            create: open.contains(OpenFlags::CREATE),
            exclusive: open.contains(OpenFlags::EXCLUSIVE),
            directory: open.contains(OpenFlags::DIRECTORY),
            truncate: open.contains(OpenFlags::TRUNCATE),
            read: flags.contains(DescriptorFlags::READ),
            write: flags.contains(DescriptorFlags::WRITE),
        };
        let folder = self.folder(&fd)?;
        let opened = self.view.open_at(&folder, &path, how);
        let handle = self.or_code(opened)?;
        self.push(handle)
    }

    fn readlink_at(&mut self, fd: Resource<Handle>, path: String) -> FsResult<String> {
        let folder = self.folder(&fd)?;
        let target = self.view.read_link_at(&folder, &path);
        self.or_code(target)
    }

    fn remove_directory_at(&mut self, fd: Resource<Handle>, path: String) -> FsResult<()> {
        let folder = self.folder(&fd)?;
        let removed = self.view.remove_folder_at(&folder, &path);
        self.or_code(removed)
    }

    fn rename_at(&mut self, fd: Resource<Handle>, path: String, to: Resource<Handle>, to_path: String) -> FsResult<()> {
        let (folder, to) = (self.folder(&fd)?, self.folder(&to)?);
        let renamed = self.view.rename_at(&folder, &path, &to, &to_path);
        self.or_code(renamed)
    }

    fn symlink_at(&mut self, fd: Resource<Handle>, _: String, path: String) -> FsResult<()> {
        let folder = self.folder(&fd)?;
        let refused = self.view.refuse_link_at(&folder, &path);
        self.or_code(refused)
    }

    fn unlink_file_at(&mut self, fd: Resource<Handle>, path: String) -> FsResult<()> {
        let folder = self.folder(&fd)?;
        let removed = self.view.unlink_at(&folder, &path);
        self.or_code(removed)
    }

    fn is_same_object(&mut self, a: Resource<Handle>, b: Resource<Handle>) -> wasmtime::Result<bool> {
        Ok(self.view.is_same(self.table.get(&a)?, self.table.get(&b)?))
    }

    fn metadata_hash(&mut self, fd: Resource<Handle>) -> FsResult<MetadataHashValue> {
        let known = self.or_code(self.view.stat(self.get(&fd)?))?;
        Ok(hash(&known))
    }

    fn metadata_hash_at(
        &mut self,
        fd: Resource<Handle>,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let folder = self.folder(&fd)?;
        let known = self.view.stat_at(&folder, &path, flags.contains(PathFlags::SYMLINK_FOLLOW));
        self.or_code(known).map(|known| hash(&known))
    }

    fn drop(&mut self, fd: Resource<Handle>) -> wasmtime::Result<()> {
        self.table.delete(fd)?;
        Ok(())
    }
}

impl types::HostDirectoryEntryStream for FileHost<'_> {
    fn read_directory_entry(&mut self, stream: Resource<Listing>) -> FsResult<Option<DirectoryEntry>> {
        let next = self.view.next_entry(self.table.get_mut(&stream).map_err(trap)?);
        let next = self.or_code(next)?;
        Ok(next.map(|listed| DirectoryEntry { type_: type_of(listed.kind), name: listed.name }))
    }

    fn drop(&mut self, stream: Resource<Listing>) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}
