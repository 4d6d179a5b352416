//! Which tests refer to a definition: by its name, or through what calls it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use code_map::language;
use code_map::outline::{Definition, Kind};
use code_map::words;

use crate::limits::{MAX_CALLERS, MAX_STEPS, MAX_USES};
use crate::project::{File, Project, family, folder};
use crate::public::is_identifier;
use crate::scope::{Part, Scope};

/// Names that say nothing without the type or the file that they belong to.
const COMMON: &[&str] = &[
    "new",
    "run",
    "main",
    "from",
    "into",
    "get",
    "set",
    "default",
    "build",
    "open",
    "close",
    "read",
    "write",
    "create",
    "name",
    "id",
    "list",
    "load",
    "save",
    "init",
    "start",
    "stop",
    "call",
    "parse",
    "add",
    "remove",
    "update",
    "delete",
    "append",
    "push",
    "next",
    "len",
    "fmt",
    "drop",
    "clone",
    "value",
    "data",
    "error",
    "result",
    "test",
    "path",
    "file",
    "line",
    "exports",
    "index",
    "key",
    "text",
    "send",
    "check",
    "of",
    "put",
    "pop",
    "find",
    "show",
    "apply",
    "handle",
    "execute",
    "process",
    "setup",
    "reset",
    "insert",
    "contains",
    "is_empty",
    "iter",
    "eq",
    "cmp",
    "hash",
    "as_str",
    "toString",
    "equals",
    "render",
    "constructor",
    "length",
    "size",
    "count",
    "format",
    "print",
    "log",
];

/// A test that refers to a definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// Index of the file.
    pub file: usize,
    /// Index of the test; none for a use outside of any: a helper, an import.
    pub test: Option<usize>,
    /// 1-based line of the name.
    pub line: u32,
}

/// How a target is tested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    /// Tests that name it, or that name `through`; the nearest first.
    pub uses: Vec<Use>,
    /// Further ones.
    pub more: usize,
    /// What calls it and is named by the tests: file and definition.
    pub through: Option<(usize, usize)>,
    /// Callers were left out for their number, so there may be tests.
    pub unsure: bool,
}

impl Cover {
    /// Whether a test reaches it.
    pub fn is_tested(&self) -> bool {
        self.uses.iter().any(|one| one.test.is_some())
    }
}

/// The tests of each target, in the order of the scope's targets.
pub fn covers(project: &Project, scope: &Scope) -> Vec<Cover> {
    let mut names = Names::default();
    for (at, target) in scope.targets.iter().enumerate() {
        names.add(project, at, target.file, target.definition);
    }
    let mut covers = vec![Cover::default(); scope.targets.len()];
    names.search_tests(project, |at, found| add(&mut covers, at, found));
    for (cover, target) in covers.iter_mut().zip(&scope.targets) {
        nearest_first(project, target.file, cover);
    }
    if scope.part != Part::Whole {
        through_callers(project, scope, &mut covers);
    }
    covers
}

fn add(covers: &mut [Cover], at: usize, found: Use) {
    let Some(cover) = covers.get_mut(at) else { return };
    // The tests themselves are kept before what only mentions the name.
    if cover.uses.iter().any(|known| known.file == found.file && known.test == found.test) {
        return;
    }
    if cover.uses.len() < MAX_USES {
        cover.uses.push(found);
    } else if found.test.is_some()
        && let Some(spare) = cover.uses.iter_mut().find(|known| known.test.is_none())
    {
        *spare = found;
    } else {
        cover.more += 1;
    }
}

fn nearest_first(project: &Project, file: usize, cover: &mut Cover) {
    let path = |index: usize| project.files.get(index).map_or("", |file| file.path.as_str());
    let own = path(file);
    cover.uses.sort_by_cached_key(|one| {
        let other = path(one.file);
        let shared = own.split('/').zip(other.split('/')).take_while(|(a, b)| a == b).count();
        (one.test.is_none(), one.file != file, !is_beside(own, other), usize::MAX - shared, other.to_owned(), one.line)
    });
    if cover.is_tested() {
        cover.uses.retain(|one| one.test.is_some());
    }
}

/// `session` of `src/session.rs`; the folder of `src/session/mod.rs`.
pub fn stem(path: &str) -> &str {
    let name = language::file_name(path);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    if matches!(stem, "mod" | "lib" | "index" | "__init__" | "main") {
        let folder = path.rsplit('/').skip(1).find(|folder| !matches!(*folder, "src" | "lib"));
        return folder.unwrap_or(stem);
    }
    stem
}

/// Whether a test is named after a file: `test_session.py`, `session_test.go`, `session.test.ts`.
pub fn is_beside(path: &str, test: &str) -> bool {
    is_named_after(stem(path), test)
}

