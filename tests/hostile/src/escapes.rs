//! The escape corpus: every path of `escapes.toml` by every call that takes a path, and what must come of it.
//!
//! An escape is a call that succeeds where nothing may, an answer that has something of the outside in it, or anything that
//! happened to the folder beside the root. A code that is not the expected one is a fault too, and counted apart.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use brain_sandbox::{GlobLayer, WorkspaceGrant};
use brain_tests::Bench;
use brain_tests::probe::script::{Answer, FREE, How, Op, Slot, Stamp, WORKSPACE};
use brain_tests::probe::{open, probe_with};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde::Deserialize;

use crate::case::Suite;
use crate::outside::{CANARY, Outside, canary, snapshot, told};

const CORPUS: &str = include_str!("../escapes.toml");
const CODES: &str = include_str!("../escapes-codes.toml");

/// The slot of the folder that a path is tried from.
const FROM: Slot = FREE;
/// The slot that a call opens into.
const OPENED: Slot = FREE + 1;

/// Where the tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A folder like any other.
    Plain,
    /// A folder that another one is bound to. It needs a mount namespace: see [`in_namespace`].
    BindMounted,
    /// A folder whose path leads through two links.
    BelowLink,
}

impl Place {
    /// For a reader.
    pub fn words(self) -> &'static str {
        match self {
            Self::Plain => "a plain folder",
            Self::BindMounted => "a bind-mounted one",
            Self::BelowLink => "one below links",
        }
    }
}

/// What is granted of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// All of it, to read.
    Read,
    /// All of it, to read and to write.
    Write,
}

/// How a run of the corpus went.
#[derive(Debug, Default)]
pub struct Report {
    /// Paths that were tried.
    pub paths: usize,
    /// Calls that were made.
    pub calls: usize,
    /// Ways out that were found.
    pub escapes: Vec<String>,
    /// Calls that tell whether something hidden is there.
    pub told_apart: Vec<String>,
    /// Codes that are not the expected ones.
    pub unexpected: Vec<String>,
    /// What every call answered, by class, grant and call: how the table of codes is made.
    pub answered: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

impl Report {
    /// Everything that is wrong.
    pub fn faults(&self) -> Vec<String> {
        [&self.escapes[..], &self.told_apart, &self.unexpected].concat()
    }

