//! What the goal asks for: words, identifiers, paths, and what kind of answer.

use std::collections::HashMap;

use crate::limits::{MAX_GOAL_BYTES, MAX_QUERY_WORDS, MAX_THREAD_BYTES};
use crate::words;

/// How much a word that only means nearly the same counts.
const RELATED_WEIGHT: f32 = 0.35;

/// How much a word of an earlier session's request counts.
pub(crate) const EARLIER_WEIGHT: f32 = 0.3;

/// How much a part of an identifier counts that the goal names whole.
const PART_WEIGHT: f32 = 0.6;

/// A word of the goal, with all stems that stand for it.
#[derive(Clone, Debug)]
pub struct Word {
    /// As the goal has it, in small letters.
    pub text: String,
    /// How much it counts beside the other words, 0 to 1.
    pub weight: f32,
}

/// A set of pairs of bytes.
#[derive(Debug)]
struct Starts(Vec<u64>);

impl Default for Starts {
    fn default() -> Self {
        Self(vec![0; (1 << 16) / 64])
    }
}

impl Starts {
    /// The pair that a word begins with, as if it were in small letters.
    fn of(word: &str) -> Option<usize> {
        let bytes = word.as_bytes();
        let first = bytes.first()?.to_ascii_lowercase();
        let second = bytes.get(1).map_or(0, u8::to_ascii_lowercase);
        Some(usize::from(u16::from_be_bytes([first, second])))
    }

    fn insert(&mut self, word: &str) {
        if let Some(pair) = Self::of(word) {
            self.0[pair / 64] |= 1 << (pair % 64);
        }
    }

    /// `true` also for a word outside ASCII, whose small letters may begin with other bytes.
    fn may_have(&self, word: &str) -> bool {
        Self::of(word).is_some_and(|pair| self.0[pair / 64] & (1 << (pair % 64)) != 0 || !word.is_ascii())
    }
}

/// What is known of earlier sessions.
#[derive(Debug, Default)]
pub struct Earlier {
    /// How many were read.
    pub sessions: usize,
    /// Files that their answers name.
    pub paths: Vec<String>,
}

/// A goal, ready to be compared with a tree.
#[derive(Debug, Default)]
pub struct Query {
    /// The words that are searched for, at most [`MAX_QUERY_WORDS`].
    pub words: Vec<Word>,
    /// From a stem to the word it stands for and how much it counts for it.
    stems: HashMap<String, (u8, f32)>,
    /// First two bytes of all stems, so that most words of a tree are dismissed without a stem being made.
    starts: Starts,
    /// Identifiers that the goal names as such: `Journal::append`, `read_text`. Each is its last part and what stands before it.
    pub identifiers: Vec<(String, Option<String>)>,
    /// Paths or file names that the goal names.
    pub paths: Vec<String>,
    /// Words of the goal that mean nothing in a search and may be the name of a definition: "where is define implemented". After the
    /// survey, those that are one.
    pub names: Vec<String>,
    /// What the sessions that the goal goes on from add.
    pub earlier: Earlier,
    /// Whether it asks for an overview and for nothing else.
    pub overview: bool,
    /// Whether it asks about tests.
    pub tests: bool,
    /// Whether it asks where the program starts.
    pub entry: bool,
    /// Whether it asks how the project is built, run, released or deployed.
    pub build: bool,
    /// Whether it asks about documentation.
    pub docs: bool,
    /// How many words were left out because of [`MAX_QUERY_WORDS`], and whether the goal was cut at [`MAX_GOAL_BYTES`].
    pub left_out: (usize, bool),
}

