//! What is asked about: the files that the handoff refers to, the change, the code that the goal names, or the whole project.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use brain_role::{ContextRefKind, Handoff};
use code_map::outline::{Definition, Kind};
use code_map::words;
use unified_diff::shown;

use crate::asked::Asked;
use crate::change::change;
use crate::limits::{MAX_GOAL_BYTES, MAX_NAMED_FILES, MAX_REFS, MAX_TARGETS};
use crate::project::{File, Project};
use crate::public::is_identifier;

/// The part of the project that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The change that was handed over.
    Change,
    /// What the handoff refers to, or the goal names.
    Named,
    /// Everything.
    Whole,
}

/// A definition whose tests are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Index of the file.
    pub file: usize,
    /// Index of the definition; none for the file as a whole.
    pub definition: Option<usize>,
    /// The line to point at: the first that changed, or that of the name.
    pub line: u32,
}

/// What is asked about.
#[derive(Debug)]
pub struct Scope {
    /// Which part.
    pub part: Part,
    /// In words, such as `the uncommitted changes against HEAD`.
    pub label: String,
    /// Definitions, by file and line.
    pub targets: Vec<Target>,
    /// Test files that belong to it: they changed, or are referred to.
    pub tests: BTreeSet<usize>,
    /// Tests that changed: file and definition.
    pub changed_tests: BTreeSet<(usize, usize)>,
    /// Files of it that have no units that tests could name, by kind.
    pub other: BTreeMap<&'static str, usize>,
    /// What was not looked at, in sentences.
    pub risks: Vec<String>,
    /// Words of the goal that nothing in the project has.
    pub not_found: Vec<String>,
    /// Only what the request refers to is granted, so tests elsewhere cannot be seen.
    pub narrow: bool,
}

impl Scope {
    /// An empty one.
    pub fn new(part: Part, label: impl Into<String>) -> Self {
        Self {
            part,
            label: label.into(),
            targets: Vec::new(),
            tests: BTreeSet::new(),
            changed_tests: BTreeSet::new(),
            other: BTreeMap::new(),
            risks: Vec::new(),
            not_found: Vec::new(),
            narrow: false,
        }
    }

