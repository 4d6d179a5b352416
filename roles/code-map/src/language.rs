//! Which language a file is written in, and what kind of file it is, from its path alone.

use serde::Serialize;

/// How definitions are found in a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// rust-analyzer's lexer and parser.
    Rust,
    /// ruff's lexer and parser.
    Python,
    /// oxc's parser, for JavaScript, TypeScript and JSX.
    JavaScript,
    /// This crate's tokenizer with the table of the language.
    Tokens(&'static crate::outline::tables::Table),
    /// Headings.
    Markdown,
    /// Tables of TOML and INI files.
    Tables,
    /// Top-level keys of YAML.
    Keys,
    /// Targets of a makefile.
    Targets,
    /// Text alone.
    None,
}

/// What a file is for, as far as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Source code.
    Code,
    /// Prose.
    Docs,
    /// Manifests, settings, CI.
    Config,
    /// Anything else that is text.
    Data,
}

/// A language, or another kind of text.
#[derive(Debug)]
pub struct Language {
    /// Name for people.
    pub name: &'static str,
    /// What its files are for.
    pub class: Class,
    /// How its definitions are found.
    pub reader: Reader,
    /// File name extensions, in lower case, without the dot.
    extensions: &'static [&'static str],
    /// Whole file names, in lower case.
    names: &'static [&'static str],
}

const fn language(
    name: &'static str,
    class: Class,
    reader: Reader,
    extensions: &'static [&'static str],
    names: &'static [&'static str],
) -> Language {
    Language { name, class, reader, extensions, names }
}

use crate::outline::tables as table;
use Class::{Code, Config, Data, Docs};
use Reader::{JavaScript, Keys, Markdown, None as Text, Python, Rust, Tables, Targets, Tokens};

/// All languages. Order matters where two share an extension: the first wins.
static LANGUAGES: &[Language] = &[
    language("Rust", Code, Rust, &["rs"], &[]),
    language("Python", Code, Python, &["py", "pyi", "pyw"], &[]),
    language("TypeScript", Code, JavaScript, &["ts", "tsx", "mts", "cts"], &[]),
    language("JavaScript", Code, JavaScript, &["js", "jsx", "mjs", "cjs"], &[]),
    language("Go", Code, Tokens(&table::GO), &["go"], &[]),
    language("Java", Code, Tokens(&table::JAVA), &["java"], &[]),
    language("Kotlin", Code, Tokens(&table::KOTLIN), &["kt", "kts"], &[]),
    language("C", Code, Tokens(&table::C), &["c", "h"], &[]),
    language("C++", Code, Tokens(&table::CPP), &["cc", "cpp", "cxx", "hh", "hpp", "hxx", "ipp", "inl", "cu"], &[]),
    language("C#", Code, Tokens(&table::CSHARP), &["cs"], &[]),
    language("Swift", Code, Tokens(&table::SWIFT), &["swift"], &[]),
    language("Scala", Code, Tokens(&table::SCALA), &["scala", "sc"], &[]),
    language("PHP", Code, Tokens(&table::PHP), &["php"], &[]),
    language("Ruby", Code, Tokens(&table::RUBY), &["rb", "rake", "gemspec"], &["rakefile", "gemfile"]),
    language("Shell", Code, Tokens(&table::SHELL), &["sh", "bash", "zsh", "ksh"], &[".envrc"]),
    language("SQL", Code, Tokens(&table::SQL), &["sql"], &[]),
    language("Protocol Buffers", Code, Tokens(&table::PROTO), &["proto"], &[]),
    language("WIT", Code, Tokens(&table::WIT), &["wit"], &[]),
    language("Vue", Code, Text, &["vue"], &[]),
    language("Svelte", Code, Text, &["svelte"], &[]),
    language("Zig", Code, Text, &["zig"], &[]),
    language("Elixir", Code, Text, &["ex", "exs"], &[]),
    language("Lua", Code, Text, &["lua"], &[]),
    language("Perl", Code, Text, &["pl", "pm"], &[]),
    language("R", Code, Text, &["r"], &[]),
    language("Haskell", Code, Text, &["hs"], &[]),
    language("OCaml", Code, Text, &["ml", "mli"], &[]),
    language("Clojure", Code, Text, &["clj", "cljs"], &[]),
    language("Dart", Code, Text, &["dart"], &[]),
    language("Markdown", Docs, Markdown, &["md", "markdown", "mdx"], &[]),
    language(
        "Text",
        Docs,
        Text,
        &["txt", "rst", "adoc"],
        &["license", "readme", "notice", "changelog", "authors", "copying"],
    ),
    language("TOML", Config, Tables, &["toml"], &[]),
    language("INI", Config, Tables, &["ini", "cfg", "conf"], &[".editorconfig", ".gitconfig"]),
    language("YAML", Config, Keys, &["yml", "yaml"], &[]),
    language("Make", Config, Targets, &["mk"], &["makefile", "gnumakefile", "justfile"]),
    language("Dockerfile", Config, Text, &["dockerfile"], &["dockerfile", "containerfile"]),
    language("Terraform", Config, Text, &["tf", "tfvars", "hcl"], &[]),
    language("Gradle", Config, Text, &["gradle"], &[]),
    language("CMake", Config, Text, &["cmake"], &["cmakelists.txt"]),
    language("Nix", Config, Text, &["nix"], &[]),
    language("JSON", Config, Text, &["json", "json5", "jsonc", "webmanifest"], &[]),
    language(
        "Lock file",
        Data,
        Text,
        &["lock"],
        &["package-lock.json", "pnpm-lock.yaml", "go.sum", "npm-shrinkwrap.json"],
    ),
    language("HTML", Code, Text, &["html", "htm"], &[]),
    language("CSS", Code, Text, &["css", "scss", "sass", "less"], &[]),
    language("XML", Data, Text, &["xml", "xsd", "xsl", "plist"], &[]),
    language(
        "Data",
        Data,
        Text,
        &["csv", "tsv", "jsonl", "ndjson", "svg", "snap", "diff", "patch", "log", "map", "ipynb", "geojson"],
        &[],
    ),
];

