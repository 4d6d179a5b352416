//! Which paths below a mount exist for a role, and which of them it may write: globs by layer, deny globs, `.gitignore`.
//!
//! Everything here is about names. That a name and the file behind it cannot come apart is the business of
//! [`crate::walk`], which asks here at every step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ignores::Ignores;

/// Names that no role sees: version control internals, environment files, private keys and stored logins. Case makes no
/// difference. A pattern without a slash matches at any depth, one that begins with a slash only at
/// the top, and a folder that matches hides all below it.
pub const DEFAULT_DENY: &[&str] = &[
    ".git",
    ".env*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".ssh",
    ".gnupg",
    ".aws",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".git-credentials",
];

/// Folders that are named in the account of what was opened; files in further ones are counted together.
const MAX_FOLDERS_USED: usize = 256;
/// Globs in one layer of a grant.
const MAX_GLOBS: usize = 1024;
/// Bytes of one glob. Longer than any that a person writes: what compiles them takes time and room with their length, and a
/// project's own file has some.
const MAX_GLOB_BYTES: usize = 512;
/// Sets of globs that stay compiled: the roles of a few runs at once.
const MAX_COMPILED: usize = 32;

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
    /// Whether every glob can be used.
    ///
    /// # Errors
    /// The first that cannot, and why.
    pub fn check(&self) -> Result<(), GlobError> {
        compile_layer(self).map(drop)
    }

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
    /// No glob of this layer lets it be written; `-` where nothing asks to write.
    NotWritable { who: String },
    /// No change set may touch it: version control, and Brain's own configuration with the grants in it.
    NeverWritten,
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
    /// One of the globs is `**`: most layers grant everything, and need not be asked.
    grants_all: bool,
    /// The globs as they were written.
    globs: Vec<String>,
    /// The index in `globs` that each pattern of `files` comes from.
    from: Vec<usize>,
}

impl Layer {
    fn matches(&self, path: &str) -> bool {
        self.grants_all || self.files.is_match(path)
    }

    fn could_match_below(&self, folder: &str) -> bool {
        self.grants_all || {
            let names: Vec<&str> = folder.split('/').collect();
            self.patterns.iter().any(|pattern| pattern.could_match_below(&names))
        }
    }
}

/// Deny globs, compiled: what matches, with all below it, is hidden.
#[derive(Default)]
struct Deny {
    set: GlobSet,
    globs: Vec<String>,
}

impl Deny {
    /// The glob that hides `path` or a folder that it is in. `clear` is a folder that is known not to be hidden.
    fn hides(&self, path: &str, clear: &Mutex<String>) -> Option<&str> {
        if self.set.is_empty() {
            return None;
        }
        // Paths come folder by folder, and what is above the last one that was asked for need not be asked again.
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut clear = clear.lock().unwrap_or_else(PoisonError::into_inner);
        let known = if folder.is_empty() || *clear != folder { 0 } else { folder.len() };
        let hiding = prefix_ends(path).filter(|end| *end > known).find_map(|end| {
            let prefix = path.get(..end).unwrap_or(path);
            // Most paths are not denied, and asking whether costs less than asking by what.
            self.set.is_match(prefix).then(|| {
                let index = self.set.matches(prefix).first().copied().unwrap_or_default();
                self.globs.get(index).map_or("", String::as_str)
            })
        });
        if hiding.is_none() && known == 0 {
            folder.clone_into(&mut clear);
        }
        hiding
    }
}

/// The globs of a grant, compiled.
#[derive(Default)]
struct Rules {
    read: Vec<Layer>,
    write: Vec<Layer>,
    deny: Deny,
}

/// Compiled globs by what they were compiled from. The same role is called with the same grants again and again, and
/// compiling them costs more than all the rest of a short call.
#[derive(Default)]
pub struct RuleCache(Mutex<Vec<Compiled>>);

