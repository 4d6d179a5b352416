//! The diff against the workspace: is the file there, and do the hunks say what it says?

use crate::diff::{Change, FileDiff, Side};
use crate::limits::MAX_FILE_BYTES;

/// Where the changed files are read from.
pub trait Workspace {
    /// The first `max` bytes of a file, or why it cannot be read.
    fn read(&self, path: &str, max: usize) -> Result<Content, String>;
}

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Its first bytes.
    pub bytes: Vec<u8>,
    /// There is more of the file than was read.
    pub cut: bool,
}

/// How a section of the diff stands to the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// Every line that the diff shows of the new file is there.
    Agrees,
    /// Some are not: the file was changed after the diff was made, or the diff is of another tree.
    Stale {
        /// The first line that differs, in the new file's count.
        line: u32,
        /// Hunks that do not fit.
        hunks: usize,
        /// What is wrong, for a reader.
        what: &'static str,
    },
    /// The file could not be compared in full, for this reason.
    Unseen(String),
}

/// Compares a section of text lines with what was read of its file.
pub fn compare(file: &FileDiff<'_>, content: Result<&Content, &String>) -> Agreement {
    let content = match (file.change, content) {
        (Change::Deleted, Ok(_)) => {
            return Agreement::Stale {
                line: 1,
                hunks: 1,
                what: "the diff deletes the file, but it is in the workspace",
            };
        }
        (Change::Deleted, Err(_)) => return Agreement::Agrees,
        (_, Err(why)) => return Agreement::Unseen(why.clone()),
        (_, Ok(content)) => content,
    };
    let body = content.bytes.strip_suffix(b"\n").unwrap_or(&content.bytes);
    let lines: Vec<&[u8]> =
        if content.bytes.is_empty() { Vec::new() } else { body.split(|byte| *byte == b'\n').collect() };
    // The last line of a cut file is itself cut.
    let known = if content.cut { lines.len().saturating_sub(1) } else { lines.len() };

    let mut first = None;
    let mut stale = 0_usize;
    let mut beyond = false;
    for hunk in &file.hunks {
        let differs = hunk.lines.iter().filter(|line| line.side != Side::Removed).find(|line| {
            let at = line.line as usize - 1;
            if at >= known && content.cut {
                beyond = true;
                return false;
            }
            lines.get(at).is_none_or(|there| ending_aside(there) != ending_aside(line.text))
        });
        if let Some(line) = differs {
            stale += 1;
            first.get_or_insert(line.line);
        }
    }
    if let Some(line) = first {
        return Agreement::Stale { line, hunks: stale, what: "the workspace has other lines there than the diff says" };
    }
    // A new file is shown whole, so it has no line more than its hunk.
    let shown: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
    if file.change == Change::Added && !content.cut && lines.len() > shown && file.problems.is_empty() {
        let line = u32::try_from(shown).unwrap_or(u32::MAX).saturating_add(1);
        return Agreement::Stale {
            line,
            hunks: 1,
            what: "the new file has more lines in the workspace than the diff says",
        };
    }
    if beyond {
        return Agreement::Unseen(format!(
            "it is larger than {MAX_FILE_BYTES} bytes, so its end was not compared with the diff"
        ));
    }
    Agreement::Agrees
}

/// Line endings may be converted between git and the working tree.
fn ending_aside(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