/// Words that carry no meaning for a search: English function words, question words, and verbs of asking.
const STOP: &[&str] = &[
    "a",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "both",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "done",
    "each",
    "for",
    "from",
    "get",
    "gets",
    "give",
    "had",
    "has",
    "have",
    "having",
    "here",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "isn",
    "it",
    "its",
    "just",
    "let",
    "like",
    "ll",
    "make",
    "makes",
    "made",
    "may",
    "me",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "need",
    "needs",
    "no",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "our",
    "out",
    "over",
    "own",
    "please",
    "re",
    "same",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "up",
    "us",
    "ve",
    "very",
    "want",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "yours",
    "don",
    "doesn",
    "didn",
    "s",
    "t",
    "d",
    "m",
    "after",
    "before",
    "about",
    "happen",
    "happens",
    "also",
    "all",
    // what one asks a librarian to do, and what one calls the thing it looks through
    "find",
    "finds",
    "found",
    "locate",
    "located",
    "show",
    "shows",
    "tell",
    "explain",
    "describe",
    "list",
    "look",
    "looks",
    "see",
    "search",
    "know",
    "understand",
    "give",
    "help",
    "code",
    "codebase",
    "repo",
    "repository",
    "project",
    "file",
    "files",
    "source",
    "place",
    "places",
    "part",
    "parts",
    "thing",
    "things",
    "used",
    "uses",
    "use",
    "using",
    "work",
    "works",
    "working",
    "implemented",
    "implement",
    "implements",
    "implementation",
    "defined",
    "define",
    "definition",
    "relevant",
    "responsible",
    "involved",
    "go",
    "goes",
    "come",
    "comes",
    "exactly",
    "actually",
    "currently",
    "overview",
    "map",
    "structure",
    "summary",
    "summarize",
    "summarise",
    "way",
    "add",
    "change",
    "changes",
    "new",
];

/// Those of [`STOP`] that are never taken for a name: what every sentence has, and what one calls the whole.
const FRAME: &[&str] = &[
    "a",
    "an",
    "the",
    "is",
    "isn",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "it",
    "its",
    "this",
    "that",
    "these",
    "those",
    "i",
    "me",
    "my",
    "we",
    "us",
    "our",
    "you",
    "your",
    "yours",
    "she",
    "they",
    "them",
    "their",
    "to",
    "of",
    "in",
    "on",
    "at",
    "by",
    "for",
    "from",
    "with",
    "into",
    "as",
    "and",
    "or",
    "but",
    "if",
    "so",
    "not",
    "no",
    "do",
    "does",
    "did",
    "don",
    "doesn",
    "didn",
    "can",
    "could",
    "should",
    "would",
    "will",
    "shall",
    "may",
    "might",
    "must",
    "ll",
    "re",
    "ve",
    "please",
    "here",
    "there",
    "than",
    "too",
    "very",
    "just",
    "only",
    "also",
    "both",
    "each",
    "any",
    "some",
    "such",
    "more",
    "most",
    "much",
    "other",
    "same",
    "own",
    "has",
    "have",
    "had",
    "having",
    "about",
    "code",
    "codebase",
    "repo",
    "repository",
    "project",
    "file",
    "files",
    "source",
    "thing",
    "things",
    "way",
    "place",
    "places",
    "part",
    "parts",
];

/// Words that ask for an overview.
const OVERVIEW: &[&str] = &[
    "overview",
    "architecture",
    "structure",
    "structured",
    "layout",
    "organised",
    "organized",
    "organisation",
    "organization",
    "tour",
    "summary",
    "summarize",
    "summarise",
];
/// Words that go with them and name nothing to look for.
const AROUND_OVERVIEW: &[&str] = &[
    "high",
    "level",
    "big",
    "picture",
    "main",
    "general",
    "short",
    "brief",
    "quick",
    "component",
    "components",
    "module",
    "modules",
    "app",
    "application",
    "program",
    "system",
    "software",
    "crate",
    "package",
    "library",
    "whole",
    "entire",
    "folder",
    "folders",
    "directory",
    "directories",
];

/// Words that ask about tests.
const TESTS: &[&str] = &["test", "tests", "tested", "testing", "untested", "covered", "coverage", "spec", "specs"];
const ENTRY: &[&str] = &["entry", "entrypoint", "main", "start", "starts", "begin", "begins", "bootstrap"];
const BUILD: &[&str] = &[
    "build",
    "builds",
    "built",
    "ci",
    "pipeline",
    "deploy",
    "deploys",
    "deployed",
    "deployment",
    "release",
    "released",
    "install",
    "makefile",
    "compile",
    "compiled",
];
const DOCS: &[&str] = &["docs", "doc", "documentation", "documented", "readme", "guide", "tutorial", "architecture"];

