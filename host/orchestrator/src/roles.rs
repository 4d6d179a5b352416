//! The roles that there are: folders with a `role.toml` and a component.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use brain_manifest::{Manifest, TomlError, plain_file, toml_file::read};
use brain_packet::RoleName;
use brain_sandbox::{CONTRACT, MAX_COMPONENT_BYTES, show_bytes};

/// Entries that are looked at in one folder of roles.
const MAX_ROLES: usize = 1000;

/// Where a role was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Beside the `brain` binary: it shipped with this build.
    Shipped,
    /// In `BRAIN_HOME/roles`: the operator put it there.
    Home,
    /// In a folder that the operator named for this command.
    Named,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Shipped => "shipped",
            Self::Home => "home",
            Self::Named => "named",
        })
    }
}

/// A role that can be loaded.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Its manifest.
    pub manifest: Manifest,
    /// Its folder.
    pub folder: PathBuf,
    /// Where it was found.
    pub origin: Origin,
}

impl Installed {
    /// Reads the manifest in `folder`.
    ///
    /// # Errors
    /// The manifest cannot be used.
    pub fn read(folder: &Path, origin: Origin) -> Result<Self, RoleError> {
        let manifest: Manifest = read(&folder.join("role.toml"))?;
        let named = folder.file_name().and_then(|name| name.to_str());
        if named != Some(manifest.name.as_str()) {
            return Err(RoleError::Name { folder: folder.to_owned(), name: manifest.name });
        }
        if manifest.contract != CONTRACT {
            return Err(RoleError::Contract { folder: folder.to_owned(), contract: manifest.contract });
        }
        if manifest.component.contains(['/', '\\']) || manifest.component.starts_with('.') {
            return Err(RoleError::Component { folder: folder.to_owned(), component: manifest.component });
        }
        Ok(Self { manifest, folder: folder.to_owned(), origin })
    }

    /// The component's file.
    pub fn component(&self) -> PathBuf {
        self.folder.join(&self.manifest.component)
    }

    /// Whether the component is there and can be read. What is in it is not looked at.
    ///
    /// # Errors
    /// The file cannot be read, or is no regular file.
    fn has_component(&self) -> Result<(), RoleError> {
        let path = self.component();
        plain_file::open(&path).map(drop).map_err(|source| RoleError::Unreadable { path, source })
    }

    /// The component's bytes.
    ///
    /// # Errors
    /// The file cannot be read, or is larger than a component may be.
    pub fn bytes(&self) -> Result<Vec<u8>, RoleError> {
        read_component(&self.component())
    }
}

/// A role that cannot be used.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum RoleError {
    /// Its manifest cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Manifest(#[from] TomlError),
    /// It is made for a contract that this host does not serve.
    #[error("the role in {} is made for `{contract}`, and this host serves `{CONTRACT}`", folder.display())]
    #[diagnostic(code("role.contract"), help("get the version of the role, or of brain, that fits the other"))]
    Contract {
        /// The role's folder.
        folder: PathBuf,
        /// What its manifest names.
        contract: String,
    },
    /// It asks for more than was confirmed of it.
    #[error("the role `{role}` asks for more than was confirmed: {beyond}")]
    #[diagnostic(
        code("role.widened"),
        help("look at it with `brain role inspect {role}`; if it should have that, `brain role confirm {role}`")
    )]
    Widened {
        /// The role.
        role: RoleName,
        /// What is more, in words.
        beyond: String,
    },
    /// Its folder has another name than its manifest.
    #[error("the role in {} calls itself `{name}`", folder.display())]
    #[diagnostic(code("role.name"), help("give the folder the role's name"))]
    Name {
        /// The folder.
        folder: PathBuf,
        /// The name in the manifest.
        name: RoleName,
    },
    /// Its manifest names a component outside its folder.
    #[error("the role in {} names the component `{component}`", folder.display())]
    #[diagnostic(code("role.component"), help("the component is a file beside role.toml: give its name alone"))]
    Component {
        /// The folder.
        folder: PathBuf,
        /// What the manifest says.
        component: String,
    },
    /// The component cannot be read.
    #[error("the component {} cannot be read: {source}", path.display())]
    #[diagnostic(code("role.unreadable"), help("build the role first, and check that you may read the file"))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder of roles cannot be listed.
    #[error("the folder of roles {} cannot be listed: {source}", path.display())]
    #[diagnostic(code("role.folder"), help("make it a folder that you may read, or take it away"))]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder of roles has too many entries.
    #[error("the folder of roles {} has more than {MAX_ROLES} entries: not all were looked at", path.display())]
    #[diagnostic(code("role.too-many"), help("put nothing but role folders there"))]
    TooMany {
        /// The folder.
        path: PathBuf,
    },
    /// The component is too large to load.
    #[error("{} is larger than {}", path.display(), show_bytes(MAX_COMPONENT_BYTES))]
    #[diagnostic(code("role.too-large"), help("strip debug information; is it the right file?"))]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// There is one of this name, and it cannot be used.
    #[error("the role `{name}` is there, and cannot be used: {why}")]
    #[diagnostic(code("role.unusable"), help("{help}"))]
    Unusable {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: String,
        /// What to do about that.
        help: String,
    },
    /// No role has this name.
    #[error("there is no role `{name}`; there {}", list(known))]
    #[diagnostic(code("role.not-found"), help("`brain role list` shows where roles are looked for"))]
    NotFound {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<RoleName>,
    },
    /// There is no role at all that can be used, and some that cannot.
    #[error("there are no roles that can be used: {why}{}", and_more(*more))]
    #[diagnostic(code("role.none-usable"), help("{help}"))]
    NoneUsable {
        /// What is wrong with the first of them.
        why: String,
        /// How many more there are.
        more: usize,
        /// What to do about the first.
        help: String,
    },
    /// There is no role at all.
    #[error("there are no roles")]
    #[diagnostic(
        code("role.none"),
        help("build the vetted ones with `cargo xtask roles`, or put role folders into {}", home.display())
    )]
    None {
        /// Where the operator may put them.
        home: PathBuf,
    },
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!("; and {more} more: `brain role list`") }
}

