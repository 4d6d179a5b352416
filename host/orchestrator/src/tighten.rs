//! From what a role has made use of to the smaller manifest that would have been enough.
//!
//! That something is not needed, only a call that completed can show: one that failed may have ended before it came to it. What
//! a call that failed did use is needed all the same, so such a call never makes the proposal smaller.

use std::collections::BTreeSet;

use brain_manifest::Manifest;
use brain_packet::RoleName;
use brain_sandbox::Limits;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::receipts::PastCalls;

/// Most folders that `**` is narrowed to; a role that reads in more of them reads all of the project.
pub const MAX_NARROWED_FOLDERS: usize = 8;

/// A suggested limit is this many times the most that was used.
const HEADROOM: u64 = 2;

/// How the account of opened files names the root of the project, and folders that it has no room to name.
const ROOT: &str = ".";
const ELSEWHERE: &str = "*";

/// The layer of a grant that comes from the manifest.
const MANIFEST: &str = "manifest";

/// A smaller manifest, and what it is based on. Nothing has been changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tightened {
    /// The role.
    pub role: RoleName,
    /// Calls that it is based on: those that completed.
    pub calls: usize,
    /// Calls that did not complete. What they used stays; what they did not use may yet be needed.
    pub incomplete_calls: usize,
    /// Sessions that were looked into for them.
    pub sessions: usize,
    /// What becomes of each glob of `[files]`.
    pub globs: Vec<GlobAdvice>,
    /// Limits of `[limits]` that can be lower, and those that cannot since they were reached.
    pub limits: Vec<LimitAdvice>,
    /// The lines of `role.toml` that would change; empty when nothing can be smaller.
    pub patch: String,
    /// What to know before it is used.
    pub notes: Vec<String>,
}

/// What becomes of one glob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GlobAdvice {
    /// `read` or `write`.
    pub key: String,
    /// The glob as it is today.
    pub glob: String,
    /// What to do with it.
    pub advice: Advice,
    /// The globs in its place, when it is narrowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub becomes: Vec<String>,
    /// Why.
    pub why: String,
}

/// What to do with a glob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Advice {
    /// It stays.
    Keep,
    /// It goes.
    Drop,
    /// Others take its place.
    Narrow,
}

/// What becomes of one limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LimitAdvice {
    /// Its key in `[limits]`.
    pub key: String,
    /// What the manifest asks for today.
    pub today: u64,
    /// The most that a call used.
    pub peak: u64,
    /// What would be enough; absent when a call reached the limit, so that what it needs is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested: Option<u64>,
}

/// Proposes the manifest that the past calls would have been content with.
#[must_use]
pub fn tighten(manifest: &Manifest, past: &PastCalls) -> Tightened {
    let mut tightened = Tightened {
        role: manifest.name.clone(),
        calls: past.receipts.len(),
        incomplete_calls: past.incomplete.len(),
        sessions: past.sessions,
        globs: Vec::new(),
        limits: Vec::new(),
        patch: String::new(),
        notes: notes(past),
    };
    if past.receipts.is_empty() {
        return tightened;
    }
    let read = globs("read", &manifest.files.read, past, "/grants/workspace", "/grants/unused");
    let write = globs("write", &manifest.files.write, past, "/grants/write", "/grants/unusedWrite");
    let all: Vec<&Value> = past.receipts.iter().chain(&past.incomplete).collect();
    let limits = limits(&manifest.limits, &all);
    tightened.patch =
        patch(&[("read", &manifest.files.read, &read), ("write", &manifest.files.write, &write)], &limits);
    tightened.globs = read.into_iter().chain(write).collect();
    tightened.limits = limits;
    tightened
}

fn notes(past: &PastCalls) -> Vec<String> {
    let mut notes = Vec::new();
    let incomplete = past.incomplete.len();
    if past.receipts.is_empty() && incomplete == 0 {
        notes.push("no call of this role is recorded, so nothing is known of what it needs".to_owned());
    } else if past.receipts.is_empty() {
        notes
            .push(format!("no call of this role completed ({incomplete} did not), so nothing is known to be unneeded"));
    } else {
        if incomplete > 0 {
            let calls = times(incomplete);
            notes.push(format!("{calls} did not complete and left out: what they used is kept, and nothing follows from what they did not use"));
        }
        notes.push("a file that is needed only now and then may not be among those that these calls opened".to_owned());
    }
    let components: BTreeSet<&str> = past.receipts.iter().filter_map(|r| r.get("component")?.as_str()).collect();
    if components.len() > 1 {
        notes.push(format!("the calls are of {} different components of the role", components.len()));
    }
    if past.not_looked_at > 0 {
        notes.push(format!("{} older sessions or calls were not looked at: --sessions", past.not_looked_at));
    }
    if past.unreadable > 0 {
        notes.push(format!("{} sessions cannot be read", past.unreadable));
    }
    notes
}

