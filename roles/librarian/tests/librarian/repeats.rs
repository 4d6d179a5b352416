//! One character, again and again, in every language: however a tokenizer is generated, its stack must not grow with the text.
//!
//! The role has 1 MiB of stack, and running out of it loses the whole map. Natively a thread has more, so these tests run on one that has less.

use brain_role::TaskStatus;
use brain_role::testing::Bench;
use librarian::{language, outline};

/// Stack of the thread that reads, in bytes. The parsers take it for what they may descend, see `MAX_NESTING`; a frame for each
/// character of [`TIMES`] has no place in it.
const STACK: usize = 256 * 1024;

/// How often a character is repeated.
const TIMES: usize = 200_000;

/// A file name of every language with a reader of its own, and of the others one.
const NAMES: &[&str] = &[
    "a.rs", "a.py", "a.ts", "a.tsx", "a.js", "a.go", "a.java", "a.kt", "a.c", "a.cpp", "a.cs", "a.swift", "a.scala",
    "a.php", "a.rb", "a.sh", "a.sql", "a.proto", "a.wit", "a.md", "a.toml", "a.yml", "Makefile", "a.txt",
];

/// One or more of every class that a lexer may tell apart, by the bytes of its UTF-8 form: where a length begins and ends, letters, marks,
/// spaces, signs, what is not a character, and what is broken.
const CHARACTERS: &[&str] = &[
    // One byte; the printable ones of ASCII are added in `characters`.
    "\u{1}",
    "\t",
    "\r",
    "\r\n",
    "\n",
    "\u{b}",
    "\u{c}",
    "\u{7f}",
    // Two bytes.
    "\u{80}",
    "\u{85}",
    "\u{a0}",
    "é",
    "\u{301}",
    "ß",
    "ж",
    "א",
    "\u{7ff}",
    // Three bytes.
    "\u{800}",
    "→",
    "═",
    "“",
    "\u{200b}",
    "\u{2028}",
    "\u{202e}",
    "漢",
    "\u{d7ff}",
    "\u{e000}",
    "\u{feff}",
    "\u{fffd}",
    "\u{ffff}",
    // Four bytes.
    "\u{10000}",
    "𝐀",
    "🦀",
    "\u{e0001}",
    "\u{10ffff}",
    // More than one length.
    "é═",
    "a→",
    "═🦀é",
    "e\u{301}",
    "═ ",
    "→\n",
];

fn characters() -> Vec<String> {
    let ascii = (0x20..0x7f_u8).map(|byte| char::from(byte).to_string());
    ascii.chain(CHARACTERS.iter().map(|one| (*one).to_owned())).collect()
}

/// Words and signs of which two in turn are repeated: a parser that misses what it waits for often goes on one call deeper, with whatever
/// comes next.
const SIGNS: &[&str] = &[
    "(", ")", "[", "]", "{", "}", "<", ">", ",", ";", ":", ".", "..", "::", "=>", "=", "+", "*", "/", "&", "|", "!",
    "?", "@", "#", "\\", "'", "\"", "`", "${", "</", "a", "1", "<a>", "</a>", "()", "\n", " ", "═",
];
const WORDS: &[(&str, &[&str])] = &[
    (
        "a.rs",
        &[
            "fn", "let", "if", "else", "match", "for", "impl", "dyn", "return", "move", "async", "ref", "const", "mod",
            "use",
        ],
    ),
    (
        "a.py",
        &["def", "class", "if", "else", "for", "with", "lambda", "not", "yield", "await", "match", "from", "async"],
    ),
    (
        "a.ts",
        &[
            "function", "class", "new", "typeof", "await", "yield", "if", "else", "for", "keyof", "infer", "extends",
            "type", "as",
        ],
    ),
    ("a.tsx", &["function", "class", "new", "typeof", "await", "if", "else", "for", "async", "extends"]),
];

/// What the pairs stand in: nothing, an expression, a type, a body.
const BEFORE: &[&str] = &["", "x=", "type A=", "fn f(){", "class A{", "x=("];

/// Runs on a thread with [`STACK`]. Without room for it the process ends: that is how such a test fails.
fn with_little_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run).expect("a thread");
    thread.join().expect("it returns");
}

#[test]
fn no_character_takes_stack_when_it_is_repeated() {
    with_little_stack(|| {
        for name in NAMES {
            for one in characters() {
                let t = std::time::Instant::now();
                outline::outline(language::of(name), name, &one.repeat(TIMES));
                if t.elapsed().as_millis() > 100 {
                    eprintln!("{name} {one:?} {:?}", t.elapsed());
                }
            }
        }
    });
}

#[test]
fn nor_inside_of_a_string_a_comment_or_a_word() {
    with_little_stack(|| {
        for name in NAMES {
            for one in CHARACTERS {
                let text = one.repeat(TIMES / 4);
                for text in [
                    format!("print('{text}')"),
                    format!("x = \"{text}\""),
                    format!("`{text}`"),
                    format!("# {text}"),
                    format!("// {text}"),
                    format!("/* {text} */"),
                    format!("<a>{text}</a>"),
                    format!("r#\"{text}\"#"),
                    format!("f\"{text}\""),
                    format!("def a{text}(): pass"),
                    format!("fn a{text}() {{}}"),
                ] {
                    let t = std::time::Instant::now();
                    outline::outline(language::of(name), name, &text);
                    if t.elapsed().as_millis() > 100 {
                        eprintln!("{name} {one:?} {:?} {:?}", text.get(0..10), t.elapsed());
                    }
                }
            }
        }
    });
}

#[test]
fn the_role_maps_the_rest_of_a_tree_with_such_files() {
    let mut bench = Bench::new().file("src/parcel.rs", "/// Sends it.\npub fn send_parcel() {}\n");
    for name in NAMES {
        for (index, bytes) in
            ["═".as_bytes(), "\u{fffd}".as_bytes(), b"\xff\xfe", b"\x80", b"\xc3", b"\xe2\x95", b"\xf0\x9f\xa6"]
                .iter()
                .enumerate()
        {
            bench = bench.file(format!("hostile/{index}/{name}"), bytes.repeat(50_000));
        }
    }
    with_little_stack(move || {
        let result = bench.goal("where is the parcel sent?").run(librarian::run);
        assert_eq!(result.progress.status, TaskStatus::Completed);
        assert_eq!(crate::support::files(&result).first(), Some(&"src/parcel.rs"));
    });
}

#[test]
fn nor_do_two_tokens_in_turn() {
    with_little_stack(|| {
        for (name, words) in WORDS {
            let tokens: Vec<String> = SIGNS
                .iter()
                .map(|sign| (*sign).to_owned())
                .chain(words.iter().map(|word| format!("{word} ")))
                .collect();
            for (first, second) in tokens.iter().flat_map(|first| tokens.iter().map(move |second| (first, second))) {
                // Six times what a parser is given, and more than its calls have room for here.
                let pairs = format!("{first}{second}").repeat(2_500);
                for before in BEFORE {
                    outline::outline(language::of(name), name, &format!("{before}{pairs}"));
                }
            }
        }
    });
}

#[test]
fn a_path_in_the_result_is_the_one_in_the_tree() {
    for name in
        ["a\u{1b}]0;x\u{7}.rs", "say \"a\".rs", "back\\slash.rs", "line\nbreak.rs", "größe/漢.rs", "\u{202e}x.rs"]
    {
        let result =
            Bench::new().file(name, "/// Sends it.\npub fn send_parcel() {}\n").goal("send_parcel").run(librarian::run);
        assert_eq!(crate::support::files(&result), [name]);
    }
}