fn list(known: &[RoleName]) -> String {
    match known {
        [] => "are none".into(),
        [one] => format!("is {one}"),
        many => format!("are {}", many.iter().map(RoleName::as_str).collect::<Vec<_>>().join(", ")),
    }
}

/// Reads a component's file, bounded.
///
/// # Errors
/// The file cannot be read, is no regular file, or is larger than a component may be.
pub fn read_component(path: &Path) -> Result<Vec<u8>, RoleError> {
    let unreadable = |source| RoleError::Unreadable { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = plain_file::open(path).map_err(unreadable)?;
    file.take(MAX_COMPONENT_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_COMPONENT_BYTES {
        return Err(RoleError::TooLarge { path: path.to_owned() });
    }
    Ok(bytes)
}

/// All roles that were found, by name, and what could not be used.
#[derive(Debug, Default)]
pub struct Catalogue {
    roles: BTreeMap<RoleName, Installed>,
    /// Folders that look like roles and cannot be used.
    pub faults: Vec<Fault>,
    home: PathBuf,
}

/// A folder that looks like a role's and cannot be used.
#[derive(Debug)]
pub struct Fault {
    /// The name of the folder, which is to be that of the role.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// Where it was found.
    pub origin: Origin,
    /// What is wrong with it.
    pub error: RoleError,
}

impl Fault {
    /// What to do about it.
    pub fn help(&self) -> String {
        miette::Diagnostic::help(&self.error).map(|help| help.to_string()).unwrap_or_default()
    }
}

impl Catalogue {
    /// Looks into the folders in order; the first role of a name wins. A folder that does not exist has no roles.
    pub fn find(folders: &[(PathBuf, Origin)], home: &Path) -> Self {
        let mut catalogue = Self { home: home.join("roles"), ..Self::default() };
        for (folder, origin) in folders {
            let mut entries: Vec<PathBuf> = match fs::read_dir(folder) {
                Ok(entries) => entries.flatten().take(MAX_ROLES + 1).map(|entry| entry.path()).collect(),
                // A link that leads nowhere is there.
                Err(error) if error.kind() == ErrorKind::NotFound && !folder.is_symlink() => continue,
                Err(source) => {
                    catalogue.broken(folder, *origin, RoleError::Folder { path: folder.clone(), source });
                    continue;
                }
            };
            entries.sort();
            if entries.len() > MAX_ROLES {
                entries.truncate(MAX_ROLES);
                catalogue.broken(folder, *origin, RoleError::TooMany { path: folder.clone() });
            }
            // A manifest that cannot be read is there, too.
            let found = entries.into_iter().filter(|path| fs::symlink_metadata(path.join("role.toml")).is_ok());
            for path in found {
                match Installed::read(&path, *origin).and_then(|role| role.has_component().map(|()| role)) {
                    Ok(role) => {
                        catalogue.roles.entry(role.manifest.name.clone()).or_insert(role);
                    }
                    Err(error) => catalogue.broken(&path, *origin, error),
                }
            }
        }
        catalogue
    }

    fn broken(&mut self, folder: &Path, origin: Origin, error: RoleError) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.faults.push(Fault { name, folder: folder.to_owned(), origin, error });
    }

    /// The folders that a `brain` binary looks into: what the operator names, its home, then what shipped beside it.
    pub fn folders(named: &[PathBuf], home: &Path) -> Vec<(PathBuf, Origin)> {
        let mut folders: Vec<_> = named.iter().map(|path| (path.clone(), Origin::Named)).collect();
        folders.push((home.join("roles"), Origin::Home));
        let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("roles")));
        folders.extend(beside.map(|path| (path, Origin::Shipped)));
        folders
    }

    /// The roles by name.
    pub fn iter(&self) -> impl Iterator<Item = &Installed> {
        self.roles.values()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// What is wrong with the role `name`, when it is there and cannot be used.
    pub fn fault(&self, name: &str) -> Option<&Fault> {
        self.faults.iter().find(|fault| {
            fault.name == name
                || matches!(&fault.error, RoleError::Name { name: called, .. } if called.as_str() == name)
        })
    }

    /// The role `name`.
    ///
    /// # Errors
    /// There is none of that name, it cannot be used, or there is none at all.
    pub fn get(&self, name: &str) -> Result<&Installed, RoleError> {
        self.roles.values().find(|role| role.manifest.name.as_str() == name).ok_or_else(|| self.lacks(name))
    }

    fn lacks(&self, name: &str) -> RoleError {
        if let Some(fault) = self.fault(name) {
            return RoleError::Unusable { name: name.to_owned(), why: fault.error.to_string(), help: fault.help() };
        }
        match self.faults.split_first() {
            _ if !self.is_empty() => {
                RoleError::NotFound { name: name.to_owned(), known: self.roles.keys().cloned().collect() }
            }
            None => RoleError::None { home: self.home.clone() },
            Some((first, rest)) => {
                RoleError::NoneUsable { why: first.error.to_string(), more: rest.len(), help: first.help() }
            }
        }
    }
}
