//! The role: from a handoff to its findings.

use std::collections::{BTreeMap, BTreeSet};

use brain_role::{Finding, Handoff, Outcome, Tree, TreeFile};
use file_findings::{Collection, FileReport, Issue, Reader, line_starts, lower, settle};

use crate::acts::{Act, acts};
use crate::changes::{self, Changes};
use crate::dialect::{self, Chosen, Evidence};
use crate::judge::{Around, Judged, judge};
use crate::limits::{MAX_CONFIG_BYTES, MAX_MIGRATIONS, MAX_SQL_BYTES};
use crate::migration::{self, Form, Layout, Tool, Way};
use crate::rules::LASTING;
use crate::series::{self, Seen, Series};
use crate::source::{self, Extract};
use crate::sql::{Dialect, Section};
use crate::usage::{Usage, is_code};

/// Rules for SQL that is no migration: what is wrong wherever it runs.
const ANYWHERE: &[&str] = &[
    "sql/delete-without-where",
    "sql/grant-all",
    "sql/grant-public",
    "sql/no-primary-key",
    "sql/plaintext-password",
    "sql/update-without-where",
];

/// Issues of one rule on one line that are told in one finding.
const MAX_JOINED_TEXTS: usize = 4;

/// The files of a project, by what they are to this role.
#[derive(Default)]
struct Project {
    series: BTreeMap<String, Series>,
    /// SQL that is no migration.
    plain: Vec<TreeFile>,
    code: Vec<TreeFile>,
    evidence: Evidence,
    /// Words of one dialect, by folder of migrations.
    syntax: BTreeMap<String, BTreeMap<Dialect, (u32, String)>>,
    /// Tables of which a migration puts a constraint in force, by folder.
    validated: BTreeMap<String, BTreeSet<String>>,
    migrations: usize,
    /// Migrations and bytes past the bounds.
    not_read: u64,
    /// Some file bounds the wait for a lock.
    bounds_waits: bool,
    risks: Vec<String>,
}

/// The role: looks at the migrations of `handoff` and reports what is dangerous in them.
pub fn run(handoff: Handoff) -> Outcome {
    let tree = handoff.workspace();
    let files = file_findings::files(&handoff);
    let changes = changes::read(&handoff);
    let mut reader = Reader::default();
    let (mut project, layout) = survey(&tree, &files.paths, &mut reader);
    let dialects: BTreeMap<String, Chosen> = project
        .series
        .keys()
        .map(|folder| {
            let none = BTreeMap::new();
            (folder.clone(), project.evidence.choose(folder, project.syntax.get(folder).unwrap_or(&none)))
        })
        .collect();
    let recent = recent(&project, &changes);
    let usage = usage(&tree, &mut project, &recent, &dialects, &mut reader);
    let mut collection = Collection::with_first(changes.files.iter().chain(changes.before.keys()).cloned().collect());
    let older = judge_all(&tree, &project, &changes, &recent, &dialects, &usage, &mut collection);
    let plain = judge_plain(&tree, &project, &usage, &changes, &mut reader, &mut collection);
    about_series(&project, layout, &changes, &recent, &mut collection);

    let mut risks = said_of_dialects(&dialects);
    risks.extend(files.risks);
    risks.extend(changes.risks.clone());
    risks.extend(std::mem::take(&mut project.risks));
    if older > 0 {
        risks.push(format!(
            "{older} hazards in older migrations are not listed: only the newest {} of a folder and changed ones may still be ahead of a database",
            crate::limits::RECENT
        ));
    }
    if project.not_read > 0 {
        risks.push(format!("{} migrations were not looked at: more than one run reads", project.not_read));
    }
    if usage.not_looked_for > 0 {
        risks.push(format!("{} dropped or renamed names were not looked for in the code", usage.not_looked_for));
    }
    if !changes.given && project.migrations > 0 {
        risks.push(
            "no pending change was handed over, so an edit of an applied migration would not be noticed".to_owned(),
        );
    }
    risks.extend(reader.risks());
    risks.extend(collection.risks());

    let mut summary = if project.migrations == 0 {
        risks.push("no migration was found, so nothing can be said about the database's schema".to_owned());
        format!("No migration found in {} file{}.", files.paths.len(), if files.paths.len() == 1 { "" } else { "s" })
    } else {
        said_of_all(&dialects, project.migrations)
    };
    let looked_at = (project.migrations + plain) as u64;
    if looked_at > 0 {
        summary = format!("{} {summary}", collection.summary(looked_at, "No hazard found"));
    }
    if let Some(prior) = file_findings::compose(&handoff) {
        summary.push_str("\n\n");
        summary.push_str(&prior);
    }
    let mut outcome = Outcome::completed(summary).step(format!(
        "read {} migrations in {} folders",
        project.migrations,
        project.series.len()
    ));
    if !usage.is_empty() {
        outcome = outcome.step(format!("looked for dropped and renamed names in {} files of code", usage.files));
    }
    outcome.findings(collection.into_findings()).risks(risks)
}