fn is_named_after(own: &str, test: &str) -> bool {
    let name = language::file_name(test);
    let other = name.split_once('.').map_or(name, |(stem, _)| stem);
    let other = other.strip_prefix("test_").unwrap_or(other);
    let other = ["_test", "_tests", "_spec", "Tests", "Test", "Spec"]
        .iter()
        .find_map(|end| other.strip_suffix(end))
        .unwrap_or(other);
    other == own
}

/// The names that are looked for.
#[derive(Default)]
struct Names<'a> {
    /// By family of languages and name: who is looked for, and the definition itself.
    by_name: HashMap<(&'static str, &'a str), Vec<Wanted<'a>>>,
    /// By family of languages: types and files whose name beside another tells which one is meant.
    context: HashMap<&'static str, HashSet<&'a str>>,
}

struct Wanted<'a> {
    /// Who asks.
    at: usize,
    file: usize,
    told: Told,
    container: Option<&'a str>,
    stem: &'a str,
    package: &'a str,
    folder: &'a str,
}

/// Where a name is enough to know what is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// Anywhere.
    ByName,
    /// In the same package: `over` of a type is a word that others use too.
    InPackage,
    /// Only beside the type, the module or the file that it belongs to.
    Near,
}

/// Bytes of a plain word from which on it says something by itself.
const SHORT: usize = 5;

impl<'a> Names<'a> {
    fn add(&mut self, project: &'a Project, at: usize, file: usize, definition: Option<usize>) {
        let Some(of) = project.files.get(file) else { return };
        let stem = stem(&of.path);
        let (name, container) = match definition.and_then(|definition| of.definitions.get(definition)) {
            Some(definition) => known_as(definition),
            // A file without definitions is known by its name.
            None => (stem, None),
        };
        if name.chars().count() < 2 {
            return;
        }
        let family = family(of.language);
        let seen = project.names.get(&(family, name.to_owned())).copied().unwrap_or(1);
        let told = if COMMON.contains(&name) || seen > 2 {
            Told::Near
        } else if is_identifier(name) || (container.is_none() && seen <= 1 && name.len() >= SHORT) {
            Told::ByName
        } else if seen <= 1 && name.len() >= SHORT {
            Told::InPackage
        } else {
            Told::Near
        };
        self.context.entry(family).or_default().extend([Some(stem), container].into_iter().flatten());
        self.by_name.entry((family, name)).or_default().push(Wanted {
            at,
            file,
            told,
            container,
            stem,
            package: &of.package,
            folder: folder(&of.path),
        });
    }

    /// Calls `found` for every place in a test.
    fn search_tests(&self, project: &Project, mut found: impl FnMut(usize, Use)) {
        for (index, file) in project.files.iter().enumerate().filter(|(_, file)| file.has_tests() && !file.sample) {
            self.search(index, file, |wanted, line| {
                let is_test = |definition: &Definition| definition.kind == Kind::Test;
                let test = file.around(line, is_test).filter(|at| !file.is_group(*at));
                // Outside of a test file only what is inside a test counts.
                let in_tests = file.test || file.around(line, |definition| definition.test).is_some();
                if test.is_some() || in_tests {
                    found(wanted, Use { file: index, test, line });
                }
            });
        }
    }

