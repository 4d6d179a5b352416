//! What is kept of one file.

use crate::language::{self, Language};
use crate::limits::MAX_HITS_PER_FILE;
use crate::outline::{Definition, Kind, Lines};
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

/// How often a word of the goal is in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// Index of the word.
    pub word: u8,
    /// How often it is in each field; a related word counts less.
    pub in_field: [f32; FIELDS],
    /// In which fields it is itself, a bit for each.
    pub itself: u8,
}

impl Count {
    /// Whether the word itself is in the file, not only one that is related to it.
    pub fn is_itself(&self) -> bool {
        self.itself != 0
    }

    /// The field that says most of those it is in, and whether it is there itself. A place of the word itself says more than any of a related one.
    pub fn strongest(&self) -> Option<(usize, bool)> {
        let itself = (0..FIELDS).find(|field| self.itself & (1 << field) != 0).map(|field| (field, true));
        itself.or_else(|| (0..FIELDS).find(|field| self.in_field[*field] > 0.0).map(|field| (field, false)))
    }
}

/// A definition, and which words of the goal are where.
#[derive(Debug)]
pub struct Defined {
    /// The definition.
    pub definition: Definition,
    /// Words in its name.
    pub name: Words,
    /// Those to which a word in its name is only related.
    pub related: Words,
    /// Words in the name of what it belongs to.
    pub container: Words,
    /// Words in the comments on it.
    pub doc: Words,
    /// Words inside, except in the definitions inside it.
    pub body: Words,
    /// Whether the goal names it.
    pub named: bool,
    /// Whether its name is a word of the goal that means nothing elsewhere, see [`Query::names`].
    pub kept: bool,
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
    /// The directory that makes it other people's code or built output.
    pub foreign: Option<String>,
    /// Whether a tool made it.
    pub generated: bool,
    /// The words of the goal that it has.
    pub counts: Vec<Count>,
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
            foreign: language::foreign(&path).map(str::to_owned),
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
        let at = match self.counts.iter().position(|count| count.word == word) {
            Some(at) => at,
            None => {
                self.counts.push(Count { word, in_field: [0.0; FIELDS], itself: 0 });
                self.counts.len() - 1
            }
        };
        let count = &mut self.counts[at];
        count.in_field[field] += weight;
        count.itself |= u8::from(is_itself(weight)) << field;
    }

    /// Takes the definitions, and counts their names.
    pub fn define(&mut self, query: &Query, definitions: Vec<Definition>) {
        // The words in a name, and those to which the name is only related.
        let words_of = |name: &str| {
            let (mut found, mut itself): (Words, Words) = (0, 0);
            words::scan(name, |_, word| {
                words::parts(word, |part| {
                    if let Some((word, weight)) = query.find(part) {
                        found |= 1 << word;
                        itself |= Words::from(is_itself(weight)) << word;
                    }
                });
            });
            (found, found & !itself)
        };
        let mut defined = Vec::with_capacity(definitions.len());
        for definition in definitions {
            words::scan(&definition.name, |_, word| words::parts(word, |part| self.count(query, part, NAMES)));
            let (name, related) = words_of(&definition.name);
            let container = definition.container.as_deref().map_or(0, |container| words_of(container).0);
            let named = query.identifiers.iter().any(|(name, container)| {
                *name == definition.name
                    && container.as_ref().is_none_or(|container| {
                        definition.container.as_ref().is_some_and(|own| own == container)
                            || stem_is(&self.path, container)
                    })
            });
            let kept = !definition.test
                && !matches!(definition.kind, Kind::Heading | Kind::Section)
                && query.names.contains(&definition.name);
            defined.push(Defined { definition, name, related, container, doc: 0, body: 0, named, kept });
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
                if hits < MAX_HITS_PER_FILE && is_itself(weight) {
                    hits += 1;
                    self.hit(index, lines.of(at), field);
                }
            });
        });
    }

    /// Gives a word on a line to the innermost definition there.
    fn hit(&mut self, word: usize, line: u32, field: usize) {
        let after =
            self.definitions.partition_point(|defined| defined.definition.top.min(defined.definition.line) <= line);
        let around = self.definitions[..after]
            .iter_mut()
            .rev()
            .take(MAX_LOOK_BACK)
            .find(|defined| defined.definition.end >= line);
        if let Some(defined) = around {
            let bit = 1 << word;
            if field == COMMENTS && line < defined.definition.line.saturating_add(12) {
                defined.doc |= bit
            } else {
                defined.body |= bit
            }
        }
    }

    /// Keeps `room` definitions; where it has more, only those with something of the goal, at most `room_for_matches`. How many are gone.
    pub fn keep(&mut self, room: usize, room_for_matches: usize) -> usize {
        let before = self.definitions.len();
        if before > room {
            self.definitions.retain(|defined| {
                defined.named || defined.kept || (defined.name | defined.container | defined.doc | defined.body) != 0
            });
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

/// Whether a weight is that of a word of the goal, rather than of one that is related to it.
fn is_itself(weight: f32) -> bool {
    weight > 0.9
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

/// Whether one of the paths that a handoff refers to is this file, or a directory around it.
pub fn refers(wanted: &[String], path: &str) -> bool {
    wanted.iter().any(|wanted| {
        let wanted = wanted.trim_end_matches('/');
        path.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}
