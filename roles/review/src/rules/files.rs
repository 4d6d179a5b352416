//! Rules about files as a whole: size, kind, mode, and files that belong together.

use super::{Findings, View, text_of};
use crate::diff::{Change, Side};
use crate::lang::{Lang, PACKAGE_FILES, file_name, is_lock_file, is_script};
use crate::limits::{LARGE_FILE_BYTES, LARGE_FILE_LINES};
use crate::model::{Found, Severity};

/// Everything that one file shows by itself.
pub fn file(view: &View<'_>, findings: &mut Findings) {
    size(view, findings);
    binary(view, findings);
    mode(view, findings);
    link(view, findings);
    by_hand(view, findings);
}

fn is_new(view: &View<'_>) -> bool {
    matches!(view.diff.change, Change::Added | Change::Copied)
}

fn size(view: &View<'_>, findings: &mut Findings) {
    if !is_new(view) {
        return;
    }
    let shown: usize = view.lines(Side::Added).map(|line| line.text.len() + 1).sum();
    let bytes = view.content.as_ref().map_or(shown, |content| content.bytes.len().max(shown));
    let lines = view.lines(Side::Added).count();
    let advice = "Leave it out of the repository, or split it";
    if bytes > LARGE_FILE_BYTES {
        let more = if view.content.as_ref().is_some_and(|content| content.cut) { "more than " } else { "" };
        findings.push(
            Found::new(
                Severity::Medium,
                "review/large-file",
                &view.path,
                format!("The new file has {more}{bytes} bytes (over {LARGE_FILE_BYTES})"),
            )
            .suggest(advice),
        );
    } else if lines > LARGE_FILE_LINES && !is_lock_file(&view.path) && view.not_by_hand.is_none() {
        findings.push(
            Found::new(
                Severity::Medium,
                "review/large-file",
                &view.path,
                format!("The new file has {lines} lines (over {LARGE_FILE_LINES})"),
            )
            .suggest(advice),
        );
    }
}

fn binary(view: &View<'_>, findings: &mut Findings) {
    if !view.diff.binary || view.diff.change == Change::Deleted {
        return;
    }
    let name = file_name(&view.path).to_ascii_lowercase();
    let media = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".woff", ".woff2", ".ttf", ".pdf"]
        .iter()
        .any(|end| name.ends_with(end));
    let severity = if media { Severity::Low } else { Severity::Medium };
    let verb = if is_new(view) { "adds" } else { "replaces" };
    findings.push(
        Found::new(
            severity,
            "review/binary-file",
            &view.path,
            format!("The change {verb} a binary file, which a review of lines cannot see into"),
        )
        .suggest("Say where it comes from, and build or fetch it instead where that is possible"),
    );
}

fn mode(view: &View<'_>, findings: &mut Findings) {
    let executable = |mode: u32| mode & 0o170_000 == 0o100_000 && mode & 0o111 != 0;
    let was_plain = is_new(view) || view.diff.old_mode.is_some_and(|mode| !executable(mode));
    let becomes = was_plain && view.diff.new_mode.is_some_and(executable);
    if !becomes {
        return;
    }
    // A script says by its first line what runs it.
    let script = view.content.as_ref().is_some_and(|content| is_script(&content.bytes)) || view.lang == Lang::Shell;
    let severity = if script { Severity::Low } else { Severity::Medium };
    findings.push(
        Found::new(severity, "review/made-executable", &view.path, "The file becomes executable")
            .suggest("Keep the mode 644 unless the file is meant to be run"),
    );
}

fn link(view: &View<'_>, findings: &mut Findings) {
    if view.diff.is_special() != Some("symbolic link") {
        return;
    }
    if let Some(line) = view.lines(Side::Added).next() {
        let target = text_of(line);
        // How far the target climbs, against how deep the link lies.
        let depth = view.path.matches('/').count();
        let climbs = target.split('/').filter(|part| *part == "..").count();
        let leaves = target.starts_with('/') || climbs > depth;
        let (severity, issue) = if leaves {
            (Severity::High, "A symbolic link points out of the repository")
        } else {
            (Severity::Low, "The change adds or moves a symbolic link")
        };
        findings.push(Found::new(severity, "review/symbolic-link", &view.path, issue).at(line.line).evidence(target));
    }
}

