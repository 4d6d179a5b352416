//! What is wrong, as findings.

use std::collections::BTreeMap;

use brain_role::{Finding, Severity, Tree};
use unified_diff::shown;

use crate::answer::{Writer, plain};
use crate::cover;
use crate::limits::{MAX_EVIDENCE_CHARS, MAX_FILE_BYTES, MAX_FINDINGS, MAX_PER_RULE};
use crate::runner::Commands;
use crate::scope::{Part, Target};
use crate::smells::Fault;

impl Writer<'_> {
    /// Everything that is wrong, the worst first.
    pub(crate) fn findings(&self, commands: &Commands, risks: &mut Vec<String>) -> Vec<Finding> {
        let mut found: Vec<Finding> = Vec::new();
        // What cannot be seen is not said to be missing.
        for (target, cover) in self.pairs().filter(|(_, cover)| !cover.is_tested() && !self.scope.narrow) {
            let Some(file) = self.project.files.get(target.file) else { continue };
            let public = target.definition.and_then(|at| file.public.get(at)).copied().unwrap_or(false);
            let (severity, rule, issue) = match self.scope.part {
                Part::Change => {
                    let name = self.name(target.file, target.definition);
                    (
                        Severity::Medium,
                        "qa/changed-untested",
                        format!("{name} changed, and no test refers to it or to what calls it"),
                    )
                }
                Part::Named | Part::Whole if public => {
                    let name = self.name(target.file, target.definition);
                    (Severity::Low, "qa/public-untested", format!("{name} is public, and no test refers to it"))
                }
                Part::Named | Part::Whole => continue,
            };
            let issue = if cover.unsure { format!("{issue} (not all callers were followed)") } else { issue };
            found.push(
                Finding::new(severity, issue)
                    .rule(rule)
                    .at(file.path.clone(), target.line)
                    .suggest(self.where_to(target, commands)),
            );
        }
        for index in self.looked_at() {
            let Some(file) =
                self.project.files.get(index).filter(|file| !file.sample || self.scope.part != Part::Whole)
            else {
                continue;
            };
            for smell in &file.smells {
                let at = file.around(smell.line, |one| one.kind == code_map::outline::Kind::Test);
                let changed = at.is_some_and(|at| self.scope.changed_tests.contains(&(index, at)));
                found.push(
                    fault(smell.fault, &plain(&smell.mark), smell.test.as_deref(), changed)
                        .at(file.path.clone(), smell.line),
                );
            }
        }
        bounded(found, risks)
    }

    /// Where a test would go: the file that tests its neighbours, or the place that the language has for it.
    fn where_to(&self, target: &Target, commands: &Commands) -> String {
        let Some(file) = self.project.files.get(target.file) else { return String::new() };
        let of = |at: usize| self.project.files.get(at);
        let near = |at: usize| of(at).is_some_and(|other| other.package == file.package && other.test);
        let neighbours = self.pairs().filter(|(other, _)| other.file == target.file).flat_map(|(_, cover)| &cover.uses);
        let mut tests: Vec<usize> = neighbours.map(|one| one.file).filter(|at| near(*at)).collect();
        tests.sort_unstable();
        let beside = (0..self.project.files.len()).find(|at| {
            let other =
                of(*at).filter(|other| other.test && !other.sample && cover::is_beside(&file.path, &other.path));
            other.is_some_and(|other| crate::project::family(other.language) == crate::project::family(file.language))
        });
        let inline = file.language.name == "Rust" && file.has_tests();
        let place = if inline {
            Some(format!("the tests of {} itself", plain(&file.path)))
        } else {
            beside.or(tests.first().copied()).map(|at| plain(self.path(at)))
        };
        let name = self.name(target.file, target.definition);
        match place {
            Some(place) => format!("Add a test that calls {name} to {place}."),
            None if commands.whole.is_empty() => {
                format!("Add a test that calls {name}; the project has no command yet that would run it.")
            }
            None => format!("Add a test that calls {name}; no test is near this file yet."),
        }
    }
}