    /// The counts, for a reader.
    pub fn counts(&self) -> String {
        let Self { paths, calls, escapes, told_apart, unexpected, .. } = self;
        let (escapes, told, unexpected) = (escapes.len(), told_apart.len(), unexpected.len());
        format!("{paths} paths, {calls} calls: {escapes} escapes, {told} told apart, {unexpected} unexpected codes")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    tree: Vec<Planted>,
    attempt: Vec<Attempt>,
    twin: Vec<Twin>,
}

/// Two paths that the same rule hides, of which one is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Twin {
    there: String,
    absent: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Planted {
    at: String,
    kind: String,
    to: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attempt {
    class: String,
    from: Option<String>,
    paths: Vec<String>,
    /// Paths of another class than the rest.
    #[serde(default)]
    expect: BTreeMap<String, String>,
}

/// Codes by call; `any` stands for the calls that are not named. Several that are allowed have `|` between them.
type Codes = BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    read: Codes,
    write: Codes,
}

/// A call, and whether it may change something.
struct Call {
    name: &'static str,
    changes: bool,
    op: fn(&str) -> Op,
}

const fn looks(name: &'static str, op: fn(&str) -> Op) -> Call {
    Call { name, changes: false, op }
}

const fn changes(name: &'static str, op: fn(&str) -> Op) -> Call {
    Call { name, changes: true, op }
}

fn opens(path: &str, how: How) -> Op {
    Op::OpenAt { fd: FROM, path: path.into(), how, into: OPENED }
}

const READ: How = How {
    read: true,
    symlink_follow: true,
    create: false,
    directory: false,
    exclusive: false,
    truncate: false,
    write: false,
    file_integrity_sync: false,
    data_integrity_sync: false,
    requested_write_sync: false,
    mutate_directory: false,
};

/// Every call that takes a path.
const CALLS: [Call; 25] = [
    looks("open", |path| opens(path, READ)),
    looks("open-link", |path| opens(path, How { symlink_follow: false, ..READ })),
    looks("open-folder", |path| opens(path, How { directory: true, ..READ })),
    looks("open-nothing", |path| opens(path, How { read: false, ..READ })),
    looks("open-mutate", |path| opens(path, How { directory: true, mutate_directory: true, ..READ })),
    changes("open-create", |path| opens(path, How { create: true, write: true, ..READ })),
    changes("open-create-link", |path| opens(path, How { create: true, write: true, symlink_follow: false, ..READ })),
    changes("open-exclusive", |path| opens(path, How { create: true, exclusive: true, write: true, ..READ })),
    changes("open-truncate", |path| opens(path, How { truncate: true, write: true, ..READ })),
    changes("open-truncate-to-read", |path| opens(path, How { truncate: true, ..READ })),
    changes("open-write", |path| opens(path, How { write: true, ..READ })),
    looks("stat", |path| Op::StatAt { fd: FROM, path: path.into(), follow: true }),
    looks("stat-link", |path| Op::StatAt { fd: FROM, path: path.into(), follow: false }),
    looks("readlink", |path| Op::ReadlinkAt { fd: FROM, path: path.into() }),
    looks("hash", |path| Op::MetadataHashAt { fd: FROM, path: path.into(), follow: true }),
    changes("set-times", |path| times(path, true)),
    changes("set-times-link", |path| times(path, false)),
    changes("create-folder", |path| Op::CreateDirectoryAt { fd: FROM, path: path.into() }),
    changes("unlink", |path| Op::UnlinkFileAt { fd: FROM, path: path.into() }),
    changes("remove-folder", |path| Op::RemoveDirectoryAt { fd: FROM, path: path.into() }),
    changes("rename-from", |path| Op::RenameAt {
        fd: FROM,
        path: path.into(),
        to: WORKSPACE,
        to_path: "renamed".into(),
    }),
    changes("rename-to", |path| Op::RenameAt { fd: WORKSPACE, path: "café".into(), to: FROM, to_path: path.into() }),
    changes("link-from", |path| link(FROM, path, WORKSPACE, "linked")),
    changes("link-to", |path| link(WORKSPACE, "café", FROM, path)),
    changes("symlink", |path| Op::SymlinkAt { fd: FROM, target: "café".into(), path: path.into() }),
];

fn times(path: &str, follow: bool) -> Op {
    let at = Stamp::At(86_400, 0);
    Op::SetTimesAt { fd: FROM, path: path.into(), follow, accessed: at, modified: at }
}

fn link(fd: Slot, path: &str, to: Slot, to_path: &str) -> Op {
    Op::LinkAt { fd, path: path.into(), follow: true, to, to_path: to_path.into() }
}

/// What is done with whatever a call opened, so that its answers show what it is.
fn exploit() -> [Op; 6] {
    [
        Op::Read { fd: OPENED, length: 10_000, offset: 0 },
        Op::Stat { fd: OPENED },
        Op::Write { fd: OPENED, data: "written by a role".into(), times: 1, offset: 0 },
        Op::SetSize { fd: OPENED, size: 3 },
        Op::ReadDirectory { fd: OPENED, most: 100 },
        Op::Drop { fd: OPENED },
    ]
}

/// A tree with what is around it.
struct Planting {
    root: PathBuf,
    outside: Outside,
    _base: tempfile::TempDir,
}

impl Planting {
    fn plant(corpus: &Corpus, place: Place) -> Self {
        let base = tempfile::tempdir().unwrap();
        let real = base.path().join("root");
        fs::create_dir(&real).unwrap();
        let root = match place {
            Place::Plain => real.clone(),
            Place::BindMounted => {
                let bound = base.path().join("bound");
                fs::create_dir(&bound).unwrap();
                let mount = std::process::Command::new("mount").arg("--bind").args([&real, &bound]).status().unwrap();
                assert!(mount.success(), "the folder cannot be bound: {mount}");
                bound
            }
            Place::BelowLink => {
                fs::create_dir(base.path().join("around")).unwrap();
                symlink("..", base.path().join("around/link")).unwrap();
                symlink("root", base.path().join("linked-root")).unwrap();
                base.path().join("around/link/linked-root")
            }
        };
        let outside = base.path().join("outside");
        fs::create_dir(&outside).unwrap();
        for planted in &corpus.tree {
            let to = planted.to.as_deref().map(|to| filled(to, &root, &outside)).unwrap_or_default();
            plant(&real, planted, &to);
        }
        Self { root, outside: Outside::make(&outside), _base: base }
    }