fn said_of_all(dialects: &BTreeMap<String, Chosen>, migrations: usize) -> String {
    let mut names: Vec<&str> = dialects.values().map(|chosen| chosen.dialect.name()).collect();
    names.sort_unstable();
    names.dedup();
    let assumed = dialects.values().any(|chosen| chosen.assumed);
    let noun = if migrations == 1 { "migration" } else { "migrations" };
    format!("{migrations} {noun}, read as {}{}.", names.join(" and "), if assumed { " (assumed)" } else { "" })
}

/// Which dialect each folder was read as, and why.
fn said_of_dialects(dialects: &BTreeMap<String, Chosen>) -> Vec<String> {
    let mut by_reason: BTreeMap<(Dialect, bool, &str), Vec<&str>> = BTreeMap::new();
    for (folder, chosen) in dialects {
        by_reason.entry((chosen.dialect, chosen.assumed, chosen.why.as_str())).or_default().push(folder);
    }
    by_reason
        .into_iter()
        .map(|((dialect, assumed, why), folders)| {
            let first: String = folders
                .first()
                .map(|folder| if folder.is_empty() { "." } else { folder })
                .unwrap_or(".")
                .escape_debug()
                .take(120)
                .collect();
            let more = match folders.len() {
                0 | 1 => String::new(),
                2 => " and 1 more folder".to_owned(),
                n => format!(" and {} more folders", n - 1),
            };
            let verb = if assumed { "assumed to be" } else { "read as" };
            format!("{first}{more}: {verb} {}, since {why}", dialect.name())
        })
        .take(20)
        .collect()
}

/// Reads every migration and every configuration once, for what they say about the whole.
fn survey(tree: &Tree, files: &[TreeFile], reader: &mut Reader) -> (Project, Layout) {
    let mut project = Project::default();
    let mut layout = Layout::default();
    for file in files.iter().filter(|file| dialect::is_config(&file.path)) {
        let Some(text) = reader.read(tree, file) else { continue };
        layout.sqlx |= file.path.ends_with("Cargo.toml") && text.contains("sqlx");
        project.bounds_waits |= text.contains("lock_timeout");
        let end = file_findings::text::floor(&text, MAX_CONFIG_BYTES);
        project.evidence.read(&file.path, text.get(..end).unwrap_or_default());
    }
    if project.evidence.not_kept > 0 {
        project.risks.push(format!("{} reasons for a dialect were not kept", project.evidence.not_kept));
    }
    let mut bytes = 0usize;
    for file in files {
        let Some(mut migration) = migration::by_path(&file.path, layout).or_else(|| by_mark(tree, file)) else {
            if migration::is_plain_sql(file) {
                project.plain.push(file.clone());
            }
            if is_code(&file.path) {
                project.code.push(file.clone());
            }
            continue;
        };
        if project.migrations >= MAX_MIGRATIONS || bytes >= MAX_SQL_BYTES {
            project.not_read += 1;
            continue;
        }
        let text = reader.read(tree, file);
        let unread = text.is_none();
        let text = text.unwrap_or_default();
        // A folder called `versions` holds Alembic's migrations only where they say so.
        if migration.tool == Tool::Alembic && !unread && !text.contains("alembic") && !text.contains("down_revision") {
            continue;
        }
        bytes += text.len();
        project.migrations += usize::from(migration.way != Way::Down);
        migration.tool = migration::by_text(migration.tool, &text);
        let extract = source::extract(migration.form, &text);
        let folder = migration.folder.clone();
        if migration.form == Form::Sql {
            dialect::syntax(&file.path, &text, project.syntax.entry(folder.clone()).or_default());
        }
        let script = source::script(&extract, Dialect::Postgres);
        if text.contains("VALIDATE") || text.contains("validate") {
            let tables = script.statements.iter().flat_map(acts).filter_map(|(_, act)| match act {
                Act::Validate { table } => Some(table.key()),
                _ => None,
            });
            project.validated.entry(folder.clone()).or_default().extend(tables);
        }
        let back = script.statements.iter().filter(|statement| statement.section == Section::Down).count();
        let down = match migration.form {
            Form::Sql if script.has_up || script.has_down => Some(back > 0),
            _ => extract.down,
        };
        let statements = script.statements.len() - back;
        drop(script);
        project.series.entry(folder).or_default().seen.push(Seen {
            migration,
            statements,
            down,
            revision: extract.revision,
            before: extract.before,
            unread,
        });
    }
    project.series.values_mut().for_each(Series::sort);
    (project, layout)
}

