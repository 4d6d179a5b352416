//! What each role asked for when it was first used, or when the operator last confirmed it: `confirmed.toml` in
//! `BRAIN_HOME`.
//!
//! A role is used by its name, and what lies behind the name changes with every update. The first use pins what it asks;
//! from then on a manifest that asks for more is refused until the operator confirms it. A manifest that asks for less
//! passes, and what was confirmed stays: asking for it again is not asking for more. The file is read whole or not at
//! all, and a file that cannot be used stops every run: nothing is confirmed by damage.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use brain_manifest::Asks;
use brain_manifest::grants::first_of;
use brain_manifest::toml_file::{TomlError, read_up_to};
use brain_packet::{Digest, RoleName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifacts::private_folder;
use crate::roles::{Installed, RoleError};

/// Bytes of `confirmed.toml`.
pub const MAX_CONFIRMED_BYTES: u64 = 16 << 20;

/// The file, below `BRAIN_HOME`.
const FILE: &str = "confirmed.toml";
/// Held while the file is changed. Who holds it has written its process id there.
const LOCK: &str = "confirmed.lock";
/// Beginning of the name of a file that is to become [`FILE`].
const NEW: &str = ".confirmed-";
/// Most names of `BRAIN_HOME` that are looked at for files that killed processes left.
const MAX_SWEPT: usize = 4096;
/// How long another process is waited for: changing the file takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long is waited before the lock is asked for again.
const PAUSE: Duration = Duration::from_millis(10);

const HEAD: &str = "\
# Written by `brain`: what each role asked for when it was first used, or when you last confirmed it with
# `brain role confirm`. A role that asks for more than this is not called. Take an entry out, and the next use of the
# role makes it anew.

";

/// How a confirmation came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// The role was used for the first time.
    FirstUse,
    /// The operator said so.
    Operator,
}

/// What one role asked for at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    /// Version of the role then.
    pub version: String,
    /// Digest of its component then.
    pub component: Digest,
    /// When, in UTC.
    pub at: String,
    /// How.
    pub by: How,
    /// What it asked for.
    pub asks: Asks,
}

impl Confirmation {
    /// What `role` asks for now, with the component `bytes`.
    pub fn of(role: &Installed, bytes: &[u8], by: How) -> Self {
        Self {
            version: role.manifest.version.clone(),
            component: Digest::of(bytes),
            at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            by,
            asks: Asks::of(&role.manifest),
        }
    }
}

/// `confirmed.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Confirmed {
    /// What was confirmed, by role.
    roles: BTreeMap<RoleName, Confirmation>,
}

/// What was confirmed cannot be read or kept.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ConsentError {
    /// The file cannot be used.
    #[error("what was confirmed of roles cannot be used: {0}")]
    #[diagnostic(
        code("role.confirmed"),
        help("mend that line; or move the file away, and the next use of each role confirms what it asks by then")
    )]
    Unusable(#[source] TomlError),
    /// Another process holds it, and does not come to an end.
    #[error("another process{who} holds {} and does not give it back", path.display())]
    #[diagnostic(
        code("role.confirmed.busy"),
        help("see what that process is at, end it if it hangs, and try again; removing the file does not help")
    )]
    Busy {
        /// The lock.
        path: PathBuf,
        /// Who, where that is known.
        who: String,
    },
    /// The file cannot be written.
    #[error("what was confirmed of roles cannot be written to {}: {source}", path.display())]
    #[diagnostic(code("role.confirmed.write"), help("check the disk and the permissions of BRAIN_HOME"))]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Confirmed {
    /// Reads what was confirmed; nothing where there is no file yet.
    ///
    /// # Errors
    /// [`ConsentError::Unusable`]: there is a file, and it cannot be used.
    pub fn read(home: &Path) -> Result<Self, ConsentError> {
        let path = home.join(FILE);
        match path.symlink_metadata() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            // It is written with a head, whole or not at all: one without anything was emptied, and nothing is confirmed by that.
            Ok(found) if found.len() == 0 => Err(ConsentError::Unusable(TomlError::Invalid {
                path,
                line: 1,
                problem: "it is empty, as brain never leaves it".into(),
                help: "restore it; or remove it, and each role is confirmed anew when it is next used".into(),
            })),
            _ => read_up_to(&path, MAX_CONFIRMED_BYTES).map_err(ConsentError::Unusable),
        }
    }

    /// What was confirmed of `role`.
    pub fn of(&self, role: &RoleName) -> Option<&Confirmation> {
        self.roles.get(role)
    }

    /// In what `role` asks for more than was confirmed of it, in words. Of a role that was never used, nothing is more.
    pub fn beyond(&self, role: &Installed) -> Vec<String> {
        let confirmed = self.of(&role.manifest.name);
        confirmed.map(|confirmed| Asks::of(&role.manifest).beyond(&confirmed.asks)).unwrap_or_default()
    }

    /// Whether `role` may be used.
    ///
    /// # Errors
    /// [`RoleError::Widened`].
    pub fn allows(&self, role: &Installed) -> Result<(), RoleError> {
        let beyond = self.beyond(role);
        if beyond.is_empty() {
            return Ok(());
        }
        Err(RoleError::Widened { role: role.manifest.name.clone(), beyond: first_of(&beyond) })
    }

    /// Keeps what the operator confirmed of `role`.
    ///
    /// # Errors
    /// Every [`ConsentError`]; nothing is kept then.
    pub fn confirm(home: &Path, role: &RoleName, confirmation: Confirmation) -> Result<(), ConsentError> {
        let mut changed = Changing::begin(home)?;
        changed.confirmed.roles.insert(role.clone(), confirmation);
        changed.keep()
    }

    /// Keeps the first use of roles of which nothing is confirmed yet. Returns all that is confirmed then: another process
    /// may have been first.
    fn pin(home: &Path, first: Vec<(RoleName, Confirmation)>) -> Result<Self, ConsentError> {
        let mut changing = Changing::begin(home)?;
        for (role, confirmation) in first {
            changing.confirmed.roles.entry(role).or_insert(confirmation);
        }
        let confirmed = changing.confirmed.clone();
        changing.keep()?;
        Ok(confirmed)
    }
}