struct Compiled {
    read: Vec<GlobLayer>,
    write: Vec<GlobLayer>,
    deny: Vec<String>,
    rules: Arc<Rules>,
}

impl RuleCache {
    fn rules(&self, read: &[GlobLayer], write: &[GlobLayer], deny: &[String]) -> Result<Arc<Rules>, GlobError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = known.iter().position(|c| c.read == read && c.write == write && c.deny == deny) {
            // The one that was used last is the last to go.
            let compiled = known.remove(at);
            let rules = Arc::clone(&compiled.rules);
            known.push(compiled);
            return Ok(rules);
        }
        drop(known);
        let rules = Arc::new(Rules::compile(read, write, deny)?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_COMPILED {
            known.remove(0);
        }
        let compiled =
            Compiled { read: read.to_vec(), write: write.to_vec(), deny: deny.to_vec(), rules: Arc::clone(&rules) };
        known.push(compiled);
        Ok(rules)
    }
}

impl Rules {
    fn compile(read: &[GlobLayer], write: &[GlobLayer], deny: &[String]) -> Result<Self, GlobError> {
        let layers = |layers: &[GlobLayer]| layers.iter().map(compile_layer).collect::<Result<Vec<_>, _>>();
        Ok(Self { read: layers(read)?, write: layers(write)?, deny: compile_deny(deny)? })
    }
}

/// What of a grant a call made use of.
#[derive(Default)]
struct Used {
    /// Globs that a file was opened by: the index of the layer, and of the glob in it.
    read: BTreeSet<(usize, usize)>,
    write: BTreeSet<(usize, usize)>,
    /// Files that were opened, by folder.
    folders: BTreeMap<String, u64>,
    elsewhere: u64,
}

/// The files that were opened in one folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FolderUse {
    /// The folder, relative to the mount; `.` is the mount itself, `*` stands for all folders that are not named.
    pub folder: String,
    /// How many times a file in it was opened.
    pub opened: u64,
}

/// The paths of one mount that exist for a role.
pub(crate) struct Scope {
    rules: Arc<Rules>,
    ignores: Option<Ignores>,
    used: Mutex<Used>,
    /// The folder that was last found not to be denied, nor any that it is in.
    clear: Mutex<String>,
    /// The file that was last found to exist for the role. One name is asked for several times in a row, by the listing that
    /// gives it and by each call that uses it, and the answer is the same for the whole call.
    shown: Mutex<String>,
    /// Everything below the mount may be written.
    all_writable: bool,
}

impl Scope {
    /// Everything below the mount, to read.
    pub(crate) fn everything() -> Self {
        Self {
            rules: Arc::default(),
            ignores: None,
            used: Mutex::default(),
            clear: Mutex::default(),
            shown: Mutex::default(),
            all_writable: false,
        }
    }

    /// Everything below the mount, to read and to write.
    pub(crate) fn everything_writable() -> Self {
        Self { all_writable: true, ..Self::everything() }
    }

    /// The paths that all `read` layers grant, or all `write` layers where there are any, and neither `deny` nor `ignores`
    /// hide.
    pub(crate) fn new(
        cache: &RuleCache,
        read: &[GlobLayer],
        write: &[GlobLayer],
        deny: &[String],
        ignores: Option<Ignores>,
    ) -> Result<Self, GlobError> {
        Ok(Self {
            rules: cache.rules(read, write, deny)?,
            ignores,
            used: Mutex::default(),
            clear: Mutex::default(),
            shown: Mutex::default(),
            all_writable: false,
        })
    }

