//! What killed processes left half written among the contents of sessions.

use std::path::Path;

use brain_changes::Contents;
use brain_journal::{SessionPaths, parse_session_id, sessions_folder};

/// Names that are looked at in the folder of the sessions.
const MAX_NAMES: usize = 1 << 14;
/// Sessions that are swept: the newest, since each run sweeps.
const MAX_SESSIONS: usize = 128;

/// Removes it, where no process is at work on it. What cannot be listed or removed is in nobody's way.
pub(crate) fn sessions(home: &Path) {
    let Ok(entries) = std::fs::read_dir(sessions_folder(home)) else { return };
    let names = entries.take(MAX_NAMES).flatten().filter_map(|entry| entry.file_name().into_string().ok());
    // A journal ends in `.jsonl`, and has no session's name.
    let mut ids: Vec<String> = names.filter(|name| !name.contains('.')).collect();
    // An id begins with the time of its session.
    ids.sort_unstable_by(|a, b| b.cmp(a));
    for id in ids.into_iter().take(MAX_SESSIONS) {
        if let Ok(paths) = parse_session_id(&id).and_then(|id| SessionPaths::new(home, &id)) {
            let _ = Contents::sweep(&paths.contents());
        }
    }
}
