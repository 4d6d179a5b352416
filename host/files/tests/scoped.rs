//! Narrow grants. The strongest thing to say of them: whatever a role does, it gets the same answers where hidden files are
//! and where they are not, and proposes the same.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;

use brain_files::{
    FileGrants, FileLimits, FileResult, Folder, GlobLayer, Handle, NewTime, Open, OpenFile, WorkspaceGrant,
};
use common::{
    FOLDER, Node, PUT, Place, Tree, View, assert_same, file, folder, how, link, open_view, read_all, read_tree, tree,
};
use proptest::prelude::*;

/// A grant, and what it means, said once more and otherwise.
#[derive(Clone, Copy)]
struct Rules {
    name: &'static str,
    read: &'static [&'static [&'static str]],
    write: &'static [&'static [&'static str]],
    deny: &'static [&'static str],
    gitignore: Option<&'static str>,
    file: fn(&[&str]) -> bool,
    folder: fn(&[&str]) -> bool,
    writable_file: fn(&[&str]) -> bool,
    writable_folder: fn(&[&str]) -> bool,
}

fn ends(names: &[&str], end: &str) -> bool {
    names.last().is_some_and(|name| name.ends_with(end))
}

fn some(names: &[&str], end: &str) -> bool {
    names.iter().any(|name| name.ends_with(end))
}

const RULES: [Rules; 5] = [
    Rules {
        name: "files by pattern, a folder, a deny glob",
        read: &[&["src/*.rs", "docs/**"]],
        write: &[&["src/*.rs"]],
        deny: &["*.key"],
        gitignore: None,
        file: |names| {
            !some(names, ".key")
                && (names.len() == 2 && names[0] == "src" && ends(names, ".rs")
                    || names.len() > 1 && names[0] == "docs")
        },
        folder: |names| !some(names, ".key") && (names == ["src"] || names[0] == "docs"),
        writable_file: |names| names.len() == 2 && names[0] == "src" && ends(names, ".rs"),
        writable_folder: |names| names == ["src"],
    },
    Rules {
        name: "everything but what is denied or ignored",
        read: &[&["**"]],
        write: &[&["**"]],
        deny: &["*.key", "secret"],
        gitignore: Some("build/\n*.log\n"),
        file: |names| {
            !some(names, ".key")
                && !some(names, ".log")
                && !names.contains(&"secret")
                && !names[..names.len() - 1].contains(&"build")
        },
        folder: |names| {
            !some(names, ".key") && !some(names, ".log") && !names.contains(&"secret") && !names.contains(&"build")
        },
        writable_file: |_| true,
        writable_folder: |_| true,
    },
    Rules {
        name: "write layers that meet",
        read: &[&["docs"]],
        write: &[&["src"], &["**/*.rs"]],
        deny: &[],
        gitignore: None,
        file: |names| names[0] == "docs" || names[0] == "src" && ends(names, ".rs"),
        folder: |names| names[0] == "docs" || names[0] == "src",
        writable_file: |names| names[0] == "src" && ends(names, ".rs"),
        writable_folder: |names| names[0] == "src",
    },
    Rules {
        name: "read-only",
        read: &[&["src/**"], &["**/*.rs", "docs"]],
        write: &[],
        deny: &["secret"],
        gitignore: None,
        file: |names| names.len() > 1 && names[0] == "src" && ends(names, ".rs") && !names.contains(&"secret"),
        folder: |names| names[0] == "src" && !names.contains(&"secret"),
        writable_file: |_| false,
        writable_folder: |_| false,
    },
    Rules {
        name: "write, and nothing more to read",
        read: &[&[]],
        write: &[&["src/**/a.rs", "build"]],
        deny: &[],
        gitignore: Some("/build/*\n!/build/src\n"),
        file: |names| {
            names.len() > 1 && names[0] == "src" && names.last() == Some(&"a.rs")
                || names == ["build"]
                || names[0] == "build" && names.get(1) == Some(&"src")
        },
        folder: |names| names[0] == "src" || names == ["build"] || names[0] == "build" && names.get(1) == Some(&"src"),
        writable_file: |_| true,
        writable_folder: |_| true,
    },
];

impl Rules {
    fn grants(&self, place: &Place) -> FileGrants {
        let layers = |layers: &[&[&str]]| {
            layers.iter().map(|globs| GlobLayer::new("manifest", globs.iter().copied())).collect::<Vec<_>>()
        };
        let mut workspace = WorkspaceGrant::new(&place.root, layers(self.read), layers(self.write));
        workspace.deny = self.deny.iter().map(|glob| (*glob).to_owned()).collect();
        place.grants(workspace)
    }