    fn filled(&self, text: &str) -> String {
        filled(text, &self.root, self.outside.path())
    }
}

fn plant(root: &Path, planted: &Planted, to: &str) {
    let at = root.join(&planted.at);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    let special = |kind, device| mknodat(CWD, &at, kind, Mode::from_raw_mode(0o666), device);
    match planted.kind.as_str() {
        "file" => fs::write(&at, "inside").unwrap(),
        "hidden" => fs::write(&at, canary()).unwrap(),
        "gitignore" => fs::write(&at, "ignored/\nabsent/\n*.log\n").unwrap(),
        "folder" => fs::create_dir(&at).unwrap(),
        "link" => symlink(to, &at).unwrap(),
        "fifo" => special(FileType::Fifo, 0).unwrap(),
        // The socket stays when its listener is gone.
        "socket" => drop(std::os::unix::net::UnixListener::bind(&at).unwrap()),
        // Only the machine's own root may make one; a socket is as special.
        "device" => special(FileType::CharacterDevice, makedev(1, 5))
            .unwrap_or_else(|_| drop(std::os::unix::net::UnixListener::bind(&at).unwrap())),
        "not-text" => {
            let bytes =
                (0..planted.at.len()).step_by(2).map(|n| u8::from_str_radix(&planted.at[n..n + 2], 16).unwrap());
            fs::write(root.join(std::ffi::OsString::from_vec(bytes.collect())), canary()).unwrap();
        }
        other => panic!("no kind `{other}`"),
    }
}

/// The text with what stands in braces.
fn filled(text: &str, root: &Path, outside: &Path) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (word, after) = after.split_once('}').expect("a brace is closed");
        done.push_str(before);
        let number = |word: &str| word.parse::<usize>().unwrap_or_else(|_| panic!("`{{{word}}}` is no placeholder"));
        match word {
            "outside" => done.push_str(&outside.to_string_lossy()),
            "root" => done.push_str(&root.to_string_lossy()),
            "rootname" => done.push_str(&root.file_name().unwrap().to_string_lossy()),
            _ if word.starts_with('n') => done.push_str(&"n".repeat(number(&word[1..]))),
            _ if word.starts_with('p') => {
                let bytes = number(&word[1..]);
                done.push_str(&"./".repeat(bytes / 2 - 4));
                done.push_str(&"p/p/p/p/p"[..bytes - (bytes / 2 - 4) * 2]);
            }
            _ => {
                let (times, what) =
                    word.strip_prefix('x').and_then(|word| word.split_once(':')).expect("a placeholder");
                done.push_str(&what.repeat(number(times)));
            }
        }
        rest = after;
    }
    done + rest
}

