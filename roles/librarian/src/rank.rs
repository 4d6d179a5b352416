//! Which files and definitions are closest to the goal.
//!
//! Files are scored by BM25F (Robertson and Zaragoza, 2009): the counts of a word in path, names, comments and text are weighted, each
//! divided by the length of its field, and added before they are saturated. What the words together say is added on top: how many of them a file has,
//! whether they follow each other, and how well its best single definition fits.

use crate::file::{COMMENTS, Defined, FIELDS, File, NAMES, PATH, TEXT, Words};
use crate::language::Class;
use crate::limits::MAX_LISTED;
use crate::outline::Kind;
use crate::query::Query;
use crate::survey::Survey;

/// What one occurrence counts in each field.
const FIELD_WEIGHT: [f32; FIELDS] = weights(3.0, 2.5, 1.0, 0.7);
/// How much the length of each field counts, 0 to 1.
const FIELD_LENGTH: [f32; FIELDS] = weights(0.3, 0.6, 0.75, 0.75);
/// How soon more of the same word stops to count.
const SATURATION: f32 = 1.2;

/// What a definition that fits in all words adds, in parts of what all words are worth.
const DEFINITION_SHARE: f32 = 0.9;
/// How much of the score depends on how many of the words a file has.
const COVERAGE: f32 = 0.5;
/// What a word counts of which there is only a related one, in parts of what it would count itself.
const RELATED_SHARE: f32 = 0.5;
/// What it adds to a definition that its name is a word of the goal that means nothing elsewhere, in the same parts.
const KEPT_SHARE: f32 = 0.3;
/// What words that follow each other as in the goal add, in the same parts.
const PAIR_SHARE: f32 = 0.25;
/// What a definition adds that the goal names, and a mention of it.
const NAMED: f32 = 30.0;
const MENTIONED: f32 = 2.0;
/// What a path adds that the goal or the handoff names.
const ASKED_PATH: f32 = 40.0;
const REFERRED: f32 = 1.3;
/// What it adds that the answer of an earlier session names the file.
const EARLIER: f32 = 1.15;
const EARLIER_PATH: f32 = 0.3;

/// Files below this part of the best score are not relevant.
const CUT: f32 = 0.3;

const fn weights(path: f32, names: f32, comments: f32, text: f32) -> [f32; FIELDS] {
    let mut all = [0.0; FIELDS];
    all[PATH] = path;
    all[NAMES] = names;
    all[COMMENTS] = comments;
    all[TEXT] = text;
    all
}

/// A file with its score.
#[derive(Debug)]
pub struct Ranked {
    /// Index into [`Survey::files`].
    pub file: usize,
    /// Comparable within one ranking only.
    pub score: f32,
    /// Which words of the goal it has itself.
    pub words: Words,
    /// Its best definitions, best first: index and score, the latter 0 to 1.
    pub best: Vec<(usize, f32)>,
    /// Why, beside the words.
    pub why: Vec<String>,
}

/// All files that have something of the goal, best first.
#[derive(Debug)]
pub struct Ranking {
    /// Best first.
    pub files: Vec<Ranked>,
    /// What each word is worth: rare words are worth more, and one that is nowhere most, so that its absence shows.
    pub worth: Vec<f32>,
    /// In how many files each word is.
    pub in_files: Vec<usize>,
    /// Whether the goal has nothing but names that are stop words elsewhere.
    only_names: bool,
}

