//! The editing jobs. `edit.c` of the C editor does the same ones, step by step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

type Job = (&'static str, fn(&Path) -> io::Result<()>);

const JOBS: [Job; 16] = [
    ("replace a word", |root| replace_word(&root.join("notes"))),
    ("append to a log", append_to_log),
    ("append to a script", append_to_script),
    ("create a tree", create_tree),
    ("rename a file", |root| fs::rename(root.join("docs/draft.txt"), root.join("docs/final.txt"))),
    ("rename a folder", rename_folder),
    ("move a file", move_file),
    ("remove a file", |root| fs::remove_file(root.join("trash.txt"))),
    ("remove a tree", |root| fs::remove_dir_all(root.join("build"))),
    ("copy a file", |root| fs::copy(root.join("README.md"), root.join("README.copy.md")).map(drop)),
    ("set lengths", set_lengths),
    ("overwrite a part", overwrite),
    ("save atomically", save_atomically),
    ("swap two files", swap),
    ("replace a file", replace),
    ("leave no trace", leave_no_trace),
];

/// Does every job in the tree that `sample` lays out.
///
/// # Errors
/// The name of the first job that failed, and why.
pub fn edit(root: &Path) -> Result<(), String> {
    for (name, job) in JOBS {
        job(root).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// One line for each folder, `d <path>`, and each file, `f <path> <bytes> <FNV-1a of the contents>`; sorted.
///
/// # Errors
/// The tree cannot be read.
pub fn listing(root: &Path) -> io::Result<String> {
    let mut lines = Vec::new();
    list(root, "", &mut lines)?;
    lines.sort();
    Ok(lines.join("\n"))
}

fn list(folder: &Path, prefix: &str, lines: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            list(&entry.path(), &format!("{name}/"), lines)?;
            lines.push(format!("d {name}"));
        } else {
            let contents = fs::read(entry.path())?;
            // Two ways to ask for a size: of the name and of the contents.
            if entry.metadata()?.len() != contents.len() as u64 {
                return Err(io::Error::other(format!("{name} has another size than its contents")));
            }
            lines.push(format!("f {name} {} {:016x}", contents.len(), fnv1a(&contents)));
        }
    }
    Ok(())
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Every `.txt` below the folder, whether or not it has the word: one that has not is written back as it was.
fn replace_word(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            replace_word(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "txt") {
            let text = fs::read_to_string(&path)?;
            fs::write(&path, text.replace("colour", "color"))?;
        }
    }
    Ok(())
}

fn append_to_log(root: &Path) -> io::Result<()> {
    for line in ["first", "second"] {
        let mut log = OpenOptions::new().append(true).create(true).open(root.join("log/edits.log"))?;
        writeln!(log, "{line}")?;
    }
    Ok(())
}

/// The script can be executed, and an edit in place keeps it so.
fn append_to_script(root: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(root.join("run.sh"))?.write_all(b"echo done\n")
}

fn create_tree(root: &Path) -> io::Result<()> {
    fs::create_dir_all(root.join("made/deep/tree"))?;
    fs::create_dir_all(root.join("made/deep/tree"))?;
    fs::create_dir(root.join("made/empty"))?;
    let mut file = BufWriter::new(File::create(root.join("made/deep/tree/new.txt"))?);
    for n in 0..2000 {
        writeln!(file, "line {n}")?;
    }
    file.flush()
}

/// A file below is edited under its new name, and nothing is left under the old one.
fn rename_folder(root: &Path) -> io::Result<()> {
    fs::rename(root.join("lib"), root.join("library"))?;
    if fs::exists(root.join("lib/one.txt"))? {
        return Err(io::Error::other("lib/one.txt is still there"));
    }
    OpenOptions::new().append(true).open(root.join("library/in/two.txt"))?.write_all(b"edited after the move\n")
}

fn move_file(root: &Path) -> io::Result<()> {
    fs::create_dir_all(root.join("archive/2026"))?;
    fs::rename(root.join("inbox/mail.txt"), root.join("archive/2026/mail.txt"))
}

fn set_lengths(root: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(root.join("data/short.bin"))?.set_len(10)?;
    OpenOptions::new().write(true).open(root.join("data/long.bin"))?.set_len(100)
}

/// In the middle, at the end and past the end, through one handle that reads and writes.
fn overwrite(root: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(root.join("data/record.bin"))?;
    file.seek(SeekFrom::Start(10))?;
    file.write_all(b"0123")?;
    let mut rest = String::new();
    file.read_to_string(&mut rest)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(rest.chars().rev().take(3).collect::<String>().as_bytes())?;
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(end + 5))?;
    file.write_all(b"!")?;
    drop(file);
    let mut big = OpenOptions::new().write(true).open(root.join("data/big.bin"))?;
    big.seek(SeekFrom::Start(150_000))?;
    big.write_all(&[0xff; 1000])?;
    big.seek(SeekFrom::End(-1))?;
    big.write_all(b"tail")
}

/// As editors do: the new contents beside the old ones, then one rename.
fn save_atomically(root: &Path) -> io::Result<()> {
    let (file, beside) = (root.join("settings.toml"), root.join(".settings.toml.tmp"));
    let text = fs::read_to_string(&file)?;
    let mut new = OpenOptions::new().write(true).create_new(true).open(&beside)?;
    new.write_all(text.replace("debug = true", "debug = false").as_bytes())?;
    new.sync_all()?;
    drop(new);
    fs::rename(&beside, &file)
}

fn swap(root: &Path) -> io::Result<()> {
    let (left, right, between) = (root.join("left.txt"), root.join("right.txt"), root.join("between"));
    fs::rename(&left, &between)?;
    fs::rename(&right, &left)?;
    fs::rename(&between, &right)
}

fn replace(root: &Path) -> io::Result<()> {
    let path = root.join("replaced.txt");
    fs::remove_file(&path)?;
    if File::open(&path).is_ok() {
        return Err(io::Error::other("a removed file opens"));
    }
    fs::write(&path, "another file by the same name\n")
}

/// What is made and removed, moved and moved back, is no change.
fn leave_no_trace(root: &Path) -> io::Result<()> {
    fs::write(root.join("scratch.txt"), "x")?;
    fs::rename(root.join("scratch.txt"), root.join("scratch-2.txt"))?;
    fs::remove_file(root.join("scratch-2.txt"))?;
    fs::create_dir(root.join("scratch"))?;
    fs::remove_dir(root.join("scratch"))?;
    fs::rename(root.join("there.txt"), root.join("away.txt"))?;
    fs::rename(root.join("away.txt"), root.join("there.txt"))
}
