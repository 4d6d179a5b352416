//! Hostile and large trees: nothing fails, and what was left out is counted.

use crate::support::files;
use brain_role::testing::Bench;
use brain_role::{TaskStatus, WorkerResult};
use librarian::limits::{
    MAX_DEFINITIONS_PER_FILE, MAX_ENTRY_POINTS, MAX_FILE_BYTES, MAX_FILE_REFS, MAX_TEST_FILES_SEARCHED, MAX_TOTAL_BYTES,
};

fn risks(result: &WorkerResult) -> String {
    result.risks.join("\n")
}

#[test]
fn what_is_not_read_is_counted_by_reason() {
    let result = Bench::new()
        .file("src/a.rs", "fn parcel() {}\n")
        .file("big.rs", vec![b'a'; MAX_FILE_BYTES as usize + 1])
        .file("parcel.png", [0x89, b'P', b'N', b'G'])
        .file("parcel.unknown", [b'a', 0, b'b'])
        .file("node_modules/x/index.js", "function parcel() {}")
        .file("Cargo.lock", "parcel")
        .goal("where is the parcel?")
        .run(librarian::run);
    assert_eq!(files(&result).first(), Some(&"src/a.rs"));
    let risks = risks(&result);
    assert!(risks.contains("5 files were not read"), "{risks}");
    for part in [
        "binary (2, such as parcel.png)",
        "over 1 MiB (1, such as big.rs)",
        "in node_modules, which holds other people's code or built output (1",
        "lock files and data (1, such as Cargo.lock)",
    ] {
        assert!(risks.contains(part), "{part} in {risks}");
    }
    assert!(!files(&result).iter().any(|file| file.starts_with("node_modules")));
}

#[test]
fn a_file_of_exactly_the_limit_is_read() {
    let mut text = b"fn parcel() {}\n".to_vec();
    text.resize(MAX_FILE_BYTES as usize, b'\n');
    let result = Bench::new().file("a.rs", text).goal("parcel").run(librarian::run);
    assert_eq!((files(&result), risks(&result)), (vec!["a.rs"], String::new()));
}

#[test]
fn the_budget_of_bytes_is_spent_on_code_first() {
    let filler = vec![b'\n'; MAX_FILE_BYTES as usize];
    let mut bench = Bench::new().file("zzz/deep/parcel.rs", "/// Sends it.\nfn send() {}\n");
    let fit = (MAX_TOTAL_BYTES / MAX_FILE_BYTES) as usize;
    for index in 0..fit + 2 {
        bench = bench.file(format!("docs/{index}.txt"), &filler);
    }
    let result = bench.goal("how is the parcel sent?").run(librarian::run);
    assert!(result.summary.contains("send (function, zzz/deep/parcel.rs:2)"), "{}", result.summary);
    assert!(
        risks(&result)
            .contains("3 files were not read, and ranked by their path alone: over the budget of 64 MiB in all (3"),
        "{}",
        risks(&result)
    );
}

#[test]
fn definitions_over_the_limit_are_counted() {
    let mut text = String::new();
    for index in 0..MAX_DEFINITIONS_PER_FILE + 7 {
        text.push_str(&format!("fn parcel_{index}() {{}}\n"));
    }
    let bench = Bench::new().file("a.rs", text).goal("parcel");
    let result = bench.run(librarian::run);
    assert!(risks(&result).contains("7 definitions were left out"), "{}", risks(&result));
    let map: serde_json::Value = serde_json::from_slice(&bench.artifact("map.json").expect("a map")).expect("JSON");
    assert_eq!(map["definitions"][0]["definitions"].as_array().map(Vec::len), Some(MAX_DEFINITIONS_PER_FILE));
}

