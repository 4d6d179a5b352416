//! What there is to summarise: sessions, results, and the prose that the handoff names; as sentences that know where they are from.

use std::collections::BTreeSet;
use std::io;

use brain_role::{
    ContextRefKind, Finding, Handoff, PriorResult, Severity, TaskStatus, Tree, Verdict, WalkLimits, WorkerResult,
};
use unified_diff::shown;

use crate::limits::{
    MAX_FILES_OF_FOLDER, MAX_FINDINGS_OF_RESULT, MAX_GOAL_BYTES, MAX_LABEL_CHARS, MAX_LISTED, MAX_SENTENCES,
    MAX_SOURCE_BYTES, MAX_SOURCES,
};
use crate::mark::{self, Part};
use crate::prose::{self, Lines, Paragraph};
use crate::split;

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The request of this run.
    Request,
    /// An earlier session.
    Thread,
    /// The result of a role of this run.
    Result,
    /// The pack of context.
    Pack,
    /// A file of the project.
    File,
}

/// A sentence of a source.
#[derive(Clone, Debug)]
pub struct Sentence {
    /// Its text, as the source has it but for blanks and masked secrets.
    pub text: String,
    /// Who says it: `session x, librarian`.
    pub from: String,
    /// Which source, in the order in which they were read.
    pub source: usize,
    /// Where it stands in a file of the project.
    pub place: Option<(String, u32)>,
    /// What it is about.
    pub part: Part,
    /// What its kind of place adds to its weight.
    pub weight: f64,
    /// How many sentences of the same speaker come before it.
    pub order: usize,
    /// It is the first below a heading.
    pub leads: bool,
}

/// All that was read.
#[derive(Debug, Default)]
pub struct Sources {
    /// In the order of the sources.
    pub sentences: Vec<Sentence>,
    /// How many sources of each kind gave something.
    pub counts: Vec<(Kind, usize)>,
    /// What was not read, in sentences.
    pub risks: Vec<String>,
    /// Files of the project that were read.
    pub files: Vec<String>,
    read: usize,
    code_blocks: usize,
    table_lines: usize,
    cut_paragraphs: usize,
    dropped: usize,
}

/// Extensions of prose.
const PROSE: &[&str] = &["md", "markdown", "mdx", "txt", "rst", "adoc", "text"];

impl Sources {
    /// Reads what a handoff hands over.
    pub fn new(handoff: &Handoff) -> Self {
        let mut sources = Self::default();
        let context = handoff.context();
        let mut paths: Vec<String> = context_paths(handoff);
        paths.sort_by_key(|path| (order(path), path.clone()));
        for path in paths.iter().filter(|path| path.starts_with("threads/")) {
            let name = path.trim_start_matches("threads/").trim_end_matches(".md");
            sources.text(&context, path, Kind::Thread, &format!("session {}", label(name)));
        }
        for prior in handoff.prior_results() {
            sources.result(&prior);
        }
        if paths.iter().any(|path| path == "pack.md") {
            sources.text(&context, "pack.md", Kind::Pack, "pack");
        }
        let workspace = handoff.workspace();
        for path in named(handoff, &workspace, &mut sources.risks) {
            sources.text(&workspace, &path, Kind::File, &label(&path));
        }
        // The request is what the results answer; of a session or a file it only says what to do with it.
        if sources.counts.iter().any(|(kind, _)| *kind == Kind::Result) {
            sources.request(handoff.goal());
        }
        sources.notes();
        sources
    }

    fn notes(&mut self) {
        let counts = [
            (self.code_blocks, "blocks of code were left out"),
            (self.table_lines, "lines of tables were left out"),
            (self.cut_paragraphs, "paragraphs were cut for their length"),
            (self.dropped, "sentences past the bound were not ranked"),
        ];
        let said = counts.into_iter().filter(|(count, _)| *count > 0);
        let said: Vec<String> = said
            .map(|(count, what)| match count {
                1 => format!(
                    "1 {}",
                    what.replacen("blocks", "block", 1)
                        .replacen("lines", "line", 1)
                        .replacen("paragraphs", "paragraph", 1)
                        .replacen("sentences", "sentence", 1)
                        .replacen("were", "was", 1)
                ),
                count => format!("{count} {what}"),
            })
            .collect();
        self.risks.extend(said);
    }

