//! What the operator grants each role, and to what a project narrows it.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use brain_files::GlobLayer;
use brain_packet::RoleName;
use schemars::JsonSchema;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::globs::{self, covered};
use super::{Decision, some_of};

/// Who said something about a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// The role's manifest, which asks.
    Manifest,
    /// Nobody: what holds when nothing is said.
    Default,
    /// The operator, for all projects.
    Operator,
    /// The operator, for this project.
    OperatorHere,
    /// The project's own file, which narrows.
    Project,
    /// The handoff, which narrows.
    Handoff,
}

impl Who {
    /// The name, as it stands in layers, receipts and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manifest => "manifest",
            Self::Default => "default",
            Self::Operator => "operator",
            Self::OperatorHere => "operator-here",
            Self::Project => "project",
            Self::Handoff => "handoff",
        }
    }

    /// The file in which it speaks, as a reader finds it; none where nothing can be edited.
    pub fn file(self) -> Option<&'static str> {
        match self {
            Self::Manifest => Some("the role's role.toml"),
            Self::Operator | Self::OperatorHere => Some("config.toml in BRAIN_HOME"),
            Self::Project => Some("the project's .brain/brain.toml"),
            Self::Default | Self::Handoff => None,
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What one file says of one role. In `config.toml` it grants; in a project's file it narrows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoleGrants {
    /// Globs of files to read. Not given: all that the manifest asks.
    #[serde(deserialize_with = "globs::optional", skip_serializing_if = "Option::is_none")]
    pub read: Option<Vec<String>>,
    /// Globs of files to change. Not given: none; in a project's file, those of `read` if that is given.
    #[serde(deserialize_with = "globs::optional", skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
    /// Whether it may see what `.gitignore` excludes, if it asks. Not given: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gitignored: Option<bool>,
    /// Whether it may read the time of day, if it asks. Not given: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_clock: Option<bool>,
    /// Whether it gets entropy of the system, if it asks. Not given: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random: Option<bool>,
}

/// What one file says, by role.
pub type ByRole = BTreeMap<RoleName, RoleGrants>;

/// What `config.toml` says of one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectGrants {
    /// Grants that hold in this project, by role. A key that is given here stands in place of the one for all projects.
    #[serde(deserialize_with = "by_role")]
    pub grants: ByRole,
}

/// Something that a role has or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    Gitignored,
    WallClock,
    Random,
}

impl Switch {
    const ALL: [Self; 3] = [Self::Gitignored, Self::WallClock, Self::Random];

    fn of(self, grants: &RoleGrants) -> Option<bool> {
        match self {
            Self::Gitignored => grants.gitignored,
            Self::WallClock => grants.wall_clock,
            Self::Random => grants.random,
        }
    }

    fn key(self) -> &'static str {
        match self {
            Self::Gitignored => "gitignored",
            Self::WallClock => "wall_clock",
            Self::Random => "random",
        }
    }
}

/// All that is granted in one project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    operator: ByRole,
    /// One for each name of this project in `config.toml`: two names of one folder must both grant.
    here: Vec<ByRole>,
    project: ByRole,
}

impl Granted {
    /// What `config.toml` grants in `project`.
    pub(crate) fn by_operator(
        grants: ByRole,
        projects: BTreeMap<ProjectPath, ProjectGrants>,
        project: Option<&Path>,
    ) -> Self {
        let here = project.map_or_else(Vec::new, |project| {
            projects.into_iter().filter(|(path, _)| path.is(project)).map(|(_, of)| of.grants).collect()
        });
        Self { operator: grants, here, project: ByRole::new() }
    }

    /// What the project's own file narrows; what it would widen is said, and has no effect.
    pub(crate) fn narrowed(&mut self, by_project: ByRole) -> Vec<String> {
        let mut said = Vec::new();
        for (role, grants) in &by_project {
            for switch in Switch::ALL {
                if switch.of(grants) == Some(true) && !self.decide(role, switch, true).granted {
                    said.push(format!(
                        "turns on `{}` for {role}, which is not applied: only config.toml in BRAIN_HOME grants it",
                        switch.key()
                    ));
                }
            }
            for (key, globs, layers) in
                [("read", &grants.read, self.read(role)), ("write", &grants.write, self.write(role))]
            {
                let Some(globs) = globs else { continue };
                let beyond: Vec<&String> =
                    globs.iter().filter(|glob| layers.iter().any(|layer| !covered(glob, layer.globs.iter()))).collect();
                if beyond.is_empty() {
                    said.push(format!("narrows what {role} may {key} to {}", some_of(globs)));
                } else {
                    said.push(format!(
                        "names more for {role} to {key} than is granted, which is not applied: {}",
                        some_of(&beyond)
                    ));
                }
            }
            for switch in Switch::ALL {
                if switch.of(grants) == Some(false) && self.decide(role, switch, true).granted {
                    said.push(format!("turns off `{}` for {role}", switch.key()));
                }
            }
        }
        self.project = by_project;
        said
    }

