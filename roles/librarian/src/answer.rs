//! What the role says: a short summary with places, and the reasons for each file.

use brain_role::PriorResult;

use crate::describe::Described;
use crate::entry::{EntryPoint, Start};
use crate::file::{COMMENTS, File, NAMES, PATH, TEXT};
use crate::limits::{MAX_FILE_REFS, MAX_ITEM_CHARS, MAX_LISTED, MAX_SUMMARY_DEFINITIONS, MAX_TEST_REFS};
use crate::outline::Kind;
use crate::query::Query;
use crate::rank::{Ranked, Ranking};
use crate::survey::Survey;
use crate::tested::{Tested, Use};

/// A file that is named in the result, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Relative to the project.
    pub path: String,
    /// Why it matters for the goal.
    pub label: String,
}

/// The parts of the result that are words.
#[derive(Debug, Default)]
pub struct Answer {
    /// Lines for the user.
    pub summary: Vec<String>,
    /// Files, most relevant first.
    pub references: Vec<Reference>,
    /// What was not looked at.
    pub risks: Vec<String>,
    /// What would help.
    pub questions: Vec<String>,
    /// The words that were searched for, as a line for the user.
    pub searched: Option<String>,
}

/// Share of the goal's words below which a file is only a weak match.
const WEAK: f32 = 0.5;
/// Files that the summary goes into.
pub(crate) const MAX_SUMMARY_FILES: usize = 4;
/// Languages and entry points that the summary names.
const MAX_SUMMARY_LANGUAGES: usize = 5;
const MAX_SUMMARY_ENTRIES: usize = 4;
/// Words that the summary's last line names.
const MAX_SEARCHED: usize = 12;

impl Answer {
    /// Puts the answer together.
    ///
    /// `described` are the files that the handoff refers to when the goal asks for nothing else.
    pub fn new(
        survey: &Survey,
        query: &Query,
        ranking: &Ranking,
        tested: Option<&Tested>,
        described: Option<&[Described]>,
    ) -> Self {
        let mut answer = Self::default();
        if survey.files.is_empty() {
            answer.summary.push("There are no files in what was granted, so there is nothing to map.".to_owned());
        } else if let Some(described) = described {
            answer.describe(survey, described);
            if let Some(tested) = tested {
                answer.tests(tested, true, &[]);
            }
        } else if query.is_empty() || query.overview || only_entries(query) {
            answer.overview(survey, query, ranking);
        } else {
            answer.findings(survey, query, ranking);
            if let Some(tested) = tested {
                answer.tests(tested, !ranking.files.is_empty(), &beside(survey, ranking));
            }
            answer.map(survey);
        }
        answer.risks(survey, query, tested);
        if query.earlier.sessions > 0 {
            let sessions = if query.earlier.sessions == 1 { "session was" } else { "sessions were" };
            answer.summary.push(format!("The earlier {sessions} taken into account, with a low weight."));
        }
        answer.searched = searched(query).filter(|_| described.is_none());
        answer
    }

    fn findings(&mut self, survey: &Survey, query: &Query, ranking: &Ranking) {
        let relevant = ranking.relevant(MAX_FILE_REFS);
        let Some(first) = relevant.first() else {
            let words = query
                .words
                .iter()
                .map(|word| format!("{:?}", word.text))
                .chain(query.identifiers.iter().map(|(name, _)| format!("{name:?}")));
            let words = listed(words.chain(query.paths.iter().map(|path| format!("{path:?}"))), 8);
            self.summary.push(format!(
                "Nothing in the {} matches the goal, neither by path, name, comment nor text: {words}.",
                files(survey.files.len())
            ));
            self.questions.push(
                "Is the part that is meant called something else, or outside the files that were granted?".to_owned(),
            );
            return;
        };
        let file = &survey.files[first.file];
        let certain = ranking.share(first.words) >= WEAK || !first.why.is_empty();
        let place = match first.best.first() {
            Some((index, _)) => {
                let definition = &file.definitions[*index].definition;
                format!("{} ({}, {}:{})", definition.qualified(), definition.kind.name(), file.path, definition.line)
            }
            None => file.path.clone(),
        };
        let more = relevant.len() - 1;
        let more = if more == 0 {
            String::new()
        } else {
            format!("; {more} more {} relevant", if more == 1 { "file is" } else { "files are" })
        };
        self.summary.push(if certain {
            format!("Closest to the goal: {place}{more}.")
        } else {
            format!("Only a weak match, no file has most of the goal's words: {place}{more}.")
        });
        let mut named = 0;
        for ranked in relevant.iter().take(MAX_SUMMARY_FILES) {
            let file = &survey.files[ranked.file];
            let room = MAX_SUMMARY_DEFINITIONS.saturating_sub(named).min(MAX_LISTED);
            named += ranked.best.len().min(room);
            self.summary.push(format!("- {}: {}", file.path, reason(file, ranked, query, room.max(1))));
        }
        self.references.extend(relevant.iter().map(|ranked| {
            let file = &survey.files[ranked.file];
            Reference { path: file.path.clone(), label: reason(file, ranked, query, MAX_LISTED) }
        }));
        let missing = query
            .words
            .iter()
            .zip(&ranking.in_files)
            .filter(|(_, count)| **count == 0)
            .map(|(word, _)| format!("{:?}", word.text));
        let missing = listed(missing, 6);
        if !missing.is_empty() {
            self.summary.push(format!("Nowhere in the files that were read: {missing}."));
        }
    }