    fn counted(&mut self, kind: Kind) {
        match self.counts.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((kind, 1)),
        }
        self.read += 1;
    }

    /// Whether one more source may be read; said once when not.
    fn may_read(&mut self) -> bool {
        if self.read < MAX_SOURCES {
            return true;
        }
        let note = format!("only the first {MAX_SOURCES} sources were read");
        if self.risks.last() != Some(&note) {
            self.risks.push(note);
        }
        false
    }

    fn push(&mut self, sentence: Sentence) {
        if self.sentences.len() >= MAX_SENTENCES {
            self.dropped += 1;
        } else if sentence.text.chars().any(char::is_alphanumeric) {
            self.sentences.push(sentence);
        }
    }

    /// Reads a text of Markdown or plain prose.
    fn text(&mut self, tree: &Tree, path: &str, kind: Kind, name: &str) {
        if !self.may_read() {
            return;
        }
        let text = match read(tree, path) {
            Ok((text, false)) => text,
            Ok((text, true)) => {
                self.risks.push(format!("{}: only the first {} KiB were read", label(path), MAX_SOURCE_BYTES / 1024));
                text
            }
            Err(error) => return self.risks.push(format!("not read: {}", shown(&error.to_string()))),
        };
        let thread = kind == Kind::Thread;
        let prose = prose::read(path, &text, |headings| {
            let said = headings
                .iter()
                .skip(1)
                .any(|heading| heading == "Answer" || heading == RECORDS || speaker(heading).is_some());
            if thread && said { Lines::Apart } else { Lines::Joined }
        });
        self.code_blocks += prose.code_blocks;
        self.table_lines += prose.table_lines;
        self.cut_paragraphs += prose.cut;
        let source = self.read;
        self.counted(kind);
        if kind == Kind::File {
            self.files.push(path.to_owned());
        }
        let mut order = 0;
        let mut speaker_before = String::new();
        let mut record = Record { from: name.to_owned(), part: None, skip: 0, repeats: false };
        let (mut headings_before, mut repeats): (&[String], bool) = (&[], false);
        for paragraph in &prose.paragraphs {
            let (mut from, mut part, mut weight) =
                if thread { in_thread(name, paragraph) } else { (name.to_owned(), None, 0.0) };
            let mut said = paragraph.text.as_str();
            if thread && paragraph.headings.get(1).is_some_and(|heading| heading == RECORDS) {
                if let Some(begun) = Record::begins(name, &paragraph.text) {
                    record = begun;
                    said = paragraph.text.get(record.skip..).unwrap_or_default();
                }
                if record.repeats {
                    continue;
                }
                (from, part) = (record.from.clone(), record.part);
            }
            if thread && paragraph.detail && said == paragraph.text {
                weight -= DETAIL;
            }
            // The snapshot's own words about itself.
            if thread && paragraph.headings.len() <= 1 && paragraph.line < 10 {
                continue;
            }
            let mut leads = paragraph.headings != headings_before;
            headings_before = &paragraph.headings;
            // What an answer says of other roles is in their own parts.
            repeats = thread && !leads && (repeats || paragraph.text == "Other roles:");
            if repeats {
                continue;
            }
            if from != speaker_before {
                order = 0;
                speaker_before.clone_from(&from);
            }
            for range in split::sentences(said) {
                let text = said.get(range).unwrap_or_default().to_owned();
                let headings = if thread { &[] } else { paragraph.headings.as_slice() };
                let part = part.unwrap_or_else(|| mark::part(&text, headings, paragraph.ticked));
                let place = (kind == Kind::File).then(|| (path.to_owned(), paragraph.line));
                self.push(Sentence { text, from: from.clone(), source, place, part, weight, order, leads });
                leads = false;
                order += 1;
            }
        }
    }

    fn request(&mut self, goal: &str) {
        let mut end = goal.len().min(MAX_GOAL_BYTES);
        while !goal.is_char_boundary(end) {
            end -= 1;
        }
        let goal = goal.get(..end).unwrap_or_default();
        let source = self.read;
        let prose = prose::read("request.md", goal, |_| Lines::Joined);
        self.counted(Kind::Request);
        for paragraph in prose.paragraphs {
            for (order, range) in split::sentences(&paragraph.text).into_iter().enumerate() {
                let text = paragraph.text.get(range).unwrap_or_default().to_owned();
                self.push(Sentence {
                    text,
                    from: "request".to_owned(),
                    source,
                    place: None,
                    part: Part::Asked,
                    weight: 0.0,
                    order,
                    leads: false,
                });
            }
        }
    }

    fn result(&mut self, prior: &PriorResult) {
        if !self.may_read() {
            return;
        }
        let result = match &prior.result {
            Ok(result) => result,
            Err(error) => return self.risks.push(format!("not read: {}", shown(&error.to_string()))),
        };
        let source = self.read;
        self.counted(Kind::Result);
        let mut said = Said { sources: self, source, from: label(&prior.role), order: 0 };
        said.all(result);
    }
}