/// A file of SQL outside of any folder for migrations, whose first lines direct a migration tool.
fn by_mark(tree: &Tree, file: &TreeFile) -> Option<migration::Migration> {
    if !migration::is_plain_sql(file) {
        return None;
    }
    let (head, _) = tree.head(&file.path, 2_000).ok()?;
    let tool = migration::by_text(Tool::Other, &String::from_utf8_lossy(&head));
    if tool == Tool::Other {
        return None;
    }
    let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    Some(migration::Migration {
        path: file.path.clone(),
        folder: folder.to_owned(),
        tool,
        form: Form::Sql,
        way: Way::Up,
        number: migration::number(name),
        pair: name.to_owned(),
    })
}

/// The migrations that are judged for what they do to a running database.
fn recent(project: &Project, changes: &Changes) -> BTreeSet<String> {
    let newest = project.series.values().flat_map(Series::recent);
    newest.chain(changes.files.iter().cloned()).collect()
}

/// The text of a migration again. What cannot be read has been said.
fn again(tree: &Tree, path: &str) -> Option<String> {
    Reader::default().read(tree, &TreeFile { path: path.to_owned(), len: 0 })
}

/// Looks for what recent migrations drop and rename.
fn usage(
    tree: &Tree,
    project: &mut Project,
    recent: &BTreeSet<String>,
    dialects: &BTreeMap<String, Chosen>,
    reader: &mut Reader,
) -> Usage {
    let mut usage = Usage::default();
    for (folder, series) in &project.series {
        let Some(chosen) = dialects.get(folder) else { continue };
        for seen in series.seen.iter().filter(|seen| recent.contains(&seen.migration.path)) {
            let Some(text) = again(tree, &seen.migration.path) else { continue };
            let extract = source::extract(seen.migration.form, &text);
            let script = source::script(&extract, chosen.dialect);
            for (_, act) in script.statements.iter().filter(|s| s.section == Section::Up).flat_map(acts) {
                match act {
                    Act::DropTable { tables, .. } => tables.iter().for_each(|table| usage.look_for_table(table)),
                    Act::RenameTable { old, .. } => usage.look_for_table(&old),
                    Act::DropColumn { table, column } => usage.look_for_column(&table, &column),
                    Act::RenameColumn { table, old, .. } => usage.look_for_column(&table, &old),
                    _ => {}
                }
            }
        }
    }
    let asks_for_waits = dialects.values().any(|chosen| chosen.dialect == Dialect::Postgres);
    if usage.is_empty() && !asks_for_waits {
        return usage;
    }
    for file in &project.code {
        let Some(text) = reader.read(tree, file) else { continue };
        project.bounds_waits |= text.contains("lock_timeout");
        usage.read(&file.path, &text);
    }
    usage
}

/// Judges every migration; gives the number of issues of older ones that are not listed.
fn judge_all(
    tree: &Tree,
    project: &Project,
    changes: &Changes,
    recent: &BTreeSet<String>,
    dialects: &BTreeMap<String, Chosen>,
    usage: &Usage,
    collection: &mut Collection,
) -> u64 {
    let mut older = 0;
    let none = BTreeSet::new();
    for (folder, series) in &project.series {
        let Some(chosen) = dialects.get(folder) else { continue };
        // The newest file that waits for locks without a bound, and how many do.
        let mut waiting: Option<(String, u32)> = None;
        let mut waits = 0usize;
        for seen in series.seen.iter().filter(|seen| seen.migration.way != Way::Down && !seen.unread) {
            let migration = &seen.migration;
            let Some(text) = again(tree, &migration.path) else { continue };
            let extract = source::extract(migration.form, &text);
            let around = Around {
                tool: migration.tool,
                form: migration.form,
                chosen,
                usage,
                validated: project.validated.get(folder).unwrap_or(&none),
            };
            let (mut judged, faults) = judged(&extract, &around);
            let is_recent = recent.contains(&migration.path);
            if !is_recent {
                let before = judged.issues.len();
                judged.issues.retain(|issue| LASTING.contains(&issue.rule));
                older += (before - judged.issues.len()) as u64;
            } else if let Some(line) = judged.waits {
                waits += 1;
                let is_changed = |path: &str| changes.files.contains(path);
                if waiting.as_ref().is_none_or(|(path, _)| is_changed(&migration.path) || !is_changed(path)) {
                    waiting = Some((migration.path.clone(), line));
                }
            }
            add(collection, changes, &migration.path, &text, judged.issues, faults, &extract);
        }
        if let Some((path, line)) = waiting.filter(|_| !project.bounds_waits) {
            let many = if waits == 1 { String::new() } else { format!("; {waits} recent migrations here do") };
            let assumed = if chosen.assumed { " (if the database is PostgreSQL, which is assumed)" } else { "" };
            let text = format!(
                "waits for the lock of a table without a bound{assumed}: while it waits behind a slow query, every other query waits behind it{many}"
            );
            let finding = Finding::new(brain_role::Severity::Low, text)
                .rule("sql/no-lock-timeout")
                .at(&path, line)
                .suggest("Begin with SET lock_timeout = '5s'; and run the migration again when it fails; or set it for the role that migrates.");
            report(collection, changes, &path, finding);
        }
    }
    older
}