    /// The line on tests. `beside` are places of tests that stand in the same file and have words of the goal.
    fn tests(&mut self, tested: &Tested, found: bool, beside: &[String]) {
        if !found {
            return;
        }
        if tested.targets.is_empty() {
            self.summary.push("Tests: the files above define nothing whose tests could be looked for.".to_owned());
            return;
        }
        if tested.uses.is_empty() {
            let names = listed(tested.targets.iter().map(|target| format!("`{target}`")), MAX_LISTED);
            let searched = match tested.searched {
                0 => "there are no tests in what was read".to_owned(),
                1 => "1 file with tests was searched".to_owned(),
                count => format!("{count} files with tests were searched"),
            };
            let it = if tested.targets.len() == 1 { "it" } else { "any of them" };
            // What cannot be seen comes first: a test elsewhere is not missing.
            let unseen = if tested.narrow {
                "tests outside of what was granted cannot be seen; in what was granted, "
            } else {
                ""
            };
            self.summary.push(format!("Tests: {unseen}no test calls {it} by name ({names}); {searched}."));
            if !beside.is_empty() {
                self.summary.push(format!(
                    "Tests in the same file with words of the goal: {}.",
                    listed(beside.iter().cloned(), MAX_LISTED)
                ));
            }
            return;
        }
        let places = listed(tested.uses.iter().filter_map(|uses| uses.first()).map(place_of), MAX_LISTED);
        let (tests, in_files) = tested.count();
        self.summary.push(match tests {
            0 => format!(
                "Tests: no single test was seen to use it, but {} with tests {} to it: {places}.",
                files(tested.uses.len()),
                if tested.uses.len() == 1 { "refers" } else { "refer" }
            ),
            1 => format!("Tests: yes, 1 test refers to it: {places}."),
            _ => format!("Tests: yes, {tests} tests in {} refer to it: {places}.", files(in_files)),
        });
        for uses in tested.uses.iter().take(MAX_TEST_REFS) {
            let Some(first) = uses.first() else { continue };
            let label = format!(
                "tests {}",
                listed(uses.iter().map(|found| format!("`{}` (:{})", found.target, found.line)), MAX_LISTED)
            );
            match self.references.iter_mut().find(|reference| reference.path == first.file) {
                Some(reference) => reference.label = format!("{}; {label}", reference.label),
                None => self.references.push(Reference { path: first.file.clone(), label }),
            }
        }
    }

    /// One line on the whole tree.
    pub(crate) fn map(&mut self, survey: &Survey) {
        let languages = languages(survey);
        let named = listed(
            languages
                .iter()
                .filter(|row| row.code)
                .map(|row| format!("{} {} ({})", row.name, row.files, lines_in(row.lines))),
            MAX_SUMMARY_LANGUAGES,
        );
        let programs = survey.entries.iter().filter(|entry| entry.start == Start::Program && !is_example(&entry.file));
        let programs = listed(programs.map(EntryPoint::place), MAX_SUMMARY_ENTRIES);
        let mut line = format!("Map: {}, {} read", files(survey.files.len()), survey.files_read);
        if !named.is_empty() {
            line.push_str(&format!("; {named}"));
        }
        if !programs.is_empty() {
            line.push_str(&format!("; starts at {programs}"));
        }
        line.push('.');
        self.summary.push(line);
    }

