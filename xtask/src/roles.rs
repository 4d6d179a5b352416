//! Builds the guests' workspace and places what comes out beside the `brain` binary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::c_guests;
use crate::files;
use crate::place::{GUEST_TARGET, Place};
use crate::steps::{Failure, Steps};

/// Name of a role's manifest.
const MANIFEST: &str = "role.toml";

/// A component that the guests' workspace builds, and where a copy of it belongs.
#[derive(Debug, PartialEq, Eq)]
struct Guest {
    /// Name of the role or of the test guest.
    name: String,
    /// What cargo writes.
    built: PathBuf,
    /// Where it goes.
    placed: PathBuf,
    /// The manifest and its place; a test guest has none.
    manifest: Option<(PathBuf, PathBuf)>,
}

/// Builds every role and test guest, and places them in `<bin>/roles/<name>/` and `<bin>/guests/<name>.wasm`.
///
/// # Errors
/// The build fails, a manifest is not usable, or a file cannot be written.
pub fn run(place: &Place, steps: &mut Steps) -> Result<(), Failure> {
    let mut build = place.roles_cargo(["build", "--release", "--target", GUEST_TARGET]);
    build.env("CARGO_ENCODED_RUSTFLAGS", without_paths_of_this_machine(place));
    steps.run("roles", &mut build)?;
    let into = place.bin.join("roles");
    steps.work("place", &format!("roles and test guests into {}", place.bin.display()), || {
        let (roles, guests) = (roles(place)?, guests(place)?);
        let changed = put(&roles)? + put(&guests)?;
        let stale = files::prune(&into, &roles.iter().map(|role| role.name.clone()).collect())?;
        let wasm = |guest: &Guest| format!("{}.wasm", guest.name);
        let in_c = c_guests::names(place)?.into_iter().map(|name| format!("{name}.wasm"));
        let gone = files::prune(&place.bin.join("guests"), &guests.iter().map(wasm).chain(in_c).collect())?;
        let names: Vec<&str> = roles.iter().map(|role| role.name.as_str()).collect();
        eprintln!(
            "    {} role(s): {}; {} test guest(s); {changed} file(s) changed",
            roles.len(),
            names.join(", "),
            guests.len()
        );
        if !(stale.is_empty() && gone.is_empty()) {
            eprintln!("    removed what no source stands for: {}", [stale, gone].concat().join(", "));
        }
        Ok(())
    })
}

/// Flags that keep this machine's folders out of the components: a panic names its place in the repository, and the same
/// sources give the same digest wherever they are built.
fn without_paths_of_this_machine(place: &Place) -> String {
    let mut folders = vec![(place.root.clone(), "brain")];
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    folders.extend(cargo_home.map(|home| (home, "cargo")));
    let flags = folders.iter().map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()));
    // Cargo's own separator: a folder's name may hold spaces.
    flags.collect::<Vec<_>>().join("\u{1f}")
}

/// Places copies; gives the number of files that changed.
fn put(guests: &[Guest]) -> Result<usize, Failure> {
    let mut changed = 0;
    for guest in guests {
        if !guest.built.is_file() {
            return Err(Failure::new(format!("`{}` was built, but there is no {}", guest.name, guest.built.display()))
                .help("its Cargo.toml needs `crate-type = [\"cdylib\", \"rlib\"]` under [lib], and the guests' workspace must list it"));
        }
        let copies = guest.manifest.iter().map(|(from, to)| (from, to)).chain([(&guest.built, &guest.placed)]);
        for (from, to) in copies {
            changed += usize::from(files::copy_if_changed(from, to)?);
        }
    }
    Ok(changed)
}

/// Every folder of `roles/` that has a manifest.
fn roles(place: &Place) -> Result<Vec<Guest>, Failure> {
    let mut found = Vec::new();
    for folder in files::folders_with(&place.roles(), MANIFEST)? {
        found.push(role(place, &folder)?);
    }
    if found.is_empty() {
        return Err(Failure::new(format!("no folder below {} has a {MANIFEST}", place.roles().display())));
    }
    Ok(found)
}

fn role(place: &Place, folder: &Path) -> Result<Guest, Failure> {
    let manifest = folder.join(MANIFEST);
    let table = files::toml(&manifest)?;
    let field = |key: &str| {
        table
            .get(key)
            .and_then(toml::Value::as_str)
            .map(str::to_owned)
            .ok_or_else(|| Failure::new(format!("{} has no text field `{key}`", manifest.display())))
    };
    let (name, component) = (field("name")?, field("component")?);
    if folder.file_name().is_none_or(|folder| folder != name.as_str()) {
        return Err(Failure::new(format!("{} names the role `{name}`", manifest.display()))
            .help("a role's folder has the role's name"));
    }
    if component.contains(['/', '\\']) || !component.ends_with(".wasm") {
        return Err(Failure::new(format!("{} names the component `{component}`", manifest.display()))
            .help("`component` is the name of a .wasm file beside the manifest"));
    }
    let home = place.bin.join("roles").join(&name);
    Ok(Guest {
        built: built(place, folder)?,
        placed: home.join(component),
        manifest: Some((manifest, home.join(MANIFEST))),
        name,
    })
}

