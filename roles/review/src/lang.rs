//! What a path says about its file: its language, whether it is a test, whether a machine wrote it.

/// Languages that the line rules know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lang {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    Js,
    /// Go.
    Go,
    /// Java.
    Java,
    /// Kotlin.
    Kotlin,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// C and C++.
    C,
    /// C#.
    CSharp,
    /// Swift.
    Swift,
    /// POSIX shells.
    Shell,
    /// Anything else: only the rules that hold for all text apply.
    Other,
}

impl Lang {
    /// By file name.
    pub fn of(path: &str) -> Self {
        let name = file_name(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        match extension.as_str() {
            "rs" => Self::Rust,
            "py" | "pyi" | "pyw" => Self::Python,
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "vue" | "svelte" => Self::Js,
            "go" => Self::Go,
            "java" => Self::Java,
            "kt" | "kts" => Self::Kotlin,
            "rb" | "rake" => Self::Ruby,
            "php" => Self::Php,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" => Self::C,
            "cs" => Self::CSharp,
            "swift" => Self::Swift,
            "sh" | "bash" | "zsh" => Self::Shell,
            _ if matches!(name, "Rakefile" | "Gemfile") => Self::Ruby,
            _ => Self::Other,
        }
    }
}

/// The last component.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn directories(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit_once('/').map_or("", |(directories, _)| directories).split('/').filter(|part| !part.is_empty())
}

/// A file that holds tests or serves them.
pub fn is_test(path: &str) -> bool {
    let in_folder = directories(path)
        .any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec" | "specs" | "testing" | "e2e" | "testdata"));
    let name = file_name(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    in_folder
        || stem.starts_with("test_")
        || ["_test", "_tests", "_spec", ".test", ".spec", "-test", "Test", "Tests", "Spec"]
            .iter()
            .any(|end| stem.ends_with(end))
        || matches!(stem, "tests" | "test" | "conftest")
}

/// Folders that tools build into, and that people also name so: `src/target/` of a build tool has sources.
const OUTPUT: &[&str] = &["dist", "build", "target", "out"];

/// The folders on a path that a tool may have built into, outermost first.
pub fn output_folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at).filter(|folder| OUTPUT.contains(&file_name(folder))))
}

/// Whether lines are too long for a person.
fn is_minified(text: &str) -> bool {
    const LONG_LINE: usize = 400;
    text.len() > 2 * LONG_LINE && text.len() / text.lines().count().max(1) > LONG_LINE
}

/// A file of a folder that belongs to others or to a tool, with the word for it. In a folder such as `target` or `dist`, which a
/// repository may also use for its sources, it is one that is no source or is minified.
pub fn not_by_hand(path: &str, lang: Lang, text: Option<&str>) -> Option<&'static str> {
    if output_folders(path).next().is_some() && (lang == Lang::Other || text.is_some_and(is_minified)) {
        return Some("generated");
    }
    for part in directories(path) {
        match part {
            "node_modules" | "vendor" | "third_party" | "bower_components" | "Pods" => return Some("vendored"),
            ".next" | "__pycache__" | "generated" | "__generated__" => {
                return Some("generated");
            }
            _ => {}
        }
    }
    let name = file_name(path);
    let marks =
        [".min.js", ".min.css", ".pb.go", ".pb.rs", "_pb2.py", ".generated.ts", ".g.cs", ".designer.cs", ".bundle.js"];
    marks.iter().any(|mark| name.ends_with(mark)).then_some("generated")
}

/// A file that a package manager writes.
pub fn is_lock_file(path: &str) -> bool {
    PACKAGE_FILES.iter().any(|files| files.locks.contains(&file_name(path)))
}

/// A manifest and the lock files that follow from it.
pub struct PackageFiles {
    /// What a person edits.
    pub manifest: &'static str,
    /// What the tool writes from it; any one of them.
    pub locks: &'static [&'static str],
}

/// The pairs of the common package managers.
pub const PACKAGE_FILES: &[PackageFiles] = &[
    PackageFiles { manifest: "Cargo.toml", locks: &["Cargo.lock"] },
    PackageFiles {
        manifest: "package.json",
        locks: &["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"],
    },
    PackageFiles { manifest: "pyproject.toml", locks: &["poetry.lock", "uv.lock", "pdm.lock"] },
    PackageFiles { manifest: "Pipfile", locks: &["Pipfile.lock"] },
    PackageFiles { manifest: "go.mod", locks: &["go.sum"] },
    PackageFiles { manifest: "Gemfile", locks: &["Gemfile.lock"] },
    PackageFiles { manifest: "composer.json", locks: &["composer.lock"] },
    PackageFiles { manifest: "mix.exs", locks: &["mix.lock"] },
];

/// A program whose output is its job: a script, a command, an example, a build step.
pub fn prints_by_design(path: &str, lang: Lang, text: Option<&str>) -> bool {
    let folder = directories(path).any(|part| {
        matches!(
            part,
            "scripts" | "script" | "bin" | "tools" | "examples" | "example" | "cmd" | "cli" | "xtask" | "benches"
        )
    });
    let name = file_name(path);
    let named = matches!(
        name,
        "main.rs"
            | "build.rs"
            | "main.py"
            | "__main__.py"
            | "setup.py"
            | "manage.py"
            | "cli.py"
            | "cli.js"
            | "cli.ts"
            | "cli.rs"
            | "main.go"
    );
    let says = |needle: &str| text.is_some_and(|text| text.contains(needle));
    let by_text = match lang {
        Lang::Python => says("if __name__ =="),
        Lang::Go => says("package main"),
        Lang::Java => says("public static void main"),
        Lang::Kotlin => says("fun main("),
        Lang::CSharp => says("static void Main") || says("static async Task Main"),
        _ => false,
    };
    folder || named || by_text || text.is_some_and(|text| is_script(text.as_bytes()))
}

/// Whether a text begins with the line that says what runs it: `#!` and an absolute path. `#![allow(…)]` of Rust does not.
pub fn is_script(text: &[u8]) -> bool {
    text.strip_prefix(b"#!").is_some_and(|rest| matches!(rest, [b'/', ..] | [b' ', b'/', ..]))
}