    fn risks(&mut self, survey: &Survey, query: &Query, tested: Option<&Tested>) {
        let unread: usize = survey.skipped.values().map(|(count, _)| count).sum();
        if unread > 0 {
            let mut reasons: Vec<_> = survey.skipped.iter().collect();
            reasons.sort_by_key(|(reason, (count, _))| (std::cmp::Reverse(*count), reason.as_str()));
            let reasons = reasons.iter().map(|(reason, (count, first))| format!("{reason} ({count}, such as {first})"));
            self.risks.push(format!(
                "{} not read, and ranked by {} path alone: {}.",
                were(unread, "file"),
                if unread == 1 { "its" } else { "their" },
                listed(reasons, 12)
            ));
        }
        if let Some(note) = &survey.listing {
            self.risks.push(format!("The listing of the tree is not complete: {note}."));
        } else if survey.truncated {
            self.risks.push("The listing of the tree stopped at its limit; there are more files.".to_owned());
        }
        for ((count, first), what) in [
            (&survey.too_deep, "nested too deeply for the parser"),
            (&survey.unparsable, "not clear enough for the parser"),
        ] {
            if *count > 0 {
                self.risks.push(format!(
                    "{} {what}, so that the tokenizer found the definitions there: {first}{}.",
                    were(*count, "file"),
                    if *count > 1 { " and others" } else { "" }
                ));
            }
        }
        if survey.definitions_dropped > 0 {
            self.risks.push(format!(
                "{} left out, over the limit of {} in all and {} in a file.",
                were(survey.definitions_dropped, "definition"),
                crate::limits::MAX_DEFINITIONS,
                crate::limits::MAX_DEFINITIONS_PER_FILE
            ));
        }
        if survey.entries_dropped > 0 {
            self.risks.push(format!(
                "{} left out, over the limit of {}.",
                were(survey.entries_dropped, "entry point"),
                crate::limits::MAX_ENTRY_POINTS
            ));
        }
        if let Some(tested) = tested
            && tested.not_searched > 0
        {
            self.risks.push(format!(
                "{} not searched, over the budget.",
                if tested.not_searched == 1 {
                    "1 file with tests was".to_owned()
                } else {
                    format!("{} files with tests were", tested.not_searched)
                }
            ));
        }
        match query.left_out {
            (0, false) => {}
            (words, cut) => self.risks.push(format!(
                "The goal is long: {} of its words were not searched for{}.",
                words,
                if cut { ", nor anything after its first 16 KiB" } else { "" }
            )),
        }
    }

    /// Adds what the roles before this one said, and the words that were searched for as the last line.
    pub fn compose(&mut self, prior: &[PriorResult]) {
        self.summary.extend(brain_role::compose(prior).lines().map(str::to_owned));
        self.summary.extend(self.searched.take());
        for result in prior {
            if let Err(error) = &result.result {
                let role = if result.role.is_empty() { "another role" } else { &result.role };
                self.risks.push(format!("The result of {role} could not be read: {error}."));
            }
        }
    }
}

/// The line that says which words were searched for.
fn searched(query: &Query) -> Option<String> {
    if query.overview {
        return None;
    }
    let is_earlier = |weight: f32| weight <= crate::query::EARLIER_WEIGHT;
    // Parts of paths and identifiers are named whole.
    let own = query.words.iter().filter(|word| word.weight >= 1.0).map(|word| word.text.clone());
    let identifiers = query.identifiers.iter().map(|(name, container)| match container {
        Some(container) => format!("{container}::{name}"),
        None => name.clone(),
    });
    let own = own.chain(query.names.iter().cloned()).chain(identifiers).chain(query.paths.iter().cloned());
    let own = listed(own, MAX_SEARCHED);
    let earlier = query.words.iter().filter(|word| is_earlier(word.weight)).map(|word| word.text.clone());
    let earlier = listed(earlier.chain(query.earlier.paths.iter().cloned()), MAX_SEARCHED);
    match (own.is_empty(), earlier.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("Searched for: {own}.")),
        (true, false) => Some(format!("Searched for: {earlier} (from the earlier session).")),
        (false, false) => {
            Some(format!("Searched for: {own}; and, with less weight, from the earlier session: {earlier}."))
        }
    }
}

/// Tests in the file of the best match that have words of the goal.
fn beside(survey: &Survey, ranking: &Ranking) -> Vec<String> {
    let Some(best) = ranking.files.first() else { return Vec::new() };
    let file = &survey.files[best.file];
    let tests = file
        .definitions
        .iter()
        .filter(|defined| defined.definition.kind == Kind::Test && (defined.name | defined.doc | defined.body) != 0);
    tests
        .map(|defined| format!("{}:{} ({})", file.path, defined.definition.line, defined.definition.qualified()))
        .collect()
}