fn fault(fault: Fault, mark: &str, test: Option<&str>, changed: bool) -> Finding {
    let test = test.map_or_else(|| "A group of tests".to_owned(), |name| format!("The test `{}`", plain(name)));
    let low = if changed { Severity::Medium } else { Severity::Low };
    let (severity, rule, issue, fix) = match fault {
        Fault::Focused => (
            Severity::Medium,
            "qa/focused-test",
            format!("{test} is focused ({mark}): the other tests of the file do not run"),
            "Remove the mark before this goes in.",
        ),
        Fault::Disabled => (
            Severity::Medium,
            "qa/disabled-test",
            format!("{test} is disabled ({mark}), and no reason is given"),
            "Repair and enable it, or say why it cannot run, or delete it.",
        ),
        Fault::DisabledWithReason => {
            (low, "qa/disabled-test", format!("{test} is disabled ({mark})"), "See whether the reason still holds.")
        }
        Fault::Conditional => (
            Severity::Low,
            "qa/disabled-test",
            format!("{test} runs only under a condition or is expected to fail ({mark})"),
            "See that some machine of the CI runs it.",
        ),
        Fault::Planned => (
            Severity::Low,
            "qa/planned-test",
            format!("{test} is planned and not written ({mark})"),
            "Write it or track it elsewhere.",
        ),
        Fault::AssertsNothing => (
            low,
            "qa/no-assertion",
            format!("{test} asserts nothing that was recognised: it fails only if something is thrown"),
            "Assert what the code should do.",
        ),
    };
    Finding::new(severity, issue).rule(rule).suggest(fix)
}

/// At most [`MAX_PER_RULE`] of one rule in one file, and [`MAX_FINDINGS`] in all, the worst first.
fn bounded(mut found: Vec<Finding>, risks: &mut Vec<String>) -> Vec<Finding> {
    found.sort_by(|a, b| (b.severity, &a.file, a.line, &a.rule).cmp(&(a.severity, &b.file, b.line, &b.rule)));
    let mut seen: BTreeMap<(Option<String>, Option<String>), usize> = BTreeMap::new();
    for finding in &found {
        *seen.entry((finding.file.clone(), finding.rule.clone())).or_insert(0) += 1;
    }
    let mut taken: BTreeMap<(Option<String>, Option<String>), usize> = BTreeMap::new();
    let mut kept: Vec<Finding> = Vec::new();
    for mut finding in found {
        let key = (finding.file.clone(), finding.rule.clone());
        let all = seen.get(&key).copied().unwrap_or(0);
        let count = taken.entry(key).or_insert(0);
        *count += 1;
        if *count > MAX_PER_RULE {
            continue;
        }
        if *count == MAX_PER_RULE && all > MAX_PER_RULE {
            finding.issue.push_str(&format!("; {} more of this kind are in the file", all - MAX_PER_RULE));
        }
        kept.push(finding);
    }
    if kept.len() > MAX_FINDINGS {
        risks.push(format!("{} findings past the first {MAX_FINDINGS} are not listed", kept.len() - MAX_FINDINGS));
        kept.truncate(MAX_FINDINGS);
    }
    kept
}

/// Quotes the line of each finding, without the secrets that may be on it.
pub(crate) fn evidence(tree: &Tree, findings: &mut [Finding]) {
    let mut by_file: BTreeMap<String, Vec<&mut Finding>> = BTreeMap::new();
    for finding in findings {
        if let Some(file) = finding.file.clone() {
            by_file.entry(file).or_default().push(finding);
        }
    }
    for (file, findings) in by_file {
        let Ok((bytes, _)) = tree.head(&file, MAX_FILE_BYTES) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let scan = secret_scan::scan_counted(&file, &text);
        for finding in findings {
            let Some(line) = finding.line else { continue };
            let line = shown(scan.masked_line(&text, line, MAX_EVIDENCE_CHARS).trim());
            if !line.is_empty() {
                finding.evidence = Some(line);
            }
        }
    }
}
