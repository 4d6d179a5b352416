//! What is wrong with tests themselves: disabled, focused, without an assertion. Told by words, line by line, in code without
//! comments and strings.

use std::collections::{BTreeMap, BTreeSet};

use code_map::outline::{Definition, Kind};
use code_map::words;

use crate::limits::{MAX_CALLS, MAX_SMELLS_PER_FILE};
use crate::project::{File, family};
use crate::public::has_word;

/// What is wrong with a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Only this test runs, and the others of its file do not.
    Focused,
    /// It does not run, and nothing says why.
    Disabled,
    /// It does not run, and a reason is given.
    DisabledWithReason,
    /// It runs only where a condition holds, or is expected to fail.
    Conditional,
    /// It is a name without a body.
    Planned,
    /// It asserts nothing.
    AssertsNothing,
}

/// A fault at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smell {
    /// What it is.
    pub fault: Fault,
    /// 1-based.
    pub line: u32,
    /// The test it is about, where one is known.
    pub test: Option<String>,
    /// The words that say so, such as `#[ignore]`.
    pub mark: String,
    /// Functions that the test calls; one that asserts clears it.
    calls: Vec<String>,
}

/// Functions of test files that are no tests, and what they call.
#[derive(Debug, Default)]
pub struct Helpers {
    asserting: BTreeSet<(&'static str, String)>,
    others: BTreeMap<(&'static str, String), Vec<String>>,
}

/// Most helpers that are kept.
const MAX_HELPERS: usize = 50_000;
/// Calls from a test to the helper that asserts.
const MAX_DEPTH: usize = 4;

impl Helpers {
    fn add(&mut self, family: &'static str, name: &str, asserts: bool, calls: Vec<String>) {
        if self.asserting.len() + self.others.len() >= MAX_HELPERS {
            return;
        }
        let key = (family, name.to_owned());
        if asserts {
            self.asserting.insert(key);
        } else {
            self.others.insert(key, calls);
        }
    }

    /// Takes back what a helper asserts.
    pub fn settle(mut self, files: &mut [File]) {
        for _ in 0..MAX_DEPTH {
            let more: Vec<(&'static str, String)> = self
                .others
                .iter()
                .filter(|((family, _), calls)| {
                    calls.iter().any(|call| self.asserting.contains(&(*family, call.clone())))
                })
                .map(|(key, _)| key.clone())
                .collect();
            if more.is_empty() {
                break;
            }
            for key in more {
                self.others.remove(&key);
                self.asserting.insert(key);
            }
        }
        for file in files {
            let family = family(file.language);
            file.smells.retain(|smell| {
                smell.fault != Fault::AssertsNothing
                    || !smell.calls.iter().any(|call| self.asserting.contains(&(family, call.clone())))
            });
            for smell in &mut file.smells {
                smell.calls = Vec::new();
            }
        }
    }
}

/// The faults of a file with tests. `code` is `text` without comments and strings.
pub fn of(file: &File, text: &str, code: &str, helpers: &mut Helpers) -> Vec<Smell> {
    let lines: Vec<&str> = code.lines().collect();
    let raw: Vec<&str> = text.lines().collect();
    let mut found = marks(file, &lines, &raw);
    let family = family(file.language);
    for (at, definition) in file.definitions.iter().enumerate() {
        if !matches!(definition.kind, Kind::Test | Kind::Function | Kind::Method | Kind::Macro) {
            continue;
        }
        let body = body(&lines, definition);
        let checks = asserts(family, &body, &definition.name);
        if definition.kind != Kind::Test {
            if file.test || definition.test {
                let calls = if checks { Vec::new() } else { calls(&body) };
                helpers.add(family, &definition.name, checks, calls);
            }
            continue;
        }
        let off = found.iter().any(|smell| smell.line >= definition.top && smell.line <= definition.end);
        if checks || off || !is_judged(family) || file.is_group(at) || definition.end < definition.line {
            continue;
        }
        // Where a body could not be read, such as inside of a macro, its first line is all that is known.
        let open = body.trim_end().ends_with(['{', '(', ':', ',']);
        if definition.end == definition.line && open {
            continue;
        }
        found.push(Smell {
            fault: Fault::AssertsNothing,
            line: definition.line,
            test: Some(definition.name.clone()),
            mark: String::new(),
            calls: calls(&body),
        });
    }
    found.sort_by_key(|smell| (smell.line, smell.fault));
    found.truncate(MAX_SMELLS_PER_FILE);
    found
}

/// Languages whose ways of asserting are known.
fn is_judged(family: &str) -> bool {
    matches!(family, "Rust" | "Python" | "JavaScript" | "Go" | "Java" | "C#")
}

/// The code of a definition with its attributes: lines are enough.
fn body(lines: &[&str], definition: &Definition) -> String {
    let from = (definition.top as usize).saturating_sub(1);
    let length = (definition.end as usize).saturating_sub(from);
    lines.iter().skip(from).take(length).copied().collect::<Vec<_>>().join("\n")
}

/// Whether the code of a definition checks something. Its own name does not count. A word that may check is taken for one that does: a false alarm costs more than a miss.
fn asserts(family: &str, body: &str, own_name: &str) -> bool {
    const CHECKS: &[&str] = &[
        "assert",
        "expect",
        "should",
        "verify",
        "ensure",
        "require",
        "fail",
        "panic",
        "raise",
        "throw",
        "snapshot",
        "check",
        "must",
        "unwrap",
        "fatal",
        "compare",
        "matches",
        "equal",
        "unreachable",
        "validate",
        "reject",
        "golden",
    ];
    let mut checks = match family {
        "Rust" => body.contains('?'),
        // A helper that is given `t` may end the test.
        "Go" => {
            ["(t,", "(t)", "(b,", "t.Error", "t.Errorf", "c.Assert", "s.Equal"].iter().any(|call| body.contains(call))
                && !body.trim_end().is_empty()
        }
        _ => false,
    };
    words::scan(body, |_, word| {
        if !checks {
            let lower = word.to_ascii_lowercase();
            checks = word != own_name && CHECKS.iter().any(|check| lower.contains(check));
        }
    });
    checks
}

fn calls(body: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    words::scan(body, |at, word| {
        let next = body.as_bytes().get(at + word.len());
        if matches!(next, Some(b'(' | b'!' | b':' | b'<')) && found.len() < MAX_CALLS {
            found.insert(word.to_owned());
        }
    });
    found.into_iter().collect()
}

/// Disabled and focused tests.
fn marks(file: &File, lines: &[&str], raw: &[&str]) -> Vec<Smell> {
    let mut found = Vec::new();
    let mut before = "";
    for (number, line) in (1u32..).zip(lines) {
        let code = line.trim();
        if code.is_empty() {
            continue;
        }
        let text = raw.get(number as usize - 1).copied().unwrap_or_default();
        if let Some((fault, mark)) = mark(family(file.language), code, text, before) {
            let test = file.around(number, |definition| definition.kind == Kind::Test);
            let inside = test.is_some() || file.test;
            if inside && found.len() < MAX_SMELLS_PER_FILE {
                let name = test.and_then(|at| file.definitions.get(at)).map(|definition| definition.name.clone());
                found.push(Smell { fault, line: number, test: name, mark: mark.to_owned(), calls: Vec::new() });
            }
        }
        before = code;
    }
    found
}

/// What one line says. `before` is the line of code before it.
fn mark<'a>(family: &str, code: &'a str, text: &str, before: &str) -> Option<(Fault, &'a str)> {
    let reason = |given: bool| if given { Fault::DisabledWithReason } else { Fault::Disabled };
    match family {
        "Rust" => {
            // The attribute may share its line with others and with the function.
            for (at, opening) in code.match_indices("#[ignore") {
                let rest = code.get(at + opening.len()..).unwrap_or_default().trim_start();
                if rest.starts_with(['=', ']']) {
                    return Some((reason(rest.starts_with('=')), "#[ignore]"));
                }
            }
            let conditional = code.split("#[cfg_attr(").skip(1).any(|rest| {
                let rest = rest.split(']').next().unwrap_or_default();
                has_word(rest, "ignore")
            });
            conditional.then_some((Fault::Conditional, "#[cfg_attr(…, ignore)]"))
        }
        "Python" => python(code, text, before),
        "JavaScript" => javascript(code),
        "Go" => {
            let (mark, with_reason) = [("t.SkipNow(", false), ("t.Skipf(", true), ("t.Skip(", true)]
                .into_iter()
                .find(|(mark, _)| starts_with_call(code, mark))?;
            if before.starts_with("if ") || before.contains(" if ") {
                return Some((Fault::Conditional, mark.trim_end_matches('(')));
            }
            Some((reason(with_reason && !code.contains(&format!("{mark})"))), mark.trim_end_matches('(')))
        }
        "Java" => {
            let (at, mark) = ["@Disabled", "@Ignore"].into_iter().find_map(|mark| Some((code.find(mark)?, mark)))?;
            let rest = code.get(at + mark.len()..).unwrap_or_default();
            if rest.starts_with(|c: char| c.is_alphanumeric()) {
                let condition = mark == "@Disabled" && rest.starts_with(['I', 'O', 'F']);
                let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
                let whole = code.get(at..at + mark.len() + end).unwrap_or(mark);
                return condition.then_some((Fault::Conditional, whole));
            }
            Some((reason(rest.contains(['"', '='])), mark))
        }
        "C#" => {
            if code.contains("[Ignore]") || code.contains("[Ignore(") {
                return Some((reason(code.contains('"')), "[Ignore]"));
            }
            (code.starts_with('[') && code.contains("Skip =")).then_some((Fault::DisabledWithReason, "Skip ="))
        }
        "PHP" => {
            let mark = ["markTestSkipped", "markTestIncomplete"].into_iter().find(|mark| has_word(code, mark))?;
            Some((if before.starts_with("if") { Fault::Conditional } else { Fault::DisabledWithReason }, mark))
        }
        "Swift" => code.contains("XCTSkip").then_some((Fault::Conditional, "XCTSkip")),
        "Ruby" => {
            let first = code.split([' ', '(']).next().unwrap_or_default();
            match first {
                "fit" | "fdescribe" | "fcontext" => Some((Fault::Focused, first)),
                "xit" | "xdescribe" | "xcontext" => Some((Fault::Disabled, first)),
                "skip" | "pending" => Some((reason(code.contains(['"', '\''])), first)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a call stands at the beginning of a statement.
fn starts_with_call(code: &str, call: &str) -> bool {
    code.match_indices(call).any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default().trim_end();
        before.is_empty() || before.ends_with(['{', ';', ':'])
    })
}

fn python<'a>(code: &'a str, text: &str, before: &str) -> Option<(Fault, &'a str)> {
    if let Some(name) = code.strip_prefix('@') {
        let dotted = name.split('(').next().unwrap_or_default().trim();
        let mark = code.split('(').next().unwrap_or_default().trim();
        let last = dotted.rsplit('.').next().unwrap_or_default();
        let known = dotted.starts_with("pytest.mark.")
            || dotted.starts_with("mark.")
            || dotted.contains("unittest.")
            || last == dotted;
        return match last {
            _ if !known => None,
            "skip" => {
                let given = text.contains(['"', '\'']);
                Some((if given { Fault::DisabledWithReason } else { Fault::Disabled }, mark))
            }
            "skipif" | "skipIf" | "skipUnless" => Some((Fault::Conditional, mark)),
            "xfail" | "expectedFailure" => Some((Fault::Conditional, mark)),
            _ => None,
        };
    }
    let call = ["pytest.skip(", "self.skipTest(", "raise unittest.SkipTest", "raise SkipTest", "pytest.importorskip("]
        .into_iter()
        .find(|call| starts_with_call(code, call))?;
    if before.starts_with("if ")
        || before.starts_with("except")
        || before.starts_with("else")
        || call.contains("import")
    {
        return (!call.contains("import")).then_some((Fault::Conditional, call.trim_end_matches('(')));
    }
    Some((Fault::DisabledWithReason, call.trim_end_matches('(')))
}

fn javascript(code: &str) -> Option<(Fault, &'static str)> {
    const NAMES: &[&str] = &["describe", "it", "test", "context", "suite", "specify"];
    for (word, fault, mark) in [
        ("only", Fault::Focused, ".only"),
        ("skip", Fault::Disabled, ".skip"),
        ("todo", Fault::Planned, ".todo"),
        ("fixme", Fault::Disabled, ".fixme"),
        ("skipIf", Fault::Conditional, ".skipIf"),
        ("runIf", Fault::Conditional, ".runIf"),
        ("failing", Fault::Conditional, ".failing"),
    ] {
        let dotted = format!(".{word}");
        for (at, _) in code.match_indices(&dotted) {
            let after = code.as_bytes().get(at + dotted.len());
            if !matches!(after, Some(b'(' | b'.' | b'`')) {
                continue;
            }
            let head = code.get(..at).unwrap_or_default();
            let owner = head
                .rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '$' && c != '.')
                .next()
                .unwrap_or_default();
            let first = owner.split('.').next().unwrap_or_default();
            if NAMES.contains(&first) {
                // Playwright's `test.skip(condition, …)` stands inside of a test.
                let inside = word == "skip"
                    && code.get(at + dotted.len()..).is_some_and(|rest| {
                        !rest.starts_with("(\"")
                            && !rest.starts_with("('")
                            && !rest.starts_with("(`")
                            && !rest.starts_with('.')
                    });
                return Some((if inside { Fault::Conditional } else { fault }, mark));
            }
        }
    }
    for (call, fault, mark) in [
        ("fdescribe(", Fault::Focused, "fdescribe"),
        ("fit(", Fault::Focused, "fit"),
        ("xdescribe(", Fault::Disabled, "xdescribe"),
        ("xit(", Fault::Disabled, "xit"),
        ("xtest(", Fault::Disabled, "xtest"),
    ] {
        if starts_with_call(code, call) {
            return Some((fault, mark));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_is_wrong_and_others_say_nothing() {
        for (family, code, before, expected) in [
            ("Rust", "#[ignore]", "", Some(Fault::Disabled)),
            ("Rust", "#[ignore = \"  \"]", "", Some(Fault::DisabledWithReason)),
            ("Rust", "#[cfg_attr(miri, ignore)]", "", Some(Fault::Conditional)),
            ("Rust", "let ignore = 1;", "", None),
            ("Rust", "#[test] #[ignore] fn t() { a(); }", "", Some(Fault::Disabled)),
            ("Rust", "#[test] #[ignore = \"  \"] fn t() { a(); }", "", Some(Fault::DisabledWithReason)),
            ("Rust", "#[test] #[cfg_attr(miri, ignore)] fn t() { a(); }", "", Some(Fault::Conditional)),
            ("Rust", "#[cfg_attr(miri, allow(x))] fn ignore() {}", "", None),
            ("Java", "@Test @Disabled void a() {}", "", Some(Fault::Disabled)),
            ("C#", "[Test] [Ignore(\" \")] public void A() {}", "", Some(Fault::DisabledWithReason)),
            ("Python", "@pytest.mark.skip", "", Some(Fault::Disabled)),
            ("Python", "@unittest.skip('x')", "", Some(Fault::DisabledWithReason)),
            ("Python", "@pytest.mark.skipif(a, reason=' ')", "", Some(Fault::Conditional)),
            ("Python", "pytest.skip(' ')", "if a:", Some(Fault::Conditional)),
            ("Python", "pytest.skip(' ')", "def test_a():", Some(Fault::DisabledWithReason)),
            ("Python", "reader.skip(3)", "", None),
            ("JavaScript", "it.only(' ', () => {", "", Some(Fault::Focused)),
            ("JavaScript", "describe.skip.each([1])(' ', () => {", "", Some(Fault::Disabled)),
            ("JavaScript", "test.concurrent.only(' ', f)", "", Some(Fault::Focused)),
            ("JavaScript", "test.skip(isCi, ' ')", "", Some(Fault::Conditional)),
            ("JavaScript", "test.todo(' ')", "", Some(Fault::Planned)),
            ("JavaScript", "xit(' ', f)", "", Some(Fault::Disabled)),
            ("JavaScript", "list.skip(3)", "", None),
            ("JavaScript", "exit(1)", "", None),
            ("JavaScript", "profit(1)", "", None),
            ("Go", "t.Skip()", "", Some(Fault::Disabled)),
            ("Go", "t.Skip(\" \")", "func TestA(t *testing.T) {", Some(Fault::DisabledWithReason)),
            ("Go", "t.Skip(\" \")", "if testing.Short() {", Some(Fault::Conditional)),
            ("Java", "@Disabled", "", Some(Fault::Disabled)),
            ("Java", "@DisabledOnOs(WINDOWS)", "", Some(Fault::Conditional)),
            ("Java", "@IgnoreCase", "", None),
        ] {
            assert_eq!(mark(family, code, code, before).map(|(fault, _)| fault), expected, "{family}: {code}");
        }
    }

    #[test]
    fn a_mark_is_what_the_source_says() {
        for (family, code, expected) in [
            ("Python", "@unittest.skip(' ')", "@unittest.skip"),
            ("Python", "@unittest.expectedFailure", "@unittest.expectedFailure"),
            ("Python", "@pytest.mark.skip", "@pytest.mark.skip"),
            ("Python", "self.skipTest(' ')", "self.skipTest"),
            ("Go", "t.SkipNow()", "t.SkipNow"),
            ("Java", "@DisabledOnOs(WINDOWS)", "@DisabledOnOs"),
            ("Ruby", "xdescribe ' ' do", "xdescribe"),
        ] {
            assert_eq!(mark(family, code, code, "").map(|(_, mark)| mark), Some(expected), "{family}: {code}");
        }
    }

    #[test]
    fn words_that_check_are_known() {
        for (family, body) in [
            ("Rust", "fn a() { assert_eq!(1, b()); }"),
            ("Rust", "fn a() -> R { b()?; Ok(()) }"),
            ("Rust", "#[should_panic]\nfn a() { b(); }"),
            ("Python", "def test_a():\n  assert b()"),
            ("JavaScript", "it(' ', () => { expect(a).toBe(1) })"),
            ("Go", "func TestA(t *testing.T) { if a() { t.Fatal() } }"),
            ("Go", "func TestA(t *testing.T) { same(t, a(), 1) }"),
        ] {
            assert!(asserts(family, body, ""), "{body}");
        }
        for (family, body, name) in [
            ("Rust", "#[test]\nfn fails_and_checks() { b(); }", "fails_and_checks"),
            ("Python", "def test_should_pass():\n  b()", "test_should_pass"),
            ("Go", "func TestA(t *testing.T) { a() }", "TestA"),
            ("JavaScript", "it(' ', () => { a() })", "checks"),
        ] {
            assert!(!asserts(family, body, name), "{body}");
        }
    }
}
