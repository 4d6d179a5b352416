//! Receipts, as tables. A receipt may be of another version of Brain, so it is read field by field: what it does not have is
//! not shown.

use std::fmt::Write;

use brain_orchestrator::KeptReceipt;
use brain_sandbox::show_bytes;
use serde_json::Value;

use super::style::{count, faint, heading, line};

/// Denials, grants and the like that are shown of each list; the rest is counted.
const MAX_ITEMS: usize = 40;

/// The receipts of a session.
pub fn receipts(kept: &[KeptReceipt]) -> String {
    let mut out = String::new();
    for (n, kept) in kept.iter().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "{}  session {}, {}", heading(kept.role.as_str()), kept.session_id, kept.phase);
        match &kept.receipt {
            Value::Object(_) => receipt(&mut out, &kept.receipt),
            _ => {
                let _ = writeln!(out, "  it was not called: `brain sessions show {}` says why", kept.session_id);
            }
        }
    }
    out
}

/// Looks into one receipt.
struct Fields<'r>(&'r Value);

impl<'r> Fields<'r> {
    fn at(&self, pointer: &str) -> Option<&'r Value> {
        self.0.pointer(pointer)
    }

    fn text(&self, pointer: &str) -> Option<String> {
        self.at(pointer)?.as_str().map(line)
    }

    fn number(&self, pointer: &str) -> Option<f64> {
        self.at(pointer)?.as_f64()
    }

    fn whole(&self, pointer: &str) -> Option<u64> {
        self.at(pointer)?.as_u64()
    }

    fn list(&self, pointer: &str) -> &'r [Value] {
        self.at(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }
}

fn row(out: &mut String, name: &str, value: &str) {
    let _ = writeln!(out, "  {name:<10} {value}");
}

fn receipt(out: &mut String, receipt: &Value) {
    let r = Fields(receipt);
    for (name, pointer) in [("component", "/component"), ("contract", "/contract")] {
        if let Some(text) = r.text(pointer) {
            row(out, name, &text);
        }
    }
    if let Some(ended) = r.text("/ended") {
        let why = r.text("/endedMessage").map(|why| format!(": {why}")).unwrap_or_default();
        row(out, "ended", &format!("{ended}{why}"));
    }
    used(out, &r);
    files(out, &r);
    grants(out, &r);
    denials(out, &r);
    reached(out, &r);
    let versions: Vec<String> = ["brain", "wasmtime"]
        .into_iter()
        .filter_map(|name| Some(format!("{name} {}", r.text(&format!("/versions/{name}"))?)))
        .collect();
    if !versions.is_empty() {
        row(out, "versions", &versions.join(", "));
    }
}

/// What was used of what there was.
fn used(out: &mut String, r: &Fields<'_>) {
    let ms = |ms: f64| format!("{ms:.0} ms");
    let of = |limit: Option<f64>, show: &dyn Fn(f64) -> String| match limit {
        Some(limit) => format!(" of {}", show(limit)),
        None => String::new(),
    };
    for (name, pointer, limit) in
        [("wall time", "/wallMs", "/limits/deadline_ms"), ("CPU time", "/cpuMs", "/limits/cpu_ms")]
    {
        if let Some(used) = r.number(pointer) {
            row(out, name, &format!("{}{}", ms(used), of(r.number(limit), &ms)));
        }
    }
    // Precise enough for a reader.
    let bytes = |n: f64| show_bytes(n as u64);
    if let Some(peak) = r.number("/peakMemoryBytes") {
        row(out, "memory", &format!("{}{} at most", bytes(peak), of(r.number("/limits/memory_bytes"), &bytes)));
    }
}

fn files(out: &mut String, r: &Fields<'_>) {
    if let (Some(read), Some(bytes)) = (r.whole("/files/filesRead"), r.whole("/files/bytesRead")) {
        row(out, "read", &format!("{}, {}", count(read as usize, "file"), show_bytes(bytes)));
    }
    let opened: Vec<String> = r
        .list("/files/folders")
        .iter()
        .take(MAX_ITEMS)
        .filter_map(|used| {
            let folder = match used.get("folder")?.as_str()? {
                "." => "the root".to_owned(),
                "*" => "other folders".to_owned(),
                folder => line(folder),
            };
            Some(format!("{folder} ({})", used.get("opened")?.as_u64()?))
        })
        .collect();
    if !opened.is_empty() {
        row(out, "", &faint(&format!("in {}{}", opened.join(", "), more(r.list("/files/folders").len()))));
    }
    if let (Some(written), Some(bytes)) = (r.whole("/files/filesWritten"), r.whole("/files/bytesWritten")) {
        row(out, "written", &format!("{}, {}", count(written as usize, "file"), show_bytes(bytes)));
    }
    if let (Some(stdout), Some(stderr)) = (r.whole("/output/stdoutBytes"), r.whole("/output/stderrBytes")) {
        let dropped = match r.whole("/output/droppedBytes") {
            None | Some(0) => String::new(),
            Some(dropped) => format!("; {} of it not kept", show_bytes(dropped)),
        };
        row(out, "printed", &format!("{}{dropped}", show_bytes(stdout.saturating_add(stderr))));
    }
}

