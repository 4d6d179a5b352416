//! Which tests refer to a definition.

use std::collections::{HashMap, HashSet};

use brain_role::Tree;

use crate::file::File;
use crate::limits::{MAX_FILE_BYTES, MAX_TEST_BYTES, MAX_TEST_FILES_SEARCHED};
use crate::outline::{Definition, Kind};
use crate::rank::Ranking;
use crate::survey::Survey;
use crate::words;

/// Most definitions whose tests are looked for.
const MAX_TARGETS: usize = 12;
/// Definitions below this part of the best of their file are not looked for.
const NEAR_BEST: f32 = 0.6;
/// Files below this part of the best score are left out too.
const NEAR_BEST_FILE: f32 = 0.65;
/// Files whose definitions those are, best first.
const MAX_TARGET_FILES: usize = 3;
/// Most places that are kept of one test file.
const MAX_USES_PER_FILE: usize = 20;
/// Most places in one test file that are looked at.
const MAX_PLACES: usize = 5_000;
/// Names that say nothing without the type they belong to.
const COMMON: &[&str] = &[
    "new", "run", "main", "from", "into", "get", "set", "default", "build", "open", "close", "read", "write", "create",
    "name", "id", "list", "load", "save", "init", "start", "stop", "call", "parse", "add", "remove", "update",
    "delete", "append", "push", "next", "len", "fmt", "drop", "clone", "value", "data", "error", "result", "test",
    "tests", "path", "file", "line", "exports", "index", "key", "text", "send", "check",
];

/// A place in a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// Path of the test.
    pub file: String,
    /// 1-based line of the name.
    pub line: u32,
    /// The test around it.
    pub test: Option<String>,
    /// What it refers to.
    pub target: String,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Tested {
    /// The definitions that were looked for.
    pub targets: Vec<String>,
    /// Where they are referred to, by file: the one nearest to what it tests first, then the one with the most targets. In each, tests proper come first.
    pub uses: Vec<Vec<Use>>,
    /// How many test files were searched.
    pub searched: usize,
    /// How many were not, for the budget.
    pub not_searched: usize,
    /// Only what the request refers to is granted, so tests elsewhere cannot be seen.
    pub narrow: bool,
}

/// How many directories two paths have in common from the root on.
fn shared(a: &str, b: &str) -> usize {
    let folders = |path: &'_ str| path.rsplit_once('/').map_or(String::new(), |(folders, _)| folders.to_owned());
    let (a, b) = (folders(a), folders(b));
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count()
}

struct Target<'a> {
    name: &'a str,
    container: Option<&'a str>,
    qualified: String,
    /// Whether the name alone is enough to know it.
    distinct: bool,
    file: &'a str,
}

impl Tested {
    /// Looks for tests of the best definitions of the best files.
    pub fn new(tree: &Tree, survey: &Survey, ranking: &Ranking) -> Self {
        Self::of(tree, survey, targets(survey, ranking))
    }

    /// Looks for tests of what some files define, given by their index.
    pub fn of_files(tree: &Tree, survey: &Survey, files: &[usize]) -> Self {
        let seen = seen(survey);
        let files = files.iter().map(|index| &survey.files[*index]);
        let files = files.filter(|file| !file.test && file.language.class == crate::language::Class::Code);
        let all = files.flat_map(|file| file.definitions.iter().map(move |defined| (file, &defined.definition)));
        let targets = all.filter(|(_, definition)| is_target(definition)).take(MAX_TARGETS);
        Self::of(tree, survey, targets.map(|(file, definition)| Target::new(file, definition, &seen)).collect())
    }

    fn of(tree: &Tree, survey: &Survey, targets: Vec<Target>) -> Self {
        let mut tested =
            Self { targets: targets.iter().map(|target| target.qualified.clone()).collect(), ..Self::default() };
        if targets.is_empty() {
            return tested;
        }
        let mut bytes = 0;
        for file in survey.files.iter().filter(|file| file.read && file.has_tests()) {
            if tested.searched >= MAX_TEST_FILES_SEARCHED || bytes + file.bytes > MAX_TEST_BYTES {
                tested.not_searched += 1;
                continue;
            }
            // A file that is gone since it was first read counts as not searched.
            let Ok((content, _)) = tree.head(&file.path, MAX_FILE_BYTES) else {
                tested.not_searched += 1;
                continue;
            };
            tested.searched += 1;
            bytes += content.len() as u64;
            let uses = uses(&targets, file, &String::from_utf8_lossy(&content));
            if !uses.is_empty() {
                tested.uses.push(uses);
            }
        }
        let different = |uses: &Vec<Use>| uses.iter().map(|found| found.target.as_str()).collect::<HashSet<_>>().len();
        let near = |uses: &Vec<Use>| {
            uses.iter().flat_map(|found| targets.iter().map(|target| shared(&found.file, target.file))).max()
        };
        let proper = |uses: &Vec<Use>| uses.iter().any(|found| found.test.is_some());
        tested
            .uses
            .sort_by_cached_key(|uses| std::cmp::Reverse((proper(uses), near(uses), different(uses), uses.len())));
        tested
    }

