//! What kind of change it is, by its paths alone, and how grave that makes it.

use std::fmt;

use brain_changes::ChangeSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a change: what it is about, which decides on the checks that are worth running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PatchKind {
    /// Only documents.
    DocsOnly,
    /// What people see in a browser.
    Frontend,
    /// Other source code.
    Backend,
    /// Only tests.
    TestOnly,
    /// What the project depends on, or how it is built.
    PackageChange,
    /// Who may do what.
    AuthRisk,
    /// A database and its migrations.
    DbRisk,
    /// What runs on other people's machines, with their secrets.
    CiRisk,
    /// None of these.
    UnknownCode,
}

/// How grave a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RiskTier {
    /// Documents and tests.
    Low,
    /// Code.
    Medium,
    /// Code that others rely on: authentication, databases, continuous integration, or what a rule wants reviewed.
    High,
    /// Authentication and continuous integration at once.
    Critical,
}

/// How strict a review has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewMode {
    /// As usual.
    Normal,
    /// Every changed file is looked at.
    Strict,
    /// As if the change were an attack.
    Hostile,
}

/// Files that say what a project depends on.
const PACKAGE_FILES: &[&str] = &[
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "cargo.toml",
    "cargo.lock",
    "go.mod",
    "go.sum",
    "go.work",
    "go.work.sum",
    "pyproject.toml",
    "poetry.lock",
    "uv.lock",
    "pipfile",
    "pipfile.lock",
    "setup.py",
    "setup.cfg",
    "gemfile",
    "gemfile.lock",
    "composer.json",
    "composer.lock",
];
/// Files, wherever they are, that a continuous integration reads.
const CI_FILES: &[&str] = &[
    ".gitlab-ci.yml",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".appveyor.yml",
    "appveyor.yml",
    ".cirrus.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
];
/// Folders, from the root of a project, that a continuous integration reads.
const CI_FOLDERS: &[&str] =
    &[".github/workflows/", ".github/actions/", ".gitlab/ci/", ".circleci/", ".buildkite/", ".woodpecker/", ".ci/"];
const DB_FOLDERS: &[&str] = &["db", "database", "databases", "migration", "migrations", "prisma", "drizzle"];
/// Words of a name that speak of authentication.
const AUTH_WORDS: &[&str] = &[
    "auth",
    "authn",
    "authz",
    "authentication",
    "authenticate",
    "authenticator",
    "authorization",
    "authorize",
    "oauth",
    "oauth2",
    "oidc",
    "saml",
    "sso",
    "jwt",
    "login",
    "logout",
    "signin",
    "session",
    "sessions",
    "password",
    "passwords",
    "credential",
    "credentials",
];
const DOC_FOLDERS: &[&str] = &["doc", "docs", "documentation"];
const DOC_EXTENSIONS: &[&str] = &["md", "mdx", "markdown", "rst", "adoc", "txt"];
const DOC_NAMES: &[&str] =
    &["license", "licence", "notice", "authors", "changelog", "readme", "contributing", "copying"];
const TEST_FOLDERS: &[&str] = &["test", "tests", "__tests__", "spec", "specs", "e2e", "testdata", "__mocks__"];
const FRONTEND_EXTENSIONS: &[&str] =
    &["tsx", "jsx", "css", "scss", "sass", "less", "html", "htm", "vue", "svelte", "astro"];
const FRONTEND_FOLDERS: &[&str] =
    &["frontend", "client", "web", "ui", "components", "pages", "views", "styles", "public", "hooks"];
const BACKEND_FOLDERS: &[&str] =
    &["backend", "server", "api", "service", "services", "controllers", "handlers", "middleware", "src", "lib", "cmd"];
/// Source that may run in a browser as well as elsewhere.
const EITHER_EXTENSIONS: &[&str] = &["ts", "js", "mts", "mjs", "cts", "cjs", "json", "svg"];
const BACKEND_EXTENSIONS: &[&str] = &[
    "rs", "go", "py", "pyi", "java", "kt", "kts", "scala", "rb", "php", "c", "h", "cc", "cpp", "cxx", "hpp", "cs",
    "fs", "swift", "zig", "ex", "exs", "erl", "hs", "ml", "mli", "clj", "lua", "pl", "sh", "bash", "ts", "js", "mts",
    "mjs", "cts", "cjs", "proto", "wit",
];