fn more(total: usize) -> String {
    match total.saturating_sub(MAX_ITEMS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// The layers of a list of them: `src/** docs/** (manifest)`.
fn layers(layers: &[Value]) -> Vec<String> {
    layers
        .iter()
        .filter_map(|layer| {
            let globs = layer.get("globs")?.as_array()?;
            let shown: Vec<String> = globs.iter().take(MAX_ITEMS).filter_map(Value::as_str).map(line).collect();
            let shown = if shown.is_empty() { "nothing".to_owned() } else { shown.join(" ") };
            Some(format!("{shown}{} ({})", more(globs.len()), line(layer.get("who")?.as_str()?)))
        })
        .collect()
}

fn grants(out: &mut String, r: &Fields<'_>) {
    for (name, pointer) in [
        ("granted", "/grants/workspace"),
        ("to write", "/grants/write"),
        ("never used", "/grants/unused"),
        ("", "/grants/unusedWrite"),
    ] {
        let layers = layers(r.list(pointer));
        if !layers.is_empty() {
            row(out, name, &layers.join(" within "));
        }
    }
    if r.at("/grants").is_some() && r.at("/grants/workspace").is_none() {
        row(out, "granted", "no file of the project");
    }
    let also: Vec<&str> = [("/grants/context", "/context"), ("/grants/artifacts", "/artifacts")]
        .into_iter()
        .filter(|(pointer, _)| r.at(pointer).and_then(Value::as_bool) == Some(true))
        .map(|(_, mount)| mount)
        .collect();
    if !also.is_empty() {
        row(out, "", &format!("also {}", also.join(" and ")));
    }
    if let Some(Value::Object(calls)) = r.at("/stubbedCalls") {
        let calls: Vec<String> =
            calls.iter().take(MAX_ITEMS).map(|(name, times)| format!("{} ({times})", line(name))).collect();
        if !calls.is_empty() {
            row(out, "stubbed", &calls.join(", "));
        }
    }
}

fn denials(out: &mut String, r: &Fields<'_>) {
    let denied = r.list("/files/denied");
    let unlisted = r.whole("/files/deniedUnlisted").unwrap_or(0);
    for (n, denial) in denied.iter().take(MAX_ITEMS).enumerate() {
        let text = |key: &str| denial.get(key).and_then(Value::as_str).map(line);
        let Some(path) = text("path") else { continue };
        let times = match denial.get("count").and_then(Value::as_u64) {
            None | Some(1) => String::new(),
            Some(times) => format!(" ({times} times)"),
        };
        let why = text("why").map(|why| format!(": {why}")).unwrap_or_default();
        row(out, if n == 0 { "denied" } else { "" }, &format!("{path}{times}{why}"));
        if let Some(fix) = text("fix") {
            row(out, "", &faint(&format!("-> {fix}")));
        }
    }
    let rest = unlisted.saturating_add(denied.len().saturating_sub(MAX_ITEMS) as u64);
    if rest > 0 {
        row(out, "", &format!("and {rest} more"));
    }
}

/// Limits that refused something, and what was cut for them.
fn reached(out: &mut String, r: &Fields<'_>) {
    for reached in r.list("/reached").iter().take(MAX_ITEMS) {
        let Some(limit) = reached.get("limit").and_then(Value::as_str) else { continue };
        let value = reached.get("value").and_then(Value::as_u64).map(|v| format!(" of {v}")).unwrap_or_default();
        let times = reached.get("times").and_then(Value::as_u64).map(|t| format!(", {t} times")).unwrap_or_default();
        row(out, "reached", &format!("{}{value}{times}", line(limit)));
        if let Some(remedy) = reached.get("remedy").and_then(Value::as_str) {
            row(out, "", &faint(&format!("-> {}", line(remedy))));
        }
    }
    for (pointer, what) in [
        ("/files/quotaRefusals", "writes refused by the quota of /artifacts"),
        ("/files/namesSkipped", "names that are not UTF-8 and were not shown"),
    ] {
        if let Some(n) = r.whole(pointer).filter(|n| *n > 0) {
            row(out, "cut", &format!("{n} {what}"));
        }
    }
    for ignored in r.list("/files/unusableGitignores").iter().filter_map(Value::as_str).take(MAX_ITEMS) {
        row(out, "cut", &format!("only tracked files were shown below {}: it cannot be used", line(ignored)));
    }
}
