//! The tree that the jobs of `edit` work in. Laid out natively, by tests.

use std::fs;
use std::io;
use std::path::Path;

/// The files, by path, without `data/big.bin` and `data/short.bin`.
const FILES: [(&str, &str); 18] = [
    ("README.md", "# Sample\n\nNothing edits this file.\n"),
    ("run.sh", "#!/bin/sh\n"),
    ("notes/a.txt", "the colour of a\n"),
    ("notes/deep/b.txt", "colour, colour\nand no\n"),
    ("notes/deep/er/c.txt", "the word is not here\n"),
    ("notes/d.md", "colour stays in this one\n"),
    ("log/edits.log", "opened\n"),
    ("docs/draft.txt", "a draft\n"),
    ("lib/one.txt", "one\n"),
    ("lib/in/two.txt", "two\n"),
    ("inbox/mail.txt", "a mail\n"),
    ("trash.txt", "trash\n"),
    ("build/out.o", "out"),
    ("build/deep/x.o", "x"),
    ("data/long.bin", "0123456789"),
    ("data/record.bin", "abcdefghijklmnopqrstuvwxyz"),
    ("settings.toml", "[app]\ndebug = true\n"),
    ("replaced.txt", "one file\n"),
];

/// Lays the tree out in a folder that exists.
///
/// # Errors
/// The folder cannot be written.
pub fn lay_out(root: &Path) -> io::Result<()> {
    let put = |path: &str, contents: &[u8]| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, contents)
    };
    for (path, text) in FILES {
        put(path, text.as_bytes())?;
    }
    for name in ["left", "right", "there"] {
        put(&format!("{name}.txt"), format!("from the {name}\n").as_bytes())?;
    }
    put("data/short.bin", &[b's'; 100])?;
    let big: Vec<u8> = (0..300_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    put("data/big.bin", &big)?;
    fs::create_dir_all(root.join("build/empty"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Lays out what each of `count` experiments finds in its folder: a file, and two folders, one of them empty.
///
/// # Errors
/// The root cannot be written.
pub fn lay_out_experiments(root: &Path, count: usize) -> io::Result<()> {
    for n in 0..count {
        let at = root.join(n.to_string());
        fs::create_dir_all(at.join("d"))?;
        fs::create_dir_all(at.join("full"))?;
        for path in ["f", "full/f"] {
            fs::write(at.join(path), "old")?;
        }
    }
    Ok(())
}
