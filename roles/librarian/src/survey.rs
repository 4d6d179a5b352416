//! Reads the tree once and keeps of each file what the answer needs: no text is kept.

use std::collections::BTreeMap;

use brain_role::{Tree, WalkLimits};

use crate::entry::{self, EntryPoint};
use crate::file::{File, depth, ends_with_path, refers};
use crate::language::{self, Class};
use crate::limits::{
    MAX_DEFINITIONS, MAX_DEFINITIONS_WITH_MATCHES, MAX_ENTRY_POINTS, MAX_FILE_BYTES, MAX_FILES_LISTED, MAX_FILES_READ,
    MAX_TOTAL_BYTES,
};
use crate::outline::{self, Lines, Made};
use crate::query::Query;

/// The whole tree.
#[derive(Debug, Default)]
pub struct Survey {
    /// All files, sorted by path.
    pub files: Vec<File>,
    /// Where things start.
    pub entries: Vec<EntryPoint>,
    /// Entry points over the bound.
    pub entries_dropped: usize,
    /// What was not read: how many files for each reason, and the first of them.
    pub skipped: BTreeMap<String, (usize, String)>,
    /// What the listing left out, in words.
    pub listing: Option<String>,
    /// Whether the listing stopped early.
    pub truncated: bool,
    /// Files whose outline was made without their parser: how many, and the first.
    pub too_deep: (usize, String),
    /// Files that their parser gave up on, or was not given.
    pub unparsable: (usize, String),
    /// Definitions over the bounds.
    pub definitions_dropped: usize,
    /// Definitions kept.
    pub definitions_kept: usize,
    /// Bytes read.
    pub bytes_read: u64,
    /// Files read.
    pub files_read: usize,
}

/// Extensions of files that are not text; others are told by their first bytes.
const BINARY: &[&str] = &[
    "png",
    "jpg",
    "jpeg",
    "gif",
    "webp",
    "ico",
    "bmp",
    "tiff",
    "avif",
    "psd",
    "woff",
    "woff2",
    "ttf",
    "otf",
    "eot",
    "pdf",
    "zip",
    "gz",
    "tgz",
    "bz2",
    "xz",
    "zst",
    "7z",
    "tar",
    "jar",
    "war",
    "class",
    "o",
    "a",
    "so",
    "dylib",
    "dll",
    "exe",
    "lib",
    "pyc",
    "pyo",
    "wasm",
    "cwasm",
    "rlib",
    "rmeta",
    "bin",
    "dat",
    "db",
    "sqlite",
    "mp3",
    "mp4",
    "mov",
    "avi",
    "wav",
    "ogg",
    "webm",
    "flac",
    "parquet",
    "npy",
    "pkl",
    "pt",
    "onnx",
    "safetensors",
    "node",
    "nib",
    "icns",
    "keystore",
    "jks",
    "p12",
    "der",
];

impl Survey {
    /// Reads a tree for a goal.
    pub fn new(tree: &Tree, query: &Query, wanted: &[String]) -> Self {
        let walk = tree.walk(&WalkLimits { max_files: MAX_FILES_LISTED, ..WalkLimits::default() });
        let mut survey = Self { truncated: walk.truncated, listing: walk.note(), ..Self::default() };
        survey.files = walk.files.into_iter().map(|file| File::new(file.path, file.len, query)).collect();
        let built = language::Built::new(survey.files.iter().map(|file| file.path.as_str()));
        for file in &mut survey.files {
            file.foreign = file.foreign.take().or_else(|| built.of(&file.path).map(str::to_owned));
        }
        for index in survey.order(query, wanted) {
            if let Err((reason, path)) = survey.read(tree, query, index) {
                survey.skip(reason, path);
            }
        }
        survey.entries.sort_by(|a, b| {
            (a.start, depth(&a.file), &a.file, a.line).cmp(&(b.start, depth(&b.file), &b.file, b.line))
        });
        survey
    }

