//! Which sentences are quoted: those with most weight, each thing said once, and every speaker heard.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::limits::{MAX_ASKED, MAX_FOUND, MAX_NEXT, MAX_OPEN, MAX_SAME};
use crate::mark::{self, Part};
use crate::source::Sentence;
use crate::terms::{is_unspaced, likeness, terms};

/// From this likeness on, two sentences say the same.
const SAME: f64 = 0.62;

/// A sentence that is quoted.
#[derive(Clone, Debug)]
pub struct Quoted {
    /// Its index in the sources.
    pub sentence: usize,
    /// Others who say the same, at most [`MAX_SAME`].
    pub also: Vec<String>,
}

/// The sentences of a summary.
#[derive(Debug, Default)]
pub struct Ranking {
    /// By part, in the order of the sources.
    pub parts: BTreeMap<Part, Vec<Quoted>>,
    /// Sentences of each part that are not quoted and say something else.
    pub left: BTreeMap<Part, usize>,
    /// Sentences that say what another says.
    pub same: usize,
}

/// What a request says beside the paths and sessions that it names.
pub fn said(request: &str) -> String {
    let names =
        |word: &&str| word.starts_with('@') || word.trim_end_matches(['.', ',', '?', '!', ':']).contains(['.', '/']);
    request.split_whitespace().filter(|word| !names(word)).collect::<Vec<_>>().join(" ")
}

fn most(part: Part) -> usize {
    match part {
        Part::Asked => MAX_ASKED,
        Part::Found => MAX_FOUND,
        Part::Open => MAX_OPEN,
        Part::Next => MAX_NEXT,
    }
}

impl Ranking {
    /// Ranks all sentences for a request.
    pub fn new(sentences: &[Sentence], request: &str) -> Self {
        let all: Vec<BTreeSet<String>> = sentences.iter().map(|sentence| terms(&sentence.text)).collect();
        let weights = weights(sentences, &all, &terms(&said(request)));
        let mut order: Vec<usize> = (0..sentences.len()).collect();
        let weight = |at: usize| weights.get(at).copied().unwrap_or(0.0);
        order.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)).then(a.cmp(b)));
        let mut ranking = Self::default();
        for part in [Part::Asked, Part::Next, Part::Open, Part::Found] {
            ranking.choose(part, sentences, &all, &order);
        }
        for quoted in ranking.parts.values_mut() {
            quoted.sort_by_key(|one| one.sentence);
        }
        ranking
    }

    fn choose(&mut self, part: Part, sentences: &[Sentence], all: &[BTreeSet<String>], order: &[usize]) {
        let of_part = |at: &&usize| sentences.get(**at).is_some_and(|sentence| sentence.part == part);
        let own: Vec<usize> = order.iter().filter(of_part).copied().collect();
        // The best of each speaker first, so that nobody is left out for speaking briefly.
        let mut heard: BTreeSet<&str> = BTreeSet::new();
        let (first, rest): (Vec<usize>, Vec<usize>) =
            own.iter().partition(|at| sentences.get(**at).is_some_and(|sentence| heard.insert(&sentence.from)));
        for at in first.into_iter().chain(rest) {
            let Some((sentence, own)) = sentences.get(at).zip(all.get(at)) else { continue };
            if self.is_said(at, sentences, all) {
                self.same += 1;
                continue;
            }
            let quoted = self.parts.entry(part).or_default();
            // A line of one word says nothing without what stands around it.
            let words = sentence.text.split_whitespace().count() >= 3;
            let words = words && prose_words(&sentence.text) > 0;
            let says = (own.len() >= 2 && prose_words(&sentence.text) > 0)
                || words
                || part == Part::Asked
                || sentence.weight >= 0.8;
            if says && quoted.len() < most(part) {
                quoted.push(Quoted { sentence: at, also: Vec::new() });
            } else {
                *self.left.entry(part).or_insert(0) += 1;
            }
        }
    }

    /// Whether a sentence says what a quoted one does; the quoted one then knows who else says it.
    fn is_said(&mut self, at: usize, sentences: &[Sentence], all: &[BTreeSet<String>]) -> bool {
        let Some((sentence, own)) = sentences.get(at).zip(all.get(at)) else { return true };
        for quoted in self.parts.values_mut().flatten() {
            let Some((other, theirs)) = sentences.get(quoted.sentence).zip(all.get(quoted.sentence)) else { continue };
            let same = sentence.text == other.text || likeness(own, theirs) >= SAME;
            // The same words about two places are two things.
            let apart = sentence.place.is_some()
                && other.place.is_some()
                && sentence.place != other.place
                && sentence.source == other.source;
            if same && !apart {
                if other.from != sentence.from && quoted.also.len() < MAX_SAME && !quoted.also.contains(&sentence.from)
                {
                    quoted.also.push(sentence.from.clone());
                }
                return true;
            }
        }
        false
    }
}

/// Words of prose, as far as they matter: runs of letters, and more than enough where words are not spaced.
fn prose_words(text: &str) -> usize {
    const ENOUGH: usize = 3;
    if text.chars().filter(|c| is_unspaced(*c)).count() >= ENOUGH {
        return ENOUGH;
    }
    let plain = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '`' | '-' | '/'));
        !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’'))
    };
    text.split_whitespace().filter(plain).take(ENOUGH).count()
}

/// Position, what most speak about, what was asked for, and words that mark a decision.
fn weights(sentences: &[Sentence], all: &[BTreeSet<String>], request: &BTreeSet<String>) -> Vec<f64> {
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    for term in all.iter().flatten() {
        *frequency.entry(term).or_insert(0) += 1;
    }
    let count = sentences.len().max(1) as f64;
    let frequency_of = |term: &str| frequency.get(term).copied().unwrap_or(0) as f64;
    let rare = |term: &str| (1.0 + count / (1.0 + frequency_of(term))).ln();
    let asked: f64 = request.iter().filter(|term| frequency_of(term) > 0.0).map(|term| rare(term)).sum();
    let top = frequency.values().copied().max().unwrap_or(1).max(2) as f64;
    sentences
        .iter()
        .zip(all)
        .map(|(sentence, own)| {
            let length = own.len().max(6) as f64;
            // Terms that come back are what it is about; one that is everywhere weighs no more than a frequent one.
            let topic: f64 =
                own.iter().map(|term| (1.0 + frequency_of(term)).ln() / (1.0 + top).ln()).sum::<f64>() / length;
            let matched: f64 = own.intersection(request).map(|term| rare(term)).sum();
            let wish = if asked > 0.0 { matched / asked } else { 0.0 };
            let position = 1.0 / (1.0 + sentence.order as f64 / 3.0);
            let decided = if mark::is_decided(&sentence.text) { 0.8 } else { 0.0 };
            let chars = sentence.text.chars().count();
            let awkward = if chars > 280 {
                0.5
            } else if chars < 12 && own.len() < 3 {
                0.6
            } else {
                0.0
            };
            // An introduction of a list is not what the list says.
            let opens = if sentence.text.ends_with([':', '：']) { 0.9 } else { 0.0 };
            // A pointer to another page says what is there, not what is so.
            let points = if sentence.text.starts_with(['[', '<']) { 0.4 } else { 0.0 };
            // A line of names and paths is a detail of what stands around it.
            let bare = if prose_words(&sentence.text) < 3 { 0.7 } else { 0.0 };
            let leads = if sentence.leads { 0.3 } else { 0.0 };
            leads - points - bare + topic + 1.5 * wish + 0.8 * position + decided + sentence.weight - awkward - opens
        })
        .collect()
}
