//! Which paths below a mount exist for a role: read globs by layer, deny globs, `.gitignore`.
//!
//! Everything here is about names. That a name and the file behind it cannot come apart is the business of
//! [`super::resolve`], which asks here at every step.

use std::collections::HashMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::fs::Dir;
use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names that no role sees unless the operator takes them off the list: version control internals, environment files and
/// private keys. A pattern without a slash matches at any depth, and a folder that matches hides all below it.
pub const DEFAULT_DENY: &[&str] = &[
    ".git", ".env*", "*.pem", "*.p12", "*.pfx", "*.keystore", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*",
];

/// Globs in one layer of a grant.
const MAX_GLOBS: usize = 4096;
/// Bytes of one `.gitignore` that are read; a longer one is honoured up to there.
const MAX_GITIGNORE_BYTES: u64 = 1 << 20;

/// One layer of a grant: who granted it, and the paths, as globs relative to the mount. A path is visible only if every
/// layer has a glob that matches it.
///
/// `*` and `?` do not cross a slash, `**` does. A glob without wildcards that names a folder covers all below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GlobLayer {
    /// Where the layer comes from: `manifest`, `operator` or `handoff`.
    pub who: String,
    /// The globs; an empty list grants nothing.
    pub globs: Vec<String>,
}

impl GlobLayer {
    /// A layer of `who` with `globs`.
    pub fn new(who: impl Into<String>, globs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { who: who.into(), globs: globs.into_iter().map(Into::into).collect() }
    }
}

/// A glob that cannot be used, and why.
#[derive(Clone, Debug, thiserror::Error, miette::Diagnostic)]
#[error("the glob `{glob}` of the {who} cannot be used: {why}")]
#[diagnostic(
    code("sandbox.grant.glob"),
    help("write it relative to the project, with `/` between names, such as `src/**/*.rs`")
)]
pub struct GlobError {
    /// The glob as it was written.
    pub glob: String,
    /// The layer it is in.
    pub who: String,
    /// What is wrong with it.
    pub why: String,
}

/// Why a path is not visible. It decides what the operator is told; the role is told `access` in every case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// No glob of this layer matches.
    NotGranted { who: String },
    /// A deny glob matches.
    Denied { glob: String },
    /// A `.gitignore` excludes it.
    Ignored,
}

/// One pattern, kept by segment so that it can be asked whether anything below a folder could match.
struct Pattern {
    segments: Vec<Segment>,
}

enum Segment {
    /// `**`.
    AnyDepth,
    One(GlobMatcher),
}

impl Pattern {
    fn could_match_below(&self, folder: &[&str]) -> bool {
        fn go(segments: &[Segment], folder: &[&str]) -> bool {
            match (segments.split_first(), folder.split_first()) {
                (None, _) => false,
                (Some(_), None) | (Some((Segment::AnyDepth, _)), Some(_)) => true,
                (Some((Segment::One(glob), segments)), Some((name, folder))) => {
                    glob.is_match(name) && go(segments, folder)
                }
            }
        }
        go(&self.segments, folder)
    }
}

struct Layer {
    who: String,
    files: GlobSet,
    patterns: Vec<Pattern>,
}

/// The paths of one mount that exist for a role.
pub(crate) struct Scope {
    layers: Vec<Layer>,
    deny: GlobSet,
    deny_globs: Vec<String>,
    ignores: Option<Ignores>,
}

impl Scope {
    /// Everything below the mount.
    pub(crate) fn everything() -> Self {
        Self { layers: Vec::new(), deny: GlobSet::empty(), deny_globs: Vec::new(), ignores: None }
    }

    /// The paths that all `layers` grant and neither `deny` nor, when a root is given, its `.gitignore` files hide.
    pub(crate) fn new(
        layers: &[GlobLayer],
        deny: &[String],
        gitignore_root: Option<Dir>,
    ) -> Result<Self, GlobError> {
        let layers = layers.iter().map(compile_layer).collect::<Result<_, _>>()?;
        let (deny, deny_globs) = compile_deny(deny)?;
        Ok(Self { layers, deny, deny_globs, ignores: gitignore_root.map(Ignores::new) })
    }

