//! Which files to look at, and reading them within bounds.

use std::collections::{BTreeMap, BTreeSet};

use brain_role::{ContextRefKind, Handoff, Tree, TreeFile, WORKSPACE, WalkLimits};

use crate::limits::{MAX_FILE_BYTES, MAX_REFS, MAX_TOTAL_BYTES};

/// The files of a handoff, and what is to be said about them.
pub struct Files {
    /// The files, sorted by path; a length is known only where they were listed.
    pub paths: Vec<TreeFile>,
    /// What was not listed, in sentences.
    pub risks: Vec<String>,
}

/// The files that the handoff refers to; without such references the whole granted tree.
pub fn files(handoff: &Handoff) -> Files {
    let tree = handoff.workspace();
    let mut named: Vec<&str> = handoff
        .refs_of(ContextRefKind::File)
        .filter_map(|reference| reference.uri.strip_prefix(WORKSPACE))
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
        .map(|rest| rest.trim_matches('/'))
        .collect();
    let mut risks = Vec::new();
    if named.len() > MAX_REFS {
        risks.push(format!("only the first {MAX_REFS} of {} file references were followed", named.len()));
        named.truncate(MAX_REFS);
    }
    if named.is_empty() || named.contains(&"") {
        let (paths, notes) = walk(&tree);
        risks.extend(notes);
        return Files { paths, risks };
    }
    let (directories, plain): (Vec<&str>, Vec<&str>) = named.iter().partition(|path| tree.path(path).is_dir());
    let mut paths: BTreeSet<TreeFile> =
        plain.into_iter().map(|path| TreeFile { path: path.to_owned(), len: 0 }).collect();
    if !directories.is_empty() {
        let (all, notes) = walk(&tree);
        risks.extend(notes);
        let below = |path: &str| {
            directories.iter().any(|directory| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/')))
        };
        paths.extend(all.into_iter().filter(|file| below(&file.path)));
    }
    Files { paths: paths.into_iter().collect(), risks }
}

fn walk(tree: &Tree) -> (Vec<TreeFile>, Vec<String>) {
    let walk = tree.walk(&WalkLimits::default());
    let mut risks: Vec<String> = walk.note().into_iter().collect();
    if walk.truncated {
        risks.push(format!("the project has more files than are listed; only {} were considered", walk.files.len()));
    }
    (walk.files, risks)
}

/// Reads files and counts what it cannot or will not read.
#[derive(Default)]
pub struct Reader {
    /// Files whose text was given out.
    pub read_files: u64,
    total: u64,
    /// How many files for each reason, and the first of them.
    skipped: BTreeMap<&'static str, (u64, String)>,
}

impl Reader {
    /// The text of a file, `None` when it is no text or does not open.
    pub fn read(&mut self, tree: &Tree, file: &TreeFile) -> Option<String> {
        if is_binary_name(&file.path) {
            self.skip("binary by its name", &file.path);
            return None;
        }
        if self.total >= MAX_TOTAL_BYTES {
            self.skip("past the bytes that one run reads", &file.path);
            return None;
        }
        let (bytes, more) = match tree.head(&file.path, MAX_FILE_BYTES) {
            Ok(read) => read,
            Err(error) => {
                let reason = match error.kind() {
                    std::io::ErrorKind::NotFound => "not there",
                    std::io::ErrorKind::PermissionDenied => "not granted",
                    _ => "unreadable",
                };
                self.skip(reason, &file.path);
                return None;
            }
        };
        self.total += bytes.len() as u64;
        let Some(text) = decode(bytes) else {
            self.skip("binary", &file.path);
            return None;
        };
        if more {
            // Counted as read, but said.
            self.count("larger than 1 MiB and read up to there", &file.path);
        }
        self.read_files += 1;
        Some(text)
    }

    fn skip(&mut self, reason: &'static str, path: &str) {
        self.count(reason, path);
    }

    fn count(&mut self, reason: &'static str, path: &str) {
        self.skipped.entry(reason).or_insert_with(|| (0, path.to_owned())).0 += 1;
    }

    /// One sentence for each reason.
    pub fn risks(&self) -> impl Iterator<Item = String> {
        self.skipped.iter().map(|(reason, (count, first))| {
            let verb = if reason.starts_with("larger") { "" } else { " not looked at" };
            let noun = if *count == 1 { "file" } else { "files" };
            format!("{count} {noun}{verb}: {reason} (the first is {first:?})")
        })
    }
}

/// UTF-8 or UTF-16 text; other encodings keep their ASCII, which is what the rules look at. `None` for binary data.
fn decode(bytes: Vec<u8>) -> Option<String> {
    let wide = |order: fn([u8; 2]) -> u16| {
        let units: Vec<u16> =
            bytes.get(2..).unwrap_or_default().chunks_exact(2).map(|pair| order([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes.as_slice() {
        [0xFF, 0xFE, ..] => return Some(wide(u16::from_le_bytes)),
        [0xFE, 0xFF, ..] => return Some(wide(u16::from_be_bytes)),
        _ => {}
    }
    if bytes.iter().take(8_000).any(|&b| b == 0) {
        return None;
    }
    Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Formats that hold no text: opening them would cost time for nothing.
fn is_binary_name(path: &str) -> bool {
    const EXTENSIONS: &[&str] = &[
        "png",
        "jpg",
        "jpeg",
        "gif",
        "webp",
        "ico",
        "bmp",
        "tiff",
        "avif",
        "pdf",
        "zip",
        "gz",
        "bz2",
        "xz",
        "zst",
        "7z",
        "tar",
        "jar",
        "war",
        "class",
        "wasm",
        "so",
        "dll",
        "dylib",
        "exe",
        "o",
        "a",
        "rlib",
        "rmeta",
        "pyc",
        "woff",
        "woff2",
        "ttf",
        "otf",
        "eot",
        "mp3",
        "mp4",
        "ogg",
        "wav",
        "avi",
        "mov",
        "webm",
        "sqlite",
        "db",
        "bin",
        "dat",
        "parquet",
        "npy",
        "onnx",
        "safetensors",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use brain_role::testing::Bench;

    #[test]
    fn reading_stops_at_the_bytes_of_one_run() {
        let bench = Bench::new().file("a.py", "a").file("b.py", "b");
        let tree = bench.handoff().workspace();
        let mut reader = Reader { total: MAX_TOTAL_BYTES - 1, ..Reader::default() };
        let file = |path: &str| TreeFile { path: path.to_owned(), len: 1 };
        assert_eq!(reader.read(&tree, &file("a.py")).as_deref(), Some("a"));
        assert_eq!(reader.read(&tree, &file("b.py")), None);
        let risks: Vec<String> = reader.risks().collect();
        assert_eq!(risks, ["1 file not looked at: past the bytes that one run reads (the first is \"b.py\")"]);
    }

    #[test]
    fn references_past_the_limit_are_said() {
        let mut bench = Bench::new();
        for n in 0..=MAX_REFS {
            bench = bench.ref_file(format!("f{n}"));
        }
        let files = files(&bench.handoff());
        assert_eq!(files.paths.len(), MAX_REFS);
        assert_eq!(
            files.risks,
            [format!("only the first {MAX_REFS} of {} file references were followed", MAX_REFS + 1)]
        );
    }

    #[test]
    fn text_in_other_encodings_is_kept() {
        assert_eq!(decode(b"a\xffb".to_vec()).as_deref(), Some("a\u{fffd}b"));
        assert_eq!(decode(vec![0xFF, 0xFE, b'a', 0, b'b', 0]).as_deref(), Some("ab"));
        assert_eq!(decode(vec![0xFE, 0xFF, 0, b'a', 0]).as_deref(), Some("a"));
        assert_eq!(decode(b"a\0b".to_vec()), None);
        assert_eq!(decode(Vec::new()).as_deref(), Some(""));
    }
}