/// Groups of words that stand for nearly the same in programs. Each finds the others, at [`RELATED_WEIGHT`].
const RELATED: &[&[&str]] = &[
    &["write", "append", "save", "store", "persist", "flush", "record", "emit"],
    &["read", "load", "open", "fetch"],
    &["delete", "remove", "drop", "erase", "unlink"],
    &["create", "build", "construct", "init", "make"],
    &["config", "configuration", "setting", "option", "preference"],
    &["auth", "authenticate", "authentication", "login", "signin", "credential"],
    &["authorize", "authorization", "permission", "grant", "policy"],
    &["error", "failure", "exception", "fault"],
    &["limit", "bound", "cap", "quota", "budget", "max"],
    &["timeout", "deadline"],
    &["kill", "cancel", "abort", "terminate", "stop", "interrupt"],
    &["log", "journal", "audit"],
    &["send", "post", "publish", "dispatch"],
    &["receive", "consume", "subscribe"],
    &["parse", "decode", "deserialize", "unmarshal"],
    &["serialize", "encode", "marshal"],
    &["validate", "check", "verify"],
    &["route", "router", "routing", "endpoint", "handler"],
    &["database", "db", "sql", "schema", "migration"],
    &["cache", "memoize"],
    &["secret", "credential", "password", "token", "key"],
    &["run", "execute", "exec", "invoke"],
    &["print", "render", "display", "format", "report"],
    &["choose", "select", "pick", "route"],
    &["command", "cli", "arg", "flag"],
    &["environment", "env"],
    &["directory", "folder", "dir"],
    &["test", "spec"],
];

/// Irregular forms, and the form they are looked up under.
const IRREGULAR: &[(&str, &str)] = &[
    ("written", "write"),
    ("wrote", "write"),
    ("sent", "send"),
    ("built", "build"),
    ("chosen", "choose"),
    ("ran", "run"),
    ("kept", "keep"),
    ("held", "hold"),
    ("stored", "store"),
    ("read", "read"),
    ("began", "begin"),
    ("broken", "break"),
    ("hidden", "hide"),
    ("thrown", "throw"),
    ("drawn", "draw"),
    ("caught", "catch"),
    ("given", "grant"),
    ("bound", "bind"),
    ("lost", "lose"),
    ("chose", "choose"),
    ("threw", "throw"),
    ("mapped", "map"),
    ("tests", "test"),
    ("tested", "test"),
];

impl Query {
    /// Reads a goal. Whatever the text, the answer is bounded.
    pub fn new(goal: &str) -> Self {
        let mut query = Self::default();
        let mut end = goal.len().min(MAX_GOAL_BYTES);
        while !goal.is_char_boundary(end) {
            end -= 1;
        }
        query.left_out.1 = end < goal.len();
        let goal = &goal[..end];
        for chunk in goal.split_whitespace() {
            query.chunk(chunk);
        }
        query.names(goal);
        query.overview = query.asks_overview(goal);
        if query.overview {
            query.names.clear();
        }
        query
    }

    /// Collects [`Query::names`]. The first word of a sentence is how one asks.
    fn names(&mut self, goal: &str) {
        let plain = goal.split_whitespace().filter(|word| !word.contains('@'));
        let mut words = plain.map(|word| word.trim_matches(|c: char| !is_identifier(c))).peekable();
        let first = words.next().filter(|_| words.peek().is_none());
        for word in first.into_iter().chain(words) {
            let plain = word.to_lowercase();
            let may_be = STOP.contains(&plain.as_str()) && plain.len() > 1 && !FRAME.contains(&plain.as_str());
            if may_be && self.names.len() < MAX_QUERY_WORDS && !self.names.iter().any(|known| known == word) {
                self.names.push(word.to_owned());
            }
        }
    }

    fn asks_overview(&self, goal: &str) -> bool {
        let lower = goal.to_lowercase();
        let mut words = lower.split(|c: char| !is_identifier(c)).filter(|word| !word.is_empty());
        let place = lower.trim_start();
        !(place.starts_with("where") || place.starts_with("which"))
            && words.any(|word| OVERVIEW.contains(&word))
            && self.identifiers.is_empty()
            && self.paths.is_empty()
            && self
                .words
                .iter()
                .all(|word| OVERVIEW.contains(&word.text.as_str()) || AROUND_OVERVIEW.contains(&word.text.as_str()))
    }

    /// How many words are the goal's own, and not parts of a path or identifier or of an earlier session.
    pub fn own_words(&self) -> usize {
        self.words.iter().filter(|word| word.weight >= 1.0).count()
    }