impl PatchKind {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 9] = [
        Self::DocsOnly,
        Self::Frontend,
        Self::Backend,
        Self::TestOnly,
        Self::PackageChange,
        Self::AuthRisk,
        Self::DbRisk,
        Self::CiRisk,
        Self::UnknownCode,
    ];

    /// The kind of a change of `paths`, relative to the project and with `/` between names. The first that fits: any package
    /// file, any of continuous integration, of a database, of authentication; then all documents, all tests; then
    /// any that is of a frontend, any of a backend.
    pub fn of<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let files: Vec<Path> = paths.into_iter().map(Path::new).collect();
        let any = |is: fn(&Path) -> bool| files.iter().any(is);
        let all = |is: fn(&Path) -> bool| !files.is_empty() && files.iter().all(is);
        if any(Path::is_package) {
            Self::PackageChange
        } else if any(Path::is_ci) {
            Self::CiRisk
        } else if any(Path::is_db) {
            Self::DbRisk
        } else if any(Path::is_auth) {
            Self::AuthRisk
        } else if all(Path::is_doc) {
            Self::DocsOnly
        } else if all(Path::is_test) {
            Self::TestOnly
        } else if any(Path::is_frontend) {
            Self::Frontend
        } else if any(Path::is_backend) {
            Self::Backend
        } else {
            Self::UnknownCode
        }
    }

    /// Its name, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DocsOnly => "docs-only",
            Self::Frontend => "frontend",
            Self::Backend => "backend",
            Self::TestOnly => "test-only",
            Self::PackageChange => "package-change",
            Self::AuthRisk => "auth-risk",
            Self::DbRisk => "db-risk",
            Self::CiRisk => "ci-risk",
            Self::UnknownCode => "unknown-code",
        }
    }

    /// Whether such a change is reviewed unless the configuration says otherwise.
    pub fn wants_review(self) -> bool {
        matches!(self, Self::AuthRisk | Self::DbRisk | Self::CiRisk)
    }

    /// Whether its checks are never run without somebody having agreed to just these, whatever was agreed to in general.
    pub fn always_asks(self) -> bool {
        self == Self::CiRisk
    }
}

impl fmt::Display for PatchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl RiskTier {
    /// How grave a change of `paths` is. `review` is whether a permission rule wants it reviewed, which makes it at least high.
    pub fn of<'p>(paths: impl IntoIterator<Item = &'p str>, review: bool) -> Self {
        let paths: Vec<&str> = paths.into_iter().collect();
        let any = |is: fn(&Path) -> bool| paths.iter().any(|path| is(&Path::new(path)));
        if any(Path::is_auth) && any(Path::is_ci) {
            return Self::Critical;
        }
        // The first row that fits decides on the kind; here what is grave counts beside whatever it comes with.
        let by_kind = if any(Path::is_auth) || any(Path::is_db) || any(Path::is_ci) {
            Self::High
        } else {
            match PatchKind::of(paths.iter().copied()) {
                PatchKind::DocsOnly | PatchKind::TestOnly => Self::Low,
                _ => Self::Medium,
            }
        };
        if review { by_kind.max(Self::High) } else { by_kind }
    }

    /// Its name, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// How strict the review of such a change has to be.
    pub fn review_mode(self) -> ReviewMode {
        match self {
            Self::Low | Self::Medium => ReviewMode::Normal,
            Self::High => ReviewMode::Strict,
            Self::Critical => ReviewMode::Hostile,
        }
    }
}

impl fmt::Display for RiskTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl ReviewMode {
    /// Its name, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Strict => "strict",
            Self::Hostile => "hostile",
        }
    }
}

impl fmt::Display for ReviewMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The paths that a change is about: of each file the one that it has afterwards, and the one that it had, should it be another.
pub fn changed_paths(set: &ChangeSet) -> impl Iterator<Item = &str> + Clone {
    set.changes.iter().flat_map(|change| std::iter::once(change.path.as_str()).chain(change.from.as_deref()))
}