#[test]
fn deep_nesting_is_left_to_the_tokenizer_and_said() {
    let deep =
        |open: &str, close: &str| format!("fn parcel() {{ {}{} }}\n", open.repeat(100_000), close.repeat(100_000));
    let result = Bench::new()
        .file("a.rs", deep("(", ")"))
        .file("b.ts", format!("function parcel() {{ return {}1{} }}", "[".repeat(100_000), "]".repeat(100_000)))
        .file("c.py", format!("def parcel():\n  return {}1\n", "not ".repeat(100_000)))
        .file("d.go", deep("{", "}"))
        .goal("where is the parcel?")
        .run(librarian::run);
    assert_eq!(result.progress.status, TaskStatus::Completed);
    assert_eq!(files(&result).len(), 4);
    assert!(risks(&result).contains("3 files were nested too deeply for the parser"), "{}", risks(&result));
    assert!(crate::support::label(&result, "a.rs").contains("`parcel` (:1)"));
}

#[test]
fn any_bytes_are_taken() {
    let mut bench = Bench::new();
    let odd: &[&[u8]] = &[
        b"",
        b"\xff\xfe\xfd",
        b"\xef\xbb\xbffn a() {}",
        b"\"",
        b"/*",
        b"'",
        b"`${",
        b"#[",
        b"r#\"",
        b"\\",
        b"---\n",
        b"[[",
        b"\r\r\r",
        "\u{202e}fn ß() {}".as_bytes(),
    ];
    for extension in [
        "rs", "py", "ts", "tsx", "js", "go", "java", "c", "cpp", "rb", "sh", "sql", "md", "toml", "yml", "json",
        "html", "php", "kt", "swift", "cs", "scala", "proto", "wit", "", "mk",
    ] {
        for (index, bytes) in odd.iter().enumerate() {
            bench = bench.file(format!("x{index}.{extension}"), bytes);
        }
    }
    for name in ["Cargo.toml", "package.json", "pyproject.toml", "Dockerfile", "Makefile"] {
        bench = bench.file(name, b"{[\xff\"");
    }
    let result = bench.goal("what is ß, and `a::` ::b /c \u{0} ((( tested").run(librarian::run);
    assert_eq!(result.progress.status, TaskStatus::Completed);
}

#[test]
fn few_files_are_named_however_many_match() {
    let mut bench = Bench::new();
    for index in 0..200 {
        bench = bench.file(
            format!("src/parcel_{index}.rs"),
            "/// The parcel.\npub struct Parcel;\n#[test]\nfn parcel() { Parcel; }\n",
        );
    }
    let result = bench.goal("where is the parcel, and is it tested?").run(librarian::run);
    assert!(files(&result).len() <= MAX_FILE_REFS + librarian::limits::MAX_TEST_REFS);
    assert!(result.summary.len() < 4_000);
}

#[test]
fn a_long_goal_is_cut_and_said() {
    let goal = (0..100_000).map(|index| format!("word{index} ")).collect::<String>();
    let result = Bench::new().file("a.rs", "fn word3() {}").goal(goal).run(librarian::run);
    assert_eq!(files(&result), ["a.rs"]);
    assert!(risks(&result).contains("nor anything after its first 16 KiB"), "{}", risks(&result));
}

#[test]
fn entry_points_over_the_limit_are_counted() {
    let mut bench = Bench::new();
    for index in 0..MAX_ENTRY_POINTS + 3 {
        bench = bench.file(format!("src/bin/{index}.rs"), "fn main() {}\n");
    }
    let result = bench.goal("what are the entry points?").run(librarian::run);
    assert!(risks(&result).contains("3 entry points were left out, over the limit of 200"), "{}", risks(&result));
}

#[test]
fn test_files_over_the_limit_are_not_searched_and_said() {
    let mut bench = Bench::new().file("src/parcel.rs", "pub fn send_parcel() {}\n");
    for index in 0..MAX_TEST_FILES_SEARCHED + 2 {
        bench = bench.file(format!("tests/t{index}.rs"), "#[test]\nfn t() {}\n");
    }
    let result = bench.goal("is send_parcel tested?").run(librarian::run);
    assert!(result.summary.contains("2000 files with tests were searched"), "{}", result.summary);
    assert!(risks(&result).contains("2 files with tests were not searched, over the budget."), "{}", risks(&result));
}