    /// Notes that the file `path` was opened, and by which globs.
    pub(crate) fn opened(&self, path: &str, to_write: bool) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let Used { read, write, folders, elsewhere } = &mut *used;
        if !to_write || self.rules.write.is_empty() {
            note_use(&self.rules.read, path, read);
        }
        if to_write {
            note_use(&self.rules.write, path, write);
        }
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        if let Some(count) = folders.get_mut(folder) {
            *count += 1;
        } else if folders.len() < MAX_FOLDERS_USED {
            folders.insert(folder.to_owned(), 1);
        } else {
            *elsewhere += 1;
        }
    }

    /// The read globs by which no file was opened, by layer; layers that have none are left out.
    pub(crate) fn unused_read(&self) -> Vec<GlobLayer> {
        unused(&self.rules.read, &self.lock_used().read)
    }

    /// The write globs by which no file was opened to write, by layer.
    pub(crate) fn unused_write(&self) -> Vec<GlobLayer> {
        unused(&self.rules.write, &self.lock_used().write)
    }

    /// The folders in which files were opened.
    pub(crate) fn folders_used(&self) -> Vec<FolderUse> {
        let used = self.lock_used();
        let named = used.folders.iter().map(|(folder, opened)| FolderUse { folder: folder.clone(), opened: *opened });
        let rest = (used.elsewhere > 0).then(|| FolderUse { folder: "*".into(), opened: used.elsewhere });
        named.chain(rest).collect()
    }

    fn lock_used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The `.gitignore` files that could not be used.
    pub(crate) fn unusable_ignores(&self) -> Vec<String> {
        self.ignores.as_ref().map(Ignores::unusable).unwrap_or_default()
    }

    /// Whether the file `path` (relative, `/` between names) exists for the role.
    pub(crate) fn file(&self, path: &str) -> Result<(), Hidden> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if !path.is_empty() && *shown == path {
            return Ok(());
        }
        self.granted(|layer| layer.matches(path))?;
        self.not_hidden(path, false)?;
        path.clone_into(&mut shown);
        Ok(())
    }

    /// Whether the folder `path` exists for the role: whether anything below it could. The mount itself always does, and so
    /// does every folder that it is in.
    pub(crate) fn folder(&self, path: &str) -> Result<(), Hidden> {
        if path.is_empty() {
            return Ok(());
        }
        self.granted(|layer| layer.could_match_below(path))?;
        self.not_hidden(path, true)
    }

    /// Whether something of unknown kind at `path` could exist for the role.
    pub(crate) fn anything(&self, path: &str) -> Result<(), Hidden> {
        self.file(path).or_else(|hidden| self.folder(path).map_err(|_| hidden))
    }

    /// Whether the role may create, change or remove the file `path`.
    pub(crate) fn writable_file(&self, path: &str) -> Result<(), Hidden> {
        self.writable(path, |layer| layer.matches(path))?;
        self.not_hidden(path, false)
    }

    /// Whether the role may create or remove the folder `path`: whether it could write anything below it.
    pub(crate) fn writable_folder(&self, path: &str) -> Result<(), Hidden> {
        self.writable(path, |layer| layer.could_match_below(path))?;
        self.not_hidden(path, true)
    }

    fn writable(&self, path: &str, matches: impl Fn(&Layer) -> bool) -> Result<(), Hidden> {
        if self.all_writable {
            return Ok(());
        }
        if self.rules.write.is_empty() {
            return Err(Hidden::NotWritable { who: "-".into() });
        }
        if let Some(layer) = self.rules.write.iter().find(|layer| !matches(layer)) {
            return Err(Hidden::NotWritable { who: layer.who.clone() });
        }
        if path.split('/').any(brain_changes::is_reserved) { Err(Hidden::NeverWritten) } else { Ok(()) }
    }

    fn granted(&self, matches: impl Fn(&Layer) -> bool) -> Result<(), Hidden> {
        let Some(refusing) = self.rules.read.iter().find(|layer| !matches(layer)) else { return Ok(()) };
        // Who may write a path may read it.
        if !self.rules.write.is_empty() && self.rules.write.iter().all(matches) {
            return Ok(());
        }
        Err(Hidden::NotGranted { who: refusing.who.clone() })
    }

    fn not_hidden(&self, path: &str, is_folder: bool) -> Result<(), Hidden> {
        if let Some(glob) = self.rules.deny.hides(path, &self.clear) {
            return Err(Hidden::Denied { glob: glob.to_owned() });
        }
        match &self.ignores {
            Some(ignores) if ignores.hides(path, is_folder) => Err(Hidden::Ignored),
            _ => Ok(()),
        }
    }
}