    /// Whether the file `path` (relative, `/` between names) exists for the role.
    pub(crate) fn file(&self, path: &str) -> Result<(), Hidden> {
        self.granted(path, |layer| layer.files.is_match(path))?;
        self.not_hidden(path, false)
    }

    /// Whether the folder `path` exists for the role: whether anything below it could. The mount itself always does.
    pub(crate) fn folder(&self, path: &str) -> Result<(), Hidden> {
        if path.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = path.split('/').collect();
        self.granted(path, |layer| layer.patterns.iter().any(|p| p.could_match_below(&names)))?;
        self.not_hidden(path, true)
    }

    /// Whether something of unknown kind at `path` could exist for the role.
    pub(crate) fn anything(&self, path: &str) -> Result<(), Hidden> {
        self.file(path).or_else(|hidden| self.folder(path).map_err(|_| hidden))
    }

    fn granted(&self, _path: &str, matches: impl Fn(&Layer) -> bool) -> Result<(), Hidden> {
        match self.layers.iter().find(|layer| !matches(layer)) {
            None => Ok(()),
            Some(layer) => Err(Hidden::NotGranted { who: layer.who.clone() }),
        }
    }

    fn not_hidden(&self, path: &str, is_folder: bool) -> Result<(), Hidden> {
        if !self.deny.is_empty() {
            for end in prefix_ends(path) {
                let prefix = path.get(..end).unwrap_or(path);
                if let Some(&index) = self.deny.matches(prefix).first() {
                    let glob = self.deny_globs.get(index).cloned().unwrap_or_default();
                    return Err(Hidden::Denied { glob });
                }
            }
        }
        match &self.ignores {
            Some(ignores) if ignores.hides(path, is_folder) => Err(Hidden::Ignored),
            _ => Ok(()),
        }
    }
}

/// The end offsets of every prefix of `path` that is a whole path: `a/b/c` gives those of `a`, `a/b` and `a/b/c`.
fn prefix_ends(path: &str) -> impl Iterator<Item = usize> + '_ {
    path.match_indices('/').map(|(at, _)| at).chain(std::iter::once(path.len()))
}

fn compile_layer(layer: &GlobLayer) -> Result<Layer, GlobError> {
    let fault = |glob: &str, why: String| GlobError { glob: glob.into(), who: layer.who.clone(), why };
    if layer.globs.len() > MAX_GLOBS {
        let first = layer.globs.first().map(String::as_str).unwrap_or_default();
        return Err(fault(first, format!("the layer has {} globs, the limit is {MAX_GLOBS}", layer.globs.len())));
    }
    let mut files = GlobSetBuilder::new();
    let mut patterns = Vec::new();
    for written in &layer.globs {
        let glob = tidy(written).map_err(|why| fault(written, why))?;
        let covers_below = (!glob.contains(['*', '?', '[', '{'])).then(|| format!("{glob}/**"));
        for glob in std::iter::once(glob).chain(covers_below) {
            files.add(build(&glob).map_err(|e| fault(written, e))?);
            let segments = glob
                .split('/')
                .map(|s| match s {
                    "**" => Ok(Segment::AnyDepth),
                    s => build(s).map(|g| Segment::One(g.compile_matcher())),
                })
                .collect::<Result<_, _>>()
                .map_err(|e| fault(written, e))?;
            patterns.push(Pattern { segments });
        }
    }
    let files = files.build().map_err(|e| fault("", e.kind().to_string()))?;
    Ok(Layer { who: layer.who.clone(), files, patterns })
}

fn compile_deny(deny: &[String]) -> Result<(GlobSet, Vec<String>), GlobError> {
    let fault = |glob: &str, why: String| GlobError { glob: glob.into(), who: "deny list".into(), why };
    let mut set = GlobSetBuilder::new();
    let mut written_as = Vec::new();
    for written in deny {
        let mut glob = tidy(written).map_err(|why| fault(written, why))?;
        // `.git/**` is meant to hide `.git` too: a folder that is hidden hides all below it, never the reverse.
        while let Some(folder) = glob.strip_suffix("/**") {
            glob = folder.to_owned();
        }
        if !glob.contains('/') {
            glob = format!("**/{glob}");
        }
        set.add(build(&glob).map_err(|e| fault(written, e))?);
        written_as.push(written.clone());
    }
    let set = set.build().map_err(|e| fault("", e.kind().to_string()))?;
    Ok((set, written_as))
}