    /// The layers that narrow what `role` reads, beside its manifest. None from the operator: all that it asks.
    pub(super) fn read(&self, role: &RoleName) -> Vec<GlobLayer> {
        let mut layers = self.operator_layers(role, |grants| grants.read.as_ref());
        if let Some(globs) = self.project.get(role).and_then(|grants| grants.read.as_ref()) {
            layers.push(GlobLayer::new(Who::Project.as_str(), globs.iter()));
        }
        layers
    }

    /// The layers that narrow what `role` writes, beside its manifest. None from the operator: nothing.
    pub(super) fn write(&self, role: &RoleName) -> Vec<GlobLayer> {
        let mut layers = self.operator_layers(role, |grants| grants.write.as_ref());
        if layers.is_empty() {
            layers.push(GlobLayer::new(Who::Default.as_str(), std::iter::empty::<String>()));
        }
        let project = self.project.get(role);
        // What a project lets nobody read, it lets nobody write.
        if let Some(globs) = project.and_then(|grants| grants.write.as_ref().or(grants.read.as_ref())) {
            layers.push(GlobLayer::new(Who::Project.as_str(), globs.iter()));
        }
        layers
    }

    fn operator_layers<'a>(
        &'a self,
        role: &RoleName,
        globs: impl Fn(&'a RoleGrants) -> Option<&'a Vec<String>>,
    ) -> Vec<GlobLayer> {
        let layer = |who: Who, globs: &Vec<String>| GlobLayer::new(who.as_str(), globs.iter());
        let here: Vec<GlobLayer> = self
            .here
            .iter()
            .filter_map(|by_role| globs(by_role.get(role)?))
            .map(|globs| layer(Who::OperatorHere, globs))
            .collect();
        if !here.is_empty() {
            return here;
        }
        self.operator.get(role).and_then(globs).map(|globs| layer(Who::Operator, globs)).into_iter().collect()
    }

    /// Whether `role` has what is switched, when its manifest `asked` for it or not.
    pub(super) fn decide(&self, role: &RoleName, switch: Switch, asked: bool) -> Decision {
        let said: Vec<bool> = self.here.iter().filter_map(|by_role| switch.of(by_role.get(role)?)).collect();
        let (mut granted, mut by) = match self.operator.get(role).and_then(|grants| switch.of(grants)) {
            _ if !said.is_empty() => (said.iter().all(|yes| *yes), Who::OperatorHere),
            Some(granted) => (granted, Who::Operator),
            None => (false, Who::Default),
        };
        if granted && self.project.get(role).and_then(|grants| switch.of(grants)) == Some(false) {
            (granted, by) = (false, Who::Project);
        }
        Decision { asked, granted, by, effective: asked && granted }
    }

    /// The roles that something is said of, each with whose file says it.
    pub fn roles(&self) -> impl Iterator<Item = (&RoleName, Who)> {
        self.operator
            .keys()
            .map(|role| (role, Who::Operator))
            .chain(self.here.iter().flat_map(|by_role| by_role.keys().map(|role| (role, Who::OperatorHere))))
            .chain(self.project.keys().map(|role| (role, Who::Project)))
    }
}

/// The absolute path of a project, as `config.toml` names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ProjectPath(PathBuf);

impl ProjectPath {
    /// The path as it is written.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// Whether it names the folder `project`: by what lies there, since one folder may have several names.
    fn is(&self, project: &Path) -> bool {
        match (std::fs::metadata(&self.0), std::fs::metadata(project)) {
            (Ok(named), Ok(project)) => (named.dev(), named.ino()) == (project.dev(), project.ino()),
            _ => false,
        }
    }
}

impl<'de> Deserialize<'de> for ProjectPath {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Absolute;
        impl Visitor<'_> for Absolute {
            type Value = ProjectPath;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the absolute path of a project")
            }

            fn visit_str<E: Error>(self, path: &str) -> Result<ProjectPath, E> {
                if Path::new(path).is_absolute() {
                    Ok(ProjectPath(path.into()))
                } else {
                    Err(E::custom(format!("`{path}` is not the absolute path of a project")))
                }
            }
        }
        from.deserialize_str(Absolute)
    }
}

/// Deserializes a table by role. A key that can be no role's name is an error at its own place.
pub(crate) fn by_role<'de, D: Deserializer<'de>>(from: D) -> Result<ByRole, D::Error> {
    struct Table;
    impl<'de> Visitor<'de> for Table {
        type Value = ByRole;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table for each role")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ByRole, A::Error> {
            let mut by_role = ByRole::new();
            while let Some((role, grants)) = map.next_entry()? {
                by_role.insert(role, grants);
            }
            Ok(by_role)
        }
    }
    from.deserialize_map(Table)
}