    /// Decides what the handoff asks about.
    pub fn of(handoff: &Handoff, project: &Project) -> Self {
        let goal = clipped(handoff.goal());
        let (mut wanted, dropped): (Vec<String>, usize) = references(handoff);
        let says = Asked::new(goal);
        let mut risks = Vec::new();
        if dropped > 0 {
            risks.push(format!("{dropped} file references past the first {MAX_REFS} were not followed"));
        }
        let (change, notes) = change(handoff, project);
        let mut scope = 'chosen: {
            if says.change
                && let Some(change) = change
            {
                break 'chosen change;
            }
            if says.change {
                risks.push("no change was handed over, so what follows is not limited to one".to_owned());
            }
            wanted.extend(says.paths(project));
            wanted.sort();
            wanted.dedup();
            if !wanted.is_empty() {
                break 'chosen referred(project, &wanted);
            }
            let (named, not_found) = named(project, &says);
            if let Some(named) = named {
                break 'chosen named;
            }
            let fallback = match change.filter(|change| !says.whole && !change.label.contains("last commit")) {
                Some(change) => change,
                None => librarian(handoff, project).filter(|_| !says.whole).unwrap_or_else(|| whole(project)),
            };
            Self { not_found, ..fallback }
        };
        let (granted, _) = references(handoff);
        let inside = |path: &String| {
            granted.iter().any(|folder| {
                path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        scope.narrow = !granted.is_empty() && project.paths.iter().all(inside);
        scope.risks.extend(risks);
        scope.risks.extend(notes);
        scope.bound();
        scope
    }

    fn bound(&mut self) {
        self.targets.sort();
        self.targets.dedup_by_key(|target| (target.file, target.definition));
        if self.part != Part::Whole && self.targets.len() > MAX_TARGETS {
            self.risks.push(format!(
                "tests were looked for for the first {MAX_TARGETS} of {} definitions",
                self.targets.len()
            ));
            self.targets.truncate(MAX_TARGETS);
        }
    }

    /// Counts a file that has no units that tests could name.
    pub fn other(&mut self, language: &'static str) {
        *self.other.entry(language).or_insert(0) += 1;
    }
}

fn clipped(goal: &str) -> &str {
    let mut end = goal.len().min(MAX_GOAL_BYTES);
    while !goal.is_char_boundary(end) {
        end -= 1;
    }
    goal.get(..end).unwrap_or_default()
}

/// Paths below `/workspace` that the handoff refers to, and how many there are past the bound.
fn references(handoff: &Handoff) -> (Vec<String>, usize) {
    let all = handoff.refs_of(ContextRefKind::File).filter_map(|reference| reference.uri.strip_prefix("/workspace/"));
    let all: Vec<&str> = all.map(|path| path.trim_matches('/')).filter(|path| !path.is_empty()).collect();
    (all.iter().take(MAX_REFS).map(|path| (*path).to_owned()).collect(), all.len().saturating_sub(MAX_REFS))
}

/// Whether a definition is something that a test can be for.
pub fn is_unit(definition: &Definition) -> bool {
    !definition.test
        && matches!(
            definition.kind,
            Kind::Function | Kind::Method | Kind::Class | Kind::Struct | Kind::Enum | Kind::Macro | Kind::Interface
        )
        // What starts a program is run, not called.
        && !matches!(definition.name.as_str(), "main" | "__main__" | "_")
}

/// Whether a definition does something: data is tested through what is done with it.
pub fn acts(definition: &Definition) -> bool {
    matches!(definition.kind, Kind::Function | Kind::Method | Kind::Macro)
}

fn all_of(project: &Project, index: usize, scope: &mut Scope) {
    let Some(file) = project.files.get(index) else { return };
    if file.has_tests() {
        scope.tests.insert(index);
    }
    if file.test {
        return;
    }
    if !file.is_testable() {
        return scope.other(file.language.name);
    }
    let units = file.definitions.iter().enumerate().filter(|(_, definition)| is_unit(definition) && acts(definition));
    scope.targets.extend(units.map(|(at, definition)| Target {
        file: index,
        definition: Some(at),
        line: definition.line,
    }));
}

fn whole(project: &Project) -> Scope {
    let mut scope = Scope::new(Part::Whole, "the whole project");
    for (index, file) in project.files.iter().enumerate() {
        if file.has_tests() && !file.sample {
            scope.tests.insert(index);
        }
        if file.is_testable() {
            let units = file.definitions.iter().enumerate().zip(&file.public);
            let units = units.filter(|((_, definition), public)| **public && is_unit(definition) && acts(definition));
            scope.targets.extend(units.map(|((at, definition), _)| Target {
                file: index,
                definition: Some(at),
                line: definition.line,
            }));
        }
    }
    scope
}

/// The first of some paths, for a sentence.
pub fn listed(paths: &[String]) -> String {
    const MOST: usize = 3;
    let mut names: Vec<String> = paths.iter().take(MOST).map(|path| shown(path)).collect();
    if paths.len() > MOST {
        names.push(format!("{} more", paths.len() - MOST));
    }
    names.join(", ")
}

fn referred(project: &Project, wanted: &[String]) -> Scope {
    let mut scope = Scope::new(Part::Named, listed(wanted));
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for (index, file) in project.files.iter().enumerate() {
        let hit = wanted.iter().find(|path| {
            file.path.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        if let Some(hit) = hit {
            found.insert(hit);
            all_of(project, index, &mut scope);
        }
    }
    for path in wanted.iter().filter(|path| !found.contains(path.as_str())) {
        scope.risks.push(format!("{} has no code that was read", shown(path)));
    }
    scope
}

/// The files that the librarian's result points at.
fn librarian(handoff: &Handoff, project: &Project) -> Option<Scope> {
    let prior = handoff.prior_results();
    let result = prior.iter().find(|prior| prior.role == "librarian")?.result.as_ref().ok()?;
    let paths = result.artifacts.iter().filter_map(|artifact| artifact.uri.strip_prefix("/workspace/"));
    let code =
        paths.filter(|path| project.find(path).is_some_and(|at| project.files.get(at).is_some_and(File::is_testable)));
    let paths: Vec<String> = code.take(MAX_NAMED_FILES).map(str::to_owned).collect();
    (!paths.is_empty()).then(|| {
        let mut scope = referred(project, &paths);
        scope.label = format!("what the librarian found for the request: {}", scope.label);
        scope
    })
}

/// The code that the goal names, and the words that nothing has.
fn named(project: &Project, asked: &Asked<'_>) -> (Option<Scope>, Vec<String>) {
    if asked.words.is_empty() {
        return (None, Vec::new());
    }
    if let Some(scope) = identified(project, asked) {
        return (Some(scope), Vec::new());
    }
    let stems: Vec<String> = asked.words.iter().map(|word| words::stem(word)).collect();
    let index: HashMap<&str, usize> = stems.iter().enumerate().map(|(at, stem)| (stem.as_str(), at)).collect();
    // For each file: which words its path has, and which its definitions have.
    let mut hits: Vec<(usize, u32, u32)> = Vec::new();
    let mut frequency = vec![0usize; stems.len()];
    let testable = project.files.iter().enumerate().filter(|(_, file)| file.is_testable());
    let mut total = 0usize;
    for (at, file) in testable {
        total += 1;
        let in_path = bits(&index, &file.path);
        let in_names =
            file.definitions.iter().filter(|one| !one.test).fold(0, |bits_of, one| bits_of | bits(&index, &one.name));
        let all = in_path | in_names;
        for (word, count) in frequency.iter_mut().enumerate() {
            *count += usize::from(all & (1 << word) != 0);
        }
        if all != 0 {
            hits.push((at, in_path, in_names));
        }
    }
    let not_found =
        asked.words.iter().zip(&frequency).filter(|(_, count)| **count == 0).map(|(word, _)| (*word).to_owned());
    let not_found: Vec<String> = not_found.collect();
    let weight = |bits: u32| -> f64 {
        let rare = |count: usize| (1.0 + total as f64 / count.max(1) as f64).ln();
        frequency.iter().enumerate().filter(|(word, _)| bits & (1 << word) != 0).map(|(_, count)| rare(*count)).sum()
    };
    let mut ranked: Vec<(f64, usize, u32, u32)> = hits
        .into_iter()
        .map(|(at, path, names)| {
            (2.0 * weight(path) + weight(names & !path) + 0.5 * weight(names & path), at, path, names)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let Some(best) = ranked.first().map(|one| one.0) else { return (None, not_found) };
    ranked.retain(|one| one.0 >= best * 0.6);
    let beyond = ranked.len().saturating_sub(MAX_NAMED_FILES);
    ranked.truncate(MAX_NAMED_FILES);
    let paths: Vec<String> =
        ranked.iter().filter_map(|(_, at, ..)| Some(project.files.get(*at)?.path.clone())).collect();
    let searched: Vec<&str> =
        asked.words.iter().copied().filter(|word| !not_found.iter().any(|gone| gone == word)).collect();
    let mut scope = Scope::new(Part::Named, format!("\"{}\" ({})", searched.join(" "), listed(&paths)));
    if beyond > 0 {
        scope.risks.push(format!(
            "{beyond} further files have the same words and were not looked at; name a file to look at it"
        ));
    }
    for (_, at, path, _) in ranked {
        let Some(file) = project.files.get(at) else { continue };
        if file.has_tests() {
            scope.tests.insert(at);
        }
        for (index_of, definition) in file.definitions.iter().enumerate() {
            let hit = |text: &str| bits(&index, text) != 0;
            let fits = path != 0 || hit(&definition.name) || definition.container.as_deref().is_some_and(hit);
            if fits && is_unit(definition) && acts(definition) {
                scope.targets.push(Target { file: at, definition: Some(index_of), line: definition.line });
            }
        }
    }
    scope.not_found = not_found.clone();
    if scope.targets.is_empty() { (None, not_found) } else { (Some(scope), not_found) }
}

fn bits(index: &HashMap<&str, usize>, text: &str) -> u32 {
    let mut bits = 0;
    words::scan(text, |_, word| {
        words::parts(word, |part| {
            if let Some(at) = index.get(words::stem(part).as_str()) {
                bits |= 1u32 << at;
            }
        });
    });
    bits
}

/// The definitions that the goal writes out as identifiers.
fn identified(project: &Project, asked: &Asked<'_>) -> Option<Scope> {
    let wanted: BTreeSet<&str> = asked.words.iter().copied().filter(|word| is_identifier(word)).collect();
    if wanted.is_empty() {
        return None;
    }
    let mut scope = Scope::new(Part::Named, String::new());
    let mut names = BTreeSet::new();
    for (index, file) in project.files.iter().enumerate().filter(|(_, file)| file.is_testable()) {
        for (at, definition) in file.definitions.iter().enumerate().filter(|(_, one)| is_unit(one)) {
            let own = wanted.contains(definition.name.as_str());
            let of = definition.container.as_deref().is_some_and(|container| wanted.contains(container));
            if own || (of && acts(definition)) {
                names.insert(if own {
                    definition.name.as_str()
                } else {
                    definition.container.as_deref().unwrap_or_default()
                });
                scope.targets.push(Target { file: index, definition: Some(at), line: definition.line });
            }
        }
    }
    scope.label = names.iter().take(MAX_NAMED_FILES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    (!scope.targets.is_empty()).then_some(scope)
}