/// The sentences of one result.
struct Said<'a> {
    sources: &'a mut Sources,
    source: usize,
    from: String,
    order: usize,
}

impl Said<'_> {
    fn all(&mut self, result: &WorkerResult) {
        let ended = matches!(result.progress.status, TaskStatus::Completed);
        self.add(&result.summary, if ended { None } else { Some(Part::Open) }, 0.6, None);
        if let Some(review) = &result.review {
            let weight = if review.decision == Verdict::Approved { 0.8 } else { 1.2 };
            self.add(&review.rationale, Some(Part::Found), weight, None);
            for text in &review.blocking_issues {
                self.add(text, Some(Part::Open), 1.5, None);
            }
            for text in &review.required_changes {
                self.add(text, Some(Part::Next), 1.2, None);
            }
            for text in &review.residual_risks {
                self.add(text, Some(Part::Open), 0.2, None);
            }
        }
        let mut findings: Vec<&Finding> = result.findings.iter().collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        for finding in findings.iter().take(MAX_FINDINGS_OF_RESULT) {
            let place = finding.file.as_ref().map(|file| (file.clone(), finding.line.unwrap_or(0)));
            let weight = match finding.severity {
                Severity::High => 1.5,
                Severity::Medium => 0.8,
                Severity::Low => 0.0,
            };
            self.add(&finding.issue, Some(Part::Found), weight, place.clone());
            if let Some(text) = finding.suggestion.as_deref().filter(|_| finding.severity != Severity::Low) {
                self.add(text, Some(Part::Next), weight / 2.0, place);
            }
        }
        let more = findings.len().saturating_sub(MAX_FINDINGS_OF_RESULT);
        if more > 0 {
            self.sources.risks.push(format!(
                "{more} findings of {} past the worst {MAX_FINDINGS_OF_RESULT} were not looked at",
                self.from
            ));
        }
        for text in &result.next_questions {
            self.add(text, Some(Part::Open), 0.6, None);
        }
        for text in &result.risks {
            self.add(text, Some(Part::Open), 0.1, None);
        }
    }

    fn add(&mut self, text: &str, part: Option<Part>, weight: f64, place: Option<(String, u32)>) {
        let mut end = text.len().min(MAX_SOURCE_BYTES as usize);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let prose = prose::read("result.md", text.get(..end).unwrap_or_default(), |_| Lines::Apart);
        self.sources.code_blocks += prose.code_blocks;
        self.sources.table_lines += prose.table_lines;
        for paragraph in prose.paragraphs {
            // What other roles said is in their own results.
            if paragraph.text.starts_with("Other roles:") {
                break;
            }
            for range in split::sentences(&paragraph.text) {
                let text = paragraph.text.get(range).unwrap_or_default().to_owned();
                let part = part.unwrap_or_else(|| mark::part(&text, &[], paragraph.ticked));
                let weight = if paragraph.detail { weight - DETAIL } else { weight };
                let sentence = Sentence {
                    text,
                    from: self.from.clone(),
                    source: self.source,
                    place: place.clone(),
                    part,
                    weight,
                    order: self.order,
                    leads: false,
                };
                self.sources.push(sentence);
                self.order += 1;
            }
        }
    }
}