/// Every crate below `tests/guests`.
fn guests(place: &Place) -> Result<Vec<Guest>, Failure> {
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    for folder in files::folders_with(&place.root.join("tests/guests"), "Cargo.toml")? {
        let name = package(&files::toml(&folder.join("Cargo.toml"))?, &folder)?;
        if !names.insert(name.clone()) {
            return Err(Failure::new(format!("two test guests are called `{name}`")));
        }
        let placed = place.bin.join("guests").join(format!("{name}.wasm"));
        found.push(Guest { built: built(place, &folder)?, placed, manifest: None, name });
    }
    Ok(found)
}

/// The component that cargo writes for the crate in `folder`: named after its library, `-` being `_`.
fn built(place: &Place, folder: &Path) -> Result<PathBuf, Failure> {
    let table = files::toml(&folder.join("Cargo.toml"))?;
    let library = table.get("lib").and_then(|lib| lib.get("name")).and_then(toml::Value::as_str);
    let library = match library {
        Some(name) => name.to_owned(),
        None => package(&table, folder)?.replace('-', "_"),
    };
    Ok(place.roles_target().join(GUEST_TARGET).join("release").join(format!("{library}.wasm")))
}

fn package(table: &toml::Table, folder: &Path) -> Result<String, Failure> {
    let name = table.get("package").and_then(|package| package.get("name")).and_then(toml::Value::as_str);
    name.map(str::to_owned).ok_or_else(|| Failure::new(format!("{}/Cargo.toml has no package name", folder.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A repository with one role, one library beside it, and one test guest, as if just built.
    fn repository() -> (tempfile::TempDir, Place) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { root: folder.path().to_path_buf(), bin: folder.path().join("target/debug") };
        write(&place, "roles/finder/role.toml", "name = \"finder\"\ncomponent = \"finder.wasm\"\n");
        write(&place, "roles/finder/Cargo.toml", "[package]\nname = \"role-finder\"\n");
        write(&place, "roles/shared/Cargo.toml", "[package]\nname = \"shared\"\n");
        write(&place, "roles/target/wasm32-wasip2/release/role_finder.wasm", "component one");
        write(&place, "tests/guests/loop/Cargo.toml", "[package]\nname = \"spin-loop\"\n[lib]\nname = \"spin\"\n");
        write(&place, "roles/target/wasm32-wasip2/release/spin.wasm", "component two");
        (folder, place)
    }

    fn write(place: &Place, path: &str, text: &str) {
        let path = place.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(place: &Place, path: &str) -> String {
        fs::read_to_string(place.bin.join(path)).unwrap()
    }

    #[test]
    fn roles_and_guests_land_beside_the_binary() {
        let (_folder, place) = repository();
        assert_eq!(put(&roles(&place).unwrap()).unwrap(), 2);
        assert_eq!(put(&guests(&place).unwrap()).unwrap(), 1);
        assert_eq!(read(&place, "roles/finder/finder.wasm"), "component one");
        assert!(read(&place, "roles/finder/role.toml").contains("finder"));
        assert_eq!(read(&place, "guests/spin-loop.wasm"), "component two");
        assert!(!place.bin.join("roles/shared").exists(), "a folder without a manifest is not a role");
        assert_eq!(put(&roles(&place).unwrap()).unwrap(), 0, "nothing changed: nothing is written");
    }

    #[test]
    fn a_component_that_was_not_built_is_named_with_the_remedy() {
        let (_folder, place) = repository();
        fs::remove_file(place.roles_target().join("wasm32-wasip2/release/spin.wasm")).unwrap();
        let failure = put(&guests(&place).unwrap()).unwrap_err().to_string();
        assert!(failure.contains("`spin-loop`") && failure.contains("cdylib"), "{failure}");
    }

    #[test]
    fn unusable_manifests_are_refused() {
        let cases = [
            ("component = \"a.wasm\"", "no text field `name`"),
            ("name = 1\ncomponent = \"a.wasm\"", "no text field `name`"),
            ("name = \"finder\"", "no text field `component`"),
            ("name = \"other\"\ncomponent = \"a.wasm\"", "names the role `other`"),
            ("name = \"finder\"\ncomponent = \"../a.wasm\"", "names the component `../a.wasm`"),
            ("name = \"finder\"\ncomponent = \"a.txt\"", "names the component `a.txt`"),
            ("name = ", "not valid TOML"),
        ];
        for (manifest, expected) in cases {
            let (_folder, place) = repository();
            write(&place, "roles/finder/role.toml", manifest);
            let failure = roles(&place).unwrap_err().to_string();
            assert!(failure.contains(expected), "{manifest:?}: {failure}");
        }
    }

    #[test]
    fn a_tree_without_roles_is_a_failure() {
        let (_folder, place) = repository();
        fs::remove_file(place.roles().join("finder/role.toml")).unwrap();
        assert!(roles(&place).unwrap_err().to_string().contains("no folder below"));
    }
}