    /// Keeps of [`Query::names`] those that are the name of a definition.
    pub fn keep_names(&mut self, is_name: impl Fn(&str) -> bool) {
        self.names.retain(|name| is_name(name));
    }

    /// Takes an earlier session into account, as Brain writes it out: the words of its requests and the files of its answers, the last
    /// first. What the goal itself asks for does not change.
    pub fn earlier(&mut self, thread: &str) {
        self.earlier.sessions += 1;
        let asks = (self.tests, self.entry, self.build, self.docs, self.left_out);
        let mut end = thread.len().min(MAX_THREAD_BYTES);
        while !thread.is_char_boundary(end) {
            end -= 1;
        }
        let mut sections: Vec<(bool, Vec<&str>)> = Vec::new();
        let mut inside = false;
        for line in thread[..end].lines() {
            if line.starts_with('#') {
                let title = line.trim();
                inside = matches!(title, "## Request" | "## Answer");
                if inside {
                    sections.push((title == "## Request", Vec::new()));
                }
            } else if inside && let Some((_, lines)) = sections.last_mut() {
                lines.push(line);
            }
        }
        for (request, lines) in sections.iter().rev() {
            for chunk in lines.iter().flat_map(|line| line.split_whitespace()) {
                if *request {
                    if !chunk.contains('@') {
                        self.words_of(chunk, EARLIER_WEIGHT);
                    }
                    continue;
                }
                let path = chunk.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '.'));
                let path = path.split(':').next().unwrap_or(path).trim_end_matches('.');
                let path = path.trim_start_matches("./").trim_start_matches("/workspace/");
                if is_file_name(crate::language::file_name(path))
                    && self.earlier.paths.len() < MAX_QUERY_WORDS
                    && !self.earlier.paths.iter().any(|known| known == path)
                {
                    self.earlier.paths.push(path.to_owned());
                }
            }
        }
        (self.tests, self.entry, self.build, self.docs, self.left_out) = asks;
    }

    /// Whether there is anything to search for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
            && self.identifiers.is_empty()
            && self.paths.is_empty()
            && self.names.is_empty()
            && self.earlier.paths.is_empty()
    }

    /// The word that a part of an identifier stands for, and how much it counts for it.
    pub fn find(&self, part: &str) -> Option<(usize, f32)> {
        if !self.starts.may_have(part) {
            return None;
        }
        self.stems.get(&words::stem(part)).map(|(word, weight)| (usize::from(*word), *weight))
    }

    /// One piece between spaces: a path, an identifier, or words.
    fn chunk(&mut self, chunk: &str) {
        let chunk =
            chunk.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '.' | '@' | ':' | '(' | ')'));
        let chunk = chunk.trim_end_matches(['.', ':', ',', '?', '!']);
        // A reference, to a file or to a session: what it names comes with the handoff, and its parts are no words of the goal.
        if let Some(name) = chunk.trim_start_matches('(').strip_prefix('@') {
            let name = name.trim_end_matches(')');
            if !name.starts_with('@') && (name.contains('/') || is_file_name(name)) {
                self.paths.push(name.trim_start_matches("./").trim_start_matches("/workspace/").to_owned());
            }
            return;
        }
        let bare = chunk.trim_end_matches("()");
        if bare.contains("://") {
            return self.words_of(bare, 1.0);
        }
        if bare.contains('/') || is_file_name(bare) {
            self.paths.push(bare.trim_start_matches("./").trim_start_matches("/workspace/").to_owned());
            return self.words_of(bare, PART_WEIGHT);
        }
        let name = bare.rsplit(|c: char| !is_identifier(c)).next().unwrap_or("");
        if looks_like_identifier(bare, chunk) && !name.is_empty() {
            let before = &bare[..bare.len() - name.len()];
            let container = before.split(|c: char| !is_identifier(c)).rfind(|part| !part.is_empty());
            self.identifiers.push((name.to_owned(), container.map(str::to_owned)));
            return self.words_of(bare, PART_WEIGHT);
        }
        self.words_of(bare, 1.0);
    }

    fn words_of(&mut self, text: &str, weight: f32) {
        let mut found = Vec::new();
        words::scan(text, |_, word| words::parts(word, |part| found.push(part.to_lowercase())));
        for word in found {
            let plain = word.as_str();
            if TESTS.contains(&plain) {
                // Where the tests are is answered on its own; every test file has the word.
                self.tests = true;
                continue;
            }
            self.entry |= ENTRY.contains(&plain);
            self.build |= BUILD.contains(&plain);
            self.docs |= DOCS.contains(&plain);
            if STOP.contains(&plain) || (plain.len() < 2 && plain.is_ascii()) {
                continue;
            }
            self.word(word, weight);
        }
    }

    fn word(&mut self, text: String, weight: f32) {
        let base = IRREGULAR.iter().find(|(form, _)| *form == text).map_or(text.as_str(), |(_, base)| base);
        let stem = words::stem(base);
        if let Some((index, own)) = self.stems.get(&stem).copied()
            && own == 1.0
        {
            let known = &mut self.words[usize::from(index)].weight;
            *known = known.max(weight);
            return;
        }
        if self.words.len() >= MAX_QUERY_WORDS {
            self.left_out.0 += 1;
            return;
        }
        // MAX_QUERY_WORDS keeps the index within a byte.
        let index = self.words.len() as u8;
        let written = words::stem(&text);
        for own in [&stem, &written] {
            self.starts.insert(own);
            self.stems.insert(own.clone(), (index, 1.0));
        }
        for group in RELATED {
            if !group.iter().any(|word| words::stem(word) == stem) {
                continue;
            }
            for word in *group {
                let related = words::stem(word);
                self.starts.insert(&related);
                self.stems.entry(related).or_insert((index, RELATED_WEIGHT));
            }
        }
        self.words.push(Word { text, weight });
    }
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn is_file_name(text: &str) -> bool {
    let Some((stem, extension)) = text.rsplit_once('.') else { return false };
    !stem.is_empty() && !text.contains('(') && crate::language::of(text).name != "Other" && extension.len() <= 12
}

