//! `brain role list | inspect | check | run`; `confirm` has a file of its own.

use std::path::{Path, PathBuf};

use brain_orchestrator::{
    Catalogue, Config, Confirmation, Confirmed, EffectiveGrant, Installed, Origin, RunError, read_component,
};
use brain_sandbox::{CheckReport, Digest, Sandbox};
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
    /// Roles that can be called.
    pub roles: Vec<Listed<'a>>,
    /// Roles that cannot.
    pub unusable: Vec<Unusable>,
}

/// A folder that looks like a role's and cannot be used.
#[derive(Serialize)]
pub struct Unusable {
    /// The name of its folder.
    pub name: String,
    /// Where it was found.
    pub origin: String,
    /// The folder.
    pub folder: PathBuf,
    /// What is wrong with it.
    pub error: String,
    /// What to do about that.
    pub help: String,
}

/// One role in a list.
#[derive(Serialize)]
pub struct Listed<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// What it is for.
    pub description: &'a str,
    /// Where it was found.
    pub origin: String,
    /// Its folder.
    pub folder: &'a Path,
}

fn list(place: &PlaceArgs, json: bool) -> Outcome {
    let catalogue = place.catalogue()?;
    let sandbox = place.sandbox()?;
    let mut listed = ListedRoles { roles: Vec::new(), unusable: Vec::new() };
    for role in catalogue.iter() {
        match unfit(&sandbox, role) {
            None => listed.roles.push(Listed {
                name: role.manifest.name.as_str(),
                version: &role.manifest.version,
                description: &role.manifest.description,
                origin: role.origin.to_string(),
                folder: &role.folder,
            }),
            Some((error, help)) => listed.unusable.push(Unusable {
                name: role.manifest.name.to_string(),
                origin: role.origin.to_string(),
                folder: role.folder.clone(),
                error,
                help,
            }),
        }
    }
    listed.unusable.extend(catalogue.faults.iter().map(|fault| Unusable {
        name: fault.name.clone(),
        origin: fault.origin.to_string(),
        folder: fault.folder.clone(),
        error: fault.error.to_string(),
        help: fault.help(),
    }));
    let found = !listed.roles.is_empty();
    if json {
        print_json(&listed)?;
    } else {
        print(&show::roles(&listed, &Catalogue::folders(&place.roles, &place.home()?)))?;
    }
    Ok(if found { Exit::Done } else { Exit::Failed })
}

/// Why a role cannot be called though its manifest can be used, and what to do about it.
fn unfit(sandbox: &Sandbox, role: &Installed) -> Option<(String, String)> {
    match role.bytes() {
        Err(error) => {
            let help = miette::Diagnostic::help(&error).map(|help| help.to_string()).unwrap_or_default();
            Some((error.to_string(), help))
        }
        Ok(bytes) => {
            let report = sandbox.check(&bytes);
            let row = report.first_fault()?;
            let what = format!("its component does not fit {}: {}: {}", report.contract, row.item, row.offered);
            Some((what, row.remedy.clone().unwrap_or_default()))
        }
    }
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