fn note_use(layers: &[Layer], path: &str, used: &mut BTreeSet<(usize, usize)>) {
    for (layer_at, layer) in layers.iter().enumerate() {
        // A layer of one glob is used by whatever opens; most are.
        if layer.globs.len() == 1 {
            used.insert((layer_at, 0));
        } else {
            used.extend(layer.files.matches(path).into_iter().filter_map(|at| Some((layer_at, *layer.from.get(at)?))));
        }
    }
}

fn unused(layers: &[Layer], used: &BTreeSet<(usize, usize)>) -> Vec<GlobLayer> {
    let layers = layers.iter().enumerate().map(|(layer_at, layer)| {
        let globs = layer.globs.iter().enumerate().filter(|(at, _)| !used.contains(&(layer_at, *at)));
        GlobLayer::new(layer.who.clone(), globs.map(|(_, glob)| glob.clone()))
    });
    layers.filter(|layer| !layer.globs.is_empty()).collect()
}

/// The end offsets of every prefix of `path` that is a whole path: `a/b/c` gives those of `a`, `a/b` and `a/b/c`.
pub(crate) fn prefix_ends(path: &str) -> impl Iterator<Item = usize> + '_ {
    path.match_indices('/').map(|(at, _)| at).chain(std::iter::once(path.len()))
}

fn compile_layer(layer: &GlobLayer) -> Result<Layer, GlobError> {
    let fault = |glob: &str, why: String| GlobError { glob: shown(glob), who: layer.who.clone(), why };
    if layer.globs.len() > MAX_GLOBS {
        let first = layer.globs.first().map(String::as_str).unwrap_or_default();
        return Err(fault(first, format!("the layer has {} globs, the limit is {MAX_GLOBS}", layer.globs.len())));
    }
    let mut files = GlobSetBuilder::new();
    let (mut patterns, mut from) = (Vec::new(), Vec::new());
    for (index, written) in layer.globs.iter().enumerate() {
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
            from.push(index);
        }
    }
    let files = files.build().map_err(|e| fault("", e.kind().to_string()))?;
    let grants_all = layer.globs.iter().any(|glob| tidy(glob).is_ok_and(|glob| glob == "**"));
    Ok(Layer { who: layer.who.clone(), files, patterns, grants_all, globs: layer.globs.clone(), from })
}

fn compile_deny(deny: &[String]) -> Result<Deny, GlobError> {
    let fault = |glob: &str, why: String| GlobError { glob: shown(glob), who: "deny list".into(), why };
    if deny.len() > MAX_GLOBS {
        return Err(fault("", format!("it has {} globs, the limit is {MAX_GLOBS}", deny.len())));
    }
    let mut set = GlobSetBuilder::new();
    let mut written_as = Vec::new();
    for written in deny {
        // As in a .gitignore: a slash at the beginning anchors the glob.
        let anchored = written.strip_prefix('/').filter(|_| !written.starts_with("/workspace/"));
        let mut glob = tidy(anchored.unwrap_or(written)).map_err(|why| fault(written, why))?;
        // `.git/**` means `.git`: a folder that is hidden hides all below it, at whatever depth it lies.
        while let Some(folder) = glob.strip_suffix("/**") {
            glob = folder.to_owned();
        }
        if !glob.contains('/') && anchored.is_none() {
            glob = format!("**/{glob}");
        }
        // In any case: `.ENV` is as secret as `.env`, and on some systems it is the same file.
        let glob = GlobBuilder::new(&glob).literal_separator(true).case_insensitive(true).build();
        set.add(glob.map_err(|e| fault(written, e.kind().to_string()))?);
        written_as.push(written.clone());
    }
    let set = set.build().map_err(|e| fault("", e.kind().to_string()))?;
    Ok(Deny { set, globs: written_as })
}