    /// Calls `found` for every place of a file where a name stands that means what is looked for.
    fn search(&self, index: usize, file: &File, mut found: impl FnMut(usize, u32)) {
        let Some(code) = &file.code else { return };
        let family = family(file.language);
        let mut places: Vec<(u32, &[Wanted<'_>])> = Vec::new();
        let mut present: BTreeSet<&str> = BTreeSet::new();
        let Some(context) = self.context.get(family) else { return };
        for (line, text) in (1u32..).zip(code.lines()) {
            let imports = ["use ", "pub use ", "from ", "import ", "mod ", "require"]
                .iter()
                .any(|word| text.trim_start().starts_with(word));
            words::scan(text, |at, word| {
                if let Some(wanted) = self.by_name.get(&(family, word)) {
                    places.push((line, wanted.as_slice()));
                }
                // The name of a module is a word like others unless it is written as a path.
                let bytes = text.as_bytes();
                let as_path = || {
                    let before = bytes.get(..at).unwrap_or_default();
                    let after = bytes.get(at + word.len()..).unwrap_or_default();
                    match family {
                        "Rust" | "C" | "PHP" | "Ruby" => before.ends_with(b"::") || after.starts_with(b"::"),
                        _ => after.starts_with(b".") && !before.ends_with(b"."),
                    }
                };
                if let Some(known) = context.get(word)
                    && (imports || !word.starts_with(|c: char| c.is_lowercase()) || as_path())
                {
                    present.insert(known);
                }
            });
        }
        for (line, wanted) in places {
            for one in wanted {
                let known = match one.told {
                    Told::ByName => true,
                    Told::InPackage => one.package == file.package,
                    Told::Near => false,
                };
                let beside = || match one.container {
                    Some(container) => present.contains(container),
                    None => present.contains(one.stem) || is_named_after(one.stem, &file.path),
                };
                // Files of a folder are one package in Go and Java.
                let same = one.file == index
                    || (one.folder == folder(&file.path)
                        && one.container.is_none()
                        && matches!(family, "Go" | "Java" | "C#"));
                if known || same || beside() {
                    found(one.at, line);
                }
            }
        }
    }
}

/// The name under which a definition is used: what the language calls by itself, under that of its type.
fn known_as(definition: &Definition) -> (&str, Option<&str>) {
    const GLUE: &[&str] = &[
        "constructor",
        "fmt",
        "from",
        "try_from",
        "from_str",
        "drop",
        "clone",
        "eq",
        "hash",
        "cmp",
        "partial_cmp",
        "default",
        "deref",
        "deref_mut",
        "serialize",
        "deserialize",
        "as_ref",
        "source",
        "toString",
        "hashCode",
        "equals",
        "String",
        "Error",
    ];
    match (definition.name.as_str(), definition.container.as_deref()) {
        (name, Some(container)) if GLUE.contains(&name) || (name.starts_with("__") && name.ends_with("__")) => {
            (container, None)
        }
        (name, Some(container)) if name == container => (name, None),
        (name, container) => (name, container),
    }
}

/// For targets that no test names, looks for what calls them and is named by a test, a few steps far.
fn through_callers(project: &Project, scope: &Scope, covers: &mut [Cover]) {
    /// A definition that leads to a target.
    type Place = (usize, usize);
    // From each place to the targets that it leads to.
    let mut frontier: BTreeMap<Place, BTreeSet<usize>> = BTreeMap::new();
    for (at, (target, cover)) in scope.targets.iter().zip(covers.iter()).enumerate() {
        if let Some(definition) = target.definition.filter(|_| !cover.is_tested()) {
            frontier.entry((target.file, definition)).or_default().insert(at);
        }
    }
    let mut seen: BTreeSet<Place> = frontier.keys().copied().collect();
    for _ in 0..MAX_STEPS {
        frontier.retain(|_, targets| targets.iter().any(|at| covers.get(*at).is_some_and(|cover| !cover.is_tested())));
        if frontier.is_empty() {
            return;
        }
        if frontier.len() > MAX_CALLERS {
            for at in frontier.values().skip(MAX_CALLERS).flatten() {
                if let Some(cover) = covers.get_mut(*at) {
                    cover.unsure = true;
                }
            }
            frontier = frontier.into_iter().take(MAX_CALLERS).collect();
        }
        let (mut names, mut asks) = (Names::default(), Vec::new());
        for (place, targets) in &frontier {
            names.add(project, asks.len(), place.0, Some(place.1));
            asks.push((*place, targets));
        }
        let mut callers: BTreeMap<Place, BTreeSet<usize>> = BTreeMap::new();
        for (index, file) in project.files.iter().enumerate().filter(|(_, file)| !file.sample) {
            names.search(index, file, |ask, line| {
                let Some((called, targets)) = asks.get(ask) else { return };
                // What tests share leads to it as well as what the project is made of.
                let calls = |one: &Definition| matches!(one.kind, Kind::Function | Kind::Method | Kind::Macro);
                let Some(caller) = file.around(line, calls) else { return };
                // A test was found before; a function calls itself in vain.
                let in_test = file.around(line, |one| one.kind == Kind::Test).is_some();
                if !in_test && (index, caller) != *called && !seen.contains(&(index, caller)) {
                    callers.entry((index, caller)).or_default().extend(targets.iter().copied());
                }
            });
        }
        seen.extend(callers.keys().copied());
        let mut names = Names::default();
        let places: Vec<(Place, &BTreeSet<usize>)> = callers.iter().map(|(place, targets)| (*place, targets)).collect();
        for (at, (place, _)) in places.iter().enumerate() {
            names.add(project, at, place.0, Some(place.1));
        }
        let mut found: Vec<Cover> = vec![Cover::default(); places.len()];
        names.search_tests(project, |at, one| add(&mut found, at, one));
        for ((place, targets), mut cover) in places.into_iter().zip(found) {
            if !cover.is_tested() {
                continue;
            }
            nearest_first(project, place.0, &mut cover);
            cover.through = Some(place);
            for at in targets {
                if let Some(slot) = covers.get_mut(*at).filter(|slot| !slot.is_tested()) {
                    *slot = cover.clone();
                }
            }
        }
        frontier = callers;
    }
}