static PLAIN: Language = language("Other", Data, Text, &[], &[]);

/// The language of a file. Never fails: what nothing matches is `Other`.
pub fn of(path: &str) -> &'static Language {
    let name = file_name(path).to_ascii_lowercase();
    let by_name = |language: &&Language| language.names.contains(&name.as_str());
    if let Some(language) = LANGUAGES.iter().find(by_name) {
        return language;
    }
    let Some((stem, extension)) = name.rsplit_once('.') else { return &PLAIN };
    if stem.is_empty() {
        return &PLAIN;
    }
    let by_extension = LANGUAGES.iter().find(|language| language.extensions.contains(&extension));
    let by_prefix =
        || LANGUAGES.iter().find(|language| language.name == "Dockerfile" && name.starts_with("dockerfile."));
    by_extension.or_else(by_prefix).unwrap_or(&PLAIN)
}

/// The language that `#!` names at the start of a file without an extension.
pub fn of_shebang(text: &str) -> Option<&'static Language> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let name = if line.contains("python") {
        "Python"
    } else if line.contains("node") || line.contains("deno") || line.contains("bun") {
        "JavaScript"
    } else if line.contains("ruby") {
        "Ruby"
    } else if line.trim_end().ends_with("sh") {
        "Shell"
    } else {
        return None;
    };
    LANGUAGES.iter().find(|language| language.name == name)
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Directories that hold other people's code or built output. They are listed but not read.
const FOREIGN: &[&str] = &[
    "node_modules",
    "bower_components",
    "vendor",
    "third_party",
    "third-party",
    "site-packages",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".next",
    ".nuxt",
    ".git",
    ".hg",
    ".svn",
    ".terraform",
    "Pods",
];

/// Directories that tools build into, and that people also name so: `src/target/` of a build tool has sources.
const OUTPUT: &[&str] = &["target", "build", "dist", "out"];

/// The directories of [`OUTPUT`] in a tree that do hold built output, judged by what is in them.
#[derive(Debug, Default)]
pub struct Built(std::collections::HashMap<String, bool>);

impl Built {
    /// Judges by the paths of a whole tree. A directory holds built output when a tool marked it (`CACHEDIR.TAG`), when a bundle or
    /// an object file is in it, or when nothing in it is written by hand.
    pub fn new<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let (mut marked, mut by_hand) = (std::collections::HashSet::new(), std::collections::HashMap::new());
        for path in paths {
            for (folder, name) in output_folders(path) {
                let lower = path.to_ascii_lowercase();
                let tag = path.strip_prefix(folder).is_some_and(|rest| rest == "/CACHEDIR.TAG");
                if tag || BUNDLES.iter().any(|mark| lower.ends_with(mark)) {
                    marked.insert(folder.to_owned());
                }
                let class = of(path).class;
                let settings = matches!(name, "build" | "out") && matches!(class, Class::Config | Class::Docs);
                *by_hand.entry(folder.to_owned()).or_insert(false) |= class == Class::Code || settings;
            }
        }
        Self(
            by_hand
                .into_iter()
                .map(|(folder, by_hand)| (!by_hand || marked.contains(&folder), folder))
                .map(|(built, folder)| (folder, built))
                .collect(),
        )
    }

    /// The name of the directory on the path that holds built output.
    pub fn of<'a>(&self, path: &'a str) -> Option<&'a str> {
        output_folders(path).find(|(folder, _)| self.0.get(*folder) == Some(&true)).map(|(_, name)| name)
    }
}

/// Ends of names that only tools give.
const BUNDLES: &[&str] = &[
    ".min.js",
    ".min.css",
    ".bundle.js",
    ".chunk.js",
    ".js.map",
    ".css.map",
    ".class",
    ".o",
    ".rlib",
    ".rmeta",
    ".pyc",
    ".whl",
    "/.rustc_info.json",
];

