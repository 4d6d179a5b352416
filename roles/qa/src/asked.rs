//! What the words of a request ask for.

use code_map::{language, words};

use crate::limits::{MAX_GOAL_WORDS, MAX_NAMED_FILES};
use crate::project::Project;

/// What the words of a goal ask for.
#[derive(Debug, Default)]
pub struct Asked<'a> {
    /// It speaks of a change.
    pub change: bool,
    /// It speaks of all there is.
    pub whole: bool,
    /// Words that may name code, as written.
    pub words: Vec<&'a str>,
    /// Pieces between blanks, for paths.
    pieces: Vec<&'a str>,
}

/// Words that say nothing of which code is meant.
const STOP: &[&str] = &[
    "a",
    "about",
    "add",
    "after",
    "again",
    "all",
    "an",
    "and",
    "any",
    "anything",
    "api",
    "are",
    "as",
    "assert",
    "assertion",
    "assertions",
    "at",
    "be",
    "been",
    "before",
    "by",
    "can",
    "case",
    "cases",
    "check",
    "checked",
    "class",
    "classes",
    "code",
    "command",
    "commands",
    "could",
    "cover",
    "coverage",
    "covered",
    "covers",
    "define",
    "defined",
    "definition",
    "did",
    "disabled",
    "do",
    "does",
    "done",
    "each",
    "enough",
    "every",
    "everything",
    "exact",
    "exactly",
    "exist",
    "exists",
    "explain",
    "file",
    "files",
    "find",
    "fix",
    "flaky",
    "focused",
    "for",
    "from",
    "function",
    "functions",
    "gap",
    "gaps",
    "get",
    "give",
    "good",
    "has",
    "have",
    "help",
    "how",
    "i",
    "if",
    "ignored",
    "implemented",
    "in",
    "integration",
    "into",
    "is",
    "it",
    "item",
    "items",
    "its",
    "list",
    "locate",
    "look",
    "me",
    "method",
    "methods",
    "miss",
    "missing",
    "module",
    "modules",
    "my",
    "need",
    "needs",
    "no",
    "not",
    "of",
    "on",
    "or",
    "our",
    "part",
    "plan",
    "please",
    "project",
    "public",
    "qa",
    "quality",
    "assurance",
    "regression",
    "relevant",
    "repo",
    "repository",
    "run",
    "running",
    "say",
    "see",
    "should",
    "show",
    "skipped",
    "so",
    "some",
    "suite",
    "tell",
    "test",
    "tested",
    "testing",
    "tests",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "this",
    "those",
    "to",
    "unit",
    "untested",
    "use",
    "used",
    "verify",
    "was",
    "we",
    "well",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "who",
    "whole",
    "why",
    "will",
    "with",
    "without",
    "would",
    "write",
    "you",
    "your",
    "codebase",
    "entire",
    "everywhere",
    "overall",
];
const CHANGE: &[&str] =
    &["change", "changes", "changed", "diff", "patch", "pr", "commit", "commits", "uncommitted", "pending", "branch"];
const CHANGE_UNSPACED: &[&str] = &["改动", "变更", "修改", "提交", "更改"];
const WHOLE: &[&str] =
    &["project", "repository", "repo", "codebase", "entire", "whole", "everywhere", "overall", "everything"];
const WHOLE_UNSPACED: &[&str] = &["整个", "项目", "全部", "所有", "仓库"];

impl<'a> Asked<'a> {
    /// Reads a goal.
    pub fn new(goal: &'a str) -> Self {
        let mut asked = Self { pieces: goal.split_whitespace().collect(), ..Self::default() };
        let any = |words: &[&str]| words.iter().any(|word| goal.contains(word));
        asked.change = any(CHANGE_UNSPACED) || goal.to_lowercase().contains("pull request");
        asked.whole = any(WHOLE_UNSPACED);
        words::scan(goal, |_, run| {
            // `session代码有测试吗` has one word that could name code.
            for word in run.split(|c: char| !c.is_ascii()).filter(|word| !word.is_empty()) {
                let lower = word.to_lowercase();
                asked.change |= CHANGE.contains(&lower.as_str());
                asked.whole |= WHOLE.contains(&lower.as_str());
                let says = word.len() >= 2 && !STOP.contains(&lower.as_str()) && !CHANGE.contains(&lower.as_str());
                if says && asked.words.len() < MAX_GOAL_WORDS && !asked.words.contains(&word) {
                    asked.words.push(word);
                }
            }
        });
        asked
    }

    /// Files and folders that the goal writes out: `src/app.py`, `session.rs`.
    pub fn paths(&self, project: &Project) -> Vec<String> {
        let mut found = Vec::new();
        for piece in &self.pieces {
            let piece = piece.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '/' | '.'));
            let piece = piece.trim_start_matches("./").trim_end_matches(['.', '/']);
            let is_path = piece.contains('/') || (piece.contains('.') && language::of(piece).name != "Other");
            if !is_path || found.len() >= MAX_NAMED_FILES {
                continue;
            }
            let ends = format!("/{piece}");
            let inside = format!("{piece}/");
            if project.files.iter().any(|file| file.path.starts_with(&inside)) {
                found.push(piece.to_owned());
                continue;
            }
            let hits = project.files.iter().filter(|file| file.path == piece || file.path.ends_with(&ends));
            found.extend(hits.take(MAX_NAMED_FILES).map(|file| file.path.clone()));
        }
        found
    }
}
