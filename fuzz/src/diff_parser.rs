//! Unified diffs, as git prints them and as anybody may hand them over.

use review::diff::{Change, Diff, FileDiff, Line, Name, Side, bounded, parse, shown};
use review::limits::{MAX_NAME_BYTES, MAX_PATH_BYTES};

/// Sections that are kept.
const MAX_FILES: usize = 50;

/// Nothing panics; every line of a hunk is a line of the input and has its place in the hunk; a name that may be opened leads
/// nowhere else; a section without problems survives being written out again.
pub fn check(data: &[u8]) {
    let (kept, cut) = bounded(data, 4_096, 500);
    assert_eq!(kept.len() + cut, data.len());
    assert!(kept.len() <= 4_096 && kept.split_inclusive(|byte| *byte == b'\n').count() <= 500);

    let diff = parse(data, MAX_FILES);
    let lines = data.split(|byte| *byte == b'\n').count();
    assert!(diff.files.len() <= MAX_FILES && (diff.cut_files == 0 || diff.files.len() == MAX_FILES));
    assert!(diff.ignored_lines <= lines);
    let in_hunks: usize = diff.files.iter().flat_map(|file| &file.hunks).map(|hunk| hunk.lines.len() + 1).sum();
    assert!(in_hunks + diff.ignored_lines + diff.unmerged.len() <= lines, "a line is counted twice");
    let problems = diff.files.iter().flat_map(|file| &file.problems).chain(&diff.problems);
    problems.for_each(|problem| assert!((1..=lines + 1).contains(&problem.line), "{problem:?} of {lines} lines"));

    diff.files.iter().for_each(section);
    diff.files.iter().filter(|file| is_clean(file)).for_each(survives);
}

fn section(file: &FileDiff<'_>) {
    assert_eq!(file.old.is_none() && file.new.is_none(), file.name().is_none());
    for name in file.old.iter().chain(&file.new) {
        if let Ok(path) = name.path() {
            assert!(path.len() <= MAX_PATH_BYTES && !path.starts_with('/') && !path.contains('\0'), "{path:?}");
            assert!(!path.split(['/', '\\']).any(|part| part == ".."), "{path:?}");
            assert!(!path.split('/').any(|part| part.is_empty() || part == "."), "{path:?}");
        }
        let text = shown(name.as_str());
        // The last character may be an escape of up to ten bytes, and an ellipsis follows.
        assert!(text.len() <= MAX_NAME_BYTES + 16 && !text.chars().any(char::is_control), "{text:?}");
    }
    for hunk in &file.hunks {
        let last = hunk.new_start.saturating_add(hunk.new_len.saturating_sub(1)).max(1);
        let mut place = hunk.new_start.max(1);
        for line in &hunk.lines {
            assert!(!line.text.contains(&b'\n'));
            assert!((place..=last).contains(&line.line), "{line:?} is out of order or outside of its hunk");
            place = line.line;
        }
        let new = hunk.lines.iter().filter(|line| line.side != Side::Removed).count();
        assert!(new <= hunk.new_len as usize);
        assert!(!hunk.complete || new == hunk.new_len as usize, "a complete hunk has the lines that its header says");
        assert!(hunk.complete || !file.problems.is_empty(), "a hunk that is cut short is a problem");
    }
}

/// Whether the section can be written out: nothing in it was unreadable, and it is of the form that has all its facts.
fn is_clean(file: &FileDiff<'_>) -> bool {
    let utf8 = file.old.iter().chain(&file.new).all(|name| !name.as_str().contains(char::REPLACEMENT_CHARACTER));
    file.problems.is_empty() && !file.combined && !file.binary && !file.hunks.is_empty() && utf8
}

/// Writes the section as git would, and reads it back.
fn survives(file: &FileDiff<'_>) {
    let written = written(file);
    let diff = parse(&written, MAX_FILES);
    let told = || format!("{file:?}\nwas written as\n{}\nand read as\n{diff:?}", String::from_utf8_lossy(&written));
    let Diff { files, problems, ignored_lines: 0, .. } = &diff else {
        panic!("{}", told());
    };
    let [again] = files.as_slice() else {
        panic!("{}", told());
    };
    assert!(problems.is_empty() && again.problems.is_empty(), "{}", told());
    assert_eq!((&again.old, &again.new, again.change), (&file.old, &file.new, file.change), "{}", told());
    assert_eq!(again.hunks.len(), file.hunks.len(), "{}", told());
    for (one, other) in again.hunks.iter().zip(&file.hunks) {
        assert_eq!(
            (one.new_start, one.new_len, &one.lines),
            (other.new_start, other.new_len, &other.lines),
            "{}",
            told()
        );
    }
}

fn written(file: &FileDiff<'_>) -> Vec<u8> {
    let side = |prefix: &str, name: &Option<Name>| name.as_ref().map(|name| quoted(prefix, name.as_str()));
    let (old, new) = (side("a/", &file.old), side("b/", &file.new));
    // The first line names both sides even of a file that is on one of them only.
    let both = |prefix: &str, one: &Option<Name>, other: &Option<Name>| {
        side(prefix, one).or_else(|| side(prefix, other)).unwrap_or_default()
    };
    let (first, second) = (both("a/", &file.old, &file.new), both("b/", &file.new, &file.old));
    let mut out = format!("diff --git {first} {second}\n");
    let word = match file.change {
        Change::Renamed => Some("rename"),
        Change::Copied => Some("copy"),
        _ => None,
    };
    if let (Some(word), Some(from), Some(to)) = (word, side("", &file.old), side("", &file.new)) {
        out.push_str(&format!("{word} from {from}\n{word} to {to}\n"));
    }
    let absent = || "/dev/null".to_owned();
    out.push_str(&format!("--- {}\n+++ {}\n", old.unwrap_or_else(absent), new.unwrap_or_else(absent)));
    let mut out = out.into_bytes();
    for hunk in &file.hunks {
        let removed = |line: &&Line<'_>| line.side != Side::Added;
        let old_len = hunk.lines.iter().filter(removed).count();
        out.extend(format!("@@ -1,{old_len} +{},{} @@\n", hunk.new_start, hunk.new_len).bytes());
        for line in &hunk.lines {
            out.push(match line.side {
                Side::Context => b' ',
                Side::Added => b'+',
                Side::Removed => b'-',
            });
            out.extend(line.text);
            out.push(b'\n');
        }
    }
    out
}

/// A name in git's quotes, whether or not it needs them.
fn quoted(prefix: &str, name: &str) -> String {
    let mut out = format!("\"{prefix}");
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', byte as char]),
            b' '..=b'~' => out.push(byte as char),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}
