//! Safeguards in removed lines that no added line of the same hunk replaces: error handling, checks of input, assertions, tests,
//! checks of who is asking.

use std::collections::HashSet;

use super::{Findings, View, text_of};
use crate::code::{calls, has_word, indent, split};
use crate::definitions::definition;
use crate::diff::{Change, Hunk, Side};
use crate::lang::Lang;
use crate::model::{Found, Severity};

/// Lines of the whole change, to tell a line that was moved from one that is gone.
#[derive(Debug, Default)]
pub struct Moves {
    added: HashSet<String>,
    removed: HashSet<String>,
}

/// Shorter lines stand in many places, so one that is elsewhere proves no move.
const MIN_MOVED_CHARS: usize = 12;

impl Moves {
    /// Notes the lines of a file.
    pub fn note(&mut self, view: &View<'_>) {
        for (side, lines) in [(Side::Added, &mut self.added), (Side::Removed, &mut self.removed)] {
            lines.extend(
                view.lines(side)
                    .map(|line| text_of(line).trim().to_owned())
                    .filter(|text| text.len() >= MIN_MOVED_CHARS),
            );
        }
    }
}

struct Guard {
    rule: &'static str,
    severity: Severity,
    issue: &'static str,
    suggestion: &'static str,
    /// Whether a line of code is one. The second argument is the whole line, for what stands inside strings.
    is_one: fn(&str, &str, Lang) -> bool,
    /// Whether it matters in test code too.
    in_tests: bool,
}

const TEST_RULE: &str = "review/removed-test";

/// In the order in which they speak.
const GUARDS: &[Guard] = &[
    Guard {
        rule: "review/removed-auth-check",
        severity: Severity::High,
        issue: "A check of identity, permission or certificate is removed and nothing near it takes its place",
        suggestion: "Keep the check, or show where it is made now",
        is_one: auth,
        in_tests: false,
    },
    Guard {
        rule: TEST_RULE,
        severity: Severity::Medium,
        issue: "A test is removed and none takes its place",
        suggestion: "Keep the test, or say in the change why it no longer holds",
        is_one: |code, _, lang| test(code, lang),
        in_tests: true,
    },
    Guard {
        rule: "review/removed-assertion",
        severity: Severity::Medium,
        issue: "An assertion is removed and none takes its place",
        suggestion: "Keep the assertion, or assert what holds now",
        is_one: |code, _, lang| assertion(code, lang),
        in_tests: true,
    },
    Guard {
        rule: "review/removed-validation",
        severity: Severity::Medium,
        issue: "A check of input is removed and nothing near it takes its place",
        suggestion: "Keep the check, or show where input is checked now",
        is_one: validation,
        in_tests: false,
    },
    Guard {
        rule: "review/removed-error-handling",
        severity: Severity::Medium,
        issue: "Error handling is removed and nothing near it takes its place",
        suggestion: "Handle the error, or pass it on to the caller",
        is_one: |code, _, lang| error_handling(code, lang),
        in_tests: false,
    },
];

/// Looks at each hunk of a file that still exists, and at a deleted file of tests.
pub fn guards(view: &View<'_>, moves: &Moves, findings: &mut Findings) {
    if view.lang == Lang::Other {
        return;
    }
    if view.diff.change == Change::Deleted {
        deleted_tests(view, findings);
        return;
    }
    let kept_names: HashSet<String> = view
        .added()
        .filter_map(|(_, text)| definition(&split(&text, view.lang).code, view.lang))
        .map(|d| d.name)
        .collect();
    for hunk in &view.diff.hunks {
        hunk_guards(view, hunk, moves, &kept_names, findings);
    }
}

fn deleted_tests(view: &View<'_>, findings: &mut Findings) {
    if view.test && view.lines(Side::Removed).any(|line| test(&split(&text_of(line), view.lang).code, view.lang)) {
        findings.push(
            Found::new(Severity::Medium, TEST_RULE, &view.path, "A file of tests is deleted")
                .suggest("Keep the tests, or say in the change what covers the behaviour now"),
        );
    }
}

