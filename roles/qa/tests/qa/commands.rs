//! The commands are those that the project has.

use brain_role::testing::Bench;

use crate::support::{commands, told};

fn run(bench: Bench, goal: &str) -> Vec<String> {
    commands(&bench.goal(goal).run(qa::run)).into_iter().map(str::to_owned).collect()
}

#[test]
fn cargo_names_workspace_package_target_and_tests() {
    let bench = || {
        Bench::new()
            .file("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n")
            .file("crates/store/Cargo.toml", "[package]\nname = \"my-store\"\n[[test]]\nname = \"odd\"\npath = \"tests/special/here.rs\"\n")
            .file("crates/store/src/lib.rs", "pub fn keep_it() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn keeps() { super::keep_it(); assert!(true) }\n}\n")
            .file("crates/store/src/main.rs", "fn boot_up() {}\n#[test]\nfn boots() { boot_up(); assert!(true) }\n")
            .file("crates/store/tests/special/here.rs", "#[test]\nfn a() { odd_one(); assert!(true) }\n#[test]\nfn b() { odd_one(); assert!(true) }\n")
            .file("crates/store/src/odd.rs", "pub fn odd_one() {}\n")
            .file("guests/Cargo.toml", "[workspace]\nmembers = [\"../sdk\"]\n")
            .file("sdk/Cargo.toml", "[package]\nname = \"sdk\"\n")
            .file("sdk/src/lib.rs", "pub fn call_it() {}\n")
            .file("sdk/tests/calls/main.rs", "mod first;\n")
            .file("sdk/tests/calls/first.rs", "#[test]\nfn calls() { call_it(); assert!(true) }\n")
    };
    let whole = ["cargo test --workspace", "cargo test --manifest-path guests/Cargo.toml --workspace"];
    for (goal, expected) in [
        ("is keep_it tested?", "cargo test -p my-store --lib keeps"),
        ("is boot_up tested?", "cargo test -p my-store --bin my-store boots"),
        ("is odd_one tested?", "cargo test -p my-store --test odd -- a b"),
        ("is call_it tested?", "cargo test --manifest-path guests/Cargo.toml -p sdk --test calls calls"),
    ] {
        assert_eq!(run(bench(), goal), [&[expected], &whole[..]].concat(), "{goal}");
    }
    let single = Bench::new()
        .file("Cargo.toml", "[package]\nname = \"a\"\n")
        .file("src/main.rs", "fn boot_up() {}\n#[test]\nfn boots() { boot_up() }\n");
    assert_eq!(run(single, "is boot_up tested"), ["cargo test --bin a boots", "cargo test"]);
}

#[test]
fn ignored_tests_are_asked_for_where_there_are_no_others() {
    let of = |other: &str| {
        let text =
            format!("pub fn boot_up() {{}}\n#[test] #[ignore] fn boots() {{ boot_up(); assert!(true) }}\n{other}");
        let bench = Bench::new().file("Cargo.toml", "[package]\nname = \"a\"\n").file("src/lib.rs", &text);
        run(bench, "is boot_up tested?")
    };
    assert_eq!(of(""), ["cargo test --lib boots -- --ignored", "cargo test -- --ignored"]);
    assert_eq!(
        of("#[test]\nfn runs() { boot_up(); assert!(true) }\n"),
        ["cargo test --lib -- boots runs", "cargo test"]
    );
}