/// Why a file is named: what it defines, and where the goal's words are.
pub(crate) fn reason(file: &File, ranked: &Ranked, query: &Query, most: usize) -> String {
    let mut parts: Vec<String> = ranked.why.clone();
    if file.test {
        parts.push("test".to_owned());
    }
    let best = ranked.best.first().map_or(0.0, |(_, fit)| *fit);
    let definitions = ranked.best.iter().filter(|(_, fit)| *fit >= best * 0.6).take(most).map(|(index, _)| {
        let definition = &file.definitions[*index].definition;
        format!("`{}` (:{})", definition.qualified(), definition.line)
    });
    let definitions = definitions.collect::<Vec<_>>().join(", ");
    if !definitions.is_empty() {
        parts.push(format!("has {definitions}"));
    }
    for (field, name) in [(PATH, "path"), (NAMES, "names"), (COMMENTS, "comments"), (TEXT, "text")] {
        for itself in [true, false] {
            // Each word once, where it says most.
            let here = file.counts.iter().filter(|count| count.strongest() == Some((field, itself)));
            let found: Vec<String> = here
                .filter_map(|count| query.words.get(usize::from(count.word)))
                .map(|word| format!("\"{}\"", word.text))
                .collect();
            if !found.is_empty() {
                parts.push(format!(
                    "{}{} in {name}",
                    if itself { "" } else { "related to " },
                    listed(found.into_iter(), 6)
                ));
            }
        }
    }
    parts.join("; ")
}

fn place_of(found: &Use) -> String {
    match &found.test {
        Some(test) => format!("{}:{} ({test}, on `{}`)", found.file, found.line, found.target),
        None => format!("{}:{} (on `{}`)", found.file, found.line, found.target),
    }
}

/// A row of the table of languages.
#[derive(Debug)]
pub struct LanguageRow {
    /// Name.
    pub name: &'static str,
    /// Whether it is code.
    pub code: bool,
    /// Files.
    pub files: usize,
    /// Lines in those that were read.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The languages of the tree, the one with the most lines first. Other people's code is left out.
pub fn languages(survey: &Survey) -> Vec<LanguageRow> {
    let mut rows: Vec<LanguageRow> = Vec::new();
    for file in &survey.files {
        if file.foreign.is_some() {
            continue;
        }
        let name = file.language.name;
        let at = match rows.iter().position(|row| row.name == name) {
            Some(at) => at,
            None => {
                rows.push(LanguageRow {
                    name,
                    code: file.language.class == crate::language::Class::Code,
                    files: 0,
                    lines: 0,
                    bytes: 0,
                });
                rows.len() - 1
            }
        };
        rows[at].files += 1;
        rows[at].lines += u64::from(file.lines);
        rows[at].bytes += file.bytes;
    }
    rows.sort_by_key(|row| (std::cmp::Reverse(row.lines), row.name));
    rows
}

/// Whether the goal asks for nothing but where things start.
fn only_entries(query: &Query) -> bool {
    const AROUND: &[&str] = &[
        "entry",
        "entrypoint",
        "entrypoints",
        "point",
        "points",
        "main",
        "program",
        "application",
        "app",
        "start",
        "starts",
        "begin",
        "begins",
        "run",
        "runs",
        "executable",
        "binary",
        "binaries",
        "function",
        "execution",
    ];
    query.entry
        && query.identifiers.is_empty()
        && query.paths.is_empty()
        && query.words.iter().all(|word| AROUND.contains(&word.text.as_str()))
}

pub(crate) fn wants(query: &Query, start: Start) -> bool {
    match start {
        Start::Program | Start::Library => query.entry || !query.build,
        Start::Command | Start::Container | Start::Pipeline => query.build,
    }
}

pub(crate) fn is_example(path: &str) -> bool {
    crate::language::is_sample(path) || crate::language::is_test(path)
}

pub(crate) fn lines_in(count: u64) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

pub(crate) fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

fn were(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun} was") } else { format!("{count} {noun}s were") }
}

/// `a, b and 3 more`.
pub(crate) fn listed(items: impl Iterator<Item = String>, most: usize) -> String {
    let items: Vec<String> = items.collect();
    let shown = items.iter().take(most).map(|item| clipped(item)).collect::<Vec<_>>().join(", ");
    if items.len() > most { format!("{shown} and {} more", items.len() - most) } else { shown }
}

/// An item as a list shows it: a word of a goal may be as long as the goal.
fn clipped(item: &str) -> String {
    match item.char_indices().nth(MAX_ITEM_CHARS) {
        None => item.to_owned(),
        Some((at, _)) => format!("{}…", item.get(..at).unwrap_or(item)),
    }
}