    /// Whether a role may know of this.
    fn shows(&self, path: &str, node: &Node) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        match node {
            Node::File { .. } | Node::Fifo => (self.file)(&names),
            Node::Folder { .. } => (self.folder)(&names),
            Node::Link(_) => (self.file)(&names) || (self.folder)(&names),
        }
    }

    /// The tree with its `.gitignore`, and the same without what is hidden.
    fn both(&self, tree: &Tree) -> (Tree, Tree) {
        let mut all = tree.clone();
        all.remove(".gitignore");
        let mut shown = all.clone();
        let hidden: Vec<String> =
            all.iter().filter(|(path, node)| !self.shows(path, node)).map(|(path, _)| path.clone()).collect();
        for path in hidden {
            let below = format!("{path}/");
            shown.retain(|other, _| *other != path && !other.starts_with(&below));
        }
        for tree in [&mut all, &mut shown] {
            tree.extend(self.gitignore.map(|rules| (".gitignore".to_owned(), file(rules))));
        }
        (all, shown)
    }
}

/// What a role does.
#[derive(Clone, Debug)]
enum Step {
    Open { path: String, how: Open },
    Stat { path: String, follow: bool },
    List { path: String },
    ReadLink { path: String },
    MakeFolder { path: String },
    RemoveFolder { path: String },
    Unlink { path: String },
    Rename { path: String, to: String },
    Times { path: String, follow: bool },
    Link { path: String },
    Write { bytes: Vec<u8> },
    Cut,
}

/// One view, what it holds open, and what it is told.
struct Role {
    view: View,
    /// The folder and the file that were opened last.
    folder: Folder,
    file: Option<OpenFile>,
}

impl Role {
    fn new(grants: &FileGrants) -> Self {
        let view = open_view(grants, &FileLimits::default());
        let folder = view.root();
        Self { view, folder, file: None }
    }

    /// Everything that the role learns by one step, but for times.
    fn answer(&mut self, step: &Step) -> String {
        fn say<T: std::fmt::Debug>(result: FileResult<T>) -> String {
            format!("{result:?}")
        }
        let (view, at) = (&mut self.view.view, self.folder.clone());
        match step {
            Step::Open { path, how } => match view.open_at(&at, path, *how) {
                Ok(Handle::File(file)) => {
                    let bytes = file.is_readable().then(|| read_all(&file));
                    let said = format!("file {} {} {bytes:?}", file.is_readable(), file.is_writable());
                    self.file = Some(file);
                    said
                }
                Ok(Handle::Folder(folder)) => {
                    let stat =
                        view.stat(&Handle::Folder(folder.clone())).map(|stat| (stat.kind, stat.bytes, stat.links));
                    let listed = self.view.list_handle(&folder);
                    self.folder = folder;
                    format!("folder {stat:?} {listed:?}")
                }
                Err(fault) => format!("{fault:?}"),
            },
            Step::Stat { path, follow } => {
                say(view.stat_at(&at, path, *follow).map(|stat| (stat.kind, stat.bytes, stat.links)))
            }
            Step::List { path } => {
                let opened = view.open_at(&at, path, FOLDER);
                say(opened.and_then(|handle| self.view.list_handle(handle.folder()?)))
            }
            Step::ReadLink { path } => say(view.read_link_at(&at, path)),
            Step::MakeFolder { path } => say(view.create_folder_at(&at, path)),
            Step::RemoveFolder { path } => say(view.remove_folder_at(&at, path)),
            Step::Unlink { path } => say(view.unlink_at(&at, path)),
            Step::Rename { path, to } => say(view.rename_at(&at, path, &at, to)),
            Step::Times { path, follow } => say(view.set_times_at(&at, path, *follow, NewTime::Same, NewTime::Now)),
            Step::Link { path } => say(view.refuse_link_at(&at, path)),
            Step::Write { bytes } => say(self.file.as_ref().map_or(Ok(()), |file| file.write_at(bytes, None))),
            Step::Cut => say(self.file.as_ref().map_or(Ok(()), |file| file.set_size(1))),
        }
    }
}