    /// How many different tests refer to a target, and in how many files they are. A test file that refers to one outside its tests does not count.
    pub fn count(&self) -> (usize, usize) {
        let tests: HashSet<_> =
            self.uses.iter().flatten().filter_map(|found| Some((&found.file, found.test.as_ref()?))).collect();
        let files: HashSet<_> = tests.iter().map(|(file, _)| file).collect();
        (tests.len(), files.len())
    }
}

/// How many definitions have each name.
fn seen(survey: &Survey) -> HashMap<&str, usize> {
    let mut seen = HashMap::new();
    for defined in survey.files.iter().flat_map(|file| &file.definitions) {
        *seen.entry(defined.definition.name.as_str()).or_insert(0usize) += 1;
    }
    seen
}

/// Whether tests of a definition can be looked for.
fn is_target(definition: &Definition) -> bool {
    !definition.test
        && !matches!(definition.kind, Kind::Heading | Kind::Section | Kind::Impl | Kind::Module)
        && definition.name.chars().count() >= 2
}

impl<'a> Target<'a> {
    fn new(file: &'a File, definition: &'a Definition, seen: &HashMap<&str, usize>) -> Self {
        let distinct = seen.get(definition.name.as_str()).is_some_and(|count| *count <= 2)
            && !COMMON.contains(&definition.name.as_str());
        Self {
            name: &definition.name,
            container: definition.container.as_deref(),
            qualified: definition.qualified(),
            distinct,
            file: &file.path,
        }
    }
}

fn targets<'a>(survey: &'a Survey, ranking: &Ranking) -> Vec<Target<'a>> {
    let seen = seen(survey);
    let code = |file: &File| !file.test && file.language.class == crate::language::Class::Code;
    let best = ranking.files.iter().filter(|ranked| code(&survey.files[ranked.file])).take(MAX_TARGET_FILES);
    let score = ranking.files.first().map_or(0.0, |ranked| ranked.score);
    let best = best.filter(|ranked| ranked.score >= score * NEAR_BEST_FILE);
    let best: Vec<_> = best.collect();
    let named = best.iter().any(|ranked| survey.files[ranked.file].definitions.iter().any(|defined| defined.named));
    let mut targets: Vec<Target> = Vec::new();
    for ranked in best {
        let file = &survey.files[ranked.file];
        let fit = ranked.best.first().map_or(0.0, |(_, fit)| *fit);
        for (index, own) in &ranked.best {
            if *own < fit * NEAR_BEST || (named && !file.definitions[*index].named) {
                continue;
            }
            let definition = &file.definitions[*index].definition;
            if !is_target(definition) {
                continue;
            }
            targets.push(Target::new(file, definition, &seen));
            if targets.len() >= MAX_TARGETS {
                return targets;
            }
        }
    }
    targets
}

fn uses(targets: &[Target], file: &File, text: &str) -> Vec<Use> {
    let mut present: HashSet<&str> = HashSet::new();
    let names: HashSet<&str> =
        targets.iter().flat_map(|target| [Some(target.name), target.container]).flatten().collect();
    let mut places: Vec<(u32, &str)> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        words::scan(content, |_, word| {
            if places.len() < MAX_PLACES && names.contains(word) {
                present.insert(word);
                places.push((line, word));
            }
        });
    }
    let mut found: Vec<Use> = Vec::new();
    // Whether any of them is inside a test, rather than in what tests share.
    let mut proper = false;
    for (line, word) in places {
        let test = file.definitions.iter().rev().find(|defined| {
            let definition = &defined.definition;
            definition.top <= line
                && line <= definition.end
                && (definition.test || file.test)
                && matches!(definition.kind, Kind::Function | Kind::Method | Kind::Test)
        });
        // Outside a test file only what is inside a test counts.
        if test.is_none() && !file.test {
            continue;
        }
        let Some(target) = targets.iter().find(|target| {
            target.name == word
                && (target.distinct
                    || target.file == file.path
                    || target.container.is_some_and(|container| present.contains(container)))
        }) else {
            continue;
        };
        let test = test.filter(|defined| defined.definition.kind == Kind::Test);
        proper |= test.is_some();
        let test = test.map(|defined| defined.definition.qualified());
        if found.iter().any(|known| known.test == test && known.target == target.qualified)
            || found.len() >= MAX_USES_PER_FILE
        {
            continue;
        }
        found.push(Use { file: file.path.clone(), line, test, target: target.qualified.clone() });
    }
    // Imports and helpers are no tests.
    if proper {
        found.retain(|known| known.test.is_some());
    }
    found
}
