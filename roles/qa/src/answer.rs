//! From the tests of each definition to what the user reads.

use std::collections::{BTreeMap, BTreeSet};

use brain_role::{Finding, MAX_COMPOSED_CHARS, Tree};
use unified_diff::shown;

use crate::cover::{Cover, Use};
use crate::findings;
use crate::limits::{MAX_COMMANDS, MAX_FILES_TO_RUN, MAX_LISTED, MAX_PER_RULE, MAX_SHOWN_CHARS, MAX_TEST_REFS};
use crate::project::Project;
use crate::runner::{Commands, Wanted};
use crate::scope::{Part, Scope, Target};
use crate::smells::Fault;

/// What the role says.
#[derive(Debug, Default)]
pub struct Answer {
    /// Lines.
    pub summary: Vec<String>,
    /// The worst first.
    pub findings: Vec<Finding>,
    /// What was not looked at.
    pub risks: Vec<String>,
    /// Test files and why they are named.
    pub tests: Vec<(String, String)>,
    /// What was done.
    pub steps: Vec<String>,
}

/// A text of the project in a sentence: one line, without control characters, cut, with nothing that may be a secret.
pub(crate) fn plain(text: &str) -> String {
    let shown = secret_scan::mask_runs(&shown(text));
    match shown.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", shown.get(..at).unwrap_or_default()),
        None => shown,
    }
}

fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// What the answer is made of.
pub(crate) struct Writer<'a> {
    pub(crate) project: &'a Project,
    pub(crate) scope: &'a Scope,
    covers: &'a [Cover],
}

impl Answer {
    /// Puts the answer together.
    pub fn new(tree: &Tree, project: &Project, scope: &Scope, covers: &[Cover]) -> Self {
        let writer = Writer { project, scope, covers };
        let mut answer = Self::default();
        let wanted = writer.wanted();
        let commands = Commands::new(project, &wanted);
        answer.summary.push(writer.first_line(&commands));
        if scope.narrow {
            answer.summary.push(
                "Only what the request refers to was granted, so tests elsewhere are not seen: ask without the reference, or refer to the tests too."
                    .to_owned(),
            );
        }
        if !scope.not_found.is_empty() {
            let words: Vec<String> = scope.not_found.iter().map(|word| format!("\"{}\"", plain(word))).collect();
            answer.summary.push(format!("Nothing in the code is named {}.", words.join(", ")));
        }
        writer.covered(&mut answer.summary);
        writer.uncovered(&mut answer.summary);
        answer.findings = writer.findings(&commands, &mut answer.risks);
        writer.faults(&answer.findings, &mut answer.summary);
        writer.commands(&commands, &mut answer);
        answer.tests = writer.tests();
        findings::evidence(tree, &mut answer.findings);
        writer.risks(&mut answer.risks);
        let tests = project.files.iter().filter(|file| file.has_tests() && !file.sample).count();
        answer.steps.push(format!("read {}, {} of them with tests", counted(project.read, "file of code"), tests));
        answer.steps.push(format!("looked for tests of {}", counted(scope.targets.len(), "definition")));
        answer
    }
}