impl Ranking {
    /// Ranks the files of a survey. `wanted` are the paths that the handoff refers to.
    pub fn new(survey: &Survey, query: &Query, wanted: &[String]) -> Self {
        let words = query.words.len();
        let mut in_files = vec![0usize; words];
        let mut lengths = [0u64; FIELDS];
        let mut readable = 0u64;
        for file in &survey.files {
            for count in &file.counts {
                in_files[usize::from(count.word)] += usize::from(count.is_itself());
            }
            if file.read {
                readable += 1;
                for (sum, length) in lengths.iter_mut().zip(file.lengths) {
                    *sum += u64::from(length);
                }
            }
        }
        let total = survey.files.len() as f32;
        let worth: Vec<f32> = in_files
            .iter()
            .zip(&query.words)
            .map(|(count, word)| word.weight * (1.0 + (total - *count as f32 + 0.5) / (*count as f32 + 0.5)).ln())
            .collect();
        let only_names = !query.names.is_empty() && query.identifiers.is_empty() && query.own_words() == 0;
        let mut ranking = Self { files: Vec::new(), worth, in_files, only_names };
        let average = lengths.map(|sum| (sum as f32 / readable.max(1) as f32).max(1.0));
        for (index, file) in survey.files.iter().enumerate() {
            if let Some(ranked) = ranking.score(index, file, survey, query, wanted, &average) {
                ranking.files.push(ranked);
            }
        }
        ranking.files.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| survey.files[a.file].path.cmp(&survey.files[b.file].path))
        });
        ranking
    }

    /// What all words together are worth.
    pub fn total(&self) -> f32 {
        self.worth.iter().sum::<f32>().max(f32::EPSILON)
    }

    /// What a set of words is worth, in parts of all.
    pub fn share(&self, words: Words) -> f32 {
        let sum: f32 =
            self.worth.iter().enumerate().filter(|(word, _)| words & (1 << word) != 0).map(|(_, worth)| worth).sum();
        sum / self.total()
    }

    /// The files that are close enough to the best to be named, at most `most`.
    pub fn relevant(&self, most: usize) -> &[Ranked] {
        let Some(best) = self.files.first() else { return &[] };
        let end = self.files.iter().take(most).take_while(|ranked| ranked.score >= best.score * CUT).count();
        &self.files[..end]
    }

    fn score(
        &self,
        index: usize,
        file: &File,
        survey: &Survey,
        query: &Query,
        wanted: &[String],
        average: &[f32; FIELDS],
    ) -> Option<Ranked> {
        if file.foreign.is_some() {
            return None;
        }
        let total = self.total();
        let mut score = 0.0;
        let (mut words, mut related): (Words, Words) = (0, 0);
        for count in &file.counts {
            let mut frequency = 0.0;
            for field in 0..FIELDS {
                let length =
                    1.0 - FIELD_LENGTH[field] + FIELD_LENGTH[field] * file.lengths[field] as f32 / average[field];
                frequency += FIELD_WEIGHT[field] * count.in_field[field] / length.max(0.1);
            }
            let bit = 1 << count.word;
            if count.is_itself() {
                words |= bit
            } else {
                related |= bit
            }
            score += self.worth[usize::from(count.word)] * frequency * (SATURATION + 1.0) / (SATURATION + frequency);
        }
        let best = self.definitions(file);
        if let Some((_, fit)) = best.first() {
            score += DEFINITION_SHARE * total * fit;
        }
        if file.pairs > 0 {
            score += PAIR_SHARE * total * (1.0 - 1.0 / (1.0 + file.pairs as f32 / 3.0));
        }
        score *= 1.0 - COVERAGE + COVERAGE * (self.share(words) + RELATED_SHARE * self.share(related));
        let mut why = Vec::new();
        if let Some(named) = file.definitions.iter().find(|defined| defined.named) {
            score += NAMED;
            why.push(format!("defines {}, which the goal names", named.definition.qualified()));
        }
        if self.only_names
            && let Some(kept) = file.definitions.iter().find(|defined| defined.kept)
        {
            score += NAMED;
            why.push(format!("defines {}, which the goal names", kept.definition.qualified()));
        }
        if file.mentions > 0 {
            score += MENTIONED * (1.0 + file.mentions as f32).ln();
        }
        score *= prior(file, query);
        if let Some(path) = query.paths.iter().find(|path| crate::file::ends_with_path(&file.path, path)) {
            score += ASKED_PATH;
            why.push(format!("the goal names {path}"));
        }
        if crate::file::refers(wanted, &file.path) {
            score = score * REFERRED + 1.0;
            why.push("the handoff refers to it".to_owned());
        }
        if query.earlier.paths.iter().any(|path| crate::file::ends_with_path(&file.path, path)) {
            score = score * EARLIER + EARLIER_PATH;
            why.push("the earlier session named it".to_owned());
        }
        if let Some(entry) = survey.entries.iter().find(|entry| entry.file == file.path)
            && asks_for(query, entry.start)
        {
            score += total.max(1.0);
            why.push(entry.what.clone());
        }
        (score > 0.0).then_some(Ranked { file: index, score, words, best, why })
    }

    /// The definitions of a file that have something of the goal, best first.
    fn definitions(&self, file: &File) -> Vec<(usize, f32)> {
        let mut scored: Vec<(usize, f32)> = file
            .definitions
            .iter()
            .enumerate()
            .map(|(index, defined)| (index, self.fit(defined)))
            .filter(|(_, fit)| *fit > 0.0)
            .collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored.truncate(2 * MAX_LISTED);
        scored
    }

    /// How well one definition fits, 0 to 1.
    fn fit(&self, defined: &Defined) -> f32 {
        if defined.named || (defined.kept && self.only_names) {
            return 1.0;
        }
        let mut sum = 0.0;
        for (word, worth) in self.worth.iter().enumerate() {
            let bit = 1 << word;
            let part = if defined.related & bit != 0 {
                RELATED_SHARE
            } else if defined.name & bit != 0 {
                1.0
            } else if defined.container & bit != 0 {
                0.6
            } else if defined.doc & bit != 0 {
                0.5
            } else if defined.body & bit != 0 {
                0.3
            } else {
                0.0
            };
            sum += worth * part;
        }
        if defined.kept && sum > 0.0 {
            sum = (sum + KEPT_SHARE * self.total()).min(self.total());
        }
        // A definition of which only the inside fits is no answer by itself.
        let outside = if defined.name != 0 { 1.0 } else { 0.7 };
        let kind = match defined.definition.kind {
            Kind::Function
            | Kind::Method
            | Kind::Class
            | Kind::Struct
            | Kind::Interface
            | Kind::Enum
            | Kind::Table
            | Kind::View
            | Kind::Index => 1.0,
            Kind::Type | Kind::Macro | Kind::Module | Kind::Test | Kind::Constant => 0.85,
            Kind::Impl => 0.7,
            Kind::Heading | Kind::Section => 0.8,
        };
        let test = if defined.definition.test { 0.6 } else { 1.0 };
        sum / self.total() * outside * kind * test
    }
}

/// What a file is worth before its words are looked at.
fn prior(file: &File, query: &Query) -> f32 {
    let class = match file.language.class {
        Class::Code => 1.0,
        Class::Docs if query.docs => 1.2,
        Class::Docs => 0.55,
        Class::Config if query.build => 1.0,
        Class::Config => 0.7,
        Class::Data => 0.4,
    };
    let test = if file.test { 0.65 } else { 1.0 };
    let sample = if file.sample { 0.5 } else { 1.0 };
    let generated = if file.generated { 0.5 } else { 1.0 };
    class * test * sample * generated
}

fn asks_for(query: &Query, start: crate::entry::Start) -> bool {
    use crate::entry::Start;
    match start {
        Start::Program | Start::Library => query.entry,
        Start::Command | Start::Container | Start::Pipeline => query.build,
    }
}
