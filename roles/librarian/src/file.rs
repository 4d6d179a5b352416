//! What is kept of one file.

use crate::language::{self, Language};
use crate::limits::MAX_HITS_PER_FILE;
use crate::outline::{Definition, Lines};
use crate::query::Query;
use crate::words;

/// Parts of a file that count differently.
pub const FIELDS: usize = 4;
/// The path.
pub const PATH: usize = 0;
/// Names of definitions.
pub const NAMES: usize = 1;
/// Comments and doc strings.
pub const COMMENTS: usize = 2;
/// Everything else.
pub const TEXT: usize = 3;

/// A set of words of the goal. [`crate::limits::MAX_QUERY_WORDS`] keeps them within its bits.
pub type Words = u32;

/// A definition, and which words of the goal are where.
#[derive(Debug)]
pub struct Defined {
    /// The definition.
    pub definition: Definition,
    /// Words in its name.
    pub name: Words,
    /// Words in the name of what it belongs to.
    pub container: Words,
    /// Words in the comments on it.
    pub doc: Words,
    /// Words inside, except in the definitions inside it.
    pub body: Words,
    /// Whether the goal names it.
    pub named: bool,
}

/// What is kept of a file.
#[derive(Debug)]
pub struct File {
    /// Relative to the project.
    pub path: String,
    /// What it is written in.
    pub language: &'static Language,
    /// Size.
    pub bytes: u64,
    /// Lines; 0 when it was not read.
    pub lines: u32,
    /// Whether its text was read.
    pub read: bool,
    /// Whether it is a test by its path.
    pub test: bool,
    /// Whether it is material to try code on.
    pub sample: bool,
    /// Whether a tool made it.
    pub generated: bool,
    /// How often each word of the goal is in each field, words that are nowhere left out.
    pub counts: Vec<(u8, [f32; FIELDS])>,
    /// How many words each field has.
    pub lengths: [u32; FIELDS],
    /// How often two words that follow each other in the goal follow each other here.
    pub pairs: u32,
    /// How often identifiers that the goal names are here.
    pub mentions: u32,
    /// Its definitions, in order.
    pub definitions: Vec<Defined>,
}

/// How many definitions are looked at to find the innermost one around a line.
const MAX_LOOK_BACK: usize = 200;

impl File {
    /// A file of which only path and size are known.
    pub fn new(path: String, bytes: u64, query: &Query) -> Self {
        let mut file = Self {
            language: language::of(&path),
            bytes,
            lines: 0,
            read: false,
            test: language::is_test(&path),
            sample: language::is_sample(&path),
            generated: false,
            counts: Vec::new(),
            lengths: [0; FIELDS],
            pairs: 0,
            mentions: 0,
            definitions: Vec::new(),
            path: String::new(),
        };
        words::scan(&path, |_, word| words::parts(word, |part| file.count(query, part, PATH)));
        file.path = path;
        file
    }

    fn count(&mut self, query: &Query, part: &str, field: usize) {
        self.lengths[field] = self.lengths[field].saturating_add(1);
        if let Some((word, weight)) = query.find(part) {
            self.add(word, weight, field);
        }
    }

    fn add(&mut self, word: usize, weight: f32, field: usize) {
        let word = word as u8;
        let at = match self.counts.iter().position(|(known, _)| *known == word) {
            Some(at) => at,
            None => {
                self.counts.push((word, [0.0; FIELDS]));
                self.counts.len() - 1
            }
        };
        self.counts[at].1[field] += weight;
    }