/// `librarian` of the heading `librarian (completed)`.
fn speaker(heading: &str) -> Option<&str> {
    let (name, status) = heading.split_once(" (")?;
    let known = ["completed)", "failed)", "blocked)", "unfinished)", "running)", "pending)"].contains(&status);
    (known && !name.is_empty() && !name.contains(' ')).then_some(name)
}

/// The section of a session's snapshot that has one item for each record.
const RECORDS: &str = "Records";
/// What a detail of a list weighs less than what it belongs to.
const DETAIL: f64 = 0.8;

/// One record of a session's snapshot, as its first line has it.
struct Record {
    from: String,
    part: Option<Part>,
    /// Bytes before what is said.
    skip: usize,
    /// It tells again what another record tells: a task, the end of a run.
    repeats: bool,
}

impl Record {
    /// The record that a line begins; none where it goes on.
    fn begins(name: &str, line: &str) -> Option<Self> {
        let after = |mark: &str| line.find(mark).map(|at| at + mark.len());
        let failed = after("; error: ");
        let own = |part: Option<Part>, skip: usize| Self { from: name.to_owned(), part, skip, repeats: false };
        if let Some(rest) = line.strip_prefix("worker ") {
            let (role, phase) = rest.split_once(" (")?;
            if role.contains(' ') || !phase.contains(") ") {
                return None;
            }
            let skip = failed.or(after("; summary: "));
            let from = format!("{name}, {}", label(role));
            let part = failed.map(|_| Part::Open);
            return Some(Self { from, part, skip: skip.unwrap_or(line.len()), repeats: false });
        }
        let task = ["todo ", "run "].iter().any(|kind| line.starts_with(kind)) && line.contains([':', ';']);
        if task {
            return Some(Self { repeats: failed.is_none(), ..own(failed.map(|_| Part::Open), failed.unwrap_or(0)) });
        }
        if line.starts_with("error: ") {
            return Some(own(Some(Part::Open), 0));
        }
        let whole = ["review approved", "review changes requested", "review blocked", "checks ", "handoff brief"];
        whole.iter().any(|kind| line.starts_with(kind)).then(|| own(Some(Part::Found), 0))
    }
}

/// Who speaks in a session's snapshot, and about what.
fn in_thread(name: &str, paragraph: &Paragraph) -> (String, Option<Part>, f64) {
    match paragraph.headings.get(1).map(String::as_str) {
        Some("Request" | "Latest request") => (name.to_owned(), Some(Part::Asked), 0.0),
        Some("Answer") => match paragraph.headings.get(2).and_then(|heading| speaker(heading)) {
            Some(role) => (format!("{name}, {}", label(role)), None, 0.2),
            None if paragraph.text.starts_with("error: ") => (name.to_owned(), Some(Part::Open), 1.0),
            None => (name.to_owned(), None, 0.8),
        },
        Some(_) => match paragraph.headings.iter().find_map(|heading| speaker(heading)) {
            Some(role) => (format!("{name}, {}", label(role)), None, 0.2),
            None => (name.to_owned(), None, 0.2),
        },
        None => (name.to_owned(), None, 0.0),
    }
}

fn read(tree: &Tree, path: &str) -> io::Result<(String, bool)> {
    let (bytes, more) = tree.head(path, MAX_SOURCE_BYTES)?;
    if bytes.iter().take(8 * 1024).any(|byte| *byte == 0) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{}: no text", tree.guest_path(path))));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // A character that the bound cut in two is none.
    let text = if more { text.trim_end_matches('\u{fffd}').to_owned() } else { text };
    Ok((text.trim_start_matches('\u{feff}').replace("\r\n", "\n"), more))
}

