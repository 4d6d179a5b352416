//! The report of a run, its plan, and the question that it may ask back.

use std::fmt::Write as _;
use std::io::Write as _;

use brain_orchestrator::{
    CheckStatus, CheckSummary, PlanPhase, REVIEW_DECISION, ReportFinding, RunReport, WorkerReport, figures,
};
use brain_packet::{ContextRefKind, ReviewDecision, SessionId, Severity, TaskStatus, Verdict};
use brain_sandbox::{GlobLayer, Receipt, show_bytes};

use super::style::{block, count, faint, heading, line, severity, status};

/// Findings that a report shows; the rest is counted.
const MAX_FINDINGS: usize = 60;
/// Files worth reading that a report shows for each role.
const MAX_FILES: usize = 12;
/// Denials that a report shows for each role; the rest is counted, and the receipt has it.
const MAX_DENIALS: usize = 3;
/// Risks, questions and the like that a report shows of each list.
const MAX_ITEMS: usize = 12;
/// Lines from the end of what a failed check said.
const MAX_CHECK_LINES: usize = 12;

/// The whole report.
pub fn report(report: &RunReport) -> String {
    let mut out = String::new();
    let put = &mut out;
    let _ = writeln!(put, "{}", heading("Brain report"));
    let _ = writeln!(put, "Request   {}", line(&report.task));
    let _ = writeln!(put, "Status    {}", report.status.as_str().replace('_', " "));
    if let Some(primary) = &report.routing.primary_role {
        let _ = writeln!(put, "Routing   {primary} answers: {}", line(&report.routing.reason));
    }
    if let Some(changes) = &report.changes {
        let _ = writeln!(put, "Diff      {}", line(changes));
    }
    let _ = writeln!(put, "\n{}", heading("Answer"));
    put.push_str(&block(&report.summary, "  "));
    if let Some(question) = &report.clarification {
        put.push_str(&super::plan::options(question));
        let _ = writeln!(put, "  answer with a number or in words: brain run --session {} \"1\"", report.session_id);
    }
    findings(put, report);
    if let Some(checked) = &report.checks {
        checks(put, checked);
    }
    if let Some(decision) = &report.review {
        review(put, decision);
    }
    files(put, report);
    if !report.workers.is_empty() {
        let _ = writeln!(put, "\n{}", heading("Roles"));
        report.workers.iter().for_each(|w| worker(put, w, &report.session_id));
    }
    items(put, "Open questions", report.workers.iter().flat_map(|w| w.next_questions.iter().map(move |q| (w, q))));
    // What ended a role by force is told with the role.
    let ended = report.workers.iter().filter(|w| w.fault.is_none());
    items(put, "Risks", ended.flat_map(|w| w.risks.iter().map(move |r| (w, r))));
    plain(put, "Missing", &report.missing);
    plain(put, "Warnings", &report.warnings);
    out.push_str(&proposals(report));
    let put = &mut out;
    let _ = writeln!(
        put,
        "\nSession   {}   {}",
        report.session_id,
        faint(&format!("brain sessions show {}", report.session_id))
    );
    out
}

/// What the roles propose to change, and how it gets into the project.
fn proposals(report: &RunReport) -> String {
    let proposed: Vec<_> = report.workers.iter().filter_map(|w| Some((w, w.changes.as_ref()?))).collect();
    let mut out = String::new();
    for (n, (worker, changes)) in proposed.iter().enumerate() {
        let title = if n == 0 { "\nChanges " } else { "        " };
        // The session alone names a proposal that is the only one.
        let which = match proposed.len() {
            1 => report.session_id.to_string(),
            _ => format!("{} {}", report.session_id, worker.role),
        };
        let figures = figures(changes.files, changes.added_lines, changes.removed_lines);
        let role = &worker.role;
        let _ = if worker.status == TaskStatus::Completed {
            writeln!(out, "{title}  {role} proposes: {figures}: brain diff {which}, then brain apply {which}")
        } else {
            let status = status(worker.status);
            writeln!(
                out,
                "{title}  {role} proposes: {figures}, and ended as {status}: look at what is there of it with brain diff {which}"
            )
        };
    }
    out
}

/// The answer alone.
pub fn summary(report: &RunReport) -> String {
    let mut text = block(&report.summary, "");
    if let Some(question) = &report.clarification {
        text.push_str(&super::plan::options(question));
    }
    text
}

/// What the run had to do without, and what a reader should not overlook, on standard error.
pub fn shortfalls(report: &RunReport) {
    for said in report.missing.iter().chain(&report.warnings) {
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(std::io::stderr().lock(), "{}", line(said));
    }
    let _ = write!(std::io::stderr().lock(), "{}", proposals(report));
}

