//! Dangerous calls, by language.
//!
//! A rule names a word of code; one automaton per language finds all words in the code of a file, in which comments and strings are
//! blank. The rule's judge then looks at the call around the word: a constant argument is harmless, one that is put together from
//! parts is worse than one that is passed on.

mod java;
mod javascript;
mod php;
mod python;
mod ruby;
pub(crate) mod shell;
mod sql;
mod systems;

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use brain_role::Severity;

use crate::language::Language;
use crate::limits::MAX_RAW_PER_FILE;
use crate::source::{Source, is_name};
use file_findings::{Evidence, Issue};

/// A word that may be dangerous, and who decides.
pub(crate) struct Rule {
    rule: &'static str,
    /// The word; a `.` or `::` inside belongs to it.
    word: &'static str,
    judge: fn(&Site<'_>) -> Option<Severity>,
    text: &'static str,
    fix: &'static str,
}

/// The place where a rule's word stands.
pub(crate) struct Site<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) at: Range<usize>,
}

/// Names that say that text came from outside.
const OUTSIDE: &[&str] = &[
    "request",
    "req",
    "input",
    "argv",
    "params",
    "query",
    "body",
    "cookies",
    "headers",
    "form",
    "GET",
    "POST",
    "args",
    "stdin",
    "user_input",
    "userInput",
    "getParameter",
    "FormValue",
    "payload",
    "_GET",
    "_POST",
    "_REQUEST",
    "_COOKIE",
    "location",
];

/// Names beside a random number or a digest that make it one for security.
const SENSITIVE: &[&str] = &[
    "token",
    "password",
    "passwd",
    "secret",
    "nonce",
    "otp",
    "salt",
    "session",
    "csrf",
    "apikey",
    "api_key",
    "resetcode",
    "verification",
];

impl<'a> Site<'a> {
    fn before(&self) -> u8 {
        self.source.code.as_bytes()[..self.at.start]
            .iter()
            .rev()
            .take(64)
            .copied()
            .find(|b| !b.is_ascii_whitespace())
            .unwrap_or(0)
    }

    fn after(&self) -> &str {
        self.source.code(self.at.end..self.source.code.len()).trim_start()
    }

    /// Called on something: `x.eval(…)`.
    fn is_method(&self) -> bool {
        matches!(self.before(), b'.' | b'>')
            && (self.before() == b'.' || self.source.code(self.at.start.saturating_sub(2)..self.at.start) == "->")
    }

    /// The name that it is called on, the last part.
    fn receiver(&self) -> &str {
        let name = self.source.name_before(self.at.start);
        name.trim_end_matches(['.', ':']).rsplit(['.', ':']).next().unwrap_or_default()
    }

    /// Whether this is where the name is given a meaning: `def eval(`, `int system(`.
    fn is_definition(&self) -> bool {
        let bytes = self.source.code.as_bytes();
        let blanks =
            bytes[..self.at.start].iter().rev().take(16).take_while(|b| matches!(b, b' ' | b'\t' | b'*')).count();
        let word = self.source.name_before(self.at.start - blanks);
        blanks > 0
            && !word.is_empty()
            && !matches!(
                word,
                "return"
                    | "else"
                    | "await"
                    | "do"
                    | "in"
                    | "not"
                    | "and"
                    | "or"
                    | "if"
                    | "elif"
                    | "while"
                    | "yield"
                    | "throw"
                    | "case"
                    | "then"
                    | "unless"
                    | "print"
                    | "echo"
                    | "raise"
                    | "assert"
                    | "void"
                    | "lambda:"
                    | "new"
                    | "typeof"
                    | "co_return"
                    | "go"
                    | "defer"
                    | ":"
            )
            || matches!(word, "def" | "fn" | "func" | "function" | "void" if blanks > 0)
    }

    fn arguments(&self) -> Option<Range<usize>> {
        self.source.arguments(self.at.end)
    }

    /// The first argument.
    fn first(&self) -> Option<Range<usize>> {
        self.source.split(self.arguments()?).into_iter().next()
    }

    fn line(&self) -> Range<usize> {
        self.source.line_around(self.at.start)
    }

    /// Whether the line is about something secret.
    fn is_sensitive_line(&self) -> bool {
        let line = self.source.code(self.line()).to_ascii_lowercase();
        SENSITIVE.iter().any(|word| line.contains(word))
    }

    /// How bad it is that `argument` is run or read: nothing for a constant, high when it is built or comes from outside.
    fn grade(&self, argument: Range<usize>) -> Option<Severity> {
        if self.source.code(argument.clone()).trim().is_empty() || self.source.is_constant(argument.clone()) {
            None
        } else if self.source.is_built(argument.clone()) || self.comes_from_outside(argument) {
            Some(Severity::High)
        } else {
            Some(Severity::Medium)
        }
    }

