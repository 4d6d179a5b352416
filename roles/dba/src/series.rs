//! A folder of migrations as a row: numbers, heads, ways back, and what the pending change does to it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use brain_role::Severity::{self, High, Low, Medium};
use brain_role::{Finding, Severity as Grade};

use crate::changes::{Before, Changes};
use crate::limits::RECENT;
use crate::migration::{Form, Layout, Migration, Tool, Way, by_path};

/// A migration, with what its text says of the row.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) migration: Migration,
    /// Statements on the way forward, or, in a file for the way back, on that.
    pub(crate) statements: usize,
    /// Whether it has a way back, where its form tells.
    pub(crate) down: Option<bool>,
    pub(crate) revision: Option<String>,
    pub(crate) before: Vec<String>,
    /// It could not be read.
    pub(crate) unread: bool,
}

/// The migrations of one folder, in their order.
#[derive(Debug, Default)]
pub(crate) struct Series {
    pub(crate) seen: Vec<Seen>,
}

/// Numbers by value: `9` before `10`, `1.2` before `1.10`.
fn by_number(a: &str, b: &str) -> Ordering {
    let parts = |text: &str| text.split('.').map(|part| (part.len(), part.to_owned())).collect::<Vec<_>>();
    parts(a).cmp(&parts(b))
}

impl Series {
    /// Puts them in their order: by number, by Alembic's chain, else by path.
    pub(crate) fn sort(&mut self) {
        let depths = self.depths();
        self.seen.sort_by(|a, b| {
            let depth =
                |seen: &Seen| seen.revision.as_ref().and_then(|revision| depths.get(revision)).copied().unwrap_or(0);
            let numbers = match (&a.migration.number, &b.migration.number) {
                (Some(a), Some(b)) => by_number(a, b),
                (a, b) => a.is_some().cmp(&b.is_some()),
            };
            numbers.then(depth(a).cmp(&depth(b))).then_with(|| a.migration.path.cmp(&b.migration.path))
        });
    }

    /// How many migrations stand before each revision, following the chain. A ring ends where it began.
    fn depths(&self) -> BTreeMap<String, usize> {
        let before: BTreeMap<&str, &[String]> =
            self.seen.iter().filter_map(|seen| Some((seen.revision.as_deref()?, seen.before.as_slice()))).collect();
        let mut depths: BTreeMap<String, usize> = BTreeMap::new();
        for start in before.keys() {
            let (mut path, mut at) = (Vec::new(), *start);
            let mut on_path = BTreeSet::new();
            let base = loop {
                if let Some(depth) = depths.get(at) {
                    break *depth + 1;
                }
                if !on_path.insert(at) {
                    break 0;
                }
                path.push(at);
                match before.get(at).and_then(|before| before.first()) {
                    Some(next) => at = next,
                    None => break 0,
                }
            };
            for (steps, revision) in path.into_iter().rev().enumerate() {
                depths.entry(revision.to_owned()).or_insert(base + steps);
            }
        }
        depths
    }

    /// The paths of the newest migrations, whose effect is still ahead of some database.
    pub(crate) fn recent(&self) -> BTreeSet<String> {
        let ups = self.seen.iter().filter(|seen| seen.migration.way == Way::Up);
        let mut paths: Vec<String> = ups.map(|seen| seen.migration.path.clone()).collect();
        let old = paths.len().saturating_sub(RECENT);
        paths.drain(..old);
        let again = self.seen.iter().filter(|seen| seen.migration.way == Way::Repeatable);
        paths.into_iter().chain(again.map(|seen| seen.migration.path.clone())).collect()
    }

    fn newest(&self) -> Option<&Seen> {
        self.seen.iter().rev().find(|seen| seen.migration.way == Way::Up)
    }