/// The project's own checks; of one that failed, the end of what it said.
fn checks(out: &mut String, checked: &CheckSummary) {
    let word = |status| match status {
        CheckStatus::Passed => "passed",
        CheckStatus::Failed => "failed",
        CheckStatus::Skipped => "not run",
    };
    let _ = writeln!(out, "\n{}", heading(&format!("Checks of the project: {}", word(checked.status))));
    if let Some(reason) = &checked.reason {
        let _ = writeln!(out, "  {}", line(reason));
    }
    for check in &checked.results {
        let took = check.duration_ms as f64 / 1000.0;
        let _ = writeln!(out, "  {:<8} {} ({took:.1} s)", word(check.status), line(&check.name));
        if check.status == CheckStatus::Failed {
            let said = if check.stderr.trim().is_empty() { &check.stdout } else { &check.stderr };
            let lines: Vec<&str> = said.lines().collect();
            let from = lines.len().saturating_sub(MAX_CHECK_LINES);
            lines.iter().skip(from).for_each(|said| {
                let _ = writeln!(out, "    | {}", line(said));
            });
        }
    }
    for note in &checked.notes {
        let _ = writeln!(out, "  {}", faint(&line(note)));
    }
}

fn worker(out: &mut String, worker: &WorkerReport, session: &SessionId) {
    let phase = match worker.phase {
        PlanPhase::Primary => "answers",
        PlanPhase::Support => "support",
        PlanPhase::Review => "reviews",
    };
    let _ = write!(out, "  {:<12} {:<9} {phase}", worker.role.as_str(), status(worker.status));
    if let Some(receipt) = &worker.receipt {
        let _ = write!(
            out,
            "   {:.2} s, {} peak, {} opened ({} read)",
            receipt.wall_ms / 1000.0,
            show_bytes(receipt.peak_memory_bytes),
            count(receipt.files.files_read as usize, "file"),
            show_bytes(receipt.files.bytes_read),
        );
    }
    let _ = writeln!(out, ", {}", count(worker.findings, "finding"));
    if let Some(fault) = &worker.fault {
        let _ = writeln!(out, "    {}: {}", fault.code, line(&fault.message));
        if let Some(remedy) = &fault.remedy {
            let _ = writeln!(out, "    -> {}", line(remedy));
        }
    } else if worker.phase != PlanPhase::Primary {
        let _ = writeln!(out, "    {}", line(&worker.summary));
    }
    for note in worker.notes.iter().filter(|note| note.field == REVIEW_DECISION) {
        let _ = writeln!(out, "    {}: {}", line(&note.problem), line(&note.action));
    }
    if let Some(receipt) = &worker.receipt {
        let _ = writeln!(out, "    {}", faint(&granted(receipt)));
        for denial in receipt.files.denied.iter().take(MAX_DENIALS) {
            let fix = denial.fix.as_deref().map(|fix| format!("; to grant it, {fix}")).unwrap_or_default();
            let _ = writeln!(out, "    denied {} ({}{})", line(&denial.path), line(&denial.why), line(&fix));
        }
        let more = receipt.files.denied.len().saturating_sub(MAX_DENIALS) as u64;
        let more = more.saturating_add(receipt.files.denied_unlisted);
        if more > 0 {
            let _ = writeln!(out, "    and {more} more denied: brain receipt {session} {}", worker.role);
        }
    }
}

/// The globs of a layer, the first of them.
fn globs(layer: &GlobLayer) -> String {
    let shown: Vec<String> = layer.globs.iter().take(4).map(|g| line(g)).collect();
    let more = layer.globs.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(" "))
}

/// What may be written, in words.
pub(super) fn writes(layers: &[GlobLayer]) -> String {
    let narrowing: Vec<String> = layers
        .iter()
        .filter(|layer| layer.globs != ["**"])
        .map(|layer| format!("{} ({})", globs(layer), layer.who))
        .collect();
    match layers {
        [] => "nothing to write".to_owned(),
        _ if narrowing.is_empty() => "to write all of the project".to_owned(),
        _ => format!("to write {}", narrowing.join(" within ")),
    }
}

/// What a call was granted, in one line.
fn granted(receipt: &Receipt) -> String {
    let grants = &receipt.grants;
    let workspace = match &grants.workspace {
        None => "no file of the project".to_owned(),
        Some(layers) => {
            // A layer that grants everything says nothing.
            let narrowing: Vec<String> = layers
                .iter()
                .filter(|layer| layer.globs != ["**"])
                .map(|layer| format!("{} ({})", globs(layer), layer.who))
                .collect();
            let read = if narrowing.is_empty() { "all of the project".into() } else { narrowing.join(" within ") };
            let ignored = if grants.gitignore { " or a .gitignore excludes" } else { "" };
            format!("{read}, but not what {} deny{ignored}", count(grants.deny.len(), "glob"))
        }
    };
    let write = writes(&grants.write);
    let mut also = Vec::new();
    if grants.context {
        also.push("its /context");
    }
    if grants.artifacts {
        also.push("an empty /artifacts");
    }
    if grants.wall_clock {
        also.push("the time of day");
    }
    if grants.random {
        also.push("entropy");
    }
    let mut unused: Vec<String> =
        grants.unused.iter().map(|layer| format!("{} ({})", globs(layer), layer.who)).collect();
    unused.extend(grants.unused_write.iter().map(|layer| format!("to write {} ({})", globs(layer), layer.who)));
    let unused = if unused.is_empty() { String::new() } else { format!("; never used: {}", unused.join(", ")) };
    format!(
        "granted: {workspace}; {write}; also {}{unused}",
        if also.is_empty() { "nothing else".into() } else { also.join(", ") }
    )
}

