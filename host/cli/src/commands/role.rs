//! `brain role list | inspect | check | run`; `confirm` has a file of its own.

use std::path::Path;

use brain_orchestrator::{
    Catalogue, Config, Confirmation, Confirmed, EffectiveGrant, Installed, Origin, RunError, read_component,
};
use brain_sandbox::{CheckReport, Digest};
use serde::Serialize;

use crate::args::{PlaceArgs, RoleCommand};
use crate::commands::confirm::confirm;
use crate::commands::run::conclude;
use crate::exit::{Exit, Failure, Outcome, print, print_json};
use crate::show::{self, Progress};

/// Does what was asked with roles.
pub fn role(place: &PlaceArgs, command: &RoleCommand) -> Outcome {
    match command {
        RoleCommand::List { json } => list(place, *json),
        RoleCommand::Inspect { role, json } => inspect(place, role, *json),
        RoleCommand::Confirm { role, yes } => confirm(place, role, *yes),
        RoleCommand::Check { component, json } => check(place, component, *json),
        RoleCommand::Run { role, goal, refs, json, output } => {
            let brain = place.orchestrator()?;
            let progress = Progress::new(output.quiet);
            let report = brain.run_role(role, goal, refs, &|event| progress.show(event));
            progress.finish();
            conclude(&report?, *json, false, output)
        }
    }
}

/// The roles that there are, and what looks like a role and is none.
#[derive(Serialize)]
pub struct ListedRoles<'a> {
    roles: Vec<Listed<'a>>,
    unusable: Vec<Unusable>,
}

/// A folder that looks like a role's and cannot be used.
#[derive(Serialize)]
pub struct Unusable {
    error: String,
    help: Option<String>,
}

/// One role in a list.
#[derive(Serialize)]
pub struct Listed<'a> {
    name: &'a str,
    version: &'a str,
    description: &'a str,
    origin: String,
    folder: &'a Path,
}

fn list(place: &PlaceArgs, json: bool) -> Outcome {
    let catalogue = place.catalogue()?;
    if json {
        let roles = catalogue
            .iter()
            .map(|role| Listed {
                name: role.manifest.name.as_str(),
                version: &role.manifest.version,
                description: &role.manifest.description,
                origin: role.origin.to_string(),
                folder: &role.folder,
            })
            .collect();
        let help = |fault| miette::Diagnostic::help(fault).map(|help| help.to_string());
        let unusable =
            catalogue.faults.iter().map(|fault| Unusable { error: fault.to_string(), help: help(fault) }).collect();
        print_json(&ListedRoles { roles, unusable })?;
    } else {
        print(&show::roles(&catalogue, &Catalogue::folders(&place.roles, &place.home()?)))?;
    }
    Ok(if catalogue.is_empty() { Exit::Failed } else { Exit::Done })
}

/// What a role is, asks for, and gets.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inspected<'a> {
    /// Where it was found.
    pub origin: String,
    /// Its folder.
    pub folder: &'a Path,
    /// What it says of itself.
    pub manifest: &'a brain_orchestrator::Manifest,
    /// Digest of its component.
    pub digest: Digest,
    /// Size of its component.
    pub bytes: usize,
    /// What it asks, what it is granted here before a handoff narrows it, and who said so.
    pub grant: EffectiveGrant,
    /// What was confirmed of it; nothing before its first use.
    pub confirmed: Option<&'a Confirmation>,
    /// In what it asks for more than was confirmed, so that it is not called.
    pub beyond: Vec<String>,
    /// The contract check.
    pub check: CheckReport,
}

fn inspect(place: &PlaceArgs, name: &str, json: bool) -> Outcome {
    let catalogue = place.catalogue()?;
    let role = find(&catalogue, name)?;
    let home = place.home()?;
    let config = Config::load(&home, Some(&place.project)).map_err(RunError::from)?;
    let confirmed = Confirmed::read(&home).map_err(RunError::from)?;
    let bytes = role.bytes().map_err(RunError::from)?;
    let inspected = Inspected {
        origin: role.origin.to_string(),
        folder: &role.folder,
        manifest: &role.manifest,
        digest: Digest::of(&bytes),
        bytes: bytes.len(),
        grant: EffectiveGrant::new(&role.manifest, &config),
        confirmed: confirmed.of(&role.manifest.name),
        beyond: confirmed.beyond(role),
        check: place.sandbox()?.check(&bytes),
    };
    if json {
        print_json(&inspected)?
    } else {
        print(&show::inspected(&inspected))?
    }
    Ok(if inspected.check.passed() { Exit::Done } else { Exit::Failed })
}

pub(super) fn find<'a>(catalogue: &'a Catalogue, name: &str) -> Result<&'a Installed, Failure> {
    catalogue.get(name).map_err(|e| RunError::from(e).into())
}

fn check(place: &PlaceArgs, component: &Path, json: bool) -> Outcome {
    let bytes = if component.is_dir() {
        let folder = component.canonicalize().unwrap_or_else(|_| component.to_owned());
        Installed::read(&folder, Origin::Named).and_then(|role| role.bytes())
    } else {
        match component.to_str().filter(|name| !name.contains(['/', '.'])) {
            Some(name) if !component.exists() => find(&place.catalogue()?, name)?.bytes(),
            _ => read_component(component),
        }
    };
    let bytes = bytes.map_err(RunError::from)?;
    let report = place.sandbox()?.check(&bytes);
    if json {
        print_json(&report)?;
    } else {
        print(&show::check(&report))?;
    }
    Ok(if report.passed() { Exit::Done } else { Exit::Failed })
}