/// A glob as an error shows it.
fn shown(glob: &str) -> String {
    glob.chars().take(80).collect()
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
    if glob.len() > MAX_GLOB_BYTES {
        return Err(format!("it has {} bytes, the limit is {MAX_GLOB_BYTES}", glob.len()));
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
    let (mut depth, mut in_class) = (0_usize, false);
    for c in glob.chars() {
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            '{' if !in_class => depth += 1,
            '}' if !in_class => depth = depth.saturating_sub(1),
            '/' if depth > 0 => return Err("it has a `/` inside braces".into()),
            _ => {}
        }
    }
    Ok(glob.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use cap_std::fs::Dir;

    fn scope(globs: &[&str], deny: &[&str]) -> Scope {
        let deny: Vec<String> = deny.iter().map(|s| (*s).to_owned()).collect();
        Scope::new(&RuleCache::default(), &[GlobLayer::new("manifest", globs.iter().copied())], &[], &deny, None)
            .unwrap()
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
        assert!(scope.file("a/secret/b").is_err(), "`secret/**` is `secret`, at every depth");
        let anchored = self::scope(&["**"], &["/state"]);
        assert!(anchored.file("state/x").is_err() && anchored.file("a/state/x").is_ok());
    }

    #[test]
    fn globs_by_which_nothing_was_opened_are_known() {
        let layers = [GlobLayer::new("manifest", ["src", "docs/**", "**/*.rs"]), GlobLayer::new("handoff", ["**"])];
        let scope = Scope::new(&RuleCache::default(), &layers, &[], &[], None).unwrap();
        assert_eq!(scope.unused_read(), layers);
        scope.opened("src/a.rs", false);
        assert_eq!(scope.unused_read(), [GlobLayer::new("manifest", ["docs/**"])]);
        scope.opened("docs/x.md", false);
        assert_eq!(scope.unused_read(), []);
    }

    #[test]
    fn every_layer_must_grant() {
        let layers = [GlobLayer::new("manifest", ["**/*.rs"]), GlobLayer::new("handoff", ["src"])];
        let scope = Scope::new(&RuleCache::default(), &layers, &[], &[], None).unwrap();
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
    fn a_glob_is_no_longer_than_somebody_would_write_it() {
        for long in ["?".repeat(200_000), "x".repeat(100_000), "*a".repeat(MAX_GLOB_BYTES)] {
            let layer = [GlobLayer::new("manifest", [long.as_str()])];
            let error = Scope::new(&RuleCache::default(), &layer, &[], &[], None).err().unwrap();
            assert!(error.why.contains("limit is 512") && error.glob.len() <= 80, "{error}");
            assert!(Scope::new(&RuleCache::default(), &[], &[], &[long], None).is_err());
        }
        let longest = ["?".repeat(MAX_GLOB_BYTES)];
        assert!(Scope::new(&RuleCache::default(), &[], &[], &longest, None).is_ok());
        let many = vec!["x".to_owned(); MAX_GLOBS + 1];
        assert!(Scope::new(&RuleCache::default(), &[], &[], &many, None).is_err());
    }

    #[test]
    fn unusable_globs_are_named() {
        for (glob, why) in
            [("/etc/passwd", "absolute"), ("a/../b", "`..`"), ("", "empty"), ("{a/b,c}/d", "braces"), ("a[", "")]
        {
            let error =
                Scope::new(&RuleCache::default(), &[GlobLayer::new("manifest", [glob])], &[], &[], None).err().unwrap();
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
        let scope = Scope::new(
            &RuleCache::default(),
            &[GlobLayer::new("manifest", ["**"])],
            &[],
            &[],
            Some(Ignores::new(crate::lower::Lower::opened(root), Arc::default())),
        )
        .unwrap();
        assert_eq!(scope.file("target/debug/x"), Err(Hidden::Ignored));
        assert_eq!(scope.file("x.log"), Err(Hidden::Ignored));
        assert_eq!(scope.file("a/x.log"), Err(Hidden::Ignored));
        assert!(scope.file("a/keep.log").is_ok());
        assert_eq!(scope.file("a/local"), Err(Hidden::Ignored));
        assert!(scope.file("local").is_ok());
        assert!(scope.file("target").is_ok(), "`target/` names a folder");
        assert!(scope.folder("target").is_err());
    }

    #[test]
    fn compiled_globs_are_kept_by_what_they_are_and_in_bounded_number() {
        let cache = RuleCache::default();
        let layer = |glob: String| [GlobLayer::new("manifest", [glob])];
        let first = cache.rules(&layer("a".into()), &[], &[]).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.rules(&layer("a".into()), &[], &[]).unwrap()));
        assert!(!Arc::ptr_eq(&first, &cache.rules(&layer("a".into()), &[], &["b".into()]).unwrap()));
        for n in 0..MAX_COMPILED {
            cache.rules(&layer(format!("f{n}")), &[], &[]).unwrap();
        }
        assert_eq!(cache.0.lock().unwrap().len(), MAX_COMPILED);
        assert!(!Arc::ptr_eq(&first, &cache.rules(&layer("a".into()), &[], &[]).unwrap()));
    }

    #[test]
    fn write_globs_let_be_read_too_and_nothing_else_be_written() {
        let (read, write) = (
            [GlobLayer::new("manifest", ["docs"])],
            [GlobLayer::new("manifest", ["src", ".brain/**"]), GlobLayer::new("operator", ["**/*.rs", ".brain/**"])],
        );
        let scope = Scope::new(&RuleCache::default(), &read, &write, &[".env*".into()], None).unwrap();
        assert!(scope.file("docs/a.md").is_ok() && scope.file("src/a.rs").is_ok());
        assert_eq!(scope.file("src/a.py"), Err(Hidden::NotGranted { who: "manifest".into() }));
        assert!(scope.writable_file("src/a.rs").is_ok() && scope.writable_folder("src/deep").is_ok());
        assert_eq!(scope.writable_file("src/a.py"), Err(Hidden::NotWritable { who: "operator".into() }));
        assert_eq!(scope.writable_file("docs/a.rs"), Err(Hidden::NotWritable { who: "manifest".into() }));
        assert_eq!(scope.writable_file(".brain/brain.toml"), Err(Hidden::NeverWritten));
        assert_eq!(scope.writable_file(".BRAIN/brain.toml"), Err(Hidden::NotWritable { who: "manifest".into() }));
        assert_eq!(self::scope(&["**"], &[]).writable_file("a"), Err(Hidden::NotWritable { who: "-".into() }));
        scope.opened("src/a.rs", true);
        assert_eq!(
            scope.unused_write(),
            [GlobLayer::new("manifest", [".brain/**"]), GlobLayer::new("operator", [".brain/**"])]
        );
        assert_eq!(scope.unused_read(), read);
        assert_eq!(scope.folders_used(), [FolderUse { folder: "src".into(), opened: 1 }]);
    }

    #[test]
    fn the_folders_that_are_named_are_bounded_and_the_rest_is_counted() {
        let scope = scope(&["**"], &[]);
        for n in 0..MAX_FOLDERS_USED + 5 {
            scope.opened(&format!("f{n:04}/x"), false);
        }
        let used = scope.folders_used();
        assert_eq!(used.len(), MAX_FOLDERS_USED + 1);
        assert_eq!(used.last().unwrap(), &FolderUse { folder: "*".into(), opened: 5 });
    }
}
