//! Tests of the parser: what git prints, what it prints seldom, and bytes that nobody prints.
#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;

use super::*;

fn files(diff: &Diff<'_>) -> Vec<(Change, Option<String>, Option<String>)> {
    let text = |name: &Option<Name>| name.as_ref().map(|name| name.as_str().to_owned());
    diff.files.iter().map(|file| (file.change, text(&file.old), text(&file.new))).collect()
}

/// `side`, line and text of every line.
fn lines<'a>(file: &FileDiff<'a>) -> Vec<(Side, u32, &'a str)> {
    file.hunks
        .iter()
        .flat_map(|hunk| &hunk.lines)
        .map(|line| (line.side, line.line, std::str::from_utf8(line.text).unwrap()))
        .collect()
}

fn one(input: &str) -> (Change, Option<String>, Option<String>) {
    let diff = parse(input.as_bytes(), 10);
    assert!(diff.files.iter().all(|file| file.problems.is_empty()) && diff.problems.is_empty(), "{diff:?}");
    assert_eq!(diff.files.len(), 1, "{diff:?}");
    files(&diff).remove(0)
}

fn same(path: &str) -> (Change, Option<String>, Option<String>) {
    (Change::Modified, Some(path.to_owned()), Some(path.to_owned()))
}

#[test]
fn names_come_from_whichever_header_line_has_them() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let cases = [
        (format!("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n{hunk}"), same("x")),
        (format!("diff --git x x\n--- x\n+++ x\n{hunk}"), same("x")),
        (format!("diff --git a/x a/x\n--- a/x\n+++ a/x\n{hunk}"), same("a/x")),
        (format!("diff --git i/a/x w/a/x\n--- i/a/x\n+++ w/a/x\n{hunk}"), same("a/x")),
        (format!("--- a/x\t2024-01-01 00:00:00\n+++ b/x\t2024-01-01 00:00:00\n{hunk}"), same("x")),
        (
            format!("diff --git \"a/tab\\there\" \"b/tab\\there\"\n--- \"a/tab\\there\"\n+++ \"b/tab\\there\"\n{hunk}"),
            same("tab\there"),
        ),
        (
            format!(
                "diff --git \"a/\\303\\244 b.txt\" \"b/\\303\\244 b.txt\"\n--- \"a/\\303\\244 b.txt\"\n+++ \"b/\\303\\244 b.txt\"\n{hunk}"
            ),
            same("ä b.txt"),
        ),
        (
            format!("diff --git a/two words b/two words\n--- a/two words\t\n+++ b/two words\t\n{hunk}"),
            same("two words"),
        ),
        ("diff --git a/run me b/run me\nold mode 100644\nnew mode 100755\n".to_owned(), same("run me")),
        (
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n".to_owned(),
            (Change::Renamed, Some("x".into()), Some("y".into())),
        ),
        (
            "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n".to_owned(),
            (Change::Copied, Some("x".into()), Some("y".into())),
        ),
        (
            "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n".to_owned(),
            (Change::Added, None, Some("x".into())),
        ),
        (
            "diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n".to_owned(),
            (Change::Deleted, Some("x".into()), None),
        ),
        (
            "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n".to_owned(),
            (Change::Added, None, Some("x".into())),
        ),
        (
            "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n".to_owned(),
            (Change::Deleted, Some("x".into()), None),
        ),
        (format!("diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n{}", hunk.replace('\n', "\r\n")), same("x")),
        (
            format!(
                "Index: x\n===================================================================\n--- x\t(revision 1)\n+++ x\t(working copy)\n{hunk}"
            ),
            same("x"),
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(one(&input), expected, "{input}");
    }
}

/// A name as libgit2 and git write it where other characters than control characters, quotes and backslashes need none: C-quoted with one
/// of those in it, bare otherwise.
fn quoted(name: &str) -> String {
    if !name.bytes().any(|byte| byte.is_ascii_control() || matches!(byte, b'"' | b'\\')) {
        return name.to_owned();
    }
    let mut text = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\u{7}' => text.push_str("\\a"),
            '\u{8}' => text.push_str("\\b"),
            '\u{b}' => text.push_str("\\v"),
            '\u{c}' => text.push_str("\\f"),
            c if c.is_ascii_control() => text.push_str(&format!("\\{:03o}", u32::from(c))),
            c => text.push(c),
        }
    }
    text + "\""
}