fn by_hand(view: &View<'_>, findings: &mut Findings) {
    if view.diff.change == Change::Deleted || is_lock_file(&view.path) {
        return;
    }
    if let Some(kind) = view.not_by_hand {
        findings.push(
            Found::new(Severity::Low, "review/generated-file", &view.path, format!("The change touches a {kind} file"))
                .suggest("Change its source and generate it again, or leave it out of the repository"),
        );
        return;
    }
    let marked = view.content.as_ref().is_some_and(|content| {
        let head = String::from_utf8_lossy(content.bytes.get(..1024).unwrap_or(&content.bytes)).into_owned();
        head.lines().take(5).any(|line| {
            (line.contains("DO NOT EDIT") && line.to_ascii_lowercase().contains("generated"))
                || line.contains("@generated")
        })
    });
    if marked && view.diff.change == Change::Modified {
        findings.push(
            Found::new(Severity::Low, "review/generated-file", &view.path, "The file says that it is generated")
                .suggest("Change its source and generate it again"),
        );
    }
}

/// Manifests and their lock files. `exists` says whether a file is in the workspace.
pub fn packages(views: &[View<'_>], exists: impl Fn(&str) -> bool, findings: &mut Findings) {
    let touched = |path: &str| views.iter().find(|view| view.path == path);
    for view in views {
        let folder = view.path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        for files in PACKAGE_FILES {
            let name = file_name(&view.path);
            if files.locks.contains(&name) && view.diff.change != Change::Deleted {
                // A workspace has its lock at the root and its manifests below.
                let near = views
                    .iter()
                    .any(|other| file_name(&other.path) == files.manifest && other.path.starts_with(&folder));
                if !near {
                    findings.push(
                        Found::new(
                            Severity::Low,
                            "review/lock-without-manifest",
                            &view.path,
                            format!("The lock file changes and no {} does", files.manifest),
                        )
                        .suggest("Say that it is an update of locked versions, or leave it out"),
                    );
                }
            }
            if name == files.manifest
                && view.diff.change != Change::Deleted
                && let Some((line, text)) = dependency_line(view)
            {
                let mut above: Vec<&str> = vec![folder.as_str()];
                let mut rest = folder.trim_end_matches('/');
                while let Some((parent, _)) = rest.rsplit_once('/') {
                    above.push(folder.get(..=parent.len()).unwrap_or(""));
                    rest = parent;
                }
                above.push("");
                let locks: Vec<String> = above
                    .iter()
                    .flat_map(|folder| files.locks.iter().map(move |lock| format!("{folder}{lock}")))
                    .collect();
                let stale = !locks.iter().any(|lock| touched(lock).is_some()) && locks.iter().any(|lock| exists(lock));
                if stale {
                    findings.push(
                        Found::new(
                            Severity::Medium,
                            "review/manifest-without-lock",
                            &view.path,
                            "The dependencies change and the lock file does not",
                        )
                        .at(line)
                        .evidence(text)
                        .suggest("Update the lock file in the same change"),
                    );
                }
            }
        }
    }
}

/// The first added line inside a table or list of dependencies.
fn dependency_line(view: &View<'_>) -> Option<(u32, String)> {
    let content = view.content.as_ref()?;
    let text = String::from_utf8_lossy(&content.bytes);
    let mut inside = vec![false];
    let mut now = file_name(&view.path) == "Gemfile";
    for line in text.lines() {
        let start = line.trim();
        let opens = start.starts_with('[')
            || ((start.starts_with('"') || start.starts_with("require") || start.starts_with("dependencies"))
                && start.ends_with(['{', '[', '(']));
        if opens {
            let lower = start.to_ascii_lowercase();
            now = lower.contains("dependencies")
                || lower.contains("dependency-groups")
                || lower.starts_with("require")
                || lower.starts_with("\"require")
                || lower == "[packages]"
                || lower == "[dev-packages]";
            inside.push(false);
            continue;
        }
        if matches!(start.chars().next(), Some('}' | ')' | ']')) {
            now = false;
        }
        let whole = file_name(&view.path) == "go.mod" && start.starts_with("require ");
        inside.push((now || whole) && !start.is_empty() && !start.starts_with('#'));
    }
    let found = view.added().find(|(line, _)| inside.get(*line as usize).copied().unwrap_or(false));
    found.map(|(line, text)| (line, text.into_owned()))
}