/// The file while it is changed: one process at a time.
struct Changing {
    home: PathBuf,
    confirmed: Confirmed,
    /// Unlocked when it is dropped, and when the process ends in any way.
    _lock: File,
}

impl Changing {
    fn begin(home: &Path) -> Result<Self, ConsentError> {
        Self::begin_within(home, PATIENCE)
    }

    fn begin_within(home: &Path, patience: Duration) -> Result<Self, ConsentError> {
        let path = home.join(LOCK);
        let fail = |source| ConsentError::Write { path: path.clone(), source };
        private_folder(home.to_owned()).map_err(fail)?;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let mut lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .custom_flags(flags.bits().cast_signed())
            .open(&path)
            .map_err(fail)?;
        let deadline = Instant::now() + patience;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(ConsentError::Busy { who: holder(&mut lock), path }),
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
        }
        // For whoever waits. That it cannot be written is no reason not to go on.
        let _ = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
        sweep(home);
        Ok(Self { home: home.to_owned(), confirmed: Confirmed::read(home)?, _lock: lock })
    }

    /// Puts the new file in the place of the old one, whole: whoever reads, and whatever ends this process, there is one
    /// or the other.
    fn keep(self) -> Result<(), ConsentError> {
        let path = self.home.join(FILE);
        let fail = |source| ConsentError::Write { path: path.clone(), source };
        let text = toml::to_string(&self.confirmed).map_err(|e| fail(io::Error::other(e)))?;
        if (HEAD.len() + text.len()) as u64 > MAX_CONFIRMED_BYTES {
            return Err(fail(io::Error::other(format!("it would be larger than {MAX_CONFIRMED_BYTES} bytes"))));
        }
        let mut file = tempfile::Builder::new()
            .prefix(NEW)
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(&self.home)
            .map_err(fail)?;
        file.write_all(HEAD.as_bytes())
            .and_then(|()| file.write_all(text.as_bytes()))
            .and_then(|()| file.as_file().sync_all())
            .map_err(fail)?;
        file.persist(&path).map_err(|e| fail(e.error))?;
        File::open(&self.home).and_then(|folder| folder.sync_all()).map_err(fail)
    }
}

/// The process that holds the lock, as it wrote into it.
fn holder(lock: &mut File) -> String {
    let mut text = String::new();
    let _ = Read::by_ref(lock).take(32).read_to_string(&mut text);
    text.trim().parse::<u32>().map(|pid| format!(" ({pid})")).unwrap_or_default()
}

/// Removes what processes left that were killed while they wrote the file. Whoever writes one holds the lock, so that none of
/// them is anybody's while this process does.
fn sweep(home: &Path) {
    let Ok(entries) = std::fs::read_dir(home) else { return };
    for entry in entries.take(MAX_SWEPT).flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(NEW.as_bytes()) {
            // What cannot be removed is in nobody's way.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// What came of asking whether roles may be used.
#[derive(Debug, Default)]
pub(crate) struct Consent {
    /// Roles that were used for the first time, so that what they ask is confirmed from now on.
    pub pinned: BTreeSet<RoleName>,
    /// Roles that ask for more than was confirmed.
    pub refused: BTreeMap<RoleName, RoleError>,
}

/// Asks whether these roles may be used, and pins what they ask where it is their first use.
pub(crate) fn consent<'a>(
    home: &Path,
    roles: impl Iterator<Item = &'a Installed> + Clone,
) -> Result<Consent, ConsentError> {
    let mut confirmed = Confirmed::read(home)?;
    // A component that cannot be read is no use of it; loading it says why.
    let first: Vec<(RoleName, Confirmation)> = roles
        .clone()
        .filter(|role| confirmed.of(&role.manifest.name).is_none())
        .filter_map(|role| {
            let bytes = role.bytes().ok()?;
            Some((role.manifest.name.clone(), Confirmation::of(role, &bytes, How::FirstUse)))
        })
        .collect();
    let pinned = first.iter().map(|(role, _)| role.clone()).collect();
    if !first.is_empty() {
        confirmed = Confirmed::pin(home, first)?;
    }
    let refused = roles
        .filter_map(|role| confirmed.allows(role).err().map(|error| (role.manifest.name.clone(), error)))
        .collect();
    Ok(Consent { pinned, refused })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn a_lock_that_is_not_given_back_is_waited_for_only_so_long_and_its_holder_named() {
        let home = tempfile::tempdir().unwrap();
        let held = Changing::begin(home.path()).unwrap();
        let Err(error) = Changing::begin_within(home.path(), Duration::ZERO) else { panic!("it is held") };
        let told = error.to_string();
        assert!(told.contains(&format!("({})", std::process::id())) && told.contains(LOCK), "{told}");
        drop(held);
        Changing::begin_within(home.path(), Duration::ZERO).unwrap().keep().unwrap();
    }

    #[test]
    fn what_a_killed_process_left_is_swept_by_the_next_that_changes_the_file() {
        let home = tempfile::tempdir().unwrap();
        for name in [".confirmed-abc", ".confirmed-", "confirmed.txt"] {
            std::fs::write(home.path().join(name), "torn").unwrap();
        }
        Changing::begin(home.path()).unwrap().keep().unwrap();
        let mut left: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [LOCK, FILE, "confirmed.txt"]);
    }
}
