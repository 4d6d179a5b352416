//! The header of a section: git's extended header lines, and the choice of the file's two names.

use super::name::{Name, read_name};
use super::{Change, FileDiff, Problem};

/// First components that git puts before names: the default pair, `diff.mnemonicPrefix`, and `--no-index` under it.
const PREFIXES: &[&[u8]] = &[b"a/", b"b/", b"c/", b"i/", b"o/", b"w/", b"1/", b"2/"];

/// A name of one side as a `---` or `+++` line gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideName {
    /// `/dev/null`: the file does not exist on this side.
    Absent,
    /// Its bytes, prefix included.
    Given(Vec<u8>),
}

/// What the lines of a header said, until the section's names are decided.
#[derive(Debug, Default)]
pub struct Header {
    /// 1-based line of the diff where the section starts.
    pub line: usize,
    /// Both names of a `diff --git` line, when they can be told apart; prefix included.
    pub pair: Option<(Vec<u8>, Vec<u8>)>,
    /// The only name of a `diff --cc` line; it has no prefix.
    pub combined_name: Option<Vec<u8>>,
    /// A merge against several parents.
    pub combined: bool,
    /// From the `---` line.
    pub old: Option<SideName>,
    /// From the `+++` line.
    pub new: Option<SideName>,
    moved_from: Option<Vec<u8>>,
    moved_to: Option<Vec<u8>>,
    copied: bool,
    old_mode: Option<u32>,
    new_mode: Option<u32>,
    added: bool,
    deleted: bool,
    /// No lines are shown.
    pub binary: bool,
}

impl Header {
    /// A header that starts at a line of the diff and has said nothing yet.
    pub fn at(line: usize) -> Self {
        Self { line, ..Self::default() }
    }

    /// Takes one extended header line. False when it is none.
    pub fn take(&mut self, line: &[u8], problems: &mut Vec<Problem>, at: usize) -> bool {
        let mode = |text: &[u8], problems: &mut Vec<Problem>| {
            let parsed = read_mode(text);
            if parsed.is_none() {
                problems.push(Problem { line: at, what: "a file mode is not an octal number" });
            }
            parsed
        };
        if let Some(rest) = line.strip_prefix(b"old mode ") {
            self.old_mode = mode(rest, problems);
        } else if let Some(rest) = line.strip_prefix(b"new mode ") {
            self.new_mode = mode(rest, problems);
        } else if let Some(rest) = line.strip_prefix(b"new file mode ") {
            self.added = true;
            self.new_mode = mode(rest, problems);
        } else if let Some(rest) = line.strip_prefix(b"deleted file mode ") {
            self.deleted = true;
            // A combined diff lists the mode of each parent.
            self.old_mode = mode(rest.split(|b| *b == b',').next().unwrap_or(rest), problems);
        } else if let Some(rest) = line.strip_prefix(b"index ") {
            if let Some((_, text)) = split_once(rest, b' ') {
                let parsed = mode(text, problems);
                self.old_mode = self.old_mode.or(parsed);
                self.new_mode = self.new_mode.or(parsed);
            }
        } else if line.starts_with(b"mode ") {
            // `mode 100644,100755..100644` of a combined diff.
            self.new_mode = line.rsplit(|b| *b == b'.').next().and_then(read_mode).or(self.new_mode);
        } else if let Some(rest) = line.strip_prefix(b"rename from ").or_else(|| line.strip_prefix(b"rename old ")) {
            self.moved_from = whole_name(rest, problems, at);
        } else if let Some(rest) = line.strip_prefix(b"rename to ").or_else(|| line.strip_prefix(b"rename new ")) {
            self.moved_to = whole_name(rest, problems, at);
        } else if let Some(rest) = line.strip_prefix(b"copy from ") {
            self.copied = true;
            self.moved_from = whole_name(rest, problems, at);
        } else if let Some(rest) = line.strip_prefix(b"copy to ") {
            self.copied = true;
            self.moved_to = whole_name(rest, problems, at);
        } else {
            return line.starts_with(b"similarity index ") || line.starts_with(b"dissimilarity index ");
        }
        true
    }