/// Takes these steps where hidden files are and where they are not.
fn compare(rules: &Rules, with: &Place, without: &Place, steps: &[Step]) -> (Role, Role) {
    let (mut a, mut b) = (Role::new(&rules.grants(with)), Role::new(&rules.grants(without)));
    for (number, step) in steps.iter().enumerate() {
        let (with, without) = (a.answer(step), b.answer(step));
        assert_eq!(with, without, "{}, step {number} of {steps:?}", rules.name);
    }
    assert_eq!(a.view.view.denials(), b.view.view.denials(), "{}: what the operator is told of {steps:?}", rules.name);
    (a, b)
}

/// What the role sees in the end is the same, may be seen, and what it proposes is the same, and may be proposed.
fn compare_ends(rules: &Rules, (mut a, mut b): (Role, Role), context: &str) -> brain_changes::ChangeSet {
    let (seen, other) = (a.view.tree(), b.view.tree());
    assert_same(&seen, &other, context);
    for (path, node) in &seen {
        assert!(rules.shows(path, node), "{}: `{path}` is listed: {context}", rules.name);
    }
    let (set, other) = (a.view.change_set(), b.view.change_set());
    assert_eq!(set, other, "{}: {context}", rules.name);
    let names = |path: &str| -> Vec<String> { path.split('/').map(str::to_owned).collect() };
    let ask = |rule: fn(&[&str]) -> bool, path: &str| rule(&names(path).iter().map(String::as_str).collect::<Vec<_>>());
    for change in &set.changes {
        for path in std::iter::once(&change.path).chain(&change.from) {
            let fits = ask(rules.file, path) && ask(rules.writable_file, path);
            assert!(fits, "{}: it proposes a change of `{path}`: {context}", rules.name);
        }
    }
    for folder in set.folders_added.iter().chain(&set.folders_removed) {
        let fits = ask(rules.folder, &folder.path) && ask(rules.writable_folder, &folder.path);
        assert!(fits, "{}: it proposes a change of the folder `{}`: {context}", rules.name, folder.path);
    }
    set
}

const NAMES: [&str; 10] = ["src", "docs", "build", "secret", "a.rs", "b.rs", "x.txt", "k.key", "o.log", "l.rs"];

fn plain_path() -> impl Strategy<Value = String> {
    let first =
        prop_oneof![3 => Just("src"), 1 => Just("docs"), 1 => Just("build"), 3 => proptest::sample::select(&NAMES[..])];
    (first, proptest::collection::vec(proptest::sample::select(&NAMES[..]), 0..3))
        .prop_map(|(first, rest)| std::iter::once(first).chain(rest).collect::<Vec<_>>().join("/"))
}