/// A path of a change, taken apart.
struct Path {
    /// In lower case.
    path: String,
    /// Words of its names, in lower case.
    words: Vec<String>,
}

impl Path {
    fn new(path: &str) -> Self {
        Self { path: path.to_lowercase(), words: words(path) }
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    fn folders(&self) -> impl Iterator<Item = &str> {
        self.path.rsplit('/').skip(1)
    }

    fn extension(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    fn below(&self, names: &[&str]) -> bool {
        self.folders().any(|folder| names.contains(&folder))
    }

    fn is_package(&self) -> bool {
        let requirements = self.name().starts_with("requirements") && self.extension() == "txt";
        PACKAGE_FILES.contains(&self.name()) || requirements
    }

    fn is_ci(&self) -> bool {
        CI_FILES.contains(&self.name())
            || CI_FOLDERS.iter().any(|folder| self.path.starts_with(folder))
            || self.path == ".github/dependabot.yml"
    }

    fn is_db(&self) -> bool {
        self.below(DB_FOLDERS) || self.extension() == "sql"
    }

    fn is_auth(&self) -> bool {
        self.words.iter().any(|word| AUTH_WORDS.contains(&word.as_str()))
    }

    fn is_doc(&self) -> bool {
        let stem = self.name().split('.').next().unwrap_or_default();
        let named = DOC_NAMES.contains(&stem) && !BACKEND_EXTENSIONS.contains(&self.extension());
        named || DOC_EXTENSIONS.contains(&self.extension()) || self.below(DOC_FOLDERS)
    }

    fn is_test(&self) -> bool {
        let name = self.name();
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        self.below(TEST_FOLDERS)
            || name.contains(".test.")
            || name.contains(".spec.")
            || stem.ends_with("_test")
            || stem.ends_with("_spec")
            || (stem.starts_with("test_") && self.extension() == "py")
            || matches!(name, "tests.rs" | "conftest.py")
    }

    fn is_frontend(&self) -> bool {
        let shared = EITHER_EXTENSIONS.contains(&self.extension());
        FRONTEND_EXTENSIONS.contains(&self.extension()) || (shared && self.below(FRONTEND_FOLDERS))
    }

    fn is_backend(&self) -> bool {
        BACKEND_EXTENSIONS.contains(&self.extension()) || self.below(BACKEND_FOLDERS)
    }
}

/// The words of a path in lower case: `src/userLogin-page.ts` has `src`, `user`, `login`, `page` and `ts`.
fn words(path: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for c in path.chars() {
        if !c.is_alphanumeric() || (after_small && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        after_small = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_path_says_what_kind_of_change_it_is() {
        for (path, kind) in [
            ("package.json", PatchKind::PackageChange),
            ("apps/web/pnpm-lock.yaml", PatchKind::PackageChange),
            ("pnpm-workspace.yaml", PatchKind::PackageChange),
            ("crates/a/Cargo.toml", PatchKind::PackageChange),
            ("go.sum", PatchKind::PackageChange),
            ("requirements-dev.txt", PatchKind::PackageChange),
            (".github/workflows/ci.yml", PatchKind::CiRisk),
            (".gitlab-ci.yml", PatchKind::CiRisk),
            ("Jenkinsfile", PatchKind::CiRisk),
            ("sub/.github/workflows/ci.yml", PatchKind::UnknownCode),
            ("db/schema.rb", PatchKind::DbRisk),
            ("app/migrations/0001_initial.py", PatchKind::DbRisk),
            ("prisma/schema.prisma", PatchKind::DbRisk),
            ("queries/users.sql", PatchKind::DbRisk),
            ("src/dbg.rs", PatchKind::Backend),
            ("src/auth/token.rs", PatchKind::AuthRisk),
            ("src/userLogin.ts", PatchKind::AuthRisk),
            ("src/session_store.go", PatchKind::AuthRisk),
            ("docs/oauth.md", PatchKind::AuthRisk),
            ("src/author.rs", PatchKind::Backend),
            ("src/obsession.rs", PatchKind::Backend),
            ("README.md", PatchKind::DocsOnly),
            ("docs/logo.png", PatchKind::DocsOnly),
            ("LICENSE", PatchKind::DocsOnly),
            ("src/readme.rs", PatchKind::Backend),
            ("tests/round_trip.rs", PatchKind::TestOnly),
            ("src/a.test.ts", PatchKind::TestOnly),
            ("pkg/a_test.go", PatchKind::TestOnly),
            ("app/test_views.py", PatchKind::TestOnly),
            ("src/Button.tsx", PatchKind::Frontend),
            ("components/button.ts", PatchKind::Frontend),
            ("src/ui/terminal.rs", PatchKind::Backend),
            ("src/main.rs", PatchKind::Backend),
            ("main.go", PatchKind::Backend),
            ("app.py", PatchKind::Backend),
            ("server/config.yaml", PatchKind::Backend),
            ("data.bin", PatchKind::UnknownCode),
        ] {
            assert_eq!(PatchKind::of([path]), kind, "{path}");
        }
    }

    #[test]
    fn the_first_row_that_fits_counts_and_no_files_are_unknown_code() {
        for (paths, kind) in [
            (&[][..], PatchKind::UnknownCode),
            (&["src/auth.rs", "db/a.sql", ".github/workflows/a.yml", "package.json"], PatchKind::PackageChange),
            (&["src/auth.rs", "db/a.sql", ".github/workflows/a.yml"], PatchKind::CiRisk),
            (&["src/auth.rs", "db/a.sql"], PatchKind::DbRisk),
            (&["README.md", "src/auth.rs"], PatchKind::AuthRisk),
            (&["README.md", "docs/a.md"], PatchKind::DocsOnly),
            (&["README.md", "src/a.rs"], PatchKind::Backend),
            (&["tests/a.rs", "src/a.rs"], PatchKind::Backend),
            (&["src/a.rs", "src/a.css"], PatchKind::Frontend),
            (&["a.bin", "src/a.rs"], PatchKind::Backend),
        ] {
            assert_eq!(PatchKind::of(paths.iter().copied()), kind, "{paths:?}");
        }
    }

    #[test]
    fn a_tier_follows_from_the_kind_and_from_what_comes_together() {
        for (paths, review, tier, mode) in [
            (&["README.md"][..], false, RiskTier::Low, ReviewMode::Normal),
            (&["tests/a.rs"], false, RiskTier::Low, ReviewMode::Normal),
            (&["tests/a.rs"], true, RiskTier::High, ReviewMode::Strict),
            (&["src/a.rs"], false, RiskTier::Medium, ReviewMode::Normal),
            (&["src/a.css"], false, RiskTier::Medium, ReviewMode::Normal),
            (&["a.bin"], false, RiskTier::Medium, ReviewMode::Normal),
            (&[], false, RiskTier::Medium, ReviewMode::Normal),
            (&["Cargo.toml"], true, RiskTier::High, ReviewMode::Strict),
            (&["src/auth.rs"], false, RiskTier::High, ReviewMode::Strict),
            (&["db/a.sql"], false, RiskTier::High, ReviewMode::Strict),
            (&[".github/workflows/a.yml"], false, RiskTier::High, ReviewMode::Strict),
            (&["src/auth.rs", ".github/workflows/a.yml"], false, RiskTier::Critical, ReviewMode::Hostile),
            // A package file decides on the kind, and does not make the rest harmless.
            (&["Cargo.toml", "src/auth.rs"], false, RiskTier::High, ReviewMode::Strict),
            (&["Cargo.toml", "src/auth.rs", ".ci/run"], true, RiskTier::Critical, ReviewMode::Hostile),
        ] {
            assert_eq!(RiskTier::of(paths.iter().copied(), review), tier, "{paths:?}");
            assert_eq!(tier.review_mode(), mode, "{tier}");
        }
    }

    #[test]
    fn a_name_is_the_one_in_json() {
        for kind in PatchKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        for tier in [RiskTier::Low, RiskTier::Medium, RiskTier::High, RiskTier::Critical] {
            assert_eq!(serde_json::to_value(tier).unwrap(), tier.as_str());
            assert_eq!(serde_json::to_value(tier.review_mode()).unwrap(), tier.review_mode().as_str());
        }
    }
}
