//! The overview: what a tree consists of, where it starts, and its largest types.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::answer::{Answer, MAX_SUMMARY_FILES, Reference, files, is_example, lines_in, reason, wants};
use crate::entry::EntryPoint;
use crate::language::Class;
use crate::limits::{MAX_FILE_REFS, MAX_LISTED};
use crate::outline::Kind;
use crate::query::Query;
use crate::rank::Ranking;
use crate::survey::Survey;

/// Folders that an overview names. With entry points, types and the lines around them it has at most fifteen lines.
const MAX_OVERVIEW_FOLDERS: usize = 5;
const MAX_OVERVIEW_ENTRIES: usize = 3;
const MAX_OVERVIEW_TYPES: usize = 4;

impl Answer {
    /// For a goal that has no words to look for.
    pub(crate) fn overview(&mut self, survey: &Survey, query: &Query, ranking: &Ranking) {
        let asked = !query.overview && (query.entry || query.build || !query.words.is_empty());
        if !asked && !query.overview {
            self.summary.push("The goal names nothing to look for, so this is an overview.".to_owned());
        }
        self.map(survey);
        if !asked {
            self.summary.extend(folders(survey));
        }
        let wanted: Vec<&EntryPoint> = survey
            .entries
            .iter()
            .filter(|entry| !is_example(&entry.file) && (!asked || wants(query, entry.start)))
            .collect();
        let most = if asked { MAX_SUMMARY_FILES } else { MAX_OVERVIEW_ENTRIES };
        for entry in wanted.iter().take(most) {
            self.summary.push(format!("- {}: {}", entry.place(), entry.what));
        }
        if !asked {
            self.summary.extend(types(survey));
        }
        if asked && wanted.is_empty() {
            self.summary.push("No such entry point was found.".to_owned());
        }
        let readme = survey
            .files
            .iter()
            .filter(|file| !file.path.contains('/'))
            .find(|file| file.path.to_ascii_lowercase().starts_with("readme"));
        if let Some(readme) = readme.filter(|_| !asked) {
            self.references
                .push(Reference { path: readme.path.clone(), label: "what the project says about itself".to_owned() });
        }
        for entry in wanted {
            if self.references.len() < MAX_FILE_REFS && self.references.iter().all(|known| known.path != entry.file) {
                self.references.push(Reference {
                    path: entry.file.clone(),
                    label: match entry.line {
                        Some(line) => format!("{} (:{line})", entry.what),
                        None => entry.what.clone(),
                    },
                });
            }
        }
        for ranked in ranking.relevant(MAX_FILE_REFS) {
            let file = &survey.files[ranked.file];
            if self.references.len() < MAX_FILE_REFS && self.references.iter().all(|known| known.path != file.path) {
                self.references
                    .push(Reference { path: file.path.clone(), label: reason(file, ranked, query, MAX_LISTED) });
            }
        }
    }
}

#[derive(Default)]
struct Folder {
    files: usize,
    lines: u64,
    code: u64,
    /// Lines and files of each language; code before anything else.
    languages: BTreeMap<(bool, &'static str), (u64, usize)>,
}

/// A line for each top-level folder: how many files, and what most of it is written in. Those with the most code come first.
fn folders(survey: &Survey) -> Vec<String> {
    let mut folders: BTreeMap<&str, Folder> = BTreeMap::new();
    for file in survey.files.iter().filter(|file| file.foreign.is_none()) {
        let folder = folders.entry(file.path.split_once('/').map_or("", |(top, _)| top)).or_default();
        let (lines, code) = (u64::from(file.lines), file.language.class == Class::Code);
        folder.files += 1;
        folder.lines += lines;
        folder.code += if code { lines } else { 0 };
        let row = folder.languages.entry((code, file.language.name)).or_default();
        *row = (row.0 + lines, row.1 + 1);
    }
    let mut rows: Vec<(&str, Folder)> = folders.into_iter().collect();
    rows.sort_by_key(|(name, folder)| (Reverse(folder.code), Reverse(folder.files), *name));
    let more = rows.len().saturating_sub(MAX_OVERVIEW_FOLDERS);
    let named = rows.iter().take(MAX_OVERVIEW_FOLDERS).map(|(name, folder)| {
        let place = if name.is_empty() { "at the root".to_owned() } else { format!("{name}/") };
        let main = folder.languages.iter().max_by_key(|((code, _), counts)| (*code, **counts));
        let main = main.map_or("", |((_, name), _)| name);
        format!("- {place}: {}, {}, mainly {main}", files(folder.files), lines_in(folder.lines))
    });
    let mut lines: Vec<String> = named.collect();
    if let (1.., Some(last)) = (more, lines.last_mut()) {
        last.push_str(&format!(" (and {more} more {})", if more == 1 { "folder" } else { "folders" }));
    }
    lines
}

/// A line for each of the largest types: its place, and how much belongs to it.
fn types(survey: &Survey) -> Vec<String> {
    let mut rows = Vec::new();
    let written =
        survey.files.iter().filter(|file| file.foreign.is_none() && !file.generated && !is_example(&file.path));
    for file in written {
        let all = || file.definitions.iter().map(|defined| &defined.definition).filter(|definition| !definition.test);
        let lines_of = |line: u32, end: u32| end.saturating_sub(line).saturating_add(1);
        // Functions of a type, wherever in the file they stand.
        let mut owned: HashMap<&str, (u32, u32)> = HashMap::new();
        for definition in all() {
            if let (Kind::Method | Kind::Function, Some(container)) = (definition.kind, &definition.container) {
                let row = owned.entry(container).or_default();
                *row = (row.0 + 1, row.1.saturating_add(lines_of(definition.line, definition.end)));
            }
        }
        for definition in all() {
            let is_type = matches!(
                definition.kind,
                Kind::Class | Kind::Struct | Kind::Enum | Kind::Interface | Kind::Type | Kind::Table | Kind::View
            );
            if is_type {
                let (methods, lines) = owned.get(definition.name.as_str()).copied().unwrap_or_default();
                let own = lines_of(definition.line, definition.end);
                // A class spans its methods; a struct of Rust or Go does not.
                let lines = if own > lines { own } else { own.saturating_add(lines) };
                rows.push((lines, methods, definition, &file.path));
            }
        }
    }
    rows.sort_by_key(|(lines, methods, definition, path)| (Reverse(*lines), Reverse(*methods), *path, definition.line));
    let named = rows.iter().take(MAX_OVERVIEW_TYPES).map(|(lines, methods, definition, path)| {
        let methods = match methods {
            0 => String::new(),
            1 => ", 1 method".to_owned(),
            count => format!(", {count} methods"),
        };
        let kind = definition.kind.name();
        format!(
            "- {path}:{}: {kind} `{}`, {}{methods}",
            definition.line,
            definition.qualified(),
            lines_in(u64::from(*lines))
        )
    });
    named.collect()
}