/// A name in a sentence: one line, cut.
fn label(name: &str) -> String {
    let shown = shown(name);
    match shown.char_indices().nth(MAX_LABEL_CHARS) {
        Some((at, _)) => format!("{}…", shown.get(..at).unwrap_or_default()),
        None => shown,
    }
}

/// Paths below `/context` that the handoff refers to.
fn context_paths(handoff: &Handoff) -> Vec<String> {
    let paths = handoff.refs().iter().filter_map(|reference| reference.uri.strip_prefix("/context/"));
    let all: BTreeSet<String> = paths.map(str::to_owned).collect();
    all.into_iter().filter(|path| !path.contains("..")).collect()
}

fn order(path: &str) -> u8 {
    u8::from(!path.starts_with("threads/"))
}

fn is_prose(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, extension)) => !stem.is_empty() && PROSE.contains(&extension.to_ascii_lowercase().as_str()),
        None => matches!(
            name.to_ascii_lowercase().as_str(),
            "readme" | "notice" | "changelog" | "authors" | "todo" | "notes"
        ),
    }
}

/// Files of prose that the handoff names: by reference, or written out in the request. Of a folder, the prose below it.
fn named(handoff: &Handoff, tree: &Tree, risks: &mut Vec<String>) -> Vec<String> {
    let mut wanted: Vec<String> = handoff
        .refs_of(ContextRefKind::File)
        .filter_map(|reference| reference.uri.strip_prefix("/workspace/"))
        .map(|path| path.trim_matches('/').to_owned())
        .filter(|path| !path.is_empty())
        .collect();
    let referred = !wanted.is_empty();
    if !referred {
        wanted.extend(written_out(handoff.goal(), tree));
    }
    let mut files: Vec<String> = Vec::new();
    let mut other = Vec::new();
    for path in wanted.into_iter().take(MAX_SOURCES) {
        if tree.path(&path).is_dir() {
            files.extend(below(tree, &path, risks));
        } else if is_prose(&path) {
            files.push(path);
        } else {
            other.push(label(&path));
        }
    }
    if !other.is_empty() {
        other.truncate(5);
        risks.push(format!("no prose, and so not summarised: {}", other.join(", ")));
    }
    let mut seen = BTreeSet::new();
    files.retain(|path| seen.insert(path.clone()));
    files
}

/// Paths of prose in a request that open, and the README when it speaks of one.
fn written_out(goal: &str, tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for piece in goal
        .split(|c: char| c.is_whitespace() || matches!(c, '，' | '。' | '、' | '“' | '”' | '"' | '`' | '(' | ')'))
        .take(MAX_SOURCES * 16)
    {
        let piece =
            piece.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '.')).trim_end_matches('.');
        let path = piece.trim_start_matches("./");
        if path.eq_ignore_ascii_case("readme") {
            found.extend(
                ["README.md", "README", "README.txt", "README.rst"]
                    .into_iter()
                    .find(|name| tree.exists(name))
                    .map(str::to_owned),
            );
        } else if is_prose(path) && path.len() > 3 && tree.exists(path) && found.len() < MAX_SOURCES {
            found.push(path.to_owned());
        }
    }
    found
}

fn below(tree: &Tree, folder: &str, risks: &mut Vec<String>) -> Vec<String> {
    let walk = tree.walk(&WalkLimits { max_files: MAX_LISTED, ..WalkLimits::default() });
    if walk.truncated {
        risks.push(format!("not all files were listed, so that prose below {} may be missing", label(folder)));
    }
    let inside = format!("{folder}/");
    let files: Vec<String> = walk
        .files
        .into_iter()
        .map(|file| file.path)
        .filter(|path| path.starts_with(&inside) && is_prose(path))
        .collect();
    if files.len() > MAX_FILES_OF_FOLDER {
        risks.push(format!(
            "only {MAX_FILES_OF_FOLDER} of {} files of prose below {} were read",
            files.len(),
            label(folder)
        ));
    }
    files.into_iter().take(MAX_FILES_OF_FOLDER).collect()
}