/// Marks that prose does not have: `::`, `_`, a dot between names, brackets of a call, a capital inside a word.
fn looks_like_identifier(bare: &str, chunk: &str) -> bool {
    if bare.is_empty() || !bare.chars().any(char::is_alphabetic) {
        return false;
    }
    let mut small = false;
    let camel = bare.chars().any(|c| {
        let inner = small && c.is_uppercase();
        small = c.is_lowercase();
        inner
    });
    bare.len() < chunk.len()
        || bare.contains("::")
        || bare.contains('_')
        || camel
        || bare.trim_matches('.').contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(query: &Query) -> Vec<&str> {
        query.words.iter().map(|word| word.text.as_str()).collect()
    }

    #[test]
    fn a_question_is_left_with_its_words() {
        let query = Query::new("Where is the session journal written and is it tested?");
        assert_eq!(texts(&query), ["session", "journal", "written"]);
        assert!(query.tests);
        let (write, weight) = query.find("Writer").expect("writer");
        assert_eq!((query.words[write].text.as_str(), weight), ("written", 1.0));
        assert!(query.find("append").is_some_and(|(word, weight)| word == write && weight < 1.0));
        assert!(query.find("banana").is_none());
    }

    #[test]
    fn identifiers_and_paths_are_kept_whole() {
        let query = Query::new("what calls `Journal::append` and parse_args() in src/main.rs or Cargo.toml?");
        let names: Vec<_> =
            query.identifiers.iter().map(|(name, container)| (name.as_str(), container.as_deref())).collect();
        assert_eq!(names, [("append", Some("Journal")), ("parse_args", None)]);
        assert_eq!(query.paths, ["src/main.rs", "Cargo.toml"]);
    }

    #[test]
    fn a_question_without_content_is_empty() {
        for goal in ["", "what is this?", "Explain the code", "? ! .. :: () /"] {
            let query = Query::new(goal);
            assert!(query.words.is_empty() && query.identifiers.is_empty(), "{goal}: {query:?}");
        }
    }

    #[test]
    fn a_goal_of_any_length_is_bounded() {
        let mut goal = String::new();
        for n in 0..10_000 {
            goal.push_str(&format!("word{n} é "));
        }
        let query = Query::new(&goal);
        assert_eq!(query.words.len(), MAX_QUERY_WORDS);
        assert!(query.left_out.0 > 0 && query.left_out.1);
    }
}