    /// Two migrations with one number, or two ends of Alembic's chain.
    pub(crate) fn numbers(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut numbers: BTreeMap<(Way, &str), &Seen> = BTreeMap::new();
        for seen in &self.seen {
            let Some(number) = seen.migration.number.as_deref() else { continue };
            // Django orders by what a migration depends on.
            if matches!(seen.migration.tool, Tool::Django | Tool::Liquibase) {
                continue;
            }
            match numbers.get(&(seen.migration.way, number)) {
                Some(first)
                    if first.migration.pair != seen.migration.pair || first.migration.path != seen.migration.path =>
                {
                    let severity = if seen.migration.tool == Tool::Prisma { Low } else { High };
                    findings.push(
                        finding(
                            severity,
                            "migration/same-number",
                            &seen.migration.path,
                            format!("has the number {number} of {}: one of the two is refused or left out, or their order is chance", name_of(&first.migration.path)),
                        )
                        .suggest("Give the later one a number of its own, before it is applied anywhere."),
                    );
                }
                Some(_) => {}
                None => {
                    numbers.insert((seen.migration.way, number), seen);
                }
            }
        }
        self.heads(&mut findings);
        findings
    }

    fn heads(&self, findings: &mut Vec<Finding>) {
        let followed: BTreeSet<&str> =
            self.seen.iter().flat_map(|seen| seen.before.iter().map(String::as_str)).collect();
        let mut revisions: BTreeMap<&str, &Seen> = BTreeMap::new();
        for seen in &self.seen {
            let Some(revision) = seen.revision.as_deref() else { continue };
            if let Some(first) = revisions.insert(revision, seen) {
                let text = format!(
                    "has the revision of {}: Alembic knows only one of the two",
                    name_of(&first.migration.path)
                );
                findings.push(
                    finding(High, "migration/same-number", &seen.migration.path, text)
                        .suggest("Give one of them a revision of its own."),
                );
            }
        }
        let heads: Vec<&&Seen> =
            revisions.iter().filter(|(revision, _)| !followed.contains(*revision)).map(|(_, seen)| seen).collect();
        if heads.len() > 1 {
            for head in heads.iter().take(10) {
                let text =
                    format!("is one of {} ends of the chain: `alembic upgrade head` refuses to choose", heads.len());
                findings.push(
                    finding(Medium, "migration/two-heads", &head.migration.path, text)
                        .suggest("Let one follow the other (down_revision), or join them with `alembic merge`."),
                );
            }
        }
    }

    /// Migrations without a way back, in a folder in which others have one.
    pub(crate) fn ways_back(&self, recent: &BTreeSet<String>) -> Vec<Finding> {
        let back: BTreeSet<&str> = self
            .seen
            .iter()
            .filter(|seen| seen.migration.way == Way::Down && seen.statements > 0)
            .map(|seen| seen.migration.pair.as_str())
            .collect();
        let has = |seen: &Seen| back.contains(seen.migration.pair.as_str()) || seen.down == Some(true);
        if !self.seen.iter().any(|seen| seen.migration.way == Way::Up && has(seen)) {
            return Vec::new();
        }
        self.seen
            .iter()
            .filter(|seen| {
                seen.migration.way == Way::Up
                    && !seen.unread
                    && seen.statements > 0
                    && recent.contains(&seen.migration.path)
            })
            // A program whose calls are not read may well have one.
            .filter(|seen| !has(seen) && (seen.migration.form == Form::Sql || seen.down == Some(false)))
            .map(|seen| {
                let text =
                    "has no way back, although others beside it have one: a release with it cannot be rolled back";
                finding(Low, "migration/no-down", &seen.migration.path, text).suggest(
                    "Write the statements that undo it, or a comment in the way back that says why there is none.",
                )
            })
            .collect()
    }
}

/// A finding about a file as a whole.
fn finding(severity: Severity, rule: &str, path: &str, text: impl Into<String>) -> Finding {
    Finding::new(severity, text).rule(rule).at(path, 1)
}

fn name_of(path: &str) -> String {
    let parts: Vec<&str> = path.rsplitn(3, '/').collect();
    let name = match parts.as_slice() {
        [name @ ("migration.sql" | "up.sql" | "down.sql"), folder, ..] => format!("{folder}/{name}"),
        [name, ..] => (*name).to_owned(),
        [] => String::new(),
    };
    name.escape_debug().take(120).collect()
}

