//! What the path says about a text.

/// The kinds of file that change what counts as a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Program text: values are quoted.
    Code,
    /// Settings where a value may stand without quotes.
    Settings,
    /// Prose: samples are usual, so hits by name are low.
    Prose,
    /// A lock file: full of digests, so nothing is judged by name.
    Lock,
}

const LOCK_FILES: &[&str] = &[
    "cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "poetry.lock",
    "pdm.lock",
    "uv.lock",
    "pipfile.lock",
    "pixi.lock",
    "composer.lock",
    "gemfile.lock",
    "go.sum",
    "flake.lock",
    "packages.lock.json",
    "mix.lock",
    "pubspec.lock",
    "podfile.lock",
    "gradle.lockfile",
    ".terraform.lock.hcl",
];

const SETTINGS: &[&str] = &[
    "env",
    "ini",
    "cfg",
    "conf",
    "config",
    "properties",
    "yaml",
    "yml",
    "toml",
    "sh",
    "bash",
    "zsh",
    "fish",
    "npmrc",
    "pypirc",
    "netrc",
    "tfvars",
    "dockerfile",
    "envrc",
    "service",
];

const PROSE: &[&str] = &["md", "markdown", "rst", "adoc", "txt", "html", "htm", "mdx", "tex", "org", "ipynb"];

impl FileKind {
    pub(crate) fn of(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
        let extension = name.rsplit('.').next().unwrap_or(&name);
        if LOCK_FILES.contains(&name.as_str()) {
            Self::Lock
        } else if SETTINGS.contains(&extension) || name.starts_with(".env") || name.starts_with("dockerfile") {
            Self::Settings
        } else if PROSE.contains(&extension) {
            Self::Prose
        } else {
            Self::Code
        }
    }
}
