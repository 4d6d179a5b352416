//! Making, moving and removing files and folders, all of it in the overlay.

use std::time::SystemTime;

use crate::code::{ErrorCode, Fault, FileResult};
use crate::denials::Asked;
use crate::handle::{Folder, Handle, OpenFile, join};
use crate::overlay::{Content, FileNode, Node};
use crate::view::FileView;
use crate::walk::{Entry, Found, FoundFile, FoundFolder, Target, Why, check_length, refused};

/// A time that a guest sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewTime {
    /// As it is.
    Same,
    /// The time of the call.
    Now,
    /// This one, since the Unix epoch.
    At {
        /// Seconds.
        seconds: u64,
        /// And nanoseconds, below a second.
        nanoseconds: u32,
    },
}

/// What a folder that is moved holds.
struct Moved {
    /// Path below the folder.
    path: String,
    entry: Entry,
}

impl FileView {
    /// Makes a folder.
    ///
    /// # Errors
    /// The codes of `create-directory-at`.
    pub fn create_folder_at(&mut self, from: &Folder, path: &str) -> FileResult<()> {
        let entry = match self.writable_entry(from, path, true) {
            // `a/..`: whatever it leads to, it is there.
            Err(Fault::Code(ErrorCode::Busy)) => return Err(ErrorCode::Exist.into()),
            entry => entry?,
        };
        if !matches!(entry.found, Found::Nothing) {
            return Err(ErrorCode::Exist.into());
        }
        if ends_in_dot(path) {
            return Err(ErrorCode::NoEntry.into());
        }
        let overlay = self.mount_mut(from.mount).overlay_mut()?;
        overlay.has_room_for(&entry.path)?;
        overlay.quota.meter().create()?;
        Ok(overlay.put(&entry.path, Node::Folder { made: SystemTime::now(), mode: None })?)
    }

    /// Removes a folder in which the guest sees nothing.
    ///
    /// # Errors
    /// The codes of `remove-directory-at`.
    pub fn remove_folder_at(&mut self, from: &Folder, path: &str) -> FileResult<()> {
        let entry = self.writable_entry(from, path, true)?;
        match &entry.found {
            Found::Folder(_) if ends_in_dot(path) => return Err(ErrorCode::Invalid.into()),
            Found::Folder(_) => {}
            Found::Nothing => return Err(ErrorCode::NoEntry.into()),
            _ => return Err(ErrorCode::NotDirectory.into()),
        }
        let mount = self.mount(from);
        let folder = mount.enter(&entry.parent, &entry.name, entry.path.clone());
        let folder = self.or_denied(from.mount, Asked::Write, folder)?;
        let mut listing = self.list(&folder)?;
        if self.next_entry(&mut listing)?.is_some() {
            return Err(ErrorCode::NotEmpty.into());
        }
        self.take_folder_away(from.mount, &entry)
    }

    fn take_folder_away(&mut self, mount: usize, entry: &Entry) -> FileResult<()> {
        let overlay = self.mount_mut(mount).overlay_mut()?;
        match &entry.found {
            Found::Folder(FoundFolder::Lower(_)) => overlay.remove_lower_folder(&entry.path)?,
            _ => overlay.remove(&entry.path),
        }
        Ok(())
    }

    /// Removes a file.
    ///
    /// # Errors
    /// The codes of `unlink-file-at`; `not-permitted` for a link of the real tree, which no role removes.
    pub fn unlink_at(&mut self, from: &Folder, path: &str) -> FileResult<()> {
        let entry = self.writable_entry(from, path, false)?;
        match &entry.found {
            Found::Nothing => return Err(ErrorCode::NoEntry.into()),
            Found::Folder(_) => return Err(ErrorCode::IsDirectory.into()),
            Found::Link(_) => return Err(self.link_stays(from.mount, &entry)),
            Found::File(_) if entry.must_be_folder => return Err(ErrorCode::NotDirectory.into()),
            Found::File(_) => {}
        }
        self.check_mode(from.mount, &entry)?;
        self.take_file_away(from.mount, &entry)
    }

    fn take_file_away(&mut self, mount: usize, entry: &Entry) -> FileResult<()> {
        let mount = self.mount_mut(mount);
        mount.cover(entry, None)?;
        mount.overlay_mut()?.remove(&entry.path);
        Ok(())
    }