/// The advice on the globs of one list of the manifest.
fn globs<'a>(key: &str, globs: &[String], past: &'a PastCalls, granted: &str, unused: &str) -> Vec<GlobAdvice> {
    globs
        .iter()
        .map(|glob| {
            let advice =
                |advice, becomes, why| GlobAdvice { key: key.into(), glob: glob.clone(), advice, becomes, why };
            // Only a call that was granted the glob can tell whether it is needed.
            let had = |receipts: &'a [Value]| -> Vec<&'a Value> {
                receipts.iter().filter(|r| has_glob(r.pointer(granted), glob)).collect()
            };
            let used = |calls: &[&'a Value]| -> Vec<&'a Value> {
                calls.iter().copied().filter(|r| !has_glob(r.pointer(unused), glob)).collect()
            };
            let calls = had(&past.receipts);
            let (used, used_elsewhere) = (used(&calls), used(&had(&past.incomplete)));
            match (calls.len(), used.len()) {
                (0, _) => advice(Advice::Keep, Vec::new(), "no call that completed had it".into()),
                (n, 0) if used_elsewhere.is_empty() => {
                    advice(Advice::Drop, Vec::new(), format!("never used in {}", times(n)))
                }
                (_, 0) => advice(Advice::Keep, Vec::new(), "used in a call that did not complete".into()),
                (n, times_used) if glob == "**" => match narrowed(&[used, used_elsewhere].concat()) {
                    Ok(becomes) => advice(Advice::Narrow, becomes, format!("all that {} opened is there", times(n))),
                    Err(why) => {
                        advice(Advice::Keep, Vec::new(), format!("used in {times_used} of {}; {why}", times(n)))
                    }
                },
                (n, used) => advice(Advice::Keep, Vec::new(), format!("used in {used} of {}", times(n))),
            }
        })
        .collect()
}

fn times(calls: usize) -> String {
    if calls == 1 { "1 call".into() } else { format!("{calls} calls") }
}

/// Whether the manifest's layer among these has the glob.
fn has_glob(layers: Option<&Value>, glob: &str) -> bool {
    let layers = layers.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    layers
        .iter()
        .filter(|layer| layer.get("who").and_then(Value::as_str) == Some(MANIFEST))
        .filter_map(|layer| layer.get("globs")?.as_array())
        .any(|globs| globs.iter().any(|other| other.as_str() == Some(glob)))
}

/// Globs of the folders in which the calls opened files, or why there are none.
fn narrowed(calls: &[&Value]) -> Result<Vec<String>, String> {
    let mut folders = BTreeSet::new();
    for call in calls {
        let opened = call.pointer("/files/folders").and_then(Value::as_array);
        let files_read = call.pointer("/files/filesRead").and_then(Value::as_u64);
        match opened {
            Some(opened) => folders.extend(opened.iter().filter_map(|used| used.get("folder")?.as_str())),
            // What was not opened is in no folder.
            None if files_read == Some(0) => {}
            None => return Err("older receipts do not say in which folders".into()),
        }
    }
    if folders.contains(ELSEWHERE) {
        return Err("in more folders than a receipt names".into());
    }
    let at_root = folders.remove(ROOT);
    let mut outermost = outermost(folders.into_iter());
    if outermost.len() > MAX_NARROWED_FOLDERS {
        outermost = self::outermost(outermost.iter().filter_map(|folder| folder.split('/').next()));
    }
    if outermost.len() > MAX_NARROWED_FOLDERS {
        return Err(format!("in {} folders", outermost.len()));
    }
    if outermost.is_empty() && !at_root {
        return Err("no receipt says in which folders".into());
    }
    let below = outermost.iter().map(|folder| format!("{}/**", crate::worker::escape(folder)));
    Ok(at_root.then(|| "*".to_owned()).into_iter().chain(below).collect())
}

/// Those folders that are not below another of them, sorted.
fn outermost<'a>(folders: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let all: BTreeSet<&str> = folders.collect();
    let above =
        |folder: &str| folder.match_indices('/').any(|(at, _)| folder.get(..at).is_some_and(|up| all.contains(up)));
    all.iter().copied().filter(|folder| !above(folder)).collect()
}

