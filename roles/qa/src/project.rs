//! Reads the tree once: what each file defines, what of it is tests, and the code in which names are looked for.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use brain_role::{Tree, WalkLimits};
use code_map::language::{self, Class, Language};
use code_map::outline::{self, Definition, Kind, Made};

use crate::code;
use crate::limits::{
    MAX_DEFINITIONS, MAX_FILE_BYTES, MAX_FILES_LISTED, MAX_FILES_READ, MAX_KEPT_BYTES, MAX_MANIFEST_BYTES,
    MAX_MANIFESTS, MAX_TOTAL_BYTES,
};
use crate::public::Visible;
use crate::smells::{self, Helpers, Smell};

/// A file of the project that holds code.
#[derive(Debug)]
pub struct File {
    /// Relative to the project.
    pub path: String,
    /// What it is written in.
    pub language: &'static Language,
    /// The nearest folder above that has a manifest of a package; empty for the root.
    pub package: String,
    /// Whether it is a test by its path.
    pub test: bool,
    /// Whether it is material that code is tried on: a fixture, an example.
    pub sample: bool,
    /// Whether a tool made it.
    pub generated: bool,
    /// In the order of their lines.
    pub definitions: Vec<Definition>,
    /// Whether each definition can be used from outside.
    pub public: Vec<bool>,
    /// The code without comments and strings; none where it was not kept.
    pub code: Option<String>,
    /// Disabled, focused and assertion-less tests.
    pub smells: Vec<Smell>,
}

impl File {
    /// Whether tests are in it.
    pub fn has_tests(&self) -> bool {
        self.test || self.definitions.iter().any(|definition| definition.test)
    }

    /// Whether it is code that tests could be for.
    pub fn is_testable(&self) -> bool {
        !self.test && !self.sample && !self.generated && is_unit(self.language)
    }

    /// The innermost definition of some kind around a line.
    pub fn around(&self, line: u32, wanted: impl Fn(&Definition) -> bool) -> Option<usize> {
        const LOOK_BACK: usize = 300;
        let after = self.definitions.partition_point(|definition| definition.line <= line);
        // A line of the attributes above a definition stands before its name.
        let next = self.definitions.get(after).filter(|next| next.top <= line && wanted(next)).map(|_| after);
        next.or_else(|| {
            let before = self.definitions.iter().enumerate().take(after).rev().take(LOOK_BACK);
            before.into_iter().find(|(_, definition)| definition.end >= line && wanted(definition)).map(|(at, _)| at)
        })
    }

    /// Whether a test is a group of others.
    pub fn is_group(&self, index: usize) -> bool {
        let Some(group) = self.definitions.get(index) else { return false };
        let rest = self.definitions.iter().skip(index + 1);
        rest.take_while(|inner| inner.line <= group.end).any(|inner| inner.kind == Kind::Test && inner.end <= group.end)
    }
}

/// Languages that test each other's code: what is written in one is called from the other as it is.
pub fn family(language: &Language) -> &'static str {
    match language.name {
        "TypeScript" | "JavaScript" | "Vue" | "Svelte" => "JavaScript",
        "C" | "C++" => "C",
        "Java" | "Kotlin" | "Scala" => "Java",
        other => other,
    }
}

/// Whether units of the language are tested by name. Scripts, queries, styles and interface descriptions are not.
fn is_unit(language: &Language) -> bool {
    language.class == Class::Code
        && !matches!(language.name, "Shell" | "SQL" | "Protocol Buffers" | "WIT" | "HTML" | "CSS")
}

/// The whole tree.
#[derive(Debug, Default)]
pub struct Project {
    /// Code, sorted by path.
    pub files: Vec<File>,
    /// Every path that was listed.
    pub paths: BTreeSet<String>,
    /// Text of the manifests, by path.
    pub manifests: BTreeMap<String, String>,
    /// How many definitions outside of tests have each name, and family of languages.
    pub names: HashMap<(&'static str, String), usize>,
    /// Files of code that were read.
    pub read: usize,
    /// What was not looked at: how many files for each reason, and the first of them.
    pub skipped: BTreeMap<String, (usize, String)>,
    /// What the listing left out, in words.
    pub listing: Option<String>,
    /// Files whose outline was made without their parser: how many, and the first.
    pub rough: (usize, String),
    /// Definitions over the bound.
    pub dropped: usize,
}

/// Names of files that say how a project is built and tested.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "pytest.ini",
    "tox.ini",
    "noxfile.py",
    "requirements.txt",
    "requirements-dev.txt",
    "package.json",
    "go.mod",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
];

/// Those that make their folder a package.
const PACKAGES: &[&str] = &["Cargo.toml", "pyproject.toml", "setup.py", "package.json", "go.mod"];