    /// Moves a file or a folder, with all of it that the guest sees.
    ///
    /// # Errors
    /// The codes of `rename-at`. `access` where something of a moved folder may not be written at both places.
    pub fn rename_at(&mut self, from: &Folder, path: &str, to: &Folder, to_path: &str) -> FileResult<()> {
        if self.mount(from).overlay.is_none() || self.mount(to).overlay.is_none() {
            // The first walk says what is not granted; the rest is read-only.
            self.walk(from, path, false, Asked::Write)?;
            self.walk(to, to_path, false, Asked::Write)?;
            return Err(ErrorCode::ReadOnly.into());
        }
        let source = self.entry(from, path, false)?;
        let target = self.entry(to, to_path, matches!(source.found, Found::Folder(_)))?;
        if from.mount != to.mount {
            return Err(ErrorCode::CrossDevice.into());
        }
        match &source.found {
            Found::Nothing => Err(ErrorCode::NoEntry.into()),
            Found::Link(_) => Err(self.link_stays(from.mount, &source)),
            Found::File(found) => {
                let found = match found {
                    FoundFile::Lower(meta) => FoundFile::Lower(*meta),
                    FoundFile::Node(node) => FoundFile::Node(node.clone()),
                };
                self.rename_file(&source, &found, &target)
            }
            Found::Folder(_) if ends_in_dot(path) || ends_in_dot(to_path) => Err(ErrorCode::Busy.into()),
            Found::Folder(_) => self.rename_folder(source, &target),
        }
    }

    fn rename_file(&mut self, source: &Entry, found: &FoundFile, target: &Entry) -> FileResult<()> {
        let mount = source.parent.mount;
        if source.must_be_folder {
            return Err(ErrorCode::NotDirectory.into());
        }
        self.check_writable(mount, &source.path, false)?;
        self.check_writable(mount, &target.path, false)?;
        match &target.found {
            Found::Folder(_) => return Err(ErrorCode::IsDirectory.into()),
            Found::Link(_) => return Err(self.link_stays(mount, target)),
            Found::Nothing if target.must_be_folder => return Err(ErrorCode::NotDirectory.into()),
            _ => {}
        }
        if source.path == target.path {
            return Ok(());
        }
        self.check_mode(mount, source)?;
        self.check_mode(mount, target)?;
        // What can fail comes first. A file that is covered and stays where it is does no harm.
        let at = self.mount_mut(mount);
        at.cover(source, None)?;
        at.cover(target, None)?;
        self.place(mount, found, &source.path, &target.path)?;
        self.take_file_away(mount, source)
    }

    /// Puts a file that was found at `from` to `to` as well.
    fn place(&mut self, mount: usize, found: &FoundFile, from: &str, to: &str) -> FileResult<()> {
        let overlay = self.mount_mut(mount).overlay_mut()?;
        let node = match found {
            FoundFile::Lower(meta) => {
                FileNode { content: Content::Lower(from.to_owned()), mode: meta.mode(), origin: Some(from.to_owned()) }
            }
            // A file that the role made takes the mode of what it replaces: so do editors that save by renaming.
            FoundFile::Node(node) if node.origin.is_none() => {
                FileNode { mode: overlay.mode_at(to, None), ..node.clone() }
            }
            FoundFile::Node(node) => node.clone(),
        };
        Ok(overlay.put(to, Node::File(node))?)
    }

    fn rename_folder(&mut self, source: Entry, target: &Entry) -> FileResult<()> {
        let mount = source.parent.mount;
        self.check_writable(mount, &source.path, true)?;
        self.check_writable(mount, &target.path, true)?;
        if source.path == target.path {
            return Ok(());
        }
        if target.path.starts_with(&format!("{}/", source.path)) {
            return Err(ErrorCode::Invalid.into());
        }
        match &target.found {
            Found::Nothing => {}
            Found::Link(_) => return Err(self.link_stays(mount, target)),
            Found::File(_) => return Err(ErrorCode::NotDirectory.into()),
            Found::Folder(_) => {
                let folder = self.mount(&target.parent).enter(&target.parent, &target.name, target.path.clone());
                let folder = self.or_denied(mount, Asked::Write, folder)?;
                let mut listing = self.list(&folder)?;
                if self.next_entry(&mut listing)?.is_some() {
                    return Err(ErrorCode::NotEmpty.into());
                }
            }
        }
        let moved = self.all_below(&source)?;
        for Moved { path, entry } in &moved {
            let is_folder = matches!(entry.found, Found::Folder(_));
            if matches!(entry.found, Found::Link(_)) {
                return Err(self.link_stays(mount, entry));
            }
            let to = join(&target.path, path);
            check_length(&to)?;
            self.check_writable(mount, &entry.path, is_folder)?;
            self.check_writable(mount, &to, is_folder)?;
            self.check_mode(mount, entry)?;
        }
        // What can fail comes first: a file that is covered and stays where it is does no harm.
        let files = moved.iter().filter(|moved| matches!(moved.entry.found, Found::File(_)));
        for Moved { entry, .. } in files {
            self.mount_mut(mount).cover(entry, None)?;
        }
        let was = self.mount(&source.parent).overlay()?.all_at(&target.path);
        if let Err(fault) = self.place_all(mount, &moved, &source, target) {
            self.mount_mut(mount).overlay_mut()?.put_back(&target.path, was)?;
            return Err(fault);
        }
        let overlay = self.mount_mut(mount).overlay_mut()?;
        if matches!(target.found, Found::Folder(FoundFolder::Lower(_))) {
            // It is the overlay's now, and still there: so it neither comes nor goes.
            overlay.covers_folder(&target.path);
        }
        for Moved { entry, .. } in &moved {
            if matches!(entry.found, Found::Folder(FoundFolder::Lower(_))) {
                overlay.covers_folder(&entry.path);
            }
        }
        self.take_folder_away(mount, &source)
    }