#[test]
fn node_follows_lock_file_script_and_runner() {
    let of = |manifest: &str, lock: &str| {
        let bench = Bench::new()
            .file("web/package.json", manifest)
            .file(lock, "")
            .file("web/src/cart.ts", "export function add_up() {}\n")
            .file("web/src/cart.test.ts", "it('adds (all)', () => { expect(add_up()).toBe(1) })\n");
        run(bench, "is add_up tested?")
    };
    let vitest = r#"{"scripts":{"test":"vitest run"}}"#;
    for (manifest, lock, exact, whole) in [
        (vitest, "pnpm-lock.yaml", "pnpm exec vitest run src/cart.test.ts -t 'adds \\(all\\)'", "pnpm test"),
        (vitest, "web/yarn.lock", "yarn vitest run src/cart.test.ts -t 'adds \\(all\\)'", "yarn test"),
        (
            r#"{"scripts":{"test":"jest --ci"}}"#,
            "web/package-lock.json",
            "npx jest src/cart.test.ts -t 'adds \\(all\\)'",
            "npm test",
        ),
        (
            r#"{"scripts":{"test":"bun test"}}"#,
            "web/bun.lock",
            "bun test src/cart.test.ts -t 'adds \\(all\\)'",
            "bun run test",
        ),
        (r#"{"scripts":{"test":"mocha"}}"#, "web/none", "npx mocha src/cart.test.ts -g 'adds \\(all\\)'", "npm test"),
        (
            r#"{"scripts":{"test":"node --import=tsx --test"}}"#,
            "web/none",
            "node --import=tsx --test --test-name-pattern='adds \\(all\\)' src/cart.test.ts",
            "npm test",
        ),
    ] {
        assert_eq!(
            of(manifest, lock),
            [format!("(cd web && {exact})"), format!("(cd web && {whole})")],
            "{manifest} {lock}"
        );
    }
    assert_eq!(
        of(r#"{"scripts":{"test":"./own.sh"},"packageManager":"pnpm@9"}"#, "web/none"),
        ["(cd web && pnpm test)"]
    );
    assert_eq!(
        of(r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#, "web/none"),
        Vec::<String>::new()
    );
    assert_eq!(of("{ no json", "web/none"), Vec::<String>::new());
}

#[test]
fn python_is_pytest_or_unittest_and_tox_where_it_is_set_up() {
    let of = |files: &[(&str, &str)]| {
        let bench = Bench::new().file("app/a.py", "def add_up():\n    return 1\n");
        run(files.iter().fold(bench, |bench, (path, text)| bench.file(path, text)), "is add_up tested?")
    };
    let plain = ("tests/test_a.py", "from app.a import add_up\n\ndef test_adds():\n    assert add_up() == 1\n");
    let class = (
        "tests/test_a.py",
        "import unittest\nfrom app.a import add_up\n\nclass Adds(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add_up(), 1)\n",
    );
    assert_eq!(
        of(&[plain, ("poetry.lock", ""), ("pyproject.toml", "[tool.pytest.ini_options]")]),
        ["poetry run pytest tests/test_a.py::test_adds", "poetry run pytest"]
    );
    assert_eq!(
        of(&[class]),
        ["python -m unittest tests/test_a.py -k test_adds", "python -m unittest discover -s tests"]
    );
    // Discovery enters packages by itself, and takes files of another name only when it is told.
    for (files, whole) in [
        (&[class, ("tests/__init__.py", "")][..], "python -m unittest discover"),
        (
            &[("tests/unit/test_a.py", class.1), ("tests/unit/__init__.py", "")][..],
            "python -m unittest discover -s tests",
        ),
        (&[("tests/unit/test_a.py", class.1)][..], "python -m unittest discover -s tests"),
        (&[("tests/a_test.py", class.1)][..], "python -m unittest discover -s tests -p '*_test.py'"),
        (&[("test_a.py", class.1)][..], "python -m unittest discover"),
    ] {
        assert_eq!(of(files).get(1).map(String::as_str), Some(whole), "{files:?}");
    }
    assert_eq!(
        of(&[class, ("tox.ini", "[testenv]\ncommands = pytest {posargs}\n")]),
        ["pytest tests/test_a.py::Adds::test_adds", "tox -- tests/test_a.py", "tox", "pytest"]
    );
    let result = Bench::new()
        .file("app/a.py", "def add_up():\n    return 1\n")
        .file(plain.0, plain.1)
        .goal("is add_up tested?")
        .run(qa::run);
    assert!(
        result.risks.iter().any(|risk| risk.starts_with("pytest is not named in the manifests")),
        "{:?}",
        result.risks
    );
}

#[test]
fn go_and_make() {
    let bench = Bench::new()
        .file("svc/go.mod", "module example.com/svc\n")
        .file("Makefile", "test: build\n\tgo test ./...\n")
        .file("svc/store/store.go", "package store\n\nfunc Put() {}\n")
        .file("svc/store/store_test.go", "package store\n\nimport \"testing\"\n\nfunc TestPut(t *testing.T) {\n\tPut()\n\tt.Skip()\n}\n\nfunc TestTwice(t *testing.T) {\n\tPut()\n\tt.Fatal()\n}\n");
    let result = bench.goal("is the store tested?").run(qa::run);
    assert_eq!(
        commands(&result),
        ["(cd svc && go test ./store -run '^(TestPut|TestTwice)$')", "(cd svc && go test ./...)", "make test"]
    );
    assert_eq!(told(&result), ["qa/disabled-test svc/store/store_test.go:7 medium"]);
}

#[test]
fn focused_and_skipped_tests_of_javascript() {
    let result = Bench::new()
        .file("package.json", r#"{"scripts":{"test":"vitest"}}"#)
        .file("src/cart.test.ts", "describe.skip('a', () => {\n  it('b', () => { expect(1).toBe(1) })\n})\nit.only('c', () => { expect(1).toBe(1) })\ntest.todo('d')\n")
        .goal("skipped tests of the project")
        .run(qa::run);
    assert_eq!(
        told(&result),
        [
            "qa/disabled-test src/cart.test.ts:1 medium",
            "qa/focused-test src/cart.test.ts:4 medium",
            "qa/planned-test src/cart.test.ts:5 low"
        ]
    );
}

#[test]
fn what_the_role_cannot_run_is_said() {
    let result = Bench::new()
        .file("src/Cart.java", "public class Cart { public void addUp() {} }\n")
        .file("src/CartTest.java", "class CartTest { @Test void adds() { new Cart().addUp(); assertTrue(true); } }\n")
        .goal("is addUp tested?")
        .run(qa::run);
    assert!(result.summary.contains("the definition is reached by tests"), "{}", result.summary);
    assert!(result.summary.contains("No command is proposed"), "{}", result.summary);
    assert!(result.risks.iter().any(|risk| risk.starts_with("no command for src/CartTest.java")), "{:?}", result.risks);
}
