//! Each rule: what it finds at which line, and what it leaves alone.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use brain_role::Verdict;
use common::{Change, told, verdict};

/// An edit of one file: path, before, after, and the findings that are expected, all of them.
type Case = (&'static str, &'static str, &'static str, &'static [&'static str]);

fn check(cases: &[Case]) {
    for (path, old, new, expected) in cases {
        let result = Change::new().edit(path, old, new).review();
        assert_eq!(told(&result), *expected, "{path}\n--- old\n{old}\n--- new\n{new}");
        let weighty = expected.iter().any(|line| !line.ends_with(" low"));
        assert_eq!(
            verdict(&result),
            if weighty { Verdict::ChangesRequested } else { Verdict::Approved },
            "{path}: {new}"
        );
    }
}

#[test]
fn conflict_markers() {
    check(&[
        (
            "a.txt",
            "one\n",
            "one\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n",
            &["review/conflict-marker a.txt:2 high"],
        ),
        (
            "a.txt",
            "one\n",
            "one\n<<<<<<< a\n||||||| b\n=======\n>>>>>>> c\n<<<<<<< d\n=======\n>>>>>>> e\n",
            &["review/conflict-marker a.txt:2 high", "review/conflict-marker a.txt:6 high"],
        ),
        ("a.txt", "one\n", "one\n>>>>>>> other\n", &["review/conflict-marker a.txt:2 high"]),
        ("a.txt", "one\r\n", "one\r\n<<<<<<< HEAD\r\n", &["review/conflict-marker a.txt:2 high"]),
        // A heading, a quotation, a shift.
        ("a.md", "one\n", "Heading\n=======\n", &[]),
        ("a.md", "one\n", "one\n>>>>>>>> deep quote\n<<<<<<<<\n", &[]),
        // It was there before.
        ("a.txt", "<<<<<<< HEAD\none\n", "<<<<<<< HEAD\ntwo\n", &[]),
    ]);
}

#[test]
fn debug_output_per_language() {
    check(&[
        ("src/a.rs", "fn f() {\n}\n", "fn f() {\n    dbg!(1);\n}\n", &["review/debug-output src/a.rs:2 medium"]),
        ("src/a.rs", "fn f() {\n}\n", "fn f() {\n    println!(\"x\");\n}\n", &["review/debug-output src/a.rs:2 low"]),
        ("src/main.rs", "fn main() {\n}\n", "fn main() {\n    println!(\"x\");\n}\n", &[]),
        // An attribute of the crate is not the first line of a script.
        (
            "src/lib.rs",
            "#![no_std]\nfn f() {\n}\n",
            "#![no_std]\nfn f() {\n    println!(\"x\");\n}\n",
            &["review/debug-output src/lib.rs:3 low"],
        ),
        ("a.py", "#!/bin/python\n", "#!/bin/python\nprint(1)\n", &[]),
        ("b.py", "#! /bin/python\n", "#! /bin/python\nprint(1)\n", &[]),
        (
            "src/a.rs",
            "#[cfg(test)]\nmod tests {\n}\n",
            "#[cfg(test)]\nmod tests {\n    fn a() { println!(\"x\"); }\n}\n",
            &[],
        ),
        ("a.py", "x = 1\n", "x = 1\nprint(x)\n", &["review/debug-output a.py:2 low"]),
        ("a.py", "x = 1\n", "x = 1\nprint('DEBUG', x)\n", &["review/debug-output a.py:2 medium"]),
        ("a.py", "x = 1\n", "x = 1\nlog.print(x)\n# print(x)\ns = 'print(x)'\n", &[]),
        ("a.py", "if __name__ == '__main__':\n    pass\n", "if __name__ == '__main__':\n    print(1)\n", &[]),
        ("tests/test_a.py", "x = 1\n", "x = 1\nprint(x)\n", &[]),
        ("a.py", "x = 1\n", "x = 1\nimport pdb; pdb.set_trace()\n", &["review/debugger a.py:2 medium"]),
        ("tests/test_a.py", "x = 1\n", "x = 1\nbreakpoint()\n", &["review/debugger tests/test_a.py:2 medium"]),
        ("a.py", "x = 1\n", "x = 1\nbreakpoint = 3\n", &[]),
        ("a.ts", "f();\n", "f();\nconsole.log(x);\n", &["review/debug-output a.ts:2 low"]),
        ("a.js", "f();\n", "f();\n  debugger;\n", &["review/debugger a.js:2 medium"]),
        ("a.js", "f();\n", "f();\n// console.log(x)\nconst s = `console.log(x)`;\n", &[]),
        ("a.go", "package a\n", "package a\nfmt.Println(x)\n", &["review/debug-output a.go:2 low"]),
        ("a.go", "package main\n", "package main\nfmt.Println(x)\n", &[]),
        ("A.java", "class A {\n", "class A {\nSystem.out.println(x);\n", &["review/debug-output A.java:2 low"]),
        ("a.php", "<?php\n", "<?php\nvar_dump($x);\n", &["review/debug-output a.php:2 medium"]),
        ("a.rb", "x = 1\n", "x = 1\nbinding.pry\n", &["review/debugger a.rb:2 medium"]),
        ("a.md", "x\n", "x\nconsole.log(1); breakpoint()\n", &[]),
        ("web/dist/a.min.js", "f();\n", "f();\nconsole.log(x);\n", &["review/generated-file web/dist/a.min.js low"]),
        ("dist/a.css", "a {}\n", "a {}\nb {}\n", &["review/generated-file dist/a.css low"]),
    ]);
}

#[test]
fn a_source_in_a_folder_with_the_name_of_one_for_output_is_looked_at() {
    let change = || Change::new().edit("src/target/a.rs", "fn f() {\n}\n", "fn f() {\n    dbg!(1);\n}\n");
    assert_eq!(told(&change().review()), ["review/debug-output src/target/a.rs:2 medium"]);
    let tagged = change().there("src/target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    assert_eq!(told(&tagged.review()), ["review/generated-file src/target/a.rs low"]);
    let long = format!("const a = [{}];\n", "1,".repeat(2_000));
    assert_eq!(
        told(&Change::new().edit("dist/a.js", "f();\n", &long).review()),
        ["review/generated-file dist/a.js low"]
    );
}

#[test]
fn unfinished_work() {
    check(&[
        ("src/a.rs", "fn f() {\n}\n", "fn f() {\n    todo!()\n}\n", &["review/unfinished-code src/a.rs:2 medium"]),
        ("src/a.rs", "fn f() {\n}\n", "fn f() {\n    // FIXME later\n}\n", &["review/fixme src/a.rs:2 low"]),
        ("src/a.rs", "fn f() {\n}\n", "fn f() {\n    let s = \"todo!() FIXME\";\n}\n", &[]),
        ("a.test.js", "f();\n", "f();\nit.only('x', () => {});\n", &["review/focused-test a.test.js:2 medium"]),
        ("a.test.js", "f();\n", "f();\nfdescribe('x', () => {});\n", &["review/focused-test a.test.js:2 medium"]),
        ("a.test.js", "f();\n", "f();\nmodel.fit(x);\n", &[]),
        ("a.test.js", "f();\n", "f();\nxit('x', () => {});\n", &["review/skipped-test a.test.js:2 medium"]),
        ("tests/a.rs", "fn f() {\n}\n", "#[ignore]\nfn f() {\n}\n", &["review/skipped-test tests/a.rs:1 medium"]),
        (
            "test_a.py",
            "x = 1\n",
            "x = 1\n@pytest.mark.skip\ndef f(): pass\n",
            &["review/skipped-test test_a.py:2 medium"],
        ),
        ("test_a.py", "x = 1\n", "x = 1\n@pytest.mark.skipif(windows)\ndef f(): pass\n", &[]),
        ("a_test.go", "package a\n", "package a\nt.Skip(\"later\")\n", &["review/skipped-test a_test.go:2 medium"]),
        (
            "a.js",
            "f();\n",
            "f();\n// const a = 1;\n// f(a);\n// return g(a);\n",
            &["review/commented-out-code a.js:2 low"],
        ),
        (
            "a.js",
            "f();\n",
            "f();\n// This explains why the\n// call above comes first, and\n// what would happen otherwise.\n",
            &[],
        ),
        ("src/a.rs", "fn f() {\n}\n", "/// let a = 1;\n/// f(a);\n/// g(a);\nfn f() {\n}\n", &[]),
    ]);
}

#[test]
fn weakened_safeguards() {
    check(&[
        (
            "a.py",
            "x = 1\n",
            "x = 1\nrequests.get(u, verify = False)\n",
            &["review/tls-verification-disabled a.py:2 high"],
        ),
        (
            "a.go",
            "package a\n",
            "package a\nc := &tls.Config{InsecureSkipVerify: true}\n",
            &["review/tls-verification-disabled a.go:2 high"],
        ),
        (
            "a.js",
            "f();\n",
            "f();\nconst o = { rejectUnauthorized: false };\n",
            &["review/tls-verification-disabled a.js:2 high"],
        ),
        (
            "ci.yml",
            "a: 1\n",
            "a: 1\nrun: NODE_TLS_REJECT_UNAUTHORIZED=0 npm ci\n",
            &["review/tls-verification-disabled ci.yml:2 high"],
        ),
        ("notes.md", "x\n", "x\nnever use verify=False\n", &[]),
        (
            "Dockerfile",
            "FROM a\n",
            "FROM a\nRUN chmod -R 777 /srv\n",
            &["review/dangerous-permission Dockerfile:2 medium"],
        ),
        ("a.py", "x = 1\n", "x = 1\nos.chmod(p, 0o777)\n", &["review/dangerous-permission a.py:2 medium"]),
        ("a.js", "f();\n", "f();\nif (a\u{202e}) {}\n", &["review/hidden-direction a.js:2 high"]),
    ]);
}

#[test]
fn removed_safeguards() {
    check(&[
        (
            "src/a.rs",
            "fn f() {\n    let a = g()?;\n    h(a);\n}\n",
            "fn f() {\n    let a = g().unwrap();\n    h(a);\n}\n",
            &["review/removed-error-handling src/a.rs:2 medium"],
        ),
        // Another form takes its place.
        ("src/a.rs", "fn f() {\n    let a = g()?;\n}\n", "fn f() {\n    let a = g().map_err(E::from)?;\n}\n", &[]),
        ("src/a.rs", "fn f<T: ?Sized>() {\n    a();\n}\n", "fn f<T>() {\n    a();\n}\n", &[]),
        // The whole function goes, and its handling with it.
        ("src/a.rs", "fn f() -> R {\n    g()?;\n    Err(1)\n}\n\nfn k() {}\n", "fn k() {}\n", &[]),
        (
            "a.py",
            "try:\n    f()\nexcept E:\n    g()\nk()\n",
            "f()\nk()\n",
            &["review/removed-error-handling a.py:1 medium"],
        ),
        (
            "a.go",
            "package a\nx, err := f()\nif err != nil {\n\treturn err\n}\ng()\n",
            "package a\nx, _ := f()\ng()\n",
            &["review/removed-error-handling a.go:2 medium"],
        ),
        ("a.js", "p.catch(f);\ng();\n", "p.then(f);\ng();\n", &["review/removed-error-handling a.js:1 medium"]),
        (
            "a.py",
            "def f(a):\n    if not a:\n        raise ValueError(a)\n    g(a)\n",
            "def f(a):\n    g(a)\n",
            &["review/removed-validation a.py:2 medium"],
        ),
        (
            "a.py",
            "@login_required\ndef f():\n    g()\n",
            "def f():\n    g()\n",
            &["review/removed-auth-check a.py:1 high"],
        ),
        (
            "a.py",
            "@login_required\ndef f():\n    g()\n\nx = 1\n",
            "x = 1\n",
            &["review/public-api-without-tests a.py:1 medium"],
        ),
        ("a.py", "from auth import login_required\nx = 1\n", "x = 1\n", &[]),
        ("a.py", "requests.get(u, verify=True)\n", "requests.get(u)\n", &["review/removed-auth-check a.py:1 high"]),
        (
            "tests/test_a.py",
            "def test_a():\n    assert f()\n\ndef test_b():\n    assert g()\n",
            "def test_a():\n    assert f()\n",
            &["review/removed-test tests/test_a.py:2 medium"],
        ),
        (
            "tests/test_a.py",
            "def test_a():\n    assert f()\n    g()\n",
            "def test_a():\n    g()\n",
            &["review/removed-assertion tests/test_a.py:2 medium"],
        ),
        ("tests/test_a.py", "def test_a():\n    assert f()\n", "def test_a():\n    assert f() == 2\n", &[]),
    ]);
}

#[test]
fn lines_that_only_move_are_not_lost() {
    let handled = "    value = load_configuration(path)\n    if value is None: raise MissingConfiguration(path)\n";
    let result = Change::new()
        .edit("a.py", &format!("def f():\n{handled}    g()\n"), "def f():\n    g()\n")
        .edit("b.py", "def k():\n    h()\n", &format!("def k():\n{handled}    h()\n"))
        .review();
    assert_eq!(told(&result), Vec::<String>::new());
}

#[test]
fn public_definitions_need_tests() {
    check(&[
        (
            "src/a.rs",
            "pub fn f(a: u8) {}\n",
            "pub fn f(a: u8, b: u8) {}\n",
            &["review/public-api-without-tests src/a.rs:1 medium"],
        ),
        ("src/a.rs", "pub(crate) fn f(a: u8) {}\n", "pub(crate) fn f() {}\n", &[]),
        ("src/main.rs", "pub fn f(a: u8) {}\n", "pub fn f() {}\n", &[]),
        ("src/a.rs", "pub fn f(a: u8) {}\npub fn g() {}\n", "pub fn g() {}\npub fn f(a: u8) {}\n", &[]),
        (
            "a.ts",
            "export function f(a) {}\n",
            "export function f(a, b) {}\n",
            &["review/public-api-without-tests a.ts:1 medium"],
        ),
        (
            "a.py",
            "class A:\n    def f(self):\n        pass\n",
            "class A:\n    def f(self, x):\n        pass\n",
            &["review/public-api-without-tests a.py:2 medium"],
        ),
        ("a.py", "def g():\n    def f(a):\n        pass\n", "def g():\n    def f(b):\n        pass\n", &[]),
        (
            "a.go",
            "package a\nfunc F() {}\n",
            "package a\nfunc F(x int) {}\n",
            &["review/public-api-without-tests a.go:2 medium"],
        ),
        (
            "A.java",
            "class A {\n  public int f() {\n",
            "class A {\n  public long f() {\n",
            &["review/public-api-without-tests A.java:2 medium"],
        ),
    ]);
    let changed = || Change::new().edit("src/a.rs", "pub fn f(a: u8) {}\n", "pub fn f() {}\n");
    assert_eq!(told(&changed().edit("tests/a.rs", "fn t() {}\n", "fn t() { f(); }\n").review()), Vec::<String>::new());
    assert_eq!(
        told(&changed().edit("src/b.rs", "fn b() {}\n", "fn b() {}\n#[test]\nfn t() {}\n").review()),
        Vec::<String>::new()
    );
    // A deleted test is no test.
    let result = changed().delete("tests/a.rs", "fn t() {}\n").review();
    assert_eq!(told(&result), ["review/public-api-without-tests src/a.rs:1 medium"]);
}

#[test]
fn files_as_a_whole() {
    let long = "x = 1\n".repeat(review::limits::LARGE_FILE_LINES + 1);
    assert_eq!(told(&Change::new().add("a.py", &long).review()), ["review/large-file a.py medium"]);
    let just = "x = 1\n".repeat(review::limits::LARGE_FILE_LINES);
    assert_eq!(told(&Change::new().add("a.py", &just).review()), Vec::<String>::new());
    let wide = format!("{}\n", "x".repeat(1000)).repeat(review::limits::LARGE_FILE_BYTES / 1000 + 1);
    assert_eq!(told(&Change::new().add("a.txt", &wide).review()), ["review/large-file a.txt medium"]);

    let executable = |name: &str, text: &str| {
        Change::new()
            .there(name, text)
            .raw(&format!("diff --git a/{name} b/{name}\nold mode 100644\nnew mode 100755\n"))
            .review()
    };
    assert_eq!(told(&executable("a.py", "x = 1\n")), ["review/made-executable a.py medium"]);
    assert_eq!(told(&executable("a.py", "#!/usr/bin/env python3\n")), ["review/made-executable a.py low"]);
    assert_eq!(told(&executable("src/lib.rs", "#![no_std]\n")), ["review/made-executable src/lib.rs medium"]);
    assert_eq!(verdict(&executable("a.py", "#!/usr/bin/env python3\n")), Verdict::Approved);

    let link = |target: &str| {
        Change::new().raw(&format!("diff --git a/d/l b/d/l\nnew file mode 120000\nindex 0000000..1\n--- /dev/null\n+++ b/d/l\n@@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n")).review()
    };
    assert_eq!(told(&link("../a.txt")), ["review/symbolic-link d/l:1 low"]);
    for out in ["/etc/passwd", "../../etc/passwd"] {
        assert_eq!(told(&link(out)), ["review/symbolic-link d/l:1 high"], "{out}");
    }
}

#[test]
fn manifests_and_their_locks() {
    let old = "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\n";
    let new = "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\ntoml = \"1\"\n";
    let manifest = || Change::new().edit("Cargo.toml", old, new);
    assert_eq!(told(&manifest().review()), Vec::<String>::new());
    assert_eq!(
        told(&manifest().there("Cargo.lock", "").review()),
        ["review/manifest-without-lock Cargo.toml:6 medium"]
    );
    assert_eq!(told(&manifest().edit("Cargo.lock", "a\n", "b\n").review()), Vec::<String>::new());
    assert_eq!(
        told(&Change::new().edit("Cargo.lock", "a\n", "b\n").review()),
        ["review/lock-without-manifest Cargo.lock low"]
    );
    let renamed = Change::new().edit("Cargo.toml", old, &old.replace("\"a\"", "\"b\"")).there("Cargo.lock", "");
    assert_eq!(told(&renamed.review()), Vec::<String>::new());
    let member = Change::new().edit("crates/x/Cargo.toml", old, new).there("Cargo.lock", "");
    assert_eq!(told(&member.review()), ["review/manifest-without-lock crates/x/Cargo.toml:6 medium"]);
    let json = "{\n  \"scripts\": {\n    \"a\": \"b\"\n  },\n  \"dependencies\": {\n    \"x\": \"1\"\n  }\n}\n";
    let npm = |new: &str| Change::new().edit("web/package.json", json, new).there("web/yarn.lock", "").review();
    assert_eq!(
        told(&npm(&json.replace("\"x\": \"1\"", "\"x\": \"2\""))),
        ["review/manifest-without-lock web/package.json:6 medium"]
    );
    assert_eq!(told(&npm(&json.replace("\"a\": \"b\"", "\"a\": \"c\""))), Vec::<String>::new());
}

#[test]
fn secrets_are_found_in_added_lines_alone_and_never_shown() {
    let key = ["AKIA", "QX3M7ZK2VJ5RWD6T"].concat();
    let result =
        Change::new().edit("a.py", "x = 1\ny = 2\n", &format!("x = 1\ny = 2\nprint('debug', '{key}')\n")).review();
    assert_eq!(told(&result), ["secret/aws-access-key a.py:3 high", "review/debug-output a.py:3 medium"]);
    assert!(!common::all_text(&result).contains(&key), "{result:?}");
    let decision = result.review.unwrap();
    assert_eq!((decision.decision, decision.blocking_issues.len()), (Verdict::ChangesRequested, 1));

    let before = format!("k = '{key}'\nx = 1\n");
    assert_eq!(
        told(&Change::new().edit("a.py", &before, &format!("k = '{key}'\nx = 2\n")).review()),
        Vec::<String>::new()
    );
    // Taking one out is what was asked for; the removed line is not shown either.
    let result = Change::new().edit("a.py", &format!("f('{key}', verify=True)\nx = 1\n"), "x = 1\n").review();
    assert_eq!(told(&result), ["review/removed-auth-check a.py:1 high"]);
    assert!(!common::all_text(&result).contains(&key), "{result:?}");
}

#[test]
fn evidence_is_bounded_also_where_it_is_escaped() {
    let line = format!("os.chmod(p, 0o777) # {}\n", "\u{1}".repeat(300));
    let result = Change::new().edit("a.py", "x = 1\n", &line).review();
    let evidence = result.findings.iter().find_map(|finding| finding.evidence.as_deref()).unwrap();
    assert!(evidence.starts_with("os.chmod(p, 0o777) # \\u{1}") && evidence.ends_with("}…"), "{evidence}");
    assert!(evidence.chars().count() <= review::limits::MAX_EVIDENCE_CHARS + 1, "{evidence}");
}