    /// Puts all of a folder to its new place, and takes the room that hiding it at the old one needs.
    fn place_all(&mut self, mount: usize, moved: &[Moved], source: &Entry, target: &Entry) -> FileResult<()> {
        let overlay = self.mount_mut(mount).overlay_mut()?;
        overlay.put(&target.path, moved_folder(&source.found))?;
        for Moved { path, entry } in moved {
            let to = join(&target.path, path);
            match &entry.found {
                Found::File(found) => self.place(mount, found, &entry.path, &to)?,
                found => self.mount_mut(mount).overlay_mut()?.put(&to, moved_folder(found))?,
            }
        }
        self.mount(&source.parent).overlay()?.has_room_for(&source.path)
    }

    /// Everything in a folder that the guest sees, parents before children.
    fn all_below(&mut self, folder: &Entry) -> FileResult<Vec<Moved>> {
        let mount = folder.parent.mount;
        let root = self.mount(&folder.parent).enter(&folder.parent, &folder.name, folder.path.clone());
        let root = self.or_denied(mount, Asked::Write, root)?;
        let (mut todo, mut all) = (vec![(root, String::new())], Vec::new());
        while let Some((parent, below)) = todo.pop() {
            let mut listing = self.list(&parent)?;
            while let Some(listed) = self.next_entry(&mut listing)? {
                if all.len() as u64 >= self.mount(&parent).overlay()?.quota.max_files() {
                    return Err(self.mount(&parent).overlay()?.quota.too_many_files().into());
                }
                let at = join(&parent.path, &listed.name);
                let found = self.mount(&parent).look(&parent, &listed.name, &at);
                let found = self.or_denied(mount, Asked::Write, found)?;
                let path = join(&below, &listed.name);
                if matches!(found, Found::Folder(_)) {
                    let folder = self.mount(&parent).enter(&parent, &listed.name, at.clone());
                    todo.push((self.or_denied(mount, Asked::Write, folder)?, path.clone()));
                }
                let parent = parent.clone();
                let entry = Entry { parent, name: listed.name, path: at, found, must_be_folder: false };
                all.push(Moved { path, entry });
            }
        }
        Ok(all)
    }

    /// Refuses to make a link, which no role does anywhere; outside the grants that is not even said.
    ///
    /// # Errors
    /// Always: `not-permitted`, or `read-only`, or what the walk says.
    pub fn refuse_link_at(&mut self, from: &Folder, path: &str) -> FileResult<()> {
        self.walk(from, path, false, Asked::Write)?;
        Err(if self.is_writable(from) { ErrorCode::NotPermitted } else { ErrorCode::ReadOnly }.into())
    }

    /// Sets the times of a file that is open to write.
    ///
    /// # Errors
    /// `bad-descriptor`, `invalid`, `overflow`; what the system says.
    pub fn set_times(&mut self, file: &OpenFile, accessed: NewTime, modified: NewTime) -> FileResult<()> {
        set_times(&file.writer(ErrorCode::BadDescriptor)?.file, accessed, modified)
    }

