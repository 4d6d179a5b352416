//! The whole review: diff in, decision out. No files are opened here; they come through [`Workspace`].

use std::collections::BTreeMap;

use crate::compose::Support;
use crate::diff::{self, Change, Diff, FileDiff};
use crate::limits::{MAX_DIFF_BYTES, MAX_DIFF_LINES, MAX_FILE_BYTES, MAX_FILES, MAX_LINE_BYTES, MAX_TREE_BYTES};
use crate::model::{Coverage, Found, Review, Seen, Severity};
use crate::rules::{Findings, View, added, api, danger, files, leftovers, markers, removed, secrets};
use crate::tree::{Agreement, Workspace, compare};
use crate::verdict::{self, Facts};

/// The diff as the role got it.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Its first bytes; [`MAX_DIFF_BYTES`] of them are used.
    pub diff: &'a [u8],
    /// There is more of it than these bytes.
    pub more: bool,
}

/// Reviews a change. `input` is an error when there is no diff: with the reason, if one was handed over and cannot be read.
pub fn review(input: Result<Input<'_>, Option<String>>, workspace: &dyn Workspace, support: &[Support]) -> Review {
    let input = match input {
        Ok(input) => input,
        Err(why) => return verdict::nothing_granted(why.as_deref()),
    };
    let (kept, cut_bytes) = diff::bounded(input.diff, MAX_DIFF_BYTES, MAX_DIFF_LINES);
    if kept.iter().all(u8::is_ascii_whitespace) && cut_bytes == 0 && !input.more {
        return verdict::nothing_shown();
    }
    let parsed = diff::parse(kept, MAX_FILES);
    if parsed.files.is_empty() && parsed.unmerged.is_empty() {
        return verdict::unreadable(kept);
    }

    let mut findings = Findings::default();
    let mut budget = MAX_TREE_BYTES;
    let mut views = Vec::with_capacity(parsed.files.len());
    let mut coverage = CoverageTable::default();
    for file in &parsed.files {
        let (view, agreement) = look(file, workspace, &mut budget);
        coverage.add(seen(&view, &agreement, &mut findings));
        views.push(view);
    }
    unmerged(&parsed, &mut coverage, &mut findings);
    run_rules(&views, workspace, &mut findings);

    let mut cuts = Vec::new();
    if cut_bytes > 0 || input.more {
        let rest = if input.more { "more".to_owned() } else { format!("{cut_bytes} bytes") };
        cuts.push(format!(
            "The diff is longer than {MAX_DIFF_BYTES} bytes or {MAX_DIFF_LINES} lines; what follows ({rest}) was not reviewed"
        ));
    }
    if parsed.cut_files > 0 {
        cuts.push(format!("{} changed files past the first {MAX_FILES} were not reviewed", parsed.cut_files));
    }
    if !parsed.problems.is_empty() {
        cuts.push(format!(
            "Lines of the diff belong to no file, the first at its line {}: {}",
            parsed.problems[0].line, parsed.problems[0].what
        ));
    }
    verdict::decide(Facts {
        findings,
        coverage: coverage.finish(),
        cuts,
        hunks: parsed.files.iter().map(|file| file.hunks.len()).sum(),
        support,
    })
}

/// Reads the file that a section is about and compares the two.
fn look<'a>(file: &'a FileDiff<'a>, workspace: &dyn Workspace, budget: &mut usize) -> (View<'a>, Agreement) {
    let path = file.name().map_or(Err("its name is not readable"), |name| name.path());
    let content = match path {
        Err(why) => Err(why.to_owned()),
        Ok(_) if *budget == 0 => Err(format!("{MAX_TREE_BYTES} bytes of the workspace were read before it")),
        Ok(_) if file.is_special().is_some() => Err(String::new()),
        Ok(path) => workspace.read(path, MAX_FILE_BYTES.min(*budget)),
    };
    if let Ok(content) = &content {
        *budget = budget.saturating_sub(content.bytes.len());
    }
    let agreement = match path {
        Err(why) => Agreement::Unseen(why.to_owned()),
        Ok(_) => compare(file, content.as_ref()),
    };
    let mut view = View::new(file, content.ok());
    // Tools mark what they build into.
    let marked = |folder: &str| workspace.read(&format!("{folder}/CACHEDIR.TAG"), 1).is_ok();
    if view.not_by_hand.is_none() && path.is_ok_and(|path| crate::lang::output_folders(path).any(marked)) {
        view.not_by_hand = Some("generated");
    }
    (view, agreement)
}