fn hunk_guards(view: &View<'_>, hunk: &Hunk<'_>, moves: &Moves, kept_names: &HashSet<String>, findings: &mut Findings) {
    let gone = whole_definitions(view, hunk, kept_names);
    // Places that a guard before has spoken of: one line is one finding.
    let mut told: HashSet<usize> = HashSet::new();
    for guard in GUARDS {
        // Places on a side of what is not on the other side, somewhere in the change.
        let side = |side: Side, elsewhere: &HashSet<String>| -> Vec<usize> {
            let lines = hunk.lines.iter().enumerate().filter(|(at, line)| line.side == side && !gone.contains(at));
            let is_one = |text: &str| {
                !elsewhere.contains(text.trim()) && (guard.is_one)(&split(text, view.lang).code, text, view.lang)
            };
            lines.filter(|(_, line)| is_one(&text_of(line))).map(|(at, _)| at).collect()
        };
        let mut lost = side(Side::Removed, &moves.added);
        lost.retain(|at| !told.contains(at));
        let gained = side(Side::Added, &moves.removed).len();
        let Some(line) = lost.first().and_then(|at| hunk.lines.get(*at)) else { continue };
        if lost.len() <= gained || (!guard.in_tests && view.is_test_line(line.line)) {
            continue;
        }
        let found = Found::new(guard.severity, guard.rule, &view.path, guard.issue).at(line.line);
        findings.push(found.evidence(format!("- {}", text_of(line).trim())).suggest(guard.suggestion));
        told.extend(lost);
        if guard.rule == TEST_RULE {
            // A test is gone with its assertions.
            told.extend(hunk.lines.iter().enumerate().filter(|(_, line)| line.side == Side::Removed).map(|(at, _)| at));
        }
    }
}

/// Places in a hunk of removed lines that belong to a definition which is removed as a whole: what it guarded is gone with it.
fn whole_definitions(view: &View<'_>, hunk: &Hunk<'_>, kept_names: &HashSet<String>) -> HashSet<usize> {
    let mut places = HashSet::new();
    let mut inside: Option<usize> = None;
    let mut decorators: Vec<usize> = Vec::new();
    for (at, line) in hunk.lines.iter().enumerate() {
        if line.side == Side::Added {
            continue;
        }
        if line.side == Side::Context {
            inside = None;
            decorators.clear();
            continue;
        }
        let text = text_of(line);
        let code = split(&text, view.lang).code;
        let start = code.trim();
        if let Some(column) = inside {
            let belongs = start.is_empty()
                || indent(&code) > column
                || (indent(&code) == column && start.starts_with(['}', ')']));
            if belongs {
                places.insert(at);
                continue;
            }
            inside = None;
        }
        match definition(&code, view.lang) {
            // Tests are guards themselves: their removal is looked at.
            Some(found) if !kept_names.contains(&found.name) && !test(&code, view.lang) && !view.test => {
                inside = Some(indent(&code));
                places.insert(at);
                places.extend(decorators.drain(..));
            }
            _ if start.starts_with('@') || start.starts_with("#[") => decorators.push(at),
            _ => decorators.clear(),
        }
    }
    places
}

fn error_handling(code: &str, lang: Lang) -> bool {
    let any_word = |words: &[&str]| words.iter().any(|word| has_word(code, word));
    match lang {
        Lang::Rust => {
            question_mark(code)
                || calls(code, "Err")
                || [".map_err", ".ok_or", ".ok_or_else"].iter().any(|name| code.contains(name))
        }
        Lang::Python => any_word(&["except", "raise"]),
        Lang::Ruby => any_word(&["rescue", "raise"]),
        Lang::Go => code.contains("err != nil") || code.contains("errors.Is(") || code.contains("errors.As("),
        Lang::Js => any_word(&["catch", "throw"]) || code.contains(".catch("),
        Lang::Java | Lang::Kotlin | Lang::CSharp | Lang::Php | Lang::C | Lang::Swift => any_word(&["catch", "throw"]),
        Lang::Shell => code.trim_start().starts_with("set -e") || code.contains("|| exit"),
        Lang::Other => false,
    }
}

/// Rust's `?` operator: after an expression, and not the `?` of `?Sized`.
fn question_mark(code: &str) -> bool {
    let ends = |c: char| c.is_alphanumeric() || matches!(c, ')' | ']' | '}' | '>' | '_' | '"');
    code.match_indices('?').any(|(at, _)| {
        let before = code.get(..at).is_some_and(|head| head.ends_with(ends));
        let after = code.get(at + 1..).is_none_or(|tail| {
            tail.chars()
                .next()
                .is_none_or(|c| matches!(c, ';' | ')' | '.' | ',' | '?' | '}' | ']') || c.is_whitespace())
        });
        before && after
    })
}