    /// Sets the times of a file. The overlay keeps them while the call lasts; they are no part of a change set.
    ///
    /// # Errors
    /// The codes of `set-times-at`; `unsupported` for a folder.
    pub fn set_times_at(
        &mut self,
        from: &Folder,
        path: &str,
        follow: bool,
        accessed: NewTime,
        modified: NewTime,
    ) -> FileResult<()> {
        let Target::Entry(entry) = self.walk(from, path, follow, Asked::Write)? else {
            return Err(if self.is_writable(from) { ErrorCode::Unsupported } else { ErrorCode::ReadOnly }.into());
        };
        let is_folder = matches!(entry.found, Found::Folder(_));
        if !matches!(entry.found, Found::Nothing) {
            self.check_writable(from.mount, &entry.path, is_folder)?;
        } else if !self.is_writable(from) {
            return Err(ErrorCode::ReadOnly.into());
        }
        match &entry.found {
            Found::Nothing => Err(ErrorCode::NoEntry.into()),
            Found::Folder(_) => Err(ErrorCode::Unsupported.into()),
            Found::Link(_) => Err(self.link_stays(from.mount, &entry)),
            Found::File(_) => {
                self.check_mode(from.mount, &entry)?;
                let (file, _) = self.mount_mut(from.mount).stage(&entry, true)?;
                set_times(&file, accessed, modified)
            }
        }
    }

    /// The entry at the end of a path. With `as_folder`, what a folder could be made over without being told of it counts as
    /// nothing.
    fn entry(&mut self, from: &Folder, path: &str, as_folder: bool) -> FileResult<Entry> {
        let walked = self.mount(from).walk_to(from, path, as_folder);
        match self.or_denied(from.mount, Asked::Write, walked)? {
            Target::Entry(entry) => Ok(entry),
            Target::Folder(_) if self.is_writable(from) => Err(ErrorCode::Busy.into()),
            Target::Folder(_) => Err(ErrorCode::ReadOnly.into()),
        }
    }

    /// The entry at the end of a path that the guest may write.
    fn writable_entry(&mut self, from: &Folder, path: &str, is_folder: bool) -> FileResult<Entry> {
        let entry = self.entry(from, path, is_folder)?;
        self.check_writable(from.mount, &entry.path, is_folder)?;
        Ok(entry)
    }

    /// A symbolic link of the real tree stays as it is.
    fn link_stays(&mut self, mount: usize, entry: &Entry) -> Fault {
        self.denied(mount, Asked::Write, refused(entry.path.as_str(), Why::Link));
        ErrorCode::NotPermitted.into()
    }

    /// A file of the real tree with a set-user-id, set-group-id or sticky bit stays as it is.
    pub(crate) fn check_mode(&mut self, mount: usize, entry: &Entry) -> FileResult<()> {
        match &entry.found {
            Found::File(FoundFile::Lower(meta)) if meta.is_special() => {
                self.denied(mount, Asked::Write, refused(entry.path.as_str(), Why::SpecialMode));
                Err(ErrorCode::NotPermitted.into())
            }
            _ => Ok(()),
        }
    }

    /// Whether both are the same object.
    pub fn is_same(&self, a: &Handle, b: &Handle) -> bool {
        matches!((self.stat(a), self.stat(b)), (Ok(a), Ok(b)) if a.is_same(&b))
    }
}

/// What the overlay has of a folder at its new place: it keeps its mode.
fn moved_folder(found: &Found) -> Node {
    let now = SystemTime::now();
    match found {
        Found::Folder(FoundFolder::Lower(meta)) => Node::Folder { made: now, mode: Some(meta.mode()) },
        Found::Folder(FoundFolder::Upper { made, mode }) => Node::Folder { made: *made, mode: *mode },
        _ => Node::Folder { made: now, mode: None },
    }
}

/// A name that ends in `.` is no name of a folder to remove or move.
pub(crate) fn ends_in_dot(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    path == "." || path.ends_with("/.")
}

fn set_times(file: &std::fs::File, accessed: NewTime, modified: NewTime) -> FileResult<()> {
    let time = |time| -> FileResult<Option<SystemTime>> {
        Ok(match time {
            NewTime::Same => None,
            NewTime::Now => Some(SystemTime::now()),
            NewTime::At { seconds, nanoseconds } => {
                if nanoseconds >= 1_000_000_000 {
                    return Err(ErrorCode::Invalid.into());
                }
                let since = std::time::Duration::new(seconds, nanoseconds);
                Some(SystemTime::UNIX_EPOCH.checked_add(since).ok_or(ErrorCode::Overflow)?)
            }
        })
    };
    let mut times = std::fs::FileTimes::new();
    if let Some(accessed) = time(accessed)? {
        times = times.set_accessed(accessed);
    }
    if let Some(modified) = time(modified)? {
        times = times.set_modified(modified);
    }
    Ok(file.set_times(times)?)
}