    fn skip(&mut self, reason: String, path: String) {
        let entry = self.skipped.entry(reason).or_insert((0, path));
        entry.0 += 1;
    }

    /// In which order files are read, so that the budgets are spent on what matters most.
    fn order(&self, query: &Query, wanted: &[String]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        let rank = |file: &File| {
            let asked = refers(wanted, &file.path) || query.paths.iter().any(|path| ends_with_path(&file.path, path));
            if asked {
                return 0;
            }
            let class = match file.language.class {
                Class::Code => 2,
                Class::Config | Class::Docs => 3,
                Class::Data => 5,
            };
            class + i32::from(file.sample) - i32::from(!file.counts.is_empty())
        };
        order.sort_by_cached_key(|index| {
            let file = &self.files[*index];
            (rank(file), depth(&file.path), file.path.clone())
        });
        order
    }

    /// Reads one file. An error is why it was not read, and its path.
    fn read(&mut self, tree: &Tree, query: &Query, index: usize) -> Result<(), (String, String)> {
        let file = &self.files[index];
        let because = |reason: &str| Err((reason.to_owned(), file.path.clone()));
        if let Some(folder) = &file.foreign {
            return because(&format!("in {folder}, which holds other people's code or built output"));
        }
        if is_binary_name(&file.path) {
            return because("binary");
        }
        if matches!(file.language.name, "Lock file" | "Data" | "XML") {
            return because("lock files and data");
        }
        if file.bytes > MAX_FILE_BYTES {
            return because("over 1 MiB");
        }
        if self.files_read >= MAX_FILES_READ {
            return because(&format!("over the budget of {MAX_FILES_READ} files"));
        }
        if self.bytes_read + file.bytes > MAX_TOTAL_BYTES {
            return because("over the budget of 64 MiB in all");
        }
        let bytes = match tree.head(&file.path, MAX_FILE_BYTES) {
            Ok((_, true)) => return because("over 1 MiB"),
            Ok((bytes, false)) => bytes,
            Err(error) => return because(&format!("unreadable, {}", error.kind())),
        };
        self.files_read += 1;
        self.bytes_read += bytes.len() as u64;
        const HEAD: usize = 8 * 1024;
        if bytes[..bytes.len().min(HEAD)].contains(&0) {
            return because("binary");
        }
        let text =
            String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        self.take(query, index, &text);
        Ok(())
    }

    fn take(&mut self, query: &Query, index: usize, text: &str) {
        let file = &mut self.files[index];
        file.read = true;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if file.language.name == "Other"
            && let Some(language) = language::of_shebang(text)
        {
            file.language = language;
        }
        let lines = Lines::new(text);
        file.lines = lines.count(text);
        file.generated = file.language.class != Class::Docs && language::is_generated(text);
        let outline = outline::outline(file.language, &file.path, text);
        match outline.made {
            Made::Own => {}
            Made::TooDeep => count(&mut self.too_deep, &file.path),
            Made::Unparsable => count(&mut self.unparsable, &file.path),
        }
        for entry in entry::of(&file.path, file.language, text, &outline) {
            if self.entries.len() < MAX_ENTRY_POINTS { self.entries.push(entry) } else { self.entries_dropped += 1 }
        }
        self.definitions_dropped += outline.dropped;
        let file = &mut self.files[index];
        file.define(query, outline.definitions);
        file.scan(query, text, &lines, &outline.comments);
        self.definitions_dropped += file.keep(
            MAX_DEFINITIONS.saturating_sub(self.definitions_kept),
            MAX_DEFINITIONS_WITH_MATCHES.saturating_sub(self.definitions_kept),
        );
        self.definitions_kept += file.definitions.len();
    }
}

fn count(counted: &mut (usize, String), path: &str) {
    if counted.0 == 0 {
        counted.1 = path.to_owned();
    }
    counted.0 += 1;
}

fn is_binary_name(path: &str) -> bool {
    let name = language::file_name(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| BINARY.contains(&extension.to_ascii_lowercase().as_str()))
}