fn assertion(code: &str, lang: Lang) -> bool {
    let start = code.trim_start();
    match lang {
        Lang::Rust => ["assert!", "assert_eq!", "assert_ne!", "debug_assert!", "assert_matches!"]
            .iter()
            .any(|name| calls(code, name)),
        Lang::Python => start.starts_with("assert ") || start.starts_with("assert(") || code.contains("self.assert"),
        Lang::Js => calls(code, "expect") || calls(code, "assert") || start.starts_with("assert."),
        Lang::Go => {
            ["t.Error", "t.Errorf", "t.Fatal", "t.Fatalf"].iter().any(|name| calls(code, name))
                || start.starts_with("require.")
                || start.starts_with("assert.")
        }
        Lang::Java | Lang::Kotlin => start.starts_with("assert") || code.contains("Assert."),
        Lang::CSharp => code.contains("Assert."),
        Lang::C => calls(code, "assert"),
        Lang::Php => code.contains("->assert"),
        Lang::Ruby => start.starts_with("assert") || start.starts_with("expect("),
        Lang::Swift => start.starts_with("XCTAssert"),
        Lang::Shell | Lang::Other => false,
    }
}

fn test(code: &str, lang: Lang) -> bool {
    let start = code.trim_start();
    match lang {
        Lang::Rust => start.starts_with("#[") && start.contains("test]"),
        Lang::Python => start.starts_with("def test_") || start.starts_with("async def test_"),
        Lang::Js => ["it", "test"].iter().any(|name| start.starts_with(name) && calls(code, name)),
        Lang::Go => start.starts_with("func Test"),
        Lang::Java | Lang::Kotlin => start.starts_with("@Test") || start.starts_with("@ParameterizedTest"),
        Lang::CSharp => ["[Test]", "[Fact]", "[Theory]", "[TestMethod]"].iter().any(|mark| start.starts_with(mark)),
        Lang::Ruby => {
            start.starts_with("it \"")
                || start.starts_with("it '")
                || start.starts_with("test \"")
                || start.starts_with("def test_")
        }
        Lang::Php => start.contains("function test"),
        Lang::Swift => start.starts_with("func test"),
        Lang::C | Lang::Shell | Lang::Other => false,
    }
}

fn validation(code: &str, raw: &str, _: Lang) -> bool {
    if imports(code) {
        return false;
    }
    let lower = code.to_ascii_lowercase();
    let named = [
        "validate",
        "sanitize",
        "sanitise",
        "is_valid",
        "isvalid",
        "escape_html",
        "escapehtml",
        "html.escape",
        "htmlspecialchars",
        "secure_filename",
        "shlex.quote",
    ];
    let refuses = [
        "valueerror",
        "illegalargumentexception",
        "badrequest",
        "bad_request",
        "abort(400",
        "status(400",
        "argumentexception",
        "ensure!(",
        "rangeerror",
    ];
    // A definition of that name is the check itself, and is looked at by its callers.
    let mentions = named.iter().chain(&refuses).any(|word| lower.contains(word));
    mentions
        && !raw.trim_start().starts_with(['@'])
        && !["def ", "fn ", "function ", "func "].iter().any(|keyword| lower.trim_start().starts_with(keyword))
}

fn auth(code: &str, raw: &str, _: Lang) -> bool {
    if imports(code) {
        return false;
    }
    let lower = code.to_ascii_lowercase();
    let named = [
        "login_required",
        "permission_required",
        "requires_auth",
        "require_auth",
        "requireauth",
        "auth_required",
        "authenticate(",
        "authorize(",
        "isauthenticated",
        "is_authenticated",
        "ensureauthenticated",
        "checkpermission",
        "check_permission",
        "has_permission",
        "haspermission",
        "require_admin",
        "requireadmin",
        "require_role",
        "requirerole",
        "verify_token",
        "verifytoken",
        "verify_signature",
        "verifysignature",
        "jwt.verify",
        "csrf_protect",
        "csrfprotection",
        "@preauthorize",
        "@secured",
        "@rolesallowed",
        "compare_digest",
        "timingsafeequal",
        "constanttimecompare",
        "verify=true",
        "cert_required",
        "check_hostname = true",
        "rejectunauthorized: true",
    ];
    let guards = ["auth", "login", "permission", "require", "admin", "role", "staff", "csrf", "secured", "protect"];
    let decorator = lower
        .trim_start()
        .strip_prefix('@')
        .is_some_and(|name| guards.iter().any(|word| name.contains(word)) && !name.starts_with("author "));
    let definition = ["def ", "fn ", "function ", "func ", "pub fn ", "export "]
        .iter()
        .any(|keyword| lower.trim_start().starts_with(keyword));
    decorator
        || !definition
            && (named.iter().any(|word| lower.contains(word))
                || raw.contains("Depends(require_")
                || raw.contains("Depends(get_current_user"))
}

fn imports(code: &str) -> bool {
    let start = code.trim_start();
    ["import ", "from ", "use ", "using ", "require ", "#include"].iter().any(|word| start.starts_with(word))
        || start.contains("require(")
}