/// How much of each limit a receipt says was used, by key of `[limits]`, with the step that a suggestion is rounded up to.
const USED: &[(&str, &[&str], u64)] = &[
    ("deadline_ms", &["/wallMs"], 5_000),
    ("cpu_ms", &["/cpuMs"], 5_000),
    ("memory_bytes", &["/peakMemoryBytes"], 16 << 20),
    ("output_bytes", &["/output/stdoutBytes", "/output/stderrBytes"], 16 << 10),
    ("result_bytes", &["/result/bytes"], 64 << 10),
    ("written_bytes", &["/files/bytesWritten"], 1 << 20),
    ("random_bytes", &["/ambient/randomBytes"], 1 << 10),
];

fn limits(asked: &Limits, receipts: &[&Value]) -> Vec<LimitAdvice> {
    let asked = serde_json::to_value(asked).unwrap_or_default();
    USED.iter()
        .filter_map(|(key, used, step)| {
            let today = asked.get(key)?.as_u64()?;
            // A call whose receipt does not say what it used may have used anything.
            let peaks: Option<Vec<u64>> = receipts.iter().map(|receipt| sum(receipt, used)).collect();
            let peak = peaks?.into_iter().max()?;
            if receipts.iter().any(|receipt| reached(receipt, key)) {
                return Some(LimitAdvice { key: (*key).into(), today, peak, suggested: None });
            }
            let suggested = peak.saturating_mul(HEADROOM).max(1).checked_next_multiple_of(*step)?;
            (suggested < today).then(|| LimitAdvice { key: (*key).into(), today, peak, suggested: Some(suggested) })
        })
        .collect()
}

/// The sum of some numbers of a receipt, rounded up.
fn sum(receipt: &Value, pointers: &[&str]) -> Option<u64> {
    let parts: Option<Vec<u64>> = pointers
        .iter()
        .map(|pointer| {
            let number = receipt.pointer(pointer)?;
            // A float of the size of a limit is exact enough, and the cast saturates.
            number.as_u64().or_else(|| number.as_f64().filter(|f| *f >= 0.0).map(|f| f.ceil() as u64))
        })
        .collect();
    Some(parts?.into_iter().fold(0, u64::saturating_add))
}

/// Whether a call ended at a limit or was refused something by it.
fn reached(receipt: &Value, key: &str) -> bool {
    let stem = key.trim_end_matches("_ms").trim_end_matches("_bytes").replace('_', "-");
    let ended = receipt.get("ended").and_then(Value::as_str);
    if ended == Some(&format!("sandbox.limit.{stem}")) {
        return true;
    }
    let refused = receipt.get("reached").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    refused
        .iter()
        .any(|reached| matches!(reached.get("limit").and_then(Value::as_str), Some(l) if l == key || l == stem))
}

/// The changed lines of `role.toml`.
fn patch(lists: &[(&str, &Vec<String>, &Vec<GlobAdvice>)], limits: &[LimitAdvice]) -> String {
    let mut patch = String::new();
    let (mut files, mut changed) = (String::new(), false);
    for (key, today, advice) in lists {
        let mut becomes: Vec<String> = Vec::new();
        for advice in *advice {
            let kept = match advice.advice {
                Advice::Keep => vec![advice.glob.clone()],
                Advice::Drop => Vec::new(),
                Advice::Narrow => advice.becomes.clone(),
            };
            becomes.extend(kept);
        }
        let mut seen = BTreeSet::new();
        becomes.retain(|glob| seen.insert(glob.clone()));
        changed |= becomes != **today;
        if !today.is_empty() {
            let was = if becomes == **today { String::new() } else { format!("    # was {}", list(today)) };
            files.push_str(&format!("{key} = {}{was}\n", list(&becomes)));
        }
    }
    // All of the table, since it is to be put in place of what is there.
    if changed {
        patch.push_str("[files]\n");
        patch.push_str(&files);
    }
    let lower: Vec<&LimitAdvice> = limits.iter().filter(|limit| limit.suggested.is_some()).collect();
    if !lower.is_empty() {
        patch.push_str(if patch.is_empty() { "[limits]\n" } else { "\n[limits]\n" });
        for LimitAdvice { key, today, peak, suggested } in lower {
            patch.push_str(&format!("{key} = {}    # was {today}; at most {peak} used\n", suggested.unwrap_or(*today)));
        }
    }
    patch
}