    /// Takes the definitions, and counts their names.
    pub fn define(&mut self, query: &Query, definitions: Vec<Definition>) {
        let words_of = |name: &str| {
            let mut found: Words = 0;
            words::scan(name, |_, word| {
                words::parts(word, |part| {
                    if let Some((word, _)) = query.find(part) {
                        found |= 1 << word;
                    }
                });
            });
            found
        };
        let mut defined = Vec::with_capacity(definitions.len());
        for definition in definitions {
            words::scan(&definition.name, |_, word| words::parts(word, |part| self.count(query, part, NAMES)));
            let name = words_of(&definition.name);
            let container = definition.container.as_deref().map_or(0, words_of);
            let named = query.identifiers.iter().any(|(name, container)| {
                *name == definition.name && container.as_ref().is_none_or(|container| definition.container.as_ref().is_some_and(|own| own == container) || stem_is(&self.path, container))
            });
            defined.push(Defined { definition, name, container, doc: 0, body: 0, named });
        }
        self.definitions = defined;
    }

    /// Counts the words of the text, and gives each to the definition around it.
    pub fn scan(&mut self, query: &Query, text: &str, lines: &Lines, comments: &[std::ops::Range<usize>]) {
        let mut comment = 0;
        let mut hits = 0;
        // The word before, if the goal has it and nothing stood between.
        let mut before: Option<usize> = None;
        words::scan(text, |at, word| {
            while comments.get(comment).is_some_and(|range| range.end <= at) {
                comment += 1;
            }
            let field = if comments.get(comment).is_some_and(|range| range.contains(&at)) { COMMENTS } else { TEXT };
            if query.identifiers.iter().any(|(name, _)| name == word) {
                self.mentions = self.mentions.saturating_add(1);
            }
            words::parts(word, |part| {
                self.lengths[field] = self.lengths[field].saturating_add(1);
                let Some((index, weight)) = query.find(part) else {
                    before = None;
                    return;
                };
                self.add(index, weight, field);
                self.pairs = self.pairs.saturating_add(u32::from(before.is_some_and(|before| before + 1 == index)));
                before = Some(index);
                if hits < MAX_HITS_PER_FILE && weight > 0.5 {
                    hits += 1;
                    self.hit(index, lines.of(at), field);
                }
            });
        });
    }

    /// Gives a word on a line to the innermost definition there.
    fn hit(&mut self, word: usize, line: u32, field: usize) {
        let after = self.definitions.partition_point(|defined| defined.definition.top.min(defined.definition.line) <= line);
        let around = self.definitions[..after].iter_mut().rev().take(MAX_LOOK_BACK).find(|defined| defined.definition.end >= line);
        if let Some(defined) = around {
            let bit = 1 << word;
            if field == COMMENTS && line < defined.definition.line.saturating_add(12) { defined.doc |= bit } else { defined.body |= bit }
        }
    }

    /// Keeps `room` definitions; where it has more, only those with something of the goal, at most `room_for_matches`. How many are gone.
    pub fn keep(&mut self, room: usize, room_for_matches: usize) -> usize {
        let before = self.definitions.len();
        if before > room {
            self.definitions.retain(|defined| defined.named || (defined.name | defined.container | defined.doc | defined.body) != 0);
            self.definitions.truncate(room_for_matches);
            self.definitions.shrink_to_fit();
        }
        before - self.definitions.len()
    }

    /// Whether it has tests, whatever its path.
    pub fn has_tests(&self) -> bool {
        self.test || self.definitions.iter().any(|defined| defined.definition.test)
    }
}

/// Whether a path is that of the module `name`: `src/journal.rs` or `journal/mod.rs`.
fn stem_is(path: &str, name: &str) -> bool {
    path.split('/').any(|part| part.split_once('.').map_or(part, |(stem, _)| stem) == name)
}

/// How many directories a path goes through.
pub fn depth(path: &str) -> usize {
    path.bytes().filter(|byte| *byte == b'/').count()
}

/// Whether the last parts of a path are those of another: `src/main.rs` of `host/cli/src/main.rs`.
pub fn ends_with_path(path: &str, end: &str) -> bool {
    let end = end.trim_matches('/');
    !end.is_empty() && (path == end || path.strip_suffix(end).is_some_and(|before| before.ends_with('/')))
}
