//! The whole map, for programs: `/artifacts/map.json`.

use serde::Serialize;
use serde_json::Value;

use crate::answer::languages;
use crate::entry::EntryPoint;
use crate::file::{File, Words};
use crate::limits::{MAX_MAP_BYTES, MAX_RANKED};
use crate::query::Query;
use crate::rank::Ranking;
use crate::survey::Survey;
use crate::tested::Tested;

/// Version of the form; changes when a reader of the old one would misread it.
pub const FORMAT: u32 = 1;

/// File name below `/artifacts`.
pub const NAME: &str = "map.json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    format: u32,
    goal: &'a str,
    words: Vec<Word<'a>>,
    identifiers: Vec<&'a str>,
    files_listed: usize,
    files_read: usize,
    bytes_read: u64,
    languages: Vec<Language>,
    entry_points: &'a [EntryPoint],
    skipped: Vec<Skipped<'a>>,
    ranking: Vec<Row<'a>>,
    tests: Vec<TestUse<'a>>,
    /// Files whose definitions are not in `definitions` for want of room.
    definitions_left_out: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Word<'a> {
    text: &'a str,
    worth: f32,
    in_files: usize,
}

#[derive(Serialize)]
struct Language {
    name: &'static str,
    files: usize,
    lines: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Skipped<'a> {
    reason: &'a str,
    files: usize,
    first: &'a str,
}

#[derive(Serialize)]
struct Row<'a> {
    path: &'a str,
    score: f32,
    words: Vec<&'a str>,
    test: bool,
    best: Vec<String>,
    why: &'a [String],
}

#[derive(Serialize)]
struct TestUse<'a> {
    file: &'a str,
    line: u32,
    test: Option<&'a str>,
    target: &'a str,
}

#[derive(Serialize)]
struct FileDefinitions<'a> {
    path: &'a str,
    language: &'a str,
    lines: u32,
    definitions: Vec<Value>,
}

fn words_of(words: Words, query: &Query) -> Vec<&str> {
    query
        .words
        .iter()
        .enumerate()
        .filter(|(index, _)| words & (1 << index) != 0)
        .map(|(_, word)| word.text.as_str())
        .collect()
}

/// The map as JSON, at most [`MAX_MAP_BYTES`]. The definitions of ranked files come first.
///
/// # Errors
/// None is expected; what `serde_json` says is passed on.
pub fn json(
    goal: &str,
    survey: &Survey,
    query: &Query,
    ranking: &Ranking,
    tested: Option<&Tested>,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut definitions = Vec::new();
    let mut left_out = 0;
    for file in in_order(survey, ranking) {
        if file.definitions.is_empty() {
            continue;
        }
        let before = definitions.len();
        if before > 0 {
            definitions.extend_from_slice(b",\n");
        }
        serde_json::to_writer(&mut definitions, &of_file(file))?;
        if definitions.len() > MAX_MAP_BYTES {
            definitions.truncate(before);
            left_out += 1;
        }
    }
    let head = Head {
        format: FORMAT,
        goal,
        words: query
            .words
            .iter()
            .zip(ranking.worth.iter().zip(&ranking.in_files))
            .map(|(word, (worth, in_files))| Word { text: &word.text, worth: *worth, in_files: *in_files })
            .collect(),
        identifiers: query.identifiers.iter().map(|(name, _)| name.as_str()).collect(),
        files_listed: survey.files.len(),
        files_read: survey.files_read,
        bytes_read: survey.bytes_read,
        languages: languages(survey)
            .into_iter()
            .map(|row| Language { name: row.name, files: row.files, lines: row.lines, bytes: row.bytes })
            .collect(),
        entry_points: &survey.entries,
        skipped: survey
            .skipped
            .iter()
            .map(|(reason, (files, first))| Skipped { reason, files: *files, first })
            .collect(),
        ranking: ranking
            .files
            .iter()
            .take(MAX_RANKED)
            .map(|ranked| {
                let file = &survey.files[ranked.file];
                let best = ranked.best.iter().map(|(index, _)| {
                    let definition = &file.definitions[*index].definition;
                    format!("{}:{}", definition.qualified(), definition.line)
                });
                Row {
                    path: &file.path,
                    score: ranked.score,
                    words: words_of(ranked.words, query),
                    test: file.test,
                    best: best.collect(),
                    why: &ranked.why,
                }
            })
            .collect(),
        tests: tested
            .into_iter()
            .flat_map(|tested| tested.uses.iter().flatten())
            .map(|found| TestUse {
                file: &found.file,
                line: found.line,
                test: found.test.as_deref(),
                target: &found.target,
            })
            .collect(),
        definitions_left_out: left_out,
    };
    let mut json = serde_json::to_vec(&head)?;
    // The head is an object; the definitions, written one by one above, become its last field.
    json.pop();
    json.extend_from_slice(b",\"definitions\":[\n");
    json.append(&mut definitions);
    json.extend_from_slice(b"\n]}\n");
    Ok(json)
}

/// Ranked files first, then the others by path.
fn in_order<'a>(survey: &'a Survey, ranking: &'a Ranking) -> impl Iterator<Item = &'a File> {
    let mut ranked = vec![false; survey.files.len()];
    for row in &ranking.files {
        ranked[row.file] = true;
    }
    let rest = survey.files.iter().enumerate().filter(move |(index, _)| !ranked[*index]).map(|(_, file)| file);
    ranking.files.iter().map(|row| &survey.files[row.file]).chain(rest)
}

fn of_file(file: &File) -> FileDefinitions<'_> {
    let definitions = file.definitions.iter().map(|defined| {
        let definition = &defined.definition;
        let mut row = serde_json::json!({ "name": definition.name, "kind": definition.kind.name(), "line": definition.line, "end": definition.end });
        if let Some(container) = &definition.container {
            row["container"] = Value::from(container.as_str());
        }
        if definition.test {
            row["test"] = Value::from(true);
        }
        row
    });
    FileDefinitions {
        path: &file.path,
        language: file.language.name,
        lines: file.lines,
        definitions: definitions.collect(),
    }
}