/// Migrations that the pending change edits, deletes or renames although they were there before.
pub(crate) fn edited(changes: &Changes, layout: Layout, series: &BTreeMap<String, Series>) -> Vec<(String, Finding)> {
    let mut findings = Vec::new();
    for (path, before) in &changes.before {
        let old = match before {
            Before::Renamed { from } => from,
            _ => path,
        };
        let Some(migration) = by_path(old, layout).filter(|migration| migration.way == Way::Up) else { continue };
        let row = series.get(&migration.folder);
        let known = row.and_then(|row| row.seen.iter().find(|seen| seen.migration.path == *path));
        let tool = known.map_or(migration.tool, |seen| seen.migration.tool);
        // The newest may be one that was written on this branch and has run nowhere.
        let newest = row.and_then(Series::newest).is_some_and(|seen| seen.migration.path == *path);
        let grade: Grade = if newest { Medium } else { High };
        let checked = matches!(tool, Tool::Sqlx | Tool::Flyway | Tool::Prisma | Tool::Liquibase);
        let effect = if checked {
            format!("{} compares checksums and refuses to run on every database that has applied it", tool.name())
        } else {
            "databases that have applied it never see the difference, and new ones are built otherwise".to_owned()
        };
        let (what, line) = match before {
            Before::Edited { line } => ("edits a migration that was there before".to_owned(), Some(*line)),
            Before::Deleted => ("deletes a migration that was there before".to_owned(), None),
            Before::Renamed { .. } => {
                (format!("renames a migration that was there before ({})", name_of(old)), Some(1))
            }
        };
        let mut finding = Finding::new(grade, format!("the change {what}: {effect}"))
            .rule("migration/edited")
            .suggest("Restore it, and write a new migration for the difference. If it has been applied nowhere, say so in the review.");
        finding.file = Some(path.clone());
        finding.line = line;
        findings.push((path.clone(), finding));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(path: &str, revision: Option<&str>, before: &[&str]) -> Seen {
        let migration = by_path(path, Layout::default()).unwrap_or_else(|| panic!("{path} is no migration"));
        Seen {
            migration,
            statements: 1,
            down: None,
            revision: revision.map(str::to_owned),
            before: before.iter().map(|text| (*text).to_owned()).collect(),
            unread: false,
        }
    }

    #[test]
    fn the_order_is_that_of_numbers_or_of_the_chain() {
        let mut series =
            Series { seen: vec![seen("migrations/10_b.sql", None, &[]), seen("migrations/9_a.sql", None, &[])] };
        series.sort();
        assert_eq!(series.newest().map(|seen| seen.migration.path.as_str()), Some("migrations/10_b.sql"));
        let mut series = Series {
            seen: vec![
                seen("versions/a.py", Some("3"), &["2"]),
                seen("versions/b.py", Some("1"), &[]),
                seen("versions/c.py", Some("2"), &["1"]),
            ],
        };
        series.sort();
        let order: Vec<&str> = series.seen.iter().map(|seen| seen.migration.path.as_str()).collect();
        assert_eq!(order, ["versions/b.py", "versions/c.py", "versions/a.py"]);
        // A ring is no chain, and no trap.
        let mut ring =
            Series { seen: vec![seen("versions/a.py", Some("1"), &["2"]), seen("versions/b.py", Some("2"), &["1"])] };
        ring.sort();
        assert_eq!(ring.seen.len(), 2);
    }

    #[test]
    fn two_ends_of_a_chain_are_named_and_a_merge_joins_them() {
        let mut series = Series {
            seen: vec![
                seen("versions/a.py", Some("1"), &[]),
                seen("versions/b.py", Some("2"), &["1"]),
                seen("versions/c.py", Some("3"), &["1"]),
            ],
        };
        assert_eq!(series.numbers().len(), 2);
        series.seen.push(seen("versions/d.py", Some("4"), &["2", "3"]));
        assert_eq!(series.numbers(), []);
    }
}