    /// The section, with its names decided and no hunks yet.
    pub fn into_file<'a>(self, mut problems: Vec<Problem>) -> FileDiff<'a> {
        let (old, new) = self.names();
        let absent = |side: &Option<SideName>| matches!(side, Some(SideName::Absent));
        let added = self.added || absent(&self.old);
        let deleted = self.deleted || absent(&self.new);
        let change = match (added, deleted) {
            (true, true) => {
                problems.push(Problem { line: self.line, what: "a section says that its file exists on neither side" });
                Change::Modified
            }
            (true, false) => Change::Added,
            (false, true) => Change::Deleted,
            (false, false) if self.copied => Change::Copied,
            (false, false) if self.moved_from.is_some() || old != new => Change::Renamed,
            (false, false) => Change::Modified,
        };
        if old.is_none() && new.is_none() {
            problems.push(Problem { line: self.line, what: "a section has no readable file name" });
        }
        let named = |bytes: Option<Vec<u8>>| bytes.map(|b| Name::new(&b));
        FileDiff {
            old: if change == Change::Added { None } else { named(old) },
            new: if change == Change::Deleted { None } else { named(new) },
            change,
            old_mode: self.old_mode,
            new_mode: if change == Change::Deleted { None } else { self.new_mode },
            binary: self.binary,
            combined: self.combined,
            hunks: Vec::new(),
            problems,
        }
    }

    /// Both names without prefixes. Rename and copy lines are exact, so they win; then `---`/`+++`, then the first line.
    fn names(&self) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        if let (Some(from), Some(to)) = (&self.moved_from, &self.moved_to) {
            return (Some(from.clone()), Some(to.clone()));
        }
        // A quoted name may be empty, and then it names nothing: `diff --git "" ""`.
        let pair = self.pair.as_ref().filter(|(old, new)| !old.is_empty() && !new.is_empty());
        if let Some(name) = self.combined_name.as_ref().filter(|name| !name.is_empty()) {
            return (Some(name.clone()), Some(name.clone()));
        }
        let given = |side: &Option<SideName>| match side {
            Some(SideName::Given(name)) => Some(name.clone()),
            _ => None,
        };
        // With `--no-prefix` both names of an unmoved file are the same; with prefixes they never are.
        let bare = match (pair, &self.old, &self.new) {
            (_, Some(SideName::Given(old)), Some(SideName::Given(new))) => old == new,
            (Some((old, new)), _, _) => old == new,
            _ => false,
        };
        let strip = |name: Vec<u8>| if bare { name } else { without_prefix(name) };
        let (old, new) = match (given(&self.old), given(&self.new)) {
            (None, None) => match pair.cloned() {
                Some((old, new)) => (Some(old), Some(new)),
                None => (None, None),
            },
            sides => sides,
        };
        let (old, new) = (old.map(strip), new.map(strip));
        (old.clone().or_else(|| new.clone()), new.or(old))
    }
}

fn without_prefix(name: Vec<u8>) -> Vec<u8> {
    let prefix = PREFIXES.iter().find(|prefix| name.len() > prefix.len() && name.starts_with(prefix));
    prefix.map_or_else(|| name.clone(), |prefix| name[prefix.len()..].to_vec())
}

/// Reads a `---` or `+++` line's name.
pub fn side_name(rest: &[u8], problems: &mut Vec<Problem>, at: usize) -> Option<SideName> {
    match read_name(rest) {
        Some((name, _)) if name == b"/dev/null" => Some(SideName::Absent),
        Some((name, _)) if !name.is_empty() => Some(SideName::Given(name)),
        _ => {
            problems.push(Problem { line: at, what: "a file name is empty or its quoting is broken" });
            None
        }
    }
}

fn whole_name(rest: &[u8], problems: &mut Vec<Problem>, at: usize) -> Option<Vec<u8>> {
    match side_name(rest, problems, at)? {
        SideName::Given(name) => Some(name),
        SideName::Absent => None,
    }
}

/// The names of `diff --git <old> <new>`. Bare names may hold spaces, so they are told apart only when both are the same behind
/// prefixes of one length: exactly the case in which no other header line names the file.
pub fn git_pair(rest: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    if rest.starts_with(b"\"") {
        let (old, rest) = read_name(rest)?;
        let (new, rest) = read_name(rest.strip_prefix(b" ")?)?;
        return rest.is_empty().then_some((old, new));
    }
    if rest.ends_with(b"\"") {
        let at = rest.windows(2).position(|pair| pair == b" \"")?;
        let (old, quoted) = rest.split_at(at);
        let (new, rest) = read_name(quoted.get(1..)?)?;
        return rest.is_empty().then(|| (old.to_vec(), new));
    }
    let middle = rest.len() / 2;
    if rest.get(middle) != Some(&b' ') {
        return None;
    }
    let (old, new) = (rest.get(..middle)?, rest.get(middle + 1..)?);
    let same = old == new || (split_once(old, b'/')?.1 == split_once(new, b'/')?.1);
    same.then(|| (old.to_vec(), new.to_vec()))
}

fn read_mode(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?;
    (text.len() == 6).then(|| u32::from_str_radix(text, 8).ok()).flatten()
}

/// Splits at the first `byte`, which is in neither part.
pub fn split_once(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|b| *b == byte)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}