fn build(glob: &str) -> Result<globset::Glob, String> {
    GlobBuilder::new(glob).literal_separator(true).build().map_err(|e| e.kind().to_string())
}

/// A glob as it is matched: without `./`, `/workspace/` or a trailing slash. Refuses what could never match a relative path.
fn tidy(written: &str) -> Result<String, String> {
    let glob = written.strip_prefix("/workspace/").unwrap_or(written);
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let glob = if let Some(folder) = glob.strip_suffix('/') { folder } else { glob };
    if glob == "." {
        return Ok("**".into());
    }
    if glob.is_empty() {
        return Err("it is empty".into());
    }
    if glob.starts_with('/') {
        return Err("it is absolute".into());
    }
    if glob.split('/').any(|name| name == "..") {
        return Err("it has `..`".into());
    }
    let mut depth = 0_usize;
    for c in glob.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '/' if depth > 0 => return Err("it has a `/` inside braces".into()),
            _ => {}
        }
    }
    Ok(glob.to_owned())
}

/// The `.gitignore` files of a tree, read when first asked for.
struct Ignores {
    root: Dir,
    files: Mutex<HashMap<String, Option<Arc<Gitignore>>>>,
    folders: Mutex<HashMap<String, bool>>,
}

impl Ignores {
    fn new(root: Dir) -> Self {
        Self { root, files: Mutex::default(), folders: Mutex::default() }
    }

    fn hides(&self, path: &str, is_folder: bool) -> bool {
        prefix_ends(path).any(|end| {
            let prefix = path.get(..end).unwrap_or(path);
            if end < path.len() || is_folder {
                let known = lock(&self.folders).get(prefix).copied();
                known.unwrap_or_else(|| {
                    let hidden = self.hides_entry(prefix, true);
                    lock(&self.folders).insert(prefix.to_owned(), hidden);
                    hidden
                })
            } else {
                self.hides_entry(prefix, false)
            }
        })
    }

    /// Whether the nearest `.gitignore` that says anything about `path` excludes it.
    fn hides_entry(&self, path: &str, is_folder: bool) -> bool {
        let mut folder = path;
        while let Some((parent, _)) = folder.rsplit_once('/').or((!folder.is_empty()).then_some(("", ""))) {
            folder = parent;
            if let Some(rules) = self.rules_of(folder) {
                let relative = if folder.is_empty() { path } else { path.get(folder.len() + 1..).unwrap_or(path) };
                let verdict = rules.matched(relative, is_folder);
                if verdict.is_ignore() {
                    return true;
                }
                if verdict.is_whitelist() {
                    return false;
                }
            }
        }
        false
    }

    fn rules_of(&self, folder: &str) -> Option<Arc<Gitignore>> {
        if let Some(known) = lock(&self.files).get(folder) {
            return known.clone();
        }
        let rules = self.read_rules(folder).map(Arc::new);
        lock(&self.files).insert(folder.to_owned(), rules.clone());
        rules
    }