impl Project {
    /// Reads a tree.
    pub fn new(tree: &Tree) -> Self {
        let walk = tree.walk(&WalkLimits { max_files: MAX_FILES_LISTED, ..WalkLimits::default() });
        let mut project = Self { listing: walk.note(), ..Self::default() };
        if walk.truncated {
            let listed = walk.files.len();
            let note = format!(
                "the project has more files than are listed: only {listed} were considered, those nearest to its root first"
            );
            project.listing = Some(project.listing.map_or_else(|| note.clone(), |first| format!("{first}; {note}")));
        }
        project.paths = walk.files.iter().map(|file| file.path.clone()).collect();
        let built = language::Built::new(walk.files.iter().map(|file| file.path.as_str()));
        let mut order: Vec<(u8, String, u64)> = Vec::new();
        let mut manifests: Vec<(usize, String, u64)> = Vec::new();
        for file in &walk.files {
            if let Some(folder) = language::foreign(&file.path).or_else(|| built.of(&file.path)) {
                project.skip(&format!("in {folder}, which holds other people's code or built output"), &file.path);
                continue;
            }
            if MANIFESTS.contains(&language::file_name(&file.path)) {
                manifests.push((file.path.matches('/').count(), file.path.clone(), file.len));
            }
            let language = language::of(&file.path);
            if language.class == Class::Code && language.name != "HTML" && language.name != "CSS" {
                let rank = if language::is_sample(&file.path) { 2 } else { u8::from(!language::is_test(&file.path)) };
                order.push((rank, file.path.clone(), file.len));
            }
        }
        manifests.sort();
        for (at, (_, path, _)) in manifests.into_iter().enumerate() {
            project.manifest(tree, at, path);
        }
        order.sort();
        let mut helpers = Helpers::default();
        let mut budget = Budget::default();
        for (_, path, len) in order {
            project.file(tree, path, len, &mut budget, &mut helpers);
        }
        helpers.settle(&mut project.files);
        project.files.sort_by(|a, b| a.path.cmp(&b.path));
        project.count_names();
        project
    }

    fn skip(&mut self, reason: &str, path: &str) {
        self.skipped.entry(reason.to_owned()).or_insert_with(|| (0, path.to_owned())).0 += 1;
    }

    fn manifest(&mut self, tree: &Tree, at: usize, path: String) {
        if at >= MAX_MANIFESTS {
            return self.skip(&format!("a manifest past the first {MAX_MANIFESTS}"), &path);
        }
        match tree.head(&path, MAX_MANIFEST_BYTES) {
            Ok((_, true)) => self.skip("a manifest over 256 KiB", &path),
            Ok((bytes, false)) => {
                self.manifests.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
            Err(error) => self.skip(&format!("a manifest that does not open ({})", error.kind()), &path),
        }
    }

    fn file(&mut self, tree: &Tree, path: String, len: u64, budget: &mut Budget, helpers: &mut Helpers) {
        if len > MAX_FILE_BYTES {
            return self.skip("over 1 MiB", &path);
        }
        if self.read >= MAX_FILES_READ || budget.read + len > MAX_TOTAL_BYTES {
            return self.skip("past what one run reads", &path);
        }
        let bytes = match tree.head(&path, MAX_FILE_BYTES) {
            Ok((_, true)) => return self.skip("over 1 MiB", &path),
            Ok((bytes, false)) => bytes,
            Err(error) => return self.skip(&format!("unreadable ({})", error.kind()), &path),
        };
        self.read += 1;
        budget.read += bytes.len() as u64;
        if bytes.iter().take(8 * 1024).any(|byte| *byte == 0) {
            return self.skip("binary", &path);
        }
        let text =
            String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let language = language::of(&path);
        let mut outline = outline::outline(language, &path, &text);
        if outline.made != Made::Own {
            if self.rough.0 == 0 {
                self.rough.1 = path.clone();
            }
            self.rough.0 += 1;
        }
        let fits = MAX_DEFINITIONS.saturating_sub(budget.definitions);
        self.dropped += outline.dropped + outline.definitions.len().saturating_sub(fits);
        outline.definitions.truncate(fits);
        budget.definitions += outline.definitions.len();
        let code = code::blanked(language.name, &text, &outline.comments);
        let visible = Visible::new(language, &path, &code);
        let public = outline.definitions.iter().map(|one| visible.is_public(one, &outline.definitions)).collect();
        let mut file = File {
            test: language::is_test(&path),
            sample: language::is_sample(&path),
            generated: language::is_generated(&text),
            package: self.package(&path),
            path,
            language,
            definitions: outline.definitions,
            public,
            code: None,
            smells: Vec::new(),
        };
        if file.has_tests() {
            file.smells = smells::of(&file, &text, &code, helpers);
        }
        if budget.kept + code.len() as u64 <= MAX_KEPT_BYTES {
            budget.kept += code.len() as u64;
            file.code = Some(code);
        } else {
            self.skip("past the code that is kept to look for names in", &file.path.clone());
        }
        self.files.push(file);
    }

    fn package(&self, path: &str) -> String {
        let is_package = |folder: &&str| PACKAGES.iter().any(|name| self.manifests.contains_key(&join(folder, name)));
        folders(path).find(is_package).unwrap_or_default().to_owned()
    }

    fn count_names(&mut self) {
        for file in self.files.iter().filter(|file| !file.test && !file.sample) {
            let family = family(file.language);
            for definition in file.definitions.iter().filter(|definition| !definition.test) {
                *self.names.entry((family, definition.name.clone())).or_insert(0) += 1;
            }
        }
    }

    /// The index of a file.
    pub fn find(&self, path: &str) -> Option<usize> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()
    }
}

#[derive(Debug, Default)]
struct Budget {
    read: u64,
    kept: u64,
    definitions: usize,
}

/// The folder of a path; empty for a file at the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folders above a path from the nearest to the root, which is empty.
pub fn folders(path: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(folder(path));
    std::iter::from_fn(move || {
        let now = next?;
        next = (!now.is_empty()).then(|| folder(now));
        Some(now)
    })
}

/// A name in a folder.
pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