/// Tries the whole corpus.
///
/// # Panics
/// When the tree cannot be made, or the corpus cannot be read.
pub fn run(suite: &Suite, place: Place, grant: Grant) -> Report {
    let corpus: Corpus = toml::from_str(CORPUS).unwrap();
    let classes: BTreeMap<String, Class> = toml::from_str(CODES).unwrap();
    let planting = Planting::plant(&corpus, place);
    let mut trial = Trial { suite, bench: suite.bench(), planting, grant, report: Report::default() };
    let before = snapshot(&trial.planting.root);
    for attempt in &corpus.attempt {
        for path in &attempt.paths {
            let class = attempt.expect.get(path).unwrap_or(&attempt.class);
            let codes = classes.get(class).map(|class| match grant {
                Grant::Read => &class.read,
                Grant::Write => &class.write,
            });
            let codes = codes.unwrap_or_else(|| panic!("no codes for the class `{class}`"));
            let path = trial.planting.filled(path);
            trial.attempt(class, attempt.from.as_deref(), &path, codes);
        }
    }
    corpus.twin.iter().for_each(|twin| trial.twin(twin));
    trial.listings();
    let mut report = trial.report;
    // Taking this snapshot reads what is hidden, and nothing outside.
    if snapshot(&trial.planting.root) != before {
        report.escapes.push("the tree is not as it was".into());
    }
    report.escapes.extend(trial.planting.outside.touched());
    report
}

struct Trial<'s> {
    suite: &'s Suite,
    bench: Bench,
    planting: Planting,
    grant: Grant,
    report: Report,
}

impl Trial<'_> {
    /// Tries one path with every call. What may change something has a call of the role of its own, since the next would see
    /// what it changed.
    fn attempt(&mut self, class: &str, from: Option<&str>, path: &str, codes: &Codes) {
        self.report.paths += 1;
        for (call, word) in self.words(from, path) {
            self.judge(class, from, path, call, &word, codes);
        }
    }

    /// No call tells whether what is hidden is there.
    fn twin(&mut self, twin: &Twin) {
        let (there, absent) = (self.words(None, &twin.there), self.words(None, &twin.absent));
        for ((call, there), (_, absent)) in there.into_iter().zip(absent) {
            self.report.calls += 1;
            if there != absent {
                let Twin { there: path, absent: other } = twin;
                self.report
                    .told_apart
                    .push(format!("{call} tells `{path}` ({there}) from `{other}` ({absent}), {:?}", self.grant));
            }
        }
    }

    /// What every call answers to one path.
    fn words(&mut self, from: Option<&str>, path: &str) -> Vec<(&'static str, String)> {
        let mut words = Vec::new();
        let (changing, looking): (Vec<&Call>, Vec<&Call>) =
            CALLS.iter().partition(|call| call.changes && self.grant == Grant::Write);
        let mut batches = vec![looking];
        batches.extend(changing.into_iter().map(|call| vec![call]));
        for batch in batches.iter().filter(|batch| !batch.is_empty()) {
            let mut ops = vec![open(WORKSPACE, from.unwrap_or("."), FROM)];
            for call in batch {
                ops.push((call.op)(path));
                ops.extend(exploit());
            }
            let answers = self.probe(&ops, path);
            for (n, call) in batch.iter().enumerate() {
                words.push((call.name, answers.get(1 + n * 7).map_or("no answer", Answer::word).to_owned()));
            }
        }
        words
    }

    fn judge(&mut self, class: &str, from: Option<&str>, path: &str, call: &str, word: &str, codes: &Codes) {
        self.report.calls += 1;
        let expected = codes.get(call).or_else(|| codes.get("any")).map_or("", String::as_str);
        let shown: String = path.escape_debug().take(80).collect();
        let from = from.map(|from| format!(" from {from}")).unwrap_or_default();
        if !expected.split('|').any(|code| code == word) {
            let what = format!("{call} of `{shown}`{from} ({class}, {:?}): {word}, not {expected}", self.grant);
            if word == "ok" { &mut self.report.escapes } else { &mut self.report.unexpected }.push(what);
        }
        let answered = self.report.answered.entry(format!("{class}.{:?}", self.grant)).or_default();
        let paths = answered.entry(format!("{call} = {word}")).or_default();
        paths.push(format!("{shown}{from}"));
    }

    /// What is listed in a folder is what is granted, whatever else is in it.
    fn listings(&mut self) {
        let mut ops = Vec::new();
        for folder in [".", "inside", "keys", "to-folder"] {
            ops.extend([open(WORKSPACE, folder, FROM), Op::ReadDirectory { fd: FROM, most: u64::MAX }]);
        }
        let answers = self.probe(&ops, "the listings");
        for answer in answers {
            let Answer::Ok(brain_tests::probe::script::Value::Entries(entries)) = answer else { continue };
            for (kind, name) in entries {
                let special = ["fifo", "socket", "device"].contains(&name.as_str()) || name.starts_with("not-text");
                if is_hidden(&name)
                    || special
                    || !["regular-file", "directory", "symbolic-link"].contains(&kind.as_str())
                {
                    self.report.escapes.push(format!("`{name}` is listed as a {kind}"));
                }
            }
        }
    }

    fn probe(&mut self, ops: &[Op], about: &str) -> Vec<Answer> {
        let Planting { root, outside, .. } = &self.planting;
        let grant = self.grant;
        let probed = probe_with(&self.bench, self.suite.built("probe"), ops, |files, _| {
            let all = || vec![GlobLayer::new("operator", ["**"])];
            let write = if grant == Grant::Write { all() } else { Vec::new() };
            files.workspace = Some(WorkspaceGrant::new(root, all(), write));
            files.contents.get_or_insert_with(|| self.bench.private.path().join("contents"));
        });
        if probed.answers.len() != ops.len() {
            self.report.escapes.push(format!("{about}: the call ended early: {}", probed.run.ended.message()));
        }
        let shown: String = about.escape_debug().take(80).collect();
        let leaks = told(&probed.answers, &[root, outside.path()]);
        self.report.escapes.extend(leaks.into_iter().map(|leak| format!("{shown}: {leak}")));
        self.report.escapes.extend(outside.touched().into_iter().map(|what| format!("{shown}: {what}")));
        for change in &probed.run.changes.changes {
            let lost = change.path.split('/').any(|name| matches!(name, "" | "." | ".."));
            if lost || is_hidden(&change.path) {
                self.report.escapes.push(format!("{shown}: a change of `{}` is proposed", change.path));
            }
            if change.diff.as_deref().is_some_and(|diff| diff.contains(CANARY)) {
                self.report.escapes.push(format!("{shown}: a diff has what is in a canary"));
            }
        }
        probed.answers
    }
}