fn findings(out: &mut String, report: &RunReport) {
    if report.findings.is_empty() {
        return;
    }
    let counts = [Severity::High, Severity::Medium, Severity::Low]
        .map(|s| format!("{} {}", report.count(s), format!("{s:?}").to_lowercase()))
        .join(", ");
    let _ = writeln!(out, "\n{}  {counts}", heading("Findings"));
    for found in report.findings.iter().take(MAX_FINDINGS) {
        finding(out, found);
    }
    let rest = report.findings.len().saturating_sub(MAX_FINDINGS);
    if rest > 0 {
        let _ = writeln!(out, "  and {rest} more: --json or --sarif has them all");
    }
}

fn finding(out: &mut String, found: &ReportFinding) {
    let f = &found.finding;
    let place = match (&f.file, f.line) {
        (Some(file), Some(n)) => format!("{}:{n}", line(file)),
        (Some(file), None) => line(file),
        (None, _) => "(no place)".into(),
    };
    let roles: Vec<&str> = found.roles.iter().map(|r| r.as_str()).collect();
    let rule = f.rule.as_deref().map(|r| format!("  {}", line(r))).unwrap_or_default();
    let _ = writeln!(out, "  {} {place}{rule}  {}", severity(f.severity), faint(&format!("[{}]", roles.join(", "))));
    let _ = writeln!(out, "         {}", line(&f.issue));
    if let Some(evidence) = &f.evidence {
        let _ = writeln!(out, "         {}", faint(&line(evidence)));
    }
    if let Some(suggestion) = &f.suggestion {
        let _ = writeln!(out, "         -> {}", line(suggestion));
    }
}

fn review(out: &mut String, decision: &ReviewDecision) {
    let verdict = match decision.decision {
        Verdict::Approved => "approved",
        Verdict::ChangesRequested => "changes requested",
        Verdict::Blocked => "blocked",
    };
    let confidence = decision.confidence.map(|c| format!(", confidence {:.0} %", c * 100.0)).unwrap_or_default();
    let _ = writeln!(out, "\n{}  {verdict}{confidence}", heading("Review"));
    put_line(out, &decision.rationale);
    for (title, list) in [
        ("required", &decision.required_changes),
        ("blocking", &decision.blocking_issues),
        ("left over", &decision.residual_risks),
    ] {
        for item in list.iter().take(MAX_ITEMS) {
            let _ = writeln!(out, "  {title}: {}", line(item));
        }
        more(out, list.len());
    }
    let inspected = decision.coverage.iter().filter(|c| c.status == brain_packet::CoverageStatus::Inspected).count();
    if !decision.coverage.is_empty() {
        let _ = writeln!(out, "  {inspected} of {} inspected", count(decision.coverage.len(), "changed file"));
    }
}

/// The files that the roles point at.
fn files(out: &mut String, report: &RunReport) {
    for worker in &report.workers {
        let files: Vec<_> = worker.artifacts.iter().filter(|a| a.kind == ContextRefKind::File).collect();
        if !files.is_empty() {
            let _ = writeln!(out, "\n{}  {}", heading("Files worth reading"), faint(&format!("[{}]", worker.role)));
            for (n, file) in files.iter().take(MAX_FILES).enumerate() {
                let path = file.uri.strip_prefix("file:").unwrap_or(&file.uri);
                let why = file.label.as_deref().map(|l| format!("  {}", line(l))).unwrap_or_default();
                let _ = writeln!(out, "  {:>2}. {}{why}", n + 1, line(path));
            }
            let rest = files.len().saturating_sub(MAX_FILES);
            if rest > 0 {
                let _ = writeln!(out, "      and {rest} more");
            }
        }
        for kept in worker.artifacts.iter().filter(|a| a.kind == ContextRefKind::Artifact) {
            let label = kept.label.as_deref().map(|l| format!("  {}", line(l))).unwrap_or_default();
            let _ = writeln!(out, "  {} {}{label}", faint("kept"), line(&kept.uri));
        }
    }
}

fn items<'a>(out: &mut String, title: &str, items: impl Iterator<Item = (&'a WorkerReport, &'a String)>) {
    let items: Vec<_> = items.collect();
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", heading(title));
    for (worker, item) in items.iter().take(MAX_ITEMS) {
        let _ = writeln!(out, "  {}: {}", worker.role, line(item));
    }
    more(out, items.len());
}

pub(super) fn plain(out: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", heading(title));
    for item in items.iter().take(MAX_ITEMS) {
        put_line(out, item);
    }
    more(out, items.len());
}

fn more(out: &mut String, all: usize) {
    if all > MAX_ITEMS {
        let _ = writeln!(out, "  and {} more", all - MAX_ITEMS);
    }
}

fn put_line(out: &mut String, text: &str) {
    let _ = writeln!(out, "  {}", line(text));
}