    fn read_rules(&self, folder: &str) -> Option<Gitignore> {
        let name = if folder.is_empty() { ".gitignore".into() } else { format!("{folder}/.gitignore") };
        // A link or a FIFO by this name has no rules to give.
        if !self.root.symlink_metadata(&name).ok()?.is_file() {
            return None;
        }
        let mut text = Vec::new();
        self.root.open(&name).ok()?.take(MAX_GITIGNORE_BYTES).read_to_end(&mut text).ok()?;
        let mut builder = GitignoreBuilder::new("");
        for line in String::from_utf8_lossy(&text).lines() {
            // git ignores a rule that it cannot read, too
            let _ = builder.add_line(None, line);
        }
        builder.build().ok().filter(|rules| !rules.is_empty())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn scope(globs: &[&str], deny: &[&str]) -> Scope {
        let deny: Vec<String> = deny.iter().map(|s| (*s).to_owned()).collect();
        Scope::new(&[GlobLayer::new("manifest", globs.iter().copied())], &deny, None).unwrap()
    }

    #[test]
    fn a_single_file_grant_shows_the_file_its_folders_and_nothing_else() {
        let scope = scope(&["src/lib.rs"], &[]);
        assert!(scope.file("src/lib.rs").is_ok());
        assert!(scope.folder("src").is_ok());
        assert!(scope.folder("").is_ok());
        assert!(scope.file("src/main.rs").is_err());
        assert!(scope.folder("src/deep").is_err());
        assert!(scope.folder("docs").is_err());
    }

    #[test]
    fn a_folder_without_wildcards_covers_all_below_it() {
        for glob in ["src", "src/", "./src", "/workspace/src"] {
            let scope = scope(&[glob], &[]);
            assert!(scope.file("src/a/b.rs").is_ok(), "{glob}");
            assert!(scope.folder("src/a").is_ok(), "{glob}");
            assert!(scope.file("srcs/b.rs").is_err(), "{glob}");
        }
    }

    #[test]
    fn stars_stop_at_slashes_and_double_stars_do_not() {
        let scope = scope(&["src/*.rs", "docs/**/*.md"], &[]);
        assert!(scope.file("src/a.rs").is_ok());
        assert!(scope.file("src/a/b.rs").is_err());
        assert!(scope.folder("src/a").is_err());
        assert!(scope.file("docs/x.md").is_ok());
        assert!(scope.file("docs/a/b/x.md").is_ok());
        assert!(scope.folder("docs/a/b").is_ok());
    }

    #[test]
    fn deny_wins_at_every_depth_and_hides_what_is_below() {
        let scope = scope(&["**"], &[".git/**", ".env*", "secret/**", "*.pem"]);
        for hidden in [".git/config", "vendor/.git/HEAD", ".env", "app/.env.local", "secret/a", "k/x.pem"] {
            assert!(matches!(scope.file(hidden), Err(Hidden::Denied { .. })), "{hidden}");
        }
        assert!(scope.folder(".git").is_err());
        assert!(scope.file("src/environment.rs").is_ok());
        assert!(scope.file("a/secret/b").is_ok(), "a deny glob with a slash is anchored");
    }

    #[test]
    fn every_layer_must_grant() {
        let layers = [GlobLayer::new("manifest", ["**/*.rs"]), GlobLayer::new("handoff", ["src"])];
        let scope = Scope::new(&layers, &[], None).unwrap();
        assert!(scope.file("src/a.rs").is_ok());
        assert_eq!(scope.file("src/a.py"), Err(Hidden::NotGranted { who: "manifest".into() }));
        assert_eq!(scope.file("lib/a.rs"), Err(Hidden::NotGranted { who: "handoff".into() }));
    }

    #[test]
    fn an_empty_layer_grants_nothing() {
        let scope = scope(&[], &[]);
        assert!(scope.file("a").is_err());
        assert!(scope.folder("a").is_err());
    }

    #[test]
    fn unusable_globs_are_named() {
        for (glob, why) in [("/etc/passwd", "absolute"), ("a/../b", "`..`"), ("", "empty"), ("{a/b,c}/d", "braces"), ("a[", "")] {
            let error = Scope::new(&[GlobLayer::new("manifest", [glob])], &[], None).err().unwrap();
            assert_eq!(error.glob, glob);
            assert!(error.why.contains(why), "{error}");
        }
    }

    #[test]
    fn gitignore_files_nest_and_can_be_undone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/keep")).unwrap();
        std::fs::write(dir.path().join(".gitignore"), "target/\n*.log\n").unwrap();
        std::fs::write(dir.path().join("a/.gitignore"), "!keep.log\n/local\n").unwrap();
        let root = Dir::open_ambient_dir(dir.path(), cap_std::ambient_authority()).unwrap();
        let scope = Scope::new(&[GlobLayer::new("manifest", ["**"])], &[], Some(root)).unwrap();
        assert_eq!(scope.file("target/debug/x"), Err(Hidden::Ignored));
        assert_eq!(scope.file("x.log"), Err(Hidden::Ignored));
        assert_eq!(scope.file("a/x.log"), Err(Hidden::Ignored));
        assert!(scope.file("a/keep.log").is_ok());
        assert_eq!(scope.file("a/local"), Err(Hidden::Ignored));
        assert!(scope.file("local").is_ok());
        assert!(scope.file("target").is_ok(), "`target/` names a folder");
        assert!(scope.folder("target").is_err());
    }
}