/// Whether a path is one that deny globs or the tree's `.gitignore` hide. A folder that only a rule for folders hides is none
/// by its name: a file may be called so.
fn is_hidden(path: &str) -> bool {
    let path = path.to_lowercase();
    path.starts_with("ignored/")
        || path.split('/').any(|name| {
            let begins = [".env", "id_rsa"].iter().any(|part| name.starts_with(part));
            let ends = [".pem", ".log", ".key"].iter().any(|part| name.ends_with(part));
            begins || ends || name == ".git"
        })
}

/// The variable that tells a process that it is in a namespace of its own.
const IN_NAMESPACE: &str = "BRAIN_HOSTILE_IN_NAMESPACE";

/// Runs this very program again with `arguments` in a mount namespace of its own, where folders may be bound and no bind
/// outlives it. None: this process is that one. Otherwise, how the other ended and what it printed.
///
/// # Errors
/// The machine allows no such namespace; the text says what it said.
pub fn in_namespace(arguments: &[&str]) -> Result<Option<(bool, String)>, String> {
    if std::env::var_os(IN_NAMESPACE).is_some() {
        return Ok(None);
    }
    let probe = std::process::Command::new("unshare").args(["--user", "--map-root-user", "--mount", "true"]).output();
    match probe {
        Ok(output) if output.status.success() => {}
        Ok(output) => return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => return Err(format!("`unshare`: {error}")),
    }
    let output = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount"])
        .arg(std::env::current_exe().map_err(|error| error.to_string())?)
        .args(arguments)
        .env(IN_NAMESPACE, "1")
        .output()
        .map_err(|error| error.to_string())?;
    let said = [output.stdout, output.stderr].concat();
    Ok(Some((output.status.success(), String::from_utf8_lossy(&said).into_owned())))
}
