//! What a file system answers: small experiments whose outcome a program may depend on. A test runs them natively and as a
//! guest, and holds the two against each other.
//!
//! Each works in a folder of its own, by its number. What an experiment finds there already it does not make: so the same
//! experiments are done with files that the program made, and with files that were there before it.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

type Experiment = (&'static str, fn(&Path) -> io::Result<String>);

const EXPERIMENTS: [Experiment; 46] = [
    ("read what is missing", |at| said(fs::read(at.join("none")))),
    ("read a folder", |at| said(fs::read(at))),
    ("list a file", |at| said(fs::read_dir(file(at, "f")?).map(drop))),
    ("list what is missing", |at| said(fs::read_dir(at.join("none")).map(drop))),
    ("create in a missing folder", |at| said(fs::write(at.join("none/f"), "x"))),
    ("create below a file", |at| said(fs::write(file(at, "f")?.join("g"), "x"))),
    ("create new over a file", |at| said(File::create_new(file(at, "f")?).map(drop))),
    ("create over a folder", |at| said(File::create(at).map(drop))),
    ("open for writing what is missing", |at| said(OpenOptions::new().write(true).open(at.join("none")).map(drop))),
    ("make a folder that is there", |at| said(fs::create_dir(at))),
    ("make a folder over a file", |at| said(fs::create_dir(file(at, "f")?))),
    ("make a folder in a missing one", |at| said(fs::create_dir(at.join("none/d")))),
    ("remove a folder that is not empty", |at| file(at, "f").and_then(|_| said(fs::remove_dir(at)))),
    ("remove a file as a folder", |at| said(fs::remove_dir(file(at, "f")?))),
    ("remove a folder as a file", |at| said(fs::remove_file(at))),
    ("remove what is missing", |at| {
        seen((fs::remove_file(at.join("none")).is_ok(), fs::remove_dir(at.join("none")).is_ok()))
    }),
    ("rename what is missing", |at| said(fs::rename(at.join("none"), at.join("other")))),
    ("rename over a file", |at| {
        fs::write(at.join("old"), "old")?;
        fs::write(at.join("new"), "new")?;
        fs::rename(at.join("new"), at.join("old"))?;
        seen((fs::read_to_string(at.join("old"))?, names(at)?))
    }),
    ("rename to itself", |at| {
        let path = file(at, "f")?;
        fs::rename(&path, &path)?;
        said(names(at))
    }),
    ("rename a file over a folder", |at| said(fs::rename(file(at, "f")?, folder(at, "d")?))),
    ("rename a folder over a file", |at| said(fs::rename(folder(at, "d")?, file(at, "f")?))),
    ("rename a folder over an empty one", |at| {
        file(&folder(at, "d")?, "f")?;
        fs::rename(at.join("d"), folder(at, "e")?)?;
        seen((names(at)?, names(&at.join("e"))?))
    }),
    ("rename a folder over a full one", |at| {
        file(&folder(at, "e")?, "f")?;
        said(fs::rename(folder(at, "d")?, at.join("e")))
    }),
    ("rename a folder into itself", |at| said(fs::rename(folder(at, "d")?, at.join("d/inside")))),
    ("rename into a missing folder", |at| said(fs::rename(file(at, "f")?, at.join("none/f")))),
    ("a file as a folder on the way", |at| said(fs::metadata(file(at, "f")?.join("g")).map(drop))),
    ("a slash after a file", |at| said(fs::read(format!("{}/", file(at, "f")?.display())))),
    ("winding paths", |at| {
        folder(at, "d")?;
        file(at, "f")?;
        seen((fs::read_to_string(at.join("d/../f"))?, fs::read_to_string(at.join(".//./f"))?))
    }),
    ("append through two handles", |at| {
        let open = || OpenOptions::new().append(true).create(true).open(at.join("f"));
        let (mut one, mut two) = (open()?, open()?);
        one.write_all(b"one ")?;
        two.write_all(b"two ")?;
        one.seek(SeekFrom::Start(0))?;
        one.write_all(b"three")?;
        seen((fs::read_to_string(at.join("f"))?, one.stream_position()?))
    }),
    ("append and read", |at| {
        let mut both = OpenOptions::new().append(true).read(true).open(file(at, "f")?)?;
        both.write_all(b"more")?;
        both.seek(SeekFrom::Start(1))?;
        let mut rest = String::new();
        both.read_to_string(&mut rest)?;
        seen(rest)
    }),
    ("read what is open for writing", |at| said(File::create(at.join("f"))?.read(&mut [0; 4]))),
    ("write what is open for reading", |at| said(File::open(file(at, "f")?)?.write(b"x"))),
    ("truncate what is open for reading", |at| said(File::open(file(at, "f")?)?.set_len(0))),
    ("a removed file that is open", |at| {
        let mut open = OpenOptions::new().read(true).write(true).open(file(at, "f")?)?;
        fs::remove_file(at.join("f"))?;
        open.write_all(b"still")?;
        open.seek(SeekFrom::Start(0))?;
        let mut text = String::new();
        open.read_to_string(&mut text)?;
        seen((text, open.metadata()?.len(), names(at)?))
    }),
    ("a renamed file that is open", |at| {
        let mut open = OpenOptions::new().append(true).open(file(at, "f")?)?;
        fs::rename(at.join("f"), at.join("g"))?;
        fs::write(at.join("f"), "another")?;
        open.write_all(b"more")?;
        seen((fs::read_to_string(at.join("f"))?, fs::read_to_string(at.join("g"))?))
    }),
    ("a file below a renamed folder that is open", |at| {
        let mut open = OpenOptions::new().append(true).open(file(&folder(at, "d")?, "f")?)?;
        fs::rename(at.join("d"), at.join("e"))?;
        open.write_all(b"more")?;
        seen(fs::read_to_string(at.join("e/f"))?)
    }),
    ("two handles see one file", |at| {
        let mut reader = File::open(file(at, "f")?)?;
        let mut writer = OpenOptions::new().write(true).open(at.join("f"))?;
        writer.write_all(b"NEW")?;
        let mut text = String::new();
        reader.read_to_string(&mut text)?;
        writer.set_len(1)?;
        seen((text, reader.metadata()?.len(), reader.seek(SeekFrom::End(0))?))
    }),
    ("a hole", |at| {
        let mut hole = File::create(at.join("f"))?;
        hole.seek(SeekFrom::Start(70_000))?;
        let before = hole.metadata()?.len();
        hole.write_all(b"x")?;
        let contents = fs::read(at.join("f"))?;
        seen((before, contents.len(), contents.iter().filter(|byte| **byte != 0).count()))
    }),
    ("lengths", |at| {
        let open = OpenOptions::new().write(true).open(file(at, "f")?)?;
        open.set_len(2)?;
        open.set_len(4)?;
        seen(fs::read(at.join("f"))?)
    }),
    ("seek before the start", |at| said(File::open(file(at, "f")?)?.seek(SeekFrom::Current(-1)))),
    ("metadata", |at| {
        let (f, d) = (fs::metadata(file(at, "f")?)?, fs::metadata(at)?);
        let link = fs::symlink_metadata(at.join("f"))?;
        seen((f.is_file(), f.is_dir(), f.len(), d.is_file(), d.is_dir(), link.is_symlink(), f.permissions().readonly()))
    }),
    ("times", |at| {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let open = OpenOptions::new().write(true).open(file(at, "f")?)?;
        open.set_modified(then)?;
        drop(open);
        let set = fs::metadata(at.join("f"))?.modified()? == then;
        fs::write(at.join("f"), "new")?;
        seen((set, fs::metadata(at.join("f"))?.modified()? > then))
    }),
    ("many files, removed while they are listed", |at| {
        for n in 0..300 {
            fs::write(at.join(format!("file {n}")), "x")?;
        }
        let listed = names(at)?.len();
        for entry in fs::read_dir(at)? {
            let path = entry?.path();
            if path.is_file() {
                fs::remove_file(path)?;
            }
        }
        seen((listed, names(at)?.len()))
    }),
    ("names", |at| {
        for name in ["with space", "ünï", "日本", "🦀", "-dash", "a:b", "back\\slash", &"n".repeat(255)] {
            fs::write(at.join(name), name)?;
        }
        let all: Vec<String> = names(at)?;
        let right = all.iter().all(|name| fs::read_to_string(at.join(name)).is_ok_and(|text| text == *name));
        seen((all.len(), right, fs::write(at.join("n".repeat(256)), "x").is_err()))
    }),
    ("lines", |at| {
        fs::write(at.join("f"), "one\ntwo\r\nthree")?;
        said(BufReader::new(File::open(at.join("f"))?).lines().collect::<io::Result<Vec<_>>>())
    }),
    ("sync", |at| {
        let open = File::create(at.join("f"))?;
        seen((open.sync_data().is_ok(), open.sync_all().is_ok()))
    }),
];

/// One line for each experiment: its name, and what was seen. The root is empty, or has what the
/// experiments find.
pub fn observe(root: &Path) -> String {
    let mut lines = Vec::new();
    for (n, (name, experiment)) in EXPERIMENTS.into_iter().enumerate() {
        let outcome = folder(root, &n.to_string()).and_then(|at| experiment(&at));
        lines.push(format!("{name}: {}", outcome.unwrap_or_else(|error| format!("stopped by {:?}", error.kind()))));
    }
    lines.join("\n")
}

/// An outcome as text, an error by its kind: numbers of errors are each platform's own.
fn said<T: Debug>(outcome: io::Result<T>) -> io::Result<String> {
    Ok(match outcome {
        Ok(value) => format!("ok {value:?}"),
        Err(error) => format!("error {:?}", error.kind()),
    })
}

fn seen(value: impl Debug) -> io::Result<String> {
    Ok(format!("{value:?}"))
}

fn file(at: &Path, name: &str) -> io::Result<PathBuf> {
    let path = at.join(name);
    if !fs::exists(&path)? {
        fs::write(&path, "old")?;
    }
    Ok(path)
}

fn folder(at: &Path, name: &str) -> io::Result<PathBuf> {
    let path = at.join(name);
    if !fs::exists(&path)? {
        fs::create_dir(&path)?;
    }
    Ok(path)
}

fn names(at: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(at)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = entries.collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}
