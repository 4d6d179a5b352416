//! What is around a mount: a folder of canaries that tells whether anybody opened, read or changed something in it.

use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use brain_tests::probe::script::{Answer, Value};
use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use sha2::{Digest, Sha256};

/// Is in every canary file.
pub const CANARY: &str = "CANARY-7f3a91";
/// Bytes of a canary file: no file inside of a mount has as many.
pub const CANARY_BYTES: usize = 4_099;

/// The content of a canary file.
pub fn canary() -> Vec<u8> {
    CANARY.bytes().cycle().take(CANARY_BYTES).collect()
}

/// Everything below a folder, by path: type, mode, size, time of change and content.
///
/// # Panics
/// When the folder cannot be read.
pub fn snapshot(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    take(root, &mut found);
    found
}

fn take(path: &Path, found: &mut BTreeMap<PathBuf, String>) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let kind = metadata.file_type();
    let content = if kind.is_symlink() {
        fs::read_link(path).unwrap().display().to_string()
    } else if kind.is_file() {
        hex(&Sha256::digest(fs::read(path).unwrap()))
    } else {
        String::new()
    };
    // A folder's own time changes with what a test itself puts beside it; what is in it is listed anyway.
    let time = if kind.is_dir() { String::new() } else { format!("{}.{}", metadata.mtime(), metadata.mtime_nsec()) };
    let mode = metadata.permissions().mode();
    found.insert(
        path.to_owned(),
        format!("{mode:o} {} {time} {content}", if kind.is_dir() { 0 } else { metadata.len() }),
    );
    if kind.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            take(&entry.unwrap().path(), found);
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A watched folder outside of every mount.
pub struct Outside {
    path: PathBuf,
    before: BTreeMap<PathBuf, String>,
    events: OwnedFd,
}

impl Outside {
    /// Fills `path` with canaries: `canary`, `secret`, and `folder/canary`, and starts to watch it.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn make(path: &Path) -> Self {
        fs::create_dir_all(path.join("folder")).unwrap();
        for file in ["canary", "secret", "folder/canary"] {
            fs::write(path.join(file), canary()).unwrap();
        }
        let before = snapshot(path);
        let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        for folder in [path.to_owned(), path.join("folder")] {
            add_watch(&events, &folder, WatchFlags::ALL_EVENTS).unwrap();
        }
        Self { path: path.to_owned(), before, events }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What happened to the folder since the last time: what was opened, read, created or changed in it, and what is not as
    /// it was. Empty, as long as nobody leaves a mount. The system does not tell of handles that only stand for a place
    /// (`O_PATH`), nor of metadata that was looked at: what comes of those is in the answers.
    ///
    /// # Panics
    /// When the folder cannot be read.
    pub fn touched(&self) -> Vec<String> {
        let mut touched = Vec::new();
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut reader = Reader::new(&self.events, &mut buffer);
        while let Ok(event) = reader.next() {
            let name = event.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            touched.push(format!("{:?} of `{name}` outside", event.events()));
        }
        let now = snapshot(&self.path);
        // Taking the snapshot was seen as well.
        let mut reader = Reader::new(&self.events, &mut buffer);
        while reader.next().is_ok() {}
        for path in self.before.keys().chain(now.keys()) {
            if self.before.get(path) != now.get(path) {
                touched.push(format!("{} is not as it was", path.display()));
            }
        }
        touched.sort();
        touched.dedup();
        touched
    }
}

/// What answers tell of the outside: content, size, or a path of the host.
pub fn told(answers: &[Answer], host: &[&Path]) -> Vec<String> {
    let mut told = Vec::new();
    for (n, answer) in answers.iter().enumerate() {
        look(answer, host, &mut |what| told.push(format!("answer {n} has {what}: {answer:?}")));
    }
    told
}

fn look(answer: &Answer, host: &[&Path], tell: &mut dyn FnMut(&str)) {
    let mut text = |text: &str| {
        if text.contains(CANARY) {
            tell("what is in a canary");
        }
        if host.iter().any(|path| text.contains(&*path.to_string_lossy())) {
            tell("a path of the host");
        }
    };
    match answer {
        Answer::Error(code) => text(code),
        Answer::Ok(Value::Text(target)) => text(target),
        Answer::Ok(Value::Data { bytes, .. }) => text(&String::from_utf8_lossy(&bytes.0)),
        Answer::Ok(Value::Entries(entries)) => {
            entries.iter().for_each(|(_, name)| text(name));
            if entries.iter().any(|(_, name)| name == "canary") {
                tell("the name of a canary");
            }
        }
        Answer::Ok(Value::Stat(stat)) if stat.size == CANARY_BYTES as u64 => tell("the size of a canary"),
        Answer::Ok(Value::Tally { answers, .. }) => answers.iter().for_each(|(answer, _)| look(answer, host, tell)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_leaves_a_mount_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let outside = Outside::make(&folder.path().join("outside"));
        assert_eq!(outside.touched(), Vec::<String>::new());
        fs::read(outside.path().join("folder/canary")).unwrap();
        assert!(outside.touched().iter().any(|what| what.contains("OPEN") && what.contains("canary")));
        assert_eq!(outside.touched(), Vec::<String>::new(), "each is told once");
        fs::write(outside.path().join("new"), "x").unwrap();
        assert!(outside.touched().iter().any(|what| what.contains("CREATE") && what.contains("new")));
        fs::remove_file(outside.path().join("new")).unwrap();
        fs::set_permissions(outside.path().join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        assert!(outside.touched().iter().any(|what| what.ends_with("secret is not as it was")));
    }

    #[test]
    fn whatever_is_told_of_the_outside_is_found() {
        let host = Path::new("/tmp/host");
        let answers = [
            Answer::Ok(Value::Data { bytes: canary().into(), end: false }),
            Answer::Ok(Value::Text("/tmp/host/x".into())),
            Answer::Ok(Value::Entries(vec![("regular-file".into(), "canary".into())])),
            Answer::Ok(Value::Tally {
                rounds: 1,
                others: 0,
                answers: vec![(Answer::Error("no code: /tmp/host".into()), 1)],
            }),
            Answer::Ok(Value::Done),
            Answer::Error("access".into()),
        ];
        assert_eq!(told(&answers, &[host]).len(), 4);
    }
}