/// The coverage of one section, and the findings that come with what could not be seen.
fn seen(view: &View<'_>, agreement: &Agreement, findings: &mut Findings) -> Coverage {
    let file = view.diff;
    let mut entry = Coverage { file: view.path.clone(), seen: Seen::Inspected, reason: None };
    let mut lower = |seen: Seen, reason: String| {
        if seen < entry.seen || entry.reason.is_none() {
            entry.reason = Some(reason);
        }
        entry.seen = entry.seen.min(seen);
    };
    if file.binary {
        lower(Seen::Skipped, "binary: the diff shows no lines of it".to_owned());
        return entry;
    }
    match file.is_special() {
        Some("submodule") => {
            lower(Seen::Skipped, "submodule: its content is in another repository".to_owned());
            return entry;
        }
        Some(kind) if file.change != Change::Deleted => {
            lower(Seen::Partially, format!("{kind}: its target was not looked at"));
            return entry;
        }
        _ => {}
    }
    if file.change == Change::Modified && file.hunks.is_empty() && file.old_mode == file.new_mode {
        lower(Seen::Skipped, "the diff names it and shows nothing of its change".to_owned());
    }
    match agreement {
        Agreement::Agrees => {}
        Agreement::Unseen(why) => {
            let shown = file.hunks.iter().any(|hunk| !hunk.lines.is_empty());
            let (seen, what) = if shown {
                (Seen::Partially, "only the diff's own lines were seen")
            } else {
                (Seen::Skipped, "nothing of it was seen")
            };
            lower(seen, format!("{what}: {why}"));
        }
        Agreement::Stale { line, hunks, what } => {
            lower(
                Seen::Partially,
                format!("stale diff: {what} (line {line}, {hunks} of {} hunks)", file.hunks.len().max(1)),
            );
            findings.push(
                Found::new(
                    Severity::Medium,
                    "review/stale-diff",
                    &view.path,
                    format!("The diff is not of this workspace: {what}"),
                )
                .at(*line)
                .suggest("Make the diff again and review that"),
            );
        }
    }
    if file.combined {
        lower(Seen::Partially, "merge: a combined diff shows only lines that differ from every parent".to_owned());
    }
    if let Some(problem) = file.problems.first() {
        lower(Seen::Partially, format!("line {} of the diff: {}", problem.line, problem.what));
    }
    let long = view.long_lines();
    if long > 0 {
        lower(
            Seen::Partially,
            format!("{long} lines are longer than {MAX_LINE_BYTES} bytes and were looked at up to there"),
        );
    }
    entry
}

fn unmerged(parsed: &Diff<'_>, coverage: &mut CoverageTable, findings: &mut Findings) {
    for name in &parsed.unmerged {
        let file = name.file();
        findings.push(
            Found::new(
                Severity::High,
                "review/unmerged-path",
                &file,
                "The file has a merge conflict that is not resolved",
            )
            .suggest("Resolve the conflict and `git add` the file"),
        );
        coverage.add(Coverage {
            file,
            seen: Seen::Skipped,
            reason: Some("unmerged: there is no one version of it to look at".to_owned()),
        });
    }
}

fn run_rules(views: &[View<'_>], workspace: &dyn Workspace, findings: &mut Findings) {
    let mut moves = removed::Moves::default();
    views.iter().for_each(|view| moves.note(view));
    for view in views {
        files::file(view, findings);
        markers::conflicts(view, findings);
        markers::hidden_direction(view, findings);
        secrets::added(view, findings);
        danger::weakened(view, findings);
        removed::guards(view, &moves, findings);
        // Nobody wrote those lines here.
        if view.not_by_hand.is_none() {
            added::debug_output(view, findings);
            leftovers::unfinished(view, findings);
            leftovers::switched_tests(view, findings);
            leftovers::commented_code(view, findings);
        }
    }
    api::changed_without_tests(views, findings);
    files::packages(views, |path| workspace.read(path, 1).is_ok(), findings);
}

/// One entry per file, however many sections it has: the least that was seen counts.
#[derive(Debug, Default)]
struct CoverageTable {
    order: Vec<String>,
    entries: BTreeMap<String, Coverage>,
}

impl CoverageTable {
    fn add(&mut self, entry: Coverage) {
        match self.entries.get_mut(&entry.file) {
            Some(known) if entry.seen < known.seen => *known = entry,
            Some(_) => {}
            None => {
                self.order.push(entry.file.clone());
                self.entries.insert(entry.file.clone(), entry);
            }
        }
    }

    fn finish(mut self) -> Vec<Coverage> {
        self.order.iter().filter_map(|file| self.entries.remove(file)).collect()
    }
}
