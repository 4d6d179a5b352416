//! The change that was handed over, as definitions and tests.

use brain_role::{Handoff, Tree};
use code_map::language;
use code_map::outline::Kind;
use unified_diff::{Change, Side, shown};

use crate::limits::{MAX_CHANGED_FILES, MAX_DIFF_BYTES, MAX_DIFF_LINES};
use crate::project::Project;
use crate::scope::{Part, Scope, Target, acts, is_unit, listed};

/// The diff below `/context`.
pub const DIFF: &str = "changes.diff";

/// The change that was handed over, and what could not be read of it. None where there is none, or it touches nothing.
pub fn change(handoff: &Handoff, project: &Project) -> (Option<Scope>, Vec<String>) {
    let context: Tree = handoff.context();
    let (bytes, more) = match context.head(DIFF, MAX_DIFF_BYTES as u64) {
        Ok(read) => read,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (None, Vec::new()),
        Err(error) => return (None, vec![format!("the change could not be read: {}", shown(&error.to_string()))]),
    };
    let (kept, cut) = unified_diff::bounded(&bytes, MAX_DIFF_BYTES, MAX_DIFF_LINES);
    let diff = unified_diff::parse(kept, MAX_CHANGED_FILES);
    if diff.files.is_empty() && diff.unmerged.is_empty() {
        return (None, Vec::new());
    }
    let uri = format!("/context/{DIFF}");
    let label =
        handoff.refs().iter().find(|reference| reference.uri == uri).and_then(|reference| reference.label.clone());
    let mut scope = Scope::new(Part::Change, label.map_or_else(|| "the change".to_owned(), |label| shown(&label)));
    if more || cut > 0 || diff.cut_files > 0 {
        scope.risks.push(format!(
            "the change is longer than what is read of it ({MAX_DIFF_BYTES} bytes, {MAX_DIFF_LINES} lines, {MAX_CHANGED_FILES} files); the rest was not looked at"
        ));
    }
    let broken = diff.problems.len() + diff.files.iter().map(|file| file.problems.len()).sum::<usize>();
    if broken > 0 {
        scope.risks.push(format!("{broken} places of the change could not be read as a diff"));
    }
    let (mut deleted, mut absent) = (0usize, Vec::new());
    for file in &diff.files {
        let Some(path) = file.name().and_then(|name| name.path().ok()) else { continue };
        if file.change == Change::Deleted {
            deleted += 1;
            continue;
        }
        let Some(index) = project.find(path) else {
            let language = language::of(path);
            if project.paths.contains(path) && language.class != language::Class::Code {
                scope.other(language.name);
            } else {
                absent.push(path.to_owned());
            }
            continue;
        };
        let lines = changed_lines(file);
        changed(project, index, &lines, &mut scope);
    }
    if deleted > 0 {
        scope
            .risks
            .push(format!("{deleted} deleted files: tests that still refer to what they defined are not looked for"));
    }
    if !absent.is_empty() {
        scope.risks.push(format!("{} changed files were not read: {}", absent.len(), listed(&absent)));
    }
    (Some(scope), Vec::new())
}

/// Lines of the new file that were added, or stand where others were removed.
fn changed_lines(file: &unified_diff::FileDiff<'_>) -> Vec<u32> {
    let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
    let blank = |text: &[u8]| text.iter().all(u8::is_ascii_whitespace);
    let mut lines: Vec<u32> =
        lines.filter(|line| line.side != Side::Context && !blank(line.text)).map(|line| line.line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn changed(project: &Project, index: usize, lines: &[u32], scope: &mut Scope) {
    let Some(file) = project.files.get(index) else { return };
    if !file.test && !file.is_testable() && !file.has_tests() {
        return scope.other(if file.sample { "sample" } else { file.language.name });
    }
    let code: Option<Vec<&str>> = file.code.as_ref().map(|code| code.lines().collect());
    for line in lines {
        // A comment has no test.
        let is_code = code.as_ref().is_none_or(|code| {
            code.get(*line as usize - usize::from(*line > 0))
                .is_some_and(|text| text.contains(|c: char| c.is_alphanumeric()))
        });
        if !is_code {
            continue;
        }
        if let Some(test) = file.around(*line, |definition| definition.kind == Kind::Test) {
            scope.tests.insert(index);
            scope.changed_tests.insert((index, test));
            continue;
        }
        if file.around(*line, |definition| definition.test).is_some() || file.test {
            scope.tests.insert(index);
            continue;
        }
        if !file.is_testable() {
            continue;
        }
        let unit = file.around(*line, is_unit);
        match unit.and_then(|at| file.definitions.get(at).map(|definition| (at, definition))) {
            // Fields and variants are tested through what is done with them.
            Some((at, definition)) if acts(definition) => {
                scope.targets.push(Target { file: index, definition: Some(at), line: *line });
            }
            Some(_) => {}
            // Of a language whose definitions are not read, the file is what there is.
            None if file.language.reader == language::Reader::None => {
                scope.targets.push(Target { file: index, definition: None, line: *line });
            }
            None => {}
        }
    }
}