impl Writer<'_> {
    pub(crate) fn path(&self, file: usize) -> &str {
        self.project.files.get(file).map_or("", |file| file.path.as_str())
    }

    pub(crate) fn name(&self, file: usize, definition: Option<usize>) -> String {
        let of = self.project.files.get(file);
        match of.zip(definition).and_then(|(file, at)| file.definitions.get(at)) {
            Some(definition) => format!("`{}`", plain(&definition.qualified())),
            None => plain(self.path(file)),
        }
    }

    /// `name (path:line)`.
    fn placed(&self, target: &Target) -> String {
        let place = format!("{}:{}", plain(self.path(target.file)), target.line);
        match target.definition {
            Some(_) => format!("{} ({place})", self.name(target.file, target.definition)),
            None => place,
        }
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&Target, &Cover)> {
        self.scope.targets.iter().zip(self.covers)
    }

    fn tested(&self) -> usize {
        self.covers.iter().filter(|cover| cover.is_tested()).count()
    }

    /// The first line, which other roles quote: with the command, where there is one and it fits.
    fn first_line(&self, commands: &Commands) -> String {
        let verdict = self.verdict();
        match commands.exact.as_slice() {
            [one] if verdict.chars().count() + one.chars().count() + 10 <= MAX_COMPOSED_CHARS => {
                format!("{verdict} Run: {one}")
            }
            _ => verdict,
        }
    }

    /// How much of what is asked about is tested.
    fn verdict(&self) -> String {
        let (all, tested) = (self.scope.targets.len(), self.tested());
        let label = plain(&self.scope.label);
        let (subject, unit) = match self.scope.part {
            // A label may say why the change is the one at hand: `the last commit; there are no uncommitted changes`.
            Part::Change => match label.split_once("; ") {
                Some((change, why)) => (format!("Tests of {change} ({why})"), "changed definition"),
                None => (format!("Tests of {label}"), "changed definition"),
            },
            Part::Named => (format!("Tests of {label}"), "definition"),
            Part::Whole => {
                let (tests, files) = self.count_tests();
                (format!("The project has {} in {}", counted(tests, "test"), counted(files, "file")), "public function")
            }
        };
        if all == 0 {
            return self.nothing(&subject);
        }
        let verb = if all == 1 { "is" } else { "are" };
        let by = if self.scope.part == Part::Whole { "named" } else { "reached" };
        // What cannot be seen comes first: a test elsewhere is not missing.
        let subject = if self.scope.narrow && tested < all {
            format!("{subject}: tests outside of what was granted cannot be seen; in what was granted,")
        } else {
            format!("{subject}:")
        };
        let head = match (all, tested) {
            (1, 1) => format!("{subject} the {unit} is {by} by tests"),
            (1, _) => format!("{subject} no test refers to the {unit}"),
            (_, 0) => format!("{subject} no test refers to any of {}", counted(all, unit)),
            (_, tested) if tested == all => format!("{subject} all {} {verb} {by} by tests", counted(all, unit)),
            _ => {
                format!("{subject} {tested} of {} {verb} {by} by tests, {} by none", counted(all, unit), all - tested)
            }
        };
        let missing = self.pairs().filter(|(_, cover)| !cover.is_tested()).take(2);
        let missing: Vec<String> = missing.map(|(target, _)| self.name(target.file, target.definition)).collect();
        let rest = (all - tested).saturating_sub(missing.len());
        match (missing.is_empty(), rest) {
            (true, _) => format!("{head}."),
            (false, 0) => format!("{head} ({}).", missing.join(", ")),
            (false, rest) => format!("{head} ({} and {rest} more).", missing.join(", ")),
        }
    }

    fn nothing(&self, subject: &str) -> String {
        let changed = self.scope.changed_tests.len();
        let others: Vec<String> = self.scope.other.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let files =
            if others.is_empty() { String::new() } else { format!(" (files of other kinds: {})", others.join(", ")) };
        match self.scope.part {
            Part::Change if changed > 0 => {
                format!("{subject}: only tests changed, {changed} of them{files}.")
            }
            Part::Change => format!("{subject}: it touches no code that a test could refer to{files}."),
            Part::Named => format!("{subject}: there is no function or method that a test could refer to{files}."),
            Part::Whole if self.project.files.is_empty() => {
                "No code was found in what is granted of the project.".to_owned()
            }
            Part::Whole => format!("{subject}; no function of it was told to be public."),
        }
    }

    fn count_tests(&self) -> (usize, usize) {
        let files = self.project.files.iter().filter(|file| !file.sample);
        let counts = files.map(|file| {
            (0..file.definitions.len())
                .filter(|at| file.definitions.get(*at).is_some_and(|one| one.kind == code_map::outline::Kind::Test))
                .filter(|at| !file.is_group(*at))
                .count()
        });
        counts.filter(|count| *count > 0).fold((0, 0), |(tests, files), count| (tests + count, files + 1))
    }

    fn used(&self, one: &Use) -> String {
        let place = format!("{}:{}", plain(self.path(one.file)), one.line);
        let test = self.project.files.get(one.file).zip(one.test).and_then(|(file, at)| file.definitions.get(at));
        test.map_or_else(|| place.clone(), |test| format!("{place} ({})", plain(&test.name)))
    }

    fn covered(&self, lines: &mut Vec<String>) {
        const PLACES: usize = 2;
        if self.scope.part == Part::Whole || self.tested() == 0 {
            return;
        }
        lines.push("Covered by name:".to_owned());
        let tested: Vec<(&Target, &Cover)> = self.pairs().filter(|(_, cover)| cover.is_tested()).collect();
        for (target, cover) in tested.iter().take(MAX_LISTED) {
            let mut places: Vec<String> = cover.uses.iter().take(PLACES).map(|one| self.used(one)).collect();
            let more = cover.uses.len().saturating_sub(PLACES) + cover.more;
            if more > 0 {
                places.push(format!("{more} more"));
            }
            let through =
                cover.through.map(|(file, at)| format!(" through {}", self.name(file, Some(at)))).unwrap_or_default();
            lines.push(format!("- {}{through}: {}", self.placed(target), places.join(", ")));
        }
        if tested.len() > MAX_LISTED {
            lines.push(format!("- {} more", tested.len() - MAX_LISTED));
        }
    }

    fn uncovered(&self, lines: &mut Vec<String>) {
        let missing: Vec<(&Target, &Cover)> = self.pairs().filter(|(_, cover)| !cover.is_tested()).collect();
        if missing.is_empty() {
            return;
        }
        if self.scope.part == Part::Whole {
            return self.worst_files(&missing, lines);
        }
        let head = if self.scope.narrow { "No test in what was granted refers to:" } else { "No test refers to:" };
        lines.push(head.to_owned());
        for (target, cover) in missing.iter().take(MAX_LISTED) {
            let mentioned = cover.uses.first().map(|one| format!("; {} mentions it outside of a test", self.used(one)));
            lines.push(format!("- {}{}", self.placed(target), mentioned.unwrap_or_default()));
        }
        if missing.len() > MAX_LISTED {
            lines.push(format!("- {} more", missing.len() - MAX_LISTED));
        }
    }

    fn worst_files(&self, missing: &[(&Target, &Cover)], lines: &mut Vec<String>) {
        const FILES: usize = 8;
        let mut by_file: BTreeMap<usize, usize> = BTreeMap::new();
        for (target, _) in missing {
            *by_file.entry(target.file).or_insert(0) += 1;
        }
        let mut files: Vec<(usize, usize)> = by_file.into_iter().collect();
        files.sort_by_key(|(file, count)| (std::cmp::Reverse(*count), *file));
        lines.push("Most public functions without a test of their own name:".to_owned());
        for (file, count) in files.iter().take(FILES) {
            let all = self.scope.targets.iter().filter(|target| target.file == *file).count();
            lines.push(format!("- {}: {count} of {all}", plain(self.path(*file))));
        }
        if files.len() > FILES {
            lines.push(format!("- {} more files", files.len() - FILES));
        }
    }

    fn faults(&self, findings: &[Finding], lines: &mut Vec<String>) {
        let of = |rule: &str| findings.iter().filter(|finding| finding.rule.as_deref() == Some(rule)).count();
        let kinds = [
            ("qa/focused-test", "focused"),
            ("qa/disabled-test", "disabled or conditional"),
            ("qa/no-assertion", "without an assertion"),
        ];
        let said: Vec<String> = kinds
            .iter()
            .filter(|(rule, _)| of(rule) > 0)
            .map(|(rule, words)| format!("{} {words}", of(rule)))
            .collect();
        if !said.is_empty() {
            lines.push(format!("Among these tests: {}; see the findings.", said.join(", ")));
        }
        let elsewhere = self.elsewhere();
        if elsewhere > 0 {
            lines.push(format!(
                "Elsewhere: {} disabled or focused; ask about the whole project to see them.",
                counted(elsewhere, "test")
            ));
        }
    }

    /// The files whose tests are looked at for faults.
    pub(crate) fn looked_at(&self) -> BTreeSet<usize> {
        let used = self.covers.iter().flat_map(|cover| cover.uses.iter().map(|one| one.file));
        self.scope.tests.iter().copied().chain(used).collect()
    }

    fn elsewhere(&self) -> usize {
        let looked_at = self.looked_at();
        let others = self.project.files.iter().enumerate().filter(|(at, file)| !file.sample && !looked_at.contains(at));
        let off = |fault: Fault| matches!(fault, Fault::Focused | Fault::Disabled | Fault::DisabledWithReason);
        others.map(|(_, file)| file.smells.iter().filter(|smell| off(smell.fault)).count()).sum()
    }

    /// The tests that are worth running.
    fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::new();
        if self.scope.part == Part::Whole {
            return wanted;
        }
        let name =
            |file: usize, at: usize| self.project.files.get(file)?.definitions.get(at).map(|test| test.name.clone());
        let nearest = self.covers.iter().flat_map(|cover| {
            let mut files = Vec::new();
            cover.uses.iter().filter(move |one| {
                if !files.contains(&one.file) && files.len() < MAX_FILES_TO_RUN {
                    files.push(one.file);
                }
                files.contains(&one.file)
            })
        });
        let used = nearest.filter_map(|one| Some((one.file, one.test?)));
        let mut whole = BTreeSet::new();
        for (file, at) in used.chain(self.scope.changed_tests.iter().copied()) {
            let Some(name) = name(file, at) else { continue };
            let names = wanted.entry(file).or_default();
            if secret_scan::mask_runs(&name) == name {
                names.insert(name);
            } else {
                whole.insert(file);
            }
        }
        // A test file that changed outside of its tests, or that is asked about itself.
        for file in &self.scope.tests {
            let changed = self.scope.changed_tests.iter().any(|(of, _)| of == file);
            let own = self.project.files.get(*file).is_some_and(|file| file.test);
            if own && !changed && !wanted.contains_key(file) {
                whole.insert(*file);
            }
        }
        for file in whole {
            wanted.insert(file, BTreeSet::new());
        }
        wanted
    }

    fn commands(&self, commands: &Commands, answer: &mut Answer) {
        let lines = &mut answer.summary;
        if !commands.exact.is_empty() {
            lines.push("Run these tests:".to_owned());
            lines.extend(commands.exact.iter().take(MAX_COMMANDS).map(|command| format!("  {command}")));
            if commands.exact.len() > MAX_COMMANDS {
                lines.push(format!(
                    "  … and {} more commands; all tests cover them",
                    commands.exact.len() - MAX_COMMANDS
                ));
            }
        }
        if !commands.whole.is_empty() {
            lines.push("Run all tests:".to_owned());
            lines.extend(commands.whole.iter().take(MAX_COMMANDS).map(|command| format!("  {command}")));
        } else if commands.exact.is_empty() && !self.project.files.is_empty() {
            lines.push(
                "No command is proposed: there is no Cargo.toml, pyproject.toml, package.json with a test script, go.mod, tox.ini or Makefile with a test target that was read.".to_owned(),
            );
        }
        for (path, why) in commands.unknown.iter().take(MAX_PER_RULE) {
            answer.risks.push(format!("no command for {}: {why}", plain(path)));
        }
        if commands.unknown.len() > MAX_PER_RULE {
            answer.risks.push(format!("no command for {} more test files", commands.unknown.len() - MAX_PER_RULE));
        }
        answer.risks.extend(commands.notes.iter().cloned());
    }

    /// Test files worth reading.
    fn tests(&self) -> Vec<(String, String)> {
        let mut targets: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        if self.scope.part != Part::Whole {
            for (target, cover) in self.pairs() {
                for one in cover.uses.iter().filter(|one| one.test.is_some()) {
                    targets.entry(one.file).or_default().insert(self.name(target.file, target.definition));
                }
            }
        }
        let mut files: Vec<(usize, BTreeSet<String>)> = targets.into_iter().collect();
        files.sort_by_key(|(file, names)| (std::cmp::Reverse(names.len()), *file));
        let label = |names: &BTreeSet<String>| {
            let first: Vec<&str> = names.iter().take(3).map(String::as_str).collect();
            match names.len().saturating_sub(first.len()) {
                0 => format!("tests {}", first.join(", ")),
                more => format!("tests {} and {more} more", first.join(", ")),
            }
        };
        files.iter().take(MAX_TEST_REFS).map(|(file, names)| (self.path(*file).to_owned(), label(names))).collect()
    }

    fn risks(&self, risks: &mut Vec<String>) {
        risks.insert(
            0,
            "No test was run. A test counts for a definition when it names it, or names a function that leads to it; whether it executes every line is not known."
                .to_owned(),
        );
        risks.extend(self.scope.risks.iter().cloned());
        if self.scope.part == Part::Whole {
            risks.push("Over the whole project only names count: a function that is reached through others alone is listed as untested.".to_owned());
        }
        if !self.scope.other.is_empty() && !self.scope.targets.is_empty() {
            let kinds: Vec<String> = self.scope.other.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            risks.push(format!(
                "Files of kinds that no unit test refers to by name were left out: {}.",
                kinds.join(", ")
            ));
        }
        risks.extend(self.project.listing.iter().cloned());
        let (rough, first) = &self.project.rough;
        if *rough > 0 {
            risks.push(format!(
                "{} could not be parsed and {} read by words alone: definitions and tests may be missing (the first is {})",
                counted(*rough, "file"), if *rough == 1 { "was" } else { "were" },
                plain(first)
            ));
        }
        if self.project.dropped > 0 {
            risks.push(format!("{} past the bounds were not kept", counted(self.project.dropped, "definition")));
        }
        for (reason, (count, first)) in &self.project.skipped {
            risks.push(format!("{} not looked at: {reason} (the first is {})", counted(*count, "file"), plain(first)));
        }
    }
}