/// A list of strings in TOML, on one line.
fn list(items: &[String]) -> String {
    toml::Value::from(items.to_vec()).to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;
    use serde_json::json;

    fn manifest(rest: &str) -> Manifest {
        toml::from_str(&format!(
            "name = \"tidy\"\nversion = \"0.1.0\"\ndescription = \"d\"\ncontract = \"brain:role@1.0.0\"\n\
             component = \"tidy.wasm\"\n{rest}"
        ))
        .unwrap()
    }

    fn call(granted: &[&str], unused: &[&str], folders: Option<&[&str]>) -> Value {
        let mut receipt = json!({
            "ended": "returned", "wallMs": 150.5, "cpuMs": 100, "peakMemoryBytes": 3 << 20, "component": "c",
            "files": { "filesRead": 2 },
            "output": { "stdoutBytes": 100, "stderrBytes": 20 },
            "grants": {
                "workspace": [{ "who": "manifest", "globs": granted }, { "who": "handoff", "globs": ["**"] }],
                "unused": [{ "who": "manifest", "globs": unused }],
            },
        });
        if let Some(folders) = folders {
            let opened: Vec<Value> = folders.iter().map(|folder| json!({ "folder": folder, "opened": 1 })).collect();
            receipt["files"]["folders"] = opened.into();
        }
        receipt
    }

    fn past(receipts: Vec<Value>) -> PastCalls {
        PastCalls { receipts, sessions: 3, ..PastCalls::default() }
    }

    fn advice(tightened: &Tightened) -> Vec<(&str, Advice)> {
        tightened.globs.iter().map(|glob| (glob.glob.as_str(), glob.advice)).collect()
    }

    #[test]
    fn globs_that_no_call_used_go_and_the_patch_is_toml() {
        let manifest = manifest("[files]\nread = [\"src/**\", \"docs/**\", \"new/**\"]\n");
        let calls = vec![
            call(&["src/**", "docs/**"], &["docs/**"], Some(&["src"])),
            call(&["src/**", "docs/**"], &["docs/**", "src/**"], Some(&[])),
        ];
        let tightened = tighten(&manifest, &past(calls));
        assert_eq!(
            advice(&tightened),
            [("src/**", Advice::Keep), ("docs/**", Advice::Drop), ("new/**", Advice::Keep)],
            "what no call had may be needed"
        );
        assert_eq!(tightened.calls, 2);
        let patch: toml::Value = toml::from_str(&tightened.patch).unwrap();
        assert_eq!(patch["files"]["read"], toml::Value::from(vec!["src/**", "new/**"]));
        assert_eq!(patch["limits"]["memory_bytes"].as_integer(), Some(16 << 20));
        assert_eq!(patch["limits"]["deadline_ms"].as_integer(), Some(5_000));
        assert_eq!(patch["limits"]["output_bytes"].as_integer(), Some(16 << 10));
        assert!(tightened.notes.iter().any(|note| note.contains("now and then")), "{:?}", tightened.notes);
    }

    #[test]
    fn the_patch_is_the_whole_table_and_can_be_put_in_place_of_what_is_there() {
        let manifest = manifest("[files]\nread = [\"src/**\", \"docs/**\"]\nwrite = [\"src/**\"]\n");
        let tightened = tighten(&manifest, &past(vec![call(&["src/**", "docs/**"], &["docs/**"], Some(&["src"]))]));
        let patch: toml::Value = toml::from_str(&tightened.patch).unwrap();
        assert_eq!(patch["files"]["read"], toml::Value::from(vec!["src/**"]));
        assert_eq!(patch["files"]["write"], toml::Value::from(vec!["src/**"]), "what stays is said");
    }

    #[test]
    fn everything_is_narrowed_to_the_folders_that_were_read_when_they_are_few() {
        let manifest = manifest("[files]\nread = [\"**\"]\n");
        let narrowed = |folders: &[&[&str]]| {
            let calls = folders.iter().map(|folders| call(&["**"], &[], Some(folders))).collect();
            tighten(&manifest, &past(calls)).globs.remove(0)
        };
        assert_eq!(narrowed(&[&["src", "src/a/b"], &[".", "docs/x"]]).becomes, ["*", "docs/x/**", "src/**"]);
        assert_eq!(narrowed(&[&["a[1]"]]).becomes, ["a[[]1[]]/**"], "a name is no glob");
        let deep: Vec<String> = (0..20).map(|n| format!("src/{n}")).collect();
        let deep: Vec<&str> = deep.iter().map(String::as_str).collect();
        assert_eq!(narrowed(&[&deep]).becomes, ["src/**"]);
        let many: Vec<String> = (0..=MAX_NARROWED_FOLDERS).map(|n| format!("f{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(narrowed(&[&many]).advice, Advice::Keep);
        assert_eq!(narrowed(&[&["src", "*"]]).advice, Advice::Keep, "some folders are not named");
    }

    #[test]
    fn a_receipt_that_does_not_say_narrows_nothing() {
        let manifest = manifest("[files]\nread = [\"**\"]\n");
        let mut old = call(&["**"], &[], None);
        let tightened = tighten(&manifest, &past(vec![call(&["**"], &[], Some(&["src"])), old.clone()]));
        assert_eq!(advice(&tightened), [("**", Advice::Keep)]);
        assert!(tightened.globs[0].why.contains("older receipts"), "{}", tightened.globs[0].why);
        old.as_object_mut().unwrap().remove("peakMemoryBytes");
        let tightened = tighten(&manifest, &past(vec![old]));
        assert!(!tightened.patch.contains("memory_bytes") && tightened.patch.contains("deadline_ms"));
    }

    #[test]
    fn a_limit_that_was_reached_is_not_lowered_and_none_is_raised() {
        let manifest = manifest("[limits]\nmemory_bytes = 5242880\ndeadline_ms = 500\n");
        let mut killed = call(&[], &[], None);
        killed["ended"] = "sandbox.limit.memory".into();
        let past = PastCalls { incomplete: vec![killed], ..past(vec![call(&[], &[], None)]) };
        let tightened = tighten(&manifest, &past);
        let memory = tightened.limits.iter().find(|limit| limit.key == "memory_bytes").unwrap();
        assert_eq!((memory.suggested, memory.peak), (None, 3 << 20));
        assert!(!tightened.patch.contains("memory") && !tightened.patch.contains("deadline"), "{}", tightened.patch);
    }

    #[test]
    fn a_call_that_did_not_complete_never_makes_the_proposal_smaller() {
        let manifest = manifest("[files]\nread = [\"src/**\", \"docs/**\", \"old/**\"]\n");
        let all = ["src/**", "docs/**", "old/**"];
        let done = call(&all, &["docs/**", "old/**"], Some(&["src"]));
        let mut failed = call(&all, &["src/**", "old/**"], Some(&["docs"]));
        failed["peakMemoryBytes"] = json!(40 << 20);
        let tightened = tighten(&manifest, &PastCalls { incomplete: vec![failed.clone()], ..past(vec![done]) });
        assert_eq!((tightened.calls, tightened.incomplete_calls), (1, 1));
        assert_eq!(
            advice(&tightened),
            [("src/**", Advice::Keep), ("docs/**", Advice::Keep), ("old/**", Advice::Drop)],
            "what it used is kept, and what it did not use is no reason to drop anything"
        );
        assert_eq!(tightened.globs[2].why, "never used in 1 call");
        let memory = tightened.limits.iter().find(|limit| limit.key == "memory_bytes").unwrap();
        assert_eq!((memory.peak, memory.suggested), (40 << 20, Some(80 << 20)));
        assert!(tightened.notes.iter().any(|note| note.contains("1 call did not complete")), "{:?}", tightened.notes);

        let tightened = tighten(&manifest, &PastCalls { incomplete: vec![failed], ..past(Vec::new()) });
        assert_eq!((tightened.calls, tightened.patch.as_str(), tightened.globs.len()), (0, "", 0));
        assert!(tightened.notes[0].contains("no call of this role completed (1 did not)"), "{:?}", tightened.notes);
    }

    #[test]
    fn without_calls_nothing_is_proposed() {
        let tightened = tighten(&manifest("[files]\nread = [\"**\"]\n"), &past(Vec::new()));
        assert_eq!((tightened.patch.as_str(), tightened.globs.len(), tightened.limits.len()), ("", 0, 0));
        assert!(tightened.notes[0].contains("no call"), "{:?}", tightened.notes);
    }

    #[test]
    fn odd_receipts_are_no_danger() {
        let manifest = manifest("[files]\nread = [\"**\"]\nwrite = [\"a\"]\n");
        for odd in [
            json!({}),
            json!({ "wallMs": -1, "peakMemoryBytes": 1e300, "grants": 7 }),
            json!({ "wallMs": u64::MAX, "peakMemoryBytes": u64::MAX, "grants": { "workspace": [7, { "who": "manifest" }] } }),
            json!({ "grants": { "workspace": [{ "who": "manifest", "globs": ["**", 7] }] }, "files": { "folders": [7, {}] } }),
        ] {
            let tightened = tighten(&manifest, &past(vec![odd]));
            assert!(toml::from_str::<toml::Value>(&tightened.patch).is_ok(), "{}", tightened.patch);
        }
    }
}