fn judged(extract: &Extract, around: &Around<'_>) -> (Judged, Vec<&'static str>) {
    let script = source::script(extract, around.chosen.dialect);
    (judge(&script, around), script.faults)
}

/// Settles the issues of one file.
fn add(
    collection: &mut Collection,
    changes: &Changes,
    path: &str,
    text: &str,
    issues: Vec<Issue>,
    faults: Vec<&'static str>,
    extract: &Extract,
) {
    let mut report = FileReport::default();
    report.partly.extend(faults);
    report.partly.extend(extract.partly.iter().copied());
    report.partly.sort_unstable();
    report.partly.dedup();
    let scan = secret_scan::scan_counted(path, text);
    settle(path, text, &line_starts(text), &scan, joined(issues), &mut report);
    if changes.files.contains(path) {
        report.findings.iter_mut().for_each(|finding| mark(changes, finding));
    }
    collection.add(path, report);
}

/// Issues of one rule on one line as one, since a place and a rule have one finding.
fn joined(issues: Vec<Issue>) -> Vec<Issue> {
    let mut places: BTreeMap<(u32, &'static str), (usize, usize)> = BTreeMap::new();
    let mut kept: Vec<Issue> = Vec::new();
    for issue in issues {
        match places.get_mut(&(issue.line, issue.rule)) {
            Some((at, texts)) => {
                let Some(first) = kept.get_mut(*at) else { continue };
                *texts += 1;
                first.severity = first.severity.max(issue.severity);
                if *texts <= MAX_JOINED_TEXTS {
                    first.text.push_str("; ");
                    first.text.push_str(&issue.text);
                } else if *texts == MAX_JOINED_TEXTS + 1 {
                    first.text.push_str("; and more");
                }
            }
            None => {
                places.insert((issue.line, issue.rule), (kept.len(), 1));
                kept.push(issue);
            }
        }
    }
    kept
}

fn mark(changes: &Changes, finding: &mut Finding) {
    finding.issue.push_str(if changes.committed { " (in the last commit)" } else { " (in the pending change)" });
}

/// Adds a finding about a file as a whole.
fn report(collection: &mut Collection, changes: &Changes, path: &str, mut finding: Finding) {
    if changes.files.contains(path) || changes.before.contains_key(path) {
        mark(changes, &mut finding);
    }
    collection.add(path, FileReport { findings: vec![finding], ..FileReport::default() });
}

/// Judges SQL that is no migration by what is wrong anywhere; gives the number of files.
fn judge_plain(
    tree: &Tree,
    project: &Project,
    usage: &Usage,
    changes: &Changes,
    reader: &mut Reader,
    collection: &mut Collection,
) -> usize {
    let none = BTreeSet::new();
    let (mut files, mut bytes) = (0, 0);
    for file in &project.plain {
        if bytes >= MAX_SQL_BYTES {
            break;
        }
        let Some(text) = reader.read(tree, file) else { continue };
        files += 1;
        bytes += text.len();
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut counts = BTreeMap::new();
        dialect::syntax(&file.path, &text, &mut counts);
        let chosen = project.evidence.choose(folder, &counts);
        let around = Around { tool: Tool::Other, form: Form::Sql, chosen: &chosen, usage, validated: &none };
        let extract = source::extract(Form::Sql, &text);
        let (mut judged, faults) = judged(&extract, &around);
        judged.issues.retain(|issue| ANYWHERE.contains(&issue.rule));
        judged.issues.iter_mut().for_each(|issue| issue.severity = lower(issue.severity));
        add(collection, changes, &file.path, &text, judged.issues, faults, &extract);
    }
    files
}

/// What is wrong with the rows of migrations.
fn about_series(
    project: &Project,
    layout: Layout,
    changes: &Changes,
    recent: &BTreeSet<String>,
    collection: &mut Collection,
) {
    let mut findings: Vec<(String, Finding)> = series::edited(changes, layout, &project.series);
    for series in project.series.values() {
        let all = series.numbers().into_iter().chain(series.ways_back(recent));
        findings.extend(all.map(|finding| (finding.file.clone().unwrap_or_default(), finding)));
    }
    for (path, finding) in findings {
        report(collection, changes, &path, finding);
    }
}