/// A text, what it should be read as, and a mark of the case.
type Form = (String, (Change, Option<String>, Option<String>), bool);

/// Sections of every form for a file `x` that is `y` after a move, without what git's own program adds: similarity and index lines.
fn forms(x: &str, y: &str) -> Vec<Form> {
    let (a, b) = (quoted(&format!("a/{x}")), quoted(&format!("b/{x}")));
    let to = quoted(&format!("b/{y}"));
    let moved = format!("rename from {}\nrename to {}\n", quoted(x), quoted(y));
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let some = |name: &str| Some(name.to_owned());
    vec![
        (format!("diff --git {a} {b}\n--- {a}\n+++ {b}\n{hunk}"), same(x), false),
        (
            format!("diff --git {a} {b}\nnew file mode 100644\n--- /dev/null\n+++ {b}\n@@ -0,0 +1 @@\n+a\n"),
            (Change::Added, None, some(x)),
            false,
        ),
        (format!("diff --git {a} {b}\nnew file mode 100644\n"), (Change::Added, None, some(x)), false),
        (
            format!("diff --git {a} {b}\ndeleted file mode 100644\n--- {a}\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
            (Change::Deleted, some(x), None),
            false,
        ),
        (format!("diff --git {a} {b}\ndeleted file mode 100644\n"), (Change::Deleted, some(x), None), false),
        (format!("diff --git {a} {b}\nold mode 100644\nnew mode 100755\n"), same(x), false),
        (format!("diff --git {a} {b}\nold mode 100644\nnew mode 100755\n--- {a}\n+++ {b}\n{hunk}"), same(x), false),
        (format!("diff --git {a} {to}\n{moved}"), (Change::Renamed, some(x), some(y)), false),
        (format!("diff --git {a} {to}\n{moved}--- {a}\n+++ {to}\n{hunk}"), (Change::Renamed, some(x), some(y)), false),
        (
            format!("diff --git {a} {to}\nold mode 100644\nnew mode 100755\n{moved}--- {a}\n+++ {to}\n{hunk}"),
            (Change::Renamed, some(x), some(y)),
            false,
        ),
        (format!("diff --git {a} {b}\nBinary files {a} and {b} differ\n"), same(x), true),
        (
            format!("diff --git {a} {b}\nnew file mode 100644\nBinary files /dev/null and {b} differ\n"),
            (Change::Added, None, some(x)),
            true,
        ),
        (
            format!("diff --git {a} {b}\ndeleted file mode 100644\nBinary files {a} and /dev/null differ\n"),
            (Change::Deleted, some(x), None),
            true,
        ),
        (
            format!("diff --git {a} {to}\n{moved}Binary files {a} and {to} differ\n"),
            (Change::Renamed, some(x), some(y)),
            true,
        ),
    ]
}

/// One section after the other, each with the names that it was made for.
fn read_back(x: &str, y: &str) {
    let forms = forms(x, y);
    let input: String = forms.iter().map(|(text, ..)| text.as_str()).collect();
    let diff = parse(input.as_bytes(), 100);
    let expected: Vec<_> = forms.iter().map(|(_, names, _)| names.clone()).collect();
    assert_eq!(files(&diff), expected, "{input}");
    let binary: Vec<bool> = forms.iter().map(|(.., binary)| *binary).collect();
    assert_eq!(diff.files.iter().map(|file| file.binary).collect::<Vec<_>>(), binary, "{input}");
    assert!(diff.problems.is_empty() && diff.files.iter().all(|file| file.problems.is_empty()), "{diff:?}");
    // Each also stands alone.
    for (text, names, _) in forms {
        assert_eq!(one(&text), names, "{text}");
    }
}

#[test]
fn names_come_back_exactly_from_every_form_of_a_section() {
    let names = [
        "x",
        "src/a b.rs",
        "a\u{1b}]0;x\u{7}.py",
        "say \"a\".py",
        "back\\slash\\303.py",
        "line\nbreak\r\n.py",
        "tab\there",
        "\u{1}\u{7f}\u{8}\u{b}\u{c}",
        "größe/漢字 🦀.py",
        "\u{202e}yp.\u{2028}\u{85}\u{feff}",
        " leading and trailing ",
        "x b/x",
        "a/b/a/x",
        "\"",
        "dev/null",
        "é\n",
    ];
    for x in names {
        for y in ["y", "to here\n", "ü \"b\" and b/ü"] {
            read_back(x, y);
        }
    }
}

#[test]
fn every_line_has_its_place_in_the_new_file() {
    let input = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -10,4 +20,4 @@ fn f() {\n ctx\n-old one\n-old two\n+new one\n+new two\n end\n\\ No newline at end of file\n";
    let diff = parse(input.as_bytes(), 10);
    let file = &diff.files[0];
    assert_eq!(
        lines(file),
        [
            (Side::Context, 20, "ctx"),
            (Side::Removed, 21, "old one"),
            (Side::Removed, 21, "old two"),
            (Side::Added, 21, "new one"),
            (Side::Added, 22, "new two"),
            (Side::Context, 23, "end")
        ]
    );
    assert_eq!(file.hunks[0].heading, b"fn f() {");
    assert!(file.hunks[0].complete && file.problems.is_empty());
}

#[test]
fn lines_that_look_like_headers_are_lines_of_the_hunk() {
    let input = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n--- a/evil\n+++ b/evil\n ---\n-diff --git a/z b/z\n+@@ -1 +1 @@\n";
    let diff = parse(input.as_bytes(), 10);
    assert_eq!(files(&diff), [same("x")]);
    assert_eq!(
        lines(&diff.files[0]).iter().map(|line| line.2).collect::<Vec<_>>(),
        ["-- a/evil", "++ b/evil", "---", "diff --git a/z b/z", "@@ -1 +1 @@"]
    );
    assert!(diff.files[0].problems.is_empty());
}

#[test]
fn a_merge_is_read_against_all_its_parents() {
    let input = "diff --cc src/a.rs\nindex 1,2..3\n--- a/src/a.rs\n+++ b/src/a.rs\n@@@ -1,3 -1,3 +1,4 @@@\n  both\n -theirs only\n- ours only\n++merged\n++lines\n  end\n";
    let diff = parse(input.as_bytes(), 10);
    let file = &diff.files[0];
    assert!(file.combined && file.problems.is_empty(), "{file:?}");
    assert_eq!(file.new.as_ref().map(Name::as_str), Some("src/a.rs"));
    assert_eq!(
        lines(file).iter().filter(|line| line.0 == Side::Added).map(|line| (line.1, line.2)).collect::<Vec<_>>(),
        [(2, "merged"), (3, "lines")]
    );
}

#[test]
fn what_has_no_lines_is_told() {
    let input = "diff --git a/logo.png b/logo.png\nnew file mode 100644\nindex 0..1\nBinary files /dev/null and b/logo.png differ\ndiff --git a/p.bin b/p.bin\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQzWMT#Y01f~L\n\nliteral 3\nKcmZQzWMT#Y01f~L\n\ndiff --git a/sub b/sub\nindex 1..2 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\ndiff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../../etc/passwd\n\\ No newline at end of file\n* Unmerged path src/b.rs\n";
    let diff = parse(input.as_bytes(), 10);
    assert_eq!(
        files(&diff).iter().map(|file| file.2.clone().unwrap()).collect::<Vec<_>>(),
        ["logo.png", "p.bin", "sub", "l"]
    );
    assert_eq!(diff.files.iter().map(|file| file.binary).collect::<Vec<_>>(), [true, true, false, false]);
    assert_eq!(
        diff.files.iter().map(|file| file.is_special()).collect::<Vec<_>>(),
        [None, None, Some("submodule"), Some("symbolic link")]
    );
    assert_eq!(diff.unmerged.iter().map(Name::as_str).collect::<Vec<_>>(), ["src/b.rs"]);
    assert!(diff.files.iter().all(|file| file.problems.is_empty()), "{diff:?}");
}

#[test]
fn mail_and_log_text_is_no_change() {
    let input = "From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] x\n\n- a point\n+ another\n---\n x | 2 +-\n 1 file changed\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.40.0\n\n";
    let diff = parse(input.as_bytes(), 10);
    assert_eq!(files(&diff), [same("x")]);
    assert!(diff.problems.is_empty() && diff.files[0].problems.is_empty(), "{diff:?}");
}

#[test]
fn what_cannot_be_read_is_a_problem_of_its_file() {
    let cases = [
        ("short", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n"),
        (
            "too few lines",
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\ndiff --git a/y b/y\nold mode 100644\nnew mode 100755\n",
        ),
        ("too many lines", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n"),
        ("bad range", "--- a/x\n+++ b/x\n@@ -1 +99999999999 @@\n-a\n+b\n"),
        ("overflow", "--- a/x\n+++ b/x\n@@ -1 +4294967295,3 @@\n-a\n+b\n"),
        ("no start", "--- a/x\n+++ b/x\n@@ -1 +0,2 @@\n-a\n+b\n"),
        ("no end mark", "--- a/x\n+++ b/x\n@@ -1 +1\n-a\n+b\n"),
        ("bad escape", "diff --git \"a/\\q\" \"b/\\q\"\n--- \"a/\\q\"\n+++ \"b/\\q\"\n@@ -1 +1 @@\n-a\n+b\n"),
        ("bad mode", "diff --git a/x b/x\nold mode 9\nnew mode 100755\n"),
        ("no name", "diff --git \"\" x\n@@ -1 +1 @@\n-a\n+b\n"),
        ("no name of a merge", "diff --cc \"\"\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n"),
        ("nowhere", "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n"),
        ("second hunk after junk", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\njunk\n@@ -5 +5 @@\n-a\n+b\n"),
    ];
    for (what, input) in cases {
        let diff = parse(input.as_bytes(), 10);
        assert!(!diff.files.is_empty() && !diff.files[0].problems.is_empty(), "{what}: {diff:?}");
    }
    let orphan = parse(b"@@ -1 +1 @@\n-a\n+b\n", 10);
    assert_eq!((orphan.files.len(), orphan.problems.len()), (0, 1));
}

#[test]
fn names_that_leave_the_workspace_are_no_paths() {
    for name in ["../x", "a/../../x", "/etc/passwd", "a//b", "./x", "\\a", "a\\..\\b", "", "a\0b"] {
        assert!(Name::new(name.as_bytes()).path().is_err(), "{name:?}");
    }
    assert!(Name::new(b"\xff.rs").path().is_err());
    assert_eq!(Name::new(b"src/a.rs").path(), Ok("src/a.rs"));
    assert_eq!(Name::new(b"a\\b.rs").path(), Ok("a\\b.rs"));
    let longest = Name::new("x".repeat(MAX_PATH_BYTES).as_bytes());
    assert_eq!((longest.file().len(), longest.path().is_ok()), (MAX_PATH_BYTES, true));
    let longer = Name::new("x".repeat(MAX_PATH_BYTES + 1).as_bytes());
    assert_eq!((longer.file().chars().count(), longer.path().is_ok()), (MAX_NAME_BYTES + 1, false));
    assert_eq!(Name::new("a\nb\u{202e}".as_bytes()).file(), "a\nb\u{202e}");
    assert_eq!(shown("a\nb\u{202e}"), "a\\nb\\u{202e}");
}

#[test]
fn bounds_are_kept_and_counted() {
    let mut input = String::new();
    for n in 0..20 {
        input.push_str(&format!("diff --git a/f{n} b/f{n}\nold mode 100644\nnew mode 100755\n"));
    }
    let diff = parse(input.as_bytes(), 5);
    assert_eq!((diff.files.len(), diff.cut_files), (5, 15));
    assert_eq!(bounded(b"a\nb\nc\n", 100, 2), (&b"a\nb\n"[..], 2));
    assert_eq!(bounded(b"a\nb\nc\n", 3, 100), (&b"a\nb"[..], 3));
    assert_eq!(bounded(b"a\nb\n", 100, 100), (&b"a\nb\n"[..], 0));
    assert_eq!(bounded(b"", 100, 100), (&b""[..], 0));
}

/// Lines that make up diffs, mixed with lines that break them.
fn diff_like() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just("diff --git a/x b/x".to_owned()),
        Just("diff --git \"a/\\303\\244\" \"b/\\303\\244\"".to_owned()),
        Just("diff --cc x".to_owned()),
        Just("--- a/x".to_owned()),
        Just("+++ b/x".to_owned()),
        Just("--- /dev/null".to_owned()),
        Just("+++ /dev/null".to_owned()),
        Just("GIT binary patch".to_owned()),
        Just("Binary files a and b differ".to_owned()),
        Just("\\ No newline at end of file".to_owned()),
        Just("rename from \"x".to_owned()),
        (any::<u32>(), 0_u32..6, any::<u32>(), 0_u32..6).prop_map(|(a, b, c, d)| format!("@@ -{a},{b} +{c},{d} @@")),
        (0_u32..9, 0_u32..4, 0_u32..9, 0_u32..4).prop_map(|(a, b, c, d)| format!("@@@ -{a},{b} -{a},{b} +{c},{d} @@@")),
        "[ +-]{0,3}[a-z<>=\\\\\"\t]{0,9}",
        ".{0,20}",
    ];
    prop::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n").into_bytes())
}

fn sound(input: &[u8]) {
    let diff = parse(input, 8);
    for hunk in diff.files.iter().flat_map(|file| &file.hunks) {
        let first = hunk.new_start.max(1);
        let last = hunk.new_start.saturating_add(hunk.new_len.saturating_sub(1)).max(1);
        for line in &hunk.lines {
            assert!((first..=last).contains(&line.line), "line {} outside {first}..={last}", line.line);
        }
        let new = hunk.lines.iter().filter(|line| line.side != Side::Removed).count();
        assert!(!hunk.complete || new == hunk.new_len as usize);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_parsed(input in prop::collection::vec(any::<u8>(), 0..400)) {
        sound(&input);
    }

    #[test]
    fn anything_like_a_diff_is_parsed(input in diff_like()) {
        sound(&input);
    }

    /// Any name but the ones no tree can have.
    #[test]
    fn any_name_comes_back(x in "[^\0]{1,12}", y in "[^\0]{1,12}") {
        prop_assume!(x != y);
        read_back(&x, &y);
    }

    /// A diff that another implementation made of two texts gives the new text's lines back, each at its number.
    #[test]
    fn a_made_diff_is_read_back(old in "([ab+@ -]{0,3}\n){0,12}", new in "([ab+@ -]{0,3}\n){0,12}") {
        let patch = diffy::create_patch(&old, &new).to_string();
        let diff = parse(patch.as_bytes(), 8);
        let expected: Vec<&str> = new.lines().collect();
        if old == new {
            prop_assert!(diff.files.iter().all(|file| file.hunks.is_empty()));
        } else {
            prop_assert_eq!(diff.files.len(), 1);
            prop_assert!(diff.files[0].problems.is_empty(), "{:?}", diff.files[0].problems);
            for (side, line, text) in lines(&diff.files[0]) {
                if side != Side::Removed {
                    prop_assert_eq!(expected.get(line as usize - 1).copied(), Some(text));
                }
            }
            let removed = lines(&diff.files[0]).iter().filter(|line| line.0 == Side::Removed).count();
            let added = lines(&diff.files[0]).iter().filter(|line| line.0 == Side::Added).count();
            prop_assert_eq!(old.lines().count() - removed + added, expected.len());
        }
    }
}