    fn comes_from_outside(&self, argument: Range<usize>) -> bool {
        OUTSIDE.iter().any(|word| self.source.has_word(argument.clone(), word))
    }

    /// The rest of the statement: up to `;` or the end of `lines` lines.
    fn statement(&self, lines: usize) -> Range<usize> {
        let rest = self.source.code(self.at.end..self.source.code.len());
        let mut seen = 0;
        let end = rest.bytes().take(crate::limits::MAX_CALL_BYTES).position(|b| {
            seen += usize::from(b == b'\n');
            b == b';' || seen >= lines
        });
        let end = self.at.end + end.unwrap_or(rest.len().min(crate::limits::MAX_CALL_BYTES));
        self.at.end..crate::source::floor(&self.source.code, end)
    }

    /// What is assigned: behind `=` or `:` up to the end of the statement.
    fn assigned(&self) -> Option<Range<usize>> {
        let after = self.after();
        let start = self.source.code.len() - after.len();
        let sign = match after.as_bytes() {
            [b'=', b'=' | b'>' | b'~', ..] => return None,
            [b'=', ..] | [b':', ..] => 1,
            [b'+', b'=', ..] => 2,
            _ => return None,
        };
        let statement = self.statement(3);
        Some(start + sign..statement.end.max(start + sign))
    }

    /// Whether the keyword argument at this word has this value: `shell=True`.
    fn is_keyword(&self, value: &str) -> bool {
        let after = self.after();
        after.strip_prefix('=').is_some_and(|rest| rest.trim_start().starts_with(value))
    }
}

/// The automaton of one language, and the rule of each of its patterns.
struct Table {
    automaton: Option<AhoCorasick>,
    rules: &'static [Rule],
}

impl Table {
    fn new(rules: &'static [Rule]) -> Self {
        let automaton =
            AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(rules.iter().map(|rule| rule.word)).ok();
        Self { automaton, rules }
    }
}

macro_rules! tables {
    ($language:expr; $($case:pat => $rules:expr),* $(,)?) => {
        match $language {
            $($case => {
                static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new($rules));
                &*TABLE
            })*
        }
    };
}

fn table(language: Language) -> &'static Table {
    tables!(language;
        Language::Python => python::RULES,
        Language::JavaScript => javascript::RULES,
        Language::Rust => systems::RUST,
        Language::Go => systems::GO,
        Language::C => systems::C,
        Language::Java => java::RULES,
        Language::Php => php::RULES,
        Language::Ruby => ruby::RULES,
        Language::Shell => shell::RULES,
    )
}

/// The dangerous calls of a file. The flag says that there were more than are kept.
pub(crate) fn find(source: &Source<'_>, line_of: &dyn Fn(usize) -> u32) -> (Vec<Issue>, bool) {
    let mut issues = Vec::new();
    let table = table(source.language);
    let code = source.code.as_bytes();
    if let Some(automaton) = &table.automaton {
        for hit in automaton.find_overlapping_iter(code) {
            if issues.len() >= MAX_RAW_PER_FILE {
                return (issues, true);
            }
            let Some(rule) = table.rules.get(hit.pattern().as_usize()) else { continue };
            if !is_whole_word(code, hit.start()..hit.end()) {
                continue;
            }
            let site = Site { source, at: hit.start()..hit.end() };
            if let Some(severity) = (rule.judge)(&site) {
                let (line, evidence) = (line_of(hit.start()), Evidence::Bytes(site.line()));
                issues.push(Issue {
                    rule: rule.rule,
                    severity,
                    line,
                    text: rule.text.to_owned(),
                    evidence,
                    fix: rule.fix.into(),
                });
            }
        }
    }
    sql::find(source, line_of, &mut issues);
    if source.language == Language::Shell {
        shell::pipes(source, line_of, &mut issues);
    }
    (issues, false)
}

/// Whether no letter touches the hit, on the sides where it ends in a letter itself.
fn is_whole_word(code: &[u8], hit: Range<usize>) -> bool {
    let touches = |inside: Option<&u8>, outside: Option<&u8>| {
        inside.is_some_and(|b| is_name(*b)) && outside.is_some_and(|b| is_name(*b))
    };
    let before = hit.start.checked_sub(1).and_then(|at| code.get(at));
    !touches(code.get(hit.start), before) && !touches(code.get(hit.end - 1), code.get(hit.end)) && before != Some(&b'$')
}