fn trees() -> impl Strategy<Value = Tree> {
    let node = prop_oneof![
        4 => proptest::collection::vec(any::<u8>(), 0..8).prop_map(file),
        2 => Just(folder()),
        1 => plain_path().prop_map(|path| link(&path)),
        1 => plain_path().prop_map(|path| link(&format!("../{path}"))),
        1 => Just(Node::Fifo),
    ];
    proptest::collection::btree_map(plain_path(), node, 1..16).prop_map(|nodes| {
        let mut all = Tree::new();
        for (path, node) in nodes {
            let above: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
            if above.iter().any(|above| !matches!(all.get(*above), None | Some(Node::Folder { .. }))) {
                continue;
            }
            all.extend(tree([(path.as_str(), node)]));
        }
        all
    })
}

fn path() -> impl Strategy<Value = String> {
    let middle = prop_oneof![6 => Just(""), 1 => Just("/."), 1 => Just("/.."), 1 => Just("/")];
    let end = prop_oneof![8 => Just(""), 2 => Just("/"), 1 => Just("/."), 1 => Just("/..")];
    (plain_path(), middle, proptest::option::of(plain_path()), end).prop_map(|(first, middle, more, end)| match more {
        Some(more) if !middle.is_empty() => format!("{first}{middle}/{more}{end}"),
        _ => format!("{first}{end}"),
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (path(), how()).prop_map(|(path, how)| Step::Open { path, how }),
        2 => (path(), any::<bool>()).prop_map(|(path, follow)| Step::Stat { path, follow }),
        1 => path().prop_map(|path| Step::List { path }),
        1 => path().prop_map(|path| Step::ReadLink { path }),
        3 => path().prop_map(|path| Step::MakeFolder { path }),
        3 => path().prop_map(|path| Step::RemoveFolder { path }),
        3 => path().prop_map(|path| Step::Unlink { path }),
        5 => (path(), path()).prop_map(|(path, to)| Step::Rename { path, to }),
        1 => (path(), any::<bool>()).prop_map(|(path, follow)| Step::Times { path, follow }),
        1 => path().prop_map(|path| Step::Link { path }),
        2 => Just(Step::Write { bytes: b"new\n".to_vec() }),
        1 => Just(Step::Cut),
    ];
    proptest::collection::vec(step, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hidden_files_make_no_difference_whatever_a_role_does((tree, steps, rules) in (trees(), steps(), 0..RULES.len())) {
        let rules = &RULES[rules];
        let (all, shown) = rules.both(&tree);
        let (with, without) = (Place::new(&all), Place::new(&shown));
        let ends = compare(rules, &with, &without, &steps);
        let set = compare_ends(rules, ends, &format!("{steps:?}"));
        assert_same(&read_tree(&with.root), &all, "the real tree is never written");

        // Where hidden files are in the way, applying is a conflict; in no case is one of them touched.
        std::fs::create_dir_all(with.contents_folder()).unwrap();
        let applied = with.apply(&set);
        let now = read_tree(&with.root);
        for (path, node) in all.iter().filter(|(path, node)| !matches!(node, Node::Folder { .. }) && !shown.contains_key(*path)) {
            assert_eq!(now.get(path), Some(node), "`{path}` is hidden: {steps:?}");
        }
        if let Ok(applied) = applied {
            let _ = with.apply(&applied.undo).unwrap();
            assert_same(&read_tree(&with.root), &all, "what undo makes");
        }
    }
}

/// What can lie where nothing is shown.
fn kinds() -> Vec<(&'static str, Tree)> {
    let at = |nodes: Vec<(&'static str, Node)>| nodes.into_iter().map(|(path, node)| (path.to_owned(), node)).collect();
    vec![
        ("a file", at(vec![("", file("hidden\n"))])),
        (
            "a folder with files",
            at(vec![("", folder()), ("/a.rs", file("x")), ("/k.key", file("x")), ("/src", folder())]),
        ),
        ("a FIFO", at(vec![("", Node::Fifo)])),
        ("a link to what is shown", at(vec![("", link("a.rs"))])),
        ("a link out", at(vec![("", link("../../etc"))])),
    ]
}

/// Every operation on `path`, alone or with `other`, which is shown.
fn every_step(path: &str, other: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for end in ["", "/", "/.", "/..", "//a.rs", "/src/a.rs", "/../a.rs"] {
        let path = || format!("{path}{end}");
        // All ways to open it by its name, and some by others.
        for bits in (0..128_u32)
            .filter(|bits| end.is_empty() || [0b001_0001, 0b010_0001, 0b010_1011, 0b100_0001].contains(bits))
        {
            let bit = |n: u32| bits >> n & 1 == 1;
            let how = Open {
                follow: bit(0),
                create: bit(1),
                exclusive: bit(2),
                truncate: bit(3),
                read: bit(4),
                write: bit(5),
                directory: bit(6),
            };
            // No file can be made or cut as a folder, and what is not made cannot be made only if it is new.
            let says_nothing = !how.read && !how.write;
            if !(how.directory && (how.create || how.truncate) || how.exclusive && !how.create || says_nothing) {
                steps.push(Step::Open { path: path(), how });
            }
        }
        for follow in [true, false] {
            steps.push(Step::Stat { path: path(), follow });
            steps.push(Step::Times { path: path(), follow });
        }
        steps.push(Step::List { path: path() });
        steps.push(Step::ReadLink { path: path() });
        steps.push(Step::MakeFolder { path: path() });
        steps.push(Step::RemoveFolder { path: path() });
        steps.push(Step::Unlink { path: path() });
        steps.push(Step::Link { path: path() });
        for other in [other, "src", "src/none"] {
            steps.push(Step::Rename { path: path(), to: other.to_owned() });
            steps.push(Step::Rename { path: other.to_owned(), to: path() });
        }
    }
    steps
}

/// Where something of each kind is hidden by one of the rules or another: below what is shown, or at the top.
const PLACES: [&str; 9] =
    ["src", "src/a.rs", "src/b.rs", "src/src", "src/k.key", "docs", "build", "build/src", "secret"];

#[test]
fn no_operation_tells_a_hidden_file_from_none() {
    let counts: Vec<(usize, usize)> = std::thread::scope(|scope| {
        let threads: Vec<_> = RULES.iter().map(|rules| scope.spawn(|| every_operation(rules))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // So that a change of the rules does not empty the test.
    let (hid, compared) = counts.iter().fold((0, 0), |(a, b), (hid, compared)| (a + hid, b + compared));
    assert!(counts.iter().all(|(hid, _)| *hid > 10) && compared > 15_000, "{hid} trees, {compared} operations");
}

/// How many trees had something hidden by these rules, and how many operations were compared in them.
fn every_operation(rules: &Rules) -> (usize, usize) {
    let (mut hid, mut compared) = (0, 0);
    for place in PLACES {
        for (kind, nodes) in kinds() {
            let mut all = tree([("src/z.rs", file("z")), ("docs/z.rs", file("z")), ("build/src/a.rs", file("z"))]);
            all.retain(|path, _| path != place && !path.starts_with(&format!("{place}/")));
            all.extend(nodes.iter().map(|(end, node)| (format!("{place}{end}"), node.clone())));
            let (all, shown) = rules.both(&all);
            if all == shown {
                continue;
            }
            hid += 1;
            let (with, without) = (Place::new(&all), Place::new(&shown));
            for step in every_step(place, "src/z.rs") {
                // What was done at first does not tell either, nor what can be done then.
                let then = [
                    Step::Write { bytes: b"new\n".to_vec() },
                    Step::Stat { path: place.into(), follow: false },
                    Step::RemoveFolder { path: place.into() },
                    Step::Unlink { path: place.into() },
                    Step::Open { path: place.into(), how: PUT },
                    Step::MakeFolder { path: place.into() },
                    Step::List { path: "src".into() },
                ];
                let steps: Vec<Step> = std::iter::once(step).chain(then).collect();
                let ends = compare(rules, &with, &without, &steps);
                compare_ends(rules, ends, &format!("{kind} at `{place}`, {steps:?}"));
                compared += 1;
            }
        }
    }
    (hid, compared)
}
