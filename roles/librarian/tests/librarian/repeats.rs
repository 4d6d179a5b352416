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
fn explore_pairs() {
    let word = |s: &str| s.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    let signs = r####"( ) [ ] { } < > , ; : . .. ... :: -> => = == + - * ** / // % & && | || ^ ! ? ?. ?? ~ @ # $ \ ' " ` ''' """ ${ /* */ </ /> @( #[ #! a 1 0x 1.5 'b' "c" `d` <a> </a> é ═ _ f" {{ $( r#" b' 'a"####;
    let rust = "fn let mut ref if else match while for loop in impl dyn trait type struct enum mod use pub crate super self Self where return break continue move async await unsafe const static extern as box macro_rules! union yield";
    let python = "def class if elif else for while try except finally with as lambda not and or in is return yield await async from import global nonlocal del pass raise assert match case print exec type None";
    let js = "function class extends new delete typeof void await async yield return throw if else for while do switch case default try catch finally with var let const import export from of in instanceof as satisfies is keyof infer unique readonly asserts type interface enum namespace module declare abstract static get set super this null using public private accessor";
    let jobs: Vec<(&'static str, Vec<String>, Vec<&'static str>)> = vec![
        ("a.rs", word(rust), vec!["", "fn f(){", "type A=", "const A:u8="]),
        ("a.py", word(python), vec!["", "x=", "def f(", "if a:\n  "]),
        ("a.ts", word(js), vec!["", "x=", "type A=", "class A{"]),
        ("a.tsx", word(js), vec!["", "x=", "type A=", "x=<a>"]),
        ("a.js", word(js), vec!["", "x=", "class A{", "function*f(){"]),
    ];
    let which = std::env::var("JOB").unwrap_or_default();
    for (name, words, before) in jobs {
        if !which.is_empty() && which != name {
            continue;
        }
        let mut tokens = word(signs);
        tokens.push("\n".to_owned());
        tokens.push(" ".to_owned());
        tokens.extend(words.iter().map(|w| format!("{w} ")));
        let skip: usize = std::env::var("SKIP").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
        with_little_stack(move || {
            let mut n = 0;
            for a in &tokens {
                for b in &tokens {
                    for (i, before) in before.iter().enumerate() {
                        n += 1;
                        if n <= skip {
                            continue;
                        }
                        let text = format!("{before}{}", format!("{a}{b}").repeat(2500));
                        std::fs::write(format!("/tmp/pair_{name}"), format!("{n} {before:?} {a:?} {b:?}")).unwrap();
                        let t = std::time::Instant::now();
                        outline::outline(language::of(name), name, &text);
                        if t.elapsed().as_millis() > 60 {
                            eprintln!("SLOW {name} {i} {a:?} {b:?} {:?}", t.elapsed());
                        }
                    }
                }
            }
        });
    }
}
#[test]
fn explore_corpus() {
    let list = std::fs::read_to_string("/tmp/jsfiles").unwrap_or_default();
    let (mut own, mut deep, mut un) = (0, 0, 0);
    for path in list.lines().filter(|l| l.contains("node_modules") ) {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        match outline::outline(language::of(path), path, &text).made {
            outline::Made::Own => own += 1,
            outline::Made::TooDeep => { deep += 1; println!("deep {path}"); }
            outline::Made::Unparsable => { un += 1; println!("unclear {path}"); }
        }
    }
    println!("own {own} deep {deep} unclear {un}");
}