/// The directories on a path whose name is in [`OUTPUT`], outermost first: path and name of each.
fn output_folders(path: &str) -> impl Iterator<Item = (&str, &str)> {
    path.match_indices('/').filter_map(|(at, _)| {
        let folder = path.get(..at)?;
        let name = file_name(folder);
        OUTPUT.contains(&name).then_some((folder, name))
    })
}

/// The directory on the path that makes the file foreign: other people's code, or a tool's own files.
pub fn foreign(path: &str) -> Option<&str> {
    let (directories, _) = path.rsplit_once('/')?;
    directories.split('/').find(|part| FOREIGN.contains(part))
}

/// Whether the path is that of a test, by the conventions of the languages above.
pub fn is_test(path: &str) -> bool {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    if directories.split('/').any(|part| {
        matches!(
            part,
            "test" | "tests" | "__tests__" | "spec" | "specs" | "e2e" | "testing" | "unit_tests" | "integration_tests"
        )
    }) {
        return true;
    }
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let parts: Vec<&str> = name.split('.').collect();
    stem == "test"
        || stem == "tests"
        || stem == "conftest"
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || (parts.len() > 2
            && parts[1..parts.len() - 1].iter().any(|part| matches!(*part, "test" | "tests" | "spec" | "cy" | "e2e")))
        || ["java", "kt", "cs", "scala", "swift", "php"].contains(&parts[parts.len() - 1])
            && ["Test", "Tests", "IT", "Spec"].iter().any(|suffix| stem.ends_with(suffix) && stem.len() > suffix.len())
}

/// Whether the path is that of material that code is tried on: fixtures, examples, snapshots, benchmarks.
pub fn is_sample(path: &str) -> bool {
    path.split('/').any(|part| {
        matches!(
            part,
            "fixtures"
                | "fixture"
                | "testdata"
                | "test-data"
                | "test_data"
                | "snapshots"
                | "__snapshots__"
                | "golden"
                | "examples"
                | "example"
                | "samples"
                | "sample"
                | "mocks"
                | "__mocks__"
                | "benches"
                | "bench"
                | "benchmarks"
        )
    })
}

/// Whether a text was made by a tool: it says so near its top, or its lines are too long for a person.
pub fn is_generated(text: &str) -> bool {
    const HEAD: usize = 600;
    const LONG_LINE: usize = 400;
    let mut end = text.len().min(HEAD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text[..end].to_ascii_lowercase();
    if ["@generated", "do not edit", "automatically generated", "auto-generated", "code generated by"]
        .iter()
        .any(|mark| head.contains(mark))
    {
        return true;
    }
    text.len() > 10 * LONG_LINE && text.len() / (text.lines().count().max(1)) > LONG_LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_language_and_class() {
        for (path, name) in [
            ("a/b.rs", "Rust"),
            ("x.PY", "Python"),
            ("Dockerfile", "Dockerfile"),
            ("Dockerfile.dev", "Dockerfile"),
            ("src/dockerfile.rs", "Rust"),
            ("Makefile", "Make"),
            ("a.tsx", "TypeScript"),
            ("package-lock.json", "Lock file"),
            ("package.json", "JSON"),
            (".gitignore", "Other"),
            ("LICENSE", "Text"),
        ] {
            assert_eq!(of(path).name, name, "{path}");
        }
    }

    #[test]
    fn tests_are_told_by_convention() {
        for path in [
            "tests/a.rs",
            "pkg/a_test.go",
            "src/a.test.ts",
            "test_a.py",
            "src/FooTest.java",
            "spec/a_spec.rb",
            "src/tests.rs",
        ] {
            assert!(is_test(path), "{path}");
        }
        for path in ["src/contest.rs", "src/latest.ts", "attestation.go", "src/Test.java", "protest/a.py"] {
            assert!(!is_test(path), "{path}");
        }
    }

    #[test]
    fn foreign_code_is_told_by_a_directory_not_by_a_file() {
        assert_eq!(foreign("web/node_modules/a/index.js"), Some("node_modules"));
        assert_eq!(foreign("scripts/vendor"), None);
    }

    #[test]
    fn built_output_is_told_by_what_is_in_the_directory() {
        let built = |paths: &[&str]| Built::new(paths.iter().copied()).of(paths[0]).map(str::to_owned);
        assert_eq!(built(&["src/target/apple.rs", "src/main.rs"]), None);
        assert_eq!(built(&["build/Dockerfile"]), None);
        assert_eq!(built(&["build/ci/settings.toml"]), None);
        assert_eq!(built(&["target/debug/gen.rs", "target/CACHEDIR.TAG"]).as_deref(), Some("target"));
        assert_eq!(built(&["web/dist/app.js", "web/dist/app.js.map"]).as_deref(), Some("dist"));
        assert_eq!(built(&["out/A.class"]).as_deref(), Some("out"));
        assert_eq!(built(&["dist/logo.png"]).as_deref(), Some("dist"));
        // A tag deeper down says nothing about the directory itself.
        assert_eq!(built(&["build/a.rs", "build/cache/CACHEDIR.TAG"]), None);
    }
}
